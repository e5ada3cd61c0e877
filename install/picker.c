#include "base/map.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/install_picker.h"

/* --- the rows ------------------------------------------------------------- */

struct group {
    const struct install_offer **offers;
    size_t count, capacity;
};

struct str install_offer_text(const struct install_offer *o)
{
    return o->problem.n         ? o->problem
           : o->kind == DOC_MCP ? o->command
                                : o->description;
}

static void add_offer(struct map *groups, const struct install_offer *o,
                      struct arena *a)
{
    struct map_entry *at = map_entry(
        groups, arena_printf(a, "%d %.*s", o->is_of_plugin, STR_ARG(o->group)));
    struct group *g = at->value;

    if (!g)
        at->value = g = arena_new(a, struct group);
    g->offers =
        arena_grow(a, g->offers, g->count, &g->capacity, sizeof *g->offers);
    g->offers[g->count++] = o;
}

static struct str haystack_of(const struct install_offer *o, struct arena *a)
{
    return text_lower(arena_printf(a, "%.*s %.*s %s %.*s", STR_ARG(o->name),
                                   STR_ARG(o->group), doc_kind_name(o->kind),
                                   STR_ARG(install_offer_text(o))),
                      a);
}

static bool is_plugin_alone(const struct group *g)
{
    return g->count == 1 && g->offers[0]->kind == DOC_PLUGIN;
}

static void add_rows(struct install_picker *p, const struct group *g,
                     size_t number, struct arena *a)
{
    if (!is_plugin_alone(g)) /* its heading would repeat its name */
        p->rows[p->row_count++] = (struct picker_row){
            .offer = g->offers[0], .group = number, .count = g->count};
    for (size_t i = 0; i < g->count; i++)
        p->rows[p->row_count++] = (struct picker_row){
            .offer = g->offers[i],
            .group = number,
            .haystack = haystack_of(g->offers[i], a),
        };
}

/* --- the filter ----------------------------------------------------------- */

static void see_row(struct install_picker *p, size_t row)
{
    p->seen[p->seen_count++] = row;
}

/* Collects the rows that match the filter. A heading is seen if a package of its
 * group is. */
static void filter_rows(struct install_picker *p)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str word = text_lower(str_make(p->filter, p->filter_bytes), &a);
    size_t heading = SIZE_MAX;

    p->seen_count = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        const struct picker_row *row = &p->rows[i];

        if (row->count) {
            heading = i;
            continue;
        }
        if (word.n && str_find(row->haystack, word) == SIZE_MAX)
            continue;
        if (heading != SIZE_MAX && p->rows[heading].group == row->group) {
            see_row(p, heading);
            heading = SIZE_MAX;
        }
        see_row(p, i);
    }
}

void install_picker_init(struct install_picker *p,
                         const struct install_catalog *c, struct arena *a)
{
    size_t room = 2 * (c->offer_count + c->plugin_count) + 1;
    struct map groups;

    *p = (struct install_picker){
        .rows = arena_array(a, room, sizeof *p->rows),
        .seen = arena_array(a, room, sizeof *p->seen),
    };
    map_init(&groups, a);
    for (size_t i = 0; i < c->plugin_count; i++)
        add_offer(&groups, &c->plugins[i], a);
    for (size_t i = 0; i < c->offer_count; i++)
        add_offer(&groups, &c->offers[i], a);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < groups.count; i++)
            if (is_plugin_alone(groups.entries[i].value) == (round == 0))
                add_rows(p, groups.entries[i].value, i, a);
    filter_rows(p);
}

void install_picker_type(struct install_picker *p, struct str text)
{
    if (!text_is_utf8(text) || text_has_control(text) ||
        p->filter_bytes + text.n > PICKER_FILTER_MAX_BYTES)
        return;
    for (size_t i = 0; i < text.n; i++)
        p->filter[p->filter_bytes++] = text.p[i];
    filter_rows(p);
}

void install_picker_erase(struct install_picker *p)
{
    while (p->filter_bytes &&
           ((unsigned char)p->filter[p->filter_bytes - 1] & 0xc0) == 0x80)
        p->filter_bytes--;
    if (p->filter_bytes)
        p->filter_bytes--;
    filter_rows(p);
}

void install_picker_clear(struct install_picker *p)
{
    p->filter_bytes = 0;
    filter_rows(p);
}

/* --- choosing ------------------------------------------------------------- */

struct picker_row *install_picker_row(const struct install_picker *p, size_t at)
{
    return &p->rows[p->seen[at]];
}

bool install_picker_can_pick(const struct picker_row *row)
{
    return !row->count && !row->offer->problem.n;
}

static void set_picked(struct install_picker *p, struct picker_row *row,
                       bool picked)
{
    if (row->is_picked == picked)
        return;
    row->is_picked = picked;
    p->picked += picked ? 1 : SIZE_MAX;
}

size_t install_picker_tokens(const struct install_picker *p)
{
    size_t tokens = 0, whole = SIZE_MAX; /* group of a plugin that is picked */

    for (size_t i = 0; i < p->row_count; i++) {
        const struct picker_row *row = &p->rows[i];

        if (!row->is_picked || row->group == whole)
            continue;
        tokens += row->offer->tokens;
        if (row->offer->kind == DOC_PLUGIN)
            whole = row->group;
    }
    return tokens;
}

static void toggle_seen(struct install_picker *p, size_t from, size_t to)
{
    bool all = true;

    for (int round = 0; round < 2; round++)
        for (size_t i = from; i < to; i++) {
            struct picker_row *row = install_picker_row(p, i);

            if (!install_picker_can_pick(row) ||
                row->offer->kind == DOC_PLUGIN || row->offer->is_installed)
                continue;
            if (round == 0)
                all = all && row->is_picked;
            else
                set_picked(p, row, !all);
        }
}

void install_picker_toggle(struct install_picker *p, size_t at)
{
    struct picker_row *row;
    size_t to = at + 1;

    if (at >= p->seen_count)
        return;
    row = install_picker_row(p, at);
    if (install_picker_can_pick(row))
        set_picked(p, row, !row->is_picked);
    if (!row->count)
        return;
    while (to < p->seen_count && install_picker_row(p, to)->group == row->group)
        to++;
    toggle_seen(p, at + 1, to);
}

void install_picker_toggle_all(struct install_picker *p)
{
    toggle_seen(p, 0, p->seen_count);
}

/* --- the choice ----------------------------------------------------------- */

static struct str word_of(const struct install_offer *o, struct arena *a)
{
    return o->kind == DOC_PLUGIN || o->path.n == 0
               ? o->name
               : str_join(o->path, STR("/"), a);
}

static struct str_list list_picked(const struct install_picker *p,
                                   enum doc_kind kind, struct arena *a)
{
    struct str *items = arena_array(a, p->picked + 1, sizeof *items);
    size_t count = 0;

    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].is_picked && p->rows[i].offer->kind == kind)
            items[count++] = word_of(p->rows[i].offer, a);
    return (struct str_list){items, count};
}

struct install_choice install_picker_choice(const struct install_picker *p,
                                            struct arena *a)
{
    return (struct install_choice){.agents = list_picked(p, DOC_AGENT, a),
                                   .skills = list_picked(p, DOC_SKILL, a),
                                   .mcps = list_picked(p, DOC_MCP, a),
                                   .plugins = list_picked(p, DOC_PLUGIN, a)};
}
