#include "mapm/limits.h"
#include "mapm/project.h"

#include "project_cut.h"

/* Adds a catalog to mapm.yaml, changes or removes one [D11]. */

#define PASSES_MAX 4 /* one pass for the origin and one for each of two lists */

/* --- what is there -------------------------------------------------------- */

static bool read_words(const struct yaml *list, struct arena *a,
                       struct str_list *out)
{
    struct str *words;

    *out = (struct str_list){NULL, 0};
    if (!list || project_is_null(list))
        return true;
    if (list->kind != YAML_SEQUENCE)
        return false;
    words = arena_array(a, list->count + 1, sizeof *words);
    for (const struct yaml *y = list->first; y; y = y->next) {
        if (y->kind != YAML_SCALAR)
            return false;
        words[out->count++] = y->text;
    }
    out->items = words;
    return true;
}

/* Reads a catalog. Returns false if the item has other keys than these
 * three. */
static bool read_catalog(const struct yaml *item, struct arena *a,
                         struct project_catalog *out)
{
    const struct yaml *origin = project_item_origin(item);
    const struct yaml *include = NULL, *exclude = NULL;

    if (!origin)
        return false;
    *out = (struct project_catalog){.origin = origin->text};
    if (item->kind != YAML_MAPPING)
        return true;
    include = yaml_get(item, "include");
    exclude = yaml_get(item, "exclude");
    return item->count ==
               1 + (size_t)(include != NULL) + (size_t)(exclude != NULL) &&
           read_words(include, a, &out->include) &&
           read_words(exclude, a, &out->exclude);
}

static const struct yaml *catalogs_of(const struct yaml *root)
{
    const struct yaml *list =
        project_list(root ? yaml_get(root, "dependencies") : NULL, "catalogs");

    return list && list->kind == YAML_SEQUENCE ? list : NULL;
}

static bool collect(const struct yaml *root, struct arena *a,
                    struct project_catalog **out, size_t *count)
{
    const struct yaml *list = catalogs_of(root);

    *count = 0;
    *out = arena_array(a, (list ? list->count : 0) + 2, sizeof **out);
    for (const struct yaml *y = list ? list->first : NULL; y; y = y->next)
        if (!read_catalog(y, a, &(*out)[(*count)++]))
            return false;
    return true;
}

static bool is_start(struct str_list start, struct str_list whole)
{
    for (size_t i = 0; i < start.count; i++)
        if (i >= whole.count || !str_eq(start.items[i], whole.items[i]))
            return false;
    return true;
}

static bool list_eq(struct str_list x, struct str_list y)
{
    return x.count == y.count && is_start(x, y);
}

static bool catalog_eq(const struct project_catalog *x,
                       const struct project_catalog *y)
{
    return str_eq(x->origin, y->origin) && list_eq(x->include, y->include) &&
           list_eq(x->exclude, y->exclude);
}

/* --- the text of one ------------------------------------------------------ */

static void quote_words(struct edit *ed, const struct str *words, size_t count)
{
    struct str *items = arena_array(ed->a, count + 1, sizeof *items);

    for (size_t i = 0; i < count; i++)
        items[i] = yaml_quote(words[i], ed->a);
    ed->items = items;
    ed->item_count = count;
}

static struct str inline_words(struct edit *ed, const char *key,
                               struct str_list words)
{
    quote_words(ed, words.items, words.count);
    return arena_printf(ed->a, "%s: [%.*s]", key,
                        STR_ARG(edit_inline_items(ed)));
}

static struct str word_lines(struct edit *ed, const char *key,
                             struct str_list words, size_t indent)
{
    quote_words(ed, words.items, words.count);
    return arena_printf(ed->a, "%.*s%s:%s%.*s",
                        STR_ARG(edit_blanks(ed, indent)), key, ed->newline,
                        STR_ARG(edit_item_lines(ed, indent + EDIT_INDENT)));
}

/* Formats a catalog as "{origin: x, exclude: [a]}". */
static struct str in_braces(struct edit *ed, const struct project_catalog *c)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, PROJECT_MAX_BYTES);
    buf_text(&b, "{origin: ");
    buf_append(&b, yaml_quote(c->origin, ed->a));
    if (c->include.count) {
        buf_text(&b, ", ");
        buf_append(&b, inline_words(ed, "include", c->include));
    }
    if (c->exclude.count) {
        buf_text(&b, ", ");
        buf_append(&b, inline_words(ed, "exclude", c->exclude));
    }
    buf_char(&b, '}');
    return arena_str(ed->a, buf_str(&b));
}

/* Formats a catalog as lines, the first one without indentation. */
static struct str in_lines(struct edit *ed, const struct project_catalog *c,
                           size_t indent)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, PROJECT_MAX_BYTES);
    buf_text(&b, "origin: ");
    buf_append(&b, yaml_quote(c->origin, ed->a));
    if (c->include.count) {
        buf_text(&b, ed->newline);
        buf_append(&b, word_lines(ed, "include", c->include, indent));
    }
    if (c->exclude.count) {
        buf_text(&b, ed->newline);
        buf_append(&b, word_lines(ed, "exclude", c->exclude, indent));
    }
    return arena_str(ed->a, buf_str(&b));
}

/* --- changes -------------------------------------------------------------- */

static void rewrite(struct edit *ed, const struct yaml *list,
                    const struct yaml *item, const struct project_catalog *want)
{
    edit_cut(ed, item->start, edit_last_byte(item) + 1,
             list->flow ? in_braces(ed, want)
                        : in_lines(ed, want, edit_indent(ed, item->start)));
}

/* Adds an item with the origin only, in braces or on a line of its own as in
 * the existing lists. The next passes add the words of an item on lines. */
static void add_item(struct edit *ed, const struct project_catalog *want)
{
    const struct yaml *list = catalogs_of(ed->root);
    bool flow =
        (list && list->flow && list->first) || (ed->root && ed->root->flow) ||
        (ed->block && ed->block->flow) || (!list && edit_has_brackets(ed));
    struct str *item = arena_new(ed->a, struct str);

    *item = flow ? in_braces(ed, want)
                 : arena_printf(ed->a, "origin: %.*s",
                                STR_ARG(yaml_quote(want->origin, ed->a)));
    ed->items = item;
    ed->item_count = 1;
    edit_add_items(ed);
}

/* Appends words to the list `key` of the item, which is created if absent. */
static void add_words(struct edit *ed, const struct yaml *item, const char *key,
                      struct str_list old, struct str_list want)
{
    const struct yaml *list = yaml_get(item, key);
    struct str_list more = {want.items + old.count, want.count - old.count};

    quote_words(ed, more.items, more.count);
    if (list)
        edit_add_to_list(ed, item, list, EDIT_INDENT);
    else if (item->flow)
        edit_add_member(ed, item, inline_words(ed, key, more));
    else
        edit_insert_lines(
            ed, edit_last_byte(item),
            word_lines(ed, key, more, edit_indent(ed, item->start)));
}

static void change_item(struct edit *ed, const struct yaml *list,
                        const struct yaml *item,
                        const struct project_catalog *old,
                        const struct project_catalog *want)
{
    const struct yaml *origin = project_item_origin(item);

    if (item->kind != YAML_MAPPING || !is_start(old->include, want->include) ||
        !is_start(old->exclude, want->exclude))
        rewrite(ed, list, item, want);
    else if (!str_eq(old->origin, want->origin))
        edit_cut(ed, origin->start, origin->end,
                 yaml_quote(want->origin, ed->a));
    else if (!list_eq(old->include, want->include))
        add_words(ed, item, "include", old->include, want->include);
    else
        add_words(ed, item, "exclude", old->exclude, want->exclude);
}

/* Removes the only item together with the key of its list, unless a comment
 * stands at the key or between the two. */
static bool remove_list(struct edit *ed, const struct yaml *list,
                        const struct yaml *item)
{
    size_t from = edit_line_start(ed, list->key_start);

    if (list->flow || list->count != 1 || ed->block->flow ||
        !edit_begins_line(ed, list->key_start) ||
        str_has_char(str_slice(ed->text, from, item->start), '#'))
        return false;
    edit_cut(ed, from, edit_line_end(ed, edit_last_byte(item)), STR(""));
    return true;
}

static const struct yaml *find_item(const struct edit *ed, struct str key,
                                    const struct origin_rules *rules,
                                    const struct yaml **before)
{
    const struct yaml *list = catalogs_of(ed->root);

    *before = NULL;
    for (const struct yaml *y = list ? list->first : NULL; y; y = y->next) {
        const struct yaml *origin = project_item_origin(y);

        if (origin && str_eq(edit_origin_key(origin->text, rules, ed->a), key))
            return y;
        *before = y;
    }
    return NULL;
}

/* Performs one step of the edit. Sets `*done` if no step is left. */
static bool step(struct edit *ed, struct str *key,
                 const struct project_catalog *want,
                 const struct origin_rules *rules, bool *done, struct err *e)
{
    const struct yaml *list = catalogs_of(ed->root), *before;
    const struct yaml *item = find_item(ed, *key, rules, &before);
    struct project_catalog old;

    if (item && !read_catalog(item, ed->a, &old))
        return edit_fail_shape(e);
    *done = want ? item && catalog_eq(&old, want) : !item;
    if (*done)
        return true;
    if (!want && !remove_list(ed, list, item))
        edit_remove_item(ed, list, before, item);
    else if (want && !item)
        add_item(ed, want);
    else if (want)
        change_item(ed, list, item, &old, want);
    if (want)
        *key = edit_origin_key(want->origin, rules, ed->a);
    return true;
}

static bool is_catalogs(struct str block, struct str key)
{
    return str_is(block, "dependencies") && str_is(key, "catalogs");
}

/* Returns true if the catalogs of `after` equal those of `before` with this one
 * changed. */
static bool differs_by(const struct yaml *before, const struct yaml *after,
                       struct str key, const struct project_catalog *want,
                       const struct origin_rules *rules, struct arena *a)
{
    struct project_catalog *old, *new;
    size_t old_count, new_count, n = 0;
    bool found = false;

    if (!collect(before, a, &old, &old_count) ||
        !collect(after, a, &new, &new_count) ||
        !str_eq(project_rest(before, is_catalogs, a),
                project_rest(after, is_catalogs, a)))
        return false;
    for (size_t i = 0; i <= old_count; i++) {
        bool is_it =
            i == old_count
                ? !found
                : str_eq(edit_origin_key(old[i].origin, rules, a), key);
        const struct project_catalog *c = is_it           ? want
                                          : i < old_count ? &old[i]
                                                          : NULL;

        found |= is_it;
        if (c && (n >= new_count || !catalog_eq(c, &new[n++])))
            return false;
    }
    return n == new_count;
}

bool project_set_catalog(struct str text, struct str key,
                         const struct project_catalog *want,
                         const struct origin_rules *rules, struct arena *a,
                         struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str result = text, now = key;
    const struct yaml *before = NULL, *root = NULL;
    bool done = false;

    for (int pass = 0; !done; pass++) {
        struct edit ed;

        if (!edit_open_list(&ed, result, "catalogs", &scratch, e))
            return false;
        if (pass == 0)
            before = ed.root;
        root = ed.root;
        if (pass > PASSES_MAX || !step(&ed, &now, want, rules, &done, e))
            return edit_fail_shape(e);
        if (!done && !edit_close(&ed, &result, &root, e))
            return e->code == ERR_LIMIT ? false : edit_fail_shape(e);
    }
    if (result.p != text.p &&
        !differs_by(before, root, key, want, rules, &scratch))
        return edit_fail_shape(e);
    *out = result.p == text.p ? text : arena_str(a, result);
    return true;
}
