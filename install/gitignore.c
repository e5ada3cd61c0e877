#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "mapm/install_gitignore.h"
#include "mapm/layer.h"
#include "mapm/open_store.h"
#include "mapm/provision.h"
#include "mapm/state_trust.h"
#include "mapm/workspace_git.h"

#include <unistd.h>

#include "git_exclude.h"
#include "ignore_block.h"

#define FILE_NAME        ".gitignore"
#define IGNORE_MAX_BYTES (1024u * 1024)
#define PATHS_MAX_BYTES  ((size_t)64 * 1024 * 1024)
#define TOPS_MAX         32 /* first components of the paths that mapm writes */
#define FIRST_LINE       "# mapm: generated files"

/* --- git ------------------------------------------------------------------ */

/* Whether a .git is in the folder or above it: no process is started. */
static bool has_repository(struct str folder, struct arena *a)
{
    size_t slash;

    for (;; folder = str_slice(folder, 0, slash ? slash : 1)) {
        if (access(fs_join(folder, STR(".git"), a).p, F_OK) == 0)
            return true;
        slash = str_find_last(folder, '/');
        if (slash == SIZE_MAX || folder.n <= 1)
            return false;
    }
}

static bool open_git(struct context *cx, struct str folder, struct git_run *out,
                     struct err *e)
{
    if (!has_repository(folder, &cx->arena))
        return err_set(e, ERR_NOT_FOUND, "%.*s is in no git repository",
                       STR_ARG(folder));
    return git_run_open(cx, folder, STR(""), out, e) ||
           err_wrap(e, "cannot tell what git tracks");
}

static bool is_news(struct context *cx)
{
    const struct hash what = hash_of(STR("mapm init --gitignore"));
    struct err ignored = {0};
    struct store *store = NULL;
    struct str folder;
    bool is_new;

    if (!open_store(cx, &store, &ignored))
        return false;
    is_new = !state_find_trust(store_state(store), STATE_SEEN_HINT, STR("hint"),
                               &what, &cx->arena, &folder, &ignored) &&
             state_put_trust(store_state(store), STATE_SEEN_HINT, STR("hint"),
                             &what, STR(""), &ignored);
    close_store(cx, store);
    return is_new;
}

/* --- paths ---------------------------------------------------------------- */

struct paths {
    struct arena *a;
    struct str *items; /* sorted paths */
    size_t count;
    struct map tracked; /* items that git tracks */
    struct map ignored;
};

static const char *first_component(struct str path, struct arena *a)
{
    return str_dup0(str_slice(path, 0, str_find_char(path, '/')), a);
}

/* Marks tracked paths; a folder is tracked if a file below it is. */
static void note_tracked(struct paths *p, const struct map *all,
                         struct str file)
{
    for (size_t i = 0; i <= file.n; i++) {
        struct str path = str_slice(file, 0, i);

        if ((i == file.n || file.p[i] == '/') && map_has(all, path))
            map_put(&p->tracked, path, p);
    }
}

static bool find_tracked(const struct git_run *g, struct paths *p,
                         struct err *e)
{
    const char *words[TOPS_MAX + 5] = {"--literal-pathspecs", "ls-files", "-z",
                                       "--"};
    struct proc_result r = {0};
    struct map all, tops;
    struct str rest, file;
    size_t n = 4;

    map_init(&all, p->a);
    map_init(&tops, p->a);
    for (size_t i = 0; i < p->count; i++) {
        const char *top = first_component(p->items[i], p->a);

        map_put(&all, p->items[i], p);
        if (n < TOPS_MAX + 4 && map_put(&tops, str_cstr(top), p))
            words[n++] = top;
    }
    if (!git_run(g, words, STR(""), &r, e))
        return false;
    if (r.exit_code)
        return git_run_failed(&r, "ls-files", e);
    rest = r.out;
    while (str_cut(&rest, '\0', &file))
        note_tracked(p, &all, file);
    return true;
}

static bool find_ignored(const struct git_run *g, struct paths *p,
                         struct err *e)
{
    const char *const words[] = {"check-ignore", "-z", "--stdin", NULL};
    CLEANUP(buf_done) struct buf input = {0};
    struct proc_result r = {0};
    struct str rest, path;

    buf_init(&input, PATHS_MAX_BYTES);
    for (size_t i = 0; i < p->count; i++) {
        buf_append(&input, p->items[i]);
        buf_char(&input, '\0');
    }
    if (!git_run(g, words, buf_str(&input), &r, e))
        return false;
    if (r.exit_code > 1)
        return git_run_failed(&r, "check-ignore", e);
    rest = r.out;
    while (str_cut(&rest, '\0', &path))
        map_put(&p->ignored, path, p);
    return true;
}

/* --- the file ------------------------------------------------------------- */

static struct str block_lines(const struct paths *p)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_text(&b, "/.agents/.mapm/\n/mapm.local.*\n");
    for (size_t i = 0; i < p->count; i++)
        if (!map_has(&p->tracked, p->items[i]))
            buf_printf(&b, "/%.*s\n", STR_ARG(p->items[i]));
    return arena_str(p->a, buf_str(&b));
}

static bool read_file(struct str folder, struct arena *a, struct str *out,
                      struct err *e)
{
    CLEANUP_FD int fd = -1;

    *out = STR("");
    return fs_open_dir(str_dup0(folder, a), &fd, e) &&
           fs_read_optional_at(fd, FILE_NAME, IGNORE_MAX_BYTES, a, out, e);
}

/* Skips files of clients that only config.yaml names, which do not belong in
 * the team's file. */
static void leave_mine_out(const struct layer *l, struct paths *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++)
        if (!git_exclude_is_mine(l, p->items[i]))
            p->items[n++] = p->items[i];
    p->count = n;
}

static bool fill(struct context *cx, struct layer *l, struct paths *p,
                 struct install_gitignore *out, struct err *e)
{
    struct str *missing = arena_array(p->a, p->count + 1, sizeof *missing);
    struct str text;
    struct git_run g;

    *out = (struct install_gitignore){.workspace = l->path, .missing = missing};
    leave_mine_out(l, p);
    str_sort(p->items, p->count);
    if (!open_git(cx, l->path, &g, e) || !read_file(l->path, p->a, &text, e) ||
        !find_tracked(&g, p, e) || !find_ignored(&g, p, e))
        return false;
    for (size_t i = 0; i < p->count; i++)
        if (!map_has(&p->tracked, p->items[i]) &&
            !map_has(&p->ignored, p->items[i]))
            missing[out->count++] = p->items[i];
    return !out->count ||
           ignore_block_set(text, STR(FIRST_LINE), block_lines(p), p->a,
                            &out->text, e) ||
           err_wrap(e, "cannot change " FILE_NAME);
}

bool install_find_gitignore(struct context *cx, struct install_gitignore *out,
                            struct err *e)
{
    struct paths p = {.a = &cx->arena};
    struct layer l;
    bool ok;

    map_init(&p.tracked, p.a);
    map_init(&p.ignored, p.a);
    if (!layer_open(cx, LAYER_READ, &l, e))
        return false;
    ok = layer_check_there(&l, cx, e) && layer_check_own(&l, cx, e) &&
         provision_list_generated(l.provision, PROVISION_LIST_ABSOLUTE, p.a,
                                  &p.items, &p.count, e) &&
         fill(cx, &l, &p, out, e);
    layer_close(&l);
    return ok;
}

bool install_write_gitignore(struct context *cx,
                             const struct install_gitignore *in, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return !in->text.p ||
           (fs_open_dir(str_dup0(in->workspace, &cx->arena), &fd, e) &&
            fs_replace_at(fd, FILE_NAME, 0644, in->text, e));
}

void install_offer_gitignore(struct context *cx)
{
    struct install_gitignore found;
    struct err ignored = {0};

    if (cx->use_global || !has_repository(layer_workspace(cx), &cx->arena) ||
        !install_find_gitignore(cx, &found, &ignored) || !found.count ||
        !is_news(cx))
        return;
    context_note(
        cx,
        "%zu path%s that mapm install makes again %s not in .gitignore: "
        "mapm init --gitignore adds %s",
        found.count, found.count == 1 ? "" : "s",
        found.count == 1 ? "is" : "are", found.count == 1 ? "it" : "them");
}
