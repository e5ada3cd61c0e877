
#include "mapm/limits.h"

#include <string.h>

#include "document.h"

/* Splits a document into frontmatter and body and parses the YAML of the
 * frontmatter. Source: X10, A3, A4, T3, REQUIREMENTS 4.2; THREATS row 5. */

#define BOM "\xef\xbb\xbf"

bool text_take_line(struct str *rest, struct str *line)
{
    size_t n = 0, skip;

    if (rest->n == 0)
        return false;
    while (n < rest->n && rest->p[n] != '\n' && rest->p[n] != '\r')
        n++;
    skip = n < rest->n;
    if (n + 1 < rest->n && rest->p[n] == '\r' && rest->p[n + 1] == '\n')
        skip = 2;
    *line = str_slice(*rest, 0, n);
    *rest = str_from_index(*rest, n + skip);
    return true;
}

unsigned text_line_of(struct str text, size_t offset)
{
    struct str rest = text, line;
    unsigned n = 0;

    while (text_take_line(&rest, &line)) {
        n++;
        if (text.n - rest.n > offset)
            return n;
    }
    return n ? n : 1;
}

/* Returns true if the line starts with "---" and, if `rule` requires it, has
 * only blanks after that. */
static bool is_fence(struct str line, enum split_rule rule)
{
    size_t i = 3;

    if (!str_starts(line, STR("---")))
        return false;
    if (rule == SPLIT_STARTS)
        return true;
    while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
        i++;
    return i == line.n;
}

/* T3: skips empty lines at the start of the body. */
static struct str drop_newlines(struct str body, unsigned *line)
{
    struct str rest = body, head;

    while (body.n && text_take_line(&rest, &head) && head.n == 0) {
        body = rest;
        ++*line;
    }
    return body;
}

static void split_lines(struct str text, enum split_rule rule,
                        struct split *out)
{
    struct str rest = text, line = {0};
    const char *start;
    unsigned count = 1;

    if (!text_take_line(&rest, &line) || !is_fence(line, rule)) {
        out->fault = "no-frontmatter";
        return;
    }
    start = rest.p;
    out->yaml_line = 2;
    while (text_take_line(&rest, &line)) {
        count++;
        if (!is_fence(line, rule))
            continue;
        out->yaml = str_make(start, (size_t)(line.p - start));
        out->body_line = count + 1;
        out->body = drop_newlines(rest, &out->body_line);
        return;
    }
    out->fault = "unclosed-frontmatter";
}

/* Splits as the reference validator does: a "---" inside a value also ends the
 * frontmatter. */
static void split_anywhere(struct str text, struct split *out)
{
    size_t end;

    if (!str_starts(text, STR("---"))) {
        out->fault = "no-frontmatter";
        return;
    }
    text = str_from_index(text, 3);
    end = str_find(text, STR("---"));
    if (end == SIZE_MAX) {
        out->fault = "unclosed-frontmatter";
        return;
    }
    out->yaml = str_slice(text, 0, end);
    out->yaml_line = 1;
    out->body_line = text_line_of(text, end);
    out->body = drop_newlines(str_from_index(text, end + 3), &out->body_line);
}

void frontmatter_split(struct str text, enum split_rule rule, struct split *out)
{
    *out = (struct split){0};
    if (str_starts(text, STR(BOM))) {
        out->bom = true;
        text = str_from_index(text, 3);
    }
    if (rule == SPLIT_ANYWHERE)
        split_anywhere(text, out);
    else
        split_lines(text, rule, out);
}

struct yaml_options frontmatter_options(unsigned first_line)
{
    return (struct yaml_options){
        .max_bytes = FRONTMATTER_MAX_BYTES,
        .max_depth = FRONTMATTER_MAX_DEPTH,
        .max_nodes = FRONTMATTER_MAX_NODES,
        .first_line = first_line,
    };
}

/* --- repair --------------------------------------------------------------- */

/* Returns true if text follows the character that closes the bracket or quote
 * at the start, as in "[file] [options]" and "\"a\" b". Such a value is meant
 * as text. */
static bool goes_on(struct str value)
{
    static const char pairs[][2] = {"[]", "{}", "\"\"", "''"};
    size_t at;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (value.p[0] != pairs[i][0])
            continue;
        at = str_find_char(str_from_index(value, 1), pairs[i][1]);
        return at != SIZE_MAX && at + 2 < value.n;
    }
    return true;
}

/* Finds the value of "key: value" at column 0 if it ends on this line. */
static bool find_value(struct str line, struct str *value)
{
    struct str rest;
    size_t i = 0;

    while (i < line.n && (char_is_alpha(line.p[i]) ||
                          char_is_digit(line.p[i]) || strchr("_-.", line.p[i])))
        i++;
    rest = str_from_index(line, i);
    if (i == 0 ||
        (!str_starts(rest, STR(": ")) && !str_starts(rest, STR(":\t"))))
        return false;
    *value = str_trim(str_from_index(rest, 1));
    return value->n && goes_on(*value);
}

static bool continues(struct str rest)
{
    struct str line;

    while (text_take_line(&rest, &line)) {
        struct str trimmed = str_trim(line);

        if (trimmed.n)
            return line.p[0] == ' ' || line.p[0] == '\t' ||
                   str_starts(line, STR("- "));
    }
    return false;
}

/* Returns true if the value of the line is invalid YAML: "*bold* text", "\"a\"
 * b", "a: b". Valid YAML that mapm rejects (aliases, tags) is not repaired. */
static bool is_broken(struct str line, struct arena *a)
{
    struct yaml_options options = frontmatter_options(1);
    struct yaml_problem problem = {0};
    const struct yaml *root;
    struct err e;

    return !yaml_parse(line, &options, a, &root, &problem, &e) &&
           problem.fault == YAML_FAULT_SYNTAX;
}

static void put_single_quoted(struct buf *b, struct str value)
{
    buf_char(b, '\'');
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '\'')
            buf_char(b, '\'');
        buf_char(b, value.p[i]);
    }
    buf_char(b, '\'');
}

bool yaml_repair(struct str text, unsigned first_line, struct arena *a,
                 struct str *out, const struct yaml **root, unsigned **lines,
                 size_t *count)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct yaml_options options = frontmatter_options(first_line);
    struct str rest = text, line, value;
    unsigned number = first_line;
    size_t capacity = 0, found = 0;
    unsigned *numbers = NULL;
    const char *copied = text.p;
    struct err e;

    if (text.n > FRONTMATTER_MAX_BYTES)
        return false;
    buf_init(&b, 2 * FRONTMATTER_MAX_BYTES);
    for (; text_take_line(&rest, &line); number++) {
        if (!find_value(line, &value) || continues(rest) || !is_broken(line, a))
            continue;
        buf_append(&b, str_make(copied, (size_t)(value.p - copied)));
        put_single_quoted(&b, value);
        copied = value.p + value.n;
        numbers = arena_grow(a, numbers, found, &capacity, sizeof *numbers);
        numbers[found++] = number;
    }
    buf_append(&b, str_make(copied, (size_t)(text.p + text.n - copied)));
    if (found == 0 || b.overflowed)
        return false;
    *out = arena_str(a, buf_str(&b));
    options.max_bytes = 2 * FRONTMATTER_MAX_BYTES;
    if (!yaml_parse(*out, &options, a, root, NULL, &e))
        return false;
    *lines = numbers;
    *count = found;
    return true;
}

/* --- parsing -------------------------------------------------------------- */

/* Returns the message of the YAML parser without the line number at its
 * start. */
static const char *bare_message(const struct err *e)
{
    const char *message = err_first(e), *colon;

    if (strncmp(message, "line ", 5) != 0)
        return message;
    colon = strstr(message, ": ");
    return colon ? colon + 2 : message;
}

static void report_yaml(struct reader *r, const struct yaml_problem *p,
                        const struct err *e)
{
    static const char *const codes[] = {
        [YAML_FAULT_SYNTAX] = "yaml",  [YAML_FAULT_DUPLICATE] = "duplicate-key",
        [YAML_FAULT_LIMIT] = "yaml",   [YAML_FAULT_NUL] = "nul-bytes",
        [YAML_FAULT_REFUSED] = "yaml",
    };
    const char *field =
        p->fault == YAML_FAULT_DUPLICATE ? str_dup0(p->key, r->a) : "";

    report(r, codes[p->fault], field, p->line,
           "the frontmatter is not YAML that can be read: %s%s",
           bare_message(e),
           p->fault == YAML_FAULT_SYNTAX
               ? "; put text that holds \": \" or \" #\" in quotes"
               : "");
}

/* A4: tries to repair the YAML by quoting values. Returns true on success. */
static bool repair(struct reader *r, const struct split *s)
{
    unsigned *lines;
    size_t count;

    if ((r->in->profile != PROFILE_INSTALL &&
         r->in->profile != PROFILE_CLAUDE_PLUGIN) ||
        !yaml_repair(s->yaml, s->yaml_line, r->a, &r->source, &r->root, &lines,
                     &count))
        return false;
    for (size_t i = 0; i < count; i++)
        report(r, "yaml-repaired", "", lines[i],
               "this line is not YAML; it is read as if its value were in "
               "quotes: put it in quotes");
    return true;
}

/* Reports flow style, which StrictYAML does not allow. */
static bool check_flow(struct reader *r)
{
    const struct yaml *stack[FRONTMATTER_MAX_DEPTH + 2];
    size_t depth = 0;
    const struct yaml *y = r->root;

    while (y) {
        if (y->kind != YAML_SCALAR && y->flow) {
            report(r, "yaml", "", y->line,
                   "lists and mappings in brackets are refused by the "
                   "reference validator: write one item a line");
            return false;
        }
        if (y->first && depth < FRONTMATTER_MAX_DEPTH + 1)
            stack[depth++] = y->next, y = y->first;
        else
            y = y->next;
        while (!y && depth > 0)
            y = stack[--depth];
    }
    return true;
}

bool frontmatter_parse(struct reader *r, const struct split *s)
{
    struct yaml_options options = frontmatter_options(s->yaml_line);
    struct yaml_problem problem;
    struct err e;

    r->source = s->yaml;
    if (!yaml_parse(s->yaml, &options, r->a, &r->root, &problem, &e)) {
        if (problem.fault != YAML_FAULT_SYNTAX || !repair(r, s)) {
            r->root = NULL;
            report_yaml(r, &problem, &e);
            return false;
        }
    }
    if (r->root && r->root->kind != YAML_MAPPING) {
        report(r, "not-a-mapping", "", r->root->line,
               "the frontmatter has to be \"key: value\" lines");
        r->root = NULL;
        return false;
    }
    return r->in->profile != PROFILE_SKILLS_REF || check_flow(r);
}
