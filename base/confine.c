#include "base/confine.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine_calls.h"

/* Landlock as of ABI 7, from the kernel's documentation, because the kernel
 * headers of the build systems may be older than the running kernel. */
#define FS_EXECUTE     (UINT64_C(1) << 0)
#define FS_WRITE_FILE  (UINT64_C(1) << 1)
#define FS_READ_FILE   (UINT64_C(1) << 2)
#define FS_READ_DIR    (UINT64_C(1) << 3)
#define FS_REMOVE_DIR  (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR    (UINT64_C(1) << 7)
#define FS_MAKE_REG    (UINT64_C(1) << 8)
#define FS_MAKE_SOCK   (UINT64_C(1) << 9)
#define FS_MAKE_FIFO   (UINT64_C(1) << 10)
#define FS_MAKE_SYM    (UINT64_C(1) << 12)
#define FS_REFER       (UINT64_C(1) << 13)
#define FS_TRUNCATE    (UINT64_C(1) << 14)

#define NET_BIND_TCP    (UINT64_C(1) << 0)
#define NET_CONNECT_TCP (UINT64_C(1) << 1)

#define SCOPE_ABSTRACT_SOCKETS (UINT64_C(1) << 0)
#define SCOPE_SIGNALS          (UINT64_C(1) << 1)

#define ASK_VERSION       1u
#define RULE_PATH_BENEATH 1

struct ruleset {
    uint64_t fs, net, scoped;
};

struct path_rule {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

/* Size of the struct and file access rights of each ABI version. */
static const struct {
    size_t bytes;
    unsigned fs_rights;
} abis[] = {
    {0, 0}, {8, 13}, {8, 14}, {8, 15}, {16, 15}, {16, 16}, {24, 16}, {24, 16},
};

#define ABI_KNOWN ((int)(sizeof abis / sizeof *abis) - 1)

/* The only rights that a rule for a file may contain. */
#define OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE)

#define TO_READ (FS_READ_FILE | FS_READ_DIR)
#define TO_EXEC (TO_READ | FS_EXECUTE)
#define TO_WRITE                                                               \
    (TO_READ | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE |  \
     FS_MAKE_DIR | FS_MAKE_REG | FS_REFER)
/* A worker creates files and folders; a command may also create these. */
#define TO_WRITE_ALL (TO_WRITE | FS_MAKE_SYM | FS_MAKE_SOCK | FS_MAKE_FIFO)

/* The shadow memory of the address sanitizer is larger than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#    define HAS_SHADOW_MEMORY 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define HAS_SHADOW_MEMORY 1
#    endif
#endif
#ifndef HAS_SHADOW_MEMORY
#    define HAS_SHADOW_MEMORY 0
#endif

int confine_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

    return abi > 0 ? (int)abi : 0;
}

static bool no_landlock(struct err *e, const char *what)
{
    return err_set(e, ERR_FAILED, "Landlock: %s: %s", what, strerror(errno));
}

static bool allow_path(int ruleset, const char *path, uint64_t access,
                       struct err *e)
{
    CLEANUP_FD int fd = fs_openat(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    struct path_rule rule = {.access = access, .fd = fd};
    struct stat st;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return true; /* missing, or inaccessible in any case */
    if (fd < 0 || fstat(fd, &st) < 0)
        return no_landlock(e, path);
    if (!S_ISDIR(st.st_mode))
        rule.access &= OF_FILES;
    if (rule.access &&
        syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0))
        return no_landlock(e, path);
    return true;
}

static bool allow_paths(int ruleset, const char *const *paths, size_t count,
                        uint64_t access, struct err *e)
{
    for (size_t i = 0; i < count; i++)
        if (!allow_path(ruleset, paths[i], access, e))
            return false;
    return true;
}

/* All rights that the ABI can restrict; of the network only those
 * that the rules deny. */
static struct ruleset handled(const struct confine_rules *rules, int abi)
{
    struct ruleset r = {.fs = (UINT64_C(1) << abis[abi].fs_rights) - 1};

    if (rules->calls == CONFINE_CALLS_ANY)
        return r;
    if (rules->calls == CONFINE_CALLS_FETCH)
        r.net = NET_BIND_TCP;
    else if (!rules->network)
        r.net = NET_BIND_TCP | NET_CONNECT_TCP;
    r.scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;
    return r;
}

static bool raise_landlock(const struct confine_rules *rules, int *abi,
                           struct err *e)
{
    CLEANUP_FD int fd = -1;
    int found = confine_landlock_abi();
    int known = found < ABI_KNOWN ? found : ABI_KNOWN;
    struct ruleset r;
    uint64_t write =
        rules->calls == CONFINE_CALLS_FETCH ? TO_WRITE : TO_WRITE_ALL;

    *abi = 0;
    if (found == 0 || found < rules->least_abi)
        return true;
    r = handled(rules, known);
    fd = (int)syscall(SYS_landlock_create_ruleset, &r, abis[known].bytes, 0);
    if (fd < 0)
        return no_landlock(e, "create a set of rules");
    if (!allow_paths(fd, rules->read_paths, rules->read_count, TO_READ & r.fs,
                     e) ||
        !allow_paths(fd, rules->write_paths, rules->write_count, write & r.fs,
                     e) ||
        !allow_paths(fd, rules->exec_paths, rules->exec_count, TO_EXEC & r.fs,
                     e))
        return false;
    if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
        return no_landlock(e, "apply the rules");
    *abi = found;
    return true;
}

/* Lowers a limit permanently; never raises it. */
static bool lower(int what, const char *name, uint64_t value, struct err *e)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)what, &limit) < 0)
        return err_set(e, ERR_FAILED, "%s: %s", name, strerror(errno));
    if (limit.rlim_max > value)
        limit.rlim_max = value;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    if (setrlimit((__rlimit_resource_t)what, &limit) < 0)
        return err_set(e, ERR_FAILED, "%s: %s", name, strerror(errno));
    return true;
}

static bool lower_limits(const struct confine_rules *r, struct err *e)
{
    uint64_t data = HAS_SHADOW_MEMORY ? 0 : r->max_data_bytes;

    return lower(RLIMIT_CORE, "RLIMIT_CORE", 0, e) &&
           (!data || lower(RLIMIT_DATA, "RLIMIT_DATA", data, e)) &&
           (!r->max_file_bytes ||
            lower(RLIMIT_FSIZE, "RLIMIT_FSIZE", r->max_file_bytes, e)) &&
           (!r->max_processes ||
            lower(RLIMIT_NPROC, "RLIMIT_NPROC", r->max_processes, e)) &&
           (!r->max_files ||
            lower(RLIMIT_NOFILE, "RLIMIT_NOFILE", r->max_files, e));
}

/* With no_new_privs, exec does not restore them. */
static bool drop_capabilities(struct err *e)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3,
    };
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    if (syscall(SYS_capset, &header, none) < 0)
        return err_set(e, ERR_FAILED, "capabilities: %s", strerror(errno));
    return true;
}

bool confine_self(const struct confine_rules *rules, struct confine_done *done,
                  struct err *e)
{
    struct confine_done raised = {0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_FAILED, "no new privileges: %s", strerror(errno));
    if (!lower_limits(rules, e) ||
        !raise_landlock(rules, &raised.landlock_abi, e))
        return false;
    if (rules->calls != CONFINE_CALLS_ANY && !drop_capabilities(e))
        return false;
    if (!confine_calls(rules->calls, rules->network, &raised.seccomp, e))
        return false;
    *done = raised;
    return true;
}
