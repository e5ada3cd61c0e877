#ifndef MAPM_SERVE_H
#define MAPM_SERVE_H

#include "base/context.h"
#include "mapm/library.h"

/*
 * serve: implements `mapm mcp`: skills and metaskills as an MCP server over
 * two descriptors.
 *
 * Source: REQUIREMENTS K17, K36, K42, K43, T15 to T29, L6, L14, X11, X27, G4;
 * docs/clients.md.
 */

#define SERVE_MAX_SECONDS 290 /* per run: some clients end calls after 300 */

/* Maximum characters of the instructions with the complete list of skills; a
 * longer list is replaced by a summary (G4). Maximum for the list of Metis,
 * which is truncated. */
#define SERVE_WHOLE_MAX_CHARS 2000
#define SERVE_INDEX_MAX_CHARS 8000

struct serve_options {
    bool metis; /* --profile metis */
    bool watch, preload;
    struct str ask; /* model backend, or "sampling"; p NULL: not given */
    struct str_list allow;
    struct str_list arguments; /* all arguments: a suspended call is resumed
                                  only by a server with the same ones */
};

/*
 * Makes the configuration with which the client of this name starts this server
 * with these arguments: `*text` is a file with this server alone, `*file` its
 * path. Allocated in the arena of `cx`. Fails with ERR_USAGE for a client without
 * such a file, or a word that it cannot hold. Source: docs/clients.md 2, 4; seen
 * in 2026-11.
 */
MUST_CHECK bool serve_format_config(struct context *cx, struct str client,
                                    struct str_list arguments, struct str *file,
                                    struct str *text, struct err *e);

/* Serves until the end of `in`. */
MUST_CHECK bool serve_run_server(struct context *cx,
                                 const struct serve_options *o, int in, int out,
                                 struct err *e);

/* Makes the instructions: the skills according to `o`, and how to run
 * metaskills. Sets the limits of `o`. Allocated in `a`. */
MUST_CHECK bool serve_instructions(const struct library *l,
                                   struct library_index *o, bool metis,
                                   bool runs, struct arena *a,
                                   struct library_block *block, struct str *out,
                                   struct err *e);

#endif
