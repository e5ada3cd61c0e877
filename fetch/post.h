#ifndef FETCH_POST_H
#define FETCH_POST_H

#include "mapm/fetch.h"

#include "frame.h"

/*
 * post: the frames of one HTTP request, to an API or for a document (GET), and
 * their validation.
 *
 *     mapm --> POST                     its only frame
 *         <-- REPLY, or FATAL           the only frame of mapm-fetch
 *
 * Both sides use the same functions to write and read, and validate all that
 * they read: mapm-fetch also rejects an invalid request.
 *
 * Headers hold the API key. Therefore errors never quote the request; they name
 * only the scheme, host and path of the URL.
 *
 * Source: DESIGN.md 8; THREATS.md rows 13, 14, 20.
 */

#define POST_URL_MAX_BYTES    2048u
#define POST_HEADERS_MAX      32u
#define POST_HEADER_MAX_BYTES (16u * 1024)
/* PROMPT_MAX_BYTES with every character escaped. */
#define POST_BODY_MAX_BYTES      (48u << 20)
#define POST_ANSWER_MAX_BYTES    (32u << 20)
#define POST_MAX_MS              86400000u /* SECONDS_CEILING */
#define POST_RETRY_MAX_S         86400u
#define POST_CONDITION_MAX_BYTES 512u
#define POST_TYPE_MAX_BYTES      256u

/*
 * Validates a request: an http or https URL without blanks, control characters,
 * user or fragment; headers of one line each, with a name and a value; no body
 * in a GET; sizes within the limits above. Errors: ERR_ORIGIN for the URL,
 * ERR_LIMIT, ERR_FAILED for a header.
 */
MUST_CHECK bool post_check(const struct fetch_post *in, struct err *e);

/* `time_ms` is the time left until the deadline, since the clocks of processes
 * may differ. */
void post_write(struct buf *b, const struct fetch_post *in, uint64_t time_ms);
/* Allocates in `a`; does not set `out->deadline_ms`. Returns false if the frame
 * is invalid. */
bool post_read(struct str body, struct arena *a, struct fetch_post *out,
               uint64_t *time_ms);

/* Returns whether `line` is a valid header line of a request. */
bool post_header_is_good(struct str line);

void post_write_reply(struct buf *b, const struct fetch_reply *in);
/* Allocates in `a`. Returns false if the frame is invalid or the body is larger
 * than `max_bytes`. */
bool post_read_reply(struct str body, size_t max_bytes, struct arena *a,
                     struct fetch_reply *out);

/* Returns `url` without its query, for messages. Borrows from `url`. */
struct str post_shown(struct str url);
/* Sets ERR_FETCH: no complete response within `time_ms`. Returns false. */
bool post_late(struct str url, uint64_t time_ms, struct err *e);

#endif
