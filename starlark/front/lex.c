#include "lex.h"

#include <stdio.h>

#include "../core/text.h"

#define TAB_COLUMNS  8
#define CHARGE_BYTES 1024
#define CHARGE_STEPS 64 /* bytes per step, for the whole front end */

const char *const sl_token_names[] = {
#define T(name, text) text,
    SL_TOKENS(T)
#undef T
};

/* --- opening ----------------------------------------------------------------- */

/* Returns the first byte that is not valid text, or `end`. */
static const char *find_bad_byte(const char *p, const char *end)
{
    unsigned width;

    for (; p < end; p += width) {
        width = 1;
        if ((signed char)*p > 0)
            continue;
        if (!*p || (sl_rune(p, (size_t)(end - p), &width) == SL_RUNE_INVALID &&
                    width == 1))
            return p;
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
    char *text = sl_arena_alloc(s, a, n + 3);

    if (!text)
        return false;
    *text++ = '\n'; /* padding: the lexer may look two bytes back from any
                     * token */
    *text++ = '\n';
    if (n > 0)
        memcpy(text, source->text, n);
    text[n] = '\0';

    const char *bad = find_bad_byte(text, text + n);
    if (bad < text + n) {
        sl_static_error(s, place_of(text, bad), NULL,
                        *bad ? "invalid UTF-8: byte \\x%02x"
                             : "NUL byte in the source",
                        (unsigned char)*bad);
        return false;
    }
    *l = (struct sl_lexer){
        .s = s,
        .arena = a,
        .p = text,
        .end = text + n,
        .charged = text,
        .line_start = text,
        .line = 1,
        .at_line_start = true,
    };
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

void sl_lex_stop(struct sl_lexer *l)
{
    l->stopped = true;
    l->p = l->end;
    l->indents = 0;
    l->dents = 0;
    l->at_line_start = false;
}

/* --- space --------------------------------------------------------------------- */

void sl_lex_next_line(struct sl_lexer *l)
{
    l->p += l->p[0] == '\r' && l->p[1] == '\n' ? 2 : 1;
    l->line++;
    l->line_start = l->p;
    l->wide = 0;
}

static bool at_line_end(const struct sl_lexer *l)
{
    return *l->p == '\n' || *l->p == '\r';
}

static void skip_comment(struct sl_lexer *l)
{
    for (; !at_line_end(l) && l->p < l->end; l->p++)
        l->wide += ((unsigned char)*l->p & 0xc0) == 0x80;
}

static void set_indentation(struct sl_lexer *l, uint32_t columns)
{
    if (columns == l->odd_columns && l->indents == l->odd_level)
        return;
    if (columns > l->indent[l->indents]) {
        if (l->indents == SL_SOURCE_DEPTH) {
            sl_static_error(l->s, sl_lex_pos(l), NULL,
                            "blocks are nested more than %d deep",
                            SL_SOURCE_DEPTH);
            sl_lex_stop(l);
            return;
        }
        l->indent[++l->indents] = columns;
        l->dents = 1;
        return;
    }
    for (; columns < l->indent[l->indents]; l->indents--)
        l->dents--;
    if (columns != l->indent[l->indents]) {
        sl_static_error(l->s, sl_lex_pos(l), NULL,
                        "unindent does not match any outer indentation level");
        sl_static_hint(l->s,
                       "this line begins at column %u; the block around it "
                       "begins at column %u",
                       columns + 1, l->indent[l->indents] + 1);
        l->odd_columns = columns;
        l->odd_level = l->indents;
    }
}

/* Reads the indentation at the start of a line. Returns false for a line that
 * is blank or a comment. */
static bool read_indentation(struct sl_lexer *l)
{
    const char *p = l->p;

    l->at_line_start = false;
    while (*p == ' ')
        p++;
    uint32_t columns = (uint32_t)(p - l->p);
    bool tab = *p == '\t';
    for (; *p == ' ' || *p == '\t'; p++)
        columns += *p == ' ' ? 1 : TAB_COLUMNS - columns % TAB_COLUMNS;
    l->p = p;
    if (*l->p == '#')
        skip_comment(l);
    if (at_line_end(l) || l->p == l->end)
        return false;
    if (l->depth > 0)
        return true;
    if (tab && !l->said_tab) {
        l->said_tab = true;
        sl_static_error(l->s, (struct sl_pos){l->line, 1}, HINT_TABS,
                        "tab in indentation");
    }
    set_indentation(l, columns);
    return true;
}

/* --- tokens ------------------------------------------------------------------------- */

static enum sl_token_kind keyword(const char *p, size_t length)
{
    /* clang-format off */
    static const uint8_t first[32] = { /* index of the first keyword for each
                                        * letter */
        0, TOK_AND, TOK_BREAK, TOK_CLASS, TOK_DEF, TOK_ELIF, TOK_FINALLY,
        TOK_GLOBAL, 0, TOK_IF, 0, 0, TOK_LAMBDA, 0, TOK_NONLOCAL, TOK_OR,
        TOK_PASS, 0, TOK_RAISE, 0, TOK_TRY, 0, 0, TOK_WHILE, 0, TOK_YIELD,
    };
    /* clang-format on */
    unsigned kind = length > 1 ? first[*p & 31] : 0;

    for (; kind && kind < TOK_COUNT && *sl_token_names[kind] == *p; kind++)
        if (sl_token_names[kind][1] == p[1] &&
            strncmp(sl_token_names[kind], p, length) == 0 &&
            !sl_token_names[kind][length])
            return kind;
    return TOK_NAME;
}

static bool at_letter(const struct sl_lexer *l, unsigned *width)
{
    return (unsigned char)*l->p >= 0x80 &&
           sl_rune_class(sl_rune(l->p, (size_t)(l->end - l->p), width)) &
               RUNE_LETTER;
}

static void lex_name(struct sl_lexer *l, struct sl_token *t)
{
    const char *p = l->p;
    unsigned width;

    for (;; l->p += width, l->wide += width - 1) {
        while (sl_is_name_char(*l->p))
            l->p++;
        if (!at_letter(l, &width))
            break;
    }
    size_t length = (size_t)(l->p - p);
    if ((*l->p == '"' || *l->p == '\'') && length <= 2) {
        bool raw = memchr(p, 'r', length), bytes = memchr(p, 'b', length);
        if (length == (size_t)raw + bytes) {
            sl_lex_string(l, t, raw, bytes);
            return;
        }
    }
    t->kind = keyword(p, length);
    if (t->kind == TOK_NAME && !(t->v = sl_intern(l->s, p, length)))
        sl_lex_stop(l);
}

static bool begins_statement(const struct sl_lexer *l)
{
    const char *p = l->line_start;

    while (*p == ' ' || *p == '\t')
        p++;
    return p == l->p && l->depth == 0;
}

__attribute__((cold)) static void refuse_character(struct sl_lexer *l,
                                                   struct sl_token *t)
{
    static const struct {
        const char *characters, *hint;
    } rows[] = {
        {"!", "write \"not x\" for \"!x\""},
        {"@", "there are no decorators: write f = decorate(f) below the "
              "function, or call it where needed"},
        {"?", "write \"a if condition else b\" for \"condition ? a : b\""},
        {"$`", "put values into a text with \"{}\".format(x) or \"%s\" % x"},
        {"\u201c\u201d\u2018\u2019",
         "texts are quoted with straight quotes: \" or '"},
        {"\ufeff", "this is a byte order mark: save the file as UTF-8 without "
                   "one"},
    };
    unsigned width;
    uint32_t c = sl_rune(l->p, (size_t)(l->end - l->p), &width);
    char shown[16];

    if (sl_rune_class(c) & RUNE_PRINT)
        snprintf(shown, sizeof shown, "%.*s", (int)width, l->p);
    else
        snprintf(shown, sizeof shown,
                 c < 0x80      ? "\\x%02x"
                 : c < 0x10000 ? "\\u%04x"
                               : "\\U%08x",
                 c);
    sl_static_error(l->s, t->pos, NULL, "unexpected input character '%s'",
                    shown);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (memmem(rows[i].characters, strlen(rows[i].characters), l->p,
                   width) &&
            (c != '@' || begins_statement(l)))
            sl_static_hint(l->s, "%s", rows[i].hint);
    if (c > 0x7f && sl_rune_class(c) & RUNE_SPACE)
        sl_static_hint(l->s, HINT_SPACE);
    l->p += width;
    l->wide += width - 1;
    t->kind = TOK_ERROR;
}

static void lex_punctuation(struct sl_lexer *l, struct sl_token *t)
{
    /* clang-format off */
    static const uint8_t table[128][2] = { /* tokens of one character, and of
                                            * the same character twice */
        ['+'] = {TOK_PLUS},     ['-'] = {TOK_MINUS},  ['*'] = {TOK_STAR, TOK_STARSTAR},
        ['%'] = {TOK_PERCENT},  ['&'] = {TOK_AMP},    ['/'] = {TOK_SLASH, TOK_SLASHSLASH},
        ['^'] = {TOK_CIRCUMFLEX}, ['|'] = {TOK_PIPE}, ['<'] = {TOK_LT, TOK_LTLT},
        ['='] = {TOK_EQ},       ['!'] = {TOK_BANG},   ['>'] = {TOK_GT, TOK_GTGT},
        ['~'] = {TOK_TILDE},    [','] = {TOK_COMMA},  [';'] = {TOK_SEMI},
        [':'] = {TOK_COLON},    ['.'] = {TOK_DOT},
        ['('] = {TOK_LPAREN},   ['['] = {TOK_LBRACK}, ['{'] = {TOK_LBRACE},
        [')'] = {TOK_RPAREN},   [']'] = {TOK_RBRACK}, ['}'] = {TOK_RBRACE},
    };
    /* clang-format on */
    char c = *l->p;
    const uint8_t *kinds = table[c & 0x7f];
    bool two = kinds[1] && l->p[1] == c;

    t->kind = c & 0x80 ? 0 : kinds[two];
    bool eq = l->p[two + 1] == '=' && t->kind >= TOK_PLUS && t->kind <= TOK_GT;
    if (!t->kind || (t->kind == TOK_BANG && !eq)) {
        refuse_character(l, t);
        return;
    }
    t->kind += eq ? SL_TOK_EQ : 0;
    l->p += 1 + two + eq;
    if (t->kind >= TOK_LPAREN && t->kind <= TOK_LBRACE) {
        l->depth++;
    } else if (t->kind >= TOK_RPAREN && t->kind <= TOK_RBRACE) {
        if (l->depth > 0) {
            l->depth--;
            return;
        }
        sl_static_error(l->s, t->pos, HINT_NO_BRACKET, "unexpected '%c'", c);
        t->kind = TOK_ERROR;
    }
}

/* Handles the end of the text: closes all open blocks first. */
static void lex_end(struct sl_lexer *l, struct sl_token *t, bool after_newline)
{
    t->kind = TOK_EOF;
    if (l->indents > 0 && after_newline) {
        l->dents = 1 - (int32_t)l->indents;
        l->indents = 0;
        t->kind = TOK_OUTDENT;
    } else if (l->indents > 0) {
        l->at_line_start = true;
        t->kind = TOK_NEWLINE;
    }
}

/* Returns false if there was only white space, which yields no token. */
static bool lex(struct sl_lexer *l, struct sl_token *t)
{
    bool after_newline = l->at_line_start;
    bool blank = l->at_line_start && !read_indentation(l);
    unsigned width;

    while (*l->p == ' ' || *l->p == '\t')
        l->p++;
    if (*l->p == '#')
        skip_comment(l);
    *t = (struct sl_token){.at = l->p, .pos = sl_lex_pos(l)};
    if (l->dents != 0) {
        t->kind = l->dents > 0 ? TOK_INDENT : TOK_OUTDENT;
        l->dents += l->dents > 0 ? -1 : 1;
        return true;
    }
    char c = *l->p;
    if (sl_is_digit(c) || (c == '.' && sl_is_digit(l->p[1]))) {
        sl_lex_number(l, t);
    } else if (sl_is_name_char(c) || at_letter(l, &width)) {
        lex_name(l, t);
    } else if (c == '"' || c == '\'') {
        sl_lex_string(l, t, false, false);
    } else if (at_line_end(l)) {
        sl_lex_next_line(l);
        l->at_line_start = true;
        t->kind = TOK_NEWLINE;
        return l->depth == 0 && !blank;
    } else if (l->p == l->end) {
        lex_end(l, t, after_newline);
    } else if (c == '\\') {
        l->p++;
        if (at_line_end(l)) {
            sl_lex_next_line(l);
            return false;
        }
        sl_static_error(l->s, sl_lex_pos(l), HINT_BACKSLASH,
                        "stray backslash in program");
        t->kind = TOK_ERROR;
    } else {
        lex_punctuation(l, t);
    }
    return true;
}

void sl_lex_next(struct sl_lexer *l, struct sl_token *t)
{
    if (l->p >= l->charged) {
        size_t pieces = (size_t)(l->p - l->charged) / CHARGE_BYTES + 1;
        l->charged += pieces * CHARGE_BYTES;
        if (!sl_charge(l->s, pieces * CHARGE_STEPS))
            sl_lex_stop(l);
    }
    while (!lex(l, t))
        ;
    t->length = (uint32_t)(l->p - t->at);
}
