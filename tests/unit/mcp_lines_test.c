#include "../../mcp/lines.h"
#include "tap.h"

/* Input cut into lines, as it comes. [row 23]. */

static void feed(struct lines *l, const char *p, size_t n)
{
    while (n) {
        size_t room;
        char *to = lines_room(l, &room);
        size_t part = n < room ? n : room;

        memcpy(to, p, part);
        lines_add(l, part);
        p += part;
        n -= part;
    }
}

/* "ab|c|" of what comes out; "!" for one that is too long. */
static const char *cut(const char *input, size_t piece, size_t max,
                       char out[256])
{
    struct lines l;
    struct str line;
    size_t n = strlen(input), used = 0;
    enum lines_state state;

    lines_init(&l, max);
    for (size_t at = 0; at < n; at += piece) {
        feed(&l, input + at, n - at < piece ? n - at : piece);
        while ((state = lines_take(&l, &line)) != LINES_MORE) {
            memcpy(out + used, line.p, line.n);
            used += line.n;
            out[used++] = state == LINES_LONG ? '!' : '|';
        }
    }
    if (lines_rest(&l, &line)) {
        memcpy(out + used, line.p, line.n);
        used += line.n;
        out[used++] = '.';
    }
    out[used] = '\0';
    lines_done(&l);
    lines_done(&l);
    return out;
}

static const struct {
    const char *input, *want;
} rows[] = {
    {"", ""},
    {"\n", "|"},
    {"\n\n", "||"},
    {"a\nb\n", "a|b|"},
    {"a\nb", "a|b."},
    {"1234567\n8\n", "1234567|8|"},
    {"12345678\n9\n", "12345678|9|"},
    {"123456789\nx\n", "12345678!x|"},
    {"123456789", "12345678!"},
    {"a\n12345678901234567890\nb", "a|12345678!b."},
    {"123456789\n123456789\n", "12345678!12345678!"},
};

TEST(lines_come_out_whatever_the_pieces)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece < 24; piece++) {
            char out[256];

            CHECK_STR(cut(rows[i].input, piece, 8, out), rows[i].want);
        }
}

TEST(a_line_without_end_costs_no_memory)
{
    static char block[65536];
    struct lines l;
    struct str line;
    int told = 0;

    memset(block, 'x', sizeof block);
    lines_init(&l, 100000);
    for (int i = 0; i < 1000; i++) {
        feed(&l, block, sizeof block);
        while (lines_take(&l, &line) != LINES_MORE)
            told++;
    }
    CHECK(told == 1);
    CHECK(l.capacity < 1024 * 1024);
    feed(&l, "\nnext\n", 6);
    CHECK(lines_take(&l, &line) == LINES_READY && str_is(line, "next"));
    lines_done(&l);
}

TEST(a_long_line_gives_its_memory_back)
{
    static char block[65536];
    struct lines l;
    struct str line;
    size_t room;

    memset(block, 'x', sizeof block);
    lines_init(&l, 4u << 20);
    for (int i = 0; i < 60; i++)
        feed(&l, block, sizeof block);
    CHECK(l.capacity > 3u << 20);
    feed(&l, "\n", 1);
    CHECK(lines_take(&l, &line) == LINES_READY && line.n == 60 * sizeof block);
    lines_room(&l, &room);
    CHECK(l.capacity <= 256 * 1024);
    lines_done(&l);
}
