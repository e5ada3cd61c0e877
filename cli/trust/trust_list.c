#include "base/json.h"
#include "mapm/state.h"
#include "mapm/trusted.h"

#include "../command.h"
#include "trust.h"

/* --- the list --------------------------------------------------------------------- */

static void put_trusted(struct trust_job *job, struct json_writer *w,
                        const struct trusted *t)
{
    struct arena *a = &job->inv->cx.arena;

    json_begin_object(w);
    trust_put_json(w, t->trust.kind, t->trust.subject, &t->trust.digest, a);
    json_member_string(w, "since", authorize_date(t->trust.since_s, true, a));
    if (t->kind->is_of_folder) {
        json_member_bool(w, "valid", t->is_valid);
        json_member_optional(w, "server", t->server);
    } else if (!t->kind->is_of_host) {
        json_member_bool(w, "installed", t->workspace.n > 0);
        json_member_optional(w, "workspace", t->workspace);
    }
    json_end_object(w);
}

static struct str state_of(const struct trusted *t, struct arena *a)
{
    if (t->kind->is_of_host)
        return STR("");
    if (t->kind->is_of_folder && !t->is_valid)
        return STR("  another folder: asks again");
    if (t->server.n)
        return arena_printf(a, "  mcp %.*s", STR_ARG(t->server));
    if (t->kind->is_of_folder && t->trust.kind != STATE_TRUST_SERVER)
        return STR("");
    return t->workspace.n ? arena_printf(a, "  in %.*s", STR_ARG(t->workspace))
                          : STR("  not installed");
}

static void print_list(struct trust_job *job, const struct trusted *list,
                       size_t count)
{
    struct term *t = &job->inv->term;
    struct arena *a = &job->inv->cx.arena;
    size_t wide = 8;

    for (size_t i = 0; i < count; i++)
        if (list[i].trust.subject.n > wide && list[i].trust.subject.n < 48)
            wide = list[i].trust.subject.n;
    for (size_t i = 0; i < count; i++) {
        const struct state_trust *one = &list[i].trust;
        struct str digest = hash_is_zero(&one->digest)
                                ? STR("-")
                                : authorize_short_digest(&one->digest, a);

        term_print(t, "%-9s  %-*.*s  %-19.*s  %.*s%.*s\n", list[i].kind->name,
                   (int)wide, STR_ARG(one->subject), STR_ARG(digest),
                   STR_ARG(authorize_date(one->since_s, false, a)),
                   STR_ARG(state_of(&list[i], a)));
    }
    if (count == 0)
        term_note(t, "nothing is trusted on this machine");
}

bool trust_list(struct trust_job *job, struct err *e)
{
    struct json_writer *w;
    struct trusted *list;
    size_t count;

    if (!trusted_list(&job->inv->cx, job->store, &list, &count, e))
        return false;
    if (!job->is_json) {
        print_list(job, list, count);
        return true;
    }
    w = print_json_begin(job->inv, "mapm.trust/1", "list");
    json_member_array(w, "trusted");
    for (size_t i = 0; i < count; i++)
        put_trusted(job, w, &list[i]);
    json_end_array(w);
    print_json_end(job->inv);
    return true;
}

/* --- taking it back ----------------------------------------------------------------- */

/* Subjects to revoke: by trusted name, installed or not. */
struct subjects {
    const struct state_trust **items;
    size_t count;
};

static bool is_listed(const struct subjects *s, const struct state_trust *t)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i]->kind == t->kind &&
            str_eq(s->items[i]->subject, t->subject))
            return true;
    return false;
}

static void add_subject(struct subjects *s, const struct state_trust *t)
{
    if (!is_listed(s, t))
        s->items[s->count++] = t;
}

static bool add_workspace(struct trust_job *job, struct subjects *s,
                          const struct state_trust *list, size_t count,
                          struct err *e)
{
    struct layer l;

    if (!layer_open(&job->inv->cx, LAYER_READ, &l, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (authorize_kind(list[i].kind)->is_of_folder &&
            str_eq(list[i].subject, l.path))
            add_subject(s, &list[i]);
    if (s->count == 0)
        err_set(e, ERR_NOT_FOUND, "the workspace %.*s is not trusted",
                STR_ARG(l.path));
    layer_close(&l);
    return s->count > 0;
}

static bool choose(struct trust_job *job, struct subjects *s,
                   const struct state_trust *list, size_t count, struct err *e)
{
    const struct values *names = &job->inv->arguments;

    if (has_option(job->inv, OPTION_WORKSPACE))
        return add_workspace(job, s, list, count, e);
    if (has_option(job->inv, OPTION_ALL_TRUST))
        for (size_t i = 0; i < count; i++)
            add_subject(s, &list[i]);
    for (size_t i = 0; i < names->count; i++) {
        const struct state_trust *found;

        if (!trusted_find(list, count, names->items[i], &found, e))
            return false;
        add_subject(s, found);
    }
    return true;
}

static bool forget(struct trust_job *job, const struct subjects *s,
                   struct err *e)
{
    struct json_writer *w = NULL;

    if (job->is_json) {
        w = print_json_begin(job->inv, "mapm.trust/1", "revoke");
        json_member_array(w, "revoked");
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct state_trust *t = s->items[i];
        size_t versions;

        if (!state_forget_trust(store_state(job->store), t->kind, t->subject,
                                &versions, e))
            return err_wrap(e, "%.*s may still be trusted",
                            STR_ARG(t->subject));
        if (!w) {
            term_note(&job->inv->term, "%s %.*s is no longer trusted",
                      authorize_kind(t->kind)->name, STR_ARG(t->subject));
            continue;
        }
        json_begin_object(w);
        trust_put_json(w, t->kind, t->subject, NULL, &job->inv->cx.arena);
        json_member_number(w, "versions", versions);
        json_end_object(w);
    }
    if (w) {
        json_end_array(w);
        print_json_end(job->inv);
    } else if (s->count == 0) {
        term_note(&job->inv->term, "nothing is trusted on this machine");
    }
    return true;
}

bool trust_revoke(struct trust_job *job, struct err *e)
{
    struct arena *a = &job->inv->cx.arena;
    struct state_trust *list;
    struct subjects s = {0};
    size_t count;

    if (!state_list_trust(store_state(job->store), a, &list, &count, e))
        return false;
    s.items =
        arena_array(a, count + job->inv->arguments.count + 1, sizeof *s.items);
    return choose(job, &s, list, count, e) && forget(job, &s, e);
}
