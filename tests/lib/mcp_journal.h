#ifndef TESTS_MCP_JOURNAL_H
#define TESTS_MCP_JOURNAL_H

/*
 * A journal of mcp in a folder: a file for each run, a line for each record.
 * A lock on the file says that a living process has it: one of fcntl(2), which
 * the processes that we fork do not share.
 */

#include "base/fs.h"
#include "mapm/mcp.h"

#include <fcntl.h>
#include <unistd.h>

#define FOLDER_RUNS_MAX 64

struct folder_journal {
    int dir;
    struct {
        char run[40];
        int fd; /* holds the lock */
    } held[FOLDER_RUNS_MAX];
};

static int folder_slot(struct folder_journal *f, struct str run)
{
    for (int i = 0; i < FOLDER_RUNS_MAX; i++)
        if (str_is(run, f->held[i].run))
            return i;
    return -1;
}

static bool folder_hold(struct folder_journal *f, struct str run, int flags,
                        struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    int slot = folder_slot(f, STR("")), fd;
    struct flock lock = {.l_type = F_WRLCK};

    if (folder_slot(f, run) >= 0)
        return true;
    if (slot < 0)
        return err_set(e, ERR_LIMIT, "too many runs");
    fd = openat(f->dir, str_dup0(run, &a), flags | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_NOT_FOUND, "no such run");
    if (fcntl(fd, F_SETLK, &lock) < 0) {
        close(fd);
        return err_set(e, ERR_BUSY, "another process has it");
    }
    f->held[slot].fd = fd;
    stpcpy(f->held[slot].run, str_dup0(run, &a));
    return true;
}

static bool folder_begin(void *ctx, struct str run, uint64_t expires_s,
                         struct err *e)
{
    (void)expires_s;
    return folder_hold(ctx, run, O_RDWR | O_CREAT | O_EXCL | O_APPEND, e);
}

static bool folder_append(void *ctx, struct str run, struct str record,
                          struct err *e)
{
    struct folder_journal *f = ctx;
    int slot = folder_slot(f, run);

    if (slot < 0)
        return err_set(e, ERR_NOT_FOUND, "not ours");
    return fs_write_all(f->held[slot].fd, record, e) &&
           fs_write_all(f->held[slot].fd, STR("\n"), e);
}

static bool folder_read(void *ctx, struct str run, struct arena *a,
                        const struct str **records, size_t *count,
                        struct err *e)
{
    struct folder_journal *f = ctx;
    struct str text, line, *all = NULL;
    size_t capacity = 0;
    int slot;

    if (!folder_hold(f, run, O_RDWR | O_APPEND, e))
        return false;
    slot = folder_slot(f, run);
    if (lseek(f->held[slot].fd, 0, SEEK_SET) < 0 ||
        !fs_read_fd(f->held[slot].fd, 1u << 28, a, &text, e))
        return false;
    *count = 0;
    while (str_line(&text, &line)) {
        all = arena_grow(a, all, *count, &capacity, sizeof *all);
        all[(*count)++] = line;
    }
    *records = all;
    return true;
}

static void folder_leave(void *ctx, struct str run)
{
    struct folder_journal *f = ctx;
    int slot = folder_slot(f, run);

    if (slot < 0)
        return;
    fs_close(&f->held[slot].fd);
    f->held[slot].run[0] = '\0';
}

static void folder_forget(void *ctx, struct str run)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct folder_journal *f = ctx;

    unlinkat(f->dir, str_dup0(run, &a), 0);
    folder_leave(ctx, run);
}

static const struct mcp_journal folder_functions = {
    .begin = folder_begin,
    .append = folder_append,
    .read = folder_read,
    .leave = folder_leave,
    .forget = folder_forget,
};

#endif
