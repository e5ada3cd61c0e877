#include "base/diff.h"

#include "tap.h"

static void check_diff(const char *before, const char *after, const char *want)
{
    struct arena a = {0};
    struct diff d;
    struct buf b;

    buf_init(&b, 1 << 20);
    diff_lines(str_cstr(before), str_cstr(after), &a, &d);
    diff_format(&d, 1, &b);
    CHECK_STR(b.p ? b.p : "", want);
    buf_done(&b);
    arena_done(&a);
}

TEST(what_a_person_reads)
{
    static const struct {
        const char *before, *after, *want;
    } rows[] = {
        {"", "", ""},
        {"a\n", "a\n", ""},
        {"a\nb\n", "a\nb\n", ""},
        {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
        {"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
        {"a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n"},
        {"a\nb\nc\n", "a\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c\n"},
        {"a\nc\n", "a\nb\nc\n", "@@ -1,2 +1,3 @@\n a\n+b\n c\n"},
        /* One context between them: one hunk; three lines: two. */
        {"a\nb\nc\nd\n", "A\nb\nc\nD\n",
         "@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n-d\n+D\n"},
        {"a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n",
         "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,2 +4,2 @@\n d\n-e\n+E\n"},
        /* The last line without its end is another one. */
        {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
        {"a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
        {"a", "a", ""},
        {"x\na", "y\na",
         "@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n"},
        /* The fewest changes, not the first that fit. */
        {"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n",
         "@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n"},
        {"a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_diff(rows[i].before, rows[i].after, rows[i].want);
}

TEST(numbers_and_counts)
{
    struct arena a = {0};
    struct diff d;

    diff_lines(STR("a\nb\nc\n"), STR("b\nx\nc\ny\n"), &a, &d);
    CHECK(d.count == 5 && d.removed == 1 && d.added == 2);
    CHECK(d.lines[0].sign == '-' && d.lines[0].before == 1 &&
          d.lines[0].after == 0);
    CHECK(d.lines[1].sign == ' ' && d.lines[1].before == 2 &&
          d.lines[1].after == 1);
    CHECK(d.lines[4].sign == '+' && d.lines[4].before == 0 &&
          d.lines[4].after == 4 && str_is(d.lines[4].text, "y"));
    diff_lines(str_make("a\0b\n", 4), str_make("a\0c\n", 4), &a, &d);
    CHECK(d.removed == 1 && d.added == 1 && d.lines[0].text.n == 3);
    arena_done(&a);
}

/* The lines of `d` but those of one sign are one of the texts again. */
static void check_side(const struct diff *d, char without, struct str text)
{
    struct buf b;

    buf_init(&b, 64u << 20);
    for (size_t i = 0; i < d->count; i++) {
        if (d->lines[i].sign == without)
            continue;
        buf_append(&b, d->lines[i].text);
        if (!d->lines[i].bare)
            buf_char(&b, '\n');
    }
    CHECK(str_eq(buf_str(&b), text));
    buf_done(&b);
}

TEST(both_texts_are_in_it)
{
    uint32_t seed = 1;

    for (int round = 0; round < 300; round++) {
        struct arena a = {0};
        struct buf texts[2];
        struct diff d;

        for (int side = 0; side < 2; side++) {
            buf_init(&texts[side], 1 << 20);
            for (int i = 0; i < round; i++) {
                seed = seed * 1103515245 + 12345;
                buf_char(&texts[side], (char)('a' + (seed >> 16) % 4));
                if ((seed >> 24) % 3)
                    buf_char(&texts[side], '\n');
            }
        }
        diff_lines(buf_str(&texts[0]), buf_str(&texts[1]), &a, &d);
        check_side(&d, '+', buf_str(&texts[0]));
        check_side(&d, '-', buf_str(&texts[1]));
        buf_done(&texts[0]);
        buf_done(&texts[1]);
        arena_done(&a);
    }
}

/* [row 16] text from outside cannot make it slow or large. */
TEST(it_is_bounded)
{
    static const struct {
        const char *before, *after;
        int count;
    } rows[] = {
        {"a\n", "b\n", DIFF_MAX_EDITS / 2},
        {"a\n", "b\n", DIFF_MAX_EDITS / 2 + 1},
        {"a\n", "b\n", DIFF_MAX_LINES - 1},
        {"a\n", "b\n", DIFF_MAX_LINES},
        {"a\n", "b\n", DIFF_MAX_LINES + 1},
        {"a\nb\n", "a\n", DIFF_MAX_LINES / 2},
        {"\n", "a\n\n", DIFF_MAX_LINES},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct buf before, after;
        struct diff d;

        buf_init(&before, 64u << 20);
        buf_init(&after, 64u << 20);
        for (int k = 0; k < rows[i].count; k++) {
            buf_text(&before, rows[i].before);
            buf_text(&after, rows[i].after);
        }
        diff_lines(buf_str(&before), buf_str(&after), &a, &d);
        CHECK(d.count <= 2 * DIFF_MAX_LINES && d.added > 0);
        check_side(&d, '+', buf_str(&before));
        check_side(&d, '-', buf_str(&after));
        buf_done(&before);
        buf_done(&after);
        arena_done(&a);
    }
}

/* --- both sides ------------------------------------------------------------- */

TEST(what_both_sides_made)
{
    static const struct {
        const char *base, *ours, *theirs, *want;
        size_t conflicts;
    } rows[] = {
        {"", "", "", "", 0},
        {"a\n", "a\n", "b\n", "b\n", 0},
        {"a\n", "b\n", "a\n", "b\n", 0},
        {"a\n", "b\n", "b\n", "b\n", 0},
        {"a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", 0},
        {"a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n", "b\nc\nd\n", 0},
        {"a\nb\nc\n", "a\nx\nb\nc\n", "a\nb\ny\nc\n", "a\nx\nb\ny\nc\n", 0},
        {"a\nb\nc\nd\n", "a\nd\n", "a\nd\n", "a\nd\n", 0},
        {"a\n", "b\n", "c\n", "<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n",
         1},
        /* Neighbours: as git, nobody knows whether they fit. */
        {"a\nb\n", "A\nb\n", "a\nB\n",
         "<<<<<<< ours\nA\nb\n=======\na\nB\n>>>>>>> theirs\n", 1},
        {"a\n", "a\nx\n", "a\ny\n",
         "a\n<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n", 1},
        {"a\nb\nc\n", "", "a\nB\nc\n",
         "<<<<<<< ours\n=======\na\nB\nc\n>>>>>>> theirs\n", 1},
        {"a\nb\nc\nd\ne\n", "1\nb\nc\nd\n2\n", "3\nb\nc\nd\n4\n",
         "<<<<<<< ours\n1\n=======\n3\n>>>>>>> theirs\nb\nc\nd\n"
         "<<<<<<< ours\n2\n=======\n4\n>>>>>>> theirs\n",
         2},
        {"a", "a\n", "b", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", 1},
        {"a\nb\nc", "A\nb\nc", "a\nb\nc", "A\nb\nc", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;

        buf_init(&b, 1 << 20);
        CHECK(diff_merge(str_cstr(rows[i].base), str_cstr(rows[i].ours),
                         str_cstr(rows[i].theirs), "ours", "theirs",
                         &b) == rows[i].conflicts);
        CHECK_STR(b.p ? b.p : "", rows[i].want);
        buf_done(&b);
    }
}
