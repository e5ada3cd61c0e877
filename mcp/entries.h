#ifndef MCP_ENTRIES_H
#define MCP_ENTRIES_H

#include "ticket.h"

/*
 * entries: operations of a task that must not be repeated when it is run
 * again: questions with their answers, operations with their results, and its
 * end. Kept in memory; in the journal from the first question on that is sent
 * in a result.
 */

enum entry_kind {
    ENTRY_CALL,   /* digest of the call; used: when it began, seconds */
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
    const struct mcp_journal *journal; /* NULL: none */
    bool written;                      /* it is in the journal */
    char run[RUN_HEX_CHARS + 1];
    struct arena a;
    struct entry *items;
    size_t count, capacity, bytes;
};

/* A new one. */
void entries_init(struct entries *x, const struct mcp_journal *j,
                  const struct hash *digest, uint64_t began_s);
void entries_done(struct entries *x);

/* Copies the text. ERR_LIMIT; or an error of the journal. */
MUST_CHECK bool entries_add(struct entries *x, struct entry n, struct err *e);
/* All that there is goes to the journal now. Without one: true. */
MUST_CHECK bool entries_write(struct entries *x, uint64_t expires_s,
                              struct err *e);
/* ERR_NOT_FOUND without a journal, too; ERR_DAMAGED. */
MUST_CHECK bool entries_read(struct entries *x, const struct mcp_journal *j,
                             const char *run, struct err *e);
void entries_leave(struct entries *x);
/* The same, after its last entry. */
void entries_end(struct entries *x);
void entries_forget(struct entries *x);

/* NULL: none. A key of "" is any. */
const struct entry *entries_find(const struct entries *x, enum entry_kind kind,
                                 unsigned number, struct str key);
/* Milliseconds of work that are recorded. */
uint64_t entries_used(const struct entries *x);

#endif
