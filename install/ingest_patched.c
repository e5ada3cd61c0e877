#include "base/path.h"
#include "base/text.h"
#include "mapm/document.h"
#include "mapm/origin.h"

#include <string.h>

#include "ingest.h"

/* Checks of a patched package: a patch may change neither its name nor its
 * dependencies. */

static bool has_dependency(const struct document *d, const struct dependency *x)
{
    for (size_t i = 0; i < d->dep_count; i++)
        if (d->deps[i].kind == x->kind &&
            str_eq(d->deps[i].origin->key, x->origin->key))
            return true;
    return false;
}

static bool has_same_dependencies(const struct document *x,
                                  const struct document *y)
{
    for (size_t i = 0; i < x->dep_count; i++)
        if (!has_dependency(y, &x->deps[i]))
            return false;
    return x->dep_count == y->dep_count;
}

static bool is_hex(char c)
{
    return char_is_hex(c) || (c >= 'A' && c <= 'F');
}

/* Returns whether the line contains an escape such as "\u202E" for a hidden
 * character. */
static bool has_escape(struct str line)
{
    for (size_t i = 0; i + 3 < line.n; i++)
        if (line.p[i] == '\\' && strchr("xuU", line.p[i + 1]) &&
            is_hex(line.p[i + 2]) && is_hex(line.p[i + 3]))
            return true;
    return false;
}

static bool has_hidden(struct str line)
{
    return has_escape(line) ||
           text_find_hidden(line, NULL, NULL) != TEXT_HIDDEN_NONE;
}

/* Allows hidden characters only in lines of the original, each as often as it
 * occurs there. */
static bool check_hidden_lines(struct str before, struct str after,
                               struct arena *a, struct err *e)
{
    struct map known;
    struct str line;
    size_t number = 0;

    map_init(&known, a);
    while (str_line(&before, &line))
        if (has_hidden(line)) {
            struct map_entry *entry = map_entry(&known, line);

            entry->value = (void *)((uintptr_t)entry->value + 1);
        }
    while (str_line(&after, &line)) {
        struct map_entry *entry;

        number++;
        if (!has_hidden(line))
            continue;
        entry = map_entry(&known, line);
        if (!entry->value)
            return err_set(e, ERR_REFUSED,
                           "it adds hidden characters to those that were "
                           "allowed, in line %zu",
                           number);
        entry->value = (void *)((uintptr_t)entry->value - 1);
    }
    return true;
}

static bool check_patched(const struct node *n, const struct document *before,
                          const struct document *after, struct err *e)
{
    if (!str_eq(after->fqn, n->own_fqn) || after->name_replaced != n->rewritten)
        return err_set(e, ERR_NAME,
                       "a patch keeps the name of its package, %.*s",
                       STR_ARG(n->own_fqn));
    if (after->hidden && !n->hidden)
        return err_set(e, ERR_REFUSED, "it adds hidden characters");
    if (has_same_dependencies(before, after) &&
        has_same_dependencies(after, before))
        return true;
    err_set(e, ERR_REFUSED, "a patch keeps the dependencies of its package");
    return err_hint(e, "what else is needed is a root of mapm.yaml; a fork "
                       "stands for the package with \"replace:\"");
}

bool ingest_patched(struct closure *c, struct node *n,
                    const struct package_file *files, size_t count,
                    struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct package_files p = {c->store, files, count};
    struct document before = {0}, after = {0};
    struct package_files upstream = {.store = c->store};
    struct package_file *list;
    struct str old, new;
    struct arena *a = &c->cx->arena;

    if (!node_read_document(c, n, &scratch, &before, e) ||
        !ingest_validate(c, n, n->package.kind, &p, path_last(n->path),
                         &scratch, &after, e) ||
        !check_patched(n, &before, &after, e))
        return false;
    if (n->hidden) {
        if (!store_read_listing(c->store, &n->digest, &scratch, &list,
                                &upstream.count, e))
            return false;
        upstream.files = list;
        if (!ingest_entry_text(c, n->package.kind, &upstream, &scratch, &old,
                               e) ||
            !ingest_entry_text(c, n->package.kind, &p, &scratch, &new, e) ||
            !check_hidden_lines(old, new, &scratch, e))
            return false;
    }
    n->package.prereqs = arena_str(a, after.prereqs);
    n->package.is_metaskill = after.metaskill;
    return true;
}
