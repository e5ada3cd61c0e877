#ifndef MANIFEST_PROJECT_CUT_H
#define MANIFEST_PROJECT_CUT_H

#include "base/splice.h"
#include "mapm/origin.h"

#include "project.h"

/* project_cut: edits a configuration file in place. The tree of yaml_parse()
 * has the position of each value; an edit is a list of replacements in the
 * text, so all other bytes are unchanged. The caller parses the result and uses
 * it only if it differs from the original as intended. */

#define EDIT_INDENT 2 /* default, if the file has no indented lines */

struct edit {
    struct str text;
    struct arena *a;
    const struct yaml *root;  /* NULL for an empty file; else a node of any
                               * kind */
    const struct yaml *block; /* node to change; NULL if absent */
    const char *list;         /* key of the list in `block` that gets the
                               * items */
    enum doc_kind kind;       /* kind of the items if they are packages */
    const struct str *items;  /* items to add, quoted */
    size_t item_count;
    const char *newline;
    struct splices cuts; /* in ascending order of their offsets */
};

/* Parses `text`. Errors: those of yaml_parse(), ERR_FORMAT and ERR_LIMIT. */
MUST_CHECK bool edit_open(struct edit *ed, struct str text, struct arena *a,
                          struct err *e);
/* Applies the cuts and stores the new text and its tree. */
MUST_CHECK bool edit_close(const struct edit *ed, struct str *text,
                           const struct yaml **root, struct err *e);

/* Replaces the bytes [from, to) of the text with `put`. */
void edit_cut(struct edit *ed, size_t from, size_t to, struct str put);

/* --- positions
 * -------------------------------------------------------------- */

size_t edit_line_start(const struct edit *ed, size_t at);
/* Returns the offset after the end of the line that contains the byte `at`. */
size_t edit_line_end(const struct edit *ed, size_t at);
bool edit_ends_line(const struct edit *ed, size_t at);
size_t edit_skip_blanks(const struct edit *ed, size_t at);
/* Returns true if only blanks precede `at` in its line. */
bool edit_begins_line(const struct edit *ed, size_t at);
/* Returns true if the line has only blanks or a comment from `at` on. */
bool edit_is_rest_empty(const struct edit *ed, size_t at);
size_t edit_indent(const struct edit *ed, size_t at);
/* Returns the offset of the last byte of a value, or of its key if it has no
 * value. */
size_t edit_last_byte(const struct yaml *y);
/* Returns true if the value has text, which a key without value has not. */
bool edit_is_written(const struct yaml *y);

/* --- adding ----------------------------------------------------------------- */

struct str edit_blanks(const struct edit *ed, size_t count);

/* Returns the items on one line: "a, b". */
struct str edit_inline_items(const struct edit *ed);
/* Returns the items on a line each: "- a". */
struct str edit_item_lines(const struct edit *ed, size_t indent);

/* Inserts whole lines after the line that contains `at`. A file without a final
 * newline remains without one. */
void edit_insert_lines(struct edit *ed, size_t at, struct str lines);
/* Appends whole lines at the end of the file. */
void edit_append(struct edit *ed, struct str lines);

/* Inserts a value for a key in brackets or braces that has none, or replaces
 * "null". */
void edit_fill_null(struct edit *ed, const struct yaml *y, struct str put);

/* Appends the items to a list, or to a key without value that becomes a list.
 * `offset` is the indent of new lines relative to their key; `parent` is the
 * mapping with the list. */
void edit_add_to_list(struct edit *ed, const struct yaml *parent,
                      const struct yaml *list, size_t offset);

/* project_edit.c: opens a file to edit its dependencies block, with the items
 * for its list `list`, which may be absent. Sets ERR_FORMAT if the file cannot
 * be edited in place. */
MUST_CHECK bool edit_open_list(struct edit *ed, struct str text,
                               const char *list, struct arena *a,
                               struct err *e);
void edit_add_items(struct edit *ed);
/* Returns true if the existing lists with items are in brackets, so that a new
 * list should be as well. */
bool edit_has_brackets(const struct edit *ed);
bool edit_fail_shape(struct err *e);
/* Returns the key of an origin: different spellings of one origin have the same
 * key. */
struct str edit_origin_key(struct str text, const struct origin_rules *rules,
                           struct arena *a);
/* Removes an item from a list: a line, or an item in brackets that follows
 * `before`. */
void edit_remove_item(struct edit *ed, const struct yaml *list,
                      const struct yaml *before, const struct yaml *item);

/* Adds a member after the last one of {...}. */
void edit_add_member(struct edit *ed, const struct yaml *mapping,
                     struct str member);

#endif
