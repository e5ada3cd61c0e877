#include "base/path.h"
#include "base/text.h"

#include <inttypes.h>

#include "host_frame.h"
#include "unpack.h"

#define PATH_SHOWN_BYTES 300

struct unpack_name {
    struct str path;
    bool is_file;
};

static uint64_t least(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

void unpack_init(struct unpack *u, const struct limits *limits, struct arena *a)
{
    *u = (struct unpack){.a = a, .limits = limits};
    map_init(&u->names, a);
}

bool unpack_check_room(const struct unpack *u, uint64_t size, struct err *e)
{
    const struct limits *l = u->limits;
    uint64_t max = least(l->package_max_bytes.value, ARCHIVE_MAX_BYTES);

    if (size > l->file_max_bytes.value)
        return limit_fail(&l->file_max_bytes, e,
                          "larger than %" PRIu64 " bytes",
                          l->file_max_bytes.value);
    if (size > max || u->bytes > max - size)
        return err_set(e, ERR_LIMIT,
                       "the archive holds more than %" PRIu64 " bytes", max);
    return true;
}

static bool check_path(const struct unpack *u, struct str path, struct err *e)
{
    const struct limit *depth = &u->limits->package_max_depth;

    return path_check(path, PACKAGE_PATH_MAX_BYTES, e) &&
           (path_depth(path) <= depth->value ||
            limit_fail(depth, e, "deeper than %" PRIu64 " folders",
                       depth->value));
}

/* Registers a name. Fails if it exists, or would be the same name on a
 * case-insensitive file system. */
static bool claim(struct unpack *u, struct str path, bool is_file,
                  struct err *e)
{
    struct map_entry *entry = map_entry(&u->names, text_fold(path, u->a));
    struct unpack_name *known = entry->value;

    if (!known) {
        entry->value = known = arena_new(u->a, struct unpack_name);
        *known = (struct unpack_name){path, is_file};
        u->folder_count += !is_file;
        return true;
    }
    if (!str_eq(known->path, path))
        return err_set(e, ERR_REFUSED,
                       "%.*s and %.*s are the same name on some file systems",
                       STR_ARG(known->path), STR_ARG(path));
    if (!is_file && !known->is_file)
        return true;
    return err_set(e, ERR_REFUSED, "%.*s is in the archive twice",
                   STR_ARG(path));
}

static bool claim_all(struct unpack *u, struct str path, bool is_file,
                      struct err *e)
{
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '/' && !claim(u, str_slice(path, 0, i), false, e))
            return false;
    return claim(u, path, is_file, e);
}

static bool check_count(const struct unpack *u, struct err *e)
{
    const struct limit *files = &u->limits->package_max_files;
    uint64_t max = least(files->value, ARCHIVE_MAX_FILES);

    if (u->count > max || u->folder_count > max)
        return err_set(
            e, ERR_LIMIT,
            "the archive holds more than %" PRIu64 " files or folders", max);
    return true;
}

static bool wrap_path(struct str path, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str shown = text_cut_bytes(path, PATH_SHOWN_BYTES);

    return err_names(e, str_dup0(shown, &a))
               ? false
               : err_wrap(e, "%.*s", STR_ARG(shown));
}

bool unpack_add_folder(struct unpack *u, struct str path, struct err *e)
{
    path = arena_str(u->a, path);
    return (check_path(u, path, e) && claim_all(u, path, false, e) &&
            check_count(u, e)) ||
           wrap_path(path, e);
}

bool unpack_add_file(struct unpack *u, struct str path, bool executable,
                     struct str content, struct err *e)
{
    path = arena_str(u->a, path);
    if (!check_path(u, path, e) || !unpack_check_room(u, content.n, e) ||
        !claim_all(u, path, true, e))
        return wrap_path(path, e);
    u->files =
        arena_grow(u->a, u->files, u->count, &u->capacity, sizeof *u->files);
    u->files[u->count++] = (struct archive_file){
        .path = path, .bytes = content, .executable = executable};
    u->bytes += content.n;
    return check_count(u, e);
}

/* --- frames --------------------------------------------------------------- */

void unpack_write(struct buf *b, struct str archive,
                  enum artifact_format format, const struct limits *limits)
{
    size_t begun = frame_begin(b, FRAME_UNPACK);

    frame_u8(b, format);
    frame_limits(b, limits);
    frame_str(b, archive);
    frame_end(b, begun);
}

bool unpack_read(struct str body, struct arena *a, struct str *archive,
                 enum artifact_format *format, struct limits *limits)
{
    struct fields in = fields_of(body);

    *format = (enum artifact_format)field_u8(&in, ARTIFACT_TAR_GZ);
    if (!field_limits(&in, a, limits))
        return false;
    *archive = field_str(&in, ARTIFACT_MAX_BYTES);
    return fields_end(&in);
}

void unpack_write_files(struct buf *b, const struct unpack *u)
{
    size_t begun = frame_begin(b, FRAME_UNPACKED);

    frame_u32(b, u->count);
    for (size_t i = 0; i < u->count; i++) {
        frame_u8(b, u->files[i].executable);
        frame_str(b, u->files[i].path);
        frame_str(b, u->files[i].bytes);
    }
    frame_end(b, begun);
}

bool unpack_read_files(struct str body, struct unpack *out)
{
    struct fields in = fields_of(body);
    size_t count = field_u32(&in, ARCHIVE_MAX_FILES);
    struct err ignored = {0};

    for (size_t i = 0; i < count && !in.bad; i++) {
        bool executable = field_bool(&in);
        struct str path = field_str(&in, PACKAGE_PATH_MAX_BYTES);
        struct str content = field_str(&in, ARCHIVE_MAX_BYTES);

        if (in.bad || !unpack_add_file(out, path, executable,
                                       arena_str(out->a, content), &ignored))
            return false;
    }
    return fields_end(&in);
}
