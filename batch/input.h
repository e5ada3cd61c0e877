#ifndef BATCH_INPUT_H
#define BATCH_INPUT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

#include "batch_record.h"

/*
 * input: the lines of FILE.jsonl, by their ids. The file is read once in blocks;
 * what is kept of a line is where it is.
 *
 *     {"id":"pr-17","input":{…}}     `id` is the number of the line if it is left out
 */

enum batch_state { BATCH_NEW, BATCH_STARTED, BATCH_ENDED };

struct batch_line {
    struct hash key, input; /* SHA-256 of the id, of the compact input */
    uint64_t offset;
    uint32_t length, number;
    /* Of the journal: where its run began, and its end. */
    enum batch_state state;
    enum batch_end how;
    uint64_t start, end;
};

struct batch_input {
    const char *path;
    int fd;
    struct batch_line *lines; /* in the order of the file */
    uint32_t *by_key;
    size_t count;
};

/* One line as it is parsed. */
struct batch_item {
    struct str id, input; /* input: compact JSON */
};

/* Strict. `number` is that of the line. In `a`. ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool batch_item_parse(struct str line, unsigned number,
                                 struct arena *a, struct batch_item *out,
                                 struct err *e);

/* Errors: ERR_REFUSED for a line that is none, and for an id that stands twice. */
MUST_CHECK bool batch_input_open(const char *path, struct batch_input *out,
                                 struct err *e);
void batch_input_close(struct batch_input *in);

/* NULL: no such id. */
struct batch_line *batch_input_find(const struct batch_input *in,
                                    const struct hash *key);
/* The first 8 bytes of the key, modulo `shards`. */
unsigned batch_shard_of(const struct hash *key, unsigned shards);

/* Reads a line again; ERR_EDITED when it is another one by now. In `a`. */
MUST_CHECK bool batch_input_read(const struct batch_input *in,
                                 const struct batch_line *line, struct arena *a,
                                 struct batch_item *out, struct err *e);

/*
 * Calls `take` for each line of a file, blank ones left out; `*number` from 1.
 * Errors: ERR_LIMIT for a line longer than `max_bytes`, those of `take`.
 */
struct batch_each_line {
    bool (*take)(void *ctx, struct str line, unsigned number, uint64_t offset,
                 struct err *e);
    void *ctx;
    size_t max_bytes;
};
MUST_CHECK bool batch_each_line(int fd, const struct batch_each_line *each,
                                struct err *e);
/* `length` bytes at `offset`, in `a`. */
MUST_CHECK bool batch_read_at(int fd, uint64_t offset, size_t length,
                              struct arena *a, struct str *out, struct err *e);

#endif
