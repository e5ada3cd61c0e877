#include "ignore_block.h"

static bool check(struct str text, struct str first_line, struct err *e)
{
    bool is_in_block = false;
    struct str line;

    while (str_line(&text, &line)) {
        line = str_trim(line);
        if (str_eq(line, first_line) || str_is(line, IGNORE_LAST_LINE))
            is_in_block = str_eq(line, first_line);
    }
    return !is_in_block ||
           err_set(e, ERR_FORMAT, "\"%.*s\" without \"" IGNORE_LAST_LINE "\"",
                   STR_ARG(first_line));
}

static void put_block(struct buf *b, struct str first_line, struct str lines)
{
    if (lines.n)
        buf_printf(b, "%.*s\n%.*s" IGNORE_LAST_LINE "\n", STR_ARG(first_line),
                   STR_ARG(lines));
}

bool ignore_block_set(struct str text, struct str first_line, struct str lines,
                      struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str rest = text, line;
    bool is_in_block = false, done = false;

    if (!check(text, first_line, e))
        return false;
    buf_init(&b, SIZE_MAX / 2);
    for (struct str before = rest; str_line(&rest, &line); before = rest) {
        struct str whole = str_slice(before, 0, before.n - rest.n);
        struct str word = str_trim(line);

        if (str_eq(word, first_line) && !done) {
            put_block(&b, first_line, lines);
            is_in_block = done = true;
        } else if (is_in_block) {
            is_in_block = !str_is(word, IGNORE_LAST_LINE);
        } else {
            buf_append(&b, whole);
        }
    }
    if (!done && lines.n) {
        if (b.n && b.p[b.n - 1] != '\n')
            buf_char(&b, '\n');
        put_block(&b, first_line, lines);
    }
    *out = arena_str(a, buf_str(&b));
    return true;
}
