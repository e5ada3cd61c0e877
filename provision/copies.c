#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/provision_copies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "transaction.h"
#include "work.h"
#include "writable.h"

#define COPIES_FOLDER   "mapm/backup"
#define COPIES_MAX_SETS 99 /* sets within one second */
#define DIGEST_CHARS    32
#define FOLDER_MAX      10000

/* --- names ---------------------------------------------------------------- */

/* Returns whether the name is like "2026-11-23T06-06-10Z", optionally followed
 * by "-01". */
static bool is_set_name(struct str name)
{
    static const char form[] = "0000-00-00T00-00-00Z-00";

    if (name.n != sizeof form - 1 && name.n != sizeof form - 4)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (form[i] == '0' ? name.p[i] < '0' || name.p[i] > '9'
                           : name.p[i] != form[i])
            return false;
    return true;
}

static const char *client_of(const struct client_scope *s, struct str path)
{
    const struct client *c = place_find_client(s, path);

    return c ? c->name : "file";
}

/* Names the copy by the digest of the path. */
static struct str name_copy(const struct client_scope *s, struct str path,
                            struct arena *a)
{
    struct hash digest = hash_of(path);

    return arena_printf(a, "%s-%.*s", client_of(s, path), DIGEST_CHARS,
                        hash_hex(&digest, a).p);
}

static struct str name_set(unsigned n, struct arena *a)
{
    char text[TEXT_TIME_BYTES];

    text_utc(time(NULL), "%Y-%m-%dT%H-%M-%SZ", text);
    return n ? arena_printf(a, "%s-%02u", text, n)
             : arena_str(a, str_cstr(text));
}

static struct str path_of(const struct client_scope *s, struct str name,
                          struct arena *a)
{
    return arena_printf(a, "%s/" COPIES_FOLDER "/%.*s", s->state,
                        STR_ARG(name));
}

/* --- the folder ------------------------------------------------------------ */

/* -1 where there are none. */
static bool open_copies(const struct client_scope *s, int *fd, struct err *e)
{
    CLEANUP_FD int state = -1;

    *fd = -1;
    if (fs_open_dir(s->state, &state, e) &&
        fs_open_dir_at(state, COPIES_FOLDER, fd, e))
        return true;
    if (e->code != ERR_NOT_FOUND)
        return err_wrap(e, "look for copies in %s/" COPIES_FOLDER, s->state);
    err_clear(e);
    return true;
}

static bool make_copies(const struct client_scope *s, int *fd, struct err *e)
{
    CLEANUP_FD int state = -1;

    return fs_make_dirs(s->state, 0700, e) &&
           fs_open_dir(s->state, &state, e) &&
           fs_make_dirs_at(state, COPIES_FOLDER, 0700, e) &&
           fs_open_dir_at(state, COPIES_FOLDER, fd, e);
}

/* Oldest first. */
static bool list_sets(int fd, struct arena *a, struct str **out, size_t *count,
                      struct err *e)
{
    struct fs_entry *entries;
    size_t n;

    *count = 0;
    if (!fs_list_at(fd, ".", FOLDER_MAX, a, &entries, &n, e))
        return false;
    *out = arena_array(a, n + 1, sizeof **out);
    for (size_t i = 0; i < n; i++)
        if (entries[i].type == DT_DIR && is_set_name(entries[i].name))
            (*out)[(*count)++] = entries[i].name;
    return true;
}

/* Returns the newest copy of `path` as "<time>/<name>", or "". */
static bool find_copy(const struct client_scope *s, int fd, struct str path,
                      struct arena *a, struct str *out, struct err *e)
{
    struct str name = name_copy(s, path, a), *sets;
    size_t count;

    *out = STR("");
    if (fd < 0)
        return true;
    if (!list_sets(fd, a, &sets, &count, e))
        return false;
    while (out->n == 0 && count > 0) {
        struct str place = fs_join(sets[--count], name, a);

        if (fs_exists_at(fd, place.p))
            *out = place;
    }
    return true;
}

static bool drop_old(int fd, struct arena *a, struct err *e)
{
    struct str *sets;
    size_t count;

    if (!list_sets(fd, a, &sets, &count, e))
        return false;
    for (size_t i = 0; i + USER_COPIES_KEPT <= count; i++)
        if (!fs_remove_tree_at(fd, sets[i].p, e))
            return false;
    return true;
}

static bool make_set(int fd, struct arena *a, struct str *out, struct err *e)
{
    if (!drop_old(fd, a, e))
        return false;
    for (unsigned n = 0; n <= COPIES_MAX_SETS; n++) {
        *out = name_set(n, a);
        if (mkdirat(fd, out->p, 0700) == 0)
            return fchmodat(fd, out->p, 0700, 0) == 0 ||
                   err_errno(e, "set the mode of %s", out->p);
        if (errno != EEXIST)
            break;
    }
    err_errno(e, "create the folder %s", out->p);
    *out = STR("");
    return false;
}

static bool put_copy(int fd, struct str set, struct str name, struct str text,
                     struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};

    return fs_replace_at(fd, fs_join(set, name, &a).p, 0600, text, e) &&
           fs_sync(fd, COPIES_FOLDER, e);
}

/* --- before the first edit -------------------------------------------------- */

/* Checks whether a folder can be created there, as far as possible without
 * trying. */
static bool check_place(const struct client_scope *s, struct arena *a,
                        struct err *e)
{
    struct str path = path_of(s, STR("."), a), own = str_cstr(s->state);
    struct stat st;

    path = fs_normalize(path, a);
    for (;;) {
        bool is_below = path.n > own.n;

        if ((is_below ? lstat(path.p, &st) : stat(path.p, &st)) == 0)
            break;
        if (errno != ENOENT || path.n <= 1)
            return err_errno(e, "look at %s", path.p);
        path = arena_str(a, path_folder(path));
    }
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_REFUSED, "%s is not a folder", path.p);
    if (path.n > own.n && st.st_uid != geteuid())
        return err_set(e, ERR_REFUSED, "%s belongs to another user", path.p);
    return access(path.p, W_OK | X_OK) == 0 ||
           err_errno(e, "write to %s", path.p);
}

bool copies_plan(struct plan *plan, struct change *c, struct str text,
                 bool is_recorded, struct err *e)
{
    const struct client_scope *s = plan->p->scope;
    CLEANUP_FD int fd = -1;
    struct str known = STR(""), *before;

    if (!s->is_user || !place_is_of_user(c->path))
        return true;
    if (is_recorded && (!open_copies(s, &fd, e) ||
                        !find_copy(s, fd, c->path, plan->arena, &known, e)))
        return err_wrap(e, "no copy of it can be kept");
    if (known.n)
        return true;
    if (!check_place(s, plan->arena, e))
        return err_wrap(e, "no copy of it can be kept");
    before = arena_new(plan->arena, struct str);
    *before = text;
    c->before = before;
    return true;
}

static bool write_all(struct provision *p, const struct plan *plan,
                      struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct arena *a = &p->arena;

    if (!make_copies(p->scope, &fd, e) ||
        (p->copies.n == 0 && !make_set(fd, a, &p->copies, e)))
        return false;
    for (size_t i = 0; i < plan->count; i++) {
        const struct change *c = &plan->changes[i];

        if (c->before &&
            !put_copy(fd, p->copies, name_copy(p->scope, c->path, a),
                      *c->before, e))
            return false;
    }
    return true;
}

bool copies_write(struct provision *p, const struct plan *plan, struct err *e)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->changes[i].before)
            return write_all(p, plan, e) ||
                   err_wrap(e, "keep a copy of %.*s below %s/" COPIES_FOLDER,
                            STR_ARG(plan->changes[i].path), p->scope->state);
    return true;
}

/* --- and back ---------------------------------------------------------------- */

static bool read_now(struct str path, struct arena *a, bool *is_there,
                     struct str *text, struct err *e)
{
    struct stat st;

    *is_there = fs_stat_at(AT_FDCWD, path.p, &st);
    *text = STR("");
    if (*is_there && st.st_uid != geteuid())
        return err_set(e, ERR_REFUSED, "it belongs to another user");
    if (fs_read_file_at(AT_FDCWD, path.p, USER_FILE_MAX_BYTES, a, text, e))
        return true;
    if (e->code != ERR_NOT_FOUND || *is_there)
        return false;
    err_clear(e);
    return true;
}

static bool is_listed(const struct provision_copies *all, struct str path)
{
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].path, path))
            return true;
    return false;
}

static bool add_copy(struct provision_copies *all, int fd, const char *named,
                     struct arena *a, struct err *e)
{
    struct provision_copy c = {.path = str_cstr(named), .why = STR("")};
    struct err why = {0};
    struct str place;

    if (is_listed(all, c.path))
        return true;
    if (!find_copy(all->scope, fd, c.path, a, &place, e))
        return false;
    if (place.n == 0)
        return true;
    c.client = client_of(all->scope, c.path);
    c.place = path_of(all->scope, place, a);
    c.time = path_folder(place);
    if (!fs_read_file_at(fd, place.p, USER_FILE_MAX_BYTES, a, &c.text, &why) ||
        !read_now(c.path, a, &c.is_there, &c.now, &why))
        c.why = arena_str(a, str_cstr(err_first(&why)));
    else if (c.is_there && str_eq(c.now, c.text))
        return true;
    all->items = arena_grow(a, all->items, all->count, &all->capacity,
                            sizeof *all->items);
    all->items[all->count++] = c;
    return true;
}

bool provision_list_copies(const struct client_scope *scope, struct arena *a,
                           struct provision_copies *out, struct err *e)
{
    CLEANUP_FD int fd = -1;

    *out = (struct provision_copies){.scope = scope, .set = STR("")};
    if (!open_copies(scope, &fd, e))
        return false;
    for (size_t i = 0; i < clients_count; i++) {
        const struct client_mcp *m = &scope->rows[i].mcp;

        if (m->path && !add_copy(out, fd, m->path, a, e))
            return false;
        for (size_t k = 0; k < CLIENT_MAX_OTHERS && m->others[k]; k++)
            if (!add_copy(out, fd, m->others[k], a, e))
                return false;
    }
    return true;
}

static bool back_up_replaced(struct provision_copies *all,
                             const struct provision_copy *c, struct arena *a,
                             struct str *kept, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct str name = arena_printf(a, "%.*s.replaced",
                                   STR_ARG(name_copy(all->scope, c->path, a)));

    if (!make_copies(all->scope, &fd, e) ||
        (all->set.n == 0 && !make_set(fd, a, &all->set, e)) ||
        !put_copy(fd, all->set, name, c->now, e))
        return err_wrap(e, "keep what is replaced");
    *kept = path_of(all->scope, fs_join(all->set, name, a), a);
    return true;
}

bool provision_restore_copy(struct provision_copies *all,
                            const struct provision_copy *c, struct arena *a,
                            struct str *kept, struct err *e)
{
    struct str now;
    bool is_there;

    *kept = STR("");
    if (c->is_there && !back_up_replaced(all, c, a, kept, e))
        return false;
    if (!read_now(c->path, a, &is_there, &now, e))
        return false;
    if (is_there != c->is_there || !str_eq(now, c->now))
        return err_set(e, ERR_EDITED, "%.*s was changed in the meantime",
                       STR_ARG(c->path));
    return fs_make_dirs(arena_str(a, path_folder(c->path)).p, 0700, e) &&
           fs_replace_at(AT_FDCWD, c->path.p, 0600, c->text, e);
}
