#include "text.h"

enum { PIECE = 64 * 1024, UNIT = 64 };

/* --- upper and lower of ASCII ---------------------------------------------------- */

/* 0x20 in each byte that is a letter from `first` ('a' or 'A') to the 26th; all
 * bytes are ASCII. */
static inline uint64_t letters(uint64_t v, unsigned char first)
{
    uint64_t from = v + SL_EACH_BYTE(0x80 - first);
    uint64_t past = v + SL_EACH_BYTE(0x80 - 26 - first);

    return ((from ^ past) & SL_EACH_BYTE(0x80)) >> 2;
}

/* Changes the letters of [from, to), which begins at a multiple of eight. Without
 * `out` it only says whether there are any. */
static inline bool change_letters(const char *p, size_t from, size_t to,
                                  unsigned char first, char *out)
{
    uint64_t any = 0;
    size_t i = from;

    for (; i + 8 <= to; i += 8) {
        uint64_t word = sl_load8(p + i), change = letters(word, first);
        any |= change;
        if (out)
            sl_store8(out + i, word ^ change);
    }
    for (; i < to; i++) {
        bool letter = (unsigned char)(p[i] - first) < 26;
        any |= letter;
        if (out)
            out[i] = (char)(p[i] ^ letter << 5);
    }
    return any;
}

static value change_ascii(struct star *s, value self, unsigned char first)
{
    const struct sl_string *x = sl_string(self);
    char *p = NULL;
    value v = self;

    if (x->length == 1 && change_letters(x->p, 0, 1, first, NULL))
        return sl_string_char(s, (unsigned char)(x->p[0] ^ 0x20));
    for (size_t i = 0, end; i < x->length; i = end) {
        end = x->length - i > PIECE ? i + PIECE : x->length;
        if (!sl_charge(s, 1 + (end - i) / UNIT))
            return 0;
        if (!p && change_letters(x->p, i, end, first, NULL)) {
            v = sl_text_room(s, T_STRING, x->length, &p);
            if (!v || !sl_copy(s, p, x->p, i))
                return 0;
        }
        if (p)
            change_letters(x->p, i, end, first, p);
    }
    sl_object(v)->flags |= STRING_ASCII;
    return v;
}

/* --- title and capitalize of ASCII ----------------------------------------------- */

/* The letter or other that takes the place of `c`. `begun`: a word has begun
 * before it; or in `once`, the text has. */
static inline char title_byte(unsigned char c, bool *begun, bool once)
{
    bool letter = (c | 32u) - 'a' < 26;
    unsigned changed = *begun ? c | 32u : c & ~32u;

    *begun = letter || once;
    return (char)(letter ? changed : c);
}

static value title_ascii(struct star *s, value self, bool once)
{
    const struct sl_string *x = sl_string(self);
    bool begun = false, changed = false;
    char *p;
    value v = sl_text_room(s, T_STRING, x->length, &p);

    for (size_t i = 0; v && i < x->length; i++) {
        if (i % PIECE == 0 && !sl_charge(s, PIECE / UNIT))
            return 0;
        p[i] = title_byte((unsigned char)x->p[i], &begun, once);
        changed |= p[i] != x->p[i];
    }
    if (!v || !changed)
        return v ? self : 0;
    sl_object(v)->flags |= STRING_ASCII;
    return v;
}

/* --- the case of any text --------------------------------------------------------- */

enum mode { UPPER, LOWER, TITLE, CAPITALIZE };

/* The code point that takes the place of `r`. `begun`: a word, or the text, has
 * begun before it. */
static inline uint32_t change(enum mode mode, uint32_t r, bool *begun)
{
    bool first = !*begun;

    switch (mode) {
    case UPPER:
        return sl_rune_upper(r);
    case LOWER:
        return sl_rune_lower(r);
    case CAPITALIZE:
        *begun = true;
        return first ? sl_rune_title(r) : sl_rune_lower(r);
    default:
        r = first ? sl_rune_title(r) : sl_rune_lower(r);
        *begun = sl_rune_is_cased(r);
        return r;
    }
}

/* One code point after the other, with looks at the budget on the way. */
struct runes {
    struct star *s;
    const char *p, *end;
    size_t unpaid;
    uint32_t r;
    bool valid, failed;
};

static struct runes runes_of(struct star *s, const struct sl_string *x)
{
    return (struct runes){.s = s, .p = x->p, .end = x->p + x->length};
}

static inline bool next_rune(struct runes *it)
{
    unsigned width = 1;

    if (it->p == it->end)
        return false;
    if (it->unpaid >= PIECE) {
        it->unpaid = 0;
        it->failed = !sl_charge(it->s, PIECE / UNIT);
        if (it->failed)
            return false;
    }
    it->r = (unsigned char)*it->p;
    if (it->r >= 0x80)
        it->r = sl_rune(it->p, (size_t)(it->end - it->p), &width);
    it->valid = it->r != SL_RUNE_INVALID || width > 1;
    it->p += width;
    it->unpaid += width;
    return true;
}

/* Invalid bytes change as well: to U+FFFD. */
static value change_runes(struct star *s, value self, enum mode mode)
{
    struct runes it = runes_of(s, sl_string(self));
    const char *from = it.p;
    char few[SL_TEXT_LOCAL_BYTES], out[4];
    struct sl_text t = SL_TEXT_IN(s, few);
    bool begun = false, changed = false;

    while (!t.failed && next_rune(&it)) {
        uint32_t new = change(mode, it.r, &begun);
        size_t width = (size_t)(it.p - from);
        if (new == it.r && it.valid) {
            sl_text_put(&t, from, width);
        } else {
            sl_text_put(&t, out, sl_rune_encode(new, out));
            changed = true;
        }
        from = it.p;
    }
    if (changed && !it.failed)
        return sl_text_string(&t);
    bool failed = it.failed || t.failed;
    sl_text_free(&t);
    return failed ? 0 : self;
}

static value change_case(struct star *s, const struct sl_call *c,
                         enum mode mode)
{
    if (!sl_want_args(s, c, 0, 0))
        return 0;
    if (!(sl_object(c->self)->flags & STRING_ASCII))
        return change_runes(s, c->self, mode);
    if (mode == UPPER || mode == LOWER)
        return change_ascii(s, c->self, mode == UPPER ? 'a' : 'A');
    return title_ascii(s, c->self, mode == CAPITALIZE);
}

value sl_string_upper(struct star *s, const struct sl_call *c)
{
    return change_case(s, c, UPPER);
}

value sl_string_lower(struct star *s, const struct sl_call *c)
{
    return change_case(s, c, LOWER);
}

value sl_string_title(struct star *s, const struct sl_call *c)
{
    return change_case(s, c, TITLE);
}

value sl_string_capitalize(struct star *s, const struct sl_call *c)
{
    return change_case(s, c, CAPITALIZE);
}

/* --- isalpha and its kin ------------------------------------------------------------- */

static bool is_letter(uint32_t r)
{
    return r < 0x80 ? (r | 32) - 'a' < 26 : sl_rune_is_letter(r);
}

static bool is_digit(uint32_t r)
{
    return r < 0x80 ? r - '0' < 10 : sl_rune_is_digit(r);
}

static bool is_letter_or_digit(uint32_t r)
{
    return is_letter(r) || is_digit(r);
}

/* A loop of its own for each test, so that it is part of the loop. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE value all_are(struct star *s, const struct sl_call *c,
                                   bool (*is)(uint32_t r))
{
    struct runes it = runes_of(s, sl_string(c->self));

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    while (next_rune(&it)) {
        if (!is(it.r))
            return V_FALSE;
    }
    return it.failed ? 0 : sl_bool(sl_string(c->self)->length);
}

value sl_string_isalnum(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, is_letter_or_digit);
}

value sl_string_isalpha(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, is_letter);
}

value sl_string_isdigit(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, is_digit);
}

value sl_string_isspace(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, sl_rune_is_space);
}

/* Nothing changes, and there is a letter that could. */
static ALWAYS_INLINE value is_in_case(struct star *s, const struct sl_call *c,
                                      uint32_t (*in_case)(uint32_t r))
{
    struct runes it = runes_of(s, sl_string(c->self));
    bool cased = false;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    while (next_rune(&it)) {
        if (!it.valid || in_case(it.r) != it.r)
            return V_FALSE;
        cased = cased || sl_rune_is_cased(it.r);
    }
    return it.failed ? 0 : sl_bool(cased);
}

value sl_string_islower(struct star *s, const struct sl_call *c)
{
    return is_in_case(s, c, sl_rune_lower);
}

value sl_string_isupper(struct star *s, const struct sl_call *c)
{
    return is_in_case(s, c, sl_rune_upper);
}

/* Capitals begin words and small letters go on. As in the reference, only ASCII
 * capitals and title-case letters can begin one. */
value sl_string_istitle(struct star *s, const struct sl_call *c)
{
    struct runes it = runes_of(s, sl_string(c->self));
    bool in_word = false, cased = false;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    while (next_rune(&it)) {
        bool begins = it.r - 'A' < 26 || sl_rune_is_title(it.r);
        bool goes_on = !begins && sl_rune_is_lower(it.r);
        if (begins ? in_word : goes_on ? !in_word : sl_rune_is_upper(it.r))
            return V_FALSE;
        in_word = begins || goes_on;
        cased = cased || in_word;
    }
    return it.failed ? 0 : sl_bool(cased);
}
