#include "tree_folder.h"

#include "quote.h"

/* Smaller trees are scanned faster than they are indexed; an index of larger
 * ones takes too much memory. */
#define INDEX_MIN_BYTES 4096
#define INDEX_MAX_BYTES (4u * 1024 * 1024)

void tree_index_init(struct tree_index *index, struct arena *a)
{
    *index = (struct tree_index){.looked_at = 0};
    map_init(&index->folders, a);
}

struct str folder_path(const struct folder *f, struct str name, struct arena *a)
{
    size_t n = name.n, end;
    char *text;

    for (const struct folder *at = f; at->parent; at = at->parent)
        n += at->name.n + 1;
    text = arena_alloc(a, n + 1);
    end = n - name.n;
    for (size_t i = 0; i < name.n; i++)
        text[end + i] = name.p[i];
    for (const struct folder *at = f; at->parent; at = at->parent) {
        text[--end] = '/';
        end -= at->name.n;
        for (size_t i = 0; i < at->name.n; i++)
            text[end + i] = at->name.p[i];
    }
    if (n && name.n == 0)
        n--; /* the "/" after the last folder */
    return str_make(text, n);
}

static bool refuse_twice(struct str name, struct err *e)
{
    struct quote q;

    return err_set(e, ERR_DAMAGED, "\"%s\" is twice in its folder",
                   quote(&q, name));
}

/* Scans to the end in order to detect duplicate names. */
static bool scan(struct str tree, struct str name, bool *found,
                 struct tree_entry *out, struct err *e)
{
    struct tree_entry entry;

    *found = false;
    while (tree.n) {
        if (!tree_next(&tree, &entry, e))
            return false;
        if (!str_eq(entry.name, name))
            continue;
        if (*found)
            return refuse_twice(name, e);
        *found = true;
        *out = entry;
    }
    return true;
}

/* Maps names to entries; NULL for a duplicate name. */
static bool build(struct str tree, struct arena *a, struct map *out,
                  struct err *e)
{
    struct tree_entry entry;

    map_init(out, a);
    while (tree.n) {
        struct tree_entry *kept = arena_new(a, struct tree_entry);

        if (!tree_next(&tree, &entry, e))
            return false;
        *kept = entry;
        if (!map_put(out, entry.name, kept))
            map_put(out, entry.name, NULL);
    }
    return true;
}

static bool look_up(const struct tree_source *s, const struct object *tree,
                    struct str name, uint64_t *scanned, bool *found,
                    struct tree_entry *out, struct err *e)
{
    struct map *folders = &s->index->folders, *names;
    struct str key = str_make((const char *)tree->id.b, OID_BYTES);
    const struct tree_entry *entry;

    names = map_find(folders, key);
    if (!names) {
        names = arena_new(folders->arena, struct map);
        *scanned += tree->bytes.n;
        if (!build(tree->bytes, folders->arena, names, e))
            return false;
        map_put(folders, key, names);
    }
    entry = map_find(names, name);
    if (!entry && map_has(names, name))
        return refuse_twice(name, e);
    *found = entry != NULL;
    if (entry)
        *out = *entry;
    return true;
}

bool folder_find(const struct tree_source *s, const struct folder *f,
                 struct str name, uint64_t *scanned, enum folder_answer *answer,
                 struct tree_entry *out, struct err *e)
{
    const struct object *tree;
    bool found = false, ok;

    if (!objects_find_type(s->objects, &f->tree, OBJECT_TREE, &tree, e))
        return false;
    if (!tree) {
        *answer = FOLDER_ABSENT;
        return true;
    }
    if (s->index && tree->bytes.n >= INDEX_MIN_BYTES &&
        tree->bytes.n <= INDEX_MAX_BYTES) {
        ok = look_up(s, tree, name, scanned, &found, out, e);
    } else {
        *scanned += tree->bytes.n;
        ok = scan(tree->bytes, name, &found, out, e);
    }
    if (!ok)
        return false;
    if (*scanned > TREE_SCAN_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "its path and links need more than %llu bytes of "
                       "folders to be read",
                       TREE_SCAN_MAX_BYTES);
    *answer = found ? FOLDER_HAS : FOLDER_LACKS;
    return true;
}
