#include "reachable.h"

#include "tree.h"

static struct str key_of(const struct oid *id)
{
    return str_make((const char *)id->b, OID_BYTES);
}

void reachable_init(struct reachable *r, struct arena *a,
                    const struct oid *wants, size_t count)
{
    *r = (struct reachable){0};
    oid_set_init(&r->ids, a);
    map_init(&r->early, a);
    for (size_t i = 0; i < count; i++)
        oid_set_put(&r->ids, &wants[i]);
}

bool reachable_add_blob(struct reachable *r, const struct oid *id,
                        struct str bytes)
{
    struct object *o;

    if (oid_set_has(&r->ids, id))
        return true;
    o = arena_new(r->early.arena, struct object);
    *o = (struct object){.id = *id, .type = OBJECT_BLOB, .bytes = bytes};
    map_put(&r->early, key_of(&o->id), o);
    return false;
}

static void add_entries(struct reachable *r, const struct object *o)
{
    struct err ignored = {0};
    struct str rest = o->bytes;
    struct tree_entry entry;
    struct oid root;

    if (o->type == OBJECT_COMMIT) {
        if (commit_tree(o->bytes, &root, &ignored))
            oid_set_put(&r->ids, &root);
        return;
    }
    /* A damaged tree is reported by the code that uses it. */
    while (rest.n && tree_next(&rest, &entry, &ignored))
        oid_set_put(&r->ids, &entry.id);
}

bool reachable_add(struct reachable *r, const struct objects *objects,
                   const struct oid *id,
                   bool (*blob)(void *ctx, const struct oid *id,
                                struct str bytes, struct err *e),
                   void *ctx, struct err *e)
{
    const struct object *o = objects_find(objects, id);
    size_t next = oid_set_count(&r->ids);

    if (!oid_set_has(&r->ids, id) || o == NULL || o->type == OBJECT_BLOB)
        return true;
    /* The set also serves as the queue: entries from `next` on are new. */
    add_entries(r, o);
    for (; next < oid_set_count(&r->ids); next++) {
        const struct oid *entry = oid_set_get(&r->ids, next);
        const struct object *early = map_find(&r->early, key_of(entry));

        o = objects_find(objects, entry);
        if (o && o->type != OBJECT_BLOB)
            add_entries(r, o);
        if (early == NULL)
            continue;
        r->early_taken++;
        if (!blob(ctx, entry, early->bytes, e))
            return false;
    }
    return true;
}

size_t reachable_unrequested(const struct reachable *r)
{
    return r->early.count - r->early_taken;
}
