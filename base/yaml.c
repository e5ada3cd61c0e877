#include "base/yaml.h"

#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define LINEAR_MAX 16 /* members compared linearly; a map for more */

/*
 * The time and memory of libyaml grow with the product of tokens and flow
 * depth. The depth limit on its events stops it: it reads ahead by at most one
 * simple key, which has at most 1,024 characters on one line, so its depth
 * never exceeds max_depth + 1,024. Counting brackets in the text would not be
 * exact, because prose in a block scalar may contain any number of them.
 */
#define DEFAULT_MAX_DEPTH 64

/* Position of a character. libyaml counts characters; the tree has
 * byte offsets. */
struct place {
    size_t index;          /* characters before it */
    size_t byte;           /* bytes before it */
    unsigned line, column; /* from 1; the column in characters */
};

/* An open mapping or sequence. */
struct frame {
    struct yaml *node;
    struct yaml *last; /* newest child */
    struct map *seen;  /* keys, if there are many */
    bool has_key;
    struct str key;
    struct place key_at;
};

struct reader {
    struct str text;
    const struct yaml_options *options;
    struct arena *arena;
    struct yaml_problem *problem;
    struct err *e;
    yaml_parser_t *parser;
    struct place starts, ends; /* only move forward, so the total cost is
                                  linear */
    struct frame *frames;
    size_t depth, capacity;
    size_t nodes;
    unsigned documents;
    struct yaml *root;
};

static struct place place_first(const struct reader *r)
{
    unsigned line = r->options->first_line;

    return (struct place){.line = line ? line : 1, .column = 1};
}

/* Advances by one character. A line ends with LF, CR LF or CR, as in
 * editors. */
static void place_step(struct place *at, struct str text)
{
    char c = text.p[at->byte++];
    bool crlf = c == '\r' && at->byte < text.n && text.p[at->byte] == '\n';

    while (at->byte < text.n &&
           ((unsigned char)text.p[at->byte] & 0xc0) == 0x80)
        at->byte++;
    at->index++;
    at->column++;
    if (c == '\n' || (c == '\r' && !crlf)) {
        at->line++;
        at->column = 1;
    }
}

static void place_move(struct place *at, struct str text, size_t index)
{
    while (at->index < index && at->byte < text.n)
        place_step(at, text);
}

static unsigned line_of_byte(const struct reader *r, size_t byte)
{
    struct place at = place_first(r);

    while (at.byte < byte && at.byte < r->text.n)
        place_step(&at, r->text);
    return at.line;
}

static unsigned line_of_mark(const struct reader *r, size_t index)
{
    struct place at = place_first(r);

    place_move(&at, r->text, index);
    return at.line;
}

static bool PRINTF(4, 5) refuse(struct reader *r, enum yaml_fault fault,
                                unsigned line, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    r->problem->fault = fault;
    r->problem->line = line;
    return err_set(r->e, fault == YAML_FAULT_LIMIT ? ERR_LIMIT : ERR_FORMAT,
                   "line %u: %s", line, message);
}

/* Checks the bytes before libyaml parses them. */
static bool check_text(struct reader *r)
{
    static const struct str marks[] = {
        STR_INIT("\xef\xbb\xbf"), STR_INIT("\xfe\xff"), STR_INIT("\xff\xfe")};
    unsigned first = place_first(r).line;
    size_t nul = str_find_char(r->text, '\0');

    if (r->options->max_bytes && r->text.n > r->options->max_bytes)
        return refuse(r, YAML_FAULT_LIMIT, first, "larger than %zu bytes",
                      r->options->max_bytes);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (str_starts(r->text, marks[i]))
            return refuse(r, YAML_FAULT_REFUSED, first,
                          "starts with a byte order mark");
    if (nul != SIZE_MAX)
        return refuse(r, YAML_FAULT_NUL, line_of_byte(r, nul),
                      "contains a NUL character");
    return true;
}

static bool refuse_syntax(struct reader *r)
{
    const yaml_parser_t *p = r->parser;
    const char *problem = p->problem ? p->problem : "not valid YAML";

    if (p->error == YAML_MEMORY_ERROR)
        return refuse(r, YAML_FAULT_LIMIT, r->starts.line, "out of memory");
    if (p->error == YAML_READER_ERROR)
        return refuse(r, YAML_FAULT_SYNTAX, line_of_byte(r, p->problem_offset),
                      "%s", problem);
    return refuse(r, YAML_FAULT_SYNTAX, line_of_mark(r, p->problem_mark.index),
                  "%s", problem);
}

static bool check_anchor(struct reader *r, const yaml_char_t *anchor,
                         const yaml_char_t *tag)
{
    /* libyaml drops a "!" before a scalar, but its start mark is there. */
    bool marked = r->starts.byte < r->text.n &&
                  r->text.p[r->starts.byte] == '!' &&
                  r->ends.byte > r->starts.byte;

    if (anchor)
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line,
                      "anchors (\"&\") are not allowed");
    if (tag || marked)
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line,
                      "tags (\"!\") are not allowed");
    return true;
}

static bool count_node(struct reader *r)
{
    r->nodes++;
    if (r->options->max_nodes && r->nodes > r->options->max_nodes)
        return refuse(r, YAML_FAULT_LIMIT, r->starts.line,
                      "more than %zu values", r->options->max_nodes);
    return true;
}

static bool frame_has_key(struct reader *r, struct frame *f, struct str key)
{
    const struct yaml *y;

    if (f->node->count < LINEAR_MAX) {
        for (y = f->node->first; y; y = y->next)
            if (str_eq(y->key, key))
                return true;
        return false;
    }
    if (!f->seen) {
        f->seen = arena_new(r->arena, struct map);
        map_init(f->seen, r->arena);
        for (y = f->node->first; y; y = y->next)
            map_put(f->seen, y->key, NULL);
    }
    return !map_put(f->seen, key, NULL);
}

static bool take_key(struct reader *r, struct frame *f,
                     const yaml_event_t *event, struct str key)
{
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        str_is(key, "<<"))
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line,
                      "merge keys (\"<<\") are not allowed");
    if (frame_has_key(r, f, key)) {
        r->problem->key = key;
        return refuse(r, YAML_FAULT_DUPLICATE, r->starts.line,
                      "\"%.*s\" is given twice",
                      (int)(key.n < 100 ? key.n : 100), key.p);
    }
    f->has_key = true;
    f->key = key;
    f->key_at = r->starts;
    return true;
}

/* Appends a new value to the open collection, or makes it the root. */
static struct yaml *add_node(struct reader *r, enum yaml_kind kind)
{
    struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;
    struct yaml *y = arena_new(r->arena, struct yaml);

    y->kind = kind;
    y->line = r->starts.line;
    y->column = r->starts.column;
    y->start = r->starts.byte;
    y->end = r->ends.byte > y->start ? r->ends.byte : y->start;
    if (!f) {
        r->root = y;
        return y;
    }
    if (f->has_key) {
        y->key = f->key;
        y->key_line = f->key_at.line;
        y->key_start = f->key_at.byte;
        f->has_key = false;
    }
    if (f->last)
        f->last->next = y;
    else
        f->node->first = y;
    f->last = y;
    f->node->count++;
    return y;
}

static bool wants_key(const struct reader *r)
{
    const struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;

    return f && f->node->kind == YAML_MAPPING && !f->has_key;
}

static enum yaml_style style_of(yaml_scalar_style_t style)
{
    switch (style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        return YAML_SINGLE;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return YAML_DOUBLE;
    case YAML_LITERAL_SCALAR_STYLE:
        return YAML_LITERAL;
    case YAML_FOLDED_SCALAR_STYLE:
        return YAML_FOLDED;
    default:
        return YAML_PLAIN;
    }
}

static bool on_scalar(struct reader *r, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    struct yaml *y;
    struct str text;

    if (!check_anchor(r, event->data.scalar.anchor, event->data.scalar.tag) ||
        !count_node(r))
        return false;
    if (length && memchr(value, '\0', length))
        return refuse(r, YAML_FAULT_NUL, r->starts.line,
                      "contains a NUL character");
    text = arena_str(r->arena, str_make(value, length));
    if (wants_key(r))
        return take_key(r, &r->frames[r->depth - 1], event, text);
    y = add_node(r, YAML_SCALAR);
    y->text = text;
    y->style = style_of(event->data.scalar.style);
    return true;
}

static bool on_open(struct reader *r, enum yaml_kind kind, bool flow)
{
    unsigned max =
        r->options->max_depth ? r->options->max_depth : DEFAULT_MAX_DEPTH;
    struct yaml *y;

    if (wants_key(r))
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line,
                      "a key must be text, not a list or a mapping");
    if (r->depth >= max)
        return refuse(r, YAML_FAULT_LIMIT, r->starts.line,
                      "nested more than %u deep", max);
    if (!count_node(r))
        return false;
    y = add_node(r, kind);
    y->flow = flow;
    r->frames = arena_grow(r->arena, r->frames, r->depth, &r->capacity,
                           sizeof *r->frames);
    r->frames[r->depth++] = (struct frame){.node = y};
    return true;
}

/* A flow node ends at its bracket. For a block node, libyaml returns the start
 * of the next token, after comments and blank lines; the end of its last value
 * is more useful for edits. */
static void on_close(struct reader *r)
{
    struct frame *f = &r->frames[--r->depth];
    struct yaml *y = f->node;
    bool brackets = y->flow && y->start < r->text.n &&
                    (r->text.p[y->start] == '[' || r->text.p[y->start] == '{');

    if (brackets && r->ends.byte > y->end)
        y->end = r->ends.byte;
    else if (f->last && f->last->end > y->end)
        y->end = f->last->end;
}

static bool on_document(struct reader *r, const yaml_event_t *event)
{
    if (event->data.document_start.version_directive ||
        event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end)
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line,
                      "directives (\"%%\") are not allowed");
    if (++r->documents > 1)
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line,
                      "more than one document");
    return true;
}

static bool on_event(struct reader *r, const yaml_event_t *event)
{
    place_move(&r->starts, r->text, event->start_mark.index);
    place_move(&r->ends, r->text, event->end_mark.index);
    switch (event->type) {
    case YAML_STREAM_START_EVENT:
        if (event->data.stream_start.encoding == YAML_UTF8_ENCODING)
            return true;
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line, "not UTF-8");
    case YAML_DOCUMENT_START_EVENT:
        return on_document(r, event);
    case YAML_ALIAS_EVENT:
        return refuse(r, YAML_FAULT_REFUSED, r->starts.line,
                      "aliases (\"*\") are not allowed");
    case YAML_SCALAR_EVENT:
        return on_scalar(r, event);
    case YAML_MAPPING_START_EVENT:
        return check_anchor(r, event->data.mapping_start.anchor,
                            event->data.mapping_start.tag) &&
               on_open(r, YAML_MAPPING,
                       event->data.mapping_start.style ==
                           YAML_FLOW_MAPPING_STYLE);
    case YAML_SEQUENCE_START_EVENT:
        return check_anchor(r, event->data.sequence_start.anchor,
                            event->data.sequence_start.tag) &&
               on_open(r, YAML_SEQUENCE,
                       event->data.sequence_start.style ==
                           YAML_FLOW_SEQUENCE_STYLE);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        on_close(r);
        return true;
    default:
        return true;
    }
}

static bool read_events(struct reader *r)
{
    for (bool more = true; more;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_parser_parse(r->parser, &event))
            return refuse_syntax(r);
        if (!on_event(r, &event))
            return false;
        more = event.type != YAML_STREAM_END_EVENT;
    }
    return true;
}

bool yaml_parse(struct str text, const struct yaml_options *options,
                struct arena *a, const struct yaml **out,
                struct yaml_problem *problem, struct err *e)
{
    CLEANUP(yaml_parser_delete) yaml_parser_t parser = {0};
    struct yaml_problem unused;
    struct reader r = {
        .text = text.n ? text : STR(""),
        .options = options,
        .arena = a,
        .problem = problem ? problem : &unused,
        .e = e,
        .parser = &parser,
    };

    *r.problem = (struct yaml_problem){0};
    r.starts = r.ends = place_first(&r);
    if (!check_text(&r))
        return false;
    if (!yaml_parser_initialize(&parser))
        return refuse(&r, YAML_FAULT_LIMIT, r.starts.line, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)r.text.p,
                                 text.n);
    if (!read_events(&r))
        return false;
    if (r.root && r.root->kind == YAML_SCALAR && r.root->style == YAML_PLAIN &&
        r.root->text.n == 0)
        r.root = NULL; /* a single "---" is an empty document */
    *out = r.root;
    return true;
}

const struct yaml *yaml_get(const struct yaml *mapping, const char *key)
{
    if (!mapping || mapping->kind != YAML_MAPPING)
        return NULL;
    for (const struct yaml *y = mapping->first; y; y = y->next)
        if (str_is(y->key, key))
            return y;
    return NULL;
}
