#ifndef MAPM_BUDGET_H
#define MAPM_BUDGET_H

#include "base/context.h"
#include "mapm/clients.h"

/*
 * budget: how much of a model's context a workspace uses before the first
 * prompt. For each client, compares the list of skills that it sends to its
 * model with its limit, and counts its instruction files; all in characters.
 *
 * Source: T12, G5.
 */

struct budget_skill {
    struct str name, folder;
    size_t chars;   /* of its line, in the client where it is longest */
    size_t clients; /* number of clients that list it */
};

struct budget_text {
    struct str file; /* file with instructions */
    size_t chars;
};

struct budget_client {
    const struct client *client; /* NULL for mapm mcp */
    size_t limit;                /* limit of the list in characters; 0: none */
    size_t skills, chars;        /* number of skills and characters of the whole
                                    list */
    size_t sent;                 /* characters of it that the model receives */
    /* Skills that mapm mcp offers by search only [G4], and the
     * characters saved by that. */
    size_t searched, saved;
    struct budget_text texts[2 * CLIENT_MAX_TEXTS];
    size_t text_count, text_chars;
    /* Skills whose line is dropped; if the client has `names_stay`, skills
     * whose description is dropped. */
    struct str *dropped;
    size_t dropped_count, dropped_capacity;
};

struct budget {
    struct str workspace;
    /* in the order of clients_table; mapm mcp last */
    struct budget_client *clients;
    size_t count;
    const struct budget_skill *const *skills; /* longest line first */
    size_t skill_count;
};

/*
 * Computes the budget of the clients in use in this workspace and on this
 * machine, or with `all`, of every client that reads skills. The model's
 * context has `window` tokens.
 *
 * Ownership: allocated in the arena of `cx`.
 */
MUST_CHECK bool budget_reckon(struct context *cx, size_t window, bool all,
                              struct budget *out, struct err *e);

/* Estimates the tokens of a text of `chars` characters. */
size_t budget_tokens(size_t chars);

#endif
