#ifndef MAPM_DISCOVER_H
#define MAPM_DISCOVER_H

#include "mapm/layer.h"

/*
 * discover: the catalogs that the user added, and the search over what they
 * offer and what is installed.
 *
 *     discover_add() ──▶ discover_refresh()   ls-refs, trees and manifests, or one
 *                              │              conditional request for an index
 *                              ▼
 *     discover_search() ◀── mapm.db           offline
 *
 * A catalog is a git repository or a folder of this machine with packages, one
 * with a marketplace.json, or an index of .well-known/agent-skills. Which ones there are is known to mapm.db
 * alone, by commands of a person: no file of a workspace adds one. Names and
 * descriptions are bytes of strangers: bounded here, made visible where they are
 * shown.
 *
 * Source: G6; PLUGINS.md W1 to W10, X39, X42, rows 31 to 35, 43, 44.
 */

struct discover_catalog {
    struct str origin;      /* canonical: what it is known by */
    bool is_index;          /* .well-known, */
    bool is_folder;         /* … a folder of this machine; else git */
    struct str ref, commit; /* git */
    struct str condition;   /* index: see struct fetch_reply; folder: a hash
                             * of what it offers */
    uint64_t refreshed_s;   /* since 1970 */
    size_t count, left_out; /* entries; of invalid ones */
};

/* "git", "index" or "folder". */
const char *discover_kind(const struct discover_catalog *c);

/* By origin. In the arena of `cx`. */
MUST_CHECK bool discover_list(struct context *cx, struct store *store,
                              struct discover_catalog **out, size_t *count,
                              struct err *e);

/* host_admit for the host of a git repository; that of an index is asked for
 * its index alone. */
MUST_CHECK bool discover_admit(struct context *cx, struct str text,
                               struct err *e);

/* What a person typed, as a catalog: "owner/repo[/path][@ref]", a URL of a
 * repository or of a folder in it; "https://host", or the URL of an index.json;
 * a folder of this machine, which becomes "file:/…".
 * `rules`: those of the user. Errors: ERR_ORIGIN. */
MUST_CHECK bool discover_parse(struct context *cx,
                               const struct origin_rules *rules,
                               struct str text, struct discover_catalog *out,
                               struct err *e);

struct discover_change {
    struct discover_catalog catalog; /* as it is now */
    bool is_changed;                 /* was read again */
    struct err *failed; /* NULL: it was not; else nothing changed */
};

/*
 * Asks for all of them at once. An unchanged repository costs one ls-refs, an
 * unchanged index one conditional request, a folder none. What fails keeps its entries, and
 * the others go on. A catalog that is not in mapm.db is added when it was read.
 * Errors: what concerns all of them.
 */
MUST_CHECK bool discover_refresh(struct context *cx, const struct layer *user,
                                 struct store *store,
                                 const struct discover_catalog *catalogs,
                                 size_t count, struct discover_change *out,
                                 struct err *e);

/* ERR_NOT_FOUND with a near one. */
MUST_CHECK bool discover_find(struct context *cx,
                              const struct origin_rules *rules,
                              struct store *store, struct str text,
                              struct discover_catalog *out, struct err *e);

MUST_CHECK bool discover_remove(struct store *store, struct str origin,
                                struct err *e);

/* --- publishing ---------------------------------------------------------------- */

#define DISCOVER_INDEX_FOLDER ".well-known/agent-skills"

struct discover_published {
    struct str path; /* its folder, below that of the catalog */
    struct str name, version, description, license;
    struct str url, digest;
    const struct str *tags;
    size_t tag_count, tokens, files;
    bool is_archive;
    struct str why; /* it was left out; "" = it was not */
};

/*
 * Writes index.json into DISCOVER_INDEX_FOLDER of the folder `dirfd`, for the
 * skills in the folders `paths` below it, and there a .zip for each that has
 * other files than its SKILL.md. By name; the same skills give the same bytes.
 * In the arena of `cx`; `*out` has all of `paths`. Errors: ERR_NOT_FOUND when no
 * skill is left. Source: G9; W1 to W7.
 */
MUST_CHECK bool discover_index(struct context *cx, int dirfd,
                               const struct str *paths, size_t count,
                               struct discover_published **out, struct err *e);

/* --- searching ---------------------------------------------------------------- */

/* A result, of a catalog or of what is installed. */
struct discover_hit {
    struct str name;
    struct str kind; /* "skill", "agent", "mcp", "plugin" */
    struct str version, description;
    struct str catalog; /* origin; "" = installed, and in no catalog */
    struct str origin;  /* that `mapm install` takes; "" = none */
    struct str entry;   /* of a marketplace: `mapm install --plugin` */
    struct str why;     /* it cannot be installed; "" = it can */
    size_t tokens;      /* of its SKILL.md, estimated; 0: not known */
    bool is_installed;
    double score;
};

/* The best first. Nothing is asked of the network. In the arena of `cx`. */
MUST_CHECK bool discover_search(struct context *cx, struct store *store,
                                struct str text, size_t limit,
                                struct discover_hit **out, size_t *count,
                                size_t *catalogs, struct err *e);

#endif
