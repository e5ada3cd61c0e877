#include "base/env.h"
#include "base/fs.h"
#include "base/owner.h"
#include "mapm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "download.h"
#include "packs.h"

bool store_find_home(struct arena *a, struct str *path, struct err *e)
{
    struct str found = env_folder("MAPM_HOME");

    if (found.n == 0) {
        found = env_folder("XDG_DATA_HOME");
        if (found.n)
            found = fs_join(found, STR("mapm"), a);
    }
    if (found.n == 0) {
        found = env_folder("HOME");
        if (found.n == 0) {
            err_set(e, ERR_FAILED,
                    "no folder for mapm's data: HOME is not an absolute path");
            return err_hint(e, "set HOME, or MAPM_HOME to a folder of yours");
        }
        found = fs_join(found, STR(".local/share/mapm"), a);
    }
    *path = fs_normalize(found, a);
    return true;
}

/* Row 24: a user with write access to this folder could change what all
 * projects install. */
static bool check_owner(int fd, const char *path, struct err *e)
{
    const struct owner_rules rules = {.flags =
                                          OWNER_EXCLUSIVE | OWNER_UNSHARED};

    return owner_check(fd, path, &rules, e);
}

/* Row 25: sudo keeps HOME, so files of root would be created in the user's
 * home. */
static bool check_home_owner(struct str home, struct err *e)
{
    struct str variable = env_folder("HOME");
    struct stat st;

    if (variable.n == 0 || !str_starts(home, variable) ||
        stat(variable.p, &st) < 0 || st.st_uid == geteuid())
        return true;
    err_set(e, ERR_REFUSED, "HOME (%s) belongs to user %u, mapm runs as %u",
            variable.p, (unsigned)st.st_uid, (unsigned)geteuid());
    return err_hint(e, "run mapm without sudo, or set HOME or MAPM_HOME");
}

/* A symbolic link is refused, because it is never created by accident. */
static bool is_link(int dirfd, const char *name)
{
    struct stat st;

    return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(st.st_mode);
}

static bool open_folder(int dirfd, const char *name, const char *shown, int *fd,
                        struct err *e)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

    *fd = fs_openat(dirfd, name, flags, 0);
    if (*fd < 0 && errno != ENOENT && !is_link(dirfd, name) &&
        fs_repair_at(dirfd, name, S_IFDIR, 0700))
        *fd = fs_openat(dirfd, name, flags, 0);
    if (*fd < 0 && errno == ENOENT) {
        if (mkdirat(dirfd, name, 0700) < 0 && errno != EEXIST)
            return err_errno(e, "create %s", shown);
        *fd = fs_openat(dirfd, name, flags, 0);
    }
    if (*fd < 0)
        return err_errno(e, "open %s", shown);
    return check_owner(*fd, shown, e);
}

/* A read-only store needs only a shared lock. Without a lock file there is no
 * process to exclude. */
static bool open_lock(struct store *s, struct err *e)
{
    const int flags = O_NOFOLLOW | O_CLOEXEC;

    s->lock_fd = fs_openat(s->store_fd, "lock", O_RDWR | O_CREAT | flags, 0600);
    if (s->lock_fd < 0 && fs_is_read_only(s->store_fd)) {
        s->lock_fd = fs_openat(s->store_fd, "lock", O_RDONLY | flags, 0);
        if (s->lock_fd < 0)
            return true;
    }
    if (s->lock_fd < 0 && fs_repair_at(s->store_fd, "lock", S_IFREG, 0600))
        s->lock_fd =
            fs_openat(s->store_fd, "lock", O_RDWR | O_CREAT | flags, 0600);
    if (s->lock_fd < 0)
        return err_errno(e, "open store/lock");
    return fs_lock(s->lock_fd, false, STORE_WAIT_SECONDS * 1000, NULL, NULL, e);
}

/* Needed for fetching only, so a read-only store does not open it. */
static bool open_incoming(struct store *s, struct err *e)
{
    if (open_folder(s->store_fd, "incoming", "store/incoming", &s->incoming_fd,
                    e))
        return true;
    if (!fs_is_read_only(s->store_fd))
        return false;
    err_clear(e);
    return true;
}

static bool open_home(struct store *s, struct err *e)
{
    if (fs_open_dir(s->home.p, &s->home_fd, e))
        return true;
    if (e->code != ERR_NOT_FOUND)
        return false;
    err_clear(e);
    return fs_make_dirs(s->home.p, 0700, e) &&
           fs_open_dir(s->home.p, &s->home_fd, e);
}

static bool open_all(struct store *s, struct err *e)
{
    if (!open_home(s, e) || !check_owner(s->home_fd, s->home.p, e) ||
        !open_folder(s->home_fd, "store", "store", &s->store_fd, e) ||
        !open_folder(s->store_fd, "objects", "store/objects", &s->objects_fd,
                     e))
        return false;
    return open_incoming(s, e) && open_lock(s, e);
}

bool store_open(struct str home, struct store **out, struct err *e)
{
    struct store *s = heap_alloc(sizeof *s);

    s->opened_ns = download_now_ns();
    map_init(&s->downloads, &s->arena);
    s->home_fd = s->store_fd = s->objects_fd = -1;
    s->incoming_fd = s->lock_fd = s->staged_fd = s->packs_fd = -1;
    notes_init(&s->notes);
    pthread_mutex_init(&s->packs_mutex, NULL);
    s->home = arena_str(&s->arena, home);
    s->shared = fs_join(s->home, STR("shared"), &s->arena);
    if (!check_home_owner(s->home, e) || !open_all(s, e)) {
        store_close(s);
        return err_wrap(e, "cannot open the store in %.*s", STR_ARG(home));
    }
    s->state = state_open(s->home, s->home_fd);
    *out = s;
    return true;
}

void store_unlock(struct store *s)
{
    fs_close(&s->lock_fd);
}

bool store_works(const struct store *s, struct err *e)
{
    if (!state_works(s->state, e))
        return false;
    if (s->index_problem.code == ERR_NONE)
        return true;
    *e = s->index_problem;
    return false;
}

bool store_begin_glance(struct store *s)
{
    struct err ignored = {0};

    return store_works(s, &ignored) && state_begin_glance(s->state);
}

struct state *store_state(const struct store *s)
{
    return s->state;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    state_close(s->state);
    staged_drop(s);
    packs_close(s);
    pthread_mutex_destroy(&s->packs_mutex);
    store_end_downloads(s);
    fs_close(&s->lock_fd);
    fs_close(&s->incoming_fd);
    fs_close(&s->objects_fd);
    fs_close(&s->store_fd);
    fs_close(&s->home_fd);
    notes_done(&s->notes);
    arena_done(&s->staged_arena);
    arena_done(&s->arena);
    heap_free(s);
}

struct str store_home(const struct store *s)
{
    return s->home;
}

struct str store_shared_dir(const struct store *s)
{
    return s->shared;
}

bool store_make_shared_dir(struct store *s, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return open_folder(s->home_fd, "shared", s->shared.p, &fd, e);
}
