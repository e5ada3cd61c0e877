#include "parse.h"

/* --- compound statements ----------------------------------------------------------------- */

static bool is_arrow(const struct sl_parser *p)
{
    return p->tok.kind == TOK_MINUS && *p->lex.p == '>';
}

void sl_parse_def(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_DEF, p->tok.pos);

    sl_next(p);
    n->c = sl_node_new(p, N_NAME, p->tok.pos);
    n->v = n->c->v = sl_parse_name(p);
    n->fn = sl_function_info_new(p, n->pos, n->v);
    if (p->tok.kind == TOK_LPAREN)
        sl_bracket_open(p, '(');
    sl_expect(p, TOK_LPAREN);
    bool annotated = p->annotated;
    p->annotated = false;
    n->a = sl_parse_params(p, true);
    sl_expect(p, TOK_RPAREN);
    p->open = 0;
    p->want = sl_token_name(TOK_COLON);
    if (is_arrow(p)) {
        if (!p->annotated) {
            sl_refuse(p, p->want);
            sl_static_hint(p->s, "there are no type annotations: leave out "
                                 "\"-> type\"");
        }
        sl_next(p);
        sl_next(p);
        sl_parse_test(p);
    }
    p->annotated = annotated;
    sl_expect(p, TOK_COLON);
    if (p->tok.kind == TOK_STUCK)
        return;
    n->b = sl_parse_suite(p);
    sl_chain_add(out, n);
}

/* The condition and block of an `if` or `elif`. */
static bool parse_branch(struct sl_parser *p, struct sl_node *n)
{
    sl_next(p);
    p->want = sl_token_name(TOK_COLON);
    n->a = sl_parse_test(p);
    sl_expect(p, TOK_COLON);
    if (p->tok.kind == TOK_STUCK)
        return false;
    n->b = sl_parse_suite(p);
    return true;
}

void sl_parse_if(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_IF, p->tok.pos), *last = n;

    if (!parse_branch(p, n))
        return;
    sl_chain_add(out, n);
    while (p->tok.kind == TOK_ELIF || p->tok.kind == TOK_ELSE) {
        bool is_else = p->tok.kind == TOK_ELSE;
        struct sl_pos pos = p->tok.pos;
        if (is_else) {
            sl_next(p);
            if (p->tok.kind != TOK_IF) {
                sl_expect(p, TOK_COLON);
                if (p->tok.kind != TOK_STUCK)
                    last->c = sl_parse_suite(p);
                return;
            }
            sl_refuse(p, sl_token_name(TOK_COLON));
            sl_static_hint(p->s, "write \"elif\" for \"else if\"");
        }
        last->c = sl_node_new(p, N_IF, pos);
        last = last->c;
        if (!parse_branch(p, last))
            return;
    }
}

void sl_parse_for(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_FOR, p->tok.pos);

    sl_next(p);
    p->want = sl_token_name(TOK_IN);
    n->a = sl_parse_targets(p);
    sl_expect(p, TOK_IN);
    p->want = sl_token_name(TOK_COLON);
    n->b = sl_parse_expr(p, false);
    sl_expect(p, TOK_COLON);
    if (p->tok.kind == TOK_STUCK)
        return;
    n->c = sl_parse_suite(p);
    sl_chain_add(out, n);
}

/* Understood, so that what is in it is looked at. */
void sl_parse_while(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_FOR, p->tok.pos);

    sl_static_error(p->s, &p->file->source, n->pos,
                    "this Starlark dialect does not support while loops");
    sl_static_hint(p->s, "loop a bounded number of times: "
                         "\"for _ in range(1000):\" with \"break\"");
    sl_next(p);
    p->want = sl_token_name(TOK_COLON);
    n->b = sl_parse_test(p);
    sl_expect(p, TOK_COLON);
    if (p->tok.kind == TOK_STUCK)
        return;
    n->c = sl_parse_suite(p);
    sl_chain_add(out, n);
}

/* --- simple statements ------------------------------------------------------------------- */

static struct sl_node *parse_load_name(struct sl_parser *p, bool *ok)
{
    struct sl_node *to = sl_node_new(p, N_NAME, p->tok.pos), *from = to;

    if (p->tok.kind == TOK_NAME) {
        int length = (int)p->tok.length;
        const char *text = p->tok.at;
        to->v = sl_parse_name(p);
        if (p->tok.kind != TOK_EQ) {
            sl_static_error(p->s, &p->file->source, sl_after_token(p),
                            "load operand must be \"%.*s\" or "
                            "%.*s=\"originalname\" (want '=' after %.*s)",
                            length, text, length, text, length, text);
            *ok = false;
            return to;
        }
        sl_next(p);
        if (p->tok.kind != TOK_STRING) {
            sl_static_error(p->s, &p->file->source, sl_after_token(p),
                            "original name of loaded symbol must be quoted: "
                            "%.*s=\"originalname\"",
                            length, text);
            *ok = false;
            return to;
        }
    } else if (p->tok.kind != TOK_STRING) {
        sl_static_error(p->s, &p->file->source, sl_after_token(p),
                        "load operand must be \"name\" or "
                        "localname=\"name\" (got %s)",
                        sl_token_name(p->tok.kind));
        *ok = false;
        return to;
    }
    struct sl_pos inside = p->tok.pos;
    inside.column++;
    if (!to->v)
        to->pos = inside;
    from = sl_node_new(p, N_LITERAL, inside);
    from->v = p->tok.v;
    if (!to->v)
        to->v =
            sl_intern(p->s, sl_string(from->v)->p, sl_string(from->v)->length);
    sl_next(p);
    struct sl_node *n = sl_node_new(p, N_ASSIGN, to->pos);
    n->a = to;
    n->b = from;
    return n;
}

static void parse_load(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_LOAD, p->tok.pos);
    struct sl_chain c = {0};
    bool ok = true;

    sl_next(p);
    struct sl_pos pos = p->tok.pos;
    if (p->tok.kind == TOK_LPAREN)
        sl_bracket_open(p, '(');
    sl_expect(p, TOK_LPAREN);
    if (p->tok.kind != TOK_STRING && p->tok.kind != TOK_STUCK) {
        sl_static_error(
            p->s, &p->file->source, sl_after_token(p),
            "first operand of load statement must be a string literal");
        ok = false;
    }
    n->v = p->tok.v;
    if (ok)
        sl_next(p);
    while (ok && p->tok.kind != TOK_RPAREN && p->tok.kind != TOK_EOF &&
           p->tok.kind != TOK_STUCK) {
        sl_expect(p, TOK_COMMA);
        if (p->tok.kind != TOK_RPAREN && p->tok.kind != TOK_STUCK)
            sl_chain_add(&c, parse_load_name(p, &ok));
    }
    if (!ok)
        sl_stuck(p);
    sl_expect(p, TOK_RPAREN);
    p->open = 0;
    if (p->tok.kind == TOK_STUCK)
        return;
    if (!c.first)
        sl_static_error(p->s, &p->file->source, pos,
                        "load statement must import at least 1 symbol");
    n->a = c.first;
    sl_chain_add(out, n);
}

static const uint8_t augmented[TOK_COUNT] = {
    [TOK_PLUS_EQ] = 1 + OP_ADD,
    [TOK_MINUS_EQ] = 1 + OP_SUB,
    [TOK_STAR_EQ] = 1 + OP_MUL,
    [TOK_SLASH_EQ] = 1 + OP_DIV,
    [TOK_SLASHSLASH_EQ] = 1 + OP_FLOORDIV,
    [TOK_PERCENT_EQ] = 1 + OP_MOD,
    [TOK_AMP_EQ] = 1 + OP_AND,
    [TOK_PIPE_EQ] = 1 + OP_OR,
    [TOK_CIRCUMFLEX_EQ] = 1 + OP_XOR,
    [TOK_LTLT_EQ] = 1 + OP_SHL,
    [TOK_GTGT_EQ] = 1 + OP_SHR,
};

static struct sl_node *assignment(struct sl_parser *p, struct sl_pos pos,
                                  struct sl_node *target, struct sl_node *from)
{
    struct sl_node *n = sl_node_new(p, N_ASSIGN, pos);

    n->a = target;
    n->b = from;
    return n;
}

/* At the "=" behind the target. a = b = c is understood, and passed over. */
static void parse_assignment(struct sl_parser *p, struct sl_chain *out,
                             struct sl_node *target)
{
    struct sl_pos pos = p->tok.pos;

    sl_next(p);
    struct sl_node *from = sl_parse_expr(p, false);
    while (p->tok.kind == TOK_EQ) {
        sl_refuse(p, p->want);
        if (*p->lex.p == '>') {
            sl_static_hint(p->s, "functions in an expression are written "
                                 "\"lambda x: x\"");
            sl_stuck(p);
            return;
        }
        sl_static_hint(p->s, "one assignment a statement: write \"b = c\" and "
                             "\"a = b\" for \"a = b = c\"");
        sl_next(p);
        sl_chain_add(
            out, assignment(p, pos, target, sl_node_new(p, N_LITERAL, pos)));
        target = from;
        from = sl_parse_expr(p, false);
    }
    if (p->tok.kind != TOK_STUCK)
        sl_chain_add(out, assignment(p, pos, target, from));
}

/* At the ":" behind a name: an annotation, which is passed over, or a word that
 * is meant to begin a block. False: stuck. */
static bool pass_over_annotation(struct sl_parser *p)
{
    sl_refuse(p, p->want);
    if (*p->lex.p == '\n' || *p->lex.p == '\r' || p->lex.p == p->lex.end) {
        sl_static_hint(p->s, "blocks begin with if, elif, else, for or def");
        sl_next(p);
        sl_stuck(p);
        return false;
    }
    sl_static_hint(p->s, "there are no type annotations: write \"x = 1\" for "
                         "\"x: int = 1\"");
    sl_next(p);
    sl_parse_test(p);
    return p->tok.kind != TOK_STUCK;
}

static void parse_expression(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *x = sl_parse_expr(p, false);
    struct sl_pos pos = p->tok.pos;

    if (p->tok.kind == TOK_COLON &&
        (x->kind == N_NAME || x->kind == N_DOT || x->kind == N_INDEX)) {
        if (!pass_over_annotation(p))
            return;
        if (p->tok.kind != TOK_EQ) {
            if (x->kind == N_NAME)
                sl_unsure_name(p, x->v);
            return;
        }
    }
    if (p->tok.kind == TOK_EQ) {
        parse_assignment(p, out, x);
        return;
    }
    bool is_augmented = augmented[p->tok.kind] != 0;
    struct sl_node *n = sl_node_new(p, is_augmented ? N_AUGMENT : N_EXPR,
                                    is_augmented ? pos : sl_node_start(x));
    n->a = x;
    if (is_augmented) {
        n->op = (uint8_t)(augmented[p->tok.kind] - 1);
        sl_next(p);
        n->b = sl_parse_expr(p, false);
    } else if (x->kind == N_NAME && p->prev.kind == TOK_NAME &&
               p->tok.kind != TOK_NEWLINE && p->tok.kind != TOK_SEMI &&
               p->tok.kind != TOK_EOF) {
        sl_refuse(p, p->want);
        sl_hint_word(p, p->prev.at, p->prev.length);
        sl_stuck(p);
    }
    if (p->tok.kind != TOK_STUCK)
        sl_chain_add(out, n);
}

static void parse_small(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n;

    switch (p->tok.kind) {
    case TOK_BREAK:
    case TOK_CONTINUE:
    case TOK_PASS:
        n = sl_node_new(p,
                        p->tok.kind == TOK_BREAK      ? N_BREAK
                        : p->tok.kind == TOK_CONTINUE ? N_CONTINUE
                                                      : N_PASS,
                        p->tok.pos);
        sl_next(p);
        sl_chain_add(out, n);
        break;
    case TOK_RETURN:
        n = sl_node_new(p, N_RETURN, p->tok.pos);
        sl_next(p);
        if (p->tok.kind != TOK_NEWLINE && p->tok.kind != TOK_SEMI &&
            p->tok.kind != TOK_EOF)
            n->a = sl_parse_expr(p, false);
        sl_chain_add(out, n);
        break;
    case TOK_LOAD:
        parse_load(p, out);
        break;
    default:
        parse_expression(p, out);
    }
}

/* Simple statements up to the end of the line. */
void sl_parse_line(struct sl_parser *p, struct sl_chain *out)
{
    for (;;) {
        p->want = sl_token_name(TOK_NEWLINE);
        parse_small(p, out);
        if (p->tok.kind != TOK_SEMI)
            break;
        sl_next(p);
        if (p->tok.kind == TOK_NEWLINE || p->tok.kind == TOK_EOF)
            break;
    }
    if (p->tok.kind != TOK_EOF)
        sl_expect(p, TOK_NEWLINE);
}
