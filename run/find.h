#ifndef RUN_FIND_H
#define RUN_FIND_H

#include "mapm/run.h"

/*
 * find: resolves the name of a metaskill, and compares its files with the lock.
 *
 *     NAME           the workspace's lock, then folders of .agents/skills that
 *                    no lock names, then the user's library, then folders of
 *                    skills, where mapm new writes
 *     ./x /x ~/x a/  a folder; in one that came by install it is that package
 *
 * Source: DESIGN.md 8; REQUIREMENTS K37, X27.
 */

/*
 * find_check.c: compares the folder with the lock: each file, a renamed copy's
 * SKILL.md under its name (X2, X9). Additional files belong to the user and
 * are ignored, unless one would become the program. Errors: ERR_EDITED, one
 * message a file.
 */
MUST_CHECK bool run_skill_check(struct store *store,
                                const struct lock_entry *entry,
                                const struct skill *skill, struct err *e);

#endif
