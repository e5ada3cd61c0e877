#include "base/proc.h"

#include "base/env.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc_child.h"

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

static void text_free(char **text)
{
    free(*text); /* result of realpath */
}

static bool is_below(struct str path, struct str folder)
{
    while (str_ends(folder, STR("/")))
        folder.n--;
    return str_starts(path, folder) &&
           (path.n == folder.n || path.p[folder.n] == '/');
}

/* Checks the path and the path that its symbolic links resolve to. */
static bool is_excluded(const char *path, const char *folder, struct arena *a)
{
    CLEANUP(text_free) char *real = NULL;
    CLEANUP(text_free) char *real_folder = NULL;

    if (!folder)
        return false;
    if (is_below(fs_normalize(str_cstr(path), a),
                 fs_normalize(str_cstr(folder), a)))
        return true;
    real = realpath(path, NULL);
    real_folder = realpath(folder, NULL);
    if (!real)
        return true;
    return real_folder && is_below(str_cstr(real), str_cstr(real_folder));
}

bool proc_find_program(const char *name, const char *except_below,
                       struct arena *a, struct str *path, struct err *e)
{
    struct str rest = env_is_set("PATH") ? env_get("PATH") : STR(PATH_DEFAULT);
    struct str folder;

    if (name[0] == '\0' || strchr(name, '/'))
        return err_set(e, ERR_REFUSED, "\"%s\" is not a program name", name);
    while (str_cut(&rest, ':', &folder)) {
        struct str found;

        if (!str_starts(folder, STR("/")))
            continue;
        found = fs_join(folder, str_cstr(name), a);
        if (!is_program(found.p) || is_excluded(found.p, except_below, a))
            continue;
        *path = found;
        return true;
    }
    return err_set(e, ERR_NOT_FOUND, "%s: no such program in PATH", name);
}

/* Without /proc, uses the path that the program was started by, if
 * it is absolute. */
static ssize_t self_path(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    const char *started;

    if (n >= 0 || errno != ENOENT)
        return n;
    started = (const char *)getauxval(AT_EXECFN);
    if (!started || *started != '/') {
        errno = ENOENT;
        return -1;
    }
    return realpath(started, path) ? (ssize_t)strlen(path) : -1;
}

bool proc_self_dir(struct arena *a, struct str *dir, struct err *e)
{
    char path[PATH_MAX];
    ssize_t n = self_path(path);
    size_t slash;

    if (n < 0)
        return err_errno(e, "read /proc/self/exe");
    slash = str_find_last(str_make(path, (size_t)n), '/');
    if (slash == SIZE_MAX || (size_t)n == sizeof path)
        return err_set(e, ERR_FAILED, "/proc/self/exe: not a path");
    *dir = arena_str(a, str_make(path, slash ? slash : 1));
    return true;
}

bool proc_spawn(const char *const *argv, int fd, pid_t *pid, struct err *e)
{
    struct proc_start s = {.argv = argv, .fds = {-1, -1, -1, fd}};

    return proc_start(&s, pid, e);
}

bool proc_wait(pid_t pid, int *exit_code, struct err *e)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_errno(e, "wait for a program");
    *exit_code = proc_exit_code(status);
    return true;
}
