#include "mapm/input.h"

#include "tap.h"

/* The argument of run(). [K20, X14]. */

#define PAIRS(...)                                                             \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

/* clang-format off */
static const struct {
    const char *text;
    const char *pairs[4];
    const char *out; /* NULL: an error with the text below */
    const char *why;
} rows[] = {
    {"", {NULL}, "{}", NULL},
    {" \n", {NULL}, "{}", NULL},
    {"{}", {NULL}, "{}", NULL},
    {"{ \"a\" : [ 1 , 2.50, null ] }\n", {NULL}, "{\"a\":[1,2.50,null]}", NULL},
    {"{\"a\":\"\\u00e4\\n\"}", {NULL}, "{\"a\":\"\xc3\xa4\\n\"}", NULL},
    {"{\"n\":123456789012345678901234567890}", {NULL}, "{\"n\":123456789012345678901234567890}", NULL},
    {"", {"a=1"}, "{\"a\":1}", NULL},
    {"", {"a=x", "b=true", "c=[1]", "d={\"e\":null}"}, "{\"a\":\"x\",\"b\":true,\"c\":[1],\"d\":{\"e\":null}}", NULL},
    {"", {"a=\"1\""}, "{\"a\":\"1\"}", NULL},
    {"", {"a="}, "{\"a\":\"\"}", NULL},
    {"", {"a=="}, "{\"a\":\"=\"}", NULL},
    {"", {"a=b=c"}, "{\"a\":\"b=c\"}", NULL},
    {"", {"a=007", "b=1.5", "c=nan", "d=[1"}, "{\"a\":\"007\",\"b\":1.5,\"c\":\"nan\",\"d\":\"[1\"}", NULL},
    {"", {"a b=c d"}, "{\"a b\":\"c d\"}", NULL},
    {"", {"\xc3\xa4=\xc3\xb6"}, "{\"\xc3\xa4\":\"\xc3\xb6\"}", NULL},
    {"", {"a=line\nline"}, "{\"a\":\"line\\nline\"}", NULL},
    /* pairs on top of the text */
    {"{\"a\":1,\"b\":2}", {"a=x"}, "{\"a\":\"x\",\"b\":2}", NULL},
    {"{\"a\":1}", {"b=2"}, "{\"a\":1,\"b\":2}", NULL},
    /* errors */
    {"[1]", {NULL}, NULL, "the input is an array, not an object"},
    {"\"x\"", {NULL}, NULL, "the input is a string"},
    {"null", {NULL}, NULL, "the input is null"},
    {"{", {NULL}, NULL, "the input is no JSON"},
    {"{\"a\":1} x", {NULL}, NULL, "the input is no JSON"},
    {"{\"a\":1,\"a\":2}", {NULL}, NULL, "the input is no JSON"},
    {"{\"a\":NaN}", {NULL}, NULL, "the input is no JSON"},
    {"", {"a"}, NULL, "the input \"a\" is not of the form key=value"},
    {"", {"=x"}, NULL, "the input \"=x\" is not of the form key=value"},
    {"", {"a=1", "a=2"}, NULL, "the input key \"a\" is given twice"},
    {"", {"a=\xff"}, NULL, "not UTF-8"},
};
/* clang-format on */

TEST(input_is_one_object) /* [K20] */
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct str pairs[4], out = {0};
        struct err e = {0};
        size_t count = 0;
        bool given = false, ok;

        while (count < 4 && rows[i].pairs[count]) {
            pairs[count] = str_cstr(rows[i].pairs[count]);
            count++;
        }
        ok = input_read(str_cstr(rows[i].text), pairs, count, &a, &out, &given,
                        &e);
        CHECK(ok == (rows[i].out != NULL));
        if (ok) {
            CHECK_STR(str_dup0(out, &a), rows[i].out);
            CHECK(given == (str_trim(str_cstr(rows[i].text)).n || count));
        } else {
            bool found = false;
            CHECK(e.code == ERR_USAGE);
            for (const char *m = err_next(&e, NULL); m; m = err_next(&e, m))
                found |= rows[i].why && strstr(m, rows[i].why);
            CHECK(found);
        }
        if (tap_failed)
            printf("# %zu: %s\n", i, err_first(&e));
        arena_done(&a);
    }
}

TEST(input_is_bounded)
{
    static const struct {
        size_t depth;
        bool ok;
    } depths[] = {{63, true}, {64, false}};
    struct arena a = {0};
    struct str out;
    struct err e;
    bool given;

    for (size_t i = 0; i < 2; i++) {
        CLEANUP(buf_done) struct buf b = {0};

        buf_init(&b, 1000);
        buf_text(&b, "{\"a\":");
        for (size_t k = 0; k < depths[i].depth; k++)
            buf_char(&b, '[');
        for (size_t k = 0; k < depths[i].depth; k++)
            buf_char(&b, ']');
        buf_char(&b, '}');
        CHECK(input_read(buf_str(&b), NULL, 0, &a, &out, &given, &e) ==
              depths[i].ok);
    }
    for (size_t over = 0; over < 2; over++) {
        CLEANUP(buf_done) struct buf b = {0};

        buf_init(&b, 2 * INPUT_MAX_BYTES);
        buf_text(&b, "{\"a\":\"");
        while (b.n < INPUT_MAX_BYTES - 2 + over)
            buf_char(&b, 'x');
        buf_text(&b, "\"}");
        CHECK(input_read(buf_str(&b), NULL, 0, &a, &out, &given, &e) ==
              (over == 0));
        CHECK(!over || e.code == ERR_LIMIT);
    }
    arena_done(&a);
}
