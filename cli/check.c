#include "mapm/lint.h"

#include "check_print.h"

COMMAND(command_check)
{
    CLEANUP(lint_results_done) struct check_results results = {0};
    const struct lint_request request = {
        .paths = argument_list(inv, 0),
        .names = option_list(inv, OPTION_NAME),
        .profile = option_value(inv, OPTION_PROFILE),
        .against = option_value(inv, OPTION_AGAINST),
        .strict = has_option(inv, OPTION_STRICT),
        .fix = has_option(inv, OPTION_FIX),
    };

    if (!lint_check(&inv->cx, &request, &results, e))
        return false;
    check_print(inv, &results);
    for (size_t i = 0; i < results.count; i++)
        if (results.items[i]->why.errors)
            *exit_code = EXIT_FINDINGS;
    return true;
}
