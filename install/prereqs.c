#include "base/fs.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/install_query.h"
#include "mapm/lock.h"

struct str install_prereqs(const struct layer *l,
                           const struct lock_entry *entry, struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    struct manifest_input in = {.kind = DOC_SKILL,
                                .skip_body = true,
                                .allow_own = true,
                                .allow_file = true,
                                .allow_hidden = true};
    struct document d = {0};
    struct diagnostics why;
    struct err ignored = {0};
    struct str path;

    if (entry->kind != DOC_SKILL || !fs_open_dir(l->path.p, &fd, &ignored))
        return str_make("", 0);
    path = arena_printf(&scratch, "%.*s/SKILL.md",
                        STR_ARG(layer_folder(l, entry)));
    /* Few skills have any: a look at the bytes spares the others a parse. */
    if (!fs_read_file_at(fd, path.p, ANCHOR_MAX_BYTES, &scratch, &in.text,
                         &ignored) ||
        str_find(in.text, STR("\nprereqs:")) == SIZE_MAX)
        return str_make("", 0);
    diagnostics_init(&why, &scratch);
    manifest_read(&in, &scratch, &d, &why);
    return arena_str(a, d.prereqs);
}
