#include "base/fs.h"
#include "base/path.h"
#include "base/proc.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "connection.h"

/*
 * --watch (L17, X11): the folders of the roots are watched, and the library is
 * read again once they are quiet, or after a maximum delay. For a missing root
 * its parent folder is watched. The metaskills that a model may start depend
 * on other files, too: those of the workspace and mapm.db, where trust is
 * stored.
 */

#define QUIET_MS    500
#define PATIENCE_MS 5000 /* maximum delay while changes continue */
/* Number of blocks read at once, so that other events are handled. */
#define DRAIN_MAX   64
#define WATCH_MAX   8192 /* watched folders */
#define DEPTH_MAX   6
#define CHANGED_MAX 1000
#define WATCHED                                                                \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |    \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct serve_watch {
    int fd;
    const struct library_root *roots;
    size_t root_count;
    struct arena arena; /* owns the list of folders */
    struct watched {
        int wd;
        bool aside;    /* not a folder of skills: only some files matter */
        size_t depth;  /* levels below the root */
        bool is_skill; /* a skill, or within one */
        bool is_link;  /* a link may be a skill but not a group (K14) */
        struct str path;
    } * folders;
    size_t count;
    bool full;
    uint64_t since_ms; /* time of the first change; 0 if none */
    struct arena changed_arena;
    struct str changed[CHANGED_MAX]; /* URIs */
    size_t changed_count;
    struct hash tools; /* hash of the list that the client has, or was
                        * notified of */
    /* names in the enum of run_metaskill, which are also prompts */
    struct hash names;
    struct arena given_arena;
    /* name of a metaskill: hash of its prompt arguments, as sent to the client */
    struct map given;
};

/* --- watched folders ---------------------------------------------------- */

/* Returns whether the folder is watched already, by way of another path. */
static bool is_known(struct serve_watch *w, int wd, bool aside)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->folders[i].wd != wd)
            continue;
        w->folders[i].aside = w->folders[i].aside && aside;
        return true;
    }
    return false;
}

static bool add(struct serve_watch *w, struct watched folder)
{
    if (w->count == WATCH_MAX) {
        w->full = true;
        return false;
    }
    folder.wd = inotify_add_watch(w->fd, folder.path.p, WATCHED);
    if (folder.wd < 0 || is_known(w, folder.wd, folder.aside))
        return false;
    w->folders[w->count++] = folder;
    return true;
}

/* Watches the subfolders: in a root and its groups, folders and links that may
 * be skills; within a skill, folders only. */
static void add_below(struct serve_watch *w, const struct library *l,
                      const struct watched *in, const struct fs_entry *entry)
{
    bool is_link = entry->type == DT_LNK && !in->is_skill;
    struct str below;

    if ((entry->type != DT_DIR && !is_link) || entry->name.p[0] == '.')
        return;
    below = fs_join(in->path, entry->name, &w->arena);
    if (in->is_skill || library_covers(l, below))
        add(w, (struct watched){.path = below,
                                .depth = in->depth + 1,
                                .is_skill = in->is_skill,
                                .is_link = is_link});
}

/* Watches a folder and its subfolders; the list also serves as the queue. */
static void add_tree(struct serve_watch *w, const struct library *l,
                     struct str root)
{
    size_t at = w->count;

    if (!add(w, (struct watched){.path = root}))
        return;
    for (; at < w->count; at++) {
        struct watched *in = &w->folders[at];
        CLEANUP(arena_done) struct arena a = {0};
        CLEANUP_FD int fd = -1;
        struct fs_entry *entries;
        struct err ignored = {0};
        size_t count;

        if (in->depth >= DEPTH_MAX || !fs_open_dir(in->path.p, &fd, &ignored))
            continue;
        in->is_skill |= in->depth && fs_exists_at(fd, "SKILL.md");
        if (!in->is_skill && (in->depth >= LIBRARY_MAX_DEPTH || in->is_link))
            continue;
        if (!fs_list_at(fd, "", WATCH_MAX, &a, &entries, &count, &ignored))
            continue;
        for (size_t i = 0; i < count; i++)
            add_below(w, l, in, &entries[i]);
    }
}

/* Watches the parent folder in which a missing root would appear. */
static void add_waiting(struct serve_watch *w, struct str root)
{
    struct str path = root;

    while (path.n > 1) {
        path = arena_str(&w->arena, path_folder(path));
        if (access(path.p, F_OK) == 0) {
            add(w, (struct watched){.path = path});
            return;
        }
    }
}

static int by_number(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;

    return (a > b) - (a < b);
}

static int *numbers_of(const struct serve_watch *w, struct arena *a)
{
    int *all = arena_array(a, w->count + 1, sizeof *all);

    for (size_t i = 0; i < w->count; i++)
        all[i] = w->folders[i].wd;
    if (w->count)
        qsort(all, w->count, sizeof *all, by_number);
    return all;
}

/* Removes unused watches, because their number per user is limited. */
static void drop_others(const struct serve_watch *w, const int *before,
                        size_t count)
{
    CLEANUP(arena_done) struct arena a = {0};
    const int *now = numbers_of(w, &a);
    size_t k = 0;

    for (size_t i = 0; i < count; i++) {
        while (k < w->count && now[k] < before[i])
            k++;
        if (k == w->count || now[k] != before[i])
            inotify_rm_watch(w->fd, before[i]);
    }
}

static void add_all(struct serve *s)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct serve_watch *w = s->watch;
    const int *before = numbers_of(w, &a);
    size_t count = w->count;

    arena_done(&w->arena);
    w->folders = arena_array(&w->arena, WATCH_MAX, sizeof *w->folders);
    w->count = 0;
    for (size_t i = 0; i < w->root_count; i++) {
        struct str root = arena_str(&w->arena, w->roots[i].path);

        if (library_covers(s->library, root))
            add_tree(w, s->library, root);
        else
            add_waiting(w, root);
    }
    add(w, (struct watched){.path = arena_str(&w->arena, s->layer.path),
                            .aside = true});
    if (!str_eq(s->layer.root, s->layer.path))
        add(w, (struct watched){.path = arena_str(&w->arena, s->layer.root),
                                .aside = true});
    if (s->store)
        add(w,
            (struct watched){.path = arena_str(&w->arena, store_home(s->store)),
                             .aside = true});
    drop_others(w, before, count);
}

/* --- what happened ---------------------------------------------------------------------- */

/* Finds the skill that contains the file `path` below `root`, and the path in
 * it. */
static const struct library_skill *find_changed(const struct serve *s,
                                                struct str root,
                                                struct str path,
                                                struct str *file)
{
    struct str rest = str_from_index(path, root.n + 1), name;

    for (size_t i = 0; i < LIBRARY_MAX_DEPTH && rest.p; i++) {
        const struct library_skill *skill;

        str_cut(&rest, '/', &name);
        skill = library_find(s->library, name);
        if (rest.p && skill &&
            str_eq(skill->folder,
                   str_slice(path, 0, (size_t)(rest.p - path.p) - 1))) {
            *file = rest;
            return skill;
        }
    }
    return NULL;
}

static void note_changed(struct serve *s, struct str folder, const char *name)
{
    struct serve_watch *w = s->watch;
    CLEANUP(arena_done) struct arena a = {0};
    struct str path = fs_join(folder, str_cstr(name), &a), uri;

    for (size_t i = 0; i < w->root_count && w->changed_count < CHANGED_MAX;
         i++) {
        struct str root = w->roots[i].path, rest;
        const struct library_skill *skill;

        if (!str_starts(path, root) || path.n <= root.n + 1 ||
            path.p[root.n] != '/')
            continue;
        skill = find_changed(s, root, path, &rest);
        if (!skill || !library_path_is_served(rest))
            continue;
        uri = serve_uri(skill, rest, &a);
        for (size_t k = 0; k < w->changed_count; k++)
            if (str_eq(w->changed[k], uri))
                return;
        w->changed[w->changed_count++] = arena_str(&w->changed_arena, uri);
        return;
    }
}

static bool is_ours(const char *name)
{
    struct str s = str_cstr(name);

    return str_is(s, "mapm.yaml") || str_is(s, "mapm.lock") ||
           str_starts(s, STR("mapm.db"));
}

/* Handles an event. Returns false if it is irrelevant. */
static bool on_event(struct serve *s, const struct inotify_event *v)
{
    const struct serve_watch *w = s->watch;
    const struct watched *folder = NULL;

    for (size_t i = 0; i < w->count && !folder; i++)
        if (w->folders[i].wd == v->wd)
            folder = &w->folders[i];
    if (!folder) /* the folder is no longer watched, or events were lost */
        return v->wd < 0;
    if (folder->aside)
        return v->len && is_ours(v->name);
    if (v->len && !(v->mask & IN_ISDIR))
        note_changed(s, folder->path, v->name);
    return true;
}

/* Reads events. Returns false if there are none; sets `*matters` if any was
 * relevant. */
static bool drain(struct serve *s, bool *matters)
{
    char block[16384] __attribute__((aligned(8)));
    bool any = false;
    ssize_t n;

    for (unsigned i = 0;
         i < DRAIN_MAX && (n = read(s->watch->fd, block, sizeof block)) > 0;
         i++) {
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *v = (const void *)(block + at);

            *matters = on_event(s, v) || *matters;
            at += (ssize_t)(sizeof *v + v->len);
        }
        any = true;
    }
    return any;
}

/* --- changed lists ------------------------------------------------------ */

static void add_text(struct hash_state *h, struct str s)
{
    uint64_t n = s.n;

    hash_add(h, str_make((const char *)&n, sizeof n));
    hash_add(h, s);
}

static struct hash hash_tools(struct serve *s)
{
    const struct mcp_tool *tools = NULL;
    size_t count = 0;
    struct hash_state h;

    hash_init(&h);
    serve_tools(s, &s->tool_snap, &tools, &count);
    for (size_t i = 0; i < count; i++) {
        if (tools[i].is_unlisted)
            continue;
        add_text(&h, tools[i].name);
        add_text(&h, tools[i].input_schema);
    }
    return hash_end(&h);
}

/* Call after hash_tools(). */
static struct hash hash_names(const struct serve *s)
{
    struct hash_state h;

    hash_init(&h);
    for (size_t i = 0; i < s->name_count; i++)
        add_text(&h, s->names[i]);
    return hash_end(&h);
}

static struct hash hash_resources(struct serve *s)
{
    const struct mcp_resource *resources = NULL;
    size_t count = 0;
    struct hash_state h;

    hash_init(&h);
    serve_resources(s, &s->resource_snap, &resources, &count);
    for (size_t i = 0; i < count; i++) {
        add_text(&h, resources[i].uri);
        add_text(&h, resources[i].description);
    }
    return hash_end(&h);
}

/* Hashes the prompts without their arguments, which are in the body of a
 * metaskill. */
static struct hash hash_prompts(struct serve *s)
{
    struct hash_state h;

    hash_init(&h);
    for (size_t i = 0; i < library_count(s->library); i++) {
        const struct library_skill *skill = library_at(s->library, i);

        if (!serve_is_prompt(s, skill))
            continue;
        add_text(&h, skill->name);
        add_text(&h, skill->description);
        add_text(&h, skill->metaskill ? STR("y") : STR("n"));
    }
    return hash_end(&h);
}

void serve_watch_given(struct serve *s, const struct mcp_prompt *p)
{
    struct serve_watch *w = s->watch;
    struct hash_state state;
    struct hash *is;

    if (!w)
        return;
    is = map_find(&w->given, p->name);
    if (!is) {
        is = arena_new(&w->given_arena, struct hash);
        map_put(&w->given, arena_str(&w->given_arena, p->name), is);
    }
    hash_init(&state);
    for (size_t i = 0; i < p->argument_count; i++) {
        add_text(&state, p->arguments[i].name);
        add_text(&state, p->arguments[i].description);
        add_text(&state, p->arguments[i].required ? STR("y") : STR("n"));
    }
    *is = hash_end(&state);
}

/* Returns whether the arguments of a metaskill in the client's list have
 * changed, by reading each. Drops removed ones. */
static bool takes_others(struct serve *s)
{
    struct serve_watch *w = s->watch;
    struct arena arena = w->given_arena;
    const struct map given = w->given;
    bool others = false;

    w->given_arena = (struct arena){0};
    map_init(&w->given, &w->given_arena);
    for (size_t i = 0; i < given.count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct mcp_prompt p = {.name = given.entries[i].key};
        const struct hash *now;

        serve_prompt_arguments(s, &a, &p);
        now = map_find(&w->given, p.name);
        others |= now && !hash_eq(now, given.entries[i].value);
    }
    arena_done(&arena);
    return others;
}

static unsigned if_other(const struct hash *was, struct hash is,
                         enum mcp_list list)
{
    return hash_eq(was, &is) ? 0 : list;
}

/* --- looking again ------------------------------------------------------------------------ */

/* Derived data is dropped with the library that it came from. */
static bool refresh(struct serve *s, unsigned *lists, struct err *e)
{
    struct hash resources = hash_resources(s), prompts = hash_prompts(s);
    bool changed;

    if (!library_refresh(s->library, &changed, e))
        return false;
    if (!changed)
        return true;
    serve_forget(s);
    *lists |= if_other(&resources, hash_resources(s), MCP_RESOURCES) |
              if_other(&prompts, hash_prompts(s), MCP_PROMPTS);
    if (takes_others(s))
        *lists |= MCP_PROMPTS;
    return true;
}

static void warn_unreadable(struct serve *s, const char *what,
                            const struct err *e)
{
    context_warn(s->cx, "%s cannot be read again: %s", what, err_first(e));
}

static void check_again(struct serve *s, struct mcp_changes *out)
{
    struct serve_watch *w = s->watch;
    struct hash tools = w->tools, names = w->names;
    struct err e = {0};

    w->since_ms = 0;
    if (!serve_open_layers(s, &e)) { /* the previous state was restored */
        warn_unreadable(s, "what the workspace says of skills", &e);
        err_clear(&e);
    }
    if (!refresh(s, &out->lists, &e)) {
        warn_unreadable(s, "the skills", &e);
        return;
    }
    serve_forget_tools(s);
    w->tools = hash_tools(s);
    w->names = hash_names(s);
    out->lists |= if_other(&tools, w->tools, MCP_TOOLS) |
                  if_other(&names, w->names, MCP_PROMPTS);
    add_all(s);
    out->uris = w->changed;
    out->uri_count = w->changed_count;
    w->changed_count = 0;
}

static void watched(void *ctx, struct mcp_changes *out, unsigned *again_ms)
{
    struct serve *s = ctx;
    struct serve_watch *w = s->watch;
    uint64_t now = proc_now_ms();
    bool matters = false, quiet;

    if (w->changed_count == 0)
        arena_done(&w->changed_arena); /* no skill uses the changed files */
    quiet = !drain(s, &matters);
    if (w->since_ms && (quiet || now - w->since_ms >= PATIENCE_MS))
        check_again(s, out);
    else if (matters && !w->since_ms)
        w->since_ms = now;
    if (w->since_ms)
        *again_ms = QUIET_MS;
}

/* --- open and close ---------------------------------------------------------------------------- */

bool serve_watch_open(struct serve *s, const struct library_root *roots,
                      size_t count, struct err *e)
{
    struct serve_watch *w = arena_new(&s->cx->arena, struct serve_watch);

    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd < 0)
        return err_errno(e, "--watch: cannot watch folders");
    w->roots = roots;
    w->root_count = count;
    map_init(&w->given, &w->given_arena);
    s->watch = w;
    w->tools = hash_tools(s);
    w->names = hash_names(s);
    add_all(s);
    if (w->full)
        context_warn(s->cx, "--watch: only the first %d folders are watched",
                     WATCH_MAX);
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
    arena_done(&w->given_arena);
    s->watch = NULL;
}
