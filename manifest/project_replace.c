#include "mapm/limits.h"

#include "project_reader.h"

/* Reads `replace:`, a list of {from: ORIGIN, to: ORIGIN or folder} [D9]. */

static bool read_text(struct project_reader *r, const struct yaml *y)
{
    return project_want_text(r, y, y->key.p) &&
           (y->text.n <= ORIGIN_MAX_BYTES ||
            project_fail(r, y->line, "longer than %d bytes", ORIGIN_MAX_BYTES));
}

static bool read_item(struct project_reader *r, const struct yaml *item,
                      struct project_replace *out)
{
    static const struct project_key keys[] = {
        {STR_INIT("from"), IN_WORKSPACE | IN_LOCAL | IN_USER, read_text},
        {STR_INIT("to"), IN_WORKSPACE | IN_LOCAL | IN_USER, read_text},
        {{0}, 0, NULL},
    };
    const struct yaml *from, *to;

    if (item->kind != YAML_MAPPING)
        return project_fail(r, item->line, "expected {from: ..., to: ...}");
    if (!project_read_keys(r, keys, item))
        return false;
    from = yaml_get(item, "from");
    to = yaml_get(item, "to");
    if (!from || !to)
        return project_fail(r, item->line, "no \"%s\" in {from: ..., to: ...}",
                            from ? "to" : "from");
    *out = (struct project_replace){from->text, to->text, item->line};
    return true;
}

bool project_read_replace(struct project_reader *r, const struct yaml *y)
{
    struct project_replace *items;

    if (!project_want(r, y, YAML_SEQUENCE))
        return false;
    items = arena_array(r->a, y->count + 1, sizeof *items);
    for (const struct yaml *item = y->first; item; item = item->next)
        if (!read_item(r, item, &items[r->out.replace_count++]))
            return false;
    r->out.replaces = items;
    return true;
}
