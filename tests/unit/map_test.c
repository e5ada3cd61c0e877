#include "base/map.h"

#include "tap.h"

TEST(what_is_put_is_found)
{
    struct arena a = {0};
    struct map m;
    int x, y;

    map_init(&m, &a);
    CHECK(map_find(&m, STR("a")) == NULL && !map_has(&m, STR("a")));
    CHECK(map_put(&m, STR("a"), &x));
    CHECK(map_find(&m, STR("a")) == &x && map_has(&m, STR("a")));
    CHECK(!map_put(&m, STR("a"), &y));
    CHECK(map_find(&m, STR("a")) == &y && m.count == 1);
    CHECK(map_put(&m, STR(""), NULL));
    CHECK(map_has(&m, STR("")) && map_find(&m, STR("")) == NULL);
    CHECK(
        map_put(&m, str_make("a\0", 2), &x)); /* a NUL is a byte like others */
    CHECK(map_find(&m, STR("a")) == &y);
    arena_done(&a);
}

/* The same input writes the same bytes. */
TEST(order_is_the_order_of_insertion)
{
    struct arena a = {0};
    struct map m;
    bool good = true;

    map_init(&m, &a);
    for (size_t i = 0; i < 10000; i++)
        good &= map_put(&m, arena_printf(&a, "key-%zu", i), &m.entries);
    CHECK(good && m.count == 10000);
    for (size_t i = 0; i < 10000; i++) {
        struct str key = arena_printf(&a, "key-%zu", i);

        good &= str_eq(m.entries[i].key, key) && map_has(&m, key);
    }
    CHECK(good);
    CHECK(!map_has(&m, STR("key-10000")));
    arena_done(&a);
}

TEST(an_entry_is_added_once)
{
    struct arena a = {0};
    struct map m;
    struct map_entry *e;
    int x;

    map_init(&m, &a);
    e = map_entry(&m, STR("k"));
    CHECK(e->value == NULL && m.count == 1);
    e->value = &x;
    CHECK(map_entry(&m, STR("k"))->value == &x && m.count == 1);
    arena_done(&a);
}

/* Keys of every length go through the hash's blocks and tail. */
TEST(keys_of_all_lengths)
{
    struct arena a = {0};
    struct map m;
    char text[65];
    bool good = true;

    memset(text, 'k', sizeof text);
    map_init(&m, &a);
    for (size_t n = 0; n <= 65; n++)
        good &= map_put(&m, str_make(text, n), text + (n < 65 ? n : 64));
    for (size_t n = 0; n <= 65; n++)
        good &= map_find(&m, str_make(text, n)) == text + (n < 65 ? n : 64);
    CHECK(good && m.count == 66);
    arena_done(&a);
}
