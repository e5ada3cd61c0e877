#include "base/fs.h"
#include "base/map.h"
#include "mapm/limits.h"
#include "mapm/plugin.h"
#include "mapm/plugin_market.h"
#include "mapm/plugin_paths.h"

#define FILE_MODE 0644

struct writing {
    const struct market_listing *all;
    struct arena *a;
    struct map names; /* names of plugins */
};

static void put_path(struct json_writer *w, struct writing *l, struct str path)
{
    json_string(w, arena_printf(l->a, "./%.*s", STR_ARG(path)));
}

static void put_plugin(struct json_writer *w, struct writing *l,
                       const struct market_plugin *o)
{
    json_begin_object(w);
    json_member_string(w, "name", o->name);
    json_key(w, "source");
    put_path(w, l, o->folder);
    if (o->description.n)
        json_member_string(w, "description", o->description);
    if (o->version.n)
        json_member_string(w, "version", o->version);
    json_end_object(w);
}

static void put_skills(struct json_writer *w, struct writing *l,
                       struct str market)
{
    struct str name = arena_printf(l->a, "%.*s-skills", STR_ARG(market));

    if (l->all->skills.count == 0 || map_has(&l->names, name))
        return;
    json_begin_object(w);
    json_member_string(w, "name", name);
    json_member_string(w, "source", STR("./"));
    json_member_string(
        w, "description",
        arena_printf(l->a, "The skills of %.*s.", STR_ARG(market)));
    json_member_bool(w, "strict", false);
    json_member_array(w, "skills");
    for (size_t i = 0; i < l->all->skills.count; i++)
        put_path(w, l, l->all->skills.items[i]);
    json_end_array(w);
    json_end_object(w);
}

/* Keeps entries of plugins in other repositories, which the author
 * maintains. */
static void put_others(struct json_writer *w, const struct writing *l,
                       const struct market *old)
{
    for (size_t i = 0; i < old->count; i++)
        if (old->entries[i].source != MARKET_HERE &&
            !map_has(&l->names, old->entries[i].name))
            json_value(w, old->entries[i].json);
}

/* Keeps name, owner and other members of an existing file. */
static void put_head(struct json_writer *w, const struct json *old,
                     struct str name)
{
    if (!json_get(old, "name"))
        json_member_string(w, "name", name);
    if (!json_get(old, "owner")) {
        json_member_object(w, "owner");
        json_member_string(w, "name", name);
        json_end_object(w);
    }
    for (const struct json *j = old ? old->first : NULL; j; j = j->next) {
        if (str_is(j->key, "plugins"))
            continue;
        json_key_str(w, j->key);
        json_value(w, j);
    }
}

static bool read_old(struct writing *l, int dirfd, const struct json **root,
                     struct market *old, struct err *e)
{
    const struct json_options bounds = {.max_bytes = MARKETPLACE_MAX_BYTES,
                                        .max_depth = PLUGIN_MAX_DEPTH,
                                        .max_nodes = MARKETPLACE_MAX_NODES};
    struct str text;

    *root = NULL;
    *old = (struct market){0};
    if (!fs_exists_at(dirfd, MARKET_FILE))
        return true;
    return fs_read_file_at(dirfd, MARKET_FILE, MARKETPLACE_MAX_BYTES, l->a,
                           &text, e) &&
           market_read(text, STR(MARKET_FILE), l->a, old, e) &&
           json_parse(text, &bounds, l->a, root, NULL, e);
}

bool market_write(const struct market_listing *all, int dirfd,
                  struct str folder, struct arena *a, struct err *e)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct writing l = {.all = all, .a = a};
    struct str name = plugin_scope_of(folder, a);
    const struct json *root;
    struct json_writer w;
    struct market old;

    map_init(&l.names, a);
    for (size_t i = 0; i < all->count; i++)
        if (!all->plugins[i].why.n)
            map_put(&l.names, all->plugins[i].name, &l);
    if (!read_old(&l, dirfd, &root, &old, e))
        return false;
    if (json_text(json_get(root, "name")).n)
        name = json_text(json_get(root, "name"));
    else if (!name.n)
        name = STR("catalog");
    json_open(&w, &out, MARKETPLACE_MAX_BYTES, 2);
    put_head(&w, root, name);
    json_member_array(&w, "plugins");
    for (size_t i = 0; i < all->count; i++)
        if (!all->plugins[i].why.n)
            put_plugin(&w, &l, &all->plugins[i]);
    put_skills(&w, &l, name);
    put_others(&w, &l, &old);
    json_end_array(&w);
    json_end_object(&w);
    buf_char(&out, '\n');
    return buf_check(&out, MARKET_FILE, e) &&
           fs_make_dirs_at(dirfd, MARKET_FOLDER, 0755, e) &&
           fs_replace_at(dirfd, MARKET_FILE, FILE_MODE, buf_str(&out), e);
}
