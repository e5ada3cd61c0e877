#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tap.h"
#include "vm/vm.h"

/* Calls, what is left behind when one fails, and the limits of what runs. */

/* --- a world to test in ------------------------------------------------------- */

static char printed[65536];

static bool keep_text(void *ctx, const char *text, size_t length)
{
    size_t at = strlen(printed);

    (void)ctx;
    if (at + length < sizeof printed) {
        memcpy(printed + at, text, length);
        printed[at + length] = '\0';
    }
    return true;
}

static struct star *open_with(struct star_limits limits)
{
    struct star_options o = {.limits = limits, .print = keep_text};

    printed[0] = '\0';
    return star_open(&o);
}

static struct star_module *run(struct star *s, const char *text)
{
    struct star_program *p = star_compile(s, "t.star", text, strlen(text));

    return p ? star_run(s, p) : NULL;
}

/* What a program prints, or how it fails. */
static const char *outcome(struct star *s, const char *text)
{
    printed[0] = '\0';
    return run(s, text) ? printed : star_error_message(s);
}

static value function(struct star *s, const char *text, const char *name)
{
    struct star_module *m = run(s, text);

    if (!m)
        printf("# %s\n", star_error_report(s));
    return m ? star_global(m, name) : 0;
}

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* With a collection at each allocation, everything takes longer. */
#ifdef SL_COLLECT_ALWAYS
#    define MANY(n) ((n) / 1000 + 1)
#else
#    define MANY(n) (n)
#endif

/* --- arguments ------------------------------------------------------------------- */

#define DEFS                                                                   \
    "def none(): return 0\n"                                                   \
    "def two(a, b): return (a, b)\n"                                           \
    "def opt(a, b = 2, c = 3): return (a, b, c)\n"                             \
    "def rest(a, *args): return (a, args)\n"                                   \
    "def kw(a, **kwargs): return (a, kwargs)\n"                                \
    "def all(a, b = 2, *args, c, d = 4, **kwargs):\n"                          \
    "    return (a, b, args, c, d, kwargs)\n"                                  \
    "def only(*, k): return k\n"                                               \
    "def only2(a, *, k, l = 5): return (a, k, l)\n"                            \
    "def any(*args, **kwargs): return (args, kwargs)\n"

static const struct {
    const char *call, *want;
} argument_rows[] = {
    {"none()", "0\n"},
    {"none(1)", "function none accepts no arguments (1 given)"},
    {"none(1, x = 2)", "function none accepts no arguments (2 given)"},
    {"none(x = 2)", "function none accepts no arguments (1 given)"},
    {"two(1, 2)", "(1, 2)\n"},
    {"two(b = 1, a = 2)", "(2, 1)\n"},
    {"two(1, b = 2)", "(1, 2)\n"},
    {"two(1)", "function two missing 1 argument (b)"},
    {"two()", "function two missing 2 arguments (a, b)"},
    {"two(b = 1)", "function two missing 1 argument (a)"},
    {"two(1, 2, 3)", "function two accepts 2 positional arguments (3 given)"},
    {"two(1, a = 2)", "function two got multiple values for parameter \"a\""},
    {"two(1, 2, c = 3)",
     "function two got an unexpected keyword argument \"c\""},
    {"two(*[1, 2])", "(1, 2)\n"},
    {"two(1, *[2])", "(1, 2)\n"},
    {"two(*[1], b = 2)", NULL}, /* not in the grammar: a static error */
    {"two(**{\"b\": 1, \"a\": 2})", "(2, 1)\n"},
    {"two(*(1,), **{\"b\": 3})", "(1, 3)\n"},
    {"two(1, **{\"a\": 3})",
     "function two got multiple values for parameter \"a\""},
    {"two(*1)", "argument after * must be iterable, not int"},
    {"two(*\"ab\")", "argument after * must be iterable, not string"},
    {"two(**1)", "argument after ** must be a mapping, not int"},
    {"two(**{1: 2})", "keywords must be strings, not int"},
    {"two(*{\"x\": 1, \"y\": 2})", "(\"x\", \"y\")\n"},
    {"two(*range(2))", "(0, 1)\n"},
    {"opt(1)", "(1, 2, 3)\n"},
    {"opt(1, c = 5)", "(1, 2, 5)\n"},
    {"opt(1, 2, 3)", "(1, 2, 3)\n"},
    {"opt(1, 2, 3, 4)",
     "function opt accepts at most 3 positional arguments (4 given)"},
    {"opt(c = 1, a = 2)", "(2, 2, 1)\n"},
    {"opt()", "function opt missing 1 argument (a)"},
    {"rest(1)", "(1, ())\n"},
    {"rest(1, 2, 3)", "(1, (2, 3))\n"},
    {"rest()", "function rest missing 1 argument (a)"},
    {"rest(*range(4))", "(0, (1, 2, 3))\n"},
    {"kw(1, x = 2, y = 3)", "(1, {\"x\": 2, \"y\": 3})\n"},
    {"kw(x = 2, a = 3)", "(3, {\"x\": 2})\n"},
    {"kw(1, x = 2, **{\"x\": 3})",
     "function kw got multiple values for parameter \"x\""},
    {"kw(1, 2)", "function kw accepts 1 positional argument (2 given)"},
    {"all(1, c = 3)", "(1, 2, (), 3, 4, {})\n"},
    {"all(1, 5, 6, 7, c = 3, e = 8)", "(1, 5, (6, 7), 3, 4, {\"e\": 8})\n"},
    {"all(1)", "function all missing 1 argument (c)"},
    {"only(k = 1)", "1\n"},
    {"only(1, k = 1)",
     "function only accepts 0 positional arguments (1 given)"},
    {"only()", "function only missing 1 argument (k)"},
    {"only2(1, k = 2)", "(1, 2, 5)\n"},
    {"only2(k = 1)", "function only2 missing 1 argument (a)"},
    {"only2(1, 2, k = 3)",
     "function only2 accepts 1 positional argument (2 given)"},
    {"any()", "((), {})\n"},
    {"any(1, x = 2, *(3,), **{\"y\": 4})", "((1, 3), {\"x\": 2, \"y\": 4})\n"},
    {"any(1, x = 2, **{\"y\": 4})", "((1,), {\"x\": 2, \"y\": 4})\n"},
    {"None()", "invalid call of non-function (NoneType)"},
    {"\"x\"(1)", "invalid call of non-function (string)"},
    {"(lambda x, y = 1: x + y)(2)", "3\n"},
    {"(lambda x: x)()", "function lambda missing 1 argument (x)"},
};

TEST(arguments_are_bound_in_go_s_words)
{
    for (size_t i = 0; i < sizeof argument_rows / sizeof *argument_rows; i++) {
        char text[1500];
        struct star *s = open_with((struct star_limits){0});
        snprintf(text, sizeof text, DEFS "print(%s)\n", argument_rows[i].call);
        const char *got = outcome(s, text);
        if (argument_rows[i].want) {
            CHECK_STR(got, argument_rows[i].want);
        } else {
            CHECK(star_error(s) == STAR_ERROR_STATIC);
        }
        star_close(s);
    }
}

/* What a call site remembers is forgotten when another def comes by. */
TEST(a_site_that_calls_many_functions)
{
    struct star *s = open_with((struct star_limits){0});

    CHECK_STR(outcome(s, "def f(a, b): return a - b\n"
                         "def g(b, a): return a - b\n"
                         "def h(**k): return k[\"a\"] * k[\"b\"]\n"
                         "def main():\n"
                         "    r = []\n"
                         "    for fn in [f, g, h, f, dict, g]:\n"
                         "        r.append(fn(a = 7, b = 2))\n"
                         "    print(r)\n"
                         "main()\n"),
              "[5, 5, 14, 5, {\"a\": 7, \"b\": 2}, 5]\n");
    star_close(s);
}

/* Windows overlap and segments change: locals survive all of it. */
TEST(deep_calls_of_large_functions_keep_their_locals)
{
    static char text[400000];
    size_t at = 0;
    struct star *s = open_with((struct star_limits){0});

    at += (size_t)snprintf(text, sizeof text, "def f0(a): return [a]\n");
    for (int f = 1; f < 150; f++) {
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "def f%d(a):\n    x0 = a\n", f);
        for (int v = 1; v < 100; v++)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "    x%d = x%d + 1\n", v, v - 1);
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "    r = f%d(x99)\n"
            "    if x50 != a + 50 or x99 != a + 99: fail(\"lost\")\n"
            "    return r + [str(x1)]\n",
            f - 1);
    }
    snprintf(text + at, sizeof text - at,
             "r = f149(0)\nprint(len(r), r[0], r[-1], r[1])\n");
    CHECK_STR(outcome(s, text), "150 14751 1 14653\n");
    CHECK(s->stack->prev == NULL && s->frame == NULL);
    star_close(s);
}

/* Collections while a second segment is in use, and calls over what the first
 * one still has above its windows. */
TEST(what_is_left_above_a_window_is_never_looked_at)
{
    static char text[200000];
    size_t at = 0;
    struct star *s = open_with((struct star_limits){.memory_bytes = 8 << 20});

    at += (size_t)snprintf(text, sizeof text,
                           "def deep(x): return [x, [x]]\n"
                           "def waste(n): return [[i] for i in range(n)]\n"
                           "def wide(x):\n");
    for (int v = 0; v < 900; v++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "    y%d = [x]\n", v);
    at += (size_t)snprintf(text + at, sizeof text - at, "    return y7\n");
    for (int f = 0; f < 12; f++) {
        char below[8] = "deep";
        if (f)
            snprintf(below, sizeof below, "f%d", f - 1);
        at += (size_t)snprintf(text + at, sizeof text - at, "def f%d(x):\n", f);
        for (int v = 0; v < 900; v++)
            at += (size_t)snprintf(text + at, sizeof text - at, "    x%d = x\n",
                                   v);
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "    wide(x)\n"
                               "    r = %s(x)\n"
                               "    waste(%d)\n"
                               "    wide(r)\n"
                               "    return [r[0], x899]\n",
                               below, MANY(3000));
    }
    snprintf(text + at, sizeof text - at,
             "r = [f11(str(i)) for i in range(%d)]\n"
             "print(r[-1], r[0])\n",
             MANY(20));
    CHECK_STR(outcome(s, text), MANY(20) == 20
                                    ? "[\"19\", \"19\"] [\"0\", \"0\"]\n"
                                    : "[\"0\", \"0\"] [\"0\", \"0\"]\n");
    star_close(s);
}

/* --- the loop and ops.h agree -------------------------------------------------------- */

static const char *const operands[] = {
    "0",
    "1",
    "-1",
    "2",
    "-2",
    "3",
    "-7",
    "10",
    "62",
    "63",
    "64",
    "-63",
    "4294967295",
    "4294967296",
    "-4294967296",
    "3037000500",
    "2305843009213693951",
    "-2305843009213693952",
    "4611686018427387903",
    "4611686018427387904",
    "-4611686018427387904",
    "-4611686018427387905",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "9007199254740993",
    "0.0",
    "-0.0",
    "0.5",
    "-2.5",
    "3.0",
    "1e-300",
    "1e300",
    "9007199254740992.0",
    "float(\"inf\")",
    "float(\"nan\")",
    "None",
    "True",
    "False",
    "\"\"",
    "\"a\"",
    "\"ab\"",
    "\"é\"",
    "b\"a\"",
    "[]",
    "[1]",
    "(1,)",
    "()",
    "{}",
    "{1: 2}",
    "range(3)",
    "set([1])",
};

static const struct {
    const char *text;
    enum sl_operator op;
} operators[] = {
    {"+", OP_ADD},       {"-", OP_SUB},  {"*", OP_MUL},         {"/", OP_DIV},
    {"//", OP_FLOORDIV}, {"%", OP_MOD},  {"&", OP_AND},         {"|", OP_OR},
    {"^", OP_XOR},       {"<<", OP_SHL}, {">>", OP_SHR},        {"==", OP_EQ},
    {"!=", OP_NE},       {"<", OP_LT},   {"<=", OP_LE},         {">", OP_GT},
    {">=", OP_GE},       {"in", OP_IN},  {"not in", OP_NOT_IN},
};

/* What ops.h makes of it: 0 when it fails. */
static value by_ops(struct star *s, enum sl_operator op, value a, value b)
{
    bool result;

    if (op <= OP_SHR)
        return sl_binary(s, op, a, b, false);
    if (op == OP_EQ || op == OP_NE)
        return sl_equal(s, a, b, &result) ? sl_bool(result == (op == OP_EQ))
                                          : 0;
    if (op == OP_IN || op == OP_NOT_IN)
        return sl_in(s, a, b, &result) ? sl_bool(result == (op == OP_IN)) : 0;
    return sl_compare(s, op, a, b, &result) ? sl_bool(result) : 0;
}

static bool same_outcome(struct star *s, value got, const char *error,
                         value want)
{
    char text[300];
    const char *a, *b;
    size_t n, m;

    if (!want) {
        snprintf(text, sizeof text, "%s", star_error_message(s));
        sl_error_clear(s);
        return !got && !strcmp(error, text);
    }
    return got && star_type(got) == star_type(want) &&
           star_as_text(star_repr(s, got), &a, &n) &&
           star_as_text(star_repr(s, want), &b, &m) && n == m &&
           !memcmp(a, b, n);
}

#define OPERANDS (sizeof operands / sizeof *operands)

/* An operator in all its instructions: with registers, with a constant, as a
 * value, as a jump and its negation, in place. */
static const char *forms_of(const char *op, bool condition)
{
    static char text[60000];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "def plain(a, b): return a %s b\n", op);

    if (condition)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "def jump(a, b):\n"
                               "    if a %s b: return True\n"
                               "    return False\n"
                               "def no_jump(a, b):\n"
                               "    if not (a %s b): return False\n"
                               "    return True\n",
                               op, op);
    else
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "def augmented(a, b):\n"
                               "    a %s= b\n    return a\n",
                               op);
    for (size_t k = 0; k < OPERANDS; k++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "def const%zu(a): return a %s %s\n"
                               "def if%zu(a):\n"
                               "    if a %s %s: return True\n"
                               "    return False\n",
                               k, op, operands[k], k, op, operands[k]);
    at += (size_t)snprintf(text + at, sizeof text - at, "values = [");
    for (size_t k = 0; k < OPERANDS; k++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%s, ", operands[k]);
    snprintf(text + at, sizeof text - at, "]\n");
    return text;
}

/* One form of an operator with two operands, if it has that. */
static void check_form(struct star *s, const struct star_module *m,
                       enum sl_operator op, const char *name, const value *args,
                       size_t count)
{
    value f = star_global(m, name);
    char error[300];

    /* In place, frozen containers fail and say so. */
    if (!f || (!strcmp(name, "augmented") && sl_is_object(args[0]) &&
               sl_type(args[0]) >= T_LIST))
        return;
    value got = star_call(s, f, args, count, NULL, 0);
    snprintf(error, sizeof error, "%s", star_error_message(s));
    sl_error_clear(s);
    value want = by_ops(s, op, args[0], args[1]);
    if (!same_outcome(s, got, error, want)) {
        printf("# %s: %s\n", name, error);
        CHECK(false);
    }
}

static void check_pair(struct star *s, const struct star_module *m,
                       enum sl_operator op, size_t x, size_t y)
{
    static const char *const forms[] = {"plain", "jump", "no_jump",
                                        "augmented"};
    bool failed = tap_failed;
    char name[20];
    value args[2];

    CHECK(star_item(star_global(m, "values"), x, &args[0]) &&
          star_item(star_global(m, "values"), y, &args[1]));
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        check_form(s, m, op, forms[f], args, 2);
    snprintf(name, sizeof name, "const%zu", y);
    check_form(s, m, op, name, args, 1);
    snprintf(name, sizeof name, "if%zu", y);
    if (op >= OP_EQ)
        check_form(s, m, op, name, args, 1);
    if (tap_failed && !failed)
        printf("# %s and %s, %s\n", operands[x], operands[y],
               sl_operator_text(op));
}

TEST(operators_do_in_the_loop_what_they_do_elsewhere)
{
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++) {
        struct star *s = open_with((struct star_limits){0});
        enum sl_operator op = operators[o].op;
        struct star_module *m =
            run(s, forms_of(operators[o].text, op >= OP_EQ));

        CHECK(m != NULL);
        for (size_t x = 0; m && x < MANY(OPERANDS * OPERANDS); x++) {
            size_t scope = star_scope_begin(s);
            check_pair(s, m, op, x / OPERANDS, x % OPERANDS);
            star_scope_end(s, scope);
        }
        star_close(s);
    }
}

/* --- failing ------------------------------------------------------------------------ */

static const char *const loops[] = {
    "def f(l):\n    for x in l: fail(\"no\")\n",
    "def f(l):\n    for x in l:\n        for y in l:\n            x // 0\n",
    "def f(l): return [x // 0 for x in l]\n",
    "def f(l): return [g(x) for x in l]\ndef g(x): fail(x)\n",
    "def f(l): return sorted(l, key = lambda x: x + \"\")\n",
    "def f(l):\n    for x in l: g(l)\ndef g(l):\n    for x in l: l.append(1)\n",
    "def f(l): return [x for x in l if any([y // 0 for y in l])]\n",
    "def f(l):\n    for a, b in zip(l, l):\n        for c in l: c.x\n",
    "def f(l): return max(l, key = lambda x: l.clear())\n",
    "def f(l):\n    for x in l: f(l)\n",
};

TEST(locks_of_unfinished_loops_are_released)
{
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        struct star *s = open_with((struct star_limits){0});
        value f = function(s, loops[i], "f");
        value list = star_list(s);
        star_append(s, list, star_int(s, 1));
        star_append(s, list, star_int(s, 2));
        CHECK(f && !star_call(s, f, &list, 1, NULL, 0));
        CHECK(star_error(s) == STAR_ERROR_RUNTIME);
        CHECK(sl_list(list)->locks == 0);
        CHECK(star_append(s, list, star_int(s, 3)));
        /* and the functions are not thought to be running still */
        CHECK(!star_call(s, f, &list, 1, NULL, 0));
        CHECK(i + 1 == sizeof loops / sizeof *loops ||
              !strstr(star_error_message(s), "recursively"));
        star_close(s);
    }
}

TEST(leaving_a_loop_in_any_way_unlocks_it)
{
    static const char text[] = "def f(l):\n"
                               "    for x in l:\n"
                               "        for y in l:\n"
                               "            if x == 1: break\n"
                               "            if x == 2: continue\n"
                               "            if x == 3: return y\n"
                               "    return None\n";
    struct star *s = open_with((struct star_limits){0});
    value f = function(s, text, "f"), list = star_list(s);

    for (int i = 1; i < 5; i++)
        star_append(s, list, star_int(s, i));
    CHECK(star_call(s, f, &list, 1, NULL, 0) == star_int(s, 1));
    CHECK(sl_list(list)->locks == 0);
    star_close(s);
}

static const struct {
    const char *text, *want;
} recursion_rows[] = {
    {"def f(n): return f(n)\nf(1)\n", "function f called recursively"},
    {"def f(n): return g(n)\ndef g(n): return f(n)\nf(1)\n",
     "function f called recursively"},
    {"def f(n): return sorted([1, 2], key = f)\nf(1)\n",
     "function f called recursively"},
    {"def f(n, m): return f(n)\nf(1, 2)\n", "function f called recursively"},
    {"y = lambda f: (lambda x: f(f, x))\n"
     "def g(self, x): return self(self, x - 1)\n"
     "y(g)(3)\n",
     "function g called recursively"},
    {"def make():\n    def f(g, n): return g(f, n)\n    return f\n"
     "make()(make(), 1)\n",
     "function f called recursively"},
};

/* row 40 of the choices */
TEST(recursion_is_an_error)
{
    for (size_t i = 0; i < sizeof recursion_rows / sizeof *recursion_rows;
         i++) {
        struct star *s = open_with((struct star_limits){0});
        CHECK_STR(outcome(s, recursion_rows[i].text), recursion_rows[i].want);
        CHECK(s->frame == NULL && s->entries == 0);
        star_close(s);
    }
}

/* `n` functions that call each other in a row, f0 last. */
static char *chain(int n, const char *before, const char *after)
{
    size_t size = (size_t)n * 80 + 200, at = 0;
    char *text = malloc(size);

    at += (size_t)snprintf(text, size, "def f0(x): return 0\n");
    for (int i = 1; i < n; i++) {
        at += (size_t)snprintf(text + at, size - at,
                               "def f%d(x): return %sf%d%s\n", i, before, i - 1,
                               after);
    }
    snprintf(text + at, size - at, "run = f%d\n", n - 1);
    return text;
}

static enum star_error chain_error(unsigned limit, int n, const char *before,
                                   const char *after)
{
    struct star *s = open_with((struct star_limits){.call_depth = limit});
    char *text = chain(n, before, after);
    value f = function(s, text, "run"), x = star_int(s, 1);

    star_call(s, f, &x, 1, NULL, 0);
    enum star_error error = star_error(s);
    star_close(s);
    free(text);
    return error;
}

TEST(calls_are_nested_as_deep_as_the_limit)
{
    CHECK(chain_error(64, 64, "", "(x)") == STAR_OK);
    CHECK(chain_error(64, 65, "", "(x)") == STAR_ERROR_DEPTH);
    CHECK(chain_error(0, 200, "", "(x)") == STAR_OK);
    CHECK(chain_error(0, 201, "", "(x)") == STAR_ERROR_DEPTH);
    CHECK(chain_error(10000, 5000, "", "(x)") == STAR_OK);
    /* through C, the C stack counts, too */
    CHECK(chain_error(10000, 100, "sorted([1], key = ", ")") == STAR_OK);
    CHECK(chain_error(10000, 1000, "sorted([1], key = ", ")") ==
          STAR_ERROR_DEPTH);
}

TEST(a_traceback_has_all_frames)
{
    struct star *s = open_with((struct star_limits){0});

    outcome(s, "def f(x):\n    return 1 + x\n"
               "def g(x):\n    return [f(y) for y in x]\n"
               "def h(x):\n    return sorted(x, key = lambda y: g([y]))\n"
               "h([\"a\"])\n");
    const char *report = star_error_report(s);
    CHECK(strstr(report, "in <toplevel>") != NULL);
    CHECK(strstr(report, "t.star:6:18: in h") != NULL);
    CHECK(strstr(report, "in lambda") != NULL);
    CHECK(strstr(report, "t.star:4:14: in g") != NULL);
    CHECK(strstr(report, "t.star:2:14: in f") != NULL);
    CHECK(strstr(report, "unknown binary op: int + string") != NULL);
    star_close(s);
}

/* --- budgets ---------------------------------------------------------------------------- */

static const char work[] =
    "def f(x):\n    return x + 1\n"
    "def main():\n"
    "    d = {}\n"
    "    for i in range(1000):\n"
    "        d[str(i)] = f(i)\n"
    "    return len(sorted([k for k in d if d[k] % 2]))\n"
    "main()\n";

TEST(steps_are_the_same_each_time_and_a_limit)
{
    uint64_t steps[3];

    for (int i = 0; i < 3; i++) {
        struct star *s = open_with(
            (struct star_limits){.memory_bytes = (size_t)(1 + 20 * i) << 20});
        CHECK_STR(outcome(s, work), "");
        steps[i] = star_usage(s).steps;
        star_close(s);
    }
    CHECK(steps[0] > 3000 && steps[0] < 50000);
    CHECK(steps[0] == steps[1] && steps[1] == steps[2]);

    struct star *s = open_with((struct star_limits){.steps = steps[0]});
    CHECK_STR(outcome(s, work), "");
    star_close(s);
    s = open_with((struct star_limits){.steps = steps[0] - 1});
    outcome(s, work);
    CHECK(star_error(s) == STAR_ERROR_STEPS);
    CHECK(star_usage(s).steps <= steps[0]);
    star_close(s);
}

/* Programs that run for very long, each in another way. */
static const char *const endless[] = {
    "def main():\n    for i in range(1 << 60): pass\nmain()\n",
    "def main():\n    return [0 for i in range(1 << 40) if i < 0]\nmain()\n",
    "def f(): pass\ndef main():\n    for i in range(1 << 60): f()\nmain()\n",
    "def main():\n"
    "    for i in range(1 << 60):\n"
    "        for j in range(1000): (i, j)\n"
    "main()\n",
    "def main():\n"
    "    l = list(range(300000))\n"
    "    for i in range(1 << 60): sorted(l, key = lambda x: -x)\n"
    "main()\n",
    "def main():\n"
    "    s = \"ab\" * 4000000\n"
    "    for i in range(1 << 60): s.find(\"ba\" * 100000 + \"c\")\n"
    "main()\n",
    "def main():\n"
    "    s = \"ab\" * 2000000\n"
    "    for i in range(1 << 60): s.replace(\"a\", \"bc\")\n"
    "main()\n",
    "def main():\n"
    "    l = [[]] * 1000000\n"
    "    for i in range(1 << 60): l == list(l)\n"
    "main()\n",
    "def main():\n"
    "    l = [str(i) for i in range(100000)]\n"
    "    for i in range(1 << 60): repr(l) + \",\".join(l)\n"
    "main()\n",
    "def main():\n"
    "    x = 3\n"
    "    for i in range(1 << 60):\n"
    "        x = x * x % (1 << 511 << 511 << 511) + 1\n"
    "main()\n",
    "def main():\n"
    "    x = 7\n"
    "    for i in range(13): x = x * x\n"
    "    for i in range(1 << 60): str(x) + str(x * x)\n"
    "main()\n",
    "def main():\n"
    "    l = list(range(1000000))\n"
    "    for i in range(1 << 60): -1 in l\n"
    "main()\n",
    "def main():\n"
    "    a, b = (1,), (1,)\n"
    "    for i in range(100): a, b = (a, a), (b, b)\n"
    "    return a == b\n"
    "main()\n",
    "def main():\n"
    "    d = {i: i for i in range(200000)}\n"
    "    for i in range(1 << 60): dict(d)\n"
    "main()\n",
    "def main():\n"
    "    s = set(range(200000))\n"
    "    for i in range(1 << 60): s | set(range(100000, 300000))\n"
    "main()\n",
};

#if defined(SLOWER) /* by the build */
#elif defined(SL_COLLECT_ALWAYS)
#    define SLOWER 10000
#elif defined(__SANITIZE_ADDRESS__)
#    define SLOWER 20
#else
#    define SLOWER 1
#endif

/* Long texts: what a call or a round does may itself be long. */
static const struct {
    const char *begin, *part, *end;
} endless_long[] = {
    {"def f():\n", "    x%d = %d\n",
     "def main():\n    for i in range(1 << 60): f()\nmain()\n"},
    {"def main():\n    for i in range(1 << 60):\n", "        x%d = [%d]\n",
     "main()\n"},
    {"def f(", "a%d = %d, ",
     "): pass\ndef main():\n    for i in range(1 << 60): f()\nmain()\n"},
    {"def f(", "a%d = %d, ",
     "): pass\ndef main():\n"
     "    d = {\"a\" + str(i): i for i in range(15000)}\n"
     "    for i in range(1 << 60): f(**d)\nmain()\n"},
    {"def main():\n    t = list(range(15000))\n"
     "    for i in range(1 << 60):\n        [",
     "a%d, ", "] = t\nmain()\n"},
    {"def main():\n    for i in range(1 << 60): [", "%d, ", "]\nmain()\n"},
    {"def g():\n    ", "x%d = %d; ",
     "\n    def f(): return x0\n    return f\ndef main():\n"
     "    for i in range(1 << 60): g()\nmain()\n"},
};

static const char *long_text(size_t i)
{
    static char text[700000];
    size_t at =
        (size_t)snprintf(text, sizeof text, "%s", endless_long[i].begin);

    for (int n = 0; n < 15000; n++) {
        char part[40];
        size_t length = 0;
        for (const char *p = endless_long[i].part; *p; p++) {
            if (p[0] == '%' && p[1] == 'd') {
                length += (size_t)snprintf(part + length, sizeof part - length,
                                           "%d", n);
                p++;
            } else {
                part[length++] = *p;
            }
        }
        memcpy(text + at, part, length);
        at += length;
    }
    snprintf(text + at, sizeof text - at, "%s", endless_long[i].end);
    return text;
}

struct canceler {
    struct star *s;
    uint64_t at; /* of CPU time, when it canceled */
};

static void *cancel_soon(void *p)
{
    struct canceler *c = p;

    /* Well into the program's work, whatever else the machine does. */
    while (cpu_ns() - c->at < (uint64_t)60 * 1000000)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    c->at = cpu_ns();
    star_cancel(c->s);
    return NULL;
}

/* `text` runs for ever, but for the thread that cancels it. */
static void check_cancel(const char *text, const char *name, size_t i)
{
    struct star *s =
        open_with((struct star_limits){.memory_bytes = (size_t)256 << 20});
    struct star_program *p = star_compile(s, "t.star", text, strlen(text));
    struct canceler c = {s, cpu_ns()};
    pthread_t thread;

    CHECK(p && pthread_create(&thread, NULL, cancel_soon, &c) == 0);
    if (!p) {
        printf("# %s", star_error_report(s));
        star_close(s);
        return;
    }
    star_run(s, p);
    uint64_t end = cpu_ns();
    pthread_join(thread, NULL);
    uint64_t took = end > c.at ? end - c.at : 0;
    if (star_error(s) != STAR_ERROR_CANCELED ||
        took >= (uint64_t)SLOWER * 10000000) {
        printf("# %s %zu took %.1f ms to end: %s\n", name, i,
               (double)took / 1e6, star_error_message(s));
        CHECK(false);
    }
    /* What is canceled stays so until that is cleared. */
    outcome(s, "print(1)\n");
    CHECK(star_error(s) == STAR_ERROR_CANCELED);
    star_cancel_clear(s);
    CHECK_STR(outcome(s, "print(1)\n"), "1\n");
    star_close(s);
}

TEST(cancel_from_another_thread_ends_it_within_10_ms)
{
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        check_cancel(endless[i], "program", i);
    for (size_t i = 0; i < sizeof endless_long / sizeof *endless_long; i++)
        check_cancel(long_text(i), "long program", i);
}

TEST(a_deadline_ends_it)
{
    for (size_t i = 0; i < 3; i++) {
        struct star *s = open_with((struct star_limits){.timeout_ms = 20});
        outcome(s, endless[i]);
        CHECK(star_error(s) == STAR_ERROR_TIMEOUT);
        /* each call has its own */
        CHECK_STR(outcome(s, "print(1)\n"), "1\n");
        star_close(s);
    }
}

/* --- the host ------------------------------------------------------------------------------ */

static value call_back(struct star *s, const struct star_args *a)
{
    value v[2];

    if (!star_unpack(s, a, "call_back", "function, value?", v))
        return STAR_INVALID;
    return star_call(s, v[0], v + 1, v[1] != 0, NULL, 0);
}

/* Tries a function, and says whether it failed. */
static value attempt(struct star *s, const struct star_args *a)
{
    return star_bool(star_call(s, a->values[0], NULL, 0, NULL, 0) != 0);
}

/* Calls its first argument with the others. */
static value apply(struct star *s, const struct star_args *a)
{
    return a->count ? star_call(s, a->values[0], a->values + 1, a->count - 1,
                                NULL, 0)
                    : star_fail(s, "apply what?");
}

/* [row 17] no program makes C functions call each other without end. */
TEST(the_host_s_functions_are_nested_only_so_deep)
{
    struct star *s = open_with((struct star_limits){.call_depth = 1000000});

    CHECK(star_register(s, "apply", apply, NULL));
    CHECK_STR(outcome(s, "print(apply(*([apply] * 200 + [len, \"abc\"])))\n"),
              "3\n");
    CHECK_STR(outcome(s, "apply(*([apply] * 100000 + [len, \"abc\"]))\n"),
              "built-in functions call functions more than 240 deep");
    CHECK(star_error(s) == STAR_ERROR_DEPTH);
    CHECK_STR(outcome(s, "print(apply(len, [1]))\n"), "1\n");
    star_close(s);
}

TEST(the_host_is_called_and_calls)
{
    struct star *s = open_with((struct star_limits){0});
    value args[2];

    CHECK(star_register(s, "call_back", call_back, NULL));
    CHECK(star_register(s, "attempt", attempt, NULL));
    CHECK_STR(outcome(s, "print(call_back(lambda: 1))\n"
                         "print(call_back(lambda x: [x, x], \"y\"))\n"
                         "print(call_back(value = 3, function = str))\n"),
              "1\n[\"y\", \"y\"]\n3\n");
    CHECK_STR(outcome(s, "call_back()\n"),
              "call_back: missing argument for function");
    CHECK_STR(outcome(s, "call_back(1, 2, 3)\n"),
              "call_back: got 3 arguments, want at most 2");
    CHECK_STR(outcome(s, "call_back(1, valeu = 3)\n"),
              "call_back: unexpected keyword argument \"valeu\" (did you mean "
              "value?)");
    CHECK_STR(outcome(s, "call_back(1, function = 3)\n"),
              "call_back: got multiple values for keyword argument "
              "\"function\"");
    CHECK_STR(outcome(s, "call_back(1)\n"),
              "invalid call of non-function (int)");

    /* A failure that the host swallows is as if it had not been. */
    CHECK_STR(outcome(s, "def bad(): return 1 // 0\n"
                         "def f():\n"
                         "    l = []\n"
                         "    for x in {1: 2, 3: 4}:\n"
                         "        l.append(attempt(bad))\n"
                         "        l.append(attempt(lambda: x))\n"
                         "    return l\n"
                         "print(f())\n"),
              "[False, True, False, True]\n");
    CHECK(star_error(s) == STAR_OK);

    value f =
        function(s, "def f(a, b = 2, *c, **d): return [a, b, c, d]\n", "f");
    args[0] = star_int(s, 5);
    args[1] = star_string(s, "six", 3);
    const struct star_named named[] = {{"z", args[1]}, {"a", args[0]}};
    value r = star_call(s, f, NULL, 0, named, 2);
    CHECK(r && star_repr(s, r));
    const char *text;
    size_t length;
    CHECK(star_as_text(star_repr(s, r), &text, &length));
    CHECK(length == 24 && !memcmp(text, "[5, 2, (), {\"z\": \"six\"}]", 24));
    CHECK(!star_call(s, f, args, 2, named, 2));
    CHECK_STR(star_error_message(s),
              "function f got multiple values for parameter \"a\"");
    CHECK(!star_call(s, star_none(), args, 1, NULL, 0));
    star_close(s);
}

/* Patterns of positional-only, keyword-only and nullable names. */
static value unpacked(struct star *s, const struct star_args *a)
{
    value v[4];

    if (!star_unpack(s, a, "p", a->ctx, v))
        return STAR_INVALID;
    value list = star_list(s);
    for (int i = 0; i < 3; i++)
        star_append(s, list, v[i] ? v[i] : star_string(s, "-", 1));
    return list;
}

static const struct {
    const char *pattern, *call, *want;
} pattern_rows[] = {
    {"a, b?, c??", "p(1)", "[1, \"-\", \"-\"]\n"},
    {"a, b?, c??", "p(1, None, None)", "[1, None, \"-\"]\n"},
    {"a, b?, c??", "p(c = 2, a = 1)", "[1, \"-\", 2]\n"},
    {"a, b?, c?, /", "p(1, 2)", "[1, 2, \"-\"]\n"},
    {"a, b?, c?, /", "p(1, c = 2)", "p: unexpected keyword arguments"},
    {"a, b?, c?, /", "p()", "p: got 0 arguments, want at least 1"},
    {"a, b?, c?, /", "p(1, 2, 3, 4)", "p: got 4 arguments, want at most 3"},
    {"a, b, c, /", "p(1)", "p: got 1 arguments, want 3"},
    {"a, /, b?, c?", "p(1, b = 2)", "[1, 2, \"-\"]\n"},
    {"a, /, b?, c?", "p(a = 1)", "p: unexpected keyword argument \"a\""},
    {"a, *, b?, c?", "p(1, c = 2)", "[1, \"-\", 2]\n"},
    {"a, *, b?, c?", "p(1, 2)", "p: got 2 arguments, want at most 1"},
    {"a, *, b, c", "p(1, b = 2)", "p: missing argument for c"},
};

TEST(patterns_of_arguments)
{
    for (size_t i = 0; i < sizeof pattern_rows / sizeof *pattern_rows; i++) {
        struct star *s = open_with((struct star_limits){0});
        char text[100], pattern[40];
        snprintf(pattern, sizeof pattern, "%s", pattern_rows[i].pattern);
        snprintf(text, sizeof text, "print(%s)\n", pattern_rows[i].call);
        star_register(s, "p", unpacked, pattern);
        CHECK_STR(outcome(s, text), pattern_rows[i].want);
        star_close(s);
    }
}

struct library {
    struct star_module *m;
};

static struct star_module *load_library(void *ctx, struct star *s,
                                        const char *name, size_t length)
{
    struct library *l = ctx;

    if (length == 3 && !memcmp(name, "lib", 3)) {
        if (!l->m)
            l->m = run(s, "def double(x): return 2 * x\nlater = [1]\n");
        return l->m;
    }
    if (length == 3 && !memcmp(name, "bad", 3))
        return run(s, "x = 1 // 0\n");
    star_fail(s, "no module \"%.*s\"", (int)length, name);
    return NULL;
}

TEST(load_asks_the_host)
{
    struct library l = {NULL};
    struct star_options o = {
        .load = load_library, .ctx = &l, .print = keep_text};
    struct star *s = star_open(&o);

    CHECK_STR(outcome(s, "load(\"lib\", \"double\", t = \"later\")\n"
                         "print(double(4), t)\n"),
              "8 [1]\n");
    CHECK_STR(outcome(s, "load(\"lib\", \"doubel\")\n"),
              "load: name doubel not found in module lib (did you mean "
              "double?)");
    CHECK_STR(outcome(s, "load(\"nowhere\", \"x\")\n"),
              "cannot load nowhere: no module \"nowhere\"");
    CHECK_STR(outcome(s, "load(\"bad\", \"x\")\n"),
              "cannot load bad: floored division by zero");
    CHECK_STR(outcome(s, "load(\"lib\", \"later\")\nlater.append(1)\n"),
              "append: cannot append to frozen list");
    star_close(s);
}

TEST(globals_are_frozen_and_found)
{
    struct star *s = open_with((struct star_limits){0});
    struct star_module *m = run(s, "l = [[1]]\n"
                                   "def f(x = {}): x[1] = 2\n"
                                   "def g(): l[0].append(1)\n"
                                   "_p = 3\n");
    value v;

    CHECK(m != NULL);
    CHECK(!star_call(s, star_global(m, "f"), NULL, 0, NULL, 0));
    CHECK_STR(star_error_message(s), "cannot insert into frozen hash table");
    CHECK(!star_call(s, star_global(m, "g"), NULL, 0, NULL, 0));
    CHECK_STR(star_error_message(s), "append: cannot append to frozen list");
    CHECK(star_global(m, "_p") == star_int(s, 3));
    CHECK(star_global(m, "nothing") == STAR_INVALID);
    CHECK_STR(star_global_at(m, 0, &v), "l");
    CHECK(star_type(v) == STAR_LIST);
    CHECK_STR(star_global_at(m, 3, NULL), "_p");
    CHECK(star_global_at(m, 4, NULL) == NULL);
    star_close(s);
}

TEST(interactive_programs_share_what_they_define)
{
    struct star_options o = {.interactive = true, .print = keep_text};
    struct star *s = star_open(&o);
    static const struct {
        const char *text;
        int64_t want; /* -1: not an int */
    } rows[] = {
        {"x = 1\n", -1},
        {"x + 1\n", 2},
        {"x = 5\ny = x\n", -1},
        {"def f(): return x + y\n", -1},
        {"f()\n", 10},
        {"y = 20\nf()\n", 25},
        {"for i in range(3): y += i\n", -1},
        {"y\n", 23},
        {"if x: z = 7\n", -1},
        {"z\n", 7},
        {"1 // 0\n", -2},
        {"z + 1\n", 8},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value v = 0;
        struct star_program *p =
            star_compile(s, "repl", rows[i].text, strlen(rows[i].text));
        CHECK(p != NULL);
        if (!p) {
            printf("# %s", star_error_report(s));
            continue;
        }
        struct star_module *m = star_run_interactive(s, p, &v);
        int64_t n = -1;
        star_as_int(v, &n);
        CHECK(m ? n == rows[i].want : rows[i].want == -2);
        star_program_free(s, p);
        sl_collect(s);
    }
    star_close(s);
}

/* Sources that come and go leave no memory behind. */
TEST(freed_programs_go)
{
    struct star *s =
        open_with((struct star_limits){.memory_bytes = (size_t)4 << 20});
    static char text[40000];

    memset(text, '#', sizeof text - 1);
    memcpy(text, "def f(): return 1\n", 18);
    for (int i = 0; i < 500; i++) {
        struct star_program *p =
            star_compile(s, "t.star", text, sizeof text - 1);
        CHECK(p != NULL);
        if (!p)
            break;
        star_program_free(s, p);
    }
    star_close(s);
}
