#include "parse.h"

/* --- levels --------------------------------------------------------------------- */

enum {
    LEVEL_NONE,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE, /* does not associate */
    LEVEL_PIPE,
    LEVEL_CIRCUMFLEX,
    LEVEL_AMP,
    LEVEL_SHIFT,
    LEVEL_ADD,
    LEVEL_MUL,
    LEVEL_POWER /* an error of its own */
};

static const struct {
    uint8_t level, op;
} binary[TOK_COUNT] = {
    [TOK_OR] = {LEVEL_OR, 0},
    [TOK_AND] = {LEVEL_AND, 0},
    [TOK_NOT] = {LEVEL_COMPARE, OP_NOT_IN},
    [TOK_IN] = {LEVEL_COMPARE, OP_IN},
    [TOK_IS] = {LEVEL_COMPARE, OP_EQ},
    [TOK_EQL] = {LEVEL_COMPARE, OP_EQ},
    [TOK_NEQ] = {LEVEL_COMPARE, OP_NE},
    [TOK_LT] = {LEVEL_COMPARE, OP_LT},
    [TOK_GT] = {LEVEL_COMPARE, OP_GT},
    [TOK_LE] = {LEVEL_COMPARE, OP_LE},
    [TOK_GE] = {LEVEL_COMPARE, OP_GE},
    [TOK_PIPE] = {LEVEL_PIPE, OP_OR},
    [TOK_CIRCUMFLEX] = {LEVEL_CIRCUMFLEX, OP_XOR},
    [TOK_AMP] = {LEVEL_AMP, OP_AND},
    [TOK_LTLT] = {LEVEL_SHIFT, OP_SHL},
    [TOK_GTGT] = {LEVEL_SHIFT, OP_SHR},
    [TOK_PLUS] = {LEVEL_ADD, OP_ADD},
    [TOK_MINUS] = {LEVEL_ADD, OP_SUB},
    [TOK_STAR] = {LEVEL_MUL, OP_MUL},
    [TOK_SLASH] = {LEVEL_MUL, OP_DIV},
    [TOK_SLASHSLASH] = {LEVEL_MUL, OP_FLOORDIV},
    [TOK_PERCENT] = {LEVEL_MUL, OP_MOD},
    [TOK_STARSTAR] = {LEVEL_POWER, OP_MUL},
};

static struct sl_node *parse_level(struct sl_parser *p, unsigned level);

struct sl_pos sl_node_start(const struct sl_node *n)
{
    for (;;) {
        switch (n->kind) {
        case N_BINARY:
        case N_AND:
        case N_OR:
        case N_CALL:
        case N_DOT:
        case N_INDEX:
        case N_SLICE:
            n = n->a;
            break;
        case N_COND:
            n = n->b;
            break;
        default:
            return n->pos;
        }
    }
}

/* --- primaries --------------------------------------------------------------------- */

static struct sl_node *parse_dot(struct sl_parser *p, struct sl_node *object)
{
    struct sl_node *n = sl_node_new(p, N_DOT, p->tok.pos);

    sl_next(p);
    n->a = object;
    n->v = sl_parse_name(p);
    return n;
}

static struct sl_node *parse_unary(struct sl_parser *p, enum sl_operator op)
{
    struct sl_node *n = sl_node_new(p, N_UNARY, p->tok.pos);

    n->op = (uint8_t)op;
    sl_next(p);
    n->a = sl_enter(p) ? sl_parse_suffixes(p) : &p->spare;
    sl_leave(p);
    return n;
}

static struct sl_node *parse_primary(struct sl_parser *p)
{
    struct sl_node *n;

    switch (p->tok.kind) {
    case TOK_NAME:
        n = sl_node_new(p, N_NAME, p->tok.pos);
        n->v = p->tok.v;
        sl_next(p);
        return n;
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_BYTES:
        n = sl_literal(p, p->tok.pos, p->tok.v);
        sl_next(p);
        return n;
    case TOK_LBRACK:
        return sl_parse_list(p);
    case TOK_LBRACE:
        return sl_parse_dict(p);
    case TOK_LPAREN:
        return sl_parse_paren(p);
    case TOK_MINUS:
        return parse_unary(p, OP_NEG);
    case TOK_PLUS:
        return parse_unary(p, OP_POS);
    case TOK_TILDE:
        return parse_unary(p, OP_INVERT);
    default:
        sl_refuse_primary(p);
        /* *x in a list or a tuple is understood, and passed over */
        if (p->tok.kind == TOK_STAR && p->prev.kind != TOK_STAR) {
            sl_next(p);
            if (p->tok.kind == TOK_NAME || p->tok.kind == TOK_LBRACK)
                return parse_primary(p);
        }
        sl_stuck(p);
        return sl_literal(p, p->tok.pos, V_NONE);
    }
}

/* Two operands side by side that other languages allow: "a" "b", f"{x}",
 * 1_000. Says so once, and goes on behind them. */
static bool pass_over_neighbours(struct sl_parser *p, struct sl_node *x)
{
    bool touches = p->prev.at + p->prev.length == p->tok.at;
    bool is_text = p->tok.kind == TOK_STRING || p->tok.kind == TOK_BYTES;

    if (is_text && p->prev.kind == TOK_NAME && touches && x->kind == N_NAME &&
        sl_is_text_prefix(p->prev.at, p->prev.length)) {
        sl_refuse(p, p->want);
        sl_hint_prefix(p, p->prev.at);
        x->kind = N_LITERAL;
        x->v = p->tok.v;
    } else if (is_text && x->kind == N_LITERAL &&
               (p->prev.kind == TOK_STRING || p->prev.kind == TOK_BYTES)) {
        sl_refuse(p, p->want);
        sl_static_hint(p->s, p->open > 0
                                 ? "put a comma between texts, or join them "
                                   "with +: \"a\" + \"b\""
                                 : "join texts with +: \"a\" + \"b\"");
    } else if (p->tok.kind == TOK_NAME && touches &&
               (p->prev.kind == TOK_INT || p->prev.kind == TOK_FLOAT)) {
        sl_refuse(p, p->want);
        sl_static_hint(p->s, "numbers are written in digits alone: no _, no "
                             "letters behind them");
    } else {
        return false;
    }
    sl_next(p);
    while (is_text && (p->tok.kind == TOK_STRING || p->tok.kind == TOK_BYTES ||
                       (p->tok.kind == TOK_NAME &&
                        sl_is_text_prefix(p->tok.at, p->tok.length) &&
                        (*p->lex.p == '"' || *p->lex.p == '\''))))
        sl_next(p);
    return true;
}

struct sl_node *sl_parse_suffixes(struct sl_parser *p)
{
    unsigned open = p->open;
    const char *want = p->want;
    struct sl_node *x = parse_primary(p);

    for (;;) {
        p->open = open;
        p->want = want;
        switch (p->tok.kind) {
        case TOK_DOT:
            x = parse_dot(p, x);
            break;
        case TOK_LPAREN:
            x = sl_parse_call(p, x);
            break;
        case TOK_LBRACK:
            x = sl_parse_index(p, x);
            break;
        case TOK_STRING:
        case TOK_BYTES:
        case TOK_NAME:
            if (pass_over_neighbours(p, x))
                break;
            return x;
        default:
            return x;
        }
    }
}

/* --- operators ------------------------------------------------------------------------ */

static const char *operator_name(unsigned op)
{
    return op == OP_IN       ? "in"
           : op == OP_NOT_IN ? "not in"
                             : sl_operator_text((enum sl_operator)op);
}

static void refuse_chain(struct sl_parser *p, unsigned first, unsigned second)
{
    sl_static_error(p->s, &p->file->source, sl_after_token(p),
                    "%s does not associate with %s (use parens)",
                    operator_name(first), operator_name(second));
    sl_static_hint(p->s, "write \"a < b and b < c\" for \"a < b < c\"");
}

/* At an operator of that level; `x` is what it is applied to. Those that are
 * none here are passed over. `chained`: x is a comparison, and this one, too. */
static struct sl_node *parse_operation(struct sl_parser *p, struct sl_node *x,
                                       unsigned level, bool chained)
{
    enum sl_token_kind kind = p->tok.kind;
    struct sl_node *n = sl_node_new(p,
                                    kind == TOK_OR    ? N_OR
                                    : kind == TOK_AND ? N_AND
                                                      : N_BINARY,
                                    p->tok.pos);

    n->op = binary[kind].op;
    n->a = x;
    if (kind == TOK_IS || kind == TOK_STARSTAR) {
        sl_refuse(p, p->want);
        sl_hint_token(p, TOK_EOF);
    }
    if (kind == TOK_NOT) {
        sl_next(p);
        if (p->tok.kind != TOK_IN) {
            sl_refuse(p, "in");
            sl_hint_token(p, TOK_EOF);
            sl_stuck(p);
        }
        n->pos = p->tok.pos; /* of `not in` it is the `in` that may fail */
    }
    if (chained && p->tok.kind != TOK_STUCK)
        refuse_chain(p, x->op, n->op);
    sl_next(p);
    if (kind == TOK_IS && p->tok.kind == TOK_NOT)
        sl_next(p);
    n->b = sl_enter(p) ? parse_level(p, level + 1) : &p->spare;
    sl_leave(p);
    return n;
}

static struct sl_node *parse_level(struct sl_parser *p, unsigned level)
{
    struct sl_node *x;
    bool compared = false;

    if (p->tok.kind == TOK_NOT && level <= LEVEL_NOT) {
        x = sl_node_new(p, N_UNARY, p->tok.pos);
        x->op = OP_NOT;
        sl_next(p);
        x->a = sl_enter(p) ? parse_level(p, LEVEL_NOT) : &p->spare;
        sl_leave(p);
    } else {
        x = sl_parse_suffixes(p);
    }
    for (;;) {
        unsigned found = binary[p->tok.kind].level;
        if (found == LEVEL_NONE || found < level)
            return x;
        x = parse_operation(p, x, found, compared && found == LEVEL_COMPARE);
        compared = found == LEVEL_COMPARE;
    }
}

struct sl_node *sl_parse_lambda(struct sl_parser *p, bool conditional)
{
    struct sl_node *n = sl_node_new(p, N_LAMBDA, p->tok.pos);

    n->fn = sl_function_info_new(p, n->pos, sl_intern(p->s, "lambda", 6));
    sl_next(p);
    if (p->tok.kind != TOK_COLON)
        n->a = sl_parse_params(p, false);
    sl_expect(p, TOK_COLON);
    if (!sl_enter(p))
        n->b = &p->spare;
    else if (conditional)
        n->b = sl_parse_test(p);
    else
        n->b = p->tok.kind == TOK_LAMBDA ? sl_parse_lambda(p, false)
                                         : parse_level(p, LEVEL_OR);
    sl_leave(p);
    return n;
}

/* At the `if` behind the value. */
static struct sl_node *parse_condition(struct sl_parser *p, struct sl_node *x)
{
    struct sl_node *n = sl_node_new(p, N_COND, p->tok.pos);

    sl_next(p);
    n->b = x;
    n->a = parse_level(p, LEVEL_OR);
    if (p->tok.kind != TOK_ELSE && p->tok.kind != TOK_STUCK) {
        sl_static_error(p->s, &p->file->source, n->pos,
                        "conditional expression without else clause");
        sl_static_hint(p->s, "write \"a if condition else b\"");
        n->c = sl_literal(p, n->pos, V_NONE);
        return n;
    }
    sl_next(p);
    n->c = sl_parse_test(p);
    return n;
}

/* name := value */
static void pass_over_walrus(struct sl_parser *p, struct sl_node *x)
{
    bool in_header = p->want[1] == ':';

    if (!in_header)
        sl_refuse(p, p->want);
    sl_next(p);
    if (in_header)
        sl_static_error(p->s, &p->file->source, p->tok.pos,
                        "got '=', want primary expression");
    sl_static_hint(p->s, "there is no :=, assign in a statement of its own "
                         "before this one");
    if (x->kind == N_NAME)
        sl_unsure_name(p, x->v);
    sl_next(p);
    sl_parse_test(p);
}

/* An expression without `if`. */
struct sl_node *sl_parse_operand(struct sl_parser *p)
{
    struct sl_node *x = sl_enter(p) ? parse_level(p, LEVEL_OR) : &p->spare;

    sl_leave(p);
    return x;
}

struct sl_node *sl_parse_test(struct sl_parser *p)
{
    struct sl_node *x = &p->spare;

    if (!sl_enter(p)) {
        sl_leave(p);
        return x;
    }
    if (p->tok.kind == TOK_LAMBDA) {
        x = sl_parse_lambda(p, true);
    } else {
        x = parse_level(p, LEVEL_OR);
        if (p->tok.kind == TOK_IF)
            x = parse_condition(p, x);
    }
    if (p->tok.kind == TOK_COLON && *p->lex.p == '=')
        pass_over_walrus(p, x);
    sl_leave(p);
    return x;
}
