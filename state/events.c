#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "database.h"

/*
 * Events of the sessions of the library, in the order of writing. An id is a
 * ULID: 48 bits of milliseconds and 80 random bits, in 26 characters that sort
 * by time of creation.
 */

/* Number of rows deleted at once; until then a few too many exist. */
#define EVENTS_FORGET 64

/* --- ids ------------------------------------------------------------------------ */

static void draw(uint8_t *out, size_t n)
{
    static const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t x;

    if (getrandom(out, n, 0) == (ssize_t)n)
        return;
    /* without random bytes of the kernel, two processes still differ */
    x = (uint64_t)state_now_us() ^ ((uint64_t)getpid() << 40);
    for (size_t i = 0; i < n; i++) {
        x = (x ^ (x >> 29)) * odd;
        out[i] = (uint8_t)(x >> 56);
    }
}

/* Increments the random part; returns false on overflow. */
static bool add_one(uint8_t *chance, size_t n)
{
    while (n-- > 0)
        if (++chance[n])
            return true;
    return false;
}

static void write_id(uint64_t ms, const uint8_t chance[10],
                     char out[STATE_ID_CHARS + 1])
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint8_t b[16];
    unsigned bits = 2, value = 0; /* 26 digits contain two bits more */
    size_t n = 0;

    for (int i = 0; i < 6; i++)
        b[i] = (uint8_t)(ms >> (40 - 8 * i));
    memcpy(b + 6, chance, 10);
    for (size_t i = 0; i < sizeof b; i++) {
        value = (value << 8) | b[i];
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            out[n++] = digits[(value >> bits) & 31];
        }
    }
    out[n] = '\0';
}

/* Creates an id for `ms`, or for a later time that was used already. */
static void make_id(struct state *s, uint64_t ms, char out[STATE_ID_CHARS + 1])
{
    if (ms > s->id_ms) {
        s->id_ms = ms;
        draw(s->id_chance, sizeof s->id_chance);
    } else if (!add_one(s->id_chance, sizeof s->id_chance)) {
        s->id_ms++;
    }
    write_id(s->id_ms, s->id_chance, out);
}

void state_make_id(struct state *s, char out[STATE_ID_CHARS + 1])
{
    make_id(s, (uint64_t)(state_now_us() / 1000), out);
}

/* --- writing -------------------------------------------------------------------- */

static bool is_one_of(struct str word, const char *const *words)
{
    for (; *words; words++)
        if (str_is(word, *words))
            return true;
    return false;
}

static bool check_event(const struct state_event *v, struct err *e)
{
    static const char *const actors[] = {"user", "agent",  "system",
                                         "tool", "worker", NULL};
    static const char *const sensitivities[] = {
        "private", "user_controlled", "pseudonymous", "aggregatable", NULL};

    if (!is_one_of(v->actor, actors))
        return err_set(e, ERR_FORMAT, "\"%.*s\" is not an actor of an event",
                       STR_ARG(v->actor));
    if (!is_one_of(v->sensitivity, sensitivities))
        return err_set(e, ERR_FORMAT,
                       "\"%.*s\" is not a sensitivity of an event",
                       STR_ARG(v->sensitivity));
    if (v->payload.n > EVENT_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "the payload of an event has %zu bytes, at most %u "
                       "are kept",
                       v->payload.n, EVENT_MAX_BYTES);
    return true;
}

static bool insert_event(struct state *s, const struct state_event *v,
                         struct err *e)
{
    return db_put(s, PUT_EVENT, e, DB_TEXT(v->id), DB_NUMBER(v->timestamp_us),
                  DB_TEXT(v->session_id), DB_OPTIONAL(v->turn_id),
                  DB_OPTIONAL(v->parent_event_id), DB_TEXT(v->type),
                  DB_TEXT(v->actor), DB_TEXT(v->sensitivity),
                  DB_TEXT(v->payload));
}

/* Deletes only the oldest rows, so that there are no gaps. */
static bool forget_oldest(struct state *s, struct err *e)
{
    int64_t newest = sqlite3_last_insert_rowid(s->db);

    return newest % EVENTS_FORGET != 0 || newest <= EVENTS_MAX ||
           db_put(s, FORGET_EVENTS, e, DB_NUMBER(newest - EVENTS_MAX));
}

static bool put_event(struct state *s, const struct state_event *v,
                      struct err *e)
{
    if (!db_open(s, e))
        return false;
    if (!db_is_alone(s))
        return insert_event(s, v, e) && forget_oldest(s, e);
    return db_begin(s, e) &&
           db_end(s, insert_event(s, v, e) && forget_oldest(s, e), e);
}

bool state_put_event(struct state *s, const struct state_event *v,
                     struct err *e)
{
    struct state_event whole = *v;
    bool alone = db_is_alone(s);
    char id[STATE_ID_CHARS + 1];

    if (!check_event(v, e))
        return false;
    if (!whole.timestamp_us)
        whole.timestamp_us = state_now_us();
    if (!whole.id.n) {
        make_id(s, (uint64_t)(whole.timestamp_us / 1000), id);
        whole.id = str_cstr(id);
    }
    return put_event(s, &whole, e) ||
           (alone && db_mended(s, e) && put_event(s, &whole, e));
}

/* --- reading -------------------------------------------------------------------- */

static bool read_event(sqlite3_stmt *q, struct arena *a, void *out)
{
    *(struct state_event *)out = (struct state_event){
        .row = db_column_number(q, 0, INT64_MAX, 0),
        .id = db_column_str(q, 1, a),
        .timestamp_us = db_column_number(q, 2, TIME_MAX_SECONDS * 1000000, 0),
        .session_id = db_column_str(q, 3, a),
        .turn_id = db_column_str(q, 4, a),
        .parent_event_id = db_column_str(q, 5, a),
        .type = db_column_str(q, 6, a),
        .actor = db_column_str(q, 7, a),
        .sensitivity = db_column_str(q, 8, a),
        .payload = db_column_str(q, 9, a),
    };
    return true;
}

static bool list_events(struct state *s, const struct state_event_query *query,
                        struct arena *a, struct state_event **out,
                        size_t *count, struct err *e)
{
    const size_t max =
        query->max < EVENTS_MAX * 2 ? query->max : EVENTS_MAX * 2;
    sqlite3_stmt *q = db_ask(s, query->follow ? FOLLOW_EVENTS : LIST_EVENTS, e,
                             DB_TEXT(query->type), DB_TEXT(query->session_id),
                             DB_NUMBER(query->since_us), DB_NUMBER(max),
                             DB_NUMBER(query->after));
    struct db_rows rows;

    if (!db_list(s, q, sizeof(struct state_event), read_event, a, &rows, e))
        return false;
    *out = rows.items;
    *count = rows.count;
    return true;
}

bool state_list_events(struct state *s, const struct state_event_query *query,
                       struct arena *a, struct state_event **out, size_t *count,
                       struct err *e)
{
    return DB_RETRY(s, e, list_events(s, query, a, out, count, e));
}
