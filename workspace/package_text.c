#include "mapm/package_text.h"

#include "mapm/lock.h"
#include "mapm/member.h"
#include "mapm/origin.h"

#include <string.h>

#define SHORT_COMMIT_CHARS 10

struct str package_member(const struct layer *l)
{
    return l->member.n ? l->member : STR(MEMBER_ROOT);
}

struct str package_repository(struct str origin)
{
    size_t scheme = str_find(origin, STR("://")), slot;
    struct str rest, part, owner;

    if (scheme == SIZE_MAX)
        return origin.n ? STR("this machine") : STR("no locked origin");
    rest = str_from_index(origin, scheme + 3);
    slot = str_find(rest, STR("/-/tree/"));
    if (slot != SIZE_MAX)
        return str_slice(rest, 0, slot);
    if (!str_cut(&rest, '/', &part) || origin_is_of_index(origin))
        return part;
    if (!str_cut(&rest, '/', &owner))
        return origin;
    str_cut(&rest, '/', &part);
    return str_make(owner.p, (size_t)(part.p + part.n - owner.p));
}

static struct str short_commit(struct str commit)
{
    return str_slice(commit, 0, SHORT_COMMIT_CHARS);
}

struct str package_version(struct str version, struct str commit,
                           struct str origin, struct arena *a)
{
    if (version.n && commit.n)
        return arena_printf(a, "%.*s (%.*s)", STR_ARG(version),
                            STR_ARG(short_commit(commit)));
    if (!version.n && !commit.n)
        return origin_is_own(origin)        ? STR("own")
               : origin_is_of_index(origin) ? STR("index")
                                            : STR("file");
    return version.n ? version : short_commit(commit);
}

struct str package_source(struct str from, bool is_checkout, struct arena *a)
{
    if (!from.n)
        return STR("");
    return is_checkout ? STR(" (from this checkout)")
                       : arena_printf(a, " (from %.*s)", STR_ARG(from));
}

struct str package_listing(const struct layer *l,
                           const struct lock_entry *entry)
{
    return layer_is_searched(l, entry->kind, entry->name)
               ? STR(" (search only)")
               : STR("");
}

struct str package_notes(const struct layer *l, const struct lock_entry *entry,
                         struct arena *a)
{
    struct str source =
        layer_is_own(l, entry)
            ? STR(" (own)")
            : package_source(entry->from, layer_is_from_checkout(l, entry), a);

    if (entry->patch.n)
        source = str_join(source, STR(" (patched)"), a);
    source = str_join(source, package_listing(l, entry), a);
    for (size_t i = 0; i < entry->without.count; i++)
        source = arena_printf(a, "%.*s%s%.*s%s", STR_ARG(source),
                              i ? ", " : " (without ",
                              STR_ARG(entry->without.items[i]),
                              i + 1 == entry->without.count ? ")" : "");
    return entry->tag.n ? arena_printf(a, " (tag %.*s)%.*s",
                                       STR_ARG(entry->tag), STR_ARG(source))
                        : source;
}
