#include "base/fs.h"
#include "base/path.h"
#include "mapm/metaskill.h"
#include "mapm/package_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A skill's folder: all its files hashed, SKILL.md parsed, the program read.
 * The last two are read again after hashing, and refused when they differ: the
 * program that runs is the hashed one.
 */

struct folder {
    int fd;
    struct str path; /* absolute, with links resolved */
    struct str name; /* as requested */
    const struct limits *limits;
    struct arena *a;
    struct package_file *files;
    size_t count, capacity;
    struct str *below; /* folders still to read */
    size_t below_count, below_capacity;
    uint64_t bytes;
    struct str program_path; /* resolved path of the program in the folder */
};

/* --- every file ----------------------------------------------------------------- */

static bool hash_file(struct folder *f, int fd, uint64_t *size,
                      struct hash *out, struct err *e)
{
    const struct limit *most = &f->limits->file_max_bytes;

    if (!fs_hash_fd(fd, most->value, size, out, e))
        return false;
    return *size <= most->value ||
           limit_fail(most, e, "larger than %" PRIu64 " bytes", most->value);
}

static bool add_file(struct folder *f, struct str path, struct err *e)
{
    CLEANUP_FD int fd = -1;
    const struct limits *l = f->limits;
    struct package_file file = {.path = path};
    struct stat st;
    uint64_t size = 0;

    if (f->count == l->package_max_files.value)
        return limit_fail(&l->package_max_files, e, "more than %zu files",
                          f->count);
    if (!fs_open_file_at(f->fd, path.p, &fd, &st, e) ||
        !hash_file(f, fd, &size, &file.hash, e))
        return false;
    f->bytes += size;
    if (f->bytes > l->package_max_bytes.value)
        return limit_fail(&l->package_max_bytes, e,
                          "all files together: more than %" PRIu64 " bytes",
                          l->package_max_bytes.value);
    file.executable = (st.st_mode & 0100) != 0;
    f->files =
        arena_grow(f->a, f->files, f->count, &f->capacity, sizeof *f->files);
    f->files[f->count++] = file;
    return true;
}

static bool add_folder(struct folder *f, struct str path, struct err *e)
{
    const struct limit *most = &f->limits->package_max_depth;

    if (path_depth(path) >= most->value)
        return limit_fail(most, e, "deeper than %" PRIu64 " folders",
                          most->value);
    f->below = arena_grow(f->a, f->below, f->below_count, &f->below_capacity,
                          sizeof *f->below);
    f->below[f->below_count++] = path;
    return true;
}

/* As in a package, special files are ignored. */
static bool add_entry(struct folder *f, struct str folder,
                      const struct fs_entry *entry, struct err *e)
{
    struct str path = folder.n ? fs_join(folder, entry->name, f->a)
                               : arena_str(f->a, entry->name);
    bool ok;

    if (str_is(entry->name, ".git") ||
        (entry->type != DT_REG && entry->type != DT_DIR))
        return true;
    ok =
        path_check(path, PACKAGE_PATH_MAX_BYTES, e) &&
        (entry->type == DT_REG ? add_file(f, path, e) : add_folder(f, path, e));
    return ok || err_wrap(e, "%.*s", STR_ARG(path));
}

static int by_path(const void *x, const void *y)
{
    return str_cmp(((const struct package_file *)x)->path,
                   ((const struct package_file *)y)->path);
}

static bool read_files(struct folder *f, struct err *e)
{
    struct str path = STR("");
    struct fs_entry *entries;
    size_t count;

    for (;;) {
        if (!fs_list_at(f->fd, str_dup0(path, f->a),
                        f->limits->package_max_files.value * 2, f->a, &entries,
                        &count, e))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!add_entry(f, path, &entries[i], e))
                return false;
        if (f->below_count == 0)
            break;
        path = f->below[--f->below_count];
    }
    if (f->count)
        qsort(f->files, f->count, sizeof *f->files, by_path);
    return true;
}

/* --- what SKILL.md asks for --------------------------------------------------------- */

/* Resolves links first, then opens the result without following links, so that
 * it cannot be replaced in between (K10). */
static enum manifest_file resolve(struct folder *f, struct str path,
                                  struct str *inside)
{
    char real[PATH_MAX];
    struct str full;

    if (!realpath(fs_join(f->path, path, f->a).p, real))
        return errno == ENOENT ? MANIFEST_FILE_MISSING
                               : MANIFEST_FILE_UNREADABLE;
    full = str_cstr(real);
    if (!str_starts(full, f->path) || full.n == f->path.n ||
        (f->path.n > 1 && full.p[f->path.n] != '/'))
        return MANIFEST_FILE_ESCAPES;
    *inside = arena_str(
        f->a, str_from_index(full, f->path.n + (f->path.n > 1 ? 1 : 0)));
    return MANIFEST_FILE_OK;
}

static enum manifest_file read_beside(void *ctx, struct str path,
                                      size_t max_bytes, struct arena *a,
                                      struct str *content)
{
    CLEANUP_FD int fd = -1;
    struct folder *f = ctx;
    struct str inside = path;
    enum manifest_file state = MANIFEST_FILE_OK;
    struct err e = {0};
    struct stat st;

    if (str_has_char(path, '\0'))
        return MANIFEST_FILE_MISSING;
    if (!fs_open_file_at(f->fd, str_dup0(path, a), &fd, &st, &e)) {
        if (e.code == ERR_NOT_FOUND)
            return MANIFEST_FILE_MISSING;
        if (e.code != ERR_REFUSED)
            return MANIFEST_FILE_UNREADABLE;
        state = resolve(f, path, &inside);
        if (state == MANIFEST_FILE_OK &&
            !fs_open_file_at(f->fd, inside.p, &fd, &st, &e))
            state = MANIFEST_FILE_UNREADABLE;
    }
    if (state == MANIFEST_FILE_OK)
        state = package_file_read(fd, max_bytes, a, content);
    if (state == MANIFEST_FILE_OK && max_bytes)
        f->program_path = inside;
    return state;
}

static bool read_text(struct folder *f, struct skill *s, struct err *e)
{
    if (fs_read_file_at(f->fd, "SKILL.md", ANCHOR_MAX_BYTES, f->a, &s->text, e))
        return true;
    if (e->code == ERR_NOT_FOUND)
        err_hint(e, "a skill is a folder with a SKILL.md");
    return false;
}

/* manifest_read requests the program beside the document, and possibly other
 * files, so the program is identified by its name. */
static bool parse_entry_file(struct folder *f, struct skill *s, struct err *e)
{
    const struct manifest_files files = {read_beside, f};
    struct manifest_input in = {
        .kind = DOC_SKILL,
        .text = s->text,
        .folder = f->name,
        .files = &files,
        .profile = PROFILE_INSTALL,
        .in_place = true,
    };

    diagnostics_init(&s->why, f->a);
    manifest_read(&in, f->a, &s->document, &s->why);
    if (s->why.errors)
        return diagnostics_fail(
            &s->why, DOC_SKILL,
            str_dup0(fs_join(f->path, STR("SKILL.md"), f->a), f->a), e);
    if (!s->document.metaskill)
        return true;
    if (read_beside(f, s->document.program, PROGRAM_MAX_BYTES, f->a,
                    &s->program) != MANIFEST_FILE_OK)
        return err_set(e, ERR_IO, "%.*s: it cannot be read any more",
                       STR_ARG(s->document.program));
    s->file = s->document.program;
    return true;
}

static bool is_hashed(const struct folder *f, struct str path, struct str text)
{
    struct package_file *found, key = {.path = path};
    struct hash hash = hash_of(text);

    found = f->count ? bsearch(&key, f->files, f->count, sizeof key, by_path)
                     : NULL;
    return found && hash_eq(&found->hash, &hash);
}

bool metaskill_read_open(int fd, struct str path, struct str name,
                         const struct limits *limits, struct arena *a,
                         struct skill *out, struct err *e)
{
    struct folder f = {
        .fd = fd, .path = path, .name = name, .limits = limits, .a = a};
    struct skill s = {.folder = path, .file = STR(""), .program = STR("")};

    if (!read_text(&f, &s, e) || !parse_entry_file(&f, &s, e) ||
        !read_files(&f, e))
        return err_wrap(e, "read the skill %.*s", STR_ARG(path));
    if (!is_hashed(&f, STR("SKILL.md"), s.text) ||
        (s.file.n && !is_hashed(&f, f.program_path, s.program)))
        return err_set(e, ERR_REFUSED, "%.*s was changed while it was read",
                       STR_ARG(path));
    s.files = f.files;
    s.file_count = f.count;
    *out = s;
    return true;
}

bool metaskill_read(struct str folder, const struct limits *limits,
                    struct arena *a, struct skill *out, struct err *e)
{
    CLEANUP_FD int fd = -1;
    char real[PATH_MAX];
    struct str path;

    if (!realpath(str_dup0(folder, a), real))
        return err_set(
            e, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO,
            "%.*s: %s", STR_ARG(folder), strerror(errno));
    path = arena_str(a, str_cstr(real));
    return fs_open_dir_at(AT_FDCWD, real, &fd, e) &&
           metaskill_read_open(fd, path,
                               path_last(str_starts(folder, STR("/"))
                                             ? fs_normalize(folder, a)
                                             : path),
                               limits, a, out, e);
}
