#include "base/path.h"

#include "session.h"

/*
 * compare: a package has changed if its git object differs, or an object that
 * one of its symbolic links leads to. The ids of the objects decide for a
 * folder without links. For a folder with links, and for a single file, whose
 * id does not cover its mode, the files of both commits are listed and
 * compared.
 *
 * Source: D1.
 */

bool compare_is_wanted(const struct ask *a)
{
    return a->in.what == FETCH_REF && a->in.object.n && a->in.commit.n;
}

/* Requests the trees of both commits in one request, because the commits share
 * most objects. The older commit is not part of the request
 * - if the server does not support filters: it would send all files, too;
 * - with `at_once`, until a comparison needs its trees: after a forced push the
 *   server rejects every request that includes this commit. */
void compare_start(struct ask *a)
{
    struct repo *r = a->repo;

    if (a->snapshot->trees == TREES_HERE)
        return;
    a->snapshot->at_once |= a->in.at_once;
    if (a->base && !a->in.at_once && caps_are_partial(&r->caps))
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

bool compare_find_moved(const struct ask *a, struct str *path, struct oid *id)
{
    struct repo *r = a->repo;
    struct tree_source src = {
        &r->objects, {{0}}, &r->index, &r->session->limits, NULL};
    struct tree_sought sought = {.id = a->pinned};

    if (!compare_is_wanted(a) || !a->snapshot ||
        a->snapshot->trees != TREES_HERE || a->path.n == 0)
        return false;
    src.root = a->snapshot->root;
    /* The name of a plugin's folder says little. */
    if (a->in.kinds == DOC_SKILL || a->in.kinds == DOC_AGENT)
        sought.file = doc_entry_file((enum doc_kind)a->in.kinds);
    if (sought.file || a->in.kinds == DOC_MCP)
        sought.name = path_last(a->path);
    return tree_find_elsewhere(&src, &sought, &r->arena, path, id);
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
        return FOUND_PACKAGE; /* nothing to compare with: report a change */
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
