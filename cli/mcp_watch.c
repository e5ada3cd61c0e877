#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "serve.h"

/*
 * --watch (L17, X11): the folders of the roots are watched, and the library is
 * looked at again once they are quiet. A root that is not there yet is waited
 * for in the folder that will hold it.
 */

#define QUIET_MS    500
#define WATCH_MAX   8192 /* folders */
#define DEPTH_MAX   6
#define CHANGED_MAX 1000
#define WATCHED                                                                \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |    \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct serve_watch {
    int fd;
    const struct library_root *roots;
    size_t root_count;
    struct arena arena; /* of the folders */
    struct {
        int wd;
        struct str path;
    } * folders;
    size_t count;
    bool pending, full;
    struct arena changed_arena;
    struct str changed[CHANGED_MAX]; /* URIs */
    size_t changed_count;
};

/* --- what is watched --------------------------------------------------------------- */

static bool add(struct serve_watch *w, struct str path)
{
    int wd;

    if (w->count == WATCH_MAX) {
        w->full = true;
        return false;
    }
    wd = inotify_add_watch(w->fd, path.p, WATCHED);
    if (wd < 0)
        return false;
    for (size_t i = 0; i < w->count; i++)
        if (w->folders[i].wd == wd) /* reached by a link, too */
            return false;
    w->folders[w->count].wd = wd;
    w->folders[w->count++].path = path;
    return true;
}

/* The folder and those below it; the list itself is what is still to be read. */
static void add_tree(struct serve_watch *w, struct str root)
{
    size_t at = w->count;

    if (!add(w, root))
        return;
    for (; at < w->count; at++) {
        struct str path = w->folders[at].path;
        CLEANUP(arena_done) struct arena a = {0};
        CLEANUP_FD int fd = -1;
        struct fs_entry *entries;
        struct err ignored = {0};
        size_t count, depth = 0;

        for (size_t i = root.n; i < path.n; i++)
            depth += path.p[i] == '/';
        if (depth >= DEPTH_MAX || !fs_open_dir(path.p, &fd, &ignored) ||
            !fs_list_at(fd, "", WATCH_MAX, &a, &entries, &count, &ignored))
            continue;
        for (size_t i = 0; i < count; i++)
            if ((entries[i].type == DT_DIR || entries[i].type == DT_LNK) &&
                entries[i].name.p[0] != '.')
                add(w, fs_join(path, entries[i].name, &w->arena));
    }
}

/* Where it will appear. */
static void add_waiting(struct serve_watch *w, struct str root)
{
    struct str path = root;

    while (path.n > 1) {
        size_t slash = str_find_last(path, '/');

        path = str_slice(path, 0, slash ? slash : 1);
        path = arena_str(&w->arena, path);
        if (access(path.p, F_OK) == 0) {
            add(w, path);
            return;
        }
    }
}

static void add_all(struct serve_watch *w)
{
    arena_done(&w->arena);
    w->folders = arena_array(&w->arena, WATCH_MAX, sizeof *w->folders);
    w->count = 0;
    for (size_t i = 0; i < w->root_count; i++) {
        struct str root = arena_str(&w->arena, w->roots[i].path);

        if (access(root.p, F_OK) == 0)
            add_tree(w, root);
        else
            add_waiting(w, root);
    }
}

/* --- what happened ---------------------------------------------------------------------- */

static void note_changed(struct serve *s, struct str folder, const char *name)
{
    struct serve_watch *w = s->watch;
    CLEANUP(arena_done) struct arena a = {0};
    struct str path = fs_join(folder, str_from(name), &a), uri;

    for (size_t i = 0; i < w->root_count && w->changed_count < CHANGED_MAX;
         i++) {
        struct str root = w->roots[i].path, rest, first;
        const struct library_skill *skill;

        if (!str_starts(path, root) || path.n <= root.n + 1 ||
            path.p[root.n] != '/')
            continue;
        rest = str_from_index(path, root.n + 1);
        str_cut(&rest, '/', &first);
        skill = library_find(s->library, first);
        if (!skill || !rest.p ||
            !str_eq(skill->folder, fs_join(root, first, &a)))
            continue;
        uri = serve_uri(skill, rest, &a);
        for (size_t k = 0; k < w->changed_count; k++)
            if (str_eq(w->changed[k], uri))
                return;
        w->changed[w->changed_count++] = arena_str(&w->changed_arena, uri);
        return;
    }
}

static void on_event(struct serve *s, const struct inotify_event *v)
{
    struct serve_watch *w = s->watch;

    if (v->len == 0 || (v->mask & IN_ISDIR))
        return;
    for (size_t i = 0; i < w->count; i++)
        if (w->folders[i].wd == v->wd) {
            note_changed(s, w->folders[i].path, v->name);
            return;
        }
}

static bool drain(struct serve *s)
{
    char block[16384] __attribute__((aligned(8)));
    bool any = false;
    ssize_t n;

    while ((n = read(s->watch->fd, block, sizeof block)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *v = (const void *)(block + at);

            on_event(s, v);
            at += (ssize_t)(sizeof *v + v->len);
        }
        any = true;
    }
    return any;
}

static void look_again(struct serve *s, struct mcp_changes *out)
{
    struct serve_watch *w = s->watch;
    struct err e = {0};
    bool changed = false;

    w->pending = false;
    if (!library_refresh(s->library, &changed, &e) ||
        (changed && !serve_open_layers(s, &e))) {
        term_warn(&s->inv->term, "the skills cannot be read again: %s",
                  err_first(&e));
        return;
    }
    add_all(w);
    if (changed) {
        serve_forget(s);
        out->lists = MCP_TOOLS | MCP_RESOURCES | MCP_PROMPTS;
    }
    out->uris = w->changed;
    out->uri_count = w->changed_count;
    w->changed_count = 0;
}

static void watched(void *ctx, struct mcp_changes *out, unsigned *again_ms)
{
    struct serve *s = ctx;
    struct serve_watch *w = s->watch;

    if (w->changed_count == 0)
        arena_done(&w->changed_arena); /* nobody holds them any more */
    if (drain(s)) {
        w->pending = true;
        *again_ms = QUIET_MS;
        return;
    }
    if (w->pending)
        look_again(s, out);
}

/* --- open and close ---------------------------------------------------------------------------- */

bool serve_watch_open(struct serve *s, const struct library_root *roots,
                      size_t count, struct err *e)
{
    struct serve_watch *w = arena_new(&s->inv->arena, struct serve_watch);

    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd < 0)
        return err_errno(e, "--watch: cannot watch folders");
    w->roots = roots;
    w->root_count = count;
    add_all(w);
    if (w->full)
        term_warn(&s->inv->term,
                  "--watch: only the first %d folders are watched", WATCH_MAX);
    s->watch = w;
    s->server.watch_fd = w->fd;
    s->server.watched = watched;
    s->server.changes = MCP_TOOLS | MCP_RESOURCES | MCP_PROMPTS;
    s->server.updates = true;
    return true;
}

void serve_watch_close(struct serve *s)
{
    struct serve_watch *w = s->watch;

    if (!w)
        return;
    close(w->fd);
    arena_done(&w->arena);
    arena_done(&w->changed_arena);
    s->watch = NULL;
}
