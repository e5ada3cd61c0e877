#include "base/json.h"
#include "mapm/built.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

/* Writes the libraries that are linked statically; none if those of the system
 * are used. */
static void write_libraries(struct json_writer *w)
{
    struct str left = STR(MAPM_LIBRARIES), name, version;

    json_member_array(w, "libraries");
    while (str_cut(&left, ' ', &name) && str_cut(&left, ' ', &version)) {
        json_begin_object(w);
        json_member_string(w, "name", name);
        json_member_string(w, "version", version);
        json_end_object(w);
    }
    json_end_array(w);
}

COMMAND(command_version)
{
    if (has_option(inv, OPTION_JSON)) {
        struct json_writer *w = print_json_begin(inv, "mapm.version/1", NULL);

        json_member_string(w, "version", STR(MAPM_VERSION));
        json_member_optional(w, "commit", STR(MAPM_COMMIT));
        json_member_string(w, "channel", STR(MAPM_CHANNEL));
        write_libraries(w);
        print_json_end(inv);
    } else {
        term_print(&inv->term, "mapm %s\n", MAPM_VERSION);
    }
    return true;
}

/* --- as text -------------------------------------------------------------- */

/* Column at which the descriptions of options begin. */
#define LEFT_WIDTH 28

static void show_choices(struct term *t, struct str words, struct arena *a)
{
    struct buf b;
    struct str word;

    buf_init(&b, 1024);
    while (str_cut(&words, ' ', &word)) {
        buf_text(&b, b.n ? ", " : "");
        buf_append(&b, word);
    }
    if (b.n)
        term_print(t, "%*sone of: %.*s\n", LEFT_WIDTH, "",
                   STR_ARG(arena_str(a, buf_str(&b))));
    buf_done(&b);
}

static void show_option(struct invocation *inv, enum option_id id)
{
    const struct option *o = &options[id];
    char left[64];
    int n;

    n = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
                 o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
                 o->argument ? " " : "", o->argument ? o->argument : "");
    term_print(&inv->term, "%-*s%s%s\n", LEFT_WIDTH, left,
               n >= LEFT_WIDTH ? "  " : "", o->text);
    show_choices(&inv->term, option_choices(o, &inv->cx.arena), &inv->cx.arena);
}

/* clang-format off */
/* The first command of each group, in the order of the commands. */
static const struct {
    enum command_id first;
    const char *title;
} groups[] = {
    {COMMAND_INIT,   "managing packages"},
    {COMMAND_SEARCH, "finding packages"},
    {COMMAND_LIST,   "installed packages"},
    {COMMAND_RUN,    "running and serving"},
    {COMMAND_NEW,    "authoring packages"},
    {COMMAND_DOCTOR, "mapm and this machine"},
};
/* clang-format on */

#define GROUPS (sizeof groups / sizeof *groups)

static const char *group_of(enum command_id id)
{
    size_t i = GROUPS - 1;

    while (i && groups[i].first > id)
        i--;
    return groups[i].title;
}

static void show_words(struct term *t, const struct subcommand *c)
{
    if (c->word_count)
        term_print(t, "\narguments:\n");
    for (size_t i = 0; i < c->word_count; i++)
        term_print(t, "  %s %-*s%s\n", c->words[i].name,
                   25 - (int)strlen(c->words[i].name), c->words[i].arguments,
                   c->words[i].text);
}

static void show_examples(struct term *t, const struct subcommand *c)
{
    struct str lines = str_cstr(c->examples), line;

    term_print(t, "\nexamples:\n");
    while (str_cut(&lines, '\n', &line))
        term_print(t, "  %.*s\n", STR_ARG(line));
}

static void show_command(struct invocation *inv, const struct subcommand *c)
{
    struct term *t = &inv->term;

    term_print(t, "%s.\n\nusage: mapm %s [OPTION]...%s%s\n", c->text, c->name,
               c->arguments[0] ? " " : "", c->arguments);
    if (c->aliases)
        term_print(t, "aliases: %s\n", c->aliases);
    show_words(t, c);
    show_examples(t, c);
    if (c->option_count) {
        term_print(t, "\noptions:\n");
        for (size_t i = 0; i < c->option_count; i++)
            show_option(inv, c->options[i]);
    }
    term_print(t, "\ncommon options:\n");
    for (size_t i = 0; i < common_option_count; i++)
        show_option(inv, common_options[i]);
    term_print(t, "\nSee man mapm-%s.\n", c->name);
}

static void show_all(struct invocation *inv)
{
    struct term *t = &inv->term;

    term_print(
        t,
        "mapm is a package manager for AI agents, skills and MCP servers.\n\n"
        "usage: mapm COMMAND [OPTION]... [ARGUMENT]...\n");
    for (size_t i = 0, k = 0; i < COMMAND_COUNT; i++) {
        if (k < GROUPS && groups[k].first == i)
            term_print(t, "\n%s:\n", groups[k++].title);
        term_print(t, "  %-12s%s\n", commands[i].name, commands[i].text);
    }
    term_print(t, "\noptions of every command:\n");
    for (size_t i = 0; i < common_option_count; i++)
        show_option(inv, common_options[i]);
    term_print(t, "\nSee mapm help COMMAND, or man mapm.\n");
}

/* --- as JSON -------------------------------------------------------------- */

static void put_list(struct json_writer *w, const char *name, struct str list,
                     char between)
{
    struct str word;

    json_member_array(w, name);
    while (list.n && str_cut(&list, between, &word))
        json_string(w, word);
    json_end_array(w);
}

static void put_options(struct invocation *inv, struct json_writer *w,
                        const char *name, const enum option_id *ids,
                        size_t count)
{
    json_member_array(w, name);
    for (size_t i = 0; i < count; i++) {
        const struct option *o = &options[ids[i]];

        json_begin_object(w);
        json_member_string(w, "name", str_cstr(o->name));
        if (o->letter)
            json_member_string(w, "letter", (struct str){&o->letter, 1});
        if (o->argument)
            json_member_string(w, "argument", str_cstr(o->argument));
        if (o->argument)
            put_list(w, "values", option_choices(o, &inv->cx.arena), ' ');
        json_member_string(w, "text", str_cstr(o->text));
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_command(struct invocation *inv, struct json_writer *w,
                        const struct subcommand *c)
{
    json_begin_object(w);
    json_member_string(w, "name", str_cstr(c->name));
    put_list(w, "aliases", str_cstr(c->aliases ? c->aliases : ""), ' ');
    json_member_string(w, "group",
                       str_cstr(group_of((enum command_id)(c - commands))));
    json_member_string(w, "arguments", str_cstr(c->arguments));
    json_member_string(w, "text", str_cstr(c->text));
    put_list(w, "examples", str_cstr(c->examples), '\n');
    put_options(inv, w, "options", c->options, c->option_count);
    json_end_object(w);
}

static void print_help_json(struct invocation *inv, const struct subcommand *c)
{
    struct json_writer *w = print_json_begin(inv, "mapm.help/1", NULL);

    json_member_array(w, "commands");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!c || c == &commands[i])
            put_command(inv, w, &commands[i]);
    json_end_array(w);
    put_options(inv, w, "common_options", common_options, common_option_count);
    print_json_end(inv);
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
    if (has_option(inv, OPTION_JSON))
        print_help_json(inv, c);
    else if (c)
        show_command(inv, c);
    else
        show_all(inv);
    return true;
}
