#ifndef CLI_BUDGET_H
#define CLI_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * budget: what clients put before their model at the start: name and
 * description of each skill that they find, and the instructions of the place.
 * Where they look, and how much they take, moves: each row has its date.
 */

#define BUDGET_MAX_FOLDERS 6
#define BUDGET_MAX_TEXTS   3

struct budget_client {
    const char *name;
    const char *seen; /* when the row was looked up */
    size_t max_chars; /* of the list; 0: none is known */
    bool hides;       /* knows disable-model-invocation */
    const char *workspace[BUDGET_MAX_FOLDERS]; /* the strongest first */
    const char *home[BUDGET_MAX_FOLDERS];
    /* files of instructions; of "x|y" the first that is there */
    const char *workspace_texts[BUDGET_MAX_TEXTS];
    const char *home_texts[BUDGET_MAX_TEXTS];
};

extern const struct budget_client budget_clients[];
extern const size_t budget_client_count;

#endif
