#ifndef MAPM_INSTALL_DIFF_H
#define MAPM_INSTALL_DIFF_H

#include "base/patch.h"
#include "mapm/install.h"

/*
 * install_diff: what differs, file by file.
 *
 *     install_diff_edits()     what the user changed of what was installed
 *     install_diff_plan()      what a plan would change: of an update
 *     install_restore()        undoes what the user changed
 *
 * Paths begin in the workspace, so that a patch of them applies there.
 * Results live in the arena of the context. Source: D5.
 */

struct install_package_diff {
    enum doc_kind kind;
    struct str name;
    struct str path;    /* as install_path has it */
    const char *action; /* of a plan: "add" "update" "remove"; NULL: edited */
    /* Of a plan. Versions and commits may be "", both of them of what is added
     * or removed. */
    struct str old_version, version, old_commit, commit;
    struct str changelog; /* its sections above the old version; "" for none */
    const char *old_command, *command; /* MCP: what it runs; NULL: the same */
    bool is_program_changed;           /* metaskill: its program is first */
    const char *problem; /* why files are not compared, or without the patch;
                          * or NULL */
    const struct patch_file *files;
    size_t count;
};

struct install_diff {
    struct str workspace;
    const struct install_package_diff *packages; /* none: no difference */
    size_t count;
};

/*
 * Without names all packages of the layer are compared. A file that the record
 * of the last install vouches for is not read. Errors: those of
 * layer_resolve_names and provision_find_edits.
 */
MUST_CHECK bool install_diff_edits(struct context *cx, struct str_list names,
                                   struct install_diff *out, struct err *e);

/* Of a plan with `dry_run` that is still open. Changes of what MCP servers run
 * and of programs come first. */
MUST_CHECK bool install_diff_plan(struct install_plan *plan,
                                  struct install_diff *out, struct err *e);

/* The origin of an installed package, at another ref: an argument of install. */
MUST_CHECK bool install_origin_at(struct context *cx, struct str name,
                                  struct str ref, struct str *out,
                                  struct err *e);

struct install_restoration {
    struct str workspace;
    const struct provision_change *changes; /* none: nothing was edited */
    size_t count;
    struct str backup; /* folder of what was replaced; "" for none */
};

/*
 * Puts the named packages back as the lock has them, atomically; no other
 * package changes. Files that the user added to their folders go to the
 * backup, too. Errors: ERR_NOT_FOUND where the store lacks one; ERR_LOCKED
 * where this machine was not shown that its commit holds it.
 */
MUST_CHECK bool install_restore(struct context *cx, struct str_list names,
                                bool dry_run, struct install_restoration *out,
                                struct err *e);

#endif
