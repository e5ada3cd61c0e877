#include "base/path.h"

#include "session.h"

/*
 * prefetch: chooses manifests that have not been requested yet but probably
 * will be, and adds them to the first request for blobs. That saves a round
 * trip for each level of a dependency graph within the repository, but costs
 * bytes. So the number depends on the packages that were requested so far:
 *
 *     a dependency of a dependency   PREFETCH_MANY
 *     a dependency of a root         PREFETCH_FEW
 *     a root agent                   PREFETCH_AGENT, as it usually has
 *                                    dependencies
 *     a root skill                   none
 *
 * For dependencies, PREFETCH_TIMES the number of requested packages is allowed
 * if that is more. If the catalog has more manifests than allowed, and fewer
 * than PREFETCH_MANY are allowed, none are added. The room in the request is a
 * further limit.
 *
 * Source: FETCH.md 4 (a).
 */

#define PREFETCH_MANY  256
#define PREFETCH_FEW   32
#define PREFETCH_AGENT 128
#define PREFETCH_TIMES 4

struct prefetch {
    struct repo *repo;
    struct snapshot *snapshot;
    struct arena *arena;
    struct map folders; /* folders that were searched */
    struct blob **blobs;
    size_t count, capacity;
};

static void add(struct prefetch *g, const struct oid *id)
{
    struct blob *b = blob_get(g->repo, id);

    if (b->state != BLOB_NEW && b->state != BLOB_MISSING)
        return;
    b->is_manifest = true;
    g->blobs = arena_grow(g->arena, g->blobs, g->count, &g->capacity,
                          sizeof(struct blob *));
    g->blobs[g->count++] = b;
}

/* Adds the manifest of a package, given its tree. */
static void add_entry_file(struct prefetch *g, const struct oid *folder,
                           const char *name)
{
    const struct object *o = objects_find(&g->repo->objects, folder);
    struct str rest = o && o->type == OBJECT_TREE ? o->bytes : str_make("", 0);
    struct err ignored = {0};
    struct tree_entry entry;

    while (rest.n && tree_next(&rest, &entry, &ignored)) {
        if (str_is(entry.name, name) && entry.kind == TREE_FILE) {
            add(g, &entry.id);
            return;
        }
    }
}

static void add_bucket(struct prefetch *g, struct str path,
                       const char *entry_file)
{
    struct tree_source src = {&g->repo->objects, g->snapshot->root,
                              &g->repo->index, &g->repo->session->limits, NULL};
    struct tree_found at = {0};
    struct oid_set wants;
    const struct object *o;
    struct str rest;
    struct err ignored = {0};
    struct tree_entry entry;

    if (!map_put(&g->folders, path, g))
        return;
    oid_set_init(&wants, g->arena);
    if (!tree_find(&src, path, &wants, &at, &ignored) || at.kind != TREE_FOLDER)
        return;
    o = objects_find(&g->repo->objects, &at.id);
    rest = o && o->type == OBJECT_TREE ? o->bytes : str_make("", 0);
    while (rest.n && tree_next(&rest, &entry, &ignored)) {
        if (entry_file && entry.kind == TREE_FOLDER)
            add_entry_file(g, &entry.id, entry_file);
        else if (!entry_file && entry.kind == TREE_FILE &&
                 str_ends(entry.name, STR(".json")))
            add(g, &entry.id);
    }
}

/* Adds the three folders of the catalog that this package is in. */
static void add_catalog(struct prefetch *g, struct str path)
{
    static const struct {
        const char *name, *entry_file;
    } buckets[] = {
        {"skills", "SKILL.md"}, {"agents", "AGENTS.md"}, {"mcps", NULL}};
    struct str base = path_folder(path_folder(path));

    if (path_folder(path).n == 0)
        return;
    for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++)
        add_bucket(g,
                   base.n ? arena_printf(g->arena, "%.*s/%s", STR_ARG(base),
                                         buckets[i].name)
                          : str_cstr(buckets[i].name),
                   buckets[i].entry_file);
}

/* Returns how many manifests may be added for this commit. */
static size_t allowance(const struct repo *r, const struct snapshot *s)
{
    unsigned round = 0;
    bool agent = false;
    size_t times = PREFETCH_TIMES * s->asked;

    for (const struct ask *a = r->asks; a; a = a->next) {
        if (a->snapshot != s || a->stage != ASK_FILES)
            continue;
        if (a->round > round)
            round = a->round;
        agent |= a->doc == DOC_AGENT;
    }
    if (round >= 2)
        return times < PREFETCH_MANY ? PREFETCH_MANY : times;
    if (round == 1)
        return times < PREFETCH_FEW ? PREFETCH_FEW : times;
    return agent ? PREFETCH_AGENT : 0;
}

static bool prefetch(struct prefetch *g, size_t max, struct err *e)
{
    size_t kept = 0;
    size_t few = allowance(g->repo, g->snapshot);

    if (few == 0)
        return true;
    for (const struct ask *a = g->repo->asks; a; a = a->next)
        if (a->snapshot == g->snapshot && a->stage == ASK_FILES &&
            !a->is_pinned)
            add_catalog(g, a->path);
    if (g->count > few && few < PREFETCH_MANY) {
        g->count = 0; /* too many to guess: wait for more requests */
        return true;
    }
    if (max > few)
        max = few;
    if (g->count > max)
        g->count = max;
    if (!blobs_look_up(g->repo, g->blobs, g->count, e))
        return false;
    for (size_t i = 0; i < g->count; i++)
        if (g->blobs[i]->state == BLOB_MISSING)
            g->blobs[kept++] = g->blobs[i];
    g->count = kept;
    return true;
}

bool prefetch_manifests(struct repo *r, struct arena *a, struct blob **out,
                        size_t max, size_t *count, struct err *e)
{
    *count = 0;
    for (struct snapshot *s = r->snapshots; s && *count < max; s = s->next) {
        struct prefetch g = {.repo = r, .snapshot = s, .arena = a};

        if (s->trees != TREES_HERE)
            continue;
        map_init(&g.folders, a);
        if (!prefetch(&g, max - *count, e))
            return false;
        for (size_t i = 0; i < g.count; i++)
            out[(*count)++] = g.blobs[i];
    }
    return true;
}
