#include "base/map.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include <string.h>

#include "project_cut.h"

/* Adds roots to mapm.yaml and removes them. The edit fails without changes
 * unless the result differs from the original by exactly these roots. The file
 * is parsed once before and once after an edit, regardless of the number of
 * roots. */

bool edit_fail_shape(struct err *e)
{
    err_set(e, ERR_FORMAT,
            "its dependencies are written in a way that cannot be changed in "
            "place");
    return err_hint(e, "write each of agents, skills and mcps as a plain list "
                       "of origins, or change it by hand");
}

bool edit_open_list(struct edit *ed, struct str text, const char *list,
                    struct arena *a, struct err *e)
{
    if (!edit_open(ed, text, a, e))
        return false;
    if (ed->root && ed->root->kind != YAML_MAPPING)
        return edit_fail_shape(e);
    ed->list = list;
    ed->block = ed->root ? yaml_get(ed->root, "dependencies") : NULL;
    if (ed->block && !project_is_null(ed->block) &&
        ed->block->kind != YAML_MAPPING)
        return edit_fail_shape(e);
    for (size_t k = 0; k < PROJECT_LISTS; k++) {
        const struct yaml *y = project_list(ed->block, project_lists[k]);

        if (y && !project_is_null(y) && y->kind != YAML_SEQUENCE)
            return edit_fail_shape(e);
    }
    return true;
}

/* Hosts that are no longer configured are accepted, so that their roots are
 * still found. */
struct str edit_origin_key(struct str text, const struct origin_rules *rules,
                           struct arena *a)
{
    const struct origin_rules any = {.any_host = true};
    struct err ignored = {0};
    struct origin o;

    if ((origin_is_index(text, rules) &&
         origin_parse_index(text, a, &o, &ignored)) ||
        origin_parse_part(text, rules, a, &o, &ignored) ||
        origin_parse_part(text, &any, a, &o, &ignored))
        return o.key;
    return text;
}

static void collect_keys(const struct edit *ed, const struct yaml *list,
                         struct map *out)
{
    map_init(out, ed->a);
    if (!list || list->kind != YAML_SEQUENCE)
        return;
    for (const struct yaml *y = list->first; y; y = y->next) {
        struct str text = project_item_text(ed->kind, y, ed->a);

        if (text.p)
            map_put(out, edit_origin_key(text, NULL, ed->a), NULL);
    }
}

static bool finish(const struct edit *ed, const struct project_change *change,
                   bool added, struct str *out, struct err *e)
{
    const struct yaml *root;
    struct str text;

    if (!edit_close(ed, &text, &root, e))
        return e->code == ERR_LIMIT ? false : edit_fail_shape(e);
    if ((root && root->kind != YAML_MAPPING) ||
        !project_differs_by(added ? ed->root : root, added ? root : ed->root,
                            change, ed->a))
        return edit_fail_shape(e);
    *out = text;
    return true;
}

/* --- adding --------------------------------------------------------------- */

/* Returns "skills:" followed by a line for each item, or by the items in
 * brackets. */
static struct str kind_lines(const struct edit *ed, size_t indent,
                             size_t offset, bool brackets)
{
    struct str margin = edit_blanks(ed, indent);

    if (brackets)
        return arena_printf(ed->a, "%.*s%s: [%.*s]", STR_ARG(margin), ed->list,
                            STR_ARG(edit_inline_items(ed)));
    return arena_printf(ed->a, "%.*s%s:%s%.*s", STR_ARG(margin), ed->list,
                        ed->newline,
                        STR_ARG(edit_item_lines(ed, indent + offset)));
}

/* Returns the indent of list items relative to their key. */
static size_t list_offset(const struct edit *ed, size_t indent)
{
    for (size_t k = 0; k < PROJECT_LISTS; k++) {
        const struct yaml *list = project_list(ed->block, project_lists[k]);

        if (list && list->kind == YAML_SEQUENCE && !list->flow &&
            edit_indent(ed, list->start) >= indent)
            return edit_indent(ed, list->start) - indent;
    }
    return EDIT_INDENT;
}

/* Empty lists are ignored: "[]" is also how an empty list with lines is
 * written. */
bool edit_has_brackets(const struct edit *ed)
{
    bool brackets = false;

    for (size_t k = 0; k < PROJECT_LISTS; k++) {
        const struct yaml *list = project_list(ed->block, project_lists[k]);

        if (!list || list->kind != YAML_SEQUENCE || !list->first)
            continue;
        if (!list->flow)
            return false;
        brackets = true;
    }
    return brackets;
}

/* Adds a list for a kind that has none, after the lists of earlier kinds, in
 * the style of the existing ones. */
static void add_kind_lines(struct edit *ed)
{
    size_t indent = edit_indent(ed, ed->block->first->key_start);
    size_t offset = list_offset(ed, indent), at = ed->block->key_start;
    bool is_before = true;

    for (size_t k = 0; k < PROJECT_LISTS; k++) {
        const struct yaml *list = project_list(ed->block, project_lists[k]);

        is_before &= strcmp(project_lists[k], ed->list) != 0;
        if (!list)
            continue;
        if (is_before)
            at = edit_last_byte(list);
    }
    edit_insert_lines(ed, at,
                      kind_lines(ed, indent, offset, edit_has_brackets(ed)));
}

static void add_kind(struct edit *ed)
{
    struct str member = kind_lines(ed, 0, 0, true);
    struct str braces = arena_printf(ed->a, "{%.*s}", STR_ARG(member));
    size_t indent = edit_indent(ed, ed->block->key_start) + EDIT_INDENT;

    if (project_is_null(ed->block) &&
        (edit_is_written(ed->block) || ed->root->flow))
        edit_fill_null(ed, ed->block, braces);
    else if (project_is_null(ed->block))
        edit_insert_lines(ed, ed->block->key_start,
                          kind_lines(ed, indent, EDIT_INDENT, false));
    else if (ed->block->flow)
        edit_add_member(ed, ed->block, member);
    else
        add_kind_lines(ed);
}

static void add_block(struct edit *ed)
{
    const struct yaml *last = ed->root ? ed->root->first : NULL;
    size_t indent;
    struct str lines;

    if (ed->root && (ed->root->flow || !last)) {
        edit_add_member(ed, ed->root,
                        arena_printf(ed->a, "dependencies: {%s: [%.*s]}",
                                     ed->list, STR_ARG(edit_inline_items(ed))));
        return;
    }
    indent = last ? edit_indent(ed, last->key_start) : 0;
    lines = kind_lines(ed, indent + EDIT_INDENT, EDIT_INDENT, false);
    lines = arena_printf(ed->a, "%.*sdependencies:%s%.*s",
                         STR_ARG(edit_blanks(ed, indent)), ed->newline,
                         STR_ARG(lines));
    while (last && last->next)
        last = last->next;
    if (last) {
        edit_insert_lines(ed, edit_last_byte(last), lines);
        return;
    }
    edit_append(ed, lines);
}

/* Returns the origins that are not yet in the list. */
static struct project_change
find_new(const struct edit *ed, enum doc_kind kind, const struct yaml *list,
         const struct str *origins, const struct str *names,
         const struct str_list *without, size_t count)
{
    struct str *texts = arena_array(ed->a, count + 1, sizeof *texts);
    struct str *as = arena_array(ed->a, count + 1, sizeof *as);
    struct str *parts = arena_array(ed->a, count + 1, sizeof *parts);
    struct project_change change = {kind, texts, as, parts, 0};
    struct map known;

    collect_keys(ed, list, &known);
    for (size_t i = 0; i < count; i++)
        if (map_put(&known, edit_origin_key(origins[i], NULL, ed->a), NULL)) {
            as[change.count] = names ? names[i] : STR("");
            parts[change.count] =
                without ? project_parts_text(without[i], ed->a) : STR("");
            texts[change.count++] = origins[i];
        }
    return change;
}

/* Returns the text of an item: only the origin, or {origin: URL, as: NAME}, or
 * {catalog: URL, plugin: NAME} for an entry of a marketplace. */
static struct str item_text(struct str origin, struct str as,
                            struct str without, struct arena *a)
{
    struct str base = yaml_quote(origin_base(origin), a);
    size_t entry = str_find(origin, STR("?plugin="));
    struct str members = base;

    if (entry != SIZE_MAX)
        members = arena_printf(
            a, "catalog: %.*s, plugin: %.*s", STR_ARG(base),
            STR_ARG(yaml_quote(str_from_index(origin, entry + 8), a)));
    else if (as.n || without.n)
        members = arena_printf(a, "origin: %.*s", STR_ARG(base));
    else
        return base;
    return arena_printf(
        a, "{%.*s%s%.*s%s%.*s%s}", STR_ARG(members), as.n ? ", as: " : "",
        STR_ARG(as.n ? yaml_quote(as, a) : as), without.n ? ", without: [" : "",
        STR_ARG(without), without.n ? "]" : "");
}

void edit_add_items(struct edit *ed)
{
    const struct yaml *list = project_list(ed->block, ed->list);

    if (list)
        edit_add_to_list(ed, ed->block, list,
                         list_offset(ed, edit_indent(ed, list->key_start)));
    else if (ed->block)
        add_kind(ed);
    else
        add_block(ed);
}

static void add_roots(struct edit *ed, const struct project_change *change)
{
    struct str *items = arena_array(ed->a, change->count, sizeof *items);

    for (size_t i = 0; i < change->count; i++)
        items[i] = item_text(change->origins[i], change->names[i],
                             change->without[i], ed->a);
    ed->items = items;
    ed->item_count = change->count;
    edit_add_items(ed);
}

bool project_add_roots(struct str text, enum doc_kind kind,
                       const struct str *origins, const struct str *names,
                       const struct str_list *without, size_t count,
                       struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct project_change change;
    struct edit ed;

    if (!edit_open_list(&ed, text, doc_kind_plural(kind), &scratch, e))
        return false;
    ed.kind = kind;
    change = find_new(&ed, kind, project_list(ed.block, ed.list), origins,
                      names, without, count);
    if (change.count) {
        add_roots(&ed, &change);
        if (!finish(&ed, &change, true, &text, e))
            return false;
        text = arena_str(a, text);
    }
    *out = text;
    return true;
}

/* --- removing ------------------------------------------------------------- */

/* Keeps a file without a final newline as such when its last line is
 * removed. */
static void cut_last_newline(struct edit *ed)
{
    struct splice *last = &ed->cuts.items[ed->cuts.count - 1];

    if (edit_ends_line(ed, last->to) || !edit_ends_line(ed, last->from))
        return;
    last->from--;
    if (last->from && ed->text.p[last->from - 1] == '\r')
        last->from--;
}

/* Removes the lines of an item, from its dash to its end. */
static void remove_lines(struct edit *ed, const struct yaml *list,
                         const struct yaml *item)
{
    size_t from = edit_line_start(ed, item->start);

    while (from > list->start && ed->text.p[edit_skip_blanks(ed, from)] != '-')
        from = edit_line_start(ed, from - 1);
    edit_cut(ed, from, edit_line_end(ed, edit_last_byte(item)), STR(""));
    cut_last_newline(ed);
}

/* Returns the offset of the comma after `y`, or SIZE_MAX if something other
 * than blanks is in between. */
static size_t comma_after(const struct edit *ed, const struct yaml *y)
{
    size_t at = edit_skip_blanks(ed, y->end);

    return at < ed->text.n && ed->text.p[at] == ',' ? at : SIZE_MAX;
}

static bool has_comment(const struct edit *ed, size_t from, size_t to)
{
    return str_has_char(str_slice(ed->text, from, to), '#');
}

static void remove_from_brackets(struct edit *ed, const struct yaml *list,
                                 const struct yaml *before,
                                 const struct yaml *item)
{
    const struct yaml *next = item->next;
    size_t comma = comma_after(ed, item), earlier = SIZE_MAX;
    size_t behind = comma != SIZE_MAX ? comma + 1 : item->end;

    if (before)
        earlier = comma_after(ed, before);
    if (edit_begins_line(ed, item->start) && edit_is_rest_empty(ed, behind) &&
        edit_line_end(ed, item->end) < list->end) {
        if (comma == SIZE_MAX && earlier != SIZE_MAX)
            edit_cut(ed, earlier, earlier + 1, STR(""));
        edit_cut(ed, edit_line_start(ed, item->start),
                 edit_line_end(ed, item->end), STR(""));
    } else if (before && !has_comment(ed, before->end, item->start)) {
        edit_cut(ed, before->end, item->end, STR(""));
    } else if (before && earlier != SIZE_MAX) {
        edit_cut(ed, earlier, earlier + 1, STR(""));
        edit_cut(ed, item->start, item->end, STR(""));
    } else if (next && !has_comment(ed, item->end, next->start)) {
        edit_cut(ed, item->start, next->start, STR(""));
    } else {
        edit_cut(ed, item->start, behind, STR(""));
    }
}

void edit_remove_item(struct edit *ed, const struct yaml *list,
                      const struct yaml *before, const struct yaml *item)
{
    if (list->flow)
        remove_from_brackets(ed, list, before, item);
    else
        remove_lines(ed, list, item);
}

/* Removes the items of `keys` and sets these keys to NULL. In brackets, a
 * cut extends from the previous item to the next one, so of adjacent items
 * only every other one is removed. Returns true if some are left for another
 * edit. */
static bool remove_items(struct edit *ed, enum doc_kind kind,
                         const struct yaml *list,
                         const struct origin_rules *rules, struct map *keys,
                         struct project_change *change)
{
    struct str *texts = arena_array(ed->a, list->count + 1, sizeof *texts);
    struct str *names = arena_array(ed->a, list->count + 1, sizeof *names);
    struct str *parts = arena_array(ed->a, list->count + 1, sizeof *parts);
    const struct yaml *before = NULL, *cut = NULL;
    bool more = false;

    *change = (struct project_change){kind, texts, names, parts, 0};
    for (const struct yaml *y = list->first; y; before = y, y = y->next) {
        struct str origin = project_item_text(ed->kind, y, ed->a), key;
        const struct yaml *as;

        if (!origin.p)
            continue;
        key = edit_origin_key(origin, rules, ed->a);
        if (!map_find(keys, key) ||
            !project_item_without(y, ed->a, &parts[change->count]))
            continue;
        if (list->flow && before && cut == before) {
            more = true;
            continue;
        }
        edit_remove_item(ed, list, before, y);
        as = y->kind == YAML_MAPPING ? yaml_get(y, "as") : NULL;
        names[change->count] = as ? as->text : STR("");
        texts[change->count++] = origin;
        cut = y;
        map_put(keys, key, NULL);
    }
    return more;
}

bool project_remove_roots(struct str text, enum doc_kind kind,
                          const struct str *origin_keys, size_t count,
                          const struct origin_rules *rules, struct arena *a,
                          struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str result = text;
    struct map keys;
    bool more = true;

    map_init(&keys, &scratch);
    for (size_t i = 0; i < count; i++)
        map_put(&keys, origin_keys[i], &keys);
    while (more) {
        struct project_change change = {.kind = kind};
        const struct yaml *list;
        struct edit ed;

        if (!edit_open_list(&ed, result, doc_kind_plural(kind), &scratch, e))
            return false;
        ed.kind = kind;
        list = project_list(ed.block, ed.list);
        more = list && list->kind == YAML_SEQUENCE &&
               remove_items(&ed, kind, list, rules, &keys, &change);
        if (change.count && !finish(&ed, &change, false, &result, e))
            return false;
    }
    *out = result.p == text.p ? text : arena_str(a, result);
    return true;
}
