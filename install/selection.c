#include "selection.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/lock.h"
#include "mapm/mcp_file.h"
#include "mapm/name.h"
#include "mapm/origin.h"
#include "mapm/package_files.h"
#include "mapm/project.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest.h"
#include "names.h"
#include "plugin_scope.h"

/* --- the verdict on one node ---------------------------------------------- */

enum mark_state { MARK_OPEN, MARK_GOOD, MARK_BAD };

struct mark {
    enum mark_state state;
    bool is_admitted; /* it holds its name */
    bool is_listed;   /* added by selection_want_files() */
    size_t cursor;    /* the next dependency */
    struct str code, message;
    struct node *next;     /* dependency at fault; NULL if itself */
    struct choice *choice; /* NULL if it is only a dependency */
    struct node *twin;     /* node that holds its name */
};

struct selection {
    struct install_session *s;
    struct arena *a;
    struct node **stack;
    size_t depth, capacity;
    struct map names;         /* layer_name_key -> struct node *, the holder of
                           * the name */
    struct map contested;     /* names that two folders of a repository have */
    struct node **successors; /* per root of s->roots: the choice that
                               * replaces it */
    size_t link_count;        /* packages in all chains */
    bool is_resolved;         /* versions of ranges are chosen */
};

#define MESSAGE_MAX_BYTES 2048

static void PRINTF(4, 5) set_bad(struct selection *sel, struct node *n,
                                 const char *code, const char *format, ...)
{
    char message[MESSAGE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    n->mark->state = MARK_BAD;
    n->mark->code = str_cstr(code);
    n->mark->message = arena_str(sel->a, str_cstr(message));
}

/* Records the first message that contains more than the name of the package. */
static void set_failed(struct selection *sel, struct node *n)
{
    const char *code = node_rare(n)->fault.n
                           ? str_dup0(node_rare(n)->fault, sel->a)
                           : err_code_name(n->failed->code);
    const char *message = err_prev(n->failed, NULL);
    const char *inner = err_prev(n->failed, message);

    if (inner && (str_find(str_cstr(message), n->origin->text) != SIZE_MAX ||
                  str_ends(n->origin->text, str_cstr(message))))
        message = inner;
    set_bad(sel, n, code, "%s", message);
}

static bool is_allowed(const struct install_session *s, const struct origin *o)
{
    return project_source_allowed(&s->layer.project, o) &&
           project_source_allowed(&s->layer.user, o);
}

/* Evaluates a node without its dependencies. */
static void evaluate_node(struct selection *sel, struct node *n)
{
    const struct package *p = &n->package;

    n->mark->state = MARK_OPEN;
    if (n->failed)
        set_failed(sel, n);
    else if (n->offer_count)
        set_bad(sel, n, "path-not-found", "it is a catalog, not a package");
    else if (!n->is_ready && !n->is_outlined)
        set_bad(sel, n, "fetch", "it did not arrive");
    else if (node_rare(n)->in_the_way.n)
        set_bad(sel, n, "in-the-way",
                p->kind == DOC_MCP
                    ? "%.*s is a server of yours, which mapm did not write: "
                      "rename or remove that entry, or name this package alone "
                      "and add --force, which keeps a copy of the file"
                    : "%.*s is there, and mapm did not make it: move it away, "
                      "or name this package alone and add --force, which keeps "
                      "a copy",
                STR_ARG(node_rare(n)->in_the_way));
    else if (!is_allowed(sel->s, n->origin) ||
             !is_allowed(sel->s, node_source(n)))
        set_bad(sel, n, "refused", "policy.sources does not allow %.*s",
                STR_ARG(n->origin->repository));
    else if (p->kind == DOC_MCP && p->dep_count)
        set_bad(sel, n, "mcp-leaf", "an MCP server needs nothing");
}

static void push(struct selection *sel, struct node *n)
{
    n->mark = arena_new(sel->a, struct mark);
    evaluate_node(sel, n);
    if (n->mark->state == MARK_BAD)
        return;
    if (sel->depth >= sel->s->layer.limits.graph_max_depth.value) {
        set_bad(sel, n, "limit", "more than %zu levels of dependencies",
                sel->depth);
        return;
    }
    sel->stack = arena_grow(sel->a, sel->stack, sel->depth, &sel->capacity,
                            sizeof(struct node *));
    sel->stack[sel->depth++] = n;
}

static void set_cycle(struct selection *sel, struct node *n,
                      const struct node *to)
{
    CLEANUP(buf_done) struct buf b = {0};
    size_t i = sel->depth;

    buf_init(&b, 4096);
    while (i > 0 && sel->stack[i - 1] != to)
        i--;
    for (i = i ? i - 1 : 0; i < sel->depth; i++)
        buf_printf(&b, "%.*s -> ", STR_ARG(sel->stack[i]->package.fqn));
    set_bad(sel, n, "cyclic-dependency", "a cycle: %.*s%.*s",
            STR_ARG(buf_str(&b)), STR_ARG(to->package.fqn));
}

/* Returns whether the dependency itself is invalid, whatever its target. */
static bool is_bad_edge(struct selection *sel, struct node *n,
                        const struct dependency *dep, const struct node *to)
{
    if (dep->kind == DOC_AGENT && n->package.kind != DOC_AGENT &&
        n->package.kind != DOC_PLUGIN)
        set_bad(sel, n, "refused",
                "it needs the agent %.*s, and only an agent may",
                STR_ARG(dep->origin->text));
    else if (dep->origin->scheme != ORIGIN_GIT &&
             n->origin->scheme != dep->origin->scheme)
        set_bad(sel, n, "dep-file-origin",
                "it needs %.*s, a path on one machine",
                STR_ARG(dep->origin->text));
    else if (!to)
        set_bad(sel, n, "fetch", "it needs %.*s, which was never read",
                STR_ARG(dep->origin->text));
    return n->mark->state == MARK_BAD;
}

/* Evaluates a dependency. Returns true if it is valid. */
static bool follow(struct selection *sel, struct node *n,
                   const struct dependency *dep)
{
    struct node *to = closure_find(&sel->s->closure, dep->origin->key);

    if (is_bad_edge(sel, n, dep, to))
        return false;
    if (!to->mark) {
        push(sel, to);
    } else if (to->mark->state == MARK_OPEN) {
        set_cycle(sel, n, to);
    } else if (to->mark->state == MARK_BAD) {
        *n->mark = *to->mark;
        n->mark->next = to;
    } else if (to->package.kind != dep->kind) {
        set_bad(sel, n, "path-not-found", "%.*s is needed as %s, and is %s",
                STR_ARG(dep->origin->text), doc_kind_name(dep->kind),
                doc_kind_name(to->package.kind));
    } else {
        return true;
    }
    return false;
}

/* Evaluates the closure depth-first without recursion, because a graph may be
 * deep. */
static bool is_installable(struct selection *sel, struct node *root)
{
    if (!root->mark)
        push(sel, root);
    while (sel->depth) {
        struct node *n = sel->stack[sel->depth - 1];
        struct mark *m = n->mark;

        if (m->state == MARK_OPEN && m->cursor < n->package.dep_count) {
            m->cursor += follow(sel, n, &n->package.deps[m->cursor]);
            continue;
        }
        if (m->state == MARK_OPEN)
            m->state = MARK_GOOD;
        sel->depth--;
    }
    return root->mark->state == MARK_GOOD;
}

/* --- one name, one package (M27) ------------------------------------------ */

static bool is_outline(const struct node *n)
{
    return str_starts(n->package.content, STR(OUTLINE_PREFIX));
}

/* Finds the hash of the document. Returns false if it is unknown. */
static bool find_document(const struct selection *sel, const struct node *n,
                          struct hash *out)
{
    struct package_files p = {sel->s->store, n->files, n->file_count};
    const struct package_file *f;
    struct package_file *files;

    if (is_outline(n)) {
        *out = n->document;
        return true;
    }
    if (!p.files) {
        if (!store_find_files(sel->s->store, &n->digest, sel->a, &files,
                              &p.count))
            return false;
        p.files = files;
    }
    f = n->package.kind == DOC_MCP && p.count
            ? &p.files[0]
            : package_files_find(&p, str_cstr(doc_entry_file(n->package.kind)));
    if (f)
        *out = f->hash;
    return f != NULL;
}

/* Returns whether one node is requested by a range of versions of the other's
 * package. */
static bool is_of_range(const struct selection *sel, const struct node *x,
                        const struct node *y)
{
    return (origin_range(node_source(x), sel->a).n &&
            origin_is_package_of(node_source(y), node_source(x), sel->a)) ||
           (origin_range(node_source(y), sel->a).n &&
            origin_is_package_of(node_source(x), node_source(y), sel->a));
}

/* Returns whether the content certainly differs. For a package whose files are
 * missing, only the documents are compared; the files decide later. */
static bool is_other(const struct selection *sel, const struct node *x,
                     const struct node *y)
{
    struct hash one, two;

    if (!sel->is_resolved && is_of_range(sel, x, y))
        return false;
    if (is_outline(x) == is_outline(y))
        return !str_eq(x->package.content, y->package.content);
    return find_document(sel, x, &one) && find_document(sel, y, &two) &&
           !hash_eq(&one, &two);
}

/* Claims the names of `root` and its dependencies. On a conflict claims none:
 * `*holder` holds the name of `*claimer`. */
static bool admit(struct selection *sel, struct node *root,
                  struct node **claimer, struct node **holder)
{
    struct node **list = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;

    list = arena_grow(sel->a, list, count, &capacity, sizeof(struct node *));
    if (!root->mark->is_admitted) {
        root->mark->is_admitted = true;
        list[count++] = root;
    }
    for (size_t i = 0; i < count && ok; i++) {
        struct node *n = list[i];
        struct map_entry *entry =
            map_entry(&sel->names,
                      layer_name_key(n->package.kind, n->package.fqn, sel->a));

        if (!entry->value)
            entry->value = n;
        ok = entry->value == n || !is_other(sel, entry->value, n);
        *claimer = n;
        *holder = entry->value;
        for (size_t k = 0; k < n->package.dep_count && ok; k++) {
            struct node *to =
                closure_find(&sel->s->closure, n->package.deps[k].origin->key);

            if (!to || !to->mark || to->mark->is_admitted)
                continue;
            to->mark->is_admitted = true;
            list = arena_grow(sel->a, list, count, &capacity,
                              sizeof(struct node *));
            list[count++] = to;
        }
    }
    for (size_t i = 0; i < count && !ok; i++) {
        struct map_entry *entry = map_entry(
            &sel->names, layer_name_key(list[i]->package.kind,
                                        list[i]->package.fqn, sel->a));

        list[i]->mark->is_admitted = false;
        if (entry->value == list[i])
            entry->value = NULL;
    }
    return ok;
}

/* --- names of twins ------------------------------------------------------- */

/* Folders of a repository whose packages have the same name. */
struct twins {
    struct node **nodes;
    size_t count, capacity;
    bool differ, is_renamed;
};

static bool may_be_twin(const struct node *n)
{
    return n->path.n && n->origin->scheme != ORIGIN_OWN && !n->failed &&
           !n->offer_count && !n->alias.n && (n->is_ready || n->is_outlined) &&
           n->package.kind != DOC_MCP;
}

static struct str with_scope(struct install_session *s, const struct node *n,
                             struct str scope)
{
    return scope.n ? arena_printf(&s->cx->arena, "%.*s/%.*s", STR_ARG(scope),
                                  STR_ARG(n->package.name))
                   : scope;
}

static struct str path_of(const struct install_session *s, const struct node *n)
{
    struct str rest = n->origin->rest, ref;

    if (roots_knows_path(s, n))
        return n->path;
    return str_cut(&rest, '/', &ref) ? rest : STR("");
}

/* Returns the name with the plugin of the folder, or the folder itself, as
 * scope (G10); "" if its path provides none. */
static struct str scoped_name(struct install_session *s, const struct node *n)
{
    struct str scope = STR("");

    if (roots_knows_path(s, n))
        scope = plugin_scope_find(&s->closure, n, name_folder(n->path));
    return with_scope(s, n, scope.n ? scope : name_scope_of(path_of(s, n)));
}

static struct str dot_scoped_name(struct install_session *s,
                                  const struct node *n)
{
    return with_scope(s, n, name_dot_scope_of(path_of(s, n)));
}

/* Returns whether its name comes from one of its folders, or from the lock. */
static bool is_given(struct install_session *s, const struct node *n)
{
    const struct lock_entry *entry =
        map_find(&s->layer.by_origin, n->origin->key);

    return str_eq(n->package.fqn, scoped_name(s, n)) ||
           str_eq(n->package.fqn, dot_scoped_name(s, n)) ||
           (entry && entry->declared.n && !entry->plugin.n &&
            str_eq(n->package.fqn, entry->name) &&
            str_eq(layer_origin(&s->layer, entry)->key, n->origin->key));
}

/*
 * A recorded name stays with the folder that it is the name of: of one that the
 * lock has with other folders of equal content, with the origin of the entry.
 * Nor is anything renamed that was named exactly.
 */
static bool keeps_name(struct install_session *s, const struct node *n)
{
    const struct lock_entry *entry =
        map_find(&s->layer.by_origin, n->origin->key);

    if (n->is_exact || n->keeps_name)
        return true;
    if (!str_eq(n->package.fqn, n->own_fqn))
        return is_given(s, n);
    return entry && !entry->declared.n &&
           str_eq(layer_origin(&s->layer, entry)->key, n->origin->key);
}

enum name_rank { NAME_KEPT, NAME_SCOPED, NAME_DOT_SCOPED, NAME_RANKS };

static struct str name_of_rank(struct install_session *s, const struct twins *t,
                               const struct node *n, int rank)
{
    if (rank == NAME_KEPT)
        return keeps_name(s, n) ? n->package.fqn : STR("");
    if (!t->differ)
        return n->own_fqn;
    return rank == NAME_SCOPED ? scoped_name(s, n) : dot_scoped_name(s, n);
}

/* Where all but one content have names by their folders, their own name is free
 * for that one. */
static void name_last(const struct twins *t, struct map *names)
{
    struct node *last = NULL;

    for (size_t i = 0; i < t->count; i++) {
        struct node *n = t->nodes[i];
        const struct str *name = map_find(names, n->package.content);

        if (name ? str_eq(*name, n->own_fqn)
                 : last && !str_eq(last->package.content, n->package.content))
            return;
        if (!name)
            last = n;
    }
    if (last)
        map_put(names, last->package.content, &last->own_fqn);
}

/* Equal content is one package, so it has one name: one that is recorded, or
 * that of its first folder that gives one of the best rank. */
static void name_contents(struct install_session *s, const struct twins *t,
                          struct map *names)
{
    struct arena *a = &s->cx->arena;

    map_init(names, a);
    for (int rank = 0; rank < NAME_RANKS; rank++)
        for (size_t i = 0; i < t->count; i++) {
            const struct node *n = t->nodes[i];
            struct str *name = arena_new(a, struct str);

            *name = name_of_rank(s, t, n, rank);
            if (name->n && !map_has(names, n->package.content))
                map_put(names, n->package.content, name);
        }
    name_last(t, names);
}

/* Those without one are not chosen from a catalog. */
static void name_twins(struct install_session *s, const struct twins *t)
{
    struct map names;

    name_contents(s, t, &names);
    for (size_t i = 0; i < t->count; i++) {
        struct node *n = t->nodes[i];
        const struct str *name = map_find(&names, n->package.content);

        if (!name && n->mark)
            n->mark->twin = t->nodes[i == 0];
        if (!keeps_name(s, n))
            n->package.fqn = name ? *name : n->own_fqn;
    }
}

struct str selection_twin_key(const struct node *n, struct arena *a)
{
    const struct origin *o = n->origin;
    struct str catalog = o->scheme == ORIGIN_FILE
                             ? str_slice(o->path, 0, o->path.n - n->path.n)
                             : origin_repository(o, a);

    return arena_printf(a, "%s %.*s %.*s", doc_kind_name(n->package.kind),
                        STR_ARG(catalog), STR_ARG(n->own_fqn));
}

bool selection_lost_name(struct install_session *s, struct node *const *nodes,
                         size_t count)
{
    struct map given;
    bool lost = false;

    map_init(&given, &s->cx->arena);
    for (size_t i = 0; i < count; i++)
        if (!str_eq(nodes[i]->package.fqn, nodes[i]->own_fqn) &&
            is_given(s, nodes[i]))
            map_put(&given, nodes[i]->package.fqn, NULL);
    for (size_t i = 0; i < count; i++)
        lost |= !nodes[i]->alias.n &&
                !str_eq(nodes[i]->package.fqn, nodes[i]->own_fqn) &&
                !map_has(&given, nodes[i]->package.fqn);
    return lost;
}

static void find_groups(struct install_session *s, struct node *const *nodes,
                        size_t count, struct map *groups)
{
    struct arena *a = &s->cx->arena;

    map_init(groups, a);
    for (size_t i = 0; i < count; i++) {
        struct map_entry *entry;
        struct twins *t;

        if (!may_be_twin(nodes[i]))
            continue;
        entry = map_entry(groups, selection_twin_key(nodes[i], a));
        if (!entry->value)
            entry->value = arena_new(a, struct twins);
        t = entry->value;
        t->is_renamed |= !str_eq(nodes[i]->package.fqn, nodes[i]->own_fqn);
        t->differ |= t->count && !str_eq(t->nodes[0]->package.content,
                                         nodes[i]->package.content);
        t->nodes = arena_grow(a, t->nodes, t->count, &t->capacity,
                              sizeof(struct node *));
        t->nodes[t->count++] = nodes[i];
    }
}

bool selection_find_plugins(struct install_session *s,
                            struct node *const *nodes, size_t count,
                            struct err *e)
{
    struct map groups;
    bool any = false;

    if (s->closure.options.offline)
        return true;
    find_groups(s, nodes, count, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct twins *t = groups.entries[i].value;

        for (size_t k = 0; t->differ && k < t->count; k++) {
            const struct node *n = t->nodes[k];
            struct str folder = name_folder(n->path);

            if (folder.n && roots_knows_path(s, n) && !keeps_name(s, n))
                plugin_scope_request(&s->closure, n, folder, &any);
        }
    }
    return !any || closure_gather(&s->closure, e);
}

void selection_name(struct install_session *s, struct node *const *nodes,
                    size_t count)
{
    struct map groups;

    find_groups(s, nodes, count, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct twins *t = groups.entries[i].value;

        if (t->differ || t->is_renamed)
            name_twins(s, t);
    }
}

/* --- all choices ---------------------------------------------------------- */

/* Many chains of one long one are quadratic: beyond the bound only both ends. */
static void leave_out(struct selection *sel, struct choice *c)
{
    struct node *n = c->node, *last = n;
    size_t room = 1;

    c->is_left_out = true;
    c->code = n->mark->code;
    c->message = n->mark->message;
    for (; last->mark->next; last = last->mark->next)
        room++;
    if (room > 2 && sel->link_count + room > LEFT_OUT_MAX_LINKS) {
        c->omitted = room - 2;
        room = 2;
    } else {
        sel->link_count += room;
    }
    c->chain = arena_array(sel->a, room, sizeof(struct node *));
    for (; n && c->chain_count < room; n = n->mark->next)
        c->chain[c->chain_count++] = n;
    c->chain[room - 1] = last;
}

static bool is_same_repository(struct selection *sel, const struct node *x,
                               const struct node *y)
{
    return str_eq(origin_repository(x->origin, sel->a),
                  origin_repository(y->origin, sel->a));
}

/* How `c` can be taken although `holder` has its name: "" when it cannot. */
static struct str way_out(struct selection *sel, const struct choice *c,
                          const struct node *holder)
{
    const struct choice *other = holder->mark ? holder->mark->choice : NULL;
    struct str folder = path_folder(c->path);

    if (!other)
        return arena_printf(sel->a, ": to get this one, mapm remove %.*s first",
                            STR_ARG(holder->package.fqn));
    if (!is_same_repository(sel, c->node, holder) ||
        !text_is_shell_word(other->path) || !text_is_shell_word(c->path))
        return STR("");
    if (folder.n == 0 || fs_path_is_within(other->path, folder))
        return arena_printf(sel->a, ": add --skip %.*s to get this one",
                            STR_ARG(other->path));
    return arena_printf(sel->a,
                        ": add --skip %.*s to get this one, or --skip "
                        "%.*s/ to get the others",
                        STR_ARG(other->path), STR_ARG(folder));
}

static void leave_out_conflict(struct selection *sel, struct choice *c,
                               struct node *claimer, const struct node *holder)
{
    c->is_left_out = true;
    c->code = STR("origin-conflict");
    c->message = arena_printf(
        sel->a, "%s %.*s is the name of %.*s already, which differs%.*s",
        doc_kind_name(claimer->package.kind), STR_ARG(claimer->package.fqn),
        STR_ARG(holder->origin->text),
        STR_ARG(claimer == c->node ? way_out(sel, c, holder) : STR("")));
    c->chain = arena_array(sel->a, 2, sizeof(struct node *));
    c->chain[c->chain_count++] = c->node;
    if (claimer != c->node)
        c->chain[c->chain_count++] = claimer;
}

static struct str contested_key(struct selection *sel, const struct node *n)
{
    return arena_printf(
        sel->a, "%.*s %.*s",
        STR_ARG(layer_name_key(n->package.kind, n->package.fqn, sel->a)),
        STR_ARG(origin_repository(n->origin, sel->a)));
}

/* Nor is a folder with the content of one of the two. */
static void leave_out_contested(struct selection *sel, struct choice *c)
{
    const struct node *claimer =
        c->is_left_out || c->is_exact || sel->contested.count == 0
            ? NULL
            : map_find(&sel->contested, contested_key(sel, c->node));

    if (claimer)
        leave_out_conflict(sel, c, c->node, claimer);
}

/* Of two folders of one catalog that differ and have one name neither is
 * better. Else the first one has it. */
static void evaluate_name(struct selection *sel, struct choice *c)
{
    struct node *claimer = NULL, *holder = NULL;
    struct choice *other;

    if (!c->is_left_out && c->node->mark->twin)
        leave_out_conflict(sel, c, c->node, c->node->mark->twin);
    if (c->is_left_out || admit(sel, c->node, &claimer, &holder))
        return;
    leave_out_conflict(sel, c, claimer, holder);
    other = holder->mark->choice;
    if (claimer == c->node && other && !other->is_exact &&
        !other->is_left_out && is_same_repository(sel, holder, claimer)) {
        leave_out_conflict(sel, other, holder, claimer);
        map_put(&sel->contested, contested_key(sel, holder), claimer);
    }
}

static void admit_roots(struct selection *sel)
{
    struct install_session *s = sel->s;
    struct node *claimer, *holder;

    for (size_t i = 0; i < s->root_count; i++) {
        struct node *n = closure_find(&s->closure, s->roots[i].origin.key);

        if (n && !sel->successors[i] && is_installable(sel, n) &&
            !admit(sel, n, &claimer, &holder))
            continue; /* reported by the resolver */
    }
}

static size_t list_taken(const struct choice *choices, size_t count,
                         struct node **out)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (!choices[i].is_left_out)
            out[n++] = choices[i].node;
    return n;
}

/* The name that the layer gave stays when a package comes from another ref. */
static void inherit_names(struct selection *sel)
{
    struct install_session *s = sel->s;

    for (size_t i = 0; i < s->root_count; i++) {
        struct node *n = sel->successors[i];
        const struct lock_entry *entry =
            map_find(&s->layer.by_origin, s->roots[i].origin.key);

        if (n && s->roots[i].as.n && !n->alias.n) {
            n->alias = s->roots[i].as;
            closure_take_alias(n);
        }
        if (!n || n->alias.n || !entry ||
            !str_eq(lock_own_name(entry), n->own_fqn))
            continue;
        if (!entry->declared.n && !str_eq(layer_origin(&s->layer, entry)->key,
                                          s->roots[i].origin.key))
            continue;
        n->package.fqn = entry->name;
        n->keeps_name = !entry->declared.n;
    }
}

/* Once more from what their documents say: what is equal shows when all files
 * are here. */
static void name_choices(struct selection *sel, const struct choice *choices,
                         size_t count)
{
    struct install_session *s = sel->s;
    struct node **nodes =
        arena_array(sel->a, count + s->root_count + 1, sizeof(struct node *));
    size_t n = list_taken(choices, count, nodes);

    for (size_t i = 0; i < n; i++)
        if (!map_has(&s->layer.by_origin, nodes[i]->origin->key) &&
            !nodes[i]->alias.n)
            nodes[i]->package.fqn = nodes[i]->own_fqn;
    sel->successors = roots_successors(s, nodes, n);
    inherit_names(sel);
    for (size_t i = 0; i < s->root_count; i++) {
        nodes[n] = closure_find(&s->closure, s->roots[i].origin.key);
        n += nodes[n] && !sel->successors[i];
    }
    selection_name(s, nodes, n);
}

static void leave_out_for_ranges(struct selection *sel, struct choice *c)
{
    c->is_left_out = true;
    c->code = STR("origin-conflict");
    c->message = c->conflict;
    c->chain = arena_array(sel->a, 1, sizeof(struct node *));
    c->chain[c->chain_count++] = c->node;
}

void selection_evaluate(struct install_session *s, struct choice *choices,
                        size_t count, bool is_resolved)
{
    struct selection sel = {
        .s = s, .a = &s->cx->arena, .is_resolved = is_resolved};

    map_init(&sel.names, sel.a);
    map_init(&sel.contested, sel.a);
    for (size_t i = 0; i < s->closure.queued; i++)
        s->closure.queue[i]->mark = NULL;
    for (size_t i = 0; i < count; i++) {
        choices[i].is_left_out = false;
        choices[i].chain_count = choices[i].omitted = 0;
        if (!is_installable(&sel, choices[i].node))
            leave_out(&sel, &choices[i]);
        else if (choices[i].conflict.n)
            leave_out_for_ranges(&sel, &choices[i]);
        choices[i].node->mark->choice = &choices[i];
    }
    name_choices(&sel, choices, count);
    admit_roots(&sel);
    for (int exact = 1; exact >= 0; exact--)
        for (size_t i = 0; i < count; i++)
            if (choices[i].is_exact == exact)
                evaluate_name(&sel, &choices[i]);
    for (size_t i = 0; i < count; i++)
        leave_out_contested(&sel, &choices[i]);
}

bool selection_want_files(struct install_session *s,
                          const struct choice *choices, size_t count, bool *any,
                          struct err *e)
{
    struct closure *c = &s->closure;
    struct node **list =
        arena_array(&s->cx->arena, c->queued + 1, sizeof(struct node *));
    size_t n = 0;

    *any = false;
    for (size_t i = 0; i < count; i++)
        if (!choices[i].is_left_out && !choices[i].node->mark->is_listed) {
            choices[i].node->mark->is_listed = true;
            list[n++] = choices[i].node;
        }
    for (size_t i = 0; i < n; i++) {
        if (!list[i]->is_ready && !list[i]->wants_files) {
            *any = true;
            if (!closure_want_files(c, list[i], e))
                return false;
        }
        for (size_t k = 0; k < list[i]->package.dep_count; k++) {
            struct node *to =
                closure_find(c, list[i]->package.deps[k].origin->key);

            if (!to || !to->mark || to->mark->is_listed)
                continue;
            to->mark->is_listed = true;
            list[n++] = to;
        }
    }
    return true;
}

static bool may_be_in_the_way(const struct node *n)
{
    return n->is_ready && !n->locked && n->mark && n->mark->is_listed &&
           !(n->mark->choice && n->mark->choice->is_exact) &&
           n->origin->scheme != ORIGIN_OWN && n->package.kind != DOC_PLUGIN &&
           node_rare(n)->in_the_way.n == 0;
}

/* What its files are is known, or it is not looked at. */
static bool fill_place(struct install_session *s, struct node *n,
                       struct provision_item *out)
{
    if (!n->files && !store_find_files(s->store, &n->digest, &s->cx->arena,
                                       &n->files, &n->file_count))
        return false;
    *out = (struct provision_item){
        .kind = n->package.kind,
        .fqn = n->package.fqn,
        .place = n->package.kind == DOC_MCP
                     ? mcp_key(n->package.fqn, &s->cx->arena)
                     : n->package.name,
        .digest = n->digest,
        .rename = n->rewritten,
        .files = n->files,
        .file_count = n->file_count,
    };
    return true;
}

bool selection_check_places(struct install_session *s, bool *any, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    size_t room = s->closure.queued + 1, count = 0;
    struct provision_item *items = arena_array(&scratch, room, sizeof *items);
    struct node **nodes = arena_array(&scratch, room, sizeof(struct node *));
    struct str *paths = arena_array(&scratch, room, sizeof *paths);
    struct provision_options o;

    if (s->request->force || !s->layer.provision)
        return true;
    if (!session_provision_options(s, &o, e))
        return false;
    for (size_t i = 0; i < s->closure.queued; i++) {
        nodes[count] = s->closure.queue[i];
        count += may_be_in_the_way(nodes[count]) &&
                 fill_place(s, nodes[count], &items[count]);
    }
    if (!provision_find_taken(s->layer.provision, &o, items, count,
                              &s->cx->arena, paths, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (paths[i].n || nodes[i]->rare)
            node_make_rare(nodes[i], &s->cx->arena)->in_the_way = paths[i];
        *any |= paths[i].n != 0;
    }
    return true;
}

/* --- what is left out, as a value ------------------------------------------ */

static enum doc_kind kind_of(const struct node *n)
{
    return n->package.fqn.n ? n->package.kind : (enum doc_kind)n->kinds;
}

static int by_code(const void *x, const void *y)
{
    const struct install_left_out *one = x, *two = y;
    int order = str_cmp(one->code, two->code);

    return order ? order : str_cmp(one->origin, two->origin);
}

static void fill_left_out(const struct choice *c, struct arena *a,
                          struct install_left_out *out)
{
    *out = (struct install_left_out){
        .kind = kind_of(c->node),
        .name = c->name,
        .path = c->path,
        .origin = c->node->origin->text,
        .code = c->code,
        .message = c->message,
        .chain = arena_array(a, c->chain_count + 1, sizeof *out->chain),
        .chain_count = c->chain_count,
        .omitted = c->omitted,
    };
    for (size_t i = 0; i < c->chain_count; i++)
        out->chain[i] = (struct install_link){kind_of(c->chain[i]),
                                              c->chain[i]->origin->text};
}

struct install_left_out *selection_left_out(const struct choice *choices,
                                            size_t count, struct arena *a,
                                            size_t *left_out_count)
{
    struct install_left_out *list = NULL;
    size_t n = 0, capacity = 0;

    for (size_t i = 0; i < count; i++) {
        if (!choices[i].is_left_out)
            continue;
        list = arena_grow(a, list, n, &capacity, sizeof *list);
        fill_left_out(&choices[i], a, &list[n++]);
    }
    if (n)
        qsort(list, n, sizeof *list, by_code);
    *left_out_count = n;
    return list;
}
