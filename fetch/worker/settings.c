#include "settings.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../ssh_address.h"

#define ORIGIN_URL_BYTES  4096u /* an exact host outranks any path */
#define CONFIG_MAX_VALUES 1000  /* limit for GIT_CONFIG_COUNT */
#define HEADER_MAX_BYTES  8192

/* http.<pattern>.<key> = value */
struct settings_rule {
    bool for_all; /* without a pattern */
    struct url pattern;
    struct str key, value;
    struct str ca;  /* sslcainfo: content of the file */
    bool is_broken; /* sslcainfo: the file could not be read */
};

static const char *const rule_keys[] = {"proxy", "sslcainfo", "sslcapath",
                                        "extraheader"};

static bool is_false(struct str v)
{
    return str_eq_nocase(v, STR("false")) || str_eq_nocase(v, STR("no")) ||
           str_eq_nocase(v, STR("off")) || str_is(v, "0");
}

static struct str expand_home(struct settings *s, struct str path)
{
    if (s->home.n && str_starts(path, STR("~/")))
        return fs_join(s->home, str_from_index(path, 2), &s->arena);
    return path;
}

static void add_rewrite(struct settings *s, struct str to, struct str from)
{
    if (from.n == 0)
        return;
    s->rewrites = arena_grow(&s->arena, s->rewrites, s->rewrite_count,
                             &s->rewrite_capacity, sizeof *s->rewrites);
    s->rewrites[s->rewrite_count++] = (struct rewrite){from, to};
}

/* Reads a file only once, since several variables often name the same file. */
static void read_ca(struct settings *s, struct settings_rule *r)
{
    struct err ignored = {0};
    struct str path = expand_home(s, r->value);

    for (size_t i = 0; i < s->rule_count; i++)
        if (s->rules[i].ca.n && str_eq(s->rules[i].value, r->value)) {
            r->ca = s->rules[i].ca;
            return;
        }

    r->is_broken =
        path.n && !fs_read_user_file(str_dup0(path, &s->arena), CA_MAX_BYTES,
                                     &s->arena, &r->ca, &ignored);
}

/* libcurl rejects "*" in a host, so it is replaced while parsing. */
static bool parse_pattern(struct str text, struct arena *a, struct url *out)
{
    size_t at = str_find(text, STR("://*."));
    char *copy, *host;

    if (at == SIZE_MAX)
        return url_parse(text, a, out);
    copy = arena_text(a, text.p, text.n);
    copy[at + 3] = 'x';
    if (!url_parse(str_make(copy, text.n), a, out))
        return false;
    host = arena_text(a, out->host.p, out->host.n);
    host[0] = '*';
    out->host.p = host;
    return true;
}

static void add_rule(struct settings *s, struct str pattern, struct str key,
                     struct str value)
{
    struct settings_rule r = {.key = key, .value = value};

    r.for_all = pattern.p == NULL;
    if (!r.for_all && !parse_pattern(pattern, &s->arena, &r.pattern))
        return;
    if (str_is(key, "sslcainfo") || str_ends(key, STR("-ca")))
        read_ca(s, &r);
    if (str_is(key, "sslcapath"))
        r.value = expand_home(s, value);
    s->rules = arena_grow(&s->arena, s->rules, s->rule_count, &s->rule_capacity,
                          sizeof *s->rules);
    s->rules[s->rule_count++] = r;
}

/* Handles one value: `name` is "section.subsection.key". */
static void take_value(struct settings *s, struct str name, struct str value)
{
    size_t dot = str_find_char(name, '.'), last = str_find_last(name, '.');
    struct str section, key, sub = {NULL, 0};

    if (dot == SIZE_MAX)
        return;
    section = str_lower(str_slice(name, 0, dot), &s->arena);
    key = str_lower(str_from_index(name, last + 1), &s->arena);
    if (last > dot)
        sub = arena_str(&s->arena, str_slice(name, dot + 1, last));
    value = arena_str(&s->arena, value);
    if (str_is(section, "url") && str_is(key, "insteadof") && sub.p)
        add_rewrite(s, sub, value);
    /* The last value applies; an empty one resets it. */
    if (str_is(section, "core") && str_is(key, "sshcommand") && !sub.p)
        s->ssh_command = value;
    if (str_is(section, "ssh") && str_is(key, "variant") && !sub.p)
        s->ssh_variant = value;
    if (!str_is(section, "http"))
        return;
    if (str_is(key, "sslverify") && is_false(value))
        s->wants_no_verify = true;
    if (STR_IS_ONE_OF(key, rule_keys))
        add_rule(s, sub, key, value);
}

static void config_done(git_config **c)
{
    git_config_free(*c);
}

static void iterator_done(git_config_iterator **i)
{
    git_config_iterator_free(*i);
}

static bool load_file(struct settings *s, struct str path, struct err *e)
{
    CLEANUP(config_done) git_config *config = NULL;
    CLEANUP(iterator_done) git_config_iterator *it = NULL;
    git_config_entry *entry;
    const char *name = str_dup0(path, &s->arena);

    if (path.n == 0 || access(name, R_OK) < 0)
        return true;
    if (git_config_new(&config) < 0 ||
        git_config_add_file_ondisk(config, name, GIT_CONFIG_LEVEL_APP, NULL,
                                   0) < 0 ||
        git_config_iterator_new(&it, config) < 0) {
        const git_error *why = git_error_last();

        return err_set(e, ERR_FORMAT, "%s: %s", name,
                       why && why->message ? why->message : "unreadable");
    }
    while (git_config_next(&entry, it) == 0)
        take_value(s, str_cstr(entry->name), str_cstr(entry->value));
    return true;
}

static bool is_true(struct str v)
{
    return v.n && !is_false(v);
}

/* As in git, an empty GIT_CONFIG_GLOBAL means no file. */
static bool load_files(struct settings *s, struct err *e)
{
    struct str system = env_is_set("GIT_CONFIG_SYSTEM")
                            ? env_get("GIT_CONFIG_SYSTEM")
                            : STR("/etc/gitconfig");
    struct str folder = env_config_folder(s->home, &s->arena);

    if (!is_true(env_get("GIT_CONFIG_NOSYSTEM")) && !load_file(s, system, e))
        return false;
    if (env_is_set("GIT_CONFIG_GLOBAL"))
        return load_file(s, env_get("GIT_CONFIG_GLOBAL"), e);
    if (folder.n &&
        !load_file(s, fs_join(folder, STR("git/config"), &s->arena), e))
        return false;
    return s->home.n == 0 ||
           load_file(s, fs_join(s->home, STR(".gitconfig"), &s->arena), e);
}

static bool load_environment(struct settings *s, struct err *e)
{
    struct str count_text = env_get("GIT_CONFIG_COUNT");
    uint64_t count = 0;

    if (count_text.n && !str_number(count_text, CONFIG_MAX_VALUES, &count))
        return err_set(e, ERR_FORMAT, "GIT_CONFIG_COUNT is no number");
    for (unsigned i = 0; i < count; i++) {
        char key[40], value[40];

        snprintf(key, sizeof key, "GIT_CONFIG_KEY_%u", i);
        snprintf(value, sizeof value, "GIT_CONFIG_VALUE_%u", i);
        if (!env_is_set(key) || !env_is_set(value))
            return err_set(e, ERR_FORMAT, "%s or %s is missing", key, value);
        take_value(s, env_get(key), env_get(value));
    }
    return true;
}

static void add_host(struct settings *s, const struct host_config *h)
{
    s->hosts = arena_grow(&s->arena, s->hosts, s->host_count, &s->host_capacity,
                          sizeof *s->hosts);
    s->hosts[s->host_count++] = *h;
}

static void add_hosts(struct settings *s, struct str list)
{
    struct host_config h = {.kind = &git_hosts[0]};
    size_t from = 0;

    for (size_t i = 0; i <= list.n; i++) {
        if (i < list.n && list.p[i] != ',' && list.p[i] != ' ')
            continue;
        h.host = str_lower(str_slice(list, from, i), &s->arena);
        if (h.host.n)
            add_host(s, &h);
        from = i + 1;
    }
}

/* A bundle in the environment becomes a rule without a pattern. GIT_SSL_CAINFO
 * takes precedence over the configuration; the other two are defaults. */
static void add_ca(struct settings *s, const char *name, bool first)
{
    if (env_get(name).n)
        add_rule(s, str_make(NULL, 0),
                 first ? STR("env-ca") : STR("default-ca"), env_get(name));
}

static void add_env_ca(struct settings *s)
{
    add_ca(s, "CURL_CA_BUNDLE", false);
    add_ca(s, "SSL_CERT_FILE", false);
    add_ca(s, "GIT_SSL_CAINFO", true);
    if (env_get("GIT_SSL_CAPATH").n)
        add_rule(s, str_make(NULL, 0), STR("env-capath"),
                 env_get("GIT_SSL_CAPATH"));
    else if (env_get("SSL_CERT_DIR").n)
        add_rule(s, str_make(NULL, 0), STR("default-capath"),
                 env_get("SSL_CERT_DIR"));
}

bool settings_load(struct settings *s, const struct host_config *hosts,
                   size_t host_count, struct err *e)
{
    *s = (struct settings){0};
    s->system_ca = arena_new(&s->arena, struct system_ca);
    s->home = env_folder("HOME");
    for (size_t i = 0; i < host_count; i++)
        add_host(s, &hosts[i]);
    add_hosts(s, env_get(git_hosts[0].hosts_variable));
    if (!load_files(s, e) || !load_environment(s, e))
        return err_wrap(e, "cannot read the git configuration");
    s->wants_no_verify |= is_true(env_get("GIT_SSL_NO_VERIFY"));
    add_env_ca(s);
    return true;
}

void settings_done(struct settings *s)
{
    arena_done(&s->arena);
}

static bool refuse_scheme(struct str url, struct str to, struct arena *a,
                          struct err *e)
{
    size_t colon = str_find(to, STR("://"));
    const char *way = colon == SIZE_MAX ? "a local path"
                                        : str_dup0(str_slice(to, 0, colon), a);

    err_set(e, ERR_REFUSED,
            "the git configuration (url.*.insteadOf) rewrites %.*s to %s, but "
            "packages are fetched over https or ssh only",
            STR_ARG(url), way);
    return err_hint(e,
                    "a longer insteadOf wins: git config --global "
                    "url.\"%.*s\".insteadOf \"%.*s\"",
                    STR_ARG(url), STR_ARG(url));
}

/* Converts an ssh address to a struct url. Its path may be relative. */
static bool take_ssh(struct str to, struct arena *a, struct url *out,
                     struct err *e)
{
    struct ssh_address ssh;

    if (!ssh_address_parse(to, a, &ssh, e))
        return false;
    *out = (struct url){.scheme = STR(SSH_SCHEME),
                        .user = ssh.user,
                        .password = STR(""),
                        .host = ssh.host,
                        .port = ssh.port,
                        .path = ssh.path};
    return true;
}

bool settings_rewrite(const struct settings *s, struct str url, struct arena *a,
                      struct url *out, struct err *e)
{
    struct rewrites rewrites = {s->rewrites, s->rewrite_count};
    struct str to = rewrite_url(&rewrites, url, a);

    if (ssh_address_is_meant(to))
        return take_ssh(to, a, out, e) ||
               err_wrap(e, "no ssh to %.*s", STR_ARG(url));
    if (!url_parse(to, a, out) ||
        (!str_is(out->scheme, "https") && !str_is(out->scheme, "http")))
        return refuse_scheme(url, to, a, e);
    return true;
}

const struct git_host *settings_git_host(const struct settings *s,
                                         struct str host)
{
    return git_host_find(host, s->hosts, s->host_count);
}

const struct host_config *settings_host(const struct settings *s,
                                        struct str host)
{
    return host_config_find(host, s->hosts, s->host_count);
}

/* "*.example.com" matches one label. */
static bool host_fits(struct str pattern, struct str host)
{
    size_t dot = str_find_char(host, '.');

    if (str_eq(pattern, host))
        return true;
    return str_starts(pattern, STR("*.")) && dot != SIZE_MAX &&
           str_eq(str_from_index(pattern, 1), str_from_index(host, dot));
}

static bool path_fits(struct str pattern, struct str path)
{
    if (pattern.n && pattern.p[pattern.n - 1] == '/')
        pattern.n--;
    return str_starts(path, pattern) &&
           (path.n == pattern.n || path.p[pattern.n] == '/');
}

/* Returns how well a rule matches a URL, by git's rules; 0 if not at all. */
static size_t rank(const struct settings_rule *r, const struct url *u)
{
    const struct url *p = &r->pattern;

    if (r->for_all)
        return 1;
    if (p->user.n && !str_eq(p->user, u->user))
        return 0;
    if (!str_eq(p->scheme, u->scheme) || p->port != u->port ||
        !host_fits(p->host, u->host) || !path_fits(p->path, u->path))
        return 0;
    return 2 + (str_eq(p->host, u->host) ? ORIGIN_URL_BYTES : 0) + p->path.n;
}

static const struct settings_rule *
find_rule(const struct settings *s, const struct url *u, const char *key)
{
    const struct settings_rule *best = NULL;
    size_t best_rank = 0;

    for (size_t i = 0; i < s->rule_count; i++) {
        const struct settings_rule *r = &s->rules[i];
        size_t rk = str_is(r->key, key) ? rank(r, u) : 0;

        if (rk && rk >= best_rank) {
            best = r;
            best_rank = rk;
        }
    }
    return best;
}

struct str settings_proxy(const struct settings *s, const struct url *u)
{
    const struct settings_rule *r = find_rule(s, u, "proxy");

    return r ? r->value : str_make(NULL, 0);
}

static bool is_header(struct str line)
{
    size_t colon = str_find_char(line, ':');

    return colon != SIZE_MAX && colon > 0 && line.n <= HEADER_MAX_BYTES &&
           !text_has_control(line);
}

/* An empty value discards those before it. */
const struct str *settings_headers(const struct settings *s,
                                   const struct url *u, struct arena *a,
                                   size_t *count)
{
    const struct settings_rule *best = find_rule(s, u, "extraheader");
    struct str *out = arena_array(a, s->rule_count + 1, sizeof *out);

    *count = 0;
    if (best == NULL || best->for_all)
        return out;
    for (size_t i = 0; i < s->rule_count; i++) {
        const struct settings_rule *r = &s->rules[i];

        if (!str_is(r->key, "extraheader") || rank(r, u) != rank(best, u))
            continue;
        if (r->value.n == 0)
            *count = 0;
        else if (is_header(r->value))
            out[(*count)++] = r->value;
    }
    return out;
}

static bool environment_has_proxy(const struct url *u)
{
    bool is_https = url_is_secure(u);

    return env_get("all_proxy").n || env_get("ALL_PROXY").n ||
           (is_https &&
            (env_get("https_proxy").n || env_get("HTTPS_PROXY").n)) ||
           (!is_https && env_get("http_proxy").n);
}

/* Matches that host and its subdomains, for both "example.com" and
 * ".example.com". */
static bool name_covers(struct str name, struct str host)
{
    if (name.n && name.p[name.n - 1] == '.')
        name.n--;
    if (name.n && name.p[0] == '.')
        name = str_from_index(name, 1);
    if (name.n == 0 || name.n > host.n ||
        !str_eq_nocase(name, str_from_index(host, host.n - name.n)))
        return false;
    return name.n == host.n || host.p[host.n - name.n - 1] == '.';
}

/* Parses no_proxy as libcurl does. */
static bool is_exempt(struct str host)
{
    struct str list = env_get(env_is_set("no_proxy") ? "no_proxy" : "NO_PROXY");
    struct str one;

    if (str_is(list, "*"))
        return true;
    for (size_t i = 0; i < list.n; i += one.n + 1) {
        size_t end = i;

        while (end < list.n && list.p[end] != ',' && list.p[end] != ' ')
            end++;
        one = str_slice(list, i, end);
        if (name_covers(one, host))
            return true;
    }
    return false;
}

bool settings_may_use_proxy(const struct settings *s, const struct url *u)
{
    struct str own = settings_proxy(s, u);

    if (own.p ? own.n == 0 : !environment_has_proxy(u))
        return false;
    return !is_exempt(u->host);
}

/* Returns the rule of the first of three keys that is set. */
static const struct settings_rule *find_first(const struct settings *s,
                                              const struct url *u,
                                              const char *const keys[3])
{
    const struct settings_rule *r = NULL;

    for (size_t i = 0; i < 3 && r == NULL; i++)
        r = find_rule(s, u, keys[i]);
    return r;
}

bool settings_ca(const struct settings *s, const struct url *u,
                 struct settings_ca *out, struct err *e)
{
    static const char *const files[] = {"env-ca", "sslcainfo", "default-ca"};
    static const char *const folders[] = {"env-capath", "sslcapath",
                                          "default-capath"};
    const struct settings_rule *file = find_first(s, u, files);
    const struct settings_rule *folder = find_first(s, u, folders);

    if (file && file->is_broken) {
        err_set(e, ERR_TLS, "cannot read the certificates in %.*s",
                STR_ARG(file->value));
        return err_hint(e, "it is named by http.sslCAInfo, GIT_SSL_CAINFO, "
                           "SSL_CERT_FILE or CURL_CA_BUNDLE");
    }
    out->bundle = file ? file->ca : str_make("", 0);
    out->folder = folder ? folder->value : str_make("", 0);
    return true;
}

void settings_hosts(const struct settings *s, struct arena *a,
                    const struct str **hosts, size_t *count)
{
    struct str *out =
        arena_array(a, s->rewrite_count + s->host_count, sizeof *out);
    size_t n = 0;

    for (size_t i = 0; i < s->rewrite_count; i++) {
        struct url u;

        if (url_parse(s->rewrites[i].to, a, &u) && u.host.n)
            out[n++] = url_host_port(&u, a);
    }
    for (size_t i = 0; i < s->host_count; i++)
        out[n++] = s->hosts[i].host;
    *hosts = out;
    *count = n;
}

const char *const *settings_ca_folders(const struct settings *s,
                                       struct arena *a, size_t *count)
{
    const char **out = arena_array(a, s->rule_count + 1, sizeof *out);

    *count = 0;
    for (size_t i = 0; i < s->rule_count; i++)
        if (str_ends(s->rules[i].key, STR("capath")) &&
            str_starts(s->rules[i].value, STR("/")))
            out[(*count)++] = str_dup0(s->rules[i].value, a);
    return out;
}
