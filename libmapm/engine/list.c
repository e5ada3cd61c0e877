#include "mapm/install_query.h"
#include "mapm/layer.h"

#include "engine.h"

static struct mapm_package package_of(struct engine *g, const struct layer *l,
                                      const struct lock_entry *entry,
                                      const struct map *roots)
{
    struct arena *a = &g->cx.arena;
    struct str key = layer_name_key(entry->kind, entry->name, a);

    return (struct mapm_package){
        .type = doc_kind_name(entry->kind),
        .name = engine_text(g, entry->name),
        .version = engine_text(g, entry->version),
        .origin = engine_text(g, lock_origin_text(entry)),
        .commit = engine_text(g, entry->commit),
        .digest = engine_text(g, entry->digest),
        .place = engine_text(g, layer_place(l, entry, a)),
        .prereqs = engine_text(g, install_prereqs(l, entry, a)),
        .patch = "",
        .action = "",
        .old_version = "",
        .old_commit = "",
        .command = "",
        .is_root = map_has(roots, key),
        .is_local = layer_is_local(l, entry),
    };
}

bool engine_list(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(layer_close) struct layer l = {0};
    struct arena *a = &g->cx.arena;
    const struct lock_entry **entries;
    struct mapm_package *list;
    struct root *roots;
    struct map is_root;
    size_t count, root_count;

    (void)c;
    if (!layer_open(&g->cx, LAYER_READ, &l, e))
        return false;
    entries = layer_entries(&l, a, &count);
    roots = layer_roots(&l, a, &root_count);
    layer_index_roots(&l, roots, root_count, a, &is_root);
    list = arena_array(a, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = package_of(g, &l, entries[i], &is_root);
    return engine_send(g, WIRE_RESULT, WIRE_PACKAGE, list, count, e);
}
