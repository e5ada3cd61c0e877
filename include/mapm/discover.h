#ifndef MAPM_DISCOVER_H
#define MAPM_DISCOVER_H

#include "mapm/layer.h"

/*
 * discover: the catalogs that the user added, and the search over their
 * packages and the installed ones.
 *
 *     discover_new() ──▶ discover_refresh()  ls-refs, trees and manifests, or
 *                              │             one request for an index
 *                              ▼
 *     discover_search() ◀── mapm.db          offline
 *
 * A catalog is a git repository or a local folder with packages, a
 * repository with a marketplace.json, or an index of
 * .well-known/agent-skills. The list of catalogs is stored only in mapm.db
 * and changed only by commands of the user: no file of a workspace can add a
 * catalog. Names and descriptions are untrusted; their size is limited here,
 * and they are escaped when they are shown.
 *
 * Source: G6; PLUGINS.md W1 to W10, X39, X42, rows 31 to 35, 43, 44.
 */

struct discover_catalog {
    struct str origin;      /* canonical origin, which identifies the catalog */
    bool is_index;          /* an index of .well-known */
    bool is_folder;         /* a local folder; otherwise git */
    struct str ref, commit; /* git */
    struct str condition;   /* index: see struct fetch_reply; folder: hash of
                               its packages */
    uint64_t refreshed_s;   /* seconds since 1970 */
    size_t count, left_out; /* number of valid and invalid entries */
};

/* Returns "git", "index" or "folder". */
const char *discover_kind(const struct discover_catalog *c);

/* Lists the catalogs, sorted by origin. Allocated in the arena of `cx`. */
MUST_CHECK bool discover_list(struct context *cx, struct store *store,
                              struct discover_catalog **out, size_t *count,
                              struct err *e);

/* Calls host_admit for the host of a git repository. The host of an index is
 * confirmed only when the index is fetched. */
MUST_CHECK bool discover_admit(struct context *cx, struct str text,
                               struct err *e);

/* Parses catalogs from user input: "owner/repo[/path][@ref]", a URL of a
 * repository or of a folder in it; "https://host", or the URL of an index.json;
 * or a local folder, which becomes "file:/…". Returns those that are not in the
 * list, each once, with a notice for each that is. `rules` are those of the user.
 * Errors: ERR_ORIGIN; ERR_LIMIT for more than CATALOGS_MAX with those of the
 * list. */
MUST_CHECK bool discover_new(struct context *cx,
                             const struct origin_rules *rules,
                             struct store *store, struct str_list words,
                             struct discover_catalog **out, size_t *count,
                             struct err *e);

struct discover_change {
    struct discover_catalog catalog; /* after the refresh */
    bool is_changed;                 /* its entries were read again */
    struct err *failed; /* the error, in which case nothing changed; or NULL */
};

/*
 * Refreshes the catalogs in parallel. An unchanged repository costs one ls-refs
 * request, an unchanged index one conditional request, a folder none. A catalog
 * that fails keeps its entries; the others continue. A new catalog is added to
 * mapm.db once it was read. Errors: only those that affect all catalogs.
 */
MUST_CHECK bool discover_refresh(struct context *cx, const struct layer *user,
                                 struct store *store,
                                 const struct discover_catalog *catalogs,
                                 size_t count, struct discover_change *out,
                                 struct err *e);

/* Finds a catalog by user input. Errors: ERR_NOT_FOUND, suggesting a
 * similar one. */
MUST_CHECK bool discover_find(struct context *cx,
                              const struct origin_rules *rules,
                              struct store *store, struct str text,
                              struct discover_catalog *out, struct err *e);

MUST_CHECK bool discover_remove(struct store *store, struct str origin,
                                struct err *e);

/* --- publishing ---------------------------------------------------------------- */

#define DISCOVER_INDEX_FOLDER ".well-known/agent-skills"

struct discover_published {
    struct str path; /* folder of the skill, relative to the catalog */
    struct str name, version, description, license;
    struct str url, digest;
    const struct str *tags;
    size_t tag_count, tokens, files;
    bool is_archive;
    struct str why; /* why the skill was left out, or "" */
};

/*
 * Writes index.json into DISCOVER_INDEX_FOLDER of the folder `dirfd`, for
 * the skills in the folders `paths` below it, and a .zip file for each skill
 * that has other files than SKILL.md. Sorted by name; the same skills
 * produce the same bytes. Allocated in the arena of `cx`; `*out` has one
 * element for each of `paths`.
 * Errors: ERR_NOT_FOUND if no skill is valid.
 * Source: G9; W1 to W7.
 */
MUST_CHECK bool discover_index(struct context *cx, int dirfd,
                               const struct str *paths, size_t count,
                               struct discover_published **out, struct err *e);

/* --- searching ---------------------------------------------------------------- */

/* A search result: a package of a catalog, or an installed one. */
struct discover_hit {
    struct str name;
    struct str kind; /* "skill", "agent", "mcp", "plugin" */
    struct str version, description;
    struct str catalog; /* origin of its catalog; "" if installed and in no
                           catalog */
    struct str origin;  /* argument for `mapm install`; or "" */
    struct str entry;   /* of a marketplace: argument for `mapm install
                           --plugin` */
    struct str why;     /* why it cannot be installed, or "" */
    size_t tokens;      /* estimated tokens of its SKILL.md; 0 if unknown */
    bool is_installed;
    double score;
    struct str unknown; /* words of the query that nothing contains where this
                           was found: "one, other" */
};

/* Searches for packages, best match first, without network access. Sets
 * `*catalogs` to the number of catalogs. Allocated in the arena of `cx`. */
MUST_CHECK bool discover_search(struct context *cx, struct store *store,
                                struct str text, size_t limit,
                                struct discover_hit **out, size_t *count,
                                size_t *catalogs, struct err *e);

/* The words that no search matched, "one, other": each of `hits` lacks them. */
struct str discover_unknown_words(const struct discover_hit *hits, size_t count,
                                  struct arena *a);

/* Finds the package named `name` that the catalogs offer and that can be
 * installed. If there is none, returns false and leaves `e` as it is; if there are
 * several, sets ERR_NOT_FOUND with their origins. */
MUST_CHECK bool discover_find_offered(struct context *cx, struct str name,
                                      struct discover_hit *out, struct err *e);

#endif
