#include "mapm/range.h"

#include "case_file.h"

/* Versions of tags and ranges of them: [D6]. */

/* Each is lower than the next: semver 2.0.0, 11.4. */
static const char *const ascending[] = {
    "0.0.0-0",
    "0.0.0",
    "0.0.1",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-99999999999999999999999",
    "1.0.0-0a",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.10",
    "1.9.0",
    "1.10.0",
    "2.0.0",
};

TEST(versions_have_the_order_of_semver) /* [D6] */
{
    size_t count = sizeof ascending / sizeof *ascending;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            struct semver x, y;

            CHECK(semver_parse(str_cstr(ascending[i]), &x));
            CHECK(semver_parse(str_cstr(ascending[k]), &y));
            CHECK((semver_cmp(&x, &y) < 0) == (i < k));
            CHECK((semver_cmp(&x, &y) > 0) == (i > k));
        }
}

TEST(versions_are_three_numbers) /* [D6] */
{
    static const char *const bad[] = {
        "",       "1",      "1.2",       "v1.2.3",     "1.2.3.4",  "01.2.3",
        "1.2.3-", "1.2.3+", "1.2.3-a+",  "1.2.3-a..b", "1.2.3-01", "1.2.x",
        " 1.2.3", "1.2.3 ", "1.2.3-a_b", "+1.2.3",     "-1.2.3",   "1.2.3+a+b"};
    struct semver x, y;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!semver_parse(str_cstr(bad[i]), &x));
    CHECK(semver_parse(STR("1.2.3-a-b.0+01.-"), &x));
    CHECK(str_is(x.pre, "a-b.0"));
    CHECK(semver_parse(STR("1.2.3-a-b.0+c"), &y));
    CHECK(semver_cmp(&x, &y) == 0);
}

static void check_versions(const struct case_row *row, struct str versions,
                           bool allowed)
{
    struct err e = {0};
    struct range r;
    struct str one;

    CHECK(range_is_meant(row->cells[0]));
    if (!range_parse(row->cells[0], &r, &e)) {
        printf("# allows.txt:%u: %s\n", row->line, err_first(&e));
        CHECK(false);
        return;
    }
    while (str_cut(&versions, ' ', &one)) {
        struct semver v;

        if (one.n == 0)
            continue;
        CHECK(semver_parse(one, &v));
        if (range_allows(&r, &v) != allowed)
            printf("# allows.txt:%u: %.*s\n", row->line, STR_ARG(one));
        CHECK(range_allows(&r, &v) == allowed);
    }
}

TEST(what_ranges_allow) /* [D6] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    const struct case_row *rows =
        case_rows("tests/cases/range/allows.txt", '\\', " | ", 3, &a, &count);

    CHECK(count > 25);
    for (size_t i = 0; i < count; i++) {
        check_versions(&rows[i], rows[i].cells[1], true);
        check_versions(&rows[i], rows[i].cells[2], false);
    }
}

TEST(what_is_no_range_is_refused_with_what_to_write) /* [D6] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    const struct case_row *rows =
        case_rows("tests/cases/range/refused.txt", '\\', " | ", 2, &a, &count);

    CHECK(count > 25);
    for (size_t i = 0; i < count; i++) {
        struct err e = {0};
        struct range r;

        if (range_parse(rows[i].cells[1], &r, &e) ||
            !strstr(e.hint, rows[i].cells[0].p))
            printf("# refused.txt:%u: %s\n", rows[i].line, e.hint);
        CHECK(e.code == ERR_ORIGIN && strstr(e.hint, rows[i].cells[0].p));
    }
}

TEST(refs_are_no_ranges) /* [D6] */
{
    static const char *const refs[] = {
        "main",        "v1.2.3", "1.2.3", "1.x", "v1", "release-1.2",
        "feature/a,b", "x@1.0",  "a=b",   "1,2", "",   "-1.2"};

    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++)
        CHECK(!range_is_meant(str_cstr(refs[i])));
    CHECK(range_is_meant(STR("1.2 - 2.0")));
    CHECK(range_is_meant(STR("v1||v2")));
    CHECK(range_is_meant(STR("=1.2.3")));
}

TEST(tags_are_versions_of_a_package_in_nine_forms) /* [D6] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    const struct case_row *rows =
        case_rows("tests/cases/range/tags.txt", '\\', " | ", 4, &a, &count);

    CHECK(count > 25);
    for (size_t i = 0; i < count; i++) {
        const struct str *cells = rows[i].cells;
        unsigned form = TAG_FORM_COUNT;
        struct semver v, expected;
        bool ok = tag_version(cells[1], cells[0], &v, &form);
        bool good = ok == (cells[2].n > 0);

        if (ok && good)
            good = (char)('0' + form) == cells[2].p[0] &&
                   semver_parse(cells[3], &expected) &&
                   semver_cmp(&v, &expected) == 0;
        if (!good)
            printf("# tags.txt:%u: form %u\n", rows[i].line, form);
        CHECK(good);
    }
}

TEST(escapes_of_urls_are_read_and_a_comma_is_written_as_one) /* [D6] */
{
    CLEANUP(arena_done) struct arena a = {0};

    CHECK(str_is(range_unescape(STR("%5E1.2"), &a), "^1.2"));
    CHECK(str_is(range_unescape(STR("%3e%3D1%2c%3c2"), &a), ">=1,<2"));
    CHECK(str_is(range_unescape(STR("%7E1%2F%2"), &a), "~1%2F%2"));
    CHECK(str_is(range_unescape(STR("%2A"), &a), "*"));
    CHECK(str_is(range_escape(STR(">=1,<2,<3"), &a), ">=1%2C<2%2C<3"));
    CHECK(str_is(range_escape(STR("^1"), &a), "^1"));
}

TEST(a_set_allows_what_all_of_it_allow) /* [D6] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct range_set s;
    struct semver v;
    struct err e = {0};
    struct str many = STR("*");

    CHECK(range_set_parse(STR("^1.2 <=1.5.0 >=1.3"), &a, &s, &e));
    CHECK(s.count == 3 && semver_parse(STR("1.5.0"), &v));
    CHECK(range_set_allows(&s, &v) && semver_parse(STR("1.5.1"), &v));
    CHECK(!range_set_allows(&s, &v));
    /* A pre-release has to be named by each of them. */
    CHECK(range_set_parse(STR("^1.2.0-a *"), &a, &s, &e));
    CHECK(semver_parse(STR("1.2.0-b"), &v) && !range_set_allows(&s, &v));
    CHECK(!range_set_parse(STR("^1 x"), &a, &s, &e));
    err_clear(&e);
    for (size_t i = 1; i < RANGE_SET_MAX; i++)
        many = str_join(many, STR(" *"), &a);
    CHECK(range_set_parse(many, &a, &s, &e) && s.count == RANGE_SET_MAX);
    CHECK(!range_set_parse(str_join(many, STR(" *"), &a), &a, &s, &e));
    CHECK(e.code == ERR_LIMIT);
}
