#include "parse.h"

/*
 * Constructs of other languages, and what to write instead. Three tables: reserved words, words at the start of a line, and names.
 */

/* clang-format off */
/* Hints for a token in place of an expression. */
static const char *const hints[TOK_COUNT] = {
    [TOK_AS] = "\"as\" is reserved: there is no import and no with",
    [TOK_ASSERT] = "for assert write: if not condition: fail(\"what is wrong\")",
    [TOK_ASYNC] = "there is no async: functions are called and return",
    [TOK_AWAIT] = "there is no await: a call returns its result",
    [TOK_CLASS] = HINT_NO_CLASS,
    [TOK_DEL] = "write d.pop(key) or list.pop(i) for del",
    [TOK_EXCEPT] = HINT_NO_EXCEPT,
    [TOK_FINALLY] = HINT_NO_EXCEPT,
    [TOK_FROM] = HINT_NO_IMPORT,
    [TOK_GLOBAL] = HINT_OUTER,
    [TOK_IMPORT] = HINT_NO_IMPORT,
    [TOK_IS] = "write == for is, and != for is not",
    [TOK_NONLOCAL] = HINT_OUTER,
    [TOK_RAISE] = "write fail(\"what is wrong\") for raise",
    [TOK_TRY] = "there are no exceptions to catch: check before, as in \"if key in d\"; an error ends the program",
    [TOK_WHILE] = HINT_LOOP,
    [TOK_WITH] = "there is no with: nothing needs to be closed",
    [TOK_YIELD] = "there are no generators: append to a list and return it",
    [TOK_ELIF] = "elif belongs below an if, at the same indentation",
    [TOK_ELSE] = "else belongs below an if, at the same indentation; loops have none",
    [TOK_STAR] = "a list is not unpacked in place: join lists with +, take parts with x[1:]",
    [TOK_SLASHSLASH] = "comments begin with #",
    [TOK_LAMBDA] = "put the lambda in parentheses",
    [TOK_NOT] = "put it in parentheses: (not x)",
    [TOK_LOAD] = "load is a statement: load(\"module\", \"name\")",
};

struct word {
    const char *word, *hint;
};

static const struct words {
    const char *words, *hint; /* words are separated by spaces */
}
/* For "word something" at the start of a statement. */
first_words[] = {
    {"print", "print is a function: print(x)"},
    {"echo", "write print(x)"},
    {"exec", "a program cannot run texts as programs"},
    {"var let const int float str string auto local", "names need no declaration: x = 1"},
    {"function func fn fun", "functions are written \"def name(parameters):\""},
    {"switch match case", "write if, elif and else"},
    {"elseif elsif", "write elif"},
    {"unless", "write \"if not condition:\""},
    {"foreach", "write \"for x in xs:\""},
    {"do until loop", HINT_LOOP},
    {"throw", HINT_FAIL},
    {"new", HINT_NO_CLASS},
    {"type", "there are no type declarations"},
    {"goto", "write if and for"},
    {"end", "a block ends where its indentation ends"},
},
/* For undefined names. */
names[] = {
    {"true TRUE", "write True"},
    {"false FALSE", "write False"},
    {"null NULL nil none undefined", "write None"},
    {"nan NaN", "write float(\"nan\")"},
    {"inf Infinity", "write float(\"inf\")"},
    {"sum", "add in a loop: total = 0, then \"for x in xs: total += x\""},
    {"map", "write [f(x) for x in xs]"},
    {"filter", "write [x for x in xs if f(x)]"},
    {"reduce", "write a for loop"},
    {"isinstance", "write type(x) == \"list\""},
    {"issubclass", "there are no classes"},
    {"callable", "write type(x) == \"function\""},
    {"round", "write int(x + 0.5) if x is not negative; \"%d\" % x cuts off"},
    {"next", "there are no iterators: write list(xs)[0], or a for loop"},
    {"iter", "there are no iterators: write list(xs), or a for loop"},
    {"open file", "a program reads no files: what it works on is given to it"},
    {"input raw_input", "a program reads nothing from a terminal: what it works on is given to it"},
    {"format", "write \"{}\".format(x), or \"%s\" % x"},
    {"pow", "multiply in a loop; 1 << n for powers of 2"},
    {"divmod", "write (a // b, a % b)"},
    {"bin", "write \"%x\" % n for hexadecimal digits; there is no binary form"},
    {"hex", "write \"0x%x\" % n"},
    {"oct", "write \"0o%o\" % n"},
    {"ascii", "write repr(x)"},
    {"unicode", "write str(x)"},
    {"unichr", "write chr(n)"},
    {"long", "write int(x): ints have any size"},
    {"Decimal", "ints are exact: count in the smallest unit"},
    {"complex", "there are no complex numbers"},
    {"xrange", "write range(n)"},
    {"frozenset", "write set(xs): it is frozen when the program's top level has run"},
    {"bytearray", "write a list of ints, and bytes(xs) at the end"},
    {"memoryview", "slices do the same: b[1:3]"},
    {"slice", "write x[start:stop:step]"},
    {"object super self this cls property staticmethod classmethod", HINT_NO_CLASS},
    {"struct namedtuple dataclass", "use a dict: {\"name\": value}"},
    {"OrderedDict", "dicts keep the order in which keys were added"},
    {"defaultdict", "write d.setdefault(key, []).append(x)"},
    {"Counter", "write d[x] = d.get(x, 0) + 1"},
    {"deque", "use a list"},
    {"setattr", "use a dict: d[name] = value"},
    {"delattr", "use a dict: d.pop(name)"},
    {"id", "values have no identity: compare with =="},
    {"globals locals vars", "keep what is looked up by name in a dict"},
    {"eval exec compile", "a program cannot run texts as programs"},
    {"__import__ require", HINT_NO_IMPORT},
    {"__name__", "a program is only ever run: call the function"},
    {"__file__", "a program does not know where it is"},
    {"exit quit", "write return, or fail(\"what is wrong\")"},
    {"sleep", "a program cannot wait: it sees no clock"},
    {"error panic raise Exception ValueError TypeError IndexError RuntimeError", HINT_FAIL},
    {"KeyError", "write fail(\"what is wrong\"), or d.get(key, default)"},
    {"NotImplementedError NotImplemented", "write fail(\"not implemented\")"},
    {"StopIteration", "leave a loop with break"},
    {"os", "a program reads no files and no environment"},
    {"sys", "a program sees nothing of the system; end it with return or fail()"},
    {"io", "a program reads no files"},
    {"pathlib", "a program reads no files; paths are texts: \"/\".join(parts)"},
    {"re", "there are no regular expressions: use find, split, startswith, in"},
    {"math", "there is no math module; // and % are exact for ints"},
    {"random", "a program gives the same result each time: there is no chance"},
    {"time datetime", "a program sees no clock: take the time as input"},
    {"json", "values are turned into JSON outside of the program; print and return them as they are"},
    {"logging console println puts", "write print(x)"},
    {"printf", "write print(\"%s\" % x)"},
    {"itertools", "write nested loops or comprehensions"},
    {"functools", "write a loop, or a lambda"},
    {"collections", "use dict, list and set"},
    {"typing List Dict Optional Any", "there are no type annotations"},
    {"length size", "write len(x)"},
    {"sort", "write sorted(xs)"},
    {"reverse", "write reversed(xs), or xs[::-1]"},
    {"join", "write \", \".join(texts)"},
    {"append", "write list.append(x)"},
    {"array", "write a list: [1, 2]"},
};
/* clang-format on */

static const char *look_up(const struct words *row, size_t count, const char *p,
                           size_t length)
{
    for (; count-- > 0; row++) {
        const char *at = row->words;
        while (strncmp(at, p, length) != 0 || (at[length] && at[length] != ' '))
            if (!(at = strchr(at, ' ')) || !*++at)
                break;
        if (at)
            return row->hint;
    }
    return NULL;
}

const char *sl_name_hint(const char *p, size_t length)
{
    return look_up(names, sizeof names / sizeof *names, p, length);
}

const char *sl_word_hint(const char *p, size_t length)
{
    return look_up(first_words, sizeof first_words / sizeof *first_words, p,
                   length);
}

const char *sl_prefix_hint(const char *p, size_t length)
{
    bool format = length && (memchr(p, 'f', length) || memchr(p, 'F', length));

    if (length == 0 || length > 2)
        return NULL;
    for (size_t i = 0; i < length; i++)
        if (!strchr("fFuUrRbB", p[i]))
            return NULL;
    return format
               ? "there are no f-strings: write \"{} of {}\".format(a, b) or "
                 "\"%s of %s\" % (a, b)"
               : "the letters before a text are r, b or rb";
}

/* --- tokens ------------------------------------------------------------------------ */

/* Returns the hint for an operator of other languages, as the ending of a token
 * or of a line. */
static const char *hint_before(const struct sl_parser *p)
{
    static const struct {
        const char *text;
        enum sl_token_kind kind; /* the token in which it ends */
        const char *hint;
    } rows[] = {
        {"&&", TOK_AMP, "write \"and\" for \"&&\""},
        {"||", TOK_PIPE, "write \"or\" for \"||\""},
        {"++", TOK_PLUS, "write \"x += 1\" for \"x++\""},
        {"--", TOK_MINUS, "write \"x -= 1\" for \"x--\""},
        {"===", TOK_EQ, "write == for ==="},
        {"<>", TOK_GT, "write != for <>"},
        {"=>", TOK_GT, HINT_LAMBDA},
        {"..", TOK_DOT,
         "write \"pass\" for a body that does nothing, range(a, b) for "
         "numbers"},
    };
    bool ends_line = p->tok.kind == TOK_NEWLINE || p->tok.kind == TOK_EOF;
    const struct sl_token *last = ends_line ? &p->prev : &p->tok;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].text);
        if (last->kind == rows[i].kind &&
            memcmp(last->at + last->length - n, rows[i].text, n) == 0)
            return rows[i].hint;
    }
    return NULL;
}

static const char *hint_alone(const struct sl_parser *p,
                              enum sl_token_kind want)
{
    bool primary = want == TOK_NAME;

    switch (p->tok.kind) {
    case TOK_STARSTAR:
        return p->open > 0 && p->brackets[p->open - 1].text == '{'
                   ? "join dicts with |: d | {\"key\": value}"
                   : "there is no power operator: multiply in a loop, 1 << n "
                     "for powers of 2";
    case TOK_LBRACE:
        return "a block begins with : and is indented";
    case TOK_SLASH:
        return primary ? NULL : "parameters cannot be made positional-only";
    case TOK_DOT:
        return *p->lex.p == '.' ? "write \"pass\" for a body that does "
                                  "nothing, and None for a value"
                                : NULL;
    case TOK_INDENT:
        return "this line is indented more than the one before it";
    case TOK_RETURN:
    case TOK_PASS:
    case TOK_BREAK:
    case TOK_CONTINUE:
        return primary ? "it begins a statement; the body of a lambda is an "
                         "expression, whose value it returns"
                       : NULL;
    case TOK_EQ:
        return want == TOK_COLON ? HINT_COMPARE : NULL;
    default:
        return primary || p->tok.kind == TOK_IS ||
                       (want == TOK_EOF && p->tok.kind >= TOK_AND)
                   ? hints[p->tok.kind]
                   : NULL;
    }
}

/* Adds a hint to an error inside a bracket: the missing token may belong before
 * this line. */
static void hint_bracket(struct sl_parser *p, const struct sl_bracket *b)
{
    enum sl_token_kind kind = p->tok.kind;

    if (kind >= TOK_RPAREN && kind <= TOK_RBRACE)
        return;
    if (kind == TOK_EOF || kind == TOK_NEWLINE)
        sl_static_hint(p->s, "the '%c' of line %u, column %u is never closed",
                       b->text, b->pos.line, b->pos.column);
    else if (p->tok.pos.line > p->prev.pos.line)
        sl_static_hint(p->s,
                       "is a comma missing before this line, or the bracket "
                       "that closes the '%c' of line %u?",
                       b->text, b->pos.line);
    else if (kind >= TOK_NAME && kind <= TOK_BYTES)
        sl_static_hint(p->s, HINT_MISSING);
}

/* Whether name = ... follows, as a statement or an argument. */
static bool is_assigned_to(const struct sl_parser *p)
{
    const char *next = p->lex.p;

    while (*next == ' ')
        next++;
    return next[0] == '=' && next[1] != '=';
}

void sl_hint_reserved(struct sl_parser *p)
{
    sl_static_hint(p->s, "\"%s\" is a word of the language: take another name",
                   sl_token_names[p->tok.kind]);
}

void sl_hint_token(struct sl_parser *p, enum sl_token_kind want)
{
    const char *hint = hint_before(p);

    if (!hint && want == TOK_NAME && p->tok.kind >= TOK_AND &&
        is_assigned_to(p)) {
        sl_hint_reserved(p);
        return;
    }
    if (!hint)
        hint = hint_alone(p, want);
    if (hint)
        sl_static_hint(p->s, "%s", hint);
    else if (p->open > 0)
        hint_bracket(p, &p->brackets[p->open - 1]);
    else if (want == TOK_COLON)
        sl_static_hint(p->s, HINT_COLON);
}
