#include "server_plugin.h"

#include "base/digest.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_FOLDER "plugins"
#define RECORD_END  ".record"
#define RECORD_MAX  (16u * 1024 * 1024)
#define VALUE_MAX   (4u * MCP_MAX_BYTES)

/* --- the root ------------------------------------------------------------------ */

struct root {
    struct context *cx;
    struct store *store;
    struct hash digest;
    struct package_file *files;
    size_t count;
    struct str hex, path; /* digest and path of the folder */
    int home;             /* folder of all plugin roots */
};

/* Returns false for paths that are not files of the plugin itself or not
 * allowed (P9). */
static bool is_file(const struct root *r, const struct map *outside,
                    const struct package_file *f)
{
    (void)r;
    return !str_is(f->path, PLUGIN_ENTRY_FILE) &&
           !str_is(f->path, PLUGIN_OUTSIDE_FILE) && !map_has(outside, f->path);
}

static bool read_outside(struct root *r, struct map *out, struct err *e)
{
    struct str text = {"", 0}, line;

    map_init(out, &r->cx->arena);
    for (size_t i = 0; i < r->count; i++)
        if (str_is(r->files[i].path, PLUGIN_OUTSIDE_FILE) &&
            !store_read(r->store, &r->files[i].hash, PLUGIN_OUTSIDE_MAX_BYTES,
                        &r->cx->arena, &text, e))
            return false;
    while (text.n && str_line(&text, &line))
        map_put(out, line, r);
    return true;
}

static void put_record(struct buf *out, struct str path, const struct stat *st)
{
    buf_printf(out, "%llu %lld %lld.%ld %lld.%ld %o %.*s\n",
               (unsigned long long)st->st_ino, (long long)st->st_size,
               (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
               (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec,
               (unsigned)st->st_mode, STR_ARG(path));
}

static bool make_parents(int dirfd, struct str path, struct arena *a,
                         struct err *e)
{
    struct str folder = path_folder(path);

    return folder.n == 0 ||
           fs_make_dirs_at(dirfd, str_dup0(folder, a), 0755, e);
}

/* Writes the root under a temporary name and renames it, so that other
 * processes see all of it or nothing. The record is written last, so that an
 * interrupted root is written again. */
static bool fill(struct root *r, const struct map *outside, struct err *e)
{
    CLEANUP(buf_done) struct buf record = {0};
    CLEANUP_FD int fd = -1;
    struct arena *a = &r->cx->arena;
    const char *stage =
        arena_printf(a, ".new-%ld-%.*s", (long)getpid(), STR_ARG(r->hex)).p;
    const char *name = r->hex.p;
    struct str old =
        arena_printf(a, ".old-%ld-%.*s", (long)getpid(), STR_ARG(r->hex));
    bool ok = fs_remove_tree_at(r->home, stage, e) &&
              fs_make_dirs_at(r->home, stage, 0755, e) &&
              fs_open_dir_at(r->home, stage, &fd, e);

    buf_init(&record, RECORD_MAX);
    for (size_t i = 0; ok && i < r->count; i++) {
        const struct package_file *f = &r->files[i];
        struct stat st;

        if (!is_file(r, outside, f))
            continue;
        ok = make_parents(fd, f->path, a, e) &&
             store_place(r->store, &f->hash, STORE_LINK_COPY, fd,
                         str_dup0(f->path, a), f->executable ? 0555 : 0444, &st,
                         e);
        if (ok)
            put_record(&record, f->path, &st);
    }
    if (!ok || !buf_check(&record, "the record of a plugin", e)) {
        struct err ignored = {0};

        if (!fs_remove_tree_at(r->home, stage, &ignored))
            err_clear(&ignored);
        return false;
    }
    /* an overlay does not move a folder of a lower layer */
    if (renameat(r->home, name, r->home, old.p) < 0 && errno == EXDEV)
        old = str_cstr(name);
    if (!fs_remove_tree_at(r->home, old.p, e))
        return false;
    if (renameat(r->home, stage, r->home, name) < 0)
        return err_errno(e, "rename to %s", r->path.p);
    return fs_replace_at(r->home, arena_printf(a, "%s" RECORD_END, name).p,
                         0600, buf_str(&record), e);
}

/* Returns whether every file is as written, and there are no others. */
static bool is_current(struct root *r, const struct map *outside)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf now = {0};
    CLEANUP_FD int fd = -1;
    struct str record;
    struct str *folders = NULL;
    size_t folder_count = 0, capacity = 0, found = 0, wanted = 0;
    struct err ignored = {0};

    buf_init(&now, RECORD_MAX);
    if (!fs_read_file_at(r->home,
                         arena_printf(&a, "%.*s" RECORD_END, STR_ARG(r->hex)).p,
                         RECORD_MAX, &a, &record, &ignored) ||
        !fs_open_dir_at(r->home, r->hex.p, &fd, &ignored))
        return false;
    for (size_t i = 0; i < r->count; i++) {
        struct stat st;

        if (!is_file(r, outside, &r->files[i]))
            continue;
        wanted++;
        if (!fs_stat_at(fd, str_dup0(r->files[i].path, &a), &st))
            return false;
        put_record(&now, r->files[i].path, &st);
    }
    if (!str_eq(record, buf_str(&now)))
        return false;
    folders = arena_grow(&a, folders, folder_count, &capacity, sizeof *folders);
    folders[folder_count++] = STR("");
    while (folder_count) {
        struct str folder = folders[--folder_count];
        struct fs_entry *entries;
        size_t count;

        if (!fs_list_at(fd, str_dup0(folder, &a), PACKAGE_FILES_CEILING, &a,
                        &entries, &count, &ignored))
            return false;
        for (size_t i = 0; i < count; i++) {
            if (entries[i].type != DT_DIR) {
                found++;
                continue;
            }
            folders = arena_grow(&a, folders, folder_count, &capacity,
                                 sizeof *folders);
            folders[folder_count++] = folder.n
                                          ? fs_join(folder, entries[i].name, &a)
                                          : entries[i].name;
        }
    }
    return found == wanted;
}

/* Opens the folder of all roots, with mode 0700, so that no other user writes
 * there. */
static bool open_home(struct store *store, const char *name, struct arena *a,
                      struct str *path, int *fd, struct err *e)
{
    CLEANUP_FD int home = -1;
    struct stat st;

    *path = fs_join(store_home(store), str_cstr(name), a);
    if (!fs_open_dir(store_home(store).p, &home, e) ||
        !fs_make_dirs_at(home, name, 0700, e) ||
        !fs_open_dir_at(home, name, fd, e))
        return false;
    if (fstat(*fd, &st) == 0 && st.st_uid == geteuid() &&
        (st.st_mode & 0077) == 0)
        return true;
    return err_set(e, ERR_REFUSED,
                   "%s is accessible to other users: chmod 700 it, or move it "
                   "away",
                   path->p);
}

static bool make_root(struct context *cx, struct store *store,
                      const struct plugin_server *p, struct str *out,
                      struct err *e)
{
    CLEANUP_FD int home = -1;
    struct root r = {.cx = cx, .store = store};
    struct map outside;
    struct str homes;

    if (!digest_parse(p->root, &r.digest))
        return err_set(e, ERR_FORMAT, "its plugin has no digest");
    r.hex = hash_hex(&r.digest, &cx->arena);
    if (!store_read_listing(store, &r.digest, &cx->arena, &r.files, &r.count,
                            e)) {
        err_set(e, ERR_REFUSED, "the store does not hold its plugin");
        return err_hint(e, "run mapm install --force once");
    }
    if (!open_home(store, ROOT_FOLDER, &cx->arena, &homes, &home, e))
        return false;
    r.home = home;
    r.path = fs_join(homes, r.hex, &cx->arena);
    map_init(&outside, &cx->arena);
    if (p->is_standard && !read_outside(&r, &outside, e))
        return false;
    if (!is_current(&r, &outside) && !fill(&r, &outside, e))
        return err_wrap(e, "cannot make the root of its plugin");
    *out = r.path;
    return true;
}

/* --- the data folder --------------------------------------------------------------- */

/* Creates the data folder for this workspace and origin, so that another plugin
 * of the same name has another one. */
static bool make_data(struct context *cx, struct store *store,
                      const struct locked_server *s,
                      const struct plugin_server *p, struct str *out,
                      struct err *e)
{
    CLEANUP_FD int home = -1, fd = -1;
    struct arena *a = &cx->arena;
    struct str name = plugin_server_data(p, s->workspace, a);
    struct str homes;
    struct stat st;

    if (!name.n)
        return err_set(e, ERR_FORMAT, "its plugin has no name");
    if (!open_home(store, PLUGIN_DATA_FOLDER, a, &homes, &home, e) ||
        !fs_make_dirs_at(home, name.p, 0700, e) ||
        !fs_open_dir_at(home, name.p, &fd, e))
        return err_wrap(e, "cannot make the data folder of its plugin");
    *out = fs_join(homes, name, a);
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        (st.st_mode & 0022) == 0)
        return true;
    return err_set(e, ERR_REFUSED, "%s is accessible to other users", out->p);
}

/* --- the process --------------------------------------------------------------------- */

struct values {
    struct arena *a;
    const struct plugin_server *plugin;
    struct str root, data, workspace;
    struct err *e;
};

/* Substitutes "${NAME}" or "${NAME:-default}". */
static size_t put_variable(struct values *v, struct buf *out, struct str rest)
{
    size_t close = str_find_char(rest, '}'), n = 2, end;
    const char *name;
    struct str value;

    if (!str_starts(rest, STR("${")) || close == SIZE_MAX)
        return 0;
    while (n < close && (char_is_alpha(rest.p[n]) || char_is_digit(rest.p[n]) ||
                         rest.p[n] == '_'))
        n++;
    end = n;
    if (n == 2 ||
        (n < close && !str_starts(str_from_index(rest, n), STR(":-"))))
        return 0;
    name = str_dup0(str_slice(rest, 2, end), v->a);
    value = env_get(name);
    if (value.n || (env_is_set(name) && end == close))
        buf_append(out, value);
    else if (end < close)
        buf_append(out, str_slice(rest, end + 2, close));
    else
        buf_append(out, str_slice(rest, 0, close + 1));
    return close + 1;
}

static size_t put_placeholder(struct values *v, struct buf *out,
                              struct str rest)
{
    const struct {
        struct str name, value;
        bool is_standard;
    } all[] = {{STR("${PLUGIN_ROOT}"), v->root, true},
               {STR("${PLUGIN_DATA}"), v->data, true},
               {STR("${workspaceDir}"), v->workspace, false}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_starts(rest, all[i].name) &&
            (all[i].is_standard || !v->plugin->is_standard)) {
            buf_append(out, all[i].value);
            return all[i].name.n;
        }
    return v->plugin->is_standard ? 0 : put_variable(v, out, rest);
}

/* Substitutes in one pass; inserted text is not expanded again (P47). */
static bool expand(struct values *v, struct str text, struct str *out)
{
    CLEANUP(buf_done) struct buf b = {0};
    size_t n;

    buf_init(&b, VALUE_MAX);
    for (size_t i = 0; i < text.n; i += n ? n : 1) {
        n = text.p[i] == '$' ? put_placeholder(v, &b, str_from_index(text, i))
                             : 0;
        if (n == 0)
            buf_char(&b, text.p[i]);
    }
    if (str_has_char(text, '\0'))
        return err_set(v->e, ERR_MCP, "a value holds NUL");
    if (!buf_check(&b, "a value of the server", v->e))
        return false;
    *out = arena_str(v->a, buf_str(&b));
    return true;
}

/* Refuses a folder that is a symbolic link. */
static bool check_folder(struct values *v, struct str base, struct str rest)
{
    CLEANUP_FD int fd = -1, sub = -1;
    struct err ignored = {0};

    while (str_starts(rest, STR("/")))
        rest = str_from_index(rest, 1);
    if (fs_open_dir(base.p, &fd, &ignored) &&
        (rest.n == 0 ||
         (fs_path_is_relative_clean(rest) &&
          fs_open_dir_at(fd, str_dup0(rest, v->a), &sub, &ignored))))
        return true;
    return err_set(v->e, ERR_MCP,
                   "its cwd is no folder of the plugin or of its data, "
                   "without links on the way: %.*s",
                   STR_ARG(rest));
}

static bool set_cwd(struct values *v, struct str cwd, struct mcp_process *out)
{
    struct str whole, roots[] = {v->root, v->data};

    if (!cwd.n) {
        out->cwd = v->plugin->is_standard ? v->root.p : NULL;
        return true;
    }
    if (!expand(v, cwd, &whole))
        return false;
    if (whole.p[0] != '/') {
        if (str_starts(whole, STR("./")))
            whole = str_from_index(whole, 2);
        whole = str_is(whole, ".") || !whole.n ? v->root
                                               : fs_join(v->root, whole, v->a);
    }
    for (size_t i = 0; i < 2; i++)
        if (fs_path_is_within(whole, roots[i])) {
            out->cwd = str_dup0(whole, v->a);
            return check_folder(v, roots[i], str_from_index(whole, roots[i].n));
        }
    if (!v->plugin->is_standard && fs_path_is_within(whole, v->workspace)) {
        out->cwd = str_dup0(whole, v->a);
        return true;
    }
    return err_set(v->e, ERR_MCP,
                   "its cwd is neither in the plugin nor in its "
                   "data");
}

/* Sets the command: a path in the plugin, or a name that is looked up in
 * PATH. */
static bool set_command(struct values *v, const struct json *command,
                        const char **out)
{
    struct str text = json_text(command);

    if (!text.n)
        return err_set(v->e, ERR_MCP, "it has no command");
    if (!v->plugin->is_standard && !expand(v, text, &text))
        return false;
    if (str_has_char(text, '/') && text.p[0] != '/') {
        if (str_starts(text, STR("./")))
            text = str_from_index(text, 2);
        if (!fs_path_is_relative_clean(text))
            return err_set(v->e, ERR_MCP,
                           "its command leads out of the plugin");
        text = fs_join(v->root, text, v->a);
    }
    *out = str_dup0(text, v->a);
    return true;
}

static bool set_args(struct values *v, const struct json *args,
                     const char *command, struct mcp_process *out)
{
    const char **argv =
        arena_array(v->a, (args ? args->count : 0) + 2, sizeof *argv);
    size_t n = 0;

    argv[n++] = command;
    for (const struct json *j = args ? args->first : NULL; j; j = j->next) {
        struct str value;

        if (!expand(v, json_text(j), &value))
            return false;
        argv[n++] = value.p;
    }
    out->argv = argv;
    return true;
}

static bool set_env(struct values *v, const struct json *env,
                    struct mcp_process *out)
{
    const struct mcp_variable own[] = {{"PLUGIN_ROOT", v->root.p},
                                       {"PLUGIN_DATA", v->data.p},
                                       {"CLAUDE_PLUGIN_ROOT", v->root.p},
                                       {"CLAUDE_PLUGIN_DATA", v->data.p}};
    size_t own_count = v->plugin->is_standard ? 2 : 4, n = 0;
    struct mcp_variable *list =
        arena_array(v->a, (env ? env->count : 0) + own_count + 1, sizeof *list);

    for (const struct json *j = env ? env->first : NULL; j; j = j->next) {
        struct str value;

        if (!expand(v, json_text(j), &value))
            return false;
        list[n++] = (struct mcp_variable){str_dup0(j->key, v->a), value.p};
    }
    for (size_t i = 0; i < own_count; i++) /* last, so they take precedence
                                            * (P46) */
        list[n++] = own[i];
    out->env = list;
    out->env_count = n;
    return true;
}

bool server_plugin_read(struct context *cx, struct store *store,
                        const struct locked_server *s, const struct document *d,
                        const struct plugin_server *p, struct run_server *out,
                        struct err *e)
{
    struct values v = {
        .a = &cx->arena, .plugin = p, .workspace = s->workspace, .e = e};
    const char *command = NULL;

    if (!p->is_started)
        return err_set(e, ERR_MCP, "%.*s is not started by mapm",
                       STR_ARG(s->key));
    return make_root(cx, store, p, &v.root, e) &&
           make_data(cx, store, s, p, &v.data, e) &&
           set_command(&v, json_get(d->mcp, "command"), &command) &&
           set_args(&v, json_get(d->mcp, "args"), command, &out->process) &&
           set_env(&v, json_get(d->mcp, "env"), &out->process) &&
           set_cwd(&v, json_text(json_get(d->mcp, "cwd")), &out->process);
}
