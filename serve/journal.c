#include "base/fs.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.h"
#include "retention.h"

/*
 * One file for each call, a record a line; the first line is the expiry, an
 * empty last line marks the end of the call (retention.h). The owner of a call
 * holds the lock on its file: so a process that died has released it.
 */

#define FOLDER      "suspended"
#define KEY_FILE    "key"
#define KEY_BYTES   32
#define KEY_WAIT_MS 10000
#define OPEN_MAX    256
#define RUN_CHARS   32

struct serve_journal {
    int dirfd;
    unsigned char key[KEY_BYTES];
    struct mcp_journal functions;
    struct {
        char run[RUN_CHARS + 1];
        int fd;
    } open[OPEN_MAX];
    size_t count;
    uint64_t kept_bytes; /* size of all files when they were scanned, plus
                          * later writes */
};

/* --- files ---------------------------------------------------------------------- */

static bool name_of(struct str run, char out[RUN_CHARS + sizeof KEPT_SUFFIX])
{
    if (run.n != RUN_CHARS || !str_is_hex(run))
        return false;
    memcpy(out, run.p, run.n);
    memcpy(out + run.n, KEPT_SUFFIX, sizeof KEPT_SUFFIX);
    return true;
}

static int fd_of(const struct serve_journal *j, struct str run)
{
    for (size_t i = 0; i < j->count; i++)
        if (str_is(run, j->open[i].run))
            return j->open[i].fd;
    return -1;
}

/* Unlocks explicitly instead of only closing, because a forked process may
 * still have the descriptor open. */
static void let_go(struct serve_journal *j, struct str run)
{
    for (size_t i = 0; i < j->count; i++) {
        if (!str_is(run, j->open[i].run))
            continue;
        flock(j->open[i].fd, LOCK_UN);
        close(j->open[i].fd);
        j->open[i] = j->open[--j->count];
        return;
    }
}

/* Takes `fd`, and closes it on failure. */
static bool hold(struct serve_journal *j, struct str run, int fd, struct err *e)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        bool busy = errno == EWOULDBLOCK;

        close(fd);
        return busy ? err_set(e, ERR_BUSY, "another process has this call")
                    : err_set(e, ERR_IO, "cannot lock a call's journal");
    }
    if (j->count == OPEN_MAX) {
        close(fd);
        return err_set(e, ERR_LIMIT, "too many calls wait at once");
    }
    memcpy(j->open[j->count].run, run.p, RUN_CHARS);
    j->open[j->count].run[RUN_CHARS] = '\0';
    j->open[j->count++].fd = fd;
    return true;
}

/* --- room ------------------------------------------------------------------------ */

static bool bytes_fit(struct serve_journal *j, size_t n, struct err *e)
{
    if (j->kept_bytes + n > KEPT_MAX_BYTES) /* other calls may have ended */
        j->kept_bytes = kept_scan(j->dirfd, 0, n).bytes;
    if (j->kept_bytes + n > KEPT_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "calls that wait for an answer hold %u MiB already",
                       KEPT_MAX_BYTES / 1024 / 1024);
    j->kept_bytes += n;
    return true;
}

static bool one_more_fits(struct serve_journal *j, struct err *e)
{
    struct kept kept = kept_scan(j->dirfd, 1, 0);

    j->kept_bytes = kept.bytes;
    if (kept.files >= KEPT_MAX_FILES)
        return err_set(e, ERR_LIMIT, "%d calls wait for an answer already",
                       KEPT_MAX_FILES);
    return bytes_fit(j, 0, e);
}

/* --- the functions -------------------------------------------------------------------- */

static bool write_line(int fd, struct str text, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, text.n + 2);
    buf_append(&b, text);
    buf_char(&b, '\n');
    return fs_write_all(fd, buf_str(&b), e) &&
           (fdatasync(fd) == 0 || err_errno(e, "cannot sync a call's journal"));
}

static bool begin_draft(struct serve_journal *j, int fd, const char *draft,
                        const char *name, uint64_t expires_s, struct err *e)
{
    char line[24];
    size_t n = 0;

    do
        line[sizeof line - ++n] = (char)('0' + expires_s % 10);
    while (expires_s /= 10);
    return write_line(fd, str_make(line + sizeof line - n, n), e) &&
           (renameat(j->dirfd, draft, j->dirfd, name) == 0 ||
            err_errno(e, "cannot name a call's journal")) &&
           fs_sync(j->dirfd, FOLDER, e);
}

/* The file is renamed to its name after it is locked and has its expiry, so
 * that another process does not take it for expired. */
static bool begin(void *ctx, struct str run, uint64_t expires_s, struct err *e)
{
    struct serve_journal *j = ctx;
    char name[RUN_CHARS + sizeof KEPT_SUFFIX], draft[sizeof name];
    int fd;

    if (!name_of(run, name))
        return err_set(e, ERR_FORMAT, "invalid name of a call");
    if (!one_more_fits(j, e))
        return false;
    memcpy(draft, name, RUN_CHARS);
    memcpy(draft + RUN_CHARS, KEPT_DRAFT_SUFFIX, sizeof KEPT_DRAFT_SUFFIX);
    fd = fs_openat(j->dirfd, draft,
                   O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, "cannot create a call's journal");
    if (!hold(j, run, fd, e)) {
        unlinkat(j->dirfd, draft, 0);
        return false;
    }
    if (begin_draft(j, fd, draft, name, expires_s, e))
        return true;
    unlinkat(j->dirfd, draft, 0);
    unlinkat(j->dirfd, name, 0);
    let_go(j, run);
    return false;
}

static bool append(void *ctx, struct str run, struct str record, struct err *e)
{
    struct serve_journal *j = ctx;
    int fd = fd_of(j, run);

    if (fd < 0)
        return err_set(e, ERR_FAILED, "this call is not ours");
    return bytes_fit(j, record.n + 1, e) && write_line(fd, record, e);
}

/* Parses the lines; a line that a crash truncated was never acknowledged. */
static bool take_lines(struct str text, struct arena *a,
                       const struct str **records, size_t *count, bool *torn)
{
    struct str *lines = NULL;
    size_t capacity = 0, n = 0;
    struct str rest = text, line;

    *torn = text.n && text.p[text.n - 1] != '\n';
    if (*torn)
        rest = str_slice(text, 0, str_find_last(text, '\n') + 1);
    if (!str_line(&rest, &line))
        return false;
    while (str_line(&rest, &line)) {
        if (!line.n && !rest.n) /* the call has ended */
            break;
        lines = arena_grow(a, lines, n, &capacity, sizeof *lines);
        lines[n++] = line;
    }
    *records = lines;
    *count = n;
    return n > 0;
}

static bool read_run(void *ctx, struct str run, struct arena *a,
                     const struct str **records, size_t *count, struct err *e)
{
    struct serve_journal *j = ctx;
    char name[RUN_CHARS + sizeof KEPT_SUFFIX];
    struct str text;
    struct stat st;
    bool torn;
    int fd;

    if (!name_of(run, name) || fd_of(j, run) >= 0)
        return err_set(e, ERR_NOT_FOUND, "there is no such call");
    fd = fs_openat(j->dirfd, name,
                   O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return errno == ENOENT
                   ? err_set(e, ERR_NOT_FOUND, "there is no such call")
                   : err_errno(e, "cannot open a call's journal");
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(e, ERR_DAMAGED, "a call's journal is no file");
    }
    if (!hold(j, run, fd, e))
        return false;
    if (fstat(fd, &st) == 0 && st.st_nlink == 0) { /* deleted just before it
                                                    * was locked */
        let_go(j, run);
        return err_set(e, ERR_NOT_FOUND, "there is no such call");
    }
    if (fs_read_fd(fd, KEPT_FILE_MAX_BYTES, a, &text, e)) {
        if (take_lines(text, a, records, count, &torn) &&
            (!torn || ftruncate(fd, (off_t)str_find_last(text, '\n') + 1) == 0))
            return true;
        err_set(e, ERR_DAMAGED, "a call's journal cannot be read");
    }
    let_go(j, run);
    return false;
}

static void leave(void *ctx, struct str run)
{
    let_go(ctx, run);
}

/* If the end cannot be written, the file is kept until it expires. */
static void ended(void *ctx, struct str run)
{
    struct serve_journal *j = ctx;
    int fd = fd_of(j, run);
    struct err ignored = {0};

    if (fd >= 0 && fs_write_all(fd, STR("\n"), &ignored))
        j->kept_bytes++;
}

static void forget(void *ctx, struct str run)
{
    struct serve_journal *j = ctx;
    char name[RUN_CHARS + sizeof KEPT_SUFFIX];

    if (name_of(run, name) && fd_of(j, run) >= 0)
        unlinkat(j->dirfd, name, 0);
    let_go(j, run);
}

static void forked(void *ctx)
{
    struct serve_journal *j = ctx;

    while (j->count)
        close(j->open[--j->count].fd);
}

/* --- the key ------------------------------------------------------------------------------- */

static bool read_key(struct serve_journal *j, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str bytes;

    if (!fs_read_file_at(j->dirfd, KEY_FILE, KEY_BYTES, &a, &bytes, e))
        return false;
    if (bytes.n != KEY_BYTES)
        return err_set(e, ERR_DAMAGED, FOLDER "/" KEY_FILE " is not a key");
    memcpy(j->key, bytes.p, KEY_BYTES);
    return true;
}

/* Writes and syncs the key before it is renamed to its name. */
static bool write_key(struct serve_journal *j, struct err *e)
{
    unsigned char bytes[KEY_BYTES];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_errno(e, "cannot make a key");
    return fs_replace_at(j->dirfd, KEY_FILE, 0600,
                         str_make((const char *)bytes, sizeof bytes), e);
}

/* No other process creates a key: calls under a replaced key cannot be
 * resumed. */
static bool make_key(struct serve_journal *j, struct err *e)
{
    bool ok;

    if (!fs_lock(j->dirfd, true, KEY_WAIT_MS, NULL, NULL, e))
        return false;
    ok = read_key(j, e);
    if (!ok && e->code == ERR_IO &&
        fs_repair_at(j->dirfd, KEY_FILE, S_IFREG, 0600))
        ok = read_key(j, e);
    if (!ok) {
        if (e->code != ERR_NOT_FOUND)
            fs_set_aside_at(j->dirfd, KEY_FILE);
        err_clear(e);
        ok = write_key(j, e) && read_key(j, e);
    }
    flock(j->dirfd, LOCK_UN);
    return ok;
}

static bool open_key(struct serve_journal *j, struct err *e)
{
    if (read_key(j, e))
        return true;
    err_clear(e);
    return make_key(j, e);
}

/* Returns the part of the digest that binds a call to its workspace and
 * options, because the key of the user is the same in all. */
static struct str state_of(struct serve *s, struct arena *a)
{
    struct hash_state h;
    struct hash hash;

    hash_init(&h);
    hash_add(&h, s->layer.path);
    hash_add(&h, str_make("", 1));
    hash_add(&h, s->cx->cwd);
    for (size_t i = 0; i < s->options->arguments.count; i++) {
        hash_add(&h, str_make("", 1));
        hash_add(&h, s->options->arguments.items[i]);
    }
    hash = hash_end(&h);
    return hash_hex(&hash, a);
}

static bool open_folder(struct serve *s, int *fd, struct err *e)
{
    struct str home = store_home(s->store);
    CLEANUP_FD int top = -1;

    if (!fs_open_dir(str_dup0(home, &s->cx->arena), &top, e))
        return false;
    if (fs_open_dir_at(top, FOLDER, fd, e))
        return true;
    if (e->code != ERR_NOT_FOUND)
        fs_repair_at(top, FOLDER, S_IFDIR, 0700);
    err_clear(e);
    return fs_make_dirs_at(top, FOLDER, 0700, e) &&
           fs_open_dir_at(top, FOLDER, fd, e);
}

bool serve_journal_open(struct serve *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct serve_journal *j = arena_new(a, struct serve_journal);

    if (!open_folder(s, &j->dirfd, e))
        return err_wrap(e, "cannot keep calls that wait");
    if (!open_key(j, e)) {
        close(j->dirfd);
        return err_wrap(e, "cannot keep calls that wait");
    }
    j->functions = (struct mcp_journal){
        .begin = begin,
        .append = append,
        .read = read_run,
        .ended = ended,
        .leave = leave,
        .forget = forget,
        .forked = forked,
        .ctx = j,
    };
    s->journal = j;
    s->server.journal = &j->functions;
    s->server.state_key = j->key;
    s->server.state_of = state_of(s, a);
    return true;
}

void serve_journal_close(struct serve *s)
{
    struct serve_journal *j = s->journal;

    if (!j)
        return;
    while (j->count)
        close(j->open[--j->count].fd);
    close(j->dirfd);
    s->journal = NULL;
}
