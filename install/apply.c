#include "base/fs.h"
#include "base/invariant.h"
#include "mapm/doc_kind.h"
#include "mapm/member.h"
#include "mapm/state.h"

#include "choose_clients.h"
#include "git_exclude.h"
#include "purge.h"

/* --- consent -------------------------------------------------------------- */

void install_release(struct install_plan *plan)
{
    store_end_downloads(plan->session->store);
}

static void note_in_layer(const struct install_session *s)
{
    for (size_t i = 0; s->is_chosen && i < s->gone_count; i++) {
        struct str path =
            provision_took_over(s->layer.provision, s->gone[i]->kind,
                                s->gone[i]->place, &s->cx->arena);

        if (path.n)
            context_note(s->cx, "%.*s was there before mapm import",
                         STR_ARG(path));
    }
}

/* Folders that existed before mapm import belong to the user, and removing them
 * needs consent. */
static void note_taken_over(struct install_session *s)
{
    for (size_t i = 0; s->plan.taken_over && i < s->part_count; i++) {
        session_go(s, i);
        note_in_layer(s);
    }
    session_go_home(s);
}

/* Asks about prerequisites and patches on a terminal only; elsewhere they are
 * printed and never block the install [M8, D7, D21]. A question about servers
 * covers them, too. */
static bool prompt_user(struct install_session *s, struct err *e)
{
    const char *question;
    bool any = false;

    for (size_t i = 0; i < s->plan.package_count; i++)
        any |= s->plan.packages[i].shows_prereqs;
    if ((!any && s->plan.patch_count == 0) || !context_can_ask(s->cx))
        return true;
    question = !any ? "Apply what is shown?"
               : s->plan.patch_count
                   ? "Apply what is shown, and prepare by hand what is listed?"
                   : "Install this, and prepare by hand what is listed?";
    install_release(&s->plan);
    return context_consent(s->cx, question, e);
}

/* Phrases one question for everything in the plan that needs consent [D4]. */
static struct str question_of(const struct install_plan *plan, struct arena *a)
{
    size_t taken = plan->taken_over, servers_taken = plan->taken_servers;
    const char *folders =
        taken == 0 ? ""
        : servers_taken == 0
            ? (taken == 1 ? "Delete this folder" : "Delete these folders")
        : servers_taken == taken
            ? (taken == 1 ? "Delete this server" : "Delete these servers")
            : "Delete these folders and servers";
    const char *servers = plan->consent_count == 0 ? ""
                          : plan->consent_count == 1
                              ? "et your agents start this MCP server"
                              : "et your agents start these MCP servers";

    return arena_printf(a, "%s%s%s%s", folders,
                        !plan->consent_count ? ""
                        : plan->taken_over   ? ", and l"
                                             : "L",
                        servers,
                        plan->patch_count ? ", and apply the patches" : "");
}

/* Asks about the clients as part of the same question [H7]. */
static bool prompt_all(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str what = question_of(&s->plan, a);
    size_t answer;

    install_release(&s->plan);
    note_taken_over(s);
    if (!context_choose(s->cx,
                        arena_printf(a, "%.*s %.*s?",
                                     STR_ARG(what.n ? what : STR("Install")),
                                     STR_ARG(session_ask_about_clients(s)))
                            .p,
                        clients_answers, CLIENTS_ANSWERS, 0, &answer, e))
        return false;
    if (answer == CLIENTS_ANSWERS - 1)
        return err_set(e, ERR_REFUSED, "nothing was changed");
    s->is_answered = true;
    if (answer == 1)
        s->more = s->plan.others;
    else if (s->layer.is_global)
        s->plan.for_clients = str_list_join(s->plan.used, ", ", a);
    return true;
}

static bool prompt_consent(struct install_session *s, struct err *e)
{
    const struct install_plan *plan = &s->plan;
    bool yes;

    if (s->request->is_consented)
        return true;
    if (plan->asks_clients && context_can_ask(s->cx))
        return prompt_all(s, e);
    if (plan->consent_count + plan->taken_over == 0)
        return prompt_user(s, e);
    install_release(&s->plan);
    note_taken_over(s);
    if (context_confirm(s->cx, QUESTION_CONSENT,
                        arena_printf(&s->cx->arena, "%.*s?",
                                     STR_ARG(question_of(plan, &s->cx->arena)))
                            .p,
                        &yes, e))
        return yes || err_set(e, ERR_REFUSED, "nothing was changed");
    if (e->code != ERR_REFUSED)
        return false;
    for (size_t i = 0; i < plan->package_count; i++)
        if (plan->packages[i].needs_consent)
            err_also(e, "mcp %.*s would run: %s",
                     STR_ARG(plan->packages[i].package->fqn),
                     plan->packages[i].command);
    if (plan->consent_count)
        err_wrap(e, "MCP servers that mapm.lock does not hold require consent");
    return plan->taken_over
               ? err_wrap(e, "%s that was there before requires consent",
                          plan->taken_servers ? "a server" : "a folder")
               : false;
}

/* Adds the digests and texts of a package that the user was shown, as keys. */
static void note_shown(const struct install_package *p, struct map *out,
                       struct arena *a)
{
    if (p->needs_consent || p->is_granted)
        map_put(out, str_join(STR("mcp "), p->digest, a), NULL);
    if (p->shows_patch)
        map_put(out, str_join(STR("patch "), p->patch->hash, a), NULL);
    if (p->shows_prereqs)
        map_put(out, str_join(STR("prereqs "), p->package->prereqs, a), NULL);
}

static bool has_unshown(const struct install_package *p,
                        const struct map *shown)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct map own;

    map_init(&own, &scratch);
    note_shown(p, &own, &scratch);
    for (size_t i = 0; i < own.count; i++)
        if (!map_has(shown, own.entries[i].key))
            return true;
    return false;
}

/* Checks that the new plan contains only commands, patches and texts that were
 * shown in the old one, because consent covers these bytes only. */
static bool check_consent(const struct install_plan *old,
                          const struct install_plan *new, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct map shown;

    map_init(&shown, &scratch);
    for (size_t i = 0; i < old->package_count; i++)
        note_shown(&old->packages[i], &shown, &scratch);
    for (size_t i = 0; i < new->package_count; i++) {
        const struct install_package *p = &new->packages[i];

        if (!has_unshown(p, &shown))
            continue;
        err_set(e, ERR_DAMAGED, "%s %.*s has changed since it was shown",
                doc_kind_name(p->package->kind), STR_ARG(p->package->fqn));
        return err_hint(e, "run the command again");
    }
    return true;
}

/* --- provision ------------------------------------------------------------ */

static bool has_server(const struct install_session *s)
{
    for (size_t i = 0; i < s->plan.package_count; i++)
        if (s->plan.packages[i].package->kind == DOC_MCP)
            return true;
    return false;
}

/* Registers the workspace, so that store gc finds its locks: that of the root
 * and the mapm.local.lock of each member. */
static void register_workspace(struct install_session *s)
{
    struct err problem = {0};

    for (size_t i = 0; i < s->layers.count; i++)
        if (s->layers.parts[i].provision &&
            !state_put_workspace(store_state(s->store), s->layers.parts[i].path,
                                 &problem)) {
            session_warn_index(s, &problem);
            return;
        }
}

/* Records consent before the workspace changes; it also counts if nothing
 * changes. After a power cut it may have to be given again. */
static bool put_grants(struct install_session *s, struct err *e)
{
    if (s->plan.grant_count == 0)
        return true;
    if (!store_begin(s->store, e))
        return false;
    for (size_t i = 0; i < s->plan.package_count; i++) {
        const struct install_package *p = &s->plan.packages[i];
        struct trust_request q;

        if (!p->is_granted)
            continue;
        q = authorize_request_server(
            p->member.n && !str_is(p->member, MEMBER_ROOT)
                ? fs_join(s->layer.root, p->member, &s->cx->arena)
                : s->layer.root,
            p->place, &package_node(p)->digest);
        if (!authorize_put(s->cx, s->store, &q, e))
            return err_wrap(e, "cannot record that %.*s may be started",
                            STR_ARG(p->place));
    }
    return store_commit(s->store, e);
}

/* Combines the results of all places, which share a backup. */
static void fill_result(struct install_session *s, struct install_result *out)
{
    struct arena *a = &s->cx->arena;

    for (size_t i = 0; i < s->layers.count; i++) {
        const struct layer *l = &s->layers.parts[i];
        struct str files, backup;

        if (!l->provision)
            continue;
        files = provision_absolute_files(l->provision);
        backup = provision_backup(l->provision);
        if (backup.n)
            out->backup = arena_str(a, backup);
        if (files.n)
            out->absolute_files = arena_printf(
                a, "%.*s%s%.*s%s%.*s", STR_ARG(out->absolute_files),
                out->absolute_files.n ? ", " : "", STR_ARG(l->member),
                l->member.n ? ": " : "", STR_ARG(files));
    }
}

/* Reports skills that are found only through the server, if no server is
 * configured. */
static void note_searched(struct install_session *s)
{
    size_t count = 0;

    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        for (size_t k = 0;
             s->is_chosen && !s->with_server && k < s->resolved.count; k++)
            count += s->packages[k].is_searched &&
                     (s->packages[k].effect == INSTALL_ADDED ||
                      s->packages[k].is_moved);
    }
    session_go_home(s);
    if (count == 0)
        return;
    context_note(
        s->cx,
        "%zu skill%s in no client's list: clients reach %s by mapm mcp "
        "alone, which mapm.yaml does not give them (mapm install "
        "--with-server does)",
        count, count == 1 ? " is" : "s are", count == 1 ? "it" : "them");
}

#define WRITER_MAX_TRIES 3

/* Clients may write their files at any time. Reads changed files again and
 * applies the change to them [H8]. */
static bool provision_against_writers(struct install_session *s, struct err *e)
{
    unsigned tries = 1;

    while (!session_provision(s, e)) {
        if (e->code != ERR_EDITED || !s->layer.scope->is_user)
            return false;
        if (tries++ == WRITER_MAX_TRIES)
            return err_hint(e, "a program writes it again and again: end that, "
                               "then try again");
        err_clear(e);
        if (!session_find_changes(s, e))
            return false;
    }
    return true;
}

/* Applies the plan. Without changes there may still be consent to record. */
static bool apply(struct install_session *s, struct install_result *out,
                  struct err *e)
{
    bool is_changed = s->plan.change_count > 0;

    if (s->plan.is_offer || s->is_in_place)
        return true;
    if (!session_publish(s, e) || !put_grants(s, e) ||
        (is_changed && has_server(s) && !store_make_shared_dir(s->store, e)) ||
        !provision_against_writers(s, e))
        return false;
    if (!is_changed)
        return true;
    if (!purge_apply(s, e))
        return false;
    register_workspace(s);
    session_note_prereqs(s);
    session_note_patches(s);
    session_forget_conflicts(s);
    note_searched(s);
    fill_result(s, out);
    return true;
}

bool install_apply(struct install_plan *plan, struct install_result *out,
                   struct err *e)
{
    struct install_session *s = plan->session;

    *out =
        (struct install_result){.backup = STR(""), .absolute_files = STR("")};
    INVARIANT(!s->request->dry_run);
    if (!prompt_consent(s, e))
        return false;
    if (s->more.count) {
        const struct install_plan old = *plan;

        if (!session_plan_anew(s, e) || !check_consent(&old, plan, e))
            return false;
    }
    while (!apply(s, out, e)) {
        const struct install_plan old = *plan;

        if (!session_plan_again(s, e) || !check_consent(&old, plan, e))
            return false;
    }
    if (!session_remember_clients(s, e))
        return false;
    if (!s->plan.is_offer && !s->is_in_place)
        git_exclude_update(s);
    return true;
}
