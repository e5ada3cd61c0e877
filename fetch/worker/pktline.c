#include "pktline.h"

#include "base/invariant.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <stdarg.h>
#include <stdio.h>

#define LENGTH_BYTES    4
#define SHOWN_MAX_BYTES 2048
#define WORDS_MAX_BYTES 400

void pkt_reader_init(struct pkt_reader *r)
{
    *r = (struct pkt_reader){0};
    buf_init(&r->held, PKT_MAX_BYTES);
}

void pkt_reader_done(struct pkt_reader *r)
{
    buf_done(&r->held);
}

/* Rejects text in place of a length, for example HTML of a captive portal. */
static bool refuse_length(struct str digits, struct err *e)
{
    CLEANUP(buf_done) struct buf b;

    buf_init(&b, SHOWN_MAX_BYTES);
    text_visible(&b, str_slice(digits, 0, LENGTH_BYTES), false);
    return err_set(e, ERR_FETCH,
                   "not a git server: \"%.*s\" where the length of a packet "
                   "belongs",
                   STR_ARG(buf_str(&b)));
}

static bool parse_length(struct str digits, size_t *out, struct err *e)
{
    size_t length = 0;

    for (size_t i = 0; i < LENGTH_BYTES; i++) {
        int digit = char_hex(digits.p[i]);

        if (digit < 0)
            return refuse_length(digits, e);
        length = length * 16 + (size_t)digit;
    }
    if (length == 3 || length > PKT_MAX_BYTES)
        return refuse_length(digits, e);
    *out = length;
    return true;
}

/* Moves bytes into `held` until it has `wanted` bytes. Returns false if there
 * are not enough. */
static bool hold(struct pkt_reader *r, struct str *bytes, size_t wanted)
{
    size_t n = wanted - r->held.n;

    INVARIANT(r->held.n <= wanted && wanted <= PKT_MAX_BYTES);
    if (n > bytes->n)
        n = bytes->n;
    buf_append(&r->held, str_slice(*bytes, 0, n));
    *bytes = str_from_index(*bytes, n);
    return r->held.n == wanted;
}

static void finish(size_t length, struct str whole, struct pkt *out)
{
    static const enum pkt_kind marks[] = {PKT_FLUSH, PKT_DELIM, PKT_END};

    if (length < sizeof marks / sizeof *marks)
        *out = (struct pkt){.kind = marks[length]};
    else
        *out = (struct pkt){.kind = PKT_DATA,
                            .data = str_from_index(whole, LENGTH_BYTES)};
}

bool pkt_read(struct pkt_reader *r, struct str *bytes, struct pkt *out,
              struct err *e)
{
    size_t length = 0, wanted;
    struct str whole;

    *out = (struct pkt){.kind = PKT_NONE};
    r->any = r->any || bytes->n;
    if (r->held.n == 0 && bytes->n >= LENGTH_BYTES) {
        /* Usual case: the packet is complete and used in place. */
        if (!parse_length(*bytes, &length, e))
            return false;
        wanted = length < LENGTH_BYTES ? LENGTH_BYTES : length;
        if (bytes->n >= wanted) {
            finish(length, str_slice(*bytes, 0, wanted), out);
            *bytes = str_from_index(*bytes, wanted);
            return true;
        }
    }
    if (r->held.n < LENGTH_BYTES && !hold(r, bytes, LENGTH_BYTES))
        return true;
    if (!parse_length(buf_str(&r->held), &length, e))
        return false;
    wanted = length < LENGTH_BYTES ? LENGTH_BYTES : length;
    if (r->held.n < wanted && !hold(r, bytes, wanted))
        return true;
    whole = buf_str(&r->held);
    r->held.n = 0; /* the bytes remain valid until the next call */
    finish(length, whole, out);
    return true;
}

bool pkt_reader_is_inside(const struct pkt_reader *r)
{
    return r->held.n > 0;
}

struct str pkt_reader_held(const struct pkt_reader *r)
{
    INVARIANT(r->held.n >= LENGTH_BYTES || !r->held.n);
    return str_from_index(buf_str(&r->held), LENGTH_BYTES);
}

struct str pkt_line(struct str data)
{
    if (data.n && data.p[data.n - 1] == '\n')
        data.n--;
    return data;
}

void pkt_put(struct buf *out, struct str data)
{
    if (data.n > PKT_DATA_MAX_BYTES) {
        out->overflowed = true;
        return;
    }
    buf_printf(out, "%04zx", data.n + LENGTH_BYTES);
    buf_append(out, data);
}

void pkt_printf(struct buf *out, const char *format, ...)
{
    char text[1024];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text)
        out->overflowed = true;
    else
        pkt_put(out, str_make(text, (size_t)n));
}

void pkt_put_flush(struct buf *out)
{
    buf_text(out, "0000");
}

void pkt_put_delim(struct buf *out)
{
    buf_text(out, "0001");
}

bool pkt_remote_error(struct str words, struct err *e)
{
    CLEANUP(buf_done) struct buf b;

    buf_init(&b, SHOWN_MAX_BYTES);
    while (words.n && words.p[words.n - 1] == '\0')
        words.n--; /* git includes the terminating NUL */
    text_visible(&b, str_slice(str_trim(words), 0, WORDS_MAX_BYTES), false);
    return err_set(e, ERR_FETCH, "the server says: %.*s", STR_ARG(buf_str(&b)));
}

bool bands_count_idle(struct bands *b, size_t bytes, struct err *e)
{
    b->idle_bytes += bytes;
    if (b->idle_bytes <= TRANSFER_MAX_IDLE_BYTES)
        return true;
    err_set(e, ERR_LIMIT,
            "the server sent more than %u KiB of progress text and other "
            "bytes, and no file with them",
            TRANSFER_MAX_IDLE_BYTES >> 10);
    return err_hint(e, "try again later; if it stays so, the host is broken or "
                       "malicious: tell its administrator");
}

bool band_split(struct bands *b, struct str packet, struct str *data,
                bool *fatal, struct err *e)
{
    struct str rest = str_from_index(packet, 1);
    struct str nothing = {"", 0};

    *fatal = false;
    switch (packet.n ? packet.p[0] : 0) {
    case 1:
        *data = rest;
        return rest.n || bands_count_idle(b, LENGTH_BYTES + packet.n, e);
    case 2:
        *data = nothing;
        return bands_count_idle(b, LENGTH_BYTES + packet.n, e);
    case 3:
        *fatal = true;
        return pkt_remote_error(rest, e);
    default:
        return err_set(e, ERR_FETCH, "not a git server: unknown side band %d",
                       packet.n ? (unsigned char)packet.p[0] : 0);
    }
}
