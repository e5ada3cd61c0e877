#include "base/fs.h"
#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "base/threads.h"
#include "mapm/lint.h"

#include <unistd.h>

#include "git.h"
#include "same.h"
#include "walk.h"

/*
 * Builds a graph of the documents of one repository from their dependencies on
 * each other, by the URLs of its remotes and the branches checked out here.
 */

#define READ_MAX_BYTES  (1024u * 1024)
#define NEAR_MAX_EDITS  2
#define SUGGESTIONS_MAX 100 /* each looks at all packages */

struct node {
    struct check_result *result;
    struct str path; /* path from the top of the repository */
    size_t *needs;   /* indices of the nodes that it depends on */
    size_t need_count, next;
    enum { NODE_NEW, NODE_OPEN, NODE_DONE } state;
};

struct graph {
    const struct check_rules *rules;
    struct arena *a;
    struct str top;
    struct node *nodes;
    size_t count;
    struct map by_path; /* kind and path -> node */
    struct str branches[2];
    size_t branch_count;
    struct str *remotes; /* normalized by origin_repository */
    size_t remote_count, suggestions;
    size_t *stack;
    size_t depth;
};

/* --- the repository ------------------------------------------------------- */

static void add_branch(struct graph *g, struct str name)
{
    name = str_trim(name);
    if (name.n && (!g->branch_count || !str_eq(g->branches[0], name)))
        g->branches[g->branch_count++] = name;
}

/* Returns false without git or if git refuses to read the repository; then no
 * remotes are known. */
static bool query_git(struct graph *g, struct context *cx)
{
    static const char *const remotes[] = {"config", "--local", "--get-regexp",
                                          "^remote\\..*\\.url$", NULL};
    static const char *const head[] = {"symbolic-ref", "--quiet", "--short",
                                       "HEAD", NULL};
    static const char *const theirs[] = {"symbolic-ref", "--quiet", "--short",
                                         "refs/remotes/origin/HEAD", NULL};
    struct err ignored = {0};
    struct str text, line, key;
    struct git git;

    if (!git_open(cx, g->top, &git, &ignored)) {
        err_clear(&ignored);
        return false;
    }
    text = git_text(&git, remotes);
    g->remotes = arena_array(g->a, text.n + 1, sizeof *g->remotes);
    while (str_line(&text, &line))
        if (str_cut(&line, ' ', &key) && line.n)
            g->remotes[g->remote_count++] = origin_of_remote(line, g->a);
    add_branch(g, git_text(&git, head));
    text = git_text(&git, theirs);
    if (str_starts(text, STR("origin/")))
        add_branch(g, str_from_index(text, 7));
    return g->remote_count && g->branch_count;
}

static bool is_own(const struct graph *g, const struct origin *o)
{
    struct str name;

    if (o->scheme != ORIGIN_GIT)
        return false;
    name = origin_repository(o, g->a);
    return str_in(g->remotes, g->remote_count, name);
}

/* Returns the path of an origin in this checkout, if its ref is the branch
 * checked out here or the default branch of the remote; other refs may have
 * other files. */
static bool path_here(const struct graph *g, const struct origin *o,
                      struct str *path)
{
    for (size_t i = 0; i < g->branch_count; i++) {
        struct str branch = g->branches[i];

        if (str_starts(o->rest, branch) && o->rest.n > branch.n &&
            o->rest.p[branch.n] == '/') {
            *path = str_from_index(o->rest, branch.n + 1);
            return true;
        }
    }
    return false;
}

/* --- nodes ---------------------------------------------------------------- */

static struct str node_key(enum doc_kind kind, struct str path, struct arena *a)
{
    return arena_printf(a, "%s %.*s", doc_kind_name(kind), STR_ARG(path));
}

static struct str path_in(const struct graph *g, const struct check_result *r)
{
    struct str below = str_from_index(r->root->real, g->top.n);

    while (below.n && below.p[0] == '/')
        below = str_from_index(below, 1);
    below = fs_join(below, r->folder, g->a);
    return r->kind == DOC_MCP ? fs_join(below, r->file, g->a) : below;
}

static bool is_of(const struct check_result *r, struct str top)
{
    return r->root && r->has_kind && str_eq(r->root->top, top);
}

static void add_nodes(struct graph *g, const struct check_results *results)
{
    g->nodes = arena_array(g->a, results->count + 1, sizeof *g->nodes);
    g->stack = arena_array(g->a, results->count + 1, sizeof *g->stack);
    map_init(&g->by_path, g->a);
    for (size_t i = 0; i < results->count; i++) {
        struct check_result *r = results->items[i];
        struct node *n = &g->nodes[g->count];

        if (!is_of(r, g->top))
            continue;
        *n = (struct node){.result = r, .path = path_in(g, r)};
        if (map_put(&g->by_path, node_key(r->kind, n->path, g->a), n))
            g->count++;
    }
}

/* The package may exist without being among the checked documents. */
static bool is_on_disk(const struct graph *g, enum doc_kind kind,
                       struct str path)
{
    struct str at = fs_join(g->top, path, g->a);

    if (kind != DOC_MCP)
        at = fs_join(at, str_cstr(doc_entry_file(kind)), g->a);
    return access(str_dup0(at, g->a), F_OK) == 0;
}

/* Returns text such as "; did you mean skills/base?", or "". Packages are moved
 * more often than renamed, so the folder counts less than the name. */
static const char *suggestion(struct graph *g, enum doc_kind kind,
                              struct str path)
{
    struct text_nearest near = {0};

    if (g->suggestions++ >= SUGGESTIONS_MAX)
        return "";
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i].result->kind == kind)
            text_nearest_add_path(&near, path_last(path), g->nodes[i].path,
                                  NEAR_MAX_EDITS);
    return near.count ? arena_printf(g->a, "; did you mean %.*s?",
                                     STR_ARG(near.found[0]))
                            .p
                      : "";
}

static void add_need(struct graph *g, struct node *n,
                     const struct check_need *need)
{
    struct err ignored = {0};
    struct origin o;
    struct str path;
    struct node *to;

    if (!origin_parse(need->origin, &g->rules->origins, g->a, &o, &ignored)) {
        err_clear(&ignored);
        return;
    }
    if (!is_own(g, &o) || !path_here(g, &o, &path))
        return;
    to = map_find(&g->by_path, node_key(need->kind, path, g->a));
    if (to)
        n->needs[n->need_count++] = (size_t)(to - g->nodes);
    else if (!is_on_disk(g, need->kind, path))
        lint_report(g->rules, n->result, g->rules->profile == PROFILE_PUBLISH,
                    "dep-missing",
                    "it needs the %s %.*s, which this repository "
                    "does not have%s",
                    doc_kind_name(need->kind), STR_ARG(path),
                    suggestion(g, need->kind, path));
}

/* --- cycles --------------------------------------------------------------- */

static void report_cycle(struct graph *g, size_t to)
{
    struct node *first = &g->nodes[to];
    CLEANUP(buf_done) struct buf b = {0};
    size_t i = g->depth;

    while (i && g->stack[i - 1] != to)
        i--;
    buf_init(&b, 1024);
    for (i = i ? i - 1 : 0; i < g->depth; i++)
        buf_printf(&b, "%.*s -> ", STR_ARG(g->nodes[g->stack[i]].path));
    lint_report(g->rules, first->result, true, "dep-cycle",
                "a cycle of dependencies: %.*s%.*s", STR_ARG(buf_str(&b)),
                STR_ARG(first->path));
}

static void push(struct graph *g, size_t i)
{
    g->nodes[i].state = NODE_OPEN;
    g->stack[g->depth++] = i;
}

static void find_cycles(struct graph *g, size_t root)
{
    if (g->nodes[root].state == NODE_NEW)
        push(g, root);
    while (g->depth) {
        struct node *n = &g->nodes[g->stack[g->depth - 1]];
        size_t to;

        if (n->next == n->need_count) {
            n->state = NODE_DONE;
            g->depth--;
            continue;
        }
        to = n->needs[n->next++];
        if (g->nodes[to].state == NODE_OPEN)
            report_cycle(g, to);
        else if (g->nodes[to].state == NODE_NEW)
            push(g, to);
    }
}

/* --- names ---------------------------------------------------------------- */

static struct str text_of(const struct check_result *r, struct arena *a)
{
    struct str path = fs_join(lint_folder(r, a), r->file, a);
    struct err ignored = {0};
    struct str text;

    if (fs_read_user_file(str_dup0(path, a), READ_MAX_BYTES, a, &text,
                          &ignored))
        return text;
    err_clear(&ignored);
    return STR("");
}

/* A package with the name of an earlier one. Of equal packages only one is
 * installed, which is not a fault. */
struct namesake {
    struct check_result *result;
    const struct node *first;
    bool is_same;
};

static bool compare(void *ctx, size_t thread, size_t index, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct namesake *n = &((struct namesake *)ctx)[index];
    const struct check_result *one = n->result, *two = n->first->result;

    (void)thread, (void)e;
    n->is_same = one->kind == DOC_MCP
                     ? str_eq(text_of(one, &a), text_of(two, &a))
                     : same_folders(lint_folder(one, &a), lint_folder(two, &a));
    return true;
}

static void check_names(struct graph *g)
{
    struct namesake *all = arena_array(g->a, g->count + 1, sizeof *all);
    struct err ignored = {0};
    struct map names;
    size_t count = 0;

    map_init(&names, g->a);
    for (size_t i = 0; i < g->count; i++) {
        struct check_result *r = g->nodes[i].result;
        struct str key = node_key(r->kind, r->fqn, g->a);
        const struct node *first = map_find(&names, key);

        if (!first)
            map_put(&names, key, &g->nodes[i]);
        else if (r->fqn.n)
            all[count++] = (struct namesake){.result = r, .first = first};
    }
    if (!threads_each(count, lint_thread_count(), compare, all, &ignored))
        err_clear(&ignored);
    for (size_t i = 0; i < count; i++)
        if (!all[i].is_same)
            lint_report(
                g->rules, all[i].result, false, "name-duplicate",
                "%.*s has this name, too, and other content: not both can "
                "be installed under it",
                STR_ARG(all[i].first->path));
}

/* --- all of it ------------------------------------------------------------ */

static void check_folder(struct context *cx, const struct check_rules *rules,
                         const struct check_results *results, struct str top,
                         bool in_git)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct graph g = {.rules = rules, .a = &a, .top = top};
    size_t needs = 0;

    add_nodes(&g, results);
    check_names(&g);
    for (size_t i = 0; i < g.count; i++)
        needs += g.nodes[i].result->need_count;
    if (!needs || !in_git || !query_git(&g, cx))
        return;
    for (size_t i = 0; i < g.count; i++) {
        const struct check_result *r = g.nodes[i].result;

        g.nodes[i].needs =
            arena_array(&a, r->need_count + 1, sizeof *g.nodes[i].needs);
        for (size_t k = 0; k < r->need_count; k++)
            add_need(&g, &g.nodes[i], &r->needs[k]);
    }
    for (size_t i = 0; i < g.count; i++)
        find_cycles(&g, i);
}

void lint_graph(struct context *cx, const struct check_rules *rules,
                const struct check_root *roots, size_t count,
                const struct check_results *results)
{
    for (size_t i = 0; i < count; i++) {
        bool is_known = false;

        for (size_t k = 0; k < i && !is_known; k++)
            is_known = str_eq(roots[k].top, roots[i].top);
        if (!is_known)
            check_folder(cx, rules, results, roots[i].top, roots[i].in_git);
    }
}
