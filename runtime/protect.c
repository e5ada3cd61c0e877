#include "protect.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define WATCH_MAX_ENTRIES 20000
#define FOLDER_MAX_NAMES  20000
#define COPY_MAX_BYTES    (16u << 20)  /* kept to undo changes */
#define HASH_MAX_BYTES    (256u << 20) /* read at all */
#define NAMES_SHOWN       10
#define PATH_SHOWN_BYTES  200

/*
 * What is protected. Not CLAUDE.md, AGENTS.md and the like: they are texts of
 * the project, which formatters and releases write, as they write sources.
 */
enum {
    WHOLE = 0,
    STAY = 1,  /* only: be the folder it is, where it is */
    INNER = 2, /* a repository of git in it: its settings and hooks */
};
/* clang-format off */
static const struct {
    const char *path;
    unsigned how;
} table[] = {
    /* what mapm wrote, and obeys */
    {"mapm.yaml", WHOLE},       {"mapm.lock", WHOLE},
    {"mapm.local.yaml", WHOLE}, {"mapm.local.lock", WHOLE},
    {".agents", WHOLE},
    /* programs that git starts, and where it looks for them */
    {".git", STAY},             {".git/config", WHOLE},
    {".git/config.worktree", WHOLE}, {".git/hooks", WHOLE},
    {".git/commondir", WHOLE},  {".git/modules", INNER},
    {".git/worktrees", INNER},  {".gitmodules", WHOLE},
    {".husky", WHOLE},          {".pre-commit-config.yaml", WHOLE},
    /* servers, hooks and permissions of agents */
    {".mcp.json", WHOLE},       {".claude", WHOLE},
    {".codex", WHOLE},          {".gemini", WHOLE},
    {".opencode", WHOLE},       {"opencode.json", WHOLE},
    {"opencode.jsonc", WHOLE},  {".qwen", WHOLE},
    {".cursor", WHOLE},         {".cline", WHOLE},
    {".clinerules", WHOLE},     {".amp", WHOLE},
    {".copilot", WHOLE},        {".continue", WHOLE},
    {".roo", WHOLE},            {".kiro", WHOLE},
    {".windsurf", WHOLE},       {".aider.conf.yml", WHOLE},
    /* tasks of editors, of shells and of the host */
    {".vscode", WHOLE},         {".idea", WHOLE},
    {".zed", WHOLE},            {".devcontainer", WHOLE},
    {".devcontainer.json", WHOLE}, {".envrc", WHOLE},
    {".github", WHOLE},
};
/* clang-format on */

struct watched {
    struct str path; /* in the workspace */
    mode_t mode;     /* 0: it was not there */
    unsigned how;
    bool is_root;  /* of the table, or where a link of it leads */
    bool can_undo; /* the command can change it, and there is a copy */
    struct timespec mtime, ctime;
    uint64_t size, ino;
    struct hash hash; /* of a regular file, unless walled */
    struct str copy;  /* its content, or where the link leads */
};

struct protect {
    struct str folder;
    int fd;
    bool walled;
    struct arena *arena;
    struct watched *all; /* parents first */
    size_t count, capacity;
    struct map by_path;
    uint64_t copied, hashed;
};

/* --- before -------------------------------------------------------------------- */

static bool is_watched_name(unsigned how, struct str name, bool is_folder)
{
    static const char *const files[] = {"config", "config.worktree",
                                        "commondir", "gitdir"};
    static const char *const bulk[] = {"objects", "refs", "logs", "lfs"};

    if (how != INNER)
        return true;
    for (size_t i = 0; is_folder && i < sizeof bulk / sizeof *bulk; i++)
        if (str_is(name, bulk[i]))
            return false;
    for (size_t i = 0; !is_folder && i < sizeof files / sizeof *files; i++)
        if (str_is(name, files[i]))
            return true;
    return is_folder;
}

static bool read_link(const struct protect *p, const char *path,
                      struct arena *a, struct str *out)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    struct str parent = str_from(path);
    size_t slash = str_find_last(parent, '/');
    char text[4096];
    ssize_t n;

    parent = slash == SIZE_MAX ? STR(".") : str_slice(parent, 0, slash);
    if (!fs_open_dir_at(p->fd, str_c(parent, a), &fd, &ignored))
        return false;
    n = readlinkat(fd, path + (slash == SIZE_MAX ? 0 : slash + 1), text,
                   sizeof text);
    if (n < 0 || n == (ssize_t)sizeof text)
        return false;
    *out = arena_str(a, str_of(text, (size_t)n));
    return true;
}

static bool hash_file(const struct protect *p, const char *path,
                      struct hash *out, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct hash_state s;
    struct stat st;
    char block[16384];
    ssize_t n;

    if (!fs_open_file_at(p->fd, path, &fd, &st, e))
        return false;
    hash_init(&s);
    while ((n = read(fd, block, sizeof block)) > 0)
        hash_add(&s, str_of(block, (size_t)n));
    if (n < 0)
        return err_errno(e, "read %s", path);
    *out = hash_end(&s);
    return true;
}

/* What cannot be read is known by its size and times alone. */
static bool remember_file(struct protect *p, struct watched *w, struct err *e)
{
    struct err ignored = {0};

    w->can_undo = false;
    p->hashed += w->size;
    if (p->hashed > HASH_MAX_BYTES && !p->walled)
        return err_set(e, ERR_LIMIT,
                       "%s and what else must be watched is larger than %u MiB",
                       w->path.p, HASH_MAX_BYTES >> 20);
    if (p->copied + w->size > COPY_MAX_BYTES) {
        (void)!hash_file(p, w->path.p, &w->hash, &ignored);
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

/* A bound file that has a second name is changed through that one. A link is
 * no mount point. What is not there is no mount point, either. */
static bool is_walled(const struct protect *p, const struct stat *st,
                      bool is_root)
{
    if (!p->walled || (is_root && S_ISLNK(st->st_mode)))
        return false;
    return !S_ISREG(st->st_mode) || st->st_nlink == 1;
}

static bool watch(struct protect *p, struct str path, unsigned how,
                  bool is_root, struct err *e)
{
    struct watched w = {.how = how, .is_root = is_root, .can_undo = true};
    struct stat st;

    if (map_has(&p->by_path, path))
        return true;
    if (p->count == WATCH_MAX_ENTRIES)
        return p->walled ||
               err_set(e, ERR_LIMIT,
                       "more than %d files must be watched in the workspace",
                       WATCH_MAX_ENTRIES);
    w.path = arena_str(p->arena, path);
    if (fs_stat_at(p->fd, w.path.p, &st)) {
        remember_stat(&w, &st);
        if (!S_ISDIR(st.st_mode))
            w.how = WHOLE; /* of a .git that is a file, or a link */
        w.can_undo = !is_walled(p, &st, is_root);
        if (S_ISLNK(st.st_mode) && !read_link(p, w.path.p, p->arena, &w.copy))
            w.can_undo = false;
        if (w.can_undo && S_ISREG(st.st_mode) && !remember_file(p, &w, e))
            return false;
    }
    p->all =
        arena_grow(p->arena, p->all, p->count, &p->capacity, sizeof *p->all);
    p->all[p->count++] = w;
    map_put(&p->by_path, w.path, p); /* found: it is known */
    return true;
}

static bool watch_children(struct protect *p, const struct watched *w,
                           struct err *e)
{
    struct fs_entry *entries = NULL;
    size_t count = 0;
    struct str folder = w->path;
    unsigned how = w->how;

    if (!fs_list_at(p->fd, folder.p, FOLDER_MAX_NAMES, p->arena, &entries,
                    &count, e))
        return p->walled || e->code != ERR_LIMIT;
    for (size_t i = 0; i < count; i++) {
        struct str name = entries[i].name;
        bool is_folder = entries[i].type == DT_DIR;

        if (!is_watched_name(how, name, is_folder))
            continue;
        if (!watch(p, fs_join(folder, name, p->arena),
                   str_is(name, "hooks") ? WHOLE : how, false, e))
            return false;
    }
    return true;
}

/* Where a link of the table leads inside of the workspace, there the files
 * are: they are watched, too. */
static bool watch_target(struct protect *p, size_t index, struct err *e)
{
    struct arena *a = p->arena;
    struct str real = path_real(fs_join(p->folder, p->all[index].path, a), a);

    if (!real.n || !path_is_within(real, p->folder) || real.n == p->folder.n)
        return true;
    return watch(p, str_from_index(real, p->folder.n + 1), WHOLE, true, e);
}

bool protect_look(struct str folder, int fd, bool walled, struct arena *a,
                  struct protect **out, struct err *e)
{
    struct protect *p = arena_new(a, struct protect);

    *p = (struct protect){
        .folder = folder, .fd = fd, .walled = walled, .arena = a};
    map_init(&p->by_path, a);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!watch(p, str_from(table[i].path), table[i].how, true, e))
            return false;
    /* Grows while we go: folders add what is in them. */
    for (size_t i = 0; i < p->count; i++) {
        struct watched w = p->all[i];

        if (S_ISDIR(w.mode) && w.how != STAY && !watch_children(p, &w, e))
            return false;
        if (S_ISLNK(w.mode) && w.is_root && !watch_target(p, i, e))
            return false;
    }
    *out = p;
    return true;
}

void protect_places(const struct protect *p, struct places *places)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct watched *w = &p->all[i];

        if (w->is_root && (S_ISDIR(w->mode) || S_ISREG(w->mode)))
            places_add(places,
                       w->how == STAY && S_ISDIR(w->mode) ? PLACE_WRITE
                                                          : PLACE_READ,
                       fs_join(p->folder, w->path, places->arena));
    }
}

/* --- after ---------------------------------------------------------------------- */

struct names {
    struct buf text;
    size_t count;
};

struct settling {
    struct protect *p;
    struct arena *a;
    struct names undone, left, others;
};

static void add_name(struct names *n, struct str path)
{
    n->count++;
    if (n->count > NAMES_SHOWN)
        return;
    if (n->count > 1)
        buf_text(&n->text, ", ");
    text_visible(&n->text, str_slice(path, 0, PATH_SHOWN_BYTES), false);
}

static struct str end_names(struct names *n, struct arena *a)
{
    struct str result;

    if (n->count > NAMES_SHOWN)
        buf_printf(&n->text, " and %zu more", n->count - NAMES_SHOWN);
    result = arena_str(a, buf_str(&n->text));
    buf_done(&n->text);
    return result;
}

static bool is_same_time(struct timespec x, struct timespec y)
{
    return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
}

/* The clock of a file system is coarse: what has a copy is read again. */
static bool is_same_file(const struct protect *p, const struct watched *w,
                         const struct stat *st)
{
    struct err ignored = {0};
    struct hash now = {{0}};

    if ((uint64_t)st->st_size != w->size)
        return false;
    if (!hash_is_zero(&w->hash))
        return hash_file(p, w->path.p, &now, &ignored) &&
               hash_eq(&now, &w->hash);
    return st->st_ino == w->ino && is_same_time(st->st_mtim, w->mtime) &&
           is_same_time(st->st_ctim, w->ctime);
}

static bool is_same(const struct settling *s, const struct watched *w,
                    const struct stat *st)
{
    struct str target = STR("");

    if ((st->st_mode & S_IFMT) != (w->mode & S_IFMT))
        return false;
    if (S_ISLNK(w->mode))
        return read_link(s->p, w->path.p, s->a, &target) &&
               str_eq(target, w->copy);
    if (w->how != STAY && st->st_mode != w->mode)
        return false;
    return !S_ISREG(w->mode) || is_same_file(s->p, w, st);
}

static bool in_parent(const struct settling *s, const struct watched *w,
                      int *fd, const char **name)
{
    struct err ignored = {0};
    size_t slash = str_find_last(w->path, '/');

    *name = w->path.p + (slash == SIZE_MAX ? 0 : slash + 1);
    return fs_open_dir_at(
        s->p->fd,
        slash == SIZE_MAX ? "." : str_c(str_slice(w->path, 0, slash), s->a), fd,
        &ignored);
}

/* No process of the command is left: nothing moves while we are at it. */
static bool put_back(const struct settling *s, const struct watched *w,
                     const struct stat *now, bool is_there)
{
    CLEANUP_FD int fd = -1;
    const char *name;
    struct err ignored = {0};
    bool is_folder = S_ISDIR(w->mode);

    if (!w->can_undo)
        return false;
    if (is_there && !(is_folder && S_ISDIR(now->st_mode)) &&
        !fs_remove_tree_at(s->p->fd, w->path.p, &ignored))
        return false;
    if (!w->mode)
        return true; /* it was not there, and is not */
    if (!in_parent(s, w, &fd, &name))
        return false;
    if (S_ISREG(w->mode))
        return fs_create_at(fd, name, w->mode & 07777, w->copy, &ignored);
    if (S_ISLNK(w->mode))
        return symlinkat(w->copy.p, fd, name) == 0;
    if (!is_folder)
        return false;
    if (!(is_there && S_ISDIR(now->st_mode)) && mkdirat(fd, name, 0700) < 0)
        return false;
    return fchmodat(fd, name, w->mode & 07777, 0) == 0;
}

static void note(struct settling *s, struct str path, bool by_command,
                 bool is_undone)
{
    if (!by_command)
        add_name(&s->others, path);
    else
        add_name(is_undone ? &s->undone : &s->left, path);
}

/* Behind walls, what was there cannot have been changed by the command. */
static bool is_by_command(const struct settling *s, const struct watched *w)
{
    return !s->p->walled || w->can_undo || w->how == STAY;
}

/* What is new in a folder that was there. */
static void remove_new(struct settling *s, const struct watched *w)
{
    struct fs_entry *entries = NULL;
    size_t count = 0;
    struct err ignored = {0};

    if (!fs_list_at(s->p->fd, w->path.p, FOLDER_MAX_NAMES, s->a, &entries,
                    &count, &ignored)) {
        note(s, w->path, is_by_command(s, w), false);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct str path = fs_join(w->path, entries[i].name, s->a);

        if (map_has(&s->p->by_path, path) ||
            !is_watched_name(w->how, entries[i].name,
                             entries[i].type == DT_DIR))
            continue;
        note(s, path, is_by_command(s, w),
             is_by_command(s, w) &&
                 fs_remove_tree_at(s->p->fd, path.p, &ignored));
    }
}

static void settle(struct settling *s, const struct watched *w)
{
    struct stat now = {0};
    bool is_there = fs_stat_at(s->p->fd, w->path.p, &now);

    if (!is_there && !w->mode)
        return;
    /* A repository that is begun or given up is the command's own affair: its
     * settings and hooks have rows of their own. */
    if (w->how == STAY && (w->mode ? !is_there : S_ISDIR(now.st_mode)))
        return;
    if (!is_there || !w->mode || !is_same(s, w, &now)) {
        bool by_command = is_by_command(s, w);
        bool is_back = by_command && put_back(s, w, &now, is_there);

        /* A folder that was moved is not back with all that was in it. */
        note(s, w->path, by_command, is_back && (w->how != STAY || !w->mode));
    }
    if (S_ISDIR(w->mode) && w->how != STAY &&
        fs_stat_at(s->p->fd, w->path.p, &now) && S_ISDIR(now.st_mode))
        remove_new(s, w);
}

void protect_settle(struct protect *p, struct arena *a,
                    struct protect_report *out)
{
    struct settling s = {.p = p, .a = a};

    buf_init(&s.undone.text, 1u << 16);
    buf_init(&s.left.text, 1u << 16);
    buf_init(&s.others.text, 1u << 16);
    for (size_t i = 0; i < p->count; i++)
        settle(&s, &p->all[i]);
    *out = (struct protect_report){
        .undone = end_names(&s.undone, a),
        .left = end_names(&s.left, a),
        .others = end_names(&s.others, a),
    };
}
