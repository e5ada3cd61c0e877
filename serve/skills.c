#include "base/digest.h"
#include "base/fs.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"

#include "connection.h"

/*
 * The Skills extension: each skill with its frontmatter as JSON and its files
 * with their digests. Files are hashed on request: a host compares a file with
 * its digest, and would refuse it for a stale one. A skill that a host would
 * refuse is not listed, but still a resource. Source: the extension
 * io.modelcontextprotocol/skills, SEP-2640.
 */

#define PAGE_SKILLS     100
#define PAGE_BYTES      (16u * 1024 * 1024) /* bytes hashed per page */
#define EMPTY_PAGES     4   /* factor for a page that is still empty */
#define MAX_FILES       512 /* files of a skill that every host accepts */
#define MAX_TOTAL_BYTES (16u * 1024 * 1024)

/* --- its frontmatter ---------------------------------------------------------------- */

/* Returns whether hosts read the field as a string. */
static bool is_string(const struct yaml *y)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    if (!y || y->kind != YAML_SCALAR)
        return false;
    buf_init(&b, SERVE_TEXT_MAX_BYTES);
    json_writer_init(&w, &b, 0);
    serve_put_yaml(&w, y);
    return b.n && b.p[0] == '"';
}

static bool has_name(const struct yaml *frontmatter, struct str name)
{
    const struct yaml *y = yaml_get(frontmatter, "name");

    return is_string(y) && str_eq(y->text, name);
}

static const struct yaml *read_frontmatter(const struct library_skill *as,
                                           struct str text, struct arena *a)
{
    const struct manifest_input in = {
        .kind = DOC_SKILL,
        .text = text,
        .folder = as->name,
        .profile = PROFILE_INSTALL,
        .in_place = true,
        .skip_body = true,
    };
    struct diagnostics why;
    struct document d;

    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    return d.frontmatter;
}

/* A skill that goes by its folder's name is served under that name, as the copy
 * of an installed one has it: hosts compare it with the address. */
bool serve_skill_text(const struct library *l, const struct library_skill *as,
                      struct arena *a, struct str *out, struct err *e)
{
    const struct yaml *frontmatter;

    if (!library_text(l, as, a, out, e))
        return false;
    frontmatter = read_frontmatter(as, *out, a);
    return !frontmatter || has_name(frontmatter, as->name) ||
           manifest_rename(*out, as->name, a, out, e);
}

/* Parses what hosts read, which may be more than Agent Skills allows. */
static bool parse_entry_file(const struct library_skill *as, struct str text,
                             struct arena *a, const struct yaml **frontmatter,
                             struct err *e)
{
    *frontmatter = read_frontmatter(as, text, a);
    if (!*frontmatter || !has_name(*frontmatter, as->name))
        return err_set(e, ERR_FRONTMATTER, "its frontmatter has no name");
    return is_string(yaml_get(*frontmatter, "description")) ||
           err_set(e, ERR_FRONTMATTER, "its description is not text");
}

/* --- its files ------------------------------------------------------------------------- */

struct entry {
    const struct library_skill *as;
    struct arena a;
    struct buf out;
    struct json_writer w;
    int fd; /* digest and path of the folder */
    struct str text;
    struct str *paths;
    size_t count;
    uint64_t total; /* total size of the files */
};

static bool hash_file(struct entry *n, struct str path, uint64_t *size,
                      struct hash *out, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_file_at(n->fd, path.p, &fd, NULL, e) &&
           fs_hash_fd(fd, MAX_TOTAL_BYTES - n->total, size, out, e);
}

static bool put_file(struct entry *n, struct str path, struct err *e)
{
    bool is_anchor = str_is(path, "SKILL.md");
    uint64_t size = is_anchor ? n->text.n : 0;
    struct hash hash;

    if (is_anchor) /* use the parsed text */
        hash = hash_of(n->text);
    else if (!hash_file(n, path, &size, &hash, e))
        return false;
    n->total += size;
    if (n->total > MAX_TOTAL_BYTES)
        return err_set(e, ERR_LIMIT, "its files have more than %u bytes",
                       MAX_TOTAL_BYTES);
    json_begin_object(&n->w);
    json_member_string(&n->w, "uri", serve_uri(n->as, path, &n->a));
    json_member_string(&n->w, "digest", digest_format(&hash, &n->a));
    json_member_number(&n->w, "size", size);
    json_end_object(&n->w);
    return true;
}

static bool put_files(struct entry *n, struct err *e)
{
    json_member_array(&n->w, "resources");
    for (size_t i = 0; i < n->count; i++)
        if (!put_file(n, n->paths[i], e))
            return false;
    json_end_array(&n->w);
    return true;
}

/* --- an entry -------------------------------------------------------------------------- */

/* Reports once why a skill that is otherwise valid is not listed. */
static void warn_unlisted(struct serve *s, const struct library_skill *as,
                          const struct err *e)
{
    if (map_has(&s->unserved, as->name))
        return;
    map_put(&s->unserved, arena_str(&s->session_arena, as->name), s);
    context_warn(s->cx, "skill '%.*s' is not in skills/list: %s",
                 STR_ARG(as->name), err_first(e));
}

static void entry_done(struct entry *n)
{
    fs_close(&n->fd);
    buf_done(&n->out);
    arena_done(&n->a);
}

static bool write_entry(struct serve *s, struct entry *n,
                        const struct yaml *frontmatter, struct err *e)
{
    if (!library_paths(s->library, n->as->name, MAX_FILES, &n->a, &n->paths,
                       &n->count, e))
        return false;
    json_open(&n->w, &n->out, SERVE_TEXT_MAX_BYTES, 0);
    json_member_string(&n->w, "uri", serve_uri(n->as, STR("SKILL.md"), &n->a));
    json_key(&n->w, "frontmatter");
    serve_put_yaml(&n->w, frontmatter);
    if (!put_files(n, e))
        return false;
    json_end_object(&n->w);
    return buf_check(&n->out, "its entry", e);
}

/* Writes the entry of a skill. Returns false if it cannot be listed, and leaves
 * `out` unchanged. Adds the bytes read to `*hashed`. */
static bool put_entry(struct serve *s, const struct library_skill *as,
                      struct buf *out, uint64_t *hashed)
{
    CLEANUP(entry_done) struct entry n = {.as = as, .fd = -1};
    const struct yaml *frontmatter;
    struct err e = {0};
    struct str real;
    bool ok;

    if (!serve_shows(s, as))
        return false;
    ok = library_open_folder(s->library, as, &n.a, &n.fd, &real, &e) &&
         serve_skill_text(s->library, as, &n.a, &n.text, &e) &&
         parse_entry_file(as, n.text, &n.a, &frontmatter, &e) &&
         write_entry(s, &n, frontmatter, &e);
    *hashed += n.total;
    if (ok)
        buf_append(out, buf_str(&n.out));
    else
        warn_unlisted(s, as, &e);
    return ok;
}

/* --- the methods ------------------------------------------------------------------------- */

void serve_skills_list(void *ctx, struct mcp_call *c)
{
    struct serve *s = ctx;
    size_t count = library_count(s->library), from, i;
    CLEANUP(buf_done) struct buf b = {0};
    uint64_t hashed = 0;
    size_t written = 0;

    if (!serve_page(c, count, &from))
        return;
    buf_init(&b, 2 * SERVE_TEXT_MAX_BYTES);
    buf_text(&b, "\"skills\":[");
    for (i = from; i < count && i - from < PAGE_SKILLS &&
                   b.n < SERVE_TEXT_MAX_BYTES / 2 &&
                   hashed < (written ? 1 : EMPTY_PAGES) * PAGE_BYTES;
         i++) {
        size_t before = b.n;

        if (written)
            buf_char(&b, ',');
        if (put_entry(s, library_at(s->library, i), &b, &hashed))
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
    uint64_t hashed = 0;
    struct err e = {0};
    struct str path;
    bool found =
        serve_uri_find(s->library, uri, mcp_call_arena(c), &skill, &path) &&
        str_is(path, "SKILL.md");

    buf_init(&b, SERVE_TEXT_MAX_BYTES + 16);
    buf_text(&b, "\"skill\":");
    if (found && !serve_check_shown(s, skill, &e))
        serve_refuse(c, &e);
    else if (found && put_entry(s, skill, &b, &hashed))
        mcp_call_result(c, buf_str(&b));
    else
        mcp_call_error(c, MCP_PARAMS, STR(""), "No skill is served at %.*s",
                       (int)(uri.n < 300 ? uri.n : 300), uri.p);
}
