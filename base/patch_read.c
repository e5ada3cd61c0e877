#include "base/fs.h"
#include "base/map.h"
#include "base/patch.h"
#include "base/text.h"

#define LINE_MAX_NUMBER 100000000u /* more lines than a file can have */

/* --- reading ---------------------------------------------------------------- */

struct reader {
    struct str rest;
    const char *name;
    unsigned line; /* number of `head`, the current line */
    struct str head;
    bool is_end;
    struct arena *arena;
    struct map paths;
    struct patch_change *changes;
    size_t count, capacity;
};

static bool fail(const struct reader *r, struct err *e, const char *what)
{
    return err_set(e, ERR_FORMAT, "%s:%u: %s", r->name, r->line, what);
}

static void next_line(struct reader *r)
{
    size_t end = str_find_char(r->rest, '\n');

    r->line++;
    r->is_end = end == SIZE_MAX;
    if (r->is_end)
        return;
    r->head = str_slice(r->rest, 0, end);
    r->rest = str_from_index(r->rest, end + 1);
}

static bool begins(const struct reader *r, const char *text)
{
    return !r->is_end && str_starts(r->head, str_cstr(text));
}

/* Gets the rest of the current line after `text`. */
static bool take(struct reader *r, const char *text, struct str *rest)
{
    if (!begins(r, text))
        return false;
    *rest = str_from_index(r->head, str_cstr(text).n);
    return true;
}

/* --- names ------------------------------------------------------------------ */

static bool is_octal(struct str s)
{
    if (s.n != 3 || s.p[0] < '2' || s.p[0] > '3')
        return false;
    return s.p[1] >= '0' && s.p[1] <= '7' && s.p[2] >= '0' && s.p[2] <= '7';
}

/* Decodes the escapes of git that a valid name can contain. */
static bool unquote(struct str quoted, struct arena *a, struct str *out)
{
    CLEANUP(buf_done) struct buf b;

    buf_init(&b, quoted.n + 1);
    for (size_t i = 0; i < quoted.n; i++) {
        struct str octal = str_slice(quoted, i + 1, i + 4);

        if (quoted.p[i] == '"')
            return false;
        if (quoted.p[i] != '\\') {
            buf_char(&b, quoted.p[i]);
        } else if (is_octal(octal)) {
            buf_char(&b, (char)((octal.p[0] - '0') << 6 |
                                (octal.p[1] - '0') << 3 | (octal.p[2] - '0')));
            i += 3;
        } else if (++i < quoted.n &&
                   (quoted.p[i] == '"' || quoted.p[i] == '\\')) {
            buf_char(&b, quoted.p[i]);
        } else {
            return false;
        }
    }
    *out = arena_str(a, buf_str(&b));
    return true;
}

/* Reads "a/PATH", possibly quoted, and removes the prefix. */
static bool read_name(struct reader *r, struct str text, const char *prefix,
                      struct str *path, struct err *e)
{
    if (text.n >= 2 && text.p[0] == '"' && text.p[text.n - 1] == '"' &&
        !unquote(str_slice(text, 1, text.n - 1), r->arena, &text))
        return fail(r, e, "a name that is not quoted as git does");
    if (!str_starts(text, str_cstr(prefix)))
        return fail(r, e, "names begin with a/ and b/");
    *path = str_from_index(text, 2);
    if (!text_is_utf8(*path) || text_has_control(*path))
        return fail(r, e, "a name that is not printable UTF-8");
    if (fs_path_is_relative_clean(*path))
        return true;
    return err_set(e, ERR_REFUSED, "%s:%u: the path leads out of its folder",
                   r->name, r->line);
}

/* Reads "diff --git a/PATH b/PATH": both names are equal, so both halves have
 * the same length. */
static bool read_header(struct reader *r, struct str *path, struct err *e)
{
    struct str names, after;
    size_t half;

    if (!take(r, "diff --git ", &names))
        return fail(r, e, "no \"diff --git\" line");
    half = names.n / 2;
    if (names.n % 2 == 0 || names.p[half] != ' ')
        return fail(r, e, "a file keeps its name in a patch");
    if (!read_name(r, str_slice(names, 0, half), "a/", path, e) ||
        !read_name(r, str_from_index(names, half + 1), "b/", &after, e))
        return false;
    if (!str_eq(*path, after))
        return fail(r, e, "a file keeps its name in a patch");
    if (!map_put(&r->paths, *path, r))
        return fail(r, e, "the same file twice");
    next_line(r);
    return true;
}

/* --- what happens to the file ----------------------------------------------- */

static bool is_index(struct str text)
{
    size_t dots = str_find(text, STR(".."));

    if (dots == SIZE_MAX || dots < 4 || text.n > 2 * 64 + 2 + 7)
        return false;
    if (str_ends(text, STR(" 100644")) || str_ends(text, STR(" 100755")))
        text.n -= 7;
    for (size_t i = 0; i < text.n; i++)
        if (i != dots && i != dots + 1 && !char_is_hex(text.p[i]))
            return false;
    return text.n > dots + 2;
}

static bool read_kind(struct reader *r, struct patch_change *c, struct err *e)
{
    struct str rest;

    c->is_new = take(r, "new file mode ", &rest);
    c->is_gone = !c->is_new && take(r, "deleted file mode ", &rest);
    if (c->is_new || c->is_gone) {
        if (!str_is(rest, "100644") && !(c->is_gone && str_is(rest, "100755")))
            return fail(r, e, "only plain files come and go by a patch");
        next_line(r);
    }
    if (take(r, "index ", &rest)) {
        if (!is_index(rest))
            return fail(r, e, "an \"index\" line that git did not write");
        next_line(r);
    }
    return true;
}

/* Reads "--- a/PATH", with a tab after a name with blanks. */
static bool read_side(struct reader *r, const char *sign, const char *prefix,
                      struct str path, bool is_there, struct err *e)
{
    struct str text, found;

    if (!take(r, sign, &text))
        return fail(r, e, "the names of both sides are missing");
    if (!is_there) {
        if (!str_is(text, "/dev/null"))
            return fail(r, e, "/dev/null stands for a file that is not there");
    } else {
        if (str_ends(text, STR("\t")))
            text.n--;
        if (!read_name(r, text, prefix, &found, e))
            return false;
        if (!str_eq(found, path))
            return fail(r, e, "a file keeps its name in a patch");
    }
    next_line(r);
    return true;
}

/* --- hunks ------------------------------------------------------------------ */

/* Reads "-12,3": the number of lines before the hunk, and of its lines. */
static bool read_range(struct str *text, char sign, size_t *front,
                       size_t *count)
{
    struct str range, first;
    uint64_t number = 0, lines = 1;

    if (!str_cut(text, ' ', &range) || range.n < 2 || range.p[0] != sign)
        return false;
    range = str_from_index(range, 1);
    if (!str_cut(&range, ',', &first) ||
        !str_number(first, LINE_MAX_NUMBER, &number) ||
        (range.n && !str_number(range, LINE_MAX_NUMBER, &lines)) ||
        (lines && number == 0))
        return false;
    *front = (size_t)(lines ? number - 1 : number);
    *count = (size_t)lines;
    return true;
}

/* Reads the marker of a last line without LF, which must be the last
 * line of its side. */
static bool read_bare(struct reader *r, struct patch_line *last, size_t before,
                      size_t after, struct err *e)
{
    if (!begins(r, "\\ "))
        return true;
    if ((last->sign != '+' && before) || (last->sign != '-' && after))
        return fail(r, e, "lines follow one without an end");
    last->bare = true;
    next_line(r);
    return true;
}

/* Reads the lines of a hunk: `before` of one side, `after` of the other. */
static bool read_lines(struct reader *r, size_t before, size_t after,
                       struct patch_hunk *h, struct err *e)
{
    struct patch_line *lines = NULL;
    size_t capacity = 0, changes = 0;

    while (before || after) {
        char sign = r->is_end || r->head.n == 0 ? '\0' : r->head.p[0];

        if ((sign != ' ' && sign != '-' && sign != '+') ||
            (sign != '+' && !before) || (sign != '-' && !after))
            return fail(r, e, "a hunk has other lines than its header says");
        before -= sign != '+';
        after -= sign != '-';
        changes += sign != ' ';
        lines = arena_grow(r->arena, lines, h->count, &capacity, sizeof *lines);
        lines[h->count++] = (struct patch_line){
            .sign = sign, .text = str_from_index(r->head, 1)};
        next_line(r);
        if (!read_bare(r, &lines[h->count - 1], before, after, e))
            return false;
    }
    h->lines = lines;
    return changes || fail(r, e, "a hunk that changes nothing");
}

static bool read_hunk(struct reader *r, struct patch_hunk *h, size_t *before,
                      size_t *after, struct err *e)
{
    struct str text;

    *h = (struct patch_hunk){.line = r->line};
    if (!take(r, "@@ ", &text) || !read_range(&text, '-', &h->before, before) ||
        !read_range(&text, '+', &h->after, after) ||
        (!str_is(text, "@@") && !str_starts(text, STR("@@ "))))
        return fail(r, e, "not \"@@ -1,2 +1,3 @@\"");
    next_line(r);
    return read_lines(r, *before, *after, h, e);
}

/* Reads the hunks, which must be in order, with the same number of lines
 * between them on both sides. */
static bool read_hunks(struct reader *r, struct patch_change *c, struct err *e)
{
    size_t capacity = 0, x = 0, y = 0; /* lines read so far, of both sides */
    struct patch_hunk *hunks = NULL;

    while (begins(r, "@@")) {
        size_t before, after;
        struct patch_hunk *h;

        hunks = arena_grow(r->arena, hunks, c->count, &capacity, sizeof *hunks);
        h = &hunks[c->count++];
        if (!read_hunk(r, h, &before, &after, e))
            return false;
        if (h->before < x || h->after < y || h->before - x != h->after - y)
            return err_set(e, ERR_FORMAT,
                           "%s:%u: its lines do not follow the previous hunk",
                           r->name, h->line);
        x = h->before + before;
        y = h->after + after;
        if ((c->is_new && x) || (c->is_gone && y))
            return err_set(e, ERR_FORMAT,
                           "%s:%u: lines of a file that does not exist",
                           r->name, h->line);
    }
    c->hunks = hunks;
    return true;
}

static bool read_change(struct reader *r, struct err *e)
{
    struct patch_change c = {0};

    if (r->count == PATCH_MAX_FILES)
        return err_set(e, ERR_LIMIT, "%s: more than %d files", r->name,
                       PATCH_MAX_FILES);
    if (!read_header(r, &c.path, e) || !read_kind(r, &c, e))
        return false;
    if (begins(r, "--- ") &&
        (!read_side(r, "--- ", "a/", c.path, !c.is_new, e) ||
         !read_side(r, "+++ ", "b/", c.path, !c.is_gone, e) ||
         !read_hunks(r, &c, e)))
        return false;
    if (c.count == 0 && !c.is_new && !c.is_gone)
        return fail(r, e, "a file that does not change as text");
    r->changes = arena_grow(r->arena, r->changes, r->count, &r->capacity,
                            sizeof *r->changes);
    r->changes[r->count++] = c;
    return true;
}

bool patch_parse(struct str text, const char *name, struct arena *a,
                 struct patch *out, struct err *e)
{
    struct reader r = {.rest = text, .name = name, .arena = a};

    if (text.n > PATCH_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%s: more than %u bytes", name,
                       PATCH_MAX_BYTES);
    map_init(&r.paths, a);
    next_line(&r);
    while (!r.is_end)
        if (!read_change(&r, e))
            return false;
    if (r.rest.n)
        return fail(&r, e, "the last line has no end");
    *out = (struct patch){r.changes, r.count};
    return true;
}

/* --- applying --------------------------------------------------------------- */

/* Reader of the original file, line by line. */
struct source {
    struct str rest;
    size_t line; /* lines read so far */
};

static bool take_line(struct source *s, struct patch_line *out)
{
    size_t end = str_find_char(s->rest, '\n');

    if (s->rest.n == 0)
        return false;
    out->bare = end == SIZE_MAX;
    out->text = str_slice(s->rest, 0, out->bare ? s->rest.n : end);
    s->rest = str_from_index(s->rest, out->bare ? s->rest.n : end + 1);
    s->line++;
    return true;
}

/* Appends a line; returns false after a line without LF, which must
 * be the last. */
static bool put_line(struct buf *b, const struct patch_line *line)
{
    if (b->n && b->p[b->n - 1] != '\n')
        return false;
    buf_append(b, line->text);
    if (!line->bare)
        buf_char(b, '\n');
    return true;
}

static bool differs(const struct patch_change *c, size_t line, struct err *e)
{
    return err_set(e, ERR_PATCH, "%.*s:%zu differs from the line in the patch",
                   STR_ARG(c->path), line);
}

static bool name_hunk(const struct patch_change *c, size_t k, struct err *e)
{
    return err_wrap(e, "hunk %zu of %.*s, line %u of the patch", k + 1,
                    STR_ARG(c->path), c->hunks[k].line);
}

static bool apply_hunk(const struct patch_change *c, const struct patch_hunk *h,
                       struct source *s, struct buf *b, struct err *e)
{
    struct patch_line found;

    while (s->line < h->before) {
        if (!take_line(s, &found) || !put_line(b, &found))
            return differs(c, s->line + 1, e);
    }
    for (size_t i = 0; i < h->count; i++) {
        const struct patch_line *line = &h->lines[i];

        if (line->sign != '+' &&
            (!take_line(s, &found) || found.bare != line->bare ||
             !str_eq(found.text, line->text)))
            return differs(c, s->line, e);
        if (line->sign != '-' && !put_line(b, line))
            return differs(c, s->line, e);
    }
    return true;
}

/* Returns whether the last added line has no LF, so that it must be the
 * end of the file. */
static bool ends_bare(const struct patch_change *c)
{
    const struct patch_hunk *h = c->count ? &c->hunks[c->count - 1] : NULL;

    for (size_t i = 0; h && i < h->count; i++)
        if (h->lines[i].bare && h->lines[i].sign != '-')
            return true;
    return false;
}

/* Returns whether a hunk before the last one has a line without LF. */
static bool ends_early(const struct patch_change *c)
{
    for (size_t k = 0; k + 1 < c->count; k++)
        for (size_t i = 0; i < c->hunks[k].count; i++)
            if (c->hunks[k].lines[i].bare)
                return true;
    return false;
}

bool patch_apply(const struct patch_change *c, struct str before,
                 struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b;
    struct source s = {.rest = before};

    buf_init(&b, PATCH_FILE_MAX_BYTES);
    for (size_t k = 0; k < c->count; k++)
        if (!apply_hunk(c, &c->hunks[k], &s, &b, e))
            return name_hunk(c, k, e);
    if (s.rest.n && (c->is_gone || c->is_new || ends_bare(c)))
        return differs(c, s.line + 1, e);
    if (ends_early(c))
        return differs(c, s.line, e);
    buf_append(&b, s.rest);
    if (!buf_check(&b, "a patched file", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}
