#include "secrets.h"

#include "base/fs.h"
#include "base/yaml.h"

#include <stdlib.h>

#define NETRC_MAX_BYTES (256u * 1024)
#define GH_MAX_BYTES    (256u * 1024)

struct gh_entry {
    struct str host, token;
};

/* Where a secret may come from, in the order they are tried. */
enum place { PLACE_NETRC, PLACE_GH_FILE, PLACE_GH, PLACE_HELPER, PLACE_COUNT };

static struct str env(const char *name)
{
    return str_cstr(getenv(name));
}

static void load_netrc(struct secrets *s)
{
    struct err ignored = {0};
    struct str path = env("NETRC"), text;

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
    struct str dir = env("GH_CONFIG_DIR");

    if (dir.n)
        return dir;
    dir = env("XDG_CONFIG_HOME");
    if (dir.n && dir.p[0] == '/')
        return fs_join(dir, STR("gh"), &s->arena);
    if (s->settings->home.n)
        return fs_join(s->settings->home, STR(".config/gh"), &s->arena);
    return str_make("", 0);
}

static void load_gh(struct secrets *s)
{
    struct err ignored = {0};
    struct str dir = gh_folder(s), text;
    const struct yaml *file = NULL;
    struct yaml_options options = {.max_bytes = GH_MAX_BYTES};

    if (dir.n == 0 || dir.p[0] != '/' ||
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

void secrets_first(const struct secrets *s, const struct url *u,
                   struct secret *out)
{
    const struct git_host *g;

    *out = (struct secret){0};
    if (!may_send(u))
        return;
    if (u->user.n || u->password.n) {
        *out = (struct secret){u->user, u->password,
                               "the password in the git configuration's "
                               "url.*.insteadOf"};
        return;
    }
    g = settings_git_host(s->settings, u->host);
    for (size_t i = 0; g && i < GIT_HOST_MAX_TOKENS; i++) {
        const struct git_host_token *t = &g->tokens[i];

        if (!git_host_takes(g, t, u->host) || env(t->variable).n == 0)
            continue;
        *out = (struct secret){str_cstr(g->user), env(t->variable), t->source};
        return;
    }
}

const char *secrets_variable(const struct secrets *s, const struct url *u)
{
    const struct git_host *g = settings_git_host(s->settings, u->host);

    return g ? git_host_variable(g, u->host)
             : git_host_variable(&git_hosts[0],
                                 str_cstr(git_hosts[0].homes[0]));
}

const char *secrets_login(const struct secrets *s, const struct url *u)
{
    const struct git_host *g = settings_git_host(s->settings, u->host);

    return g && g->has_gh ? "gh auth login" : NULL;
}

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
                      const struct url *u, struct arena *a, struct secret *out,
                      struct err *e)
{
    struct str path = u->path, user, password;
    bool found;

    while (path.n && path.p[0] == '/')
        path = str_from_index(path, 1);
    if (!link_find_credential(l, from, u->scheme,
                              from == CREDENTIAL_GH ? u->host
                                                    : url_host_port(u, a),
                              path, a, &found, &user, &password, e))
        return false;
    if (found)
        *out = (struct secret){user, password,
                               from == CREDENTIAL_GH
                                   ? "the token from gh"
                                   : "the password from git's credential "
                                     "helper"};
    return true;
}

bool secrets_next(const struct secrets *s, struct link *l, const struct url *u,
                  unsigned *tried, struct arena *a, struct secret *out,
                  struct err *e)
{
    const struct git_host *g = settings_git_host(s->settings, u->host);
    bool ok = true;

    *out = (struct secret){0};
    if (!may_send(u))
        return true;
    while (ok && out->source == NULL && *tried < PLACE_COUNT) {
        switch ((enum place)(*tried)++) {
        case PLACE_NETRC:
            from_netrc(s, u, out);
            break;
        case PLACE_GH_FILE:
            if (g && g->has_gh)
                from_gh_file(s, u, g->user, out);
            break;
        case PLACE_GH:
            if (g && g->has_gh)
                ok = from_mapm(l, CREDENTIAL_GH, u, a, out, e);
            break;
        case PLACE_HELPER:
            ok = from_mapm(l, CREDENTIAL_HELPER, u, a, out, e);
            break;
        default:
            break;
        }
    }
    return ok;
}
