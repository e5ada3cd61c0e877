#include "exclude.h"

void patterns_add(struct patterns *w, struct str word)
{
    if (!map_put(&w->seen, word, w))
        return;
    w->items =
        arena_grow(w->a, w->items, w->count, &w->capacity, sizeof *w->items);
    w->items[w->count++] = word;
}

void patterns_init(struct patterns *w, struct arena *a)
{
    *w = (struct patterns){.a = a};
    map_init(&w->seen, a);
}

const char *catalogs_file(const struct catalog *c)
{
    return c->is_local ? "mapm.local.yaml" : "mapm.yaml";
}

static struct str *text_of(struct install_session *s, const struct catalog *c)
{
    return c->is_local ? &s->local_yaml : &s->yaml;
}

bool catalogs_set(struct install_session *s, const struct catalog *c,
                  struct str key, const struct project_catalog *want,
                  struct err *e)
{
    struct str *text = text_of(s, c);

    return project_set_catalog(*text, key, want, &s->layer.rules, &s->cx->arena,
                               text, e) ||
           err_wrap(e, "cannot edit %s", catalogs_file(c));
}

/* The packages removed from one catalog. */
struct removal {
    const struct catalog *catalog;
    struct patterns words;
    size_t left;        /* number of packages that it still chooses */
    struct map folders; /* folders that contain packages to keep */
};

static struct removal *removal_of(struct map *all, const struct catalog *c,
                                  struct arena *a)
{
    struct map_entry *entry = map_entry(all, c->origin.key);
    struct removal *r = entry->value;

    if (r)
        return r;
    entry->value = r = arena_new(a, struct removal);
    r->catalog = c;
    patterns_init(&r->words, a);
    for (size_t i = 0; i < c->exclude.count; i++)
        patterns_add(&r->words, c->exclude.words[i]);
    map_init(&r->folders, a);
    return r;
}

static void note_folders(struct removal *r, struct str path)
{
    size_t slash;

    while ((slash = str_find_last(path, '/')) != SIZE_MAX) {
        path = str_slice(path, 0, slash);
        if (!map_put(&r->folders, path, r))
            break;
    }
}

/* Finds the catalogs of removed packages, and the other packages that they
 * chose. */
static void find_losers(struct install_session *s, const struct map *gone,
                        struct map *all)
{
    struct arena *a = &s->cx->arena;

    for (size_t i = 0; i < s->chosen.count; i++) {
        const struct map_entry *entry = &s->chosen.entries[i];

        for (const struct chosen *c = entry->value; c; c = c->next)
            if (map_has(gone, entry->key))
                removal_of(all, c->catalog, a);
    }
    for (size_t i = 0; i < s->root_count; i++)
        for (const struct chosen *c =
                 map_find(&s->chosen, s->roots[i].origin.key);
             c; c = c->next) {
            struct removal *r = map_find(all, c->catalog->origin.key);
            struct str path, name;

            if (!r || map_has(gone, s->roots[i].origin.key))
                continue;
            r->left++;
            if (catalog_holds(r->catalog, s->roots[i].kind, &s->roots[i].origin,
                              &path, &name))
                note_folders(r, path);
        }
}

static void add_exclusion(struct install_session *s, struct removal *r,
                          const struct root *root)
{
    struct arena *a = &s->cx->arena;
    struct str path, name;

    if (!catalog_holds(r->catalog, root->kind, &root->origin, &path, &name))
        return;
    if (map_has(&r->folders, path))
        path = STR("");
    patterns_add(&r->words, catalog_word(root->kind, path, name, a));
}

static void report_exclusion(struct install_session *s, const struct removal *r)
{
    struct arena *a = &s->cx->arena;
    size_t before = r->catalog->exclude.count, n = s->plan.excluded_count;
    size_t added = r->left ? r->words.count - before : 1;
    struct install_exclusion *list =
        arena_array(a, n + added + 1, sizeof *list);

    for (size_t i = 0; i < n; i++)
        list[i] = s->plan.excluded[i];
    for (size_t i = 0; i < added; i++)
        list[n++] = (struct install_exclusion){
            r->catalog->origin.text,
            r->left ? r->words.items[before + i] : STR("")};
    s->plan.excluded = list;
    s->plan.excluded_count = n;
}

bool catalogs_exclude(struct install_session *s, const struct root *gone,
                      size_t count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct map keys, all;

    if (s->chosen.count == 0 || count == 0)
        return true;
    map_init(&keys, a);
    map_init(&all, a);
    for (size_t i = 0; i < count; i++)
        map_put(&keys, gone[i].origin.key, s);
    find_losers(s, &keys, &all);
    for (size_t i = 0; i < count; i++) {
        struct map_entry *entry;

        if (!map_has(&s->chosen, gone[i].origin.key))
            continue;
        entry = map_entry(&s->chosen, gone[i].origin.key);
        for (const struct chosen *c = entry->value; c; c = c->next)
            add_exclusion(s, removal_of(&all, c->catalog, a), &gone[i]);
        entry->value = NULL;
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct removal *r = all.entries[i].value;
        const struct catalog *c = r->catalog;
        struct project_catalog want = {
            .origin = c->origin.text,
            .include = {c->include.words, c->include.count},
            .exclude = {r->words.items, r->words.count},
        };

        report_exclusion(s, r);
        if (!catalogs_set(s, c, c->origin.key, r->left ? &want : NULL, e))
            return false;
    }
    return true;
}

bool catalogs_remove(struct install_session *s, const struct catalog *c,
                     struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < s->chosen.count; i++) {
        struct chosen **at = (struct chosen **)&s->chosen.entries[i].value;

        while (*at && (*at)->catalog != c)
            at = &(*at)->next;
        if (*at)
            *at = (*at)->next;
    }
    for (size_t i = 0; i < s->root_count; i++) {
        const struct root *root = &s->roots[i];
        const struct chosen *other = map_find(&s->chosen, root->origin.key);

        if (root->catalog && !other)
            continue;
        s->roots[n++] = *root;
    }
    s->root_count = n;
    return catalogs_set(s, c, c->origin.key, NULL, e);
}
