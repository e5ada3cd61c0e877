#include "choose_clients.h"

#include "base/fs.h"
#include "base/text.h"
#include "mapm/authorize.h"
#include "mapm/install_clients.h"
#include "mapm/limits.h"
#include "mapm/project.h"

#include "clients_used.h"

const char *const clients_answers[CLIENTS_ANSWERS] = {"yes", "all", "no"};

/* --- names ---------------------------------------------------------------- */

static bool check_name(struct str name, enum err_code code, const char *where,
                       struct err *e)
{
    struct text_nearest near = {0};
    CLEANUP(arena_done) struct arena a = {0};

    if (clients_find(name))
        return true;
    for (size_t i = 0; i < clients_count; i++)
        text_nearest_add(&near, name, str_cstr(clients_table[i].name), 2);
    err_set(e, code, "%s\"%.*s\" is not known", where, STR_ARG(name));
    return err_hint(e, "%s%.*s%sknown: %.*s", near.count ? "did you mean " : "",
                    STR_ARG(near.count ? near.found[0] : STR("")),
                    near.count ? "? " : "",
                    STR_ARG(clients_join_names(" ", &a)));
}

static bool check_lists(const struct client_choice *c, struct err *e)
{
    for (size_t i = 0; i < c->count; i++)
        if (!check_name(project_client_name(c->names[i]), ERR_FORMAT,
                        "clients: ", e))
            return false;
    return true;
}

struct names {
    struct str *items;
    size_t count;
};

static struct names new_names(size_t more, struct arena *a)
{
    return (struct names){
        arena_array(a, clients_count + more, sizeof(struct str)), 0};
}

static void add_name(struct names *n, const char *name)
{
    n->items[n->count++] = str_cstr(name);
}

/* --- where a client is ------------------------------------------------------ */

/* Returns whether the workspace has a marker of the client that mapm did not
 * create. */
static bool is_here(const struct layer *l, const struct client *c)
{
    return provision_is_marked(l->provision, c);
}

/* --- the choice --------------------------------------------------------------- */

static bool is_word(struct str_list words, const char *word)
{
    return words.count == 1 && str_is(words.items[0], word);
}

/* --client: for this run. Clients of "all" are added to `found`. */
static bool add_asked(const struct install_session *s, struct names *out,
                      struct names *found, struct err *e)
{
    struct str_list asked = s->request->clients;

    for (size_t i = 0; is_word(asked, "all") && i < clients_count; i++)
        if (clients_table[i].always || is_here(&s->layer, &clients_table[i]) ||
            clients_are_there(&s->layer, &clients_table[i], s->cx->home))
            add_name(found, clients_table[i].name);
    if (is_word(asked, "all") || is_word(asked, "none"))
        return true;
    for (size_t i = 0; i < asked.count; i++) {
        if (!check_name(asked.items[i], ERR_USAGE, "--client: ", e))
            return false;
        out->items[out->count++] = asked.items[i];
    }
    return true;
}

/* Adds the clients that were installed for before. */
static void add_served(const struct install_session *s,
                       const struct client_choice *lists, struct names *out)
{
    const struct provision_options o = {.clients = *lists};
    bool *served = arena_array(&s->cx->arena, clients_count, sizeof *served);

    provision_find_served(s->layer.provision, &o, served);
    for (size_t i = 0; i < clients_count; i++)
        if (served[i])
            add_name(out, clients_table[i].name);
}

/* Returns whether to ask about clients: in the first install of a workspace or
 * of the user's library, unless clients are configured. */
static bool is_first(const struct install_session *s)
{
    return s->request->command == INSTALL_INSTALL && !s->locked &&
           !s->request->dry_run && s->request->clients.count == 0 &&
           !context_is_ci() && s->layers.whole.lock.count == 0 &&
           s->layers.whole.local_lock.count == 0;
}

/* Returns whether to ask at user level, where the default is all clients on
 * this machine. */
static bool asks_user(const struct install_session *s)
{
    return s->layer.is_global && s->request->may_ask_clients && is_first(s) &&
           !clients_are_decided(&s->layer);
}

bool session_choose_clients(struct install_session *s,
                            struct client_choice *out, struct err *e)
{
    struct client_choice lists = asks_user(s)
                                     ? clients_used_so_far(&s->layer, s->cx)
                                     : clients_used(&s->layer, s->cx);
    size_t named = lists.count - lists.found;
    struct names n = new_names(2 * clients_count + lists.count +
                                   s->request->clients.count + s->more.count,
                               &s->cx->arena);
    struct names found = new_names(clients_count + lists.found, &s->cx->arena);

    *out = lists;
    if (!check_lists(&lists, e) || !add_asked(s, &n, &found, e))
        return false;
    out->is_for_run = s->request->clients.count > 0;
    for (size_t i = 0; !clients_are_decided(&s->layer) && i < s->more.count;
         i++)
        n.items[n.count++] = s->more.items[i];
    if (out->is_for_run)
        add_served(s, &lists, &found);
    for (size_t i = 0; !out->is_for_run && i < lists.count; i++)
        if (i < named)
            n.items[n.count++] = lists.names[i];
        else
            found.items[found.count++] = lists.names[i];
    for (size_t i = 0; i < found.count; i++)
        n.items[n.count++] = found.items[i];
    out->names = n.items;
    out->count = n.count;
    out->found = found.count;
    return true;
}

/* --- what each of them sees --------------------------------------------------- */

struct counts {
    size_t skills, agents, servers;
};

/* What the clients are provisioned with: files of a workspace, or of the user. */
struct sight {
    struct install_client *items;
    const struct layer *layer;
    const struct client_choice *choice;
    struct str *servers; /* per client its file for servers; p NULL: none */
    struct arena *a;
};

static bool reads(const struct sight *v, size_t at, const char *folder)
{
    const struct client_budget *b = &v->items[at].client->budget;
    const char *const *folders = v->layer->is_global ? b->home : b->workspace;

    for (size_t i = 0; i < CLIENT_MAX_FOLDERS && folders[i]; i++)
        if (str_is(str_cstr(folder), folders[i]))
            return true;
    return false;
}

/* Returns whether the client sees the skills, in its own folder or in one of
 * another client that it reads. */
static bool sees_skills(const struct sight *v, size_t at)
{
    if (reads(v, at, PROVISION_SKILLS))
        return true;
    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = v->items[i].client;
        const char *skills = v->layer->is_global ? c->skills_home : c->skills;

        if (v->items[i].is_used && skills && reads(v, at, skills))
            return true;
    }
    return false;
}

/* Returns whether sub-agents and servers are written for the client: at user
 * level one that was not chosen gets only links to skills. */
static bool gets_files(const struct sight *v, size_t at)
{
    return v->items[at].is_used &&
           (!v->layer->is_global ||
            clients_selection(v->choice, v->items[at].client) == CLIENT_YES);
}

static const char *agents_of(const struct sight *v, size_t at)
{
    const struct client *c = v->items[at].client;

    return v->layer->is_global ? c->agents_home : c->agents;
}

static bool sees_agents(const struct sight *v, size_t at)
{
    const char *agents = agents_of(v, at);

    for (size_t i = 0; agents && i < clients_count; i++)
        if (gets_files(v, i) && agents_of(v, i) &&
            str_is(str_cstr(agents), agents_of(v, i)))
            return true;
    return false;
}

static bool sees_servers(const struct sight *v, size_t at)
{
    struct str file = v->servers[at];

    for (size_t i = 0; file.p && i < clients_count; i++)
        if (gets_files(v, i) && str_eq(file, v->servers[i]))
            return true;
    return false;
}

static struct str no_agents_because(const struct sight *v, size_t at)
{
    const struct client *c = v->items[at].client;

    if (agents_of(v, at))
        return arena_printf(v->a, "agents only with --client %s", c->name);
    return v->layer->is_global && c->agents ? STR("agents only in a workspace")
                                            : STR("no agents");
}

static struct str no_servers_because(const struct sight *v, size_t at)
{
    const struct client *c = v->items[at].client;
    bool is_global = v->layer->is_global;
    const struct client_mcp *m = is_global ? &c->mcp_user : &c->mcp;

    if (m->unverified || (is_global && !gets_files(v, at)))
        return arena_printf(v->a, "servers only with --client %s", c->name);
    if (m->others[0])
        return arena_printf(v->a, "servers only in %s%s, which is not there",
                            is_global ? "~/" : "", m->others[0]);
    return !is_global && (c->mcp_user.path || c->mcp_user.others[0])
               ? STR("servers only with mapm install -g")
               : STR("no servers");
}

#define TRUST_MAX_BYTES (1024 * 1024)

/* Returns whether the client's file names the folder as trusted. */
static bool is_trusted(struct context *cx, const struct client *c,
                       struct str folder)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct str path, text;

    return c->trust_file &&
           clients_home_path(c, c->trust_file, cx->home, &a, &path, &ignored) &&
           fs_read_user_file(str_dup0(path, &a), TRUST_MAX_BYTES, &a, &text,
                             &ignored) &&
           str_find(text, arena_printf(&a, "\"%.*s\"", STR_ARG(folder))) !=
               SIZE_MAX;
}

/* Reports clients that read the files only in folders that the user has
 * trusted. */
static void check_trust(struct context *cx, struct str folder,
                        struct install_client *item)
{
    unsigned trust = item->client->trust;
    bool skills = (trust & CLIENT_TRUST_SKILLS) && item->skills;
    bool servers =
        (trust & (CLIENT_TRUST_SERVERS | CLIENT_TRUST_SWITCH)) && item->servers;
    struct str why;

    if ((!skills && !servers) || is_trusted(cx, item->client, folder))
        return;
    item->is_untrusted = true;
    why = trust & CLIENT_TRUST_SWITCH
              ? STR("servers after they are switched on in it")
          : skills && servers
              ? STR("skills and servers after \"trust this folder\"")
          : skills ? STR("skills after \"trust this folder\"")
                   : STR("servers after \"trust this folder\"");
    item->missing = arena_join(item->missing, ", ", why, &cx->arena);
    item->skills = skills ? 0 : item->skills;
    item->servers = servers ? 0 : item->servers;
}

static void check_client(const struct sight *v, size_t at,
                         const struct counts *all)
{
    struct install_client *item = &v->items[at];

    item->skills = sees_skills(v, at) ? all->skills : 0;
    item->agents = sees_agents(v, at) ? all->agents : 0;
    item->servers = sees_servers(v, at) ? all->servers : 0;
    item->has_servers = item->servers > 0;
    item->missing = STR("");
    if (!item->is_used)
        return;
    if (all->skills && !item->skills)
        item->missing = STR("no skills");
    if (all->agents && !item->agents)
        item->missing =
            arena_join(item->missing, ", ", no_agents_because(v, at), v->a);
    if (all->servers && !item->servers)
        item->missing =
            arena_join(item->missing, ", ", no_servers_because(v, at), v->a);
}

static bool *find_on_machine(struct context *cx, const struct layer *l)
{
    bool *found = arena_array(&cx->arena, clients_count, sizeof *found);

    for (size_t i = 0; i < clients_count; i++)
        found[i] = clients_are_there(l, &clients_table[i], cx->home);
    return found;
}

static bool lists_clients(const struct install_session *s)
{
    return !s->layer.is_global || asks_user(s);
}

/* Finds the clients in PATH and the home, for the first install and JSON
 * output. */
void session_find_on_machine(void *session)
{
    struct install_session *s = session;

    if (!s->on_machine && lists_clients(s) &&
        (s->request->looks_for_clients || s->layer.is_global || is_first(s)))
        s->on_machine = find_on_machine(s->cx, &s->layer);
}

static struct install_client *list(struct context *cx, struct layer *l,
                                   const struct provision_options *o,
                                   bool looks, const bool *on_machine,
                                   const struct counts *all)
{
    struct install_client *items =
        arena_array(&cx->arena, clients_count, sizeof *items);
    const struct sight v = {
        items, l, &o->clients,
        arena_array(&cx->arena, clients_count, sizeof(struct str)), &cx->arena};

    for (size_t i = 0; i < clients_count; i++) {
        items[i] = (struct install_client){
            .client = &clients_table[i],
            .is_here = looks && is_here(l, &clients_table[i]),
            .is_on_machine = on_machine && on_machine[i],
            .is_used = provision_uses(l->provision, o, &clients_table[i])};
        v.servers[i] = provision_mcp_file(l->provision, o, &clients_table[i]);
    }
    for (size_t i = 0; i < clients_count; i++) {
        check_client(&v, i, all);
        if (items[i].is_used && !l->is_global)
            check_trust(cx, l->path, &items[i]);
    }
    return items;
}

bool install_list_clients(struct context *cx, struct install_clients *out,
                          struct err *e)
{
    struct provision_options o = {0};
    const struct lock_entry **entries;
    struct install_client *items = NULL;
    struct counts all = {0};
    struct layer l;
    size_t count;
    bool ok;

    if (!layer_open(cx, LAYER_READ, &l, e))
        return false;
    o.clients = clients_given(&l, cx);
    ok = check_lists(&o.clients, e);
    entries = layer_entries(&l, &cx->arena, &count);
    for (size_t i = 0; i < count; i++) {
        all.skills += entries[i]->kind == DOC_SKILL &&
                      !layer_is_searched(&l, DOC_SKILL, entries[i]->name);
        all.agents += entries[i]->kind == DOC_AGENT;
        all.servers += entries[i]->kind == DOC_MCP;
    }
    all.servers += l.project.server;
    if (ok)
        items = list(cx, &l, &o, true, find_on_machine(cx, &l), &all);
    *out = (struct install_clients){.workspace = l.path,
                                    .items = items,
                                    .is_decided = o.clients.is_decided};
    layer_close(&l);
    return ok;
}

/* --- the question ------------------------------------------------------------ */

/* Counts the packages of the current layer. */
static void count_packages(const struct install_session *s, struct counts *all)
{
    *all = (struct counts){.servers = s->with_server};
    for (size_t i = 0; i < s->resolved.count; i++) {
        enum doc_kind kind = s->packages[i].package->kind;

        all->skills += kind == DOC_SKILL && !s->packages[i].is_searched;
        all->agents += kind == DOC_AGENT;
        all->servers += kind == DOC_MCP;
    }
}

struct install_client install_plan_client(const struct install_plan *p,
                                          size_t client)
{
    struct install_client all = {.client = &clients_table[client]};

    for (size_t i = 0; i < p->view_count; i++) {
        const struct install_client *c = &p->views[i].items[client];

        all.is_used |= c->is_used;
        all.is_here |= c->is_here;
        all.has_servers |= c->is_used && c->has_servers;
    }
    return all;
}

/* Lists the clients of the current layer. `adds` gets, per client, whether the
 * answer to the question may add it there. */
static bool view_layer(struct install_session *s,
                       struct install_client_view *out, bool *adds,
                       struct err *e)
{
    struct provision_options o;
    struct counts all;
    bool may_add;

    if (!session_provision_options(s, &o, e))
        return false;
    count_packages(s, &all);
    may_add = s->layer.is_global || (is_first(s) && !o.clients.is_decided);
    out->member = session_member(s);
    out->has_packages = all.skills + all.agents + all.servers > 0;
    out->items =
        list(s->cx, &s->layer, &o, may_add || s->request->looks_for_clients,
             s->on_machine, &all);
    for (size_t i = 0; may_add && i < clients_count; i++)
        adds[i] |=
            out->items[i].is_on_machine &&
            clients_selection(&o.clients, &clients_table[i]) == CLIENT_UNSET;
    return true;
}

static bool view_layers(struct install_session *s, bool *adds, struct err *e)
{
    struct install_plan *p = &s->plan;
    struct install_client_view *views =
        arena_array(&s->cx->arena, s->part_count, sizeof *views);

    p->views = views;
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (s->is_chosen && !view_layer(s, &views[p->view_count++], adds, e))
            return false;
    }
    session_go_home(s);
    return true;
}

bool session_list_clients(struct install_session *s, struct err *e)
{
    struct install_plan *p = &s->plan;
    struct names used, others;
    bool *adds;

    if (!lists_clients(s) ||
        (s->is_in_place && !s->cx->is_verbose && !s->request->clients.count))
        return true;
    adds = arena_array(&s->cx->arena, clients_count, sizeof *adds);
    session_find_on_machine(s);
    if (!view_layers(s, adds, e))
        return false;
    used = new_names(0, &s->cx->arena);
    others = new_names(0, &s->cx->arena);
    for (size_t i = 0; i < clients_count; i++)
        if (install_plan_client(p, i).is_used)
            add_name(&used, clients_table[i].name);
        else if (adds[i])
            add_name(&others, clients_table[i].name);
    p->view_count = s->layer.is_global ? 0 : p->view_count;
    p->used = (struct str_list){used.items, used.count};
    p->others = (struct str_list){others.items, others.count};
    p->asks_clients = p->others.count && s->request->may_ask_clients;
    return true;
}

struct str session_ask_about_clients(const struct install_session *s)
{
    struct arena *a = &s->cx->arena;

    return arena_printf(a, "for %.*s (yes), or for %.*s, too (all)",
                        STR_ARG(str_list_join(s->plan.used, ", ", a)),
                        STR_ARG(str_list_join(s->plan.others, ", ", a)));
}

/* --- files ------------------------------------------------------------------- */

struct list_change {
    struct str_list add, remove;
    const struct origin_rules *rules; /* used for the rest of the file */
    struct names changed;
};

static bool change_list(struct list_change *c, enum project_role role,
                        const char *file, struct str text, struct arena *a,
                        struct str *out, struct err *e)
{
    struct project p;
    struct names n;

    if (!project_parse(text, role, file, c->rules, a, &p, e))
        return false;
    n = new_names(p.client_count + c->add.count, a);
    c->changed = new_names(p.client_count + c->add.count, a);
    for (size_t i = 0; i < p.client_count; i++)
        if (!str_in(c->remove.items, c->remove.count, p.clients[i]))
            n.items[n.count++] = p.clients[i];
        else
            c->changed.items[c->changed.count++] = p.clients[i];
    for (size_t i = 0; i < c->add.count; i++)
        if (!str_in(n.items, n.count, c->add.items[i])) {
            n.items[n.count++] = c->add.items[i];
            c->changed.items[c->changed.count++] = c->add.items[i];
        }
    if (c->changed.count == 0) {
        *out = text;
        return true;
    }
    return project_set_clients(text, (struct str_list){n.items, n.count}, a,
                               out, e);
}

static bool change_config(void *ctx, struct str text, struct arena *a,
                          struct str *out, struct err *e)
{
    return change_list(ctx, PROJECT_USER, "config.yaml", text, a, out, e);
}

/* Reads mapm.yaml again, because an install may have changed it. */
static bool change_yaml(struct context *cx, const struct layer *l,
                        struct list_change *c, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct arena *a = &cx->arena;
    struct str text;

    if (c->add.count + c->remove.count == 0)
        return true;
    if (!fs_open_dir(str_dup0(l->path, a), &fd, e) ||
        !fs_read_optional_at(fd, "mapm.yaml", PROJECT_MAX_BYTES, a, &text, e) ||
        !change_list(c, PROJECT_WORKSPACE, "mapm.yaml", text, a, &text, e))
        return err_wrap(e, "cannot change mapm.yaml");
    return c->changed.count == 0 ||
           fs_replace_at(fd, "mapm.yaml", 0644, text, e);
}

static bool write_lists(struct context *cx, const struct layer *l,
                        struct list_change *workspace, struct list_change *user,
                        struct err *e)
{
    workspace->rules = user->rules = &l->rules;
    return change_yaml(cx, l, workspace, e) &&
           (user->add.count + user->remove.count == 0 ||
            authorize_config_edit(cx, change_config, user, e));
}

bool session_remember_clients(struct install_session *s, struct err *e)
{
    struct names here = new_names(0, &s->cx->arena);
    struct names rest = new_names(0, &s->cx->arena);
    struct list_change workspace = {0}, user = {0};

    if (!s->is_answered)
        return true;
    for (size_t i = 0; i < clients_count; i++) {
        const struct install_client c = install_plan_client(&s->plan, i);

        if (c.is_used && !c.is_here)
            add_name(&rest, clients_table[i].name);
        else if (c.is_used && is_here(&s->layer, &clients_table[i]))
            add_name(&here, clients_table[i].name);
    }
    for (size_t i = 0; s->layer.is_global && i < s->plan.used.count; i++)
        rest.items[rest.count++] = s->plan.used.items[i];
    workspace.add = (struct str_list){here.items, here.count};
    user.add = (struct str_list){rest.items, rest.count};
    return write_lists(s->cx, &s->layer, &workspace, &user, e);
}

/* --- mapm client ------------------------------------------------------------- */

static struct str negated(struct str name, struct arena *a)
{
    return arena_printf(a, "-%.*s", STR_ARG(name));
}

/* Plans in which list each name is added; its opposite is removed from both. */
static bool plan_edit(struct context *cx, const struct layer *l,
                      struct str_list names, bool add,
                      enum install_clients_file file,
                      struct list_change *workspace, struct list_change *user,
                      struct err *e)
{
    struct names in_yaml = new_names(names.count, &cx->arena);
    struct names in_config = new_names(names.count, &cx->arena);
    struct names gone = new_names(names.count, &cx->arena);

    for (size_t i = 0; i < names.count; i++) {
        struct str name = names.items[i], not = negated(name, &cx->arena);
        const struct client *c = clients_find(name);
        bool marked, is_usual;

        if (!check_name(name, ERR_USAGE, "", e))
            return false;
        marked = is_here(l, c);
        is_usual = c->always || marked;
        gone.items[gone.count++] = add ? not : name;
        if (!add && !is_usual)
            continue;
        if (file == CLIENTS_USER ||
            (file == CLIENTS_BY_MARKER && add && !marked))
            in_config.items[in_config.count++] = add ? name : not ;
        else
            in_yaml.items[in_yaml.count++] = add ? name : not ;
    }
    workspace->add = (struct str_list){in_yaml.items, in_yaml.count};
    user->add = (struct str_list){in_config.items, in_config.count};
    if (file != CLIENTS_USER)
        workspace->remove = (struct str_list){gone.items, gone.count};
    if (file != CLIENTS_WORKSPACE)
        user->remove = (struct str_list){gone.items, gone.count};
    return true;
}

bool install_edit_clients(struct context *cx, struct str_list names, bool add,
                          enum install_clients_file file,
                          struct install_clients_edit *out, struct err *e)
{
    struct list_change workspace = {0}, user = {0};
    struct layer l;
    bool ok;

    if (!layer_open(cx, LAYER_WRITE, &l, e))
        return false;
    ok = plan_edit(cx, &l, names, add, file, &workspace, &user, e) &&
         write_lists(cx, &l, &workspace, &user, e);
    layer_close(&l);
    out->workspace =
        (struct str_list){workspace.changed.items, workspace.changed.count};
    out->user = (struct str_list){user.changed.items, user.changed.count};
    return ok;
}

static struct str count_of(size_t count, const char *what, struct arena *a)
{
    return count ? arena_printf(a, " %zu %s%s", count, what,
                                count == 1 ? "" : "s")
                 : STR("");
}

struct str install_client_sight(const struct install_client *c, struct arena *a)
{
    struct str skills = count_of(c->skills, "skill", a);
    struct str agents = count_of(c->agents, "agent", a);
    struct str servers = count_of(c->servers, "server", a);
    bool any = skills.n + agents.n + servers.n > 0;

    return arena_printf(a, "%.*s%.*s%.*s%s%.*s",
                        STR_ARG(any ? skills : STR(" nothing")),
                        STR_ARG(agents), STR_ARG(servers),
                        c->missing.n ? ", " : "", STR_ARG(c->missing));
}
