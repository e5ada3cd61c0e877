#include "base/path.h"

#include "session.h"

/*
 * offers: finds the packages of a repository. A folder with SKILL.md is a
 * skill; a folder with AGENTS.md below a folder "agents" is an agent; a .json
 * file in a folder "mcps" is an MCP server. A repository with such folders at
 * its top is a catalog, and only their packages are fetched; otherwise skills
 * may be anywhere. The search is bounded and does not descend into packages.
 */

#define OFFERS_MAX       20000
#define FOLDERS_MAX      50000
#define OFFER_MAX_DEPTH  12
#define OFFER_PATH_BYTES 1024

bool tree_has_file(struct str tree, const char *name)
{
    struct err ignored = {0};

    while (tree.n) {
        struct tree_entry entry;

        if (!tree_next(&tree, &entry, &ignored))
            return false;
        if (str_is(entry.name, name))
            return entry.kind == TREE_FILE || entry.kind == TREE_PROGRAM ||
                   entry.kind == TREE_LINK;
    }
    return false;
}

/* A folder that has yet to be searched. */
struct visit {
    struct oid id;
    struct str path, bucket; /* bucket: name of the parent folder */
    unsigned depth;
};

struct search {
    const struct objects *objects;
    struct oid_set *wants;
    struct arena *arena;
    struct visit *visits;
    size_t count, capacity;
    struct fetch_event *out;
    size_t offer_capacity;
    bool is_waiting;
    bool is_glance; /* search only trees in memory, for packages outside the
                     * catalog's folders */
    struct str cut; /* the first path that was skipped because of the bounds,
                     * or "" */
};

static struct str below(const struct search *s, struct str path,
                        struct str name)
{
    if (path.n == 0)
        return arena_str(s->arena, name);
    return arena_printf(s->arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(name));
}

static void cut(struct search *s, struct str path)
{
    if (s->cut.n == 0 && !s->is_glance)
        s->cut = path;
}

static void offer(struct search *s, enum doc_kind kind, struct str path)
{
    struct fetch_event *out = s->out;

    if (out->offer_count >= OFFERS_MAX || path.n > OFFER_PATH_BYTES) {
        cut(s, path);
        return;
    }
    out->offers = arena_grow(s->arena, out->offers, out->offer_count,
                             &s->offer_capacity, sizeof *out->offers);
    out->offers[out->offer_count++] =
        (struct fetch_offer){kind, path, s->is_glance};
}

static void visit(struct search *s, const struct oid *id, struct str path,
                  struct str bucket, unsigned depth)
{
    if (s->count >= FOLDERS_MAX || depth > OFFER_MAX_DEPTH) {
        cut(s, path);
        return;
    }
    s->visits = arena_grow(s->arena, s->visits, s->count, &s->capacity,
                           sizeof *s->visits);
    s->visits[s->count++] = (struct visit){*id, path, bucket, depth};
}

/* Returns its tree, or NULL if it is no tree or has not been fetched; requests
 * it then. */
static const struct object *tree_of(struct search *s, const struct oid *id)
{
    const struct object *o = objects_find(s->objects, id);

    if (o == NULL && !s->is_glance) {
        oid_set_put(s->wants, id);
        s->is_waiting = true;
    }
    return o && o->type == OBJECT_TREE ? o : NULL;
}

/* Returns the name of the parent folder: "agents" for "agents/x". */
static struct str bucket_of(struct str path)
{
    return path_last(path_folder(path));
}

static bool is_package(struct search *s, const struct visit *v, struct str tree)
{
    if (tree_has_file(tree, "SKILL.md"))
        offer(s, DOC_SKILL, v->path);
    else if (str_is(v->bucket, "agents") && tree_has_file(tree, "AGENTS.md"))
        offer(s, DOC_AGENT, v->path);
    else
        return false;
    return true;
}

/* A repository or folder may itself be a package and contain others. */
static bool offer_itself(struct search *s, const struct ask *a,
                         const struct object *top, struct str path)
{
    struct visit self = {.path = path, .bucket = bucket_of(path)};

    return a->in.what == FETCH_CATALOG && is_package(s, &self, top->bytes);
}

static void search_folder(struct search *s, const struct visit *v)
{
    const struct object *o = tree_of(s, &v->id);
    struct str rest = o ? o->bytes : str_make("", 0);
    struct str name = path_last(v->path);
    struct err ignored = {0};

    if (o == NULL || (v->depth > 0 && is_package(s, v, rest)))
        return;
    while (rest.n) {
        struct tree_entry entry;
        struct err bad = {0};

        if (!tree_next(&rest, &entry, &ignored))
            return;
        if (!path_check_name(entry.name, &bad))
            continue;
        if (entry.kind == TREE_FOLDER)
            visit(s, &entry.id, below(s, v->path, entry.name), name,
                  v->depth + 1);
        else if (str_is(name, "mcps") && str_ends(entry.name, STR(".json")) &&
                 (entry.kind == TREE_FILE || entry.kind == TREE_PROGRAM))
            offer(s, DOC_MCP, below(s, v->path, entry.name));
    }
}

static bool is_bucket(struct str name)
{
    return str_is(name, "agents") || str_is(name, "skills") ||
           str_is(name, "mcps");
}

static void run(struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct visit v = s->visits[i];

        search_folder(s, &v);
    }
}

/* Searches the catalog's own folders first. */
static void visit_buckets(struct search *s, const struct object *top,
                          struct str path)
{
    struct str rest = top->bytes;
    struct err ignored = {0};
    struct tree_entry entry;

    while (rest.n && tree_next(&rest, &entry, &ignored))
        if (entry.kind == TREE_FOLDER && is_bucket(entry.name))
            visit(s, &entry.id, below(s, path, entry.name), path_last(path), 1);
}

/* Searches the other folders without fetching trees. */
static void glance_elsewhere(struct search *s, const struct object *top,
                             struct str path)
{
    struct str rest = top->bytes;
    struct err ignored = {0}, bad = {0};
    struct tree_entry entry;

    s->count = 0;
    s->is_glance = true;
    while (rest.n && tree_next(&rest, &entry, &ignored))
        if (entry.kind == TREE_FOLDER && !is_bucket(entry.name) &&
            path_check_name(entry.name, &bad))
            visit(s, &entry.id, below(s, path, entry.name), path_last(path), 1);
    run(s);
}

static void sort_offers(struct fetch_event *out)
{
    STR_SORT_BY(out->offers, out->offer_count, path);
}

static bool find(struct search *s, struct ask *a, const struct oid *folder,
                 struct str path)
{
    const struct object *top = tree_of(s, folder);
    size_t own;

    if (top == NULL)
        return !s->is_waiting;
    own = offer_itself(s, a, top, path);
    if (is_bucket(path_last(path))) {
        visit(s, folder, path, str_make("", 0), 0);
    } else {
        visit_buckets(s, top, path);
        run(s);
        if (s->is_waiting)
            return false;
        if (s->out->offer_count > own) {
            glance_elsewhere(s, top, path);
            return true;
        }
        s->count = 0;
        visit(s, folder, path, str_make("", 0), 0);
    }
    run(s);
    return !s->is_waiting;
}

bool offers_find(struct ask *a, const struct oid *folder, struct str path,
                 struct oid_set *wants, struct arena *arena,
                 struct fetch_event *out, struct str *beyond)
{
    struct search s = {.objects = &a->repo->objects,
                       .wants = wants,
                       .arena = arena,
                       .out = out};
    bool is_done;

    out->offer_count = 0; /* may be a repeated call */
    out->offers = NULL;
    is_done = find(&s, a, folder, path);
    sort_offers(out);
    *beyond = s.cut;
    return is_done;
}

void offers_note_cut(struct ask *a, struct str beyond)
{
    if (beyond.n)
        ask_note(a, arena_printf(&a->repo->arena,
                                 "%.*s may offer more: \"%.*s\" and others are "
                                 "not looked into, as a catalog is read %d "
                                 "folders deep, and up to %d packages",
                                 STR_ARG(a->repo->name), STR_ARG(beyond),
                                 OFFER_MAX_DEPTH, OFFERS_MAX));
}
