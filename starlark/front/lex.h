#ifndef STARLARK_LEX_H
#define STARLARK_LEX_H

#include "../core/hint.h"
#include "ast.h"

/*
 * lex: a source as tokens.
 *
 * Columns count code points. Lines end with LF, CR or CRLF. Inside brackets
 * there are neither NEWLINEs nor indentation. An error of a token is reported
 * here; the token is then the intended one, or TOK_ERROR.
 *
 * The order of the table means something: PLUS to GTGT are as in enum
 * sl_operator; those up to GT are followed by the same with a "=" behind; what
 * opens and what closes brackets is together; words of the language come last,
 * from AND on, in the order of the alphabet, some of them only reserved.
 */

/* clang-format off */
#define SL_TOKENS(T) \
    T(ERROR, "illegal token")       T(STUCK, "illegal token") /* parse.h */ \
    T(EOF, "end of file")           T(NEWLINE, "newline") \
    T(INDENT, "indent")             T(OUTDENT, "outdent") \
    T(NAME, "identifier")           T(INT, "int literal") \
    T(FLOAT, "float literal")       T(STRING, "string literal") \
    T(BYTES, "bytes literal") \
    T(PLUS, "'+'")      T(MINUS, "'-'")       T(STAR, "'*'")    T(SLASH, "'/'") \
    T(SLASHSLASH, "'//'") T(PERCENT, "'%'")   T(AMP, "'&'")     T(PIPE, "'|'") \
    T(CIRCUMFLEX, "'^'") T(LTLT, "'<<'")      T(GTGT, "'>>'") \
    T(EQ, "'='")        T(BANG, "'!'")        T(LT, "'<'")      T(GT, "'>'") \
    T(PLUS_EQ, "'+='")  T(MINUS_EQ, "'-='")   T(STAR_EQ, "'*='") T(SLASH_EQ, "'/='") \
    T(SLASHSLASH_EQ, "'//='") T(PERCENT_EQ, "'%='") T(AMP_EQ, "'&='") T(PIPE_EQ, "'|='") \
    T(CIRCUMFLEX_EQ, "'^='") T(LTLT_EQ, "'<<='") T(GTGT_EQ, "'>>='") \
    T(EQL, "'=='")      T(NEQ, "'!='")        T(LE, "'<='")     T(GE, "'>='") \
    T(TILDE, "'~'")     T(STARSTAR, "'**'")   T(DOT, "'.'")     T(COMMA, "','") \
    T(SEMI, "';'")      T(COLON, "':'")       T(LPAREN, "'('")  T(LBRACK, "'['") \
    T(LBRACE, "'{'")    T(RPAREN, "')'")      T(RBRACK, "']'")  T(RBRACE, "'}'") \
    T(AND, "and")       T(AS, "as")           T(ASSERT, "assert") \
    T(ASYNC, "async")   T(AWAIT, "await")     T(BREAK, "break") \
    T(CLASS, "class")   T(CONTINUE, "continue") T(DEF, "def") \
    T(DEL, "del")       T(ELIF, "elif")       T(ELSE, "else") \
    T(EXCEPT, "except") T(FINALLY, "finally") T(FOR, "for") \
    T(FROM, "from")     T(GLOBAL, "global")   T(IF, "if") \
    T(IMPORT, "import") T(IN, "in")           T(IS, "is") \
    T(LAMBDA, "lambda") T(LOAD, "load")       T(NONLOCAL, "nonlocal") \
    T(NOT, "not")       T(OR, "or")           T(PASS, "pass") \
    T(RAISE, "raise")   T(RETURN, "return")   T(TRY, "try") \
    T(WHILE, "while")   T(WITH, "with")       T(YIELD, "yield")

enum sl_token_kind {
#define T(name, text) TOK_##name,
    SL_TOKENS(T)
#undef T
    TOK_COUNT
};
/* clang-format on */
#define SL_TOK_EQ (TOK_PLUS_EQ - TOK_PLUS) /* from + to += and so on */
extern const char *const sl_token_names[]; /* names of tokens in messages */

struct sl_token {
    enum sl_token_kind kind;
    uint32_t length; /* length of its text */
    struct sl_pos pos;
    const char *at; /* start of its text */
    value v;        /* name (interned) or value of a literal */
};

struct sl_lexer {
    struct star *s;
    struct sl_arena *arena;
    const char *p; /* next character; the text is terminated by a NUL */
    const char *end;
    const char *charged; /* bytes up to here are charged */
    const char *line_start;
    uint32_t line;
    uint32_t wide;      /* bytes since line_start that do not start a column */
    uint32_t depth;     /* nesting of brackets */
    int32_t dents;      /* pending INDENTs, or OUTDENTs if negative */
    bool at_line_start; /* indentation is read next */
    bool stopped;       /* a limit was reached: only EOF follows */
    bool said_tab;
    uint32_t indents; /* number of entries in `indent`, without the 0 at its
                       * bottom */
    uint32_t indent[SL_SOURCE_DEPTH + 2];
    uint32_t odd_columns,
        odd_level; /* indentation already reported as wrong, treated as that
                    * level */
};

/* Returns false with an error if the source is not valid text. */
bool sl_lex_open(struct sl_lexer *l, struct star *s, struct sl_arena *a,
                 const struct sl_source *source);
void sl_lex_next(struct sl_lexer *l, struct sl_token *t);

/* Returns to the start of the current line, outside brackets, because a bracket
 * before it was never closed. */
void sl_lex_restart_line(struct sl_lexer *l);

/* Makes every further token EOF. */
void sl_lex_stop(struct sl_lexer *l);

/* Returns the position of the next byte. */
static inline struct sl_pos sl_lex_pos(const struct sl_lexer *l)
{
    return (struct sl_pos){l->line,
                           (uint32_t)(l->p - l->line_start) + 1 - l->wide};
}

static inline bool sl_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the ASCII character can be part of a name. */
static inline bool sl_is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           sl_is_digit(c);
}

void sl_lex_next_line(struct sl_lexer *l); /* `l` is at the end of a line. */

/* --- lex_literal.c: both begin at l->p, t->pos and t->at are set ------------- */

void sl_lex_number(struct sl_lexer *l, struct sl_token *t);
/* `l` is at the quote, after the prefix. */
void sl_lex_string(struct sl_lexer *l, struct sl_token *t, bool raw,
                   bool bytes);

#endif
