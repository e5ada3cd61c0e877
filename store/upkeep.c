#include "base/fs.h"
#include "base/map.h"
#include "mapm/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packs.h"

#define FOLDER_MAX_ENTRIES 10000000

/* Walk over each object below objects/; `visit` returns false to stop with an
 * error. */
struct walk {
    struct store *store;
    bool (*visit)(struct walk *w, const struct hash *h, const struct stat *st,
                  int dirfd, const char *name, struct err *e);
    void *ctx;
};

static bool walk_folder(struct walk *w, const char *folder, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct fs_entry *entries;
    size_t count;

    if (!fs_open_dir_at(w->store->objects_fd, folder, &fd, e) ||
        !fs_list_at(fd, "", FOLDER_MAX_ENTRIES, &a, &entries, &count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct str hex = arena_printf(&a, "%s%s", folder, entries[i].name.p);
        struct stat st;
        struct hash h;

        if (!hash_parse(hex, &h) || !fs_stat_at(fd, entries[i].name.p, &st))
            continue;
        if (!w->visit(w, &h, &st, fd, entries[i].name.p, e))
            return false;
    }
    return true;
}

static bool walk_objects(struct walk *w, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fs_entry *entries;
    size_t count;

    if (!fs_list_at(w->store->objects_fd, "", FOLDER_MAX_ENTRIES, &a, &entries,
                    &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (entries[i].type == DT_DIR && entries[i].name.n == 2 &&
            !walk_folder(w, entries[i].name.p, e))
            return false;
    return true;
}

/* Lists a folder beside objects/. A missing folder is empty; anything else of
 * this name is set aside. */
static bool list_folder(struct store *s, const char *name, int *fd,
                        struct arena *a, struct fs_entry **entries, size_t *n,
                        struct err *e)
{
    *n = 0;
    if (fs_open_dir_at(s->store_fd, name, fd, e))
        return fs_list_at(*fd, "", FOLDER_MAX_ENTRIES, a, entries, n, e);
    if (e->code != ERR_NOT_FOUND &&
        !fs_repair_at(s->store_fd, name, S_IFDIR, 0700))
        return false;
    err_clear(e);
    return true;
}

static bool count_folder(struct store *s, const char *name, uint64_t *count,
                         uint64_t *bytes, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct fs_entry *entries = NULL;
    size_t n;

    if (!list_folder(s, name, &fd, &a, &entries, &n, e))
        return false;
    *count += n;
    for (size_t i = 0; i < n && bytes; i++) {
        struct stat st;

        if (fs_stat_at(fd, entries[i].name.p, &st))
            *bytes += (uint64_t)st.st_size;
    }
    return true;
}

static bool add_up(struct walk *w, const struct hash *h, const struct stat *st,
                   int dirfd, const char *name, struct err *e)
{
    struct store_stats *stats = w->ctx;

    (void)h, (void)dirfd, (void)name, (void)e;
    stats->objects++;
    stats->bytes += (uint64_t)st->st_size;
    return true;
}

bool store_stats(struct store *s, struct store_stats *out, struct err *e)
{
    struct store_stats stats = {0};
    struct walk w = {s, add_up, &stats};

    if (!walk_objects(&w, e) ||
        !count_folder(s, "incoming", &stats.incoming, NULL, e) ||
        !count_folder(s, "damaged", &stats.damaged, &stats.damaged_bytes, e) ||
        !state_count(s->state, &stats.packages, &stats.workspaces, e))
        return false;
    packs_stats(s, &stats);
    *out = stats;
    return true;
}

struct verification {
    void (*bad)(void *ctx, const char *hex);
    void *ctx;
    struct store_stats stats;
};

static bool verify_one(struct walk *w, const struct hash *h,
                       const struct stat *st, int dirfd, const char *name,
                       struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct verification *v = w->ctx;
    struct hash found = {{0}};
    char hex[HASH_HEX_CHARS + 1];

    v->stats.objects++;
    fd = fs_openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                   0);
    if (fd < 0 && errno == ENOENT)
        return true;
    /* A read error of the disk (EIO) counts as damage. */
    if (S_ISREG(st->st_mode) && fd >= 0 && !object_hash(fd, &found, e))
        err_clear(e);
    if (hash_eq(&found, h))
        return true;
    object_set_aside(w->store, h);
    v->stats.damaged++;
    hash_format(h, hex);
    if (v->bad)
        v->bad(v->ctx, hex);
    return true;
}

bool store_verify(struct store *s, void (*bad)(void *ctx, const char *hex),
                  void *ctx, struct store_stats *out, struct err *e)
{
    struct verification v = {.bad = bad, .ctx = ctx};
    struct walk w = {s, verify_one, &v};

    if (!walk_objects(&w, e))
        return false;
    packs_verify(s, bad, ctx, &v.stats);
    if (!state_count(s->state, &v.stats.packages, &v.stats.workspaces, e))
        return false;
    *out = v.stats;
    return true;
}

struct collection {
    struct map kept; /* set of hashes */
    struct arena arena;
    time_t older_than;
    bool dry_run;
    struct store_stats removed;
};

static void mark_hash(struct collection *c, const struct hash *h)
{
    struct str bytes =
        arena_str(&c->arena, str_make((const char *)h->b, sizeof h->b));

    map_put(&c->kept, bytes, c);
}

static void mark_package(struct store *s, struct collection *c,
                         const struct hash *digest)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err problem = {0};
    struct package_file *files;
    size_t count;

    mark_hash(c, digest);
    if (!store_read_listing(s, digest, &a, &files, &count, &problem)) {
        if (problem.code == ERR_IO)
            s->index_problem = problem;
        return; /* missing or damaged: there is nothing to keep */
    }
    for (size_t i = 0; i < count; i++)
        mark_hash(c, &files[i].hash);
}

static bool collect_one(struct walk *w, const struct hash *h,
                        const struct stat *st, int dirfd, const char *name,
                        struct err *e)
{
    struct collection *c = w->ctx;

    if (st->st_mtime > c->older_than ||
        map_has(&c->kept, str_make((const char *)h->b, sizeof h->b)))
        return true;
    if (!c->dry_run && unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
        return err_errno(e, "remove an object");
    c->removed.objects++;
    c->removed.bytes += (uint64_t)st->st_size;
    return true;
}

/* Removes what killed processes left: whole folders in incoming/, and files in
 * damaged/. */
static bool sweep(struct store *s, struct collection *c, const char *folder,
                  uint64_t *count, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct fs_entry *entries = NULL;
    size_t n;

    if (!list_folder(s, folder, &fd, &a, &entries, &n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct stat st;

        if (!fs_stat_at(fd, entries[i].name.p, &st) ||
            st.st_mtime > c->older_than)
            continue;
        if (!c->dry_run && !fs_remove_tree_at(fd, entries[i].name.p, e))
            return false;
        ++*count;
    }
    return true;
}

static bool has_object(void *ctx, const struct hash *h)
{
    return store_has(ctx, h);
}

static bool collect(struct store *s, struct collection *c, struct err *e)
{
    struct walk w = {s, collect_one, c};
    uint64_t locks = 0; /* no other process has the store open */

    return walk_objects(&w, e) &&
           packs_collect(s, &c->kept, c->older_than, c->dry_run, &c->removed,
                         e) &&
           sweep(s, c, "incoming", &c->removed.incoming, e) &&
           sweep(s, c, "damaged", &c->removed.damaged, e) &&
           sweep(s, c, "locks", &locks, e) &&
           (c->dry_run || state_prune(s->state, has_object, s, e));
}

bool store_lock_alone(struct store *s, unsigned wait_ms,
                      void (*waiting)(void *), void *ctx, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str users;

    /* An install holds the lock shared from its start to its end. */
    if (fs_lock(s->lock_fd, true, wait_ms, waiting, ctx, e))
        return true;
    if (e->code != ERR_BUSY)
        return err_wrap(e, "cannot collect garbage");
    users = store_users(s, &a);
    err_hint(e, "%.*s uses the store; try again when it has ended",
             STR_ARG(users.n ? users : STR("an install or a server")));
    return err_wrap(e, "cannot collect garbage");
}

/* Removes plugin roots whose listing is gone; `mapm start` creates them
 * again. */
static void drop_plugin_roots(struct store *s)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int home = -1, fd = -1;
    struct fs_entry *entries;
    struct err ignored = {0};
    size_t count;

    if (!fs_open_dir(store_home(s).p, &home, &ignored) ||
        !fs_open_dir_at(home, "plugins", &fd, &ignored) ||
        !fs_list_at(fd, "", FOLDER_MAX_ENTRIES, &a, &entries, &count, &ignored))
        return;
    for (size_t i = 0; i < count; i++) {
        struct str hex =
            str_slice(entries[i].name, 0, str_find_char(entries[i].name, '.'));
        struct hash h;

        if (hash_parse(hex, &h) && !store_has(s, &h) &&
            !fs_remove_tree_at(fd, entries[i].name.p, &ignored))
            err_clear(&ignored);
    }
}

bool store_gc(struct store *s, const struct hash *keep, size_t keep_count,
              bool dry_run, struct store_stats *removed, struct err *e)
{
    struct collection c = {.dry_run = dry_run};
    struct err relock = {0};
    bool ok;

    if (!store_lock_alone(s, 0, NULL, NULL, e))
        return false;
    c.older_than = time(NULL) - STORE_GC_MIN_AGE_SECONDS;
    map_init(&c.kept, &c.arena);
    for (size_t i = 0; i < keep_count; i++)
        mark_package(s, &c, &keep[i]);
    /* An unreadable object may be in use, and may refer to objects in use. */
    ok = store_works(s, e) && collect(s, &c, e);
    arena_done(&c.arena);
    if (!fs_lock(s->lock_fd, false, 0, NULL, NULL, &relock))
        return ok ? err_set(e, ERR_BUSY, "%s", err_first(&relock)) : false;
    if (ok && !dry_run)
        drop_plugin_roots(s);
    if (ok)
        *removed = c.removed;
    return ok;
}
