#include "base/map.h"
#include "mapm/project.h"

#include "project_cut.h"

/* Renames origins in mapm.yaml that use the former name of a repository. Only
 * the bytes of these origins change; lists, order and comments are kept. */

#define ORIGIN_MEMBERS 2
static const char *const origin_members[ORIGIN_MEMBERS] = {"origin", "catalog"};

struct rename {
    struct edit ed;
    struct project_rename *renames;
    size_t count;
    const struct origin_rules *rules;
    struct map texts; /* new text of an origin, by the offset of the old one */
};

/* Returns the scalar with the origin of an item, or NULL. */
static const struct yaml *origin_of(const struct yaml *item)
{
    if (item->kind == YAML_SCALAR)
        return item;
    for (size_t i = 0; item->kind == YAML_MAPPING && i < ORIGIN_MEMBERS; i++) {
        const struct yaml *y = yaml_get(item, origin_members[i]);

        if (y && y->kind == YAML_SCALAR)
            return y;
    }
    return NULL;
}

static struct str offset_key(size_t offset, struct arena *a)
{
    return arena_printf(a, "%zu", offset);
}

static void rename_item(struct rename *r, const struct yaml *item)
{
    const struct yaml *y = origin_of(item);
    struct arena *a = r->ed.a;
    struct err ignored = {0};
    struct origin o, now;
    struct str from, *text;

    if (!y || !origin_parse(y->text, r->rules, a, &o, &ignored) ||
        o.scheme != ORIGIN_GIT)
        return;
    from = origin_repository(&o, a);
    for (size_t i = 0; i < r->count; i++) {
        if (!str_eq(r->renames[i].from, from) ||
            !origin_in_repository(&o, r->renames[i].to, a, &now))
            continue;
        text = arena_new(a, struct str);
        *text = now.text;
        map_put(&r->texts, offset_key(y->start, a), text);
        edit_cut(&r->ed, y->start, y->end, yaml_quote(now.text, a));
        r->renames[i].origins++;
        return;
    }
}

/* Returns true if the trees are equal except for the renamed scalars. */
static bool is_renamed_only(const struct rename *r, const struct yaml *before,
                            const struct yaml *after)
{
    const struct str *text;

    if (!before || !after || before->kind != after->kind ||
        before->count != after->count || !str_eq(before->key, after->key))
        return before == after;
    text = before->kind == YAML_SCALAR
               ? map_find(&r->texts, offset_key(before->start, r->ed.a))
               : NULL;
    if (before->kind == YAML_SCALAR &&
        !str_eq(text ? *text : before->text, after->text))
        return false;
    before = before->first;
    after = after->first;
    for (; before && after; before = before->next, after = after->next)
        if (!is_renamed_only(r, before, after))
            return false;
    return before == after;
}

bool project_rename(struct str text, struct project_rename *renames,
                    size_t count, const struct origin_rules *rules,
                    struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct rename r = {.renames = renames, .count = count, .rules = rules};
    const struct yaml *block, *root;

    if (!edit_open(&r.ed, text, &scratch, e))
        return false;
    *out = text;
    map_init(&r.texts, &scratch);
    block = r.ed.root && r.ed.root->kind == YAML_MAPPING
                ? yaml_get(r.ed.root, "dependencies")
                : NULL;
    /* visit the lists in the order of the file, because cuts must be sorted */
    for (const struct yaml *list =
             block && block->kind == YAML_MAPPING ? block->first : NULL;
         list; list = list->next)
        for (const struct yaml *y = list->first; y; y = y->next)
            rename_item(&r, y);
    if (r.texts.count == 0)
        return true;
    if (!edit_close(&r.ed, &text, &root, e) ||
        !is_renamed_only(&r, r.ed.root, root))
        return e->code == ERR_LIMIT ? false : edit_fail_shape(e);
    *out = arena_str(a, text);
    return true;
}
