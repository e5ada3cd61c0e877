#include "base/fs.h"
#include "mapm/skill_roots.h"
#include "mapm/trusted.h"

#include <sys/stat.h>

/* --- requests ------------------------------------------------------------- */

/* Skills can also lie in a folder without a project; some of them may run. */
static bool check_there(struct context *cx, const struct layer *l,
                        struct err *e)
{
    return skill_roots_has_folder(cx, l->path) || layer_check_there(l, cx, e);
}

bool trusted_workspace_read(struct context *cx, struct store *store,
                            const struct layer *l,
                            struct trusted_workspace *out, struct err *e)
{
    if (!check_there(cx, l, e) || !layer_check_own(l, cx, e))
        return false;
    out->count = authorize_requests(l->path, &l->project, out->items);
    out->is_known = true;
    for (size_t i = 0; i < out->count; i++) {
        if (!authorize_trust(cx, store, &out->items[i], &out->states[i], e))
            return false;
        out->is_known &= out->states[i] == TRUST_GIVEN;
    }
    return true;
}

/* Records the rules first and the workspace last: where the workspace is
 * recorded, the rules are as well. */
bool trusted_workspace_put(struct context *cx, struct store *store,
                           const struct trusted_workspace *w, struct err *e)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->states[i] != TRUST_GIVEN &&
            !authorize_put(cx, store, &w->items[i], e))
            return err_wrap(e, "cannot record that this workspace is trusted");
    return true;
}

bool trusted_workspace_is_home(struct context *cx, const struct layer *l)
{
    struct stat home, here;

    return cx->home.n && stat(str_dup0(cx->home, &cx->arena), &home) == 0 &&
           stat(str_dup0(l->path, &cx->arena), &here) == 0 &&
           home.st_dev == here.st_dev && home.st_ino == here.st_ino;
}

/* --- metaskills ----------------------------------------------------------- */

static struct str below(struct str path, struct str top)
{
    return fs_path_is_within(path, top) && path.n > top.n + 1
               ? str_from_index(path, top.n + 1)
               : path;
}

static struct trusted_metaskill describe(const struct layer *l,
                                         const struct library_skill *skill,
                                         struct arena *a)
{
    struct trusted_metaskill out = {
        .name = arena_str(a, skill->name),
        .path = arena_str(a, below(skill->folder, l->path)),
    };
    struct err ignored = {0};
    struct str top, real;

    if (fs_real_path(str_dup0(l->path, a), a, &top, &ignored) &&
        fs_real_path(str_dup0(skill->folder, a), a, &real, &ignored) &&
        !str_eq(below(real, top), out.path))
        out.target = below(real, top);
    return out;
}

/* An installed package is trusted by name and content instead. */
static bool is_written_here(const struct layer *l,
                            const struct library_skill *skill)
{
    const struct lock_entry *entry = layer_find_folder(l, skill->folder);

    return skill->metaskill && (!entry || !layer_is_fetched(l, entry));
}

/* Opens the part of the library of `mapm mcp` that is in the workspace, without
 * the cache, in order to find programs as well. */
static bool open_written(struct context *cx, struct library **out,
                         struct err *e)
{
    struct library_root *roots;
    size_t count, n = 0;

    if (!skill_roots_places(cx, false, &roots, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (roots[i].source == LIBRARY_WORKSPACE)
            roots[n++] = roots[i];
    return skill_roots_open(cx, NULL, false, false, roots, n, out, e);
}

bool trusted_workspace_metaskills(struct context *cx, const struct layer *l,
                                  struct trusted_metaskill **out, size_t *count,
                                  struct err *e)
{
    struct library *library;
    size_t n = 0;

    if (!open_written(cx, &library, e))
        return err_wrap(e, "cannot list the metaskills of this workspace");
    *out = arena_array(&cx->arena, library_count(library) + 1, sizeof **out);
    for (size_t i = 0; i < library_count(library); i++) {
        const struct library_skill *skill = library_at(library, i);

        if (is_written_here(l, skill))
            (*out)[n++] = describe(l, skill, &cx->arena);
    }
    *count = n;
    library_close(library);
    return true;
}
