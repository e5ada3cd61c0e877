#include "mapm/locked_server.h"

#include "base/env.h"
#include "base/fs.h"
#include "mapm/layer.h"
#include "mapm/lock.h"
#include "mapm/store.h"

#include "workspace_folder.h"

#define DIGEST_PREFIX_CHARS 7 /* length of "sha256:" */

/* Returns the folder as an absolute path without links, like the working
 * folder, since trust is granted to a path. */
static bool find_from_variable(struct context *cx, struct str *out,
                               struct err *e)
{
    struct str named = env_folder("CLAUDE_PROJECT_DIR");
    struct str folder;
    struct err ignored = {0};

    return named.n && fs_real_path(named.p, &cx->arena, &folder, &ignored) &&
           (layer_find_workspace(cx, folder, out, e) || e->code == ERR_REFUSED);
}

/* Finds the lock of the user's library for mapm start -g. */
static bool find_library(struct context *cx, struct str *out, struct err *e)
{
    struct str home;

    if (!store_find_home(&cx->arena, &home, e))
        return false;
    *out = fs_join(home, STR("global"), &cx->arena);
    return true;
}

static bool find_workspace(struct context *cx, struct str *out, struct err *e)
{
    if (cx->use_global)
        return find_library(cx, out, e);
    if (find_from_variable(cx, out, e))
        return e->code == ERR_NONE;
    err_clear(e);
    return layer_find_workspace(cx, cx->cwd, out, e);
}

#define KNOWN_MAX_BYTES 200

/* Finds the key; appends other keys to `known`, as far as they fit. */
static const struct lock_entry *find_key(const struct lock *lock,
                                         struct str member, struct str key,
                                         struct buf *known)
{
    for (size_t i = 0; i < lock->count; i++) {
        const struct lock_entry *entry = &lock->entries[i];

        if (entry->kind != DOC_MCP || !lock_is_of(entry, member))
            continue;
        if (str_eq(entry->place, key))
            return entry;
        if (known->n + entry->place.n + 2 < KNOWN_MAX_BYTES)
            buf_printf(known, "%s%.*s", known->n ? ", " : "",
                       STR_ARG(entry->place));
    }
    return NULL;
}

static bool fail_unknown(const struct buf *known, struct str root,
                         struct str key, struct err *e)
{
    err_set(e, ERR_NOT_FOUND, "mapm.lock in %.*s has no MCP server \"%.*s\"",
            STR_ARG(root), STR_ARG(key));
    if (known->n)
        return err_hint(e, "it has %.*s", STR_ARG(buf_str(known)));
    return err_hint(e, "run mapm install once");
}

/* `*found` stays NULL if the lock has no such key. */
static bool search_folder(const struct folder *f, const char *name,
                          struct str member, struct str key, struct buf *known,
                          const struct lock_entry **found, struct err *e)
{
    struct str text;
    struct lock lock;

    if (*found)
        return true;
    if (!folder_read_lock(f, name, &text, e) ||
        !lock_parse(text, name, &f->cx->arena, &lock, e))
        return false;
    *found = find_key(&lock, member, key, known);
    return true;
}

bool locked_server_find(struct context *cx, struct str key,
                        struct locked_server *out, struct err *e)
{
    const struct lock_entry *entry = NULL;
    struct locked_server s = {.key = key};
    struct folder f = {.cx = cx, .fd = -1}, root = f;
    CLEANUP(buf_done) struct buf known = {0};
    struct str member;
    bool ok;

    buf_init(&known, KNOWN_MAX_BYTES);

    if (!find_workspace(cx, &s.workspace, e) ||
        !layer_find_root(cx, s.workspace, &root.path, &member, e))
        return false;
    f.path = s.workspace;
    ok = fs_open_dir(root.path.p, &root.fd, e) &&
         fs_open_dir(f.path.p, &f.fd, e) &&
         search_folder(&root, "mapm.lock", member, key, &known, &entry, e) &&
         search_folder(&f, "mapm.local.lock", str_make("", 0), key, &known,
                       &entry, e);
    fs_close(&root.fd);
    fs_close(&f.fd);
    if (!ok)
        return false;
    if (!entry)
        return fail_unknown(&known, root.path, key, e);
    s.name = entry->name;
    if (!hash_parse(str_from_index(entry->digest, DIGEST_PREFIX_CHARS),
                    &s.digest))
        return err_set(e, ERR_FORMAT, "mapm.lock:%u: \"%.*s\" is not a digest",
                       entry->line, STR_ARG(entry->digest));
    *out = s;
    return true;
}
