#include "sandbox.h"

#include "base/confine.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox_helper.h"

#define LOOK_MAX_MS 10000

bool sandbox_find_helper(struct arena *a, struct str *path, struct err *e)
{
    static const char *const places[] = {"../libexec/mapm/" HELPER_PROGRAM,
                                         HELPER_PROGRAM};
    struct str dir;

    if (!proc_self_dir(a, &dir, e))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct str found =
            fs_normalize(fs_join(dir, str_cstr(places[i]), a), a);

        /* Use the resolved path: the sandbox shows the target. */
        if (access(found.p, X_OK) == 0) {
            *path = path_real(found, a);
            return true;
        }
    }
    err_set(e, ERR_NOT_FOUND,
            HELPER_PROGRAM " is not installed beside mapm in %.*s",
            STR_ARG(dir));
    return err_hint(e, "install mapm again: the programs belong together");
}

struct str sandbox_find_bubblewrap(struct str workspace, struct arena *a)
{
    struct str path = STR("");
    struct err ignored = {0};

    if (!proc_find_program("bwrap", str_dup0(workspace, a), a, &path, &ignored))
        return STR("");
    return path;
}

/* Returns the first line, with control characters escaped. */
static struct str words_of(struct str text, struct arena *a)
{
    struct str line = STR(""), result;
    struct buf b;

    (void)str_line(&text, &line);
    buf_init(&b, 4000);
    text_visible(&b, str_slice(str_trim(line), 0, 300), false);
    result = arena_str(a, buf_str(&b));
    buf_done(&b);
    return result;
}

/* Runs `argv`, which ends in the helper, and expects the helper's mark. */
static bool run_trial(struct sandbox_support *w, const char *const *argv,
                      struct arena *a)
{
    struct err e = {0};
    struct proc_result r = {0};
    const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    struct proc_options o = {
        .argv = argv,
        .env = env,
        .dir = "/",
        .max_output_bytes = 1u << 16,
        .timeout_ms = LOOK_MAX_MS,
        .one_stream = true,
        .own_session = true,
    };

    if (!proc_run(&o, a, &r, &e)) {
        w->why_not = words_of(str_cstr(err_first(&e)), a);
        return false;
    }
    if (str_starts(r.out, str_make(HELPER_READY, sizeof HELPER_READY - 1)))
        return true;
    w->why_not = words_of(r.out, a);
    if (!w->why_not.n)
        w->why_not = arena_printf(a, "it ended with exit %d", r.exit_code);
    return false;
}

/* Runs a trivial program in new namespaces, to test whether that works. */
static bool try_namespaces(struct sandbox_support *w, struct str helper,
                           struct arena *a)
{
    const char *argv[] = {
        w->bubblewrap.p,
        "--unshare-user-try",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--unshare-net",
        "--die-with-parent",
        "--new-session",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--remount-ro",
        "/dev",
        "--",
        NULL,
        "-x",
        "/",
        NULL,
    };

    for (size_t i = 0; i + 1 < sizeof argv / sizeof *argv; i++)
        if (!argv[i])
            argv[i] = helper.p;
    return run_trial(w, argv, a);
}

static bool is_restricted(void)
{
    char c = '0';
    CLEANUP_FD int fd = fs_openat(
        AT_FDCWD, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        O_RDONLY | O_CLOEXEC, 0);

    return fd >= 0 && read(fd, &c, 1) == 1 && c == '1';
}

static struct str hint_for(const struct sandbox_support *w)
{
    if (w->namespaces)
        return STR("");
    if (!w->bubblewrap.n)
        return STR("apt install bubblewrap");
    if (is_restricted())
        return STR("AppArmor keeps bwrap from user namespaces: apt install "
                   "apparmor-profiles, then copy bwrap-userns-restrict from "
                   "/usr/share/apparmor/extra-profiles to /etc/apparmor.d and "
                   "load it with apparmor_parser -r");
    return STR("bwrap needs user namespaces: see "
               "/proc/sys/user/max_user_namespaces and "
               "/proc/sys/kernel/unprivileged_userns_clone");
}

void sandbox_probe(struct str workspace, struct arena *a,
                   struct sandbox_support *out)
{
    struct sandbox_support w = {
        .bubblewrap = sandbox_find_bubblewrap(workspace, a),
        .why_not = STR(""),
        .landlock_abi = confine_landlock_abi(),
        .seccomp = prctl(PR_GET_SECCOMP) >= 0,
    };
    struct str helper;
    struct err e = {0};

    /* without bubblewrap, too, mapm-cage confines the command */
    if (!sandbox_find_helper(a, &helper, &e)) {
        w.why_not = words_of(str_cstr(err_first(&e)), a);
        w.hint = words_of(str_cstr(e.hint), a);
        *out = w;
        return;
    }
    if (w.bubblewrap.n)
        w.namespaces = try_namespaces(&w, helper, a);
    else
        w.why_not = STR("not installed");
    w.enough =
        w.namespaces || (w.landlock_abi >= HELPER_ALONE_ABI && w.seccomp);
    w.hint = hint_for(&w);
    *out = w;
}
