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

struct sl_bracket { /* that is open */
    struct sl_pos pos;
    char text;
};

struct sl_parser {
    struct star *s;
    struct sl_arena *arena;
    struct sl_file *file;
    struct sl_lexer lex;
    struct sl_token tok, prev; /* prev: the one before `tok` */
    enum sl_token_kind behind; /* TOK_STUCK: what the token was */
    const char *want; /* tokens that may follow the expression, for messages */
    unsigned open;    /* how many of `brackets` */
    struct sl_bracket brackets[SL_SOURCE_DEPTH + 2];
    unsigned depth;
    bool annotated;       /* the def has an annotation, and that was said */
    struct sl_node spare; /* given out when memory ended */
};

/* The nodes of a list, in the order they are added. */
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

/* Moves over a token of that kind, if it is one. */
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

/* Moves over a token of that kind, or is stuck with "got X, want Y". */
void sl_expect(struct sl_parser *p, enum sl_token_kind kind);
/* The same error, without being stuck; nothing, and false, when the token is in
 * error already. `hint` may be NULL. */
bool sl_refuse(struct sl_parser *p, const char *want, const char *hint);
/* "got X, want primary expression" */
void sl_refuse_primary(struct sl_parser *p);
/* Any error, unless stuck. */
void sl_complain(struct sl_parser *p, struct sl_pos pos, const char *hint,
                 const char *text);
void sl_stuck(struct sl_parser *p);
/* Where Go reports most errors: behind the token. */
struct sl_pos sl_after_token(const struct sl_parser *p);

/* One level deeper; false, and an error, when there are too many. Both return
 * are followed by sl_leave. */
bool sl_enter(struct sl_parser *p);
static inline void sl_leave(struct sl_parser *p)
{
    p->depth--;
}

/* sl_expect of a bracket, which messages refer to as long as it is open: who
 * saved p->open sets it back. Where it is. */
struct sl_pos sl_open(struct sl_parser *p, enum sl_token_kind kind);

/* A name that is defined somewhere in skipped tokens. */
void sl_unsure_name(struct sl_parser *p, value name);
/* The text of a name token, which is moved over. */
value sl_parse_name(struct sl_parser *p);

/* --- parse_expr.c ---------------------------------------------------------------- */

/* One expression: no comma outside of brackets. */
struct sl_node *sl_parse_test(struct sl_parser *p);
/* Perhaps several with commas: a tuple. */
struct sl_node *sl_parse_expr(struct sl_parser *p);
/* Of `for`: primaries with commas. */
struct sl_node *sl_parse_targets(struct sl_parser *p);
/* Of a def or a lambda; in a def, annotations are passed over. Where an error
 * of a parameter is not at its `pos`, it is at that of its `c`. */
struct sl_node *sl_parse_params(struct sl_parser *p, bool is_def);
/* Where an expression begins: not the operator. */
struct sl_pos sl_node_start(const struct sl_node *n);

/* --- parse_hint.c ----------------------------------------------------------------- */

/* For the error that `tok` is where something else was wanted; TOK_NAME: an
 * expression. */
void sl_hint_token(struct sl_parser *p, enum sl_token_kind want);
/* For a word of the language where a name is wanted. */
void sl_hint_reserved(struct sl_parser *p);
/* What to write instead, or NULL: for "name something", which no statement
 * begins with; for a text in quotes right behind that name; for a name that is
 * not defined, but in other languages. */
const char *sl_word_hint(const char *p, size_t length);
const char *sl_prefix_hint(const char *p, size_t length);
const char *sl_name_hint(const char *p, size_t length);

#endif
