#include "secrets.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' ||
           c == '\f';
}

static void skip_line(struct str *rest)
{
    struct str line;

    if (!str_line(rest, &line))
        *rest = str_make("", 0);
}

/* Reads a quoted word; "\" precedes a literal character. */
static struct str take_quoted(struct str *rest, struct arena *a)
{
    char *out = arena_alloc(a, rest->n + 1);
    size_t n = 0, i = 1;

    while (i < rest->n && rest->p[i] != '"') {
        if (rest->p[i] == '\\' && i + 1 < rest->n)
            i++;
        out[n++] = rest->p[i++];
    }
    *rest = str_from_index(*rest, i + 1);
    return str_make(out, n);
}

/* Reads one word, skipping comments. Returns false at the end. */
static bool take_word(struct str *rest, struct arena *a, struct str *word)
{
    size_t n = 0;

    for (;;) {
        while (rest->n && is_blank(rest->p[0]))
            *rest = str_from_index(*rest, 1);
        if (rest->n == 0)
            return false;
        if (rest->p[0] != '#')
            break;
        skip_line(rest);
    }
    if (rest->p[0] == '"') {
        *word = take_quoted(rest, a);
        return true;
    }
    while (n < rest->n && !is_blank(rest->p[n]))
        n++;
    *word = arena_str(a, str_slice(*rest, 0, n));
    *rest = str_from_index(*rest, n);
    return true;
}

/* A macro ends with an empty line. */
static void skip_macro(struct str *rest)
{
    struct str line;

    skip_line(rest);
    while (str_line(rest, &line) && str_trim(line).n)
        continue;
    if (rest->p == NULL)
        *rest = str_make("", 0);
}

bool netrc_next(struct str *rest, struct arena *a, struct netrc_entry *out)
{
    struct netrc_entry entry = {0};
    struct str before = *rest, word;
    bool inside = false;

    while (take_word(rest, a, &word)) {
        bool starts = str_is(word, "machine") || str_is(word, "default");

        if (starts && inside && entry.machine.p) {
            *rest = before; /* first word of the next entry */
            break;
        }
        if (starts) {
            entry = (struct netrc_entry){0};
            inside = true;
            if (str_is(word, "machine") && take_word(rest, a, &word))
                entry.machine = str_lower(word, a);
        } else if (str_is(word, "login") && take_word(rest, a, &word)) {
            entry.login = word;
        } else if (str_is(word, "password") && take_word(rest, a, &word)) {
            entry.password = word;
        } else if (str_is(word, "macdef")) {
            skip_macro(rest);
        }
        before = *rest;
    }
    *out = entry;
    return entry.machine.p != NULL;
}
