#include "places.h"

#include "base/fs.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

struct str path_real(struct str path, struct arena *a)
{
    char real[PATH_MAX];

    if (!str_starts(path, STR("/")) || !realpath(str_dup0(path, a), real))
        return STR("");
    return arena_str(a, str_cstr(real));
}

void places_add(struct places *p, enum place_kind kind, struct str path)
{
    struct str real = path_real(path, p->arena);
    struct stat st;

    if (real.n < 2 || stat(real.p, &st) < 0)
        return;
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return;
    p->all =
        arena_grow(p->arena, p->all, p->count, &p->capacity, sizeof *p->all);
    p->all[p->count++] = (struct place){real, S_ISDIR(st.st_mode), kind};
}

static int compare(const void *x, const void *y)
{
    const struct place *one = x, *two = y;
    int order = str_cmp(one->path, two->path);

    return order ? order : (int)one->kind - (int)two->kind;
}

enum place_kind places_lookup(const struct places *p, struct str path)
{
    enum place_kind kind = PLACE_READ;

    for (size_t i = 0; i < p->count; i++)
        if (fs_path_is_within(path, p->all[i].path))
            kind = p->all[i].kind;
    return kind;
}

/* True for a hidden place in a hidden folder and a readable one in a readable
 * folder. */
static bool is_redundant(const struct place *place, enum place_kind around)
{
    return place->kind == PLACE_HIDDEN
               ? around <= PLACE_SCRATCH
               : place->kind == PLACE_READ && around == PLACE_READ;
}

void places_normalize(struct places *p)
{
    size_t count = p->count;

    if (count)
        qsort(p->all, count, sizeof *p->all, compare);
    p->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct place place = p->all[i];

        if (i + 1 < count && str_eq(place.path, p->all[i + 1].path))
            continue;
        if (!is_redundant(&place, places_lookup(p, place.path)))
            p->all[p->count++] = place;
    }
}

bool places_hide_below(const struct places *p, struct str folder)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->all[i].kind <= PLACE_SCRATCH && p->all[i].path.n > folder.n &&
            fs_path_is_within(p->all[i].path, folder))
            return true;
    return false;
}
