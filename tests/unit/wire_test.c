
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <string.h>

#include "engine_wire.h"
#include "tap.h"

static struct str body_of(const struct buf *b)
{
    return str_from_index(buf_str(b), 4); /* behind the length */
}

/* A record of every type of field: texts, lists, parts in parts. */
static void put_loaded(struct buf *b)
{
    static const char *const tags[] = {"one", "", "drei"};
    static const struct mapm_metadata metadata[] = {{"k", "v"}, {"", NULL}};
    static const struct mapm_resource resources[] = {
        {"a/b.md", "reference", UINT64_MAX, true, false}};
    const struct mapm_loaded l = {
        .skill = {.name = "pdf", .score = 0.25, .is_mode = true},
        .text = "text",
        .version = NULL,
        .tokens = 1ull << 40,
        .tags = tags,
        .tag_count = 3,
        .metadata = metadata,
        .metadata_count = 2,
        .resources = resources,
        .resource_count = 1,
    };

    buf_init(b, 1u << 20);
    wire_put(b, WIRE_RESULT, WIRE_LOADED, &l, 1);
}

TEST(a_record_arrives_as_it_was_sent)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    const struct mapm_loaded *l;
    struct wire_message m;

    put_loaded(&b);
    CHECK(wire_take(body_of(&b), &a, &m));
    CHECK(m.kind == WIRE_RESULT && m.type == WIRE_LOADED && m.count == 1);
    l = m.records;
    CHECK(strcmp(l->skill.name, "pdf") == 0 && !l->skill.description[0]);
    CHECK(l->skill.score > 0.24 && l->skill.score < 0.26 && l->skill.is_mode);
    CHECK(strcmp(l->text, "text") == 0 && !l->version[0]);
    CHECK(l->tokens == 1ull << 40 && l->tag_count == 3);
    CHECK(l->tags[1][0] == '\0' && strcmp(l->tags[2], "drei") == 0);
    CHECK(l->metadata_count == 2 && !l->metadata[1].value[0]);
    CHECK(l->resource_count == 1 && l->resources[0].size == UINT64_MAX);
    CHECK(l->resources[0].is_executable && !l->resources[0].is_text);
}

TEST(a_request_may_lack_a_text_and_a_result_may_not)
{
    static const struct {
        enum wire_kind kind;
        bool is_null;
    } rows[] = {{WIRE_HELLO, true},  {WIRE_REQUEST, true},
                {WIRE_REPLY, true},  {WIRE_NOTICE, false},
                {WIRE_EVENT, false}, {WIRE_RESULT, false},
                {WIRE_FAILED, false}};
    static const struct wire_line empty = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        CLEANUP(buf_done) struct buf b = {0};
        const struct wire_line *l;
        struct wire_message m;

        buf_init(&b, 1000);
        wire_put(&b, rows[i].kind, WIRE_LINE, &empty, 1);
        CHECK(wire_take(body_of(&b), &a, &m));
        l = m.records;
        CHECK(rows[i].is_null ? l->text == NULL : l->text && !l->text[0]);
    }
}

/* A count that the bytes behind it cannot be. */
TEST(memory_is_bounded_by_the_bytes_that_came)
{
    static const struct {
        enum wire_type type;
        unsigned bytes; /* of a record */
    } rows[] = {{WIRE_LINE, 8}, {WIRE_PACKAGE, 54}, {WIRE_METADATA, 8}};
    char body[1000] = {WIRE_RESULT};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned n = 1; n < 10; n++) {
            CLEANUP(arena_done) struct arena a = {0};
            struct wire_message m;
            struct str whole = str_make(body, 6 + n * rows[i].bytes);

            body[1] = (char)rows[i].type;
            body[2] = (char)n;
            CHECK(wire_take(whole, &a, &m) && m.count == n);
            whole.n--;
            CHECK(!wire_take(whole, &a, &m));
        }
    }
}

TEST(bytes_with_a_nul_have_a_length)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    const struct wire_blob blob = {"a\0b", 3};
    const struct wire_blob *got;
    struct wire_message m;

    buf_init(&b, 1000);
    wire_put(&b, WIRE_RESULT, WIRE_BLOB, &blob, 1);
    CHECK(wire_take(body_of(&b), &a, &m));
    got = m.records;
    CHECK(got->length == 3 && memcmp(got->bytes, "a\0b", 4) == 0);
}

TEST(every_type_without_records_and_with_a_zeroed_one)
{
    for (int type = 0; type < WIRE_TYPE_COUNT; type++) {
        static const char zeros[512];
        CLEANUP(arena_done) struct arena a = {0};
        CLEANUP(buf_done) struct buf b = {0};
        struct wire_message m;

        for (size_t count = 0; count < 2; count++) {
            buf_init(&b, 10000);
            wire_put(&b, WIRE_RESULT, (enum wire_type)type, zeros, count);
            CHECK(wire_take(body_of(&b), &a, &m) && m.count == count);
            buf_done(&b);
        }
    }
}

TEST(a_message_that_is_cut_or_goes_on_is_refused)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct wire_message m;

    put_loaded(&b);
    for (size_t n = 0; n < body_of(&b).n; n++) {
        CLEANUP(arena_done) struct arena a = {0};

        CHECK(!wire_take(str_slice(body_of(&b), 0, n), &a, &m));
    }
    buf_char(&b, 'x');
    {
        CLEANUP(arena_done) struct arena a = {0};

        CHECK(!wire_take(body_of(&b), &a, &m));
    }
}

TEST(an_unknown_kind_a_type_or_a_count_too_large_is_refused)
{
    static const struct {
        char body[7];
        size_t n;
    } rows[] = {
        {{WIRE_KIND_COUNT, WIRE_LINE, 0, 0, 0, 0}, 6},
        {{WIRE_RESULT, WIRE_TYPE_COUNT, 0, 0, 0, 0}, 6},
        {{WIRE_RESULT, WIRE_LINE, 1, 0, 0, 0}, 6},
        {{WIRE_RESULT, WIRE_LINE, 2, 0, 0, 0, 1}, 7},
        {{WIRE_RESULT, WIRE_LINE, 0, 0, 0, 127, 1}, 7},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct wire_message m;

        CHECK(!wire_take(str_make(rows[i].body, rows[i].n), &a, &m));
    }
}
