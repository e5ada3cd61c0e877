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
 * answer. Memory is bounded: of the answer at most what can be returned is
 * stored, a line over the limit is skipped. The text is hostile; a line that is
 * not a JSON object is ignored.
 */

struct reading {
    const struct preset_rule *rules; /* NULL: plain text */
    unsigned cap;                    /* of turns; 0: none to keep */
    size_t max_chars;

    unsigned turns;
    bool stop;      /* it wants more than it may: end it */
    bool exhausted; /* it ended at a limit */
    bool answered;  /* `text` is the answer, not only the text so far */
    bool failed;    /* `why` is the reason, "" when unknown */
    bool flooded;   /* past ANSWER_OUTPUT_MAX_BYTES */
    bool had_event; /* a line that was a JSON object */
    struct buf text, why;
    size_t chars; /* of text, of events */

    struct buf line;
    bool skip_line; /* too long: up to its end */
    bool new_turn;  /* further text belongs to another answer */
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
