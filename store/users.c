#include "base/fs.h"
#include "base/text.h"
#include "mapm/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

/*
 * The processes that hold the store's lock, of /proc/locks:
 *
 *     1: FLOCK  ADVISORY  READ 4711 00:2e:1234 0 EOF
 *
 * Matched by the inode alone: on btrfs and overlayfs stat(2) has another device
 * number than this list. It is for a message; nothing is decided by it.
 */

#define LOCKS_MAX_BYTES        (1024 * 1024)
#define COMMAND_LINE_MAX_BYTES (16 * 1024)
#define SHOWN_MAX_CHARS        60

static bool is_held(const char *line, ino_t inode, int *pid)
{
    unsigned long long found;

    return sscanf(line, "%*u: FLOCK ADVISORY %*s %d %*x:%*x:%llu", pid,
                  &found) == 2 &&
           found == inode && *pid > 0 && *pid != getpid();
}

/* The command line of `pid`; false for a process that is gone, as one whose
 * child still has the lock. */
static bool read_command(int pid, struct arena *a, struct str *out)
{
    struct err ignored = {0};
    char path[32];
    struct str words, word, line = STR("");

    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    if (!fs_read_file_at(AT_FDCWD, path, COMMAND_LINE_MAX_BYTES, a, &words,
                         &ignored) ||
        words.n == 0)
        return false;
    while (str_cut(&words, '\0', &word))
        line = arena_printf(a, "%.*s %.*s", STR_ARG(line), STR_ARG(word));
    line = text_shown(str_trim(line), a);
    *out = text_cut(line, SHOWN_MAX_CHARS);
    if (out->n < line.n)
        *out = str_join(*out, STR(" ..."), a);
    return true;
}

struct str store_users(const struct store *s, struct arena *a)
{
    struct str locks, line, command, users = STR("");
    struct err ignored = {0};
    struct stat st;
    int pid;

    if (fstat(s->lock_fd, &st) < 0 ||
        !fs_read_file_at(AT_FDCWD, "/proc/locks", LOCKS_MAX_BYTES, a, &locks,
                         &ignored))
        return users;
    while (str_line(&locks, &line))
        if (is_held(str_dup0(line, a), st.st_ino, &pid) &&
            read_command(pid, a, &command))
            users = arena_printf(a, "%.*s%sprocess %d (%.*s)", STR_ARG(users),
                                 users.n ? ", " : "", pid, STR_ARG(command));
    return users;
}
