#include "base/path.h"
#include "mapm/team_object.h"

#include "team_store.h"

/* --- steps of an ask ------------------------------------------------------ */

enum step {
    STEP_ON,   /* continue with the next stage at once */
    STEP_WAIT, /* wait for the network */
    STEP_FAIL, /* the ask fails with an error */
    STEP_GONE, /* mapm has ended */
};

/* Finds the path of a package when only the commit is known. A ref may have any
 * number of segments, so the first split whose path exists is chosen. */
static enum step split_by_tree(struct ask *a, struct oid_set *wants,
                               struct err *e)
{
    struct tree_source src = {&a->repo->objects, a->snapshot->root,
                              &a->repo->index, &a->repo->session->limits, NULL};
    struct str rest = a->rest, segment;
    size_t segments = 0;

    if (a->in.is_short || rest.n == 0) {
        a->path = a->in.path;
        a->has_path = true;
        return STEP_ON;
    }
    while (segments++ < REF_MAX_SEGMENTS && rest.p &&
           str_cut(&rest, '/', &segment)) {
        struct str path = rest.p ? rest : str_make("", 0);
        struct tree_found found = {0};

        if (!tree_find(&src, path, wants, &found, e)) {
            if (e->code != ERR_PATH)
                return STEP_FAIL;
            continue;
        }
        if (found.kind == TREE_UNKNOWN)
            return STEP_WAIT;
        a->path = path;
        a->has_path = true;
        return STEP_ON;
    }
    err_set(e, ERR_PATH, "%.*s is not in the commit that is locked",
            STR_ARG(a->rest));
    return STEP_FAIL;
}

/* Looks up the trees of a commit in the store. Those of a renamed repository may
 * be there by the name that mapm used: the id of the commit covers them. */
static bool look_up_trees(struct ask *a, struct snapshot *s, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct repo *r = a->repo;
    struct link *link = &r->session->link;
    struct str bytes;

    if (s->is_looked_up)
        return true;
    s->is_looked_up = true;
    if (!link_find_trees(link, r->key, &s->commit, &scratch, &bytes, e) ||
        (bytes.n == 0 && a->named != r &&
         !link_find_trees(link, a->named->key, &s->commit, &scratch, &bytes,
                          e)))
        return false;
    if (bytes.n && bundle_load(r, s, bytes))
        s->trees = TREES_HERE;
    return true;
}

static bool find_snapshot(struct ask *a, const struct oid *commit,
                          struct err *e)
{
    struct repo *r = a->repo;
    struct snapshot *s = snapshot_get(r, commit);
    struct oid base;

    a->snapshot = s;
    if (!look_up_trees(a, s, e))
        return false;
    /* A catalog at the root needs all trees; request them at once. */
    if (s->trees == TREES_HERE && s->is_walked && a->has_path &&
        a->path.n == 0 && !s->is_wanted) {
        s->trees = TREES_NEEDED;
        s->is_walked = false;
    }
    if ((s->trees == TREES_HERE && !compare_is_wanted(a)) ||
        !oid_parse(a->in.base, &base) || oid_eq(&base, commit))
        return true;
    a->base = snapshot_get(r, &base);
    return look_up_trees(a, a->base, e);
}

/* Without a filter, the server sends the whole commit. If the files are in the
 * store, only the commit's trees are needed. */
static enum ask_stage stage_of_pinned(const struct ask *a)
{
    if (a->in.proved)
        return ASK_OBJECT;
    return a->snapshot->trees == TREES_HERE || !a->must_lead || a->in.stored ||
                   team_store_has_files(a) || !caps_are_partial(&a->repo->caps)
               ? ASK_TREES
               : ASK_OBJECT;
}

static enum step start_pinned(struct ask *a, const struct oid *commit,
                              struct err *e)
{
    if (!find_snapshot(a, commit, e))
        return STEP_GONE;
    a->snapshot->asked++;
    a->snapshot->unpinned += !a->is_pinned && a->in.what != FETCH_REF;
    a->needs_reachability = !a->in.assume_reachable;
    a->must_lead = a->is_pinned && a->in.what == FETCH_PACKAGE && !a->in.proved;
    a->stage = team_store_is_wanted(a) ? ASK_STORE : stage_of_pinned(a);
    return STEP_ON;
}

/* Waits for the team's stores; the git host is asked for the rest. */
static enum step step_store(struct ask *a)
{
    if (!team_store_step(a))
        return STEP_WAIT;
    a->stage = stage_of_pinned(a);
    return STEP_ON;
}

/* Returns the text for refs_choose. In the short form the ref is one segment,
 * even if it contains slashes. */
static struct str make_rest(struct ask *a)
{
    struct arena *arena = &a->repo->arena;
    struct str ref = a->in.ref, out = {"", 0}, head;

    if (!a->in.is_short)
        return a->in.rest;
    if (ref.n == 0)
        return str_make("", 0);
    while (ref.p && str_cut(&ref, '/', &head))
        out = out.n ? arena_printf(arena, "%.*s%%2F%.*s", STR_ARG(out),
                                   STR_ARG(head))
                    : head;
    return a->in.path.n ? arena_printf(arena, "%.*s/%.*s", STR_ARG(out),
                                       STR_ARG(a->in.path))
                        : out;
}

/* Both commits are given, so no ref is resolved. */
static enum step start_ancestor(struct ask *a, struct err *e)
{
    struct oid commit, tip;

    if (!oid_parse(a->in.commit, &commit) || !oid_parse(a->in.base, &tip)) {
        err_set(e, ERR_FORMAT, "not two commits");
        return STEP_FAIL;
    }
    a->ref = a->in.base;
    a->snapshot = snapshot_get(a->repo, &commit);
    a->ancestry = ancestry_get(a->repo, a->snapshot, &tip);
    a->stage = ASK_REACH;
    return STEP_ON;
}

/* Returns the path of an ask with a version range. The range is always the
 * first segment of `rest`, so no ref is needed to find where the path
 * begins. */
static struct str range_path(const struct ask *a)
{
    size_t slash = str_find_char(a->in.rest, '/');

    if (a->in.is_short)
        return a->in.path;
    return slash == SIZE_MAX ? str_make("", 0)
                             : str_from_index(a->in.rest, slash + 1);
}

/* Packages of a catalog may have tags of their own, so all tags are
 * requested. */
static enum step start_range(struct ask *a, struct str range, struct err *e)
{
    struct arena *arena = &a->repo->arena;
    struct str all = a->in.ranges.n && !str_eq(a->in.ranges, range)
                         ? arena_printf(arena, "%.*s %.*s", STR_ARG(range),
                                        STR_ARG(a->in.ranges))
                         : range;

    a->ranges = arena_new(arena, struct range_set);
    if (!range_set_parse(all, arena, a->ranges, e))
        return STEP_FAIL;
    a->prefixes = arena_array(arena, REFS_MAX_PREFIXES, sizeof *a->prefixes);
    if (a->in.what == FETCH_CATALOG) {
        a->prefixes[0] = ALL_TAGS;
        a->prefix_count = 1;
    } else {
        a->prefix_count =
            refs_version_prefixes(range_path(a), arena, a->prefixes);
    }
    return STEP_ON;
}

static enum step start(struct ask *a, struct err *e)
{
    struct str range, prefix;
    struct oid commit;
    bool is_commit = false;

    if (a->in.what == FETCH_ANCESTOR)
        return start_ancestor(a, e);
    a->rest = make_rest(a);
    a->is_pinned = oid_parse(a->in.object, &a->pinned);
    if (compare_is_wanted(a))
        a->is_pinned = false; /* the object may have changed since */
    else if (a->in.what != FETCH_REACH && a->in.what != FETCH_NAME &&
             oid_parse(a->in.commit, &commit))
        return start_pinned(a, &commit, e);
    range = origin_slot_range(a->in.is_short ? a->in.ref : a->in.rest,
                              &a->repo->arena);
    a->stage = ASK_REFS;
    if (range.n)
        return start_range(a, range, e);
    if (!refs_first(a->rest, &a->repo->arena, &is_commit, &commit, &prefix, e))
        return STEP_FAIL;
    if (is_commit)
        return STEP_ON;
    a->prefixes = arena_new(&a->repo->arena, struct str);
    *a->prefixes = prefix.n ? prefix : STR("HEAD");
    a->prefix_count = 1;
    return STEP_ON;
}

static void record_tag(struct ask *a)
{
    ask_note(a, arena_printf(&a->repo->arena,
                             "\"%.*s\" is a branch and a tag of %.*s; the "
                             "branch is taken",
                             STR_ARG(a->ref), STR_ARG(a->repo->name)));
}

static struct str short_ref(struct str name)
{
    static const char *const heads[] = {"refs/heads/", "refs/tags/"};

    for (size_t i = 0; i < 2; i++)
        if (str_starts(name, str_cstr(heads[i])))
            return str_from_index(name, str_cstr(heads[i]).n);
    return name;
}

/* The ref is resolved: starts the check that it leads to the commit in
 * question. If the origin names a commit, any branch or tag may lead to it. */
static enum step start_reach(struct ask *a, const struct oid *tip,
                             bool is_commit)
{
    struct oid commit = *tip;

    if (!is_commit && !oid_parse(a->in.commit, &commit))
        commit = *tip;
    a->snapshot = snapshot_get(a->repo, &commit);
    a->needs_reachability = is_commit;
    if (!is_commit)
        a->ancestry = ancestry_get(a->repo, a->snapshot, tip);
    a->stage = ASK_REACH;
    return STEP_ON;
}

static bool is_locked_commit(const struct ask *a, const struct oid *commit)
{
    struct oid locked;

    return oid_parse(a->in.commit, &locked) && oid_eq(&locked, commit);
}

static bool choose(struct ask *a, struct arena *scratch, struct ref_choice *out,
                   struct err *e)
{
    const struct ref_list *refs = &a->repo->refs;

    if (!a->ranges)
        return refs_choose(refs, a->rest, scratch, out, e);
    if (a->in.tag.n)
        a->tag_commit = refs_tag_commit(refs, a->in.tag);
    return refs_choose_version(refs, range_path(a), a->ranges, out, &a->newest,
                               e);
}

static enum step step_refs(struct ask *a, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct repo *r = a->repo;
    struct ref_choice choice;
    bool is_commit = a->prefix_count == 0;

    if (a->in.what == FETCH_NAME && ask_move(a)->moved.n) {
        report_ref(a);
        return STEP_WAIT;
    }
    for (size_t i = 0; i < a->prefix_count; i++)
        if (!refs_are_known(r, a->prefixes[i]))
            return STEP_WAIT;
    if (!choose(a, &scratch, &choice, e)) {
        /* Suggestions of similar names need all refs. */
        if (e->code != ERR_REF || r->all_refs_known || is_commit || a->ranges)
            return STEP_FAIL;
        r->wants_all_refs = true;
        return STEP_WAIT;
    }
    if (!ref_check_length(short_ref(choice.name), e))
        return STEP_FAIL;
    a->ref = choice.is_spelled_out ? choice.name : short_ref(choice.name);
    a->path = a->in.is_short && a->in.ref.n == 0 ? a->in.path : choice.path;
    a->has_path = true;
    if (choice.is_tag_too)
        record_tag(a);
    a->snapshot = snapshot_get(r, &choice.commit);
    if (a->in.what == FETCH_NAME ||
        (a->in.what == FETCH_REF &&
         (!compare_is_wanted(a) || is_locked_commit(a, &choice.commit)))) {
        report_ref(a);
        return STEP_WAIT;
    }
    if (a->in.what == FETCH_REACH)
        return start_reach(a, &choice.commit, is_commit);
    if (!find_snapshot(a, &choice.commit, e))
        return STEP_GONE;
    a->needs_reachability = is_commit && !a->in.assume_reachable;
    a->snapshot->asked++;
    a->snapshot->unpinned++;
    if (compare_is_wanted(a))
        compare_start(a);
    a->stage = ASK_TREES;
    return STEP_ON;
}

static enum step step_reachability(struct ask *a, struct err *e)
{
    struct snapshot *s = a->snapshot;

    if (!a->needs_reachability)
        return STEP_ON;
    if (!reachability_step(a->repo, s, e))
        return STEP_GONE;
    if (s->reachability == UNREACHABLE) {
        *e = *s->why;
        return STEP_FAIL;
    }
    return s->reachability == REACHABLE ? STEP_ON : STEP_WAIT;
}

/* The ref moved during the fetch: restarts once. */
static enum step retry_refs(struct ask *a)
{
    struct repo *r = a->repo;

    a->has_retried_refs = true;
    a->snapshot = NULL;
    a->stage = ASK_REFS;
    if (!r->slots[REQUEST_REFS].busy) {
        r->refs.count = 0;
        r->all_refs_known = false;
        map_init(&r->prefixes, &r->arena);
    }
    return STEP_WAIT;
}

static enum step fail_trees(const struct ask *a, struct err *e)
{
    const struct snapshot *s = a->snapshot;
    char hex[OID_HEX_CHARS + 1];

    oid_format(&s->commit, hex);
    if (s->is_gone && a->ref.n == 0) {
        err_set(e, ERR_REF, "%.*s has no commit %.12s, or does not give it",
                STR_ARG(a->repo->name), hex);
        err_hint(e, "its history may have been rewritten: name a branch or "
                    "a tag, or run mapm update");
        return STEP_FAIL;
    }
    *e = *s->why;
    err_wrap(e, "commit %.12s of %.*s", hex, STR_ARG(a->repo->name));
    return STEP_FAIL;
}

/* Requests objects that must be in memory. Fails if one is unavailable. */
static enum step want_loose_objects(struct ask *a, const struct oid_set *wants,
                                    bool are_whole, struct err *e)
{
    struct repo *r = a->repo;

    for (size_t i = 0; i < oid_set_count(wants); i++) {
        const struct oid *id = oid_set_get(wants, i);
        struct blob *b = map_find(&r->blobs, oid_key(id));
        const struct err *why;

        if (b && b->state == BLOB_HERE && b->size <= TREE_LINK_MAX_BYTES) {
            struct err gone = {0};
            struct str text;

            if (blob_read(r, b, &r->arena, &text, &gone)) {
                objects_put(&r->objects, OBJECT_BLOB, id, text);
                r->is_dirty = true;
                continue;
            }
        }
        why = loose_object_want(r, id, are_whole);
        if (why) {
            *e = *why;
            return STEP_FAIL;
        }
    }
    return STEP_WAIT;
}

static bool brings_package(const struct ask *a)
{
    return a->in.what == FETCH_PACKAGE || a->in.what == FETCH_DOCUMENT ||
           a->in.what == FETCH_FILES || compare_is_wanted(a);
}

/* For a locked object, checks that the commit's trees lead to it; they are
 * requested along with the object. Otherwise the ref led to the path, and this
 * checks that no other split of ref and path is possible. */
static enum step step_lead(struct ask *a, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct snapshot *s = a->snapshot;
    struct oid_set wants;
    enum found found;

    if (a->leads || !brings_package(a) || a->in.proved ||
        (!a->must_lead && (a->ranges || a->stage < ASK_DOCUMENT)))
        return STEP_ON;
    if (s->trees == TREES_FAILED)
        return fail_trees(a, e);
    s->is_wanted = true;
    if (s->trees != TREES_HERE)
        return STEP_WAIT;
    oid_set_init(&wants, &scratch);
    found = a->must_lead ? locked_path_find(a, &wants, e)
                         : locked_path_is_only(a, &wants, e);
    a->leads = found == FOUND_PACKAGE;
    if (found == FOUND_WAIT)
        return want_loose_objects(a, &wants, false, e);
    return a->leads ? STEP_ON : STEP_FAIL;
}

static enum step step_trees(struct ask *a, struct err *e)
{
    struct snapshot *s = a->snapshot;

    if (s->trees == TREES_FAILED)
        return s->is_gone && a->ref.n && !a->has_retried_refs
                   ? retry_refs(a)
                   : fail_trees(a, e);
    s->is_wanted = true;
    if (s->trees != TREES_HERE)
        return STEP_WAIT;
    a->root = s->root;
    a->stage = ASK_DOCUMENT;
    return STEP_ON;
}

/* A pinned MCP file is a blob without a tree: makes a listing of one file. */
static void list_blob(struct ask *a)
{
    struct tree_file *file = arena_new(&a->repo->arena, struct tree_file);
    struct str path = a->in.is_short ? a->in.path : a->rest;

    *file = (struct tree_file){.path = path_last(path), .blob = a->pinned};
    a->listing = (struct tree_listing){
        .kind = TREE_FILE, .id = a->pinned, .files = file, .count = 1};
    a->doc = DOC_MCP;
}

static void line_up(struct ask *a, struct str entry_file);

/* The object alone is not enough: fetches the commit's trees instead. */
static enum step leave_object(struct ask *a)
{
    a->is_alone = false;
    a->stage = ASK_TREES;
    return STEP_ON;
}

/* Waits for the pinned object with everything below it. Links that leave it
 * need the commit's trees. */
static enum step step_object(struct ask *a, struct err *e)
{
    struct repo *r = a->repo;
    const struct object *o = objects_find(&r->objects, &a->pinned);
    const struct blob *b = map_find(&r->blobs, oid_key(&a->pinned));

    if (!r->caps.any_object) {
        a->stage = ASK_TREES;
        return STEP_ON;
    }
    if (a->object_why && a->in.proved) {
        *e = *a->object_why;
        return STEP_FAIL;
    }
    if (a->object_why)
        return a->leads ? leave_object(a) : STEP_WAIT;
    if (b && b->state == BLOB_HERE) {
        list_blob(a);
        line_up(a, a->listing.files[0].path);
        return STEP_ON;
    }
    if (o == NULL || a->object_coming)
        return STEP_WAIT;
    a->root = a->pinned;
    a->is_alone = true;
    a->stage = ASK_DOCUMENT;
    return STEP_ON;
}

/* Returns whether the file is the manifest of the package or of a package in
 * one of its folders. */
static bool is_document(struct str path, struct str entry_file)
{
    struct str name = path_last(path);

    return str_eq(name, entry_file) || str_is(name, "SKILL.md") ||
           str_is(name, "AGENTS.md");
}

static bool has_other_files(const struct tree_listing *l, struct str entry_file)
{
    for (size_t i = 0; i < l->count; i++)
        if (!is_document(l->files[i].path, entry_file))
            return true;
    return false;
}

bool ask_wants_file(const struct ask *a, size_t i)
{
    return !a->is_outline || is_document(a->listing.files[i].path,
                                         str_cstr(doc_entry_file(a->doc)));
}

/* The listing is complete: gets its blobs. */
static void line_up(struct ask *a, struct str entry_file)
{
    const struct tree_listing *l = &a->listing;

    a->entry_file = NULL;
    a->blobs = arena_array(&a->repo->arena, l->count, sizeof(struct blob *));
    for (size_t i = 0; i < l->count; i++) {
        a->blobs[i] = blob_get(a->repo, &l->files[i].blob);
        /* The files of a plugin are inspected once all are present. */
        if (a->doc == DOC_PLUGIN || !str_eq(l->files[i].path, entry_file))
            continue;
        /* It was looked up without its text: look it up again. */
        if (!a->blobs[i]->is_manifest && a->blobs[i]->state == BLOB_STORED)
            a->blobs[i]->state = BLOB_NEW;
        a->blobs[i]->is_manifest = true;
        if (a->doc != DOC_MARKET)
            a->entry_file = a->blobs[i];
    }
    /* The AGENTS.md at the root of a repository is mostly meant for its
     * developers, so no other file is fetched before mapm has checked it. */
    a->is_outline = a->entry_file && has_other_files(l, entry_file) &&
                    (a->in.what == FETCH_DOCUMENT ||
                     (a->in.what == FETCH_PACKAGE && a->doc == DOC_AGENT &&
                      !a->is_pinned && !a->is_alone && a->path.n == 0));
    a->stage = ASK_FILES;
}

/* Trees are missing on the way to a package. If many packages of the commit are
 * requested, fetches all its trees in one request, instead of one request for
 * each level and each generation of dependencies. */
static void stop_walk(struct ask *a)
{
    struct snapshot *s = a->snapshot;

    if (a->is_alone || a->is_pinned || !s->is_walked || s->is_whole ||
        (s->unpinned <= FETCH_WALK_MAX_PACKAGES && !s->at_once))
        return;
    s->is_walked = false;
    s->is_whole = true;
    a->repo->no_thin = true; /* the objects that were omitted are needed, too */
    s->trees = TREES_NEEDED;
}

/* The listing is complete: reports whether the package is still what the lock
 * says. */
static enum step compare(struct ask *a, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct oid_set wants;
    struct oid locked;
    bool is_same;

    oid_set_init(&wants, &scratch);
    if (compare_step(a, &wants, &is_same) == FOUND_WAIT)
        return want_loose_objects(a, &wants, false, e);
    if (is_same && oid_parse(a->in.commit, &locked))
        a->snapshot = snapshot_get(a->repo, &locked);
    report_ref(a);
    return STEP_WAIT;
}

static enum step step_document(struct ask *a, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct document_wants wants;
    struct fetch_event offers = {0};
    struct str entry_file = {"", 0};
    enum step way = STEP_ON;

    oid_set_init(&wants.loose_objects, &scratch);
    oid_set_init(&wants.folders, &scratch);
    if (!a->has_path && !a->is_alone)
        way = split_by_tree(a, &wants.loose_objects, e);
    if (way == STEP_WAIT) {
        stop_walk(a);
        return want_loose_objects(a, &wants.loose_objects, false, e);
    }
    if (way != STEP_ON)
        return way;
    if (a->in.what == FETCH_REF && !compare_is_wanted(a)) {
        report_ref(a);
        return STEP_WAIT;
    }
    switch (document_find(a, &wants, &entry_file, &scratch, &offers, e)) {
    case FOUND_PACKAGE:
        if (compare_is_wanted(a))
            return compare(a, e);
        if (a->is_pinned && !oid_eq(&a->listing.id, &a->pinned)) {
            err_set(e, ERR_DAMAGED, "%.*s is not the object that is locked",
                    STR_ARG(a->path));
            return STEP_FAIL;
        }
        line_up(a, entry_file);
        return STEP_ON;
    case FOUND_OFFERS:
        if (compare_is_wanted(a)) {
            err_set(e, ERR_PATH, "there is no SKILL.md or AGENTS.md in %.*s",
                    STR_ARG(a->path.n ? a->path : a->repo->name));
            return STEP_FAIL;
        }
        report_offers(a, &offers);
        return STEP_WAIT;
    case FOUND_WAIT:
        stop_walk(a);
        way = want_loose_objects(a, &wants.loose_objects, false, e);
        return way == STEP_WAIT ? want_loose_objects(a, &wants.folders, true, e)
                                : way;
    default:
        return a->is_alone && e->code == ERR_REFUSED ? leave_object(a)
                                                     : STEP_FAIL;
    }
}

/* Adds the text of a marketplace to the objects, and so to the bundle in the
 * store: the proof of an entry includes it. */
static bool copy_market(struct ask *a, struct err *e)
{
    struct repo *r = a->repo;
    struct blob *b = a->blobs[0];
    struct str text;

    if (b->size > TEAM_MARKET_MAX_BYTES || objects_find(&r->objects, &b->id))
        return true;
    if (!blob_read(r, b, &r->arena, &text, e))
        return false;
    objects_put(&r->objects, OBJECT_BLOB, &b->id, text);
    r->has_links = r->has_market = true;
    return true;
}

static enum step step_files(struct ask *a, struct err *e)
{
    bool ready = true;

    for (size_t i = 0; i < a->listing.count; i++) {
        const struct blob *b = a->blobs[i];

        if (!ask_wants_file(a, i))
            continue;
        if (b->state == BLOB_FAILED) {
            *e = *b->why;
            err_wrap(e, "the file %.*s", STR_ARG(a->listing.files[i].path));
            return STEP_FAIL;
        }
        ready &= b->state == BLOB_HERE || b->state == BLOB_STORED;
    }
    if (a->is_outline && ready)
        return report_outline(a, e) ? STEP_WAIT : STEP_FAIL;
    if (!a->is_outline && !a->said_manifest && a->entry_file &&
        (a->entry_file->state == BLOB_HERE ||
         a->entry_file->state == BLOB_STORED)) {
        if (!report_manifest(a, e))
            return STEP_FAIL;
        ready &= a->said_manifest;
    }
    if (!ready)
        return STEP_WAIT;
    if (a->doc == DOC_MARKET && !copy_market(a, e))
        return STEP_FAIL;
    return report_done(a, e) ? STEP_WAIT : STEP_FAIL;
}

static enum step step_ancestry(struct ask *a, struct err *e)
{
    switch (ancestry_step(a, e)) {
    case FOUND_PACKAGE:
        report_ref(a);
        return STEP_WAIT;
    case FOUND_WAIT:
        return STEP_WAIT;
    default:
        return STEP_FAIL;
    }
}

/*
 * Goes on with the stage of `a`. `proof` and `lead` are what the steps beside
 * the stages returned: the reachability of the commit and the entry file.
 */
static enum step step_stage(struct ask *a, enum step proof, enum step lead,
                            struct err *e)
{
    switch (a->stage) {
    case ASK_START:
        return start(a, e);
    case ASK_STORE:
        return step_store(a);
    case ASK_REFS:
        return step_refs(a, e);
    case ASK_OBJECT:
        return step_object(a, e);
    case ASK_TREES:
        return step_trees(a, e);
    case ASK_DOCUMENT:
        if (!a->is_alone && lead != STEP_ON)
            return STEP_WAIT;
        return step_document(a, e);
    case ASK_FILES:
        /* Nothing is reported before the commit is known to be reachable. */
        if (!a->is_lined_up || proof != STEP_ON || lead != STEP_ON)
            return STEP_WAIT;
        if (a->must_lead && a->doc == DOC_MCP)
            a->listing.files[0].is_program = a->leads_to_program;
        return step_files(a, e);
    case ASK_REACH:
        return proof == STEP_ON ? step_ancestry(a, e) : STEP_WAIT;
    case ASK_OVER:
        return STEP_WAIT;
    }
    return STEP_ON;
}

static enum step step(struct ask *a, struct err *e)
{
    enum step proof = STEP_ON, lead = STEP_ON;

    if (a->stage > ASK_REFS && a->needs_reachability) {
        proof = step_reachability(a, e);
        if (proof == STEP_FAIL || proof == STEP_GONE)
            return proof;
        /* The error about reachability is more useful than that of the
         * trees. */
        if (proof == STEP_WAIT && !a->repo->caps.any_object &&
            a->snapshot->trees == TREES_FAILED)
            return STEP_WAIT;
    }
    if (a->stage > ASK_REFS) {
        lead = step_lead(a, e);
        if (lead == STEP_FAIL)
            return lead;
    }
    return step_stage(a, proof, lead, e);
}

static bool run(struct ask *a, struct err *e)
{
    struct err why = {0};
    enum step way;

    if (a->stage == ASK_OVER)
        return true;
    if (a->repo->dead) {
        report_failed(a, a->repo->dead);
        return true;
    }
    do
        way = step(a, &why);
    while (way == STEP_ON && a->stage != ASK_OVER);
    if (way == STEP_FAIL)
        report_failed(a, &why);
    if (way == STEP_GONE)
        *e = why;
    return way != STEP_GONE;
}

/* Looks up, in one query, the blobs of all asks that have a new listing. */
static bool look_up(struct repo *r, bool *any, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct blob **all = NULL;
    size_t count = 0, capacity = 0;

    *any = false;
    for (struct ask *a = r->asks; a; a = a->next) {
        if (a->stage != ASK_FILES || a->is_lined_up)
            continue;
        a->is_lined_up = *any = true;
        for (size_t i = 0; i < a->listing.count; i++) {
            if (!ask_wants_file(a, i))
                continue;
            all = arena_grow(&scratch, all, count, &capacity,
                             sizeof(struct blob *));
            all[count++] = a->blobs[i];
        }
    }
    return count == 0 || blobs_look_up(r, all, count, e);
}

/* Moves finished asks to the spare list, as the list may become long. */
static void drop_over(struct repo *r)
{
    struct ask **at = &r->asks;

    r->last_ask = NULL;
    while (*at) {
        if ((*at)->stage == ASK_OVER) {
            struct ask *over = *at;

            *at = over->next;
            over->next = r->spare;
            r->spare = over;
        } else {
            r->last_ask = *at;
            at = &(*at)->next;
        }
    }
}

bool asks_step(struct repo *r, struct err *e)
{
    bool any = true;

    while (any || r->is_dirty) {
        r->is_dirty = false;
        for (struct ask *a = r->asks; a; a = a->next)
            if (!run(a, e))
                return false;
        if (!look_up(r, &any, e))
            return false;
    }
    drop_over(r);
    return true;
}

bool ask_start(struct session *s, const struct link_ask *in, struct err *e)
{
    struct repo *named = repo_get(s, in), *r = repo_joined(named);
    struct ask *a = r->spare;

    if (!place_look_up(r, e))
        return false;
    if (a)
        r->spare = a->next;
    else
        a = arena_new(&r->arena, struct ask);
    *a = (struct ask){.in = *in, .repo = r, .named = named};
    s->round += s->has_said_manifest;
    s->has_said_manifest = false;
    a->round = s->round;
    if (r->last_ask)
        r->last_ask->next = a;
    else
        r->asks = a;
    r->last_ask = a;
    r->open_count++;
    r->is_dirty = true;
    return true;
}
