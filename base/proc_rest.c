#include "proc_rest.h"

#include "base/fs.h"
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN_MAX_BYTES (1u << 22)

/* What cannot be killed (it changed its user) must not hold us for ever. */
#define KILL_MAX_MS 2000

static void close_folder(DIR **d)
{
    if (*d)
        closedir(*d);
}

/* "123 (name, with anything in it) S 45 …": the 45. */
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
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (n <= 0)
        return 0; /* it is gone */
    rest = str_of(text, (size_t)n);
    rest = str_from_index(rest, str_find_last(rest, ')'));
    for (int i = 0; i < 3; i++)
        if (!str_cut(&rest, ' ', &word))
            return 0;
    return str_number(word, INT32_MAX, &number) ? (pid_t)number : 0;
}

/* The kernel's own list of children is not built into every kernel. */
static void list_children(struct buf *pids)
{
    CLEANUP(close_folder) DIR *proc = NULL;
    struct dirent *entry;
    siginfo_t info;

    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 &&
        errno == ECHILD)
        return; /* there are none: nothing to look for */
    proc = opendir("/proc");
    while (proc && (entry = readdir(proc))) {
        uint64_t number;
        pid_t pid;

        if (!str_number(str_from(entry->d_name), INT32_MAX, &number) ||
            parent_of(dirfd(proc), entry->d_name) != getpid())
            continue;
        pid = (pid_t)number;
        buf_append(pids, str_of((const char *)&pid, sizeof pid));
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
        r->before = 1; /* nothing to take back */
    r->on = true;
}

/* True when something was still there. */
static bool kill_round(struct proc_rest *r)
{
    struct buf now;
    bool found = false;

    buf_init(&now, CHILDREN_MAX_BYTES);
    list_children(&now);
    for (size_t i = 0; i < now.n / sizeof(pid_t); i++) {
        pid_t pid = pid_at(&now, i);

        if (has_pid(&r->known, pid))
            continue;
        kill(-pid, SIGKILL); /* its group, if it leads one: at once */
        kill(pid, SIGKILL);
        found = true;
    }
    for (size_t i = 0; i < now.n / sizeof(pid_t); i++) {
        pid_t pid = pid_at(&now, i);

        if (!has_pid(&r->known, pid))
            waitpid(pid, NULL, WNOHANG | __WALL);
    }
    buf_done(&now);
    return found;
}

void proc_rest_kill(struct proc_rest *r)
{
    static const struct timespec breath = {.tv_nsec = 1000 * 1000};
    uint64_t start = proc_now_ms();

    if (!r->on)
        return;
    /* Who dies leaves its own children to us: as many rounds as the tree is
     * deep, and one that finds nothing. */
    while (kill_round(r) && proc_now_ms() - start < KILL_MAX_MS)
        nanosleep(&breath, NULL);
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
