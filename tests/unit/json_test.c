/* base/json: reading and writing. [row 5], REQUIREMENTS 6.3, 6.7. */
#include "base/json_record.h"

#include <time.h>

#include "case_file.h"

static const struct json_options strict = {.max_depth = 8};
static const struct json_options loose = {
    .max_depth = 8, .comments = true, .trailing_commas = true};

/* The text written again, compact; or the error. In `a`. */
static const char *round_trip(struct str text, const struct json_options *o,
                              struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct json *j;
    struct json_writer w;
    struct err e = {0};

    if (!json_parse(text, o, a, &j, NULL, &e))
        return arena_text(a, err_first(&e), strlen(err_first(&e)));
    buf_init(&b, 1 << 20);
    json_writer_init(&w, &b, 0);
    json_value(&w, j);
    return str_dup0(buf_str(&b), a);
}

struct row {
    struct str text;
    const char *want; /* NULL: the text itself */
};

static void check_rows(const struct row *rows, size_t count,
                       const struct json_options *o)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        /* A copy of its own, so that a byte too far is seen. */
        char *copy = heap_alloc(rows[i].text.n);

        memcpy(copy, rows[i].text.p, rows[i].text.n);
        CHECK_STR(round_trip(str_make(copy, rows[i].text.n), o, &a),
                  rows[i].want ? rows[i].want : rows[i].text.p);
        heap_free(copy);
    }
}

/* clang-format off */
static const struct row good[] = {
    /* values alone, and white space of all four kinds */
    {STR_INIT("null"), NULL},
    {STR_INIT("true"), NULL},
    {STR_INIT("false"), NULL},
    {STR_INIT("7"), NULL},
    {STR_INIT("\"\""), NULL},
    {STR_INIT("[]"), NULL},
    {STR_INIT("{}"), NULL},
    {STR_INIT(" \t\r\n[ \t\r\n] \t\r\n"), "[]"},
    {STR_INIT("{ \"a\"\n:\r1 }\n"), "{\"a\":1}"},
    /* numbers keep their spelling (6.7) */
    {STR_INIT("[0,-0,10,-10,0.0,-0.5,1.50]"), NULL},
    {STR_INIT("[1e5,1E5,1e+5,1e-5,1.25E-07,0e0,0e+1]"), NULL},
    {STR_INIT("[123456789012345678901234567890,1e999,-1e-999]"), NULL},
    {STR_INIT("[0.00000000000000000000000000000000000001]"), NULL},
    /* strings */
    {STR_INIT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {STR_INIT("\"\\u0041\\u00e9\\u20AC\\uFFFF\""), "\"Aé€\xef\xbf\xbf\""},
    {STR_INIT("\"\\ud83d\\uDE00\\uDBFF\\uDFFF\""), "\"😀\xf4\x8f\xbf\xbf\""},
    {STR_INIT("\"a\\u0000b\""), NULL},
    {STR_INIT("\"\\u001f\\u007f\""), "\"\\u001f\\u007f\""},
    {STR_INIT("\"\xc2\x9b\u202e\u2028\U000e0041\u00a0\""), "\"\\u009b\\u202e\\u2028\\udb40\\udc41\u00a0\""},
    {STR_INIT("\"\u00ad\u200b\u200c\u200d\u2060\ufe00\ufeff\U000e0100\u3164\ufe0f\""),
     "\"\\u00ad\\u200b\\u200c\\u200d\\u2060\\ufe00\\ufeff\\udb40\\udd00\\u3164\ufe0f\""},
    {STR_INIT("\"raw \x7f é € 😀 \xe2\x80\xa8\""), "\"raw \\u007f é € 😀 \\u2028\""},
    {STR_INIT("\"\\\\u0041 // no /* comment */\""), NULL},
    {STR_INIT("[\"\\\"\",\"\\\\\"]"), NULL},
    /* arrays and objects */
    {STR_INIT("[1,[2,[3,[]]],{\"a\":{}}]"), NULL},
    {STR_INIT("{\"\":0,\"a\":1,\"A\":2,\"b\":{\"a\":[null]}}"), NULL},
    {STR_INIT("{\"z\":1,\"a\":2,\"m\":3}"), NULL},
    {STR_INIT("{\"\\u0061\":1}"), "{\"a\":1}"},
    {STR_INIT("[[[[[[[[]]]]]]]]"), NULL}, /* 8 deep: the edge */
};

static const struct row bad[] = {
    /* nothing, or too much */
    {STR_INIT(""), "line 1, column 1: expected a value, not the end"},
    {STR_INIT(" \n "), "line 2, column 2: expected a value, not the end"},
    {STR_INIT("1 2"), "line 1, column 3: expected the end, not '2'"},
    {STR_INIT("[][]"), "line 1, column 3: expected the end, not '['"},
    {STR_INIT("{}}"), "line 1, column 3: expected the end, not '}'"},
    {STR_INIT("[1]]"), "line 1, column 4: expected the end, not ']'"},
    {STR_INIT("\"a\"b"), "line 1, column 4: expected the end, not 'b'"},
    {STR_INIT("[]\0"), "line 1, column 3: expected the end, not the byte 0x00"},
    {STR_INIT("[]\f"), "line 1, column 3: expected the end, not the byte 0x0c"},
    {STR_INIT("]"), "line 1, column 1: expected a value, not ']'"},
    /* encodings */
    {STR_INIT("\xef\xbb\xbf{}"), "line 1, column 1: starts with a byte order mark"},
    {STR_INIT("\xef\xbb"), "line 1, column 1: not UTF-8"},
    {STR_INIT("\xff\xfe{\0}\0"), "line 1, column 1: not UTF-8"},
    {STR_INIT("[\0\"\0]\0"), "line 1, column 2: expected a value, not the byte 0x00"},
    {STR_INIT("\"a\n\xc3\x28\""), "line 2, column 1: not UTF-8"},
    {STR_INIT("\"\xc0\xaf\""), "line 1, column 2: not UTF-8"},
    {STR_INIT("\"\xe0\x80\x80\""), "line 1, column 2: not UTF-8"},
    {STR_INIT("\"\xed\xa0\x80\""), "line 1, column 2: not UTF-8"},
    {STR_INIT("\"\xf4\x90\x80\x80\""), "line 1, column 2: not UTF-8"},
    {STR_INIT("\"\xf0\x9f\x98"), "line 1, column 2: not UTF-8"},
    {STR_INIT("[1\xe2\x81\xa0]"), "line 1, column 3: expected ',' or ']', not the byte 0xe2"},
    {STR_INIT("[\xef\xbc\x91]"), "line 1, column 2: expected a value, not the byte 0xef"},
    {STR_INIT("\xc3\xa9"), "line 1, column 1: expected a value, not the byte 0xc3"},
    /* words */
    {STR_INIT("nul"), "line 1, column 1: expected a value, not 'n'"},
    {STR_INIT("[tru]"), "line 1, column 2: expected a value, not 't'"},
    {STR_INIT("[fals"), "line 1, column 2: expected a value, not 'f'"},
    {STR_INIT("nullx"), "line 1, column 5: expected the end, not 'x'"},
    {STR_INIT("True"), "line 1, column 1: expected a value, not 'T'"},
    {STR_INIT("NULL"), "line 1, column 1: expected a value, not 'N'"},
    {STR_INIT("undefined"), "line 1, column 1: expected a value, not 'u'"},
    {STR_INIT("abc"), "line 1, column 1: expected a value, not 'a'"},
    {STR_INIT("*"), "line 1, column 1: expected a value, not '*'"},
    {STR_INIT("<.>"), "line 1, column 1: expected a value, not '<'"},
    {STR_INIT("\\u0020[]"), "line 1, column 1: expected a value, not '\\'"},
    /* numbers */
    {STR_INIT("NaN"), "line 1, column 1: expected a value, not 'N'"},
    {STR_INIT("-NaN"), "line 1, column 2: expected a digit, not 'N'"},
    {STR_INIT("Infinity"), "line 1, column 1: expected a value, not 'I'"},
    {STR_INIT("-Infinity"), "line 1, column 2: expected a digit, not 'I'"},
    {STR_INIT("+1"), "line 1, column 1: expected a value, not '+'"},
    {STR_INIT("--1"), "line 1, column 2: expected a digit, not '-'"},
    {STR_INIT("- 1"), "line 1, column 2: expected a digit, not the byte 0x20"},
    {STR_INIT("-"), "line 1, column 2: expected a digit, not the end"},
    {STR_INIT("01"), "line 1, column 2: expected the end, not '1'"},
    {STR_INIT("-01"), "line 1, column 3: expected the end, not '1'"},
    {STR_INIT("00"), "line 1, column 2: expected the end, not '0'"},
    {STR_INIT(".5"), "line 1, column 1: expected a value, not '.'"},
    {STR_INIT("-.5"), "line 1, column 2: expected a digit, not '.'"},
    {STR_INIT("5."), "line 1, column 3: expected a digit, not the end"},
    {STR_INIT("5.e1"), "line 1, column 3: expected a digit, not 'e'"},
    {STR_INIT("1.2.3"), "line 1, column 4: expected the end, not '.'"},
    {STR_INIT("1e"), "line 1, column 3: expected a digit, not the end"},
    {STR_INIT("1E+"), "line 1, column 4: expected a digit, not the end"},
    {STR_INIT("1.5e-x"), "line 1, column 6: expected a digit, not 'x'"},
    {STR_INIT("1ee2"), "line 1, column 3: expected a digit, not 'e'"},
    {STR_INIT("1e+-2"), "line 1, column 4: expected a digit, not '-'"},
    {STR_INIT("0x1F"), "line 1, column 2: expected the end, not 'x'"},
    {STR_INIT("1_000"), "line 1, column 2: expected the end, not '_'"},
    {STR_INIT("1 000"), "line 1, column 3: expected the end, not '0'"},
    {STR_INIT("[1+2]"), "line 1, column 3: expected ',' or ']', not '+'"},
    {STR_INIT("[1a]"), "line 1, column 3: expected ',' or ']', not 'a'"},
    {STR_INIT("1\xc3\xa9"), "line 1, column 2: expected the end, not the byte 0xc3"},
    /* strings */
    {STR_INIT("\""), "line 1, column 2: expected the end of the string, not the end"},
    {STR_INIT("\"abc"), "line 1, column 5: expected the end of the string, not the end"},
    {STR_INIT("\"a\\\"b"), "line 1, column 6: expected the end of the string, not the end"},
    {STR_INIT("\"\\"), "line 1, column 3: expected an escape such as \\n or \\u0041, not the end"},
    {STR_INIT("\"\\x41\""), "line 1, column 3: expected an escape such as \\n or \\u0041, not 'x'"},
    {STR_INIT("\"\\a\""), "line 1, column 3: expected an escape such as \\n or \\u0041, not 'a'"},
    {STR_INIT("\"\\'\""), "line 1, column 3: expected an escape such as \\n or \\u0041, not '''"},
    {STR_INIT("\"\\0\""), "line 1, column 3: expected an escape such as \\n or \\u0041, not '0'"},
    {STR_INIT("\"\\\0\""), "line 1, column 3: expected an escape such as \\n or \\u0041, not the byte 0x00"},
    {STR_INIT("\"\\U0041\""), "line 1, column 3: expected an escape such as \\n or \\u0041, not 'U'"},
    {STR_INIT("\"\\\xc3\xa9\""), "line 1, column 3: expected an escape such as \\n or \\u0041, not the byte 0xc3"},
    {STR_INIT("\"\\u\""), "line 1, column 4: expected four hexadecimal digits, not '\"'"},
    {STR_INIT("\"\\u004"), "line 1, column 7: expected four hexadecimal digits, not the end"},
    {STR_INIT("\"\\u00g1\""), "line 1, column 6: expected four hexadecimal digits, not 'g'"},
    {STR_INIT("\"\\u 041\""), "line 1, column 4: expected four hexadecimal digits, not the byte 0x20"},
    {STR_INIT("\"\\ud800\""), "line 1, column 4: an unpaired surrogate"},
    {STR_INIT("\"\\udc00\\ud800\""), "line 1, column 4: an unpaired surrogate"},
    {STR_INIT("\"\\ud800\\n\""), "line 1, column 4: an unpaired surrogate"},
    {STR_INIT("\"\\ud800\\u\""), "line 1, column 4: an unpaired surrogate"},
    {STR_INIT("\"\\ud800\\u0041\""), "line 1, column 4: an unpaired surrogate"},
    {STR_INIT("\"\\ud800\\ud800\""), "line 1, column 4: an unpaired surrogate"},
    {STR_INIT("{\"\\udead\":1}"), "line 1, column 5: an unpaired surrogate"},
    {STR_INIT("\"\n\""), "line 1, column 2: expected the end of the string, not the byte 0x0a"},
    {STR_INIT("\"\t\""), "line 1, column 2: expected the end of the string, not the byte 0x09"},
    {STR_INIT("\"\\n\x1f\""), "line 1, column 4: expected the end of the string, not the byte 0x1f"},
    {STR_INIT("\"\0\""), "line 1, column 2: expected the end of the string, not the byte 0x00"},
    {STR_INIT("'a'"), "line 1, column 1: expected a value, not '''"},
    {STR_INIT("`a`"), "line 1, column 1: expected a value, not '`'"},
    /* arrays */
    {STR_INIT("["), "line 1, column 2: expected a value, not the end"},
    {STR_INIT("[1"), "line 1, column 3: expected ',' or ']', not the end"},
    {STR_INIT("[1,"), "line 1, column 4: expected a value, not the end"},
    {STR_INIT("[,]"), "line 1, column 2: expected a value, not ','"},
    {STR_INIT("[,1]"), "line 1, column 2: expected a value, not ','"},
    {STR_INIT("[1,]"), "line 1, column 4: expected a value, not ']'"},
    {STR_INIT("[1,,2]"), "line 1, column 4: expected a value, not ','"},
    {STR_INIT("[1 2]"), "line 1, column 4: expected ',' or ']', not '2'"},
    {STR_INIT("[1;2]"), "line 1, column 3: expected ',' or ']', not ';'"},
    {STR_INIT("[1:2]"), "line 1, column 3: expected ',' or ']', not ':'"},
    {STR_INIT("[\"a\":1]"), "line 1, column 5: expected ',' or ']', not ':'"},
    {STR_INIT("[1}"), "line 1, column 3: expected ',' or ']', not '}'"},
    {STR_INIT("[\n1,\n2 3]"), "line 3, column 3: expected ',' or ']', not '3'"},
    {STR_INIT("[1,\r2\r\n3]"), "line 3, column 1: expected ',' or ']', not '3'"},
    /* objects */
    {STR_INIT("{"), "line 1, column 2: expected a name in double quotes, not the end"},
    {STR_INIT("{]"), "line 1, column 2: expected a name in double quotes, not ']'"},
    {STR_INIT("{,}"), "line 1, column 2: expected a name in double quotes, not ','"},
    {STR_INIT("{a:1}"), "line 1, column 2: expected a name in double quotes, not 'a'"},
    {STR_INIT("{'a':1}"), "line 1, column 2: expected a name in double quotes, not '''"},
    {STR_INIT("{1:1}"), "line 1, column 2: expected a name in double quotes, not '1'"},
    {STR_INIT("{null:1}"), "line 1, column 2: expected a name in double quotes, not 'n'"},
    {STR_INIT("{[]:1}"), "line 1, column 2: expected a name in double quotes, not '['"},
    {STR_INIT("{:1}"), "line 1, column 2: expected a name in double quotes, not ':'"},
    {STR_INIT("{\"a\"}"), "line 1, column 5: expected ':', not '}'"},
    {STR_INIT("{\"a\" 1}"), "line 1, column 6: expected ':', not '1'"},
    {STR_INIT("{\"a\",1}"), "line 1, column 5: expected ':', not ','"},
    {STR_INIT("{\"a\"=1}"), "line 1, column 5: expected ':', not '='"},
    {STR_INIT("{\"a\"::1}"), "line 1, column 6: expected a value, not ':'"},
    {STR_INIT("{\"a\":}"), "line 1, column 6: expected a value, not '}'"},
    {STR_INIT("{\"a\":"), "line 1, column 6: expected a value, not the end"},
    {STR_INIT("{\"a\":1"), "line 1, column 7: expected ',' or '}', not the end"},
    {STR_INIT("{\"a\":1,"), "line 1, column 8: expected a name in double quotes, not the end"},
    {STR_INIT("{\"a\":1,}"), "line 1, column 8: expected a name in double quotes, not '}'"},
    {STR_INIT("{\"a\":1,,}"), "line 1, column 8: expected a name in double quotes, not ','"},
    {STR_INIT("{\"a\":1 \"b\":2}"), "line 1, column 8: expected ',' or '}', not '\"'"},
    {STR_INIT("{\"a\":1 2}"), "line 1, column 8: expected ',' or '}', not '2'"},
    {STR_INIT("{\"a\":1]"), "line 1, column 7: expected ',' or '}', not ']'"},
    /* names given twice (6.7), however they are spelled */
    {STR_INIT("{\"a\":1,\"a\":1}"), "line 1, column 8: \"a\" is given twice"},
    {STR_INIT("{\"b\":{\"a\":1,\n \"\\u0061\":2}}"), "line 2, column 2: \"a\" is given twice"},
    {STR_INIT("{\"\":1,\"\":1}"), "line 1, column 7: \"\" is given twice"},
    /* comments are not JSON */
    {STR_INIT("// x\n1"), "line 1, column 1: expected a value, not '/'"},
    {STR_INIT("[/**/]"), "line 1, column 2: expected a value, not '/'"},
    {STR_INIT("{} //"), "line 1, column 4: expected the end, not '/'"},
    {STR_INIT("{} # x"), "line 1, column 4: expected the end, not '#'"},
    {STR_INIT("{}/"), "line 1, column 3: expected the end, not '/'"},
    /* too deep: 9 */
    {STR_INIT("[[[[[[[[[]]]]]]]]]"), "line 1, column 9: nested more than 8 deep"},
    {STR_INIT("[[[[[[[[{"), "line 1, column 9: nested more than 8 deep"},
};

static const struct row commented[] = {
    {STR_INIT("// x\n{}// y"), "{}"},
    {STR_INIT("/**/[/* , */1/***/,/*/ */2//\n]"), "[1,2]"},
    {STR_INIT("{/*a*/\"a\"/*b*/:/*c*/1/*d*/,/*e*/}"), "{\"a\":1}"},
    {STR_INIT("[1,\n]"), "[1]"},
    {STR_INIT("[\"/* no */\",\"// no\"]"), "[\"/* no */\",\"// no\"]"},
    {STR_INIT("// x\r1"), "1"},
    {STR_INIT("[,]"), "line 1, column 2: expected a value, not ','"},
    {STR_INIT("{,}"), "line 1, column 2: expected a name in double quotes, not ','"},
    {STR_INIT("[1,,]"), "line 1, column 4: expected a value, not ','"},
    {STR_INIT("1,"), "line 1, column 2: expected the end, not ','"},
    {STR_INIT("1\n /* x\n *"), "line 2, column 2: a comment without an end"},
    {STR_INIT("/*/"), "line 1, column 1: a comment without an end"},
    {STR_INIT("/ 1"), "line 1, column 1: expected a comment, not '/'"},
    {STR_INIT("1 /"), "line 1, column 3: expected a comment, not '/'"},
    {STR_INIT("// \xff\n1"), "line 1, column 4: not UTF-8"},
    {STR_INIT("/* \n\n */ x"), "line 3, column 5: expected a value, not 'x'"},
    {STR_INIT("// x"), "line 1, column 5: expected a value, not the end"},
    {STR_INIT("1 # x"), "line 1, column 3: expected the end, not '#'"},
};
/* clang-format on */

TEST(good_text_reads_and_writes_back) /* [row 5] */
{
    check_rows(good, sizeof good / sizeof *good, &strict);
    check_rows(good, sizeof good / sizeof *good, &loose);
}

TEST(bad_text_is_refused_with_its_place) /* [row 5] */
{
    check_rows(bad, sizeof bad / sizeof *bad, &strict);
}

/* Each rule of RFC 8259, and the ways to break it: a case that is refused makes no
 * other text, one that is accepted reads the same once written. */
TEST(the_grammar_of_rfc_8259) /* [row 5] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    const struct case_row *rows =
        case_rows("tests/cases/json/rfc8259.txt", '%', " ", 3, &a, &count);

    CHECK(count > 350);
    for (size_t i = 0; i < count; i++) {
        const struct json *j, *again;
        struct err e = {0};
        bool ok = json_parse(rows[i].cells[2], &strict, &a, &j, NULL, &e);
        const char *text = ok ? round_trip(rows[i].cells[2], &strict, &a) : "";

        if (ok != str_is(rows[i].cells[0], "y") ||
            (ok &&
             (!json_parse(str_cstr(text), &strict, &a, &again, NULL, &e) ||
              strcmp(round_trip(str_cstr(text), &strict, &a), text)))) {
            printf("# rfc8259.txt:%u: %s: %s\n", rows[i].line,
                   rows[i].cells[1].p, ok ? text : err_first(&e));
            CHECK(false);
        }
    }
}

TEST(comments_only_on_request)
{
    check_rows(commented, sizeof commented / sizeof *commented, &loose);
}

/* Every beginning of a good text is refused, but those that are whole. */
TEST(every_cut_is_refused)
{
    static const struct str text = STR_INIT(
        "{\"a\": [1.5e+3, \"\\ud83d\\ude00\\n\", true], \"b\": {\"c\": null}}");

    for (size_t n = 0; n < text.n; n++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct json *j = NULL;
        struct err e = {0};
        char *copy = heap_alloc(n);

        memcpy(copy, text.p, n);
        CHECK(!json_parse(str_make(copy, n), &strict, &a, &j, NULL, &e));
        CHECK(j == NULL && e.code == ERR_FORMAT);
        heap_free(copy);
    }
}

TEST(positions_point_into_the_text)
{
    CLEANUP(arena_done) struct arena a = {0};
    static const struct str text =
        STR_INIT("{\n  \"a\" : [ 1,\n 22 ],\n  \"\\u0062\":\"x\\ty\"\n}\n");
    const struct json *root, *m;
    struct err e = {0};

    CHECK(json_parse(text, &strict, &a, &root, NULL, &e));
    CHECK(root->kind == JSON_OBJECT && root->line == 1 && root->count == 2);
    CHECK(root->start == 0 && root->end == text.n - 1);
    m = json_get(root, "a");
    CHECK(m->line == 2 && m->key_line == 2 && m->count == 2);
    CHECK(text.p[m->key_start] == '"');
    CHECK(str_is(str_slice(text, m->start, m->end), "[ 1,\n 22 ]"));
    CHECK(m->first->next->line == 3);
    CHECK(str_is(str_slice(text, m->first->next->start, m->first->next->end),
                 "22"));
    m = json_get_str(root, STR("b"));
    CHECK(m->line == 4 && str_is(json_text(m), "x\ty"));
    CHECK(str_is(str_slice(text, m->key_start, m->start), "\"\\u0062\":"));
    CHECK(json_get(root, "c") == NULL && json_get(m, "a") == NULL);
    CHECK(json_get(NULL, "a") == NULL);
    CHECK(json_text(root).p == NULL && json_text(NULL).p == NULL);
}

TEST(text_without_escapes_is_borrowed)
{
    CLEANUP(arena_done) struct arena a = {0};
    static const char text[] = "{\"key\": \"value\"}";
    const struct json *root;
    struct err e = {0};

    CHECK(json_parse(str_cstr(text), &strict, &a, &root, NULL, &e));
    CHECK(root->first->key.p == text + 2);
    CHECK(root->first->text.p == text + 9);
}

TEST(limits_hold_at_their_edges) /* [row 5] */
{
    static const struct {
        const char *text;
        struct json_options o;
        const char *want; /* "" = accepted */
    } rows[] = {
        {"[1,2]", {.max_bytes = 5}, ""},
        {"[1,2]", {.max_bytes = 4}, "line 1, column 1: larger than 4 bytes"},
        {"[1,2]", {.max_nodes = 3}, ""},
        {"[1,2]", {.max_nodes = 2}, "line 1, column 4: more than 2 values"},
        {"{\"a\":1}", {.max_nodes = 1}, "line 1, column 6: more than 1 values"},
        {"[[]]", {.max_depth = 2}, ""},
        {"[[]]", {.max_depth = 1}, "line 1, column 2: nested more than 1 deep"},
        {"1", {.max_depth = 1}, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct json *j;
        struct err e = {0};
        unsigned line = 0;
        bool ok =
            json_parse(str_cstr(rows[i].text), &rows[i].o, &a, &j, &line, &e);

        CHECK(ok == !rows[i].want[0]);
        CHECK_STR(err_first(&e), rows[i].want);
        CHECK(ok || (e.code == ERR_LIMIT && line == 1));
    }
}

static struct str nested(struct arena *a, size_t depth)
{
    char *text = arena_alloc(a, depth * 2 + 1);

    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return str_make(text, depth * 2);
}

TEST(depth_costs_no_stack_and_64_is_the_default) /* [row 5], 6.7 */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct json_options o = {.max_depth = 1000000};
    struct str deep = nested(&a, 1000000);
    const struct json *j;
    struct json_writer w;
    struct err e = {0};

    CHECK(json_parse(deep, &o, &a, &j, NULL, &e));
    buf_init(&b, deep.n);
    json_writer_init(&w, &b, 0);
    json_value(&w, j);
    CHECK(!b.overflowed && str_eq(buf_str(&b), deep));
    o.max_depth = 0;
    CHECK(json_parse(nested(&a, 64), &o, &a, &j, NULL, &e));
    CHECK(!json_parse(nested(&a, 65), &o, &a, &j, NULL, &e));
    CHECK(e.code == ERR_LIMIT);
}

/* An object with `count` names, the last one twice when `twice`. */
static struct str big_object(struct arena *a, unsigned count, bool twice)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_char(&b, '{');
    for (unsigned i = 0; i < count; i++)
        buf_printf(&b, "%s\"key%u\":%u", i ? "," : "", i, i);
    if (twice)
        buf_printf(&b, ",\"key%u\":0", count - 1);
    buf_char(&b, '}');
    return arena_str(a, buf_str(&b));
}

TEST(names_given_twice_are_found_among_many)
{
    static const unsigned counts[] = {1, 2, 15, 16, 17, 18, 1000};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct json *j;
        struct err e = {0};

        CHECK(json_parse(big_object(&a, counts[i], false), &strict, &a, &j,
                         NULL, &e));
        CHECK(j->count == counts[i]);
        CHECK(!json_parse(big_object(&a, counts[i], true), &strict, &a, &j,
                          NULL, &e));
        CHECK(strstr(err_first(&e), "is given twice") != NULL);
    }
}

/* Processor seconds to read `text`, the best of three; bytes in *memory. */
static double cost_of(struct str text, size_t *memory)
{
    double best = 1e9;

    for (int i = 0; i < 3; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct timespec from, to;
        const struct json *j;
        struct err e = {0};
        double cost;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        CHECK(json_parse(text, &strict, &a, &j, NULL, &e));
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        cost = (double)(to.tv_sec - from.tv_sec) +
               (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
        best = cost < best ? cost : best;
        *memory = a.bytes;
    }
    return best;
}

/* Ten times the text: a quadratic reader would take a hundred times as long. */
TEST(cost_is_linear) /* [row 5] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t small_bytes, large_bytes;
    double small = cost_of(big_object(&a, 20000, false), &small_bytes);
    double large = cost_of(big_object(&a, 200000, false), &large_bytes);

    CHECK(large < small * 50);
    CHECK(large_bytes < small_bytes * 20);
}

TEST(outputs_stay_untouched_on_failure)
{
    CLEANUP(arena_done) struct arena a = {0};
    static const struct json mark;
    const struct json *j = &mark;
    struct err e = {0};
    unsigned line = 0;

    CHECK(!json_parse(STR("{\n\n\"a\" 1}"), &strict, &a, &j, &line, &e));
    CHECK(j == &mark && line == 3 && e.code == ERR_FORMAT);
    CHECK(!json_parse(str_make(NULL, 0), &strict, &a, &j, NULL, &e));
}

/* --- writing ------------------------------------------------------------ */

static void write_sample(struct json_writer *w)
{
    json_begin_object(w);
    json_member_string(w, "name", STR("a\"b\x01\xff é"));
    json_member_number(w, "big", UINT64_MAX);
    json_member_bool(w, "on", true);
    json_key(w, "none");
    json_null(w);
    json_key(w, "list");
    json_begin_array(w);
    json_number(w, 0);
    json_begin_object(w);
    json_end_object(w);
    json_begin_array(w);
    json_end_array(w);
    json_begin_array(w);
    json_raw(w, STR("-1.50"));
    json_end_array(w);
    json_end_array(w);
    json_key_str(w, STR("k\n"));
    json_begin_object(w);
    json_member_bool(w, "off", false);
    json_end_object(w);
    json_end_object(w);
}

TEST(writer_compact_and_indented)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    buf_init(&b, 4096);
    json_writer_init(&w, &b, 0);
    write_sample(&w);
    CHECK_STR(b.p, "{\"name\":\"a\\\"b\\u0001\xef\xbf\xbd é\","
                   "\"big\":18446744073709551615,\"on\":true,\"none\":null,"
                   "\"list\":[0,{},[],[-1.50]],\"k\\n\":{\"off\":false}}");
    buf_clear(&b);
    json_writer_init(&w, &b, 2);
    w.base = 1;
    write_sample(&w);
    CHECK_STR(b.p, "{\n"
                   "    \"name\": \"a\\\"b\\u0001\xef\xbf\xbd é\",\n"
                   "    \"big\": 18446744073709551615,\n"
                   "    \"on\": true,\n"
                   "    \"none\": null,\n"
                   "    \"list\": [\n"
                   "      0,\n"
                   "      {},\n"
                   "      [],\n"
                   "      [\n"
                   "        -1.50\n"
                   "      ]\n"
                   "    ],\n"
                   "    \"k\\n\": {\n"
                   "      \"off\": false\n"
                   "    }\n"
                   "  }");
}

TEST(writer_keeps_to_its_budget)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;
    struct err e = {0};

    buf_init(&b, 10);
    json_writer_init(&w, &b, 2);
    write_sample(&w);
    CHECK(b.overflowed && !buf_check(&b, "sample", &e) && e.code == ERR_LIMIT);
}

/* clang-format off */
static const struct {
    const char *text;
    bool whole, minus;
    uint64_t n;
} wholes[] = {
    {"0", true, false, 0}, {"-0", true, false, 0}, {"-0.0e5", true, false, 0},
    {"0e99999999999999999999", true, false, 0}, {"0.000", true, false, 0},
    {"7", true, false, 7}, {"-7", true, true, 7}, {"10", true, false, 10},
    {"2.0", true, false, 2}, {"2e0", true, false, 2}, {"2E+0", true, false, 2},
    {"-2.00e0", true, true, 2}, {"20e-1", true, false, 2},
    {"200.0e-2", true, false, 2}, {"0.002e3", true, false, 2},
    {"0.02e3", true, false, 20}, {"1.5e1", true, false, 15},
    {"100.5e1", true, false, 1005}, {"1e19", true, false, 10000000000000000000u},
    {"18446744073709551615", true, false, UINT64_MAX},
    {"18446744073709551616", true, false, UINT64_MAX},
    {"1e20", true, false, UINT64_MAX}, {"-1e999999999", true, true, UINT64_MAX},
    {"1e99999999999999999999999999", true, false, UINT64_MAX},
    {"2.5", false, false, 0}, {"-2.5", false, false, 0}, {"1e-1", false, false, 0},
    {"15e-1", false, false, 0}, {"200e-3", false, false, 0},
    {"0.0000000000000000001", false, false, 0},
    {"1e-99999999999999999999999999", false, false, 0},
    {"18446744073709551616.5", false, false, 0},
    {"\"2\"", false, false, 0}, {"true", false, false, 0}, {"null", false, false, 0},
    {"[2]", false, false, 0},
};
/* clang-format on */

enum shape { ROUND, SQUARE };

static const char *shape_name(unsigned value)
{
    return value == SQUARE ? "square" : "round";
}

struct part {
    struct str name;
    size_t size;
};

struct whole {
    struct str text, second, third;
    const char *word, *no_word;
    bool on, off;
    unsigned number, zero;
    size_t size, no_size;
    enum shape shape;
    struct str_list list, no_list;
    const struct str *items;
    size_t item_count;
    const struct part *parts;
    size_t part_count, zero_count;
    double score;
    struct inner {
        bool inside;
    } inner;
    const struct inner *outer;
};

static const struct json_member part_members[] = {
    JSON_MEMBER(struct part, "name", name),
    JSON_MEMBER_OR_NULL(struct part, "size", size),
};
JSON_RECORD(part, struct part);

static const struct json_member inner_members[] = {
    JSON_MEMBER(struct inner, "inside", inside),
};
JSON_RECORD(inner, struct inner);

static struct str size_text(const void *value)
{
    const struct whole *w = value;

    return w->size > 1000 ? STR("large") : STR("");
}

static const struct json_member whole_members[] = {
    JSON_MEMBER(struct whole, "text", text),
    JSON_MEMBER_OR_NULL(struct whole, "second", second),
    JSON_MEMBER_IF(struct whole, "third", third),
    JSON_MEMBER(struct whole, "word", word),
    JSON_MEMBER_OR_NULL(struct whole, "no_word", no_word),
    JSON_MEMBER(struct whole, "on", on),
    JSON_MEMBER_IF(struct whole, "off", off),
    JSON_MEMBER(struct whole, "number", number),
    JSON_MEMBER(struct whole, "zero", zero),
    JSON_MEMBER_IF(struct whole, "size", size),
    JSON_MEMBER_OR_NULL(struct whole, "no_size", no_size),
    JSON_MEMBER_NAMED(struct whole, "shape", shape, shape_name),
    JSON_MEMBER(struct whole, "list", list),
    JSON_MEMBER_IF(struct whole, "no_list", no_list),
    JSON_MEMBER_STRINGS(struct whole, "items", items, item_count),
    JSON_MEMBER_RECORDS(struct whole, "parts", parts, part_count, part_record),
    JSON_MEMBER_RECORDS_IF(struct whole, "absent", parts, zero_count,
                           part_record),
    JSON_MEMBER(struct whole, "score", score),
    JSON_MEMBER_TEXT("extent", size_text),
    JSON_MEMBERS_IN(struct whole, inner, inner_record),
    JSON_MEMBERS_AT(struct whole, outer, inner_record),
};
JSON_RECORD(whole, struct whole);

TEST(a_record_writes_each_member_by_the_type_of_its_field)
{
    struct str items[] = {STR("a"), STR("b")};
    const struct part parts[] = {{STR("x"), 7}, {STR("y"), 0}};
    const struct inner outer = {true};
    const struct whole value = {.text = STR("t"),
                                .word = "w",
                                .on = true,
                                .number = 3,
                                .size = 5000000000,
                                .shape = SQUARE,
                                .list = {items, 2},
                                .items = items,
                                .item_count = 1,
                                .parts = parts,
                                .part_count = 2,
                                .score = 0.123456,
                                .outer = &outer};
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, 4096, 0);
    json_put_members(&w, &whole_record, &value);
    json_member_records(&w, "none", &part_record, NULL, 0);
    json_end_object(&w);
    CHECK_STR(
        b.p,
        "{\"text\":\"t\",\"second\":null,\"word\":\"w\","
        "\"no_word\":null,\"on\":true,\"number\":3,\"zero\":0,"
        "\"size\":5000000000,\"no_size\":null,"
        "\"shape\":\"square\",\"list\":[\"a\",\"b\"],"
        "\"items\":[\"a\"],\"parts\":[{\"name\":\"x\",\"size\":7},"
        "{\"name\":\"y\",\"size\":null}],\"score\":0.1235,"
        "\"extent\":\"large\",\"inside\":false,\"inside\":true,\"none\":[]}");
}

TEST(whole_numbers_are_so_by_their_value)
{
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct json *j;
        bool minus = false;
        uint64_t n = 0;
        struct err e;

        CHECK(json_parse(str_cstr(wholes[i].text), &strict, &a, &j, NULL, &e));
        CHECK(json_whole(j, &minus, &n) == wholes[i].whole);
        if (wholes[i].whole)
            CHECK(minus == wholes[i].minus && n == wholes[i].n);
    }
    CHECK(!json_whole(NULL, NULL, NULL));
}

TEST(kinds_have_names)
{
    CHECK_STR(json_kind_name(JSON_STRING), "a string");
    CHECK_STR(json_kind_name(JSON_ARRAY), "an array");
    CHECK_STR(json_kind_name(JSON_OBJECT), "an object");
}

TEST(the_canonical_form_has_one_order_and_one_spelling)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"{\"b\":1,\"a\":[{\"d\":1.0,\"c\":{}}]}",
         "{\"a\":[{\"c\":{},\"d\":1}],\"b\":1}"},
        {"{\"a\":[{\"c\":{},\"d\":10e-1}],\"b\":1}",
         "{\"a\":[{\"c\":{},\"d\":1}],\"b\":1}"},
        {"[2,1,\"2\",null,true]", "[2,1,\"2\",null,true]"},
        {"[[],{},[[]]]", "[[],{},[[]]]"},
        {"1.50", "1.5"},
        {"-0.0", "0"},
        {"\"\\u0041\"", "\"A\""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        CLEANUP(buf_done) struct buf b = {0};
        const struct json *j;
        struct json_writer w;
        struct err e;

        CHECK(json_parse(str_cstr(rows[i].text), &strict, &a, &j, NULL, &e));
        buf_init(&b, 1000);
        json_writer_init(&w, &b, 0);
        json_canonical(&w, j);
        CHECK_STR(str_dup0(buf_str(&b), &a), rows[i].want);
    }
}
