#include "local.h"

#include "base/fs.h"
#include "base/invariant.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/folder_offers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest.h"
#include "plugin_scope.h"
#include "plugins.h"

#define LINK_MAX_BYTES 4096

/* A depth-first walk over the folder of a package. */
struct walk {
    struct closure *c;
    int root;
    const struct limits *limits;
    struct arena *a;
    struct package_file *files;
    size_t count, capacity;
    struct str *folders; /* relative paths still to read */
    size_t folder_count, folder_capacity;
    uint64_t bytes;
};

static bool add_file(struct walk *w, struct str path, struct str real,
                     struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    const struct limits *l = w->limits;
    struct stat st;
    struct str content;
    struct package_file *f;

    if (w->count == l->package_max_files.value)
        return limit_fail(&l->package_max_files, e, "more than %zu files",
                          w->count);
    if (!fs_open_file_at(w->root, str_dup0(real, &scratch), &fd, &st, e))
        return false;
    if ((uint64_t)st.st_size > l->file_max_bytes.value)
        return limit_fail(&l->file_max_bytes, e,
                          "larger than %" PRIu64 " bytes",
                          l->file_max_bytes.value);
    if (!fs_read_fd(fd, l->file_max_bytes.value, &scratch, &content, e))
        return false;
    w->bytes += content.n;
    if (w->bytes > l->package_max_bytes.value)
        return limit_fail(&l->package_max_bytes, e,
                          "the package is larger than %" PRIu64 " bytes",
                          l->package_max_bytes.value);
    w->files =
        arena_grow(w->a, w->files, w->count, &w->capacity, sizeof *w->files);
    f = &w->files[w->count];
    f->path = path;
    f->executable = (st.st_mode & 0100) != 0;
    if (!store_put(w->c->store, content, &f->hash, e))
        return false;
    w->count++;
    return true;
}

/* Adds the target of a link, which must be in the package. */
static bool add_link(struct walk *w, struct str path, struct err *e)
{
    char target[LINK_MAX_BYTES];
    struct str folder = str_make("", 0), full;
    size_t slash = str_find_last(path, '/');
    ssize_t n = readlinkat(w->root, path.p, target, sizeof target);

    if (n < 0 || (size_t)n >= sizeof target)
        return err_set(e, ERR_REFUSED, "%.*s: a link that cannot be read",
                       STR_ARG(path));
    if (slash != SIZE_MAX)
        folder = str_slice(path, 0, slash);
    /* "/" represents the package; targets with more ".." than levels were
     * refused before */
    full = str_make(target, (size_t)n);
    if (target[0] == '/' || !path_stays_below(folder, full))
        return err_set(e, ERR_REFUSED,
                       "%.*s: a link that leaves the package (to %.*s)",
                       STR_ARG(path), STR_ARG(full));
    full = fs_join(fs_join(STR("/"), folder, w->a), full, w->a);
    full = str_from_index(fs_normalize(full, w->a), 1);
    if (!add_file(w, path, full, e))
        return err_wrap(e, "%.*s: a link to %.*s", STR_ARG(path),
                        STR_ARG(full));
    return true;
}

static bool add_entry(struct walk *w, struct str folder,
                      const struct fs_entry *entry, struct err *e)
{
    struct str path = folder.n ? fs_join(folder, entry->name, w->a)
                               : arena_str(w->a, entry->name);

    /* a package under development may be a repository of its own */
    if (str_is(entry->name, ".git"))
        return true;
    if (!path_check_name(entry->name, e))
        return folder.n && err_wrap(e, "%.*s", STR_ARG(folder));
    if (path.n > PACKAGE_PATH_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%.*s: a path longer than %d bytes",
                       STR_ARG(path), PACKAGE_PATH_MAX_BYTES);
    switch (entry->type) {
    case DT_REG:
        return add_file(w, path, path, e) || err_wrap(e, "%.*s", STR_ARG(path));
    case DT_LNK:
        return add_link(w, path, e);
    case DT_DIR:
        if (path_depth(path) >= w->limits->package_max_depth.value)
            return limit_fail(&w->limits->package_max_depth, e,
                              "%.*s: deeper than %" PRIu64 " folders",
                              STR_ARG(path),
                              w->limits->package_max_depth.value);
        w->folders = arena_grow(w->a, w->folders, w->folder_count,
                                &w->folder_capacity, sizeof *w->folders);
        w->folders[w->folder_count++] = path;
        return true;
    default:
        return err_set(e, ERR_REFUSED, "%.*s is no file, folder or link to one",
                       STR_ARG(path));
    }
}

static bool check_twins(const struct fs_entry *entries, size_t count,
                        struct arena *a, struct err *e)
{
    struct map seen;

    map_init(&seen, a);
    for (size_t i = 0; i < count; i++) {
        struct map_entry *known =
            map_entry(&seen, text_fold(entries[i].name, a));

        if (known->value)
            return err_set(e, ERR_REFUSED,
                           "%s and %s are the same name on some file systems",
                           (const char *)known->value, entries[i].name.p);
        known->value = (void *)(uintptr_t)entries[i].name.p;
    }
    return true;
}

static bool walk_folder(struct walk *w, struct str folder, struct err *e)
{
    struct fs_entry *entries;
    size_t count;

    if (!fs_list_at(w->root, str_dup0(folder, w->a),
                    w->limits->package_max_files.value * 2, w->a, &entries,
                    &count, e) ||
        !check_twins(entries, count, w->a, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_entry(w, folder, &entries[i], e))
            return false;
    return true;
}

static bool add_own_files(struct walk *w, struct node *n, struct err *e)
{
    struct package_file *files = arena_array(w->a, w->count + 2, sizeof *files);

    for (size_t i = 0; i < w->count; i++)
        files[i] = w->files[i];
    w->files = files;
    return plugin_add_files(w->c, n, files, &w->count, NULL, w->a, e);
}

static bool read_folder(struct closure *c, struct node *n, int root,
                        enum doc_kind kind, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct walk w = {
        .c = c, .limits = &c->layer->limits, .root = root, .a = &scratch};

    if (!walk_folder(&w, str_make("", 0), e))
        return false;
    while (w.folder_count)
        if (!walk_folder(&w, w.folders[--w.folder_count], e))
            return false;
    if (kind == DOC_PLUGIN && !add_own_files(&w, n, e))
        return false;
    if (!ingest_files(c, n, kind, w.files, w.count,
                      path_last(node_source(n)->path), &scratch, e))
        return false;
    node_ready(c, n);
    return true;
}

/* Reads an MCP file in `folder`. */
static bool read_mcp(struct closure *c, struct node *n, int folder,
                     struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str name = path_last(node_source(n)->path);
    struct walk w = {
        .c = c, .root = folder, .limits = &c->layer->limits, .a = &scratch};

    if (!path_check_name(name, e) || !add_file(&w, name, name, e))
        return false;
    INVARIANT(w.count == 1 && w.files);
    w.files[0].executable = false;
    if (!ingest_files(c, n, DOC_MCP, w.files, 1, name, &scratch, e))
        return false;
    node_ready(c, n);
    return true;
}

static bool list_offers(struct closure *c, struct node *n, int root,
                        bool anywhere, struct err *e)
{
    return folder_offers(root, anywhere, &c->cx->arena, &n->offers,
                         &n->offer_count, e);
}

/* Returns whether the folder is a catalog: an AGENTS.md without frontmatter
 * above packages is for contributors. */
static bool is_catalog(struct closure *c, struct node *n, int root,
                       struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str text;
    struct err ignored = {0};

    return (n->kinds & DOC_SKILL) &&
           fs_read_file_at(root, "AGENTS.md", ANCHOR_MAX_BYTES, &scratch, &text,
                           &ignored) &&
           !str_starts(text, STR("---")) && list_offers(c, n, root, false, e) &&
           n->offer_count;
}

/* Offers the folder itself first, because its path is the shortest. */
static void offer_itself(struct closure *c, struct node *n, enum doc_kind kind)
{
    struct fetch_offer *all =
        arena_array(&c->cx->arena, n->offer_count + 1, sizeof *all);

    all[0] = (struct fetch_offer){kind, str_make("", 0), false};
    for (size_t i = 0; i < n->offer_count; i++)
        all[i + 1] = n->offers[i];
    n->offers = all;
    n->offer_count++;
}

/* Lists the packages in the folder and below it. */
static bool list_catalog(struct closure *c, struct node *n, int root,
                         struct err *e)
{
    struct str parent = path_folder(node_source(n)->path);

    for (const char *const *name = plugin_marketplaces; *name; name++)
        n->has_market |= fs_exists_at(root, *name);
    if (!list_offers(c, n, root, true, e))
        return false;
    if (fs_exists_at(root, "SKILL.md"))
        offer_itself(c, n, DOC_SKILL);
    else if (fs_exists_at(root, "AGENTS.md") &&
             str_is(path_last(parent), "agents"))
        offer_itself(c, n, DOC_AGENT);
    return true;
}

/* Opens the folder `path`, or the parent folder if it is a file. */
static bool open_file_origin(struct str path, struct arena *a, bool *is_folder,
                             int *fd, struct err *e)
{
    struct stat st;

    if (stat(str_dup0(path, a), &st) < 0)
        return err_set(e, errno == ENOENT ? ERR_PATH : ERR_IO, "%s",
                       errno == ENOENT ? "there is no such file or folder"
                                       : "cannot be read");
    *is_folder = S_ISDIR(st.st_mode);
    path = *is_folder ? path : path_folder(path);
    return fs_open_dir(path.n ? str_dup0(path, a) : "/", fd, e);
}

/* Likewise in the workspace, without following links, which could lead out of
 * it. */
static bool open_own(const struct closure *c, struct str path, struct arena *a,
                     bool *is_folder, int *fd, struct err *e)
{
    CLEANUP_FD int workspace = -1;
    struct stat st;

    if (!fs_open_dir(str_dup0(c->layer->root, a), &workspace, e))
        return false;
    *is_folder = path.n == 0 ||
                 !fs_stat_at(workspace, str_dup0(path, a), &st) ||
                 !S_ISREG(st.st_mode);
    path = *is_folder ? path : path_folder(path);
    if (fs_open_dir_at(workspace, str_dup0(path, a), fd, e))
        return true;
    if (e->code == ERR_NOT_FOUND)
        return err_set(e, ERR_PATH, "there is no such file or folder");
    return err_hint(e,
                    "a package of the workspace lies in it, without links on "
                    "the way; file: and its path installs it for this "
                    "machine alone");
}

static bool is_plugin(const struct node *n, int root)
{
    bool skill = fs_exists_at(root, "SKILL.md");

    if (n->kinds == DOC_PLUGIN)
        return true;
    for (int i = 0; (n->kinds & DOC_PLUGIN) && i < PLUGIN_FORMATS; i++) {
        const char *path = plugin_formats[i].manifest;

        if ((!skill || strchr(path, '/')) && fs_exists_at(root, path))
            return true;
    }
    return false;
}

static bool read_plugin(struct closure *c, struct node *n, int root,
                        struct err *e)
{
    if (closure_make_plugin(c, n) != n) {
        n->package.kind = DOC_PLUGIN;
        n->package.user = n;
        n->is_ready = true;
        return true;
    }
    return read_folder(c, n, root, DOC_PLUGIN, e);
}

static bool read_market(struct closure *c, struct node *n, int root,
                        struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct package_file file = {0};
    struct str text;

    for (const char *const *name = plugin_marketplaces; *name; name++) {
        if (!fs_exists_at(root, *name))
            continue;
        n->path = file.path = str_cstr(*name);
        return fs_read_file_at(root, *name, MARKETPLACE_MAX_BYTES, &scratch,
                               &text, e) &&
               store_put(c->store, text, &file.hash, e) &&
               plugin_ingest_market(c, n, &file, 1, e);
    }
    return err_set(e, ERR_PATH, "there is no marketplace.json");
}

/* Reads the manifest of a plugin for its name. */
static bool read_manifest(struct closure *c, struct node *n, int root,
                          struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const char *name = str_dup0(path_last(node_source(n)->path), &scratch);
    struct str text;

    return fs_read_file_at(root, name, PLUGIN_MANIFEST_MAX_BYTES, &scratch,
                           &text, e) &&
           plugin_scope_ingest(c, n, text, e);
}

static bool is_skill(const struct node *n, int root)
{
    return fs_exists_at(root, "SKILL.md") && (n->kinds & DOC_SKILL);
}

static bool read_place(struct closure *c, struct node *n, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int root = -1;
    struct str path = node_source(n)->path;
    bool is_folder = false;

    if (n->origin->scheme == ORIGIN_OWN
            ? !open_own(c, path, &scratch, &is_folder, &root, e)
            : !open_file_origin(path, &scratch, &is_folder, &root, e))
        return false;
    if (!is_folder && n->kinds == DOC_MARKET)
        return read_manifest(c, n, root, e);
    if (!is_folder) /* a file offers only itself */
        return n->is_catalog || read_mcp(c, n, root, e);
    if (n->is_catalog)
        return list_catalog(c, n, root, e);
    if (n->kinds == DOC_MARKET)
        return read_market(c, n, root, e);
    if (is_plugin(n, root))
        return read_plugin(c, n, root, e);
    if (path.n && is_skill(n, root))
        return read_folder(c, n, root, DOC_SKILL, e);
    if (path.n && fs_exists_at(root, "AGENTS.md") && (n->kinds & DOC_AGENT) &&
        !is_catalog(c, n, root, e))
        return read_folder(c, n, root, DOC_AGENT, e);
    if (n->offer_count == 0 && !list_offers(c, n, root, true, e))
        return false;
    if (n->offer_count)
        return true;
    err_set(e, ERR_PATH, "neither SKILL.md nor AGENTS.md is there");
    return err_hint(e, "name the folder of a skill or agent, or an MCP file");
}

bool local_read(struct closure *c, struct node *n, struct err *e)
{
    struct str shown = n->origin->scheme == ORIGIN_OWN ? n->origin->text
                                                       : node_source(n)->path;
    CLEANUP(arena_done) struct arena a = {0};
    struct err why = {0};

    if (read_place(c, n, &why))
        return true;
    if (why.code == ERR_PATH && !err_names(&why, str_dup0(shown, &a))) {
        err_set(e, ERR_PATH, "%.*s: %s", STR_ARG(shown), err_first(&why));
        return why.hint[0] && err_hint(e, "%s", why.hint);
    }
    *e = why;
    return !err_names(e, str_dup0(shown, &a)) &&
           err_wrap(e, "%.*s", STR_ARG(shown));
}
