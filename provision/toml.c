#include "toml.h"

#include "base/map.h"
#include "base/splice.h"
#include "base/text.h"
#include "base/toml_lex.h"
#include "mapm/limits.h"

struct region {
    size_t start, end;
};

struct regions {
    struct region *items;
    size_t count, capacity;
};

/* A search for the extent of a table and its sub-tables, in order. */
struct search {
    const struct toml_place *place;
    struct toml_lexer lexer;
    struct arena *arena;
    struct regions found, kept;
    bool has_main;
    bool inside;     /* within one of them */
    bool in_main;    /* under its own header */
    bool in_section; /* under [section] itself */
    bool in_other;   /* under any other header */
    /* list: state of the current element */
    bool in_element, is_named;
    size_t first_found, first_kept;
    unsigned line;
};

static void add(struct regions *r, struct arena *a, size_t start, size_t end)
{
    r->items =
        arena_grow(a, r->items, r->count, &r->capacity, sizeof *r->items);
    r->items[r->count++] = (struct region){start, end};
}

static bool fail(unsigned line, const char *what, struct str name,
                 struct err *e)
{
    return err_set(e, ERR_FORMAT, "line %u: \"%.*s\" is written as %s", line,
                   STR_ARG(name), what);
}

static bool fail_twice(const struct search *f, unsigned line, struct err *e)
{
    return err_set(e, ERR_FORMAT, "line %u: duplicate key \"%.*s\"", line,
                   STR_ARG(f->place->key));
}

static bool visit_header(struct search *f, const struct toml_statement *s,
                         struct err *e)
{
    bool ours = str_eq(s->key[0], f->place->section);

    f->in_section = ours && s->depth == 1;
    f->in_other = !f->in_section;
    f->inside = ours && s->depth >= 2 && str_eq(s->key[1], f->place->key);
    f->in_main = f->inside && s->depth == 2;
    if (ours && s->depth == 1 && s->kind == TOML_LIST)
        return fail(s->line, "a list of tables", f->place->section, e);
    if (!f->inside)
        return true;
    if (f->in_main && s->kind == TOML_LIST)
        return fail(s->line, "a list of tables", f->place->key, e);
    if (f->in_main && f->has_main)
        return fail_twice(f, s->line, e);
    f->has_main |= f->in_main;
    add(&f->found, f->arena, s->start, s->end);
    return true;
}

/* Discards an element with another name. */
static bool end_element(struct search *f, struct err *e)
{
    if (!f->in_element)
        return true;
    if (!f->is_named) {
        f->found.count = f->first_found;
        f->kept.count = f->first_kept;
        return true;
    }
    if (f->has_main)
        return fail_twice(f, f->line, e);
    f->has_main = true;
    return true;
}

static bool visit_list_header(struct search *f, const struct toml_statement *s,
                              struct err *e)
{
    bool ours = str_eq(s->key[0], f->place->section);

    f->in_other = true;
    f->inside = f->in_main = false;
    if (!ours)
        return true;
    if (s->depth == 1) {
        if (s->kind != TOML_LIST)
            return fail(s->line, "a table, not as a list of tables",
                        f->place->section, e);
        if (!end_element(f, e))
            return false;
        f->in_element = true;
        f->is_named = false;
        f->first_found = f->found.count;
        f->first_kept = f->kept.count;
        f->line = s->line;
        f->in_main = true;
    } else if (!f->in_element) {
        return fail(s->line, "a table, not as a list of tables",
                    f->place->section, e);
    }
    f->inside = true;
    add(&f->found, f->arena, s->start, s->end);
    return true;
}

static bool is_kept(const struct toml_place *p, const struct toml_statement *s)
{
    for (size_t i = 0; i < p->kept_count && p->kept[i]; i++)
        if (s->depth == 1 && str_is(s->key[0], p->kept[i]))
            return true;
    return false;
}

static bool visit_pair(struct search *f, const struct toml_statement *s,
                       struct err *e)
{
    const struct toml_place *p = f->place;
    struct str name;

    if (f->inside && f->found.count)
        f->found.items[f->found.count - 1].end = s->end;
    if (f->in_main && is_kept(p, s))
        add(&f->kept, f->arena, s->start, s->end);
    if (f->in_main && p->name && s->depth == 1 && str_is(s->key[0], p->name))
        f->is_named |=
            toml_value_text(&f->lexer, s->value, &name) && str_eq(name, p->key);
    if (!p->name && f->in_section && str_eq(s->key[0], p->key))
        return fail(s->line, "a key, not as a table", p->key, e);
    if (f->in_section || f->in_other || !str_eq(s->key[0], p->section))
        return true;
    if (s->depth == 1 || p->name)
        return fail(s->line, "a key, not as a table", p->section, e);
    if (str_eq(s->key[1], p->key))
        return fail(s->line, "a key, not as a table", p->key, e);
    return true;
}

static bool check_text(struct str text, struct err *e)
{
    if (!text_is_utf8(text))
        return err_set(e, ERR_FORMAT, "is not UTF-8");
    return text.n <= CLIENT_FILE_MAX_BYTES ||
           err_set(e, ERR_LIMIT, "is larger than %u bytes",
                   CLIENT_FILE_MAX_BYTES);
}

/* --- duplicate keys --------------------------------------------------------- */

enum name_kind {
    NAME_PAIR = 1,
    NAME_TABLE,
    NAME_LIST,
    NAME_IMPLIED, /* a table by the header of one below it: [y] may follow */
    NAME_DOTTED,  /* a table by a dotted key: no header may follow */
};

struct name {
    enum name_kind kind;
    size_t count; /* LIST: elements so far */
};

static struct name *put_name(struct map_entry *entry, enum name_kind kind,
                             struct arena *a)
{
    struct name *n = entry->value;

    if (!n)
        entry->value = n = arena_new(a, struct name);
    n->kind = kind;
    n->count++;
    return n;
}

/* Records an intermediate table; a dotted key may only pass through tables that
 * it defines. */
static bool pass(struct map *names, struct str path, bool is_pair,
                 const struct name **out)
{
    const struct name *n = map_find(names, path);

    if (!n)
        n = put_name(map_entry(names, arena_str(names->arena, path)),
                     is_pair ? NAME_DOTTED : NAME_IMPLIED, names->arena);
    *out = n;
    return is_pair ? n->kind == NAME_DOTTED : n->kind != NAME_PAIR;
}

/* Resolves `path` below `table`, with the index of the element after each
 * list. */
static bool resolve(struct map *names, struct str table, struct str path,
                    bool is_pair, struct str *out)
{
    CLEANUP(buf_done) struct buf all = {0};

    buf_init(&all, SIZE_MAX / 2);
    buf_append(&all, table);
    while (path.n) {
        size_t end = str_find(path, STR(TOML_PART_END)) + 1;
        const struct name *n;

        buf_append(&all, str_slice(path, 0, end));
        path = str_from_index(path, end);
        if (path.n == 0)
            break;
        if (!pass(names, buf_str(&all), is_pair, &n))
            return false;
        if (n->kind == NAME_LIST)
            buf_printf(&all, "%zu" TOML_PART_END, n->count);
    }
    *out = arena_str(names->arena, buf_str(&all));
    return true;
}

static bool may_follow(enum toml_kind kind, const struct name *before)
{
    return !before || (kind == TOML_LIST && before->kind == NAME_LIST) ||
           (kind == TOML_TABLE && before->kind == NAME_IMPLIED);
}

static bool add_name(struct map *names, const struct toml_statement *s,
                     struct str *table)
{
    static const enum name_kind kinds[] = {[TOML_TABLE] = NAME_TABLE,
                                           [TOML_LIST] = NAME_LIST,
                                           [TOML_PAIR] = NAME_PAIR};
    bool is_pair = s->kind == TOML_PAIR;
    struct map_entry *entry;
    struct name *n;
    struct str path;

    if (!resolve(names, is_pair ? *table : STR(""), s->path, is_pair, &path))
        return false;
    entry = map_entry(names, path);
    if (!may_follow(s->kind, entry->value))
        return false;
    n = put_name(entry, kinds[s->kind], names->arena);
    if (!is_pair)
        *table = n->kind == NAME_LIST
                     ? arena_printf(names->arena, "%.*s%zu" TOML_PART_END,
                                    STR_ARG(path), n->count)
                     : path;
    return true;
}

bool toml_check(struct str text, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct toml_lexer l;
    struct toml_statement s;
    struct str table = STR("");
    struct map names;
    bool more;

    if (!check_text(text, e))
        return false;
    map_init(&names, &a);
    toml_lex_init(&l, text, &a);
    for (;;) {
        if (!toml_lex_next(&l, &s, &more, e))
            return false;
        if (!more)
            return true;
        if (!add_name(&names, &s, &table))
            return err_set(e, ERR_FORMAT, "line %u: duplicate key \"%.*s\"",
                           s.line, STR_ARG(s.key[s.depth > 1]));
    }
}

/* --- the table --------------------------------------------------------------- */

static bool search(struct search *f, struct str text, struct err *e)
{
    struct toml_statement s;
    bool more, ok;

    if (!check_text(text, e))
        return false;
    toml_lex_init(&f->lexer, text, f->arena);
    for (;;) {
        if (!toml_lex_next(&f->lexer, &s, &more, e))
            return false;
        if (!more)
            return !f->place->name || end_element(f, e);
        if (s.kind == TOML_PAIR)
            ok = visit_pair(f, &s, e);
        else
            ok = f->place->name ? visit_list_header(f, &s, e)
                                : visit_header(f, &s, e);
        if (!ok)
            return false;
    }
}

bool toml_find(struct str text, const struct toml_place *place, struct arena *a,
               struct str *out, struct err *e)
{
    struct search f = {.place = place, .arena = a};
    CLEANUP(buf_done) struct buf b = {0};
    size_t kept = 0;

    if (!search(&f, text, e))
        return false;
    *out = (struct str){0};
    if (!f.found.count)
        return true;
    buf_init(&b, CLIENT_FILE_MAX_BYTES);
    for (size_t i = 0; i < f.found.count; i++) {
        struct region r = f.found.items[i];

        for (; kept < f.kept.count && f.kept.items[kept].start < r.end;
             kept++) {
            buf_append(&b, str_slice(text, r.start, f.kept.items[kept].start));
            r.start = f.kept.items[kept].end;
        }
        buf_append(&b, str_slice(text, r.start, r.end));
    }
    *out = arena_str(a, buf_str(&b));
    return true;
}

/* --- editing --------------------------------------------------------------- */

static bool is_open(struct str text)
{
    return text.n && text.p[text.n - 1] != '\n';
}

static void put_lines(struct buf *out, struct str text, struct str newline)
{
    struct str line;

    text = str_trim(text);
    while (str_line(&text, &line)) {
        buf_append(out, line);
        buf_append(out, newline);
    }
}

/* Appends a new table after an empty line; toml_remove() undoes exactly
 * this. */
static void put_last(struct buf *out, struct str text, struct str lines)
{
    struct str newline = text_line_end(text);

    buf_append(out, text);
    if (is_open(text)) {
        buf_append(out, newline);
        lines.n -= newline.n;
    }
    if (text.n)
        buf_append(out, newline);
    buf_append(out, lines);
}

bool toml_put(struct str text, const struct toml_place *place, struct str table,
              struct arena *a, struct str *out, struct err *e)
{
    struct search f = {.place = place, .arena = a};
    struct splices splices = {.arena = a};
    CLEANUP(buf_done) struct buf b = {0}, lines = {0};
    struct str newline = text_line_end(text), last;

    if (!search(&f, text, e))
        return false;
    buf_init(&b, CLIENT_FILE_MAX_BYTES);
    buf_init(&lines, CLIENT_FILE_MAX_BYTES);
    put_lines(&lines, table, newline);
    for (size_t i = 0; i < f.kept.count; i++)
        put_lines(&lines,
                  str_slice(text, f.kept.items[i].start, f.kept.items[i].end),
                  newline);
    last = buf_str(&lines);
    if (f.found.count == 1 && f.found.items[0].end == text.n && is_open(text))
        last.n -= newline.n;
    for (size_t i = 0; i < f.found.count; i++)
        splice_add(&splices, f.found.items[i].start, f.found.items[i].end,
                   i ? STR("") : last);
    if (f.found.count)
        splice_apply(&splices, text, &b);
    else
        put_last(&b, text, buf_str(&lines));
    if (!buf_check(&lines, "the file", e) || !buf_check(&b, "the file", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}

/* Returns the text without its final line break. */
static struct str cut_newline(struct str text)
{
    if (str_ends(text, STR("\r\n")))
        return str_slice(text, 0, text.n - 2);
    return str_ends(text, STR("\n")) ? str_slice(text, 0, text.n - 1) : text;
}

/* Removes the empty line before a table with it if another empty line or
 * nothing follows. */
static size_t start_without_gap(struct str text, const struct region *r)
{
    struct str before = str_slice(text, 0, r->start);
    struct str after = str_from_index(text, r->end);

    if (after.n && after.p[0] != '\n' && after.p[0] != '\r')
        return r->start;
    if (str_ends(before, STR("\n\n")) || str_ends(before, STR("\n\r\n")))
        before = cut_newline(before);
    if (!after.n && is_open(text))
        before = cut_newline(before);
    return before.n;
}

bool toml_remove(struct str text, const struct toml_place *place,
                 struct arena *a, struct str *out, struct err *e)
{
    struct search f = {.place = place, .arena = a};
    struct splices splices = {.arena = a};
    CLEANUP(buf_done) struct buf b = {0};

    if (!search(&f, text, e))
        return false;
    buf_init(&b, CLIENT_FILE_MAX_BYTES);
    for (size_t i = 0; i < f.found.count; i++)
        splice_add(&splices, start_without_gap(text, &f.found.items[i]),
                   f.found.items[i].end, STR(""));
    splice_apply(&splices, text, &b);
    if (!buf_check(&b, "the file", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}

/* --- what is not ours ------------------------------------------------------ */

/* State of the hash of other statements. */
struct digest {
    const struct toml_place *place;
    const struct map *keys;
    struct toml_lexer lexer;
    struct hash_state all;
    struct buf table;
    bool is_ours;
    bool in_element, element_is_ours; /* list: state of the current element */
};

static void end_table(struct digest *d)
{
    if (!d->is_ours)
        hash_add(&d->all, buf_str(&d->table));
    buf_clear(&d->table);
    d->is_ours = false;
}

static void visit(struct digest *d, struct str text,
                  const struct toml_statement *s)
{
    const struct toml_place *p = d->place;
    bool of_section = s->kind != TOML_PAIR && str_eq(s->key[0], p->section);
    struct str name;

    if (s->kind != TOML_PAIR) {
        end_table(d);
        d->in_element = p->name && of_section && s->depth == 1;
        d->element_is_ours &= !d->in_element;
    }
    if (!p->name && of_section && s->depth > 1)
        d->is_ours = map_has(d->keys, s->key[1]);
    /* a sub-table belongs to the last element of the list before it */
    if (p->name && of_section && s->depth > 1)
        d->is_ours = d->element_is_ours;
    if (d->in_element && s->kind == TOML_PAIR && s->depth == 1 &&
        str_is(s->key[0], p->name) &&
        toml_value_text(&d->lexer, s->value, &name) && map_has(d->keys, name))
        d->is_ours = d->element_is_ours = true;
    buf_append(&d->table, str_trim(str_slice(text, s->start, s->end)));
    buf_char(&d->table, '\n');
}

bool toml_hash_others(struct str text, const struct toml_place *place,
                      const struct map *keys, struct hash *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct digest d = {.place = place, .keys = keys};
    struct toml_statement s;
    bool more = true, ok = check_text(text, e);

    buf_init(&d.table, CLIENT_FILE_MAX_BYTES);
    hash_init(&d.all);
    toml_lex_init(&d.lexer, text, &a);
    while (ok && more) {
        ok = toml_lex_next(&d.lexer, &s, &more, e);
        if (ok && more)
            visit(&d, text, &s);
    }
    end_table(&d);
    ok = ok && buf_check(&d.table, "the file", e);
    buf_done(&d.table);
    *out = hash_end(&d.all);
    return ok;
}
