#include "mapm/starlark.h"

#include <string.h>

/* A scan for open brackets, strings and blocks. The source may be invalid, so the
 * lexer, which stops at the first error, is not used. */

struct scan {
    const char *text;
    size_t length, at;
    unsigned depth;  /* number of open brackets */
    bool open;       /* in a string or a continued line */
    bool block;      /* a line begins a block */
    bool line_start; /* at the start of a logical line */
    char last; /* last character of the logical line that is not a blank */
};

static char peek(const struct scan *s, size_t ahead)
{
    return s->at + ahead < s->length ? s->text[s->at + ahead] : '\0';
}

/* Skips a string from its first quote to after its last one, or to the end. */
static void skip_string(struct scan *s)
{
    char quote = peek(s, 0);
    bool is_long = peek(s, 1) == quote && peek(s, 2) == quote;

    s->at += is_long ? 3 : 1;
    for (; s->at < s->length; s->at++) {
        char c = peek(s, 0);
        if (c == '\\') {
            s->at++;
        } else if (!is_long && (c == quote || c == '\n')) {
            s->at += c == quote;
            return;
        } else if (is_long && c == quote && peek(s, 1) == quote &&
                   peek(s, 2) == quote) {
            s->at += 3;
            return;
        }
    }
    s->at = s->length;
    s->open = is_long;
}

static void begin_line(struct scan *s)
{
    static const char *const words[] = {"def", "for", "if"};
    size_t rest = s->length - s->at;

    s->line_start = false;
    s->last = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);

        if (rest > n && memcmp(s->text + s->at, words[i], n) == 0 &&
            (peek(s, n) == ' ' || peek(s, n) == '('))
            s->block = true;
    }
}

static void end_line(struct scan *s)
{
    if (s->depth)
        return;
    s->block |= s->last == ':';
    s->line_start = true;
}

static void step(struct scan *s)
{
    char c = peek(s, 0);

    if (s->line_start)
        begin_line(s);
    if (c == '"' || c == '\'') {
        skip_string(s);
        s->last = c;
        return;
    }
    if (c == '#') {
        while (s->at < s->length && peek(s, 0) != '\n')
            s->at++;
        return;
    }
    s->at++;
    if (c == '\n') {
        end_line(s);
    } else if (c == '\\' && peek(s, 0) == '\n') {
        s->at++;
        s->open = s->at == s->length;
    } else {
        if (c == '(' || c == '[' || c == '{')
            s->depth++;
        else if ((c == ')' || c == ']' || c == '}') && s->depth)
            s->depth--;
        if (c != ' ')
            s->last = c;
    }
}

/* Returns whether the last line of the source has only blanks. */
static bool ends_with_blank_line(const char *source, size_t length)
{
    size_t at = length;

    if (at && source[at - 1] == '\n')
        at--;
    while (at && (source[at - 1] == ' ' || source[at - 1] == '\t' ||
                  source[at - 1] == '\r'))
        at--;
    return length && (at == 0 || source[at - 1] == '\n');
}

bool star_is_incomplete(const char *source, size_t length)
{
    struct scan s = {.text = source, .length = length, .line_start = true};

    while (s.at < length)
        step(&s);
    return s.open || s.depth ||
           (s.block && !ends_with_blank_line(source, length));
}
