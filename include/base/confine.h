#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "base/str.h"

/*
 * confine: permanently drop rights of this process, as far as the kernel
 * supports it.
 *
 *     rules --> confine_self() --> Landlock, seccomp, rlimits, no_new_privs
 *
 * Each isolation mechanism is best effort; `done` reports which are active.
 * What must hold without them is verified by hash in the parent process
 * (THREATS.md 1.2).
 *
 * A denied path fails with EACCES, a denied system call with EPERM (clone3 with
 * ENOSYS, so that the C library falls back to clone); no process is killed.
 * Open descriptors stay usable. Landlock alone does not deny Unix sockets by
 * path, UDP and stat.
 *
 * Source: THREATS.md 1.2, 1.6, 2.
 */

enum confine_calls {
    CONFINE_CALLS_ANY,     /* no seccomp filter */
    CONFINE_CALLS_FETCH,   /* sockets, files, threads; no fork, exec, ptrace,
                              signals, and no chmod or utimes by path */
    CONFINE_CALLS_COMMAND, /* denies the system calls of THREATS.md 2 */
    CONFINE_CALLS_COMPUTE, /* memory and open descriptors only */
};

struct confine_rules {
    const char *const *read_paths; /* readable, with everything below */
    size_t read_count;
    const char *const *write_paths; /* readable, writable, may create files */
    size_t write_count;
    const char *const *exec_paths; /* readable and executable */
    size_t exec_count;
    enum confine_calls calls;
    bool network;            /* COMMAND: keep AF_INET and AF_NETLINK */
    uint64_t max_data_bytes; /* RLIMIT_DATA; 0: unchanged. Ignored under ASan */
    uint64_t max_file_bytes; /* RLIMIT_FSIZE; 0: unchanged */
    uint64_t max_files;      /* RLIMIT_NOFILE; 0: unchanged */
    uint64_t max_processes;  /* RLIMIT_NPROC; 0: unchanged */
    /* Minimum ABI version of Landlock to use it. Versions before 2 do not allow
     * moving files between folders. */
    int least_abi;
};

struct confine_done {
    int landlock_abi; /* 0: Landlock is not active */
    bool seccomp;
};

/* Applies the rules to this process. Paths that do not exist are skipped;
 * without any path, no file can be opened. Must be called before the first
 * thread starts. CONFINE_CALLS_FETCH and _COMMAND also drop capabilities, and
 * limit signals to processes that are confined as well. Fails with ERR_FAILED
 * only if a mechanism that the kernel supports could not be activated. */
MUST_CHECK bool confine_self(const struct confine_rules *rules,
                             struct confine_done *done, struct err *e);

/* Returns the Landlock ABI version of this kernel; 0 without Landlock. */
int confine_landlock_abi(void);

#endif
