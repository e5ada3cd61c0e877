#ifndef MANIFEST_LOCK_H
#define MANIFEST_LOCK_H

#include "mapm/manifest.h"

/* lock: what reading and writing mapm.lock share. */

#define LOCK_VERSION "1"

/* By type (agent, mcp, skill: as their names sort), then by name. */
int lock_order(enum doc_kind x_kind, struct str x_name, enum doc_kind y_kind,
               struct str y_name);

/* X.Y.Z; or longer than "false", from a letter on, with nothing that means
 * something in YAML: text for every reader. Quick, and true of nearly all. */
bool lock_is_plain(struct str s);

/* As it stands in the file: `s` itself where YAML takes that for this text. */
struct str lock_scalar(struct str s, struct arena *a);

#endif
