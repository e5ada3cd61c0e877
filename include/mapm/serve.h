#ifndef MAPM_SERVE_H
#define MAPM_SERVE_H

#include "base/context.h"
#include "mapm/library.h"

/*
 * serve: skills and metaskills as an MCP server, over two descriptors.
 *
 * Source: REQUIREMENTS K17, K36, K42, K43, T15 to T29, L6, L14, X11, X27, G4;
 * docs/clients.md.
 */

#define SERVE_MAX_SECONDS 290 /* of a run: some clients end calls at 300 */

/* Characters of the instructions: with the list of skills at most so many, else
 * with a summary (G4); of the list of Metis, which is cut. */
#define SERVE_WHOLE_MAX_CHARS 2000
#define SERVE_INDEX_MAX_CHARS 8000

struct serve_options {
    bool metis; /* --profile metis */
    bool watch, preload;
    struct str ask; /* the model backend, "sampling"; p NULL: not given */
    struct str_list allow;
    struct str_list arguments; /* all of them: a suspended call is resumed only
                                * by a server that was started alike */
};

/* From the first byte to the end of `in`. */
MUST_CHECK bool serve_run_server(struct context *cx,
                                 const struct serve_options *o, int in, int out,
                                 struct err *e);

/* The skills, as `o` has them, and how to run metaskills. Sets the limits of `o`.
 * In `a`. */
MUST_CHECK bool serve_instructions(const struct library *l,
                                   struct library_index *o, bool metis,
                                   bool runs, struct arena *a,
                                   struct library_block *block, struct str *out,
                                   struct err *e);

#endif
