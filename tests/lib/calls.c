/*
 * calls.so: what a program asks of the file system, in the order in which it
 * does. Preloaded (LD_PRELOAD) into mapm by tests/lib/calls.py; no rights and no
 * device are needed for it.
 *
 *     CALLS_LOG    file to which each call is appended, a line of
 *                  "COUNT CLASS NAME RESULT INODE PATH" and what else it needs,
 *                  separated by tabs; RESULT is 0 or an errno
 *     CALLS_BELOW  only paths below these folders, separated by colons
 *     CALLS_KEEP   folder in which a file is linked, as COUNT, before its name
 *                  goes, so that the call can be taken back, and copied when it
 *                  is synced
 *     CALLS_FAIL   "CLASSES:COUNT:WHAT": the call of that number among those of
 *                  these classes fails with the errno WHAT; "kill" ends the
 *                  process before it, "short" writes half; "COUNT+": each later
 *                  one, too
 *
 * Classes: c creates a name, w writes, m sets a mode, n renames or removes, s
 * syncs, r reads. COUNT is that of all processes together.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES  4096
#define BELOW_MAX   8
#define PROGRAM     "mapm"
#define LOG_BYTES   (3 * PATH_BYTES)
#define SUFFIX_KEEP 24

static struct counts {
    long all, of_fault;
} * counts; /* shared by all processes of a run */
static struct {
    const char *log, *keep, *classes, *what;
    char below[BELOW_MAX][PATH_BYTES];
    size_t below_count;
    long at;
    bool later_too;
} calls;
/* Off in mapm-fetch and in children that give up their rights: they may not
 * look up a path. */
static bool is_on;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

/* --- set-up --------------------------------------------------------------- */

static bool is_the_program(void)
{
    char path[PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *name;

    if (n < 0)
        return false;
    path[n] = '\0';
    name = strrchr(path, '/');
    return name && strcmp(name + 1, PROGRAM) == 0;
}

static void split_below(const char *text)
{
    while (text && *text && calls.below_count < BELOW_MAX) {
        size_t n = strcspn(text, ":");

        snprintf(calls.below[calls.below_count++], PATH_BYTES, "%.*s", (int)n,
                 text);
        text += n + (text[n] == ':');
    }
}

static void read_fault(const char *text)
{
    static char copy[256];
    char *count, *what;

    if (!text)
        return;
    snprintf(copy, sizeof copy, "%s", text);
    count = strchr(copy, ':');
    what = count ? strchr(count + 1, ':') : NULL;
    if (!what)
        return;
    *count++ = '\0';
    *what++ = '\0';
    calls.classes = copy;
    calls.at = atol(count);
    calls.later_too = strchr(count, '+') != NULL;
    calls.what = what;
}

__attribute__((constructor)) static void begin(void)
{
    char path[PATH_BYTES];
    int fd;

    calls.log = getenv("CALLS_LOG");
    calls.keep = getenv("CALLS_KEEP");
    if (!calls.log || !is_the_program())
        return;
    split_below(getenv("CALLS_BELOW"));
    read_fault(getenv("CALLS_FAIL"));
    snprintf(path, sizeof path, "%s.counts", calls.log);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || syscall(SYS_ftruncate, fd, sizeof *counts) < 0)
        return;
    counts =
        mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    is_on = counts != MAP_FAILED;
}

/* --- paths ---------------------------------------------------------------- */

static bool path_of_fd(int fd, char out[PATH_BYTES])
{
    char link[64];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_BYTES - 1);
    if (n < 0)
        return false;
    out[n] = '\0';
    return true;
}

static bool path_at(int dirfd, const char *path, char out[PATH_BYTES])
{
    size_t n = 0;

    if (*path != '/') {
        if (dirfd == AT_FDCWD ? syscall(SYS_getcwd, out, PATH_BYTES) < 0
                              : !path_of_fd(dirfd, out))
            return false;
        n = strlen(out);
        while (strncmp(path, "./", 2) == 0)
            path += 2;
    }
    return snprintf(out + n, PATH_BYTES - n, "%s%s", n ? "/" : "", path) <
           (int)(PATH_BYTES - n);
}

static bool is_below(const char *path)
{
    for (size_t i = 0; i < calls.below_count; i++) {
        size_t n = strlen(calls.below[i]);

        if (strncmp(path, calls.below[i], n) == 0 &&
            (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return false;
}

static bool look(int dirfd, const char *path, struct stat *st)
{
    return fstatat(dirfd, path, st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- one call ------------------------------------------------------------- */

struct call {
    char class;
    const char *name;
    char path[PATH_BYTES], more[PATH_BYTES];
    uint64_t ino;
    long count;
    bool is_known; /* it concerns a path that is looked at */
};

/* Whether this call is the one that fails: -1 and errno, or it does not come
 * back. "short" is left to the caller. */
static bool strikes(struct call *c, bool *cut)
{
    long n;

    if (!calls.classes || !strchr(calls.classes, c->class))
        return false;
    n = __atomic_add_fetch(&counts->of_fault, 1, __ATOMIC_RELAXED);
    if (calls.later_too ? n < calls.at : n != calls.at)
        return false;
    if (strcmp(calls.what, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(calls.what, "short") == 0) {
        *cut = true;
        return false;
    }
    errno = atoi(calls.what);
    return true;
}

static void record(const struct call *c, long result)
{
    char line[LOG_BYTES];
    int saved = errno, fd, n;

    n = snprintf(line, sizeof line, "%ld\t%c\t%s\t%d\t%llu\t%s\t%s\n", c->count,
                 c->class, c->name, result < 0 ? errno : 0,
                 (unsigned long long)c->ino, c->path, c->more);
    fd = (int)syscall(SYS_openat, AT_FDCWD, calls.log,
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || n >= (int)sizeof line || syscall(SYS_write, fd, line, n) != n)
        abort(); /* a trace with a gap proves nothing */
    syscall(SYS_close, fd);
    errno = saved;
}

static void number(struct call *c)
{
    c->count = __atomic_add_fetch(&counts->all, 1, __ATOMIC_RELAXED);
}

/* The file keeps a name of which mapm knows nothing. */
static void keep_name(const struct call *c, int dirfd, const char *path)
{
    char to[PATH_BYTES + SUFFIX_KEEP];

    if (!calls.keep)
        return;
    snprintf(to, sizeof to, "%s/%ld", calls.keep, c->count);
    syscall(SYS_linkat, dirfd, path, AT_FDCWD, to, 0);
}

/* `real` is made once, between strikes() and record(), one at a time. */
#define MAKE(c, cut, real)                                                     \
    ({                                                                         \
        long result_;                                                          \
        if ((c)->is_known && strikes((c), (cut)))                              \
            result_ = -1;                                                      \
        else                                                                   \
            result_ = (real);                                                  \
        if ((c)->is_known)                                                     \
            record((c), result_);                                              \
        pthread_mutex_unlock(&order);                                          \
        result_;                                                               \
    })

static bool start(struct call *c, char class, const char *name)
{
    c->class = class;
    c->name = name;
    c->path[0] = c->more[0] = '\0';
    c->ino = 0;
    c->is_known = false;
    pthread_mutex_lock(&order);
    return is_on;
}

static void start_at(struct call *c, char class, const char *name, int dirfd,
                     const char *path)
{
    struct stat st;

    if (!start(c, class, name) || !path_at(dirfd, path, c->path) ||
        !is_below(c->path))
        return;
    c->is_known = true;
    c->ino = look(dirfd, path, &st) ? st.st_ino : 0;
    number(c);
}

static void start_fd(struct call *c, char class, const char *name, int fd)
{
    struct stat st;

    if (!start(c, class, name) || fstat(fd, &st) < 0 ||
        !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) ||
        !path_of_fd(fd, c->path) || !is_below(c->path))
        return;
    c->is_known = true;
    c->ino = st.st_ino;
    snprintf(c->more, sizeof c->more, "%s", S_ISDIR(st.st_mode) ? "d" : "f");
    number(c);
}

/* --- opening -------------------------------------------------------------- */

static int open_counted(int dirfd, const char *path, int flags, mode_t mode)
{
    struct call c;
    bool cut = false;

    start_at(&c, 'c', "create", dirfd, path);
    if (c.is_known && c.ino) { /* it is there: nothing new but its length */
        c.name = "truncate";
        c.class = 'w';
        c.is_known = flags & O_TRUNC;
    }
    return (int)MAKE(&c, &cut, syscall(SYS_openat, dirfd, path, flags, mode));
}

static int open_any(int dirfd, const char *path, int flags, mode_t mode)
{
    if (!is_on || !(flags & (O_CREAT | O_TRUNC)))
        return (int)syscall(SYS_openat, dirfd, path, flags, mode);
    return open_counted(dirfd, path, flags, mode);
}

static mode_t mode_of(int flags, va_list list)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN_BODY(dirfd)                                                       \
    va_list list;                                                              \
    mode_t mode;                                                               \
    va_start(list, flags);                                                     \
    mode = mode_of(flags, list);                                               \
    va_end(list);                                                              \
    return open_any((dirfd), path, flags, mode)

int open(const char *path, int flags, ...)
{
    OPEN_BODY(AT_FDCWD);
}

int open64(const char *path, int flags, ...)
{
    OPEN_BODY(AT_FDCWD);
}

int openat(int dirfd, const char *path, int flags, ...)
{
    OPEN_BODY(dirfd);
}

int openat64(int dirfd, const char *path, int flags, ...)
{
    OPEN_BODY(dirfd);
}

/* --- writing -------------------------------------------------------------- */

ssize_t write(int fd, const void *p, size_t n)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return syscall(SYS_write, fd, p, n);
    start_fd(&c, 'w', "write", fd);
    return MAKE(&c, &cut, syscall(SYS_write, fd, p, cut ? (n + 1) / 2 : n));
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return syscall(SYS_pwrite64, fd, p, n, at);
    start_fd(&c, 'w', "write", fd);
    return MAKE(&c, &cut,
                syscall(SYS_pwrite64, fd, p, cut ? (n + 1) / 2 : n, at));
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    return pwrite64(fd, p, n, at);
}

int ftruncate(int fd, off_t size)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return (int)syscall(SYS_ftruncate, fd, size);
    start_fd(&c, 'w', "truncate", fd);
    return (int)MAKE(&c, &cut, syscall(SYS_ftruncate, fd, size));
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

int ioctl(int fd, unsigned long request, ...)
{
    struct call c;
    bool cut = false;
    va_list list;
    void *p;

    va_start(list, request);
    p = va_arg(list, void *);
    va_end(list);
    if (!is_on || request != FICLONE)
        return (int)syscall(SYS_ioctl, fd, request, p);
    start_fd(&c, 'w', "clone", fd);
    return (int)MAKE(&c, &cut, syscall(SYS_ioctl, fd, request, p));
}

int fchmod(int fd, mode_t mode)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return (int)syscall(SYS_fchmod, fd, mode);
    start_fd(&c, 'm', "chmod", fd);
    return (int)MAKE(&c, &cut, syscall(SYS_fchmod, fd, mode));
}

/* --- reading -------------------------------------------------------------- */

ssize_t read(int fd, void *p, size_t n)
{
    struct call c;
    bool cut = false;

    if (!is_on || !calls.classes || !strchr(calls.classes, 'r'))
        return syscall(SYS_read, fd, p, n);
    start_fd(&c, 'r', "read", fd);
    return MAKE(&c, &cut, syscall(SYS_read, fd, p, cut ? (n + 1) / 2 : n));
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
    struct call c;
    bool cut = false;

    if (!is_on || !calls.classes || !strchr(calls.classes, 'r'))
        return syscall(SYS_pread64, fd, p, n, at);
    start_fd(&c, 'r', "read", fd);
    return MAKE(&c, &cut,
                syscall(SYS_pread64, fd, p, cut ? (n + 1) / 2 : n, at));
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    return pread64(fd, p, n, at);
}

/* --- syncing -------------------------------------------------------------- */

/* What is on the disk from now on, whatever is written later. */
static void keep_content(const struct call *c, int fd)
{
    char to[PATH_BYTES + SUFFIX_KEEP], part[4096];
    off_t at = 0;
    ssize_t n;
    int out;

    if (!calls.keep || !c->is_known || c->more[0] != 'f')
        return;
    snprintf(to, sizeof to, "%s/%ld", calls.keep, c->count);
    out = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT, 0600);
    while ((n = syscall(SYS_pread64, fd, part, sizeof part, at)) > 0) {
        if (syscall(SYS_write, out, part, n) != n)
            abort();
        at += n;
    }
    syscall(SYS_close, out);
}

static int sync_one(long number_of_call, const char *name, int fd)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return (int)syscall(number_of_call, fd);
    start_fd(&c, 's', name, fd);
    keep_content(&c, fd);
    return (int)MAKE(&c, &cut, syscall(number_of_call, fd));
}

int fsync(int fd)
{
    return sync_one(SYS_fsync, "fsync", fd);
}

int fdatasync(int fd)
{
    return sync_one(SYS_fdatasync, "fsync", fd);
}

int syncfs(int fd)
{
    return sync_one(SYS_syncfs, "syncfs", fd);
}

/* --- names ---------------------------------------------------------------- */

int mkdirat(int dirfd, const char *path, mode_t mode)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return (int)syscall(SYS_mkdirat, dirfd, path, mode);
    start_at(&c, 'c', "mkdir", dirfd, path);
    return (int)MAKE(&c, &cut, syscall(SYS_mkdirat, dirfd, path, mode));
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int symlinkat(const char *to, int dirfd, const char *path)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return (int)syscall(SYS_symlinkat, to, dirfd, path);
    start_at(&c, 'c', "symlink", dirfd, path);
    return (int)MAKE(&c, &cut, syscall(SYS_symlinkat, to, dirfd, path));
}

int symlink(const char *to, const char *path)
{
    return symlinkat(to, AT_FDCWD, path);
}

int linkat(int from, const char *x, int to, const char *y, int flags)
{
    struct call c;
    bool cut = false;

    if (!is_on)
        return (int)syscall(SYS_linkat, from, x, to, y, flags);
    start_at(&c, 'c', "link", to, y);
    return (int)MAKE(&c, &cut, syscall(SYS_linkat, from, x, to, y, flags));
}

int link(const char *x, const char *y)
{
    return linkat(AT_FDCWD, x, AT_FDCWD, y, 0);
}

int unlinkat(int dirfd, const char *path, int flags)
{
    struct call c;
    bool cut = false;
    const char *name = flags & AT_REMOVEDIR ? "rmdir" : "unlink";

    if (!is_on)
        return (int)syscall(SYS_unlinkat, dirfd, path, flags);
    start_at(&c, 'n', name, dirfd, path);
    if (c.is_known && c.ino && !(flags & AT_REMOVEDIR))
        keep_name(&c, dirfd, path);
    return (int)MAKE(&c, &cut, syscall(SYS_unlinkat, dirfd, path, flags));
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int renameat2(int from, const char *x, int to, const char *y, unsigned flags)
{
    struct call c;
    struct stat st;
    bool cut = false;

    if (!is_on)
        return (int)syscall(SYS_renameat2, from, x, to, y, flags);
    start_at(&c, 'n', flags & RENAME_EXCHANGE ? "exchange" : "rename", from, x);
    if (c.is_known && (!path_at(to, y, c.more) || !is_below(c.more)))
        c.is_known = false;
    if (c.is_known && !(flags & RENAME_EXCHANGE) && look(to, y, &st))
        keep_name(&c, to, y);
    return (int)MAKE(&c, &cut, syscall(SYS_renameat2, from, x, to, y, flags));
}

int renameat(int from, const char *x, int to, const char *y)
{
    return renameat2(from, x, to, y, 0);
}

int rename(const char *x, const char *y)
{
    return renameat2(AT_FDCWD, x, AT_FDCWD, y, 0);
}

/* --- giving up rights ----------------------------------------------------- */

int prctl(int option, ...)
{
    unsigned long a[4];
    va_list list;

    va_start(list, option);
    for (size_t i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_NO_NEW_PRIVS)
        is_on = false;
    return (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}
