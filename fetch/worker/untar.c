#include "untar.h"

#include <string.h>

#define BLOCK         512
#define PAX_MAX_BYTES (64u * 1024)

/* clang-format off */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12];
    char checksum[8], type, link[100], magic[6], version[2];
    char owner[32], group[32], major[8], minor[8], prefix[155];
    char rest[12];
};
/* clang-format on */

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

struct reader {
    struct str rest;
    struct unpack *out;
    struct str long_path; /* path for the next entry, or empty */
};

/* Returns the text up to the first NUL, or the whole field. */
static struct str text_of(const char *field, size_t room)
{
    return str_make(field, strnlen(field, room));
}

/* Parses octal digits after optional blanks, followed by NUL or a blank. */
static bool read_octal(const char *field, size_t room, uint64_t *out)
{
    size_t i = 0;
    uint64_t n = 0;

    while (i < room && field[i] == ' ')
        i++;
    for (; i < room && field[i] >= '0' && field[i] <= '7'; i++) {
        if (n >> 60)
            return false;
        n = n << 3 | (uint64_t)(field[i] - '0');
    }
    *out = n;
    return i == room || field[i] == '\0' || field[i] == ' ';
}

static bool has_checksum(const struct header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    size_t at = offsetof(struct header, checksum);
    uint64_t sum = 0, told;

    for (size_t i = 0; i < sizeof *h; i++)
        sum += i >= at && i < at + sizeof h->checksum ? ' ' : p[i];
    return read_octal(h->checksum, sizeof h->checksum, &told) && told == sum;
}

static bool is_zero(struct str block)
{
    for (size_t i = 0; i < block.n; i++)
        if (block.p[i])
            return false;
    return true;
}

static struct str path_of(const struct reader *r, const struct header *h)
{
    struct str name = text_of(h->name, sizeof h->name), prefix = STR("");
    struct arena *a = r->out->a;

    if (memcmp(h->magic, "ustar", 6) == 0) /* the GNU format has times there */
        prefix = text_of(h->prefix, sizeof h->prefix);
    if (r->long_path.n)
        name = r->long_path;
    else if (prefix.n)
        name = arena_printf(a, "%.*s/%.*s", STR_ARG(prefix), STR_ARG(name));
    else
        name = arena_str(a, name);
    if (str_starts(name, STR("./")))
        name = str_from_index(name, 2);
    return name;
}

/* Sets the path of the next entry: tar programs write a path of more than 100
 * bytes as a separate entry before the file. */
static bool set_long_path(struct reader *r, struct str path, struct err *e)
{
    if (r->long_path.n)
        return err_set(e, ERR_REFUSED, "two long names of one entry");
    if (path.n == 0 || str_has_char(path, '\0'))
        return err_set(e, ERR_FORMAT, "a damaged long name");
    r->long_path = arena_str(r->out->a, path);
    return true;
}

/* Parses "LENGTH key=value LF". */
static bool cut_record(struct str *rest, struct str *key, struct str *value)
{
    size_t blank = str_find_char(*rest, ' '), equals;
    struct str record;
    uint64_t n;

    if (blank == SIZE_MAX ||
        !str_number(str_slice(*rest, 0, blank), rest->n, &n) || n <= blank + 1)
        return false;
    record = str_slice(*rest, blank + 1, (size_t)n);
    equals = str_find_char(record, '=');
    *rest = str_from_index(*rest, (size_t)n);
    if (equals == SIZE_MAX || !str_ends(record, STR("\n")))
        return false;
    *key = str_slice(record, 0, equals);
    *value = str_slice(record, equals + 1, record.n - 1);
    return true;
}

/* Accepts times, owners, comments and attributes of the packing system, which
 * do not change the content of a file. */
static bool is_harmless(struct str key)
{
    static const char *const keys[] = {
        "mtime", "atime",   "ctime",
        "uid",   "gid",     "uname",
        "gname", "comment", "LIBARCHIVE.creationtime"};

    return STR_IS_ONE_OF(key, keys) ||
           str_starts(key, STR("LIBARCHIVE.xattr.")) ||
           str_starts(key, STR("SCHILY.xattr."));
}

/* Applies the path of the next entry, the only record with an effect. Global
 * records (`is_global`) have none. */
static bool read_pax(struct reader *r, struct str records, bool is_global,
                     struct err *e)
{
    struct str key, value;

    if (records.n > PAX_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "a pax header of more than %u bytes",
                       PAX_MAX_BYTES);
    while (records.n) {
        if (!cut_record(&records, &key, &value))
            return err_set(e, ERR_FORMAT, "a damaged pax header");
        if (str_is(key, "path") && !is_global) {
            if (!set_long_path(r, value, e))
                return false;
        } else if (!is_harmless(key)) {
            return err_set(e, ERR_REFUSED,
                           "a pax header with \"%.*s\", which is not read",
                           (int)(key.n < 60 ? key.n : 60), key.p);
        }
    }
    return true;
}

/* GNU tar ends the name with a NUL. */
static bool read_long_name(struct reader *r, struct str content, struct err *e)
{
    if (content.n > PACKAGE_PATH_MAX_BYTES + 1)
        return err_set(e, ERR_LIMIT, "a name of more than %u bytes",
                       PACKAGE_PATH_MAX_BYTES);
    return set_long_path(r, str_slice(content, 0, str_find_char(content, '\0')),
                         e);
}

static bool refuse_type(char type, struct str path, struct err *e)
{
    const char *what = type == '1'                  ? "a hard link"
                       : type == '2'                ? "a symbolic link"
                       : type >= '3' && type <= '6' ? "a device or a pipe"
                       : type == 'K'                ? "a link of GNU tar"
                       : type == 'S'                ? "a sparse file"
                                                    : "no file or folder";

    return err_set(e, ERR_REFUSED, "%.*s: %s",
                   (int)(path.n < 300 ? path.n : 300), path.p, what);
}

static bool add_folder(struct reader *r, struct str path, struct err *e)
{
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    return path.n == 0 || str_is(path, ".") ||
           unpack_add_folder(r->out, path, e);
}

/* Adds a file or a folder. */
static bool take_object(struct reader *r, const struct header *h,
                        struct str content, struct err *e)
{
    struct str path = path_of(r, h);
    uint64_t mode;

    r->long_path.n = 0;
    if (!read_octal(h->mode, sizeof h->mode, &mode))
        return err_set(e, ERR_FORMAT, "a damaged header");
    if (h->type != '0' && h->type != '\0' && h->type != '5')
        return refuse_type(h->type, path, e);
    if (mode & 07000)
        return err_set(e, ERR_REFUSED, "%.*s: setuid, setgid or sticky",
                       STR_ARG(path));
    if (h->type == '5')
        return content.n ? err_set(e, ERR_FORMAT, "a folder with content")
                         : add_folder(r, path, e);
    return unpack_add_file(r->out, path, (mode & 0100) != 0, content, e);
}

static bool take_entry(struct reader *r, const struct header *h,
                       struct str content, struct err *e)
{
    switch (h->type) {
    case 'x':
    case 'g':
        return read_pax(r, content, h->type == 'g', e);
    case 'L':
        return read_long_name(r, content, e);
    default:
        return take_object(r, h, content, e);
    }
}

/* Reads a header and its content, padded to whole blocks. */
static bool take_blocks(struct reader *r, struct err *e)
{
    struct header h;
    uint64_t size, padded;

    memcpy(&h, r->rest.p, sizeof h);
    if (!has_checksum(&h) || !read_octal(h.size, sizeof h.size, &size))
        return err_set(e, ERR_FORMAT, "a damaged header");
    padded = (size + BLOCK - 1) / BLOCK * BLOCK;
    r->rest = str_from_index(r->rest, BLOCK);
    if (size > ARCHIVE_MAX_BYTES || padded > r->rest.n)
        return err_set(e, ERR_FORMAT, "it ends within a file");
    if (!take_entry(r, &h, str_slice(r->rest, 0, (size_t)size), e))
        return false;
    r->rest = str_from_index(r->rest, (size_t)padded);
    return true;
}

bool untar(struct str tar, struct unpack *out, struct err *e)
{
    struct reader r = {.rest = tar, .out = out};

    while (r.rest.n >= BLOCK && !is_zero(str_slice(r.rest, 0, BLOCK)))
        if (!take_blocks(&r, e))
            return false;
    if (r.rest.n < BLOCK)
        return err_set(e, ERR_FORMAT, "it has no end");
    if (r.long_path.n)
        return err_set(e, ERR_FORMAT, "a long name without its entry");
    return is_zero(r.rest) || err_set(e, ERR_REFUSED, "it has trailing data");
}
