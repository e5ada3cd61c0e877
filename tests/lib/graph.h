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

struct graph_package {
    struct package package;
    struct dependency *deps; /* what package.deps points to */
    size_t capacity;
};

struct graph {
    struct arena *a;
    struct map packages; /* key -> struct graph_package */
    size_t reads;
};

static inline struct origin graph_origin(struct str key)
{
    bool file = str_starts(key, STR("file:"));

    return (struct origin){
        .scheme = file ? ORIGIN_FILE : ORIGIN_GIT, .text = key, .key = key};
}

static inline const struct origin *graph_keep_origin(struct str key,
                                                     struct arena *a)
{
    struct origin *o = arena_new(a, struct origin);

    *o = graph_origin(key);
    return o;
}

static inline void graph_init(struct graph *g, struct arena *a)
{
    *g = (struct graph){.a = a};
    map_init(&g->packages, a);
}

static inline struct graph_package *graph_add(struct graph *g, struct str key,
                                              enum doc_kind kind,
                                              struct str fqn,
                                              struct str content)
{
    struct graph_package *p = arena_new(g->a, struct graph_package);
    size_t slash = str_find_last(fqn, '/');

    p->package.kind = kind;
    p->package.origin = graph_keep_origin(key, g->a);
    p->package.fqn = fqn;
    p->package.name = slash == SIZE_MAX ? fqn : str_from_index(fqn, slash + 1);
    p->package.content = content;
    if (p->package.origin->scheme == ORIGIN_GIT)
        p->package.commit = STR("c0ffee");
    map_put(&g->packages, key, p);
    return p;
}

static inline void graph_need(struct graph *g, struct graph_package *p,
                              enum doc_kind kind, struct str key)
{
    size_t n = p->package.dep_count++;

    p->deps = arena_grow(g->a, p->deps, n, &p->capacity, sizeof *p->deps);
    p->deps[n] = (struct dependency){.kind = kind,
                                     .origin = graph_keep_origin(key, g->a)};
    p->package.deps = p->deps;
}

static inline enum doc_kind graph_kind(char c)
{
    return c == 'a' ? DOC_AGENT : c == 'm' ? DOC_MCP : DOC_SKILL;
}

static inline void graph_rows(struct graph *g, const struct graph_row *rows)
{
    for (; rows->origin; rows++) {
        struct str rest = str_cstr(rows->needs), word;
        struct str fqn = str_cstr(rows->fqn ? rows->fqn : rows->origin);
        struct graph_package *p =
            graph_add(g, str_cstr(rows->origin), rows->kind, fqn,
                      str_cstr(rows->content ? rows->content : rows->origin));

        while (rest.n && str_cut(&rest, ' ', &word))
            graph_need(g, p, graph_kind(word.p[0]), str_from_index(word, 2));
    }
}

static inline bool graph_read(void *ctx, const struct origin *o,
                              enum doc_kind expected,
                              const struct package **out, struct err *e)
{
    struct graph *g = ctx;
    const struct graph_package *p = map_find(&g->packages, o->key);

    (void)expected;
    g->reads++;
    if (!p) {
        err_set(e, ERR_PATH, "no such path");
        return err_hint(e, "look again");
    }
    *out = &p->package;
    return true;
}

static inline struct resolver_source graph_source(struct graph *g)
{
    return (struct resolver_source){.read = graph_read, .ctx = g};
}

#endif
