#ifndef FETCH_WORKER_SYSTEM_CA_H
#define FETCH_WORKER_SYSTEM_CA_H

#include "base/str.h"

/*
 * system_ca: the certificate authorities that libcurl trusts by default: a
 * bundle and a folder, as set when it was built. OpenSSL parses the whole
 * bundle, which takes 22 ms of CPU for Debian's 144 certificates, but reads
 * from the folder only the certificate that it needs. Both are trusted, so
 * omitting the bundle never adds trust.
 */

/* Returns whether the folder has as many certificates, named by hash, as the
 * bundle, so that the bundle adds none. Returns false if one cannot be read. */
bool system_ca_is_in_folder(const char *bundle, const char *folder);

/* Returns `bundle` if it exists; else the first bundle that exists at the path
 * of another distribution; else `bundle`, so that libcurl reports it. */
const char *system_ca_bundle(const char *bundle);

#endif
