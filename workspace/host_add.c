#include "mapm/host_add.h"

#include "base/json.h"
#include "base/proc.h"
#include "mapm/authorize.h"
#include "mapm/fetch.h"

#define PROBE_MAX_BYTES (64u * 1024)
#define PROBE_MAX_MS    10000

/* --- what a host runs -------------------------------------------------------- */

/* Returns true if the response is a JSON object with the member that this kind
 * of host returns. */
static bool answers_as(const struct git_host_probe *p,
                       const struct fetch_reply *reply, struct arena *a)
{
    struct json_options options = {.max_bytes = PROBE_MAX_BYTES};
    const struct json *root, *member;
    struct err ignored = {0};

    if (reply->status != p->status)
        return false;
    if (!json_parse(reply->body, &options, a, &root, NULL, &ignored) ||
        root->kind != JSON_OBJECT)
        return false;
    member = json_get(root, p->member);
    return member && (!p->value || (member->kind == JSON_STRING &&
                                    str_is(member->text, p->value)));
}

/* Errors: the host does not respond at all. */
static bool probe(struct str host, unsigned port, const struct git_host *g,
                  struct arena *a, bool *is_it, struct err *e)
{
    static const struct str headers[] = {STR_INIT("Accept: application/json")};
    struct str at =
        port ? arena_printf(a, "%.*s:%u", STR_ARG(host), port) : host;
    struct fetch_post in = {
        .is_get = true,
        .url = arena_printf(a, "https://%.*s%s", STR_ARG(at), g->probe.path),
        .headers = headers,
        .header_count = 1,
        .max_bytes = PROBE_MAX_BYTES,
        .deadline_ms = proc_now_ms() + PROBE_MAX_MS};
    struct fetch_reply reply;

    *is_it = false;
    if (!fetch_post(&in, a, &reply, e)) {
        if (e->code != ERR_LIMIT) /* a web page */
            return false;
        err_clear(e);
        return true;
    }
    *is_it = answers_as(&g->probe, &reply, a);
    return true;
}

/* Sets `*kind` to NULL if it cannot be determined, or if requests are not
 * allowed. `port` 0 means 443. Errors: the host does not respond. */
static bool probe_host(struct context *cx, struct str host, unsigned port,
                       const struct git_host **kind, struct err *e)
{
    struct arena *a = &cx->arena;
    struct origin_rules rules;
    struct limits limits;
    struct project user;
    bool is_it = false;

    *kind = NULL;
    if (!authorize_config_read(cx, &user, &limits, &rules, e))
        return false;
    if (cx->is_offline || user.store.only)
        return true;
    for (size_t i = 0; i < git_host_count; i++) {
        if (!git_hosts[i].probe.path)
            continue;
        if (!probe(host, port, &git_hosts[i], a, &is_it, e))
            return err_wrap(e, "cannot find out what %.*s is", STR_ARG(host));
        if (is_it) {
            *kind = &git_hosts[i];
            return true;
        }
    }
    return true;
}

bool host_identify(struct context *cx, struct host_config *h, struct err *e)
{
    unsigned port = h->port_count ? h->ports[0] : 0;
    struct str kinds = git_host_kinds(", ", &cx->arena);

    if (h->kind)
        return true;
    if (h->port && h->transport == HOST_OVER_HTTPS)
        port = h->port;
    if (!probe_host(cx, h->host, port, &h->kind, e))
        return err_hint(e, "say what it is with --kind, one of %.*s",
                        STR_ARG(kinds));
    if (h->kind)
        return true;
    err_set(e, ERR_NOT_FOUND, "it cannot be told what %.*s runs",
            STR_ARG(h->host));
    return err_hint(e, "say it with --kind, one of %.*s", STR_ARG(kinds));
}

/* --- config.yaml -------------------------------------------------------------- */

struct change {
    struct str host;
    const struct host_config *want;
};

static bool change_text(void *ctx, struct str text, struct arena *a,
                        struct str *out, struct err *e)
{
    const struct change *c = ctx;

    return project_set_host(text, c->host, c->want, a, out, e);
}

bool host_write(struct context *cx, struct str host,
                const struct host_config *want, struct err *e)
{
    struct change c = {host, want};

    return authorize_config_edit(cx, change_text, &c, e);
}

/* --- a host that a person typed ----------------------------------------------- */

/* Returns true for text that could name a host which is not built in. */
static bool may_name_host(struct str text)
{
    return str_has_char(text, ':');
}

/* Returns the path of "https://host/a/b" and "git@host:a/b". */
static struct str path_of(struct str text)
{
    size_t scheme = str_find(text, STR("://"));

    if (scheme == SIZE_MAX)
        return str_from_index(text, str_find_char(text, ':') + 1);
    text = str_from_index(text, scheme + 3);
    scheme = str_find_char(text, '/');
    return scheme == SIZE_MAX ? STR("") : str_from_index(text, scheme + 1);
}

static bool refuse(const struct origin *o, struct host_config *h, bool is_known,
                   struct str path, struct arena *a, struct err *e)
{
    if (!h->kind)
        h->kind = host_kind_by_shape(o->host, path);
    if (!h->kind)
        h->kind = &git_hosts[git_host_count - 1];
    err_set(e, ERR_ORIGIN,
            "%.*s is not a host that mapm may ask: it is neither built in nor "
            "in your own configuration",
            STR_ARG(origin_authority(o, a)));
    return err_hint(e,
                    "if you trust it: %.*s, or these lines in "
                    "your own ~/.config/mapm/config.yaml:\n"
                    "hosts:\n  - %.*s",
                    STR_ARG(host_config_command(h, is_known, a)),
                    STR_ARG(host_config_item(h, a)));
}

static bool prompt_known_kind(struct context *cx, const struct origin *o,
                              const struct host_config *h, bool *yes,
                              struct err *e)
{
    struct str question = arena_printf(
        &cx->arena,
        "%.*s is new, and looks like %s. Let packages come from there, from "
        "now on (%.*s)?",
        STR_ARG(origin_authority(o, &cx->arena)), h->kind->title,
        STR_ARG(authorize_config_path(cx)));

    return context_confirm(cx, QUESTION_TRUST, question.p, yes, e);
}

/* Asks the user for the kind if it cannot be determined. */
static bool prompt_kind(struct context *cx, struct host_config *h, bool *yes,
                        struct err *e)
{
    const char **choices =
        arena_array(&cx->arena, git_host_count + 1, sizeof *choices);
    struct str question =
        arena_printf(&cx->arena, "%.*s is new: what is it?", STR_ARG(h->host));
    size_t chosen;

    for (size_t i = 0; i < git_host_count; i++)
        choices[i] = git_hosts[i].names[0];
    choices[git_host_count] = "none of these";
    if (!context_choose(cx, question.p, choices, git_host_count + 1, 0, &chosen,
                        e))
        return false;
    *yes = chosen < git_host_count;
    if (*yes)
        h->kind = &git_hosts[chosen];
    return true;
}

/* Determines the kind by the form of the URL, else by the host's response. */
static bool find_kind(struct context *cx, const struct origin *o,
                      struct str path, const struct git_host **kind,
                      struct err *e)
{
    *kind = host_kind_by_shape(o->host, path);
    if (*kind || o->transport == HOST_OVER_SSH)
        return true;
    if (probe_host(cx, o->host, o->port, kind, e))
        return true;
    if (e->code == ERR_INTERRUPTED)
        return false;
    err_clear(e); /* the user is asked, and may know the kind */
    return true;
}

static bool ask(struct context *cx, const struct origin *o, struct str path,
                struct host_config *h, bool is_known, struct err *e)
{
    bool yes = false;

    if (!h->kind && !find_kind(cx, o, path, &h->kind, e))
        return false;
    if (h->kind ? !prompt_known_kind(cx, o, h, &yes, e)
                : !prompt_kind(cx, h, &yes, e))
        return false;
    if (!yes)
        return refuse(o, h, is_known, path, &cx->arena, e);
    return host_write(cx, h->host, h, e);
}

/* Returns true for a mistake such as "www.github.com", which is reported when
 * the origin is read. */
static bool is_slip(struct str host)
{
    return str_starts(host, STR("www.")) &&
           git_host_built_in(str_from_index(host, 4));
}

bool host_admit(struct context *cx, struct str text, struct err *e)
{
    struct origin_rules rules;
    struct host_config h = {0};
    const struct host_config *known;
    struct project user;
    struct limits limits;
    struct err ignored = {0};
    struct str path;
    struct origin o;
    bool is_known;

    if (!may_name_host(text))
        return true;
    if (!authorize_config_read(cx, &user, &limits, &rules, e))
        return false;
    rules.any_host = true;
    if (!origin_parse_argument(text, cx->cwd, cx->home, &rules, &cx->arena, &o,
                               &ignored) ||
        o.scheme != ORIGIN_GIT || origin_host_is_known(&o, &rules) ||
        !host_name_is_valid(o.host) || is_slip(o.host))
        return true; /* reported where the origin is used */
    path = path_of(text);
    known = host_config_find(o.host, rules.hosts, rules.host_count);
    h = known ? *known
              : (struct host_config){.host = o.host,
                                     .kind = git_host_built_in(o.host)};
    is_known = known || git_host_built_in(o.host);
    host_config_allow(&h, o.transport, o.port);
    if (context_can_ask(cx))
        return ask(cx, &o, path, &h, is_known, e);
    return refuse(&o, &h, is_known, path, &cx->arena, e);
}
