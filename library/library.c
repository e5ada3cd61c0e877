#include "mapm/library.h"

#include "base/fs.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <time.h>

#include "catalog.h"
#include "indexed.h"

/* A library scans its roots, merges them and scans them again. */

const char *library_source_name(enum library_source s)
{
    return s == LIBRARY_WORKSPACE ? "workspace" : "global";
}

/* --- the options, kept ---------------------------------------------------------------- */

/* Orders the roots: workspace first, then in the caller's order (X23). */
static void rank_roots(struct library *l)
{
    const struct library_options *o = &l->options;
    size_t n = 0;

    l->ranked = arena_array(&l->a, o->root_count + 1, sizeof *l->ranked);
    for (size_t i = 0; i < o->root_count; i++)
        if (o->roots[i].source == LIBRARY_WORKSPACE)
            l->ranked[n++] = i;
    for (size_t i = 0; i < o->root_count; i++)
        if (o->roots[i].source != LIBRARY_WORKSPACE)
            l->ranked[n++] = i;
}

static void keep_options(struct library *l, const struct library_options *o)
{
    struct library_root *roots =
        arena_array(&l->a, o->root_count + 1, sizeof *roots);

    for (size_t i = 0; i < o->root_count; i++) {
        roots[i] = o->roots[i];
        roots[i].path = arena_str(&l->a, o->roots[i].path);
        roots[i].allowed_link_root =
            arena_str(&l->a, o->roots[i].allowed_link_root);
    }
    l->options = *o;
    l->options.roots = roots;
    rank_roots(l);
}

/* --- a catalog ------------------------------------------------------------------------- */

static void catalog_close(struct catalog *c)
{
    if (!c)
        return;
    indexed_close(c);
    if (c->haystack)
        haystack_done(c->haystack);
    pthread_mutex_destroy(&c->lock);
    arena_done(&c->a);
    heap_free(c);
}

static void drop_catalog(struct catalog **c)
{
    catalog_close(*c);
    *c = NULL;
}

static struct catalog *catalog_open(const struct library *l)
{
    struct catalog *c = heap_alloc(sizeof *c);

    c->began = time(NULL);
    pthread_mutex_init(&c->lock, NULL);
    map_init(&c->warned, &c->a);
    c->batches =
        arena_array(&c->a, l->options.root_count + 1, sizeof *c->batches);
    return c;
}

static struct str known_of(const struct library *l, size_t root,
                           struct arena *a)
{
    const struct library_cache *cache = &l->options.cache;
    struct str bytes = STR("");

    if (l->catalog) /* the old catalog is freed, so nothing may borrow from
                     * it */
        return arena_str(a, l->catalog->batches[root].records.bytes);
    if (cache->find &&
        !cache->find(cache->ctx, l->options.roots[root].path, a, &bytes))
        bytes = STR("");
    return bytes;
}

/* "root/folder/SKILL.md", for messages. */
static struct str skill_path(const struct library_root *root, struct str folder,
                             struct arena *a)
{
    return arena_printf(a, "%.*s%s%.*s/SKILL.md", STR_ARG(root->path),
                        str_ends(root->path, STR("/")) ? "" : "/",
                        STR_ARG(folder));
}

/* Returns whether an earlier root, to which a client's link leads, has reported
 * the skill. */
static bool is_of_earlier_root(const struct library *l,
                               const struct library_root *root, struct str path,
                               struct arena *a)
{
    struct err ignored = {0};
    struct str real, other;

    if (!fs_real_path(path.p, a, &real, &ignored))
        return false;
    for (const struct library_root *r = l->options.roots; r < root; r++)
        if (fs_real_path(str_dup0(r->path, a), a, &other, &ignored) &&
            fs_path_is_within(real, other))
            return true;
    return false;
}

/* A fault of a skill is reported when it is first found (T10). */
static void report_fault(const struct library *l,
                         const struct library_root *root,
                         const struct record *r)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str path, note = r->field[RECORD_NOTE];
    CLEANUP(buf_done) struct buf b = {0};

    if (note.n == 0 || !l->options.note)
        return;
    path = skill_path(root, r->field[RECORD_FOLDER], &a);
    if (is_of_earlier_root(l, root, path, &a))
        return;
    buf_init(&b, 8 * path.n + 16);
    text_visible(&b, path, false);
    if (r->flags & RECORD_VALID)
        report_note(&l->options, LIBRARY_WARNING, "skill '%.*s' at %s: %.*s",
                    STR_ARG(r->field[RECORD_NAME]), b.p, STR_ARG(note));
    else
        report_note(&l->options, LIBRARY_WARNING,
                    "skipping invalid skill at %s: %.*s", b.p, STR_ARG(note));
}

/* Reports new faults of a root. Both record lists are sorted by folder. Returns
 * true if they differ. */
static bool report_new_faults(const struct library *l,
                              const struct library_root *root,
                              const struct records *before,
                              const struct records *now)
{
    size_t b = 0, kept = 0;

    for (size_t i = 0; i < now->count; i++) {
        struct record r, old = {0};

        while (b < before->count &&
               str_cmp(record_folder(before, b), record_folder(now, i)) < 0)
            b++;
        r = record_get(now, i);
        if (b < before->count)
            old = record_get(before, b);
        if (b < before->count && record_eq(&old, &r))
            kept++;
        else
            report_fault(l, root, &r);
    }
    return kept != before->count || kept != now->count;
}

static void report_all_faults(const struct library *l,
                              const struct library_root *root,
                              const struct records *now)
{
    for (size_t i = 0; i < now->count; i++) {
        struct record r;

        if (!(record_flags(now, i) & RECORD_NOTED))
            continue;
        r = record_get(now, i);
        report_fault(l, root, &r);
    }
}

/* Reports and caches the changes of one root. */
static bool take_batch(const struct library *l, size_t i,
                       const struct record_batch *batch, bool same)
{
    const struct library_root *root = &l->options.roots[i];
    const struct library_cache *cache = &l->options.cache;
    bool changed = false;

    if (!l->catalog)
        report_all_faults(l, root, &batch->records);
    else if (!same)
        changed = report_new_faults(l, root, &l->catalog->batches[i].records,
                                    &batch->records);
    if (batch->rewritten && cache->put)
        cache->put(cache->ctx, root->path, batch->records.bytes);
    return changed;
}

static bool begin_all(const struct library *l, struct scan *scans,
                      struct catalog *c, struct err *e)
{
    for (size_t i = 0; i < l->options.root_count; i++) {
        scans[i].options = &l->options;
        scans[i].root = &l->options.roots[i];
        scans[i].glance = l->options.glance && !l->catalog;
        scans[i].known = known_of(l, i, &c->a);
        if (!scan_begin(&scans[i], &c->a, e))
            return false;
        c->batches[i].records = scans[i].before;
    }
    return true;
}

/* In most cases no file has changed, so the catalog is merged from the cached
 * records while threads verify them, and merged again if they differ. */
static bool scan_all(const struct library *l, struct scan *scans,
                     struct catalog *c, bool *changed, struct err *e)
{
    bool again = false, as_merged;

    if (!begin_all(l, scans, c, e) || !catalog_merge(l, c, false, e))
        return false;
    for (size_t i = 0; i < l->options.root_count; i++) {
        if (!scan_end(&scans[i], &c->a, &c->batches[i], e))
            return false;
        /* a missing root was merged as an empty one */
        as_merged = c->batches[i].records.bytes.p == scans[i].before.bytes.p;
        if (!as_merged)
            again = true;
        if (take_batch(l, i, &c->batches[i],
                       as_merged && scans[i].before.bytes.p))
            *changed = true;
    }
    if (!l->catalog)
        *changed = true;
    return (!again && !(c->overridden && *changed)) ||
           catalog_merge(l, c, *changed, e);
}

static bool scan(const struct library *l, struct catalog *c, bool *changed,
                 struct err *e)
{
    struct scan *scans =
        arena_array(&c->a, l->options.root_count + 1, sizeof *scans);
    bool ok;

    *changed = false;
    ok = scan_all(l, scans, c, changed, e);
    for (size_t i = 0; i < l->options.root_count; i++)
        scan_done(&scans[i]);
    return ok;
}

/* --- public ------------------------------------------------------------------------------ */

bool library_open(const struct library_options *o, struct library **out,
                  struct err *e)
{
    CLEANUP(drop_catalog) struct catalog *c = NULL;
    struct library *l;
    bool changed;

    if (o->root_count > LIBRARY_MAX_ROOTS)
        return err_set(e, ERR_LIMIT, "more than %d folders of skills",
                       LIBRARY_MAX_ROOTS);
    l = heap_alloc(sizeof *l);
    keep_options(l, o);
    c = catalog_open(l);
    if (!scan(l, c, &changed, e)) {
        library_close(l);
        return false;
    }
    l->catalog = c;
    c = NULL;
    *out = l;
    return true;
}

void library_close(struct library *l)
{
    if (!l)
        return;
    catalog_close(l->catalog);
    arena_done(&l->a);
    heap_free(l);
}

/* Lists a root that was glanced at. Returns whether it is as its records say;
 * what it says otherwise is left to a refresh. */
static bool is_as_glanced(const struct library *l, size_t i)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct record_batch *batch = &l->catalog->batches[i];
    struct scan scan = {.options = &l->options,
                        .root = &l->options.roots[i],
                        .known = batch->records.bytes,
                        .before = batch->records};
    struct record_batch now;
    struct err ignored = {0};
    bool same;

    same = scan_begin(&scan, &a, &ignored) &&
           scan.of.links == root_bounds_hash(&batch->bounds) &&
           scan_end(&scan, &a, &now, &ignored) &&
           now.records.bytes.p == batch->records.bytes.p;
    scan_done(&scan);
    return same;
}

bool library_verify(struct library *l, bool *changed, struct err *e)
{
    bool same = true;

    *changed = false;
    for (size_t i = 0; same && i < l->options.root_count; i++)
        same = !l->catalog->batches[i].is_glanced || is_as_glanced(l, i);
    if (!same && !library_refresh(l, changed, e))
        return false;
    for (size_t i = 0; i < l->options.root_count; i++)
        l->catalog->batches[i].is_glanced = false;
    return true;
}

bool library_refresh(struct library *l, bool *changed, struct err *e)
{
    CLEANUP(drop_catalog) struct catalog *c = catalog_open(l);
    struct catalog *before;

    if (!scan(l, c, changed, e))
        return false;
    if (!*changed)
        return true; /* callers still borrow its skills */
    before = l->catalog;
    l->catalog = c;
    c = before;
    return !l->hold || library_hold(l, e);
}

bool library_check(const struct library *l, struct err *e)
{
    return l || err_set(e, ERR_NOT_FOUND,
                        "skills are not configured for this session");
}

size_t library_count(const struct library *l)
{
    return l->catalog->count;
}

const struct library_skill *library_at(const struct library *l, size_t i)
{
    return &l->catalog->skills[i];
}
