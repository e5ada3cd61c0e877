#include "base/json.h"
#include "base/text.h"
#include "mapm/install.h"
#include "mapm/install_offers.h"
#include "mapm/install_selection.h"
#include "mapm/manifest.h"

#include "command.h"

#define SHORT_COMMIT_CHARS 10

static const char *action_of(const struct sync_package *p)
{
    if (!p->before)
        return "add";
    return p->changed ? "update" : "keep";
}

static struct str short_commit(struct str commit)
{
    return str_slice(commit, 0, SHORT_COMMIT_CHARS);
}

/* "1.2.0 (3f6c…)", what is known of it. */
static struct str shown_version(struct str version, struct str commit,
                                struct arena *a)
{
    if (version.n && commit.n)
        return arena_printf(a, "%.*s (%.*s)", STR_ARG(version),
                            STR_ARG(short_commit(commit)));
    return version.n ? version : short_commit(commit);
}

static void show_prereqs(struct term *t, struct str prereqs)
{
    struct str rest = prereqs, line;

    while (str_line(&rest, &line))
        if (line.n)
            term_print(t, "      %.*s\n", STR_ARG(line));
}

static void show_package(struct term *t, struct sync *s,
                         const struct sync_package *p)
{
    struct arena *a = &s->cx->arena;
    const struct package *package = p->step->package;
    struct str version = shown_version(p->node->version, p->node->commit, a);

    if (p->before && !p->changed && !p->placed)
        return;
    if (!p->before || !p->changed)
        term_style_print(t, TERM_GREEN, "  + ");
    else
        term_style_print(t, TERM_YELLOW, "  ~ ");
    term_print(t, "%s %.*s", doc_kind_name(package->kind),
               STR_ARG(package->fqn));
    if (p->before && p->changed) {
        struct str old =
            shown_version(p->before->version, p->before->commit, a);

        /* The same bytes of another origin: that is what is new. */
        if (str_eq(old, version) &&
            !str_eq(p->before->origin, p->node->origin.text)) {
            old = p->before->origin;
            version = p->node->origin.text;
        }
        term_print(t, " %.*s ->", STR_ARG(old));
    }
    term_print(t, " %.*s%s\n", STR_ARG(version),
               p->before && p->changed &&
                       str_eq(p->before->digest, p->node->package.content)
                   ? " (same content)"
                   : "");
    if (p->old_command)
        term_print(t, "      ran:  %s\n", p->old_command);
    if (p->command)
        term_print(t, "      runs: %s\n", p->command);
    if (p->node->prereqs.n)
        show_prereqs(t, p->node->prereqs);
}

static void show_changes(struct term *t, struct sync *s)
{

    if (!s->changed)
        return;
    for (size_t i = 0; i < s->plan.count; i++)
        show_package(t, s, &s->packages[i]);
    for (size_t i = 0; i < s->gone_count; i++) {
        term_style_print(t, TERM_RED, "  - ");
        term_print(t, "%s %.*s\n", doc_kind_name(s->gone[i]->kind),
                   STR_ARG(s->gone[i]->name));
    }
}

static void put_package(struct sync *s, struct json_writer *w,
                        const struct sync_package *p)
{
    const struct package *package = p->step->package;

    json_begin_object(w);
    json_member_string(w, "type", str_from(doc_kind_name(package->kind)));
    json_member_string(w, "name", package->fqn);
    json_member_string(w, "action", str_from(action_of(p)));
    json_member_optional(w, "version", p->node->version);
    json_member_optional(w, "old_version",
                         p->before ? p->before->version : STR(""));
    json_member_string(w, "origin", p->node->origin.text);
    json_member_optional(w, "commit", p->node->commit);
    json_member_optional(w, "old_commit",
                         p->before ? p->before->commit : STR(""));
    json_member_string(w, "digest", package->content);
    if (package->kind == DOC_MCP)
        json_member_string(w, "key", p->place);
    else
        json_member_string(w, "path", sync_place(p, &s->cx->arena));
    json_member_bool(w, "root", p->step->is_root);
    json_member_bool(w, "local", p->is_local);
    json_member_bool(w, "metaskill", p->node->metaskill);
    json_member_optional(w, "prereqs", p->node->prereqs);
    if (p->command)
        json_member_string(w, "command", str_from(p->command));
    json_end_object(w);
}

static void put_gone(struct json_writer *w, const struct lock_entry *entry)
{
    json_begin_object(w);
    json_member_string(w, "type", str_from(doc_kind_name(entry->kind)));
    json_member_string(w, "name", entry->name);
    json_member_string(w, "action", STR("remove"));
    json_member_optional(w, "old_version", entry->version);
    json_member_string(w, "origin", entry->origin);
    json_member_optional(w, "old_commit", entry->commit);
    json_end_object(w);
}

static const char *change_name(enum provision_change_kind kind)
{
    if (kind == PROVISION_ADD)
        return "add";
    return kind == PROVISION_UPDATE ? "update" : "remove";
}

static void print_result(struct invocation *inv, struct sync *s,
                         const struct provision_change *changes, size_t count)
{
    struct json_writer w;
    const struct str *kept;
    const struct provision_skipped *left;
    size_t kept_count, left_count;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.install/1"));
    json_member_string(&w, "command", str_from(s->command));
    json_member_string(&w, "workspace", s->layer.path);
    json_member_bool(&w, "dry_run", s->dry_run);
    json_member_bool(&w, "changed", s->changed);
    json_key(&w, "packages");
    json_begin_array(&w);
    for (size_t i = 0; i < s->plan.count; i++)
        put_package(s, &w, &s->packages[i]);
    for (size_t i = 0; i < s->gone_count; i++)
        put_gone(&w, s->gone[i]);
    json_end_array(&w);
    json_key(&w, "changes");
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(&w);
        json_member_string(&w, "action",
                           str_from(change_name(changes[i].kind)));
        json_member_string(&w, "path", changes[i].path);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, "kept");
    json_begin_array(&w);
    kept = provision_preserved_edits(s->layer.provision, &kept_count);
    for (size_t i = 0; i < kept_count; i++)
        json_string(&w, kept[i]);
    left = provision_skipped_modified(s->layer.provision, &left_count);
    for (size_t i = 0; !s->keep_edited && i < left_count; i++)
        json_string(&w, left[i].what);
    json_end_array(&w);
    if (s->choice_count)
        selection_put(&w, s->choices, s->choice_count);
    offers_put_elsewhere(&w, s->catalogs, s->catalog_count);
    json_member_number(&w, "requests", s->closure.progress.requests);
    json_member_number(&w, "bytes", s->closure.progress.bytes);
    json_member_number(&w, "warnings", notice_count(&s->closure.notices));
    json_end_object(&w);
    print_json(inv, &b);
    buf_done(&b);
}

static void tell_result(struct term *t, struct sync *s, size_t change_count)
{
    char bytes[16];

    if (change_count == 0) {
        term_note(t, "%s: nothing to do, %zu package%s in place", s->command,
                  s->plan.count, s->plan.count == 1 ? "" : "s");
        return;
    }
    if (s->dry_run) {
        term_note(t, "dry run: nothing was changed");
        return;
    }
    if (s->closure.progress.requests == 0) {
        term_note(t, "%zu package%s in %.*s", s->plan.count,
                  s->plan.count == 1 ? "" : "s", STR_ARG(s->layer.path));
        return;
    }
    term_note(t, "%zu package%s in %.*s (%llu request%s, %s)", s->plan.count,
              s->plan.count == 1 ? "" : "s", STR_ARG(s->layer.path),
              (unsigned long long)s->closure.progress.requests,
              s->closure.progress.requests == 1 ? "" : "s",
              text_bytes(s->closure.progress.bytes, bytes));
}

/* --- what a catalog offers ------------------------------------------------ */

static void put_offers(struct invocation *inv, struct json_writer *w,
                       const struct node *n)
{
    for (size_t i = 0; i < n->offer_count; i++) {
        struct origin o;

        offers_origin(&inv->cx.arena, n, &n->offers[i], &o);
        json_begin_object(w);
        json_member_string(w, "type",
                           str_from(doc_kind_name(n->offers[i].kind)));
        json_member_string(w, "name", offers_name(n, &n->offers[i]));
        json_member_string(w, "path", n->offers[i].path);
        json_member_string(w, "origin", o.text);
        json_end_object(w);
    }
}

static void print_offers_json(struct invocation *inv,
                              struct node *const *catalogs, size_t count)
{
    struct json_writer w;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.offers/1"));
    json_member_string(&w, "origin", catalogs[0]->origin.text);
    json_key(&w, "offers");
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++)
        put_offers(inv, &w, catalogs[i]);
    json_end_array(&w);
    offers_put_elsewhere(&w, catalogs, count);
    json_end_object(&w);
    print_json(inv, &b);
    buf_done(&b);
}

static void show_offers(void *ctx, struct node *const *catalogs, size_t count)
{
    struct invocation *inv = ctx;
    struct term *t = &inv->term;

    if (has_option(inv, OPTION_JSON)) {
        print_offers_json(inv, catalogs, count);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const struct node *n = catalogs[k];

        for (size_t i = 0; i < n->offer_count; i++) {
            struct origin o;

            offers_origin(&inv->cx.arena, n, &n->offers[i], &o);
            term_print(t, "%-6s %-32.*s %.*s\n",
                       doc_kind_name(n->offers[i].kind),
                       STR_ARG(offers_name(n, &n->offers[i])), STR_ARG(o.text));
        }
        term_note(t,
                  "%.*s is a catalog: name one of these, or choose with "
                  "--all, --skill NAME, --agent NAME, --mcp NAME",
                  STR_ARG(n->origin.text));
    }
    offers_tell_elsewhere(&inv->cx, catalogs, count);
}

/* --- the view --------------------------------------------------------------- */

static bool show_plan(void *ctx, struct sync *s, size_t servers, struct err *e)
{
    struct invocation *inv = ctx;
    bool asks = servers && !has_option(inv, OPTION_YES);

    if (asks)
        store_end_downloads(s->store); /* nobody waits for the answer */
    if (has_option(inv, OPTION_JSON))
        return true;
    if ((!has_option(inv, OPTION_QUIET) && !s->again) || s->dry_run || asks)
        show_changes(&inv->term, s);
    return term_flush(&inv->term, e);
}

static void show_result(void *ctx, struct sync *s,
                        const struct provision_change *changes, size_t count)
{
    struct invocation *inv = ctx;

    if (has_option(inv, OPTION_JSON))
        print_result(inv, s, changes, count);
    else
        tell_result(&inv->term, s, count);
}

static enum store_link link_mode(const struct invocation *inv)
{
    struct str mode = option_value(inv, OPTION_LINK_MODE);

    if (str_is(mode, "copy"))
        return STORE_LINK_COPY;
    if (str_is(mode, "hardlink"))
        return STORE_LINK_HARDLINK;
    return str_is(mode, "reflink") ? STORE_LINK_REFLINK : STORE_LINK_AUTO;
}

static struct install_request request_of(struct invocation *inv,
                                         enum install_command command)
{
    return (struct install_request){
        .command = command,
        .arguments = {inv->arguments.items, inv->arguments.count},
        .choice = {.all = has_option(inv, OPTION_ALL),
                   .strict = has_option(inv, OPTION_ALL_OR_NOTHING),
                   .skip = option_list(inv, OPTION_SKIP),
                   .agents = option_list(inv, OPTION_AGENT),
                   .skills = option_list(inv, OPTION_SKILL),
                   .mcps = option_list(inv, OPTION_MCP)},
        .locked = has_option(inv, OPTION_LOCKED),
        .dry_run = has_option(inv, OPTION_DRY_RUN),
        .force = has_option(inv, OPTION_FORCE),
        .allow_hidden = has_option(inv, OPTION_ALLOW_HIDDEN),
        .with_server = has_option(inv, OPTION_WITH_SERVER),
        .link = link_mode(inv),
        .view = {show_offers, show_plan, show_result, inv},
    };
}

static bool run(struct invocation *inv, enum install_command command,
                int *exit_code, struct err *e)
{
    const struct install_request r = request_of(inv, command);
    bool left_out = false;

    if (!sync_run(&inv->cx, &r, &left_out, e))
        return false;
    *exit_code = left_out ? EXIT_FINDINGS : EXIT_DONE;
    return true;
}

COMMAND(command_install)
{
    return run(inv, INSTALL_INSTALL, exit_code, e);
}

COMMAND(command_remove)
{
    return run(inv, INSTALL_REMOVE, exit_code, e);
}

COMMAND(command_update)
{
    return run(inv, INSTALL_UPDATE, exit_code, e);
}
