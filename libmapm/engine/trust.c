#include "base/digest.h"
#include "mapm/trusted.h"

#include "engine.h"

/* --- the list --------------------------------------------------------------------- */

static const char *digest_text(struct engine *g, const struct hash *digest)
{
    return hash_is_zero(digest)
               ? ""
               : engine_text(g, digest_format(digest, &g->cx.arena));
}

static bool read_trust(struct engine *g, struct state_trust **list,
                       size_t *count, struct err *e)
{
    return engine_store(g, e) && state_list_trust(store_state(g->store),
                                                  &g->cx.arena, list, count, e);
}

bool engine_list_trust(struct engine *g, const struct wire_call *c,
                       struct err *e)
{
    struct mapm_trusted *out;
    struct state_trust *list;
    size_t count;

    (void)c;
    if (!read_trust(g, &list, &count, e))
        return false;
    out = arena_array(&g->cx.arena, count + 1, sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct mapm_trusted){
            .kind = authorize_kind(list[i].kind)->name,
            .subject = engine_text(g, list[i].subject),
            .digest = digest_text(g, &list[i].digest),
            .since_s = list[i].since_s,
        };
    return engine_send(g, WIRE_RESULT, WIRE_TRUSTED, out, count, e);
}

/* --- trusting a metaskill --------------------------------------------------------------- */

static bool confirm(struct engine *g, const struct trust_request *q,
                    struct err *e)
{
    bool yes = false;

    if (!authorize_show(&g->cx, g->store, q, NULL, e) ||
        !context_confirm(&g->cx, QUESTION_TRUST,
                         "Trust this program to run on this machine?", &yes, e))
        return false;
    return yes ||
           err_set(e, ERR_REFUSED, "%.*s was not trusted", STR_ARG(q->subject));
}

bool engine_trust(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(layer_close) struct layer l = {0};
    struct trust_request q;
    enum trust_state state;

    if (!engine_store(g, e) || !layer_open(&g->cx, LAYER_READ, &l, e) ||
        !trusted_request(&g->cx, g->store, &l, engine_str(c->text), &q, &state,
                         e))
        return false;
    return state == TRUST_GIVEN ||
           (confirm(g, &q, e) && authorize_put(&g->cx, g->store, &q, e));
}

/* --- revoking -------------------------------------------------------------------------------- */

bool engine_revoke_trust(struct engine *g, const struct wire_call *c,
                         struct err *e)
{
    const struct state_trust *found;
    struct state_trust *list;
    size_t count;

    return read_trust(g, &list, &count, e) &&
           trusted_find(list, count, engine_str(c->text), &found, e) &&
           state_forget_trust(store_state(g->store), found->kind,
                              found->subject, &count, e);
}
