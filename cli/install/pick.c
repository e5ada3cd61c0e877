#include "pick.h"

#include "base/proc.h"
#include "base/term_screen.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/install_picker.h"
#include "mapm/plugin_market.h"

#define SCREEN_MAX_BYTES (1u << 20)
#define NAME_COLUMNS     28
#define ROW_MAX_COLUMNS  500
#define FRAME_LINES      3   /* title, filter, keys */
#define RESIZE_EACH_MS   200 /* interval of checks for a new size */

struct screen {
    struct invocation *inv;
    const struct install_catalog *catalog;
    struct install_picker picker;
    size_t cursor, top; /* indexes of picker.seen */
    unsigned width, height;
    struct term_screen saved;
};

/* --- the screen ----------------------------------------------------------- */

/* Returns one line that a terminal can only print. */
static struct str clean(struct str s, struct arena *a)
{
    return text_shown(text_one_line(s, a), a);
}

/* Appends `name`, cut or filled to a fixed number of columns. */
static void put_name(struct buf *b, struct str name)
{
    struct str cut = text_fit(name, NAME_COLUMNS);
    size_t columns = text_width(cut);

    buf_append(b, cut);
    for (; columns <= NAME_COLUMNS; columns++)
        buf_char(b, ' ');
}

static struct str row_text(const struct picker_row *row, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct install_offer *o = row->offer;

    if (row->count)
        return arena_printf(a, "%s%.*s%s (%zu)",
                            o->is_of_plugin ? "plugin " : "",
                            STR_ARG(clean(o->group, a)),
                            o->is_of_plugin ? "" : "/", row->count);
    buf_init(&b, SCREEN_MAX_BYTES);
    buf_printf(&b, "%-6s ", doc_kind_name(o->kind));
    put_name(&b, clean(o->name, a));
    if (o->problem.n)
        buf_text(&b, "not installable: ");
    else if (o->is_installed)
        buf_text(&b, "installed  ");
    else if (o->tokens)
        buf_printf(&b, "%5zu tok  ", o->tokens);
    buf_append(&b, clean(install_offer_text(o), a));
    return arena_str(a, text_fit(buf_str(&b), ROW_MAX_COLUMNS));
}

/* Returns whether the size has changed. */
static bool find_size(struct screen *s)
{
    unsigned width = s->width, height = s->height;

    term_screen_size(&s->width, &s->height);
    return s->width != width || s->height != height;
}

static void put_line(const struct screen *s, struct buf *b, const char *style,
                     struct str text, bool is_last)
{
    buf_text(b, style);
    buf_append(b, text_fit(text, s->width - 1));
    buf_text(b, *style ? "\x1b[0m" : "");
    buf_text(b, is_last ? "\x1b[K" : "\x1b[K\r\n");
}

static const char *style_of(const struct screen *s,
                            const struct picker_row *row, bool is_at)
{
    bool color = s->inv->term.color_err;

    if (is_at)
        return "\x1b[7m";
    if (row->count)
        return "\x1b[1m";
    if (row->offer->problem.n)
        return "\x1b[2m";
    if (row->is_picked)
        return color ? "\x1b[32m" : "\x1b[1m";
    return row->offer->is_installed ? "\x1b[2m" : "";
}

static void put_row(const struct screen *s, struct buf *b, size_t at)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct picker_row *row = install_picker_row(&s->picker, at);
    const char *mark = row->count              ? ""
                       : row->is_picked        ? " [x] "
                       : row->offer->problem.n ? "  -  "
                                               : " [ ] ";

    put_line(s, b, style_of(s, row, at == s->cursor),
             arena_printf(&a, "%s%s%.*s", at == s->cursor ? ">" : " ", mark,
                          STR_ARG(row_text(row, &a))),
             false);
}

static void scroll(struct screen *s, size_t lines)
{
    if (s->cursor < s->top)
        s->top = s->cursor;
    if (s->cursor >= s->top + lines)
        s->top = s->cursor - lines + 1;
    /* Show the heading of the first package with it. */
    if (s->cursor == 1 && lines > 1)
        s->top = 0;
}

static void draw(struct screen *s)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    const struct install_picker *p = &s->picker;
    size_t lines = s->height - FRAME_LINES;
    struct str omitted =
        p->filter_bytes ? STR("")
                        : market_unnamed_text(s->catalog->unnamed_count, &a);

    buf_init(&b, SCREEN_MAX_BYTES);
    scroll(s, lines);
    buf_text(&b, "\x1b[?25l\x1b[H");
    put_line(s, &b, "\x1b[1m",
             arena_printf(&a, "%zu of %zu chosen, about %zu tokens: %.*s",
                          p->picked,
                          s->catalog->offer_count + s->catalog->plugin_count,
                          install_picker_tokens(p),
                          STR_ARG(clean(s->catalog->origin.text, &a))),
             false);
    put_line(s, &b, "",
             arena_printf(&a, "filter: %.*s_%s%.*s", (int)p->filter_bytes,
                          p->filter, omitted.n ? "   " : "", STR_ARG(omitted)),
             false);
    for (size_t i = s->top; i < s->top + lines; i++)
        if (i < p->seen_count)
            put_row(s, &b, i);
        else
            put_line(s, &b, "",
                     i == 0 ? STR("  no package matches the filter") : STR(""),
                     false);
    put_line(s, &b, "\x1b[2m",
             STR("type to filter, arrows move, space chooses, enter installs, "
                 "esc leaves"),
             true);
    term_screen_write(buf_str(&b));
}

/* --- keys ----------------------------------------------------------------- */

/* Moves the cursor to the first package that is seen. */
static void go_to_first(struct screen *s)
{
    const struct install_picker *p = &s->picker;

    s->top = 0;
    s->cursor = p->seen_count > 1 && install_picker_row(p, 0)->count ? 1 : 0;
}

static void move(struct screen *s, enum term_key key)
{
    size_t page = s->height - FRAME_LINES;
    size_t last = s->picker.seen_count ? s->picker.seen_count - 1 : 0;

    switch (key) {
    case TERM_KEY_UP:
        s->cursor -= s->cursor > 0;
        break;
    case TERM_KEY_DOWN:
        s->cursor += s->cursor < last;
        break;
    case TERM_KEY_PAGE_UP:
        s->cursor = s->cursor > page ? s->cursor - page : 0;
        break;
    case TERM_KEY_PAGE_DOWN:
        s->cursor = last - s->cursor > page ? s->cursor + page : last;
        break;
    case TERM_KEY_HOME:
        s->cursor = 0;
        break;
    case TERM_KEY_END:
        s->cursor = last;
        break;
    default:
        break;
    }
}

/* Returns whether a package is picked; picks that at the cursor if none is. */
static bool is_entered(struct screen *s)
{
    struct install_picker *p = &s->picker;

    if (p->picked == 0 && s->cursor < p->seen_count &&
        install_picker_can_pick(install_picker_row(p, s->cursor)))
        install_picker_toggle(p, s->cursor);
    return p->picked > 0;
}

static void edit(struct screen *s, enum term_key key, struct str text)
{
    struct install_picker *p = &s->picker;

    switch (key) {
    case TERM_KEY_TEXT: /* whole characters: a key is in one read */
        install_picker_type(p, text);
        break;
    case TERM_KEY_BACKSPACE:
        install_picker_erase(p);
        break;
    case TERM_KEY_CLEAR:
        install_picker_clear(p);
        break;
    case TERM_KEY_TOGGLE:
        install_picker_toggle(p, s->cursor);
        return;
    case TERM_KEY_TOGGLE_ALL:
        install_picker_toggle_all(p);
        return;
    default:
        move(s, key);
        return;
    }
    go_to_first(s);
}

/* Reads keys until the choice is made. Returns false if the user leaves (`e` has
 * no code), or with an error. Keys that were typed ahead are read before the
 * screen is drawn. */
static bool run_screen(struct screen *s, struct err *e)
{
    bool is_stale = true;

    for (;;) {
        enum term_key key;
        char text[4];
        size_t n;

        if (proc_interrupted())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (is_stale && !term_key_wait(0))
            draw(s);
        is_stale = term_key_wait(RESIZE_EACH_MS);
        if (!is_stale) {
            is_stale = find_size(s);
            continue;
        }
        key = term_key_read(text, &n);
        if (key == TERM_KEY_GONE)
            return false;
        if (key == TERM_KEY_INTERRUPT)
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (key == TERM_KEY_ESCAPE)
            return false;
        if (key == TERM_KEY_ENTER && is_entered(s))
            return true;
        edit(s, key, str_make(text, n));
        find_size(s);
    }
}

bool pick_can_ask(const struct invocation *inv)
{
    const struct term *t = &inv->term;

    return t->is_in && t->is_out && t->is_err && !t->is_dumb &&
           !context_is_ci();
}

static void leave(struct screen *s)
{
    term_screen_end(&s->saved);
}

bool pick_offers(struct invocation *inv, const struct install_catalog *c,
                 struct install_choice *out, struct err *e)
{
    CLEANUP(leave) struct screen s = {.inv = inv, .catalog = c};

    install_picker_init(&s.picker, c, &inv->cx.arena);
    go_to_first(&s);
    find_size(&s);
    proc_catch_signals();
    if (!term_flush(&inv->term, e) || !term_screen_begin(&s.saved, e) ||
        !run_screen(&s, e))
        return false;
    *out = install_picker_choice(&s.picker, &inv->cx.arena);
    return true;
}
