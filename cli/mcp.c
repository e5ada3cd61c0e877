#include "mapm/policy.h"
#include "mapm/serve.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "command.h"
#include "mcp_config.h"

/*
 * Clients start servers to see whether they are there, and end them again: so
 * before the first byte of a request nothing is opened, read or written.
 */

/* Until there is something to read; false at the end of input. */
static bool wait_for_client(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

    while (poll(&p, 1, -1) < 0)
        if (errno != EINTR)
            return false;
    return (p.revents & POLLIN) != 0;
}

/* Detects errors now that would otherwise end a run. */
static bool check_allow(struct invocation *inv, const struct str_list *allow,
                        struct err *e)
{
    struct policy p;

    policy_init(&p, &inv->cx.arena);
    for (size_t i = 0; i < allow->count; i++)
        if (!policy_add_option(&p, allow->items[i], e))
            return false;
    return true;
}

COMMAND(command_mcp)
{
    struct serve_options o = {
        .metis = has_option(inv, OPTION_SKILL_PROFILE),
        .watch = has_option(inv, OPTION_WATCH),
        .preload = has_option(inv, OPTION_PRELOAD),
        .ask = option_value(inv, OPTION_ASK),
        .allow = option_list(inv, OPTION_ALLOW),
    };

    if (!check_allow(inv, &o.allow, e))
        return false;
    if (has_option(inv, OPTION_PRINT_CONFIG))
        return mcp_print_config(inv, option_value(inv, OPTION_PRINT_CONFIG), e);
    if (inv->term.is_in)
        term_note(&inv->term,
                  "this is for an MCP client, which speaks to it on standard "
                  "input: mapm mcp --print-config CLIENT");
    if (!wait_for_client())
        return true;
    inv->term.is_in = false; /* the terminal is the client's: no prompts */
    o.arguments = mcp_arguments(inv);
    return serve_run_server(&inv->cx, &o, STDIN_FILENO, STDOUT_FILENO, e);
}
