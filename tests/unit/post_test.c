/* One request to an API, both sides' frames: THREATS 1.2, [row 13, row 14]
 * [row 30]. */

#include "base/proc.h"

#include "../../fetch/post.h"
#include "tap.h"

static struct fetch_post good(void)
{
    static const struct str headers[] = {STR_INIT("a: b"),
                                         STR_INIT("x-Api_key2: c d")};

    return (struct fetch_post){.url = STR("https://api.example.com/v1?x=1"),
                               .headers = headers,
                               .header_count = 2,
                               .body = STR("body\0\xff"),
                               .max_bytes = 1000,
                               .deadline_ms = 77};
}

/* The frame's body: behind its length and type. */
static struct str body_of(const struct buf *b)
{
    return str_from_index(buf_str(b), FRAME_HEAD + 1);
}

TEST(a_request_comes_back)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b;
    struct fetch_post in = good(), out;
    uint64_t ms = 0;

    buf_init(&b, 10000);
    post_write(&b, &in, 86400000);
    CHECK(b.p[FRAME_HEAD] == FRAME_POST);
    CHECK(post_read(body_of(&b), &a, &out, &ms));
    CHECK(str_eq(out.url, in.url) && str_eq(out.body, in.body));
    CHECK(out.header_count == 2 && str_eq(out.headers[1], in.headers[1]));
    CHECK(out.max_bytes == 1000 && ms == 86400000 && out.deadline_ms == 0);
}

TEST(a_cut_request_is_refused) /* [row 30] */
{
    CLEANUP(buf_done) struct buf b;
    struct fetch_post in = good();

    buf_init(&b, 10000);
    post_write(&b, &in, 1000);
    buf_char(&b, 'x');
    for (size_t n = 0; n <= body_of(&b).n; n++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct fetch_post out;
        uint64_t ms;
        bool whole = n == body_of(&b).n - 1;

        CHECK(post_read(str_slice(body_of(&b), 0, n), &a, &out, &ms) == whole);
    }
}

TEST(a_reply_comes_back_and_stays_within_bounds) /* [row 14] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fetch_reply in = {.status = 200,
                             .body = STR("ten bytes."),
                             .retry_after_s = 86400},
                       out;
    static const long statuses[] = {199, 200, 999, 1000};

    for (size_t i = 0; i < 4; i++) {
        CLEANUP(buf_done) struct buf b;

        buf_init(&b, 1000);
        in.status = statuses[i];
        post_write_reply(&b, &in);
        CHECK(post_read_reply(body_of(&b), 10, &a, &out) ==
              (in.status >= 200 && in.status <= 999));
        CHECK(!post_read_reply(body_of(&b), 9, &a, &out));
        CHECK(!post_read_reply(str_slice(body_of(&b), 0, 21), 10, &a, &out));
    }
    CHECK(out.status == 999 && out.retry_after_s == 86400);
    CHECK_STR(str_dup0(out.body, &a), "ten bytes.");
    {
        CLEANUP(buf_done) struct buf b;

        buf_init(&b, 1000);
        in.status = 200;
        in.retry_after_s = 86401;
        post_write_reply(&b, &in);
        CHECK(!post_read_reply(body_of(&b), 10, &a, &out));
    }
}

TEST(a_get_has_no_body_and_its_answer_a_condition) /* [G6, row 44] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fetch_post in = good(), post;
    static const struct {
        struct str condition, location;
        bool ok;
    } rows[] = {
        {STR_INIT("If-None-Match: \"x\""), STR_INIT("https://b/c"), true},
        {STR_INIT("no header"), STR_INIT(""), false},
        {STR_INIT("If-None-Match: a\r\nCookie: b"), STR_INIT(""), false},
        {STR_INIT(""), STR_INIT("file:///etc/passwd"), false},
        {STR_INIT(""), STR_INIT("https://user@b/"), false},
    };
    struct err e = {0};
    uint64_t ms;

    in.is_get = true;
    CHECK(!post_check(&in, &e));
    in.body = STR("");
    CHECK(post_check(&in, &e));
    {
        CLEANUP(buf_done) struct buf b;

        buf_init(&b, 10000);
        post_write(&b, &in, 1000);
        CHECK(post_read(body_of(&b), &a, &post, &ms) && post.is_get);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(buf_done) struct buf b;
        struct fetch_reply reply = {.status = 302,
                                    .condition = rows[i].condition,
                                    .location = rows[i].location};

        buf_init(&b, 10000);
        post_write_reply(&b, &reply);
        CHECK(post_read_reply(body_of(&b), 10, &a, &reply) == rows[i].ok);
        if (rows[i].ok)
            CHECK_STR(str_dup0(reply.location, &a), "https://b/c");
    }
}

static const struct {
    struct str url;
    bool ok;
} urls[] = {
    {STR_INIT("https://a"), true},
    {STR_INIT("http://127.0.0.1:11434/v1"), true},
    {STR_INIT("http://[::1]:80/"), true},
    {STR_INIT("https://a/b@c?d=e"), true},
    {STR_INIT("HTTPS://a"), false},
    {STR_INIT("https://"), false},
    {STR_INIT("https:///a"), false},
    {STR_INIT("https:/a"), false},
    {STR_INIT("ftp://a"), false},
    {STR_INIT("a"), false},
    {STR_INIT(""), false},
    {STR_INIT("https://u@a/"), false},
    {STR_INIT("https://u:p@a"), false},
    {STR_INIT("https://a/ b"), false},
    {STR_INIT("https://a/\n"), false},
    {STR_INIT("https://a/\r\nX: y"), false},
    {STR_INIT("https://a/\0"), false},
    {STR_INIT("https://a/#b"), false},
    {STR_INIT("https://a\\@b/"), false},
    {STR_INIT("https://\xc3\xa9/"), false},
};

TEST(addresses) /* [row 13] */
{
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct fetch_post in = good();
        struct err e = {0};

        in.url = urls[i].url;
        CHECK(post_check(&in, &e) == urls[i].ok);
        CHECK(urls[i].ok || e.code == ERR_ORIGIN);
        if (tap_failed)
            printf("# row %zu: %s\n", i, urls[i].url.p);
    }
}

static const struct {
    struct str line;
    bool ok;
} headers[] = {
    {STR_INIT("a: b"), true},         {STR_INIT("x-api-key: sk-~!"), true},
    {STR_INIT("a: b: c"), true},      {STR_INIT("a:b"), false},
    {STR_INIT("a"), false},           {STR_INIT(""), false},
    {STR_INIT(": b"), false},         {STR_INIT("a: "), false},
    {STR_INIT("a:  b"), false},       {STR_INIT("a: b "), false},
    {STR_INIT("a b: c"), false},      {STR_INIT("a: b\r\nc: d"), false},
    {STR_INIT("a: b\nc: d"), false},  {STR_INIT("a: b\r"), false},
    {STR_INIT("a: b\0c"), false},     {STR_INIT("a: \tb"), false},
    {STR_INIT("a: b\tc"), false},     {STR_INIT("a: \x7f"), false},
    {STR_INIT("a: \xc3\xa9"), false}, {STR_INIT("@file: b"), false},
};

TEST(header_lines) /* [row 13] */
{
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct fetch_post in = good();
        struct err e = {0};

        in.headers = &headers[i].line;
        in.header_count = 1;
        CHECK(post_check(&in, &e) == headers[i].ok);
        CHECK(headers[i].ok || e.code == ERR_FAILED);
        if (tap_failed)
            printf("# row %zu: %s\n", i, headers[i].line.p);
    }
}

TEST(sizes) /* [row 14] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str many[POST_HEADERS_MAX + 1];
    char *text = arena_alloc(&a, POST_HEADER_MAX_BYTES + 2);
    struct fetch_post in = good();
    struct err e = {0};

    for (size_t i = 0; i <= POST_HEADERS_MAX; i++)
        many[i] = STR("a: b");
    in.headers = many;
    in.header_count = POST_HEADERS_MAX;
    CHECK(post_check(&in, &e));
    in.header_count++;
    CHECK(!post_check(&in, &e) && e.code == ERR_LIMIT);

    memset(text, 'a', POST_HEADER_MAX_BYTES + 1);
    memcpy(text, "a: ", 3);
    in = good();
    in.headers = &many[0];
    in.header_count = 1;
    many[0] = str_make(text, POST_HEADER_MAX_BYTES);
    CHECK(post_check(&in, &e));
    many[0].n++;
    CHECK(!post_check(&in, &e));

    memcpy(text, "https://", 8);
    in = good();
    in.url = str_make(text, POST_URL_MAX_BYTES);
    CHECK(post_check(&in, &e));
    in.url.n++;
    CHECK(!post_check(&in, &e) && e.code == ERR_ORIGIN);

    in = good();
    in.body.n = POST_BODY_MAX_BYTES; /* only counted here */
    in.max_bytes = POST_ANSWER_MAX_BYTES;
    CHECK(post_check(&in, &e));
    in.body.n++;
    CHECK(!post_check(&in, &e) && e.code == ERR_LIMIT);
    in = good();
    in.max_bytes = POST_ANSWER_MAX_BYTES + 1;
    CHECK(!post_check(&in, &e) && e.code == ERR_LIMIT);
}

TEST(an_error_shows_no_query)
{
    struct err e = {0};

    CHECK_STR(err_first(&e), "");
    CHECK(!post_late(STR("https://a/b?key=c"), 1001, &e));
    CHECK(e.code == ERR_FETCH);
    CHECK_STR(err_first(&e), "incomplete response from https://a/b within 2 s");
}

TEST(nothing_is_started_for_a_request_that_cannot_be_sent)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fetch_post in = good();
    struct fetch_reply out;
    struct err e = {0};

    in.url = STR("http:");
    CHECK(!fetch_post(&in, &a, &out, &e) && e.code == ERR_ORIGIN);
    in = good();
    in.deadline_ms = proc_now_ms();
    CHECK(!fetch_post(&in, &a, &out, &e) && e.code == ERR_FETCH);
}
