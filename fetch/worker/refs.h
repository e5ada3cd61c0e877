#ifndef FETCH_WORKER_REFS_H
#define FETCH_WORKER_REFS_H

#include "mapm/range.h"

#include "objects.h"

/*
 * refs: which commit a ref names, and where the ref ends and the path begins.
 *
 *     "feature/x/skills/y" + advertised refs --> refs_choose()
 *         --> refs/heads/feature/x, its commit, path "skills/y"
 *
 * Source: FETCH.md 6; REQUIREMENTS.md X13; THREATS.md rows 10, 12.
 */

struct ref {
    struct str name;   /* "HEAD", "refs/heads/main" */
    struct oid id;     /* zero when unborn */
    struct oid peeled; /* what an annotated tag names; else the same as id */
    struct str target; /* of a symbolic ref; else empty */
};

struct ref_list {
    struct arena *arena;
    struct ref *items;
    size_t count, capacity;
    size_t seen; /* with those beyond the bound: TRANSFER_MAX_REFS */
};

void ref_list_init(struct ref_list *l, struct arena *a);

/* Copies. Only HEAD, refs/heads/ and refs/tags/ with names git allows are
 * kept; the rest is counted. ERR_LIMIT past TRANSFER_MAX_REFS. */
MUST_CHECK bool ref_list_put(struct ref_list *l, const struct ref *r,
                             struct err *e);

const struct ref *ref_list_find(const struct ref_list *l, struct str name);

/* git's check-ref-format, for what follows refs/heads/; not "-" in front. */
bool ref_name_is_valid(struct str name);

/* A ref that is chosen is no longer than REF_MAX_BYTES: ERR_REF. The target
 * of HEAD is whatever the host says. */
MUST_CHECK bool ref_check_length(struct str name, struct err *e);

/*
 * The first segment of `rest` ("main/skills/pdf"; "%2F" in a segment is "/"):
 * a 40-digit commit id, or what to ask for with ref-prefix. `rest` empty:
 * `*prefix` is empty, ask for HEAD. Ownership: `*prefix` in `a`.
 * Errors: ERR_ORIGIN when no ref can have that name.
 */
MUST_CHECK bool refs_first(struct str rest, struct arena *a, bool *is_commit,
                           struct oid *commit, struct str *prefix,
                           struct err *e);

struct ref_choice {
    struct str name; /* "refs/heads/main"; empty for a commit id */
    struct oid commit;
    struct str path;     /* what follows the ref; "" for all */
    bool is_tag_too;     /* a branch was taken where a tag fits as well: warn */
    bool is_spelled_out; /* `rest` has all of `name`, to tell these two apart */
    bool is_default;     /* no ref was given: HEAD's branch */
};

/*
 * The longest ref that equals a whole-segment prefix of `rest`, branches
 * before tags; "refs/tags/v1" names the tag. 40 hex digits first are a commit, never a ref.
 *
 * Ownership: `*out` borrows from `refs` and `rest`; `a` is scratch. Errors:
 * ERR_REF, the hint with near names or, for what looks like a short commit id,
 * "use all 40 digits"; ERR_LIMIT for more than REF_MAX_SEGMENTS segments;
 * ERR_ORIGIN for a name no ref can have, or "%2F" in the path.
 */
MUST_CHECK bool refs_choose(const struct ref_list *refs, struct str rest,
                            struct arena *a, struct ref_choice *out,
                            struct err *e);

/* --- ranges of versions (D6, HOSTS.md 10) ----------------------------------- */

/* "refs/tags/v", ten digits, the package's path and its name. */
#define REFS_MAX_PREFIXES 13

/* What to ask for with ref-prefix, of tags alone. In `a`. */
size_t refs_version_prefixes(struct str path, struct arena *a,
                             struct str out[REFS_MAX_PREFIXES]);

/*
 * The tag of the highest version of the package at `path` that all ranges
 * allow; `*newest` is that of the highest of all, a release if there is one.
 * Ownership: borrowed from `refs`. Errors: ERR_REF when there is no such tag,
 * or where two tags of that version are of different commits; ERR_LIMIT for
 * more than PACKAGE_MAX_TAGS.
 */
MUST_CHECK bool refs_choose_version(const struct ref_list *refs,
                                    struct str path,
                                    const struct range_set *ranges,
                                    struct ref_choice *out, struct str *newest,
                                    struct err *e);

/* The commit that a tag names; zero: there is none. */
struct oid refs_tag_commit(const struct ref_list *refs, struct str tag);

#endif
