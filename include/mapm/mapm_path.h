#ifndef MAPM_MAPM_PATH_H
#define MAPM_MAPM_PATH_H

#include "base/arena.h"
#include "base/str.h"

/*
 * mapm_path: determines whether a client that starts "mapm" by name
 * will find it [D20].
 *
 * A client in a terminal has the PATH of the shell. A client that is started
 * from the desktop has the PATH of the session, which often lacks
 * ~/.local/bin and ~/bin. Only its default and the PATH in /etc/environment
 * (pam_env) can be read.
 */
struct mapm_path {
    struct str found;   /* path of mapm on this process's PATH; or "" */
    struct str session; /* PATH of the session */
    bool is_in_session;
};

/* Looks for mapm on both PATHs. Allocated in `a`. */
void mapm_path_find(struct arena *a, struct mapm_path *out);

#endif
