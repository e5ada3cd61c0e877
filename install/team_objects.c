#include "base/digest.h"
#include "mapm/install_team.h"
#include "mapm/plugin_paths.h"
#include "mapm/state.h"

#include "proof.h"

static const char *kept_back(const struct layer *l,
                             const struct lock_entry *entry)
{
    if (layer_is_own(l, entry))
        return "it is a package of the workspace itself";
    if (layer_is_local(l, entry) || !proof_applies(l, entry))
        return "it is installed from a file: origin";
    if (entry->allow_hidden)
        return "its hidden characters were accepted on a machine of yours";
    return NULL;
}

/* Returns the path in the name of a proof, which begins after the first segment
 * of the ref, because a pull does not know where the ref ends
 * (fetch/worker/team_store.c). */
static struct str asked_path(const struct origin *o)
{
    size_t slash = str_find_char(o->rest, '/');

    if (o->is_short || o->rest.n == 0)
        return o->path;
    return slash == SIZE_MAX ? str_make("", 0)
                             : str_from_index(o->rest, slash + 1);
}

/* Of a skill of an index the artifact is the proof, whichever host it is of. */
static void fill_artifact(const struct layer *l, struct store *store,
                          const struct lock_entry *entry,
                          const struct origin *o, struct arena *a,
                          struct install_team_package *p)
{
    if (!digest_parse(entry->artifact, &p->artifact))
        return;
    p->is_of_index = true;
    p->commit = entry->artifact;
    p->repository = STR("artifact");
    p->asked = team_artifact_name(&p->artifact, a);
    if (proof_find(l, store, entry, o, &p->path) &&
        proof_has_artifact(store, entry, &p->artifact))
        p->proof = p->asked;
}

static void fill(const struct layer *l, struct store *store,
                 const struct lock_entry *entry, const struct origin *o,
                 struct arena *a, struct install_team_package *p)
{
    *p = (struct install_team_package){.entry = entry,
                                       .kept_back = kept_back(l, entry)};
    if (p->kept_back || !digest_parse(entry->digest, &p->digest))
        return;
    p->name = team_object_name(&p->digest, a);
    if (o->scheme == ORIGIN_INDEX) {
        fill_artifact(l, store, entry, o, a, p);
        return;
    }
    p->commit = proof_commit(l, entry, o, a);
    p->repository = origin_repository(o, a);
    p->asked = team_proof_name(p->repository, p->commit, asked_path(o),
                               entry->object, a);
    if (proof_find(l, store, entry, o, &p->path))
        p->proof = p->asked;
}

/* Adds other origins of the same content whose commits are in the lock. */
static void fill_also(const struct layer *l, struct store *store,
                      const struct lock_entry *entry, struct arena *a,
                      struct install_team_package *list, size_t *count)
{
    for (size_t i = 0; i < entry->also_count; i++) {
        struct install_team_package *p = &list[*count];
        struct err ignored = {0};
        struct origin o;

        if (!origin_parse_part(entry->also[i], &l->rules, a, &o, &ignored) ||
            o.scheme != ORIGIN_GIT)
            continue;
        fill(l, store, entry, &o, a, p);
        p->is_also = true;
        *count += !p->kept_back && p->commit.n > 0;
    }
}

/* --- marketplaces -------------------------------------------------------------- */

static bool needs_market(const struct layer *l, const struct lock_entry *entry)
{
    return entry->catalog_commit.n &&
           layer_origin(l, entry)->scheme == ORIGIN_GIT;
}

static void fill_market(const struct layer *l, struct install_trees *t,
                        const struct lock_entry *entry, struct arena *a,
                        struct install_team_package *list, size_t *count)
{
    struct install_team_package *p = &list[*count];
    const struct origin *o = layer_origin(l, entry);

    if (!needs_market(l, entry) || kept_back(l, entry))
        return;
    *p = (struct install_team_package){.entry = entry,
                                       .layer = l,
                                       .is_also = true,
                                       .is_market = true,
                                       .commit = entry->catalog_commit};
    if (!digest_parse(entry->digest, &p->digest))
        return;
    p->name = team_object_name(&p->digest, a);
    p->repository = origin_repository(o, a);
    p->asked = team_proof_name(p->repository, p->commit, asked_path(o),
                               STR(TEAM_MARKET_OBJECT), a);
    if (install_trees_have_market(t, l, entry))
        p->proof = p->asked;
    ++*count;
}

static bool find_entries(struct context *cx, const struct layer *l,
                         struct str_list names, const struct lock_entry ***out,
                         size_t *count, struct err *e)
{
    if (names.count == 0) {
        *out = layer_entries(l, &cx->arena, count);
        return true;
    }
    *count = names.count;
    *out = arena_array(&cx->arena, names.count, sizeof **out);
    return layer_resolve_names(l, names.items, names.count, &cx->arena, *out,
                               e);
}

bool install_team_list(struct context *cx, const struct layer *l,
                       struct store *store, struct str_list names,
                       struct install_team_package **out, size_t *count,
                       struct err *e)
{
    CLEANUP(install_trees_done) struct install_trees trees = {.store = store};
    const struct lock_entry **entries;
    struct install_team_package *list;
    struct arena *a = &cx->arena;
    size_t entry_count, room;

    if (!find_entries(cx, l, names, &entries, &entry_count, e))
        return false;
    room = entry_count + 1;
    for (size_t i = 0; i < entry_count; i++)
        room += entries[i]->also_count + (entries[i]->catalog_commit.n > 0);
    list = arena_array(a, room, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < entry_count; i++) {
        fill(l, store, entries[i], layer_source(l, entries[i]), a,
             &list[(*count)++]);
        fill_also(l, store, entries[i], a, list, count);
        fill_market(l, &trees, entries[i], a, list, count);
    }
    *out = list;
    return true;
}

/* --- one object ---------------------------------------------------------------- */

static bool read_files(struct store *store, const struct hash *digest,
                       struct arena *a, struct archive_file **out,
                       size_t *count, struct err *e)
{
    struct package_file *files;
    struct archive_file *list;

    if (!store_read_listing(store, digest, a, &files, count, e))
        return false;
    list = arena_array(a, *count, sizeof *list);
    for (size_t i = 0; i < *count; i++) {
        list[i] = (struct archive_file){.path = files[i].path,
                                        .executable = files[i].executable};
        if (!store_read(store, &files[i].hash,
                        (size_t)team_package_limits.file_max_bytes, a,
                        &list[i].bytes, e))
            return false;
    }
    *out = list;
    return true;
}

static bool write_package(struct store *store,
                          const struct install_team_package *p, struct buf *out,
                          struct hash *tar, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct archive_file *files;
    size_t count;

    if (!read_files(store, &p->digest, &a, &files, &count, e)) {
        err_hint(e, "mapm install --locked puts it into the store of this "
                    "machine");
        return err_wrap(e, "the store does not have all of it");
    }
    return team_object_write(files, count, out, tar, e);
}

static struct team_blob blob_of(struct str bytes)
{
    return (struct team_blob){hash_of(bytes), bytes.n};
}

static void write_documents(struct team_manifest *m, struct str what,
                            const struct hash *tar, struct arena *a,
                            struct install_team_object *out)
{
    CLEANUP(buf_done) struct buf config = {0}, manifest = {0};

    buf_init(&config, TEAM_MANIFEST_MAX_BYTES);
    buf_init(&manifest, TEAM_MANIFEST_MAX_BYTES);
    team_config_write(what, tar, &config);
    out->config = arena_str(a, buf_str(&config));
    m->layer = blob_of(out->layer);
    m->config = blob_of(out->config);
    team_manifest_write(m, &manifest);
    out->manifest = arena_str(a, buf_str(&manifest));
}

bool install_team_write(struct store *store,
                        const struct install_team_package *p, struct arena *a,
                        struct install_team_object *out, struct err *e)
{
    CLEANUP(buf_done) struct buf layer = {0};
    struct team_manifest m = {
        .revision = p->commit,
        .digest = digest_format(&p->digest, a),
        .type = str_cstr(doc_kind_name(p->entry->kind)),
        .title = p->entry->name,
        .source = lock_origin_text(p->entry),
    };
    struct hash tar;

    buf_init(&layer, TEAM_OBJECT_MAX_BYTES);
    if (!write_package(store, p, &layer, &tar, e))
        return false;
    out->name = p->name;
    out->layer = arena_str(a, buf_str(&layer));
    write_documents(&m,
                    arena_printf(a, "%s %.*s", doc_kind_name(p->entry->kind),
                                 STR_ARG(p->entry->name)),
                    &tar, a, out);
    return true;
}

/* --- proofs -------------------------------------------------------------------- */

void install_trees_done(struct install_trees *t)
{
    arena_done(&t->arena);
    t->key = STR("");
}

static bool trees_of(struct install_trees *t, struct str repository,
                     struct str commit, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str key = arena_join(repository, "\n", commit, &a), text;

    if (t->key.n && str_eq(t->key, key))
        return true;
    install_trees_done(t);
    if (!store_find_trees(t->store, repository, commit, &t->arena, &text))
        return err_set(e, ERR_NOT_FOUND,
                       "the store does not have the trees of commit %.*s",
                       STR_ARG(commit));
    if (!team_trees_read(text, &t->arena, &t->trees, e))
        return false;
    t->key = arena_str(&t->arena, key);
    return true;
}

bool install_trees_prove(struct install_trees *t, struct str repository,
                         struct str commit, const struct team_proof_end *end)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct archive_file *files;
    struct err why = {0};
    size_t count;

    return trees_of(t, repository, commit, &why) &&
           (team_proof_find(&t->trees, commit, end, 1, &team_bundle_limits, &a,
                            &files, &count, &why) ||
            why.code == ERR_LIMIT);
}

#define PATHS_MAX 128 /* possible paths of a marketplace.json */

/* Lists the possible paths, because the ref may end after any segment. */
static size_t market_paths(const struct origin *o, struct arena *a,
                           struct str *out)
{
    struct str rest = o->rest, segment;
    size_t n = 0;

    do {
        struct str path = o->path;

        if (o->rest.n && !o->is_short) {
            if (!str_cut(&rest, '/', &segment))
                break;
            path = rest.p ? rest : STR("");
        }
        if (str_ends(path, STR(".json")) && n < PATHS_MAX)
            out[n++] = path;
        for (const char *const *file = plugin_marketplaces;
             *file && n < PATHS_MAX; file++)
            out[n++] = arena_join(path, "/", str_cstr(*file), a);
    } while (rest.n && rest.p && !o->is_short);
    return n;
}

static bool find_market(struct install_trees *t, const struct layer *l,
                        const struct lock_entry *entry, struct arena *out,
                        struct archive_file **files, size_t *file_count,
                        struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct origin *o = layer_origin(l, entry);
    struct str *paths = arena_array(&a, PATHS_MAX, sizeof *paths);
    size_t count = market_paths(o, &a, paths);

    return trees_of(t, origin_repository(o, &a), entry->catalog_commit, e) &&
           team_market_find(&t->trees, entry->catalog_commit, paths, count, out,
                            files, file_count, e);
}

bool install_trees_have_market(struct install_trees *t, const struct layer *l,
                               const struct lock_entry *entry)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct archive_file *files;
    struct err why = {0};
    size_t count;

    return !needs_market(l, entry) ||
           find_market(t, l, entry, &a, &files, &count, &why);
}

/* Named by its hash, as objects of git are by their ids. */
static bool find_artifact(struct store *store,
                          const struct install_team_package *p, struct arena *a,
                          struct archive_file **files, size_t *count,
                          struct err *e)
{
    struct archive_file *file = arena_new(a, struct archive_file);

    file->path = hash_hex(&p->artifact, a);
    *files = file;
    *count = 1;
    return store_read(store, &p->artifact, ARTIFACT_MAX_BYTES, a, &file->bytes,
                      e);
}

bool install_team_find(struct install_trees *t,
                       const struct install_team_package *const *of,
                       size_t count, const struct team_limits *limits,
                       struct arena *out, struct archive_file **files,
                       size_t *file_count, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct team_proof_end *ends = arena_array(&a, count, sizeof *ends);

    if (of[0]->is_of_index)
        return find_artifact(t->store, of[0], out, files, file_count, e);
    if (of[0]->is_market)
        return find_market(t, of[0]->layer, of[0]->entry, out, files,
                           file_count, e);
    for (size_t i = 0; i < count; i++)
        ends[i] = (struct team_proof_end){of[i]->path, of[i]->entry->object};
    return trees_of(t, of[0]->repository, of[0]->commit, e) &&
           team_proof_find(&t->trees, of[0]->commit, ends, count, limits, out,
                           files, file_count, e);
}

struct str install_team_from_host(const struct err *why, struct arena *a)
{
    return arena_printf(a, "%s: it comes from the git host", err_first(why));
}

static bool write_proof(struct archive_file *files, size_t count,
                        struct str name, struct str commit, struct str what,
                        struct arena *a, struct install_team_object *out,
                        struct err *e)
{
    CLEANUP(buf_done) struct buf layer = {0};
    struct team_manifest m = {.is_proof = true, .revision = commit};
    struct hash tar;

    buf_init(&layer, TEAM_OBJECT_MAX_BYTES);
    if (!team_object_write(files, count, &layer, &tar, e))
        return false;
    out->name = name;
    out->layer = arena_str(a, buf_str(&layer));
    write_documents(&m, what, &tar, a, out);
    return true;
}

/* The content of a proof must not depend on names in the lock. */
static struct str proof_title(const struct install_team_package *p,
                              struct arena *a)
{
    return p->is_market ? STR("proof of a marketplace")
           : p->is_of_index
               ? STR("artifact of an index")
               : arena_join(STR("proof of"), " ", p->entry->object, a);
}

bool install_team_prove(struct install_trees *t,
                        const struct install_team_package *const *of,
                        size_t count, struct arena *a,
                        struct install_team_object *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct archive_file *files;
    size_t n;

    return install_team_find(t, of, count, &team_bundle_limits, &scratch,
                             &files, &n, e) &&
           write_proof(files, n, of[0]->proof, of[0]->commit,
                       count > 1 ? arena_printf(&scratch,
                                                "proof of %zu packages", count)
                                 : proof_title(of[0], &scratch),
                       a, out, e);
}

void install_team_trees(struct install_trees *t,
                        const struct install_team_package *p, struct arena *a,
                        struct archive_file **trees, size_t *count)
{
    struct archive_file *files;
    struct err ignored = {0};
    size_t n;

    *count = 0;
    /* a marketplace and an artifact are of one package */
    if (p->is_market || p->is_of_index ||
        !install_team_find(t, &p, 1, &team_proof_limits, a, &files, &n,
                           &ignored))
        return;
    *trees = files;
    for (size_t i = 1; i < n; i++)
        if (files[i].bytes.n > TEAM_TREE_MAX_BYTES)
            files[(*count)++] = files[i];
}

bool install_team_share(struct install_trees *t,
                        const struct install_team_package *p,
                        const struct map *apart, struct arena *a,
                        struct install_team_object *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct archive_file *files;
    size_t n;

    if (!install_team_find(t, &p, 1, &team_proof_limits, &scratch, &files, &n,
                           e))
        return false;
    if (!p->is_market && !p->is_of_index)
        team_proof_split(files, n, p->repository, apart, &scratch);
    return write_proof(files, n, p->proof, p->commit, proof_title(p, &scratch),
                       a, out, e);
}

/* The same tree gives the same object, whatever its commit is. */
bool install_team_share_tree(struct install_trees *t,
                             const struct install_team_package *p,
                             struct str tree, struct arena *a,
                             struct install_team_object *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct archive_file file = {.path = tree};

    if (!trees_of(t, p->repository, p->commit, e))
        return false;
    if (!team_trees_find(&t->trees, tree, &file.bytes))
        return err_set(e, ERR_NOT_FOUND, "the store does not have tree %.*s",
                       STR_ARG(tree));
    return write_proof(&file, 1, team_tree_name(p->repository, tree, a),
                       STR(""), arena_join(STR("tree"), " ", tree, &scratch), a,
                       out, e);
}
