#include "base/fs.h"
#include "mapm/authorize.h"
#include "mapm/document.h"
#include "mapm/layer.h"
#include "mapm/lock.h"
#include "mapm/project.h"

#include <string.h>
#include <sys/stat.h>

#include "check_print.h"
#include "command.h"
#include "list.h"

/* The command: from its words to roots, and from results to an exit code. */

/* All of them are looked for first, so that one slip of a pen is not found
 * after ten seconds; each missing one is named. */
static bool find_roots(struct invocation *inv, struct check_root **out,
                       size_t *count, struct err *e)
{
    static struct str here = STR_INIT(".");
    const struct str *paths = inv->arguments.items;
    size_t n = inv->arguments.count;
    struct check_root *roots;
    struct err why = {0};
    bool ok = true;

    if (n == 0 && !has_option(inv, OPTION_NAME)) {
        paths = &here;
        n = 1;
    }
    roots = arena_array(&inv->cx.arena, n, sizeof *roots);
    *out = roots;
    *count = n;
    for (size_t i = 0; i < n; i++) {
        if (lint_root_open(paths[i], &roots[i], &inv->cx.arena, &why))
            continue;
        if (ok)
            err_clear(e);
        err_also_err(e, &why);
        ok = false;
    }
    return ok;
}

/* The names first, in the order given. */
static void add_names(struct invocation *inv, enum profile profile,
                      struct check_results *results)
{
    const struct values *names = &inv->given[OPTION_NAME];
    struct check_result **items = arena_array(
        &inv->cx.arena, names->count + results->count, sizeof(void *));

    for (size_t i = 0; i < names->count; i++)
        items[i] = lint_name(profile, names->items[i], &inv->cx.arena);
    if (results->count)
        memcpy(items + names->count, results->items,
               results->count * sizeof(void *));
    results->items = items;
    results->count += names->count;
}

static bool check_all(struct invocation *inv, const struct check_root *roots,
                      size_t count, int *exit_code, struct err *e)
{
    CLEANUP(lint_results_done) struct check_results results = {0};
    struct project user;
    struct limits limits;
    struct check_rules rules = {
        .profile = PROFILE_INSTALL,
        .strict = has_option(inv, OPTION_STRICT),
        .fix = has_option(inv, OPTION_FIX),
    };

    if (has_option(inv, OPTION_PROFILE) &&
        !document_profile_find(option_value(inv, OPTION_PROFILE),
                               &rules.profile))
        return err_set(e, ERR_USAGE, "unknown profile");
    if (!authorize_config_read(&inv->cx, &user, &limits, &rules.origins, e))
        return false;
    if (count && !lint_find(roots, count, &rules, &inv->cx.arena, &results, e))
        return false;
    /* Skills of two plugins may have one name. */
    if (!lint_profile_is_plugin(rules.profile))
        lint_graph(&inv->cx, &rules, roots, count, &results);
    if (has_option(inv, OPTION_AGAINST) &&
        !lint_against(&inv->cx, option_value(inv, OPTION_AGAINST), roots, count,
                      &results, e))
        return false;
    lint_find_sources(&inv->cx, &results);
    add_names(inv, rules.profile, &results);
    check_print(inv, &results);
    for (size_t i = 0; i < results.count; i++)
        if (results.items[i]->why.errors)
            *exit_code = EXIT_FINDINGS;
    return true;
}

bool command_check(struct invocation *inv, int *exit_code, struct err *e)
{
    struct check_root *roots;
    size_t count;

    return find_roots(inv, &roots, &count, e) &&
           check_all(inv, roots, count, exit_code, e);
}
