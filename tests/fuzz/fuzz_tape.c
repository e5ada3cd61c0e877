/* A tape: a run that asks for just what stands on it is what it was, and what
 * is recorded of that run is the same tape. [K39, row 16]. */
#include "mapm/runtime.h"
#include "mapm/tape.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What passes the recorder comes from the tape. */
static void play(const struct tape *t, struct runtime_host *h, struct arena *a)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct tape_entry *entry = &t->entries[i];
        struct ask ask = {1, entry->prompt, {0}, entry->opts, 1, 0, SIZE_MAX};
        struct command command = {1, entry->argv, entry->argc, entry->opts,
                                  1, 0,           SIZE_MAX};
        struct answer answer;
        struct command_result outcome;
        struct err e = {0};

        if (entry->is_ask)
            require(h->ask(h->ctx, &ask, a, &answer, &e) ==
                    (entry->failure.n == 0));
        else
            require(h->command(h->ctx, &command, a, &outcome, &e));
    }
}

static struct runtime_result end_of(const struct tape *t)
{
    if (t->envelope.n)
        return (struct runtime_result){.end = RUNTIME_COMPLETED,
                                       .envelope = t->envelope};
    return (struct runtime_result){.end = RUNTIME_FAILED, .text = t->error};
}

static void check_record(const struct tape *t, struct arena *a)
{
    struct tape_player p = {.tape = t, .arena = a};
    struct tape_recorder r = {.inner = tape_replay(&p)};
    struct runtime_host h = tape_record(&r);
    struct runtime_result end = end_of(t);
    struct tape again;
    struct err e = {0};

    tape_begin(&r, t->name, t->digest, t->input, &t->limits);
    play(t, &h, a);
    require(tape_verify(&p, &end, a).n == 0);
    require(tape_end(&r, &end, &e));
    /* A message is bounded, and a long one cut. */
    if (tape_parse(buf_str(&r.lines), "again", a, &again, &e)) {
        struct tape_player q = {.tape = &again, .arena = a};
        struct runtime_host g = tape_replay(&q);
        bool cut = false;

        for (size_t i = 0; i < t->count; i++)
            cut |= t->entries[i].failure.n > ERR_TEXT_MAX_BYTES / 2;
        require(again.count == t->count);
        if (!cut)
            play(t, &g, a);
        require(cut || tape_verify(&q, &end, a).n == 0);
    } else {
        require(e.code == ERR_LIMIT);
    }
    buf_done(&r.lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size), other;
    struct runtime_result nothing = {.end = RUNTIME_COMPLETED,
                                     .envelope = STR("{\"a\":1}")};
    struct tape t = {0}, updated;
    struct err e = {0};

    if (!tape_parse(text, "t", &a, &t, &e)) {
        require(e.code == ERR_FORMAT || e.code == ERR_LIMIT);
        require(!t.file);
        return 0;
    }
    check_record(&t, &a);
    tape_compare(&t, &nothing, &a);
    other = tape_update(text, &t, &nothing, &a);
    require(tape_parse(other, "other", &a, &updated, &e));
    require(tape_compare(&updated, &nothing, &a).n == 0);
    return 0;
}
