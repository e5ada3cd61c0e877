#include "core/table.h"
#include "star_ops.h"

/* Dicts and sets: against an array that is searched from its beginning. */

#define KEYS 300

static uint64_t seed = 99;

struct model {
    int count;
    int64_t keys[KEYS], values[KEYS];
};

static int model_find(const struct model *m, int64_t key)
{
    for (int i = 0; i < m->count; i++)
        if (m->keys[i] == key)
            return i;
    return -1;
}

static void model_set(struct model *m, int64_t key, int64_t v)
{
    int i = model_find(m, key);

    if (i < 0)
        m->keys[i = m->count++] = key;
    m->values[i] = v;
}

static bool model_remove(struct model *m, int64_t key)
{
    int i = model_find(m, key);

    if (i < 0)
        return false;
    m->count--;
    memmove(m->keys + i, m->keys + i + 1,
            (size_t)(m->count - i) * sizeof *m->keys);
    memmove(m->values + i, m->values + i + 1,
            (size_t)(m->count - i) * sizeof *m->values);
    return true;
}

/* Keys of all kinds, one for each number. */
static value key_of(struct star *s, int64_t n)
{
    char text[24];
    int length = snprintf(text, sizeof text, "key %lld", (long long)n);
    value v;

    switch (n % 6) {
    case 0:
        return sl_word(n << 40);
    case 1:
        return sl_string_new(s, text, (size_t)length);
    case 2:
        return sl_float(s, (double)n + .5);
    case 3:
        v = sl_tuple_new(s, 2);
        sl_tuple(v)->items[0] = sl_word(n);
        sl_tuple(v)->items[1] = sl_string_new(s, text, (size_t)length);
        return v;
    case 4:
        return sl_bytes_new(s, text, (size_t)length);
    default:
        return binary(s, OP_MUL, sl_word(INT64_C(1) << 61), sl_word(n));
    }
}

static void check_same(struct star *s, value table, const struct model *m)
{
    uint32_t i = 0;
    int n = 0;

    CHECK(sl_table(table)->count == (uint32_t)m->count);
    for (struct sl_entry *e; (e = sl_table_next(table, &i)); i++, n++) {
        bool equal = false;
        CHECK(n < m->count &&
              sl_equal(s, e->key, key_of(s, m->keys[n]), &equal));
        CHECK(equal && e->value == sl_word(m->values[n]));
    }
    CHECK(n == m->count);
}

static void one_step(struct star *s, value table, struct model *m, int kinds)
{
    int64_t n = (int64_t)(random_bits(&seed) % KEYS);
    value key = key_of(s, n), out = 1234;
    int i = model_find(m, n);

    switch (random_bits(&seed) % (unsigned)kinds) {
    case 0:
        CHECK(sl_table_find(s, table, key, &out));
        CHECK(out == (i < 0 ? 0 : sl_word(m->values[i])));
        break;
    case 1:
        CHECK(sl_table_remove(s, table, key, &out));
        CHECK(out == (i < 0 ? 0 : sl_word(m->values[i])));
        model_remove(m, n);
        break;
    case 2: /* the first one */
        if (m->count) {
            uint32_t first = 0;
            struct sl_entry *e = sl_table_next(table, &first);
            CHECK(e && e->value == sl_word(m->values[0]));
            CHECK(sl_table_remove(s, table, e->key, NULL));
            model_remove(m, m->keys[0]);
        }
        break;
    default:
        CHECK(sl_table_set(s, table, key, sl_word(n * 7)));
        model_set(m, n, n * 7);
        break;
    }
}

TEST(as_a_list_that_is_searched)
{
    for (int kinds = 3; kinds < 9; kinds++) {
        struct star *s = open_star();
        value table = sl_dict_new(s, 0);
        struct model m = {0};
        for (int i = 0; i < 4000; i++) {
            size_t scope = star_scope_begin(s);
            one_step(s, table, &m, kinds);
            if (i % 100 == 0)
                check_same(s, table, &m);
            if (i == 3000) {
                sl_table_clear(s, table);
                m.count = 0;
            }
            star_scope_end(s, scope);
        }
        check_same(s, table, &m);
        star_close(s);
    }
}

/* STARLARK.md 5: what made others quadratic. */
TEST(chosen_keys_do_not_meet)
{
    for (int shift = 0; shift < 62; shift++) {
        struct star *s = open_star();
        value table = sl_dict_new(s, 0);
        int64_t count = shift < 48 ? 10000 : INT64_C(1) << (61 - shift);
        uint64_t probes = 0;

        for (int64_t i = 0; i < count; i++)
            CHECK(sl_table_set(
                s, table, sl_word((int64_t)((uint64_t)i << shift)), V_NONE));
        const struct sl_table *t = sl_table(table);
        CHECK(t->count == (uint32_t)count);
        for (uint32_t i = 0; t->index && i < t->used; i++) {
            uint32_t slot = t->entries[i].hash & t->index_mask;
            for (; t->index[slot] != i + 1; slot = (slot + 1) & t->index_mask)
                probes++;
        }
        CHECK(probes < (uint64_t)count * 4 + 100);
        star_close(s);
    }
}

TEST(ints_floats_and_bools_as_keys) /* rows 29, 34 */
{
    struct star *s = open_star();
    value d = sl_dict_new(s, 0), out;
    value large = sl_int_from_double(s, 1e300);

    CHECK(sl_table_set(s, d, sl_word(1), sl_word(10)));
    CHECK(sl_table_set(s, d, sl_float(s, 1), sl_word(11)));
    CHECK(sl_table_set(s, d, V_TRUE, sl_word(12)));
    CHECK(sl_table_set(s, d, large, sl_word(13)));
    CHECK(sl_table_set(s, d, sl_float(s, 1e300), sl_word(14)));
    CHECK(sl_table_set(s, d, sl_float(s, 0.0 / 0.0), sl_word(15)));
    CHECK(sl_table_set(s, d, sl_float(s, -(0.0 / 0.0)), sl_word(16)));
    CHECK(sl_table_set(s, d, sl_word(0), sl_word(17)));
    CHECK(sl_table_set(s, d, sl_float(s, -0.0), sl_word(18)));
    CHECK(sl_table(d)->count == 5);
    CHECK(sl_table_find(s, d, sl_word(1), &out) && out == sl_word(11));
    CHECK(sl_table_find(s, d, large, &out) && out == sl_word(14));
    CHECK(sl_table_find(s, d, V_FALSE, &out) && out == 0);
    /* The first key stays. */
    CHECK(sl_is_int_word(sl_table(d)->entries[0].key));
    /* With an index, too. */
    for (int i = 2; i < 100; i++)
        CHECK(sl_table_set(s, d, sl_word(i), sl_word(i)));
    CHECK(sl_table_find(s, d, sl_float(s, 77), &out) && out == sl_word(77));
    CHECK(sl_table_find(s, d, sl_float(s, 77.5), &out) && out == 0);
    CHECK(sl_table_find(s, d, sl_float(s, 1e300), &out) && out == sl_word(14));
    star_close(s);
}

TEST(lookups_of_the_vm)
{
    struct star *s = open_star();
    value d = sl_dict_new(s, 0);
    char text[20];

    for (int round = 0; round < 2; round++) { /* small, then with an index */
        for (int i = round * 4; i < 4 + 500 * round; i++) {
            int n = snprintf(text, sizeof text, "name%d", i);
            CHECK(sl_table_set(s, d, sl_string_new(s, text, (size_t)n),
                               sl_word(i)));
            CHECK(sl_table_set(s, d, sl_word(i), sl_word(-i)));
        }
        for (int i = 0; i < 4 + 500 * round; i++) {
            size_t n = (size_t)snprintf(text, sizeof text, "name%d", i);
            value key = sl_string_new(s, text, n);
            struct sl_entry *e = sl_table_find_string(s, d, key);
            CHECK(e && e->value == sl_word(i));
            CHECK(sl_table_get_text(s, d, text, n) == sl_word(i));
            e = sl_table_find_word(s, d, sl_word(i));
            CHECK(e && e->value == sl_word(-i));
        }
        CHECK(!sl_table_find_word(s, d, sl_word(100000)));
        CHECK(!sl_table_find_string(s, d, string_of(s, "nam")));
        CHECK(sl_table_get_text(s, d, "", 0) == 0);
    }
    star_close(s);
}

/* Each costs the same, however many were there before: else minutes. */
TEST(emptied_tables_cost_what_is_in_them)
{
    struct star *s = open_star();
    value d = sl_dict_new(s, 0);
    uint32_t i = 0;

    for (int n = 0; n < 300000; n++)
        CHECK(sl_table_set(s, d, sl_word(n), V_NONE));
    for (int n = 0; n < 299990; n++) { /* the first, again and again */
        i = 0;
        struct sl_entry *e = sl_table_next(d, &i);
        CHECK(e && e->key == sl_word(n));
        CHECK(sl_table_remove(s, d, e->key, NULL));
    }
    CHECK(sl_table(d)->count == 10);
    for (int n = 0; n < 300000; n++) { /* one in, one out, and a look */
        CHECK(sl_table_set(s, d, sl_word(n), V_NONE));
        i = 0;
        CHECK(sl_table_next(d, &i) != NULL);
        CHECK(sl_table_remove(s, d, sl_word(n), NULL));
    }
    star_close(s);
}

TEST(room_is_used_again)
{
    struct star *s = open_star();
    value d = sl_dict_new(s, 0);

    for (int n = 0; n < 100000; n++) {
        CHECK(sl_table_set(s, d, sl_word(n), V_NONE));
        if (n >= 20)
            CHECK(sl_table_remove(s, d, sl_word(n - 20), NULL));
    }
    CHECK(sl_table(d)->count == 20 && sl_table(d)->capacity <= 128);
    star_close(s);
}

TEST(keys_that_cannot_be) /* row 30 */
{
    struct star *s = open_star();
    value d = sl_dict_new(s, 0), out = 77, t = sl_tuple_new(s, 1);

    sl_tuple(t)->items[0] = sl_set_new(s, 0);
    sl_host_enter(s);
    CHECK(!sl_table_find(s, d, sl_list_new(s, 0), &out) && out == 77);
    CHECK_STR(star_error_message(s), "unhashable type: list");
    sl_host_leave(s);
    sl_host_enter(s);
    CHECK(!sl_table_set(s, d, t, V_NONE));
    CHECK_STR(star_error_message(s), "unhashable type: set");
    sl_host_leave(s);
    sl_host_enter(s);
    CHECK(!sl_table_remove(s, d, sl_range_new(s, 0, 1, 1), NULL));
    CHECK_STR(star_error_message(s), "unhashable: range");
    sl_host_leave(s);
    star_close(s);
}

TEST(a_table_that_cannot_grow_stays_as_it_was)
{
    struct star_options o = {.limits.memory_bytes = 1 << 20};
    struct star *s = star_open(&o);
    value d = sl_dict_new(s, 0), out;
    int n = 0;

    sl_host_enter(s);
    while (n < 1000000 && sl_table_set(s, d, sl_word(n), sl_word(n)))
        n++;
    CHECK(star_error(s) == STAR_ERROR_MEMORY && n < 100000 && n > 1000);
    sl_host_leave(s);
    CHECK(sl_table(d)->count == (uint32_t)n);
    for (int i = 0; i < n; i++)
        CHECK(sl_table_find(s, d, sl_word(i), &out) && out == sl_word(i));
    CHECK(star_usage(s).memory_peak_bytes <= 1 << 20);
    star_close(s);
}

/* STARLARK.md 1.6: keys whose hashes happen to be the same cost no steps: the seed, which is
 * another in each interpreter, would show in them. */
TEST(keys_that_meet_cost_nothing)
{
    for (int kind = 0; kind < 3; kind++) {
        uint64_t steps[2];
        for (int meet = 0; meet < 2; meet++) {
            struct star *s = star_open(NULL);
            value keys[3], out = V_NONE, d = sl_dict_new(s, 0);
            uint32_t hash;
            for (int i = 0; i < 3; i++) {
                value item = sl_word(i);
                char text[300];
                memset(text, 'a' + i, sizeof text);
                keys[i] = kind == 0   ? star_tuple(s, &item, 1)
                          : kind == 1 ? sl_bytes_new(s, text, sizeof text)
                                      : sl_string_new(s, text, sizeof text);
            }
            CHECK(d && keys[0] && keys[1] && keys[2]);
            CHECK(sl_hash(s, keys[2], &hash));
            for (int i = 0; i < 2; i++)
                CHECK(sl_table_add(s, d, keys[i], meet ? hash : hash + 1, 1));
            steps[meet] = star_usage(s).steps;
            CHECK(sl_table_find(s, d, keys[2], &out) && !out);
            steps[meet] = star_usage(s).steps - steps[meet];
            star_close(s);
        }
        CHECK(steps[0] == steps[1]);
    }
}
