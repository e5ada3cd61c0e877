#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

/*
 * json: read strictly, write, and edit in place.
 *
 *     text --> json_parse() --> struct json (a tree with positions)
 *     text --> json_edit_put(), json_edit_remove() --> text, other bytes kept
 *     struct json_writer --> text, 2 spaces a level or compact
 *
 * Reading is iterative (depth costs no C stack) and bounded; duplicate keys,
 * lone surrogates, NaN, a BOM, invalid UTF-8, trailing text are refused.
 * Numbers stay text. With `comments` set, "//" and "/ * * /" are accepted,
 * with `trailing_commas` a comma behind a last member: both are, as in the
 * files of VS Code, "JSON with comments".
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
    unsigned line;     /* of the value, from 1 */
    size_t start, end; /* bytes of the value in the source text */
    struct str text;   /* STRING: decoded; NUMBER: as spelled */
    struct str key;    /* decoded name, when member of an object */
    size_t key_start;  /* of the name's opening quote */
    unsigned key_line;
    const struct json *next;  /* sibling */
    const struct json *first; /* ARRAY, OBJECT: children in order */
    size_t count;
};

struct json_options {
    size_t max_bytes;   /* 0: no bound but the caller's */
    unsigned max_depth; /* arrays and objects in each other; 0 means 64 */
    size_t max_nodes;   /* values; 0: no bound */
    bool comments, trailing_commas;
};

/*
 * Ownership: the tree lives in `a`; strings without escapes borrow from
 * `text`. Errors: ERR_FORMAT "line L, column C: …" (column in bytes, from 1),
 * ERR_LIMIT. `*line`, when not NULL, gets the line of the error.
 */
MUST_CHECK bool json_parse(struct str text, const struct json_options *options,
                           struct arena *a, const struct json **out,
                           unsigned *line, struct err *e);

/* Borrowed; NULL when `j` is not an object or has no such member. */
const struct json *json_get(const struct json *j, const char *key);
const struct json *json_get_str(const struct json *j, struct str key);

/* Text of a STRING; an empty str with p NULL otherwise (NULL allowed). */
struct str json_text(const struct json *j);

/* A NUMBER without a fraction, however it is spelled: 2, 2.0, 20e-1, as JSON
 * Schema's "integer". UINT64_MAX stands for what is larger. False for others
 * (NULL allowed), and then the outputs say nothing. */
bool json_whole(const struct json *j, bool *minus, uint64_t *out);

const char *json_kind_name(enum json_kind kind); /* "a string", "an array" … */

/* --- writing ------------------------------------------------------------ */

struct json_writer {
    struct buf *out;
    unsigned indent; /* spaces a level; 0 = compact */
    unsigned base;   /* the indent of the first line, in levels */
    unsigned depth;
    bool first, after_key;
};

void json_writer_init(struct json_writer *w, struct buf *out, unsigned indent);
/* Initializes `out` as well, and begins an object. */
void json_open(struct json_writer *w, struct buf *out, size_t max_bytes,
               unsigned indent);
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
void json_key_str(struct json_writer *w, struct str key);
/* Non-ASCII kept; bytes that are not UTF-8 become U+FFFD. */
void json_string(struct json_writer *w, struct str s);
void json_number(struct json_writer *w, uint64_t n);
void json_bool(struct json_writer *w, bool b);
void json_null(struct json_writer *w);
void json_raw(struct json_writer *w, struct str number_or_value);
/* A whole tree, number spelling and key order kept. */
void json_value(struct json_writer *w, const struct json *j);
/* The same for all trees of one meaning: members by name at each depth, numbers
 * by value. In `w` without an indent. */
void json_canonical(struct json_writer *w, const struct json *j);
/* A number in the one spelling of its value; one whose power has more than 9
 * digits as it is. */
void json_put_number(struct buf *out, struct str spelled);

/* Shorthands for members. */
void json_member_string(struct json_writer *w, const char *key, struct str s);
/* null when it is empty. */
void json_member_optional(struct json_writer *w, const char *key, struct str s);
void json_member_number(struct json_writer *w, const char *key, uint64_t n);
void json_member_bool(struct json_writer *w, const char *key, bool b);
void json_member_raw(struct json_writer *w, const char *key, struct str value);
void json_member_strings(struct json_writer *w, const char *key,
                         const struct str *items, size_t count);
/* json_end_array and json_end_object end them. */
void json_member_array(struct json_writer *w, const char *key);
void json_member_object(struct json_writer *w, const char *key);

/* --- editing in place --------------------------------------------------- */

/*
 * Sets the member at `path` (object names from the root, `depth` of them) to
 * `value` (JSON text, written with 2 spaces, not indented as a whole: the
 * edit indents it). Objects that are missing on the way are added. The rest
 * of `text` - comments, order, spelling, indentation width, line ends - is
 * kept byte for byte; a new member takes the style of its neighbours and
 * goes last, on one line when they share one. A `text` of white space alone
 * counts as "{}\n".
 *
 * Ownership: `*out` in `a`. Errors: ERR_FORMAT when `text` does not parse
 * under `options`, `value` is no strict JSON, a name no UTF-8, or a value on
 * the way no object; ERR_LIMIT, for the edited text as well. What is given
 * back has been parsed again.
 */
MUST_CHECK bool json_edit_put(struct str text, const struct json_options *o,
                              const struct str *path, size_t depth,
                              struct str value, struct arena *a,
                              struct str *out, struct err *e);

/*
 * Removes it, with the comma that it needed; comments stay. Absent, or no
 * object on the way: `*out` is `text`. Errors: as json_edit_put.
 */
MUST_CHECK bool json_edit_remove(struct str text, const struct json_options *o,
                                 const struct str *path, size_t depth,
                                 struct arena *a, struct str *out,
                                 struct err *e);

#endif
