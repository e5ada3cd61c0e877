#ifndef TESTS_GRAPH_H
#define TESTS_GRAPH_H

#include "mapm/resolver.h"

/*
 * Packages for the resolver from rows of text. The origin of each is its key
 * (and text): "A", or "file:/A" for a local one; `needs` names origins with
 * the list that holds them: "m:M s:B a:X".
 */

struct graph_row {
    const char *origin;
    enum doc_kind kind;
    const char *fqn, *content; /* NULL: as the origin */
    const char *needs;
};

struct graph {
    struct arena *a;
    struct map packages; /* key -> struct package */
    size_t reads;
};

static inline struct origin graph_origin(struct str key)
{
    bool file = str_starts(key, STR("file:"));

    return (struct origin){
        .scheme = file ? ORIGIN_FILE : ORIGIN_GIT, .text = key, .key = key};
}

static inline void graph_init(struct graph *g, struct arena *a)
{
    *g = (struct graph){.a = a};
    map_init(&g->packages, a);
}

static inline struct package *graph_add(struct graph *g, struct str key,
                                        enum doc_kind kind, struct str fqn,
                                        struct str content)
{
    struct package *p = arena_new(g->a, struct package);
    size_t slash = str_find_last(fqn, '/');

    p->kind = kind;
    p->origin = graph_origin(key);
    p->fqn = fqn;
    p->name = slash == SIZE_MAX ? fqn : str_from_index(fqn, slash + 1);
    p->content = content;
    if (p->origin.scheme == ORIGIN_GIT)
        p->commit = STR("c0ffee");
    map_put(&g->packages, key, p);
    return p;
}

static inline void graph_need(struct graph *g, struct package *p,
                              enum doc_kind kind, struct str key)
{
    struct dependency *deps = arena_array(g->a, p->dep_count + 1, sizeof *deps);

    for (size_t i = 0; i < p->dep_count; i++)
        deps[i] = p->deps[i];
    deps[p->dep_count++] =
        (struct dependency){.kind = kind, .origin = graph_origin(key)};
    p->deps = deps;
}

static inline enum doc_kind graph_kind(char c)
{
    return c == 'a' ? DOC_AGENT : c == 'm' ? DOC_MCP : DOC_SKILL;
}

static inline void graph_rows(struct graph *g, const struct graph_row *rows)
{
    for (; rows->origin; rows++) {
        struct str rest = str_from(rows->needs), word;
        struct str fqn = str_from(rows->fqn ? rows->fqn : rows->origin);
        struct package *p =
            graph_add(g, str_from(rows->origin), rows->kind, fqn,
                      str_from(rows->content ? rows->content : rows->origin));

        while (rest.n && str_cut(&rest, ' ', &word))
            graph_need(g, p, graph_kind(word.p[0]), str_from_index(word, 2));
    }
}

static inline bool graph_read(void *ctx, const struct origin *o,
                              enum doc_kind expected,
                              const struct package **out, struct err *e)
{
    struct graph *g = ctx;
    const struct package *p = map_find(&g->packages, o->key);

    (void)expected;
    g->reads++;
    if (!p) {
        err_set(e, ERR_PATH, "no such path");
        return err_hint(e, "look again");
    }
    *out = p;
    return true;
}

static inline struct resolver_source graph_source(struct graph *g)
{
    return (struct resolver_source){.read = graph_read, .ctx = g};
}

#endif
