#include <math.h>

#include "../core/text.h"
#include "lib.h"

/*
 * A stable merge sort that uses existing order: sorted runs are kept,
 * descending ones reversed. It takes at most n log n comparisons for any input.
 *
 * Records of 16 bytes are moved: a number that orders the item, if possible,
 * and the index of the item. Ints and floats map to such numbers, a string to
 * its first eight bytes; other keys are compared as values.
 */

struct record {
    uint64_t order;
    uint64_t index;
};

struct sorter {
    struct star *s;
    const value *keys;
    size_t n;
    enum sl_type type; /* type of all keys; T_NONE if they are compared as
                        * values */
    bool reverse;
    bool failed;
    struct record *r, *spare;
};

#define RUNS_MAX 64 /* each run is at least twice as long as the one above it */
#define RUN_MIN  SL_RARE(24, 2)
#define FEW      20

/* --- keys as numbers ----------------------------------------------------------------- */

static uint64_t order_of_float(value v)
{
    double d = sl_float_of(v);
    uint64_t bits;

    if (isnan(d))
        return UINT64_MAX; /* NaN equals itself and is greater than all
                            * others */
    if (d == 0)
        d = 0; /* -0.0 equals 0 */
    memcpy(&bits, &d, sizeof bits);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}

static uint64_t order_of_text(value v)
{
    const struct sl_string *text = sl_string(v);
    unsigned char first[8] = {0};
    uint64_t order = 0;

    memcpy(first, text->p, text->length < 8 ? text->length : 8);
    for (int i = 0; i < 8; i++)
        order = order << 8 | first[i];
    return order;
}

static bool pay(struct sorter *t, uint64_t units)
{
    if (!t->failed && !sl_charge(t->s, units))
        t->failed = true;
    return !t->failed;
}

static bool pay_loop(struct sorter *t, size_t i)
{
    t->failed = t->failed || !sl_charge_loop(t->s, i, t->n);
    return !t->failed;
}

static bool is_text(const struct sorter *t)
{
    return t->type == T_STRING || t->type == T_BYTES;
}

static uint64_t order_of(const struct sorter *t, value v)
{
    if (t->type == T_NONE)
        return v;
    uint64_t order = t->type == T_INT     ? v ^ 0x8000000000000000u
                     : t->type == T_FLOAT ? order_of_float(v)
                                          : order_of_text(v);
    return t->reverse ? ~order : order;
}

static void make_records(struct sorter *t)
{
    t->type = sl_type(t->keys[0]);
    if (t->type != T_INT && t->type != T_FLOAT && !is_text(t))
        t->type = T_NONE;
    for (size_t i = 0; i < t->n && pay_loop(t, i); i++)
        if (sl_type(t->keys[i]) != t->type ||
            (t->type == T_INT && !sl_is_int_word(t->keys[i]))) {
            t->type = T_NONE;
            break;
        }
    for (size_t i = 0; i < t->n && pay_loop(t, i); i++)
        t->r[i] = (struct record){order_of(t, t->keys[i]), i};
}

/* --- comparing ------------------------------------------------------------------------ */

static bool keys_less(struct sorter *t, value a, value b)
{
    bool less = false;

    if (is_text(t)) {
        uint32_t x = sl_string(a)->length, y = sl_string(b)->length;
        return pay(t, (x < y ? x : y) / 64) && sl_text_compare(a, b) < 0;
    }
    if (!sl_compare(t->s, OP_LT, a, b, &less))
        t->failed = true;
    return less;
}

/* Whether `a` must precede `b`. */
static inline bool before(struct sorter *t, const struct record *a,
                          const struct record *b)
{
    if (t->type != T_NONE && a->order != b->order)
        return a->order < b->order;
    if (t->type == T_INT || t->type == T_FLOAT)
        return false;
    value x = t->keys[a->index], y = t->keys[b->index];
    return t->reverse ? keys_less(t, y, x) : keys_less(t, x, y);
}

/* --- runs ------------------------------------------------------------------------------- */

/* Returns how many records from `r` on are already in order; a descending run
 * is reversed. */
static size_t take_run(struct sorter *t, struct record *r, size_t n)
{
    size_t i = 2;

    if (n < 2)
        return n;
    if (!before(t, &r[1], &r[0])) {
        while (i < n && pay(t, 1) && !before(t, &r[i], &r[i - 1]))
            i++;
        return i;
    }
    while (i < n && pay(t, 1) && before(t, &r[i], &r[i - 1]))
        i++;
    for (size_t a = 0, b = i - 1; a < b; a++, b--) {
        struct record x = r[a];
        r[a] = r[b];
        r[b] = x;
    }
    return i;
}

/* Extends a run of `sorted` records to `n`. If keys cannot be compared, the
 * reference implementation treats the result as "not less", continues, and
 * reports the last such pair; this does the same, for short inputs. */
static void insert(struct sorter *t, struct record *r, size_t sorted, size_t n)
{
    for (size_t i = sorted; i < n && (!t->failed || t->n <= FEW); i++) {
        struct record x = r[i];
        size_t j = i;
        for (; j > 0 && before(t, &x, &r[j - 1]); j--)
            r[j] = r[j - 1];
        r[j] = x;
    }
}

/* Merges r[0..a) and r[a..a+b) through a copy of the first. */
static void merge(struct sorter *t, struct record *r, size_t a, size_t b)
{
    const struct record *x = t->spare, *x_end = x + a;
    const struct record *y = r + a, *y_end = y + b;

    if (!before(t, y, y - 1))
        return;
    if (t->failed ||
        !sl_copy(t->s, (char *)t->spare, (const char *)r, a * sizeof *r)) {
        t->failed = true;
        return;
    }
    while (x < x_end && y < y_end && pay(t, 1)) {
        if (before(t, y, x))
            *r++ = *y++;
        else
            *r++ = *x++;
    }
    if (!t->failed && !sl_copy(t->s, (char *)r, (const char *)x,
                               (size_t)(x_end - x) * sizeof *r))
        t->failed = true;
}

/* Merges a run with the one before it if that is less than twice as long. */
static void sort(struct sorter *t)
{
    size_t runs[RUNS_MAX] = {0}, depth = 0, end = 0;

    if (t->n <= FEW) {
        insert(t, t->r, 1, t->n);
        return;
    }
    while (end < t->n || depth > 1) {
        size_t last = depth > 0 ? runs[depth - 1] : 0;
        if (depth > 1 && (end == t->n || runs[depth - 2] / 2 < last)) {
            size_t first = runs[--depth - 1];
            merge(t, t->r + end - last - first, first, last);
            runs[depth - 1] = first + last;
            continue;
        }
        size_t length = take_run(t, t->r + end, t->n - end);
        if (length < RUN_MIN) {
            size_t wanted = t->n - end < RUN_MIN ? t->n - end : RUN_MIN;
            insert(t, t->r + end, length, wanted);
            length = wanted;
        }
        if (!pay(t, RUN_MIN))
            return;
        runs[depth++] = length;
        end += length;
    }
}

/* --- the whole --------------------------------------------------------------------- */

bool sl_sort(struct star *s, value *items, const value *keys, size_t n,
             bool reverse)
{
    struct sorter t = {.s = s, .keys = keys, .n = n, .reverse = reverse};
    size_t size = n * sizeof *t.r;

    if (n < 2)
        return true;
    if (!sl_charge(s, n / 16))
        return false;
    t.r = sl_storage(s, 2 * size);
    if (!t.r)
        return false;
    t.spare = t.r + n;
    make_records(&t);
    if (!t.failed) /* otherwise some records are missing */
        sort(&t);
    for (size_t i = 0; i < n && !t.failed; i++) /* the records are sorted; */
        t.r[i].order = items[t.r[i].index];
    for (size_t i = 0; i < n && !t.failed; i++) /* now move the items */
        items[i] = t.r[i].order;
    sl_storage_free(s, t.r, 2 * size);
    return !t.failed;
}
