#include "lib.h"
#include "text.h"

enum { PIECE = 64 * 1024, UNIT = 64 };

/* --- arguments ------------------------------------------------------------------ */

bool sl_want_string(struct star *s, const struct sl_call *c, uint32_t i,
                    struct sl_string **out)
{
    if (!sl_is(c->args[i], T_STRING)) {
        sl_fail(s, "%s: for parameter %u: got %s, want string", c->name, i + 1,
                sl_type_name(c->args[i]));
        return false;
    }
    *out = sl_string(c->args[i]);
    return true;
}

/* The part of the receiver that the 2nd and 3rd argument say: an empty one at
 * `start` when they are the wrong way round. */
struct range {
    const char *p;
    size_t start, length;
};
static bool want_range(struct star *s, const struct sl_call *c,
                       struct range *out)
{
    const struct sl_string *x = sl_string(c->self);
    int64_t start = 0, end = x->length;

    if (c->count > 1 && !sl_bounds(s, c->args[1], c->count > 2 ? c->args[2] : 0,
                                   x->length, &start, &end)) {
        sl_failed_in(s, c);
        return false;
    }
    *out = (struct range){x->p + start, (size_t)start,
                          end > start ? (size_t)(end - start) : 0};
    return true;
}

/* --- find, rfind, index, rindex, count ------------------------------------------- */

static int64_t find(struct star *s, const struct sl_call *c, bool last)
{
    struct sl_string *needle;
    struct range r;

    if (!sl_want_args(s, c, 1, 3) || !sl_want_string(s, c, 0, &needle) ||
        !want_range(s, c, &r))
        return -2;
    struct sl_search q = sl_search_for(s, needle->p, needle->length);
    int64_t at = last ? sl_search_last(&q, r.p, r.length)
                      : sl_search_first(&q, r.p, r.length);
    return at < 0 ? at : at + (int64_t)r.start;
}

static value string_find(struct star *s, const struct sl_call *c)
{
    int64_t at = find(s, c, false);

    return at == -2 ? 0 : sl_word(at);
}

static value string_rfind(struct star *s, const struct sl_call *c)
{
    int64_t at = find(s, c, true);

    return at == -2 ? 0 : sl_word(at);
}

static value found(struct star *s, const struct sl_call *c, int64_t at)
{
    if (at == -1)
        return sl_fail(s, "%s: substring not found", c->name);
    return at == -2 ? 0 : sl_word(at);
}

static value string_index(struct star *s, const struct sl_call *c)
{
    return found(s, c, find(s, c, false));
}

static value string_rindex(struct star *s, const struct sl_call *c)
{
    return found(s, c, find(s, c, true));
}

static value string_count(struct star *s, const struct sl_call *c)
{
    struct sl_string *needle;
    struct range r;
    int64_t count = 0;

    if (!sl_want_args(s, c, 1, 3) || !sl_want_string(s, c, 0, &needle) ||
        !want_range(s, c, &r))
        return 0;
    if (needle->length == 0) {
        size_t runes;
        return sl_rune_count(s, r.p, r.length, &runes)
                   ? sl_word((int64_t)runes + 1)
                   : 0;
    }
    struct sl_search q = sl_search_for(s, needle->p, needle->length);
    for (size_t i = 0;; count++) {
        int64_t at = sl_search_first(&q, r.p + i, r.length - i);
        if (at == -1)
            return sl_word(count);
        if (at == -2 || !sl_charge(s, 1))
            return 0;
        i += (size_t)at + needle->length;
    }
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

    if (!sl_want_args(s, c, 1, 3) || !want_range(s, c, &r))
        return 0;
    value x = c->args[0];
    if (sl_is(x, T_STRING))
        return sl_bool(has_fix(s, r.p, r.length, sl_string(x), suffix));
    if (!sl_is(x, T_TUPLE))
        return sl_fail(s, "%s: got %s, want string or tuple of string", c->name,
                       sl_type_name(x));

    const struct sl_tuple *t = sl_tuple(x);
    for (uint32_t i = 0; i < t->count; i++) {
        if (!sl_is(t->items[i], T_STRING))
            return sl_fail(s, "%s: want string, got %s, for element %u",
                           c->name, sl_type_name(t->items[i]), i);
        const struct sl_string *fix = sl_string(t->items[i]);
        if (!sl_charge(s, 1))
            return 0;
        if (has_fix(s, r.p, r.length, fix, suffix))
            return V_TRUE;
    }
    return V_FALSE;
}

static value string_startswith(struct star *s, const struct sl_call *c)
{
    return startswith(s, c, false);
}

static value string_endswith(struct star *s, const struct sl_call *c)
{
    return startswith(s, c, true);
}

static value string_removeprefix(struct star *s, const struct sl_call *c)
{
    const struct sl_string *x = sl_string(c->self);
    struct sl_string *fix;

    if (!sl_want_args(s, c, 1, 1) || !sl_want_string(s, c, 0, &fix))
        return 0;
    if (!has_fix(s, x->p, x->length, fix, false))
        return c->self;
    return sl_substring(s, c->self, fix->length, x->length);
}

static value string_removesuffix(struct star *s, const struct sl_call *c)
{
    const struct sl_string *x = sl_string(c->self);
    struct sl_string *fix;

    if (!sl_want_args(s, c, 1, 1) || !sl_want_string(s, c, 0, &fix))
        return 0;
    if (!has_fix(s, x->p, x->length, fix, true))
        return c->self;
    return sl_substring(s, c->self, 0, x->length - fix->length);
}

/* --- replace ------------------------------------------------------------------------ */

/* The first places are remembered, so that few of them are searched only
 * once. */
enum { PLACES = 256 };

struct replacing {
    const struct sl_string *text, *old, *new;
    uint64_t count; /* of replacements */
    uint32_t places[PLACES];
};

static bool count_places(struct star *s, struct replacing *r, uint64_t max)
{
    struct sl_search q = sl_search_for(s, r->old->p, r->old->length);
    size_t i = 0;

    for (r->count = 0; r->count < max; r->count++) {
        int64_t at = sl_search_first(&q, r->text->p + i, r->text->length - i);
        if (at == -1)
            return true;
        if (at == -2 || !sl_charge(s, 1))
            return false;
        if (r->count < PLACES)
            r->places[r->count] = (uint32_t)(i + (size_t)at);
        i += (size_t)at + r->old->length;
    }
    return true;
}

static bool write_replaced(struct star *s, const struct replacing *r, char *out)
{
    const struct sl_string *text = r->text;
    struct sl_search q = sl_search_for(s, r->old->p, r->old->length);
    size_t i = 0;

    for (uint64_t k = 0; k < r->count; k++) {
        size_t at;
        if (k < PLACES) {
            at = r->places[k];
        } else {
            at = i + (size_t)sl_search_first(&q, text->p + i, text->length - i);
            if (at < i || !sl_charge(s, 1))
                return false;
        }
        if (!sl_copy(s, out, text->p + i, at - i))
            return false;
        out += at - i;
        if (!sl_copy(s, out, r->new->p, r->new->length))
            return false;
        out += r->new->length;
        i = at + r->old->length;
    }
    return sl_copy(s, out, text->p + i, text->length - i);
}

/* One byte by another: no place needs to be remembered. */
static value replace_byte(struct star *s, const struct replacing *r, value self)
{
    const struct sl_string *text = r->text;
    const char old = r->old->p[0], new = r->new->p[0];
    char *p;
    value v;

    struct sl_search q = sl_search_for(s, r->old->p, 1);
    int64_t first = sl_search_first(&q, text->p, text->length);

    if (first < 0)
        return first == -1 ? self : 0;
    if (!(v = sl_text_room(s, T_STRING, text->length, &p)))
        return 0;
    for (size_t i = 0; i < text->length;) {
        size_t end = text->length - i > PIECE ? i + PIECE : text->length;
        if (!sl_charge(s, 1 + (end - i) / UNIT))
            return 0;
        for (; i + 8 <= end; i += 8) {
            uint64_t word = sl_load8(text->p + i);
            uint64_t found = sl_zero_bytes(word ^ SL_EACH_BYTE(old)) >> 7;
            sl_store8(p + i, word ^ found * (unsigned char)(old ^ new));
        }
        for (; i < end; i++)
            p[i] = text->p[i] == old ? new : text->p[i];
    }
    return v;
}

/* Before each code point, and at the end. */
static value replace_nothing(struct star *s, const struct replacing *r,
                             uint64_t max, value self)
{
    const struct sl_string *text = r->text, *new = r->new;
    size_t i = 0, runes;
    unsigned width;
    char *p;
    value v;

    if (!sl_rune_count(s, text->p, text->length, &runes))
        return 0;
    uint64_t count = max < runes + 1 ? max : runes + 1;
    uint64_t size = text->length + count * new->length;
    if (!new->length || !count)
        return self;
    if (size > SL_TEXT_MAX_BYTES)
        return sl_fail_memory(s, size);
    if (!(v = sl_text_room(s, T_STRING, size, &p)))
        return 0;
    for (uint64_t k = 0; k < count; k++) {
        if (!sl_charge(s, 1) || !sl_copy(s, p, new->p, new->length))
            return 0;
        p += new->length;
        if (i < text->length) {
            sl_rune(text->p + i, text->length - i, &width);
            memcpy(p, text->p + i, width);
            p += width;
            i += width;
        }
    }
    return sl_copy(s, p, text->p + i, text->length - i) ? v : 0;
}

static value replace(struct star *s, struct replacing *r, uint64_t max,
                     value self)
{
    char *p;
    value v;

    if (r->old->length == 0)
        return replace_nothing(s, r, max, self);
    if (r->old->length == 1 && r->new->length == 1 && max >= r->text->length)
        return replace_byte(s, r, self);
    if (!count_places(s, r, max))
        return 0;
    if (!r->count)
        return self;
    uint64_t size =
        r->text->length - r->count * r->old->length + r->count * r->new->length;
    if (size > SL_TEXT_MAX_BYTES)
        return sl_fail_memory(s, size);
    if (size == 0)
        return s->empty_string;
    if (!(v = sl_text_room(s, T_STRING, size, &p)))
        return 0;
    return write_replaced(s, r, p) ? v : 0;
}

static value string_replace(struct star *s, const struct sl_call *c)
{
    struct replacing r;
    struct sl_string *old, *new;
    int64_t max = -1;
    bool same;

    if (!sl_want_args(s, c, 2, 3) || !sl_want_string(s, c, 0, &old) ||
        !sl_want_string(s, c, 1, &new) ||
        (c->count > 2 && !sl_arg_int(s, c, 2, &max)) ||
        !sl_equal(s, c->args[0], c->args[1], &same))
        return 0;
    r.text = sl_string(c->self);
    r.old = old;
    r.new = new;
    if (max == 0 || same)
        return c->self;
    value v = replace(s, &r, max < 0 ? UINT64_MAX : (uint64_t)max, c->self);
    if (v && v != c->self) {
        if (r.text->o.flags & new->o.flags & STRING_ASCII)
            sl_object(v)->flags |= STRING_ASCII;
        else
            sl_string_filled(v);
    }
    return v;
}

/* --- elems and its kin ------------------------------------------------------------ */

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

static value string_elems(struct star *s, const struct sl_call *c)
{
    return elems(s, c, T_STRING_ELEMS, ELEMS_CHARS);
}

static value string_elem_ords(struct star *s, const struct sl_call *c)
{
    return elems(s, c, T_STRING_ELEMS, ELEMS_ORDS);
}

static value string_codepoints(struct star *s, const struct sl_call *c)
{
    return elems(s, c, T_STRING_ELEMS, CODEPOINTS);
}

static value string_codepoint_ords(struct star *s, const struct sl_call *c)
{
    return elems(s, c, T_STRING_ELEMS, CODEPOINT_ORDS);
}

static value bytes_elems(struct star *s, const struct sl_call *c)
{
    return elems(s, c, T_BYTES_ELEMS, ELEMS_ORDS);
}

/* --- the tables ------------------------------------------------------------------------ */

sl_native *const sl_string_methods[METHOD_COUNT] = {
    [METHOD_capitalize] = sl_string_capitalize,
    [METHOD_codepoint_ords] = string_codepoint_ords,
    [METHOD_codepoints] = string_codepoints,
    [METHOD_count] = string_count,
    [METHOD_elem_ords] = string_elem_ords,
    [METHOD_elems] = string_elems,
    [METHOD_endswith] = string_endswith,
    [METHOD_find] = string_find,
    [METHOD_format] = sl_string_format,
    [METHOD_index] = string_index,
    [METHOD_isalnum] = sl_string_isalnum,
    [METHOD_isalpha] = sl_string_isalpha,
    [METHOD_isdigit] = sl_string_isdigit,
    [METHOD_islower] = sl_string_islower,
    [METHOD_isspace] = sl_string_isspace,
    [METHOD_istitle] = sl_string_istitle,
    [METHOD_isupper] = sl_string_isupper,
    [METHOD_join] = sl_string_join,
    [METHOD_lower] = sl_string_lower,
    [METHOD_lstrip] = sl_string_lstrip,
    [METHOD_partition] = sl_string_partition,
    [METHOD_removeprefix] = string_removeprefix,
    [METHOD_removesuffix] = string_removesuffix,
    [METHOD_replace] = string_replace,
    [METHOD_rfind] = string_rfind,
    [METHOD_rindex] = string_rindex,
    [METHOD_rpartition] = sl_string_rpartition,
    [METHOD_rsplit] = sl_string_rsplit,
    [METHOD_rstrip] = sl_string_rstrip,
    [METHOD_split] = sl_string_split,
    [METHOD_splitlines] = sl_string_splitlines,
    [METHOD_startswith] = string_startswith,
    [METHOD_strip] = sl_string_strip,
    [METHOD_title] = sl_string_title,
    [METHOD_upper] = sl_string_upper,
};

sl_native *const sl_bytes_methods[METHOD_COUNT] = {
    [METHOD_elems] = bytes_elems,
};
