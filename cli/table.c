#include "command.h"

/* The tables of options and commands. Help, completions and the test that
 * compares them with man/ read them. */

/* clang-format off */
const struct option options[OPTION_COUNT] = {
#define FLAG(id, name, letter, text) \
    {name, letter, NULL, ARGUMENT_NONE, NULL, text},
#define VALUE(id, name, letter, argument, kind, choices, text) \
    {name, letter, argument, ARGUMENT_##kind, choices, text},
    OPTIONS(FLAG, VALUE)
};

const enum option_id common_options[] = {
    OPTION_DIR, OPTION_JSON, OPTION_QUIET, OPTION_VERBOSE, OPTION_COLOR,
    OPTION_YES, OPTION_OFFLINE, OPTION_HELP,
};
const size_t common_option_count =
    sizeof common_options / sizeof *common_options;

#define MANY SIZE_MAX
#define TAKES(...) \
    (const enum option_id[]){__VA_ARGS__}, \
    sizeof((const enum option_id[]){__VA_ARGS__}) / sizeof(enum option_id)
#define NO_OPTIONS NULL, 0
#define WORDS(list) .words = list, .word_count = sizeof list / sizeof *list

/* Options shared by several commands. */
#define MEMBERS OPTION_GLOBAL, OPTION_RECURSIVE, OPTION_MEMBER
#define CHANGES OPTION_DRY_RUN, OPTION_FORCE, OPTION_LINK_MODE
#define ROOTS   OPTION_WORKSPACE_ROOT, OPTION_GLOBAL_ROOT, OPTION_ROOT

#define ROOT_OPTIONS "workspace-root global-root root profile"

static const struct word store_words[] = {
    {"path",   "",       "Print the folder of the store", 0, 0, NULL},
    {"stats",  "",       "Show the size of the store", 0, 0, NULL},
    {"verify", "",       "Check all objects for damage", 0, 0, NULL},
    {"verify", "REMOTE", "Compare a team store with the lock", 1, 1, NULL},
    {"gc",     "",       "Delete objects that no workspace needs", 0, 0, NULL},
    {"pull",   "",       "Fetch locked packages that the store lacks", 0, 0, NULL},
    {"push",   "[NAME...] [REMOTE]", "Push locked packages to a team store", 0, MANY, NULL},
};
static const struct word skill_words[] = {
    {"list",   "",            "List skills with source and description", 0, 0, ROOT_OPTIONS},
    {"search", "[QUERY...]",  "Search names, descriptions and tags", 0, MANY, ROOT_OPTIONS " limit"},
    {"match",  "REQUEST...",  "Rank skills for a request in plain words", 1, MANY, ROOT_OPTIONS " limit min-score"},
    {"load",   "NAME...",     "Print the instructions as sent to a model", 1, MANY, ROOT_OPTIONS " session as"},
    {"show",   "NAME",        "Show the metadata of a skill", 1, 1, ROOT_OPTIONS},
    {"files",  "NAME [PATH]", "List the resources of a skill, or print one", 1, 2, ROOT_OPTIONS},
    {"index",  "",            "Print the index of skills as sent to a model", 0, 0, ROOT_OPTIONS " session preload max-chars"},
};
static const struct word host_words[] = {
    {"add",    "HOST", "Allow packages from a host", 1, 1, NULL},
    {"set",    "HOST", "Change the settings of a host, also of a built-in one", 1, 1, NULL},
    {"list",   "",     "List the allowed hosts", 0, 0, ""},
    {"remove", "HOST", "Remove a host", 1, 1, ""},
};
static const struct word catalog_words[] = {
    {"add",     "ORIGIN...",   "Add catalogs to mapm search", 1, MANY, ""},
    {"remove",  "ORIGIN...",   "Remove catalogs", 1, MANY, ""},
    {"list",    "",            "List catalogs with their number of packages", 0, 0, ""},
    {"refresh", "[ORIGIN...]", "Update catalogs that have changed", 0, MANY, ""},
    {"index",   "DIR",         "Write the index of a folder of packages", 1, 1, NULL},
};
static const struct word client_words[] = {
    {"add",    "CLIENT...", "Install for these clients, too", 1, MANY, NULL},
    {"remove", "CLIENT...", "Stop installing for these clients", 1, MANY, NULL},
    {"list",   "",          "List clients and the packages they see", 0, 0, NULL},
};
static const struct word runs_words[] = {
    {"show", "[ID]", "Show a run, the last one by default", 0, 1, NULL},
};
static const struct word new_words[] = {
    {"skill",     "NAME", "Instructions for a model", 1, 1, NULL},
    {"metaskill", "NAME", "A skill with a program", 1, 1, NULL},
    {"agent",     "NAME", "An agent with the packages that it needs", 1, 1, NULL},
    {"mcp",       "NAME", "A description of an MCP server", 1, 1, NULL},
    {"plugin",    "NAME", "Skills and servers as one package", 1, 1, NULL},
};

const struct subcommand commands[COMMAND_COUNT] = {
    [COMMAND_INIT] = {"init", "[DIR]", "Create mapm.yaml in a new workspace",
        0, 1, ARGUMENT_FOLDER, NULL, TAKES(OPTION_GITIGNORE),
        .examples = "mapm init\n"
            "mapm init --gitignore"},
    [COMMAND_INSTALL] = {"install", "[ORIGIN...]", "Install packages and their dependencies",
        0, MANY, ARGUMENT_PATH, NULL,
        TAKES(MEMBERS, OPTION_LOCKED, OPTION_CONTINUE, OPTION_ALLOW_HIDDEN, OPTION_NO_SELF,
            CHANGES, OPTION_OFFERS, OPTION_ALL, OPTION_SKILL, OPTION_AGENT, OPTION_MCP,
            OPTION_PLUGIN, OPTION_SKIP, OPTION_ALL_OR_NOTHING, OPTION_AS_NAME, OPTION_WITHOUT,
            OPTION_WITH_SERVER, OPTION_CLIENT, OPTION_OURS, OPTION_THEIRS, OPTION_BUNDLE,
            OPTION_VENDORED),
        .aliases = "add i",
        .examples = "mapm install anthropics/skills/skills/pdf\n"
            "mapm install anthropics/skills --skill pdf,docx\n"
            "mapm install github/awesome-copilot --skill 'azure-*'\n"
            "mapm install --locked\n"
            "mapm install --from packages.tar"},
    [COMMAND_REMOVE] = {"remove", "NAME...", "Remove packages",
        1, MANY, ARGUMENT_PACKAGE, NULL,
        TAKES(MEMBERS, OPTION_NO_SELF, OPTION_DRY_RUN, OPTION_FORCE, OPTION_PURGE,
            OPTION_LINK_MODE),
        .aliases = "rm uninstall",
        .examples = "mapm remove pdf"},
    [COMMAND_UPDATE] = {"update", "[NAME...]", "Update packages to the newest commit of their refs",
        0, MANY, ARGUMENT_PACKAGE, NULL,
        TAKES(MEMBERS, OPTION_CONTINUE, OPTION_ACCEPT_MOVED_TAG, OPTION_REWRITE_ORIGINS,
            OPTION_ALLOW_HIDDEN, OPTION_NO_SELF, OPTION_DRY_RUN, OPTION_DIFF, OPTION_FORCE,
            OPTION_LINK_MODE),
        .aliases = "up upgrade",
        .examples = "mapm update\n"
            "mapm update pdf --dry-run\n"
            "mapm update --diff"},
    [COMMAND_IMPORT] = {"import", "[FILE...]", "Import packages installed by skills, dotagents or APM",
        0, MANY, ARGUMENT_PATH, NULL,
        TAKES(OPTION_GLOBAL, OPTION_FROM, OPTION_ALLOW_HIDDEN, CHANGES),
        .examples = "mapm import --dry-run\n"
            "mapm import skills-lock.json\n"
            "mapm import --from anthropics/skills"},
    [COMMAND_OUTDATED] = {"outdated", "[NAME...]", "List packages that mapm update would change",
        0, MANY, ARGUMENT_PACKAGE, NULL, TAKES(MEMBERS),
        .examples = "mapm outdated\n"
            "mapm outdated pdf"},
    [COMMAND_INFO] = {"info", "ORIGIN|NAME", "Show the details of a package without installing it",
        1, 1, ARGUMENT_PACKAGE, NULL, TAKES(OPTION_GLOBAL, OPTION_PLUGIN, OPTION_README),
        .examples = "mapm info anthropics/skills/skills/pdf\n"
            "mapm info anthropics/skills\n"
            "mapm info pdf --readme"},
    [COMMAND_DIFF] = {"diff", "[NAME[@REF]...]", "Show local edits, or the changes to another ref",
        0, MANY, ARGUMENT_PACKAGE, NULL, TAKES(MEMBERS, OPTION_ALLOW_HIDDEN, OPTION_EXIT_CODE),
        .examples = "mapm diff\n"
            "mapm diff pdf | git apply --stat\n"
            "mapm diff pdf@v2"},
    [COMMAND_RESTORE] = {"restore", "NAME...", "Undo local edits in packages",
        1, MANY, ARGUMENT_PACKAGE, NULL, TAKES(MEMBERS, OPTION_DRY_RUN),
        .examples = "mapm restore pdf\n"
            "mapm restore pdf --dry-run"},
    [COMMAND_PATCH] = {"patch", "NAME...", "Record local edits as patches to commit",
        1, MANY, ARGUMENT_PACKAGE, NULL, TAKES(OPTION_GLOBAL, OPTION_REMOVE_PATCH, CHANGES),
        .examples = "mapm patch pdf\n"
            "mapm patch pdf --remove"},
    [COMMAND_SEARCH] = {"search", "WORD...", "Search catalogs and installed packages, offline",
        1, MANY, ARGUMENT_TEXT, NULL, TAKES(OPTION_FOUND),
        .examples = "mapm search pdf\n"
            "mapm search extract tables from a report"},
    [COMMAND_CATALOG] = {"catalog", "COMMAND [ARGUMENT...]", "Manage catalogs: add, remove, list, refresh, index",
        1, MANY, ARGUMENT_CHOICE, NULL, TAKES(OPTION_MARKETPLACE),
        WORDS(catalog_words),
        .examples = "mapm catalog add anthropics/skills\n"
            "mapm catalog add https://example.com\n"
            "mapm catalog refresh\n"
            "mapm catalog index ."},
    [COMMAND_HOST] = {"host", "COMMAND [HOST]", "Configure git hosts: add, set, list, remove",
        1, 2, ARGUMENT_CHOICE, NULL,
        TAKES(OPTION_HOST_KIND, OPTION_HOST_TRANSPORT, OPTION_HOST_PORT, OPTION_HOST_PORTS,
            OPTION_HOST_TOKEN),
        WORDS(host_words),
        .examples = "mapm host add git.example.com\n"
            "mapm host add git.example.com --kind gitlab --token env:CORP_TOKEN\n"
            "mapm host set github.com --transport ssh\n"
            "mapm host list"},
    [COMMAND_CLIENT] = {"client", "COMMAND [CLIENT...]", "Choose clients to install for: add, remove, list",
        1, MANY, ARGUMENT_CHOICE, NULL, TAKES(OPTION_GLOBAL, OPTION_TEAM),
        WORDS(client_words),
        .examples = "mapm client list\n"
            "mapm client add codex gemini\n"
            "mapm client remove cursor"},
    [COMMAND_LIST] = {"list", "[[TYPE] NAME]", "List installed packages",
        0, 2, ARGUMENT_PACKAGE, NULL, TAKES(MEMBERS),
        .aliases = "ls",
        .examples = "mapm list\n"
            "mapm list --json"},
    [COMMAND_TREE] = {"tree", "[[TYPE] NAME]", "Show the dependency tree",
        0, 2, ARGUMENT_PACKAGE, NULL,
        TAKES(MEMBERS, OPTION_INVERT, OPTION_DEPTH, OPTION_DOT, OPTION_MERMAID, OPTION_HTML,
            OPTION_SVG),
        .examples = "mapm tree\n"
            "mapm tree --invert pdf\n"
            "mapm tree --html packages.html"},
    [COMMAND_WHY] = {"why", "[TYPE] NAME", "Show why a package is installed",
        1, 2, ARGUMENT_PACKAGE, NULL, TAKES(MEMBERS),
        .examples = "mapm why pdf\n"
            "mapm why mcp io.example/search"},
    [COMMAND_VERIFY] = {"verify", "", "Verify installed packages against lock and store",
        0, 0, ARGUMENT_NONE, NULL, TAKES(MEMBERS, OPTION_REMOTE),
        .examples = "mapm verify\n"
            "mapm verify --remote"},
    [COMMAND_BUNDLE] = {"bundle", "FILE", "Write all locked packages to one file",
        1, 1, ARGUMENT_PATH, NULL, TAKES(OPTION_GLOBAL),
        .examples = "mapm bundle packages.tar"},
    [COMMAND_VENDOR] = {"vendor", "[DIR]", "Copy all locked packages into the workspace",
        0, 1, ARGUMENT_FOLDER, NULL, NO_OPTIONS,
        .examples = "mapm vendor\n"
            "mapm vendor third-party/mapm"},
    [COMMAND_RUN] = {"run", "NAME [KEY=VALUE...]", "Run a metaskill",
        1, MANY, ARGUMENT_SKILL, NULL,
        TAKES(OPTION_GLOBAL, OPTION_INPUT, OPTION_ASK, OPTION_ALLOW, OPTION_MAX_ASK_CALLS,
            OPTION_MAX_COMMAND_CALLS, OPTION_TIMEOUT, OPTION_TRACE, OPTION_RECORD,
            OPTION_REPLAY, OPTION_BATCH, OPTION_OUT, OPTION_JOBS, OPTION_SHARD, OPTION_JOURNAL,
            OPTION_RETRY, OPTION_MAX_COST, OPTION_MERGE),
        .examples = "mapm run summarize file=report.md\n"
            "mapm run summarize --input @input.json --ask claude\n"
            "mapm run summarize --batch inputs.jsonl -j 4 --out results.jsonl"},
    [COMMAND_TRUST] = {"trust", "[NAME...]", "Trust metaskills, or the rules of a workspace",
        0, MANY, ARGUMENT_PACKAGE, NULL,
        TAKES(OPTION_GLOBAL, OPTION_WORKSPACE, OPTION_INDEX_HOST, OPTION_LIST, OPTION_REVOKE,
            OPTION_ALL_TRUST),
        .examples = "mapm trust summarize\n"
            "mapm trust --index skills.example.com\n"
            "mapm trust --list\n"
            "mapm trust --revoke summarize"},
    [COMMAND_RUNS] = {"runs", "[show [ID]]", "List past runs of metaskills, or show one",
        0, 2, ARGUMENT_CHOICE, NULL, TAKES(OPTION_ALL_RUNS, OPTION_LIMIT, OPTION_HTML),
        WORDS(runs_words),
        .examples = "mapm runs\n"
            "mapm runs show --html run.html"},
    [COMMAND_MCP] = {"mcp", "", "Serve skills and metaskills to an MCP client",
        0, 0, ARGUMENT_NONE, NULL,
        TAKES(OPTION_GLOBAL, OPTION_ASK, OPTION_ALLOW, OPTION_WATCH, ROOTS,
            OPTION_SKILL_PROFILE, OPTION_PRELOAD, OPTION_PRINT_CONFIG),
        .examples = "mapm mcp\n"
            "mapm mcp --print-config claude"},
    [COMMAND_START] = {"start", "KEY", "Start an MCP server of mapm.lock",
        1, 1, ARGUMENT_SERVER, NULL, TAKES(OPTION_GLOBAL),
        .examples = "mapm start io-playwright-mcp"},
    [COMMAND_STAR] = {"star", "[FILE]", "Run a Starlark program",
        0, 1, ARGUMENT_PATH, NULL,
        TAKES(OPTION_COMMAND, OPTION_CHECK, OPTION_DIS, OPTION_MAX_MEM, OPTION_MAX_STEPS,
            OPTION_TIMEOUT),
        .examples = "mapm star -c 'print(1 + 1)'\n"
            "mapm star --check program.star"},
    [COMMAND_SKILL] = {"skill", "COMMAND [ARGUMENT...]", "Use installed skills: list, search, match, load, show, files, index",
        1, MANY, ARGUMENT_CHOICE, NULL,
        TAKES(ROOTS, OPTION_SKILL_PROFILE, OPTION_SESSION, OPTION_AS, OPTION_HITS,
            OPTION_MIN_SCORE, OPTION_PRELOAD, OPTION_MAX_CHARS),
        WORDS(skill_words),
        .examples = "mapm skill search pdf\n"
            "mapm skill load pdf"},
    [COMMAND_EVENTS] = {"events", "", "List or follow the events of skills",
        0, 0, ARGUMENT_NONE, NULL,
        TAKES(OPTION_FOLLOW, OPTION_TYPE, OPTION_OF_SESSION, OPTION_EVENTS),
        .examples = "mapm events --follow"},
    [COMMAND_BUDGET] = {"budget", "", "Show the tokens each client loads at startup",
        0, 0, ARGUMENT_NONE, NULL, TAKES(OPTION_CONTEXT_WINDOW),
        .examples = "mapm budget"},
    [COMMAND_NEW] = {"new", "KIND NAME", "Create a skill, metaskill, agent, mcp or plugin",
        2, 2, ARGUMENT_CHOICE, NULL,
        TAKES(OPTION_SCOPE, OPTION_DESCRIPTION),
        WORDS(new_words),
        .examples = "mapm new skill our-style\n"
            "mapm new agent acme/reviewer"},
    [COMMAND_CHECK] = {"check", "[PATH...]", "Validate packages, MCP files and catalogs",
        0, MANY, ARGUMENT_PATH, NULL,
        TAKES(OPTION_PROFILE, OPTION_STRICT, OPTION_FIX, OPTION_AGAINST, OPTION_NAME),
        .examples = "mapm check\n"
            "mapm check skills/pdf --profile publish"},
    [COMMAND_TEST] = {"test", "[SKILL...]", "Replay recorded runs of metaskills as tests",
        0, MANY, ARGUMENT_PATH, NULL, TAKES(OPTION_UPDATE, OPTION_TIMEOUT),
        .examples = "mapm test\n"
            "mapm test skills/summarize --update"},
    [COMMAND_DOCTOR] = {"doctor", "[CLIENT]", "Check this machine for problems and suggest fixes",
        0, 1, ARGUMENT_CLIENT, NULL, TAKES(OPTION_RUN, OPTION_RESTORE_USER),
        .examples = "mapm doctor\n"
            "mapm doctor --run\n"
            "mapm doctor --restore-user codex"},
    [COMMAND_STORE] = {"store", "COMMAND [NAME...] [REMOTE]", "Manage the store: path, stats, verify, gc, pull, push",
        1, MANY, ARGUMENT_CHOICE, NULL,
        TAKES(OPTION_GLOBAL, OPTION_DRY_RUN, OPTION_TO, OPTION_PUSH_AGAIN),
        WORDS(store_words),
        .examples = "mapm store stats\n"
            "mapm store gc --dry-run\n"
            "mapm store pull\n"
            "mapm store push oci://ghcr.io/acme/mapm\n"
            "mapm store verify oci://ghcr.io/acme/mapm"},
    [COMMAND_COMPLETION] = {"completion", "SHELL", "Print shell completions for bash, zsh or fish",
        1, 1, ARGUMENT_CHOICE, "bash zsh fish", NO_OPTIONS,
        .examples = "mapm completion bash >~/.local/share/bash-completion/completions/mapm"},
    [COMMAND_VERSION] = {"version", "", "Show the version",
        0, 0, ARGUMENT_NONE, NULL, NO_OPTIONS,
        .examples = "mapm version --json"},
    [COMMAND_HELP] = {"help", "[COMMAND]", "Show help",
        0, 1, ARGUMENT_NONE, NULL, NO_OPTIONS,
        .examples = "mapm help install\n"
            "mapm help --json"},
};
/* clang-format on */
