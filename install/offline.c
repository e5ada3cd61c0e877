#include "offline.h"

#include "base/fs.h"
#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/team_bundle.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void keep_back(struct offline_job *j,
                      const struct install_team_package *p)
{
    j->out->kept[j->out->kept_count++] =
        (struct install_kept){p->entry->kind, p->entry->name, p->kept_back};
}

static void warn_market(struct offline_job *j,
                        const struct install_team_package *p)
{
    if (p->is_market && j->s->request->with_proofs)
        context_warn(j->s->cx,
                     "plugin %.*s is an entry of a marketplace which is too "
                     "large to be taken along: a machine without its host "
                     "cannot install it anew",
                     STR_ARG(p->entry->name));
}

/* Lists the packages to write; those of `file:` and of the workspace itself are
 * not included. */
static bool list_packages(struct offline_job *j, struct err *e)
{
    struct install_session *s = j->s;
    struct install_team_package *all;
    size_t count;

    if (!install_team_list(s->cx, &s->layers.whole, s->store,
                           (struct str_list){NULL, 0}, &all, &count, e))
        return false;
    j->packages = arena_array(&s->cx->arena, count + 1, sizeof *j->packages);
    j->out->kept = arena_array(&s->cx->arena, count + 1, sizeof *j->out->kept);
    for (size_t i = 0; i < count; i++)
        if (all[i].kept_back) {
            keep_back(j, &all[i]);
        } else if (!all[i].is_also || all[i].proof.n) {
            j->packages[j->count++] = all[i];
            j->out->packages += !all[i].is_also;
        } else {
            warn_market(j, &all[i]);
        }
    return true;
}

bool offline_open(struct context *cx, bool with_proofs, struct offline_job *j,
                  struct install_offline *out, struct err *e)
{
    *out = (struct install_offline){.path = STR("")};
    *j = (struct offline_job){.out = out};
    cx->all_members = true;
    if (!session_pull(cx, with_proofs, &j->s, e))
        return false;
    out->requests = j->s->closure.progress.requests;
    out->bytes = j->s->closure.progress.bytes;
    return list_packages(j, e);
}

void offline_close(struct offline_job *j)
{
    if (j->s)
        install_close(&j->s->plan);
    j->s = NULL;
}

bool install_pull(struct context *cx, struct install_offline *out,
                  struct err *e)
{
    struct offline_job j;
    bool ok = offline_open(cx, false, &j, out, e);

    offline_close(&j);
    return ok;
}

/* --- proofs ------------------------------------------------------------------ */

struct proving {
    const struct offline_proofs *to;
    struct context *cx;
    struct install_trees trees;
};

static bool prove(struct proving *p,
                  const struct install_team_package *const *of, size_t count,
                  struct err *e)
{
    struct install_team_object o;

    if (!context_check_cancelled(p->cx, e))
        return false;
    if (install_team_prove(&p->trees, of, count, p->to->a, &o, e))
        return p->to->give(p->to->ctx, of, count, &o, e);
    if (count == 1)
        return err_wrap(e, "%s %.*s", doc_kind_name(of[0]->entry->kind),
                        STR_ARG(of[0]->entry->name));
    /* too large, or one of the packages has an error */
    err_clear(e);
    return prove(p, of, count / 2, e) &&
           prove(p, of + count / 2, count - count / 2, e);
}

/* Orders by commit, then by the order of the lock. */
static int by_commit(const void *x, const void *y)
{
    const struct install_team_package *one =
        *(const struct install_team_package *const *)x;
    const struct install_team_package *two =
        *(const struct install_team_package *const *)y;
    int order = str_cmp(one->repository, two->repository);

    if (order == 0)
        order = str_cmp(one->commit, two->commit);
    if (order == 0)
        order = one->is_market - two->is_market;
    return order ? order : (one > two) - (one < two);
}

bool offline_are_together(const struct install_team_package *one,
                          const struct install_team_package *two)
{
    return !one->is_market && !two->is_market &&
           str_eq(one->commit, two->commit) &&
           str_eq(one->repository, two->repository);
}

const struct install_team_package **
offline_by_commit(const struct install_team_package *all, size_t count,
                  struct arena *a, size_t *n)
{
    const struct install_team_package **of =
        arena_array(a, count + 1, sizeof(struct install_team_package *));
    struct map names;

    *n = 0;
    map_init(&names, a);
    for (size_t i = 0; i < count; i++)
        if (map_put(&names, all[i].asked, &names))
            of[(*n)++] = &all[i];
    if (*n)
        qsort(of, *n, sizeof(struct install_team_package *), by_commit);
    return of;
}

bool offline_prove(struct offline_job *j, const struct offline_proofs *to,
                   struct err *e)
{
    struct proving p = {to, j->s->cx, {.store = j->s->store}};
    size_t count;
    const struct install_team_package **of =
        offline_by_commit(j->packages, j->count, &j->s->cx->arena, &count);
    bool ok = true;

    for (size_t from = 0, to_end; ok && from < count; from = to_end) {
        for (to_end = from + 1;
             to_end < count && offline_are_together(of[from], of[to_end]);
             to_end++)
            ;
        ok = prove(&p, of + from, to_end - from, e);
    }
    install_trees_done(&p.trees);
    return ok;
}

/* --- names ------------------------------------------------------------------ */

static bool is_only_one(const struct lock *lock, const struct lock_entry *entry)
{
    for (const struct lock_entry *other =
             lock_find(lock, entry->kind, entry->name);
         other; other = lock_next(lock, other))
        if (!str_eq(other->digest, entry->digest))
            return false;
    return true;
}

/* Digits of the digest that distinguish packages of the same name. */
#define DIGEST_CHARS 12

struct str offline_place(const struct lock *lock,
                         const struct lock_entry *entry, struct arena *a)
{
    size_t slash = str_find_char(entry->name, '/');
    struct str scope = str_slice(entry->name, 0, slash);
    struct str name =
        slash == SIZE_MAX
            ? scope
            : arena_printf(a, "%.*s__%.*s", STR_ARG(scope),
                           STR_ARG(str_from_index(entry->name, slash + 1)));
    struct str digest = str_slice(entry->digest, sizeof "sha256:" - 1,
                                  sizeof "sha256:" - 1 + DIGEST_CHARS);

    return is_only_one(lock, entry)
               ? arena_printf(a, "%s/%.*s", doc_kind_name(entry->kind),
                              STR_ARG(name))
               : arena_printf(a, "%s/%.*s@%.*s", doc_kind_name(entry->kind),
                              STR_ARG(name), STR_ARG(digest));
}

struct str offline_proof_place(struct str name, struct arena *a)
{
    return arena_join(STR(VENDOR_PROOFS), "/", name, a);
}

struct str offline_object_place(struct str id, struct arena *a)
{
    return arena_join(STR(VENDOR_OBJECTS), "/", id, a);
}

bool offline_scratch(int *fd, struct err *e)
{
    *fd = memfd_create("mapm", MFD_CLOEXEC);
    return *fd >= 0 || err_errno(e, "make room for packages");
}
