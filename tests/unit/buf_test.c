#include "base/buf.h"

#include "tap.h"

TEST(text_is_built_piece_by_piece)
{
    struct buf b;
    struct err e = {0};

    buf_init(&b, 10000);
    CHECK_STR(buf_str(&b).p, "");
    buf_text(&b, "a");
    buf_char(&b, 'b');
    buf_append(&b, STR("cd"));
    buf_append(&b, (struct str){0});
    buf_printf(&b, "%s%d", "e", 5);
    CHECK_STR(b.p, "abcde5");
    CHECK(buf_str(&b).n == 6);
    buf_printf(&b, "%05000d", 1);
    CHECK(b.n == 5006 && b.p[b.n] == '\0' && buf_check(&b, "text", &e));
    buf_clear(&b);
    CHECK(b.n == 0 && b.p[0] == '\0' && b.max == 10000);
    buf_done(&b);
    buf_done(&b);
    CHECK(b.p == NULL && b.max == 10000);
    buf_text(&b, "again");
    CHECK_STR(b.p, "again");
    buf_done(&b);
}

/* The maximum itself fits, one more does not, and that is remembered. */
TEST(past_the_maximum_it_only_remembers)
{
    struct buf b;
    struct err e = {0};

    buf_init(&b, 64);
    for (int i = 0; i < 64; i++)
        buf_char(&b, 'x');
    CHECK(b.n == 64 && !b.overflowed && buf_check(&b, "text", &e));
    buf_append(&b, STR(""));
    CHECK(!b.overflowed);
    buf_char(&b, 'y');
    CHECK(b.overflowed && b.n == 64 && b.p[63] == 'x');
    CHECK(!buf_check(&b, "the list", &e) && e.code == ERR_LIMIT);
    CHECK_STR(err_first(&e), "the list: larger than 64 bytes");
    buf_clear(&b);
    CHECK(!b.overflowed);
    buf_text(&b, "fits");
    CHECK_STR(b.p, "fits");
    CHECK(buf_reserve(&b, SIZE_MAX) == NULL && b.overflowed);
    buf_printf(&b, "x");
    CHECK(b.n == 4);
    buf_done(&b);

    buf_init(&b, 0);
    buf_text(&b, "");
    CHECK(!b.overflowed);
    buf_text(&b, "x");
    CHECK(b.overflowed);
    buf_done(&b);
}

TEST(reserved_room_is_filled_by_the_caller)
{
    struct buf b;
    char *room;

    buf_init(&b, 1 << 20);
    buf_text(&b, "ab");
    room = buf_reserve(&b, 100000);
    CHECK(room && b.n == 2);
    memset(room, 'c', 100000);
    b.n += 100000;
    CHECK(b.p[b.n] == '\0' && b.p[1] == 'b' && b.p[100001] == 'c');
    buf_done(&b);
}
