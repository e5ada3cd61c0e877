#include "mapm/limits.h"
#include "mapm/origin.h"

/* The part of an origin after "?": the kind that a folder is read as, or a part
 * of a plugin. Origins in documents cannot have one. */

#define ENTRY STR("plugin=")

static struct str before_part(struct str text)
{
    return str_slice(text, 0, str_find_char(text, '?'));
}

struct str origin_base(struct str text)
{
    return origin_is_of_index(text) ? text : before_part(text);
}

static struct str with_part(struct str text, struct str part, struct arena *a)
{
    const struct str parts[] = {before_part(text), STR("?"), part};

    return str_concat(parts, part.n ? 3 : 1, a);
}

struct origin origin_with_part(const struct origin *o, struct str part,
                               struct arena *a)
{
    struct origin out = *o;

    out.part = part;
    out.text = with_part(o->text, part, a);
    out.key = with_part(o->key, part, a);
    return out;
}

struct origin origin_of_entry(const struct origin *market, struct str name,
                              struct arena *a)
{
    return origin_with_part(market, str_join(ENTRY, name, a), a);
}

struct str origin_entry_name(const struct origin *o)
{
    return str_starts(o->part, ENTRY) ? str_from_index(o->part, ENTRY.n)
                                      : str_make(NULL, 0);
}

bool origin_parse_part(struct str text, const struct origin_rules *rules,
                       struct arena *a, struct origin *out, struct err *e)
{
    struct str base = before_part(text);
    struct origin o;

    if (origin_is_of_index(text))
        return origin_parse_index(text, a, out, e);
    if (!origin_parse_here(base, rules, a, &o, e))
        return false;
    *out = base.n == text.n
               ? o
               : origin_with_part(&o, str_from_index(text, base.n + 1), a);
    return true;
}
