#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/project.h"

#include <string.h>

#include "project_cut.h"

/* Adds a rule below policy.commands. The edit fails without changes unless the
 * result differs from the original by exactly this rule. */

#define PATH_LENGTH 3

/* The keys from the root to the list, and their existing nodes. */
struct path {
    const char *keys[PATH_LENGTH];
    const struct yaml *at[PATH_LENGTH + 1]; /* at[0] is the root */
    size_t found;                           /* number of keys that exist */
};

static bool fail_shape(struct err *e)
{
    err_set(e, ERR_FORMAT,
            "its policy is written in a way that cannot be changed in place");
    return err_hint(e, "write allow and deny of policy.commands as plain lists "
                       "of rules, or change it by hand");
}

static bool walk(const struct edit *ed, bool allow, struct path *p,
                 struct err *e)
{
    *p =
        (struct path){.keys = {"policy", "commands", allow ? "allow" : "deny"}};
    p->at[0] = ed->root;
    for (size_t i = 0; p->at[i] && !project_is_null(p->at[i]); i++) {
        if (i == PATH_LENGTH)
            return p->at[i]->kind == YAML_SEQUENCE || fail_shape(e);
        if (p->at[i]->kind != YAML_MAPPING)
            return fail_shape(e);
        p->at[i + 1] = yaml_get(p->at[i], p->keys[i]);
        p->found += p->at[i + 1] != NULL;
    }
    return true;
}

/* --- existing nodes
 * --------------------------------------------------------- */

static bool is_rule(const struct yaml *y, const struct str *words, size_t count)
{
    size_t i = 0;

    if (y->kind != YAML_SEQUENCE || y->count != count)
        return false;
    for (const struct yaml *word = y->first; word; word = word->next)
        if (!yaml_is_string(word) || !str_eq(word->text, words[i++]))
            return false;
    return true;
}

static size_t count_rules(const struct yaml *list)
{
    return list && list->kind == YAML_SEQUENCE ? list->count : 0;
}

static bool has_rule(const struct yaml *list, const struct str *words,
                     size_t count)
{
    if (list && list->kind == YAML_SEQUENCE)
        for (const struct yaml *y = list->first; y; y = y->next)
            if (is_rule(y, words, count))
                return true;
    return false;
}

/* --- whether just that has changed ---------------------------------------- */

static void put_node(struct buf *b, const struct yaml *y, size_t depth)
{
    bool scalar = y->kind == YAML_SCALAR;

    buf_printf(b, "%zu %d %d %zu %zu:", depth, (int)y->kind,
               scalar ? (int)yaml_type_of(y) : 0, y->key.n, y->text.n);
    buf_append(b, y->key);
    buf_append(b, y->text);
}

/* Returns a text of the tree without the rule `skip` and the keys of the path.
 * The other members of these keys are included. */
static struct str rest_of_tree(const struct path *p, const struct yaml *skip,
                               struct arena *a)
{
    const struct yaml *stack[PROJECT_MAX_DEPTH + 1] = {
        p->at[0] ? p->at[0]->first : NULL};
    CLEANUP(buf_done) struct buf b = {0};
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
        if (y == skip)
            continue;
        if (depth >= PATH_LENGTH || y != p->at[depth + 1])
            put_node(&b, y, depth);
        if (y->first)
            stack[++depth] = y->first;
    }
}

static bool finish(const struct edit *ed, const struct path *before, bool allow,
                   const struct str *words, size_t count, struct str *out,
                   struct err *e)
{
    const struct yaml *root, *last = NULL;
    struct edit after = *ed;
    struct path path;
    struct str text;

    if (!edit_close(ed, &text, &root, e))
        return e->code == ERR_LIMIT ? false : fail_shape(e);
    after.root = root;
    if (!walk(&after, allow, &path, e))
        return fail_shape(e);
    if (count_rules(path.at[PATH_LENGTH]) !=
        count_rules(before->at[PATH_LENGTH]) + 1)
        return fail_shape(e);
    for (last = path.at[PATH_LENGTH]->first; last->next;)
        last = last->next;
    if (!is_rule(last, words, count) ||
        !str_eq(rest_of_tree(before, NULL, ed->a),
                rest_of_tree(&path, last, ed->a)))
        return fail_shape(e);
    *out = text;
    return true;
}

/* --- adding --------------------------------------------------------------- */

struct str project_rule_text(const struct str *words, size_t count,
                             struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_char(&b, '[');
    for (size_t i = 0; i < count; i++) {
        buf_text(&b, i ? ", " : "");
        buf_append(&b, yaml_quote(words[i], a));
    }
    buf_char(&b, ']');
    return arena_str(a, buf_str(&b));
}

/* Formats the keys from index `from` on in one line: "commands: {allow:
 * [ITEM]}". */
static struct str in_braces(const struct path *p, size_t from, struct str item,
                            struct arena *a)
{
    struct str text =
        arena_printf(a, "%s: [%.*s]", p->keys[PATH_LENGTH - 1], STR_ARG(item));

    for (size_t i = PATH_LENGTH - 1; i-- > from;)
        text = arena_printf(a, "%s: {%.*s}", p->keys[i], STR_ARG(text));
    return text;
}

/* Formats the same with a line for each key, indented by `indent`, and its
 * value indented by `offset` more. */
static struct str in_lines(const struct edit *ed, const struct path *p,
                           size_t from, size_t indent, size_t offset,
                           struct str item)
{
    struct str text = STR("");

    for (size_t i = from; i < PATH_LENGTH; i++) {
        text = arena_printf(ed->a, "%.*s%.*s%s:%s", STR_ARG(text),
                            STR_ARG(edit_blanks(ed, indent)), p->keys[i],
                            ed->newline);
        indent += offset;
    }
    return arena_printf(ed->a, "%.*s%.*s- %.*s", STR_ARG(text),
                        STR_ARG(edit_blanks(ed, indent)), STR_ARG(item));
}

/* Returns the indent of rules relative to their key. */
static size_t list_offset(const struct edit *ed, const struct yaml *commands)
{
    if (!commands || commands->kind != YAML_MAPPING || commands->flow)
        return EDIT_INDENT;
    for (const struct yaml *y = commands->first; y; y = y->next) {
        size_t indent = edit_indent(ed, y->key_start);

        if (y->kind == YAML_SEQUENCE && !y->flow &&
            edit_indent(ed, y->start) >= indent)
            return edit_indent(ed, y->start) - indent;
    }
    return EDIT_INDENT;
}

/* Returns true if the new list should be in brackets because the list next to
 * it is. */
static bool wants_brackets(const struct path *p)
{
    const struct yaml *commands = p->at[PATH_LENGTH - 1];
    bool brackets = false;

    if (p->found < PATH_LENGTH - 1 || commands->kind != YAML_MAPPING)
        return false;
    for (const struct yaml *y = commands->first; y; y = y->next)
        brackets |= y->kind == YAML_SEQUENCE && y->flow && y->first;
    return brackets;
}

/* Returns true if only comments follow the line with `at`. */
static bool ends_in_remarks(const struct edit *ed, size_t at)
{
    struct str rest = str_from_index(ed->text, edit_line_end(ed, at)), line;
    bool any = false;

    while (str_line(&rest, &line)) {
        if (line.n && line.p[0] != '#')
            return false;
        any |= line.n > 0;
    }
    return any;
}

/* Adds a member after those of an existing mapping. A new top-level block is
 * added after all other keys, but before comments at the end of the file. */
static void add_member(struct edit *ed, const struct path *p, size_t at,
                       struct str item)
{
    const struct yaml *mapping = p->at[at], *last = mapping->first;
    struct str member = in_braces(p, at, item, ed->a);
    size_t indent;

    if (mapping->flow || !last) {
        edit_add_member(ed, mapping, member);
        return;
    }
    indent = edit_indent(ed, last->key_start);
    while (last->next)
        last = last->next;
    if (at == PATH_LENGTH - 1 && wants_brackets(p))
        member = str_join(edit_blanks(ed, indent), member, ed->a);
    else
        member = in_lines(ed, p, at, indent,
                          list_offset(ed, p->at[PATH_LENGTH - 1]), item);
    if (at == 0 && indent == 0 && ends_in_remarks(ed, edit_last_byte(last)))
        edit_append(ed, str_join(str_cstr(ed->newline), member, ed->a));
    else
        edit_insert_lines(ed, edit_last_byte(last), member);
}

/* Gives the last existing key, which has no value, its value. */
static void fill_key(struct edit *ed, const struct path *p, struct str item)
{
    const struct yaml *key = p->at[p->found], *parent = p->at[p->found - 1];
    struct str member = in_braces(p, p->found, item, ed->a);
    size_t indent;

    if (edit_is_written(key) || parent->flow) {
        edit_fill_null(ed, key, arena_printf(ed->a, "{%.*s}", STR_ARG(member)));
        return;
    }
    indent = edit_indent(ed, key->key_start) + EDIT_INDENT;
    edit_insert_lines(ed, key->key_start,
                      in_lines(ed, p, p->found, indent, EDIT_INDENT, item));
}

static void add_rule(struct edit *ed, const struct path *p, struct str item)
{
    const struct yaml *there = p->at[p->found];

    if (!there)
        edit_append(ed, in_lines(ed, p, 0, 0, EDIT_INDENT, item));
    else if (p->found == PATH_LENGTH)
        edit_add_to_list(ed, p->at[PATH_LENGTH - 1], there,
                         list_offset(ed, p->at[PATH_LENGTH - 1]));
    else if (project_is_null(there))
        fill_key(ed, p, item);
    else
        add_member(ed, p, p->found, item);
}

/* Rejects words that project_parse() would reject, so that they are not written
 * to a file. */
static bool check_words(const struct str *words, size_t count, struct err *e)
{
    const char *hint, *fault;

    if (count == 0 || count > COMMAND_MAX_WORDS)
        return err_set(e, ERR_FORMAT, "a rule has 1 to %u words",
                       COMMAND_MAX_WORDS);
    fault = project_program_fault(words[0], &hint);
    if (fault) {
        err_set(e, ERR_FORMAT, "%s: \"%.*s\"", fault,
                STR_ARG(text_cut(words[0], 80)));
        return err_hint(e, "%s", hint);
    }
    for (size_t i = 0; i < count; i++)
        if (!text_is_utf8(words[i]) || str_has_char(words[i], '\0'))
            return err_set(e, ERR_FORMAT,
                           "a word of the command is no text in UTF-8");
    return true;
}

bool project_add_rule(struct str text, bool allow, const struct str *words,
                      size_t count, struct arena *a, struct str *out,
                      struct err *e)
{
    const struct yaml *list;
    struct path path;
    struct edit ed;
    struct str item;

    if (!check_words(words, count, e) || !edit_open(&ed, text, a, e) ||
        !walk(&ed, allow, &path, e))
        return false;
    list = path.at[PATH_LENGTH];
    if (has_rule(list, words, count)) {
        *out = text;
        return true;
    }
    if (count_rules(list) >= RULES_MAX)
        return err_set(e, ERR_LIMIT, "it has %u rules, and may not have more",
                       RULES_MAX);
    item = project_rule_text(words, count, a);
    ed.items = &item;
    ed.item_count = 1;
    add_rule(&ed, &path, item);
    return finish(&ed, &path, allow, words, count, out, e);
}
