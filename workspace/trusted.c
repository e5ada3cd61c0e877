#include "mapm/trusted.h"

#include "base/digest.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/state.h"

#include "lock_file.h"

#define NEAR_MAX_EDITS 3

/* --- requests ------------------------------------------------------------- */

static bool check_entry(const struct layer *l, const struct lock_entry *entry,
                        struct err *e)
{
    if (entry->kind != DOC_SKILL) {
        err_set(e, ERR_FAILED, "%s %.*s is not a metaskill",
                doc_kind_name(entry->kind), STR_ARG(entry->name));
        return err_hint(e, "only programs need trust: name a metaskill");
    }
    if (!layer_is_fetched(l, entry)) {
        err_set(e, ERR_FAILED, "%.*s %s (%.*s): it needs no trust to run",
                STR_ARG(entry->name),
                layer_is_own(l, entry) ? "is of this workspace"
                                       : "was installed from a folder of yours",
                STR_ARG(entry->origin));
        return err_hint(e,
                        "mapm trust --workspace lets agents run it over MCP");
    }
    return true;
}

static bool request_entry(struct context *cx, struct store *store,
                          const struct layer *l, const struct lock_entry *entry,
                          struct trust_request *out, enum trust_state *state,
                          struct err *e)
{
    if (!check_entry(l, entry, e) ||
        !authorize_request_entry(store, entry, out, e))
        return false;
    if (authorize_check_program(store, &out->digest, &cx->arena, e))
        return authorize_trust(cx, store, out, state, e);
    err_wrap(e, "cannot trust %.*s", STR_ARG(entry->name));
    return e->code == ERR_FAILED
               ? false
               : err_hint(e, "mapm install --force fetches objects missing "
                             "from the store");
}

/* A full name means the metaskill, even if other packages have the same one. */
static bool find_name(struct context *cx, const struct layer *l,
                      struct str name, const struct lock_entry **out,
                      struct err *e)
{
    *out = layer_find(l, DOC_SKILL, name);
    return *out || layer_resolve_name(l, name, cx, out, e);
}

bool trusted_request(struct context *cx, struct store *store,
                     const struct layer *l, struct str name,
                     struct trust_request *out, enum trust_state *state,
                     struct err *e)
{
    CLEANUP(layer_close) struct layer global = {0};
    const struct lock_entry *entry;
    struct err elsewhere = {0};

    if (find_name(cx, l, name, &entry, e))
        return request_entry(cx, store, l, entry, out, state, e);
    if (e->code != ERR_NOT_FOUND || l->is_global ||
        !layer_open_global(cx, LAYER_READ, &global, &elsewhere) ||
        !find_name(cx, &global, name, &entry, &elsewhere))
        return false;
    err_clear(e);
    return request_entry(cx, store, &global, entry, out, state, e);
}

/* --- the list ------------------------------------------------------------- */

/* Two maps: from "acme/x sha256:…" to the first workspace whose lock contains
 * that entry, and from the digest of a consent to the name of its server. */
struct installed {
    struct arena *a;
    struct map by_package, servers;
};

static void add_server(struct installed *in, const struct lock_entry *entry)
{
    struct str *name = arena_new(in->a, struct str);
    struct hash digest;

    if (!digest_parse(entry->digest, &digest))
        return;
    digest = authorize_request_server(STR(""), entry->place, &digest).digest;
    *name = entry->name;
    map_put(&in->servers, hash_hex(&digest, in->a), name);
}

static void add_lock(struct installed *in, int dirfd, const char *name,
                     struct str folder)
{
    struct str *place = arena_new(in->a, struct str);
    struct err ignored = {0};
    struct lock lock;

    *place = folder;
    if (!lock_file_read(dirfd, folder, name, in->a, &lock, &ignored))
        return;
    for (size_t i = 0; i < lock.count; i++) {
        const struct lock_entry *entry = &lock.entries[i];
        struct str key = arena_printf(in->a, "%.*s %.*s", STR_ARG(entry->name),
                                      STR_ARG(entry->digest));

        if (entry->kind == DOC_SKILL && !map_has(&in->by_package, key))
            map_put(&in->by_package, key, place);
        if (entry->kind == DOC_MCP && entry->place.n)
            add_server(in, entry);
    }
}

/* A folder that cannot be read counts as having nothing installed. */
static void add_folder(struct installed *in, struct str folder)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};

    if (!fs_open_dir(str_dup0(folder, in->a), &fd, &ignored))
        return;
    add_lock(in, fd, "mapm.lock", folder);
    add_lock(in, fd, "mapm.local.lock", folder);
}

static bool find_installed(struct store *store, struct installed *in,
                           struct err *e)
{
    struct str *folders;
    size_t count;

    map_init(&in->by_package, in->a);
    map_init(&in->servers, in->a);
    if (!state_list_workspaces(store_state(store), in->a, &folders, &count, e))
        return false;
    add_folder(in, fs_join(store_home(store), STR("global"), in->a));
    for (size_t i = 0; i < count; i++)
        add_folder(in, folders[i]);
    return true;
}

/* Returns true if the consent is for the folder that has this path now. */
static bool is_valid(struct context *cx, struct store *store,
                     const struct state_trust *t)
{
    const struct trust_request q = {
        .kind = t->kind, .subject = t->subject, .digest = t->digest};
    enum trust_state state;
    struct err ignored = {0};

    return authorize_trust(cx, store, &q, &state, &ignored) &&
           state == TRUST_GIVEN;
}

static struct trusted describe(struct context *cx, struct store *store,
                               const struct installed *in,
                               const struct state_trust *t)
{
    const struct trust_kind *kind = authorize_kind(t->kind);
    struct trusted out = {.trust = *t, .kind = kind};
    struct str hex = hash_hex(&t->digest, in->a);
    const struct str *found;

    if (kind->is_of_folder)
        out.is_valid = is_valid(cx, store, t);
    found = kind->is_of_folder
                ? NULL
                : map_find(&in->by_package,
                           arena_printf(in->a, "%.*s sha256:%.*s",
                                        STR_ARG(t->subject), STR_ARG(hex)));
    out.workspace = found ? *found : STR("");
    found = t->kind == STATE_TRUST_SERVER ? map_find(&in->servers, hex) : NULL;
    out.server = found ? *found : STR("");
    return out;
}

bool trusted_list(struct context *cx, struct store *store, struct trusted **out,
                  size_t *count, struct err *e)
{
    struct installed in = {.a = &cx->arena};
    struct state_trust *list;

    if (!find_installed(store, &in, e) ||
        !state_list_trust(store_state(store), in.a, &list, count, e))
        return false;
    *out = arena_array(in.a, *count + 1, sizeof **out);
    for (size_t i = 0; i < *count; i++)
        (*out)[i] = describe(cx, store, &in, &list[i]);
    return true;
}

/* --- revoking ------------------------------------------------------------- */

static bool not_trusted(const struct state_trust *list, size_t count,
                        struct str name, struct err *e)
{
    struct text_nearest near = {0};

    err_set(e, ERR_NOT_FOUND, "\"%.*s\" is not trusted on this machine",
            STR_ARG(name));
    for (size_t i = 0; i < count; i++)
        if (!authorize_kind(list[i].kind)->is_of_folder)
            text_nearest_add_path(&near, name, list[i].subject, NEAR_MAX_EDITS);
    if (near.count)
        return err_hint(e, "did you mean %.*s?", STR_ARG(near.found[0]));
    return err_hint(e, "mapm trust --list shows what is");
}

bool trusted_find(const struct state_trust *list, size_t count, struct str name,
                  const struct state_trust **out, struct err *e)
{
    const struct state_trust *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (!authorize_kind(list[i].kind)->is_of_folder &&
            str_eq(list[i].subject, name)) {
            *out = &list[i];
            return true;
        }
    for (size_t i = 0; i < count; i++) {
        if (authorize_kind(list[i].kind)->is_of_folder ||
            !str_eq(path_last(list[i].subject), name))
            continue;
        if (found && !str_eq(found->subject, list[i].subject)) {
            err_set(e, ERR_USAGE, "\"%.*s\" could be several metaskills",
                    STR_ARG(name));
            err_also(e, "%.*s", STR_ARG(found->subject));
            err_also(e, "%.*s", STR_ARG(list[i].subject));
            return err_hint(e, "name one in full");
        }
        found = &list[i];
    }
    *out = found;
    return found || not_trusted(list, count, name, e);
}
