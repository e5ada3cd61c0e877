#include "base/map.h"
#include "mapm/catalog.h"

#include "project_reader.h"

/* Reads `catalogs:`, a list of {origin, include, exclude} [D11]. */

static bool read_text(struct project_reader *r, const struct yaml *y)
{
    (void)r;
    (void)y;
    return true; /* read by project_read_origin() */
}

static bool read_words(struct project_reader *r, const struct yaml *y)
{
    return project_want_texts(r, y, "a pattern");
}

static bool read_filter(struct project_reader *r, const struct yaml *list,
                        struct catalog_filter *out)
{
    struct err why = {0};
    size_t count;
    const struct str *words = project_texts(r, list, &count);

    if (catalog_filter_read(words, count, r->a, out, &why))
        return true;
    err_set(r->e, why.code, "%s:%u: %s", r->name, list->line, err_first(&why));
    return err_hint(r->e, "%s", why.hint);
}

/* Reads the origin of a catalog, which may also be the URL of an index. */
static bool read_origin(struct project_reader *r, const struct yaml *y,
                        struct origin *out)
{
    struct err why = {0};

    if (y->kind != YAML_SCALAR || !origin_is_index(y->text, r->rules))
        return project_read_origin(r, y, out);
    return origin_parse_index(y->text, r->a, out, &why) ||
           project_fail(r, y->line, "%s", err_first(&why));
}

/* Reads one catalog. An item that is only an origin includes all packages of
 * the catalog. */
static bool read_item(struct project_reader *r, const struct yaml *item,
                      struct catalog *out)
{
    static const struct project_key keys[] = {
        {STR_INIT("origin"), IN_WORKSPACE | IN_LOCAL, read_text},
        {STR_INIT("include"), IN_WORKSPACE | IN_LOCAL, read_words},
        {STR_INIT("exclude"), IN_WORKSPACE | IN_LOCAL, read_words},
        {{0}, 0, NULL},
    };
    const struct yaml *origin = item, *include = NULL, *exclude = NULL;

    *out = (struct catalog){.is_local = r->role == PROJECT_LOCAL,
                            .line = item->line};
    if (item->kind == YAML_MAPPING) {
        if (!project_read_keys(r, keys, item))
            return false;
        origin = yaml_get(item, "origin");
        include = yaml_get(item, "include");
        exclude = yaml_get(item, "exclude");
        if (!origin)
            return project_fail(r, item->line, "no \"origin\" in {...}");
    }
    if (!read_origin(r, origin, &out->origin))
        return false;
    if (out->origin.scheme == ORIGIN_INDEX && out->origin.part.n) {
        project_fail(r, item->line, "%.*s is a skill of an index, no catalog",
                     STR_ARG(out->origin.text));
        return err_hint(r->e, "list it below dependencies: skills:");
    }
    if (include && !include->first) {
        project_fail(r, include->key_line, "include chooses nothing");
        return err_hint(r->e, "leave it out to take everything");
    }
    out->has_include = include != NULL;
    return (!include || read_filter(r, include, &out->include)) &&
           (!exclude || read_filter(r, exclude, &out->exclude));
}

bool project_read_catalogs(struct project_reader *r, const struct yaml *y)
{
    struct project *p = &r->out;
    struct map seen;

    if (!project_want(r, y, YAML_SEQUENCE))
        return false;
    map_init(&seen, r->a);
    for (const struct yaml *item = y->first; item; item = item->next) {
        struct catalog c;

        if (!read_item(r, item, &c))
            return false;
        if (!map_put(&seen, c.origin.key, NULL))
            return project_fail(r, item->line, "%.*s is listed twice",
                                STR_ARG(c.origin.text));
        p->catalogs = arena_grow(r->a, p->catalogs, p->catalog_count,
                                 &r->catalog_capacity, sizeof *p->catalogs);
        p->catalogs[p->catalog_count++] = c;
    }
    return true;
}
