#include "base/invariant.h"
#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/name.h"
#include "mapm/origin.h"

#include <stdlib.h>

#include "lock.h"

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

static int compare_needs(const void *x, const void *y)
{
    const struct lock_need *one = x, *two = y;

    return lock_order(one->kind, one->name, two->kind, two->name);
}

/* Sorts needs. Needs of a lock that was read are usually sorted already. */
static void sort_needs(struct lock_need *needs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_needs(&needs[i - 1], &needs[i]) > 0) {
            qsort(needs, count, sizeof *needs, compare_needs);
            return;
        }
}

struct also {
    struct str origin, commit;
};

static int compare_also(const void *x, const void *y)
{
    const struct also *one = x, *two = y;

    return str_cmp(one->origin, two->origin);
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

static void put_line(struct buf *out, const char *key, struct str value)
{
    if (!value.n)
        return;
    buf_text(out, "    ");
    buf_text(out, key);
    buf_text(out, ": ");
    buf_append(out, value);
    buf_char(out, '\n');
}

/* Writes origin and commit. The item is quoted as a whole or not at all,
 * because a part of a YAML scalar cannot be quoted. */
static void put_also_item(const struct also *item, struct buf *out,
                          struct arena *a)
{
    struct str text = lock_scalar(item->origin, a);

    if (item->commit.n) {
        bool is_quoted = !str_eq(text, item->origin);

        text = arena_printf(a, "%.*s#%.*s", STR_ARG(item->origin),
                            STR_ARG(item->commit));
        text = is_quoted ? lock_scalar(text, a) : text;
    }
    buf_append(out, text);
}

static void put_also(const struct lock_entry *entry, const char *key,
                     size_t from, size_t to, struct buf *out, struct arena *a)
{
    struct also *sorted;

    if (from == to)
        return;
    sorted = arena_array(a, to - from, sizeof *sorted);
    for (size_t i = from; i < to; i++)
        sorted[i - from] =
            (struct also){entry->also[i], lock_also_is_former(entry, i)
                                              ? str_make("", 0)
                                              : lock_also_commit(entry, i)};
    qsort(sorted, to - from, sizeof *sorted, compare_also);
    buf_printf(out, "    %s: [", key);
    for (size_t i = 0; i < to - from; i++) {
        buf_text(out, i ? ", " : "");
        put_also_item(&sorted[i], out, a);
    }
    buf_text(out, "]\n");
}

static int compare_texts(const void *x, const void *y)
{
    const struct str *one = x, *two = y;

    return str_cmp(*one, *two);
}

static void put_catalogs(const struct lock_entry *entry, struct buf *out,
                         struct arena *a)
{
    size_t n = entry->catalog_count;
    struct str *sorted;

    if (n == 0)
        return;
    sorted = arena_array(a, n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = entry->catalogs[i];
    qsort(sorted, n, sizeof *sorted, compare_texts);
    buf_text(out, "    catalog: ");
    buf_text(out, n > 1 ? "[" : "");
    for (size_t i = 0; i < n; i++) {
        buf_text(out, i ? ", " : "");
        buf_append(out, lock_scalar(sorted[i], a));
    }
    buf_text(out, n > 1 ? "]\n" : "\n");
}

static void put_members(const struct lock_entry *entry, struct buf *out,
                        struct arena *a)
{
    if (entry->member_count == 0)
        return;
    buf_text(out, "    member: [");
    for (size_t i = 0; i < entry->member_count; i++) {
        buf_text(out, i ? ", " : "");
        buf_append(out, lock_scalar(entry->members[i], a));
    }
    buf_text(out, "]\n");
}

static void put_needs(struct lock_entry *entry, struct buf *out)
{
    if (entry->need_count == 0)
        return;
    sort_needs(entry->needs, entry->need_count);
    buf_text(out, "    needs: [");
    for (size_t i = 0; i < entry->need_count; i++) {
        buf_text(out, i ? ", " : "");
        buf_text(out, doc_kind_name(entry->needs[i].kind));
        buf_char(out, ' ');
        buf_append(out, entry->needs[i].name);
    }
    buf_text(out, "]\n");
}

static void put_words(struct buf *out, const char *key,
                      const struct lock_words *words, struct arena *a)
{
    if (words->count == 0)
        return;
    buf_printf(out, "    %s: [", key);
    for (size_t i = 0; i < words->count; i++) {
        buf_text(out, i ? ", " : "");
        buf_append(out, lock_scalar(words->items[i], a));
    }
    buf_text(out, "]\n");
}

/* Writes a line unless the value is empty. */
static void put_text(struct buf *out, const char *key, struct str value,
                     struct arena *a)
{
    if (value.n)
        put_line(out, key, lock_scalar(value, a));
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

static void put_entry(struct lock_entry *entry, struct buf *out,
                      struct arena *a)
{
    bool mcp = entry->kind == DOC_MCP;

    INVARIANT(name_fqn_is_valid(entry->kind, entry->name) &&
              (entry->place.n == 0) == (entry->kind == DOC_PLUGIN));
    INVARIANT(str_starts(entry->digest, STR("sha256:")) ||
              origin_is_own(entry->origin));
    buf_text(out, "  - type: ");
    buf_text(out, doc_kind_name(entry->kind));
    buf_char(out, '\n');
    if (entry->declared.n) {
        put_line(out, "name", lock_scalar(entry->declared, a));
        put_line(out, "as", lock_scalar(entry->name, a));
    } else {
        put_line(out, "name", lock_scalar(entry->name, a));
    }
    put_line(out, "origin", lock_scalar(lock_origin_text(entry), a));
    if (entry->from.n)
        put_line(out, "from", lock_scalar(entry->from, a));
    put_also(entry, "also", 0, entry->also_count - entry->former_count, out, a);
    put_also(entry, "formerly", entry->also_count - entry->former_count,
             entry->also_count, out, a);
    if (entry->tag.n)
        put_line(out, "tag", lock_scalar(entry->tag, a));
    put_line(out, "commit", entry->commit);
    put_line(out, mcp && !entry->server.n ? "blob" : "tree", entry->object);
    put_text(out, "url", entry->url, a);
    put_line(out, "artifact", entry->artifact);
    put_line(out, "digest", entry->digest);
    if (entry->version.n)
        put_line(out, "version", lock_scalar(entry->version, a));
    put_text(out, "manifest", entry->manifest, a);
    put_line(out, mcp ? "key" : "path",
             mcp ? lock_scalar(entry->place, a) : entry->place);
    put_text(out, "server", entry->server, a);
    put_text(out, "plugin", entry->plugin, a);
    put_text(out, "catalog", lock_catalog(entry), a);
    put_catalogs(entry, out, a);
    put_line(out, "catalog_commit", entry->catalog_commit);
    put_text(out, "entry", lock_catalog_entry(entry), a);
    put_members(entry, out, a);
    put_line(out, "patch", entry->patch);
    if (entry->allow_hidden)
        put_line(out, "hidden", STR("allowed"));
    if (entry->rewritten)
        put_line(out, "rewritten", STR("name"));
    put_words(out, "without", &entry->without, a);
    put_words(out, "skipped", &entry->skipped, a);
    put_words(out, "not_installed", &entry->not_installed, a);
    put_needs(entry, out);
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

enum lock_version lock_entry_version(const struct lock_entry *entry)
{
    for (size_t i = 0; i < entry->also_count; i++)
        if (lock_also_is_former(entry, i) || lock_also_commit(entry, i).n)
            return LOCK_VERSION_2;
    for (size_t i = 0; i < entry->need_count; i++)
        if (entry->needs[i].kind == DOC_AGENT)
            return LOCK_VERSION_2;
    return entry->kind == DOC_PLUGIN || entry->plugin.n ||
                   entry->catalog_count || entry->member_count ||
                   entry->declared.n || entry->tag.n || entry->from.n ||
                   entry->patch.n || entry->url.n ||
                   origin_is_own(entry->origin)
               ? LOCK_VERSION_2
               : LOCK_VERSION_1;
}

static enum lock_version needed_version(const struct lock *lock)
{
    for (size_t i = 0; i < lock->count; i++)
        if (lock_entry_version(&lock->entries[i]) == LOCK_VERSION_2)
            return LOCK_VERSION_2;
    return LOCK_VERSION_1;
}

static void begin(struct lock *lock, struct buf *out)
{
    if (lock->count)
        qsort(lock->entries, lock->count, sizeof *lock->entries,
              compare_entries);
    buf_text(out, needed_version(lock) == LOCK_VERSION_1 ? "version: 1\n"
                                                         : "version: 2\n");
    buf_text(out, lock->count ? "packages:\n" : "packages: []\n");
}

void lock_format(struct lock *lock, struct buf *out)
{
    CLEANUP(arena_done) struct arena scratch;

    arena_init(&scratch);
    begin(lock, out);
    for (size_t i = 0; i < lock->count; i++) {
        INVARIANT(!i || compare_entries(&lock->entries[i - 1],
                                        &lock->entries[i]) < 0);
        put_entry(&lock->entries[i], out, &scratch);
    }
}

bool lock_has_text(struct lock *lock, struct str text)
{
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(buf_done) struct buf b = {0};

    arena_init(&scratch);
    buf_init(&b, LOCK_MAX_BYTES);
    begin(lock, &b);
    for (size_t i = 0; str_starts(text, buf_str(&b)); i++) {
        text = str_from_index(text, b.n);
        if (i == lock->count)
            return text.n == 0 && !b.overflowed;
        buf_clear(&b);
        put_entry(&lock->entries[i], &b, &scratch);
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

bool lock_words_have(const struct lock_words *words, struct str word)
{
    for (size_t i = 0; words && i < words->count; i++)
        if (str_eq(words->items[i], word))
            return true;
    return false;
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

const struct lock_entry *lock_find(const struct lock *lock, enum doc_kind kind,
                                   struct str name)
{
    size_t low = 0, high = lock->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct lock_entry *entry = &lock->entries[middle];
        int order = lock_order(entry->kind, entry->name, kind, name);

        INVARIANT(!middle || compare_entries(entry - 1, entry) < 0);
        if (order == 0)
            return entry;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
