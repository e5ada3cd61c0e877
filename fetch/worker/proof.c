#include "session.h"

/*
 * A server shows any object of a repository's forks under the repository's
 * own name. So a commit that someone only named by its id has to be shown to
 * belong: it is the tip of a branch or tag, or the hashes of commits lead
 * from such a tip to it. First the default branch, then all others.
 *
 * Source: FETCH.md 6; THREATS.md row 12.
 */

#define TIPS_MAX 500

static bool is_tip(const struct repo *r, const struct oid *commit)
{
    for (size_t i = 0; i < r->refs.count; i++)
        if (oid_eq(&r->refs.items[i].peeled, commit))
            return true;
    return false;
}

static void hold(struct repo *r, struct snapshot *s)
{
    s->proof = PROOF_HELD;
    link_put_proved(&r->session->link, r->key, &s->commit);
}

static void refuse(struct repo *r, struct snapshot *s)
{
    struct err *e = arena_new(&r->arena, struct err);
    char hex[OID_HEX_CHARS + 1];

    oid_format(&s->commit, hex);
    err_set(e, ERR_REFUSED, "commit %s is in no branch or tag of %.*s", hex,
            STR_ARG(r->name));
    err_hint(e, "it may come from somebody's fork; name a branch, a tag or a "
                "commit of theirs");
    s->why = e;
    s->proof = PROOF_REFUSED;
}

bool proof_step(struct repo *r, struct snapshot *s, struct err *e)
{
    bool proved = false;

    if (s->proof == PROOF_NONE) {
        if (!link_is_proved(&r->session->link, r->key, &s->commit, &proved, e))
            return false;
        s->proof = proved ? PROOF_HELD : PROOF_START;
    }
    if (s->proof != PROOF_START && s->proof != PROOF_TIPS)
        return true;
    if (is_tip(r, &s->commit)) {
        hold(r, s);
    } else if (s->proof == PROOF_START && refs_are_known(r, STR("HEAD"))) {
        s->proof = PROOF_CHAIN;
    } else if (s->proof == PROOF_TIPS && r->all_refs_known) {
        s->proof = PROOF_ALL;
    }
    return true;
}

void proof_tips(const struct repo *r, const struct snapshot *s, struct arena *a,
                struct oid **tips, size_t *count)
{
    struct oid_set set;
    const struct ref *head = ref_list_find(&r->refs, STR("HEAD"));

    oid_set_init(&set, a);
    if (s->proof == PROOF_CHAIN && head && !oid_is_zero(&head->peeled))
        oid_set_put(&set, &head->peeled);
    for (size_t i = 0; s->proof == PROOF_ALL && i < r->refs.count; i++)
        if (oid_set_count(&set) < TIPS_MAX &&
            !oid_is_zero(&r->refs.items[i].peeled))
            oid_set_put(&set, &r->refs.items[i].peeled);
    *count = oid_set_count(&set);
    *tips = arena_array(a, *count, sizeof **tips);
    for (size_t i = 0; i < *count; i++)
        (*tips)[i] = *oid_set_get(&set, i);
}

void proof_judge(struct repo *r, struct snapshot *s,
                 const struct objects *objects, const struct oid *tips,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (objects_lead_to(objects, &tips[i], &s->commit)) {
            hold(r, s);
            return;
        }
    }
    if (s->proof == PROOF_CHAIN) {
        s->proof = PROOF_TIPS;
        r->wants_all_refs = true;
    } else {
        refuse(r, s);
    }
}
