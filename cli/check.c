#include "check.h"

#include "base/fs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "user.h"

/* The command: from its words to roots, and from results to an exit code. */

/* "./a//b/" as "a/b"; "." and "./" as "". ".." stays: links may be in it. */
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

static struct str last_name(struct str path)
{
    return str_from_index(path, str_find_last(path, '/') + 1);
}

static struct str folder_of(struct str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX)
        return str_of("", 0);
    return str_slice(path, 0, slash ? slash : 1);
}

/* The nearest folder upwards with a .git: as far as links may lead, and what
 * --against compares with. It is only looked for, nothing in it is read. */
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
        at = folder_of(at);
    }
}

static void resolve(struct check_root *root, struct arena *a)
{
    char real[PATH_MAX];

    if (!realpath(root->shown.n ? str_c(root->shown, a) : ".", real))
        return;
    root->real = arena_str(a, str_from(real));
    root->name = last_name(root->real);
    root->parent = last_name(folder_of(root->real));
    root->top = find_top(root->real, &root->in_git, a);
}

bool check_root_open(struct str path, struct check_root *root, struct arena *a,
                     struct err *e)
{
    const char *text = str_c(path, a);
    struct stat st;
    bool is_folder;

    if (path.n == 0 || lstat(text, &st) < 0) {
        if (path.n && errno != ENOENT && errno != ENOTDIR)
            return err_errno(e, "%s", text);
        return err_set(e, ERR_NOT_FOUND, "%s: there is no such file or folder",
                       text);
    }
    /* What leads nowhere is a finding about a file. */
    is_folder = stat(text, &st) == 0 && S_ISDIR(st.st_mode);
    *root = (struct check_root){.shown = clean(path, a)};
    if (!is_folder) {
        root->only = last_name(root->shown);
        root->shown = folder_of(root->shown);
    }
    resolve(root, a);
    return true;
}

/* All of them are looked for first, so that one slip of a pen is not found
 * after ten seconds; each missing one is named. */
static bool find_roots(struct invocation *inv, struct check_root **out,
                       size_t *count, struct err *e)
{
    static struct str here = STR_INIT(".");
    const struct str *paths = inv->arguments.items;
    size_t n = inv->arguments.count;
    struct check_root *roots;
    struct err why = {0};
    bool ok = true;

    if (n == 0 && !has_option(inv, OPTION_NAME)) {
        paths = &here;
        n = 1;
    }
    roots = arena_array(&inv->cx.arena, n, sizeof *roots);
    *out = roots;
    *count = n;
    for (size_t i = 0; i < n; i++) {
        if (check_root_open(paths[i], &roots[i], &inv->cx.arena, &why))
            continue;
        if (ok)
            *e = why;
        else
            err_also(e, "%s", err_first(&why));
        ok = false;
    }
    return ok;
}

/* The names first, in the order given. */
static void add_names(struct invocation *inv, struct check_results *results)
{
    const struct values *names = &inv->given[OPTION_NAME];
    struct check_result **items = arena_array(
        &inv->cx.arena, names->count + results->count, sizeof(void *));

    for (size_t i = 0; i < names->count; i++)
        items[i] = check_name(names->items[i], &inv->cx.arena);
    if (results->count)
        memcpy(items + names->count, results->items,
               results->count * sizeof(void *));
    results->items = items;
    results->count += names->count;
}

static bool check_all(struct invocation *inv, const struct check_root *roots,
                      size_t count, int *exit_code, struct err *e)
{
    CLEANUP(check_results_done) struct check_results results = {0};
    struct project user;
    struct limits limits;
    struct check_rules rules = {
        .profile = PROFILE_INSTALL,
        .strict = has_option(inv, OPTION_STRICT),
        .fix = has_option(inv, OPTION_FIX),
    };

    if (has_option(inv, OPTION_PROFILE) &&
        !profile_find(option_value(inv, OPTION_PROFILE), &rules.profile))
        return err_set(e, ERR_USAGE, "unknown profile");
    if (!user_read(&inv->cx, &user, &limits, &rules.origins, e))
        return false;
    if (count && !check_find(roots, count, &rules, &inv->cx.arena, &results, e))
        return false;
    if (has_option(inv, OPTION_AGAINST) &&
        !check_against(&inv->cx, option_value(inv, OPTION_AGAINST), roots,
                       count, &results, e))
        return false;
    add_names(inv, &results);
    check_print(inv, &results);
    *exit_code = EXIT_DONE;
    for (size_t i = 0; i < results.count; i++)
        if (results.items[i]->why.errors)
            *exit_code = EXIT_FINDINGS;
    return true;
}

bool command_check(struct invocation *inv, int *exit_code, struct err *e)
{
    struct check_root *roots;
    size_t count;

    return find_roots(inv, &roots, &count, e) &&
           check_all(inv, roots, count, exit_code, e);
}
