#ifndef PROVISION_MERGE_H
#define PROVISION_MERGE_H

#include "base/hash.h"
#include "base/map.h"
#include "mapm/clients.h"

/*
 * merge: mapm's servers in a file that users and clients edit, too. Entries
 * are compared by value, so that reformatting is no edit.
 */

/* Which file, of which client. */
struct merge_file {
    const struct mcp_shape *shape;
    const char *client; /* its name */
    struct str path;    /* for messages */
};

struct merge {
    struct merge_file file;
    struct arena *arena;
    bool has_mark;     /* U+FEFF precedes `text` */
    bool is_inner;     /* shape.inner holds the servers */
    struct str before; /* `text` at the start */
    struct str text;
    struct arena held;  /* what the last edit made: `text` lives there */
    struct map entries; /* key -> struct hash, of all the servers; JSON only */
    struct map touched; /* keys of servers that were put or removed */
};

/* `text`, which may be empty (a file that is not there), has to live as long as
 * `out`. ERR_FORMAT for one that cannot be read. */
MUST_CHECK bool merge_open(const struct merge_file *f, struct str text,
                           struct arena *a, struct merge *out, struct err *e);

/* The value of `key`: false when it is absent. */
MUST_CHECK bool merge_find(struct merge *m, struct str key, bool *found,
                           struct hash *hash, struct err *e);

/* The hash under which merge_find will see `entry`, which is JSON. */
MUST_CHECK bool merge_hash(const struct mcp_shape *shape, struct str key,
                           struct str entry, struct arena *a, struct hash *out,
                           struct err *e);

/* Writes a whole new file; JSON only. */
MUST_CHECK bool merge_begin(struct merge *m, const struct str *keys,
                            const struct str *entries, size_t count,
                            struct err *e);
bool merge_can_begin(const struct merge *m);

/* Both change m->text, which lives until the next one or merge_done. */
MUST_CHECK bool merge_put(struct merge *m, struct str key, struct str entry,
                          struct err *e);
MUST_CHECK bool merge_remove(struct merge *m, struct str key, struct err *e);

/* The text with the mark that it began with. */
struct str merge_text(const struct merge *m, struct arena *a);

/* Whether all but the servers put or removed has the value it had. */
MUST_CHECK bool merge_check(const struct merge *m, struct err *e);

/* Whether nothing is left but what mapm writes around its entries. */
bool merge_is_empty(const struct merge *m);

/* Whether the object that holds the servers is there; and without it, when it
 * is empty. A TOML file has none. */
bool merge_has_section(const struct merge *m);
MUST_CHECK bool merge_drop_section(struct merge *m, struct err *e);

/* The white space in the object that gets the first server, or the object for
 * them; "" when that is not empty, or has none. And puts it back, once nothing
 * else is between the braces. JSON only. */
struct str merge_gap(const struct merge *m);
MUST_CHECK bool merge_put_gap(struct merge *m, struct str gap, struct err *e);

void merge_done(struct merge *m);

#endif
