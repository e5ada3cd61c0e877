#include "base/buf.h"
#include "mapm/project.h"

#include "project.h"

/* Compares mapm.yaml before and after an edit to verify that only the target of
 * the edit has changed. */

const char *const project_lists[PROJECT_LISTS] = {"agents", "skills", "mcps",
                                                  "plugins", "catalogs"};

const struct yaml *project_list(const struct yaml *block, const char *name)
{
    return block && block->kind == YAML_MAPPING ? yaml_get(block, name) : NULL;
}

const struct yaml *project_item_origin(const struct yaml *item)
{
    const struct yaml *origin =
        item->kind == YAML_MAPPING ? yaml_get(item, "origin") : item;

    return origin && origin->kind == YAML_SCALAR ? origin : NULL;
}

/* The text distinguishes a plugin from a skill in the same folder. */
struct str project_item_text(enum doc_kind kind, const struct yaml *item,
                             struct arena *a)
{
    const struct yaml *origin = project_item_origin(item), *catalog, *name;

    if (kind != DOC_PLUGIN)
        return origin ? origin->text : (struct str){NULL, 0};
    if (origin)
        return str_join(origin->text, STR("?plugin"), a);
    catalog = item->kind == YAML_MAPPING ? yaml_get(item, "catalog") : NULL;
    name = item->kind == YAML_MAPPING ? yaml_get(item, "plugin") : NULL;
    if (!catalog || catalog->kind != YAML_SCALAR || !name ||
        name->kind != YAML_SCALAR)
        return (struct str){NULL, 0};
    return arena_printf(a, "%.*s?plugin=%.*s", STR_ARG(catalog->text),
                        STR_ARG(name->text));
}

struct item {
    enum doc_kind kind;
    struct str text, as, without;
};

static bool item_eq(const struct item *x, const struct item *y)
{
    return x->kind == y->kind && str_eq(x->text, y->text) &&
           str_eq(x->as, y->as) && str_eq(x->without, y->without);
}

bool project_item_without(const struct yaml *item, struct arena *a,
                          struct str *out)
{
    const struct yaml *list =
        item->kind == YAML_MAPPING ? yaml_get(item, "without") : NULL;
    struct str_list words;
    struct str *items;
    size_t n = 0;

    *out = STR("");
    if (!list || project_is_null(list))
        return true;
    if (list->kind != YAML_SEQUENCE)
        return false;
    items = arena_array(a, list->count + 1, sizeof *items);
    for (const struct yaml *y = list->first; y; y = y->next) {
        if (y->kind != YAML_SCALAR)
            return false;
        items[n++] = y->text;
    }
    words = project_sort_parts((struct str_list){items, n}, a);
    *out = project_parts_text(words, a);
    return true;
}

/* Reads a root. Returns false if the item has other keys than an origin or an
 * entry of a marketplace, a name, and omitted parts. */
static bool read_item(enum doc_kind kind, const struct yaml *y, struct arena *a,
                      struct item *out)
{
    struct str text = project_item_text(kind, y, a);
    const struct yaml *as = NULL;
    size_t members = project_item_origin(y) ? 1 : 2;

    if (y->kind == YAML_MAPPING) {
        as = yaml_get(y, "as");
        members += (size_t)(as != NULL);
        members += (size_t)(yaml_get(y, "without") != NULL);
    }
    *out = (struct item){kind, text, as ? as->text : STR(""), STR("")};
    return text.p && (!as || as->kind == YAML_SCALAR) &&
           (y->kind != YAML_MAPPING || y->count == members) &&
           project_item_without(y, a, &out->without);
}

/* Collects all roots in the order of their kinds. Returns false if an item is
 * not a root. */
static bool collect(const struct yaml *root, struct arena *a,
                    struct item **items, size_t *count)
{
    const struct yaml *block = root ? yaml_get(root, "dependencies") : NULL;
    size_t capacity = 0;

    *items = NULL;
    *count = 0;
    for (unsigned k = DOC_AGENT; k <= DOC_PLUGIN; k <<= 1) {
        const struct yaml *list =
            project_list(block, doc_kind_plural((enum doc_kind)k));

        for (const struct yaml *y = list ? list->first : NULL; y; y = y->next) {
            *items = arena_grow(a, *items, *count, &capacity, sizeof **items);
            if (!read_item((enum doc_kind)k, y, a, &(*items)[*count]))
                return false;
            ++*count;
        }
    }
    return true;
}

/* Returns true if `more` is `fewer` with the roots of `change` inserted
 * anywhere. */
static bool is_insertion(const struct item *fewer, size_t count,
                         const struct item *more, size_t more_count,
                         const struct project_change *change)
{
    size_t at = 0, found = 0;

    if (more_count != count + change->count)
        return false;
    for (size_t i = 0; i < more_count; i++) {
        if (at < count && item_eq(&fewer[at], &more[i]))
            at++;
        else if (found < change->count && more[i].kind == change->kind &&
                 str_eq(more[i].text, change->origins[found]) &&
                 str_eq(more[i].as,
                        change->names ? change->names[found] : STR("")) &&
                 str_eq(more[i].without,
                        change->without ? change->without[found] : STR("")))
            found++;
        else
            return false;
    }
    return true;
}

static bool is_kind_key(struct str block, struct str key)
{
    if (!str_is(block, "dependencies"))
        return false;
    for (unsigned k = DOC_AGENT; k <= DOC_PLUGIN; k <<= 1)
        if (str_is(key, doc_kind_plural((enum doc_kind)k)))
            return true;
    return false;
}

struct str project_rest(const struct yaml *root,
                        bool (*is_left_out)(struct str block, struct str key),
                        struct arena *a)
{
    const struct yaml *stack[PROJECT_MAX_DEPTH + 1] = {root ? root->first
                                                            : NULL};
    CLEANUP(buf_done) struct buf b = {0};
    struct str block = STR("");
    size_t depth = 0;

    buf_init(&b, SIZE_MAX / 2);
    for (;;) {
        const struct yaml *y = stack[depth];

        if (!y) {
            if (depth-- == 0)
                return arena_str(a, buf_str(&b));
            continue;
        }
        stack[depth] = y->next;
        if (depth < 2 && is_left_out(depth ? block : STR(""), y->key))
            continue;
        if (depth == 0)
            block = y->key;
        if (depth > 0 || !str_is(block, "dependencies")) {
            buf_printf(&b, "%zu %d %zu %zu:", depth, (int)y->kind, y->key.n,
                       y->text.n);
            buf_append(&b, y->key);
            buf_append(&b, y->text);
        }
        if (y->first)
            stack[++depth] = y->first;
    }
}

bool project_differs_by(const struct yaml *fewer, const struct yaml *more,
                        const struct project_change *change, struct arena *a)
{
    struct item *items, *more_items;
    size_t count, more_count;

    return collect(fewer, a, &items, &count) &&
           collect(more, a, &more_items, &more_count) &&
           is_insertion(items, count, more_items, more_count, change) &&
           str_eq(project_rest(fewer, is_kind_key, a),
                  project_rest(more, is_kind_key, a));
}
