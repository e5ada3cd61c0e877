/* Advertisements and answers, of version 2 and 0: cut as it likes, the same
 * is understood. FETCH.md 3, 8; [row 13, row 14, row 30]. */

#include "base/hash.h"

#include <stdlib.h>

#include "../../fetch/worker/protocol.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum kind { ADVERT, LS_REFS, FETCH, FETCH_V0, FETCH_V0_RAW, KINDS };

struct outcome {
    enum wire_fault fault;
    size_t refs, shallow;
    struct hash pack;
};

static bool on_pack(void *ctx, struct str bytes, struct err *e)
{
    if (bytes.n == 0)
        abort();
    (void)e;
    hash_add(ctx, bytes);
    return true;
}

/* One of the readers, as far as they are alike. */
struct reader {
    enum kind kind;
    struct advert advert;
    struct ls_refs_answer ls_refs;
    struct fetch_answer fetch;
};

static bool feed(struct reader *r, struct str bytes, struct err *e)
{
    switch (r->kind) {
    case ADVERT:
        return advert_feed(&r->advert, bytes, e);
    case LS_REFS:
        return ls_refs_feed(&r->ls_refs, bytes, e);
    default:
        return fetch_answer_feed(&r->fetch, bytes, e);
    }
}

static bool end(struct reader *r, struct err *e)
{
    switch (r->kind) {
    case ADVERT:
        return advert_end(&r->advert, e);
    case LS_REFS:
        return ls_refs_end(&r->ls_refs, e);
    default:
        return fetch_answer_end(&r->fetch, e);
    }
}

static void outcome_ref(const struct ref_list *l, size_t i)
{
    outcome_str("ref", l->items[i].name);
    outcome_str("target", l->items[i].target);
    OUTCOME("%02x%02x\n", l->items[i].id.b[0], l->items[i].peeled.b[0]);
}

static void run(enum kind kind, bool deepen, struct str bytes, size_t chunk,
                struct outcome *o)
{
    static struct err e;
    struct caps caps = {.shallow = true, .side_band_64k = kind == FETCH_V0};
    struct fetch_args args = {.deepen = deepen};
    struct arena a = {0};
    struct hash_state pack;
    struct oid_set shallow;
    struct ref_list refs;
    struct reader r = {.kind = kind};
    bool ok = true;

    hash_init(&pack);
    oid_set_init(&shallow, &a);
    ref_list_init(&refs, &a);
    advert_init(&r.advert, &refs, true);
    ls_refs_init(&r.ls_refs, &refs);
    if (kind == FETCH)
        fetch_answer_init(&r.fetch, on_pack, &pack);
    else
        fetch_answer_init_v0(&r.fetch, &args, &caps, on_pack, &pack);
    r.fetch.shallow = &shallow;
    for (; ok && bytes.n; bytes = str_from_index(bytes, chunk))
        ok = feed(&r, str_slice(bytes, 0, chunk), &e);
    ok = ok && end(&r, &e);
    o->fault = kind == ADVERT    ? r.advert.fault
               : kind == LS_REFS ? r.ls_refs.fault
                                 : r.fetch.fault;
    OUTCOME("%d %d ", (int)kind, (int)o->fault);
    if (!ok)
        outcome_err(&e);
    for (size_t i = 0; i < refs.count; i++)
        outcome_ref(&refs, i);
    if (ok != (o->fault == WIRE_OK) || (!ok && e.code == ERR_NONE))
        abort();
    o->refs = refs.count;
    o->shallow = oid_set_count(&shallow);
    o->pack = hash_end(&pack);
    OUTCOME("%zu %02x\n", o->shallow, o->pack.b[0]);
    advert_done(&r.advert);
    ls_refs_done(&r.ls_refs);
    fetch_answer_done(&r.fetch);
    arena_done(&a);
}

/* Of the store: what is taken is written in one way. */
static void read_caps(struct str text)
{
    struct arena a = {0};
    struct caps caps, again;

    if (caps_parse(text, &caps))
        outcome_str("caps", caps_format(&caps, &a));
    if (caps_parse(text, &caps) &&
        (!caps_parse(caps_format(&caps, &a), &again) ||
         caps.version != again.version ||
         !str_eq(caps_format(&caps, &a), caps_format(&again, &a))))
        abort();
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole, cut;
    struct str bytes;
    enum kind kind;

    if (size < 3)
        return 0;
    kind = (enum kind)(data[0] % KINDS);
    bytes = str_make((const char *)data + 2, size - 2);
    read_caps(bytes);
    run(kind, data[0] & 0x80, bytes, bytes.n, &whole);
    run(kind, data[0] & 0x80, bytes, (size_t)1 + data[1], &cut);
    if (whole.fault != cut.fault || whole.refs != cut.refs ||
        whole.shallow != cut.shallow || !hash_eq(&whole.pack, &cut.pack))
        abort();
    return 0;
}
