#include "base/text.h"
#include "mapm/policy.h"

#include <string.h>

/*
 * Formats a command as one line for a shell, and parses it. The line is
 * complete, hides nothing and can be pasted (SEP-1024; THREATS row 7). Quotes
 * are those of POSIX, and $'…' of bash and zsh for characters without another
 * visible form.
 */

/* --- writing ------------------------------------------------------------------ */

static bool is_bare(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (!char_is_alpha(word.p[i]) && !char_is_digit(word.p[i]) &&
            (unsigned char)word.p[i] < 0x80 && !strchr("_@%+=:,./-", word.p[i]))
            return false;
    return word.n > 0 && !str_has_char(word, '\0');
}

static bool has_any(struct str word, const char *chars)
{
    for (; *chars; chars++)
        if (str_has_char(word, *chars))
            return true;
    return false;
}

/* Returns true if the word is printable and a terminal shows it unchanged. */
static bool is_visible(struct str word)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    text_visible(&b, word, false);
    return str_eq(buf_str(&b), word) && !str_has_char(word, '\t');
}

static void put_word(struct buf *b, struct str word)
{
    bool visible = is_visible(word);

    if (visible && is_bare(word)) {
        buf_append(b, word);
    } else if (visible && !str_has_char(word, '\'')) {
        buf_char(b, '\'');
        buf_append(b, word);
        buf_char(b, '\'');
    } else if (visible && !has_any(word, "\"$`\\!")) {
        buf_char(b, '"');
        buf_append(b, word);
        buf_char(b, '"');
    } else {
        text_put_escaped(b, word, !visible);
    }
}

struct str policy_line(const struct str *argv, size_t argc, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < argc; i++) {
        buf_text(&b, i ? " " : "");
        put_word(&b, argv[i]);
    }
    return arena_str(a, buf_str(&b));
}

struct str policy_suggest(const struct str *argv, size_t argc, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_text(&b, "--allow ");
    put_word(&b, policy_line(argv, argc, a));
    return arena_str(a, buf_str(&b));
}

/* --- reading ------------------------------------------------------------------ */

struct line {
    struct str text;
    size_t at;
    struct buf word; /* word of a rule, in which a literal star has a "\" */
    bool has_word;
    struct err *e;
};

static void put_literal(struct line *l, char c)
{
    if (c == '*' || c == '\\')
        buf_char(&l->word, '\\');
    buf_char(&l->word, c);
    l->has_word = true;
}

static bool fail(struct line *l, const char *what)
{
    err_set(l->e, ERR_USAGE, "--allow %.*s: %s",
            STR_ARG(text_cut(l->text, 200)), what);
    return err_hint(l->e, "write the words of a command, \"*\" for any: "
                          "--allow 'git diff *'");
}

/* Reads up to the closing quote and sets `*at` after it. */
static bool take_quoted(struct line *l, char quote)
{
    l->has_word = true;
    while (l->at < l->text.n) {
        char c = l->text.p[l->at++];

        if (c == quote)
            return true;
        if (c == '\\' && quote == '"' && l->at < l->text.n &&
            strchr("\"\\$`", l->text.p[l->at]))
            c = l->text.p[l->at++];
        put_literal(l, c);
    }
    return fail(l, "a quote is not closed");
}

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found =
        c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* Reads \xNN, with exactly the two digits that this program writes. */
static bool take_hex(struct line *l)
{
    int high = l->at < l->text.n ? hex_value(l->text.p[l->at]) : -1;
    int low = l->at + 1 < l->text.n ? hex_value(l->text.p[l->at + 1]) : -1;

    if (high < 0 || low < 0 || (high == 0 && low == 0))
        return fail(l, "\\x has two digits, and is not 00");
    l->at += 2;
    put_literal(l, (char)(high * 16 + low));
    return true;
}

static bool take_escape(struct line *l)
{
    static const char names[] = "ntr\\'\"", values[] = "\n\t\r\\'\"";
    const char *name;
    char c = l->at < l->text.n ? l->text.p[l->at++] : '\0';

    if (c == 'x')
        return take_hex(l);
    name = c ? strchr(names, c) : NULL;
    if (!name)
        return fail(l, "in $'...' it knows \\n, \\t, \\r, \\\\, \\', \\\" and "
                       "\\xNN");
    put_literal(l, values[name - names]);
    return true;
}

static bool take_dollar(struct line *l)
{
    l->has_word = true;
    l->at++;
    while (l->at < l->text.n) {
        char c = l->text.p[l->at++];

        if (c == '\'')
            return true;
        if (c != '\\')
            put_literal(l, c);
        else if (!take_escape(l))
            return false;
    }
    return fail(l, "a quote is not closed");
}

/* Parses one word. Returns false at the end, or with an error. */
static bool take_word(struct line *l)
{
    buf_clear(&l->word);
    l->has_word = false;
    while (l->at < l->text.n) {
        char c = l->text.p[l->at++];

        if (strchr(" \t\n", c)) {
            if (l->has_word)
                return true;
        } else if (c == '\'' || c == '"') {
            if (!take_quoted(l, c))
                return false;
        } else if (c == '$' && l->at < l->text.n && l->text.p[l->at] == '\'') {
            if (!take_dollar(l))
                return false;
        } else if (c == '\\' && l->at < l->text.n) {
            put_literal(l, l->text.p[l->at++]);
        } else if (c == '*') {
            buf_char(&l->word, c);
            l->has_word = true;
        } else {
            put_literal(l, c);
        }
    }
    return l->has_word;
}

static bool take_words(struct line *l, struct arena *a, struct policy_rule *out)
{
    struct str *words = NULL;
    size_t capacity = 0;

    while (take_word(l)) {
        if (out->count >= COMMAND_MAX_WORDS)
            return fail(l, "it has too many words");
        words = arena_grow(a, words, out->count, &capacity, sizeof *words);
        words[out->count++] = arena_str(a, buf_str(&l->word));
    }
    out->words = words;
    return l->e->code == ERR_NONE;
}

bool policy_add_option(struct policy *p, struct str words, struct err *e)
{
    struct policy_rule rule = {.allow = true, .from = STR("--allow")};
    struct line l = {.text = words, .e = e};
    bool ok;

    err_clear(e);
    if (str_has_char(words, '\0'))
        return fail(&l, "it is not text");
    buf_init(&l.word, SIZE_MAX / 2);
    ok = take_words(&l, p->arena, &rule);
    buf_done(&l.word);
    if (!ok)
        return false;
    if (rule.count == 0 || rule.words[0].n == 0)
        return fail(&l, "it names no program");
    if (str_has_char(rule.words[0], '*') && !str_is(rule.words[0], "*"))
        return fail(&l, "a program is named in full");
    p->rules = arena_grow(p->arena, p->rules, p->count, &p->capacity,
                          sizeof *p->rules);
    p->rules[p->count++] = rule;
    return true;
}
