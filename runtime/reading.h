#ifndef RUNTIME_READING_H
#define RUNTIME_READING_H

#include "base/buf.h"
#include "mapm/clients_preset.h"

/*
 * reading: parses the output of a backend while it is printed.
 *
 *     blocks, cut anywhere --> reading_feed() --> turns, the answer so far, stop
 *
 * The rules of a preset apply to each line; without rules the whole text is the
 * answer. Memory is bounded: no more of the answer is stored than can be
 * returned, and a line over the limit is skipped. The text is untrusted; a line
 * that is not a JSON object is ignored.
 */

struct reading {
    const struct preset_rule *rules; /* rules of a preset; NULL for plain
                                      * text */
    unsigned cap;                    /* limit of turns; 0 for none */
    size_t max_chars;

    unsigned turns;
    bool stop;      /* it exceeds its limit and must be ended */
    bool exhausted; /* it ended at a limit */
    bool answered;  /* `text` is the complete answer */
    bool failed;    /* it failed; `why` is the reason, "" if unknown */
    bool flooded;   /* output exceeds ANSWER_OUTPUT_MAX_BYTES */
    bool had_event; /* at least one line was a JSON object */
    struct buf text, why;
    size_t chars; /* number of characters in `text`, of events */

    struct buf line;
    bool skip_line; /* the rest of an overlong line is skipped */
    bool new_turn;  /* further text starts another answer */
    bool speaking;
    unsigned calls;   /* tool calls in progress */
    size_t bytes;     /* total number of bytes read */
    uint64_t turn_id; /* id of the last ACT_TURN with a text */
};

void reading_init(struct reading *r, const struct preset_rule *rules,
                  unsigned cap, size_t max_chars);
void reading_done(struct reading *r);
void reading_feed(struct reading *r, struct str block);
void reading_end(struct reading *r); /* Handles a last line without a line
                                      * end. */

#endif
