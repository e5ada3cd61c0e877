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

/* A package with one content, found at one or more origins, or an origin that
 * could not be read. */
struct node {
    const struct package *package; /* NULL if the state is NODE_FAILED */
    struct node *parent;           /* the first dependent; NULL for a root */
    struct node_list origins;      /* links with `key` */
    struct node_list edges;        /* links with `to` and `origin` */
    size_t cursor;                 /* next dependency to visit, see
                                    * next_dependency() */
    size_t step;                   /* index in the plan, once NODE_DONE */
    const struct node *needed_by;  /* last node that listed this one as a
                                    * need */
    enum node_state state;
    bool is_root;
};

struct node_link {
    struct node_link *next;
    struct node *to;
    const struct origin *origin; /* origin as written in the dependency */
    struct str key;
};

/* Collects all problems in one err, one line each. Beyond the maximum number of
 * lines, only a count is added. */
struct report {
    struct err *e;
    size_t problems, lines, bytes;
    size_t more;                /* number of omitted lines */
    const struct node *claimed; /* node of the name in the last problem, if that
                                 * was a conflict */
    struct err why;    /* cause shared by the last problems, reported once after
                     * them */
    struct str unread; /* origin of the first of these problems */
};

void report_end(struct report *r);

/* Reports that the user interrupted the command, in place of other problems. */
void report_interrupt(struct report *r, const struct err *why);

void report_limit(struct report *r, const char *what, const struct limit *limit,
                  const struct node *at);
/* Reports that the source could not provide `o`. `why` is the error of the
 * source. */
void report_unread(struct report *r, const struct origin *o, enum doc_kind kind,
                   const struct node *parent, const struct err *why);
void report_conflict(struct report *r, const struct node *first,
                     const struct package *second, const struct node *parent);
/* Reports a cycle that leads from stack[0] through the other nodes back to
 * stack[0]. */
void report_cycle(struct report *r, struct node *const *stack, size_t depth);
void report_kind(struct report *r, const struct package *p,
                 enum doc_kind expected, const struct node *parent);
void report_agent(struct report *r, const struct origin *o,
                  const struct node *parent);
void report_leaf(struct report *r, const struct node *mcp);
void report_file(struct report *r, const struct origin *o,
                 const struct package *by, const struct node *parent);

#endif
