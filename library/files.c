#include "base/fs.h"
#include "base/invariant.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <dirent.h>
#include <unistd.h>

#include "catalog.h"

/*
 * The files of a skill besides SKILL.md: listed, and read on demand. Links
 * and paths outside the folder are ignored. Source: L14, L15, A4.
 */

#define SNIFFED_BYTES    4096
#define PATH_SHOWN_CHARS 100

static const char *const kind_names[] = {
    [LIBRARY_REFERENCE] = "reference", [LIBRARY_SCRIPT] = "script",
    [LIBRARY_ASSET] = "asset",         [LIBRARY_EXAMPLE] = "example",
    [LIBRARY_OTHER] = "other",
};

const char *library_kind_name(enum library_kind k)
{
    return kind_names[k];
}

/* clang-format off */
static const struct {
    const char *folder;
    enum library_kind kind;
} folders[] = {
    {"references", LIBRARY_REFERENCE}, {"reference", LIBRARY_REFERENCE},
    {"docs",       LIBRARY_REFERENCE},
    {"scripts",    LIBRARY_SCRIPT},    {"script",    LIBRARY_SCRIPT},
    {"bin",        LIBRARY_SCRIPT},
    {"assets",     LIBRARY_ASSET},     {"asset",     LIBRARY_ASSET},
    {"templates",  LIBRARY_ASSET},
    {"examples",   LIBRARY_EXAMPLE},   {"example",   LIBRARY_EXAMPLE},
};

static const struct {
    const char *extension;
    enum library_kind kind;
} extensions[] = {
    {"md", LIBRARY_REFERENCE},  {"txt", LIBRARY_REFERENCE},
    {"rst", LIBRARY_REFERENCE}, {"pdf", LIBRARY_REFERENCE},
    {"py", LIBRARY_SCRIPT},     {"sh", LIBRARY_SCRIPT},
    {"bash", LIBRARY_SCRIPT},   {"js", LIBRARY_SCRIPT},
    {"mjs", LIBRARY_SCRIPT},    {"ts", LIBRARY_SCRIPT},
    {"rb", LIBRARY_SCRIPT},     {"pl", LIBRARY_SCRIPT},
    {"ps1", LIBRARY_SCRIPT},    {"star", LIBRARY_SCRIPT},
    {"png", LIBRARY_ASSET},     {"jpg", LIBRARY_ASSET},
    {"jpeg", LIBRARY_ASSET},    {"gif", LIBRARY_ASSET},
    {"svg", LIBRARY_ASSET},     {"webp", LIBRARY_ASSET},
    {"ttf", LIBRARY_ASSET},     {"otf", LIBRARY_ASSET},
    {"woff2", LIBRARY_ASSET},   {"css", LIBRARY_ASSET},
    {"html", LIBRARY_ASSET},    {"docx", LIBRARY_ASSET},
    {"xlsx", LIBRARY_ASSET},    {"pptx", LIBRARY_ASSET},
};
/* clang-format on */

/* Determines the kind by the folder or, in other folders, by the extension. */
static enum library_kind kind_of(struct str path)
{
    struct str name = path_last(path), folder, ending;
    size_t slash = str_find_char(path, '/'), dot = str_find_last(name, '.');

    folder = str_slice(path, 0, slash == SIZE_MAX ? 0 : slash);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_is(folder, folders[i].folder))
            return folders[i].kind;
    if (dot == SIZE_MAX || dot == 0)
        return LIBRARY_OTHER;
    ending = str_from_index(name, dot + 1);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (str_eq_nocase(ending, str_cstr(extensions[i].extension)))
            return extensions[i].kind;
    return LIBRARY_OTHER;
}

/* --- names ----------------------------------------------------------------------------- */

static bool is_served(struct str name)
{
    return text_is_utf8(name) && !path_is_git_folder(name);
}

bool library_path_is_served(struct str path)
{
    struct str rest = path, name;

    if (path.n > LIBRARY_PATH_MAX_BYTES || !fs_path_is_relative_clean(path))
        return false;
    while (str_cut(&rest, '/', &name))
        if (!is_served(name))
            return false;
    return true;
}

/* --- one file -------------------------------------------------------------------------- */

/* Returns whether the file is text. Its last character may be incomplete. */
static bool is_text(int fd)
{
    char head[SNIFFED_BYTES];
    ssize_t n = read(fd, head, sizeof head);
    struct str text = str_make(head, n > 0 ? (size_t)n : 0);

    if (n < 0 || str_has_char(text, '\0'))
        return false;
    for (size_t cut = 0; cut < 4 && cut <= text.n; cut++)
        if (text_is_utf8(str_slice(text, 0, text.n - cut)))
            return cut == 0 || text.n == sizeof head;
    return false;
}

static struct library_file describe(struct str path, int fd,
                                    const struct stat *st)
{
    return (struct library_file){
        .path = path,
        .kind = kind_of(path),
        .executable = st->st_mode & 0100,
        .size = (uint64_t)st->st_size,
        .is_text = fd >= 0 && is_text(fd),
    };
}

/* --- all of them ------------------------------------------------------------------------ */

struct listing {
    int fd;
    struct arena *a;
    struct str *paths; /* of regular files */
    size_t count, capacity, max_files;
    struct str *below; /* folders still to list */
    size_t below_count, below_capacity;
    bool whole; /* files that cannot be served are errors */
};

static bool add_file(struct listing *l, struct str path, struct err *e)
{
    if (l->count == l->max_files)
        return err_set(e, ERR_LIMIT, "more than %zu files", l->max_files);
    l->paths =
        arena_grow(l->a, l->paths, l->count, &l->capacity, sizeof *l->paths);
    INVARIANT(library_path_is_served(path));
    l->paths[l->count++] = path;
    return true;
}

static bool add_folder(struct listing *l, struct str path, struct err *e)
{
    if (path_depth(path) >= PACKAGE_MAX_DEPTH)
        return err_set(e, ERR_LIMIT, "deeper than %d folders",
                       PACKAGE_MAX_DEPTH);
    l->below = arena_grow(l->a, l->below, l->below_count, &l->below_capacity,
                          sizeof *l->below);
    l->below[l->below_count++] = path;
    return true;
}

/* Refuses a name that cannot be represented in an answer or a request. */
static bool refuse(const struct listing *l, struct str path, struct err *e)
{
    CLEANUP(buf_done) struct buf shown = {0};

    if (!l->whole)
        return true;
    buf_init(&shown, ERR_TEXT_MAX_BYTES);
    text_visible(&shown, str_slice(path, 0, path.n < 100 ? path.n : 100),
                 false);
    return err_set(e, ERR_REFUSED, "the name of %.*s %s",
                   STR_ARG(buf_str(&shown)),
                   text_is_utf8(path) ? "is too long" : "is not UTF-8");
}

static bool add_entry(struct listing *l, struct str folder,
                      const struct fs_entry *entry, struct err *e)
{
    struct str path;

    if ((entry->type != DT_REG && entry->type != DT_DIR) ||
        path_is_git_folder(entry->name))
        return true;
    path = fs_join(folder, entry->name, l->a);
    if (!text_is_utf8(entry->name) || path.n > LIBRARY_PATH_MAX_BYTES)
        return refuse(l, path, e);
    return entry->type == DT_REG ? add_file(l, path, e)
                                 : add_folder(l, path, e);
}

static bool list_all(struct listing *l, struct err *e)
{
    struct str folder = STR("");

    for (;;) {
        struct fs_entry *entries;
        size_t count;

        if (!fs_list_at(l->fd, str_dup0(folder, l->a), 2 * PACKAGE_MAX_FILES,
                        l->a, &entries, &count, e))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!add_entry(l, folder, &entries[i], e))
                return false;
        if (l->below_count == 0)
            break;
        folder = l->below[--l->below_count];
    }
    str_sort(l->paths, l->count);
    return true;
}

/* --- public ------------------------------------------------------------------------------ */

static bool open_skill(const struct library *l, struct str name, int *fd,
                       struct arena *a, struct err *e)
{
    const struct library_skill *s;
    struct str real;

    return catalog_find(l, name, &s, e) &&
           library_open_folder(l, s, a, fd, &real, e);
}

static bool list_skill(const struct library *l, struct str name,
                       struct listing *all, int *fd, struct err *e)
{
    if (!open_skill(l, name, fd, all->a, e))
        return false;
    all->fd = *fd;
    return list_all(all, e) ||
           err_wrap(e, "list the files of skill '%.*s'", STR_ARG(name));
}

bool library_files(const struct library *l, struct str name, struct arena *a,
                   struct library_file **out, size_t *count, struct err *e)
{
    CLEANUP_FD int folder = -1;
    struct listing all = {.a = a, .max_files = PACKAGE_MAX_FILES};
    struct library_file *files;
    size_t n = 0;

    if (!list_skill(l, name, &all, &folder, e))
        return false;
    files = arena_array(a, all.count + 1, sizeof *files);
    for (size_t i = 0; i < all.count; i++) {
        CLEANUP_FD int fd = -1;
        struct err gone = {0};
        struct stat st;

        /* deleted meanwhile, or not accessible */
        if (str_is(all.paths[i], "SKILL.md") ||
            !fs_open_file_at(folder, all.paths[i].p, &fd, &st, &gone))
            continue;
        files[n++] = describe(all.paths[i], fd, &st);
    }
    *out = files;
    *count = n;
    return true;
}

bool library_paths(const struct library *l, struct str name, size_t max_files,
                   struct arena *a, struct str **out, size_t *count,
                   struct err *e)
{
    CLEANUP_FD int folder = -1;
    struct listing all = {.a = a, .max_files = max_files, .whole = true};

    if (!list_skill(l, name, &all, &folder, e))
        return false;
    *out = all.paths;
    *count = all.count;
    return true;
}

/* Files that cannot be opened are listed, too. */
static bool describe_at(int folder, const char *name, struct str path,
                        struct library_file *out)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    struct stat st;

    if (!fs_open_file_at(folder, name, &fd, &st, &ignored) &&
        !(fs_stat_at(folder, name, &st) && S_ISREG(st.st_mode)))
        return false;
    *out = describe(path, fd, &st);
    return true;
}

bool library_folder(const struct library *l, struct str name, struct str folder,
                    struct arena *a, struct library_file **out, size_t *count,
                    struct err *e)
{
    CLEANUP_FD int skill = -1;
    CLEANUP_FD int fd = -1;
    struct library_file *files;
    struct fs_entry *entries;
    size_t all, n = 0;

    if (!open_skill(l, name, &skill, a, e))
        return false;
    if (folder.n && !library_path_is_served(folder))
        return err_set(e, ERR_REFUSED,
                       "the path is not one of a folder in the skill");
    if (!fs_open_dir_at(skill, str_dup0(folder, a), &fd, e) ||
        !fs_list_at(fd, "", 2 * PACKAGE_MAX_FILES, a, &entries, &all, e))
        return err_wrap(e, "list a folder of skill '%.*s'", STR_ARG(name));
    files = arena_array(a, all + 1, sizeof *files);
    for (size_t i = 0; i < all; i++) {
        struct str path = fs_join(folder, entries[i].name, a);

        if (path.n > LIBRARY_PATH_MAX_BYTES || !is_served(entries[i].name))
            continue;
        if (entries[i].type == DT_DIR)
            files[n++] = (struct library_file){.path = path, .is_folder = true};
        else if (entries[i].type == DT_REG &&
                 describe_at(fd, entries[i].name.p, path, &files[n]))
            n++;
    }
    *out = files;
    *count = n;
    return true;
}

/* Returns the bytes without an incomplete character at the end, or all bytes if
 * they are invalid elsewhere. */
static size_t whole_characters(struct str s)
{
    for (size_t back = 0; back < 4 && back <= s.n; back++) {
        unsigned char first =
            back ? (unsigned char)s.p[s.n - back] : (unsigned char)0xc2;

        if (first >= 0xc2 && first <= 0xf4 &&
            text_is_utf8(str_slice(s, 0, s.n - back)))
            return s.n - back;
    }
    return s.n;
}

/* Reads at most `max_bytes`; text ends with a complete character. */
static bool read_head(int fd, size_t max_bytes, struct arena *a,
                      struct str *out, bool *cut, struct err *e)
{
    struct str all;
    char *p = arena_alloc(a, max_bytes + 2);
    size_t n = 0;

    if (!fs_read_upto(fd, p, max_bytes + 1, &n, e))
        return false;
    INVARIANT(n <= max_bytes + 1);
    *cut = n > max_bytes;
    all = str_make(p, *cut ? max_bytes : n);
    if (*cut)
        all.n = whole_characters(all);
    p[all.n] = '\0';
    *out = all;
    return true;
}

bool library_read_file(const struct library *l, struct str name,
                       struct str path, size_t max_bytes, struct arena *a,
                       struct str *out, bool *cut, struct err *e)
{
    CLEANUP_FD int folder = -1;
    CLEANUP_FD int fd = -1;

    if (max_bytes > LIBRARY_FILE_MAX_BYTES)
        max_bytes = LIBRARY_FILE_MAX_BYTES;
    if (!open_skill(l, name, &folder, a, e))
        return false;
    while (str_starts(path, STR("./"))) /* "./" is a common spelling */
        path = str_from_index(path, 2);
    if (!library_path_is_served(path)) {
        err_set(e, ERR_REFUSED,
                "\"%.*s\" is not the path of a file in skill "
                "'%.*s'",
                STR_ARG(text_cut(path, PATH_SHOWN_CHARS)), STR_ARG(name));
        return err_hint(e, "paths are as its list of files has them, as in "
                           "references/forms.md");
    }
    if (!fs_open_file_at(folder, str_dup0(path, a), &fd, NULL, e) ||
        !read_head(fd, max_bytes, a, out, cut, e))
        return err_wrap(e, "read a file of skill '%.*s'", STR_ARG(name));
    if (text_is_utf8(*out))
        library_warn_hidden(l, name, path, *out);
    return true;
}
