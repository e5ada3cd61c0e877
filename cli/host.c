#include "base/text.h"
#include "mapm/authorize.h"
#include "mapm/host_add.h"

#include <string.h>

#include "command.h"

/* mapm host: add, set, list and remove the git hosts that may be contacted.
 * They are stored in the user's config.yaml, which is edited as text; no file
 * of a workspace can add one. [H1, row 47, row 54] */

#define DEFAULT STR("default") /* on the command line: removes the key */

struct job {
    struct invocation *inv;
    struct project user;
    struct origin_rules rules;
    struct str host; /* lower case */
    struct host_config want;
};

/* --- list --------------------------------------------------------------------- */

static struct str token_of(const struct host_config *h, struct arena *a)
{
    return h ? host_token_text(h, a) : STR("");
}

static void put_host(struct json_writer *w, struct str host,
                     const struct git_host *kind, const struct host_config *h,
                     struct arena *a)
{
    json_begin_object(w);
    json_member_string(w, "host", host);
    json_member_string(w, "kind", git_host_kind_name(kind));
    json_member_bool(w, "built_in", git_host_find(host, NULL, 0) || !h);
    json_member_bool(w, "configured", h != NULL);
    json_member_string(w, "transport",
                       h && h->transport == HOST_OVER_SSH ? STR("ssh")
                                                          : STR("https"));
    if (h && h->port)
        json_member_number(w, "port", h->port);
    if (h && h->port_count) {
        json_member_array(w, "ports");
        for (size_t i = 0; i < h->port_count; i++)
            json_number(w, h->ports[i]);
        json_end_array(w);
    }
    json_member_optional(w, "token", token_of(h, a));
    json_end_object(w);
}

static void print_host(struct term *t, struct str host,
                       const struct git_host *kind, const struct host_config *h,
                       struct arena *a)
{
    struct str token = token_of(h, a);

    term_print(t, "%.*s  %.*s", STR_ARG(host),
               STR_ARG(git_host_kind_name(kind)));
    if (!h)
        term_print(t, "  built in");
    if (h && h->transport == HOST_OVER_SSH)
        term_print(t, "  over ssh");
    if (h && h->port)
        term_print(t, "  port %u", h->port);
    for (size_t i = 0; h && i < h->port_count; i++)
        term_print(t, "%s%u", i ? ", " : "  also port ", h->ports[i]);
    if (token.n)
        term_print(t, "  token: %.*s", STR_ARG(token));
    term_print(t, "\n");
}

/* Lists configured hosts (config.yaml, environment), then the other built-in
 * ones. */
static void list_hosts(struct job *job, struct json_writer *w)
{
    struct invocation *inv = job->inv;
    struct arena *a = &inv->cx.arena;
    struct str home;

    for (size_t i = 0; i < job->rules.host_count; i++) {
        const struct host_config *h = &job->rules.hosts[i];

        if (w)
            put_host(w, h->host, h->kind, h, a);
        else
            print_host(&inv->term, h->host, h->kind, h, a);
    }
    for (size_t i = 0; i < git_host_count; i++)
        for (size_t k = 0; git_host_home(&git_hosts[i], k, &home); k++) {
            if (host_config_find(home, job->rules.hosts, job->rules.host_count))
                continue;
            if (w)
                put_host(w, home, &git_hosts[i], NULL, a);
            else
                print_host(&inv->term, home, &git_hosts[i], NULL, a);
        }
}

static bool list(struct job *job, struct err *e)
{
    struct json_writer *w = NULL;

    (void)e;
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.host/1", "list");
        json_member_array(w, "hosts");
    }
    list_hosts(job, w);
    if (w) {
        json_end_array(w);
        print_json_end(job->inv);
    }
    return true;
}

/* --- options --------------------------------------------------------------------- */

static bool fail_option(const char *name, struct str value, const char *want,
                        struct err *e)
{
    return err_set(e, ERR_USAGE, "--%s: \"%.*s\" is not %s", name,
                   STR_ARG(text_cut(value, 80)), want);
}

static bool take_token(struct job *job, struct err *e)
{
    struct str value = option_value(job->inv, OPTION_HOST_TOKEN);

    if (!value.p)
        return true;
    if (str_eq(value, DEFAULT)) {
        job->want.token = HOST_TOKEN_USUAL;
        job->want.variable = STR("");
        return true;
    }
    if (host_token_parse(value, &job->want.token, &job->want.variable))
        return true;
    /* The value is not quoted, since it may be the token itself. */
    err_set(e, ERR_USAGE, "--token is env:NAME, git, none or default");
    return err_hint(e, "put the token into a variable of the environment, and "
                       "name that: --token env:NAME");
}

static bool take_port(struct job *job, struct err *e)
{
    struct str value = option_value(job->inv, OPTION_HOST_PORT);

    if (!value.p)
        return true;
    job->want.port = 0;
    return str_eq(value, DEFAULT) || host_port_parse(value, &job->want.port) ||
           fail_option("port", value, "a number from 1 to 65535, or default",
                       e);
}

static bool take_ports(struct job *job, struct err *e)
{
    struct str value = option_value(job->inv, OPTION_HOST_PORTS), word;
    struct host_config *h = &job->want;

    if (!value.p)
        return true;
    h->port_count = 0;
    if (str_eq(value, DEFAULT))
        return true;
    while (str_cut(&value, ',', &word)) {
        if (h->port_count == HOST_MAX_PORTS)
            return err_set(e, ERR_LIMIT, "more than %d ports", HOST_MAX_PORTS);
        if (!host_port_parse(word, &h->ports[h->port_count++]))
            return fail_option("ports", word,
                               "a number from 1 to 65535, or default", e);
    }
    return true;
}

static bool take_kind(struct job *job, struct err *e)
{
    const struct git_host *built_in = git_host_find(job->host, NULL, 0);
    struct str value = option_value(job->inv, OPTION_HOST_KIND);

    if (value.p)
        job->want.kind = git_host_of_kind(value);
    if (!built_in)
        return true;
    if (value.p && job->want.kind != built_in)
        return err_set(e, ERR_USAGE, "%.*s is of kind %.*s", STR_ARG(job->host),
                       STR_ARG(git_host_kind_name(built_in)));
    job->want.kind = built_in;
    return true;
}

static bool take_options(struct job *job, struct err *e)
{
    struct str transport = option_value(job->inv, OPTION_HOST_TRANSPORT);

    if (transport.p && !host_transport_parse(transport, &job->want.transport))
        return fail_option("transport", transport, "https or ssh", e);
    return take_kind(job, e) && take_port(job, e) && take_ports(job, e) &&
           take_token(job, e);
}

static bool has_any_option(const struct invocation *inv)
{
    static const enum option_id ids[] = {
        OPTION_HOST_KIND,  OPTION_HOST_TRANSPORT, OPTION_HOST_PORT,
        OPTION_HOST_PORTS, OPTION_HOST_TOKEN,
    };

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (has_option(inv, ids[i]))
            return true;
    return false;
}

/* --- add, set, remove -------------------------------------------------------------- */

static void print_change(struct job *job, const char *word, const char *past)
{
    struct invocation *inv = job->inv;
    const struct host_config *h = &job->want;
    struct json_writer *w;

    if (!has_option(inv, OPTION_JSON)) {
        term_note(&inv->term, "%s %.*s in %.*s", past, STR_ARG(job->host),
                  STR_ARG(authorize_config_path(&inv->cx)));
        if (h->kind)
            print_host(&inv->term, job->host, h->kind, h, &inv->cx.arena);
        return;
    }
    w = print_json_begin(inv, "mapm.host/1", word);
    json_member_array(w, "hosts");
    if (h->kind)
        put_host(w, job->host, h->kind, h, &inv->cx.arena);
    else
        json_string(w, job->host);
    json_end_array(w);
    print_json_end(inv);
}

static bool add(struct job *job, struct err *e)
{
    const struct host_config *old =
        host_config_find(job->host, job->user.hosts, job->user.host_count);

    if (old || git_host_find(job->host, NULL, 0)) {
        err_set(e, ERR_CONFLICT, "%.*s is %s already", STR_ARG(job->host),
                old ? "configured" : "built in");
        return err_hint(e, "to change it: mapm host set %.*s",
                        STR_ARG(job->host));
    }
    if (!take_options(job, e) || !host_identify(&job->inv->cx, &job->want, e) ||
        !host_write(&job->inv->cx, job->host, &job->want, e))
        return false;
    print_change(job, "add", "added");
    return true;
}

static bool set(struct job *job, struct err *e)
{
    const struct host_config *old =
        host_config_find(job->host, job->user.hosts, job->user.host_count);

    if (!old && !git_host_find(job->host, NULL, 0)) {
        err_set(e, ERR_NOT_FOUND, "%.*s is not configured", STR_ARG(job->host));
        return err_hint(e, "mapm host add %.*s", STR_ARG(job->host));
    }
    if (!has_any_option(job->inv)) {
        err_set(e, ERR_USAGE, "host set: nothing to set");
        return err_hint(e, "give --kind, --transport, --port, --ports or "
                           "--token");
    }
    if (old)
        job->want = *old;
    if (!take_options(job, e) ||
        !host_write(&job->inv->cx, job->host, &job->want, e))
        return false;
    print_change(job, "set", "changed");
    return true;
}

static bool take_out(struct job *job, struct err *e)
{
    if (!host_config_find(job->host, job->user.hosts, job->user.host_count)) {
        err_set(e, ERR_NOT_FOUND, "%.*s is not in %.*s", STR_ARG(job->host),
                STR_ARG(authorize_config_path(&job->inv->cx)));
        return err_hint(e, "mapm host list");
    }
    job->want.kind = NULL;
    if (!host_write(&job->inv->cx, job->host, NULL, e))
        return false;
    print_change(job, "remove", "removed");
    return true;
}

/* --- the command ---------------------------------------------------------------------- */

static bool take_host(struct job *job, struct err *e)
{
    struct str text = job->inv->arguments.items[1];

    job->host = str_lower(text, &job->inv->cx.arena);
    job->want.host = job->host;
    if (host_name_is_valid(job->host))
        return true;
    err_set(e, ERR_USAGE, "\"%.*s\" is not the name of a host",
            STR_ARG(text_cut(text, 80)));
    return err_hint(e, "write it as git.example.com, with its domain, and "
                       "without https:// and path; ports are given with "
                       "--ports");
}

/* In the order of the operations. */
static bool (*const functions[])(struct job *job,
                                 struct err *e) = {add, set, list, take_out};

COMMAND(command_host)
{
    struct job job = {.inv = inv};
    struct limits limits;

    return (inv->arguments.count < 2 || take_host(&job, e)) &&
           authorize_config_read(&inv->cx, &job.user, &limits, &job.rules, e) &&
           functions[inv->word - inv->command->words](&job, e);
}
