#include <stdlib.h>

#include "core/error.h"
#include "lib/lib.h"
#include "tap.h"

/* What programs cannot see of the built-ins: how names become numbers, and that
 * sorting is stable, sparing with comparisons, and ends when told to. */

TEST(every_method_name_has_its_number)
{
    for (int m = 1; m < METHOD_COUNT; m++) {
        const char *name = sl_method_names[m];
        CHECK(sl_method_number(name, strlen(name)) == (enum sl_method)m);
        /* neither a prefix of it nor more than it, unless that is one, too */
        char longer[64];
        int n = snprintf(longer, sizeof longer, "%s_", name);
        CHECK(sl_method_number(longer, (size_t)n) == METHOD_NONE);
        enum sl_method shorter = sl_method_number(name, strlen(name) - 1);
        CHECK(shorter == METHOD_NONE ||
              strlen(sl_method_names[shorter]) == strlen(name) - 1);
    }
    CHECK(sl_method_number("", 0) == METHOD_NONE);
    CHECK(sl_method_number("zzz", 3) == METHOD_NONE);
    CHECK(sl_method_number("Append", 6) == METHOD_NONE);
}

/* --- sort ------------------------------------------------------------------------- */

static uint64_t noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

enum pattern { RISING, FALLING, EQUAL, RANDOM, SAW, NEARLY, PATTERNS };

static int64_t patterned(enum pattern p, uint64_t i, uint64_t n,
                         uint64_t *state)
{
    switch (p) {
    case RISING:
        return (int64_t)i;
    case FALLING:
        return -(int64_t)i;
    case EQUAL:
        return 7;
    case RANDOM:
        return (int64_t)(noise(state) % (n + 1)) - (int64_t)(n / 2);
    case SAW:
        return (int64_t)(i % 37);
    default:
        return noise(state) % 50 == 0 ? (int64_t)noise(state) : (int64_t)i;
    }
}

/* A key of each kind that orders as `n` does. */
static value key_of_kind(struct star *s, int kind, int64_t n)
{
    char text[40];
    value v;

    switch (kind) {
    case 0:
        return sl_word(n);
    case 1:
        return sl_float(s, (double)n / 4);
    case 2: /* differ late or early */
        return sl_string_new(s, text,
                             (size_t)snprintf(text, sizeof text, "%s%012lld",
                                              n % 3 ? "" : "000",
                                              (long long)n + 100000000));
    case 3:
        v = sl_tuple_new(s, 1);
        sl_tuple(v)->items[0] = sl_word(n);
        return v;
    default: /* of two types, compared as values */
        return n % 2 ? sl_word(n) : sl_float(s, (double)n);
    }
}

static void check_order(struct star *s, const value *keys, const value *items,
                        size_t n, bool reverse)
{
    unsigned bad = 0;

    for (size_t i = 1; i < n; i++) {
        int64_t a = sl_int_word(items[i - 1]), b = sl_int_word(items[i]);
        bool less = false, more = false;
        CHECK(sl_compare(s, OP_LT, keys[a], keys[b], &less));
        CHECK(sl_compare(s, OP_GT, keys[a], keys[b], &more));
        if (reverse ? less : more)
            bad++;
        if (!less && !more && a > b) /* stable */
            bad++;
    }
    CHECK(bad == 0);
}

TEST(sorts_stably_whatever_the_pattern_and_kind)
{
    static const size_t sizes[] = {0,  1,  2,  3,   23,   24,
                                   25, 63, 64, 100, 1000, 5000};
    uint64_t state = 1;

    for (int kind = 0; kind < 5; kind++)
        for (int p = 0; p < PATTERNS; p++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                size_t n = sizes[k];
                struct star *s = star_open(NULL);
                struct sl_scope scope = sl_native_enter(s);
                value keys[5000], items[5000];

                for (size_t i = 0; i < n; i++) {
                    keys[i] = key_of_kind(
                        s, kind, patterned((enum pattern)p, i, n, &state));
                    items[i] = sl_word((int64_t)i);
                }
                CHECK(sl_sort(s, items, keys, n, false));
                check_order(s, keys, items, n, false);
                for (size_t i = 0; i < n; i++)
                    items[i] = sl_word((int64_t)i);
                CHECK(sl_sort(s, items, keys, n, true));
                check_order(s, keys, items, n, true);
                sl_native_leave(s, scope);
                star_close(s);
            }
}

/* STARLARK.md row 34: NaN is equal to itself and greater than all. */
TEST(floats_of_all_kinds)
{
    static const double d[] = {0.0,    -0.0,   1.5,    -1.5,   1e300,
                               -1e300, 5e-324, 1e-310, -5e-324};
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    value keys[12], items[12];
    size_t n = 0;

    for (; n < sizeof d / sizeof *d; n++)
        keys[n] = sl_float(s, d[n]);
    keys[n++] = sl_float(s, __builtin_nan(""));
    keys[n++] = sl_float(s, __builtin_inf());
    keys[n++] = sl_float(s, -__builtin_inf());
    for (size_t i = 0; i < n; i++)
        items[i] = sl_word((int64_t)i);
    CHECK(sl_sort(s, items, keys, n, false));
    check_order(s, keys, items, n, false);
    CHECK(sl_int_word(items[0]) == 11);
    CHECK(sl_int_word(items[n - 1]) == 9);
    sl_native_leave(s, scope);
    star_close(s);
}

TEST(what_is_sorted_costs_one_look)
{
    enum { N = 100000 };
    struct star *s = star_open(NULL);
    value *items = malloc(N * sizeof *items);
    uint64_t before = star_usage(s).steps, sorted;

    for (size_t i = 0; i < N; i++)
        items[i] = sl_word((int64_t)i);
    CHECK(sl_sort(s, items, items, N, false));
    sorted = star_usage(s).steps - before;
    CHECK(sorted < 2 * N);
    before += sorted;
    CHECK(sl_sort(s, items, items, N, true)); /* turned around */
    CHECK(star_usage(s).steps - before < 2 * N);
    CHECK(items[0] == sl_word(N - 1) && items[N - 1] == sl_word(0));
    free(items);
    star_close(s);
}

/* X13: no input makes it quadratic. */
TEST(no_pattern_costs_more_than_n_log_n)
{
    enum { N = 65536 };
    value *items = malloc(N * sizeof *items);
    uint64_t state = 5;

    for (int p = 0; p < PATTERNS; p++) {
        struct star *s = star_open(NULL);
        for (size_t i = 0; i < N; i++)
            items[i] = sl_word(patterned((enum pattern)p, i, N, &state));
        uint64_t before = star_usage(s).steps;
        CHECK(sl_sort(s, items, items, N, false));
        CHECK(star_usage(s).steps - before < (uint64_t)N * 18);
        star_close(s);
    }
    free(items);
}

TEST(a_failing_comparison_leaves_the_items_alone)
{
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    value items[] = {sl_word(3), sl_word(1), V_NONE, sl_word(2)};

    CHECK(!sl_sort(s, items, items, 4, false));
    CHECK(star_error(s) == STAR_ERROR_RUNTIME);
    CHECK_STR(star_error_message(s), "int < NoneType not implemented");
    CHECK(items[0] == sl_word(3) && items[1] == sl_word(1) &&
          items[2] == V_NONE && items[3] == sl_word(2));
    sl_native_leave(s, scope);
    star_close(s);
}

TEST(a_cancel_ends_it)
{
    enum { N = 200000 };
    struct star *s = star_open(NULL);
    value *items = malloc(N * sizeof *items);
    uint64_t state = 9;

    for (size_t i = 0; i < N; i++)
        items[i] = sl_word((int64_t)noise(&state));
    star_cancel(s);
    CHECK(!sl_sort(s, items, items, N, false));
    CHECK(star_error(s) == STAR_ERROR_CANCELED);
    free(items);
    star_close(s);
}

/* --- built-ins end when they are told to --------------------------------------------- */

struct canceling {
    struct star *star;
    uint64_t at; /* steps when it was canceled */
};

static bool cancel_now(void *ctx, const char *text, size_t length)
{
    struct canceling *c = ctx;

    (void)text;
    (void)length;
    c->at = star_usage(c->star).steps;
    star_cancel(c->star);
    return true;
}

/* X13, STARLARK.md 1.5: a cancel, and so a time-out or a limit of steps, is seen
 * after at most some pieces of work, however much there is. */
TEST(every_built_in_ends_soon)
{
    static const char *const programs[][2] = {
        {"[0] * 300000", "any(x)"},
        {"[1] * 300000", "all(x)"},
        {"range(1 << 60)", "max(x)"},
        {"list(range(300000))", "min(x)"},
        {"list(range(300000))", "max(x, key = lambda v: v)"},
        {"range(1 << 60)", "min(x, key = lambda v: v)"},
        {"range(1 << 30)", "list(x)"},
        {"range(1 << 30)", "tuple(x)"},
        {"range(1 << 30)", "sorted(x)"},
        {"range(1 << 30)", "reversed(x)"},
        {"range(1 << 60)", "enumerate(x)"},
        {"range(1 << 60)", "zip(x, x)"},
        {"list(range(300000))", "zip(x, x)"},
        {"list(range(300000))", "enumerate(x)"},
        {"list(range(300000))", "sorted(x, key = lambda v: v)"},
        {"[(i * 7919) % 100003 for i in range(300000)]", "sorted(x)"},
        {"[str(i * 7919) for i in range(200000)]", "sorted(x)"},
        {"[(i % 7, i) for i in range(100000)]", "sorted(x)"},
        {"list(range(1000000))", "[x.index(-1) for i in range(1000000)]"},
        {"list(range(1000000))", "[x.insert(0, 1) for i in range(1000000)]"},
        {"list(range(1000000))", "[x.pop(0) for i in range(1000000)]"},
        {"list(range(1000000))", "[x[::2] for i in range(1000000)]"},
        {"range(1 << 40)", "set(x)"},
        {"set(range(300000))", "x.union(range(1 << 40))"},
        {"set(range(300000))", "x.intersection(range(1 << 40))"},
        {"set(range(300000))", "x.difference(x, x, x)"},
        {"set(range(300000))", "x.isdisjoint(range(1 << 40))"},
        {"set(range(300000))", "x.update(range(1 << 40))"},
        {"{i: i for i in range(300000)}", "x.items()"},
        {"{i: i for i in range(300000)}", "x.keys()"},
        {"{i: i for i in range(300000)}", "dict(x)"},
        {"{i: i for i in range(300000)}", "x.update(x.items())"},
        {"[1] * 300000", "bytes(x)"},
        {"\"\\u00e9\" * 20000000", "hash(x)"},
        {"\"\\u00e9\" * 20000000", "bytes(x)"},
        {"\"\\u00e9\" * 20000000", "ord(x)"},
        {"b\"a\" * 40000000", "hash(x)"},
    };

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct canceling c = {0};
        struct star_options o = {.limits.memory_bytes = (size_t)256 << 20,
                                 .print = cancel_now,
                                 .ctx = &c};
        char text[400];
        int n = snprintf(text, sizeof text,
                         "def f():\n    x = %s\n    print()\n    %s\nf()\n",
                         programs[i][0], programs[i][1]);

        c.star = star_open(&o);
        struct star_program *p = star_compile(c.star, "a", text, (size_t)n);
        CHECK(p && !star_run(c.star, p));
        bool ended = star_error(c.star) == STAR_ERROR_CANCELED &&
                     star_usage(c.star).steps - c.at < 130000;
        CHECK(ended);
        if (!ended)
            printf("# %s: %s, %llu steps\n", programs[i][1],
                   star_error_message(c.star),
                   (unsigned long long)(star_usage(c.star).steps - c.at));
        star_close(c.star);
    }
}

/* [row 17] The steps of an operation grow with the length of its operands, also where it
 * is too short to be interrupted and where a text or an int is a key, so that many
 * of them do not exceed a limit. `expression`, evaluated often, costs a step for
 * each 64 of the `bytes` that it reads. */
static void check_paid(const char *expression, uint64_t bytes)
{
    static const char setup[] = "    s = \"a\" * 30000\n"
                                "    t = \"a\" * 29999 + \"a\"\n"
                                "    d = {s: 1}\n"
                                "    d2 = {t: 1}\n"
                                "    e, f = s.elems(), t.elems()\n"
                                "    m = int(\"f\" * 16384, 16)\n"
                                "    n = int(\"f\" * 16383 + \"f\", 16)\n"
                                "    k = {m: 1}\n"
                                "    u = \"\\u00e9\" * 15000\n"
                                "    w = \" \" * 30000 + \"1\"\n"
                                "    l = [1] * 15000\n";
    struct star *s = star_open(&(struct star_options){.json = true});
    const uint64_t least = 100 * (bytes / 64 - 1);
    char text[1000];
    int n = snprintf(text, sizeof text,
                     "def f(many):\n%s"
                     "    for i in range(many): %s\n",
                     setup, expression);
    struct star_program *p = star_compile(s, "a", text, (size_t)n);
    struct star_module *m = p ? star_run(s, p) : NULL;

    CHECK(m);
    star_value many = star_int(s, 0), f = star_global(m, "f");
    CHECK(star_call(s, f, &many, 1, NULL, 0));
    uint64_t before = star_usage(s).steps;
    CHECK(star_call(s, f, &many, 1, NULL, 0));
    uint64_t once = star_usage(s).steps - before;
    many = star_int(s, 100);
    CHECK(star_call(s, f, &many, 1, NULL, 0));
    uint64_t steps = star_usage(s).steps - before - 2 * once;
    CHECK(steps >= least);
    if (steps < least)
        printf("# %s: %llu steps\n", expression, (unsigned long long)steps);
    star_close(s);
}

TEST(repeated_work_is_paid_for)
{
    static const char *const expressions[] = {
        "d[t]",
        "t in d",
        "d.get(t)",
        "{s: 1} == d2",
        "s == t",
        "s < t",
        "s != t",
        "e == f",
        "t in [1, s]",
        "s.find(t)",
        "s.rfind(t)",
        "s in t",
        "s.find(\"b\")",
        "s.rfind(\"b\")",
        "s.count(\"b\")",
        "\"ba\" in s",
        "s.rfind(\"ba\")",
        "s.startswith(t)",
        "s.endswith(t)",
        "s.endswith((t,))",
        "s.removeprefix(t)",
        "s.replace(s, t)",
        "s.split(\"b\")",
        "s.partition(t)",
        "hash(s)",
        "s.isalpha()",
        "s.title().istitle()",
        "s.islower()",
        "u.upper()",
        "u.isalnum()",
        "s.title()",
        "s.capitalize()",
        "s.split()",
        "s.splitlines()",
        "s.strip(\"a\")",
        "(\" \" * 30000).split()",
        "s.strip(t)",
        "s[::2]",
        "s + t",
        "s * 2",
        "s[1:]",
        "repr(s)",
        "\"%s\" % s",
        "\"{}\".format(s)",
        "\",\".join([s])+t",
        "reversed(l)",
        "l[1:]",
        "l + l",
        "json.decode(w)",
        "json.encode(s)",
        "str(l)",
    };
    static const char *const ints[] = {
        "m == n",       "m < n",     "m in [1, n]", "max(m, n)",
        "(m,) == (n,)", "[m] < [n]", "k[n]",        "n in k",
    };

    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        check_paid(expressions[i], 30000);
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        check_paid(ints[i], 65536 / 8);
}

/* Hints for the names of json modules of other languages. */
TEST(json_hints_at_its_names)
{
    static const char *const rows[][2] = {
        {"json.loads(\"1\")", "hint: use json.decode(text)"},
        {"json.parse(\"1\")", "hint: use json.decode(text)"},
        {"json.dumps(1)", "hint: use json.encode(x)"},
        {"json.stringify(1)", "hint: use json.encode(x)"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct star *s = star_open(&(struct star_options){.json = true});
        struct star_program *p =
            star_compile(s, "a", rows[i][0], strlen(rows[i][0]));
        CHECK(p && !star_run(s, p));
        CHECK(strstr(star_error_report(s), rows[i][1]));
        star_close(s);
    }
}

/* Formatting an int of many digits takes time; an interruption is not taken for
 * the end of the text. */
TEST(half_an_int_is_no_text)
{
    static const char *const programs[] = {
        "str([x])",   "repr({1: x})",   "\"%s\" % x", "\"{}\".format((x,))",
        "print(x)",   "str(x)",         "\"%d\" % x", "fail(x)",
        "\"%x\" % x", "[].index(x, x)", "bytes([x])",
    };

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct star_options o = {.limits.steps = 20000};
        struct star *s = star_open(&o);
        char text[200];
        int n = snprintf(text, sizeof text,
                         "def f(x):\n    y = %s\n    return y\n", programs[i]);
        struct star_program *p = star_compile(s, "a", text, (size_t)n);
        struct star_module *m = p ? star_run(s, p) : NULL;
        CHECK(m);
        struct star_limits none = {0}, few = {.steps = 20000};
        char *digits = malloc(19000);
        memset(digits, '7', 19000);
        star_set_limits(s, &none);
        star_value x = star_int_from_text(s, digits, 19000);
        free(digits);
        CHECK(x);
        few.steps = star_usage(s).steps + 500;
        star_set_limits(s, &few);
        star_value y = star_call(s, star_global(m, "f"), &x, 1, NULL, 0);
        CHECK(!y && star_error(s) == STAR_ERROR_STEPS);
        if (y || star_error(s) == STAR_ERROR_RUNTIME)
            printf("# %s: %s\n", programs[i], star_error_message(s));
        star_close(s);
    }
}

/* [row 17, row 18] a sort that is stopped at any step looks at nothing it has not
 * made, and leaves the list as it was. Under ASan and MSan that shows. */
TEST(sorting_may_be_stopped_at_any_step)
{
    static const char source[] =
        "l = [(i * 7919) % 1000 for i in range(3000)]\n"
        "t = [str(i) for i in l]\n"
        "def f(): return sorted(l)\n"
        "def g(): return sorted(t, key = len, reverse = True)\n";
    static const char *const names[] = {"f", "g"};
    struct star *s = star_open(NULL);
    struct star_module *m =
        star_run(s, star_compile(s, "a", source, sizeof source - 1));

    for (size_t i = 0; m && i < 2; i++)
        for (uint64_t steps = 1; steps < 60000; steps += steps / 8 + 7) {
            struct star_limits l = {.steps = star_usage(s).steps + steps};
            size_t scope = star_scope_begin(s);
            star_set_limits(s, &l);
            star_value v =
                star_call(s, star_global(m, names[i]), NULL, 0, NULL, 0);
            CHECK(v ? star_length(v) == 3000
                    : star_error(s) == STAR_ERROR_STEPS);
            star_scope_end(s, scope);
        }
    CHECK(m != NULL);
    star_close(s);
}
