#include "base/text.h"

#include "tap.h"

/* Text as Python 3 has it: each expectation is what it prints. [T16, T17, T18]
 * [K18]. */

#define ROWS(table) (sizeof(table) / sizeof *(table))

static const struct {
    const char *text;
    size_t n; /* 0: up to the NUL */
    const char *shown;
} shown[] = {
    {"", 0, "''"},
    {"pdf", 0, "'pdf'"},
    {"it's", 0, "\"it's\""},
    {"say \"x\"", 0, "'say \"x\"'"},
    {"it's \"x\"", 0, "'it\\'s \"x\"'"},
    {"a\\b", 0, "'a\\\\b'"},
    {"\n\t\r\0\x7f\xc2\x85", 7, "'\\n\\t\\r\\x00\\x7f\\x85'"},
    {"\xc3\xa9\xc2\xa0\xe3\x80\x80", 0, "'\xc3\xa9\\xa0\\u3000'"},
    {"\xe2\x80\x8b\xe2\x80\xa8", 0, "'\\u200b\\u2028'"},
    {"\xf0\x9f\x98\x80\xf3\xa0\x81\x81", 0, "'\xf0\x9f\x98\x80\\U000e0041'"},
    {"\xef\xbb\xbf", 0, "'\\ufeff'"},
    {"\xe6\x97\xa5\xe6\x9c\xac", 0, "'\xe6\x97\xa5\xe6\x9c\xac'"},
    {"a\xff", 0, "'a\\udcff'"},
};

TEST(repr) /* [T17, T18] */
{
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(shown); i++) {
        size_t n = shown[i].n ? shown[i].n : strlen(shown[i].text);

        CHECK_STR(str_dup0(text_repr(str_make(shown[i].text, n), &a), &a),
                  shown[i].shown);
    }
    arena_done(&a);
}

static const struct {
    const char *text, *lower;
} lowered[] = {
    {"", ""},
    {"ABC xyz 09_", "abc xyz 09_"},
    {"\xc3\x80\xc3\x89", "\xc3\xa0\xc3\xa9"},
    /* a sigma at the end of a word is another one */
    {"\xce\xa3\xce\x91\xce\xa3", "\xcf\x83\xce\xb1\xcf\x82"},
    {"\xce\xa3\xce\x91\xce\xa3 \xce\xa3", "\xcf\x83\xce\xb1\xcf\x82 \xcf\x83"},
    {"\xc4\xb0stanbul", "i\xcc\x87stanbul"},
    {"\xe1\xba\x9e", "\xc3\x9f"},
    {"\xe2\x85\xa7", "\xe2\x85\xb7"},
    {"\xc7\x84", "\xc7\x86"},
    {"\xc8\xba", "\xe2\xb1\xa5"}, /* two bytes become three */
    {"A\xff\xc3", "a\xff\xc3"},
};

TEST(lower) /* [T16] */
{
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(lowered); i++)
        CHECK_STR(str_dup0(text_lower(str_cstr(lowered[i].text), &a), &a),
                  lowered[i].lower);
    arena_done(&a);
}

TEST(strip) /* [T16] */
{
    static const struct {
        const char *text, *stripped;
    } rows[] = {
        {"", ""},
        {" \t\r\n\v\f", ""},
        {" a b ", "a b"},
        {"\xc2\xa0"
         "a\xe3\x80\x80",
         "a"},
        {"\xe2\x80\x8b"
         "a",
         "\xe2\x80\x8b"
         "a"}, /* no white space */
    };
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(rows); i++)
        CHECK_STR(str_dup0(text_strip(str_cstr(rows[i].text)), &a),
                  rows[i].stripped);
    arena_done(&a);
}

TEST(words) /* [K18] */
{
    static const int32_t words[] = {'a',    'Z',   '0',   0xe9,  0x5d0,
                                    0x65e5, 0x301, 0x660, 0x2160};
    static const int32_t others[] = {-1,     0,       ' ',   '_',    '-',
                                     '$',    0xa0,    0xab,  0x2014, 0x201c,
                                     0xff08, 0x1f600, 0xe000};

    for (size_t i = 0; i < ROWS(words); i++)
        CHECK(text_is_word(words[i]));
    for (size_t i = 0; i < ROWS(others); i++)
        CHECK(!text_is_word(others[i]));
}
