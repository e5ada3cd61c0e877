#include "agent_env.h"

#include "base/env.h"
#include "base/text.h"
#include "mapm/clients_preset.h"

#include <unistd.h>

#include "backend.h"

#define SECRET_MIN_BYTES 6 /* shorter values are ordinary words, not secrets */

static const char *const always[] = {
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "DBUS_SESSION_BUS_ADDRESS", /* the keyring in which backends store their
                                 * log-in */
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_*",
    "NODE_EXTRA_CA_CERTS",
    "MAPM_HOME",
    NULL,
};

/* For exec only: a local model often runs on such a server. */
static const char *const exec_only[] = {"OLLAMA_*", NULL};

static const char *const secret_words[] = {
    "KEY", "TOKEN", "SECRET", "PASSW", "AUTH", "CREDENTIAL", NULL,
};

static bool matches(struct str name, struct str pattern)
{
    if (!str_ends(pattern, STR("*")))
        return str_eq(name, pattern);
    return str_starts(name, str_slice(pattern, 0, pattern.n - 1));
}

/* Matches a name against "X_*"; with "?Y" the entry applies only if Y is
 * set. */
static bool lets_through(struct str name, const char *entry)
{
    struct str when = str_cstr(entry), pattern;
    char variable[64];

    str_cut(&when, '?', &pattern);
    if (!matches(name, pattern))
        return false;
    if (!when.p)
        return true;
    if (when.n >= sizeof variable)
        return false;
    for (size_t i = 0; i <= when.n; i++)
        variable[i] = i < when.n ? when.p[i] : '\0';
    return env_get(variable).n > 0;
}

static bool is_listed(struct str name, const char *const *list)
{
    for (; *list; list++)
        if (lets_through(name, *list))
            return true;
    return false;
}

/* Accepts names that the user adds, except variables that load code into a
 * program. */
static bool is_wished(struct str name)
{
    struct str rest = env_get("MAPM_ASK_ENV"), word;

    while (rest.n && str_cut(&rest, ' ', &word))
        if (word.n && matches(name, word) && !str_starts(name, STR("LD_")))
            return true;
    return false;
}

static void add(struct agent_env *env, const char *var)
{
    env->vars = arena_grow(env->arena, env->vars, env->count, &env->capacity,
                           sizeof *env->vars);
    env->vars[env->count] = var;
    if (var)
        env->count++;
}

static bool is_set(const char *const *set, struct str name)
{
    for (; *set; set++)
        if (str_starts(str_cstr(*set), name) && (*set)[name.n] == '=')
            return true;
    return false;
}

/* Drops relative elements of PATH, which would be resolved in the workspace. */
static void add_path(struct agent_env *env)
{
    struct str rest = env_get("PATH"), folder, clean = STR("PATH=");

    while (rest.p && str_cut(&rest, ':', &folder)) {
        if (!str_starts(folder, STR("/")))
            continue;
        if (!str_ends(clean, STR("=")))
            clean = str_join(clean, STR(":"), env->arena);
        clean = str_join(clean, folder, env->arena);
    }
    add(env, str_dup0(clean, env->arena));
}

static void add_own(struct agent_env *env, const struct ask *in)
{
    struct arena *a = env->arena;
    bool cut = false;
    struct str purpose = backend_text(in->purpose, 200, a, &cut);
    size_t nul = str_find_char(purpose, '\0');

    purpose = str_slice(purpose, 0, nul);
    add(env, arena_printf(a, "MAPM_DEPTH=%u", runtime_depth() + 1).p);
    add(env, arena_printf(a, "MAPM_ASK_NUMBER=%u", in->number).p);
    add(env, arena_printf(a, "MAPM_MAX_TURNS=%u", in->max_turns).p);
    add(env, arena_printf(a, "MAPM_PURPOSE=%.*s", STR_ARG(purpose)).p);
}

/* Variables that mapm sets itself or that belong to this run only. */
static bool is_own(struct str name)
{
    return str_starts(name, STR("MAPM_")) && !str_is(name, "MAPM_HOME");
}

void agent_env_build(struct agent_env *env, const struct preset *p,
                     const struct ask *in, struct arena *a)
{
    static const char *const none[] = {NULL};
    const char *const *set = p ? p->set : none;
    const char *const *own = p ? p->env : exec_only;

    *env = (struct agent_env){.arena = a};
    add_path(env);
    for (char **v = env_all(); *v; v++) {
        struct str rest = str_cstr(*v), name;

        if (!str_cut(&rest, '=', &name) || !rest.p || is_set(set, name) ||
            str_is(name, "PATH") || is_own(name))
            continue;
        if (is_listed(name, always) || is_listed(name, own) || is_wished(name))
            add(env, *v);
    }
    for (; *set; set++)
        add(env, *set);
    add_own(env, in);
    add(env, NULL);
}

/* Returns true for names of secrets, and for a proxy URL with a password. */
static bool is_secret(struct str name, struct str value)
{
    for (size_t i = 0; secret_words[i]; i++) {
        struct str word = str_cstr(secret_words[i]);

        for (size_t at = 0; at < name.n; at++)
            if (str_eq_nocase(str_slice(name, at, at + word.n), word))
                return value.n >= SECRET_MIN_BYTES;
    }
    return str_find(value, STR("://")) != SIZE_MAX && str_has_char(value, '@');
}

static struct str replace(struct str text, struct str what, struct arena *a)
{
    struct buf b;
    size_t at;

    if (str_find(text, what) == SIZE_MAX)
        return text;
    buf_init(&b, text.n + 1);
    while ((at = str_find(text, what)) != SIZE_MAX) {
        buf_append(&b, str_slice(text, 0, at));
        buf_text(&b, "***");
        text = str_from_index(text, at + what.n);
    }
    buf_append(&b, text);
    text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return text;
}

/* Removes escape sequences such as "\033[31m", written by programs that assume
 * a terminal. */
static struct str without_colours(struct str text, struct arena *a)
{
    struct buf b;
    size_t at;

    if (!str_has_char(text, '\033'))
        return text;
    buf_init(&b, text.n + 1);
    while ((at = str_find(text, STR("\033["))) != SIZE_MAX) {
        buf_append(&b, str_slice(text, 0, at));
        text = str_from_index(text, at + 2);
        while (text.n && (char_is_digit(text.p[0]) || text.p[0] == ';'))
            text = str_from_index(text, 1);
        text = str_from_index(text, 1);
    }
    buf_append(&b, text);
    text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return text;
}

struct str agent_env_hide(const struct agent_env *env, struct str text,
                          size_t max_chars, struct arena *a)
{
    struct buf b;

    text = without_colours(text, a);
    for (size_t i = 0; i < env->count; i++) {
        struct str value = str_cstr(env->vars[i]), name;

        str_cut(&value, '=', &name);
        if (is_secret(name, value))
            text = replace(text, value, a);
    }
    /* An escaped byte takes up to ten. */
    buf_init(&b, 10 * text.n + 1);
    text_visible(&b, text, true);
    text = text_cut(text_one_line(buf_str(&b), a), max_chars);
    text = arena_str(a, text);
    buf_done(&b);
    return text;
}
