#include <stdio.h>

#include "command.h"

/*
 * The completions of the three shells, written from the table. Names of
 * packages come from `mapm list -q`, whose second column they are.
 */

static void put_options(struct buf *b, const enum option_id *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_printf(b, " --%s", options[ids[i]].name);
        if (options[ids[i]].letter)
            buf_printf(b, " -%c", options[ids[i]].letter);
    }
}

static void put_bash_choices(struct buf *b)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];

        if (!o->argument)
            continue;
        buf_printf(b, "    --%s", o->name);
        if (o->letter)
            buf_printf(b, "|-%c", o->letter);
        if (o->kind == ARGUMENT_CHOICE)
            buf_printf(b,
                       ") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); "
                       "return ;;\n",
                       o->choices);
        else if (o->kind == ARGUMENT_FOLDER)
            buf_text(b, ") COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n");
        else
            buf_text(b, ") return ;;\n");
    }
}

static void put_bash_arguments(struct buf *b, const struct command *c)
{
    switch (c->kind) {
    case ARGUMENT_CHOICE:
        buf_printf(b, "words='%s'", c->choices);
        break;
    case ARGUMENT_PACKAGE:
        buf_text(b, "words=$(mapm list -q 2>/dev/null | "
                    "sed 's/^[a-z]* *\\([^ ]*\\).*/\\1/')");
        break;
    case ARGUMENT_PATH:
        buf_text(b, "files=f");
        break;
    case ARGUMENT_FOLDER:
        buf_text(b, "files=d");
        break;
    default:
        buf_text(b, ":");
        break;
    }
}

static void put_bash(struct buf *b)
{
    buf_text(b, "# bash completion for mapm\n"
                "_mapm() {\n"
                "  local cur=${COMP_WORDS[COMP_CWORD]} prev= command= i\n"
                "  local opts= words= files=\n"
                "  ((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                "  case $prev in\n");
    put_bash_choices(b);
    buf_text(b, "  esac\n"
                "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "    case ${COMP_WORDS[i]} in\n"
                "    -C|--directory|--color) ((i++)) ;;\n"
                "    -*) ;;\n"
                "    *) command=${COMP_WORDS[i]}; break ;;\n"
                "    esac\n"
                "  done\n"
                "  opts='");
    put_options(b, common_options, common_option_count);
    buf_text(b, "'\n  case $command in\n  '') words='");
    for (size_t i = 0; i < command_count; i++)
        buf_printf(b, "%s%s", i ? " " : "", commands[i].name);
    buf_text(b, "' ;;\n");
    for (size_t i = 0; i < command_count; i++) {
        buf_printf(b, "  %s) opts+='", commands[i].name);
        put_options(b, commands[i].options, commands[i].option_count);
        buf_text(b, "'; ");
        put_bash_arguments(b, &commands[i]);
        buf_text(b, " ;;\n");
    }
    buf_text(b, "  esac\n"
                "  if [[ $cur == -* ]]; then\n"
                "    COMPREPLY=($(compgen -W \"$opts\" -- \"$cur\"))\n"
                "  elif [[ $files ]]; then\n"
                "    COMPREPLY=($(compgen -$files -- \"$cur\"))\n"
                "  else\n"
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                "  fi\n"
                "}\n"
                "complete -o filenames -F _mapm mapm\n");
}

/* Single-quoted text of zsh or fish; ours has neither "'" nor "\". */
static void put_zsh_option(struct buf *b, enum option_id id)
{
    const struct option *o = &options[id];
    const char *repeat = o->kind == ARGUMENT_NAMES ? "*" : "";
    int forms = o->letter ? 2 : 1;

    for (int i = 0; i < forms; i++) {
        if (i == 0)
            buf_printf(b, "    '%s--%s", repeat, o->name);
        else
            buf_printf(b, "    '%s-%c", repeat, o->letter);
        buf_printf(b, "%s[%s]", o->argument && i == 0 ? "=" : "", o->text);
        if (o->kind == ARGUMENT_CHOICE)
            buf_printf(b, ":%s:(%s)", o->argument, o->choices);
        else if (o->kind == ARGUMENT_FOLDER)
            buf_printf(b, ":%s:_files -/", o->argument);
        else if (o->argument)
            buf_printf(b, ":%s: ", o->argument);
        buf_text(b, "' \\\n");
    }
}

static void put_zsh_arguments(struct buf *b, const struct command *c)
{
    switch (c->kind) {
    case ARGUMENT_CHOICE:
        buf_printf(b, "    '*:argument:(%s)'\n", c->choices);
        break;
    case ARGUMENT_PACKAGE:
        buf_text(b, "    '*:package:_mapm_packages'\n");
        break;
    case ARGUMENT_PATH:
        buf_text(b, "    '*:path:_files'\n");
        break;
    case ARGUMENT_FOLDER:
        buf_text(b, "    '*:folder:_files -/'\n");
        break;
    default:
        buf_text(b, "    && return\n");
        break;
    }
}

static void put_zsh(struct buf *b)
{
    buf_text(b, "#compdef mapm\n"
                "_mapm_packages() {\n"
                "  compadd -- ${(f)\"$(mapm list -q 2>/dev/null | "
                "sed 's/^[a-z]* *\\([^ ]*\\).*/\\1/')\"}\n"
                "}\n"
                "_mapm() {\n"
                "  local -a commands\n"
                "  commands=(\n");
    for (size_t i = 0; i < command_count; i++)
        buf_printf(b, "    '%s:%s'\n", commands[i].name, commands[i].text);
    buf_text(b, "  )\n"
                "  if ((CURRENT == 2)); then\n"
                "    _describe command commands\n"
                "    return\n"
                "  fi\n"
                "  case $words[2] in\n");
    for (size_t i = 0; i < command_count; i++) {
        buf_printf(b, "  %s) shift words; ((CURRENT--)); _arguments \\\n",
                   commands[i].name);
        for (size_t k = 0; k < commands[i].option_count; k++)
            put_zsh_option(b, commands[i].options[k]);
        for (size_t k = 0; k < common_option_count; k++)
            put_zsh_option(b, common_options[k]);
        put_zsh_arguments(b, &commands[i]);
        buf_text(b, "    ;;\n");
    }
    buf_text(b, "  esac\n}\n_mapm \"$@\"\n");
}

static void put_fish_option(struct buf *b, const char *condition,
                            enum option_id id)
{
    const struct option *o = &options[id];

    buf_printf(b, "complete -c mapm%s -l %s", condition, o->name);
    if (o->letter)
        buf_printf(b, " -s %c", o->letter);
    if (o->kind == ARGUMENT_CHOICE)
        buf_printf(b, " -x -a '%s'", o->choices);
    else if (o->kind == ARGUMENT_FOLDER)
        buf_text(b, " -x -a '(__fish_complete_directories)'");
    else if (o->argument)
        buf_text(b, " -x");
    buf_printf(b, " -d '%s'\n", o->text);
}

static void put_fish_command(struct buf *b, const struct command *c)
{
    char condition[96];

    snprintf(condition, sizeof condition,
             " -n '__fish_seen_subcommand_from %s'", c->name);
    buf_printf(b,
               "complete -c mapm -n __fish_use_subcommand -f -a %s -d '%s'\n",
               c->name, c->text);
    for (size_t k = 0; k < c->option_count; k++)
        put_fish_option(b, condition, c->options[k]);
    if (c->kind == ARGUMENT_CHOICE)
        buf_printf(b, "complete -c mapm%s -f -a '%s'\n", condition, c->choices);
    if (c->kind == ARGUMENT_PACKAGE)
        buf_printf(b,
                   "complete -c mapm%s -f -a \"(mapm list -q 2>/dev/null | "
                   "string replace -r '^\\S+ +(\\S+).*' '\\$1')\"\n",
                   condition);
}

static void put_fish(struct buf *b)
{
    buf_text(b, "# fish completion for mapm\n");
    for (size_t k = 0; k < common_option_count; k++)
        put_fish_option(b, "", common_options[k]);
    for (size_t i = 0; i < command_count; i++)
        put_fish_command(b, &commands[i]);
}

COMMAND(command_completion)
{
    struct str shell = inv->arguments.items[0];
    struct buf b;

    buf_init(&b, 256 * 1024);
    if (str_is(shell, "bash"))
        put_bash(&b);
    else if (str_is(shell, "zsh"))
        put_zsh(&b);
    else if (str_is(shell, "fish"))
        put_fish(&b);
    else
        return err_set(e, ERR_USAGE, "unknown shell \"%.*s\": bash, zsh, fish",
                       STR_ARG(shell));
    term_write(&inv->term, buf_str(&b));
    buf_done(&b);
    *exit_code = EXIT_DONE;
    return true;
}
