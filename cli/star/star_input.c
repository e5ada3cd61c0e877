#include "star_job.h"

struct scan {
    struct str text;
    size_t at;
    unsigned depth;  /* of brackets */
    bool open;       /* inside of a string or a continued line */
    bool block;      /* some line begins one */
    bool line_start; /* of a logical line */
    char last;       /* character that is no blank, of the logical line */
};

static char peek(const struct scan *s, size_t ahead)
{
    return s->at + ahead < s->text.n ? s->text.p[s->at + ahead] : '\0';
}

/* From its first quote to behind its last one, or to the end. */
static void skip_string(struct scan *s)
{
    char quote = peek(s, 0);
    bool is_long = peek(s, 1) == quote && peek(s, 2) == quote;

    s->at += is_long ? 3 : 1;
    for (; s->at < s->text.n; s->at++) {
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
    s->at = s->text.n;
    s->open = is_long;
}

static void begin_line(struct scan *s)
{
    static const char *const words[] = {"def", "for", "if"};
    struct str rest = str_from_index(s->text, s->at);

    s->line_start = false;
    s->last = '\0';
    if (char_is_digit(peek(s, 0)) || peek(s, 0) == '\n')
        return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str word = str_cstr(words[i]);
        if (str_starts(rest, word) && rest.n > word.n &&
            (rest.p[word.n] == ' ' || rest.p[word.n] == '('))
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
        while (s->at < s->text.n && peek(s, 0) != '\n')
            s->at++;
        return;
    }
    s->at++;
    if (c == '\n') {
        end_line(s);
    } else if (c == '\\' && peek(s, 0) == '\n') {
        s->at++;
        s->open = s->at == s->text.n;
    } else {
        if (c == '(' || c == '[' || c == '{')
            s->depth++;
        else if ((c == ')' || c == ']' || c == '}') && s->depth)
            s->depth--;
        if (c != ' ')
            s->last = c;
    }
}

bool star_input_is_open(struct str typed)
{
    struct scan s = {.text = typed, .line_start = true};
    struct str last, rest = typed;
    bool blank = false;

    while (s.at < typed.n)
        step(&s);
    if (s.open || s.depth)
        return true;
    while (str_line(&rest, &last))
        blank = str_trim(last).n == 0;
    return s.block && !blank;
}
