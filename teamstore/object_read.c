#include "base/map.h"
#include "base/path.h"
#include "mapm/team_object.h"

#include <zlib.h>

#include "tar.h"

/* clang-format off */
const struct team_limits team_package_limits = {
    PACKAGE_MAX_FILES, PACKAGE_MAX_BYTES, FILE_MAX_BYTES,
};
const struct team_limits team_proof_limits = {
    PACKAGE_MAX_FILES, TEAM_PROOF_MAX_BYTES, TEAM_PROOF_MAX_BYTES,
};
const struct team_limits team_bundle_limits = {
    PROOF_MAX_OBJECTS, COMMIT_TREES_MAX_BYTES, COMMIT_TREES_MAX_BYTES,
};
const struct team_limits team_market_limits = {
    PACKAGE_MAX_FILES, TEAM_MARKET_MAX_BYTES, TEAM_MARKET_MAX_BYTES,
};
const struct team_limits team_artifact_limits = {
    1, ARTIFACT_MAX_BYTES, ARTIFACT_MAX_BYTES,
};
/* clang-format on */

#define GZIP_HEAD                                                              \
    "\x1f\x8b\x08\0\0\0\0\0\0\xff" /* header of gzip without name, time or system */
#define PAX_MAX_BYTES (PACKAGE_PATH_MAX_BYTES + 32)

struct reader {
    z_stream z;
    bool open, ended; /* state of the compressed stream */
    struct hash_state hash;
    const struct team_limits *limits;
    struct arena *a;
    struct archive_file *files;
    size_t count, capacity;
    uint64_t bytes;  /* total size of the files */
    struct map seen; /* paths of files and of their folders */
    struct err *e;
};

static bool odd(struct reader *r, const char *why)
{
    return err_set(r->e, ERR_FORMAT, "not written by mapm: %s", why);
}

static bool open_reader(struct reader *r, struct str gz)
{
    if (!str_starts(gz, STR(GZIP_HEAD)))
        return odd(r, "it does not begin like an object of a team store");
    if (gz.n > TEAM_OBJECT_MAX_BYTES)
        return err_set(r->e, ERR_LIMIT, "an object is larger than %u MiB",
                       TEAM_OBJECT_MAX_BYTES >> 20);
    if (inflateInit2(&r->z, 15 + 16) != Z_OK)
        return err_set(r->e, ERR_FAILED, "zlib does not start");
    r->open = true;
    r->z.next_in = (unsigned char *)(uintptr_t)gz.p;
    r->z.avail_in = (unsigned)gz.n;
    hash_init(&r->hash);
    map_init(&r->seen, r->a);
    return true;
}

static void close_reader(struct reader *r)
{
    if (r->open)
        inflateEnd(&r->z);
    r->open = false;
}

/* Reads the next `n` bytes of the archive; returns false at its end. */
static bool get(struct reader *r, char *p, size_t n)
{
    r->z.next_out = (unsigned char *)p;
    r->z.avail_out = (unsigned)n;
    while (r->z.avail_out && !r->ended) {
        int said = inflate(&r->z, Z_NO_FLUSH);

        if (said == Z_STREAM_END)
            r->ended = true;
        else if (said != Z_OK)
            return odd(r, "it is damaged, or cut off");
    }
    if (r->z.avail_out)
        return odd(r, "it ends too early");
    hash_add(&r->hash, str_make(p, n));
    return true;
}

static bool get_padding(struct reader *r, uint64_t size)
{
    char rest[TAR_BLOCK];
    size_t n = tar_padding(size);

    if (!get(r, rest, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (rest[i])
            return odd(r, "bytes behind a file");
    return true;
}

/* Rejects duplicates and files at the path of a folder; paths must be strictly
 * ascending. */
static bool check_place(struct reader *r, struct str path)
{
    static char file, folder;

    if (r->count && str_cmp(r->files[r->count - 1].path, path) >= 0)
        return odd(r, "files are not in the order of their paths");
    for (size_t i = 0; i < path.n; i++) {
        struct str above = str_slice(path, 0, i);

        if (path.p[i] != '/')
            continue;
        if (map_find(&r->seen, above) == &file)
            return odd(r, "a file is a folder, too");
        map_put(&r->seen, above, &folder);
    }
    map_put(&r->seen, path, &file);
    return true;
}

static bool check_size(struct reader *r, struct str path, uint64_t size)
{
    const struct team_limits *l = r->limits;

    if (r->count >= l->max_files)
        return err_set(r->e, ERR_LIMIT, "more than %zu files", l->max_files);
    if (size > l->file_max_bytes)
        return err_set(r->e, ERR_LIMIT, "%.*s has more than %llu bytes",
                       STR_ARG(path), (unsigned long long)l->file_max_bytes);
    if (size > l->max_bytes - r->bytes)
        return err_set(r->e, ERR_LIMIT, "more than %llu bytes",
                       (unsigned long long)l->max_bytes);
    return true;
}

/* Formats the headers again and compares, so that no field needs its own
 * check. */
static bool check_heads(struct reader *r, const struct archive_file *f,
                        uint64_t size, struct str heads)
{
    CLEANUP(buf_done) struct buf again;

    buf_init(&again, TAR_HEAD_MAX_BYTES);
    tar_head(f->path, f->executable, size, &again);
    return str_eq(buf_str(&again), heads) ||
           odd(r, "an entry is no plain file of mode 644 or 755, or its "
                  "header has more than that");
}

static bool take_file(struct reader *r, struct str path,
                      const struct tar_entry *entry, struct str heads)
{
    struct archive_file f = {.path = arena_str(r->a, path),
                             .executable = entry->is_program};
    char *bytes;

    if (!path_check(f.path, PACKAGE_PATH_MAX_BYTES, r->e) ||
        !check_heads(r, &f, entry->size, heads) || !check_place(r, f.path) ||
        !check_size(r, f.path, entry->size))
        return false;
    bytes = arena_alloc(r->a, (size_t)entry->size + 1);
    if (!get(r, bytes, (size_t)entry->size) || !get_padding(r, entry->size))
        return false;
    f.bytes = str_make(bytes, (size_t)entry->size);
    r->bytes += entry->size;
    r->files = arena_grow(r->a, r->files, r->count, &r->capacity, sizeof f);
    r->files[r->count++] = f;
    return true;
}

/* Reads a pax record, which is in `heads` after its own header, and the file's
 * header. */
static bool take_long(struct reader *r, char heads[TAR_HEAD_MAX_BYTES],
                      struct tar_entry *entry)
{
    size_t n = (size_t)entry->size, at = TAR_BLOCK + n + tar_padding(n);
    struct str path = tar_pax_path(str_make(heads + TAR_BLOCK, n));

    if (path.p == NULL)
        return odd(r, "a pax header that is no path");
    if (tar_parse(heads + at, entry) != TAR_FILE)
        return odd(r, "a pax header without a file");
    return take_file(r, path, entry, str_make(heads, at + TAR_BLOCK));
}

static bool take_pax(struct reader *r, char heads[TAR_HEAD_MAX_BYTES],
                     struct tar_entry *entry)
{
    if (entry->size > PAX_MAX_BYTES)
        return odd(r, "a pax header that is no path");
    if (!get(r, heads + TAR_BLOCK,
             (size_t)entry->size + tar_padding(entry->size) + TAR_BLOCK))
        return false;
    return take_long(r, heads, entry);
}

/* Reads the second zero block and checks that nothing follows. */
static bool take_end(struct reader *r)
{
    char block[TAR_BLOCK], more;
    struct tar_entry entry;

    if (!get(r, block, sizeof block))
        return false;
    if (tar_parse(block, &entry) != TAR_END)
        return odd(r, "bytes behind its end");
    r->z.next_out = (unsigned char *)&more;
    r->z.avail_out = 1;
    if (!r->ended && inflate(&r->z, Z_FINISH) != Z_STREAM_END)
        return odd(r, "bytes behind its end, or it is damaged");
    return (r->z.avail_out && r->z.avail_in == 0) ||
           odd(r, "bytes behind its end");
}

static bool take_entries(struct reader *r)
{
    char heads[TAR_HEAD_MAX_BYTES];
    struct tar_entry entry;

    for (;;) {
        if (!get(r, heads, TAR_BLOCK))
            return false;
        switch (tar_parse(heads, &entry)) {
        case TAR_FILE:
            if (!take_file(r, str_cstr(entry.path), &entry,
                           str_make(heads, TAR_BLOCK)))
                return false;
            break;
        case TAR_PAX:
            if (!take_pax(r, heads, &entry))
                return false;
            break;
        case TAR_END:
            return take_end(r);
        case TAR_OTHER:
            return odd(r, "an entry is no plain file");
        }
    }
}

bool team_object_read(struct str gz, const struct team_limits *limits,
                      struct arena *a, struct archive_file **files,
                      size_t *count, struct hash *tar, struct err *e)
{
    CLEANUP(close_reader)
    struct reader r = {.limits = limits, .a = a, .e = e};

    if (!open_reader(&r, gz) || !take_entries(&r))
        return false;
    if (tar)
        *tar = hash_end(&r.hash);
    *files = r.files;
    *count = r.count;
    return true;
}
