#include "secrets.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/yaml.h"

#define NETRC_MAX_BYTES (256u * 1024)
#define GH_MAX_BYTES    (256u * 1024)

struct gh_entry {
    struct str host, token;
};

static void load_netrc(struct secrets *s)
{
    struct err ignored = {0};
    struct str path = env_get("NETRC"), text;

    if (path.n == 0 && s->settings->home.n)
        path = fs_join(s->settings->home, STR(".netrc"), &s->arena);
    if (path.n == 0 ||
        !fs_read_user_file(str_dup0(path, &s->arena), NETRC_MAX_BYTES,
                           &s->arena, &text, &ignored))
        return;
    for (;;) {
        s->netrc = arena_grow(&s->arena, s->netrc, s->netrc_count,
                              &s->netrc_capacity, sizeof *s->netrc);
        if (!netrc_next(&text, &s->arena, &s->netrc[s->netrc_count]))
            return;
        s->netrc_count++;
    }
}

static struct str gh_folder(struct secrets *s)
{
    struct str dir = env_get("GH_CONFIG_DIR");

    if (dir.n)
        return dir;
    dir = env_config_folder(s->settings->home, &s->arena);
    return dir.n ? fs_join(dir, STR("gh"), &s->arena) : dir;
}

static void load_gh(struct secrets *s)
{
    struct err ignored = {0};
    struct str dir = gh_folder(s), text;
    const struct yaml *file = NULL;
    struct yaml_options options = {.max_bytes = GH_MAX_BYTES};

    if (!str_starts(dir, STR("/")) ||
        !fs_read_user_file(
            str_dup0(fs_join(dir, STR("hosts.yml"), &s->arena), &s->arena),
            GH_MAX_BYTES, &s->arena, &text, &ignored) ||
        !yaml_parse(text, &options, &s->arena, &file, NULL, &ignored) ||
        file == NULL || file->kind != YAML_MAPPING)
        return;
    for (const struct yaml *h = file->first; h; h = h->next) {
        const struct yaml *token =
            h->kind == YAML_MAPPING ? yaml_get(h, "oauth_token") : NULL;

        if (token == NULL || token->kind != YAML_SCALAR || token->text.n == 0)
            continue;
        s->gh = arena_grow(&s->arena, s->gh, s->gh_count, &s->gh_capacity,
                           sizeof *s->gh);
        s->gh[s->gh_count++] =
            (struct gh_entry){str_lower(h->key, &s->arena), token->text};
    }
}

void secrets_load(struct secrets *s, const struct settings *settings)
{
    *s = (struct secrets){.settings = settings};
    load_netrc(s);
    load_gh(s);
}

void secrets_done(struct secrets *s)
{
    arena_done(&s->arena);
}

static bool may_send(const struct url *u)
{
    return url_is_secure(u) || url_is_loopback(u);
}

/* --- environment variables ------------------------------------------------ */

static enum host_token token_of(const struct secrets *s, const struct url *u)
{
    const struct host_config *h = settings_host(s->settings, u->host);

    return h ? h->token : HOST_TOKEN_USUAL;
}

/*
 * Returns MAPM_TOKEN_GIT_EXAMPLE_COM for "git.example.com". The name is unique:
 * "-" becomes "__", as in Terraform's TF_TOKEN_*, and a label neither begins
 * nor ends with "-".
 */
static struct str own_variable(struct str host, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, sizeof "MAPM_TOKEN_" + 2 * HOST_MAX_CHARS);
    buf_text(&b, "MAPM_TOKEN_");
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];

        if (c == '-')
            buf_text(&b, "__");
        else if (char_is_lower(c))
            buf_char(&b, (char)(c - 'a' + 'A'));
        else
            buf_char(&b, char_is_digit(c) ? c : '_');
    }
    return arena_str(a, buf_str(&b));
}

/* `t` is NULL for a variable that is not in the table of hosts. */
static void take_variable(struct str variable, const struct git_host_token *t,
                          const struct git_host *g, struct arena *a,
                          struct secret *out)
{
    const char *name = str_dup0(variable, a);
    struct str token = env_get(name);

    bool has_user =
        t && t->user && (!t->begins || str_starts(token, str_cstr(t->begins)));

    if (token.n == 0 || out->source)
        return;
    *out = (struct secret){
        .user = str_cstr(has_user ? t->user : g->user),
        .password = token,
        .source = arena_printf(a, "the token from %s", name).p,
    };
    if (g->token_is_user)
        *out = (struct secret){token, STR(""), out->source};
}

/* Records that http_start will send an Authorization header. */
static void take_header(const struct secrets *s, const struct url *u,
                        struct arena *a, struct secret *out)
{
    size_t count;
    const struct str *lines = settings_headers(s->settings, u, a, &count);

    for (size_t i = 0; i < count && out->source == NULL; i++)
        if (str_starts(str_lower(lines[i], a), STR("authorization:")))
            out->source = "http.extraHeader of the git configuration";
}

/* The token of a CI job is valid only for the host that another variable
 * names. */
static bool is_for(const struct git_host *g, const struct git_host_token *t,
                   struct str host)
{
    return git_host_takes(g, t, host) &&
           (!t->host_variable ||
            str_eq_nocase(env_get(t->host_variable), host));
}

void secrets_first(const struct secrets *s, const struct url *u,
                   struct arena *a, struct secret *out)
{
    const struct host_config *h = settings_host(s->settings, u->host);
    const struct git_host *g = settings_git_host(s->settings, u->host);
    const struct git_host *like = g ? g : &git_hosts[git_host_count - 1];
    enum host_token mode = token_of(s, u);

    *out = (struct secret){0};
    if (!may_send(u) || mode == HOST_TOKEN_NONE)
        return;
    if (u->user.n || u->password.n) {
        *out = (struct secret){u->user, u->password,
                               "the password in the git configuration's "
                               "url.*.insteadOf"};
        return;
    }
    if (mode == HOST_TOKEN_GIT) {
        take_header(s, u, a, out);
        return;
    }
    if (mode == HOST_TOKEN_VARIABLE)
        take_variable(h->variable, NULL, like, a, out);
    take_variable(own_variable(u->host, a), NULL, like, a, out);
    for (size_t i = 0; g && i < GIT_HOST_MAX_TOKENS; i++)
        if (is_for(g, &g->tokens[i], u->host))
            take_variable(str_cstr(g->tokens[i].variable), &g->tokens[i], g, a,
                          out);
    if (out->source == NULL)
        take_header(s, u, a, out);
}

struct str secrets_way_in(const struct secrets *s, const struct url *u,
                          struct arena *a)
{
    const struct host_config *h = settings_host(s->settings, u->host);
    const struct git_host *g = settings_git_host(s->settings, u->host);
    struct str variable = own_variable(u->host, a);
    const char *usual = g ? git_host_variable(g, u->host) : NULL;

    switch (token_of(s, u)) {
    case HOST_TOKEN_NONE:
        return arena_printf(a,
                            "change \"token: none\" of it: mapm host set "
                            "%.*s --token default",
                            STR_ARG(u->host));
    case HOST_TOKEN_GIT:
        return STR("give git's credential helper a password for it");
    case HOST_TOKEN_VARIABLE:
        return arena_printf(a, "set %.*s", STR_ARG(h->variable));
    default:
        break;
    }
    if (usual)
        variable = str_cstr(usual);
    if (!g || !g->program.login)
        return arena_printf(a, "set %.*s%s%s", STR_ARG(variable),
                            g && g->token_hint ? ", to " : "",
                            g && g->token_hint ? g->token_hint : "");
    return arena_printf(a, "set %.*s or log in with \"%s\"", STR_ARG(variable),
                        g->program.login);
}

/* --- search after a 401 --------------------------------------------------- */

static void from_netrc(const struct secrets *s, const struct url *u,
                       struct secret *out)
{
    for (size_t i = 0; i < s->netrc_count; i++) {
        const struct netrc_entry *n = &s->netrc[i];

        if (str_eq(n->machine, u->host) && n->password.n) {
            *out = (struct secret){n->login, n->password,
                                   "the password from netrc"};
            return;
        }
    }
}

static void from_gh_file(const struct secrets *s, const struct url *u,
                         const char *user, struct secret *out)
{
    for (size_t i = 0; i < s->gh_count; i++) {
        if (str_eq(s->gh[i].host, u->host)) {
            *out = (struct secret){str_cstr(user), s->gh[i].token,
                                   "the token from gh's hosts.yml"};
            return;
        }
    }
}

static bool from_mapm(struct link *l, enum credential_from from,
                      const char *source, const struct url *u, struct arena *a,
                      struct secret *out, bool *of_path, struct err *e)
{
    struct link_credential c = {0};
    struct str path = u->path;

    while (path.n && path.p[0] == '/')
        path = str_from_index(path, 1);
    if (!link_find_credential(l, from, u->scheme, url_host_port(u, a), path, a,
                              &c, e))
        return false;
    *of_path |= c.of_path;
    if (c.found)
        *out = (struct secret){c.user, c.password, source};
    return true;
}

static bool from_program(struct link *l, const struct git_host *g,
                         const struct url *u, struct arena *a,
                         struct secret *out, struct err *e)
{
    const char *source =
        arena_printf(a, "the token from %s", g->program.name).p;
    bool of_path = false; /* glab has one token per host */

    return from_mapm(l, CREDENTIAL_PROGRAM, source, u, a, out, &of_path, e);
}

bool secrets_allow_headers(const struct secrets *s, const struct url *u)
{
    return token_of(s, u) != HOST_TOKEN_NONE;
}

bool secrets_next(const struct secrets *s, struct link *l, const struct url *u,
                  unsigned *tried, struct arena *a, struct secret *out,
                  bool *of_path, struct err *e)
{
    const struct git_host *g = settings_git_host(s->settings, u->host);
    enum host_token mode = token_of(s, u);
    bool ok = true, by_kind = g && mode != HOST_TOKEN_GIT;

    *out = (struct secret){0};
    *of_path = false;
    if (!may_send(u) || mode == HOST_TOKEN_NONE)
        return true;
    while (ok && out->source == NULL && *tried < SECRET_PLACE_COUNT) {
        switch ((enum secret_place)(*tried)++) {
        case SECRET_NETRC:
            from_netrc(s, u, out);
            break;
        case SECRET_GH_FILE:
            if (by_kind && g->has_gh)
                from_gh_file(s, u, g->user, out);
            break;
        case SECRET_PROGRAM:
            if (by_kind && g->program.name)
                ok = from_program(l, g, u, a, out, e);
            break;
        case SECRET_CHECKOUT:
            ok = from_mapm(l, CREDENTIAL_CHECKOUT,
                           "http.extraHeader of this checkout", u, a, out,
                           of_path, e);
            break;
        case SECRET_HELPER:
            ok = from_mapm(l, CREDENTIAL_HELPER,
                           "the password from git's credential helper", u, a,
                           out, of_path, e);
            break;
        default:
            break;
        }
    }
    return ok;
}
