#include "base/fs.h"
#include "base/glob.h"
#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/member.h"

#include <dirent.h>
#include <sys/stat.h>

#include "layer_read.h"

/*
 * Finds the folders that `members:` names. They are searched below the
 * workspace without following links, so that a clone cannot lead out of its
 * folder [D10].
 */

struct expansion {
    const struct layer *layer;
    struct context *cx;
    int fd;           /* descriptor of the root */
    struct map found; /* result by path */
    size_t looked;    /* number of folders visited */
};

static bool fail(const struct expansion *x, struct err *e, enum err_code code,
                 struct str folder, const char *why)
{
    return err_set(e, code, "mapm.yaml:%u: members: %.*s %s",
                   x->layer->project.members_line, STR_ARG(folder), why);
}

static bool has_manifest(const struct expansion *x, struct str folder)
{
    struct str file = fs_join(folder, STR("mapm.yaml"), &x->cx->arena);
    struct stat st;

    return fs_stat_at(x->fd, file.p, &st) && S_ISREG(st.st_mode);
}

static bool add(struct expansion *x, struct str folder, struct err *e)
{
    map_put(&x->found, folder, NULL);
    if (x->found.count <= MEMBERS_MAX)
        return true;
    return err_set(e, ERR_LIMIT, "mapm.yaml:%u: more than %d members",
                   x->layer->project.members_line, MEMBERS_MAX);
}

/* Returns the folders of `parent` that match `part`, appended to the list. */
static bool list_matches(struct expansion *x, struct str parent,
                         struct str part, struct str **list, size_t *count,
                         size_t *capacity, struct err *e)
{
    struct arena *a = &x->cx->arena;
    struct fs_entry *entries;
    struct err why = {0};
    size_t n;

    if (!fs_list_at(x->fd, parent.n ? str_dup0(parent, a) : ".",
                    MEMBER_FOLDERS_MAX, a, &entries, &n, &why)) {
        /* A file or a link that matches another part has no members. */
        if (why.code == ERR_NOT_FOUND || why.code == ERR_REFUSED)
            return true;
        *e = why;
        return err_wrap(e, "mapm.yaml:%u: members",
                        x->layer->project.members_line);
    }
    x->looked += n;
    if (x->looked > MEMBER_FOLDERS_MAX)
        return err_set(e, ERR_LIMIT,
                       "mapm.yaml:%u: members: more than %d folders to look at",
                       x->layer->project.members_line, MEMBER_FOLDERS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct str path;

        if (entries[i].type != DT_DIR ||
            str_is(entries[i].name, "node_modules") ||
            !glob_star_matches(part, entries[i].name))
            continue;
        path = parent.n ? fs_join(parent, entries[i].name, a) : entries[i].name;
        if (!member_path_is_valid(path))
            continue;
        *list = arena_grow(a, *list, *count, capacity, sizeof **list);
        (*list)[(*count)++] = path;
    }
    return true;
}

/* Expands a pattern part by part. Folders without mapm.yaml are ignored. */
static bool expand_pattern(struct expansion *x, struct str pattern,
                           struct err *e)
{
    struct arena *a = &x->cx->arena;
    struct str rest = pattern, part;
    struct str *list = arena_array(a, 1, sizeof *list);
    size_t count = 1;

    while (str_cut(&rest, '/', &part)) {
        struct str *next = NULL;
        size_t n = 0, capacity = 0;

        for (size_t i = 0; i < count; i++) {
            if (member_pattern_has_star(part)) {
                if (!list_matches(x, list[i], part, &next, &n, &capacity, e))
                    return false;
                continue;
            }
            next = arena_grow(a, next, n, &capacity, sizeof *next);
            next[n++] =
                list[i].n ? fs_join(list[i], part, a) : arena_str(a, part);
        }
        list = next;
        count = n;
    }
    for (size_t i = 0; i < count; i++)
        if (has_manifest(x, list[i]) && !add(x, list[i], e))
            return false;
    return true;
}

static bool add_named(struct expansion *x, struct str folder, struct err *e)
{
    CLEANUP_FD int fd = -1;

    if (!fs_open_dir_at(x->fd, str_dup0(folder, &x->cx->arena), &fd, e)) {
        if (e->code == ERR_NOT_FOUND)
            err_clear(e);
        else
            return err_wrap(e, "mapm.yaml:%u: members",
                            x->layer->project.members_line);
    }
    if (has_manifest(x, folder))
        return add(x, folder, e);
    fail(x, e, ERR_NOT_FOUND, folder, "has no mapm.yaml");
    return err_hint(e, "mapm init %.*s writes one, or take it out of members",
                    STR_ARG(folder));
}

static bool check_nested(const struct expansion *x, struct err *e)
{
    for (size_t i = 0; i < x->found.count; i++) {
        struct str path = x->found.entries[i].key;

        for (size_t k = 1; k < path.n; k++) {
            if (path.p[k] != '/' || !map_has(&x->found, str_slice(path, 0, k)))
                continue;
            fail(x, e, ERR_REFUSED, path, "lies in another member");
            return err_hint(e,
                            "name the workspace's folders side by side: %.*s "
                            "or %.*s",
                            (int)k, path.p, STR_ARG(path));
        }
    }
    return true;
}

bool layer_list_members(struct layer *l, struct context *cx, int fd,
                        struct err *e)
{
    const struct project *p = &l->project;
    struct expansion x = {.layer = l, .cx = cx, .fd = fd};
    struct str *paths;

    if (p->member_count && l->is_global)
        return err_set(e, ERR_FORMAT,
                       "mapm.yaml:%u: the user's library has no members",
                       p->members_line);
    map_init(&x.found, &cx->arena);
    for (size_t i = 0; i < p->member_count; i++)
        if (!(member_pattern_has_star(p->members[i])
                  ? expand_pattern(&x, p->members[i], e)
                  : add_named(&x, p->members[i], e)))
            return false;
    if (!check_nested(&x, e))
        return false;
    paths = arena_array(&cx->arena, x.found.count + 1, sizeof *paths);
    for (size_t i = 0; i < x.found.count; i++)
        paths[i] = x.found.entries[i].key;
    str_sort(paths, x.found.count);
    l->members = paths;
    l->member_count = x.found.count;
    return true;
}

bool layer_has_parts(const struct layer *l)
{
    if (l->project.members_line)
        return true;
    for (size_t i = 0; i < l->lock.count; i++)
        if (l->lock.entries[i].member_count)
            return true;
    return false;
}
