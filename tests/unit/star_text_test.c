#include <stdlib.h>

#include "core/error.h"
#include "core/text.h"
#include "lib/lib.h"
#include "tap.h"

/* Strings: their methods, % and repr, searching, sums. STARLARK.md 3 and 4. */

/* --- values from short texts, and back ------------------------------------------ */

static value list_of(struct star *s, const char *words, bool tuple)
{
    value list = sl_list_new(s, 4);
    size_t n;

    for (const char *p = words; *p; p += n + (p[n] == '|')) {
        n = strcspn(p, "|");
        sl_list_append(s, list, sl_string_new(s, p, n));
    }
    if (!tuple)
        return list;
    value t = sl_tuple_new(s, sl_list(list)->count);
    memcpy(sl_tuple(t)->items, sl_list(list)->items,
           sl_list(list)->count * sizeof(value));
    return t;
}

/* "s:text" "b:bytes" "i:12" "f:1.5" "l:a|b" "t:a|b" "n" */
static value from_text(struct star *s, const char *text)
{
    const char *p = text + 2;

    switch (text[0]) {
    case 's':
        return sl_string_new(s, p, strlen(p));
    case 'b':
        return sl_bytes_new(s, p, strlen(p));
    case 'i':
        return star_int_from_text(s, p, strlen(p));
    case 'f':
        return sl_float(s, strtod(p, NULL));
    case 'l':
    case 't':
        return list_of(s, p, text[0] == 't');
    case 'y':
        return V_TRUE;
    default:
        return V_NONE;
    }
}

static value call(struct star *s, const char *method, value self,
                  const value *args, uint32_t count)
{
    struct sl_call c = {
        .name = method, .self = self, .args = args, .count = count};
    enum sl_method m = sl_method_number(method, strlen(method));

    CHECK(m != METHOD_NONE && sl_string_methods[m]);
    return sl_string_methods[m](s, &c);
}

/* repr(v), or "!" and the error. In a buffer that lives until the next call. */
static const char *shown(struct star *s, value v)
{
    static char out[4096];
    value r = v ? sl_repr_value(s, v) : 0;

    if (r)
        snprintf(out, sizeof out, "%.*s", (int)sl_string(r)->length,
                 sl_string(r)->p);
    else
        snprintf(out, sizeof out, "!%s", star_error_message(s));
    sl_error_clear(s);
    return out;
}

/* --- tables ------------------------------------------------------------------------ */

#define U4_0 "\xc3\xa9" /* e with acute */

static const struct {
    const char *method, *self, *args[3], *want;
} methods[] = {
    /* row 1: bytes */
    {"find", U4_0 "x", {"s:x"}, "2"},
    {"find", "bonbon", {"s:on"}, "1"},
    {"find", "bonbon", {"s:on", "i:2"}, "4"},
    {"find", "bonbon", {"s:on", "i:2", "i:5"}, "-1"},
    {"find", "bonbon", {"s:", "n", "i:-1"}, "0"},
    {"find", "abc", {"s:c", "i:-1"}, "2"},
    {"find", "abc", {"s:c", "i:-9", "i:9"}, "2"},
    {"find", "abc", {"i:1"}, "!find: for parameter 1: got int, want string"},
    {"find",
     "abc",
     {"s:", "s:"},
     "!find: invalid start index: got string, want int"},
    {"find",
     "abc",
     {"s:", "i:1", "f:1"},
     "!find: invalid end index: got float, want int"},
    {"find",
     "abc",
     {"s:", "i:2147483648"},
     "!find: invalid start index: 2147483648 out of range"},
    {"find", "abc", {"s:", "i:2147483647"}, "3"},
    {"find", "abc", {NULL}, "!find: got 0 arguments, want at least 1"},
    /* rows 23, 25: None; beyond the end */
    {"find", "x", {"s:", "i:5"}, "1"},
    {"find", "x", {"s:x", "n", "n"}, "0"},
    {"startswith", "x", {"s:", "i:5"}, "True"},
    {"rfind", "bonbon", {"s:on"}, "4"},
    {"rfind", "bonbon", {"s:on", "n", "i:5"}, "1"},
    {"rfind", "bonbon", {"s:"}, "6"},
    {"rfind", "aaa", {"s:aa"}, "1"},
    {"rfind", "a", {"s:aa"}, "-1"},
    {"index", "bonbon", {"s:nb"}, "2"},
    {"index", "bonbon", {"s:x"}, "!index: substring not found"},
    {"rindex",
     "bonbon",
     {"s:on", "i:2", "i:5"},
     "!rindex: substring not found"},
    {"count", "banana", {"s:a"}, "3"},
    {"count", "banana", {"s:ana"}, "1"},
    {"count", "banana", {"s:"}, "7"},
    {"count", U4_0, {"s:"}, "2"},
    {"count", "banana", {"s:a", "i:2", "i:4"}, "1"},
    {"count", "banana", {"s:", "i:4", "i:2"}, "1"},
    {"startswith", "foo", {"s:fo"}, "True"},
    {"startswith", "foo", {"t:x|fo"}, "True"},
    {"startswith", "foo", {"t:"}, "False"},
    {"startswith", "foo", {"s:oo", "i:1"}, "True"},
    {"startswith",
     "foo",
     {"l:f"},
     "!startswith: got list, want string or tuple of string"},
    {"endswith", "foo.c", {"t:.h|.c"}, "True"},
    {"endswith", "foo", {"s:fo", "i:0", "i:2"}, "True"},
    {"endswith", "a", {"s:ba"}, "False"},
    {"removeprefix", "banana", {"s:ban"}, "\"ana\""},
    {"removeprefix", "banana", {"s:x"}, "\"banana\""},
    {"removeprefix", "a", {"s:a"}, "\"\""},
    {"removesuffix", "banana", {"s:ana"}, "\"ban\""},
    {"removesuffix", "banana", {"s:"}, "\"banana\""},
    /* row 3: one to one */
    {"upper", "abc[z{`", {NULL}, "\"ABC[Z{`\""},
    {"lower", "ABC[Z@`0123456789", {NULL}, "\"abc[z@`0123456789\""},
    {"upper",
     "stra\xc3\x9f"
     "e",
     {NULL},
     "\"STRA\xc3\x9f"
     "E\""},
    {"upper", "\xc7\x86", {NULL}, "\"\xc7\x84\""},
    {"title", "\xc7\x86 \xc7\x86", {NULL}, "\"\xc7\x85 \xc7\x85\""},
    {"capitalize",
     "\xc7\x86"
     "A",
     {NULL},
     "\"\xc7\x85"
     "a\""},
    {"capitalize", "hELLO wORLD", {NULL}, "\"Hello world\""},
    {"title", "hello wORLD it's", {NULL}, "\"Hello World It'S\""},
    {"title", "1a b2c", {NULL}, "\"1A B2C\""},
    {"lower", "\xc4\xb0", {NULL}, "\"i\""},
    {"upper", "a\xff", {NULL}, "\"A\xef\xbf\xbd\""},
    {"upper", "", {"i:1"}, "!upper: got 1 arguments, want 0"},
    {"isupper", "\xc3\x89-1", {NULL}, "True"},
    {"isupper", "A\xff", {NULL}, "False"},
    {"islower", "\xc3\x9f", {NULL}, "True"},
    {"islower", "12", {NULL}, "False"},
    {"islower", "a1", {NULL}, "True"},
    {"istitle", "Hello, World!", {NULL}, "True"},
    {"istitle", "HAL-9000", {NULL}, "False"},
    {"istitle",
     "\xc7\x85"
     "a",
     {NULL},
     "True"},
    {"isalpha", U4_0 "a", {NULL}, "True"},
    {"isalpha", "", {NULL}, "False"},
    {"isdigit", "1\xd9\xa1", {NULL}, "True"}, /* ARABIC-INDIC DIGIT ONE */
    {"isdigit", "\xc2\xb2", {NULL}, "False"}, /* SUPERSCRIPT TWO */
    {"isalnum", "a1" U4_0, {NULL}, "True"},
    {"isalnum", "a-1", {NULL}, "False"},
    {"isspace", " \t\n\v\f\r\xc2\xa0\xe2\x80\xa8", {NULL}, "True"},
    {"isspace", "\x1c", {NULL}, "False"},
    /* row 20: strip("") */
    {"strip", " a ", {"s:"}, "\" a \""},
    {"strip", " \t a b\xc2\xa0\n", {NULL}, "\"a b\""},
    {"strip", " \n ", {NULL}, "\"\""},
    {"strip", "xyaxy", {"s:yx"}, "\"a\""},
    {"lstrip", "xyaxy", {"s:yx"}, "\"axy\""},
    {"rstrip", "xyaxy", {"s:yx"}, "\"xya\""},
    {"rstrip", "a" U4_0 U4_0, {"s:" U4_0}, "\"a\""},
    {"strip",
     "\xff"
     "a"
     "\xfe",
     {"s:\xef\xbf\xbd"},
     "\"a\""},
    {"strip", "a", {"n"}, "!strip: for parameter 1: got NoneType, want string"},
    {"partition", "one/two/three", {"s:/"}, "(\"one\", \"/\", \"two/three\")"},
    {"rpartition", "one/two/three", {"s:/"}, "(\"one/two\", \"/\", \"three\")"},
    {"partition", "one", {"s:/"}, "(\"one\", \"\", \"\")"},
    {"rpartition", "one", {"s:/"}, "(\"\", \"\", \"one\")"},
    {"partition", "a", {"s:"}, "!partition: empty separator"},
    /* row 24: replace(a, b, -1) */
    {"replace", "banana", {"s:a", "s:oo", "i:-1"}, "\"boonoonoo\""},
    {"replace", "banana", {"s:ana", "s:"}, "\"bna\""},
    {"replace", "banana", {"s:a", "s:o", "i:1"}, "\"bonana\""},
    {"replace", "banana", {"s:a", "s:o", "i:0"}, "\"banana\""},
    {"replace", "banana", {"s:a", "s:o"}, "\"bonono\""},
    {"replace", "aaa", {"s:a", "s:"}, "\"\""},
    {"replace", "", {"s:", "s:x"}, "\"x\""},
    {"replace", U4_0 "a", {"s:", "s:-"}, "\"-" U4_0 "-a-\""},
    {"replace", "ab", {"s:", "s:-", "i:2"}, "\"-a-b\""},
    {"replace",
     "a",
     {"s:a", "i:1"},
     "!replace: for parameter 2: got int, want string"},
    {"replace",
     "a",
     {"s:a", "s:", "i:9223372036854775808"},
     "!replace: for parameter 3: 9223372036854775808 out of range (want value "
     "in signed 64-bit range)"},
    /* rows 21, 22: split() and split("") */
    {"split", "a,b,,c", {"s:,"}, "[\"a\", \"b\", \"\", \"c\"]"},
    {"split", "a,b,,c", {"s:,", "i:1"}, "[\"a\", \"b,,c\"]"},
    {"split", "a,b,,c", {"s:,", "i:0"}, "[\"a,b,,c\"]"},
    {"split", "a--b", {"s:--"}, "[\"a\", \"b\"]"},
    {"split", "", {"s:,"}, "[\"\"]"},
    {"split", " a\t b ", {NULL}, "[\"a\", \"b\"]"},
    {"split", " a b  c ", {"n", "i:1"}, "[\"a\", \"b  c \"]"},
    {"split", " a b ", {"n", "i:0"}, "[\"a b \"]"},
    {"split", "  ", {"n", "i:0"}, "[]"},
    {"split",
     "a\xe2\x80\xa8"
     "b",
     {NULL},
     "[\"a\", \"b\"]"},
    {"split", "a", {"s:"}, "!split: empty separator"},
    {"split", "a", {"i:1"}, "!split: got int for separator, want string"},
    {"split",
     "a",
     {"s:a", "s:b"},
     "!split: for parameter 2: got string, want int"},
    {"rsplit", "a,b,,c", {"s:,", "i:1"}, "[\"a,b,\", \"c\"]"},
    {"rsplit", "a,b,,c", {"s:,", "i:9"}, "[\"a\", \"b\", \"\", \"c\"]"},
    {"rsplit", "a,b", {"s:,", "i:0"}, "[\"a,b\"]"},
    {"rsplit", " a b  c ", {"n", "i:1"}, "[\" a b\", \"c\"]"},
    {"rsplit", " a b ", {"n", "i:0"}, "[\" a b\"]"},
    {"rsplit", " a b ", {NULL}, "[\"a\", \"b\"]"},
    /* row 19: LF, CR, CR LF */
    {"splitlines", "A\nB\rC\r\nD", {NULL}, "[\"A\", \"B\", \"C\", \"D\"]"},
    {"splitlines",
     "a\n\r\nb\r\n\r",
     {"y"},
     "[\"a\\n\", \"\\r\\n\", \"b\\r\\n\", \"\\r\"]"},
    {"splitlines", "one\n\ntwo", {NULL}, "[\"one\", \"\", \"two\"]"},
    {"splitlines", "", {NULL}, "[]"},
    {"splitlines",
     "a",
     {"i:1"},
     "!splitlines: for parameter 1: got int, want bool"},
    {"join", ", ", {"l:a|b|c"}, "\"a, b, c\""},
    {"join", "", {"t:a|" U4_0 "|c"}, "\"a" U4_0 "c\""},
    {"join", "x", {"l:"}, "\"\""},
    {"join",
     "x",
     {"s:abc"},
     "!join: for parameter 1: got string, want iterable"},
    {"join", "x", {"i:1"}, "!join: for parameter 1: got int, want iterable"},
    {"elems", "ab", {NULL}, "\"ab\".elems()"},
    {"elem_ords", "ab", {NULL}, "\"ab\".elem_ords()"},
    {"codepoints", "ab", {NULL}, "\"ab\".codepoints()"},
    {"codepoint_ords", "ab", {NULL}, "\"ab\".codepoint_ords()"},
    /* row 28 */
    {"format", "a{}b{}c{{}}", {"i:1", "s:x"}, "\"a1bxc{}\""},
    {"format", "{1}{0}{1!r}", {"s:a", "s:b"}, "\"ba\\\"b\\\"\""},
    {"format", "{:}{!s}", {"i:1", "f:2"}, "\"12.0\""},
    {"format", "{}", {"b:a"}, "\"b\\\"a\\\"\""},
    {"format", "{}", {NULL}, "!format: tuple index out of range"},
    {"format",
     "{99999999999999999999}",
     {NULL},
     "!format: keyword 99999999999999999999 not found"},
    {"format",
     "{0}{}",
     {"i:1"},
     "!format: cannot switch from manual field specification to automatic "
     "field numbering"},
    {"format",
     "{}{0}",
     {"i:1"},
     "!format: cannot switch from automatic field numbering to manual field "
     "specification"},
    {"format", "{", {NULL}, "!format: unmatched '{' in format"},
    {"format", "a}b", {NULL}, "!format: single '}' in format"},
    {"format", "}", {NULL}, "!format: single '}' in format"},
    {"format", "{}}", {"i:1"}, "!format: single '}' in format"},
    {"format", "{x}", {NULL}, "!format: keyword x not found"},
    {"format",
     "{a.b}",
     {NULL},
     "!format: attribute syntax x.y is not supported in replacement fields: "
     "a.b"},
    {"format",
     "{a[0]}",
     {NULL},
     "!format: element syntax a[i] is not supported in replacement fields: "
     "a[0]"},
    {"format",
     "{a{b}}",
     {NULL},
     "!format: nested replacement fields not supported"},
    {"format",
     "{:>5}",
     {"i:1"},
     "!format spec features not supported in replacement fields: >5"},
    {"format", "{!x}", {"i:1"}, "!format: unknown conversion \"x\""},
};

TEST(methods_do_as_the_specification_says)
{
    struct star *s = star_open(NULL);

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct sl_scope scope = sl_native_enter(s);
        value self = sl_string_new(s, methods[i].self, strlen(methods[i].self));
        value args[3];
        uint32_t count = 0;

        while (count < 3 && methods[i].args[count]) {
            args[count] = from_text(s, methods[i].args[count]);
            count++;
        }
        const char *got =
            shown(s, call(s, methods[i].method, self, args, count));
        if (strcmp(got, methods[i].want) != 0)
            printf("# row %zu: %s of \"%s\"\n", i, methods[i].method,
                   methods[i].self);
        CHECK_STR(got, methods[i].want);
        sl_native_leave(s, scope);
    }
    star_close(s);
}

/* rows 26, 27, 46 */
static const struct {
    const char *format, *args[3], *want;
    bool tuple;
} percents[] = {
    {"%s %r", {"s:a", "s:a"}, "\"a \\\"a\\\"\"", true},
    {"%d %i", {"i:1", "i:-5"}, "\"1 -5\"", true},
    {"%x %X %o", {"i:-255", "i:255", "i:64"}, "\"-ff FF 100\"", true},
    {"%x", {"i:36893488147419103232"}, "\"20000000000000000\"", false},
    {"%d", {"i:-100000000000000000000"}, "\"-100000000000000000000\"", false},
    {"%d", {"f:-3.9"}, "\"-3\"", false},
    {"%d", {"f:1e20"}, "\"100000000000000000000\"", false},
    {"%d",
     {"f:inf"},
     "!%d format requires integer: cannot convert float infinity to integer",
     false},
    {"%d",
     {"f:nan"},
     "!%d format requires integer: cannot convert float NaN to integer",
     false},
    {"%d",
     {"y"},
     "!%d format requires integer: cannot convert bool to int",
     false},
    {"%e %f %g", {"i:1", "i:2", "i:3"}, "\"1.000000e+00 2.000000 3.0\"", true},
    {"%E %F", {"f:1.5", "f:2.5"}, "\"1.500000E+00 2.500000\"", true},
    {"%f", {"s:a"}, "!%f format requires float, not string", false},
    {"%c%c", {"s:" U4_0, "i:66"}, "\"" U4_0 "B\"", true},
    {"%c",
     {"i:-1"},
     "!%c format requires a valid Unicode code point, got -1",
     false},
    {"%c", {"s:ab"}, "!%c format requires a single-character string", false},
    {"%c",
     {"n"},
     "!%c format requires int or single-character string, not "
     "NoneType",
     false},
    {"%%", {NULL}, "\"%\"", true},
    {"100%%", {NULL}, "\"100%\"", true},
    {"%s", {"l:a"}, "\"[\\\"a\\\"]\"", false},
    {"%s", {"b:a"}, "\"b\\\"a\\\"\"", false},
    {"%s %s", {"s:a"}, "!not enough arguments for format string", false},
    {"%s", {"s:a", "s:b"}, "!too many arguments for format string", true},
    {"a", {"i:1"}, "!too many arguments for format string", false},
    {"%y", {"i:1"}, "!unknown conversion %y", false},
    {"%5d", {"i:1"}, "!unknown conversion %5", false},
    {"%", {"i:1"}, "!incomplete format", false},
    {"%", {NULL}, "!not enough arguments for format string", true},
    {"%(a)s", {"i:1"}, "!format requires a mapping", false},
    {"%(a", {"i:1"}, "!incomplete format key", false},
};

TEST(percent_formats)
{
    struct star *s = star_open(NULL);

    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        struct sl_scope scope = sl_native_enter(s);
        value format =
            sl_string_new(s, percents[i].format, strlen(percents[i].format));
        value args = sl_list_new(s, 3), operand;

        for (int k = 0; k < 3 && percents[i].args[k]; k++)
            sl_list_append(s, args, from_text(s, percents[i].args[k]));
        if (percents[i].tuple) {
            operand = sl_tuple_new(s, sl_list(args)->count);
            for (uint32_t k = 0; k < sl_list(args)->count; k++)
                sl_tuple(operand)->items[k] = sl_list(args)->items[k];
        } else {
            operand = sl_list(args)->items[0];
        }
        const char *got = shown(s, sl_format_percent(s, format, operand));
        CHECK_STR(got, percents[i].want);
        sl_native_leave(s, scope);
    }
    star_close(s);
}

TEST(percent_takes_keys_of_a_dict)
{
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    value d = sl_dict_new(s, 2);
    value format = sl_string_new(s, "%(a)s-%(a)d", 11);

    sl_table_set(s, d, sl_string_new(s, "a", 1), sl_word(7));
    CHECK_STR(shown(s, sl_format_percent(s, format, d)), "\"7-7\"");
    format = sl_string_new(s, "%(b)s", 5);
    CHECK_STR(shown(s, sl_format_percent(s, format, d)), "!key not found: b");
    sl_native_leave(s, scope);
    star_close(s);
}

static uint64_t random_state = 88172645463325252u;
static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % n;
}

/* --- repr: rows 4, 13, 37, 39 ------------------------------------------------------- */

static const struct {
    const char *text, *want;
} quotes[] = {
    {"a'b", "\"a'b\""},
    {"\"\\", "\"\\\"\\\\\""},
    {"\a\b\f\n\r\t\v", "\"\\a\\b\\f\\n\\r\\t\\v\""},
    {"\x01\x1f\x7f", "\"\\x01\\x1f\\x7f\""},
    {"\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
    {"\xc3", "\"\\xc3\""},
    {"\xf0\x9f\x98", "\"\\xf0\\x9f\\x98\""},
    {"\xed\xa0\x80", "\"\\xed\\xa0\\x80\""}, /* half a pair */
    {"\xc2\xa0\xc2\xad\xee\x80\x80\xef\xbf\xbd",
     "\"\\u00a0\\u00ad\\ue000\xef\xbf\xbd\""},
    {"\xf3\xa0\x80\x81", "\"\\U000e0001\""},
    {"\xe2\x80\xa8", "\"\\u2028\""},
};

TEST(repr_of_text_escapes_what_is_not_shown)
{
    struct star *s = star_open(NULL);

    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        struct sl_scope scope = sl_native_enter(s);
        CHECK_STR(
            shown(s, sl_string_new(s, quotes[i].text, strlen(quotes[i].text))),
            quotes[i].want);
        sl_native_leave(s, scope);
    }
    star_close(s);
}

/* Any bytes, and any text of code points, read back as what they were. */
TEST(repr_reads_back)
{
    struct star *s = star_open(NULL);
    static char source[4096];

    for (int i = 0; i < 3000; i++) {
        size_t scope = star_scope_begin(s);
        char text[300];
        size_t n = 0, count = random_below(60);

        for (size_t k = 0; k < count; k++) {
            uint32_t kind = random_below(4);
            if (i % 2) /* bytes */
                text[n++] = (char)random_below(256);
            else
                n += sl_rune_encode(random_below(kind == 0   ? 0x20
                                                 : kind == 1 ? 0x80
                                                 : kind == 2 ? 0x3000
                                                             : 0x110000),
                                    text + n);
        }
        value v = i % 2 ? sl_bytes_new(s, text, n) : sl_string_new(s, text, n);
        int length = snprintf(source, sizeof source, "x = %s\n", shown(s, v));
        struct star_program *p =
            star_compile(s, "repr.star", source, (size_t)length);
        struct star_module *m = p ? star_run(s, p) : NULL;
        CHECK(m && sl_text_equal(star_global(m, "x"), v));
        if (!m)
            printf("# %s# %s\n", source, star_error_report(s));
        star_scope_end(s, scope);
    }
    star_close(s);
}

TEST(repr_of_containers)
{
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    value list = list_of(s, "a|b", false), dict = sl_dict_new(s, 0);
    value set = sl_set_new(s, 0), tuple = list_of(s, "a", true);

    CHECK_STR(shown(s, set), "set()");
    sl_table_set(s, set, sl_word(1), V_NONE);
    sl_table_set(s, set, sl_word(-2), V_NONE);
    CHECK_STR(shown(s, set), "set([1, -2])");
    CHECK_STR(shown(s, dict), "{}");
    sl_table_set(s, dict, sl_word(1), list);
    sl_table_set(s, dict, sl_word(2), dict);
    sl_list_append(s, list, list);
    sl_list_append(s, list, dict);
    CHECK_STR(shown(s, dict), "{1: [\"a\", \"b\", [...], {...}], 2: {...}}");
    sl_table_remove(s, dict, sl_word(1), NULL);
    CHECK_STR(shown(s, dict), "{2: {...}}");
    CHECK_STR(shown(s, tuple), "(\"a\",)");
    CHECK_STR(shown(s, sl_tuple_new(s, 0)), "()");
    CHECK_STR(shown(s, sl_tuple_new(s, 2)), "(None, None)");
    CHECK_STR(shown(s, sl_range_new(s, 0, 8, 1)), "range(8)");
    CHECK_STR(shown(s, sl_range_new(s, 1, 8, 1)), "range(1, 8)");
    CHECK_STR(shown(s, sl_range_new(s, 0, 8, 2)), "range(0, 8, 2)");
    CHECK_STR(shown(s, sl_bytes_new(s, "a\xff\"", 3)), "b\"a\\xff\\\"\"");
    CHECK_STR(shown(s, V_TRUE), "True");
    sl_native_leave(s, scope);
    star_close(s);
}

/* Value depth: 200 levels by default, a thousand where the host wants more. */
TEST(repr_keeps_to_the_depth)
{
    static const struct {
        unsigned limit, depth;
        bool ok;
    } rows[] = {{0, 200, true},  {0, 201, false},    {64, 64, true},
                {64, 65, false}, {1000, 1000, true}, {1000, 1001, false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct star_options o = {.limits.value_depth = rows[i].limit};
        struct star *s = star_open(&o);
        struct sl_scope scope = sl_native_enter(s);
        value v = sl_list_new(s, 1);

        for (unsigned k = 1; k < rows[i].depth; k++) {
            value outer = sl_list_new(s, 1);
            sl_list_append(s, outer, v);
            v = outer;
        }
        value r = sl_repr_value(s, v);
        CHECK((r != 0) == rows[i].ok);
        CHECK(!r || sl_string(r)->length == 2 * rows[i].depth);
        CHECK(r || star_error(s) == STAR_ERROR_DEPTH);
        sl_native_leave(s, scope);
        star_close(s);
    }
}

TEST(str_of_bytes_is_their_text)
{
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    value v = sl_str_value(s, sl_bytes_new(s, "a\xff\xc3\xa9", 4));
    value text = sl_string_new(s, "as it is", 8);

    CHECK(v && sl_string(v)->length == 6 &&
          memcmp(sl_string(v)->p, "a\xef\xbf\xbd\xc3\xa9", 6) == 0);
    CHECK(sl_str_value(s, text) == text);
    sl_native_leave(s, scope);
    star_close(s);
}

/* --- against a naive model --------------------------------------------------------------- */

/* Text of few letters, or one that repeats a beginning with a few changes: what
 * makes searching hard. */
static size_t random_text(char *out, size_t max)
{
    size_t n = random_below((uint32_t)max + 1);
    uint32_t letters = 1 + random_below(3);
    size_t period = random_below(3) ? n + 1 : 1 + random_below(6);

    for (size_t i = 0; i < n; i++)
        out[i] =
            i < period ? (char)('a' + random_below(letters)) : out[i - period];
    for (uint32_t i = random_below(3); n && i > 0; i--)
        out[random_below((uint32_t)n)] = 'b';
    return n;
}

static int64_t naive_find(const char *p, size_t n, const char *needle, size_t m)
{
    for (size_t i = 0; i + m <= n; i++) {
        if (memcmp(p + i, needle, m) == 0)
            return (int64_t)i;
    }
    return -1;
}

static int64_t naive_rfind(const char *p, size_t n, const char *needle,
                           size_t m)
{
    for (size_t i = n + 1; i-- > 0;) {
        if (i + m <= n && memcmp(p + i, needle, m) == 0)
            return (int64_t)i;
    }
    return -1;
}

static void check_search(struct star *s, const char *p, size_t n,
                         const char *needle, size_t m)
{
    int64_t first = sl_text_find(s, p, n, needle, m);
    int64_t last = sl_text_find_last(s, p, n, needle, m);

    CHECK(first == naive_find(p, n, needle, m));
    CHECK(last == naive_rfind(p, n, needle, m));
    if (first != naive_find(p, n, needle, m) ||
        last != naive_rfind(p, n, needle, m))
        printf("# '%.*s' in '%.*s': %ld, %ld\n", (int)m, needle, (int)n, p,
               (long)first, (long)last);
}

/* Short needles and long ones are searched in different ways: 256 and 257. */
TEST(searching_finds_what_a_naive_one_finds)
{
    struct star *s = star_open(NULL);
    static char text[3000], needle[700];

    for (int i = 0; i < 200000; i++) {
        bool large = i % 100 == 0;
        size_t n = random_text(text, large ? sizeof text : 40);
        size_t m = random_text(needle, large ? sizeof needle : i % 3 ? 5 : 40);

        if (n && i % 4 == 0) { /* one that is there */
            size_t at = random_below((uint32_t)n);
            m = random_below((uint32_t)(n - at) + 1);
            m = m < sizeof needle ? m : sizeof needle;
            if (m > 257 && i % 3 == 0)
                m = 256 + random_below(2);
            memcpy(needle, text + at, m);
        }
        check_search(s, text, n, needle, m);
    }
    star_close(s);
}

/* The first byte and the last fit everywhere, the middle never does. */
TEST(searching_is_linear)
{
    struct star *s = star_open(NULL);
    const size_t n = 4000000, m = n / 2;
    char *text = malloc(n), *needle = malloc(m);
    struct star_usage before;

    memset(text, 'a', n);
    for (size_t at = 0; at < m; at += m / 3) {
        memset(needle, 'a', m);
        needle[at] = 'b';
        before = star_usage(s);
        CHECK(sl_text_find(s, text, n, needle, m) == -1);
        CHECK(sl_text_find_last(s, text, n, needle, m) == -1);
        CHECK(star_usage(s).steps - before.steps < 2 * n);
    }
    free(text);
    free(needle);
    star_close(s);
}

/* Replaced by a naive search; the result in `out`. */
static size_t naive_replace(char *out, const char *p, size_t n, const char *old,
                            size_t m, const char *new, size_t k, int64_t max)
{
    size_t length = 0, i = 0;

    while (i < n) {
        if (max && m && i + m <= n && memcmp(p + i, old, m) == 0) {
            memcpy(out + length, new, k);
            length += k;
            i += m;
            max--;
        } else {
            out[length++] = p[i++];
        }
    }
    return length;
}

TEST(replace_count_and_split_agree_with_a_naive_model)
{
    struct star *s = star_open(NULL);
    static char text[3000], old[8], new[8], want[30000];

    for (int i = 0; i < 30000; i++) {
        struct sl_scope scope = sl_native_enter(s);
        size_t n = random_text(text, i % 50 ? 60 : 3000);
        size_t m = random_text(old, sizeof old);
        size_t k = random_text(new, i % 2 ? 2 : sizeof new);
        value self = sl_string_new(s, text, n);
        value args[3] = {sl_string_new(s, old, m), sl_string_new(s, new, k),
                         sl_word((int64_t)random_below(6) - 1)};

        if (m) {
            size_t length = naive_replace(want, text, n, old, m, new, k,
                                          sl_int_word(args[2]));
            value got = call(s, "replace", self, args, 3);
            CHECK(got && sl_string(got)->length == length &&
                  memcmp(sl_string(got)->p, want, length) == 0);
            value count = call(s, "count", self, args, 1);
            value list = call(s, "split", self, args, 1);
            CHECK(list &&
                  sl_list(list)->count == (uint32_t)sl_int_word(count) + 1);
            value joined = call(s, "join", args[0], &list, 1);
            CHECK(joined && sl_text_equal(joined, self));
            value limit[2] = {args[0], sl_word(1)};
            list = call(s, "rsplit", self, limit, 2);
            joined = call(s, "join", args[0], &list, 1);
            CHECK(joined && sl_text_equal(joined, self));
        }
        sl_native_leave(s, scope);
    }
    star_close(s);
}

/* --- sums that grow -------------------------------------------------------------------------- */

/* Every string that was ever a sum keeps its value, whichever is added to. */
TEST(sums_share_and_never_change)
{
    enum { KEPT = 64 };
    struct star *s = star_open(NULL);
    static char model[KEPT][20000];
    size_t lengths[KEPT] = {0};
    value kept[KEPT];
    char more[200];

    for (int i = 0; i < KEPT; i++)
        kept[i] = s->empty_string;
    struct sl_scope scope = sl_native_enter(s);
    for (int i = 0; i < 100000; i++) {
        /* Mostly the one added to last, so that it grows. */
        uint32_t from = random_below(4) ? (uint32_t)i % 5 : random_below(KEPT);
        uint32_t to = random_below(3) ? from : random_below(KEPT);
        size_t n = random_text(more, random_below(20) ? 8 : sizeof more);

        if (lengths[from] + n > sizeof *model) {
            kept[from] = s->empty_string;
            lengths[from] = 0;
        }
        value sum = sl_string_concat(s, kept[from], sl_string_new(s, more, n));
        CHECK(sum != 0);
        memmove(model[to], model[from], lengths[from]);
        memcpy(model[to] + lengths[from], more, n);
        lengths[to] = lengths[from] + n;
        kept[to] = sum;
        for (uint32_t k = (uint32_t)i % 16; k < KEPT; k += 16) {
            const struct sl_string *x = sl_string(kept[k]);
            CHECK(x->length == lengths[k] &&
                  memcmp(x->p, model[k], x->length) == 0);
        }
        if (i % 512 == 0) {
            for (int k = 0; k < KEPT; k++)
                star_keep(s, kept[k]);
            sl_native_leave(s, scope);
            sl_collect(s);
            scope = sl_native_enter(s);
            for (int k = 0; k < KEPT; k++) {
                sl_hold(s, kept[k]);
                star_drop(s, kept[k]);
            }
        }
    }
    sl_native_leave(s, scope);
    star_close(s);
}

/* row 47: a million of them, in memory for little more than the result. */
TEST(a_growing_sum_is_linear)
{
    struct star_options o = {.limits.memory_bytes = (size_t)16 << 20};
    struct star *s = star_open(&o);
    value sum = s->empty_string, x = sl_string_char(s, 'x');

    for (int i = 0; i < 1000000; i++) {
        size_t scope = star_scope_begin(s);
        value next = sl_string_concat(s, sum, x);
        CHECK(next != 0);
        if (!next)
            break;
        star_keep(s, next);
        if (i)
            star_drop(s, sum);
        star_scope_end(s, scope);
        sum = next;
    }
    CHECK(sl_string(sum)->length == 1000000);
    CHECK(sl_string(sum)->o.flags & STRING_ASCII);
    star_close(s);
}

/* --- the same word back -------------------------------------------------------------------------- */

TEST(what_does_not_change_comes_back_itself)
{
    static const struct {
        const char *method, *self, *args[2];
    } rows[] = {
        {"upper", "ABC 1", {NULL}},
        {"lower", "abc 1", {NULL}},
        {"lower", U4_0, {NULL}},
        {"title", "Abc D", {NULL}},
        {"capitalize", "Abc", {NULL}},
        {"strip", "abc", {NULL}},
        {"replace", "abc", {"s:x", "s:y"}},
        {"removeprefix", "abc", {"s:x"}},
        {"removesuffix", "abc", {"s:x"}},
        {"strip", "abc", {"s:"}},
    };
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value self = sl_string_new(s, rows[i].self, strlen(rows[i].self));
        value args[2];
        uint32_t n = 0;
        for (; n < 2 && rows[i].args[n]; n++)
            args[n] = from_text(s, rows[i].args[n]);
        CHECK(call(s, rows[i].method, self, args, n) == self);
    }
    sl_native_leave(s, scope);
    star_close(s);
}

/* --- budgets ------------------------------------------------------------------------------------------ */

/* Each of them on a megabyte looks at the budget before it is done. */
TEST(long_work_is_canceled)
{
    static const struct {
        const char *method, *args[2];
    } rows[] = {
        {"find", {"s:b"}},           {"find", {"s:ab"}},
        {"rfind", {"s:b"}},          {"rfind", {"s:ab"}},
        {"count", {"s:a"}},          {"count", {"s:"}},
        {"replace", {"s:a", "s:b"}}, {"replace", {"s:a", "s:bb"}},
        {"replace", {"s:", "s:b"}},  {"split", {"s:a"}},
        {"split", {NULL}},           {"rsplit", {"s:a", "i:5"}},
        {"rsplit", {"n", "i:5"}},    {"upper", {NULL}},
        {"title", {NULL}},           {"isalpha", {NULL}},
        {"strip", {"s:a"}},          {"format", {NULL}},
    };
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    const size_t n = 2000000;
    char *p;
    value self = sl_text_room(s, T_STRING, n, &p);

    memset(p, 'a', n);
    sl_string_filled(self);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value args[2];
        uint32_t count = 0;
        for (; count < 2 && rows[i].args[count]; count++)
            args[count] = from_text(s, rows[i].args[count]);
        star_cancel(s);
        CHECK(!call(s, rows[i].method, self, args, count));
        CHECK(star_error(s) == STAR_ERROR_CANCELED);
        if (star_error(s) != STAR_ERROR_CANCELED)
            printf("# row %zu: %s\n", i, rows[i].method);
        star_cancel_clear(s);
        sl_error_clear(s);
    }
    star_cancel(s);
    CHECK(!sl_repr_value(s, self));
    CHECK(star_error(s) == STAR_ERROR_CANCELED);
    sl_native_leave(s, scope);
    star_close(s);
}

/* Sizes are known before memory is taken: too much is an error at once. */
TEST(bombs_are_refused)
{
    struct star_options o = {.limits.memory_bytes = (size_t)8 << 20};
    struct star *s = star_open(&o);
    struct sl_scope scope = sl_native_enter(s);
    char *p;
    value big = sl_text_room(s, T_STRING, 1000000, &p);

    memset(p, 'a', 1000000);
    sl_string_filled(big);
    value args[2] = {sl_string_char(s, 'a'), big};
    CHECK(!call(s, "replace", big, args, 2));
    CHECK(star_error(s) == STAR_ERROR_MEMORY);
    sl_error_clear(s);
    args[0] = s->empty_string;
    CHECK(!call(s, "replace", big, args, 2));
    CHECK(star_error(s) == STAR_ERROR_MEMORY);
    sl_error_clear(s);

    value list = sl_list_new(s, 10000);
    for (int i = 0; i < 10000; i++)
        sl_list_append(s, list, big);
    CHECK(!call(s, "join", big, &list, 1));
    CHECK(star_error(s) == STAR_ERROR_MEMORY);
    sl_native_leave(s, scope);
    star_close(s);
}

/* --- code points, and hashes inside -------------------------------------------------------------------------------- */

TEST(code_points_there_and_back)
{
    char out[4];
    unsigned width, back;

    for (uint32_t r = 0; r <= 0x110000; r++) {
        bool valid = r <= 0x10ffff && (r < 0xd800 || r > 0xdfff);
        unsigned n = sl_rune_encode(r, out);
        uint32_t want = valid ? r : SL_RUNE_INVALID;

        CHECK(sl_rune(out, n, &width) == want && width == n);
        CHECK(sl_rune_last(out, n, &back) == want && back == n);
        if (n > 1) {
            CHECK(sl_rune(out, n - 1, &width) == SL_RUNE_INVALID && width == 1);
        }
    }
    CHECK(sl_rune("\xc0\x80", 2, &width) == SL_RUNE_INVALID && width == 1);
    CHECK(sl_rune("\xf4\x90\x80\x80", 4, &width) == SL_RUNE_INVALID);
    CHECK(sl_rune_last("a\x80\x80\x80\x80", 5, &width) == SL_RUNE_INVALID &&
          width == 1);
}

TEST(hashes_inside_differ_and_are_never_zero)
{
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    unsigned equal = 0;
    uint32_t last = 0;

    for (int n = 0; n < 2000; n++) {
        char *p;
        value v = sl_text_room(s, T_STRING, (size_t)n + 1, &p);
        memset(p, 0, (size_t)n + 1);
        sl_string_filled(v);
        uint32_t h = sl_text_hash(s, v);
        CHECK(h != 0 && sl_text_hash(s, v) == h);
        equal += h == last;
        last = h;
    }
    CHECK(equal == 0);
    sl_native_leave(s, scope);
    star_close(s);
}
