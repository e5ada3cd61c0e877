#ifndef FETCH_WORKER_REFS_H
#define FETCH_WORKER_REFS_H

#include "mapm/range.h"

#include "objects.h"

/*
 * refs: resolves a ref to a commit, and separates the ref from the path.
 *
 *     "feature/x/skills/y" + advertised refs --> refs_choose()
 *         --> refs/heads/feature/x, its commit, path "skills/y"
 *
 * Source: FETCH.md 6; REQUIREMENTS.md X13; THREATS.md rows 10, 12.
 */

struct ref {
    struct str name;   /* "HEAD", "refs/heads/main" */
    struct oid id;     /* zero for an unborn branch */
    struct oid peeled; /* target of an annotated tag; else the same as id */
    struct str target; /* target of a symbolic ref; else empty */
};

struct ref_list {
    struct arena *arena;
    struct ref *items;
    size_t count, capacity;
    size_t seen; /* number of refs, including those beyond TRANSFER_MAX_REFS */
};

void ref_list_init(struct ref_list *l, struct arena *a);

/* Adds a copy of `r`. Only HEAD, refs/heads/ and refs/tags/ with names that git
 * allows are stored; others are only counted. Errors: ERR_LIMIT above
 * TRANSFER_MAX_REFS. */
MUST_CHECK bool ref_list_put(struct ref_list *l, const struct ref *r,
                             struct err *e);

const struct ref *ref_list_find(const struct ref_list *l, struct str name);

/* Checks the name after refs/heads/ as git's check-ref-format does; it may not
 * begin with "-". */
bool ref_name_is_valid(struct str name);

/* Rejects a chosen ref longer than REF_MAX_BYTES (ERR_REF). It does not apply
 * to the target of HEAD, which the host chooses. */
MUST_CHECK bool ref_check_length(struct str name, struct err *e);

/*
 * Parses the first segment of `rest` ("main/skills/pdf"; "%2F" in a segment is
 * "/"): a 40-digit commit id, or the prefix for ref-prefix. If `rest` is empty,
 * so is `*prefix`: request HEAD. Ownership: `*prefix` is in `a`. Errors:
 * ERR_ORIGIN if no ref can have that name.
 */
MUST_CHECK bool refs_first(struct str rest, struct arena *a, bool *is_commit,
                           struct oid *commit, struct str *prefix,
                           struct err *e);

struct ref_choice {
    struct str name; /* "refs/heads/main"; empty for a commit id */
    struct oid commit;
    struct str path;     /* text after the ref; "" for the whole repository */
    bool is_tag_too;     /* a tag has the name of the chosen branch, too:
                          * warn */
    bool is_spelled_out; /* `rest` has the whole of `name`, so it is not
                          * ambiguous */
    bool is_default;     /* no ref was given: the branch of HEAD */
};

/*
 * Chooses the longest ref that equals a whole-segment prefix of `rest`,
 * branches before tags; "refs/tags/v1" names the tag. A first segment of 40 hex
 * digits is a commit, never a ref.
 *
 * Ownership: `*out` borrows from `refs` and `rest`; `a` is scratch. Errors:
 * ERR_REF, with a hint that gives similar names or, for a short commit id, "use
 * all 40 digits"; ERR_LIMIT for more than REF_MAX_SEGMENTS segments; ERR_ORIGIN
 * for a name that no ref can have, or "%2F" in the path.
 */
MUST_CHECK bool refs_choose(const struct ref_list *refs, struct str rest,
                            struct arena *a, struct ref_choice *out,
                            struct err *e);

/* --- version ranges (D6, HOSTS.md 10) ------------------------------------- */

/* "refs/tags/v", ten digits, the package's path and its name. */
#define REFS_MAX_PREFIXES 13

/* Returns the prefixes for ref-prefix that cover all version tags. Allocated in
 * `a`. */
size_t refs_version_prefixes(struct str path, struct arena *a,
                             struct str out[REFS_MAX_PREFIXES]);

/*
 * Chooses the tag with the highest version of the package at `path` that all
 * ranges allow. `*newest` is the tag of the highest version overall, a release
 * if there is one. Ownership: borrowed from `refs`. Errors: ERR_REF if there is
 * no such tag, or if two tags of that version name different commits; ERR_LIMIT
 * for more than PACKAGE_MAX_TAGS.
 */
MUST_CHECK bool refs_choose_version(const struct ref_list *refs,
                                    struct str path,
                                    const struct range_set *ranges,
                                    struct ref_choice *out, struct str *newest,
                                    struct err *e);

/* Returns the commit of a tag; zero if there is no such tag. */
struct oid refs_tag_commit(const struct ref_list *refs, struct str tag);

#endif
