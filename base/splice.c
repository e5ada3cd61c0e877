#include "base/splice.h"

#include "base/arena.h"
#include "base/invariant.h"

void splice_add(struct splices *s, size_t from, size_t to, struct str text)
{
    struct splice *last = s->count ? &s->items[s->count - 1] : NULL;

    INVARIANT(from <= to && (!last || last->to <= from));
    if (last && last->to == from && last->text.n == 0 && text.n == 0) {
        last->to = to;
        return;
    }
    s->items =
        arena_grow(s->arena, s->items, s->count, &s->capacity, sizeof *last);
    s->items[s->count++] = (struct splice){from, to, text};
}

void splice_apply(const struct splices *s, struct str text, struct buf *out)
{
    size_t at = 0;

    for (size_t i = 0; i < s->count; i++) {
        INVARIANT(at <= s->items[i].from && s->items[i].to <= text.n);
        buf_append(out, str_slice(text, at, s->items[i].from));
        buf_append(out, s->items[i].text);
        at = s->items[i].to;
    }
    buf_append(out, str_from_index(text, at));
}
