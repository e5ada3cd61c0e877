#include "base/hmac.h"

#include <time.h>

#include "../../mcp/entries.h"
#include "tap.h"

/* requestState, and what a work is run again from. [row 23]. */

static const struct mcp_server is = {
    .state_key = (const unsigned char *)"0123456789abcdef0123456789abcdef"};

static struct ticket good(void)
{
    struct ticket t = {.round = 3, .expires_s = (uint64_t)time(NULL) + 10};

    ticket_new_run(t.run);
    return t;
}

/* RFC 4231, test cases 1, 2 and 6. */
TEST(hmac_is_that_of_the_rfc)
{
    static const struct {
        const char *key;
        size_t key_n;
        const char *text, *want;
    } rfc[] = {
        {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"
         "\x0b\x0b\x0b",
         20, "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", 4, "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    };

    for (size_t i = 0; i < sizeof rfc / sizeof *rfc; i++) {
        struct hash h =
            hmac_of(str_make(rfc[i].key, rfc[i].key_n), str_cstr(rfc[i].text));
        char hex[HASH_HEX_CHARS + 1];

        hash_format(&h, hex);
        CHECK_STR(hex, rfc[i].want);
    }
}

TEST(a_ticket_comes_back)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct server s = {.is = &is};
    struct hash digest = hash_of(STR("a call")), other = hash_of(STR("b"));
    struct ticket t = good(), back;
    struct str text = ticket_format(&s, &t, &digest, &a);

    CHECK(ticket_parse(&s, text, &digest, &back));
    CHECK_STR(back.run, t.run);
    CHECK(back.round == 3 && back.expires_s == t.expires_s);
    CHECK(!ticket_parse(&s, text, &other, &back));
}

TEST(a_ticket_is_over_at_its_second)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct server s = {.is = &is};
    struct hash digest = hash_of(STR("a call"));
    struct ticket t = good(), back;

    t.expires_s = (uint64_t)time(NULL) - 1;
    CHECK(
        !ticket_parse(&s, ticket_format(&s, &t, &digest, &a), &digest, &back));
    t.expires_s = (uint64_t)time(NULL) + 1;
    CHECK(ticket_parse(&s, ticket_format(&s, &t, &digest, &a), &digest, &back));
}

TEST(each_byte_of_a_ticket_counts)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct server s = {.is = &is};
    struct hash digest = hash_of(STR("a call"));
    struct ticket t = good(), back;
    struct str text = ticket_format(&s, &t, &digest, &a);

    for (size_t i = 0; i < text.n; i++) {
        char *bad = arena_text(&a, text.p, text.n);

        bad[i] = bad[i] == '7' ? '8' : '7';
        CHECK(!ticket_parse(&s, str_make(bad, text.n), &digest, &back));
        CHECK(!ticket_parse(&s, str_slice(text, 0, i), &digest, &back));
    }
}

/* Without a key of its own each server has another one. */
TEST(keys_are_not_the_same)
{
    static const struct mcp_server bare = {0};
    CLEANUP(arena_done) struct arena a = {0};
    struct server s = {.is = &bare}, other = {.is = &bare};
    struct hash digest = hash_of(STR("a call"));
    struct ticket t = good(), back;
    struct str text = ticket_format(&s, &t, &digest, &a);

    CHECK(ticket_parse(&s, text, &digest, &back));
    CHECK(!ticket_parse(&other, text, &digest, &back));
}

TEST(capabilities_are_looked_up)
{
    static const struct {
        const char *caps, *what;
        bool want;
        bool before; /* 2025-11-25 */
    } rows[] = {
        {"{}", "sampling", false, false},
        {"{\"sampling\":{}}", "sampling", true, false},
        {"{\"sampling\":true}", "sampling", false, false},
        {"{\"sampling\":{}}", "sampling/tools", false, false},
        {"{\"sampling\":{\"tools\":{}}}", "sampling/tools", true, false},
        {"{\"elicitation\":{}}", "elicitation/form", true, false},
        {"{\"elicitation\":{}}", "elicitation/form", true, true},
        {"{\"elicitation\":{\"other\":1}}", "elicitation/form", true, false},
        {"{\"elicitation\":{\"url\":{}}}", "elicitation/form", false, false},
        {"{\"elicitation\":{\"url\":{}}}", "elicitation/form", true, true},
        {"{\"elicitation\":{\"url\":{}}}", "elicitation/url", false, true},
        {"{\"elicitation\":{\"url\":{}}}", "elicitation/url", true, false},
        {"{\"elicitation\":{}}", "elicitation/url", false, false},
        {"{\"extensions\":{\"a.b/c\":{}}}", "extensions/a.b/c", true, false},
        {"{\"extensions\":{}}", "extensions/a.b/c", false, false},
        {"[]", "roots", false, false},
    };
    static const struct json_options options = {0};
    struct mcp_call c = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct json *caps;
        struct err e;

        CHECK(
            json_parse(str_cstr(rows[i].caps), &options, &a, &caps, NULL, &e));
        c.caps = caps;
        c.revision = rows[i].before ? REV_2025_06_18 : REV_2025_11_25;
        CHECK(mcp_call_client_can(&c, rows[i].what) == rows[i].want);
    }
    c.caps = NULL;
    CHECK(!mcp_call_client_can(&c, "roots"));
}

/* --- entries ----------------------------------------------------------------------- */

struct memory {
    struct arena a;
    struct str records[64];
    size_t count;
    bool fails, known, left;
};

static bool memory_begin(void *ctx, struct str run, uint64_t expires_s,
                         struct err *e)
{
    struct memory *m = ctx;

    (void)expires_s;
    CHECK(run.n == RUN_HEX_CHARS);
    m->known = true;
    return !m->fails || err_set(e, ERR_IO, "full");
}

static bool memory_append(void *ctx, struct str run, struct str record,
                          struct err *e)
{
    struct memory *m = ctx;

    (void)run;
    if (m->fails && m->count >= 2)
        return err_set(e, ERR_IO, "full");
    CHECK(!str_has_char(record, '\n'));
    m->records[m->count++] = arena_str(&m->a, record);
    return true;
}

static bool memory_read(void *ctx, struct str run, struct arena *a,
                        const struct str **records, size_t *count,
                        struct err *e)
{
    struct memory *m = ctx;

    (void)run;
    (void)a;
    if (!m->known)
        return err_set(e, ERR_NOT_FOUND, "none");
    *records = m->records;
    *count = m->count;
    return true;
}

static void memory_leave(void *ctx, struct str run)
{
    (void)run;
    ((struct memory *)ctx)->left = true;
}

static void memory_forget(void *ctx, struct str run)
{
    (void)run;
    ((struct memory *)ctx)->known = false;
}

#define JOURNAL(m)                                                             \
    {                                                                          \
        .begin = memory_begin, .append = memory_append, .read = memory_read,   \
        .leave = memory_leave, .forget = memory_forget, .ctx = &(m)            \
    }

static bool add(struct entries *x, enum entry_kind kind, unsigned number,
                const char *key, const char *text, struct err *e)
{
    return entries_add(x,
                       (struct entry){.kind = kind,
                                      .number = number,
                                      .key = str_cstr(key),
                                      .text = str_cstr(text),
                                      .used = number * 10},
                       e);
}

TEST(entries_are_read_as_they_were_written)
{
    struct memory m = {0};
    const struct mcp_journal j = JOURNAL(m);
    struct hash digest = hash_of(STR("call"));
    struct entries x, back;
    struct err e = {0};

    entries_init(&x, &j, &digest, 12345);
    CHECK(add(&x, ENTRY_ASK, 1, "", "[\"\n\\u0000\"]", &e));
    CHECK(m.count == 0); /* nothing is written before it must be */
    CHECK(entries_write(&x, 1, &e) && entries_write(&x, 1, &e));
    CHECK(m.count == 2);
    CHECK(add(&x, ENTRY_ANSWER, 1, "k\"ey", "{}", &e));
    CHECK(add(&x, ENTRY_ANSWER, 1, "other", "{\"a\":1}", &e));
    CHECK(entries_read(&back, &j, x.run, &e));
    CHECK(back.count == 4 && x.count == 4);
    for (size_t i = 0; i < back.count && i < x.count; i++) {
        CHECK(back.items[i].kind == x.items[i].kind);
        CHECK(back.items[i].number == x.items[i].number);
        CHECK(back.items[i].used == x.items[i].used);
        CHECK(str_eq(back.items[i].key, x.items[i].key));
        CHECK(str_eq(back.items[i].text, x.items[i].text));
    }
    CHECK(entries_find(&back, ENTRY_ANSWER, 1, STR("other")));
    CHECK(!entries_find(&back, ENTRY_ANSWER, 1, STR("none")));
    CHECK(!entries_find(&back, ENTRY_ANSWER, 2, STR("")));
    CHECK(entries_used(&back) == 10);
    entries_leave(&x);
    CHECK(m.left);
    entries_forget(&x);
    entries_done(&back);
    CHECK(!entries_read(&back, &j, x.run, &e) && e.code == ERR_NOT_FOUND);
    entries_done(&x);
    entries_done(&back);
    arena_done(&m.a);
}

TEST(a_journal_that_fails_is_told_of)
{
    struct memory m = {.fails = true};
    const struct mcp_journal j = JOURNAL(m);
    struct hash digest = hash_of(STR("call"));
    struct entries x;
    struct err e = {0};

    entries_init(&x, &j, &digest, 0);
    CHECK(!entries_write(&x, 1, &e) && e.code == ERR_IO && !x.written);
    entries_done(&x);
    arena_done(&m.a);
}

TEST(a_damaged_journal_is_refused)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{\"kind\":\"ask\"}",
        "{\"kind\":\"x\",\"number\":1,\"used\":0,\"key\":\"\",\"text\":\"\"}",
        "{\"kind\":\"ask\",\"number\":-1,\"used\":0,\"key\":\"\",\"text\":"
        "\"\"}",
        "{\"kind\":\"ask\",\"number\":1,\"used\":\"0\",\"key\":\"\","
        "\"text\":\"\"}",
        "{\"kind\":\"ask\",\"number\":1,\"used\":0,\"key\":1,\"text\":\"\"}",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct memory m = {.known = true, .count = 1};
        const struct mcp_journal j = JOURNAL(m);
        struct entries x;
        struct err e = {0};

        m.records[0] = str_cstr(bad[i]);
        CHECK(!entries_read(&x, &j, "00000000000000000000000000000000", &e));
        CHECK(e.code == ERR_DAMAGED && m.left);
        arena_done(&m.a);
    }
}

TEST(a_work_cannot_keep_more_than_so_much)
{
    struct hash digest = hash_of(STR("call"));
    struct entries x;
    struct err e = {0};
    size_t n = 0;

    entries_init(&x, NULL, &digest, 0);
    while (n < 2 * MCP_MAX_RECORDS && add(&x, ENTRY_NOTE, 1, "", "x", &e))
        n++;
    CHECK(n == MCP_MAX_RECORDS - 1 && e.code == ERR_LIMIT);
    entries_done(&x);
    entries_done(&x);
}
