#include "base/invariant.h"
#include "base/proc.h"

#include "team_store.h"

/* --- wants of one request ------------------------------------------------- */

struct wants {
    struct exchange *x;
    struct oid *ids;
    size_t count, max;
    struct blob **blobs;
    size_t blob_count, blob_capacity;
};

static void wants_init(struct wants *w, struct exchange *x)
{
    struct request_slot *slot = &x->repo->slots[x->kind];

    if (slot->batch == 0 || slot->batch > FETCH_WANTS_MAX)
        slot->batch = FETCH_WANTS_MAX;
    *w = (struct wants){.x = x, .max = slot->batch};
    w->ids = arena_array(&x->arena, w->max, sizeof *w->ids);
}

static bool wants_have_room(const struct wants *w)
{
    return w->count < w->max;
}

static void wants_put(struct wants *w, const struct oid *id)
{
    INVARIANT(wants_have_room(w) && !oid_is_zero(id));
    w->ids[w->count++] = *id;
}

static void wants_take(struct wants *w, struct blob *b)
{
    w->blobs = arena_grow(&w->x->arena, w->blobs, w->blob_count,
                          &w->blob_capacity, sizeof(struct blob *));
    w->blobs[w->blob_count++] = b;
    INVARIANT(b->state == BLOB_MISSING);
    b->state = BLOB_COMING;
}

/* Sends the request, or closes it if it has no wants. */
static void wants_send(struct wants *w, struct fetch_args *args)
{
    struct exchange *x = w->x;

    if (w->count == 0) {
        exchange_close(x);
        return;
    }
    x->blobs = w->blobs;
    x->blob_count = w->blob_count;
    args->wants = w->ids;
    args->want_count = w->count;
    exchange_start(x, args);
}

/* --- next request of each slot -------------------------------------------- */

/* One repository requests the capabilities of the server; others wait for
 * it. */
static void start_caps(struct repo *r)
{
    if (r->place->asking)
        return;
    place_follow(r);
    if (!r->needs_caps)
        return;
    r->place->asking = r;
    exchange_start(exchange_open(r, REQUEST_CAPS), NULL);
}

static void add_prefix(struct repo *r, struct exchange *x, struct str *list,
                       struct str prefix)
{
    if (r->all_refs_known && !str_is(prefix, "HEAD"))
        return;
    if (!refs_are_asked(r, prefix)) {
        list[x->prefix_count++] = prefix;
        refs_mark(r, prefix, PREFIX_ASKED);
    }
}

#define USUAL_BRANCH STR("main")

/* In version 0 all refs come with the capabilities. */
static void need_refs(struct repo *r)
{
    bool needs = r->wants_all_refs || !r->caps.any_object;

    for (const struct ask *a = r->asks; a; a = a->next)
        needs |= a->stage == ASK_REFS && a->prefix_count;
    for (const struct snapshot *s = r->snapshots; s; s = s->next)
        needs |= s->reachability == REACHABILITY_BRANCH_TIP;
    r->needs_caps |= needs && !r->all_refs_known;
}

static void start_refs(struct repo *r)
{
    bool from_head = false;
    struct exchange *x;
    struct str *list;
    size_t room = 4; /* size of `list`; 4 for the prefixes that are added
                      * after those of the asks */

    if (r->caps.version == 0)
        return;
    x = exchange_open(r, REQUEST_REFS);
    for (struct ask *a = r->asks; a; a = a->next)
        room += a->stage == ASK_REFS ? a->prefix_count : 0;
    list = arena_array(&x->arena, room, sizeof *list);
    for (struct ask *a = r->asks; a; a = a->next)
        if (a->stage == ASK_REFS) {
            for (size_t i = 0; i < a->prefix_count; i++)
                add_prefix(r, x, list, a->prefixes[i]);
            from_head |= a->prefix_count && str_is(a->prefixes[0], "HEAD");
        }
    /* A package that is reached by the default branch mostly names that branch
     * in its own dependencies: resolve it in the same request. */
    if (from_head)
        add_prefix(r, x, list, USUAL_BRANCH);
    for (struct snapshot *s = r->snapshots; s; s = s->next)
        if (s->reachability == REACHABILITY_BRANCH_TIP)
            add_prefix(r, x, list, STR("HEAD"));
    if (r->wants_all_refs)
        add_prefix(r, x, list, str_make("", 0));
    if (!r->caps.any_object)
        add_prefix(r, x, list, STR("HEAD"));
    INVARIANT(x->prefix_count <= room);
    x->prefixes = list;
    if (x->prefix_count == 0)
        exchange_close(x);
    else
        exchange_start(x, NULL);
}

/* Returns whether an ask for a catalog at the root needs every name. */
static bool needs_all_names(const struct repo *r, const struct snapshot *s)
{
    for (const struct ask *a = r->asks; a; a = a->next)
        if (a->snapshot == s && a->stage == ASK_TREES && a->has_path &&
            a->path.n == 0)
            return true;
    return false;
}

/* Returns whether many packages of the commit are requested, or all names. */
static bool needs_all_trees(const struct repo *r, const struct snapshot *s)
{
    return s->at_once || s->unpinned > FETCH_WALK_MAX_PACKAGES ||
           needs_all_names(r, s);
}

/* Returns whether whole commits are pending: single trees wait for them. */
static bool all_trees_come(const struct repo *r)
{
    for (const struct snapshot *s = r->snapshots; s; s = s->next)
        if (s->is_whole &&
            (s->trees == TREES_NEEDED || s->trees == TREES_COMING))
            return true;
    return false;
}

/* A walked commit has only the trees of its own packages. As a base, it would
 * let the server omit trees that packages of another commit need. */
static bool has_one_base(const struct repo *r)
{
    const struct snapshot *base = NULL;

    for (const struct ask *a = r->asks; a; a = a->next) {
        if (a->base && base && a->base != base)
            return false;
        base = a->base ? a->base : base;
    }
    return true;
}

/* Names the commits that an update leaves as bases, so that the response has
 * only what has changed. */
static void put_bases(struct exchange *x, struct fetch_args *args)
{
    struct repo *r = x->repo;
    bool is_one = has_one_base(r);
    struct oid_set bases;
    struct oid *ids;

    oid_set_init(&bases, &x->arena);
    for (const struct ask *a = r->asks; a; a = a->next)
        if (a->base && a->base->trees == TREES_HERE && a->snapshot &&
            a->snapshot->trees == TREES_COMING &&
            oid_set_count(&bases) < FETCH_BASES_MAX &&
            (!a->base->is_walked || is_one))
            oid_set_put(&bases, &a->base->commit);
    ids = arena_array(&x->arena, oid_set_count(&bases), sizeof *ids);
    for (size_t i = 0; i < oid_set_count(&bases); i++)
        ids[i] = *oid_set_get(&bases, i);
    args->haves = args->shallows = ids;
    args->have_count = args->shallow_count = oid_set_count(&bases);
    x->is_thin = args->thin = args->have_count > 0;
}

static void start_trees(struct repo *r)
{
    struct exchange *x;
    struct fetch_args args = {.deepen = r->caps.shallow};
    struct wants w;
    bool walked = false, all = false;

    if (!r->caps.any_object) {
        snapshots_start(r);
        return;
    }
    x = exchange_open(r, REQUEST_TREES);
    wants_init(&w, x);
    for (struct snapshot *s = r->snapshots; s && wants_have_room(&w);
         s = s->next) {
        if (!s->is_wanted || s->trees != TREES_NEEDED ||
            (w.count && s->is_walked != walked))
            continue;
        walked = s->is_walked;
        s->is_whole |= !walked && needs_all_trees(r, s);
        all |= s->is_whole;
        wants_put(&w, &s->commit);
        s->trees = TREES_COMING;
    }
    if (caps_are_partial(&r->caps))
        args.filter = walked ? "tree:0" : "blob:none";
    if (args.filter && args.deepen && r->caps.version && !walked && !r->no_thin)
        put_bases(x, &args);
    x->takes_all = args.filter == NULL;
    x->may_cut = !walked && !all && args.filter;
    wants_send(&w, &args);
}

static void start_single(struct repo *r, enum request_kind kind)
{
    struct exchange *x;
    struct fetch_args args = {0};
    struct wants w;

    if (all_trees_come(r))
        return;
    if (!r->caps.any_object) {
        snapshots_need_trees(r);
        return;
    }
    x = exchange_open(r, kind);
    wants_init(&w, x);
    for (size_t i = 0; i < r->loose_objects.count && wants_have_room(&w); i++) {
        struct loose_object *t = r->loose_objects.entries[i].value;

        if (t->is_whole != (kind == REQUEST_FOLDERS) || t->why ||
            t->is_coming || loose_object_is_here(r, t))
            continue;
        t->is_coming = true;
        wants_put(&w, &t->id);
    }
    if (r->caps.filter)
        args.filter = kind == REQUEST_FOLDERS ? "blob:none" : "tree:0";
    wants_send(&w, &args);
}

static void start_loose_objects(struct repo *r)
{
    start_single(r, REQUEST_LOOSE_OBJECTS);
}

static void start_folders(struct repo *r)
{
    start_single(r, REQUEST_FOLDERS);
}

/* A tree brings all its blobs with one want. Allowed only if none of the blobs
 * is present and no link leads elsewhere. */
static bool may_want_tree(const struct ask *a)
{
    const struct tree_listing *l = &a->listing;

    if (a->repo->no_tree_wants || a->is_by_blob || l->kind != TREE_FOLDER ||
        l->has_links || l->count < 2)
        return false;
    for (size_t i = 0; i < l->count; i++)
        if (a->blobs[i]->state != BLOB_MISSING &&
            a->blobs[i]->state != BLOB_COMING)
            return false;
    return true;
}

/* Returns "scripts/" for "scripts/a/b.py"; "" for a file at the top of the
 * package. */
static struct str top_folder(struct str path)
{
    size_t slash = str_find_char(path, '/');

    return str_slice(path, 0, slash == SIZE_MAX ? 0 : slash + 1);
}

/* Returns the tree of a top-level folder of the package, or NULL if unknown. */
static const struct oid *find_folder(const struct ask *a, struct str folder,
                                     struct tree_entry *entry)
{
    const struct object *o = objects_find(&a->repo->objects, &a->listing.id);
    struct str rest = o && o->type == OBJECT_TREE ? o->bytes : str_make("", 0);
    struct err ignored = {0};

    while (rest.n && tree_next(&rest, entry, &ignored))
        if (entry->kind == TREE_FOLDER && entry->name.n + 1 == folder.n &&
            str_starts(folder, entry->name))
            return &entry->id;
    return NULL;
}

/* If only the manifest is present, a folder brings all its files with one want.
 * Returns the number of these files, or 0 if this is impossible. */
static size_t want_folder(struct wants *w, struct ask *a, size_t from)
{
    const struct tree_listing *l = &a->listing;
    struct str folder = top_folder(l->files[from].path);
    struct tree_entry entry;
    const struct oid *id;
    size_t n = 0;

    if (a->is_outline || a->repo->no_tree_wants || a->is_by_blob ||
        l->kind != TREE_FOLDER || l->has_links || folder.n == 0)
        return 0;
    for (; from + n < l->count && str_starts(l->files[from + n].path, folder);
         n++)
        if (a->blobs[from + n]->state != BLOB_MISSING &&
            a->blobs[from + n]->state != BLOB_COMING)
            return 0;
    id = n > 1 ? find_folder(a, folder, &entry) : NULL;
    if (!id)
        return 0;
    wants_put(w, id);
    a->is_by_folder = true;
    for (size_t i = from; i < from + n; i++)
        if (a->blobs[i]->state == BLOB_MISSING)
            wants_take(w, a->blobs[i]);
    return n;
}

/* Returns whether file `i` is the first one of a top-level folder. */
static bool begins_folder(const struct ask *a, size_t i)
{
    const struct tree_file *files = a->listing.files;

    return i == 0 ||
           !str_eq(top_folder(files[i - 1].path), top_folder(files[i].path));
}

static void want_files(struct wants *w, struct ask *a)
{
    bool by_tree = !a->is_outline && may_want_tree(a), any = false;
    size_t n;

    for (size_t i = 0; i < a->listing.count; i++) {
        struct blob *b = a->blobs[i];

        if (b->state != BLOB_MISSING || !ask_wants_file(a, i))
            continue;
        if (!by_tree && !wants_have_room(w))
            return;
        if (!by_tree && begins_folder(a, i) && (n = want_folder(w, a, i))) {
            i += n - 1;
            continue;
        }
        if (!by_tree)
            wants_put(w, &b->id);
        wants_take(w, b);
        any = true;
    }
    if (by_tree && any)
        wants_put(w, &a->listing.id);
}

static bool want_soon(struct wants *w, struct err *e)
{
    struct repo *r = w->x->repo;
    struct blob **soon;
    size_t count = 0;

    soon = arena_array(&w->x->arena, w->max, sizeof(struct blob *));
    if (!prefetch_manifests(r, &w->x->arena, soon, w->max - w->count, &count,
                            e))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (soon[i]->state != BLOB_MISSING)
            continue; /* several folders or commits share the file */
        wants_put(w, &soon[i]->id);
        wants_take(w, soon[i]);
    }
    return true;
}

static bool start_blobs(struct repo *r, struct err *e)
{
    struct exchange *x;
    struct fetch_args args = {0};
    struct wants w;

    if (!r->caps.any_object) {
        snapshots_need_files(r);
        return true;
    }
    x = exchange_open(r, REQUEST_BLOBS);
    wants_init(&w, x);
    for (struct ask *a = r->asks; a && wants_have_room(&w); a = a->next) {
        if (a->stage == ASK_OBJECT && !a->object_coming && !a->object_why) {
            a->object_coming = x->takes_all = true;
            wants_put(&w, &a->pinned);
        } else if (a->stage == ASK_FILES) {
            want_files(&w, a);
        }
    }
    if (w.count && !want_soon(&w, e)) {
        exchange_close(x);
        return false;
    }
    wants_send(&w, &args);
    return true;
}

/* If an older tip cannot be requested, requests all current tips: one of them
 * has it in its history, or it is gone. */
static void put_tip(struct wants *w, const struct oid *tip)
{
    struct repo *r = w->x->repo;
    struct oid_set tips;

    if (r->caps.any_object || advertised_id(r, tip)) {
        wants_put(w, tip);
        return;
    }
    all_tips(r, &w->x->arena, &tips);
    for (size_t i = 0; i < oid_set_count(&tips) && wants_have_room(w); i++)
        wants_put(w, oid_set_get(&tips, i));
}

static void start_reach(struct repo *r)
{
    struct ancestry *ancestry = ancestry_next(r);
    struct fetch_args args = {.haves = ancestry ? &ancestry->commit : NULL,
                              .have_count = 1,
                              .filter = r->caps.filter ? "tree:0" : NULL};
    struct exchange *x;
    struct wants w;

    if (ancestry == NULL)
        return;
    x = exchange_open(r, REQUEST_REACHABILITY);
    x->checking_ancestry = ancestry;
    wants_init(&w, x);
    put_tip(&w, &ancestry->tip);
    wants_send(&w, &args);
}

static void start_reachability(struct repo *r)
{
    struct snapshot *s = r->snapshots;
    struct exchange *x;
    struct fetch_args args = {0};
    struct wants w;
    struct oid *tips;
    size_t count;

    while (s && s->reachability != REACHABILITY_HEAD_HISTORY &&
           s->reachability != REACHABILITY_ALL_HISTORY)
        s = s->next;
    if (s == NULL) {
        start_reach(r);
        return;
    }
    x = exchange_open(r, REQUEST_REACHABILITY);
    x->checking = s;
    wants_init(&w, x);
    reachability_tips(r, s, &x->arena, &tips, &count);
    if (count == 0) { /* no branches: the commit is unreachable */
        reachability_evaluate(r, s, &x->objects, NULL, 0);
        r->is_dirty = true;
    }
    for (size_t i = 0; i < count && wants_have_room(&w); i++)
        wants_put(&w, &tips[i]);
    args.haves = &s->commit;
    args.have_count = 1;
    args.filter = r->caps.filter ? "tree:0" : NULL;
    wants_send(&w, &args);
}

/* Returns whether the slot may start a request now. Capabilities come first. */
static bool is_due(const struct repo *r, enum request_kind kind, uint64_t now,
                   uint64_t *wait_ms)
{
    const struct request_slot *slot = &r->slots[kind];

    if (slot->busy || r->dead || (r->needs_caps && kind != REQUEST_CAPS))
        return false;
    if (slot->not_before_ms > now && slot->not_before_ms - now < *wait_ms)
        *wait_ms = slot->not_before_ms - now;
    return slot->not_before_ms <= now;
}

bool requests_start(struct repo *r, uint64_t *wait_ms, struct err *e)
{
    static void (*const start[])(struct repo * r) = {
        [REQUEST_CAPS] = start_caps,
        [REQUEST_REFS] = start_refs,
        [REQUEST_TREES] = start_trees,
        [REQUEST_LOOSE_OBJECTS] = start_loose_objects,
        [REQUEST_FOLDERS] = start_folders,
        [REQUEST_REACHABILITY] = start_reachability,
    };
    uint64_t now = proc_now_ms();

    if (r->open_count == 0 || r->dead || team_store_holds(r))
        return true;
    if (team_store_is_only(r->session)) {
        team_store_refuse_host(r);
        r->is_dirty = true;
        return true;
    }
    if (!place_look_up(r, e))
        return false;
    place_follow(r);
    if (r->caps.version == 0)
        need_refs(r);
    for (size_t i = 0; i < REQUEST_COUNT; i++)
        if (start[i] && is_due(r, (enum request_kind)i, now, wait_ms))
            start[i](r);
    return !is_due(r, REQUEST_BLOBS, now, wait_ms) || start_blobs(r, e);
}
