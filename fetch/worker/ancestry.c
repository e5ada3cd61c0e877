#include "session.h"

/*
 * ancestry: checks that a commit is in the history of a ref's current tip, by
 * following the parents of commits from the tip. Fetched commits are kept in
 * memory, since other commits to check are often among them. Source: FETCH.md
 * 6; THREATS.md row 12; F1.
 */

struct ancestry *ancestry_get(struct repo *r, struct snapshot *s,
                              const struct oid *tip)
{
    struct ancestry *x = s->ancestries;

    while (x && !oid_eq(&x->tip, tip))
        x = x->next;
    if (x)
        return x;
    x = arena_new(&r->arena, struct ancestry);
    x->tip = *tip;
    x->commit = s->commit;
    x->next = s->ancestries;
    s->ancestries = x;
    return x;
}

static bool refuse(const struct ask *a, struct err *e)
{
    char hex[OID_HEX_CHARS + 1];

    oid_format(&a->snapshot->commit, hex);
    err_set(e, ERR_REFUSED,
            "commit %s is not in the history of \"%.*s\" of %.*s", hex,
            STR_ARG(a->ref.n ? a->ref : STR("HEAD")), STR_ARG(a->repo->name));
    return err_hint(e,
                    "it may come from a branch that is gone, or from a fork; "
                    "mapm update NAME takes what the ref names now");
}

enum found ancestry_step(struct ask *a, struct err *e)
{
    struct ancestry *x = a->ancestry;

    if (x == NULL) /* any branch or tag suffices: reachability.c has
                    * confirmed it */
        return FOUND_PACKAGE;
    if (x->state == ANCESTRY_NEW)
        x->state = objects_lead_to(&a->repo->history, &x->tip, &x->commit)
                       ? ANCESTRY_CONFIRMED
                       : ANCESTRY_WANTED;
    if (x->state == ANCESTRY_CONFIRMED)
        return FOUND_PACKAGE;
    if (x->state == ANCESTRY_WANTED)
        return FOUND_WAIT;
    if (x->why)
        *e = *x->why;
    else
        refuse(a, e);
    return FOUND_ERROR;
}

struct ancestry *ancestry_next(const struct repo *r)
{
    for (const struct ask *a = r->asks; a; a = a->next)
        if (a->stage == ASK_REACH && a->ancestry &&
            a->ancestry->state == ANCESTRY_WANTED)
            return a->ancestry;
    return NULL;
}

/* Resets other pending checks, so that they use the received commits before
 * they request more. */
void ancestry_evaluate(struct repo *r, struct ancestry *x)
{
    x->state = objects_lead_to(&r->history, &x->tip, &x->commit)
                   ? ANCESTRY_CONFIRMED
                   : ANCESTRY_REFUTED;
    for (const struct ask *a = r->asks; a; a = a->next)
        if (a->ancestry && a->ancestry->state == ANCESTRY_WANTED)
            a->ancestry->state = ANCESTRY_NEW;
}
