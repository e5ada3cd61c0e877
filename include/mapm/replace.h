#ifndef MAPM_REPLACE_H
#define MAPM_REPLACE_H

#include "base/map.h"
#include "mapm/project.h"

/*
 * replace: `replace:` of mapm.local.yaml, config.yaml and mapm.yaml: other
 * sources for packages than their origins.
 * Source: D9; HOSTS 11.
 *
 *     https://github.com/acme/catalog                       a repository
 *     https://github.com/acme/catalog//skills/pdf           one path, any ref
 *     https://github.com/acme/catalog/tree/main/skills/pdf  one package
 *
 * The ref of an origin is taken to be its first segment, because its end is not
 * known here (a slash in a ref is written as "%2F").
 */

struct replacement {
    enum project_role role; /* role of the file that contains it */
    const char *file;
    unsigned line;
    struct str from, to;  /* as written */
    bool is_folder;       /* `to` is a folder: only in PROJECT_LOCAL */
    bool is_whole;        /* `from` is a repository: the path is kept */
    bool carries_ref;     /* `to` has no ref: the ref is kept */
    struct str path;      /* path of `to`, unless kept; or the folder */
    struct origin target; /* host and repository of `to`; complete if it has a
                             ref */
};

#define REPLACE_FORMS 3 /* forms of `from`: package, path, repository */
#define REPLACE_ROLES 3 /* enum project_role */

struct replacements {
    struct map forms[REPLACE_FORMS][REPLACE_ROLES]; /* -> replacement */
    size_t count;
};

void replacements_init(struct replacements *out, struct arena *a);

/* Adds the replacements of one file, in which each `from` must be unique.
 * Folders are relative to `workspace`. Allocated in the arena of `out`. Errors:
 * ERR_FORMAT, ERR_ORIGIN with "mapm.yaml:7: …". */
MUST_CHECK bool
replacements_add(struct replacements *out, const struct project *p,
                 enum project_role role, const char *name, struct str workspace,
                 const struct origin_rules *rules, struct err *e);

/* Returns the matching replacement with the longest `from`; of equal ones, that
 * of mapm.local.yaml, then config.yaml. NULL if there is none. */
const struct replacement *replacements_find(const struct replacements *all,
                                            const struct origin *o);
/* The same for mapm.yaml only. */
const struct replacement *replacements_find_team(const struct replacements *all,
                                                 const struct origin *o);

/* Applies a matching replacement to `o`. Allocated in `a`. */
void replacement_apply(const struct replacement *r, const struct origin *o,
                       struct arena *a, struct origin *out);

#endif
