#ifndef TESTS_SANDBOX_PROBE_H
#define TESTS_SANDBOX_PROBE_H

/*
 * What a hostile command tries. The test starts itself again, as the command
 * "TEST probe DIR PORT PID open|walled": each attempt is a row that prints its name and
 * the errno, 0 when it worked. Each is tried where there is no isolation as well,
 * so that what fails there proves nothing.
 *
 *     DIR          outside of the workspace, the user's own
 *     PORT         of a server on 127.0.0.1, TCP and UDP
 *     PID          of the test, the parent of all
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define PROBE_ABSTRACT "mapm-sandbox-test"

static const char *probe_dir;
static int probe_port, probe_pid;

static const char *probe_at(const char *name)
{
    static char path[2][4096];
    static int turn;
    char *p = path[turn++ % 2];

    snprintf(p, sizeof path[0], "%s/%s", probe_dir, name);
    return p;
}

static int result_of(long result)
{
    return result < 0 ? errno : 0;
}

static int opened(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0644), error = result_of(fd);

    if (fd >= 0)
        close(fd);
    return error;
}

/* --- files outside ------------------------------------------------------------ */

static int try_write(void)
{
    return opened(probe_at("file"), O_WRONLY);
}

static int try_append(void)
{
    return opened(probe_at("file"), O_WRONLY | O_APPEND);
}

static int try_create(void)
{
    return opened(probe_at("new"), O_WRONLY | O_CREAT);
}

static int try_mkdir(void)
{
    return result_of(mkdir(probe_at("folder"), 0755));
}

static int try_truncate(void)
{
    return result_of(truncate(probe_at("file"), 2));
}

static int try_unlink(void)
{
    return result_of(unlink(probe_at("spare")));
}

static int try_rename(void)
{
    return result_of(rename(probe_at("file"), probe_at("file")));
}

static int try_move_in(void)
{
    int error = result_of(rename(probe_at("file"), "moved"));

    if (!error)
        error = result_of(rename("moved", probe_at("file")));
    return error;
}

static int try_link_in(void)
{
    int error = result_of(link(probe_at("file"), "linked"));

    unlink("linked");
    return error;
}

static int try_chmod(void)
{
    return result_of(chmod(probe_at("file"), 0644));
}

static int try_chown(void)
{
    return result_of(chown(probe_at("file"), geteuid(), getegid()));
}

static int try_utimes(void)
{
    return result_of(utimensat(AT_FDCWD, probe_at("file"), NULL, 0));
}

static int try_xattr(void)
{
    return result_of(setxattr(probe_at("file"), "user.mapm", "x", 1, 0));
}

/* Through links in the workspace, which the command may make itself. */
static int try_through_link(void)
{
    int error;

    unlink("link");
    if (symlink(probe_at("file"), "link") < 0)
        return 0;
    error = opened("link", O_WRONLY);
    unlink("link");
    return error;
}

static int try_through_folder_link(void)
{
    int error;

    unlink("link");
    if (symlink(probe_dir, "link") < 0)
        return 0;
    error = opened("link/new", O_WRONLY | O_CREAT);
    unlink("link");
    return error;
}

static int try_system_file(void)
{
    return opened("/etc/hostname", O_WRONLY);
}

static int try_password_file(void)
{
    return opened("/etc/passwd", O_WRONLY);
}

static int try_device(void)
{
    int error = result_of(mknod("device", S_IFBLK | 0600, makedev(7, 0)));

    unlink("device");
    return error;
}

static int try_core_pattern(void)
{
    return opened("/proc/sys/kernel/core_pattern", O_WRONLY);
}

static int try_sysrq(void)
{
    return opened("/proc/sysrq-trigger", O_WRONLY);
}

static int try_cgroup(void)
{
    return opened("/sys/fs/cgroup/cgroup.procs", O_WRONLY);
}

static int try_huge_file(void)
{
    int fd = open("huge", O_RDWR | O_CREAT | O_TRUNC, 0644), error;

    signal(SIGXFSZ, SIG_IGN);
    error = fd < 0 ? 0 : result_of(ftruncate(fd, (off_t)3 << 30));
    close(fd);
    unlink("huge");
    return error;
}

/* --- secrets --------------------------------------------------------------------- */

static int read_home(void)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/home/.ssh/id_ed25519", probe_dir);
    return opened(path, O_RDONLY);
}

static int read_home_by_variable(void)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/.ssh/id_ed25519", getenv("HOME"));
    return opened(path, O_RDONLY);
}

static int read_home_by_root(void)
{
    char path[4096];

    snprintf(path, sizeof path, "/proc/1/root%s/home/.ssh/id_ed25519",
             probe_dir);
    return opened(path, O_RDONLY);
}

static int read_environ_of(int pid)
{
    char path[64], byte;
    int fd, error;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    error = fd < 0 ? errno : result_of(read(fd, &byte, 1));
    if (fd >= 0)
        close(fd);
    return error;
}

static int read_environ_of_test(void)
{
    return read_environ_of(probe_pid);
}

static int read_memory_of_test(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/mem", probe_pid);
    return opened(path, O_RDONLY);
}

static int see_secret(void)
{
    return getenv("SECRET_TOKEN") ? 0 : ENOENT;
}

static int see_loader(void)
{
    return getenv("LD_PRELOAD") || getenv("LD_AUDIT") ? 0 : ENOENT;
}

static int read_shadow(void)
{
    return opened("/etc/shadow", O_RDONLY);
}

/* --- network and sockets --------------------------------------------------------- */

static int connected(int family, int type, const struct sockaddr *to,
                     socklen_t size)
{
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    int error = result_of(fd);

    if (!error)
        error = result_of(connect(fd, to, size));
    if (!error && type == SOCK_DGRAM)
        error = result_of(send(fd, "x", 1, MSG_NOSIGNAL));
    if (fd >= 0)
        close(fd);
    return error;
}

static int try_inet(int type)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)probe_port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };

    return connected(AF_INET, type, (struct sockaddr *)&to, sizeof to);
}

static int try_tcp(void)
{
    return try_inet(SOCK_STREAM);
}

static int try_udp(void)
{
    return try_inet(SOCK_DGRAM);
}

static int try_listen(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int error = fd < 0 ? errno : result_of(listen(fd, 1));

    if (fd >= 0)
        close(fd);
    return error;
}

static int try_unix(const char *path, size_t skipped)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(path);

    if (n + skipped >= sizeof to.sun_path)
        return ENAMETOOLONG;
    memcpy(to.sun_path + skipped, path, n);
    return connected(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&to,
                     (socklen_t)(sizeof to.sun_family + skipped + n));
}

/* As docker's is: in a folder that can be seen. */
static int try_unix_outside(void)
{
    return try_unix(probe_at("socket"), 0);
}

static int try_unix_inside(void)
{
    return try_unix("socket", 0);
}

static int try_abstract(void)
{
    return try_unix(PROBE_ABSTRACT, 1);
}

static int try_netlink(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW, 0), error = result_of(fd);

    if (fd >= 0)
        close(fd);
    return error;
}

static int try_packet(void)
{
    int fd = socket(AF_PACKET, SOCK_RAW, 0), error = result_of(fd);

    if (fd >= 0)
        close(fd);
    return error;
}

static int make_pair(void)
{
    int fds[2];

    return result_of(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
}

/* --- other processes, and ways past the isolation -------------------------------------- */

static int try_signal(void)
{
    return result_of(kill(probe_pid, 0));
}

static int try_signal_all(void)
{
    /* To all there are, but for what starts us: none may be reached. */
    return result_of(kill(probe_pid, SIGCONT));
}

static int try_priority(void)
{
    return result_of(setpriority(PRIO_PROCESS, (id_t)probe_pid, 0));
}

static int in_child(int (*attempt)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child < 0)
        return 0;
    if (child == 0)
        _exit(attempt());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int trace_me(void)
{
    return result_of(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int try_trace(void)
{
    return in_child(trace_me);
}

static int try_attach(void)
{
    return result_of(ptrace(PTRACE_SEIZE, probe_pid, NULL, NULL));
}

static int try_vm_read(void)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {&byte, 1};

    return result_of(process_vm_readv(getpid(), &here, 1, &there, 1, 0));
}

static int new_user(void)
{
    return result_of(unshare(CLONE_NEWUSER));
}

static int try_user_namespace(void)
{
    return in_child(new_user);
}

static int try_clone_namespace(void)
{
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    int error = result_of(child);

    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid((pid_t)child, NULL, 0);
    return error;
}

static int try_clone3(void)
{
    return result_of(syscall(SYS_clone3, NULL, 0));
}

static int try_setns(void)
{
    int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    return result_of(setns(fd, CLONE_NEWNET));
}

static int try_mount(void)
{
    return result_of(mount("none", ".", "tmpfs", 0, ""));
}

static int try_chroot(void)
{
    return result_of(chroot("."));
}

static int try_io_uring(void)
{
    return result_of(syscall(SYS_io_uring_setup, 1, NULL));
}

/* The filter knows the numbers of one kind of call. */
static int call_as_32_bit(void)
{
#ifdef __x86_64__
    long result = 20; /* getpid */

    __asm__ volatile("int $0x80"
                     : "+a"(result)
                     :
                     : "memory", "r8", "r9", "r10", "r11");
    return result < 0 ? (int)-result : 0;
#else
    return ENOSYS;
#endif
}

static int try_32_bit(void)
{
    return in_child(call_as_32_bit);
}

static int try_bpf(void)
{
    return result_of(syscall(SYS_bpf, 0, NULL, 0));
}

static int try_userfaultfd(void)
{
    return result_of(syscall(SYS_userfaultfd, 0));
}

static int try_keys(void)
{
    return result_of(syscall(SYS_keyctl, 0, -3, 0));
}

static int try_perf(void)
{
    return result_of(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
}

static int try_handle(void)
{
    return result_of(syscall(SYS_open_by_handle_at, -1, NULL, 0));
}

static int try_type(void)
{
    char c = 'x';

    return result_of(ioctl(STDIN_FILENO, TIOCSTI, &c));
}

/* The kernel looks at 32 bits of it: the filter must do likewise. */
static int try_type_wide(void)
{
    char c = 'x';

    return result_of(syscall(SYS_ioctl, STDIN_FILENO,
                             (unsigned long)TIOCSTI | 1ul << 40, &c));
}

static int try_console(void)
{
    char c = 3;

    return result_of(ioctl(STDIN_FILENO, TIOCLINUX, &c));
}

static int try_tty(void)
{
    return opened("/dev/tty", O_RDWR);
}

static int have_capabilities(void)
{
    struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct d[2] = {{0}};

    if (syscall(SYS_capget, &h, d) < 0)
        return 0;
    return d[0].permitted || d[1].permitted || d[0].effective ? 0 : EPERM;
}

static int may_gain(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : EPERM;
}

static int dump_core(void)
{
    struct rlimit r = {1, 1};

    getrlimit(RLIMIT_CORE, &r);
    return r.rlim_max ? 0 : EPERM;
}

static int have_descriptors(void)
{
    for (int fd = 3; fd < 100; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 0;
    return EBADF;
}

static int become_root(void)
{
    return geteuid() == 0 ? EALREADY : result_of(setuid(0));
}

static int flood_is_unbounded(void)
{
    struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};

    getrlimit(RLIMIT_NPROC, &r);
    return r.rlim_max <= 4096 ? EAGAIN : 0;
}

/* --- what must work --------------------------------------------------------------------- */

static int write_workspace(void)
{
    return opened("mine", O_RDWR | O_CREAT) ? errno : result_of(unlink("mine"));
}

static int write_tmp(void)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/mine", getenv("TMPDIR"));
    return opened(path, O_RDWR | O_CREAT);
}

static int write_null(void)
{
    return opened("/dev/null", O_RDWR);
}

static int read_system(void)
{
    return opened("/etc/passwd", O_RDONLY);
}

static int run_a_child(void)
{
    return in_child(read_system);
}

static int rename_across(void)
{
    mkdir("one", 0755);
    mkdir("two", 0755);
    (void)opened("one/f", O_WRONLY | O_CREAT);
    if (rename("one/f", "two/f") < 0)
        return errno;
    return unlink("two/f") || rmdir("one") || rmdir("two") ? errno : 0;
}

static int chmod_workspace(void)
{
    (void)opened("mode", O_WRONLY | O_CREAT);
    return chmod("mode", 0755) || unlink("mode") ? errno : 0;
}

/* --- rows -------------------------------------------------------------------------------- */

enum {
    MUST_FAIL = 0,     /* works without isolation, must not with it */
    MUST_WORK = -1,    /* everywhere */
    ALWAYS = 1 << 16,  /* must fail with SANDBOX_OFF, too */
    OUTER = 1 << 17,   /* a wall of bubblewrap's: not there without it */
    CREATES = 1 << 19, /* it may think so, when nothing is there afterwards */
    SCOPED = 1 << 18,  /* without bubblewrap, of Landlock ABI 6 */
};

#define MUST_BE(error) (error) /* of seccomp, in either kind of isolation */

/* clang-format off */
static const struct probe {
    const char *name;
    int (*attempt)(void);
    int want;
} probes[] = {
    {"[row 19] write a file outside", try_write, MUST_FAIL},
    {"[row 19] append to a file outside", try_append, MUST_FAIL},
    {"[row 19] create a file outside", try_create, CREATES},
    {"[row 19] make a folder outside", try_mkdir, CREATES},
    {"[row 19] truncate a file outside", try_truncate, MUST_FAIL},
    {"[row 19] remove a file outside", try_unlink, MUST_FAIL},
    {"[row 19] rename a file outside", try_rename, MUST_FAIL},
    {"[row 19] move a file in and out", try_move_in, MUST_FAIL},
    {"[row 19] link a file into the workspace", try_link_in, MUST_FAIL},
    {"[row 19] chmod a file outside", try_chmod, OUTER},
    {"[row 19] chown a file outside", try_chown, OUTER},
    {"[row 19] change the times of a file outside", try_utimes, OUTER},
    {"[row 19] set an attribute outside", try_xattr, OUTER},
    {"[row 19] write through a link in the workspace", try_through_link, MUST_FAIL},
    {"[row 19] create through a link in the workspace", try_through_folder_link, CREATES},
    {"[row 19] write /etc/hostname", try_system_file, MUST_FAIL},
    {"[row 19] write /etc/passwd", try_password_file, MUST_FAIL},
    {"[row 19] make a device", try_device, MUST_FAIL},
    {"[row 19] set the program for core dumps", try_core_pattern, MUST_FAIL},
    {"[row 19] reset the machine", try_sysrq, MUST_FAIL},
    {"[row 19] leave a control group", try_cgroup, MUST_FAIL},
    {"[row 19] a file of 3 GiB", try_huge_file, ALWAYS},
    {"[row 20] a key below the home directory", read_home, MUST_FAIL},
    {"[row 20] the same by $HOME", read_home_by_variable, MUST_FAIL},
    {"[row 20] the same by /proc/1/root", read_home_by_root, MUST_FAIL},
    {"[row 20] the environment of mapm", read_environ_of_test, MUST_FAIL},
    {"[row 20] the memory of mapm", read_memory_of_test, MUST_FAIL},
    {"[row 20] /etc/shadow", read_shadow, MUST_FAIL},
    {"[row 20] a token in the environment", see_secret, ALWAYS},
    {"[row 20] LD_PRELOAD", see_loader, ALWAYS},
    {"[row 20] open descriptors", have_descriptors, ALWAYS},
    {"[row 19] TCP", try_tcp, MUST_FAIL},
    {"[row 19] UDP", try_udp, MUST_FAIL},
    {"[row 19] listen", try_listen, MUST_FAIL},
    {"[row 19] netlink", try_netlink, MUST_FAIL},
    {"[row 19] raw packets", try_packet, MUST_FAIL},
    {"[row 19] a unix socket outside", try_unix_outside, MUST_FAIL},
    {"[row 19] a unix socket in the workspace", try_unix_inside, MUST_FAIL},
    {"[row 19] an abstract unix socket", try_abstract, MUST_FAIL},
    {"[row 19] a signal to mapm", try_signal, SCOPED},
    {"[row 19] a real one", try_signal_all, SCOPED},
    {"[row 19] the priority of mapm", try_priority, OUTER},
    {"[row 19] trace a child", try_trace, MUST_BE(EPERM)},
    {"[row 19] trace mapm", try_attach, MUST_BE(EPERM)},
    {"[row 19] read memory of a process", try_vm_read, MUST_BE(EPERM)},
    {"[row 19] a user namespace", try_user_namespace, MUST_BE(EPERM)},
    {"[row 19] a user namespace by clone", try_clone_namespace, MUST_BE(EPERM)},
    {"[row 19] clone3", try_clone3, MUST_BE(ENOSYS)},
    {"[row 19] another namespace", try_setns, MUST_BE(EPERM)},
    {"[row 19] mount", try_mount, MUST_BE(EPERM)},
    {"[row 19] chroot", try_chroot, MUST_BE(EPERM)},
    {"[row 19] io_uring", try_io_uring, MUST_BE(EPERM)},
    {"[row 19] calls of a foreign architecture", try_32_bit, MUST_FAIL},
    {"[row 19] bpf", try_bpf, MUST_BE(EPERM)},
    {"[row 19] userfaultfd", try_userfaultfd, MUST_BE(EPERM)},
    {"[row 19] keys of the kernel", try_keys, MUST_BE(EPERM)},
    {"[row 19] perf", try_perf, MUST_BE(EPERM)},
    {"[row 19] files by handle", try_handle, MUST_BE(EPERM)},
    {"[row 19] type into the terminal", try_type, MUST_BE(EPERM)},
    {"[row 19] the same with high bits", try_type_wide, MUST_BE(EPERM)},
    {"[row 19] paste on the console", try_console, MUST_BE(EPERM)},
    {"[row 19] the terminal", try_tty, ALWAYS},
    {"[row 19] capabilities", have_capabilities, MUST_FAIL},
    {"[row 19] gain rights by exec", may_gain, ALWAYS},
    {"[row 19] become root", become_root, ALWAYS},
    {"[row 19] a core dump", dump_core, ALWAYS},
    {"[row 19] a flood of processes", flood_is_unbounded, OUTER},
    {"a pair of sockets works", make_pair, MUST_WORK},
    {"the workspace can be written", write_workspace, MUST_WORK},
    {"its modes can be changed", chmod_workspace, MUST_WORK},
    {"files can be moved between its folders", rename_across, MUST_WORK},
    {"TMPDIR can be written", write_tmp, MUST_WORK},
    {"/dev/null can be written", write_null, MUST_WORK},
    {"the system can be read", read_system, MUST_WORK},
    {"processes can be started", run_a_child, MUST_WORK},
};
/* clang-format on */

enum { PROBES = sizeof probes / sizeof *probes };

static bool is_exact(int want)
{
    return want != MUST_WORK && (want & 0xffff) != 0;
}

/* Before main, before the test sets up anything, and instead of both. */
__attribute__((constructor(101))) static void probe_all(int argc, char **argv)
{
    bool is_open;

    if (argc != 6 || strcmp(argv[1], "probe") != 0)
        return;
    is_open = strcmp(argv[5], "open") == 0;
    probe_dir = argv[2];
    probe_port = atoi(argv[3]);
    probe_pid = atoi(argv[4]);
    for (int i = 0; i < PROBES; i++) {
        if (is_open && is_exact(probes[i].want))
            continue; /* it would work, and stay */
        printf("%d %d\n", i, probes[i].attempt());
        fflush(stdout);
    }
    _exit(0);
}

#endif
