#include "proof.h"

#include "base/digest.h"
#include "mapm/state.h"

#include "closure.h"

#define COMMIT_CHARS 40

bool proof_applies(const struct layer *l, const struct lock_entry *entry)
{
    return origin_is_remote(layer_source(l, entry));
}

static bool is_absent(struct store *store, const struct state_proof *of,
                      struct str path)
{
    struct state_proof p = {of->repository, of->commit, path, {0}, {{0}}};

    return state_has_proof(store_state(store), &p);
}

static bool is_own(const struct layer *l, const struct lock_entry *entry,
                   const struct origin *o)
{
    return str_eq(layer_source(l, entry)->key, o->key);
}

/* Returns whether the ref of `o`, which ends where `path` begins, equals that
 * of `own`. */
static bool is_same_ref(const struct origin *own, const struct origin *o,
                        struct str path)
{
    struct str ref = proof_ref(o, path);

    return ref.n && str_starts(own->rest, ref) &&
           (own->rest.n == ref.n || own->rest.p[ref.n] == '/');
}

/* Likewise, if the ends of the refs are unknown. */
static bool may_be_same_ref(const struct origin *own, const struct origin *o,
                            struct arena *a)
{
    struct str one = own->rest, two = o->rest, x = {"", 0}, y = {"", 0};

    return one.n && two.n && str_cut(&one, '/', &x) && str_cut(&two, '/', &y) &&
           str_eq(x, y) &&
           str_eq(origin_repository(own, a), origin_repository(o, a));
}

/* Returns the commit that the lock or `o` itself names for `o`. */
static struct str named_commit(const struct layer *l,
                               const struct lock_entry *entry,
                               const struct origin *o)
{
    struct str commit = layer_also_commit(l, o);

    if (is_own(l, entry, o))
        return entry->commit;
    return commit.n || !origin_names_commit(o)
               ? commit
               : str_slice(o->rest, 0, COMMIT_CHARS);
}

struct str proof_ref(const struct origin *o, struct str path)
{
    if (path.n == 0)
        return o->rest;
    return o->rest.n > path.n && str_ends(o->rest, path)
               ? str_slice(o->rest, 0, o->rest.n - path.n - 1)
               : str_make("", 0);
}

struct str proof_commit(const struct layer *l, const struct lock_entry *entry,
                        const struct origin *o, struct arena *a)
{
    struct str commit = named_commit(l, entry, o);

    if (origin_names_commit(o) &&
        !str_eq_nocase(str_slice(o->rest, 0, COMMIT_CHARS), commit))
        return str_make("", 0);
    if (commit.n) /* the commit of the entry is lower case */
        return is_own(l, entry, o) ? commit : str_lower(commit, a);
    return may_be_same_ref(layer_source(l, entry), o, a) ? entry->commit
                                                         : commit;
}

bool proof_shares_ref(const struct layer *l, const struct lock_entry *entry,
                      const struct origin *o, struct str path)
{
    return named_commit(l, entry, o).n ||
           is_same_ref(layer_source(l, entry), o, path);
}

/* Returns the path in the row. Several plugins and parts may be made of one
 * folder, and each has a row of its own. */
static struct str row_path(const struct layer *l,
                           const struct lock_entry *entry, struct str path,
                           struct arena *a)
{
    return proof_path(layer_origin(l, entry), path, entry->catalog_commit, a);
}

struct str proof_path(const struct origin *o, struct str path,
                      struct str catalog_commit, struct arena *a)
{
    if (!o->part.n || str_is(o->part, "plugin"))
        return path;
    return arena_printf(a, "%.*s?%.*s%s%.*s", STR_ARG(path), STR_ARG(o->part),
                        catalog_commit.n ? "#" : "", STR_ARG(catalog_commit));
}

/* Finds the proof without knowing the end of the ref, which is usually one
 * segment. A shorter path counts only if the commit was proved to contain
 * nothing at the longer ones. */
static bool proof_find_commit(const struct layer *l, struct store *store,
                              const struct lock_entry *entry,
                              const struct origin *o, struct str *path)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str rest = o->rest, segment;
    struct state_proof p = {.commit = proof_commit(l, entry, o, &a),
                            .object = entry->object};

    if (p.commit.n == 0 || !digest_parse(entry->digest, &p.digest))
        return false;
    p.repository = origin_repository(o, &a);
    if (rest.n == 0) {
        *path = o->path;
        p.path = row_path(l, entry, *path, &a);
        return state_has_proof(store_state(store), &p);
    }
    while (rest.p && str_cut(&rest, '/', &segment)) {
        *path = rest.p ? rest : str_make("", 0);
        p.path = row_path(l, entry, *path, &a);
        if (state_has_proof(store_state(store), &p))
            return proof_shares_ref(l, entry, o, *path);
        if (!is_absent(store, &p, *path))
            return false;
    }
    return false;
}

/* a name that no repository can have */
static struct state_proof artifact_proof(struct str artifact, struct str url,
                                         const struct hash *digest)
{
    return (struct state_proof){.repository = STR("artifact"),
                                .commit = artifact,
                                .path = url,
                                .object = STR("artifact"),
                                .digest = *digest};
}

bool proof_put_artifact(struct store *store, struct str artifact,
                        struct str url, const struct hash *digest,
                        struct err *e)
{
    struct state_proof p = artifact_proof(artifact, url, digest);

    return state_has_proof(store_state(store), &p) ||
           store_put_proof(store, &p, e);
}

static bool has_artifact(struct store *store, const struct lock_entry *entry)
{
    struct state_proof p;
    struct hash digest;

    if (entry->artifact.n == 0 || !digest_parse(entry->digest, &digest))
        return false;
    p = artifact_proof(entry->artifact, entry->url, &digest);
    return state_has_proof(store_state(store), &p);
}

bool proof_has_artifact(struct store *store, const struct lock_entry *entry,
                        struct hash *artifact)
{
    return digest_parse(entry->artifact, artifact) &&
           store_has(store, artifact);
}

bool proof_find(const struct layer *l, struct store *store,
                const struct lock_entry *entry, const struct origin *o,
                struct str *path)
{
    if (o->scheme != ORIGIN_INDEX)
        return proof_find_commit(l, store, entry, o, path);
    *path = o->path;
    return has_artifact(store, entry);
}

bool proof_put(struct store *store, const struct state_proof *p,
               const struct origin *o, struct err *e)
{
    struct str rest = o->rest, segment;
    size_t length = origin_base(p->path).n;

    if (!store_put_proof(store, p, e))
        return false;
    while (rest.p && str_cut(&rest, '/', &segment)) {
        struct state_proof absent = {
            p->repository, p->commit, rest, {0}, {{0}}};

        if (!rest.p || rest.n <= length)
            return true;
        if (!store_put_proof(store, &absent, e))
            return false;
    }
    return true;
}

bool proof_put_node(struct store *store, const struct node *n,
                    const struct origin *o, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct state_proof p = {.repository = origin_repository(o, &a),
                                  .commit = n->package.commit,
                                  .path = n->path,
                                  .object = n->object,
                                  .digest = n->digest};

    return state_has_proof(store_state(store), &p) ||
           proof_put(store, &p, o, e);
}

/* a name that no repository can have */
static struct state_proof lock_proof(struct str text)
{
    return (struct state_proof){.repository = STR("mapm.lock"),
                                .commit = STR("lock"),
                                .path = STR(""),
                                .object = STR("lock"),
                                .digest = hash_of(text)};
}

bool proof_knows_lock(struct store *store, struct str text)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct state_proof p = lock_proof(text);
    bool found;

    p.path = hash_hex(&p.digest, &a);
    if (store_begin_glance(store)) {
        found = state_has_proof(store_state(store), &p);
        if (state_end_glance(store_state(store)))
            return found;
    }
    return state_has_proof(store_state(store), &p);
}

bool proof_put_lock(struct store *store, struct str text, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct state_proof p = lock_proof(text);

    p.path = hash_hex(&p.digest, &a);
    return store_put_proof(store, &p, e);
}

/* A row of its own: where a proof has its commit, this one has the object, or
 * the artifact, and for a path the whole origin, with the commit where that is meant. An object is
 * no commit, so neither is taken for the other. */
static struct state_proof also_proof(const struct origin *o, struct str commit,
                                     struct str object, struct arena *a)
{
    return (struct state_proof){.repository = origin_repository(o, a),
                                .commit = object,
                                .path = commit.n ? arena_printf(a, "%.*s#%.*s",
                                                                STR_ARG(o->key),
                                                                STR_ARG(commit))
                                                 : o->key,
                                .object = object};
}

bool proof_put_also(struct store *store, const struct origin *o,
                    struct str commit, struct str object,
                    const struct hash *digest, struct arena *a, struct err *e)
{
    struct state_proof ref = also_proof(o, STR(""), object, a);
    struct state_proof own = also_proof(o, commit, object, a);

    ref.digest = own.digest = *digest;
    return store_put_proof(store, &ref, e) &&
           (commit.n == 0 || store_put_proof(store, &own, e));
}

bool proof_has_also(struct store *store, const struct lock_entry *entry,
                    const struct origin *o, struct str commit, struct arena *a)
{
    struct str object = entry->artifact.n ? entry->artifact : entry->object;
    struct state_proof p = also_proof(o, commit, object, a);

    return object.n && digest_parse(entry->digest, &p.digest) &&
           state_has_proof(store_state(store), &p);
}

bool proof_covers(const struct layer *l, struct store *store,
                  const struct lock_entry *entry, const struct origin *o,
                  struct arena *a, struct str *commit)
{
    struct str path;

    *commit = proof_commit(l, entry, o, a);
    if (is_own(l, entry, o) ||
        (o->scheme == ORIGIN_GIT && proof_find(l, store, entry, o, &path)) ||
        (named_commit(l, entry, o).n &&
         proof_has_also(store, entry, o, *commit, a)))
        return true;
    *commit = str_make("", 0);
    return named_commit(l, entry, o).n == 0 &&
           proof_has_also(store, entry, o, STR(""), a);
}

bool proof_check_commit(const struct layer *l, const struct lock_entry *entry,
                        struct err *e)
{
    const struct origin *o = layer_source(l, entry);
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
