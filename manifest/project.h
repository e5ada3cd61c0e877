#ifndef MANIFEST_PROJECT_H
#define MANIFEST_PROJECT_H

#include "base/yaml.h"
#include "mapm/doc_kind.h"

/* project: tables and rules that reading mapm.yaml needs. */

#define PROJECT_MAX_DEPTH 8

/* "github.com/acme/<any>": three parts, "*" for any text in each. */
bool project_is_source(struct str pattern);

/* Why no rule of policy.commands begins with it; NULL when one may. `*hint`
 * says what to do, or is "". */
const char *project_program_fault(struct str program, const char **hint);

/* A key with nothing behind it, or with "null". */
bool project_is_null(const struct yaml *y);

/* The origin of one item of such a list: its text, or of {origin, as}. NULL:
 * neither. */
const struct yaml *project_item_origin(const struct yaml *item);
/* The text of the origin that it stands for; p is NULL when it is none. */
struct str project_item_text(enum doc_kind kind, const struct yaml *item,
                             struct arena *a);

/* project_parts_text() of its `without`; "" for none. False: it is no list of
 * texts. */
bool project_item_without(const struct yaml *item, struct arena *a,
                          struct str *out);

/* The lists of the dependencies block, in the order in which new ones come. */
#define PROJECT_LISTS 5
extern const char *const project_lists[PROJECT_LISTS];

/* One of them; NULL when absent. */
const struct yaml *project_list(const struct yaml *block, const char *name);

/* Roots of one kind, in the order of the list. */
struct project_change {
    enum doc_kind kind;
    const struct str *origins;
    const struct str *names; /* `as` of each; NULL: none has it */
    /* project_parts_text() of each; NULL: none leaves out any. */
    const struct str *without;
    size_t count;
};

/* `more` is `fewer` and the roots of `change`; all else is the same. */
bool project_differs_by(const struct yaml *fewer, const struct yaml *more,
                        const struct project_change *change, struct arena *a);

/* Everything in the tree but the key of the dependencies block and the members
 * that `is_left_out` takes, of a block or (block "") of the file, to compare. In
 * `a`. */
struct str project_rest(const struct yaml *root,
                        bool (*is_left_out)(struct str block, struct str key),
                        struct arena *a);

#endif
