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
static struct sl_node *parse_suffixes(struct sl_parser *p);
static struct sl_node *parse_lambda(struct sl_parser *p, bool conditional);

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

static struct sl_node *literal(struct sl_parser *p, struct sl_pos pos, value v)
{
    struct sl_node *n = sl_node_new(p, N_LITERAL, pos);

    n->v = v;
    return n;
}

/* --- brackets -------------------------------------------------------------------- */

static bool ends_list(enum sl_token_kind kind)
{
    switch (kind) {
    case TOK_STUCK:
    case TOK_EOF:
    case TOK_NEWLINE:
    case TOK_EQ:
    case TOK_RBRACE:
    case TOK_RBRACK:
    case TOK_RPAREN:
    case TOK_SEMI:
        return true;
    default:
        return false;
    }
}

/* From the comma on. */
static void parse_items(struct sl_parser *p, struct sl_chain *c, bool inside)
{
    while (p->tok.kind == TOK_COMMA) {
        struct sl_pos comma = p->tok.pos;
        sl_next(p);
        if (ends_list(p->tok.kind)) {
            if (!inside && p->tok.kind != TOK_STUCK) {
                sl_static_error(p->s, &p->file->source, comma,
                                "unparenthesized tuple with trailing comma");
                sl_static_hint(p->s, "write (x,) for a tuple of one item, or "
                                     "drop the comma");
            }
            break;
        }
        sl_chain_add(c, sl_parse_test(p));
    }
}

struct sl_node *sl_parse_expr(struct sl_parser *p, bool inside)
{
    struct sl_node *x = sl_parse_test(p);
    struct sl_chain c = {0};

    if (p->tok.kind != TOK_COMMA)
        return x;
    sl_chain_add(&c, x);
    parse_items(p, &c, inside);
    struct sl_node *tuple = sl_node_new(p, N_TUPLE, sl_node_start(x));
    tuple->a = c.first;
    return tuple;
}

struct sl_node *sl_parse_targets(struct sl_parser *p)
{
    struct sl_node *x = parse_suffixes(p);
    struct sl_chain c = {0};

    if (p->tok.kind != TOK_COMMA)
        return x;
    sl_chain_add(&c, x);
    while (p->tok.kind == TOK_COMMA) {
        sl_next(p);
        if (ends_list(p->tok.kind))
            break;
        sl_chain_add(&c, parse_suffixes(p));
    }
    struct sl_node *tuple = sl_node_new(p, N_TUPLE, sl_node_start(x));
    tuple->a = c.first;
    return tuple;
}

/* The clauses behind `body`, from the first `for` up to the closing bracket. */
static struct sl_node *parse_clauses(struct sl_parser *p, struct sl_node *body,
                                     struct sl_pos pos,
                                     enum sl_token_kind close)
{
    struct sl_node *n = sl_node_new(p, N_COMPREHENSION, pos);
    struct sl_chain c = {0};

    p->want = close == TOK_RBRACK   ? "']', for, or if"
              : close == TOK_RBRACE ? "'}', for, or if"
                                    : "')', for, or if";
    while (p->tok.kind != close && p->tok.kind != TOK_STUCK) {
        struct sl_node *clause = sl_node_new(p, N_CLAUSE_FOR, p->tok.pos);
        if (p->tok.kind == TOK_FOR) {
            sl_next(p);
            clause->a = sl_parse_targets(p);
            sl_expect(p, TOK_IN);
            clause->b = parse_level(p, LEVEL_OR);
        } else if (p->tok.kind == TOK_IF) {
            sl_next(p);
            clause->kind = N_CLAUSE_IF;
            clause->a = p->tok.kind == TOK_LAMBDA ? parse_lambda(p, false)
                                                  : parse_level(p, LEVEL_OR);
        } else {
            sl_refuse(p, p->want);
            sl_stuck(p);
            break;
        }
        sl_chain_add(&c, clause);
    }
    n->a = body;
    n->b = c.first;
    if (body->kind == N_ENTRY)
        n->flags = COMP_DICT;
    return n;
}

static struct sl_node *parse_list(struct sl_parser *p)
{
    struct sl_bracket b = sl_bracket_open(p, '[');
    struct sl_node *n = sl_node_new(p, N_LIST, b.pos);
    struct sl_chain c = {0};

    p->bracket = &b;
    p->want = "']'";
    sl_next(p);
    if (p->tok.kind != TOK_RBRACK) {
        struct sl_node *x = sl_parse_test(p);
        if (p->tok.kind == TOK_FOR)
            n = parse_clauses(p, x, b.pos, TOK_RBRACK);
        sl_chain_add(&c, x);
        parse_items(p, &c, true);
    }
    sl_expect(p, TOK_RBRACK);
    if (n->kind == N_LIST)
        n->a = c.first;
    return n;
}

/* A key without a value: what was meant is a set. */
static struct sl_node *parse_set_item(struct sl_parser *p, struct sl_node *x,
                                      bool *said)
{
    if (!*said) {
        sl_refuse(p, "':'");
        sl_static_hint(p->s, p->tok.kind == TOK_FOR
                                 ? "write set([x for x in xs]) for a set"
                                 : "write set([a, b]) for a set; a dict has "
                                   "{key: value}");
    }
    *said = true;
    struct sl_node *n = sl_node_new(p, N_ENTRY, p->tok.pos);
    n->a = x;
    n->b = literal(p, p->tok.pos, V_NONE);
    return n;
}

static struct sl_node *parse_entry(struct sl_parser *p, bool *said)
{
    p->want = "':'";
    if (p->tok.kind == TOK_STARSTAR) {
        sl_refuse_primary(p);
        sl_next(p);
        *said = true;
    }
    struct sl_node *key = sl_parse_test(p);
    if (p->tok.kind == TOK_COMMA || p->tok.kind == TOK_RBRACE ||
        p->tok.kind == TOK_FOR)
        return parse_set_item(p, key, said);
    struct sl_node *n = sl_node_new(p, N_ENTRY, p->tok.pos);
    sl_expect(p, TOK_COLON);
    p->want = "'}'";
    n->a = key;
    n->b = sl_parse_test(p);
    return n;
}

static struct sl_node *parse_dict(struct sl_parser *p)
{
    struct sl_bracket b = sl_bracket_open(p, '{');
    struct sl_node *n = sl_node_new(p, N_DICT, b.pos);
    struct sl_chain c = {0};
    bool said = false;

    p->bracket = &b;
    sl_next(p);
    if (p->tok.kind != TOK_RBRACE) {
        struct sl_node *x = parse_entry(p, &said);
        if (p->tok.kind == TOK_FOR)
            n = parse_clauses(p, x, b.pos, TOK_RBRACE);
        sl_chain_add(&c, x);
        while (p->tok.kind == TOK_COMMA) {
            sl_next(p);
            if (p->tok.kind == TOK_RBRACE)
                break;
            sl_chain_add(&c, parse_entry(p, &said));
        }
    }
    p->want = "'}'";
    sl_expect(p, TOK_RBRACE);
    if (n->kind == N_DICT)
        n->a = c.first;
    return n;
}

/* At a `for` behind the first item: what other languages call a generator. */
static struct sl_node *parse_generator(struct sl_parser *p, struct sl_node *x,
                                       struct sl_pos pos)
{
    sl_refuse(p, p->want);
    sl_static_hint(p->s, "there are no generators: put the comprehension in "
                         "brackets, [x for x in xs]");
    return parse_clauses(p, x, pos, TOK_RPAREN);
}

static struct sl_node *parse_paren(struct sl_parser *p)
{
    struct sl_bracket b = sl_bracket_open(p, '(');
    struct sl_node *x;

    p->bracket = &b;
    p->want = "')'";
    sl_next(p);
    if (p->tok.kind == TOK_RPAREN) {
        sl_next(p);
        return sl_node_new(p, N_TUPLE, b.pos);
    }
    x = sl_parse_expr(p, true);
    if (p->tok.kind == TOK_FOR && x->kind != N_TUPLE)
        x = parse_generator(p, x, b.pos);
    sl_expect(p, TOK_RPAREN);
    x->flags |= NODE_PARENTHESIZED;
    return x;
}

/* --- calls ----------------------------------------------------------------------- */

/* What came before among the arguments. */
struct order {
    bool star, starstar, named;
};

static void check_order(struct sl_parser *p, struct order *o,
                        enum sl_node_kind kind, struct sl_pos pos)
{
    const char *wrong = NULL;

    if (kind == N_ARG_STARSTAR) {
        if (o->starstar)
            wrong = "multiple **kwargs not allowed";
        o->starstar = true;
    } else if (kind == N_ARG_STAR) {
        if (o->starstar)
            wrong = "*args may not follow **kwargs";
        else if (o->star)
            wrong = "multiple *args not allowed";
        o->star = true;
    } else if (kind == N_ARG_NAMED) {
        if (o->starstar)
            wrong = "keyword argument may not follow **kwargs";
        else if (o->star)
            wrong = "keyword argument may not follow *args";
        o->named = true;
    } else if (o->star) {
        wrong = "positional argument may not follow *args";
    } else if (o->starstar) {
        wrong = "positional argument may not follow **kwargs";
    } else if (o->named) {
        wrong = "positional argument may not follow named";
    }
    if (!wrong || p->tok.kind == TOK_STUCK)
        return;
    sl_static_error(p->s, &p->file->source, pos, "%s", wrong);
    sl_static_hint(p->s,
                   "the order is: positional, name=value, *args, **kwargs");
}

static struct sl_node *parse_argument(struct sl_parser *p, bool first)
{
    struct sl_pos pos = p->tok.pos;
    enum sl_token_kind kind = p->tok.kind;

    if (kind == TOK_STAR || kind == TOK_STARSTAR) {
        sl_next(p);
        struct sl_node *n =
            sl_node_new(p, kind == TOK_STAR ? N_ARG_STAR : N_ARG_STARSTAR, pos);
        n->a = sl_parse_test(p);
        return n;
    }
    struct sl_node *x = sl_parse_test(p);
    if (p->tok.kind == TOK_FOR && first)
        return parse_generator(p, x, pos);
    if (p->tok.kind != TOK_EQ)
        return x;
    if (x->kind != N_NAME || (x->flags & NODE_PARENTHESIZED)) {
        sl_static_error(p->s, &p->file->source, sl_after_token(p),
                        "keyword argument must have form name=expr");
        sl_static_hint(p->s, "values are compared by ==");
        sl_stuck(p);
        return x;
    }
    sl_next(p);
    x->kind = N_ARG_NAMED;
    x->a = sl_parse_test(p);
    return x;
}

static struct sl_node *parse_call(struct sl_parser *p, struct sl_node *function)
{
    struct sl_bracket b = sl_bracket_open(p, '(');
    struct sl_node *n = sl_node_new(p, N_CALL, b.pos);
    struct sl_chain c = {0};
    struct order order = {0};

    p->bracket = &b;
    sl_next(p);
    n->a = function;
    while (p->tok.kind != TOK_RPAREN && p->tok.kind != TOK_EOF &&
           p->tok.kind != TOK_STUCK) {
        p->want = "','";
        if (c.first)
            sl_expect(p, TOK_COMMA);
        if (p->tok.kind == TOK_RPAREN)
            break;
        struct sl_pos pos = p->tok.pos;
        struct sl_node *x = parse_argument(p, !c.first);
        check_order(p, &order, x->kind, pos);
        sl_chain_add(&c, x);
    }
    sl_expect(p, TOK_RPAREN);
    n->b = c.first;
    return n;
}

static struct sl_node *parse_index(struct sl_parser *p, struct sl_node *object)
{
    struct sl_bracket b = sl_bracket_open(p, '[');
    struct sl_node *n = sl_node_new(p, N_INDEX, b.pos);

    p->bracket = &b;
    p->want = "']'";
    sl_next(p);
    n->a = object;
    if (p->tok.kind != TOK_COLON)
        n->b = sl_parse_expr(p, false);
    if (p->tok.kind != TOK_COLON) {
        sl_expect(p, TOK_RBRACK);
        return n;
    }
    n->kind = N_SLICE;
    sl_next(p);
    if (p->tok.kind != TOK_COLON && p->tok.kind != TOK_RBRACK)
        n->c = sl_parse_test(p);
    if (p->tok.kind == TOK_COLON) {
        sl_next(p);
        if (p->tok.kind != TOK_RBRACK)
            n->d = sl_parse_test(p);
    }
    sl_expect(p, TOK_RBRACK);
    return n;
}

static struct sl_node *parse_dot(struct sl_parser *p, struct sl_node *object)
{
    struct sl_node *n = sl_node_new(p, N_DOT, p->tok.pos);

    sl_next(p);
    n->a = object;
    n->v = sl_parse_name(p);
    return n;
}

/* --- primaries --------------------------------------------------------------------- */

static struct sl_node *parse_unary(struct sl_parser *p, enum sl_operator op)
{
    struct sl_node *n = sl_node_new(p, N_UNARY, p->tok.pos);

    n->op = (uint8_t)op;
    sl_next(p);
    n->a = sl_enter(p) ? parse_suffixes(p) : &p->spare;
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
        n = literal(p, p->tok.pos, p->tok.v);
        sl_next(p);
        return n;
    case TOK_LBRACK:
        return parse_list(p);
    case TOK_LBRACE:
        return parse_dict(p);
    case TOK_LPAREN:
        return parse_paren(p);
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
        return literal(p, p->tok.pos, V_NONE);
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
        sl_static_hint(p->s, p->bracket
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

static struct sl_node *parse_suffixes(struct sl_parser *p)
{
    const struct sl_bracket *bracket = p->bracket;
    const char *want = p->want;
    struct sl_node *x = parse_primary(p);

    for (;;) {
        p->bracket = bracket;
        p->want = want;
        switch (p->tok.kind) {
        case TOK_DOT:
            x = parse_dot(p, x);
            break;
        case TOK_LPAREN:
            x = parse_call(p, x);
            break;
        case TOK_LBRACK:
            x = parse_index(p, x);
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

/* At an operator of that level. Those that are none here are passed over. */
static struct sl_node *parse_operation(struct sl_parser *p, struct sl_node *x,
                                       unsigned level)
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
    sl_next(p);
    if (kind == TOK_NOT) {
        if (p->tok.kind != TOK_IN) {
            sl_refuse(p, "in");
            sl_hint_token(p, TOK_EOF);
            sl_stuck(p);
        }
        sl_next(p);
    } else if (kind == TOK_IS && p->tok.kind == TOK_NOT) {
        sl_next(p);
    }
    n->b = sl_enter(p) ? parse_level(p, level + 1) : &p->spare;
    sl_leave(p);
    return n;
}

static const char *operator_name(enum sl_operator op)
{
    return op == OP_IN       ? "in"
           : op == OP_NOT_IN ? "not in"
                             : sl_operator_text(op);
}

static void refuse_chain(struct sl_parser *p, enum sl_operator first)
{
    enum sl_operator second = (enum sl_operator)binary[p->tok.kind].op;
    struct sl_pos pos = sl_after_token(p);

    sl_static_error(p->s, &p->file->source, pos,
                    "%s does not associate with %s (use parens)",
                    operator_name(first), operator_name(second));
    sl_static_hint(p->s, "write \"a < b and b < c\" for \"a < b < c\"");
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
        x = parse_suffixes(p);
    }
    for (;;) {
        unsigned found = binary[p->tok.kind].level;
        if (found == LEVEL_NONE || found < level)
            return x;
        if (found == LEVEL_COMPARE && compared)
            refuse_chain(p, (enum sl_operator)x->op);
        compared = found == LEVEL_COMPARE;
        x = parse_operation(p, x, found);
    }
}

static struct sl_node *parse_lambda(struct sl_parser *p, bool conditional)
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
        n->b = p->tok.kind == TOK_LAMBDA ? parse_lambda(p, false)
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
        n->c = literal(p, n->pos, V_NONE);
        return n;
    }
    sl_next(p);
    n->c = sl_parse_test(p);
    return n;
}

/* name := value */
static void pass_over_walrus(struct sl_parser *p, struct sl_node *x)
{
    sl_refuse(p, p->want);
    sl_static_hint(p->s, "there is no :=, assign in a statement of its own "
                         "before this one");
    if (x->kind == N_NAME)
        sl_unsure_name(p, x->v);
    sl_next(p);
    sl_next(p);
    sl_parse_test(p);
}

struct sl_node *sl_parse_test(struct sl_parser *p)
{
    struct sl_node *x = &p->spare;

    if (!sl_enter(p)) {
        sl_leave(p);
        return x;
    }
    if (p->tok.kind == TOK_LAMBDA) {
        x = parse_lambda(p, true);
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

/* --- parameters ------------------------------------------------------------------------- */

/* What came before among the parameters. */
struct before {
    const struct sl_node *star, *starstar, *optional;
    bool keyword_only;
};

static void refuse_param(struct sl_parser *p, struct sl_pos pos,
                         const char *wrong, const struct sl_node *starstar)
{
    if (p->tok.kind == TOK_STUCK)
        return;
    if (starstar)
        sl_static_error(p->s, &p->file->source, pos, "%s **%.*s", wrong,
                        (int)sl_string(starstar->v)->length,
                        sl_string(starstar->v)->p);
    else
        sl_static_error(p->s, &p->file->source, pos, "%s", wrong);
    sl_static_hint(p->s, "the order is: required, name=default, *args, "
                         "keyword-only ones, **kwargs");
}

static void check_param(struct sl_parser *p, struct before *b,
                        const struct sl_node *n)
{
    const struct sl_node *kwargs = b->starstar;

    if (n->kind == N_PARAM_STARSTAR) {
        if (kwargs)
            refuse_param(p, n->pos, "multiple ** parameters not allowed", NULL);
        b->starstar = n;
    } else if (n->kind == N_PARAM_STAR) {
        if (kwargs)
            refuse_param(p, n->pos, "* parameter may not follow", kwargs);
        else if (b->star)
            refuse_param(p, n->pos, "multiple * parameters not allowed", NULL);
        else
            b->star = n;
    } else if (n->a) {
        if (kwargs)
            refuse_param(p, n->c->pos, "optional parameter may not follow",
                         kwargs);
        else
            b->keyword_only = b->keyword_only || b->star;
        b->optional = n;
    } else if (kwargs) {
        refuse_param(p, n->pos, "required parameter may not follow", kwargs);
    } else if (b->star) {
        b->keyword_only = true;
    } else if (b->optional) {
        refuse_param(p, n->pos, "required parameter may not follow optional",
                     NULL);
    }
}

/* name: type */
static void pass_over_annotation(struct sl_parser *p)
{
    if (!p->annotated) {
        sl_refuse(p, "')'");
        sl_static_hint(p->s, "there are no type annotations: write only the "
                             "names of parameters");
    }
    p->annotated = true;
    sl_next(p);
    sl_parse_test(p);
}

static struct sl_node *parse_param(struct sl_parser *p, bool is_def)
{
    struct sl_node *n = sl_node_new(p, N_PARAM, p->tok.pos);
    enum sl_token_kind kind = p->tok.kind;

    if (kind == TOK_STAR || kind == TOK_STARSTAR) {
        n->kind = kind == TOK_STAR ? N_PARAM_STAR : N_PARAM_STARSTAR;
        sl_next(p);
        if (kind == TOK_STAR && p->tok.kind != TOK_NAME)
            return n;
    }
    n->v = sl_parse_name(p);
    if (is_def && p->tok.kind == TOK_COLON)
        pass_over_annotation(p);
    if (n->kind == N_PARAM && p->tok.kind == TOK_EQ) {
        n->c = sl_node_new(p, N_PASS, p->tok.pos); /* where the "=" is */
        sl_next(p);
        p->want = "','";
        n->a = sl_parse_test(p);
    }
    return n;
}

struct sl_node *sl_parse_params(struct sl_parser *p, bool is_def)
{
    struct sl_chain c = {0};
    struct before b = {0};
    const char *want = p->want;

    while (p->tok.kind != TOK_RPAREN && p->tok.kind != TOK_COLON &&
           p->tok.kind != TOK_EOF && p->tok.kind != TOK_STUCK) {
        if (c.first)
            sl_expect(p, TOK_COMMA);
        if (p->tok.kind == TOK_RPAREN || p->tok.kind == TOK_STUCK)
            break;
        struct sl_node *n = parse_param(p, is_def);
        if (p->tok.kind == TOK_STUCK)
            break;
        check_param(p, &b, n);
        sl_chain_add(&c, n);
    }
    p->want = want;
    if (b.star && !b.star->v && !b.keyword_only)
        refuse_param(p, b.star->pos,
                     "bare * must be followed by keyword-only parameters",
                     NULL);
    return c.first;
}
