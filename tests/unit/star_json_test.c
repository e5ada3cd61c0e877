#include <math.h>

#include "core/error.h"
#include "lib/json.h"
#include "tap.h"

/* JSON in and out: STARLARK.md 4, "Host boundary". */

static char shown[4096];

/* What a value is as JSON again, or the error. */
static const char *round_trip(const char *text, size_t length)
{
    struct star *s = star_open(NULL);
    star_value v = star_from_json(s, text, length);
    star_value out = v ? star_to_json(s, v) : STAR_INVALID;
    const char *p = star_error_message(s);
    size_t n = strlen(p);

    if (out)
        star_as_text(out, &p, &n);
    snprintf(shown, sizeof shown, "%s%.*s", out ? "" : "! ", (int)n, p);
    star_close(s);
    return shown;
}

static const struct {
    const char *text, *want;
} rows[] = {
    {"null", "null"},
    {" \t\r\n true ", "true"},
    {"false", "false"},
    {"0", "0"},
    {"-0", "0"},
    {"-123", "-123"},
    {"9007199254740993", "9007199254740993"},
    {"9223372036854775808", "9223372036854775808"},
    {"-3539537889086624823140625", "-3539537889086624823140625"},
    {"1.0", "1.0"},
    {"1e2", "100.0"},
    {"0e+1", "0.0"},
    {"-0.0", "-0.0"},
    {"1.5E-7", "1.5e-07"},
    {"3.539537889086625e+24", "3.539537889086625e+24"},
    {"\"\"", "\"\""},
    {"\"h\\u00e9\\n\\/\\\"\\\\\"", "\"h\xc3\xa9\\n/\\\"\\\\\""},
    {"\"\\u0000\\u001f\\b\\f\\r\\t\"", "\"\\u0000\\u001f\\b\\f\\r\\t\""},
    {"\"\\ud83d\\ude39\"", "\"\xf0\x9f\x98\xb9\""},
    {"\"\x7f\"", "\"\x7f\""},
    /* lone surrogates, and what is no UTF-8 */
    {"\"a\\ud83db\"", "\"a\xef\xbf\xbd"
                      "b\""},
    {"\"\\ude39\\ud83d\"", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    {"\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd"
                           "A\""},
    {"\"\xff\xc3\"", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    {"\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    {"[]", "[]"},
    {"[ ]", "[]"},
    {"{}", "{}"},
    {"[1, 2,[3, {}], {\"b\": [ ], \"a\" : null}]",
     "[1,2,[3,{}],{\"b\":[],\"a\":null}]"},
    {"{\"z\":1,\"a\":2,\"m\":{\"y\":0,\"b\":0}}",
     "{\"z\":1,\"a\":2,\"m\":{\"y\":0,\"b\":0}}"},
    {"[{\"k\":1},{\"k\":2},{\"k\":3}]", "[{\"k\":1},{\"k\":2},{\"k\":3}]"},
    /* what is wrong, and where */
    {"", "! at offset 0, unexpected end of file"},
    {"truefalse", "! at offset 4, unexpected character 'f' after value"},
    {"nul", "! at offset 0, unexpected character 'n'"},
    {"\"abc", "! at offset 0, unclosed string literal"},
    {"\"ab\\gc\"", "! at offset 3, invalid escape in string literal"},
    {"\"ab\\u12x4\"", "! at offset 3, invalid escape in string literal"},
    {"\"\\", "! at offset 1, invalid escape in string literal"},
    {"\"a\nb\"", "! at offset 2, invalid character '\\n' in string literal"},
    {"'abc'", "! at offset 0, unexpected character '\\''"},
    {"1.2.3", "! at offset 0, invalid number: 1.2.3"},
    {"[1, +1]", "! at offset 4, unexpected character '+'"},
    {"-abc", "! at offset 0, invalid number: -"},
    {"--1", "! at offset 0, invalid number: --1"},
    {"-+1", "! at offset 0, invalid number: -+1"},
    {"1e1e1", "! at offset 0, invalid number: 1e1e1"},
    {"0123", "! at offset 0, invalid number: 0123"},
    {"-000.123", "! at offset 0, invalid number: -000.123"},
    {"1.", "! at offset 0, invalid number: 1."},
    {"1.e2", "! at offset 0, invalid number: 1.e2"},
    {"1e", "! at offset 0, invalid number: 1e"},
    {"1e999", "! at offset 0, invalid number: 1e999"},
    {"0x123", "! at offset 1, unexpected character 'x' after value"},
    {"[1, 2 ", "! at offset 6, unexpected end of file"},
    {"[1, 2, ]", "! at offset 7, unexpected character ']'"},
    {"[1, 2}", "! at offset 5, got '}', want ',' or ']'"},
    {"[,1]", "! at offset 1, unexpected character ','"},
    {"{\"one\": 1", "! at offset 9, unexpected end of file"},
    {"{\"one\" 1", "! at offset 7, after object key, got '1', want ':'"},
    {"{\"one\": 1 \"two\": 2",
     "! at offset 10, in object, got '\"', want ',' or '}'"},
    {"{\"one\": 1, }", "! at offset 11, unexpected character '}'"},
    {"{1: 2}", "! at offset 2, got int for object key, want string"},
    {"{null: 2}", "! at offset 5, got NoneType for object key, want string"},
    {"{[]: 2}", "! at offset 1, got list for object key, want string"},
    {"{\"a\": 1, \"b\": 2, \"a\": 3}", "! at offset 17, duplicate key \"a\""},
    {"{\"a\": 1, \"\\u0061\": 3}", "! at offset 9, duplicate key \"\\u0061\""},
    {"]", "! at offset 0, unexpected character ']'"},
    {"\xef\xbb\xbf{}", "! at offset 0, unexpected character '\\ufeff'"},
    {"\xff", "! at offset 0, unexpected character '\\xff'"},
};

TEST(json_in_and_out)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(round_trip(rows[i].text, strlen(rows[i].text)), rows[i].want);
    CHECK_STR(round_trip("\0", 1),
              "! at offset 0, unexpected character '\\x00'");
    CHECK_STR(round_trip("1\0", 2),
              "! at offset 1, unexpected character '\\x00' after value");
}

static void nest(char *out, unsigned depth)
{
    memset(out, '[', depth);
    memset(out + depth, ']', depth);
}

/* Depth 200 is the default, and 201 too much; either way round. */
TEST(json_depth)
{
    struct star *s = star_open(NULL);
    star_value v;
    char text[404];

    nest(text, 200);
    v = star_from_json(s, text, 400);
    CHECK(v != 0);
    CHECK(v && star_to_json(s, v) != 0);
    star_value outer = star_list(s);
    CHECK(star_append(s, outer, v));
    CHECK(star_to_json(s, outer) == 0);
    CHECK(star_error(s) == STAR_ERROR_DEPTH);
    nest(text, 201);
    CHECK(star_from_json(s, text, 402) == 0);
    CHECK(star_error(s) == STAR_ERROR_DEPTH);
    star_close(s);
}

static star_value host(struct star *s, const struct star_args *a)
{
    (void)s;
    (void)a;
    return star_none();
}

static void refused(struct star *s, star_value v, const char *why)
{
    CHECK(star_to_json(s, v) == 0);
    CHECK(star_error(s) == STAR_ERROR_VALUE);
    CHECK_STR(star_error_message(s), why);
}

TEST(json_refuses_what_it_does_not_have)
{
    struct star *s = star_open(NULL);
    star_value list = star_list(s), dict = star_dict(s), inner = star_dict(s);
    star_value builtin = sl_host_builtin(s, "host", host, NULL);

    refused(s, builtin, "cannot encode builtin_function_or_method as JSON");
    refused(s, star_float(s, NAN), "cannot encode non-finite float nan");
    refused(s, star_float(s, -INFINITY), "cannot encode non-finite float -inf");
    refused(s, star_bytes(s, "x", 1), "cannot encode bytes as JSON");
    refused(s, sl_set_new(s, 0), "cannot encode set as JSON");
    refused(s, sl_range_new(s, 0, 3, 1), "cannot encode range as JSON");
    star_append(s, list, star_int(s, 1));
    star_append(s, list, inner);
    star_dict_set(s, dict, star_string(s, "a", 1), list);
    star_dict_set(s, inner, star_string(s, "x\n", 2), builtin);
    refused(s, dict,
            "in dict key \"a\": at list index 1: in dict key \"x\\n\": "
            "cannot encode builtin_function_or_method as JSON");
    star_dict_set(s, inner, star_string(s, "x\n", 2), dict);
    refused(s, dict,
            "in dict key \"a\": at list index 1: in dict key \"x\\n\": "
            "cycle in JSON structure");
    star_dict_set(s, inner, star_int(s, 7), star_none());
    refused(s, dict,
            "in dict key \"a\": at list index 1: dict has int key, want "
            "string");
    star_close(s);
}

/* The same value twice is no cycle. Tuples are arrays. */
TEST(json_shared_values)
{
    struct star *s = star_open(NULL);
    star_value two = star_int(s, 2), items[2], v;
    const char *p;
    size_t n;

    items[0] = items[1] = star_tuple(s, &two, 1);
    v = star_to_json(s, star_tuple(s, items, 2));
    CHECK(v && star_as_text(v, &p, &n) && n == 9 &&
          memcmp(p, "[[2],[2]]", 9) == 0);
    star_close(s);
}

/* Work is charged, and budgets end it with their own error. */
TEST(json_budgets)
{
    struct star_options o = {.limits.steps = 1000};
    struct star *s = star_open(&o);
    static char text[400001];

    memset(text, '1', sizeof text);
    for (size_t i = 1; i < sizeof text; i += 2)
        text[i] = ',';
    text[0] = '[';
    text[1] = '1';
    text[sizeof text - 2] = ' ';
    text[sizeof text - 1] = ']';
    CHECK(star_from_json(s, text, sizeof text) == 0);
    CHECK(star_error(s) == STAR_ERROR_STEPS);
    CHECK(star_usage(s).steps == 1000);
    star_close(s);

    o = (struct star_options){.limits.memory_bytes = 1 << 20};
    s = star_open(&o);
    CHECK(star_from_json(s, text, sizeof text) == 0);
    CHECK(star_error(s) == STAR_ERROR_MEMORY);
    CHECK(star_usage(s).memory_peak_bytes <= 1 << 20);
    CHECK(star_from_json(s, "[1]", 3) != 0);
    star_close(s);

    s = star_open(NULL);
    star_cancel(s);
    CHECK(star_from_json(s, text, sizeof text) == 0);
    CHECK(star_error(s) == STAR_ERROR_CANCELED);
    star_cancel_clear(s);
    CHECK(star_from_json(s, text, sizeof text) != 0);
    star_close(s);
}
