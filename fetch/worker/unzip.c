#include "unzip.h"

#include "base/text.h"

#include <zlib.h>

#include "inflate.h"

#define LOCAL_SIGNATURE      0x04034b50u
#define DIRECTORY_SIGNATURE  0x02014b50u
#define END_SIGNATURE        0x06054b50u
#define DESCRIPTOR_SIGNATURE 0x08074b50u
#define LOCAL_BYTES          30
#define DIRECTORY_BYTES      46
#define END_BYTES            22
#define DESCRIPTOR_BYTES     12 /* without its signature */

#define FLAG_DESCRIPTOR 0x0008u /* sizes follow the data */
#define FLAG_UTF8       0x0800u
#define FLAGS_HARMLESS  0x0006u /* compression level */
#define MADE_BY_UNIX    3
#define EXTRA_ZIP64     0x0001u
#define EXTRA_PATH      0x7075u /* Unicode path, an alternative name */

#define NAME_SHOWN_BYTES 300

#define TYPE_MASK    0170000u
#define TYPE_REGULAR 0100000u
#define TYPE_FOLDER  0040000u
#define SPECIAL_BITS 07000u
#define OWNER_RUNS   0100u

enum method { STORED = 0, DEFLATED = 8 };

/* Reads little-endian numbers; past the end it returns 0 and sets `bad`. */
struct cursor {
    struct str rest;
    bool bad;
};

static struct str take(struct cursor *c, size_t n)
{
    struct str s = str_slice(c->rest, 0, n);

    c->bad |= s.n < n;
    c->rest = str_from_index(c->rest, s.n);
    return s;
}

static unsigned long take_number(struct cursor *c, size_t bytes)
{
    struct str s = take(c, bytes);
    unsigned long n = 0;

    for (size_t i = s.n; !c->bad && i-- > 0;)
        n = n << 8 | (unsigned char)s.p[i];
    return n;
}

static unsigned long take_2(struct cursor *c)
{
    return take_number(c, 2);
}

static unsigned long take_4(struct cursor *c)
{
    return take_number(c, 4);
}

static bool damaged(const char *what, struct err *e)
{
    return err_set(e, ERR_FORMAT, "%s", what);
}

struct end {
    size_t at, count, directory_size, directory_at;
};

/* Accepts an end record whose comment extends to the last byte. */
static bool read_end(struct str zip, size_t at, struct end *out)
{
    struct cursor c = {.rest = str_from_index(zip, at)};
    unsigned long disk, first_disk, here, count, size, from, comment;

    if (take_4(&c) != END_SIGNATURE)
        return false;
    disk = take_2(&c);
    first_disk = take_2(&c);
    here = take_2(&c);
    count = take_2(&c);
    size = take_4(&c);
    from = take_4(&c);
    comment = take_2(&c);
    *out = (struct end){at, count, size, from};
    return !c.bad && c.rest.n == comment && disk == 0 && first_disk == 0 &&
           here == count;
}

static bool find_end(struct str zip, struct end *out, struct err *e)
{
    size_t least = zip.n < END_BYTES + 65535u ? 0 : zip.n - END_BYTES - 65535u;

    if (zip.n < END_BYTES)
        return damaged("it is no zip", e);
    for (size_t at = zip.n - END_BYTES + 1; at-- > least;)
        if (read_end(zip, at, out)) {
            if (out->directory_at + out->directory_size == out->at)
                return true;
            return damaged("its directory is not where its end says, or it is "
                           "ZIP64",
                           e);
        }
    return damaged("it has no end", e);
}

/* Fields of both the directory and the local header. */
struct common {
    unsigned long flags, method, crc, packed, size;
    struct str name, extra;
};

struct entry {
    struct common c;
    unsigned long mode, at;
    bool is_folder;
};

static void take_common(struct cursor *c, struct common *out, size_t *name,
                        size_t *extra)
{
    take_2(c); /* required version */
    out->flags = take_2(c);
    out->method = take_2(c);
    take_4(c); /* time, date */
    out->crc = take_4(c);
    out->packed = take_4(c);
    out->size = take_4(c);
    *name = take_2(c);
    *extra = take_2(c);
}

/* Rejects fields that give another name or other sizes. */
static bool check_extra(struct str extra, struct err *e)
{
    struct cursor c = {.rest = extra};

    while (c.rest.n >= 4 && !c.bad) {
        unsigned long id = take_2(&c), n = take_2(&c);

        take(&c, n);
        if (id == EXTRA_ZIP64 || id == EXTRA_PATH)
            return err_set(e, ERR_REFUSED, "%s: not read",
                           id == EXTRA_ZIP64
                               ? "sizes of ZIP64, which are for 4 GB and more"
                               : "a second name");
    }
    return true;
}

/* Reads the file type from the mode, which archives made on Unix have. */
static bool read_mode(struct entry *entry, unsigned long made_by,
                      unsigned long attributes, struct err *e)
{
    unsigned long type;

    entry->is_folder = str_ends(entry->c.name, STR("/"));
    if (made_by >> 8 != MADE_BY_UNIX)
        return true;
    entry->mode = attributes >> 16;
    type = entry->mode & TYPE_MASK;
    if (type != 0 && type != (entry->is_folder ? TYPE_FOLDER : TYPE_REGULAR))
        return err_set(e, ERR_REFUSED, "a link, a device or a pipe");
    return !(entry->mode & SPECIAL_BITS) ||
           err_set(e, ERR_REFUSED, "setuid, setgid or sticky");
}

static bool check_entry(const struct entry *entry, struct err *e)
{
    const struct common *c = &entry->c;

    if (c->flags &
        ~(unsigned long)(FLAG_DESCRIPTOR | FLAG_UTF8 | FLAGS_HARMLESS))
        return err_set(e, ERR_REFUSED, "encrypted, or of a newer zip");
    if (c->method != STORED && c->method != DEFLATED)
        return err_set(e, ERR_REFUSED, "compressed by method %lu", c->method);
    if (!(c->flags & FLAG_UTF8) && !str_is_ascii(c->name))
        return err_set(e, ERR_REFUSED, "a name that is not marked as UTF-8");
    if (c->method == STORED && c->packed != c->size)
        return damaged("stored with two sizes", e);
    if (entry->is_folder && (c->size || c->method == DEFLATED) && c->packed > 2)
        return damaged("a folder with content", e);
    return check_extra(c->extra, e);
}

static bool wrap_name(const struct entry *entry, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str name = text_cut_bytes(entry->c.name, NAME_SHOWN_BYTES);

    return err_names(e, str_dup0(name, &a))
               ? false
               : err_wrap(e, "%.*s", STR_ARG(name));
}

static bool take_entry(struct cursor *c, struct entry *out, struct err *e)
{
    unsigned long made_by, comment, disk, attributes;
    size_t name, extra;

    *out = (struct entry){.mode = 0};
    if (take_4(c) != DIRECTORY_SIGNATURE)
        return damaged("a damaged directory", e);
    made_by = take_2(c);
    take_common(c, &out->c, &name, &extra);
    comment = take_2(c);
    disk = take_2(c);
    take_2(c); /* internal attributes */
    attributes = take_4(c);
    out->at = take_4(c);
    out->c.name = take(c, name);
    out->c.extra = take(c, extra);
    take(c, comment);
    if (c->bad || disk != 0)
        return damaged("a damaged directory", e);
    return (read_mode(out, made_by, attributes, e) && check_entry(out, e)) ||
           wrap_name(out, e);
}

/* Reads the descriptor after the data, for sizes that were unknown before. */
static bool take_descriptor(struct cursor *c, const struct common *said)
{
    unsigned long crc, packed, size;

    if (c->rest.n >= DESCRIPTOR_BYTES + 4) {
        struct cursor signature = *c;

        if (take_4(&signature) == DESCRIPTOR_SIGNATURE)
            *c = signature;
    }
    crc = take_4(c);
    packed = take_4(c);
    size = take_4(c);
    return !c->bad && crc == said->crc && packed == said->packed &&
           size == said->size;
}

static bool agrees(const struct common *own, const struct common *said)
{
    bool later = (said->flags & FLAG_DESCRIPTOR) && own->crc == 0 &&
                 own->packed == 0 && own->size == 0;

    return own->flags == said->flags && own->method == said->method &&
           str_eq(own->name, said->name) &&
           (later || (own->crc == said->crc && own->packed == said->packed &&
                      own->size == said->size));
}

/* Reads the local header and the data. */
static bool take_data(struct cursor *c, const struct entry *entry,
                      struct str *data, struct err *e)
{
    struct common own;
    size_t name, extra;

    if (take_4(c) != LOCAL_SIGNATURE)
        return damaged("it has no header of its own where the directory says",
                       e);
    take_common(c, &own, &name, &extra);
    own.name = take(c, name);
    own.extra = take(c, extra);
    *data = take(c, entry->c.packed);
    if (c->bad || !agrees(&own, &entry->c) ||
        ((entry->c.flags & FLAG_DESCRIPTOR) && !take_descriptor(c, &entry->c)))
        return err_set(e, ERR_REFUSED,
                       "its own header and the directory disagree");
    return check_extra(own.extra, e);
}

static bool add_file(struct unpack *out, const struct entry *entry,
                     struct str data, struct err *e)
{
    struct str content = data;

    if (!unpack_check_room(out, entry->c.size, e) ||
        (entry->c.method == DEFLATED &&
         !inflate_raw(data, entry->c.size, out->a, &content, e)))
        return false;
    if (crc32(0, (const Bytef *)content.p, (uInt)content.n) != entry->c.crc)
        return damaged("its checksum is wrong", e);
    return unpack_add_file(out, entry->c.name, (entry->mode & OWNER_RUNS) != 0,
                           content, e);
}

static bool take_file(struct str zip, struct cursor *body,
                      const struct entry *entry, struct unpack *out,
                      struct err *e)
{
    struct str data;

    /* Each file must begin where the previous one ends: no gap, no overlap. */
    if (entry->at != (size_t)(body->rest.p - zip.p))
        return err_set(e, ERR_REFUSED,
                       "it is not where the file before it ends");
    if (!take_data(body, entry, &data, e))
        return false;
    return entry->is_folder
               ? unpack_add_folder(
                     out, str_slice(entry->c.name, 0, entry->c.name.n - 1), e)
               : add_file(out, entry, data, e);
}

bool unzip(struct str zip, struct unpack *out, struct err *e)
{
    struct cursor directory, body;
    struct end end = {0};

    if (!find_end(zip, &end, e))
        return false;
    directory.bad = body.bad = false;
    directory.rest = str_slice(zip, end.directory_at, end.at);
    body.rest = str_slice(zip, 0, end.directory_at);
    for (size_t i = 0; i < end.count; i++) {
        struct entry entry;

        if (!take_entry(&directory, &entry, e))
            return false;
        if (!take_file(zip, &body, &entry, out, e))
            return wrap_name(&entry, e);
        if (out->bytes > inflate_max(zip.n))
            return err_set(e, ERR_LIMIT,
                           "the archive holds more than %d times its own size",
                           ARCHIVE_MAX_RATIO);
    }
    return (directory.rest.n == 0 && body.rest.n == 0) ||
           err_set(e, ERR_REFUSED, "it holds bytes of no file");
}
