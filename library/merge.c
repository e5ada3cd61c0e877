#include "base/path.h"
#include "mapm/limits.h"

#include <stdlib.h>
#include <string.h>

#include "catalog.h"

/* Chooses one of several skills of the same name. Source: T13, K14, X23, A4. */

struct candidate {
    struct str name;
    const struct records *records;
    uint32_t index; /* index in the records */
    uint32_t root;
    size_t rank; /* rank of the root; the lowest takes precedence */
};

static struct str folder_of(const struct candidate *c)
{
    return record_folder(c->records, c->index);
}

static bool is_in_its_folder(const struct candidate *c)
{
    return str_eq(c->name, path_last(folder_of(c)));
}

/* Compares paths component by component: "a/x" precedes "a-b/x". */
static int compare_paths(struct str x, struct str y)
{
    struct str a = STR(""), b = STR("");
    int order = 0;

    while (order == 0 && x.p && y.p) {
        str_cut(&x, '/', &a);
        str_cut(&y, '/', &b);
        order = str_cmp(a, b);
    }
    return order ? order : (x.p != NULL) - (y.p != NULL);
}

/* Orders by name, then by precedence: the rank of the root, a folder with that
 * name, the distance from the root, and the path. */
static int compare(const struct candidate *x, const struct candidate *y)
{
    int order = str_cmp(x->name, y->name);

    if (order == 0 && x->rank != y->rank)
        order = x->rank < y->rank ? -1 : 1;
    if (order == 0 && is_in_its_folder(x) != is_in_its_folder(y))
        order = is_in_its_folder(x) ? -1 : 1;
    if (order == 0 && path_depth(folder_of(x)) != path_depth(folder_of(y)))
        order = path_depth(folder_of(x)) < path_depth(folder_of(y)) ? -1 : 1;
    if (order == 0)
        order = compare_paths(folder_of(x), folder_of(y));
    return order;
}

static int by_name(const void *x, const void *y)
{
    return compare(x, y);
}

/* A single root whose folders are named after their skills is sorted
 * already. */
static void sort(struct candidate *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (compare(&items[i - 1], &items[i]) > 0) {
            qsort(items, count, sizeof *items, by_name);
            return;
        }
    }
}

static bool is_same_file(const struct candidate *x, const struct candidate *y)
{
    struct record a = record_get(x->records, x->index);
    struct record b = record_get(y->records, y->index);

    return fingerprint_eq(&a.skill, &b.skill);
}

static void report_shadowed(const struct library *l,
                            const struct candidate *wins,
                            const struct candidate *loses)
{
    const struct library_root *roots = l->options.roots;
    const struct library_root *strong = &roots[wins->root];
    const struct library_root *weak = &roots[loses->root];
    struct str better = folder_of(wins), worse = folder_of(loses);

    if (is_same_file(wins, loses))
        return; /* the same file, reached by a link */
    if (wins->rank == loses->rank)
        report_note(
            &l->options, LIBRARY_WARNING,
            "skipping skill '%.*s' in the folder %.*s of %.*s: the one in the "
            "folder %.*s has that name",
            STR_ARG(wins->name), STR_ARG(worse), STR_ARG(weak->path),
            STR_ARG(better));
    else if (strong->source == LIBRARY_WORKSPACE &&
             weak->source == LIBRARY_GLOBAL)
        report_note(&l->options, LIBRARY_INFO,
                    "skill '%.*s' in workspace overrides global definition",
                    STR_ARG(wins->name)); /* T13 */
    else
        report_note(&l->options, LIBRARY_INFO,
                    "skill '%.*s' in %.*s overrides the one in %.*s",
                    STR_ARG(wins->name), STR_ARG(strong->path),
                    STR_ARG(weak->path));
}

static struct str join(struct str root, struct str folder, struct arena *a)
{
    bool slash = !str_ends(root, STR("/"));
    char *p = arena_alloc(a, root.n + slash + folder.n + 1);

    if (root.n)
        memcpy(p, root.p, root.n);
    if (slash)
        p[root.n] = '/';
    memcpy(p + root.n + slash, folder.p, folder.n);
    return str_make(p, root.n + slash + folder.n);
}

/* Metis does not know the field of L6: models may start all skills. */
void catalog_fill(struct library_skill *s, const struct library_root *root,
                  const struct record *r, bool metis, struct arena *a)
{
    *s = (struct library_skill){
        .name = r->field[RECORD_NAME],
        .description = r->field[RECORD_DESCRIPTION],
        .source = root->source,
        .root = root->path,
        .folder = join(root->path, r->field[RECORD_FOLDER], a),
        .version = r->field[RECORD_VERSION],
        .scope = r->field[RECORD_SCOPE],
        .license = r->field[RECORD_LICENSE],
        .compatibility = r->field[RECORD_COMPATIBILITY],
        .allowed_tools = r->field[RECORD_TOOLS],
        .model = r->field[RECORD_MODEL],
        .agent = r->field[RECORD_AGENT],
        .context = r->field[RECORD_CONTEXT],
        .tags = r->field[RECORD_TAGS],
        .disabled = r->flags & RECORD_DISABLED && !metis,
        .is_mode = r->flags & RECORD_MODE,
        .metaskill = r->flags & RECORD_METASKILL,
        .broken = r->flags & RECORD_BROKEN,
        .program = r->flags & RECORD_METASKILL ? record_program(r) : STR(""),
        .warnings = r->warnings,
    };
}

static struct candidate *collect(const struct library *l, struct catalog *c,
                                 struct arena *a, size_t *count)
{
    struct candidate *all;
    size_t max = 0, n = 0;

    for (size_t i = 0; i < l->options.root_count; i++)
        max += c->batches[i].records.count;
    all = arena_array(a, max + 1, sizeof *all);
    for (size_t rank = 0; rank < l->options.root_count; rank++) {
        size_t root = l->ranked[rank];
        const struct records *r = &c->batches[root].records;

        for (size_t i = 0; i < r->count; i++) {
            struct str name = record_name(r, i);

            if (name.n && !(l->options.roots[root].flat &&
                            str_has_char(record_folder(r, i), '/')))
                all[n++] = (struct candidate){name, r, (uint32_t)i,
                                              (uint32_t)root, rank};
        }
    }
    *count = n;
    return all;
}

static void fill_all(const struct library *l, struct catalog *c,
                     const struct candidate *wins)
{
    c->skills = arena_array(&c->a, c->count + 1, sizeof *c->skills);
    heap_will_write(c->skills, c->count * sizeof *c->skills);
    c->places = arena_array(&c->a, c->count + 1, sizeof *c->places);
    for (size_t i = 0; i < c->count; i++) {
        struct record r = record_get(wins[i].records, wins[i].index);

        c->places[i] = (struct place){wins[i].root, wins[i].index};
        catalog_fill(&c->skills[i], &l->options.roots[wins[i].root], &r,
                     l->options.metis, &c->a);
    }
}

bool catalog_merge(const struct library *l, struct catalog *c, bool loud,
                   struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count, wins = 0;
    struct candidate *all = collect(l, c, &a, &count);

    sort(all, count);
    c->overridden = 0;
    for (size_t i = 1; i < count; i++) {
        if (!str_eq(all[wins].name, all[i].name))
            all[++wins] = all[i];
        else if (c->overridden++, loud)
            report_shadowed(l, &all[wins], &all[i]);
    }
    c->count = count ? wins + 1 : 0;
    if (c->count > LIBRARY_MAX_SKILLS)
        return err_set(e, ERR_LIMIT, "more than %d skills", LIBRARY_MAX_SKILLS);
    fill_all(l, c, all);
    return true;
}
