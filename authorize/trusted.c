#include "mapm/trusted.h"

#include "mapm/state_trust.h"
#include "mapm/trust_show.h"

#define DIGEST_PREFIX_CHARS 7 /* "sha256:" */

static bool ask(struct context *cx, struct store *store,
                const struct trust_wish *w, struct err *e)
{
    const char *question =
        arena_printf(&cx->arena,
                     "Trust this version of %.*s to run on this machine, now "
                     "and later?",
                     STR_ARG(w->fqn))
            .p;
    bool yes = false;

    if (!trust_show(cx, store, w, NULL, e))
        return false;
    if (!cx->is_verbose)
        context_note(cx, "mapm trust --verbose %.*s shows all of it",
                     STR_ARG(w->fqn));
    if (!context_confirm(cx, QUESTION_TRUST, question, &yes, e))
        return false;
    if (!yes)
        return err_set(e, ERR_REFUSED, "%.*s was not trusted: it did not run",
                       STR_ARG(w->fqn));
    return state_put_trust(store_state(store), STATE_TRUST_METASKILL, w->fqn,
                           &w->digest, STR(""), e);
}

bool trusted_check(struct context *cx, struct store *store,
                   const struct lock_entry *entry, struct err *e)
{
    struct str fqn = entry->name, digest = entry->digest;
    struct trust_wish w = {.fqn = fqn,
                           .origin = entry->origin,
                           .commit = entry->commit,
                           .version = entry->version};
    struct state_trust earlier;
    bool changed;

    if (!hash_parse(str_from_index(digest, DIGEST_PREFIX_CHARS), &w.digest))
        return err_set(e, ERR_FORMAT, "%.*s: \"%.*s\" is no digest",
                       STR_ARG(fqn), STR_ARG(digest));
    err_clear(e);
    if (state_is_trusted(store_state(store), fqn, &w.digest, e))
        return true;
    if (e->code != ERR_NONE)
        return err_wrap(e, "cannot tell whether %.*s is trusted", STR_ARG(fqn));
    if (context_can_ask(cx))
        return ask(cx, store, &w, e);
    if (!trust_find_earlier(store, fqn, &w.digest, &changed, &earlier,
                            &cx->arena, e))
        return false;
    if (changed)
        err_set(e, ERR_REFUSED,
                "%.*s has changed since it was trusted on this machine",
                STR_ARG(fqn));
    else
        err_set(e, ERR_REFUSED,
                "%.*s came by install and is not trusted on this machine",
                STR_ARG(fqn));
    return err_hint(e, "mapm trust %.*s shows %s, and asks", STR_ARG(fqn),
                    changed ? "what changed" : "its program");
}
