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

/* --- reading ---------------------------------------------------------------- */

#define HEAD   "diff --git a/a b/a\n"
#define NAMES  HEAD "--- a/a\n+++ b/a\n"
#define CHANGE "@@ -1,2 +1,2 @@\n-x\n+X\n y\n"

/* What a patch makes of a text; NULL `want`: the error is `why`. */
static void check_apply(const char *text, const char *before, const char *want,
                        const char *why)
{
    struct arena a = {0};
    struct patch p = {0};
    struct err e = {0};
    struct str out = STR("");
    bool ok = patch_parse(str_cstr(text), "x.patch", &a, &p, &e) &&
              p.count == 1 &&
              patch_apply(&p.changes[0], str_cstr(before), &a, &out, &e);

    CHECK(ok == (want != NULL));
    CHECK_STR(err_first(&e), why ? why : "");
    if (ok && want)
        CHECK_STR(str_dup0(out, &a), want);
    arena_done(&a);
}

TEST(a_patch_is_applied_at_just_its_lines)
{
    static const struct {
        const char *patch, *before, *want, *why;
    } rows[] = {
        {NAMES CHANGE, "x\ny\n", "X\ny\n", NULL},
        {NAMES CHANGE, "x\ny\nz", "X\ny\nz", NULL},
        {HEAD "index 0123abc..4567def 100644\n--- a/a\n+++ b/a\n" CHANGE,
         "x\ny\n", "X\ny\n", NULL},
        {NAMES "@@ -1,2 +1,2 @@ heading\n-x\n+X\n y\n", "x\ny\n", "X\ny\n",
         NULL},
        {NAMES "@@ -1 +1 @@\n-x\n+X\n@@ -3,0 +5,2 @@\n+b\n+c\n", "x\ny\nz\n",
         NULL, "x.patch:7: its lines do not follow the previous hunk"},
        {NAMES "@@ -1 +1 @@\n-x\n+X\n@@ -3,0 +4 @@\n+b\n", "x\ny\nz\n",
         "X\ny\nz\nb\n", NULL},
        {HEAD "new file mode 100644\n--- /dev/null\n+++ b/a\n"
              "@@ -0,0 +1 @@\n+x\n",
         "", "x\n", NULL},
        {HEAD "new file mode 100644\n", "", "", NULL},
        {HEAD "deleted file mode 100755\n--- a/a\n+++ /dev/null\n"
              "@@ -1 +0,0 @@\n-x\n",
         "x\n", "", NULL},
        {"diff --git \"a/\\303\\244\\\"\" \"b/\\303\\244\\\"\"\n"
         "--- \"a/\\303\\244\\\"\"\n+++ \"b/\\303\\244\\\"\"\n" CHANGE,
         "x\ny\n", "X\ny\n", NULL},
        {"diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n" CHANGE, "x\ny\n",
         "X\ny\n", NULL},
        /* Last lines without their end. */
        {NAMES "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n", "x",
         "x\n", NULL},
        {NAMES "@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n", "x\n",
         "x", NULL},
        {NAMES "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n", "x\n",
         NULL, "a:1 differs from the line in the patch"},
        {NAMES "@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n", "x\nz\n",
         NULL, "a:2 differs from the line in the patch"},
        {NAMES "@@ -1,0 +2 @@\n+b\n", "a", NULL,
         "a:1 differs from the line in the patch"},
        /* Never a line further down, never another context. */
        {NAMES CHANGE, "0\nx\ny\n", NULL,
         "a:1 differs from the line in the patch"},
        {NAMES CHANGE, "x\nz\n", NULL,
         "a:2 differs from the line in the patch"},
        {NAMES CHANGE, "x\n", NULL, "a:1 differs from the line in the patch"},
        {NAMES CHANGE, "x\ny", NULL, "a:2 differs from the line in the patch"},
        {NAMES "@@ -4 +4 @@\n-x\n+X\n", "x\n", NULL,
         "a:2 differs from the line in the patch"},
        {HEAD "deleted file mode 100644\n--- a/a\n+++ /dev/null\n"
              "@@ -1 +0,0 @@\n-x\n",
         "x\ny\n", NULL, "a:2 differs from the line in the patch"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_apply(rows[i].patch, rows[i].before, rows[i].want, rows[i].why);
}

/* The places of hunks in another version, as base and side of a merge [D7]. */
TEST(hunks_are_found_in_another_version)
{
    static const struct {
        const char *hunks, *text, *before, *after;
        bool fits;
    } rows[] = {
        {CHANGE, "x\ny\n", "x\ny\n", "X\ny\n", true},
        {CHANGE, "0\nx\ny\n", "0\nx\ny\n", "0\nX\ny\n", true},
        {CHANGE "@@ -9 +9 @@\n-z\n+Z\n", "0\nx\ny\n1\nz\n", "0\nx\ny\n1\nz\n",
         "0\nX\ny\n1\nZ\n", true},
        /* It is there already. */
        {CHANGE, "0\nX\ny\n", "0\nx\ny\n", "0\nX\ny\n", true},
        /* Two places: the nearer one is proposed. */
        {CHANGE, "x\ny\nx\ny\n", "x\ny\nx\ny\n", "X\ny\nx\ny\n", false},
        {"@@ -3,2 +3,2 @@\n-x\n+X\n y\n", "x\ny\nx\ny\n", "x\ny\nx\ny\n",
         "x\ny\nX\ny\n", false},
        /* Changed in part, or gone. */
        {CHANGE, "0\nx\nz\n", "0\nx\ny\n", "0\nX\ny\n", false},
        {CHANGE, "0\n", "x\ny\n0\n", "X\ny\n0\n", false},
        {CHANGE, "", "x\ny\n", "X\ny\n", false},
        {CHANGE, "x\ny", "x\ny\n", "X\ny\n", false},
        {"@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+X\n", "x\n1\n",
         "x\nx\n1\n", "X\nx\n1\n", false},
        /* No context: any place would do. */
        {"@@ -1,0 +2 @@\n+b\n", "a\nc\n", "a\nc\n", "a\nb\nc\n", false},
        /* In the order of the patch. */
        {"@@ -1 +1 @@\n-x\n+X\n@@ -3 +3 @@\n-y\n+Y\n", "y\nx\n", "y\nx\ny\n",
         "y\nX\nY\n", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct str text = str_concat(
            (struct str[]){STR(NAMES), str_cstr(rows[i].hunks)}, 2, &a);
        struct str before, after;
        struct patch p = {0};
        struct err e = {0};

        CHECK(patch_parse(text, "x.patch", &a, &p, &e) && p.count == 1);
        CHECK(patch_fit(&p.changes[0], str_cstr(rows[i].text), &a, &before,
                        &after) == rows[i].fits);
        CHECK_STR(str_dup0(before, &a), rows[i].before);
        CHECK_STR(str_dup0(after, &a), rows[i].after);
        arena_done(&a);
    }
}

TEST(what_is_no_plain_change_is_refused)
{
    static const struct {
        const char *patch, *why;
    } rows[] = {
        {"x\n", "x.patch:1: no \"diff --git\" line"},
        {NAMES CHANGE "x\n", "x.patch:8: no \"diff --git\" line"},
        {NAMES "@@ -1,2 +1,2 @@\n-x\n+X\n y",
         "x.patch:7: a hunk has other lines than its header says"},
        {"diff --git a/a b/b\n", "x.patch:1: a file keeps its name in a patch"},
        {"diff --git a/a b/ab\n",
         "x.patch:1: a file keeps its name in a patch"},
        {HEAD "--- a/b\n+++ b/a\n" CHANGE,
         "x.patch:2: a file keeps its name in a patch"},
        {HEAD "similarity index 100%\nrename from a\nrename to b\n",
         "x.patch:2: a file that does not change as text"},
        {HEAD "old mode 100644\nnew mode 100755\n",
         "x.patch:2: a file that does not change as text"},
        {HEAD "new file mode 100755\n",
         "x.patch:2: only plain files come and go by a patch"},
        {HEAD "new file mode 120000\n",
         "x.patch:2: only plain files come and go by a patch"},
        {HEAD "deleted file mode 120000\n",
         "x.patch:2: only plain files come and go by a patch"},
        {HEAD "Binary files a/a and b/a differ\n",
         "x.patch:2: a file that does not change as text"},
        {HEAD "GIT binary patch\n",
         "x.patch:2: a file that does not change as text"},
        {HEAD "index zzzz..0000\n",
         "x.patch:2: an \"index\" line that git did not write"},
        {HEAD "--- a/a\n" CHANGE,
         "x.patch:3: the names of both sides are missing"},
        {HEAD "--- /dev/null\n+++ b/a\n" CHANGE,
         "x.patch:2: names begin with a/ "
         "and b/"},
        {HEAD "new file mode 100644\n--- a/a\n+++ b/a\n" CHANGE,
         "x.patch:3: /dev/null stands for a file that is not there"},
        {HEAD "new file mode 100644\n--- /dev/null\n+++ b/a\n" CHANGE,
         "x.patch:5: lines of a file that does not exist"},
        {NAMES, "x.patch:4: a file that does not change as text"},
        {NAMES "@@ -1 +1 @@\n x\n", "x.patch:6: a hunk that changes nothing"},
        {NAMES "@@ -1,3 +1,2 @@\n-x\n",
         "x.patch:6: a hunk has other lines than its header says"},
        {NAMES "@@ -1 +1 @@\n-x\n-y\n",
         "x.patch:6: a hunk has other lines than its header says"},
        {NAMES "@@ -0 +1 @@\n-x\n+y\n", "x.patch:4: not \"@@ -1,2 +1,3 @@\""},
        {NAMES "@@ -1,99999999999 +1 @@\n",
         "x.patch:4: not \"@@ -1,2 +1,3 @@\""},
        {NAMES "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n+z\n",
         "x.patch:8: no \"diff --git\" line"},
        {NAMES "@@ -1,2 +1 @@\n-x\n\\ No newline at end of file\n-y\n+y\n",
         "x.patch:6: lines follow one without an end"},
        {NAMES CHANGE NAMES CHANGE, "x.patch:8: the same file twice"},
        {NAMES CHANGE "@@ -1 +1 @@\n-x\n+X\n",
         "x.patch:8: its lines do not follow the previous hunk"},
        {"diff --git a/../a b/../a\n",
         "x.patch:1: the path leads out of its folder"},
        {"diff --git a//a b//a\n",
         "x.patch:1: the path leads out of its folder"},
        {"diff --git a/ b/\n", "x.patch:1: the path leads out of its folder"},
        {"diff --git a/\xff b/\xff\n",
         "x.patch:1: a name that is not printable UTF-8"},
        {"diff --git a/\x1b b/\x1b\n",
         "x.patch:1: a name that is not printable UTF-8"},
        {"diff --git \"a/\\012\" \"b/\\012\"\n",
         "x.patch:1: a name that is not quoted as git does"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_apply(rows[i].patch, "x\ny\n", NULL, rows[i].why);
}
