/* Packets: however the bytes are cut, the same packets come out. [row 30]. */

#include "base/hash.h"

#include <stdlib.h>

#include "../../fetch/worker/pktline.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(struct hash_state *h, const struct pkt *pkt)
{
    unsigned char kind = (unsigned char)pkt->kind;
    uint32_t n = (uint32_t)pkt->data.n;

    hash_add(h, str_make((char *)&kind, 1));
    hash_add(h, str_make((char *)&n, sizeof n));
    if (n)
        hash_add(h, pkt->data);
}

static struct hash read_all(struct str bytes, size_t chunk, bool *ok)
{
    struct hash_state h;
    struct pkt_reader r;
    struct bands bands = {0};
    struct str data;
    bool fatal = false;

    hash_init(&h);
    pkt_reader_init(&r);
    *ok = true;
    while (*ok && bytes.n) {
        struct str part = str_slice(bytes, 0, chunk);
        struct pkt pkt = {.kind = PKT_DATA};

        bytes = str_from_index(bytes, part.n);
        while (pkt.kind != PKT_NONE) {
            static struct err e;

            *ok = pkt_read(&r, &part, &pkt, &e);
            if (!*ok) {
                outcome_err(&e);
                break;
            }
            OUTCOME("%d %zu\n", (int)pkt.kind, pkt.data.n);
            if (pkt.kind != PKT_NONE)
                note(&h, &pkt);
            if (pkt.kind == PKT_DATA &&
                band_split(&bands, pkt.data, &data, &fatal, &e) &&
                data.n > pkt.data.n)
                abort();
            OUTCOME("%d\n", (int)fatal);
            if (pkt.kind == PKT_NONE && part.n)
                abort();
        }
    }
    pkt_reader_done(&r);
    return hash_end(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_make((const char *)data + 1, size - 1);
    struct hash one, two;
    bool ok, again;

    if (size < 2)
        return 0;
    one = read_all(bytes, bytes.n, &ok);
    two = read_all(bytes, (size_t)1 + data[0], &again);
    if (ok != again || !hash_eq(&one, &two))
        abort();
    return 0;
}
