#include "base/embed.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

/*
 * Completions of the three shells: scripts in completion/, where a {{mark}} is
 * replaced by text generated from the table of commands. Names of packages are the
 * second column of `mapm list -q`; only characters of valid names are taken, since
 * shells expand the words they are given.
 */

#define LIST_NAMES                                                             \
    "2>/dev/null | "                                                           \
    "sed -n 's/^[a-z][a-z]*  *\\([A-Za-z0-9][A-Za-z0-9./_-]*\\).*/\\1/p'"

/* `mapm skill`: after these words come names of skills, the first column of its
 * list. */
#define SKILL_WORDS "load show files"
#define SKILL_NAMES                                                            \
    "2>/dev/null | "                                                           \
    "sed -n 's/^\\([A-Za-z0-9][A-Za-z0-9._-]*\\)  .*/\\1/p'"

/* `mapm run`: the metaskills of that list. */
#define METASKILL_NAMES                                                        \
    "2>/dev/null | "                                                           \
    "sed -n 's/^\\([A-Za-z0-9][A-Za-z0-9._-]*\\)  .* (metaskill[a-z, ]*)$"     \
    "/\\1/p'"

/* `mapm start`: the keys of MCP servers. */
#define SERVER_KEYS                                                            \
    "--json 2>/dev/null | tr , '\\n' | "                                       \
    "sed -n 's/^ *\"key\": *\"\\([A-Za-z0-9._-]*\\)\"$/\\1/p'"

/* `mapm runs show`: the first column of the list of runs. */
#define RUN_IDS "2>/dev/null | sed -n 's/^ *\\([0-9][0-9]*\\)  .*/\\1/p'"

/* `mapm install ORIGIN --skill`: what the catalog offers, which `-n` lists; its
 * kind is the first argument of the shell's function. */
#define OFFERED_NAMES                                                          \
    "2>/dev/null | "                                                           \
    "sed -n \"s/^$kind  *\\([A-Za-z0-9][A-Za-z0-9./_-]*\\)  "                  \
    "*[a-z]*:.*/\\1/p\""

static const struct {
    const char *mark, *text;
} texts[] = {
    {"list names", LIST_NAMES},       {"skill words", SKILL_WORDS},
    {"skill names", SKILL_NAMES},     {"metaskill names", METASKILL_NAMES},
    {"server keys", SERVER_KEYS},     {"run ids", RUN_IDS},
    {"offered names", OFFERED_NAMES},
};

/* A mark of the scripts, and the function that writes its replacement. */
struct part {
    const char *mark;
    void (*put)(struct buf *b);
};

EMBED(completion_bash, "cli/completion/mapm.bash");
EMBED(completion_zsh, "cli/completion/mapm.zsh");
EMBED(completion_fish, "cli/completion/mapm.fish");

/* Returns the package type that the option's argument must have, the empty
 * string if any type is accepted, or NULL if the argument is not a package. */
static const char *offered_kind(const struct option *o)
{
    if (o->kind != ARGUMENT_NAMES || o == &options[OPTION_WITHOUT])
        return NULL;
    return o == &options[OPTION_SKIP] ? "[a-z][a-z]*" : o->name;
}

/* Writes the name and aliases of a command, separated by a given text:
 * "install|add|i". */
static void put_command_names(struct buf *b, const struct subcommand *c,
                              const char *between)
{
    struct str aliases = str_cstr(c->aliases ? c->aliases : ""), alias;

    buf_text(b, c->name);
    while (aliases.n && str_cut(&aliases, ' ', &alias))
        buf_printf(b, "%s%.*s", between, STR_ARG(alias));
}

/* Writes the list of valid values of the command's argument. Returns false if
 * the argument is free text. */
static bool put_words(struct buf *b, const struct subcommand *c)
{
    CLEANUP(arena_done) struct arena a = {0};

    if (c == &commands[COMMAND_HELP])
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            buf_printf(b, "%s%s", i ? " " : "", commands[i].name);
    else if (c->kind == ARGUMENT_CHOICE)
        buf_append(b, command_choices(c, &a));
    else
        return false;
    return true;
}

/* Writes a text for single quotes of zsh and fish. */
static void put_text(struct buf *b, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            buf_text(b, "'\\''");
        else
            buf_char(b, *text);
}

/* --- bash ----------------------------------------------------------------- */

static void put_bash_option(struct buf *b, enum option_id id)
{
    buf_printf(b, " --%s", options[id].name);
    if (options[id].letter)
        buf_printf(b, " -%c", options[id].letter);
}

static void put_bash_options(struct buf *b, const enum option_id *ids,
                             size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_bash_option(b, ids[i]);
}

/* Writes the pattern of an option that takes an argument: "--directory|-C". */
static void put_bash_pattern(struct buf *b, const struct option *o)
{
    buf_printf(b, "--%s", o->name);
    if (o->letter)
        buf_printf(b, "|-%c", o->letter);
}

/* Returns whether another option has the same name: two commands may use one
 * name differently. */
static bool has_twin(int id)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (i != id && strcmp(options[i].name, options[id].name) == 0)
            return true;
    return false;
}

static bool takes(const struct subcommand *c, int id)
{
    for (size_t i = 0; i < c->option_count; i++)
        if ((int)c->options[i] == id)
            return true;
    return false;
}

static void put_bash_case(struct buf *b, const char *command,
                          const struct option *o)
{
    buf_printf(b, "%s:--%s", command, o->name);
    if (o->letter)
        buf_printf(b, "|%s:-%c", command, o->letter);
}

/* Writes the patterns "skill:--profile", or with any command for an option that
 * is unique. */
static void put_bash_cases(struct buf *b, int id)
{
    bool any = false;

    if (!has_twin(id)) {
        put_bash_case(b, "*", &options[id]);
        return;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!takes(&commands[i], id))
            continue;
        buf_text(b, any ? "|" : "");
        put_bash_case(b, commands[i].name, &options[id]);
        any = true;
    }
}

/* The shell variable `pending` holds the option that expects an argument. */
static void put_bash_choices(struct buf *b)
{
    CLEANUP(arena_done) struct arena a = {0};

    buf_text(b, "  case $command:$pending in\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        struct str words = option_choices(o, &a);

        if (!o->argument)
            continue;
        buf_text(b, "  ");
        put_bash_cases(b, i);
        if (words.n)
            buf_printf(b, ") words='%.*s' ;;\n", STR_ARG(words));
        else if (offered_kind(o))
            buf_printf(b, ") words=$(_mapm_offers '%s') ;;\n", offered_kind(o));
        else if (o->kind == ARGUMENT_FOLDER)
            buf_text(b, ") files=d ;;\n");
        else if (o->kind == ARGUMENT_PATH)
            buf_text(b, ") files=f ;;\n");
        else
            buf_text(b, ") return ;;\n");
    }
    buf_text(b, "  esac\n");
}

static void put_bash_arguments(struct buf *b, const struct subcommand *c)
{
    if (c == &commands[COMMAND_SKILL]) {
        buf_text(b, "if ((!count)); then words='");
        put_words(b, c);
        buf_text(b, "'; elif [[ ' " SKILL_WORDS " ' == *\" $first \"* ]]; then "
                    "words=$(mapm skill list -q \"${where[@]}\" " SKILL_NAMES
                    "); fi");
    } else if (c == &commands[COMMAND_RUNS]) {
        buf_text(b, "if ((!count)); then words='");
        put_words(b, c);
        buf_text(b, "'; elif [[ $first == show ]]; then "
                    "words=$(mapm runs -q \"${where[@]}\" " RUN_IDS "); fi");
    } else if (c->kind == ARGUMENT_CHOICE || c == &commands[COMMAND_HELP]) {
        buf_text(b, "((count)) || words='");
        put_words(b, c);
        buf_text(b, "'");
    } else if (c->kind == ARGUMENT_PACKAGE) {
        buf_text(b, "words=$(mapm list -q \"${where[@]}\" " LIST_NAMES ")");
    } else if (c->kind == ARGUMENT_SERVER) {
        buf_text(b,
                 "((count)) || words=$(mapm list \"${where[@]}\" " SERVER_KEYS
                 ")");
    } else if (c->kind == ARGUMENT_SKILL) {
        buf_text(b,
                 "((count)) || if [[ $cur == [./~]* ]]; then files=d; else "
                 "words=$(mapm skill list -q \"${where[@]}\" " METASKILL_NAMES
                 "); fi");
    } else if (c->kind == ARGUMENT_PATH) {
        buf_text(b, "files=f");
    } else if (c->kind == ARGUMENT_FOLDER) {
        buf_text(b, "files=d");
    } else {
        buf_text(b, ":");
    }
}

static void put_bash_commands(struct buf *b)
{
    buf_text(b, "    case $command in\n    '')\n      words='");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        buf_printf(b, "%s%s", i ? " " : "", commands[i].name);
    buf_text(b, "' opts+='");
    put_bash_option(b, OPTION_VERSION);
    buf_text(b, "' ;;\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const struct subcommand *c = &commands[i];

        buf_printf(b, "    %s)\n      ", c->name);
        if (c->option_count) {
            buf_text(b, "opts+='");
            put_bash_options(b, c->options, c->option_count);
            buf_text(b, "'; ");
        }
        put_bash_arguments(b, c);
        buf_text(b, " ;;\n");
    }
    buf_text(b, "    esac\n");
}

static void put_bash_pending(struct buf *b)
{
    const char *between = "";

    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!options[i].argument)
            continue;
        buf_text(b, between);
        put_bash_pattern(b, &options[i]);
        between = "|";
    }
}

static void put_bash_aliases(struct buf *b)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!commands[i].aliases)
            continue;
        buf_text(b, "  ");
        put_command_names(b, &commands[i], "|");
        buf_printf(b, ") command=%s ;;\n", commands[i].name);
    }
}

static void put_bash_common(struct buf *b)
{
    put_bash_options(b, common_options, common_option_count);
}

static const struct part bash_parts[] = {
    {"pending", put_bash_pending},   {"aliases", put_bash_aliases},
    {"choices", put_bash_choices},   {"common", put_bash_common},
    {"commands", put_bash_commands}, {NULL, NULL},
};

/* --- zsh ------------------------------------------------------------------ */

static bool may_repeat(const struct option *o)
{
    return o->kind == ARGUMENT_NAMES || o->kind == ARGUMENT_FOLDER;
}

/* Writes one spec of _arguments. No text contains "]". */
static void put_zsh_form(struct buf *b, const struct option *o, bool is_short)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str words = option_choices(o, &a);

    buf_text(b, "      '");
    if (may_repeat(o))
        buf_char(b, '*');
    else if (o->letter)
        buf_printf(b, "(-%c --%s)", o->letter, o->name);
    if (is_short)
        buf_printf(b, "-%c%s", o->letter, o->argument ? "+" : "");
    else
        buf_printf(b, "--%s%s", o->name, o->argument ? "=" : "");
    buf_char(b, '[');
    put_text(b, o->text);
    buf_char(b, ']');
    if (words.n)
        buf_printf(b, ":%s:(%.*s)", o->argument, STR_ARG(words));
    else if (offered_kind(o))
        buf_printf(b, ":%s: _mapm_offers \"%s\"", o->argument, offered_kind(o));
    else if (o->kind == ARGUMENT_FOLDER)
        buf_printf(b, ":%s:_files -/", o->argument);
    else if (o->kind == ARGUMENT_PATH)
        buf_printf(b, ":%s:_files", o->argument);
    else if (o->argument)
        buf_printf(b, ":%s: ", o->argument);
    buf_text(b, "' \\\n");
}

static void put_zsh_options(struct buf *b, const enum option_id *ids,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_zsh_form(b, &options[ids[i]], false);
        if (options[ids[i]].letter)
            put_zsh_form(b, &options[ids[i]], true);
    }
}

static void put_zsh_arguments(struct buf *b, const struct subcommand *c)
{
    const char *which = c->max_arguments == 1 ? "1" : "*";

    if (c->kind == ARGUMENT_CHOICE || c == &commands[COMMAND_HELP]) {
        buf_text(b, "      '1:argument:(");
        put_words(b, c);
        buf_text(b, ")'");
        if (c == &commands[COMMAND_SKILL])
            buf_text(b, " \\\n      '*:skill:_mapm_library'");
        else if (c == &commands[COMMAND_RUNS])
            buf_text(b, " \\\n      '2:run:_mapm_runs'");
        else if (c->max_arguments > 1)
            buf_text(b, " \\\n      '*:name: '");
    } else if (c->kind == ARGUMENT_PACKAGE) {
        buf_printf(b, "      '%s:package:_mapm_packages'", which);
    } else if (c->kind == ARGUMENT_SERVER) {
        buf_printf(b, "      '%s:server:_mapm_servers'", which);
    } else if (c->kind == ARGUMENT_SKILL) {
        buf_text(b, "      '1:skill:_mapm_skills' \\\n      '*:text: '");
    } else if (c->kind == ARGUMENT_PATH) {
        buf_printf(b, "      '%s:path:_files'", which);
    } else if (c->kind == ARGUMENT_FOLDER) {
        buf_printf(b, "      '%s:folder:_files -/'", which);
    }
    buf_text(b, " && ret=0 ;;\n");
}

static void put_zsh_names(struct buf *b)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        buf_printf(b, "    '%s:", commands[i].name);
        put_text(b, commands[i].text);
        buf_text(b, "'\n");
    }
}

static void put_zsh_common(struct buf *b)
{
    put_zsh_options(b, common_options, common_option_count);
    put_zsh_form(b, &options[OPTION_VERSION], false);
    put_zsh_form(b, &options[OPTION_VERSION], true);
}

static void put_zsh_commands(struct buf *b)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        buf_text(b, "    ");
        put_command_names(b, &commands[i], "|");
        buf_text(b, ") _arguments -s -S \\\n");
        put_zsh_options(b, commands[i].options, commands[i].option_count);
        put_zsh_options(b, common_options, common_option_count);
        put_zsh_arguments(b, &commands[i]);
    }
}

static const struct part zsh_parts[] = {
    {"names", put_zsh_names},
    {"common", put_zsh_common},
    {"commands", put_zsh_commands},
    {NULL, NULL},
};

/* --- fish ----------------------------------------------------------------- */

static void put_fish_option(struct buf *b, const char *condition,
                            enum option_id id)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct option *o = &options[id];
    struct str words = option_choices(o, &a);

    buf_printf(b, "complete -c mapm%s -l %s", condition, o->name);
    if (o->letter)
        buf_printf(b, " -s %c", o->letter);
    if (words.n)
        buf_printf(b, " -x -a '%.*s'", STR_ARG(words));
    else if (offered_kind(o))
        buf_printf(b, " -x -a '(__mapm_offers \"%s\")'", offered_kind(o));
    else if (o->kind == ARGUMENT_FOLDER)
        buf_text(b, " -x -a '(__fish_complete_directories)'");
    else if (o->kind == ARGUMENT_PATH)
        buf_text(b, " -r -F");
    else if (o->argument)
        buf_text(b, " -x");
    buf_text(b, " -d '");
    put_text(b, o->text);
    buf_text(b, "'\n");
}

/* Writes the condition `__mapm_at COMMAND [N]`: the cursor is at an argument,
 * or at the N-th. */
static void put_fish_arguments(struct buf *b, const struct subcommand *c)
{
    if (c->kind == ARGUMENT_CHOICE || c == &commands[COMMAND_HELP]) {
        buf_printf(b, "complete -c mapm -n '__mapm_at %s 1' -a '", c->name);
        put_words(b, c);
        buf_text(b, "'\n");
        if (c == &commands[COMMAND_SKILL])
            buf_text(b, "complete -c mapm -n '__mapm_at skill; "
                        "and __mapm_second " SKILL_WORDS "' "
                        "-a '(__mapm_library)'\n");
        if (c == &commands[COMMAND_RUNS])
            buf_text(b, "complete -c mapm -n '__mapm_at runs 2; "
                        "and __mapm_second show' -a '(__mapm_runs)'\n");
    } else if (c->kind == ARGUMENT_PACKAGE) {
        buf_printf(b,
                   "complete -c mapm -n '__mapm_at %s%s' "
                   "-a '(__mapm_packages)'\n",
                   c->name, c->max_arguments == 1 ? " 1" : "");
    } else if (c->kind == ARGUMENT_SERVER) {
        buf_printf(b,
                   "complete -c mapm -n '__mapm_at %s 1' "
                   "-a '(__mapm_servers)'\n",
                   c->name);
    } else if (c->kind == ARGUMENT_SKILL) {
        buf_printf(b,
                   "complete -c mapm -n '__mapm_at %s 1' "
                   "-a '(__mapm_skills)'\n",
                   c->name);
    } else if (c->kind == ARGUMENT_PATH) {
        buf_printf(b, "complete -c mapm -n '__mapm_at %s' -F\n", c->name);
    } else if (c->kind == ARGUMENT_FOLDER) {
        buf_printf(b,
                   "complete -c mapm -n '__mapm_at %s%s' "
                   "-a '(__fish_complete_directories)'\n",
                   c->name, c->max_arguments == 1 ? " 1" : "");
    }
}

/* Writes the options that take a value, so that the next word is not counted as
 * an argument. */
static void put_fish_skipped(struct buf *b)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (options[i].argument && options[i].letter)
            buf_printf(b, " -%c", options[i].letter);
        if (options[i].argument)
            buf_printf(b, " --%s", options[i].name);
    }
}

static void put_fish_aliases(struct buf *b)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!commands[i].aliases)
            continue;
        buf_text(b, "    case ");
        put_command_names(b, &commands[i], " ");
        buf_printf(b, "\n      echo %s\n", commands[i].name);
    }
}

static void put_fish_commands(struct buf *b)
{
    char condition[96];

    for (size_t k = 0; k < common_option_count; k++)
        put_fish_option(b, "", common_options[k]);
    put_fish_option(b, " -n __mapm_first", OPTION_VERSION);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const struct subcommand *c = &commands[i];

        buf_printf(b, "complete -c mapm -n __mapm_first -a %s -d '", c->name);
        put_text(b, c->text);
        buf_text(b, "'\n");
        snprintf(condition, sizeof condition, " -n '__mapm_at %s'", c->name);
        for (size_t k = 0; k < c->option_count; k++)
            put_fish_option(b, condition, c->options[k]);
        put_fish_arguments(b, c);
    }
}

static const struct part fish_parts[] = {
    {"skipped", put_fish_skipped},
    {"aliases", put_fish_aliases},
    {"commands", put_fish_commands},
    {NULL, NULL},
};

/* --- the scripts ---------------------------------------------------------- */

static void put_mark(struct buf *b, const struct part *parts, struct str mark)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_is(mark, texts[i].mark))
            buf_text(b, texts[i].text);
    for (; parts->mark; parts++)
        if (str_is(mark, parts->mark))
            parts->put(b);
}

/* Writes the script with its marks replaced. A mark on a line of its own is
 * replaced by whole lines. */
static void put_script(struct buf *b, const char *script,
                       const struct part *parts)
{
    struct str rest = str_cstr(script);
    size_t from, to;

    while ((from = str_find(rest, STR("{{"))) != SIZE_MAX) {
        bool begins = from == 0 || rest.p[from - 1] == '\n';

        buf_append(b, str_slice(rest, 0, from));
        to = str_find(rest, STR("}}"));
        put_mark(b, parts, str_slice(rest, from + 2, to));
        rest = str_from_index(rest, to + 2);
        if (begins && str_starts(rest, STR("\n")))
            rest = str_from_index(rest, 1);
    }
    buf_append(b, rest);
}

COMMAND(command_completion)
{
    struct str shell = inv->arguments.items[0];
    CLEANUP(buf_done) struct buf b;

    buf_init(&b, 256 * 1024);
    if (str_is(shell, "bash"))
        put_script(&b, completion_bash, bash_parts);
    else if (str_is(shell, "zsh"))
        put_script(&b, completion_zsh, zsh_parts);
    else if (str_is(shell, "fish"))
        put_script(&b, completion_fish, fish_parts);
    else
        return err_set(e, ERR_USAGE, "unknown shell \"%.*s\": bash, zsh, fish",
                       STR_ARG(shell));
    term_write(&inv->term, buf_str(&b));
    return true;
}
