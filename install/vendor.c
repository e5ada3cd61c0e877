#include "base/fs.h"
#include "base/map.h"
#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "offline.h"

/* A vendor folder is written beside the old one and exchanged with it, so that
 * a killed command leaves one of them complete. Foreign files of the old folder
 * are linked into the new one. */

#define STAGE        ".mapm-vendor"
#define FOLDER_MODE  0755
#define LOCK_WAIT_MS 10000
#define FOREIGN_MAX  100000 /* files and folders */
#define LISTED_MAX   LISTING_MAX_BYTES

/* The rules of a repository for line ends, filters and the like are not for
 * bytes that have hashes; and objects of git need no review. */
static const char rules[] = "* -text -filter -ident -working-tree-encoding\n"
                            "/" VENDOR_OBJECTS "/* linguist-generated\n"
                            "/" VENDOR_PROOFS "/* linguist-generated\n"
                            "/" VENDOR_LISTING " linguist-generated\n";

struct wanted {
    struct package_file file; /* its path below the folder */
    struct str proof;         /* content; p is NULL for an object of the
                               * store */
};

struct vendor {
    struct offline_job job;
    struct arena *a;
    struct str path; /* path of the folder */
    const char *leaf;
    int parent, old, stage; /* -1: none */
    struct wanted *wanted;
    struct map by_path; /* -> struct wanted * */
    size_t count, capacity;
    struct map places;  /* folders of the listed packages */
    struct map objects; /* objects of proofs that are listed */
    struct str listed_before;
    struct map before; /* paths of the old listing */
    struct str listing;
    struct str *written, *removed, *foreign;
    size_t written_capacity, removed_capacity, foreign_capacity;
    bool is_listed; /* the listing is unchanged */
};

/* --- what is wanted --------------------------------------------------------- */

static bool want(struct vendor *v, struct package_file f, struct str proof,
                 struct err *e)
{
    if (f.path.n > PACKAGE_PATH_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "the path %.*s is too long",
                       STR_ARG(f.path));
    if (v->count == PACKAGE_FILES_CEILING)
        return err_set(e, ERR_LIMIT, "the packages have more than %d files",
                       PACKAGE_FILES_CEILING);
    v->wanted =
        arena_grow(v->a, v->wanted, v->count, &v->capacity, sizeof *v->wanted);
    v->wanted[v->count++] = (struct wanted){f, proof};
    return true;
}

static bool want_files(struct vendor *v, const struct install_team_package *p,
                       struct str place, struct err *e)
{
    struct package_file *files;
    size_t count;

    if (!store_read_listing(v->job.s->store, &p->digest, v->a, &files, &count,
                            e))
        return false;
    for (size_t i = 0; i < count; i++) {
        files[i].path = fs_join(place, files[i].path, v->a);
        if (!want(v, files[i], str_make(NULL, 0), e))
            return false;
    }
    return true;
}

static bool want_bytes(struct vendor *v, struct str path, struct str bytes,
                       struct err *e)
{
    return want(v, (struct package_file){.path = path, .hash = hash_of(bytes)},
                bytes, e);
}

/* Lists the objects of a proof, each as one file, since packages of a folder
 * share most of them. */
static bool want_proof(struct vendor *v, struct install_trees *trees,
                       const struct install_team_package *p, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(buf_done) struct buf ids = {0};
    struct archive_file *objects;
    size_t count;

    buf_init(&ids, LISTED_MAX);
    if (!context_check_cancelled(v->job.s->cx, e) ||
        !install_team_find(trees, &p, 1, &team_bundle_limits, &scratch,
                           &objects, &count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct str place = offline_object_place(objects[i].path, v->a);

        buf_append(&ids, objects[i].path);
        buf_char(&ids, '\n');
        if (map_put(&v->objects, place, v) &&
            !want_bytes(v, place, arena_str(v->a, objects[i].bytes), e))
            return false;
    }
    return want_bytes(v, offline_proof_place(p->proof, v->a),
                      arena_str(v->a, buf_str(&ids)), e);
}

static bool want_proofs(struct vendor *v, struct err *e)
{
    CLEANUP(install_trees_done)
    struct install_trees trees = {.store = v->job.s->store};
    size_t count;
    const struct install_team_package **of =
        offline_by_commit(v->job.packages, v->job.count, v->a, &count);

    for (size_t i = 0; i < count; i++)
        if (!want_proof(v, &trees, of[i], e))
            return err_wrap(e, "%s %.*s", doc_kind_name(of[i]->entry->kind),
                            STR_ARG(of[i]->entry->name));
    return true;
}

static bool want_package(struct vendor *v, const struct install_team_package *p,
                         struct err *e)
{
    struct str place =
        offline_place(&v->job.s->layers.whole.lock, p->entry, v->a);
    bool is_new = !map_has(&v->places, place);

    map_put(&v->places, place, v);
    if (p->proof.n == 0)
        err_set(e, ERR_NOT_FOUND, "there is no proof that its commit holds it");
    else if (!is_new || want_files(v, p, place, e))
        return true;
    return err_wrap(e, "%s %.*s", doc_kind_name(p->entry->kind),
                    STR_ARG(p->entry->name));
}

static void list_wanted(struct vendor *v)
{
    struct package_file *files = arena_array(v->a, v->count + 1, sizeof *files);

    for (size_t i = 0; i < v->count; i++) {
        files[i] = v->wanted[i].file;
        map_put(&v->by_path, files[i].path, &v->wanted[i]);
    }
    store_listing_format(files, v->count, v->a, &v->listing);
}

static bool want_all(struct vendor *v, struct err *e)
{
    map_init(&v->by_path, v->a);
    map_init(&v->places, v->a);
    map_init(&v->objects, v->a);
    map_init(&v->before, v->a);
    for (size_t i = 0; i < v->job.count; i++)
        if (!want_package(v, &v->job.packages[i], e))
            return false;
    return want_proofs(v, e);
}

/* --- where ------------------------------------------------------------------- */

/* Opens the parent folder; in the workspace, which may be a clone, links are
 * not followed. */
static bool open_parent(struct vendor *v, struct err *e)
{
    struct str top = v->job.s->layers.whole.path, parent = v->path;
    CLEANUP_FD int fd = -1;
    const char *below;

    v->leaf = str_dup0(path_last(v->path), v->a);
    parent = arena_str(v->a, path_folder(v->path));
    if (!fs_path_is_within(v->path, top) || v->path.n == top.n)
        return fs_make_dirs(parent.p, FOLDER_MODE, e) &&
               fs_open_dir(parent.p, &v->parent, e);
    below = parent.n > top.n ? parent.p + top.n + 1 : "";
    return fs_open_dir(top.p, &fd, e) &&
           (!below[0] || fs_make_dirs_at(fd, below, FOLDER_MODE, e)) &&
           fs_open_dir_at(fd, below, &v->parent, e);
}

/* Checks that the folder may be replaced: a folder with other content, such as
 * the workspace itself, is refused. */
static bool check_old(const struct vendor *v, struct err *e)
{
    struct fs_entry *entries;
    size_t count;

    if (fs_exists_at(v->old, VENDOR_LISTING))
        return true;
    if (!fs_list_at(v->old, ".", FOREIGN_MAX, v->a, &entries, &count, e))
        return false;
    if (count == 0)
        return true;
    err_set(e, ERR_REFUSED,
            "%.*s contains other files and is not a vendor folder",
            STR_ARG(v->path));
    return err_hint(e, "name a folder that is not there, or is empty");
}

static bool open_old(struct vendor *v, struct err *e)
{
    struct stat st;

    if (fs_path_is_within(v->job.s->layers.whole.path, v->path))
        return err_set(e, ERR_REFUSED, "%.*s contains the workspace itself",
                       STR_ARG(v->path));
    if (!fs_stat_at(v->parent, v->leaf, &st))
        return true;
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_REFUSED, "%.*s is no folder, or a symbolic link",
                       STR_ARG(v->path));
    return fs_open_dir_at(v->parent, v->leaf, &v->old, e) && check_old(v, e);
}

/* --- what there is ----------------------------------------------------------- */

static void add_path(struct vendor *v, struct str **list, struct str_list *out,
                     size_t *capacity, struct str path)
{
    *list = arena_grow(v->a, *list, out->count, capacity, sizeof **list);
    (*list)[out->count++] = path;
    out->items = *list;
}

static bool is_as_wanted(const struct vendor *v, const struct package_file *f)
{
    CLEANUP_FD int fd = -1;
    struct stat st;
    struct hash hash;
    uint64_t size;
    struct err ignored = {0};

    return v->old >= 0 &&
           fs_open_file_at(v->old, str_dup0(f->path, v->a), &fd, &st,
                           &ignored) &&
           f->executable == ((st.st_mode & S_IXUSR) != 0) &&
           fs_hash_fd(fd, BYTES_CEILING, &size, &hash, &ignored) &&
           hash_eq(&hash, &f->hash);
}

/* Reads the old listing, which names the files of mapm; a broken one names
 * none. */
static void read_before(struct vendor *v)
{
    struct package_file *files;
    struct err ignored = {0};
    size_t count;

    if (v->old < 0 ||
        !fs_read_file_at(v->old, VENDOR_LISTING, LISTED_MAX, v->a,
                         &v->listed_before, &ignored) ||
        !store_listing_parse(v->listed_before, v->a, &files, &count, &ignored))
        return;
    for (size_t i = 0; i < count; i++)
        map_put(&v->before, files[i].path, v);
}

/* Rules that a person has written there stay. */
static bool want_rules(struct vendor *v, struct err *e)
{
    return (v->old >= 0 && fs_exists_at(v->old, VENDOR_RULES) &&
            !map_has(&v->before, STR(VENDOR_RULES))) ||
           want_bytes(v, STR(VENDOR_RULES), str_cstr(rules), e);
}

static void find_removed(struct vendor *v)
{
    v->is_listed = str_eq(v->listed_before, v->listing);
    for (size_t i = 0; i < v->before.count; i++) {
        struct str path = v->before.entries[i].key;

        if (!map_has(&v->by_path, path) && fs_exists_at(v->old, path.p))
            add_path(v, &v->removed, &v->job.out->removed, &v->removed_capacity,
                     path);
    }
}

static bool is_ours(const struct vendor *v, struct str path)
{
    return str_is(path, VENDOR_LISTING) || map_has(&v->by_path, path) ||
           map_has(&v->before, path);
}

/* Finds foreign files by walking the folders. */
static bool find_foreign(struct vendor *v, struct err *e)
{
    struct str_list folders = {NULL, 0};
    struct str *queue = NULL;
    size_t capacity = 0;

    if (v->old < 0)
        return true;
    add_path(v, &queue, &folders, &capacity, STR(""));
    for (size_t i = 0; i < folders.count; i++) {
        struct fs_entry *entries;
        size_t count;

        if (folders.count + v->job.out->foreign.count > FOREIGN_MAX)
            return err_set(e, ERR_LIMIT, "too many files in %.*s",
                           STR_ARG(v->path));
        if (!fs_list_at(v->old, str_dup0(queue[i], v->a), FOREIGN_MAX, v->a,
                        &entries, &count, e))
            return false;
        for (size_t k = 0; k < count; k++) {
            struct str path = queue[i].n
                                  ? fs_join(queue[i], entries[k].name, v->a)
                                  : entries[k].name;

            if (entries[k].type == DT_DIR)
                add_path(v, &queue, &folders, &capacity, path);
            else if (!is_ours(v, path))
                add_path(v, &v->foreign, &v->job.out->foreign,
                         &v->foreign_capacity, path);
        }
    }
    return true;
}

static void find_written(struct vendor *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (!is_as_wanted(v, &v->wanted[i].file))
            add_path(v, &v->written, &v->job.out->written, &v->written_capacity,
                     v->wanted[i].file.path);
}

/* --- the new folder ---------------------------------------------------------- */

static bool make_folder_of(struct vendor *v, struct str path, struct err *e)
{
    struct str folder = path_folder(path);

    return folder.n == 0 ||
           fs_make_dirs_at(v->stage, str_dup0(folder, v->a), FOLDER_MODE, e);
}

static bool write_file(struct vendor *v, const struct wanted *w, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str bytes = w->proof;

    if (!bytes.p && !store_read(v->job.s->store, &w->file.hash, BYTES_CEILING,
                                &scratch, &bytes, e))
        return false;
    v->job.out->file_bytes += bytes.n;
    return make_folder_of(v, w->file.path, e) &&
           fs_create_at(v->stage, str_dup0(w->file.path, v->a),
                        w->file.executable ? 0755 : 0644, bytes, e);
}

static bool link_foreign(struct vendor *v, struct str path, struct err *e)
{
    const char *name = str_dup0(path, v->a);

    if (!make_folder_of(v, path, e))
        return err_wrap(e, "%s is in the way of a package", name);
    if (linkat(v->old, name, v->stage, name, 0) == 0)
        return true;
    return errno == EEXIST || errno == ENOTDIR
               ? err_set(e, ERR_CONFLICT, "%s is in the way of a package", name)
               : err_errno(e, "keep %s", name);
}

static bool fill_stage(struct vendor *v, struct err *e)
{
    for (size_t i = 0; i < v->count; i++)
        if (!context_check_cancelled(v->job.s->cx, e) ||
            !write_file(v, &v->wanted[i], e))
            return false;
    if (!fs_create_at(v->stage, VENDOR_LISTING, 0644, v->listing, e))
        return false;
    for (size_t i = 0; i < v->job.out->foreign.count; i++)
        if (!link_foreign(v, v->foreign[i], e))
            return false;
    return fs_sync_tree(v->stage, e);
}

static bool make_stage(struct vendor *v, struct err *e)
{
    return fs_remove_tree_at(v->parent, STAGE, e) &&
           fs_make_dirs_at(v->parent, STAGE, FOLDER_MODE, e) &&
           fs_open_dir_at(v->parent, STAGE, &v->stage, e) && fill_stage(v, e);
}

static bool swap(struct vendor *v, struct err *e)
{
    unsigned how = v->old >= 0 ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    bool done = renameat2(v->parent, STAGE, v->parent, v->leaf, how) == 0;

    /* an overlay does not move a folder of a lower layer */
    if (!done && errno == EXDEV && v->old >= 0) {
        if (!fs_remove_tree_at(v->parent, v->leaf, e))
            return false;
        done = renameat2(v->parent, STAGE, v->parent, v->leaf,
                         RENAME_NOREPLACE) == 0;
    }
    if (!done)
        return err_errno(e, "put %.*s in its place", STR_ARG(v->path));
    return fs_sync(v->parent, "the folder of the vendor folder", e) &&
           fs_remove_tree_at(v->parent, STAGE, e);
}

static bool replace(struct vendor *v, struct err *e)
{
    struct err ignored = {0};

    if (make_stage(v, e))
        return swap(v, e);
    if (!fs_remove_tree_at(v->parent, STAGE, &ignored))
        err_clear(&ignored);
    return false;
}

static bool vendor_all(struct vendor *v, struct err *e)
{
    if (!want_all(v, e) || !open_parent(v, e) ||
        !fs_lock(v->parent, true, LOCK_WAIT_MS, NULL, NULL, e) ||
        !open_old(v, e))
        return false;
    read_before(v);
    if (!want_rules(v, e))
        return false;
    list_wanted(v);
    find_removed(v);
    find_written(v);
    if (!find_foreign(v, e))
        return false;
    return (v->is_listed && !v->job.out->written.count &&
            !v->job.out->removed.count) ||
           replace(v, e);
}

bool install_vendor(struct context *cx, struct str folder,
                    struct install_offline *out, struct err *e)
{
    struct vendor v = {.a = &cx->arena, .parent = -1, .old = -1, .stage = -1};
    bool ok = offline_open(cx, true, &v.job, out, e);

    if (ok) {
        v.path = folder.n ? fs_normalize(fs_join(cx->cwd, folder, v.a), v.a)
                          : fs_join(v.job.s->layers.whole.path,
                                    STR(VENDOR_FOLDER), v.a);
        out->path = v.path;
        ok = vendor_all(&v, e);
    }
    fs_close(&v.stage);
    fs_close(&v.old);
    fs_close(&v.parent);
    offline_close(&v.job);
    return ok || err_wrap(e, "cannot vendor the packages");
}
