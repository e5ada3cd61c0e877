/* base/json: edits in place. DESIGN.md 3 (files shared with the user),
 * REQUIREMENTS 6.7. */
#include "base/json.h"

#include "json_check.h"
#include "tap.h"

static const struct json_options strict = {.max_depth = 16};
static const struct json_options loose = {
    .max_depth = 16, .comments = true, .trailing_commas = true};

#define SERVER "{\n  \"x\": 1,\n  \"y\": [\n    \"p\",\n    {}\n  ]\n}"

struct row {
    const char *path;  /* names parted by "/" */
    const char *value; /* NULL: remove */
    const char *before, *after;
};

/* clang-format off */
static const struct row rows[] = {
    /* into what is empty */
    {"a", "1", "", "{\n  \"a\": 1\n}\n"},
    {"a", "1", " \n\n", "{\n  \"a\": 1\n}\n"},
    {"a", "1", "{}", "{\n  \"a\": 1\n}"},
    {"a", "1", "{ }\n", "{\n  \"a\": 1\n}\n"},
    {"a", "1", "{\n}\n", "{\n  \"a\": 1\n}\n"},
    {"a", "1", "{\n\n}", "{\n  \"a\": 1\n\n}"},
    {"a", "1", "{\r\n}", "{\r\n  \"a\": 1\r\n}"},
    {"a", "1", "{ // c\n}", "{ // c\n  \"a\": 1\n}"},
    {"a", "1", "{ /* c */ }", "{ /* c */ \"a\": 1 }"},
    {"a", NULL, "{ /* c */ \"a\": 1 }", "{ /* c */ }"},
    {"a", "1", "{ // c\n  /* d */ }", "{ // c\n  /* d */ \"a\": 1 }"},
    {"m/s", SERVER, "", "{\n  \"m\": {\n    \"s\": {\n      \"x\": 1,\n      \"y\": [\n        \"p\",\n        {}\n      ]\n    }\n  }\n}\n"},
    {"m/a", "1", "{\n\t\"m\": {}\n}", "{\n\t\"m\": {\n\t\t\"a\": 1\n\t}\n}"},
    {"m/a", "1", "{\"m\": {}}", "{\"m\": {\"a\": 1}}"},
    {"m/a", "1", "{\"m\": { }}", "{\"m\": { \"a\": 1 }}"},
    {"m/a", "1", "{\"m\": {/**/}}", "{\"m\": {/**/ \"a\": 1}}"},
    {"m/a", "1", "{\"m\": {//\n}}", "{\"m\": {//\n  \"a\": 1\n}}"},
    /* behind the last, in its style */
    {"b", "2", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
    {"b", SERVER, "{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"x\": 1,\n\t\t\"y\": [\n\t\t\t\"p\",\n\t\t\t{}\n\t\t]\n\t}\n}"},
    {"b", "[\n  1\n]", "{\n    \"a\": 1\n}", "{\n    \"a\": 1,\n    \"b\": [\n        1\n    ]\n}"},
    {"b", "[\n  1\n]", "{\r\n \"a\": 1\r\n}", "{\r\n \"a\": 1,\r\n \"b\": [\r\n  1\r\n ]\r\n}"},
    {"b", "2", "{\n\"a\": 1\n}", "{\n\"a\": 1,\n\"b\": 2\n}"},
    {"b", "2", "{\n  \"a\":1\n}", "{\n  \"a\":1,\n  \"b\":2\n}"},
    {"b", "2", "{\n  \"a\" : 1 }", "{\n  \"a\" : 1,\n  \"b\": 2 }"},
    {"b", SERVER, "{\"a\": 1}", "{\"a\": 1, \"b\": {\"x\": 1, \"y\": [\"p\", {}]}}"},
    {"b", "2", "{\"a\":1}", "{\"a\":1,\"b\":2}"},
    {"c", "2", "{ \"a\":1, \"b\":1 }", "{ \"a\":1, \"b\":1, \"c\":2 }"},
    {"b/c/d", "2", "{\n  \"a\": 1\n}", "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": {\n      \"d\": 2\n    }\n  }\n}"},
    {"m/b", "2", "{\"m\": {\n    \"a\": 1\n}}", "{\"m\": {\n    \"a\": 1,\n    \"b\": 2\n}}"},
    {"q\"\n/\xc3\xa9", "2", "{}", "{\n  \"q\\\"\\n\": {\n    \"\xc3\xa9\": 2\n  }\n}"},
    /* comments and trailing commas around it */
    {"b", "2", "{\n  \"a\": 1 // one\n}", "{\n  \"a\": 1, // one\n  \"b\": 2\n}"},
    {"b", "2", "{\n  \"a\": 1, // one\n  // two\n}", "{\n  \"a\": 1, // one\n  \"b\": 2,\n  // two\n}"},
    {"b", "2", "{\n  \"a\": 1 /* x\n  y */ // z\n}", "{\n  \"a\": 1, /* x\n  y */ // z\n  \"b\": 2\n}"},
    {"b", "2", "{\n  \"a\": 1 // x\n  , // y\n}", "{\n  \"a\": 1 // x\n  , // y\n  \"b\": 2,\n}"},
    {"b", "2", "{\"a\": 1 // x\n}", "{\"a\": 1, // x\n  \"b\": 2\n}"},
    {"b", "2", "{\"a\": 1 /* x */}", "{\"a\": 1, /* x */ \"b\": 2}"},
    {"b", "2", "{\"a\": 1,}", "{\"a\": 1, \"b\": 2,}"},
    /* another value */
    {"a", "2", "{\n  \"a\" :  [1, 2] , \"b\": 1.50\n}", "{\n  \"a\" :  2 , \"b\": 1.50\n}"},
    {"a", SERVER, "{\n    \"z\": {\n    },\n    \"a\": 0\n}", "{\n    \"z\": {\n    },\n    \"a\": {\n        \"x\": 1,\n        \"y\": [\n            \"p\",\n            {}\n        ]\n    }\n}"},
    {"a", "[\n  1,\n  2\n]", "{\"a\": 0}", "{\"a\": [1, 2]}"},
    {"a", "[\n  1\n]", "{\"a\": {\n}}", "{\"a\": [\n  1\n]}"},
    {"\\u0061", "1", "{\"\\u0061\": 0}", "{\"\\u0061\": 0, \"\\\\u0061\": 1}"},
    {"a", "1", "{\"\\u0061\": 0}", "{\"\\u0061\": 1}"},
    {"a", " 1\n", "{\"a\": 0}", "{\"a\": 1}"},
    /* removal */
    {"a", NULL, "", ""},
    {"a", NULL, "{\"b\": 1}", "{\"b\": 1}"},
    {"b/a", NULL, "{\"b\": [1]}", "{\"b\": [1]}"},
    {"a", NULL, "{\n  \"a\": 1\n}\n", "{}\n"},
    {"a", NULL, "{ \"a\": 1, }", "{}"},
    {"a", NULL, "{\"a\": 1 /* x */}", "{/* x */}"},
    {"a", NULL, "{\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"},
    {"b", NULL, "{\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  \"a\": 1\n}"},
    {"b", NULL, "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", "{\r\n  \"a\": 1\r\n}\r\n"},
    {"b", NULL, "{\n  \"a\": 1,\n  \"b\": 2,\n}", "{\n  \"a\": 1,\n}"},
    {"b", NULL, "{\n  \"a\": 1,\n  \"b\": {\n    \"x\": 1\n  },\n  \"c\": 3\n}", "{\n  \"a\": 1,\n  \"c\": 3\n}"},
    {"b", NULL, "{\n  \"a\": 1,\n  \"b\": 2}", "{\n  \"a\": 1}"},
    {"a", NULL, "{\"a\": 1, \"b\": 2}", "{\"b\": 2}"},
    {"b", NULL, "{\"a\": 1, \"b\": 2}", "{\"a\": 1}"},
    {"b", NULL, "{ \"a\":1,\"b\":2,\"c\":3 }", "{ \"a\":1,\"c\":3 }"},
    {"a", NULL, "{ \"a\": 1,\n  \"b\": 2 }", "{\n  \"b\": 2 }"},
    {"b", NULL, "{\"a\": 1, \"b\": 2\n}", "{\"a\": 1\n}"},
    {"a/b", NULL, "{\n  \"a\": {\n    \"b\": 1\n  }\n}", "{\n  \"a\": {}\n}"},
    {"b", NULL, "{\n  \"a\": 1, // one\n  // about b\n  \"b\": 2 // two\n}", "{\n  \"a\": 1 // one\n  // about b\n  // two\n}"},
    {"a", NULL, "{\n  // about a\n  \"a\": 1, // one\n  \"b\": 2\n}", "{\n  // about a\n  // one\n  \"b\": 2\n}"},
    {"b", NULL, "{\n  \"a\": 1, // one\n  \"b\": 2}", "{\n  \"a\": 1 // one\n}"},
    {"a", NULL, "{// x\n\"a\": 1, \"b\": 2}", "{// x\n\"b\": 2}"},
    {"a", NULL, "{\"a\": 1 /* y */, \"b\": 2}", "{ /* y */ \"b\": 2}"},
    {"b", NULL, "{\"a\": 1 /* x */, /* y */ \"b\": 2 /* z */}", "{\"a\": 1 /* x */ /* y */ /* z */}"},
};

static const struct {
    const char *path, *value, *before, *diagnostic;
    enum err_code code;
} refused[] = {
    {"m/x", "1", "{\n\"m\": [1]}", "line 2: expected an object, not an array", ERR_FORMAT},
    {"x", "1", "7", "line 1: expected an object, not a number", ERR_FORMAT},
    {"m/x/y", "1", "{\"m\": {\"x\": \"\"}}", "line 1: expected an object, not a string", ERR_FORMAT},
    {"a", "1,", "{}", "line 1, column 2: expected the end, not ','", ERR_FORMAT},
    {"a", "1 // x", "{}", "line 1, column 3: expected the end, not '/'", ERR_FORMAT},
    {"a", "", "{}", "line 1, column 1: expected a value, not the end", ERR_FORMAT},
    {"a", "1", "{\"a\": 1", "line 1, column 8: expected ',' or '}', not the end", ERR_FORMAT},
    {"a", "1", "{\"b\": 1, \"b\": 2}", "line 1, column 10: \"b\" is given twice", ERR_FORMAT},
    {"a", "1", "// only", "line 1, column 8: expected a value, not the end", ERR_FORMAT},
    {"\xff", "1", "{}", "a name is not UTF-8", ERR_FORMAT},
    {"a/b", "[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]", "{}", "line 3, column 24: nested more than 16 deep", ERR_LIMIT},
    {"a", NULL, "{\"a\": }", "line 1, column 7: expected a value, not '}'", ERR_FORMAT},
};
/* clang-format on */

#define NAMES_MAX 8

static size_t cut_path(const char *path, struct str names[NAMES_MAX])
{
    struct str rest = str_cstr(path);
    size_t n = 0;

    while (n < NAMES_MAX && str_cut(&rest, '/', &names[n]))
        n++;
    return n;
}

static bool edit(struct json_edit_case *c, struct arena *a, struct err *e)
{
    if (c->value.p)
        return json_edit_put(c->before, c->options, c->path, c->depth, c->value,
                             a, &c->after, e);
    return json_edit_remove(c->before, c->options, c->path, c->depth, a,
                            &c->after, e);
}

TEST(edits_keep_the_style_of_the_file)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str names[NAMES_MAX];
        struct json_edit_case c = {.before = str_cstr(rows[i].before),
                                   .options = &loose,
                                   .path = names};
        const char *wrong;
        struct err e = {0};

        c.depth = cut_path(rows[i].path, names);
        if (rows[i].value)
            c.value = str_cstr(rows[i].value);
        CHECK(edit(&c, &a, &e));
        CHECK_STR(err_first(&e), "");
        CHECK_STR(str_dup0(c.after, &a), rows[i].after);
        wrong = json_edit_check(&c, &a);
        CHECK_STR(wrong ? wrong : "", "");
    }
}

TEST(what_cannot_be_edited_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str names[NAMES_MAX];
        struct json_edit_case c = {.before = str_cstr(refused[i].before),
                                   .after = STR("untouched"),
                                   .options = &loose,
                                   .path = names};
        struct err e = {0};

        c.depth = cut_path(refused[i].path, names);
        if (refused[i].value)
            c.value = str_cstr(refused[i].value);
        CHECK(!edit(&c, &a, &e));
        CHECK_STR(err_first(&e), refused[i].diagnostic);
        CHECK(e.code == refused[i].code);
        CHECK(str_is(c.after, "untouched"));
    }
}

TEST(strict_files_get_no_comments_past)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str name = STR("a"), out;
    struct err e = {0};

    CHECK(!json_edit_put(STR("{} // x"), &strict, &name, 1, STR("1"), &a, &out,
                         &e));
    CHECK(!json_edit_put(STR("{\"b\": 1,}"), &strict, &name, 1, STR("1"), &a,
                         &out, &e));
}

TEST(the_root_itself_can_be_put)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str out;
    struct err e = {0};

    CHECK(json_edit_put(STR("// x\n[1] // y\n"), &loose, NULL, 0, STR("{}"), &a,
                        &out, &e));
    CHECK(str_is(out, "// x\n{} // y\n"));
    CHECK(json_edit_remove(out, &loose, NULL, 0, &a, &out, &e));
    CHECK(str_is(out, "// x\n{} // y\n"));
}

/* [H8] also with comments on the line of the brace, and lines of several ends */
TEST(put_and_removed_is_as_before)
{
    static const char *const texts[] = {
        "{\n  \"a\": 1 /* x */ }",    "{\n  \"a\": 1 // x\n /* y */ }",
        "{\n  \"a\": 1 /* x // */ }", "{\n  \"a\": 1,\n  \"c\": 1\r\n}\n",
        "{ // c\n  /* d */ }",        "{\n  // c\n  /* d */}",
        "{ /* c\n  d */ }",           "{ // c\n /* d */ /* e */ }\n",
        "{\r\n  \"a\": 1\n}\r\n",     "{\r\n  // x\n}",
        "{\n  \"a\": 1 // x\r\n}",    "{\"a\": 1 /* x */ /* y */}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str name = STR("b"), out = str_cstr(texts[i]);
        struct err e = {0};

        CHECK(json_edit_put(out, &loose, &name, 1, STR(SERVER), &a, &out, &e));
        CHECK(json_edit_remove(out, &loose, &name, 1, &a, &out, &e));
        CHECK_STR(str_dup0(out, &a), texts[i]);
    }
}

/* --- random documents --------------------------------------------------- */

static unsigned next_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

struct maker {
    struct buf out;
    unsigned seed, comments; /* comments have numbers: each is unique */
    bool loose;
    const char *line_end;
};

/* White space, and now and then a comment. */
static void make_space(struct maker *m)
{
    for (unsigned n = next_random(&m->seed, 3); n > 0; n--) {
        unsigned what = next_random(&m->seed, m->loose ? 8 : 5);

        if (what < 3)
            buf_char(&m->out, what == 2 ? '\t' : ' ');
        else if (what < 5)
            buf_text(&m->out, m->line_end);
        else if (what < 7)
            buf_printf(&m->out, "/* \"%u */", m->comments++);
        else
            buf_printf(&m->out, "// \"%u}%s", m->comments++, m->line_end);
    }
}

static void make_scalar(struct maker *m)
{
    static const char *const scalars[] = {
        "null",       "true", "-0.10e+5",          "12345678901234567890",
        "\"\"",       "[]",   "\"\\\"// { \\\\\"", "[1, 2,3]",
        "\"\\u0061\""};

    buf_text(&m->out,
             scalars[next_random(&m->seed, sizeof scalars / sizeof *scalars)]);
}

/* An object with names out of a to f, some of them objects again. */
static void make_object(struct maker *m, unsigned depth)
{
    unsigned count = 0;

    buf_char(&m->out, '{');
    make_space(m);
    for (char c = 'a'; c <= 'f'; c++) {
        if (next_random(&m->seed, 2))
            continue;
        if (count++) {
            buf_char(&m->out, ',');
            make_space(m);
        }
        if (next_random(&m->seed, 5))
            buf_printf(&m->out, "\"%c\"", c);
        else
            buf_printf(&m->out, "\"\\u%04x\"", (unsigned)c);
        make_space(m);
        buf_char(&m->out, ':');
        make_space(m);
        if (depth && next_random(&m->seed, 2))
            make_object(m, depth - 1);
        else
            make_scalar(m);
        make_space(m);
    }
    if (m->loose && count && !next_random(&m->seed, 3)) {
        buf_char(&m->out, ',');
        make_space(m);
    }
    buf_char(&m->out, '}');
}

static void check_random(unsigned seed)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    static const char *const values[] = {"7", "{}", SERVER, "[\n  1\n]"};
    CLEANUP(arena_done) struct arena a = {0};
    struct maker m = {.seed = seed};
    char names[3][2] = {"a", "a", "a"};
    struct str path[3];
    struct json_edit_case c = {.path = path};
    struct err e = {0};
    const char *wrong = NULL;

    m.loose = next_random(&m.seed, 2);
    m.line_end = ends[next_random(&m.seed, 3)];
    buf_init(&m.out, 1 << 20);
    make_space(&m);
    make_object(&m, 3);
    make_space(&m);
    c.before = arena_str(&a, buf_str(&m.out));
    buf_done(&m.out);
    c.options = m.loose ? &loose : &strict;
    c.depth = 1 + next_random(&m.seed, 3);
    for (size_t i = 0; i < c.depth; i++) {
        names[i][0] = (char)('a' + next_random(&m.seed, 6));
        path[i] = str_make(names[i], 1);
    }
    if (next_random(&m.seed, 2))
        c.value = str_cstr(values[next_random(&m.seed, 4)]);
    if (edit(&c, &a, &e))
        wrong = json_edit_check(&c, &a);
    else if (!strstr(err_first(&e), "expected an object"))
        wrong = err_first(&e);
    CHECK_STR(wrong ? wrong : "", "");
    if (wrong)
        printf("# seed %u, %s at %s %s %s in\n%.*s\n", seed,
               c.value.p ? c.value.p : "remove", names[0],
               c.depth > 1 ? names[1] : "", c.depth > 2 ? names[2] : "",
               STR_ARG(c.before));
}

TEST(random_edits_keep_what_is_foreign)
{
    for (unsigned seed = 1; seed <= 20000 && !tap_failed; seed++)
        check_random(seed);
}

/* What was put into a file in the usual shape and removed again leaves it. */
TEST(put_and_remove_is_nothing)
{
    static const char *const texts[] = {
        "{}",
        "{\n  \"a\": 1\n}\n",
        "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t}\r\n}\r\n",
        "{\n  \"a\": 1 // one\n  // two\n}",
        "{\n  \"a\": 1, // one\n}",
        "{\"a\":1}",
        "{ \"a\": 1 }",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str name = STR("new"), text = str_cstr(texts[i]), out, back;
        struct err e = {0};

        CHECK(json_edit_put(text, &loose, &name, 1, STR(SERVER), &a, &out, &e));
        CHECK(!str_eq(out, text));
        CHECK(json_edit_remove(out, &loose, &name, 1, &a, &back, &e));
        CHECK_STR(str_dup0(back, &a), texts[i]);
    }
}
