#include "base/map.h"
#include "mapm/origin.h"

#include "lock.h"

/* What the entries of a lock say about each other. */

struct check {
    const struct lock *lock;
    const char *name; /* of the file */
    struct str text;
    struct arena *scratch;
    struct err *e;
};

unsigned lock_field_line(struct str text, const struct lock_entry *entry,
                         const char *key)
{
    struct str line, word;

    for (unsigned n = 1; str_line(&text, &line); n++) {
        if (n <= entry->line)
            continue;
        if (str_starts(line, STR("  - ")))
            break;
        if (str_cut(&line, ':', &word) && str_is(str_trim(word), key))
            return n;
    }
    return entry->line;
}

static unsigned line_of(const struct check *c, const struct lock_entry *entry,
                        const char *key)
{
    return lock_field_line(c->text, entry, key);
}

static bool check_places(struct check *c)
{
    struct map places, origins;

    map_init(&places, c->scratch);
    map_init(&origins, c->scratch);
    for (size_t i = 0; i < c->lock->count; i++) {
        const struct lock_entry *entry = &c->lock->entries[i];

        if (entry->place.n &&
            !map_put(&places, str_lower(entry->place, c->scratch), NULL))
            return lock_fail(
                c->e, c->name,
                line_of(c, entry, entry->kind == DOC_MCP ? "key" : "path"),
                "\"%.*s\" belongs to two packages", STR_ARG(entry->place));
        if (!map_put(&origins, entry->origin, NULL))
            return lock_fail(c->e, c->name, line_of(c, entry, "origin"),
                             "an origin of two packages: %.*s",
                             STR_ARG(lock_excerpt(entry->origin)));
        for (size_t k = 0; k < entry->also_count; k++)
            if (!map_put(&origins, entry->also[k], NULL))
                return lock_fail(c->e, c->name, line_of(c, entry, "also"),
                                 "an origin of two packages: %.*s",
                                 STR_ARG(lock_excerpt(entry->also[k])));
    }
    return true;
}

/* All needs as indices, those of entry i from first[i] to first[i + 1]. */
struct links {
    size_t *first, *to;
    size_t *wanted; /* how often each entry is needed */
};

static bool link_needs(struct check *c, struct links *links)
{
    struct map names[4]; /* by lock_kind_rank */
    size_t total = 0;

    for (size_t i = 0; i < 4; i++)
        map_init(&names[i], c->scratch);
    for (size_t i = 0; i < c->lock->count; i++) {
        struct lock_entry *entry = &c->lock->entries[i];

        total += entry->need_count;
        map_put(&names[lock_kind_rank(entry->kind)], entry->name, entry);
    }
    links->first = arena_array(c->scratch, c->lock->count + 1, sizeof(size_t));
    links->wanted = arena_array(c->scratch, c->lock->count + 1, sizeof(size_t));
    links->to = arena_array(c->scratch, total + 1, sizeof(size_t));
    total = 0;
    for (size_t i = 0; i < c->lock->count; i++) {
        const struct lock_entry *entry = &c->lock->entries[i];

        links->first[i] = total;
        for (size_t k = 0; k < entry->need_count; k++) {
            struct lock_need *need = &entry->needs[k];
            const struct lock_entry *found =
                map_find(&names[lock_kind_rank(need->kind)], need->name);

            if (!found)
                return lock_fail(
                    c->e, c->name, line_of(c, entry, "needs"),
                    "%.*s needs %s %.*s, which is not in this file",
                    STR_ARG(entry->name), doc_kind_name(need->kind),
                    STR_ARG(need->name));
            if (origin_is_own(found->origin) && !origin_is_own(entry->origin))
                return lock_fail(
                    c->e, c->name, entry->line,
                    "%.*s comes from elsewhere and cannot need %.*s, which is "
                    "of the workspace",
                    STR_ARG(entry->name), STR_ARG(found->name));
            need->entry = found;
            links->to[total++] = (size_t)(found - c->lock->entries);
            links->wanted[found - c->lock->entries]++;
        }
    }
    links->first[c->lock->count] = total;
    return true;
}

/* Needs have no cycle. Removes entries without needs until none is left. */
static bool check_needs(struct check *c)
{
    struct links links;
    size_t *ready, count = 0;

    if (!link_needs(c, &links))
        return false;
    ready = arena_array(c->scratch, c->lock->count + 1, sizeof *ready);
    for (size_t i = 0; i < c->lock->count; i++)
        if (!links.wanted[i])
            ready[count++] = i;
    for (size_t done = 0; done < count; done++)
        for (size_t k = links.first[ready[done]];
             k < links.first[ready[done] + 1]; k++)
            if (--links.wanted[links.to[k]] == 0)
                ready[count++] = links.to[k];
    for (size_t i = 0; i < c->lock->count; i++)
        if (links.wanted[i])
            return lock_fail(
                c->e, c->name, line_of(c, &c->lock->entries[i], "needs"),
                "%.*s is part of a cycle", STR_ARG(c->lock->entries[i].name));
    return true;
}

bool lock_check(const struct lock *lock, struct str text, const char *name,
                struct arena *scratch, struct err *e)
{
    struct check c = {
        .lock = lock, .name = name, .text = text, .scratch = scratch, .e = e};

    return check_places(&c) && check_needs(&c);
}
