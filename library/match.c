#include "base/text.h"
#include "mapm/limits.h"

#include "catalog.h"
#include "indexed.h"

/* Matching: skills that a request names, then skills that serve it. Source:
 * L11, G1. */

static bool has(const struct library_hit *hits, size_t count,
                const struct library_skill *s)
{
    for (size_t i = 0; i < count; i++)
        if (hits[i].skill == s)
            return true;
    return false;
}

static void add_named(struct library_hit *hits, size_t *count, size_t limit,
                      const struct library_skill *s, char sign, struct arena *a)
{
    if (*count < limit && s && !has(hits, *count, s))
        hits[(*count)++] = (struct library_hit){
            .skill = s,
            .score = 1,
            .words = arena_printf(a, "%c%.*s", sign, STR_ARG(s->name)),
            .is_explicit = true,
        };
}

struct library_hit *library_match(const struct library *l, struct str request,
                                  size_t limit, double min_score,
                                  struct arena *a, size_t *count)
{
    const struct library_skill **mentions;
    struct library_hit *hits;
    struct search_hit *found;
    size_t mentioned, found_count, n = 0;

    *count = 0;
    request = text_cut_bytes(request, QUERY_MAX_BYTES);
    if (limit > library_count(l))
        limit = library_count(l);
    if (limit == 0)
        return NULL;
    hits = arena_array(a, limit + 1, sizeof *hits);
    add_named(hits, &n, limit, library_slash(l, request, NULL), '/', a);
    mentions = library_mentions(l, request, a, &mentioned);
    for (size_t i = 0; i < mentioned; i++)
        add_named(hits, &n, limit, mentions[i], '$', a);
    found = indexed_search(l, request, limit, true, a, &found_count);
    for (size_t i = 0; i < found_count && n < limit; i++) {
        const struct library_skill *s = library_find(l, found[i].name);

        if (s && found[i].score >= min_score && !has(hits, n, s))
            hits[n++] = (struct library_hit){
                .skill = s, .score = found[i].score, .words = found[i].words};
    }
    *count = n;
    return hits;
}
