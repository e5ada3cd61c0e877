#include <string.h>

#include "project.h"

/*
 * mapm.yaml changed in place. The tree that yaml_parse gives says where things
 * stand; the change itself is one or two cuts in the text, so every other byte
 * stays. Whatever shape the file had: the result is read again, and unless it
 * differs by just the one root, nothing is changed.
 */

#define NEW_INDENT 2

/* A cut: text.p[from..to) becomes `put`. */
struct cut {
    size_t from, to;
    struct str put;
};

struct edit {
    struct str text;
    enum doc_kind kind;
    struct arena *a;
    const struct yaml *root, *block; /* NULL: not there */
    const char *newline;
    struct cut cuts[2]; /* in the order of the text */
    size_t cut_count;
};

static bool fail_shape(struct err *e)
{
    err_set(e, ERR_FORMAT,
            "its dependencies are written in a way that cannot be changed in "
            "place");
    return err_hint(e, "write each of agents, skills and mcps as a plain list "
                       "of origins, or change it by hand");
}

static void cut(struct edit *ed, size_t from, size_t to, struct str put)
{
    ed->cuts[ed->cut_count++] =
        (struct cut){.from = from, .to = to, .put = put};
}

static struct str apply(const struct edit *ed)
{
    struct str out = STR("");
    size_t at = 0;

    for (size_t i = 0; i < ed->cut_count; i++) {
        const struct cut *c = &ed->cuts[i];

        out = str_join(out, str_slice(ed->text, at, c->from), ed->a);
        out = str_join(out, c->put, ed->a);
        at = c->to;
    }
    return str_join(out, str_from_index(ed->text, at), ed->a);
}

/* --- lines ---------------------------------------------------------------- */

static size_t line_start(const struct edit *ed, size_t at)
{
    while (at > 0 && ed->text.p[at - 1] != '\n')
        at--;
    return at;
}

/* Behind the end of the line that holds the byte `at`. */
static size_t line_end(const struct edit *ed, size_t at)
{
    size_t end = str_find_char(str_from_index(ed->text, at), '\n');

    return end == SIZE_MAX ? ed->text.n : at + end + 1;
}

static bool ends_line(const struct edit *ed, size_t at)
{
    return at > 0 && ed->text.p[at - 1] == '\n';
}

static size_t skip_blanks(const struct edit *ed, size_t at)
{
    while (at < ed->text.n && (ed->text.p[at] == ' ' || ed->text.p[at] == '\t'))
        at++;
    return at;
}

/* Only blanks before `at` in its line. */
static bool begins_line(const struct edit *ed, size_t at)
{
    return skip_blanks(ed, line_start(ed, at)) == at;
}

/* Nothing but blanks or a comment from `at` on. */
static bool is_rest_empty(const struct edit *ed, size_t at)
{
    size_t next = skip_blanks(ed, at);

    return next >= ed->text.n || strchr("\r\n", ed->text.p[next]) ||
           (ed->text.p[next] == '#' && next > at);
}

static struct str blanks(const struct edit *ed, size_t count)
{
    char *text = arena_alloc(ed->a, count + 1);

    memset(text, ' ', count);
    return str_of(text, count);
}

static size_t indent_of(const struct edit *ed, size_t at)
{
    return at - line_start(ed, at);
}

/* The last byte of a value; that of its key when there is no value. */
static size_t last_byte(const struct yaml *y)
{
    size_t end = y->end > y->start ? y->end : y->key_start + y->key.n;

    return end ? end - 1 : 0;
}

/* Whole lines after the line that holds `at`. A file whose last line has no
 * end keeps it so. */
static void insert_lines(struct edit *ed, size_t at, struct str lines)
{
    size_t end = line_end(ed, at);

    if (ends_line(ed, end) || end == 0)
        cut(ed, end, end, str_join(lines, str_from(ed->newline), ed->a));
    else
        cut(ed, end, end, str_join(str_from(ed->newline), lines, ed->a));
}

/* --- the tree ------------------------------------------------------------- */

static bool is_null(const struct yaml *y)
{
    return y->kind == YAML_SCALAR && yaml_type_of(y) == YAML_TYPE_NULL;
}

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
    if (*root && is_null(*root))
        *root = NULL;
    return !*root || (*root)->kind == YAML_MAPPING || fail_shape(e);
}

static bool open_edit(struct edit *ed, struct str text, enum doc_kind kind,
                      struct arena *a, struct err *e)
{
    size_t first = str_find_char(text, '\n');

    *ed = (struct edit){.text = text, .kind = kind, .a = a};
    ed->newline =
        first != SIZE_MAX && first && text.p[first - 1] == '\r' ? "\r\n" : "\n";
    if (!read_tree(text, a, &ed->root, e))
        return false;
    ed->block = ed->root ? yaml_get(ed->root, "dependencies") : NULL;
    if (ed->block && !is_null(ed->block) && ed->block->kind != YAML_MAPPING)
        return fail_shape(e);
    for (unsigned k = DOC_AGENT; k <= DOC_MCP; k <<= 1) {
        const struct yaml *list = project_list(ed->block, (enum doc_kind)k);

        if (list && !is_null(list) && list->kind != YAML_SEQUENCE)
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
    struct str text = apply(ed);
    const struct yaml *root;

    if (text.n > PROJECT_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "it would be larger than %u bytes",
                       PROJECT_MAX_BYTES);
    if (!read_tree(text, ed->a, &root, e) ||
        !project_differs_by(ed->root, root, &change, ed->a))
        return fail_shape(e);
    *out = text;
    return true;
}

/* --- adding --------------------------------------------------------------- */

static struct str in_brackets(const struct edit *ed, struct str item)
{
    return arena_printf(ed->a, "[%.*s]", STR_ARG(item));
}

/* "skills:" and a line for the item, or the item in brackets behind it. */
static struct str kind_lines(const struct edit *ed, size_t indent,
                             size_t offset, bool brackets, struct str item)
{
    const char *plural = doc_kind_plural(ed->kind);
    struct str margin = blanks(ed, indent);

    if (brackets)
        return arena_printf(ed->a, "%.*s%s: [%.*s]", STR_ARG(margin), plural,
                            STR_ARG(item));
    return arena_printf(ed->a, "%.*s%s:%s%.*s- %.*s", STR_ARG(margin), plural,
                        ed->newline, STR_ARG(blanks(ed, indent + offset)),
                        STR_ARG(item));
}

/* A value that is not there yet, behind its key in brackets or braces; or
 * "null", which goes. */
static void fill_null(struct edit *ed, const struct yaml *y, struct str put)
{
    bool glued =
        y->end == y->start && y->start > 0 && ed->text.p[y->start - 1] == ':';

    cut(ed, y->start, y->end, glued ? str_join(STR(" "), put, ed->a) : put);
}

static bool is_written(const struct yaml *y)
{
    return y->end > y->start;
}

static void add_to_brackets(struct edit *ed, const struct yaml *list,
                            struct str item)
{
    const struct yaml *last = list->first;
    struct str line;
    size_t comma;
    bool has_comma;

    if (!last) {
        cut(ed, list->start + 1, list->start + 1, item);
        return;
    }
    while (last->next)
        last = last->next;
    comma = skip_blanks(ed, last->end);
    has_comma = comma < ed->text.n && ed->text.p[comma] == ',';
    if (!begins_line(ed, last->start) ||
        !is_rest_empty(ed, has_comma ? comma + 1 : last->end) ||
        line_end(ed, last->end) >= list->end) {
        cut(ed, last->end, last->end, str_join(STR(", "), item, ed->a));
        return;
    }
    /* A line for each: the new one gets its own, as the others did. */
    if (!has_comma)
        cut(ed, last->end, last->end, STR(","));
    line = blanks(ed, indent_of(ed, last->start));
    line = str_join(line, item, ed->a);
    insert_lines(ed, last->end,
                 has_comma ? str_join(line, STR(","), ed->a) : line);
}

static void add_to_lines(struct edit *ed, const struct yaml *list,
                         struct str item)
{
    const struct yaml *last = list->first;
    struct str prefix;
    size_t start, dash;

    while (last->next)
        last = last->next;
    start = line_start(ed, last->start);
    dash = skip_blanks(ed, start);
    prefix = str_slice(ed->text, start, last->start);
    if (ed->text.p[dash] != '-' || skip_blanks(ed, dash + 1) != last->start)
        prefix =
            str_join(blanks(ed, indent_of(ed, list->start)), STR("- "), ed->a);
    insert_lines(ed, last_byte(last), str_join(prefix, item, ed->a));
}

/* How much further in than their key the items of the lists stand. */
static size_t list_offset(const struct edit *ed, size_t indent)
{
    for (unsigned k = DOC_AGENT; k <= DOC_MCP; k <<= 1) {
        const struct yaml *list = project_list(ed->block, (enum doc_kind)k);

        if (list && list->kind == YAML_SEQUENCE && !list->flow &&
            indent_of(ed, list->start) >= indent)
            return indent_of(ed, list->start) - indent;
    }
    return NEW_INDENT;
}

/* "skills: []", with a line of its own: nothing was chosen there but that the
 * list is empty. */
static bool is_bare_empty(const struct edit *ed, const struct yaml *list)
{
    return ed->block && list->flow && !list->first && !ed->block->flow &&
           skip_blanks(ed, list->start + 1) + 1 == list->end &&
           line_start(ed, list->start) == line_start(ed, list->key_start) &&
           begins_line(ed, list->key_start) && is_rest_empty(ed, list->end);
}

/* One origin a line: then two branches that add one each can be merged by
 * hand at a glance, which one long line in brackets cannot. */
static void add_below(struct edit *ed, const struct yaml *list, struct str item)
{
    size_t indent = indent_of(ed, list->key_start), from = list->start;

    indent += list_offset(ed, indent);
    if (is_written(list)) {
        while (strchr(" \t", ed->text.p[from - 1]))
            from--;
        cut(ed, from, list->end, STR(""));
    }
    insert_lines(ed, list->key_start,
                 arena_printf(ed->a, "%.*s- %.*s", STR_ARG(blanks(ed, indent)),
                              STR_ARG(item)));
}

static void add_to_list(struct edit *ed, const struct yaml *list,
                        struct str item)
{
    if (list->kind == YAML_SEQUENCE && is_bare_empty(ed, list))
        add_below(ed, list, item);
    else if (list->kind == YAML_SEQUENCE && list->flow)
        add_to_brackets(ed, list, item);
    else if (list->kind == YAML_SEQUENCE)
        add_to_lines(ed, list, item);
    else if (is_written(list) || (ed->block && ed->block->flow))
        fill_null(ed, list, in_brackets(ed, item));
    else
        add_below(ed, list, item);
}

/* Behind the last member of {…}. */
static void add_member(struct edit *ed, const struct yaml *mapping,
                       struct str member)
{
    const struct yaml *last = mapping->first;

    if (!last) {
        cut(ed, mapping->start + 1, mapping->start + 1, member);
        return;
    }
    while (last->next)
        last = last->next;
    cut(ed, last->end, last->end, str_join(STR(", "), member, ed->a));
}

/* A list for a kind that has none, after those that come before it, in the
 * style of the lists that are there. */
static void add_kind_lines(struct edit *ed, struct str item)
{
    size_t indent = indent_of(ed, ed->block->first->key_start);
    size_t offset = list_offset(ed, indent), at = ed->block->key_start;
    bool lines = false, brackets = false;

    for (unsigned k = DOC_AGENT; k <= DOC_MCP; k <<= 1) {
        const struct yaml *list = project_list(ed->block, (enum doc_kind)k);

        if (!list)
            continue;
        if (k < (unsigned)ed->kind)
            at = last_byte(list);
        if (list->kind == YAML_SEQUENCE && list->flow)
            brackets = true;
        else if (list->kind == YAML_SEQUENCE)
            lines = true;
    }
    insert_lines(ed, at,
                 kind_lines(ed, indent, offset, brackets && !lines, item));
}

static void add_kind(struct edit *ed, struct str item)
{
    struct str member = kind_lines(ed, 0, 0, true, item);
    struct str braces = arena_printf(ed->a, "{%.*s}", STR_ARG(member));
    size_t indent = indent_of(ed, ed->block->key_start) + NEW_INDENT;

    if (is_null(ed->block) && (is_written(ed->block) || ed->root->flow))
        fill_null(ed, ed->block, braces);
    else if (is_null(ed->block))
        insert_lines(ed, ed->block->key_start,
                     kind_lines(ed, indent, NEW_INDENT, false, item));
    else if (ed->block->flow)
        add_member(ed, ed->block, member);
    else
        add_kind_lines(ed, item);
}

static void add_block(struct edit *ed, struct str item)
{
    const struct yaml *last = ed->root ? ed->root->first : NULL;
    size_t indent;
    struct str lines;

    if (ed->root && (ed->root->flow || !last)) {
        add_member(ed, ed->root,
                   arena_printf(ed->a, "dependencies: {%s: [%.*s]}",
                                doc_kind_plural(ed->kind), STR_ARG(item)));
        return;
    }
    indent = last ? indent_of(ed, last->key_start) : 0;
    lines = kind_lines(ed, indent + NEW_INDENT, NEW_INDENT, false, item);
    lines =
        arena_printf(ed->a, "%.*sdependencies:%s%.*s",
                     STR_ARG(blanks(ed, indent)), ed->newline, STR_ARG(lines));
    while (last && last->next)
        last = last->next;
    if (last) {
        insert_lines(ed, last_byte(last), lines);
        return;
    }
    if (ed->text.n && !ends_line(ed, ed->text.n))
        lines = str_join(str_from(ed->newline), lines, ed->a);
    cut(ed, ed->text.n, ed->text.n,
        str_join(lines, str_from(ed->newline), ed->a));
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
        add_to_list(&ed, list, item);
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
    size_t from = line_start(ed, item->start);
    size_t to = line_end(ed, last_byte(item));

    while (from > list->start && ed->text.p[skip_blanks(ed, from)] != '-')
        from = line_start(ed, from - 1);
    if (!ends_line(ed, to) && ends_line(ed, from)) { /* the file's last line */
        from--;
        if (from && ed->text.p[from - 1] == '\r')
            from--;
    }
    cut(ed, from, to, STR(""));
}

/* Where the comma behind `y` is; SIZE_MAX unless blanks alone are between. */
static size_t comma_after(const struct edit *ed, const struct yaml *y)
{
    size_t at = skip_blanks(ed, y->end);

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
    if (begins_line(ed, item->start) && is_rest_empty(ed, behind) &&
        line_end(ed, item->end) < list->end) {
        if (comma == SIZE_MAX && earlier != SIZE_MAX)
            cut(ed, earlier, earlier + 1, STR(""));
        cut(ed, line_start(ed, item->start), line_end(ed, item->end), STR(""));
    } else if (before && !has_comment(ed, before->end, item->start)) {
        cut(ed, before->end, item->end, STR(""));
    } else if (before && earlier != SIZE_MAX) {
        cut(ed, earlier, earlier + 1, STR(""));
        cut(ed, item->start, item->end, STR(""));
    } else if (next && !has_comment(ed, item->end, next->start)) {
        cut(ed, item->start, next->start, STR(""));
    } else {
        cut(ed, item->start, behind, STR(""));
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
