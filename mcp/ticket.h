#ifndef MCP_TICKET_H
#define MCP_TICKET_H

#include "server.h"

/*
 * ticket: requestState, with which a client resumes a call. Run, round and
 * expiry are readable; an HMAC over them and the digest of the call
 * authenticates them, as the client could change it.
 *
 *     9f…3a.2.1790000000.<64 digits>
 */

#define RUN_HEX_CHARS 32

struct ticket {
    char run[RUN_HEX_CHARS + 1];
    unsigned round; /* number of the round of questions, from 1 */
    uint64_t expires_s;
};

void ticket_new_run(char run[RUN_HEX_CHARS + 1]);

/* Digest of the call: the server (mcp_server.state_of), the method, and its
 * parameters without _meta and those that a retry adds. */
struct hash ticket_digest(const struct mcp_call *c);

struct str ticket_format(struct server *s, const struct ticket *t,
                         const struct hash *digest, struct arena *a);
/* Returns false if the ticket was not issued by this server, belongs to another
 * call, or has expired. */
bool ticket_parse(struct server *s, struct str text, const struct hash *digest,
                  struct ticket *out);

#endif
