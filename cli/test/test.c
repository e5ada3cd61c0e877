#include "test.h"

#include "base/proc.h"
#include "mapm/authorize.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include "../command.h"

/* The command: from its words to an exit code. */

static bool read_seconds(struct invocation *inv, struct limits *limits,
                         struct err *e)
{
    struct str text = option_value(inv, OPTION_TIMEOUT);
    struct limit *l = &limits->run_max_seconds;
    uint64_t seconds = TEST_SECONDS;

    if (text.p && (!str_number(text, l->ceiling, &seconds) || seconds == 0)) {
        err_set(e, ERR_USAGE, "--timeout: \"%.*s\" is no number of seconds",
                STR_ARG(text));
        return err_hint(e, "from 1 to %llu", (unsigned long long)l->ceiling);
    }
    l->value = seconds;
    l->from = text.p ? STR("--timeout") : STR("mapm test");
    return true;
}

static size_t count_tapes(const struct test_skills *skills)
{
    size_t count = 0;

    for (size_t i = 0; i < skills->count; i++)
        count += skills->items[i].count + (skills->items[i].problem.n > 0);
    return count;
}

/* In the wrong folder "nothing failed" would be taken for success. */
static bool none_found(const struct test_skills *skills, struct err *e)
{
    if (skills->count == 0) {
        err_set(e, ERR_NOT_FOUND, "there is no metaskill here");
        return err_hint(e, "a metaskill is a folder with SKILL.md and "
                           "SKILL.star: mapm new metaskill NAME");
    }
    err_set(e, ERR_NOT_FOUND, "there is no tape: %.*s has no %s/*%s",
            STR_ARG(skills->count == 1 ? skills->items[0].path
                                       : STR("none of the metaskills")),
            TEST_FOLDER, TEST_ENDING);
    return err_hint(e, "mapm run SKILL --record FILE writes one: mapm-tape(5)");
}

static bool play_all(struct invocation *inv, const struct limits *limits,
                     struct test_skills *skills, int *exit_code, struct err *e)
{
    *exit_code = EXIT_DONE;
    for (size_t i = 0; i < skills->count; i++) {
        struct test_skill *s = &skills->items[i];

        if (!test_play(inv, limits, s, e))
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
    struct test_skills skills = {0};
    struct project user;
    struct limits limits;
    struct origin_rules rules = {0};

    if (!authorize_config_read(&inv->cx, &user, &limits, &rules, e) ||
        !read_seconds(inv, &limits, e) || !test_find(inv, &rules, &skills, e))
        return false;
    if (count_tapes(&skills) == 0)
        return none_found(&skills, e);
    proc_catch_signals();
    return play_all(inv, &limits, &skills, exit_code, e);
}
