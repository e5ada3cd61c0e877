#ifndef MAPM_CLIENTS_PRESET_H
#define MAPM_CLIENTS_PRESET_H

#include "base/str.h"

/*
 * clients_preset: how to run a client as a model backend: its command line, and
 * the meaning of the lines that it prints. Both change between releases of the
 * client: `seen` is the release that the preset was verified with (`make
 * bench-clients` verifies again).
 *
 * Source: docs/clients.md 8.
 */

/* The effect of an output line: if the conditions `when` hold, the rule
 * performs `act` with the value at `at`. */
enum preset_act {
    ACT_NONE,      /* end of the rules */
    ACT_SKIP,      /* apply no further rule to this line */
    ACT_TURN,      /* a turn begins; with `at`: if that text changed */
    ACT_SPEAK,     /* model output: a turn begins, unless one is open */
    ACT_CALL,      /* tool call: as ACT_SPEAK, and a result follows */
    ACT_RETURN,    /* one turn that ends with the last such line */
    ACT_MORE,      /* the turn ends, and another one follows */
    ACT_TURNS,     /* the number of turns */
    ACT_SAY,       /* appends text to the answer of this turn */
    ACT_ANSWER,    /* the answer; later ones replace it */
    ACT_EXHAUSTED, /* the client reached a limit */
    ACT_FAIL,      /* the client failed, with the reason */
    ACT_NOTE,      /* possible reason, used if the client fails */
};

/*
 * A condition is "path=value", "path" (present, and neither null nor empty) or
 * "!path" (not so). A path names members, "a.b.c"; "a[].b" means b in every
 * element of a. `at` is a path, or two paths separated by "|", of which the
 * first one with text is used.
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
    const char *program; /* found on PATH */
    const char *seen;    /* release and month of the verification */

    /* "{turns}" is the limit of turns. "{model}" is the model; without a model
     * it is omitted together with the preceding option. The prompt replaces
     * "{prompt}", or else is written to stdin. */
    const char *args[PRESET_MAX_ARGS + 1];

    bool keeps_cap; /* enforces the limit of {turns} itself */
    struct preset_rule rules[PRESET_MAX_RULES + 1];
    int exhausted_codes[3]; /* exit codes that mean EXHAUSTED */

    /* Environment variables that it receives in addition to those of every
     * backend: "X", "X_*", or "X_*?Y", which applies if Y is set and not
     * empty. */
    const char *env[PRESET_MAX_ENV + 1];
    const char *set[3];  /* "X=value" */
    const char *log_in;  /* the hint for "not logged in" */
    const char *install; /* how to install it */
};

#endif
