#include "base/base64.h"
#include "base/path.h"
#include "base/str.h"

#include "tap.h"

TEST(comparing_is_by_bytes)
{
    CHECK(str_eq(STR("a"), str_cstr("a")));
    CHECK(!str_eq(STR("a"), STR("A")));
    CHECK(str_eq(str_cstr(NULL), STR("")) && str_cstr(NULL).p != NULL);
    CHECK(str_eq((struct str){0}, STR("")));
    CHECK(!str_eq(str_make("a\0b", 3), str_make("a\0c", 3)));
    CHECK(!str_is(str_make("a\0", 2), "a")); /* [row 5] no NUL ends a name */
    CHECK(str_is(STR("name"), "name"));
    CHECK(str_eq_nocase(STR("SKILL.md"), STR("skill.MD")));
    CHECK(!str_eq_nocase(STR("ab"), STR("abc")));
    CHECK(!str_eq_nocase(STR("\xc3\x84"), STR("\xc3\xa4"))); /* ASCII only */
    CHECK(!str_eq_nocase(STR("@"), STR("`")));
    CHECK(str_cmp(STR("a"), STR("b")) < 0);
    CHECK(str_cmp(STR("a"), STR("ab")) < 0);
    CHECK(str_cmp(STR("\xff"), STR("a")) > 0);
    CHECK(str_cmp(STR(""), (struct str){0}) == 0);
}

TEST(base64_has_padding)
{
    static const char *const rows[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xfb\xff", "+/8="},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(base64_format(str_cstr(rows[i][0]), &a).p, rows[i][1]);
    arena_done(&a);
}

TEST(base64_is_parsed)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zg", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"+/8=", "\xfb\xff"},
        {"Z-", NULL},
        {"Zg=v", NULL},
        {"Z g=", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(buf_done) struct buf b = {0};

        buf_init(&b, 4);
        CHECK(base64_parse(str_cstr(rows[i][0]), &b) == (rows[i][1] != NULL));
        if (rows[i][1])
            CHECK(str_eq(buf_str(&b), str_cstr(rows[i][1])));
    }
}

TEST(base64_ends_where_the_buffer_is_full)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 3);
    CHECK(!base64_parse(STR("Zm9vYg=="), &b));
}

TEST(starts_and_ends)
{
    CHECK(str_starts(STR("abc"), STR("ab")) && str_starts(STR("a"), STR("")));
    CHECK(!str_starts(STR("ab"), STR("abc")));
    CHECK(str_ends(STR("abc"), STR("bc")) && str_ends(STR("a"), STR("")));
    CHECK(!str_ends(STR("bc"), STR("abc")));
}

TEST(finding)
{
    CHECK(str_find(STR("abcabc"), STR("ca")) == 2);
    CHECK(str_find(STR("abc"), STR("")) == 0);
    CHECK(str_find(STR("abc"), STR("x")) == SIZE_MAX);
    CHECK(str_find((struct str){0}, STR("x")) == SIZE_MAX);
    CHECK(str_find_char(STR("a/b/c"), '/') == 1);
    CHECK(str_find_last(STR("a/b/c"), '/') == 3);
    CHECK(str_find_char(STR(""), '/') == SIZE_MAX);
    CHECK(str_find_last((struct str){0}, '/') == SIZE_MAX);
    CHECK(str_has_char(str_make("a\0", 2), '\0') && !str_has_char(STR("a"), 0));
}

TEST(lists_are_sorted_by_bytes_and_searched)
{
    struct str list[] = {STR_INIT("b"), STR_INIT("ab"), STR_INIT("a"),
                         STR_INIT("B")};
    static const char *const words[] = {"one", "two"};
    struct {
        int number;
        struct str name;
    } rows[] = {{1, STR_INIT("z")}, {2, STR_INIT("y")}, {3, STR_INIT("x")}};

    CHECK(str_in(list, 4, STR("a")) && !str_in(list, 2, STR("a")));
    CHECK(!str_in(NULL, 0, STR("")));
    str_sort(list, 4);
    CHECK(str_is(list[0], "B") && str_is(list[1], "a") &&
          str_is(list[2], "ab") && str_is(list[3], "b"));
    STR_SORT_BY(rows, 3, name);
    CHECK(rows[0].number == 3 && rows[1].number == 2 && rows[2].number == 1);
    str_sort(NULL, 0);
    CHECK(STR_IS_ONE_OF(STR("two"), words) && !STR_IS_ONE_OF(STR("t"), words));
    CHECK(STR_FIRST_AT(rows, 3, name, STR("y")) == 1);
    CHECK(STR_FIRST_AT(rows, 3, name, STR("")) == 0);
    CHECK(STR_FIRST_AT(rows, 3, name, STR("zz")) == 3);
    CHECK(str_in_sorted(list, 4, STR("ab")) &&
          !str_in_sorted(list, 4, STR("c")));
}

TEST(slices_stay_inside)
{
    static const struct {
        size_t from, to;
        const char *text;
    } rows[] = {
        {0, 3, "abc"}, {1, 2, "b"},          {1, 99, "bc"},
        {3, 3, ""},    {2, 1, ""},           {SIZE_MAX, SIZE_MAX, ""},
        {9, 1, ""},    {0, SIZE_MAX, "abc"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(str_is(str_slice(STR("abc"), rows[i].from, rows[i].to),
                     rows[i].text));
    CHECK(str_is(str_from_index(STR("abc"), 2), "c"));
    CHECK(str_is(str_from_index(STR("abc"), 4), ""));
    CHECK(str_slice((struct str){0}, 0, 1).n == 0);
    CHECK(str_is(str_trim(STR(" \t\r\n a b \n")), "a b"));
    CHECK(str_is(str_trim(STR(" \n ")), ""));
    CHECK(str_is(str_trim((struct str){0}), ""));
}

TEST(cutting_at_a_separator)
{
    static const struct {
        const char *text, *parts; /* each in brackets */
    } rows[] = {
        {"a,b,c", "[a][b][c]"}, {"a", "[a]"},    {"", "[]"},
        {",", "[][]"},          {"a,", "[a][]"}, {",,a", "[][][a]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str rest = str_cstr(rows[i].text), part;
        char seen[64] = "";

        while (str_cut(&rest, ',', &part)) {
            strcat(seen, "[");
            strncat(seen, part.p, part.n);
            strcat(seen, "]");
        }
        CHECK_STR(seen, rows[i].parts);
        CHECK(rest.p == NULL && !str_cut(&rest, ',', &part));
    }
}

TEST(lines_end_in_lf_or_crlf)
{
    struct str rest = STR("one\r\n\ntwo\rx\nlast"), line;

    CHECK(str_line(&rest, &line) && str_is(line, "one"));
    CHECK(str_line(&rest, &line) && str_is(line, ""));
    CHECK(str_line(&rest, &line) && str_is(line, "two\rx"));
    CHECK(str_line(&rest, &line) && str_is(line, "last"));
    CHECK(!str_line(&rest, &line));
    rest = STR("a\n");
    CHECK(str_line(&rest, &line) && str_is(line, "a"));
    CHECK(!str_line(&rest, &line));
    rest = STR("");
    CHECK(!str_line(&rest, &line));
}

TEST(copies_in_an_arena)
{
    struct arena a = {0};

    CHECK_STR(str_dup0(str_make("abc", 2), &a), "ab");
    CHECK_STR(str_lower(STR("SkIlL\xc3\x84[Z"), &a).p, "skill\xc3\x84[z");
    CHECK_STR(str_join(STR("a"), STR("b"), &a).p, "ab");
    CHECK_STR(str_join((struct str){0}, (struct str){0}, &a).p, "");
    arena_done(&a);
}

TEST(numbers_are_whole_or_refused)
{
    static const struct {
        const char *text;
        uint64_t max, value;
        bool good;
    } rows[] = {
        {"0", 0, 0, true},
        {"1", 0, 0, false},
        {"9", 8, 0, false},
        {"8", 8, 8, true},
        {"007", 7, 7, true},
        {"64", 64, 64, true},
        {"65", 64, 0, false},
        {"640", 64, 0, false},
        {"18446744073709551615", UINT64_MAX, UINT64_MAX, true},
        {"18446744073709551616", UINT64_MAX, 0, false},
        {"99999999999999999999999", UINT64_MAX, 0, false},
        {"", 9, 0, false},
        {"-1", 9, 0, false},
        {"+1", 9, 0, false},
        {" 1", 9, 0, false},
        {"1 ", 9, 0, false},
        {"0x1", 99, 0, false},
        {"1e3", 9999, 0, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 42;

        CHECK(str_number(str_cstr(rows[i].text), rows[i].max, &value) ==
              rows[i].good);
        CHECK(value == (rows[i].good ? rows[i].value : 42));
    }
}

TEST(whole_texts_have_a_class)
{
    CHECK(str_is_digits(STR("09")) && !str_is_digits(STR("")));
    CHECK(!str_is_digits(STR("1a")) && !str_is_digits(STR("/1")));
    CHECK(str_is_hex(STR("09af")) && !str_is_hex(STR("A")));
    CHECK(str_is_hex(STR("")) && !str_is_hex(STR("0g")));
    CHECK(str_is_ascii(STR("a~")) && !str_is_ascii(STR("a\x80")));
}

TEST(hexadecimal_digits_have_either_case)
{
    CHECK(char_hex('0') == 0 && char_hex('9') == 9 && char_hex('a') == 10);
    CHECK(char_hex('F') == 15 && char_hex('g') == -1 && char_hex('/') == -1);
    CHECK(char_hex(':') == -1 && char_hex('@') == -1 && char_hex('`') == -1);
}

TEST(the_folder_of_a_path_ends_at_the_root)
{
    CHECK(str_is(path_folder(STR("a/b/c")), "a/b"));
    CHECK(str_is(path_folder(STR("/a/b")), "/a"));
    CHECK(str_is(path_folder(STR("/a")), "/"));
    CHECK(str_is(path_folder(STR("/")), ""));
    CHECK(str_is(path_folder(STR("a")), ""));
    CHECK(str_is(path_folder(STR("")), ""));
}

TEST(character_classes_are_ascii)
{
    CHECK(char_is_digit('0') && char_is_digit('9') && !char_is_digit('a'));
    CHECK(char_is_lower('a') && char_is_lower('z') && !char_is_lower('A'));
    CHECK(char_is_alpha('A') && char_is_alpha('z') && !char_is_alpha('\xe4'));
    CHECK(char_is_hex('f') && char_is_hex('0') && !char_is_hex('F'));
    CHECK(!char_is_hex('g') && !char_is_alpha('@') && !char_is_alpha('['));
}
