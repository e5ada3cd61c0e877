#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

/*
 * json: a strict parser, a writer, and in-place edits.
 *
 *     text --> json_parse() --> struct json (a tree with positions)
 *     text --> json_edit_put(), json_edit_remove() --> text, other bytes kept
 *     struct json_writer --> text, 2 spaces a level or compact
 *
 * The parser is iterative (depth costs no C stack) and bounded. It rejects
 * duplicate keys, lone surrogates, NaN, a BOM, invalid UTF-8 and trailing text.
 * Numbers are kept as text. Option `comments` allows "//" and "/ * * /",
 * `trailing_commas` a comma after the last member: together they are "JSON with
 * comments", as in the files of VS Code.
 *
 * Source: RFC 8259; DESIGN.md 11; THREATS.md rows 5, 16.
 */

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    enum json_kind kind;
    unsigned line;     /* line of the value, from 1 */
    size_t start, end; /* byte offsets of the value in the source */
    struct str text;   /* STRING: decoded; NUMBER: as written */
    struct str key;    /* decoded name, for a member of an object */
    size_t key_start;  /* offset of the opening quote of the name */
    unsigned key_line;
    const struct json *next;  /* sibling */
    const struct json *first; /* ARRAY, OBJECT: children in order */
    size_t count;
};

struct json_options {
    size_t max_bytes;   /* 0: no limit */
    unsigned max_depth; /* nesting of arrays and objects; 0 means 64 */
    size_t max_nodes;   /* number of values; 0: no limit */
    bool comments, trailing_commas;
};

/*
 * Parses a JSON text into a tree.
 * Ownership: the tree is allocated in `a`; strings without escapes
 * borrow from `text`.
 * Errors: ERR_FORMAT "line L, column C: …" (column in bytes, from 1),
 * ERR_LIMIT. If `line` is not NULL, `*line` is set to the line of the error.
 */
MUST_CHECK bool json_parse(struct str text, const struct json_options *options,
                           struct arena *a, const struct json **out,
                           unsigned *line, struct err *e);

/* Return the member `key`, borrowed; NULL if `j` is not an object or
 * has no such member. */
const struct json *json_get(const struct json *j, const char *key);
const struct json *json_get_str(const struct json *j, struct str key);

/* Returns the text of a STRING; an empty str with p NULL for other
 * values and NULL. */
struct str json_text(const struct json *j);

/* Returns whether the value is TRUE; false for NULL. */
bool json_is_true(const struct json *j);

/* Gets the value of a NUMBER that is an integer in any notation (2, 2.0,
 * 20e-1), as "integer" of JSON Schema. Larger values give UINT64_MAX. Returns
 * false for other values and NULL; the outputs are then undefined. */
bool json_whole(const struct json *j, bool *minus, uint64_t *out);

const char *json_kind_name(enum json_kind kind); /* "a string", "an array", … */

/* --- writing ------------------------------------------------------------ */

struct json_writer {
    struct buf *out;
    unsigned indent; /* spaces per level; 0: compact */
    unsigned base;   /* indentation of the first line, in levels */
    unsigned depth;
    bool first, after_key;
};

void json_writer_init(struct json_writer *w, struct buf *out, unsigned indent);
/* Initializes `out` and the writer, and begins an object. */
void json_open(struct json_writer *w, struct buf *out, size_t max_bytes,
               unsigned indent);
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
void json_key_str(struct json_writer *w, struct str key);
/* Writes non-ASCII characters as they are, and bytes that are not
 * UTF-8 as U+FFFD. */
void json_string(struct json_writer *w, struct str s);
void json_number(struct json_writer *w, uint64_t n);
void json_bool(struct json_writer *w, bool b);
void json_null(struct json_writer *w);
void json_raw(struct json_writer *w, struct str number_or_value);
/* Writes a whole tree, keeping the notation of numbers and the order of
 * keys. */
void json_value(struct json_writer *w, const struct json *j);
/* Writes the canonical form of a tree, which is the same for all trees of the
 * same meaning: members sorted by name at each level, numbers by value. `w`
 * must be compact. */
void json_canonical(struct json_writer *w, const struct json *j);
/* Writes the canonical notation of a number; a number whose exponent has more
 * than 9 digits is written unchanged. */
void json_put_number(struct buf *out, struct str spelled);

/* Write a key and its value. */
void json_member_string(struct json_writer *w, const char *key, struct str s);
/* Writes null if `s` is empty. */
void json_member_optional(struct json_writer *w, const char *key, struct str s);
void json_member_number(struct json_writer *w, const char *key, uint64_t n);
void json_member_bool(struct json_writer *w, const char *key, bool b);
void json_member_raw(struct json_writer *w, const char *key, struct str value);
void json_member_strings(struct json_writer *w, const char *key,
                         const struct str *items, size_t count);
/* Begin a member that json_end_array or json_end_object ends. */
void json_member_array(struct json_writer *w, const char *key);
void json_member_object(struct json_writer *w, const char *key);

/* --- editing in place --------------------------------------------------- */

/*
 * Sets the member at `path`, which consists of `depth` object keys from the
 * root, to `value`: JSON text written with 2 spaces per level, which is
 * indented as needed. Missing objects on the path are added. All other bytes of
 * `text` (comments, order, notation, indentation width, line ends) are kept. A
 * new member is added last, in the style of its neighbours, on the same line if
 * they share one. A `text` of white space only is treated as "{}\n".
 *
 * Ownership: `*out` is allocated in `a`.
 * Errors: ERR_FORMAT if `text` does not parse with these options, `value`
 * is not strict JSON, a key is not UTF-8, or a value on the path is not an
 * object; ERR_LIMIT, also for the result. The result is parsed again
 * before it is returned.
 */
MUST_CHECK bool json_edit_put(struct str text, const struct json_options *o,
                              const struct str *path, size_t depth,
                              struct str value, struct arena *a,
                              struct str *out, struct err *e);

/* Removes the member at `path` and its comma, and keeps comments. If the
 * member or an object on the path is missing, `*out` is `text`. Errors:
 * as json_edit_put. */
MUST_CHECK bool json_edit_remove(struct str text, const struct json_options *o,
                                 const struct str *path, size_t depth,
                                 struct arena *a, struct str *out,
                                 struct err *e);

#endif
