#include "base/map.h"
#include "base/text.h"
#include "mapm/state_search.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "ranking.h"
#include "search_texts.h"

/* Sources and their entries in mapm.db, and the search over them. */

#define ROW_OF(source, row) ((int64_t)((source) << SEARCH_ROW_BITS | (row)))

/* --- memory ---------------------------------------------------------------------- */

struct state *state_open_memory(struct err *e)
{
    struct state *s = state_open(STR(""), -1);

    if (db_open_memory(s, e))
        return s;
    state_close(s);
    return NULL;
}

static void texts_close(struct search_texts *t)
{
    if (!t)
        return;
    arena_done(&t->a);
    heap_free(t);
}

static void forget_texts(struct state *s, uint64_t source)
{
    for (size_t i = 0; i < s->texts_count; i++)
        if (s->texts[i]->source == source) {
            texts_close(s->texts[i]);
            s->texts[i] = s->texts[--s->texts_count];
        }
}

void search_close(struct state *s)
{
    for (size_t i = 0; i < s->texts_count; i++)
        texts_close(s->texts[i]);
    heap_free(s->texts);
    s->texts = NULL;
    s->texts_count = 0;
    s->has_ranking = false;
}

/* --- sources ---------------------------------------------------------------------- */

static bool read_source(sqlite3_stmt *q, struct arena *a, void *out)
{
    *(struct search_source *)out = (struct search_source){
        .id = (uint64_t)db_column_number(q, 0, INT32_MAX, 0),
        .key = db_column_str(q, 1, a),
        .stamp = db_column_str(q, 2, a),
        .count = (size_t)db_column_number(q, 3, SEARCH_MAX_ENTRIES, 0),
    };
    return true;
}

static bool find_source(struct state *s, enum search_kind kind, struct str key,
                        struct arena *a, struct search_source *out,
                        struct err *e)
{
    CLEANUP_ROW sqlite3_stmt *q = db_first(
        s, db_ask(s, FIND_SOURCE, e, DB_NUMBER(kind), DB_BLOB(key)), e);

    return q && read_source(q, a, out);
}

bool state_find_source(struct state *s, enum search_kind kind, struct str key,
                       struct arena *a, struct search_source *out,
                       struct err *e)
{
    return DB_RETRY(s, e, find_source(s, kind, key, a, out, e));
}

static bool list_sources(struct state *s, enum search_kind kind,
                         struct arena *a, struct search_source **out,
                         size_t *count, struct err *e)
{
    sqlite3_stmt *q = db_ask(s, LIST_SOURCES, e, DB_NUMBER(kind));
    struct db_rows rows;

    if (!db_list(s, q, sizeof(struct search_source), read_source, a, &rows, e))
        return false;
    *out = rows.items;
    *count = rows.count;
    return true;
}

bool state_list_sources(struct state *s, enum search_kind kind, struct arena *a,
                        struct search_source **out, size_t *count,
                        struct err *e)
{
    return DB_RETRY(s, e, list_sources(s, kind, a, out, count, e));
}

/* --- putting ------------------------------------------------------------------------ */

/* The rows of a source, and the rows of its new entries. */
struct putting {
    struct state *s;
    uint64_t source;
    const struct search_entry *entries;
    size_t count;
    uint32_t *rows; /* row of each entry; 0 if not assigned yet */
    int64_t *hashes;
    struct arena a;
};

static void add_part(struct hash_state *h, struct str text)
{
    hash_add(h, text);
    hash_add(h, str_make("", 1));
}

static int64_t identity_of(const struct search_entry *n)
{
    struct hash_state state;
    struct hash hash;
    uint64_t number;

    hash_init(&state);
    add_part(&state, n->name);
    add_part(&state, n->description);
    add_part(&state, n->tags);
    add_part(&state, n->data);
    hash_add(&state, n->hidden ? STR("h") : STR("-"));
    hash = hash_end(&state);
    memcpy(&number, hash.b, sizeof number);
    return (int64_t)(le64toh(number) >> 1);
}

static bool forget_rows(struct state *s, int64_t from, int64_t to,
                        struct err *e)
{
    return db_put(s, FORGET_WORDS, e, DB_NUMBER(from), DB_NUMBER(to)) &&
           db_put(s, FORGET_ENTRIES, e, DB_NUMBER(from), DB_NUMBER(to));
}

struct row {
    int64_t id, hash;
    bool is_taken;
};

static int by_hash(const void *x, const void *y)
{
    const struct row *a = x, *b = y;

    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static bool read_row(sqlite3_stmt *q, struct arena *a, void *out)
{
    (void)a;
    *(struct row *)out = (struct row){sqlite3_column_int64(q, 0),
                                      sqlite3_column_int64(q, 1), false};
    return true;
}

static bool list_rows(struct putting *p, struct row **out, size_t *count,
                      struct err *e)
{
    sqlite3_stmt *q =
        db_ask(p->s, LIST_ENTRIES, e, DB_NUMBER(ROW_OF(p->source, 0)),
               DB_NUMBER(ROW_OF(p->source + 1, 0) - 1));
    struct db_rows rows;

    if (!db_list(p->s, q, sizeof(struct row), read_row, &p->a, &rows, e))
        return false;
    *out = rows.items;
    *count = rows.count;
    return true;
}

/* Keeps the rows of unchanged entries and deletes the others. `*next` receives
 * the number of the next new row. */
static bool copy_rows(struct putting *p, uint32_t *next, struct err *e)
{
    uint32_t mask = (1u << SEARCH_ROW_BITS) - 1;
    struct row *rows;
    size_t count;

    if (!list_rows(p, &rows, &count, e))
        return false;
    *next = 1;
    for (size_t i = 0; i < count; i++)
        if ((rows[i].id & mask) >= *next)
            *next = (uint32_t)(rows[i].id & mask) + 1;
    if (*next + p->count > 2 * p->count + SEARCH_ROWS_SLACK) {
        *next = 1;
        return forget_rows(p->s, ROW_OF(p->source, 0),
                           ROW_OF(p->source + 1, 0) - 1, e);
    }
    if (count)
        qsort(rows, count, sizeof *rows, by_hash);
    for (size_t i = 0; i < p->count && count; i++) {
        struct row key = {.hash = p->hashes[i]};
        struct row *found = bsearch(&key, rows, count, sizeof key, by_hash);

        if (!found || found->is_taken)
            continue;
        found->is_taken = true;
        p->rows[i] = (uint32_t)(found->id & mask);
    }
    for (size_t i = 0; i < count; i++)
        if (!rows[i].is_taken && !forget_rows(p->s, rows[i].id, rows[i].id, e))
            return false;
    return true;
}

static bool put_entry(struct putting *p, size_t i, struct err *e)
{
    const struct search_entry *n = &p->entries[i];
    int64_t id = ROW_OF(p->source, p->rows[i]);

    return db_put(p->s, PUT_ENTRY, e, DB_NUMBER(id), DB_NUMBER(p->hashes[i]),
                  DB_TEXT(n->name), DB_TEXT(n->description), DB_TEXT(n->tags),
                  DB_BLOB(n->data)) &&
           db_put(p->s, PUT_WORDS, e, DB_NUMBER(id), DB_TEXT(n->name),
                  DB_TEXT(n->description), DB_TEXT(n->tags));
}

static bool put_entries(struct putting *p, struct err *e)
{
    uint32_t next;

    p->rows = arena_array(&p->a, p->count + 1, sizeof *p->rows);
    p->hashes = arena_array(&p->a, p->count + 1, sizeof *p->hashes);
    for (size_t i = 0; i < p->count; i++)
        p->hashes[i] = identity_of(&p->entries[i]);
    if (!copy_rows(p, &next, e))
        return false;
    for (size_t i = 0; i < p->count; i++) {
        if (p->rows[i])
            continue;
        p->rows[i] = next++;
        if (!put_entry(p, i, e))
            return false;
    }
    return true;
}

static bool drop_source(struct state *s, uint64_t id, struct err *e)
{
    forget_texts(s, id);
    return forget_rows(s, ROW_OF(id, 0), ROW_OF(id + 1, 0) - 1, e) &&
           db_put(s, FORGET_SOURCE, e, DB_NUMBER(id));
}

/* Deletes the libraries that were stored longest ago, except the current
 * one. */
static bool drop_oldest(struct state *s, struct err *e)
{
    for (;;) {
        sqlite3_stmt *q = db_first(s,
                                   db_ask(s, OLDEST_SOURCE, e,
                                          DB_NUMBER(SEARCH_MAX_LIBRARIES),
                                          DB_NUMBER(SEARCH_MAX_ENTRIES)),
                                   e);
        int64_t id;

        if (!q)
            return e->code == ERR_NONE;
        id = db_column_number(q, 0, INT32_MAX, 0);
        db_finish(q);
        if (id == 0)
            return true;
        if (!drop_source(s, (uint64_t)id, e))
            return false;
    }
}

/* Writes the row of the source first, because its id is part of the ids of its
 * entries. */
static bool put_head(struct state *s, enum search_kind kind, struct str key,
                     struct arena *a, struct search_source *out, struct err *e)
{
    if (find_source(s, kind, key, a, out, e))
        return true;
    if (e->code != ERR_NONE ||
        !db_put(s, PUT_SOURCE, e, DB_NUMBER(kind), DB_BLOB(key)))
        return false;
    return find_source(s, kind, key, a, out, e) || db_fail(s, "write", e);
}

static bool put_in(struct putting *p, enum search_kind kind, struct str key,
                   struct str stamp, struct err *e)
{
    struct search_source source = {0};
    struct str texts;

    if (!put_head(p->s, kind, key, &p->a, &source, e))
        return false;
    p->source = source.id;
    forget_texts(p->s, p->source);
    if (!put_entries(p, e))
        return false;
    texts = search_texts_format(p->entries, p->rows, p->count, &p->a);
    if (!texts.n)
        return err_set(e, ERR_LIMIT, "the texts to search are too long");
    return db_put(p->s, END_SOURCE, e, DB_NUMBER(p->source), DB_BLOB(stamp),
                  DB_NUMBER(state_now_us()), DB_NUMBER(p->count),
                  DB_BLOB(texts)) &&
           (kind != SEARCH_LIBRARY || drop_oldest(p->s, e));
}

static bool put_source(struct state *s, enum search_kind kind, struct str key,
                       struct str stamp, const struct search_entry *entries,
                       size_t count, uint64_t *id, struct err *e)
{
    struct putting p = {.s = s, .entries = entries, .count = count};
    bool ok = db_open(s, e) && db_begin(s, e) &&
              db_end(s, put_in(&p, kind, key, stamp, e), e);

    *id = p.source;
    arena_done(&p.a);
    return ok;
}

bool state_put_source(struct state *s, enum search_kind kind, struct str key,
                      struct str stamp, const struct search_entry *entries,
                      size_t count, uint64_t *id, struct err *e)
{
    if (count > SEARCH_MAX_ENTRIES)
        return err_set(e, ERR_LIMIT, "more than %d entries to search",
                       SEARCH_MAX_ENTRIES);
    return DB_RETRY(s, e,
                    put_source(s, kind, key, stamp, entries, count, id, e));
}

bool state_drop_source(struct state *s, enum search_kind kind, struct str key,
                       struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct search_source source;

    if (!state_find_source(s, kind, key, &a, &source, e))
        return e->code == ERR_NONE;
    return db_begin(s, e) && db_end(s, drop_source(s, source.id, e), e);
}

bool state_stamp_source(struct state *s, enum search_kind kind, struct str key,
                        struct str stamp, struct err *e)
{
    return DB_RETRY(s, e,
                    db_open(s, e) && db_put(s, PUT_STAMP, e, DB_NUMBER(kind),
                                            DB_BLOB(key), DB_BLOB(stamp)));
}

/* --- searching ------------------------------------------------------------------------ */

static bool read_texts(struct state *s, uint64_t source, struct search_texts *t)
{
    struct arena a = t->a;
    struct str bytes, stamp = t->stamp;
    bool ok = db_read_blob(s, "sources", "texts", (int64_t)source, SIZE_MAX, &a,
                           &bytes) &&
              search_texts_parse(bytes, &a, t);

    t->a = a;
    t->stamp = stamp;
    t->source = source;
    return ok;
}

/* Reads the texts once for each source, until any process stores it again. */
static bool open_texts(struct state *s, uint64_t source,
                       struct search_texts **out, struct err *e)
{
    sqlite3_stmt *q =
        db_first(s, db_ask(s, FIND_STAMP, e, DB_NUMBER(source)), e);
    struct search_texts *t;
    char time[32];
    struct str stamp;

    if (!q)
        return e->code == ERR_NONE &&
               err_set(e, ERR_STALE, "what was searched is gone");
    snprintf(time, sizeof time, "%lld", (long long)sqlite3_column_int64(q, 0));
    db_finish(q);
    stamp = str_cstr(time);
    for (size_t i = 0; i < s->texts_count; i++)
        if (s->texts[i]->source == source &&
            str_eq(s->texts[i]->stamp, stamp)) {
            *out = s->texts[i];
            return true;
        }
    forget_texts(s, source);
    t = heap_alloc(sizeof *t);
    t->stamp = arena_str(&t->a, stamp);
    if (!read_texts(s, source, t)) {
        texts_close(t);
        return err_set(e, ERR_STALE, "the index of the search is damaged");
    }
    s->texts = heap_resize(s->texts, (s->texts_count + 1) * sizeof *s->texts);
    s->texts[s->texts_count++] = t;
    *out = t;
    return true;
}

/* The most common words are searched in all entries that are returned, and in at
 * least this many of the best. */
#define REFINED_COUNT 20

struct found {
    size_t source, entry;
    struct rating *rating;
    struct str name;
    bool is_exact, is_literal;
};

struct searching {
    struct state *s;
    const struct search_request *request;
    struct arena *a;
    struct search_words words;
    struct ranking ranking;
    struct search_texts **texts;
    uint8_t *
        *literal; /* [source][entry]: 1 in the text, 2 in the name, 3 equals
                   * the name */
};

/* Finds literal matches (T16), and names with blanks instead of hyphens. */
static void find_literal(struct searching *w, struct str query, size_t source)
{
    const struct search_texts *t = w->texts[source];
    uint8_t *literal = w->literal[source];
    struct needle needle = needle_of(query);
    size_t at = 0, i;

    while ((i = search_texts_next_text(t, &needle, &at)) != SIZE_MAX)
        if (!literal[i])
            literal[i] = 1;
    at = 0;
    while ((i = search_texts_next_name(t, &needle, &at)) != SIZE_MAX)
        literal[i] = str_eq(search_texts_name(t, i), query) ? 3
                     : literal[i] < 2                       ? 2
                                                            : literal[i];
}

static struct str with_hyphens(struct str query, struct arena *a)
{
    struct str line = text_one_line(query, a);
    char *p = arena_text(a, line.p, line.n);

    for (size_t i = 0; i < line.n; i++)
        if (p[i] == ' ')
            p[i] = '-';
    return str_make(p, line.n);
}

static void find_all_literal(struct searching *w)
{
    struct str query = text_lower(text_strip(w->request->text), w->a), name;

    if (query.n == 0 || query.n > QUERY_MAX_BYTES)
        return;
    name = with_hyphens(query, w->a);
    for (size_t i = 0; i < w->request->source_count; i++) {
        find_literal(w, query, i);
        if (!str_eq(name, query))
            find_literal(w, name, i);
    }
}

static bool is_better(const struct found *a, const struct found *b)
{
    if (a->is_exact != b->is_exact)
        return a->is_exact;
    if (a->rating->score < b->rating->score ||
        a->rating->score > b->rating->score)
        return a->rating->score > b->rating->score;
    return str_cmp(a->name, b->name) < 0;
}

static void put_best(struct found *all, size_t *count, size_t limit,
                     struct found one)
{
    size_t at = *count;

    if (at == limit && (at == 0 || !is_better(&one, &all[at - 1])))
        return;
    if (at == limit)
        at--;
    else
        ++*count;
    for (; at > 0 && is_better(&one, &all[at - 1]); at--)
        all[at] = all[at - 1];
    all[at] = one;
}

/* Returns the best entries in order. */
static struct found *collect(struct searching *w, size_t limit, size_t *count)
{
    struct found *best = arena_array(w->a, limit + 1, sizeof *best);

    *count = 0;
    for (size_t s = 0; s < w->request->source_count; s++)
        for (size_t i = 0; i < w->texts[s]->count; i++) {
            struct rating *rating = &w->ranking.ratings[s][i];
            unsigned literal = w->literal[s][i];

            if ((rating->sum <= 0 && !literal) ||
                (w->request->model && search_texts_hidden(w->texts[s], i)))
                continue;
            ranking_end(&w->ranking, rating, literal);
            put_best(best, count, limit,
                     (struct found){
                         .source = s,
                         .entry = i,
                         .rating = rating,
                         .name = search_texts_name(w->texts[s], i),
                         .is_exact = literal == 3,
                         .is_literal = literal > 0,
                     });
        }
    return best;
}

/* Adds the most common words of the request to the ratings of the best entries,
 * and sorts these again. */
static void refine(struct searching *w, struct found *all, size_t count)
{
    const struct search_words *words = &w->words;
    struct found *from = arena_array(w->a, count + 1, sizeof *from);
    uint64_t *masks = arena_array(w->a, count + 1, sizeof *masks);
    double weight;
    size_t have, n = 0;

    memcpy(from, all, count * sizeof *all);
    for (size_t i = 0; i < count; i++)
        masks[i] = search_words_find_common(
            words, search_texts_text(w->texts[all[i].source], all[i].entry));
    for (size_t k = 0; k < words->common_count; k++) {
        have = 0;
        for (size_t i = 0; i < count; i++)
            have += masks[i] >> k & 1;
        weight = ranking_common_weight(&w->ranking, have, count);
        w->ranking.common += weight;
        for (size_t i = 0; i < count; i++)
            if (masks[i] >> k & 1)
                all[i].rating->common += (float)weight;
    }
    for (size_t i = 0; i < count; i++) {
        ranking_end(&w->ranking, from[i].rating,
                    w->literal[from[i].source][from[i].entry]);
        put_best(all, &n, count, from[i]);
    }
}

static struct str words_of(const struct searching *w, uint64_t mask)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < w->words.count; i++) {
        if (!(mask >> i & 1))
            continue;
        buf_text(&b, b.n ? ", " : "");
        buf_append(&b, w->words.terms[i]);
    }
    return arena_str(w->a, buf_str(&b));
}

static bool read_entry(struct searching *w, const struct found *f,
                       struct search_hit *out, struct err *e)
{
    const struct search_texts *t = w->texts[f->source];
    size_t row = search_texts_row(t, f->entry);
    CLEANUP_ROW sqlite3_stmt *q = db_first(
        w->s, db_ask(w->s, FIND_ENTRY, e, DB_NUMBER(ROW_OF(t->source, row))),
        e);

    if (!q)
        return e->code == ERR_NONE &&
               err_set(e, ERR_STALE, "the index of the search is damaged");
    *out = (struct search_hit){.source = t->source,
                               .name = db_column_str(q, 0, w->a),
                               .description = db_column_str(q, 1, w->a),
                               .tags = db_column_str(q, 2, w->a),
                               .data = db_column_str(q, 3, w->a)};
    return true;
}

/* An exact name has the full score. The scores of others are proportional to
 * their rank relative to the best. */
static double score_of(const struct found *all, size_t i)
{
    double best = 0, part;
    size_t first = 0;

    if (all[i].is_exact)
        return 1;
    while (all[first].is_exact)
        first++;
    best = (double)all[first].rating->fit;
    part = (double)all[i].rating->score / (double)all[first].rating->score;
    return best < SEARCH_MIN_SCORE
               ? best * part
               : SEARCH_MIN_SCORE + (best - SEARCH_MIN_SCORE) * part;
}

static bool search_in(struct searching *w, struct search_hit **out,
                      size_t *count, struct err *e)
{
    const struct search_request *r = w->request;
    struct search_hit *hits;
    struct found *all;
    struct str unknown;
    size_t n, limit, most = 0;

    w->texts = arena_array(w->a, r->source_count + 1, sizeof *w->texts);
    w->literal = arena_array(w->a, r->source_count + 1, sizeof *w->literal);
    for (size_t i = 0; i < r->source_count; i++) {
        if (!open_texts(w->s, r->sources[i], &w->texts[i], e))
            return false;
        w->literal[i] = arena_array(w->a, w->texts[i]->count + 1, 1);
    }
    search_words_read(&w->words, r->text, w->a);
    ranking_begin(&w->ranking, &w->words, w->texts, r->source_count, w->a);
    if (!ranking_rate(&w->ranking, w->s, w->a, e))
        return false;
    ranking_add_parts(&w->ranking);
    find_all_literal(w);
    for (size_t i = 0; i < r->source_count; i++)
        most += w->texts[i]->count;
    limit = r->limit > REFINED_COUNT ? r->limit : REFINED_COUNT;
    all = collect(w, limit < most ? limit : most, &n);
    refine(w, all, n);
    if (n > r->limit)
        n = r->limit;
    hits = arena_array(w->a, n + 1, sizeof *hits);
    unknown = words_of(w, w->ranking.unknown);
    for (size_t i = 0; i < n; i++) {
        if (!read_entry(w, &all[i], &hits[i], e))
            return false;
        hits[i].score = score_of(all, i);
        hits[i].is_exact = all[i].is_exact;
        hits[i].is_literal = all[i].is_literal;
        hits[i].words = words_of(w, all[i].rating->mask);
        hits[i].unknown = all[i].is_literal ? STR("") : unknown;
    }
    *out = hits;
    *count = n;
    return true;
}

static bool search(struct state *s, const struct search_request *r,
                   struct arena *a, struct search_hit **out, size_t *count,
                   struct err *e)
{
    struct searching *w;
    bool reading, ok;

    if (!db_open(s, e))
        return false;
    w = arena_new(a, struct searching);
    w->s = s;
    w->request = r;
    w->a = a;
    /* all queries see the same state of mapm.db */
    reading = sqlite3_get_autocommit(s->db) &&
              sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
    ok = search_in(w, out, count, e);
    if (reading)
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    return ok;
}

bool state_search(struct state *s, const struct search_request *r,
                  struct arena *a, struct search_hit **out, size_t *count,
                  struct err *e)
{
    return DB_RETRY(s, e, search(s, r, a, out, count, e));
}
