#include "base/text.h"

#include "tap.h"

static const struct {
    const char *text;
    size_t n;
    bool good;
} utf8_rows[] = {
    {"", 0, true},
    {"plain ascii, longer than eight", 30, true},
    {"a\0b", 3, true},
    {"gr\xc3\xbc\xc3\x9f", 6, true},
    {"\xc2\x80", 2, true},              /* the first of two bytes */
    {"\xdf\xbf", 2, true},              /* the last of two */
    {"\xe0\xa0\x80", 3, true},          /* the first of three */
    {"\xed\x9f\xbf", 3, true},          /* before the surrogates */
    {"\xee\x80\x80", 3, true},          /* after them */
    {"\xef\xbf\xbf", 3, true},          /* noncharacters are text */
    {"\xf0\x90\x80\x80", 4, true},      /* the first of four */
    {"\xf4\x8f\xbf\xbf", 4, true},      /* U+10FFFF */
    {"\x80", 1, false},                 /* a continuation alone */
    {"\xc0\xaf", 2, false},             /* overlong "/" */
    {"\xc1\xbf", 2, false},             /* overlong */
    {"\xe0\x9f\xbf", 3, false},         /* overlong */
    {"\xf0\x8f\xbf\xbf", 4, false},     /* overlong */
    {"\xed\xa0\x80", 3, false},         /* U+D800 */
    {"\xed\xbf\xbf", 3, false},         /* U+DFFF */
    {"\xf4\x90\x80\x80", 4, false},     /* U+110000 */
    {"\xf8\x88\x80\x80\x80", 5, false}, /* five bytes */
    {"\xff", 1, false},
    {"abcdefgh\xc3", 9, false},      /* cut at the end */
    {"abcdefgh\xe2\x82", 10, false}, /* cut at the end */
    {"\xe2\x82g", 3, false},         /* cut inside */
    {"\xc3\xbc"
     "abcdefgh\xff",
     11, false}, /* bad after a fast run */
};

/* [row 1, row 7] strict UTF-8, and decoding agrees with the verdict. */
TEST(utf8_is_strict)
{
    for (size_t i = 0; i < sizeof utf8_rows / sizeof *utf8_rows; i++) {
        struct str s = str_make(utf8_rows[i].text, utf8_rows[i].n);
        bool bad = false;

        CHECK(text_is_utf8(s) == utf8_rows[i].good);
        for (size_t at = 0; at < s.n;)
            bad |= text_next(s, &at) < 0;
        CHECK(bad != utf8_rows[i].good);
    }
}

TEST(next_moves_one_past_a_bad_byte_and_stays_at_the_end)
{
    struct str s = STR("\xe2\x82"
                       "a");
    size_t at = 0;

    CHECK(text_next(s, &at) == -1 && at == 1);
    CHECK(text_next(s, &at) == -1 && at == 2);
    CHECK(text_next(s, &at) == 'a' && at == 3);
    CHECK(text_next(s, &at) == -1 && at == 3);
}

/* [X5] the unit is the code point. */
TEST(count_and_cut_go_by_code_points)
{
    char name[65 * 2 + 1];

    CHECK(text_count(STR("")) == 0);
    CHECK(text_count(STR("gr\xc3\xbc\xc3\x9f")) == 4);
    CHECK(text_count(STR("\xf0\x9f\x98\x80")) == 1);
    for (size_t i = 0; i < 65; i++)
        memcpy(name + 2 * i, "\xc3\xa4", 2);
    CHECK(text_count(str_make(name, 64 * 2)) == 64);
    CHECK(text_count(str_make(name, 65 * 2)) == 65);
    CHECK(text_cut(str_make(name, 65 * 2), 64).n == 128);
    CHECK(text_cut(str_make(name, 64 * 2), 64).n == 128);
    CHECK(text_cut(str_make(name, 64 * 2), 0).n == 0);
    CHECK(text_cut(STR("abc"), 2).n == 2);
}

TEST(put_writes_what_next_reads)
{
    static const int32_t points[] = {0x41,  0x7f,   0x80,    0x7ff,
                                     0x800, 0xffff, 0x10000, 0x10ffff};
    struct buf b;
    size_t at = 0;

    buf_init(&b, 100);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        text_put(&b, points[i]);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        CHECK(text_next(buf_str(&b), &at) == points[i]);
    CHECK(at == b.n);
    buf_clear(&b);
    text_put(&b, 0xd800);
    text_put(&b, -1);
    text_put(&b, 0x110000);
    CHECK_STR(b.p, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    buf_done(&b);
}

#define SCOTLAND                                                               \
    "\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xb3"         \
    "\xf3\xa0\x81\xa3\xf3\xa0\x81\xb4\xf3\xa0\x81\xbf"
#define FAMILY "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9"
#define TAG_A  "\xf3\xa0\x81\xa1"

static const struct {
    const char *text;
    enum text_hidden kind;
    size_t offset;
    int32_t point;
    const char *shown;
} hidden_rows[] = {
    {"plain", TEXT_HIDDEN_NONE, 0, 0, "plain"},
    {"\xe6\x97\xa5\xe6\x9c\xac", TEXT_HIDDEN_NONE, 0, 0,
     "\xe6\x97\xa5\xe6\x9c\xac"},
    /* tags */
    {"x" TAG_A, TEXT_HIDDEN_TAG, 1, 0xe0061, "x\\u{e0061}"},
    {SCOTLAND " ok", TEXT_HIDDEN_NONE, 0, 0, SCOTLAND " ok"},
    {SCOTLAND TAG_A, TEXT_HIDDEN_TAG, 28, 0xe0061, SCOTLAND "\\u{e0061}"},
    {"\xf0\x9f\x8f\xb4" TAG_A TAG_A TAG_A, TEXT_HIDDEN_TAG, 4, 0xe0061,
     "\xf0\x9f\x8f\xb4\\u{e0061}\\u{e0061}\\u{e0061}"}, /* no end */
    {"\xf0\x9f\x8f\xb4" TAG_A TAG_A "\xf3\xa0\x81\xbf", TEXT_HIDDEN_TAG, 4,
     0xe0061, "\xf0\x9f\x8f\xb4\\u{e0061}\\u{e0061}\\u{e007f}"},
    {"\xf3\xa0\x80\x81", TEXT_HIDDEN_TAG, 0, 0xe0001, "\\u{e0001}"},
    {"\xf3\xa0\x82\x80", TEXT_HIDDEN_TAG, 0, 0xe0080, "\\u{e0080}"},
    /* bidi */
    {"a\xe2\x80\xae"
     "b",
     TEXT_HIDDEN_BIDI, 1, 0x202e, "a\\u{202e}b"},
    {"\xe2\x81\xa6", TEXT_HIDDEN_BIDI, 0, 0x2066, "\\u{2066}"},
    {"\xe2\x81\xa9", TEXT_HIDDEN_BIDI, 0, 0x2069, "\\u{2069}"},
    {"\xd8\x9c", TEXT_HIDDEN_BIDI, 0, 0x61c, "\\u{61c}"},
    {"\xe2\x80\x8f", TEXT_HIDDEN_BIDI, 0, 0x200f, "\\u{200f}"},
    {"\xd7\xa9\xd7\x9c", TEXT_HIDDEN_NONE, 0, 0, "\xd7\xa9\xd7\x9c"},
    /* variation selectors */
    {"\xe2\x9d\xa4\xef\xb8\x8f", TEXT_HIDDEN_NONE, 0, 0,
     "\xe2\x9d\xa4\xef\xb8\x8f"},
    {"a\xef\xb8\x8e", TEXT_HIDDEN_NONE, 0, 0, "a\xef\xb8\x8e"},
    {"a\xef\xb8\x80", TEXT_HIDDEN_VARIATION, 1, 0xfe00, "a\\u{fe00}"},
    {"a\xef\xb8\x8d", TEXT_HIDDEN_VARIATION, 1, 0xfe0d, "a\\u{fe0d}"},
    {"a\xf3\xa0\x84\x80", TEXT_HIDDEN_VARIATION, 1, 0xe0100, "a\\u{e0100}"},
    {"a\xf3\xa0\x87\xaf", TEXT_HIDDEN_VARIATION, 1, 0xe01ef, "a\\u{e01ef}"},
    {"\xe1\xa0\x8b", TEXT_HIDDEN_VARIATION, 0, 0x180b, "\\u{180b}"},
    {"\xe1\xa0\x8f", TEXT_HIDDEN_VARIATION, 0, 0x180f, "\\u{180f}"},
    /* zero width */
    {"a\xe2\x80\x8b", TEXT_HIDDEN_ZERO_WIDTH, 1, 0x200b, "a\\u{200b}"},
    {"a\xe2\x80\x8d"
     "b",
     TEXT_HIDDEN_ZERO_WIDTH, 1, 0x200d, "a\\u{200d}b"},
    {FAMILY, TEXT_HIDDEN_NONE, 0, 0, FAMILY},
    {"\xf0\x9f\x91\xa8\xf0\x9f\x8f\xbd\xe2\x80\x8d\xf0\x9f\x92\xbb",
     TEXT_HIDDEN_NONE, 0, 0,
     "\xf0\x9f\x91\xa8\xf0\x9f\x8f\xbd\xe2\x80\x8d\xf0\x9f\x92\xbb"},
    {"\xf0\x9f\x91\xa8\xe2\x80\x8d"
     "x",
     TEXT_HIDDEN_ZERO_WIDTH, 4, 0x200d, "\xf0\x9f\x91\xa8\\u{200d}x"},
    {"\xef\xbb\xbf#", TEXT_HIDDEN_ZERO_WIDTH, 0, 0xfeff, "\\u{feff}#"},
    {"\xe2\x81\xa0", TEXT_HIDDEN_ZERO_WIDTH, 0, 0x2060, "\\u{2060}"},
    /* reports the most serious one, and the first of its kind */
    {"\xe2\x80\x8b\xe2\x80\xae\xe2\x80\xad" TAG_A TAG_A, TEXT_HIDDEN_TAG, 9,
     0xe0061, "\\u{200b}\\u{202e}\\u{202d}\\u{e0061}\\u{e0061}"},
    {"\xe2\x80\x8b\xe2\x80\xae\xe2\x80\xad", TEXT_HIDDEN_BIDI, 3, 0x202e,
     "\\u{200b}\\u{202e}\\u{202d}"},
};

/* [row 7] what is reported is what is escaped. */
TEST(hidden_characters_are_found_and_shown)
{
    struct buf b;

    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof hidden_rows / sizeof *hidden_rows; i++) {
        size_t offset = 0;
        int32_t point = 0;
        struct str s = str_cstr(hidden_rows[i].text);

        CHECK(text_find_hidden(s, &offset, &point) == hidden_rows[i].kind);
        CHECK(text_find_hidden(s, NULL, NULL) == hidden_rows[i].kind);
        CHECK(offset == hidden_rows[i].offset);
        CHECK(point == hidden_rows[i].point);
        buf_clear(&b);
        text_visible(&b, s, false);
        CHECK_STR(buf_str(&b).p, hidden_rows[i].shown);
    }
    buf_done(&b);
    CHECK_STR(text_hidden_name(TEXT_HIDDEN_BIDI), "bidirectional control");
}

static const struct {
    const char *text;
    size_t n;
    bool lines, control;
    const char *shown;
} visible_rows[] = {
    {"", 0, false, false, ""},
    {"a\tb", 3, false, true, "a\tb"},
    {"a\nb", 3, false, true, "a\\x0ab"},
    {"a\nb", 3, true, true, "a\nb"},
    {"a\rb", 3, true, true, "a\\x0db"},
    {"\x1b[31m", 5, true, true, "\\x1b[31m"},
    {"a\0b", 3, true, true, "a\\x00b"},
    {"\x7f", 1, true, true, "\\x7f"},
    {"\xc2\x9b"
     "1m",
     4, true, true, "\\u{9b}1m"},
    {"\xc2\x80\xc2\x9f\xc2\xa0", 6, true, true, "\\u{80}\\u{9f}\xc2\xa0"},
    {"\x9b"
     "1m",
     3, true, true, "\\x9b1m"},
    {"\xff\xc3", 2, true, false, "\\xff\\xc3"},
    {"\xe2\x80\xa8\xe2\x80\xa9", 6, true, false, "\\u{2028}\\u{2029}"},
    {"gr\xc3\xbc\xc3\x9f \\x", 9, true, false, "gr\xc3\xbc\xc3\x9f \\x"},
};

/* [row 7]. */
TEST(a_terminal_can_only_print_what_is_visible)
{
    struct buf b;

    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof visible_rows / sizeof *visible_rows; i++) {
        struct str s = str_make(visible_rows[i].text, visible_rows[i].n);

        buf_clear(&b);
        text_visible(&b, s, visible_rows[i].lines);
        CHECK_STR(buf_str(&b).p, visible_rows[i].shown);
        CHECK(text_has_control(s) == visible_rows[i].control);
    }
    CHECK(text_is_visible(STR("gr\xc3\xbc\xc3\x9f \\x")));
    CHECK(!text_is_visible(STR("a\tb")) && !text_is_visible(STR("\xff")));
    CHECK(!text_is_visible(STR("1.0\xe2\x80\x8b"))); /* of no width */
    buf_done(&b);
}

static const struct {
    const char *x, *y;
    bool same;
} fold_rows[] = {
    {"SKILL.md", "skill.MD", true},
    {"\xc3\xa9", "e\xcc\x81", true}, /* NFC and NFD */
    {"\xc3\x89", "e\xcc\x81", true}, /* and another case */
    {"stra\xc3\x9f"
     "e",
     "STRASSE", true},
    {"\xe1\xba\x9e", "ss", true},
    {"\xcf\x83", "\xcf\x82", true}, /* sigma and final sigma */
    {"\xe2\x84\xaa", "k", true},    /* the Kelvin sign */
    {"\xef\xac\x81", "FI", true},   /* ligature: full folding */
    {"a", "b", false},
    {"\xc3\xa4", "a", false},
    {"\xff", "\xfe", false}, /* not UTF-8: by bytes */
    {"", "", true},
};

/* [row 3]. */
TEST(names_that_collide_have_one_key)
{
    struct arena a = {0};

    for (size_t i = 0; i < sizeof fold_rows / sizeof *fold_rows; i++) {
        struct str x = text_fold(str_cstr(fold_rows[i].x), &a);
        struct str y = text_fold(str_cstr(fold_rows[i].y), &a);

        CHECK(str_eq(x, y) == fold_rows[i].same);
        CHECK(str_eq(text_fold(x, &a), x));
    }
    arena_done(&a);
}

/* [A1, X25]. */
TEST(nfkc_and_one_line)
{
    struct arena a = {0};

    CHECK_STR(text_nfkc(STR(" \tname\n"), &a).p, "name");
    CHECK_STR(text_nfkc(STR("\xef\xbd\x81\xef\xac\x81"), &a).p, "afi");
    CHECK_STR(text_nfkc(STR("cafe\xcc\x81"), &a).p, "caf\xc3\xa9");
    CHECK_STR(text_nfkc(STR("\xe3\x80\x80x\xc2\xa0"), &a).p, "x");
    CHECK(text_nfkc(STR(" \n"), &a).n == 0);
    CHECK_STR(text_one_line(STR("  two\n  words\t\r\nhere \n"), &a).p,
              "two words here");
    CHECK_STR(text_one_line(STR(""), &a).p, "");
    CHECK_STR(text_one_line(STR(" \n "), &a).p, "");
    CHECK_STR(text_one_line(STR("a\xc2\xa0\xe2\x80\xa8"
                                "b"),
                            &a)
                  .p,
              "a b");
    arena_done(&a);
}

TEST(lines_become_unix_lines)
{
    struct arena a = {0};
    struct str plain = STR("a\nb");

    CHECK(text_unix_lines(plain, &a).p == plain.p);
    CHECK_STR(text_unix_lines(STR("a\r\nb\rc\r"), &a).p, "a\nb\nc\n");
    CHECK_STR(text_unix_lines(STR("\r\r\n\n"), &a).p, "\n\n\n");
    CHECK(text_unix_lines(STR(""), &a).n == 0);
    arena_done(&a);
}

TEST(width_counts_columns)
{
    CHECK(text_width(STR("abc")) == 3);
    CHECK(text_width(STR("\xe6\x97\xa5\xe6\x9c\xac")) == 4);
    CHECK(text_width(STR("e\xcc\x81")) == 1);
    CHECK(text_width(STR("\xff")) == 1);
    CHECK(text_width(STR("")) == 0);
}

TEST(distance_is_bounded)
{
    char many[200];

    memset(many, 'a', sizeof many);
    CHECK(text_distance(STR("install"), STR("install"), 3) == 0);
    CHECK(text_distance(STR("install"), STR("instal"), 3) == 1);
    CHECK(text_distance(STR("install"), STR("isntall"), 3) == 1);
    CHECK(text_distance(STR("install"), STR("uninstall"), 3) == 2);
    CHECK(text_distance(STR("install"), STR("xyz"), 3) == 4);
    CHECK(text_distance(STR(""), STR("ab"), 3) == 2);
    CHECK(text_distance(STR("ab"), STR(""), 1) == 2);
    CHECK(text_distance(STR("\xc3\xa4"), STR("a"), 3) == 1);
    CHECK(text_distance(str_make(many, 128), str_make(many, 127), 3) == 1);
    CHECK(text_distance(str_make(many, 129), str_make(many, 128), 3) == 4);
    CHECK(text_distance(str_make(many, 200), str_make(many, 200), 3) == 0);
}

TEST(nearest_names_are_kept_in_order_of_edits)
{
    struct text_nearest n = {0};
    const char *const known[] = {"instill", "uninstall", "install",
                                 "instal",  "install",   "instead"};

    text_nearest_add(&n, STR("xyz"), STR("install"), 3);
    text_nearest_add(&n, STR("nope"), STR("docx"), 3);
    CHECK(n.count == 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        text_nearest_add(&n, STR("install"), str_cstr(known[i]), 3);
    CHECK(n.count == TEXT_NEAREST_MAX);
    CHECK(str_is(n.found[0], "install") && n.edits[0] == 0);
    /* Equally near: the first one first. */
    CHECK(str_is(n.found[1], "instill") && n.edits[1] == 1);
    CHECK(str_is(n.found[2], "instal") && n.edits[2] == 1);
}

TEST(a_path_is_as_near_as_its_last_name)
{
    struct text_nearest n = {0};

    text_nearest_add_path(&n, STR("writr"), STR("acme/writer"), 1);
    CHECK(n.count == 1 && str_is(n.found[0], "acme/writer"));
    text_nearest_add_path(&n, STR("acme/writr"), STR("acme/write"), 1);
    CHECK(n.count == 2 && n.edits[1] == 1);
    text_nearest_add_path(&n, STR("writr"), STR("acme/reader"), 1);
    CHECK(n.count == 2);
}

TEST(sizes_are_readable)
{
    static const struct {
        uint64_t n;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {980, "980 B"},
        {999, "999 B"},
        {1000, "1.0 kB"},
        {1049, "1.0 kB"},
        {1050, "1.1 kB"},
        {999949, "999.9 kB"},
        {999950, "1.0 MB"},
        {1400000, "1.4 MB"},
        {UINT64_C(64) << 20, "67.1 MB"},
        {UINT64_MAX, "18.4 EB"},
    };
    char text[16];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(text_bytes(rows[i].n, text), rows[i].text);
}

TEST(a_decimal_number_is_parsed_in_units_of_its_last_digit)
{
    static const struct {
        const char *text;
        bool is_valid;
        unsigned value;
    } rows[] = {
        {"0.25", true, 250}, {"7", true, 7000},    {"9.999", true, 9999},
        {"10", false, 0},    {"0.2500", false, 0}, {"1.", false, 0},
        {".5", false, 0},    {"-1", false, 0},     {"", false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t n = 0;

        CHECK(text_decimal(str_cstr(rows[i].text), 3, 9, &n) ==
              rows[i].is_valid);
        CHECK(n == rows[i].value);
    }
}

TEST(a_time_is_formatted_or_empty_outside_the_calendar)
{
    char text[TEXT_TIME_BYTES];

    CHECK_STR(text_utc(0, "%Y-%m-%d", text), "1970-01-01");
    CHECK_STR(text_utc(951782400, "%Y-%m-%dT%H:%M:%SZ", text),
              "2000-02-29T00:00:00Z");
    CHECK_STR(text_utc(INT64_MAX, "%Y-%m-%d", text), "");
    CHECK_STR(text_local(INT64_MIN, "%Y-%m-%d", text), "");
}
