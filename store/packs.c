#include "packs.h"

#include "base/fs.h"
#include "base/invariant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER_MAX_ENTRIES 100000
#define LOOK_MAX_TIMES     16

static void pack_close(struct pack *p)
{
    fs_close(&p->fd);
    arena_done(&p->arena);
    heap_free(p);
}

void packs_close(struct store *s)
{
    while (s->packs) {
        struct pack *p = s->packs;

        s->packs = p->next;
        pack_close(p);
    }
    fs_close(&s->packs_fd);
    s->packs_listed = false;
}

/* Returns whether `name` is 64 hexadecimal digits and `ending`. */
static bool has_name(struct str name, const char *ending)
{
    struct hash h;

    return name.n > HASH_HEX_CHARS &&
           hash_parse(str_slice(name, 0, HASH_HEX_CHARS), &h) &&
           str_is(str_from_index(name, HASH_HEX_CHARS), ending);
}

static void bad_name(const char *pack, char out[PACK_NAME_CHARS + 1])
{
    snprintf(out, PACK_NAME_CHARS + 1, "%.*s.bad", HASH_HEX_CHARS, pack);
}

/* --- looking -------------------------------------------------------------- */

static void read_bad(struct store *s, struct pack *p)
{
    char name[PACK_NAME_CHARS + 1];
    struct err ignored = {0};
    struct str bytes;
    struct hash h;

    bad_name(p->name, name);
    if (!fs_read_file_at(s->packs_fd, name, PACK_MAX_OBJECTS * sizeof h.b,
                         &p->arena, &bytes, &ignored))
        return;
    for (size_t i = 0; i + sizeof h.b <= bytes.n; i += sizeof h.b) {
        size_t at;

        memcpy(h.b, bytes.p + i, sizeof h.b);
        at = pack_find(&p->index, &h);
        if (at != SIZE_MAX)
            p->gone[at] = true;
    }
}

static bool is_known(const struct store *s, struct str name)
{
    for (const struct pack *p = s->packs; p; p = p->next)
        if (str_is(name, p->name))
            return true;
    return false;
}

static void add_pack(struct store *s, struct pack *p)
{
    INVARIANT(!is_known(s, str_cstr(p->name)));
    p->gone = arena_array(&p->arena, p->index.count, sizeof *p->gone);
    p->next = s->packs;
    s->packs = p;
}

static enum pack_verdict not_read(const struct err *e)
{
    return e->code == ERR_DAMAGED ? PACK_BAD : PACK_UNREAD;
}

static enum pack_verdict read_index(struct pack *p, uint64_t size,
                                    struct err *e)
{
    char end[PACK_END_BYTES], *rows;
    enum pack_verdict v;
    size_t n;

    if (size < sizeof end)
        return PACK_BAD;
    if (!pread_all(p->fd, end, sizeof end, size - sizeof end, e))
        return not_read(e);
    v = pack_parse_end(str_make(end, sizeof end), size, &n);
    if (v != PACK_GOOD)
        return v;
    p->bytes = size - sizeof end - n;
    rows = arena_alloc(&p->arena, n);
    if (!pread_all(p->fd, rows, n, p->bytes, e))
        return not_read(e);
    return pack_parse_rows(str_make(rows, n), p->bytes, &p->index) ? PACK_GOOD
                                                                   : PACK_BAD;
}

/* Returns false if the pack is gone because another process merged it. */
static bool open_pack(struct store *s, const char *name, bool has_bad)
{
    struct pack *p = heap_alloc(sizeof *p);
    enum pack_verdict v = PACK_BAD;
    struct err problem = {0};
    struct stat st;

    snprintf(p->name, sizeof p->name, "%s", name);
    p->fd = fs_openat(s->packs_fd, name,
                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (p->fd < 0 && errno == ENOENT) {
        pack_close(p);
        return false;
    }
    if (p->fd < 0 && errno != ELOOP && errno != ENXIO) {
        v = PACK_UNREAD; /* for example, no free descriptors */
        err_errno(&problem, "open a pack");
    } else if (p->fd >= 0 && fstat(p->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        p->modified = st.st_mtime;
        v = read_index(p, (uint64_t)st.st_size, &problem);
    }
    if (v == PACK_GOOD) {
        add_pack(s, p);
        if (has_bad)
            read_bad(s, p);
        return true;
    }
    if (v == PACK_UNREAD && s->index_problem.code == ERR_NONE)
        s->index_problem = problem;
    if (v == PACK_BAD)
        object_set_file_aside(s, s->packs_fd, name);
    pack_close(p);
    return true;
}

static bool scan_once(struct store *s)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct fs_entry *entries;
    bool whole = true;
    struct stat st;
    size_t count;

    if (fstat(s->packs_fd, &st) < 0 ||
        !fs_list_at(s->packs_fd, "", FOLDER_MAX_ENTRIES, &a, &entries, &count,
                    &ignored))
        return true;
    s->packs_changed = st.st_mtim;
    /* "x.bad" sorts immediately before "x.pack". */
    for (size_t i = 0; i < count; i++) {
        bool has_bad = i && has_name(entries[i - 1].name, ".bad") &&
                       memcmp(entries[i - 1].name.p, entries[i].name.p,
                              HASH_HEX_CHARS) == 0;

        if (has_name(entries[i].name, ".pack") && !is_known(s, entries[i].name))
            whole &= open_pack(s, entries[i].name.p, has_bad);
    }
    return whole;
}

/* Sets aside anything of this name that is not a folder. */
static bool open_folder(struct store *s)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

    if (s->packs_fd < 0)
        s->packs_fd = fs_openat(s->store_fd, "packs", flags, 0);
    if (s->packs_fd < 0 && errno != ENOENT &&
        fs_repair_at(s->store_fd, "packs", S_IFDIR, 0700))
        s->packs_fd = fs_openat(s->store_fd, "packs", flags, 0);
    return s->packs_fd >= 0;
}

static void scan(struct store *s)
{
    s->packs_listed = true;
    open_folder(s);
    for (int i = 0; s->packs_fd >= 0 && i < LOOK_MAX_TIMES; i++)
        if (scan_once(s))
            break;
}

void packs_scan(struct store *s)
{
    pthread_mutex_lock(&s->packs_mutex);
    scan(s);
    pthread_mutex_unlock(&s->packs_mutex);
}

void packs_rescan(struct store *s)
{
    pthread_mutex_lock(&s->packs_mutex);
    s->packs_listed = false;
    pthread_mutex_unlock(&s->packs_mutex);
}

/* Until the folder changes, objects that other processes add are not found and
 * are fetched again. */
static bool has_changed(const struct store *s)
{
    struct stat st;

    if (s->staging)
        return false;
    return s->packs_fd < 0 ||
           (fstat(s->packs_fd, &st) == 0 &&
            (st.st_mtim.tv_sec != s->packs_changed.tv_sec ||
             st.st_mtim.tv_nsec != s->packs_changed.tv_nsec));
}

/* --- reading -------------------------------------------------------------- */

static bool find(struct store *s, const struct hash *h, struct packed *out)
{
    for (struct pack *p = s->packs; p; p = p->next) {
        size_t at = pack_find(&p->index, h);

        if (at == SIZE_MAX || p->gone[at])
            continue;
        *out = (struct packed){p, at, pack_row(&p->index, at)};
        return true;
    }
    return false;
}

bool packs_find(struct store *s, const struct hash *h, struct packed *out)
{
    bool found;

    pthread_mutex_lock(&s->packs_mutex);
    if (!s->packs_listed)
        scan(s);
    found = find(s, h, out);
    if (!found && has_changed(s)) {
        scan(s);
        found = find(s, h, out);
    }
    pthread_mutex_unlock(&s->packs_mutex);
    return found;
}

bool packs_read(const struct packed *at, char *out, struct err *e)
{
    INVARIANT(at->row.offset + at->row.size <= at->pack->bytes);
    return pread_all(at->pack->fd, out, at->row.size, at->row.offset, e);
}

/* Sets aside anything of this name that is not a file; a FIFO does not
 * block. */
static int open_bad(struct store *s, const char *name)
{
    const int flags =
        O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat st;
    int fd = fs_openat(s->packs_fd, name, flags, 0600);

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    fs_close(&fd);
    object_set_file_aside(s, s->packs_fd, name);
    return fs_openat(s->packs_fd, name, flags, 0600);
}

/* Appends 32 bytes in one write, so that concurrent entries of other processes
 * stay intact. */
static void note_bad(struct store *s, const struct packed *at)
{
    CLEANUP_FD int fd = -1;
    char name[PACK_NAME_CHARS + 1];
    const struct hash *h = &at->row.hash;
    struct err ignored = {0};

    bad_name(at->pack->name, name);
    fd = open_bad(s, name);
    if (fd < 0 ||
        !fs_write_all(fd, str_make((const char *)h->b, sizeof h->b), &ignored))
        return; /* the object will be found damaged again */
}

void packs_set_aside(struct store *s, const struct packed *at, struct str bytes)
{
    bool is_news;

    pthread_mutex_lock(&s->packs_mutex);
    is_news = !at->pack->gone[at->at];
    at->pack->gone[at->at] = true;
    if (is_news)
        note_bad(s, at);
    pthread_mutex_unlock(&s->packs_mutex);
    if (is_news)
        object_set_bytes_aside(s, &at->row.hash, bytes);
}

/* --- taking --------------------------------------------------------------- */

static bool make_folder(struct store *s, struct err *e)
{
    if (open_folder(s))
        return true;
    if (mkdirat(s->store_fd, "packs", 0700) < 0 && errno != EEXIST)
        return err_errno(e, "create store/packs");
    return open_folder(s) || err_errno(e, "open store/packs");
}

/* Names the pack by the hash of its rows. If a pack with the same rows and a
 * .bad file exists, that file would apply to the new pack, so the hash of that
 * hash is used, and so on. */
static void set_name(const struct store *s, struct str rows, struct pack *p)
{
    char bad[PACK_NAME_CHARS + 1];
    struct hash h = hash_of(rows);
    struct stat st;

    do {
        hash_format(&h, p->name);
        memcpy(p->name + HASH_HEX_CHARS, ".pack", sizeof ".pack");
        bad_name(p->name, bad);
        h = hash_of(str_make((const char *)h.b, sizeof h.b));
    } while (fs_stat_at(s->packs_fd, bad, &st));
}

/* Adds the finished draft as a pack without reading it again. */
static bool take(struct store *s, struct draft *d, struct pack *p,
                 struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct pack_row *rows;
    struct str index;
    size_t count;

    rows = draft_rows(d, &scratch, &count);
    p->bytes = d->written + d->pending.n;
    if (!make_folder(s, e) ||
        !draft_finish(d, rows, count, &p->arena, &index, e))
        return false;
    index = str_slice(index, 0, index.n - PACK_END_BYTES);
    set_name(s, index, p);
    if (!pack_parse_rows(index, p->bytes, &p->index))
        return err_set(e, ERR_FAILED, "a pack of mapm's own is malformed");
    if (renameat(d->dirfd, d->name, s->packs_fd, p->name) < 0)
        return err_errno(e, "move a pack into the store");
    return true;
}

bool packs_take(struct store *s, struct draft *d, struct err *e)
{
    struct pack *p = heap_alloc(sizeof *p);

    p->fd = -1;
    if (!take(s, d, p, e)) {
        pack_close(p);
        return err_wrap(e, "cannot add to the store");
    }
    d->name[0] = '\0'; /* the file was renamed */
    p->fd = d->fd;
    d->fd = -1;
    p->modified = time(NULL);
    add_pack(s, p);
    return true;
}

bool packs_remove(struct store *s, struct pack *p, struct err *e)
{
    struct pack **at = &s->packs;
    char name[PACK_NAME_CHARS + 1];

    bad_name(p->name, name);
    unlinkat(s->packs_fd, name, 0);
    if (unlinkat(s->packs_fd, p->name, 0) < 0 && errno != ENOENT)
        return err_errno(e, "remove a pack");
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    pack_close(p);
    return true;
}
