#include "base/patch.h"

#include "base/diff.h"

#include <string.h>
#include <sys/stat.h>

#define BINARY_LOOK_BYTES 8000 /* git's buffer_is_binary */

static bool is_binary(const struct patch_side *s)
{
    size_t n = s->text.n < BINARY_LOOK_BYTES ? s->text.n : BINARY_LOOK_BYTES;

    return s->mode && (s->is_opaque || (n && memchr(s->text.p, 0, n)));
}

bool patch_is_binary(const struct patch_file *f)
{
    return is_binary(&f->before) || is_binary(&f->after);
}

static bool is_special(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f || c == '"' || c == '\\';
}

/* Quotes a name like git, but keeps bytes beyond ASCII readable. */
static void put_name(struct buf *out, const char *prefix, struct str path)
{
    bool quoted = false;

    for (size_t i = 0; i < path.n; i++)
        quoted |= is_special(path.p[i]);
    buf_text(out, quoted ? "\"" : "");
    buf_text(out, prefix);
    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i];

        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (is_special(c))
            buf_printf(out, "\\%03o", (unsigned char)c);
        else
            buf_char(out, c);
    }
    buf_text(out, quoted ? "\"" : "");
}

static void put_side(struct buf *out, const char *prefix, struct str path,
                     const struct patch_side *s)
{
    if (s->mode)
        put_name(out, prefix, path);
    else
        buf_text(out, "/dev/null");
}

/* Names with blanks end with a tab, so that patch(1) does not mistake a
 * part for a date. */
static void put_name_line(struct buf *out, const char *sign, const char *prefix,
                          struct str path, const struct patch_side *s)
{
    buf_text(out, sign);
    put_side(out, prefix, path, s);
    buf_text(out, s->mode && str_has_char(path, ' ') ? "\t\n" : "\n");
}

static void put_header(struct buf *out, const struct patch_file *f)
{
    buf_text(out, "diff --git ");
    put_name(out, "a/", f->path);
    buf_char(out, ' ');
    put_name(out, "b/", f->path);
    buf_char(out, '\n');
    if (!f->before.mode)
        buf_printf(out, "new file mode %06o\n", f->after.mode);
    else if (!f->after.mode)
        buf_printf(out, "deleted file mode %06o\n", f->before.mode);
    else if (f->before.mode != f->after.mode)
        buf_printf(out, "old mode %06o\nnew mode %06o\n", f->before.mode,
                   f->after.mode);
}

static void put_binary(struct buf *out, const struct patch_file *f)
{
    buf_text(out, "Binary files ");
    put_side(out, "a/", f->path, &f->before);
    buf_text(out, " and ");
    put_side(out, "b/", f->path, &f->after);
    buf_text(out, " differ\n");
}

static void put_hunks(struct buf *out, const struct patch_file *f)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct diff d;

    put_name_line(out, "--- ", "a/", f->path, &f->before);
    put_name_line(out, "+++ ", "b/", f->path, &f->after);
    diff_lines(f->before.text, f->after.text, &scratch, &d);
    diff_format(&d, PATCH_CONTEXT_LINES, out);
}

void patch_format(const struct patch_file *f, struct buf *out)
{
    bool binary = patch_is_binary(f);
    bool same = !f->before.is_opaque && !f->after.is_opaque &&
                str_eq(f->before.text, f->after.text);

    if (f->before.mode && f->after.mode &&
        S_ISLNK(f->before.mode) != S_ISLNK(f->after.mode)) {
        /* For git, a file that becomes a link is deleted and added. */
        struct patch_file gone = *f, fresh = *f;

        gone.after = fresh.before = (struct patch_side){.text = STR("")};
        patch_format(&gone, out);
        patch_format(&fresh, out);
        return;
    }
    if (same && f->before.mode == f->after.mode)
        return;
    put_header(out, f);
    if (binary && !same)
        put_binary(out, f);
    else if (!same)
        put_hunks(out, f);
}
