#ifndef MAPM_SKILL_TEST_H
#define MAPM_SKILL_TEST_H

#include "base/context.h"
#include "mapm/limits.h"
#include "mapm/origin.h"

/*
 * skill_test: unit tests of metaskills, without models and processes.
 *
 *     skill_test_find()   metaskills, and the tapes in their tests/
 *     skill_test_play()   all tapes of one against its program
 *
 * Source: DESIGN.md 8; K39.
 */

#define SKILL_TEST_FOLDER "tests"
#define SKILL_TEST_ENDING ".jsonl"

enum skill_test_end {
    SKILL_TEST_OK,
    SKILL_TEST_FAILED,
    SKILL_TEST_UPDATED, /* its end was rewritten */
};

struct skill_test_tape {
    struct str file; /* "tests/x.jsonl", in the skill's folder */
    enum skill_test_end end;
    struct str difference; /* lines; FAILED and UPDATED */
    struct str report;     /* traceback of an error in the program, or "" */
    struct str note;       /* "" if none */
    unsigned asks, commands;
};

struct skill_test {
    struct str path; /* path of its folder as shown; "." for the current one */
    struct str real; /* absolute */
    struct str name;
    struct str problem; /* why it cannot be run, or "" */
    struct skill_test_tape *tapes;
    size_t count, failed, updated;
};

struct skill_tests {
    struct skill_test *items;
    size_t count, capacity;
};

/*
 * Finds the metaskills of `words` (by default in the current folder), in the
 * given order, then by path, and those with tapes whose program cannot be run.
 * Allocated in the arena of `cx`.
 * Errors: ERR_NOT_FOUND, also for a named skill without a program; ERR_USAGE
 * for a tape outside of a tests/ folder.
 */
MUST_CHECK bool skill_test_find(struct context *cx, struct str_list words,
                                const struct origin_rules *rules,
                                struct skill_tests *out, struct err *e);

/* Replays each tape of `s`. Of `limits`, those of the user, only memory and
 * time apply. `updates` rewrites a tape of which only the end differs. Fails
 * only with ERR_INTERRUPTED, or if a tape cannot be written. */
MUST_CHECK bool skill_test_play(struct context *cx, const struct limits *limits,
                                bool updates, struct skill_test *s,
                                struct err *e);

#endif
