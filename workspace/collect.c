#include "base/fs.h"
#include "mapm/patched.h"
#include "mapm/state.h"
#include "mapm/workspace_collect.h"

#include "lock_file.h"

/* The digests that locks need. */
struct keep {
    struct store *store;
    struct arena *a;
    struct hash *digests;
    size_t count, capacity;
};

static void mark_digest(struct keep *keep, const struct hash *digest)
{
    keep->digests = arena_grow(keep->a, keep->digests, keep->count,
                               &keep->capacity, sizeof *keep->digests);
    keep->digests[keep->count++] = *digest;
}

/* Keeps the package as fetched, for an index also as received; with a patch,
 * its text and the patched package. */
static void mark_entry(struct keep *keep, const struct lock_entry *entry)
{
    struct err ignored = {0};
    struct hash digest;

    if (patched_parse_hash(entry->digest, &digest))
        mark_digest(keep, &digest);
    if (patched_parse_hash(entry->artifact, &digest))
        mark_digest(keep, &digest);
    if (!entry->patch.n)
        return;
    if (patched_parse_hash(entry->patch, &digest))
        mark_digest(keep, &digest);
    if (patched_installed(keep->store, entry->digest, entry->patch, &digest,
                          &ignored))
        mark_digest(keep, &digest);
}

/* An unreadable lock stops gc, since its packages are unknown. */
static bool mark_lock(struct keep *keep, int dirfd, struct str folder,
                      const char *name, struct err *e)
{
    struct lock lock;

    if (!lock_file_read(dirfd, folder, name, keep->a, &lock, e))
        return false;
    for (size_t i = 0; i < lock.count; i++)
        mark_entry(keep, &lock.entries[i]);
    return true;
}

/* A deleted workspace is forgotten; an unreadable one stops gc. */
static bool mark_workspace(struct keep *keep, struct str folder, bool dry_run,
                           struct err *e)
{
    CLEANUP_FD int fd = -1;

    if (!fs_open_dir(str_dup0(folder, keep->a), &fd, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "%.*s", STR_ARG(folder));
        err_clear(e);
        return dry_run ||
               state_forget_workspace(store_state(keep->store), folder, e);
    }
    return mark_lock(keep, fd, folder, "mapm.lock", e) &&
           mark_lock(keep, fd, folder, "mapm.local.lock", e);
}

struct waiting {
    struct context *cx;
    struct store *store;
};

static void note_waiting(void *ctx)
{
    struct waiting *w = ctx;
    struct str users = store_users(w->store, &w->cx->arena);

    context_note(w->cx, "waiting for %.*s that uses the store ...",
                 STR_ARG(users.n ? users : STR("another mapm")));
}

bool workspace_collect(struct context *cx, struct store *store, bool dry_run,
                       struct store_stats *removed, struct err *e)
{
    struct keep keep = {.store = store, .a = &cx->arena};
    struct waiting w = {cx, store};
    struct str *folders;
    size_t count;

    /* Lock first: an install that ends just now may need more objects. */
    if (!store_lock_alone(store, STORE_WAIT_SECONDS * 1000, note_waiting, &w,
                          e) ||
        !state_list_workspaces(store_state(store), keep.a, &folders, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!mark_workspace(&keep, folders[i], dry_run, e))
            return false;
    return store_gc(store, keep.digests, keep.count, dry_run, removed, e);
}
