#include "pick.h"

#include "base/map.h"
#include "base/proc.h"
#include "base/term_screen.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/origin.h"

#define FILTER_MAX_BYTES 64
#define SCREEN_MAX_BYTES (1u << 20)
#define NAME_COLUMNS     28
#define ROW_MAX_COLUMNS  500
#define FRAME_LINES      3   /* title, filter, keys */
#define RESIZE_EACH_MS   200 /* how often the size is looked at */

struct row {
    const struct install_offer *offer; /* NULL: the heading of its group */
    size_t group;
    struct str shown;    /* without the part that changes */
    struct str haystack; /* lower case */
    bool is_picked;
};

struct picker {
    struct invocation *inv;
    const struct install_catalog *catalog;
    struct row *rows; /* by group, each behind its heading */
    size_t row_count;
    size_t *seen; /* rows that fit the filter */
    size_t seen_count;
    size_t cursor, top; /* of `seen` */
    char filter[FILTER_MAX_BYTES];
    size_t filter_bytes;
    size_t picked, tokens;
    unsigned width, height;
    struct term_screen screen;
};

/* --- the rows ------------------------------------------------------------- */

struct group {
    const struct install_offer **offers;
    size_t count, capacity;
    struct str title;
};

/* One line that a terminal can only print. */
static struct str clean(struct str s, struct arena *a)
{
    return text_shown(text_one_line(s, a), a);
}

static struct group *find_group(struct map *groups,
                                const struct install_offer *o, struct arena *a)
{
    struct map_entry *at = map_entry(
        groups, arena_printf(a, "%d %.*s", o->is_of_plugin, STR_ARG(o->group)));
    struct group *g = at->value;

    if (!g) {
        at->value = g = arena_new(a, struct group);
        g->title =
            o->is_of_plugin
                ? arena_printf(a, "plugin %.*s", STR_ARG(clean(o->group, a)))
                : arena_printf(a, "%.*s/", STR_ARG(clean(o->group, a)));
    }
    return g;
}

static void add_offer(struct map *groups, const struct install_offer *o,
                      struct arena *a)
{
    struct group *g = find_group(groups, o, a);

    g->offers =
        arena_grow(a, g->offers, g->count, &g->capacity, sizeof *g->offers);
    g->offers[g->count++] = o;
}

static struct str offer_text(const struct install_offer *o)
{
    return o->problem.n         ? o->problem
           : o->kind == DOC_MCP ? o->command
                                : o->description;
}

/* A name of some columns, filled up. */
static void put_name(struct buf *b, struct str name)
{
    struct str cut = text_fit(name, NAME_COLUMNS);
    size_t columns = text_width(cut);

    buf_append(b, cut);
    for (; columns <= NAME_COLUMNS; columns++)
        buf_char(b, ' ');
}

static struct str row_text(const struct install_offer *o, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SCREEN_MAX_BYTES);
    buf_printf(&b, "%-6s ", doc_kind_name(o->kind));
    put_name(&b, clean(o->name, a));
    if (o->problem.n)
        buf_text(&b, "not installable: ");
    else if (o->is_installed)
        buf_text(&b, "installed  ");
    else if (o->tokens)
        buf_printf(&b, "%5zu tok  ", o->tokens);
    buf_append(&b, clean(offer_text(o), a));
    return arena_str(a, text_fit(buf_str(&b), ROW_MAX_COLUMNS));
}

static struct str haystack_of(const struct install_offer *o, struct arena *a)
{
    return text_lower(arena_printf(a, "%.*s %.*s %s %.*s", STR_ARG(o->name),
                                   STR_ARG(o->group), doc_kind_name(o->kind),
                                   STR_ARG(offer_text(o))),
                      a);
}

static void add_rows(struct picker *p, const struct group *g, size_t number,
                     struct arena *a)
{
    /* The heading of a plugin alone would say the same again. */
    if (g->count > 1 || g->offers[0]->kind != DOC_PLUGIN)
        p->rows[p->row_count++] =
            (struct row){.group = number,
                         .shown = arena_printf(a, "%.*s (%zu)",
                                               STR_ARG(g->title), g->count)};
    for (size_t i = 0; i < g->count; i++)
        p->rows[p->row_count++] = (struct row){
            .offer = g->offers[i],
            .group = number,
            .shown = row_text(g->offers[i], a),
            .haystack = haystack_of(g->offers[i], a),
        };
}

/* Of each plugin itself first, then its packages. */
static void make_rows(struct picker *p)
{
    const struct install_catalog *c = p->catalog;
    struct arena *a = &p->inv->cx.arena;
    size_t room = 2 * (c->offer_count + c->plugin_count) + 1;
    struct map groups;

    map_init(&groups, a);
    for (size_t i = 0; i < c->plugin_count; i++)
        add_offer(&groups, &c->plugins[i], a);
    for (size_t i = 0; i < c->offer_count; i++)
        add_offer(&groups, &c->offers[i], a);
    p->rows = arena_array(a, room, sizeof *p->rows);
    p->seen = arena_array(a, room, sizeof *p->seen);
    for (size_t i = 0; i < groups.count; i++)
        add_rows(p, groups.entries[i].value, i, a);
}

/* --- the filter ----------------------------------------------------------- */

static bool fits(const struct row *row, struct str word)
{
    return word.n == 0 || str_find(row->haystack, word) != SIZE_MAX;
}

/* A heading is seen when a package of its group is. */
static void filter_rows(struct picker *p)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str word = text_lower(str_make(p->filter, p->filter_bytes), &a);
    size_t heading = SIZE_MAX;

    p->seen_count = p->top = p->cursor = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        const struct row *row = &p->rows[i];

        if (!row->offer) {
            heading = i;
            continue;
        }
        if (!fits(row, word))
            continue;
        if (heading != SIZE_MAX && p->rows[heading].group == row->group &&
            (p->seen_count == 0 ||
             p->rows[p->seen[p->seen_count - 1]].group != row->group))
            p->seen[p->seen_count++] = heading;
        p->seen[p->seen_count++] = i;
    }
    /* the first package */
    p->cursor = p->seen_count > 1 && !p->rows[p->seen[0]].offer ? 1 : 0;
}

/* Whole characters: what a key sent is in one read, or is not used. */
static void add_text(struct picker *p, struct str text)
{
    if (!text_is_utf8(text) || text_has_control(text) ||
        p->filter_bytes + text.n > FILTER_MAX_BYTES)
        return;
    for (size_t i = 0; i < text.n; i++)
        p->filter[p->filter_bytes++] = text.p[i];
    filter_rows(p);
}

static void drop_text(struct picker *p)
{
    while (p->filter_bytes &&
           ((unsigned char)p->filter[p->filter_bytes - 1] & 0xc0) == 0x80)
        p->filter_bytes--;
    if (p->filter_bytes)
        p->filter_bytes--;
    filter_rows(p);
}

/* --- choosing ------------------------------------------------------------- */

static bool can_pick(const struct row *row)
{
    return row->offer && !row->offer->problem.n;
}

static void set_picked(struct picker *p, struct row *row, bool picked)
{
    if (row->is_picked == picked)
        return;
    row->is_picked = picked;
    p->picked += picked ? 1 : SIZE_MAX;
    p->tokens += picked ? row->offer->tokens : 0 - row->offer->tokens;
}

/* All of them that are seen, or, when all are chosen, none. Plugins whole are
 * chosen alone: they have the others as parts. */
static void toggle_seen(struct picker *p, size_t from, size_t to)
{
    bool all = true;

    for (int round = 0; round < 2; round++)
        for (size_t i = from; i < to; i++) {
            struct row *row = &p->rows[p->seen[i]];

            if (!can_pick(row) || row->offer->kind == DOC_PLUGIN ||
                row->offer->is_installed)
                continue;
            if (round == 0)
                all = all && row->is_picked;
            else
                set_picked(p, row, !all);
        }
}

static void toggle(struct picker *p)
{
    struct row *row;
    size_t to = p->cursor + 1;

    if (p->cursor >= p->seen_count)
        return;
    row = &p->rows[p->seen[p->cursor]];
    if (can_pick(row))
        set_picked(p, row, !row->is_picked);
    if (row->offer)
        return;
    while (to < p->seen_count && p->rows[p->seen[to]].group == row->group)
        to++;
    toggle_seen(p, p->cursor + 1, to);
}

/* --- the screen ----------------------------------------------------------- */

/* Whether it is another size. */
static bool find_size(struct picker *p)
{
    unsigned width = p->width, height = p->height;

    term_screen_size(&p->width, &p->height);
    return p->width != width || p->height != height;
}

static void put_line(const struct picker *p, struct buf *b, const char *style,
                     struct str text, bool is_last)
{
    buf_text(b, style);
    buf_append(b, text_fit(text, p->width - 1));
    buf_text(b, *style ? "\x1b[0m" : "");
    buf_text(b, is_last ? "\x1b[K" : "\x1b[K\r\n");
}

static const char *style_of(const struct picker *p, const struct row *row,
                            bool is_at)
{
    bool color = p->inv->term.color_err;

    if (is_at)
        return "\x1b[7m";
    if (!row->offer)
        return "\x1b[1m";
    if (row->offer->problem.n)
        return "\x1b[2m";
    if (row->is_picked)
        return color ? "\x1b[32m" : "\x1b[1m";
    return row->offer->is_installed ? "\x1b[2m" : "";
}

static void put_row(const struct picker *p, struct buf *b, size_t at)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct row *row = &p->rows[p->seen[at]];
    const char *mark = !row->offer             ? ""
                       : row->is_picked        ? " [x] "
                       : row->offer->problem.n ? "  -  "
                                               : " [ ] ";

    put_line(p, b, style_of(p, row, at == p->cursor),
             arena_printf(&a, "%s%s%.*s", at == p->cursor ? ">" : " ", mark,
                          STR_ARG(row->shown)),
             false);
}

static void scroll(struct picker *p, size_t lines)
{
    if (p->cursor < p->top)
        p->top = p->cursor;
    if (p->cursor >= p->top + lines)
        p->top = p->cursor - lines + 1;
    /* The heading of the first package is seen with it. */
    if (p->cursor == 1 && lines > 1)
        p->top = 0;
}

static void draw(struct picker *p)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    size_t lines = p->height - FRAME_LINES;

    buf_init(&b, SCREEN_MAX_BYTES);
    scroll(p, lines);
    buf_text(&b, "\x1b[?25l\x1b[H");
    put_line(
        p, &b, "\x1b[1m",
        arena_printf(&a, "%zu of %zu chosen, about %zu tokens: %.*s", p->picked,
                     p->catalog->offer_count + p->catalog->plugin_count,
                     p->tokens, STR_ARG(clean(p->catalog->origin.text, &a))),
        false);
    put_line(p, &b, "",
             arena_printf(&a, "filter: %.*s_", (int)p->filter_bytes, p->filter),
             false);
    for (size_t i = p->top; i < p->top + lines; i++)
        if (i < p->seen_count)
            put_row(p, &b, i);
        else
            put_line(p, &b, "",
                     i == 0 ? STR("  nothing fits the filter") : STR(""),
                     false);
    put_line(p, &b, "\x1b[2m",
             STR("type to filter, arrows move, space chooses, enter installs, "
                 "esc leaves"),
             true);
    term_screen_write(buf_str(&b));
}

/* --- keys ----------------------------------------------------------------- */

static void move(struct picker *p, enum term_key key)
{
    size_t page = p->height - FRAME_LINES;
    size_t last = p->seen_count ? p->seen_count - 1 : 0;

    switch (key) {
    case TERM_KEY_UP:
        p->cursor -= p->cursor > 0;
        break;
    case TERM_KEY_DOWN:
        p->cursor += p->cursor < last;
        break;
    case TERM_KEY_PAGE_UP:
        p->cursor = p->cursor > page ? p->cursor - page : 0;
        break;
    case TERM_KEY_PAGE_DOWN:
        p->cursor = last - p->cursor > page ? p->cursor + page : last;
        break;
    case TERM_KEY_HOME:
        p->cursor = 0;
        break;
    case TERM_KEY_END:
        p->cursor = last;
        break;
    default:
        break;
    }
}

/* Whether the choice is made: then without any the line of the cursor is it. */
static bool is_entered(struct picker *p)
{
    struct row *row =
        p->cursor < p->seen_count ? &p->rows[p->seen[p->cursor]] : NULL;

    if (p->picked == 0 && row && can_pick(row))
        set_picked(p, row, true);
    return p->picked > 0;
}

static void edit(struct picker *p, enum term_key key, struct str text)
{
    switch (key) {
    case TERM_KEY_TEXT:
        add_text(p, text);
        break;
    case TERM_KEY_BACKSPACE:
        drop_text(p);
        break;
    case TERM_KEY_CLEAR:
        p->filter_bytes = 0;
        filter_rows(p);
        break;
    case TERM_KEY_TOGGLE:
        toggle(p);
        break;
    case TERM_KEY_TOGGLE_ALL:
        toggle_seen(p, 0, p->seen_count);
        break;
    default:
        move(p, key);
        break;
    }
}

/* False when the person leaves, or `e` says why. What was typed ahead is taken
 * before the screen is drawn anew. */
static bool talk(struct picker *p, struct err *e)
{
    bool is_stale = true;

    for (;;) {
        enum term_key key;
        char text[4];
        size_t n;

        if (proc_interrupted())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (is_stale && !term_key_wait(0))
            draw(p);
        is_stale = term_key_wait(RESIZE_EACH_MS);
        if (!is_stale) {
            is_stale = find_size(p);
            continue;
        }
        key = term_key_read(text, &n);
        if (key == TERM_KEY_GONE)
            return false;
        if (key == TERM_KEY_INTERRUPT)
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (key == TERM_KEY_ESCAPE)
            return false;
        if (key == TERM_KEY_ENTER && is_entered(p))
            return true;
        edit(p, key, str_make(text, n));
        find_size(p);
    }
}

bool pick_can_ask(const struct invocation *inv)
{
    const struct term *t = &inv->term;

    return t->is_in && t->is_out && t->is_err && !t->is_dumb &&
           !context_is_ci();
}

/* --- what was chosen ------------------------------------------------------ */

static void leave(struct picker *p)
{
    term_screen_end(&p->screen);
}

/* A path, so that no other package of its name is meant. */
static struct str word_of(const struct install_offer *o, struct arena *a)
{
    return o->kind == DOC_PLUGIN || o->path.n == 0
               ? o->name
               : str_join(o->path, STR("/"), a);
}

static struct str_list list_picked(const struct picker *p, enum doc_kind kind)
{
    struct arena *a = &p->inv->cx.arena;
    struct str *items = arena_array(a, p->picked + 1, sizeof *items);
    size_t count = 0;

    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].is_picked && p->rows[i].offer->kind == kind)
            items[count++] = word_of(p->rows[i].offer, a);
    return (struct str_list){items, count};
}

bool pick_offers(struct invocation *inv, const struct install_catalog *c,
                 struct install_choice *out, struct err *e)
{
    CLEANUP(leave) struct picker p = {.inv = inv, .catalog = c};

    make_rows(&p);
    filter_rows(&p);
    find_size(&p);
    proc_catch_signals();
    if (!term_flush(&inv->term, e) || !term_screen_begin(&p.screen, e) ||
        !talk(&p, e))
        return false;
    *out = (struct install_choice){.agents = list_picked(&p, DOC_AGENT),
                                   .skills = list_picked(&p, DOC_SKILL),
                                   .mcps = list_picked(&p, DOC_MCP),
                                   .plugins = list_picked(&p, DOC_PLUGIN)};
    return true;
}
