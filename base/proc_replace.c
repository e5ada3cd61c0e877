#include "base/proc.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ignored(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void proc_inherit(struct proc_inherited *out)
{
    struct rlimit r = {0};

    *out = (struct proc_inherited){
        .umask = umask(0),
        .ignores_xfsz = is_ignored(SIGXFSZ),
        .ignores_pipe = is_ignored(SIGPIPE),
    };
    umask(out->umask);
    if (getrlimit(RLIMIT_NOFILE, &r) == 0)
        out->descriptors = r.rlim_cur;
}

static void restore(const struct proc_inherited *inherited)
{
    struct rlimit r;

    umask(inherited->umask);
    signal(SIGXFSZ, inherited->ignores_xfsz ? SIG_IGN : SIG_DFL);
    signal(SIGPIPE, inherited->ignores_pipe ? SIG_IGN : SIG_DFL);
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 &&
        r.rlim_cur != inherited->descriptors) {
        r.rlim_cur = inherited->descriptors;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

bool proc_replace(const struct proc_inherited *inherited, const char *path,
                  const char *const *argv, const char *dir, struct err *e)
{
    if (dir && chdir(dir) < 0) {
        enum err_code code = errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;

        err_errno(e, "enter %s", dir);
        e->code = code;
        return false;
    }
    restore(inherited);
    /* The argument type of execv is not const for historical reasons only. */
    execv(path, (char *const *)(uintptr_t)argv);
    enum err_code code = errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;

    err_errno(e, "execute %s", path);
    e->code = code;
    return false;
}
