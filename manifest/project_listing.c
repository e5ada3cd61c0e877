#include "base/glob.h"
#include "base/path.h"
#include "mapm/name.h"

#include "project_reader.h"

/*
 * listing: search
 * listing: {search: [aws-*, acme/legacy-*], client: [aws-login]}
 */

static bool fail(struct project_reader *r, unsigned line)
{
    project_fail(r, line,
                 "listing must be client, search, or both with "
                 "patterns");
    return err_hint(r->e, "write listing: search, or listing: {search: "
                          "[\"aws-*\"]}, with names of skills");
}

static bool is_pattern(struct str item)
{
    return name_fqn_is_valid(DOC_SKILL, item) ||
           (glob_is_pattern(item) && !str_has_char(item, ' '));
}

static bool read_patterns(struct project_reader *r, const struct yaml *y,
                          struct catalog_filter *out)
{
    static const struct project_item_rule rule = {
        "a pattern of names", is_pattern, "no skill has such a name",
        "write a name, as pdf or acme/pdf, with \"*\" for any text: pdf-*"};
    const struct str *words;
    struct err why = {0};
    size_t count;

    if (!project_want_each(r, y, &rule))
        return false;
    words = project_texts(r, y, &count);
    if (catalog_filter_read(words, count, r->a, out, &why))
        return true;
    return project_fail(r, y->line, "%s", err_first(&why));
}

static bool read_search(struct project_reader *r, const struct yaml *y)
{
    return read_patterns(r, y, &r->out.listing.search);
}

static bool read_client(struct project_reader *r, const struct yaml *y)
{
    return read_patterns(r, y, &r->out.listing.client);
}

bool project_read_listing(struct project_reader *r, const struct yaml *y)
{
    static const struct project_key keys[] = {
        {STR_INIT("search"), IN_WORKSPACE, read_search},
        {STR_INIT("client"), IN_WORKSPACE, read_client},
        {{0}, 0, NULL},
    };
    struct project_listing *out = &r->out.listing;

    if (project_is_null(y))
        return fail(r, y->key_line);
    if (y->kind == YAML_MAPPING) {
        out->line = y->key_line;
        out->searches = !yaml_get(y, "search");
        return y->first ? project_read_keys(r, keys, y) : fail(r, y->key_line);
    }
    if (y->kind != YAML_SCALAR ||
        (!str_is(y->text, "search") && !str_is(y->text, "client")))
        return fail(r, y->line);
    out->line = y->key_line;
    out->searches = str_is(y->text, "search");
    return true;
}

static bool names(const struct catalog_filter *f, struct str fqn)
{
    return catalog_filter_matches(f, DOC_SKILL, fqn, path_last(fqn));
}

bool project_is_searched(const struct project *p, struct str fqn)
{
    const struct project_listing *l = &p->listing;

    return (l->searches || names(&l->search, fqn)) && !names(&l->client, fqn);
}
