#include "plugin_scope.h"

#include "base/fs.h"
#include "base/json.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/plugin.h"

#include "ingest.h"
#include "names.h"
#include "proof.h"

static struct str manifest_path(struct str folder, int format, struct arena *a)
{
    return fs_join(folder, str_cstr(plugin_formats[format].manifest), a);
}

/* The origin of a manifest, which is a node like a marketplace; if the folder
 * has none, the node fails without consequences. */
static bool manifest_origin(const struct node *n, struct str folder, int format,
                            struct arena *a, struct origin *out)
{
    struct str path = manifest_path(folder, format, a);
    struct err ignored = {0};
    struct origin o;

    if (n->origin->scheme == ORIGIN_FILE) {
        struct str top =
            str_slice(n->origin->text, 0, n->origin->text.n - n->path.n);

        if (!origin_parse(str_join(top, path, a), NULL, a, &o, &ignored))
            return false;
    } else {
        origin_complete(n->origin, node_slot(n, a), path, a, &o);
    }
    *out = origin_with_part(&o, STR(MANIFEST_PART), a);
    return true;
}

void plugin_scope_request(struct closure *c, const struct node *n,
                          struct str folder, bool *any)
{
    for (int i = PLUGIN_CLAUDE; i < PLUGIN_FORMATS; i++) {
        struct node *manifest;
        struct node_rare *rare;
        struct origin o;

        if (!manifest_origin(n, folder, i, &c->cx->arena, &o) ||
            closure_find(c, o.key))
            continue;
        manifest = closure_add(c, &o, DOC_MARKET);
        rare = node_make_rare(manifest, &c->cx->arena);
        rare->pin = n->package.commit;
        rare->entry = manifest_path(folder, i, &c->cx->arena);
        *any = true;
    }
}

static const struct node *find(const struct closure *c, const struct node *n,
                               struct str folder, int format)
{
    const struct node *manifest;
    struct origin o;

    if (!manifest_origin(n, folder, format, &c->cx->arena, &o))
        return NULL;
    manifest = closure_find(c, o.key);
    return manifest && manifest->is_ready && !manifest->failed ? manifest
                                                               : NULL;
}

/* Returns the name in the manifest that plugin_read() would choose. */
struct str plugin_scope_find(const struct closure *c, const struct node *n,
                             struct str folder)
{
    const struct node *root = find(c, n, folder, PLUGIN_COPILOT);

    if (root && root->is_standard)
        return node_rare(root)->entry;
    for (int i = PLUGIN_CLAUDE; i < PLUGIN_FORMATS; i++) {
        const struct node *manifest = find(c, n, folder, i);

        if (manifest)
            return node_rare(manifest)->entry;
    }
    return STR("");
}

bool plugin_scope_ingest(struct closure *c, struct node *n, struct str text,
                         struct err *e)
{
    const struct json_options options = {.max_bytes =
                                             PLUGIN_MANIFEST_MAX_BYTES};
    struct arena *a = &c->cx->arena;
    const struct json *root;

    /* the end of the ref is unknown, so a missing path may be part of it */
    if (n->origin->scheme != ORIGIN_FILE &&
        !str_eq(n->path, node_rare(n)->entry))
        return err_set(e, ERR_PATH, "there is no %.*s",
                       STR_ARG(node_rare(n)->entry));
    if (!json_parse(text, &options, a, &root, NULL, e))
        return false;
    node_make_rare(n, a)->entry =
        arena_str(a, plugin_scope_of(json_text(json_get(root, "name")), a));
    n->is_standard = plugin_manifest_is_standard(root);
    n->is_ready = true;
    return true;
}

/* --- names of a lock --------------------------------------------------------- */

/* Returns the folders of a locked node that may provide its name: that of its
 * path and of other origins at the same ref. */
static struct str *folders_of(const struct closure *c, const struct node *n,
                              size_t *count)
{
    const struct lock_entry *entry = n->locked;
    struct arena *a = &c->cx->arena;
    struct str *out = arena_array(a, entry->also_count + 1, sizeof *out);
    struct str text = n->origin->text, top;

    *count = 0;
    out[(*count)++] = name_folder(n->path);
    top =
        str_slice(text, 0, text.n - (str_ends(text, n->path) ? n->path.n : 0));
    for (size_t i = 0; i < entry->also_count; i++)
        if (str_starts(entry->also[i], top))
            out[(*count)++] =
                name_folder(str_from_index(entry->also[i], top.n));
    return out;
}

static void request_all(struct closure *c, const struct node *n, bool *any)
{
    size_t count;
    const struct str *folders = folders_of(c, n, &count);

    for (size_t i = 0; i < count; i++)
        if (folders[i].n)
            plugin_scope_request(c, n, folders[i], any);
}

static bool is_name_of(const struct closure *c, const struct node *n,
                       struct str folder)
{
    struct str scope = folder.n ? plugin_scope_find(c, n, folder) : folder;
    struct str name = n->locked->name;

    return scope.n &&
           str_eq(str_slice(name, 0, str_find_char(name, '/')), scope);
}

static void check_name(struct closure *c, struct node *n)
{
    struct err e = {0};
    size_t count;
    const struct str *folders = folders_of(c, n, &count);

    n->checks_scope = false;
    for (size_t i = 0; i < count; i++)
        if (is_name_of(c, n, folders[i]))
            return;
    if (c->options.offline) {
        err_set(&e, ERR_OFFLINE,
                "mapm.lock:%u: only its host knows whether a plugin gives %s "
                "the name %.*s",
                n->locked->line, doc_kind_name(n->locked->kind),
                STR_ARG(n->locked->name));
        err_hint(&e, "run the command once without --offline");
    } else {
        err_set(&e, ERR_DAMAGED,
                "mapm.lock:%u: %s %.*s: neither a folder nor a plugin nor a "
                "root gives it this name; its own is %.*s",
                n->locked->line, doc_kind_name(n->locked->kind),
                STR_ARG(n->locked->name), STR_ARG(n->locked->declared));
        err_hint(&e, "the lock was edited by hand: take it from version "
                     "control again, or remove the entry and run mapm "
                     "install");
    }
    node_fail(c, n, &e);
}

void plugin_scope_check(struct closure *c, bool *again)
{
    size_t count = c->queued;
    bool any = false, is_known = false;

    *again = false;
    for (size_t i = 0; i < count; i++) {
        struct node *n = c->queue[i];

        if (!n->checks_scope || n->failed)
            continue;
        is_known = is_known || proof_knows_lock(c->store, c->layer->lock_text);
        if (is_known)
            n->checks_scope = false;
        else
            request_all(c, n, &any);
    }
    *again = any;
    for (size_t i = 0; !any && i < count; i++)
        if (c->queue[i]->checks_scope && !c->queue[i]->failed)
            check_name(c, c->queue[i]);
}
