#ifndef FETCH_WORKER_RIGHTS_H
#define FETCH_WORKER_RIGHTS_H

#include "settings.h"

/*
 * rights: drops the rights of mapm-fetch before it reads any network data.
 * Source: THREATS.md 1.2.
 */

/*
 * Keeps the network, the files that name resolution and TLS read, and write
 * access to the folder `write_path` (NULL for none), where no file may exceed
 * `max_file_bytes`. All other files of the user must have been read before.
 */
MUST_CHECK bool rights_give_up(const struct settings *s, const char *write_path,
                               uint64_t max_file_bytes, struct err *e);

#endif
