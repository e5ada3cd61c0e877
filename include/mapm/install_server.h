#ifndef MAPM_INSTALL_SERVER_H
#define MAPM_INSTALL_SERVER_H

#include "mapm/install.h"

/*
 * own_server: `mapm mcp` as one more server of a workspace, which its clients
 * start. No package: mapm.yaml says `server: true`, and what stands in the
 * clients' files is made from a document that is part of the program.
 */

/* install --with-server: the line in mapm.yaml. Errors: ERR_USAGE for the
 * library of the user, ERR_FORMAT for a file that says otherwise. */
MUST_CHECK bool own_server_add(struct sync *s, struct err *e);

/* As provision takes packages. In `a`. */
void own_server_fill(struct provision_item *out, struct arena *a);

/* Its document, which is in no store. False: that is another object. */
bool own_server_read(const struct hash *h, struct arena *a, struct str *out);

#endif
