#include "mapm/limits.h"
#include "mapm/name.h"

#include "document.h"

/* Copies a document under another name: one value changes, all other bytes are
 * kept. Source: X2, X9. */

/* The bytes of the frontmatter to replace. */
struct edit {
    size_t from, to;
    const char *before, *after; /* text before and after the name */
    char quote;                 /* quote character; 0 if YAML decides */
};

static size_t line_start(struct str text, unsigned line)
{
    struct str rest = text, head;

    for (unsigned i = 1; i < line && text_take_line(&rest, &head); i++)
        continue;
    return text.n - rest.n;
}

static size_t line_end(struct str text, size_t at)
{
    while (at < text.n && text.p[at] != '\n' && text.p[at] != '\r')
        at++;
    return at;
}

/* Converts an offset in the repaired text to one in the original. Repair only
 * adds quotes to a line, so the result is limited to the end of the original
 * line. */
static size_t place_in(struct str original, struct str repaired, size_t at)
{
    unsigned line = text_line_of(repaired, at);
    size_t column, start = line_start(original, line), end;

    if (at >= repaired.n)
        return original.n;
    column = at - line_start(repaired, line);
    end = line_end(original, start);
    return start + column < end ? start + column : end;
}

/* Converts the offsets of `edit` to the text before repair. If the line itself
 * was repaired, the value is the rest of that line. */
static void place_edit(struct str original, struct str repaired,
                       struct edit *edit)
{
    unsigned line = text_line_of(repaired, edit->from);
    size_t new = line_start(repaired, line), old = line_start(original, line);
    struct str after = str_slice(repaired, new, line_end(repaired, new));
    struct str before = str_slice(original, old, line_end(original, old));

    edit->to = place_in(original, repaired, edit->to);
    edit->from = place_in(original, repaired, edit->from);
    if (edit->quote != '\'' || str_eq(before, after))
        return;
    edit->quote = '\0';
    before = str_trim(str_from_index(before, edit->from - old));
    edit->to = edit->from + before.n;
}

static const char *line_end_of(struct str text)
{
    size_t at = str_find_char(text, '\n');

    if (at == SIZE_MAX)
        return str_has_char(text, '\r') ? "\r" : "\n";
    return at > 0 && text.p[at - 1] == '\r' ? "\r\n" : "\n";
}

/* Sets the edit of an existing value. A value on the lines below its key is
 * replaced from the colon on. */
static void edit_value(struct str yaml, const struct yaml *y, struct edit *out)
{
    size_t colon = str_find_char(str_from_index(yaml, y->key_start), ':');

    *out = (struct edit){
        .from = y->start, .to = y->end, .before = "", .after = ""};
    if (y->kind == YAML_SCALAR && y->style == YAML_SINGLE)
        out->quote = '\'';
    if (y->kind == YAML_SCALAR && y->style == YAML_DOUBLE)
        out->quote = '"';
    if (colon != SIZE_MAX && (y->line != y->key_line || y->start == y->end)) {
        out->from = y->key_start + colon + 1;
        out->before = " ";
    }
    if (out->to < out->from)
        out->to = out->from;
    if (out->to > out->from &&
        (yaml.p[out->to - 1] == '\n' || yaml.p[out->to - 1] == '\r'))
        out->after = line_end_of(yaml);
}

/* Sets the edit that inserts a missing name: a line before the first key, or a
 * member of "{…}". */
static void edit_missing(struct str text, struct str yaml,
                         const struct yaml *root, struct arena *a,
                         struct edit *out)
{
    size_t at = 0, blanks = 0;

    if (root && root->flow) {
        at = root->start + 1;
        *out = (struct edit){.from = at,
                             .to = at,
                             .before = "name: ",
                             .after = root->first ? ", " : ""};
        return;
    }
    if (root && root->first)
        at = line_start(yaml, text_line_of(yaml, root->first->key_start));
    while (root && at + blanks < yaml.n && yaml.p[at + blanks] == ' ')
        blanks++;
    *out = (struct edit){
        .from = at,
        .to = at,
        .before =
            str_join(str_slice(yaml, at, at + blanks), STR("name: "), a).p,
        .after = line_end_of(text),
    };
}

static bool parse_any(struct str yaml, struct arena *a, struct str *source,
                      const struct yaml **root, struct err *e)
{
    struct yaml_options options = frontmatter_options(1);
    unsigned *lines;
    size_t count;

    *source = yaml;
    if (yaml_parse(yaml, &options, a, root, NULL, e) ||
        yaml_repair(yaml, 1, a, source, root, &lines, &count))
        return !*root || (*root)->kind == YAML_MAPPING ||
               err_set(e, ERR_FRONTMATTER, "the frontmatter is not a mapping");
    e->code = ERR_FRONTMATTER;
    return false;
}

static bool has_name(struct str text, struct str name, struct str body,
                     struct arena *a)
{
    const struct yaml *root, *y;
    struct str source;
    struct split s;
    struct err e;

    frontmatter_split(text, SPLIT_LINES, &s);
    if (s.fault || !parse_any(s.yaml, a, &source, &root, &e))
        return false;
    y = yaml_get(root, "name");
    return y && yaml_is_string(y) && str_eq(y->text, name) &&
           str_eq(s.body, body);
}

static struct str apply(struct str text, size_t yaml_at,
                        const struct edit *edit, struct str name,
                        struct arena *a)
{
    struct str quote = str_make(&edit->quote, edit->quote ? 1 : 0);
    struct str value = edit->quote ? name : yaml_quote(name, a);

    return arena_printf(a, "%.*s%s%.*s%.*s%.*s%s%.*s",
                        STR_ARG(str_slice(text, 0, yaml_at + edit->from)),
                        edit->before, STR_ARG(quote), STR_ARG(value),
                        STR_ARG(quote), edit->after,
                        STR_ARG(str_from_index(text, yaml_at + edit->to)));
}

bool manifest_rename(struct str text, struct str name, struct arena *a,
                     struct str *out, struct err *e)
{
    const struct yaml *root = NULL, *y;
    struct str source, result;
    struct split s;
    struct edit edit;
    size_t yaml_at;

    if (!name_is_kebab(name))
        return err_set(e, ERR_NAME, "the name \"%.*s\" %s",
                       STR_ARG(text_cut(name, 80)), name_fault(name));
    if (text.n > ANCHOR_MAX_BYTES || str_has_char(text, '\0'))
        return err_set(e, ERR_FRONTMATTER, "not a text that can be renamed");
    frontmatter_split(text, SPLIT_LINES, &s);
    if (s.fault)
        return err_set(e, ERR_FRONTMATTER, "%s", s.fault);
    if (!parse_any(s.yaml, a, &source, &root, e))
        return false;
    y = yaml_get(root, "name");
    if (y)
        edit_value(source, y, &edit);
    else
        edit_missing(text, source, root, a, &edit);
    if (source.p != s.yaml.p)
        place_edit(s.yaml, source, &edit);
    yaml_at = (size_t)(s.yaml.p - text.p);
    result = apply(text, yaml_at, &edit, name, a);
    if (!has_name(result, name, s.body, a))
        return err_set(e, ERR_FRONTMATTER,
                       "the name cannot be changed in this frontmatter");
    *out = result;
    return true;
}
