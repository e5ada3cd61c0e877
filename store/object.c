#include "base/fs.h"
#include "mapm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packs.h"

#define CHUNK_BYTES (64u * 1024)
/* Smaller files are copied as fast. */
#define REFLINK_MIN_BYTES PACK_OBJECT_MAX_BYTES
#define FANS_MAX_ENTRIES  100000

static void object_path(const struct hash *h, char out[OBJECT_PATH_BYTES])
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(h, hex);
    out[0] = hex[0];
    out[1] = hex[1];
    out[2] = '/';
    memcpy(out + 3, hex + 2, HASH_HEX_CHARS - 1);
}

/* Creates the folder if necessary and formats a name in it, relative to
 * store/. */
static bool name_aside(struct store *s, const char *stem, char *out,
                       size_t size)
{
    char name[128];

    object_unique_name(name, sizeof name, stem);
    snprintf(out, size, "damaged/%s", name);
    return mkdirat(s->store_fd, "damaged", 0700) == 0 || errno == EEXIST;
}

static void count_damaged(struct store *s)
{
    atomic_fetch_add_explicit(&s->damaged, 1, memory_order_relaxed);
}

/* If the file cannot be moved it is removed, because it must not be used. */
void object_set_file_aside(struct store *s, int dirfd, const char *name)
{
    char to[160];

    count_damaged(s);
    if (!name_aside(s, name, to, sizeof to) ||
        renameat(dirfd, name, s->store_fd, to) < 0)
        unlinkat(dirfd, name, 0);
}

void object_set_bytes_aside(struct store *s, const struct hash *h,
                            struct str bytes)
{
    char hex[HASH_HEX_CHARS + 1], to[160];
    struct err ignored = {0};

    count_damaged(s);
    hash_format(h, hex);
    if (!name_aside(s, hex, to, sizeof to) ||
        !fs_create_at(s->store_fd, to, 0444, bytes, &ignored))
        return; /* the bytes are not usable */
}

void object_set_aside(struct store *s, const struct hash *h)
{
    char path[OBJECT_PATH_BYTES], hex[HASH_HEX_CHARS + 1], to[160];

    count_damaged(s);
    object_path(h, path);
    hash_format(h, hex);
    if (!name_aside(s, hex, to, sizeof to)) {
        unlinkat(s->objects_fd, path, 0);
        return;
    }
    if (renameat(s->objects_fd, path, s->store_fd, to) == 0)
        return;
    /* Objects of the store precede staged ones, so the object was read from the
     * store. */
    if (errno == ENOENT)
        staged_remove(s, h);
    else
        unlinkat(s->objects_fd, path, 0);
}

unsigned store_damaged(const struct store *s)
{
    return atomic_load_explicit(&s->damaged, memory_order_relaxed);
}

static bool fail_damaged(const struct hash *h, struct err *e)
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(h, hex);
    err_set(e, ERR_DAMAGED, "object %s in the store is damaged", hex);
    return err_hint(e, "it was set aside; run the command again to fetch it");
}

static bool damaged(struct store *s, const struct hash *h, struct err *e)
{
    object_set_aside(s, h);
    return fail_damaged(h, e);
}

/* --- small ones: in a pack, or held for one ---------------------------------- */

struct small {
    struct packed packed; /* pack is NULL for a staged object */
    const struct pack_row *row;
};

static bool find_small(struct store *s, const struct hash *h, struct small *out)
{
    *out = (struct small){{0}, NULL};
    if (packs_find(s, h, &out->packed))
        out->row = &out->packed.row;
    else
        out->row = s->staging ? staged_find(s, h) : NULL;
    return out->row != NULL;
}

/* Reads a small object into `bytes` and verifies its hash. */
static bool read_small(struct store *s, const struct hash *h,
                       const struct small *at, char *bytes, struct err *e)
{
    struct hash found = {{0}};
    size_t n = at->row->size;

    if (at->packed.pack ? packs_read(&at->packed, bytes, e)
                        : staged_read(s, at->row, bytes, e))
        found = hash_of(str_make(bytes, n));
    else if (e->code != ERR_DAMAGED)
        return false;
    else
        n = 0;
    if (hash_eq(&found, h))
        return true;
    err_clear(e);
    if (at->packed.pack)
        packs_set_aside(s, &at->packed, str_make(bytes, n));
    else
        object_set_aside(s, h);
    return fail_damaged(h, e);
}

/* --- a file each ------------------------------------------------------------- */

/* Parses the name of a folder below objects/. */
static bool fan_parse(struct str name, uint8_t *out)
{
    char hex[HASH_HEX_CHARS];
    struct hash h;

    memset(hex, '0', sizeof hex);
    memcpy(hex, name.p, 2);
    if (!hash_parse(str_make(hex, sizeof hex), &h))
        return false;
    *out = h.b[0];
    return true;
}

static void list_fans(struct store *s)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct fs_entry *entries = NULL;
    size_t count = 0;
    bool known = fs_list_at(s->objects_fd, "", FANS_MAX_ENTRIES, &a, &entries,
                            &count, &ignored);

    for (size_t i = 0; i < 256; i++)
        s->fans[i] = !known;
    for (size_t i = 0; i < count; i++) {
        uint8_t fan;

        if (entries[i].name.n == 2 && fan_parse(entries[i].name, &fan))
            s->fans[fan] = true;
    }
    s->fans_listed = true;
}

/* Installs look up thousands of missing objects; if the folder of an object is
 * missing, no system call is necessary. */
static bool may_be_file(struct store *s, const struct hash *h)
{
    if (!s->staging)
        return true;
    if (!s->fans_listed)
        list_fans(s);
    return s->fans[h->b[0]];
}

static bool open_object(struct store *s, const struct hash *h, int *fd,
                        struct stat *st, struct err *e)
{
    char path[OBJECT_PATH_BYTES];

    object_path(h, path);
    *fd = -1;
    if (may_be_file(s, h))
        *fd = fs_openat(s->objects_fd, path,
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    else
        errno = ENOENT;
    if (*fd < 0 && errno == ENOENT)
        *fd = staged_open(s, h);
    if (*fd < 0 && errno == ELOOP)
        return damaged(s, h, e);
    if (*fd < 0 && errno == ENOENT)
        return err_set(e, ERR_NOT_FOUND, "object %s is not in the store", path);
    if (*fd < 0)
        return err_errno(e, "open object %s", path);
    if (fstat(*fd, st) < 0)
        return err_errno(e, "look at object %s", path);
    return S_ISREG(st->st_mode) || damaged(s, h, e);
}

static bool is_file(struct store *s, const struct hash *h)
{
    char path[OBJECT_PATH_BYTES];
    struct stat st;

    object_path(h, path);
    return may_be_file(s, h) &&
           fstatat(s->objects_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode);
}

bool store_has(struct store *s, const struct hash *h)
{
    struct packed at;

    return packs_find(s, h, &at) || is_file(s, h) || staged_has(s, h);
}

/* Reads the size at opening plus one byte, so that a file that grew since does
 * not match the hash of its beginning. */
static bool read_content(int fd, uint64_t size, size_t max_bytes,
                         struct arena *a, struct str *out, struct err *e)
{
    size_t used = 0, wanted;
    ssize_t n;
    char *p;

    if (size > max_bytes)
        return err_set(e, ERR_LIMIT, "larger than %zu bytes", max_bytes);
    wanted = (size_t)size + 1;
    p = arena_alloc(a, wanted + 1);
    do {
        n = read(fd, p + used, wanted - used);
        if (n < 0 && errno != EINTR)
            return fs_failed_fd(e, "read", fd);
        used += n > 0 ? (size_t)n : 0;
    } while (n < 0 || (n > 0 && used < size));
    p[used] = '\0';
    *out = str_make(p, used);
    return true;
}

static bool read_small_whole(struct store *s, const struct hash *h,
                             const struct small *at, size_t max_bytes,
                             struct arena *a, struct str *out, struct err *e)
{
    size_t n = at->row->size;
    char *p;

    if (n > max_bytes) {
        err_set(e, ERR_LIMIT, "larger than %zu bytes", max_bytes);
        return err_wrap(e, "read an object of the store");
    }
    p = arena_alloc(a, n + 1);
    if (!read_small(s, h, at, p, e))
        return false;
    p[n] = '\0';
    *out = str_make(p, n);
    return true;
}

bool store_read(struct store *s, const struct hash *h, size_t max_bytes,
                struct arena *a, struct str *out, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct stat st = {0};
    struct str content = {"", 0};
    struct hash found;
    struct small small;

    if (find_small(s, h, &small))
        return read_small_whole(s, h, &small, max_bytes, a, out, e);
    if (!open_object(s, h, &fd, &st, e))
        return false;
    if (!read_content(fd, (uint64_t)st.st_size, max_bytes, a, &content, e))
        return err_wrap(e, "read an object of the store");
    found = hash_of(content);
    if (!hash_eq(&found, h))
        return damaged(s, h, e);
    *out = content;
    return true;
}

bool object_move_in(struct store *s, int dirfd, const char *name,
                    const struct hash *h, struct err *e)
{
    char path[OBJECT_PATH_BYTES], folder[3];

    object_path(h, path);
    if (renameat(dirfd, name, s->objects_fd, path) == 0)
        return true;
    if (errno == EISDIR) {
        object_set_aside(s, h); /* a folder in its place */
        if (renameat(dirfd, name, s->objects_fd, path) == 0)
            return true;
    }
    if (errno == ENOENT) {
        memcpy(folder, path, 2);
        folder[2] = '\0';
        if (mkdirat(s->objects_fd, folder, 0700) < 0 && errno != EEXIST)
            return err_errno(e, "create store/objects/%s", folder);
        s->fans[h->b[0]] = true;
        if (renameat(dirfd, name, s->objects_fd, path) == 0)
            return true;
    }
    return err_errno(e, "move object %s into the store", path);
}

static bool is_sound_file(struct store *s, const struct hash *h)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    struct stat st;
    struct hash found;

    if (!open_object(s, h, &fd, &st, &ignored))
        return false;
    if (object_hash(fd, &found, &ignored) && hash_eq(&found, h))
        return true;
    object_set_aside(s, h);
    return false;
}

/* Checks an existing object whose content the caller has, so that a damaged one
 * is replaced immediately. */
static bool is_sound(struct store *s, const struct hash *h)
{
    CLEANUP_HEAP char *bytes = heap_resize(NULL, PACK_OBJECT_MAX_BYTES);
    struct err ignored = {0};
    struct small small;

    /* Staged objects need no check, because this process wrote them. */
    if (find_small(s, h, &small) &&
        (!small.packed.pack || read_small(s, h, &small, bytes, &ignored)))
        return true;
    return is_sound_file(s, h);
}

bool object_put(struct store *s, const struct hash *h, struct str content,
                struct err *e)
{
    char name[64];

    object_unique_name(name, sizeof name, "put");
    if (fs_create_at(s->incoming_fd, name, 0444, content, e) &&
        object_move_in(s, s->incoming_fd, name, h, e))
        return true;
    unlinkat(s->incoming_fd, name, 0);
    return false;
}

bool store_put(struct store *s, struct str content, struct hash *out,
               struct err *e)
{
    struct hash h = hash_of(content);

    if (!is_sound(s, &h) && !(s->staging ? staged_put(s, &h, content, e)
                                         : object_put(s, &h, content, e)))
        return err_wrap(e, "cannot add to the store");
    *out = h;
    return true;
}

bool object_hash(int fd, struct hash *out, struct err *e)
{
    CLEANUP_HEAP char *chunk = heap_resize(NULL, CHUNK_BYTES);
    struct hash_state state;
    off_t at = 0;
    ssize_t n;

    hash_init(&state);
    while ((n = pread(fd, chunk, CHUNK_BYTES, at)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fs_failed_fd(e, "read", fd);
        hash_add(&state, str_make(chunk, (size_t)n));
        at += n;
    }
    *out = hash_end(&state);
    return true;
}

/* Copies while hashing, so the bytes written are the bytes hashed. Reads one
 * byte more than expected to detect a file that grew. */
static bool copy_file(int from, uint64_t size, int to, struct hash *out,
                      struct err *e)
{
    uint64_t copied = 0;
    size_t wanted;
    CLEANUP_HEAP char *chunk = heap_resize(NULL, CHUNK_BYTES);
    struct hash_state state;
    ssize_t n;

    hash_init(&state);
    do {
        wanted = size - copied < CHUNK_BYTES ? (size_t)(size - copied) + 1
                                             : CHUNK_BYTES;
        n = read(from, chunk, wanted);
        if (n < 0 && errno != EINTR)
            return fs_failed_fd(e, "read", from);
        if (n <= 0)
            continue;
        hash_add(&state, str_make(chunk, (size_t)n));
        if (!fs_write_all(to, str_make(chunk, (size_t)n), e))
            return false;
        copied += (size_t)n;
    } while (n != 0 && copied < size);
    *out = hash_end(&state);
    return true;
}

/* Returns true with `*done` false if the file system does not support
 * reflinks. */
static bool clone_file(struct store *s, int from, int to, bool *done,
                       struct hash *out, struct err *e)
{
    *done = false;
    if (atomic_load_explicit(&s->no_reflink, memory_order_relaxed))
        return true;
    if (ioctl(to, FICLONE, from) < 0) {
        atomic_store_explicit(&s->no_reflink, true, memory_order_relaxed);
        return true;
    }
    *done = true;
    return object_hash(to, out, e);
}

static bool fill(struct store *s, enum store_link how, int from, uint64_t size,
                 int to, struct hash *found, struct err *e)
{
    bool cloned = false;

    if (how == STORE_LINK_REFLINK ||
        (how == STORE_LINK_AUTO && size >= REFLINK_MIN_BYTES)) {
        if (!clone_file(s, from, to, &cloned, found, e))
            return false;
        if (!cloned && how == STORE_LINK_REFLINK) {
            err_set(e, ERR_FAILED,
                    "this file system cannot share blocks between the store "
                    "and the workspace");
            return err_hint(e, "use --link-mode auto or copy");
        }
    }
    return cloned || copy_file(from, size, to, found, e);
}

static bool place_link(struct store *s, const struct hash *h, int from,
                       int dirfd, const char *name, struct stat *st,
                       struct err *e)
{
    char path[OBJECT_PATH_BYTES];
    struct hash found;

    if (!object_hash(from, &found, e))
        return false;
    if (!hash_eq(&found, h))
        return damaged(s, h, e);
    object_path(h, path);
    if (linkat(s->objects_fd, path, dirfd, name, 0) < 0 ||
        fstatat(dirfd, name, st, AT_SYMLINK_NOFOLLOW) < 0) {
        err_errno(e, "link %s to the store", name);
        return err_hint(e, "use --link-mode auto or copy");
    }
    return true;
}

/* The umask rarely changes the mode, and fstat is cheaper than fchmod. */
static bool set_mode(int fd, mode_t mode, struct stat *st)
{
    return fstat(fd, st) == 0 &&
           ((st->st_mode & 07777) == mode ||
            (fchmod(fd, mode) == 0 && fstat(fd, st) == 0));
}

static bool place_copy(struct store *s, const struct hash *h,
                       enum store_link how, int from, uint64_t size, int to,
                       mode_t mode, const char *name, struct stat *st,
                       struct err *e)
{
    struct hash found;

    if (!fill(s, how, from, size, to, &found, e))
        return err_wrap(e, "write %s", name);
    if (!hash_eq(&found, h))
        return damaged(s, h, e);
    return set_mode(to, mode, st) || err_errno(e, "set the mode of %s", name);
}

/* A hard link needs a file, so an object of a pack is written as one. */
static bool make_file(struct store *s, const struct hash *h, struct err *e)
{
    CLEANUP_HEAP char *bytes = heap_resize(NULL, PACK_OBJECT_MAX_BYTES);
    struct small small;

    if (is_file(s, h) || !find_small(s, h, &small))
        return true;
    return read_small(s, h, &small, bytes, e) &&
           object_put(s, h, str_make(bytes, small.row->size), e);
}

static bool place_small(struct store *s, const struct hash *h,
                        const struct small *at, int to, mode_t mode,
                        const char *name, struct stat *st, struct err *e)
{
    CLEANUP_HEAP char *bytes = heap_resize(NULL, PACK_OBJECT_MAX_BYTES);

    if (!read_small(s, h, at, bytes, e))
        return false;
    if (!fs_write_all(to, str_make(bytes, at->row->size), e))
        return err_wrap(e, "write %s", name);
    return set_mode(to, mode, st) || err_errno(e, "set the mode of %s", name);
}

bool store_place(struct store *s, const struct hash *h, enum store_link how,
                 int dirfd, const char *path, mode_t mode, struct stat *st,
                 struct err *e)
{
    CLEANUP_FD int from = -1;
    CLEANUP_FD int to = -1;
    bool is_copy = how == STORE_LINK_AUTO || how == STORE_LINK_COPY, ok;
    struct stat object = {0}, placed;
    struct small small = {{0}, NULL};

    if (!(is_copy && find_small(s, h, &small)) &&
        ((!is_copy && !make_file(s, h, e)) ||
         !open_object(s, h, &from, &object, e)))
        return false;
    if (!st)
        st = &placed;
    /* A hard link shares the mode of the object, so an executable needs a file
     * of its own. */
    if (how == STORE_LINK_HARDLINK && !(mode & 0111))
        return place_link(s, h, from, dirfd, path, st, e);
    to = fs_openat(dirfd, path,
                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (to < 0)
        return err_errno(e, "create %s", path);
    ok = small.row ? place_small(s, h, &small, to, mode, path, st, e)
                   : place_copy(s, h, how, from, (uint64_t)object.st_size, to,
                                mode, path, st, e);
    if (!ok)
        unlinkat(dirfd, path, 0);
    return ok;
}

bool store_session_begin(struct store *s, struct store_session *out,
                         struct err *e)
{
    struct store_session session = {.dirfd = -1, .part_fd = -1};

    object_unique_name(session.name, sizeof session.name, "s");
    if (mkdirat(s->incoming_fd, session.name, 0700) < 0)
        return err_errno(e, "create store/incoming/%s", session.name);
    session.dirfd =
        fs_openat(s->incoming_fd, session.name,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (session.dirfd < 0)
        return err_errno(e, "open store/incoming/%s", session.name);
    session.path = fs_join(fs_join(s->home, STR("store/incoming"), &s->arena),
                           str_cstr(session.name), &s->arena);
    *out = session;
    return true;
}

void store_session_end(struct store *s, struct store_session *session)
{
    struct err ignored = {0};

    if (session->dirfd < 0)
        return;
    fs_close(&session->part_fd);
    fs_close(&session->dirfd);
    if (!fs_remove_tree_at(s->incoming_fd, session->name, &ignored)) {
        /* store gc removes leftovers. */
    }
}

/* Sets aside a link or a folder at the path of the object. */
static void set_odd_aside(struct store *s, const struct hash *h)
{
    char path[OBJECT_PATH_BYTES];
    struct stat st;

    object_path(h, path);
    if (may_be_file(s, h) &&
        fstatat(s->objects_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISREG(st.st_mode))
        object_set_aside(s, h);
}

static bool adopt_file(struct store *s, struct store_session *session,
                       const struct hash *h, struct err *e)
{
    CLEANUP_FD int fd = -1;
    char name[HASH_HEX_CHARS + 1];
    struct stat st;
    struct hash found;

    hash_format(h, name);
    if (!fs_open_file_at(session->dirfd, name, &fd, &st, e) ||
        !object_hash(fd, &found, e))
        return err_wrap(e, "take %s into the store", name);
    if (!hash_eq(&found, h)) {
        unlinkat(session->dirfd, name, 0);
        return err_set(e, ERR_DAMAGED, "%s does not have the bytes it names",
                       name);
    }
    if (fchmod(fd, 0444) < 0)
        return err_errno(e, "set the mode of %s", name);
    return s->staging ? staged_adopt(s, session->dirfd, name, h, e)
                      : object_move_in(s, session->dirfd, name, h, e);
}

static bool open_part(struct store_session *session, uint64_t part,
                      struct err *e)
{
    char name[32];

    if (session->part_fd >= 0 && session->part == part)
        return true;
    fs_close(&session->part_fd);
    session->part = part;
    snprintf(name, sizeof name, "part-%" PRIu64, part);
    return fs_open_file_at(session->dirfd, name, &session->part_fd, NULL, e);
}

static bool adopt_part(struct store *s, struct store_session *session,
                       uint64_t offset, uint64_t size, const struct hash *h,
                       struct err *e)
{
    CLEANUP_HEAP char *bytes = heap_resize(NULL, PACK_OBJECT_MAX_BYTES);
    struct str content;
    struct hash found;

    if (size && (!open_part(session, offset / PART_MAX_BYTES, e) ||
                 !pread_all(session->part_fd, bytes, (size_t)size,
                            offset % PART_MAX_BYTES, e)))
        return err_wrap(e, "take what was fetched into the store");
    content = str_make(bytes, (size_t)size);
    found = hash_of(content);
    if (!hash_eq(&found, h))
        return err_set(e, ERR_DAMAGED,
                       "what was fetched does not have the bytes it names");
    return s->staging ? staged_put(s, h, content, e)
                      : object_put(s, h, content, e);
}

bool store_adopt(struct store *s, struct store_session *session,
                 uint64_t offset, uint64_t size, const struct hash *h,
                 struct err *e)
{
    char name[HASH_HEX_CHARS + 1];

    if (!store_has(s, h)) {
        set_odd_aside(s, h);
        return size < PACK_OBJECT_MAX_BYTES
                   ? adopt_part(s, session, offset, size, h, e)
                   : adopt_file(s, session, h, e);
    }
    hash_format(h, name);
    if (size >= PACK_OBJECT_MAX_BYTES)
        unlinkat(session->dirfd, name, 0);
    return true;
}
