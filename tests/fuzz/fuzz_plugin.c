/* The files of a plugin, as one text: whatever they say, parts have names that
 * a layer takes, lie in the plugin, and their documents can be read.
 * [G10, row 5, row 36, row 43] */
#include "base/fs.h"
#include "base/text.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include "outcome.h"
#include "plugin_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_server(const struct plugin_part *part, struct arena *a)
{
    const struct manifest_input in = {.kind = DOC_MCP, .text = part->document};
    struct document d;
    struct diagnostics why;
    struct plugin_server s;

    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    if (!d.mcp)
        abort();
    plugin_server_read(d.mcp, &s);
    if (!s.is_plugin || !str_eq(s.name, part->name))
        abort();
}

static void check(const struct plugin *p, struct arena *a)
{
    if (!name_scope_is_valid(p->name) || text_has_control(p->version))
        abort();
    for (size_t i = 0; i < p->part_count; i++) {
        const struct plugin_part *part = &p->parts[i];

        outcome_str("part", part->name);
        outcome_str("path", part->path);
        outcome_str("document", part->document);
        if (part->path.n && part->kind != DOC_MCP &&
            !fs_path_is_relative_clean(part->path))
            abort();
        if (part->kind != DOC_SKILL && !name_is_kebab(part->name))
            abort();
        if (part->kind == DOC_MCP)
            check_server(part, a);
    }
    for (size_t i = 0; i < p->skipped_count; i++)
        outcome_str("skipped", p->skipped[i].why);
    for (size_t i = 0; i < p->skipped_count; i++)
        if (!p->skipped[i].why.n || text_has_control(p->skipped[i].why))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct plugin_text text;
    struct plugin_files files;
    struct plugin_input in = {.files = &files,
                              .folder = STR("folder"),
                              .digest = STR("sha256:0"),
                              .data = STR("github.com/acme/x")};
    struct plugin p;
    struct err e = {0};

    plugin_text_read(str_make((const char *)data, size), &a, &text);
    files = plugin_text_files(&text);
    for (size_t i = 0; i < text.count; i++)
        if (str_is(text.paths[i], PLUGIN_ENTRY_FILE))
            in.entry = text.texts[i];
    if (plugin_read(&in, &a, &p, &e))
        check(&p, &a);
    else if (e.code == ERR_NONE)
        abort();
    else
        outcome_err(&e);
    return 0;
}
