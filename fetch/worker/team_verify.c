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
static struct hash listing_digest(const struct team_file *files,
                                  const struct hash *hashes, size_t count)
{
    struct hash_state state;

    hash_init(&state);
    for (size_t i = 0; i < count; i++) {
        char hex[HASH_HEX_CHARS + 1];

        hash_format(&hashes[i], hex);
        hash_add(&state, files[i].is_program ? STR("100755 ") : STR("100644 "));
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
    struct team_file *files;
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
    struct team_file *files;
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

/* Adds an object. Its type is the one that matches the id; `*is_text` is set
 * for a blob. */
static bool put_object(struct repo *r, const struct team_file *file,
                       size_t text_max, bool *is_text, struct err *e)
{
    static const enum object_type types[] = {OBJECT_TREE, OBJECT_COMMIT,
                                             OBJECT_BLOB};
    struct oid want, id;

    if (!oid_parse(file->path, &want))
        return err_set(e, ERR_DAMAGED, "a proof has a file that is no object");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i] == OBJECT_BLOB && file->bytes.n > text_max)
            continue;
        if (!oid_of(types[i], file->bytes, &id, e))
            return false;
        if (!oid_eq(&id, &want))
            continue;
        objects_put(&r->objects, types[i], &id, file->bytes);
        *is_text = types[i] == OBJECT_BLOB;
        r->has_links |= *is_text;
        return true;
    }
    return err_set(e, ERR_DAMAGED, "the object %.*s is not what its name says",
                   STR_ARG(file->path));
}

/* With `a`, texts are also returned as files in `*out`. */
static bool put_objects(struct repo *r, const struct team_file *files,
                        size_t count, struct arena *a, struct team_part **out,
                        size_t *out_count, struct err *e)
{
    size_t text_max = a ? TEAM_MARKET_MAX_BYTES : TREE_LINK_MAX_BYTES;
    struct team_part *parts =
        a ? arena_array(a, count + 1, sizeof *parts) : NULL;
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct hash hash;
        bool is_text = false;

        if (!put_object(r, &files[i], text_max, &is_text, e))
            return false;
        if (!a || !is_text)
            continue;
        hash = hash_of(files[i].bytes);
        if (!put_file(r->session, files[i].bytes, &hash, &parts[n++], e))
            return false;
    }
    if (a) {
        r->has_market = true;
        *out = parts;
        *out_count = n;
    }
    return true;
}

bool team_verify_proof(struct repo *r, struct str gz,
                       const struct team_limits *limits,
                       const struct oid *commit, struct arena *a,
                       struct team_part **out, size_t *out_count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct snapshot *s = snapshot_get(r, commit);
    const struct object *o;
    struct team_file *files;
    struct hash hash = hash_of(gz);
    struct oid root;
    size_t count;

    if (!a && s->has_proof && hash_eq(&hash, &s->proof))
        return true;
    if (!team_object_read(gz, limits, &scratch, &files, &count, NULL, e) ||
        !put_objects(r, files, count, a, out, out_count, e))
        return false;
    o = objects_find(&r->objects, commit);
    if (!o || o->type != OBJECT_COMMIT)
        return err_set(e, ERR_DAMAGED, "a proof lacks its commit");
    if (!commit_tree(o->bytes, &root, e))
        return false;
    s->proof = hash;
    s->has_proof = true;
    if (s->trees != TREES_NEEDED || !objects_find(&r->objects, &root))
        return true;
    s->root = root;
    s->trees = TREES_HERE;
    s->is_walked = true; /* missing trees are fetched one by one */
    return true;
}
