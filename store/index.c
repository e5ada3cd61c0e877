#include <time.h>

#include "store_internal.h"

#define SECONDS_PER_DAY (24 * 3600)

/* The index of the store: rows staged by this process first, then mapm.db. */

bool store_put_package(struct store *s, struct str repository,
                       struct str commit, struct str path,
                       const struct state_package *p, struct err *e)
{
    if (!s->staging)
        return state_put_package(s->state, repository, commit, path, p, e);
    if (!state_check(s->state, e))
        return false;
    staged_note_package(s, repository, commit, path, p);
    return true;
}

bool store_find_blob(struct store *s, struct str oid, struct hash *h,
                     uint64_t *size)
{
    struct hash found;

    if (s->staging && staged_find_blob(s, oid, h, size))
        return store_has(s, h);
    if (!state_find_blob(s->state, oid, &found, size) || !store_has(s, &found))
        return false;
    *h = found;
    return true;
}

bool store_put_blob(struct store *s, struct str oid, const struct hash *h,
                    uint64_t size, struct err *e)
{
    if (!s->staging)
        return state_put_blob(s->state, oid, h, size, e);
    if (!state_check(s->state, e))
        return false;
    staged_note_blob(s, oid, h, size);
    return true;
}

bool store_put_ref(struct store *s, struct str repository, struct str rest,
                   const struct state_ref *r, struct err *e)
{
    if (!s->staging)
        return state_put_ref(s->state, repository, rest, r, e);
    if (!state_check(s->state, e))
        return false;
    staged_note_ref(s, repository, rest, r);
    return true;
}

bool store_find_trees(struct store *s, struct str repository, struct str commit,
                      struct arena *a, struct str *bytes)
{
    struct err e = {0};
    struct hash h;

    return state_find_trees(s->state, repository, commit, &h) &&
           store_read(s, &h, TRANSFER_MAX_BYTES, a, bytes, &e);
}

bool store_put_trees(struct store *s, struct str repository, struct str commit,
                     struct str bytes, struct err *e)
{
    struct hash h;

    if (!state_check(s->state, e) || !store_put(s, bytes, &h, e))
        return false;
    if (!s->staging)
        return state_put_trees(s->state, repository, commit, &h, e);
    staged_note_trees(s, repository, commit, &h);
    return true;
}

bool store_put_proof(struct store *s, const struct state_proof *p,
                     struct err *e)
{
    if (!s->staging)
        return state_put_proof(s->state, p, e);
    if (!state_check(s->state, e))
        return false;
    staged_note_proof(s, p);
    return true;
}

bool store_put_reachable(struct store *s, struct str repository,
                         struct str commit, struct err *e)
{
    if (!s->staging)
        return state_put_reachable(s->state, repository, commit, e);
    if (!state_check(s->state, e))
        return false;
    staged_note_reachable(s, repository, commit);
    return true;
}

bool store_find_host(struct store *s, struct str place, struct arena *a,
                     struct str *caps)
{
    int64_t now = (int64_t)time(NULL);

    return state_find_host(s->state, place,
                           now - FETCH_CAPS_MAX_DAYS * SECONDS_PER_DAY, now, a,
                           caps);
}

bool store_put_host(struct store *s, struct str place, struct str caps,
                    struct err *e)
{
    if (!s->staging)
        return state_put_host(s->state, place, caps, (int64_t)time(NULL), e);
    if (!state_check(s->state, e))
        return false;
    staged_note_host(s, place, caps);
    return true;
}

bool store_begin(struct store *s, struct err *e)
{
    return s->staging ? state_check(s->state, e) : state_begin(s->state, e);
}

bool store_commit(struct store *s, struct err *e)
{
    return s->staging ? state_check(s->state, e) : state_commit(s->state, e);
}
