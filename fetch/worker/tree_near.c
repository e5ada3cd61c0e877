#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"

#include "quote.h"
#include "tree_folder.h"

#define NEAR_EDITS       3     /* maximum edit distance of a similar name */
#define NEAR_MAX_ENTRIES 50000 /* scanned for one hint */
/* Total for a repository: each of many missing paths would scan all its
 * trees. */
#define NEAR_MAX_LOOKED 1000000

struct near {
    const struct tree_source *source;
    struct arena a;
    struct str names[TEXT_NEAREST_MAX];
    size_t count;
    size_t looked_at;
    struct str name;                  /* for record_name */
    const struct tree_sought *sought; /* for record_elsewhere */
    struct oid id;                    /* … of names[0] */
};

typedef void near_visit(struct near *n, const struct folder *f,
                        const struct tree_entry *entry);

static void near_done(struct near *n)
{
    arena_done(&n->a);
}

static bool is_full(const struct near *n)
{
    const struct tree_index *index = n->source->index;

    return n->count == TEXT_NEAREST_MAX || n->looked_at >= NEAR_MAX_ENTRIES ||
           (index && index->looked_at >= NEAR_MAX_LOOKED);
}

/* Returns the next entry with a printable name; false at the end. */
static bool next_entry(struct near *n, struct str *rest, struct tree_entry *out)
{
    struct err ignored;

    while (rest->n && !is_full(n)) {
        n->looked_at++;
        if (n->source->index)
            n->source->index->looked_at++;
        if (!tree_next(rest, out, &ignored))
            return false;
        if (path_check_name(out->name, &ignored))
            return true;
    }
    return false;
}

static struct str tree_bytes(const struct near *n, const struct oid *id)
{
    const struct object *tree = objects_find(n->source->objects, id);

    return tree && tree->type == OBJECT_TREE ? tree->bytes : STR("");
}

/* A name that differs only in case ranks first. */
static void search_folder(struct near *n, const struct folder *f,
                          struct str name)
{
    size_t max_edits = name.n < 6 ? 1 + name.n / 3 : NEAR_EDITS;
    struct str rest = tree_bytes(n, &f->tree);
    struct text_nearest near = {0};
    struct tree_entry entry;

    while (next_entry(n, &rest, &entry)) {
        bool is_same = str_eq_nocase(entry.name, name);

        if (is_same || (entry.name.n <= name.n + max_edits &&
                        name.n <= entry.name.n + max_edits))
            text_nearest_add(&near, is_same ? entry.name : name, entry.name,
                             max_edits);
    }
    for (size_t i = 0; i < near.count; i++)
        n->names[n->count++] = folder_path(f, near.found[i], &n->a);
}

/* Visits all entries, folders near the root first. */
static void search_all(struct near *n, near_visit *visit)
{
    const struct folder **queue = NULL;
    size_t count = 0, capacity = 0;
    struct folder *first = arena_new(&n->a, struct folder);

    first->tree = n->source->root;
    queue = arena_grow(&n->a, queue, count, &capacity, sizeof(struct folder *));
    queue[count++] = first;
    for (size_t i = 0; i < count && !is_full(n); i++) {
        struct str rest = tree_bytes(n, &queue[i]->tree);
        struct tree_entry entry;

        while (next_entry(n, &rest, &entry)) {
            struct folder *below;

            visit(n, queue[i], &entry);
            if (entry.kind != TREE_FOLDER ||
                queue[i]->depth >= PACKAGE_MAX_DEPTH || is_full(n))
                continue;
            below = arena_new(&n->a, struct folder);
            *below = (struct folder){.parent = queue[i],
                                     .name = entry.name,
                                     .tree = entry.id,
                                     .depth = queue[i]->depth + 1};
            queue = arena_grow(&n->a, queue, count, &capacity,
                               sizeof(struct folder *));
            queue[count++] = below;
        }
    }
}

static void record_name(struct near *n, const struct folder *f,
                        const struct tree_entry *entry)
{
    if (str_eq_nocase(entry->name, n->name))
        n->names[n->count++] = folder_path(f, entry->name, &n->a);
}

/* --- a package that has moved ----------------------------------------------- */

static bool is_hidden(struct str path)
{
    return str_starts(path, STR(".")) || str_find(path, STR("/.")) != SIZE_MAX;
}

/* Returns whether the entry may be the package, by its name and manifest. */
static bool is_namesake(const struct near *n, const struct tree_entry *entry)
{
    const char *file = n->sought->file;
    struct str rest = tree_bytes(n, &entry->id);
    struct err ignored = {0};
    struct tree_entry child;

    if (!str_eq(entry->name, n->sought->name) ||
        (entry->kind == TREE_FOLDER) != (file != NULL))
        return false;
    while (file && rest.n && tree_next(&rest, &child, &ignored))
        if (str_is(child.name, file))
            return true;
    return file == NULL;
}

static void record_elsewhere(struct near *n, const struct folder *f,
                             const struct tree_entry *entry)
{
    bool is_same = oid_eq(&entry->id, &n->sought->id);
    struct str path;

    if (!is_same && !is_namesake(n, entry))
        return;
    path = folder_path(f, entry->name, &n->a);
    if (!is_same && n->names[0].n &&
        (is_hidden(path) || !is_hidden(n->names[0])))
        return;
    n->names[0] = path;
    n->id = entry->id;
    n->count = is_same ? TEXT_NEAREST_MAX : 0; /* nothing is better */
}

bool tree_find_elsewhere(const struct tree_source *s,
                         const struct tree_sought *sought, struct arena *a,
                         struct str *path, struct oid *id)
{
    CLEANUP(near_done) struct near n = {.source = s, .sought = sought};

    search_all(&n, record_elsewhere);
    *path = arena_str(a, n.names[0]);
    *id = n.id;
    return path->n > 0;
}

/* --- similar names ---------------------------------------------------------- */

void folder_hint_near(const struct tree_source *s, const struct folder *f,
                      struct str name, struct str path, struct err *e)
{
    CLEANUP(near_done) struct near n = {.source = s, .name = path_last(path)};
    struct quote q[TEXT_NEAREST_MAX];

    search_folder(&n, f, name);
    if (n.count == 0)
        search_all(&n, record_name);
    for (size_t i = 0; i < n.count; i++)
        quote(&q[i], n.names[i]);
    if (n.count == 1)
        err_hint(e, "did you mean \"%s\"?", q[0].text);
    else if (n.count == 2)
        err_hint(e, "did you mean \"%s\" or \"%s\"?", q[0].text, q[1].text);
    else if (n.count == 3)
        err_hint(e, "did you mean \"%s\", \"%s\" or \"%s\"?", q[0].text,
                 q[1].text, q[2].text);
}
