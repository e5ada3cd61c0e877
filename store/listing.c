#include "base/buf.h"
#include "base/fs.h"
#include "mapm/store.h"

#include "store_internal.h"

#define MODE_PLAIN "100644 "
#define MODE_EXEC  "100755 "
#define MODE_BYTES 7

struct hash store_listing_format(struct package_file *files, size_t count,
                                 struct arena *a, struct str *text)
{
    struct buf b;

    buf_init(&b, SIZE_MAX / 2);
    STR_SORT_BY(files, count, path);
    for (size_t i = 0; i < count; i++) {
        char hex[HASH_HEX_CHARS + 1];

        hash_format(&files[i].hash, hex);
        buf_text(&b, files[i].executable ? MODE_EXEC : MODE_PLAIN);
        buf_append(&b, str_make(hex, HASH_HEX_CHARS));
        buf_char(&b, ' ');
        buf_append(&b, files[i].path);
        buf_char(&b, '\n');
    }
    *text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return hash_of(*text);
}

static bool parse_line(struct str line, struct arena *a,
                       struct package_file *out, struct err *e)
{
    const size_t path_at = MODE_BYTES + HASH_HEX_CHARS + 1;

    out->executable = str_starts(line, STR(MODE_EXEC));
    if (line.n <= path_at ||
        (!out->executable && !str_starts(line, STR(MODE_PLAIN))) ||
        line.p[path_at - 1] != ' ' ||
        !hash_parse(str_slice(line, MODE_BYTES, path_at - 1), &out->hash))
        return err_set(e, ERR_FORMAT, "a listing's line is malformed");
    out->path = arena_str(a, str_from_index(line, path_at));
    if (out->path.n > PACKAGE_PATH_MAX_BYTES ||
        !fs_path_is_relative_clean(out->path))
        return err_set(e, ERR_FORMAT, "a listing names an unusable path");
    return true;
}

static size_t count_lines(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

bool store_listing_parse(struct str text, struct arena *a,
                         struct package_file **files, size_t *count,
                         struct err *e)
{
    size_t n = 0, lines = count_lines(text);
    struct package_file *list;

    if (lines > PACKAGE_FILES_CEILING)
        return err_set(e, ERR_LIMIT, "a package of more than %d files",
                       PACKAGE_FILES_CEILING);
    list = arena_array(a, lines, sizeof *list);
    while (text.n) {
        size_t end = str_find_char(text, '\n');

        if (end == SIZE_MAX)
            return err_set(e, ERR_FORMAT, "a listing ends within a line");
        if (!parse_line(str_slice(text, 0, end), a, &list[n], e))
            return false;
        if (n && str_cmp(list[n - 1].path, list[n].path) >= 0)
            return err_set(e, ERR_FORMAT, "a listing is not in order");
        n++;
        text = str_from_index(text, end + 1);
    }
    if (n == 0)
        return err_set(e, ERR_FORMAT, "a listing without files");
    *files = list;
    *count = n;
    return true;
}

bool store_read_listing(struct store *s, const struct hash *digest,
                        struct arena *a, struct package_file **files,
                        size_t *count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str text;

    return store_read(s, digest, LISTING_MAX_BYTES, &scratch, &text, e) &&
           store_listing_parse(text, a, files, count, e);
}

bool store_find_files(struct store *s, const struct hash *digest,
                      struct arena *a, struct package_file **files,
                      size_t *count)
{
    struct err problem = {0};
    struct package_file *found = NULL;
    size_t n = 0;

    if (!store_read_listing(s, digest, a, &found, &n, &problem)) {
        if (problem.code == ERR_IO && s->index_problem.code == ERR_NONE)
            s->index_problem = problem;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (!store_has(s, &found[i].hash))
            return false;
    *files = found;
    *count = n;
    return true;
}

bool store_has_package(struct store *s, const struct hash *digest)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct package_file *files;
    size_t count;

    return store_find_files(s, digest, &a, &files, &count);
}
