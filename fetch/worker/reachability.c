#include "session.h"

/*
 * reachability: a server sends any object of a repository's forks under the
 * repository's own name. So a commit that is known only by its id must be
 * proven to be reachable: it is the tip of a branch or tag, or an ancestor of
 * one. The default branch is checked first, then all others. Source: FETCH.md
 * 6; THREATS.md row 12.
 */

static bool is_tip(const struct repo *r, const struct oid *commit)
{
    for (size_t i = 0; i < r->refs.count; i++)
        if (oid_eq(&r->refs.items[i].peeled, commit))
            return true;
    return false;
}

static void hold(struct repo *r, struct snapshot *s)
{
    s->reachability = REACHABLE;
    link_put_reachable(&r->session->link, r->key, &s->commit);
}

static void refuse(struct repo *r, struct snapshot *s)
{
    struct err *e = arena_new(&r->arena, struct err);
    char hex[OID_HEX_CHARS + 1];

    oid_format(&s->commit, hex);
    err_set(e, ERR_REFUSED, "commit %s is in no branch or tag of %.*s", hex,
            STR_ARG(r->name));
    err_hint(e, "it may come from a fork; name a branch, a tag or a "
                "commit of theirs");
    s->why = e;
    s->reachability = UNREACHABLE;
}

bool reachability_step(struct repo *r, struct snapshot *s, struct err *e)
{
    bool proved = false;

    if (s->reachability == REACHABILITY_UNKNOWN) {
        if (!link_is_reachable(&r->session->link, r->key, &s->commit, &proved,
                               e))
            return false;
        s->reachability = proved ? REACHABLE : REACHABILITY_BRANCH_TIP;
    }
    if (s->reachability != REACHABILITY_BRANCH_TIP &&
        s->reachability != REACHABILITY_ALL_TIPS)
        return true;
    if (is_tip(r, &s->commit)) {
        hold(r, s);
    } else if (s->reachability == REACHABILITY_BRANCH_TIP &&
               refs_are_known(r, STR("HEAD"))) {
        s->reachability = REACHABILITY_HEAD_HISTORY;
    } else if (s->reachability == REACHABILITY_ALL_TIPS && r->all_refs_known) {
        s->reachability = REACHABILITY_ALL_HISTORY;
    }
    return true;
}

void reachability_tips(const struct repo *r, const struct snapshot *s,
                       struct arena *a, struct oid **tips, size_t *count)
{
    struct oid_set set;
    const struct ref *head = ref_list_find(&r->refs, STR("HEAD"));

    oid_set_init(&set, a);
    if (s->reachability == REACHABILITY_HEAD_HISTORY && head &&
        !oid_is_zero(&head->peeled))
        oid_set_put(&set, &head->peeled);
    for (size_t i = 0;
         s->reachability == REACHABILITY_ALL_HISTORY && i < r->refs.count; i++)
        if (oid_set_count(&set) < REPO_MAX_TIPS &&
            !oid_is_zero(&r->refs.items[i].peeled))
            oid_set_put(&set, &r->refs.items[i].peeled);
    *count = oid_set_count(&set);
    *tips = arena_array(a, *count, sizeof **tips);
    for (size_t i = 0; i < *count; i++)
        (*tips)[i] = *oid_set_get(&set, i);
}

void reachability_evaluate(struct repo *r, struct snapshot *s,
                           const struct objects *objects,
                           const struct oid *tips, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (objects_lead_to(objects, &tips[i], &s->commit)) {
            hold(r, s);
            return;
        }
    }
    if (s->reachability == REACHABILITY_HEAD_HISTORY) {
        s->reachability = REACHABILITY_ALL_TIPS;
        r->wants_all_refs = true;
    } else {
        refuse(r, s);
    }
}
