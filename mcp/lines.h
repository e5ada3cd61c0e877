#ifndef MCP_LINES_H
#define MCP_LINES_H

#include "base/buf.h"

/*
 * lines: input, cut into lines as it comes. A line over the limit is reported
 * once and skipped without buffering it.
 *
 *     lines_room(), read(2), lines_add()  -->  lines_take() until LINES_MORE
 */

struct lines {
    char *p;
    size_t start, n, capacity; /* unread: p[start .. n) */
    size_t seen;               /* bytes of it that were searched for a line
                                * end */
    size_t max;
    bool skipping;
};

enum lines_state { LINES_MORE, LINES_READY, LINES_LONG };

void lines_init(struct lines *l, size_t max_bytes);
void lines_done(struct lines *l);

/* Returns the buffer for the next read, of `*n` bytes. */
char *lines_room(struct lines *l, size_t *n);
void lines_add(struct lines *l, size_t n);

/* `*line` is borrowed until the next lines_room; of a line over the limit it is
 * the buffered beginning. */
enum lines_state lines_take(struct lines *l, struct str *line);

/* Returns whether the next byte that is not blank is `c`. */
bool lines_next_is(const struct lines *l, char c);

/* Returns a last line without a line end, at the end of input. */
bool lines_rest(struct lines *l, struct str *line);

#endif
