#include "base/digest.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/discover.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/name.h"
#include "mapm/package_file.h"
#include "mapm/well_known.h"

#include <dirent.h>
#include <stdlib.h>

#include "archive.h"
#include "entry.h"

/* Publishes a folder of skills as an index of .well-known/agent-skills. */

#define TO_TOP     "../../" /* from the folder of the index to the root */
#define FILE_MODE  0644
#define MAX_DEPTH  16
#define INDEX_FILE DISCOVER_INDEX_FOLDER "/index.json"

struct publishing {
    struct context *cx;
    int dirfd;
    struct discover_published *items;
    size_t count;
};

/* The files of a skill. */
struct files {
    struct arena *a;
    struct package_file *items; /* without hashes */
    size_t count, capacity;
    int fd; /* descriptor of the skill's folder */
    struct str why;
};

/* --- the files of a skill ----------------------------------------------------------- */

static void add_file(struct files *f, struct str path)
{
    struct stat st;

    if (f->count >= ARCHIVE_MAX_FILES ||
        !fs_stat_at(f->fd, str_dup0(path, f->a), &st)) {
        f->why = STR("it has too many files");
        return;
    }
    f->items =
        arena_grow(f->a, f->items, f->count, &f->capacity, sizeof *f->items);
    f->items[f->count++] =
        (struct package_file){.path = path, .executable = st.st_mode & S_IXUSR};
}

static void list_files(struct files *f, struct str folder, unsigned depth)
{
    struct fs_entry *entries;
    struct err e = {0};
    size_t count;

    if (depth > MAX_DEPTH) {
        f->why = STR("its folders are too deep");
        return;
    }
    if (!fs_list_at(f->fd, folder.n ? str_dup0(folder, f->a) : ".",
                    ARCHIVE_MAX_FILES, f->a, &entries, &count, &e)) {
        f->why = arena_str(f->a, str_cstr(err_first(&e)));
        return;
    }
    for (size_t i = 0; i < count && !f->why.n; i++) {
        struct str path = folder.n
                              ? arena_printf(f->a, "%.*s/%.*s", STR_ARG(folder),
                                             STR_ARG(entries[i].name))
                              : entries[i].name;

        if (str_is(entries[i].name, ".git"))
            continue;
        if (entries[i].type == DT_DIR)
            list_files(f, path, depth + 1);
        else if (entries[i].type == DT_REG)
            add_file(f, path);
        else
            f->why = arena_printf(f->a,
                                  "%.*s is a link, or no regular file: an "
                                  "index holds files alone",
                                  STR_ARG(path));
    }
}

/* --- artifacts --------------------------------------------------------------------- */

/* Percent-encodes all but unreserved characters and "/" (RFC 3986). */
static struct str encode(struct str path, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i];

        if (char_is_alpha(c) || char_is_digit(c) || c == '/' || c == '-' ||
            c == '.' || c == '_' || c == '~')
            buf_char(&b, c);
        else
            buf_printf(&b, "%%%02X", (unsigned char)c);
    }
    return arena_str(a, buf_str(&b));
}

/* Replaces a file only if it differs: most are unchanged, and syncing one takes
 * milliseconds. */
static bool replace(int dirfd, const char *path, struct str content,
                    struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct str old;

    return (fs_read_file_at(dirfd, path, ARCHIVE_MAX_BYTES, &a, &old,
                            &ignored) &&
            str_eq(old, content)) ||
           fs_replace_at(dirfd, path, FILE_MODE, content, e);
}

static bool pack(const struct files *f, struct buf *out, struct err *e)
{
    CLEANUP(archive_end) struct archive z;

    archive_begin(&z, out);
    for (size_t i = 0; i < f->count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str text;

        if (!fs_read_file_at(f->fd, str_dup0(f->items[i].path, f->a),
                             ARCHIVE_MAX_BYTES, &a, &text, e))
            return false;
        archive_add(&z, f->items[i].path, f->items[i].executable, text);
    }
    return buf_check(out, "its archive", e);
}

static bool write_archive(struct publishing *p, const struct files *f,
                          struct discover_published *s, struct err *e)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct arena *a = &p->cx->arena;

    buf_init(&out, ARCHIVE_MAX_BYTES);
    if (!pack(f, &out, e))
        return false;
    s->is_archive = true;
    s->url = arena_printf(a, "%.*s.zip", STR_ARG(s->name));
    s->digest = digest_of(buf_str(&out), a);
    return replace(
        p->dirfd,
        arena_printf(a, DISCOVER_INDEX_FOLDER "/%.*s", STR_ARG(s->url)).p,
        buf_str(&out), e);
}

/* --- a skill ------------------------------------------------------------------------ */

static void leave_out(struct discover_published *s, const char *why)
{
    s->why = str_cstr(why);
}

static void read_document(struct publishing *p, struct str text,
                          struct discover_published *s)
{
    struct arena *a = &p->cx->arena;
    struct manifest_input in = {.kind = DOC_SKILL,
                                .text = text,
                                .folder = path_last(s->path),
                                .profile = PROFILE_INSTALL,
                                .in_place = true};
    struct diagnostics why;
    struct document d;

    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    s->name = d.name;
    s->version = entry_version(&d);
    s->description = text_one_line(d.description, a);
    s->license = d.license;
    s->tags = d.tags;
    s->tag_count = d.tag_count;
    s->tokens = entry_tokens(text);
    if (why.errors || d.name_replaced)
        leave_out(s, "it is not valid: mapm check says why");
    else if (!name_is_kebab(s->name))
        leave_out(s, "its name is not lower-case words with hyphens");
    else if (!s->description.n ||
             text_count(s->description) > DESCRIPTION_MAX_CHARS)
        leave_out(s, "its description is missing, or longer than 1024 "
                     "characters");
}

static bool open_skill(const struct publishing *p,
                       const struct discover_published *s, int *fd,
                       struct err *e)
{
    return fs_open_dir_at(p->dirfd, str_dup0(s->path, &p->cx->arena), fd, e);
}

static void read_skill(struct publishing *p, struct discover_published *s)
{
    struct arena *a = &p->cx->arena;
    CLEANUP_FD int fd = -1;
    struct err e = {0};
    struct str text;

    if (!open_skill(p, s, &fd, &e) ||
        !fs_read_file_at(fd, "SKILL.md", ANCHOR_MAX_BYTES, a, &text, &e)) {
        s->why = arena_str(a, str_cstr(err_first(&e)));
        return;
    }
    read_document(p, text, s);
    s->files = 1;
    s->url = arena_printf(a, TO_TOP "%.*s%sSKILL.md",
                          STR_ARG(encode(s->path, a)), s->path.n ? "/" : "");
    s->digest = digest_of(text, a);
}

/* Lists the files of a skill, and writes an archive if there are others than
 * its SKILL.md. */
static void add_files(struct publishing *p, struct discover_published *s)
{
    struct arena *a = &p->cx->arena;
    CLEANUP_FD int fd = -1;
    struct files files = {.a = a};
    struct err e = {0};

    if (s->path.n == 0)
        return;
    if (!open_skill(p, s, &fd, &e)) {
        s->why = arena_str(a, str_cstr(err_first(&e)));
        return;
    }
    files.fd = fd;
    list_files(&files, STR(""), 0);
    s->why = files.why;
    s->files = files.count;
    if (s->why.n || files.count < 2)
        return;
    STR_SORT_BY(files.items, files.count, path);
    if (!write_archive(p, &files, s, &e))
        s->why = arena_str(a, str_cstr(err_first(&e)));
}

/* --- the index ----------------------------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
    const struct discover_published *a = x, *b = y;
    int order = str_cmp(a->name, b->name);

    return order ? order : str_cmp(a->path, b->path);
}

/* W3: keeps one skill per name, the first by path. Called before archives get
 * these names. */
static void drop_same_names(struct publishing *p)
{
    const struct discover_published *last = NULL;

    qsort(p->items, p->count, sizeof *p->items, by_name);
    for (size_t i = 0; i < p->count; i++) {
        struct discover_published *s = &p->items[i];

        if (s->why.n)
            continue;
        if (last && str_eq(last->name, s->name)) {
            s->why = arena_printf(&p->cx->arena, "%.*s has its name, too",
                                  STR_ARG(last->path));
            continue;
        }
        last = s;
    }
}

static size_t count_published(const struct publishing *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++)
        n += p->items[i].why.n == 0;
    return n;
}

static void put_skill(struct json_writer *w, const struct discover_published *s)
{
    json_begin_object(w);
    json_member_string(w, "name", s->name);
    json_member_string(w, "type",
                       s->is_archive ? STR("archive") : STR("skill-md"));
    json_member_string(w, "description", s->description);
    json_member_string(w, "url", s->url);
    json_member_string(w, "digest", s->digest);
    if (s->version.n)
        json_member_string(w, "version", s->version);
    if (s->license.n)
        json_member_string(w, "license", s->license);
    if (s->tag_count)
        json_member_strings(w, "tags", s->tags, s->tag_count);
    json_member_number(w, "tokens", s->tokens);
    json_member_number(w, "files", s->files);
    json_end_object(w);
}

static bool write_index(struct publishing *p, struct err *e)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct json_writer w;

    json_open(&w, &out, AGENT_INDEX_MAX_BYTES, 2);
    json_member_string(&w, "$schema", STR(WELL_KNOWN_SCHEMA));
    json_member_array(&w, "skills");
    for (size_t i = 0; i < p->count; i++)
        if (!p->items[i].why.n)
            put_skill(&w, &p->items[i]);
    json_end_array(&w);
    json_end_object(&w);
    buf_char(&out, '\n');
    return buf_check(&out, "the index", e) &&
           replace(p->dirfd, INDEX_FILE, buf_str(&out), e);
}

bool discover_index(struct context *cx, int dirfd, const struct str *paths,
                    size_t count, struct discover_published **out,
                    struct err *e)
{
    struct publishing p = {.cx = cx, .dirfd = dirfd, .count = count};

    p.items = arena_array(&cx->arena, count + 1, sizeof *p.items);
    *out = p.items;
    if (count > AGENT_INDEX_MAX_ENTRIES)
        return err_set(e, ERR_LIMIT, "more than %d skills",
                       AGENT_INDEX_MAX_ENTRIES);
    if (count && !fs_make_dirs_at(dirfd, DISCOVER_INDEX_FOLDER, 0755, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        p.items[i].path = paths[i];
        read_skill(&p, &p.items[i]);
    }
    if (count)
        drop_same_names(&p);
    for (size_t i = 0; i < count; i++)
        if (!p.items[i].why.n)
            add_files(&p, &p.items[i]);
    if (count_published(&p) == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no skill for an index");
    return write_index(&p, e);
}
