#ifndef MAPM_CATALOG_H
#define MAPM_CATALOG_H

#include "base/err.h"
#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/origin.h"

/*
 * catalog: an item of `dependencies: catalogs:` of mapm.yaml, and the packages
 * that it selects [D11].
 *
 *     - origin: https://github.com/acme/catalog/tree/main
 *       include: [skill pdf-*, plugins/office/]     default: everything
 *       exclude: [skills/pdf-forms]
 *
 * A pattern is a name, or, if it contains "/", a path below the folder of the
 * origin, which also stands for everything below it. Both may be globs
 * (glob.h), and may be preceded by the kind of a package.
 */

struct catalog_glob {
    struct str text;
    unsigned kinds;
    bool is_path;
};

/* One of the two lists: words are looked up, globs are matched one by one. */
struct catalog_filter {
    const struct str *words; /* as written */
    size_t count;
    struct map names, paths; /* map to a set of enum doc_kind */
    const struct catalog_glob *globs;
    size_t glob_count;
};

struct catalog {
    struct origin origin;
    bool has_include;
    struct catalog_filter include, exclude;
    bool is_local; /* from mapm.local.yaml */
    unsigned line; /* 0: from the command line */
};

/* Parses a list of patterns. Allocated in `a`; `words` is borrowed. Errors:
 * ERR_FORMAT for an invalid pattern; ERR_LIMIT if there are more than
 * CATALOG_MAX_GLOBS. */
MUST_CHECK bool catalog_filter_read(const struct str *words, size_t count,
                                    struct arena *a, struct catalog_filter *out,
                                    struct err *e);

/* Return whether the list, or the catalog, selects a package. `path` is
 * relative to the folder of the catalog; "" means that folder itself, which
 * only `name` can match. */
bool catalog_filter_matches(const struct catalog_filter *f, enum doc_kind kind,
                            struct str path, struct str name);
bool catalog_chooses(const struct catalog *c, enum doc_kind kind,
                     struct str path, struct str name);

/* Returns whether `o` is below the origin of the catalog, at the same ref. Sets
 * its path there, and the name that patterns match. */
bool catalog_holds(const struct catalog *c, enum doc_kind kind,
                   const struct origin *o, struct str *path, struct str *name);

/* Returns a pattern that matches only this path and everything below it:
 * "skills/x", "pdf/"; for the folder of the catalog itself, the name with its
 * kind. Allocated in `a`. */
struct str catalog_word(enum doc_kind kind, struct str path, struct str name,
                        struct arena *a);

#endif
