#ifndef PROVISION_WRITABLE_H
#define PROVISION_WRITABLE_H

#include "mapm/clients_scope.h"
#include "mapm/provision.h"

/*
 * writable: the closed list of places that mapm may ever write to, below a
 * workspace and at user level. A record or a journal that names any other place was not written by
 * mapm.
 */

#define SKILLS_FOLDER   PROVISION_SKILLS
#define SEARCHED_FOLDER PROVISION_SEARCHED
#define AGENTS_FOLDER   ".agents/agents"
#define STATE_FOLDER    ".agents/.mapm"
#define STATE_FILE      ".agents/.mapm/state"

/* Returns whether mapm may write `path`: the folder or link of a package, a
 * rendered agent, a client's file, one of the texts, or the record. */
bool place_is_known(const struct client_scope *s, struct str path);
bool place_is_text(struct str path);
/* Returns whether the path is absolute and normalized, as at user level. */
bool place_is_of_user(struct str path);
/* Returns the client whose servers are in the file, or NULL. */
const struct client *place_find_client(const struct client_scope *s,
                                       struct str path);
/* Returns whether `path` is a folder that contains such paths. */
bool place_is_folder(const struct client_scope *s, struct str path);
/* Returns whether `key` is a valid key of a server (X21). */
bool place_is_server_key(struct str key);

#endif
