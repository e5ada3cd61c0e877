#include "mapm/mcp_file.h"

#include <string.h>

#include "mcp.h"

/* Checks the command, arguments and environment of an MCP server. The user
 * consents to a command line, so that command line must be what is executed.
 * Source: M19, X20, REQUIREMENTS 4.4; THREATS rows 8 and 9. */

/* clang-format off */
/* Programs that execute their arguments as commands. */
static const char *const shells[] = {
    "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "pdksh",
    "lksh", "oksh", "yash", "fish", "csh", "tcsh", "rc", "es", "elvish", "nu",
    "xonsh", "ion", "osh", "ysh", "cmd", "command", "powershell", "pwsh",
    "pwsh-preview", "busybox", "toybox", "env", "sudo", "doas", "su", "runuser",
    "xargs", "parallel", "nohup", "nice", "ionice", "setsid", "timeout", "time",
    "stdbuf", "unbuffer", "script", "expect", "exec", "eval", "source", "start",
    "chroot", "unshare", "nsenter", "flock", "watch", "setarch", "chrt",
    "taskset", "ld", "ld.so", "ld-linux", "ld-linux-x86-64.so",
    "wscript", "cscript", "mshta", "rundll32", "regsvr32", "osascript", "wsl",
    "conhost", "forfiles", "git-bash", "open", "systemd-run", "at", "batch",
};

static const char *const suffixes[] = {".exe", ".cmd", ".bat", ".com", ".ps1"};

/* Environment variables that make a harmless program execute another one. A "*"
 * at the end matches any suffix. */
static const char *const denied[] = {
    "LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_*",
    "GLIBC_TUNABLES", "PATH", "PATHEXT", "COMSPEC", "SHELL", "BASH_ENV", "ENV",
    "IFS", "PS4", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "PROMPT_COMMAND",
    "ZDOTDIR", "CDPATH", "GLOBIGNORE", "NODE_OPTIONS", "NODE_REPL_EXTERNAL_MODULE",
    "NODE_PATH", "ELECTRON_RUN_AS_NODE", "NPM_CONFIG_SCRIPT_SHELL",
    "NPM_CONFIG_SHELL", "NPM_CONFIG_NODE_OPTIONS", "NPM_CONFIG_NODE_GYP",
    "NPM_CONFIG_GIT", "NPM_CONFIG_CALL", "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG", "NPM_CONFIG_INIT_MODULE",
    "BUN_OPTIONS", "BUN_INSPECT_PRELOAD", "DENO_DIR",
    "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT",
    "PYTHONEXECUTABLE", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "PYTHONWARNINGS",
    "PYTHONPLATLIBDIR", "UV_PYTHON", "PERL5OPT", "PERL5LIB", "PERL5DB",
    "PERLLIB", "RUBYOPT", "RUBYLIB", "GEM_PATH", "GEM_HOME", "BUNDLE_GEMFILE",
    "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH",
    "JAVA_HOME", "MAVEN_OPTS", "GRADLE_OPTS", "PHPRC", "PHP_INI_SCAN_DIR",
    "LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "R_PROFILE*", "R_ENVIRON*",
    "ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "GOFLAGS", "RUSTC_WRAPPER",
    "RUSTC", "CARGO_BUILD_RUSTC*", "DOTNET_STARTUP_HOOKS", "DOTNET_ROOT*",
    "DOTNET_ADDITIONAL_DEPS", "CORECLR_*", "COR_*", "GIT_SSH", "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER",
    "GIT_ASKPASS", "SSH_ASKPASS", "GIT_CONFIG*", "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR", "EDITOR", "VISUAL", "PAGER",
    "LESSOPEN", "LESSCLOSE", "MANPAGER", "OPENSSL_CONF",
    "OPENSSL_MODULES", "OPENSSL_ENGINES", "GTK_MODULES", "GTK_PATH",
    "QT_PLUGIN_PATH", "GIO_EXTRA_MODULES", "TERMINFO*", "HOSTALIASES",
};

/* Options of npx without a value: the next argument is the package. */
static const char *const npx_flags[] = {
    "-y", "--yes", "-n", "--no", "--no-install", "--ignore-existing", "-q",
    "--quiet", "-s", "--silent", "--offline", "--prefer-offline",
    "--prefer-online", "--legacy-peer-deps", "--no-audit", "--no-fund",
};

/* Interpreters that accept program text as an argument: `letters` are the
 * options for that in a cluster such as "-Ic", `ends` those after which a
 * cluster has no further options, `words` the long forms. */
static const struct interpreter {
    const char *name, *letters, *ends;
    const char *words[4];
} interpreters[] = {
    {"python", "c",  "mWX", {NULL}},
    {"pypy",   "c",  "mWX", {NULL}},
    {"pythonw", "c", "mWX", {NULL}},
    {"py",     "c",  "mWX", {NULL}},
    {"node",   "ep", "rC",  {"--eval", "--print"}},
    {"nodejs", "ep", "rC",  {"--eval", "--print"}},
    {"bun",    "ep", "r",   {"--eval", "--print"}},
    {"deno",   "",   "",    {"eval"}},
    {"perl",   "eE", "MmIFCDx0i", {NULL}},
    {"ruby",   "e",  "rICEFKTx0i", {NULL}},
    {"php",    "rBRE", "dcfztS", {"--run", "--process-begin", "--process-code",
                                 "--process-end"}},
    {"lua",    "e",  "l",   {NULL}},
    {"luajit", "e",  "lj",  {NULL}},
    {"rscript", "e", "",    {NULL}},
    {"julia",  "eE", "JpLtC", {"--eval", "--print"}},
    {"elixir", "e",  "r",   {"--eval"}},
    {"groovy", "e",  "D",   {NULL}},
};

/* Options of interpreters that take the next argument as their value. */
static const char *const with_value[] = {
    "-W", "-X", "-r", "--require", "--import", "--loader", "--preload",
    "--experimental-loader", "-C", "--conditions", "--env-file", "--title",
    "--check-hash-based-pycs", "-I", "-d", "-l", "--config", "-L", "-p",
};
/* clang-format on */

static bool in_list(struct str s, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(s, str_cstr(list[i])))
            return true;
    return false;
}

/* --- command -------------------------------------------------------------- */

static struct str base_name(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/' || path.p[i - 1] == '\\')
            return str_from_index(path, i);
    return path;
}

/* Returns the name without ".exe" and the like: "bash" of "bash.exe". */
static struct str drop_suffix(struct str name)
{
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        struct str suffix = str_cstr(suffixes[i]);

        if (name.n > suffix.n &&
            str_eq_nocase(str_from_index(name, name.n - suffix.n), suffix))
            return str_slice(name, 0, name.n - suffix.n);
    }
    return name;
}

/* Returns the name without a version: "bash" of "bash-5.2", "ksh" of
 * "ksh93". */
static struct str drop_version(struct str name)
{
    while (name.n && (char_is_digit(name.p[name.n - 1]) ||
                      strchr(".-_+", name.p[name.n - 1])))
        name.n--;
    return name;
}

static bool is_shell(struct str command)
{
    struct str name = drop_suffix(base_name(command));

    return in_list(name, shells, COUNT(shells)) ||
           in_list(drop_version(name), shells, COUNT(shells)) ||
           in_list(drop_suffix(drop_version(name)), shells, COUNT(shells));
}

static bool is_bare(struct str name)
{
    if (name.n == 0 || name.p[0] == '-' || str_is(name, ".") ||
        str_is(name, ".."))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!char_is_alpha(name.p[i]) && !char_is_digit(name.p[i]) &&
            !strchr("._+-", name.p[i]))
            return false;
    return true;
}

/* X20: returns true for a path such as "${workspaceDir}/tools/x" that stays
 * inside the folder. */
static bool is_placed(struct str command)
{
    size_t n = placeholder_length(command);
    struct str name = base_name(command), part;

    return n > 0 && command.n > n + 1 && command.p[n] == '/' && name.n > 0 &&
           !str_is(name, ".") && !str_is(name, "..") &&
           !text_has_control(command) && !placeholder_fault(command, &part);
}

void check_command(const struct reader *r, const struct json *command)
{
    struct str text = json_text(command);
    const char *shown = quoted(r, text);
    unsigned line = command->line;

    if (command->kind != JSON_STRING || text.n == 0) {
        report(r, "mcp-command", "command", line,
               "command has to be the name of a program, as text");
        return;
    }
    if (is_shell(text))
        report(r, "mcp-shell", "command", line,
               "command is \"%s\", which runs other programs: name the "
               "server's own program; what needs a shell goes into a script "
               "of the server",
               shown);
    else if (placeholder_length(text) > 0 || str_has_char(text, '/') ||
             str_has_char(text, '\\')) {
        if (!is_placed(text))
            report(r, "mcp-command-path", "command", line,
                   "command is \"%s\": write a bare name, as npx or uvx, or "
                   "a path that starts with ${workspaceDir}/ or "
                   "${sharedDir}/ and stays there",
                   shown);
    } else if (!is_bare(text)) {
        report(r, "mcp-command", "command", line,
               "command is \"%s\": write a bare name of letters, digits and "
               "\"._+-\", and the rest into args",
               shown);
    }
}

/* --- args ----------------------------------------------------------------- */

/* Returns true if `s` has a variable such as "$HOME". "$5", "$" and
 * placeholders do not count. */
static bool has_variable(struct str s)
{
    for (size_t i = 0; i + 1 < s.n; i++)
        if (s.p[i] == '$' && (char_is_alpha(s.p[i + 1]) || s.p[i + 1] == '_'))
            return true;
    return false;
}

static void check_arg(const struct reader *r, const char *field,
                      const struct json *arg)
{
    struct str s = arg->text;

    if (has_variable(s) || str_starts(s, STR("~/")))
        report(r, "mcp-arg-expansion", field, arg->line,
               "the argument \"%s\" is passed as it is, nothing expands "
               "\"$NAME\" or \"~/\": use ${workspaceDir} or ${sharedDir}, "
               "or let the server read its environment",
               quoted(r, s));
    else if (str_find(s, STR("{env:")) != SIZE_MAX ||
             str_find(s, STR("{file:")) != SIZE_MAX)
        report_at(r, LEVEL_WARNING, "mcp-arg-expansion", field, arg->line,
                  "the argument \"%s\" is expanded by some clients and not "
                  "by others",
                  quoted(r, s));
}

static bool is_call(struct str arg)
{
    bool cluster = arg.n > 1 && arg.p[0] == '-' && arg.p[1] != '-' &&
                   str_has_char(arg, 'c') && !str_has_char(arg, '=');

    return cluster || str_is(arg, "--call") ||
           str_starts(arg, STR("--call=")) || str_is(arg, "--shell-mode") ||
           str_starts(arg, STR("--script-shell")) || str_is(arg, "--shell") ||
           str_starts(arg, STR("--shell="));
}

/* Finds "-c" among the runner's own options, which precede the package unless
 * `to_the_end` is set. A word after an option that may take a value is not the
 * package. */
static const struct json *find_call(const struct json *arg, bool to_the_end)
{
    bool value = false;

    for (; arg; arg = arg->next) {
        struct str s = json_text(arg);

        if (str_is(s, "--"))
            return NULL;
        if (is_call(s))
            return arg;
        if (s.n > 0 && s.p[0] == '-')
            value = !str_has_char(s, '=') &&
                    !in_list(s, npx_flags, COUNT(npx_flags));
        else if (value)
            value = false;
        else if (!to_the_end)
            return NULL;
    }
    return NULL;
}

/* Reports "npx -c" and similar options, which pass their argument to a shell
 * (row 8). */
static void check_runner(const struct reader *r, const struct json *args,
                         struct str command)
{
    static const char *const npx[] = {"npx", "pnpx", "bunx",
                                      "npm", "pnpm", "yarn"};
    struct str name = drop_suffix(base_name(command));
    const struct json *call = NULL;

    if (in_list(name, npx, 3))
        call = find_call(args->first, false);
    else if (in_list(name, npx, COUNT(npx)))
        call = find_call(args->first, true);
    if (call)
        report(r, "mcp-shell", "args", call->line,
               "\"%s\" makes %s run a shell: name the package and its "
               "arguments instead",
               quoted(r, call->text), quoted(r, name));
}

static bool is_code_flag(const struct interpreter *in, struct str arg)
{
    for (size_t i = 0; i < COUNT(in->words) && in->words[i]; i++) {
        struct str word = str_cstr(in->words[i]);

        if (str_starts(arg, word) && (arg.n == word.n || arg.p[word.n] == '='))
            return true;
    }
    if (arg.n < 2 || arg.p[0] != '-' || arg.p[1] == '-')
        return false;
    for (size_t i = 1; i < arg.n; i++) {
        if (strchr(in->letters, arg.p[i]))
            return true;
        if (strchr(in->ends, arg.p[i]))
            return false;
    }
    return false;
}

/* Reports "node -e …" and the like: the argument is program text that no hash
 * covers (row 8). Arguments after a script belong to the script. */
static void check_interpreter(const struct reader *r, const struct json *args,
                              struct str command)
{
    struct str name = drop_version(drop_suffix(base_name(command)));
    const struct interpreter *in = NULL;
    bool value = false;

    for (size_t i = 0; i < COUNT(interpreters) && !in; i++)
        if (str_eq_nocase(name, str_cstr(interpreters[i].name)))
            in = &interpreters[i];
    for (const struct json *arg = args->first; in && arg; arg = arg->next) {
        struct str s = json_text(arg);

        if (is_code_flag(in, s) || str_starts(s, STR("data:")) ||
            str_find(s, STR("=data:")) != SIZE_MAX) {
            report(r, "mcp-shell", "args", arg->line,
                   "\"%s\" makes %s run the text of an argument: put the "
                   "program into a file",
                   quoted(r, s), quoted(r, name));
            return;
        }
        if (str_is(s, "--") || str_is(s, "-m"))
            return;
        if (s.n > 0 && s.p[0] == '-')
            value = in_list(s, with_value, COUNT(with_value));
        else if (!value)
            return;
        else
            value = false;
    }
}

void check_args(const struct reader *r, const struct json *args,
                struct str command)
{
    size_t i = 0;

    if (args->kind != JSON_ARRAY) {
        report(r, "mcp-args", "args", args->line,
               "args is %s: write a list of texts", json_kind_name(args->kind));
        return;
    }
    for (const struct json *arg = args->first; arg; arg = arg->next, i++) {
        const char *field = arena_printf(r->a, "args[%zu]", i).p;

        if (arg->kind != JSON_STRING)
            report(r, "mcp-args", field, arg->line,
                   "an argument is %s: put it in quotes",
                   json_kind_name(arg->kind));
        else
            check_arg(r, field, arg);
    }
    check_runner(r, args, command);
    check_interpreter(r, args, command);
}

/* --- env ------------------------------------------------------------------ */

static bool is_denied(struct str name)
{
    for (size_t i = 0; i < COUNT(denied); i++) {
        struct str rule = str_cstr(denied[i]);
        bool open = str_ends(rule, STR("*"));

        if (open)
            rule = str_slice(rule, 0, rule.n - 1);
        if (open ? str_eq_nocase(str_slice(name, 0, rule.n), rule)
                 : str_eq_nocase(name, rule))
            return true;
    }
    return false;
}

void check_env(const struct reader *r, const struct json *env)
{
    const char *field = str_dup0(env->key, r->a);

    if (env->kind != JSON_OBJECT) {
        report(r, "mcp-env", field, env->line,
               "%s is %s: write an object of names and texts", field,
               json_kind_name(env->kind));
        return;
    }
    for (const struct json *v = env->first; v; v = v->next) {
        const char *name = quoted(r, v->key);

        if (v->key.n == 0 || str_has_char(v->key, '=') ||
            text_has_control(v->key))
            report(r, "mcp-env", field, v->key_line,
                   "\"%s\" is no name of an environment variable", name);
        else if (is_denied(v->key))
            report(r, "mcp-env", field, v->key_line,
                   "%s changes what a program loads or runs, and a package "
                   "must not set it",
                   name);
        if (v->kind != JSON_STRING)
            report(r, "mcp-env", field, v->line,
                   "the value of %s is %s: put it in quotes", name,
                   json_kind_name(v->kind));
    }
}

/* --- url ------------------------------------------------------------------ */

/* Stores the host of "host:port". Returns false for other texts. */
static bool take_host(struct str authority, struct str *host)
{
    size_t close = str_find_char(authority, ']');
    size_t from = close == SIZE_MAX ? 0 : close;
    size_t colon = str_find_char(str_from_index(authority, from), ':');
    uint64_t port;

    *host =
        colon == SIZE_MAX ? authority : str_slice(authority, 0, from + colon);
    if (colon != SIZE_MAX &&
        !str_number(str_from_index(authority, from + colon + 1), 65535, &port))
        return false;
    if (host->n == 0)
        return false;
    for (size_t i = 0; i < host->n; i++)
        if (!char_is_alpha(host->p[i]) && !char_is_digit(host->p[i]) &&
            !strchr(".-_[]:", host->p[i]))
            return false;
    return true;
}

const char *mcp_url_fault(struct str url)
{
    struct str rest, host;
    size_t end = 0;
    bool secure = str_eq_nocase(str_slice(url, 0, 8), STR("https://"));

    if (!secure && !str_eq_nocase(str_slice(url, 0, 7), STR("http://")))
        return "does not start with https://";
    rest = str_from_index(url, secure ? 8 : 7);
    for (size_t i = 0; i < rest.n; i++)
        if ((unsigned char)rest.p[i] <= ' ' || rest.p[i] == 0x7f ||
            rest.p[i] == '\\')
            return "has blanks, backslashes or control characters";
    while (end < rest.n && !strchr("/?#", rest.p[end]))
        end++;
    rest = str_slice(rest, 0, end);
    if (str_has_char(rest, '@'))
        return "has a user name or password in it: use headers, filled from "
               "the client's own settings";
    if (!take_host(rest, &host))
        return "has no host that can be read";
    if (!secure && !origin_host_is_loopback(host))
        return "is not encrypted: write https:// (http:// is for this machine "
               "alone, as http://127.0.0.1:3000)";
    return NULL;
}

void check_url(const struct reader *r, const struct json *url)
{
    const char *fault =
        url->kind == JSON_STRING ? mcp_url_fault(url->text) : "is not text";

    if (fault)
        report(r, "mcp-url", "url", url->line, "the url \"%s\" %s",
               quoted(r, json_text(url)), fault);
}

static bool is_header_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!char_is_alpha(name.p[i]) && !char_is_digit(name.p[i]) &&
            (!name.p[i] || !strchr("!#$%&'*+-.^_`|~", name.p[i])))
            return false;
    return name.n > 0;
}

bool mcp_header_is_valid(struct str name, struct str value)
{
    return is_header_name(name) && !text_has_control(value);
}

/* The names are taken from the documentation of the clients. */
bool mcp_key_skips_consent(struct str key)
{
    static const char *const keys[] = {
        "alwaysAllow",
        "autoApprove",
        "trust",
        "default_tools_approval_mode",
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_eq_nocase(key, str_cstr(keys[i])))
            return true;
    return false;
}

void check_headers(const struct reader *r, const struct json *headers)
{
    if (headers->kind != JSON_OBJECT) {
        report(r, "mcp-url", "headers", headers->line,
               "headers is %s: write an object of names and texts",
               json_kind_name(headers->kind));
        return;
    }
    for (const struct json *v = headers->first; v; v = v->next)
        if (v->kind != JSON_STRING || !mcp_header_is_valid(v->key, v->text))
            report(r, "mcp-url", "headers", v->line,
                   "the header \"%s\" is not one line of text",
                   quoted(r, v->key));
}
