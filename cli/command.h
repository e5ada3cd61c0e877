#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/buf.h"
#include "base/context.h"
#include "base/json.h"
#include "base/term.h"

/*
 * command: the table of commands and options, and one invocation of them.
 * Help and completions come from the table; a test compares it with man/.
 * Source: DESIGN.md 10.
 */

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_FINDINGS = 3,
    EXIT_REFUSED = 4,
    EXIT_INTERRUPTED = 130,
};

/* clang-format off */
/* In the order of help: by the groups of help.c. */
#define COMMANDS(X) \
    X(INIT, init) \
    X(INSTALL, install) \
    X(REMOVE, remove) \
    X(UPDATE, update) \
    X(OUTDATED, outdated) \
    X(LIST, list) \
    X(TREE, tree) \
    X(WHY, why) \
    X(VERIFY, verify) \
    X(RUN, run) \
    X(TRUST, trust) \
    X(RUNS, runs) \
    X(MCP, mcp) \
    X(STAR, star) \
    X(SKILL, skill) \
    X(EVENTS, events) \
    X(BUDGET, budget) \
    X(NEW, new) \
    X(CHECK, check) \
    X(TEST, test) \
    X(DOCTOR, doctor) \
    X(STORE, store) \
    X(COMPLETION, completion) \
    X(VERSION, version) \
    X(HELP, help)
/* clang-format on */

enum command_id {
#define X(id, name) COMMAND_##id,
    COMMANDS(X)
#undef X
        COMMAND_COUNT
};

enum option_id {
    OPTION_DIR,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_COLOR,
    OPTION_YES,
    OPTION_OFFLINE,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_GLOBAL,
    OPTION_LOCKED,
    OPTION_ALLOW_HIDDEN,
    OPTION_DRY_RUN,
    OPTION_FORCE,
    OPTION_LINK_MODE,
    OPTION_ALL,
    OPTION_SKIP,
    OPTION_ALL_OR_NOTHING,
    OPTION_SKILL,
    OPTION_AGENT,
    OPTION_MCP,
    OPTION_PROFILE,
    OPTION_STRICT,
    OPTION_FIX,
    OPTION_AGAINST,
    OPTION_NAME,
    OPTION_REMOTE,
    OPTION_DOT,
    OPTION_MERMAID,
    OPTION_SCOPE,
    OPTION_DESCRIPTION,
    OPTION_COMMAND,
    OPTION_CHECK,
    OPTION_DIS,
    OPTION_MAX_MEM,
    OPTION_MAX_STEPS,
    OPTION_TIMEOUT,
    OPTION_ALLOW,
    OPTION_ALL_RUNS,
    OPTION_LIMIT,
    OPTION_HTML,
    OPTION_UPDATE,
    OPTION_LIST,
    OPTION_REVOKE,
    OPTION_WORKSPACE,
    OPTION_ALL_TRUST,
    OPTION_INPUT,
    OPTION_ASK,
    OPTION_MAX_ASK_CALLS,
    OPTION_MAX_COMMAND_CALLS,
    OPTION_TRACE,
    OPTION_RECORD,
    OPTION_REPLAY,
    OPTION_WORKSPACE_ROOT,
    OPTION_GLOBAL_ROOT,
    OPTION_ROOT,
    OPTION_SKILL_PROFILE,
    OPTION_SESSION,
    OPTION_AS,
    OPTION_HITS,
    OPTION_MIN_SCORE,
    OPTION_PRELOAD,
    OPTION_MAX_CHARS,
    OPTION_FOLLOW,
    OPTION_TYPE,
    OPTION_OF_SESSION,
    OPTION_EVENTS,
    OPTION_WITH_SERVER,
    OPTION_WATCH,
    OPTION_PRINT_CONFIG,
    OPTION_COUNT,
};

/* The kind of an argument, for completions of the shells. */
enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_TEXT,
    ARGUMENT_PATH,
    ARGUMENT_FOLDER,
    ARGUMENT_CHOICE,  /* a member of `choices` */
    ARGUMENT_CLIENT,  /* a client */
    ARGUMENT_BACKEND, /* TEXT; the clients that answer, or an API */
    ARGUMENT_PACKAGE, /* a name that `mapm list` prints */
    ARGUMENT_SKILL,   /* first a metaskill, or a skill's folder; then text */
    ARGUMENT_NAMES,   /* TEXT that takes further words without "/" too */
};

struct option {
    const char *name;     /* without "--" */
    char letter;          /* '\0': none */
    const char *argument; /* its word in help; NULL: a flag */
    enum argument_kind kind;
    const char *choices; /* words and blanks; a CHOICE is one of them */
    const char *text;
};

struct invocation;

struct subcommand {
    const char *name;
    const char *arguments; /* "[ORIGIN…]" */
    const char *text;
    size_t min_arguments, max_arguments;
    enum argument_kind kind; /* of its arguments */
    const char *choices;
    const enum option_id *options; /* besides the common ones */
    size_t option_count;
    const char *aliases;  /* words with blanks between them; NULL: none */
    const char *examples; /* lines of a shell */
};

extern const struct option options[OPTION_COUNT];
extern const enum option_id common_options[];
extern const size_t common_option_count;
extern const struct subcommand commands[COMMAND_COUNT];

/* By its name or an alias. */
const struct subcommand *command_find(struct str name);
/* The words that may follow an option, with blanks between them; NULL p: any
 * text may. Borrowed, or in `a`. */
struct str option_choices(const struct option *o, struct arena *a);
/* ERR_USAGE, with a near name. Returns false. */
bool command_unknown(struct str name, struct err *e);

struct values {
    struct str *items;
    size_t count, capacity;
};

struct invocation {
    const struct subcommand *command; /* NULL: none named */
    struct term term;
    struct context cx;    /* passed to the modules below */
    struct host terminal; /* its host */
    struct values arguments;
    struct values given[OPTION_COUNT]; /* flags: one empty text each */
    struct json_writer json;           /* of the document in `json_text` */
    struct buf json_text;
};

bool has_option(const struct invocation *inv, enum option_id id);
/* All that were given. Borrowed. */
struct str_list option_list(const struct invocation *inv, enum option_id id);
/* The last one given; "" with p NULL when it was not. */
struct str option_value(const struct invocation *inv, enum option_id id);

/* Takes argv apart. ERR_USAGE. `-C` is carried out by the caller. */
MUST_CHECK bool invocation_parse(struct invocation *inv, int argc,
                                 char *const *argv, struct err *e);

/* The JSON document that is printed: an object with its schema and, unless it
 * is NULL, `command`, and the members that the caller adds until
 * print_json_end. One at a time. */
struct json_writer *print_json_begin(struct invocation *inv, const char *schema,
                                     const char *command);
void print_json_end(struct invocation *inv);
/* An error as a document: its code; `text`, unless empty, and the messages of
 * `e` (NULL: none), the outermost first; the hint. */
void print_error_json(struct invocation *inv, enum err_code code,
                      struct str text, const struct err *e);

/* terminal.c: inv->cx gets the terminal as its host, and the options of the
 * modules below. */
void terminal_attach(struct invocation *inv);

/* The functions of the commands, one file each (or few) in this folder. */
#define COMMAND(name)                                                          \
    bool name(struct invocation *inv, int *exit_code, struct err *e)
#define X(id, name) COMMAND(command_##name);
COMMANDS(X)
#undef X

#endif
