#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/buf.h"
#include "base/context.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/term.h"

#include <sys/types.h>

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
/*
 * One row an option: a flag, or one with a value, which has a word for help, a
 * kind, and choices (NULL: none).
 */
#define OPTIONS(F, V) \
    V(DIR, "directory", 'C', "DIR", FOLDER, NULL, \
      "Run as if started in DIR") \
    F(JSON, "json", 0, "Print one JSON document") \
    F(QUIET, "quiet", 'q', "Print results, warnings and errors only") \
    F(VERBOSE, "verbose", 'v', "Print more, such as each request") \
    V(COLOR, "color", 0, "WHEN", CHOICE, "auto always never", \
      "Colour the output") \
    F(YES, "yes", 'y', "Answer every question with yes") \
    F(OFFLINE, "offline", 0, "Use what is in the store, never the network") \
    F(HELP, "help", 'h', "Show this help") \
    F(VERSION, "version", 'V', "Show the version") \
    F(GLOBAL, "global", 'g', "Use the library of the user instead of the workspace") \
    F(RECURSIVE, "recursive", 'r', "Take all members of the workspace") \
    V(MEMBER, "member", 0, "NAME", FOLDER, NULL, \
      "Take this member of the workspace, . for its root") \
    F(LOCKED, "locked", 0, "Fail unless mapm.lock fits mapm.yaml") \
    F(CONTINUE, "continue", 0, "Take patches in conflict as they were resolved") \
    F(REWRITE_ORIGINS, "rewrite-origins", 0, "Write the new names of moved repositories to mapm.yaml") \
    F(ACCEPT_MOVED_TAG, "accept-moved-tag", 0, "Update where a tag names another commit than the lock") \
    F(NO_SELF, "no-self", 0, "Ask the remote, not the checkout that a local root is in") \
    F(ALLOW_HIDDEN, "allow-hidden", 0, "Accept hidden characters in the text of packages") \
    F(DRY_RUN, "dry-run", 'n', "Show what would change, and change nothing") \
    F(FORCE, "force", 'f', "Replace files that were edited, keeping a backup") \
    F(PURGE, "purge", 0, "Delete the data of plugins that go, too") \
    F(DIFF, "diff", 0, "Show what would change as a patch, and change nothing") \
    F(REMOVE_PATCH, "remove", 0, "Delete the patches, and install without them") \
    F(EXIT_CODE, "exit-code", 0, "Exit with 3 when there are differences") \
    V(LINK_MODE, "link-mode", 0, "MODE", CHOICE, "auto copy hardlink reflink", \
      "Fill the workspace this way") \
    F(ALL, "all", 0, "Take all that a catalog offers and that is valid") \
    V(SKIP, "skip", 0, "PATTERN", NAMES, NULL, \
      "Leave out this name or glob; may be repeated") \
    V(AS_NAME, "as", 0, "NAME", TEXT, NULL, \
      "Give the package this name here") \
    V(WITHOUT, "without", 0, "PART", NAMES, NULL, \
      "Leave out this part (KIND NAME) of a plugin; may be repeated") \
    F(ALL_OR_NOTHING, "strict", 0, "Install nothing when a chosen package is not valid") \
    V(SKILL, "skill", 0, "NAME", NAMES, NULL, \
      "Take this skill of a catalog, or a glob; may be repeated") \
    V(AGENT, "agent", 0, "NAME", NAMES, NULL, \
      "Take this agent of a catalog, or a glob; may be repeated") \
    F(MARKETPLACE, "marketplace", 0, "Write a marketplace.json instead of an index") \
    V(PLUGIN, "plugin", 0, "NAME", NAMES, NULL, \
      "Only this plugin of a marketplace, whole") \
    V(MCP, "mcp", 0, "NAME", NAMES, NULL, \
      "Take this MCP server of a catalog, or a glob; may be repeated") \
    V(PROFILE, "profile", 0, "NAME", CHOICE, "install agentskills skills-ref metis metaagents lm-kit metaskill publish agent-plugin claude-plugin marketplace", \
      "Check by the rules of this format") \
    F(STRICT, "strict", 0, "Make warnings errors, and name unknown fields") \
    F(FIX, "fix", 0, "Fix what can be fixed automatically") \
    V(AGAINST, "against", 0, "REF", TEXT, NULL, \
      "Compare versions with this ref of the git repository") \
    V(NAME, "name", 0, "TEXT", TEXT, NULL, \
      "Validate TEXT as a name") \
    F(REMOTE, "remote", 0, "Ask each repository whether the ref still leads to the commit") \
    F(DOT, "dot", 0, "Print the graph for graphviz") \
    F(MERMAID, "mermaid", 0, "Print the graph for Mermaid") \
    F(INVERT, "invert", 0, "Show what needs each package instead of what it needs") \
    V(DEPTH, "depth", 0, "NUMBER", TEXT, NULL, \
      "Show at most so many levels below the first") \
    V(SCOPE, "scope", 0, "SCOPE", TEXT, NULL, \
      "Give the new package this scope") \
    V(DESCRIPTION, "description", 0, "TEXT", TEXT, NULL, \
      "Give the new package this description") \
    V(COMMAND, "command", 'c', "TEXT", TEXT, NULL, \
      "Run this text") \
    F(CHECK, "check", 0, "Look for errors, and run nothing") \
    F(DIS, "dis", 0, "Print the instructions, and run nothing") \
    V(MAX_MEM, "max-mem", 0, "SIZE", TEXT, NULL, \
      "Use at most this memory, as 64M, its default") \
    V(MAX_STEPS, "max-steps", 0, "NUMBER", TEXT, NULL, \
      "Take at most this many steps") \
    V(TO, "to", 0, "DIR", FOLDER, NULL, \
      "Write a folder for a web server instead of a registry") \
    F(PUSH_AGAIN, "force", 'f', "Push what is there already, too") \
    V(TIMEOUT, "timeout", 0, "SECONDS", TEXT, NULL, \
      "Run at most this long") \
    V(ALLOW, "allow", 0, "RULE", TEXT, NULL, \
      "Allow commands that fit RULE; may be repeated") \
    F(ALL_RUNS, "all", 0, "Take the runs of all workspaces") \
    V(LIMIT, "limit", 0, "COUNT", TEXT, NULL, \
      "List at most so many runs, 20 by default") \
    V(HTML, "html", 0, "FILE", PATH, NULL, \
      "Write it as a page to FILE, - for standard output") \
    V(SVG, "svg", 0, "FILE", PATH, NULL, \
      "Write the graph as a picture to FILE, - for standard output") \
    F(UPDATE, "update", 0, "Update the end of tapes whose result differs") \
    F(OFFERS, "list", 0, "List what a catalog offers, and install nothing") \
    F(LIST, "list", 0, "List all that is trusted on this machine") \
    F(REVOKE, "revoke", 0, "Revoke trust in all versions") \
    F(INDEX_HOST, "index", 0, "Let skills of an index come from these hosts") \
    F(WORKSPACE, "workspace", 0, "Take this workspace, and what its mapm.yaml allows") \
    F(ALL_TRUST, "all", 0, "Revoke all that is trusted") \
    V(INPUT, "input", 0, "JSON", PATH, NULL, \
      "Give the program this input: JSON, @FILE or -") \
    V(ASK, "ask", 0, "BACKEND", BACKEND, NULL, \
      "Have this agent, program or API answer") \
    V(MAX_ASK_CALLS, "max-ask-calls", 0, "N", TEXT, NULL, \
      "Maximum number of model calls") \
    V(MAX_COMMAND_CALLS, "max-command-calls", 0, "N", TEXT, NULL, \
      "Maximum number of commands") \
    F(TRACE, "trace", 0, "Show each step as it happens") \
    V(RECORD, "record", 0, "FILE", PATH, NULL, \
      "Write a tape of the run") \
    V(REPLAY, "replay", 0, "FILE", PATH, NULL, \
      "Answer from a tape, without model or process") \
    V(BATCH, "batch", 0, "FILE", PATH, NULL, \
      "Run it for each line of FILE: {\"id\": ..., \"input\": {...}}") \
    V(OUT, "out", 0, "FILE", PATH, NULL, \
      "Write the results of a batch to FILE") \
    V(JOBS, "jobs", 'j', "N", TEXT, NULL, \
      "Run so many inputs of a batch at once") \
    V(SHARD, "shard", 0, "I/N", TEXT, NULL, \
      "Take part I of N of a batch, from 0") \
    V(JOURNAL, "journal", 0, "DIR", FOLDER, NULL, \
      "Keep the journal of a batch in DIR") \
    V(RETRY, "retry", 0, "END", CHOICE, "failed interrupted", \
      "Run inputs again that ended so; may be repeated") \
    V(MAX_COST, "max-cost", 0, "ASKS", TEXT, NULL, \
      "Stop a batch once so many asks were made") \
    F(MERGE, "merge", 0, "Check the outputs of all shards, and write them as one") \
    V(WORKSPACE_ROOT, "workspace-root", 0, "DIR", FOLDER, NULL, \
      "Take the skills of DIR as those of the workspace") \
    V(GLOBAL_ROOT, "global-root", 0, "DIR", FOLDER, NULL, \
      "Take the skills of DIR as the global ones") \
    V(ROOT, "root", 0, "DIR", FOLDER, NULL, \
      "Take the skills of DIR as well; may be repeated") \
    V(SKILL_PROFILE, "profile", 0, "NAME", CHOICE, "metis", \
      "Validate, search and load as Metis does") \
    V(SESSION, "session", 0, "ID", TEXT, NULL, \
      "Load within the budgets of this session") \
    V(AS, "as", 0, "FORM", CHOICE, "system user tool", \
      "Give the text the form of a system, user or tool message") \
    V(HITS, "limit", 0, "COUNT", TEXT, NULL, \
      "Maximum number of skills") \
    V(FOUND, "limit", 0, "COUNT", TEXT, NULL, \
      "List at most so many packages, 10 by default") \
    V(MIN_SCORE, "min-score", 0, "SCORE", TEXT, NULL, \
      "Minimum score, from 0 to 1, 0.1 by default") \
    F(PRELOAD, "preload", 0, "Add bodies as long as the index is short") \
    V(MAX_CHARS, "max-chars", 0, "COUNT", TEXT, NULL, \
      "Maximum size of the text, in characters") \
    V(CONTEXT_WINDOW, "context-window", 0, "TOKENS", TEXT, NULL, \
      "Size of the context window, 200000 by default") \
    F(FOLLOW, "follow", 0, "Wait for further events") \
    V(TYPE, "type", 0, "TYPE", TEXT, NULL, \
      "Take events of this type alone") \
    V(OF_SESSION, "session", 0, "ID", TEXT, NULL, \
      "Take events of this session alone") \
    V(EVENTS, "limit", 0, "COUNT", TEXT, NULL, \
      "List at most so many events, 50 by default") \
    V(FROM, "from", 0, "CATALOG", TEXT, NULL, \
      "Compare folders with the skills of this catalog; may be repeated") \
    F(OURS, "ours", 0, "Where both sides of a merge changed a package, take our side") \
    F(THEIRS, "theirs", 0, "Where both sides of a merge changed a package, take their side") \
    F(GITIGNORE, "gitignore", 0, "Add what mapm install makes again to .gitignore, and nothing else") \
    F(WITH_SERVER, "with-server", 0, "Let the clients start mapm mcp, and note that in mapm.yaml") \
    V(HOST_KIND, "kind", 0, "KIND", GIT_KIND, NULL, \
      "What the host runs, instead of asking it") \
    V(HOST_TRANSPORT, "transport", 0, "HOW", CHOICE, "https ssh", \
      "Fetch from the host over this") \
    V(HOST_PORT, "port", 0, "PORT", TEXT, NULL, \
      "Port of the transport, or default") \
    V(HOST_PORTS, "ports", 0, "PORTS", TEXT, NULL, \
      "Further ports that origins may name, with commas, or default") \
    V(HOST_TOKEN, "token", 0, "SOURCE", TEXT, NULL, \
      "Take the token from env:NAME, git, none, or as is default") \
    V(CLIENT, "client", 0, "CLIENT", CLIENTS, NULL, \
      "Provision for this client, in this run; may be repeated") \
    F(TEAM, "team", 0, "Change mapm.yaml, which the team commits") \
    F(RUN, "run", 0, "Ask the clients themselves, by their own commands") \
    F(RESTORE_USER, "restore-user", 0, "Put back files of clients as they were before mapm edited them") \
    V(BUNDLE, "from", 0, "FILE", PATH, NULL, \
      "Take packages from this bundle, never the network") \
    V(VENDORED, "vendored", 0, NULL, FOLDER, NULL, \
      "Take packages from vendor/mapm, or =DIR, never the network") \
    F(README, "readme", 0, "Print the text of the package, and nothing else") \
    F(WATCH, "watch", 0, "Watch the skills, and notify the client of changes") \
    V(PRINT_CONFIG, "print-config", 0, "CLIENT", CLIENT, NULL, \
      "Print the configuration of this client, and serve nothing")
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
    ARGUMENT_BACKEND,  /* TEXT; the clients that answer, or an API */
    ARGUMENT_PACKAGE,  /* a name that `mapm list` prints */
    ARGUMENT_SERVER,   /* the key of an MCP server there */
    ARGUMENT_SKILL,    /* first a metaskill, or a skill's folder; then text */
    ARGUMENT_NAMES,    /* TEXT that takes further words without "/" too */
    ARGUMENT_CLIENTS,  /* likewise: clients, or "all", or "none" */
};

struct option {
    const char *name;        /* without "--" */
    char letter;             /* '\0': none */
    const char *argument;    /* its word in help; NULL: a flag */
    enum argument_kind kind; /* of a flag: it may have one behind "=" */
    const char *choices;     /* words and blanks; a CHOICE is one of them */
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
    struct proc_inherited inherited;
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
/* A number from 1 to `max`; `*out` is untouched when it was not given.
 * ERR_USAGE. */
MUST_CHECK bool option_number(const struct invocation *inv, enum option_id id,
                              uint64_t max, uint64_t *out, struct err *e);
/* Arguments that are one text, a blank between them. */
struct str words_join(const struct str *words, size_t count, struct arena *a);

/* Takes argv apart. ERR_USAGE. `-C` is carried out by the caller. */
MUST_CHECK bool invocation_parse(struct invocation *inv, int argc,
                                 char *const *argv, struct err *e);

/* The JSON document that is printed: an object with its schema and, unless it
 * is NULL, `command`, and the members that the caller adds until
 * print_json_end. One at a time. */
struct json_writer *print_json_begin(struct invocation *inv, const char *schema,
                                     const char *command);
void print_json_end(struct invocation *inv);
/* `text` as the file that the option `id` names, which is then told, or on stdout
 * for "-". */
MUST_CHECK bool print_to_file(struct invocation *inv, enum option_id id,
                              mode_t mode, struct str text, struct err *e);
/* An error as a document: its code; `text`, unless empty, and the messages of
 * `e` (NULL: none), the outermost first; the hint. */
void print_error_json(struct invocation *inv, enum err_code code,
                      struct str text, const struct err *e);

/* terminal.c: inv->cx gets the terminal as its host, and the options of the
 * modules below. */
void terminal_attach(struct invocation *inv);

/* main.c: of a command that failed. */
int exit_code_of(const struct err *e);

/* The functions of the commands, one file each (or few) in this folder. */
#define COMMAND(name)                                                          \
    bool name(struct invocation *inv, int *exit_code, struct err *e)
#define X(id, name) COMMAND(command_##name);
COMMANDS(X)
#undef X

#endif
