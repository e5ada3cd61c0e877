#include "base/map.h"
#include "base/text.h"
#include "mapm/discover.h"
#include "mapm/open_store.h"
#include "mapm/skill_roots.h"
#include "mapm/state_search.h"

#include <stdlib.h>

#include "entry.h"
#include "present.h"

/* Results of the search over catalogs and installed packages, as one list. */

struct finding {
    struct context *cx;
    struct store *store;
    struct str text;
    size_t limit;
    struct present present;
    struct discover_hit *hits;
    size_t count, capacity;
};

static void add(struct finding *f, const struct discover_hit *hit)
{
    f->hits = arena_grow(&f->cx->arena, f->hits, f->count, &f->capacity,
                         sizeof *f->hits);
    f->hits[f->count++] = *hit;
}

/* --- catalogs ----------------------------------------------------------------------- */

static void add_found(struct finding *f, const struct search_hit *found,
                      struct str catalog)
{
    struct discover_hit hit = {.name = found->name,
                               .description = found->description,
                               .catalog = catalog,
                               .score = found->score,
                               .unknown = found->unknown};
    const struct lock_entry *entry;
    struct entry_data data;

    entry_data_read(found->data, &data);
    hit.kind = data.kind;
    hit.version = data.version;
    hit.origin = data.origin;
    hit.entry = data.entry;
    hit.why = data.why;
    hit.tokens = data.tokens;
    entry = present_find(&f->present, data.origin, data.entry, &f->cx->arena);
    if (entry && !catalog.n && present_is_shown(&f->present, entry))
        return;
    hit.is_installed = entry != NULL;
    if (entry)
        present_note_shown(&f->present, entry);
    add(f, &hit);
}

/* Returns true if the hit matches enough of the request. */
static bool is_hit(const struct search_hit *h, double best)
{
    return h->is_literal || best >= SEARCH_MIN_SCORE;
}

static bool search_sources(struct finding *f, const struct search_source *list,
                           size_t count, bool are_catalogs, struct err *e)
{
    struct arena *a = &f->cx->arena;
    uint64_t *ids = arena_array(a, count + 1, sizeof *ids);
    struct search_request r = {.sources = ids,
                               .source_count = count,
                               .text = f->text,
                               .limit = f->limit};
    struct search_hit *found;
    size_t n;

    for (size_t i = 0; i < count; i++)
        ids[i] = list[i].id;
    if (count == 0)
        return true;
    if (!state_search(store_state(f->store), &r, a, &found, &n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct str catalog = STR("");

        for (size_t k = 0; k < count && are_catalogs; k++)
            if (list[k].id == found[i].source)
                catalog = list[k].key;
        if (is_hit(&found[i], found[0].score))
            add_found(f, &found[i], catalog);
    }
    return true;
}

/* --- what is installed ---------------------------------------------------------------- */

static void add_skill(struct finding *f, const struct library_hit *h)
{
    const struct library_skill *s = h->skill;
    const struct lock_entry *entry =
        present_find_skill(&f->present, s->root, s->folder);

    if (entry && present_is_shown(&f->present, entry))
        return;
    add(f, &(struct discover_hit){
               .name = s->name,
               .kind = STR("skill"),
               .version = s->version,
               .description = s->description,
               .origin = entry ? entry->origin : STR(""),
               .tokens = present_tokens(s->root, s->folder, f->cx),
               .is_installed = true,
               .score = h->score,
               .unknown = h->unknown,
           });
}

static bool search_library(struct finding *f, struct err *e)
{
    struct arena *a = &f->cx->arena;
    struct library *library = NULL;
    struct library_hit *hits;
    size_t count;

    if (!skill_roots_search(f->cx, f->store, false, f->text, f->limit, &hits,
                            &count)) {
        if (!skill_roots_open_library(f->cx, f->store, false,
                                      SKILL_CHECK_DOCUMENTS, &library, e))
            return false;
        hits = library_search(library, f->text, f->limit, false, a, &count);
    }
    for (size_t i = 0; i < count; i++) {
        struct library_skill copy = *hits[i].skill;
        struct library_hit hit = hits[i];

        copy.name = arena_str(a, copy.name);
        copy.version = arena_str(a, copy.version);
        copy.description = arena_str(a, copy.description);
        hit.skill = &copy;
        add_skill(f, &hit);
    }
    library_close(library);
    return true;
}

/* --- all ---------------------------------------------------------------------------------- */

static int by_score(const void *x, const void *y)
{
    const struct discover_hit *a = x, *b = y;
    int order;

    if (a->score < b->score || a->score > b->score)
        return a->score > b->score ? -1 : 1;
    order = str_cmp(a->name, b->name);
    if (order == 0)
        order = str_cmp(a->catalog, b->catalog);
    return order ? order : str_cmp(a->origin, b->origin);
}

static bool search(struct finding *f, size_t *catalogs, struct err *e)
{
    struct state *s = store_state(f->store);
    struct arena *a = &f->cx->arena;
    struct search_source *sources, *packages;
    size_t count, package_count;

    if (!state_list_sources(s, SEARCH_CATALOG, a, &sources, &count, e) ||
        !present_sources(&f->present, s, a, &packages, &package_count, e))
        return false;
    *catalogs = count;
    return search_sources(f, sources, count, true, e) && search_library(f, e) &&
           search_sources(f, packages, package_count, false, e);
}

bool discover_search(struct context *cx, struct store *store, struct str text,
                     size_t limit, struct discover_hit **out, size_t *count,
                     size_t *catalogs, struct err *e)
{
    struct finding f = {.cx = cx, .store = store, .text = text, .limit = limit};
    bool ok;

    present_open(cx, store, &f.present);
    ok = search(&f, catalogs, e);
    present_close(&f.present);
    if (!ok)
        return false;
    if (f.count)
        qsort(f.hits, f.count, sizeof *f.hits, by_score);
    *out = f.hits;
    *count = f.count < limit ? f.count : limit;
    return true;
}

#define OFFERED_MAX 20 /* search results that are compared with a name */

bool discover_find_offered(struct context *cx, struct str name,
                           struct discover_hit *out, struct err *e)
{
    struct discover_hit *hits;
    struct store *store = NULL;
    struct err ignored = {0};
    struct str list = STR("");
    size_t count = 0, catalogs, n = 0;

    if (!open_store(cx, &store, &ignored) ||
        !discover_search(cx, store, name, OFFERED_MAX, &hits, &count, &catalogs,
                         &ignored))
        count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!str_eq(hits[i].name, name) || !hits[i].origin.n || hits[i].why.n)
            continue;
        *out = hits[i];
        list = arena_printf(&cx->arena, "%.*s%s%.*s%s%.*s", STR_ARG(list),
                            n ? ", " : "", STR_ARG(hits[i].origin),
                            hits[i].entry.n ? " --plugin " : "",
                            STR_ARG(hits[i].entry));
        n++;
    }
    close_store(cx, store);
    if (n < 2)
        return n == 1;
    err_clear(e);
    err_set(e, ERR_NOT_FOUND, "the catalogs offer %zu packages named \"%.*s\"",
            n, STR_ARG(name));
    return err_hint(e, "mapm info with one of %.*s", STR_ARG(list));
}

/* --- words without a match -------------------------------------------------- */

static bool list_has(struct str list, struct str word)
{
    struct str one;

    while (list.n && str_cut(&list, ',', &one))
        if (str_eq(str_trim(one), word))
            return true;
    return false;
}

struct str discover_unknown_words(const struct discover_hit *hits, size_t count,
                                  struct arena *a)
{
    struct str rest = count ? hits[0].unknown : STR(""), list = STR(""), word;

    while (rest.n && str_cut(&rest, ',', &word)) {
        size_t i = 0;

        word = str_trim(word);
        while (i < count && list_has(hits[i].unknown, word))
            i++;
        if (i == count)
            list = arena_join(list, ", ", word, a);
    }
    return list;
}
