#ifndef FETCH_WORKER_RIGHTS_H
#define FETCH_WORKER_RIGHTS_H

#include "settings.h"

/*
 * rights: what mapm-fetch gives up before it reads a byte from outside.
 * Source: THREATS.md 1.2.
 */

/*
 * Keeps the network, what name resolution and TLS read, and the one folder
 * `write_path` (NULL: none at all), in which no file has more bytes than
 * `max_file_bytes`. Everything else of the user's must have been read before.
 */
MUST_CHECK bool rights_give_up(const struct settings *s, const char *write_path,
                               uint64_t max_file_bytes, struct err *e);

#endif
