#ifndef MAPM_METASKILL_H
#define MAPM_METASKILL_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/diagnostics.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/package_file.h"

/* metaskill: a skill with a program, on the disk. */

/* A skill's folder as it was hashed; the program that runs is the hashed
 * one. */
struct skill {
    struct str folder; /* absolute */
    struct str text;   /* of SKILL.md */
    struct document document;
    struct diagnostics why;     /* of SKILL.md: warnings, and errors */
    struct str file;            /* "SKILL.star", in the folder; "" = static */
    struct str program;         /* its text; "" = static */
    struct package_file *files; /* all regular files, sorted by path bytes */
    size_t file_count;
};

/*
 * Reads a skill's folder (K1 to K11). Every file of it is hashed (links are not
 * followed, limits are those of a package), the program once. A skill without a
 * program, or with one that cannot run (X15: its path escapes; other language;
 * too large; no UTF-8; a frontmatter), is static: `file` is "" and `why` has
 * the reason.
 * Ownership: in `a`. Errors: ERR_NOT_FOUND for no SKILL.md; ERR_FRONTMATTER …
 * as for diagnostics_fail; ERR_LIMIT; ERR_REFUSED.
 */
MUST_CHECK bool metaskill_read(struct str folder, const struct limits *limits,
                               struct arena *a, struct skill *out,
                               struct err *e);

/* The same for an open folder, `path` without links: the caller has checked
 * that it is the right one. `name` is its name. */
MUST_CHECK bool metaskill_read_open(int fd, struct str path, struct str name,
                                    const struct limits *limits,
                                    struct arena *a, struct skill *out,
                                    struct err *e);

/* Activation text (K41, K7): "[Skill: x activated]" … with the body, comments
 * removed, at most BODY_WARN_CHARS, and up to 50 names of files. In `a`. */
struct str metaskill_activation(const struct skill *s, struct arena *a);

/* Checks a program for `mapm check`: it compiles, has a `run` with one
 * argument, and does not use `load`. Errors of Starlark become diagnostics
 * (program-syntax, program-name, program-run, program-load) with file, line and
 * column. */
void metaskill_check_program(struct str file, struct str program,
                             struct diagnostics *why);

#endif
