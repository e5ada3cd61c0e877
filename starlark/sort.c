#include <math.h>

#include "error.h"
#include "lib.h"
#include "text.h"

/*
 * A stable merge sort that uses the order it finds: runs that are sorted already
 * are taken as they are, falling ones turned around, and merged in the order of
 * "powersort" (Munro and Wild, 2018), which is within a hair of the best for any
 * pattern of runs. At worst n log n comparisons, whatever the input.
 *
 * What moves is a record of 16 bytes: a number that orders it, where one can, and
 * the place of the item. Ints and floats are such numbers; of a string it is the
 * first eight bytes; other keys are compared as values.
 */

struct record {
    uint64_t order;
    uint64_t index;
};

enum kind { BY_NUMBER, BY_TEXT, BY_VALUE };

struct sorter {
    struct star *s;
    const value *keys;
    enum kind kind;
    bool reverse;
    bool failed;
    value bad[2]; /* keys that could not be compared */
    struct record *r, *spare;
};

struct run {
    size_t begin, length;
    unsigned power;
};
#define RUNS_MAX 66 /* powers rise on the stack, and are below 64 */
#define RUN_MIN  SL_RARE(24, 2)

/* --- keys as numbers ----------------------------------------------------------------- */

static uint64_t order_of_int(value v)
{
    return v ^ 0x8000000000000000u;
}

static uint64_t order_of_float(value v)
{
    double d = sl_float_of(v);
    uint64_t bits;

    if (isnan(d))
        return UINT64_MAX; /* equal to itself, greater than all */
    if (d == 0)
        d = 0; /* -0.0 is no less */
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

static uint64_t order_of_value(value v)
{
    return v;
}

/* How keys of that type are compared, when all are of it. */
static uint64_t (*order_for(value v))(value)
{
    if (sl_is_int_word(v))
        return order_of_int;
    if (sl_type(v) == T_FLOAT)
        return order_of_float;
    if (sl_type(v) == T_STRING || sl_type(v) == T_BYTES)
        return order_of_text;
    return order_of_value;
}

static bool pay(struct sorter *t, uint64_t units)
{
    if (!t->failed && !sl_charge(t->s, units))
        t->failed = true;
    return !t->failed;
}

/* Whether all keys are of the first one's type, small ints or not. */
static bool alike(struct sorter *t, size_t n)
{
    enum sl_type type = sl_type(t->keys[0]);
    bool small = sl_is_int_word(t->keys[0]);

    for (size_t i = 1; i < n; i++)
        if (sl_type(t->keys[i]) != type ||
            sl_is_int_word(t->keys[i]) != small ||
            (i % 65536 == 0 && !pay(t, i / 8)))
            return false;
    return true;
}

static void make_records(struct sorter *t, size_t n)
{
    uint64_t (*order)(value) =
        alike(t, n) ? order_for(t->keys[0]) : order_of_value;
    uint64_t flip = t->reverse ? UINT64_MAX : 0;

    t->kind = order == order_of_text ? BY_TEXT : BY_NUMBER;
    if (order == order_of_value) {
        t->kind = BY_VALUE;
        flip = 0;
    }
    for (size_t i = 0; i < n && (i % 65536 || pay(t, 8192)); i++)
        t->r[i] = (struct record){order(t->keys[i]) ^ flip, i};
}

/* --- comparing ------------------------------------------------------------------------ */

static bool text_less(struct sorter *t, value a, value b)
{
    const struct sl_string *x = sl_string(a), *y = sl_string(b);
    size_t n = x->length < y->length ? x->length : y->length;

    if (!pay(t, n / 64))
        return false;
    return sl_text_compare(a, b) < 0;
}

static bool value_less(struct sorter *t, value a, value b)
{
    bool less = false;

    if (!sl_compare(t->s, OP_LT, a, b, &less)) {
        t->failed = true;
        t->bad[0] = a;
        t->bad[1] = b;
    }
    return less;
}

/* Whether `a` has to come before `b`. */
static inline bool before(struct sorter *t, const struct record *a,
                          const struct record *b)
{
    if (t->kind == BY_NUMBER)
        return a->order < b->order;
    if (t->kind == BY_VALUE)
        return t->reverse ? value_less(t, b->order, a->order)
                          : value_less(t, a->order, b->order);
    if (a->order != b->order)
        return a->order < b->order;
    value x = t->keys[a->index], y = t->keys[b->index];
    return t->reverse ? text_less(t, y, x) : text_less(t, x, y);
}

/* --- runs ------------------------------------------------------------------------------- */

/* How many records from `r` on are in order already; falling ones are turned. */
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

/* Extends a run of `sorted` records to `n`. */
static void insert(struct sorter *t, struct record *r, size_t sorted, size_t n)
{
    for (size_t i = sorted; i < n && !t->failed; i++) {
        struct record x = r[i];
        size_t j = i;
        for (; j > 0 && before(t, &x, &r[j - 1]); j--)
            r[j] = r[j - 1];
        r[j] = x;
    }
}

/* The first place from `low` on where `x` comes before what is there. */
static size_t upper_bound(struct sorter *t, const struct record *x,
                          const struct record *r, size_t n)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(t, x, &r[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The first place that does not come before `x`. */
static size_t lower_bound(struct sorter *t, const struct record *x,
                          const struct record *r, size_t n)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(t, &r[middle], x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* r[0..a) and r[a..a+b), through a copy of the first, the shorter one. */
static void merge_up(struct sorter *t, struct record *r, size_t a, size_t b)
{
    const struct record *x = t->spare, *x_end = x + a;
    const struct record *y = r + a, *y_end = y + b;

    memcpy(t->spare, r, a * sizeof *r);
    while (x < x_end && y < y_end) {
        if (!pay(t, 1))
            break;
        if (before(t, y, x))
            *r++ = *y++;
        else
            *r++ = *x++;
    }
    memcpy(r, x, (size_t)(x_end - x) * sizeof *r);
}

/* The same from the end, through a copy of the second. */
static void merge_down(struct sorter *t, struct record *r, size_t a, size_t b)
{
    const struct record *x = r + a, *x_end = r;
    const struct record *y = t->spare + b, *y_end = t->spare;
    struct record *to = r + a + b;

    memcpy(t->spare, r + a, b * sizeof *r);
    while (x > x_end && y > y_end) {
        if (!pay(t, 1))
            break;
        if (before(t, y - 1, x - 1))
            *--to = *--x;
        else
            *--to = *--y;
    }
    memcpy(to - (y - y_end), y_end, (size_t)(y - y_end) * sizeof *r);
}

/* Only what overlaps is merged: often little, or nothing. */
static void merge(struct sorter *t, const struct run *first, size_t length)
{
    struct record *r = t->r + first->begin;
    size_t a = first->length, b = length;
    size_t skip = upper_bound(t, &r[a], r, a);

    r += skip;
    a -= skip;
    if (a > 0 && !t->failed)
        b = lower_bound(t, &r[a - 1], r + a, b);
    if (a == 0 || b == 0 || t->failed)
        return;
    if (a <= b)
        merge_up(t, r, a, b);
    else
        merge_down(t, r, a, b);
}

/* How deep in a balanced tree over `n` places the border between the two runs is:
 * the first bit where the middles of both, as fractions of n, differ. */
static unsigned power_of(const struct run *a, size_t length, size_t n)
{
    uint64_t x = 2 * (uint64_t)a->begin + a->length;
    uint64_t y = x + a->length + length;
    unsigned power = 0;

    for (;; power++) {
        bool high = x >= n;
        if (high != (y >= n))
            return power;
        if (high) {
            x -= n;
            y -= n;
        }
        x *= 2;
        y *= 2;
    }
}

static void sort(struct sorter *t, size_t n)
{
    struct run stack[RUNS_MAX];
    size_t depth = 0, begin = 0;

    while (begin < n && !t->failed) {
        size_t length = take_run(t, t->r + begin, n - begin);
        if (length < RUN_MIN) {
            size_t wanted = n - begin < RUN_MIN ? n - begin : RUN_MIN;
            insert(t, t->r + begin, length, wanted);
            length = wanted;
        }
        unsigned power = depth > 0 ? power_of(&stack[depth - 1], length, n) : 0;
        while (depth > 1 && stack[depth - 1].power > power) {
            depth--;
            merge(t, &stack[depth - 1], stack[depth].length);
            stack[depth - 1].length += stack[depth].length;
        }
        stack[depth++] = (struct run){begin, length, power};
        begin += length;
        pay(t, RUN_MIN);
    }
    while (depth > 1) {
        depth--;
        merge(t, &stack[depth - 1], stack[depth].length);
        stack[depth - 1].length += stack[depth].length;
    }
}

/* --- the whole --------------------------------------------------------------------- */

/*
 * Which pair is named when keys cannot be compared: in short lists the one that
 * the reference implementation names, the last that fails in an insertion sort
 * that takes failure for "no".
 */
static void blame(struct sorter *t, size_t n)
{
    bool less;

    for (size_t i = 0; i < n; i++)
        t->r[i] = (struct record){t->keys[i], i};
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0; j--) {
            struct record x = t->r[j];
            sl_error_clear(t->s);
            if (!before(t, &x, &t->r[j - 1]))
                break;
            t->r[j] = t->r[j - 1];
            t->r[j - 1] = x;
        }
    sl_error_clear(t->s);
    sl_compare(t->s, OP_LT, t->bad[0], t->bad[1], &less);
}

/* The items in the order of the records; through the spare room. */
static void place(struct sorter *t, value *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        t->r[i].order = items[t->r[i].index];
    for (size_t i = 0; i < n; i++)
        items[i] = t->r[i].order;
}

static void turn(value *items, size_t n)
{
    for (size_t i = 0, j = n; i + 1 < j; i++) {
        value v = items[i];
        items[i] = items[--j];
        items[j] = v;
    }
}

/* Small ints that are in order, or in the opposite order without equal ones, need
 * no room. */
static bool sort_at_once(struct star *s, value *items, const value *keys,
                         size_t n, bool reverse)
{
    bool rising = true, falling = true, equal = false;

    for (size_t i = 1; i < n && (rising || falling); i++) {
        int64_t a = (int64_t)keys[i - 1], b = (int64_t)keys[i];
        if (!(a & b & 1) || (i % 65536 == 0 && !sl_charge(s, 4096)))
            return false;
        rising &= a <= b;
        falling &= a >= b;
        equal |= a == b;
    }
    if (reverse ? falling : rising)
        return true;
    if (equal || !(reverse ? rising : falling))
        return false;
    turn(items, n);
    return true;
}

bool sl_sort(struct star *s, value *items, const value *keys, size_t n,
             bool reverse)
{
    struct sorter t = {.s = s, .keys = keys, .reverse = reverse};
    size_t size = n * sizeof(struct record), half = (n / 2 + 1) * sizeof *t.r;

    if (n < 2)
        return true;
    if (!sl_charge(s, n / 16))
        return false;
    if (sort_at_once(s, items, keys, n, reverse))
        return true;
    t.r = sl_storage(s, size);
    t.spare = t.r ? sl_storage(s, half) : NULL;
    if (t.spare) {
        make_records(&t, n);
        sort(&t, n);
        if (!t.failed)
            place(&t, items, n);
        else if (n <= 20 && star_error(s) == STAR_ERROR_RUNTIME)
            blame(&t, n);
    }
    if (t.spare)
        sl_storage_free(s, t.spare, half);
    if (t.r)
        sl_storage_free(s, t.r, size);
    return t.spare && !t.failed;
}
