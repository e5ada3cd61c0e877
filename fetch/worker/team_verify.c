#include "mapm/team_object.h"

#include "team_store.h"

/* Verifies data from a remote by the lock's digest and by git ids. */

/* --- packages ------------------------------------------------------------- */

static struct team_limits limits_of(const struct session *s)
{
    return (struct team_limits){
        .max_files = s->limits.package_max_files.value,
        .max_bytes = s->limits.package_max_bytes.value,
        .file_max_bytes = s->limits.file_max_bytes.value,
    };
}

/* Computes the digest of the listing (mapm/store.h); the files are in its
 * order. */
static struct hash listing_digest(const struct archive_file *files,
                                  const struct hash *hashes, size_t count)
{
    struct hash_state state;

    hash_init(&state);
    for (size_t i = 0; i < count; i++) {
        char hex[HASH_HEX_CHARS + 1];

        hash_format(&hashes[i], hex);
        hash_add(&state, files[i].executable ? STR("100755 ") : STR("100644 "));
        hash_add(&state, str_make(hex, HASH_HEX_CHARS));
        hash_add(&state, STR(" "));
        hash_add(&state, files[i].path);
        hash_add(&state, STR("\n"));
    }
    return hash_end(&state);
}

static bool fail_digest(const struct hash *found, const struct hash *want,
                        struct err *e)
{
    char one[HASH_HEX_CHARS + 1], two[HASH_HEX_CHARS + 1];

    hash_format(found, one);
    hash_format(want, two);
    return err_set(e, ERR_DAMAGED,
                   "its content is sha256:%s, and mapm.lock says sha256:%s",
                   one, two);
}

static bool put_file(struct session *s, struct str bytes,
                     const struct hash *hash, struct team_part *out,
                     struct err *e)
{
    out->hash = *hash;
    out->size = bytes.n;
    out->is_lfs = blob_is_lfs_pointer(bytes);
    return oid_of(OBJECT_BLOB, bytes, &out->id, e) &&
           parts_put(&s->parts, hash, bytes, &out->offset, e);
}

bool team_verify_object(struct session *s, struct str gz,
                        const struct hash *digest, struct arena *a,
                        struct team_part **out, size_t *count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct team_limits limits = limits_of(s);
    struct archive_file *files;
    struct team_part *parts;
    struct hash *hashes, found;
    size_t n;

    if (!team_object_read(gz, &limits, &scratch, &files, &n, NULL, e))
        return false;
    hashes = arena_array(&scratch, n + 1, sizeof *hashes);
    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_of(files[i].bytes);
    found = listing_digest(files, hashes, n);
    if (!hash_eq(&found, digest))
        return fail_digest(&found, digest, e);
    parts = arena_array(a, n + 1, sizeof *parts);
    for (size_t i = 0; i < n; i++)
        if (!put_file(s, files[i].bytes, &hashes[i], &parts[i], e))
            return false;
    *out = parts;
    *count = n;
    return true;
}

/* --- artifacts ------------------------------------------------------------ */

bool team_verify_artifact(struct session *s, struct str gz,
                          const struct hash *digest, struct arena *a,
                          struct team_part **out, size_t *count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct limit *most = &s->limits.file_max_bytes;
    struct archive_file *files;
    struct hash found;
    size_t n;

    if (!team_object_read(gz, &team_artifact_limits, &scratch, &files, &n, NULL,
                          e))
        return false;
    if (n != 1)
        return err_set(e, ERR_DAMAGED, "it is not one artifact");
    if (files->bytes.n > most->value)
        return limit_fail(most, e, "the artifact has %zu bytes",
                          files->bytes.n);
    found = hash_of(files->bytes);
    if (!hash_eq(&found, digest))
        return fail_digest(&found, digest, e);
    *out = arena_new(a, struct team_part);
    *count = 1;
    return put_file(s, files->bytes, &found, *out, e) &&
           parts_flush(&s->parts, e);
}

/* --- proofs --------------------------------------------------------------- */

/* Adds an object. Its type is the one that matches the id; returns OBJECT_TAG if
 * none does. Blobs have at most `text_max` bytes. */
static bool put_object(struct repo *r, const struct archive_file *file,
                       const struct oid *want, size_t text_max,
                       enum object_type *found, struct err *e)
{
    static const enum object_type types[] = {OBJECT_TREE, OBJECT_COMMIT,
                                             OBJECT_BLOB};
    struct oid id;

    *found = OBJECT_TAG;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i] == OBJECT_BLOB && file->bytes.n > text_max)
            continue;
        if (!oid_of(types[i], file->bytes, &id, e))
            return false;
        if (!oid_eq(&id, want))
            continue;
        objects_put(&r->objects, types[i], &id, file->bytes);
        r->has_links |= types[i] == OBJECT_BLOB;
        *found = types[i];
        return true;
    }
    return true;
}

static bool fail_object(struct str name, struct err *e)
{
    return err_set(e, ERR_DAMAGED, "the object %.*s is not what its name says",
                   STR_ARG(name));
}

/* Notes a tree that is an object of its own. With the others it must not be more
 * than a proof may have. */
static bool note_tree(struct team_proof *p, const struct archive_file *file,
                      const struct oid *id, uint64_t *bytes, struct err *e)
{
    struct team_tree *t = &p->trees[p->tree_count];

    if (p->is_market || !team_tree_size(file->bytes, &t->size))
        return fail_object(file->path, e);
    *bytes += t->size;
    if (*bytes > p->limits->max_bytes)
        return err_set(e, ERR_LIMIT, "more than %llu bytes",
                       (unsigned long long)p->limits->max_bytes);
    t->id = *id;
    p->tree_count++;
    return true;
}

static bool put_objects(struct team_proof *p, const struct archive_file *files,
                        size_t count, struct err *e)
{
    size_t text_max =
        p->is_market ? TEAM_MARKET_MAX_BYTES : TREE_LINK_MAX_BYTES;
    uint64_t bytes = 0;

    p->files = arena_array(p->a, p->is_market ? count : 0, sizeof *p->files);
    p->trees = arena_array(p->a, count, sizeof *p->trees);
    p->count = p->tree_count = 0;
    for (size_t i = 0; i < count; i++) {
        enum object_type type;
        struct hash hash;
        struct oid id;

        if (!oid_parse(files[i].path, &id))
            return err_set(e, ERR_DAMAGED,
                           "a proof has a file that is no object");
        bytes += files[i].bytes.n;
        if (!put_object(p->repo, &files[i], &id, text_max, &type, e) ||
            (type == OBJECT_TAG && !note_tree(p, &files[i], &id, &bytes, e)))
            return false;
        if (!p->is_market || type != OBJECT_BLOB)
            continue;
        hash = hash_of(files[i].bytes);
        if (!put_file(p->repo->session, files[i].bytes, &hash,
                      &p->files[p->count++], e))
            return false;
    }
    p->repo->has_market |= p->is_market;
    return true;
}

bool team_verify_proof(struct team_proof *p, struct str gz, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct object *o;
    struct archive_file *files;
    struct oid root;
    size_t count;

    if (!team_object_read(gz, p->limits, &scratch, &files, &count, NULL, e) ||
        !put_objects(p, files, count, e))
        return false;
    o = objects_find(&p->repo->objects, &p->commit);
    if (!o || o->type != OBJECT_COMMIT)
        return err_set(e, ERR_DAMAGED, "a proof lacks its commit");
    return commit_tree(o->bytes, &root, e);
}

bool team_verify_tree(struct repo *r, struct str gz, const struct oid *id,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    enum object_type type;
    struct archive_file *files;
    struct oid named;
    size_t count;

    if (!team_object_read(gz, &team_proof_limits, &scratch, &files, &count,
                          NULL, e))
        return false;
    if (count != 1 || !oid_parse(files->path, &named) || !oid_eq(&named, id))
        return err_set(e, ERR_DAMAGED, "it is not this tree");
    return put_object(r, files, id, 0, &type, e) &&
           (type == OBJECT_TREE || fail_object(files->path, e));
}

void team_trees_use(struct repo *r, struct snapshot *s)
{
    const struct object *o = objects_find(&r->objects, &s->commit);
    struct err ignored = {0};
    struct oid root;

    if (s->trees != TREES_NEEDED || !o || o->type != OBJECT_COMMIT ||
        !commit_tree(o->bytes, &root, &ignored) ||
        !objects_find(&r->objects, &root))
        return;
    s->root = root;
    s->trees = TREES_HERE;
    s->is_walked = true; /* missing trees are fetched one by one */
}
