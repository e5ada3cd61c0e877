#ifndef PROVISION_TOML_H
#define PROVISION_TOML_H

#include "base/hash.h"
#include "base/map.h"

/*
 * toml: one table of a TOML file put, replaced or removed in place, with its
 * sub-tables; every other byte is kept, a missing final newline, too. Reads as
 * much of the grammar as it takes to know where statements begin and end:
 * strings of all four kinds, comments, lists and inline tables over several
 * lines.
 *
 * Errors: ERR_FORMAT "line L: …" for what cannot be read, or when the section
 * or the table is written in a form that cannot be edited this way (dotted
 * keys, inline tables).
 */

struct toml_place {
    struct str section, key;
    /* NULL: the table is [section."key"]; else it is the one of [[section]]
     * with the key in this member */
    const char *name;
    /* members of the table that are not returned, and that a new table keeps */
    const char *const *kept;
    size_t kept_count;
};

/* Returns the text of the table, header first, without blank lines and comments
 * after its last line; p is NULL if absent. */
MUST_CHECK bool toml_find(struct str text, const struct toml_place *place,
                          struct arena *a, struct str *out, struct err *e);

/* Writes `table`, which begins with its header. A new table is appended. */
MUST_CHECK bool toml_put(struct str text, const struct toml_place *place,
                         struct str table, struct arena *a, struct str *out,
                         struct err *e);

MUST_CHECK bool toml_remove(struct str text, const struct toml_place *place,
                            struct arena *a, struct str *out, struct err *e);

/* Checks that the text is TOML: each statement, and that no name occurs twice,
 * except in inline tables. Errors: ERR_FORMAT "line L: …". */
MUST_CHECK bool toml_check(struct str text, struct err *e);

/* Hashes all statements except those of the tables whose keys are in `keys`;
 * `place.key` is ignored. */
MUST_CHECK bool toml_hash_others(struct str text,
                                 const struct toml_place *place,
                                 const struct map *keys, struct hash *out,
                                 struct err *e);

#endif
