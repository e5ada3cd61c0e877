#include "proof.h"

#define COMMIT_CHARS 40

bool proof_applies(const struct layer *l, const struct lock_entry *entry)
{
    return layer_origin(l, entry)->scheme == ORIGIN_GIT;
}

static bool is_absent(struct store *store, const struct store_proof *of,
                      struct str path)
{
    struct store_proof p = {of->repository, of->commit, path, {0}, {{0}}};

    return store_has_proof(store, &p);
}

/*
 * Where the ref ends the lock does not say: mostly behind its first segment. A
 * shorter path counts only where the commit was shown to have nothing at the
 * longer ones.
 */
bool proof_find(const struct layer *l, struct store *store,
                const struct lock_entry *entry, struct arena *a,
                struct str *path)
{
    const struct origin *o = layer_origin(l, entry);
    struct str rest = o->rest, segment;
    struct store_proof p = {.commit = entry->commit, .object = entry->object};

    if (!str_starts(entry->digest, STR("sha256:")) ||
        !hash_parse(str_from_index(entry->digest, 7), &p.digest))
        return false;
    p.repository = origin_repository(o, a);
    if (rest.n == 0) {
        *path = p.path = o->path;
        return store_has_proof(store, &p);
    }
    while (rest.p && str_cut(&rest, '/', &segment)) {
        *path = p.path = rest.p ? rest : str_of("", 0);
        if (store_has_proof(store, &p))
            return true;
        if (!is_absent(store, &p, p.path))
            return false;
    }
    return false;
}

bool proof_put(struct store *store, const struct store_proof *p,
               const struct origin *o, struct err *e)
{
    struct str rest = o->rest, segment;

    if (!store_put_proof(store, p, e))
        return false;
    while (rest.p && str_cut(&rest, '/', &segment)) {
        struct store_proof absent = {
            p->repository, p->commit, rest, {0}, {{0}}};

        if (!rest.p || rest.n <= p->path.n)
            return true;
        if (!store_put_proof(store, &absent, e))
            return false;
    }
    return true;
}

/* No repository has this name. */
static struct store_proof lock_proof(struct str text)
{
    return (struct store_proof){.repository = STR("mapm.lock"),
                                .commit = STR("lock"),
                                .path = STR(""),
                                .object = STR("lock"),
                                .digest = hash_of(text)};
}

bool proof_knows_lock(struct store *store, struct str text)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct store_proof p = lock_proof(text);
    bool found;

    p.path = hash_hex(&p.digest, &a);
    if (store_begin_glance(store)) {
        found = store_has_proof(store, &p);
        if (store_end_glance(store))
            return found;
    }
    return store_has_proof(store, &p);
}

bool proof_put_lock(struct store *store, struct str text, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct store_proof p = lock_proof(text);

    p.path = hash_hex(&p.digest, &a);
    return store_put_proof(store, &p, e);
}

/* A row of its own: where a proof has its commit, this one has the object, and
 * for a path the whole origin. An object is no commit, so neither is taken for
 * the other. */
static struct store_proof also_proof(const struct origin *o, struct str object,
                                     struct arena *a)
{
    return (struct store_proof){.repository = origin_repository(o, a),
                                .commit = object,
                                .path = o->key,
                                .object = object};
}

bool proof_put_also(struct store *store, const struct origin *o,
                    struct str object, const struct hash *digest,
                    struct arena *a, struct err *e)
{
    struct store_proof p = also_proof(o, object, a);

    p.digest = *digest;
    return store_put_proof(store, &p, e);
}

bool proof_covers(const struct layer *l, struct store *store,
                  const struct lock_entry *entry, const struct origin *o,
                  struct arena *a)
{
    struct store_proof p;

    if (str_eq(o->key, layer_origin(l, entry)->key))
        return true;
    p = also_proof(o, entry->object, a);
    return entry->object.n && str_starts(entry->digest, STR("sha256:")) &&
           hash_parse(str_from_index(entry->digest, 7), &p.digest) &&
           store_has_proof(store, &p);
}

bool proof_check_commit(const struct layer *l, const struct lock_entry *entry,
                        struct err *e)
{
    const struct origin *o = layer_origin(l, entry);
    struct str named = str_slice(o->rest, 0, COMMIT_CHARS);

    if (o->scheme != ORIGIN_GIT || !origin_names_commit(o) ||
        str_eq_nocase(named, entry->commit))
        return true;
    err_set(e, ERR_LOCKED,
            "mapm.lock:%u: %s %.*s: its origin names commit %.*s, and its "
            "commit is %.*s",
            entry->line, doc_kind_name(entry->kind), STR_ARG(entry->name),
            STR_ARG(named), STR_ARG(entry->commit));
    return err_hint(e, "take mapm.lock from version control again");
}
