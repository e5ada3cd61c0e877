#include "mapm/provision.h"

#include "base/fs.h"
#include "mapm/limits.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "work.h"

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A record without access rights for its owner is damaged, not foreign. */
static bool open_state(const struct provision *p, int *fd, struct stat *st,
                       struct err *e)
{
    CLEANUP_FD int folder = -1;
    struct err ignored = {0};

    return fs_open_file_at(p->root, STATE_FILE, fd, st, e) ||
           (e->code == ERR_IO &&
            fs_open_dir_at(p->root, STATE_FOLDER, &folder, &ignored) &&
            fs_repair_at(folder, "state", S_IFREG, 0644) &&
            fs_open_file_at(p->root, STATE_FILE, fd, st, e));
}

bool provision_load(struct provision *p, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct err problem = {0};
    struct record record;
    struct stat st;
    struct str text;

    if (p->loaded)
        return true;
    p->has_record = false;
    p->record = (struct record){0};
    map_init(&p->record.by_path, &p->arena);
    if (!open_state(p, &fd, &st, &problem) ||
        !fs_read_fd(fd, STATE_MAX_BYTES, &p->arena, &text, &problem)) {
        if (problem.code == ERR_IO || problem.code == ERR_INTERRUPTED) {
            *e = problem;
            return err_wrap(e, "cannot read " STATE_FILE);
        }
    } else if (record_parse(text, p->scope, &p->arena, &record)) {
        p->record = record;
        p->record.written = ns_of(st.st_mtim);
        p->has_record = true;
    }
    p->loaded = true;
    return true;
}

const struct record_entry *provision_recorded(const struct provision *p,
                                              struct str path)
{
    return p->has_record ? map_find(&p->record.by_path, path) : NULL;
}

static bool took_server(const struct record_entry *entry, struct str key)
{
    for (size_t i = 0; i < entry->key_count; i++)
        if (entry->keys[i].taken && str_eq(entry->keys[i].key, key))
            return true;
    return false;
}

struct str provision_took_over(struct provision *p, enum doc_kind kind,
                               struct str place, struct arena *a)
{
    static const struct str ours = STR_INIT(".agents");
    struct err ignored = {0};

    if ((kind != DOC_MCP && !str_starts(place, ours)) ||
        !provision_load(p, &ignored))
        return str_make("", 0);
    for (size_t i = 0; p->has_record && i < p->record.count; i++) {
        const struct record_entry *entry = &p->record.entries[i];

        if (kind == DOC_MCP && took_server(entry, place))
            return arena_printf(a, "%.*s#%.*s", STR_ARG(entry->path),
                                STR_ARG(place));
        /* "/skills/x" in .agents or in the folder of a client */
        if (kind != DOC_MCP && entry->taken &&
            str_ends(entry->path, str_from_index(place, ours.n)))
            return arena_str(a, entry->path);
    }
    return str_make("", 0);
}

static bool is_intact(const struct provision *p,
                      const struct record_entry *entry)
{
    CLEANUP(arena_done) struct arena a = {0};

    for (size_t i = 0; i < entry->file_count; i++) {
        const struct record_file *f = &entry->files[i];
        struct str path = entry->path;
        struct stat st;

        if (entry->kind == RECORD_TREE)
            path = fs_join(path, f->path, &a);
        if (fs_stat_at(p->root, str_dup0(path, &a), &st) &&
            record_vouches(&p->record, &f->stat, &st))
            return true;
    }
    return false;
}

/* Returns true if inode and change time are those in the record. */
static bool is_here(const struct record *r, const struct stat *st)
{
    struct file_stat now = file_stat_of(st, true);

    return r->here.ino && r->here.ctime && now.ino == r->here.ino &&
           now.ctime == r->here.ctime;
}

bool provision_record_is_from_here(const struct provision *p)
{
    struct stat st;

    if (!p->has_record)
        return false;
    if (p->is_copy || (fs_stat_at(p->root, STATE_FOLDER "/.gitignore", &st) &&
                       is_here(&p->record, &st)))
        return true;
    for (size_t i = 0; i < p->record.count; i++)
        if (is_intact(p, &p->record.entries[i]))
            return true;
    return false;
}

void provision_find_original(struct provision *p,
                             bool (*list)(void *ctx, struct arena *a,
                                          struct str **folders, size_t *count),
                             void *ctx)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct str *folders;
    size_t count;
    struct stat st;

    if (!provision_load(p, &ignored) || !p->has_record ||
        provision_record_is_from_here(p) || !list(ctx, &a, &folders, &count))
        return;
    for (size_t i = 0; i < count && !p->is_copy; i++) {
        struct str path =
            fs_join(folders[i], STR(STATE_FOLDER "/.gitignore"), &a);

        p->is_copy = fs_stat_at(AT_FDCWD, str_dup0(path, &a), &st) &&
                     is_here(&p->record, &st);
    }
}

void provision_desired_state(const struct provision *p,
                             const struct provision_options *o, struct arena *a,
                             struct desired_state *out)
{
    *out = (struct desired_state){
        .arena = a,
        .options = o,
        .workspace = p->path,
        .scope = p->scope,
        .root = p->root,
        .marked = p->marked,
    };
    map_init(&out->by_path, a);
    map_init(&out->documents, a);
}

/* A command that was killed early may leave the folder of the record empty or
 * with temporary files only. */
static void tidy(int root, int mapm)
{
    struct arena a = {0};
    struct err ignored = {0};
    struct fs_entry *entries;
    size_t count;

    if (fs_list_at(mapm, ".", 16, &a, &entries, &count, &ignored) &&
        (count == 0 || (count == 1 && str_is(entries[0].name, ".gitignore")))) {
        unlinkat(mapm, ".gitignore", 0);
        if (unlinkat(root, STATE_FOLDER, AT_REMOVEDIR) == 0)
            unlinkat(root, ".agents", AT_REMOVEDIR);
    }
    arena_done(&a);
}

static bool recover(struct provision *p, bool *recovered, struct err *e)
{
    CLEANUP_FD int mapm = -1;

    if (!fs_open_dir_at(p->root, STATE_FOLDER, &mapm, e)) {
        /* missing or not a folder: provision_plan() reports it if it matters */
        bool none = e->code == ERR_NOT_FOUND || e->code == ERR_REFUSED;

        /* left by a command that was killed at its start */
        if (e->code == ERR_NOT_FOUND)
            unlinkat(p->root, ".agents", AT_REMOVEDIR);
        if (none)
            err_clear(e);
        return none;
    }
    if (!swap_recover(p->root, mapm, p->scope, recovered, e))
        return false;
    tidy(p->root, mapm);
    return true;
}

static bool lock(struct provision *p, void (*waiting)(void *), void *ctx,
                 struct err *e)
{
    if (fs_lock(p->root, true, WORKSPACE_WAIT_SECONDS * 1000u, waiting, ctx, e))
        return true;
    if (e->code == ERR_BUSY)
        err_hint(e, "another mapm is at work there: try again when it is done");
    return err_wrap(e, "lock %.*s", STR_ARG(p->path));
}

bool provision_open(struct str path, const struct client_scope *scope,
                    bool read_only, void (*waiting)(void *), void *ctx,
                    bool *recovered, struct provision **out, struct err *e)
{
    struct provision *p = heap_alloc(sizeof *p);
    bool locked = false, ok;

    *recovered = false;
    p->root = -1;
    p->scope = scope;
    p->read_only = read_only;
    p->path = arena_str(&p->arena, path);
    p->marked = arena_array(&p->arena, clients_count, sizeof *p->marked);
    ok = fs_open_dir(p->path.p, &p->root, e);
    if (ok && (!read_only || fs_exists_at(p->root, STATE_FOLDER "/journal"))) {
        locked = ok = lock(p, waiting, ctx, e);
        ok = ok && recover(p, recovered, e);
    }
    /* readers need no lock, because files are replaced atomically */
    if (locked && read_only)
        flock(p->root, LOCK_UN);
    if (!ok) {
        provision_close(p);
        return false;
    }
    *out = p;
    return true;
}

void provision_close(struct provision *p)
{
    if (!p)
        return;
    stage_early_drop(p);
    fs_close(&p->root);
    arena_done(&p->arena);
    heap_free(p);
}

static bool has_absolute(const struct record_entry *entry)
{
    for (size_t k = 0; k < entry->key_count; k++)
        if (entry->keys[k].absolute)
            return true;
    return false;
}

static struct str absolute_files(const struct plan *plan)
{
    struct str names = STR("");

    for (size_t i = 0; i < plan->next.count; i++) {
        const struct record_entry *entry = &plan->next.entries[i];

        if (has_absolute(entry))
            names = arena_join(names, ", ", entry->path, &plan->p->arena);
    }
    return names;
}

bool provision_list_generated(struct provision *p, enum provision_list which,
                              struct arena *a, struct str **paths,
                              size_t *count, struct err *e)
{
    struct str *list;

    *paths = NULL;
    *count = 0;
    if (!provision_load(p, e))
        return false;
    if (!provision_record_is_from_here(p))
        return true;
    *paths = list = arena_array(a, p->record.count + 1, sizeof *list);
    for (size_t i = 0; i < p->record.count; i++) {
        const struct record_entry *entry = &p->record.entries[i];

        if (str_starts(entry->path, STR(STATE_FOLDER "/")))
            continue; /* the file ignores itself */
        if (entry->kind != RECORD_SHARED ||
            (which == PROVISION_LIST_MADE ? entry->created
                                          : has_absolute(entry)))
            list[(*count)++] = arena_str(a, entry->path);
    }
    return true;
}

bool provision_apply_all(struct provision *const *all, const struct str *paths,
                         size_t count, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct stage_site *sites = arena_array(&a, count, sizeof *sites);

    for (size_t i = 0; i < count; i++) {
        if (all[i]->read_only)
            return err_set(e, ERR_FAILED, "there is no plan to be done");
        sites[i] = (struct stage_site){all[i], all[i]->plan, paths[i]};
        all[i]->plan = NULL;
        all[i]->backup = (struct str){0};
    }
    for (size_t i = 0; i < count; i++)
        if (sites[i].plan && !copies_write(all[i], sites[i].plan, e))
            return err_wrap(e, "cannot change %.*s",
                            STR_ARG(all[count - 1]->path));
    if (!stage_run(sites, count, e))
        return err_wrap(e, "cannot change %.*s", STR_ARG(all[count - 1]->path));
    for (size_t i = 0; i < count; i++) {
        if (sites[i].plan && !sites[i].plan->texts_only)
            all[i]->absolute = absolute_files(sites[i].plan);
        all[i]->loaded = false; /* the next plan reads the new record */
        memset(all[i]->marked, 0, clients_count * sizeof *all[i]->marked);
    }
    return true;
}

bool provision_apply(struct provision *p, struct err *e)
{
    static const struct str itself = STR_INIT("");

    if (!p->plan)
        return err_set(e, ERR_FAILED, "there is no plan to be done");
    return provision_apply_all(&p, &itself, 1, e);
}

struct str provision_absolute_files(const struct provision *p)
{
    return p->absolute;
}

const struct str *provision_preserved_edits(const struct provision *p,
                                            size_t *count)
{
    *count = p->preserved_count;
    return p->preserved;
}

const struct provision_untouched *
provision_untouched_files(const struct provision *p, size_t *count)
{
    *count = p->untouched_count;
    return p->untouched;
}

const struct str *provision_taken_links(const struct provision *p,
                                        size_t *count)
{
    *count = p->taken_count;
    return p->taken;
}

const struct provision_skipped *
provision_skipped_modified(const struct provision *p, size_t *count)
{
    *count = p->skipped_count;
    return p->skipped;
}

struct str provision_backup(const struct provision *p)
{
    return p->backup;
}
