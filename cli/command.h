#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/buf.h"
#include "base/context.h"
#include "base/json_record.h"
#include "base/proc.h"
#include "base/term.h"

#include <sys/types.h>

/* command: the table of commands and options, and a parsed command line. Help
 * and completions are generated from the table; a test compares it with man/.
 * Source: DESIGN.md 10. */

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_FINDINGS = 3,
    EXIT_REFUSED = 4,
    EXIT_INTERRUPTED = 130,
};

/* clang-format off */
/* In the order in which help lists them, by the groups of help.c. */
#define COMMANDS(X) \
    X(INIT, init) \
    X(INSTALL, install) \
    X(REMOVE, remove) \
    X(UPDATE, update) \
    X(IMPORT, import) \
    X(OUTDATED, outdated) \
    X(INFO, info) \
    X(DIFF, diff) \
    X(RESTORE, restore) \
    X(PATCH, patch) \
    X(SEARCH, search) \
    X(CATALOG, catalog) \
    X(HOST, host) \
    X(CLIENT, client) \
    X(LIST, list) \
    X(TREE, tree) \
    X(WHY, why) \
    X(VERIFY, verify) \
    X(BUNDLE, bundle) \
    X(VENDOR, vendor) \
    X(RUN, run) \
    X(TRUST, trust) \
    X(RUNS, runs) \
    X(MCP, mcp) \
    X(START, start) \
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

/* clang-format off */
/* One row per option: F is a flag; V has a value, with its placeholder in help,
 * its kind, and its choices (NULL if any text is valid). */
#define OPTIONS(F, V) \
    V(DIR, "directory", 'C', "DIR", FOLDER, NULL, \
      "Run as if started in DIR") \
    F(JSON, "json", 0, "Print one JSON document") \
    F(QUIET, "quiet", 'q', "Print results, warnings and errors only") \
    F(VERBOSE, "verbose", 'v', "Print more, for example each request") \
    V(COLOR, "color", 0, "WHEN", CHOICE, "auto always never", \
      "Colour the output") \
    F(YES, "yes", 'y', "Give consent without a question; accept no offer") \
    F(OFFLINE, "offline", 0, "Use the store only, never the network") \
    F(HELP, "help", 'h', "Show this help") \
    F(VERSION, "version", 'V', "Show the version") \
    F(GLOBAL, "global", 'g', "Use your own library instead of the workspace") \
    F(RECURSIVE, "recursive", 'r', "Apply to all members of the workspace") \
    V(MEMBER, "member", 0, "NAME", FOLDER, NULL, \
      "Apply to this member of the workspace, . for its root") \
    F(LOCKED, "locked", 0, "Fail unless mapm.lock matches mapm.yaml") \
    F(CONTINUE, "continue", 0, "Use patches in conflict as resolved by hand") \
    F(REWRITE_ORIGINS, "rewrite-origins", 0, "Rewrite origins of renamed repositories in mapm.yaml") \
    F(ACCEPT_MOVED_TAG, "accept-moved-tag", 0, "Accept tags that were moved to another commit") \
    F(NO_SELF, "no-self", 0, "Use the remote, not the checkout of a local root") \
    F(ALLOW_HIDDEN, "allow-hidden", 0, "Accept hidden characters in package text") \
    F(DRY_RUN, "dry-run", 'n', "Show what would change, and change nothing") \
    F(FORCE, "force", 'f', "Overwrite local edits, keeping a backup") \
    F(PURGE, "purge", 0, "Also delete the data of removed plugins") \
    F(DIFF, "diff", 0, "Show what would change as a diff, and change nothing") \
    F(REMOVE_PATCH, "remove", 0, "Delete the patches and reinstall without them") \
    F(EXIT_CODE, "exit-code", 0, "Exit with status 3 if there are differences") \
    V(LINK_MODE, "link-mode", 0, "MODE", CHOICE, "auto copy hardlink reflink", \
      "How files are placed in the workspace") \
    F(ALL, "all", 0, "Install all valid packages of a catalog") \
    V(SKIP, "skip", 0, "PATTERN", NAMES, NULL, \
      "Skip packages that match; may be repeated") \
    V(AS_NAME, "as", 0, "NAME", TEXT, NULL, \
      "Install the package under this name") \
    V(WITHOUT, "without", 0, "PART", NAMES, NULL, \
      "Skip a part of a plugin (KIND NAME); may be repeated") \
    F(ALL_OR_NOTHING, "strict", 0, "Install nothing if a chosen package is invalid") \
    V(SKILL, "skill", 0, "NAME", NAMES, NULL, \
      "Install skills of a catalog by name or glob; may be repeated") \
    V(AGENT, "agent", 0, "NAME", NAMES, NULL, \
      "Install agents of a catalog by name or glob; may be repeated") \
    F(MARKETPLACE, "marketplace", 0, "Write a marketplace.json instead of an index") \
    V(PLUGIN, "plugin", 0, "NAME", NAMES, NULL, \
      "Choose plugins of a marketplace by name or glob") \
    V(MCP, "mcp", 0, "NAME", NAMES, NULL, \
      "Install MCP servers of a catalog by name or glob; may be repeated") \
    V(PROFILE, "profile", 0, "NAME", PROFILE, NULL, \
      "Validate by the rules of this format") \
    F(STRICT, "strict", 0, "Treat warnings as errors, and report unknown fields") \
    F(FIX, "fix", 0, "Fix what can be fixed automatically") \
    V(AGAINST, "against", 0, "REF", TEXT, NULL, \
      "Compare versions with this git ref") \
    V(NAME, "name", 0, "TEXT", TEXT, NULL, \
      "Validate TEXT as a name") \
    F(REMOTE, "remote", 0, "Verify that each commit is reachable from its ref") \
    F(DOT, "dot", 0, "Print the graph in Graphviz format") \
    F(MERMAID, "mermaid", 0, "Print the graph in Mermaid format") \
    F(INVERT, "invert", 0, "Show the dependents of packages") \
    V(DEPTH, "depth", 0, "NUMBER", TEXT, NULL, \
      "Maximum depth of the tree") \
    V(SCOPE, "scope", 0, "SCOPE", TEXT, NULL, \
      "Scope of the new package") \
    V(DESCRIPTION, "description", 0, "TEXT", TEXT, NULL, \
      "Description of the new package") \
    V(COMMAND, "command", 'c', "TEXT", TEXT, NULL, \
      "Run TEXT as the program") \
    F(CHECK, "check", 0, "Check for errors without running") \
    F(DIS, "dis", 0, "Print the bytecode without running") \
    V(MAX_MEM, "max-mem", 0, "SIZE", TEXT, NULL, \
      "Memory limit, 64M by default") \
    V(MAX_STEPS, "max-steps", 0, "NUMBER", TEXT, NULL, \
      "Step limit") \
    V(TO, "to", 0, "DIR", FOLDER, NULL, \
      "Write a folder for a web server, not to a registry") \
    F(PUSH_AGAIN, "force", 'f', "Also push packages that are there already") \
    V(TIMEOUT, "timeout", 0, "SECONDS", TEXT, NULL, \
      "Time limit") \
    V(ALLOW, "allow", 0, "RULE", TEXT, NULL, \
      "Allow commands that match RULE; may be repeated") \
    F(ALL_RUNS, "all", 0, "Show the runs of all workspaces") \
    V(LIMIT, "limit", 0, "COUNT", TEXT, NULL, \
      "Maximum number of runs, 20 by default") \
    V(HTML, "html", 0, "FILE", PATH, NULL, \
      "Write an HTML page to FILE, - for standard output") \
    V(SVG, "svg", 0, "FILE", PATH, NULL, \
      "Write an SVG image to FILE, - for standard output") \
    F(UPDATE, "update", 0, "Update the recorded results that differ") \
    F(OFFERS, "list", 0, "List the packages of a catalog, and install nothing") \
    F(LIST, "list", 0, "List everything trusted on this machine") \
    F(REVOKE, "revoke", 0, "Revoke trust in all versions") \
    F(INDEX_HOST, "index", 0, "Trust these hosts of skill indexes") \
    F(WORKSPACE, "workspace", 0, "Trust the rules in mapm.yaml of this workspace") \
    F(ALL_TRUST, "all", 0, "Revoke everything") \
    V(INPUT, "input", 0, "JSON", PATH, NULL, \
      "Input of the program: JSON, @FILE or -") \
    V(ASK, "ask", 0, "BACKEND", BACKEND, NULL, \
      "Model backend: a client, program or API") \
    V(MAX_ASK_CALLS, "max-ask-calls", 0, "N", TEXT, NULL, \
      "Maximum number of model calls") \
    V(MAX_COMMAND_CALLS, "max-command-calls", 0, "N", TEXT, NULL, \
      "Maximum number of commands") \
    F(TRACE, "trace", 0, "Show each step as it happens") \
    V(RECORD, "record", 0, "FILE", PATH, NULL, \
      "Record the run to FILE") \
    V(REPLAY, "replay", 0, "FILE", PATH, NULL, \
      "Replay a recorded run, without model or commands") \
    V(BATCH, "batch", 0, "FILE", PATH, NULL, \
      "Run once for each line of FILE: {\"id\": ..., \"input\": {...}}") \
    V(OUT, "out", 0, "FILE", PATH, NULL, \
      "Write the results of a batch to FILE") \
    V(JOBS, "jobs", 'j', "N", TEXT, NULL, \
      "Number of batch inputs to run in parallel") \
    V(SHARD, "shard", 0, "I/N", TEXT, NULL, \
      "Run shard I of N of a batch, counted from 0") \
    V(JOURNAL, "journal", 0, "DIR", FOLDER, NULL, \
      "Folder for the journal of a batch") \
    V(RETRY, "retry", 0, "END", CHOICE, "failed interrupted", \
      "Rerun inputs with this result; may be repeated") \
    V(MAX_COST, "max-cost", 0, "ASKS", TEXT, NULL, \
      "Stop a batch after this many model calls") \
    F(MERGE, "merge", 0, "Merge the outputs of all shards") \
    V(WORKSPACE_ROOT, "workspace-root", 0, "DIR", FOLDER, NULL, \
      "Use the skills of DIR as those of the workspace") \
    V(GLOBAL_ROOT, "global-root", 0, "DIR", FOLDER, NULL, \
      "Use the skills of DIR as the global ones") \
    V(ROOT, "root", 0, "DIR", FOLDER, NULL, \
      "Add the skills of DIR; may be repeated") \
    V(SKILL_PROFILE, "profile", 0, "NAME", CHOICE, "metis", \
      "Validate, search and load as Metis does") \
    V(SESSION, "session", 0, "ID", TEXT, NULL, \
      "Count loads against the budgets of this session") \
    V(AS, "as", 0, "FORM", CHOICE, "system user tool", \
      "Format the text as a system, user or tool message") \
    V(HITS, "limit", 0, "COUNT", TEXT, NULL, \
      "Maximum number of skills") \
    V(FOUND, "limit", 0, "COUNT", TEXT, NULL, \
      "Maximum number of packages, 10 by default") \
    V(MIN_SCORE, "min-score", 0, "SCORE", TEXT, NULL, \
      "Minimum score, from 0 to 1, 0.1 by default") \
    F(PRELOAD, "preload", 0, "Add the text of skills while the index is short") \
    V(MAX_CHARS, "max-chars", 0, "COUNT", TEXT, NULL, \
      "Maximum size of the text, in characters") \
    V(CONTEXT_WINDOW, "context-window", 0, "TOKENS", TEXT, NULL, \
      "Size of the context window, 200000 by default") \
    F(FOLLOW, "follow", 0, "Wait for further events") \
    V(TYPE, "type", 0, "TYPE", TEXT, NULL, \
      "Show only events of this type") \
    V(OF_SESSION, "session", 0, "ID", TEXT, NULL, \
      "Show only events of this session") \
    V(EVENTS, "limit", 0, "COUNT", TEXT, NULL, \
      "Maximum number of events, 50 by default") \
    V(FROM, "from", 0, "CATALOG", TEXT, NULL, \
      "Compare folders with this catalog; may be repeated") \
    F(OURS, "ours", 0, "Resolve conflicts in mapm.lock with our side") \
    F(THEIRS, "theirs", 0, "Resolve conflicts in mapm.lock with their side") \
    F(GITIGNORE, "gitignore", 0, "Add generated files to .gitignore") \
    F(WITH_SERVER, "with-server", 0, "Add mapm mcp as a server of the clients and to mapm.yaml") \
    V(HOST_KIND, "kind", 0, "KIND", GIT_KIND, NULL, \
      "Software of the host, instead of detecting it") \
    V(HOST_TRANSPORT, "transport", 0, "HOW", CHOICE, "https ssh", \
      "Transport to fetch over") \
    V(HOST_PORT, "port", 0, "PORT", TEXT, NULL, \
      "Port of the transport, or default") \
    V(HOST_PORTS, "ports", 0, "PORTS", TEXT, NULL, \
      "Other ports that origins may name, comma-separated, or default") \
    V(HOST_TOKEN, "token", 0, "SOURCE", TEXT, NULL, \
      "Source of the token: env:NAME, git, none or default") \
    V(CLIENT, "client", 0, "CLIENT", CLIENTS, NULL, \
      "Install for this client in this run; may be repeated") \
    F(TEAM, "team", 0, "Change mapm.yaml, not your own configuration") \
    F(RUN, "run", 0, "Run the list commands of the clients") \
    F(RESTORE_USER, "restore-user", 0, "Restore client files to their state before mapm edited them") \
    V(BUNDLE, "from", 0, "FILE", PATH, NULL, \
      "Install from this bundle, without network") \
    V(VENDORED, "vendored", 0, NULL, FOLDER, NULL, \
      "Install from vendor/mapm or DIR, without network") \
    F(README, "readme", 0, "Print only the text of the package") \
    F(WATCH, "watch", 0, "Watch the skills and notify the client of changes") \
    V(PRINT_CONFIG, "print-config", 0, "CLIENT", CLIENT, NULL, \
      "Print the configuration for this client and exit")
/* clang-format on */

enum option_id {
#define ID(id, ...) OPTION_##id,
    OPTIONS(ID, ID)
#undef ID
        OPTION_COUNT
};

/* The kind of an argument, for completions of the shells. */
enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_TEXT,
    ARGUMENT_PATH,
    ARGUMENT_FOLDER,
    ARGUMENT_CHOICE,   /* a member of `choices` */
    ARGUMENT_CLIENT,   /* a client */
    ARGUMENT_GIT_KIND, /* a kind of git host */
    ARGUMENT_PROFILE,  /* a profile of mapm check */
    ARGUMENT_BACKEND,  /* TEXT: a client that runs models, or an API */
    ARGUMENT_PACKAGE,  /* a name listed by `mapm list` */
    ARGUMENT_SERVER,   /* the key of an MCP server listed there */
    ARGUMENT_SKILL,    /* first a metaskill or the folder of a skill, then
                        * text */
    ARGUMENT_NAMES,    /* TEXT, and all following words without "/" */
    ARGUMENT_CLIENTS,  /* like NAMES: clients, "all" or "none" */
};

struct option {
    const char *name;        /* without "--" */
    char letter;             /* '\0' if none */
    const char *argument;    /* placeholder in help; NULL for a flag */
    enum argument_kind kind; /* of a flag: an optional value after "=" */
    const char *choices;     /* separated by blanks; a CHOICE is one of them */
    const char *text;
};

struct invocation;

/* A first argument that selects an operation, such as "add" of mapm host. Rows
 * may share a name if they take different numbers of arguments. */
struct word {
    const char *name;
    const char *arguments; /* the arguments after it: "ORIGIN..." */
    const char *text;
    size_t min_arguments, max_arguments;
    const char *options; /* the options of the command that it accepts; NULL
                          * if all */
};

struct subcommand {
    const char *name;
    const char *arguments; /* "[ORIGIN…]" */
    const char *text;
    size_t min_arguments, max_arguments;
    enum argument_kind kind; /* the kind of its arguments */
    const char *choices;
    const enum option_id *options; /* in addition to the common ones */
    size_t option_count;
    const char *aliases;  /* separated by blanks; NULL if none */
    const char *examples; /* shell commands, one per line */
    const struct word *words;
    size_t word_count;
};

extern const struct option options[OPTION_COUNT];
extern const enum option_id common_options[];
extern const size_t common_option_count;
extern const struct subcommand commands[COMMAND_COUNT];

/* Finds a command by its name or an alias. */
const struct subcommand *command_find(struct str name);
/* Returns the valid values of an option, separated by blanks; p is NULL if any
 * text is valid. Borrowed, or allocated in `a`. */
struct str option_choices(const struct option *o, struct arena *a);
/* Returns the valid first arguments, separated by blanks; "" if any text is
 * valid. Allocated in `a`. */
struct str command_choices(const struct subcommand *c, struct arena *a);
/* Sets ERR_USAGE, with a similar name as hint. Returns false. */
bool command_unknown(struct str name, struct err *e);

struct values {
    struct str *items;
    size_t count, capacity;
};
void values_add(struct values *v, struct str s, struct arena *a);

struct invocation {
    const struct subcommand *command; /* NULL if none is named */
    const struct word *word;          /* the operation of the command; NULL
                                       * if it has none */
    struct term term;
    struct context cx;    /* passed to the modules below */
    struct host terminal; /* its host */
    struct proc_inherited inherited;
    struct values arguments;
    struct values given[OPTION_COUNT]; /* one empty text per given flag */
    struct json_writer json;           /* of the document in `json_text` */
    struct buf json_text;
};

bool has_option(const struct invocation *inv, enum option_id id);
/* Returns the arguments from index `from` on, possibly none. Borrowed. */
struct str_list argument_list(const struct invocation *inv, size_t from);
/* Returns the argument at index `at`; "" with p NULL if there are fewer. */
struct str argument(const struct invocation *inv, size_t at);
/* Returns all given values. Borrowed. */
struct str_list option_list(const struct invocation *inv, enum option_id id);
/* Returns the value of the option, the last one if it was given several times,
 * or an empty string with p = NULL if it was not given. */
struct str option_value(const struct invocation *inv, enum option_id id);
/* Parses a number from 1 to `max`; leaves `*out` unchanged if the option is not
 * given. Errors: ERR_USAGE. */
MUST_CHECK bool option_number(const struct invocation *inv, enum option_id id,
                              uint64_t max, uint64_t *out, struct err *e);

/* Parses argv. The caller changes to the folder of `-C`. Errors: ERR_USAGE. */
MUST_CHECK bool invocation_parse(struct invocation *inv, int argc,
                                 char *const *argv, struct err *e);

/* Begins the JSON document that is printed: an object with its schema and,
 * unless it is NULL, `command`. The caller adds members until print_json_end.
 * Only one document at a time. */
struct json_writer *print_json_begin(struct invocation *inv, const char *schema,
                                     const char *command);
void print_json_end(struct invocation *inv);
/* Prints a document with the members of `value`. */
void print_json_record(struct invocation *inv, const char *schema,
                       const char *command, const struct json_record *r,
                       const void *value);
/* Writes `text` to the file named by the option `id` and reports its path, or
 * to stdout for "-". */
MUST_CHECK bool print_to_file(struct invocation *inv, enum option_id id,
                              mode_t mode, struct str text, struct err *e);
/* Prints an error as a document: its code, `text` unless it is empty, the
 * messages of `e`, which may be NULL, with the outermost first, and the
 * hint. */
void print_error_json(struct invocation *inv, enum err_code code,
                      struct str text, const struct err *e);

/* Sets the terminal as the host of inv->cx, and the options that the modules
 * below read from it. Defined in terminal.c. */
void terminal_attach(struct invocation *inv);

/* Returns the exit code of a failed command. Defined in main.c. */
int exit_code_of(const struct err *e);

/* The functions of the commands, one or a few per file of this folder.
 * `*exit_code` is initially EXIT_DONE. */
#define COMMAND(name)                                                          \
    bool name(struct invocation *inv, __attribute__((unused)) int *exit_code,  \
              __attribute__((unused)) struct err *e)
#define X(id, name) COMMAND(command_##name);
COMMANDS(X)
#undef X

#endif
