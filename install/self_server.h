#ifndef INSTALL_SELF_SERVER_H
#define INSTALL_SELF_SERVER_H

#include "mapm/provision.h"

struct install_session;

/*
 * self_server: `mapm mcp` as one more server of a workspace, which its clients
 * start. No package: mapm.yaml says `server: true`, and what stands in the
 * clients' files is made from a document that is part of the program.
 */

/* install --with-server: the line in mapm.yaml. Errors: ERR_FORMAT for a file
 * that says otherwise. */
MUST_CHECK bool self_server_add(struct install_session *s, struct err *e);

/* "mapm", its key in the clients' files, or its name. */
bool self_server_is_name(struct str word);

/* The line again out of mapm.yaml. Errors: ERR_FORMAT likewise. */
MUST_CHECK bool self_server_remove(struct install_session *s, struct err *e);

/* As provision takes packages; at user level with --global. In `a`. */
void self_server_fill(bool is_user, struct provision_item *out,
                      struct arena *a);

/* Its document, which is in no store. False: that is another object. */
bool self_server_read(const struct hash *h, struct arena *a, struct str *out);

#endif
