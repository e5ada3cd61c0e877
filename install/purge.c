#include "purge.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/lock.h"
#include "mapm/plugin.h"

#include <sys/stat.h>

/* Returns the data folder of a server, from its document in the store, or
 * "". */
static struct str data_of(struct install_session *s, const struct hash *digest,
                          struct arena *a)
{
    const struct json_options options = {0};
    struct package_file *files;
    struct plugin_server server;
    struct err ignored = {0};
    const struct json *mcp;
    struct str text;
    size_t count;

    if (!store_read_listing(s->store, digest, a, &files, &count, &ignored) ||
        count != 1 ||
        !store_read(s->store, &files[0].hash, MCP_MAX_BYTES, a, &text,
                    &ignored) ||
        !json_parse(text, &options, a, &mcp, NULL, &ignored))
        return STR("");
    plugin_server_read(mcp, &server);
    return server.is_started ? plugin_server_data(&server, s->layer.path, a)
                             : STR("");
}

static void find_kept(struct install_session *s, struct map *kept,
                      struct arena *a)
{
    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct node *n = package_node(&s->packages[i]);

        if (n->package.kind == DOC_MCP && n->is_part)
            map_put(kept, data_of(s, &n->digest, a), s);
    }
}

/* Finds servers of one layer whose data no remaining package uses. */
static void find_gone(struct install_session *s)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct lock_entry **all;
    struct install_plan *plan = &s->plan;
    struct arena *a = &s->cx->arena;
    struct map kept;
    size_t count;

    map_init(&kept, &scratch);
    find_kept(s, &kept, &scratch);
    all = layer_entries(&s->layer, &scratch, &count);
    for (size_t i = 0; i < count; i++) {
        struct hash digest;
        struct str name, path;
        struct stat st;

        if (!all[i]->plugin.n || all[i]->kind != DOC_MCP ||
            !hash_parse(str_from_index(all[i]->digest, 7), &digest))
            continue;
        name = data_of(s, &digest, &scratch);
        if (!name.n || !map_put(&kept, name, s))
            continue;
        path = arena_printf(a, "%.*s/" PLUGIN_DATA_FOLDER "/%.*s",
                            STR_ARG(store_home(s->store)), STR_ARG(name));
        if (lstat(path.p, &st) < 0)
            continue;
        plan->purged = arena_grow(a, plan->purged, plan->purged_count,
                                  &s->purged_capacity, sizeof *plan->purged);
        plan->purged[plan->purged_count++] = path;
    }
}

void purge_find(struct install_session *s)
{
    s->plan.purged_count = 0; /* the plan may be made again */
    for (size_t i = 0; s->request->purge && i < s->part_count; i++) {
        session_go(s, i);
        find_gone(s);
    }
    session_go_home(s);
}

bool purge_apply(struct install_session *s, struct err *e)
{
    CLEANUP_FD int home = -1;

    if (s->plan.purged_count == 0)
        return true;
    if (!fs_open_dir(fs_join(store_home(s->store), STR(PLUGIN_DATA_FOLDER),
                             &s->cx->arena)
                         .p,
                     &home, e))
        return false;
    for (size_t i = 0; i < s->plan.purged_count; i++)
        if (!fs_remove_tree_at(home, path_last(s->plan.purged[i]).p, e))
            return err_wrap(e, "the packages are removed, but not the data of "
                               "a plugin");
    return true;
}
