#include "base/map.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/origin.h"

#include "lock.h"

/* Checks the relations between the entries of a lock. */

/* Sets of workspace members. The set of entry i starts at bits[i * words]; the
 * root is member 0. */
struct member_sets {
    uint64_t *bits;
    size_t words;
};

struct check {
    const struct lock *lock;
    const char *name; /* name of the file */
    struct str text;
    struct arena *scratch;
    struct err *e;
    struct member_sets sets;
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

/* --- members -------------------------------------------------------------- */

static const uint64_t *set_of(const struct check *c, size_t i)
{
    return c->sets.bits + i * c->sets.words;
}

static bool find_members(struct check *c)
{
    struct map numbers;
    size_t total = 0;

    map_init(&numbers, c->scratch);
    for (size_t i = 0; i < c->lock->count; i++)
        for (size_t k = 0; k < c->lock->entries[i].member_count; k++) {
            struct map_entry *known =
                map_entry(&numbers, c->lock->entries[i].members[k]);

            if (!known->value && !str_is(known->key, MEMBER_ROOT))
                known->value = (void *)(uintptr_t)++total;
            if (total > MEMBERS_MAX)
                return lock_fail(c->e, c->name,
                                 line_of(c, &c->lock->entries[i], "member"),
                                 "more than %d members", MEMBERS_MAX);
        }
    c->sets.words = total / 64 + 1;
    c->sets.bits = arena_array(c->scratch, c->lock->count + 1,
                               c->sets.words * sizeof *c->sets.bits);
    for (size_t i = 0; i < c->lock->count; i++) {
        const struct lock_entry *entry = &c->lock->entries[i];
        uint64_t *set = c->sets.bits + i * c->sets.words;

        if (entry->member_count == 0)
            set[0] |= 1;
        for (size_t k = 0; k < entry->member_count; k++) {
            size_t n = (uintptr_t)map_find(&numbers, entry->members[k]);

            set[n / 64] |= (uint64_t)1 << n % 64;
        }
    }
    return true;
}

static bool is_subset(const struct check *c, const uint64_t *set,
                      const uint64_t *of)
{
    for (size_t i = 0; i < c->sets.words; i++)
        if (set[i] & ~of[i])
            return false;
    return true;
}

/* Records that the members of entry `i` use `key`. Returns false if one of them
 * uses it already. */
static bool claim(struct check *c, struct map *map, struct str key, size_t i)
{
    struct map_entry *known = map_entry(map, key);
    const uint64_t *set = set_of(c, i), *before = known->value;
    uint64_t *both;

    if (!before) {
        known->value = (void *)(uintptr_t)set;
        return true;
    }
    both = arena_array(c->scratch, c->sets.words, sizeof *both);
    for (size_t k = 0; k < c->sets.words; k++) {
        if (before[k] & set[k])
            return false;
        both[k] = before[k] | set[k];
    }
    known->value = both;
    return true;
}

/* --- places, origins ------------------------------------------------------ */

/* Checks that an origin has one version in all members [D10]. */
static bool check_version(struct check *c, struct map *versions,
                          const struct lock_entry *entry)
{
    struct map_entry *known = map_entry(versions, entry->origin);
    const struct lock_entry *first = known->value;

    if (!first)
        known->value = (void *)(uintptr_t)entry;
    return !first ||
           (first->kind == entry->kind &&
            str_eq(first->commit, entry->commit) &&
            str_eq(first->object, entry->object) &&
            str_eq(first->artifact, entry->artifact) &&
            str_eq(first->digest, entry->digest)) ||
           lock_fail(c->e, c->name, line_of(c, entry, "origin"),
                     "two versions of one origin: %.*s",
                     STR_ARG(lock_excerpt(entry->origin)));
}

static bool check_places(struct check *c)
{
    struct map names, places, origins, versions;

    map_init(&names, c->scratch);
    map_init(&places, c->scratch);
    map_init(&origins, c->scratch);
    map_init(&versions, c->scratch);
    for (size_t i = 0; i < c->lock->count; i++) {
        const struct lock_entry *entry = &c->lock->entries[i];

        if (i && entry->kind == entry[-1].kind &&
            str_eq(entry->name, entry[-1].name)) {
            if (i < 2 || entry[-2].kind != entry->kind ||
                !str_eq(entry[-2].name, entry->name)) {
                map_init(&names, c->scratch);
                claim(c, &names, entry->name, i - 1);
            }
            if (!claim(c, &names, entry->name, i))
                return lock_fail(c->e, c->name, line_of(c, entry, "member"),
                                 "%s %.*s is given twice to one member",
                                 doc_kind_name(entry->kind),
                                 STR_ARG(entry->name));
        }
        if (entry->place.n &&
            !claim(c, &places, str_lower(entry->place, c->scratch), i))
            return lock_fail(
                c->e, c->name,
                line_of(c, entry, entry->kind == DOC_MCP ? "key" : "path"),
                "\"%.*s\" belongs to two packages", STR_ARG(entry->place));
        if (!claim(c, &origins, entry->origin, i))
            return lock_fail(c->e, c->name, line_of(c, entry, "origin"),
                             "an origin of two packages: %.*s",
                             STR_ARG(lock_excerpt(entry->origin)));
        for (size_t k = 0; k < entry->also_count; k++)
            if (!claim(c, &origins, entry->also[k], i))
                return lock_fail(c->e, c->name, line_of(c, entry, "also"),
                                 "an origin of two packages: %.*s",
                                 STR_ARG(lock_excerpt(entry->also[k])));
        if (!check_version(c, &versions, entry))
            return false;
    }
    return true;
}

/* All needs as indices of entries. The needs of entry i are to[first[i]] up to,
 * not including, to[first[i + 1]]. */
struct links {
    size_t *first, *to;
    size_t *wanted; /* for each entry, the number of entries that need it */
};

/* Returns, of the entries with the name of `first`, the one that all members of
 * entry `i` have, or NULL. */
static const struct lock_entry *find_needed(const struct check *c, size_t i,
                                            const struct lock_entry *first)
{
    const struct lock_entry *end = c->lock->entries + c->lock->count;

    for (const struct lock_entry *other = first;
         other && other < end && other->kind == first->kind &&
         str_eq(other->name, first->name);
         other++)
        if (is_subset(c, set_of(c, i),
                      set_of(c, (size_t)(other - c->lock->entries))))
            return other;
    return NULL;
}

static bool link_needs(struct check *c, struct links *links)
{
    struct map names[4]; /* indexed by lock_kind_rank() */
    size_t total = 0;

    for (size_t i = 0; i < 4; i++)
        map_init(&names[i], c->scratch);
    for (size_t i = 0; i < c->lock->count; i++) {
        struct lock_entry *entry = &c->lock->entries[i];
        struct map_entry *known;

        total += entry->need_count;
        known = map_entry(&names[lock_kind_rank(entry->kind)], entry->name);
        if (!known->value)
            known->value = entry;
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
            const struct lock_entry *found = find_needed(
                c, i, map_find(&names[lock_kind_rank(need->kind)], need->name));

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

/* Checks that needs have no cycle by removing entries that nothing needs until
 * none is left. */
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

    return find_members(&c) && check_places(&c) && check_needs(&c);
}
