#include "mapm/lint.h"

#include <string.h>

#include "engine.h"

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
    struct str *paths =
        arena_array(&g->cx.arena, c->text_count + 1, sizeof *paths);
    const struct lint_request request = {
        .paths = {paths, c->text_count},
        .profile = {c->text, c->text ? strlen(c->text) : 0},
        .strict = c->flag,
    };

    for (size_t i = 0; i < c->text_count; i++)
        paths[i] = str_cstr(c->texts[i]);
    return lint_check(&g->cx, &request, &results, e) &&
           send_results(g, &results, e);
}
