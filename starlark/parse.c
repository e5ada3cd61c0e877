#include "parse.h"

/* --- nodes ------------------------------------------------------------------------ */

static void *allocate(struct sl_parser *p, size_t size)
{
    void *memory = sl_arena_alloc(p->s, p->arena, size);

    if (memory)
        memset(memory, 0, size);
    else
        sl_lex_stop(&p->lex);
    return memory;
}

struct sl_node *sl_node_new(struct sl_parser *p, enum sl_node_kind kind,
                            struct sl_pos pos)
{
    struct sl_node *n = allocate(p, sizeof *n);

    if (!n) {
        n = &p->spare;
        memset(n, 0, sizeof *n);
    }
    n->kind = (uint8_t)kind;
    n->pos = pos;
    return n;
}

struct sl_function_info *sl_function_info_new(struct sl_parser *p,
                                              struct sl_pos pos, value name)
{
    struct sl_function_info *fn = allocate(p, sizeof *fn);

    if (fn) {
        fn->pos = pos;
        fn->name = name;
    }
    return fn;
}

/* --- errors ------------------------------------------------------------------------- */

struct sl_pos sl_after_token(const struct sl_parser *p)
{
    /* Behind a newline would be the next line, where nobody looks. */
    return p->tok.length == 0 || p->tok.kind == TOK_NEWLINE
               ? p->tok.pos
               : sl_lex_pos(&p->lex);
}

void sl_stuck(struct sl_parser *p)
{
    if (p->tok.kind == TOK_STUCK)
        return;
    p->behind = p->tok.kind;
    p->tok.kind = TOK_STUCK;
}

/* Whether there is something to say: the lexer has said what it refuses. */
static bool may_refuse(struct sl_parser *p)
{
    return p->tok.kind != TOK_STUCK && p->tok.kind != TOK_ERROR &&
           !p->lex.stopped;
}

void sl_refuse(struct sl_parser *p, const char *want)
{
    if (!may_refuse(p)) {
        sl_static_skip(p->s); /* with the hint that follows */
        return;
    }
    sl_static_error(p->s, &p->file->source, sl_after_token(p),
                    "got %s, want %s", sl_token_name(p->tok.kind), want);
}

void sl_refuse_primary(struct sl_parser *p)
{
    if (!may_refuse(p))
        return;
    sl_static_error(p->s, &p->file->source, p->tok.pos,
                    "got %s, want primary expression",
                    sl_token_name(p->tok.kind));
    sl_hint_token(p, TOK_NAME);
}

void sl_expect(struct sl_parser *p, enum sl_token_kind kind)
{
    if (p->tok.kind == kind) {
        sl_next(p);
        return;
    }
    sl_refuse(p, sl_token_name(kind));
    sl_hint_token(p, kind);
    sl_stuck(p);
}

bool sl_enter(struct sl_parser *p)
{
    if (++p->depth <= SL_SOURCE_DEPTH)
        return true;
    if (may_refuse(p))
        sl_static_error(p->s, &p->file->source, p->tok.pos,
                        "brackets, blocks and operators are nested more than "
                        "%d deep",
                        SL_SOURCE_DEPTH);
    sl_lex_stop(&p->lex);
    sl_stuck(p);
    return false;
}

value sl_parse_name(struct sl_parser *p)
{
    value name = p->tok.v;

    if (p->tok.kind == TOK_NAME) {
        sl_next(p);
        return name;
    }
    if (may_refuse(p)) {
        sl_static_error(p->s, &p->file->source, sl_after_token(p),
                        "not an identifier");
        if (p->tok.kind >= TOK_AND)
            sl_hint_reserved(p);
        else
            sl_hint_token(p, TOK_EOF);
    }
    sl_stuck(p);
    return p->s->empty_string;
}

/* --- going on behind an error ----------------------------------------------------------- */

void sl_unsure_name(struct sl_parser *p, value name)
{
    struct sl_file *f = p->file;

    if (f->unsure_count == p->unsure_capacity) {
        uint32_t capacity = p->unsure_capacity ? 2 * p->unsure_capacity : 32;
        value *names = allocate(p, capacity * sizeof *names);
        if (!names)
            return;
        if (f->unsure_count)
            memcpy(names, f->unsure, f->unsure_count * sizeof *names);
        f->unsure = names;
        p->unsure_capacity = capacity;
    }
    f->unsure[f->unsure_count++] = name;
}

/* All that looks like a name in what is passed over. */
static void collect_names(struct sl_parser *p, const char *from, const char *to)
{
    while (from < to) {
        const char *end = from;
        while (end < to && (sl_is_name_char(*end) || *end & 0x80))
            end++;
        if (end > from && !sl_is_digit(*from)) {
            value name = sl_intern(p->s, from, (size_t)(end - from));
            if (!name) {
                sl_lex_stop(&p->lex);
                return;
            }
            sl_unsure_name(p, name);
        }
        from = end + (end == from);
    }
}

/* Where a statement begins, for what is looked for behind an error. */
struct start {
    const char *at;
    uint32_t column;
    enum sl_token_kind kind;
};

/* A word that begins a line and only ever begins a statement, within brackets
 * that were never closed. */
static bool begins_statement(const struct sl_parser *p,
                             const struct start *from)
{
    const char *at = p->lex.line_start;

    if (p->lex.depth == 0 || p->tok.pos.column > from->column ||
        p->tok.at == from->at || p->tok.kind < TOK_AND || p->lex.stopped)
        return false;
    switch (p->tok.kind) {
    case TOK_AND:
    case TOK_OR:
    case TOK_NOT:
    case TOK_IN:
    case TOK_LAMBDA:
    case TOK_IS:
    case TOK_AS:
        return false;
    default:
        break;
    }
    while (at < p->tok.at && *at == ' ')
        at++;
    return at == p->tok.at;
}

/* To the end of the line, or to where the next statement seems to begin: then
 * true, and the token is not yet read. */
static bool skip_line(struct sl_parser *p, const struct start *from)
{
    while (p->tok.kind != TOK_EOF && p->tok.kind != TOK_NEWLINE) {
        if (begins_statement(p, from)) {
            collect_names(p, from->at, p->tok.at);
            sl_lex_restart_line(&p->lex);
            return true;
        }
        if (p->tok.kind == TOK_OUTDENT)
            break; /* an expression cannot have read it */
        sl_lex_next(&p->lex, &p->tok);
    }
    collect_names(p, from->at, p->tok.at);
    return false;
}

static struct sl_node *parse_block(struct sl_parser *p);

/* An indented block, which is what is left of a statement. */
static void keep_block(struct sl_parser *p, struct sl_chain *out, bool is_def)
{
    struct sl_node *n =
        sl_node_new(p, is_def ? N_DEF : N_FOR, (struct sl_pos){0, 0});
    struct sl_node *body = parse_block(p);

    if (is_def) {
        n->fn = sl_function_info_new(p, n->pos, p->s->empty_string);
        n->b = body;
    } else {
        n->c = body;
    }
    sl_chain_add(out, n);
}

/* What goes on a statement whose first line was in error. */
static bool continues(enum sl_token_kind first, enum sl_token_kind kind)
{
    if (kind == TOK_ELSE)
        return first != TOK_DEF && first != TOK_CLASS;
    return kind == TOK_ELIF ? first == TOK_IF
                            : first == TOK_TRY &&
                                  (kind == TOK_EXCEPT || kind == TOK_FINALLY);
}

/* After an error in the line that begins at `from`. */
static void recover(struct sl_parser *p, struct sl_chain *out,
                    struct start from)
{
    enum sl_token_kind first = from.kind;

    p->bracket = NULL;
    p->tok.kind = p->behind;
    for (;;) {
        bool quiet = sl_static_quiet(p->s, true);
        bool restarted = skip_line(p, &from);
        sl_static_quiet(p->s, quiet);
        p->lex.depth = 0;
        if (restarted || p->tok.kind == TOK_NEWLINE)
            sl_lex_next(&p->lex, &p->tok);
        if (restarted || p->tok.kind != TOK_INDENT)
            return;
        keep_block(p, out, first == TOK_DEF);
        if (!continues(first, p->tok.kind))
            return;
        from = (struct start){p->tok.at, p->tok.pos.column, p->tok.kind};
    }
}

/* --- blocks --------------------------------------------------------------------------- */

static void parse_statement(struct sl_parser *p, struct sl_chain *out);

/* From its INDENT to its OUTDENT. */
static struct sl_node *parse_block(struct sl_parser *p)
{
    struct sl_chain c = {0};

    sl_next(p);
    if (sl_enter(p))
        while (p->tok.kind != TOK_OUTDENT && p->tok.kind != TOK_EOF)
            parse_statement(p, &c);
    else
        p->tok.kind = TOK_EOF; /* the lexer was stopped */
    sl_leave(p);
    if (p->tok.kind == TOK_OUTDENT)
        sl_next(p);
    return c.first;
}

static void parse_line(struct sl_parser *p, struct sl_chain *out);

/* What follows a colon. */
static struct sl_node *parse_suite(struct sl_parser *p)
{
    struct sl_chain c = {0};

    if (p->tok.kind == TOK_NEWLINE) {
        sl_next(p);
        if (p->tok.kind == TOK_INDENT)
            return parse_block(p);
        sl_refuse(p, sl_token_name(TOK_INDENT));
        sl_static_hint(p->s, "the block below a line that ends in : is "
                             "indented; an empty one is written \"pass\"");
        if (p->tok.kind != TOK_DEF && p->tok.kind != TOK_EOF &&
            p->tok.kind != TOK_OUTDENT)
            parse_statement(p, &c); /* what was meant to be in it */
        return c.first;
    }
    struct start from = {p->tok.at, p->tok.pos.column, p->tok.kind};
    parse_line(p, &c);
    if (p->tok.kind == TOK_STUCK)
        recover(p, &c, from);
    return c.first;
}

/* --- compound statements ----------------------------------------------------------------- */

static bool is_arrow(const struct sl_parser *p)
{
    return p->tok.kind == TOK_MINUS && *p->lex.p == '>';
}

static void parse_def(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_DEF, p->tok.pos);

    sl_next(p);
    n->c = sl_node_new(p, N_NAME, p->tok.pos);
    n->v = n->c->v = sl_parse_name(p);
    n->fn = sl_function_info_new(p, n->pos, n->v);
    struct sl_bracket b = sl_bracket_open(p, '(');
    sl_expect(p, TOK_LPAREN);
    p->bracket = &b;
    bool annotated = p->annotated;
    p->annotated = false;
    n->a = sl_parse_params(p, true);
    sl_expect(p, TOK_RPAREN);
    p->bracket = NULL;
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
    n->b = parse_suite(p);
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
    n->b = parse_suite(p);
    return true;
}

static void parse_if(struct sl_parser *p, struct sl_chain *out)
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
                    last->c = parse_suite(p);
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

static void parse_for(struct sl_parser *p, struct sl_chain *out)
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
    n->c = parse_suite(p);
    sl_chain_add(out, n);
}

/* Understood, so that what is in it is looked at. */
static void parse_while(struct sl_parser *p, struct sl_chain *out)
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
    n->c = parse_suite(p);
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
    struct sl_bracket b = sl_bracket_open(p, '(');
    sl_expect(p, TOK_LPAREN);
    p->bracket = &b;
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
    p->bracket = NULL;
    if (p->tok.kind == TOK_STUCK)
        return;
    if (!c.first)
        sl_static_error(p->s, &p->file->source, b.pos,
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
static void parse_line(struct sl_parser *p, struct sl_chain *out)
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

/* --- a source ---------------------------------------------------------------------------- */

static void parse_statement(struct sl_parser *p, struct sl_chain *out)
{
    struct start from = {p->tok.at, p->tok.pos.column, p->tok.kind};

    if (p->tok.kind == TOK_ASYNC) {
        sl_refuse_primary(p);
        sl_next(p);
        if (p->tok.kind != TOK_DEF)
            sl_stuck(p);
    }
    switch (p->tok.kind) {
    case TOK_NEWLINE:
    case TOK_OUTDENT: /* at the top, behind an error */
        sl_next(p);
        break;
    case TOK_INDENT:
        sl_refuse_primary(p);
        keep_block(p, out, false);
        break;
    case TOK_DEF:
        parse_def(p, out);
        break;
    case TOK_IF:
        parse_if(p, out);
        break;
    case TOK_FOR:
        parse_for(p, out);
        break;
    case TOK_WHILE:
        parse_while(p, out);
        break;
    case TOK_STUCK:
        break;
    default:
        parse_line(p, out);
    }
    if (p->tok.kind == TOK_STUCK)
        recover(p, out, from);
}

bool sl_parse(struct star *s, struct sl_arena *a, struct sl_file *file)
{
    struct sl_parser p = {.s = s, .arena = a, .file = file};
    struct sl_chain c = {0};

    file->fn.name = sl_intern(s, "<toplevel>", 10);
    file->fn.pos = (struct sl_pos){1, 1};
    if (!file->fn.name || !sl_lex_open(&p.lex, s, a, &file->source))
        return false;
    sl_next(&p);
    while (p.tok.kind != TOK_EOF)
        parse_statement(&p, &c);
    file->body = c.first;
    if (!sl_has_static_errors(s))
        return !p.lex.stopped;
    /* What names the rest refers to is worth saying, too. */
    if (!p.lex.stopped)
        sl_resolve(s, a, file);
    return false;
}
