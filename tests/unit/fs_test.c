#include "base/fs.h"
#include "base/proc.h"
#include "mapm/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* Every test works in a fresh folder that is removed afterwards. */
struct scratch {
    int fd;
    struct arena a;
    char path[64];
};

static void scratch_open(struct scratch *s)
{
    struct err e = {0};

    *s = (struct scratch){.fd = -1, .path = "/tmp/fs_test-XXXXXX"};
    if (!mkdtemp(s->path) || !fs_open_dir(s->path, &s->fd, &e))
        abort();
}

static void scratch_close(struct scratch *s)
{
    struct err e = {0};

    fs_close(&s->fd);
    CHECK(fs_remove_tree_at(AT_FDCWD, s->path, &e));
    CHECK(!fs_exists_at(AT_FDCWD, s->path));
    arena_done(&s->a);
}

static bool put(int dirfd, const char *path, const char *text)
{
    struct err e = {0};

    return fs_create_at(dirfd, path, 0644, str_cstr(text), &e);
}

static const char *get(struct scratch *s, const char *path)
{
    struct err e = {0};
    struct str out = STR("");

    if (!fs_read_file_at(s->fd, path, 1000, &s->a, &out, &e))
        return err_code_name(e.code);
    return out.p;
}

static size_t count_entries(struct scratch *s, const char *path)
{
    struct err e = {0};
    struct fs_entry *entries;
    size_t count = SIZE_MAX;

    CHECK(fs_list_at(s->fd, path, 100, &s->a, &entries, &count, &e));
    return count;
}

static void read_what_is_in_the_way(void)
{
    static const struct {
        const char *path;
        enum err_code code; /* ERR_NONE: read */
    } rows[] = {
        {"file", ERR_NONE},           {"dir/inner", ERR_NONE},
        {"./dir//inner", ERR_NONE},   {"absent", ERR_NOT_FOUND},
        {"absent/x", ERR_NOT_FOUND},  {"file/x", ERR_NOT_FOUND},
        {"dir", ERR_REFUSED},         {"", ERR_REFUSED},
        {"fifo", ERR_REFUSED},        {"link", ERR_REFUSED},
        {"dangling", ERR_REFUSED},    {"dirlink/inner", ERR_REFUSED},
        {"loop/x", ERR_REFUSED},      {"../file", ERR_REFUSED},
        {"dir/../file", ERR_REFUSED}, {"dir/..", ERR_REFUSED},
    };
    struct scratch s;
    struct err e = {0};

    scratch_open(&s);
    CHECK(put(s.fd, "file", "text"));
    CHECK(fs_make_dirs_at(s.fd, "dir", 0755, &e));
    CHECK(put(s.fd, "dir/inner", "text"));
    CHECK(mkfifoat(s.fd, "fifo", 0600) == 0);
    CHECK(symlinkat("file", s.fd, "link") == 0);
    CHECK(symlinkat("nowhere", s.fd, "dangling") == 0);
    CHECK(symlinkat("dir", s.fd, "dirlink") == 0);
    CHECK(symlinkat("loop", s.fd, "loop") == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str out = STR("untouched");
        bool ok;

        err_clear(&e);
        ok = fs_read_file_at(s.fd, rows[i].path, 100, &s.a, &out, &e);
        CHECK(ok == (rows[i].code == ERR_NONE));
        CHECK_STR(err_code_name(e.code), err_code_name(rows[i].code));
        CHECK_STR(out.p, ok ? "text" : "untouched");
    }
    scratch_close(&s);
}

/* [row 16] what is in the way of a read, and what is said about it. */
TEST(only_regular_files_below_the_folder_are_read)
{
    read_what_is_in_the_way();
}

/* In a child for whom openat2 does not exist: the walk decides the same. */
static bool without_openat2(void (*play)(void), int answer)
{
    int status = -1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

        if (!filter ||
            seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)answer),
                             SCMP_SYS(openat2), 0) != 0 ||
            seccomp_load(filter) != 0)
            _exit(2);
        play();
        fflush(stdout);
        _exit(tap_failed);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

static void read_absolute_path(void)
{
    struct scratch s;
    struct err e = {0};
    struct str out, path;
    int fd = -1;

    scratch_open(&s);
    path = fs_join(str_cstr(s.path), STR("a/f"), &s.a);
    CHECK(fs_make_dirs_at(s.fd, "a", 0755, &e) && put(s.fd, "a/f", "x"));
    CHECK(fs_read_file_at(AT_FDCWD, path.p, 10, &s.a, &out, &e));
    CHECK(fs_open_dir_at(s.fd, "", &fd, &e));
    fs_close(&fd);
    CHECK(fs_open_dir_at(s.fd, "a/.", &fd, &e));
    CHECK(fs_replace_at(fd, "f", 0644, STR("y"), &e));
    CHECK_STR(get(&s, "a/f"), "y");
    fs_close(&fd);
    CHECK(symlinkat("a", s.fd, "l") == 0);
    CHECK(!fs_open_dir_at(s.fd, "l", &fd, &e) && e.code == ERR_REFUSED);
    CHECK(!fs_open_dir_at(s.fd, "a/f", &fd, &e) && e.code == ERR_NOT_FOUND);
    scratch_close(&s);
}

TEST(old_kernels_and_sandboxes_get_the_same_answers)
{
    CHECK(without_openat2(read_what_is_in_the_way, ENOSYS));
    CHECK(without_openat2(read_what_is_in_the_way, EPERM));
    CHECK(without_openat2(read_absolute_path, ENOSYS));
    read_absolute_path();
}

TEST(errors_name_the_path)
{
    struct scratch s;
    struct err e = {0};
    struct str out;
    int fd;

    scratch_open(&s);
    CHECK(!fs_read_file_at(s.fd, "a/b", 100, &s.a, &out, &e));
    CHECK_STR(err_first(&e), "open a/b: no such file or folder");
    CHECK(symlinkat("x", s.fd, "l") == 0);
    CHECK(!fs_open_file_at(s.fd, "l", &fd, NULL, &e));
    CHECK_STR(err_first(&e), "open l: a symbolic link is in the way");
    CHECK(!fs_open_dir("/nowhere/at/all", &fd, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    scratch_close(&s);
}

TEST(errors_of_an_open_file_name_its_path)
{
    struct scratch s;
    struct err e = {0};
    struct fs_entry *entries;
    size_t count, n = 0;
    struct str out;
    char byte;
    int ends[2], fd;

    scratch_open(&s);
    CHECK(!fs_read_fd(s.fd, 100, &s.a, &out, &e));
    CHECK_STR(err_first(&e),
              arena_printf(&s.a, "read %s: Is a directory", s.path).p);
    CHECK(!fs_read_upto(s.fd, &byte, 1, &n, &e));
    CHECK_STR(err_first(&e),
              arena_printf(&s.a, "read %s: Is a directory", s.path).p);
    CHECK(put(s.fd, "f", ""));
    fd = openat(s.fd, "f", O_RDONLY | O_CLOEXEC);
    CHECK(!fs_list_open(fd, 5, &s.a, &entries, &count, &e));
    CHECK_STR(err_first(&e),
              arena_printf(&s.a, "list %s/f: Not a directory", s.path).p);
    close(fd);
    CHECK(!fs_list_at(s.fd, ".", 0, &s.a, &entries, &count, &e));
    CHECK_STR(err_first(&e),
              arena_printf(&s.a, "%s: more than 0 entries", s.path).p);

    CHECK(pipe(ends) == 0);
    CHECK(!fs_read_fd(ends[1], 100, &s.a, &out, &e));
    CHECK(str_starts(str_cstr(err_first(&e)), STR("read pipe:[")));
    close(ends[0]);
    close(ends[1]);
    CHECK(!fs_read_fd(-1, 100, &s.a, &out, &e));
    CHECK_STR(err_first(&e), "read an open file: Bad file descriptor");
    scratch_close(&s);
}

/* Section 6 of the style: every reader has a maximum. */
TEST(reading_is_bounded)
{
    struct scratch s;
    struct err e = {0};
    struct str out;
    int ends[2];

    scratch_open(&s);
    CHECK(put(s.fd, "f", "12345678"));
    CHECK(fs_read_file_at(s.fd, "f", 8, &s.a, &out, &e) && out.n == 8);
    CHECK(!fs_read_file_at(s.fd, "f", 7, &s.a, &out, &e));
    CHECK(e.code == ERR_LIMIT);
    CHECK(put(s.fd, "empty", ""));
    CHECK(fs_read_file_at(s.fd, "empty", 0, &s.a, &out, &e) && out.n == 0);
    CHECK(out.p[0] == '\0');

    /* A file of 4 TiB costs nothing to refuse. */
    CHECK(truncate(str_dup0(fs_join(str_cstr(s.path), STR("f"), &s.a), &s.a),
                   (off_t)1 << 42) == 0);
    CHECK(!fs_read_file_at(s.fd, "f", 1 << 20, &s.a, &out, &e));
    CHECK(e.code == ERR_LIMIT);

    /* A pipe has no size beforehand. */
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "hello", 5) == 5);
    close(ends[1]);
    CHECK(!fs_read_fd(ends[0], 4, &s.a, &out, &e) && e.code == ERR_LIMIT);
    close(ends[0]);

    /* Neither has a file in /proc. */
    CHECK(fs_read_user_file("/proc/self/maps", 1 << 20, &s.a, &out, &e));
    CHECK(out.n > 0 && out.p[out.n] == '\0');
    scratch_close(&s);
}

TEST(content_grows_past_the_first_guess)
{
    struct scratch s;
    struct err e = {0};
    struct str out;
    int ends[2];
    char block[5000];
    pid_t child;

    scratch_open(&s);
    memset(block, 'x', sizeof block);
    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 20; i++)
            if (!fs_write_all(ends[1], str_make(block, sizeof block), &e))
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    CHECK(fs_read_fd(ends[0], 100000, &s.a, &out, &e) && out.n == 100000);
    CHECK(out.p[99999] == 'x' && out.p[100000] == '\0');
    close(ends[0]);
    waitpid(child, NULL, 0);
    scratch_close(&s);
}

TEST(links_are_followed_only_where_the_user_named_the_path)
{
    struct scratch s;
    struct err e = {0};
    const char *path;
    struct str out;
    int fd = -1;

    scratch_open(&s);
    CHECK(put(s.fd, "f", "text"));
    CHECK(symlinkat("f", s.fd, "l") == 0);
    CHECK(mkfifoat(s.fd, "fifo", 0600) == 0);
    path = fs_join(str_cstr(s.path), STR("l"), &s.a).p;
    CHECK(fs_read_user_file(path, 10, &s.a, &out, &e) && str_is(out, "text"));
    CHECK(!fs_read_file_at(AT_FDCWD, path, 10, &s.a, &out, &e));
    CHECK(e.code == ERR_REFUSED);
    path = fs_join(str_cstr(s.path), STR("f"), &s.a).p;
    CHECK(fs_read_file_at(AT_FDCWD, path, 10, &s.a, &out, &e));
    path = fs_join(str_cstr(s.path), STR("fifo"), &s.a).p;
    CHECK(!fs_read_user_file(path, 10, &s.a, &out, &e));
    CHECK(e.code == ERR_REFUSED);
    CHECK(!fs_read_user_file("/dev/zero", 10, &s.a, &out, &e));
    CHECK(e.code == ERR_REFUSED);

    CHECK(symlinkat(".", s.fd, "here") == 0);
    path = fs_join(str_cstr(s.path), STR("here"), &s.a).p;
    CHECK(fs_open_dir(path, &fd, &e));
    fs_close(&fd);
    CHECK(!fs_open_dir_at(s.fd, "here", &fd, &e) && e.code == ERR_REFUSED);
    CHECK(!fs_open_dir_at(s.fd, "f", &fd, &e) && e.code == ERR_NOT_FOUND);
    CHECK(fs_open_dir_at(s.fd, "", &fd, &e));
    fs_close(&fd);
    CHECK(fd == -1);
    fs_close(&fd); /* twice is harmless */
    scratch_close(&s);
}

TEST(stat_looks_at_the_link_itself_and_not_through_one)
{
    struct scratch s;
    struct stat st;
    struct err e = {0};

    scratch_open(&s);
    CHECK(fs_make_dirs_at(s.fd, "d", 0755, &e) && put(s.fd, "d/f", ""));
    CHECK(symlinkat("d", s.fd, "l") == 0);
    CHECK(fs_stat_at(s.fd, "l", &st) && S_ISLNK(st.st_mode));
    CHECK(fs_stat_at(s.fd, "d/f", &st) && S_ISREG(st.st_mode));
    CHECK(fs_stat_at(s.fd, "d/", &st) && S_ISDIR(st.st_mode));
    CHECK(fs_stat_at(s.fd, ".", &st) && S_ISDIR(st.st_mode));
    CHECK(fs_stat_at(s.fd, "", &st) && S_ISDIR(st.st_mode));
    CHECK(!fs_exists_at(s.fd, "l/f"));
    CHECK(!fs_exists_at(s.fd, "../etc"));
    CHECK(!fs_exists_at(s.fd, "x"));
    scratch_close(&s);
}

/* [row 2] modes are exact, whatever the umask. */
TEST(create_is_exclusive_and_umask_proof)
{
    struct scratch s;
    struct err e = {0};
    struct stat st;
    mode_t before;

    scratch_open(&s);
    before = umask(077);
    CHECK(fs_create_at(s.fd, "x", 0755, STR("#!"), &e));
    CHECK(fs_stat_at(s.fd, "x", &st) && (st.st_mode & 07777) == 0755);
    CHECK(fs_make_dirs_at(s.fd, "a/b", 0755, &e));
    CHECK(fs_stat_at(s.fd, "a/b", &st) && (st.st_mode & 07777) == 0755);
    umask(0);
    CHECK(fs_create_at(s.fd, "y", 0644, STR("z"), &e));
    CHECK(fs_stat_at(s.fd, "y", &st) && (st.st_mode & 07777) == 0644);
    CHECK(fs_make_dirs_at(s.fd, "c", 0700, &e));
    CHECK(fs_stat_at(s.fd, "c", &st) && (st.st_mode & 07777) == 0700);
    umask(before);

    CHECK(!fs_create_at(s.fd, "x", 0644, STR("other"), &e));
    CHECK(e.code == ERR_IO);
    CHECK_STR(get(&s, "x"), "#!");
    CHECK(symlinkat("new", s.fd, "l") == 0);
    CHECK(!fs_create_at(s.fd, "l", 0644, STR("other"), &e));
    CHECK(!fs_exists_at(s.fd, "new"));
    CHECK(!fs_create_at(s.fd, "no/where", 0644, STR("other"), &e));
    CHECK(e.code == ERR_NOT_FOUND);
    scratch_close(&s);
}

/* "0", "1", … */
static bool next_digit(void *ctx, struct buf *block)
{
    char *digit = ctx;

    buf_char(block, (*digit)++);
    return *digit <= '9';
}

/* [F7] a content that is not in memory as a whole, within its bound */
TEST(a_file_is_created_of_blocks)
{
    struct scratch s;
    struct err e = {0};
    char digit = '0';

    scratch_open(&s);
    CHECK(fs_create_blocks_at(s.fd, "x", 0644, 10, next_digit, &digit, &e));
    CHECK_STR(get(&s, "x"), "0123456789");
    digit = '0';
    CHECK(!fs_create_blocks_at(s.fd, "y", 0644, 9, next_digit, &digit, &e));
    CHECK(e.code == ERR_LIMIT && !fs_exists_at(s.fd, "y"));
    scratch_close(&s);
}

/* [row 16, row 27]. */
TEST(a_file_of_the_user_is_replaced_where_its_path_leads)
{
    struct scratch s;
    struct err e = {0};
    char path[sizeof s.path + 32];

    scratch_open(&s);
    CHECK(fs_make_dirs_at(s.fd, "real", 0755, &e));
    CHECK(symlinkat("real", s.fd, "way") == 0);
    snprintf(path, sizeof path, "%s/way/f", s.path);
    CHECK(fs_replace_user_file(path, 0644, STR("one"), &e));
    CHECK(fs_replace_user_file(path, 0644, STR("two"), &e));
    CHECK_STR(get(&s, "real/f"), "two");
    snprintf(path, sizeof path, "%s/way/", s.path);
    CHECK(!fs_replace_user_file(path, 0644, STR("x"), &e));
    CHECK(e.code == ERR_REFUSED);
    snprintf(path, sizeof path, "%s/none/f", s.path);
    CHECK(!fs_replace_user_file(path, 0644, STR("x"), &e));
    CHECK(e.code == ERR_NOT_FOUND);
    scratch_close(&s);
}

TEST(a_batch_replaces_files_at_its_end)
{
    struct scratch s;
    struct err e = {0};
    struct stat st;
    mode_t before = umask(077);

    scratch_open(&s);
    CLEANUP(fs_batch_done) struct fs_batch b = {.dirfd = s.fd};
    CHECK(fs_batch_end(&b, &e)); /* nothing to do */
    CHECK(put(s.fd, "one", "before") && fchmodat(s.fd, "one", 0755, 0) == 0);
    for (int round = 0; round < 2; round++) {
        CHECK(fs_batch_add(&b, "one", 0644, STR("after"), &e));
        CHECK(fs_batch_add(&b, "two", 0644, STR("2"), &e));
        CHECK_STR(get(&s, "one"), round ? "after" : "before");
        CHECK(fs_batch_end(&b, &e));
        CHECK_STR(get(&s, "one"), "after");
        CHECK_STR(get(&s, "two"), "2");
    }
    CHECK(fs_stat_at(s.fd, "one", &st) && (st.st_mode & 07777) == 0755);
    CHECK(fs_stat_at(s.fd, "two", &st) && (st.st_mode & 07777) == 0644);
    umask(before);

    CHECK(symlinkat("one", s.fd, "link") == 0);
    CHECK(fs_batch_add(&b, "three", 0644, STR("3"), &e));
    CHECK(!fs_batch_add(&b, "link", 0644, STR("evil"), &e));
    CHECK(e.code == ERR_REFUSED);
    fs_batch_done(&b);
    CHECK(!fs_exists_at(s.fd, "three"));
    CHECK(count_entries(&s, ".") == 3); /* no temporary file is left */
    for (int i = 0; i < FS_BATCH_MAX; i++) {
        char name[8];

        snprintf(name, sizeof name, "f%d", i);
        CHECK(fs_batch_add(&b, name, 0644, STR("x"), &e));
    }
    CHECK(fs_batch_end(&b, &e));
    CHECK(fs_exists_at(s.fd, "f0") && fs_exists_at(s.fd, "f199"));
    scratch_close(&s);
}

TEST(a_sweep_removes_what_a_killed_batch_left)
{
    static const char draft[] = ".mapm-tmp-0123456789abcdef";
    static const char *const kept[] = {
        "one", ".mapm-tmp-notes", ".mapm-tmp-0123456789abcdef.txt",
        ".mapm-tmp-0123456789abcde", ".mapm-tmp-fedcba9876543210/file"};
    struct scratch s;
    struct err e = {0};

    scratch_open(&s);
    CHECK(fs_make_dirs_at(s.fd, ".mapm-tmp-fedcba9876543210", 0755, &e));
    CHECK(put(s.fd, draft, "half"));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        CHECK(put(s.fd, kept[i], "x"));
    for (int busy = 1; busy >= 0; busy--) {
        CLEANUP_FD int other = -1, fd = -1;

        CHECK(fs_open_dir(s.path, &other, &e) && fs_open_dir(s.path, &fd, &e));
        if (busy)
            CHECK(fs_lock(other, false, 0, NULL, NULL, &e));
        fs_batch_sweep(fd);
        CHECK(fs_exists_at(s.fd, draft) == busy);
        /* until the descriptor is closed */
        CHECK(!fs_lock(other, true, 0, NULL, NULL, &e));
        err_clear(&e);
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        CHECK(fs_exists_at(s.fd, kept[i]));
    scratch_close(&s);
}

TEST(replace_keeps_the_mode_and_refuses_what_is_no_file)
{
    static const char *const refused[] = {"dir",      "fifo",      "link",
                                          "dangling", "dirlink/f", "../f"};
    struct scratch s;
    struct err e = {0};
    struct stat st;
    mode_t before = umask(077);

    scratch_open(&s);
    CHECK(fs_replace_at(s.fd, "f", 0640, STR("one"), &e));
    CHECK(fs_stat_at(s.fd, "f", &st) && (st.st_mode & 07777) == 0640);
    CHECK(fchmodat(s.fd, "f", 0755, 0) == 0);
    CHECK(fs_replace_at(s.fd, "f", 0600, STR("two"), &e));
    CHECK(fs_stat_at(s.fd, "f", &st) && (st.st_mode & 07777) == 0755);
    CHECK_STR(get(&s, "f"), "two");
    umask(before);

    CHECK(fs_make_dirs_at(s.fd, "dir", 0755, &e) && put(s.fd, "dir/f", "in"));
    CHECK(mkfifoat(s.fd, "fifo", 0600) == 0);
    CHECK(symlinkat("f", s.fd, "link") == 0);
    CHECK(symlinkat("nowhere", s.fd, "dangling") == 0);
    CHECK(symlinkat("dir", s.fd, "dirlink") == 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK(!fs_replace_at(s.fd, refused[i], 0644, STR("evil"), &e));
        CHECK(e.code == ERR_REFUSED);
    }
    CHECK_STR(get(&s, "f"), "two");
    CHECK_STR(get(&s, "dir/f"), "in");
    CHECK(!fs_exists_at(s.fd, "nowhere"));
    CHECK(fs_replace_at(s.fd, "dir/f", 0644, STR("new"), &e));
    CHECK_STR(get(&s, "dir/f"), "new");
    CHECK(count_entries(&s, ".") == 6); /* no temporary file is left */
    CHECK(count_entries(&s, "dir") == 1);
    scratch_close(&s);
}

/* [row 27] a full disk, played by the limit of a file's size. */
TEST(a_full_disk_leaves_the_old_content_and_no_litter)
{
    struct scratch s;
    struct err e = {0};
    struct rlimit before, small;
    char big[2000];

    scratch_open(&s);
    memset(big, 'x', sizeof big);
    CHECK(put(s.fd, "f", "old"));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK(!fs_replace_at(s.fd, "f", 0644, str_make(big, sizeof big), &e));
    CHECK(e.code == ERR_IO);
    CHECK(!fs_create_at(s.fd, "g", 0644, str_make(big, sizeof big), &e));
    CHECK(e.code == ERR_IO);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_STR(get(&s, "f"), "old");
    CHECK(count_entries(&s, ".") == 1);
    scratch_close(&s);
}

TEST(folders_are_made_through_folders_only)
{
    struct scratch s;
    struct err e = {0};
    char name[257];

    scratch_open(&s);
    CHECK(fs_make_dirs_at(s.fd, "a/b/c", 0755, &e));
    CHECK(fs_make_dirs_at(s.fd, "a//b/./c/", 0755, &e));
    CHECK(fs_make_dirs_at(s.fd, "", 0755, &e));
    CHECK(put(s.fd, "f", ""));
    CHECK(symlinkat("a", s.fd, "l") == 0);
    CHECK(!fs_make_dirs_at(s.fd, "f/x", 0755, &e) && e.code == ERR_REFUSED);
    CHECK(!fs_make_dirs_at(s.fd, "l/x", 0755, &e) && e.code == ERR_REFUSED);
    CHECK(!fs_make_dirs_at(s.fd, "l", 0755, &e) && e.code == ERR_REFUSED);
    CHECK(!fs_make_dirs_at(s.fd, "a/../x", 0755, &e) && e.code == ERR_REFUSED);
    CHECK(!fs_make_dirs_at(s.fd, "/tmp/x", 0755, &e) && e.code == ERR_REFUSED);
    CHECK(!fs_exists_at(s.fd, "a/x") && !fs_exists_at(s.fd, "x"));
    memset(name, 'n', 256);
    name[256] = '\0';
    CHECK(!fs_make_dirs_at(s.fd, name, 0755, &e) && e.code == ERR_IO);
    name[255] = '\0';
    CHECK(fs_make_dirs_at(s.fd, name, 0755, &e));

    CHECK(fs_make_dirs(fs_join(str_cstr(s.path), STR("l/y/z"), &s.a).p, 0700,
                       &e));
    CHECK(fs_exists_at(s.fd, "a/y/z"));
    CHECK(
        !fs_make_dirs(fs_join(str_cstr(s.path), STR("f/y"), &s.a).p, 0700, &e));
    CHECK(!fs_make_dirs("", 0700, &e));
    CHECK(fs_make_dirs("/", 0700, &e));
    scratch_close(&s);
}

TEST(removing_follows_no_link)
{
    struct scratch s;
    struct err e = {0};

    scratch_open(&s);
    CHECK(fs_make_dirs_at(s.fd, "keep", 0755, &e) && put(s.fd, "keep/f", ""));
    CHECK(fs_make_dirs_at(s.fd, "t/a/b", 0755, &e));
    CHECK(symlinkat("../../keep", s.fd, "t/a/l") == 0);
    CHECK(put(s.fd, "t/a/b/f", "") && put(s.fd, "t/x", ""));
    CHECK(mkfifoat(s.fd, "t/fifo", 0600) == 0);
    CHECK(fchmodat(s.fd, "t/a/b", 0, 0) == 0);
    CHECK(fchmodat(s.fd, "t/a", 0500, 0) == 0);
    CHECK(fs_remove_tree_at(s.fd, "t", &e));
    CHECK(!fs_exists_at(s.fd, "t"));
    CHECK(fs_remove_tree_at(s.fd, "t", &e)); /* gone already */
    CHECK(fs_remove_tree_at(s.fd, "no/where", &e));
    CHECK(symlinkat("keep", s.fd, "l") == 0);
    CHECK(!fs_remove_tree_at(s.fd, "l/f", &e) && e.code == ERR_REFUSED);
    CHECK(fs_remove_tree_at(s.fd, "l", &e));
    CHECK(fs_exists_at(s.fd, "keep/f") && !fs_exists_at(s.fd, "l"));
    CHECK(!fs_remove_tree_at(s.fd, "..", &e));
    CHECK(!fs_remove_tree_at(s.fd, ".", &e));
    scratch_close(&s);
}

/* Deeper than any path or descriptor table is long. */
TEST(removing_a_deep_tree_is_iterative)
{
    struct scratch s;
    struct err e = {0};
    int at, next;

    scratch_open(&s);
    CHECK(fs_open_dir_at(s.fd, ".", &at, &e));
    for (int i = 0; i < 5000; i++) {
        CHECK(mkdirat(at, "deep", 0755) == 0);
        next = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
    }
    close(at);
    CHECK(fs_remove_tree_at(s.fd, "deep", &e));
    CHECK_STR(err_first(&e), "");
    CHECK(!fs_exists_at(s.fd, "deep"));
    scratch_close(&s);
}

TEST(lists_are_sorted_by_bytes_and_bounded)
{
    static const char *const names[] = {"B", "a", "b-", "b/", "\xff\xfe", " "};
    static const char *const sorted[] = {" ", "B", "a", "b", "b-", "\xff\xfe"};
    struct scratch s;
    struct err e = {0};
    struct fs_entry *entries = NULL;
    size_t count = 0;

    scratch_open(&s);
    CHECK(fs_list_at(s.fd, ".", 0, &s.a, &entries, &count, &e) && count == 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(strchr(names[i], '/') ? mkdirat(s.fd, names[i], 0755) == 0
                                    : put(s.fd, names[i], ""));
    CHECK(fs_list_at(s.fd, ".", 6, &s.a, &entries, &count, &e) && count == 6);
    for (size_t i = 0; i < count; i++) {
        CHECK_STR(entries[i].name.p, sorted[i]);
        CHECK(entries[i].type == (i == 3 ? 4 /* DT_DIR */ : 8 /* DT_REG */));
    }
    CHECK(!fs_list_at(s.fd, ".", 5, &s.a, &entries, &count, &e));
    CHECK(e.code == ERR_LIMIT && count == 6);
    CHECK(!fs_list_at(s.fd, "a", 5, &s.a, &entries, &count, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    scratch_close(&s);
}

static void count_call(void *ctx)
{
    ++*(int *)ctx;
}

static int unlocked = -1;

static void count_and_unlock(void *ctx)
{
    count_call(ctx);
    flock(unlocked, LOCK_UN);
}

/* [row 28]. */
TEST(locks_wait_and_give_up)
{
    struct scratch s;
    struct err e = {0};
    int one = -1, two = -1, calls = 0;

    scratch_open(&s);
    CHECK(put(s.fd, "lock", ""));
    CHECK(fs_open_file_at(s.fd, "lock", &one, NULL, &e));
    CHECK(fs_open_file_at(s.fd, "lock", &two, NULL, &e));
    CHECK(fs_lock(one, false, 0, count_call, &calls, &e));
    CHECK(fs_lock(two, false, 0, count_call, &calls, &e));
    CHECK(!fs_lock(two, true, 0, count_call, &calls, &e));
    CHECK(e.code == ERR_BUSY && calls == 0);
    CHECK(!fs_lock(two, true, 30, count_call, &calls, &e));
    CHECK(e.code == ERR_BUSY && calls == 1);
    CHECK(!fs_lock(two, true, 3, NULL, NULL, &e));

    /* Asking for more lost what `two` had: so says fs.h. The lock is had as
     * soon as the other lets go. */
    CHECK(fs_lock(one, true, 0, NULL, NULL, &e));
    unlocked = one;
    CHECK(fs_lock(two, true, 10000, count_and_unlock, &calls, &e));
    CHECK(calls == 2);
    fs_close(&one);
    fs_close(&two);
    scratch_close(&s);
}

static void interrupt_parent(void *ctx)
{
    (void)ctx;
    if (fork() == 0) {
        usleep(20 * 1000);
        kill(getppid(), SIGTERM);
        _exit(0);
    }
}

TEST(a_signal_ends_the_wait_for_a_lock)
{
    struct scratch s;
    int status = -1;
    pid_t child;

    scratch_open(&s);
    CHECK(put(s.fd, "lock", ""));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct err e = {0};
        int one = -1, two = -1;

        proc_catch_signals();
        if (!fs_open_file_at(s.fd, "lock", &one, NULL, &e) ||
            !fs_open_file_at(s.fd, "lock", &two, NULL, &e) ||
            !fs_lock(one, true, 0, NULL, NULL, &e))
            _exit(1);
        if (fs_lock(two, true, 20000, interrupt_parent, NULL, &e))
            _exit(2);
        _exit(e.code == ERR_INTERRUPTED ? 0 : 3);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0);
    scratch_close(&s);
}

/* [row 6, row 10]. */
TEST(clean_relative_paths)
{
    static const struct {
        const char *path;
        bool clean;
    } rows[] = {
        {"a", true},     {"a/b.c/d", true}, {"...", true},     {".a", true},
        {"\xff", true},  {"", false},       {"/a", false},     {"a/", false},
        {"a//b", false}, {".", false},      {"..", false},     {"a/..", false},
        {"a/.", false},  {"../a", false},   {"a/../b", false},
    };
    char name[257];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(fs_path_is_relative_clean(str_cstr(rows[i].path)) ==
              rows[i].clean);
    CHECK(!fs_path_is_relative_clean(str_make("a\0b", 3)));
    CHECK(!fs_path_is_relative_clean((struct str){0}));
    memset(name, 'n', sizeof name);
    CHECK(fs_path_is_relative_clean(str_make(name, 255)));
    CHECK(!fs_path_is_relative_clean(str_make(name, 256)));
}

TEST(paths_are_joined_and_normalized)
{
    static const struct {
        const char *dir, *path, *joined, *normal;
    } rows[] = {
        {"/a/b", "c/d", "/a/b/c/d", "/a/b/c/d"},
        {"/a/", "b", "/a/b", "/a/b"},
        {"/", "b", "/b", "/b"},
        {"/a", "/b", "/b", "/b"},
        {"/a", "", "/a", "/a"},
        {"", "/x//y/./z/", "/x//y/./z/", "/x/y/z"},
        {"/a", "../../b", "/a/../../b", "/b"},
        {"/a/bc", "..", "/a/bc/..", "/a"},
        {"/a", "..", "/a/..", "/"},
        {"/", "", "/", "/"},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str joined =
            fs_join(str_cstr(rows[i].dir), str_cstr(rows[i].path), &a);

        CHECK_STR(joined.p, rows[i].joined);
        CHECK_STR(fs_normalize(joined, &a).p, rows[i].normal);
    }
    arena_done(&a);
}

TEST(a_path_is_in_a_folder_by_whole_names)
{
    static const struct {
        const char *path, *folder;
        bool is_within;
    } rows[] = {
        {"/a/b", "/a", true},  {"/a", "/a", true},    {"/a", "/a/", true},
        {"/a/b", "/", true},   {"/", "/", true},      {"/ab", "/a", false},
        {"/a", "/a/b", false}, {"/b/a", "/a", false}, {"/a", "", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(fs_path_is_within(str_cstr(rows[i].path),
                                str_cstr(rows[i].folder)) == rows[i].is_within);
}

TEST(a_real_path_has_no_link)
{
    static const struct {
        const char *path, *real;
    } rows[] = {{"real/in", "real/in"}, {"way", "real"},
                {"way/in", "real/in"},  {"way/../way", "real"},
                {"real/", "real"},      {"real//./in", "real/in"}};
    struct arena a = {0};
    struct scratch s;
    struct err e = {0};
    struct str top, real;
    char path[64];

    scratch_open(&s);
    CHECK(mkdirat(s.fd, "real", 0755) == 0);
    CHECK(symlinkat("real", s.fd, "way") == 0);
    CHECK(symlinkat("loop", s.fd, "loop") == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", s.fd);
    CHECK(fs_real_path(path, &a, &top, &e));
    CHECK(mkdirat(s.fd, "real/in", 0755) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str way = fs_join(top, str_cstr(rows[i].path), &a);

        CHECK(fs_real_path(way.p, &a, &real, &e));
        CHECK_STR(real.p, fs_join(top, str_cstr(rows[i].real), &a).p);
    }
    CHECK(!fs_real_path(fs_join(top, STR("way/none"), &a).p, &a, &real, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    err_clear(&e);
    CHECK(!fs_real_path(fs_join(top, STR("none"), &a).p, &a, &real, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    err_clear(&e);
    CHECK(!fs_real_path(fs_join(top, STR("loop"), &a).p, &a, &real, &e));
    CHECK(e.code == ERR_REFUSED);
    scratch_close(&s);
    arena_done(&a);
}

TEST(syncing_works_and_reports)
{
    struct scratch s;
    int fds[2 * SYNC_MAX_THREADS];
    struct err e = {0};

    scratch_open(&s);
    CHECK(fs_sync(s.fd, "the folder", &e));
    CHECK(fs_sync_all(s.fd, &e));
    CHECK(fs_make_dirs_at(s.fd, "a/b", 0755, &e));
    CHECK(fs_create_at(s.fd, "a/b/c", 0644, STR("c"), &e));
    CHECK(symlinkat("nowhere", s.fd, "a/link") == 0);
    CHECK(fs_sync_tree(s.fd, &e));
    for (size_t i = 0; i < 2 * SYNC_MAX_THREADS; i++)
        fds[i] = s.fd;
    CHECK(fs_sync_folders(fds, 0, &e) && fs_sync_folders(fds, 1, &e));
    CHECK(fs_sync_folders(fds, sizeof fds / sizeof *fds, &e));
    fds[SYNC_MAX_THREADS] = -1;
    CHECK(!fs_sync_folders(fds, sizeof fds / sizeof *fds, &e));
    CHECK(e.code == ERR_IO);
    err_clear(&e);
    CHECK(!fs_sync(-1, "nothing", &e) && e.code == ERR_IO);
    CHECK(!fs_write_all(-1, STR("x"), &e) && e.code == ERR_IO);
    scratch_close(&s);
}
