#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/str.h"

/*
 * yaml: parses YAML with libyaml into a tree with positions, within limits.
 *
 * It rejects, naming the line: aliases, anchors, tags, directives, more than
 * one document, duplicate keys (YAML_FAULT_DUPLICATE), keys that are not
 * scalars, merge keys (a plain "<<"), a byte order mark, encodings other than
 * UTF-8, NUL, and input that exceeds the limits of depth, nodes or bytes. Depth
 * is counted in libyaml's events, which also bounds the cost of libyaml. Flow
 * collections may have several lines.
 *
 * Source: DESIGN.md 11; THREATS.md 3, row 5; REQUIREMENTS.md 6.2 to 6.5.
 */

enum yaml_kind { YAML_SCALAR, YAML_MAPPING, YAML_SEQUENCE };

enum yaml_style { /* style of a scalar */
                  YAML_PLAIN,
                  YAML_SINGLE,
                  YAML_DOUBLE,
                  YAML_LITERAL,
                  YAML_FOLDED,
};

/* Type of a plain scalar in YAML 1.1 (as in PyYAML). X18. */
enum yaml_type {
    YAML_TYPE_STRING,
    YAML_TYPE_NULL,
    YAML_TYPE_BOOL,
    YAML_TYPE_INT,
    YAML_TYPE_FLOAT,
    YAML_TYPE_TIMESTAMP,
    YAML_TYPE_MERGE, /* a plain "<<" */
};

struct yaml {
    enum yaml_kind kind;
    enum yaml_style style;
    bool flow;       /* MAPPING, SEQUENCE: written as {…} or […] */
    struct str text; /* SCALAR: value; in the arena, NUL-terminated */
    struct str key;  /* key of this value in its mapping */
    unsigned key_line;
    size_t key_start;      /* byte offset of the key */
    unsigned line, column; /* from 1; column in characters */
    /* Byte offsets in the source. A block collection ends with its last value,
     * before comments that follow it. */
    size_t start, end;
    const struct yaml *next;
    const struct yaml *first;
    size_t count;
};

struct yaml_options {
    size_t max_bytes;    /* 0: no limit */
    unsigned max_depth;  /* nesting of collections; 0 means 64 */
    size_t max_nodes;    /* keys, values and collections; 0: no limit */
    unsigned first_line; /* number of the first line; 0 means 1 */
};

/* Kinds of errors, so that a caller can map them to its own codes. */
enum yaml_fault {
    YAML_FAULT_SYNTAX,
    YAML_FAULT_DUPLICATE,
    YAML_FAULT_LIMIT,
    YAML_FAULT_NUL,
    YAML_FAULT_REFUSED, /* valid but unsupported YAML: tags, anchors, … */
};

struct yaml_problem {
    enum yaml_fault fault;
    unsigned line;
    struct str key; /* DUPLICATE: the key, allocated in the arena */
};

/* Parses a document. An empty one, or one that has only comments, sets `*out`
 * to NULL and returns true. `problem` may be NULL.
 * Ownership: the tree is allocated in `a`.
 * Errors: ERR_FORMAT and ERR_LIMIT, with "line L: …". */
MUST_CHECK bool yaml_parse(struct str text, const struct yaml_options *options,
                           struct arena *a, const struct yaml **out,
                           struct yaml_problem *problem, struct err *e);

const struct yaml *yaml_get(const struct yaml *mapping, const char *key);

/* Returns STRING for every scalar that is not plain. */
enum yaml_type yaml_type_of(const struct yaml *scalar);
bool yaml_is_string(const struct yaml *y); /* a scalar of type STRING */
const char *yaml_type_name(enum yaml_type type);

/* Writes the tree as JSON; `put_scalar` writes the scalars. */
struct json_writer;
void yaml_put_json(const struct yaml *root, struct json_writer *w,
                   void (*put_scalar)(struct json_writer *w,
                                      const struct yaml *scalar));

/* Returns a one-line YAML scalar that parses to exactly `s`: plain where that
 * is safe (also inside brackets), otherwise double-quoted. Bytes that are not
 * UTF-8 become U+FFFD. Allocated in `a`. */
struct str yaml_quote(struct str s, struct arena *a);

#endif
