#ifndef MAPM_FOLDER_OFFERS_H
#define MAPM_FOLDER_OFFERS_H

#include "mapm/fetch.h"

/*
 * folder_offers: the packages in a folder of this machine, as mapm-fetch finds
 * them in a repository (M1): those in agents/, skills/ and mcps/; where these
 * are none and with `anywhere`, skills wherever they lie. Links are not
 * followed. By path; in `a`. Errors: ERR_IO, ERR_LIMIT.
 */
MUST_CHECK bool folder_offers(int root, bool anywhere, struct arena *a,
                              struct fetch_offer **out, size_t *count,
                              struct err *e);

#endif
