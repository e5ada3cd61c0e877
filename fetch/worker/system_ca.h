#ifndef FETCH_WORKER_SYSTEM_CA_H
#define FETCH_WORKER_SYSTEM_CA_H

#include "base/str.h"

/*
 * system_ca: the authorities that libcurl trusts by itself, a bundle and a
 * folder (those that it was built for). OpenSSL parses the bundle whole, 22 ms
 * of CPU for Debian's 144; of the folder it reads the certificate that it needs.
 * Both are trusted: without the bundle nothing more is.
 */

/* The folder has as many certificates, by the hash of their names, as the
 * bundle: the bundle adds none. False as well when one cannot be read. */
bool system_ca_is_in_folder(const char *bundle, const char *folder);

/* `bundle`, when it can be read; else the bundle of the first other distribution
 * that this machine has; else `bundle` all the same, for libcurl to name. */
const char *system_ca_bundle(const char *bundle);

#endif
