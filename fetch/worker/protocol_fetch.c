#include "mapm/limits.h"

#include "protocol.h"

/* --- requests ------------------------------------------------------------- */

static void put_ids(struct buf *out, const char *word, const struct oid *ids,
                    size_t count)
{
    char hex[OID_HEX_CHARS + 1];

    for (size_t i = 0; i < count; i++) {
        oid_format(&ids[i], hex);
        pkt_printf(out, "%s %s\n", word, hex);
    }
}

void fetch_request(struct buf *out, const struct fetch_args *w)
{
    pkt_printf(out, "command=fetch\n");
    pkt_printf(out, "agent=%s\n", AGENT);
    pkt_printf(out, "object-format=sha1\n");
    pkt_put_delim(out);
    if (w->thin)
        pkt_printf(out, "thin-pack\n");
    pkt_printf(out, "ofs-delta\n");
    pkt_printf(out, "no-progress\n");
    put_ids(out, "shallow", w->shallows, w->shallow_count);
    if (w->deepen)
        pkt_printf(out, "deepen %u\n", w->deepen);
    if (w->filter)
        pkt_printf(out, "filter %s\n", w->filter);
    put_ids(out, "want", w->wants, w->want_count);
    put_ids(out, "have", w->haves, w->have_count);
    pkt_printf(out, "done\n");
    pkt_put_flush(out);
}

/* Version 0 sends the capabilities with the first want. */
static void put_first_want(struct buf *out, const struct fetch_args *w,
                           const struct caps *caps)
{
    char hex[OID_HEX_CHARS + 1];

    oid_format(&w->wants[0], hex);
    pkt_printf(out, "want %s%s%s%s%s%s%s agent=%s\n", hex,
               caps->multi_ack_detailed ? " multi_ack_detailed"
               : caps->multi_ack        ? " multi_ack"
                                        : "",
               caps->multi_ack_detailed && caps->no_done ? " no-done" : "",
               caps->side_band_64k ? " side-band-64k"
               : caps->side_band   ? " side-band"
                                   : "",
               caps->ofs_delta ? " ofs-delta" : "",
               caps->no_progress ? " no-progress" : "",
               w->filter && caps->filter ? " filter" : "", AGENT);
}

void fetch_request_v0(struct buf *out, const struct fetch_args *w,
                      const struct caps *caps)
{
    if (w->want_count == 0)
        return;
    put_first_want(out, w, caps);
    put_ids(out, "want", w->wants + 1, w->want_count - 1);
    if (caps->shallow) {
        put_ids(out, "shallow", w->shallows, w->shallow_count);
        if (w->deepen)
            pkt_printf(out, "deepen %u\n", w->deepen);
    }
    if (w->filter && caps->filter)
        pkt_printf(out, "filter %s\n", w->filter);
    pkt_put_flush(out);
    put_ids(out, "have", w->haves, w->have_count);
    pkt_printf(out, "done\n");
}

/* --- responses ------------------------------------------------------------ */

enum answer_state {
    ANSWER_SECTION, /* version 2: the name of a section */
    ANSWER_LINES,   /* lines of a section other than the pack */
    ANSWER_SHALLOW, /* version 0, after "deepen": until a flush */
    ANSWER_ACKS,    /* version 0: NAK or ACK, then the pack without a marker */
    ANSWER_BANDS,   /* the pack in side bands, until a flush */
    ANSWER_RAW,     /* the pack without side bands, until the end */
    ANSWER_ENDED,
};

void fetch_answer_init(struct fetch_answer *f,
                       bool (*pack)(void *ctx, struct str bytes, struct err *e),
                       void *ctx)
{
    *f = (struct fetch_answer){
        .pack = pack, .ctx = ctx, .state = ANSWER_SECTION};
    pkt_reader_init(&f->pkt);
}

void fetch_answer_init_v0(
    struct fetch_answer *f, const struct fetch_args *w, const struct caps *caps,
    bool (*pack)(void *ctx, struct str bytes, struct err *e), void *ctx)
{
    fetch_answer_init(f, pack, ctx);
    f->v0 = caps;
    f->state = w->deepen && caps->shallow ? ANSWER_SHALLOW : ANSWER_ACKS;
}

void fetch_answer_done(struct fetch_answer *f)
{
    pkt_reader_done(&f->pkt);
}

static bool is_cut_line(struct str line)
{
    return str_starts(line, STR("shallow ")) ||
           str_starts(line, STR("unshallow "));
}

/* Limits the lines before the pack. "shallow" lines, one per commit, are not
 * counted as idle bytes. */
static bool count_line(struct fetch_answer *f, struct str packet, struct err *e)
{
    if (++f->lines > TRANSFER_MAX_LINES) {
        err_set(e, ERR_LIMIT,
                "the response has more than %d lines before its pack",
                TRANSFER_MAX_LINES);
        return wire_fail(&f->fault, WIRE_LIMIT);
    }
    return is_cut_line(packet) || bands_count_idle(&f->bands, packet.n, e) ||
           wire_fail(&f->fault, WIRE_LIMIT);
}

static bool read_shallow(struct fetch_answer *f, struct str line, struct err *e)
{
    struct oid id;
    bool cut = str_starts(line, STR("shallow "));

    if (!cut && !str_starts(line, STR("unshallow ")))
        return wire_not_git(&f->fault, "an unknown line before the pack", e);
    if (!oid_parse(str_from_index(line, cut ? 8 : 10), &id))
        return wire_not_git(&f->fault, "a shallow line without an id", e);
    if (cut && f->shallow)
        oid_set_put(f->shallow, &id);
    return true;
}

static bool read_section(struct fetch_answer *f, struct str line, struct err *e)
{
    static const char *const names[] = {"acknowledgments", "shallow-info",
                                        "wanted-refs", "packfile-uris"};

    if (str_is(line, "packfile")) {
        f->has_pack = true;
        f->state = ANSWER_BANDS;
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_is(line, names[i])) {
            f->state = ANSWER_LINES;
            return true;
        }
    }
    return wire_not_git(&f->fault, "an unknown section", e);
}

static bool give(struct fetch_answer *f, struct str bytes, struct err *e)
{
    f->has_pack = true;
    return bytes.n == 0 || f->pack(f->ctx, bytes, e) ||
           wire_fail(&f->fault, WIRE_PACK);
}

static bool read_band(struct fetch_answer *f, struct str packet, struct err *e)
{
    struct str data;
    bool is_fatal;

    if (band_split(&f->bands, packet, &data, &is_fatal, e))
        return give(f, data, e);
    if (is_fatal)
        return wire_fail(&f->fault, wire_classify(packet));
    return wire_fail(&f->fault,
                     e->code == ERR_LIMIT ? WIRE_LIMIT : WIRE_NOT_GIT);
}

static bool has_bands(const struct fetch_answer *f)
{
    return f->v0->side_band || f->v0->side_band_64k;
}

/* Version 0: no marker separates the acknowledgments from the pack. */
static bool read_ack(struct fetch_answer *f, struct str packet, struct err *e)
{
    struct str line = pkt_line(packet);

    if (str_is(line, "NAK") || str_starts(line, STR("ACK ")))
        return count_line(f, line, e);
    if (!has_bands(f))
        return wire_not_git(&f->fault, "an unknown line before the pack", e);
    f->state = ANSWER_BANDS;
    return read_band(f, packet, e);
}

static bool read_data(struct fetch_answer *f, struct str packet, struct err *e)
{
    switch ((enum answer_state)f->state) {
    case ANSWER_SECTION:
        return count_line(f, packet, e) && read_section(f, pkt_line(packet), e);
    case ANSWER_LINES:
        /* Only "shallow" lines matter: no acknowledgments follow `done`, and
         * the other sections were not requested. */
        return count_line(f, packet, e) &&
               (!is_cut_line(packet) || read_shallow(f, pkt_line(packet), e));
    case ANSWER_SHALLOW:
        return count_line(f, packet, e) && read_shallow(f, pkt_line(packet), e);
    case ANSWER_ACKS:
        return read_ack(f, packet, e);
    case ANSWER_BANDS:
        return read_band(f, packet, e);
    case ANSWER_RAW:
    case ANSWER_ENDED:
        break;
    }
    return wire_not_git(&f->fault, "more than one answer", e);
}

static bool read_mark(struct fetch_answer *f, enum pkt_kind mark, struct err *e)
{
    if (mark == PKT_DELIM && f->state == ANSWER_LINES) {
        f->state = ANSWER_SECTION;
        return true;
    }
    if (mark == PKT_FLUSH) {
        switch ((enum answer_state)f->state) {
        case ANSWER_SHALLOW:
            f->state = ANSWER_ACKS;
            return true;
        case ANSWER_SECTION:
        case ANSWER_LINES:
        case ANSWER_BANDS:
            f->state = ANSWER_ENDED;
            return true;
        case ANSWER_ACKS:
        case ANSWER_RAW:
        case ANSWER_ENDED:
            break;
        }
    }
    return wire_not_git(&f->fault, "a mark where none belongs", e);
}

/* Version 0 without side bands: "PACK" appears in place of a length. */
static bool is_raw_pack(const struct fetch_answer *f, struct str bytes)
{
    return f->state == ANSWER_ACKS && !has_bands(f) && f->lines > 0 &&
           !pkt_reader_is_inside(&f->pkt) && bytes.p[0] == 'P';
}

bool fetch_answer_feed(struct fetch_answer *f, struct str bytes, struct err *e)
{
    struct pkt pkt;

    while (bytes.n) {
        if (is_raw_pack(f, bytes))
            f->state = ANSWER_RAW;
        if (f->state == ANSWER_RAW)
            return give(f, bytes, e);
        if (f->state == ANSWER_ENDED)
            return wire_not_git(&f->fault, "more than one answer", e);
        if (!wire_next(&f->pkt, &bytes, &pkt, &f->fault, e))
            return false;
        if (pkt.kind == PKT_NONE)
            break;
        if (!(pkt.kind == PKT_DATA ? read_data(f, pkt.data, e)
                                   : read_mark(f, pkt.kind, e)))
            return false;
    }
    return true;
}

bool fetch_answer_cut(struct fetch_answer *f, struct err *e)
{
    struct str held = pkt_reader_held(&f->pkt);

    return f->state != ANSWER_BANDS || held.n < 2 || held.p[0] != 1 ||
           give(f, str_from_index(held, 1), e);
}

bool fetch_answer_is_whole(const struct fetch_answer *f)
{
    return f->state == ANSWER_ENDED || f->state == ANSWER_RAW;
}

bool fetch_answer_end(struct fetch_answer *f, struct err *e)
{
    if (!fetch_answer_is_whole(f) || f->fault != WIRE_OK)
        return wire_not_whole(&f->pkt, &f->fault, e);
    if (f->has_pack)
        return true;
    err_set(e, ERR_FETCH, "the server's answer has no pack");
    return wire_fail(&f->fault, WIRE_CUT);
}
