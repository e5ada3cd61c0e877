#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/fetch.h"
#include "mapm/lock.h"
#include "mapm/patches.h"

#include "install_session.h"

/* Reads the lock of a bundle for a workspace without one, before its packages.
 * mapm-fetch parses the file. */

/* Patches belong to the team's repository and are not in bundles. */
static bool warn_about_patches(struct install_session *s,
                               const struct lock *lock, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct patches patches;

    if (!patches_read(s->cx, s->layer.path, &patches, e))
        return false;
    for (size_t i = 0; i < lock->count; i++) {
        const struct lock_entry *entry = &lock->entries[i];
        struct str file = patches_file(entry->kind, entry->name, a);

        if (entry->patch.n && !patches_find(&patches, file))
            context_warn(s->cx,
                         "%s %.*s is installed without the patch that it was "
                         "locked with: there is no %.*s",
                         doc_kind_name(entry->kind), STR_ARG(entry->name),
                         STR_ARG(file));
    }
    return true;
}

static bool take_lock(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str text;
    struct lock lock;

    if (!fetch_bundle_lock(s->bundle, a, &text, e) ||
        !lock_parse(text, "mapm.lock of the bundle", a, &lock, e) ||
        !warn_about_patches(s, &lock, e) ||
        !layer_take_lock(&s->layer, s->cx, &lock, e))
        return false;
    s->has_given_lock = true;
    context_warn(s->cx, "mapm.lock is that of the bundle: nothing but mapm "
                        "verify --remote, where the network is, shows that the "
                        "repositories have these commits");
    return true;
}

/* Makes roots of packages that no other package needs and that belong neither
 * to a plugin nor to the original workspace. */
static void take_roots(struct install_session *s)
{
    struct arena *a = &s->cx->arena;
    struct install_request *request = arena_new(a, struct install_request);
    const struct lock *lock = &s->layer.lock;
    struct str *origins = arena_array(a, lock->count + 1, sizeof *origins);
    bool *needed = arena_array(a, lock->count + 1, sizeof *needed);
    size_t n = 0;

    for (size_t i = 0; i < lock->count; i++)
        for (size_t k = 0; k < lock->entries[i].need_count; k++)
            needed[lock->entries[i].needs[k].entry - lock->entries] = true;
    for (size_t i = 0; i < lock->count; i++)
        if (!needed[i] && lock->entries[i].plugin.n == 0 &&
            !str_starts(lock->entries[i].origin, STR("./")))
            origins[n++] = lock->entries[i].origin;
    *request = *s->request;
    request->arguments = (struct str_list){origins, n};
    s->request = request;
}

bool session_open_bundle(struct install_session *s, struct err *e)
{
    const char *path = fs_join(s->cx->cwd, s->request->bundle, &s->cx->arena).p;

    if (!fs_open_user_file(path, &s->bundle, e))
        return err_wrap(e, "cannot install from %.*s",
                        STR_ARG(s->request->bundle));
    if (s->layer.lock_text.n || s->layer.has_conflict)
        return true;
    if (!take_lock(s, e))
        return err_wrap(e, "cannot install from %.*s",
                        STR_ARG(s->request->bundle));
    if (!s->layer.yaml.n && !s->layer.local_yaml.n &&
        s->request->arguments.count == 0)
        take_roots(s);
    return true;
}
