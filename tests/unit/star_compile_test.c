/* starlark/compile: what becomes of a program, and that nothing is too large for
 * it that a source may hold. All that is compiled here passes the verifier. */
#include <stdlib.h>

#include "../lib/tap.h"
#include "star_verify.h"

struct row {
    const char *name, *source;
    const char *code; /* of the file, or of the functions in it */
};

/* clang-format off */
static const struct row rows[] = {
    {"results_go_where_they_are_wanted",
        "def f(a, b):\n"
        "    c = a + b * 2\n"
        "    c += 1\n"
        "    c -= a\n"
        "    return -c\n",
        "f(a, b) at 1:1, 4 registers\n"
        "  0  2:15  MUL_K    r3, r1:b, 2\n"
        "  1  2:11  ADD      r2:c, r0:a, r3\n"
        "  2  3:7   ADD_K    r2:c, r2:c, 1\n"
        "  3  4:7   IN_PLACE r2:c, r2:c, -= r0:a\n"
        "  4  5:12  NEG      r3, r2:c\n"
        "  5        RETURN   r3\n"},
    {"conditions_are_jumps",
        "def f(a, b):\n"
        "    if a < b and not (a == 3 or b in [1]):\n"
        "        return True\n"
        "    elif not a:\n"
        "        b = None\n"
        "    return a or b\n",
        "f(a, b) at 1:1, 4 registers\n"
        "   0  2:10  JUMP_NOT_LT r0:a, r1:b, to 7\n"
        "   1  2:25  JUMP_EQ_K   r0:a, 3, to 7\n"
        "   2        CONST       r3, 1\n"
        "   3  2:33  LIST        r2, r3\n"
        "   4  2:35  JUMP_IN     r1:b, r2, to 7\n"
        "   5        CONST       r2, True\n"
        "   6        RETURN      r2\n"
        "   7        JUMP_TRUE   r0:a, to 9\n"
        "   8        CONST       r1:b, None\n"
        "   9        MOVE        r2, r0:a\n"
        "  10        JUMP_TRUE   r2, to 12\n"
        "  11        MOVE        r2, r1:b\n"
        "  12        RETURN      r2\n"},
    {"truth_as_a_value",
        "def f(c):\n"
        "    return \"a\" <= c and c <= \"z\" or not c\n",
        "f(c) at 1:1, 3 registers\n"
        "  0        CONST       r2, \"a\"\n"
        "  1  2:16  JUMP_NOT_LE r2, r0:c, to 3\n"
        "  2  2:27  JUMP_LE_K   r0:c, \"z\", to 4\n"
        "  3        JUMP_TRUE   r0:c, to 6\n"
        "  4        CONST       r1, True\n"
        "  5        JUMP        to 7\n"
        "  6        CONST       r1, False\n"
        "  7        RETURN      r1\n"},
    {"a_conditional_of_constants",
        "def f(c):\n"
        "    return 60 * 60 * 24 if c else \"a\" + \"b\" + \"c\"\n",
        "f(c) at 1:1, 2 registers\n"
        "  0    JUMP_FALSE r0:c, to 3\n"
        "  1    CONST      r1, 86400\n"
        "  2    JUMP       to 4\n"
        "  3    CONST      r1, \"abc\"\n"
        "  4    RETURN     r1\n"},
    {"a_variable_read_while_it_is_made",
        "def f(x):\n"
        "    x = x or {}\n"
        "    x = x and 1 and x\n"
        "    x = {\"x\": x}\n"
        "    x = [x, [x]]\n"
        "    return x\n",
        "f(x) at 1:1, 4 registers\n"
        "   0        MOVE       r1, r0:x\n"
        "   1        JUMP_TRUE  r1, to 3\n"
        "   2  2:9   DICT       r1, 0\n"
        "   3        MOVE       r0:x, r1\n"
        "   4        MOVE       r1, r0:x\n"
        "   5        JUMP_FALSE r1, to 9\n"
        "   6        CONST      r1, 1\n"
        "   7        JUMP_FALSE r1, to 9\n"
        "   8        MOVE       r1, r0:x\n"
        "   9        MOVE       r0:x, r1\n"
        "  10  3:21  DICT       r1, 1\n"
        "  11        CONST      r2, \"x\"\n"
        "  12  4:13  DICT_PUT   r1, r2, r0:x\n"
        "  13        MOVE       r0:x, r1\n"
        "  14        MOVE       r1, r0:x\n"
        "  15        MOVE       r3, r0:x\n"
        "  16  5:14  LIST       r2, r3\n"
        "  17        LIST       r0:x, r1..r2\n"
        "  18        RETURN     r0:x\n"},
    {"loops_let_go_on_every_way_out",
        "def f(items):\n"
        "    for k, v in items:\n"
        "        if k == v:\n"
        "            continue\n"
        "        if v:\n"
        "            break\n"
        "        for w in v:\n"
        "            return w\n",
        "f(items) at 1:1, 11 registers\n"
        "   0  2:5   FOR_BEGIN   r4..r6, r0:items, to 11\n"
        "   1        UNPACK      r1..r2, r7\n"
        "   2  3:14  JUMP_EQ     r1:k, r2:v, to 11\n"
        "   3        JUMP_FALSE  r2:v, to 6\n"
        "   4        FOR_END     r4..r6\n"
        "   5        JUMP        to 12\n"
        "   6  7:9   FOR_BEGIN   r8..r10, r2:v, to 10\n"
        "   7        FOR_END     r8..r10\n"
        "   8        FOR_END     r4..r6\n"
        "   9        RETURN      r3:w\n"
        "  10        FOR_NEXT    r8..r10, r3:w, to 7\n"
        "  11  2:5   FOR_NEXT    r4..r6, r7, to 1\n"
        "  12        RETURN_NONE\n"},
    {"calls_of_functions",
        "def f(g, x):\n"
        "    g(x, len(x))\n"
        "    g(1, n=x, *x, **x)\n"
        "    return g(x)(x)\n",
        "f(g, x) at 1:1, 7 registers\n"
        "   0        MOVE      r2, r0:g\n"
        "   1        MOVE      r3, r1:x\n"
        "   2  2:13  BUILTIN   r1:x, <built-in function len> -> r4\n"
        "   3  2:6   CALL      r2..r4, r2\n"
        "   4        MOVE      r2, r0:g\n"
        "   5        CONST     r3, 1\n"
        "   6        MOVE      r4, r1:x\n"
        "   7        MOVE      r5, r1:x\n"
        "   8        MOVE      r6, r1:x\n"
        "   9  3:6   CALL_SITE r2..r6, 1 positional, named n, *, ** -> r2\n"
        "  10        MOVE      r2, r0:g\n"
        "  11        MOVE      r3, r1:x\n"
        "  12  4:13  CALL      r2..r3, r2\n"
        "  13        MOVE      r3, r1:x\n"
        "  14  4:16  CALL      r2..r3, r2\n"
        "  15        RETURN    r2\n"},
    {"calls_of_methods",
        "def f(x, y):\n"
        "    x.append(y)\n"
        "    x.get(\"a\", x.z(1))\n"
        "    \", \".join([y])\n"
        "    return x.g(k=1)\n",
        "f(x, y) at 1:1, 5 registers\n"
        "   0  2:13  METHOD     r0:x, .append, r1:y -> r2\n"
        "   1  3:6   HAS_METHOD r0:x, .get\n"
        "   2        CONST      r2, \"a\"\n"
        "   3        CONST      r4, 1\n"
        "   4  3:19  METHOD     r0:x, .z, r4 -> r3\n"
        "   5  3:10  METHOD     r0:x, .get, r2..r3 -> r2\n"
        "   6        CONST      r2, \", \"\n"
        "   7        MOVE       r4, r1:y\n"
        "   8  4:16  LIST       r3, r4\n"
        "   9  4:14  METHOD     r2, .join, r3 -> r2\n"
        "  10  5:13  ATTR       r2, r0:x, \"g\"\n"
        "  11        CONST      r3, 1\n"
        "  12  5:15  CALL_SITE  r2..r3, 0 positional, named k -> r2\n"
        "  13        RETURN     r2\n"},
    {"several_targets",
        "def f(a, b):\n"
        "    a, b = b, a\n"
        "    (a, [b, c]), d = a\n"
        "    a[0], b.x = 1, 2\n"
        "    return c, d\n",
        "f(a, b) at 1:1, 8 registers\n"
        "   0        MOVE        r4, r0:a\n"
        "   1        MOVE        r0:a, r1:b\n"
        "   2        MOVE        r1:b, r4\n"
        "   3  3:20  UNPACK      r4..r5, r0:a\n"
        "   4        UNPACK      r6..r7, r4\n"
        "   5        MOVE        r0:a, r6\n"
        "   6        UNPACK      r1..r2, r7\n"
        "   7        MOVE        r3:d, r5\n"
        "   8        CONST       r4, 0\n"
        "   9  4:6   SET_INDEX_K r0:a, r4, 1\n"
        "  10        CONST       r4, 2\n"
        "  11  4:12  SET_ATTR    r1:b, r4, \"x\"\n"
        "  12        MOVE        r4, r2:c\n"
        "  13        MOVE        r5, r3:d\n"
        "  14  5:15  TUPLE       r4, r4..r5\n"
        "  15        RETURN      r4\n"},
    {"a_target_is_evaluated_once",
        "def f(a, i):\n"
        "    a[i + 1] += i\n"
        "    a[0] *= 2\n"
        "    a.x |= i\n",
        "f(a, i) at 1:1, 4 registers\n"
        "   0  2:9   ADD_K       r2, r1:i, 1\n"
        "   1  2:6   INDEX       r3, r0:a, r2\n"
        "   2  2:14  IN_PLACE    r3, r3, += r1:i\n"
        "   3  2:6   SET_INDEX   r0:a, r2, r3\n"
        "   4        CONST       r2, 0\n"
        "   5  3:6   INDEX_K     r3, r0:a, 0\n"
        "   6  3:10  MUL_K       r3, r3, 2\n"
        "   7  3:6   SET_INDEX   r0:a, r2, r3\n"
        "   8  4:6   ATTR        r2, r0:a, \"x\"\n"
        "   9  4:9   IN_PLACE    r2, r2, |= r1:i\n"
        "  10  4:6   SET_ATTR    r0:a, r2, \"x\"\n"
        "  11        RETURN_NONE\n"},
    {"containers",
        "def f(x):\n"
        "    return [x, (), (1, \"c\"), (x, 1), {\"k\": x}, {}, []]\n",
        "f(x) at 1:1, 11 registers\n"
        "   0        MOVE     r2, r0:x\n"
        "   1        CONST    r3, ()\n"
        "   2        CONST    r4, (1, \"c\")\n"
        "   3        MOVE     r9, r0:x\n"
        "   4        CONST    r10, 1\n"
        "   5  2:31  TUPLE    r5, r9..r10\n"
        "   6        DICT     r6, 1\n"
        "   7        CONST    r9, \"k\"\n"
        "   8  2:42  DICT_PUT r6, r9, r0:x\n"
        "   9        DICT     r7, 0\n"
        "  10        LIST     r8, none\n"
        "  11        LIST     r1, r2..r8\n"
        "  12        RETURN   r1\n"},
    {"slices_take_bounds_where_they_are",
        "def f(x, i):\n"
        "    return x[i:], x[:i], x[i:x:2], x[::i + 1]\n",
        "f(x, i) at 1:1, 9 registers\n"
        "   0  2:14  SLICE  r2, r0:x, [r1:i:]\n"
        "   1  2:22  SLICE  r3, r0:x, [:r1:i]\n"
        "   2        MOVE   r6, r1:i\n"
        "   3        MOVE   r7, r0:x\n"
        "   4        CONST  r8, 2\n"
        "   5  2:30  SLICE  r4, r0:x, [r6:r7:r8]\n"
        "   6  2:42  ADD_K  r6, r1:i, 1\n"
        "   7        SLICE  r5, r0:x, [::r6]\n"
        "   8        TUPLE  r2, r2..r5\n"
        "   9        RETURN r2\n"},
    {"comprehensions",
        "def f(x):\n"
        "    return [i * i for i in x if i], {k: v for k, v in x for w in v}\n",
        "f(x) at 1:1, 14 registers\n"
        "   0  1:1   LIST       r5, none\n"
        "   1  2:19  FOR_BEGIN  r7..r9, r0:x, to 5\n"
        "   2        JUMP_FALSE r1:i, to 5\n"
        "   3  2:15  MUL        r10, r1:i, r1:i\n"
        "   4        APPEND     r5, r10\n"
        "   5  2:19  FOR_NEXT   r7..r9, r1:i, to 2\n"
        "   6  2:15  DICT       r6, 0\n"
        "   7  2:43  FOR_BEGIN  r7..r9, r0:x, to 12\n"
        "   8        UNPACK     r2..r3, r10\n"
        "   9  2:57  FOR_BEGIN  r11..r13, r3:v, to 11\n"
        "  10  2:39  SET_INDEX  r6, r2:k, r3:v\n"
        "  11  2:57  FOR_NEXT   r11..r13, r4:w, to 10\n"
        "  12  2:43  FOR_NEXT   r7..r9, r10, to 8\n"
        "  13  2:39  TUPLE      r5, r5..r6\n"
        "  14        RETURN     r5\n"},
    {"variables_that_closures_share",
        "def f(x):\n"
        "    def g(y=x, *, k, l=2):\n"
        "        return x + y + n\n"
        "    n = 1\n"
        "    x = 2\n"
        "    return g\n",
        "f(x) at 1:1, 6 registers\n"
        "   0  1:1   CELL       r0:x, r0:x\n"
        "   1        CELL_EMPTY r2:n\n"
        "   2  2:13  CELL_GET   r3, r0:x, \"x\"\n"
        "   3        UNSET      r4\n"
        "   4        CONST      r5, 2\n"
        "   5        CLOSURE    r1:g, r3..r5, g\n"
        "   6        CONST      r3, 1\n"
        "   7        CELL_SET   r2:n, r3\n"
        "   8        CONST      r3, 2\n"
        "   9        CELL_SET   r0:x, r3\n"
        "  10        RETURN     r1:g\n"
        "\n"
        "g(y, *, k, l) at 2:5, 5 registers\n"
        "  0  3:16  FREE_CELL r3, x\n"
        "  1  3:18  ADD       r3, r3, r0:y\n"
        "  2  3:24  FREE_CELL r4, n\n"
        "  3  3:22  ADD       r3, r3, r4\n"
        "  4        RETURN    r3\n"},
    {"variables_that_closures_copy",
        "def f(x):\n"
        "    return lambda y: x + y\n",
        "f(x) at 1:1, 2 registers\n"
        "  0  2:12  CLOSURE r1, none, lambda\n"
        "  1        RETURN  r1\n"
        "\n"
        "lambda(y) at 2:12, 2 registers\n"
        "  0        FREE   r1, x\n"
        "  1  2:24  ADD    r1, r1, r0:y\n"
        "  2        RETURN r1\n"},
    {"a_variable_that_may_have_no_value",
        "def f(c):\n"
        "    if c:\n"
        "        x = 1\n"
        "    return x\n",
        "f(c) at 1:1, 2 registers\n"
        "  0        UNSET      r1:x\n"
        "  1        JUMP_FALSE r0:c, to 3\n"
        "  2        CONST      r1:x, 1\n"
        "  3  4:12  CHECK      r1:x, \"x\"\n"
        "  4        RETURN     r1:x\n"},
    {"globals",
        "a = 1\n"
        "b = [a]\n"
        "def f():\n"
        "    return b\n",
        "<toplevel>() at 1:1, 2 registers\n"
        "  0       CONST       r0, 1\n"
        "  1       SET_GLOBAL  r0, a\n"
        "  2  2:6  GLOBAL      r1, a\n"
        "  3       LIST        r0, r1\n"
        "  4       SET_GLOBAL  r0, b\n"
        "  5  3:1  CLOSURE     r0, none, f\n"
        "  6       SET_GLOBAL  r0, f\n"
        "  7       RETURN_NONE\n"
        "\n"
        "f() at 3:1, 1 register\n"
        "  0  4:12  GLOBAL r0, b\n"
        "  1        RETURN r0\n"},
    {"nothing_is_left_of_documentation",
        "\"doc\"\n"
        "def f():\n"
        "    \"doc\"\n"
        "    pass\n",
        "<toplevel>() at 1:1, 1 register\n"
        "  0  2:1  CLOSURE     r0, none, f\n"
        "  1       SET_GLOBAL  r0, f\n"
        "  2       RETURN_NONE\n"
        "\n"
        "f() at 2:1, 0 registers\n"
        "  0    RETURN_NONE\n"},
};
/* clang-format on */

static const char *disassembled(struct star *s, const char *source)
{
    struct star_program *p = star_compile(s, "t.star", source, strlen(source));
    char why[100] = "";

    if (!p)
        return star_error_report(s);
    CHECK(sl_verify(s, p->top, why));
    CHECK_STR(why, "");
    const char *text = star_disassemble(s, p);
    return text ? text : star_error_report(s);
}

TEST(shapes)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct star *s = star_open(NULL);
        const char *text = disassembled(s, rows[i].source);
        const char *functions = strstr(text, "\n\n");
        bool all = !strncmp(rows[i].code, "<toplevel>", 10);
        if (!all && functions)
            text = functions + 2;
        if (strcmp(text, rows[i].code) != 0)
            printf("# %s\n", rows[i].name);
        CHECK_STR(text, rows[i].code);
        star_close(s);
    }
}

/* --- sizes ----------------------------------------------------------------------- */

#define MANY 70000

/* A text that is put together from pieces. */
struct source {
    char *p;
    size_t length;
};

/* `text` with the number in place of each '#'. */
static void say(struct source *t, const char *text, unsigned number)
{
    for (; *text; text++)
        if (*text == '#')
            t->length += (size_t)sprintf(t->p + t->length, "%u", number);
        else
            t->p[t->length++] = *text;
    t->p[t->length] = '\0';
}

/* Compiles head, `each` with 0 up to MANY - 1, and tail; verifies and runs it. The
 * program ends with an error unless all is well. */
static bool runs(const char *head, const char *each, const char *tail)
{
    struct star_options o = {
        .limits = {.memory_bytes = 256u << 20, .source_bytes = 16u << 20}};
    struct source t = {.p = malloc(MANY * 64)};
    struct star *s = star_open(&o);
    char why[100] = "";

    say(&t, head, 0);
    for (unsigned i = 0; i < MANY; i++)
        say(&t, each, i);
    say(&t, tail, 0);
    struct star_program *p = star_compile(s, "t.star", t.p, t.length);
    bool ok = p && sl_verify(s, p->top, why) && star_run(s, p);
    if (!ok)
        printf("# %s%s\n", why, *why ? "" : star_error_report(s));
    star_close(s);
    free(t.p);
    return ok;
}

/* clang-format off */
static const struct {
    const char *head, *each, *tail;
} sizes[] = {
    /* locals; the far ones are assigned, captured, changed, unpacked */
    {"def f():\n", "    a# = #\n",
     "    def g(): return a69999 + a1\n"
     "    a40000 += a2\n"
     "    a60000, a3 = a3, a60000\n"
     "    b = [c for c in [a69999] if c]\n"
     "    return g() + a40000 + a60000 + b[0]\n"
     "f() == 70000 + 40002 + 3 + 69999 or fail()\n"},
    /* cells */
    {"def f():\n", "    a# = #\n",
     "    def g(): return a69999 + a3\n"
     "    a69999 = 7\n"
     "    a3 += 5\n"
     "    return g()\n"
     "f() == 15 or fail()\n"},
    /* constants */
    {"def f():\n    return [", "#.5,",
     "]\nf()[69999] == 69999.5 or fail()\nlen(f()) == 70000 or fail()\n"},
    /* jumps */
    {"def f(x):\n    n = 0\n", "    if x == #:\n        n += 1\n",
     "    return n\nf(69999) == 1 or fail()\n"},
    {"def f(x):\n    if x == -1:\n        return 0\n",
     "    elif x == #:\n        return #\n",
     "f(69999) == 69999 or fail()\n"},
    {"def f(x):\n    return x == -1", " or x == #",
     "\nf(69999) or fail()\nf(-2) and fail()\n"},
    {"def f(x):\n    n = 0\n", "    for i in x:\n        n += i\n",
     "    return n\nf([1]) == 70000 or fail()\n"},
    /* globals */
    {"", "g# = #\n", "def f(): return g69999 + g1\nf() == 70000 or fail()\n"},
    /* functions */
    {"", "def f#(x): return x + #\n", "f69999(1) == 70000 or fail()\n"},
    /* targets */
    {"def f(x):\n    [", "a#, ",
     "] = x\n    return a0 + a32767 + a32768 + a69999\n"
     "f(range(70000)) == 135534 or fail()\n"},
    /* arguments, of every kind at once */
    {"def f(*a): return a\nx = f(", "#, ",
     "*[1, 2])\nlen(x) == 70002 or fail()\nx[69999] == 69999 or fail()\n"},
    {"def f(**k): return k\nx = f(", "k#=#, ",
     ")\nlen(x) == 70000 or fail()\n"},
    /* literals */
    {"def f(x):\n    return (", "x, ", ")\nlen(f(1)) == 70000 or fail()\n"},
    {"def f(x):\n    return {", "#: x, ",
     "}\nf(7)[69999] == 7 or fail()\n"},
    /* chains that lean to the left */
    {"def f(x):\n    return x", " + x", "\nf(1) == 70001 or fail()\n"},
    {"def f(x):\n    return x", "(x)",
     "\nf(lambda x: x)\n"},
    {"x = \"\"", " + \"ab\"", "\nlen(x) == 140000 or fail()\n"},
    {"def f(x):\n    return x", ".y", "\n"},
    {"def f(x):\n    return x", ".y(1)[0]", "\n"},
    {"x = [", "(#, \"a\"), ", "]\nlen(x) == 70000 or fail()\n"},
};
/* clang-format on */

TEST(nothing_is_too_many)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!runs(sizes[i].head, sizes[i].each, sizes[i].tail)) {
            printf("# %s ... %s", sizes[i].head, sizes[i].each);
            tap_failed = true;
        }
}

/* As deep as a source may be, with as much at each level as needs registers. */
TEST(nesting_needs_few_registers)
{
    struct star_options o = {.limits = {.memory_bytes = 256u << 20}};
    struct star *s = star_open(&o);
    struct source t = {.p = malloc(1 << 20)};
    char why[100] = "";

    say(&t, "def f(*a): return a\ndef g(x):\n    return ", 0);
    for (unsigned i = 0; i < 190; i++) {
        say(&t, "f(", 0);
        for (unsigned k = 0; k < 300; k++)
            say(&t, "x,", 0);
    }
    say(&t, "x", 0);
    for (unsigned i = 0; i < 190; i++)
        say(&t, ")", 0);
    say(&t, "\ng(1)\n", 0);
    struct star_program *p = star_compile(s, "t.star", t.p, t.length);
    CHECK(p != NULL);
    CHECK(p && sl_verify(s, p->top, why));
    CHECK(p && star_run(s, p) != NULL);
    CHECK_STR(star_error_report(s), "");
    star_close(s);
    free(t.p);
}

/* 400 loops inside each other, and 401. */
TEST(loops_inside_each_other_are_bounded)
{
    for (unsigned count = SL_LOOPS_MAX; count <= SL_LOOPS_MAX + 1; count++) {
        struct star *s = star_open(NULL);
        struct source t = {.p = malloc(1 << 16)};
        char why[100] = "";
        say(&t, "def f(): return [1 ", 0);
        for (unsigned i = 0; i < count; i++)
            say(&t, "for a# in [1] ", i);
        say(&t, "]\nf() == [1] or fail()\n", 0);
        struct star_program *p = star_compile(s, "t.star", t.p, t.length);
        if (count == SL_LOOPS_MAX) {
            CHECK(p && sl_verify(s, p->top, why) && star_run(s, p));
        } else {
            CHECK(!p && star_error(s) == STAR_ERROR_STATIC);
            CHECK_STR(star_error_message(s),
                      "too many loops inside each other in one function");
        }
        star_close(s);
        free(t.p);
    }
}

/* --- places ------------------------------------------------------------------------ */

TEST(places_are_those_of_operators_and_brackets)
{
    static const struct {
        const char *source;
        unsigned line, column;
    } places[] = {
        {"def f(x):\n    return x + 1\nf(None)\n", 2, 14},
        {"def f(x):\n    return -x\nf(None)\n", 2, 12},
        {"def f(x):\n    return x < 1\nf(None)\n", 2, 14},
        {"def f(x):\n    if not (x < 1):\n        pass\nf(None)\n", 2, 15},
        {"def f(x):\n    return x [0]\nf(None)\n", 2, 14},
        {"def f(x):\n    return x [0:1]\nf(None)\n", 2, 12},
        {"def f(x):\n    return 1 [0:1]\nf(None)\n", 2, 14},
        {"def f(x):\n    return 1 not  in x\nf(None)\n", 2, 19},
        {"def f(x):\n    return [x]\nf()\n", 2, 13},
        {"def f(x):\n    return [1, x]\nf()\n", 1, 1},
        {"def f(x):\n    return x .y\nf(None)\n", 2, 14},
        {"def f(x):\n    return x .y(1)\nf(None)\n", 2, 14},
        {"def f(x):\n    return x .y(1 // 0)\nf(None)\n", 2, 14},
        {"def f(x):\n    return x .y(1)(2)\nf(None)\n", 2, 14},
        {"def f(x):\n    return x.append (1, 2)\nf([])\n", 2, 21},
        {"def f(x):\n    return len (x)\nf(None)\n", 2, 16},
        {"def f(x):\n    return x (1)\nf(None)\n", 2, 14},
        {"def f(x):\n    return x (a=1)\nf(None)\n", 2, 14},
        {"def f(x):\n    x [0] += 1\nf(None)\n", 2, 7},
        {"def f(x):\n    x[0] += None\nf([1])\n", 2, 10},
        {"def f(x):\n    x.y += 1\nf(None)\n", 2, 6},
        {"def f(x):\n    a, b = x\nf(None)\n", 2, 10},
        {"def f(x):\n    for a in x:\n        pass\nf(None)\n", 2, 5},
        {"def f(x):\n    for a, b in x:\n        pass\nf([1])\n", 2, 5},
        {"def f(x):\n    return [a for a in x]\nf(None)\n", 2, 15},
        {"def f(x):\n    return {1 : x, x : 2}\nf([])\n", 2, 22},
        {"def f(x):\n    return {a : 1 for a in x}\nf([[]])\n", 2, 15},
        {"def f(x):\n    if x:\n        y = 1\n    return  y\nf(0)\n", 4, 13},
        {"def f(): return y\nf()\ny = 1\n", 1, 17},
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *source = places[i].source;
        struct star *s = star_open(NULL);
        struct star_program *p =
            star_compile(s, "t.star", source, strlen(source));
        struct star_place at = {0};
        CHECK(p && !star_run(s, p) && star_error_place(s, &at));
        CHECK(at.line == places[i].line && at.column == places[i].column);
        if (at.line != places[i].line || at.column != places[i].column)
            printf("# %s# %u:%u\n", source, at.line, at.column);
        star_close(s);
    }
}

/* A limit that is reached while compiling is an error like others. */
TEST(memory_may_end_at_any_place)
{
    static const char source[] = "def f(x, y=[1], *a, **k):\n"
                                 "    z = [i for i in x if i] + list(a)\n"
                                 "    def g(): return z + [x]\n"
                                 "    for i, w in k.items():\n"
                                 "        z[i] += w.get(\"a\", f(1, b=2, *a))\n"
                                 "    return g if z < x else \"a\" + \"b\"\n";
    bool failed = false, succeeded = false;

    for (size_t limit = 8192; !succeeded && limit < 1 << 20; limit += 1024) {
        struct star_options o = {.limits = {.memory_bytes = limit}};
        struct star *s = star_open(&o);
        if (!s)
            continue;
        if (star_compile(s, "t.star", source, strlen(source)))
            succeeded = true;
        else if (star_error(s) == STAR_ERROR_MEMORY)
            failed = true;
        else
            limit = SIZE_MAX / 2; /* an error that must not be */
        star_close(s);
    }
    CHECK(failed && succeeded);
}
