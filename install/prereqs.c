#include "base/fs.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/install_query.h"
#include "mapm/lock.h"

/* Reads the entry file of an installed package. */
static bool read_anchor(const struct layer *l, enum doc_kind kind,
                        struct str place, struct arena *a, struct str *out)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    struct str path =
        arena_printf(a, "%.*s/%s", STR_ARG(place),
                     kind == DOC_AGENT ? "AGENTS.md" : "SKILL.md");

    return kind != DOC_MCP && fs_open_dir(l->path.p, &fd, &ignored) &&
           fs_read_file_at(fd, path.p, ANCHOR_MAX_BYTES, a, out, &ignored);
}

/* Parses the document as far as possible; it was validated when it was
 * installed. */
static void read_document(enum doc_kind kind, struct str text, struct arena *a,
                          struct document *out)
{
    const struct manifest_input in = {.kind = kind,
                                      .text = text,
                                      .skip_body = true,
                                      .allow_own = true,
                                      .allow_file = true,
                                      .allow_hidden = true};
    struct diagnostics why;

    diagnostics_init(&why, a);
    manifest_read(&in, a, out, &why);
}

bool install_read_placed(const struct layer *l, enum doc_kind kind,
                         struct str place, struct arena *a,
                         struct document *out)
{
    struct str text;

    if (!read_anchor(l, kind, place, a, &text))
        return false;
    read_document(kind, text, a, out);
    return true;
}

struct str install_prereqs(const struct layer *l,
                           const struct lock_entry *entry, struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct document d = {0};
    struct str text;

    /* few skills have prerequisites, so search the bytes before parsing */
    if (entry->kind != DOC_SKILL ||
        !read_anchor(l, entry->kind, layer_folder(l, entry, &scratch), &scratch,
                     &text) ||
        str_find(text, STR("\nprereqs:")) == SIZE_MAX)
        return str_make("", 0);
    read_document(entry->kind, text, &scratch, &d);
    return arena_str(a, d.prereqs);
}
