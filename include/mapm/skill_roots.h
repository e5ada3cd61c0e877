#ifndef MAPM_SKILL_ROOTS_H
#define MAPM_SKILL_ROOTS_H

#include "base/context.h"
#include "mapm/library.h"
#include "mapm/store.h"

/*
 * open_library: the skills that can be seen from here. Of one name the first
 * wins (K14, X23):
 *
 *     workspace   .agents/skills, .agents/.mapm/skills (those that `listing:`
 *                 keeps from clients [G4]), .claude/skills, .swival/skills
 *                 (or --workspace-root alone)
 *     global      each --root in order, then what `mapm install --global`
 *                 fills (two such folders), skills/ of the data folder, and of the home folder
 *                 .agents/skills, .claude/skills, .config/swival/skills
 *                 (or --global-root instead of all but --root)
 *
 * With `metis` Metis' own .metis/skills stand before those of the workspace
 * and of the home folder. Folders that are not there are no error (T1), but
 * those of the command line (X7). Notes go to stderr (T10, T13).
 */

/*
 * Sets the allowed targets of links of a root (T31, A4). Content of a
 * workspace is untrusted: links stay in it, as does the root. Other roots
 * belong to the user: links stay in the home folder, or in the root.
 */
void skill_roots_bind(struct context *cx, struct str workspace,
                      struct library_root *root);

/* In order of precedence, each path once. In the invocation's arena. */
MUST_CHECK bool skill_roots_places(struct context *cx, bool metis,
                                   struct library_root **out, size_t *count,
                                   struct err *e);

/* Whether a workspace has any folder of skills. */
bool skill_roots_has_folder(struct context *cx, struct str workspace);

/*
 * `programs`: checks for programs beside each SKILL.md again; else the cached
 * kind of a skill is used, which is a quarter faster. `store` caches scans;
 * NULL: no cache. Both it and `cx` are borrowed until library_close. Errors:
 * those of library_open; ERR_USAGE for an empty folder.
 */
MUST_CHECK bool skill_roots_open_library(struct context *cx,
                                         struct store *store, bool metis,
                                         bool programs, struct library **out,
                                         struct err *e);

/* library_search_trusted(), for a person. False: open the library. */
bool skill_roots_search(struct context *cx, struct store *store, bool metis,
                        struct str query, size_t limit,
                        struct library_hit **out, size_t *count);

/* The same for roots of the caller's choice; `notes` false: without notices. */
MUST_CHECK bool skill_roots_open(struct context *cx, struct store *store,
                                 bool metis, bool notes,
                                 const struct library_root *roots, size_t count,
                                 struct library **out, struct err *e);

#endif
