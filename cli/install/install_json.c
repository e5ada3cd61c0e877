#include "base/json_record.h"
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

/* The two sides of an entry of a mapm.lock in conflict that both sides
 * changed. */
static struct str ours_of(const void *value)
{
    return ((const struct install_merged *)value)->ours->commit;
}

static struct str theirs_of(const void *value)
{
    return ((const struct install_merged *)value)->theirs->commit;
}

static struct str taken_of(const void *value)
{
    const struct install_merged *m = value;

    return m->taken == m->ours ? STR("ours") : STR("theirs");
}

static const struct json_member name_members[] = {
    JSON_MEMBER_NAMED(struct lock_entry, "type", kind, doc_kind_name),
    JSON_MEMBER(struct lock_entry, "name", name),
};
JSON_RECORD(name, struct lock_entry);

static const struct json_member merged_members[] = {
    JSON_MEMBERS_AT(struct install_merged, taken, name_record),
    JSON_MEMBER_TEXT_OR_NULL("ours", ours_of),
    JSON_MEMBER_TEXT_OR_NULL("theirs", theirs_of),
    JSON_MEMBER_TEXT("taken", taken_of),
    JSON_MEMBER(struct install_merged, "why", why),
};
JSON_RECORD(merged, struct install_merged);

static struct str origin_of(const void *value)
{
    return lock_origin_text(value);
}

static struct str state_of(const void *value)
{
    return ((const struct install_held *)value)->is_gone ? STR("gone")
                                                         : STR("unresolvable");
}

static const struct json_member locked_members[] = {
    JSON_MEMBER_NAMED(struct lock_entry, "type", kind, doc_kind_name),
    JSON_MEMBER(struct lock_entry, "name", name),
    JSON_MEMBER_TEXT("origin", origin_of),
    JSON_MEMBER_OR_NULL(struct lock_entry, "version", version),
    JSON_MEMBER_OR_NULL(struct lock_entry, "commit", commit),
};
JSON_RECORD(locked, struct lock_entry);

static const struct json_member held_members[] = {
    JSON_MEMBERS_AT(struct install_held, entry, locked_record),
    JSON_MEMBER_TEXT("state", state_of),
    JSON_MEMBER(struct install_held, "root", is_root),
    JSON_MEMBER(struct install_held, "code", code),
    JSON_MEMBER(struct install_held, "message", message),
    JSON_MEMBER(struct install_held, "chains", chains),
    JSON_MEMBER_OR_NULL(struct install_held, "pin", pin),
    JSON_MEMBER_OR_NULL(struct install_held, "hint", hint),
    JSON_MEMBER_OR_NULL(struct install_held, "moved_to", place_now.origin),
};
JSON_RECORD(held, struct install_held);

static const struct json_member untouched_members[] = {
    JSON_MEMBER(struct provision_untouched, "client", client),
    JSON_MEMBER(struct provision_untouched, "path", path),
    JSON_MEMBER(struct provision_untouched, "message", why),
    JSON_MEMBER_OR_NULL(struct provision_untouched, "snippet", snippet),
};
JSON_RECORD(untouched, struct provision_untouched);

static const struct json_member rename_members[] = {
    JSON_MEMBER(struct project_rename, "from", from),
    JSON_MEMBER(struct project_rename, "to", to),
    JSON_MEMBER(struct project_rename, "origins", origins),
};
JSON_RECORD(rename, struct project_rename);

static const struct json_member without_members[] = {
    JSON_MEMBER(struct install_without, "plugin", plugin),
    JSON_MEMBER(struct install_without, "parts", parts),
};
JSON_RECORD(without, struct install_without);

/* Packages newly excluded from catalogs of mapm.yaml. */
static const struct json_member exclusion_members[] = {
    JSON_MEMBER(struct install_exclusion, "catalog", catalog),
    JSON_MEMBER_OR_NULL(struct install_exclusion, "pattern", word),
};
JSON_RECORD(exclusion, struct install_exclusion);

static const struct json_member load_members[] = {
    JSON_MEMBER(struct install_load, "client", client),
    JSON_MEMBER(struct install_load, "skills", skills),
    JSON_MEMBER(struct install_load, "tokens", tokens),
};
JSON_RECORD(load, struct install_load);

static const char *change_action(unsigned kind)
{
    static const char *const actions[] = {[PROVISION_ADD] = "add",
                                          [PROVISION_UPDATE] = "update",
                                          [PROVISION_REMOVE] = "remove"};

    return actions[kind];
}

static const struct json_member change_members[] = {
    JSON_MEMBER_NAMED(struct provision_change, "action", kind, change_action),
    JSON_MEMBER(struct provision_change, "path", path),
};
JSON_RECORD(change, struct provision_change);

/* Members that are omitted if they are empty. */
static const struct json_member news_members[] = {
    JSON_MEMBER_RECORDS_IF(struct install_plan, "held", held, held_count,
                           held_record),
    JSON_MEMBER_RECORDS_IF(struct install_plan, "renamed", renames,
                           rename_count, rename_record),
    JSON_MEMBER_RECORDS_IF(struct install_plan, "untouched", untouched,
                           untouched_count, untouched_record),
    JSON_MEMBER_RECORDS_IF(struct install_plan, "without", without,
                           without_count, without_record),
};
JSON_RECORD(news, struct install_plan);

static const struct json_member more_members[] = {
    JSON_MEMBER_STRINGS_IF(struct install_plan, "purged", purged, purged_count),
    JSON_MEMBER_RECORDS_IF(struct install_plan, "excluded", excluded,
                           excluded_count, exclusion_record),
    JSON_MEMBER_RECORDS_IF(struct install_plan, "loads", loads, load_count,
                           load_record),
};
JSON_RECORD(more, struct install_plan);

static const struct json_member sum_members[] = {
    JSON_MEMBER(struct install_plan, "requests", requests),
    JSON_MEMBER(struct install_plan, "bytes", bytes),
    JSON_MEMBER(struct install_plan, "warnings", warnings),
};
JSON_RECORD(sum, struct install_plan);

/* Writes the packages of the repositories that no catalog of mapm.yaml
 * selects. */
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

void install_print_json(struct invocation *inv, const struct install_plan *plan,
                        bool dry_run)
{
    struct json_writer *w = print_json_begin(inv, "mapm.install/1", NULL);

    json_member_string(w, "command", str_cstr(plan->command));
    json_member_string(w, "workspace", plan->workspace);
    json_member_bool(w, "dry_run", dry_run);
    json_member_bool(w, "changed", plan->change_count > 0);
    put_packages(w, plan, &inv->cx.arena);
    json_member_records(w, "changes", &change_record, plan->changes,
                        plan->change_count);
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
        json_member_records(w, "merged", &merged_record, plan->merged,
                            plan->merged_count);
    json_put_members(w, &news_record, plan);
    if (plan->unsupported_count)
        put_unsupported(w, plan);
    json_put_members(w, &more_record, plan);
    put_elsewhere(w, plan);
    if (plan->view_count)
        client_put_json(w, plan->views, plan->view_count, false);
    json_put_members(w, &sum_record, plan);
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
    json_member_number(w, "left_out", c->unnamed_count);
}

void install_print_offers_json(struct invocation *inv,
                               const struct install_plan *plan)
{
    struct json_writer *w = print_json_begin(inv, "mapm.offers/1", NULL);
    size_t left_out = 0;

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
    for (size_t i = 0; i < plan->catalog_count; i++)
        left_out += plan->catalogs[i].unnamed_count;
    json_member_number(w, "left_out", left_out);
    put_elsewhere(w, plan);
    print_json_end(inv);
}
