#include "catalog.h"

#include "base/fs.h"
#include "base/text.h"
#include "mapm/limits.h"

const struct library_skill *library_find(const struct library *l,
                                         struct str name)
{
    const struct catalog *c = l->catalog;
    size_t i = STR_FIRST_AT(c->skills, c->count, name, name);

    return i < c->count && str_eq(c->skills[i].name, name) ? &c->skills[i]
                                                           : NULL;
}

bool catalog_find(const struct library *l, struct str name,
                  const struct library_skill **out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str quoted;

    *out = library_find(l, name);
    if (*out)
        return true;
    quoted = text_repr(text_cut(name, 2 * NAME_MAX_CHARS), &a);
    return err_set(e, ERR_NOT_FOUND, "no skill registered with name %.*s",
                   STR_ARG(quoted));
}

size_t catalog_index(const struct library *l, const struct library_skill *s)
{
    return (size_t)(s - l->catalog->skills);
}

struct record catalog_record(const struct library *l,
                             const struct library_skill *s)
{
    const struct place *p = &l->catalog->places[catalog_index(l, s)];

    return record_get(&l->catalog->batches[p->root].records, p->record);
}

const struct haystack *catalog_haystack(const struct library *l)
{
    struct catalog *c = l->catalog;

    pthread_mutex_lock(&c->lock);
    if (!c->haystack) {
        c->haystack = arena_new(&c->a, struct haystack);
        haystack_build(c->haystack, c->skills, c->count);
    }
    pthread_mutex_unlock(&c->lock);
    return c->haystack;
}

bool catalog_warns_first(const struct library *l, struct str skill,
                         struct str path)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct catalog *c = l->catalog;
    struct str key = fs_join(skill, path, &scratch);
    bool is_first;

    pthread_mutex_lock(&c->lock);
    is_first = !map_has(&c->warned, key);
    if (is_first)
        map_put(&c->warned, arena_str(&c->a, key), c);
    pthread_mutex_unlock(&c->lock);
    return is_first;
}
