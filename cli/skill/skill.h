#ifndef CLI_SKILL_H
#define CLI_SKILL_H

#include "base/json.h"
#include "mapm/skill_session.h"

#include "../command.h"

/*
 * skill: `mapm skill`, the library on the command line.
 *
 *     skill.c          which word, its options, store and library
 *     skill_find.c     list, search, match, index
 *     skill_load.c     load, within the budgets of a session
 *     skill_show.c     show
 *     skill_files.c    files
 *
 * Source: Metis skill format; docs/requirements.md T15 to T22, L3 to L15.
 */

struct skill_job {
    struct invocation *inv;
    struct store *store;      /* NULL: it cannot be used */
    struct err store_problem; /* why not */
    struct library *library;  /* NULL: not yet */
    bool metis;               /* --profile metis */
    const char *word;         /* "load" */
    struct str_list words;    /* the arguments behind it */
};

#define SKILL_WORD(name) bool name(struct skill_job *job, struct err *e)
SKILL_WORD(skill_list);
SKILL_WORD(skill_search);
SKILL_WORD(skill_match);
SKILL_WORD(skill_load);
SKILL_WORD(skill_show);
SKILL_WORD(skill_files);
SKILL_WORD(skill_index);

/* Opens job->library: only a search may do without. */
MUST_CHECK bool skill_open(struct skill_job *job, struct err *e);

/* Name, description, source and marks of a skill, into an open object. */
void skill_put_json(struct json_writer *w, const struct library_skill *s);

/* Text for a model: unchanged, except on a terminal. */
void skill_print_text(struct skill_job *job, struct str text);

/* That of --session; not open yet. */
struct skill_session skill_session_of(const struct skill_job *job);

#endif
