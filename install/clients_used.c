#include "clients_used.h"

#include "base/fs.h"
#include "base/proc.h"
#include "mapm/clients.h"

#include <unistd.h>

static bool is_ours(void *ctx, struct str path)
{
    return provision_made_folder(ctx, path);
}

bool clients_are_there(const struct layer *l, const struct client *c,
                       struct str home)
{
    return clients_is_verified(c) &&
           clients_is_on_machine(c, home, l->scope->is_user ? is_ours : NULL,
                                 l->provision);
}

/* A client that config.yaml only excludes is not a decision. */
bool clients_are_decided(const struct layer *l)
{
    bool any = l->project.has_clients;

    for (size_t i = 0; l->scope->is_user && i < l->user.client_count; i++)
        any |= !str_starts(l->user.clients[i], STR("-"));
    return any || (!l->scope->is_user && l->user.has_clients);
}

static struct client_choice find_used(const struct layer *l, struct context *cx,
                                      bool with_machine)
{
    struct provision_options o = {.clients = layer_clients(l, &cx->arena)};
    const struct client_choice said = o.clients;
    struct str *names;
    bool *served;

    if (clients_are_decided(l) || (l->scope->is_user && said.is_for_run))
        return said;
    served = arena_array(&cx->arena, clients_count, sizeof *served);
    names = arena_array(&cx->arena, said.count + clients_count, sizeof *names);
    for (size_t i = 0; i < said.count; i++)
        names[i] = said.names[i];
    o.clients.names = names;
    with_machine &= l->scope->is_user;
    for (size_t i = 0; with_machine && i < clients_count; i++)
        if (clients_selection(&said, &clients_table[i]) == CLIENT_UNSET &&
            clients_are_there(l, &clients_table[i], cx->home))
            names[o.clients.count++] = str_cstr(clients_table[i].name);
    if (l->provision)
        provision_find_served(l->provision, &o, served);
    for (size_t i = 0; i < clients_count; i++)
        if (served[i] &&
            clients_selection(&o.clients, &clients_table[i]) == CLIENT_UNSET &&
            !provision_uses(l->provision, &o, &clients_table[i]))
            names[o.clients.count++] = str_cstr(clients_table[i].name);
    o.clients.found = o.clients.count - said.count;
    return o.clients;
}

struct client_choice clients_used(const struct layer *l, struct context *cx)
{
    return find_used(l, cx, true);
}

struct client_choice clients_used_so_far(const struct layer *l,
                                         struct context *cx)
{
    return find_used(l, cx, false);
}

struct client_choice clients_given(const struct layer *l, struct context *cx)
{
    struct client_choice used = clients_used(l, cx);
    struct str *names =
        arena_array(&cx->arena, used.count + clients_count, sizeof *names);

    size_t count = 0;

    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &clients_table[i];

        if (c->always && !l->scope->is_user &&
            clients_selection(&used, c) == CLIENT_UNSET && l->provision &&
            !provision_has_given(l->provision, c))
            names[count++] = arena_printf(&cx->arena, "-%s", c->name);
    }
    for (size_t i = 0; i < used.count; i++)
        names[count++] = used.names[i];
    used.names = names;
    used.count = count;
    return used;
}

struct str clients_program(const struct layer *l, struct arena *a)
{
    struct str folder, own = STR(""), found;
    struct err ignored = {0};

    if (!l->scope->is_user)
        return STR("");
    if (proc_self_dir(a, &folder, &ignored))
        own = fs_join(folder, STR("mapm"), a);
    err_clear(&ignored);
    if (!proc_find_program("mapm", NULL, a, &found, &ignored))
        return own;
    /* use the link, which package managers update, not its target */
    if (own.n && access(own.p, X_OK) == 0) {
        struct str real;

        return fs_real_path(found.p, a, &real, &ignored) && str_eq(real, own)
                   ? found
                   : own;
    }
    return found;
}

struct str clients_join(const struct client_choice *c, struct arena *a)
{
    struct str names = STR("");

    for (size_t i = 0; i < clients_count; i++)
        if (clients_selection(c, &clients_table[i]) == CLIENT_YES)
            names = arena_join(names, ", ", str_cstr(clients_table[i].name), a);
    return names;
}
