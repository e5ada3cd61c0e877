#ifndef MAPM_FOLDER_OFFERS_H
#define MAPM_FOLDER_OFFERS_H

#include "mapm/fetch.h"

/*
 * folder_offers: finds the packages in a local folder by the same rules as
 * mapm-fetch in a repository (M1): those in agents/, skills/ and mcps/,
 * or, if these have none and `anywhere` is set, skills in any folder.
 * Symbolic links are not followed. Sorted by path; allocated in `a`.
 * Errors: ERR_IO, ERR_LIMIT.
 */
MUST_CHECK bool folder_offers(int root, bool anywhere, struct arena *a,
                              struct fetch_offer **out, size_t *count,
                              struct err *e);

#endif
