#ifndef FETCH_POST_H
#define FETCH_POST_H

#include "mapm/fetch.h"

#include "frame.h"

/*
 * post: the frames of one request to an API, or for a document (GET), and what
 * may be in them.
 *
 *     mapm --> POST                     its only frame
 *         <-- REPLY, or FATAL           likewise
 *
 * Both sides write with one pair of functions and read with the other, and each
 * judges what it reads: a request that could not have been meant is refused by
 * mapm-fetch as well.
 *
 * Headers carry the key. So no text of a request goes into an error: those name
 * the scheme, the host and the path of the address alone.
 *
 * Source: DESIGN.md 8; THREATS.md rows 13, 14, 20.
 */

#define POST_URL_MAX_BYTES       2048u
#define POST_HEADERS_MAX         32u
#define POST_HEADER_MAX_BYTES    (16u * 1024)
#define POST_BODY_MAX_BYTES      (48u << 20) /* PROMPT_MAX_BYTES, all escaped */
#define POST_ANSWER_MAX_BYTES    (32u << 20)
#define POST_MAX_MS              86400000u /* SECONDS_CEILING */
#define POST_RETRY_MAX_S         86400u
#define POST_CONDITION_MAX_BYTES 512u
#define POST_TYPE_MAX_BYTES      256u

/*
 * May it be sent? An address of http or https without blanks, controls, user or
 * fragment; headers of one line each, name and value not empty; a GET without a
 * body; sizes as above.
 * Errors: ERR_ORIGIN for the address, ERR_LIMIT, ERR_FAILED for a header.
 */
MUST_CHECK bool post_check(const struct fetch_post *in, struct err *e);

/* `time_ms` is the rest of the deadline: clocks differ between processes. */
void post_write(struct buf *b, const struct fetch_post *in, uint64_t time_ms);
/* All in `a`; `out->deadline_ms` is not set. False: it makes no sense. */
bool post_read(struct str body, struct arena *a, struct fetch_post *out,
               uint64_t *time_ms);

/* Text of one header line, as of a request. */
bool post_header_is_good(struct str line);

void post_write_reply(struct buf *b, const struct fetch_reply *in);
/* All in `a`. False: it makes no sense, or its body has more bytes. */
bool post_read_reply(struct str body, size_t max_bytes, struct arena *a,
                     struct fetch_reply *out);

/* Of the address what may be shown: nothing behind a "?". Borrowed. */
struct str post_shown(struct str url);
/* ERR_FETCH: the time is over, of which there was so much. False. */
bool post_late(struct str url, uint64_t time_ms, struct err *e);

#endif
