#include "base/fs.h"
#include "base/text.h"
#include "mapm/batch.h"
#include "mapm/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "input.h"
#include "output.h"

/* Merges the outputs of all shards after checking that each input occurs
 * exactly once. */

#define ID_SHOWN 80

/* Location of the result of an input. */
struct place {
    uint32_t file, length, number; /* `file` is its index + 1; 0 if not found */
    uint64_t offset;
};

struct merge {
    const struct batch_merge *q;
    struct batch_counts *counts;
    struct batch_input input;
    struct place *places; /* one per line of the input */
    uint32_t file;        /* the file that is being read */
    size_t faults;
    struct err *e;
    int open_fd; /* descriptor of file `open`, or -1 */
    uint32_t open;
};

static const char *name_of(const struct merge *m, uint32_t file)
{
    return str_dup0(m->q->outputs.items[file - 1], &m->q->cx->arena);
}

static void fault(struct merge *m, enum err_code code, const char *format, ...)
    PRINTF(3, 4);
static void fault(struct merge *m, enum err_code code, const char *format, ...)
{
    char text[512];
    va_list args;

    if (!m->faults)
        m->e->code = code;
    if (m->faults++ >= ERROR_MAX_LINES)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    err_also(m->e, "%s", text);
}

/* --- reading ---------------------------------------------------------------- */

static void count(struct batch_counts *c, enum batch_end how)
{
    c->completed += how == BATCH_COMPLETED;
    c->failed += how == BATCH_FAILED;
    c->interrupted += how == BATCH_INTERRUPTED;
}

static bool take_result(void *ctx, struct str line, unsigned number,
                        uint64_t offset, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct merge *m = ctx;
    struct batch_result r;
    struct batch_line *l;
    struct place *p;
    struct hash key;

    if (!batch_read_result(line, &a, &r, e))
        return err_wrap(e, "%s:%u", name_of(m, m->file), number);
    key = hash_of(r.id);
    l = batch_input_find(&m->input, &key);
    if (!l) {
        fault(m, ERR_CONFLICT, "%s:%u: no input has the id \"%.*s\"",
              name_of(m, m->file), number, STR_ARG(text_cut(r.id, ID_SHOWN)));
        return true;
    }
    p = &m->places[l - m->input.lines];
    if (p->file) {
        fault(m, ERR_CONFLICT, "%s:%u: \"%.*s\" is also at %s:%u",
              name_of(m, m->file), number, STR_ARG(text_cut(r.id, ID_SHOWN)),
              name_of(m, p->file), p->number);
        return true;
    }
    *p = (struct place){m->file, (uint32_t)line.n, number, offset};
    count(m->counts, r.how);
    return true;
}

static bool open_output(struct merge *m, uint32_t file, struct err *e)
{
    if (m->open == file)
        return true;
    fs_close(&m->open_fd);
    m->open = file;
    return fs_open_user_file(name_of(m, file), &m->open_fd, e);
}

static bool read_outputs(struct merge *m, struct err *e)
{
    const struct batch_each_line each = {take_result, m, BATCH_OUT_MAX_BYTES};

    for (m->file = 1; m->file <= m->q->outputs.count; m->file++) {
        const char *name = name_of(m, m->file);

        if (!open_output(m, m->file, e))
            return false;
        if (!batch_each_line(m->open_fd, &each, e))
            return err_names(e, name) ? false : err_wrap(e, "%s", name);
    }
    return true;
}

static void find_missing(struct merge *m)
{
    for (size_t i = 0; i < m->input.count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct batch_item item;
        struct err ignored = {0};

        if (m->places[i].file)
            continue;
        if (!batch_input_read(&m->input, &m->input.lines[i], &a, &item,
                              &ignored))
            item.id = STR("?");
        fault(m, ERR_NOT_FOUND, "%s:%u: \"%.*s\" is in none of the outputs",
              m->input.path, m->input.lines[i].number,
              STR_ARG(text_cut(item.id, ID_SHOWN)));
    }
}

static bool check(struct merge *m, struct err *e)
{
    if (!read_outputs(m, e))
        return false;
    find_missing(m);
    if (!m->faults)
        return true;
    if (m->faults > ERROR_MAX_LINES)
        err_also(e, "and %zu more", m->faults - ERROR_MAX_LINES);
    err_wrap(e, "the outputs do not have each input of %s exactly once",
             m->input.path);
    return err_hint(e, "nothing was written; run the shard of a missing input "
                       "again: it continues where it stopped");
}

/* --- writing ---------------------------------------------------------------- */

static bool write_all(struct merge *m, struct batch_output *o, struct err *e)
{
    for (size_t i = 0; i < m->input.count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct place *p = &m->places[i];
        struct str line;

        if (!open_output(m, p->file, e) ||
            !batch_read_at(m->open_fd, p->offset, p->length, &a, &line, e))
            return err_wrap(e, "%s", name_of(m, p->file));
        if (!batch_output_line(o, line, e))
            return false;
    }
    return batch_output_end(o, e);
}

static bool is_read_here(const struct merge *m, const char *path)
{
    struct stat out, in;

    if (stat(path, &out) < 0)
        return false;
    for (uint32_t i = 0; i <= m->q->outputs.count; i++)
        if (stat(i ? name_of(m, i) : m->input.path, &in) == 0 &&
            in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return true;
    return false;
}

static bool write_merged(struct merge *m, struct err *e)
{
    struct arena *a = &m->q->cx->arena;
    const char *path = m->q->out.p ? str_dup0(m->q->out, a) : NULL;
    struct batch_output o;
    bool ok;

    if (path && is_read_here(m, path))
        return err_set(e, ERR_USAGE, "--out %s: that is read here", path);
    ok = batch_output_open(&o, path, e) && write_all(m, &o, e);
    batch_output_close(&o);
    return ok;
}

bool batch_merge(const struct batch_merge *q, struct batch_counts *out,
                 struct err *e)
{
    struct merge m = {.q = q, .counts = out, .e = e, .open_fd = -1};
    bool ok;

    *out = (struct batch_counts){0};
    if (q->outputs.count > BATCH_MAX_OUTPUTS)
        return err_set(e, ERR_LIMIT, "more than %d outputs", BATCH_MAX_OUTPUTS);
    ok = batch_input_open(str_dup0(q->file, &q->cx->arena), &m.input, e);
    if (ok) {
        out->total = m.input.count;
        m.places = heap_alloc(m.input.count * sizeof *m.places);
        ok = check(&m, e) && write_merged(&m, e);
    }
    fs_close(&m.open_fd);
    heap_free(m.places);
    batch_input_close(&m.input);
    return ok;
}
