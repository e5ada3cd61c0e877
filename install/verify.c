#include "base/fs.h"
#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/install_query.h"
#include "mapm/lock.h"
#include "mapm/open_store.h"
#include "mapm/origin.h"
#include "mapm/patches.h"
#include "mapm/project.h"

#include <fcntl.h>
#include <string.h>

#include "index.h"
#include "ingest.h"
#include "install_session.h"
#include "installed.h"
#include "local.h"
#include "plugins.h"
#include "proof.h"
#include "remote.h"
#include "self_server.h"

struct findings {
    struct arena *a;
    const struct layer *layer;
    bool is_many; /* there are several layers */
    struct install_difference *items;
    size_t count, capacity;
    struct str *digest_only; /* paths of file: packages */
    size_t digest_only_count, digest_only_capacity;
    struct str *own; /* origins of packages of the workspace itself */
    size_t own_count, own_capacity;
    struct str *patched; /* paths of patched packages */
    size_t patched_count, patched_capacity;
};

static void add(struct findings *f, enum install_side side, struct str path,
                const char *how)
{
    f->items =
        arena_grow(f->a, f->items, f->count, &f->capacity, sizeof *f->items);
    /* findings outlive the layer that they were found in */
    f->items[f->count++] =
        (struct install_difference){arena_str(f->a, path), how, side};
}

/* Returns the path relative to the root if there are several layers. */
static struct str in_member(const struct findings *f, struct str path)
{
    return f->is_many && f->layer->member.n
               ? fs_join(f->layer->member, path, f->a)
               : path;
}

/* Returns the path of a package; for a plugin, which has none, its name. */
static struct str place_of(const struct findings *f,
                           const struct lock_entry *entry)
{
    return in_member(f, entry->kind == DOC_PLUGIN
                            ? str_join(STR("plugin "), entry->name, f->a)
                            : layer_place(f->layer, entry, f->a));
}

/* Adds a finding; in a clone that was never installed, the workspace is
 * reported before the store. */
static void add_unstored(struct findings *f, const struct lock_entry *entry)
{
    struct str place = layer_place(f->layer, entry, f->a);
    bool is_folder = entry->kind == DOC_SKILL || entry->kind == DOC_AGENT;

    if (is_folder &&
        !fs_exists_at(AT_FDCWD, fs_join(f->layer->path, place, f->a).p))
        add(f, INSTALL_SIDE_WORKSPACE, place_of(f, entry), "missing");
    else
        add(f, INSTALL_SIDE_STORE, place_of(f, entry), "not in the store");
}

/* Reads the listing and hashes every file in it. */
static bool check_stored(struct store *store, const struct lock_entry *entry,
                         struct findings *f, struct provision_item *item)
{
    struct arena *a = f->a;
    struct package_file *files;
    struct err e = {0};
    bool whole = true;

    if (!hash_parse(str_from_index(entry->digest, 7), &item->digest) ||
        !store_read_listing(store, &item->digest, a, &files, &item->file_count,
                            &e)) {
        add_unstored(f, entry);
        return false;
    }
    item->files = files;
    for (size_t i = 0; i < item->file_count; i++) {
        CLEANUP(arena_done) struct arena scratch = {0};
        struct str content;

        if (store_read(store, &files[i].hash, BYTES_CEILING, &scratch, &content,
                       &e))
            continue;
        whole = false;
        add(f, INSTALL_SIDE_STORE,
            arena_printf(a, "%.*s/%.*s", STR_ARG(place_of(f, entry)),
                         STR_ARG(files[i].path)),
            e.code == ERR_DAMAGED ? "damaged in the store"
                                  : "not in the store");
    }
    return whole;
}

/* Finds the patched content, which the store has since the patch was
 * applied. */
static bool find_patched(struct store *store, const struct lock_entry *entry,
                         struct findings *f, struct provision_item *item)
{
    if (!entry->patch.n)
        return true;
    f->patched = arena_grow(f->a, f->patched, f->patched_count,
                            &f->patched_capacity, sizeof *f->patched);
    f->patched[f->patched_count++] = arena_str(f->a, place_of(f, entry));
    if (installed_find_files(store, entry, f->a, item))
        return true;
    add(f, INSTALL_SIDE_STORE, place_of(f, entry),
        "its patch is not in the store");
    return false;
}

/* Compares the patches in the workspace with the lock. */
static bool check_patches(struct context *cx, const struct layer *l,
                          const struct lock_entry **entries, size_t count,
                          struct findings *f, struct err *e)
{
    struct patches patches;
    struct map locked;

    if (!patches_read(cx, l->path, &patches, e))
        return false;
    map_init(&locked, f->a);
    for (size_t i = 0; i < count; i++) {
        const struct package_patch *p;
        struct str file;

        if (!entries[i]->patch.n)
            continue;
        file = patches_file(entries[i]->kind, entries[i]->name, f->a);
        map_put(&locked, file, f);
        p = patches_find(&patches, file);
        if (!p || !str_eq(p->hash, entries[i]->patch))
            add(f, INSTALL_SIDE_MANIFEST, in_member(f, file),
                p ? "not the patch that is locked" : "missing");
    }
    for (size_t i = 0; i < patches.count; i++)
        if (!map_has(&locked, patches.items[i].file))
            add(f, INSTALL_SIDE_MANIFEST, in_member(f, patches.items[i].file),
                "not in the lock");
    return true;
}

/* Checks the other origins in the lock. */
static void check_also(struct closure *c, const struct lock_entry *entry,
                       struct findings *f)
{
    for (size_t i = 0; i < entry->also_count; i++) {
        struct err ignored = {0};
        struct str commit;
        struct origin o;

        if (origin_parse_part(entry->also[i], &c->layer->rules, f->a, &o,
                              &ignored) &&
            origin_is_remote(&o) &&
            proof_covers(c->layer, c->store, entry, &o, f->a, &commit))
            continue;
        add(f, INSTALL_SIDE_PROOF, place_of(f, entry),
            arena_printf(f->a, "not proved to be the same as %.*s",
                         STR_ARG(entry->also[i]))
                .p);
    }
}

/* Checks the members of the entry besides the digest, and whether it is proved
 * on this machine. */
static bool check_entry(struct closure *c, const struct lock_entry *entry,
                        const struct provision_item *item, bool is_stored,
                        struct findings *f)
{
    struct origin source = *layer_source(c->layer, entry);
    struct node n = {
        .origin =
            entry->kind == DOC_PLUGIN ? layer_origin(c->layer, entry) : &source,
        .source = &source,
        .locked = entry,
        .digest = item->digest,
        .package = {.content = entry->digest, .commit = entry->commit},
        .object = entry->object};
    struct err e = {0};

    if (!proof_applies(c->layer, entry) && !layer_is_local(c->layer, entry)) {
        add(f, INSTALL_SIDE_LOCK, place_of(f, entry),
            "from a file: origin, in mapm.lock");
        return false;
    }
    if (!proof_applies(c->layer, entry)) {
        f->digest_only =
            arena_grow(f->a, f->digest_only, f->digest_only_count,
                       &f->digest_only_capacity, sizeof *f->digest_only);
        f->digest_only[f->digest_only_count++] =
            arena_str(f->a, place_of(f, entry));
        return true;
    }
    check_also(c, entry, f);
    if (!proof_check_commit(c->layer, entry, &e)) {
        add(f, INSTALL_SIDE_LOCK, place_of(f, entry),
            "locked at another commit than its origin names");
        return false;
    }
    if (!proof_find(c->layer, c->store, entry, &source, &n.path)) {
        add(f, INSTALL_SIDE_PROOF, place_of(f, entry), "not proved");
        return false;
    }
    n.ref = entry->tag.n ? entry->tag : proof_ref(&source, n.path);
    if (!is_stored || ingest_check_locked(c, &n, &e))
        return true;
    add(f, INSTALL_SIDE_LOCK, place_of(f, entry),
        str_dup0(str_cstr(err_first(&e)), f->a));
    return false;
}

/* Adds a package of the workspace itself; parts made of a plugin's files are
 * counted with the plugin. */
static void add_own(struct findings *f, const struct lock_entry *entry)
{
    if (entry->plugin.n && entry->kind != DOC_SKILL)
        return;
    f->own = arena_grow(f->a, f->own, f->own_count, &f->own_capacity,
                        sizeof *f->own);
    f->own[f->own_count++] = arena_str(f->a, lock_origin_text(entry));
}

static bool is_agent_of_plugin(const struct layer *l,
                               const struct lock_entry *entry)
{
    return entry->kind == DOC_AGENT && layer_find(l, DOC_PLUGIN, entry->plugin);
}

/* Reads the current content of a sub-agent from a file of its plugin. */
static bool read_derived(struct closure *c, const struct lock_entry *entry,
                         struct node *n, struct err *e)
{
    struct node plugin = {
        .origin = layer_origin(c->layer,
                               layer_find(c->layer, DOC_PLUGIN, entry->plugin)),
        .kinds = DOC_PLUGIN};

    return plugin_read_local(c, &plugin, e) &&
           plugin_derive_digest(c, &plugin, entry->kind,
                                path_last(n->origin->part), &n->digest, e);
}

static bool read_own(struct closure *c, const struct lock_entry *entry,
                     struct node *n, struct arena *a, struct err *e)
{
    if (!(node_is_derived(n) ? read_derived(c, entry, n, e)
                             : local_read(c, n, e)))
        return false;
    return store_find_files(c->store, &n->digest, a, &n->files, &n->file_count);
}

/* Checks a package of the workspace itself: only files rendered from it, and
 * the digest of an MCP server in the lock, are compared. */
static bool check_own(struct closure *c, const struct lock_entry *entry,
                      struct provision_item *item, struct findings *f)
{
    struct node n = {.origin = layer_origin(c->layer, entry),
                     .kinds = (unsigned)entry->kind};
    char hex[HASH_HEX_CHARS + 1];
    struct err e = {0};

    add_own(f, entry);
    /* servers made of a plugin's files are checked by install --locked */
    if (node_is_derived(&n) && !is_agent_of_plugin(c->layer, entry))
        return entry->digest.n && check_stored(c->store, entry, f, item);
    if (!read_own(c, entry, &n, f->a, &e)) {
        struct str why =
            e.code ? str_cstr(err_first(&e)) : STR("not a package");

        if (str_starts(why, entry->origin)) /* named already */
            why = str_from_index(why, entry->origin.n + 2);
        add(f, INSTALL_SIDE_WORKSPACE, entry->origin, str_dup0(why, f->a));
        return false;
    }
    item->digest = n.digest;
    item->files = n.files;
    item->file_count = n.file_count;
    if (node_is_derived(&n))
        return true;
    if (entry->kind != DOC_MCP) {
        item->own = layer_own_path(c->layer, n.origin);
        return true;
    }
    hash_format(&n.digest, hex);
    if (str_eq(str_from_index(entry->digest, 7), str_cstr(hex)))
        return true;
    add(f, INSTALL_SIDE_WORKSPACE, entry->origin,
        "changed since it was locked");
    return false;
}

/* Reports roots of the manifest that are missing in the lock. */
static void check_roots(const struct layer *l, struct findings *f)
{
    size_t count;
    struct root *roots = layer_roots(l, f->a, &count);

    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry =
            map_find(&l->by_origin, roots[i].origin.key);

        if (!entry || entry->kind != roots[i].kind)
            add(f, INSTALL_SIDE_MANIFEST, roots[i].origin.text,
                "not in the lock");
    }
}

static enum install_side side_of(const struct provision_difference *d)
{
    if (d->is_left)
        return INSTALL_SIDE_MANIFEST;
    return strcmp(d->how, "extra") == 0 ? INSTALL_SIDE_EXTRA
                                        : INSTALL_SIDE_WORKSPACE;
}

/* Adds the differences; packages that cannot be compared are still in the
 * lock. */
static void add_differences(struct findings *f,
                            const struct provision_difference *differences,
                            size_t count, const struct lock_entry **entries,
                            size_t entry_count)
{
    struct map places;

    map_init(&places, f->a);
    for (size_t i = 0; i < entry_count; i++)
        map_put(&places, entries[i]->place, f);
    for (size_t i = 0; i < count; i++)
        if (!differences[i].is_left ||
            !map_has(&places, layer_listed_place(differences[i].path, f->a)))
            add(f, side_of(&differences[i]), in_member(f, differences[i].path),
                differences[i].how);
}

static void add_entry(void *ctx, const struct lock_entry *entry,
                      const char *how)
{
    struct findings *f = ctx;

    add(f, INSTALL_SIDE_REMOTE, place_of(f, entry), how);
}

/* Checks an entry against the store and its own documents. Returns whether
 * `item` is to be compared with the workspace. */
static bool check_item(struct closure *closure, const struct lock_entry *entry,
                       struct findings *f, struct provision_item *item)
{
    bool is_stored, fits;

    installed_fill(f->layer, entry, item);
    if (layer_is_own(f->layer, entry) && entry->kind != DOC_PLUGIN)
        return check_own(closure, entry, item, f);
    if (layer_is_own(f->layer, entry)) {
        add_own(f, entry);
        return false;
    }
    is_stored = check_stored(closure->store, entry, f, item);
    fits = check_entry(closure, entry, item, is_stored, f);
    if (entry->kind == DOC_PLUGIN) /* its parts are installed instead */
        return false;
    is_stored = is_stored && find_patched(closure->store, entry, f, item);
    /* an invalid server file says nothing about the configuration */
    return is_stored && (fits || entry->kind != DOC_MCP);
}

static bool compare(struct context *cx, struct layer *l, struct store *store,
                    struct findings *f, struct err *e)
{
    struct arena *a = &cx->arena;
    struct provision_options o = installed_options(cx, l, store);
    struct closure closure;
    const struct lock_entry **entries;
    struct provision_difference *differences;
    struct provision_item *items;
    size_t count, item_count = 0, difference_count;

    f->layer = l;
    closure_init(&closure, cx, l, store, &(struct closure_options){0});
    check_roots(l, f);
    entries = layer_entries(l, a, &count);
    items = arena_array(a, count + 2, sizeof *items);
    for (size_t i = 0; i < count; i++)
        item_count += check_item(&closure, entries[i], f, &items[item_count]);
    if (l->project.server)
        self_server_fill(l->is_global, &items[item_count++], a);
    if (!check_patches(cx, l, entries, count, f, e) ||
        !provision_verify(l->provision, &o, items, item_count, a, &differences,
                          &difference_count, e))
        return false;
    add_differences(f, differences, difference_count, entries, count);
    return true;
}

static bool has_side(const struct findings *f, enum install_side side)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].side == side)
            return true;
    return false;
}

/* Tells whether the package of `item`, such as "skill ./x, needed by y", was
 * reported before. */
static bool is_found(const struct findings *f, struct str item)
{
    struct str package = str_slice(item, 0, str_find_char(item, ','));

    for (size_t i = 0; i < f->count; i++)
        if (str_ends(package, f->items[i].path))
            return true;
    return false;
}

/* Reports what install --locked would refuse. Packages missing in the store
 * were reported before. */
static void check_as_locked(struct context *cx, struct findings *f)
{
    struct err why = {0};
    struct str first, file = STR("mapm.lock");
    bool any = false;

    if (has_side(f, INSTALL_SIDE_MANIFEST) || has_side(f, INSTALL_SIDE_LOCK) ||
        session_check_locked(cx, &why) || why.code == ERR_OFFLINE)
        return;
    for (const char *m = err_next(&why, NULL); m; m = err_next(&why, m)) {
        const char *cause = err_prev(&why, m);
        bool has_cause = cause && err_role(cause) == ERR_ITEM_CAUSE;

        if (err_role(m) != ERR_ITEM)
            continue;
        any = true;
        if (!is_found(f, str_cstr(m)))
            add(f, INSTALL_SIDE_MANIFEST, file,
                arena_printf(f->a, "%s%s%s", m, has_cause ? ": " : "",
                             has_cause ? cause : "")
                    .p);
    }
    first = str_cstr(err_first(&why));
    if (str_starts(first, STR("mapm.lock "))) /* named already */
        first = str_from_index(first, file.n + 1);
    if (!any)
        add(f, INSTALL_SIDE_MANIFEST, file, str_dup0(first, f->a));
}

/* Asks whether the index still offers the locked artifact, because an index has
 * no history. */
static bool request_index(struct closure *c, const struct lock_entry *entry,
                          struct findings *f, struct err *e)
{
    const struct origin *o = layer_origin(c->layer, entry);
    const struct well_known_skill *skill;
    struct err why = {0};

    if (o->scheme != ORIGIN_INDEX)
        return true;
    if (c->cx->is_offline)
        return err_set(e, ERR_OFFLINE, "verify --remote needs the network");
    if (index_find(c, o, &skill, &why)) {
        if (!str_eq(skill->digest, entry->artifact))
            add_entry(f, entry, "its index has another artifact now");
    } else if (why.code == ERR_NOT_FOUND) {
        add_entry(f, entry, "its index does not offer it any more");
    } else {
        *e = why;
        return false;
    }
    return true;
}

static bool request_indexes(struct context *cx, struct store *store,
                            struct findings *f, struct err *e)
{
    struct closure c;
    const struct lock_entry **entries;
    size_t count;
    bool ok = true;

    closure_init(&c, cx, f->layer, store, &(struct closure_options){0});
    entries = layer_entries(f->layer, f->a, &count);
    for (size_t i = 0; ok && i < count; i++)
        ok = request_index(&c, entries[i], f, e);
    closure_done(&c);
    return ok;
}

static bool compare_all(struct context *cx, const struct layers *all,
                        struct layer *list, size_t count, struct store *store,
                        bool ask_remote, struct findings *f, struct err *e)
{
    f->is_many = count > 1;
    for (size_t i = 0; i < count; i++)
        if (!compare(cx, &list[i], store, f, e))
            return false;
    f->layer = count > 1 ? &all->whole : list;
    return !ask_remote ||
           (verify_remote(cx, f->layer, store, add_entry, f, e) &&
            request_indexes(cx, store, f, e));
}

bool install_verify(struct context *cx, bool ask_remote,
                    struct install_verification *out, struct err *e)
{
    struct findings f = {.a = &cx->arena};
    struct layers all;
    struct layer *list;
    struct store *store;
    size_t count, packages = 0;
    bool ok;

    if (!open_installed_all(cx, &all, &list, &count, &store, e))
        return false;
    ok = compare_all(cx, &all, list, count, store, ask_remote, &f, e);
    for (size_t i = 0; i < count; i++)
        packages += list[i].by_name.count;
    close_store(cx, store);
    layer_close_all(&all);
    if (ok)
        check_as_locked(cx, &f);
    *out = (struct install_verification){
        .workspace = count > 1 ? all.whole.path : list->path,
        .package_count = packages,
        .differences = f.items,
        .count = f.count,
        .digest_only = f.digest_only,
        .digest_only_count = f.digest_only_count,
        .own = f.own,
        .own_count = f.own_count,
        .patched = f.patched,
        .patched_count = f.patched_count,
    };
    return ok;
}
