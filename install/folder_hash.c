#include "folder_hash.h"

#include "mapm/limits.h"

#include <stdlib.h>
#include <string.h>

/* Both cases of a letter have the same position; between otherwise equal
 * strings, lower case comes first. */
static const char order[] = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
                            "0123456789abcdefghijklmnopqrstuvwxyz";

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static int rank_of(char c)
{
    const char *at = strchr(order, is_upper(c) ? c - 'A' + 'a' : c);

    return c && at ? (int)(at - order) : -1;
}

static int compare_paths(const void *x, const void *y)
{
    struct str one = ((const struct package_file *)x)->path;
    struct str two = ((const struct package_file *)y)->path;
    size_t n = one.n < two.n ? one.n : two.n;

    for (size_t i = 0; i < n; i++)
        if (rank_of(one.p[i]) != rank_of(two.p[i]))
            return rank_of(one.p[i]) - rank_of(two.p[i]);
    if (one.n != two.n)
        return one.n < two.n ? -1 : 1;
    for (size_t i = 0; i < n; i++)
        if (one.p[i] != two.p[i])
            return is_upper(one.p[i]) ? 1 : -1;
    return 0;
}

static bool is_ordered(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if (rank_of(path.p[i]) < 0)
            return false;
    return true;
}

bool folder_hash(struct store *store, struct package_file *files, size_t count,
                 struct arena *scratch, struct hash *out)
{
    struct hash_state h;

    for (size_t i = 0; i < count; i++)
        if (!is_ordered(files[i].path))
            return false;
    if (count)
        qsort(files, count, sizeof *files, compare_paths);
    hash_init(&h);
    for (size_t i = 0; i < count; i++) {
        struct err ignored = {0};
        struct str bytes;

        if (!store_read(store, &files[i].hash, FILE_MAX_BYTES, scratch, &bytes,
                        &ignored))
            return false;
        hash_add(&h, files[i].path);
        hash_add(&h, bytes);
    }
    *out = hash_end(&h);
    return true;
}
