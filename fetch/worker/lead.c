#include "session.h"

/*
 * A lock says: this object is at this path of this commit. The id of an object
 * proves nothing by itself, as a server gives every object that it has, those
 * of deleted branches and of forks among them. So the trees of the commit have
 * to lead to it. Where the ref ends and the path begins the lock does not say:
 * the first split that leads to the object counts.
 *
 * Source: FETCH.md 3.4; THREATS.md row 12; F1.
 */

struct lead {
    struct ask *ask;
    struct oid_set *wants;
    struct tree_found at; /* what is at the path last tried */
    struct str first;     /* the longest path */
    struct str path;      /* the first at which there is anything, */
    struct oid found;     /* and what */
    enum tree_kind kind;  /* of that; UNKNOWN: nothing so far */
};

static bool try_path(struct lead *l, struct str path, struct err *e)
{
    struct repo *r = l->ask->repo;
    struct tree_source src = {&r->objects, l->ask->snapshot->root, &r->index,
                              &r->session->limits, NULL};

    l->at = (struct tree_found){.kind = TREE_ODD};
    if (l->first.p == NULL)
        l->first = path;
    if (!tree_find(&src, path, l->wants, &l->at, e))
        return e->code == ERR_PATH;
    /* The repository itself is always there: of no help in a message. */
    if (l->kind == TREE_UNKNOWN && l->at.kind != TREE_UNKNOWN &&
        (path.n || l->first.n == 0)) {
        l->path = path;
        l->found = l->at.id;
        l->kind = l->at.kind;
    }
    return true;
}

static bool has_ended(struct lead *l, struct str path, enum found *out)
{
    struct ask *a = l->ask;

    if (l->at.kind == TREE_UNKNOWN) {
        *out = FOUND_WAIT;
        return true;
    }
    if (l->at.kind == TREE_ODD || !oid_eq(&l->at.id, &a->pinned))
        return false;
    a->path = path;
    a->has_path = a->leads = true;
    a->leads_to_program = l->at.kind == TREE_PROGRAM;
    *out = FOUND_PACKAGE;
    return true;
}

static enum found refuse(const struct lead *l, struct err *e)
{
    const struct ask *a = l->ask;
    char commit[OID_HEX_CHARS + 1], expected[OID_HEX_CHARS + 1],
        found[OID_HEX_CHARS + 1];
    struct str path = l->kind == TREE_UNKNOWN ? l->first : l->path;

    oid_format(&a->snapshot->commit, commit);
    oid_format(&a->pinned, expected);
    oid_format(&l->found, found);
    if (l->kind == TREE_UNKNOWN)
        err_set(e, ERR_LOCKED,
                "commit %.12s of %.*s has nothing at \"%.*s\", and mapm.lock "
                "says %s",
                commit, STR_ARG(a->repo->name), STR_ARG(path), expected);
    else
        err_set(e, ERR_LOCKED,
                "commit %.12s of %.*s has %s %s at \"%.*s\", and mapm.lock "
                "says %s",
                commit, STR_ARG(a->repo->name),
                l->kind == TREE_FOLDER ? "tree" : "blob", found, STR_ARG(path),
                expected);
    err_hint(e, "take mapm.lock from version control again, or run mapm "
                "update");
    return FOUND_ERROR;
}

enum found lead_find(struct ask *a, struct oid_set *wants, struct err *e)
{
    struct lead l = {.ask = a, .wants = wants, .kind = TREE_UNKNOWN};
    struct str rest = a->rest, segment;
    enum found out = FOUND_ERROR;

    if (a->in.is_short || rest.n == 0) {
        if (!try_path(&l, a->in.path, e))
            return FOUND_ERROR;
        return has_ended(&l, a->in.path, &out) ? out : refuse(&l, e);
    }
    while (rest.p && str_cut(&rest, '/', &segment)) {
        struct str path = rest.p ? rest : str_of("", 0);

        if (!try_path(&l, path, e))
            return FOUND_ERROR;
        if (has_ended(&l, path, &out))
            return out;
    }
    return refuse(&l, e);
}
