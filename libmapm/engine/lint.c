#include "mapm/lint.h"

#include "mapm/authorize.h"

#include "engine.h"

static bool open_roots(struct engine *g, const struct wire_call *c,
                       struct check_root **out, size_t *count, struct err *e)
{
    static const char *const here[] = {"."};
    const char *const *paths = c->text_count ? c->texts : here;
    struct arena *a = &g->cx.arena;

    *count = c->text_count ? c->text_count : 1;
    *out = arena_array(a, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++)
        if (!lint_root_open(str_cstr(paths[i]), &(*out)[i], a, e))
            return false;
    return true;
}

static struct mapm_diagnostic diagnostic_of(struct engine *g,
                                            const struct check_result *r,
                                            const struct diagnostic *c)
{
    return (struct mapm_diagnostic){
        .path = engine_text(g, r->path),
        .code = c->code,
        .field = engine_text(g, c->field),
        .file = engine_text(g, c->file),
        .message = engine_text(g, c->message),
        .hint = engine_text(g, c->hint),
        .line = c->line,
        .column = c->column,
        .is_error = c->error,
    };
}

static bool send_results(struct engine *g, const struct check_results *results,
                         struct err *e)
{
    struct mapm_diagnostic *list;
    size_t count = 0;

    for (size_t i = 0; i < results->count; i++)
        count += results->items[i]->why.count;
    list = arena_array(&g->cx.arena, count + 1, sizeof *list);
    count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct check_result *r = results->items[i];

        for (size_t k = 0; k < r->why.count; k++)
            list[count++] = diagnostic_of(g, r, &r->why.items[k]);
    }
    return engine_send(g, WIRE_RESULT, WIRE_DIAGNOSTIC, list, count, e);
}

bool engine_lint(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(lint_results_done) struct check_results results = {0};
    struct check_rules rules = {.profile = PROFILE_INSTALL, .strict = c->flag};
    struct check_root *roots;
    struct project user;
    struct limits limits;
    size_t count;

    if (c->text && !document_profile_find(str_cstr(c->text), &rules.profile))
        return err_set(e, ERR_USAGE, "unknown profile \"%s\"", c->text);
    if (!authorize_config_read(&g->cx, &user, &limits, &rules.origins, e) ||
        !open_roots(g, c, &roots, &count, e) ||
        !lint_find(roots, count, &rules, &g->cx.arena, &results, e))
        return false;
    lint_graph(&g->cx, &rules, roots, count, &results);
    return send_results(g, &results, e);
}
