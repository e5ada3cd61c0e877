#include "mapm/clients.h"
#include "mapm/install.h"
#include "mapm/install_clients.h"
#include "mapm/mapm_path.h"

#include "choose_clients.h"

/* What a person should know of the clients behind an install. */

/* Whether a client gets an entry that starts "mapm"; `*graphical` is the name of
 * one with the PATH of the desktop session, "" without one. */
static bool names_mapm(const struct install_plan *plan, struct str *graphical)
{
    bool any = false;

    *graphical = STR("");
    for (size_t i = 0; i < plan->change_count; i++) {
        const struct provision_change *change = &plan->changes[i];
        const struct client *c = clients_find(change->client);

        any |= change->names_mapm;
        if (change->names_mapm && c && c->is_graphical && !graphical->n)
            *graphical = change->client;
    }
    return any;
}

/* The clients' files can be committed, so they have its name alone. */
static void warn_path(struct context *cx, const struct install_plan *plan)
{
    struct mapm_path path;
    struct str graphical;

    if (!names_mapm(plan, &graphical))
        return;
    mapm_path_find(&cx->arena, &path);
    if (path.found.n == 0)
        context_warn(cx,
                     "clients look for mapm on the PATH, where there is none: "
                     "make install puts it there");
    else if (graphical.n && !path.is_in_session)
        context_warn(cx,
                     "%.*s, started from the desktop, may not find mapm: it is "
                     "%.*s, and the desktop session looks in %.*s; sudo ln -s "
                     "%.*s /usr/local/bin/mapm makes it found",
                     STR_ARG(graphical), STR_ARG(path.found),
                     STR_ARG(path.session), STR_ARG(path.found));
}

/* What a person has to do before clients use agents that are new. */
static void note_agents(struct context *cx, const struct install_plan *plan)
{
    const struct client *told = NULL;

    for (size_t i = 0; i < plan->change_count; i++) {
        const struct provision_change *change = &plan->changes[i];
        const struct client *c = clients_find(change->client);

        if (change->kind == PROVISION_REMOVE || !c || c == told ||
            !c->agents_note || !str_starts(change->path, str_cstr(c->agents)))
            continue;
        context_note(cx, "%s", c->agents_note);
        told = c;
    }
}

static void note_server(struct context *cx, const struct install_plan *plan)
{
    struct str names = STR("");

    for (size_t i = 0; i < clients_count; i++)
        if (install_plan_client(plan, i).has_servers)
            names = arena_join(names, ", ", str_cstr(clients_table[i].name),
                               &cx->arena);
    if (names.n)
        context_note(cx,
                     "in this workspace %.*s start mapm mcp from now on: "
                     "mapm.yaml says so",
                     STR_ARG(names));
    else
        context_note(cx, "no client that is in use starts mapm mcp: "
                         "mapm client add names one");
}

/* Those of this machine that nobody asked about: --yes, or no terminal. */
static void note_others(struct context *cx, const struct install_plan *plan)
{
    struct str names = str_list_join(plan->others, ",", &cx->arena);

    if (!plan->asks_clients && plan->change_count && names.n)
        context_note(cx,
                     "also on this machine: %.*s (mapm install --client %.*s)",
                     STR_ARG(names), STR_ARG(names));
}

/* Files of a user have an absolute path. */
static bool is_unverified_file(const struct client *c, struct str file)
{
    return str_starts(file, STR("/"))
               ? c->mcp_user.unverified
               : c->mcp.unverified && clients_mcp_is_at(&c->mcp, file);
}

/* Of what other tools say of a client nobody saw that it holds. */
static void note_unverified(struct context *cx, const struct install_plan *plan)
{
    const struct client *told = NULL;

    for (size_t i = 0; i < plan->change_count; i++) {
        const struct provision_change *change = &plan->changes[i];
        const struct client *c = clients_find(change->client);
        struct str rest = change->path, file;

        if (!str_cut(&rest, '#', &file) || change->kind == PROVISION_REMOVE ||
            !c || c == told ||
            (clients_is_verified(c) &&
             !(rest.p && is_unverified_file(c, file))))
            continue;
        context_note(cx,
                     "%.*s is unverified: what %s reads there is known from a "
                     "table of another tool alone",
                     STR_ARG(file), c->name);
        told = c;
    }
}

/* Returns whether the client reads the file of the change and has no syntax for
 * the variables in it. Several clients may read a file of a workspace. */
static bool reads_literally(const struct install_plan *plan, size_t client,
                            const struct provision_change *change)
{
    const struct client *c = &clients_table[client];
    bool is_of = str_is(change->client, c->name);
    struct str rest = change->path, file;

    if (str_starts(change->path, STR("/")))
        return is_of && !c->mcp_user.env_ref;
    return str_cut(&rest, '#', &file) && !c->mcp.env_ref &&
           (is_of || (install_plan_client(plan, client).is_used &&
                      clients_mcp_is_at(&c->mcp, file)));
}

/* A client without a syntax for them sends "${NAME}" to the server. */
static void warn_literal(struct context *cx, const struct install_plan *plan)
{
    struct str names = STR("");

    for (size_t i = 0; i < clients_count; i++)
        for (size_t k = 0; k < plan->change_count; k++)
            if (plan->changes[k].has_variables &&
                reads_literally(plan, i, &plan->changes[k])) {
                names = arena_join(names, ", ", str_cstr(clients_table[i].name),
                                   &cx->arena);
                break;
            }
    if (names.n)
        context_warn(cx,
                     "variables of the environment are not expanded by %.*s: "
                     "servers get them as they are written",
                     STR_ARG(names));
}

void install_advise(struct context *cx, const struct install_plan *plan)
{
    if (plan->adds_server && !plan->for_clients.n)
        note_server(cx, plan);
    note_others(cx, plan);
    note_agents(cx, plan);
    note_unverified(cx, plan);
    warn_literal(cx, plan);
    warn_path(cx, plan);
}
