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

/* --- errors ------------------------------------------------------------------------- */

struct sl_pos sl_after_token(const struct sl_parser *p)
{
    /* The position after a newline would be on the next line, where the error
     * would be overlooked. */
    return p->tok.length == 0 || p->tok.kind == TOK_NEWLINE
               ? p->tok.pos
               : sl_lex_pos(&p->lex);
}

void sl_stuck(struct sl_parser *p)
{
    if (p->tok.kind != TOK_STUCK)
        p->behind = p->tok.kind;
    p->tok.kind = TOK_STUCK;
}

/* Whether to report an error: the lexer has already reported the tokens that it
 * rejects. */
static bool may_refuse(const struct sl_parser *p)
{
    return p->tok.kind != TOK_STUCK && p->tok.kind != TOK_ERROR &&
           !p->lex.stopped;
}

void sl_complain(struct sl_parser *p, struct sl_pos pos, const char *hint,
                 const char *text)
{
    if (p->tok.kind != TOK_STUCK)
        sl_static_error(p->s, pos, hint, "%s", text);
}

bool sl_refuse(struct sl_parser *p, const char *want, const char *hint)
{
    if (!may_refuse(p))
        return false;
    sl_static_error(p->s, sl_after_token(p), hint, "got %s, want %s",
                    sl_token_names[p->tok.kind], want);
    return true;
}

void sl_refuse_primary(struct sl_parser *p)
{
    if (!may_refuse(p))
        return;
    sl_static_error(p->s, p->tok.pos, NULL, "got %s, want primary expression",
                    sl_token_names[p->tok.kind]);
    sl_hint_token(p, TOK_NAME);
}

void sl_expect(struct sl_parser *p, enum sl_token_kind kind)
{
    if (sl_accept(p, kind))
        return;
    if (sl_refuse(p, sl_token_names[kind], NULL))
        sl_hint_token(p, kind);
    sl_stuck(p);
}

struct sl_pos sl_open(struct sl_parser *p, enum sl_token_kind kind)
{
    struct sl_pos pos = p->tok.pos;

    if (p->tok.kind == kind &&
        p->open < sizeof p->brackets / sizeof *p->brackets)
        p->brackets[p->open++] = (struct sl_bracket){pos, *p->tok.at};
    sl_expect(p, kind);
    return pos;
}

bool sl_enter(struct sl_parser *p)
{
    if (++p->depth <= SL_SOURCE_DEPTH)
        return true;
    if (may_refuse(p))
        sl_static_error(p->s, p->tok.pos, NULL,
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

    if (sl_accept(p, TOK_NAME))
        return name;
    if (may_refuse(p)) {
        sl_complain(p, sl_after_token(p), NULL, "not an identifier");
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
    struct sl_unsure *unsure = allocate(p, sizeof *unsure);

    if (unsure) {
        *unsure = (struct sl_unsure){p->file->unsure, name};
        p->file->unsure = unsure;
    }
}

/* Collects all names in skipped tokens. */
static void collect_names(struct sl_parser *p, const char *from)
{
    for (const char *end; from < p->tok.at; from = end + (end == from)) {
        for (end = from;
             end < p->tok.at && (sl_is_name_char(*end) || *end & 0x80);)
            end++;
        if (end == from || sl_is_digit(*from))
            continue;
        value name = sl_intern(p->s, from, (size_t)(end - from));
        if (!name) {
            sl_lex_stop(&p->lex);
            return;
        }
        sl_unsure_name(p, name);
    }
}

/* Whether a keyword at the start of a line begins a statement, inside brackets
 * that were never closed. */
static bool begins_statement(const struct sl_parser *p,
                             const struct sl_token *from)
{
    const char *at = p->lex.line_start;

    if (p->lex.depth == 0 || p->tok.pos.column > from->pos.column ||
        p->tok.at == from->at || p->lex.stopped)
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
        while (at < p->tok.at && *at == ' ')
            at++;
        return p->tok.kind >= TOK_AND && at == p->tok.at;
    }
}

/* Skips to the end of the line. Returns true if it stops earlier, where the
 * next statement seems to begin; that token is not yet read. */
static bool skip_line(struct sl_parser *p, const struct sl_token *from)
{
    bool begins = false;

    sl_static_quiet(p->s, true);
    /* stops at an OUTDENT, which an expression cannot have consumed */
    while (p->tok.kind != TOK_EOF && p->tok.kind != TOK_NEWLINE &&
           !(begins = begins_statement(p, from)) && p->tok.kind != TOK_OUTDENT)
        sl_lex_next(&p->lex, &p->tok);
    sl_static_quiet(p->s, false);
    collect_names(p, from->at);
    if (begins)
        sl_lex_restart_line(&p->lex);
    return begins;
}

/* With `simple`, parses at most one line. */
static void parse_statement(struct sl_parser *p, struct sl_chain *out,
                            bool simple);

/* Parses a block from its INDENT to its OUTDENT. */
static struct sl_node *parse_block(struct sl_parser *p)
{
    struct sl_chain c = {0};

    sl_next(p);
    if (sl_enter(p))
        while (p->tok.kind != TOK_OUTDENT && p->tok.kind != TOK_EOF)
            parse_statement(p, &c, false);
    else
        p->tok.kind = TOK_EOF; /* the lexer has been stopped */
    sl_leave(p);
    sl_accept(p, TOK_OUTDENT);
    return c.first;
}

/* Keeps an indented block as the rest of a statement in error. */
static void copy_block(struct sl_parser *p, struct sl_chain *out, bool is_def)
{
    struct sl_node *n =
        sl_node_new(p, is_def ? N_DEF : N_FOR, (struct sl_pos){0, 0});

    *(is_def ? &n->b : &n->c) = parse_block(p);
    sl_chain_add(out, n);
}

/* Whether a token continues a statement whose first line was in error. */
static bool continues(enum sl_token_kind first, enum sl_token_kind kind)
{
    if (kind == TOK_ELSE)
        return first != TOK_DEF && first != TOK_CLASS;
    return kind == TOK_ELIF ? first == TOK_IF
                            : first == TOK_TRY &&
                                  (kind == TOK_EXCEPT || kind == TOK_FINALLY);
}

/* Recovers from an error in the line that begins at `from`. */
static void recover(struct sl_parser *p, struct sl_chain *out,
                    struct sl_token from)
{
    enum sl_token_kind first = from.kind;

    p->open = 0;
    p->tok.kind = p->behind;
    for (;; from = p->tok) {
        bool restarted = skip_line(p, &from);
        p->lex.depth = 0;
        if (restarted || p->tok.kind == TOK_NEWLINE)
            sl_lex_next(&p->lex, &p->tok);
        if (restarted || p->tok.kind != TOK_INDENT)
            return;
        copy_block(p, out, first == TOK_DEF);
        if (!continues(first, p->tok.kind))
            return;
    }
}

/* --- compound statements ----------------------------------------------------------------- */

/* Parses the colon and the block after it. Returns false if stuck before the
 * block. */
static bool parse_suite(struct sl_parser *p, struct sl_node **body)
{
    struct sl_chain c = {0};

    sl_expect(p, TOK_COLON);
    if (p->tok.kind == TOK_STUCK)
        return false;
    if (!sl_accept(p, TOK_NEWLINE)) {
        parse_statement(p, &c, true);
        *body = c.first;
        return true;
    }
    if (p->tok.kind == TOK_INDENT) {
        *body = parse_block(p);
        return true;
    }
    sl_refuse(p, sl_token_names[TOK_INDENT], HINT_BLOCK);
    if (p->tok.kind == TOK_DEF || p->tok.kind == TOK_EOF ||
        p->tok.kind == TOK_OUTDENT)
        return true;
    if (sl_enter(p))
        parse_statement(p, &c, false); /* the block that was probably
                                        * intended */
    sl_leave(p);
    *body = c.first;
    return true;
}

static void parse_def(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_DEF, p->tok.pos);
    bool annotated = p->annotated; /* saved value of an enclosing def */

    sl_next(p);
    n->c = sl_node_new(p, N_NAME, p->tok.pos);
    n->v = n->c->v = sl_parse_name(p);
    sl_open(p, TOK_LPAREN);
    p->annotated = false;
    n->a = sl_parse_params(p, true);
    sl_expect(p, TOK_RPAREN);
    p->open = 0;
    p->want = sl_token_names[TOK_COLON];
    if (p->tok.kind == TOK_MINUS && *p->lex.p == '>') {
        if (!p->annotated)
            sl_refuse(p, p->want, HINT_RESULT_TYPE);
        sl_next(p);
        sl_next(p);
        sl_parse_test(p);
    }
    p->annotated = annotated;
    if (parse_suite(p, &n->b))
        sl_chain_add(out, n);
}

static void parse_if(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *first = NULL, **place = &first;

    do { /* at the `if` or `elif`, or the "if" of "else if" */
        struct sl_node *branch = sl_node_new(
            p, N_IF,
            first && p->prev.kind == TOK_ELSE ? p->prev.pos : p->tok.pos);
        *place = branch;
        sl_next(p);
        p->want = sl_token_names[TOK_COLON];
        branch->a = sl_parse_test(p);
        if (!parse_suite(p, &branch->b))
            return;
        if (branch == first)
            sl_chain_add(out, first);
        place = &branch->c;
        if (sl_accept(p, TOK_ELSE)) {
            if (p->tok.kind != TOK_IF) {
                parse_suite(p, place);
                return;
            }
            sl_refuse(p, sl_token_names[TOK_COLON], HINT_ELIF);
        }
    } while (p->tok.kind == TOK_ELIF ||
             (p->tok.kind == TOK_IF && p->prev.kind == TOK_ELSE));
}

/* Parses a `for`, or a `while`, whose body is parsed for its errors. */
static void parse_loop(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_FOR, p->tok.pos);
    bool is_for = p->tok.kind == TOK_FOR;

    if (!is_for)
        sl_complain(p, n->pos, HINT_LOOP,
                    "this Starlark dialect does not support while loops");
    sl_next(p);
    if (is_for) {
        p->want = sl_token_names[TOK_IN];
        n->a = sl_parse_targets(p);
        sl_expect(p, TOK_IN);
    }
    p->want = sl_token_names[TOK_COLON];
    n->b = is_for ? sl_parse_expr(p) : sl_parse_test(p);
    if (parse_suite(p, &n->c))
        sl_chain_add(out, n);
}

/* --- simple statements ------------------------------------------------------------------- */

/* Parses "name" or local="name". */
static void parse_load_name(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *to = sl_node_new(p, N_NAME, p->tok.pos);
    struct sl_node *n = sl_node_new(p, N_ASSIGN, to->pos);
    int length = (int)p->tok.length;
    const char *text = p->tok.at;

    if (p->tok.kind == TOK_NAME) {
        to->v = sl_parse_name(p);
        if (p->tok.kind != TOK_EQ) {
            sl_static_error(p->s, sl_after_token(p), NULL,
                            "load operand must be \"%.*s\" or "
                            "%.*s=\"originalname\" (want '=' after %.*s)",
                            length, text, length, text, length, text);
            sl_stuck(p);
            return;
        }
        sl_next(p);
    }
    if (p->tok.kind != TOK_STRING) {
        if (to->v)
            sl_static_error(p->s, sl_after_token(p), NULL,
                            "original name of loaded symbol must be quoted: "
                            "%.*s=\"originalname\"",
                            length, text);
        else
            sl_static_error(p->s, sl_after_token(p), NULL,
                            "load operand must be \"name\" or "
                            "localname=\"name\" (got %s)",
                            sl_token_names[p->tok.kind]);
        sl_stuck(p);
        return;
    }
    n->a = to;
    n->b = sl_node_new(p, N_LITERAL, p->tok.pos);
    n->b->pos.column++; /* position inside the quotes */
    n->b->v = p->tok.v;
    if (!to->v) {
        const struct sl_string *name = sl_string(p->tok.v);
        to->v = sl_intern(p->s, name->p, name->length);
        to->pos = n->pos = n->b->pos;
    }
    sl_next(p);
    sl_chain_add(out, n);
}

static void parse_load(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *n = sl_node_new(p, N_LOAD, p->tok.pos);
    struct sl_chain c = {0};

    sl_next(p);
    struct sl_pos pos = sl_open(p, TOK_LPAREN);
    n->v = p->tok.v;
    if (p->tok.kind != TOK_STRING) {
        sl_complain(p, sl_after_token(p), NULL,
                    "first operand of load statement must be a string literal");
        sl_stuck(p);
    }
    sl_next(p);
    while (!sl_ends(p, TOK_RPAREN)) {
        sl_expect(p, TOK_COMMA);
        if (p->tok.kind != TOK_RPAREN && p->tok.kind != TOK_STUCK)
            parse_load_name(p, &c);
    }
    sl_expect(p, TOK_RPAREN);
    p->open = 0;
    if (p->tok.kind == TOK_STUCK)
        return;
    if (!c.first)
        sl_complain(p, pos, NULL,
                    "load statement must import at least 1 symbol");
    n->a = c.first;
    sl_chain_add(out, n);
}

static void assign(struct sl_parser *p, struct sl_chain *out, struct sl_pos pos,
                   struct sl_node *target, struct sl_node *from)
{
    struct sl_node *n = sl_node_new(p, N_ASSIGN, pos);

    n->a = target;
    n->b = from;
    sl_chain_add(out, n);
}

/* Parses from the "=" after the target on. a = b = c is parsed and its rest
 * skipped. */
static void parse_assignment(struct sl_parser *p, struct sl_chain *out,
                             struct sl_node *target)
{
    struct sl_pos pos = p->tok.pos;

    sl_next(p);
    struct sl_node *from = sl_parse_expr(p);
    while (p->tok.kind == TOK_EQ) {
        bool arrow = *p->lex.p == '>';
        sl_refuse(p, p->want, arrow ? HINT_LAMBDA : HINT_ASSIGNMENTS);
        if (arrow) {
            sl_stuck(p);
            return;
        }
        sl_next(p);
        assign(p, out, pos, target, sl_node_new(p, N_LITERAL, pos));
        target = from;
        from = sl_parse_expr(p);
    }
    if (p->tok.kind != TOK_STUCK)
        assign(p, out, pos, target, from);
}

static void parse_expression(struct sl_parser *p, struct sl_chain *out)
{
    struct sl_node *x = sl_parse_expr(p), *n;

    if (p->tok.kind == TOK_COLON &&
        (x->kind == N_NAME || x->kind == N_DOT || x->kind == N_INDEX)) {
        if (*p->lex.p == '\n' || *p->lex.p == '\r' || p->lex.p == p->lex.end) {
            sl_refuse(p, p->want, HINT_BLOCK_WORDS);
            sl_next(p);
            sl_stuck(p);
            return;
        }
        sl_refuse(p, p->want, HINT_TYPE);
        sl_next(p);
        sl_parse_test(p);
        if (p->tok.kind != TOK_EQ) {
            if (x->kind == N_NAME && p->tok.kind != TOK_STUCK)
                sl_unsure_name(p, x->v);
            return;
        }
    }
    if (p->tok.kind == TOK_EQ) {
        parse_assignment(p, out, x);
        return;
    }
    if (p->tok.kind >= TOK_PLUS_EQ && p->tok.kind <= TOK_GTGT_EQ) {
        n = sl_node_new(p, N_AUGMENT, p->tok.pos);
        n->op = (uint8_t)(p->tok.kind - TOK_PLUS_EQ + OP_ADD);
        sl_next(p);
        n->b = sl_parse_expr(p);
    } else {
        n = sl_node_new(p, N_EXPR, sl_node_start(x));
        if (x->kind == N_NAME && p->prev.kind == TOK_NAME &&
            p->tok.kind != TOK_NEWLINE && p->tok.kind != TOK_SEMI &&
            p->tok.kind != TOK_EOF) {
            const char *hint = sl_word_hint(p->prev.at, p->prev.length);
            if (sl_refuse(p, p->want, hint) && !hint)
                sl_hint_token(p, TOK_NEWLINE);
            sl_stuck(p);
        }
    }
    n->a = x;
    if (p->tok.kind != TOK_STUCK)
        sl_chain_add(out, n);
}

static void parse_small(struct sl_parser *p, struct sl_chain *out)
{
    static const uint8_t words[TOK_COUNT] = {
        [TOK_BREAK] = N_BREAK,
        [TOK_CONTINUE] = N_CONTINUE,
        [TOK_PASS] = N_PASS,
        [TOK_RETURN] = N_RETURN,
    };
    enum sl_node_kind kind = words[p->tok.kind];

    if (p->tok.kind == TOK_LOAD) {
        parse_load(p, out);
    } else if (!kind) {
        parse_expression(p, out);
    } else {
        struct sl_node *n = sl_node_new(p, kind, p->tok.pos);
        sl_next(p);
        if (kind == N_RETURN && p->tok.kind != TOK_NEWLINE &&
            p->tok.kind != TOK_SEMI && p->tok.kind != TOK_EOF)
            n->a = sl_parse_expr(p);
        sl_chain_add(out, n);
    }
}

/* Parses simple statements up to the end of the line. */
static void parse_line(struct sl_parser *p, struct sl_chain *out)
{
    do {
        p->want = sl_token_names[TOK_NEWLINE];
        parse_small(p, out);
    } while (sl_accept(p, TOK_SEMI) && !sl_ends(p, TOK_NEWLINE));
    if (p->tok.kind != TOK_EOF)
        sl_expect(p, TOK_NEWLINE);
}

/* --- a source ---------------------------------------------------------------------------- */

static void parse_statement(struct sl_parser *p, struct sl_chain *out,
                            bool simple)
{
    struct sl_token from = p->tok;

    if (p->tok.kind == TOK_ASYNC && !simple) {
        sl_refuse_primary(p);
        sl_next(p);
        if (p->tok.kind != TOK_DEF)
            sl_stuck(p);
    }
    switch (simple ? TOK_ERROR : p->tok.kind) {
    case TOK_NEWLINE:
    case TOK_OUTDENT: /* at the top level, after an error */
        sl_next(p);
        break;
    case TOK_INDENT:
        sl_refuse_primary(p);
        copy_block(p, out, false);
        break;
    case TOK_DEF:
        parse_def(p, out);
        break;
    case TOK_IF:
        parse_if(p, out);
        break;
    case TOK_FOR:
    case TOK_WHILE:
        parse_loop(p, out);
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

    sl_static_begin(s, &file->source);
    file->fn.name = sl_intern(s, "<toplevel>", 10);
    file->fn.pos = (struct sl_pos){1, 1};
    if (!file->fn.name || !sl_lex_open(&p.lex, s, a, &file->source))
        return false;
    sl_next(&p);
    while (p.tok.kind != TOK_EOF)
        parse_statement(&p, &c, false);
    file->body = c.first;
    if (!sl_has_static_errors(s))
        return !p.lex.stopped;
    /* Also report unknown names in the rest of the file. */
    if (!p.lex.stopped)
        sl_resolve(s, a, file);
    return false;
}
