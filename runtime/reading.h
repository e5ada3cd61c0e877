#ifndef RUNTIME_READING_H
#define RUNTIME_READING_H

#include "base/buf.h"
#include "mapm/clients_preset.h"

/*
 * reading: what a program prints, while it prints it.
 *
 *     blocks, cut anywhere --> reading_feed() --> turns, the answer so far, stop
 *
 * Lines are judged by the rules of a preset; without any the text itself is
 * the answer. Memory stays flat, whatever comes: of the answer no more is kept
 * than can be given back, a line that is too long is passed over. The text is
 * hostile; what is no JSON object is no event.
 */

struct reading {
    const struct preset_rule *rules; /* NULL: plain text */
    unsigned cap;                    /* of turns; 0: none to keep */
    size_t max_chars;

    unsigned turns;
    bool stop;      /* it wants more than it may: end it */
    bool exhausted; /* it ended at a limit */
    bool answered;  /* `text` is the answer, not only what was said so far */
    bool failed;    /* `why` says why, "" when nobody said it */
    bool flooded;   /* past ANSWER_OUTPUT_MAX_BYTES */
    bool had_event; /* a line that was a JSON object */
    struct buf text, why;
    size_t chars; /* of text, of events */

    struct buf line;
    bool skip_line; /* too long: up to its end */
    bool new_turn;  /* what it says next is another answer */
    bool speaking;
    unsigned calls;   /* under way */
    size_t bytes;     /* in all */
    uint64_t turn_id; /* of the last ACT_TURN with a text */
};

void reading_init(struct reading *r, const struct preset_rule *rules,
                  unsigned cap, size_t max_chars);
void reading_done(struct reading *r);
void reading_feed(struct reading *r, struct str block);
void reading_end(struct reading *r); /* the last line may have had no end */

#endif
