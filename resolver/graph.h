#ifndef RESOLVER_GRAPH_H
#define RESOLVER_GRAPH_H

#include "mapm/resolver.h"

/*
 * graph: the walk's own view of packages, and how its problems are told.
 *
 *     walk (resolver.c) --> report_conflict(), report_cycle() … --> struct err
 */

enum node_state { NODE_NEW, NODE_OPEN, NODE_DONE, NODE_FAILED };

struct node_list {
    struct node_link *first, *last;
    size_t count;
};

/* One content at one or more origins; or an origin that could not be read. */
struct node {
    const struct package *package; /* NULL: FAILED */
    struct node *parent;           /* the first parent; NULL: a root */
    struct node_list origins;      /* links with `key` */
    struct node_list edges;        /* links with `to` and `origin` */
    size_t cursor;                 /* next dependency, see resolver.c */
    size_t step;                   /* its place in the plan, once DONE */
    const struct node *needed_by;  /* last one that counted it as a need */
    enum node_state state;
    bool is_root;
};

struct node_link {
    struct node_link *next;
    struct node *to;
    const struct origin *origin; /* as the dependency was written */
    struct str key;
};

/* All problems in one err: a line each, so many and then a count. */
struct report {
    struct err *e;
    size_t problems, lines, bytes;
    size_t more;    /* lines that found no room */
    struct err why; /* of the last problems: told once, after all of them */
};

void report_end(struct report *r);

/* The user interrupted: no other problem is reported. */
void report_interrupt(struct report *r, const struct err *why);

void report_limit(struct report *r, const char *what, const struct limit *limit,
                  const struct node *at);
/* `why` is what the source said about `o`. */
void report_unread(struct report *r, const struct origin *o, enum doc_kind kind,
                   const struct node *parent, const struct err *why);
void report_conflict(struct report *r, const struct node *first,
                     const struct package *second, const struct node *parent);
/* From `stack[0]` along each edge and back to it. */
void report_cycle(struct report *r, struct node *const *stack, size_t depth);
void report_kind(struct report *r, const struct package *p,
                 enum doc_kind expected, const struct node *parent);
void report_agent(struct report *r, const struct origin *o,
                  const struct node *parent);
void report_leaf(struct report *r, const struct node *mcp);
void report_file(struct report *r, const struct origin *o,
                 const struct package *by, const struct node *parent);

#endif
