#include "input.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/input.h"
#include "mapm/limits.h"

#include <stdlib.h>
#include <unistd.h>

#define SHARD_BYTES 8
#define ID_SHOWN    80

/* --- a line ----------------------------------------------------------------- */

static bool is_plain(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < ' ' || id.p[i] == 0x7f)
            return false;
    return id.n > 0 && id.n <= BATCH_ID_MAX_BYTES;
}

/* Reads the id of an input. A number is used as spelled; without an id, the
 * number of the line. */
static bool read_id(const struct json *id, unsigned number, struct arena *a,
                    struct str *out, struct err *e)
{
    *out = id ? id->text : arena_printf(a, "%u", number);
    if (id && id->kind != JSON_STRING && id->kind != JSON_NUMBER)
        return err_set(e, ERR_FORMAT, "\"id\" has to be a string or a number");
    return is_plain(*out) ||
           err_set(e, ERR_FORMAT,
                   "\"id\" has to have 1 to %d bytes, and no control "
                   "characters",
                   BATCH_ID_MAX_BYTES);
}

static bool check_members(const struct json *line, struct err *e)
{
    const struct json *input = json_get(line, "input");

    for (const struct json *m = line->first; m; m = m->next)
        if (!str_is(m->key, "id") && !str_is(m->key, "input"))
            return err_set(e, ERR_FORMAT, "unknown key \"%.*s\"",
                           STR_ARG(text_cut(m->key, ID_SHOWN)));
    if (!input)
        return err_set(e, ERR_FORMAT, "\"input\" is missing");
    return input->kind == JSON_OBJECT ||
           err_set(e, ERR_FORMAT, "\"input\" has to be an object");
}

/* Parses one line. Removes "line 1, " from errors, since each line is parsed
 * separately. */
static bool parse_json(struct str line, struct arena *a,
                       const struct json **out, struct err *e)
{
    static const struct json_options options = {.max_depth =
                                                    INPUT_MAX_DEPTH + 1};
    struct err why = {0};
    struct str said;

    if (json_parse(line, &options, a, out, NULL, &why))
        return (*out)->kind == JSON_OBJECT ||
               err_set(e, ERR_FORMAT, "not a JSON object");
    said = str_cstr(err_first(&why));
    if (str_starts(said, STR("line 1, ")))
        said = str_from_index(said, 8);
    return err_set(e, why.code, "%.*s", STR_ARG(said));
}

bool batch_item_parse(struct str line, unsigned number, struct arena *a,
                      struct batch_item *out, struct err *e)
{
    const struct json *j, *input;
    bool given;

    if (!parse_json(line, a, &j, e) || !check_members(j, e) ||
        !read_id(json_get(j, "id"), number, a, &out->id, e))
        return false;
    input = json_get(j, "input");
    return input_read(str_slice(line, input->start, input->end), NULL, 0, a,
                      &out->input, &given, e);
}

/* --- the file --------------------------------------------------------------- */

struct indexing {
    struct batch_input *in;
    size_t capacity;
};

static bool index_line(void *ctx, struct str text, unsigned number,
                       uint64_t offset, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct indexing *x = ctx;
    struct batch_input *in = x->in;
    struct batch_item item;

    if (!batch_item_parse(text, number, &a, &item, e))
        return err_wrap(e, "%s:%u", in->path, number);
    if (in->count == BATCH_MAX_LINES)
        return err_set(e, ERR_LIMIT, "%s has more than %d lines", in->path,
                       BATCH_MAX_LINES);
    if (in->count == x->capacity) {
        x->capacity = x->capacity ? x->capacity * 2 : 1024;
        in->lines = heap_resize(in->lines, x->capacity * sizeof *in->lines);
    }
    in->lines[in->count++] = (struct batch_line){
        .key = hash_of(item.id),
        .input = hash_of(item.input),
        .offset = offset,
        .length = (uint32_t)text.n,
        .number = number,
    };
    return true;
}

static int compare_keys(const void *x, const void *y, void *ctx)
{
    const struct batch_line *lines = ctx;
    const uint32_t *i = x, *k = y;
    int order = memcmp(lines[*i].key.b, lines[*k].key.b, sizeof lines->key.b);

    return order ? order : (*i > *k) - (*i < *k);
}

static bool refuse_twice(const struct batch_input *in, uint32_t i, uint32_t k,
                         struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct batch_item item;

    if (!batch_input_read(in, &in->lines[k], &a, &item, e))
        return false;
    err_set(e, ERR_REFUSED, "%s:%u: the id \"%.*s\" is also that of line %u",
            in->path, in->lines[k].number, STR_ARG(text_cut(item.id, ID_SHOWN)),
            in->lines[i].number);
    return err_hint(e, "each input needs an id of its own; nothing was run");
}

static bool sort_keys(struct batch_input *in, struct err *e)
{
    in->by_key = heap_alloc((in->count + 1) * sizeof *in->by_key);
    for (uint32_t i = 0; i < in->count; i++)
        in->by_key[i] = i;
    qsort_r(in->by_key, in->count, sizeof *in->by_key, compare_keys, in->lines);
    for (size_t i = 1; i < in->count; i++)
        if (hash_eq(&in->lines[in->by_key[i - 1]].key,
                    &in->lines[in->by_key[i]].key))
            return refuse_twice(in, in->by_key[i - 1], in->by_key[i], e);
    return true;
}

static bool is_of_the_text(enum err_code code)
{
    return code == ERR_FORMAT || code == ERR_USAGE || code == ERR_LIMIT;
}

static bool open_file(struct batch_input *in, struct err *e)
{
    struct stat st;

    if (!fs_open_user_file(in->path, &in->fd, e))
        return false;
    if (fstat(in->fd, &st) < 0)
        return err_errno(e, "%s", in->path);
    return S_ISREG(st.st_mode) ||
           err_set(e, ERR_REFUSED, "%s is not a regular file", in->path);
}

bool batch_input_open(const char *path, struct batch_input *out, struct err *e)
{
    struct indexing x = {.in = out};
    const struct batch_each_line each = {index_line, &x, BATCH_LINE_MAX_BYTES};

    *out = (struct batch_input){.path = path, .fd = -1};
    if (!open_file(out, e))
        return false;
    if (!batch_each_line(out->fd, &each, e)) {
        if (is_of_the_text(e->code)) {
            e->code = ERR_REFUSED;
            err_hint(e, "each line is {\"id\": …, \"input\": {…}}; nothing "
                        "was run");
        }
        return err_names(e, path) ? false : err_wrap(e, "%s", path);
    }
    if (!out->count)
        return err_set(e, ERR_REFUSED, "%s is empty", path);
    return sort_keys(out, e);
}

void batch_input_close(struct batch_input *in)
{
    fs_close(&in->fd);
    heap_free(in->lines);
    heap_free(in->by_key);
    in->lines = NULL;
    in->by_key = NULL;
}

struct batch_line *batch_input_find(const struct batch_input *in,
                                    const struct hash *key)
{
    size_t from = 0, to = in->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        struct batch_line *l = &in->lines[in->by_key[middle]];
        int order = memcmp(l->key.b, key->b, sizeof key->b);

        if (order == 0)
            return l;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

unsigned batch_shard_of(const struct hash *key, unsigned shards)
{
    uint64_t n = 0;

    for (size_t i = 0; i < SHARD_BYTES; i++)
        n = n << 8 | key->b[i];
    return (unsigned)(n % shards);
}

bool batch_input_read(const struct batch_input *in,
                      const struct batch_line *line, struct arena *a,
                      struct batch_item *out, struct err *e)
{
    struct hash key, input;
    struct str text;
    struct err why = {0};
    bool ok =
        batch_read_at(in->fd, line->offset, line->length, a, &text, &why) &&
        batch_item_parse(text, line->number, a, out, &why);

    if (ok) {
        key = hash_of(out->id);
        input = hash_of(out->input);
        ok = hash_eq(&key, &line->key) && hash_eq(&input, &line->input);
    }
    return ok || err_set(e, ERR_EDITED,
                         "%s:%u is not what it was when the batch began",
                         in->path, line->number);
}
