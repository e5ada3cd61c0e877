#include "lib.h"
#include "text.h"

enum { PIECE = 64 * 1024, UNIT = 64 };

/* --- lists of parts --------------------------------------------------------------- */

/* Appends [from, to) of `whole`. */
static bool add_part(struct star *s, value list, value whole, size_t from,
                     size_t to)
{
    struct sl_list *l = sl_list(list);
    value v = sl_substring(s, whole, from, to);

    if (!v || !sl_charge(s, 1))
        return false;
    if (l->count == l->capacity)
        return sl_list_append(s, list, v);
    l->items[l->count++] = v;
    return true;
}

static void reverse(value list)
{
    struct sl_list *l = sl_list(list);

    for (uint32_t i = 0, k = l->count; i + 1 < k; i++) {
        value v = l->items[i];
        l->items[i] = l->items[--k];
        l->items[k] = v;
    }
}

/* --- split, rsplit by a separator --------------------------------------------------- */

static int64_t count_separators(struct star *s, const struct sl_string *x,
                                const struct sl_string *sep)
{
    struct sl_search q = sl_search_for(s, sep->p, sep->length);
    int64_t count = 0;

    for (size_t i = 0;; count++) {
        int64_t at = sl_search_first(&q, x->p + i, x->length - i);
        if (at < 0)
            return at == -1 ? count : at;
        if (!sl_charge(s, 1))
            return -2;
        i += (size_t)at + sep->length;
    }
}

/* Splits at no more than `max` separators, after the first `skip`. */
static bool split_at(struct star *s, value list, value whole,
                     const struct sl_string *sep, int64_t skip, int64_t max)
{
    const struct sl_string *x = sl_string(whole);
    struct sl_search q = sl_search_for(s, sep->p, sep->length);
    size_t begin = 0;

    for (size_t i = 0; max > 0;) {
        int64_t at = sl_search_first(&q, x->p + i, x->length - i);
        if (at == -2)
            return false;
        if (at == -1)
            break;
        size_t found = i + (size_t)at;
        i = found + sep->length;
        if (skip > 0) {
            if (!sl_charge(s, 1))
                return false;
            skip--;
            continue;
        }
        if (!add_part(s, list, whole, begin, found))
            return false;
        begin = i;
        max--;
    }
    return add_part(s, list, whole, begin, x->length);
}

/* --- split, rsplit by spaces ---------------------------------------------------------- */

static inline bool is_space_at(const struct sl_string *x, size_t i,
                               unsigned *width)
{
    unsigned char c = (unsigned char)x->p[i];

    *width = 1;
    if (c < 0x80)
        return sl_is_ascii_space(c);
    return sl_rune_is_space(sl_rune(x->p + i, x->length - i, width));
}

static inline bool is_space_before(const struct sl_string *x, size_t i,
                                   unsigned *width)
{
    unsigned char c = (unsigned char)x->p[i - 1];

    *width = 1;
    if (c < 0x80)
        return sl_is_ascii_space(c);
    return sl_rune_is_space(sl_rune_last(x->p, i, width));
}

static bool split_spaces(struct star *s, value list, value whole, int64_t max)
{
    const struct sl_string *x = sl_string(whole);
    size_t i = 0;
    unsigned width;

    while (true) {
        size_t paid = i;
        for (; i < x->length && is_space_at(x, i, &width); i += width) {
            if (i - paid >= PIECE) {
                if (!sl_charge(s, PIECE / UNIT))
                    return false;
                paid = i;
            }
        }
        if (i == x->length)
            return true;
        size_t begin = i;
        for (; i < x->length && !is_space_at(x, i, &width); i += width) {
            if (i - paid >= PIECE) {
                if (!sl_charge(s, PIECE / UNIT))
                    return false;
                paid = i;
            }
        }
        if (i < x->length && max-- == 0)
            i = x->length;
        if (!add_part(s, list, whole, begin, i))
            return false;
    }
}

static bool rsplit_spaces(struct star *s, value list, value whole, int64_t max)
{
    const struct sl_string *x = sl_string(whole);
    size_t i = x->length;
    unsigned width;

    while (true) {
        size_t paid = i;
        for (; i && is_space_before(x, i, &width); i -= width) {
            if (paid - i >= PIECE) {
                if (!sl_charge(s, PIECE / UNIT))
                    return false;
                paid = i;
            }
        }
        if (!i)
            break;
        size_t end = i;
        for (; i && !is_space_before(x, i, &width); i -= width) {
            if (paid - i >= PIECE) {
                if (!sl_charge(s, PIECE / UNIT))
                    return false;
                paid = i;
            }
        }
        if (i && max-- == 0)
            i = 0;
        if (!add_part(s, list, whole, i, end))
            return false;
    }
    reverse(list);
    return true;
}

/* --- split, rsplit ------------------------------------------------------------------------ */

static bool split_into(struct star *s, const struct sl_call *c, bool right,
                       int64_t max, value list)
{
    if (c->count == 0 || c->args[0] == V_NONE)
        return right && max >= 0 ? rsplit_spaces(s, list, c->self, max)
                                 : split_spaces(s, list, c->self, max);

    const struct sl_string *sep = sl_string(c->args[0]);
    int64_t skip = 0;
    if (right && max >= 0) {
        int64_t count = count_separators(s, sl_string(c->self), sep);
        if (count < 0)
            return false;
        skip = count > max ? count - max : 0;
    }
    return split_at(s, list, c->self, sep, skip, max < 0 ? INT64_MAX : max);
}

static value split(struct star *s, const struct sl_call *c, bool right)
{
    int64_t max = -1;

    if (!sl_want_args(s, c, 0, 2) ||
        (c->count > 1 && !sl_arg_int(s, c, 1, &max)))
        return 0;
    if (c->count && c->args[0] != V_NONE) {
        if (!sl_is(c->args[0], T_STRING))
            return sl_fail(s, "split: got %s for separator, want string",
                           sl_type_name(c->args[0]));
        if (sl_string(c->args[0])->length == 0)
            return sl_fail(s, "split: empty separator");
    }
    value list = sl_list_new(s, 8);
    return list && split_into(s, c, right, max, list) ? list : 0;
}

value sl_string_split(struct star *s, const struct sl_call *c)
{
    return split(s, c, false);
}

value sl_string_rsplit(struct star *s, const struct sl_call *c)
{
    return split(s, c, true);
}

/* --- splitlines ------------------------------------------------------------------------------ */

/* The next `c` from `i` on; the length when there is none. */
static size_t next_byte(const struct sl_string *x, size_t i, char c)
{
    const char *found =
        i < x->length ? memchr(x->p + i, c, x->length - i) : NULL;

    return found ? (size_t)(found - x->p) : x->length;
}

/* The next LF and the next CR are both known, so each byte is seen twice at
 * most. */
static bool split_lines(struct star *s, value list, value whole, bool keep)
{
    const struct sl_string *x = sl_string(whole);
    size_t lf = next_byte(x, 0, '\n'), cr = next_byte(x, 0, '\r');

    for (size_t i = 0; i < x->length;) {
        size_t end = lf < cr ? lf : cr;
        size_t next = end < x->length ? end + 1 : end;

        if (next < x->length && cr < lf && x->p[next] == '\n')
            next++;
        if (!add_part(s, list, whole, i, keep ? next : end))
            return false;
        if (next - i > PIECE && !sl_charge(s, (next - i) / UNIT))
            return false;
        i = next;
        if (lf < i)
            lf = next_byte(x, i, '\n');
        if (cr < i)
            cr = next_byte(x, i, '\r');
    }
    return true;
}

value sl_string_splitlines(struct star *s, const struct sl_call *c)
{
    value list;

    if (!sl_want_args(s, c, 0, 1))
        return 0;
    if (c->count && sl_type(c->args[0]) != T_BOOL)
        return sl_fail(s, "%s: for parameter 1: got %s, want bool", c->name,
                       sl_type_name(c->args[0]));
    list = sl_list_new(s, 8);
    return list && split_lines(s, list, c->self,
                               c->count && c->args[0] == V_TRUE)
               ? list
               : 0;
}

/* --- partition --------------------------------------------------------------------------------- */

static value partition(struct star *s, const struct sl_call *c, bool right)
{
    const struct sl_string *x = sl_string(c->self);
    struct sl_string *sep;

    if (!sl_want_args(s, c, 1, 1) || !sl_want_string(s, c, 0, &sep))
        return 0;
    if (!sep->length)
        return sl_fail(s, "%s: empty separator", c->name);
    struct sl_search q = sl_search_for(s, sep->p, sep->length);
    int64_t at = right ? sl_search_last(&q, x->p, x->length)
                       : sl_search_first(&q, x->p, x->length);
    value tuple = at == -2 ? 0 : sl_tuple_new(s, 3);
    if (!tuple)
        return 0;

    value *items = sl_tuple(tuple)->items;
    if (at == -1) {
        items[0] = right ? s->empty_string : c->self;
        items[1] = s->empty_string;
        items[2] = right ? c->self : s->empty_string;
        return tuple;
    }
    value head = sl_substring(s, c->self, 0, (size_t)at);
    value tail =
        head ? sl_substring(s, c->self, (size_t)at + sep->length, x->length)
             : 0;
    if (!tail)
        return 0;
    items[0] = head;
    items[1] = c->args[0];
    items[2] = tail;
    return tuple;
}

value sl_string_partition(struct star *s, const struct sl_call *c)
{
    return partition(s, c, false);
}

value sl_string_rpartition(struct star *s, const struct sl_call *c)
{
    return partition(s, c, true);
}

/* --- strip ------------------------------------------------------------------------------------- */

/* Code points: ASCII ones as bits, and whether there are others. Few of those
 * are looked for one by one, many have a bit each. */
enum { FEW_BYTES = 32, ALL_BYTES = 0x110000 / 8 };
struct cutset {
    uint64_t ascii[2];
    bool others, spaces;
    const struct sl_string *text;
    unsigned char *all; /* NULL: few */
};

static bool cutset_begin(struct star *s, struct cutset *set,
                         const struct sl_string *text)
{
    size_t paid = 0;
    unsigned width;

    *set = (struct cutset){.text = text};
    if (text->length > FEW_BYTES && !(text->o.flags & STRING_ASCII)) {
        if (!sl_charge(s, ALL_BYTES / UNIT) ||
            !(set->all = sl_storage(s, ALL_BYTES)))
            return false;
        memset(set->all, 0, ALL_BYTES);
    }
    for (size_t i = 0; i < text->length; i += width) {
        uint32_t r = sl_rune(text->p + i, text->length - i, &width);
        if (r < 0x80)
            set->ascii[r / 64] |= UINT64_C(1) << r % 64;
        else
            set->others = true;
        if (set->all)
            set->all[r / 8] |= (unsigned char)(1u << r % 8);
        if (i - paid >= PIECE) {
            if (!sl_charge(s, PIECE / UNIT))
                return false;
            paid = i;
        }
    }
    return true;
}

static void cutset_end(struct star *s, struct cutset *set)
{
    if (set->all)
        sl_storage_free(s, set->all, ALL_BYTES);
}

static bool has_other(const struct cutset *set, uint32_t r)
{
    unsigned width;

    if (set->spaces)
        return sl_rune_is_space(r);
    if (!set->others)
        return false;
    if (set->all)
        return set->all[r / 8] >> r % 8 & 1;
    for (size_t i = 0; i < set->text->length; i += width) {
        if (sl_rune(set->text->p + i, set->text->length - i, &width) == r)
            return true;
    }
    return false;
}

static inline bool has_ascii(const struct cutset *set, unsigned char c)
{
    return set->ascii[c / 64] >> c % 64 & 1;
}

/* Where what remains begins, and where it ends. False: a budget ended. */
static bool strip_left(struct star *s, const struct cutset *set,
                       const struct sl_string *x, size_t *begin)
{
    size_t i = 0, paid = 0;
    unsigned width;

    for (; i < x->length; i += width) {
        unsigned char c = (unsigned char)x->p[i];
        width = 1;
        if (c < 0x80
                ? !has_ascii(set, c)
                : !has_other(set, sl_rune(x->p + i, x->length - i, &width)))
            break;
        if (i - paid >= PIECE) {
            if (!sl_charge(s, PIECE / UNIT))
                return false;
            paid = i;
        }
    }
    *begin = i;
    return true;
}

static bool strip_right(struct star *s, const struct cutset *set,
                        const struct sl_string *x, size_t begin, size_t *end)
{
    size_t i = x->length, paid = i;
    unsigned width;

    for (; i > begin; i -= width) {
        unsigned char c = (unsigned char)x->p[i - 1];
        width = 1;
        if (c < 0x80 ? !has_ascii(set, c)
                     : !has_other(
                           set, sl_rune_last(x->p + begin, i - begin, &width)))
            break;
        if (paid - i >= PIECE) {
            if (!sl_charge(s, PIECE / UNIT))
                return false;
            paid = i;
        }
    }
    *end = i;
    return true;
}

enum { LEFT = 1, RIGHT = 2 };
static value strip(struct star *s, const struct sl_call *c, unsigned sides)
{
    static const struct cutset spaces = {
        .ascii = {UINT64_C(1) << ' ' | UINT64_C(31) << '\t', 0},
        .spaces = true};
    const struct sl_string *x = sl_string(c->self);
    struct cutset set = spaces;
    struct sl_string *chars;
    size_t begin = 0, end = x->length;

    if (!sl_want_args(s, c, 0, 1) ||
        (c->count && !sl_want_string(s, c, 0, &chars)))
        return 0;
    bool ok = (!c->count || cutset_begin(s, &set, chars)) &&
              (!(sides & LEFT) || strip_left(s, &set, x, &begin)) &&
              (!(sides & RIGHT) || strip_right(s, &set, x, begin, &end));
    cutset_end(s, &set);
    return ok ? sl_substring(s, c->self, begin, end) : 0;
}

value sl_string_strip(struct star *s, const struct sl_call *c)
{
    return strip(s, c, LEFT | RIGHT);
}

value sl_string_lstrip(struct star *s, const struct sl_call *c)
{
    return strip(s, c, LEFT);
}

value sl_string_rstrip(struct star *s, const struct sl_call *c)
{
    return strip(s, c, RIGHT);
}
