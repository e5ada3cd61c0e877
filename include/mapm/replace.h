#ifndef MAPM_REPLACE_H
#define MAPM_REPLACE_H

#include "base/map.h"
#include "mapm/project.h"

/*
 * replace: `replace:` of mapm.local.yaml, config.yaml and mapm.yaml: packages
 * that come from elsewhere than their origins name. Source: D9; HOSTS 11.
 *
 *     https://github.com/acme/catalog                       a repository
 *     https://github.com/acme/catalog//skills/pdf           one path, any ref
 *     https://github.com/acme/catalog/tree/main/skills/pdf  one package
 *
 * Where the ref of an origin ends is not known: it is its first segment (a
 * slash in a ref is written as "%2F").
 */

struct replacement {
    enum project_role role; /* of the file that has it */
    const char *file;
    unsigned line;
    struct str from, to;  /* as written */
    bool is_folder;       /* `to`: PROJECT_LOCAL alone */
    bool is_whole;        /* `from` is a repository: the path is carried over */
    bool carries_ref;     /* `to` names none */
    struct str path;      /* of `to`, when not carried over; or the folder */
    struct origin target; /* its host, owner and repo; all, with a ref */
};

#define REPLACE_FORMS 3 /* of `from`: package, path, repository */
#define REPLACE_ROLES 3 /* enum project_role */

struct replacements {
    struct map forms[REPLACE_FORMS][REPLACE_ROLES]; /* -> replacement */
    size_t count;
};

void replacements_init(struct replacements *out, struct arena *a);

/* Adds those of one file, each `from` once. Folders are relative to
 * `workspace`. In the arena of `out`. Errors: ERR_FORMAT, ERR_ORIGIN with
 * "mapm.yaml:7: …". */
MUST_CHECK bool
replacements_add(struct replacements *out, const struct project *p,
                 enum project_role role, const char *name, struct str workspace,
                 const struct origin_rules *rules, struct err *e);

/* The one with the longest `from` that fits, of equal ones that of
 * mapm.local.yaml, then config.yaml; NULL: none. */
const struct replacement *replacements_find(const struct replacements *all,
                                            const struct origin *o);
/* The same of mapm.yaml alone, whatever the others say. */
const struct replacement *replacements_find_team(const struct replacements *all,
                                                 const struct origin *o);

/* Where `o`, which it fits, comes from. In `a`. */
void replacement_apply(const struct replacement *r, const struct origin *o,
                       struct arena *a, struct origin *out);

#endif
