#include "installed.h"

#include "base/path.h"
#include "mapm/patched.h"

#include "clients_used.h"
#include "self_server.h"

void installed_fill(const struct layer *l, const struct lock_entry *entry,
                    struct provision_item *out)
{
    struct str place =
        entry->kind == DOC_MCP ? entry->place : path_last(entry->place);

    *out = (struct provision_item){
        .kind = entry->kind,
        .fqn = entry->name,
        .place = place,
        .rename = lock_is_renamed(entry),
        .is_searched = layer_is_searched(l, entry->kind, entry->name),
    };
}

bool installed_find_files(struct store *store, const struct lock_entry *entry,
                          struct arena *a, struct provision_item *out)
{
    struct package_file *files;
    struct err ignored = {0};

    if (!patched_installed(store, entry->digest, entry->patch, &out->digest,
                           &ignored) ||
        !store_read_listing(store, &out->digest, a, &files, &out->file_count,
                            &ignored))
        return false;
    out->files = files;
    return true;
}

static bool place_object(void *ctx, const struct hash *h, int dirfd,
                         const char *path, bool executable, struct stat *st,
                         struct err *e)
{
    return store_place(ctx, h, STORE_LINK_AUTO, dirfd, path,
                       executable ? 0755 : 0644, st, e);
}

static bool read_object(void *ctx, const struct hash *h, size_t max_bytes,
                        struct arena *a, struct str *out, struct err *e)
{
    return self_server_read(h, a, out) ||
           store_read(ctx, h, max_bytes, a, out, e);
}

struct provision_objects installed_objects(struct store *store)
{
    return (struct provision_objects){place_object, read_object, store};
}

struct provision_options installed_options(struct context *cx,
                                           const struct layer *l,
                                           struct store *store)
{
    return (struct provision_options){
        .shared_dir = store_shared_dir(store),
        .program = clients_program(l, &cx->arena),
        .start_servers = layer_starts_servers(l),
        .clients = clients_given(l, cx),
        .objects = installed_objects(store),
    };
}
