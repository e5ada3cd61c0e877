#include "base/env.h"
#include "base/proc.h"
#include "mapm/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static bool (*const functions[COMMAND_COUNT])(struct invocation *inv,
                                              int *exit_code, struct err *e) = {
#define X(id, name) [COMMAND_##id] = command_##name,
    COMMANDS(X)
#undef X
};

int exit_code_of(const struct err *e)
{
    switch (e->code) {
    case ERR_USAGE:
        return EXIT_USAGE;
    case ERR_REFUSED:
        return EXIT_REFUSED;
    case ERR_INTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_FAILED;
    }
}

static enum term_when color_mode(const struct invocation *inv)
{
    struct str when = option_value(inv, OPTION_COLOR);

    if (str_is(when, "always"))
        return TERM_ALWAYS;
    return str_is(when, "never") ? TERM_NEVER : TERM_AUTO;
}

static bool enter_folder(struct invocation *inv, struct err *e)
{
    const struct values *dirs = &inv->given[OPTION_DIR];
    char *cwd;

    for (size_t i = 0; i < dirs->count; i++)
        if (chdir(str_dup0(dirs->items[i], &inv->cx.arena)) < 0)
            return err_errno(e, "-C %.*s", STR_ARG(dirs->items[i]));
    cwd = getcwd(NULL, 0);
    if (!cwd) {
        err_errno(e, "cannot determine the current folder");
        return err_hint(e, "it may have been removed: cd to another one");
    }
    inv->cx.cwd = arena_str(&inv->cx.arena, str_cstr(cwd));
    free(cwd);
    return true;
}

/* Returns whether the command reads no folder. */
static bool stays_outside(const struct subcommand *c)
{
    return c == &commands[COMMAND_HELP] || c == &commands[COMMAND_VERSION] ||
           c == &commands[COMMAND_COMPLETION];
}

/* Finds --json in a command line that cannot be parsed. */
static bool asks_for_json(int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static bool run(struct invocation *inv, int *code, struct err *e)
{
    if (has_option(inv, OPTION_VERSION))
        return command_version(inv, code, e);
    if (!inv->command || has_option(inv, OPTION_HELP))
        return command_help(inv, code, e);
    return (stays_outside(inv->command) || enter_folder(inv, e)) &&
           functions[inv->command - commands](inv, code, e);
}

int cli_main(int argc, char **argv)
{
    struct invocation inv = {0};
    struct err e = {0};
    int code = EXIT_DONE;
    bool parsed;

    proc_inherit(&inv.inherited);
    proc_init();
    inv.cx.home = env_folder("HOME");
    parsed = invocation_parse(&inv, argc, argv, &e);
    term_init(&inv.term, color_mode(&inv), has_option(&inv, OPTION_QUIET));
    terminal_attach(&inv);
    if (!parsed || !run(&inv, &code, &e)) {
        code = exit_code_of(&e);
        term_error(&inv.term, &e);
        if (asks_for_json(argc, argv))
            print_error_json(&inv, e.code, STR(""), &e);
    }
    if (!term_done(&inv.term, &e)) {
        if (inv.term.out_errno != EPIPE) /* nothing is reported if the reader
                                          * has closed the pipe */
            term_error(&inv.term, &e);
        if (code == EXIT_DONE)
            code = EXIT_FAILED;
    }
    arena_done(&inv.cx.arena);
    return code;
}
