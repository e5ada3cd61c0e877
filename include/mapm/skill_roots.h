#ifndef MAPM_SKILL_ROOTS_H
#define MAPM_SKILL_ROOTS_H

#include "base/context.h"
#include "mapm/library.h"
#include "mapm/store.h"

/*
 * open_library: the skills that can be seen from here. Of one name the first
 * wins (K14, X23):
 *
 *     workspace   .agents/skills, .claude/skills, .swival/skills
 *                 (or --workspace-root alone)
 *     global      each --root in order, then what `mapm install --global`
 *                 fills, skills/ of the data folder, and of the home folder
 *                 .agents/skills, .claude/skills, .config/swival/skills
 *                 (or --global-root instead of all but --root)
 *
 * With `metis` Metis' own .metis/skills stand before those of the workspace
 * and of the home folder. Folders that are not there are no error (T1), but
 * those of the command line (X7). Notes go to stderr (T10, T13).
 */

/*
 * Sets where the links of a root may lead (T31, A4). What lies in a workspace
 * comes from anybody: so they stay in it, as does the root. What lies outside
 * is the user's own: they stay in the home folder, or in the root.
 */
void bound_root(struct context *cx, struct str workspace,
                struct library_root *root);

/* In order of precedence, each path once. In the invocation's arena. */
MUST_CHECK bool library_places(struct context *cx, bool metis,
                               struct library_root **out, size_t *count,
                               struct err *e);

/* Whether a workspace has any folder of skills. */
bool library_has_folder(struct context *cx, struct str workspace);

/*
 * `programs`: whether a program came or went beside a SKILL.md is looked at, too;
 * else a metaskill is one that was one, which is a quarter faster.
 * `store` keeps what is known of the roots; NULL: nothing does. Both it and
 * `cx` are borrowed until library_close.
 * Errors: those of library_open; ERR_USAGE for an empty folder.
 */
MUST_CHECK bool open_library(struct context *cx, struct store *store,
                             bool metis, bool programs, struct library **out,
                             struct err *e);

/* The same for roots of the caller's choice; `notes` false: says nothing. */
MUST_CHECK bool open_library_roots(struct context *cx, struct store *store,
                                   bool metis, bool notes,
                                   const struct library_root *roots,
                                   size_t count, struct library **out,
                                   struct err *e);

#endif
