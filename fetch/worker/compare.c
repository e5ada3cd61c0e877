#include "session.h"

/*
 * A package is another one when its git object differs, or an object that one
 * of its symbolic links leads to. Without links the object says it all; of a
 * lone file it does not have the mode. Then the files of both commits are
 * listed.
 *
 * Source: D1.
 */

bool compare_is_wanted(const struct ask *a)
{
    return a->in.what == FETCH_REF && a->in.object.n && a->in.commit.n;
}

/* The older trees are mostly those of the newer ones: in one request they cost
 * little more. A server that takes no filter would send all files. */
void compare_start(struct ask *a)
{
    struct repo *r = a->repo;

    if (a->snapshot->trees == TREES_HERE)
        return;
    a->snapshot->at_once |= a->in.at_once;
    if (a->base && caps_are_partial(&r->caps))
        a->base->is_wanted = true;
}

static bool is_same_listing(const struct tree_listing *x,
                            const struct tree_listing *y)
{
    bool same =
        x->kind == y->kind && oid_eq(&x->id, &y->id) && x->count == y->count;

    for (size_t i = 0; same && i < x->count; i++)
        same = str_eq(x->files[i].path, y->files[i].path) &&
               x->files[i].is_program == y->files[i].is_program &&
               oid_eq(&x->files[i].blob, &y->files[i].blob);
    return same;
}

enum found compare_step(struct ask *a, struct oid_set *wants, bool *is_same)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct repo *r = a->repo;
    struct tree_source src = {
        &r->objects, {{0}}, &r->index, &r->session->limits, NULL};
    struct tree_listing old;
    struct err ignored = {0};

    *is_same = oid_eq(&a->listing.id, &a->pinned);
    if (!*is_same || (a->listing.kind == TREE_FOLDER && !a->listing.has_links))
        return FOUND_PACKAGE;
    *is_same = false;
    if (!a->base || a->base->trees == TREES_FAILED)
        return FOUND_PACKAGE; /* nothing to compare with: it may be another */
    a->base->is_wanted = true;
    if (a->base->trees != TREES_HERE)
        return FOUND_WAIT;
    src.root = a->base->root;
    if (!tree_list(&src, a->path, wants, &scratch, &old, &ignored))
        return FOUND_PACKAGE;
    if (old.kind == TREE_UNKNOWN)
        return FOUND_WAIT;
    *is_same = is_same_listing(&a->listing, &old);
    return FOUND_PACKAGE;
}
