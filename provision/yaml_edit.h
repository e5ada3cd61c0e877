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
 * way than one line or more for each member ({…}).
 */

struct yaml_place {
    struct str section, key;
    const char *name; /* of the items of a list; NULL: a mapping */
};

MUST_CHECK bool yaml_edit_find(struct str text, const struct yaml_place *place,
                               bool *found, struct hash *hash, struct err *e);

/* The hash that yaml_edit_find has for `value`, an object in JSON. */
MUST_CHECK bool yaml_edit_hash(struct str value, struct hash *out,
                               struct err *e);

/* A new block goes last in its section, a new section last in the file. */
MUST_CHECK bool yaml_edit_put(struct str text, const struct yaml_place *place,
                              struct str value, struct arena *a,
                              struct str *out, struct err *e);
/* `*out` is `text` when it is absent. */
MUST_CHECK bool yaml_edit_remove(struct str text,
                                 const struct yaml_place *place,
                                 struct arena *a, struct str *out,
                                 struct err *e);

MUST_CHECK bool yaml_edit_has_section(struct str text,
                                      const struct yaml_place *place, bool *has,
                                      struct err *e);
/* Without the section when there is nothing in it. */
MUST_CHECK bool yaml_edit_drop_section(struct str text,
                                       const struct yaml_place *place,
                                       struct arena *a, struct str *out,
                                       struct err *e);

/* The hash of all but the blocks in the section whose keys are in `keys`. An
 * empty section counts as none. */
MUST_CHECK bool yaml_edit_hash_others(struct str text,
                                      const struct yaml_place *place,
                                      const struct map *keys, struct hash *out,
                                      struct err *e);

#endif
