#include <string.h>

#include "project_cut.h"

/*
 * A root more or less in mapm.yaml. Whatever shape the file had: unless the
 * result differs by just the one root, nothing is changed.
 */

static bool fail_shape(struct err *e)
{
    err_set(e, ERR_FORMAT,
            "its dependencies are written in a way that cannot be changed in "
            "place");
    return err_hint(e, "write each of agents, skills and mcps as a plain list "
                       "of origins, or change it by hand");
}

static bool open_edit(struct edit *ed, struct str text, enum doc_kind kind,
                      struct arena *a, struct err *e)
{
    if (!edit_open(ed, text, a, e))
        return false;
    if (ed->root && ed->root->kind != YAML_MAPPING)
        return fail_shape(e);
    ed->kind = kind;
    ed->block = ed->root ? yaml_get(ed->root, "dependencies") : NULL;
    if (ed->block && !project_is_null(ed->block) &&
        ed->block->kind != YAML_MAPPING)
        return fail_shape(e);
    for (unsigned k = DOC_AGENT; k <= DOC_MCP; k <<= 1) {
        const struct yaml *list = project_list(ed->block, (enum doc_kind)k);

        if (list && !project_is_null(list) && list->kind != YAML_SEQUENCE)
            return fail_shape(e);
    }
    return true;
}

/* Two ways of writing an origin may mean one. A host that the configuration
 * no longer names is still the same host. */
static struct str key_of(struct str text, const struct origin_rules *rules,
                         struct arena *a)
{
    struct str host = str_from_index(text, strlen("https://"));
    struct origin_rules own = {.hosts = &host, .host_count = 1};
    struct err ignored = {0};
    struct origin o;

    host = str_slice(host, 0, str_find_char(host, '/'));
    if (origin_parse(text, rules, a, &o, &ignored) ||
        origin_parse(text, &own, a, &o, &ignored))
        return o.key;
    return text;
}

static const struct yaml *find_item(const struct yaml *list, struct str key,
                                    const struct origin_rules *rules,
                                    struct arena *a)
{
    if (!list || list->kind != YAML_SEQUENCE)
        return NULL;
    for (const struct yaml *y = list->first; y; y = y->next)
        if (y->kind == YAML_SCALAR && str_eq(key_of(y->text, rules, a), key))
            return y;
    return NULL;
}

static bool finish(const struct edit *ed, struct str origin, bool added,
                   struct str *out, struct err *e)
{
    struct project_change change = {ed->kind, origin, added};
    const struct yaml *root;
    struct str text;

    if (!edit_close(ed, &text, &root, e))
        return e->code == ERR_LIMIT ? false : fail_shape(e);
    if ((root && root->kind != YAML_MAPPING) ||
        !project_differs_by(ed->root, root, &change, ed->a))
        return fail_shape(e);
    *out = text;
    return true;
}

/* --- adding --------------------------------------------------------------- */

/* "skills:" and a line for the item, or the item in brackets behind it. */
static struct str kind_lines(const struct edit *ed, size_t indent,
                             size_t offset, bool brackets, struct str item)
{
    const char *plural = doc_kind_plural(ed->kind);
    struct str margin = edit_blanks(ed, indent);

    if (brackets)
        return arena_printf(ed->a, "%.*s%s: [%.*s]", STR_ARG(margin), plural,
                            STR_ARG(item));
    return arena_printf(ed->a, "%.*s%s:%s%.*s- %.*s", STR_ARG(margin), plural,
                        ed->newline, STR_ARG(edit_blanks(ed, indent + offset)),
                        STR_ARG(item));
}

/* How much further in than their key the items of the lists stand. */
static size_t list_offset(const struct edit *ed, size_t indent)
{
    for (unsigned k = DOC_AGENT; k <= DOC_MCP; k <<= 1) {
        const struct yaml *list = project_list(ed->block, (enum doc_kind)k);

        if (list && list->kind == YAML_SEQUENCE && !list->flow &&
            edit_indent(ed, list->start) >= indent)
            return edit_indent(ed, list->start) - indent;
    }
    return EDIT_INDENT;
}

/* A list for a kind that has none, after those that come before it, in the
 * style of the lists that are there. */
static void add_kind_lines(struct edit *ed, struct str item)
{
    size_t indent = edit_indent(ed, ed->block->first->key_start);
    size_t offset = list_offset(ed, indent), at = ed->block->key_start;
    bool lines = false, brackets = false;

    for (unsigned k = DOC_AGENT; k <= DOC_MCP; k <<= 1) {
        const struct yaml *list = project_list(ed->block, (enum doc_kind)k);

        if (!list)
            continue;
        if (k < (unsigned)ed->kind)
            at = edit_last_byte(list);
        if (list->kind == YAML_SEQUENCE && list->flow)
            brackets = true;
        else if (list->kind == YAML_SEQUENCE)
            lines = true;
    }
    edit_insert_lines(ed, at,
                      kind_lines(ed, indent, offset, brackets && !lines, item));
}

static void add_kind(struct edit *ed, struct str item)
{
    struct str member = kind_lines(ed, 0, 0, true, item);
    struct str braces = arena_printf(ed->a, "{%.*s}", STR_ARG(member));
    size_t indent = edit_indent(ed, ed->block->key_start) + EDIT_INDENT;

    if (project_is_null(ed->block) &&
        (edit_is_written(ed->block) || ed->root->flow))
        edit_fill_null(ed, ed->block, braces);
    else if (project_is_null(ed->block))
        edit_insert_lines(ed, ed->block->key_start,
                          kind_lines(ed, indent, EDIT_INDENT, false, item));
    else if (ed->block->flow)
        edit_add_member(ed, ed->block, member);
    else
        add_kind_lines(ed, item);
}

static void add_block(struct edit *ed, struct str item)
{
    const struct yaml *last = ed->root ? ed->root->first : NULL;
    size_t indent;
    struct str lines;

    if (ed->root && (ed->root->flow || !last)) {
        edit_add_member(ed, ed->root,
                        arena_printf(ed->a, "dependencies: {%s: [%.*s]}",
                                     doc_kind_plural(ed->kind), STR_ARG(item)));
        return;
    }
    indent = last ? edit_indent(ed, last->key_start) : 0;
    lines = kind_lines(ed, indent + EDIT_INDENT, EDIT_INDENT, false, item);
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

bool project_add_root(struct str text, enum doc_kind kind, struct str origin,
                      struct arena *a, struct str *out, struct err *e)
{
    struct str item = yaml_quote(origin, a);
    const struct yaml *list;
    struct edit ed;

    if (!open_edit(&ed, text, kind, a, e))
        return false;
    list = project_list(ed.block, kind);
    if (find_item(list, key_of(origin, NULL, a), NULL, a)) {
        *out = text;
        return true;
    }
    if (list)
        edit_add_to_list(&ed, ed.block, list,
                         list_offset(&ed, edit_indent(&ed, list->key_start)),
                         item);
    else if (ed.block)
        add_kind(&ed, item);
    else
        add_block(&ed, item);
    return finish(&ed, origin, true, out, e);
}

/* --- removing ------------------------------------------------------------- */

/* The lines from that of the dash to the end of the item. */
static void remove_lines(struct edit *ed, const struct yaml *list,
                         const struct yaml *item)
{
    size_t from = edit_line_start(ed, item->start);
    size_t to = edit_line_end(ed, edit_last_byte(item));

    while (from > list->start && ed->text.p[edit_skip_blanks(ed, from)] != '-')
        from = edit_line_start(ed, from - 1);
    if (!edit_ends_line(ed, to) &&
        edit_ends_line(ed, from)) { /* the file's last line */
        from--;
        if (from && ed->text.p[from - 1] == '\r')
            from--;
    }
    edit_cut(ed, from, to, STR(""));
}

/* Where the comma behind `y` is; SIZE_MAX unless blanks alone are between. */
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
                                 const struct yaml *item)
{
    const struct yaml *before = NULL, *next = item->next;
    size_t comma = comma_after(ed, item), earlier = SIZE_MAX;
    size_t behind = comma != SIZE_MAX ? comma + 1 : item->end;

    for (const struct yaml *y = list->first; y != item; y = y->next)
        before = y;
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

bool project_remove_root(struct str text, enum doc_kind kind,
                         struct str origin_key,
                         const struct origin_rules *rules, struct arena *a,
                         struct str *out, struct err *e)
{
    const struct yaml *list, *item;
    struct edit ed;

    if (!open_edit(&ed, text, kind, a, e))
        return false;
    list = project_list(ed.block, kind);
    item = find_item(list, origin_key, rules, a);
    if (!item) {
        *out = text;
        return true;
    }
    if (list->flow)
        remove_from_brackets(&ed, list, item);
    else
        remove_lines(&ed, list, item);
    return finish(&ed, item->text, false, out, e);
}
