#include "base/json.h"

#include "base/invariant.h"
#include "base/map.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_MAX_DEPTH 64
#define LINEAR_MAX        16 /* members compared linearly; a map for more */

/* An open array or object, and what may come next in it. */
struct frame {
    struct json *node;
    struct json *last; /* newest child */
    struct map *seen;  /* names, if there are many */
    bool after_value;  /* a comma or the end */
    bool after_comma;  /* no end, unless trailing commas are allowed */
};

struct parser {
    struct str text;
    size_t at;
    unsigned line;
    size_t line_start;
    const struct json_options *options;
    struct arena *arena;
    unsigned *error_line;
    struct err *e;
    struct frame *frames;
    size_t depth, capacity;
    size_t nodes;
    struct json *root;
};

static bool PRINTF(3, 4)
    fail(struct parser *p, enum err_code code, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    *p->error_line = p->line;
    return err_set(p->e, code, "line %u, column %zu: %s", p->line,
                   p->at - p->line_start + 1, message);
}

static int peek(const struct parser *p)
{
    return p->at < p->text.n ? (unsigned char)p->text.p[p->at] : -1;
}

static bool fail_expected(struct parser *p, const char *what)
{
    int c = peek(p);

    if (c < 0)
        return fail(p, ERR_FORMAT, "expected %s, not the end", what);
    if (c > 0x20 && c < 0x7f)
        return fail(p, ERR_FORMAT, "expected %s, not '%c'", what, c);
    return fail(p, ERR_FORMAT, "expected %s, not the byte 0x%02x", what, c);
}

/* A line ends with LF, CR LF or CR. */
static void next_char(struct parser *p)
{
    char c = p->text.p[p->at++];

    if (c == '\n' || (c == '\r' && peek(p) != '\n')) {
        p->line++;
        p->line_start = p->at;
    }
}

/* Skips a comment; `p->at` is at "/". */
static bool skip_comment(struct parser *p)
{
    struct parser start = *p;
    struct str rest = str_from_index(p->text, p->at);

    if (str_starts(rest, STR("//"))) {
        while (p->at < p->text.n && peek(p) != '\n' && peek(p) != '\r')
            p->at++;
        return true;
    }
    if (!str_starts(rest, STR("/*")))
        return fail_expected(p, "a comment");
    for (p->at += 2; p->at < p->text.n; next_char(p))
        if (str_starts(str_from_index(p->text, p->at), STR("*/"))) {
            p->at += 2;
            return true;
        }
    return fail(&start, ERR_FORMAT, "a comment without an end");
}

static bool skip_space(struct parser *p)
{
    for (;;) {
        int c = peek(p);

        if (c == ' ' || c == '\t')
            p->at++;
        else if (c == '\n' || c == '\r')
            next_char(p);
        else if (c != '/' || !p->options->comments)
            return true;
        else if (!skip_comment(p))
            return false;
    }
}

/* --- strings ------------------------------------------------------------ */

/* Reads four hexadecimal digits; returns -1 if they are invalid. */
static int32_t read_hex4(struct parser *p)
{
    int32_t value = 0;

    for (int i = 0; i < 4; i++, p->at++) {
        int c = peek(p), digit = c < 0 ? -1 : char_hex((char)c);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Reads the digits after "\u". Rejects surrogates that are not a pair. */
static bool read_unicode(struct parser *p, struct buf *out)
{
    size_t start = p->at;
    int32_t high = read_hex4(p), low;

    if (high < 0)
        return fail_expected(p, "four hexadecimal digits");
    if (high >= 0xdc00 && high <= 0xdfff) {
        p->at = start;
        return fail(p, ERR_FORMAT, "an unpaired surrogate");
    }
    if (high >= 0xd800 && high <= 0xdbff) {
        if (!str_starts(str_from_index(p->text, p->at), STR("\\u"))) {
            p->at = start;
            return fail(p, ERR_FORMAT, "an unpaired surrogate");
        }
        p->at += 2;
        low = read_hex4(p);
        if (low < 0xdc00 || low > 0xdfff) {
            p->at = start;
            return fail(p, ERR_FORMAT, "an unpaired surrogate");
        }
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    }
    text_put(out, high);
    return true;
}

/* Reads an escape; `p->at` is after the backslash. */
static bool read_escape(struct parser *p, struct buf *out)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    int c = peek(p);
    const char *found = c > 0 ? strchr(letters, c) : NULL;

    if (c == 'u') {
        p->at++;
        return read_unicode(p, out);
    }
    if (!found)
        return fail_expected(p, "an escape such as \\n or \\u0041");
    buf_char(out, values[found - letters]);
    p->at++;
    return true;
}

/* Reads the rest of a string with escapes; `p->at` is at the first
 * backslash. */
static bool read_escaped(struct parser *p, size_t start, struct str *out)
{
    CLEANUP(buf_done) struct buf b = {0};
    size_t run = start;

    buf_init(&b, p->text.n); /* decoded text is never longer */
    for (;;) {
        int c = peek(p);

        if (c < 0x20)
            return fail_expected(p, "the end of the string");
        if (c != '"' && c != '\\') {
            p->at++;
            continue;
        }
        buf_append(&b, str_slice(p->text, run, p->at++));
        if (c == '"')
            break;
        if (!read_escape(p, &b))
            return false;
        run = p->at;
    }
    *out = arena_str(p->arena, buf_str(&b));
    return true;
}

/* Reads a string; `p->at` is at the opening quote. */
static bool read_string(struct parser *p, struct str *out)
{
    size_t start = ++p->at;

    for (;; p->at++) {
        int c = peek(p);

        if (c < 0x20)
            return fail_expected(p, "the end of the string");
        if (c == '\\')
            return read_escaped(p, start, out);
        if (c == '"')
            break;
    }
    *out = str_slice(p->text, start, p->at++);
    return true;
}

/* --- values ------------------------------------------------------------- */

static bool skip_digits(struct parser *p)
{
    size_t start = p->at;

    while (peek(p) >= '0' && peek(p) <= '9')
        p->at++;
    return p->at > start || fail_expected(p, "a digit");
}

static bool read_number(struct parser *p, struct str *out)
{
    size_t start = p->at;

    if (peek(p) == '-')
        p->at++;
    if (peek(p) == '0')
        p->at++;
    else if (!skip_digits(p))
        return false;
    if (peek(p) == '.') {
        p->at++;
        if (!skip_digits(p))
            return false;
    }
    if (peek(p) == 'e' || peek(p) == 'E') {
        p->at++;
        if (peek(p) == '+' || peek(p) == '-')
            p->at++;
        if (!skip_digits(p))
            return false;
    }
    *out = str_slice(p->text, start, p->at);
    return true;
}

/* Appends the value to the open collection, or makes it the root. */
static struct json *add_node(struct parser *p, struct json *j)
{
    struct frame *f = p->depth ? &p->frames[p->depth - 1] : NULL;

    if (!f) {
        p->root = j;
        return j;
    }
    if (f->last)
        f->last->next = j;
    else
        f->node->first = j;
    f->last = j;
    f->node->count++;
    f->after_value = true;
    f->after_comma = false;
    return j;
}

static bool open_frame(struct parser *p, struct json *j)
{
    unsigned max =
        p->options->max_depth ? p->options->max_depth : DEFAULT_MAX_DEPTH;

    if (p->depth >= max)
        return fail(p, ERR_LIMIT, "nested more than %u deep", max);
    p->frames = arena_grow(p->arena, p->frames, p->depth, &p->capacity,
                           sizeof *p->frames);
    add_node(p, j);
    p->frames[p->depth++] = (struct frame){.node = j};
    p->at++;
    return true;
}

static bool read_word(struct parser *p, struct json *j)
{
    static const struct {
        struct str word;
        enum json_kind kind;
    } words[] = {
        {STR_INIT("null"), JSON_NULL},
        {STR_INIT("true"), JSON_TRUE},
        {STR_INIT("false"), JSON_FALSE},
    };
    struct str rest = str_from_index(p->text, p->at);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_starts(rest, words[i].word)) {
            j->kind = words[i].kind;
            p->at += words[i].word.n;
            return true;
        }
    return fail_expected(p, "a value");
}

static bool read_scalar(struct parser *p, struct json *j, int c)
{
    if (c == '"') {
        j->kind = JSON_STRING;
        return read_string(p, &j->text);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        j->kind = JSON_NUMBER;
        return read_number(p, &j->text);
    }
    return read_word(p, j);
}

/* Reads a value; `j` may have a name already. */
static bool read_value(struct parser *p, struct json *j)
{
    int c = peek(p);

    p->nodes++;
    if (p->options->max_nodes && p->nodes > p->options->max_nodes)
        return fail(p, ERR_LIMIT, "more than %zu values",
                    p->options->max_nodes);
    j->line = p->line;
    j->start = p->at;
    if (c == '{' || c == '[') {
        j->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        return open_frame(p, j);
    }
    if (!read_scalar(p, j, c))
        return false;
    j->end = p->at;
    add_node(p, j);
    return true;
}

static bool frame_has_key(struct parser *p, struct frame *f, struct str key)
{
    const struct json *j;

    if (f->node->count < LINEAR_MAX) {
        for (j = f->node->first; j; j = j->next)
            if (str_eq(j->key, key))
                return true;
        return false;
    }
    if (!f->seen) {
        f->seen = arena_new(p->arena, struct map);
        map_init(f->seen, p->arena);
        for (j = f->node->first; j; j = j->next)
            map_put(f->seen, j->key, NULL);
    }
    return !map_put(f->seen, key, NULL);
}

/* Reads a name and the colon. */
static bool read_key(struct parser *p, struct frame *f, struct json *j)
{
    j->key_start = p->at;
    j->key_line = p->line;
    if (peek(p) != '"')
        return fail_expected(p, "a name in double quotes");
    if (!read_string(p, &j->key))
        return false;
    if (frame_has_key(p, f, j->key)) {
        p->at = j->key_start;
        return fail(p, ERR_FORMAT, "\"%.*s\" is given twice",
                    (int)(j->key.n < 100 ? j->key.n : 100), j->key.p);
    }
    if (!skip_space(p))
        return false;
    if (peek(p) != ':')
        return fail_expected(p, "':'");
    p->at++;
    return skip_space(p);
}

/* One step inside the innermost open array or object. */
static bool read_member(struct parser *p)
{
    struct frame *f = &p->frames[p->depth - 1];
    bool object = f->node->kind == JSON_OBJECT;
    int c = peek(p), end = object ? '}' : ']';
    bool may_end = !f->after_comma || p->options->trailing_commas;
    struct json *j;

    INVARIANT((f->node->first != NULL) == (f->last != NULL));
    INVARIANT(!(f->after_value && f->after_comma));
    if (c == end && may_end) {
        f->node->end = ++p->at;
        p->depth--;
        return true;
    }
    if (f->after_value) {
        if (c != ',')
            return fail_expected(p, object ? "',' or '}'" : "',' or ']'");
        p->at++;
        f->after_value = false;
        f->after_comma = true;
        return true;
    }
    j = arena_new(p->arena, struct json);
    if (object && !read_key(p, f, j))
        return false;
    return read_value(p, j);
}

static bool check_text(struct parser *p)
{
    struct str text = p->text;

    if (p->options->max_bytes && text.n > p->options->max_bytes)
        return fail(p, ERR_LIMIT, "larger than %zu bytes",
                    p->options->max_bytes);
    if (str_starts(text, STR("\xef\xbb\xbf")))
        return fail(p, ERR_FORMAT, "starts with a byte order mark");
    for (size_t at = 0, before = 0; at < text.n; before = at) {
        if ((unsigned char)text.p[at] < 0x80) {
            at++;
        } else if (text_next(text, &at) < 0) {
            while (p->at < before)
                next_char(p);
            return fail(p, ERR_FORMAT, "not UTF-8");
        }
    }
    return true;
}

static bool read_document(struct parser *p)
{
    if (!check_text(p) || !skip_space(p) ||
        !read_value(p, arena_new(p->arena, struct json)))
        return false;
    while (p->depth)
        if (!skip_space(p) || !read_member(p))
            return false;
    INVARIANT(p->root && p->root->end <= p->at);
    if (!skip_space(p))
        return false;
    return p->at == p->text.n || fail_expected(p, "the end");
}

bool json_parse(struct str text, const struct json_options *options,
                struct arena *a, const struct json **out, unsigned *line,
                struct err *e)
{
    unsigned error_line = 0;
    struct parser p = {
        .text = text.n ? text : STR(""),
        .line = 1,
        .options = options,
        .arena = a,
        .error_line = &error_line,
        .e = e,
    };

    if (!read_document(&p)) {
        if (line)
            *line = error_line;
        return false;
    }
    *out = p.root;
    return true;
}

/* --- looking ------------------------------------------------------------ */

const struct json *json_get_str(const struct json *j, struct str key)
{
    if (!j || j->kind != JSON_OBJECT)
        return NULL;
    for (const struct json *m = j->first; m; m = m->next)
        if (str_eq(m->key, key))
            return m;
    return NULL;
}

const struct json *json_get(const struct json *j, const char *key)
{
    return json_get_str(j, str_cstr(key));
}

bool json_is_true(const struct json *j)
{
    return j && j->kind == JSON_TRUE;
}

struct str json_text(const struct json *j)
{
    return j && j->kind == JSON_STRING ? j->text : (struct str){NULL, 0};
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",        [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",        [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string",  [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };

    return (size_t)kind < sizeof names / sizeof *names ? names[kind]
                                                       : "a value";
}
