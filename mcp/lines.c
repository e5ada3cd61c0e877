#include "lines.h"

#include "base/invariant.h"

#include <string.h>

#define READ_BYTES (64u * 1024)

void lines_init(struct lines *l, size_t max_bytes)
{
    *l = (struct lines){.max = max_bytes};
}

void lines_done(struct lines *l)
{
    heap_free(l->p);
    lines_init(l, l->max);
}

/* Frees the buffer after a message of some megabytes, which is rare. */
static void shrink(struct lines *l)
{
    if (l->start < l->n)
        return;
    l->start = l->n = l->seen = 0;
    if (l->capacity <= 4 * READ_BYTES)
        return;
    heap_free(l->p);
    l->p = NULL;
    l->capacity = 0;
}

char *lines_room(struct lines *l, size_t *n)
{
    size_t wanted;

    shrink(l);
    if (l->start) {
        memmove(l->p, l->p + l->start, l->n - l->start);
        l->n -= l->start;
        l->start = 0;
    }
    if (l->capacity - l->n < READ_BYTES) {
        wanted = l->capacity ? l->capacity * 2 : 2 * READ_BYTES;
        l->p = heap_resize(l->p, wanted);
        l->capacity = wanted;
    }
    *n = l->capacity - l->n;
    INVARIANT(*n >= READ_BYTES && l->start == 0);
    return l->p + l->n;
}

void lines_add(struct lines *l, size_t n)
{
    INVARIANT(n <= l->capacity - l->n);
    l->n += n;
}

static struct str unread(const struct lines *l)
{
    return str_make(l->p + l->start, l->n - l->start);
}

/* Skips the rest of a line that was reported already. */
static bool skip(struct lines *l)
{
    struct str s = unread(l);
    size_t end = str_find_char(s, '\n');

    l->seen = 0;
    if (end == SIZE_MAX) {
        l->start = l->n;
        return false;
    }
    l->start += end + 1;
    l->skipping = false;
    return true;
}

enum lines_state lines_take(struct lines *l, struct str *line)
{
    struct str s;
    const char *end;

    INVARIANT(l->start <= l->n && l->n <= l->capacity);
    INVARIANT(l->seen <= l->n - l->start);
    if (l->start == l->n || (l->skipping && !skip(l)))
        return LINES_MORE;
    s = unread(l);
    end = s.n > l->seen ? memchr(s.p + l->seen, '\n', s.n - l->seen) : NULL;
    if (!end && s.n <= l->max) {
        l->seen = s.n;
        return LINES_MORE;
    }
    *line = str_make(s.p, end ? (size_t)(end - s.p) : s.n);
    l->seen = 0;
    l->start += line->n + (end != NULL);
    l->skipping = !end;
    if (line->n <= l->max)
        return LINES_READY;
    *line = str_slice(*line, 0, l->max);
    return LINES_LONG;
}

bool lines_next_is(const struct lines *l, char c)
{
    size_t at = l->start;

    while (at < l->n && str_has_char(STR(" \t\r\n"), l->p[at]))
        at++;
    return !l->skipping && at < l->n && l->p[at] == c;
}

bool lines_rest(struct lines *l, struct str *line)
{
    if (l->skipping || l->start == l->n)
        return false;
    *line = unread(l);
    l->start = l->n;
    return true;
}
