#ifndef MCP_LINES_H
#define MCP_LINES_H

#include "base/buf.h"

/*
 * lines: input, cut into lines as it comes. What is longer than a line may be
 * is told once and passed over: it costs no memory.
 *
 *     lines_room(), read(2), lines_add()  -->  lines_take() until LINES_MORE
 */

struct lines {
    char *p;
    size_t start, n, capacity; /* unread: p[start .. n) */
    size_t seen;               /* of it, without a line end */
    size_t max;
    bool skipping;
};

enum lines_state { LINES_MORE, LINES_READY, LINES_LONG };

void lines_init(struct lines *l, size_t max_bytes);
void lines_done(struct lines *l);

/* Where the next `*n` bytes at most may be put. */
char *lines_room(struct lines *l, size_t *n);
void lines_add(struct lines *l, size_t n);

/* `*line` is borrowed until the next lines_room; of a long one it is as much
 * as was kept. */
enum lines_state lines_take(struct lines *l, struct str *line);

/* Whether what comes next begins with `c`, blanks aside. */
bool lines_next_is(const struct lines *l, char c);

/* At the end of input: what stands there without a line end, if anything. */
bool lines_rest(struct lines *l, struct str *line);

#endif
