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

/* Code points from *from on. Without `t`, up to the first that changes;
 * otherwise all, into it. Invalid bytes change: to U+FFFD. False: a budget
 * ended. */
static bool change_runes(struct star *s, const struct sl_string *x,
                         enum mode mode, bool *begun, size_t *from,
                         struct sl_text *t)
{
    size_t i = *from, paid = i;

    for (unsigned width = 1; i < x->length; i += width) {
        bool before = *begun;
        uint32_t r = (unsigned char)x->p[i], new;
        char out[4];

        width = 1;
        if (r >= 0x80)
            r = sl_rune(x->p + i, x->length - i, &width);
        new = change(mode, r, begun);
        if (t) {
            sl_text_put(t, out, sl_rune_encode(new, out));
        } else if (new != r || (r == SL_RUNE_INVALID && width == 1)) {
            *begun = before;
            break;
        }
        if (i - paid >= PIECE) {
            if (!sl_charge(s, PIECE / UNIT))
                return false;
            paid = i;
        }
    }
    *from = i;
    return true;
}

static value change_case(struct star *s, const struct sl_call *c,
                         enum mode mode)
{
    const struct sl_string *x = sl_string(c->self);
    bool begun = false;
    size_t i = 0;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    if (x->o.flags & STRING_ASCII)
        return mode <= LOWER
                   ? change_ascii(s, c->self, mode == UPPER ? 'a' : 'A')
                   : title_ascii(s, c->self, mode == CAPITALIZE);
    if (!change_runes(s, x, mode, &begun, &i, NULL))
        return 0;
    if (i == x->length)
        return c->self;

    struct sl_text t = {.s = s};
    sl_text_append(&t, x->p, i);
    if (!change_runes(s, x, mode, &begun, &i, &t)) {
        sl_text_free(&t);
        return 0;
    }
    return sl_text_string(&t);
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

/* What a test makes of the next code point; `state` is its own. */
enum verdict { NO, YES, YES_AND_COUNTS };
typedef enum verdict test(uint32_t r, bool valid, bool *state);

static enum verdict is_letter(uint32_t r, bool valid, bool *state)
{
    (void)valid, (void)state;
    bool letter = r < 0x80 ? (r | 32) - 'a' < 26 : sl_rune_is_letter(r);
    return letter ? YES_AND_COUNTS : NO;
}

static enum verdict is_digit(uint32_t r, bool valid, bool *state)
{
    (void)valid, (void)state;
    bool digit = r < 0x80 ? r - '0' < 10 : sl_rune_is_digit(r);
    return digit ? YES_AND_COUNTS : NO;
}

static enum verdict is_letter_or_digit(uint32_t r, bool valid, bool *state)
{
    return is_letter(r, valid, state) == NO ? is_digit(r, valid, state)
                                            : YES_AND_COUNTS;
}

static enum verdict is_space(uint32_t r, bool valid, bool *state)
{
    (void)valid, (void)state;
    return sl_rune_is_space(r) ? YES_AND_COUNTS : NO;
}

static enum verdict is_lower(uint32_t r, bool valid, bool *state)
{
    (void)state;
    if (!valid || sl_rune_lower(r) != r)
        return NO;
    return sl_rune_is_cased(r) ? YES_AND_COUNTS : YES;
}

static enum verdict is_upper(uint32_t r, bool valid, bool *state)
{
    (void)state;
    if (!valid || sl_rune_upper(r) != r)
        return NO;
    return sl_rune_is_cased(r) ? YES_AND_COUNTS : YES;
}

/* Capitals begin words and small letters go on. As in the reference, only ASCII
 * capitals and title-case letters can begin one. */
static enum verdict is_title(uint32_t r, bool valid, bool *in_word)
{
    bool ascii = r < 0x80;
    (void)valid;

    if (ascii ? r - 'A' < 26 : sl_rune_is_title(r)) {
        if (*in_word)
            return NO;
        *in_word = true;
        return YES_AND_COUNTS;
    }
    if (ascii ? r - 'a' < 26 : sl_rune_is_lower(r))
        return *in_word ? YES_AND_COUNTS : NO;
    if (!ascii && sl_rune_is_upper(r))
        return NO;
    *in_word = false;
    return YES;
}

/* All code points pass, and at least one counts. A loop of its own for each
 * test. */
static inline __attribute__((always_inline)) value
all_are(struct star *s, const struct sl_call *c, test *passes)
{
    const struct sl_string *x = sl_string(c->self);
    bool counts = false, state = false;
    size_t paid = 0;
    unsigned width = 1;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    for (size_t i = 0; i < x->length; i += width) {
        uint32_t r = (unsigned char)x->p[i];

        width = 1;
        if (r >= 0x80)
            r = sl_rune(x->p + i, x->length - i, &width);
        enum verdict v = passes(r, r != SL_RUNE_INVALID || width > 1, &state);
        if (v == NO)
            return V_FALSE;
        counts |= v == YES_AND_COUNTS;
        if (i - paid >= PIECE) {
            if (!sl_charge(s, PIECE / UNIT))
                return 0;
            paid = i;
        }
    }
    return sl_bool(counts);
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

value sl_string_islower(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, is_lower);
}

value sl_string_isspace(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, is_space);
}

value sl_string_istitle(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, is_title);
}

value sl_string_isupper(struct star *s, const struct sl_call *c)
{
    return all_are(s, c, is_upper);
}
