#include "base/fs.h"
#include "base/text.h"
#include "mapm/store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

/* Lists the processes that hold the store's lock, from /proc/locks ("1: FLOCK
 * ADVISORY READ 4711 00:2e:1234 0 EOF"). Entries are matched by inode only,
 * because stat(2) reports another device number on btrfs and overlayfs. The
 * result is used in a message only. */

#define LOCKS_MAX_BYTES        (1024 * 1024)
#define COMMAND_LINE_MAX_BYTES (16 * 1024)
#define SHOWN_MAX_CHARS        60
/* Words that are shown, as in "mapm mcp": others may be private. */
#define SHOWN_WORDS 2
#define FIELDS      8

/* Splits a line at blanks. */
static size_t split(struct str line, struct str out[FIELDS])
{
    struct str word;
    size_t n = 0;

    while (n < FIELDS && str_cut(&line, ' ', &word))
        if (word.n)
            out[n++] = word;
    return n;
}

static bool is_held(struct str line, ino_t inode, uint64_t *pid)
{
    struct str f[FIELDS];
    uint64_t found;

    return split(line, f) == FIELDS && str_is(f[1], "FLOCK") &&
           str_number(f[4], INT_MAX, pid) &&
           str_number(str_from_index(f[5], str_find_last(f[5], ':') + 1),
                      UINT64_MAX, &found) &&
           found == inode && *pid != (uint64_t)getpid();
}

/* Reads the command line of `pid`. Returns false if the process is gone, for
 * example if only its child holds the lock. */
static bool read_command(uint64_t pid, struct arena *a, struct str *out)
{
    struct err ignored = {0};
    char path[40];
    struct str words, word, line = STR("");

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/cmdline", pid);
    if (!fs_read_file_at(AT_FDCWD, path, COMMAND_LINE_MAX_BYTES, a, &words,
                         &ignored) ||
        words.n == 0)
        return false;
    for (int i = 0; i < SHOWN_WORDS && str_cut(&words, '\0', &word); i++)
        line = arena_join(line, " ", word, a);
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
    uint64_t pid;

    if (fstat(s->lock_fd, &st) < 0 ||
        !fs_read_file_at(AT_FDCWD, "/proc/locks", LOCKS_MAX_BYTES, a, &locks,
                         &ignored))
        return users;
    while (str_line(&locks, &line))
        if (is_held(line, st.st_ino, &pid) && read_command(pid, a, &command))
            users = arena_printf(a, "%.*s%sprocess %" PRIu64 " (%.*s)",
                                 STR_ARG(users), users.n ? ", " : "", pid,
                                 STR_ARG(command));
    return users;
}
