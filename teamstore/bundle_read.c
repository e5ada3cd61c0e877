#include "base/digest.h"
#include "base/json.h"
#include "mapm/limits.h"
#include "mapm/team_bundle.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle.h"
#include "tar.h"

#define MAX_BLOBS       (3 * (size_t)TEAM_BUNDLE_MAX_IMAGES + 1)
#define INDEX_MAX_NODES (16 * (size_t)TEAM_BUNDLE_MAX_IMAGES)

struct place {
    uint64_t offset, size;
};

struct scan {
    struct team_bundle *bundle;
    struct arena *a;
    uint64_t at, end; /* current offset and size of the file */
    struct str last;  /* path of the last entry */
    struct place index;
    bool has_index, has_layout;
    struct err *e;
};

static bool odd(struct err *e, const char *why)
{
    return err_set(e, ERR_FORMAT, "not a bundle of mapm: %s", why);
}

static bool read_at(int fd, char *p, size_t n, uint64_t at, struct err *e)
{
    while (n) {
        ssize_t got = pread(fd, p, n, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read the bundle");
        if (got == 0)
            return odd(e, "it ends too early");
        p += got;
        n -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

/* Reads the whole entry and verifies its hash. */
static bool read_place(int fd, const struct place *at,
                       const struct hash *digest, struct buf *out,
                       struct err *e)
{
    char *p = buf_reserve(out, (size_t)at->size);
    struct hash is;

    if (!p)
        return err_set(e, ERR_LIMIT, "a blob of the bundle is too large");
    if (!read_at(fd, p, (size_t)at->size, at->offset, e))
        return false;
    out->n += (size_t)at->size;
    p[at->size] = '\0';
    is = hash_of(buf_str(out));
    return !digest || hash_eq(&is, digest) ||
           err_set(e, ERR_DAMAGED,
                   "a blob of the bundle is not what its name says");
}

/* --- the archive ---------------------------------------------------------- */

static bool note_blob(struct scan *s, struct str path, const struct place *at)
{
    struct hash digest;
    struct place *copy = arena_new(s->a, struct place);
    char *key = arena_alloc(s->a, sizeof digest.b);

    if (!hash_parse(str_from_index(path, sizeof BUNDLE_BLOBS - 1), &digest))
        return odd(s->e, "a file that belongs to no bundle");
    if (s->bundle->blobs.count >= MAX_BLOBS)
        return err_set(s->e, ERR_LIMIT, "the bundle has too many blobs");
    *copy = *at;
    memcpy(key, digest.b, sizeof digest.b);
    map_put(&s->bundle->blobs, str_make(key, sizeof digest.b), copy);
    return true;
}

static bool check_layout(struct scan *s, const struct place *at)
{
    char text[sizeof BUNDLE_LAYOUT_TEXT - 1];

    if (at->size != sizeof text)
        return odd(s->e, "another version of the layout");
    return read_at(s->bundle->fd, text, sizeof text, at->offset, s->e) &&
           (memcmp(text, BUNDLE_LAYOUT_TEXT, sizeof text) == 0 ||
            odd(s->e, "another version of the layout"));
}

static bool note_file(struct scan *s, struct str path, const struct place *at)
{
    if (str_starts(path, STR(BUNDLE_BLOBS)))
        return note_blob(s, path, at);
    if (str_is(path, BUNDLE_INDEX)) {
        s->index = *at;
        return s->has_index = true;
    }
    if (str_is(path, BUNDLE_LAYOUT))
        return s->has_layout = check_layout(s, at);
    return odd(s->e, "a file that belongs to no bundle");
}

static bool check_head(struct scan *s, const struct tar_entry *entry,
                       struct str head)
{
    CLEANUP(buf_done) struct buf again;

    buf_init(&again, TAR_HEAD_MAX_BYTES);
    tar_head(str_cstr(entry->path), false, entry->size, &again);
    return str_eq(buf_str(&again), head) ||
           odd(s->e, "an entry that is no plain file");
}

static bool check_padding(struct scan *s, uint64_t at, size_t n)
{
    static const char zeros[TAR_BLOCK];
    char bytes[TAR_BLOCK];

    return read_at(s->bundle->fd, bytes, n, at, s->e) &&
           (memcmp(bytes, zeros, n) == 0 || odd(s->e, "bytes behind a file"));
}

static bool take_entry(struct scan *s, const struct tar_entry *entry,
                       struct str head)
{
    struct place at = {s->at + TAR_BLOCK, entry->size};
    struct str path = arena_str(s->a, str_cstr(entry->path));

    if (!check_head(s, entry, head))
        return false;
    if (s->last.p && str_cmp(s->last, path) >= 0)
        return odd(s->e, "files are not in the order of their names");
    if (entry->size > s->end - at.offset)
        return odd(s->e, "it ends too early");
    s->last = path;
    s->at = at.offset + at.size + tar_padding(at.size);
    return s->at <= s->end
               ? check_padding(s, at.offset + at.size, tar_padding(at.size)) &&
                     note_file(s, path, &at)
               : odd(s->e, "it ends too early");
}

static bool scan_all(struct scan *s)
{
    char head[TAR_BLOCK];
    struct tar_entry entry;

    for (;;) {
        if (s->end - s->at < TAR_BLOCK)
            return odd(s->e, "it ends too early");
        if (!read_at(s->bundle->fd, head, sizeof head, s->at, s->e))
            return false;
        switch (tar_parse(head, &entry)) {
        case TAR_FILE:
            if (!take_entry(s, &entry, str_make(head, sizeof head)))
                return false;
            break;
        case TAR_END:
            if (s->end - s->at != TAR_END_BYTES)
                return odd(s->e, "bytes behind its end");
            return check_padding(s, s->at + TAR_BLOCK, TAR_BLOCK);
        default:
            return odd(s->e, "an entry that is no plain file");
        }
    }
}

static const struct place *find_blob(const struct team_bundle *b,
                                     const struct hash *digest)
{
    return map_find(&b->blobs,
                    str_make((const char *)digest->b, sizeof digest->b));
}

/* --- index.json ----------------------------------------------------------- */

static bool take_image(struct scan *s, const struct json *j,
                       struct team_bundle_image *out)
{
    const struct json *notes = json_get(j, "annotations");
    struct team_bundle *b = s->bundle;
    struct hash *digest = arena_new(s->a, struct hash);
    const struct place *at;
    bool minus;

    out->name = json_text(notes ? notes->first : NULL);
    out->is_lock = str_is(out->name, BUNDLE_LOCK_NAME);
    if ((!out->is_lock && !team_name_is_valid(out->name)) ||
        !digest_parse(json_text(json_get(j, "digest")), &out->digest) ||
        !json_whole(json_get(j, "size"), &minus, &out->size))
        return odd(s->e, "an entry of its index");
    at = find_blob(b, &out->digest);
    if (!at || at->size != out->size)
        return odd(s->e, "its index names a blob that is not there");
    *digest = out->digest;
    if (out->is_lock) {
        b->has_lock = true;
        b->lock = out->digest;
    }
    return map_put(&b->names, arena_str(s->a, out->name), digest) ||
           odd(s->e, "a name that is there twice");
}

/* Parses as much as needed, writes it again, and compares. */
static bool parse_index(struct scan *s, struct str text, struct arena *a)
{
    static const struct json_options options = {
        .max_bytes = TEAM_INDEX_MAX_BYTES,
        .max_depth = 8,
        .max_nodes = INDEX_MAX_NODES,
    };
    CLEANUP(buf_done) struct buf again = {0};
    const struct json *j, *list;
    struct team_bundle_image *images;
    size_t n = 0;

    if (!json_parse(text, &options, a, &j, NULL, s->e))
        return err_wrap(s->e, "not a bundle of mapm: its index");
    list = json_get(j, "manifests");
    if (!list || list->kind != JSON_ARRAY)
        return odd(s->e, "its index lists no images");
    images = arena_array(a, list->count + 1, sizeof *images);
    for (const struct json *m = list->first; m; m = m->next)
        if (!take_image(s, m, &images[n++]))
            return false;
    buf_init(&again, TEAM_INDEX_MAX_BYTES);
    bundle_write_index(images, n, &again);
    return str_eq(buf_str(&again), text) ||
           odd(s->e, "its index says more than that");
}

static bool read_index(struct scan *s)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(buf_done) struct buf text = {0};

    buf_init(&text, TEAM_INDEX_MAX_BYTES);
    return read_place(s->bundle->fd, &s->index, NULL, &text, s->e) &&
           parse_index(s, buf_str(&text), &scratch);
}

bool team_bundle_open(int fd, struct arena *a, struct team_bundle *out,
                      struct err *e)
{
    struct team_bundle b = {.fd = fd};
    struct scan s = {.bundle = &b, .a = a, .e = e};
    struct stat st;

    map_init(&b.blobs, a);
    map_init(&b.names, a);
    if (fstat(fd, &st) < 0)
        return err_errno(e, "read the bundle");
    if (!S_ISREG(st.st_mode))
        return odd(e, "no regular file");
    s.end = (uint64_t)st.st_size;
    if (!scan_all(&s))
        return false;
    if (!s.has_index || !s.has_layout)
        return odd(e, "it has no index");
    if (!read_index(&s))
        return false;
    *out = b;
    return true;
}

/* --- what is in it -------------------------------------------------------- */

static bool read_blob(const struct team_bundle *b, const struct hash *digest,
                      struct buf *out, struct err *e)
{
    const struct place *at = map_find(
        &b->blobs, str_make((const char *)digest->b, sizeof digest->b));

    if (!at)
        return odd(e, "a blob that it names is not there");
    return read_place(b->fd, at, digest, out, e);
}

bool team_bundle_get(const struct team_bundle *b, struct str name,
                     const struct hash *known, struct buf *out,
                     enum team_found *found, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf text = {0};
    const struct hash *digest = map_find(&b->names, name);
    struct team_manifest m;

    *found = TEAM_IS_ABSENT;
    if (!digest)
        return true;
    buf_init(&text, TEAM_MANIFEST_MAX_BYTES);
    if (!read_blob(b, digest, &text, e) ||
        !team_manifest_parse(buf_str(&text), &a, &m, e))
        return false;
    *found =
        known && hash_eq(known, &m.layer.digest) ? TEAM_IS_KNOWN : TEAM_IS_READ;
    return *found == TEAM_IS_KNOWN || read_blob(b, &m.layer.digest, out, e);
}

bool team_bundle_lock(const struct team_bundle *b, struct arena *a,
                      struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};

    if (!b->has_lock)
        return err_set(e, ERR_NOT_FOUND, "the bundle has no mapm.lock");
    buf_init(&text, LOCK_MAX_BYTES);
    if (!read_blob(b, &b->lock, &text, e))
        return false;
    *out = arena_str(a, buf_str(&text));
    return true;
}
