#include "parse.h"

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
    if (p->tok.pos.line > p->prev.line)
        sl_stuck(p); /* it is the bracket that is missing */
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
        n->c = sl_node_new(p, N_PASS, p->tok.pos); /* where the name is */
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
