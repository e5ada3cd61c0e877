#ifndef MANIFEST_LOCK_H
#define MANIFEST_LOCK_H

#include "mapm/doc_kind.h"
#include "mapm/lock.h"

/* lock: what reading and writing mapm.lock share. */

/*
 * Version 2 is written only for a lock that needs a key which version 1 lacks,
 * so that an older mapm reads every other lock [F13].
 */
enum lock_version { LOCK_VERSION_1 = 1, LOCK_VERSION_2 = 2 };

/* The lowest version that can hold this entry. */
enum lock_version lock_entry_version(const struct lock_entry *entry);

/* 0 to 2: agent, mcp, skill, as their names sort. */
int lock_kind_rank(enum doc_kind kind);
/* By type, then by name. */
int lock_order(enum doc_kind x_kind, struct str x_name, enum doc_kind y_kind,
               struct str y_name);

/* The same, then by the first of their members. */
int lock_entry_order(const struct lock_entry *x, const struct lock_entry *y);

/* X.Y.Z; or longer than "false", from a letter on, with nothing that means
 * something in YAML: text for every reader. Quick, and true of nearly all. */
bool lock_is_plain(struct str s);

/* The form in the file: `s` itself where YAML reads it as this text. */
struct str lock_scalar(struct str s, struct arena *a);

/* Text in quotes; false unless the escapes are those of yaml_quote. */
bool lock_unquote(struct str raw, struct arena *a, struct str *out);

/* Each entry by itself: lock_parse without lock_check. */
MUST_CHECK bool lock_read(struct str text, const char *name, struct arena *a,
                          struct lock *out, struct err *e);

/* The same of one that git joined: entries in any order, and more than once. */
MUST_CHECK bool lock_read_joined(struct str text, const char *name,
                                 struct arena *a, struct lock *out,
                                 struct err *e);

/* The entries are sound, and do not fit together: a hint. */
bool lock_fail_joined(struct err *e);

/* One folder, key or origin for one package; each need names an entry; needs
 * have no cycle. */
bool lock_check(const struct lock *lock, struct str text, const char *name,
                struct arena *scratch, struct err *e);

/* ERR_FORMAT "name:line: …" and what to do with a damaged lock. */
bool lock_fail(struct err *e, const char *name, unsigned line,
               const char *format, ...) PRINTF(4, 5);

/* As much of a text from the file as a message should show. */
struct str lock_excerpt(struct str s);

#endif
