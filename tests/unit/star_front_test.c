/* starlark: from a source to a tree. Which errors, all at once and where; which
 * variable lives where; that nothing in a source exhausts anything. */

#include "base/arena.h"

#include <stdlib.h>

#include "front/ast.h"
#include "tap.h"

/* --- the errors of a source --------------------------------------------------- */

static struct star *open_with(struct star_limits limits)
{
    return star_open(&(struct star_options){.limits = limits});
}

/* "1:5: text; 2:1: text" of a report; its lines that are no place are left
 * out. */
static const char *places(const char *report)
{
    static char out[8192];
    size_t n = 0;

    out[0] = '\0';
    while (*report) {
        size_t length = strcspn(report, "\n");
        if (strncmp(report, "t:", 2) == 0) {
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s",
                                  n ? "; " : "", (int)length - 2, report + 2);
            if (n >= sizeof out)
                break;
        }
        report += length + (report[length] == '\n');
    }
    return out;
}

struct row {
    const char *source, *errors;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct star *s = star_open(NULL);
        struct star_program *p =
            star_compile(s, "t", rows[i].source, strlen(rows[i].source));
        CHECK(!p == (rows[i].errors[0] != '\0'));
        const char *got = p ? "" : places(star_error_report(s));
        CHECK_STR(got, rows[i].errors);
        if (strcmp(got, rows[i].errors) != 0)
            printf("# of: %s\n", rows[i].source);
        star_close(s);
    }
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof rows / sizeof *rows)

/* Row 5, 8, 49 of the table of choices, and lexical elements. */
TEST(tokens)
{
    static const struct row rows[] = {
        {"", ""},
        {"\n\n  \n# only a comment", ""},
        {"x = 0x7f + 0o17 + 0b11 + 00 + 1. + .5 + 1.e2 + 1E-3 + 08.5\n", ""},
        {"x = 0x\n", "1:5: invalid hex literal"},
        {"x = 0o8\n", "1:7: invalid octal literal"},
        {"x = 0b2\n", "1:7: invalid binary literal"},
        {"x = 0755\n", "1:9: obsolete form of octal literal; use 0o755"},
        {"x = 089\n", "1:5: invalid int literal"},
        {"x = 1e999\n", "1:10: invalid float literal"},
        {"x = 1e\n", "1:7: invalid float literal"},
        {"x = 1 $ 2\n", "1:7: unexpected input character '$'"},
        {"x = 1 \xc2\xa0+ 2\n", "1:7: unexpected input character '\\u00a0'"},
        {"x = 1\\\n + 2\n", ""},
        {"x = 1 \\ + 2\n", "1:8: stray backslash in program"},
        {"x = 'a\n", "1:5: unexpected newline in string"},
        {"x = r'a\n'", "1:5: unexpected newline in string; "
                       "2:1: unexpected EOF in string"},
        {"x = '''a\n", "1:5: unexpected EOF in string"},
        {"x = 'a\\", "1:5: unexpected EOF in string"},
        {"x = '''a\nb''' + r'\\d' + b'\\xff' + rb'\\x' + br''\n", ""},
        {"x = "
         "'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\\n\\101\\x41\\u00e9\\U0001F600'\n",
         ""},
        {"x = '\\q'\n", "1:5: invalid escape sequence \\q"},
        {"x = b'\\q'\n", "1:6: invalid escape sequence \\q"},
        {"x = '\\x4'\n", "1:5: truncated escape sequence \\x4"},
        {"x = '\\xZZ'\n", "1:5: invalid escape sequence \\xZZ"},
        {"x = '\\377'\n", "1:5: non-ASCII octal escape \\377 (use \\u00FF for "
                          "the UTF-8 encoding of U+00FF)"},
        {"x = '\\xff'\n", "1:5: non-ASCII hex escape \\xff (use \\u00FF for "
                          "the UTF-8 encoding of U+00FF)"},
        {"x = b'\\777'\n", "1:6: invalid escape sequence \\777"},
        {"x = '\\ud800'\n", "1:5: invalid Unicode code point U+D800"},
        {"x = '\\U00110000'\n", "1:5: code point out of range: \\U00110000 "
                                "(max \\U00110000)"},
        {"\xc3\xa9t\xc3\xa9 = 1\nprint(\xc3\xa9t\xc3\xa9, nope)\n",
         "2:12: undefined: nope"},
        {"x = 1)\ny = ]\n", "1:6: unexpected ')'; 2:5: unexpected ']'"},
        {"a\r\nb\rc\n", "1:1: undefined: a; 2:1: undefined: b; "
                        "3:1: undefined: c"},
        {"\xef\xbb\xbfx = 1\n", "1:1: unexpected input character '\\ufeff'"},
        {"x = '\xff'\n", "1:6: invalid UTF-8: byte \\xff"},
        {"x = '\xed\xa0\x80'\n", "1:6: invalid UTF-8: byte \\xed"},
    };
    CHECK_ROWS(rows);
}

TEST(a_nul_byte_is_refused)
{
    struct star *s = star_open(NULL);

    CHECK(!star_compile(s, "t", "x = 1\ny =\0 2\n", 13));
    CHECK_STR(places(star_error_report(s)), "2:4: NUL byte in the source");
    star_close(s);
}

/* Row 42. */
TEST(indentation)
{
    static const struct row rows[] = {
        {"def f():\n  return 1\ndef g():\n        return 2\n", ""},
        {"def f():\n    pass\n   # odd comment\n\n    pass\n", ""},
        {"def f():\n\treturn 1\n", "2:1: tab in indentation"},
        {"x = [\n\t1,\n]\n", ""},
        {"def f():\n    x = 1\n  y = 2\n  z = 3\n",
         "3:3: unindent does not match any outer indentation level"},
        {"x = 1\n  y = 2\n", "2:3: got indent, want primary expression"},
        {"def f():\nreturn 1\n", "2:7: got return, want indent"},
        {"def f():\n", "2:1: got end of file, want indent"},
        {"def f():\ndef g():\n    pass\nf(h)\n",
         "2:4: got def, want indent; 4:3: undefined: h"},
    };
    CHECK_ROWS(rows);
}

/* Row 43, and grammar. */
TEST(grammar)
{
    static const struct row rows[] = {
        {"x = 1 +\n2\n", "1:8: got newline, want primary expression"},
        {"def f : pass\n", "1:8: got ':', want '('"},
        {"def pass(): pass\n", "1:9: not an identifier"},
        {"x = {1: 2}.class\n", "1:17: not an identifier"},
        {"f = lambda *a, b = 1, **c: (a, b, c)\nf(1, b=2, *[], **{})\n", ""},
        {"print(1 2)\n", "1:10: got int literal, want ','"},
        {"x = (1 2)\n", "1:9: got int literal, want ')'"},
        {"x = [1 2]\n", "1:9: got int literal, want ']'"},
        {"x = {1 2}\n", "1:9: got int literal, want ':'"},
        {"x = {1: 2 3}\n", "1:12: got int literal, want '}'"},
        {"x = [1][0 1]\n", "1:12: got int literal, want ']'"},
        {"x = [1][1, 2:]\n", ""},
        {"x = [1][1, 2,:]\n", "1:14: got ':', want primary expression"},
        {"x = [y for y in 1, 2]\n", "1:19: got ',', want ']', for, or if"},
        {"x = [y for y in lambda: 1]\n",
         "1:17: got lambda, want primary expression"},
        {"x = [y for y in [1] if lambda: y]\n", ""},
        {"x = [y for y in [1] if lambda: y if y else 1]\n",
         "1:43: got else, want ']', for, or if"},
        {"x = 1 == 2 == 3\n",
         "1:14: == does not associate with == (use parens)"},
        {"x = 1 in [] not in []\n",
         "1:19: in does not associate with not in (use parens)"},
        {"x = not 1 == 2 and not not 3\n", ""},
        {"x = 1 + not 2\n", "1:9: got not, want primary expression"},
        {"x = 1 not 2\n", "1:12: got int literal, want in"},
        {"x = 1 if 2\n", "1:7: conditional expression without else clause"},
        {"print(1 = 2)\n", "1:10: keyword argument must have form name=expr"},
        {"print((a) = 2)\n", "1:12: keyword argument must have form name=expr"},
        {"a, = [1]\n", "1:2: unparenthesized tuple with trailing comma"},
        {"(a, b,), [c] = (1, 2), [3]\n", ""},
        {"print(*[1], *[2])\n", "1:13: multiple *args not allowed"},
        {"print(**{}, *[2])\n", "1:13: *args may not follow **kwargs"},
        {"print(sep='', 1)\n",
         "1:15: positional argument may not follow named"},
        {"print(sep='', sep='')\n",
         "1:15: keyword argument \"sep\" is repeated"},
        {"def f(a=1, b): pass\n",
         "1:12: required parameter may not follow optional"},
        {"def f(*, **k): pass\n",
         "1:7: bare * must be followed by keyword-only parameters"},
        {"def f(**k, a): pass\n",
         "1:12: required parameter may not follow **k"},
        {"def f(**k, a=1): pass\n",
         "1:13: optional parameter may not follow **k"},
        {"def f(a, a=1): pass\n", "1:11: duplicate parameter: a"},
        {"def f(a, *a): pass\n", "1:11: duplicate parameter: a"},
        {"def f(*a, *b): pass\n", "1:11: multiple * parameters not allowed"},
        {"if 1: pass", "1:1: if statement not within a function"},
        {"def f(): pass; pass;\n", ""},
    };
    CHECK_ROWS(rows);
}

/* Row 41, and what the resolver refuses. */
TEST(scope)
{
    static const struct row rows[] = {
        {"print(x)\nx = 1\n", ""},
        {"x = 1\nx = 2\n", "2:1: cannot reassign global x declared at t:1:1"},
        {"x = [1]\nx += [2]\n",
         "2:1: cannot reassign global x declared at t:1:1"},
        {"len = 1\nprint(len)\n", ""},
        {"def f():\n    return g() + h()\ndef g(): pass\n",
         "2:18: undefined: h"},
        {"[x for x in [1]]\nprint(x)\n", "2:7: undefined: x"},
        {"hello = 1\nprint(hollo)\n",
         "2:7: undefined: hollo (did you mean hello?)"},
        {"def f(abc):\n    print(abd)\n    print(goodbye)\n",
         "2:11: undefined: abd (did you mean abc?); 3:11: undefined: goodbye"},
        {"for x in [1]:\n    if x:\n        x = 2\n",
         "1:1: for loop not within a function"},
        {"return 1\nbreak\n", "1:1: return statement not within a function; "
                              "2:1: break not in a loop"},
        {"def f():\n    for x in []:\n        def g():\n            continue\n",
         "4:13: continue not in a loop"},
        {"1 = 2\n1 + 2 = 3\nlen() = 4\n(x, [y, 5]) = 6\n",
         "1:1: can't assign to literal; 2:1: can't assign to binaryexpr; "
         "3:1: can't assign to callexpr; 4:9: can't assign to literal"},
        {"[a] += 1\n",
         "1:1: can't use list expression in augmented assignment"},
        {"load('m', 'x', y='z')\nx(y)\n", "1:1: load is not available"},
        {"def f():\n    load('m', 'x')\n",
         "2:5: load statement within a function"},
    };
    CHECK_ROWS(rows);
}

/* One mistake, one error; and those behind it are found. */
TEST(going_on_behind_an_error)
{
    static const struct row rows[] = {
        {"x = 1 +\ny = 2 *\nz = x + y\n",
         "1:8: got newline, want primary expression; "
         "2:8: got newline, want primary expression"},
        {"x = (1,\n     2\n\ndef f():\n    return x + nope\n",
         "4:4: got def, want ')'; 5:16: undefined: nope"},
        {"import json\nx = json.decode('')\ny = yamm\n",
         "1:1: got import, want primary expression; 3:5: undefined: yamm"},
        {"def f(x:\n    return x\ndef g(): return nope\n",
         "1:9: got ':', want ')'; 3:17: undefined: nope"},
        {"class A:\n    def f(self):\n        return self.x is 1\na = A()\n",
         "1:1: got class, want primary expression; "
         "3:25: got is, want newline"},
        {"def f():\n    try:\n        x = g()\n    except E as e:\n"
         "        return e\n    finally:\n        pass\n    return x\n",
         "2:5: got try, want primary expression; 3:13: undefined: g"},
        {"def f(x):\n    while x:\n        x = x +\n        break\n",
         "2:5: this Starlark dialect does not support while loops; "
         "3:16: got newline, want primary expression"},
        {"def f(a):\n    if a = 1:\n        return b\n    elif a ==:\n"
         "        return 1\n    else:\n        return c\n",
         "2:11: got '=', want ':'; 3:16: undefined: b; 7:16: undefined: c"},
        {"x = '\\q' + '\\w'\n", "1:5: invalid escape sequence \\q; "
                                "1:12: invalid escape sequence \\w"},
        {"x = f'{y}' + f'{z}'\n", "1:11: got string literal, want newline; "
                                  "1:20: got string literal, want newline"},
    };
    CHECK_ROWS(rows);
}

/* What is written by who knows another language, and a word of the hint. */
TEST(hints)
{
    static const struct {
        const char *source, *hint;
    } rows[] = {
        {"x = f'{y}'", "format"},
        {"x = u'y'", "letters before a text"},
        {"x = 'a' 'b'", "+"},
        {"x = 1 is None", "=="},
        {"x = 2 ** 3", "power"},
        {"x = 1 < 2 < 3", "and"},
        {"x = {1, 2}", "set(["},
        {"x = {y for y in []}", "set([x for x in xs])"},
        {"x = (y for y in [])", "brackets"},
        {"x = list(y for y in [])", "brackets"},
        {"x = y++", "+= 1"},
        {"x = y--", "-= 1"},
        {"x = 1 && 2", "\"and\""},
        {"x = 1 || 2", "\"or\""},
        {"x = !y", "not x"},
        {"x = 1 ? 2 : 3", "if condition else"},
        {"x = 1 <> 2", "!="},
        {"x = y === 2", "=="},
        {"x = y => 1", "lambda"},
        {"x = ...", "pass"},
        {"x: int = 1", "annotation"},
        {"def f(a: int): pass", "annotation"},
        {"def f(a) -> int: pass", "annotation"},
        {"def f(a, /): pass", "positional-only"},
        {"@f\ndef f(): pass", "decorators"},
        {"def f(): while 1: pass", "range"},
        {"try: pass", "exceptions"},
        {"raise 1", "fail"},
        {"import x", "imports"},
        {"from x import y", "imports"},
        {"class x: pass", "dict"},
        {"del x", "pop"},
        {"assert 1", "fail"},
        {"global x", "return the new value"},
        {"nonlocal x", "return the new value"},
        {"yield 1", "list"},
        {"async def f(): pass", "async"},
        {"x = await y", "await"},
        {"with x: pass", "with"},
        {"x = [*y]", "+"},
        {"x = {**y}", "|"},
        {"print(x := 1)", "statement of its own"},
        {"x = y = 1", "b = c"},
        {"x[1:2] = 3", "new list"},
        {"x = 1_000", "digits"},
        {"if 1:\n    pass\nelse if 2:\n    pass", "elif"},
        {"else:\n    pass", "below an if"},
        {"if 1: pass", "function"},
        {"for x in []: pass", "function"},
        {"def f()\n    pass", ":"},
        {"if (1) {", "indented"},
        {"// x", "#"},
        {"print 1", "print(x)"},
        {"function f() {}", "def"},
        {"var x = 1", "declaration"},
        {"switch x:", "elif"},
        {"x = (1,\n2", "never closed"},
        {"x = [1\ny = 2", "missing"},
        {"x = [1 2]", "missing"},
        {"x = class", "dict"},
        {"class = 1", "take another name"},
        {"def in(): pass", "take another name"},
        {"print(from = 1)", "take another name"},
        {"x = lambda: return 1", "lambda"},
        {"x = 'a\n'", "several lines"},
        {"x = '\\d'", "raw"},
        {"def f():\n\tpass", "spaces"},
        {"x = \xe2\x80\x9cy\xe2\x80\x9d", "straight quotes"},
        {"\xef\xbb\xbf", "byte order mark"},
        {"x = true", "True"},
        {"x = null", "None"},
        {"x = sum([])", "loop"},
        {"x = map(f, [])", "for x in xs"},
        {"x = filter(f, [])", "if f(x)"},
        {"x = isinstance(1, int)", "type(x)"},
        {"x = round(1)", "int("},
        {"x = next(1)", "iterators"},
        {"x = open(1)", "files"},
        {"x = input()", "given to it"},
        {"x = format(1)", "format"},
        {"x = lenn([])", "did you mean len?"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct star *s = star_open(NULL);
        CHECK(!star_compile(s, "t", rows[i].source, strlen(rows[i].source)));
        const char *hint = strstr(star_error_report(s), "hint: ");
        CHECK(hint && strstr(hint, rows[i].hint));
        if (!hint || !strstr(hint, rows[i].hint))
            printf("# of: %s\n# got: %s\n", rows[i].source,
                   star_error_report(s));
        star_close(s);
    }
}

/* --- the report ------------------------------------------------------------------ */

static void check_report(const char *source, const char *want)
{
    struct star *s = star_open(NULL);
    struct star_program *p = star_compile(s, "t", source, strlen(source));

    CHECK(!p || !star_run(s, p));
    CHECK_STR(star_error_report(s), want);
    star_close(s);
}

TEST(a_report_shows_the_line)
{
    check_report("x = 1 +\n", "t:1:8: got newline, want primary expression\n"
                              "    x = 1 +\n"
                              "           ^\n");
    /* Errors are in the order of the source, not of their discovery. */
    check_report("a = later1\nlate = 1 2\n",
                 "t:1:5: undefined: later1 (did you mean late?)\n"
                 "    a = later1\n"
                 "        ^\n"
                 "t:2:11: got int literal, want newline\n"
                 "    late = 1 2\n"
                 "              ^\n");
    /* Tabs stay, wide characters take two columns, joined ones none. */
    check_report("[\n\t'\xe6\x97\xa5\xcc\x81', y]\n",
                 "t:2:8: undefined: y\n"
                 "    \t'\xe6\x97\xa5\xcc\x81', y]\n"
                 "    \t      ^\n");
    /* Nothing that moves the cursor or turns the text comes through. */
    check_report("x = '\x1b[2J\xe2\x80\xae' + y\n",
                 "t:1:15: undefined: y\n"
                 "    x = '\\x1b[2J\\u202e' + y\n"
                 "                          ^\n");
}

TEST(a_long_line_is_cut)
{
    char source[4096], *report;
    struct star *s = star_open(NULL);

    memset(source, '1', sizeof source);
    for (size_t i = 1; i < sizeof source; i += 2)
        source[i] = '+';
    memcpy(source + 2000, "nop", 3);
    CHECK(!star_compile(s, "t", source, sizeof source - 1));
    report = strdup(star_error_report(s));
    CHECK(strncmp(report, "t:1:2001: undefined: nop\n    ...", 31) == 0);
    char *line = strchr(report, '\n') + 1, *caret = strchr(line, '\n') + 1;
    CHECK(caret - line < 120 && strncmp(caret - 4, "...", 3) == 0);
    CHECK(line[strcspn(caret, "^")] == 'n');
    free(report);
    star_close(s);
}

TEST(a_traceback_reads_outwards_in)
{
    check_report("def f(x):\n    return 1 // x\nf(0)\n",
                 "Traceback (most recent call last):\n"
                 "  t:3:2: in <toplevel>\n"
                 "  t:2:14: in f\n"
                 "Error: floored division by zero\n"
                 "        return 1 // x\n"
                 "                 ^\n");
    check_report("sorted([1, 2], key = lambda x: x.y)\n",
                 "Traceback (most recent call last):\n"
                 "  t:1:7: in <toplevel>\n"
                 "  <builtin>: in sorted\n"
                 "  t:1:33: in lambda\n"
                 "Error: int has no .y field or method\n"
                 "    sorted([1, 2], key = lambda x: x.y)\n"
                 "                                    ^\n");
    check_report("[].pop()\n",
                 "Traceback (most recent call last):\n"
                 "  t:1:7: in <toplevel>\n"
                 "Error in pop: pop: index -1 out of range: empty list\n"
                 "    [].pop()\n"
                 "          ^\n");
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    while ((text = strstr(text, part))) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* 100 and 101. */
TEST(static_errors_are_bounded)
{
    char source[2048] = "";

    for (int i = 0; i < 101; i++)
        strcat(source, "x +\n");
    struct star *s = star_open(NULL);
    CHECK(!star_compile(s, "t", source, 400));
    CHECK(count(star_error_report(s), "got newline") == 100);
    CHECK(!strstr(star_error_report(s), "more"));
    CHECK(!star_compile(s, "t", source, 404));
    CHECK(count(star_error_report(s), "got newline") == 100);
    CHECK(strstr(star_error_report(s), "\n... and 1 more\n"));
    CHECK_STR(star_error_message(s), "got newline, want primary expression");
    struct star_place place;
    CHECK(star_error_place(s, &place));
    CHECK(place.line == 1 && place.column == 4);
    CHECK_STR(place.file, "t");
    star_close(s);
}

static star_value deep(struct star *s, const struct star_args *a)
{
    (void)a;
    return star_fail(s, "at the\x1b bottom %s", "\xff");
}

TEST(a_long_traceback_keeps_both_ends)
{
    static char source[64 * 1024];
    struct star *s = open_with((struct star_limits){.call_depth = 1000});
    size_t n = 0;

    n += (size_t)snprintf(source, sizeof source, "def f0(): deep()\n");
    for (int i = 1; i < 500; i++)
        n += (size_t)snprintf(source + n, sizeof source - n,
                              "def f%d(): f%d()\n", i, i - 1);
    n += (size_t)snprintf(source + n, sizeof source - n, "f499()\n");
    CHECK(star_register(s, "deep", deep, NULL));
    struct star_program *p = star_compile(s, "t", source, n);
    CHECK(p && !star_run(s, p));
    const char *report = star_error_report(s);
    CHECK(count(report, ": in f") == 99);
    CHECK(strstr(report, "in f0\n") && strstr(report, "in f499\n"));
    CHECK(strstr(report, "  ... 401 more calls ...\n"));
    CHECK(strstr(report, "Error in deep: at the\\x1b bottom \\xff\n"));
    CHECK(strlen(report) < 65536);
    star_close(s);
}

TEST(a_limit_stays_the_cause)
{
    struct star *s = open_with((struct star_limits){.steps = 50});
    const char *source = "[x for x in range(1000)]\n";
    struct star_program *p;

    /* Compiling takes steps, too. */
    for (int i = 0; i < 8; i++)
        p = star_compile(s, "t", source, strlen(source));
    CHECK(!p && star_error(s) == STAR_ERROR_STEPS);
    CHECK(strstr(star_error_report(s), "Error: "));
    star_close(s);
}

/* --- limits ------------------------------------------------------------------------ */

/* `times` times `part`, between `head` and `tail`. */
static char *repeat(const char *head, const char *part, size_t times,
                    const char *tail)
{
    size_t n = strlen(part), at = strlen(head);
    char *p = malloc(at + n * times + strlen(tail) + 1);

    strcpy(p, head);
    for (size_t i = 0; i < times; i++, at += n)
        memcpy(p + at, part, n);
    strcpy(p + at, tail);
    return p;
}

static void check_repeated(const char *head, const char *part, size_t times,
                           const char *tail, const char *error)
{
    struct star *s = open_with((struct star_limits){.source_bytes = 1 << 22});
    char *source = repeat(head, part, times, tail);
    struct star_program *p = star_compile(s, "t", source, strlen(source));

    CHECK(!p == (error != NULL));
    if (error) {
        CHECK(strstr(star_error_report(s), error));
        if (!strstr(star_error_report(s), error))
            printf("# %s%s: %s\n", head, part, star_error_report(s));
    }
    star_close(s);
    free(source);
}

/* [row 17] 200 deep and 201, and a million; whatever nests. */
TEST(nesting_is_bounded)
{
    static const struct {
        const char *head, *part, *middle, *close;
    } rows[] = {
        {"x = ", "(", "1", ")"},       {"x = ", "[", "1", "]"},
        {"x = ", "{1:", "1", "}"},     {"x = ", "-", "1", ""},
        {"x = ", "not ", "1", ""},     {"x = ", "1 if 1 else ", "1", ""},
        {"x = ", "lambda: ", "1", ""}, {"x = ", "len(", "1", ")"},
        {"x = ", "len[", "1", "]"},    {"x = ", "[y for y in ", "[]", "]"},
        {"", "(", "x", ")"},           {"def f(a = ", "(", "1", ")"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is_def = rows[i].head[0] == 'd';
        char tail[1024] = "";
        strcat(tail, rows[i].middle);
        for (int k = 0; k < 90; k++)
            strcat(tail, rows[i].close);
        strcat(tail, is_def ? "): pass\n" : i == 10 ? " = 1\n" : "\n");
        check_repeated(rows[i].head, rows[i].part, 90, tail, NULL);
        check_repeated(rows[i].head, rows[i].part, 201, "",
                       "nested more than 200 deep");
        check_repeated(rows[i].head, rows[i].part, 100000, "",
                       "nested more than 200 deep");
    }
    check_repeated("x = ", "(", 199, "", "end of file");
}

TEST(blocks_are_bounded)
{
    char source[64 * 1024];

    for (unsigned depth = 150; depth < 300; depth += 100) {
        size_t n = (size_t)snprintf(source, sizeof source, "def f():\n");
        for (unsigned i = 1; i <= depth; i++)
            n += (size_t)snprintf(source + n, sizeof source - n, "%*sif 1:\n",
                                  (int)i, "");
        snprintf(source + n, sizeof source - n, "%*spass\n", (int)depth + 1,
                 "");
        struct star *s = star_open(NULL);
        struct star_program *p = star_compile(s, "t", source, strlen(source));
        CHECK(!p == (depth == 250));
        if (!p)
            CHECK(strstr(star_error_report(s), "nested more than 200 deep"));
        star_close(s);
    }
}

/* What leans to the left is as long as it likes. */
TEST(chains_are_not)
{
    check_repeated("x = 1", " + 1", 100000, "\n", NULL);
    check_repeated("x = 1", " and 1", 100000, "\n", NULL);
    check_repeated("x = 1", " or 1", 100000, "\n", NULL);
    check_repeated("x = ''", ".upper()", 100000, "\n", NULL);
    check_repeated("x = ''", "[0]", 100000, "\n", NULL);
    check_repeated("x = ''", "[0:]", 100000, "\n", NULL);
    check_repeated("def f(x):\n    if x: pass\n", "    elif x: pass\n", 50000,
                   "", NULL);
    check_repeated("x = [", "1,", 100000, "]\n", NULL);
    check_repeated("", "pass;", 100000, "\n", NULL);
    check_repeated("", "(", 1, "", "end of file");
}

TEST(many_errors_take_no_longer)
{
    check_repeated("", "nope\n", 100000, "", "and 99900 more");
    check_repeated("", "x = 'a\n", 100000, "", "and 99900 more");
    check_repeated("", "def f(:\n", 50000, "", "more");
    check_repeated("", "if 1:\n", 50000, "", "and 101 more");
    check_repeated("x = (\n", "y z\n", 50000, "", "got identifier");
}

TEST(memory_is_charged)
{
    struct star *s = open_with((struct star_limits){.memory_bytes = 1 << 20});
    char *source = repeat("x = [", "1.5e300,", 100000, "]\n");

    CHECK(!star_compile(s, "t", source, strlen(source)));
    CHECK(star_error(s) == STAR_ERROR_MEMORY);
    CHECK(star_usage(s).memory_peak_bytes <= 1 << 20);
    CHECK(star_compile(s, "t", "x = 1\n", 6)); /* and all is given back */
    free(source);
    star_close(s);
}

TEST(compiling_can_be_canceled)
{
    struct star *s = star_open(NULL);
    char *source = repeat("", "x + 1\n", 100000, "x = 1\n");

    star_cancel(s);
    CHECK(!star_compile(s, "t", source, strlen(source)));
    CHECK(star_error(s) == STAR_ERROR_CANCELED);
    star_cancel_clear(s);
    CHECK(star_compile(s, "t", source, strlen(source)));
    free(source);
    star_close(s);
}

/* --- where variables live --------------------------------------------------------- */

/* "x:cell y:local!" of the function `f` of the source, in the order of their
 * registers; "!" when some read needs a check. */
static const char *variables(const char *source)
{
    static char out[1024];
    struct star *s = star_open(NULL);
    struct sl_scope scope = sl_native_enter(s);
    struct sl_arena arena = {0};
    struct sl_file file = {
        .source = {.file = "t", .text = source, .length = strlen(source)}};
    size_t n = 0;

    out[0] = '\0';
    if (sl_parse(s, &arena, &file) && sl_resolve(s, &arena, &file)) {
        const struct sl_node *def = file.body;
        while (def->kind != N_DEF)
            def = def->next;
        for (uint32_t i = 0; i < def->fn->local_count; i++) {
            const struct sl_variable *v = &def->fn->locals[i];
            const struct sl_string *name = sl_string(v->name);
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s%s%s",
                                  i ? " " : "", (int)name->length, name->p,
                                  v->is_cell ? ":cell" : "",
                                  v->maybe_unset ? "!" : "");
        }
    } else {
        snprintf(out, sizeof out, "%s", star_error_report(s));
    }
    sl_arena_free(s, &arena);
    sl_native_leave(s, scope);
    star_close(s);
    return out;
}

TEST(variables_and_cells)
{
    static const struct row rows[] = {
        /* surely set, or perhaps not */
        {"def f(a):\n x = 1\n return x + a\n", "a x"},
        {"def f(a):\n if a: x = 1\n return x\n", "a x!"},
        {"def f(a):\n if a: x = 1\n else: x = 2\n return x\n", "a x"},
        {"def f(a):\n if a: x = 1\n elif a: x = 2\n return x\n", "a x!"},
        {"def f(a):\n if a: x = 1\n elif a: x = 2\n else: return 3\n"
         " return x\n",
         "a x"},
        {"def f(a):\n if a: return 1\n else: return 2\n return x\n x = 1\n",
         "a x!"},
        {"def f(a):\n for x in a: y = x\n return x\n", "a x! y"},
        {"def f(a):\n for x in a:\n  if x: break\n  else: y = 1\n  y += x\n",
         "a x y"},
        {"def f(a):\n x += 1\n", "a x!"},
        {"def f(a):\n if a:\n  if a: x = 1\n  else: x = 2\n else:\n  x = 3\n"
         " return x\n",
         "a x"},
        {"def f(a):\n return [x for x in a if x for y in x]\n", "a x y"},
        {"def f(a):\n return [x for x in a for y in y]\n", "a x y!"},
        /* copies or cells */
        {"def f(a):\n return lambda: a\n", "a"},
        {"def f(a):\n a = a + 1\n return lambda: a\n", "a"},
        {"def f(a):\n g = lambda: a\n a = 2\n return g\n", "a:cell g"},
        {"def f(a):\n def g(): return x\n x = 1\n return g\n", "a g x:cell!"},
        {"def f(a):\n x = 1\n def g(): return x\n return g\n", "a x g"},
        {"def f(a):\n if a: x = 1\n def g(): return x\n return g\n",
         "a x:cell! g"},
        {"def f(a):\n for x in a: g = lambda: x\n return g\n", "a x:cell g!"},
        {"def f(a):\n for x in a:\n  y = a\n  g = lambda: y\n", "a x y:cell g"},
        {"def f(a):\n y = 1\n for x in a: g = lambda: y\n", "a y x g"},
        {"def f(a):\n return [lambda: x for x in a]\n", "a x:cell"},
        {"def f(a):\n def g(): return g\n return g\n", "a g:cell!"},
        {"def f(a):\n x = 1\n def g():\n  def h(): return x\n  return h\n"
         " return g\n",
         "a x g"},
        {"def f(a):\n def g():\n  return lambda: x\n x = 1\n return g\n",
         "a g x:cell!"},
        {"def f(a, b = lambda: 1, *c, d, **e):\n return lambda: (a, c, d, e)\n",
         "a b d c e"},
        {"x = 1\ndef f():\n return lambda: x\n", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_STR(variables(rows[i].source), rows[i].errors);
        if (strcmp(variables(rows[i].source), rows[i].errors) != 0)
            printf("# of: %s\n", rows[i].source);
    }
}

/* --- interactive -------------------------------------------------------------------- */

TEST(interactive_programs_share_names)
{
    static const struct {
        const char *source;
        bool ok;
    } rows[] = {
        {"x = 1\n", true},
        {"x = x + 1\ny = 5\n", true},
        {"for i in range(3):\n    if i == 2:\n        x += i\n", true},
        {"def f(): return x + y\n", true},
        {"y = f() + i\n", true},
        {"z = nope\n", false},
        {"x = f()\n", true},
    };
    struct star *s = star_open(&(struct star_options){.interactive = true});
    struct star_module *m = NULL;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct star_program *p =
            star_compile(s, "t", rows[i].source, strlen(rows[i].source));
        CHECK(!p == !rows[i].ok);
        if (p)
            m = star_run(s, p);
        CHECK(!p || m);
        if (!p != !rows[i].ok || (p && !m))
            printf("# %s: %s\n", rows[i].source, star_error_report(s));
    }
    int64_t x = 0;
    CHECK(m && star_as_int(star_global(m, "x"), &x) && x == 4 + 11);
    star_close(s);
}
