#ifndef STARLARK_PARSE_H
#define STARLARK_PARSE_H

#include "lex.h"

/*
 * parse: what the files of the parser share.
 *
 *     parse.c       statements, blocks, and going on behind an error
 *     parse_expr.c  expressions and parameters
 *     parse_hint.c  what to write instead
 *
 * Recursive descent with one token of lookahead. After an error that the parser
 * cannot pass over, the token becomes TOK_STUCK, which nothing accepts: all
 * functions return with what they have, the statement is dropped, and its end
 * is looked for. What other languages have and this one lacks is mostly
 * understood and passed over, so that one error does not hide the next. No
 * function returns NULL.
 */

struct sl_bracket { /* an open bracket */
    struct sl_pos pos;
    char text;
};

struct sl_parser {
    struct star *s;
    struct sl_arena *arena;
    struct sl_file *file;
    struct sl_lexer lex;
    struct sl_token tok, prev; /* prev: the token before `tok` */
    enum sl_token_kind behind; /* kind of the token that became TOK_STUCK */
    const char *want; /* tokens that may follow the expression, for messages */
    unsigned open;    /* number of entries in `brackets` */
    struct sl_bracket brackets[SL_SOURCE_DEPTH + 2];
    unsigned depth;
    bool annotated;       /* an annotation of this def was already reported */
    struct sl_node spare; /* returned when memory is exhausted */
};

/* A list of nodes in order of insertion. */
struct sl_chain {
    struct sl_node *first, **end;
};
static inline void sl_chain_add(struct sl_chain *c, struct sl_node *n)
{
    *(c->first ? c->end : &c->first) = n;
    c->end = &n->next;
}

struct sl_node *sl_node_new(struct sl_parser *p, enum sl_node_kind kind,
                            struct sl_pos pos);

static inline void sl_next(struct sl_parser *p)
{
    if (p->tok.kind == TOK_STUCK)
        return;
    p->prev = p->tok;
    sl_lex_next(&p->lex, &p->tok);
}

/* Consumes the current token if it has that kind. */
static inline bool sl_accept(struct sl_parser *p, enum sl_token_kind kind)
{
    if (p->tok.kind != kind)
        return false;
    sl_next(p);
    return true;
}
/* Returns whether the current token is `kind`, the end of the file or
 * TOK_STUCK. */
static inline bool sl_ends(const struct sl_parser *p, enum sl_token_kind kind)
{
    return p->tok.kind == kind || p->tok.kind == TOK_EOF ||
           p->tok.kind == TOK_STUCK;
}

/* Consumes a token of that kind, or reports "got X, want Y" and becomes
 * stuck. */
void sl_expect(struct sl_parser *p, enum sl_token_kind kind);
/* Reports the same error without becoming stuck. Returns false, without a
 * report, if the token is already in error. `hint` may be NULL. */
bool sl_refuse(struct sl_parser *p, const char *want, const char *hint);
/* Reports "got X, want primary expression". */
void sl_refuse_primary(struct sl_parser *p);
/* Reports any error, unless stuck. */
void sl_complain(struct sl_parser *p, struct sl_pos pos, const char *hint,
                 const char *text);
void sl_stuck(struct sl_parser *p);
/* Returns the position after the token, where Go reports most errors. */
struct sl_pos sl_after_token(const struct sl_parser *p);

/* Enters a level of nesting. Returns false with an error if there are too many.
 * Either result requires sl_leave. */
bool sl_enter(struct sl_parser *p);
static inline void sl_leave(struct sl_parser *p)
{
    p->depth--;
}

/* Like sl_expect for an opening bracket, to which messages refer while it is
 * open; returns its position. The caller saves p->open before and restores
 * it. */
struct sl_pos sl_open(struct sl_parser *p, enum sl_token_kind kind);

/* Records a name that some skipped token may define. */
void sl_unsure_name(struct sl_parser *p, value name);
/* Consumes a name token and returns its text. */
value sl_parse_name(struct sl_parser *p);

/* --- parse_expr.c ---------------------------------------------------------------- */

/* Parses one expression, without commas outside of brackets. */
struct sl_node *sl_parse_test(struct sl_parser *p);
/* Parses an expression, or a tuple of several with commas. */
struct sl_node *sl_parse_expr(struct sl_parser *p);
/* Parses the targets of `for`: primaries with commas. */
struct sl_node *sl_parse_targets(struct sl_parser *p);
/* Parses the parameters of a def or a lambda; annotations of a def are skipped.
 * If a parameter's error is not at its `pos`, it is at the `pos` of its `c`. */
struct sl_node *sl_parse_params(struct sl_parser *p, bool is_def);
/* Returns the start of an expression, as opposed to its operator. */
struct sl_pos sl_node_start(const struct sl_node *n);

/* --- parse_hint.c ----------------------------------------------------------------- */

/* Adds a hint for `tok` found in place of `want`; TOK_NAME stands for an
 * expression. */
void sl_hint_token(struct sl_parser *p, enum sl_token_kind want);
/* Adds a hint for a reserved word used as a name. */
void sl_hint_reserved(struct sl_parser *p);
/* Return a suggestion, or NULL: for "name something" at the start of a
 * statement; for a quoted text directly after that name; for an undefined name
 * that other languages have. */
const char *sl_word_hint(const char *p, size_t length);
const char *sl_prefix_hint(const char *p, size_t length);
const char *sl_name_hint(const char *p, size_t length);

#endif
