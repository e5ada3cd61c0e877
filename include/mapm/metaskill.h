#ifndef MAPM_METASKILL_H
#define MAPM_METASKILL_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/diagnostics.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/package_file.h"

/* metaskill: reads skills and their programs from disk. */

/* A skill folder at the time it was hashed; `program` is the text
 * that was hashed. */
struct skill {
    struct str folder; /* absolute path */
    struct str text;   /* text of SKILL.md */
    struct document document;
    struct diagnostics why;     /* errors and warnings of SKILL.md */
    struct str file;            /* "SKILL.star", in the folder; "" for a static
                                   skill */
    struct str program;         /* text of the program; "" for a static skill */
    struct package_file *files; /* all regular files, sorted by path */
    size_t file_count;
};

/*
 * Reads a skill folder (K1 to K11). Hashes all of its files (without following
 * symbolic links, within the limits of a package), and the program only once. A
 * skill is static if it has no program, or one that cannot be run (X15: its
 * path leaves the folder, other language, too large, not UTF-8, with
 * frontmatter): then `file` is "" and `why` has the reason.
 * Ownership: allocated in `a`.
 * Errors: ERR_NOT_FOUND without SKILL.md; ERR_FRONTMATTER and others as for
 * diagnostics_fail; ERR_LIMIT; ERR_REFUSED.
 */
MUST_CHECK bool metaskill_read(struct str folder, const struct limits *limits,
                               struct arena *a, struct skill *out,
                               struct err *e);

/* The same for an open folder that the caller has checked, with its `path`
 * without links and its `name`. */
MUST_CHECK bool metaskill_read_open(int fd, struct str path, struct str name,
                                    const struct limits *limits,
                                    struct arena *a, struct skill *out,
                                    struct err *e);

/* Returns the activation text (K41, K7): "[Skill: x activated]" and the body
 * without comments, at most BODY_WARN_CHARS, and up to 50 names of files.
 * Allocated in `a`. */
struct str metaskill_activation(const struct skill *s, struct arena *a);

/* Checks a program for `mapm check`: that it compiles, has a function `run`
 * with one argument, and does not use `load`. Starlark errors become
 * diagnostics (program-syntax, program-name, program-run, program-load) with
 * file, line and column. */
void metaskill_check_program(struct str file, struct str program,
                             struct diagnostics *why);

#endif
