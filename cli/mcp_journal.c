#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

/*
 * One file for each call, a record a line, the first line says until when it is
 * kept. Whose a call is, is who holds the lock on its file: so a process that
 * died, in whatever way, has left it.
 */

#define FOLDER         "suspended"
#define KEY_FILE       "key"
#define KEY_BYTES      32
#define KEPT_MAX_FILES 1000
#define OPEN_MAX       256
#define SUFFIX         ".jsonl"
#define RUN_CHARS      32
#define READ_MAX_BYTES (8 * (size_t)MCP_RECORDS_MAX_BYTES)

struct serve_journal {
    int dirfd;
    unsigned char key[KEY_BYTES];
    struct mcp_journal functions;
    struct {
        char run[RUN_CHARS + 1];
        int fd;
    } open[OPEN_MAX];
    size_t count;
};

/* --- files ---------------------------------------------------------------------- */

static bool name_of(struct str run, char out[RUN_CHARS + sizeof SUFFIX])
{
    if (run.n != RUN_CHARS)
        return false;
    for (size_t i = 0; i < run.n; i++)
        if (!char_is_hex(run.p[i]))
            return false;
    memcpy(out, run.p, run.n);
    memcpy(out + run.n, SUFFIX, sizeof SUFFIX);
    return true;
}

static int fd_of(const struct serve_journal *j, struct str run)
{
    for (size_t i = 0; i < j->count; i++)
        if (str_is(run, j->open[i].run))
            return j->open[i].fd;
    return -1;
}

static void let_go(struct serve_journal *j, struct str run)
{
    for (size_t i = 0; i < j->count; i++) {
        if (!str_is(run, j->open[i].run))
            continue;
        close(j->open[i].fd);
        j->open[i] = j->open[--j->count];
        return;
    }
}

/* Takes `fd`; closes it when that fails. */
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

/* --- what has expired ---------------------------------------------------------------- */

static uint64_t now_s(void)
{
    return (uint64_t)time(NULL);
}

/* A file that somebody holds is in use, whatever its first line says. */
static void forget_if_old(struct serve_journal *j, const char *name)
{
    int fd = openat(j->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char line[24];
    ssize_t n;
    size_t digits = 0;
    uint64_t until = 0;

    if (fd < 0)
        return;
    n = read(fd, line, sizeof line);
    while (n > 0 && digits < (size_t)n && char_is_digit(line[digits]))
        digits++;
    if (!str_number(str_of(line, digits), UINT64_MAX, &until))
        until = 0;
    if (until < now_s() && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(j->dirfd, name, 0);
    close(fd);
}

static void forget_old(struct serve_journal *j)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fs_entry *entries;
    struct err ignored = {0};
    size_t count;

    if (!fs_list_at(j->dirfd, "", 2 * KEPT_MAX_FILES, &a, &entries, &count,
                    &ignored))
        return;
    for (size_t i = 0; i < count; i++)
        if (str_ends(entries[i].name, STR(SUFFIX)))
            forget_if_old(j, entries[i].name.p);
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

static bool begin(void *ctx, struct str run, uint64_t expires_s, struct err *e)
{
    struct serve_journal *j = ctx;
    char name[RUN_CHARS + sizeof SUFFIX], line[24];
    size_t n = 0;
    int fd;

    forget_old(j);
    if (!name_of(run, name))
        return err_set(e, ERR_FORMAT, "that is no name of a call");
    fd = openat(j->dirfd, name,
                O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, "cannot create a call's journal");
    if (!hold(j, run, fd, e))
        return false;
    do
        line[sizeof line - ++n] = (char)('0' + expires_s % 10);
    while (expires_s /= 10);
    if (write_line(fd, str_of(line + sizeof line - n, n), e) &&
        fs_sync(j->dirfd, FOLDER, e))
        return true;
    unlinkat(j->dirfd, name, 0);
    let_go(j, run);
    return false;
}

static bool append(void *ctx, struct str run, struct str record, struct err *e)
{
    int fd = fd_of(ctx, run);

    return fd >= 0 ? write_line(fd, record, e)
                   : err_set(e, ERR_FAILED, "this call is not ours");
}

/* A line that a crash cut short was never promised to anybody. */
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
    char name[RUN_CHARS + sizeof SUFFIX];
    struct str text;
    bool torn;
    int fd;

    if (!name_of(run, name) || fd_of(j, run) >= 0)
        return err_set(e, ERR_NOT_FOUND, "there is no such call");
    fd = openat(j->dirfd, name, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT
                   ? err_set(e, ERR_NOT_FOUND, "there is no such call")
                   : err_errno(e, "cannot open a call's journal");
    if (!hold(j, run, fd, e))
        return false;
    if (fs_read_fd(fd, READ_MAX_BYTES, a, &text, e)) {
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

static void forget(void *ctx, struct str run)
{
    struct serve_journal *j = ctx;
    char name[RUN_CHARS + sizeof SUFFIX];

    if (name_of(run, name) && fd_of(j, run) >= 0)
        unlinkat(j->dirfd, name, 0);
    let_go(j, run);
}

/* --- the key ------------------------------------------------------------------------------- */

/* Written whole under another name first: who finds it finds all of it. */
static bool make_key(struct serve_journal *j, struct err *e)
{
    char name[48];
    unsigned char bytes[KEY_BYTES];
    struct str text = str_of((const char *)bytes, sizeof bytes);
    bool ok;

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_errno(e, "cannot make a key");
    snprintf(name, sizeof name, KEY_FILE ".%ld", (long)getpid());
    unlinkat(j->dirfd, name, 0);
    if (!fs_create_at(j->dirfd, name, 0600, text, e))
        return false;
    ok = linkat(j->dirfd, name, j->dirfd, KEY_FILE, 0) == 0 || errno == EEXIST;
    if (!ok)
        err_errno(e, "cannot keep a key");
    unlinkat(j->dirfd, name, 0);
    return ok;
}

static bool read_key(struct serve_journal *j, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str bytes;

    if (!fs_read_file_at(j->dirfd, KEY_FILE, KEY_BYTES, &a, &bytes, e))
        return false;
    if (bytes.n != KEY_BYTES)
        return err_set(e, ERR_DAMAGED, FOLDER "/" KEY_FILE " is no key");
    memcpy(j->key, bytes.p, KEY_BYTES);
    return true;
}

bool serve_journal_open(struct serve *s, struct err *e)
{
    struct arena *a = &s->inv->arena;
    struct str path = fs_join(store_home(s->store), STR(FOLDER), a);
    struct serve_journal *j = arena_new(a, struct serve_journal);

    if (!fs_make_dirs(path.p, 0700, e) || !fs_open_dir(path.p, &j->dirfd, e))
        return err_wrap(e, "cannot keep calls that wait");
    if (!read_key(j, e)) {
        if (e->code != ERR_NOT_FOUND || !make_key(j, e) || !read_key(j, e)) {
            close(j->dirfd);
            return err_wrap(e, "cannot keep calls that wait");
        }
        err_clear(e);
    }
    j->functions = (struct mcp_journal){
        .begin = begin,
        .append = append,
        .read = read_run,
        .leave = leave,
        .forget = forget,
        .ctx = j,
    };
    s->journal = j;
    s->server.journal = &j->functions;
    s->server.state_key = j->key;
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
