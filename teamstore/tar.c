#include "tar.h"

#include <stdio.h>

#define NAME_BYTES   100
#define PREFIX_BYTES 155
#define PAX_NAME     "pax"

/* clang-format off */
struct header {
    char name[NAME_BYTES], mode[8], uid[8], gid[8], size[12], mtime[12];
    char checksum[8], type, link[NAME_BYTES], magic[6], version[2];
    char owner[32], group[32], major[8], minor[8], prefix[PREFIX_BYTES];
    char rest[12];
};
/* clang-format on */

_Static_assert(sizeof(struct header) == TAR_BLOCK, "a header is a block");

/* Copies as much as fits into `field`. */
static void put_text(char *field, size_t room, struct str text)
{
    memcpy(field, text.p, text.n < room ? text.n : room);
}

/* Writes octal digits up to the last byte, which stays NUL. */
static void put_octal(char *field, size_t room, uint64_t n)
{
    for (size_t i = room - 1; i-- > 0; n >>= 3)
        field[i] = (char)('0' + (n & 7));
}

static uint64_t sum_of(const struct header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof *h; i++)
        sum += p[i];
    return sum;
}

static void put_checksum(struct header *h)
{
    memset(h->checksum, ' ', sizeof h->checksum);
    put_octal(h->checksum, 7, sum_of(h));
    h->checksum[6] = '\0'; /* the byte after it stays a blank */
}

/* Finds the shortest prefix that leaves a name which fits; 0 if no split is
 * needed. */
static bool split(struct str path, size_t *prefix)
{
    *prefix = 0;
    if (path.n <= NAME_BYTES)
        return true;
    for (size_t i = 1; i <= PREFIX_BYTES && i + 1 < path.n; i++) {
        if (path.p[i] != '/' || path.n - i - 1 > NAME_BYTES)
            continue;
        *prefix = i;
        return true;
    }
    return false;
}

static void put_header(struct str name, struct str prefix, char type,
                       unsigned mode, uint64_t size, struct buf *out)
{
    struct header h = {.type = type};

    put_text(h.name, sizeof h.name, name);
    put_text(h.prefix, sizeof h.prefix, prefix);
    put_octal(h.mode, sizeof h.mode, mode);
    put_octal(h.uid, sizeof h.uid, 0);
    put_octal(h.gid, sizeof h.gid, 0);
    put_octal(h.size, sizeof h.size, size);
    put_octal(h.mtime, sizeof h.mtime, 0);
    put_octal(h.major, sizeof h.major, 0);
    put_octal(h.minor, sizeof h.minor, 0);
    memcpy(h.magic, "ustar", sizeof h.magic);
    memcpy(h.version, "00", sizeof h.version);
    put_checksum(&h);
    buf_append(out, str_make((const char *)&h, sizeof h));
}

/* Writes "LENGTH path=PATH LF"; the length includes its own digits. */
static void put_record(struct str path, struct buf *out)
{
    static const char zeros[TAR_BLOCK];
    size_t rest = path.n + sizeof " path=\n" - 1, n = rest + 1;

    while (n != rest + (size_t)snprintf(NULL, 0, "%zu", n))
        n = rest + (size_t)snprintf(NULL, 0, "%zu", n);
    put_header(STR(PAX_NAME), STR(""), 'x', 0644, n, out);
    buf_printf(out, "%zu path=", n);
    buf_append(out, path);
    buf_char(out, '\n');
    buf_append(out, str_make(zeros, tar_padding(n)));
}

void tar_head(struct str path, bool is_program, uint64_t size, struct buf *out)
{
    unsigned mode = is_program ? 0755 : 0644;
    size_t prefix;

    if (!split(path, &prefix)) {
        put_record(path, out);
        put_header(path, STR(""), '0', mode, size, out);
        return;
    }
    put_header(prefix ? str_from_index(path, prefix + 1) : path,
               str_slice(path, 0, prefix), '0', mode, size, out);
}

size_t tar_padding(uint64_t size)
{
    return (size_t)(-size & (TAR_BLOCK - 1));
}

static bool get_octal(const char *field, size_t room, uint64_t *out)
{
    uint64_t n = 0;

    for (size_t i = 0; i + 1 < room; i++) {
        if (field[i] < '0' || field[i] > '7')
            return false;
        n = n << 3 | (uint64_t)(field[i] - '0');
    }
    *out = n;
    return field[room - 1] == '\0';
}

static void get_path(const struct header *h, char out[256 + 1])
{
    snprintf(out, 256 + 1, "%.*s%s%.*s", PREFIX_BYTES, h->prefix,
             h->prefix[0] ? "/" : "", NAME_BYTES, h->name);
}

enum tar_kind tar_parse(const char block[TAR_BLOCK], struct tar_entry *out)
{
    static const struct header zeros;
    struct header h;
    uint64_t mode;

    memcpy(&h, block, sizeof h);
    if (memcmp(&h, &zeros, sizeof h) == 0)
        return TAR_END;
    if (!get_octal(h.size, sizeof h.size, &out->size) ||
        !get_octal(h.mode, sizeof h.mode, &mode))
        return TAR_OTHER;
    get_path(&h, out->path);
    out->is_program = mode == 0755;
    return h.type == '0' ? TAR_FILE : h.type == 'x' ? TAR_PAX : TAR_OTHER;
}

struct str tar_pax_path(struct str record)
{
    size_t at = str_find(record, STR(" path="));

    if (at == SIZE_MAX || !str_ends(record, STR("\n")))
        return str_make(NULL, 0);
    return str_slice(record, at + sizeof " path=" - 1, record.n - 1);
}
