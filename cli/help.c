#include "base/json.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

COMMAND(command_version)
{
    (void)e;
    if (has_option(inv, OPTION_JSON)) {
        struct json_writer *w = print_json_begin(inv, "mapm.version/1", NULL);

        json_member_string(w, "version", STR(MAPM_VERSION));
        print_json_end(inv);
    } else {
        term_print(&inv->term, "mapm %s\n", MAPM_VERSION);
    }
    *exit_code = EXIT_DONE;
    return true;
}

static void show_option(struct term *t, enum option_id id)
{
    const struct option *o = &options[id];
    char left[64];
    int n;

    n = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
                 o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
                 o->argument ? " " : "", o->argument ? o->argument : "");
    term_print(t, "%-28s%s%s\n", left, n > 27 ? "  " : "", o->text);
}

/* The operands of a command with subcommands. */
/* clang-format off */
static const struct {
    const char *command, *usage, *text;
} words[] = {
    {"store", "path",              "Where the store is"},
    {"store", "stats",             "How large it is"},
    {"store", "verify",            "Read all of it, and find what is damaged"},
    {"store", "gc",                "Remove what no workspace needs"},
    {"skill", "list",              "Each skill, with its source and description"},
    {"skill", "search [QUERY...]", "Those whose name or description has QUERY in it"},
    {"skill", "match REQUEST...",  "Those that fit a request by its words"},
    {"skill", "load NAME...",      "The body, as a model is to read it"},
    {"skill", "show NAME",         "All that a skill says about itself"},
    {"skill", "files NAME [PATH]", "What stands beside its SKILL.md, or one of these"},
    {"skill", "index",             "What a model is told of the skills"},
};
/* clang-format on */

static void show_words(struct term *t, const struct subcommand *c)
{
    bool any = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].command, c->name) != 0)
            continue;
        term_print(t, "%s  %-26s%s\n", any ? "" : "\ncommands:\n",
                   words[i].usage, words[i].text);
        any = true;
    }
}

static void show_command(struct term *t, const struct subcommand *c)
{
    term_print(t, "%s.\n\nusage: mapm %s [OPTION]...%s%s\n", c->text, c->name,
               c->arguments[0] ? " " : "", c->arguments);
    show_words(t, c);
    if (c->option_count) {
        term_print(t, "\noptions:\n");
        for (size_t i = 0; i < c->option_count; i++)
            show_option(t, c->options[i]);
    }
    term_print(t, "\ncommon options:\n");
    for (size_t i = 0; i < common_option_count; i++)
        show_option(t, common_options[i]);
    term_print(t, "\nman mapm-%s tells more.\n", c->name);
}

static void show_all(struct term *t)
{
    term_print(t, "mapm manages agents, skills and MCP servers.\n\n"
                  "usage: mapm COMMAND [OPTION]... [ARGUMENT]...\n\n"
                  "commands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        term_print(t, "  %-12s%s\n", commands[i].name, commands[i].text);
    term_print(t, "\noptions of every command:\n");
    for (size_t i = 0; i < common_option_count; i++)
        show_option(t, common_options[i]);
    term_print(t, "\n\"mapm help COMMAND\" tells more; man mapm tells all.\n");
}

COMMAND(command_help)
{
    const struct subcommand *c = inv->command;

    if (c && c == &commands[COMMAND_HELP] && inv->arguments.count) {
        c = command_find(inv->arguments.items[0]);
        if (!c)
            return command_unknown(inv->arguments.items[0], e);
    } else if (c && c == &commands[COMMAND_HELP] &&
               !has_option(inv, OPTION_HELP)) {
        c = NULL;
    }
    if (c)
        show_command(&inv->term, c);
    else
        show_all(&inv->term);
    *exit_code = EXIT_DONE;
    return true;
}
