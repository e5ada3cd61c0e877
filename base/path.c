#include "base/path.h"

#include "base/text.h"

#include <string.h>

#define QUOTED_MAX_BYTES 200

static bool is_ignored_by_hfs(int32_t c)
{
    return (c >= 0x200c && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x206a && c <= 0x206f) || c == 0xfeff;
}

/* Detects names that are ".git" on a file system that ignores case or certain
 * characters, or has short names. */
bool path_is_git_folder(struct str name)
{
    char plain[8];
    size_t n = 0, at = 0;

    while (at < name.n && n < sizeof plain) {
        int32_t c = text_next(name, &at);

        if (is_ignored_by_hfs(c))
            continue;
        plain[n++] = c > 0 && c < 0x80 ? (char)c : '?';
    }
    if (str_eq_nocase(str_make(plain, n), STR(".git")))
        return true;
    return n == 5 && str_eq_nocase(str_make(plain, 4), STR("git~")) &&
           char_is_digit(plain[4]);
}

/* Returns whether Windows treats the name as a device, with any extension. */
static bool is_device(struct str name)
{
    /* clang-format off */
    static const char *const devices[] = {
        "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$",
    };
    static const char *const digits[] = {
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
        "\u00b9", "\u00b2", "\u00b3",
    };
    /* clang-format on */
    struct str stem = name, port;
    size_t dot = str_find_char(name, '.');

    if (dot != SIZE_MAX)
        stem.n = dot;
    while (stem.n && stem.p[stem.n - 1] == ' ')
        stem.n--;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (str_eq_nocase(stem, str_cstr(devices[i])))
            return true;
    }
    port = str_slice(stem, 0, 3);
    if (!str_eq_nocase(port, STR("COM")) && !str_eq_nocase(port, STR("LPT")))
        return false;
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        if (str_is(str_from_index(stem, 3), digits[i]))
            return true;
    }
    return false;
}

static bool has_forbidden(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '\0' || strchr("/\\:*?\"<>|", name.p[i]))
            return true;
    }
    return false;
}

/* Returns why a file must not have this name, or NULL. */
static const char *name_fault(struct str name)
{
    if (name.n == 0)
        return "is empty";
    if (name.n > PATH_NAME_MAX_BYTES)
        return "is longer than 255 bytes";
    if (!text_is_utf8(name))
        return "is not UTF-8";
    if (text_has_control(name))
        return "has a control character";
    if (str_is(name, ".") || str_is(name, ".."))
        return "names no file";
    if (has_forbidden(name))
        return "has one of / \\ : * ? \" < > |";
    if (name.p[name.n - 1] == '.' || name.p[name.n - 1] == ' ')
        return "ends in a dot or a blank";
    if (path_is_git_folder(name))
        return "stands for \".git\"";
    if (is_device(name))
        return "is a device on Windows";
    return NULL;
}

/* Quotes text for a message, printable and short; a truncated text ends in
 * "…". */
static void quote(struct str s, struct buf *b)
{
    bool cut = s.n > QUOTED_MAX_BYTES / 4;

    text_visible(b, str_slice(s, 0, QUOTED_MAX_BYTES / 4), false);
    buf_text(b, cut ? "\xe2\x80\xa6" : "");
}

bool path_check_name(struct str name, struct err *e)
{
    CLEANUP(buf_done) struct buf shown = {.max = 4096};
    const char *fault = name_fault(name);
    enum text_hidden hidden;
    int32_t code_point;
    size_t offset;

    hidden =
        fault ? TEXT_HIDDEN_NONE : text_find_hidden(name, &offset, &code_point);
    if (!fault && hidden == TEXT_HIDDEN_NONE)
        return true;
    quote(name, &shown);
    if (fault)
        return err_set(e, ERR_REFUSED, "the file name \"%.*s\" %s",
                       STR_ARG(buf_str(&shown)), fault);
    return err_set(e, ERR_REFUSED,
                   "the file name \"%.*s\" has a hidden character: %s",
                   STR_ARG(buf_str(&shown)), text_hidden_name(hidden));
}

bool path_check(struct str path, size_t max_bytes, struct err *e)
{
    struct str rest = path, name;

    if (path.n > max_bytes)
        return err_set(e, ERR_LIMIT, "a path longer than %zu bytes", max_bytes);
    if (!path.p)
        return path_check_name(path, e);
    while (str_cut(&rest, '/', &name))
        if (!path_check_name(name, e))
            return false;
    return true;
}

struct str path_last(struct str path)
{
    size_t slash = str_find_last(path, '/');

    return slash == SIZE_MAX ? path : str_from_index(path, slash + 1);
}

struct str path_folder(struct str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX || path.n == 1)
        return STR("");
    return str_slice(path, 0, slash ? slash : 1);
}

size_t path_depth(struct str path)
{
    size_t depth = 1;

    for (size_t i = 0; i < path.n; i++)
        depth += path.p[i] == '/';
    return depth;
}

bool path_stays_below(struct str folder, struct str target)
{
    size_t depth = folder.n ? path_depth(folder) : 0;
    struct str name;

    while (str_cut(&target, '/', &name)) {
        if (str_is(name, "..")) {
            if (depth == 0)
                return false;
            depth--;
        } else if (name.n && !str_is(name, ".")) {
            depth++;
        }
    }
    return true;
}
