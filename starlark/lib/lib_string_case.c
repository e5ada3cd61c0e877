#include "../core/text.h"

enum { PIECE = SL_RARE(64 * 1024, 64), UNIT = 64 };

/* Inlined once per mode, so that the loops do not test the mode. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

enum mode { UPPER, LOWER, TITLE, CAPITALIZE };

/* --- upper, lower, title, capitalize ------------------------------------------------ */

/* Returns the replacement of `c`. `begun`: a word, or the text, has already
 * begun. */
static ALWAYS_INLINE char change_byte(enum mode mode, char c, bool *begun)
{
    bool letter = (unsigned char)((c | 0x20) - 'a') < 26;
    bool small = mode == LOWER || (mode >= TITLE && *begun);

    *begun = letter || mode == CAPITALIZE;
    if (!letter)
        return c;
    return (char)(small ? c | 0x20 : c & ~0x20);
}

/* Returns 0x20 in each byte that is one of the 26 letters from `first` ('a' or
 * 'A') on; all bytes are ASCII. */
static inline uint64_t letters(uint64_t v, uint64_t first)
{
    const uint64_t each = 0x0101010101010101u;
    uint64_t from = v + each * (0x80 - first);
    uint64_t past = v + each * (0x80 - 26 - first);

    return ((from ^ past) & each * 0x80) >> 2;
}

/* With `out` NULL, only determines whether anything changes. */
static ALWAYS_INLINE bool change_piece(enum mode mode, const char *p, size_t n,
                                       bool *begun, char *out)
{
    uint64_t word, change;
    size_t i = 0;

    for (; mode <= LOWER && i + 8 <= n; i += 8) {
        memcpy(&word, p + i, sizeof word);
        change = letters(word, mode == UPPER ? 'a' : 'A');
        word ^= change;
        if (out)
            memcpy(out + i, &word, sizeof word);
        else if (change)
            return true;
    }
    for (; i < n; i++) {
        char c = change_byte(mode, p[i], begun);
        if (out)
            out[i] = c;
        else if (c != p[i])
            return true;
    }
    return false;
}

static ALWAYS_INLINE value change_ascii(struct star *s, value self,
                                        enum mode mode)
{
    const struct sl_string *x = sl_string(self);
    bool begun = false;
    value v = self;
    char *p = NULL; /* allocated at the first change */

    for (size_t i = 0, n; i < x->length; i += n) {
        bool before = begun;
        n = x->length - i < PIECE ? x->length - i : PIECE;
        if (!sl_charge(s, 1 + n / UNIT))
            return 0;
        if (!p && change_piece(mode, x->p + i, n, &begun, NULL)) {
            v = sl_text_room(s, T_STRING, x->length, &p);
            if (!v || !sl_copy(s, p, x->p, i))
                return 0;
        }
        begun = p ? before : begun;
        if (p)
            change_piece(mode, x->p + i, n, &begun, p + i);
    }
    sl_object(v)->flags |= STRING_ASCII;
    return v;
}

/* Like change_byte, for any code point. */
static uint32_t change(enum mode mode, uint32_t r, bool *begun)
{
    bool small = mode == LOWER || (mode >= TITLE && *begun);

    if (small)
        r = sl_rune_lower(r);
    else
        r = mode == UPPER ? sl_rune_upper(r) : sl_rune_title(r);
    if (mode >= TITLE)
        *begun = mode == CAPITALIZE || sl_rune_is_cased(r);
    return r;
}

/* Iterates over code points, with checks of the budget. */
struct runes {
    const char *p, *end;
    size_t unpaid;
    uint32_t r;
    bool valid;
};

static struct runes runes_of(value string)
{
    const struct sl_string *x = sl_string(string);

    return (struct runes){.p = x->p, .end = x->p + x->length};
}

/* Returns false at the end, or if a limit is reached. */
static inline bool next_rune(struct star *s, struct runes *it)
{
    unsigned width = 1;

    if (it->p == it->end)
        return false;
    if (it->unpaid >= UNIT) {
        if (!sl_charge(s, it->unpaid / UNIT))
            return false;
        it->unpaid = 0;
    }
    it->r = (unsigned char)*it->p;
    if (it->r >= 0x80)
        it->r = sl_rune(it->p, (size_t)(it->end - it->p), &width);
    it->valid = it->r != SL_RUNE_INVALID || width > 1;
    it->p += width;
    it->unpaid += width;
    return true;
}

/* Invalid bytes also change, to U+FFFD. */
static value change_runes(struct star *s, value self, enum mode mode)
{
    struct runes it = runes_of(self);
    char few[SL_TEXT_LOCAL_BYTES];
    struct sl_text t = SL_TEXT_IN(s, few);
    bool begun = false, changed = false;

    while (!t.failed && next_rune(s, &it)) {
        uint32_t new = change(mode, it.r, &begun);
        changed = changed || new != it.r || !it.valid;
        sl_text_rune(&t, new);
    }
    bool done = it.p == it.end && !t.failed;
    if (done && changed)
        return sl_text_string(&t);
    sl_text_free(&t);
    return done ? self : 0;
}

static ALWAYS_INLINE value change_case(struct star *s, const struct sl_call *c,
                                       enum mode mode)
{
    if (!sl_want_args(s, c, 0, 0))
        return 0;
    return sl_object(c->self)->flags & STRING_ASCII
               ? change_ascii(s, c->self, mode)
               : change_runes(s, c->self, mode);
}

/* --- isalpha and its kin ------------------------------------------------------------- */

static value all_are(struct star *s, const struct sl_call *c, unsigned classes)
{
    struct runes it = runes_of(c->self);

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    while (next_rune(s, &it)) {
        if (!(sl_rune_class(it.r) & classes))
            return V_FALSE;
    }
    return it.p < it.end ? 0 : sl_bool(sl_string(c->self)->length);
}

/* Whether the conversion would change nothing, and there is a cased letter. */
static value is_in_case(struct star *s, const struct sl_call *c,
                        uint32_t (*in_case)(uint32_t r))
{
    struct runes it = runes_of(c->self);
    bool cased = false;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    while (next_rune(s, &it)) {
        if (!it.valid || in_case(it.r) != it.r)
            return V_FALSE;
        cased = cased || sl_rune_is_cased(it.r);
    }
    return it.p < it.end ? 0 : sl_bool(cased);
}

/* Words begin with a capital and continue with small letters. As in the
 * reference, only ASCII capitals and title-case letters can begin one. */
value sl_string_istitle(struct star *s, const struct sl_call *c)
{
    struct runes it = runes_of(c->self);
    bool in_word = false, cased = false;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    while (next_rune(s, &it)) {
        unsigned class = sl_rune_class(it.r);
        bool begins = it.r - 'A' < 26 || class & RUNE_TITLE;
        bool goes_on = !begins && class & RUNE_LOWER;
        if (begins ? in_word : goes_on ? !in_word : class & RUNE_UPPER)
            return V_FALSE;
        in_word = begins || goes_on;
        cased = cased || in_word;
    }
    return it.p < it.end ? 0 : sl_bool(cased);
}

/* clang-format off */
#define METHOD(name, result)                                                   \
    value sl_string_##name(struct star *s, const struct sl_call *c)            \
    {                                                                          \
        return result;                                                         \
    }
METHOD(upper, change_case(s, c, UPPER))
METHOD(lower, change_case(s, c, LOWER))
METHOD(title, change_case(s, c, TITLE))
METHOD(capitalize, change_case(s, c, CAPITALIZE))
METHOD(isalnum, all_are(s, c, RUNE_LETTER | RUNE_DIGIT))
METHOD(isalpha, all_are(s, c, RUNE_LETTER))
METHOD(isdigit, all_are(s, c, RUNE_DIGIT))
METHOD(isspace, all_are(s, c, RUNE_SPACE))
METHOD(islower, is_in_case(s, c, sl_rune_lower))
METHOD(isupper, is_in_case(s, c, sl_rune_upper))
#undef METHOD
/* clang-format on */
