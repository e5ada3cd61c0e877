#ifndef MAPM_LINT_H
#define MAPM_LINT_H

#include "base/context.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/origin.h"

/*
 * check: judge documents where they lie.
 *
 *     PATH... --> lint_find()     folders, in parallel; each document goes to
 *                  `--> lint_document()    with --fix first through lint_fix()
 *             --> lint_against()  versions compared with a git ref
 *             --> check_print()    words or JSON, in the order of paths
 *
 * Source: REQUIREMENTS 5, M18, M29, T11, T12, L8; DESIGN.md 10.
 */

#define CHECK_MAX_DEPTH   64
#define CHECK_MAX_THREADS 16

/* A PATH of the command line. */
struct check_root {
    struct str shown;        /* prefix of paths below it; "" for "." */
    struct str real;         /* the folder, absolute, links resolved */
    struct str top;          /* the repository it is in, or `real` */
    struct str only;         /* the named file, or "" */
    struct str name, parent; /* of the folder and of its parent */
    bool in_git;
};

struct check_need {
    enum doc_kind kind;
    struct str origin; /* canonical */
};

/* One document, or folder, and its diagnostics. */
struct check_result {
    struct str path; /* as shown */
    bool is_name;    /* --name: `name` alone counts */
    bool has_kind;
    enum doc_kind kind;
    const struct check_root *root; /* NULL for a name */
    struct str folder;             /* below the root, "" = itself */
    struct str file;               /* in the folder */
    struct str name, scope, fqn, description, version;
    char skill_version[17];
    size_t load_size_tokens;
    const struct str *tools;
    size_t tool_count;
    const struct check_need *needs;
    size_t need_count;
    bool metaskill;
    struct diagnostics why;
    struct str note;         /* changes by --fix; "" = none */
    struct str from, source; /* of an installed package that a replacement gives
                              * another origin: that, and as it is shown */
};

struct check_rules {
    enum profile profile;
    struct origin_rules origins;
    bool strict, fix;
    bool needs_manifest; /* a folder without one is no plugin, if named, too */
};

struct check_results {
    struct check_result **items;
    size_t count;
    struct arena *arenas; /* of the threads: they own the items */
    size_t arena_count;
};

/* The root that a PATH names. In `a`. ERR_NOT_FOUND when it is not there at
 * all: a root that was named has to be. */
MUST_CHECK bool lint_root_open(struct str path, struct check_root *root,
                               struct arena *a, struct err *e);

/* --- check_find.c --------------------------------------------------------- */

/*
 * Every document below the roots, judged: sorted by path, each path once.
 * Ownership: released by lint_results_done, which is harmless for a zeroed
 * one. Errors: ERR_LIMIT past CHECK_MAX_FILES.
 */
MUST_CHECK bool lint_find(const struct check_root *roots, size_t count,
                          const struct check_rules *rules, struct arena *a,
                          struct check_results *out, struct err *e);
void lint_results_done(struct check_results *r);

/*
 * The documents as a graph: adds diagnostics about dependencies on packages of
 * the same repository (one that is not there, a cycle) and about names that two
 * of them have. The repository is known by its remotes and the branches that
 * lead here, which `git` tells; without it there are no diagnostics about
 * dependencies. [D16]
 */
void lint_graph(struct context *cx, const struct check_rules *rules,
                const struct check_root *roots, size_t count,
                const struct check_results *results);

/* --- lint/document.c -------------------------------------------------------- */

/*
 * Checks `result->file` in the open folder `dirfd`. False when `optional` and
 * it has no frontmatter or is unreadable: then it is not a package. The result
 * lives in `a`.
 */
bool lint_document(const struct check_rules *rules, int dirfd,
                   struct check_result *result, bool optional, struct arena *a);

/* A diagnostic about files, not about their text; errors when strict. */
void lint_say(const struct check_rules *rules, struct check_result *result,
              bool error, const char *code, const char *format, ...)
    PRINTF(5, 6);

/* A file in the folder of `result`. Links are followed as far as `inside`,
 * an absolute path. In `a`. */
enum manifest_file lint_read(const struct check_result *result, int dirfd,
                             struct str inside, struct str path,
                             size_t max_bytes, struct arena *a,
                             struct str *text);

/* The same for a file whose path may lead through links. */
enum manifest_file lint_read_resolved(struct str folder, struct str inside,
                                      struct str path, size_t max_bytes,
                                      struct arena *a, struct str *text);
/* Absolute paths: whether `path` is `folder` or in it. */
bool lint_is_below(struct str path, struct str folder);

/* --- lint/plugin.c ---------------------------------------------------------- */

/*
 * Checks the plugin or the marketplace whose manifest `result->file` is, or
 * that of Claude when it is a folder without one. The result lives in `a`.
 */
void lint_plugin(const struct check_rules *rules, struct check_result *result,
                 struct arena *a);

/* The paths of the manifests in an open folder that this profile judges.
 * `is_named`: on the command line. */
#define LINT_PLUGIN_FILES 8
size_t lint_plugin_files(const struct check_rules *rules, int dirfd,
                         bool is_named, struct str files[LINT_PLUGIN_FILES]);

/* Of plugins and marketplaces: other documents are not judged, but for the
 * skills of plugins. */
bool lint_profile_is_plugin(enum profile profile);

/* The folder of `result`, absolute. In `a`. */
struct str lint_folder(const struct check_result *result, struct arena *a);

/* Its name; "" for the root of all. */
struct str lint_folder_name(const struct check_result *result);

/* --name: a result for the bare name. In `a`. */
struct check_result *lint_name(enum profile profile, struct str name,
                               struct arena *a);

/* --- check_fix.c ---------------------------------------------------------- */

/* Fixes the form of an MCP file; updates file, path and note of `result` when
 * it did. */
void lint_fix(struct check_result *result, int dirfd, struct arena *a);

/* --- check_against.c, check_git.c ----------------------------------------- */

/* Adds diagnostics about versions and changelogs to skills and agents. */
MUST_CHECK bool lint_against(struct context *cx, struct str ref,
                             const struct check_root *roots, size_t count,
                             const struct check_results *results,
                             struct err *e);

#endif
