#include "mapm/host_config.h"
#include "mapm/limits.h"
#include "mapm/project.h"

#include "host_item.h"
#include "project_cut.h"

/* Adds a host to config.yaml, changes or removes one [H1]. The edit fails
 * without changes unless the result differs from the original by exactly
 * that. */

static bool fail_shape(struct err *e)
{
    err_set(e, ERR_FORMAT,
            "its hosts are written in a way that cannot be changed in place");
    return err_hint(e, "write hosts as a plain list, or change it by hand");
}

/* --- what is there -------------------------------------------------------- */

static struct str name_of(const struct yaml *item)
{
    const struct yaml *host =
        item->kind == YAML_MAPPING ? yaml_get(item, "host") : item;

    return host && host->kind == YAML_SCALAR ? host->text : STR("");
}

static const struct yaml *find_item(const struct yaml *list, struct str host,
                                    const struct yaml **before)
{
    *before = NULL;
    if (!list || list->kind != YAML_SEQUENCE)
        return NULL;
    for (const struct yaml *y = list->first; y; *before = y, y = y->next)
        if (str_eq(name_of(y), host))
            return y;
    return NULL;
}

static bool value_is(const struct yaml *y, struct str value, struct arena *a)
{
    struct str all = STR("");

    if (y->kind == YAML_SCALAR)
        return str_eq(y->text, value);
    for (const struct yaml *item = y->first; item; item = item->next)
        all = arena_join(all, ", ", item->text, a);
    return str_eq(arena_printf(a, "[%.*s]", STR_ARG(all)), value);
}

/* --- changes -------------------------------------------------------------- */

/* Changes the members one by one, which keeps the comments between them.
 * Returns false if a member must be removed. */
static bool change_members(struct edit *ed, const struct yaml *item,
                           const struct host_item *t)
{
    struct str margin = edit_blanks(ed, edit_indent(ed, item->start));
    struct str more = STR("");

    for (const struct yaml *y = item->first; y; y = y->next)
        for (size_t i = 0; i < HOST_ITEM_KEYS; i++) {
            if (!str_is(y->key, t->keys[i]) || (i == 1 && t->values[i].n == 0))
                continue;
            if (t->values[i].n == 0)
                return false;
            if (!value_is(y, t->values[i], ed->a))
                edit_cut(ed, y->start, edit_last_byte(y) + 1, t->values[i]);
        }
    for (size_t i = 0; i < HOST_ITEM_KEYS; i++) {
        if (t->values[i].n == 0 || yaml_get(item, t->keys[i]))
            continue;
        more = arena_printf(ed->a, "%.*s%s%.*s%s: %.*s", STR_ARG(more),
                            more.n == 0  ? ""
                            : item->flow ? ", "
                                         : ed->newline,
                            item->flow ? 0 : (int)margin.n, margin.p,
                            t->keys[i], STR_ARG(t->values[i]));
    }
    if (more.n && item->flow)
        edit_add_member(ed, item, more);
    else if (more.n)
        edit_insert_lines(ed, edit_last_byte(item), more);
    return true;
}

static void change_item(struct edit *ed, const struct yaml *item,
                        const struct host_item *t)
{
    if (item->kind == YAML_MAPPING && change_members(ed, item, t))
        return;
    ed->cuts.count = 0;
    edit_cut(ed, item->start, edit_last_byte(item) + 1,
             host_item_text(t, ed->a));
}

/* Adds "hosts:" after the other keys. */
static void add_block(struct edit *ed, struct str item)
{
    const struct yaml *last = ed->root ? ed->root->first : NULL;
    size_t indent = last ? edit_indent(ed, last->key_start) : 0;
    struct str lines;

    if (ed->root && (ed->root->flow || !last)) {
        edit_add_member(ed, ed->root,
                        arena_printf(ed->a, "hosts: [%.*s]", STR_ARG(item)));
        return;
    }
    lines = arena_printf(ed->a, "%.*shosts:%s%.*s- %.*s",
                         STR_ARG(edit_blanks(ed, indent)), ed->newline,
                         STR_ARG(edit_blanks(ed, indent + EDIT_INDENT)),
                         STR_ARG(item));
    while (last && last->next)
        last = last->next;
    if (last)
        edit_insert_lines(ed, edit_last_byte(last), lines);
    else
        edit_append(ed, lines);
}

static void add_item(struct edit *ed, const struct yaml *list, struct str item)
{
    if (!list) {
        add_block(ed, item);
        return;
    }
    ed->items = &item;
    ed->item_count = 1;
    edit_add_to_list(ed, ed->root, list, EDIT_INDENT);
}

/* --- whether just that has changed ---------------------------------------- */

static bool is_hosts(struct str block, struct str key)
{
    return block.n == 0 && str_is(key, "hosts");
}

static bool is_same_host(const struct host_config *x,
                         const struct host_config *y)
{
    bool same = str_eq(x->host, y->host) && x->kind == y->kind &&
                x->transport == y->transport && x->port == y->port &&
                x->token == y->token && str_eq(x->variable, y->variable) &&
                x->port_count == y->port_count;

    for (size_t i = 0; same && i < x->port_count; i++)
        same = x->ports[i] == y->ports[i];
    return same;
}

/* Returns true if the hosts of `after` equal those of `before` with this one
 * changed. */
static bool differs_by(const struct project *before,
                       const struct project *after, struct str host,
                       const struct host_config *want)
{
    const struct host_config *new =
        host_config_find(host, after->hosts, after->host_count);
    bool was_there =
        host_config_find(host, before->hosts, before->host_count) != NULL;

    if (after->host_count != before->host_count - was_there + (want != NULL) ||
        (new != NULL) != (want != NULL) || (want && !is_same_host(new, want)))
        return false;
    for (size_t i = 0; i < before->host_count; i++) {
        const struct host_config *old = &before->hosts[i];

        if (str_eq(old->host, host))
            continue;
        new = host_config_find(old->host, after->hosts, after->host_count);
        if (!new || !is_same_host(new, old))
            return false;
    }
    return true;
}

static bool finish(const struct edit *ed, const struct project *before,
                   struct str host, const struct host_config *want,
                   struct str *out, struct err *e)
{
    const struct yaml *root;
    struct project after;
    struct str text;

    if (!edit_close(ed, &text, &root, e))
        return e->code == ERR_LIMIT ? false : fail_shape(e);
    if (!project_parse(text, PROJECT_USER, "config.yaml", NULL, ed->a, &after,
                       e) ||
        !differs_by(before, &after, host, want) ||
        !str_eq(project_rest(ed->root, is_hosts, ed->a),
                project_rest(root, is_hosts, ed->a))) {
        err_clear(e);
        return fail_shape(e);
    }
    *out = text;
    return true;
}

bool project_set_host(struct str text, struct str host,
                      const struct host_config *want, struct arena *a,
                      struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct yaml *list, *item, *prior;
    struct project before;
    struct host_item t;
    struct edit ed;

    if (!project_parse(text, PROJECT_USER, "config.yaml", NULL, &scratch,
                       &before, e) ||
        !edit_open(&ed, text, &scratch, e))
        return false;
    list = ed.root ? yaml_get(ed.root, "hosts") : NULL;
    item = find_item(list, host, &prior);
    if (want)
        t = host_item_of(want, &scratch);
    if (want && item)
        change_item(&ed, item, &t);
    else if (want)
        add_item(&ed, list, host_item_text(&t, &scratch));
    else if (item)
        edit_remove_item(&ed, list, prior, item);
    if (ed.cuts.count == 0) {
        *out = text;
        return true;
    }
    if (!finish(&ed, &before, host, want, &text, e))
        return false;
    *out = arena_str(a, text);
    return true;
}
