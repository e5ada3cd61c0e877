#include "base/digest.h"
#include "base/fs.h"
#include "mapm/state.h"

#include "choose_clients.h"
#include "clients_used.h"
#include "self_server.h"

/* Options of a session, and options for provision. */

bool session_is_network(enum err_code code)
{
    return code == ERR_FETCH || code == ERR_HOST || code == ERR_TLS;
}

static bool place_object(void *ctx, const struct hash *h, int dirfd,
                         const char *path, bool executable, struct stat *st,
                         struct err *e)
{
    const struct install_session *s = ctx;

    return store_place(s->store, h, s->request->link, dirfd, path,
                       executable ? 0755 : 0644, st, e);
}

static bool read_object(void *ctx, const struct hash *h, size_t max_bytes,
                        struct arena *a, struct str *out, struct err *e)
{
    const struct install_session *s = ctx;

    return self_server_read(h, a, out) ||
           store_read(s->store, h, max_bytes, a, out, e);
}

struct provision_objects session_objects(struct install_session *s)
{
    return (struct provision_objects){place_object, read_object, s};
}

/* Refuses a folder that depends on an unset variable. */
static bool check_places(const struct install_session *s,
                         const struct client_choice *choice, struct err *e)
{
    const struct client_scope *scope = s->layer.scope;

    for (size_t i = 0; scope->is_user && i < clients_count; i++) {
        const struct client *c = &clients_table[i];

        if (!scope->refused[i] || clients_selection(choice, c) != CLIENT_YES)
            continue;
        err_set(e, ERR_REFUSED, "%s", scope->refused[i]);
        err_hint(e, "set it to an absolute path, or not at all");
        return err_wrap(e, "cannot find the files of %s", c->name);
    }
    return true;
}

/* Maps the folders of the locked packages to their entries, once for all
 * folders that provision asks for. */
static const struct map *locked_places(struct install_session *s)
{
    const struct layer *l = &s->layer;
    struct arena *a = &s->cx->arena;

    if (s->locked_places.arena)
        return &s->locked_places;
    map_init(&s->locked_places, a);
    for (size_t i = 0; i < l->by_name.count; i++) {
        struct lock_entry *entry = l->by_name.entries[i].value;

        if (entry->kind == DOC_SKILL || entry->kind == DOC_AGENT)
            map_put(&s->locked_places, layer_place(l, entry, a), entry);
    }
    return &s->locked_places;
}

/* A patched package is not found: the lock has its digest without the patch. */
static bool is_locked(void *ctx, struct str path, struct package_file *files,
                      size_t count)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct lock_entry *entry = map_find(locked_places(ctx), path);
    struct str text;
    struct hash hash;

    if (!entry)
        return false;
    hash = store_listing_format(files, count, &a, &text);
    return str_eq(entry->digest, digest_format(&hash, &a));
}

static bool list_workspaces(void *ctx, struct arena *a, struct str **folders,
                            size_t *count)
{
    const struct install_session *s = ctx;
    struct err ignored = {0};

    if (!state_list_workspaces(store_state(s->store), a, folders, count,
                               &ignored))
        return false;
    for (size_t i = 0; s->layer.member.n && i < *count; i++)
        (*folders)[i] = fs_join((*folders)[i], s->layer.member, a);
    return true;
}

bool session_provision_options(struct install_session *s,
                               struct provision_options *o, struct err *e)
{
    *o = (struct provision_options){
        .shared_dir = store_shared_dir(s->store),
        .program = clients_program(&s->layer, &s->cx->arena),
        .start_servers = layer_starts_servers(&s->layer),
        .force = s->request->force,
        .keep_edited = s->keep_edited,
        .takes_over = s->request->command == INSTALL_IMPORT,
        .objects = session_objects(s),
        .is_locked = is_locked,
        .locked_ctx = s,
    };
    s->locked_places = (struct map){0};
    if (s->layer.provision)
        provision_find_original(s->layer.provision, list_workspaces, s);
    return session_choose_clients(s, &o->clients, e) &&
           check_places(s, &o->clients, e);
}
