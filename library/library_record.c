#include "library_record.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include <endian.h>
#include <string.h>

#define MAGIC             "mapmskil"
#define FORMAT            5
#define FINGERPRINT_BYTES 28
/* magic, format, profile, count, version of mapm, where links may lead; the
 * root */
#define ROOT_AT    48
#define HEAD_BYTES (ROOT_AT + FINGERPRINT_BYTES)
/* size, flags, warnings, two fingerprints, folder, lengths; then the texts */
#define FOLDER_AT    (12 + 2 * FINGERPRINT_BYTES)
#define LENGTHS_AT   (FOLDER_AT + 16)
#define RECORD_BYTES (LENGTHS_AT + 2 * RECORD_FIELDS)

#define ALL_FLAGS                                                              \
    (RECORD_VALID | RECORD_YOUNG | RECORD_DISABLED | RECORD_MODE |             \
     RECORD_METASKILL | RECORD_NOTED | RECORD_DECLARED | RECORD_BROKEN)

struct fingerprint fingerprint_of(const struct stat *st)
{
    return (struct fingerprint){
        .ino = st->st_ino,
        .size = (uint64_t)st->st_size,
        .seconds = st->st_ctim.tv_sec,
        .nanoseconds = (uint32_t)st->st_ctim.tv_nsec,
    };
}

bool fingerprint_eq(const struct fingerprint *x, const struct fingerprint *y)
{
    return x->ino == y->ino && x->size == y->size && x->seconds == y->seconds &&
           x->nanoseconds == y->nanoseconds;
}

bool folder_id_eq(const struct folder_id *x, const struct folder_id *y)
{
    return x->device == y->device && x->number == y->number;
}

bool fingerprint_is_zero(const struct fingerprint *s)
{
    return fingerprint_eq(s, &(struct fingerprint){0});
}

/* --- writing -------------------------------------------------------------- */

static void put_number(struct buf *b, uint64_t n, size_t bytes)
{
    char text[8];

    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)(n >> (8 * i));
    buf_append(b, str_make(text, bytes));
}

static void put_fingerprint(struct buf *b, const struct fingerprint *s)
{
    put_number(b, s->ino, 8);
    put_number(b, s->size, 8);
    put_number(b, (uint64_t)s->seconds, 8);
    put_number(b, s->nanoseconds, 4);
}

/* Records of another version of mapm are invalid: its rules may differ. */
static void put_version(char out[16])
{
    memset(out, 0, 16);
    strncpy(out, MAPM_VERSION, 15);
}

void records_begin(struct buf *b, const struct records_of *of,
                   const struct fingerprint *root, size_t count)
{
    char version[16];

    put_version(version);
    buf_append(b, STR(MAGIC));
    put_number(b, FORMAT, 4);
    put_number(b, of->metis, 4);
    put_number(b, count, 8);
    buf_append(b, str_make(version, sizeof version));
    put_number(b, of->links, 8);
    put_fingerprint(b, root);
}

/* Flags that describe the texts. */
static uint32_t flags_of(const struct record *r)
{
    uint32_t flags = r->flags & ~(uint32_t)(RECORD_NOTED | RECORD_DECLARED);

    return flags | (r->field[RECORD_NOTE].n ? RECORD_NOTED : 0) |
           (r->field[RECORD_PROGRAM].n ? RECORD_DECLARED : 0);
}

void record_put(struct buf *b, const struct record *r)
{
    size_t bytes = RECORD_BYTES;

    for (size_t i = 0; i < RECORD_FIELDS; i++)
        bytes += text_cut_bytes(r->field[i], RECORD_TEXT_MAX_BYTES).n;
    put_number(b, bytes, 4);
    put_number(b, flags_of(r), 4);
    put_number(b, r->warnings, 4);
    put_fingerprint(b, &r->skill);
    put_fingerprint(b, &r->program);
    put_number(b, r->in.device, 8);
    put_number(b, r->in.number, 8);
    for (size_t i = 0; i < RECORD_FIELDS; i++)
        put_number(b, text_cut_bytes(r->field[i], RECORD_TEXT_MAX_BYTES).n, 2);
    for (size_t i = 0; i < RECORD_FIELDS; i++)
        buf_append(b, text_cut_bytes(r->field[i], RECORD_TEXT_MAX_BYTES));
}

/* --- reading -------------------------------------------------------------- */

static uint16_t half_at(const char *p)
{
    uint16_t n;

    memcpy(&n, p, sizeof n);
    return le16toh(n);
}

static uint32_t word_at(const char *p)
{
    uint32_t n;

    memcpy(&n, p, sizeof n);
    return le32toh(n);
}

static uint64_t long_at(const char *p)
{
    uint64_t n;

    memcpy(&n, p, sizeof n);
    return le64toh(n);
}

static void read_fingerprint(const char *p, struct fingerprint *out)
{
    out->ino = long_at(p);
    out->size = long_at(p + 8);
    out->seconds = (int64_t)long_at(p + 16);
    out->nanoseconds = word_at(p + 24);
}

/* Returns whether the lengths add up to the size of the record. */
static bool texts_fit(struct str record)
{
    size_t n = RECORD_BYTES;

    for (size_t i = 0; i < RECORD_FIELDS; i++)
        n += half_at(record.p + LENGTHS_AT + 2 * i);
    return n == record.n;
}

static struct record take_apart(struct str bytes)
{
    struct record r = {.bytes = bytes};
    size_t at = RECORD_BYTES;

    r.flags = word_at(bytes.p + 4);
    r.warnings = word_at(bytes.p + 8);
    read_fingerprint(bytes.p + 12, &r.skill);
    read_fingerprint(bytes.p + 12 + FINGERPRINT_BYTES, &r.program);
    r.in.device = long_at(bytes.p + FOLDER_AT);
    r.in.number = long_at(bytes.p + FOLDER_AT + 8);
    for (size_t i = 0; i < RECORD_FIELDS; i++) {
        size_t n = half_at(bytes.p + LENGTHS_AT + 2 * i);

        r.field[i] = str_make(bytes.p + at, n);
        at += n;
    }
    return r;
}

struct str record_program(const struct record *r)
{
    return r && r->field[RECORD_PROGRAM].n ? r->field[RECORD_PROGRAM]
                                           : STR("SKILL.star");
}

static bool is_folder(struct str path)
{
    struct str rest = path, name;
    size_t depth = 0;

    while (rest.p && str_cut(&rest, '/', &name))
        if (++depth > LIBRARY_MAX_DEPTH || name.n > PATH_NAME_MAX_BYTES)
            return false;
    return fs_path_is_relative_clean(path);
}

bool record_is_sound(const struct record *r)
{
    struct str folder = r->field[RECORD_FOLDER];
    struct str program = r->field[RECORD_PROGRAM];

    if (r->flags & ~(uint32_t)ALL_FLAGS || !is_folder(folder) ||
        (program.n && !fs_path_is_relative_clean(program)))
        return false;
    if (!(r->flags & RECORD_VALID))
        return r->field[RECORD_NOTE].n && r->field[RECORD_NAME].n == 0;
    return r->field[RECORD_NAME].n && name_is_kebab(r->field[RECORD_NAME]) &&
           r->field[RECORD_DESCRIPTION].n;
}

static bool is_clean_text(struct str s)
{
    return text_is_utf8(s) && !str_has_char(s, '\0');
}

#define LOW_BITS  UINT64_C(0x0101010101010101)
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Returns whether the text is ASCII without NUL, as most are: it is valid
 * wherever it is split. */
static bool is_plain_text(struct str s)
{
    uint64_t word, bad = 0;
    size_t i = 0;

    for (; i + 8 <= s.n; i += 8) {
        memcpy(&word, s.p + i, 8);
        bad |= word | (word - LOW_BITS);
    }
    for (; i < s.n; i++)
        bad |= s.p[i] ? (unsigned char)s.p[i] : 0x80;
    return (bad & HIGH_BITS) == 0;
}

static bool has_clean_texts(const struct record *r)
{
    if (is_plain_text(str_from_index(r->bytes, RECORD_BYTES)))
        return true;
    for (size_t i = 0; i < RECORD_FIELDS; i++)
        if (r->field[i].n && !is_clean_text(r->field[i]))
            return false;
    return true;
}

static bool take_record(struct str *rest, struct record *out)
{
    size_t bytes;

    if (rest->n < RECORD_BYTES)
        return false;
    bytes = word_at(rest->p);
    if (bytes < RECORD_BYTES || bytes > rest->n ||
        !texts_fit(str_slice(*rest, 0, bytes)))
        return false;
    *out = take_apart(str_slice(*rest, 0, bytes));
    *rest = str_from_index(*rest, bytes);
    return has_clean_texts(out) && out->flags == flags_of(out) &&
           record_is_sound(out);
}

static bool read_head(struct str bytes, const struct records_of *of,
                      size_t *count)
{
    char version[16];
    uint64_t n;

    put_version(version);
    if (bytes.n < HEAD_BYTES || memcmp(bytes.p, MAGIC, 8) != 0 ||
        word_at(bytes.p + 8) != FORMAT || word_at(bytes.p + 12) != of->metis ||
        long_at(bytes.p + 40) != of->links ||
        memcmp(bytes.p + 24, version, sizeof version) != 0)
        return false;
    n = long_at(bytes.p + 16);
    if (n > LIBRARY_MAX_SKILLS || n > bytes.n / RECORD_BYTES)
        return false;
    *count = (size_t)n;
    return true;
}

bool records_parse(struct str bytes, const struct records_of *of,
                   struct arena *a, struct records *out)
{
    struct str rest = str_from_index(bytes, HEAD_BYTES), before = STR("");
    uint32_t *at;
    size_t n;

    *out = (struct records){0};
    if (bytes.n > LIBRARY_MAX_BYTES || !read_head(bytes, of, &n))
        return false;
    at = arena_array(a, n + 1, sizeof *at);
    for (size_t i = 0; i < n; i++) {
        struct record r;

        at[i] = (uint32_t)(rest.p - bytes.p);
        if (!take_record(&rest, &r) ||
            str_cmp(before, r.field[RECORD_FOLDER]) >= 0)
            return false;
        before = r.field[RECORD_FOLDER];
    }
    if (rest.n)
        return false;
    *out = (struct records){.bytes = bytes, .at = at, .count = n};
    read_fingerprint(bytes.p + ROOT_AT, &out->root);
    return true;
}

struct record record_get(const struct records *r, size_t i)
{
    return take_apart(record_bytes(r, i));
}

uint32_t record_flags(const struct records *r, size_t i)
{
    return word_at(r->bytes.p + r->at[i] + 4);
}

void record_fingerprints(const struct records *r, size_t i,
                         struct fingerprint *skill, struct fingerprint *program)
{
    const char *p = r->bytes.p + r->at[i] + 12;

    read_fingerprint(p, skill);
    read_fingerprint(p + FINGERPRINT_BYTES, program);
}

struct str record_bytes(const struct records *r, size_t i)
{
    const char *p = r->bytes.p + r->at[i];

    return str_make(p, word_at(p));
}

struct str record_folder(const struct records *r, size_t i)
{
    const char *p = r->bytes.p + r->at[i];

    return str_make(p + RECORD_BYTES, half_at(p + LENGTHS_AT));
}

struct str record_name(const struct records *r, size_t i)
{
    const char *p = r->bytes.p + r->at[i];
    struct str folder = record_folder(r, i);

    return str_make(folder.p + folder.n, half_at(p + LENGTHS_AT + 2));
}

bool record_eq(const struct record *x, const struct record *y)
{
    if ((x->flags | RECORD_YOUNG) != (y->flags | RECORD_YOUNG) ||
        x->warnings != y->warnings || !fingerprint_eq(&x->skill, &y->skill) ||
        !fingerprint_eq(&x->program, &y->program) ||
        !folder_id_eq(&x->in, &y->in))
        return false;
    for (size_t i = 0; i < RECORD_FIELDS; i++)
        if (!str_eq(x->field[i], y->field[i]))
            return false;
    return true;
}
