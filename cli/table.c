#include "command.h"

/*
 * One row a command, one row an option: help, the completions and the test
 * that compares them with man/ read this table.
 */

/* clang-format off */
const struct option options[OPTION_COUNT] = {
    [OPTION_DIR] = {"directory", 'C', "DIR", ARGUMENT_FOLDER, NULL,
        "Run as if started in DIR"},
    [OPTION_JSON] = {"json", 0, NULL, ARGUMENT_NONE, NULL,
        "Print one JSON document"},
    [OPTION_QUIET] = {"quiet", 'q', NULL, ARGUMENT_NONE, NULL,
        "Print results, warnings and errors only"},
    [OPTION_VERBOSE] = {"verbose", 'v', NULL, ARGUMENT_NONE, NULL,
        "Print more, such as each request"},
    [OPTION_COLOR] = {"color", 0, "WHEN", ARGUMENT_CHOICE, "auto always never",
        "Colour the output"},
    [OPTION_YES] = {"yes", 'y', NULL, ARGUMENT_NONE, NULL,
        "Answer every question with yes"},
    [OPTION_OFFLINE] = {"offline", 0, NULL, ARGUMENT_NONE, NULL,
        "Use what is in the store, never the network"},
    [OPTION_HELP] = {"help", 'h', NULL, ARGUMENT_NONE, NULL,
        "Show this help"},
    [OPTION_VERSION] = {"version", 'V', NULL, ARGUMENT_NONE, NULL,
        "Show the version"},
    [OPTION_GLOBAL] = {"global", 'g', NULL, ARGUMENT_NONE, NULL,
        "Use the library of the user instead of the workspace"},
    [OPTION_LOCKED] = {"locked", 0, NULL, ARGUMENT_NONE, NULL,
        "Fail unless mapm.lock fits mapm.yaml"},
    [OPTION_ALLOW_HIDDEN] = {"allow-hidden", 0, NULL, ARGUMENT_NONE, NULL,
        "Accept hidden characters in the text of packages"},
    [OPTION_DRY_RUN] = {"dry-run", 'n', NULL, ARGUMENT_NONE, NULL,
        "Show what would change, and change nothing"},
    [OPTION_FORCE] = {"force", 'f', NULL, ARGUMENT_NONE, NULL,
        "Replace files that were edited, keeping a backup"},
    [OPTION_LINK_MODE] = {"link-mode", 0, "MODE", ARGUMENT_CHOICE,
        "auto copy hardlink reflink",
        "Fill the workspace this way"},
    [OPTION_ALL] = {"all", 0, NULL, ARGUMENT_NONE, NULL,
        "Take all that a catalog offers and that is valid"},
    [OPTION_SKIP] = {"skip", 0, "PATTERN", ARGUMENT_NAMES, NULL,
        "Leave out this name or glob; may be repeated"},
    [OPTION_ALL_OR_NOTHING] = {"strict", 0, NULL, ARGUMENT_NONE, NULL,
        "Install nothing when a chosen package is not valid"},
    [OPTION_SKILL] = {"skill", 0, "NAME", ARGUMENT_NAMES, NULL,
        "Take this skill of a catalog, or a glob; may be repeated"},
    [OPTION_AGENT] = {"agent", 0, "NAME", ARGUMENT_NAMES, NULL,
        "Take this agent of a catalog, or a glob; may be repeated"},
    [OPTION_MCP] = {"mcp", 0, "NAME", ARGUMENT_NAMES, NULL,
        "Take this MCP server of a catalog, or a glob; may be repeated"},
    [OPTION_PROFILE] = {"profile", 0, "NAME", ARGUMENT_CHOICE,
        "install agentskills skills-ref metis metaagents lm-kit metaskill publish",
        "Check by the rules of this format"},
    [OPTION_STRICT] = {"strict", 0, NULL, ARGUMENT_NONE, NULL,
        "Make warnings errors, and name unknown fields"},
    [OPTION_FIX] = {"fix", 0, NULL, ARGUMENT_NONE, NULL,
        "Fix what can be fixed automatically"},
    [OPTION_AGAINST] = {"against", 0, "REF", ARGUMENT_TEXT, NULL,
        "Compare versions with this ref of the git repository"},
    [OPTION_NAME] = {"name", 0, "TEXT", ARGUMENT_TEXT, NULL,
        "Validate TEXT as a name"},
    [OPTION_REMOTE] = {"remote", 0, NULL, ARGUMENT_NONE, NULL,
        "Ask each repository whether the ref still leads to the commit"},
    [OPTION_DOT] = {"dot", 0, NULL, ARGUMENT_NONE, NULL,
        "Print the graph for graphviz"},
    [OPTION_MERMAID] = {"mermaid", 0, NULL, ARGUMENT_NONE, NULL,
        "Print the graph for Mermaid"},
    [OPTION_SCOPE] = {"scope", 0, "SCOPE", ARGUMENT_TEXT, NULL,
        "Give the new package this scope"},
    [OPTION_DESCRIPTION] = {"description", 0, "TEXT", ARGUMENT_TEXT, NULL,
        "Give the new package this description"},
    [OPTION_COMMAND] = {"command", 'c', "TEXT", ARGUMENT_TEXT, NULL,
        "Run this text"},
    [OPTION_CHECK] = {"check", 0, NULL, ARGUMENT_NONE, NULL,
        "Look for errors, and run nothing"},
    [OPTION_DIS] = {"dis", 0, NULL, ARGUMENT_NONE, NULL,
        "Print the instructions, and run nothing"},
    [OPTION_MAX_MEM] = {"max-mem", 0, "SIZE", ARGUMENT_TEXT, NULL,
        "Use at most this memory, as 64M, its default"},
    [OPTION_MAX_STEPS] = {"max-steps", 0, "NUMBER", ARGUMENT_TEXT, NULL,
        "Take at most this many steps"},
    [OPTION_TIMEOUT] = {"timeout", 0, "SECONDS", ARGUMENT_TEXT, NULL,
        "Run at most this long"},
    [OPTION_ALLOW] = {"allow", 0, "RULE", ARGUMENT_TEXT, NULL,
        "Allow commands that fit RULE; may be repeated"},
    [OPTION_ALL_RUNS] = {"all", 0, NULL, ARGUMENT_NONE, NULL,
        "Take the runs of all workspaces"},
    [OPTION_LIMIT] = {"limit", 0, "COUNT", ARGUMENT_TEXT, NULL,
        "List at most so many runs, 20 by default"},
    [OPTION_HTML] = {"html", 0, "FILE", ARGUMENT_PATH, NULL,
        "Write the run as a page to FILE, - for standard output"},
    [OPTION_UPDATE] = {"update", 0, NULL, ARGUMENT_NONE, NULL,
        "Update the end of tapes whose result differs"},
    [OPTION_LIST] = {"list", 0, NULL, ARGUMENT_NONE, NULL,
        "List all that is trusted on this machine"},
    [OPTION_REVOKE] = {"revoke", 0, NULL, ARGUMENT_NONE, NULL,
        "Revoke trust in all versions"},
    [OPTION_WORKSPACE] = {"workspace", 0, NULL, ARGUMENT_NONE, NULL,
        "Take this workspace, and what its mapm.yaml allows"},
    [OPTION_ALL_TRUST] = {"all", 0, NULL, ARGUMENT_NONE, NULL,
        "Revoke all that is trusted"},
    [OPTION_INPUT] = {"input", 0, "JSON", ARGUMENT_PATH, NULL,
        "Give the program this input: JSON, @FILE or -"},
    [OPTION_ASK] = {"ask", 0, "BACKEND", ARGUMENT_BACKEND, NULL,
        "Have this agent, program or API answer"},
    [OPTION_MAX_ASK_CALLS] = {"max-ask-calls", 0, "N", ARGUMENT_TEXT, NULL,
        "Maximum number of model calls"},
    [OPTION_MAX_COMMAND_CALLS] = {"max-command-calls", 0, "N", ARGUMENT_TEXT, NULL,
        "Maximum number of commands"},
    [OPTION_TRACE] = {"trace", 0, NULL, ARGUMENT_NONE, NULL,
        "Show each step as it happens"},
    [OPTION_RECORD] = {"record", 0, "FILE", ARGUMENT_PATH, NULL,
        "Write a tape of the run"},
    [OPTION_WITH_SERVER] = {"with-server", 0, NULL, ARGUMENT_NONE, NULL,
        "Let the clients start mapm mcp, and note that in mapm.yaml"},
    [OPTION_WATCH] = {"watch", 0, NULL, ARGUMENT_NONE, NULL,
        "Watch the skills, and notify the client of changes"},
    [OPTION_PRINT_CONFIG] = {"print-config", 0, "CLIENT", ARGUMENT_CLIENT, NULL,
        "Print the configuration of this client, and serve nothing"},
    [OPTION_REPLAY] = {"replay", 0, "FILE", ARGUMENT_PATH, NULL,
        "Answer from a tape, without model or process"},
    [OPTION_WORKSPACE_ROOT] = {"workspace-root", 0, "DIR", ARGUMENT_FOLDER, NULL,
        "Take the skills of DIR as those of the workspace"},
    [OPTION_GLOBAL_ROOT] = {"global-root", 0, "DIR", ARGUMENT_FOLDER, NULL,
        "Take the skills of DIR as the global ones"},
    [OPTION_ROOT] = {"root", 0, "DIR", ARGUMENT_FOLDER, NULL,
        "Take the skills of DIR as well; may be repeated"},
    [OPTION_SKILL_PROFILE] = {"profile", 0, "NAME", ARGUMENT_CHOICE, "metis",
        "Validate, search and load as Metis does"},
    [OPTION_SESSION] = {"session", 0, "ID", ARGUMENT_TEXT, NULL,
        "Load within the budgets of this session"},
    [OPTION_AS] = {"as", 0, "FORM", ARGUMENT_CHOICE, "system user tool",
        "Give the text the form of a system, user or tool message"},
    [OPTION_HITS] = {"limit", 0, "COUNT", ARGUMENT_TEXT, NULL,
        "Maximum number of skills"},
    [OPTION_MIN_SCORE] = {"min-score", 0, "SCORE", ARGUMENT_TEXT, NULL,
        "Minimum score, from 0 to 1, 0.1 by default"},
    [OPTION_PRELOAD] = {"preload", 0, NULL, ARGUMENT_NONE, NULL,
        "Add bodies as long as the index is short"},
    [OPTION_MAX_CHARS] = {"max-chars", 0, "COUNT", ARGUMENT_TEXT, NULL,
        "Maximum size of the text, in characters"},
    [OPTION_FOLLOW] = {"follow", 0, NULL, ARGUMENT_NONE, NULL,
        "Wait for further events"},
    [OPTION_TYPE] = {"type", 0, "TYPE", ARGUMENT_TEXT, NULL,
        "Take events of this type alone"},
    [OPTION_OF_SESSION] = {"session", 0, "ID", ARGUMENT_TEXT, NULL,
        "Take events of this session alone"},
    [OPTION_EVENTS] = {"limit", 0, "COUNT", ARGUMENT_TEXT, NULL,
        "List at most so many events, 50 by default"},
};

const enum option_id common_options[] = {
    OPTION_DIR, OPTION_JSON, OPTION_QUIET, OPTION_VERBOSE, OPTION_COLOR,
    OPTION_YES, OPTION_OFFLINE, OPTION_HELP,
};
const size_t common_option_count =
    sizeof common_options / sizeof *common_options;

static const enum option_id install_options[] = {
    OPTION_GLOBAL, OPTION_LOCKED, OPTION_ALLOW_HIDDEN, OPTION_DRY_RUN,
    OPTION_FORCE, OPTION_LINK_MODE, OPTION_ALL, OPTION_SKILL, OPTION_AGENT,
    OPTION_MCP, OPTION_SKIP, OPTION_ALL_OR_NOTHING, OPTION_WITH_SERVER,
};
static const enum option_id remove_options[] = {
    OPTION_GLOBAL, OPTION_DRY_RUN, OPTION_FORCE, OPTION_LINK_MODE,
};
static const enum option_id update_options[] = {
    OPTION_GLOBAL, OPTION_ALLOW_HIDDEN, OPTION_DRY_RUN, OPTION_FORCE,
    OPTION_LINK_MODE,
};
static const enum option_id layer_options[] = {OPTION_GLOBAL};
static const enum option_id verify_options[] = {
    OPTION_GLOBAL, OPTION_REMOTE,
};
static const enum option_id tree_options[] = {
    OPTION_GLOBAL, OPTION_DOT, OPTION_MERMAID,
};
static const enum option_id check_options[] = {
    OPTION_PROFILE, OPTION_STRICT, OPTION_FIX, OPTION_AGAINST, OPTION_NAME,
};
static const enum option_id new_options[] = {
    OPTION_SCOPE, OPTION_DESCRIPTION,
};
static const enum option_id test_options[] = {OPTION_UPDATE, OPTION_TIMEOUT};
static const enum option_id trust_options[] = {
    OPTION_GLOBAL, OPTION_WORKSPACE, OPTION_LIST, OPTION_REVOKE,
    OPTION_ALL_TRUST,
};
static const enum option_id store_options[] = {OPTION_DRY_RUN};
static const enum option_id run_options[] = {
    OPTION_GLOBAL, OPTION_INPUT, OPTION_ASK, OPTION_ALLOW,
    OPTION_MAX_ASK_CALLS, OPTION_MAX_COMMAND_CALLS, OPTION_TIMEOUT,
    OPTION_TRACE, OPTION_RECORD, OPTION_REPLAY,
};
static const enum option_id mcp_options[] = {
    OPTION_ASK, OPTION_ALLOW, OPTION_WATCH, OPTION_WORKSPACE_ROOT,
    OPTION_GLOBAL_ROOT, OPTION_ROOT, OPTION_SKILL_PROFILE, OPTION_PRELOAD,
    OPTION_PRINT_CONFIG,
};
static const enum option_id star_options[] = {
    OPTION_COMMAND, OPTION_CHECK, OPTION_DIS, OPTION_MAX_MEM, OPTION_MAX_STEPS,
    OPTION_TIMEOUT,
};
static const enum option_id runs_options[] = {
    OPTION_ALL_RUNS, OPTION_LIMIT, OPTION_HTML,
};

static const enum option_id skill_options[] = {
    OPTION_WORKSPACE_ROOT, OPTION_GLOBAL_ROOT, OPTION_ROOT,
    OPTION_SKILL_PROFILE, OPTION_SESSION, OPTION_AS, OPTION_HITS,
    OPTION_MIN_SCORE, OPTION_PRELOAD, OPTION_MAX_CHARS,
};
static const enum option_id events_options[] = {
    OPTION_FOLLOW, OPTION_TYPE, OPTION_OF_SESSION, OPTION_EVENTS,
};

#define MANY SIZE_MAX
#define OPTIONS(list) list, sizeof list / sizeof *list
#define NO_OPTIONS NULL, 0

const struct subcommand commands[COMMAND_COUNT] = {
    [COMMAND_INIT] = {"init", "[DIR]", "Start a workspace: write mapm.yaml",
        0, 1, ARGUMENT_FOLDER, NULL, NO_OPTIONS,
        .examples = "mapm init"},
    [COMMAND_INSTALL] = {"install", "[ORIGIN...]", "Put packages and all they need into the workspace",
        0, MANY, ARGUMENT_PATH, NULL, OPTIONS(install_options),
        .aliases = "add i",
        .examples = "mapm install anthropics/skills/skills/pdf\n"
            "mapm install anthropics/skills --skill pdf,docx\n"
            "mapm install github/awesome-copilot --skill 'azure-*'\n"
            "mapm install --locked"},
    [COMMAND_REMOVE] = {"remove", "NAME...", "Take packages out of the workspace",
        1, MANY, ARGUMENT_PACKAGE, NULL, OPTIONS(remove_options),
        .aliases = "rm uninstall",
        .examples = "mapm remove pdf"},
    [COMMAND_UPDATE] = {"update", "[NAME...]", "Update packages to the commits of their refs",
        0, MANY, ARGUMENT_PACKAGE, NULL, OPTIONS(update_options),
        .aliases = "up upgrade",
        .examples = "mapm update\n"
            "mapm update pdf --dry-run"},
    [COMMAND_OUTDATED] = {"outdated", "", "Show which refs have moved since they were locked",
        0, 0, ARGUMENT_NONE, NULL, OPTIONS(layer_options),
        .examples = "mapm outdated"},
    [COMMAND_LIST] = {"list", "", "List the packages of the workspace",
        0, 0, ARGUMENT_NONE, NULL, OPTIONS(layer_options),
        .aliases = "ls",
        .examples = "mapm list\n"
            "mapm list --json"},
    [COMMAND_TREE] = {"tree", "", "Show the dependency tree",
        0, 0, ARGUMENT_NONE, NULL, OPTIONS(tree_options),
        .examples = "mapm tree\n"
            "mapm tree --mermaid"},
    [COMMAND_WHY] = {"why", "[TYPE] NAME", "Show why a package is here",
        1, 2, ARGUMENT_PACKAGE, NULL, OPTIONS(layer_options),
        .examples = "mapm why pdf\n"
            "mapm why mcp io.example/search"},
    [COMMAND_VERIFY] = {"verify", "", "Compare workspace, lock and store",
        0, 0, ARGUMENT_NONE, NULL, OPTIONS(verify_options),
        .examples = "mapm verify\n"
            "mapm verify --remote"},
    [COMMAND_RUN] = {"run", "NAME [KEY=VALUE...]", "Run a metaskill",
        1, MANY, ARGUMENT_SKILL, NULL, OPTIONS(run_options),
        .examples = "mapm run summarize file=report.md\n"
            "mapm run summarize --input @input.json --ask claude"},
    [COMMAND_TRUST] = {"trust", "[NAME...]", "Let programs of packages run, or a workspace allow them more",
        0, MANY, ARGUMENT_PACKAGE, NULL, OPTIONS(trust_options),
        .examples = "mapm trust summarize\n"
            "mapm trust --list\n"
            "mapm trust --revoke summarize"},
    [COMMAND_RUNS] = {"runs", "[show [ID]]", "List the runs of metaskills, or show one",
        0, 2, ARGUMENT_CHOICE, "show", OPTIONS(runs_options),
        .examples = "mapm runs\n"
            "mapm runs show --html run.html"},
    [COMMAND_MCP] = {"mcp", "", "Serve skills and metaskills to an MCP client",
        0, 0, ARGUMENT_NONE, NULL, OPTIONS(mcp_options),
        .examples = "mapm mcp\n"
            "mapm mcp --print-config claude"},
    [COMMAND_STAR] = {"star", "[FILE]", "Run a Starlark program",
        0, 1, ARGUMENT_PATH, NULL, OPTIONS(star_options),
        .examples = "mapm star -c 'print(1 + 1)'\n"
            "mapm star --check program.star"},
    [COMMAND_SKILL] = {"skill", "COMMAND [ARGUMENT...]", "Use the library: list, search, match, load, show, files, index",
        1, MANY, ARGUMENT_CHOICE, "list search match load show files index",
        OPTIONS(skill_options),
        .examples = "mapm skill search pdf\n"
            "mapm skill load pdf"},
    [COMMAND_EVENTS] = {"events", "", "List what happened in the library, or follow it",
        0, 0, ARGUMENT_NONE, NULL, OPTIONS(events_options),
        .examples = "mapm events --follow"},
    [COMMAND_BUDGET] = {"budget", "", "Show what each client loads at its start",
        0, 0, ARGUMENT_NONE, NULL, NO_OPTIONS,
        .examples = "mapm budget"},
    [COMMAND_NEW] = {"new", "KIND NAME", "Write a new skill, metaskill, agent or mcp",
        2, 2, ARGUMENT_CHOICE, "skill metaskill agent mcp",
        OPTIONS(new_options),
        .examples = "mapm new skill our-style\n"
            "mapm new agent acme/reviewer"},
    [COMMAND_CHECK] = {"check", "[PATH...]", "Validate packages, MCP files and catalogs",
        0, MANY, ARGUMENT_PATH, NULL, OPTIONS(check_options),
        .examples = "mapm check\n"
            "mapm check skills/pdf --profile publish"},
    [COMMAND_TEST] = {"test", "[SKILL...]", "Replay the tapes of metaskills",
        0, MANY, ARGUMENT_PATH, NULL, OPTIONS(test_options),
        .examples = "mapm test\n"
            "mapm test skills/summarize --update"},
    [COMMAND_DOCTOR] = {"doctor", "", "Show what is there, what is not, and what to do",
        0, 0, ARGUMENT_NONE, NULL, NO_OPTIONS,
        .examples = "mapm doctor"},
    [COMMAND_STORE] = {"store", "COMMAND", "Look after the store: path, stats, verify, gc",
        1, 1, ARGUMENT_CHOICE, "path stats verify gc",
        OPTIONS(store_options),
        .examples = "mapm store stats\n"
            "mapm store gc --dry-run"},
    [COMMAND_COMPLETION] = {"completion", "SHELL", "Print the completions for bash, zsh or fish",
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
