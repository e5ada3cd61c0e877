#include "mapm/team_object.h"

#include "session.h"

/*
 * bundle: serializes the objects of a commit for mapm's store: for each object
 * a type byte, u32 length and the bytes; first the commit, then its trees, and
 * the texts of those links and marketplaces that were needed. A bundle is not
 * trusted: ids are recomputed when it is loaded.
 */

static void put_object(struct buf *b, const struct object *o)
{
    frame_u8(b, o->type);
    frame_str(b, o->bytes);
}

/* Adds the text of a link or of a marketplace, unless it is missing or was
 * added. */
static void put_text(struct buf *b, const struct repo *r, const struct oid *id,
                     struct oid_set *texts)
{
    const struct object *o = objects_find(&r->objects, id);
    size_t before = oid_set_count(texts);

    if (!o || o->type != OBJECT_BLOB || o->bytes.n > TEAM_MARKET_MAX_BYTES)
        return;
    oid_set_put(texts, id);
    if (oid_set_count(texts) > before)
        put_object(b, o);
}

static bool may_be_here(const struct repo *r, enum tree_kind kind)
{
    return kind == TREE_LINK || (r->has_market && kind != TREE_FOLDER);
}

/* Adds all trees below the root that are present, each once; adds nothing if
 * `b` is NULL. Returns false if a tree is missing. */
static bool put_trees(struct buf *b, const struct repo *r,
                      const struct oid *root, struct arena *a)
{
    struct oid_set todo, texts;
    struct err ignored = {0};
    bool all = true;

    oid_set_init(&todo, a);
    oid_set_init(&texts, a);
    oid_set_put(&todo, root);
    for (size_t i = 0; i < oid_set_count(&todo); i++) {
        const struct object *o =
            objects_find(&r->objects, oid_set_get(&todo, i));
        struct str rest;

        if (o == NULL || o->type != OBJECT_TREE) {
            all = false;
            continue;
        }
        if (b)
            put_object(b, o);
        rest = o->bytes;
        while (rest.n) {
            struct tree_entry entry;

            if (!tree_next(&rest, &entry, &ignored))
                return false;
            if (entry.kind == TREE_FOLDER)
                oid_set_put(&todo, &entry.id);
            if (b && may_be_here(r, entry.kind))
                put_text(b, r, &entry.id, &texts);
        }
    }
    return all;
}

static bool save(struct repo *r, struct snapshot *s, bool partly)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b;
    const struct object *commit = objects_find(&r->objects, &s->commit);
    bool all;

    buf_init(&b, COMMIT_TREES_MAX_BYTES);
    put_object(&b, commit);
    all = put_trees(&b, r, &s->root, &a);
    if ((all || partly) && !b.overflowed) {
        link_put_trees(&r->session->link, r->key, &s->commit, buf_str(&b));
        s->known_objects = r->objects.map.count;
    }
    return all;
}

bool bundle_save(struct repo *r, struct snapshot *s)
{
    return save(r, s, false);
}

void bundles_save_walked(struct repo *r)
{
    for (struct snapshot *s = r->snapshots; s; s = s->next)
        if ((s->is_walked || r->has_links) && s->trees == TREES_HERE &&
            s->known_objects != r->objects.map.count &&
            objects_find(&r->objects, &s->commit))
            s->is_walked = !save(r, s, true);
}

static bool has_all_trees(const struct repo *r, const struct oid *root)
{
    CLEANUP(arena_done) struct arena a = {0};

    return put_trees(NULL, r, root, &a);
}

bool bundle_load(struct repo *r, struct snapshot *s, struct str bytes)
{
    struct fields in = fields_of(bytes);
    const struct object *commit;
    struct err ignored = {0};

    while (in.rest.n && !in.bad) {
        enum object_type type = (enum object_type)field_u8(&in, OBJECT_TAG);
        struct str content = field_str(&in, COMMIT_TREES_MAX_BYTES);
        struct oid id;

        if (in.bad || type < OBJECT_COMMIT || type > OBJECT_BLOB ||
            (type == OBJECT_BLOB && content.n > TEAM_MARKET_MAX_BYTES) ||
            !oid_of(type, content, &id, &ignored))
            return false;
        objects_put(&r->objects, type, &id, content);
        r->has_market |= type == OBJECT_BLOB;
    }
    commit = objects_find(&r->objects, &s->commit);
    if (in.bad || !commit || commit->type != OBJECT_COMMIT ||
        !commit_tree(commit->bytes, &s->root, &ignored) ||
        objects_find(&r->objects, &s->root) == NULL)
        return false;
    s->is_walked = !has_all_trees(r, &s->root);
    s->known_objects = r->objects.map.count;
    return true;
}
