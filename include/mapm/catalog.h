#ifndef MAPM_CATALOG_H
#define MAPM_CATALOG_H

#include "base/err.h"
#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/origin.h"

/*
 * catalog: an item of `dependencies: catalogs:`, and which packages it chooses
 * [D11].
 *
 *     - origin: https://github.com/acme/catalog/tree/main
 *       include: [skill pdf-*, plugins/office/]     default: everything
 *       exclude: [skills/pdf-forms]
 *
 * A pattern is a name, or a path below the folder of the origin where it holds
 * "/": then it stands for all that lies below it, too. Either may be a glob
 * (glob.h), and the kind of a package may stand before it.
 */

struct catalog_glob {
    struct str text;
    unsigned kinds;
    bool is_path;
};

/* Of one of the two lists: words are looked up, globs are tried. */
struct catalog_filter {
    const struct str *words; /* as written */
    size_t count;
    struct map names, paths; /* -> enum doc_kind, or'ed */
    const struct catalog_glob *globs;
    size_t glob_count;
};

struct catalog {
    struct origin origin;
    bool has_include;
    struct catalog_filter include, exclude;
    bool is_local; /* of mapm.local.yaml */
    unsigned line; /* 0: of the command line */
};

/* Errors: ERR_FORMAT, a word that is no pattern; ERR_LIMIT past
 * CATALOG_MAX_GLOBS. In `a`; `words` is borrowed. */
MUST_CHECK bool catalog_filter_read(const struct str *words, size_t count,
                                    struct arena *a, struct catalog_filter *out,
                                    struct err *e);

/* One package. `path`: in the folder of the catalog; "" is the folder itself,
 * which `name` is for. */
bool catalog_filter_matches(const struct catalog_filter *f, enum doc_kind kind,
                            struct str path, struct str name);
bool catalog_chooses(const struct catalog *c, enum doc_kind kind,
                     struct str path, struct str name);

/* Whether `o` is below the origin of the catalog, at the same ref: its path
 * there, and the name that patterns mean. */
bool catalog_holds(const struct catalog *c, enum doc_kind kind,
                   const struct origin *o, struct str *path, struct str *name);

/* A pattern for this path alone, and what lies below it: "skills/x", "pdf/".
 * Of the folder itself the name with its kind. In `a`. */
struct str catalog_word(enum doc_kind kind, struct str path, struct str name,
                        struct arena *a);

#endif
