#ifndef MAPM_LINT_H
#define MAPM_LINT_H

#include "base/context.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/origin.h"
#include "mapm/plugin_market.h"

/*
 * lint: validates documents in place, for `mapm check`.
 *
 *     PATH... --> lint_find()     folders, in parallel; each document goes to
 *                  `--> lint_document()    with --fix first through lint_fix()
 *             --> lint_against()  versions compared with a git ref
 *
 * The caller prints the results, which are sorted by path.
 *
 * Source: REQUIREMENTS 5, M18, M29, T11, T12, L8; DESIGN.md 10.
 */

#define CHECK_MAX_DEPTH   64
#define CHECK_MAX_THREADS 16

/* A PATH of the command line. */
struct check_root {
    struct str shown;        /* prefix of paths below it; "" for "." */
    struct str real;         /* absolute path of the folder, links resolved */
    struct str top;          /* root of its repository, or `real` */
    struct str only;         /* the named file, or "" */
    struct str name, parent; /* names of the folder and its parent */
    bool in_git;
};

struct check_need {
    enum doc_kind kind;
    struct str origin; /* canonical origin */
};

/* One document, or folder, and its diagnostics. */
struct check_result {
    struct str path; /* path as shown */
    bool is_name;    /* --name: only `name` is set */
    bool has_kind;
    enum doc_kind kind;
    const struct check_root *root; /* NULL for a name */
    struct str folder;             /* relative to the root; "" for the root */
    struct str file;               /* file in the folder */
    struct str name, scope, fqn, description, version;
    char skill_version[17];
    size_t load_size_tokens;
    const struct str *tools;
    size_t tool_count;
    const struct check_need *needs;
    size_t need_count;
    bool metaskill;
    struct diagnostics why;
    struct str note; /* changes by --fix; or "" */
    /* Of an installed package with a replaced origin: the new origin, and
     * whether that is a folder of this checkout. */
    struct str from;
    bool is_from_checkout;
    bool is_installed; /* from an origin, and found below a named folder */
};

struct check_rules {
    enum profile profile;
    struct origin_rules origins;
    bool strict, fix;
    bool for_author;     /* report hints, too */
    bool needs_manifest; /* a folder without a manifest is not a plugin, even if
                            named */
};

struct check_results {
    struct check_result **items;
    size_t count;
    struct arena *arenas; /* arenas of the threads, which own the items */
    size_t arena_count;
};

struct check_totals {
    size_t documents, errors, warnings, hints;
};

/* --- check.c -------------------------------------------------------------- */

struct lint_request {
    struct str_list paths; /* none, and no names: the current folder */
    struct str_list names; /* names to validate: first of the results */
    struct str profile;    /* p NULL: that of an install */
    struct str against;    /* a ref to compare versions with; p NULL */
    bool strict, fix;
};

/*
 * Runs all steps of `mapm check`. Missing paths are reported, all of them, before
 * any file is read.
 *
 * Ownership: released by lint_results_done. Errors: ERR_USAGE for an unknown
 * profile; ERR_NOT_FOUND; those of the steps below.
 */
MUST_CHECK bool lint_check(struct context *cx, const struct lint_request *q,
                           struct check_results *out, struct err *e);

/* Counts diagnostics: of all results, and of those of installed packages. */
void lint_count(const struct check_results *results, struct check_totals *all,
                struct check_totals *installed);

/* Opens the root of a PATH. Allocated in `a`. Fails with ERR_NOT_FOUND if
 * it does not exist. */
MUST_CHECK bool lint_root_open(struct str path, struct check_root *root,
                               struct arena *a, struct err *e);

/* --- lint/find.c, lint/graph.c ---------------------------------------------- */

/* Validates every document below the roots; results are sorted by
 * path, each path once.
 * Ownership: released by lint_results_done, which accepts a zeroed struct.
 * Errors: ERR_LIMIT for CHECK_MAX_FILES. */
MUST_CHECK bool lint_find(const struct check_root *roots, size_t count,
                          const struct check_rules *rules, struct arena *a,
                          struct check_results *out, struct err *e);
void lint_results_done(struct check_results *r);

/*
 * Checks the documents as a graph: adds diagnostics about dependencies on
 * packages of the same repository (missing ones, cycles) and about duplicate
 * names. The repository is identified by its remotes and the branches that
 * contain it, according to `git`; without git there are no diagnostics about
 * dependencies. [D16]
 */
void lint_graph(struct context *cx, const struct check_rules *rules,
                const struct check_root *roots, size_t count,
                const struct check_results *results);

/* --- lint/document.c -------------------------------------------------------- */

/* Validates `result->file` in the open folder `dirfd`. Returns false if
 * `optional` is set and the file has no frontmatter or is unreadable: then it
 * is not a package. The result is allocated in `a`. */
bool lint_document(const struct check_rules *rules, int dirfd,
                   struct check_result *result, bool optional, struct arena *a);

/* Under publish, finds template text of `mapm new` that the author has not
 * replaced yet, in the description of `result` and in `text`. */
void lint_placeholders(const struct check_rules *rules,
                       struct check_result *result, struct str text);

/* Adds a diagnostic about a file rather than its text; an error if strict. */
void lint_report(const struct check_rules *rules, struct check_result *result,
                 bool error, const char *code, const char *format, ...)
    PRINTF(5, 6);

/* Reads a file in the folder of `result`. Links are followed inside of
 * `inside`, an absolute path. Allocated in `a`. */
enum manifest_file lint_read(const struct check_result *result, int dirfd,
                             struct str inside, struct str path,
                             size_t max_bytes, struct arena *a,
                             struct str *text);

/* The same for a path that may contain links. */
enum manifest_file lint_read_resolved(struct str folder, struct str inside,
                                      struct str path, size_t max_bytes,
                                      struct arena *a, struct str *text);
/* Returns whether `path` is `folder` or below it; both are absolute. */
bool lint_is_below(struct str path, struct str folder);

/* --- lint/plugin.c ---------------------------------------------------------- */

/* Validates the plugin or marketplace with the manifest `result->file`, or with
 * Claude's manifest if the folder has none. The result is allocated in `a`. */
void lint_plugin(const struct check_rules *rules, struct check_result *result,
                 struct arena *a);

/* Gets the paths of the manifests in an open folder that this profile
 * validates. `is_named`: given on the command line. */
#define LINT_PLUGIN_FILES 8
size_t lint_plugin_files(const struct check_rules *rules, int dirfd,
                         bool is_named, struct str files[LINT_PLUGIN_FILES]);

/* Returns whether a profile is for plugins and marketplaces; it does not
 * validate other documents except the skills of plugins. */
bool lint_profile_is_plugin(enum profile profile);

/* Returns the absolute path of the folder of `result`, allocated in `a`. */
struct str lint_folder(const struct check_result *result, struct arena *a);

/* Returns the name of the folder of `result`; "" for "/". */
struct str lint_folder_name(const struct check_result *result);

/* --name: validates a single name. Allocated in `a`. */
struct check_result *lint_name(enum profile profile, struct str name,
                               struct arena *a);

/* --- lint/fix.c ------------------------------------------------------------- */

/* Fixes the form of an MCP file; updates file, path and note of
 * `result` if it changed. */
void lint_fix(struct check_result *result, int dirfd, struct arena *a);

/* --- lint/against.c, lint/git.c --------------------------------------------- */

/* Adds diagnostics about versions and changelogs to skills and agents. */
MUST_CHECK bool lint_against(struct context *cx, struct str ref,
                             const struct check_root *roots, size_t count,
                             const struct check_results *results,
                             struct err *e);

/* --- lint/source.c ---------------------------------------------------------- */

/* Sets `is_installed`, and `from` of installed packages that come from elsewhere
 * than their origins say: a fix belongs there. Without a layer there are none. */
void lint_find_sources(struct context *cx, const struct check_results *results);

/* --- catalog.c ------------------------------------------------------------ */

/* What a folder has to offer, for a catalog of it: without copies that clients
 * read, and without what was installed. In the arena of `cx`. */

/* The folders of its skills below it. */
MUST_CHECK bool lint_list_skills(struct context *cx,
                                 const struct check_root *root,
                                 struct str_list *out, struct err *e);

/* Its plugins, and its valid skills that are in none. ERR_NOT_FOUND when there is
 * neither a valid plugin nor such a skill. */
MUST_CHECK bool lint_list_plugins(struct context *cx,
                                  const struct check_root *root,
                                  struct market_listing *out, struct err *e);

#endif
