#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/str.h"

/*
 * yaml: a bounded reading of libyaml's events into a tree with positions.
 *
 * Refused, each with its line: aliases, anchors, tags, directives, more than
 * one document, duplicate keys (YAML_FAULT_DUPLICATE), keys that are not
 * scalars, merge keys (a plain "<<"), a byte order mark, other encodings than
 * UTF-8, a NUL, too deep, too many nodes, too many bytes. Depth is counted in
 * libyaml's events, which bounds its own cost, too. Multi-line flow is fine.
 *
 * Source: DESIGN.md 11; THREATS.md 3, row 5; REQUIREMENTS.md 6.2 to 6.5.
 */

enum yaml_kind { YAML_SCALAR, YAML_MAPPING, YAML_SEQUENCE };

enum yaml_style { /* of a scalar */
                  YAML_PLAIN,
                  YAML_SINGLE,
                  YAML_DOUBLE,
                  YAML_LITERAL,
                  YAML_FOLDED,
};

/* What YAML 1.1 makes of a plain scalar (PyYAML's resolver). X18. */
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
    struct str key;  /* when value in a mapping: the key's text */
    unsigned key_line;
    size_t key_start;      /* byte offset of the key */
    unsigned line, column; /* from 1; the column in characters */
    size_t start, end;     /* bytes in the source text; a block ends with
                              its last value, before comments that follow */
    const struct yaml *next;
    const struct yaml *first;
    size_t count;
};

struct yaml_options {
    size_t max_bytes;    /* 0: no bound but the caller's */
    unsigned max_depth;  /* mappings and lists in each other; 0 means 64 */
    size_t max_nodes;    /* keys, values, collections; 0: no bound */
    unsigned first_line; /* line number of the text's first line; 0 means 1 */
};

/* Which kind of refusal: so a caller can give it its own code. */
enum yaml_fault {
    YAML_FAULT_SYNTAX,
    YAML_FAULT_DUPLICATE,
    YAML_FAULT_LIMIT,
    YAML_FAULT_NUL,
    YAML_FAULT_REFUSED, /* good YAML that we do not take: tags, anchors … */
};

struct yaml_problem {
    enum yaml_fault fault;
    unsigned line;
    struct str key; /* DUPLICATE: which; in the arena */
};

/*
 * An empty document (nothing, or comments alone) gives `*out` NULL and true.
 * Ownership: the tree lives in `a`. Errors: ERR_FORMAT, ERR_LIMIT, with
 * "line L: …"; `problem` may be NULL.
 */
MUST_CHECK bool yaml_parse(struct str text, const struct yaml_options *options,
                           struct arena *a, const struct yaml **out,
                           struct yaml_problem *problem, struct err *e);

const struct yaml *yaml_get(const struct yaml *mapping, const char *key);

/* STRING for anything not plain. */
enum yaml_type yaml_type_of(const struct yaml *scalar);
bool yaml_is_string(const struct yaml *y); /* a scalar of type STRING */
const char *yaml_type_name(enum yaml_type type);

/* The tree as JSON; a scalar as `put_scalar` writes it. */
struct json_writer;
void yaml_put_json(const struct yaml *root, struct json_writer *w,
                   void (*put_scalar)(struct json_writer *w,
                                      const struct yaml *scalar));

/* A YAML scalar that reads back as exactly `s` on one line: plain where that
 * is safe (in brackets, too), else double-quoted. Bytes that are not UTF-8
 * become U+FFFD. In `a`. */
struct str yaml_quote(struct str s, struct arena *a);

#endif
