#include "output.h"

#include "base/fs.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FLUSH_BYTES   (256u * 1024)
#define OUT_MODE      0644
#define OUT_MAX_DEPTH 130

/* --- a line ----------------------------------------------------------------- */

static bool is_ours(struct str key)
{
    static const char *const names[] = {"id", "shard", "end", "tape"};

    return STR_IS_ONE_OF(key, names);
}

static bool parse(struct str text, struct arena *a, const struct json **out,
                  struct err *e)
{
    static const struct json_options options = {
        .max_bytes = BATCH_OUT_MAX_BYTES,
        .max_depth = OUT_MAX_DEPTH,
        .max_nodes = 1000000,
    };

    if (!json_parse(text, &options, a, out, NULL, e))
        return false;
    return (*out)->kind == JSON_OBJECT ||
           err_set(e, ERR_FORMAT, "not a JSON object");
}

static bool put_envelope(struct json_writer *w, struct str envelope,
                         struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *j;

    if (!parse(envelope, &a, &j, e))
        return err_wrap(e, "the envelope");
    for (const struct json *m = j->first; m; m = m->next) {
        if (is_ours(m->key))
            continue;
        json_key_str(w, m->key);
        json_raw(w, str_slice(envelope, m->start, m->end));
    }
    return true;
}

static void put_error(struct json_writer *w, const struct batch_result *r)
{
    json_member_string(w, "status",
                       r->how == BATCH_INTERRUPTED ? STR("interrupted")
                                                   : STR("error"));
    json_member_string(w, "error", r->error);
}

bool batch_put_result(struct buf *out, const struct batch_result *r,
                      struct err *e)
{
    struct json_writer w;

    json_open(&w, out, BATCH_OUT_MAX_BYTES, 0);
    json_member_string(&w, "id", r->id);
    json_member_number(&w, "shard", r->shard);
    json_member_string(&w, "end", str_cstr(batch_end_name(r->how)));
    if (r->tape.n)
        json_member_string(&w, "tape", r->tape);
    if (r->how != BATCH_COMPLETED)
        put_error(&w, r);
    else if (!put_envelope(&w, r->envelope, e))
        return false;
    json_end_object(&w);
    return buf_check(out, "a line of the output", e);
}

bool batch_read_result(struct str line, struct arena *a,
                       struct batch_result *out, struct err *e)
{
    const struct json *j, *id, *shard;
    uint64_t number = 0;

    if (!parse(line, a, &j, e))
        return false;
    id = json_get(j, "id");
    shard = json_get(j, "shard");
    *out = (struct batch_result){.id = json_text(id)};
    if (!out->id.p || !shard || shard->kind != JSON_NUMBER ||
        !str_number(shard->text, BATCH_MAX_SHARDS, &number) ||
        !batch_end_find(json_text(json_get(j, "end")), &out->how))
        return err_set(e, ERR_FORMAT, "no line of the output of a batch");
    out->shard = (unsigned)number;
    return true;
}

/* --- the file --------------------------------------------------------------- */

bool batch_output_open(struct batch_output *o, const char *path, struct err *e)
{
    *o = (struct batch_output){.fd = STDOUT_FILENO,
                               .path = path ? path : "standard output"};
    buf_init(&o->lines, BATCH_OUT_MAX_BYTES + 2 * FLUSH_BYTES);
    if (!path)
        return true;
    o->fd = fs_openat(AT_FDCWD, path,
                      O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC,
                      OUT_MODE);
    o->is_ours = o->fd >= 0;
    return o->is_ours || err_errno(e, "--out %s", path);
}

bool batch_output_flush(struct batch_output *o, struct err *e)
{
    bool ok = !o->lines.n || fs_write_all(o->fd, buf_str(&o->lines), e);

    buf_clear(&o->lines);
    return ok || err_wrap(e, "cannot write %s", o->path);
}

bool batch_output_line(struct batch_output *o, struct str line, struct err *e)
{
    buf_append(&o->lines, line);
    buf_char(&o->lines, '\n');
    return o->lines.n < FLUSH_BYTES || batch_output_flush(o, e);
}

bool batch_output_end(struct batch_output *o, struct err *e)
{
    if (!batch_output_flush(o, e))
        return false;
    /* EINVAL and EROFS mean that the output is not on a disk, as a pipe. */
    if (!o->is_ours || fdatasync(o->fd) == 0 || errno == EINVAL ||
        errno == EROFS)
        return true;
    return err_errno(e, "write %s", o->path);
}

void batch_output_close(struct batch_output *o)
{
    if (o->is_ours)
        fs_close(&o->fd);
    buf_done(&o->lines);
}
