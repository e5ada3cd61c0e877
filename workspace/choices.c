#include "mapm/layer.h"
#include "mapm/lock.h"
#include "mapm/project.h"

/* Collects roots: those listed in the manifests, and those chosen by their
 * catalogs. */

struct chooser {
    const struct layer *l;
    struct arena *a;
    struct map by_key;  /* origin key of a manifest -> const struct catalog * */
    struct map by_text; /* catalog as written in a lock -> the same, or
                         * `none` */
    struct map seen;    /* "<catalog> <origin key>" of mapm.lock */
    struct layer_choice *list;
    size_t count, capacity;
};

static const struct catalog none;

static void add_catalogs(struct chooser *c, const struct project *p)
{
    for (size_t i = 0; i < p->catalog_count; i++) {
        struct map_entry *known =
            map_entry(&c->by_key, p->catalogs[i].origin.key);

        if (!known->value)
            known->value = &p->catalogs[i];
    }
}

/* Many entries share few catalogs, so each text is parsed once. */
static const struct catalog *find_catalog(struct chooser *c, struct str text)
{
    const struct catalog *found = map_find(&c->by_text, text);
    struct err ignored = {0};
    struct origin o;

    if (found)
        return found;
    if (origin_is_index(text, &c->l->rules)
            ? origin_parse_index(text, c->a, &o, &ignored)
            : origin_parse_here(text, &c->l->rules, c->a, &o, &ignored))
        found = map_find(&c->by_key, o.key);
    found = found ? found : &none;
    map_put(&c->by_text, text, (void *)(uintptr_t)found);
    return found;
}

/* The lock is untrusted: a choice counts only if the catalog contains and
 * selects it. */
static void add_choice(struct chooser *c, const struct catalog *catalog,
                       const struct lock_entry *entry, struct str text,
                       const struct origin *o)
{
    struct str path, name;

    if (!catalog_holds(catalog, entry->kind, o, &path, &name) ||
        !catalog_chooses(catalog, entry->kind, path, name))
        return;
    if (c->l->local_lock.count &&
        !map_put(&c->seen,
                 arena_printf(c->a, "%.*s %.*s", STR_ARG(catalog->origin.key),
                              STR_ARG(o->key)),
                 c))
        return;
    c->list =
        arena_grow(c->a, c->list, c->count, &c->capacity, sizeof *c->list);
    c->list[c->count++] = (struct layer_choice){catalog, entry, *o, text};
}

static void add_entry(struct chooser *c, const struct lock_entry *entry)
{
    for (size_t i = 0; i < entry->catalog_count; i++) {
        struct str text = entry->catalogs[i];
        const struct catalog *catalog = find_catalog(c, text);

        if (catalog == &none)
            continue;
        add_choice(c, catalog, entry, text, layer_origin(c->l, entry));
        for (size_t k = 0; k < entry->also_count; k++) {
            struct err ignored = {0};
            struct origin o;

            if (origin_parse_here(entry->also[k], &c->l->rules, c->a, &o,
                                  &ignored))
                add_choice(c, catalog, entry, text, &o);
        }
    }
}

struct layer_choice *layer_choices(const struct layer *l, struct arena *a,
                                   size_t *count)
{
    struct chooser c = {.l = l, .a = a};

    *count = 0;
    if (l->project.catalog_count + l->local.catalog_count == 0)
        return NULL;
    map_init(&c.by_key, a);
    map_init(&c.by_text, a);
    map_init(&c.seen, a);
    add_catalogs(&c, &l->project);
    add_catalogs(&c, &l->local);
    for (size_t i = 0; i < l->lock.count; i++)
        if (layer_has(l, &l->lock.entries[i]))
            add_entry(&c, &l->lock.entries[i]);
    for (size_t i = 0; i < l->local_lock.count; i++)
        if (layer_has(l, &l->local_lock.entries[i]))
            add_entry(&c, &l->local_lock.entries[i]);
    *count = c.count;
    return c.list;
}

static void add_listed(const struct project *p, struct root *roots,
                       size_t *count)
{
    for (size_t i = 0; i < p->root_count; i++)
        roots[(*count)++] = p->roots[i];
}

/* A package that is also listed has one root only. */
static void add_chosen(const struct layer_choice *choices, size_t choice_count,
                       bool is_local, struct map *known, struct root *roots,
                       size_t *count)
{
    for (size_t i = 0; i < choice_count; i++) {
        const struct layer_choice *c = &choices[i];

        if (c->catalog->is_local == is_local &&
            map_put(known, c->origin.key, known))
            roots[(*count)++] = (struct root){.kind = c->entry->kind,
                                              .origin = c->origin,
                                              .catalog = c->catalog};
    }
}

struct root *layer_roots(const struct layer *l, struct arena *a, size_t *count)
{
    size_t choice_count, n = 0;
    struct layer_choice *choices = layer_choices(l, a, &choice_count);
    struct root *roots = arena_array(
        a, l->project.root_count + l->local.root_count + choice_count + 1,
        sizeof *roots);
    struct map known;

    map_init(&known, a);
    for (size_t i = 0; choice_count && i < l->project.root_count; i++)
        map_put(&known, l->project.roots[i].origin.key, &known);
    for (size_t i = 0; choice_count && i < l->local.root_count; i++)
        map_put(&known, l->local.roots[i].origin.key, &known);
    add_listed(&l->project, roots, &n);
    add_chosen(choices, choice_count, false, &known, roots, &n);
    add_listed(&l->local, roots, &n);
    add_chosen(choices, choice_count, true, &known, roots, &n);
    *count = n;
    return roots;
}
