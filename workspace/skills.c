#include "base/fs.h"
#include "mapm/layer.h"
#include "mapm/metaskill.h"
#include "mapm/provision.h"
#include "mapm/skill_roots.h"
#include "mapm/state.h"

#include <sys/stat.h>

/* --- where ------------------------------------------------------------------------ */

/* Folders below the workspace and below the home folder, in order of
 * precedence. */
static const char *const metis_folder = ".metis/skills";
static const char *const workspace_folders[] = {
    PROVISION_SKILLS, PROVISION_SEARCHED, ".claude/skills", ".swival/skills",
    NULL};
static const char *const home_folders[] = {PROVISION_SKILLS, ".claude/skills",
                                           ".config/swival/skills", NULL};
static const char *const data_folders[] = {PROVISION_SKILLS, PROVISION_SEARCHED,
                                           NULL};

struct places {
    struct context *cx;
    struct str workspace;
    struct library_root *items;
    size_t count, capacity;
};

/* Returns true if the root is in `top`, by its path or, if the user named it,
 * by its target. */
static bool is_in(struct context *cx, const struct library_root *root,
                  struct str top)
{
    struct err ignored = {0};
    struct str real;

    return fs_path_is_within(root->path, top) ||
           (root->named &&
            fs_real_path(root->path.p, &cx->arena, &real, &ignored) &&
            fs_path_is_within(real, top));
}

void skill_roots_bind(struct context *cx, struct str workspace,
                      struct library_root *root)
{
    struct str home = cx->home;
    bool is_own =
        home.n && fs_path_is_within(home, workspace) && is_in(cx, root, home);

    root->confined = !is_own && is_in(cx, root, workspace);
    root->allowed_link_root =
        root->confined || root->source == LIBRARY_WORKSPACE ? workspace : home;
}

static void add(struct places *p, enum library_source source, struct str path,
                bool named)
{
    path = fs_normalize(path, &p->cx->arena);
    for (size_t i = 0; i < p->count; i++) {
        if (str_eq(p->items[i].path, path)) {
            p->items[i].named = p->items[i].named || named;
            return;
        }
    }
    p->items = arena_grow(&p->cx->arena, p->items, p->count, &p->capacity,
                          sizeof *p->items);
    p->items[p->count] =
        (struct library_root){.source = source, .path = path, .named = named};
    skill_roots_bind(p->cx, p->workspace, &p->items[p->count++]);
}

static void add_below(struct places *p, enum library_source source,
                      struct str folder, const char *const *names)
{
    for (; *names; names++)
        add(p, source, fs_join(folder, str_cstr(*names), &p->cx->arena), false);
}

static bool add_given(struct places *p, enum library_source source,
                      const char *option, const struct str_list *given,
                      struct err *e)
{
    for (size_t i = 0; i < given->count; i++) {
        if (given->items[i].n == 0)
            return err_set(e, ERR_USAGE, "--%s: the folder's name is empty",
                           option);
        add(p, source, fs_join(p->cx->cwd, given->items[i], &p->cx->arena),
            true);
    }
    return true;
}

static void add_workspace(struct places *p, bool metis)
{
    const char *const own[] = {metis_folder, NULL};

    if (metis)
        add_below(p, LIBRARY_WORKSPACE, p->workspace, own);
    add_below(p, LIBRARY_WORKSPACE, p->workspace, workspace_folders);
}

/* skills/ of the data folder is a link to the global library, unless a user
 * replaced it by a folder. */
static void add_data(struct places *p)
{
    struct arena *a = &p->cx->arena;
    struct err ignored = {0};
    struct str data, own;
    struct stat st;

    if (!store_find_home(a, &data, &ignored))
        return; /* without a home there are no such roots */
    add_below(p, LIBRARY_GLOBAL, fs_join(data, STR("global"), a), data_folders);
    own = fs_join(data, STR("skills"), a);
    if (lstat(own.p, &st) == 0 && S_ISDIR(st.st_mode))
        add(p, LIBRARY_GLOBAL, own, false);
}

static void add_global(struct places *p, bool metis)
{
    const char *const own[] = {metis_folder, NULL};

    if (metis && p->cx->home.n)
        add_below(p, LIBRARY_GLOBAL, p->cx->home, own);
    add_data(p);
    if (p->cx->home.n)
        add_below(p, LIBRARY_GLOBAL, p->cx->home, home_folders);
}

bool skill_roots_places(struct context *cx, bool metis,
                        struct library_root **out, size_t *count, struct err *e)
{
    struct places p = {.cx = cx, .workspace = layer_workspace(cx)};

    const struct skill_roots *given = &cx->skill_roots;

    if (!add_given(&p, LIBRARY_WORKSPACE, "workspace-root", &given->workspace,
                   e))
        return false;
    if (given->workspace.count == 0)
        add_workspace(&p, metis);
    if (!add_given(&p, LIBRARY_GLOBAL, "root", &given->extra, e) ||
        !add_given(&p, LIBRARY_GLOBAL, "global-root", &given->global, e))
        return false;
    if (given->global.count == 0)
        add_global(&p, metis);
    *out = p.items;
    *count = p.count;
    return true;
}

bool skill_roots_has_folder(struct context *cx, struct str workspace)
{
    struct stat st;

    for (const char *const *name = workspace_folders; *name; name++) {
        struct str path = fs_join(workspace, str_cstr(*name), &cx->arena);

        if (stat(path.p, &st) == 0 && S_ISDIR(st.st_mode))
            return true;
    }
    return false;
}

/* --- opening ------------------------------------------------------------------------ */

/* Context of the callbacks of a library. */
struct helpers {
    struct context *cx;
    struct store *store;
    bool metis;
};

/* Diagnostics depend on the profile, so each profile has its own cache key. */
static struct str key_of(const struct helpers *h, struct str root)
{
    return h->metis ? arena_printf(&h->cx->arena, "metis %.*s", STR_ARG(root))
                    : root;
}

static bool find_known(void *ctx, struct str root, struct arena *a,
                       struct str *out)
{
    const struct helpers *h = ctx;

    return state_find_library(store_state(h->store), key_of(h, root), a, out);
}

/* A cache: if the write fails, the skills are read again next time. */
static void put_known(void *ctx, struct str root, struct str bytes)
{
    const struct helpers *h = ctx;
    struct err e = {0};

    if (!state_put_library(store_state(h->store), key_of(h, root), bytes, &e) &&
        h->cx->is_verbose)
        context_warn(h->cx, "the skills of %.*s are not cached: %s",
                     STR_ARG(root), err_first(&e));
}

static void on_note(void *ctx, enum library_note kind, struct str text)
{
    struct helpers *h = ctx;

    if (kind == LIBRARY_WARNING)
        context_warn(h->cx, "%.*s", STR_ARG(text));
    else
        context_note(h->cx, "%.*s", STR_ARG(text));
}

static bool compiles(void *ctx, struct str file, struct str program)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct diagnostics why;

    (void)ctx;
    diagnostics_init(&why, &a);
    metaskill_check_program(file, program, &why);
    return why.errors == 0;
}

static struct library_options options_of(struct context *cx,
                                         struct store *store, bool metis,
                                         const struct library_root *roots,
                                         size_t count)
{
    struct helpers *h = arena_new(&cx->arena, struct helpers);
    struct library_options o = {
        .roots = roots,
        .root_count = count,
        .metis = metis,
        .compiles = metis ? NULL : compiles,
        .ctx = h,
    };

    *h = (struct helpers){cx, store, metis};
    if (store) {
        o.cache = (struct library_cache){find_known, put_known, h};
        o.index = store_state(store);
    }
    return o;
}

static bool open_roots(struct context *cx, struct store *store, bool metis,
                       bool notes, enum skill_check check,
                       const struct library_root *roots, size_t count,
                       struct library **out, struct err *e)
{
    struct library_options o = options_of(cx, store, metis, roots, count);

    o.programs = check != SKILL_CHECK_DOCUMENTS;
    o.glance = check == SKILL_CHECK_LATER;
    o.note = notes ? on_note : NULL;
    return library_open(&o, out, e);
}

bool skill_roots_search(struct context *cx, struct store *store, bool metis,
                        struct str query, size_t limit,
                        struct library_hit **out, size_t *count)
{
    struct library_root *roots;
    struct err ignored = {0};
    struct library_options o;
    size_t n;

    if (!store || !skill_roots_places(cx, metis, &roots, &n, &ignored))
        return false;
    o = options_of(cx, store, metis, roots, n);
    return library_search_trusted(&o, query, limit, false, &cx->arena, out,
                                  count);
}

bool skill_roots_open(struct context *cx, struct store *store, bool metis,
                      bool notes, const struct library_root *roots,
                      size_t count, struct library **out, struct err *e)
{
    return open_roots(cx, store, metis, notes, SKILL_CHECK_PROGRAMS, roots,
                      count, out, e);
}

/* mapm mcp --global serves the same skills in every folder. */
static void drop_workspace(struct library_root *roots, size_t *count)
{
    size_t n = 0;

    for (size_t i = 0; i < *count; i++)
        if (roots[i].source != LIBRARY_WORKSPACE)
            roots[n++] = roots[i];
    *count = n;
}

bool skill_roots_open_library(struct context *cx, struct store *store,
                              bool metis, enum skill_check check,
                              struct library **out, struct err *e)
{
    struct library_root *roots;
    size_t count;

    if (!skill_roots_places(cx, metis, &roots, &count, e))
        return false;
    if (cx->use_global)
        drop_workspace(roots, &count);
    return open_roots(cx, store, metis, true, check, roots, count, out, e);
}
