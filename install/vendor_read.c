#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"
#include "mapm/team_bundle.h"

#include "offline.h"

/* Reads a vendor folder like other files of the workspace: each file is hashed
 * and compared with the listing and the lock. Packages that the store lacks
 * become a bundle in memory, whose proofs mapm-fetch verifies. Packages of a
 * commit share a proof up to its maximum size. */

/* Maximum size of a list of ids. */
#define PROOF_MAX_BYTES (PROOF_MAX_OBJECTS * 41u)

struct reading {
    struct install_session *s;
    struct str path; /* path of the folder, for messages */
    int fd;
    struct package_file *files; /* files in the listing */
    size_t count;
    struct team_bundle_writer writer;
    struct map names;                    /* names in the bundle */
    struct install_team_package *proved; /* packages whose proofs are to be
                                          * added */
    size_t proved_count;
    struct arena *a;
};

/* A proof that is being collected. */
struct proving {
    struct arena a;
    struct map objects; /* ids */
    struct archive_file *files;
    size_t count, capacity;
    uint64_t bytes;
    const struct install_team_package *const *of;
    size_t of_count;
};

static bool open_path(struct reading *r, struct err *e)
{
    struct str top = r->s->layers.whole.path;
    CLEANUP_FD int fd = -1;

    if (!fs_path_is_within(r->path, top) || r->path.n == top.n)
        return fs_open_dir(r->path.p, &r->fd, e);
    return fs_open_dir(top.p, &fd, e) &&
           fs_open_dir_at(fd, r->path.p + top.n + 1, &r->fd, e);
}

static bool open_folder(struct reading *r, struct str folder, struct err *e)
{
    struct str top = r->s->layers.whole.path;

    r->path = folder.n
                  ? fs_normalize(fs_join(r->s->cx->cwd, folder, r->a), r->a)
                  : fs_join(top, STR(VENDOR_FOLDER), r->a);
    if (open_path(r, e))
        return true;
    if (e->code == ERR_NOT_FOUND)
        err_hint(e, "run mapm vendor where the network is, and commit it");
    return err_wrap(e, "cannot install from %.*s", STR_ARG(r->path));
}

static bool read_listing(struct reading *r, struct err *e)
{
    struct str text;

    if (!fs_read_file_at(r->fd, VENDOR_LISTING, LISTING_MAX_BYTES, r->a, &text,
                         e) ||
        !store_listing_parse(text, r->a, &r->files, &r->count, e)) {
        err_hint(e, "mapm vendor writes such a folder");
        return err_wrap(e, "%.*s is not a vendor folder", STR_ARG(r->path));
    }
    return true;
}

/* Reads a file and compares it with the listing. */
static bool read_file(struct reading *r, const struct package_file *f,
                      struct arena *a, struct str *out, struct err *e)
{
    struct hash hash;

    if (!fs_read_file_at(r->fd, f->path.p, FILE_MAX_BYTES, a, out, e)) {
        err_wrap(e, "%.*s/%.*s", STR_ARG(r->path), STR_ARG(f->path));
    } else {
        hash = hash_of(*out);
        if (hash_eq(&hash, &f->hash))
            return true;
        err_set(e, ERR_EDITED, "%.*s/%.*s was edited", STR_ARG(r->path),
                STR_ARG(f->path));
    }
    return err_hint(e,
                    "take it from version control again, or run mapm vendor");
}

static const struct package_file *find_file(const struct reading *r,
                                            struct str path)
{
    size_t i = STR_FIRST_AT(r->files, r->count, path, path);

    return i < r->count && str_eq(r->files[i].path, path) ? &r->files[i] : NULL;
}

/* Returns the first file of the listing below `place`, and their number. */
static const struct package_file *files_below(const struct reading *r,
                                              struct str place, size_t *count)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str folder = arena_join(place, "/", STR(""), &a);
    size_t i = STR_FIRST_AT(r->files, r->count, path, folder), n = 0;

    while (i + n < r->count && str_starts(r->files[i + n].path, folder))
        n++;
    *count = n;
    return &r->files[i];
}

static bool check_digest(const struct reading *r, const struct hash *digest,
                         const struct package_file *files, size_t count,
                         struct str place, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct package_file *own = arena_array(&a, count + 1, sizeof *own);
    struct hash is;
    struct str text;

    for (size_t i = 0; i < count; i++) {
        own[i] = files[i];
        own[i].path = str_from_index(files[i].path, place.n + 1);
    }
    is = store_listing_format(own, count, &a, &text);
    if (count && hash_eq(&is, digest))
        return true;
    err_set(e, count ? ERR_EDITED : ERR_NOT_FOUND,
            count ? "%.*s/%.*s is not what mapm.lock holds"
                  : "%.*s/%.*s is not there",
            STR_ARG(r->path), STR_ARG(place));
    return err_hint(e, "run mapm vendor where the network is, and commit it");
}

/* Adds a layer to the bundle; its manifest is created here and not
 * interpreted. */
static bool add_layer(struct reading *r, struct str name, bool proves,
                      struct str layer, struct err *e)
{
    CLEANUP(buf_done) struct buf config = {0}, manifest = {0};
    struct hash layer_hash = hash_of(layer);
    struct team_manifest m = {.is_proof = proves,
                              .layer = {layer_hash, layer.n}};

    buf_init(&config, TEAM_MANIFEST_MAX_BYTES);
    buf_init(&manifest, TEAM_MANIFEST_MAX_BYTES);
    team_config_write(STR("vendor"), &layer_hash, &config);
    m.config = (struct team_blob){hash_of(buf_str(&config)), config.n};
    team_manifest_write(&m, &manifest);
    return team_bundle_add(&r->writer, name, buf_str(&manifest),
                           buf_str(&config), layer, e);
}

static bool add_package(struct reading *r, const struct install_team_package *p,
                        struct str place, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf layer = {0};
    struct archive_file *list;
    const struct package_file *files;
    size_t count;

    files = files_below(r, place, &count);
    if (!check_digest(r, &p->digest, files, count, place, e))
        return false;
    list = arena_array(&a, count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct archive_file){
            .path = str_from_index(files[i].path, place.n + 1),
            .executable = files[i].executable};
        if (!read_file(r, &files[i], &a, &list[i].bytes, e))
            return false;
    }
    buf_init(&layer, TEAM_OBJECT_MAX_BYTES);
    return team_object_write(list, count, &layer, NULL, e) &&
           add_layer(r, p->name, false, buf_str(&layer), e);
}

/* --- proofs ------------------------------------------------------------------- */

static bool lack(const struct reading *r, struct str place, struct err *e)
{
    err_set(e, ERR_NOT_FOUND, "%.*s has no proof, %.*s", STR_ARG(r->path),
            STR_ARG(place));
    return err_hint(e, "run mapm vendor where the network is, and commit it");
}

static bool has_proof(const struct reading *r, struct str name)
{
    CLEANUP(arena_done) struct arena a = {0};

    return find_file(r, offline_proof_place(name, &a)) != NULL;
}

static bool read_proof(struct reading *r, struct str name, struct arena *a,
                       struct str *out, struct err *e)
{
    struct str place = offline_proof_place(name, a);
    const struct package_file *f = find_file(r, place);

    if (!f)
        return lack(r, place, e);
    return read_file(r, f, a, out, e) &&
           (out->n <= PROOF_MAX_BYTES ||
            err_set(e, ERR_LIMIT, "%.*s/%.*s is too long", STR_ARG(r->path),
                    STR_ARG(place)));
}

static bool add_object(struct reading *r, struct proving *g, struct str id,
                       struct err *e)
{
    struct str place = offline_object_place(id, &g->a), bytes;
    const struct package_file *f = find_file(r, place);

    if (map_has(&g->objects, id))
        return true;
    if (!f)
        return lack(r, place, e);
    if (!read_file(r, f, &g->a, &bytes, e))
        return false;
    g->bytes += bytes.n;
    map_put(&g->objects, id, g);
    g->files =
        arena_grow(&g->a, g->files, g->count, &g->capacity, sizeof *g->files);
    g->files[g->count++] = (struct archive_file){.path = id, .bytes = bytes};
    return true;
}

static const struct team_limits *limits_of(const struct proving *g)
{
    return g->of[0]->is_of_index ? &team_artifact_limits : &team_bundle_limits;
}

static bool is_too_large(const struct proving *g)
{
    return g->bytes > limits_of(g)->max_bytes ||
           g->count > limits_of(g)->max_files;
}

/* Adds the objects of a package, until the proof is too large, which is an error
 * if it is the only package. */
static bool add_objects(struct reading *r, struct proving *g, struct str name,
                        struct err *e)
{
    const struct team_limits *most = limits_of(g);
    struct str ids, id;

    if (!read_proof(r, name, &g->a, &ids, e))
        return false;
    while (!is_too_large(g) && ids.n && str_cut(&ids, '\n', &id))
        if (!add_object(r, g, id, e))
            return false;
    return !is_too_large(g) || g->of_count ||
           err_set(e, ERR_LIMIT,
                   "a proof has more than %llu KiB or %zu objects",
                   (unsigned long long)most->max_bytes >> 10, most->max_files);
}

/* Ends a proof and adds it under the name of each package that it proves. */
static bool end_proof(struct reading *r, struct proving *g, size_t count,
                      struct err *e)
{
    CLEANUP(buf_done) struct buf layer = {0};

    buf_init(&layer, TEAM_OBJECT_MAX_BYTES);
    if (!team_object_write(g->files, count, &layer, NULL, e) ||
        !add_layer(r, g->of[0]->asked, true, buf_str(&layer), e))
        return false;
    for (size_t i = 1; i < g->of_count; i++)
        team_bundle_name(&r->writer, g->of[i]->asked);
    return true;
}

static void begin_proof(struct proving *g,
                        const struct install_team_package *const *of)
{
    arena_done(&g->a);
    *g = (struct proving){.of = of};
    map_init(&g->objects, &g->a);
}

/* Adds a package to the current proof, or starts the next one. */
static bool prove(struct reading *r, struct proving *g,
                  const struct install_team_package *const *p, struct err *e)
{
    size_t before = g->count;

    if (g->of_count && offline_are_together(g->of[0], *p)) {
        if (!add_objects(r, g, (*p)->asked, e))
            return false;
        if (!is_too_large(g)) {
            g->of_count++;
            return true;
        }
    }
    if (g->of_count && !end_proof(r, g, before, e))
        return false;
    begin_proof(g, p);
    if (!add_objects(r, g, (*p)->asked, e))
        return false;
    g->of_count = 1;
    return true;
}

static bool add_proofs(struct reading *r, struct err *e)
{
    struct proving g = {.of_count = 0};
    size_t count;
    const struct install_team_package **of =
        offline_by_commit(r->proved, r->proved_count, r->a, &count);
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++)
        ok = prove(r, &g, &of[i], e) ||
             err_wrap(e, "cannot install %s %.*s",
                      doc_kind_name(of[i]->entry->kind),
                      STR_ARG(of[i]->entry->name));
    ok = ok && (g.of_count == 0 || end_proof(r, &g, g.count, e));
    arena_done(&g.a);
    return ok;
}

/* --- all ------------------------------------------------------------------------ */

static bool add_one(struct reading *r, const struct install_team_package *p,
                    struct err *e)
{
    struct str place = offline_place(&r->s->layers.whole.lock, p->entry, r->a);
    bool is_new = !map_has(&r->names, p->name);

    /* without a known or listed path it is not an origin of this content */
    if (p->kept_back ||
        (p->proof.n && store_has_package(r->s->store, &p->digest)) ||
        (p->is_also && !has_proof(r, p->asked)))
        return true;
    map_put(&r->names, p->name, r);
    r->proved[r->proved_count++] = *p;
    if (!is_new || add_package(r, p, place, e))
        return true;
    return err_wrap(e, "cannot install %s %.*s", doc_kind_name(p->entry->kind),
                    STR_ARG(p->entry->name));
}

static bool add_all(struct reading *r, struct err *e)
{
    struct install_team_package *all;
    size_t count;

    if (!install_team_list(r->s->cx, &r->s->layers.whole, r->s->store,
                           (struct str_list){NULL, 0}, &all, &count, e))
        return false;
    r->proved = arena_array(r->a, count + 1, sizeof *r->proved);
    for (size_t i = 0; i < count; i++)
        if (!add_one(r, &all[i], e))
            return false;
    return add_proofs(r, e);
}

bool offline_read_vendor(struct install_session *s, struct str folder, int *fd,
                         struct err *e)
{
    CLEANUP_FD int scratch = -1;
    struct reading r = {.s = s, .fd = -1, .a = &s->cx->arena};
    bool ok;

    map_init(&r.names, r.a);
    if (!offline_scratch(&scratch, e) || !offline_scratch(fd, e))
        return false;
    team_bundle_begin(&r.writer, scratch);
    ok = open_folder(&r, folder, e) && read_listing(&r, e) && add_all(&r, e) &&
         team_bundle_end(&r.writer, *fd, e);
    team_bundle_done(&r.writer);
    fs_close(&r.fd);
    return ok;
}
