#ifndef PROVISION_MERGE_H
#define PROVISION_MERGE_H

#include "base/hash.h"
#include "base/map.h"
#include "mapm/clients.h"

/*
 * merge: mapm's servers in a file that users and clients edit, too. Entries
 * are compared by value, so that reformatting is no edit.
 */

/* The file of a client. */
struct merge_file {
    const struct mcp_shape *shape;
    const char *client; /* name of the client */
    struct str path;    /* for messages */
};

struct merge {
    struct merge_file file;
    struct arena *arena;
    bool has_mark;     /* U+FEFF precedes `text` */
    bool is_inner;     /* shape.inner holds the servers */
    struct str before; /* original text */
    struct str text;
    struct arena held;  /* owns `text` after an edit */
    struct map entries; /* key -> struct hash, of all the servers; JSON only */
    struct map touched; /* keys of servers that were added or removed */
};

/* Parses `text`, which is empty if the file does not exist and must live as
 * long as `out`. Errors: ERR_FORMAT. */
MUST_CHECK bool merge_open(const struct merge_file *f, struct str text,
                           struct arena *a, struct merge *out, struct err *e);

/* Finds the entry of `key`; `*found` is zero if it is absent. */
MUST_CHECK bool merge_find(struct merge *m, struct str key, bool *found,
                           struct hash *hash, struct err *e);

/* Computes the hash that merge_find() would return for `entry`, which is
 * JSON. */
MUST_CHECK bool merge_hash(const struct mcp_shape *shape, struct str key,
                           struct str entry, struct arena *a, struct hash *out,
                           struct err *e);

/* Writes a whole new file; JSON only. */
MUST_CHECK bool merge_begin(struct merge *m, const struct str *keys,
                            const struct str *entries, size_t count,
                            struct err *e);
bool merge_can_begin(const struct merge *m);

/* Both change m->text, which is valid until the next edit or merge_done(). */
MUST_CHECK bool merge_put(struct merge *m, struct str key, struct str entry,
                          struct err *e);
MUST_CHECK bool merge_remove(struct merge *m, struct str key, struct err *e);

/* Returns the text, with the byte order mark that the file had. */
struct str merge_text(const struct merge *m, struct arena *a);

/* Checks that nothing but the added and removed servers has changed. */
MUST_CHECK bool merge_check(const struct merge *m, struct err *e);

/* Returns whether the file contains nothing but the syntax around mapm's
 * entries. */
bool merge_is_empty(const struct merge *m);

/* merge_has_section() returns whether the object of the servers exists; the
 * other function removes it if it is empty, then an object around it. TOML
 * files have no such object. */
bool merge_has_section(const struct merge *m);
MUST_CHECK bool merge_drop_section(struct merge *m, struct err *e);

/* merge_gap() returns what stands where the first server goes: the white space in
 * the object that is to get it, or in the object that is to contain that one; in
 * YAML an empty {…} or […] with the white space before it; "" if there are
 * others, or none. `*is_all` is set if it is the whole text. merge_put_gap()
 * restores it once nothing else is there. */
struct str merge_gap(const struct merge *m, bool *is_all);
MUST_CHECK bool merge_put_gap(struct merge *m, struct str gap, struct err *e);

void merge_done(struct merge *m);

#endif
