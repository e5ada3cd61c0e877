#ifndef INSTALL_NOTICE_H
#define INSTALL_NOTICE_H

#include "base/arena.h"
#include "base/context.h"

/*
 * notice: warnings about packages, held back until all of them are known.
 *
 *     notice_add() ... notice_report()
 *
 * They arrive as downloads finish and often say the same of every package of
 * a catalog: reported together they have one order, and equal ones one line.
 */

struct notice {
    struct str code;   /* kind of the notice */
    struct str origin; /* origin of the package, or "" */
    struct str message;
};

struct notices {
    struct arena *arena;
    struct notice *items;
    size_t count, capacity;
    size_t reported; /* number of notices that were reported */
};

void notice_init(struct notices *n, struct arena *a);

/* Adds a notice; all arguments are copied. */
void notice_add(struct notices *n, struct str code, struct str origin,
                struct str message);

/* Reports the notices added since the last call, each alone with is_verbose. */
void notice_report(struct notices *n, struct context *cx);

/* Returns the number of notices so far. */
size_t notice_count(const struct notices *n);

#endif
