#include "base/text.h"

#include "base/path.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <utf8proc.h>

#include "text_scan.h"

#define HIGH_BITS          UINT64_C(0x8080808080808080)
#define DISTANCE_MAX_CHARS 128

size_t text_ascii(struct str s)
{
    uint64_t word;
    size_t i = 0;

    for (; i + 8 <= s.n; i += 8) {
        memcpy(&word, s.p + i, 8);
        if (word & HIGH_BITS)
            break;
    }
    while (i < s.n && !((unsigned char)s.p[i] & 0x80))
        i++;
    return i;
}

/* Unicode, table 3-7: valid bytes after each first byte. */
static const struct lead {
    unsigned char from, to, bytes, low, high; /* range of the second byte */
} leads[] = {
    {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f},
    {0xee, 0xef, 3, 0x80, 0xbf}, {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static const struct lead *find_lead(unsigned char byte)
{
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
        if (byte >= leads[i].from && byte <= leads[i].to)
            return &leads[i];
    return NULL;
}

/* Returns the length of the sequence at `p`, or 0 if it is invalid; sets *out
 * to its code point. */
static size_t decode(const unsigned char *p, size_t n, int32_t *out)
{
    const struct lead *lead = find_lead(p[0]);
    int32_t value;

    if (!lead || n < lead->bytes || p[1] < lead->low || p[1] > lead->high)
        return 0;
    value = p[0] & (0x7f >> lead->bytes);
    for (size_t i = 1; i < lead->bytes; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3f);
    }
    *out = value;
    return lead->bytes;
}

int32_t text_next(struct str s, size_t *at)
{
    const unsigned char *p = (const unsigned char *)s.p;
    int32_t value = -1;
    size_t bytes;

    if (*at >= s.n)
        return -1;
    if (p[*at] < 0x80)
        return p[(*at)++];
    bytes = decode(p + *at, s.n - *at, &value);
    *at += bytes ? bytes : 1;
    return value;
}

bool text_is_utf8(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t i = text_ascii(s);
    int32_t value;

    while (i < s.n) {
        size_t bytes = decode(p + i, s.n - i, &value);

        if (bytes == 0)
            return false;
        i += bytes;
        if (i < s.n && p[i] < 0x80)
            i += text_ascii(str_from_index(s, i));
    }
    return true;
}

size_t text_count(struct str utf8)
{
    size_t count = 0, i = 0;

    while (i < utf8.n) {
        size_t ascii = text_ascii(str_from_index(utf8, i));

        i += ascii;
        count += ascii;
        if (i < utf8.n) {
            text_next(utf8, &i);
            count++;
        }
    }
    return count;
}

struct str text_cut(struct str utf8, size_t max_points)
{
    size_t i = 0;

    if (utf8.n <= max_points)
        return utf8;
    for (size_t count = 0; count < max_points && i < utf8.n; count++)
        text_next(utf8, &i);
    return str_slice(utf8, 0, i);
}

struct str text_cut_bytes(struct str utf8, size_t max_bytes)
{
    size_t n = max_bytes;

    if (utf8.n <= n)
        return utf8;
    while (n > 0 && ((unsigned char)utf8.p[n] & 0xc0) == 0x80)
        n--;
    return str_slice(utf8, 0, n);
}

void text_put(struct buf *out, int32_t code_point)
{
    utf8proc_uint8_t bytes[4];

    if (!utf8proc_codepoint_valid(code_point))
        code_point = 0xfffd;
    buf_append(out, str_make((const char *)bytes,
                             (size_t)utf8proc_encode_char(code_point, bytes)));
}

/* Returns whether a code point is white space for Unicode and
 * Python's str.strip. */
static bool text_is_space(int32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 ||
           c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

bool text_has_control(struct str s)
{
    for (size_t i = 0; i < s.n;) {
        unsigned char byte = (unsigned char)s.p[i];
        int32_t c = text_next(s, &i);

        /* A lone C1 byte controls a terminal that is not UTF-8. */
        if (c < 0 ? byte < 0xa0 : c < 0x20 || (c >= 0x7f && c < 0xa0))
            return true;
    }
    return false;
}

bool text_is_shell_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_lower(s.p[i]) && !char_is_digit(s.p[i]) &&
            (s.p[i] < 'A' || s.p[i] > 'Z') &&
            !str_has_char(STR("/._-+@:"), s.p[i]))
            return false;
    return s.n != 0;
}

/* Maps text; returns `s` itself if it is not UTF-8, so that invalid names are
 * compared by bytes. */
static struct str map_text(struct str s, utf8proc_option_t options,
                           struct arena *a)
{
    const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)s.p;
    utf8proc_int32_t *points;
    utf8proc_ssize_t count, bytes;

    if (s.n == 0 || s.n > INT32_MAX)
        return arena_str(a, s);
    options |= UTF8PROC_STABLE;
    count = utf8proc_decompose(p, (utf8proc_ssize_t)s.n, NULL, 0, options);
    if (count < 0)
        return arena_str(a, s);
    points = arena_array(a, (size_t)count + 1, sizeof *points);
    count =
        utf8proc_decompose(p, (utf8proc_ssize_t)s.n, points, count, options);
    bytes = count < 0 ? count : utf8proc_reencode(points, count, options);
    if (bytes < 0)
        return arena_str(a, s);
    return str_make((const char *)points, (size_t)bytes);
}

struct str text_fold(struct str s, struct arena *a)
{
    if (text_ascii(s) == s.n)
        return str_lower(s, a);
    /* The result of folding may fold or compose again; two passes
     * are sufficient. */
    for (int i = 0; i < 2; i++)
        s = map_text(map_text(s, UTF8PROC_COMPOSE, a),
                     UTF8PROC_CASEFOLD | UTF8PROC_COMPOSE, a);
    return s;
}

struct str text_strip(struct str s)
{
    size_t at, kept = 0;

    while (at = 0, s.n && text_is_space(text_next(s, &at)))
        s = str_from_index(s, at);
    for (at = 0; at < s.n;)
        if (!text_is_space(text_next(s, &at)))
            kept = at;
    return str_slice(s, 0, kept);
}

struct str text_nfkc(struct str s, struct arena *a)
{
    s = text_strip(s);
    if (text_ascii(s) == s.n)
        return arena_str(a, s);
    return map_text(s, UTF8PROC_COMPOSE | UTF8PROC_COMPAT, a);
}

struct str text_one_line(struct str s, struct arena *a)
{
    char *out = arena_alloc(a, s.n + 1);
    bool blank = false;
    size_t n = 0;

    for (size_t at = 0, from = 0; at < s.n; from = at) {
        bool plain = s.p[at] > ' ' && s.p[at] < 0x7f;

        if (plain) {
            at++;
        } else if (text_is_space(text_next(s, &at))) {
            blank = true;
            continue;
        }
        if (blank && n)
            out[n++] = ' ';
        blank = false;
        if (plain) {
            out[n++] = s.p[from];
            continue;
        }
        memcpy(out + n, s.p + from, at - from);
        n += at - from;
    }
    out[n] = '\0';
    return str_make(out, n);
}

size_t text_width(struct str s)
{
    size_t width = 0;

    for (size_t i = 0; i < s.n;) {
        int32_t c = text_next(s, &i);
        int columns = c < 0 ? 1 : utf8proc_charwidth(c);

        width += columns > 0 ? (size_t)columns : 0;
    }
    return width;
}

struct str text_fit(struct str s, size_t columns)
{
    size_t used = 0;

    for (size_t at = 0, from = 0; at < s.n; from = at) {
        text_next(s, &at);
        used += text_width(str_slice(s, from, at));
        if (used > columns)
            return str_slice(s, 0, from);
    }
    return s;
}

struct str text_unix_lines(struct str s, struct arena *a)
{
    size_t n = str_find_char(s, '\r');
    char *out;

    if (n == SIZE_MAX)
        return s;
    out = arena_alloc(a, s.n + 1);
    memcpy(out, s.p, n);
    for (size_t i = n; i < s.n; i++) {
        if (s.p[i] != '\r')
            out[n++] = s.p[i];
        else if (i + 1 == s.n || s.p[i + 1] != '\n')
            out[n++] = '\n';
    }
    out[n] = '\0';
    return str_make(out, n);
}

static size_t points_of(struct str s, int32_t out[DISTANCE_MAX_CHARS])
{
    size_t n = 0;

    for (size_t at = 0; at < s.n; n++) {
        if (n == DISTANCE_MAX_CHARS)
            return n + 1;
        out[n] = text_next(s, &at);
    }
    return n;
}

static size_t least(size_t x, size_t y)
{
    return x < y ? x : y;
}

size_t text_distance(struct str x, struct str y, size_t limit)
{
    int32_t xs[DISTANCE_MAX_CHARS], ys[DISTANCE_MAX_CHARS];
    size_t rows[3][DISTANCE_MAX_CHARS + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2], *free_row;
    size_t nx = points_of(x, xs), ny = points_of(y, ys);

    if (nx > DISTANCE_MAX_CHARS || ny > DISTANCE_MAX_CHARS)
        return str_eq(x, y) ? 0 : limit + 1;
    for (size_t k = 0; k <= ny; k++)
        last[k] = k;
    for (size_t i = 1; i <= nx; i++) {
        now[0] = i;
        for (size_t k = 1; k <= ny; k++) {
            now[k] = least(last[k - 1] + (xs[i - 1] != ys[k - 1]),
                           least(last[k], now[k - 1]) + 1);
            if (i > 1 && k > 1 && xs[i - 1] == ys[k - 2] &&
                xs[i - 2] == ys[k - 1])
                now[k] = least(now[k], before[k - 2] + 1);
        }
        free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return least(last[ny], limit + 1);
}

static void nearest_put(struct text_nearest *n, struct str known, size_t edits)
{
    size_t at = n->count;

    for (size_t i = 0; i < n->count; i++)
        if (str_eq(n->found[i], known))
            return;
    while (at > 0 && n->edits[at - 1] > edits)
        at--;
    if (at == TEXT_NEAREST_MAX)
        return;
    if (n->count < TEXT_NEAREST_MAX)
        n->count++;
    for (size_t i = n->count - 1; i > at; i--) {
        n->found[i] = n->found[i - 1];
        n->edits[i] = n->edits[i - 1];
    }
    n->found[at] = known;
    n->edits[at] = edits;
}

/* Allows at most half of the bytes of a short name to differ. */
static size_t max_of(struct str name, size_t max_edits)
{
    return least(max_edits, name.n / 2);
}

void text_nearest_add(struct text_nearest *n, struct str name, struct str known,
                      size_t max_edits)
{
    size_t edits;

    max_edits = max_of(name, max_edits);
    edits = text_distance(name, known, max_edits);

    if (edits <= max_edits)
        nearest_put(n, known, edits);
}

void text_nearest_add_path(struct text_nearest *n, struct str name,
                           struct str path, size_t max_edits)
{
    size_t edits;

    max_edits = max_of(name, max_edits);
    edits = least(text_distance(name, path, max_edits),
                  text_distance(name, path_last(path), max_edits));
    if (edits <= max_edits)
        nearest_put(n, path, edits);
}

struct str text_line_end(struct str text)
{
    size_t at = str_find_char(text, '\n');

    return at != SIZE_MAX && at > 0 && text.p[at - 1] == '\r' ? STR("\r\n")
                                                              : STR("\n");
}

const char *text_bytes(uint64_t n, char out[16])
{
    static const char *const units[] = {"B",  "kB", "MB", "GB",
                                        "TB", "PB", "EB"};
    uint64_t unit = 1, tenths;
    size_t i = 0;

    /* 999,950 rounds to 1000.0 of its unit, which is 1.0 of the next. */
    while (i + 1 < sizeof units / sizeof *units && n / unit >= 1000) {
        unit *= 1000;
        i++;
    }
    if (i && i + 1 < sizeof units / sizeof *units &&
        n >= unit * 1000 - unit / 20) {
        unit *= 1000;
        i++;
    }
    if (i == 0) {
        snprintf(out, 16, "%u B", (unsigned)n);
        return out;
    }
    tenths = n / (unit / 10) + (n % (unit / 10) >= unit / 20);
    snprintf(out, 16, "%u.%u %s", (unsigned)(tenths / 10),
             (unsigned)(tenths % 10), units[i]);
    return out;
}

bool text_decimal(struct str text, unsigned digits, uint64_t max, uint64_t *out)
{
    struct str whole = text, part = STR("");
    size_t point = str_find_char(whole, '.');
    uint64_t n, m = 0;

    if (point != SIZE_MAX) {
        part = str_from_index(whole, point + 1);
        whole = str_slice(whole, 0, point);
        if (part.n == 0 || part.n > digits || !str_number(part, UINT64_MAX, &m))
            return false;
    }
    if (!str_number(whole, max, &n))
        return false;
    for (size_t i = 0; i < digits; i++) {
        n *= 10;
        m *= i < part.n ? 1 : 10;
    }
    *out = n + m;
    return true;
}

/* The callers' formats are checked where they are written: see the header. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

__attribute__((format(strftime, 3, 0))) static const char *
format_time(int64_t seconds, struct tm *(*convert)(const time_t *, struct tm *),
            const char *format, char *out)
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (!convert(&t, &tm) || strftime(out, TEXT_TIME_BYTES, format, &tm) == 0)
        out[0] = '\0';
    return out;
}

const char *text_utc(int64_t seconds, const char *format,
                     char out[TEXT_TIME_BYTES])
{
    return format_time(seconds, gmtime_r, format, out);
}

const char *text_local(int64_t seconds, const char *format,
                       char out[TEXT_TIME_BYTES])
{
    return format_time(seconds, localtime_r, format, out);
}

#pragma GCC diagnostic pop
