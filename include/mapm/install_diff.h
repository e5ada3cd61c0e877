#ifndef MAPM_INSTALL_DIFF_H
#define MAPM_INSTALL_DIFF_H

#include "base/patch.h"
#include "mapm/install.h"

/*
 * install_diff: differences of packages, file by file.
 *
 *     install_diff_edits()     local edits of installed packages
 *     install_diff_plan()      changes of a plan, such as an update
 *     install_restore()        reverts local edits
 *
 * Paths are relative to the workspace, so that a patch applies there. Results
 * are allocated in the arena of the context.
 *
 * Source: D5.
 */

/* A package whose files differ, with their patch. */
struct install_package_diff {
    enum doc_kind kind;
    struct str name;
    struct str path; /* as install_path() returns it */
    /* In a plan "add", "update" or "remove"; NULL for a local edit. */
    const char *action;
    /* In a plan. Versions and commits may be ""; one of each pair is "" if the
     * package is added or removed. */
    struct str old_version, version, old_commit, commit;
    struct str changelog; /* sections of its changelog above the old version; or
                             "" */
    const char *old_command, *command; /* command lines of an MCP; NULL if
                                          equal */
    bool is_program_changed;           /* metaskill: the program is first in
                                          `files` */
    const char *problem; /* why files are not compared, or compared without the
                            patch; or NULL */
    const struct patch_file *files;
    size_t count;
};

struct install_diff {
    struct str workspace;
    const struct install_package_diff *packages; /* empty if there are no
                                                    differences */
    size_t count;
};

/* Compares the named packages, or all packages of the layer, with the lock. A
 * file whose record of the last install still matches is not read. Errors:
 * those of layer_resolve_names and provision_find_edits. */
MUST_CHECK bool install_diff_edits(struct context *cx, struct str_list names,
                                   struct install_diff *out, struct err *e);

/* Compares the packages of an open plan with `dry_run`. Changed commands of MCP
 * servers and changed programs come first. */
MUST_CHECK bool install_diff_plan(struct install_plan *plan,
                                  struct install_diff *out, struct err *e);

/* Returns the origin of an installed package at another ref, as an
 * argument of install. */
MUST_CHECK bool install_origin_at(struct context *cx, struct str name,
                                  struct str ref, struct str *out,
                                  struct err *e);

struct install_restoration {
    struct str workspace;
    const struct provision_change *changes; /* empty if nothing was edited */
    size_t count;
    struct str backup; /* folder with the replaced files; or "" */
};

/*
 * Restores the named packages to their locked content, atomically; other
 * packages do not change. Files that the user added to their folders are moved
 * to the backup as well.
 * Errors: ERR_NOT_FOUND if the store lacks a package; ERR_LOCKED if it was not
 * verified on this machine that the locked commit contains it.
 */
MUST_CHECK bool install_restore(struct context *cx, struct str_list names,
                                bool dry_run, struct install_restoration *out,
                                struct err *e);

#endif
