#include "base/digest.h"
#include "base/path.h"
#include "mapm/authorize.h"
#include "mapm/doc_kind.h"
#include "mapm/layer.h"
#include "mapm/lock.h"

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

static bool make_request(struct store *store, const struct layer *l,
                         const struct lock_entry *entry,
                         struct trust_request *out, struct err *e)
{
    if (entry->kind != DOC_SKILL)
        return err_set(e, ERR_FAILED, "%s %.*s is not a metaskill",
                       doc_kind_name(entry->kind), STR_ARG(entry->name));
    if (!layer_is_fetched(l, entry))
        return err_set(e, ERR_FAILED, "%.*s %s: it runs without trust",
                       STR_ARG(entry->name),
                       layer_is_own(l, entry)
                           ? "belongs to this workspace"
                           : "was installed from a local folder");
    return authorize_request_entry(store, entry, out, e);
}

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

static bool trust(struct engine *g, const struct layer *l,
                  const struct lock_entry *entry, struct err *e)
{
    struct trust_request q;
    enum trust_state state;

    if (!make_request(g->store, l, entry, &q, e) ||
        !authorize_check_program(g->store, &q.digest, &g->cx.arena, e))
        return err_wrap(e, "cannot trust %.*s", STR_ARG(entry->name));
    if (!authorize_trust(&g->cx, g->store, &q, &state, e))
        return false;
    return state == TRUST_GIVEN ||
           (confirm(g, &q, e) && authorize_put(&g->cx, g->store, &q, e));
}

bool engine_trust(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(layer_close) struct layer l = {0};
    struct str name = engine_str(c->text);
    const struct lock_entry *entry;

    if (!engine_store(g, e) || !layer_open(&g->cx, LAYER_READ, &l, e))
        return false;
    entry = layer_find(&l, DOC_SKILL, name);
    return (entry || layer_resolve_name(&l, name, &g->cx, &entry, e)) &&
           trust(g, &l, entry, e);
}

/* --- revoking -------------------------------------------------------------------------------- */

/* Finds a subject by its qualified name, or else by a short name if
 * it is unique. */
static const struct state_trust *find_subject(const struct state_trust *list,
                                              size_t count, struct str name,
                                              struct err *e)
{
    const struct state_trust *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (list[i].kind == STATE_TRUST_METASKILL &&
            str_eq(list[i].subject, name))
            return &list[i];
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind != STATE_TRUST_METASKILL ||
            !str_eq(path_last(list[i].subject), name))
            continue;
        if (found && !str_eq(found->subject, list[i].subject)) {
            err_set(e, ERR_USAGE, "\"%.*s\" is %.*s and %.*s", STR_ARG(name),
                    STR_ARG(found->subject), STR_ARG(list[i].subject));
            return NULL;
        }
        found = &list[i];
    }
    if (!found)
        err_set(e, ERR_NOT_FOUND, "\"%.*s\" is not trusted on this machine",
                STR_ARG(name));
    return found;
}

bool engine_revoke_trust(struct engine *g, const struct wire_call *c,
                         struct err *e)
{
    const struct state_trust *found;
    struct state_trust *list;
    size_t count;

    if (!read_trust(g, &list, &count, e))
        return false;
    found = find_subject(list, count, engine_str(c->text), e);
    return found && state_forget_trust(store_state(g->store), found->kind,
                                       found->subject, &count, e);
}
