#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/layer.h"
#include "mapm/lock.h"
#include "mapm/project.h"

#include "command.h"
#include "list.h"
#include "tree_graph.h"

#define CHAINS_MAX_SHOWN 100

static size_t index_of_name(const struct tree_graph *g, enum doc_kind kind,
                            struct str name)
{
    return (uintptr_t)map_find(&g->by_name, layer_name_key(kind, name, g->a)) -
           1;
}

/* SIZE_MAX for a local entry that a committed one hides. */
static size_t index_of(const struct tree_graph *g,
                       const struct lock_entry *entry)
{
    size_t i = index_of_name(g, entry->kind, entry->name);

    return i != SIZE_MAX && g->entries[i] == entry ? i : SIZE_MAX;
}

static void read_roots(const struct layer *l, struct tree_graph *g)
{
    size_t count;
    const struct root *roots = layer_roots(l, g->a, &count);

    g->roots = arena_array(g->a, count + 1, sizeof *g->roots);
    g->catalogs = arena_array(g->a, count + 1, sizeof(struct catalog *));
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry =
            map_find(&l->by_origin, roots[i].origin.key);
        size_t at = entry ? index_of(g, entry) : SIZE_MAX;

        if (at == SIZE_MAX)
            continue;
        g->catalogs[g->root_count] = roots[i].catalog;
        g->roots[g->root_count++] = at;
    }
}

static void read_graph(struct invocation *inv, const struct layer *l,
                       struct tree_graph *g)
{
    struct arena *a = &inv->cx.arena;

    *g = (struct tree_graph){.layer = l, .a = a};
    g->entries = layer_entries(l, a, &g->count);
    g->needs = arena_array(a, g->count + 1, sizeof *g->needs);
    g->need_counts = arena_array(a, g->count + 1, sizeof *g->need_counts);
    g->max_depth = l->limits.graph_max_depth.value;
    map_init(&g->by_name, a);
    for (size_t i = 0; i < g->count; i++)
        map_put(&g->by_name,
                layer_name_key(g->entries[i]->kind, g->entries[i]->name, a),
                (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < g->count; i++) {
        const struct lock_entry *entry = g->entries[i];

        g->need_counts[i] = entry->need_count;
        g->needs[i] = arena_array(a, entry->need_count + 1, sizeof(size_t));
        for (size_t k = 0; k < entry->need_count; k++)
            g->needs[i][k] =
                index_of_name(g, entry->needs[k].kind, entry->needs[k].name);
    }
    read_roots(l, g);
}

/* --- for people ----------------------------------------------------------- */

struct frame {
    size_t entry, next; /* which of its needs comes next */
    bool is_last;       /* index into the dependencies of the parent */
};

static void print_node(struct invocation *inv, const struct tree_graph *g,
                       size_t at, const char *indent, bool again)
{
    const struct lock_entry *entry = g->entries[at];

    term_print(&inv->term, "%s%s %.*s%s%.*s%.*s%s\n", indent,
               doc_kind_name(entry->kind), STR_ARG(entry->name),
               entry->version.n ? " " : "", STR_ARG(entry->version),
               STR_ARG(list_notes(g->layer, entry, g->a)), again ? " (*)" : "");
}

/* "| | `-- ", of the innermost levels: the length of a line is bounded at any
 * depth. Omitted levels are counted: "[12] ". */
static void draw_indent(const struct frame *stack, size_t depth, bool last,
                        struct buf *out)
{
    size_t from = depth > TREE_MAX_INDENT ? depth - TREE_MAX_INDENT : 1;

    buf_clear(out);
    if (from > 1)
        buf_printf(out, "[%zu] ", from - 1);
    for (size_t i = from; i < depth; i++)
        buf_text(out, stack[i].is_last ? "    " : "\xe2\x94\x82   ");
    buf_text(out, last ? "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 "
                       : "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 ");
}

/* A repeated package is marked (*) and not expanded again; iterative, as the
 * depth is not bounded. `top`: the frame of the root, 1 below a catalog. */
static void print_below(struct invocation *inv, struct tree_graph *g,
                        struct frame root, size_t top, bool *shown,
                        struct frame *stack, struct buf *indent)
{
    size_t depth = top + 1, max = g->max_depth + top;

    stack[top] = root;
    while (depth > top) {
        struct frame *f = &stack[depth - 1];
        size_t count = g->need_counts[f->entry], child;
        bool last, again;

        if (f->next == count) {
            depth--;
            continue;
        }
        child = g->needs[f->entry][f->next++];
        last = f->next == count;
        again = shown[child] && g->need_counts[child];
        draw_indent(stack, depth, last, indent);
        print_node(inv, g, child, indent->p, again);
        if (again || shown[child])
            continue;
        shown[child] = true;
        if (depth >= max) {
            g->is_cut |= g->need_counts[child] > 0;
            continue;
        }
        stack[depth++] = (struct frame){.entry = child, .is_last = last};
    }
}

static void print_root(struct invocation *inv, struct tree_graph *g,
                       size_t root, size_t top, bool is_last, bool *shown,
                       struct frame *stack, struct buf *indent)
{
    bool again = shown[root];

    buf_clear(indent);
    if (top)
        draw_indent(stack, top, is_last, indent);
    print_node(inv, g, root, indent->p ? indent->p : "",
               again && g->need_counts[root]);
    if (again)
        return;
    shown[root] = true;
    if (g->max_depth)
        print_below(inv, g, (struct frame){.entry = root, .is_last = is_last},
                    top, shown, stack, indent);
}

/* What a catalog chose, below it. */
static void print_catalog(struct invocation *inv, struct tree_graph *g,
                          const struct catalog *c, size_t first, bool *shown,
                          struct frame *stack, struct buf *indent)
{
    size_t last = first;

    for (size_t i = first; i < g->root_count; i++)
        last = g->catalogs[i] == c ? i : last;
    term_print(&inv->term, "catalog %.*s\n", STR_ARG(c->origin.text));
    for (size_t i = first; i <= last; i++)
        if (g->catalogs[i] == c)
            print_root(inv, g, g->roots[i], 1, i == last, shown, stack, indent);
}

static void print_tree(struct invocation *inv, struct tree_graph *g)
{
    bool *shown = arena_array(g->a, g->count + 1, sizeof *shown);
    struct frame *stack = arena_array(g->a, g->count + 2, sizeof *stack);
    CLEANUP(buf_done) struct buf indent = {0};
    struct map seen;

    buf_init(&indent, 64 * 1024);
    map_init(&seen, g->a);
    for (size_t i = 0; i < g->root_count; i++) {
        const struct catalog *c = g->catalogs[i];

        if (!c)
            print_root(inv, g, g->roots[i], 0, false, shown, stack, &indent);
        else if (map_put(&seen, c->origin.key, g))
            print_catalog(inv, g, c, i, shown, stack, &indent);
    }
    if (g->is_cut && !has_option(inv, OPTION_DEPTH))
        term_note(&inv->term, "what lies deeper is not shown%s",
                  limit_words(&g->layer->limits.graph_max_depth,
                              &(struct limit_words){0}));
}

/* --- for programs --------------------------------------------------------- */

static void put_roots(struct json_writer *w, const struct tree_graph *g,
                      bool is_many)
{
    for (size_t i = 0; i < g->root_count; i++) {
        const struct lock_entry *entry = g->entries[g->roots[i]];

        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
        json_member_string(w, "name", entry->name);
        if (is_many)
            json_member_string(w, "member", list_member(g->layer));
        json_end_object(w);
    }
}

static void put_packages(struct json_writer *w, const struct tree_graph *g,
                         bool is_many)
{
    bool *is_root = arena_array(g->a, g->count + 1, sizeof *is_root);

    for (size_t i = 0; i < g->root_count; i++)
        is_root[g->roots[i]] = true;
    for (size_t i = 0; i < g->count; i++)
        list_put_package(w, g->layer, g->entries[i], is_root[i], is_many, g->a);
}

static void print_tree_json(struct invocation *inv,
                            const struct list_layers *all,
                            const struct tree_graph *graphs)
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

/* Names are of letters, digits and ._-/ only: safe inside quotes. */
static void print_dot(struct invocation *inv, const struct tree_graph *g)
{
    static const char *const shapes[] = {[DOC_AGENT] = "box",
                                         [DOC_SKILL] = "ellipse",
                                         [DOC_MCP] = "hexagon",
                                         [DOC_PLUGIN] = "folder"};
    struct term *t = &inv->term;

    term_print(t, "digraph mapm {\n  rankdir=LR;\n");
    for (size_t i = 0; i < g->count; i++)
        term_print(t, "  \"%s %.*s\" [label=\"%.*s\", shape=%s];\n",
                   doc_kind_name(g->entries[i]->kind),
                   STR_ARG(g->entries[i]->name), STR_ARG(g->entries[i]->name),
                   shapes[g->entries[i]->kind]);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->entries[i]->need_count; k++)
            term_print(t, "  \"%s %.*s\" -> \"%s %.*s\";\n",
                       doc_kind_name(g->entries[i]->kind),
                       STR_ARG(g->entries[i]->name),
                       doc_kind_name(g->entries[i]->needs[k].kind),
                       STR_ARG(g->entries[i]->needs[k].name));
    term_print(t, "}\n");
}

static void print_mermaid(struct invocation *inv, const struct tree_graph *g)
{
    struct term *t = &inv->term;

    term_print(t, "graph LR\n");
    for (size_t i = 0; i < g->count; i++)
        term_print(t, "  n%zu%s\"%.*s\"%s\n", i,
                   g->entries[i]->kind == DOC_AGENT    ? "["
                   : g->entries[i]->kind == DOC_SKILL  ? "("
                   : g->entries[i]->kind == DOC_PLUGIN ? "[["
                                                       : "{{",
                   STR_ARG(g->entries[i]->name),
                   g->entries[i]->kind == DOC_AGENT    ? "]"
                   : g->entries[i]->kind == DOC_SKILL  ? ")"
                   : g->entries[i]->kind == DOC_PLUGIN ? "]]"
                                                       : "}}");
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->entries[i]->need_count; k++)
            term_print(t, "  n%zu --> n%zu\n", i, g->needs[i][k]);
}

/* For each entry, the entries that need it. */
struct users {
    size_t *first; /* of entry i: from[first[i]] .. from[first[i + 1]] */
    size_t *from;
};

static void read_users(const struct tree_graph *g, struct users *out)
{
    size_t *next = arena_array(g->a, g->count + 2, sizeof *next);
    size_t total = 0;

    out->first = arena_array(g->a, g->count + 2, sizeof *next);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->entries[i]->need_count; k++)
            next[g->needs[i][k]]++;
    for (size_t i = 0; i < g->count; i++) {
        out->first[i] = total;
        total += next[i];
        next[i] = out->first[i];
    }
    out->first[g->count] = total;
    out->from = arena_array(g->a, total + 1, sizeof *out->from);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->entries[i]->need_count; k++)
            out->from[next[g->needs[i][k]]++] = i;
}

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

/* From what needs nothing, or from `target`, up to what needs it. */
static void invert(struct tree_graph *g)
{
    struct users users;

    g->roots = arena_array(g->a, g->count + 1, sizeof *g->roots);
    g->catalogs = arena_array(g->a, g->count + 1, sizeof(struct catalog *));
    g->root_count = 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->entries[i]->need_count == 0)
            g->roots[g->root_count++] = i;
    read_users(g, &users);
    for (size_t i = 0; i < g->count; i++) {
        g->needs[i] = users.from + users.first[i];
        g->need_counts[i] = users.first[i + 1] - users.first[i];
    }
}

static bool read_depth(struct invocation *inv, struct tree_graph *g,
                       struct err *e)
{
    struct str text = option_value(inv, OPTION_DEPTH);
    uint64_t depth;

    if (!text.p)
        return true;
    if (!str_number(text, UINT32_MAX, &depth))
        return err_set(e, ERR_USAGE, "--depth: \"%.*s\" is not a number",
                       STR_ARG(text));
    if (depth < g->max_depth)
        g->max_depth = depth;
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

/* The graph as it was asked for. `named`: the one package; NULL: all. */
static bool shape(struct invocation *inv, const struct lock_entry *named,
                  struct tree_graph *g, struct err *e)
{
    if (!read_depth(inv, g, e))
        return false;
    if (has_option(inv, OPTION_INVERT))
        invert(g);
    if (!named)
        return true;
    g->roots[0] = index_of(g, named);
    g->catalogs[0] = NULL;
    g->root_count = 1;
    return true;
}

static bool check_one(const struct invocation *inv,
                      const struct list_layers *all, struct err *e)
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

static void print_trees(struct invocation *inv, const struct list_layers *all,
                        struct tree_graph *graphs)
{
    size_t shown = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (all->is_many && graphs[i].count)
            term_style_print(&inv->term, TERM_BOLD, "%.*s:\n",
                             STR_ARG(list_member(all->items[i])));
        print_tree(inv, &graphs[i]);
        shown += graphs[i].count;
    }
    if (shown == 0)
        term_note(&inv->term, "nothing is installed in %.*s",
                  STR_ARG(all->items[0]->path));
}

static bool print_form(struct invocation *inv, const struct list_layers *all,
                       struct tree_graph *graphs, struct err *e)
{
    if (has_option(inv, OPTION_HTML) || has_option(inv, OPTION_SVG))
        return tree_write_picture(inv, graphs, e);
    if (has_option(inv, OPTION_JSON))
        print_tree_json(inv, all, graphs);
    else if (has_option(inv, OPTION_DOT))
        print_dot(inv, graphs);
    else if (has_option(inv, OPTION_MERMAID))
        print_mermaid(inv, graphs);
    else
        print_trees(inv, all, graphs);
    return true;
}

COMMAND(command_tree)
{
    struct list_layers all;
    struct tree_graph *graphs;
    struct str name = {"", 0};
    bool ok;

    if (!check_forms(inv, e) ||
        (inv->arguments.count && !list_named_package(inv, &name, e)) ||
        !list_open(inv, name, &all, e))
        return false;
    ok = check_one(inv, &all, e);
    graphs = arena_array(&inv->cx.arena, all.count, sizeof *graphs);
    for (size_t i = 0; ok && i < all.count; i++) {
        read_graph(inv, all.items[i], &graphs[i]);
        ok = shape(inv, all.named[i], &graphs[i], e);
    }
    ok = ok && print_form(inv, &all, graphs, e);
    layer_close_all(&all.all);
    *exit_code = EXIT_DONE;
    return ok;
}

/* --- why ------------------------------------------------------------------ */

/* Which entries lead to `target`, it among them. */
static bool *find_leading(const struct tree_graph *g, size_t target)
{
    bool *leads = arena_array(g->a, g->count + 1, sizeof *leads);
    size_t *queue = arena_array(g->a, g->count + 1, sizeof *queue);
    size_t head = 0, tail = 0;
    struct users users;

    read_users(g, &users);
    leads[target] = true;
    queue[tail++] = target;
    while (head < tail) {
        size_t at = queue[head++];

        for (size_t k = users.first[at]; k < users.first[at + 1]; k++) {
            size_t user = users.from[k];

            if (leads[user])
                continue;
            leads[user] = true;
            queue[tail++] = user;
        }
    }
    return leads;
}

static void print_chain(struct invocation *inv, const struct tree_graph *g,
                        const struct catalog *catalog,
                        const struct frame *stack, size_t depth,
                        struct json_writer *w)
{
    if (w)
        json_begin_array(w);
    if (g->is_of_many && w) {
        json_begin_object(w);
        json_member_string(w, "type", STR("member"));
        json_member_string(w, "name", list_member(g->layer));
        json_end_object(w);
    } else if (g->is_of_many) {
        term_print(&inv->term, "member %.*s -> ",
                   STR_ARG(list_member(g->layer)));
    }
    if (catalog && w) {
        json_begin_object(w);
        json_member_string(w, "type", STR("catalog"));
        json_member_string(w, "name", catalog->origin.text);
        json_end_object(w);
    } else if (catalog) {
        term_print(&inv->term, "catalog %.*s -> ",
                   STR_ARG(catalog->origin.text));
    }
    for (size_t i = 0; i < depth; i++) {
        const struct lock_entry *entry = g->entries[stack[i].entry];

        if (w) {
            json_begin_object(w);
            json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
            json_member_string(w, "name", entry->name);
            json_member_optional(w, "tag", entry->tag);
            json_member_optional(w, "from", entry->from);
            json_end_object(w);
        } else {
            term_print(&inv->term, "%s %.*s%.*s%s", doc_kind_name(entry->kind),
                       STR_ARG(entry->name),
                       STR_ARG(list_notes(g->layer, entry, g->a)),
                       i + 1 < depth ? " -> " : "\n");
        }
    }
    if (w)
        json_end_array(w);
}

/* Every way down from a root, depth first; a graph of few packages may have more
 * than anyone counts, so no more than CHAINS_MAX_SHOWN. */
static bool print_chains(struct invocation *inv, const struct tree_graph *g,
                         const bool *leads, size_t target, size_t nth,
                         struct frame *stack, size_t *count,
                         struct json_writer *w)
{
    size_t depth = 1;

    stack[0] = (struct frame){.entry = g->roots[nth]};
    while (depth) {
        struct frame *f = &stack[depth - 1];
        size_t child;

        if (f->entry == target) {
            if (*count == CHAINS_MAX_SHOWN)
                return false;
            ++*count;
            print_chain(inv, g, g->catalogs[nth], stack, depth--, w);
            continue;
        }
        if (f->next == g->need_counts[f->entry]) {
            depth--;
            continue;
        }
        child = g->needs[f->entry][f->next++];
        if (leads[child])
            stack[depth++] = (struct frame){.entry = child};
    }
    return true;
}

static void explain(struct invocation *inv, const struct tree_graph *g,
                    size_t target, struct json_writer *w)
{
    const bool *leads = find_leading(g, target);
    struct frame *stack = arena_array(g->a, g->count + 1, sizeof *stack);
    size_t count = 0;
    bool all = true;

    for (size_t i = 0; all && i < g->root_count; i++)
        if (leads[g->roots[i]])
            all = print_chains(inv, g, leads, target, i, stack, &count, w);
    if (!all)
        term_note(&inv->term, "there are more ways than these %d",
                  CHAINS_MAX_SHOWN);
}

COMMAND(command_why)
{
    const struct lock_entry *entry;
    struct json_writer *w = NULL;
    struct list_layers all;
    struct str name;

    if (!list_named_package(inv, &name, e) || !list_open(inv, name, &all, e))
        return false;
    entry = all.named[0];
    if (has_option(inv, OPTION_JSON)) {
        w = print_json_begin(inv, "mapm.why/1", NULL);
        json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
        json_member_string(w, "name", entry->name);
        json_member_array(w, "chains");
    }
    for (size_t i = 0; i < all.count; i++) {
        struct tree_graph g;

        read_graph(inv, all.items[i], &g);
        g.is_of_many = all.is_many;
        explain(inv, &g, index_of(&g, all.named[i]), w);
    }
    if (w) {
        json_end_array(w);
        print_json_end(inv);
    }
    layer_close_all(&all.all);
    *exit_code = EXIT_DONE;
    return true;
}
