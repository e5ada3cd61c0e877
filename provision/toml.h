#ifndef PROVISION_TOML_H
#define PROVISION_TOML_H

#include "base/str.h"

/*
 * toml: one table of a TOML file put, replaced or removed in place, with its
 * sub-tables; every other byte is kept. Reads as much of the grammar as it
 * takes to know where statements begin and end: strings of all four kinds,
 * comments, lists and inline tables over several lines.
 *
 * A table is named by the path [section."key"]. Errors: ERR_FORMAT "line L:
 * …" for what cannot be read, or when the section or the table is written in
 * a form that cannot be edited this way (dotted keys, inline tables).
 */

/* The text of the table, header first, without blank lines and comments after
 * its last line; p NULL when absent. */
MUST_CHECK bool toml_find(struct str text, struct str section, struct str key,
                          struct arena *a, struct str *out, struct err *e);

/* `table` begins with its header. A new one goes last. */
MUST_CHECK bool toml_put(struct str text, struct str section, struct str key,
                         struct str table, struct arena *a, struct str *out,
                         struct err *e);

MUST_CHECK bool toml_remove(struct str text, struct str section, struct str key,
                            struct arena *a, struct str *out, struct err *e);

#endif
