#include "proc_rest.h"

#include "base/fs.h"
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN_MAX_BYTES (1u << 22)

/* Limits the wait for processes that cannot be killed (they changed their
 * user); processes that fork faster than they are found need some time. */
#define KILL_MAX_MS 10000

/* If no new child appears for this time, the remaining ones cannot be
 * killed. */
#define STUCK_MAX_MS 2000

#define ORPHANS_MAX_COUNT 1000 /* reaped per call */

static void close_folder(DIR **d)
{
    if (*d)
        closedir(*d);
}

/* Returns the parent, 45 in "123 (name, with any characters) S 45 …". */
static pid_t parent_of(int proc, const char *pid)
{
    char path[32], text[256];
    CLEANUP_FD int fd = -1;
    struct str rest, word;
    uint64_t number = 0;
    ssize_t n;

    if (strlen(pid) > 16)
        return 0;
    stpcpy(stpcpy(path, pid), "/stat");
    fd = fs_openat(proc, path, O_RDONLY | O_CLOEXEC, 0);
    n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (n <= 0)
        return 0; /* the process has ended */
    rest = str_make(text, (size_t)n);
    rest = str_from_index(rest, str_find_last(rest, ')'));
    for (int i = 0; i < 3; i++)
        if (!str_cut(&rest, ' ', &word))
            return 0;
    return str_number(word, INT32_MAX, &number) ? (pid_t)number : 0;
}

static bool has_none(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 &&
           errno == ECHILD;
}

/* Reads the kernel's list of children: fast, but not available in every kernel,
 * and incomplete if children exit at the same time. */
static void list_by_kernel(struct buf *pids)
{
    char path[64], block[4096];
    CLEANUP_FD int fd = -1;
    uint64_t number = 0;
    bool has_digit = false;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    fd = fs_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    while (fd >= 0 && (n = read(fd, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            pid_t pid = (pid_t)number;

            if (char_is_digit(block[i])) {
                number = number * 10 + (uint64_t)(block[i] - '0');
                has_digit = true;
            } else if (has_digit) {
                buf_append(pids, str_make((const char *)&pid, sizeof pid));
                number = 0;
                has_digit = false;
            }
        }
    }
}

static void list_children(struct buf *pids)
{
    CLEANUP(close_folder) DIR *proc = NULL;
    struct dirent *entry;

    if (has_none())
        return; /* no processes to look for */
    proc = opendir("/proc");
    while (proc && (entry = readdir(proc))) {
        uint64_t number;
        pid_t pid;

        if (!str_number(str_cstr(entry->d_name), INT32_MAX, &number) ||
            parent_of(dirfd(proc), entry->d_name) != getpid())
            continue;
        pid = (pid_t)number;
        buf_append(pids, str_make((const char *)&pid, sizeof pid));
    }
}

static pid_t pid_at(const struct buf *pids, size_t i)
{
    pid_t pid;

    memcpy(&pid, pids->p + i * sizeof pid, sizeof pid);
    return pid;
}

static bool has_pid(const struct buf *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->n / sizeof pid; i++)
        if (pid_at(pids, i) == pid)
            return true;
    return false;
}

void proc_rest_begin(struct proc_rest *r)
{
    buf_init(&r->known, CHILDREN_MAX_BYTES);
    list_children(&r->known);
    if (prctl(PR_GET_CHILD_SUBREAPER, &r->before) < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        r->before = 1; /* no setting to restore */
    r->on = true;
}

/* Kills the children that were not there before; returns their number. */
static size_t kill_listed(const struct proc_rest *r, const struct buf *now)
{
    size_t found = 0;

    for (size_t i = 0; i < now->n / sizeof(pid_t); i++) {
        pid_t pid = pid_at(now, i);

        if (has_pid(&r->known, pid))
            continue;
        kill(-pid, SIGKILL); /* its group, if it is the leader */
        kill(pid, SIGKILL);
        found++;
    }
    for (size_t i = 0; i < now->n / sizeof(pid_t); i++) {
        pid_t pid = pid_at(now, i);

        if (!has_pid(&r->known, pid))
            waitpid(pid, NULL, WNOHANG | __WALL);
    }
    return found;
}

/* Returns whether the youngest process is new since the previous round. */
static bool has_new_process(const struct buf *now, const struct buf *before)
{
    size_t count = now->n / sizeof(pid_t);

    return count && !has_pid(before, pid_at(now, count - 1));
}

/* Returns whether processes were left; `seen` receives them. */
static bool kill_round(const struct proc_rest *r, struct buf *seen, bool *news)
{
    struct buf now;
    size_t found = 0;

    buf_init(&now, CHILDREN_MAX_BYTES);
    if (!has_none()) {
        list_by_kernel(&now);
        found = kill_listed(r, &now);
    }
    if (found == 0) { /* confirm by the complete list */
        buf_clear(&now);
        list_children(&now);
        found = kill_listed(r, &now);
    }
    *news = has_new_process(&now, seen);
    buf_done(seen);
    *seen = now;
    return found > 0;
}

static bool kill_rounds(const struct proc_rest *r, unsigned max_ms)
{
    static const struct timespec breath = {.tv_nsec = 200 * 1000};
    uint64_t start = proc_now_ms(), now = start, news_ms = start;
    struct buf seen;
    bool left, news;

    buf_init(&seen, CHILDREN_MAX_BYTES);
    /* The children of a killed process become children of this one, so this
     * takes as many rounds as the tree is deep, and one round that finds none.
     * Do not pause while new ones appear, because they may fork faster. */
    while ((left = kill_round(r, &seen, &news))) {
        now = proc_now_ms();
        if (news)
            news_ms = now;
        if (now - start >= max_ms || now - news_ms >= STUCK_MAX_MS)
            break;
        if (!news)
            nanosleep(&breath, NULL);
    }
    buf_done(&seen);
    return !left;
}

bool proc_rest_kill(struct proc_rest *r)
{
    return !r->on || kill_rounds(r, KILL_MAX_MS);
}

void proc_rest_reap(struct proc_rest *r, pid_t running)
{
    for (int i = 0; r->on && i < ORPHANS_MAX_COUNT; i++) {
        siginfo_t info = {0};

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            info.si_pid == 0 || info.si_pid == running ||
            has_pid(&r->known, info.si_pid))
            return;
        waitpid(info.si_pid, NULL, WNOHANG);
    }
}

void proc_rest_end(struct proc_rest *r)
{
    if (!r->on)
        return;
    if (!r->before)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    buf_done(&r->known);
    r->on = false;
}

void proc_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void proc_end_others(const pid_t *keep, size_t count, unsigned max_ms)
{
    struct proc_rest r = {0};

    buf_init(&r.known, CHILDREN_MAX_BYTES);
    buf_append(&r.known, str_make((const char *)keep, count * sizeof *keep));
    kill_rounds(&r, max_ms);
    buf_done(&r.known);
}

/* Returns false if no process is left. */
static bool signal_group(bool is_late, struct buf *asked)
{
    struct buf pids;
    bool found = false;

    buf_init(&pids, CHILDREN_MAX_BYTES);
    list_children(&pids);
    for (size_t i = 0; i < pids.n / sizeof(pid_t); i++) {
        pid_t pid = pid_at(&pids, i);

        if (getpgid(pid) != getpgrp())
            continue;
        found = true;
        if (!is_late && has_pid(asked, pid))
            continue;
        kill(pid, is_late ? SIGKILL : SIGTERM);
        buf_append(asked, str_make((const char *)&pid, sizeof pid));
    }
    buf_done(&pids);
    while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
        ;
    return found;
}

void proc_end_group(unsigned max_ms)
{
    static const struct timespec breath = {.tv_nsec = 1000 * 1000};
    uint64_t start = proc_now_ms(), now = start;
    struct buf asked;

    buf_init(&asked, CHILDREN_MAX_BYTES);
    while (now - start < max_ms + STUCK_MAX_MS &&
           signal_group(now - start >= max_ms, &asked)) {
        nanosleep(&breath, NULL);
        now = proc_now_ms();
    }
    buf_done(&asked);
}
