#include "base/fs.h"
#include "mapm/clients.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "protect_inner.h"

#define WATCH_MAX_ENTRIES 20000
#define FOLDER_MAX_NAMES  20000
#define COPY_MAX_BYTES                                                         \
    (16u << 20)                     /* size up to which a copy is kept for
                                        * restoring */
#define HASH_MAX_BYTES (256u << 20) /* size up to which a file is hashed */

/* --- before -------------------------------------------------------------------- */

bool protect_read_link(const struct protect *p, const char *path,
                       struct arena *a, struct str *out)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    struct str parent = str_cstr(path);
    size_t slash = str_find_last(parent, '/');
    char text[4096];
    ssize_t n;

    parent = slash == SIZE_MAX ? STR(".") : str_slice(parent, 0, slash);
    if (!fs_open_dir_at(p->fd, str_dup0(parent, a), &fd, &ignored))
        return false;
    n = readlinkat(fd, path + (slash == SIZE_MAX ? 0 : slash + 1), text,
                   sizeof text);
    if (n < 0 || n == (ssize_t)sizeof text)
        return false;
    *out = arena_str(a, str_make(text, (size_t)n));
    return true;
}

bool protect_hash_file(const struct protect *p, const char *path,
                       struct hash *out, struct err *e)
{
    CLEANUP_FD int fd = -1;
    uint64_t size;

    if (!fs_open_file_at(p->fd, path, &fd, NULL, e))
        return false;
    return fs_hash_fd(fd, UINT64_MAX, &size, out, e) || err_wrap(e, "%s", path);
}

/* An unreadable file is compared by size and times only. */
static bool remember_file(struct protect *p, struct watched *w, struct err *e)
{
    struct err ignored = {0};

    w->can_undo = false;
    p->hashed += w->size;
    if (p->hashed > HASH_MAX_BYTES && !p->isolated)
        return err_set(e, ERR_LIMIT,
                       "%s and what else must be watched is larger than %u MiB",
                       w->path.p, HASH_MAX_BYTES >> 20);
    if (p->copied + w->size > COPY_MAX_BYTES) {
        (void)!protect_hash_file(p, w->path.p, &w->hash, &ignored);
        return true;
    }
    if (!fs_read_file_at(p->fd, w->path.p, COPY_MAX_BYTES, p->arena, &w->copy,
                         &ignored))
        return true;
    p->copied += w->copy.n;
    w->hash = hash_of(w->copy);
    w->can_undo = true;
    return true;
}

static void remember_stat(struct watched *w, const struct stat *st)
{
    w->mode = st->st_mode;
    w->mtime = st->st_mtim;
    w->ctime = st->st_ctim;
    w->size = (uint64_t)st->st_size;
    w->ino = st->st_ino;
}

/* A file with a second hard link can be changed through that one, so a mount
 * does not protect it. Links and missing paths cannot be mount points. */
static bool is_isolated(const struct protect *p, const struct stat *st,
                        enum watch_as as)
{
    if (!p->isolated || as == WATCH_OPEN ||
        (as == WATCH_ROOT && S_ISLNK(st->st_mode)))
        return false;
    return !S_ISREG(st->st_mode) || st->st_nlink == 1;
}

static bool add_watched(struct protect *p, struct str path, unsigned how,
                        enum watch_as as, struct err *e)
{
    struct watched w = {.how = how, .as = as, .can_undo = true};
    struct stat st;

    if (p->count == WATCH_MAX_ENTRIES)
        return (p->isolated && as != WATCH_OPEN) ||
               err_set(e, ERR_LIMIT,
                       "more than %d files must be watched in the workspace",
                       WATCH_MAX_ENTRIES);
    w.path = arena_str(p->arena, path);
    if (fs_stat_at(p->fd, w.path.p, &st)) {
        remember_stat(&w, &st);
        if (!S_ISDIR(st.st_mode) && how != PROTECT_MODE)
            w.how = PROTECT_TREE; /* for a .git that is a file or a link */
        w.can_undo = !is_isolated(p, &st, as);
        if (S_ISLNK(st.st_mode) &&
            !protect_read_link(p, w.path.p, p->arena, &w.copy))
            w.can_undo = false;
        if (w.can_undo && S_ISREG(st.st_mode) && !remember_file(p, &w, e))
            return false;
    }
    p->all =
        arena_grow(p->arena, p->all, p->count, &p->capacity, sizeof *p->all);
    p->all[p->count++] = w;
    map_put(&p->by_path, w.path, &p->kinds[as]);
    return true;
}

/* A mount cannot be moved, but a folder around it can be renamed and
 * replaced. */
static bool can_be_isolated(const struct protect *p, struct str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX)
        return true;
    path = str_slice(path, 0, slash);
    return map_has(&p->by_path, path) &&
           map_find(&p->by_path, path) != &p->kinds[WATCH_OPEN];
}

/* Watches the folders above the path, from the top. */
static bool watch_parents(struct protect *p, struct str path, struct err *e)
{
    for (size_t i = 1; i < path.n; i++) {
        struct str above = str_slice(path, 0, i);

        if (path.p[i] == '/' && !map_has(&p->by_path, above) &&
            !add_watched(p, above, PROTECT_MODE, WATCH_OPEN, e))
            return false;
    }
    return true;
}

bool protect_watch(struct protect *p, struct str path, unsigned how,
                   enum watch_as as, struct err *e)
{
    if (map_has(&p->by_path, path))
        return true;
    if (!can_be_isolated(p, path))
        as = WATCH_OPEN;
    return watch_parents(p, path, e) && add_watched(p, path, how, as, e);
}

/* A submodule may be named "refs". */
static bool is_repository(const struct protect *p, struct str path)
{
    return fs_exists_at(p->fd, fs_join(path, STR("config"), p->arena).p);
}

static bool watch_children(struct protect *p, const struct watched *w,
                           struct err *e)
{
    struct fs_entry *entries = NULL;
    size_t count = 0;
    struct str folder = w->path;
    unsigned how = w->how;
    enum watch_as as = w->as;

    if (!fs_list_at(p->fd, folder.p, FOLDER_MAX_NAMES, p->arena, &entries,
                    &count, e))
        return (p->isolated && as != WATCH_OPEN) || e->code != ERR_LIMIT;
    for (size_t i = 0; i < count; i++) {
        struct str name = entries[i].name;
        bool is_folder = entries[i].type == DT_DIR;

        struct str path = fs_join(folder, name, p->arena);

        if (!protect_is_watched(how, name, is_folder) &&
            !(is_folder && is_repository(p, path)))
            continue;
        if (!protect_watch(p, path, str_is(name, "hooks") ? PROTECT_TREE : how,
                           as == WATCH_OPEN ? WATCH_OPEN : WATCH_CHILD, e))
            return false;
    }
    return true;
}

bool protect_inside(const struct protect *p, struct str path, struct arena *a,
                    struct str *out)
{
    struct str real = path_real(fs_join(p->folder, path, a), a);

    if (!real.n || !fs_path_is_within(real, p->folder))
        return false;
    *out = str_from_index(real, p->folder.n + (real.n > p->folder.n));
    return true;
}

/* Watches the target of a link in the table if it is in the workspace: a hook
 * is often a link to a script. Links inside of such a folder that lead to
 * folders are not followed, since these are sources. */
static bool watch_target(struct protect *p, const struct watched *w,
                         struct err *e)
{
    struct str real;
    struct stat st;

    if (str_ends(w->path, STR(".git")) || /* protect_git.c watches its
                                           * content */
        !protect_inside(p, w->path, p->arena, &real) || !real.n)
        return true;
    if (w->as != WATCH_ROOT &&
        (!fs_stat_at(p->fd, real.p, &st) || !S_ISREG(st.st_mode)))
        return true;
    return protect_watch(p, real, PROTECT_TREE,
                         w->as == WATCH_CHILD ? WATCH_ROOT : w->as, e);
}

/* A folder above it can be renamed and replaced. */
static bool watch_below(struct protect *p, struct str path, struct err *e)
{
    for (size_t i = 1; i < path.n; i++)
        if (path.p[i] == '/' && !protect_watch(p, str_slice(path, 0, i),
                                               PROTECT_DIR_ONLY, WATCH_ROOT, e))
            return false;
    return protect_watch(p, path, PROTECT_TREE, WATCH_ROOT, e);
}

/* Adds the content of folders and the targets of links. The list grows during
 * the loop. */
static bool watch_contents(struct protect *p, size_t from, struct err *e)
{
    for (size_t i = from; i < p->count; i++) {
        struct watched w = p->all[i];

        if (S_ISDIR(w.mode) && w.how != PROTECT_DIR_ONLY &&
            w.how != PROTECT_MODE && !watch_children(p, &w, e))
            return false;
        if (S_ISLNK(w.mode) && w.how != PROTECT_MODE && !watch_target(p, &w, e))
            return false;
    }
    return true;
}

/* Watches paths of the job, by name and by target. The workspace itself stays
 * writable. Called last, since PROTECT_TREE takes precedence over
 * PROTECT_DIR_ONLY. */
static bool watch_more(struct protect *p, const struct protect_job *job,
                       struct err *e)
{
    size_t from = p->count;

    for (size_t i = 0; i < job->more_count; i++) {
        struct str path = job->more[i], named = STR(""), real = STR("");

        if (path.n > job->folder.n && fs_path_is_within(path, job->folder))
            named = str_from_index(path, job->folder.n + 1);
        (void)!protect_inside(p, path, p->arena, &real);
        if ((named.n && !map_has(&p->by_path, named) &&
             !watch_below(p, named, e)) ||
            (real.n && !map_has(&p->by_path, real) && !watch_below(p, real, e)))
            return false;
    }
    return watch_contents(p, from, e);
}

static bool watch_clients(struct protect *p, struct err *e)
{
    for (size_t i = 0; i < clients_count; i++) {
        const char *const *paths = clients_table[i].protected_paths;

        for (size_t k = 0; k < CLIENT_MAX_PATHS && paths[k]; k++)
            if (!protect_watch(p, str_cstr(paths[k]), PROTECT_TREE, WATCH_ROOT,
                               e))
                return false;
    }
    return true;
}

bool protect_scan(const struct protect_job *job, struct arena *a,
                  struct protect **out, struct err *e)
{
    struct protect *p = arena_new(a, struct protect);
    struct stat st;

    if (fstat(job->fd, &st) < 0)
        return err_errno(e, "look at %.*s", STR_ARG(job->folder));
    *p = (struct protect){.folder = job->folder,
                          .fd = job->fd,
                          .mode = st.st_mode,
                          .isolated = job->isolated,
                          .arena = a};
    map_init(&p->by_path, a);
    for (const struct protect_row *row = protect_table; row->path; row++)
        if (!protect_watch(p, str_cstr(row->path), row->how, WATCH_ROOT, e))
            return false;
    if (!watch_clients(p, e))
        return false;
    if (!protect_git_scan(p, e) || !watch_contents(p, 0, e) ||
        !watch_more(p, job, e))
        return false;
    *out = p;
    return true;
}

void protect_places(const struct protect *p, struct places *places)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct watched *w = &p->all[i];

        if (w->as == WATCH_ROOT && (S_ISDIR(w->mode) || S_ISREG(w->mode)))
            places_add(places,
                       w->how == PROTECT_DIR_ONLY && S_ISDIR(w->mode)
                           ? PLACE_WRITE
                           : PLACE_READ,
                       fs_join(p->folder, w->path, places->arena));
    }
}
