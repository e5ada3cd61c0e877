#include "session.h"

/*
 * snapshot: fetches from servers that send only commits that refs name,
 * complete with all files. The tip of a ref is requested alone. Any other
 * commit is searched in the history of the default branch and of the refs that
 * its packages name: first a short history, then a longer one, then all refs.
 *
 * Source: HOSTS.md 6; row H3.
 */

/* Stages of the search: length of the history, and from which tips. */
static const struct search {
    unsigned deepen; /* 0 for the whole history */
    bool everywhere;
} searches[] = {{1, false}, {50, false}, {500, false}, {0, false}, {0, true}};

#define SEARCH_TIP   0 /* the commit is itself a tip */
#define SEARCH_FIRST 1
#define SEARCH_ALL   3 /* first stage for servers without "deepen" */
#define SEARCH_COUNT (sizeof searches / sizeof *searches)

/* Collects the tips of the default branch and of the refs that its packages
 * name. */
static void near_tips(struct repo *r, const struct snapshot *s, struct arena *a,
                      struct oid_set *out)
{
    const struct ref *head = ref_list_find(&r->refs, STR("HEAD"));
    struct ref_choice choice;
    struct err ignored = {0};

    oid_set_init(out, a);
    if (head && !oid_is_zero(&head->id))
        oid_set_put(out, &head->id);
    for (const struct ask *k = r->asks; k; k = k->next) {
        const struct oid *tip;

        if (k->snapshot != s || oid_set_count(out) >= REPO_MAX_TIPS ||
            !refs_choose(&r->refs, k->rest, a, &choice, &ignored))
            continue;
        tip = advertised_id(r, &choice.commit);
        if (tip)
            oid_set_put(out, tip);
    }
}

static bool is_wanted(const struct snapshot *s)
{
    return s->is_wanted && s->trees == TREES_NEEDED;
}

static void begin_search(const struct repo *r, struct snapshot *s)
{
    if (s->search == SEARCH_TIP && !advertised_id(r, &s->commit))
        s->search = r->caps.shallow ? SEARCH_FIRST : SEARCH_ALL;
}

/* Collects the snapshots for one request: all that are tips, or those in the
 * history of the same tips. */
static void take_wanted(struct repo *r, struct exchange *x, struct oid_set *ids,
                        struct oid_set *tips, unsigned *search)
{
    struct snapshot *first = NULL;

    for (struct snapshot *s = r->snapshots; s; s = s->next) {
        if (!is_wanted(s))
            continue;
        begin_search(r, s);
        if (!first || s->search < first->search)
            first = s;
    }
    if (!first)
        return;
    *search = first->search;
    if (searches[*search].everywhere)
        all_tips(r, &x->arena, tips);
    else if (*search != SEARCH_TIP)
        near_tips(r, first, &x->arena, tips);
    for (struct snapshot *s = r->snapshots; s; s = s->next) {
        if (!is_wanted(s) || s->search != *search ||
            oid_set_count(ids) >= FETCH_WANTS_MAX)
            continue;
        if (s->search == SEARCH_TIP)
            oid_set_put(tips, advertised_id(r, &s->commit));
        else if (s != first && !searches[*search].everywhere)
            continue; /* fetched later, from its own tips */
        oid_set_put(ids, &s->commit);
        s->trees = TREES_COMING;
    }
}

static struct oid *list_of(const struct oid_set *set, struct arena *a)
{
    struct oid *ids = arena_array(a, oid_set_count(set), sizeof *ids);

    for (size_t i = 0; i < oid_set_count(set); i++)
        ids[i] = *oid_set_get(set, i);
    return ids;
}

static bool any_is_wanted(const struct repo *r)
{
    for (const struct snapshot *s = r->snapshots; s; s = s->next)
        if (is_wanted(s))
            return true;
    return false;
}

void snapshots_start(struct repo *r)
{
    struct exchange *x;
    struct fetch_args args = {0};
    struct oid_set ids, tips;
    unsigned search = 0;

    if (!any_is_wanted(r))
        return;
    if (!r->all_refs_known) { /* the tips must be known first */
        r->is_dirty |= !r->wants_all_refs;
        r->wants_all_refs = true;
        return;
    }
    x = exchange_open(r, REQUEST_TREES);
    oid_set_init(&ids, &x->arena);
    oid_set_init(&tips, &x->arena);
    take_wanted(r, x, &ids, &tips, &search);
    x->wants = list_of(&ids, &x->arena);
    x->want_count = oid_set_count(&ids);
    x->takes_all = true;
    x->is_search = search != SEARCH_TIP;
    args.wants = list_of(&tips, &x->arena);
    args.want_count = oid_set_count(&tips);
    args.deepen = r->caps.shallow ? searches[search].deepen : 0;
    if (args.want_count) {
        exchange_start(x, &args);
        return;
    }
    for (size_t i = 0; i < x->want_count; i++) /* there are no refs */
        snapshot_search_on(r, snapshot_get(r, &x->wants[i]));
    r->is_dirty |= x->want_count > 0;
    exchange_close(x);
}

void snapshot_search_on(struct repo *r, struct snapshot *s)
{
    char hex[OID_HEX_CHARS + 1];
    struct err e;

    s->trees = TREES_NEEDED;
    if (++s->search < SEARCH_COUNT)
        return;
    oid_format(&s->commit, hex);
    err_set(&e, ERR_REF,
            "%.*s does not give out commits that no ref names, and %.12s is "
            "in no branch or tag",
            STR_ARG(r->url.host), hex);
    err_hint(&e, "its history may have been rewritten: name a branch or a "
                 "tag, or run mapm update");
    s->why = repo_keep_err(r, &e);
    s->trees = TREES_FAILED;
}

/* Fetches a commit whose trees came without the files. */
static void fetch_again(struct repo *r, struct snapshot *s)
{
    s->trees = TREES_NEEDED;
    s->is_wanted = true;
    s->is_walked = false;
    r->is_dirty = true;
}

static void fail_file(struct repo *r, struct blob *b, struct str path)
{
    struct err e;

    err_set(&e, ERR_DAMAGED, "the server left out the object of %.*s",
            STR_ARG(path));
    b->why = repo_keep_err(r, &e);
    b->state = BLOB_FAILED;
    r->is_dirty = true;
}

void snapshots_need_files(struct repo *r)
{
    for (struct ask *a = r->asks; a; a = a->next)
        for (size_t i = 0; a->stage == ASK_FILES && i < a->listing.count; i++) {
            struct blob *b = a->blobs[i];

            if (b->state != BLOB_MISSING || !ask_wants_file(a, i) ||
                a->snapshot->trees == TREES_NEEDED ||
                a->snapshot->trees == TREES_COMING)
                continue;
            if (a->snapshot->trees == TREES_HERE && !a->snapshot->has_files)
                fetch_again(r, a->snapshot);
            else if (a->snapshot->trees == TREES_FAILED) {
                b->why = a->snapshot->why;
                b->state = BLOB_FAILED;
                r->is_dirty = true;
            } else
                fail_file(r, b, a->listing.files[i].path);
        }
}

static bool any_comes(const struct repo *r)
{
    for (const struct snapshot *s = r->snapshots; s; s = s->next)
        if (s->is_wanted &&
            (s->trees == TREES_NEEDED || s->trees == TREES_COMING))
            return true;
    return false;
}

static bool fetch_walked_again(struct repo *r)
{
    bool any = false;

    for (struct snapshot *s = r->snapshots; s; s = s->next)
        if (s->trees == TREES_HERE && s->is_walked && !s->has_files) {
            fetch_again(r, s);
            any = true;
        }
    return any;
}

void snapshots_need_trees(struct repo *r)
{
    struct err e;

    for (size_t i = 0; i < r->loose_objects.count; i++) {
        struct loose_object *t = r->loose_objects.entries[i].value;
        char hex[OID_HEX_CHARS + 1];

        if (t->why || loose_object_is_here(r, t))
            continue;
        if (any_comes(r) || fetch_walked_again(r))
            return;
        oid_format(&t->id, hex);
        err_set(&e, ERR_DAMAGED, "the server left out the object %s", hex);
        t->why = repo_keep_err(r, &e);
        r->is_dirty = true;
    }
}
