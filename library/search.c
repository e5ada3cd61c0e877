#include "base/text.h"
#include "mapm/limits.h"

#include "catalog.h"
#include "indexed.h"

/* Search by the index (G1), or by substrings of names and descriptions with the
 * rules of Metis. Source: T16, T17, L3, L6, X25, X26. */

#define NAME_SCORE        2
#define DESCRIPTION_SCORE 1
#define SCORES            4 /* 0 to 3 */

struct hits {
    const struct library_skill *
        *items[SCORES]; /* by score, each in the order of names */
    size_t count[SCORES], limit;
};

static void add_hit(struct hits *h, unsigned score,
                    const struct library_skill *s)
{
    if (h->count[score] < h->limit)
        h->items[score][h->count[score]++] = s;
}

static bool is_enough(const struct hits *h)
{
    return h->count[SCORES - 1] == h->limit;
}

/* Returns the score of the skill that contains the first hit. */
static unsigned score_of(const struct haystack *h, size_t i,
                         const struct needle *query, size_t at)
{
    const struct hay *s = &h->skills[i];
    unsigned score = 0;

    if (at < s->description) { /* names precede descriptions */
        if (at + query->text.n < s->description)
            score = NAME_SCORE;
        at = text_search(haystack_description(h, i), query, 0);
        return at == SIZE_MAX ? score : score + DESCRIPTION_SCORE;
    }
    return at + query->text.n < s->end ? DESCRIPTION_SCORE : 0;
}

/* Searches all names and descriptions in one pass, continuing after each hit
 * with the next skill. */
static void search_all(const struct library *l, struct str query, bool model,
                       struct hits *out)
{
    const struct haystack *h = catalog_haystack(l);
    const struct needle needle = needle_of(query);
    size_t at = 0, i = 0;

    while (!is_enough(out) &&
           (at = text_search(h->text, &needle, at)) != SIZE_MAX) {
        const struct library_skill *s;
        unsigned score;

        while (h->skills[i].end <= at)
            i++;
        s = library_at(l, i);
        score = score_of(h, i, &needle, at);
        at = h->skills[i].end;
        if (score && !(model && s->disabled))
            add_hit(out, score, s);
    }
}

static void list_all(const struct library *l, bool model, struct hits *out)
{
    for (size_t i = 0; i < library_count(l) && out->count[0] < out->limit; i++)
        if (!(model && library_at(l, i)->disabled))
            add_hit(out, 0, library_at(l, i));
}

bool library_is_hit(const struct search_hit *hit)
{
    return hit->score >= SEARCH_MIN_SCORE || hit->is_literal;
}

static struct library_hit *search_index(const struct library *l,
                                        struct str query, size_t limit,
                                        bool model, struct arena *a,
                                        size_t *count)
{
    size_t found, n = 0;
    struct search_hit *hits = indexed_search(l, query, limit, model, a, &found);
    struct library_hit *out = arena_array(a, found + 1, sizeof *out);

    for (size_t i = 0; i < found; i++)
        if (library_is_hit(&hits[i]) && library_find(l, hits[i].name))
            out[n++] = (struct library_hit){
                .skill = library_find(l, hits[i].name),
                .score = hits[i].score,
                .words = hits[i].words,
                .unknown = hits[i].unknown,
            };
    *count = n;
    return out;
}

struct library_hit *library_search(const struct library *l, struct str query,
                                   size_t limit, bool model, struct arena *a,
                                   size_t *count)
{
    struct str lower = text_lower(text_strip(query), a);
    struct hits found = {0};
    struct library_hit *out;
    size_t n = 0;

    if (limit > library_count(l))
        limit = library_count(l);
    if (lower.n && limit && !l->options.metis)
        return search_index(l, query, limit, model, a, count);
    found.limit = limit;
    for (size_t i = 0; i < SCORES; i++)
        found.items[i] = arena_array(a, limit + 1, sizeof *found.items[i]);
    if (lower.n == 0)
        list_all(l, model, &found);
    else if (lower.n <= QUERY_MAX_BYTES && limit)
        search_all(l, lower, model, &found);
    out = arena_array(a, limit + 1, sizeof *out);
    for (size_t score = SCORES; score-- > 0;)
        for (size_t i = 0; i < found.count[score] && n < limit; i++)
            out[n++] = (struct library_hit){
                .skill = found.items[score][i],
                .score = (double)score,
            };
    *count = n;
    return out;
}

struct str library_search_text(struct str query, const struct library_hit *hits,
                               size_t count, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str quoted = text_repr(query, a);

    if (count == 0)
        return arena_printf(a, "No skills matched %.*s.", STR_ARG(quoted));
    buf_init(&b, SIZE_MAX / 2);
    buf_printf(&b, "Skills matching %.*s (%zu):", STR_ARG(quoted), count);
    for (size_t i = 0; i < count; i++) {
        const struct library_skill *s = hits[i].skill;
        struct str line = text_one_line(s->description, a);

        buf_printf(&b, "\n- %.*s [%s] \xe2\x80\x94 %.*s", STR_ARG(s->name),
                   library_source_name(s->source), STR_ARG(line));
    }
    return arena_str(a, buf_str(&b));
}
