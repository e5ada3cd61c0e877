#ifndef MANIFEST_PROJECT_H
#define MANIFEST_PROJECT_H

#include "base/yaml.h"
#include "mapm/doc_kind.h"

/* project: tables and rules shared by reading and editing mapm.yaml. */

#define PROJECT_MAX_DEPTH 8

/* Returns true for a pattern such as "github.com/acme/<any>": three parts, in
 * each of which "*" matches any text. */
bool project_is_source(struct str pattern);

/* Returns why a rule of policy.commands must not begin with this program, or
 * NULL. Sets `*hint` to a hint or "". */
const char *project_program_fault(struct str program, const char **hint);

/* Returns true if a key has no value or "null". */
bool project_is_null(const struct yaml *y);

/* Returns the node with the origin of a list item: the item itself if it is
 * text, or the `origin` of {origin, as}. Returns NULL for other items. */
const struct yaml *project_item_origin(const struct yaml *item);
/* Returns the text of the origin that the item describes; its `p` is NULL if
 * the item is invalid. */
struct str project_item_text(enum doc_kind kind, const struct yaml *item,
                             struct arena *a);

/* Stores project_parts_text() of the item's `without`, or "". Returns false if
 * that is not a list of texts. */
bool project_item_without(const struct yaml *item, struct arena *a,
                          struct str *out);

/* The lists of the dependencies block, in the order in which new lists are
 * written. */
#define PROJECT_LISTS 5
extern const char *const project_lists[PROJECT_LISTS];

/* Returns a list of the block, or NULL. */
const struct yaml *project_list(const struct yaml *block, const char *name);

/* Added or removed roots of one kind, in the order of the list. */
struct project_change {
    enum doc_kind kind;
    const struct str *origins;
    const struct str *names; /* `as` of each; NULL if none has it */
    /* project_parts_text() of each; NULL if none has `without` */
    const struct str *without;
    size_t count;
};

/* Returns true if `more` equals `fewer` except that it also has the roots of
 * `change`. */
bool project_differs_by(const struct yaml *fewer, const struct yaml *more,
                        const struct project_change *change, struct arena *a);

/* Returns a text of the whole tree for comparison, allocated in `a`, without
 * the key of the dependencies block and the members for which `is_left_out`
 * returns true. `block` is "" for members of the file itself. */
struct str project_rest(const struct yaml *root,
                        bool (*is_left_out)(struct str block, struct str key),
                        struct arena *a);

#endif
