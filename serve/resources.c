#include "base/base64.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"

#include <string.h>

#include "connection.h"

/*
 * Skills as resources: each SKILL.md is listed, other files of a skill are
 * found by its folders. Only regular files inside of the skill are read. A
 * skill hidden from models (L6) is neither listed nor read.
 */

/* Maximum size of a file that is read. */
#define READ_MAX_BYTES (16u * 1024 * 1024)
#define FOLDER_MIME    "inode/directory"

static void make_resources(struct serve *s)
{
    size_t count = library_count(s->library), n = 0;
    struct arena *a = &s->resource_snap;

    s->resources = arena_array(a, count + 1, sizeof *s->resources);
    for (size_t i = 0; i < count; i++) {
        const struct library_skill *skill = library_at(s->library, i);

        if (!serve_shows(s, skill))
            continue;
        s->resources[n++] = (struct mcp_resource){
            .uri = serve_uri(skill, STR("SKILL.md"), a),
            .name = skill->name,
            .description = skill->description,
            .mime = STR("text/markdown"),
            .size = UINT64_MAX,
        };
    }
    s->resource_count = n;
}

void serve_forget_resources(struct serve *s)
{
    arena_done(&s->resource_snap);
    s->resources = NULL;
}

bool serve_resources(void *ctx, struct arena *a,
                     const struct mcp_resource **out, size_t *count)
{
    struct serve *s = ctx;

    (void)a;
    if (!s->resources)
        make_resources(s);
    *out = s->resources;
    *count = s->resource_count;
    return true;
}

bool serve_templates(void *ctx, struct arena *a,
                     const struct mcp_template **out, size_t *count)
{
    static const struct mcp_template templates[] = {
        {.uri = STR_INIT("skill://{+skill}/{+file}"),
         .name = STR_INIT("skill-file"),
         .title = STR_INIT("A file of a skill"),
         .description = STR_INIT("skill: a name, behind its scope if it has "
                                 "one; file: a path in its folder")},
    };

    (void)ctx;
    (void)a;
    *out = templates;
    *count = sizeof templates / sizeof *templates;
    return true;
}

/* Reads a regular file below the folder of the skill without following
 * links. */
static bool read_file(const struct library *l,
                      const struct library_skill *skill, struct str path,
                      struct arena *a, struct str *out, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct str real;

    if (str_is(path, "SKILL.md")) /* T27 */
        return serve_skill_text(l, skill, a, out, e);
    return library_open_folder(l, skill, a, &fd, &real, e) &&
           fs_read_file_at(fd, str_dup0(path, a), READ_MAX_BYTES, a, out, e);
}

/* --- reading ----------------------------------------------------------------------- */

void serve_read(void *ctx, struct str uri, struct mcp_call *c)
{
    struct serve *s = ctx;
    struct arena *a = mcp_call_arena(c);
    const struct library_skill *skill;
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;
    struct err e = {0};
    struct str path, bytes;
    bool is_text;

    if (!serve_uri_find(s->library, uri, a, &skill, &path) || path.n == 0) {
        mcp_call_no_resource(c, uri);
        return;
    }
    if (!serve_check_shown(s, skill, &e)) {
        serve_refuse(c, &e);
        return;
    }
    if (!read_file(s->library, skill, path, a, &bytes, &e)) {
        if (e.code == ERR_LIMIT || e.code == ERR_STALE)
            serve_refuse(c, &e);
        else
            mcp_call_no_resource(c, uri);
        return;
    }
    is_text = text_is_utf8(bytes) && !memchr(bytes.p, '\0', bytes.n);
    if (is_text)
        library_warn_hidden(s->library, skill->name, path, bytes);
    json_open(&w, &b, 8 * (size_t)READ_MAX_BYTES, 0);
    json_member_array(&w, "contents");
    json_begin_object(&w);
    json_member_string(&w, "uri", uri);
    json_member_string(&w, "mimeType", serve_mime(path, is_text));
    if (is_text)
        json_member_string(&w, "text", bytes);
    else
        json_member_string(&w, "blob", base64_format(bytes, a));
    json_end_object(&w);
    json_end_array(&w);
    json_end_object(&w);
    mcp_call_result(c, serve_inside(&b));
}

/* --- folders -------------------------------------------------------------------------- */

bool serve_page(struct mcp_call *c, size_t count, size_t *from)
{
    const struct json *cursor = json_get(mcp_call_params(c), "cursor");
    uint64_t n = 0;

    if (cursor &&
        (cursor->kind != JSON_STRING ||
         !str_number(cursor->text, SIZE_MAX, &n) || n == 0 || n >= count)) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "There is no such cursor");
        return false;
    }
    *from = (size_t)n;
    return true;
}

static void put_child(struct json_writer *w, const struct library_skill *skill,
                      const struct library_file *f, struct arena *a)
{
    bool is_anchor = !f->is_folder && str_is(f->path, "SKILL.md");

    json_begin_object(w);
    json_member_string(w, "uri", serve_uri(skill, f->path, a));
    json_member_string(w, "name", is_anchor ? skill->name : path_last(f->path));
    if (is_anchor)
        json_member_string(w, "description", skill->description);
    json_member_string(w, "mimeType",
                       f->is_folder ? STR(FOLDER_MIME)
                                    : serve_mime(f->path, f->is_text));
    if (!f->is_folder)
        json_member_number(w, "size", f->size);
    json_end_object(w);
}

static void answer_folder(struct mcp_call *c, const struct library_skill *skill,
                          const struct library_file *files, size_t count)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, SERVE_TEXT_MAX_BYTES, 0);
    json_member_array(&w, "resources");
    for (size_t i = 0; i < count; i++)
        put_child(&w, skill, &files[i], mcp_call_arena(c));
    json_end_array(&w);
    json_end_object(&w);
    if (b.overflowed)
        mcp_call_error(c, MCP_INTERNAL, STR(""), "The list is too long");
    else
        mcp_call_result(c, serve_inside(&b));
}

/* Folders are bounded, so one page suffices. */
void serve_directory(void *ctx, struct str uri, struct mcp_call *c)
{
    struct serve *s = ctx;
    struct arena *a = mcp_call_arena(c);
    const struct library_skill *skill;
    struct library_file *files;
    struct err e = {0};
    struct str folder;
    size_t count, from;

    if (!serve_page(c, 0, &from))
        return;
    if (!serve_uri_find(s->library, uri, a, &skill, &folder))
        mcp_call_error(c, MCP_PARAMS, STR(""),
                       "That is not a directory resource");
    else if (!serve_check_shown(s, skill, &e))
        serve_refuse(c, &e);
    else if (library_folder(s->library, skill->name, folder, a, &files, &count,
                            &e))
        answer_folder(c, skill, files, count);
    else if (e.code == ERR_LIMIT)
        mcp_call_error(c, MCP_INTERNAL, STR(""), "%s", err_first(&e));
    else
        mcp_call_error(c, MCP_PARAMS, STR(""),
                       "That is not a directory resource");
}
