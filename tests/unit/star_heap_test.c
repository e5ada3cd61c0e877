#include "blocks.h"
#include "error.h"
#include "ops.h"
#include "tap.h"

/* The heap: its accounting, its limits, and what collection keeps. */

static struct star *open_with(size_t bytes)
{
    struct star_options o = {.limits.memory_bytes = bytes};

    return star_open(&o);
}

TEST(opens_and_closes)
{
    struct star *s = star_open(NULL);

    CHECK(s != NULL);
    CHECK(star_usage(s).memory_bytes > 0);
    CHECK(star_usage(s).memory_bytes < 200 * 1024);
    star_close(s);
    star_close(NULL);
}

/* STARLARK.md 1.4: garbage far beyond the limit, little alive. */
TEST(garbage_of_all_sizes_is_collected)
{
    static const size_t sizes[] = {1,    17,    100,    500,     600,    5000,
                                   8000, 20000, 200000, 1200000, 3000000};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct star *s = open_with((size_t)16 << 20);
        size_t made = 0, count = 0;

        while (made < (size_t)200 << 20 && count < 1000000) {
            struct sl_scope scope = sl_native_enter(s);
            char *p;
            value v = sl_text_room(s, T_STRING, sizes[i], &p);

            CHECK(v != 0);
            if (!v)
                break;
            memset(p, 'x', sizes[i]);
            made += sizes[i] + 24;
            count++;
            sl_native_leave(s, scope);
        }
        CHECK(star_usage(s).memory_peak_bytes <= (size_t)16 << 20);
        star_close(s);
    }
}

TEST(what_is_held_stays_and_the_limit_is_an_error)
{
    struct star *s = open_with((size_t)1 << 20);
    size_t count = 0, scope = star_scope_begin(s);
    value first = 0, v;

    while ((v = star_string(s, "some text of which there are many", 33))) {
        if (!first)
            first = v;
        count++;
    }
    CHECK(count > 8000);
    CHECK(star_error(s) == STAR_ERROR_MEMORY);
    CHECK(strncmp(sl_string(first)->p, "some text", 9) == 0);
    CHECK(star_usage(s).memory_peak_bytes <= (size_t)1 << 20);
    star_scope_end(s, scope);
    sl_error_clear(s);
    v = star_string(s, "some text of which there are many", 33);
    CHECK(v != 0);
    star_close(s);
}
