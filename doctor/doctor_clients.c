#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/install_clients.h"
#include "mapm/open_store.h"

#include "checks.h"

/* Checks the clients [H7]: which are installed, what they see, and what the
 * user has to do first. With --run the clients themselves are executed. */

#define RUN_TIMEOUT_MS 10000
#define RUN_MAX_BYTES  (1024u * 1024)
#define RUN_MAX_ARGV   8

static const char client_group[] = "clients";

/* --- their own word -------------------------------------------------------- */

/* Returns the keys of servers that mapm wrote to the clients' files. */
static struct str_list find_keys(struct doctor *d)
{
    struct arena *a = &d->cx->arena;
    const struct lock_entry **entries;
    struct str_list keys = {0};
    struct str *items;
    size_t count;

    entries = layer_entries(&d->layer, a, &count);
    items = arena_array(a, count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++)
        if (entries[i]->kind == DOC_MCP)
            items[keys.count++] = layer_place(&d->layer, entries[i], a);
    if (d->layer.project.server)
        items[keys.count++] = STR("mapm");
    keys.items = items;
    return keys;
}

static bool run_list(struct doctor *d, const struct client *c,
                     struct proc_result *out, struct err *e)
{
    const char *argv[RUN_MAX_ARGV] = {NULL};
    struct arena *a = &d->cx->arena;
    struct str program;

    if (!proc_find_program(c->programs[0], d->layer.path.p, a, &program, e))
        return false;
    argv[0] = program.p;
    for (size_t i = 0; i < CLIENT_MAX_WORDS && c->list[i]; i++)
        argv[i + 1] = c->list[i];
    return proc_run(&(struct proc_options){.argv = argv,
                                           .dir = str_dup0(d->layer.path, a),
                                           .max_output_bytes = RUN_MAX_BYTES,
                                           .timeout_ms = RUN_TIMEOUT_MS,
                                           .own_session = true,
                                           .one_stream = true,
                                           .end_all = true},
                    a, out, e);
}

static struct str last_line(struct str text, struct arena *a)
{
    struct str end = str_trim(text);
    size_t at = str_find_last(end, '\n');

    return text_shown(at == SIZE_MAX ? end : str_from_index(end, at + 1), a);
}

/* A client may list all servers and exit with an error, for example because
 * one of them does not start. */
static void ask(struct doctor *d, const struct client *c)
{
    struct str name = arena_printf(&d->cx->arena, "%s lists", c->name);
    struct str_list keys = find_keys(d);
    struct str lacks = STR("");
    struct proc_result r;
    struct err e = {0};

    if (!run_list(d, c, &r, &e)) {
        doctor_add_err(d, client_group, name, DOCTOR_WARN, &e);
        return;
    }
    for (size_t i = 0; i < keys.count; i++)
        if (str_find(r.out, keys.items[i]) == SIZE_MAX)
            lacks = arena_join(lacks, ", ", keys.items[i], &d->cx->arena);
    if (lacks.n && r.exit_code)
        doctor_add(d, client_group, name, DOCTOR_WARN,
                   "unknown: exit code %d%s%.*s", r.exit_code,
                   str_trim(r.out).n ? ": " : "",
                   STR_ARG(last_line(r.out, &d->cx->arena)));
    else if (lacks.n)
        doctor_add(d, client_group, name, DOCTOR_WARN, "not %.*s",
                   STR_ARG(lacks));
    else
        doctor_add(d, client_group, name, DOCTOR_OK, "all %zu server%s",
                   keys.count, keys.count == 1 ? "" : "s");
}

/* With --run, other programs read this folder, so the user must trust it. */
static bool may_ask(struct doctor *d)
{
    const struct str name = STR("--run");
    enum trust_state state;
    struct store *store = NULL;
    struct err e = {0};
    bool yes;

    if (!open_store(d->cx, &store, &e)) {
        doctor_add_err(d, client_group, name, DOCTOR_WARN, &e);
        return false;
    }
    yes = layer_is_trusted(&d->layer, d->cx, store, &state, &e);
    close_store(d->cx, store);
    if (yes)
        return true;
    doctor_add(d, client_group, name, DOCTOR_WARN,
               "no client is started in a workspace that is not trusted");
    doctor_hint(d, "mapm trust --workspace");
    return false;
}

/* --- what mapm knows ---------------------------------------------------------- */

static void check_client(struct doctor *d, const struct install_client *item)
{
    const struct client *c = item->client;
    struct str name = str_cstr(c->name);
    struct str sight = install_client_sight(item, &d->cx->arena);
    const char *where = item->is_on_machine ? "" : "not found on this machine;";

    if (!item->is_used) {
        doctor_add(d, client_group, name, DOCTOR_MISSING,
                   "on this machine, not in use here: it sees%.*s",
                   STR_ARG(sight));
        doctor_hint(d, "mapm client add %s", c->name);
        return;
    }
    doctor_add(d, client_group, name, item->missing.n ? DOCTOR_WARN : DOCTOR_OK,
               "%s%s%.*s", where, where[0] ? " it would see" : "sees",
               STR_ARG(sight));
    if (item->is_untrusted)
        doctor_hint(d, "start %s here once, and trust the folder",
                    c->programs[0] ? c->programs[0] : c->name);
}

void doctor_check_clients(struct doctor *d, bool runs)
{
    struct install_clients all;
    struct err e = {0};
    bool asks;

    if (!d->has_layer || !layer_check_there(&d->layer, d->cx, &e))
        return;
    if (!install_list_clients(d->cx, &all, &e)) {
        doctor_add_err(d, client_group, STR("clients"), DOCTOR_BROKEN, &e);
        return;
    }
    for (size_t i = 0; i < clients_count; i++)
        if (all.items[i].is_used || all.items[i].is_on_machine)
            check_client(d, &all.items[i]);
    asks = runs && may_ask(d);
    for (size_t i = 0; asks && i < clients_count; i++)
        if (all.items[i].is_used && all.items[i].is_on_machine &&
            clients_table[i].list[0])
            ask(d, &clients_table[i]);
}
