#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/package_text.h"
#include "mapm/project.h"
#include "mapm/report_graph.h"

#include "command.h"
#include "list.h"

#define CHAINS_MAX_SHOWN 100
#define PAGE_MODE        0644
#define PAGE_MAX_BYTES   (64u * 1024 * 1024)

/* --- for people ----------------------------------------------------------- */

struct drawing {
    struct invocation *inv;
    const struct workspace_graph *g;
    struct workspace_graph_walk walk;
    struct buf indent;
};

/* Writes "| | `-- " for the innermost levels, so that lines stay short at any
 * depth. The number of omitted levels is written as "[12] ". */
static void draw_indent(const struct workspace_graph_node *node,
                        struct buf *out)
{
    size_t depth = node->depth;
    size_t from = depth > TREE_MAX_INDENT ? depth - TREE_MAX_INDENT : 1;

    buf_clear(out);
    if (from > 1)
        buf_printf(out, "[%zu] ", from - 1);
    for (size_t i = from; i < depth; i++)
        buf_text(out, node->is_last[i] ? "    " : "\xe2\x94\x82   ");
    if (depth)
        buf_text(out, node->is_last[depth]
                          ? "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 "
                          : "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 ");
}

/* Prints a package. One that was already printed with its dependencies is
 * marked (*). */
static void print_node(void *ctx, const struct workspace_graph_node *node)
{
    struct drawing *d = ctx;
    const struct lock_entry *entry = d->g->entries[node->entry];

    draw_indent(node, &d->indent);
    term_print(&d->inv->term, "%.*s%s %.*s%s%.*s%.*s%s\n",
               STR_ARG(buf_str(&d->indent)), doc_kind_name(entry->kind),
               STR_ARG(entry->name), entry->version.n ? " " : "",
               STR_ARG(entry->version),
               STR_ARG(package_notes(d->g->layer, entry, d->g->a)),
               node->again ? " (*)" : "");
}

/* Prints a catalog and the packages that it selected. */
static void print_catalog(struct drawing *d, const struct catalog *c,
                          size_t first)
{
    const struct workspace_graph *g = d->g;
    size_t last = first;

    for (size_t i = first; i < g->root_count; i++)
        last = g->catalogs[i] == c ? i : last;
    term_print(&d->inv->term, "catalog %.*s\n", STR_ARG(c->origin.text));
    for (size_t i = first; i <= last; i++)
        if (g->catalogs[i] == c)
            workspace_graph_walk(g, &d->walk, g->roots[i], 1, i == last);
}

static void print_tree(struct invocation *inv, const struct workspace_graph *g,
                       size_t max_depth)
{
    struct drawing d = {.inv = inv, .g = g};
    struct map seen;

    buf_init(&d.indent, 64 * 1024);
    map_init(&seen, g->a);
    d.walk = (struct workspace_graph_walk){
        .max_depth = max_depth, .visit = print_node, .ctx = &d};
    for (size_t i = 0; i < g->root_count; i++) {
        const struct catalog *c = g->catalogs[i];

        if (!c)
            workspace_graph_walk(g, &d.walk, g->roots[i], 0, false);
        else if (map_put(&seen, c->origin.key, &d))
            print_catalog(&d, c, i);
    }
    if (d.walk.is_cut && !has_option(inv, OPTION_DEPTH))
        term_note(&inv->term, "deeper levels are not shown%s",
                  limit_words(&g->layer->limits.graph_max_depth,
                              &(struct limit_words){0}));
    buf_done(&d.indent);
}

/* --- for programs --------------------------------------------------------- */

static void put_roots(struct json_writer *w, const struct workspace_graph *g,
                      bool is_many)
{
    for (size_t i = 0; i < g->root_count; i++) {
        const struct lock_entry *entry = g->entries[g->roots[i]];

        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
        json_member_string(w, "name", entry->name);
        if (is_many)
            json_member_string(w, "member", package_member(g->layer));
        json_end_object(w);
    }
}

static void put_packages(struct json_writer *w, const struct workspace_graph *g,
                         bool is_many)
{
    size_t count;
    struct root *list = layer_roots(g->layer, g->a, &count);
    struct map roots;

    layer_index_roots(g->layer, list, count, g->a, &roots);
    for (size_t i = 0; i < g->count; i++)
        list_put_package(w, g->layer, g->entries[i],
                         list_root(&roots, g->entries[i], g->a), is_many, g->a);
}

static void print_tree_json(struct invocation *inv,
                            const struct layers_named *all,
                            const struct workspace_graph *graphs)
{
    struct json_writer *w = print_json_begin(inv, "mapm.tree/1", NULL);

    json_member_string(w, "workspace",
                       all->is_many ? all->all.whole.path
                                    : all->items[0]->path);
    json_member_array(w, "roots");
    for (size_t i = 0; i < all->count; i++)
        put_roots(w, &graphs[i], all->is_many);
    json_end_array(w);
    json_member_array(w, "packages");
    for (size_t i = 0; i < all->count; i++)
        put_packages(w, &graphs[i], all->is_many);
    json_end_array(w);
    print_json_end(inv);
}

/* --- the command ---------------------------------------------------------- */

/* NAME, or TYPE NAME as `list` and `tree` print it. */
bool list_named_package(struct invocation *inv, struct str *out, struct err *e)
{
    const struct str *word = inv->arguments.items;
    enum doc_kind ignored;

    *out = word[0];
    if (inv->arguments.count == 1)
        return true;
    if (!doc_kind_find(word[0], &ignored))
        return err_set(e, ERR_USAGE, "mapm %s: too many arguments: \"%.*s\"",
                       inv->command->name, STR_ARG(word[1]));
    *out = arena_printf(&inv->cx.arena, "%.*s %.*s", STR_ARG(word[0]),
                        STR_ARG(word[1]));
    return true;
}

static bool check_forms(const struct invocation *inv, struct err *e)
{
    int forms = has_option(inv, OPTION_DOT) + has_option(inv, OPTION_MERMAID) +
                has_option(inv, OPTION_JSON) + has_option(inv, OPTION_HTML) +
                has_option(inv, OPTION_SVG);

    if (forms > 1)
        return err_set(e, ERR_USAGE,
                       "--json, --dot, --mermaid, --html and --svg are five "
                       "ways to write the graph: take one");
    if (forms && (has_option(inv, OPTION_INVERT) ||
                  has_option(inv, OPTION_DEPTH) || inv->arguments.count))
        return err_set(e, ERR_USAGE,
                       "--json, --dot, --mermaid, --html and --svg write the "
                       "whole graph: NAME, --invert and --depth are for the "
                       "tree");
    return true;
}

static bool check_one(const struct invocation *inv,
                      const struct layers_named *all, struct err *e)
{
    if (!all->is_many ||
        !(has_option(inv, OPTION_DOT) || has_option(inv, OPTION_MERMAID) ||
          has_option(inv, OPTION_HTML) || has_option(inv, OPTION_SVG)))
        return true;
    err_set(e, ERR_USAGE,
            "--dot, --mermaid, --html and --svg draw the graph of "
            "one member");
    return err_hint(e, "choose it with --member NAME; . is the root");
}

static bool print_trees(struct invocation *inv, const struct layers_named *all,
                        const struct workspace_graph *graphs, struct err *e)
{
    struct str text = option_value(inv, OPTION_DEPTH);
    uint64_t depth = UINT32_MAX;
    size_t shown = 0;

    if (text.p && !str_number(text, UINT32_MAX, &depth))
        return err_set(e, ERR_USAGE, "--depth: \"%.*s\" is not a number",
                       STR_ARG(text));
    for (size_t i = 0; i < all->count; i++) {
        uint64_t max = all->items[i]->limits.graph_max_depth.value;

        if (all->is_many && graphs[i].count)
            term_style_print(&inv->term, TERM_BOLD, "%.*s:\n",
                             STR_ARG(package_member(all->items[i])));
        print_tree(inv, &graphs[i], depth < max ? depth : max);
        shown += graphs[i].count;
    }
    if (shown == 0)
        term_note(&inv->term, "nothing is installed in %.*s",
                  STR_ARG(all->items[0]->path));
    return true;
}

/* Prints the graph in the requested form: of the package `named`, or of all if
 * it is NULL. */
static void shape(struct invocation *inv, const struct lock_entry *named,
                  struct workspace_graph *g)
{
    if (has_option(inv, OPTION_INVERT))
        workspace_graph_invert(g);
    if (named)
        workspace_graph_set_root(g, workspace_graph_find(g, named));
}

static bool write_picture(struct invocation *inv,
                          const struct workspace_graph *g, struct err *e)
{
    bool is_page = has_option(inv, OPTION_HTML);
    enum option_id id = is_page ? OPTION_HTML : OPTION_SVG;
    struct str svg;
    CLEANUP(buf_done) struct buf page = {0};
    struct report_graph graph;

    if (option_value(inv, id).n == 0)
        return err_set(e, ERR_USAGE, "--%s: the file's name is empty",
                       options[id].name);
    report_graph_read(&inv->cx, g, &graph);
    if (!report_graph_lay_out(&graph, &inv->cx.arena, &svg, e))
        return false;
    buf_init(&page, PAGE_MAX_BYTES);
    if (is_page)
        report_graph_page(&graph, svg, &page);
    else
        buf_append(&page, svg);
    return buf_check(&page, "the picture", e) &&
           print_to_file(inv, id, PAGE_MODE, buf_str(&page), e);
}

static void print_text(struct invocation *inv, const struct workspace_graph *g,
                       void (*format)(const struct workspace_graph *,
                                      struct buf *))
{
    CLEANUP(buf_done) struct buf text = {0};

    buf_init(&text, SIZE_MAX / 4);
    format(g, &text);
    term_write(&inv->term, buf_str(&text));
}

static bool print_form(struct invocation *inv, const struct layers_named *all,
                       struct workspace_graph *graphs, struct err *e)
{
    if (has_option(inv, OPTION_HTML) || has_option(inv, OPTION_SVG))
        return write_picture(inv, graphs, e);
    if (has_option(inv, OPTION_JSON))
        print_tree_json(inv, all, graphs);
    else if (has_option(inv, OPTION_DOT))
        print_text(inv, graphs, report_graph_plain_dot);
    else if (has_option(inv, OPTION_MERMAID))
        print_text(inv, graphs, report_graph_mermaid);
    else
        return print_trees(inv, all, graphs, e);
    return true;
}

COMMAND(command_tree)
{
    struct layers_named all;
    struct workspace_graph *graphs;
    struct str name = {"", 0};
    bool ok;

    if (!check_forms(inv, e) ||
        (inv->arguments.count && !list_named_package(inv, &name, e)) ||
        !layers_open_named(&inv->cx, name, &all, e))
        return false;
    ok = check_one(inv, &all, e);
    graphs = arena_array(&inv->cx.arena, all.count, sizeof *graphs);
    for (size_t i = 0; ok && i < all.count; i++) {
        workspace_graph_read(all.items[i], &inv->cx.arena, &graphs[i]);
        shape(inv, all.named[i], &graphs[i]);
    }
    ok = ok && print_form(inv, &all, graphs, e);
    layer_close_all(&all.all);
    return ok;
}

/* --- why ------------------------------------------------------------------ */

struct explaining {
    struct invocation *inv;
    const struct workspace_graph *g;
    struct json_writer *w; /* NULL for text output */
    bool is_of_many;       /* one of several members */
};

static void put_start(const struct explaining *x, const char *type,
                      struct str name)
{
    if (x->w) {
        json_begin_object(x->w);
        json_member_string(x->w, "type", str_cstr(type));
        json_member_string(x->w, "name", name);
        json_end_object(x->w);
    } else {
        term_print(&x->inv->term, "%s %.*s -> ", type, STR_ARG(name));
    }
}

static void put_entry(const struct explaining *x,
                      const struct lock_entry *entry, bool is_last)
{
    if (x->w) {
        json_begin_object(x->w);
        json_member_string(x->w, "type", str_cstr(doc_kind_name(entry->kind)));
        json_member_string(x->w, "name", entry->name);
        json_member_optional(x->w, "tag", entry->tag);
        json_member_optional(x->w, "from", entry->from);
        json_end_object(x->w);
    } else {
        term_print(&x->inv->term, "%s %.*s%.*s%s", doc_kind_name(entry->kind),
                   STR_ARG(entry->name),
                   STR_ARG(package_notes(x->g->layer, entry, x->g->a)),
                   is_last ? "\n" : " -> ");
    }
}

static void print_chain(void *ctx, const struct catalog *catalog,
                        const size_t *chain, size_t count)
{
    const struct explaining *x = ctx;

    if (x->w)
        json_begin_array(x->w);
    if (x->is_of_many)
        put_start(x, "member", package_member(x->g->layer));
    if (catalog)
        put_start(x, "catalog", catalog->origin.text);
    for (size_t i = 0; i < count; i++)
        put_entry(x, x->g->entries[chain[i]], i + 1 == count);
    if (x->w)
        json_end_array(x->w);
}

COMMAND(command_why)
{
    const struct lock_entry *entry;
    struct json_writer *w = NULL;
    struct layers_named all;
    struct str name;

    if (!list_named_package(inv, &name, e) ||
        !layers_open_named(&inv->cx, name, &all, e))
        return false;
    entry = all.named[0];
    if (has_option(inv, OPTION_JSON)) {
        w = print_json_begin(inv, "mapm.why/1", NULL);
        json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
        json_member_string(w, "name", entry->name);
        json_member_array(w, "chains");
    }
    for (size_t i = 0; i < all.count; i++) {
        struct workspace_graph g;
        struct explaining x = {inv, &g, w, all.is_many};

        workspace_graph_read(all.items[i], &inv->cx.arena, &g);
        if (!workspace_graph_chains(&g, workspace_graph_find(&g, all.named[i]),
                                    CHAINS_MAX_SHOWN, print_chain, &x))
            term_note(&inv->term, "there are more ways than these %d",
                      CHAINS_MAX_SHOWN);
    }
    if (w) {
        json_end_array(w);
        print_json_end(inv);
    }
    layer_close_all(&all.all);
    return true;
}
