#include "parse.h"

/* clang-format off */
enum {
    LEVEL_NONE, LEVEL_OR, LEVEL_AND, LEVEL_NOT,
    LEVEL_COMPARE, /* not associative */
    LEVEL_PIPE, LEVEL_CIRCUMFLEX, LEVEL_AMP, LEVEL_SHIFT, LEVEL_ADD, LEVEL_MUL,
    LEVEL_POWER /* reports an error of its own */
};

static const struct {
    uint8_t level, op;
} binary[TOK_COUNT] = {
    [TOK_OR] = {LEVEL_OR, 0},             [TOK_AND] = {LEVEL_AND, 0},
    [TOK_NOT] = {LEVEL_COMPARE, OP_NOT_IN}, [TOK_IN] = {LEVEL_COMPARE, OP_IN},
    [TOK_IS] = {LEVEL_COMPARE, OP_EQ},    [TOK_EQL] = {LEVEL_COMPARE, OP_EQ},
    [TOK_NEQ] = {LEVEL_COMPARE, OP_NE},   [TOK_LT] = {LEVEL_COMPARE, OP_LT},
    [TOK_GT] = {LEVEL_COMPARE, OP_GT},    [TOK_LE] = {LEVEL_COMPARE, OP_LE},
    [TOK_GE] = {LEVEL_COMPARE, OP_GE},    [TOK_PIPE] = {LEVEL_PIPE, OP_OR},
    [TOK_CIRCUMFLEX] = {LEVEL_CIRCUMFLEX, OP_XOR}, [TOK_AMP] = {LEVEL_AMP, OP_AND},
    [TOK_LTLT] = {LEVEL_SHIFT, OP_SHL},   [TOK_GTGT] = {LEVEL_SHIFT, OP_SHR},
    [TOK_PLUS] = {LEVEL_ADD, OP_ADD},     [TOK_MINUS] = {LEVEL_ADD, OP_SUB},
    [TOK_STAR] = {LEVEL_MUL, OP_MUL},     [TOK_SLASH] = {LEVEL_MUL, OP_DIV},
    [TOK_SLASHSLASH] = {LEVEL_MUL, OP_FLOORDIV}, [TOK_PERCENT] = {LEVEL_MUL, OP_MOD},
    [TOK_STARSTAR] = {LEVEL_POWER, OP_MUL},
};
/* clang-format on */

static struct sl_node *parse_level(struct sl_parser *p, unsigned level);
static struct sl_node *parse_suffixes(struct sl_parser *p);
static struct sl_node *parse_lambda(struct sl_parser *p, bool conditional);

struct sl_pos sl_node_start(const struct sl_node *n)
{
    while ((n->kind >= N_BINARY && n->kind <= N_COND) || n->kind == N_CALL ||
           (n->kind >= N_DOT && n->kind <= N_SLICE))
        n = n->kind == N_COND ? n->b : n->a;
    return n->pos;
}

/* Returns a node with one operand, at the current token. */
static struct sl_node *node_of(struct sl_parser *p, enum sl_node_kind kind,
                               struct sl_node *a)
{
    struct sl_node *n = sl_node_new(p, kind, p->tok.pos);

    n->a = a;
    return n;
}

/* --- order ------------------------------------------------------------------------- */

/* Kinds of arguments and parameters; parameters are required, optional or
 * keyword-only. */
enum order { FIRST, NAMED, STAR, STARSTAR, LATE };

struct rule {
    uint8_t kind, after;
    const char *wrong;
};

static const struct rule argument_rules[] = {
    {STARSTAR, STARSTAR, "multiple **kwargs not allowed"},
    {STAR, STARSTAR, "*args may not follow **kwargs"},
    {STAR, STAR, "multiple *args not allowed"},
    {NAMED, STARSTAR, "keyword argument may not follow **kwargs"},
    {NAMED, STAR, "keyword argument may not follow *args"},
    {FIRST, STAR, "positional argument may not follow *args"},
    {FIRST, STARSTAR, "positional argument may not follow **kwargs"},
    {FIRST, NAMED, "positional argument may not follow named"},
    {0, 0, NULL},
};

/* After "**" the name of that parameter must follow. */
static const struct rule param_rules[] = {
    {STARSTAR, STARSTAR, "multiple ** parameters not allowed"},
    {STAR, STARSTAR, "* parameter may not follow **"},
    {STAR, STAR, "multiple * parameters not allowed"},
    {NAMED, STARSTAR, "optional parameter may not follow **"},
    {LATE, STARSTAR, "required parameter may not follow **"},
    {FIRST, STARSTAR, "required parameter may not follow **"},
    {FIRST, NAMED, "required parameter may not follow optional"},
    {0, 0, NULL},
};

/* `seen` has the kinds of the arguments before. */
static bool check_order(struct sl_parser *p, const struct rule *rule,
                        unsigned seen, enum order kind, struct sl_pos pos,
                        const struct sl_node *starstar)
{
    if (seen <= 1u << FIRST)
        return true;
    while (rule->wrong && (rule->kind != kind || !(seen >> rule->after & 1)))
        rule++;
    if (!rule->wrong)
        return true;
    if (p->tok.kind == TOK_STUCK)
        return false;
    const struct sl_string *name = NULL;
    if (starstar && rule->wrong[strlen(rule->wrong) - 1] == '*')
        name = sl_string(starstar->v);
    sl_static_error(p->s, pos, NULL, "%s%.*s", rule->wrong,
                    name ? (int)name->length : 0, name ? name->p : "");
    sl_static_hint(p->s, starstar ? HINT_PARAMS : HINT_ARGUMENTS);
    return false;
}

/* --- commas ---------------------------------------------------------------------- */

static bool ends_list(enum sl_token_kind kind)
{
    return kind == TOK_STUCK || kind == TOK_EOF || kind == TOK_NEWLINE ||
           kind == TOK_EQ || kind == TOK_SEMI ||
           (kind >= TOK_RPAREN && kind <= TOK_RBRACE);
}

/* Parses one item or a tuple. With `inside`, a trailing comma is allowed. */
static struct sl_node *parse_commas(struct sl_parser *p,
                                    struct sl_node *(*item)(struct sl_parser *),
                                    bool inside)
{
    struct sl_node *x = item(p);
    struct sl_chain c = {0};

    if (p->tok.kind != TOK_COMMA)
        return x;
    sl_chain_add(&c, x);
    struct sl_node *tuple = sl_node_new(p, N_TUPLE, sl_node_start(x));
    while (p->tok.kind == TOK_COMMA) {
        struct sl_pos comma = p->tok.pos;
        sl_next(p);
        if (!ends_list(p->tok.kind)) {
            sl_chain_add(&c, item(p));
            continue;
        }
        if (!inside)
            sl_complain(p, comma, HINT_TUPLE,
                        "unparenthesized tuple with trailing comma");
        break;
    }
    tuple->a = c.first;
    return tuple;
}

struct sl_node *sl_parse_expr(struct sl_parser *p)
{
    return parse_commas(p, sl_parse_test, false);
}

struct sl_node *sl_parse_targets(struct sl_parser *p)
{
    return parse_commas(p, parse_suffixes, true);
}

/* --- brackets -------------------------------------------------------------------- */

static struct sl_node *parse_deeper(struct sl_parser *p, unsigned level)
{
    struct sl_node *x = sl_enter(p) ? parse_level(p, level) : &p->spare;

    sl_leave(p);
    return x;
}

/* Parses the clauses after `body`, from the first `for` to the closing
 * bracket. */
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
        if (sl_accept(p, TOK_FOR)) {
            clause->a = sl_parse_targets(p);
            sl_expect(p, TOK_IN);
            clause->b = parse_deeper(p, LEVEL_OR);
        } else if (sl_accept(p, TOK_IF)) {
            clause->kind = N_CLAUSE_IF;
            clause->a = p->tok.kind == TOK_LAMBDA ? parse_lambda(p, false)
                                                  : parse_deeper(p, LEVEL_OR);
        } else {
            sl_refuse(p, p->want, NULL);
            sl_stuck(p);
            break;
        }
        sl_chain_add(&c, clause);
    }
    n->a = body;
    n->b = c.first;
    n->flags = body->kind == N_ENTRY ? COMP_DICT : 0;
    return n;
}

static struct sl_node *parse_list(struct sl_parser *p)
{
    struct sl_pos pos = sl_open(p, TOK_LBRACK);
    struct sl_node *n = sl_node_new(p, N_LIST, pos);

    p->want = "']'";
    if (p->tok.kind != TOK_RBRACK) {
        n->a = parse_commas(p, sl_parse_test, true);
        if (n->a->kind == N_TUPLE && !(n->a->flags & NODE_PARENTHESIZED))
            n->a = n->a->a;
        else if (p->tok.kind == TOK_FOR)
            n = parse_clauses(p, n->a, pos, TOK_RBRACK);
    }
    sl_expect(p, TOK_RBRACK);
    return n;
}

/* `said` tells that the error "not a dict" was already reported. */
static struct sl_node *parse_entry(struct sl_parser *p, bool *said)
{
    p->want = "':'";
    if (p->tok.kind == TOK_STARSTAR) {
        sl_refuse_primary(p);
        sl_next(p);
        *said = true;
    }
    struct sl_node *key = sl_parse_test(p);
    struct sl_node *n = node_of(p, N_ENTRY, key);
    enum sl_token_kind kind = p->tok.kind;
    if (kind != TOK_COMMA && kind != TOK_RBRACE && kind != TOK_FOR) {
        sl_expect(p, TOK_COLON);
        p->want = "'}'";
        n->b = sl_parse_test(p);
        return n;
    }
    if (!*said)
        sl_refuse(p, "':'", kind == TOK_FOR ? HINT_SET_OF : HINT_SET);
    *said = true;
    n->b = sl_node_new(p, N_LITERAL, p->tok.pos);
    return n;
}

static struct sl_node *parse_dict(struct sl_parser *p)
{
    struct sl_pos pos = sl_open(p, TOK_LBRACE);
    struct sl_node *n = sl_node_new(p, N_DICT, pos), *x;
    struct sl_chain c = {0};
    bool said = false, more = true;

    while (more && p->tok.kind != TOK_RBRACE) {
        x = parse_entry(p, &said);
        if (!c.first && p->tok.kind == TOK_FOR)
            n = parse_clauses(p, x, pos, TOK_RBRACE);
        sl_chain_add(&c, x);
        more = sl_accept(p, TOK_COMMA);
    }
    p->want = "'}'";
    sl_expect(p, TOK_RBRACE);
    if (n->kind == N_DICT)
        n->a = c.first;
    return n;
}

/* Parses from a `for` after the first item on: a generator expression in other
 * languages. */
static struct sl_node *parse_generator(struct sl_parser *p, struct sl_node *x,
                                       struct sl_pos pos)
{
    sl_refuse(p, p->want, HINT_GENERATOR);
    return parse_clauses(p, x, pos, TOK_RPAREN);
}

static struct sl_node *parse_paren(struct sl_parser *p)
{
    struct sl_pos pos = sl_open(p, TOK_LPAREN);
    struct sl_node *x;

    p->want = "')'";
    if (p->tok.kind == TOK_RPAREN) {
        x = sl_node_new(p, N_TUPLE, pos);
    } else {
        x = parse_commas(p, sl_parse_test, true);
        if (p->tok.kind == TOK_FOR && x->kind != N_TUPLE)
            x = parse_generator(p, x, pos);
    }
    sl_expect(p, TOK_RPAREN);
    x->flags |= NODE_PARENTHESIZED;
    return x;
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
        sl_complain(p, sl_after_token(p), HINT_COMPARE,
                    "keyword argument must have form name=expr");
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
    struct sl_node *n = node_of(p, N_CALL, function);
    struct sl_chain c = {0};
    unsigned seen = 0;

    sl_open(p, TOK_LPAREN);
    while (!sl_ends(p, TOK_RPAREN)) {
        p->want = "','";
        if (c.first)
            sl_expect(p, TOK_COMMA);
        if (p->tok.kind == TOK_RPAREN)
            break;
        struct sl_pos at = p->tok.pos;
        struct sl_node *x = parse_argument(p, !c.first);
        enum order kind = x->kind == N_ARG_NAMED      ? NAMED
                          : x->kind == N_ARG_STAR     ? STAR
                          : x->kind == N_ARG_STARSTAR ? STARSTAR
                                                      : FIRST;
        check_order(p, argument_rules, seen, kind, at, NULL);
        seen |= 1u << kind;
        sl_chain_add(&c, x);
    }
    sl_expect(p, TOK_RPAREN);
    n->b = c.first;
    return n;
}

static struct sl_node *parse_index(struct sl_parser *p, struct sl_node *object)
{
    struct sl_node *n = node_of(p, N_INDEX, object);

    sl_open(p, TOK_LBRACK);
    p->want = "']'";
    if (p->tok.kind != TOK_COLON)
        n->b = sl_parse_expr(p);
    if (sl_accept(p, TOK_COLON)) {
        n->kind = N_SLICE;
        if (p->tok.kind != TOK_COLON && p->tok.kind != TOK_RBRACK)
            n->c = sl_parse_test(p);
        if (sl_accept(p, TOK_COLON) && p->tok.kind != TOK_RBRACK)
            n->d = sl_parse_test(p);
    }
    sl_expect(p, TOK_RBRACK);
    return n;
}

/* --- primaries --------------------------------------------------------------------- */

static struct sl_node *parse_unary(struct sl_parser *p, enum sl_operator op)
{
    struct sl_node *n = node_of(p, N_UNARY, &p->spare);

    n->op = (uint8_t)op;
    sl_next(p);
    if (sl_enter(p))
        n->a = op == OP_NOT ? parse_level(p, LEVEL_NOT) : parse_suffixes(p);
    sl_leave(p);
    return n;
}

static struct sl_node *parse_primary(struct sl_parser *p)
{
    struct sl_node *n;

    switch (p->tok.kind) {
    case TOK_NAME:
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_BYTES:
        n = node_of(p, p->tok.kind == TOK_NAME ? N_NAME : N_LITERAL, NULL);
        n->v = p->tok.v;
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
        /* *x in a list or tuple is parsed and reported */
        if (p->tok.kind == TOK_STAR && p->prev.kind != TOK_STAR) {
            sl_next(p);
            if (p->tok.kind == TOK_NAME || p->tok.kind == TOK_LBRACK)
                return parse_primary(p);
        }
        sl_stuck(p);
        return node_of(p, N_LITERAL, NULL);
    }
}

static bool is_text(const struct sl_token *t)
{
    return t->kind == TOK_STRING || t->kind == TOK_BYTES;
}

/* Handles two adjacent operands that other languages allow: "a" "b", f"{x}",
 * 1_000. Reports the first and skips the rest. */
static bool pass_over_neighbours(struct sl_parser *p, struct sl_node *x)
{
    bool touches = p->prev.at + p->prev.length == p->tok.at;
    bool text = is_text(&p->tok);

    if (text && touches && x->kind == N_NAME && p->prev.kind == TOK_NAME &&
        sl_prefix_hint(p->prev.at, p->prev.length)) {
        sl_refuse(p, p->want, sl_prefix_hint(p->prev.at, p->prev.length));
        x->kind = N_LITERAL;
        x->v = p->tok.v;
    } else if (text && x->kind == N_LITERAL && is_text(&p->prev)) {
        sl_refuse(p, p->want, p->open > 0 ? HINT_TEXTS_INSIDE : HINT_TEXTS);
    } else if (p->tok.kind == TOK_NAME && touches &&
               (p->prev.kind == TOK_INT || p->prev.kind == TOK_FLOAT)) {
        sl_refuse(p, p->want, HINT_DIGITS);
    } else {
        return false;
    }
    sl_next(p);
    while (text &&
           (is_text(&p->tok) || (p->tok.kind == TOK_NAME &&
                                 sl_prefix_hint(p->tok.at, p->tok.length) &&
                                 (*p->lex.p == '"' || *p->lex.p == '\''))))
        sl_next(p);
    return true;
}

/* Parses a primary with its suffixes: .name, (...), [...] */
static struct sl_node *parse_suffixes(struct sl_parser *p)
{
    unsigned open = p->open;
    const char *want = p->want;
    struct sl_node *x = parse_primary(p);

    for (;;) {
        p->open = open;
        p->want = want;
        switch (p->tok.kind) {
        case TOK_DOT:
            x = node_of(p, N_DOT, x);
            sl_next(p);
            x->v = sl_parse_name(p);
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

static const char *operator_name(unsigned op)
{
    return op == OP_IN       ? "in"
           : op == OP_NOT_IN ? "not in"
                             : sl_operator_text((enum sl_operator)op);
}

/* Parses an operator of that level applied to `x`. Operators that Starlark
 * lacks are reported and skipped. `chained`: x is a comparison, and so is
 * this. */
static struct sl_node *parse_operation(struct sl_parser *p, struct sl_node *x,
                                       unsigned level, bool chained)
{
    enum sl_token_kind kind = p->tok.kind;
    struct sl_node *n = node_of(p,
                                kind == TOK_OR    ? N_OR
                                : kind == TOK_AND ? N_AND
                                                  : N_BINARY,
                                x);

    n->op = binary[kind].op;
    if (kind == TOK_NOT) {
        sl_next(p);
        n->pos = p->tok.pos; /* in `not in`, the `in` has the position of the
                              * failure */
    }
    if (kind == TOK_NOT ? p->tok.kind != TOK_IN
                        : kind == TOK_IS || kind == TOK_STARSTAR) {
        if (sl_refuse(p, kind == TOK_NOT ? "in" : p->want, NULL))
            sl_hint_token(p, TOK_EOF);
        if (kind == TOK_NOT)
            sl_stuck(p);
    }
    if (chained && p->tok.kind != TOK_STUCK) {
        sl_static_error(p->s, sl_after_token(p), HINT_COMPARE_CHAIN,
                        "%s does not associate with %s (use parens)",
                        operator_name(x->op), operator_name(n->op));
    }
    sl_next(p);
    if (kind == TOK_IS)
        sl_accept(p, TOK_NOT);
    n->b = parse_deeper(p, level + 1);
    return n;
}

static struct sl_node *parse_level(struct sl_parser *p, unsigned level)
{
    struct sl_node *x = p->tok.kind == TOK_NOT && level <= LEVEL_NOT
                            ? parse_unary(p, OP_NOT)
                            : parse_suffixes(p);
    bool compared = false;

    for (;;) {
        unsigned found = binary[p->tok.kind].level;
        if (found == LEVEL_NONE || found < level)
            return x;
        x = parse_operation(p, x, found, compared && found == LEVEL_COMPARE);
        compared = found == LEVEL_COMPARE;
    }
}

/* `conditional`: its expression may be a conditional one. */
static struct sl_node *parse_lambda(struct sl_parser *p, bool conditional)
{
    struct sl_node *n = node_of(p, N_LAMBDA, NULL);

    sl_next(p);
    if (p->tok.kind != TOK_COLON)
        n->a = sl_parse_params(p, false);
    sl_expect(p, TOK_COLON);
    n->b = &p->spare;
    if (sl_enter(p))
        n->b = conditional                 ? sl_parse_test(p)
               : p->tok.kind == TOK_LAMBDA ? parse_lambda(p, false)
                                           : parse_level(p, LEVEL_OR);
    sl_leave(p);
    return n;
}

/* Parses from the `if` after the value on. */
static struct sl_node *parse_condition(struct sl_parser *p, struct sl_node *x)
{
    struct sl_node *n = sl_node_new(p, N_COND, p->tok.pos);

    sl_next(p);
    n->b = x;
    n->a = parse_level(p, LEVEL_OR);
    if (p->tok.kind != TOK_ELSE && p->tok.kind != TOK_STUCK) {
        sl_complain(p, n->pos, HINT_CONDITION,
                    "conditional expression without else clause");
        n->c = sl_node_new(p, N_LITERAL, n->pos);
        return n;
    }
    sl_next(p);
    n->c = sl_parse_test(p);
    return n;
}

/* Reports and skips name := value. */
static void pass_over_walrus(struct sl_parser *p, struct sl_node *x)
{
    bool in_header = p->want[1] == ':';

    if (!in_header)
        sl_refuse(p, p->want, HINT_WALRUS);
    sl_next(p);
    if (in_header)
        sl_complain(p, p->tok.pos, HINT_WALRUS,
                    "got '=', want primary expression");
    if (x->kind == N_NAME)
        sl_unsure_name(p, x->v);
    sl_next(p);
    sl_parse_test(p);
}

struct sl_node *sl_parse_test(struct sl_parser *p)
{
    struct sl_node *x = &p->spare;

    if (sl_enter(p)) {
        bool lambda = p->tok.kind == TOK_LAMBDA;
        x = lambda ? parse_lambda(p, true) : parse_level(p, LEVEL_OR);
        if (p->tok.kind == TOK_IF && !lambda)
            x = parse_condition(p, x);
        if (p->tok.kind == TOK_COLON && *p->lex.p == '=')
            pass_over_walrus(p, x);
    }
    sl_leave(p);
    return x;
}

/* --- parameters ---------------------------------------------------------------------- */

/* Reports and skips name: type. */
static void pass_over_annotation(struct sl_parser *p)
{
    if (!p->annotated)
        sl_refuse(p, "')'", HINT_PARAM_TYPE);
    p->annotated = true;
    sl_next(p);
    if (p->tok.pos.line > p->prev.pos.line)
        sl_stuck(p); /* the closing bracket is missing */
    else
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
    if (kind != TOK_NAME)
        n->c = sl_node_new(p, N_PASS, p->tok.pos); /* position of the name */
    n->v = sl_parse_name(p);
    if (is_def && p->tok.kind == TOK_COLON)
        pass_over_annotation(p);
    if (n->kind == N_PARAM && p->tok.kind == TOK_EQ) {
        n->c = sl_node_new(p, N_PASS, p->tok.pos); /* position of the "=" */
        sl_next(p);
        p->want = "','";
        n->a = sl_parse_test(p);
    }
    return n;
}

struct sl_node *sl_parse_params(struct sl_parser *p, bool is_def)
{
    const struct sl_node *star = NULL, *starstar = NULL;
    struct sl_chain c = {0};
    unsigned seen = 0;
    const char *want = p->want;

    while (!sl_ends(p, TOK_RPAREN) && p->tok.kind != TOK_COLON) {
        if (c.first)
            sl_expect(p, TOK_COMMA);
        if (p->tok.kind == TOK_RPAREN || p->tok.kind == TOK_STUCK)
            break;
        struct sl_node *n = parse_param(p, is_def);
        if (p->tok.kind == TOK_STUCK)
            break;
        enum order kind = n->kind == N_PARAM_STARSTAR ? STARSTAR
                          : n->kind == N_PARAM_STAR   ? STAR
                          : n->a                      ? NAMED
                          : star                      ? LATE
                                                      : FIRST;
        bool right = check_order(p, param_rules, seen, kind,
                                 kind == NAMED ? n->c->pos : n->pos,
                                 starstar ? starstar : n);
        if (kind == STARSTAR)
            starstar = n;
        else if (kind == STAR && right)
            star = n;
        else if (right && star)
            seen |= 1u << LATE;
        if (kind != LATE)
            seen |= 1u << kind;
        sl_chain_add(&c, n);
    }
    p->want = want;
    if (star && !star->v && !(seen >> LATE & 1))
        sl_complain(p, star->pos, HINT_PARAMS,
                    "bare * must be followed by keyword-only parameters");
    return c.first;
}
