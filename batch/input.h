#ifndef BATCH_INPUT_H
#define BATCH_INPUT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

#include "batch_record.h"

/*
 * input: the lines of FILE.jsonl, found by their ids. The file is read once in
 * blocks; only the offset and length of each line are kept in memory.
 *
 *     {"id":"pr-17","input":{…}}     `id` is the number of the line if it is left out
 */

enum batch_state { BATCH_NEW, BATCH_STARTED, BATCH_ENDED };

struct batch_line {
    struct hash key, input; /* SHA-256 of the id and of the compact input */
    uint64_t offset;
    uint32_t length, number;
    /* State in the journal, and the offsets of its records of start and end. */
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

/* A parsed line. */
struct batch_item {
    struct str id, input; /* `input` is compact JSON */
};

/* Parses line `number` strictly; allocates in `a`. Errors: ERR_FORMAT,
 * ERR_LIMIT. */
MUST_CHECK bool batch_item_parse(struct str line, unsigned number,
                                 struct arena *a, struct batch_item *out,
                                 struct err *e);

/* Opens the file and reads its lines. Errors: ERR_REFUSED for an invalid line
 * and for a repeated id. */
MUST_CHECK bool batch_input_open(const char *path, struct batch_input *out,
                                 struct err *e);
void batch_input_close(struct batch_input *in);

/* Returns the line with this key, or NULL. */
struct batch_line *batch_input_find(const struct batch_input *in,
                                    const struct hash *key);
/* Returns the shard of a key: its first 8 bytes modulo `shards`. */
unsigned batch_shard_of(const struct hash *key, unsigned shards);

/* Reads a line again, allocated in `a`. Errors: ERR_EDITED if the line has
 * changed. */
MUST_CHECK bool batch_input_read(const struct batch_input *in,
                                 const struct batch_line *line, struct arena *a,
                                 struct batch_item *out, struct err *e);

/* Calls `take` for each line of a file that is not blank; `number` is counted
 * from 1. Errors: ERR_LIMIT for a line longer than `max_bytes`, and those of
 * `take`. */
struct batch_each_line {
    bool (*take)(void *ctx, struct str line, unsigned number, uint64_t offset,
                 struct err *e);
    void *ctx;
    size_t max_bytes;
};
MUST_CHECK bool batch_each_line(int fd, const struct batch_each_line *each,
                                struct err *e);
/* Reads `length` bytes at `offset`, allocated in `a`. */
MUST_CHECK bool batch_read_at(int fd, uint64_t offset, size_t length,
                              struct arena *a, struct str *out, struct err *e);

#endif
