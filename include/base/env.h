#ifndef BASE_ENV_H
#define BASE_ENV_H

#include "base/str.h"

/*
 * env: the environment of this process. No module changes it, and no other one
 * reads it, except for the part of libmapm that is in the process of its host.
 *
 * The texts are borrowed from the environment.
 */

/* Returns the value of a variable; "" if it is not set. */
struct str env_get(const char *name);

/* Returns whether it is set, also to "". */
bool env_is_set(const char *name);

/* Returns the value if it is an absolute path, otherwise "". The XDG Base
 * Directory Specification says to ignore a relative one. */
struct str env_folder(const char *name);

/* Returns the folder of the user's configuration files: XDG_CONFIG_HOME, or
 * ".config" in `home`, allocated in `a`; "" if there is neither. */
struct str env_config_folder(struct str home, struct arena *a);

/* Returns all variables, "NAME=value", NULL at the end. */
char **env_all(void);

/* Returns the variables for which `is_kept` is true, `add`, if it is not NULL,
 * and NULL. Without `is_kept`, all. */
const char **env_with(bool (*is_kept)(struct str variable), const char *add,
                      struct arena *a);

#endif
