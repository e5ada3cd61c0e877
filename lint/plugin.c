#include "base/fs.h"
#include "mapm/diagnostics.h"
#include "mapm/limits.h"
#include "mapm/lint.h"
#include "mapm/plugin_check.h"
#include "mapm/plugin_paths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Finds plugins and marketplaces on disk; implements the callbacks of
 * plugin_check.h. */

#define FOLDER_MAX_ENTRIES 100000

struct folder {
    struct str path, inside; /* absolute, with links resolved */
};

static enum plugin_node find_kind(void *ctx, struct str path)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct folder *f = ctx;
    char real[PATH_MAX];
    struct str full;
    struct stat st;

    if (str_has_char(path, '\0'))
        return PLUGIN_NODE_NONE;
    full = fs_join(f->path, path, &a);
    if (!realpath(full.p, real))
        return lstat(full.p, &st) == 0 ? PLUGIN_NODE_OTHER : PLUGIN_NODE_NONE;
    if (!lint_is_below(str_cstr(real), f->inside))
        return PLUGIN_NODE_OUTSIDE;
    if (lstat(real, &st) < 0)
        return PLUGIN_NODE_NONE;
    if (S_ISDIR(st.st_mode))
        return PLUGIN_NODE_FOLDER;
    return S_ISREG(st.st_mode) ? PLUGIN_NODE_FILE : PLUGIN_NODE_OTHER;
}

static size_t list(void *ctx, struct str path, struct arena *a,
                   const struct str **names)
{
    CLEANUP_FD int fd = -1;
    const struct folder *f = ctx;
    struct err ignored = {0};
    struct fs_entry *entries;
    char real[PATH_MAX];
    struct str *out;
    size_t count;

    if (!realpath(fs_join(f->path, path, a).p, real) ||
        !lint_is_below(str_cstr(real), f->inside) ||
        !fs_open_dir_at(AT_FDCWD, real, &fd, &ignored) ||
        !fs_list_open(fd, FOLDER_MAX_ENTRIES, a, &entries, &count, &ignored))
        return 0;
    out = arena_array(a, count, sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = entries[i].name;
    *names = out;
    return count;
}

static enum manifest_file read_file(void *ctx, struct str path,
                                    size_t max_bytes, struct arena *a,
                                    struct str *text)
{
    const struct folder *f = ctx;

    return lint_read_resolved(f->path, f->inside, path, max_bytes, a, text);
}

/* --- which ones -------------------------------------------------------------- */

bool lint_profile_is_plugin(enum profile profile)
{
    return profile == PROFILE_AGENT_PLUGIN ||
           profile == PROFILE_CLAUDE_PLUGIN || profile == PROFILE_MARKETPLACE;
}

/* Other programs have files of that name, and other clients have plugins. */
static bool has_standard(int dirfd)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct str text;

    return fs_read_file_at(dirfd, "plugin.json", PLUGIN_MANIFEST_MAX_BYTES, &a,
                           &text, &ignored) &&
           plugin_is_standard(text);
}

static bool has_skill(int dirfd)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct fs_entry *entries;
    size_t count;

    if (!fs_list_at(dirfd, "skills", FOLDER_MAX_ENTRIES, &a, &entries, &count,
                    &ignored))
        return false;
    for (size_t i = 0; i < count; i++)
        if (fs_exists_at(dirfd, arena_printf(&a, "skills/%.*s/SKILL.md",
                                             STR_ARG(entries[i].name))
                                    .p))
            return true;
    return false;
}

/* C1: a folder without a manifest is a plugin by its contents if it was named
 * by the user; a marketplace is not. */
static bool has_default_layout(int dirfd)
{
    static const char *const parts[] = {"commands",  "agents",
                                        ".mcp.json", "hooks/hooks.json",
                                        ".lsp.json", "SKILL.md"};

    if (fs_exists_at(dirfd, plugin_formats[PLUGIN_CLAUDE].marketplace))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (fs_exists_at(dirfd, parts[i]))
            return true;
    return has_skill(dirfd);
}

size_t lint_plugin_files(const struct check_rules *rules, int dirfd,
                         bool is_named, struct str files[LINT_PLUGIN_FILES])
{
    bool is_own = rules->profile == PROFILE_AGENT_PLUGIN;
    size_t count = 0;

    if (rules->profile == PROFILE_CLAUDE_PLUGIN) {
        files[0] = str_cstr(plugin_formats[PLUGIN_CLAUDE].manifest);
        return fs_exists_at(dirfd, files[0].p) ||
               (is_named && !rules->needs_manifest &&
                has_default_layout(dirfd));
    }
    if (rules->profile == PROFILE_MARKETPLACE) {
        /* The last one is in the root folder, where other programs may use the
         * name. */
        for (const char *const *file = plugin_marketplaces;
             *file && count < LINT_PLUGIN_FILES; file++)
            if ((is_named || strchr(*file, '/')) && fs_exists_at(dirfd, *file))
                files[count++] = str_cstr(*file);
        return count;
    }
    if (!is_own && rules->profile != PROFILE_INSTALL &&
        rules->profile != PROFILE_PUBLISH)
        return 0;
    if (!has_standard(dirfd) &&
        !(is_own && is_named && fs_exists_at(dirfd, "plugin.json")))
        return 0;
    files[0] = STR("plugin.json");
    return 1;
}

/* --- graded ----------------------------------------------------------------- */

static void keep(struct check_result *r, const struct plugin_facts *facts,
                 const struct diagnostics *found, bool strict, struct arena *a)
{
    r->name = arena_str(a, facts->name);
    r->version = arena_str(a, facts->version);
    r->description = arena_str(a, facts->description);
    diagnostics_init(&r->why, a);
    for (size_t i = 0; i < found->count; i++) {
        const struct diagnostic *d = &found->items[i];
        struct diagnostic *to;

        diagnostics_add(&r->why, d->error || strict, d->code, "", d->line,
                        "%.*s", STR_ARG(d->message));
        to = &r->why.items[r->why.count - 1];
        to->field = arena_str(a, d->field);
        /* Paths are relative to the folder; the manifest is the document
         * itself. */
        if (!str_eq(d->file, r->file))
            to->file = arena_str(a, d->file);
    }
}

void lint_plugin(const struct check_rules *rules, struct check_result *result,
                 struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct folder folder = {.path = lint_folder(result, &scratch)};
    const struct plugin_disk disk = {find_kind, list, read_file, &folder};
    struct manifest_input in = {.kind = DOC_PLUGIN, .profile = rules->profile};
    struct diagnostics found, graded;
    struct plugin_facts facts = {0};

    diagnostics_init(&found, &scratch);
    diagnostics_init(&graded, &scratch);
    /* A client's plugin may use files elsewhere in its repository. */
    folder.inside =
        str_is(result->file, "plugin.json") ? folder.path : result->root->top;
    if (result->kind == DOC_MARKET)
        plugin_check_marketplace(&disk, result->file, &scratch, &facts, &found);
    else if (str_is(result->file, "plugin.json"))
        plugin_check_standard(&disk, &scratch, &facts, &found);
    else
        plugin_check_claude(&disk, &scratch, &facts, &found);
    diagnostics_grade(&in, &found, &graded);
    keep(result, &facts, &graded, rules->strict, a);
    lint_placeholders(rules, result, STR(""));
}
