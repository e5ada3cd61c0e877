
#include "mapm/limits.h"

#include <string.h>

#include "document.h"

/* Reads `metaskill` and `metaskill_language` and checks that the skill contains
 * a program that can be run. Source: K3, K4, K10, K11, X15. */

#define DEFAULT_PROGRAM "SKILL.star"
#define FIELD           "metaskill"

/* Normalizes a path ("a/./b/../c" to "a/c"). Returns false if it leads out of
 * the folder. */
static bool normalise(struct str path, struct arena *a, struct str *out)
{
    char *text = arena_alloc(a, path.n + 2);
    struct str rest = path, part;
    size_t n = 0;

    while (str_cut(&rest, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            if (n == 0)
                return false;
            while (n > 0 && text[n - 1] != '/')
                n--;
            n -= n > 0;
            continue;
        }
        if (n > 0)
            text[n++] = '/';
        memcpy(text + n, part.p, part.n);
        n += part.n;
    }
    text[n] = '\0';
    *out = str_make(text, n);
    return n > 0;
}

static bool is_absolute(struct str path)
{
    return path.p[0] == '/' || path.p[0] == '~' || str_has_char(path, '\\') ||
           (path.n > 1 && char_is_alpha(path.p[0]) && path.p[1] == ':');
}

static bool read_path(struct reader *r, const struct yaml *y, struct str *out)
{
    if (!yaml_is_string(y) || y->text.n == 0) {
        report(r, "metaskill-type", FIELD, y->key_line,
               "metaskill is the program's path in the skill's folder, as "
               "text, usually " DEFAULT_PROGRAM);
        return false;
    }
    if (is_absolute(y->text)) {
        report(r, "metaskill-not-relative", FIELD, y->key_line,
               "metaskill is \"%s\": it has to be a path relative to the "
               "skill's folder, with \"/\"",
               quoted(r, y->text));
        return false;
    }
    if (!normalise(y->text, r->a, out)) {
        report(r, "metaskill-escapes", FIELD, y->key_line,
               "metaskill is \"%s\", which is no file in the skill's folder",
               quoted(r, y->text));
        return false;
    }
    return true;
}

/* clang-format off */
static const struct {
    const char *code, *message;
} file_faults[] = {
    [MANIFEST_FILE_MISSING]    = {"metaskill-not-found", "is not in the skill's folder"},
    [MANIFEST_FILE_UNREADABLE] = {"metaskill-unreadable", "is not a file that can be read"},
    [MANIFEST_FILE_TOO_LARGE]  = {"metaskill-size", "is larger than 64 KiB: it is not run"},
    [MANIFEST_FILE_ESCAPES]    = {"metaskill-escapes", "leaves the skill's folder"},
};
/* clang-format on */

static bool has_frontmatter(struct str program)
{
    struct str rest = program, line;

    if (str_starts(rest, STR("\xef\xbb\xbf")))
        rest = str_from_index(rest, 3);
    return text_take_line(&rest, &line) && str_starts(line, STR("---")) &&
           str_trim(str_from_index(line, 3)).n == 0;
}

static bool check_program(struct reader *r, struct str path, unsigned line,
                          struct str program)
{
    const char *name = quoted(r, path);

    if (!text_is_utf8(program) || str_has_char(program, '\0')) {
        report(r, "metaskill-not-utf8", FIELD, line,
               "the program %s is not UTF-8 text", name);
        return false;
    }
    if (has_frontmatter(program)) {
        report(r, "metaskill-frontmatter", FIELD, line,
               "the program %s begins with \"---\": SKILL.md is the only "
               "place for metadata",
               name);
        return false;
    }
    return true;
}

/* Reads the path of the program. Without a list of files it cannot be checked
 * and is accepted. */
static bool read_program(struct reader *r, struct str path, unsigned line,
                         bool declared)
{
    const struct manifest_files *files = r->in->files;
    struct str program = {0};
    enum manifest_file state;

    if (!files)
        return declared;
    state = files->read(files->ctx, path, PROGRAM_MAX_BYTES, r->a, &program);
    if (state == MANIFEST_FILE_MISSING && !declared)
        return false;
    if (state == MANIFEST_FILE_OK && program.n > PROGRAM_MAX_BYTES)
        state = MANIFEST_FILE_TOO_LARGE;
    if (state != MANIFEST_FILE_OK) {
        report(r, file_faults[state].code, FIELD, line, "the program %s %s",
               quoted(r, path), file_faults[state].message);
        return false;
    }
    return check_program(r, path, line, program);
}

static bool language_runs(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "metaskill_language");

    if (is_null(y) || (yaml_is_string(y) && str_is(y->text, "starlark")))
        return true;
    report(r, "metaskill-language", "metaskill_language", y->key_line,
           "metaskill_language is %s%s%s, and only \"starlark\" programs can "
           "be run: this is a skill without a program",
           yaml_is_string(y) ? "\"" : "",
           yaml_is_string(y) ? quoted(r, y->text) : "not a string",
           yaml_is_string(y) ? "\"" : "");
    return false;
}

void read_metaskill(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "metaskill");
    struct str path = STR(DEFAULT_PROGRAM);
    bool declared = !is_null(y), runs;

    if (r->in->kind != DOC_SKILL || (declared && !read_path(r, y, &path)))
        return;
    runs = read_program(r, path, declared ? y->key_line : 1, declared);
    if (!runs && !declared)
        return;
    if (!language_runs(r) || !runs)
        return;
    r->doc->metaskill = true;
    r->doc->program = path;
}
