#ifndef MAPM_MAPM_PATH_H
#define MAPM_MAPM_PATH_H

#include "base/arena.h"
#include "base/str.h"

/*
 * mapm_path: where a client that starts "mapm" by its name finds it [D20].
 *
 * A client in a terminal has the PATH of the shell. One that was started from
 * the desktop has that of the session, which often lacks ~/.local/bin and ~/bin.
 * What can be read of it is the default and PATH in /etc/environment (pam_env).
 */
struct mapm_path {
    struct str found;   /* on this process's PATH; "" = nowhere */
    struct str session; /* folders of the session, with ":" between them */
    bool is_in_session;
};

/* In `a`. */
void mapm_path_find(struct arena *a, struct mapm_path *out);

#endif
