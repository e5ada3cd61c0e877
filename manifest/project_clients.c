#include "mapm/limits.h"
#include "mapm/project.h"

#include "project_cut.h"

#define PASSES_MAX 200 /* each pass removes one item */

/* Edits the list of clients in mapm.yaml or config.yaml in place [H7]. */

static const struct yaml *clients_of(const struct yaml *root)
{
    return root && root->kind == YAML_MAPPING ? yaml_get(root, "clients")
                                              : NULL;
}

/* Removes one unwanted item. Returns false if there is none. */
static bool remove_one(struct edit *ed, const struct yaml *list,
                       struct str_list names)
{
    const struct yaml *before = NULL;

    for (const struct yaml *y = list ? list->first : NULL; y; y = y->next) {
        if (!str_in(names.items, names.count, y->text)) {
            edit_remove_item(ed, list, before, y);
            return true;
        }
        before = y;
    }
    return false;
}

static bool is_listed(const struct yaml *list, struct str name)
{
    for (const struct yaml *y = list ? list->first : NULL; y; y = y->next)
        if (str_eq(y->text, name))
            return true;
    return false;
}

/* Adds the missing items. Returns false if none is missing. */
static bool add_rest(struct edit *ed, const struct yaml *list,
                     struct str_list names)
{
    struct str *more = arena_array(ed->a, names.count + 1, sizeof *more);

    for (size_t i = 0; i < names.count; i++)
        if (!is_listed(list, names.items[i]))
            more[ed->item_count++] = yaml_quote(names.items[i], ed->a);
    ed->items = more;
    if (list && ed->item_count == 0)
        return false;
    if (list)
        edit_add_to_list(ed, ed->root, list, EDIT_INDENT);
    else if (ed->root && ed->root->flow)
        edit_add_member(ed, ed->root,
                        arena_printf(ed->a, "clients: [%.*s]",
                                     STR_ARG(edit_inline_items(ed))));
    else
        edit_append(ed, arena_printf(ed->a, "clients: [%.*s]",
                                     STR_ARG(edit_inline_items(ed))));
    return true;
}

/* Returns true if every other key is unchanged. */
static bool is_rest_equal(const struct yaml *before, const struct yaml *after,
                          struct str text, struct str result)
{
    const struct yaml *x = before ? before->first : NULL;
    const struct yaml *y = after ? after->first : NULL;

    for (;; x = x->next, y = y->next) {
        while (x && str_is(x->key, "clients"))
            x = x->next;
        while (y && str_is(y->key, "clients"))
            y = y->next;
        if (!x || !y)
            return !x && !y;
        if (!str_eq(x->key, y->key) || x->kind != y->kind ||
            !str_eq(str_slice(text, x->start, x->end),
                    str_slice(result, y->start, y->end)))
            return false;
    }
}

static bool is_list(const struct yaml *list, struct str_list names)
{
    if (!list || list->kind != YAML_SEQUENCE || list->count != names.count)
        return list && names.count == 0 && project_is_null(list);
    for (size_t i = 0; i < names.count; i++)
        if (!is_listed(list, names.items[i]))
            return false;
    return true;
}

static bool fail(struct err *e)
{
    err_set(e, ERR_FORMAT, "its clients cannot be changed in place");
    return err_hint(e, "write \"clients: [claude, codex]\" into it by hand");
}

bool project_set_clients(struct str text, struct str_list names,
                         struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct yaml *before = NULL, *root = NULL;
    struct str result = text;

    for (size_t pass = 0; pass < PASSES_MAX; pass++) {
        const struct yaml *list;
        struct edit ed;

        if (!edit_open(&ed, result, &scratch, e))
            return false;
        if (pass == 0)
            before = ed.root;
        root = ed.root;
        list = clients_of(root);
        if ((root && root->kind != YAML_MAPPING && edit_is_written(root)) ||
            (list && list->kind != YAML_SEQUENCE && !project_is_null(list)))
            return fail(e);
        if (!add_rest(&ed, list, names) && !remove_one(&ed, list, names)) {
            if (!is_list(list, names) ||
                !is_rest_equal(before, root, text, result))
                return fail(e);
            *out = arena_str(a, result);
            return true;
        }
        if (!edit_close(&ed, &result, &root, e))
            return e->code == ERR_LIMIT ? false : fail(e);
    }
    return fail(e);
}
