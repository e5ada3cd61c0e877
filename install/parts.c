#include "base/fs.h"
#include "base/invariant.h"
#include "mapm/doc_kind.h"
#include "mapm/member.h"
#include "mapm/project.h"

#include "catalogs.h"
#include "renames.h"

/* The layers of a session [D10]. Dependencies of all are gathered into one
 * closure, so that an origin has one version; each layer is resolved
 * separately, so that names belong to the layer. */

void session_go(struct install_session *s, size_t part)
{
    struct session_part *old = &s->parts[s->at], *new = &s->parts[part];

    if (part == s->at)
        return;
#define PUT(type, name)  old->name = s->name;
#define TAKE(type, name) s->name = new->name;
    SESSION_PART(PUT)
    SESSION_PART(TAKE)
#undef PUT
#undef TAKE
    s->at = part;
}

void session_go_home(struct install_session *s)
{
    session_go(s, s->layers.here);
}

bool session_open_layers(struct install_session *s, int mode, struct err *e)
{
    struct arena *a = &s->cx->arena;
    const struct layers *all = &s->layers;
    size_t count = 0, n;

    if (!layer_open_all(s->cx, (enum layer_mode)mode, &s->layers, e) ||
        !layer_index_all(&s->layers, s->cx, e))
        return false;
    s->layer = all->whole;
    if (!s->layer.has_conflict) {
        s->roots = layer_roots(&all->parts[all->here], a, &s->root_count);
        return true;
    }
    for (size_t i = 0; i < all->count; i++, count += n)
        layer_roots(&all->parts[i], a, &n); /* including choices of catalogs */
    s->roots = arena_array(a, count + 1, sizeof *s->roots);
    for (size_t i = 0; i < all->count; i++) {
        const struct root *roots = layer_roots(&all->parts[i], a, &n);

        for (size_t k = 0; k < n; k++)
            s->roots[s->root_count++] = roots[k];
    }
    return true;
}

static void fill_part(const struct layer *l, struct str yaml,
                      struct session_part *out)
{
    out->layer = *l;
    out->yaml = yaml;
    out->local_yaml = l->local_yaml;
    out->with_server = l->project.server;
}

bool session_open_parts(struct install_session *s, struct err *e)
{
    enum layer_mode mode = s->request->dry_run ? LAYER_READ : LAYER_WRITE;
    struct layers *all = &s->layers;
    const struct layer *chosen;
    size_t chosen_count;

    if (s->layer.has_conflict || s->has_given_lock) {
        all->whole = s->layer;
        if (!layer_index_all(all, s->cx, e))
            return false;
    }
    chosen = layer_chosen(all, s->cx, &chosen_count);
    s->part_count = all->count;
    s->parts = arena_array(&s->cx->arena, all->count, sizeof *s->parts);
    for (size_t i = 0; i < all->count; i++) {
        struct layer *l = &all->parts[i];
        struct str yaml;

        s->parts[i].is_chosen = l >= chosen && l < chosen + chosen_count;
        if (s->parts[i].is_chosen && !l->provision &&
            !layer_open_provision(l, s->cx, mode, e))
            return false;
        if (!session_rename(s, l, &yaml, e))
            return false;
        fill_part(l, yaml, &s->parts[i]);
    }
#define TAKE(type, name) s->name = s->parts[all->here].name;
    SESSION_PART(TAKE)
#undef TAKE
    s->at = all->here;
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        catalogs_open(s);
        if (!session_read_patches(s, e))
            return s->layer.member.n &&
                   err_wrap(e, "member %.*s", STR_ARG(s->layer.member));
    }
    session_go_home(s);
    s->plan.workspace =
        s->at == 0 || s->cx->all_members ? s->layer.root : s->layer.path;
    return true;
}

bool session_is_everywhere(const struct install_session *s)
{
    for (size_t i = 0; i < s->part_count; i++)
        if (i != s->at && !s->parts[i].is_chosen)
            return false;
    return s->is_chosen;
}

size_t session_part_number(size_t at, size_t k)
{
    return k == 0 ? at : k <= at ? k - 1 : k;
}

/* Adds the roots of all layers; a merge determines all dependencies again. */
void session_add_roots(struct install_session *s)
{
    bool is_whole = s->layers.whole.has_conflict || session_is_everywhere(s);

    for (size_t i = 0; i < s->root_count; i++)
        closure_add_root(&s->closure, &s->roots[i], !is_whole && !s->is_chosen);
    for (size_t i = 0; i < s->part_count; i++)
        for (size_t k = 0; i != s->at && k < s->parts[i].root_count; k++)
            closure_add_root(&s->closure, &s->parts[i].roots[k],
                             !is_whole && !s->parts[i].is_chosen);
}

/* Returns an earlier root with the same origin; if there is none, records this
 * one and returns NULL. */
static const struct root *find_first(struct map *seen, const struct root *root)
{
    struct map_entry *entry = map_entry(seen, root->origin.key);
    const struct root *first = entry->value;

    if (!first)
        entry->value = (void *)(uintptr_t)root;
    return first;
}

/* Checks that roots with the same origin have the same parts in all members. */
static bool check_parts(const struct root *roots, size_t count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct map plugins;

    map_init(&plugins, &scratch);
    for (size_t i = 0; i < count; i++) {
        const struct root *first;

        if (roots[i].kind != DOC_PLUGIN)
            continue;
        first = find_first(&plugins, &roots[i]);
        if (!first || project_same_parts(first->without, roots[i].without))
            continue;
        err_set(e, ERR_CONFLICT,
                "two members leave out different parts of %.*s",
                STR_ARG(roots[i].origin.text));
        return err_hint(e, "one plugin has one list \"without\" in all of the "
                           "workspace");
    }
    return true;
}

bool session_check_names(struct install_session *s, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct root *roots;
    struct map names;
    size_t count;

    if (s->part_count == 1)
        return true;
    map_init(&names, &scratch);
    roots = session_all_roots(s, &count);
    if (!check_parts(roots, count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct root *first;

        if (!roots[i].as.n)
            continue;
        first = find_first(&names, &roots[i]);
        if (!first || str_eq(first->as, roots[i].as))
            continue;
        err_set(e, ERR_CONFLICT,
                "%.*s is named %.*s by one member and %.*s "
                "by another",
                STR_ARG(roots[i].origin.text), STR_ARG(first->as),
                STR_ARG(roots[i].as));
        return err_hint(e, "one origin has one name (\"as\") in all of the "
                           "workspace");
    }
    return true;
}

struct str session_member(const struct install_session *s)
{
    if (s->part_count == 1)
        return str_make("", 0);
    return s->layer.member.n ? s->layer.member : STR(MEMBER_ROOT);
}

/* --- the plan ---------------------------------------------------------------- */

/* Returns the effect for a layer that is only locked, by comparing the
 * locks. */
static enum install_effect locked_effect(const struct install_package *p)
{
    return p->action == INSTALL_ADD      ? INSTALL_ADDED
           : p->action == INSTALL_CHANGE ? INSTALL_UPDATED
                                         : INSTALL_KEPT;
}

static void join_part(struct install_session *s, struct install_package *all,
                      size_t *count, struct str *members)
{
    struct install_plan *p = &s->plan;

    for (size_t i = 0; i < s->resolved.count; i++) {
        struct install_package *package = &all[*count];

        *package = s->packages[i];
        package->member = session_member(s);
        package->is_lock_only = !s->is_chosen;
        if (!s->is_chosen)
            package->effect = locked_effect(package);
        *count += s->is_chosen || package->effect != INSTALL_KEPT;
    }
    for (size_t i = 0; i < s->gone_count; i++) {
        members[p->removed_count] = session_member(s);
        p->removed[p->removed_count++] = s->gone[i];
    }
}

void session_join_packages(struct install_session *s)
{
    struct arena *a = &s->cx->arena;
    struct install_plan *p = &s->plan;
    struct install_package *packages;
    size_t room = 1, gone = 1;
    struct str *members;

    p->packages = s->packages;
    p->package_count = s->resolved.count;
    p->removed = s->gone;
    p->removed_count = s->gone_count;
    if (s->part_count == 1)
        return;
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        room += s->resolved.count;
        gone += s->gone_count;
    }
    packages = arena_array(a, room, sizeof *packages);
    members = arena_array(a, gone, sizeof *members);
    p->removed = arena_array(a, gone, sizeof *p->removed);
    p->packages = packages;
    p->removed_members = members;
    p->package_count = p->removed_count = 0;
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        join_part(s, packages, &p->package_count, members);
    }
    session_go_home(s);
}

/* --- in place ---------------------------------------------------------------- */

bool session_provision(struct install_session *s, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct provision **places;
    struct str *paths;
    size_t n = 0;

    if (s->part_count == 1)
        return provision_apply(s->layer.provision, e);
    places = arena_array(&scratch, s->part_count, sizeof(struct provision *));
    paths = arena_array(&scratch, s->part_count, sizeof *paths);
    for (size_t i = s->part_count; i-- > 0;) {
        const struct layer *l = &s->layers.parts[i];

        if (!l->provision)
            continue;
        places[n] = l->provision;
        paths[n++] = l->member;
    }
    INVARIANT(n && paths[n - 1].n == 0); /* the root is always included */
    return provision_apply_all(places, paths, n, e);
}
