#include "archive.h"

#define LOCAL_SIGNATURE     0x04034b50u
#define DIRECTORY_SIGNATURE 0x02014b50u
#define END_SIGNATURE       0x06054b50u
#define MADE_BY_UNIX        (3u << 8 | 20)
#define NEEDS_VERSION       20
#define UTF8_NAMES          0x0800u
#define FIRST_DAY           0x21u /* 1980-01-01, the first date of the format */
#define REGULAR_FILE        0100000u
#define CRC_POLYNOMIAL      0xedb88320u

static void put_2(struct buf *b, unsigned n)
{
    buf_char(b, (char)(n & 0xff));
    buf_char(b, (char)(n >> 8 & 0xff));
}

static void put_4(struct buf *b, uint32_t n)
{
    put_2(b, n & 0xffff);
    put_2(b, n >> 16);
}

static uint32_t crc_of(struct str s)
{
    uint32_t table[256], crc = UINT32_MAX;

    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;

        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ CRC_POLYNOMIAL : c >> 1;
        table[i] = c;
    }
    for (size_t i = 0; i < s.n; i++)
        crc = table[(crc ^ (unsigned char)s.p[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

/* Writes the fields that the header of a file and its directory entry share. */
static void put_common(struct buf *b, struct str path, struct str content,
                       uint32_t crc)
{
    put_2(b, NEEDS_VERSION);
    put_2(b, UTF8_NAMES);
    put_2(b, 0); /* method 0: stored */
    put_2(b, 0);
    put_2(b, FIRST_DAY);
    put_4(b, crc);
    put_4(b, (uint32_t)content.n);
    put_4(b, (uint32_t)content.n);
    put_2(b, (unsigned)path.n);
    put_2(b, 0);
}

void archive_begin(struct archive *z, struct buf *out)
{
    *z = (struct archive){.out = out};
    buf_init(&z->directory, SIZE_MAX / 2);
}

void archive_add(struct archive *z, struct str path, bool executable,
                 struct str content)
{
    uint32_t crc = crc_of(content), at = (uint32_t)z->out->n;
    struct buf *d = &z->directory;

    put_4(z->out, LOCAL_SIGNATURE);
    put_common(z->out, path, content, crc);
    buf_append(z->out, path);
    buf_append(z->out, content);
    put_4(d, DIRECTORY_SIGNATURE);
    put_2(d, MADE_BY_UNIX);
    put_common(d, path, content, crc);
    put_2(d, 0); /* comment, disk, internal attributes */
    put_2(d, 0);
    put_2(d, 0);
    put_4(d, (REGULAR_FILE | (executable ? 0755u : 0644u)) << 16);
    put_4(d, at);
    buf_append(d, path);
    z->count++;
}

void archive_end(struct archive *z)
{
    uint32_t at = (uint32_t)z->out->n;

    if (z->directory.max) {
        buf_append(z->out, buf_str(&z->directory));
        put_4(z->out, END_SIGNATURE);
        put_4(z->out, 0); /* disk numbers */
        put_2(z->out, (unsigned)z->count);
        put_2(z->out, (unsigned)z->count);
        put_4(z->out, (uint32_t)z->directory.n);
        put_4(z->out, at);
        put_2(z->out, 0);
    }
    buf_done(&z->directory);
    z->directory = (struct buf){0};
}
