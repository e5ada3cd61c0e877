#include <stdio.h>
#include <string.h>

#include "command.h"

/*
 * Completions of the three shells, generated from the table. Names of packages
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

/* The kind of package that an option takes names of; "" for any, NULL for
 * none. */
static const char *offered_kind(const struct option *o)
{
    if (o->kind != ARGUMENT_NAMES)
        return NULL;
    return o == &options[OPTION_SKIP] ? "[a-z][a-z]*" : o->name;
}

/* "install|add|i", with another text than "|" between them. */
static void put_command_names(struct buf *b, const struct subcommand *c,
                              const char *between)
{
    struct str aliases = str_cstr(c->aliases ? c->aliases : ""), alias;

    buf_text(b, c->name);
    while (aliases.n && str_cut(&aliases, ' ', &alias))
        buf_printf(b, "%s%.*s", between, STR_ARG(alias));
}

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

/* The line up to the cursor: bash has cut it at "=" and ":" as well. */
static const char bash_head[] =
    "# bash completion for mapm\n"
    "_mapm_offers() {\n"
    "  local kind=$1\n"
    "  ((${#origins[@]})) &&\n"
    "    mapm install -n -q \"${where[@]}\" -- \"${origins[@]}\" " OFFERED_NAMES
    "\n"
    "}\n"
    "_mapm() {\n"
    "  local -a line=() where=() origins=()\n"
    "  local i word glue= pending= command= first= count=0 only= prefix=\n"
    "  local opts= words= files=\n"
    "  ((COMP_CWORD > 0)) || return\n"
    "  for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "    word=${COMP_WORDS[i]}\n"
    "    if [[ $i -gt 0 && ( $glue || $word == [=:]* ) ]]; then\n"
    "      line[-1]+=$word\n"
    "      [[ $word == [=:]* ]] && glue=1 || glue=\n"
    "    else\n"
    "      line+=(\"$word\")\n"
    "    fi\n"
    "  done\n"
    "  local cur=${line[-1]}\n"
    "  for word in \"${line[@]:1:${#line[@]}-2}\"; do\n"
    "    if [[ $pending ]]; then\n"
    "      [[ $pending == -C || $pending == --directory ]] &&\n"
    "        where+=(-C \"$word\")\n"
    "      pending=\n"
    "    elif [[ $only || $word != -* ]]; then\n"
    "      if [[ ! $command ]]; then command=$word\n"
    "      else\n"
    "        ((++count == 1)) && first=$word\n"
    "        [[ $word == */* ]] && origins+=(\"$word\")\n"
    "      fi\n"
    "    else\n"
    "      case $word in\n"
    "      --) only=1 ;;\n"
    "      -g|--global|--directory=*) where+=(\"$word\") ;;\n";

static const char bash_middle[] = "      esac\n"
                                  "    fi\n"
                                  "  done\n"
                                  "  case $command in\n";

static const char bash_value[] =
    "  esac\n"
    "  if [[ ! $only && ! $pending && $cur == --*=* ]]; then\n"
    "    pending=${cur%%=*}\n"
    "    [[ $COMP_WORDBREAKS == *=* ]] || prefix=$pending=\n"
    "    cur=${cur#*=}\n"
    "  fi\n";

static const char bash_tail[] =
    "  if [[ $files ]]; then\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -$files -- \"$cur\")\n"
    "  else\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$words\" -- "
    "\"$cur\")\n"
    "  fi\n"
    "}\n"
    "complete -F _mapm mapm\n";

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

static void put_bash(struct buf *b)
{
    const char *between = "";

    buf_text(b, bash_head);
    buf_text(b, "      ");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!options[i].argument)
            continue;
        buf_text(b, between);
        put_bash_pattern(b, &options[i]);
        between = "|";
    }
    buf_text(b, ") pending=$word ;;\n");
    buf_text(b, bash_middle);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!commands[i].aliases)
            continue;
        buf_text(b, "  ");
        put_command_names(b, &commands[i], "|");
        buf_printf(b, ") command=%s ;;\n", commands[i].name);
    }
    buf_text(b, bash_value);
    put_bash_choices(b);
    buf_text(b, "  if [[ ! $pending ]]; then\n    opts='");
    put_bash_options(b, common_options, common_option_count);
    buf_text(b, "'\n");
    put_bash_commands(b);
    buf_text(b, "    [[ ! $only && $cur == -* ]] && words=$opts files=\n"
                "  fi\n");
    buf_text(b, bash_tail);
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

static void put_zsh(struct buf *b)
{
    buf_text(b,
             "#compdef mapm\n"
             "_mapm_packages() {\n"
             "  local -a names\n"
             "  names=(${(f)\"$(mapm list -q " LIST_NAMES ")\"})\n"
             "  compadd -a names\n"
             "}\n"
             "_mapm_servers() {\n"
             "  local -a keys\n"
             "  keys=(${(f)\"$(mapm list " SERVER_KEYS ")\"})\n"
             "  compadd -a keys\n"
             "}\n"
             "_mapm_skills() {\n"
             "  if [[ $PREFIX == [./~]* ]]; then\n"
             "    _files -/\n"
             "  else\n"
             "    local -a names\n"
             "    names=(${(f)\"$(mapm skill list -q " METASKILL_NAMES ")\"})\n"
             "    compadd -a names\n"
             "  fi\n"
             "}\n"
             "_mapm_runs() {\n"
             "  local -a ids\n"
             "  [[ $words[2] == show ]] || return\n"
             "  ids=(${(f)\"$(mapm runs -q " RUN_IDS ")\"})\n"
             "  compadd -a ids\n"
             "}\n"
             "_mapm_offers() {\n"
             "  local -a names origins\n"
             "  local kind=$1\n"
             "  origins=(${(M)words[2,-1]:#[^-]*/*})\n"
             "  (( $#origins )) || return\n"
             "  names=(${(f)\"$(mapm install -n -q -- $origins " OFFERED_NAMES
             ")\"})\n"
             "  compadd -a names\n"
             "}\n"
             "_mapm_library() {\n"
             "  local -a names\n"
             "  local word\n"
             "  for word in " SKILL_WORDS "; do\n"
             "    [[ -n ${words[(re)$word]} ]] || continue\n"
             "    names=(${(f)\"$(mapm skill list -q " SKILL_NAMES ")\"})\n"
             "    compadd -a names\n"
             "    return\n"
             "  done\n"
             "}\n"
             "_mapm() {\n"
             "  local curcontext=$curcontext state line ret=1\n"
             "  local -A opt_args\n"
             "  local -a commands\n"
             "  commands=(\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        buf_printf(b, "    '%s:%s'\n", commands[i].name, commands[i].text);
    buf_text(b, "  )\n"
                "  _arguments -C -s -S \\\n");
    put_zsh_options(b, common_options, common_option_count);
    put_zsh_form(b, &options[OPTION_VERSION], false);
    put_zsh_form(b, &options[OPTION_VERSION], true);
    buf_text(b,
             "      '1:command:->command' \\\n"
             "      '*::argument:->argument' && return 0\n"
             "  case $state in\n"
             "  command) _describe -t commands command commands && ret=0 ;;\n"
             "  argument)\n"
             "    case $words[1] in\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        buf_text(b, "    ");
        put_command_names(b, &commands[i], "|");
        buf_text(b, ") _arguments -s -S \\\n");
        put_zsh_options(b, commands[i].options, commands[i].option_count);
        put_zsh_options(b, common_options, common_option_count);
        put_zsh_arguments(b, &commands[i]);
    }
    buf_text(b, "    esac ;;\n"
                "  esac\n"
                "  return ret\n"
                "}\n"
                "if [[ $funcstack[1] == _mapm ]]; then\n"
                "  _mapm \"$@\"\n"
                "else\n"
                "  compdef _mapm mapm\n"
                "fi\n");
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
    else if (offered_kind(o))
        buf_printf(b, " -x -a '(__mapm_offers \"%s\")'", offered_kind(o));
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

static const char fish_head[] =
    "# fish completion for mapm\n"
    "# The command and its arguments on the line up to the cursor.\n"
    "function __mapm_words\n"
    "  set -l words (commandline -opc)\n"
    "  set -l skip\n"
    "  set -l only\n"
    "  for word in $words[2..-1]\n"
    "    if set -q only[1]\n"
    "      echo $word\n"
    "    else if set -q skip[1]\n"
    "      set skip\n"
    "    else\n"
    "      switch $word\n";

static const char fish_middle[] =
    "          set skip 1\n"
    "        case --\n"
    "          set only 1\n"
    "        case '-*'\n"
    "        case '*'\n"
    "          echo $word\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "end\n"
    "function __mapm_first\n"
    "  test (count (__mapm_words)) -eq 0\n"
    "end\n"
    "function __mapm_at\n"
    "  set -l words (__mapm_words)\n"
    "  test \"$(__mapm_command $words[1])\" "
    "= $argv[1]\n"
    "  and begin\n"
    "    not set -q argv[2]\n"
    "    or test (count $words) -eq $argv[2]\n"
    "  end\n"
    "end\n"
    "function __mapm_packages\n"
    "  mapm list -q " LIST_NAMES "\n"
    "end\n"
    "function __mapm_servers\n"
    "  mapm list " SERVER_KEYS "\n"
    "end\n"
    "function __mapm_skills\n"
    "  if string match -qr '^[./~]' -- "
    "(commandline -ct)\n"
    "    __fish_complete_directories\n"
    "  else\n"
    "    mapm skill list -q " METASKILL_NAMES "\n"
    "  end\n"
    "end\n"
    "function __mapm_runs\n"
    "  mapm runs -q " RUN_IDS "\n"
    "end\n"
    "function __mapm_offers\n"
    "  set -l words (__mapm_words)\n"
    "  set -l kind $argv[1]\n"
    "  set -l origins (string match -- '*/*' "
    "$words[2..-1])\n"
    "  set -q origins[1]\n"
    "  and mapm install -n -q -- $origins " OFFERED_NAMES "\n"
    "end\n"
    "function __mapm_second\n"
    "  set -l words (__mapm_words)\n"
    "  test (count $words) -ge 2\n"
    "  and contains -- $words[2] $argv\n"
    "end\n"
    "function __mapm_library\n"
    "  mapm skill list -q " SKILL_NAMES "\n"
    "end\n"
    "complete -c mapm -f\n";

/* The name of a command that was typed as an alias. */
static void put_fish_aliases(struct buf *b)
{
    buf_text(b, "function __mapm_command\n"
                "  switch \"$argv[1]\"\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!commands[i].aliases)
            continue;
        buf_text(b, "    case ");
        put_command_names(b, &commands[i], " ");
        buf_printf(b, "\n      echo %s\n", commands[i].name);
    }
    buf_text(b, "    case '*'\n"
                "      echo $argv[1]\n"
                "  end\n"
                "end\n");
}

static void put_fish(struct buf *b)
{
    char condition[96];

    buf_text(b, fish_head);
    buf_text(b, "        case");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (options[i].argument && options[i].letter)
            buf_printf(b, " -%c", options[i].letter);
        if (options[i].argument)
            buf_printf(b, " --%s", options[i].name);
    }
    buf_text(b, "\n");
    buf_text(b, fish_middle);
    put_fish_aliases(b);
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

COMMAND(command_completion)
{
    struct str shell = inv->arguments.items[0];
    CLEANUP(buf_done) struct buf b;

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
    *exit_code = EXIT_DONE;
    return true;
}
