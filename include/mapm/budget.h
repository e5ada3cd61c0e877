#ifndef MAPM_BUDGET_H
#define MAPM_BUDGET_H

#include "base/context.h"
#include "mapm/clients.h"

/*
 * budget: the context that a workspace costs before the first prompt. For each
 * client the list of skills that it gives its model, compared with its limit, and
 * the instructions, in characters.
 *
 * Source: T12, G5.
 */

struct budget_skill {
    struct str name, folder;
    size_t chars;   /* of its line, where it is longest */
    size_t clients; /* how many list it */
};

struct budget_text {
    struct str file; /* of instructions */
    size_t chars;
};

struct budget_client {
    const struct client *client; /* NULL: mapm mcp */
    size_t limit;                /* of the list, in characters; 0: none */
    size_t skills, chars;        /* of the whole list … */
    size_t sent;                 /* … and of what the model gets of it */
    size_t searched, saved; /* skills that it does not list [G4], and how much
                             * more it would send with them */
    struct budget_text texts[2 * CLIENT_MAX_TEXTS];
    size_t text_count, text_chars;
    /* Skills that lose their line, or with `names_stay` of the client their
     * description. */
    struct str *dropped;
    size_t dropped_count, dropped_capacity;
};

struct budget {
    struct str workspace;
    struct budget_client
        *clients; /* in the order of the table; mapm mcp last */
    size_t count;
    const struct budget_skill *const *skills; /* the longest first */
    size_t skill_count;
};

/*
 * Of the clients of this workspace and this machine, with `all` of each that looks
 * for skills, where a model's context has `window` tokens.
 *
 * Ownership: in the arena of `cx`.
 */
MUST_CHECK bool budget_reckon(struct context *cx, size_t window, bool all,
                              struct budget *out, struct err *e);

/* Estimated. */
size_t budget_tokens(size_t chars);

#endif
