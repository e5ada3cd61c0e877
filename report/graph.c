#include "base/embed.h"
#include "base/map.h"
#include "mapm/report_graph.h"

#include "markup.h"

#define COLUMNS_MAX 5
#define COLUMN_MIN                                                             \
    3                   /* minimum number of packages before a column is
                         * added */
#define CELL_POINTS 165 /* all have the same width, so that columns align */
#define NAME_CHARS  26  /* characters of a line in a cell */
#define WORDS_CHARS 34

EMBED_TWO(graph_style, "report/base.css", "report/graph.css");

/* One color per kind and per state. */
static const struct look {
    const char *word, *plural, *fill;
} kinds[] = {
    [DOC_AGENT] = {"agent", "agents", "#e9e2fb"},
    [DOC_SKILL] = {"skill", "skills", "#dcebfd"},
    [DOC_MCP] = {"MCP server", "MCP servers", "#d6f2e3"},
    [DOC_PLUGIN] = {"plugin", "plugins", "#fbeacb"},
};

static const struct {
    const char *word, *line;
} states[] = {
    [REPORT_CURRENT] = {"", "#8d93a1"},
    [REPORT_PATCHED] = {"patched", "#6741d9"},
    [REPORT_OUTDATED] = {"outdated", "#b45f06"},
    [REPORT_GONE] = {"gone upstream", "#c22f2a"},
};

/* --- catalogs ----------------------------------------------------------------- */

/* Indices of the packages of one catalog: those with edges, then the others. */
struct group {
    struct str name;
    size_t *items;
    size_t count, linked;
};

struct groups {
    struct arena a;
    struct group *items;
    size_t count;
    bool *is_linked;
};

static void groups_done(struct groups *g)
{
    arena_done(&g->a);
}

static void note_links(const struct report_graph *g, bool *is_linked)
{
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->packages[i].need_count; k++)
            is_linked[i] = is_linked[g->packages[i].needs[k]] = true;
}

static void add_packages(const struct report_graph *g,
                         const struct map *by_name, bool linked,
                         const bool *is_linked)
{
    for (size_t i = 0; i < g->count; i++) {
        struct group *group = map_find(by_name, g->packages[i].catalog);

        if (is_linked[i] != linked)
            continue;
        group->items[group->count++] = i;
        group->linked += linked;
    }
}

/* Groups packages in the order of their first packages. */
static void group_all(const struct report_graph *g, struct groups *out)
{
    struct map by_name;

    *out = (struct groups){.count = 0};
    out->is_linked = arena_array(&out->a, g->count, sizeof *out->is_linked);
    out->items = arena_array(&out->a, g->count, sizeof *out->items);
    map_init(&by_name, &out->a);
    note_links(g, out->is_linked);
    for (size_t i = 0; i < g->count; i++) {
        struct map_entry *e = map_entry(&by_name, g->packages[i].catalog);
        struct group *group = e->value;

        if (!group) {
            e->value = group = &out->items[out->count++];
            group->name = g->packages[i].catalog;
        }
        group->count++;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->items[i].items = arena_array(&out->a, out->items[i].count,
                                          sizeof *out->items[i].items);
        out->items[i].count = 0;
    }
    add_packages(g, &by_name, true, out->is_linked);
    add_packages(g, &by_name, false, out->is_linked);
}

/* --- for graphviz --------------------------------------------------------------- */

/* Returns the end of a line of at most `max` bytes, after a hyphen or
 * similar. */
static size_t line_end(struct str s, size_t max)
{
    size_t end = 0;

    if (s.n <= max)
        return s.n;
    for (size_t i = 1; i < max; i++)
        if (str_has_char(STR("-_./ "), s.p[i]))
            end = i + 1;
    while (!end && max < s.n && ((unsigned char)s.p[max] & 0xc0) == 0x80)
        max++; /* do not split a character */
    return end ? end : max;
}

static void put_lines(struct str s, size_t max, struct buf *out)
{
    while (s.n) {
        struct str line = str_slice(s, 0, line_end(s, max));

        markup_text(out, line, false);
        s = str_from_index(s, line.n);
        buf_text(out, s.n ? "<BR/>" : "");
    }
}

static void put_words(const struct report_package *p, struct buf *out)
{
    buf_text(out, kinds[p->kind].word);
    if (p->version.n) {
        buf_char(out, ' ');
        markup_text(out, p->version, false);
    }
    if (p->note.n) {
        buf_text(out, "<BR/>");
        buf_printf(out, "<FONT COLOR=\"%s\">",
                   p->state == REPORT_CURRENT ? "#5f636e"
                                              : states[p->state].line);
        put_lines(p->note, WORDS_CHARS, out);
        buf_text(out, "</FONT>");
    }
}

static void put_label(const struct report_package *p, struct buf *out)
{
    buf_text(out, p->is_root ? "<B>" : "");
    put_lines(p->name, NAME_CHARS, out);
    buf_text(out, p->is_root ? "</B>" : "");
    buf_text(out, "<BR/><FONT POINT-SIZE=\"8\">");
    put_words(p, out);
    buf_text(out, "</FONT>");
}

static void put_node(const struct report_graph *g, size_t at, struct buf *out)
{
    const struct report_package *p = &g->packages[at];

    buf_printf(out,
               "    n%zu [fillcolor=\"%s\", color=\"%s\", penwidth=%s, "
               "label=<",
               at, kinds[p->kind].fill, states[p->state].line,
               p->state == REPORT_CURRENT ? "1" : "2");
    put_label(p, out);
    buf_text(out, ">];\n");
}

/* Returns the number of columns of all tables, given by the largest. */
static size_t count_columns(const struct groups *groups)
{
    size_t columns = 1, most = 0;

    for (size_t i = 0; i < groups->count; i++) {
        size_t n = groups->items[i].count - groups->items[i].linked;

        most = n > most ? n : most;
    }
    while (columns < COLUMNS_MAX && columns * columns * COLUMN_MIN < most)
        columns++;
    return columns;
}

static void put_cell(const struct report_package *p, struct buf *out)
{
    buf_printf(out,
               "<TD STYLE=\"ROUNDED\" WIDTH=\"%d\" BGCOLOR=\"%s\" "
               "COLOR=\"%s\">",
               CELL_POINTS, kinds[p->kind].fill, states[p->state].line);
    put_label(p, out);
    buf_text(out, "</TD>");
}

/* Writes one node with a cell per package, row by row. */
static void put_table(const struct report_graph *g, const struct group *group,
                      size_t number, size_t columns, struct buf *out)
{
    size_t count = group->count - group->linked;
    const size_t *items = group->items + group->linked;

    buf_printf(out,
               "    t%zu [shape=plain, style=\"\", label=<<TABLE BORDER=\"0\" "
               "CELLBORDER=\"1\" CELLSPACING=\"6\" CELLPADDING=\"5\" "
               "STYLE=\"ROUNDED\">",
               number);
    for (size_t i = 0; i < count || i % columns; i++) {
        buf_text(out, i % columns == 0 ? "<TR>" : "");
        if (i < count)
            put_cell(&g->packages[items[i]], out);
        else
            buf_printf(out, "<TD BORDER=\"0\" WIDTH=\"%d\"></TD>", CELL_POINTS);
        buf_text(out, i % columns == columns - 1 ? "</TR>" : "");
    }
    buf_text(out, "</TABLE>>];\n");
}

static void put_group(const struct report_graph *g, const struct group *group,
                      size_t number, size_t columns, struct buf *out)
{
    buf_printf(out, "  subgraph cluster_%zu {\n    margin=12; label=<<B>",
               number);
    markup_text(out, group->name, false);
    buf_text(out, "</B>>;\n");
    for (size_t i = 0; i < group->linked; i++)
        put_node(g, group->items[i], out);
    if (group->linked < group->count)
        put_table(g, group, number, columns, out);
    buf_text(out, "  }\n");
}

void report_graph_dot(const struct report_graph *g, struct buf *out)
{
    CLEANUP(groups_done) struct groups groups;

    group_all(g, &groups);
    buf_text(out,
             "digraph mapm {\n"
             "  rankdir=LR; bgcolor=\"white\"; ranksep=0.6; nodesep=0.15;\n"
             "  fontname=\"Helvetica\"; fontsize=10; fontcolor=\"#1d1f25\";\n"
             "  labeljust=l; style=rounded; color=\"#c9c5bb\";\n"
             "  node [shape=box, style=\"rounded,filled\", height=0.3, "
             "fontname=\"Helvetica\", fontsize=9, fontcolor=\"#1d1f25\"];\n"
             "  edge [color=\"#5f636e\", arrowsize=0.6];\n");
    for (size_t i = 0; i < groups.count; i++)
        put_group(g, &groups.items[i], i, count_columns(&groups), out);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->packages[i].need_count; k++)
            buf_printf(out, "  n%zu -> n%zu;\n", i, g->packages[i].needs[k]);
    buf_text(out, "}\n");
}

/* Returns the SVG without its XML declarations, which belong to separate files
 * only. */
struct str report_graph_svg(struct str written)
{
    size_t at = str_find(written, STR("<svg"));

    return at == SIZE_MAX ? str_make("", 0) : str_from_index(written, at);
}

/* --- the page ---------------------------------------------------------------------- */

static size_t count_kind(const struct report_graph *g, enum doc_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < g->count; i++)
        n += g->packages[i].kind == kind;
    return n;
}

static size_t count_state(const struct report_graph *g, enum report_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < g->count; i++)
        n += g->packages[i].state == state;
    return n;
}

static void put_title(const struct report_graph *g, struct buf *out)
{
    static const enum doc_kind order[] = {DOC_PLUGIN, DOC_AGENT, DOC_SKILL,
                                          DOC_MCP};

    buf_text(out, "<h1>");
    markup_word(out, g->title);
    buf_text(out, "</h1>\n<ul class=\"legend\">\n");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        size_t n = count_kind(g, order[i]);

        if (n)
            buf_printf(out, "<li class=\"k%d\">%zu %s</li>\n", (int)order[i], n,
                       n == 1 ? kinds[order[i]].word : kinds[order[i]].plural);
    }
    for (size_t i = REPORT_PATCHED; i <= REPORT_GONE; i++) {
        size_t n = count_state(g, (enum report_state)i);

        if (n)
            buf_printf(out, "<li class=\"s%zu\">%zu %s</li>\n", i, n,
                       states[i].word);
    }
    if (g->has_states && !count_state(g, REPORT_OUTDATED) &&
        !count_state(g, REPORT_GONE))
        buf_text(out, "<li>nothing is outdated</li>\n");
    if (!g->has_states)
        buf_text(out, "<li>not compared with the origins</li>\n");
    buf_text(out, "</ul>\n");
}

static void put_needs(const struct report_graph *g,
                      const struct report_package *p, struct buf *out)
{
    if (p->need_count == 0)
        return;
    buf_text(out, "<span class=\"needs\">needs ");
    for (size_t i = 0; i < p->need_count; i++) {
        buf_printf(out, "%s<a href=\"#p%zu\">", i ? ", " : "", p->needs[i]);
        markup_word(out, g->packages[p->needs[i]].name);
        buf_text(out, "</a>");
    }
    buf_text(out, "</span>");
}

static void put_line(const struct report_graph *g, size_t at, struct buf *out)
{
    const struct report_package *p = &g->packages[at];

    buf_printf(out, "<li id=\"p%zu\" class=\"k%d\">%s", at, (int)p->kind,
               p->is_root ? "<b>" : "");
    markup_word(out, p->name);
    buf_printf(out, "%s <span class=\"soft\">%s", p->is_root ? "</b>" : "",
               kinds[p->kind].word);
    if (p->version.n) {
        buf_char(out, ' ');
        markup_text(out, p->version, false);
    }
    buf_text(out, "</span>");
    if (p->note.n) {
        buf_printf(out, " <span class=\"note s%d\">", (int)p->state);
        markup_text(out, p->note, false);
        buf_text(out, "</span>");
    }
    put_needs(g, p, out);
    buf_text(out, "</li>\n");
}

void report_graph_page(const struct report_graph *g, struct str svg,
                       struct buf *out)
{
    CLEANUP(groups_done) struct groups groups;
    const struct markup_page page = {
        .title = g->title, .about = " - mapm packages", .style = graph_style};

    group_all(g, &groups);
    markup_head(out, &page);
    put_title(g, out);
    buf_text(out, "<div class=\"picture\" role=\"img\" tabindex=\"0\" "
                  "aria-label=\"The packages and what they need: the same is "
                  "in the list below\">\n");
    buf_append(out, svg);
    buf_text(out, "</div>\n");
    for (size_t i = 0; i < groups.count; i++) {
        const struct group *group = &groups.items[i];

        buf_printf(out, "<details%s><summary>",
                   groups.count <= 3 ? " open" : "");
        markup_word(out, group->name);
        buf_printf(out, " <span class=\"soft\">%zu</span></summary>\n<ul>\n",
                   group->count);
        for (size_t k = 0; k < group->count; k++)
            put_line(g, group->items[k], out);
        buf_text(out, "</ul></details>\n");
    }
    buf_text(out, "</main>\n</body>\n</html>\n");
}
