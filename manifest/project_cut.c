#include "project_cut.h"

#include "mapm/limits.h"

#include <string.h>

void edit_cut(struct edit *ed, size_t from, size_t to, struct str put)
{
    splice_add(&ed->cuts, from, to, put);
}

/* --- lines ---------------------------------------------------------------- */

size_t edit_line_start(const struct edit *ed, size_t at)
{
    size_t before = str_find_last(str_slice(ed->text, 0, at), '\n');

    return before == SIZE_MAX ? 0 : before + 1;
}

/* Returns the offset after the end of the line that contains the byte `at`. */
size_t edit_line_end(const struct edit *ed, size_t at)
{
    size_t end = str_find_char(str_from_index(ed->text, at), '\n');

    return end == SIZE_MAX ? ed->text.n : at + end + 1;
}

bool edit_ends_line(const struct edit *ed, size_t at)
{
    return at > 0 && ed->text.p[at - 1] == '\n';
}

size_t edit_skip_blanks(const struct edit *ed, size_t at)
{
    while (at < ed->text.n && (ed->text.p[at] == ' ' || ed->text.p[at] == '\t'))
        at++;
    return at;
}

/* Returns true if only blanks precede `at` in its line. */
bool edit_begins_line(const struct edit *ed, size_t at)
{
    return edit_skip_blanks(ed, edit_line_start(ed, at)) == at;
}

/* Returns true if the line has only blanks or a comment from `at` on. */
bool edit_is_rest_empty(const struct edit *ed, size_t at)
{
    size_t next = edit_skip_blanks(ed, at);

    return next >= ed->text.n || strchr("\r\n", ed->text.p[next]) ||
           (ed->text.p[next] == '#' && next > at);
}

struct str edit_blanks(const struct edit *ed, size_t count)
{
    char *text = arena_alloc(ed->a, count + 1);

    memset(text, ' ', count);
    return str_make(text, count);
}

size_t edit_indent(const struct edit *ed, size_t at)
{
    return at - edit_line_start(ed, at);
}

/* Returns the offset of the last byte of a value, or of its key if it has no
 * value. */
size_t edit_last_byte(const struct yaml *y)
{
    size_t end = y->end > y->start ? y->end : y->key_start + y->key.n;

    return end ? end - 1 : 0;
}

/* Inserts whole lines after the line that contains `at`. A file without a final
 * newline remains without one. */
void edit_insert_lines(struct edit *ed, size_t at, struct str lines)
{
    size_t end = edit_line_end(ed, at);

    if (edit_ends_line(ed, end) || end == 0)
        edit_cut(ed, end, end, str_join(lines, str_cstr(ed->newline), ed->a));
    else
        edit_cut(ed, end, end, str_join(str_cstr(ed->newline), lines, ed->a));
}

/* --- the tree ------------------------------------------------------------- */

static bool read_tree(struct str text, struct arena *a,
                      const struct yaml **root, struct err *e)
{
    const struct yaml_options options = {
        .max_bytes = PROJECT_MAX_BYTES,
        .max_depth = PROJECT_MAX_DEPTH,
        .max_nodes = PROJECT_MAX_NODES,
    };

    *root = NULL;
    if (!yaml_parse(text, &options, a, root, NULL, e))
        return false;
    if (*root && project_is_null(*root))
        *root = NULL;
    return true;
}

bool edit_open(struct edit *ed, struct str text, struct arena *a, struct err *e)
{
    size_t first = str_find_char(text, '\n');

    *ed = (struct edit){.text = text, .a = a, .cuts = {.arena = a}};
    ed->newline =
        first != SIZE_MAX && first && text.p[first - 1] == '\r' ? "\r\n" : "\n";
    return read_tree(text, a, &ed->root, e);
}

bool edit_close(const struct edit *ed, struct str *text,
                const struct yaml **root, struct err *e)
{
    CLEANUP(buf_done) struct buf out = {0};

    buf_init(&out, SIZE_MAX / 2);
    splice_apply(&ed->cuts, ed->text, &out);
    *text = arena_str(ed->a, buf_str(&out));
    if (text->n > PROJECT_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "it would be larger than %u bytes",
                       PROJECT_MAX_BYTES);
    return read_tree(*text, ed->a, root, e);
}

/* --- adding --------------------------------------------------------------- */

/* Joins the items, each preceded by `before`, with `between` as separator. */
static struct str edit_join_items(const struct edit *ed, struct str before,
                                  struct str between)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < ed->item_count; i++) {
        if (i)
            buf_append(&b, between);
        buf_append(&b, before);
        buf_append(&b, ed->items[i]);
    }
    return arena_str(ed->a, buf_str(&b));
}

struct str edit_inline_items(const struct edit *ed)
{
    return edit_join_items(ed, STR(""), STR(", "));
}

struct str edit_item_lines(const struct edit *ed, size_t indent)
{
    struct str dash = str_join(edit_blanks(ed, indent), STR("- "), ed->a);

    return edit_join_items(ed, dash, str_cstr(ed->newline));
}

static struct str in_brackets(const struct edit *ed)
{
    return arena_printf(ed->a, "[%.*s]", STR_ARG(edit_inline_items(ed)));
}

bool edit_is_written(const struct yaml *y)
{
    return y->end > y->start;
}

/* Inserts a value for a key in brackets or braces that has none, or replaces
 * "null". */
void edit_fill_null(struct edit *ed, const struct yaml *y, struct str put)
{
    bool glued =
        y->end == y->start && y->start > 0 && ed->text.p[y->start - 1] == ':';

    edit_cut(ed, y->start, y->end,
             glued ? str_join(STR(" "), put, ed->a) : put);
}

static void add_to_brackets(struct edit *ed, const struct yaml *list)
{
    const struct yaml *last = list->first;
    struct str indent, between;
    size_t comma;
    bool has_comma;

    if (!last) {
        edit_cut(ed, list->start + 1, list->start + 1, edit_inline_items(ed));
        return;
    }
    while (last->next)
        last = last->next;
    comma = edit_skip_blanks(ed, last->end);
    has_comma = comma < ed->text.n && ed->text.p[comma] == ',';
    if (!edit_begins_line(ed, last->start) ||
        !edit_is_rest_empty(ed, has_comma ? comma + 1 : last->end) ||
        edit_line_end(ed, last->end) >= list->end) {
        edit_cut(ed, last->end, last->end,
                 str_join(STR(", "), edit_inline_items(ed), ed->a));
        return;
    }
    /* the existing items have a line each, so a new one gets one as well */
    if (!has_comma)
        edit_cut(ed, last->end, last->end, STR(","));
    indent = edit_blanks(ed, edit_indent(ed, last->start));
    between = str_join(STR(","), str_cstr(ed->newline), ed->a);
    edit_insert_lines(ed, last->end,
                      str_join(edit_join_items(ed, indent, between),
                               has_comma ? STR(",") : STR(""), ed->a));
}

static void add_to_lines(struct edit *ed, const struct yaml *list)
{
    const struct yaml *last = list->first;
    struct str prefix;
    size_t start, dash;

    while (last->next)
        last = last->next;
    start = edit_line_start(ed, last->start);
    dash = edit_skip_blanks(ed, start);
    prefix = str_slice(ed->text, start, last->start);
    if (ed->text.p[dash] != '-' ||
        edit_skip_blanks(ed, dash + 1) != last->start)
        prefix = str_join(edit_blanks(ed, edit_indent(ed, list->start)),
                          STR("- "), ed->a);
    edit_insert_lines(ed, edit_last_byte(last),
                      edit_join_items(ed, prefix, str_cstr(ed->newline)));
}

/* Returns true for an empty list on a line of its own, as in "skills: []". Its
 * brackets are not a choice of style, so items can be written as lines. */
static bool is_bare_empty(const struct edit *ed, const struct yaml *parent,
                          const struct yaml *list)
{
    return parent && list->flow && !list->first && !parent->flow &&
           edit_skip_blanks(ed, list->start + 1) + 1 == list->end &&
           edit_line_start(ed, list->start) ==
               edit_line_start(ed, list->key_start) &&
           edit_begins_line(ed, list->key_start) &&
           edit_is_rest_empty(ed, list->end);
}

/* Adds items on a line each, so that the changes of two branches are easy to
 * merge by hand; one long line in brackets is not. */
static void add_below(struct edit *ed, const struct yaml *list, size_t offset)
{
    size_t indent = edit_indent(ed, list->key_start), from = list->start;

    indent += offset;
    if (edit_is_written(list)) {
        while (strchr(" \t", ed->text.p[from - 1]))
            from--;
        edit_cut(ed, from, list->end, STR(""));
    }
    edit_insert_lines(ed, list->key_start, edit_item_lines(ed, indent));
}

void edit_add_to_list(struct edit *ed, const struct yaml *parent,
                      const struct yaml *list, size_t offset)
{
    if (list->kind == YAML_SEQUENCE && is_bare_empty(ed, parent, list))
        add_below(ed, list, offset);
    else if (list->kind == YAML_SEQUENCE && list->flow)
        add_to_brackets(ed, list);
    else if (list->kind == YAML_SEQUENCE)
        add_to_lines(ed, list);
    else if (edit_is_written(list) || (parent && parent->flow))
        edit_fill_null(ed, list, in_brackets(ed));
    else
        add_below(ed, list, offset);
}

/* Adds a member after the last one of {…}. */
void edit_add_member(struct edit *ed, const struct yaml *mapping,
                     struct str member)
{
    const struct yaml *last = mapping->first;

    if (!last) {
        edit_cut(ed, mapping->start + 1, mapping->start + 1, member);
        return;
    }
    while (last->next)
        last = last->next;
    edit_cut(ed, last->end, last->end, str_join(STR(", "), member, ed->a));
}

void edit_append(struct edit *ed, struct str lines)
{
    struct str newline = str_cstr(ed->newline);

    if (ed->text.n && !edit_ends_line(ed, ed->text.n))
        lines = str_join(newline, lines, ed->a);
    edit_cut(ed, ed->text.n, ed->text.n, str_join(lines, newline, ed->a));
}
