/* The files of a plugin or a marketplace, as one text: whatever they say, each
 * diagnostic names a file and is text. [G13, row 5] */
#include "base/text.h"
#include "mapm/plugin_check.h"
#include "mapm/plugin_paths.h"

#include "plugin_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum plugin_node look(void *ctx, struct str path)
{
    const struct plugin_text *t = ctx;

    for (size_t i = 0; i < t->count; i++) {
        if (str_eq(t->paths[i], path))
            return PLUGIN_NODE_FILE;
        if (str_starts(t->paths[i], path) && t->paths[i].p[path.n] == '/')
            return PLUGIN_NODE_FOLDER;
    }
    return PLUGIN_NODE_NONE;
}

static size_t list(void *ctx, struct str path, struct arena *a,
                   const struct str **names)
{
    const struct plugin_text *t = ctx;
    struct str *out = arena_array(a, t->count + 1, sizeof *out);
    size_t n = 0;

    for (size_t i = 0; i < t->count; i++) {
        struct str rest = t->paths[i], name;

        if (path.n && (rest.n <= path.n || !str_starts(rest, path) ||
                       rest.p[path.n] != '/'))
            continue;
        rest = path.n ? str_from_index(rest, path.n + 1) : rest;
        if (str_cut(&rest, '/', &name) && name.n &&
            (n == 0 || !str_eq(out[n - 1], name)))
            out[n++] = name;
    }
    *names = out;
    return n;
}

static enum manifest_file read_file(void *ctx, struct str path,
                                    size_t max_bytes, struct arena *a,
                                    struct str *text)
{
    const struct plugin_text *t = ctx;

    (void)a;
    for (size_t i = 0; i < t->count; i++)
        if (str_eq(t->paths[i], path)) {
            *text = t->texts[i];
            return text->n <= max_bytes ? MANIFEST_FILE_OK
                                        : MANIFEST_FILE_TOO_LARGE;
        }
    return MANIFEST_FILE_MISSING;
}

static void check(const struct diagnostics *why)
{
    for (size_t i = 0; i < why->count; i++)
        if (!why->items[i].message.n || !why->items[i].file.n)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct plugin_text text;
    const struct plugin_disk disk = {look, list, read_file, &text};
    struct plugin_facts facts;
    struct diagnostics why;

    plugin_text_read(str_make((const char *)data, size), &a, &text);
    diagnostics_init(&why, &a);
    plugin_check_standard(&disk, &a, &facts, &why);
    plugin_check_claude(&disk, &a, &facts, &why);
    for (const char *const *file = plugin_marketplaces; *file; file++)
        plugin_check_marketplace(&disk, str_cstr(*file), &a, &facts, &why);
    check(&why);
    return 0;
}
