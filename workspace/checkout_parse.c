#include "base/buf.h"
#include "mapm/checkout.h"
#include "mapm/limits.h"
#include "mapm/origin.h"

#include <string.h>

/* --- configuration -------------------------------------------------------- */

/* Matches [remote "name"], ignoring anything after it. */
static bool is_remote_section(struct str line)
{
    size_t end = str_find_char(line, ']');
    struct str inside;

    if (end == SIZE_MAX)
        return false;
    inside = str_trim(str_slice(line, 1, end));
    return inside.n > 8 &&
           str_eq_nocase(str_slice(inside, 0, 6), STR("remote")) &&
           (inside.p[6] == ' ' || inside.p[6] == '\t') &&
           inside.p[inside.n - 1] == '"';
}

/* Parses `url = …`, quoted or not. Values with escapes or continuation lines
 * are rejected, since they are not URLs. */
static bool read_url(struct str line, struct str *url)
{
    size_t equals = str_find_char(line, '=');
    size_t comment;

    if (equals == SIZE_MAX ||
        !str_eq_nocase(str_trim(str_slice(line, 0, equals)), STR("url")))
        return false;
    *url = str_trim(str_from_index(line, equals + 1));
    if (url->n > 1 && url->p[0] == '"' && url->p[url->n - 1] == '"')
        *url = str_slice(*url, 1, url->n - 1);
    comment = str_find_char(*url, '#');
    *url = str_trim(str_slice(*url, 0, comment < url->n ? comment : url->n));
    return !str_has_char(*url, '\\') && !str_has_char(*url, '"');
}

const struct str *checkout_parse_remotes(struct str config, struct arena *a,
                                         size_t *count)
{
    struct str *urls = arena_array(a, CHECKOUT_MAX_REMOTES, sizeof *urls);
    struct str line, url;
    bool in_remote = false;

    *count = 0;
    if (config.n > CHECKOUT_CONFIG_MAX_BYTES)
        return urls;
    while (*count < CHECKOUT_MAX_REMOTES && str_line(&config, &line)) {
        line = str_trim(line);
        if (line.n && line.p[0] == '[')
            in_remote = is_remote_section(line);
        else if (in_remote && read_url(line, &url)) {
            urls[*count] = origin_of_remote(url, a);
            *count += urls[*count].n > 0;
        }
    }
    return urls;
}

/* --- index ---------------------------------------------------------------- */

struct cursor {
    struct str bytes;
    size_t at;
};

static bool take_number(struct cursor *c, size_t bytes, uint32_t *out)
{
    uint32_t n = 0;

    if (c->bytes.n - c->at < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)c->bytes.p[c->at++];
    *out = n;
    return true;
}

static bool skip(struct cursor *c, size_t n)
{
    if (c->bytes.n - c->at < n)
        return false;
    c->at += n;
    return true;
}

/* Reads git's variable-length integer: the number of bytes to drop from the
 * previous name. */
static bool take_offset(struct cursor *c, size_t *out)
{
    uint32_t byte = 0;
    size_t n;

    if (!take_number(c, 1, &byte))
        return false;
    for (n = byte & 0x7f; byte & 0x80; n = (n << 7) + (byte & 0x7f)) {
        if (n > PACKAGE_PATH_MAX_BYTES * 64 || !take_number(c, 1, &byte))
            return false;
        n++;
    }
    *out = n;
    return true;
}

static bool take_text(struct cursor *c, struct str *out)
{
    struct str rest = str_from_index(c->bytes, c->at);
    const char *end = rest.n ? memchr(rest.p, 0, rest.n) : NULL;

    if (!end)
        return false;
    *out = str_slice(rest, 0, (size_t)(end - rest.p));
    c->at += out->n;
    return true;
}

#define STAT_BYTES 40

/* `name` contains the previous entry's name on entry, and this one's on
 * return. */
static bool take_name(struct cursor *c, uint32_t version, size_t start,
                      struct buf *name)
{
    struct str text;
    size_t drop = 0, length;

    if (version == 4 && !take_offset(c, &drop))
        return false;
    if (!take_text(c, &text))
        return false;
    if (version == 4) {
        if (drop > name->n)
            return false;
        name->n -= drop;
        buf_append(name, text);
        return skip(c, 1) && !name->overflowed;
    }
    name->n = 0;
    buf_append(name, text);
    length = c->at - start;
    return skip(c, 8 - length % 8) && !name->overflowed;
}

static bool has_path(struct str index, size_t hash_bytes, struct str path,
                     bool *found)
{
    CLEANUP(buf_done) struct buf name = {0};
    struct cursor c = {index, 4};
    uint32_t version = 0, count = 0, flags = 0;

    *found = false;
    if (!str_starts(index, STR("DIRC")) || !take_number(&c, 4, &version) ||
        !take_number(&c, 4, &count) || version < 2 || version > 4)
        return false;
    buf_init(&name, CHECKOUT_CONFIG_MAX_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        size_t start = c.at;

        if (!skip(&c, STAT_BYTES + hash_bytes) || !take_number(&c, 2, &flags) ||
            (version > 2 && flags & 0x4000 && !skip(&c, 2)) ||
            !take_name(&c, version, start, &name) || name.n == 0)
            return false;
        if (str_eq(buf_str(&name), path)) {
            *found = true;
            return true;
        }
    }
    return true;
}

bool checkout_index_has(struct str index, struct str path)
{
    bool found;

    return (has_path(index, 20, path, &found) && found) ||
           (has_path(index, 32, path, &found) && found);
}
