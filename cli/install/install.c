#include "mapm/install.h"

#include "base/text.h"
#include "mapm/discover.h"
#include "mapm/install_clients.h"
#include "mapm/install_gitignore.h"
#include "mapm/install_renames.h"
#include "mapm/layer.h"
#include "mapm/mapm_path.h"

#include "../client_show.h"
#include "diff.h"
#include "install_show.h"
#include "pick.h"

/* install, remove, update: plan, render, apply, render the result. */

static enum store_link link_mode(const struct invocation *inv)
{
    struct str mode = option_value(inv, OPTION_LINK_MODE);

    if (str_is(mode, "copy"))
        return STORE_LINK_COPY;
    if (str_is(mode, "hardlink"))
        return STORE_LINK_HARDLINK;
    return str_is(mode, "reflink") ? STORE_LINK_REFLINK : STORE_LINK_AUTO;
}

static enum install_prefer preferred_side(const struct invocation *inv)
{
    if (has_option(inv, OPTION_OURS))
        return INSTALL_PREFER_OURS;
    return has_option(inv, OPTION_THEIRS) ? INSTALL_PREFER_THEIRS
                                          : INSTALL_PREFER_NONE;
}

static bool check_sides(const struct invocation *inv, struct err *e)
{
    bool ours = has_option(inv, OPTION_OURS);
    bool theirs = has_option(inv, OPTION_THEIRS);

    if (ours && theirs)
        return err_set(e, ERR_USAGE, "--ours and --theirs exclude each other");
    if (has_option(inv, OPTION_BUNDLE) && has_option(inv, OPTION_VENDORED))
        return err_set(e, ERR_USAGE,
                       "--from and --vendored exclude each other");
    if ((ours || theirs) && has_option(inv, OPTION_LOCKED))
        return err_set(e, ERR_USAGE, "--locked merges nothing: leave out %s",
                       ours ? "--ours" : "--theirs");
    return true;
}

/* Returns whether questions may be put to the user: there is a terminal, and no
 * option and no CI forbids it. */
static bool may_ask(const struct invocation *inv)
{
    return !has_option(inv, OPTION_YES) && !has_option(inv, OPTION_JSON) &&
           !context_is_ci() && context_can_ask(&inv->cx);
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
                   .mcps = option_list(inv, OPTION_MCP),
                   .plugins = option_list(inv, OPTION_PLUGIN)},
        .as = option_value(inv, OPTION_AS_NAME),
        .without = option_list(inv, OPTION_WITHOUT),
        .from = option_list(inv, OPTION_FROM),
        .lists = has_option(inv, OPTION_OFFERS),
        .locked =
            has_option(inv, OPTION_LOCKED) || has_option(inv, OPTION_VENDORED),
        .bundle = option_value(inv, OPTION_BUNDLE),
        .vendored = has_option(inv, OPTION_VENDORED),
        .vendor = option_value(inv, OPTION_VENDORED),
        .no_self = has_option(inv, OPTION_NO_SELF),
        .dry_run =
            has_option(inv, OPTION_DRY_RUN) || has_option(inv, OPTION_DIFF),
        .force = has_option(inv, OPTION_FORCE),
        .allow_hidden = has_option(inv, OPTION_ALLOW_HIDDEN),
        .drop_patch = has_option(inv, OPTION_REMOVE_PATCH),
        .continues = has_option(inv, OPTION_CONTINUE),
        .accept_moved_tag = has_option(inv, OPTION_ACCEPT_MOVED_TAG),
        .purge = has_option(inv, OPTION_PURGE),
        .with_server = has_option(inv, OPTION_WITH_SERVER),
        .clients = option_list(inv, OPTION_CLIENT),
        .may_ask_clients = !has_option(inv, OPTION_YES) &&
                           !has_option(inv, OPTION_JSON) &&
                           context_can_ask(&inv->cx),
        .looks_for_clients = has_option(inv, OPTION_JSON),
        .is_consented = has_option(inv, OPTION_YES),
        .prefer = preferred_side(inv),
        .link = link_mode(inv),
    };
}

/* Prints whole patches on stderr for the user to review, even if stdout is
 * redirected. */
static void show_patches(struct invocation *inv,
                         const struct install_plan *plan, bool shows)
{
    struct term *t = &inv->term;

    for (size_t i = 0; shows && i < plan->package_count; i++) {
        const struct install_package *p = &plan->packages[i];
        struct str text, line;

        if (!p->shows_patch)
            continue;
        text = p->patch->text;
        if (t->is_out && !has_option(inv, OPTION_JSON))
            diff_show_patch(t, text);
        else
            while (str_line(&text, &line))
                (t->quiet ? term_warn : term_note)(t, "%.*s", STR_ARG(line));
    }
}

/* Reports how many tokens a whole catalog adds to each client, before it is
 * installed. */
static void note_loads(struct term *t, const struct install_plan *plan)
{
    if (plan->load_count)
        term_note(t, "%zu skill%s of %zu package%s; at the start of a session:",
                  plan->new_skills, plan->new_skills == 1 ? "" : "s",
                  plan->package_count, plan->package_count == 1 ? "" : "s");
    for (size_t i = 0; i < plan->load_count; i++)
        term_note(t, "  %-10s would load about %zu tokens for %zu skill%s%s",
                  plan->loads[i].client, plan->loads[i].tokens,
                  plan->loads[i].skills, plan->loads[i].skills == 1 ? "" : "s",
                  plan->loads[i].is_cut ? ", its limit" : "");
}

/* Prints the plan before anything is changed. */
static bool show_plan(struct invocation *inv, const struct install_plan *plan,
                      const struct install_request *r, struct err *e)
{
    bool shows = plan->patch_count && !r->is_consented && !r->dry_run &&
                 context_can_ask(&inv->cx);
    bool asks = shows || (plan->consent_count && !r->is_consented);

    if (has_option(inv, OPTION_JSON)) {
        show_patches(inv, plan, shows);
        return true;
    }
    if (!has_option(inv, OPTION_QUIET) || r->dry_run || asks)
        install_show_packages(&inv->term, plan, has_option(inv, OPTION_VERBOSE),
                              &inv->cx.arena);
    note_loads(&inv->term, plan);
    show_patches(inv, plan, shows);
    return term_flush(&inv->term, e);
}

static void note_result(struct term *t, const struct install_plan *plan,
                        const struct install_request *r)
{
    size_t count = 0;
    char bytes[16];

    for (size_t i = 0; i < plan->package_count; i++)
        count += !plan->packages[i].is_lock_only;

    if (plan->change_count + plan->grant_count == 0) {
        term_note(t, "%s: nothing to do, %zu package%s in place", plan->command,
                  count, count == 1 ? "" : "s");
        return;
    }
    if (r->dry_run) {
        term_note(t, "dry run: nothing was changed");
        return;
    }
    if (plan->grant_count)
        term_note(t, "mapm start may execute %s on this machine now",
                  plan->grant_count == 1 ? "this server" : "these servers");
    if (plan->change_count == 0)
        return;
    if (plan->for_clients.n) {
        term_note(t, "%zu package%s for %.*s", count, count == 1 ? "" : "s",
                  STR_ARG(plan->for_clients));
        return;
    }
    if (plan->requests == 0) {
        term_note(t, "%zu package%s in %.*s", count, count == 1 ? "" : "s",
                  STR_ARG(plan->workspace));
        return;
    }
    term_note(t, "%zu package%s in %.*s (%llu request%s, %s)", count,
              count == 1 ? "" : "s", STR_ARG(plan->workspace),
              (unsigned long long)plan->requests,
              plan->requests == 1 ? "" : "s", text_bytes(plan->bytes, bytes));
}

/* Formats "claude 9 skills 3 servers · codex 9 skills, …": clients in use. */
static struct str format_view(const struct install_client_view *view,
                              struct arena *a)
{
    struct str line = STR("");

    for (size_t i = 0; i < clients_count; i++) {
        const struct install_client *c = &view->items[i];

        if (c->is_used)
            line = arena_printf(a, "%.*s%s%s%.*s", STR_ARG(line),
                                line.n ? " · " : "", c->client->name,
                                STR_ARG(install_client_sight(c, a)));
    }
    return line;
}

static void note_clients(struct invocation *inv,
                         const struct install_plan *plan)
{
    if (has_option(inv, OPTION_JSON) ||
        (!plan->change_count && !inv->cx.is_verbose &&
         !has_option(inv, OPTION_CLIENT)))
        return;
    for (size_t i = 0; i < plan->view_count; i++) {
        const struct install_client_view *view = &plan->views[i];
        struct str line = format_view(view, &inv->cx.arena);

        if (line.n && (view->has_packages || !view->member.n))
            term_note(&inv->term, "clients%s%.*s: %.*s",
                      view->member.n ? " of " : "", STR_ARG(view->member),
                      STR_ARG(line));
    }
}

/* Lists the clients of the user that got mapm as a server. */
static void note_global_server(struct invocation *inv,
                               const struct install_plan *plan)
{
    struct str names = STR("");

    for (size_t i = 0; i < plan->change_count; i++)
        if (plan->changes[i].kind != PROVISION_REMOVE &&
            str_ends(plan->changes[i].path, STR("#mapm")))
            names = arena_join(names, ", ", plan->changes[i].client,
                               &inv->cx.arena);
    if (names.n)
        term_note(&inv->term, "%.*s start mapm mcp --global from now on",
                  STR_ARG(names));
}

static void show_result(struct invocation *inv, const struct install_plan *plan,
                        const struct install_result *result,
                        const struct install_request *r)
{
    struct term *t = &inv->term;

    install_note_edits(t, plan, inv->cx.use_global);
    install_note_merged(t, plan, r->dry_run);
    install_note_excluded(t, plan);
    if (result->backup.n)
        term_note(t, "what was there before is in %.*s",
                  STR_ARG(result->backup));
    if (result->absolute_files.n && !plan->for_clients.n)
        term_note(t,
                  "paths of this machine are in %.*s now: that belongs in "
                  ".gitignore, and mapm install recreates it; \"servers: "
                  "start\" in mapm.yaml does without them",
                  STR_ARG(result->absolute_files));
    if (has_option(inv, OPTION_JSON))
        install_print_json(inv, plan, r->dry_run);
    else
        note_result(t, plan, r);
    if (plan->adds_server && plan->for_clients.n && !r->dry_run)
        note_global_server(inv, plan);
    if (!r->dry_run) {
        note_clients(inv, plan);
        install_advise(&inv->cx, plan);
    }
    if (r->choice.all)
        install_note_elsewhere(inv, plan);
    if (r->command == INSTALL_UPDATE)
        install_note_skipped(inv, plan);
    else if (plan->import_count == 0)
        install_warn_left_out(inv, plan);
    else if (!has_option(inv, OPTION_JSON))
        install_show_imports(inv, plan);
    install_warn_held(inv, plan);
    install_warn_untouched(inv, plan);
    install_note_unsupported(inv, plan);
    install_note_purged(inv, plan, r->dry_run);
}

static void show_offers(struct invocation *inv, const struct install_plan *plan)
{
    if (has_option(inv, OPTION_JSON))
        install_print_offers_json(inv, plan);
    else
        install_show_offers(inv, plan);
}

static bool show_diff(struct invocation *inv, struct install_plan *plan,
                      struct err *e)
{
    struct install_diff d;

    if (!install_diff_plan(plan, &d, e) || !diff_show(inv, &d, e))
        return false;
    install_warn_held(inv, plan);
    if (d.count == 0 && !has_option(inv, OPTION_JSON))
        term_note(&inv->term, "update: no package would change");
    return true;
}

static bool carry_out(struct invocation *inv, struct install_plan *plan,
                      const struct install_request *r, struct err *e)
{
    struct install_result result = {.backup = STR("")};

    if (plan->is_offer) {
        show_offers(inv, plan);
        return true;
    }
    if (has_option(inv, OPTION_DIFF))
        return show_diff(inv, plan, e);
    if (!show_plan(inv, plan, r, e) ||
        (!r->dry_run && !install_apply(plan, &result, e)))
        return false;
    show_result(inv, plan, &result, r);
    return true;
}

/* Returns whether to open the picker: for a single catalog. Of several
 * catalogs, packages are selected by options. */
static bool may_pick(const struct invocation *inv,
                     const struct install_plan *plan,
                     const struct install_request *r)
{
    return plan->is_offer && plan->catalog_count == 1 &&
           r->arguments.count == 1 && !r->lists && !r->is_consented &&
           !has_option(inv, OPTION_JSON) && !has_option(inv, OPTION_QUIET) &&
           pick_can_ask(inv);
}

/* Opens the picker; the workspace is not locked meanwhile. `*plan` is NULL if
 * nothing was chosen. */
static bool pick(struct invocation *inv, struct install_request *r,
                 struct install_plan **plan, struct err *e)
{
    const struct install_catalog *c = (*plan)->catalogs;
    bool picked;

    install_close(*plan);
    *plan = NULL;
    picked = pick_offers(inv, c, &r->choice, e);
    if (!picked && !e->code)
        term_note(&inv->term, "nothing was chosen");
    if (!picked)
        return !e->code;
    return install_plan(&inv->cx, r, plan, e);
}

/* Hints at the package of a catalog that has the name given in place of an
 * origin. */
static void hint_offered(struct invocation *inv, const struct str_list *words,
                         struct err *e)
{
    struct discover_hit hit;

    for (size_t i = 0; e->code == ERR_ORIGIN && i < words->count; i++) {
        struct err several = {0};
        struct str word = words->items[i];

        if (str_has_char(word, '/') || str_has_char(word, ':'))
            continue;
        if (discover_find_offered(&inv->cx, word, &hit, &several) &&
            text_is_shell_word(hit.origin) &&
            (!hit.entry.n || text_is_shell_word(hit.entry)))
            err_hint(e, "a catalog has it: mapm install %.*s%s%.*s",
                     STR_ARG(hit.origin), hit.entry.n ? " --plugin " : "",
                     STR_ARG(hit.entry));
        else if (several.code)
            err_hint(e, "several catalogs have it: mapm search %.*s",
                     STR_ARG(word));
        return;
    }
}

/* --yes is to install something: a script is to notice that nothing was. */
static bool lacks_choice(const struct install_plan *plan,
                         const struct install_request *r)
{
    return plan->is_offer && r->is_consented && !r->lists;
}

static bool run(struct invocation *inv, enum install_command command,
                int *exit_code, struct err *e)
{
    struct install_request r = request_of(inv, command);
    struct install_plan *plan;
    bool ok, is_changed, asks = may_ask(inv);

    if (!check_sides(inv, e))
        return false;
    if (!install_plan(&inv->cx, &r, &plan, e)) {
        hint_offered(inv, &r.arguments, e);
        return false;
    }
    if (may_pick(inv, plan, &r)) {
        if (!pick(inv, &r, &plan, e))
            return false;
        if (!plan) /* nothing was picked */
            return true;
    }
    ok = carry_out(inv, plan, &r, e);
    *exit_code = (plan->left_out_count && command != INSTALL_UPDATE) ||
                         plan->held_count || plan->problem_count ||
                         plan->untouched_count || lacks_choice(plan, &r)
                     ? EXIT_FINDINGS
                     : EXIT_DONE;
    if (ok && lacks_choice(plan, &r))
        term_warn(&inv->term, "nothing was installed: choose with --all, "
                              "--skill, --agent or --mcp");
    is_changed = ok && plan->change_count > 0;
    install_close(plan);
    if (!ok || !install_confirm_renames(&inv->cx, plan, &r,
                                        has_option(inv, OPTION_REWRITE_ORIGINS),
                                        asks, e))
        return false;
    if (is_changed && asks && !r.dry_run && !r.locked &&
        !has_option(inv, OPTION_QUIET))
        install_offer_gitignore(&inv->cx);
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

COMMAND(command_import)
{
    return run(inv, INSTALL_IMPORT, exit_code, e);
}

COMMAND(command_update)
{
    return run(inv, INSTALL_UPDATE, exit_code, e);
}

COMMAND(command_patch)
{
    return run(inv, INSTALL_PATCH, exit_code, e);
}
