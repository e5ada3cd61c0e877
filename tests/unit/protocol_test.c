/* The messages of git's smart HTTP: FETCH.md 3, 8; [row 13, row 14]. */

#include "mapm/limits.h"

#include <git2.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../fetch/worker/pack.h"
#include "../../fetch/worker/protocol.h"
#include "tap.h"

#define ONES  "1111111111111111111111111111111111111111"
#define TWOS  "2222222222222222222222222222222222222222"
#define ZEROS "0000000000000000000000000000000000000000"

/* --- requests, byte by byte ------------------------------------------- */

static struct oid oid(const char *hex)
{
    struct oid id = {{0}};

    CHECK(oid_parse(str_cstr(hex), &id));
    return id;
}

/* A packet a line, with "F" and "D" for the marks. */
static const char *packets(const struct buf *b)
{
    static char text[8192];
    struct pkt_reader r;
    struct str rest = buf_str(b);
    struct pkt pkt;
    struct err e = {0};
    size_t n = 0;

    text[0] = '\0';
    pkt_reader_init(&r);
    while (rest.n && pkt_read(&r, &rest, &pkt, &e)) {
        if (pkt.kind == PKT_DATA)
            n += (size_t)snprintf(text + n, sizeof text - n, "%.*s",
                                  STR_ARG(pkt.data));
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%c\n",
                                  "  FDE"[pkt.kind]);
    }
    CHECK(rest.n == 0 && !pkt_reader_is_inside(&r));
    pkt_reader_done(&r);
    return text;
}

TEST(ls_refs_asks_with_prefixes)
{
    static const struct str prefixes[] = {STR_INIT("refs/heads/main"),
                                          STR_INIT("refs/tags/main")};
    struct buf b;

    buf_init(&b, 4096);
    ls_refs_request(&b, prefixes, 2);
    CHECK_STR(packets(&b), "command=ls-refs\nagent=git/mapm-" MAPM_VERSION
                           "\nobject-format=sha1\nD\npeel\nsymrefs\n"
                           "ref-prefix refs/heads/main\n"
                           "ref-prefix refs/tags/main\nF\n");
    buf_done(&b);
}

TEST(fetch_asks_for_what_is_wished)
{
    struct oid ids[2] = {oid(ONES), oid(TWOS)};
    struct fetch_args w = {.wants = ids, .want_count = 2};
    struct buf b;

    buf_init(&b, 4096);
    fetch_request(&b, &w);
    CHECK_STR(packets(&b), "command=fetch\nagent=git/mapm-" MAPM_VERSION
                           "\nobject-format=sha1\nD\nofs-delta\nno-progress\n"
                           "want " ONES "\nwant " TWOS "\ndone\nF\n");
    buf_clear(&b);
    w = (struct fetch_args){.wants = ids,
                            .want_count = 1,
                            .haves = ids + 1,
                            .have_count = 1,
                            .shallows = ids + 1,
                            .shallow_count = 1,
                            .deepen = 1,
                            .filter = "blob:none",
                            .thin = true};
    fetch_request(&b, &w);
    CHECK_STR(packets(&b), "command=fetch\nagent=git/mapm-" MAPM_VERSION
                           "\nobject-format=sha1\nD\nthin-pack\nofs-delta\n"
                           "no-progress\nshallow " TWOS
                           "\ndeepen 1\nfilter blob:none\nwant " ONES
                           "\nhave " TWOS "\ndone\nF\n");
    buf_done(&b);
}

TEST(version_0_asks_for_what_the_server_can)
{
    struct oid ids[2] = {oid(ONES), oid(TWOS)};
    struct fetch_args w = {
        .wants = ids, .want_count = 2, .deepen = 1, .filter = "blob:none"};
    struct caps caps = {0};
    struct buf b;

    buf_init(&b, 4096);
    fetch_request_v0(&b, &w, &caps);
    CHECK_STR(packets(&b), "want " ONES " agent=git/mapm-" MAPM_VERSION
                           "\nwant " TWOS "\nF\ndone\n");
    buf_clear(&b);
    caps = (struct caps){.shallow = true,
                         .filter = true,
                         .ofs_delta = true,
                         .no_progress = true,
                         .side_band_64k = true};
    fetch_request_v0(&b, &w, &caps);
    CHECK_STR(packets(&b),
              "want " ONES " side-band-64k ofs-delta no-progress filter "
              "agent=git/mapm-" MAPM_VERSION "\nwant " TWOS
              "\ndeepen 1\nfilter blob:none\nF\ndone\n");
    buf_done(&b);
}

/* Azure DevOps refuses a request without multi_ack: HOSTS.md 6. */
TEST(version_0_says_multi_ack_where_it_is_offered)
{
    static const struct {
        struct caps caps;
        const char *words;
    } rows[] = {
        {{.multi_ack = true}, " multi_ack"},
        {{.multi_ack = true, .no_done = true}, " multi_ack"},
        {{.multi_ack_detailed = true}, " multi_ack_detailed"},
        {{.multi_ack = true, .multi_ack_detailed = true, .no_done = true},
         " multi_ack_detailed no-done"},
        {{.side_band = true, .no_done = true}, " side-band"},
        {{.side_band = true, .side_band_64k = true}, " side-band-64k"},
        {{.any_object = true}, ""},
    };
    struct oid id = oid(ONES);
    struct fetch_args w = {.wants = &id, .want_count = 1, .thin = true};
    char expected[200];
    struct buf b;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_init(&b, 4096);
        fetch_request_v0(&b, &w, &rows[i].caps);
        snprintf(expected, sizeof expected,
                 "want " ONES "%s agent=git/mapm-" MAPM_VERSION "\nF\ndone\n",
                 rows[i].words);
        CHECK_STR(packets(&b), expected);
        buf_done(&b);
    }
}

TEST(capabilities_are_kept_as_a_text)
{
    static const char *const texts[] = {
        "0", "2 shallow filter allow-any-sha1-in-want",
        "0 shallow multi_ack multi_ack_detailed no-done ofs-delta no-progress "
        "side-band side-band-64k"};
    static const char *const bad[] = {"",   " ",   "1",        "3 shallow",
                                      "02", "2  ", "2 shallo", "2 filter "};
    struct arena a = {0};
    struct caps caps;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK(caps_parse(str_cstr(texts[i]), &caps));
        CHECK_STR(str_dup0(caps_format(&caps, &a), &a), texts[i]);
        CHECK(caps.version == texts[i][0] - '0');
        CHECK(caps_are_partial(&caps) == (i == 1));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!caps_parse(str_cstr(bad[i]), &caps));
    arena_done(&a);
}

TEST(as_many_wants_as_allowed_fit_a_request)
{
    static struct oid ids[FETCH_WANTS_MAX];
    struct fetch_args w = {.wants = ids, .want_count = FETCH_WANTS_MAX};
    struct buf b;

    buf_init(&b, 128 * 1024);
    fetch_request(&b, &w);
    CHECK(!b.overflowed);
    buf_done(&b);
}

/* --- answers ---------------------------------------------------------- */

/* Packets from lines: "F", "D" and "E" alone are marks; "\1…" side bands. */
static void write_packets(struct buf *b, const char *lines)
{
    struct str rest = str_cstr(lines), line;

    while (str_line(&rest, &line)) {
        if (str_is(line, "F"))
            pkt_put_flush(b);
        else if (str_is(line, "D"))
            pkt_put_delim(b);
        else if (str_is(line, "E"))
            buf_text(b, "0002");
        else if (str_starts(line, STR("\\")))
            buf_append(b, str_from_index(line, 1));
        else
            pkt_printf(b, "%.*s%s", STR_ARG(line),
                       (unsigned char)line.p[0] < 4 ? "" : "\n");
    }
}

struct outcome {
    enum wire_fault fault;
    struct err e;
    struct caps caps;
    char text[4096]; /* refs, or the pack */
    size_t shallow_count;
};

static void describe(struct outcome *o, const struct ref_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->count && n < sizeof o->text - 300; i++) {
        const struct ref *r = &l->items[i];

        n += (size_t)snprintf(
            o->text + n, sizeof o->text - n, "%s%.*s %x/%x %.*s", i ? ", " : "",
            STR_ARG(r->name), r->id.b[0], r->peeled.b[0], STR_ARG(r->target));
    }
}

static void read_advert(const char *lines, size_t chunk, struct outcome *o)
{
    struct arena a = {0};
    struct ref_list l;
    struct advert advert;
    struct str rest;
    struct buf b;
    bool ok = true;

    memset(o, 0, sizeof *o);
    buf_init(&b, 1 << 20);
    write_packets(&b, lines);
    ref_list_init(&l, &a);
    advert_init(&advert, &l, true);
    for (rest = buf_str(&b); ok && rest.n; rest = str_from_index(rest, chunk))
        ok = advert_feed(&advert, str_slice(rest, 0, chunk), &o->e);
    ok = ok && advert_end(&advert, &o->e);
    CHECK(ok == (advert.fault == WIRE_OK) && ok == (o->e.code == ERR_NONE));
    o->fault = advert.fault;
    o->caps = advert.caps;
    describe(o, &l);
    advert_done(&advert);
    buf_done(&b);
    arena_done(&a);
}

TEST(advertisements_of_version_2)
{
    struct outcome o;

    for (size_t chunk = 1; chunk < 60; chunk++) {
        read_advert("# service=git-upload-pack\nF\nversion 2\nagent=git/x\n"
                    "ls-refs=unborn\nfetch=shallow wait-for-done filter\n"
                    "server-option\nobject-format=sha1\nF\n",
                    chunk, &o);
        CHECK(o.fault == WIRE_OK && o.caps.version == 2 && o.caps.ls_refs &&
              o.caps.fetch && o.caps.shallow && o.caps.filter &&
              !o.caps.sha256);
        read_advert("version 2\nls-refs\nfetch\nobject-format=sha256\nF\n",
                    chunk, &o);
        CHECK(o.fault == WIRE_OK && o.caps.version == 2 && o.caps.ls_refs &&
              o.caps.fetch && !o.caps.shallow && !o.caps.filter &&
              o.caps.sha256);
    }
}

/* [H3] Its ids have 64 digits. */
static void refuse_sha256(void)
{
    static const char first[] =
        ONES "111111111111111111111111 HEAD\0multi_ack object-format=sha256\n";
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct advert advert;
    struct ref_list l;
    struct err e = {0};

    buf_init(&b, 4096);
    write_packets(&b, "# service=git-upload-pack\nF\n");
    pkt_put(&b, str_make(first, sizeof first - 1));
    write_packets(&b, ONES "111111111111111111111111 refs/heads/main\nF\n");
    ref_list_init(&l, &a);
    advert_init(&advert, &l, true);
    CHECK(advert_feed(&advert, buf_str(&b), &e) && advert_end(&advert, &e));
    CHECK(advert.caps.sha256 && l.count == 0);
    advert_done(&advert);
}

TEST(advertisements_of_version_0)
{
    char lines[2048];
    struct outcome o;
    struct buf b;

    /* The NUL before the capabilities takes a packet of its own making. */
    buf_init(&b, 4096);
    write_packets(&b, "# service=git-upload-pack\nF\n");
    {
        static const char first[] =
            ONES " HEAD\0multi_ack thin-pack side-band side-band-64k "
                 "ofs-delta shallow no-progress filter "
                 "allow-reachable-sha1-in-want symref=HEAD:refs/heads/main "
                 "object-format=sha1 agent=git/x\n";
        struct arena a = {0};
        struct ref_list l;
        struct advert advert;

        pkt_put(&b, str_make(first, sizeof first - 1));
        write_packets(&b,
                      ONES " refs/heads/main\n" TWOS " refs/pull/1/head\n" TWOS
                           " refs/tags/v1\n" ONES " refs/tags/v1^{}\nF\n");
        ref_list_init(&l, &a);
        advert_init(&advert, &l, true);
        memset(&o, 0, sizeof o);
        CHECK(advert_feed(&advert, buf_str(&b), &o.e) &&
              advert_end(&advert, &o.e));
        describe(&o, &l);
        CHECK_STR(o.text, "HEAD 11/11 refs/heads/main, refs/heads/main 11/11 "
                          ", refs/tags/v1 22/11 ");
        CHECK(advert.caps.version == 0 && advert.caps.shallow &&
              advert.caps.filter && advert.caps.ofs_delta &&
              advert.caps.no_progress && advert.caps.any_object &&
              advert.caps.multi_ack && advert.caps.side_band &&
              advert.caps.side_band_64k && !advert.caps.sha256);
        advert_done(&advert);
        arena_done(&a);
    }
    buf_done(&b);
    refuse_sha256();

    snprintf(lines, sizeof lines, "# service=git-upload-pack\nF\n%s HEAD\nF\n",
             ONES);
    read_advert(lines, 7, &o);
    CHECK(o.fault == WIRE_NOT_GIT);
    CHECK_STR(err_first(&o.e), "not a git server: refs without capabilities");
}

/* [H3, row 53] */
TEST(refs_of_many_bytes)
{
    static char line[60000];
    struct arena a = {0};
    struct advert advert;
    struct ls_refs_answer r;
    struct ref_list l;
    struct err e = {0};
    struct buf b;
    size_t n = 0;

    buf_init(&b, sizeof line + 100);
    memset(line, 'x', sizeof line);
    pkt_printf(&b, "%s", "version 2\n");
    ref_list_init(&l, &a);
    advert_init(&advert, &l, true);
    CHECK(advert_feed(&advert, buf_str(&b), &e));
    buf_clear(&b);
    pkt_put(&b, str_make(line, sizeof line));
    while (advert_feed(&advert, buf_str(&b), &e))
        n += b.n;
    CHECK(n <= TRANSFER_MAX_REFS_BYTES &&
          n + b.n > TRANSFER_MAX_REFS_BYTES - 14);
    CHECK(advert.fault == WIRE_LIMIT && e.code == ERR_LIMIT);
    advert_done(&advert);

    ls_refs_init(&r, &l);
    memcpy(line, ONES " refs/pull/", 40 + 11);
    buf_clear(&b);
    pkt_put(&b, str_make(line, sizeof line));
    for (n = 0; ls_refs_feed(&r, buf_str(&b), &e); n++)
        ;
    CHECK(n == TRANSFER_MAX_REFS_BYTES / b.n && r.fault == WIRE_LIMIT);
    ls_refs_done(&r);
    buf_done(&b);
    arena_done(&a);
}

TEST(what_is_no_advertisement)
{
    static const struct {
        const char *lines;
        enum wire_fault fault;
    } rows[] = {
        {"", WIRE_EMPTY},
        {"\\<html><body>log in", WIRE_NOT_GIT},
        {"F\n", WIRE_NOT_GIT},
        {"D\n", WIRE_NOT_GIT},
        {"# service=git-receive-pack\nF\n", WIRE_NOT_GIT},
        {"# service=git-upload-pack\n", WIRE_CUT},
        {"# service=git-upload-pack\nversion 2\n", WIRE_NOT_GIT},
        {"# service=git-upload-pack\nF\nversion 2\nls-refs\n", WIRE_CUT},
        {"version 2\nls-refs\n\\00", WIRE_CUT},
        {"version 2\nF\nversion 2\n", WIRE_NOT_GIT},
        {"version 2\nD\n", WIRE_NOT_GIT},
        {"version 3\n", WIRE_NOT_GIT},
        {ONES " HEAD\n", WIRE_NOT_GIT},
        {"ERR no such repository\n", WIRE_REMOTE},
        {"ERR GitHub is temporarily limiting some downloads\n", WIRE_BUSY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t chunk = 1; chunk < 9; chunk++) {
            struct outcome o;

            read_advert(rows[i].lines, chunk, &o);
            CHECK(o.fault == rows[i].fault);
        }
    }
}

static void read_ls_refs(const char *lines, size_t chunk, struct outcome *o)
{
    struct arena a = {0};
    struct ref_list l;
    struct ls_refs_answer r;
    struct str rest;
    struct buf b;
    bool ok = true;

    memset(o, 0, sizeof *o);
    buf_init(&b, 1 << 20);
    write_packets(&b, lines);
    ref_list_init(&l, &a);
    ls_refs_init(&r, &l);
    for (rest = buf_str(&b); ok && rest.n; rest = str_from_index(rest, chunk))
        ok = ls_refs_feed(&r, str_slice(rest, 0, chunk), &o->e);
    ok = ok && ls_refs_end(&r, &o->e);
    CHECK(ok == (r.fault == WIRE_OK) && ok == (o->e.code == ERR_NONE));
    o->fault = r.fault;
    describe(o, &l);
    ls_refs_done(&r);
    buf_done(&b);
    arena_done(&a);
}

TEST(answers_to_ls_refs)
{
    static const struct {
        const char *lines;
        enum wire_fault fault;
        const char *refs;
    } rows[] = {
        {"F\n", WIRE_OK, ""},
        {ONES " refs/heads/main\nF\n", WIRE_OK, "refs/heads/main 11/11 "},
        {ONES " HEAD symref-target:refs/heads/x\n" TWOS
              " refs/tags/v1 peeled:" ONES "\n" ONES " refs/pull/1/head\nF\n",
         WIRE_OK, "HEAD 11/11 refs/heads/x, refs/tags/v1 22/11 "},
        {"unborn HEAD symref-target:refs/heads/x\nF\n", WIRE_OK,
         "HEAD 0/0 refs/heads/x"},
        {ONES " refs/heads/a future:thing\nF\n", WIRE_OK,
         "refs/heads/a 11/11 "},
        {"", WIRE_EMPTY, ""},
        {ONES " refs/heads/main\n", WIRE_CUT, "refs/heads/main 11/11 "},
        {"F\nF\n", WIRE_NOT_GIT, ""},
        {"D\n", WIRE_NOT_GIT, ""},
        {"1234 refs/heads/main\nF\n", WIRE_NOT_GIT, ""},
        {ONES "\nF\n", WIRE_NOT_GIT, ""},
        {ONES " \nF\n", WIRE_NOT_GIT, ""},
        {ONES " refs/tags/v1 peeled:123\nF\n", WIRE_NOT_GIT, ""},
        {"\\<!DOCTYPE html>", WIRE_NOT_GIT, ""},
        {"ERR access denied\n", WIRE_REMOTE, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t chunk = 1; chunk < 60; chunk += 7) {
            struct outcome o;

            read_ls_refs(rows[i].lines, chunk, &o);
            CHECK(o.fault == rows[i].fault);
            CHECK_STR(o.text, rows[i].refs);
        }
    }
}

static bool keep_pack(void *ctx, struct str bytes, struct err *e)
{
    struct outcome *o = ctx;
    size_t n = strlen(o->text);

    if (str_find(bytes, STR("!")) != SIZE_MAX)
        return err_set(e, ERR_DAMAGED, "no good");
    snprintf(o->text + n, sizeof o->text - n, "%.*s", STR_ARG(bytes));
    return true;
}

static void read_fetch(const char *lines, size_t chunk,
                       const struct fetch_args *w, const struct caps *v0,
                       struct outcome *o)
{
    struct arena a = {0};
    struct oid_set shallow;
    struct fetch_answer f;
    struct str rest;
    struct buf b;
    bool ok = true;

    memset(o, 0, sizeof *o);
    oid_set_init(&shallow, &a);
    buf_init(&b, 1 << 20);
    write_packets(&b, lines);
    if (v0)
        fetch_answer_init_v0(&f, w, v0, keep_pack, o);
    else
        fetch_answer_init(&f, keep_pack, o);
    f.shallow = &shallow;
    for (rest = buf_str(&b); ok && rest.n; rest = str_from_index(rest, chunk))
        ok = fetch_answer_feed(&f, str_slice(rest, 0, chunk), &o->e);
    ok = ok && fetch_answer_end(&f, &o->e);
    CHECK(ok == (f.fault == WIRE_OK) && ok == (o->e.code == ERR_NONE));
    o->fault = f.fault;
    o->shallow_count = oid_set_count(&shallow);
    fetch_answer_done(&f);
    buf_done(&b);
    arena_done(&a);
}

TEST(answers_to_fetch)
{
    static const struct {
        const char *lines;
        enum wire_fault fault;
        const char *pack;
        size_t shallow;
    } rows[] = {
        {"packfile\n\1PACK\n\1more\nF\n", WIRE_OK, "PACKmore", 0},
        {"shallow-info\nshallow " ONES "\nunshallow " TWOS
         "\nD\npackfile\n\2 50%\n\1PACK\nF\n",
         WIRE_OK, "PACK", 1},
        {"acknowledgments\nACK " ONES "\nready\nD\npackfile\n\1P\nF\n", WIRE_OK,
         "P", 0},
        {"wanted-refs\n" ONES " refs/heads/x\nD\npackfile\n\1P\nF\n", WIRE_OK,
         "P", 0},
        {"", WIRE_EMPTY, "", 0},
        {"packfile\n", WIRE_CUT, "", 0},
        {"packfile\n\1PA\n", WIRE_CUT, "PA", 0},
        {"acknowledgments\nNAK\nF\n", WIRE_CUT, "", 0},
        {"packfile\n\1P\nF\nF\n", WIRE_NOT_GIT, "P", 0},
        {"packfile\n\1P\nD\n", WIRE_NOT_GIT, "P", 0},
        {"packfile\nPACK\nF\n", WIRE_NOT_GIT, "", 0},
        {"strange\nF\n", WIRE_NOT_GIT, "", 0},
        {"shallow-info\nshallow 123\nD\n", WIRE_NOT_GIT, "", 0},
        {"\\HTTP/1.1 nonsense", WIRE_NOT_GIT, "", 0},
        {"packfile\n\1P\n\3access denied\n", WIRE_REMOTE, "P", 0},
        {"packfile\n\1P\n\3upload-pack: not our ref " ONES "\n", WIRE_NO_OBJECT,
         "P", 0},
        {"ERR upload-pack: not our ref " ONES "\n", WIRE_NO_OBJECT, "", 0},
        {"ERR filter 'combine' not supported\n", WIRE_NO_FILTER, "", 0},
        {"ERR tree filter allows max depth 0, but got 1\n", WIRE_NO_FILTER, "",
         0},
        {"ERR GitHub is temporarily limiting some unauthenticated downloads "
         "to protect the stability of the platform. Please retry later or "
         "authenticate.\n",
         WIRE_BUSY, "", 0},
        {"packfile\n\1bad!\nF\n", WIRE_PACK, "", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t chunk = 1; chunk < 60; chunk += 7) {
            struct outcome o;

            read_fetch(rows[i].lines, chunk, NULL, NULL, &o);
            CHECK(o.fault == rows[i].fault);
            CHECK_STR(o.text, rows[i].pack);
            CHECK(o.shallow_count == rows[i].shallow);
        }
    }
}

TEST(answers_of_version_0)
{
    static const struct {
        bool side_band;
        unsigned deepen;
        const char *lines;
        enum wire_fault fault;
        const char *pack;
    } rows[] = {
        {65520, 0, "NAK\n\1PACK\n\2x\n\1more\nF\n", WIRE_OK, "PACKmore"},
        {65520, 1, "shallow " ONES "\nF\nNAK\n\1PACK\nF\n", WIRE_OK, "PACK"},
        {65520, 1, "F\nNAK\n\1PACK\nF\n", WIRE_OK, "PACK"},
        {65520, 0, "ACK " ONES "\nACK " TWOS "\n\1PACK\nF\n", WIRE_OK, "PACK"},
        {0, 0, "NAK\n\\PACK", WIRE_OK, "PACK"},
        {0, 1, "shallow " ONES "\nF\nNAK\n\\PACKdata", WIRE_OK, "PACKdata"},
        {0, 0, "ACK " ONES "\nNAK\n\\PACK0000", WIRE_OK, "PACK0000"},
        {65520, 0, "NAK\n", WIRE_CUT, ""},
        {65520, 0, "NAK\n\1PACK\n", WIRE_CUT, "PACK"},
        {0, 0, "NAK\n", WIRE_CUT, ""},
        {0, 0, "\\PACK", WIRE_NOT_GIT, ""},
        {65520, 0, "NAK\n\\PACK", WIRE_NOT_GIT, ""},
        {0, 0, "NAK\nstrange\n", WIRE_NOT_GIT, ""},
        {65520, 1, "strange\nF\n", WIRE_NOT_GIT, ""},
        {65520, 0, "ERR upload-pack: not our ref " ONES "\n", WIRE_NO_OBJECT,
         ""},
        {65520, 0, "", WIRE_EMPTY, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t chunk = 1; chunk < 60; chunk += 7) {
            struct caps caps = {.side_band_64k = rows[i].side_band,
                                .shallow = true};
            struct fetch_args w = {.deepen = rows[i].deepen};
            struct outcome o;

            read_fetch(rows[i].lines, chunk, &w, &caps, &o);
            CHECK(o.fault == rows[i].fault);
            CHECK_STR(o.text, rows[i].pack);
        }
    }
}

/* [row 14] lines without end */
TEST(lines_are_counted)
{
    struct fetch_answer f;
    struct outcome o = {0};
    struct buf b;
    bool ok;

    buf_init(&b, 1 << 16);
    write_packets(&b, "shallow-info\n");
    for (int i = 0; i < 1000; i++)
        write_packets(&b, "shallow " ONES "\n");
    fetch_answer_init(&f, keep_pack, &o);
    ok = fetch_answer_feed(&f, buf_str(&b), &o.e);
    for (int i = 0; ok && i < 1000; i++)
        ok = fetch_answer_feed(&f, str_from_index(buf_str(&b), 17), &o.e);
    CHECK(!ok && o.e.code == ERR_LIMIT && f.fault == WIRE_LIMIT);
    fetch_answer_done(&f);
    buf_done(&b);
}

/* --- with git at the other end ----------------------------------------- */

static char dir[64];

static void shell(const char *command)
{
    char line[4096];

    snprintf(line, sizeof line,
             "cd %s && export GIT_CONFIG_GLOBAL=/dev/null "
             "GIT_CONFIG_NOSYSTEM=1 && { %s\n} >/dev/null 2>&1",
             dir, command);
    CHECK(system(line) == 0);
}

static struct str slurp(struct arena *a, const char *name)
{
    const size_t max = 1 << 20;
    char path[128];
    char *text = arena_alloc(a, max);
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "rb");
    CHECK(f != NULL);
    if (f) {
        n = fread(text, 1, max, f);
        fclose(f);
    }
    return str_make(text, n);
}

static struct str ask(struct arena *a, const char *protocol,
                      const struct buf *request)
{
    char path[128], command[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/request", dir);
    f = fopen(path, "wb");
    CHECK(f && fwrite(request->p, 1, request->n, f) == request->n);
    if (f)
        fclose(f);
    snprintf(command, sizeof command,
             "GIT_PROTOCOL=%s git -c uploadpack.allowFilter=true -c "
             "uploadpack.allowAnySHA1InWant=true upload-pack --stateless-rpc "
             "repo <request >answer || true",
             protocol);
    shell(command);
    return slurp(a, "answer");
}

struct collected {
    struct pack *pack;
    struct objects objects;
    size_t blobs;
};

static bool on_object(void *ctx, enum object_type type, const struct oid *id,
                      struct str bytes, struct err *e)
{
    struct collected *c = ctx;

    (void)e;
    c->blobs += type == OBJECT_BLOB;
    objects_put(&c->objects, type, id, bytes);
    return true;
}

static bool on_pack(void *ctx, struct str bytes, struct err *e)
{
    return pack_feed(((struct collected *)ctx)->pack, bytes, e);
}

static void collect(struct arena *a, struct fetch_answer *f,
                    struct collected *c, struct str answer)
{
    struct pack_limits limits = pack_limits_of(&limits_default);
    struct pack_sink sink = {.object = on_object, .ctx = c};
    struct err e = {0};

    objects_init(&c->objects, a);
    c->blobs = 0;
    c->pack = pack_open(&limits, &sink);
    for (; answer.n; answer = str_from_index(answer, 1000)) {
        if (!fetch_answer_feed(f, str_slice(answer, 0, 1000), &e))
            break;
    }
    CHECK(fetch_answer_end(f, &e) && pack_end(c->pack, &e));
    CHECK_STR(err_first(&e), "");
    fetch_answer_done(f);
    pack_close(&c->pack);
}

static struct oid head_of(struct arena *a, const struct ref_list *l)
{
    struct ref_choice choice = {.name = STR_INIT("")};
    struct err e = {0};

    CHECK(refs_choose(l, STR(""), a, &choice, &e));
    CHECK(str_is(choice.name, "refs/heads/main"));
    CHECK(refs_choose(l, STR("v1/skills"), a, &choice, &e));
    CHECK(str_is(choice.path, "skills"));
    return choice.commit;
}

static void talk_v2(struct arena *a, struct oid *commit)
{
    static const struct str prefixes[] = {STR_INIT("HEAD"),
                                          STR_INIT("refs/tags/v1")};
    struct fetch_args w = {
        .wants = commit, .want_count = 1, .deepen = 1, .filter = "blob:none"};
    struct fetch_answer f;
    struct collected c;
    struct ls_refs_answer r;
    struct ref_list l;
    struct err e = {0};
    struct oid_set shallow;
    struct buf b;

    buf_init(&b, 4096);
    ls_refs_request(&b, prefixes, 2);
    ref_list_init(&l, a);
    ls_refs_init(&r, &l);
    CHECK(ls_refs_feed(&r, ask(a, "version=2", &b), &e) && ls_refs_end(&r, &e));
    ls_refs_done(&r);
    *commit = head_of(a, &l);

    buf_clear(&b);
    fetch_request(&b, &w);
    fetch_answer_init(&f, on_pack, &c);
    oid_set_init(&shallow, a);
    f.shallow = &shallow;
    collect(a, &f, &c, ask(a, "version=2", &b));
    CHECK(c.blobs == 0 && c.objects.map.count == 3);
    CHECK(oid_set_has(&shallow, commit));
    buf_done(&b);
}

static void talk_v0(struct arena *a, const struct oid *commit)
{
    struct fetch_args w = {.wants = commit, .want_count = 1, .deepen = 1};
    struct fetch_answer f;
    struct collected c;
    struct advert advert;
    struct ref_list l;
    struct err e = {0};
    struct buf b;

    buf_init(&b, 4096);
    write_packets(&b, "# service=git-upload-pack\nF\n");
    shell("git -c uploadpack.allowFilter=true upload-pack "
          "--http-backend-info-refs repo >adv");
    ref_list_init(&l, a);
    advert_init(&advert, &l, true);
    CHECK(advert_feed(&advert, buf_str(&b), &e) &&
          advert_feed(&advert, slurp(a, "adv"), &e) && advert_end(&advert, &e));
    CHECK_STR(err_first(&e), "");
    head_of(a, &l);
    for (int i = 0; i < 6; i++) {
        struct caps caps = advert.caps;

        caps.side_band_64k = i < 2;
        caps.side_band = i < 4;
        w.deepen = i & 1;
        buf_clear(&b);
        fetch_request_v0(&b, &w, &caps);
        fetch_answer_init_v0(&f, &w, &caps, on_pack, &c);
        collect(a, &f, &c, ask(a, "version=0", &b));
        CHECK(c.blobs == (i & 1 ? 2 : 3));
        CHECK(objects_find(&c.objects, commit));
    }
    advert_done(&advert);
    buf_done(&b);
}

TEST(git_answers)
{
    struct arena a = {0};
    struct oid commit = {{0}};
    struct advert advert;
    struct ref_list l;
    struct err e = {0};

    git_libgit2_init();
    snprintf(dir, sizeof dir, "%s/mapm-proto-XXXXXX",
             getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 40
                 ? getenv("TMPDIR")
                 : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    shell("git init -q -b main repo && cd repo && git config user.name T && "
          "git config user.email t@t && mkdir skills && "
          "echo one >skills/a && echo two >b && git add -A && "
          "git commit -qm one && echo three >b && git commit -qam two && "
          "git tag -a -m t v1");
    talk_v2(&a, &commit);
    talk_v0(&a, &commit);
    ref_list_init(&l, &a);
    advert_init(&advert, &l, true);
    shell("GIT_PROTOCOL=version=2 git upload-pack --http-backend-info-refs "
          "repo >adv");
    CHECK(advert_feed(&advert, slurp(&a, "adv"), &e) &&
          advert_end(&advert, &e));
    CHECK(advert.caps.version == 2 && advert.caps.shallow);
    advert_done(&advert);
    shell("rm -rf ./*");
    CHECK(rmdir(dir) == 0);
    arena_done(&a);
}
