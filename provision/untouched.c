#include "base/fs.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <unistd.h>

#include "merge.h"
#include "work.h"

/* Files at user level belong to the user and the clients. A file that cannot be
 * edited safely is not changed, and the text to insert is reported; other files
 * are not affected [H8]. */

static bool refuse_folder(struct str path, const struct stat *st, struct err *e)
{
    if (S_ISLNK(st->st_mode))
        return err_set(e, ERR_REFUSED,
                       "%s is a symbolic link that leads out of your home",
                       path.p);
    return err_set(e, ERR_REFUSED, "%s is not a folder", path.p);
}

/* Checks that all existing parents are real folders of the user. */
static bool check_way(struct plan *plan, struct str path, struct err *e)
{
    struct stat st = {.st_uid = geteuid()};

    for (size_t i = 1; i < path.n; i++) {
        struct str folder = str_slice(path, 0, i);
        struct stat here;

        if (path.p[i] != '/')
            continue;
        folder = arena_str(plan->arena, folder);
        if (!fs_stat_at(plan->p->root, folder.p, &here))
            break;
        if (!S_ISDIR(here.st_mode))
            return refuse_folder(folder, &here, e);
        st = here;
    }
    return st.st_uid == geteuid() || st.st_uid == 0 ||
           err_set(e, ERR_REFUSED, "its folder belongs to another user");
}

static bool check_file(struct plan *plan, struct str path, struct err *e)
{
    struct str folder =
        arena_str(plan->arena, str_slice(path, 0, str_find_last(path, '/')));
    struct fs_mount mount, above;
    struct stat st;

    if (!fs_stat_at(plan->p->root, path.p, &st))
        return true;
    if (S_ISLNK(st.st_mode))
        return err_set(e, ERR_REFUSED, "it is a symbolic link that leads %s",
                       stat(path.p, &st) == 0 ? "out of your home" : "nowhere");
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_REFUSED, "it is not a regular file");
    if (st.st_uid != geteuid())
        return err_set(e, ERR_REFUSED, "it belongs to another user");
    if (st.st_size > USER_FILE_MAX_BYTES)
        return err_set(e, ERR_REFUSED, "it is larger than %u bytes",
                       USER_FILE_MAX_BYTES);
    /* a file that is a mount point, as in containers, cannot be replaced */
    if (fs_find_mount(plan->p->root, folder.p, &above) &&
        fs_find_mount(plan->p->root, path.p, &mount) &&
        !fs_mount_eq(&above, &mount))
        return err_set(e, ERR_REFUSED, "it is a mount point");
    return true;
}

/* Renders a file with these servers only. */
static struct str make_snippet(struct plan *plan, struct target *t)
{
    struct arena *a = plan->arena;
    struct err ignored = {0};
    struct str keys[1], entries[1], text = STR("");
    struct merge m;
    bool ok;

    if (!desired_state_open_shared(t, STR(""), a, &m, &ignored))
        return text;
    for (size_t i = 0; i < t->server_count; i++) {
        struct desired_server *s = &t->servers[i];

        ok = desired_state_make_server(&plan->desired, t, s, &ignored);
        keys[0] = s->item->place;
        entries[0] = s->entry;
        ok = ok && (merge_can_begin(&m)
                        ? merge_begin(&m, keys, entries, 1, &ignored)
                        : merge_put(&m, keys[0], entries[0], &ignored));
        err_clear(&ignored);
    }
    text = arena_str(a, m.text);
    merge_done(&m);
    return text;
}

static struct str join_messages(const struct err *why, struct arena *a)
{
    struct str text = STR("");

    for (const char *m = NULL; (m = err_prev(why, m)) != NULL;)
        text =
            arena_printf(a, "%.*s%s%s", STR_ARG(text), text.n ? ": " : "", m);
    return text;
}

static void add_untouched(struct plan *plan, struct target *t,
                          const struct err *why)
{
    struct provision_untouched *u;

    plan->untouched =
        arena_grow(plan->arena, plan->untouched, plan->untouched_count,
                   &plan->untouched_capacity, sizeof *plan->untouched);
    u = &plan->untouched[plan->untouched_count++];
    *u = (struct provision_untouched){
        .client = str_cstr(t->client->name),
        .path = t->path,
        .why = join_messages(why, plan->arena),
        .snippet = t->kind == TARGET_SHARED && t->server_count
                       ? make_snippet(plan, t)
                       : STR(""),
    };
}

static bool is_about_the_file(enum err_code code)
{
    return code == ERR_REFUSED || code == ERR_FORMAT || code == ERR_LIMIT ||
           code == ERR_IO;
}

/* Keeps the record entry, so that a later command can continue. */
static void leave(struct plan *plan, const struct record_entry *known,
                  const struct plan *before)
{
    plan->count = before->count;
    plan->shown_count = before->shown_count;
    plan->next.count = before->next.count;
    plan->edits = before->edits;
    if (known)
        record_add(&plan->next, plan->arena, known);
}

bool plan_or_leave(struct plan *plan, struct target *t,
                   const struct record_entry *known, planner *make,
                   struct err *e)
{
    const struct plan before = *plan;
    struct err why = {0};

    if (check_way(plan, t->path, &why) &&
        (t->kind != TARGET_SHARED || check_file(plan, t->path, &why)) &&
        make(plan, t, &why))
        return true;
    if (!is_about_the_file(why.code)) {
        *e = why;
        return false;
    }
    leave(plan, known, &before);
    add_untouched(plan, t, &why);
    return true;
}
