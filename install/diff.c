#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/install_diff.h"
#include "mapm/open_store.h"
#include "mapm/origin.h"
#include "mapm/patched.h"
#include "mapm/range.h"
#include "mapm/state_index.h"

#include "closure.h"
#include "ingest.h"
#include "installed.h"
#include "proof.h"
#include "self_server.h"

#define SHORT_COMMIT_MIN_CHARS 7 /* like abbreviated ids of git */

/* Edits of the user: the difference between installed and present content. */

/* --- which packages --------------------------------------------------------- */

/* Replaces plugins by their parts, which are in the workspace. */
static const struct lock_entry **expand_plugins(const struct layer *l,
                                                const struct lock_entry **named,
                                                size_t *count, struct arena *a)
{
    const struct lock_entry **out;
    size_t room = *count + 1, n = 0;
    struct map seen;

    map_init(&seen, a);
    for (size_t i = 0; i < *count; i++)
        room += named[i]->need_count;
    out = arena_array(a, room, sizeof *out);
    for (size_t i = 0; i < *count; i++) {
        if (named[i]->kind != DOC_PLUGIN) {
            out[n++] = named[i];
            continue;
        }
        for (size_t k = 0; k < named[i]->need_count; k++) {
            const struct lock_need *need = &named[i]->needs[k];
            const struct lock_entry *entry =
                layer_find(l, need->kind, need->name);

            if (entry && entry->kind != DOC_PLUGIN &&
                map_put(&seen, layer_name_key(need->kind, need->name, a), NULL))
                out[n++] = entry;
        }
    }
    *count = n;
    return out;
}

static bool find_entries(const struct layer *l, struct str_list names,
                         struct arena *a, const struct lock_entry ***out,
                         size_t *count, struct err *e)
{
    const struct lock_entry **named;
    size_t n = 0;

    if (names.count == 0) {
        *out = layer_entries(l, a, count);
        return true;
    }
    named = arena_array(a, names.count, sizeof *named);
    if (!layer_resolve_names(l, names.items, names.count, a, named, e))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        size_t k = 0;

        while (k < n && named[k] != named[i])
            k++;
        if (k == n)
            named[n++] = named[i];
    }
    *out = expand_plugins(l, named, &n, a);
    *count = n;
    return true;
}

/* Returns false for packages of the workspace itself, which are linked and have
 * no separate edits. */
static bool is_compared(const struct layer *l, const struct lock_entry *entry)
{
    return entry->kind != DOC_PLUGIN &&
           (entry->kind == DOC_MCP || !layer_is_own(l, entry));
}

static bool check_named(const struct layer *l, struct str_list names,
                        const struct lock_entry **entries, size_t count,
                        struct err *e)
{
    for (size_t i = 0; names.count && i < count; i++) {
        if (is_compared(l, entries[i]))
            continue;
        err_set(e, ERR_USAGE, "%.*s is of this workspace (%.*s), and linked",
                STR_ARG(entries[i]->name), STR_ARG(entries[i]->origin));
        return err_hint(e, "what changed in it, the version control of the "
                           "workspace knows");
    }
    return true;
}

static struct provision_item *
make_items(const struct layer *l, struct store *store, struct str_list names,
           const struct lock_entry **entries, size_t *count, struct arena *a)
{
    struct provision_item *items = arena_array(a, *count + 1, sizeof *items);
    size_t n = 0;

    for (size_t i = 0; i < *count; i++) {
        if (!is_compared(l, entries[i]))
            continue;
        installed_fill(l, entries[i], &items[n]);
        (void)installed_find_files(store, entries[i], a, &items[n++]);
    }
    *count = n;
    if (names.count == 0 && l->project.server)
        self_server_fill(l->is_global, &items[(*count)++], a);
    return items;
}

/* --- by package ------------------------------------------------------------- */

static struct str path_of(const struct provision_item *item, struct arena *a)
{
    if (item->kind == DOC_MCP)
        return str_join(STR(".mcp.json#"), item->place, a);
    if (item->is_searched)
        return fs_join(STR(PROVISION_SEARCHED), item->place, a);
    return arena_printf(a, ".agents/%s/%.*s", doc_kind_plural(item->kind),
                        STR_ARG(item->place));
}

/* Groups edits by package, servers last. `folder` is prepended to all paths;
 * may be "". */
static void group(const struct provision_edit *edits, size_t count,
                  const struct provision_item *items, size_t item_count,
                  struct str folder, struct arena *a, struct install_diff *out)
{
    struct install_package_diff *packages =
        arena_array(a, out->count + item_count + 1, sizeof *packages);
    struct patch_file *files = arena_array(a, count + 1, sizeof *files);
    size_t *next = arena_array(a, item_count + 1, sizeof *next), n;

    for (n = 0; n < out->count; n++)
        packages[n] = out->packages[n];
    for (size_t i = 0; i < count; i++)
        next[edits[i].item - items + 1]++;
    for (size_t i = 0; i < item_count; i++) {
        if (next[i + 1])
            packages[n++] = (struct install_package_diff){
                .kind = items[i].kind,
                .name = items[i].fqn,
                .path = fs_join(folder, path_of(&items[i], a), a),
                .files = files + next[i],
                .count = next[i + 1],
            };
        next[i + 1] += next[i];
    }
    for (size_t i = 0; i < count; i++) {
        struct patch_file *f = &files[next[edits[i].item - items]++];

        *f = edits[i].file;
        f->path = fs_join(folder, f->path, a);
    }
    out->packages = packages;
    out->count = n;
}

static bool diff_edits(struct context *cx, const struct layer *l,
                       struct str folder, struct store *store,
                       struct str_list names, struct install_diff *out,
                       struct err *e)
{
    struct arena *a = &cx->arena;
    struct provision_options o = installed_options(cx, l, store);
    const struct lock_entry **entries;
    struct provision_item *items;
    struct provision_edit *edits;
    size_t count, edit_count;

    if (!find_entries(l, names, a, &entries, &count, e) ||
        !check_named(l, names, entries, count, e))
        return false;
    items = make_items(l, store, names, entries, &count, a);
    if (!provision_find_edits(l->provision, &o, items, count, a, &edits,
                              &edit_count, e))
        return false;
    group(edits, edit_count, items, count, folder, a, out);
    return true;
}

/* Assigns `names` to the layers that contain them; with a single layer, all of
 * them. */
static bool share_names(const struct layer *list, size_t count,
                        struct str_list names, struct arena *a,
                        struct str_list *out, struct err *e)
{
    struct str *items = arena_array(a, count * names.count + 1, sizeof *items);
    struct err first = {0};

    for (size_t i = 0; i < count; i++)
        out[i] = (struct str_list){items + i * names.count, 0};
    for (size_t k = 0; k < names.count; k++) {
        bool is_found = count == 1;

        err_clear(&first);
        for (size_t i = 0; i < count; i++) {
            const struct lock_entry *entry;
            struct err why = {0};

            if (count == 1 || layer_resolve_names(&list[i], &names.items[k], 1,
                                                  a, &entry, &why)) {
                items[i * names.count + out[i].count++] = names.items[k];
                is_found = true;
            } else if (first.code == ERR_NONE || why.code == ERR_USAGE) {
                first = why;
            }
        }
        if (!is_found) {
            *e = first;
            return false;
        }
    }
    return true;
}

static bool diff_layers(struct context *cx, const struct layer *list,
                        size_t count, struct store *store,
                        struct str_list names, struct install_diff *out,
                        struct err *e)
{
    struct str_list *own = arena_array(&cx->arena, count, sizeof *own);

    if (!share_names(list, count, names, &cx->arena, own, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if ((own[i].count || names.count == 0) &&
            !diff_edits(cx, &list[i], count > 1 ? list[i].member : STR(""),
                        store, own[i], out, e))
            return false;
    return true;
}

bool install_diff_edits(struct context *cx, struct str_list names,
                        struct install_diff *out, struct err *e)
{
    struct layers all;
    struct layer *list;
    struct store *store;
    size_t count;
    bool ok;

    if (!open_installed_all(cx, &all, &list, &count, &store, e))
        return false;
    *out = (struct install_diff){.workspace =
                                     count > 1 ? all.whole.path : list->path};
    ok = diff_layers(cx, list, count, store, names, out, e);
    close_store(cx, store);
    layer_close_all(&all);
    return ok;
}

/* --- another ref ------------------------------------------------------------ */

/* Returns the path in the repository; if the branch contains "/", only the
 * proof separates it from the path. */
static struct str path_in_repository(const struct layer *l, struct store *store,
                                     const struct lock_entry *entry,
                                     const struct origin *o)
{
    struct str path;

    return proof_find(l, store, entry, o, &path) ? path : origin_slot_path(o);
}

/* Completes an abbreviated commit id that is known here, since hosts resolve
 * only full ids. */
static struct str complete_commit(struct store *store, const struct origin *o,
                                  struct str ref, struct arena *a)
{
    struct str commit;

    return ref.n >= SHORT_COMMIT_MIN_CHARS && str_is_hex(ref) &&
                   state_find_commit(store_state(store),
                                     origin_repository(o, a), ref, a, &commit)
               ? commit
               : ref;
}

static bool origin_at(struct context *cx, const struct layer *l,
                      struct store *store, struct str name, struct str ref,
                      struct str *out, struct err *e)
{
    const struct lock_entry *entry;
    const struct origin *o;
    struct origin moved;

    if (!layer_resolve_name(l, name, cx, &entry, e))
        return false;
    o = layer_origin(l, entry);
    if (o->scheme == ORIGIN_OWN)
        return check_named(l, (struct str_list){&name, 1}, &entry, 1, e) &&
               err_set(e, ERR_USAGE,
                       "%.*s is a file of this workspace: it has "
                       "no refs",
                       STR_ARG(entry->name));
    if (o->scheme == ORIGIN_FILE) {
        err_set(e, ERR_USAGE,
                "%.*s is a folder of this machine: it has no refs",
                STR_ARG(entry->name));
        return err_hint(e,
                        "mapm update --diff %.*s compares it with what is "
                        "installed",
                        STR_ARG(entry->name));
    }
    if (o->scheme == ORIGIN_INDEX) {
        err_set(e, ERR_USAGE, "%.*s is a skill of an index: it has no refs",
                STR_ARG(entry->name));
        return err_hint(e,
                        "mapm update --diff %.*s compares it with what the "
                        "index has now",
                        STR_ARG(entry->name));
    }
    if (!origin_ref_is_valid(ref) && !range_is_meant(ref)) {
        err_set(e, ERR_USAGE, "\"%.*s\" cannot be a ref", STR_ARG(ref));
        return err_hint(e, "usage: mapm diff NAME@REF");
    }
    ref = complete_commit(store, o, ref, &cx->arena);
    origin_complete(o, ref, path_in_repository(l, store, entry, o), &cx->arena,
                    &moved);
    *out = moved.text;
    return true;
}

bool install_origin_at(struct context *cx, struct str name, struct str ref,
                       struct str *out, struct err *e)
{
    struct store *store;
    struct layer l;
    bool ok;

    if (!open_installed(cx, &l, &store, e))
        return false;
    ok = origin_at(cx, &l, store, name, ref, out, e);
    close_store(cx, store);
    layer_close(&l);
    return ok;
}

/* --- restore ---------------------------------------------------------------- */

/* Checks that the entry is proved, as in an install: the lock may have changed
 * with a pull. */
static bool check_proved(struct closure *c, const struct lock_entry *entry,
                         struct err *e)
{
    struct node n = {.origin = layer_source(c->layer, entry),
                     .locked = entry,
                     .package = {.content = entry->digest}};

    if (!patched_parse_hash(entry->digest, &n.digest))
        return err_set(e, ERR_FORMAT, "\"%.*s\" is not a digest",
                       STR_ARG(entry->digest));
    if (!layer_is_fetched(c->layer, entry))
        return true;
    if (!proof_check_commit(c->layer, entry, e))
        return false;
    if (proof_applies(c->layer, entry) &&
        proof_find(c->layer, c->store, entry, n.origin, &n.path))
        return ingest_check_locked(c, &n, e);
    err_set(e, ERR_LOCKED, "%.*s is not proved to be what its commit holds",
            STR_ARG(entry->name));
    return err_hint(e, "mapm install fetches the proof, or refuses");
}

static bool fill_restored(struct closure *c, const struct map *named,
                          const struct lock_entry *entry,
                          struct provision_item *item, struct arena *a,
                          struct err *e)
{
    bool is_stored;

    installed_fill(c->layer, entry, item);
    item->restore = map_has(named, layer_name_key(entry->kind, entry->name, a));
    is_stored = installed_find_files(c->store, entry, a, item);
    if (!item->restore)
        return true;
    if (is_stored)
        return check_proved(c, entry, e);
    err_set(e, ERR_NOT_FOUND, "%.*s is not in the store", STR_ARG(entry->name));
    return err_hint(
        e, "mapm install --force fetches objects missing from the store");
}

static bool find_restored(struct context *cx, const struct layer *l,
                          struct store *store, struct str_list names,
                          struct provision_item **items, size_t *count,
                          struct err *e)
{
    struct arena *a = &cx->arena;
    const struct lock_entry **entries;
    struct closure closure;
    struct map named;
    size_t n;

    closure_init(&closure, cx, l, store, &(struct closure_options){0});

    map_init(&named, a);
    if (!find_entries(l, names, a, &entries, &n, e) ||
        !check_named(l, names, entries, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        map_put(&named, layer_name_key(entries[i]->kind, entries[i]->name, a),
                NULL);
    entries = layer_entries(l, a, &n);
    *items = arena_array(a, n + 1, sizeof **items);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (is_compared(l, entries[i]) &&
            !fill_restored(&closure, &named, entries[i], &(*items)[(*count)++],
                           a, e))
            return false;
    return true;
}

/* Plans one layer and adds its changes to `out`. */
static bool plan_restore(struct context *cx, struct layer *l,
                         struct store *store, struct str_list names,
                         struct str folder, struct install_restoration *out,
                         struct err *e)
{
    struct arena *a = &cx->arena;
    struct provision_options *o = arena_new(a, struct provision_options);
    struct provision_change *changes, *all;
    struct provision_item *items;
    size_t count, change_count;

    *o = installed_options(cx, l, store);
    o->only_restore = true;
    if (!find_restored(cx, l, store, names, &items, &count, e) ||
        !provision_plan(l->provision, o, items, count, NULL, 0, a, &changes,
                        &change_count, e))
        return false;
    all = arena_array(a, out->count + change_count + 1, sizeof *all);
    for (size_t i = 0; i < out->count; i++)
        all[i] = out->changes[i];
    for (size_t i = 0; i < change_count; i++) {
        all[out->count] = changes[i];
        all[out->count++].path = fs_join(folder, changes[i].path, a);
    }
    out->changes = all;
    return true;
}

/* Applies the plans of all layers; the root comes last. */
static bool apply_restore(const struct layer *list, size_t count,
                          struct arena *a, struct err *e)
{
    struct provision **places = arena_array(a, count, sizeof *places);
    struct str *paths = arena_array(a, count, sizeof *paths);

    if (count == 1)
        return provision_apply(list->provision, e);
    for (size_t i = 0; i < count; i++) {
        places[count - 1 - i] = list[i].provision;
        paths[count - 1 - i] = list[i].member;
    }
    return provision_apply_all(places, paths, count, e);
}

static bool restore(struct context *cx, struct layer *list, size_t count,
                    struct store *store, struct str_list names, bool dry_run,
                    struct install_restoration *out, struct err *e)
{
    struct arena *a = &cx->arena;
    struct str_list *own = arena_array(a, count, sizeof *own);

    if (!share_names(list, count, names, a, own, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (own[i].count &&
            !plan_restore(cx, &list[i], store, own[i],
                          count > 1 ? list[i].member : STR(""), out, e))
            return false;
    if (dry_run)
        return true;
    if (!apply_restore(list, count, a, e))
        return false;
    for (size_t i = count; i-- > 0;) { /* several places share a backup */
        struct str backup = provision_backup(list[i].provision);

        if (backup.n)
            out->backup = arena_str(a, backup);
    }
    return true;
}

bool install_restore(struct context *cx, struct str_list names, bool dry_run,
                     struct install_restoration *out, struct err *e)
{
    struct store *store = NULL;
    struct layer *list;
    struct layers all;
    size_t count;
    bool ok;

    if (!layer_open_chosen(cx, dry_run ? LAYER_READ : LAYER_WRITE, &all, &list,
                           &count, e))
        return false;
    *out = (struct install_restoration){.workspace = count > 1 ? all.whole.path
                                                               : list->path,
                                        .backup = STR("")};
    ok = layer_check_there(&all.whole, cx, e) &&
         (!dry_run || layer_check_own(&all.whole, cx, e)) &&
         open_store(cx, &store, e) &&
         restore(cx, list, count, store, names, dry_run, out, e);
    close_store(cx, store);
    layer_close_all(&all);
    return ok;
}
