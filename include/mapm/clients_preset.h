#ifndef MAPM_CLIENTS_PRESET_H
#define MAPM_CLIENTS_PRESET_H

#include "base/str.h"

/*
 * preset: a client as the backend of an ask: how the program is called, and
 * what the lines that it prints mean. Both change with the program: `seen` is
 * the release that the preset was checked with (`make bench-clients` checks
 * again).
 *
 * Source: docs/clients.md 8.
 */

/* The meaning of a line. If `when` holds, does `act` with the value `at`. */
enum preset_act {
    ACT_NONE,      /* the end of the rules */
    ACT_SKIP,      /* no further rule for this line */
    ACT_TURN,      /* a turn begins; with `at`: when that text is a new one */
    ACT_SPEAK,     /* the model speaks: a turn, unless it did already */
    ACT_CALL,      /* it calls a tool: it speaks, and a result will come */
    ACT_RETURN,    /* a single turn, which ends with the last such line */
    ACT_MORE,      /* the turn is over, and another one will follow */
    ACT_TURNS,     /* the number of turns */
    ACT_SAY,       /* (more) text of the answer in this turn */
    ACT_ANSWER,    /* the answer; later ones replace it */
    ACT_EXHAUSTED, /* it ended at a limit */
    ACT_FAIL,      /* it failed, and why */
    ACT_NOTE,      /* why it may fail, should it do so */
};

/*
 * A condition is "path=value", "path" (it is there, and neither null nor
 * empty) or "!path" (it is not). A path names members, "a.b.c"; "a[].b" is b
 * of each element of a. `at` is one such path, or two with "|" between:
 * the first that has text.
 */
#define PRESET_MAX_CONDITIONS 4
#define PRESET_MAX_RULES      12

struct preset_rule {
    const char *when[PRESET_MAX_CONDITIONS + 1];
    enum preset_act act;
    const char *at;
};

#define PRESET_MAX_ARGS 24
#define PRESET_MAX_ENV  24

struct preset {
    const char *program; /* looked up on PATH */
    const char *seen;    /* release and month of this row */

    /* "{turns}" is the cap, "{model}" the model: without one it is left out,
     * with the option before it. The prompt goes to stdin, or replaces
     * "{prompt}". */
    const char *args[PRESET_MAX_ARGS + 1];

    bool keeps_cap; /* it ends by itself after {turns} */
    struct preset_rule rules[PRESET_MAX_RULES + 1];
    int exhausted_codes[3]; /* exit codes that mean EXHAUSTED */

    /* Variables that it gets beside those all get: "X", "X_*", or "X_*?Y",
     * which counts when Y is set and not empty. */
    const char *env[PRESET_MAX_ENV + 1];
    const char *set[3];  /* "X=value" */
    const char *log_in;  /* the hint for "not logged in" */
    const char *install; /* how to get it */
};

#endif
