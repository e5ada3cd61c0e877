#ifndef CLI_TEST_H
#define CLI_TEST_H

#include "mapm/limits.h"
#include "mapm/lint.h"
#include "mapm/origin.h"

#include "../command.h"

/*
 * test: a skill author's unit tests, without model and processes.
 *
 *     SKILL... --> test_find()   metaskills, and the tapes in their tests/
 *              --> test_play()   a tape at a time against the program
 *              --> test_print()  as it goes, or JSON at the end
 *
 * Source: DESIGN.md 8; K39.
 */

#define TEST_FOLDER  "tests"
#define TEST_ENDING  ".jsonl"
#define TEST_SECONDS 10 /* a replay waits for nothing */

enum test_end {
    TEST_OK,
    TEST_FAILED,
    TEST_UPDATED, /* it has another end now */
};

struct test_tape {
    struct str file; /* "tests/x.jsonl", in the skill's folder */
    enum test_end end;
    struct str difference; /* lines; FAILED and UPDATED */
    struct str report;     /* of an error in the program, or "" */
    struct str note;       /* "" = none */
    unsigned asks, commands;
};

struct test_skill {
    struct str path; /* of its folder, as shown; "." for the current one */
    struct str real; /* absolute */
    struct str name;
    struct str problem; /* why it cannot run; "" = it can */
    struct test_tape *tapes;
    size_t count, failed, updated;
};

struct test_skills {
    struct test_skill *items;
    size_t count, capacity;
};

/*
 * The metaskills that SKILL... names, in the order given, then by path; and
 * those with tapes whose program cannot run. In the invocation's arena.
 * Errors: ERR_NOT_FOUND, also for a named skill without a program; ERR_USAGE
 * for a tape in another place.
 */
MUST_CHECK bool test_find(struct invocation *inv,
                          const struct origin_rules *rules,
                          struct test_skills *out, struct err *e);

/*
 * Plays each tape of `s`; `limits` are the user's, of which memory counts, and
 * the time. False only when the whole has to end: ERR_INTERRUPTED, or a tape
 * that cannot be written.
 */
MUST_CHECK bool test_play(struct invocation *inv, const struct limits *limits,
                          struct test_skill *s, struct err *e);

/* A skill in words, once it was played; then the sum of all, or JSON. */
void test_print(struct invocation *inv, const struct test_skill *s);
void test_print_end(struct invocation *inv, const struct test_skills *skills);

#endif
