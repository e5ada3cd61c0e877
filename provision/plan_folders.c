#include "base/fs.h"

#include <stdlib.h>

#include "work.h"

/* Returns whether the folder is ".mapm" or ".mapm/patches", which users may
 * create as well. */
static bool is_of_patches(struct str folder)
{
    struct str patches = STR(PROVISION_PATCHES);

    return str_starts(patches, folder) &&
           (folder.n == patches.n || patches.p[folder.n] == '/');
}

/* Checks that each parent folder of a path is a real folder or does not exist.
 * check_own_folder() checks that of the record. */
static bool check_parents(struct plan *plan, struct str path, struct err *e)
{
    for (size_t i = 1; i < path.n; i++) {
        struct str folder = str_slice(path, 0, i);
        struct stat st;

        if (path.p[i] != '/' || str_is(folder, STATE_FOLDER) ||
            map_has(&plan->parents, folder))
            continue;
        folder = arena_str(plan->arena, folder);
        map_put(&plan->parents, folder, plan);
        if (stage_early_made(plan->p, folder) ||
            !fs_stat_at(plan->p->root, folder.p, &st)) {
            plan->make = arena_grow(plan->arena, plan->make, plan->make_count,
                                    &plan->make_capacity, sizeof *plan->make);
            plan->make[plan->make_count++] = folder;
            if (!is_of_patches(folder))
                record_add_folder(&plan->next, plan->arena, folder);
        } else if (!S_ISDIR(st.st_mode)) {
            err_set(e, ERR_REFUSED, "%s %s", folder.p, plan_kind_of(&st));
            return err_hint(e, "mapm writes through real folders only: what "
                               "is behind it may lie outside the workspace");
        }
    }
    return true;
}

static bool is_needed(const struct plan *plan, struct str folder)
{
    for (size_t i = 0; i < plan->next.count; i++) {
        struct str path = plan->next.entries[i].path;

        if (path.n > folder.n && path.p[folder.n] == '/' &&
            str_starts(path, folder))
            return true;
    }
    return false;
}

static int longest_first(const void *x, const void *y)
{
    const struct str *a = x, *b = y;

    return a->n < b->n ? 1 : a->n > b->n ? -1 : str_cmp(*a, *b);
}

/* The folder of the record is created before the swap and is not part of it. */
static bool check_own_folder(struct plan *plan, struct err *e)
{
    struct stat st;

    if (!plan->count && !plan->stale)
        return true;
    if (plan->next.count && !check_parents(plan, STR(STATE_FOLDER), e))
        return false;
    if (fs_stat_at(plan->p->root, STATE_FOLDER, &st) && !S_ISDIR(st.st_mode))
        return err_set(e, ERR_REFUSED, "%s %s", STATE_FOLDER,
                       plan_kind_of(&st));
    if (fs_stat_at(plan->p->root, STATE_FOLDER "/journal", &st) &&
        !S_ISREG(st.st_mode))
        return err_set(e, ERR_REFUSED, STATE_FOLDER "/journal %s",
                       plan_kind_of(&st));
    return true;
}

static void add_drop(struct plan *plan, struct str folder)
{
    plan->drop = arena_grow(plan->arena, plan->drop, plan->drop_count,
                            &plan->drop_capacity, sizeof *plan->drop);
    plan->drop[plan->drop_count++] = folder;
}

/* Removes folders that are empty after the last patch is removed. */
static void drop_patches(struct plan *plan)
{
    struct str folder = STR(PROVISION_PATCHES);

    add_drop(plan, folder);
    folder = str_slice(folder, 0, str_find_last(folder, '/'));
    add_drop(plan, arena_str(plan->arena, folder));
}

bool plan_folders(struct plan *plan, struct err *e)
{
    const struct record *r = &plan->p->record;
    bool is_unpatched = false;

    for (size_t i = 0; i < plan->count; i++) {
        const struct change *c = &plan->changes[i];

        if (c->node != NODE_NONE && !check_parents(plan, c->path, e))
            return false;
        is_unpatched |= c->node == NODE_NONE &&
                        str_starts(c->path, STR(PROVISION_PATCHES "/"));
    }
    if (is_unpatched)
        drop_patches(plan);
    if (!check_own_folder(plan, e))
        return false;
    if (plan->texts_only)
        return true;
    for (size_t i = 0; plan->p->has_record && i < r->folder_count; i++) {
        struct str folder = arena_str(plan->arena, r->folders[i]);

        if (is_needed(plan, folder)) {
            record_add_folder(&plan->next, plan->arena, folder);
            continue;
        }
        plan->stale = true;
        add_drop(plan, folder);
    }
    if (plan->drop_count)
        qsort(plan->drop, plan->drop_count, sizeof *plan->drop, longest_first);
    return true;
}
