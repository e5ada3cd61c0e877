#include "indexed.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/state.h"

#include <string.h>
#include <time.h>

#include "folder.h"
#include "listing.h"

/* With fewer than TRUSTED_MIN_SKILLS skills, every SKILL.md is checked before a
 * search. With more, the times of the roots tell whether skills were added or
 * removed, and only the hits are read again. Source: G1, G3. */

#define TRUSTED_MIN_SKILLS 2000
#define YOUNG_SECONDS      1

/* --- what a source is of ------------------------------------------------------------ */

static void add_text(struct hash_state *h, struct str text)
{
    hash_add(h, text);
    hash_add(h, str_make("", 1));
}

static void add_bytes(struct hash_state *h, const void *p, size_t n)
{
    hash_add(h, str_make(p, n));
}

/* Hashes the roots, the rules and the version of mapm. */
static struct hash key_of(const struct library_options *o)
{
    struct hash_state h;

    hash_init(&h);
    add_text(&h, STR(MAPM_VERSION));
    add_text(&h, o->metis ? STR("metis") : STR(""));
    for (size_t i = 0; i < o->root_count; i++) {
        const struct library_root *root = &o->roots[i];

        add_text(&h, str_cstr(library_source_name(root->source)));
        add_text(&h, root->path);
        add_text(&h, root->allowed_link_root);
        add_text(&h, root->confined ? STR("confined") : STR(""));
        add_text(&h, root->flat ? STR("flat") : STR(""));
    }
    return hash_end(&h);
}

static struct str bytes_of(const struct hash *h)
{
    return str_make((const char *)h->b, sizeof h->b);
}

/* Hashes the skills and the fingerprints of their files. The content of a young
 * file may change without its times, so its texts are hashed. */
static struct hash content_of(const struct library *l)
{
    struct hash_state h;

    hash_init(&h);
    for (size_t i = 0; i < library_count(l); i++) {
        const struct library_skill *s = library_at(l, i);
        const struct place *at = &l->catalog->places[i];
        const struct records *records = &l->catalog->batches[at->root].records;
        struct fingerprint skill, program;

        record_fingerprints(records, at->record, &skill, &program);
        add_text(&h, s->folder);
        add_bytes(&h, &skill.ino, sizeof skill.ino);
        add_bytes(&h, &skill.size, sizeof skill.size);
        add_bytes(&h, &skill.seconds, sizeof skill.seconds);
        add_bytes(&h, &skill.nanoseconds, sizeof skill.nanoseconds);
        if (!(record_flags(records, at->record) & RECORD_YOUNG))
            continue;
        add_text(&h, s->name);
        add_text(&h, s->description);
        add_text(&h, s->tags);
        add_text(&h, s->disabled ? STR("disabled") : STR(""));
    }
    return hash_end(&h);
}

/* Lists each root and its groups, in lines such as "0/" and "0/group". */
static struct str folders_of(const struct library *l, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, LIBRARY_MAX_BYTES);
    for (size_t i = 0; i < l->options.root_count; i++) {
        const struct record_batch *batch = &l->catalog->batches[i];

        if (batch->records.bytes.n && !batch->has_all_groups)
            return STR("");
        buf_printf(&b, "%zu/\n", i);
        for (size_t k = 0; k < batch->group_count; k++)
            buf_printf(&b, "%zu/%.*s\n", i, STR_ARG(batch->groups[k]));
    }
    return arena_str(a, buf_str(&b));
}

/* Splits "0/group". */
static bool read_place(const struct library_options *o, struct str text,
                       const struct library_root **root, struct str *folder)
{
    struct str number;
    uint64_t n;

    *folder = text;
    if (!str_cut(folder, '/', &number) || !folder->p ||
        !str_number(number, UINT64_MAX, &n) || n >= o->root_count)
        return false;
    *root = &o->roots[n];
    return folder->n == 0 || fs_path_is_relative_clean(*folder);
}

/* Hashes the times of the folders; `*last` receives the latest, in seconds. */
static bool hash_times(const struct library_options *o, struct str folders,
                       struct hash *out, int64_t *last)
{
    struct hash_state h;
    struct str line;

    *last = 0;
    hash_init(&h);
    while (folders.n && str_cut(&folders, '\n', &line)) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct library_root *root;
        struct fingerprint times = {0};
        struct str folder;
        struct stat st;

        if (!read_place(o, line, &root, &folder))
            return false;
        if (stat(fs_join(root->path, folder, &a).p, &st) == 0)
            times = fingerprint_of(&st);
        add_bytes(&h, &times.ino, sizeof times.ino);
        add_bytes(&h, &times.seconds, sizeof times.seconds);
        add_bytes(&h, &times.nanoseconds, sizeof times.nanoseconds);
        if (times.seconds > *last)
            *last = times.seconds;
    }
    *out = hash_end(&h);
    return true;
}

/* Returns the hash of the content, followed, if no folder has changed since the
 * roots were read, by the hash of the folders' times and their list. */
static struct str stamp_of(const struct library *l, struct arena *a)
{
    struct str folders = folders_of(l, a);
    struct hash content = content_of(l), times;
    int64_t last;

    if (!folders.n || !hash_times(&l->options, folders, &times, &last) ||
        last >= l->catalog->began - YOUNG_SECONDS)
        return arena_str(a, bytes_of(&content));
    return str_join(str_join(bytes_of(&content), bytes_of(&times), a), folders,
                    a);
}

/* --- putting --------------------------------------------------------------------------- */

/* Formats the location of a skill: the index of its root and the name of its
 * folder. */
static struct str data_of(const struct library *l, size_t i, struct arena *a)
{
    struct record r = catalog_record(l, library_at(l, i));

    return arena_printf(a, "%u/%.*s", l->catalog->places[i].root,
                        STR_ARG(r.field[RECORD_FOLDER]));
}

static bool put(const struct library *l, struct state *s, struct str key,
                struct str stamp, uint64_t *id, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count = library_count(l);
    struct search_entry *entries = arena_array(&a, count + 1, sizeof *entries);

    for (size_t i = 0; i < count; i++) {
        const struct library_skill *skill = library_at(l, i);

        entries[i] = (struct search_entry){.name = skill->name,
                                           .description = skill->description,
                                           .tags = skill->tags,
                                           .data = data_of(l, i, &a),
                                           .hidden = skill->disabled};
    }
    return state_put_source(s, SEARCH_LIBRARY, key, stamp, entries, count, id,
                            e);
}

/* Opens the index in mapm.db if possible; a session has its own index. */
static bool open_shared(const struct library *l, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct catalog *c = l->catalog;
    struct hash key = key_of(&l->options);
    struct str stamp = stamp_of(l, &a);
    struct search_source known;

    if (state_find_source(l->options.index, SEARCH_LIBRARY, bytes_of(&key), &a,
                          &known, e) &&
        str_eq(known.stamp, stamp)) {
        c->index = l->options.index;
        c->source = known.id;
        return true;
    }
    if (e->code != ERR_NONE ||
        !put(l, l->options.index, bytes_of(&key), stamp, &c->source, e))
        return false;
    c->index = l->options.index;
    return true;
}

static bool open_own(const struct library *l, struct err *e)
{
    struct catalog *c = l->catalog;

    c->memory = state_open_memory(e);
    if (!c->memory || !put(l, c->memory, STR("own"), STR(""), &c->source, e))
        return false;
    c->index = c->memory;
    return true;
}

static bool open_index(const struct library *l, struct err *e)
{
    if (l->catalog->index)
        return true;
    if (l->options.index && !l->hold && open_shared(l, e))
        return true;
    err_clear(e);
    return open_own(l, e);
}

void indexed_close(struct catalog *c)
{
    state_close(c->memory);
    c->memory = c->index = NULL;
}

struct search_hit *indexed_search(const struct library *l, struct str text,
                                  size_t limit, bool model, struct arena *a,
                                  size_t *count)
{
    struct catalog *c = l->catalog;
    struct search_hit *hits = NULL;
    struct err e = {0};
    bool ok;

    *count = 0;
    pthread_mutex_lock(&c->lock);
    ok = open_index(l, &e);
    if (ok) {
        struct search_request r = {&c->source, 1, text, limit, model};

        ok = state_search(c->index, &r, a, &hits, count, &e);
    }
    pthread_mutex_unlock(&c->lock);
    if (!ok)
        report_note(&l->options, LIBRARY_WARNING, "cannot search: %s",
                    err_first(&e));
    return ok ? hits : NULL;
}

/* --- without a library ------------------------------------------------------------------ */

/* Returns whether the roots are unchanged since the source was stored. */
static bool find_trusted(const struct library_options *o, struct arena *a,
                         uint64_t *id)
{
    struct hash key = key_of(o), times;
    struct err ignored = {0};
    struct search_source known;
    int64_t last;

    if (!o->index ||
        !state_find_source(o->index, SEARCH_LIBRARY, bytes_of(&key), a, &known,
                           &ignored) ||
        known.count < TRUSTED_MIN_SKILLS ||
        known.stamp.n <= 2 * sizeof times.b ||
        !hash_times(o, str_from_index(known.stamp, 2 * sizeof times.b), &times,
                    &last))
        return false;
    *id = known.id;
    return str_eq(str_slice(known.stamp, sizeof times.b, 2 * sizeof times.b),
                  bytes_of(&times));
}

/* Reads the SKILL.md of a hit; it must still match the index. */
static bool read_hit(const struct library_options *o,
                     const struct search_hit *hit, struct arena *a,
                     struct library_hit *out)
{
    CLEANUP_FD int fd = -1;
    struct root_bounds bounds;
    struct skill_place place = {
        .bounds = &bounds, .metis = o->metis, .options = o, .now = time(NULL)};
    const struct library_root *root;
    struct library_skill *skill = arena_new(a, struct library_skill);
    struct err ignored = {0};
    struct record r;

    if (!read_place(o, hit->data, &root, &place.folder) || !place.folder.n ||
        !root_open(root, a, &bounds, &fd, &ignored) ||
        !fingerprint_file(fd, place.folder, STR("SKILL.md"), false,
                          &place.skill))
        return false;
    skill_validate(&place, a, &r);
    if (!(r.flags & RECORD_VALID))
        return false;
    catalog_fill(skill, root, &r, o->metis, a);
    *out = (struct library_hit){
        .skill = skill, .score = hit->score, .unknown = hit->unknown};
    return str_eq(skill->name, hit->name) &&
           str_eq(skill->description, hit->description) &&
           str_eq(skill->tags, hit->tags);
}

bool library_search_trusted(const struct library_options *o, struct str query,
                            size_t limit, bool model, struct arena *a,
                            struct library_hit **out, size_t *count)
{
    struct search_request r = {
        .source_count = 1, .text = query, .limit = limit, .model = model};
    struct search_hit *found;
    struct err ignored = {0};
    uint64_t id;
    size_t n;

    if (o->metis || text_strip(query).n == 0 || !find_trusted(o, a, &id))
        return false;
    r.sources = &id;
    if (!state_search(o->index, &r, a, &found, &n, &ignored))
        return false;
    *out = arena_array(a, n + 1, sizeof **out);
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!library_is_hit(&found[i]))
            continue;
        if (!read_hit(o, &found[i], a, &(*out)[*count]))
            return false;
        (*count)++;
    }
    return true;
}
