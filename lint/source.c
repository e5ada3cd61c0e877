#include "base/fs.h"
#include "base/map.h"
#include "mapm/layer.h"
#include "mapm/lint.h"
#include "mapm/lock.h"

static bool is_any_installed(const struct check_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct check_result *r = results->items[i];

        if (str_find(r->root->real, STR("/.agents/")) != SIZE_MAX ||
            str_find(r->folder, STR(".agents/")) != SIZE_MAX)
            return true;
    }
    return false;
}

/* Returns the entry of the package that `folder` is, or is in. */
static const struct lock_entry *find_entry(const struct map *places,
                                           struct str folder)
{
    const struct lock_entry *entry = NULL;

    while (folder.n > 1 && !(entry = map_find(places, folder)))
        folder = str_slice(folder, 0, str_find_last(folder, '/'));
    return entry;
}

void lint_find_sources(struct context *cx, const struct check_results *results)
{
    CLEANUP(layer_close) struct layer l = {0};
    const struct lock_entry **entries;
    struct arena *a = &cx->arena;
    struct err ignored = {0};
    struct map places;
    size_t count;

    if (!is_any_installed(results) || !layer_open(cx, LAYER_READ, &l, &ignored))
        return;
    map_init(&places, a);
    entries = layer_entries(&l, a, &count);
    for (size_t i = 0; i < count; i++)
        if (entries[i]->kind == DOC_SKILL || entries[i]->kind == DOC_AGENT)
            map_put(&places, fs_join(l.path, layer_place(&l, entries[i], a), a),
                    (void *)(uintptr_t)entries[i]);
    for (size_t i = 0; places.count && i < results->count; i++) {
        struct check_result *r = results->items[i];
        const struct lock_entry *entry =
            r->root ? find_entry(&places, lint_folder(r, a)) : NULL;

        if (!entry)
            continue;
        r->is_installed = str_find(r->folder, STR(".agents/")) != SIZE_MAX;
        if (r->is_installed)
            diagnostics_drop_hints(&r->why);
        r->from = entry->from;
        r->is_from_checkout =
            entry->from.n && layer_is_from_checkout(&l, entry);
    }
}
