#include "base/proc.h"
#include "mapm/authorize.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include "test_print.h"

#define TEST_SECONDS 10 /* a replay never waits */

/* mapm test: parses its arguments, runs the tests and sets the exit code. */

static bool read_seconds(struct invocation *inv, struct limits *limits,
                         struct err *e)
{
    struct str text = option_value(inv, OPTION_TIMEOUT);
    struct limit *l = &limits->run_max_seconds;
    uint64_t seconds = TEST_SECONDS;

    if (text.p && (!str_number(text, l->ceiling, &seconds) || seconds == 0)) {
        err_set(e, ERR_USAGE, "--timeout: \"%.*s\" is not a number of seconds",
                STR_ARG(text));
        return err_hint(e, "from 1 to %llu", (unsigned long long)l->ceiling);
    }
    l->value = seconds;
    l->from = text.p ? STR("--timeout") : STR("mapm test");
    return true;
}

static size_t count_tapes(const struct skill_tests *skills)
{
    size_t count = 0;

    for (size_t i = 0; i < skills->count; i++)
        count += skills->items[i].count + (skills->items[i].problem.n > 0);
    return count;
}

/* Fails if no test was found: in the wrong folder, "nothing failed" would look
 * like success. */
static bool none_found(const struct skill_tests *skills, struct err *e)
{
    if (skills->count == 0) {
        err_set(e, ERR_NOT_FOUND, "there is no metaskill here");
        return err_hint(e, "a metaskill is a folder with SKILL.md and "
                           "SKILL.star: mapm new metaskill NAME");
    }
    err_set(e, ERR_NOT_FOUND, "there is no tape: %.*s has no %s/*%s",
            STR_ARG(skills->count == 1 ? skills->items[0].path
                                       : STR("none of the metaskills")),
            SKILL_TEST_FOLDER, SKILL_TEST_ENDING);
    return err_hint(e, "mapm run SKILL --record FILE writes one: mapm-tape(5)");
}

static bool play_all(struct invocation *inv, const struct limits *limits,
                     struct skill_tests *skills, int *exit_code, struct err *e)
{
    for (size_t i = 0; i < skills->count; i++) {
        struct skill_test *s = &skills->items[i];

        if (!skill_test_play(&inv->cx, limits, has_option(inv, OPTION_UPDATE),
                             s, e))
            return false;
        if (!has_option(inv, OPTION_JSON))
            test_print(inv, s);
        if (s->failed || s->problem.n)
            *exit_code = EXIT_FINDINGS;
    }
    test_print_end(inv, skills);
    return true;
}

bool command_test(struct invocation *inv, int *exit_code, struct err *e)
{
    struct skill_tests skills = {0};
    struct project user;
    struct limits limits;
    struct origin_rules rules = {0};

    if (!authorize_config_read(&inv->cx, &user, &limits, &rules, e) ||
        !read_seconds(inv, &limits, e) ||
        !skill_test_find(
            &inv->cx,
            (struct str_list){inv->arguments.items, inv->arguments.count},
            &rules, &skills, e))
        return false;
    if (count_tapes(&skills) == 0)
        return none_found(&skills, e);
    proc_catch_signals();
    return play_all(inv, &limits, &skills, exit_code, e);
}
