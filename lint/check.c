#include "mapm/authorize.h"
#include "mapm/lint.h"

/* Opens all named roots before checking any, so that a typing error is found at
 * once; reports each missing one. */
static bool find_roots(struct arena *a, const struct lint_request *q,
                       struct check_root **out, size_t *count, struct err *e)
{
    static const struct str here = STR_INIT(".");
    const struct str *paths = q->paths.items;
    size_t n = q->paths.count;
    struct check_root *roots;
    struct err why = {0};
    bool ok = true;

    if (n == 0 && q->names.count == 0) {
        paths = &here;
        n = 1;
    }
    roots = arena_array(a, n, sizeof *roots);
    *out = roots;
    *count = n;
    for (size_t i = 0; i < n; i++) {
        if (lint_root_open(paths[i], &roots[i], a, &why))
            continue;
        if (ok)
            err_clear(e);
        err_also_err(e, &why);
        ok = false;
    }
    return ok;
}

/* Adds the named paths in the given order. */
static void add_names(struct arena *a, const struct str_list *names,
                      enum profile profile, struct check_results *results)
{
    struct check_result **items =
        arena_array(a, names->count + results->count, sizeof(void *));

    for (size_t i = 0; i < names->count; i++)
        items[i] = lint_name(profile, names->items[i], a);
    if (results->count)
        memcpy(items + names->count, results->items,
               results->count * sizeof(void *));
    results->items = items;
    results->count += names->count;
}

bool lint_check(struct context *cx, const struct lint_request *q,
                struct check_results *out, struct err *e)
{
    struct check_rules rules = {.profile = PROFILE_INSTALL,
                                .strict = q->strict,
                                .fix = q->fix,
                                .for_author = true};
    struct check_root *roots;
    struct project user;
    struct limits limits;
    size_t count;

    if (q->profile.p && !document_profile_find(q->profile, &rules.profile))
        return err_set(e, ERR_USAGE, "unknown profile \"%.*s\"",
                       STR_ARG(q->profile));
    if (!find_roots(&cx->arena, q, &roots, &count, e) ||
        !authorize_config_read(cx, &user, &limits, &rules.origins, e) ||
        (count && !lint_find(roots, count, &rules, &cx->arena, out, e)))
        return false;
    /* Skills of two plugins may have the same name. */
    if (!lint_profile_is_plugin(rules.profile))
        lint_graph(cx, &rules, roots, count, out);
    if (q->against.p && !lint_against(cx, q->against, roots, count, out, e))
        return false;
    lint_find_sources(cx, out);
    add_names(&cx->arena, &q->names, rules.profile, out);
    return true;
}

static void add(struct check_totals *t, const struct check_result *r)
{
    t->documents++;
    t->errors += r->why.errors;
    t->warnings += r->why.warnings;
    t->hints += r->why.hints;
}

void lint_count(const struct check_results *results, struct check_totals *all,
                struct check_totals *installed)
{
    *all = *installed = (struct check_totals){0};
    for (size_t i = 0; i < results->count; i++) {
        add(all, results->items[i]);
        if (results->items[i]->is_installed)
            add(installed, results->items[i]);
    }
}
