#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include "bump.h"
#include "git.h"

/*
 * Which packages changed since a commit. Both sides are lists of files sorted
 * by path: a package is the range of paths below its folder.
 */

#define LINK_MAX_BYTES 4096
#define MODE_FILE      0100644u
#define MODE_PROGRAM   0100755u
#define MODE_LINK      0120000u

struct repository {
    struct git git;
    struct arena *a;
    struct str ref, top;
    int fd;
    struct git_file *before, *now; /* `now` without ids */
    size_t before_count, now_count;
};

struct stretch {
    struct git_file *files;
    size_t count;
};

/* A package that exists on both sides. */
struct pair {
    struct check_result *result;
    struct str folder; /* path from the top; "" for the top itself */
    struct stretch before, now;
    bool changed, others_changed;
    struct bump_side then;
};

struct pairs {
    struct pair *items;
    size_t count;
};

/* --- lists ---------------------------------------------------------------- */

static struct stretch below(struct git_file *files, size_t count,
                            struct str folder, struct arena *a)
{
    struct str prefix =
        folder.n ? str_join(folder, STR("/"), a) : str_make("", 0);
    size_t from = STR_FIRST_AT(files, count, path, prefix), to = from;

    while (to < count && str_starts(files[to].path, prefix))
        to++;
    return (struct stretch){files + from, to - from};
}

static struct git_file *find(const struct stretch *s, const struct pair *p,
                             struct str name, struct arena *a)
{
    struct str path = p->folder.n ? fs_join(p->folder, name, a) : name;
    size_t at = STR_FIRST_AT(s->files, s->count, path, path);

    return at < s->count && str_eq(s->files[at].path, path) ? &s->files[at]
                                                            : NULL;
}

/* Lists existing files of the work tree, with the mode that git would store. */
static bool list_work(struct repository *r, const struct str *folders,
                      size_t count, struct err *e)
{
    struct str *paths;
    size_t n, kept = 0;

    if (!git_work_files(&r->git, folders, count, &paths, &n, e))
        return false;
    r->now = arena_array(r->a, n, sizeof *r->now);
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        uint32_t mode;

        if (!fs_stat_at(r->fd, str_dup0(paths[i], r->a), &st))
            continue;
        if (S_ISREG(st.st_mode))
            mode = st.st_mode & 0100 ? MODE_PROGRAM : MODE_FILE;
        else if (S_ISLNK(st.st_mode))
            mode = MODE_LINK;
        else
            continue;
        r->now[kept++] = (struct git_file){.path = paths[i], .mode = mode};
    }
    r->now_count = kept;
    return true;
}

/* --- what changed --------------------------------------------------------- */

/* Changes of CHANGELOG.md and of the document itself are examined
 * separately. */
static void mark(struct pair *p, struct str path)
{
    size_t skip = p->folder.n ? p->folder.n + 1 : 0;
    struct str name = str_from_index(path, skip);

    p->changed = true;
    if (!str_is(name, "CHANGELOG.md") && !str_eq(name, p->result->file))
        p->others_changed = true;
}

/* Compares paths and modes; files that agree in both are compared by content
 * afterwards. */
static void compare_lists(struct pair *p)
{
    size_t i = 0, k = 0;

    while (i < p->before.count || k < p->now.count) {
        const struct git_file *x = &p->before.files[i];
        const struct git_file *y = &p->now.files[k];
        int cmp = i == p->before.count ? 1
                  : k == p->now.count  ? -1
                                       : str_cmp(x->path, y->path);

        if (cmp != 0)
            mark(p, cmp < 0 ? x->path : y->path);
        else if (x->mode != y->mode)
            mark(p, x->path);
        i += cmp <= 0;
        k += cmp >= 0;
    }
}

/* Computes the ids of all regular files of the work tree that belong to
 * packages. */
static bool hash_work(struct repository *r, const struct pairs *pairs,
                      struct err *e)
{
    struct git_file **files = arena_array(r->a, r->now_count, sizeof(void *));
    struct str *paths = arena_array(r->a, r->now_count, sizeof *paths);
    struct str *ids = arena_array(r->a, r->now_count, sizeof *ids);
    size_t n = 0;

    for (size_t i = 0; i < pairs->count; i++)
        for (size_t k = 0; k < pairs->items[i].now.count; k++) {
            struct git_file *f = &pairs->items[i].now.files[k];

            if (f->mode == MODE_LINK || f->id.p)
                continue;
            f->id = STR("-"); /* packages may be nested, so hash each file
                               * once */
            files[n] = f;
            paths[n++] = f->path;
        }
    if (!git_hash(&r->git, paths, n, ids, e))
        return false;
    for (size_t i = 0; i < n; i++)
        files[i]->id = ids[i];
    return true;
}

static bool same_link(const struct repository *r, const struct git_file *x,
                      const struct git_file *y, bool *same, struct err *e)
{
    char target[LINK_MAX_BYTES];
    struct str text;
    ssize_t n =
        readlinkat(r->fd, str_dup0(y->path, r->a), target, sizeof target);

    if (!git_read(&r->git, &x->id, 1, &text, e))
        return false;
    *same = n >= 0 && str_eq(text, str_make(target, (size_t)n));
    return true;
}

static bool compare_contents(struct repository *r, struct pair *p,
                             struct err *e)
{
    size_t k = 0;

    for (size_t i = 0; i < p->before.count; i++) {
        const struct git_file *x = &p->before.files[i];
        bool same = true;

        while (k < p->now.count && str_cmp(p->now.files[k].path, x->path) < 0)
            k++;
        if (k == p->now.count || !str_eq(p->now.files[k].path, x->path))
            continue;
        if (x->mode != MODE_LINK)
            same = str_eq(x->id, p->now.files[k].id);
        else if (p->now.files[k].mode == MODE_LINK &&
                 !same_link(r, x, &p->now.files[k], &same, e))
            return false;
        if (!same)
            mark(p, x->path);
    }
    return true;
}

/* --- one package ---------------------------------------------------------- */

/* Reads the documents of all changed packages at the commit, in one call. */
static bool read_before(struct repository *r, const struct pairs *pairs,
                        struct err *e)
{
    struct str *ids = arena_array(r->a, pairs->count * 2, sizeof *ids);
    struct str *texts = arena_array(r->a, pairs->count * 2, sizeof *texts);
    struct str **places = arena_array(r->a, pairs->count * 2, sizeof(void *));
    size_t n = 0;

    for (size_t i = 0; i < pairs->count; i++) {
        struct pair *p = &pairs->items[i];
        const struct git_file *log =
            find(&p->before, p, STR("CHANGELOG.md"), r->a);

        if (!p->changed)
            continue;
        p->then.has_program =
            find(&p->before, p, STR("SKILL.star"), r->a) != NULL;
        places[n] = &p->then.text;
        ids[n++] = find(&p->before, p, p->result->file, r->a)->id;
        if (!log)
            continue;
        places[n] = &p->then.changelog;
        ids[n++] = log->id;
    }
    if (!git_read(&r->git, ids, n, texts, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!texts[i].p)
            return err_set(e, ERR_FAILED,
                           "the repository lacks the object %.*s",
                           STR_ARG(ids[i]));
        *places[i] = texts[i];
    }
    return true;
}

/* Returns false if it cannot be read, which already has a diagnostic. */
static bool read_now(struct repository *r, const struct pair *p,
                     struct bump_side *out)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    struct str folder = lint_folder(p->result, r->a);

    *out = (struct bump_side){
        .has_program = find(&p->now, p, STR("SKILL.star"), r->a) != NULL,
    };
    if (!fs_open_dir_at(r->fd, str_dup0(p->folder, r->a), &fd, &ignored) ||
        lint_read(p->result, fd, p->result->root->top, p->result->file,
                  ANCHOR_MAX_BYTES, r->a, &out->text) != MANIFEST_FILE_OK)
        return false;
    if (lint_read(p->result, fd, folder, STR("CHANGELOG.md"),
                  CHANGELOG_MAX_BYTES, r->a,
                  &out->changelog) != MANIFEST_FILE_OK)
        out->changelog = str_make(NULL, 0);
    return true;
}

static void compare_pair(struct repository *r, const struct pair *p)
{
    struct bump b = {
        .ref = r->ref, .before = p->then, .others_changed = p->others_changed};

    if (p->changed && read_now(r, p, &b.now))
        check_bump(&b, p->result);
}

/* --- a repository --------------------------------------------------------- */

static struct str from_top(struct str top, struct str path)
{
    if (path.n <= top.n)
        return str_make("", 0);
    return str_from_index(path, str_is(top, "/") ? 1 : top.n + 1);
}

/* Finds skills and agents that existed at the commit. Links are not compared,
 * since their text was elsewhere. */
static void find_pairs(struct repository *r,
                       const struct check_results *results, struct pairs *pairs)
{
    pairs->items = arena_array(r->a, results->count, sizeof *pairs->items);
    for (size_t i = 0; i < results->count; i++) {
        struct check_result *result = results->items[i];
        struct pair *p = &pairs->items[pairs->count];
        const struct git_file *entry;

        if (!result->root || !str_eq(result->root->top, r->top) ||
            !result->has_kind || !doc_entry_file(result->kind))
            continue;
        *p = (struct pair){.result = result};
        p->folder = from_top(r->top, lint_folder(result, r->a));
        p->before = below(r->before, r->before_count, p->folder, r->a);
        p->now = below(r->now, r->now_count, p->folder, r->a);
        entry = find(&p->before, p, result->file, r->a);
        if (entry && entry->mode != MODE_LINK)
            pairs->count++;
    }
}

static bool compare(struct repository *r, const struct str *folders,
                    size_t count, const struct check_results *results,
                    struct err *e)
{
    struct pairs pairs = {0};
    struct str commit;

    if (!git_commit(&r->git, r->ref, &commit, e) ||
        !git_list(&r->git, commit, folders, count, &r->before, &r->before_count,
                  e) ||
        !list_work(r, folders, count, e))
        return false;
    find_pairs(r, results, &pairs);
    if (!hash_work(r, &pairs, e))
        return false;
    for (size_t i = 0; i < pairs.count; i++) {
        compare_lists(&pairs.items[i]);
        if (!compare_contents(r, &pairs.items[i], e))
            return false;
    }
    if (!read_before(r, &pairs, e))
        return false;
    for (size_t i = 0; i < pairs.count; i++)
        compare_pair(r, &pairs.items[i]);
    return true;
}

static bool compare_top(struct context *cx, struct str ref, struct str top,
                        const struct check_root *roots, size_t count,
                        const struct check_results *results, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct repository r = {.a = &cx->arena, .ref = ref, .top = top};
    struct str *folders = arena_array(&cx->arena, count, sizeof *folders);
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (roots[i].in_git && str_eq(roots[i].top, top))
            folders[n++] = from_top(top, roots[i].real);
    if (!fs_open_dir(str_dup0(top, &cx->arena), &fd, e) ||
        !git_open(cx, top, &r.git, e))
        return false;
    r.fd = fd;
    return compare(&r, folders, n, results, e);
}

bool lint_against(struct context *cx, struct str ref,
                  const struct check_root *roots, size_t count,
                  const struct check_results *results, struct err *e)
{
    if (!context_check_cancelled(cx, e)) /* a signal ended git as well */
        return false;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;

        if (roots[i].real.n == 0)
            continue;
        if (!roots[i].in_git) {
            err_set(e, ERR_NOT_FOUND, "--against: %.*s is in no git repository",
                    STR_ARG(roots[i].real));
            return err_hint(e, "without --against it can be checked");
        }
        for (size_t k = 0; k < i; k++)
            seen |= roots[k].in_git && str_eq(roots[k].top, roots[i].top);
        if (!seen &&
            !compare_top(cx, ref, roots[i].top, roots, count, results, e))
            return err_wrap(e, "cannot compare with %.*s", STR_ARG(ref));
    }
    return true;
}
