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

struct sl_node *sl_literal(struct sl_parser *p, struct sl_pos pos, value v)
{
    struct sl_node *n = sl_node_new(p, N_LITERAL, pos);

    n->v = v;
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

    p->open = 0;
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

/* What follows a colon. */
struct sl_node *sl_parse_suite(struct sl_parser *p)
{
    struct sl_chain c = {0};

    if (p->tok.kind == TOK_NEWLINE) {
        sl_next(p);
        if (p->tok.kind == TOK_INDENT)
            return parse_block(p);
        sl_refuse(p, sl_token_name(TOK_INDENT));
        sl_static_hint(p->s, "the block below a line that ends in : is "
                             "indented; an empty one is written \"pass\"");
        if (p->tok.kind == TOK_DEF || p->tok.kind == TOK_EOF ||
            p->tok.kind == TOK_OUTDENT)
            return NULL;
        if (sl_enter(p))
            parse_statement(p, &c); /* what was meant to be in it */
        sl_leave(p);
        return c.first;
    }
    struct start from = {p->tok.at, p->tok.pos.column, p->tok.kind};
    sl_parse_line(p, &c);
    if (p->tok.kind == TOK_STUCK)
        recover(p, &c, from);
    return c.first;
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
        sl_parse_def(p, out);
        break;
    case TOK_IF:
        sl_parse_if(p, out);
        break;
    case TOK_FOR:
        sl_parse_for(p, out);
        break;
    case TOK_WHILE:
        sl_parse_while(p, out);
        break;
    case TOK_STUCK:
        break;
    default:
        sl_parse_line(p, out);
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
