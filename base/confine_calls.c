#include "confine_calls.h"

#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define FETCH   (1u << CONFINE_CALLS_FETCH)
#define COMMAND (1u << CONFINE_CALLS_COMMAND)
#define BOTH    (FETCH | COMMAND)

#define FAMILY_LAST AF_NETLINK /* the highest one ever allowed */
#define ALL_32_BITS UINT64_C(0xffffffff)

/* System calls that are denied with EPERM. All others are allowed, because an
 * allow-list would break with the next C library or program. `number` is for
 * calls that are newer than the library; it is the same on all
 * architectures. */
/* clang-format off */
static const struct denied {
    const char *name;
    unsigned whom;
    int number;
} denied[] = {
    /* other programs; commands may start their own */
    {"execve",            FETCH,   0},
    {"execveat",          FETCH,   0},
    {"fork",              FETCH,   0},
    {"vfork",             FETCH,   0},
    {"ptrace",            BOTH,    0},
    {"process_vm_readv",  BOTH,    0},
    {"process_vm_writev", BOTH,    0},
    {"process_madvise",   BOTH,    0},
    {"pidfd_getfd",       BOTH,    0},
    {"kcmp",              BOTH,    0},
    {"tkill",             FETCH,   0},
    {"rt_sigqueueinfo",   FETCH,   0},
    {"rt_tgsigqueueinfo", FETCH,   0},
    {"pidfd_send_signal", FETCH,   0},
    /* modes and owners of files, which Landlock does not restrict */
    {"chmod",             FETCH,   0},
    {"fchmodat",          FETCH,   0},
    {"fchmodat2",         FETCH,   452},
    {"chown",             FETCH,   0},
    {"lchown",            FETCH,   0},
    {"fchownat",          FETCH,   0},
    {"utime",             FETCH,   0},
    {"utimes",            FETCH,   0},
    {"futimesat",         FETCH,   0},
    {"setxattr",          FETCH,   0},
    {"lsetxattr",         FETCH,   0},
    {"setxattrat",        FETCH,   463},
    {"removexattr",       FETCH,   0},
    {"lremovexattr",      FETCH,   0},
    {"removexattrat",     FETCH,   466},
    {"file_setattr",      FETCH,   469},
    {"name_to_handle_at", FETCH,   0},
    {"open_by_handle_at", BOTH,    0},
    /* other views of the system */
    {"mount",             BOTH,    0},
    {"umount",            BOTH,    0},
    {"umount2",           BOTH,    0},
    {"mount_setattr",     BOTH,    442},
    {"move_mount",        BOTH,    0},
    {"open_tree",         BOTH,    0},
    {"open_tree_attr",    BOTH,    467},
    {"fsopen",            BOTH,    0},
    {"fsconfig",          BOTH,    0},
    {"fsmount",           BOTH,    0},
    {"fspick",            BOTH,    0},
    {"pivot_root",        BOTH,    0},
    {"chroot",            BOTH,    0},
    {"unshare",           BOTH,    0},
    {"setns",             BOTH,    0},
    /* ways to bypass this filter, and large attack surfaces of the kernel */
    {"io_uring_setup",    BOTH,    0},
    {"io_uring_enter",    BOTH,    0},
    {"io_uring_register", BOTH,    0},
    {"bpf",               BOTH,    0},
    {"userfaultfd",       BOTH,    0},
    {"perf_event_open",   BOTH,    0},
    {"fanotify_init",     BOTH,    0},
    {"add_key",           BOTH,    0},
    {"request_key",       BOTH,    0},
    {"keyctl",            BOTH,    0},
    {"personality",       FETCH,   0},
    {"modify_ldt",        BOTH,    0},
    {"uselib",            BOTH,    0},
    {"vhangup",           BOTH,    0},
    {"vmsplice",          FETCH,   0},
    /* the machine */
    {"kexec_load",        BOTH,    0},
    {"kexec_file_load",   BOTH,    0},
    {"init_module",       BOTH,    0},
    {"finit_module",      BOTH,    0},
    {"delete_module",     BOTH,    0},
    {"reboot",            BOTH,    0},
    {"swapon",            BOTH,    0},
    {"swapoff",           BOTH,    0},
    {"acct",              BOTH,    0},
    {"quotactl",          BOTH,    0},
    {"quotactl_fd",       BOTH,    443},
    {"settimeofday",      BOTH,    0},
    {"clock_settime",     BOTH,    0},
    {"clock_adjtime",     BOTH,    0},
    {"adjtimex",          BOTH,    0},
    {"sethostname",       BOTH,    0},
    {"setdomainname",     BOTH,    0},
    {"iopl",              BOTH,    0},
    {"ioperm",            BOTH,    0},
    {"syslog",            BOTH,    0},
};
/* clang-format on */

/* All calls that a computation needs: memory, clock, open descriptors, exit;
 * and those of the C library and the sanitizers. Names that an architecture
 * does not have need no rule. */
/* clang-format off */
static const char *const computing[] = {
    "read", "write", "writev", "close",
    "brk", "munmap", "mremap", "madvise",
    "futex", "futex_time64", "sched_yield", "restart_syscall",
    "clock_gettime", "clock_gettime64", "getrandom", "getpid", "gettid",
    "rt_sigprocmask", "rt_sigaction", "rt_sigreturn", "sigaltstack",
    "exit", "exit_group",
};
/* clang-format on */

/* Memory for data only, not for code. */
static const char *const mapping[] = {"mmap", "mmap2", "mprotect"};

static void filter_done(scmp_filter_ctx *filter)
{
    if (*filter)
        seccomp_release(*filter);
}

/* Returns 0 or -errno. Calls that this architecture does not have need no
 * rule. */
static int deny(scmp_filter_ctx filter, const struct denied *d)
{
    int number = seccomp_syscall_resolve_name(d->name);

    if (number == __NR_SCMP_ERROR)
        number = d->number;
    if (number <= 0)
        return 0;
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), number, 0,
                                  NULL);
}

static int deny_if(scmp_filter_ctx filter, int number, struct scmp_arg_cmp when)
{
    return number < 0 ? 0
                      : seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM),
                                               number, 1, &when);
}

static int deny_all_of(scmp_filter_ctx filter, unsigned whom)
{
    int result = 0;

    for (size_t i = 0; i < sizeof denied / sizeof *denied && !result; i++)
        if (denied[i].whom & whom)
            result = deny(filter, &denied[i]);
    return result;
}

static bool family_is_allowed(int family, enum confine_calls calls,
                              bool network)
{
    if (family == AF_UNIX) /* for the name service cache */
        return calls == CONFINE_CALLS_FETCH;
    return (family == AF_INET || family == AF_INET6 || family == AF_NETLINK) &&
           (calls == CONFINE_CALLS_FETCH || network);
}

/* Restricts socket() only, since a socketpair has no outside peer. The
 * comparison uses 64 bits, so a family with bits in the upper half is
 * beyond the last one. */
static int deny_sockets(scmp_filter_ctx filter, enum confine_calls calls,
                        bool network)
{
    int number = SCMP_SYS(socket);
    int result =
        deny_if(filter, number, SCMP_A0_64(SCMP_CMP_GT, FAMILY_LAST, 0));

    for (int family = 0; family <= FAMILY_LAST && !result; family++)
        if (!family_is_allowed(family, calls, network))
            result = deny_if(filter, number,
                             SCMP_A0_64(SCMP_CMP_EQ, (unsigned)family, 0));
    return result;
}

/* Allows threads but not namespaces. The arguments of clone3 cannot be examined
 * by a filter; if it is denied with ENOSYS, the C library uses clone. */
static int deny_namespaces(scmp_filter_ctx filter, enum confine_calls calls)
{
    static const uint64_t flags[] = {
        CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,    CLONE_NEWNET,
        CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP,
    };
    int number = SCMP_SYS(clone);
    int result = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS),
                                        SCMP_SYS(clone3), 0, NULL);

#ifdef __s390__
#    define CLONE_FLAGS(op, ...) SCMP_A1_64(op, __VA_ARGS__)
#else
#    define CLONE_FLAGS(op, ...) SCMP_A0_64(op, __VA_ARGS__)
#endif
    for (size_t i = 0; i < sizeof flags / sizeof *flags && !result; i++)
        result = deny_if(filter, number,
                         CLONE_FLAGS(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    if (!result && calls == CONFINE_CALLS_FETCH)
        result = deny_if(filter, number,
                         CLONE_FLAGS(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    return result;
}

/* Denies writing input into the user's terminal. */
static int deny_ioctls(scmp_filter_ctx filter)
{
    int result =
        deny_if(filter, SCMP_SYS(ioctl),
                SCMP_A1_64(SCMP_CMP_MASKED_EQ, ALL_32_BITS, (uint64_t)TIOCSTI));

    return result ? result
                  : deny_if(filter, SCMP_SYS(ioctl),
                            SCMP_A1_64(SCMP_CMP_MASKED_EQ, ALL_32_BITS,
                                       (uint64_t)TIOCLINUX));
}

/* Denies changing limits of other processes: with a file limit of 0, mapm could
 * not restore anything. No LSM controls this. */
static int deny_limits(scmp_filter_ctx filter)
{
    return deny_if(filter, SCMP_SYS(prlimit64), SCMP_A0_64(SCMP_CMP_NE, 0, 0));
}

/* Allows a worker to end itself, to limit itself and to set the times
 * of its open files. */
static int deny_others(scmp_filter_ctx filter)
{
    uint64_t self = (uint64_t)getpid();
    const struct {
        int number;
        struct scmp_arg_cmp when;
    } rows[] = {
        {SCMP_SYS(kill), SCMP_A0_64(SCMP_CMP_NE, self, 0)},
        {SCMP_SYS(tgkill), SCMP_A0_64(SCMP_CMP_NE, self, 0)},
        {SCMP_SYS(utimensat), SCMP_A1_64(SCMP_CMP_NE, 0, 0)},
    };
    int result = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows && !result; i++)
        result = deny_if(filter, rows[i].number, rows[i].when);
    return result;
}

static int allow_computing(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp no_code =
        SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    int result = 0, number;

    for (size_t i = 0; i < sizeof computing / sizeof *computing && !result;
         i++) {
        number = seccomp_syscall_resolve_name(computing[i]);
        if (number >= 0)
            result =
                seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 0, NULL);
    }
    for (size_t i = 0; i < sizeof mapping / sizeof *mapping && !result; i++) {
        number = seccomp_syscall_resolve_name(mapping[i]);
        if (number >= 0)
            result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 1,
                                            &no_code);
    }
    return result;
}

static int fill(scmp_filter_ctx filter, enum confine_calls calls, bool network)
{
    /* By default libseccomp kills the process for a foreign architecture. */
    int result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH,
                                  SCMP_ACT_ERRNO(EPERM));

    if (!result && calls == CONFINE_CALLS_COMPUTE)
        return allow_computing(filter);
    /* Use a binary tree instead of a list; older libraries support only
     * lists. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!result)
        result = deny_all_of(filter, 1u << calls);
    if (!result)
        result = deny_sockets(filter, calls, network);
    if (!result)
        result = deny_namespaces(filter, calls);
    if (!result)
        result = deny_ioctls(filter);
    if (!result)
        result = deny_limits(filter);
    if (!result && calls == CONFINE_CALLS_FETCH)
        result = deny_others(filter);
    return result;
}

bool confine_calls(enum confine_calls calls, bool network, bool *raised,
                   struct err *e)
{
    CLEANUP(filter_done) scmp_filter_ctx filter = NULL;
    int result;

    *raised = false;
    if (calls == CONFINE_CALLS_ANY || prctl(PR_GET_SECCOMP) < 0)
        return true;
    filter = seccomp_init(calls == CONFINE_CALLS_COMPUTE ? SCMP_ACT_ERRNO(EPERM)
                                                         : SCMP_ACT_ALLOW);
    if (!filter)
        return err_set(e, ERR_FAILED, "seccomp: cannot build a filter");
    result = fill(filter, calls, network);
    if (result == 0)
        result = seccomp_load(filter);
    if (result < 0)
        return err_set(e, ERR_FAILED, "seccomp: %s", strerror(-result));
    *raised = true;
    return true;
}
