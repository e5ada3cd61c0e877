#ifndef LINT_PROGRAM_H
#define LINT_PROGRAM_H

#include "mapm/diagnostics.h"
#include "mapm/document.h"

/* Judges the program of a metaskill that was read as `in`: compiled, and never
 * run. Of any other document nothing is said. */
void check_program(const struct manifest_input *in, const struct document *d,
                   struct diagnostics *why);

#endif
