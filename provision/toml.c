#include "toml.h"

#include "base/splice.h"
#include "base/text.h"
#include "base/toml_lex.h"
#include "mapm/limits.h"

struct region {
    size_t start, end;
};

/* The extent of the table: itself and its sub-tables, in order. */
struct search {
    struct str section, key;
    struct arena *arena;
    struct region *regions;
    size_t count, capacity;
    bool has_main;
    bool inside;     /* of one of them */
    bool in_section; /* under [section] itself */
    bool in_other;   /* under any other header */
};

static bool fail(const struct toml_statement *s, const char *what,
                 struct str name, struct err *e)
{
    return err_set(e, ERR_FORMAT, "line %u: \"%.*s\" is written as %s", s->line,
                   STR_ARG(name), what);
}

static bool visit_header(struct search *f, const struct toml_statement *s,
                         struct err *e)
{
    bool ours = str_eq(s->key[0], f->section);

    f->in_section = ours && s->depth == 1;
    f->in_other = !f->in_section;
    f->inside = ours && s->depth >= 2 && str_eq(s->key[1], f->key);
    if (ours && s->depth == 1 && s->kind == TOML_LIST)
        return fail(s, "a list of tables", f->section, e);
    if (!f->inside)
        return true;
    if (s->depth == 2 && s->kind == TOML_LIST)
        return fail(s, "a list of tables", f->key, e);
    if (s->depth == 2 && f->has_main)
        return err_set(e, ERR_FORMAT, "line %u: \"%.*s\" is there twice",
                       s->line, STR_ARG(f->key));
    f->has_main |= s->depth == 2;
    f->regions = arena_grow(f->arena, f->regions, f->count, &f->capacity,
                            sizeof *f->regions);
    f->regions[f->count++] = (struct region){s->start, s->end};
    return true;
}

static bool visit_pair(struct search *f, const struct toml_statement *s,
                       struct err *e)
{
    if (f->inside && f->count)
        f->regions[f->count - 1].end = s->end;
    if (f->in_section && str_eq(s->key[0], f->key))
        return fail(s, "a key, not as a table", f->key, e);
    if (f->in_section || f->in_other || !str_eq(s->key[0], f->section))
        return true;
    if (s->depth == 1)
        return fail(s, "a key, not as a table", f->section, e);
    if (str_eq(s->key[1], f->key))
        return fail(s, "a key, not as a table", f->key, e);
    return true;
}

static bool search(struct search *f, struct str text, struct err *e)
{
    struct toml_lexer l;
    struct toml_statement s;
    bool more;

    if (!text_is_utf8(text))
        return err_set(e, ERR_FORMAT, "is not UTF-8");
    if (text.n > CLIENT_FILE_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "is larger than %u bytes",
                       CLIENT_FILE_MAX_BYTES);
    toml_lex_init(&l, text, f->arena);
    for (;;) {
        if (!toml_lex_next(&l, &s, &more, e))
            return false;
        if (!more)
            return true;
        if (s.kind == TOML_PAIR ? !visit_pair(f, &s, e)
                                : !visit_header(f, &s, e))
            return false;
    }
}

bool toml_find(struct str text, struct str section, struct str key,
               struct arena *a, struct str *out, struct err *e)
{
    struct search f = {.section = section, .key = key, .arena = a};

    if (!search(&f, text, e))
        return false;
    *out = (struct str){0};
    for (size_t i = 0; i < f.count; i++)
        *out = str_join(
            *out, str_slice(text, f.regions[i].start, f.regions[i].end), a);
    return true;
}

static bool has_crlf(struct str text)
{
    size_t at = str_find_char(text, '\n');

    return at != SIZE_MAX && at > 0 && text.p[at - 1] == '\r';
}

static void put_lines(struct buf *out, struct str text, bool crlf)
{
    struct str line;

    text = str_trim(text);
    while (str_line(&text, &line)) {
        buf_append(out, line);
        buf_text(out, crlf ? "\r\n" : "\n");
    }
}

/* A new table goes last, after an empty line. */
static void put_last(struct buf *out, struct str text, struct str lines)
{
    bool crlf = has_crlf(text);
    const char *newline = crlf ? "\r\n" : "\n";
    struct str empty = crlf ? STR("\n\r\n") : STR("\n\n");

    buf_append(out, text);
    if (text.n && text.p[text.n - 1] != '\n')
        buf_text(out, newline);
    if (text.n && !str_ends(text, empty))
        buf_text(out, newline);
    buf_append(out, lines);
}

bool toml_put(struct str text, struct str section, struct str key,
              struct str table, struct arena *a, struct str *out, struct err *e)
{
    struct search f = {.section = section, .key = key, .arena = a};
    struct splices splices = {.arena = a};
    CLEANUP(buf_done) struct buf b = {0}, lines = {0};

    if (!search(&f, text, e))
        return false;
    buf_init(&b, CLIENT_FILE_MAX_BYTES);
    buf_init(&lines, CLIENT_FILE_MAX_BYTES);
    put_lines(&lines, table, has_crlf(text));
    for (size_t i = 0; i < f.count; i++)
        splice_add(&splices, f.regions[i].start, f.regions[i].end,
                   i ? STR("") : buf_str(&lines));
    if (f.count)
        splice_apply(&splices, text, &b);
    else
        put_last(&b, text, buf_str(&lines));
    if (!buf_check(&lines, "the file", e) || !buf_check(&b, "the file", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}

/* The empty line that was put before a table goes with it, when the table is
 * followed by another empty line or by nothing. */
static size_t start_without_gap(struct str text, const struct region *r)
{
    struct str before = str_slice(text, 0, r->start);
    struct str after = str_from_index(text, r->end);

    if (after.n && after.p[0] != '\n' && after.p[0] != '\r')
        return r->start;
    if (str_ends(before, STR("\n\n")))
        return r->start - 1;
    return str_ends(before, STR("\n\r\n")) ? r->start - 2 : r->start;
}

bool toml_remove(struct str text, struct str section, struct str key,
                 struct arena *a, struct str *out, struct err *e)
{
    struct search f = {.section = section, .key = key, .arena = a};
    struct splices splices = {.arena = a};
    CLEANUP(buf_done) struct buf b = {0};

    if (!search(&f, text, e))
        return false;
    buf_init(&b, CLIENT_FILE_MAX_BYTES);
    for (size_t i = 0; i < f.count; i++)
        splice_add(&splices, start_without_gap(text, &f.regions[i]),
                   f.regions[i].end, STR(""));
    splice_apply(&splices, text, &b);
    if (!buf_check(&b, "the file", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}
