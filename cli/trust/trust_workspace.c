#include "base/json.h"
#include "base/text.h"
#include "mapm/trusted.h"

#include "../command.h"
#include "trust.h"

/*
 * Trust in a workspace: that its metaskills are offered over MCP, and that the
 * rules of its mapm.yaml take effect (DESIGN.md 3.1). The first is for the
 * folder, whatever its content later; the second for exactly these rules. Both
 * are for this folder, not for its path (authorize.h).
 */

#define SHOWN_MAX_NAMES 20
#define SHOWN_MAX_CHARS 160
#define SHOWN_MAX_BYTES (1024 * 1024)

struct claim {
    struct layer layer;
    struct trusted_workspace request;
};

static void print_line(struct trust_job *job, struct str line)
{
    struct term *t = &job->inv->term;
    bool quiet = t->quiet;

    if (!job->is_json) {
        term_print(t, "%.*s\n", STR_ARG(line));
        return;
    }
    t->quiet = false;
    term_note(t, "%.*s", STR_ARG(line));
    t->quiet = quiet;
}

#define SAY(job, ...)                                                          \
    print_line(job, arena_printf(&(job)->inv->cx.arena, __VA_ARGS__))

static void show_lines(struct trust_job *job, struct str text)
{
    struct str line;

    while (str_line(&text, &line))
        SAY(job, "  %.*s", STR_ARG(line));
}

/* --- subjects ----------------------------------------------------------- */

/* On one line, whatever is in it. In the invocation's arena. */
static struct str shown(struct trust_job *job, struct str s)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str text;

    buf_init(&b, SHOWN_MAX_BYTES);
    text_visible(&b, s, false);
    text = arena_str(&job->inv->cx.arena, buf_str(&b));
    if (text_count(text) <= SHOWN_MAX_CHARS)
        return text;
    return arena_printf(&job->inv->cx.arena, "%.*s...",
                        STR_ARG(text_cut(text, SHOWN_MAX_CHARS)));
}

static void show_metaskill(struct trust_job *job,
                           const struct trusted_metaskill *m)
{
    SAY(job, "    %.*s  %.*s%s%.*s", STR_ARG(shown(job, m->name)),
        STR_ARG(shown(job, m->path)), m->target.n ? " -> " : "",
        STR_ARG(shown(job, m->target)));
}

/* The present metaskills, to show the scope of the decision. */
static bool show_written(struct trust_job *job, const struct layer *l,
                         struct err *e)
{
    struct trusted_metaskill *list;
    size_t count;

    if (!trusted_workspace_metaskills(&job->inv->cx, l, &list, &count, e))
        return false;
    for (size_t i = 0; i < count && i < SHOWN_MAX_NAMES; i++)
        show_metaskill(job, &list[i]);
    if (count == 0)
        SAY(job, "    there is none now");
    if (count > SHOWN_MAX_NAMES)
        SAY(job, "    ... and %zu more", count - SHOWN_MAX_NAMES);
    return true;
}

static void warn_of_home(struct trust_job *job, const struct layer *l)
{
    if (trusted_workspace_is_home(&job->inv->cx, l))
        term_warn(&job->inv->term,
                  "this workspace is your home folder: skills that any program "
                  "puts there are offered to clients");
}

/* Why rules that were accepted before need consent again. */
static void show_reason(struct trust_job *job,
                        const struct trusted_workspace *c)
{
    const char *reason = "";

    for (size_t i = c->count; i-- > 0 && !*reason;)
        reason = authorize_reason(c->states[i]);
    if (*reason)
        SAY(job, "  asked again: %s", reason);
}

static bool show_offered(struct trust_job *job, const struct layer *l,
                         struct err *e)
{
    SAY(job, "  metaskills written here are offered to clients over MCP, "
             "also those that come later:");
    return show_written(job, l, e);
}

static bool show_claim(struct trust_job *job, const struct claim *c,
                       struct err *e)
{
    const struct trusted_workspace *q = &c->request;
    const struct layer *l = &c->layer;

    if (q->states[q->count - 1] != TRUST_GIVEN) /* the workspace itself */
        warn_of_home(job, l);
    if (job->is_json && has_option(job->inv, OPTION_YES))
        return true;
    SAY(job, "%.*s", STR_ARG(shown(job, l->path)));
    show_reason(job, q);
    for (size_t i = q->count; i-- > 0;) {
        const struct trust_kind *kind = authorize_kind(q->items[i].kind);

        if (q->states[i] == TRUST_GIVEN)
            continue;
        if (kind->describe)
            show_lines(job,
                       kind->describe(&l->project, true, &job->inv->cx.arena));
        else if (!show_offered(job, l, e))
            return false;
    }
    if (q->count == 1)
        SAY(job, "  mapm.yaml allows nothing that needs to be accepted");
    return true;
}

/* --- accepting it ------------------------------------------------------------------- */

static void report(struct trust_job *job, const struct claim *c)
{
    const struct trusted_workspace *q = &c->request;
    struct json_writer *w;

    if (!job->is_json) {
        term_note(&job->inv->term, "trusted %.*s",
                  STR_ARG(shown(job, c->layer.path)));
        return;
    }
    w = print_json_begin(job->inv, "mapm.trust/1", "trust");
    json_member_array(w, "trusted");
    for (size_t i = q->count; i-- > 0;) {
        json_begin_object(w);
        trust_put_json(w, q->items[i].kind, q->items[i].subject,
                       &q->items[i].digest, &job->inv->cx.arena);
        json_member_bool(w, "new", q->states[i] != TRUST_GIVEN);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(job->inv);
}

static bool accept_claim(struct trust_job *job, struct claim *c, struct err *e)
{
    struct context *cx = &job->inv->cx;
    bool known;

    if (!trusted_workspace_read(cx, job->store, &c->layer, &c->request, e))
        return false;
    known = c->request.is_known;
    if (!known && !show_claim(job, c, e))
        return false;
    if (known && !job->is_json)
        term_note(&job->inv->term, "%.*s is trusted already",
                  STR_ARG(shown(job, c->layer.path)));
    if (!term_flush(&job->inv->term, e) ||
        (!known &&
         !context_consent(cx, "Trust this workspace on this machine?", e)) ||
        !trusted_workspace_put(cx, job->store, &c->request, e))
        return false;
    if (!known || job->is_json)
        report(job, c);
    return true;
}

bool trust_workspace(struct trust_job *job, struct err *e)
{
    struct claim c = {0};
    bool ok;

    if (!layer_open(&job->inv->cx, LAYER_READ, &c.layer, e))
        return false;
    ok = accept_claim(job, &c, e);
    layer_close(&c.layer);
    return ok;
}
