#include "mapm/limits.h"

#include "session.h"

/*
 * locked_path: a lock says that an object is at a path of a commit. The id of the
 * object alone proves nothing, as servers send every object they have,
 * including those of deleted branches and of forks. Therefore the trees of the
 * commit must lead to the object. The lock does not say where the ref ends and
 * the path begins: the longest path that exists in the commit is used, so that
 * an edited lock cannot choose a shorter one. locked_path_is_only applies the same
 * rule to packages that were found by a ref.
 *
 * Source: FETCH.md 3.4; THREATS.md row 12; F1.
 */

struct locked_path {
    struct ask *ask;
    struct oid_set *wants;
    struct tree_found at; /* TREE_UNKNOWN if trees are missing */
    struct str longest;
    struct str path; /* an existing path, if is_found */
    bool is_found;
};

/* Returns false for an error other than a missing path. */
static bool try_path(struct locked_path *l, struct str path, struct err *e)
{
    struct repo *r = l->ask->repo;
    struct tree_source src = {&r->objects, l->ask->snapshot->root, &r->index,
                              &r->session->limits, NULL};

    if (l->longest.p == NULL)
        l->longest = path;
    if (!tree_find(&src, path, l->wants, &l->at, e))
        return e->code == ERR_PATH;
    l->path = path;
    l->is_found = true;
    return true;
}

static enum found refuse(const struct locked_path *l, struct err *e)
{
    const struct ask *a = l->ask;
    char commit[OID_HEX_CHARS + 1], expected[OID_HEX_CHARS + 1],
        found[OID_HEX_CHARS + 1];

    oid_format(&a->snapshot->commit, commit);
    oid_format(&a->pinned, expected);
    oid_format(&l->at.id, found);
    /* The root always exists, so it is of no help in a message. */
    if (!l->is_found || (l->path.n == 0 && l->longest.n))
        err_set(e, ERR_LOCKED,
                "commit %.12s of %.*s has nothing at \"%.*s\", and mapm.lock "
                "says %s",
                commit, STR_ARG(a->repo->name), STR_ARG(l->longest), expected);
    else
        err_set(e, ERR_LOCKED,
                "commit %.12s of %.*s has %s %s at \"%.*s\", and mapm.lock "
                "says %s",
                commit, STR_ARG(a->repo->name),
                l->at.kind == TREE_FOLDER ? "tree" : "blob", found,
                STR_ARG(l->path), expected);
    err_hint(e, "take mapm.lock from version control again, or run mapm "
                "update");
    return FOUND_ERROR;
}

static enum found take_path(struct locked_path *l, struct err *e)
{
    struct ask *a = l->ask;

    if (l->is_found && l->at.kind == TREE_UNKNOWN)
        return FOUND_WAIT;
    if (!l->is_found || !oid_eq(&l->at.id, &a->pinned))
        return refuse(l, e);
    a->path = l->path;
    a->has_path = true;
    a->leads_to_program = l->at.kind == TREE_PROGRAM;
    return FOUND_PACKAGE;
}

/* Tries the longest path first. The root exists in every commit, so it is used
 * only if no longer path exists. */
enum found locked_path_find(struct ask *a, struct oid_set *wants, struct err *e)
{
    struct locked_path l = {.ask = a, .wants = wants};
    struct str rest = a->rest, segment;
    size_t segments = 0;

    if (a->in.is_short || rest.n == 0)
        return try_path(&l, a->in.path, e) ? take_path(&l, e) : FOUND_ERROR;
    while (!l.is_found && segments++ < REF_MAX_SEGMENTS && rest.p &&
           str_cut(&rest, '/', &segment))
        if (!try_path(&l, rest.p ? rest : STR(""), e))
            return FOUND_ERROR;
    return take_path(&l, e);
}

/* Returns "2.x/skills/pdf" for the ref "release/2.x": the path if the ref were
 * shorter. */
static struct str longer_path(const struct ask *a, struct str ref)
{
    return a->path.n ? arena_printf(&a->repo->arena, "%.*s/%.*s", STR_ARG(ref),
                                    STR_ARG(a->path))
                     : ref;
}

enum found locked_path_is_only(struct ask *a, struct oid_set *wants,
                               struct err *e)
{
    struct locked_path l = {.ask = a, .wants = wants};
    struct str ref = a->ref, segment;

    while (str_cut(&ref, '/', &segment) && ref.p) {
        if (!try_path(&l, longer_path(a, ref), e))
            return FOUND_ERROR;
        if (!l.is_found)
            continue;
        if (l.at.kind == TREE_UNKNOWN)
            return FOUND_WAIT;
        err_set(e, ERR_REF,
                "\"%.*s\" of %.*s is ambiguous: the ref \"%.*s\" leads to "
                "\"%.*s\", and its commit has \"%.*s\" as well",
                STR_ARG(a->rest), STR_ARG(a->repo->name), STR_ARG(a->ref),
                STR_ARG(a->path), STR_ARG(l.path));
        err_hint(e, "name the commit by its 40 digits, or a tag without \"/\"");
        return FOUND_ERROR;
    }
    return FOUND_PACKAGE;
}
