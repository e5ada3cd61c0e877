#include "ssh_command.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/proc.h"

#include <unistd.h>

#define SHELL          "/bin/sh"
#define PROBE_MS       5000
#define PROBE_MAX_OUT  (256u * 1024)
#define ARGV_MAX_COUNT 40

/* --- choice of the program ------------------------------------------------ */

/* clang-format off */
static const struct {
    const char *name;
    enum ssh_variant variant;
} variants[] = {
    {"ssh",           SSH_OPENSSH},
    {"plink",         SSH_PLINK},
    {"putty",         SSH_PUTTY},
    {"tortoiseplink", SSH_TORTOISEPLINK},
    {"simple",        SSH_SIMPLE},
};
/* clang-format on */

static enum ssh_variant find_variant(struct str name)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (str_eq_nocase(name, str_cstr(variants[i].name)))
            return variants[i].variant;
    return SSH_UNKNOWN;
}

/* Returns the first word of a shell command, without quotes. */
static struct str first_word(struct str line, struct arena *a)
{
    char *out = arena_text(a, line.p, line.n);
    char quote = '\0';
    size_t n = 0;

    line = str_trim(line);
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];

        if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n'))
            break;
        if (c == quote)
            quote = '\0';
        else if (quote == '\0' && (c == '\'' || c == '"'))
            quote = c;
        else
            out[n++] = c;
    }
    return str_make(out, n);
}

/* Infers the variant from the program's name. "simple" and "putty" are values
 * of ssh.variant only, not names of ssh programs. */
static enum ssh_variant variant_of(const struct ssh_program *p, struct arena *a)
{
    struct str word = p->is_line ? first_word(p->command, a) : p->command;
    enum ssh_variant v = find_variant(path_last(word));

    return v == SSH_SIMPLE || v == SSH_PUTTY ? SSH_UNKNOWN : v;
}

/* As in git, an unknown value means OpenSSH. */
static enum ssh_variant named_variant(const struct ssh_settings *s)
{
    struct str name = env_get("GIT_SSH_VARIANT");
    enum ssh_variant v;

    if (name.n == 0)
        name = s->variant;
    if (name.n == 0 || str_is(name, "auto"))
        return SSH_UNKNOWN;
    v = find_variant(name);
    return v == SSH_UNKNOWN ? SSH_OPENSSH : v;
}

/* Finds the program, but not below the working directory, which may be an
 * untrusted repository. */
static bool find_named(struct str name, struct arena *a, struct str *out,
                       struct err *e)
{
    char here[4096];

    if (str_has_char(name, '/')) {
        *out = name;
        if (name.p[0] == '/')
            return true;
        err_set(e, ERR_REFUSED, "GIT_SSH is no absolute path: %.*s",
                STR_ARG(name));
        return err_hint(e, "name a program of PATH, or its whole path");
    }
    if (getcwd(here, sizeof here) == NULL || strcmp(here, "/") == 0)
        here[0] = '\0';
    if (proc_find_program(str_dup0(name, a), here[0] ? here : NULL, a, out, e))
        return true;
    return err_hint(e, "install an ssh client, or name yours in GIT_SSH");
}

/* --- arguments ------------------------------------------------------------ */

struct args {
    const char *list[ARGV_MAX_COUNT];
    size_t count;
};

static void put(struct args *args, const char *word)
{
    args->list[args->count++] = word;
}

static void put_option(struct args *args, const char *value)
{
    put(args, "-o");
    put(args, value);
}

/* As in git, the words after the command are its "$@". */
static void put_program(struct args *args, const struct ssh_program *p,
                        struct arena *a)
{
    if (p->is_line) {
        put(args, SHELL);
        put(args, "-c");
        put(args, arena_printf(a, "%.*s \"$@\"", STR_ARG(p->command)).p);
    }
    put(args, str_dup0(p->command, a));
}

static const char *destination(const struct ssh_address *to, struct arena *a)
{
    return arena_printf(a, "%.*s%s%.*s", STR_ARG(to->user),
                        to->user.n ? "@" : "", STR_ARG(to->host))
        .p;
}

static void put_port(struct args *args, const char *option,
                     const struct ssh_address *to, struct arena *a)
{
    if (to->port == 0)
        return;
    put(args, option);
    put(args, arena_printf(a, "%u", to->port).p);
}

/* Forward no agent, display or port to the server. */
static void put_openssh(struct args *args, const struct ssh_address *to,
                        bool may_prompt, struct arena *a)
{
    put_option(args, "SendEnv=GIT_PROTOCOL");
    if (!may_prompt)
        put_option(args, "BatchMode=yes");
    put_option(args, "RequestTTY=no");
    put_option(args, "ForwardAgent=no");
    put_option(args, "ForwardX11=no");
    put_option(args, "PermitLocalCommand=no");
    put_option(args, "ClearAllForwardings=yes");
    put_port(args, "-p", to, a);
    put(args, "--");
}

static void put_putty(struct args *args, const struct ssh_program *p,
                      const struct ssh_address *to, bool may_prompt,
                      struct arena *a)
{
    if (p->variant != SSH_PUTTY && !may_prompt)
        put(args, "-batch");
    put_port(args, "-P", to, a);
}

static const char *const *keep(const struct args *args, struct arena *a)
{
    const char **out = arena_array(a, args->count + 1, sizeof *out);

    memcpy(out, args->list, args->count * sizeof *out);
    return out;
}

bool ssh_argv(const struct ssh_program *p, const struct ssh_address *to,
              bool may_prompt, struct arena *a, const char *const **argv,
              struct err *e)
{
    struct args args = {0};

    put_program(&args, p, a);
    if (p->variant == SSH_SIMPLE && to->port) {
        err_set(e, ERR_REFUSED, "%.*s takes no port, and %.*s has one",
                STR_ARG(p->command), STR_ARG(ssh_address_place(to, a)));
        return err_hint(e, "set ssh.variant to what it is, as \"ssh\"");
    }
    if (p->variant == SSH_OPENSSH)
        put_openssh(&args, to, may_prompt, a);
    else if (p->variant != SSH_SIMPLE)
        put_putty(&args, p, to, may_prompt, a);
    put(&args, destination(to, a));
    put(&args, arena_printf(a, "git-upload-pack '%.*s'", STR_ARG(to->path)).p);
    *argv = keep(&args, a);
    return true;
}

/* As git does, finds out whether an unknown program has OpenSSH's option -G. */
static enum ssh_variant probe(const struct ssh_program *p,
                              const struct ssh_address *to, struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct proc_result result = {0};
    struct err ignored = {0};
    struct args args = {0};

    put_program(&args, p, a);
    put(&args, "-G");
    put_openssh(&args, to, false, a);
    put(&args, destination(to, a));
    if (!proc_run(&(struct proc_options){.argv = keep(&args, a),
                                         .env = ssh_env(a),
                                         .dir = "/",
                                         .max_output_bytes = PROBE_MAX_OUT,
                                         .timeout_ms = PROBE_MS},
                  &scratch, &result, &ignored))
        return SSH_SIMPLE;
    return result.exit_code == 0 ? SSH_OPENSSH : SSH_SIMPLE;
}

bool ssh_program_find(const struct ssh_settings *s,
                      const struct ssh_address *to, struct arena *a,
                      struct ssh_program *out, struct err *e)
{
    struct ssh_program p = {.command = env_get("GIT_SSH_COMMAND"),
                            .is_line = true};
    struct str name = env_get("GIT_SSH");

    if (p.command.n == 0)
        p.command = s->command;
    if (p.command.n == 0) {
        p.is_line = false;
        if (!find_named(name.n ? name : STR("ssh"), a, &p.command, e))
            return false;
    }
    p.variant = named_variant(s);
    if (p.variant == SSH_UNKNOWN)
        p.variant = variant_of(&p, a);
    if (p.variant == SSH_UNKNOWN)
        p.variant = probe(&p, to, a);
    *out = p;
    return true;
}

/* --- environment ---------------------------------------------------------- */

/* Suffixes of variables with secrets that ssh does not need, and that a server
 * or a ProxyCommand must not see. */
static const char *const secret_ends[] = {"TOKEN", "_PAT"};

/* Prefixes of variables of mapm, and of those that git removes before it works
 * on another repository. */
static const char *const dropped[] = {
    "MAPM_",         "GIT_CONFIG",           "GIT_DIR",
    "GIT_WORK_TREE", "GIT_COMMON_DIR",       "GIT_INDEX_FILE",
    "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PROTOCOL",
};

static bool is_kept(struct str variable)
{
    struct str name = str_slice(variable, 0, str_find_char(variable, '='));

    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (str_starts(name, str_cstr(dropped[i])))
            return false;
    for (size_t i = 0; i < sizeof secret_ends / sizeof *secret_ends; i++)
        if (str_ends(name, str_cstr(secret_ends[i])))
            return false;
    return true;
}

static bool is_below(struct str path, struct str folder)
{
    return str_starts(path, folder) &&
           (path.n == folder.n || path.p[folder.n] == '/');
}

/* Returns PATH for the programs that the command or the configuration of ssh
 * names: absolute folders only, and none below the working directory. */
static const char *clean_path(struct arena *a)
{
    struct str rest = env_get("PATH"), one, home = env_get("HOME");
    struct str out = STR("PATH=");
    char here[4096];
    struct str cwd = str_cstr(getcwd(here, sizeof here));
    bool any = false;

    if (cwd.n == 1 || (home.n && is_below(home, cwd)))
        cwd = str_make("", 0);
    while (str_cut(&rest, ':', &one)) {
        if (!str_starts(one, STR("/")) || (cwd.n && is_below(one, cwd)))
            continue;
        out = arena_printf(a, "%.*s%s%.*s", STR_ARG(out), any ? ":" : "",
                           STR_ARG(one));
        any = true;
    }
    return out.p;
}

const char *const *ssh_env(struct arena *a)
{
    const char **out = env_with(is_kept, "GIT_PROTOCOL=version=2", a);

    for (const char **v = out; *v; v++)
        if (str_starts(str_cstr(*v), STR("PATH=")))
            *v = clean_path(a);
    return out;
}
