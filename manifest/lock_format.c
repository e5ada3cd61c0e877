#include "base/invariant.h"
#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/name.h"
#include "mapm/origin.h"

#include <stdlib.h>

#include "lock.h"

#define VERSION_KEY "version: "

int lock_kind_rank(enum doc_kind kind)
{
    return kind == DOC_AGENT    ? 0
           : kind == DOC_MCP    ? 1
           : kind == DOC_PLUGIN ? 2
                                : 3;
}

int lock_order(enum doc_kind x_kind, struct str x_name, enum doc_kind y_kind,
               struct str y_name)
{
    if (x_kind != y_kind)
        return lock_kind_rank(x_kind) - lock_kind_rank(y_kind);
    return str_cmp(x_name, y_name);
}

static struct str first_member(const struct lock_entry *entry)
{
    return entry->member_count ? entry->members[0] : STR(MEMBER_ROOT);
}

int lock_entry_order(const struct lock_entry *x, const struct lock_entry *y)
{
    int order = lock_order(x->kind, x->name, y->kind, y->name);

    return order ? order : str_cmp(first_member(x), first_member(y));
}

static int compare_entries(const void *x, const void *y)
{
    return lock_entry_order(x, y);
}

bool lock_also_is_former(const struct lock_entry *entry, size_t i)
{
    return i >= entry->also_count - entry->former_count;
}

struct str lock_also_commit(const struct lock_entry *entry, size_t i)
{
    if (lock_also_is_former(entry, i))
        return entry->commit;
    return entry->also_commits ? entry->also_commits[i] : str_make("", 0);
}

static bool has_catalog(const struct lock_entry *entry)
{
    return entry->source.n > 0;
}

struct str lock_catalog(const struct lock_entry *entry)
{
    return has_catalog(entry) ? origin_base(entry->origin) : STR("");
}

struct str lock_catalog_entry(const struct lock_entry *entry)
{
    size_t at = str_find(entry->origin, STR("?plugin="));

    return has_catalog(entry) && at != SIZE_MAX
               ? str_from_index(entry->origin, at + 8)
               : STR("");
}

struct str lock_origin_text(const struct lock_entry *entry)
{
    return has_catalog(entry) ? entry->source : origin_base(entry->origin);
}

static void put_entry(struct lock_writer *w, const struct lock_entry *entry)
{
    INVARIANT(name_fqn_is_valid(entry->kind, entry->name) &&
              (entry->place.n == 0) == (entry->kind == DOC_PLUGIN));
    INVARIANT(str_starts(entry->digest, STR("sha256:")) ||
              origin_is_own(entry->origin));
    buf_text(w->out, "  - type: ");
    buf_text(w->out, doc_kind_name(entry->kind));
    buf_char(w->out, '\n');
    lock_put_fields(w, entry);
}

struct str lock_own_name(const struct lock_entry *entry)
{
    return entry->declared.n ? entry->declared : entry->name;
}

bool lock_is_renamed(const struct lock_entry *entry)
{
    return entry->kind != DOC_MCP &&
           (entry->rewritten ||
            !str_eq(path_last(entry->place), path_last(lock_own_name(entry))));
}

/* Writes the lines before the entries. */
static void put_head(struct lock *lock, enum lock_version version,
                     struct buf *out)
{
    if (lock->count)
        qsort(lock->entries, lock->count, sizeof *lock->entries,
              compare_entries);
    buf_printf(out, VERSION_KEY "%d\n", (int)version);
    buf_text(out, lock->count ? "packages:\n" : "packages: []\n");
}

void lock_format(struct lock *lock, struct buf *out)
{
    CLEANUP(arena_done) struct arena scratch;
    struct lock_writer w = {out, &scratch, LOCK_VERSION_1};
    size_t version_at = out->n + strlen(VERSION_KEY);

    arena_init(&scratch);
    put_head(lock, w.version, out);
    for (size_t i = 0; i < lock->count; i++) {
        INVARIANT(!i || compare_entries(&lock->entries[i - 1],
                                        &lock->entries[i]) < 0);
        put_entry(&w, &lock->entries[i]);
    }
    /* The entries determine the version. */
    if (!out->overflowed)
        out->p[version_at] = (char)('0' + w.version);
}

bool lock_has_text(struct lock *lock, struct str text)
{
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(buf_done) struct buf b = {0};
    struct lock_writer w = {&b, &scratch, LOCK_VERSION_1};
    enum lock_version version = str_starts(text, STR(VERSION_KEY "2"))
                                    ? LOCK_VERSION_2
                                    : LOCK_VERSION_1;

    arena_init(&scratch);
    buf_init(&b, LOCK_MAX_BYTES);
    put_head(lock, version, &b);
    for (size_t i = 0; str_starts(text, buf_str(&b)); i++) {
        text = str_from_index(text, b.n);
        if (i == lock->count)
            return text.n == 0 && !b.overflowed && w.version == version;
        buf_clear(&b);
        put_entry(&w, &lock->entries[i]);
    }
    return false;
}

/* Entries of one lock_parse() have pointers to each other, so names are
 * compared only if no pointer matches. */
size_t lock_find_need(const struct lock_entry *entry,
                      const struct lock_entry *other)
{
    for (size_t i = 0; i < entry->need_count; i++)
        if (entry->needs[i].entry == other)
            return i;
    for (size_t i = 0; i < entry->need_count; i++)
        if (entry->needs[i].kind == other->kind &&
            str_eq(entry->needs[i].name, other->name))
            return i;
    return SIZE_MAX;
}

bool lock_needs(const struct lock_entry *entry, const struct lock_entry *other)
{
    return lock_find_need(entry, other) != SIZE_MAX;
}

bool lock_is_of(const struct lock_entry *entry, struct str member)
{
    if (entry->member_count == 0)
        return member.n == 0;
    if (member.n == 0)
        member = STR(MEMBER_ROOT);
    return str_in_sorted(entry->members, entry->member_count, member);
}

static bool has_name(const struct lock_entry *entry, enum doc_kind kind,
                     struct str name)
{
    return lock_order(entry->kind, entry->name, kind, name) == 0;
}

const struct lock_entry *lock_find(const struct lock *lock, enum doc_kind kind,
                                   struct str name)
{
    size_t low = 0, high = lock->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct lock_entry *entry = &lock->entries[middle];

        INVARIANT(!middle || compare_entries(entry - 1, entry) < 0);
        if (lock_order(entry->kind, entry->name, kind, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lock->count && has_name(&lock->entries[low], kind, name)
               ? &lock->entries[low]
               : NULL;
}

const struct lock_entry *lock_next(const struct lock *lock,
                                   const struct lock_entry *entry)
{
    const struct lock_entry *next = entry + 1;

    return next < lock->entries + lock->count &&
                   has_name(next, entry->kind, entry->name)
               ? next
               : NULL;
}
