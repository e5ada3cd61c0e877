#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "mapm/limits.h"
#include "mapm/lint.h"
#include "mapm/mcp_file.h"
#include "mapm/name.h"

/*
 * Fixes the form of an MCP file (M17, M18): indentation by two blanks, the
 * final line end, the file name. The content is unchanged.
 */

static void add_note(struct check_result *r, const char *what, struct str name,
                     struct arena *a)
{
    struct str before = r->note;

    r->note = arena_printf(a, "%.*s%s%.*s: %s%.*s", STR_ARG(before),
                           before.n ? "\n" : "", STR_ARG(r->path), what,
                           STR_ARG(name));
}

static bool parse(struct str text, struct arena *a, const struct json **root)
{
    const struct json_options limits = {.max_bytes = MCP_MAX_BYTES,
                                        .max_depth = MCP_MAX_DEPTH};
    struct err ignored = {0};

    return json_parse(text, &limits, a, root, NULL, &ignored);
}

static bool fix_layout(struct check_result *r, int dirfd, struct str text,
                       struct arena *a)
{
    struct err e = {0};
    struct str pretty;

    if (!mcp_pretty(text, a, &pretty, &e) || str_eq(text, pretty))
        return true;
    if (!fs_replace_at(dirfd, str_dup0(r->file, a), 0644, pretty, &e)) {
        add_note(r, "not mended: ", str_cstr(err_first(&e)), a);
        return false;
    }
    add_note(r, "laid out with 2 spaces and a final newline", STR(""), a);
    return true;
}

static void fix_name(struct check_result *r, int dirfd, struct str name,
                     struct arena *a)
{
    struct err e = {0};
    struct str file;

    if (!name_mcp_is_valid(name))
        return;
    file = mcp_file_name(name, a);
    if (str_eq(file, r->file))
        return;
    if (!place_rename(dirfd, str_dup0(r->file, a), file.p, &e)) {
        add_note(r, "not renamed: ", str_cstr(err_first(&e)), a);
        return;
    }
    add_note(r, "renamed to ", file, a);
    r->path = str_join(str_slice(r->path, 0, r->path.n - r->file.n), file, a);
    r->file = file;
}

/* Links are skipped, since their target is another file, as are files of other
 * kinds and invalid JSON. */
void lint_fix(struct check_result *result, int dirfd, struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct json *root, *meta;
    struct err e = {0};
    struct str text;

    if (!fs_read_file_at(dirfd, str_dup0(result->file, &scratch), MCP_MAX_BYTES,
                         &scratch, &text, &e) ||
        !parse(text, &scratch, &root))
        return;
    meta = json_get(root, "_meta");
    if (!meta && !str_is(lint_folder_name(result), "mcps"))
        return;
    if (fix_layout(result, dirfd, text, a))
        fix_name(result, dirfd, json_text(json_get(meta, "name")), a);
}
