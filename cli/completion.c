#include "base/embed.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

/*
 * Completions of the three shells: scripts of completion/, and parts of them
 * that are generated from the table. Names of packages
 * are the second column of `mapm list -q`; only characters of valid names are
 * taken, since shells expand the words they are given.
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

/* The words that an argument of `c` is one of: its choices, or the commands. */
static bool put_words(struct buf *b, const struct subcommand *c)
{
    if (c == &commands[COMMAND_HELP])
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            buf_printf(b, "%s%s", i ? " " : "", commands[i].name);
    else if (c->kind == ARGUMENT_CHOICE)
        buf_text(b, c->choices);
    else
        return false;
    return true;
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

/* "--directory|-C": the pattern of an option that takes an argument. */
static void put_bash_pattern(struct buf *b, const struct option *o)
{
    buf_printf(b, "--%s", o->name);
    if (o->letter)
        buf_printf(b, "|-%c", o->letter);
}

/* Two commands may mean different things by one name. */
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

/* "skill:--profile", or with any command before it. */
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
    } else if (c->kind == ARGUMENT_CHOICE || c == &commands[COMMAND_HELP]) {
        buf_text(b, "((count)) || words='");
        put_words(b, c);
        buf_text(b, "'");
    } else if (c->kind == ARGUMENT_PACKAGE) {
        buf_text(b, "words=$(mapm list -q \"${where[@]}\" " LIST_NAMES ")");
    } else if (c->kind == ARGUMENT_SKILL) {
        buf_text(b, "((count)) || if [[ $cur == [./~]* ]]; then files=d; else "
                    "words=$(mapm list -q \"${where[@]}\" " LIST_NAMES "); fi");
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

static void put_bash_patterns(struct buf *b)
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

static void put_bash_common(struct buf *b)
{
    put_bash_options(b, common_options, common_option_count);
}

/* --- zsh ------------------------------------------------------------------ */

static bool may_repeat(const struct option *o)
{
    return o->kind == ARGUMENT_NAMES || o->kind == ARGUMENT_FOLDER;
}

/* One spec of _arguments; the texts contain neither "'" nor "]". */
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
    buf_printf(b, "[%s]", o->text);
    if (words.n)
        buf_printf(b, ":%s:(%.*s)", o->argument, STR_ARG(words));
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
        else if (c->max_arguments > 1)
            buf_text(b, " \\\n      '*:name: '");
    } else if (c->kind == ARGUMENT_PACKAGE) {
        buf_printf(b, "      '%s:package:_mapm_packages'", which);
    } else if (c->kind == ARGUMENT_SKILL) {
        buf_text(b, "      '1:skill:_mapm_skills' \\\n      '*:text: '");
    } else if (c->kind == ARGUMENT_PATH) {
        buf_printf(b, "      '%s:path:_files'", which);
    } else if (c->kind == ARGUMENT_FOLDER) {
        buf_printf(b, "      '%s:folder:_files -/'", which);
    }
    buf_text(b, " && ret=0 ;;\n");
}

static void put_zsh_commands(struct buf *b)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        buf_printf(b, "    '%s:%s'\n", commands[i].name, commands[i].text);
}

static void put_zsh_common(struct buf *b)
{
    put_zsh_options(b, common_options, common_option_count);
    put_zsh_form(b, &options[OPTION_VERSION], false);
    put_zsh_form(b, &options[OPTION_VERSION], true);
}

static void put_zsh_cases(struct buf *b)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        buf_printf(b, "    %s) _arguments -s -S \\\n", commands[i].name);
        put_zsh_options(b, commands[i].options, commands[i].option_count);
        put_zsh_options(b, common_options, common_option_count);
        put_zsh_arguments(b, &commands[i]);
    }
}

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
    else if (o->kind == ARGUMENT_PATH)
        buf_text(b, " -r -F");
    else if (o->kind == ARGUMENT_FOLDER)
        buf_text(b, " -x -a '(__fish_complete_directories)'");
    else if (o->kind == ARGUMENT_PATH)
        buf_text(b, " -r -F");
    else if (o->argument)
        buf_text(b, " -x");
    buf_printf(b, " -d '%s'\n", o->text);
}

/* `__mapm_at COMMAND [N]`: at an argument (the N-th) of the command. */
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
    } else if (c->kind == ARGUMENT_PACKAGE) {
        buf_printf(b,
                   "complete -c mapm -n '__mapm_at %s%s' "
                   "-a '(__mapm_packages)'\n",
                   c->name, c->max_arguments == 1 ? " 1" : "");
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

static void put_fish_takers(struct buf *b)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (options[i].argument && options[i].letter)
            buf_printf(b, " -%c", options[i].letter);
        if (options[i].argument)
            buf_printf(b, " --%s", options[i].name);
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

        buf_printf(b, "complete -c mapm -n __mapm_first -a %s -d '%s'\n",
                   c->name, c->text);
        snprintf(condition, sizeof condition, " -n '__mapm_at %s'", c->name);
        for (size_t k = 0; k < c->option_count; k++)
            put_fish_option(b, condition, c->options[k]);
        put_fish_arguments(b, c);
    }
}

/* --- the scripts ---------------------------------------------------------- */

EMBED(completion_bash, "cli/completion/mapm.bash");
EMBED(completion_zsh, "cli/completion/mapm.zsh");
EMBED(completion_fish, "cli/completion/mapm.fish");

#define PARTS_MAX 6

/* A script, and what stands for each {{name}} in it. */
static const struct script {
    const char *shell, *text;
    struct {
        const char *name, *text; /* NULL: what `put` writes */
        void (*put)(struct buf *b);
    } parts[PARTS_MAX];
} scripts[] = {
    {"bash",
     completion_bash,
     {{"patterns", NULL, put_bash_patterns},
      {"choices", NULL, put_bash_choices},
      {"options", NULL, put_bash_common},
      {"commands", NULL, put_bash_commands}}},
    {"zsh",
     completion_zsh,
     {{"packages", LIST_NAMES, NULL},
      {"skills", SKILL_NAMES, NULL},
      {"words", SKILL_WORDS, NULL},
      {"commands", NULL, put_zsh_commands},
      {"options", NULL, put_zsh_common},
      {"cases", NULL, put_zsh_cases}}},
    {"fish",
     completion_fish,
     {{"packages", LIST_NAMES, NULL},
      {"skills", SKILL_NAMES, NULL},
      {"options", NULL, put_fish_takers},
      {"commands", NULL, put_fish_commands}}},
};

static void put_part(struct buf *b, const struct script *s, struct str name)
{
    for (size_t i = 0; i < PARTS_MAX && s->parts[i].name; i++) {
        if (!str_is(name, s->parts[i].name))
            continue;
        if (s->parts[i].text)
            buf_text(b, s->parts[i].text);
        else
            s->parts[i].put(b);
    }
}

static void put_script(struct buf *b, const struct script *s)
{
    struct str rest = str_from(s->text);
    size_t open;

    while ((open = str_find(rest, STR("{{"))) != SIZE_MAX) {
        size_t close = str_find(rest, STR("}}"));

        buf_append(b, str_slice(rest, 0, open));
        put_part(b, s, str_slice(rest, open + 2, close));
        rest = str_from_index(rest, close + 2);
    }
    buf_append(b, rest);
}

COMMAND(command_completion)
{
    struct str shell = inv->arguments.items[0];
    CLEANUP(buf_done) struct buf b;

    buf_init(&b, 256 * 1024);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (str_is(shell, scripts[i].shell))
            put_script(&b, &scripts[i]);
    if (!b.n)
        return err_set(e, ERR_USAGE, "unknown shell \"%.*s\": bash, zsh, fish",
                       STR_ARG(shell));
    term_write(&inv->term, buf_str(&b));
    *exit_code = EXIT_DONE;
    return true;
}
