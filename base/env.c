#include "base/env.h"

#include "base/fs.h"

#include <stdlib.h>
#include <unistd.h>

struct str env_get(const char *name)
{
    return str_cstr(getenv(name));
}

bool env_is_set(const char *name)
{
    return getenv(name) != NULL;
}

struct str env_folder(const char *name)
{
    struct str value = env_get(name);

    return str_starts(value, STR("/")) ? value : STR("");
}

struct str env_config_folder(struct str home, struct arena *a)
{
    struct str named = env_folder("XDG_CONFIG_HOME");

    return named.n || home.n == 0 ? named : fs_join(home, STR(".config"), a);
}

char **env_all(void)
{
    static char *none[] = {NULL};

    return environ ? environ : none;
}

const char **env_with(bool (*is_kept)(struct str variable), const char *add,
                      struct arena *a)
{
    char **all = env_all();
    size_t count = 0, kept = 0;
    const char **out;

    while (all[count])
        count++;
    out = arena_array(a, count + 2, sizeof *out); /* zeroed */
    for (size_t i = 0; i < count; i++)
        if (!is_kept || is_kept(str_cstr(all[i])))
            out[kept++] = all[i];
    out[kept] = add;
    return out;
}
