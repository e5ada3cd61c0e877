#ifndef STARLARK_HINT_H
#define STARLARK_HINT_H

/* Hints that suggest what to write instead; parse_hint.c has further tables of
 * them. */

/* clang-format off */
#define HINT_TABS "indent with spaces, four for each level"
#define HINT_SPACE "write a plain space"
#define HINT_NO_BRACKET "no bracket is open here"
#define HINT_BACKSLASH "a backslash outside of texts only goes at the very end of a line, to continue it"
#define HINT_ESCAPE "a backslash itself is written \\\\, or use a raw text: r\"...\""
#define HINT_QUOTES "the closing quotes are missing"
#define HINT_BLOCK "the block below a line that ends in : is indented; an empty one is written \"pass\""
#define HINT_RESULT_TYPE "there are no type annotations: leave out \"-> type\""
#define HINT_ELIF "write \"elif\" for \"else if\""
#define HINT_TOP_IF "put it into a function, and call that; or write \"x = a if condition else b\""
#define HINT_TOP_FOR "put it into a function, and call that; or write a comprehension, [f(x) for x in xs]"
#define HINT_TOP_RETURN "only functions return: put it into a function"
#define HINT_CONDITION "write \"a if condition else b\""
#define HINT_LOOP "loop a bounded number of times: \"for _ in range(1000):\" with \"break\""
#define HINT_LAMBDA "functions in an expression are written \"lambda x: x\""
#define HINT_ASSIGNMENTS "one assignment a statement: write \"b = c\" and \"a = b\" for \"a = b = c\""
#define HINT_BLOCK_WORDS "blocks begin with if, elif, else, for or def"
#define HINT_COLON "what begins with def, if, elif, else or for has a : before its block"
#define HINT_TYPE "there are no type annotations: write \"x = 1\" for \"x: int = 1\""
#define HINT_PARAM_TYPE "there are no type annotations: write only the names of parameters"
#define HINT_PARAMS "the order is: required, name=default, *args, keyword-only ones, **kwargs"
#define HINT_ARGUMENTS "the order is: positional, name=value, *args, **kwargs"
#define HINT_TUPLE "write (x,) for a tuple of one item, or drop the comma"
#define HINT_SET_OF "write set([x for x in xs]) for a set"
#define HINT_SET "write set([a, b]) for a set; a dict has {key: value}"
#define HINT_GENERATOR "there are no generators: put the comprehension in brackets, [x for x in xs]"
#define HINT_COMPARE "values are compared by =="
#define HINT_COMPARE_CHAIN "write \"a < b and b < c\" for \"a < b < c\""
#define HINT_TEXTS_INSIDE "put a comma between texts, or join them with +: \"a\" + \"b\""
#define HINT_TEXTS "join texts with +: \"a\" + \"b\""
#define HINT_DIGITS "numbers are written in digits alone: no _, no letters behind them"
#define HINT_WALRUS "there is no :=, assign in a statement of its own before this one"
#define HINT_MISSING "is a comma or an operator missing before it?"
#define HINT_ONCE "a name at the top level is assigned once: take another name, or do this in a function"
#define HINT_SLICE "make a new list: x[:i] + new + x[j:]"
#define HINT_NO_CLASS "there are no classes: use a dict for data, and functions"
#define HINT_FAIL "write fail(\"what is wrong\")"
#define HINT_NO_IMPORT "there are no imports: what can be used is there already"
#define HINT_NO_EXCEPT "there are no exceptions to catch: check before, as in \"if key in d\""
#define HINT_OUTER "a function cannot assign to names outside of it: return the new value, or keep it in a dict or a list"
/* clang-format on */

#endif
