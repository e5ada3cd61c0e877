#include "base/confine.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/*
 * A child gives up its rights and tries things; each thing it tries is a row
 * with the errno that it must get (0: it works). [row 19, row 30],
 * THREATS 1.2.
 */

static char folder[] = "/tmp/confine_test-XXXXXX";
static int folder_fd = -1;

static const char *const in_folder[] = {folder};
static const char *const libraries[] = {"/usr", "/lib", "/lib64",
                                        "/bin", "/etc", "/no/such/path"};

#define LIBRARY_COUNT (sizeof libraries / sizeof *libraries)

__attribute__((constructor)) static void set_up(void)
{
    struct err e = {0};

    if (!mkdtemp(folder) || !fs_open_dir(folder, &folder_fd, &e) ||
        !fs_make_dirs_at(folder_fd, "in/below", 0755, &e) ||
        !fs_make_dirs_at(folder_fd, "out", 0755, &e) ||
        !fs_create_at(folder_fd, "in/f", 0644, STR("text"), &e) ||
        !fs_create_at(folder_fd, "out/f", 0644, STR("text"), &e))
        abort();
}

__attribute__((destructor)) static void tear_down(void)
{
    struct err e = {0};

    if (!fs_remove_tree_at(AT_FDCWD, folder, &e))
        abort();
}

static int sys(long result)
{
    return result < 0 ? errno : 0;
}

static int try_open(const char *path, int flags)
{
    int fd = open(path, flags, 0644), error = sys(fd);

    fs_close(&fd);
    return error;
}

static int read_inside(void)
{
    return try_open("in/f", O_RDONLY);
}

static int list_inside(void)
{
    return try_open("in", O_RDONLY | O_DIRECTORY);
}

static int read_outside(void)
{
    return try_open("out/f", O_RDONLY);
}

static int write_inside(void)
{
    return try_open("in/below/new", O_WRONLY | O_CREAT | O_TRUNC);
}

static int write_outside(void)
{
    return try_open("out/f", O_WRONLY);
}

static int create_outside(void)
{
    return try_open("out/new", O_WRONLY | O_CREAT);
}

static int make_dir_inside(void)
{
    return sys(mkdir("in/below/dir", 0755)) || sys(rmdir("in/below/dir"));
}

static int rename_inside(void)
{
    return sys(rename("in/below/new", "in/newer")) || sys(unlink("in/newer"));
}

static int rename_out(void)
{
    return sys(rename("in/f", "out/stolen"));
}

static int unlink_outside(void)
{
    return sys(unlink("out/f"));
}

static int truncate_outside(void)
{
    return sys(truncate("out/f", 0));
}

static int make_link(void)
{
    int error = sys(symlink("f", "in/below/l"));

    unlink("in/below/l");
    return error;
}

static int make_fifo(void)
{
    int error = sys(mkfifo("in/below/fifo", 0600));

    unlink("in/below/fifo");
    return error;
}

static int run_program(void)
{
    static char name[] = "/bin/true", *argv[] = {name, NULL};
    pid_t child = fork();
    int status = 0;

    if (child < 0) /* no fork: exec at least tells, if it comes back */
        return sys(execv(name, argv));
    if (child == 0) {
        execv(name, argv);
        _exit(errno);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static int do_fork(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
    return sys(child);
}

static void *nothing(void *arg)
{
    return arg;
}

static int start_thread(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, nothing, NULL);

    return error ? error : pthread_join(thread, NULL);
}

static int try_socket(int family, int type)
{
    int fd = socket(family, type, 0), error = sys(fd);

    fs_close(&fd);
    return error;
}

static int socket_inet(void)
{
    return try_socket(AF_INET, SOCK_STREAM);
}

static int socket_inet6(void)
{
    return try_socket(AF_INET6, SOCK_DGRAM);
}

static int socket_netlink(void)
{
    return try_socket(AF_NETLINK, SOCK_RAW);
}

static int socket_unix(void)
{
    return try_socket(AF_UNIX, SOCK_STREAM);
}

static int socket_packet(void)
{
    return try_socket(AF_PACKET, SOCK_RAW);
}

static int socket_alg(void)
{
    return try_socket(38, SOCK_SEQPACKET); /* the kernel's ciphers */
}

static int socket_high_bits(void)
{
    return sys(syscall(SYS_socket, 0x100000000L | AF_PACKET, SOCK_RAW, 0));
}

static int socket_pair(void)
{
    int ends[2], error = sys(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));

    if (!error) {
        close(ends[0]);
        close(ends[1]);
    }
    return error;
}

static int bind_tcp(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int error = sys(bind(fd, (struct sockaddr *)&any, sizeof any));

    fs_close(&fd);
    return error;
}

static int connect_tcp(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(1)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), error;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    error = sys(connect(fd, (struct sockaddr *)&to, sizeof to));
    fs_close(&fd);
    return error == ECONNREFUSED ? 0 : error;
}

static int resolve_name(void)
{
    struct addrinfo *found = NULL;
    int result = getaddrinfo("localhost", "443", NULL, &found);

    if (result == 0)
        freeaddrinfo(found);
    return result == 0 ? 0 : EHOSTUNREACH;
}

static int trace_parent(void)
{
    return sys(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

static int peek_parent(void)
{
    return sys(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}

static int signal_parent(void)
{
    return sys(kill(getppid(), 0));
}

static int signal_self(void)
{
    int error = sys(kill(getpid(), 0));

    return error ? error : sys(syscall(SYS_tgkill, getpid(), gettid(), 0));
}

static int new_namespace(void)
{
    return sys(unshare(CLONE_NEWUSER));
}

static int clone_namespace(void)
{
    return sys(
        syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
}

static int clone_three(void)
{
    return sys(syscall(SYS_clone3, NULL, 0));
}

static int do_mount(void)
{
    return sys(mount("none", "in", "tmpfs", 0, NULL));
}

static int do_chroot(void)
{
    return sys(chroot("in"));
}

static int use_io_uring(void)
{
    return sys(syscall(SYS_io_uring_setup, 1, NULL));
}

static int use_bpf(void)
{
    return sys(syscall(SYS_bpf, 0, NULL, 0));
}

static int use_keys(void)
{
    return sys(syscall(SYS_keyctl, 0, 0));
}

static int change_mode(void)
{
    return sys(chmod("out/f", 0600));
}

static int change_mode_newly(void)
{
    return sys(syscall(452 /* fchmodat2 */, AT_FDCWD, "out/f", 0600, 0));
}

static int change_owner(void)
{
    return sys(chown("out/f", getuid(), getgid()));
}

static int change_time(void)
{
    return sys(utimensat(AT_FDCWD, "out/f", NULL, 0));
}

static int stamp_open_file(void)
{
    int fd = open("in/below/stamped", O_WRONLY | O_CREAT, 0644);
    int error = sys(fd) || sys(fchmod(fd, 0755)) || sys(futimens(fd, NULL));

    fs_close(&fd);
    return error;
}

static int limit_another(void)
{
    struct rlimit limit;

    return sys(prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit));
}

static int limit_oneself(void)
{
    struct rlimit limit;

    return sys(getrlimit(RLIMIT_NOFILE, &limit));
}

static int type_into_terminal(void)
{
    return sys(ioctl(0, TIOCSTI, "x"));
}

static int type_with_high_bits(void)
{
    return sys(syscall(SYS_ioctl, 0, 0x100000000L | TIOCSTI, "x"));
}

static int foreign_calls(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    return sys(syscall(0x40000000L | SYS_getpid)); /* x32 */
#else
    return EPERM;
#endif
}

static int map_memory(void)
{
    size_t size = (size_t)1 << 20;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return errno;
    p[size - 1] = 1;
    return sys(madvise(p, size, MADV_DONTNEED)) || sys(munmap(p, size));
}

static int map_code(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? errno : 0;
}

static int make_code(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return sys(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int ask_clock(void)
{
    struct timespec t;

    return sys(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t));
}

static int write_open(void)
{
    return sys(write(STDOUT_FILENO, "", 0));
}

static int stat_outside(void)
{
    struct stat st;

    return sys(stat("out/f", &st));
}

static int sleep_some(void)
{
    return sys(usleep(1));
}

static int duplicate(void)
{
    return sys(dup(STDOUT_FILENO));
}

/* What a row needs of the kernel's Landlock; 0: seccomp alone. */
struct attempt {
    const char *name;
    int (*make)(void);
    int error;
    int abi;
};

#define ROW(function, error, abi)                                              \
    {                                                                          \
#        function, function, error, abi                                        \
    }

static int play(const struct confine_rules *rules,
                const struct attempt *attempts, size_t count)
{
    struct confine_done done = {0};
    struct err e = {0};
    int bad = 0;

    if (chdir(folder) < 0 || !confine_self(rules, &done, &e)) {
        printf("# %s\n", err_first(&e));
        return 1;
    }
    if (done.landlock_abi != confine_landlock_abi() && done.landlock_abi < 1) {
        printf("# Landlock is offered and does not stand\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        int error;

        if (attempts[i].abi > done.landlock_abi)
            continue; /* the parent reports it */
        if (rules->calls != CONFINE_CALLS_ANY && !done.seccomp) {
            printf("# no seccomp\n");
            return 1;
        }
        error = attempts[i].make();
        if (error != attempts[i].error) {
            bad = 1;
            printf("# %s: errno %d, not %d\n", attempts[i].name, error,
                   attempts[i].error);
        }
    }
    return bad;
}

static bool passes(const struct confine_rules *rules,
                   const struct attempt *attempts, size_t count)
{
    int status = -1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        int code = play(rules, attempts, count);

        fflush(stdout);
        _exit(code);
    }
    waitpid(child, &status, 0);
    for (size_t i = 0; i < count; i++)
        if (attempts[i].abi > confine_landlock_abi())
            tap_skip_part(attempts[i].name, "Landlock is too old here");
    return status == 0;
}

static const char *write_inside_path[1], *read_file_path[1];

static const char *below(const char *name)
{
    static char paths[4][64];
    static int next;
    char *path = paths[next++ & 3];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

TEST(a_worker_keeps_what_fetching_needs)
{
    static const struct attempt rows[] = {
        ROW(read_inside, 0, 0),     ROW(list_inside, 0, 0),
        ROW(write_inside, 0, 0),    ROW(rename_inside, 0, 0),
        ROW(make_dir_inside, 0, 0), ROW(stamp_open_file, 0, 0),
        ROW(start_thread, 0, 0),    ROW(socket_inet, 0, 0),
        ROW(socket_inet6, 0, 0),    ROW(socket_netlink, 0, 0),
        ROW(socket_unix, 0, 0),     ROW(socket_pair, 0, 0),
        ROW(connect_tcp, 0, 0),     ROW(resolve_name, 0, 0),
        ROW(signal_self, 0, 0),     ROW(limit_oneself, 0, 0),
    };
    struct confine_rules rules = {
        .read_paths = libraries,
        .read_count = LIBRARY_COUNT,
        .write_paths = write_inside_path,
        .write_count = 1,
        .calls = CONFINE_CALLS_FETCH,
    };

    write_inside_path[0] = below("in");
    CHECK(passes(&rules, rows, sizeof rows / sizeof *rows));
}

TEST(a_worker_loses_the_rest)
{
    static const struct attempt rows[] = {
        ROW(read_outside, EACCES, 1),
        ROW(write_outside, EACCES, 1),
        ROW(create_outside, EACCES, 1),
        ROW(unlink_outside, EACCES, 1),
        ROW(rename_out, EACCES, 1),
        ROW(truncate_outside, EACCES, 3),
        ROW(make_link, EACCES, 1),
        ROW(make_fifo, EACCES, 1),
        ROW(bind_tcp, EACCES, 4),
        ROW(run_program, EPERM, 0),
        ROW(do_fork, EPERM, 0),
        ROW(socket_packet, EPERM, 0),
        ROW(socket_alg, EPERM, 0),
        ROW(socket_high_bits, EPERM, 0),
        ROW(trace_parent, EPERM, 0),
        ROW(peek_parent, EPERM, 0),
        ROW(signal_parent, EPERM, 0),
        ROW(new_namespace, EPERM, 0),
        ROW(clone_namespace, EPERM, 0),
        ROW(clone_three, ENOSYS, 0),
        ROW(do_mount, EPERM, 0),
        ROW(do_chroot, EPERM, 0),
        ROW(use_io_uring, EPERM, 0),
        ROW(use_bpf, EPERM, 0),
        ROW(use_keys, EPERM, 0),
        ROW(change_mode, EPERM, 0),
        ROW(change_mode_newly, EPERM, 0),
        ROW(change_owner, EPERM, 0),
        ROW(change_time, EPERM, 0),
        ROW(limit_another, EPERM, 0),
        ROW(type_into_terminal, EPERM, 0),
        ROW(foreign_calls, EPERM, 0),
    };
    struct confine_rules rules = {
        .read_paths = libraries,
        .read_count = LIBRARY_COUNT,
        .write_paths = write_inside_path,
        .write_count = 1,
        .calls = CONFINE_CALLS_FETCH,
    };

    write_inside_path[0] = below("in");
    CHECK(passes(&rules, rows, sizeof rows / sizeof *rows));
}

TEST(a_command_runs_programs_without_the_network)
{
    static const struct attempt rows[] = {
        ROW(read_inside, 0, 0),
        ROW(write_inside, 0, 0),
        ROW(make_link, 0, 0),
        ROW(make_fifo, 0, 0),
        ROW(run_program, 0, 0),
        ROW(do_fork, 0, 0),
        ROW(start_thread, 0, 0),
        ROW(socket_pair, 0, 0),
        ROW(read_outside, EACCES, 1),
        ROW(write_outside, EACCES, 1),
        ROW(signal_parent, EPERM, 6),
        ROW(socket_inet, EPERM, 0),
        ROW(socket_inet6, EPERM, 0),
        ROW(socket_netlink, EPERM, 0),
        ROW(socket_unix, EPERM, 0),
        ROW(socket_packet, EPERM, 0),
        ROW(trace_parent, EPERM, 0),
        ROW(peek_parent, EPERM, 0),
        ROW(new_namespace, EPERM, 0),
        ROW(clone_namespace, EPERM, 0),
        ROW(clone_three, ENOSYS, 0),
        ROW(do_mount, EPERM, 0),
        ROW(do_chroot, EPERM, 0),
        ROW(use_io_uring, EPERM, 0),
        ROW(use_bpf, EPERM, 0),
        ROW(use_keys, EPERM, 0),
        ROW(type_into_terminal, EPERM, 0),
        ROW(type_with_high_bits, EPERM, 0),
        ROW(foreign_calls, EPERM, 0),
    };
    struct confine_rules rules = {
        .read_paths = libraries,
        .read_count = LIBRARY_COUNT,
        .write_paths = write_inside_path,
        .write_count = 1,
        .exec_paths = libraries,
        .exec_count = LIBRARY_COUNT,
        .calls = CONFINE_CALLS_COMMAND,
    };

    write_inside_path[0] = below("in");
    CHECK(passes(&rules, rows, sizeof rows / sizeof *rows));
}

TEST(a_command_with_the_network_has_the_network)
{
    static const struct attempt rows[] = {
        ROW(socket_inet, 0, 0),       ROW(socket_inet6, 0, 0),
        ROW(socket_netlink, 0, 0),    ROW(bind_tcp, 0, 0),
        ROW(connect_tcp, 0, 0),       ROW(socket_unix, EPERM, 0),
        ROW(socket_packet, EPERM, 0),
    };
    struct confine_rules rules = {
        .read_paths = libraries,
        .read_count = LIBRARY_COUNT,
        .calls = CONFINE_CALLS_COMMAND,
        .network = true,
    };

    CHECK(passes(&rules, rows, sizeof rows / sizeof *rows));
}

TEST(a_computation_has_memory_the_clock_and_what_is_open)
{
    static const struct attempt rows[] = {
        ROW(map_memory, 0, 0),           ROW(ask_clock, 0, 0),
        ROW(write_open, 0, 0),           ROW(map_code, EPERM, 0),
        ROW(make_code, EPERM, 0),        ROW(read_inside, EPERM, 0),
        ROW(list_inside, EPERM, 0),      ROW(write_inside, EPERM, 0),
        ROW(stat_outside, EPERM, 0),     ROW(change_mode, EPERM, 0),
        ROW(unlink_outside, EPERM, 0),   ROW(truncate_outside, EPERM, 0),
        ROW(run_program, EPERM, 0),      ROW(do_fork, EPERM, 0),
        ROW(clone_three, EPERM, 0),      ROW(socket_pair, EPERM, 0),
        ROW(socket_inet, EPERM, 0),      ROW(socket_inet6, EPERM, 0),
        ROW(socket_unix, EPERM, 0),      ROW(socket_netlink, EPERM, 0),
        ROW(socket_high_bits, EPERM, 0), ROW(signal_self, EPERM, 0),
        ROW(signal_parent, EPERM, 0),    ROW(trace_parent, EPERM, 0),
        ROW(peek_parent, EPERM, 0),      ROW(new_namespace, EPERM, 0),
        ROW(do_mount, EPERM, 0),         ROW(do_chroot, EPERM, 0),
        ROW(use_io_uring, EPERM, 0),     ROW(use_bpf, EPERM, 0),
        ROW(use_keys, EPERM, 0),         ROW(limit_another, EPERM, 0),
        ROW(limit_oneself, EPERM, 0),    ROW(type_into_terminal, EPERM, 0),
        ROW(sleep_some, EPERM, 0),       ROW(duplicate, EPERM, 0),
        ROW(foreign_calls, EPERM, 0),
    };
    struct confine_rules rules = {.calls = CONFINE_CALLS_COMPUTE};

    CHECK(passes(&rules, rows, sizeof rows / sizeof *rows));
}

TEST(a_program_needs_a_path_it_may_be_executed_from)
{
    static const struct attempt rows[] = {
        ROW(run_program, EACCES, 1), ROW(read_outside, 0, 0),
        ROW(read_inside, EACCES, 1), ROW(write_outside, EACCES, 1),
        ROW(socket_unix, 0, 0),      ROW(clone_three, EINVAL, 0),
    };
    struct confine_rules rules = {
        .read_paths = read_file_path, /* one file, not its folder */
        .read_count = 1,
    };

    read_file_path[0] = below("out/f");
    CHECK(passes(&rules, rows, sizeof rows / sizeof *rows));
}

TEST(rights_do_not_come_back)
{
    struct confine_rules none = {.calls = CONFINE_CALLS_FETCH};
    struct confine_rules all = {.read_paths = in_folder, .read_count = 1};
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        struct confine_done done;
        struct err e = {0};

        if (!confine_self(&none, &done, &e))
            _exit(1);
        if (!confine_self(&all, &done, &e))
            _exit(2);
        if (done.landlock_abi && try_open(folder, O_RDONLY) != EACCES)
            _exit(3);
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST(limits_are_lowered_and_never_raised)
{
    struct confine_rules rules = {
        .max_data_bytes = 64 << 20,
        .max_file_bytes = 1000,
        .max_files = 32,
    };
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        struct confine_done done;
        struct rlimit limit;
        struct err e = {0};

        if (!confine_self(&rules, &done, &e))
            _exit(1);
        rules.max_file_bytes = 5000;
        if (!confine_self(&rules, &done, &e))
            _exit(2);
        getrlimit(RLIMIT_FSIZE, &limit);
        if (limit.rlim_cur != 1000 || limit.rlim_max != 1000)
            _exit(3);
        getrlimit(RLIMIT_NOFILE, &limit);
        if (limit.rlim_max != 32)
            _exit(4);
        getrlimit(RLIMIT_CORE, &limit);
        if (limit.rlim_max != 0)
            _exit(5);
        getrlimit(RLIMIT_DATA, &limit);
        if (limit.rlim_max != RLIM_INFINITY && malloc(128 << 20))
            _exit(6);
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0);
}
