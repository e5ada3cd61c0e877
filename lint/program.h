#ifndef LINT_PROGRAM_H
#define LINT_PROGRAM_H

#include "mapm/diagnostics.h"
#include "mapm/document.h"

/* Checks the program of the metaskill `in`, which is compiled but not run.
 * Other documents are ignored. */
void check_program(const struct manifest_input *in, const struct document *d,
                   struct diagnostics *why);

#endif
