#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/install.h"
#include "mapm/lock.h"

#include "engine.h"

_Static_assert((int)MAPM_INSTALL == (int)INSTALL_INSTALL &&
                   (int)MAPM_REMOVE == (int)INSTALL_REMOVE &&
                   (int)MAPM_UPDATE == (int)INSTALL_UPDATE,
               "enum mapm_change_command is enum install_command");

/* --- the plan ------------------------------------------------------------------------ */

static struct str_list list_of(struct engine *g, const char *const *texts,
                               size_t count)
{
    struct str *items = arena_array(&g->cx.arena, count + 1, sizeof *items);

    for (size_t i = 0; i < count; i++)
        items[i] = str_cstr(texts[i]);
    return (struct str_list){items, count};
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* Returns the patch with hidden characters made visible, for the user to
 * read. */
static const char *patch_of(struct engine *g, const struct install_package *p)
{
    CLEANUP(buf_done) struct buf b = {0};

    if (!p->shows_patch)
        return "";
    buf_init(&b, SIZE_MAX / 2);
    text_visible(&b, p->patch->text, true);
    return engine_text(g, arena_str(&g->cx.arena, buf_str(&b)));
}

static struct mapm_package package_of(struct engine *g,
                                      const struct install_package *p)
{
    const struct package *package = p->package;

    return (struct mapm_package){
        .type = doc_kind_name(package->kind),
        .name = engine_text(g, package->fqn),
        .version = engine_text(g, package->version),
        .origin = engine_text(g, origin_base(package->origin->text)),
        .commit = engine_text(g, package->commit),
        .digest = engine_text(g, p->digest),
        .place = engine_text(g, p->place),
        .prereqs = engine_text(g, package->prereqs),
        .action = install_effect_name(p->effect),
        .old_version = engine_text(g, p->old_version),
        .old_commit = engine_text(g, p->old_commit),
        .command = text_or_empty(p->command),
        .patch = patch_of(g, p),
        .is_root = p->is_root,
        .is_local = p->is_local,
    };
}

static struct mapm_package removed_of(struct engine *g,
                                      const struct lock_entry *entry)
{
    return (struct mapm_package){
        .type = doc_kind_name(entry->kind),
        .name = engine_text(g, entry->name),
        .version = "",
        .origin = engine_text(g, lock_origin_text(entry)),
        .commit = "",
        .digest = engine_text(g, entry->digest),
        .place = engine_text(g, entry->place),
        .prereqs = "",
        .action = "remove",
        .old_version = engine_text(g, entry->version),
        .old_commit = engine_text(g, entry->commit),
        .command = "",
        .patch = "",
    };
}

static struct mapm_package offer_of(struct engine *g,
                                    const struct install_offer *o)
{
    return (struct mapm_package){
        .type = doc_kind_name(o->kind),
        .name = engine_text(g, o->name),
        .version = "",
        .origin = engine_text(g, o->origin),
        .commit = "",
        .digest = "",
        .place = engine_text(g, o->path),
        .prereqs = "",
        .action = "offer",
        .old_version = "",
        .old_commit = "",
        .command = "",
        .patch = "",
    };
}

static size_t count_packages(const struct install_plan *p)
{
    size_t count = p->package_count + p->removed_count;

    for (size_t i = 0; p->is_offer && i < p->catalog_count; i++)
        count += p->catalogs[i].offer_count;
    return count;
}

static void put_packages(struct engine *g, const struct install_plan *p,
                         struct mapm_plan *out)
{
    struct mapm_package *list =
        arena_array(&g->cx.arena, count_packages(p) + 1, sizeof *list);
    size_t n = 0;

    for (size_t i = 0; i < p->package_count; i++)
        list[n++] = package_of(g, &p->packages[i]);
    for (size_t i = 0; i < p->removed_count; i++)
        list[n++] = removed_of(g, p->removed[i]);
    for (size_t i = 0; p->is_offer && i < p->catalog_count; i++)
        for (size_t k = 0; k < p->catalogs[i].offer_count; k++)
            list[n++] = offer_of(g, &p->catalogs[i].offers[k]);
    out->packages = list;
    out->package_count = n;
}

static struct mapm_omission left_out_of(struct engine *g,
                                        const struct install_left_out *l)
{
    return (struct mapm_omission){
        .kind = "left-out",
        .type = doc_kind_name(l->kind),
        .name = engine_text(g, l->name),
        .origin = engine_text(g, l->origin),
        .code = engine_text(g, l->code),
        .message = engine_text(g, l->message),
    };
}

static struct mapm_omission held_of(struct engine *g,
                                    const struct install_held *h)
{
    return (struct mapm_omission){
        .kind = h->is_gone ? "gone" : "held",
        .type = doc_kind_name(h->entry->kind),
        .name = engine_text(g, h->entry->name),
        .origin = engine_text(g, lock_origin_text(h->entry)),
        .code = engine_text(g, h->code),
        .message = engine_text(g, h->message),
    };
}

/* Returns the omission of a part with its name and reason, or of several parts
 * with their number and location. */
static struct mapm_omission part_of(struct engine *g,
                                    const struct install_unsupported *u)
{
    struct arena *a = &g->cx.arena;
    struct str message =
        u->name.n ? arena_printf(a, "%.*s: %.*s", STR_ARG(u->name),
                                 STR_ARG(u->message))
                  : arena_printf(a, "%zu in %.*s", u->count, STR_ARG(u->where));

    return (struct mapm_omission){
        .kind = "unsupported",
        .type = engine_text(g, u->kind),
        .name = engine_text(g, u->plugin),
        .origin = "",
        .code = "",
        .message = engine_text(g, message),
    };
}

static void put_omissions(struct engine *g, const struct install_plan *p,
                          struct mapm_plan *out)
{
    size_t count = p->left_out_count + p->held_count + p->unsupported_count;
    struct mapm_omission *list =
        arena_array(&g->cx.arena, count + 1, sizeof *list);
    size_t n = 0;

    for (size_t i = 0; i < p->left_out_count; i++)
        list[n++] = left_out_of(g, &p->left_out[i]);
    for (size_t i = 0; i < p->held_count; i++)
        list[n++] = held_of(g, &p->held[i]);
    for (size_t i = 0; i < p->unsupported_count; i++)
        list[n++] = part_of(g, &p->unsupported[i]);
    out->omissions = list;
    out->omission_count = n;
}

static bool send_plan(struct engine *g, const struct install_plan *p,
                      struct err *e)
{
    const char **edits =
        arena_array(&g->cx.arena, p->edit_count + 1, sizeof *edits);
    struct mapm_plan out = {.workspace = engine_text(g, p->workspace),
                            .edits = edits,
                            .edit_count = p->edit_count,
                            .is_empty = p->change_count == 0};

    for (size_t i = 0; i < p->edit_count; i++)
        edits[i] = engine_text(g, p->edits[i].what);
    put_packages(g, p, &out);
    put_omissions(g, p, &out);
    return engine_send(g, WIRE_RESULT, WIRE_PLAN, &out, 1, e);
}

/* --- applying it ------------------------------------------------------------------------- */

static bool send_changes(struct engine *g, const struct install_plan *p,
                         struct err *e)
{
    static const char *const actions[] = {[PROVISION_ADD] = "add",
                                          [PROVISION_UPDATE] = "update",
                                          [PROVISION_REMOVE] = "remove"};
    struct mapm_change *list =
        arena_array(&g->cx.arena, p->change_count + 1, sizeof *list);

    for (size_t i = 0; i < p->change_count; i++)
        list[i] = (struct mapm_change){
            .action = actions[p->changes[i].kind],
            .path = engine_text(g, p->changes[i].path),
        };
    return engine_send(g, WIRE_RESULT, WIRE_CHANGE, list, p->change_count, e);
}

static bool apply(struct engine *g, struct install_plan *p, struct err *e)
{
    struct install_result result;
    struct wire_answer answer;

    install_release(p); /* the host may wait for the user */
    if (!engine_send(g, WIRE_PLANNED, WIRE_LINE, NULL, 0, e) ||
        !engine_wait(g, 0, &answer, e))
        return false;
    if (!answer.is_yes)
        return err_set(e, ERR_REFUSED, "not confirmed: nothing was changed");
    return (p->is_offer || install_apply(p, &result, e)) &&
           send_changes(g, p, e);
}

static void close_plan(struct install_plan **p)
{
    install_close(*p);
}

bool engine_change(struct engine *g, const struct mapm_change_request *r,
                   struct err *e)
{
    CLEANUP(close_plan) struct install_plan *plan = NULL;
    const struct install_request request = {
        .command = (enum install_command)r->command,
        .arguments = list_of(g, r->arguments, r->argument_count),
        .choice = {.all = r->all,
                   .strict = r->is_strict,
                   .skip = list_of(g, r->skip, r->skip_count),
                   .agents = list_of(g, r->agents, r->agent_count),
                   .skills = list_of(g, r->skills, r->skill_count),
                   .mcps = list_of(g, r->mcps, r->mcp_count),
                   .plugins = list_of(g, r->plugins, r->plugin_count)},
        .clients = list_of(g, r->clients, r->client_count),
        .locked = r->is_locked,
        .dry_run = r->is_dry_run,
        .force = r->is_forced,
        .with_server = r->with_server,
        .is_consented = true,
    };

    if ((unsigned)r->command > MAPM_UPDATE)
        return err_set(e, ERR_USAGE, "unknown command");
    return install_plan(&g->cx, &request, &plan, e) && send_plan(g, plan, e) &&
           (r->is_dry_run || apply(g, plan, e));
}
