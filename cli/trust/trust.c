#include "trust.h"

#include "base/digest.h"
#include "base/json.h"
#include "mapm/open_store.h"
#include "mapm/trusted.h"
#include "mapm/well_known.h"

#include "../command.h"

/* --- JSON ------------------------------------------------------------------------- */

void trust_put_json(struct json_writer *w, enum state_trust_kind kind,
                    struct str subject, const struct hash *digest,
                    struct arena *a)
{
    json_member_string(w, "kind", str_cstr(authorize_kind(kind)->name));
    json_member_string(w, "name", subject);
    if (digest && !hash_is_zero(digest))
        json_member_string(w, "digest", digest_format(digest, a));
}

/* --- programs by name ------------------------------------------------------------- */

struct requests {
    struct trust_request *items;
    bool *known; /* trusted already */
    size_t count;
};

static bool add_name(struct trust_job *job, const struct layer *l,
                     struct str name, struct requests *w, struct err *e)
{
    struct trust_request *q = &w->items[w->count];
    enum trust_state state;

    if (!trusted_request(&job->inv->cx, job->store, l, name, q, &state, e))
        return false;
    for (size_t i = 0; i < w->count; i++)
        if (str_eq(w->items[i].subject, q->subject) &&
            hash_eq(&w->items[i].digest, &q->digest))
            return true;
    w->known[w->count++] = state == TRUST_GIVEN;
    return true;
}

static void print_line(void *ctx, enum trust_style style, struct str line)
{
    static const enum term_style styles[] = {
        [TRUST_PLAIN] = TERM_PLAIN, [TRUST_TITLE] = TERM_BOLD,
        [TRUST_PLACE] = TERM_CYAN,  [TRUST_ADDED] = TERM_GREEN,
        [TRUST_REMOVED] = TERM_RED,
    };

    term_style_print(ctx, styles[style], "%.*s\n", STR_ARG(line));
}

static bool show_requests(struct trust_job *job, const struct requests *w,
                          size_t *fresh, struct err *e)
{
    const struct trust_output out = {print_line, &job->inv->term};

    *fresh = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->known[i]) {
            if (!job->is_json)
                term_note(&job->inv->term, "%.*s is trusted already",
                          STR_ARG(w->items[i].subject));
            continue;
        }
        ++*fresh;
        if (job->is_json && has_option(job->inv, OPTION_YES))
            continue;
        if (!authorize_show(&job->inv->cx, job->store, &w->items[i],
                            job->is_json ? NULL : &out, e))
            return false;
    }
    return term_flush(&job->inv->term, e);
}

static void report(struct trust_job *job, const struct requests *w)
{
    struct invocation *inv = job->inv;
    struct json_writer *j;

    if (!job->is_json) {
        for (size_t i = 0; i < w->count; i++)
            if (!w->known[i])
                term_note(&inv->term, "trusted %.*s",
                          STR_ARG(w->items[i].subject));
        return;
    }
    j = print_json_begin(inv, "mapm.trust/1", "trust");
    json_member_array(j, "trusted");
    for (size_t i = 0; i < w->count; i++) {
        json_begin_object(j);
        trust_put_json(j, w->items[i].kind, w->items[i].subject,
                       &w->items[i].digest, &inv->cx.arena);
        json_member_bool(j, "new", !w->known[i]);
        json_end_object(j);
    }
    json_end_array(j);
    print_json_end(inv);
}

/* Remembers those that are new, and says so. */
static bool put_requests(struct trust_job *job, const struct requests *w,
                         struct err *e)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->known[i] &&
            !authorize_put(&job->inv->cx, job->store, &w->items[i], e))
            return err_wrap(e, "cannot record that %.*s is trusted",
                            STR_ARG(w->items[i].subject));
    report(job, w);
    return true;
}

static bool trust_requested(struct trust_job *job, const struct requests *w,
                            struct err *e)
{
    size_t fresh;

    if (!show_requests(job, w, &fresh, e))
        return false;
    if (fresh &&
        !context_consent(&job->inv->cx,
                         fresh == 1 ? "Trust this program to run on this "
                                      "machine?"
                                    : "Trust these programs to run on this "
                                      "machine?",
                         e))
        return false;
    return put_requests(job, w, e);
}

static bool trust_names(struct trust_job *job, struct err *e)
{
    struct invocation *inv = job->inv;
    size_t count = inv->arguments.count;
    struct requests w = {
        .items = arena_array(&inv->cx.arena, count + 1, sizeof *w.items),
        .known = arena_array(&inv->cx.arena, count + 1, sizeof *w.known),
    };
    struct layer l;
    bool ok = true;

    if (!layer_open(&inv->cx, LAYER_READ, &l, e))
        return false;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_name(job, &l, inv->arguments.items[i], &w, e);
    layer_close(&l);
    return ok && trust_requested(job, &w, e);
}

/* --- hosts of an index --------------------------------------------------------------- */

/* "skills.example.com", "127.0.0.1:8080" */
static bool check_host(struct str host, struct err *e)
{
    struct str name;
    unsigned port;

    if (well_known_read_host(host, &name, &port))
        return true;
    err_set(e, ERR_USAGE, "\"%.*s\" is not a host", STR_ARG(host));
    return err_hint(e, "write its name, as in mapm trust --index "
                       "skills.example.com");
}

/* A person who names a host has decided: nothing is asked. */
static bool trust_hosts(struct trust_job *job, struct err *e)
{
    struct arena *a = &job->inv->cx.arena;
    const struct values *hosts = &job->inv->arguments;
    struct requests w = {
        .items = arena_array(a, hosts->count + 1, sizeof *w.items),
        .known = arena_array(a, hosts->count + 1, sizeof *w.known),
        .count = hosts->count,
    };

    for (size_t i = 0; i < w.count; i++) {
        enum trust_state state;

        w.items[i] = authorize_request_index_host(hosts->items[i], a);
        if (!check_host(w.items[i].subject, e) ||
            !authorize_trust(&job->inv->cx, job->store, &w.items[i], &state, e))
            return false;
        w.known[i] = state == TRUST_GIVEN;
    }
    return put_requests(job, &w, e);
}

/* --- the command -------------------------------------------------------------------- */

static bool usage(struct err *e, const char *why)
{
    err_set(e, ERR_USAGE, "mapm trust: %s", why);
    return err_hint(e, "mapm trust NAME..., --index HOST..., --workspace or "
                       "--list; with --revoke NAME..., --workspace or --all");
}

static bool check_usage(const struct invocation *inv, struct err *e)
{
    bool named = inv->arguments.count > 0;
    bool workspace = has_option(inv, OPTION_WORKSPACE);
    bool all = has_option(inv, OPTION_ALL_TRUST);
    bool revoke = has_option(inv, OPTION_REVOKE);

    if (has_option(inv, OPTION_LIST))
        return (!named && !workspace && !revoke && !all) ||
               usage(e, "--list takes nothing else");
    if (has_option(inv, OPTION_INDEX_HOST))
        return (named && !workspace && !revoke && !all) ||
               usage(e, "--index takes hosts, and nothing else");
    if (all && !revoke)
        return usage(e, "--all is for --revoke");
    if (named + workspace + all == 0)
        return usage(e, "nothing to trust was named");
    if (named + workspace + all > 1)
        return usage(e, "names, --workspace and --all stand alone");
    if (workspace && has_option(inv, OPTION_GLOBAL))
        return usage(e, "the library of the user is not a workspace");
    return true;
}

static bool work(struct trust_job *job, struct err *e)
{
    if (has_option(job->inv, OPTION_LIST))
        return trust_list(job, e);
    if (has_option(job->inv, OPTION_REVOKE))
        return trust_revoke(job, e);
    if (has_option(job->inv, OPTION_WORKSPACE))
        return trust_workspace(job, e);
    if (has_option(job->inv, OPTION_INDEX_HOST))
        return trust_hosts(job, e);
    return trust_names(job, e);
}

COMMAND(command_trust)
{
    struct trust_job job = {.inv = inv,
                            .is_json = has_option(inv, OPTION_JSON)};
    bool ok;

    if (!check_usage(inv, e) || !open_store(&inv->cx, &job.store, e))
        return false;
    ok = work(&job, e);
    close_store(&inv->cx, job.store);
    return ok;
}
