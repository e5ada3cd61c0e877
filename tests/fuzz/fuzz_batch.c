/* batch: any bytes as a journal, as one of its records, as a line of the input and
 * of the output; what was read is written as it was. The first byte chooses. [S6]. */
#include <stdlib.h>

#include "../../batch/batch_record.h"
#include "../../batch/input.h"
#include "../../batch/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_same(struct str payload, const struct buf *written)
{
    struct str again;
    size_t need;

    require(batch_journal_frame(buf_str(written), &again, &need) ==
            JOURNAL_WHOLE);
    require(need == written->n);
    /* Names and hashes have one spelling; blanks between them are none of ours. */
    require(again.n <= payload.n * 6 + 16);
}

static void record(struct str payload)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct batch_journal_record r, again;
    struct str text;
    struct err e = {0};
    size_t need;

    if (str_has_char(payload, '\n'))
        return; /* no frame has it */
    if (!batch_journal_parse(payload, &a, &r, &e)) {
        require(e.code == ERR_FORMAT || e.code == ERR_LIMIT);
        return;
    }
    buf_init(&b, BATCH_RECORD_MAX_BYTES);
    batch_journal_put(&b, &r);
    check_same(payload, &b);
    require(batch_journal_frame(buf_str(&b), &text, &need) == JOURNAL_WHOLE);
    require(batch_journal_parse(text, &a, &again, &e));
    require(again.kind == r.kind && hash_eq(&again.key, &r.key) &&
            hash_eq(&again.input, &r.input) && again.is_ask == r.is_ask &&
            again.how == r.how && str_eq(again.text, r.text));
}

static void head(struct str payload)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct batch_journal_head h, again;
    struct str text;
    struct err e = {0};
    size_t need;

    if (!batch_journal_parse_head(payload, &a, &h, &e))
        return;
    buf_init(&b, BATCH_RECORD_MAX_BYTES);
    batch_journal_put_head(&b, &h);
    require(batch_journal_frame(buf_str(&b), &text, &need) == JOURNAL_WHOLE);
    require(batch_journal_parse_head(text, &a, &again, &e));
    require(again.shard == h.shard && again.shards == h.shards &&
            str_eq(again.digest, h.digest));
}

static void frames(struct str bytes)
{
    for (;;) {
        struct str payload;
        size_t need;

        switch (batch_journal_frame(bytes, &payload, &need)) {
        case JOURNAL_WHOLE:
            require(need <= bytes.n && payload.n < need);
            record(payload);
            head(payload);
            bytes = str_from_index(bytes, need);
            break;
        case JOURNAL_MORE:
            require(need > bytes.n);
            require(need <= BATCH_RECORD_MAX_BYTES + JOURNAL_HEADER_BYTES + 1);
            return;
        case JOURNAL_BAD:
            return;
        }
    }
}

static void item(struct str line)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct batch_item in;
    struct err e = {0};

    if (batch_item_parse(line, 1, &a, &in, &e)) {
        require(in.id.n > 0 && in.id.n <= BATCH_ID_MAX_BYTES);
        require(str_starts(in.input, STR("{")));
        require(!str_has_char(in.input, '\n'));
    } else {
        require(e.code != ERR_NONE);
    }
}

static void result(struct str line)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct batch_result r = {.id = STR("x"), .envelope = line}, again;
    struct err e = {0};

    (void)!batch_read_result(line, &a, &again, &e);
    if (!batch_put_result(&b, &r, &e))
        return;
    require(batch_read_result(buf_str(&b), &a, &again, &e));
    require(str_is(again.id, "x") && again.how == BATCH_COMPLETED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct str) = {frames, record, head, item,
                                                  result};
    size_t count = sizeof readers / sizeof *readers;

    if (size)
        readers[(uint8_t)(data[0] - '0') % count](
            str_make((const char *)data + 1, size - 1));
    return 0;
}
