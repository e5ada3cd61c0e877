/* Editing mapm.yaml: a file that was good stays good, and has just the one
 * root more or less; the first byte chooses kind and origin. [row 15]. */
#include "mapm/doc_kind.h"
#include "mapm/project.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool parse(struct str text, struct arena *a, struct project *p)
{
    struct err e = {0};

    return project_parse(text, PROJECT_WORKSPACE, "m", NULL, a, p, &e);
}

static bool has_root(const struct project *p, enum doc_kind kind,
                     struct str key)
{
    for (size_t i = 0; i < p->root_count; i++)
        if (p->roots[i].kind == kind && str_eq(p->roots[i].origin.key, key))
            return true;
    return false;
}

static void check_add(struct str text, enum doc_kind kind, struct str origin,
                      struct arena *a)
{
    struct str after, again, back;
    struct project p, q;
    bool was_good = parse(text, a, &p);
    struct err e = {0};

    if (!project_add_roots(text, kind, &origin, NULL, NULL, 1, a, &after, &e)) {
        outcome_err(&e);
        if (e.code != ERR_FORMAT && e.code != ERR_LIMIT)
            abort();
        return;
    }
    outcome_str("added", after);
    if (was_good &&
        (!parse(after, a, &q) || !has_root(&q, kind, origin) ||
         q.root_count != p.root_count + !has_root(&p, kind, origin)))
        abort();
    if (!project_add_roots(after, kind, &origin, NULL, NULL, 1, a, &again,
                           &e) ||
        !str_eq(again, after))
        abort();
    if (was_good &&
        project_remove_roots(after, kind, &origin, 1, NULL, a, &back, &e) &&
        (!parse(back, a, &p) || has_root(&p, kind, origin)))
        abort();
}

/* A repository by another name: as many roots as before, none by the old one. */
static void check_rename(struct str text, struct arena *a)
{
    struct project_rename r = {.to = STR("fuzz/renamed")};
    struct project p, q;
    struct err e = {0};
    struct str after;

    if (!parse(text, a, &p) || p.root_count == 0 ||
        p.roots[0].origin.scheme != ORIGIN_GIT)
        return;
    r.from = origin_repository(&p.roots[0].origin, a);
    if (project_rename(text, &r, 1, NULL, a, &after, &e) &&
        parse(after, a, &q) && q.catalog_count != p.catalog_count)
        abort();
}

static void check_remove(struct str text, enum doc_kind kind, struct arena *a)
{
    struct str after = STR("");
    struct project p, q;
    struct err e = {0};

    if (!parse(text, a, &p))
        return;
    for (size_t i = 0; i < p.root_count && i < 4; i++) {
        const struct root *root = &p.roots[i];

        if (root->kind == kind &&
            project_remove_roots(text, kind, &root->origin.key, 1, NULL, a,
                                 &after, &e) &&
            (!parse(after, a, &q) || q.root_count != p.root_count - 1))
            abort();
        outcome_str("removed", after);
    }
}

static const struct catalog *find_catalog(const struct project *p,
                                          struct str key)
{
    for (size_t i = 0; i < p->catalog_count; i++)
        if (str_eq(p->catalogs[i].origin.key, key))
            return &p->catalogs[i];
    return NULL;
}

/* A catalog is there as it is wanted, and gone again [D11]. */
static void check_catalog(struct str text, struct arena *a)
{
    struct str words[] = {STR_INIT("skill x-*"), STR_INIT("a: #b/")};
    struct project_catalog want = {STR("file:/n"), {words, 1}, {words, 2}};
    const struct catalog *found;
    struct str after, again;
    struct project p, q;
    struct err e = {0};

    if (!parse(text, a, &p) ||
        !project_set_catalog(text, want.origin, &want, NULL, a, &after, &e))
        return;
    outcome_str("catalog", after);
    if (!parse(after, a, &q) || q.root_count != p.root_count ||
        !(found = find_catalog(&q, want.origin)) || !found->has_include ||
        found->include.count != 1 || found->exclude.count != 2 ||
        !str_eq(found->exclude.words[1], words[1]) ||
        !project_set_catalog(after, want.origin, &want, NULL, a, &again, &e) ||
        !str_eq(again, after))
        abort();
    if (project_set_catalog(after, want.origin, NULL, NULL, a, &again, &e) &&
        (!parse(again, a, &q) || find_catalog(&q, want.origin)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct str origins[] = {
        STR_INIT("file:/n"), STR_INIT("file:/a b/it's, [x]: #1"),
        STR_INIT("https://github.com/acme/catalog/tree/main/skills/x")};
    CLEANUP(arena_done) struct arena a = {0};
    enum doc_kind kind;
    struct str text;

    if (size == 0)
        return 0;
    kind = (enum doc_kind)(1u << data[0] % 3);
    text = str_make((const char *)data + 1, size - 1);
    check_add(text, kind, origins[data[0] / 3 % 3], &a);
    check_remove(text, kind, &a);
    check_rename(text, &a);
    check_catalog(text, &a);
    return 0;
}
