#ifndef BATCH_BATCH_RECORD_H
#define BATCH_BATCH_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "mapm/limits.h"

/*
 * record: formats and parses the records of a batch's journal.
 *
 *     length SP checksum SP payload LF
 *
 * `length` is that of the payload, 8 hexadecimal digits; `checksum` the first
 * 16 digits of its SHA-256. The payload is one JSON object on one line:
 *
 *     {"journal":1,"metaskill":…,"digest":…,"shard":0,"shards":8}   the first one
 *     {"start":KEY,"input":HASH}
 *     {"begin":KEY,"kind":"ask"}                      or "command"
 *     {"did":KEY,"line":{…}}                          as mapm-tape(5) has it
 *     {"end":KEY,"how":"completed","out":{…}}         or "failed", "interrupted"
 *
 * KEY is the SHA-256 of the id of an input, HASH that of its text. A record ends
 * with the only LF in it. Bytes without LF at the end of a file are left by an
 * interrupted write; any other bytes that are not a record are damage.
 *
 * Source: DESIGN.md 8.1.
 */

#define JOURNAL_HEADER_BYTES 26

struct batch_journal_head {
    struct str metaskill, digest;
    unsigned shard, shards;
};

enum batch_journal_kind {
    JOURNAL_START,
    JOURNAL_BEGIN,
    JOURNAL_DID,
    JOURNAL_END,
};

/* How an input ended. */
enum batch_end { BATCH_COMPLETED, BATCH_FAILED, BATCH_INTERRUPTED };

struct batch_journal_record {
    enum batch_journal_kind kind;
    struct hash key;
    struct hash input;  /* for START */
    bool is_ask;        /* for BEGIN: a model call, else a command */
    enum batch_end how; /* for END */
    struct str text;    /* for DID a line of a tape, for END a line of the
                         * output */
};

const char *batch_end_name(enum batch_end how);
/* Returns false for an unknown word. */
bool batch_end_find(struct str word, enum batch_end *out);

/* Appends the record as bytes. `text` is JSON on one line. */
void batch_journal_put(struct buf *out, const struct batch_journal_record *r);
void batch_journal_put_head(struct buf *out,
                            const struct batch_journal_head *h);

enum batch_journal_frame {
    JOURNAL_WHOLE,
    JOURNAL_MORE, /* incomplete; `*need` bytes are needed */
    JOURNAL_BAD,
};
/* Stores the payload of the record at the start of `bytes`. For JOURNAL_WHOLE,
 * `*need` is the size of the record. */
enum batch_journal_frame batch_journal_frame(struct str bytes,
                                             struct str *payload, size_t *need);

/* Parse a payload strictly. The results borrow from `payload` and `a`. Errors:
 * ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool batch_journal_parse(struct str payload, struct arena *a,
                                    struct batch_journal_record *out,
                                    struct err *e);
MUST_CHECK bool batch_journal_parse_head(struct str payload, struct arena *a,
                                         struct batch_journal_head *out,
                                         struct err *e);

#endif
