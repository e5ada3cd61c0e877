#include "base/fs.h"
#include "base/path.h"
#include "mapm/lint.h"
#include "mapm/plugin_check.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Normalizes "./a//b/" to "a/b", "." and "./" to "". Keeps "..", since there
 * may be links. */
static struct str clean(struct str path, struct arena *a)
{
    struct buf b;
    struct str part, out;
    bool absolute = path.n && path.p[0] == '/';

    buf_init(&b, PATH_MAX);
    while (str_cut(&path, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (b.n || absolute)
            buf_char(&b, '/');
        buf_append(&b, part);
    }
    if (b.n == 0 && absolute)
        buf_char(&b, '/');
    out = arena_str(a, buf_str(&b));
    buf_done(&b);
    return out;
}

/* Returns the path of a plugin's manifest in the plugin. */
static struct str name_of(struct str path)
{
    struct str manifest = plugin_manifest_of(path);

    return manifest.n ? manifest : path_last(path);
}

static struct str folder_above(struct str path, struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/')
            path = path_folder(path);
    return path_folder(path);
}

/* Finds the nearest folder upwards with a .git: links may not lead outside of
 * it, and --against compares with it. Nothing in .git is read. */
static struct str find_top(struct str folder, bool *found, struct arena *a)
{
    struct str at = folder;

    for (;;) {
        struct stat st;

        if (lstat(fs_join(at, STR(".git"), a).p, &st) == 0) {
            *found = true;
            return at;
        }
        if (at.n <= 1)
            return folder;
        at = path_folder(at);
    }
}

static void resolve(struct check_root *root, struct arena *a)
{
    char real[PATH_MAX];

    if (!realpath(root->shown.n ? str_dup0(root->shown, a) : ".", real))
        return;
    root->real = arena_str(a, str_cstr(real));
    root->name = path_last(root->real);
    root->parent = path_last(path_folder(root->real));
    root->top = find_top(root->real, &root->in_git, a);
}

bool lint_root_open(struct str path, struct check_root *root, struct arena *a,
                    struct err *e)
{
    const char *text = str_dup0(path, a);
    struct stat st;
    bool is_folder;

    if (path.n == 0 || lstat(text, &st) < 0) {
        if (path.n && errno != ENOENT && errno != ENOTDIR)
            return err_errno(e, "%s", text);
        return err_set(e, ERR_NOT_FOUND, "%s: there is no such file or folder",
                       text);
    }
    /* A dangling link becomes a diagnostic of a file. */
    is_folder = stat(text, &st) == 0 && S_ISDIR(st.st_mode);
    *root = (struct check_root){.shown = clean(path, a)};
    if (!is_folder) {
        root->only = name_of(root->shown);
        root->shown = folder_above(root->shown, root->only);
    }
    resolve(root, a);
    return true;
}
