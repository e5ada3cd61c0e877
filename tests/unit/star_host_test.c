#include "mapm/starlark.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

/* Objects and functions of the host: include/mapm/starlark.h. */

struct counter {
    int64_t n;
    int reads, released;
};

static star_value counter_value(struct star *s, void *data)
{
    struct counter *c = data;

    c->reads++;
    return star_int(s, c->n);
}

static star_value counter_pair(struct star *s, void *data)
{
    struct counter *c = data;
    star_value both[2] = {star_string(s, "n", 1), star_int(s, c->n)};

    return both[0] && both[1] ? star_tuple(s, both, 2) : STAR_INVALID;
}

static star_value counter_broken(struct star *s, void *data)
{
    (void)data;
    return star_fail(s, "cannot be read");
}

static star_value counter_silent(struct star *s, void *data)
{
    (void)s;
    (void)data;
    return STAR_INVALID;
}

static star_value counter_add(struct star *s, const struct star_args *args)
{
    struct counter *c = args->ctx;
    star_value v[1];
    int64_t n;

    if (!star_unpack(s, args, "add", "n", v))
        return STAR_INVALID;
    if (!star_as_int(v[0], &n))
        return star_fail(s, "add: got %s, want int", star_type_name(v[0]));
    c->n += n;
    return args->self; /* so that calls can be chained */
}

static star_value counter_apply(struct star *s, const struct star_args *args)
{
    star_value v[1];

    if (!star_unpack(s, args, "apply", "function", v))
        return STAR_INVALID;
    return star_call(s, v[0], &args->self, 1, NULL, 0);
}

static void counter_release(void *data)
{
    ((struct counter *)data)->released++;
}

static const struct star_member members[] = {
    {"value", counter_value, NULL},   {"pair", counter_pair, NULL},
    {"broken", counter_broken, NULL}, {"silent", counter_silent, NULL},
    {"add", NULL, counter_add},       {"get", NULL, counter_add},
    {"apply", NULL, counter_apply},   {NULL, NULL, NULL},
};
static const struct star_class counter_class = {"counter", members,
                                                counter_release};
static const struct star_class bare_class = {"bare", NULL, NULL};

static star_value make_counter(struct star *s, const struct star_args *args)
{
    struct counter *c = args->ctx;

    return star_object(s, &counter_class, c);
}

struct world {
    struct star *s;
    struct counter c;
};

static void open_world(struct world *w)
{
    const struct star_options o = {.json = true};

    *w = (struct world){.s = star_open(&o), .c = {.n = 5}};
    star_predeclare(w->s, "c", star_object(w->s, &counter_class, &w->c));
    star_predeclare(w->s, "bare", star_object(w->s, &bare_class, NULL));
    star_register(w->s, "counter", make_counter, &w->c);
}

static star_value evaluate(struct star *s, const char *expression)
{
    char text[300];
    int n =
        snprintf(text, sizeof text, "def f():\n    return %s\n", expression);
    struct star_program *p = star_compile(s, "t.star", text, (size_t)n);
    struct star_module *m = p ? star_run(s, p) : NULL;

    return m ? star_call(s, star_global(m, "f"), NULL, 0, NULL, 0)
             : STAR_INVALID;
}

static bool is_text(star_value v, const char *want)
{
    const char *p;
    size_t n;

    return star_as_text(v, &p, &n) && n == strlen(want) &&
           memcmp(p, want, n) == 0;
}

TEST(an_object_behaves_as_its_class_says)
{
    static const struct {
        const char *expression, *want; /* "!": an error */
    } rows[] = {
        {"c.value", "5"},
        {"c.pair", "(\"n\", 5)"},
        {"[c.pair for _ in range(2)]", "[(\"n\", 5), (\"n\", 5)]"},
        {"c.add(2).add(n=1).value", "8"},
        {"c.get(1) == c", "True"}, /* a name that dicts have, too */
        {"c.apply(lambda x: x.value + 1)", "6"},
        {"[f(1).value for f in [c.add]]", "[6]"},
        {"type(c)", "\"counter\""},
        {"[type(x) for x in [c, bare, 1, c]]",
         "[\"counter\", \"bare\", \"int\", \"counter\"]"},
        {"str(c)", "\"<counter>\""},
        {"[c, bare]", "[<counter>, <bare>]"},
        {"bool(c)", "True"},
        {"{c: 1, bare: 2}[c]", "1"},
        {"c == counter()", "False"},
        {"c in [1, c]", "True"},
        {"dir(c)", "[\"add\", \"apply\", \"broken\", \"get\", \"pair\", "
                   "\"silent\", \"value\"]"},
        {"dir(bare)", "[]"},
        {"hasattr(c, \"value\")", "True"},
        {"hasattr(c, \"append\")", "False"},
        {"getattr(c, \"value\")", "5"},
        {"getattr(c, \"pair\")", "(\"n\", 5)"},
        {"getattr(c, \"no\", 3)", "3"},
        {"getattr(c, \"add\")(1).value", "6"},
        {"c.valu", "!counter has no .valu field or method (did you mean "
                   ".value?)"},
        {"c.append(1)", "!counter has no .append field or method"},
        {"bare.x", "!bare has no .x field or method"},
        {"c.broken", "!cannot be read"},
        {"c.silent", "!silent failed"},
        {"getattr(c, \"broken\", 1)", "!cannot be read"},
        {"c.value()", "!invalid call of non-function (int)"},
        {"c.add()", "!add: missing argument for n"},
        {"c.add(\"\")", "!add: got string, want int"},
        {"c + 1", "!unknown binary op: counter + int"},
        {"c < c", "!counter < counter not implemented"},
        {"len(c)", "!len: value of type counter has no len"},
        {"[x for x in c]", "!counter value is not iterable"},
        {"c[0]", "!unhandled index operation counter[int]"},
        {"json.encode(c)", "!cannot encode counter as JSON"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *want = rows[i].want, *got;
        struct world w;

        open_world(&w);
        star_value v = evaluate(w.s, rows[i].expression);
        bool ok = *want == '!' ? !v && strstr(star_error_message(w.s), want + 1)
                               : v && is_text(star_repr(w.s, v), want);
        CHECK(ok);
        got = v ? "a value" : star_error_message(w.s);
        if (!ok)
            printf("# %s: %s\n", rows[i].expression, got);
        star_close(w.s);
    }
}

TEST(an_object_cannot_be_changed_by_a_program)
{
    static const char text[] = "def f():\n    c.value = 1\nf()\n";
    struct world w;

    open_world(&w);
    struct star_program *p = star_compile(w.s, "t", text, sizeof text - 1);
    CHECK(p && !star_run(w.s, p));
    CHECK(strstr(star_error_message(w.s), "value"));
    star_close(w.s);
}

TEST(an_attribute_is_read_once_for_a_call_of_it)
{
    struct world w;

    open_world(&w);
    CHECK(!evaluate(w.s, "c.value(1)"));
    CHECK(w.c.reads == 1);
    star_close(w.s);
}

TEST(the_host_finds_its_data_again)
{
    struct world w;
    void *data = NULL;

    open_world(&w);
    star_value v = evaluate(w.s, "c");
    CHECK(star_type(v) == STAR_OBJECT);
    CHECK_STR(star_type_name(v), "counter");
    CHECK(star_object_data(v, &counter_class, &data) && data == &w.c);
    data = NULL;
    CHECK(!star_object_data(v, &bare_class, &data) && !data);
    CHECK(!star_object_data(star_none(), &counter_class, &data));
    CHECK(!star_object_data(star_int(w.s, 1), &counter_class, &data));
    CHECK(!star_object_data(STAR_INVALID, &counter_class, &data));
    star_close(w.s);
}

TEST(an_object_is_released_once)
{
    struct star_options o = {.limits.memory_bytes = 400 << 10};
    struct star *s = star_open(&o);
    struct counter c = {0};

    star_register(s, "counter", make_counter, &c);
    CHECK(evaluate(s, "[1 for _ in range(20000) if not counter()]"));
    CHECK(c.released > 0 && c.released <= 20000);
    star_close(s);
    CHECK(c.released == 20000);
}

TEST(objects_are_no_json_and_cannot_be_copied)
{
    struct world w;
    struct star *other = star_open(NULL);

    open_world(&w);
    star_value v = evaluate(w.s, "[c]");
    CHECK(v && !star_to_json(w.s, v));
    CHECK(star_error(w.s) == STAR_ERROR_VALUE);
    CHECK(!star_copy(other, w.s, v));
    CHECK(star_freeze(w.s, v));
    star_close(other);
    star_close(w.s);
}

TEST(a_host_function_is_a_value)
{
    struct world w;
    struct counter c = {.n = 40};

    open_world(&w);
    star_value list = star_list(w.s), v;
    CHECK(star_append(w.s, list, star_builtin(w.s, "make", make_counter, &c)));
    CHECK(star_predeclare(w.s, "makers", list));
    CHECK(is_text(star_repr(w.s, evaluate(w.s, "makers")),
                  "[<built-in function make>]"));
    v = evaluate(w.s, "makers[0]().value + 2");
    CHECK(is_text(star_repr(w.s, v), "42"));
    v = star_call(w.s, star_builtin(w.s, "x", make_counter, &c), NULL, 0, NULL,
                  0);
    CHECK(star_type(v) == STAR_OBJECT);
    star_close(w.s);
}

TEST(the_version_of_the_library_is_that_of_the_header_and_of_mapm)
{
    char text[40];

    CHECK_STR(star_version(), STAR_VERSION);
    CHECK_STR(star_version(), MAPM_VERSION);
    snprintf(text, sizeof text, "%d.%d.%d", STAR_VERSION_MAJOR,
             STAR_VERSION_MINOR, STAR_VERSION_PATCH);
    CHECK_STR(text, STAR_VERSION);
}
