#include "haystack.h"

#include "base/buf.h"
#include "base/invariant.h"
#include "base/text.h"

static void add(struct buf *b, struct str text)
{
    CLEANUP(arena_done) struct arena a = {0};

    buf_append(b, text_lower(text, &a));
    buf_char(b, '\0');
}

void haystack_build(struct haystack *h, const struct library_skill *skills,
                    size_t count)
{
    CLEANUP(buf_done) struct buf b = {0};

    *h = (struct haystack){0};
    buf_init(&b, SIZE_MAX / 2);
    h->skills = arena_array(&h->a, count + 1, sizeof *h->skills);
    for (size_t i = 0; i < count; i++) {
        struct hay *s = &h->skills[i];

        s->name = b.n;
        add(&b, skills[i].name);
        s->description = b.n;
        add(&b, skills[i].description);
        s->end = b.n;
        INVARIANT(s->name < s->description && s->description < s->end);
    }
    h->text = arena_str(&h->a, buf_str(&b));
}

void haystack_done(struct haystack *h)
{
    arena_done(&h->a);
}

struct str haystack_description(const struct haystack *h, size_t i)
{
    const struct hay *s = &h->skills[i];

    return str_slice(h->text, s->description, s->end - 1);
}
