#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve.h"

/*
 * The Skills extension: each skill with its frontmatter as JSON and its files
 * with their digests. Files are hashed when they are asked for: whoever reads
 * one compares it with its digest, and a stale one would refuse the file.
 *
 * Source: the extension io.modelcontextprotocol/skills, SEP-2640.
 */

#define PAGE_SKILLS     100
#define MAX_FILES       512 /* of a skill, as every host takes them */
#define MAX_TOTAL_BYTES (16u * 1024 * 1024)

/* --- an entry -------------------------------------------------------------------------- */

/* As the extension wants it: named as its address ends, described. */
static bool is_entry(const struct skill *skill, struct str name)
{
    const struct yaml *f = skill->document.frontmatter;
    const struct yaml *own = yaml_get(f, "name");
    const struct yaml *described = yaml_get(f, "description");

    return own && own->kind == YAML_SCALAR && str_eq(own->text, name) &&
           name_is_kebab(name) && described && described->kind == YAML_SCALAR;
}

static bool put_files(struct json_writer *w, const struct library_skill *as,
                      const struct skill *skill, struct arena *a)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    uint64_t total = 0;

    if (skill->file_count > MAX_FILES ||
        !fs_open_dir(str_c(skill->folder, a), &fd, &ignored))
        return false;
    json_key(w, "resources");
    json_begin_array(w);
    for (size_t i = 0; i < skill->file_count; i++) {
        const struct skill_file *f = &skill->files[i];
        struct stat st;

        if (!fs_stat_at(fd, str_c(f->path, a), &st) || !S_ISREG(st.st_mode))
            return false;
        total += (uint64_t)st.st_size;
        json_begin_object(w);
        json_member_string(w, "uri", serve_uri(as, f->path, a));
        json_member_string(
            w, "digest",
            arena_printf(a, "sha256:%.*s", STR_ARG(hash_hex(&f->hash, a))));
        json_member_number(w, "size", (uint64_t)st.st_size);
        json_end_object(w);
    }
    json_end_array(w);
    return total <= MAX_TOTAL_BYTES;
}

/* False: it cannot be served in this way; `out` is then as it was. */
static bool put_entry(struct serve *s, const struct library_skill *as,
                      struct buf *out)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct err ignored = {0};
    struct skill skill;
    struct json_writer w;

    if (!skill_read(as->folder, &s->layer.limits, &a, &skill, &ignored) ||
        !is_entry(&skill, as->name))
        return false;
    buf_init(&b, SERVE_TEXT_MAX_BYTES);
    json_writer_init(&w, &b, 0);
    json_begin_object(&w);
    json_member_string(&w, "uri", serve_uri(as, STR("SKILL.md"), &a));
    json_key(&w, "frontmatter");
    serve_put_yaml(&w, skill.document.frontmatter);
    if (!put_files(&w, as, &skill, &a))
        return false;
    json_end_object(&w);
    if (b.overflowed)
        return false;
    buf_append(out, buf_str(&b));
    return true;
}

/* --- the methods ------------------------------------------------------------------------- */

void serve_skills_list(void *ctx, struct mcp_call *c)
{
    struct serve *s = ctx;
    size_t count = library_count(s->library), from, i;
    CLEANUP(buf_done) struct buf b = {0};
    size_t written = 0;

    if (!serve_page(c, count, &from))
        return;
    buf_init(&b, 2 * SERVE_TEXT_MAX_BYTES);
    buf_text(&b, "\"skills\":[");
    for (i = from;
         i < count && i - from < PAGE_SKILLS && b.n < SERVE_TEXT_MAX_BYTES / 2;
         i++) {
        size_t before = b.n;

        if (written)
            buf_char(&b, ',');
        if (put_entry(s, library_at(s->library, i), &b))
            written++;
        else
            b.n = before;
    }
    buf_char(&b, ']');
    if (i < count)
        buf_printf(&b, ",\"nextCursor\":\"%zu\"", i);
    mcp_call_result(c, buf_str(&b));
}

void serve_skills_get(void *ctx, struct str uri, struct mcp_call *c)
{
    struct serve *s = ctx;
    const struct library_skill *skill;
    CLEANUP(buf_done) struct buf b = {0};
    struct str path;

    buf_init(&b, SERVE_TEXT_MAX_BYTES);
    buf_text(&b, "\"skill\":");
    if (serve_uri_find(s->library, uri, mcp_call_arena(c), &skill, &path) &&
        str_is(path, "SKILL.md") && put_entry(s, skill, &b))
        mcp_call_result(c, buf_str(&b));
    else
        mcp_call_error(c, MCP_PARAMS, STR(""), "No skill is served at %.*s",
                       (int)(uri.n < 300 ? uri.n : 300), uri.p);
}
