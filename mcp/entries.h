#ifndef MCP_ENTRIES_H
#define MCP_ENTRIES_H

#include "ticket.h"

/* entries: operations of a task that must not be repeated when the task is run
 * again: questions with their answers, operations with their results, and the
 * end. They are kept in memory, and also in the journal from the first question
 * that is sent in a result. */

enum entry_kind {
    ENTRY_CALL,   /* digest of the call; used: start time in seconds */
    ENTRY_ASK,    /* number: the round; text: the questions */
    ENTRY_ANSWER, /* number: the round; key; text: JSON */
    ENTRY_BEGIN,  /* number: from 1; text: description */
    ENTRY_NOTE,   /* number: the same; text: its result */
    ENTRY_RESULT, /* text: members */
    ENTRY_ERROR,  /* number: -code; text: the message; key: data */
    ENTRY_KINDS,
};

struct entry {
    enum entry_kind kind;
    unsigned number;
    struct str key, text;
    uint64_t used;
};

struct entries {
    const struct mcp_journal *journal; /* NULL if there is none */
    bool written;                      /* the entries are in the journal */
    char run[RUN_HEX_CHARS + 1];
    struct arena a;
    struct entry *items;
    size_t count, capacity, bytes;
};

/* Initializes empty entries. */
void entries_init(struct entries *x, const struct mcp_journal *j,
                  const struct hash *digest, uint64_t began_s);
void entries_done(struct entries *x);

/* Adds an entry and copies its text. Errors: ERR_LIMIT, and those of the
 * journal. */
MUST_CHECK bool entries_add(struct entries *x, struct entry n, struct err *e);
/* Writes all entries to the journal. Returns true if there is no journal. */
MUST_CHECK bool entries_write(struct entries *x, uint64_t expires_s,
                              struct err *e);
/* Errors: ERR_NOT_FOUND, also without a journal; ERR_DAMAGED. */
MUST_CHECK bool entries_read(struct entries *x, const struct mcp_journal *j,
                             const char *run, struct err *e);
void entries_leave(struct entries *x);
/* Forgets the entries and their journal after the last entry. */
void entries_end(struct entries *x);
void entries_forget(struct entries *x);

/* Returns NULL if there is none. An empty key matches any. */
const struct entry *entries_find(const struct entries *x, enum entry_kind kind,
                                 unsigned number, struct str key);
/* Returns the recorded milliseconds of work. */
uint64_t entries_used(const struct entries *x);

#endif
