#include "show.h"

#include "base/diff.h"
#include "base/digest.h"
#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/package_files.h"
#include "mapm/state_trust.h"

#define CONTEXT_LINES      3
#define SHOWN_MAX_LINES    200 /* unless --verbose is given */
#define SHOWN_MAX_FILES    50
#define SHORT_DIGEST_CHARS 12
#define DIFF_MAX_BYTES     (8u * 1024 * 1024)

/* A skill in the store. */
struct stored {
    struct package_files files;
    struct str text;          /* text of SKILL.md */
    struct str path, program; /* path and text of the program, or "" */
};

/* Output of the review; notices are used if `out` is NULL. */
struct sheet {
    struct context *cx;
    struct store *store;
    struct arena *a;
    const struct trust_output *out;
};

static void show(struct sheet *s, enum trust_style style, struct str line)
{
    if (s->out)
        s->out->line(s->out->ctx, style, line);
    else
        context_notice(s->cx, NOTICE_QUESTION, line);
}

#define SHOW(s, ...) show(s, TRUST_PLAIN, arena_printf((s)->a, __VA_ARGS__))

/* --- reading -------------------------------------------------------------------- */

static bool stored_read(struct store *store, const struct hash *digest,
                        struct arena *a, struct stored *out, struct err *e)
{
    struct manifest_files beside;
    struct manifest_input in = {.kind = DOC_SKILL,
                                .profile = PROFILE_INSTALL,
                                .files = &beside,
                                .allow_own = true,
                                .allow_file = true,
                                .allow_hidden = true};
    const struct package_file *anchor, *program;
    struct stored s = {.files = {.store = store}};
    struct package_file *files;
    struct document d;
    struct diagnostics why;

    if (!store_read_listing(store, digest, a, &files, &s.files.count, e))
        return false;
    s.files.files = files;
    s.path = s.program = STR("");
    anchor = package_files_find(&s.files, STR("SKILL.md"));
    if (!anchor)
        return err_set(e, ERR_NOT_FOUND, "it has no SKILL.md");
    if (!store_read(store, &anchor->hash, ANCHOR_MAX_BYTES, a, &s.text, e))
        return false;
    in.text = s.text;
    beside = package_files_reader(&s.files);
    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    program = d.metaskill ? package_files_find(&s.files, d.program) : NULL;
    if (program) {
        s.path = d.program;
        if (!store_read(store, &program->hash, PROGRAM_MAX_BYTES, a, &s.program,
                        e))
            return false;
    }
    *out = s;
    return true;
}

bool authorize_check_program(struct store *store, const struct hash *digest,
                             struct arena *a, struct err *e)
{
    struct stored s;

    if (!stored_read(store, digest, a, &s, e))
        return false;
    return s.path.n ||
           err_set(e, ERR_FAILED,
                   "it has no runnable program, so there is nothing to trust");
}

bool show_find_earlier(struct store *store, const struct trust_request *q,
                       bool *found, struct state_trust *out, struct arena *a,
                       struct err *e)
{
    struct state_trust *list;
    size_t count;

    *found = false;
    if (!state_list_trust(store_state(store), a, &list, &count, e))
        return false;
    for (size_t i = 0; i < count && !*found; i++) {
        *found = list[i].kind == q->kind &&
                 str_eq(list[i].subject, q->subject) &&
                 !hash_eq(&list[i].digest, &q->digest);
        if (*found)
            *out = list[i];
    }
    return true;
}

/* --- texts ------------------------------------------------------------------------ */

struct str authorize_date(int64_t seconds, bool time, struct arena *a)
{
    char text[TEXT_TIME_BYTES];

    return arena_str(
        a, str_cstr(text_utc(seconds, time ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d",
                             text)));
}

struct str authorize_short_digest(const struct hash *digest, struct arena *a)
{
    return arena_printf(a, "sha256:%.*s", SHORT_DIGEST_CHARS,
                        hash_hex(digest, a).p);
}

/* Like str_line(), but keeps CR, so that a difference in line endings is
 * shown. */
static bool take_line(struct str *rest, struct str *line)
{
    return rest->n > 0 && str_cut(rest, '\n', line);
}

static size_t count_lines(struct str text)
{
    struct str line;
    size_t n = 0;

    while (take_line(&text, &line))
        n++;
    return n;
}

/* Shows a whole line of the package, including NUL and control characters,
 * after `mark`. */
static void show_line(struct sheet *s, enum trust_style style, const char *mark,
                      struct str line)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 4);
    buf_text(&b, mark);
    text_visible(&b, line, false);
    show(s, style, buf_str(&b));
}

/* --- what changed ------------------------------------------------------------------- */

static enum trust_style style_of(struct str line)
{
    if (str_starts(line, STR("+")))
        return TRUST_ADDED;
    if (str_starts(line, STR("-")))
        return TRUST_REMOVED;
    return str_starts(line, STR("@")) ? TRUST_PLACE : TRUST_PLAIN;
}

/* Shows the difference of two texts, at most `most` lines; 0 shows all. */
static void show_diff(struct sheet *s, struct str name_before, struct str name,
                      struct str before, struct str after, size_t most)
{
    struct diff d;
    struct buf b;
    struct str rest, line;
    size_t n = 0, all;

    diff_lines(before, after, s->a, &d);
    if (d.added + d.removed == 0)
        return;
    buf_init(&b, DIFF_MAX_BYTES);
    diff_format(&d, CONTEXT_LINES, &b);
    rest = buf_str(&b);
    all = count_lines(rest);
    SHOW(s, "    --- %.*s, as it was trusted", STR_ARG(name_before));
    SHOW(s, "    +++ %.*s, as it is now", STR_ARG(name));
    while ((most == 0 || n < most) && take_line(&rest, &line)) {
        show_line(s, style_of(line), "    ", line);
        n++;
    }
    if (n < all)
        SHOW(s, "    ... %zu more lines: --verbose shows them", all - n);
    if (b.overflowed)
        SHOW(s, "    ... and more than can be shown");
    buf_done(&b);
}

static bool is_shown(const struct stored *x, struct str path)
{
    return str_is(path, "SKILL.md") || str_eq(path, x->path);
}

/* Shows which other files were added, changed or removed by comparing the two
 * sorted listings. */
static void show_other_files(struct sheet *s, const struct stored *before,
                             const struct stored *after)
{
    const struct package_files *x = &before->files, *y = &after->files;
    size_t i = 0, k = 0, n = 0;

    while (i < x->count || k < y->count) {
        int order = i == x->count ? 1
                    : k == y->count
                        ? -1
                        : str_cmp(x->files[i].path, y->files[k].path);
        const struct package_file *f = order <= 0 ? &x->files[i] : &y->files[k];
        bool same = order == 0 &&
                    hash_eq(&x->files[i].hash, &y->files[k].hash) &&
                    x->files[i].executable == y->files[k].executable;
        const char *how = order < 0   ? "removed"
                          : order > 0 ? "added"
                                      : "changed";

        i += order <= 0;
        k += order >= 0;
        /* A program that was removed or moved is listed like other files. */
        if (same || (order == 0 && is_shown(after, f->path)))
            continue;
        if (str_eq(f->path, before->path) && before->path.n && order < 0)
            continue;
        if (str_eq(f->path, after->path) && order > 0)
            continue;
        if (++n <= SHOWN_MAX_FILES)
            SHOW(s, "    %s %.*s", how, STR_ARG(f->path));
    }
    if (n > SHOWN_MAX_FILES)
        SHOW(s, "    ... and %zu more files", n - SHOWN_MAX_FILES);
}

static bool show_changes(struct sheet *s, const struct trust_request *q,
                         const struct stored *now, struct err *e)
{
    struct state_trust earlier;
    struct stored before;
    struct err gone = {0};
    bool found;
    size_t most = s->cx->is_verbose ? 0 : SHOWN_MAX_LINES;

    if (!show_find_earlier(s->store, q, &found, &earlier, s->a, e))
        return false;
    if (!found)
        return true;
    SHOW(s, "  trusted  another version since %.*s, %.*s",
         STR_ARG(authorize_date(earlier.since_s, false, s->a)),
         STR_ARG(authorize_short_digest(&earlier.digest, s->a)));
    if (!stored_read(s->store, &earlier.digest, s->a, &before, &gone)) {
        SHOW(s, "    the earlier version is no longer in the store: what "
                "changed cannot be shown");
        return true;
    }
    show_diff(s, before.path.n ? before.path : STR("no program"), now->path,
              before.program, now->program, 0);
    show_diff(s, STR("SKILL.md"), STR("SKILL.md"), before.text, now->text,
              most);
    show_other_files(s, &before, now);
    return true;
}

/* --- all of it ---------------------------------------------------------------------- */

static void show_field(struct sheet *s, const char *name, struct str value)
{
    if (value.n)
        SHOW(s, "  %-8s %.*s", name, STR_ARG(value));
}

static void show_program(struct sheet *s, const struct stored *now)
{
    size_t all = count_lines(now->program), n = 0;
    struct str rest = now->program, line;
    char bytes[16];

    SHOW(s, "  program  %.*s, %zu lines, %s", STR_ARG(now->path), all,
         text_bytes(now->program.n, bytes));
    while ((s->cx->is_verbose || n < SHOWN_MAX_LINES) &&
           take_line(&rest, &line)) {
        show_line(s, TRUST_PLAIN, "    | ", line);
        n++;
    }
    if (n < all)
        SHOW(s, "    ... %zu more lines: --verbose shows them", all - n);
}

bool authorize_show(struct context *cx, struct store *store,
                    const struct trust_request *q,
                    const struct trust_output *out, struct err *e)
{
    struct sheet s = {cx, store, &cx->arena, out};
    struct stored now;

    if (!stored_read(store, &q->digest, s.a, &now, e)) {
        err_wrap(e, "cannot show %.*s", STR_ARG(q->subject));
        return err_hint(
            e, "mapm install --force fetches objects missing from the store");
    }
    show(&s, TRUST_TITLE, q->subject);
    show_field(&s, "version", q->version);
    show_field(&s, "origin", q->origin);
    show_field(&s, "commit", q->commit);
    show_field(&s, "digest", digest_format(&q->digest, s.a));
    show_program(&s, &now);
    return show_changes(&s, q, &now, e);
}
