#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include "exclude.h"

/* The roots of the two manifests, with one edit per file and kind, however many
 * roots change. */

static const enum doc_kind kinds[] = {DOC_AGENT, DOC_SKILL, DOC_MCP,
                                      DOC_PLUGIN};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static struct str root_key(const struct install_session *s,
                           const struct root *root)
{
    return layer_name_key(root->kind, root->origin.key, &s->cx->arena);
}

/* Returns the origin as in the file of the layer, where an own path is relative
 * to its folder instead of the root. */
static struct str text_of(const struct install_session *s,
                          const struct origin *o)
{
    struct arena *a = &s->cx->arena;
    struct str part = o->part.n ? str_join(STR("?"), o->part, a) : STR("");

    return o->scheme == ORIGIN_OWN
               ? arena_printf(a, "./%.*s%.*s",
                              STR_ARG(layer_own_path(&s->layer, o)),
                              STR_ARG(part))
               : o->text;
}

const struct root *session_all_roots(struct install_session *s, size_t *count)
{
    size_t room = s->root_count + 1, n = 0;
    struct root *roots;

    *count = s->root_count;
    if (s->part_count == 1)
        return s->roots;
    for (size_t i = 0; i < s->part_count; i++)
        room += i == s->at ? 0 : s->parts[i].root_count;
    roots = arena_array(&s->cx->arena, room, sizeof *roots);
    for (; n < s->root_count; n++)
        roots[n] = s->roots[n];
    for (size_t i = 0; i < s->part_count; i++)
        for (size_t k = 0; i != s->at && k < s->parts[i].root_count; k++)
            roots[n++] = s->parts[i].roots[k];
    *count = n;
    return roots;
}

/* --- removing ------------------------------------------------------------- */

static bool remove_kind(struct install_session *s, enum doc_kind kind,
                        const struct str *keys, size_t count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    const struct origin_rules *rules = &s->layer.rules;

    if (count == 0)
        return true;
    /* it may be in either file, as the committed one may contain file:
     * origins */
    if (!project_remove_roots(s->yaml, kind, keys, count, rules, a, &s->yaml,
                              e))
        return err_wrap(e, "cannot edit mapm.yaml");
    if (s->local_yaml.n &&
        !project_remove_roots(s->local_yaml, kind, keys, count, rules, a,
                              &s->local_yaml, e))
        return err_wrap(e, "cannot edit mapm.local.yaml");
    return true;
}

bool roots_remove(struct install_session *s, const struct root *gone,
                  size_t count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str *keys = arena_array(a, count + 1, sizeof *keys);
    struct map names;
    size_t kept = 0;

    map_init(&names, a);
    for (size_t i = 0; i < count; i++)
        map_put(&names, root_key(s, &gone[i]), NULL);
    for (size_t k = 0; k < KIND_COUNT; k++) {
        size_t n = 0;

        for (size_t i = 0; i < count; i++)
            if (gone[i].kind == kinds[k] && !gone[i].catalog)
                keys[n++] = gone[i].origin.scheme == ORIGIN_OWN
                                ? text_of(s, &gone[i].origin)
                                : gone[i].origin.key;
        if (!remove_kind(s, kinds[k], keys, n, e))
            return false;
    }
    for (size_t i = 0; count && i < s->root_count; i++)
        if (!map_has(&names, root_key(s, &s->roots[i])))
            s->roots[kept++] = s->roots[i];
    if (count)
        s->root_count = kept;
    return catalogs_exclude(s, gone, count, e);
}

/* --- adding --------------------------------------------------------------- */

static bool add_kind(struct install_session *s, enum doc_kind kind,
                     enum origin_scheme scheme, const struct root *roots,
                     size_t count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    bool is_local = scheme == ORIGIN_FILE;
    struct str *text = is_local ? &s->local_yaml : &s->yaml;
    const char *file = is_local ? "mapm.local.yaml" : "mapm.yaml";
    struct str *origins = arena_array(a, count + 1, sizeof *origins);
    struct str *names = arena_array(a, count + 1, sizeof *names);
    struct str_list *without = arena_array(a, count + 1, sizeof *without);
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (roots[i].kind == kind && roots[i].origin.scheme == scheme &&
            !roots[i].catalog) {
            names[n] = roots[i].as;
            without[n] = roots[i].without;
            origins[n++] = text_of(s, &roots[i].origin);
        }
    if (n == 0 ||
        project_add_roots(*text, kind, origins, names, without, n, a, text, e))
        return true;
    if (n == 1)
        return err_wrap(e, "cannot add %.*s to %s", STR_ARG(origins[0]), file);
    return err_wrap(e, "cannot add %zu %s to %s", n, doc_kind_plural(kind),
                    file);
}

/* Appends those of `roots` that are missing in s->roots. */
static bool add_roots(struct install_session *s, const struct root *roots,
                      size_t count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct root *all = arena_array(a, s->root_count + count + 1, sizeof *all);
    struct map known;
    size_t n = 0;

    map_init(&known, a);
    for (; n < s->root_count; n++) {
        all[n] = s->roots[n];
        map_put(&known, root_key(s, &all[n]), NULL);
    }
    for (size_t i = 0; i < count; i++)
        if (map_put(&known, root_key(s, &roots[i]), NULL))
            all[n++] = roots[i];
    for (size_t k = 0; k < KIND_COUNT; k++)
        for (int scheme = ORIGIN_GIT; scheme <= ORIGIN_FILE; scheme++)
            if (!add_kind(s, kinds[k], (enum origin_scheme)scheme,
                          all + s->root_count, n - s->root_count, e))
                return false;
    s->roots = all;
    s->root_count = n;
    return true;
}

/* --- replacing (DESIGN.md 6) ---------------------------------------------- */

struct wanted {
    struct map by_place; /* place -> struct node *, the last of several */
    struct map by_key;   /* origin key -> struct node *, for exact roots */
    struct map own;      /* packages of the workspace by kind and path */
};

/* Returns kind, repository and path, which are equal for every ref. */
static struct str place_of(const struct install_session *s, enum doc_kind kind,
                           const struct origin *o, struct str path)
{
    struct arena *a = &s->cx->arena;
    bool is_entry = origin_entry_name(o).p != NULL;

    /* a plugin of a marketplace is identified by its entry */
    return arena_printf(a, "%s %.*s %.*s", doc_kind_name(kind),
                        STR_ARG(origin_repository(o, a)),
                        STR_ARG(is_entry ? o->part : path));
}

/* Returns whether the path is known; that of a locked package belongs to the
 * entry's origin. */
bool roots_knows_path(const struct install_session *s, const struct node *n)
{
    return !n->failed && !n->assumed_present &&
           (n->is_ready || n->is_outlined) &&
           (!n->locked ||
            str_eq(layer_origin(&s->layer, n->locked)->key, n->origin->key));
}

static struct str node_place(const struct install_session *s,
                             const struct node *n)
{
    return place_of(s, n->package.kind, n->origin, n->path);
}

static struct root root_of(const struct node *n)
{
    return (struct root){.kind = n->package.kind,
                         .origin = *n->origin,
                         .as = n->alias,
                         .without = node_rare(n)->without,
                         .catalog = n->catalog};
}

static void index_wanted(struct install_session *s, struct node *const *nodes,
                         size_t count, struct wanted *out)
{
    map_init(&out->by_place, &s->cx->arena);
    map_init(&out->by_key, &s->cx->arena);
    map_init(&out->own, &s->cx->arena);
    for (size_t i = 0; i < count; i++) {
        struct root root = root_of(nodes[i]);

        map_put(&out->by_key, root_key(s, &root), nodes[i]);
        if (root.origin.scheme == ORIGIN_OWN)
            map_put(&out->own,
                    layer_name_key(root.kind, root.origin.path, &s->cx->arena),
                    nodes[i]);
        if (nodes[i]->origin->scheme == ORIGIN_GIT &&
            roots_knows_path(s, nodes[i]))
            map_put(&out->by_place, node_place(s, nodes[i]), nodes[i]);
    }
}

/* Returns whether `o` has the ref of `n` and so another path. */
static bool is_beside(const struct origin *o, const struct node *n)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str rest = n->origin->rest, ref = n->ref;

    if (origin_range(n->origin, &scratch).n)
        ref = str_slice(rest, 0, str_find_char(rest, '/'));
    if (!ref.n && rest.n > n->path.n && str_ends(rest, n->path))
        ref = str_slice(rest, 0, rest.n - n->path.n - (n->path.n > 0));
    return ref.n && o->rest.n > ref.n && str_starts(o->rest, ref) &&
           o->rest.p[ref.n] == '/';
}

/* Finds the successor of a root that failed, trying every slash because the end
 * of its ref is unknown. */
static struct node *guess_successor(const struct install_session *s,
                                    const struct root *root,
                                    const struct wanted *w, bool once)
{
    const struct origin *o = &root->origin;
    struct str path = o->rest.n ? o->rest : o->path;
    struct node *n;
    size_t slash;

    if (o->rest.n == 0)
        return map_find(&w->by_place, place_of(s, root->kind, o, path));
    if (!str_has_char(path, '/'))
        return map_find(&w->by_place, place_of(s, root->kind, o, STR("")));
    while ((slash = str_find_char(path, '/')) != SIZE_MAX) {
        path = str_from_index(path, slash + 1);
        n = map_find(&w->by_place, place_of(s, root->kind, o, path));
        if (n && !is_beside(o, n))
            return n;
        if (once)
            break;
    }
    return NULL;
}

/* Finds the same folder as a package of the workspace. */
static struct node *find_own(const struct install_session *s,
                             const struct root *root, const struct wanted *w)
{
    struct str path = root->origin.path, top = s->layer.root;

    return path.n > top.n + 1 && fs_path_is_within(path, top)
               ? map_find(&w->own,
                          layer_name_key(root->kind,
                                         str_from_index(path, top.n + 1),
                                         &s->cx->arena))
               : NULL;
}

/* Returns the node with the same repository and path at another ref, or NULL to
 * keep the root. Another folder with equal content is a separate root. */
static struct node *find_successor(const struct install_session *s,
                                   const struct root *root,
                                   const struct wanted *w)
{
    const struct node *known;

    if (map_has(&w->by_key, root_key(s, root)))
        return NULL;
    if (root->origin.scheme == ORIGIN_FILE)
        return find_own(s, root, w);
    if (root->origin.scheme == ORIGIN_OWN ||
        root->origin.scheme == ORIGIN_INDEX)
        return NULL;
    known = closure_find(&s->closure, root->origin.key);
    return known && roots_knows_path(s, known)
               ? map_find(&w->by_place,
                          place_of(s, root->kind, &root->origin, known->path))
               : guess_successor(
                     s, root, w,
                     (known && known->locked) ||
                         origin_range(&root->origin, &s->cx->arena).n);
}

/* Returns whether the root changes its alias or its skipped parts. */
static bool is_replaced(struct install_session *s, const struct root *root,
                        const struct wanted *w)
{
    const struct node *same = map_find(&w->by_key, root_key(s, root));
    struct node *next = find_successor(s, root, w);

    if (next && !next->alias.n)
        next->alias = root->as;
    if (next && !next->has_without)
        node_make_rare(next, &s->cx->arena)->without = root->without;
    return next ||
           (same &&
            ((same->alias.n && !str_eq(same->alias, root->as)) ||
             (same->has_without &&
              !project_same_parts(node_rare(same)->without, root->without))));
}

struct node **roots_successors(struct install_session *s,
                               struct node *const *nodes, size_t count)
{
    struct node **out =
        arena_array(&s->cx->arena, s->root_count + 1, sizeof(struct node *));
    struct wanted w;

    index_wanted(s, nodes, count, &w);
    for (size_t i = 0; i < s->root_count; i++)
        out[i] = find_successor(s, &s->roots[i], &w);
    return out;
}

bool roots_take(struct install_session *s, struct node *const *nodes,
                size_t count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct root *gone, *added;
    struct wanted w;
    size_t gone_count = 0, added_count = 0;

    if (count == 0)
        return true;
    gone = arena_array(a, s->root_count + 1, sizeof *gone);
    added = arena_array(a, count, sizeof *added);
    index_wanted(s, nodes, count, &w);
    for (size_t i = 0; i < s->root_count; i++)
        if (is_replaced(s, &s->roots[i], &w))
            gone[gone_count++] = s->roots[i];
    for (size_t i = 0; i < count; i++)
        if (nodes[i]->origin->scheme != ORIGIN_GIT ||
            !roots_knows_path(s, nodes[i]) ||
            map_find(&w.by_place, node_place(s, nodes[i])) == nodes[i])
            added[added_count++] = root_of(nodes[i]);
    return roots_remove(s, gone, gone_count, e) &&
           add_roots(s, added, added_count, e);
}
