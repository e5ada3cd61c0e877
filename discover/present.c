#include "present.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"
#include "mapm/state.h"

#include "entry.h"

/* --- layers ----------------------------------------------------------------------- */

static void open_one(struct present *l,
                     bool (*open_it)(struct context *cx, enum layer_mode mode,
                                     struct layer *out, struct err *e))
{
    struct layer *out = &l->items[l->count];
    struct err e = {0};

    if (!open_it(l->cx, LAYER_READ, out, &e)) {
        if (l->cx->is_verbose)
            context_warn(l->cx, "what is installed is not known: %s",
                         err_first(&e));
        return;
    }
    if (l->count && str_eq(out->path, l->items[0].path))
        layer_close(out);
    else
        l->count++;
}

void present_open(struct context *cx, struct store *store, struct present *out)
{
    *out = (struct present){.cx = cx, .store = store};
    map_init(&out->shown, &cx->arena);
    open_one(out, layer_open_workspace);
    open_one(out, layer_open_global);
}

void present_close(struct present *l)
{
    for (size_t i = 0; i < l->count; i++)
        layer_close(&l->items[i]);
    l->count = 0;
}

const struct lock_entry *present_find(const struct present *l,
                                      struct str origin, struct str entry,
                                      struct arena *a)
{
    struct err ignored = {0};
    struct origin o;

    for (size_t i = 0; i < l->count && origin.n; i++) {
        const struct layer *layer = &l->items[i];
        const struct lock_entry *found;

        if (!origin_parse_part(origin, &layer->rules, a, &o, &ignored))
            continue;
        if (entry.n)
            o = origin_of_entry(&o, entry, a);
        found = map_find(&layer->by_origin, o.key);
        if (found)
            return found;
    }
    return NULL;
}

const struct lock_entry *present_find_skill(const struct present *l,
                                            struct str root, struct str folder)
{
    struct str path = fs_join(root, folder, &l->cx->arena);

    for (size_t i = 0; i < l->count; i++) {
        const struct lock_entry *found = layer_find_folder(&l->items[i], path);

        if (found)
            return found;
    }
    return NULL;
}

static struct str key_of(const struct lock_entry *entry, struct arena *a)
{
    return layer_name_key(entry->kind, entry->name, a);
}

void present_note_shown(struct present *l, const struct lock_entry *entry)
{
    map_put(&l->shown, key_of(entry, &l->cx->arena), l);
}

bool present_is_shown(const struct present *l, const struct lock_entry *entry)
{
    return map_has(&l->shown, key_of(entry, &l->cx->arena));
}

size_t present_tokens(struct str root, struct str folder, struct context *cx)
{
    struct str file =
        fs_join(fs_join(root, folder, &cx->arena), STR("SKILL.md"), &cx->arena);
    struct err ignored = {0};
    struct str text;

    if (!fs_read_user_file(file.p, ANCHOR_MAX_BYTES, &cx->arena, &text,
                           &ignored))
        return 0;
    return entry_tokens(text);
}

/* --- sources ------------------------------------------------------------------------ */

static const struct package_file *document_of(const struct lock_entry *entry,
                                              struct package_file *files,
                                              size_t count)
{
    const char *name = doc_entry_file(entry->kind);

    for (size_t i = 0; i < count; i++)
        if (entry->kind == DOC_MCP || (name && str_is(files[i].path, name)))
            return &files[i];
    return NULL;
}

/* Returns the description of an entry's document in the store, or "". */
static struct str describe(struct present *l, const struct lock_entry *entry)
{
    struct arena *a = &l->cx->arena;
    const struct package_file *file;
    struct offered one = {.a = a};
    struct package_file *files;
    struct err ignored = {0};
    struct origin o = {.text = entry->origin};
    struct hash digest;
    size_t count;
    struct str text;

    if (entry->digest.n < 7 ||
        !hash_parse(str_from_index(entry->digest, 7), &digest) ||
        !store_read_listing(l->store, &digest, a, &files, &count, &ignored))
        return STR("");
    file = document_of(entry, files, count);
    if (!file ||
        !store_read(l->store, &file->hash, MCP_MAX_BYTES, a, &text, &ignored) ||
        !offered_add_document(&one, entry->kind, STR(""), text, &o, &ignored) ||
        one.count == 0)
        return STR("");
    return one.items[0].description;
}

static bool put(struct present *l, const struct layer *layer, struct state *s,
                struct str key, struct str stamp, struct search_source *out,
                struct err *e)
{
    struct arena *a = &l->cx->arena;
    const struct lock_entry **all;
    struct offered list = {.a = a};
    size_t count;

    all = layer_entries(layer, a, &count);
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry = all[i];
        struct entry_data data = {.kind = str_cstr(doc_kind_name(entry->kind)),
                                  .version = entry->version,
                                  .origin = entry->origin};

        if (entry->kind != DOC_SKILL &&
            !offered_add(&list, entry->name, describe(l, entry), STR(""), &data,
                         e))
            return false;
    }
    return state_put_source(s, SEARCH_LIBRARY, key, stamp, list.items,
                            list.count, &out->id, e);
}

static bool has_others(const struct lock *lock)
{
    for (size_t i = 0; i < lock->count; i++)
        if (lock->entries[i].kind != DOC_SKILL)
            return true;
    return false;
}

static struct str stamp_of(const struct layer *layer, struct arena *a)
{
    struct hash_state h;
    struct hash hash;

    hash_init(&h);
    hash_add(&h, layer->lock_text);
    hash_add(&h, str_make("", 1));
    hash_add(&h, layer->local_lock_text);
    hash = hash_end(&h);
    return hash_hex(&hash, a);
}

bool present_sources(struct present *l, struct state *s, struct arena *a,
                     struct search_source **out, size_t *count, struct err *e)
{
    *out = arena_array(a, 3, sizeof **out);
    *count = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct layer *layer = &l->items[i];
        struct str key = str_join(STR("packages "), layer->path, a);
        struct str stamp = stamp_of(layer, a);
        struct search_source *one = &(*out)[*count];

        if (!has_others(&layer->lock) && !has_others(&layer->local_lock))
            continue;
        if (!state_find_source(s, SEARCH_LIBRARY, key, a, one, e) ||
            !str_eq(one->stamp, stamp)) {
            if (e->code != ERR_NONE || !put(l, layer, s, key, stamp, one, e))
                return false;
        }
        ++*count;
    }
    return true;
}
