#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "base/str.h"

/*
 * confine: give up rights for good, as far as this kernel can.
 *
 *     rules --> confine_self() --> Landlock, seccomp, rlimits, no new privs
 *
 * Each wall is best effort; `done` says which stand. What must hold wherever
 * the walls are missing is proved by hash in the parent (THREATS.md 1.2).
 *
 * A denied path is EACCES, a denied call EPERM (clone3: ENOSYS, so that the
 * C library takes clone); nothing is killed. What is open already stays open.
 * Not denied where Landlock is all there is: unix sockets by path, UDP, stat.
 *
 * Source: THREATS.md 1.2, 1.6, 2.
 */

enum confine_calls {
    CONFINE_CALLS_ANY,     /* no seccomp filter */
    CONFINE_CALLS_FETCH,   /* sockets, files, threads; no fork, exec, ptrace,
                            * signals, chmod or utimes by path */
    CONFINE_CALLS_COMMAND, /* what THREATS.md 2 denies to commands */
    CONFINE_CALLS_COMPUTE, /* memory, and open descriptors: other calls fail with EPERM */
};

struct confine_rules {
    const char *const *read_paths; /* readable paths, with all below them */
    size_t read_count;
    const char *const *write_paths; /* may be read, written, created in */
    size_t write_count;
    const char *const *exec_paths; /* may be read and executed */
    size_t exec_count;
    enum confine_calls calls;
    bool network;            /* COMMAND: AF_INET and AF_NETLINK stay */
    uint64_t max_data_bytes; /* RLIMIT_DATA; 0: leave. Not under ASan */
    uint64_t max_file_bytes; /* RLIMIT_FSIZE; 0: leave */
    uint64_t max_files;      /* RLIMIT_NOFILE; 0: leave */
    uint64_t max_processes;  /* RLIMIT_NPROC; 0: leave */
    int least_abi; /* of Landlock, to use it: before 2, nothing can be moved
                    * between folders */
};

struct confine_done {
    int landlock_abi; /* 0: none */
    bool seccomp;
};

/* Paths that do not exist are skipped; without any path, no file can be opened.
 * Call it before the first thread starts. With CALLS_FETCH and _COMMAND
 * capabilities go, too, and signals reach only who is confined as well.
 * ERR_FAILED only when a wall the kernel offers could not be raised. */
MUST_CHECK bool confine_self(const struct confine_rules *rules,
                             struct confine_done *done, struct err *e);

/* The Landlock ABI of this kernel; 0 without it. */
int confine_landlock_abi(void);

#endif
