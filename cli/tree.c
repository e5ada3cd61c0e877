#include "layer.h"
#include "prereqs.h"

/* The graph as the lock has it: entries, and for each its needs by index. */
struct graph {
    const struct layer *layer;
    struct arena *a;
    const struct lock_entry **entries;
    size_t count;
    size_t **needs;
    size_t *roots;
    size_t root_count;
};

static size_t index_of(const struct graph *g, const struct lock_entry *entry)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->entries[i] == entry)
            return i;
    return SIZE_MAX;
}

static void read_graph(struct invocation *inv, const struct layer *l,
                       struct graph *g)
{
    struct arena *a = &inv->arena;
    struct map by_key;
    struct root *roots;
    size_t root_count;

    *g = (struct graph){.layer = l, .a = a};
    g->entries = layer_entries(l, a, &g->count);
    g->needs = arena_array(a, g->count + 1, sizeof *g->needs);
    map_init(&by_key, a);
    for (size_t i = 0; i < g->count; i++)
        map_put(&by_key,
                layer_name_key(g->entries[i]->kind, g->entries[i]->name, a),
                (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < g->count; i++) {
        const struct lock_entry *entry = g->entries[i];

        g->needs[i] = arena_array(a, entry->need_count + 1, sizeof(size_t));
        for (size_t k = 0; k < entry->need_count; k++)
            g->needs[i][k] =
                (uintptr_t)map_find(&by_key,
                                    layer_name_key(entry->needs[k].kind,
                                                   entry->needs[k].name, a)) -
                1;
    }
    roots = layer_roots(l, a, &root_count);
    g->roots = arena_array(a, root_count + 1, sizeof *g->roots);
    for (size_t i = 0; i < root_count; i++) {
        const struct lock_entry *entry =
            map_find(&l->by_origin, roots[i].origin.key);
        size_t at = entry ? index_of(g, entry) : SIZE_MAX;

        if (at != SIZE_MAX)
            g->roots[g->root_count++] = at;
    }
}

/* --- for people ----------------------------------------------------------- */

struct frame {
    size_t entry, next; /* which of its needs comes next */
};

static void print_node(struct invocation *inv, const struct graph *g, size_t at,
                       const struct buf *prefix, const char *branch, bool again)
{
    const struct lock_entry *entry = g->entries[at];

    term_print(&inv->term, "%s%s%s %.*s%s%.*s%s\n", prefix->p, branch,
               doc_kind_name(entry->kind), STR_ARG(entry->name),
               entry->version.n ? " " : "", STR_ARG(entry->version),
               again ? " (*)" : "");
}

/* What was shown before is marked (*) and not opened again; iterative, as
 * deep as the graph may be. */
static void print_below(struct invocation *inv, const struct graph *g,
                        size_t root, bool *shown)
{
    struct frame *stack = arena_array(g->a, g->count + 1, sizeof *stack);
    struct buf prefix;
    size_t depth = 1;

    buf_init(&prefix, 64 * 1024);
    buf_text(&prefix, "");
    stack[0] = (struct frame){root, 0};
    while (depth) {
        struct frame *f = &stack[depth - 1];
        const struct lock_entry *entry = g->entries[f->entry];
        size_t child;
        bool last, again;

        if (f->next == entry->need_count) {
            depth--;
            if (depth && prefix.n) {
                /* The last level's bar or blanks go. */
                size_t cut = prefix.p[prefix.n - 1] == ' ' && prefix.n >= 4 &&
                                     prefix.p[prefix.n - 4] == ' '
                                 ? 4
                                 : 6;

                prefix.n -= cut < prefix.n ? cut : prefix.n;
                prefix.p[prefix.n] = '\0';
            }
            continue;
        }
        child = g->needs[f->entry][f->next++];
        last = f->next == entry->need_count;
        again = shown[child] && g->entries[child]->need_count;
        print_node(inv, g, child, &prefix,
                   last ? "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 "
                        : "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 ",
                   again);
        if (again || shown[child])
            continue;
        shown[child] = true;
        buf_text(&prefix, last ? "    " : "\xe2\x94\x82   ");
        stack[depth++] = (struct frame){child, 0};
    }
    buf_done(&prefix);
}

static void print_tree(struct invocation *inv, const struct graph *g)
{
    bool *shown = arena_array(g->a, g->count + 1, sizeof *shown);
    struct buf none;

    buf_init(&none, 16);
    buf_text(&none, "");
    for (size_t i = 0; i < g->root_count; i++) {
        bool again = shown[g->roots[i]];

        print_node(inv, g, g->roots[i], &none, "",
                   again && g->entries[g->roots[i]]->need_count);
        if (again)
            continue;
        shown[g->roots[i]] = true;
        print_below(inv, g, g->roots[i], shown);
    }
    buf_done(&none);
}

/* --- for programs --------------------------------------------------------- */

static void print_tree_json(struct invocation *inv, const struct graph *g)
{
    struct json_writer w;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.tree/1"));
    json_member_string(&w, "workspace", g->layer->path);
    json_key(&w, "roots");
    json_begin_array(&w);
    for (size_t i = 0; i < g->root_count; i++) {
        const struct lock_entry *entry = g->entries[g->roots[i]];

        json_begin_object(&w);
        json_member_string(&w, "type", str_from(doc_kind_name(entry->kind)));
        json_member_string(&w, "name", entry->name);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, "packages");
    json_begin_array(&w);
    for (size_t i = 0; i < g->count; i++) {
        bool root = false;

        for (size_t k = 0; k < g->root_count; k++)
            root |= g->roots[k] == i;
        list_put_package(&w, g->layer, g->entries[i], root, g->a);
    }
    json_end_array(&w);
    json_end_object(&w);
    print_json(inv, &b);
    buf_done(&b);
}

/* Names are of letters, digits and ._-/ only: safe inside quotes. */
static void print_dot(struct invocation *inv, const struct graph *g)
{
    static const char *const shapes[] = {
        [DOC_AGENT] = "box", [DOC_SKILL] = "ellipse", [DOC_MCP] = "hexagon"};
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

static void print_mermaid(struct invocation *inv, const struct graph *g)
{
    struct term *t = &inv->term;

    term_print(t, "graph LR\n");
    for (size_t i = 0; i < g->count; i++)
        term_print(t, "  n%zu%s\"%.*s\"%s\n", i,
                   g->entries[i]->kind == DOC_AGENT   ? "["
                   : g->entries[i]->kind == DOC_SKILL ? "("
                                                      : "{{",
                   STR_ARG(g->entries[i]->name),
                   g->entries[i]->kind == DOC_AGENT   ? "]"
                   : g->entries[i]->kind == DOC_SKILL ? ")"
                                                      : "}}");
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->entries[i]->need_count; k++)
            term_print(t, "  n%zu --> n%zu\n", i, g->needs[i][k]);
}

COMMAND(command_tree)
{
    struct layer l;
    struct graph g;

    if (has_option(inv, OPTION_DOT) + has_option(inv, OPTION_MERMAID) +
            has_option(inv, OPTION_JSON) >
        1)
        return err_set(e, ERR_USAGE,
                       "--json, --dot and --mermaid are three "
                       "ways to print the tree: take one");
    if (!layer_open(inv, LAYER_READ, &l, e))
        return false;
    read_graph(inv, &l, &g);
    if (has_option(inv, OPTION_JSON))
        print_tree_json(inv, &g);
    else if (has_option(inv, OPTION_DOT))
        print_dot(inv, &g);
    else if (has_option(inv, OPTION_MERMAID))
        print_mermaid(inv, &g);
    else
        print_tree(inv, &g);
    layer_close(&l);
    *exit_code = EXIT_DONE;
    return true;
}

/* --- why ------------------------------------------------------------------ */

/* The shortest way from each root, by breadth: from[i] is who led to i. */
static void walk_from(const struct graph *g, size_t root, size_t *from)
{
    size_t *queue = arena_array(g->a, g->count + 1, sizeof *queue);
    size_t head = 0, tail = 0;

    for (size_t i = 0; i < g->count; i++)
        from[i] = SIZE_MAX;
    from[root] = root;
    queue[tail++] = root;
    while (head < tail) {
        size_t at = queue[head++];

        for (size_t k = 0; k < g->entries[at]->need_count; k++) {
            size_t next = g->needs[at][k];

            if (from[next] != SIZE_MAX)
                continue;
            from[next] = at;
            queue[tail++] = next;
        }
    }
}

static size_t chain_to(const size_t *from, size_t root, size_t target,
                       size_t *chain)
{
    size_t n = 0;

    for (size_t at = target; at != root; at = from[at])
        chain[n++] = at;
    chain[n++] = root;
    return n;
}

static void print_chain(struct invocation *inv, const struct graph *g,
                        const size_t *chain, size_t n, struct json_writer *w)
{
    if (w)
        json_begin_array(w);
    while (n-- > 0) {
        const struct lock_entry *entry = g->entries[chain[n]];
        struct str key = layer_name_key(entry->kind, entry->name, g->a);

        if (w) {
            json_begin_object(w);
            json_member_string(w, "type", str_from(doc_kind_name(entry->kind)));
            json_member_string(w, "name", entry->name);
            json_end_object(w);
        } else
            term_print(&inv->term, "%.*s%s", STR_ARG(key), n ? " -> " : "\n");
    }
    if (w)
        json_end_array(w);
}

static void explain(struct invocation *inv, const struct graph *g,
                    size_t target, struct json_writer *w)
{
    size_t *from = arena_array(g->a, g->count + 1, sizeof *from);
    size_t *chain = arena_array(g->a, g->count + 1, sizeof *chain);

    for (size_t i = 0; i < g->root_count; i++) {
        walk_from(g, g->roots[i], from);
        if (from[target] != SIZE_MAX)
            print_chain(inv, g, chain,
                        chain_to(from, g->roots[i], target, chain), w);
    }
}

COMMAND(command_why)
{
    const struct lock_entry *entry;
    struct json_writer w;
    struct layer l;
    struct graph g;
    struct buf b;

    if (!layer_open(inv, LAYER_READ, &l, e))
        return false;
    if (!layer_resolve_name(&l, inv->arguments.items[0], inv, &entry, e)) {
        layer_close(&l);
        return false;
    }
    read_graph(inv, &l, &g);
    if (has_option(inv, OPTION_JSON)) {
        buf_init(&b, SIZE_MAX / 4);
        json_writer_init(&w, &b, 2);
        json_begin_object(&w);
        json_member_string(&w, "schema", STR("mapm.why/1"));
        json_member_string(&w, "type", str_from(doc_kind_name(entry->kind)));
        json_member_string(&w, "name", entry->name);
        json_key(&w, "chains");
        json_begin_array(&w);
        explain(inv, &g, index_of(&g, entry), &w);
        json_end_array(&w);
        json_end_object(&w);
        print_json(inv, &b);
        buf_done(&b);
    } else {
        explain(inv, &g, index_of(&g, entry), NULL);
    }
    layer_close(&l);
    *exit_code = EXIT_DONE;
    return true;
}
