#include "mapm/checkout.h"

#include "base/fs.h"
#include "mapm/authorize.h"
#include "mapm/limits.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAX_BYTES 4096

static struct str at(struct context *cx, struct str folder, const char *name)
{
    return fs_join(folder, str_cstr(name), &cx->arena);
}

/* Reads a file of git, if the user trusts its owner. */
static bool read_file(struct context *cx, struct str folder, const char *name,
                      size_t max_bytes, struct str *out)
{
    CLEANUP_FD int dir = -1;
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};

    return fs_open_dir(str_dup0(folder, &cx->arena), &dir, &ignored) &&
           fs_open_file_at(dir, name, &fd, NULL, &ignored) &&
           authorize_file(cx, fd, at(cx, folder, name), folder, &ignored) &&
           fs_read_fd(fd, max_bytes, &cx->arena, out, &ignored);
}

/* Tests like git whether a folder is a git directory. */
static bool is_git_dir(struct context *cx, struct str folder)
{
    CLEANUP_FD int dir = -1;
    struct err ignored = {0};

    return authorize_folder(cx, folder, &ignored) &&
           fs_open_dir(str_dup0(folder, &cx->arena), &dir, &ignored) &&
           fs_exists_at(dir, "HEAD");
}

/* Returns `.git`, or the folder that a `.git` file of a worktree names. */
static bool find_git_dir(struct context *cx, struct str folder, struct str *out)
{
    struct str path = at(cx, folder, ".git"), text;
    struct stat st;

    if (lstat(str_dup0(path, &cx->arena), &st) < 0)
        return false;
    if (S_ISDIR(st.st_mode)) {
        *out = path;
        return is_git_dir(cx, path);
    }
    if (!S_ISREG(st.st_mode) ||
        !read_file(cx, folder, ".git", HEAD_MAX_BYTES, &text) ||
        !str_starts(text, STR("gitdir: ")))
        return false;
    text = str_trim(str_from_index(text, 8));
    if (!str_starts(text, STR("/")))
        text = fs_join(folder, text, &cx->arena);
    *out = fs_normalize(text, &cx->arena);
    return is_git_dir(cx, *out);
}

static bool find_work_tree(struct context *cx, struct str folder,
                           struct checkout *out)
{
    struct err ignored = {0};

    if (!fs_real_path(str_dup0(folder, &cx->arena), &cx->arena, &folder,
                      &ignored))
        return false;
    for (;;) {
        size_t slash;

        if (find_git_dir(cx, folder, &out->git_dir)) {
            out->path = folder;
            return authorize_folder(cx, folder, &ignored);
        }
        slash = str_find_last(folder, '/');
        if (slash == SIZE_MAX || folder.n <= 1)
            return false;
        folder = str_slice(folder, 0, slash ? slash : 1);
    }
}

/* Returns the folder shared by several worktrees, with the configuration and
 * remotes. */
static struct str common_dir(struct context *cx, const struct checkout *c)
{
    struct err ignored = {0};
    struct str text;

    if (!read_file(cx, c->git_dir, "commondir", HEAD_MAX_BYTES, &text))
        return c->git_dir;
    text = str_trim(text);
    if (!str_starts(text, STR("/")))
        text = fs_join(c->git_dir, text, &cx->arena);
    text = fs_normalize(text, &cx->arena);
    return authorize_folder(cx, text, &ignored) ? text : c->git_dir;
}

/* Parses "ref: refs/heads/x" and removes `before`; returns "" for anything
 * else. */
static struct str read_ref(struct context *cx, struct str folder,
                           const char *name, const char *before)
{
    struct str text;

    if (!read_file(cx, folder, name, HEAD_MAX_BYTES, &text))
        return STR("");
    text = str_trim(text);
    if (!str_starts(text, str_cstr(before)))
        return STR("");
    text = str_from_index(text, str_cstr(before).n);
    return origin_ref_is_valid(text) ? text : STR("");
}

void checkout_find(struct context *cx, struct str folder, struct checkout *out,
                   bool *found)
{
    struct str *branches = arena_array(&cx->arena, 2, sizeof *branches);
    struct str common, config;

    *out = (struct checkout){.branches = branches};
    *found = false;
    if (!find_work_tree(cx, folder, out))
        return;
    common = common_dir(cx, out);
    if (!read_file(cx, common, "config", CHECKOUT_CONFIG_MAX_BYTES, &config))
        return;
    out->repositories =
        checkout_parse_remotes(config, &cx->arena, &out->repository_count);
    branches[0] = read_ref(cx, out->git_dir, "HEAD", "ref: refs/heads/");
    branches[1] = read_ref(cx, common, "refs/remotes/origin/HEAD",
                           "ref: refs/remotes/origin/");
    out->branch_count = 2;
    *found = out->repository_count > 0;
}

static bool is_of_remote(const struct checkout *c, const struct origin *o,
                         struct arena *a)
{
    struct str repository;

    if (o->scheme != ORIGIN_GIT || o->is_short)
        return false;
    repository = origin_repository(o, a);
    return str_in(c->repositories, c->repository_count, repository);
}

bool checkout_has(const struct checkout *c, const struct origin *o,
                  struct arena *a, struct str *path)
{
    if (!is_of_remote(c, o, a))
        return false;
    for (size_t i = 0; i < c->branch_count; i++) {
        struct str ref = c->branches[i], rest = o->rest;

        if (str_starts(rest, STR("refs/heads/")))
            rest = str_from_index(rest, strlen("refs/heads/"));
        if (!ref.n || !str_starts(rest, ref) ||
            (rest.n > ref.n && rest.p[ref.n] != '/'))
            continue;
        *path = rest.n > ref.n ? str_from_index(rest, ref.n + 1) : STR("");
        return true;
    }
    return false;
}

bool checkout_is_remote(const struct checkout *c, const struct origin *o,
                        struct arena *a, struct str *path)
{
    *path = origin_slot_path(o);
    return is_of_remote(c, o, a) && !origin_names_commit(o);
}

/* Returns "" for the work tree itself. */
static bool find_path_in(struct context *cx, struct str folder,
                         const struct checkout *c, struct str *out)
{
    struct err ignored = {0};

    if (!fs_real_path(str_dup0(folder, &cx->arena), &cx->arena, out, &ignored))
        return false;
    *out = str_from_index(*out, c->path.n);
    while (out->n && out->p[0] == '/')
        *out = str_from_index(*out, 1);
    return true;
}

bool checkout_find_common(struct context *cx, struct str folder,
                          struct str *common, struct str *prefix)
{
    struct checkout c = {.path = {0}};

    if (!find_work_tree(cx, folder, &c) ||
        !find_path_in(cx, folder, &c, prefix))
        return false;
    *common = common_dir(cx, &c);
    if (prefix->n)
        *prefix = str_join(*prefix, STR("/"), &cx->arena);
    return true;
}

bool checkout_tracks(struct context *cx, struct str folder, const char *name)
{
    struct checkout c = {.path = {0}};
    struct str index, path;

    if (!find_work_tree(cx, folder, &c) ||
        !read_file(cx, c.git_dir, "index", CHECKOUT_INDEX_MAX_BYTES, &index) ||
        !find_path_in(cx, folder, &c, &path))
        return false;
    return checkout_index_has(index,
                              path.n ? at(cx, path, name) : str_cstr(name));
}
