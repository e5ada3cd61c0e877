#ifndef PROVISION_YAML_EDIT_H
#define PROVISION_YAML_EDIT_H

#include "base/hash.h"
#include "base/map.h"

/*
 * yaml_edit: one block of a YAML file put, replaced or removed in place: the
 * value of `key` in the mapping `section` of the root, or the item of the list
 * `section` whose member `name` is `key`. Every other byte is
 * kept: comments, order, line ends, a missing final newline.
 *
 * Errors: ERR_FORMAT "line L: …" for what base/yaml.h refuses (anchors, tags,
 * several documents …), and where the root or the section is written in another
 * way than one line or more for each member ({…}), unless it is empty.
 */

struct yaml_place {
    struct str section, key;
    const char *name; /* member that identifies items of a list; NULL for a
                       * mapping */
};

MUST_CHECK bool yaml_edit_find(struct str text, const struct yaml_place *place,
                               bool *found, struct hash *hash, struct err *e);

/* Computes the hash that yaml_edit_find() returns for `value`, a JSON
 * object. */
MUST_CHECK bool yaml_edit_hash(struct str value, struct hash *out,
                               struct err *e);

/* Writes a block. A new block is appended to its section, a new section to the
 * file. An empty {…} or […] in its place goes. */
MUST_CHECK bool yaml_edit_put(struct str text, const struct yaml_place *place,
                              struct str value, struct arena *a,
                              struct str *out, struct err *e);
/* Removes a block; `*out` is `text` if it is absent. */
MUST_CHECK bool yaml_edit_remove(struct str text,
                                 const struct yaml_place *place,
                                 struct arena *a, struct str *out,
                                 struct err *e);

/* Returns the empty {…} or […] of the section, with the white space before it;
 * or, with `*is_all`, the whole text if it is only that; "" for anything else.
 * The other function writes it behind the key of a section that is empty
 * again, and refuses what the first one would not return. */
MUST_CHECK bool yaml_edit_find_gap(struct str text,
                                   const struct yaml_place *place,
                                   struct arena *a, struct str *gap,
                                   bool *is_all, struct err *e);
MUST_CHECK bool yaml_edit_put_gap(struct str text,
                                  const struct yaml_place *place,
                                  struct str gap, struct arena *a,
                                  struct str *out, struct err *e);

MUST_CHECK bool yaml_edit_has_section(struct str text,
                                      const struct yaml_place *place, bool *has,
                                      struct err *e);
/* Removes the section if it is empty. */
MUST_CHECK bool yaml_edit_drop_section(struct str text,
                                       const struct yaml_place *place,
                                       struct arena *a, struct str *out,
                                       struct err *e);

/* Hashes everything except the blocks of the section whose keys are in `keys`.
 * An empty section is ignored. */
MUST_CHECK bool yaml_edit_hash_others(struct str text,
                                      const struct yaml_place *place,
                                      const struct map *keys, struct hash *out,
                                      struct err *e);

#endif
