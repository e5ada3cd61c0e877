#include "batch_record.h"

#include "base/json.h"

#include <stdio.h>

#define JOURNAL_VERSION   1
#define LENGTH_DIGITS     8
#define SUM_DIGITS        16
#define PAYLOAD_MAX_DEPTH 160 /* depth of a line of a tape in a record */
#define PAYLOAD_MAX_NODES 1100000

static const char *const names[] = {
    [BATCH_COMPLETED] = "completed",
    [BATCH_FAILED] = "failed",
    [BATCH_INTERRUPTED] = "interrupted",
};

const char *batch_end_name(enum batch_end how)
{
    return names[how];
}

bool batch_end_find(struct str word, enum batch_end *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(word, names[i])) {
            *out = (enum batch_end)i;
            return true;
        }
    return false;
}

/* --- writing ---------------------------------------------------------------- */

static void put_header(struct buf *out, struct str payload)
{
    struct hash sum = hash_of(payload);
    char hex[HASH_HEX_CHARS + 1];

    hash_format(&sum, hex);
    buf_printf(out, "%08zx %.*s ", payload.n, SUM_DIGITS, hex);
}

static void put_frame(struct buf *out, struct str payload)
{
    put_header(out, payload);
    buf_append(out, payload);
    buf_char(out, '\n');
}

static void put_hash(struct json_writer *w, const char *key,
                     const struct hash *h)
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(h, hex);
    json_member_string(w, key, str_cstr(hex));
}

static void put_record(struct json_writer *w,
                       const struct batch_journal_record *r)
{
    switch (r->kind) {
    case JOURNAL_START:
        put_hash(w, "start", &r->key);
        put_hash(w, "input", &r->input);
        break;
    case JOURNAL_BEGIN:
        put_hash(w, "begin", &r->key);
        json_member_string(w, "kind", r->is_ask ? STR("ask") : STR("command"));
        break;
    case JOURNAL_DID:
        put_hash(w, "did", &r->key);
        json_member_raw(w, "line", r->text);
        break;
    case JOURNAL_END:
        put_hash(w, "end", &r->key);
        json_member_string(w, "how", str_cstr(batch_end_name(r->how)));
        json_member_raw(w, "out", r->text);
        break;
    }
}

void batch_journal_put(struct buf *out, const struct batch_journal_record *r)
{
    CLEANUP(buf_done) struct buf payload = {0};
    struct json_writer w;

    json_open(&w, &payload, BATCH_RECORD_MAX_BYTES, 0);
    put_record(&w, r);
    json_end_object(&w);
    put_frame(out, buf_str(&payload));
    out->overflowed |= payload.overflowed;
}

void batch_journal_put_head(struct buf *out, const struct batch_journal_head *h)
{
    CLEANUP(buf_done) struct buf payload = {0};
    struct json_writer w;

    json_open(&w, &payload, BATCH_RECORD_MAX_BYTES, 0);
    json_member_number(&w, "journal", JOURNAL_VERSION);
    json_member_string(&w, "metaskill", h->metaskill);
    json_member_string(&w, "digest", h->digest);
    json_member_number(&w, "shard", h->shard);
    json_member_number(&w, "shards", h->shards);
    json_end_object(&w);
    put_frame(out, buf_str(&payload));
}

/* --- frames ----------------------------------------------------------------- */

static bool read_length(struct str digits, size_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];

        if (!char_is_hex(c))
            return false;
        n = n * 16 + (size_t)(char_is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    *out = n;
    return n <= BATCH_RECORD_MAX_BYTES;
}

static bool has_sum(struct str payload, struct str digits)
{
    struct hash sum = hash_of(payload);
    char hex[HASH_HEX_CHARS + 1];

    hash_format(&sum, hex);
    return str_eq(str_make(hex, SUM_DIGITS), digits);
}

enum batch_journal_frame batch_journal_frame(struct str bytes,
                                             struct str *payload, size_t *need)
{
    size_t length;

    *need = JOURNAL_HEADER_BYTES;
    if (bytes.n < JOURNAL_HEADER_BYTES)
        return JOURNAL_MORE;
    if (!read_length(str_slice(bytes, 0, LENGTH_DIGITS), &length) ||
        bytes.p[LENGTH_DIGITS] != ' ' ||
        bytes.p[JOURNAL_HEADER_BYTES - 1] != ' ')
        return JOURNAL_BAD;
    *need = JOURNAL_HEADER_BYTES + length + 1;
    if (bytes.n < *need)
        return JOURNAL_MORE;
    *payload = str_slice(bytes, JOURNAL_HEADER_BYTES, *need - 1);
    if (bytes.p[*need - 1] != '\n' || str_has_char(*payload, '\n') ||
        !has_sum(*payload, str_slice(bytes, LENGTH_DIGITS + 1,
                                     LENGTH_DIGITS + 1 + SUM_DIGITS)))
        return JOURNAL_BAD;
    return JOURNAL_WHOLE;
}

/* --- reading ---------------------------------------------------------------- */

static bool no_record(struct err *e)
{
    return err_set(e, ERR_FORMAT, "no record of a journal");
}

static bool parse_object(struct str payload, struct arena *a,
                         const struct json **out, struct err *e)
{
    static const struct json_options options = {
        .max_bytes = BATCH_RECORD_MAX_BYTES,
        .max_depth = PAYLOAD_MAX_DEPTH,
        .max_nodes = PAYLOAD_MAX_NODES,
    };

    if (!json_parse(payload, &options, a, out, NULL, e))
        return false;
    return (*out)->kind == JSON_OBJECT || no_record(e);
}

/* Takes the next member, which must have this key and kind. Members have a
 * fixed order. */
static bool take(const struct json **at, const char *key, enum json_kind kind)
{
    return *at && str_is((*at)->key, key) && (*at)->kind == kind;
}

static bool read_hash(const struct json *at, const char *key, struct hash *out)
{
    return take(&at, key, JSON_STRING) && hash_parse(at->text, out);
}

static bool read_object(const struct json *at, const char *key,
                        struct str payload, struct str *out)
{
    if (!take(&at, key, JSON_OBJECT) || at->next)
        return false;
    *out = str_slice(payload, at->start, at->end);
    return true;
}

static bool read_kind(const struct json *at, bool *is_ask)
{
    if (!take(&at, "kind", JSON_STRING) || at->next)
        return false;
    *is_ask = str_is(at->text, "ask");
    return *is_ask || str_is(at->text, "command");
}

static bool read_end(const struct json *at, struct str payload,
                     struct batch_journal_record *out)
{
    return take(&at, "how", JSON_STRING) &&
           batch_end_find(at->text, &out->how) &&
           read_object(at->next, "out", payload, &out->text);
}

static bool read_record(const struct json *first, struct str payload,
                        struct batch_journal_record *out)
{
    const struct json *second = first ? first->next : NULL;

    *out =
        (struct batch_journal_record){.kind = JOURNAL_START, .text = STR("")};
    if (read_hash(first, "start", &out->key))
        return read_hash(second, "input", &out->input) && !second->next;
    out->kind = JOURNAL_BEGIN;
    if (read_hash(first, "begin", &out->key))
        return read_kind(second, &out->is_ask);
    out->kind = JOURNAL_DID;
    if (read_hash(first, "did", &out->key))
        return read_object(second, "line", payload, &out->text);
    out->kind = JOURNAL_END;
    return read_hash(first, "end", &out->key) && read_end(second, payload, out);
}

bool batch_journal_parse(struct str payload, struct arena *a,
                         struct batch_journal_record *out, struct err *e)
{
    const struct json *j;

    return parse_object(payload, a, &j, e) &&
           (read_record(j->first, payload, out) || no_record(e));
}

static bool read_number(const struct json *j, const char *key, unsigned max,
                        unsigned *out)
{
    const struct json *n = json_get(j, key);
    uint64_t value;

    if (!n || n->kind != JSON_NUMBER || !str_number(n->text, max, &value))
        return false;
    *out = (unsigned)value;
    return true;
}

bool batch_journal_parse_head(struct str payload, struct arena *a,
                              struct batch_journal_head *out, struct err *e)
{
    const struct json *j;
    unsigned version;

    if (!parse_object(payload, a, &j, e))
        return false;
    *out = (struct batch_journal_head){
        .metaskill = json_text(json_get(j, "metaskill")),
        .digest = json_text(json_get(j, "digest")),
    };
    if (!read_number(j, "journal", UINT32_MAX, &version) ||
        version != JOURNAL_VERSION)
        return err_set(e, ERR_FORMAT,
                       "no journal of a batch, or one of a version that this "
                       "program does not know");
    if (j->count != 5 || !out->metaskill.p || !out->digest.p ||
        !read_number(j, "shards", BATCH_MAX_SHARDS, &out->shards) ||
        !read_number(j, "shard", BATCH_MAX_SHARDS, &out->shard) ||
        out->shard >= out->shards)
        return no_record(e);
    return true;
}
