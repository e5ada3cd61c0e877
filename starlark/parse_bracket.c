#include "parse.h"

/* --- commas ---------------------------------------------------------------------- */

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
    struct sl_node *x = sl_parse_suffixes(p);
    struct sl_chain c = {0};

    if (p->tok.kind != TOK_COMMA)
        return x;
    sl_chain_add(&c, x);
    while (p->tok.kind == TOK_COMMA) {
        sl_next(p);
        if (ends_list(p->tok.kind))
            break;
        sl_chain_add(&c, sl_parse_suffixes(p));
    }
    struct sl_node *tuple = sl_node_new(p, N_TUPLE, sl_node_start(x));
    tuple->a = c.first;
    return tuple;
}

/* --- brackets -------------------------------------------------------------------- */

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
            clause->b = sl_parse_operand(p);
        } else if (p->tok.kind == TOK_IF) {
            sl_next(p);
            clause->kind = N_CLAUSE_IF;
            clause->a = p->tok.kind == TOK_LAMBDA ? sl_parse_lambda(p, false)
                                                  : sl_parse_operand(p);
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

struct sl_node *sl_parse_list(struct sl_parser *p)
{
    struct sl_pos pos = sl_bracket_open(p, '[');
    struct sl_node *n = sl_node_new(p, N_LIST, pos);
    struct sl_chain c = {0};

    p->want = "']'";
    sl_next(p);
    if (p->tok.kind != TOK_RBRACK) {
        struct sl_node *x = sl_parse_test(p);
        if (p->tok.kind == TOK_FOR)
            n = parse_clauses(p, x, pos, TOK_RBRACK);
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
    n->b = sl_literal(p, p->tok.pos, V_NONE);
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

struct sl_node *sl_parse_dict(struct sl_parser *p)
{
    struct sl_pos pos = sl_bracket_open(p, '{');
    struct sl_node *n = sl_node_new(p, N_DICT, pos);
    struct sl_chain c = {0};
    bool said = false;

    sl_next(p);
    if (p->tok.kind != TOK_RBRACE) {
        struct sl_node *x = parse_entry(p, &said);
        if (p->tok.kind == TOK_FOR)
            n = parse_clauses(p, x, pos, TOK_RBRACE);
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

struct sl_node *sl_parse_paren(struct sl_parser *p)
{
    struct sl_pos pos = sl_bracket_open(p, '(');
    struct sl_node *x;

    p->want = "')'";
    sl_next(p);
    if (p->tok.kind == TOK_RPAREN) {
        sl_next(p);
        return sl_node_new(p, N_TUPLE, pos);
    }
    x = sl_parse_expr(p, true);
    if (p->tok.kind == TOK_FOR && x->kind != N_TUPLE)
        x = parse_generator(p, x, pos);
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

struct sl_node *sl_parse_call(struct sl_parser *p, struct sl_node *function)
{
    struct sl_pos pos = sl_bracket_open(p, '(');
    struct sl_node *n = sl_node_new(p, N_CALL, pos);
    struct sl_chain c = {0};
    struct order order = {0};

    sl_next(p);
    n->a = function;
    while (p->tok.kind != TOK_RPAREN && p->tok.kind != TOK_EOF &&
           p->tok.kind != TOK_STUCK) {
        p->want = "','";
        if (c.first)
            sl_expect(p, TOK_COMMA);
        if (p->tok.kind == TOK_RPAREN)
            break;
        struct sl_pos at = p->tok.pos;
        struct sl_node *x = parse_argument(p, !c.first);
        check_order(p, &order, x->kind, at);
        sl_chain_add(&c, x);
    }
    sl_expect(p, TOK_RPAREN);
    n->b = c.first;
    return n;
}

struct sl_node *sl_parse_index(struct sl_parser *p, struct sl_node *object)
{
    struct sl_pos pos = sl_bracket_open(p, '[');
    struct sl_node *n = sl_node_new(p, N_INDEX, pos);

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
