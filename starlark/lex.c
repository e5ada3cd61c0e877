#include "lex.h"

#include <stdio.h>

#include "text.h"

#define CHARGE_BYTES 1024
#define CHARGE_STEPS 64 /* for as many bytes, through all of the front */

const char *sl_token_name(enum sl_token_kind kind)
{
    static const char *const names[] = {
#define T(name, text) text,
        SL_TOKENS(T)
#undef T
    };

    return names[kind];
}

/* --- opening ----------------------------------------------------------------- */

/* The first byte that is no text, or `end`. */
static const char *find_bad_byte(const char *p, const char *end)
{
    while (p < end) {
        while (end - p >= 8) {
            uint64_t w;
            memcpy(&w, p, sizeof w);
            /* a byte of 0x80 and more, or a NUL */
            if ((w | (w - 0x0101010101010101u)) & 0x8080808080808080u)
                break;
            p += 8;
        }
        unsigned width = 1;
        if ((unsigned char)*p >= 0x80) {
            if (sl_rune(p, (size_t)(end - p), &width) == SL_RUNE_INVALID &&
                width == 1)
                return p;
        } else if (*p == '\0') {
            return p;
        }
        p += width;
    }
    return end;
}

static struct sl_pos place_of(const char *text, const char *at)
{
    struct sl_pos pos = {1, 1};

    for (const char *p = text; p < at; p++) {
        if (*p == '\n' || (*p == '\r' && p[1] != '\n'))
            pos = (struct sl_pos){pos.line + 1, 1};
        else if (((unsigned char)*p & 0xc0) != 0x80 && *p != '\r')
            pos.column++;
    }
    return pos;
}

bool sl_lex_open(struct sl_lexer *l, struct star *s, struct sl_arena *a,
                 const struct sl_source *source)
{
    size_t n = source->length;

    *l = (struct sl_lexer){.s = s, .arena = a, .source = source};
    char *text = sl_arena_alloc(s, a, n + 2);
    if (!text)
        return false;
    /* So that looking one byte back and one ahead is always allowed. */
    *text++ = '\n';
    if (n > 0)
        memcpy(text, source->text, n);
    text[n] = '\0';

    const char *bad = find_bad_byte(text, text + n);
    if (bad < text + n) {
        sl_static_error(s, source, place_of(text, bad),
                        *bad ? "invalid UTF-8: byte \\x%02x"
                             : "NUL byte in the source",
                        (unsigned char)*bad);
        return false;
    }
    l->p = l->charged = l->line_start = text;
    l->end = text + n;
    l->line = 1;
    l->at_line_start = true;
    return true;
}

void sl_lex_restart_line(struct sl_lexer *l)
{
    l->p = l->line_start;
    l->wide = 0;
    l->depth = 0;
    l->dents = 0;
    l->at_line_start = true;
}

/* --- space --------------------------------------------------------------------- */

void sl_lex_stop(struct sl_lexer *l)
{
    l->stopped = true;
    l->p = l->end;
    l->indents = 0;
    l->dents = 0;
    l->at_line_start = false;
}

static void next_line(struct sl_lexer *l)
{
    l->p += l->p[0] == '\r' && l->p[1] == '\n' ? 2 : 1;
    l->line++;
    l->line_start = l->p;
    l->wide = 0;
}

static void skip_comment(struct sl_lexer *l)
{
    const char *p = l->p;

    while (*p != '\n' && *p != '\r' && p < l->end)
        l->wide += ((unsigned char)*p++ & 0xc0) == 0x80;
    l->p = p;
}

static void refuse_tab(struct sl_lexer *l)
{
    if (l->said_tab)
        return;
    l->said_tab = true;
    sl_static_error(l->s, l->source, (struct sl_pos){l->line, 1},
                    "tab in indentation");
    sl_static_hint(l->s, "indent with spaces, four for each level");
}

static void set_indentation(struct sl_lexer *l, uint32_t columns)
{
    if (columns == l->odd_columns && l->indents == l->odd_level)
        return;
    if (columns > l->indent[l->indents]) {
        if (l->indents == SL_SOURCE_DEPTH) {
            sl_static_error(l->s, l->source, sl_lex_pos(l),
                            "blocks are nested more than %d deep",
                            SL_SOURCE_DEPTH);
            sl_lex_stop(l);
            return;
        }
        l->indent[++l->indents] = columns;
        l->dents = 1;
        return;
    }
    while (columns < l->indent[l->indents]) {
        l->indents--;
        l->dents--;
    }
    if (columns != l->indent[l->indents]) {
        sl_static_error(l->s, l->source, sl_lex_pos(l),
                        "unindent does not match any outer indentation level");
        sl_static_hint(l->s,
                       "this line begins at column %u; the block around it "
                       "begins at column %u",
                       columns + 1, l->indent[l->indents] + 1);
        l->odd_columns = columns;
        l->odd_level = l->indents;
    }
}

/* At the start of a line. False: it has nothing but space or a comment. */
static bool read_indentation(struct sl_lexer *l)
{
    uint32_t columns = 0;
    bool tab = false;

    l->at_line_start = false;
    for (;; l->p++) {
        if (*l->p == ' ')
            columns++;
        else if (*l->p == '\t') {
            columns += SL_TAB_COLUMNS - columns % SL_TAB_COLUMNS;
            tab = true;
        } else
            break;
    }
    if (*l->p == '#')
        skip_comment(l);
    if (*l->p == '\n' || *l->p == '\r' || l->p == l->end)
        return false;
    if (l->depth == 0) {
        if (tab)
            refuse_tab(l);
        set_indentation(l, columns);
    }
    return true;
}

/* --- tokens ------------------------------------------------------------------------- */

static void end_token(struct sl_lexer *l, struct sl_token *t,
                      enum sl_token_kind kind)
{
    t->kind = kind;
    t->length = (uint32_t)(l->p - t->at);
}

#define WORD(text, token)                                                      \
    if (memcmp(p, text, sizeof text - 1) == 0)                                 \
        return token;                                                          \
    break

/* clang-format off */
static enum sl_token_kind keyword(const char *p, size_t length)
{
    switch (length << 8 | (unsigned char)p[0]) {
    case 2 << 8 | 'a': WORD("as", TOK_AS);
    case 2 << 8 | 'i':
        if (p[1] == 'f') return TOK_IF;
        if (p[1] == 'n') return TOK_IN;
        if (p[1] == 's') return TOK_IS;
        break;
    case 2 << 8 | 'o': WORD("or", TOK_OR);
    case 3 << 8 | 'a': WORD("and", TOK_AND);
    case 3 << 8 | 'd':
        if (p[1] != 'e') break;
        if (p[2] == 'f') return TOK_DEF;
        if (p[2] == 'l') return TOK_DEL;
        break;
    case 3 << 8 | 'f': WORD("for", TOK_FOR);
    case 3 << 8 | 'n': WORD("not", TOK_NOT);
    case 3 << 8 | 't': WORD("try", TOK_TRY);
    case 4 << 8 | 'e':
        if (memcmp(p, "else", 4) == 0) return TOK_ELSE;
        WORD("elif", TOK_ELIF);
    case 4 << 8 | 'f': WORD("from", TOK_FROM);
    case 4 << 8 | 'l': WORD("load", TOK_LOAD);
    case 4 << 8 | 'p': WORD("pass", TOK_PASS);
    case 4 << 8 | 'w': WORD("with", TOK_WITH);
    case 5 << 8 | 'a':
        if (memcmp(p, "async", 5) == 0) return TOK_ASYNC;
        WORD("await", TOK_AWAIT);
    case 5 << 8 | 'b': WORD("break", TOK_BREAK);
    case 5 << 8 | 'c': WORD("class", TOK_CLASS);
    case 5 << 8 | 'r': WORD("raise", TOK_RAISE);
    case 5 << 8 | 'w': WORD("while", TOK_WHILE);
    case 5 << 8 | 'y': WORD("yield", TOK_YIELD);
    case 6 << 8 | 'a': WORD("assert", TOK_ASSERT);
    case 6 << 8 | 'e': WORD("except", TOK_EXCEPT);
    case 6 << 8 | 'g': WORD("global", TOK_GLOBAL);
    case 6 << 8 | 'i': WORD("import", TOK_IMPORT);
    case 6 << 8 | 'l': WORD("lambda", TOK_LAMBDA);
    case 6 << 8 | 'r': WORD("return", TOK_RETURN);
    case 7 << 8 | 'f': WORD("finally", TOK_FINALLY);
    case 8 << 8 | 'c': WORD("continue", TOK_CONTINUE);
    case 8 << 8 | 'n': WORD("nonlocal", TOK_NONLOCAL);
    default: break;
    }
    return TOK_NAME;
}
/* clang-format on */
#undef WORD

static void skip_name(struct sl_lexer *l)
{
    for (;;) {
        while (sl_is_name_char(*l->p))
            l->p++;
        unsigned width;
        if ((unsigned char)*l->p < 0x80 ||
            !sl_rune_is_letter(sl_rune(l->p, (size_t)(l->end - l->p), &width)))
            return;
        l->p += width;
        l->wide += width - 1;
    }
}

static void lex_name(struct sl_lexer *l, struct sl_token *t)
{
    const char *p = t->at;
    size_t length;

    skip_name(l);
    length = (size_t)(l->p - p);
    if ((*l->p == '"' || *l->p == '\'') && length <= 2) {
        bool r = p[0] == 'r', b = p[0] == 'b';
        if (length == 2) {
            r = r || p[1] == 'r';
            b = b || p[1] == 'b';
        }
        if (length == (size_t)r + b) {
            sl_lex_string(l, t, r, b);
            return;
        }
    }
    enum sl_token_kind kind = TOK_NAME;
    if (length <= 8)
        kind = keyword(p, length);
    if (kind == TOK_NAME) {
        t->v = sl_intern(l->s, p, length);
        if (!t->v)
            sl_lex_stop(l);
    }
    end_token(l, t, kind);
}

static void refuse_character(struct sl_lexer *l, struct sl_token *t)
{
    unsigned width;
    uint32_t c = sl_rune(l->p, (size_t)(l->end - l->p), &width);
    char shown[16];

    if (sl_rune_is_print(c))
        snprintf(shown, sizeof shown, "%.*s", (int)width, l->p);
    else if (c < 0x80)
        snprintf(shown, sizeof shown, "\\x%02x", c);
    else
        snprintf(shown, sizeof shown, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    sl_static_error(l->s, l->source, t->pos, "unexpected input character '%s'",
                    shown);
    if (c == '!')
        sl_static_hint(l->s, "write \"not x\" for \"!x\"");
    else if (c == '@')
        sl_static_hint(l->s, "there are no decorators: write f = decorate(f) "
                             "below the function, or call it where needed");
    else if (c == '?')
        sl_static_hint(l->s, "write \"a if condition else b\" for "
                             "\"condition ? a : b\"");
    else if (c == '$' || c == '`')
        sl_static_hint(l->s, "put values into a text with "
                             "\"{}\".format(x) or \"%%s\" %% x");
    else if (c == 0x201c || c == 0x201d || c == 0x2018 || c == 0x2019)
        sl_static_hint(l->s, "texts are quoted with straight quotes: \" or '");
    else if (c == 0xfeff)
        sl_static_hint(l->s, "this is a byte order mark: save the file as "
                             "UTF-8 without one");
    else if (c > 0x7f && sl_rune_is_space(c))
        sl_static_hint(l->s, "write a plain space");
    l->p += width;
    l->wide += width - 1;
    end_token(l, t, TOK_ERROR);
}

static void lex_bracket(struct sl_lexer *l, struct sl_token *t, char c)
{
    enum sl_token_kind kind = TOK_LPAREN;

    /* clang-format off */
    switch (c) {
    case '[': kind = TOK_LBRACK; break;
    case '{': kind = TOK_LBRACE; break;
    case ')': kind = TOK_RPAREN; break;
    case ']': kind = TOK_RBRACK; break;
    case '}': kind = TOK_RBRACE; break;
    default: break;
    }
    /* clang-format on */
    if (c == '(' || c == '[' || c == '{') {
        l->depth++;
    } else if (l->depth > 0) {
        l->depth--;
    } else {
        sl_static_error(l->s, l->source, t->pos, "unexpected '%c'", c);
        sl_static_hint(l->s, "no bracket is open here");
        kind = TOK_ERROR;
    }
    l->p++;
    end_token(l, t, kind);
}

/* One character, or two of the same, each perhaps before a "=". */
struct punctuation {
    uint8_t one, one_eq, two, two_eq;
};

static void lex_punctuation(struct sl_lexer *l, struct sl_token *t, char c)
{
    /* clang-format off */
    static const struct punctuation table[128] = {
        ['+'] = {TOK_PLUS, TOK_PLUS_EQ, 0, 0},
        ['-'] = {TOK_MINUS, TOK_MINUS_EQ, 0, 0},
        ['*'] = {TOK_STAR, TOK_STAR_EQ, TOK_STARSTAR, 0},
        ['/'] = {TOK_SLASH, TOK_SLASH_EQ, TOK_SLASHSLASH, TOK_SLASHSLASH_EQ},
        ['%'] = {TOK_PERCENT, TOK_PERCENT_EQ, 0, 0},
        ['&'] = {TOK_AMP, TOK_AMP_EQ, 0, 0},
        ['|'] = {TOK_PIPE, TOK_PIPE_EQ, 0, 0},
        ['^'] = {TOK_CIRCUMFLEX, TOK_CIRCUMFLEX_EQ, 0, 0},
        ['<'] = {TOK_LT, TOK_LE, TOK_LTLT, TOK_LTLT_EQ},
        ['>'] = {TOK_GT, TOK_GE, TOK_GTGT, TOK_GTGT_EQ},
        ['='] = {TOK_EQ, TOK_EQL, 0, 0},
        ['!'] = {0, TOK_NEQ, 0, 0},
        ['~'] = {TOK_TILDE, 0, 0, 0},
        [','] = {TOK_COMMA, 0, 0, 0},
        [';'] = {TOK_SEMI, 0, 0, 0},
        [':'] = {TOK_COLON, 0, 0, 0},
        ['.'] = {TOK_DOT, 0, 0, 0},
    };
    /* clang-format on */
    struct punctuation x = {0};

    if ((unsigned char)c < 0x80)
        x = table[(unsigned char)c];
    if (x.two && l->p[1] == c) {
        bool eq = x.two_eq && l->p[2] == '=';
        l->p += eq ? 3 : 2;
        end_token(l, t, eq ? x.two_eq : x.two);
    } else if (x.one_eq && l->p[1] == '=') {
        l->p += 2;
        end_token(l, t, x.one_eq);
    } else if (x.one) {
        l->p++;
        end_token(l, t, x.one);
    } else {
        refuse_character(l, t);
    }
}

/* The end of the text: first what is still open is closed. */
static void lex_end(struct sl_lexer *l, struct sl_token *t, bool after_newline)
{
    if (l->indents > 0 && after_newline) {
        l->dents = 1 - (int32_t)l->indents;
        l->indents = 0;
        end_token(l, t, TOK_OUTDENT);
    } else if (l->indents > 0) {
        l->at_line_start = true;
        end_token(l, t, TOK_NEWLINE);
    } else {
        end_token(l, t, TOK_EOF);
    }
}

static bool charge(struct sl_lexer *l)
{
    size_t pieces = (size_t)(l->p - l->charged) / CHARGE_BYTES + 1;

    l->charged += pieces * CHARGE_BYTES;
    if (sl_charge(l->s, pieces * CHARGE_STEPS))
        return true;
    sl_lex_stop(l);
    return false;
}

/* Behind a backslash outside of texts. */
static bool continue_line(struct sl_lexer *l, struct sl_token *t)
{
    l->p++;
    if (*l->p == '\n' || *l->p == '\r') {
        next_line(l);
        return true;
    }
    sl_static_error(l->s, l->source, sl_lex_pos(l),
                    "stray backslash in program");
    sl_static_hint(l->s, "a backslash outside of texts only goes at the very "
                         "end of a line, to continue it");
    end_token(l, t, TOK_ERROR);
    return false;
}

void sl_lex_next(struct sl_lexer *l, struct sl_token *t)
{
    if (l->p >= l->charged)
        charge(l);
    for (;;) {
        bool after_newline = l->at_line_start, blank = false;
        if (l->at_line_start)
            blank = !read_indentation(l);
        while (*l->p == ' ' || *l->p == '\t')
            l->p++;
        if (*l->p == '#')
            skip_comment(l);

        t->at = l->p;
        t->pos = sl_lex_pos(l);
        t->length = 0;
        t->v = 0;
        if (l->dents != 0) {
            t->kind = l->dents > 0 ? TOK_INDENT : TOK_OUTDENT;
            l->dents += l->dents > 0 ? -1 : 1;
            return;
        }
        char c = *l->p;
        if (sl_is_digit(c) || (c == '.' && sl_is_digit(l->p[1]))) {
            sl_lex_number(l, t);
        } else if (sl_is_name_char(c)) {
            lex_name(l, t);
        } else if (c == '"' || c == '\'') {
            sl_lex_string(l, t, false, false);
        } else if (c == '\n' || c == '\r') {
            next_line(l);
            l->at_line_start = true;
            if (l->depth > 0 || blank)
                continue;
            end_token(l, t, TOK_NEWLINE);
        } else if (l->p == l->end) {
            lex_end(l, t, after_newline);
        } else if (c == '\\') {
            if (continue_line(l, t))
                continue;
        } else if (c == '(' || c == '[' || c == '{' || c == ')' || c == ']' ||
                   c == '}') {
            lex_bracket(l, t, c);
        } else if ((unsigned char)c >= 0x80) {
            unsigned width;
            if (sl_rune_is_letter(
                    sl_rune(l->p, (size_t)(l->end - l->p), &width)))
                lex_name(l, t);
            else
                refuse_character(l, t);
        } else {
            lex_punctuation(l, t, c);
        }
        return;
    }
}
