#include <string.h>

#include "session.h"

struct str oid_key(const struct oid *id)
{
    return str_make((const char *)id->b, OID_BYTES);
}

struct snapshot *snapshot_get(struct repo *r, const struct oid *commit)
{
    struct snapshot *s = r->snapshots;

    while (s && !oid_eq(&s->commit, commit))
        s = s->next;
    if (s)
        return s;
    s = arena_new(&r->arena, struct snapshot);
    s->commit = *commit;
    s->next = r->snapshots;
    r->snapshots = s;
    return s;
}

struct loose_object *loose_object_get(struct repo *r, const struct oid *id)
{
    struct loose_object *t = map_find(&r->loose_objects, oid_key(id));

    if (t)
        return t;
    t = arena_new(&r->arena, struct loose_object);
    t->id = *id;
    map_put(&r->loose_objects, oid_key(&t->id), t);
    return t;
}

const struct err *loose_object_want(struct repo *r, const struct oid *id,
                                    bool is_whole)
{
    struct loose_object *t = loose_object_get(r, id);

    t->is_whole |= is_whole;
    return t->why;
}

bool loose_object_is_here(const struct repo *r, const struct loose_object *t)
{
    return objects_find(&r->objects, &t->id) != NULL;
}

const struct err *repo_keep_err(struct repo *r, const struct err *e)
{
    struct err *copy = arena_new(&r->arena, struct err);

    *copy = *e;
    return copy;
}

/* A map has no removal, so the state of a prefix is a pointer to a letter. */
static const char prefix_marks[] = {PREFIX_ASKED, PREFIX_KNOWN};

void refs_mark(struct repo *r, struct str prefix, char mark)
{
    const char *p =
        mark ? memchr(prefix_marks, mark, sizeof prefix_marks) : NULL;

    map_put(&r->prefixes, prefix, (void *)(uintptr_t)p);
}

static char prefix_mark(const struct repo *r, struct str prefix)
{
    const char *p = map_find(&r->prefixes, prefix);

    return p ? *p : '\0';
}

static bool is_mark(const struct repo *r, struct str prefix, char mark)
{
    return prefix_mark(r, prefix) == mark ||
           (str_starts(prefix, ALL_TAGS) && prefix_mark(r, ALL_TAGS) == mark);
}

bool refs_are_asked(const struct repo *r, struct str prefix)
{
    return is_mark(r, prefix, PREFIX_ASKED) || is_mark(r, prefix, PREFIX_KNOWN);
}

bool refs_are_known(const struct repo *r, struct str prefix)
{
    return is_mark(r, prefix, PREFIX_KNOWN) ||
           (r->all_refs_known &&
            (r->caps.version == 0 || !str_is(prefix, "HEAD")));
}

const struct oid *advertised_id(const struct repo *r, const struct oid *commit)
{
    for (size_t i = 0; i < r->refs.count; i++)
        if (oid_eq(&r->refs.items[i].peeled, commit))
            return &r->refs.items[i].id;
    return NULL;
}

void all_tips(const struct repo *r, struct arena *a, struct oid_set *out)
{
    oid_set_init(out, a);
    for (size_t i = 0; i < r->refs.count && oid_set_count(out) < REPO_MAX_TIPS;
         i++)
        if (!oid_is_zero(&r->refs.items[i].id))
            oid_set_put(out, &r->refs.items[i].id);
}

static struct str path_of(const struct url *u)
{
    struct str path = u->path;

    if (str_ends(path, STR(".git")))
        path.n -= 4;
    return path;
}

/* Finds another repo with the URL of `r`: two names of one repository, which is
 * fetched only once. A repo that was redirected from another host is excluded:
 * it gets no secrets, while `r` may have some. */
static struct repo *find_same(const struct session *s, const struct repo *r)
{
    for (size_t i = 0; i < s->repos.count; i++) {
        struct repo *q = s->repos.entries[i].value;

        if (q && q != r && !q->joined && !q->is_foreign && !q->dead &&
            (q->moved_to.n || r->moved_to.n) &&
            url_same_place(&q->url, &r->url) &&
            str_eq_nocase(path_of(&q->url), path_of(&r->url)))
            return q;
    }
    return NULL;
}

struct repo *repo_joined(struct repo *r)
{
    while (r->joined)
        r = r->joined;
    return r;
}

const struct repo *ask_move(const struct ask *a)
{
    const struct repo *r = a->named;

    while (r->joined && r->joined->moved_to.n)
        r = r->joined;
    return r;
}

/* Returns whether the asks of `r` can start again: nothing has been reported
 * for them. With a team store they cannot, as its objects are tied to the
 * ask. */
static bool may_join(const struct repo *r)
{
    if (r->is_foreign || r->session->team || r->refs.count)
        return false;
    for (const struct ask *a = r->asks; a; a = a->next)
        if (a->stage > ASK_TREES)
            return false;
    return true;
}

void repo_join(struct repo *r)
{
    struct repo *q = may_join(r) ? find_same(r->session, r) : NULL;

    if (!q)
        return;
    r->joined = q;
    for (struct ask *a = r->asks; a; a = a->next)
        *a = (struct ask){.in = a->in,
                          .repo = q,
                          .named = a->named,
                          .round = a->round,
                          .next = a->next};
    if (q->last_ask)
        q->last_ask->next = r->asks;
    else
        q->asks = r->asks;
    if (r->asks)
        q->last_ask = r->last_ask;
    q->open_count += r->open_count;
    q->is_dirty = true;
    r->asks = r->last_ask = NULL;
    r->open_count = 0;
}

struct repo *repo_get(struct session *s, const struct link_ask *in)
{
    struct map_entry *entry = map_entry(&s->repos, in->repository);
    struct repo *r = entry->value, *moved;
    struct err why = {0};

    if (r)
        return r;
    r = arena_new(&s->arena, struct repo);
    r->session = s;
    r->key = in->repository;
    r->name = in->name;
    r->kind = in->kind;
    ref_list_init(&r->refs, &r->arena);
    objects_init(&r->objects, &r->arena);
    objects_init(&r->history, &r->arena);
    tree_index_init(&r->index, &r->arena);
    map_init(&r->prefixes, &r->arena);
    map_init(&r->blobs, &r->arena);
    map_init(&r->loose_objects, &r->arena);
    if (!remote_init(r, in, &why)) {
        struct err *kept = arena_new(&r->arena, struct err);

        *kept = why;
        r->dead = kept;
    }
    moved = r->dead ? NULL : find_same(s, r);
    entry->value = moved ? moved : r;
    return entry->value;
}
