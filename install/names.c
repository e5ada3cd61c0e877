#include "names.h"

#include "base/path.h"
#include "mapm/lock.h"
#include "mapm/name.h"
#include "mapm/origin.h"

struct str name_short(enum doc_kind kind, struct str fqn)
{
    return kind == DOC_MCP ? fqn : path_last(fqn);
}

void node_set_name(struct node *n, struct str fqn)
{
    n->package.fqn = fqn;
    n->package.name = name_short(n->package.kind, fqn);
}

static bool is_passed_over(struct str folder)
{
    return folder.p[0] == '.' || str_is(folder, "skills") ||
           str_is(folder, "agents") || str_is(folder, "plugins");
}

struct str name_folder(struct str path)
{
    size_t slash = str_find_last(path, '/');

    while (slash != SIZE_MAX) {
        path = str_slice(path, 0, slash);
        if (!is_passed_over(path_last(path)))
            return path;
        slash = str_find_last(path, '/');
    }
    return str_make("", 0);
}

struct str name_scope_of(struct str path)
{
    struct str folder = path_last(name_folder(path));

    return name_scope_is_valid(folder) ? folder : str_make("", 0);
}

struct str name_dot_scope_of(struct str path)
{
    size_t slash = name_folder(path).n ? SIZE_MAX : str_find_last(path, '/');
    struct str folder;

    while (slash != SIZE_MAX) {
        path = str_slice(path, 0, slash);
        folder = path_last(path);
        if (folder.p[0] == '.' &&
            name_scope_is_valid(str_from_index(folder, 1)))
            return str_from_index(folder, 1);
        slash = str_find_last(path, '/');
    }
    return str_make("", 0);
}

/* Returns whether `name` is what a folder at `path` gives a package named
 * `own`. */
static bool is_scoped_name(struct str path, struct str own, struct str name)
{
    struct str scope = name_scope_of(path);

    if (!scope.n)
        scope = name_dot_scope_of(path);
    return scope.n && name.n > scope.n + 1 && str_starts(name, scope) &&
           name.p[scope.n] == '/' &&
           str_eq(str_from_index(name, scope.n + 1),
                  name_short(DOC_SKILL, own));
}

/* Returns whether the plugin of a parent folder may have given the name, which
 * only its manifest can confirm (G10). */
static bool may_be_of_plugin(struct str path, struct str own, struct str name)
{
    size_t slash = str_find_char(name, '/');

    return slash != SIZE_MAX && name_folder(path).n &&
           name_scope_is_valid(str_slice(name, 0, slash)) &&
           str_eq(str_from_index(name, slash + 1), name_short(DOC_SKILL, own));
}

/* Tries every slash, because the end of the ref is unknown. */
static bool may_give(bool (*gives)(struct str path, struct str own,
                                   struct str name),
                     const struct origin *o, struct str own, struct str name)
{
    struct str rest = o->rest, segment;

    if (o->scheme != ORIGIN_GIT || rest.n == 0)
        return gives(o->path, own, name);
    while (rest.p && str_cut(&rest, '/', &segment))
        if (rest.p && gives(rest, own, name))
            return true;
    return false;
}

/* Returns whether another folder of equal content may give the entry its name.
 */
static bool also_may_give(bool (*gives)(struct str path, struct str own,
                                        struct str name),
                          const struct layer *l, const struct lock_entry *entry)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str repository = origin_repository(layer_origin(l, entry), &a);

    for (size_t i = 0; i < entry->also_count; i++) {
        struct err ignored = {0};
        struct origin o;

        if (origin_parse_part(entry->also[i], &l->rules, &a, &o, &ignored) &&
            str_eq(origin_repository(&o, &a), repository) &&
            may_give(gives, &o, entry->declared, entry->name))
            return true;
    }
    return false;
}

/* Returns whether a folder of the entry, whose origin is `o`, or its plugin may
 * have given its name. */
static bool folder_may_give(const struct layer *l,
                            const struct lock_entry *entry,
                            const struct origin *o)
{
    return may_give(is_scoped_name, o, entry->declared, entry->name) ||
           may_give(may_be_of_plugin, o, entry->declared, entry->name) ||
           also_may_give(is_scoped_name, l, entry) ||
           also_may_give(may_be_of_plugin, l, entry);
}

/* Returns whether `as`, which no root sets, is a name that selection_name()
 * gives the package for one of its folders. */
static bool is_given_name(const struct layer *l, const struct lock_entry *entry,
                          struct str path)
{
    return is_scoped_name(path, entry->declared, entry->name) ||
           also_may_give(is_scoped_name, l, entry);
}

bool node_is_given_name(const struct closure *c, struct node *n)
{
    const struct lock_entry *entry = n->locked;

    if (is_given_name(c->layer, entry, n->path) ||
        (n->is_sharing &&
         may_give(is_scoped_name, layer_origin(c->layer, entry),
                  entry->declared, entry->name)))
        return true;
    n->checks_scope =
        entry->kind != DOC_MCP &&
        (may_be_of_plugin(n->path, entry->declared, entry->name) ||
         also_may_give(may_be_of_plugin, c->layer, entry));
    return n->checks_scope;
}

struct str node_locked_name(const struct closure *c, const struct node *n)
{
    const struct lock_entry *entry = n->locked;

    if (n->alias.n)
        return n->alias;
    if (entry->plugin.n) /* decided by plugins_resolve() */
        return entry->name;
    return !entry->declared.n ||
                   folder_may_give(c->layer, entry, closure_locked_origin(c, n))
               ? entry->name
               : entry->declared;
}

struct str node_recorded_name(const struct closure *c, const struct node *n,
                              enum doc_kind kind, struct str own)
{
    const struct lock_entry *entry =
        n->locked ? n->locked : map_find(&c->layer->by_origin, n->origin->key);

    if (n->alias.n)
        return n->alias;
    return entry && entry->kind == kind && entry->declared.n &&
                   str_eq(entry->declared, own) &&
                   (is_given_name(c->layer, entry, n->path) ||
                    folder_may_give(c->layer, entry,
                                    layer_origin(c->layer, entry)))
               ? entry->name
               : own;
}
