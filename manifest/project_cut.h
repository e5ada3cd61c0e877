#ifndef MANIFEST_PROJECT_CUT_H
#define MANIFEST_PROJECT_CUT_H

#include "base/splice.h"
#include "mapm/origin.h"

#include "project.h"

/*
 * project_cut: a configuration changed in place. The tree that yaml_parse
 * returns has the position of each value; an edit is a list of cuts in the
 * text, so every other byte stays. Whatever shape the file had: the caller
 * parses the result again and takes it only when it differs as it should.
 */

#define EDIT_INDENT 2 /* where nothing says otherwise */

struct edit {
    struct str text;
    struct arena *a;
    const struct yaml *root;  /* NULL: nothing there; else of any kind */
    const struct yaml *block; /* the node to change; NULL: absent */
    const char *list;         /* of it, for the items */
    enum doc_kind kind;       /* of these, where they are packages */
    const struct str *items;  /* to add, quoted */
    size_t item_count;
    const char *newline;
    struct splices cuts; /* in the order of the text */
};

/* ERR_FORMAT, ERR_LIMIT: what yaml_parse refuses. */
MUST_CHECK bool edit_open(struct edit *ed, struct str text, struct arena *a,
                          struct err *e);
/* The text with the cuts made, and its tree. */
MUST_CHECK bool edit_close(const struct edit *ed, struct str *text,
                           const struct yaml **root, struct err *e);

/* text.p[from..to) becomes `put`. */
void edit_cut(struct edit *ed, size_t from, size_t to, struct str put);

/* --- positions
 * -------------------------------------------------------------- */

size_t edit_line_start(const struct edit *ed, size_t at);
/* Behind the end of the line that holds the byte `at`. */
size_t edit_line_end(const struct edit *ed, size_t at);
bool edit_ends_line(const struct edit *ed, size_t at);
size_t edit_skip_blanks(const struct edit *ed, size_t at);
/* Only blanks before `at` in its line. */
bool edit_begins_line(const struct edit *ed, size_t at);
/* Nothing but blanks or a comment from `at` on. */
bool edit_is_rest_empty(const struct edit *ed, size_t at);
size_t edit_indent(const struct edit *ed, size_t at);
/* The last byte of a value; that of its key when there is no value. */
size_t edit_last_byte(const struct yaml *y);
/* It takes up text: not a key with nothing behind it. */
bool edit_is_written(const struct yaml *y);

/* --- adding ----------------------------------------------------------------- */

struct str edit_blanks(const struct edit *ed, size_t count);

/* Each item with `before` in front of it, and `between` two of them. */
struct str edit_join_items(const struct edit *ed, struct str before,
                           struct str between);
/* On one line: "a, b". */
struct str edit_inline_items(const struct edit *ed);
/* A line for each: "- a". */
struct str edit_item_lines(const struct edit *ed, size_t indent);

/* Whole lines after the line with `at`. A file without a final newline keeps
 * that. */
void edit_insert_lines(struct edit *ed, size_t at, struct str lines);
/* Whole lines at the end of the file. */
void edit_append(struct edit *ed, struct str lines);

/* A value that is not there yet, behind its key in brackets or braces; or
 * "null", which goes. */
void edit_fill_null(struct edit *ed, const struct yaml *y, struct str put);

/* The items at the end of a list, or of a key that becomes one; `offset`: the
 * indent of new lines relative to their key. `parent` has the list. */
void edit_add_to_list(struct edit *ed, const struct yaml *parent,
                      const struct yaml *list, size_t offset);

/* In project_edit.c: a file with its dependencies block, and the items for
 * `list` of it, which may not be there yet. ERR_FORMAT: cannot be done here. */
MUST_CHECK bool edit_open_list(struct edit *ed, struct str text,
                               const char *list, struct arena *a,
                               struct err *e);
void edit_add_items(struct edit *ed);
/* The lists that have items have them in brackets: so a new one will. */
bool edit_has_brackets(const struct edit *ed);
bool edit_fail_shape(struct err *e);
/* Two ways of writing an origin may mean one. */
struct str edit_origin_key(struct str text, const struct origin_rules *rules,
                           struct arena *a);
/* Takes a line, or an item in brackets that is behind `before`, out of a list. */
void edit_remove_item(struct edit *ed, const struct yaml *list,
                      const struct yaml *before, const struct yaml *item);

/* Behind the last member of {...}. */
void edit_add_member(struct edit *ed, const struct yaml *mapping,
                     struct str member);

#endif
