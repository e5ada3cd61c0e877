/* The search: the first line is a request, each other one an entry, as name, tags
 * and description with tabs between them. Whatever is put is found by its name,
 * and by any part of a description. The whole input is also taken for the texts of
 * a source. [G1]. */
#include "base/text.h"
#include "mapm/state.h"
#include "mapm/state_search.h"

#include <stdlib.h>

#include "../../state/search_texts.h"
#include "outcome.h"

#define ENTRIES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t read_entries(struct str rest, struct search_entry *out)
{
    struct str line;
    size_t n = 0;

    while (n < ENTRIES_MAX && rest.n && str_cut(&rest, '\n', &line)) {
        struct search_entry *entry = &out[n++];

        *entry = (struct search_entry){.data = STR("d"), .hidden = n % 3 == 0};
        str_cut(&line, '\t', &entry->name);
        if (line.p && str_cut(&line, '\t', &entry->tags) && line.p)
            entry->description = line;
    }
    return n;
}

static bool has(const struct search_hit *hits, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(hits[i].name, name))
            return true;
    return false;
}

static size_t find(struct state *s, const uint64_t *id, struct str text,
                   struct arena *a, struct search_hit **hits)
{
    struct search_request r = {
        .sources = id, .source_count = 1, .text = text, .limit = ENTRIES_MAX};
    struct err e = {0};
    size_t count;

    if (!state_search(s, &r, a, hits, &count, &e))
        abort();
    for (size_t i = 0; i < count; i++)
        if (!((*hits)[i].score >= 0 && (*hits)[i].score <= 1) ||
            (i && (*hits)[i].score > (*hits)[i - 1].score))
            abort();
    for (size_t i = 0; i < count; i++)
        outcome_str("hit", (*hits)[i].name);
    return count;
}

static void search(struct str text, struct str rest, struct arena *a)
{
    struct search_entry entries[ENTRIES_MAX];
    size_t count = read_entries(rest, entries), n;
    struct search_hit *hits;
    struct err e = {0};
    struct state *s = state_open_memory(&e);
    uint64_t id;

    if (!s || !state_put_source(s, SEARCH_LIBRARY, STR("k"), STR("s"), entries,
                                count, &id, &e))
        abort();
    find(s, &id, text, a, &hits);
    for (size_t i = 0; i < count; i++) {
        struct str name = text_strip(entries[i].name);

        if (!name.n || !text_is_utf8(name) || str_has_char(name, '\0'))
            continue;
        n = find(s, &id, name, a, &hits);
        if (!has(hits, n, entries[i].name))
            abort();
    }
    if (!state_put_source(s, SEARCH_LIBRARY, STR("k"), STR("s"), entries,
                          count / 2, &id, &e))
        abort();
    find(s, &id, text, a, &hits);
    state_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str all = str_make((const char *)data, size), rest = all, line;
    struct search_texts t;

    if (size > 1 << 16)
        return 0;
    if (search_texts_parse(all, &a, &t)) {
        const struct needle what = needle_of(STR("a"));
        size_t at = 0;

        for (size_t i = 0; i < t.count; i++)
            search_texts_name(&t, i);
        while (search_texts_next_name(&t, &what, &at) != SIZE_MAX)
            ;
        at = 0;
        while (search_texts_next_text(&t, &what, &at) != SIZE_MAX)
            ;
    }
    if (size && str_cut(&rest, '\n', &line))
        search(line, rest.p ? rest : STR(""), &a);
    return 0;
}
