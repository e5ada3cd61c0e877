#include "../core/text.h"
#include "lib.h"

enum {
    PIECE = SL_RARE(64 * 1024, 64), /* bytes between two checks of the budget */
    UNIT = 64                       /* bytes that count as one step */
};

/* --- arguments ------------------------------------------------------------------ */

/* Returns argument `i`, which must be a string; otherwise NULL with an
 * error. */
static const struct sl_string *string_arg(struct star *s,
                                          const struct sl_call *c, uint32_t i)
{
    if (sl_is(c->args[i], T_STRING))
        return sl_string(c->args[i]);
    sl_fail(s, "%s: for parameter %u: got %s, want string", c->name, i + 1,
            sl_type_name(c->args[i]));
    return NULL;
}

/* The part of the receiver given by the 2nd and 3rd argument; empty at `start`
 * if they are reversed. */
struct range {
    const char *p;
    size_t start, length;
};
static bool range_args(struct star *s, const struct sl_call *c,
                       struct range *out)
{
    const struct sl_string *x = sl_string(c->self);
    int64_t start = 0, end = x->length;

    if (c->count > 1 && !sl_bounds(s, c->args[1], c->count > 2 ? c->args[2] : 0,
                                   x->length, &start, &end))
        return sl_failed_in(s, c);
    *out = (struct range){x->p + start, (size_t)start,
                          end > start ? (size_t)(end - start) : 0};
    return true;
}

/* --- finding one place: find, index, partition and their opposites ---------------- */

static value find(struct star *s, const struct sl_call *c, bool last, bool must)
{
    const struct sl_string *needle;
    struct range r;

    if (!sl_want_args(s, c, 1, 3) || !(needle = string_arg(s, c, 0)) ||
        !range_args(s, c, &r))
        return 0;
    int64_t at = (last ? sl_text_find_last : sl_text_find)(
        s, r.p, r.length, needle->p, needle->length);
    if (at == -2)
        return 0;
    if (at == -1)
        return must ? sl_fail(s, "%s: substring not found", c->name)
                    : sl_word(-1);
    return sl_word(at + (int64_t)r.start);
}

static value partition(struct star *s, const struct sl_call *c, bool last)
{
    const struct sl_string *x = sl_string(c->self), *sep;

    if (!sl_want_args(s, c, 1, 1) || !(sep = string_arg(s, c, 0)))
        return 0;
    if (!sep->length)
        return sl_fail(s, "%s: empty separator", c->name);
    int64_t at = (last ? sl_text_find_last : sl_text_find)(s, x->p, x->length,
                                                           sep->p, sep->length);
    value tuple = at == -2 ? 0 : sl_tuple_new(s, 3);
    if (!tuple)
        return 0;
    size_t head = at >= 0 ? (size_t)at : last ? 0 : x->length;
    size_t tail = at >= 0 ? head + sep->length : head;
    value *items = sl_tuple(tuple)->items;
    items[0] = sl_substring(s, c->self, 0, head);
    items[1] = at >= 0 ? c->args[0] : s->empty_string;
    items[2] = sl_substring(s, c->self, tail, x->length);
    return items[0] && items[2] ? tuple : 0;
}

/* --- startswith, endswith, removeprefix, removesuffix ------------------------------ */

static inline bool has_fix(struct star *s, const char *p, size_t length,
                           const struct sl_string *fix, bool suffix)
{
    if (fix->length > length)
        return false;
    sl_owe(s, fix->length / UNIT);
    return memcmp(suffix ? p + length - fix->length : p, fix->p, fix->length) ==
           0;
}

static value startswith(struct star *s, const struct sl_call *c, bool suffix)
{
    struct range r;

    if (!sl_want_args(s, c, 1, 3) || !range_args(s, c, &r))
        return 0;
    const value *fixes = c->args;
    uint32_t count = 1;
    if (sl_is(*fixes, T_TUPLE)) {
        count = sl_tuple(*fixes)->count;
        fixes = sl_tuple(*fixes)->items;
    } else if (!sl_is(*fixes, T_STRING)) {
        return sl_fail(s, "%s: got %s, want string or tuple of string", c->name,
                       sl_type_name(*fixes));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!sl_is(fixes[i], T_STRING))
            return sl_fail(s, "%s: want string, got %s, for element %u",
                           c->name, sl_type_name(fixes[i]), i);
        if (has_fix(s, r.p, r.length, sl_string(fixes[i]), suffix))
            return V_TRUE;
        if (!sl_charge(s, 1))
            return 0;
    }
    return V_FALSE;
}

static value remove_fix(struct star *s, const struct sl_call *c, bool suffix)
{
    const struct sl_string *x = sl_string(c->self), *fix;

    if (!sl_want_args(s, c, 1, 1) || !(fix = string_arg(s, c, 0)))
        return 0;
    if (!has_fix(s, x->p, x->length, fix, suffix))
        return c->self;
    return suffix ? sl_substring(s, c->self, 0, x->length - fix->length)
                  : sl_substring(s, c->self, fix->length, x->length);
}

/* --- finding all places: count, replace, split ------------------------------------- */

/* Iterates over non-overlapping occurrences of a needle. An empty needle occurs
 * before each code point and at the end. */
struct places {
    const char *p;
    size_t length;
    const struct sl_string *needle;
    size_t next; /* start of the next search; beyond the length at the end */
};

/* Returns -1 at the end, -2 if a limit is reached. */
static int64_t next_place(struct star *s, struct places *q)
{
    size_t at = q->next;
    unsigned width = 1;

    if (at > q->length)
        return -1;
    if (q->needle->length) {
        int64_t found = sl_text_find(s, q->p + at, q->length - at, q->needle->p,
                                     q->needle->length);
        if (found < 0)
            return found;
        at += (size_t)found;
        q->next = at + q->needle->length;
    } else {
        if (at < q->length)
            sl_rune(q->p + at, q->length - at, &width);
        q->next = at + width;
    }
    return sl_charge(s, 1) ? (int64_t)at : -2;
}

/* Returns -2 if a limit is reached. */
static int64_t count_places(struct star *s, struct places q)
{
    int64_t count = 0, at;

    while ((at = next_place(s, &q)) >= 0)
        count++;
    return at == -2 ? at : count;
}

static value string_count(struct star *s, const struct sl_call *c)
{
    const struct sl_string *needle;
    struct range r;

    if (!sl_want_args(s, c, 1, 3) || !(needle = string_arg(s, c, 0)) ||
        !range_args(s, c, &r))
        return 0;
    int64_t count = count_places(s, (struct places){r.p, r.length, needle, 0});
    return count < 0 ? 0 : sl_word(count);
}

/* Finishes a new string; it is ASCII if all its parts are. */
static value filled(value v, unsigned flags)
{
    if (flags & STRING_ASCII)
        sl_object(v)->flags |= STRING_ASCII;
    else
        sl_string_filled(v);
    return v;
}

/* The size of the result must be known before it is allocated, so occurrences
 * are searched twice, except for the first ones, which are remembered. */
static value replace(struct star *s, value self, const struct sl_string *old,
                     const struct sl_string *new, int64_t max)
{
    enum { REMEMBERED = 64 };
    const struct sl_string *x = sl_string(self);
    struct places q = {x->p, x->length, old, 0}, more = q;
    size_t remembered[REMEMBERED], i = 0;
    int64_t count = 0, at = 0;
    char *p;

    for (; count < max && (at = next_place(s, &q)) >= 0; count++) {
        if (count < REMEMBERED) {
            remembered[count] = (size_t)at;
            more.next = q.next;
        }
    }
    if (at == -2 || !count)
        return at == -2 ? 0 : self;
    uint64_t size = x->length - (uint64_t)count * old->length +
                    (uint64_t)count * new->length;
    if (size == 0)
        return s->empty_string;
    value v = sl_text_room(s, T_STRING, size, &p);
    if (!v)
        return 0;
    for (int64_t k = 0; k < count; k++) {
        at = k < REMEMBERED ? (int64_t)remembered[k] : next_place(s, &more);
        if (at < 0 || !sl_charge(s, new->length / UNIT) ||
            !sl_copy(s, p, x->p + i, (size_t)at - i))
            return 0;
        p += (size_t)at - i;
        if (!sl_copy(s, p, new->p, new->length))
            return 0;
        p += new->length;
        i = (size_t)at + old->length;
    }
    return sl_copy(s, p, x->p + i, x->length - i)
               ? filled(v, x->o.flags & new->o.flags)
               : 0;
}

static value string_replace(struct star *s, const struct sl_call *c)
{
    const struct sl_string *old, *new;
    int64_t max = -1;
    bool same;

    if (!sl_want_args(s, c, 2, 3) || !(old = string_arg(s, c, 0)) ||
        !(new = string_arg(s, c, 1)) ||
        (c->count > 2 && !sl_arg_int(s, c, 2, &max)) ||
        !sl_equal(s, c->args[0], c->args[1], &same))
        return 0;
    if (same)
        return c->self;
    return replace(s, c->self, old, new, max < 0 ? INT64_MAX : max);
}

/* --- sets of characters, and skipping ----------------------------------- */

/* A set of characters: ASCII ones as bits; others are those in `text`, or all
 * white space. */
struct charset {
    uint64_t ascii[2];
    const struct sl_string *text;
};
static const struct charset spaces = {
    {UINT64_C(1) << ' ' | UINT64_C(31) << '\t', 0}, NULL};

static bool charset_of(struct star *s, const struct sl_string *text,
                       struct charset *out)
{
    *out = (struct charset){.text = text};
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->p[i];
        if (c < 0x80)
            out->ascii[c / 64] |= UINT64_C(1) << c % 64;
        if (i % PIECE == PIECE - 1 && !sl_charge(s, PIECE / UNIT))
            return false;
    }
    sl_owe(s, text->length % PIECE / UNIT);
    return true;
}

static bool has_other(const struct charset *set, uint32_t r)
{
    const struct sl_string *text = set->text;
    unsigned width;

    if (!text)
        return sl_rune_class(r) & RUNE_SPACE;
    for (size_t i = 0; i < text->length; i += width) {
        if (sl_rune(text->p + i, text->length - i, &width) == r)
            return true;
    }
    return false;
}

/* Moves *i over code points that are (in) or are not in the set, towards the
 * end or back to the start. Returns false if a limit is reached. */
static inline bool pass(struct star *s, const struct sl_string *x,
                        const struct charset *set, bool in, bool back,
                        size_t *i)
{
    unsigned width;
    size_t n = 1;

    for (; *i != (back ? 0 : x->length); n++) {
        unsigned char c = (unsigned char)x->p[*i - back];
        bool is;
        width = 1;
        if (c < 0x80) {
            is = set->ascii[c / 64] >> c % 64 & 1;
        } else {
            is = has_other(set,
                           back ? sl_rune_last(x->p, *i, &width)
                                : sl_rune(x->p + *i, x->length - *i, &width));
            if (set->text && !sl_charge(s, 1 + set->text->length / 8))
                return false;
        }
        if (is != in)
            break;
        *i = back ? *i - width : *i + width;
        if (n % PIECE == 0 && !sl_charge(s, PIECE / UNIT))
            return false;
    }
    sl_owe(s, n % PIECE / UNIT);
    return true;
}

enum { LEFT = 1, RIGHT = 2 };
static value strip(struct star *s, const struct sl_call *c, unsigned sides)
{
    const struct sl_string *x = sl_string(c->self), *chars;
    struct charset set = spaces;
    size_t begin = 0, end = x->length;

    if (!sl_want_args(s, c, 0, 1) ||
        (c->count &&
         (!(chars = string_arg(s, c, 0)) || !charset_of(s, chars, &set))))
        return 0;
    if (sides & LEFT && !pass(s, x, &set, true, false, &begin))
        return 0;
    if (sides & RIGHT && begin < end && !pass(s, x, &set, true, true, &end))
        return 0;
    return sl_substring(s, c->self, begin, end);
}

/* --- split, rsplit, splitlines ------------------------------------------------------ */

/* Appends the part [from, to) of `whole`. */
static bool add_part(struct star *s, value list, value whole, size_t from,
                     size_t to)
{
    struct sl_list *l = sl_list(list);
    value v = sl_substring(s, whole, from, to);

    if (!v)
        return false;
    if (l->count == l->capacity)
        return sl_list_append(s, list, v);
    l->items[l->count++] = v;
    return true;
}

/* Splits at no more than `max` separators, the first or the last ones. */
static bool split_at(struct star *s, value list, value whole,
                     const struct sl_string *sep, int64_t max, bool last)
{
    const struct sl_string *x = sl_string(whole);
    struct places q = {x->p, x->length, sep, 0};
    int64_t count = last ? count_places(s, q) : 0;
    int64_t skip = count > max ? count - max : 0, at = -1;
    size_t begin = 0;

    if (count < 0)
        return false;
    while (max > 0 && (at = next_place(s, &q)) >= 0) {
        if (skip-- > 0)
            continue;
        if (!add_part(s, list, whole, begin, (size_t)at))
            return false;
        begin = q.next;
        max--;
    }
    return at != -2 && add_part(s, list, whole, begin, x->length);
}

/* Splits at runs of white space; from the end if the last `max` ones count. */
static inline bool split_spaces(struct star *s, value list, value whole,
                                int64_t max, bool last)
{
    const struct sl_string *x = sl_string(whole);
    const size_t stop = last ? 0 : x->length;
    size_t i = last ? x->length : 0;

    while (pass(s, x, &spaces, true, last, &i)) {
        size_t from = i;
        if (i == stop)
            return true;
        if (!sl_charge(s, 1) || !pass(s, x, &spaces, false, last, &i))
            return false;
        if (i != stop && max-- == 0)
            i = stop;
        if (!add_part(s, list, whole, last ? i : from, last ? from : i))
            return false;
    }
    return false;
}

static void reverse(struct sl_list *l)
{
    for (uint32_t i = 0, k = l->count; i + 1 < k; i++) {
        value v = l->items[i];
        l->items[i] = l->items[--k];
        l->items[k] = v;
    }
}

static value split(struct star *s, const struct sl_call *c, bool last)
{
    value sep = c->count ? c->args[0] : V_NONE;
    int64_t max = -1;
    bool ok;

    if (!sl_want_args(s, c, 0, 2) ||
        (c->count > 1 && !sl_arg_int(s, c, 1, &max)))
        return 0;
    if (sep != V_NONE && !sl_is(sep, T_STRING))
        return sl_fail(s, "split: got %s for separator, want string",
                       sl_type_name(sep));
    if (sep != V_NONE && sl_string(sep)->length == 0)
        return sl_fail(s, "split: empty separator");
    if (max < 0) {
        max = INT64_MAX;
        last = false;
    }
    value list = sl_list_new(s, 8);
    if (!list)
        return 0;
    if (sep != V_NONE)
        ok = split_at(s, list, c->self, sl_string(sep), max, last);
    else
        ok = last ? split_spaces(s, list, c->self, max, true)
                  : split_spaces(s, list, c->self, max, false);
    if (sep == V_NONE && last)
        reverse(sl_list(list));
    return ok ? list : 0;
}

static value string_splitlines(struct star *s, const struct sl_call *c)
{
    const struct sl_string *x = sl_string(c->self);
    size_t begin = 0, end;
    value list;

    if (!sl_want_args(s, c, 0, 1))
        return 0;
    if (c->count && sl_type(c->args[0]) != T_BOOL)
        return sl_fail(s, "%s: for parameter 1: got %s, want bool", c->name,
                       sl_type_name(c->args[0]));
    bool keep = c->count && c->args[0] == V_TRUE;
    if (!(list = sl_list_new(s, 8)))
        return 0;
    for (size_t i = 0; i < x->length; i++) {
        if ((i - begin) % UNIT == 0 && !sl_charge(s, 1))
            return 0;
        if (x->p[i] != '\n' && x->p[i] != '\r')
            continue;
        end = i;
        if (x->p[i] == '\r' && i + 1 < x->length && x->p[i + 1] == '\n')
            i++;
        if (!add_part(s, list, c->self, begin, keep ? i + 1 : end))
            return 0;
        begin = i + 1;
    }
    return begin == x->length || add_part(s, list, c->self, begin, x->length)
               ? list
               : 0;
}

/* --- join --------------------------------------------------------------------------- */

static value not_a_string(struct star *s, value v)
{
    sl_fail(s, "join: in list, want string, got %s", sl_type_name(v));
    sl_hint(s, "write [str(x) for x in xs]");
    return 0;
}

/* Joins a list or tuple; the size is computed before the result is
 * allocated. */
static value join_items(struct star *s, const struct sl_string *sep,
                        const value *items, uint32_t count)
{
    unsigned flags = sep->length ? sep->o.flags : STRING_ASCII;
    uint64_t length = count ? (uint64_t)sep->length * (count - 1) : 0;
    char *p;

    for (uint32_t i = 0; i < count; i++) {
        if (i % 1024 == 1023 && !sl_charge(s, 1024))
            return 0;
        if (!sl_is(items[i], T_STRING))
            return not_a_string(s, items[i]);
        length += sl_string(items[i])->length;
        flags &= sl_string(items[i])->o.flags;
    }
    if (count == 1)
        return items[0];
    if (length == 0)
        return s->empty_string;
    if (length > SL_TEXT_MAX_BYTES)
        return sl_fail_memory(s, length);
    if (!sl_charge(s, length / UNIT))
        return 0;
    value v = sl_text_room(s, T_STRING, length, &p);
    if (!v)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct sl_string *x = sl_string(items[i]);
        if (i) {
            memcpy(p, sep->p, sep->length);
            p += sep->length;
        }
        if (!sl_copy(s, p, x->p, x->length))
            return 0;
        p += x->length;
        if (i % 1024 == 1023 && !sl_charge(s, 16))
            return 0;
    }
    return filled(v, flags);
}

static bool join_iterable(struct sl_text *t, const struct sl_string *sep,
                          value iterable)
{
    struct star *s = t->s;
    const size_t held = s->heap.held_count;
    struct sl_iter it;
    value v;

    if (!sl_iter_begin(s, iterable, &it))
        return false;
    for (bool first = true; !t->failed && (v = sl_iter_next(s, &it));
         first = false) {
        if (!sl_is(v, T_STRING)) {
            not_a_string(s, v);
            break;
        }
        if (!first)
            sl_text_put(t, sep->p, sep->length);
        if (!sl_str(t, v))
            break;
        SL_RELEASE(s, held);
    }
    sl_iter_end(&it);
    return !sl_failed(s);
}

static value string_join(struct star *s, const struct sl_call *c)
{
    const struct sl_string *sep = sl_string(c->self);
    struct sl_text t = {.s = s};

    if (!sl_want_args(s, c, 1, 1) || !sl_arg_iterable(s, c, 0))
        return 0;
    value x = c->args[0];
    if (sl_is(x, T_LIST))
        return join_items(s, sep, sl_list(x)->items, sl_list(x)->count);
    if (sl_is(x, T_TUPLE))
        return join_items(s, sep, sl_tuple(x)->items, sl_tuple(x)->count);
    if (join_iterable(&t, sep, x))
        return sl_text_string(&t);
    sl_text_free(&t);
    return 0;
}

/* --- elems and its kin --------------------------------------------------------------- */

static value elems(struct star *s, const struct sl_call *c, enum sl_type type,
                   enum sl_elems kind)
{
    struct sl_string_elems *e;

    if (!sl_want_args(s, c, 0, 0) || !(e = sl_alloc(s, type, sizeof *e)))
        return 0;
    e->kind = kind;
    e->string = c->self;
    return sl_value(e);
}

/* --- the tables ------------------------------------------------------------------------ */

/* clang-format off */
#define METHODS(M)                                                             \
    M(find, find(s, c, false, false))                                          \
    M(rfind, find(s, c, true, false))                                          \
    M(index, find(s, c, false, true))                                          \
    M(rindex, find(s, c, true, true))                                          \
    M(partition, partition(s, c, false))                                       \
    M(rpartition, partition(s, c, true))                                       \
    M(startswith, startswith(s, c, false))                                     \
    M(endswith, startswith(s, c, true))                                        \
    M(removeprefix, remove_fix(s, c, false))                                   \
    M(removesuffix, remove_fix(s, c, true))                                    \
    M(split, split(s, c, false))                                               \
    M(rsplit, split(s, c, true))                                               \
    M(strip, strip(s, c, LEFT | RIGHT))                                        \
    M(lstrip, strip(s, c, LEFT))                                               \
    M(rstrip, strip(s, c, RIGHT))                                              \
    M(elems, elems(s, c, T_STRING_ELEMS, ELEMS_CHARS))                         \
    M(elem_ords, elems(s, c, T_STRING_ELEMS, ELEMS_ORDS))                      \
    M(codepoints, elems(s, c, T_STRING_ELEMS, CODEPOINTS))                     \
    M(codepoint_ords, elems(s, c, T_STRING_ELEMS, CODEPOINT_ORDS))
#define M(name, result)                                                        \
    static value string_##name(struct star *s, const struct sl_call *c)        \
    {                                                                          \
        return result;                                                         \
    }
METHODS(M)
#undef M

sl_native *const sl_string_methods[METHOD_COUNT] = {
#define M(name, result) [METHOD_##name] = string_##name,
    METHODS(M)
#undef M
    [METHOD_count] = string_count,
    [METHOD_join] = string_join,
    [METHOD_replace] = string_replace,
    [METHOD_splitlines] = string_splitlines,
    [METHOD_format] = sl_string_format,
    [METHOD_capitalize] = sl_string_capitalize,
    [METHOD_isalnum] = sl_string_isalnum,
    [METHOD_isalpha] = sl_string_isalpha,
    [METHOD_isdigit] = sl_string_isdigit,
    [METHOD_islower] = sl_string_islower,
    [METHOD_isspace] = sl_string_isspace,
    [METHOD_istitle] = sl_string_istitle,
    [METHOD_isupper] = sl_string_isupper,
    [METHOD_lower] = sl_string_lower,
    [METHOD_title] = sl_string_title,
    [METHOD_upper] = sl_string_upper,
};
/* clang-format on */

static value bytes_elems(struct star *s, const struct sl_call *c)
{
    return elems(s, c, T_BYTES_ELEMS, ELEMS_ORDS);
}

sl_native *const sl_bytes_methods[METHOD_COUNT] = {
    [METHOD_elems] = bytes_elems,
};
