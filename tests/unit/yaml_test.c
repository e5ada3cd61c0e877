/* base/yaml: [row 5], REQUIREMENTS [X18] and 6.2 to 6.5. */
#include "base/buf.h"
#include "base/yaml.h"

#include <time.h>

#include "tap.h"

static const struct yaml_options usual = {.max_depth = 8, .max_nodes = 100};

/* --- a short form of the tree ------------------------------------------- */

static void put_scalar(struct buf *b, const struct yaml *y)
{
    static const char marks[] = {'\0', '\'', '"', '|', '>'};

    if (marks[y->style])
        buf_char(b, marks[y->style]);
    buf_append(b, y->text);
}

/* "{a=1 b=[x 'y]}": quotes and "|", ">" mark the style, "b:" a block. */
static const char *show(const struct yaml *root, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct yaml *open[64], *y = root;
    size_t depth = 0;

    buf_init(&b, 1 << 20);
    while (y || depth) {
        if (!y) {
            y = open[--depth];
            buf_char(&b, y->kind == YAML_MAPPING ? '}' : ']');
            y = y->next;
            continue;
        }
        if (b.n && !strchr("{[", b.p[b.n - 1]))
            buf_char(&b, ' ');
        if (y->key.p) {
            buf_append(&b, y->key);
            buf_char(&b, '=');
        }
        if (y->kind == YAML_SCALAR) {
            put_scalar(&b, y);
            y = y->next;
            continue;
        }
        buf_text(&b, y->kind == YAML_MAPPING ? "{" : "[");
        open[depth++] = y;
        y = y->first;
    }
    return str_dup0(buf_str(&b), a);
}

struct row {
    struct str text;
    const char *want;
};

/* clang-format off */
static const struct row good[] = {
    {STR_INIT(""), ""},
    {STR_INIT("\n\n"), ""},
    {STR_INIT("# only\n# comments\n"), ""},
    {STR_INIT("---\n"), ""},
    {STR_INIT("---\n...\n"), ""},
    {STR_INIT("word"), "word"},
    {STR_INIT("a: 1\nb: two words\nc:\n"), "{a=1 b=two words c=}"},
    {STR_INIT("--- \na: 1\n...\n# end\n"), "{a=1}"},
    {STR_INIT("a: 1\r\nb: 2\r\n"), "{a=1 b=2}"},
    {STR_INIT("a: 'it''s'\nb: \"\\u00e9\\n\"\n"), "{a='it's b=\"\xc3\xa9\n}"},
    {STR_INIT("a: |\n  x\n   y\nb: >-\n  x\n  y\n"), "{a=|x\n y\n b=>x y}"},
    {STR_INIT("a: one\n  two\n"), "{a=one two}"},
    {STR_INIT("a:\n- 1\n- b: 2\n  c: 3\n- - 4\n"), "{a=[1 {b=2 c=3} [4]]}"},
    {STR_INIT("{a: [1, {b: 2}], c}"), "{a=[1 {b=2}] c=}"},
    {STR_INIT("a: [\n  1,\n  2,\n]\n"), "{a=[1 2]}"}, /* flow over lines */
    {STR_INIT("[a: b]"), "[{a=b}]"},
    {STR_INIT("? a\n: b\n"), "{a=b}"},
    {STR_INIT("a:\t1\n"), "{a=1}"}, /* 6.5 */
    {STR_INIT("\"<<\": x"), "{<<=x}"},
    {STR_INIT("a: <<"), "{a=<<}"},
    {STR_INIT("a: x!y & *z\n"), "{a=x!y & *z}"},
    {STR_INIT("\"&a\": \"*b\"\n'!c': '%d'\n"), "{&a=\"*b !c='%d}"},
    {STR_INIT("1: a\n\"2\": b\n"), "{1=a 2=b}"},
    {STR_INIT("k\xc3\xa9y: v\xe2\x82\xac\n"), "{k\xc3\xa9y=v\xe2\x82\xac}"},
    {STR_INIT("[[[[[[[[]]]]]]]]"), "[[[[[[[[]]]]]]]]"}, /* 8 deep: the edge */
};

static const struct {
    struct str text;
    enum yaml_fault fault;
    const char *want;
} bad[] = {
    {STR_INIT("a: &x 1\n"), YAML_FAULT_REFUSED, "line 1: anchors (\"&\") are not allowed"},
    {STR_INIT("a: 1\nb: &x [1]\n"), YAML_FAULT_REFUSED, "line 2: anchors (\"&\") are not allowed"},
    {STR_INIT("a: &x {}\n"), YAML_FAULT_REFUSED, "line 1: anchors (\"&\") are not allowed"},
    {STR_INIT("&k a: 1\n"), YAML_FAULT_REFUSED, "line 1: anchors (\"&\") are not allowed"},
    {STR_INIT("a: 1\n\nb: *x\n"), YAML_FAULT_REFUSED, "line 3: aliases (\"*\") are not allowed"},
    {STR_INIT("*x : 1\n"), YAML_FAULT_REFUSED, "line 1: aliases (\"*\") are not allowed"},
    {STR_INIT("a: !!str 1\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("a: !x [1]\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("--- !x {a: 1}\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("a: !<tag:x> y\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("\xc3\xa9: ! b\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("a: ! \"b\"\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("a: ! |\n  b\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("a: !\nb: 1\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("a: ! {}\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("! a: 1\n"), YAML_FAULT_REFUSED, "line 1: tags (\"!\") are not allowed"},
    {STR_INIT("%YAML 1.1\n---\na: 1\n"), YAML_FAULT_REFUSED, "line 1: directives (\"%\") are not allowed"},
    {STR_INIT("%TAG ! tag:x,2000:\n---\na: 1\n"), YAML_FAULT_REFUSED, "line 1: directives (\"%\") are not allowed"},
    {STR_INIT("a: 1\n---\nb: 2\n"), YAML_FAULT_REFUSED, "line 2: more than one document"},
    {STR_INIT("---\n---\n"), YAML_FAULT_REFUSED, "line 2: more than one document"},
    {STR_INIT("a: 1\n...\nb: 2\n"), YAML_FAULT_SYNTAX, "line 3: did not find expected <document start>"},
    {STR_INIT("[a]: b\n"), YAML_FAULT_REFUSED, "line 1: a key must be text, not a list or a mapping"},
    {STR_INIT("? {a: 1}\n: b\n"), YAML_FAULT_REFUSED, "line 1: a key must be text, not a list or a mapping"},
    {STR_INIT("<<: {a: 1}\n"), YAML_FAULT_REFUSED, "line 1: merge keys (\"<<\") are not allowed"},
    {STR_INIT("a: 1\nb: 2\na: 3\n"), YAML_FAULT_DUPLICATE, "line 3: \"a\" is given twice"},
    {STR_INIT("x: {a: 1,\n 'a': 2}\n"), YAML_FAULT_DUPLICATE, "line 2: \"a\" is given twice"},
    {STR_INIT("\"\\u0061\": 1\na: 2\n"), YAML_FAULT_DUPLICATE, "line 2: \"a\" is given twice"},
    {STR_INIT("a: \"x\\0y\"\n"), YAML_FAULT_NUL, "line 1: contains a NUL character"},
    {STR_INIT("a: 1\n\"x\\0\": 1\n"), YAML_FAULT_NUL, "line 2: contains a NUL character"},
    {STR_INIT("a: 1\nb: x\0y\n"), YAML_FAULT_NUL, "line 2: contains a NUL character"},
    {STR_INIT("\xef\xbb\xbf" "a: 1\n"), YAML_FAULT_REFUSED, "line 1: starts with a byte order mark"},
    {STR_INIT("\xff\xfe" "a\0:\0"), YAML_FAULT_REFUSED, "line 1: starts with a byte order mark"},
    {STR_INIT("\xfe\xff\0a\0:"), YAML_FAULT_REFUSED, "line 1: starts with a byte order mark"},
    {STR_INIT("a\0:\0 \0b\0"), YAML_FAULT_NUL, "line 1: contains a NUL character"},
    {STR_INIT("a: 1\nb: \xff\n"), YAML_FAULT_SYNTAX, "line 2: invalid leading UTF-8 octet"},
    {STR_INIT("a: \xed\xa0\x80\n"), YAML_FAULT_SYNTAX, "line 1: invalid Unicode character"},
    {STR_INIT("a: \"\\ud800\"\n"), YAML_FAULT_SYNTAX, "line 1: found invalid Unicode character escape code"},
    {STR_INIT("a: \x1b[31m\n"), YAML_FAULT_SYNTAX, "line 1: control characters are not allowed"},
    {STR_INIT("a: b: c\n"), YAML_FAULT_SYNTAX, "line 1: mapping values are not allowed in this context"},
    {STR_INIT("\xc3\xa9: 1\n\tb: 2\n"), YAML_FAULT_SYNTAX, "line 2: found a tab character that violates indentation"},
    {STR_INIT("a: [1, 2\nb: 3\n"), YAML_FAULT_SYNTAX, "line 2: did not find expected ',' or ']'"},
    {STR_INIT("a: \"x\n"), YAML_FAULT_SYNTAX, "line 2: found unexpected end of stream"},
    {STR_INIT("[[[[[[[[[]]]]]]]]]"), YAML_FAULT_LIMIT, "line 1: nested more than 8 deep"},
    {STR_INIT("- - - - - - - - - a\n"), YAML_FAULT_LIMIT, "line 1: nested more than 8 deep"},
};
/* clang-format on */

TEST(good_text_gives_its_tree)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct yaml *y = NULL;
        struct err e = {0};

        CHECK(yaml_parse(good[i].text, &usual, &a, &y, NULL, &e));
        CHECK_STR(err_first(&e), "");
        CHECK_STR(show(y, &a), good[i].want);
        CHECK((y == NULL) == !good[i].want[0]);
    }
}

TEST(what_could_deceive_is_refused) /* [row 5] */
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        static const struct yaml mark;
        const struct yaml *y = &mark;
        struct yaml_problem problem;
        struct err e = {0};
        unsigned line;

        CHECK(!yaml_parse(bad[i].text, &usual, &a, &y, &problem, &e));
        CHECK_STR(err_first(&e), bad[i].want);
        CHECK(problem.fault == bad[i].fault);
        CHECK(sscanf(bad[i].want, "line %u", &line) == 1 &&
              problem.line == line);
        CHECK(y == &mark);
        CHECK(e.code ==
              (bad[i].fault == YAML_FAULT_LIMIT ? ERR_LIMIT : ERR_FORMAT));
        CHECK((problem.fault == YAML_FAULT_DUPLICATE) ==
              str_is(problem.key, "a"));
    }
}

TEST(limits_hold_at_their_edges) /* [row 5], 6.3 */
{
    static const struct {
        const char *text;
        struct yaml_options o;
        const char *want; /* "" = accepted */
    } rows[] = {
        {"a: [1]", {.max_bytes = 6}, ""},
        {"a: [1]", {.max_bytes = 5}, "line 1: larger than 5 bytes"},
        {"a: [1]", {.max_nodes = 4}, ""},
        {"a: [1]", {.max_nodes = 3}, "line 1: more than 3 values"},
        {"a: [1]", {.max_depth = 2}, ""},
        {"a: [1]", {.max_depth = 1}, "line 1: nested more than 1 deep"},
        {"\na: [1]",
         {.max_depth = 1, .first_line = 7},
         "line 8: nested more than 1 deep"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct yaml *y;
        struct err e = {0};

        CHECK(yaml_parse(str_cstr(rows[i].text), &rows[i].o, &a, &y, NULL,
                         &e) == !rows[i].want[0]);
        CHECK_STR(err_first(&e), rows[i].want);
    }
}

static struct str nested(struct arena *a, size_t depth)
{
    char *text = arena_alloc(a, depth * 2);

    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return str_make(text, depth * 2);
}

TEST(depth_64_is_the_default)
{
    CLEANUP(arena_done) struct arena a = {0};
    static const struct yaml_options none;
    const struct yaml *y;
    struct err e = {0};

    CHECK(yaml_parse(nested(&a, 64), &none, &a, &y, NULL, &e));
    CHECK(!yaml_parse(nested(&a, 65), &none, &a, &y, NULL, &e));
}

/* --- positions ---------------------------------------------------------- */

static void check_slice(struct str text, const struct yaml *y, const char *want)
{
    CLEANUP(arena_done) struct arena a = {0};

    CHECK(y != NULL);
    if (y)
        CHECK_STR(str_dup0(str_slice(text, y->start, y->end), &a), want);
}

TEST(positions_are_bytes_and_lines_of_the_file)
{
    CLEANUP(arena_done) struct arena a = {0};
    static const struct str text =
        STR_INIT("# h\xc3\xa9\r\n"
                 "\xe2\x82\xac: \xf0\x9f\x98\x80 'x'\r\n"
                 "list:\r\n"
                 "- one\r\n"
                 "- {k: \xc3\xa9, l: \"m\"}\r\n"
                 "\r\n"
                 "# comment\r\n"
                 "text: |\r\n"
                 "  a\r\n"
                 "  b\r\n"
                 "last: \xe2\x80\xa8 z\r\n");
    struct yaml_options o = {.first_line = 10};
    const struct yaml *root, *y, *k;
    struct err e = {0};

    CHECK(yaml_parse(text, &o, &a, &root, NULL, &e));
    CHECK(root->line == 11 && root->column == 1 && root->start == 7);
    y = yaml_get(root, "\xe2\x82\xac");
    check_slice(text, y, "\xf0\x9f\x98\x80 'x'");
    CHECK(y && y->line == 11 && y->column == 4 && y->key_line == 11);
    CHECK(y && y->key_start == 7);
    y = yaml_get(root, "list");
    check_slice(text, y, "- one\r\n- {k: \xc3\xa9, l: \"m\"}");
    CHECK(y && y->line == 13 && y->key_line == 12 && !y->flow && y->count == 2);
    y = y->first->next;
    check_slice(text, y, "{k: \xc3\xa9, l: \"m\"}");
    CHECK(y->flow && y->line == 14 && y->column == 3);
    k = yaml_get(y, "l");
    check_slice(text, k, "\"m\"");
    CHECK(k && k->column == 13 && text.p[k->key_start] == 'l');
    CHECK(yaml_get(root, "text") && yaml_get(root, "text")->line == 17);
    CHECK(yaml_get(root, "last") && yaml_get(root, "last")->key_line == 20);
    CHECK(yaml_get(root, "none") == NULL && yaml_get(k, "k") == NULL);
    CHECK(yaml_get(NULL, "k") == NULL);
}

/* libyaml takes U+0085, U+2028, U+2029 for line breaks; editors do not. 6.5 */
TEST(lines_are_those_of_editors)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct yaml *y;
    struct err e = {0};

    CHECK(yaml_parse(STR("a: \"x\xe2\x80\xa8y\xc2\x85z\"\rb: 1\r\nc: 2\n"),
                     &usual, &a, &y, NULL, &e));
    CHECK(yaml_get(y, "b")->line == 2 && yaml_get(y, "c")->line == 3);
}

/* --- types: [X18], 6.2 ---------------------------------------------------- */

/* clang-format off */
static const struct {
    enum yaml_type type;
    const char *texts[40];
} types[] = {
    {YAML_TYPE_NULL, {"", "~", "null", "Null", "NULL"}},
    {YAML_TYPE_BOOL, {"yes", "Yes", "YES", "no", "No", "NO", "true", "True",
                      "TRUE", "false", "False", "FALSE", "on", "On", "ON",
                      "off", "Off", "OFF"}},
    {YAML_TYPE_INT, {"0", "-0", "+1", "365", "1_000", "1_", "0777", "00",
                     "0_7", "0b101", "-0b1_0", "0xFf", "0x_", "12:30", "1:5",
                     "-1:59", "190:20:30", "1_0:00"}},
    {YAML_TYPE_FLOAT, {"1.10", "1.", "-1.5", "+0.0", ".5", ".5_0", "1_0.5",
                       "1.5e+3", "1.5E-3", "1.e+1", ".5e-1", "08.5", "1:30.5",
                       "190:20:30.15", "0:30.", ".inf", "-.Inf", "+.INF",
                       ".nan", ".NaN", ".NAN"}},
    {YAML_TYPE_TIMESTAMP, {"2024-01-01", "9999-99-99", "2024-1-1 1:02:03",
                           "2024-01-01T12:00:00Z", "2024-01-01t12:00:00.5",
                           "2024-01-01 12:00:00 +5", "2024-1-01\t 1:00:00.-05:30"}},
    {YAML_TYPE_MERGE, {"<<"}},
    {YAML_TYPE_STRING, {"text", "1e3", "1.5e3", "1.0.0", "v1.0", "y", "n", "Y",
                        "yEs", "nULL", "nil", "none", "08", "09", "0o7", "0b2",
                        "0xg", "1,000", "+", "-", ".", "..", "+.5", "-.5",
                        "._5", "-.nan", ".iNF", "12:60", "0:30", "1:", "1::2",
                        "1:234", "2024-1-1", "2024-01-01T", "24-01-01",
                        "2024-01-01 12:00", "20240101-", "=", "<", "1 2"}},
};
/* clang-format on */

TEST(plain_scalars_have_the_types_of_yaml_1_1) /* [X18] */
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < 40 && types[i].texts[k]; k++) {
            struct yaml y = {.kind = YAML_SCALAR,
                             .text = str_cstr(types[i].texts[k])};

            if (yaml_type_of(&y) != types[i].type)
                CHECK_STR(types[i].texts[k], yaml_type_name(types[i].type));
            CHECK(yaml_is_string(&y) == (types[i].type == YAML_TYPE_STRING));
            y.style = YAML_DOUBLE;
            CHECK(yaml_type_of(&y) == YAML_TYPE_STRING && yaml_is_string(&y));
        }
}

TEST(collections_are_no_strings)
{
    struct yaml y = {.kind = YAML_MAPPING};

    CHECK(!yaml_is_string(&y) && !yaml_is_string(NULL));
    CHECK_STR(yaml_type_name(YAML_TYPE_BOOL), "a boolean");
}

/* --- quoting ------------------------------------------------------------ */

/* clang-format off */
static const struct {
    struct str text;
    const char *want; /* NULL: plain */
} quotes[] = {
    {STR_INIT("word"), NULL},
    {STR_INIT("two words"), NULL},
    {STR_INIT("1.0.0"), NULL},
    {STR_INIT("a#b"), NULL},
    {STR_INIT("-x"), NULL},
    {STR_INIT("~/x"), NULL},
    {STR_INIT("https://github.com/acme/tools/tree/v2/skills/a"), NULL},
    {STR_INIT("../a_b/c.d"), NULL},
    {STR_INIT("\xc3\xa9t\xc3\xa9 \xf0\x9f\x98\x80"), NULL},
    {STR_INIT(""), "\"\""},
    {STR_INIT("yes"), "\"yes\""},
    {STR_INIT("Y"), "\"Y\""},
    {STR_INIT("~"), "\"~\""},
    {STR_INIT("null"), "\"null\""},
    {STR_INIT("365"), "\"365\""},
    {STR_INIT("1.10"), "\"1.10\""},
    {STR_INIT("1e3"), "\"1e3\""},   /* a number in YAML 1.2 */
    {STR_INIT("0o17"), "\"0o17\""}, /* so is this */
    {STR_INIT("12:30"), "\"12:30\""},
    {STR_INIT("2024-01-01"), "\"2024-01-01\""},
    {STR_INIT("<<"), "\"<<\""},
    {STR_INIT("="), "\"=\""},
    {STR_INIT("- x"), "\"- x\""},
    {STR_INIT("-"), "\"-\""},
    {STR_INIT("---"), "\"---\""},
    {STR_INIT("... x"), "\"... x\""},
    {STR_INIT("a: b"), "\"a: b\""},
    {STR_INIT("a:"), "\"a:\""},
    {STR_INIT("a #b"), "\"a #b\""},
    {STR_INIT("#a"), "\"#a\""},
    {STR_INIT(" a"), "\" a\""},
    {STR_INIT("a "), "\"a \""},
    {STR_INIT("a, b"), "\"a, b\""},
    {STR_INIT("[a]"), "\"[a]\""},
    {STR_INIT("@a"), "\"@a\""},
    {STR_INIT("%a"), "\"%a\""},
    {STR_INIT("*a"), "\"*a\""},
    {STR_INIT("say \"x\\\""), "\"say \\\"x\\\\\\\"\""},
    {STR_INIT("a\nb\tc\r"), "\"a\\nb\\tc\\x0d\""},
    {STR_INIT("\x1b\x7f\xc2\x85"), "\"\\x1b\\x7f\\x85\""},
    {STR_INIT("\xe2\x80\xa8\xef\xbb\xbf"), "\"\\u2028\\ufeff\""},
    {STR_INIT("\xff"), "\"\xef\xbf\xbd\""},
};
/* clang-format on */

TEST(quoted_text_reads_back)
{
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str quoted = yaml_quote(quotes[i].text, &a);
        struct str flow = arena_printf(&a, "{k: [%.*s, %.*s]}", STR_ARG(quoted),
                                       STR_ARG(quoted));
        const struct yaml *y;
        struct err e = {0};

        CHECK_STR(quoted.p, quotes[i].want ? quotes[i].want : quotes[i].text.p);
        CHECK(yaml_parse(flow, &usual, &a, &y, NULL, &e));
        y = yaml_get(y, "k")->first->next;
        CHECK(yaml_is_string(y));
        CHECK(str_eq(y->text, quotes[i].text) || quotes[i].text.p[0] == '\xff');
    }
}

/* --- cost: [row 5] -------------------------------------------------------- */

/* Processor seconds, the best of three. */
static double cost_of(struct str text, const struct yaml_options *o, bool good_)
{
    double best = 1e9;

    for (int i = 0; i < 3; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct timespec from, to;
        const struct yaml *y;
        struct err e = {0};
        double cost;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        CHECK(yaml_parse(text, o, &a, &y, NULL, &e) == good_);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        cost = (double)(to.tv_sec - from.tv_sec) +
               (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
        best = cost < best ? cost : best;
    }
    return best;
}

static struct str many(struct arena *a, unsigned count, bool flow)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_text(&b, flow ? "{" : "");
    for (unsigned i = 0; i < count; i++)
        buf_printf(&b, flow ? "\xc3\xa9%u: x, " : "\xc3\xa9%u: x\n", i);
    buf_text(&b, flow ? "}" : "");
    return arena_str(a, buf_str(&b));
}

/* Ten times the text: a quadratic reader would take a hundred times as long. */
TEST(cost_is_linear)
{
    static const struct yaml_options o;

    for (int flow = 0; flow < 2; flow++) {
        CLEANUP(arena_done) struct arena a = {0};
        double small = cost_of(many(&a, 5000, flow), &o, true);
        double large = cost_of(many(&a, 50000, flow), &o, true);

        CHECK(large < small * 50);
    }
}

/* 6.3: libyaml alone takes 6 seconds for 50,000 levels, and time for a
 * million grows with the square. What we read of them is the same. */
TEST(depth_is_stopped_before_it_costs)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct yaml_options o = {.max_depth = 16};
    double small = cost_of(nested(&a, 5000), &o, false);
    double large = cost_of(nested(&a, 500000), &o, false);

    CHECK(large < small * 50 + 0.05);
}

/* Prose may hold any number of brackets. */
TEST(brackets_in_prose_are_no_depth)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    const struct yaml *y;
    struct err e = {0};

    buf_init(&b, 1 << 20);
    buf_text(&b, "# [[[[[[[[[[[[[[[[[[[[[[[\nq: \"[[[[[[[[[[[[[[[[{{{{{{\"\n"
                 "p: x [[[[[[[[[[[[[[[[[[[[[[[[ {{{{{{{{{{{{{{\nt: |\n");
    for (int i = 0; i < 5000; i++)
        buf_text(&b, "  - [ ] see [the manual](a{b[c\n");
    CHECK(yaml_parse(buf_str(&b), &usual, &a, &y, NULL, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(y && y->count == 3);
}
