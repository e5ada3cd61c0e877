#ifndef MAPM_SKILL_ROOTS_H
#define MAPM_SKILL_ROOTS_H

#include "base/context.h"
#include "mapm/library.h"
#include "mapm/store.h"

/*
 * skill_roots: determines the roots of the library. If several have a skill of
 * the same name, the first one is used (K14, X23):
 *
 *     workspace   .agents/skills, .agents/.mapm/skills (those that `listing:`
 *                 keeps from clients [G4]), .claude/skills, .swival/skills
 *                 (or only --workspace-root)
 *     global      each --root in order, then the two folders of
 *                 `mapm install --global`, skills/ of the data folder, in the
 *                 home folder .agents/skills, .claude/skills,
 *                 .config/swival/skills
 *                 (or --global-root instead of all but --root)
 *
 * With `metis`, Metis' own .metis/skills precede those of the workspace and of
 * the home folder. Missing folders are ignored (T1), except those of the
 * command line (X7). Notes go to stderr (T10, T13).
 */

/* Sets the allowed targets of links of a root (T31, A4). Content of a workspace
 * is untrusted: its root and its links must stay in it. Other roots belong to
 * the user: their links must stay in the home folder, or in the root. */
void skill_roots_bind(struct context *cx, struct str workspace,
                      struct library_root *root);

/* Lists the roots in order of precedence, each path once. Allocated in
 * the arena of `cx`. */
MUST_CHECK bool skill_roots_places(struct context *cx, bool metis,
                                   struct library_root **out, size_t *count,
                                   struct err *e);

/* Returns whether a workspace has a folder of skills. */
bool skill_roots_has_folder(struct context *cx, struct str workspace);

enum skill_check {
    SKILL_CHECK_DOCUMENTS, /* each SKILL.md: a quarter faster; the kind of a
                            * skill is as cached */
    SKILL_CHECK_PROGRAMS,  /* also for programs next to it */
    SKILL_CHECK_LATER      /* the same, if possible by library_verify() */
};

/*
 * Opens the library. `store` caches scans; NULL means no cache. `store` and `cx` are
 * borrowed until library_close. Errors: those of library_open; ERR_USAGE for
 * an empty folder.
 */
MUST_CHECK bool skill_roots_open_library(struct context *cx,
                                         struct store *store, bool metis,
                                         enum skill_check check,
                                         struct library **out, struct err *e);

/* Calls library_search_trusted() for the user. Returns false if the
 * library must be opened. */
bool skill_roots_search(struct context *cx, struct store *store, bool metis,
                        struct str query, size_t limit,
                        struct library_hit **out, size_t *count);

/* Opens a library with the caller's roots; without notices if `notes` is
 * false. */
MUST_CHECK bool skill_roots_open(struct context *cx, struct store *store,
                                 bool metis, bool notes,
                                 const struct library_root *roots, size_t count,
                                 struct library **out, struct err *e);

#endif
