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
    struct str code;   /* what kind; alike ones have the same */
    struct str origin; /* of the package; "" when it is about none */
    struct str message;
};

struct notices {
    struct arena *arena;
    struct notice *items;
    size_t count, capacity;
    size_t reported; /* so many were shown and forgotten */
};

void notice_init(struct notices *n, struct arena *a);

/* Everything is copied. */
void notice_add(struct notices *n, struct str code, struct str origin,
                struct str message);

/* Shows what was added since the last time; each one alone with is_verbose. */
void notice_report(struct notices *n, struct context *cx);

/* How many there were so far. */
size_t notice_count(const struct notices *n);

#endif
