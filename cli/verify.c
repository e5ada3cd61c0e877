#include "base/json.h"
#include "base/path.h"
#include "mapm/install.h"
#include "mapm/install_ingest.h"
#include "mapm/install_proof.h"
#include "mapm/install_remote.h"
#include "mapm/install_server.h"
#include "mapm/manifest.h"
#include "mapm/open_store.h"

#include <string.h>

#include "command.h"

/* verify: workspace against lock against store. Changes nothing. */

/* What a finding blames, and what to do about all of one kind. */
enum side {
    SIDE_WORKSPACE,
    SIDE_EXTRA,
    SIDE_MANIFEST,
    SIDE_LOCK,
    SIDE_PROOF,
    SIDE_STORE,
    SIDE_REMOTE,
    SIDE_COUNT,
};

/* clang-format off */
static const struct {
    const char *name; /* in JSON */
    const char *advice;
} sides[SIDE_COUNT] = {
    [SIDE_WORKSPACE] = {"workspace",
        "the workspace differs from the lock: mapm install puts back what is "
        "missing, mapm install --force also what was changed"},
    [SIDE_EXTRA] = {"workspace",
        "extra files are no package's: mapm leaves them, delete them by hand"},
    [SIDE_MANIFEST] = {"manifest",
        "the lock lacks what mapm.yaml or the workspace has: take the lock from "
        "version control again, or run mapm install"},
    [SIDE_LOCK] = {"lock",
        "the lock differs from the packages: take it from version control "
        "again, or remove these entries and run mapm install"},
    [SIDE_PROOF] = {"proof",
        "mapm install fetches the proofs, or names the line of the lock that is "
        "not what the commit holds"},
    [SIDE_STORE] = {"store",
        "mapm install --force fetches what the store has lost"},
    [SIDE_REMOTE] = {"remote",
        "mapm update locks what the refs name now"},
};
/* clang-format on */

struct finding {
    struct str path;
    const char *how;
    enum side side;
};

struct findings {
    struct arena *a;
    struct finding *items;
    size_t count, capacity;
    struct str *digest_only; /* places of file: packages */
    size_t digest_only_count, digest_only_capacity;
};

static void add(struct findings *f, enum side side, struct str path,
                const char *how)
{
    f->items =
        arena_grow(f->a, f->items, f->count, &f->capacity, sizeof *f->items);
    f->items[f->count++] = (struct finding){path, how, side};
}

static bool place_nothing(void *ctx, const struct hash *h, int dirfd,
                          const char *name, bool executable, struct stat *st,
                          struct err *e)
{
    (void)ctx, (void)h, (void)dirfd, (void)name, (void)executable, (void)st;
    return err_set(e, ERR_FAILED, "verify writes nothing");
}

static bool read_object(void *ctx, const struct hash *h, size_t max_bytes,
                        struct arena *a, struct str *out, struct err *e)
{
    return own_server_read(h, a, out) ||
           store_read(ctx, h, max_bytes, a, out, e);
}

/* Reads the listing and hashes every file it names. */
static bool check_stored(struct store *store, const struct lock_entry *entry,
                         struct findings *f, struct provision_item *item)
{
    struct arena *a = f->a;
    struct store_file *files;
    struct provision_file *list;
    struct err e = {0};
    size_t count;
    bool whole = true;

    if (!hash_parse(str_from_index(entry->digest, 7), &item->digest) ||
        !store_read_listing(store, &item->digest, a, &files, &count, &e)) {
        add(f, SIDE_STORE, entry->place, "not in the store");
        return false;
    }
    list = arena_array(a, count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_done) struct arena scratch = {0};
        struct str content;

        list[i] = (struct provision_file){files[i].executable, files[i].hash,
                                          files[i].path};
        if (store_read(store, &files[i].hash, BYTES_CEILING, &scratch, &content,
                       &e))
            continue;
        whole = false;
        add(f, SIDE_STORE,
            arena_printf(a, "%.*s/%.*s", STR_ARG(entry->place),
                         STR_ARG(files[i].path)),
            e.code == ERR_DAMAGED ? "damaged in the store"
                                  : "not in the store");
    }
    item->files = list;
    item->file_count = count;
    return whole;
}

/* Other origins that the lock gives the same content. */
static void check_also(struct closure *c, const struct lock_entry *entry,
                       struct findings *f)
{
    for (size_t i = 0; i < entry->also_count; i++) {
        struct err ignored = {0};
        struct str commit;
        struct origin o;

        if (origin_parse(entry->also[i], &c->layer->rules, f->a, &o,
                         &ignored) &&
            o.scheme == ORIGIN_GIT &&
            proof_covers(c->layer, c->store, entry, &o, f->a, &commit))
            continue;
        add(f, SIDE_PROOF, entry->place,
            arena_printf(f->a, "not proved to be the same as %.*s",
                         STR_ARG(entry->also[i]))
                .p);
    }
}

/* What the lock says besides the digest, and whether this machine was ever
 * shown it. */
static bool check_entry(struct closure *c, const struct lock_entry *entry,
                        const struct provision_item *item, bool is_stored,
                        struct findings *f)
{
    struct node n = {.origin = *layer_origin(c->layer, entry),
                     .locked = entry,
                     .digest = item->digest,
                     .package = {.content = entry->digest}};
    struct err e = {0};

    if (!proof_applies(c->layer, entry) && !layer_is_local(c->layer, entry)) {
        add(f, SIDE_LOCK, entry->place, "from a file: origin, in mapm.lock");
        return false;
    }
    if (!proof_applies(c->layer, entry)) {
        f->digest_only =
            arena_grow(f->a, f->digest_only, f->digest_only_count,
                       &f->digest_only_capacity, sizeof *f->digest_only);
        f->digest_only[f->digest_only_count++] = entry->place;
        return true;
    }
    check_also(c, entry, f);
    if (!proof_check_commit(c->layer, entry, &e)) {
        add(f, SIDE_LOCK, entry->place,
            "locked at another commit than its origin names");
        return false;
    }
    if (!proof_find(c->layer, c->store, entry, &n.origin, f->a, &n.path)) {
        add(f, SIDE_PROOF, entry->place, "not proved");
        return false;
    }
    if (!is_stored || document_check_locked(c, &n, &e))
        return true;
    add(f, SIDE_LOCK, entry->place, str_c(str_from(err_first(&e)), f->a));
    return false;
}

/* What the manifest asks for, and the lock does not have. */
static void check_roots(const struct layer *l, struct findings *f)
{
    size_t count;
    struct root *roots = layer_roots(l, f->a, &count);

    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry =
            map_find(&l->by_origin, roots[i].origin.key);

        if (!entry || entry->kind != roots[i].kind)
            add(f, SIDE_MANIFEST, roots[i].origin.text, "not in the lock");
    }
}

static enum side side_of(const struct provision_difference *d)
{
    if (d->is_left)
        return SIDE_MANIFEST;
    return strcmp(d->how, "extra") == 0 ? SIDE_EXTRA : SIDE_WORKSPACE;
}

/* A package that cannot be compared is no less in the lock. */
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
        if (!differences[i].is_left || !map_has(&places, differences[i].path))
            add(f, side_of(&differences[i]), differences[i].path,
                differences[i].how);
}

static void add_entry(void *ctx, const struct lock_entry *entry,
                      const char *how)
{
    add(ctx, SIDE_REMOTE, entry->place, how);
}

static void fill_item(const struct lock_entry *entry,
                      struct provision_item *item)
{
    struct str place =
        entry->kind == DOC_MCP ? entry->place : path_last(entry->place);

    item->kind = entry->kind;
    item->fqn = entry->name;
    item->place = place;
    item->rename = entry->kind != DOC_MCP &&
                   (entry->rewritten || !str_eq(place, path_last(entry->name)));
}

static bool compare(struct invocation *inv, struct layer *l,
                    struct store *store, struct findings *f, struct err *e)
{
    struct arena *a = &inv->cx.arena;
    struct provision_options o = {
        .shared_dir = store_shared_dir(store),
        .clients = l->project.clients,
        .client_count = l->project.client_count,
        .objects = {place_nothing, read_object, store},
    };
    struct closure closure;
    const struct lock_entry **entries;
    struct provision_difference *differences;
    struct provision_item *items;
    size_t count, item_count = 0, difference_count;

    closure_init(&closure, &inv->cx, l, store, &(struct closure_options){0});
    check_roots(l, f);
    entries = layer_entries(l, a, &count);
    items = arena_array(a, count + 2, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        bool is_stored, fits;

        fill_item(entries[i], &items[item_count]);
        is_stored = check_stored(store, entries[i], f, &items[item_count]);
        fits =
            check_entry(&closure, entries[i], &items[item_count], is_stored, f);
        /* What is no file of a server says nothing of the configuration. */
        item_count += is_stored && (fits || entries[i]->kind != DOC_MCP);
    }
    if (l->project.server && !l->is_global)
        own_server_fill(&items[item_count++], a);
    if (!provision_verify(l->provision, &o, items, item_count, a, &differences,
                          &difference_count, e))
        return false;
    add_differences(f, differences, difference_count, entries, count);
    return !has_option(inv, OPTION_REMOTE) ||
           verify_remote(&inv->cx, l, store, add_entry, f, e);
}

static void print_findings_json(struct invocation *inv, const struct layer *l,
                                const struct findings *f)
{
    struct json_writer w;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.verify/1"));
    json_member_string(&w, "workspace", l->path);
    json_member_bool(&w, "ok", f->count == 0);
    json_key(&w, "differences");
    json_begin_array(&w);
    for (size_t i = 0; i < f->count; i++) {
        json_begin_object(&w);
        json_member_string(&w, "path", f->items[i].path);
        json_member_string(&w, "how", str_from(f->items[i].how));
        json_member_string(&w, "differs",
                           str_from(sides[f->items[i].side].name));
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, "digest_only");
    json_begin_array(&w);
    for (size_t i = 0; i < f->digest_only_count; i++)
        json_string(&w, f->digest_only[i]);
    json_end_array(&w);
    json_end_object(&w);
    print_json(inv, &b);
    buf_done(&b);
}

/* A lock that is wrong, or may be, comes first: only then it is known what the
 * workspace should be. And an install that fetches a proof fetches what the
 * store lacks, too. */
static void print_advice(struct invocation *inv, const struct findings *f)
{
    bool given[SIDE_COUNT] = {false};

    for (size_t i = 0; i < f->count; i++)
        given[f->items[i].side] = true;
    given[SIDE_WORKSPACE] &= !given[SIDE_LOCK] && !given[SIDE_PROOF];
    given[SIDE_MANIFEST] &= !given[SIDE_LOCK];
    given[SIDE_STORE] &= !given[SIDE_PROOF];
    for (size_t i = 0; i < SIDE_COUNT; i++)
        if (given[i])
            term_note(&inv->term, "%s", sides[i].advice);
}

static void print_findings(struct invocation *inv, const struct layer *l,
                           const struct findings *f)
{
    size_t count = l->by_name.count;

    for (size_t i = 0; i < f->count; i++)
        term_print(&inv->term, "%.*s: %s\n", STR_ARG(f->items[i].path),
                   f->items[i].how);
    for (size_t i = 0; i < f->digest_only_count; i++)
        term_print(&inv->term, "%.*s: digest only\n",
                   STR_ARG(f->digest_only[i]));
    print_advice(inv, f);
    if (f->count == 0)
        term_note(&inv->term, "%zu package%s verified", count,
                  count == 1 ? "" : "s");
}

COMMAND(command_verify)
{
    struct findings f = {.a = &inv->cx.arena};
    struct store *store = NULL;
    struct layer l;
    bool ok;

    if (!layer_open(&inv->cx, LAYER_READ, &l, e))
        return false;
    ok = layer_check_there(&l, &inv->cx, e) &&
         open_store(&inv->cx, &store, e) && compare(inv, &l, store, &f, e);
    if (ok && has_option(inv, OPTION_JSON))
        print_findings_json(inv, &l, &f);
    if (ok && !has_option(inv, OPTION_JSON))
        print_findings(inv, &l, &f);
    *exit_code = f.count ? EXIT_FINDINGS : EXIT_DONE;
    close_store(&inv->cx, store);
    layer_close(&l);
    return ok;
}
