#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/layer.h"
#include "mapm/lock.h"
#include "mapm/project.h"

#include "command.h"
#include "list.h"

/* The graph of the lock: entries, and for each its dependencies by index. */
struct graph {
    const struct layer *layer;
    struct arena *a;
    const struct lock_entry **entries;
    size_t count;
    size_t **needs;
    size_t *roots;
    size_t root_count;
    struct map by_name; /* layer_name_key -> index + 1 */
    bool is_cut;        /* deeper than graph_max_depth: not shown */
};

static size_t index_of_name(const struct graph *g, enum doc_kind kind,
                            struct str name)
{
    return (uintptr_t)map_find(&g->by_name, layer_name_key(kind, name, g->a)) -
           1;
}

/* SIZE_MAX for a local entry that a committed one hides. */
static size_t index_of(const struct graph *g, const struct lock_entry *entry)
{
    size_t i = index_of_name(g, entry->kind, entry->name);

    return i != SIZE_MAX && g->entries[i] == entry ? i : SIZE_MAX;
}

static void read_roots(const struct layer *l, struct graph *g)
{
    size_t count;
    const struct root *roots = layer_roots(l, g->a, &count);

    g->roots = arena_array(g->a, count + 1, sizeof *g->roots);
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry =
            map_find(&l->by_origin, roots[i].origin.key);
        size_t at = entry ? index_of(g, entry) : SIZE_MAX;

        if (at != SIZE_MAX)
            g->roots[g->root_count++] = at;
    }
}

static void read_graph(struct invocation *inv, const struct layer *l,
                       struct graph *g)
{
    struct arena *a = &inv->cx.arena;

    *g = (struct graph){.layer = l, .a = a};
    g->entries = layer_entries(l, a, &g->count);
    g->needs = arena_array(a, g->count + 1, sizeof *g->needs);
    map_init(&g->by_name, a);
    for (size_t i = 0; i < g->count; i++)
        map_put(&g->by_name,
                layer_name_key(g->entries[i]->kind, g->entries[i]->name, a),
                (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < g->count; i++) {
        const struct lock_entry *entry = g->entries[i];

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

static void print_node(struct invocation *inv, const struct graph *g, size_t at,
                       const char *indent, bool again)
{
    const struct lock_entry *entry = g->entries[at];

    term_print(&inv->term, "%s%s %.*s%s%.*s%.*s%s\n", indent,
               doc_kind_name(entry->kind), STR_ARG(entry->name),
               entry->version.n ? " " : "", STR_ARG(entry->version),
               STR_ARG(list_from(g->layer, entry, g->a)), again ? " (*)" : "");
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
 * depth is not bounded. */
static void print_below(struct invocation *inv, struct graph *g, size_t root,
                        bool *shown, struct frame *stack, struct buf *indent)
{
    size_t depth = 1, max = g->layer->limits.graph_max_depth.value;

    stack[0] = (struct frame){.entry = root};
    while (depth) {
        struct frame *f = &stack[depth - 1];
        const struct lock_entry *entry = g->entries[f->entry];
        size_t child;
        bool last, again;

        if (f->next == entry->need_count) {
            depth--;
            continue;
        }
        child = g->needs[f->entry][f->next++];
        last = f->next == entry->need_count;
        again = shown[child] && g->entries[child]->need_count;
        draw_indent(stack, depth, last, indent);
        print_node(inv, g, child, indent->p, again);
        if (again || shown[child])
            continue;
        shown[child] = true;
        if (depth >= max) {
            g->is_cut |= g->entries[child]->need_count > 0;
            continue;
        }
        stack[depth++] = (struct frame){.entry = child, .is_last = last};
    }
}

static void print_tree(struct invocation *inv, struct graph *g)
{
    bool *shown = arena_array(g->a, g->count + 1, sizeof *shown);
    struct frame *stack = arena_array(g->a, g->count + 1, sizeof *stack);
    CLEANUP(buf_done) struct buf indent = {0};

    buf_init(&indent, 64 * 1024);
    for (size_t i = 0; i < g->root_count; i++) {
        bool again = shown[g->roots[i]];

        print_node(inv, g, g->roots[i], "",
                   again && g->entries[g->roots[i]]->need_count);
        if (again)
            continue;
        shown[g->roots[i]] = true;
        print_below(inv, g, g->roots[i], shown, stack, &indent);
    }
    if (g->is_cut)
        term_note(&inv->term, "what lies deeper is not shown%s",
                  limit_words(&g->layer->limits.graph_max_depth,
                              &(struct limit_words){0}));
}

/* --- for programs --------------------------------------------------------- */

static void print_tree_json(struct invocation *inv, const struct graph *g)
{
    bool *is_root = arena_array(g->a, g->count + 1, sizeof *is_root);
    struct json_writer *w = print_json_begin(inv, "mapm.tree/1", NULL);

    for (size_t i = 0; i < g->root_count; i++)
        is_root[g->roots[i]] = true;
    json_member_string(w, "workspace", g->layer->path);
    json_member_array(w, "roots");
    for (size_t i = 0; i < g->root_count; i++) {
        const struct lock_entry *entry = g->entries[g->roots[i]];

        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
        json_member_string(w, "name", entry->name);
        json_end_object(w);
    }
    json_end_array(w);
    json_member_array(w, "packages");
    for (size_t i = 0; i < g->count; i++)
        list_put_package(w, g->layer, g->entries[i], is_root[i], g->a);
    json_end_array(w);
    print_json_end(inv);
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
    if (!layer_open(&inv->cx, LAYER_READ, &l, e))
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

/* For each entry, the entries that need it. */
struct users {
    size_t *first; /* of entry i: from[first[i]] .. from[first[i + 1]] */
    size_t *from;
};

static void read_users(const struct graph *g, struct users *out)
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

/* How many steps each entry is above `target`, by breadth; SIZE_MAX: not. */
static size_t *measure(const struct graph *g, size_t target)
{
    size_t *distance = arena_array(g->a, g->count + 1, sizeof *distance);
    size_t *queue = arena_array(g->a, g->count + 1, sizeof *queue);
    size_t head = 0, tail = 0;
    struct users users;

    read_users(g, &users);
    for (size_t i = 0; i < g->count; i++)
        distance[i] = SIZE_MAX;
    distance[target] = 0;
    queue[tail++] = target;
    while (head < tail) {
        size_t at = queue[head++];

        for (size_t k = users.first[at]; k < users.first[at + 1]; k++) {
            size_t user = users.from[k];

            if (distance[user] != SIZE_MAX)
                continue;
            distance[user] = distance[at] + 1;
            queue[tail++] = user;
        }
    }
    return distance;
}

/* The first need that is one step nearer to the target. */
static size_t next_nearer(const struct graph *g, const size_t *distance,
                          size_t at)
{
    for (size_t k = 0; k < g->entries[at]->need_count; k++)
        if (distance[g->needs[at][k]] == distance[at] - 1)
            return g->needs[at][k];
    return SIZE_MAX;
}

/* A shortest way down from a root. */
static void print_chain(struct invocation *inv, const struct graph *g,
                        const size_t *distance, size_t at,
                        struct json_writer *w)
{
    if (w)
        json_begin_array(w);
    for (; at != SIZE_MAX; at = next_nearer(g, distance, at)) {
        const struct lock_entry *entry = g->entries[at];

        if (w) {
            json_begin_object(w);
            json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
            json_member_string(w, "name", entry->name);
            json_end_object(w);
        } else {
            term_print(&inv->term, "%s %.*s%.*s%s", doc_kind_name(entry->kind),
                       STR_ARG(entry->name),
                       STR_ARG(list_from(g->layer, entry, g->a)),
                       distance[at] ? " -> " : "\n");
        }
    }
    if (w)
        json_end_array(w);
}

static void explain(struct invocation *inv, const struct graph *g,
                    size_t target, struct json_writer *w)
{
    const size_t *distance = measure(g, target);

    for (size_t i = 0; i < g->root_count; i++)
        if (distance[g->roots[i]] != SIZE_MAX)
            print_chain(inv, g, distance, g->roots[i], w);
}

/* NAME, or TYPE NAME as `list` and `tree` print it. */
static bool named_package(struct invocation *inv, struct str *out,
                          struct err *e)
{
    const struct str *word = inv->arguments.items;
    enum doc_kind ignored;

    *out = word[0];
    if (inv->arguments.count == 1)
        return true;
    if (!doc_kind_find(word[0], &ignored))
        return err_set(e, ERR_USAGE, "mapm why: too many arguments: \"%.*s\"",
                       STR_ARG(word[1]));
    *out = arena_printf(&inv->cx.arena, "%.*s %.*s", STR_ARG(word[0]),
                        STR_ARG(word[1]));
    return true;
}

COMMAND(command_why)
{
    const struct lock_entry *entry;
    struct json_writer *w;
    struct layer l;
    struct graph g;
    struct str name;

    if (!named_package(inv, &name, e) ||
        !layer_open(&inv->cx, LAYER_READ, &l, e))
        return false;
    if (!layer_resolve_name(&l, name, &inv->cx, &entry, e)) {
        layer_close(&l);
        return false;
    }
    read_graph(inv, &l, &g);
    if (has_option(inv, OPTION_JSON)) {
        w = print_json_begin(inv, "mapm.why/1", NULL);
        json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
        json_member_string(w, "name", entry->name);
        json_member_array(w, "chains");
        explain(inv, &g, index_of(&g, entry), w);
        json_end_array(w);
        print_json_end(inv);
    } else {
        explain(inv, &g, index_of(&g, entry), NULL);
    }
    layer_close(&l);
    *exit_code = EXIT_DONE;
    return true;
}
