/* Packets and side bands: FETCH.md 3, 8; [row 13, row 14]. */

#include "mapm/limits.h"

#include "../../fetch/worker/pktline.h"
#include "tap.h"

/* What comes out of `bytes` fed `chunk` at a time: "data|" "F" "D" "E". */
static const char *read_all(struct str bytes, size_t chunk, struct err *e)
{
    static char text[4096];
    struct pkt_reader r;
    size_t n = 0;

    *e = (struct err){0};
    text[0] = '\0';
    pkt_reader_init(&r);
    for (size_t at = 0; at < bytes.n; at += chunk) {
        struct str part = str_slice(bytes, at, at + chunk);

        for (;;) {
            struct pkt pkt;

            if (!pkt_read(&r, &part, &pkt, e)) {
                pkt_reader_done(&r);
                return err_first(e);
            }
            if (pkt.kind == PKT_NONE)
                break;
            if (pkt.kind == PKT_DATA)
                n += (size_t)snprintf(text + n, sizeof text - n, "%.*s|",
                                      STR_ARG(pkt.data));
            else
                n += (size_t)snprintf(text + n, sizeof text - n, "%c",
                                      "  FDE"[pkt.kind]);
        }
        CHECK(part.n == 0);
    }
    if (pkt_reader_is_inside(&r))
        snprintf(text + n, sizeof text - n, "...");
    pkt_reader_done(&r);
    return text;
}

TEST(packets)
{
    static const struct {
        const char *bytes, *result;
    } rows[] = {
        {"", ""},
        {"0000", "F"},
        {"0001", "D"},
        {"0002", "E"},
        {"0004", "|"},
        {"0005a", "a|"},
        {"000aAbCdEf", "AbCdEf|"},
        {"000AAbCdEf", "AbCdEf|"},
        {"0005a0006bc00000005d", "a|bc|Fd|"},
        {"0005a00010002", "a|DE"},
        {"000", "..."},
        {"0006b", "..."},
        {"0005a0", "a|..."},
        {"0003", "not a git server: \"0003\" where the length of a packet "
                 "belongs"},
        {"<htm", "not a git server: \"<htm\" where the length of a packet "
                 "belongs"},
        {"0005axyz!", "not a git server: \"xyz!\" where the length of a "
                      "packet belongs"},
        {"fff1", "not a git server: \"fff1\" where the length of a packet "
                 "belongs"},
        {"\033[2J", "not a git server: \"\\x1b[2J\" where the length of a "
                    "packet belongs"},
        {"-001", "not a git server: \"-001\" where the length of a packet "
                 "belongs"},
        {"0x05", "not a git server: \"0x05\" where the length of a packet "
                 "belongs"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t chunk = 1; chunk < 12; chunk++) {
            struct err e;

            CHECK_STR(read_all(str_cstr(rows[i].bytes), chunk, &e),
                      rows[i].result);
            CHECK(e.code == ERR_NONE || e.code == ERR_FETCH);
        }
    }
}

TEST(the_largest_packet)
{
    for (size_t chunk = 1000; chunk < 200000; chunk += 66000) {
        struct pkt_reader r;
        struct buf b, data;
        struct str rest;
        size_t count = 0;

        buf_init(&b, 1 << 20);
        buf_init(&data, 1 << 20);
        CHECK(buf_reserve(&data, PKT_DATA_MAX_BYTES + 1));
        memset(data.p, 'x', PKT_DATA_MAX_BYTES + 1);
        data.n = PKT_DATA_MAX_BYTES;
        pkt_put(&b, buf_str(&data));
        pkt_put(&b, buf_str(&data));
        CHECK(b.n == (size_t)2 * PKT_MAX_BYTES && !b.overflowed);
        pkt_reader_init(&r);
        for (rest = buf_str(&b); rest.n;) {
            struct str part = str_slice(rest, 0, chunk);
            struct err e = {0};
            struct pkt pkt;

            rest = str_from_index(rest, part.n);
            do {
                CHECK(pkt_read(&r, &part, &pkt, &e));
                if (pkt.kind == PKT_DATA) {
                    CHECK(str_eq(pkt.data, buf_str(&data)));
                    count++;
                }
            } while (pkt.kind != PKT_NONE);
        }
        CHECK(count == 2);
        data.n++;
        pkt_put(&b, buf_str(&data));
        CHECK(b.overflowed);
        pkt_reader_done(&r);
        buf_done(&data);
        buf_done(&b);
    }
}

TEST(building)
{
    struct buf b;

    buf_init(&b, 1000);
    pkt_put(&b, STR("a"));
    pkt_printf(&b, "want %d\n", 7);
    pkt_put_delim(&b);
    pkt_put_flush(&b);
    CHECK_STR(b.p, "0005a000bwant 7\n00010000");
    CHECK(str_is(pkt_line(STR("x\n")), "x") && str_is(pkt_line(STR("x")), "x"));
    CHECK(pkt_line(STR("")).n == 0);
    buf_done(&b);
}

TEST(bands)
{
    struct bands b = {0};
    struct err e = {0};
    struct str data;
    bool fatal;

    CHECK(band_split(&b, STR("\1PACK"), &data, &fatal, &e));
    CHECK(str_is(data, "PACK") && !fatal);
    CHECK(band_split(&b, STR("\2 50% \r"), &data, &fatal, &e));
    CHECK(data.n == 0 && b.idle_bytes == 11);
    CHECK(!band_split(&b, STR("\3no \033[31mway\n"), &data, &fatal, &e));
    CHECK(fatal);
    CHECK_STR(err_first(&e), "the server says: no \\x1b[31mway");
    CHECK(!band_split(&b, STR("\4x"), &data, &fatal, &e) && !fatal);
    CHECK_STR(err_first(&e), "not a git server: unknown side band 4");
    CHECK(!band_split(&b, STR(""), &data, &fatal, &e) && !fatal);
}

/* [row 14] progress without end is an error, not a diversion */
TEST(progress_is_limited)
{
    static char packet[65000] = {2};
    struct bands b = {0};
    struct err e = {0};
    struct str data;
    bool fatal;
    int n = 0;

    while (band_split(&b, str_make(packet, sizeof packet), &data, &fatal, &e))
        n++;
    CHECK(e.code == ERR_LIMIT && n == TRANSFER_MAX_IDLE_BYTES / 65004);
}
