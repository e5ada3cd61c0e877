#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/origin.h"

#include "../client_show.h"
#include "install_show.h"

static void put_package(struct json_writer *w, const struct install_package *p,
                        struct arena *a)
{
    const struct package *package = p->package;

    json_begin_object(w);
    json_member_string(w, "type", str_cstr(doc_kind_name(package->kind)));
    json_member_string(w, "name", package->fqn);
    if (p->member.n)
        json_member_string(w, "member", p->member);
    json_member_string(w, "action", str_cstr(install_effect_name(p->effect)));
    json_member_optional(w, "version", package->version);
    json_member_optional(w, "old_version", p->old_version);
    json_member_string(w, "origin", origin_base(package->origin->text));
    json_member_optional(w, "from", p->from);
    json_member_optional(w, "commit", package->commit);
    json_member_optional(w, "old_commit", p->old_commit);
    json_member_optional(w, "digest", p->digest);
    json_member_optional(w, "patch", p->patch ? p->patch->hash : STR(""));
    json_member_optional(w, "patch_file", p->patch ? p->patch->file : STR(""));
    if (package->kind == DOC_MCP)
        json_member_string(w, "key", p->place);
    else if (package->kind != DOC_PLUGIN)
        json_member_string(w, "path", install_path(p, a));
    if (p->is_searched)
        json_member_string(w, "listing", STR("search"));
    json_member_bool(w, "root", p->is_root);
    json_member_optional(w, "catalog", p->catalog);
    json_member_bool(w, "local", p->is_local);
    json_member_bool(w, "own", package->origin->scheme == ORIGIN_OWN);
    json_member_bool(w, "metaskill", package->is_metaskill);
    json_member_optional(w, "prereqs", package->prereqs);
    if (p->command)
        json_member_string(w, "command", str_cstr(p->command));
    json_end_object(w);
}

static void put_removed(struct json_writer *w, const struct lock_entry *entry,
                        const struct str *member)
{
    json_begin_object(w);
    json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
    json_member_string(w, "name", entry->name);
    if (member)
        json_member_string(w, "member", *member);
    json_member_string(w, "action", STR("remove"));
    json_member_optional(w, "old_version", entry->version);
    json_member_optional(w, "origin", lock_origin_text(entry));
    json_member_optional(w, "old_commit", entry->commit);
    json_end_object(w);
}

static void put_unsupported(struct json_writer *w,
                            const struct install_plan *plan)
{
    json_member_array(w, "skipped");
    for (size_t i = 0; i < plan->unsupported_count; i++) {
        const struct install_unsupported *u = &plan->unsupported[i];

        if (!u->name.n)
            continue;
        json_begin_object(w);
        json_member_string(w, "plugin", u->plugin);
        json_member_string(w, "type", u->kind);
        json_member_string(w, "name", u->name);
        json_member_string(w, "message", u->message);
        json_end_object(w);
    }
    json_end_array(w);
    json_member_array(w, "not_installed");
    for (size_t i = 0; i < plan->unsupported_count; i++) {
        const struct install_unsupported *u = &plan->unsupported[i];

        if (u->name.n)
            continue;
        json_begin_object(w);
        json_member_string(w, "plugin", u->plugin);
        json_member_string(w, "kind", u->kind);
        json_member_number(w, "count", u->count);
        json_member_string(w, "where", u->where);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_without(struct json_writer *w, const struct install_plan *plan)
{
    json_member_array(w, "without");
    for (size_t i = 0; i < plan->without_count; i++) {
        json_begin_object(w);
        json_member_string(w, "plugin", plan->without[i].plugin);
        json_member_strings(w, "parts", plan->without[i].parts.items,
                            plan->without[i].parts.count);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_packages(struct json_writer *w, const struct install_plan *plan,
                         struct arena *a)
{
    json_member_array(w, "packages");
    for (size_t i = 0; i < plan->package_count; i++)
        put_package(w, &plan->packages[i], a);
    for (size_t i = 0; i < plan->removed_count; i++)
        put_removed(w, plan->removed[i],
                    plan->removed_members ? &plan->removed_members[i] : NULL);
    json_end_array(w);
}

static void put_changes(struct json_writer *w, const struct install_plan *plan)
{
    static const char *const actions[] = {[PROVISION_ADD] = "add",
                                          [PROVISION_UPDATE] = "update",
                                          [PROVISION_REMOVE] = "remove"};

    json_member_array(w, "changes");
    for (size_t i = 0; i < plan->change_count; i++) {
        json_begin_object(w);
        json_member_string(w, "action",
                           str_cstr(actions[plan->changes[i].kind]));
        json_member_string(w, "path", plan->changes[i].path);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_left_out(struct json_writer *w,
                         const struct install_left_out *l)
{
    json_begin_object(w);
    json_member_string(w, "type", str_cstr(doc_kind_name(l->kind)));
    json_member_string(w, "name", l->name);
    json_member_string(w, "path", l->path);
    json_member_string(w, "origin", l->origin);
    json_member_string(w, "code", l->code);
    json_member_string(w, "message", l->message);
    json_member_array(w, "chain");
    for (size_t i = 0; i < l->chain_count; i++)
        json_string(w, l->chain[i].origin);
    json_end_array(w);
    json_member_number(w, "chain_omitted", l->omitted);
    json_end_object(w);
}

/* Entries of a mapm.lock in conflict that both sides changed. */
static void put_merged(struct json_writer *w, const struct install_plan *plan)
{
    json_member_array(w, "merged");
    for (size_t i = 0; i < plan->merged_count; i++) {
        const struct install_merged *m = &plan->merged[i];

        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(m->taken->kind)));
        json_member_string(w, "name", m->taken->name);
        json_member_optional(w, "ours", m->ours->commit);
        json_member_optional(w, "theirs", m->theirs->commit);
        json_member_string(w, "taken",
                           m->taken == m->ours ? STR("ours") : STR("theirs"));
        json_member_string(w, "why", str_cstr(m->why));
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_untouched(struct json_writer *w,
                          const struct install_plan *plan)
{
    json_member_array(w, "untouched");
    for (size_t i = 0; i < plan->untouched_count; i++) {
        const struct provision_untouched *u = &plan->untouched[i];

        json_begin_object(w);
        json_member_string(w, "client", u->client);
        json_member_string(w, "path", u->path);
        json_member_string(w, "message", u->why);
        json_member_optional(w, "snippet", u->snippet);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_renames(struct json_writer *w, const struct install_plan *plan)
{
    json_member_array(w, "renamed");
    for (size_t i = 0; i < plan->rename_count; i++) {
        json_begin_object(w);
        json_member_string(w, "from", plan->renames[i].from);
        json_member_string(w, "to", plan->renames[i].to);
        json_member_number(w, "origins", plan->renames[i].origins);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_held(struct json_writer *w, const struct install_plan *plan)
{
    json_member_array(w, "held");
    for (size_t i = 0; i < plan->held_count; i++) {
        const struct install_held *h = &plan->held[i];

        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(h->entry->kind)));
        json_member_string(w, "name", h->entry->name);
        json_member_string(w, "origin", lock_origin_text(h->entry));
        json_member_optional(w, "version", h->entry->version);
        json_member_optional(w, "commit", h->entry->commit);
        json_member_string(w, "state",
                           h->is_gone ? STR("gone") : STR("unresolvable"));
        json_member_bool(w, "root", h->is_root);
        json_member_string(w, "code", h->code);
        json_member_string(w, "message", h->message);
        json_member_array(w, "chains");
        for (size_t k = 0; k < h->chains.count; k++)
            json_string(w, h->chains.items[k]);
        json_end_array(w);
        json_member_optional(w, "pin", h->pin);
        json_member_optional(w, "hint", h->hint);
        json_end_object(w);
    }
    json_end_array(w);
}

/* What mapm.yaml leaves out of its catalogs from now on. */
static void put_excluded(struct json_writer *w, const struct install_plan *plan)
{
    json_member_array(w, "excluded");
    for (size_t i = 0; i < plan->excluded_count; i++) {
        json_begin_object(w);
        json_member_string(w, "catalog", plan->excluded[i].catalog);
        json_member_optional(w, "pattern", plan->excluded[i].word);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Packages of the repositories outside of the catalogs. */
static void put_elsewhere(struct json_writer *w,
                          const struct install_plan *plan)
{
    json_member_array(w, "elsewhere");
    for (size_t k = 0; k < plan->catalog_count; k++)
        for (size_t i = 0; i < plan->catalogs[k].elsewhere_count; i++) {
            const struct install_offer *o = &plan->catalogs[k].elsewhere[i];

            json_begin_object(w);
            json_member_string(w, "type", str_cstr(doc_kind_name(o->kind)));
            json_member_string(w, "path", o->path);
            json_end_object(w);
        }
    json_end_array(w);
}

static void put_loads(struct json_writer *w, const struct install_plan *plan)
{
    json_member_array(w, "loads");
    for (size_t i = 0; i < plan->load_count; i++) {
        json_begin_object(w);
        json_member_string(w, "client", str_cstr(plan->loads[i].client));
        json_member_number(w, "skills", plan->loads[i].skills);
        json_member_number(w, "tokens", plan->loads[i].tokens);
        json_end_object(w);
    }
    json_end_array(w);
}

void install_print_json(struct invocation *inv, const struct install_plan *plan,
                        bool dry_run)
{
    struct json_writer *w = print_json_begin(inv, "mapm.install/1", NULL);

    json_member_string(w, "command", str_cstr(plan->command));
    json_member_string(w, "workspace", plan->workspace);
    json_member_bool(w, "dry_run", dry_run);
    json_member_bool(w, "changed", plan->change_count > 0);
    put_packages(w, plan, &inv->cx.arena);
    put_changes(w, plan);
    json_member_array(w, "kept");
    for (size_t i = 0; i < plan->edit_count; i++)
        json_string(w, plan->edits[i].what);
    json_end_array(w);
    if (plan->chosen_count) {
        json_member_array(w, "left_out");
        for (size_t i = 0; i < plan->left_out_count; i++)
            put_left_out(w, &plan->left_out[i]);
        json_end_array(w);
    }
    if (plan->import_count)
        install_put_imports(w, plan);
    if (plan->has_merged)
        put_merged(w, plan);
    if (plan->held_count)
        put_held(w, plan);
    if (plan->rename_count)
        put_renames(w, plan);
    if (plan->untouched_count)
        put_untouched(w, plan);
    if (plan->without_count)
        put_without(w, plan);
    if (plan->unsupported_count)
        put_unsupported(w, plan);
    if (plan->purged_count) {
        json_member_array(w, "purged");
        for (size_t i = 0; i < plan->purged_count; i++)
            json_string(w, plan->purged[i]);
        json_end_array(w);
    }
    if (plan->excluded_count)
        put_excluded(w, plan);
    if (plan->load_count)
        put_loads(w, plan);
    put_elsewhere(w, plan);
    if (plan->clients)
        client_put_json(w, plan->clients, clients_count, false);
    json_member_number(w, "requests", plan->requests);
    json_member_number(w, "bytes", plan->bytes);
    json_member_number(w, "warnings", plan->warnings);
    print_json_end(inv);
}

static void put_offers(struct json_writer *w,
                       const struct install_offer *offers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct install_offer *o = &offers[i];

        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(o->kind)));
        json_member_string(w, "name", o->name);
        if (o->kind != DOC_PLUGIN)
            json_member_string(w, "path", o->path);
        json_member_string(w, "origin", o->origin);
        json_member_optional(w, "description", o->description);
        if (o->kind != DOC_PLUGIN)
            json_member_optional(w, "plugin",
                                 o->is_of_plugin ? o->group : STR(""));
        json_member_optional(w, "command", o->command);
        json_member_number(w, "tokens", o->tokens);
        json_member_bool(w, "installed", o->is_installed);
        json_member_optional(w, "problem", o->problem);
        json_end_object(w);
    }
}

void install_put_offers(struct json_writer *w, const struct install_catalog *c)
{
    json_member_array(w, "offers");
    put_offers(w, c->offers, c->offer_count);
    json_end_array(w);
    json_member_array(w, "plugins");
    put_offers(w, c->plugins, c->plugin_count);
    json_end_array(w);
}

void install_print_offers_json(struct invocation *inv,
                               const struct install_plan *plan)
{
    struct json_writer *w = print_json_begin(inv, "mapm.offers/1", NULL);

    json_member_string(w, "origin", plan->catalogs[0].origin.text);
    json_member_array(w, "offers");
    for (size_t i = 0; i < plan->catalog_count; i++)
        put_offers(w, plan->catalogs[i].offers, plan->catalogs[i].offer_count);
    json_end_array(w);
    json_member_array(w, "plugins");
    for (size_t i = 0; i < plan->catalog_count; i++)
        put_offers(w, plan->catalogs[i].plugins,
                   plan->catalogs[i].plugin_count);
    json_end_array(w);
    put_elsewhere(w, plan);
    print_json_end(inv);
}
