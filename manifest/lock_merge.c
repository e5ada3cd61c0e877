#include "mapm/lock_merge.h"

#include "base/map.h"
#include "base/str.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"

#include <stdlib.h>

#include "lock.h"

#define MARKER_CHARS 7

/* --- the sides, as texts -------------------------------------------------- */

enum part { PART_COMMON, PART_OURS, PART_BASE, PART_THEIRS };

struct sides {
    struct buf ours, base, theirs;
    bool has_base; /* true if every conflict has a base section */
};

static void sides_done(struct sides *s)
{
    buf_done(&s->ours);
    buf_done(&s->base);
    buf_done(&s->theirs);
}

/* Returns true if the line is a marker of exactly MARKER_CHARS characters.
 * Nested markers, in a base that was merged itself, are longer. */
static bool is_marker(struct str line, char c)
{
    for (size_t i = 0; i < MARKER_CHARS; i++)
        if (i >= line.n || line.p[i] != c)
            return false;
    return line.n == MARKER_CHARS || line.p[MARKER_CHARS] == ' ';
}

bool lock_has_conflict(struct str text)
{
    struct str line;

    while (str_line(&text, &line))
        if (is_marker(line, '<'))
            return true;
    return false;
}

bool lock_is_joined(struct str text)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct err ignored = {0};
    struct lock lock;

    return lock_read_joined(text, "mapm.lock", &scratch, &lock, &ignored);
}

/* Stores the part that begins after this line, or `part` if the line is no
 * marker. Returns false if the marker is out of place. */
static bool next_part(struct str line, enum part part, enum part *out)
{
    static const struct {
        char c;
        enum part from, to;
    } steps[] = {
        {'<', PART_COMMON, PART_OURS},   {'|', PART_OURS, PART_BASE},
        {'=', PART_OURS, PART_THEIRS},   {'=', PART_BASE, PART_THEIRS},
        {'>', PART_THEIRS, PART_COMMON},
    };
    bool marks = false;

    *out = part;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!is_marker(line, steps[i].c))
            continue;
        marks = true;
        if (steps[i].from == part) {
            *out = steps[i].to;
            return true;
        }
    }
    return !marks;
}

static void put_line(struct sides *s, enum part part, struct str line)
{
    struct buf *all[] = {&s->ours, &s->base, &s->theirs};
    static const enum part own[] = {PART_OURS, PART_BASE, PART_THEIRS};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (part == PART_COMMON || part == own[i]) {
            buf_append(all[i], line);
            buf_char(all[i], '\n');
        }
}

static bool split(struct str text, const char *name, struct sides *out,
                  struct err *e)
{
    enum part part = PART_COMMON, next = PART_COMMON;
    unsigned number = 0, opened = 0;
    struct str line;
    bool fits = true;

    out->has_base = true;
    while (fits && str_line(&text, &line)) {
        number++;
        fits = next_part(line, part, &next);
        if (next == part)
            put_line(out, part, line);
        else if (part == PART_OURS && next == PART_THEIRS)
            out->has_base = false;
        else if (next == PART_OURS)
            opened = number;
        part = next;
    }
    out->has_base &= opened > 0;
    if (fits && part == PART_COMMON)
        return true;
    if (fits)
        number = opened; /* the conflict is not closed */
    err_set(e, ERR_FORMAT, "%s:%u: a merge conflict with markers out of place",
            name, number);
    return err_hint(e, "take either side of the file, as in git checkout "
                       "--ours mapm.lock, then run mapm install");
}

/* --- the entries ---------------------------------------------------------- */

struct merging {
    struct lock ours, theirs;
    struct map base; /* "skill acme/x" -> const struct lock_entry * */
    struct arena *a;
};

/* Returns the key of an entry in a map. Entries with members contain the
 * origin, because several may have one name. */
static struct str key_of(const struct lock_entry *entry, struct arena *a)
{
    return arena_printf(a, "%s %.*s %.*s", doc_kind_name(entry->kind),
                        STR_ARG(entry->name),
                        STR_ARG(entry->member_count ? entry->origin : STR("")));
}

/* Compares entries except for their needs, which the plan computes again. */
static bool is_same(const struct lock_entry *x, const struct lock_entry *y)
{
    CLEANUP(buf_done) struct buf one = {0};
    CLEANUP(buf_done) struct buf two = {0};
    struct lock_entry a = *x, b = *y;

    buf_init(&one, LOCK_MAX_BYTES);
    buf_init(&two, LOCK_MAX_BYTES);
    a.need_count = b.need_count = 0;
    lock_format(&(struct lock){&a, 1}, &one);
    lock_format(&(struct lock){&b, 1}, &two);
    return str_eq(buf_str(&one), buf_str(&two));
}

static const struct lock_entry unknown; /* marks a key that has different
                                         * contents */

/* Adds an entry of the base. A base section may be cut anywhere (zdiff3), so an
 * incomplete entry is ignored. */
static void take_base_entry(struct merging *m, struct str block)
{
    struct str text = str_join(STR("version: 2\npackages:\n"), block, m->a);
    struct err ignored = {0};
    struct lock lock;
    struct map_entry *known;

    if (!lock_read(text, "base", m->a, &lock, &ignored) || lock.count != 1)
        return;
    known = map_entry(&m->base, key_of(lock.entries, m->a));
    if (!known->value)
        known->value = lock.entries;
    else if (known->value != &unknown && !is_same(known->value, lock.entries))
        known->value = (void *)(uintptr_t)&unknown;
}

static void take_base(struct merging *m, struct str text)
{
    static const struct str head = STR_INIT("\n  - type: ");
    size_t at = str_find(text, head), end;

    while (at != SIZE_MAX) {
        text = str_from_index(text, at + 1);
        end = str_find(text, head);
        take_base_entry(
            m, arena_str(m->a, str_slice(text, 0,
                                         end == SIZE_MAX ? text.n : end + 1)));
        at = end;
    }
}

static enum lock_side choose(const struct merging *m, const struct lock_pair *p)
{
    const struct lock_entry *base;

    if (!p->ours || !p->theirs)
        return p->ours ? LOCK_OURS : LOCK_THEIRS;
    if (is_same(p->ours, p->theirs))
        return LOCK_OURS;
    base = map_find(&m->base, key_of(p->ours, m->a));
    if (base == &unknown)
        base = NULL;
    if (base && is_same(base, p->ours))
        return LOCK_THEIRS;
    return base && is_same(base, p->theirs) ? LOCK_OURS : LOCK_BOTH_CHANGED;
}

/* Adds another block with the same name. An equal block is ignored; two
 * different blocks become the two sides. */
static bool add_block(struct lock_pair *p, const struct lock_entry *entry,
                      const char *name, struct err *e)
{
    bool is_ours = is_same(p->ours, entry);

    if (!p->theirs || (!is_ours && is_same(p->ours, p->theirs))) {
        p->theirs = entry;
        return true;
    }
    if (is_ours || is_same(p->theirs, entry))
        return true;
    err_set(e, ERR_FORMAT, "%s: %s %.*s is given with three contents", name,
            doc_kind_name(entry->kind), STR_ARG(entry->name));
    return err_hint(e, "take mapm.lock of either side, as in git checkout "
                       "--ours mapm.lock, then run mapm install");
}

/* Pairs entries of equal name. Sets `is_named` for each entry of theirs that
 * has the name of one of ours. */
static bool pair_by_name(struct merging *m, const char *name,
                         struct map *by_name, struct lock_merge *out,
                         bool *is_named, struct err *e)
{
    for (size_t i = 0; i < m->ours.count; i++) {
        const struct lock_entry *entry = &m->ours.entries[i];
        struct map_entry *known = map_entry(by_name, key_of(entry, m->a));
        struct lock_pair *p = known->value;

        if (p && !add_block(p, entry, name, e))
            return false;
        if (p)
            continue;
        known->value = p = &out->pairs[out->count++];
        *p = (struct lock_pair){.ours = entry};
    }
    for (size_t i = 0; i < m->theirs.count; i++) {
        const struct lock_entry *entry = &m->theirs.entries[i];
        struct lock_pair *p = map_find(by_name, key_of(entry, m->a));

        is_named[i] = p;
        if (p && !add_block(p, entry, name, e))
            return false;
    }
    return true;
}

/* Pairs entries by name and the others by origin, because the package may have
 * been renamed upstream. */
static bool pair_up(struct merging *m, const char *name, struct lock_merge *out,
                    struct err *e)
{
    size_t room = m->ours.count + m->theirs.count + 1;
    bool *is_named = arena_array(m->a, room, sizeof *is_named);
    struct map by_name, by_origin;

    map_init(&by_name, m->a);
    map_init(&by_origin, m->a);
    out->pairs = arena_array(m->a, room, sizeof *out->pairs);
    if (!pair_by_name(m, name, &by_name, out, is_named, e))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!out->pairs[i].theirs)
            map_put(&by_origin, out->pairs[i].ours->origin, &out->pairs[i]);
    for (size_t i = 0; i < m->theirs.count; i++) {
        const struct lock_entry *entry = &m->theirs.entries[i];
        struct map_entry *known = map_entry(&by_name, key_of(entry, m->a));
        struct lock_pair *p = known->value;

        if (is_named[i])
            continue;
        if (!p) {
            p = map_find(&by_origin, entry->origin);
            if (!p || p->theirs || p->ours->kind != entry->kind)
                p = &out->pairs[out->count++];
            p->theirs = entry;
            known->value = p;
        } else if (p->ours) {
            if (!add_block(p, entry, name, e))
                return false;
        } else if (!is_same(p->theirs, entry)) { /* both are entries of
                                                  * theirs */
            p->ours = p->theirs;
            p->theirs = entry;
        }
    }
    return true;
}

bool lock_merge_read(struct str text, const char *name, struct arena *a,
                     struct lock_merge *out, struct err *e)
{
    CLEANUP(sides_done) struct sides s = {0};
    struct merging m = {.a = a};

    if (text.n > LOCK_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%s: larger than %u bytes", name,
                       LOCK_MAX_BYTES);
    buf_init(&s.ours, LOCK_MAX_BYTES);
    buf_init(&s.base, LOCK_MAX_BYTES);
    buf_init(&s.theirs, LOCK_MAX_BYTES);
    map_init(&m.base, a);
    if (!split(text, name, &s, e) ||
        !lock_read_joined(arena_str(a, buf_str(&s.ours)),
                          arena_printf(a, "%s (ours)", name).p, a, &m.ours,
                          e) ||
        !lock_read_joined(arena_str(a, buf_str(&s.theirs)),
                          arena_printf(a, "%s (theirs)", name).p, a, &m.theirs,
                          e))
        return false;
    if (s.has_base)
        take_base(&m, buf_str(&s.base));
    *out = (struct lock_merge){0};
    if (!pair_up(&m, name, out, e))
        return false;
    for (size_t i = 0; i < out->count; i++)
        out->pairs[i].side = choose(&m, &out->pairs[i]);
    return true;
}

/* --- the result ----------------------------------------------------------- */

static int compare_entries(const void *x, const void *y)
{
    return lock_entry_order(x, y);
}

void lock_merge_take(const struct lock_merge *merge, struct arena *a,
                     struct lock *out)
{
    struct map places;

    map_init(&places, a);
    *out = (struct lock){arena_array(a, merge->count + 1, sizeof *out->entries),
                         merge->count};
    for (size_t i = 0; i < merge->count; i++) {
        const struct lock_pair *p = &merge->pairs[i];
        struct lock_entry *entry = &out->entries[i];

        *entry = p->side == LOCK_THEIRS || !p->ours ? *p->theirs : *p->ours;
        entry->needs = NULL;
        entry->need_count = 0;
        if (entry->member_count == 0 &&
            !map_put(&places, str_lower(entry->place, a), NULL))
            entry->place = str_make("", 0);
    }
    if (out->count)
        qsort(out->entries, out->count, sizeof *out->entries, compare_entries);
}
