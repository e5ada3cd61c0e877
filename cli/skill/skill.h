#ifndef CLI_SKILL_H
#define CLI_SKILL_H

#include "base/json.h"
#include "mapm/skill_session.h"

#include "../command.h"

/*
 * skill: `mapm skill`, the library on the command line.
 *
 *     skill.c          the operation, its options, store and library
 *     skill_find.c     list, search, match, index
 *     skill_load.c     load, within the budgets of a session
 *     skill_show.c     show
 *     skill_files.c    files
 *
 * Source: Metis skill format; docs/requirements.md T15 to T22, L3 to L15.
 */

struct skill_job {
    struct invocation *inv;
    struct store *store;      /* NULL if it cannot be used */
    struct err store_problem; /* why it cannot be used */
    struct library *library;  /* NULL until it is opened */
    bool metis;               /* --profile metis */
    const char *word;         /* "load" */
    struct str_list words;    /* the arguments after it */
};

#define SKILL_WORD(name) bool name(struct skill_job *job, struct err *e)
SKILL_WORD(skill_list);
SKILL_WORD(skill_search);
SKILL_WORD(skill_match);
SKILL_WORD(skill_load);
SKILL_WORD(skill_show);
SKILL_WORD(skill_files);
SKILL_WORD(skill_index);

/* Opens job->library. Only a search can work without it. */
MUST_CHECK bool skill_open(struct skill_job *job, struct err *e);

/* Writes name, description, source and marks of a skill into an open object. */
void skill_put_json(struct json_writer *w, const struct library_skill *s);

/* Prints text for a model: unchanged, except on a terminal. */
void skill_print_text(struct skill_job *job, struct str text);

/* Returns the session of --session, not yet open. */
struct skill_session skill_session_of(const struct skill_job *job);

#endif
