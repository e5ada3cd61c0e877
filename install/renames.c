#include "renames.h"

#include "base/invariant.h"

/* Renamed repositories [D2]. */

static struct project_rename *list(const struct install_session *s)
{
    const struct map *moved = &s->closure.moved;
    struct project_rename *renames =
        arena_array(&s->cx->arena, moved->count + 1, sizeof *renames);

    for (size_t i = 0; i < moved->count; i++)
        renames[i] = (struct project_rename){
            .from = moved->entries[i].key,
            .to = *(const struct str *)moved->entries[i].value};
    return renames;
}

void session_find_renames(struct install_session *s)
{
    struct project_rename *renames = list(s);
    size_t count = s->closure.moved.count, n = 0;
    struct str text;

    for (size_t i = 0; count && i < s->layers.count; i++) {
        struct err ignored = {0};
        const struct layer *l = &s->layers.parts[i];

        if (!project_rename(l->yaml, renames, count, &l->rules, &s->cx->arena,
                            &text, &ignored))
            err_clear(&ignored);
    }
    for (size_t i = 0; i < count; i++)
        if (renames[i].origins)
            renames[n++] = renames[i];
    s->plan.renames = renames;
    s->plan.rename_count = n;
}

/* Takes the roots and catalogs of `text`; everything else is unchanged. */
static bool take_renamed(struct project *p, struct str text,
                         const struct origin_rules *rules, struct arena *a,
                         struct err *e)
{
    struct project renamed;

    if (!project_parse(text, PROJECT_WORKSPACE, "mapm.yaml", rules, a, &renamed,
                       e))
        return false;
    INVARIANT(renamed.root_count == p->root_count &&
              renamed.catalog_count == p->catalog_count);
    for (size_t i = 0; i < p->root_count; i++)
        if (p->roots[i].origin.scheme == ORIGIN_GIT)
            p->roots[i].origin = renamed.roots[i].origin;
    for (size_t i = 0; i < p->catalog_count; i++)
        p->catalogs[i] = renamed.catalogs[i];
    return true;
}

bool session_rename(struct install_session *s, struct layer *l,
                    struct str *yaml, struct err *e)
{
    const struct install_request *r = s->request;
    struct arena *a = &s->cx->arena;
    struct project_rename *renames =
        arena_array(a, r->rename_count + 1, sizeof *renames);

    *yaml = l->yaml;
    for (size_t i = 0; i < r->rename_count; i++)
        renames[i] = r->renames[i];
    if (r->rename_count == 0)
        return true;
    return (project_rename(l->yaml, renames, r->rename_count, &l->rules, a,
                           yaml, e) &&
            (str_eq(*yaml, l->yaml) ||
             take_renamed(&l->project, *yaml, &l->rules, a, e))) ||
           err_wrap(e, "cannot change mapm.yaml");
}
