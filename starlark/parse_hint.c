#include <stdio.h>

#include "parse.h"

/*
 * What people and models write who know another language, and what to write
 * here. Three tables: reserved words, words at the start of a line, and names.
 */

/* clang-format off */
static const char *const reserved_hints[TOK_COUNT] = {
    [TOK_AS] = "\"as\" is reserved: there is no import and no with",
    [TOK_ASSERT] = "for assert write: if not condition: fail(\"what is wrong\")",
    [TOK_ASYNC] = "there is no async: functions are called and return",
    [TOK_AWAIT] = "there is no await: a call returns its result",
    [TOK_CLASS] = "there are no classes: use a dict for data, and functions",
    [TOK_DEL] = "write d.pop(key) or list.pop(i) for del",
    [TOK_EXCEPT] = "there are no exceptions to catch: check before, as in \"if key in d\"",
    [TOK_FINALLY] = "there are no exceptions to catch: check before, as in \"if key in d\"",
    [TOK_FROM] = "there are no imports: what can be used is there already",
    [TOK_GLOBAL] = "a function cannot assign to names outside of it: return the new value, or keep it in a dict or a list",
    [TOK_IMPORT] = "there are no imports: what can be used is there already",
    [TOK_IS] = "write == for is, and != for is not",
    [TOK_NONLOCAL] = "a function cannot assign to names outside of it: return the new value, or keep it in a dict or a list",
    [TOK_RAISE] = "write fail(\"what is wrong\") for raise",
    [TOK_TRY] = "there are no exceptions to catch: check before, as in \"if key in d\"; an error ends the program",
    [TOK_WHILE] = "loop a bounded number of times: \"for _ in range(1000):\" with \"break\"",
    [TOK_WITH] = "there is no with: nothing needs to be closed",
    [TOK_YIELD] = "there are no generators: append to a list and return it",
    [TOK_ELIF] = "elif belongs below an if, at the same indentation",
    [TOK_ELSE] = "else belongs below an if, at the same indentation; loops have none",
    [TOK_LAMBDA] = "put the lambda in parentheses",
    [TOK_NOT] = "put it in parentheses: (not x)",
    [TOK_LOAD] = "load is a statement: load(\"module\", \"name\")",
};

struct word {
    const char *word, *hint;
};

/* "word something", at the start of a statement. */
static const struct word words[] = {
    {"print", "print is a function: print(x)"},
    {"echo", "write print(x)"},
    {"exec", "a program cannot run texts as programs"},
    {"var", "names need no declaration: x = 1"},
    {"let", "names need no declaration: x = 1"},
    {"const", "names need no declaration: x = 1"},
    {"int", "names need no declaration: x = 1"},
    {"float", "names need no declaration: x = 1"},
    {"str", "names need no declaration: x = 1"},
    {"string", "names need no declaration: x = 1"},
    {"auto", "names need no declaration: x = 1"},
    {"local", "names need no declaration: x = 1"},
    {"function", "functions are written \"def name(parameters):\""},
    {"func", "functions are written \"def name(parameters):\""},
    {"fn", "functions are written \"def name(parameters):\""},
    {"fun", "functions are written \"def name(parameters):\""},
    {"switch", "write if, elif and else"},
    {"match", "write if, elif and else"},
    {"case", "write if, elif and else"},
    {"elseif", "write elif"},
    {"elsif", "write elif"},
    {"unless", "write \"if not condition:\""},
    {"foreach", "write \"for x in xs:\""},
    {"do", "loop a bounded number of times: \"for _ in range(1000):\" with \"break\""},
    {"until", "loop a bounded number of times: \"for _ in range(1000):\" with \"break\""},
    {"loop", "loop a bounded number of times: \"for _ in range(1000):\" with \"break\""},
    {"throw", "write fail(\"what is wrong\")"},
    {"new", "there are no classes: use a dict for data, and functions"},
    {"type", "there are no type declarations"},
    {"goto", "write if and for"},
    {"end", "a block ends where its indentation ends"},
};

/* Names that are not defined here. */
static const struct word names[] = {
    {"true", "write True"}, {"TRUE", "write True"},
    {"false", "write False"}, {"FALSE", "write False"},
    {"null", "write None"}, {"NULL", "write None"}, {"nil", "write None"},
    {"none", "write None"}, {"undefined", "write None"},
    {"nan", "write float(\"nan\")"}, {"NaN", "write float(\"nan\")"},
    {"inf", "write float(\"inf\")"}, {"Infinity", "write float(\"inf\")"},
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
    {"open", "a program reads no files: what it works on is given to it"},
    {"file", "a program reads no files: what it works on is given to it"},
    {"input", "a program reads nothing from a terminal: what it works on is given to it"},
    {"raw_input", "a program reads nothing from a terminal: what it works on is given to it"},
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
    {"object", "there are no classes: use a dict for data, and functions"},
    {"super", "there are no classes: use a dict for data, and functions"},
    {"self", "there are no classes: use a dict for data, and functions"},
    {"this", "there are no classes: use a dict for data, and functions"},
    {"cls", "there are no classes: use a dict for data, and functions"},
    {"struct", "use a dict: {\"name\": value}"},
    {"namedtuple", "use a dict: {\"name\": value}"},
    {"dataclass", "use a dict: {\"name\": value}"},
    {"OrderedDict", "dicts keep the order in which keys were added"},
    {"defaultdict", "write d.setdefault(key, []).append(x)"},
    {"Counter", "write d[x] = d.get(x, 0) + 1"},
    {"deque", "use a list"},
    {"setattr", "use a dict: d[name] = value"},
    {"delattr", "use a dict: d.pop(name)"},
    {"property", "there are no classes: use a dict for data, and functions"},
    {"staticmethod", "there are no classes: use a dict for data, and functions"},
    {"classmethod", "there are no classes: use a dict for data, and functions"},
    {"id", "values have no identity: compare with =="},
    {"globals", "keep what is looked up by name in a dict"},
    {"locals", "keep what is looked up by name in a dict"},
    {"vars", "keep what is looked up by name in a dict"},
    {"eval", "a program cannot run texts as programs"},
    {"exec", "a program cannot run texts as programs"},
    {"compile", "a program cannot run texts as programs"},
    {"__import__", "there are no imports: what can be used is there already"},
    {"__name__", "a program is only ever run: call the function"},
    {"__file__", "a program does not know where it is"},
    {"require", "there are no imports: what can be used is there already"},
    {"exit", "write return, or fail(\"what is wrong\")"},
    {"quit", "write return, or fail(\"what is wrong\")"},
    {"sleep", "a program cannot wait: it sees no clock"},
    {"error", "write fail(\"what is wrong\")"},
    {"panic", "write fail(\"what is wrong\")"},
    {"raise", "write fail(\"what is wrong\")"},
    {"Exception", "write fail(\"what is wrong\")"},
    {"ValueError", "write fail(\"what is wrong\")"},
    {"TypeError", "write fail(\"what is wrong\")"},
    {"KeyError", "write fail(\"what is wrong\"), or d.get(key, default)"},
    {"IndexError", "write fail(\"what is wrong\")"},
    {"RuntimeError", "write fail(\"what is wrong\")"},
    {"NotImplementedError", "write fail(\"not implemented\")"},
    {"NotImplemented", "write fail(\"not implemented\")"},
    {"StopIteration", "leave a loop with break"},
    {"os", "a program reads no files and no environment"},
    {"sys", "a program sees nothing of the system; end it with return or fail()"},
    {"io", "a program reads no files"},
    {"pathlib", "a program reads no files; paths are texts: \"/\".join(parts)"},
    {"re", "there are no regular expressions: use find, split, startswith, in"},
    {"math", "there is no math module; // and % are exact for ints"},
    {"random", "a program gives the same result each time: there is no chance"},
    {"time", "a program sees no clock: take the time as input"},
    {"datetime", "a program sees no clock: take the time as input"},
    {"json", "values are turned into JSON outside of the program; print and return them as they are"},
    {"logging", "write print(x)"},
    {"console", "write print(x)"},
    {"printf", "write print(\"%s\" % x)"},
    {"println", "write print(x)"},
    {"puts", "write print(x)"},
    {"itertools", "write nested loops or comprehensions"},
    {"functools", "write a loop, or a lambda"},
    {"collections", "use dict, list and set"},
    {"typing", "there are no type annotations"},
    {"List", "there are no type annotations"},
    {"Dict", "there are no type annotations"},
    {"Optional", "there are no type annotations"},
    {"Any", "there are no type annotations"},
    {"length", "write len(x)"}, {"size", "write len(x)"},
    {"sort", "write sorted(xs)"},
    {"reverse", "write reversed(xs), or xs[::-1]"},
    {"join", "write \", \".join(texts)"},
    {"append", "write list.append(x)"},
    {"array", "write a list: [1, 2]"},
};
/* clang-format on */

static const char *look_up(const struct word *table, size_t count,
                           const char *p, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].word) == length &&
            memcmp(table[i].word, p, length) == 0)
            return table[i].hint;
    return NULL;
}

bool sl_hint_name(struct star *s, const char *p, size_t length)
{
    const char *hint = look_up(names, sizeof names / sizeof *names, p, length);

    if (hint)
        sl_static_hint(s, "%s", hint);
    return hint != NULL;
}

void sl_hint_word(struct sl_parser *p, const char *word, size_t length)
{
    const char *hint =
        look_up(words, sizeof words / sizeof *words, word, length);

    if (hint)
        sl_static_hint(p->s, "%s", hint);
    else
        sl_hint_token(p, TOK_NEWLINE);
}

/* --- texts ------------------------------------------------------------------------ */

bool sl_is_text_prefix(const char *p, size_t length)
{
    if (length == 0 || length > 2)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr("fFuUrRbB", p[i]))
            return false;
    return true;
}

void sl_hint_prefix(struct sl_parser *p, const char *prefix)
{
    if (prefix[0] == 'f' || prefix[0] == 'F' || prefix[1] == 'f' ||
        prefix[1] == 'F')
        sl_static_hint(p->s, "there are no f-strings: write "
                             "\"{} of {}\".format(a, b) or \"%%s of %%s\" %% "
                             "(a, b)");
    else
        sl_static_hint(p->s, "the letters before a text are r, b or rb");
}

/* --- tokens ------------------------------------------------------------------------ */

static bool was(const struct sl_parser *p, const char *text)
{
    size_t n = strlen(text);

    return p->prev.length + 1 >= n && p->prev.at &&
           memcmp(p->prev.at + p->prev.length - n, text, n) == 0;
}

/* What stands before the token explains it: operators of other languages. */
static const char *hint_before(const struct sl_parser *p)
{
    static const struct {
        const char *text;
        enum sl_token_kind kind; /* what it ends in */
        const char *hint;
    } rows[] = {
        {"&&", TOK_AMP, "write \"and\" for \"&&\""},
        {"||", TOK_PIPE, "write \"or\" for \"||\""},
        {"++", TOK_PLUS, "write \"x += 1\" for \"x++\""},
        {"--", TOK_MINUS, "write \"x -= 1\" for \"x--\""},
        {"===", TOK_EQ, "write == for ==="},
        {"<>", TOK_GT, "write != for <>"},
        {"=>", TOK_GT,
         "functions in an expression are written \"lambda x: x\""},
        {"..", TOK_DOT,
         "write \"pass\" for a body that does nothing, range(a, b) for "
         "numbers"},
    };
    const char *end = p->tok.at + p->tok.length;
    bool ends_line = p->tok.kind == TOK_NEWLINE || p->tok.kind == TOK_EOF;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].text);
        if (p->tok.kind == rows[i].kind &&
            p->prev.length + p->tok.length >= n &&
            p->prev.at + p->prev.length == p->tok.at &&
            memcmp(end - n, rows[i].text, n) == 0)
            return rows[i].hint;
        if (p->prev.kind == rows[i].kind && ends_line && was(p, rows[i].text))
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
        return p->open > 0 && sl_bracket(p)->text == '{'
                   ? "join dicts with |: d | {\"key\": value}"
                   : "there is no power operator: multiply in a loop, 1 << n "
                     "for powers of 2";
    case TOK_STAR:
        return primary ? "a list is not unpacked in place: join lists with +, "
                         "take parts with x[1:]"
                       : NULL;
    case TOK_LBRACE:
        return "a block begins with : and is indented";
    case TOK_SLASHSLASH:
        return primary ? "comments begin with #" : NULL;
    case TOK_SLASH:
        return primary ? NULL : "parameters cannot be made positional-only";
    case TOK_DOT:
        return *p->lex.p == '.'
                   ? "write \"pass\" for a body that does nothing, "
                     "and None for a value"
                   : NULL;
    case TOK_INDENT:
        return "this line is indented more than the one before it";
    case TOK_EQ:
        return want == TOK_COLON ? "values are compared by ==" : NULL;
    case TOK_RETURN:
    case TOK_PASS:
    case TOK_BREAK:
    case TOK_CONTINUE:
        return primary ? "it begins a statement; the body of a lambda is an "
                         "expression, whose value it returns"
                       : NULL;
    default:
        return primary || p->tok.kind == TOK_IS || want == TOK_EOF
                   ? reserved_hints[p->tok.kind]
                   : NULL;
    }
}

static bool is_operand(enum sl_token_kind kind)
{
    return kind == TOK_NAME || kind == TOK_INT || kind == TOK_FLOAT ||
           kind == TOK_STRING || kind == TOK_BYTES;
}

/* In a bracket: what is missing may be before this line. */
static void hint_bracket(struct sl_parser *p, const struct sl_bracket *b)
{
    if (p->tok.kind == TOK_RPAREN || p->tok.kind == TOK_RBRACK ||
        p->tok.kind == TOK_RBRACE)
        return;
    if (p->tok.kind == TOK_EOF || p->tok.kind == TOK_NEWLINE)
        sl_static_hint(p->s, "the '%c' of line %u, column %u is never closed",
                       b->text, b->pos.line, b->pos.column);
    else if (p->tok.pos.line > p->prev.line)
        sl_static_hint(p->s,
                       "is a comma missing before this line, or the bracket "
                       "that closes the '%c' of line %u?",
                       b->text, b->pos.line);
    else if (is_operand(p->tok.kind))
        sl_static_hint(p->s, "is a comma or an operator missing before it?");
}

/* name = ..., as a statement or an argument. */
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
                   sl_token_name(p->tok.kind));
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
        hint_bracket(p, sl_bracket(p));
    else if (want == TOK_COLON && p->tok.kind != TOK_COLON)
        sl_static_hint(p->s, "what begins with def, if, elif, else or for has "
                             "a : before its block");
}
