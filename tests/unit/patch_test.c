#include "base/patch.h"

#include "tap.h"

static struct patch_side side(unsigned mode, const char *text)
{
    return (struct patch_side){mode, str_cstr(text), false};
}

static void check_patch(const struct patch_file *f, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    patch_format(f, &b);
    CHECK_STR(b.p ? b.p : "", want);
    buf_done(&b);
}

/* As git 2.39 prints them, but for the "index" lines [D5]. */
TEST(a_file_as_git_prints_it)
{
    static const struct {
        const char *path;
        unsigned old_mode, mode;
        const char *before, *after, *want;
    } rows[] = {
        {"a", 0100644, 0100644, "x\n", "x\n", ""},
        {"a", 0100644, 0100644, "x\n", "y\n",
         "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"},
        {"a", 0100644, 0100755, "x\n", "x\n",
         "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"},
        {"a", 0, 0100644, "", "y\n",
         "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n"
         "@@ -0,0 +1 @@\n+y\n"},
        {"a", 0, 0100644, "", "", "diff --git a/a b/a\nnew file mode 100644\n"},
        {"a", 0100755, 0, "x\n", "",
         "diff --git a/a b/a\ndeleted file mode 100755\n--- a/a\n"
         "+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"},
        {"a", 0100644, 0120000, "x\n", "b",
         "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n"
         "+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
         "diff --git a/a b/a\nnew file mode 120000\n--- /dev/null\n+++ b/a\n"
         "@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n"},
        {"a b", 0100644, 0100644, "x\n", "",
         "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n"
         "@@ -1 +0,0 @@\n-x\n"},
        {"a\n\"b\\", 0, 0100644, "", "",
         "diff --git \"a/a\\012\\\"b\\\\\" \"b/a\\012\\\"b\\\\\"\n"
         "new file mode 100644\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct patch_file f = {str_cstr(rows[i].path),
                               side(rows[i].old_mode, rows[i].before),
                               side(rows[i].mode, rows[i].after)};

        check_patch(&f, rows[i].want);
    }
}

TEST(binary_files_are_named)
{
    struct patch_file f = {STR("a"), side(PATCH_FILE, "x"), {0}};
    char late[8002] = {0};

    f.after = (struct patch_side){PATCH_FILE, str_make("y\0z", 3), false};
    check_patch(&f, "diff --git a/a b/a\nBinary files a/a and b/a differ\n");
    f.after = (struct patch_side){0, STR(""), false};
    f.before.is_opaque = true;
    check_patch(&f, "diff --git a/a b/a\ndeleted file mode 100644\n"
                    "Binary files a/a and /dev/null differ\n");
    memset(late, 'x', 8000);
    f.before = (struct patch_side){PATCH_FILE, str_make(late, 8001), false};
    CHECK(!patch_is_binary(&f));
    late[7999] = '\0';
    CHECK(patch_is_binary(&f));
}
