#include "base/fs.h"
#include "base/invariant.h"
#include "mapm/clients.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "writable.h"

/* At most one tick of a clock; a larger difference means another clock. */
#define TICK_STEP_NS   500000
#define TICK_MAX_STEPS 40
#include "record.h"

#define HEAD_1 "mapm-state 1"
#define HEAD_2 "mapm-state 2"

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct file_stat file_stat_of(const struct stat *st, bool with_ctime)
{
    return (struct file_stat){
        .size = (uint64_t)st->st_size,
        .mtime = ns_of(st->st_mtim),
        .ctime = with_ctime ? ns_of(st->st_ctim) : 0,
        .ino = st->st_ino,
    };
}

/* Programs cannot set the ctime; where a rename changes it, the mtime is used.
 * A time later than the record means a later write. */
bool record_vouches(const struct record *r, const struct file_stat *cached,
                    const struct stat *st)
{
    struct file_stat now = file_stat_of(st, cached->ctime != 0);

    return S_ISREG(st->st_mode) && now.size == cached->size &&
           now.mtime == cached->mtime && now.ctime == cached->ctime &&
           now.ino == cached->ino &&
           (now.ctime ? now.ctime : now.mtime) <= r->written;
}

uint64_t file_stat_now(void)
{
    struct timespec now;

    /* the clock that the kernel uses for file times */
    return clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0 ? 0 : ns_of(now);
}

struct file_stat file_stat_seen(const struct stat *st, uint64_t now,
                                bool with_ctime)
{
    if (ns_of(st->st_mtim) >= now || ns_of(st->st_ctim) >= now)
        return (struct file_stat){0};
    return file_stat_of(st, with_ctime);
}

void file_stat_wait(uint64_t newest)
{
    struct timespec step = {.tv_nsec = TICK_STEP_NS};

    for (int i = 0; i < TICK_MAX_STEPS && file_stat_now() <= newest; i++)
        nanosleep(&step, NULL);
}

void record_add(struct record *r, struct arena *a,
                const struct record_entry *entry)
{
    r->entries =
        arena_grow(a, r->entries, r->count, &r->capacity, sizeof *r->entries);
    r->entries[r->count++] = *entry;
}

bool record_has_folder(const struct record *r, struct str path)
{
    return str_in(r->folders, r->folder_count, path);
}

void record_add_folder(struct record *r, struct arena *a, struct str path)
{
    if (record_has_folder(r, path))
        return;
    r->folders = arena_grow(a, r->folders, r->folder_count, &r->folder_capacity,
                            sizeof *r->folders);
    r->folders[r->folder_count++] = path;
}

const struct record_file *record_find(const struct record_entry *known,
                                      struct str path)
{
    size_t i;

    if (!known)
        return NULL;
    i = STR_FIRST_AT(known->files, known->file_count, path, path);
    return i < known->file_count && str_eq(known->files[i].path, path)
               ? &known->files[i]
               : NULL;
}

/* --- writing -------------------------------------------------------------- */

static void put_hash(struct buf *out, const struct hash *h)
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(h, hex);
    buf_append(out, str_make(hex, HASH_HEX_CHARS));
    buf_char(out, ' ');
}

static void put_file(struct buf *out, const struct record_file *f)
{
    buf_printf(out, "f %c %o ", f->executable ? 'x' : '-', f->mode);
    put_hash(out, &f->hash);
    buf_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
               f->stat.size, f->stat.mtime, f->stat.ctime, f->stat.ino);
    buf_append(out, f->path);
    buf_char(out, '\n');
}

static void put_key(struct buf *out, const struct record_key *k)
{
    buf_printf(out, "k %c ",
               k->taken ? (k->absolute ? 'A' : '+')
                        : (k->absolute ? 'a' : '-'));
    put_hash(out, &k->hash);
    put_hash(out, &k->source);
    buf_append(out, k->key);
    buf_char(out, '\n');
}

/* Letters of the record for white space and brackets. */
#define GAP_LETTERS "stnr{}[]"
static const char gap_chars[] = " \t\n\r{}[]";

static void put_gap(struct buf *out, struct str gap)
{
    buf_text(out, "gap ");
    for (size_t i = 0; i < gap.n; i++)
        buf_char(out, GAP_LETTERS[strchr(gap_chars, gap.p[i]) - gap_chars]);
    buf_char(out, '\n');
}

static bool is_clean(struct str path)
{
    return fs_path_is_relative_clean(path) || place_is_of_user(path);
}

/* Returns whether the entry can be read again by read_line(). */
static bool is_sound(const struct record_entry *e)
{
    bool has_files = e->kind == RECORD_TREE || e->kind == RECORD_FILE;

    for (size_t i = 1; i < e->file_count; i++)
        if (str_cmp(e->files[i - 1].path, e->files[i].path) >= 0)
            return false;
    return is_clean(e->path) && has_files == (e->file_count > 0) &&
           (e->kind != RECORD_LINK || e->link.n) &&
           (e->kind == RECORD_SHARED || !e->key_count);
}

/* Writes the target of a link, which ends at a blank; for a link to a package
 * of the workspace, the target itself. */
static void put_link(struct buf *out, struct str link)
{
    bool is_plain = !place_is_of_user(link);

    for (size_t i = 0; i < link.n; i++)
        if (is_plain || (link.p[i] != ' ' && link.p[i] != '%'))
            buf_char(out, link.p[i]);
        else
            buf_text(out, link.p[i] == ' ' ? "%20" : "%25");
    buf_char(out, ' ');
}

static void put_entry(struct buf *out, const struct record_entry *e)
{
    static const char *const words[] = {
        [RECORD_TREE] = "tree ",
        [RECORD_LINK] = "link ",
        [RECORD_FILE] = "file ",
        [RECORD_SHARED] = "shared ",
    };

    INVARIANT(is_sound(e));
    buf_text(out, e->taken ? "taken " : words[e->kind]);
    if (e->kind == RECORD_TREE || e->kind == RECORD_FILE)
        put_hash(out, &e->source);
    if (e->kind == RECORD_LINK)
        put_link(out, e->link);
    if (e->kind == RECORD_SHARED)
        buf_printf(out, "%c %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
                   e->created     ? '1'
                   : e->was_empty ? 'b'
                   : e->section   ? 's'
                                  : '0',
                   e->stat.size, e->stat.mtime, e->stat.ino);
    buf_append(out, e->path);
    buf_char(out, '\n');
    if (e->gap.n)
        put_gap(out, e->gap);
    for (size_t i = 0; i < e->file_count; i++)
        put_file(out, &e->files[i]);
    for (size_t i = 0; i < e->key_count; i++)
        put_key(out, &e->keys[i]);
}

bool record_format(const struct record *r, size_t *at, struct buf *out)
{
    if (*at == 0)
        buf_text(out, r->is_user ? HEAD_2 "\n" : HEAD_1 "\n");
    while (*at < r->count) {
        put_entry(out, &r->entries[(*at)++]);
        if (out->n >= RECORD_BLOCK_BYTES && *at < r->count)
            return true;
    }
    for (size_t i = 0; i < r->folder_count; i++)
        buf_printf(out, "dir %.*s\n", STR_ARG(r->folders[i]));
    if (r->here.ino)
        buf_printf(out,
                   "here %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                   r->here.size, r->here.mtime, r->here.ctime, r->here.ino);
    buf_text(out, "end\n");
    return false;
}

/* --- reading -------------------------------------------------------------- */

struct reader {
    const struct client_scope *scope;
    struct arena *arena;
    struct record *out;
    struct record_entry *entry; /* entry of the "f" and "k" lines */
    bool is_skipping;           /* skip the lines of an unknown entry */
    size_t capacity;            /* capacity of its keys */
    struct record_file *files;  /* files of all entries, one after the other */
    size_t file_count, file_capacity;
};

static bool take_number(struct str *rest, uint64_t *out)
{
    struct str word;

    return str_cut(rest, ' ', &word) && str_number(word, UINT64_MAX, out);
}

static bool take_hash(struct str *rest, struct hash *out)
{
    struct str word;

    return str_cut(rest, ' ', &word) && hash_parse(word, out);
}

static bool take_flag(struct str *rest, char yes, char no, bool *out)
{
    struct str word;

    if (!str_cut(rest, ' ', &word) || word.n != 1 ||
        (word.p[0] != yes && word.p[0] != no))
        return false;
    *out = word.p[0] == yes;
    return true;
}

static bool take_mode(struct str *rest, unsigned *out)
{
    struct str word;

    *out = 0;
    if (!str_cut(rest, ' ', &word) || word.n == 0 || word.n > 4)
        return false;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '7')
            return false;
        *out = *out * 8 + (unsigned)(word.p[i] - '0');
    }
    return true;
}

/* The rest of the line is the path, including blanks. */
static bool take_path(struct str rest, struct str *out)
{
    *out = rest;
    return rest.p && is_clean(rest);
}

/* Skips an entry in a folder that a variable named before and no longer names;
 * the other entries are valid. */
static bool skip_entry(struct reader *r, struct str path)
{
    r->entry = NULL;
    r->is_skipping = r->scope->is_user && place_is_of_user(path);
    return r->is_skipping;
}

static bool add_entry(struct reader *r, const struct record_entry *entry)
{
    if (!place_is_known(r->scope, entry->path) || place_is_text(entry->path) ||
        (entry->kind == RECORD_SHARED) !=
            (place_find_client(r->scope, entry->path) != NULL) ||
        str_is(entry->path, STATE_FILE))
        return skip_entry(r, entry->path);
    r->is_skipping = false;
    record_add(r->out, r->arena, entry);
    r->entry = &r->out->entries[r->out->count - 1];
    r->capacity = 0;
    /* entries move while they are added, so the map is built at the end */
    map_entry(&r->out->by_path, entry->path);
    return r->out->by_path.count == r->out->count;
}

static bool read_tree(struct reader *r, struct str rest)
{
    struct record_entry e = {.kind = RECORD_TREE};

    return take_hash(&rest, &e.source) && take_path(rest, &e.path) &&
           add_entry(r, &e);
}

static bool read_taken(struct reader *r, struct str rest)
{
    if (!read_tree(r, rest))
        return false;
    r->entry->taken = true;
    return true;
}

static bool read_single(struct reader *r, struct str rest)
{
    struct record_entry e = {.kind = RECORD_FILE};

    return take_hash(&rest, &e.source) && take_path(rest, &e.path) &&
           add_entry(r, &e);
}

/* See put_link. */
static bool take_link(struct reader *r, struct str *link)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str rest = *link, part;

    if (!str_starts(rest, STR("/")) || !str_has_char(rest, '%'))
        return true;
    buf_init(&b, link->n);
    str_cut(&rest, '%', &part);
    buf_append(&b, part);
    while (str_cut(&rest, '%', &part)) {
        if (!str_starts(part, STR("20")) && !str_starts(part, STR("25")))
            return false;
        buf_char(&b, part.p[1] == '0' ? ' ' : '%');
        buf_append(&b, str_from_index(part, 2));
    }
    *link = arena_str(r->arena, buf_str(&b));
    return true;
}

static bool read_link(struct reader *r, struct str rest)
{
    struct record_entry e = {.kind = RECORD_LINK};

    return str_cut(&rest, ' ', &e.link) && e.link.n && take_link(r, &e.link) &&
           take_path(rest, &e.path) && add_entry(r, &e);
}

static bool read_shared(struct reader *r, struct str rest)
{
    struct record_entry e = {.kind = RECORD_SHARED};
    struct str word;

    if (!str_cut(&rest, ' ', &word))
        return false;
    e.created = str_is(word, "1");
    e.was_empty = str_is(word, "b");
    e.section = e.was_empty || str_is(word, "s");
    return (e.created || e.section || str_is(word, "0")) &&
           take_number(&rest, &e.stat.size) &&
           take_number(&rest, &e.stat.mtime) &&
           take_number(&rest, &e.stat.ino) && take_path(rest, &e.path) &&
           add_entry(r, &e);
}

static bool read_file(struct reader *r, struct str rest)
{
    struct record_entry *e = r->entry;
    struct record_file f = {0};

    if (!e || (e->kind != RECORD_TREE && e->kind != RECORD_FILE) ||
        (e->kind == RECORD_FILE && e->file_count))
        return false;
    if (!take_flag(&rest, 'x', '-', &f.executable) ||
        !take_mode(&rest, &f.mode) || !take_hash(&rest, &f.hash) ||
        !take_number(&rest, &f.stat.size) ||
        !take_number(&rest, &f.stat.mtime) ||
        !take_number(&rest, &f.stat.ctime) || !take_number(&rest, &f.stat.ino))
        return false;
    f.path = rest;
    if (e->kind == RECORD_FILE ? !str_is(rest, ".")
                               : !fs_path_is_relative_clean(rest))
        return false;
    if (e->file_count && str_cmp(e->files[e->file_count - 1].path, f.path) >= 0)
        return false;
    if (r->file_count == r->file_capacity)
        return false; /* unreachable: all lines were counted */
    if (!e->file_count)
        e->files = &r->files[r->file_count];
    r->files[r->file_count++] = f;
    e->file_count++;
    return true;
}

static bool take_key_flags(struct str *rest, struct record_key *k)
{
    struct str word;

    if (!str_cut(rest, ' ', &word) || word.n != 1 ||
        !str_has_char(STR("a-A+"), word.p[0]))
        return false;
    k->absolute = word.p[0] == 'a' || word.p[0] == 'A';
    k->taken = word.p[0] == 'A' || word.p[0] == '+';
    return true;
}

static bool read_key(struct reader *r, struct str rest)
{
    struct record_entry *e = r->entry;
    struct record_key k = {0};

    if (!e || e->kind != RECORD_SHARED || !take_key_flags(&rest, &k) ||
        !take_hash(&rest, &k.hash) || !take_hash(&rest, &k.source) || !rest.p ||
        !place_is_server_key(rest))
        return false;
    k.key = rest;
    e->keys = arena_grow(r->arena, e->keys, e->key_count, &r->capacity,
                         sizeof *e->keys);
    e->keys[e->key_count++] = k;
    return true;
}

static bool read_gap(struct reader *r, struct str rest)
{
    struct record_entry *e = r->entry;
    char *gap = arena_alloc(r->arena, RECORD_GAP_MAX_BYTES);

    if (!e || e->kind != RECORD_SHARED || e->gap.n || e->key_count || !rest.n ||
        rest.n > RECORD_GAP_MAX_BYTES)
        return false;
    for (size_t i = 0; i < rest.n; i++) {
        size_t letter = str_find_char(STR(GAP_LETTERS), rest.p[i]);

        if (letter == SIZE_MAX)
            return false;
        gap[i] = gap_chars[letter];
    }
    e->gap = str_make(gap, rest.n);
    return true;
}

static bool read_folder(struct reader *r, struct str rest)
{
    r->entry = NULL;
    if (!rest.p || !place_is_folder(r->scope, rest) ||
        record_has_folder(r->out, rest))
        return false;
    record_add_folder(r->out, r->arena, rest);
    return true;
}

static bool read_here(struct reader *r, struct str rest)
{
    struct file_stat *here = &r->out->here;

    r->entry = NULL;
    return !here->ino && take_number(&rest, &here->size) &&
           take_number(&rest, &here->mtime) &&
           take_number(&rest, &here->ctime) && rest.p &&
           str_number(rest, UINT64_MAX, &here->ino);
}

static bool read_line(struct reader *r, struct str line)
{
    /* clang-format off */
    static const struct {
        const char *word;
        bool (*read)(struct reader *r, struct str rest);
    } rows[] = {
        {"f", read_file},      {"k", read_key},       {"tree", read_tree},
        {"taken", read_taken},
        {"link", read_link},   {"file", read_single},
        {"shared", read_shared}, {"gap", read_gap},
        {"dir", read_folder},  {"here", read_here},
    };
    /* clang-format on */
    struct str word;

    if (!str_cut(&line, ' ', &word))
        return false;
    if (r->is_skipping &&
        (str_is(word, "f") || str_is(word, "k") || str_is(word, "gap")))
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(word, rows[i].word))
            return rows[i].read(r, line);
    return false;
}

/* Allocates all entries and files at once; nearly every line is one of them. */
static void reserve(struct reader *r, struct str text)
{
    size_t entries = 0;

    while (text.p) {
        char first = text.n ? text.p[0] : '\0';
        struct str line;

        str_cut(&text, '\n', &line);
        r->file_capacity += str_starts(line, STR("f "));
        entries += first == 't' || first == 'l' || first == 's' ||
                   str_starts(line, STR("file "));
    }
    r->files = arena_array(r->arena, r->file_capacity, sizeof *r->files);
    r->out->capacity = entries;
    r->out->entries = arena_array(r->arena, entries, sizeof *r->out->entries);
}

bool record_parse(struct str text, const struct client_scope *scope,
                  struct arena *a, struct record *out)
{
    struct reader r = {.scope = scope, .arena = a, .out = out};
    struct str line;

    *out = (struct record){0};
    map_init(&out->by_path, a);
    if (!text.n || text.p[text.n - 1] != '\n' || str_has_char(text, '\0'))
        return false;
    text.n--;
    if (!str_cut(&text, '\n', &line) ||
        !(str_is(line, HEAD_1) || (scope->is_user && str_is(line, HEAD_2))))
        return false;
    reserve(&r, text);
    for (;;) {
        if (!str_cut(&text, '\n', &line))
            return false;
        if (str_is(line, "end"))
            break;
        if (!read_line(&r, line))
            return false;
    }
    if (text.p)
        return false;
    for (size_t i = 0; i < out->count; i++) {
        struct record_entry *e = &out->entries[i];

        /* an entry without files would always be intact */
        if ((e->kind == RECORD_TREE || e->kind == RECORD_FILE) &&
            !e->file_count)
            return false;
        out->by_path.entries[i].value = e; /* of the same order */
    }
    return true;
}
