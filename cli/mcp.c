#include "base/fs.h"
#include "mapm/policy.h"
#include "mapm/serve.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "command.h"

/* Clients start servers just to check that they exist, so nothing is opened,
 * read or written before the first byte of a request. */

/* Returns the arguments that start this server again: "mcp" and its options,
 * with absolute paths. */
static struct str_list list_arguments(struct invocation *inv)
{
    const struct subcommand *mcp = inv->command;
    struct arena *a = &inv->cx.arena;
    struct values v = {0};

    values_add(&v, STR("mcp"), a);
    for (size_t i = 0; i < mcp->option_count; i++) {
        enum option_id id = mcp->options[i];
        struct str_list given = option_list(inv, id);

        for (size_t k = 0; id != OPTION_PRINT_CONFIG && k < given.count; k++) {
            struct str value = given.items[k];

            values_add(&v, arena_printf(a, "--%s", options[id].name), a);
            if (options[id].kind == ARGUMENT_FOLDER)
                values_add(&v, fs_normalize(fs_join(inv->cx.cwd, value, a), a),
                           a);
            else if (options[id].argument)
                values_add(&v, value, a);
        }
    }
    return (struct str_list){v.items, v.count};
}

static bool print_config(struct invocation *inv, struct err *e)
{
    struct str file, text;

    if (!serve_format_config(&inv->cx, option_value(inv, OPTION_PRINT_CONFIG),
                             list_arguments(inv), &file, &text, e))
        return false;
    term_note(&inv->term, "for %.*s", STR_ARG(file));
    term_write(&inv->term, text);
    return true;
}

/* Waits for input. Returns false at its end. */
static bool wait_for_client(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

    while (poll(&p, 1, -1) < 0)
        if (errno != EINTR)
            return false;
    return (p.revents & POLLIN) != 0;
}

/* Checks the patterns now, since an error would otherwise end a run. */
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
        return print_config(inv, e);
    if (inv->term.is_in)
        term_note(&inv->term,
                  "this is for MCP clients, which use its standard input and "
                  "output: mapm mcp --print-config CLIENT");
    if (!wait_for_client())
        return true;
    inv->term.is_in = false; /* no prompts: standard input belongs to the
                              * client */
    o.arguments = list_arguments(inv);
    return serve_run_server(&inv->cx, &o, STDIN_FILENO, STDOUT_FILENO, e);
}
