#include "base/arena.h"
#include "base/splice.h"

#include "tap.h"

TEST(bytes_that_no_splice_covers_stay)
{
    struct arena a = {0};
    struct splices s = {.arena = &a};
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 64);
    splice_apply(&s, STR("abcdef"), &b);
    splice_add(&s, 0, 0, STR("<"));
    splice_add(&s, 1, 2, STR("BB"));
    splice_add(&s, 3, 4, STR(""));
    splice_add(&s, 6, 6, STR(">"));
    splice_apply(&s, STR("abcdef"), &b);
    CHECK_STR(b.p, "abcdef<aBBcef>");
    arena_done(&a);
}

TEST(removals_that_touch_are_one)
{
    struct arena a = {0};
    struct splices s = {.arena = &a};

    splice_add(&s, 1, 2, STR(""));
    splice_add(&s, 2, 3, STR(""));
    CHECK(s.count == 1 && s.items[0].from == 1 && s.items[0].to == 3);
    splice_add(&s, 3, 4, STR("x"));
    splice_add(&s, 5, 6, STR(""));
    CHECK(s.count == 3);
    arena_done(&a);
}
