#ifndef MAPM_INSTALL_PICKER_H
#define MAPM_INSTALL_PICKER_H

#include "mapm/install.h"

/*
 * install_picker: the state of a choice from a catalog: its packages by group,
 * a filter, and the packages that are picked. Knows no screen and no keys [G8].
 *
 *     rows   all packages by plugin or folder, each group after its heading
 *     seen   indexes of the rows that match the filter
 */

#define PICKER_FILTER_MAX_BYTES 64

struct picker_row {
    const struct install_offer
        *offer;          /* of a heading: the first of its group */
    size_t group;        /* number of the group */
    size_t count;        /* of a heading: packages, otherwise 0 */
    struct str haystack; /* lower case; what the filter searches */
    bool is_picked;
};

struct install_picker {
    struct picker_row *rows;
    size_t row_count;
    size_t *seen;
    size_t seen_count;
    char filter[PICKER_FILTER_MAX_BYTES];
    size_t filter_bytes;
    size_t picked; /* packages that are picked */
};

/* Lists the packages of `c` without a filter: plugins without packages here,
 * which have no heading; then of each other plugin itself first, then its
 * packages. Allocated in `a`, borrowing from `c`. */
void install_picker_init(struct install_picker *p,
                         const struct install_catalog *c, struct arena *a);

/* Append to the filter, remove its last character, and remove all of it. Text
 * that is not UTF-8, has control characters or would be too long is ignored. */
void install_picker_type(struct install_picker *p, struct str text);
void install_picker_erase(struct install_picker *p);
void install_picker_clear(struct install_picker *p);

/* Return the row seen[at], and whether it is a package that can be installed. */
struct picker_row *install_picker_row(const struct install_picker *p,
                                      size_t at);
bool install_picker_can_pick(const struct picker_row *row);

/* Picks the package seen[at], or withdraws it; for a heading, all of its
 * packages that are seen. An index that is not seen is ignored. */
void install_picker_toggle(struct install_picker *p, size_t at);
/* Picks all packages that are seen, or withdraws them if all are picked. Plugins
 * as a whole are excluded, because their parts are packages, too; so are
 * packages that are installed. */
void install_picker_toggle_all(struct install_picker *p);

/* Returns the tokens of what is picked; those of a plugin contain those of its
 * packages. */
size_t install_picker_tokens(const struct install_picker *p);

/* Returns the picked packages by path, which no other package has; plugins by
 * name. Allocated in `a`. */
struct install_choice install_picker_choice(const struct install_picker *p,
                                            struct arena *a);

/* Returns the text that describes an offer: why it cannot be installed, else the
 * command line of an MCP server, else its description. */
struct str install_offer_text(const struct install_offer *o);

#endif
