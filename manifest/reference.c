#include "base/fs.h"
#include "base/path.h"
#include "mapm/limits.h"

#include "document.h"

/* Checks that references are one level deep: a file that SKILL.md refers to
 * must not refer to further files that SKILL.md does not name. Source: A5. */

#define REFERENCES_MAX      64
#define REFERENCE_MAX_BYTES (256u * 1024)

struct references {
    struct str paths[REFERENCES_MAX]; /* relative to the folder of the skill */
    size_t count;
};

/* Finds the next "](target)" from `*at` on whose target, relative to `folder`,
 * is a Markdown file of the skill. */
static bool next_reference(struct str text, struct str folder, struct arena *a,
                           size_t *at, struct str *path)
{
    for (;;) {
        struct str rest = str_from_index(text, *at), target;
        size_t start = str_find(rest, STR("](")), end;

        if (start == SIZE_MAX)
            return false;
        rest = str_from_index(rest, start + 2);
        *at += start + 2;
        end = str_find_char(rest, ')');
        if (end == SIZE_MAX)
            return false;
        target = str_slice(rest, 0, end);
        end = str_find_char(target, '#');
        if (end != SIZE_MAX)
            target = str_slice(target, 0, end);
        if (!str_ends(target, STR(".md")) || str_has_char(target, ':') ||
            str_has_char(target, '\n') || target.p[0] == '/' ||
            !path_stays_below(folder, target))
            continue;
        *path =
            fs_normalize(fs_join(fs_join(STR("/"), folder, a), target, a), a);
        *path = str_from_index(*path, 1);
        return true;
    }
}

static void find_references(struct str text, struct str folder, struct arena *a,
                            struct references *out)
{
    struct str path;
    size_t at = 0;

    while (out->count < REFERENCES_MAX &&
           next_reference(text, folder, a, &at, &path))
        if (!str_in(out->paths, out->count, path))
            out->paths[out->count++] = path;
}

/* Reports only the first such reference of a file. */
static void check_file(struct reader *r, const struct references *named,
                       struct str path)
{
    const struct manifest_files *files = r->in->files;
    struct references found = {.count = 0};
    struct str text;

    if (files->read(files->ctx, path, REFERENCE_MAX_BYTES, r->a, &text) !=
        MANIFEST_FILE_OK)
        return;
    find_references(text, path_folder(path), r->a, &found);
    for (size_t i = 0; i < found.count; i++) {
        struct str unused, to = found.paths[i];

        if (str_in(named->paths, named->count, to) || str_is(to, "SKILL.md") ||
            files->read(files->ctx, to, REFERENCE_MAX_BYTES, r->a, &unused) !=
                MANIFEST_FILE_OK)
            continue;
        report(r, "reference-depth", "body", r->doc->body_line,
               "%.*s refers to %.*s, which SKILL.md does not name: references "
               "are one level deep",
               STR_ARG(path), STR_ARG(to));
        return;
    }
}

void check_references(struct reader *r, struct str body)
{
    struct references named = {.count = 0};

    if (!r->in->files || r->in->kind != DOC_SKILL ||
        level_of(r, "reference-depth") == LEVEL_OFF)
        return;
    find_references(body, STR(""), r->a, &named);
    for (size_t i = 0; i < named.count; i++)
        check_file(r, &named, named.paths[i]);
}
