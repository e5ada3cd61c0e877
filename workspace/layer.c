#include "mapm/layer.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/checkout.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/lock_merge.h"
#include "mapm/origin.h"
#include "mapm/project.h"
#include "mapm/range.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer_read.h"
#include "workspace_folder.h"

/* The files of a workspace that can widen rights (owner.h). */
static const char *const workspace_files[] = {"mapm.yaml", "mapm.local.yaml",
                                              "mapm.lock", "mapm.local.lock"};
enum { MANIFEST_FILES = 2, WORKSPACE_FILES = 4 };

/* A workspace of another user above the current folder is ignored without an
 * error: in a shared folder anyone could create one. */
static void note_skipped(struct context *cx, const struct err *e)
{
    if (cx->noted_owner)
        return;
    cx->noted_owner = true;
    context_note(cx, "%s: it does not count\n  %s", err_first(e), e->hint);
}

static bool holds_manifest(struct context *cx, int dirfd, struct str folder,
                           const char *name, struct err *e)
{
    struct str path;
    struct stat st;

    if (!fs_stat_at(dirfd, name, &st) || !S_ISREG(st.st_mode))
        return false;
    path = fs_join(folder, str_cstr(name), &cx->arena);
    return authorize_file_stat(cx, &st, path, folder, e) &&
           authorize_file(cx, dirfd, folder, folder, e);
}

/* Most folders above the current one have neither file. */
static bool lacks_manifests(struct str folder)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct stat st;

    for (size_t i = 0; i < MANIFEST_FILES; i++)
        if (lstat(fs_join(folder, str_cstr(workspace_files[i]), &a).p, &st) ==
                0 ||
            errno != ENOENT)
            return false;
    return true;
}

/* Errors: ERR_REFUSED if there is a mapm.yaml that must not be used. */
bool layer_holds_project(struct context *cx, struct str folder, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};

    if (lacks_manifests(folder) ||
        !fs_open_dir(str_dup0(folder, &cx->arena), &fd, &ignored))
        return false;
    for (size_t i = 0; i < MANIFEST_FILES; i++) {
        struct err why = {0};

        if (holds_manifest(cx, fd, folder, workspace_files[i], &why))
            return true;
        if (why.code != ERR_NONE)
            *e = why;
    }
    return false;
}

static bool go_up(struct str *folder)
{
    size_t slash = str_find_last(*folder, '/');

    if (slash == SIZE_MAX || folder->n <= 1)
        return false;
    *folder = str_slice(*folder, 0, slash ? slash : 1);
    return true;
}

struct str layer_workspace(struct context *cx)
{
    struct str folder = cx->cwd;

    do {
        struct err e = {0};

        if (layer_holds_project(cx, folder, &e))
            return folder;
        if (e.code != ERR_NONE && !str_eq(folder, cx->cwd))
            note_skipped(cx, &e);
    } while (go_up(&folder));
    return cx->cwd;
}

bool layer_find_workspace(struct context *cx, struct str from, struct str *out,
                          struct err *e)
{
    struct err refused = {0};
    struct str folder = from;

    do {
        struct err why = {0};

        if (layer_holds_project(cx, folder, &why)) {
            *out = arena_str(&cx->arena, folder);
            return true;
        }
        if (refused.code == ERR_NONE)
            refused = why;
    } while (go_up(&folder));
    if (refused.code == ERR_NONE)
        return err_set(e, ERR_NOT_FOUND,
                       "there is no mapm.yaml in %.*s or above it",
                       STR_ARG(from));
    *e = refused;
    return false;
}

static bool open_global(struct layer *l, struct context *cx, struct err *e)
{
    struct store *store = NULL;
    struct str home;

    if (!store_find_home(&cx->arena, &home, e) || !store_open(home, &store, e))
        return false;
    l->path = fs_join(store_home(store), STR("global"), &cx->arena);
    store_close(store);
    l->is_global = true;
    return fs_make_dirs(l->path.p, 0700, e);
}

/* Returns true for packages from a replacement or a checkout on this
 * machine. */
static bool is_override(const struct layer *l, const struct lock_entry *entry,
                        const struct origin *o)
{
    const struct replacement *r = replacements_find(&l->replacements, o);

    return entry->from.n && (str_starts(entry->from, STR("file:")) ||
                             (r && r->role != PROJECT_WORKSPACE));
}

/* Packages from a folder are read again each time. */
static bool fill_source(const struct layer *l, const struct lock_entry *entry,
                        const struct origin *o, bool is_local, struct arena *a,
                        struct lock_source *out, struct err *e)
{
    if (entry->source.n) {
        *out = (struct lock_source){0};
        return origin_parse_here(entry->source, &l->rules, a, &out->origin, e);
    }
    const struct replacement *r = replacements_find(&l->replacements, o);
    const struct replacement *team =
        is_local && is_override(l, entry, o)
            ? r
            : replacements_find_team(&l->replacements, o);
    struct origin expected = *o;

    out->origin = *o;
    if (entry->from.n &&
        !origin_parse(entry->from, &l->rules, a, &out->origin, e))
        return false;
    if (team)
        replacement_apply(team, o, a, &expected);
    out->is_stale = !str_eq(expected.key, out->origin.key) ||
                    out->origin.scheme != o->scheme;
    if (r && r->role != PROJECT_WORKSPACE && !r->is_folder)
        replacement_apply(r, o, a, &out->origin);
    return true;
}

static bool fill_sources(const struct layer *l, const struct lock *lock,
                         const struct origin *origins, bool is_local,
                         struct arena *a, struct lock_source **out,
                         struct err *e)
{
    bool any = l->replacements.count > 0;

    for (size_t i = 0; i < lock->count && !any; i++)
        any = lock->entries[i].from.n > 0 || lock->entries[i].source.n > 0;
    if (!any)
        return true;
    *out = arena_array(a, lock->count + 1, sizeof **out);
    for (size_t i = 0; i < lock->count; i++)
        if (!fill_source(l, &lock->entries[i], &origins[i], is_local, a,
                         &(*out)[i], e))
            return err_wrap(e, "%s:%u: from",
                            is_local ? "mapm.local.lock" : "mapm.lock",
                            lock->entries[i].line);
    return true;
}

bool layer_collect_overrides(struct layer *l, struct arena *a, struct err *e)
{
    for (size_t i = 0; i < l->local_lock.count; i++) {
        const struct lock_entry *entry = &l->local_lock.entries[i];
        struct origin o;

        if (!entry->from.n || (l->is_part && !lock_is_of(entry, l->member)))
            continue;
        if (!origin_parse_part(entry->origin, &l->rules, a, &o, e))
            return err_wrap(e, "mapm.local.lock:%u", entry->line);
        if (is_override(l, entry, &o))
            map_put(&l->replaced, o.key, NULL);
    }
    return true;
}

static void index_origin(struct layer *l, const struct origin *o,
                         const struct lock_entry *entry)
{
    struct map_entry *known = map_entry(&l->by_origin, o->key);

    if (!known->value)
        known->value = (void *)(uintptr_t)entry;
}

/* `key` is the manifest key of the unusable origin. */
static bool fail_entry(const struct layer *l, const struct lock *lock,
                       const struct lock_entry *entry, const char *key,
                       struct err *e)
{
    bool is_local = lock == &l->local_lock;

    return err_wrap(
        e, "%s:%u: %s %.*s", is_local ? "mapm.local.lock" : "mapm.lock",
        lock_field_line(is_local ? l->local_lock_text : l->lock_text, entry,
                        key),
        doc_kind_name(entry->kind), STR_ARG(entry->name));
}

/* `tag` is the tag that the ranges of an entry selected. A range requires a tag
 * whose version it allows. */
static bool check_tag(bool committed, const struct lock_entry *entry,
                      const struct origin *own, const struct origin *range,
                      struct arena *a, struct err *e)
{
    struct str text = origin_range(range, a);
    struct semver v;
    struct range r;
    unsigned form;

    /* A package from elsewhere may have no tags. */
    if (text.n == 0 || !origin_is_package_of(own, range, a) ||
        (!entry->tag.n && (entry->from.n || !committed)))
        return true;
    if (entry->tag.n &&
        tag_version(entry->tag, origin_slot_path(range), &v, &form) &&
        range_parse(text, &r, e) && range_allows(&r, &v))
        return true;
    if (entry->tag.n)
        err_set(e, ERR_FORMAT, "its tag %.*s is not a version in %.*s",
                STR_ARG(entry->tag), STR_ARG(text));
    else
        err_set(e, ERR_FORMAT, "it has no tag for the range %.*s",
                STR_ARG(text));
    return err_hint(e, "take mapm.lock from version control again, or delete "
                       "it and run mapm install");
}

static bool read_origins(const struct layer *l, const struct lock *lock,
                         struct origin **origins, struct arena *a,
                         struct err *e)
{
    struct origin_rules rules = l->rules;

    rules.keeps_text = true;
    *origins = arena_array(a, lock->count + 1, sizeof **origins);
    for (size_t i = 0; i < lock->count; i++) {
        const struct lock_entry *entry = &lock->entries[i];

        if (!origin_parse_part(entry->origin, &rules, a, &(*origins)[i], e))
            return fail_entry(l, lock, entry, "origin", e);
        if (!check_tag(lock == &l->lock, entry, &(*origins)[i], &(*origins)[i],
                       a, e))
            return fail_entry(l, lock, entry, "tag", e);
    }
    return true;
}

/* A former origin must differ from the present one in its repository only. */
static bool check_former(const struct origin *own, const struct origin *o,
                         struct arena *a, struct err *e)
{
    struct origin now;

    return (origin_in_repository(o, own->repository, a, &now) &&
            str_eq(now.key, own->key) && !str_eq(o->key, own->key)) ||
           err_set(e, ERR_FORMAT, "not another name of the repository: %.*s",
                   STR_ARG(o->text));
}

static bool index_entry(struct layer *l, const struct lock *lock,
                        const struct lock_entry *entry,
                        const struct origin *own, struct arena *a,
                        struct err *e)
{
    struct map_entry *named;
    struct origin o;

    if (lock == &l->lock && map_has(&l->replaced, own->key)) {
        map_entry(&l->replaced, own->key)->value = (void *)(uintptr_t)entry;
        return true;
    }
    /* The committed lock was indexed first, so it takes precedence over the
     * local one. */
    named = map_entry(&l->by_name, layer_name_key(entry->kind, entry->name, a));
    if (!named->value)
        named->value = (void *)(uintptr_t)entry;
    index_origin(l, own, entry);
    for (size_t k = 0; k < entry->also_count; k++) {
        if (!origin_parse_part(entry->also[k], &l->rules, a, &o, e))
            return fail_entry(l, lock, entry, "also", e);
        if (!check_tag(lock == &l->lock, entry, own, &o, a, e))
            return fail_entry(l, lock, entry, "tag", e);
        if (lock_also_is_former(entry, k) && !check_former(own, &o, a, e))
            return fail_entry(l, lock, entry, "formerly", e);
        index_origin(l, &o, entry);
        if (lock_also_commit(entry, k).n &&
            map_find(&l->by_origin, o.key) == entry)
            map_put(&l->also_commits, o.key,
                    (void *)(uintptr_t)(lock_also_is_former(entry, k)
                                            ? &entry->commit
                                            : &entry->also_commits[k]));
    }
    return true;
}

void layer_init_maps(struct layer *l, struct arena *a)
{
    map_init(&l->by_origin, a);
    map_init(&l->also_commits, a);
    map_init(&l->by_name, a);
    map_init(&l->replaced, a);
}

bool layer_index_entries(struct layer *l, bool is_local, const size_t *numbers,
                         size_t count, struct arena *a, struct err *e)
{
    const struct lock *lock = is_local ? &l->local_lock : &l->lock;
    const struct origin *origins = is_local ? l->local_origins : l->origins;

    for (size_t i = 0; i < count; i++) {
        size_t n = numbers ? numbers[i] : i;

        if (!index_entry(l, lock, &lock->entries[n], &origins[n], a, e))
            return false;
    }
    return true;
}

bool layer_read_origins(struct layer *l, struct arena *a, struct err *e)
{
    l->sources = l->local_sources = NULL;
    return read_origins(l, &l->lock, &l->origins, a, e) &&
           read_origins(l, &l->local_lock, &l->local_origins, a, e) &&
           fill_sources(l, &l->lock, l->origins, false, a, &l->sources, e) &&
           fill_sources(l, &l->local_lock, l->local_origins, true, a,
                        &l->local_sources, e);
}

static bool index_locks(struct layer *l, struct arena *a, struct err *e)
{
    layer_init_maps(l, a);
    return layer_read_origins(l, a, e) && layer_collect_overrides(l, a, e) &&
           layer_index_entries(l, false, NULL, l->lock.count, a, e) &&
           layer_index_entries(l, true, NULL, l->local_lock.count, a, e);
}

bool layer_take_lock(struct layer *l, struct context *cx,
                     const struct lock *lock, struct err *e)
{
    l->lock = *lock;
    return index_locks(l, &cx->arena, e);
}

static bool parse_lock(struct layer *l, enum layer_mode mode, struct arena *a,
                       struct err *e)
{
    if (lock_parse(l->lock_text, "mapm.lock", a, &l->lock, e))
        return true;
    if (!(mode & LAYER_CONFLICT) || e->code != ERR_FORMAT)
        return false;
    l->has_conflict = lock_has_conflict(l->lock_text);
    if (!l->has_conflict && lock_is_joined(l->lock_text)) {
        l->has_conflict = true;
        l->joined = arena_str(a, str_cstr(err_first(e)));
    }
    if (l->has_conflict)
        err_clear(e);
    return l->has_conflict;
}

static bool read_replacements(struct layer *l, struct context *cx,
                              struct err *e)
{
    const struct origin_rules *rules = &l->rules;

    replacements_init(&l->replacements, &cx->arena);
    return replacements_add(&l->replacements, &l->local, PROJECT_LOCAL,
                            "mapm.local.yaml", l->path, rules, e) &&
           replacements_add(&l->replacements, &l->user, PROJECT_USER,
                            "config.yaml", l->path, rules, e) &&
           replacements_add(&l->replacements, &l->project, PROJECT_WORKSPACE,
                            "mapm.yaml", l->path, rules, e);
}

/* A tracked file came with a clone and must not speak for this machine [D9]. */
void layer_drop_tracked(const struct layer *l, struct context *cx,
                        const char *name, struct str *text)
{
    if (!text->n || l->is_global || !checkout_tracks(cx, l->path, name))
        return;
    context_warn(cx,
                 "%s is tracked by git, so it is not read: git rm --cached "
                 "%s",
                 name, name);
    *text = STR("");
}

static bool read_files(struct layer *l, enum layer_mode mode,
                       struct context *cx, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct arena *a = &cx->arena;
    struct folder f = {.cx = cx, .path = l->path};

    if (!fs_open_dir(l->path.p, &fd, e))
        return false;
    f.fd = fd;
    if (!folder_read_text(&f, "mapm.yaml", PROJECT_MAX_BYTES, &l->yaml, e) ||
        !folder_read_text(&f, "mapm.local.yaml", PROJECT_MAX_BYTES,
                          &l->local_yaml, e) ||
        !folder_read_lock(&f, "mapm.lock", &l->lock_text, e) ||
        !folder_read_lock(&f, "mapm.local.lock", &l->local_lock_text, e))
        return false;
    layer_drop_tracked(l, cx, "mapm.local.yaml", &l->local_yaml);
    layer_drop_tracked(l, cx, "mapm.local.lock", &l->local_lock_text);
    return project_parse(l->yaml, PROJECT_WORKSPACE, "mapm.yaml", &l->rules, a,
                         &l->project, e) &&
           limits_apply(&l->limits, &l->project, PROJECT_WORKSPACE, "mapm.yaml",
                        a, e) &&
           project_parse(l->local_yaml, PROJECT_LOCAL, "mapm.local.yaml",
                         &l->rules, a, &l->local, e) &&
           parse_lock(l, mode, a, e) &&
           lock_parse(l->local_lock_text, "mapm.local.lock", a, &l->local_lock,
                      e) &&
           read_replacements(l, cx, e) && layer_list_members(l, cx, fd, e) &&
           (layer_has_parts(l) || index_locks(l, a, e));
}

static void note_waiting(void *ctx)
{
    struct context *cx = ctx;

    context_note(cx, "waiting for another mapm in this workspace ...");
}

/* Called before an interrupted command is completed or undone in a folder of
 * another user. */
bool layer_check_files(struct context *cx, enum layer_mode mode,
                       struct str folder, struct err *e)
{
    CLEANUP_FD int fd = -1;
    bool needs_folder = mode & LAYER_WRITE;
    struct stat st;

    if (!fs_open_dir(folder.p, &fd, e))
        return false;
    for (size_t i = 0; i < WORKSPACE_FILES; i++) {
        if (!fs_stat_at(fd, workspace_files[i], &st))
            continue;
        if (!authorize_file_stat(
                cx, &st,
                fs_join(folder, str_cstr(workspace_files[i]), &cx->arena),
                folder, e))
            return false;
        needs_folder = true;
    }
    /* Another user may put a hard link to a file of this user into a folder, so
     * the folder's owner is checked. A new workspace is not created where its
     * files would be ignored. */
    return !needs_folder || authorize_file(cx, fd, folder, folder, e);
}

bool layer_open_provision(struct layer *l, struct context *cx,
                          enum layer_mode mode, struct err *e)
{
    bool recovered = false;

    if (!provision_open(l->path, l->scope, !(mode & LAYER_WRITE), note_waiting,
                        cx, &recovered, &l->provision, e))
        return false;
    if (recovered)
        context_note(cx, "finished an interrupted install");
    return true;
}

/* Without a home folder the library can be read but not written. */
static bool find_scope(struct layer *l, struct context *cx,
                       enum layer_mode mode, struct err *e)
{
    struct client_scope *user;

    l->scope = &client_scope_workspace;
    if (!l->is_global)
        return true;
    user = arena_new(&cx->arena, struct client_scope);
    if (clients_user_scope(cx->home, &cx->arena, user, e))
        l->scope = user;
    else if (mode & LAYER_WRITE)
        return false;
    err_clear(e);
    return true;
}

bool layer_open_path(struct context *cx, enum layer_mode mode,
                     struct layer *out, struct err *e)
{
    out->root = out->path;
    if (!find_scope(out, cx, mode, e) ||
        !authorize_config_read(cx, &out->user, &out->limits, &out->rules, e) ||
        !layer_check_files(cx, mode, out->path, e))
        return false;
    if (!layer_open_provision(out, cx, mode, e))
        return false;
    if (read_files(out, mode, cx, e))
        return true;
    layer_close(out);
    return false;
}

bool layer_open(struct context *cx, enum layer_mode mode, struct layer *out,
                struct err *e)
{
    return cx->use_global ? layer_open_global(cx, mode, out, e)
                          : layer_open_workspace(cx, mode, out, e);
}

bool layer_open_global(struct context *cx, enum layer_mode mode,
                       struct layer *out, struct err *e)
{
    *out = (struct layer){0};
    return open_global(out, cx, e) && layer_open_path(cx, mode, out, e);
}

/* Returns the folder as the lock names it; "" for a folder elsewhere. */
static struct str place_below(const struct layer *l, struct str folder,
                              struct arena *a)
{
    const char *const skills[] = {l->scope->skills, l->scope->named_skills};

    for (size_t i = 0; l->scope->is_user && i < 2; i++) {
        struct str top = str_cstr(skills[i]);

        if (folder.n > top.n && fs_path_is_within(folder, top))
            return fs_join(STR(PROVISION_SKILLS),
                           str_from_index(folder, top.n + 1), a);
    }
    if (!fs_path_is_within(folder, l->path) || folder.n == l->path.n)
        return STR("");
    return layer_listed_place(str_from_index(folder, l->path.n + 1), a);
}

const struct lock_entry *layer_find_folder(const struct layer *l,
                                           struct str folder)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str place;

    place = place_below(l, folder, &scratch);
    if (!place.n)
        return NULL;
    for (size_t i = 0; i < l->by_name.count; i++) {
        const struct lock_entry *entry = l->by_name.entries[i].value;

        if (entry->kind == DOC_SKILL && str_eq(entry->place, place))
            return entry;
    }
    return NULL;
}

bool layer_is_local(const struct layer *l, const struct lock_entry *entry)
{
    return entry >= l->local_lock.entries &&
           entry < l->local_lock.entries + l->local_lock.count;
}

bool layer_is_own(const struct layer *l, const struct lock_entry *entry)
{
    return layer_origin(l, entry)->scheme == ORIGIN_OWN;
}

bool layer_is_from_checkout(const struct layer *l,
                            const struct lock_entry *entry)
{
    const struct replacement *r =
        replacements_find(&l->replacements, layer_origin(l, entry));

    return str_starts(entry->from, STR("file:")) && !(r && r->is_folder);
}

bool layer_is_fetched(const struct layer *l, const struct lock_entry *entry)
{
    return !layer_is_local(l, entry) && !layer_is_own(l, entry);
}

bool layer_is_searched(const struct layer *l, enum doc_kind kind,
                       struct str fqn)
{
    return kind == DOC_SKILL && project_is_searched(&l->project, fqn);
}

struct str layer_user_place(const struct layer *l, struct str place,
                            struct arena *a)
{
    static const struct str skills = STR_INIT(PROVISION_SKILLS "/");

    return l->scope->is_user && str_starts(place, skills)
               ? fs_join(str_cstr(l->scope->skills),
                         str_from_index(place, skills.n), a)
               : place;
}

struct str layer_place(const struct layer *l, const struct lock_entry *entry,
                       struct arena *a)
{
    return layer_is_searched(l, entry->kind, entry->name)
               ? fs_join(STR(PROVISION_SEARCHED), path_last(entry->place), a)
               : layer_user_place(l, entry->place, a);
}

struct str layer_listed_place(struct str place, struct arena *a)
{
    static const struct str searched = STR_INIT(PROVISION_SEARCHED "/");

    return str_starts(place, searched)
               ? fs_join(STR(PROVISION_SKILLS),
                         str_from_index(place, searched.n), a)
               : place;
}

struct str layer_folder(const struct layer *l, const struct lock_entry *entry,
                        struct arena *a)
{
    return layer_is_own(l, entry) ? layer_own_path(l, layer_origin(l, entry))
                                  : layer_place(l, entry, a);
}

struct str layer_own_path(const struct layer *l, const struct origin *o)
{
    return l->member.n && o->path.n > l->member.n
               ? str_from_index(o->path, l->member.n + 1)
               : o->path;
}

void layer_close(struct layer *l)
{
    provision_close(l->provision);
    l->provision = NULL;
}

bool layer_stores(const struct layer *l, struct context *cx,
                  struct store *store, struct team_remotes *out, struct err *e)
{
    return authorize_stores(cx, store, l->path, &l->user, &l->project, out, e);
}

bool layer_check_there(const struct layer *l, struct context *cx, struct err *e)
{
    struct str file = fs_join(l->path, STR("mapm.yaml"), &cx->arena);

    if (l->is_global || l->lock_text.n || l->local_yaml.n ||
        access(file.p, F_OK) == 0)
        return true;
    err_set(e, ERR_NOT_FOUND, "there is no mapm.yaml in %.*s or above it",
            STR_ARG(l->path));
    return err_hint(e, "go to your project, or start one here with mapm init "
                       "or mapm install ORIGIN");
}

bool layer_check_own(const struct layer *l, struct context *cx, struct err *e)
{
    return authorize_folder(cx, l->path, e);
}

bool layer_is_trusted(const struct layer *l, struct context *cx,
                      struct store *store, enum trust_state *state,
                      struct err *e)
{
    const struct trust_request q = {.kind = STATE_TRUST_WORKSPACE,
                                    .subject = l->path};

    return authorize_trust(cx, store, &q, state, e) && *state == TRUST_GIVEN;
}

bool layer_starts_servers(const struct layer *l)
{
    return l->project.start_servers && !l->is_global;
}

struct str layer_name_key(enum doc_kind kind, struct str fqn, struct arena *a)
{
    const struct str parts[] = {str_cstr(doc_kind_name(kind)), STR(" "), fqn};

    return str_concat(parts, sizeof parts / sizeof *parts, a);
}

const struct lock_entry *layer_find(const struct layer *l, enum doc_kind kind,
                                    struct str fqn)
{
    const struct lock_entry *entry;

    if (l->is_part) {
        CLEANUP(arena_done) struct arena scratch = {0};

        return map_find(&l->by_name, layer_name_key(kind, fqn, &scratch));
    }
    entry = lock_find(&l->lock, kind, fqn);
    if (entry && map_find(&l->replaced, layer_origin(l, entry)->key) == entry)
        entry = NULL;
    return entry ? entry : lock_find(&l->local_lock, kind, fqn);
}

bool layer_has(const struct layer *l, const struct lock_entry *entry)
{
    return !l->is_part || lock_is_of(entry, l->member);
}

const struct origin *layer_origin(const struct layer *l,
                                  const struct lock_entry *entry)
{
    if (entry >= l->lock.entries && entry < l->lock.entries + l->lock.count)
        return &l->origins[entry - l->lock.entries];
    return &l->local_origins[entry - l->local_lock.entries];
}

static const struct lock_source *source_of(const struct layer *l,
                                           const struct lock_entry *entry)
{
    if (layer_is_local(l, entry))
        return l->local_sources
                   ? &l->local_sources[entry - l->local_lock.entries]
                   : NULL;
    return l->sources ? &l->sources[entry - l->lock.entries] : NULL;
}

const struct origin *layer_source(const struct layer *l,
                                  const struct lock_entry *entry)
{
    const struct lock_source *source = source_of(l, entry);

    return source ? &source->origin : layer_origin(l, entry);
}

/* Returns whether `replace:` changed since the entry was locked. */
static bool layer_is_stale(const struct layer *l,
                           const struct lock_entry *entry)
{
    const struct lock_source *source = source_of(l, entry);

    return source && source->is_stale;
}

const struct lock_entry *layer_find_origin(const struct layer *l,
                                           struct str key, bool committed)
{
    const struct lock_entry *entry = map_find(&l->by_origin, key);
    bool is_own = entry && str_eq(layer_origin(l, entry)->key, key);

    if (is_own && layer_is_stale(l, entry))
        entry = NULL;
    if (!entry || (committed && layer_is_local(l, entry)))
        entry = map_find(&l->replaced, key);
    return entry && layer_is_stale(l, entry) &&
                   str_eq(layer_origin(l, entry)->key, key)
               ? NULL
               : entry;
}

struct str layer_also_commit(const struct layer *l, const struct origin *o)
{
    const struct str *commit = map_find(&l->also_commits, o->key);

    return commit ? *commit : str_make("", 0);
}

bool layer_is_former(const struct layer *l, const struct lock_entry *entry,
                     const struct origin *o)
{
    return entry->former_count > 0 &&
           map_find(&l->also_commits, o->key) == &entry->commit;
}

static int by_kind_and_name(const void *x, const void *y)
{
    const struct lock_entry *const *p = x, *const *q = y;
    int order = str_cmp(str_cstr(doc_kind_name((*p)->kind)),
                        str_cstr(doc_kind_name((*q)->kind)));

    return order ? order : str_cmp((*p)->name, (*q)->name);
}

const struct lock_entry **layer_entries(const struct layer *l, struct arena *a,
                                        size_t *count)
{
    /* In a workspace with members several may use one name. */
    bool is_whole = l->member_count && !l->is_part;
    const struct lock_entry **list = arena_array(
        a, (is_whole ? l->lock.count : l->by_name.count) + 1, sizeof *list);

    *count = l->lock.count;
    for (size_t i = 0; is_whole && i < l->lock.count; i++)
        list[i] = &l->lock.entries[i];
    if (is_whole)
        return list;
    for (size_t i = 0; i < l->by_name.count; i++)
        list[i] = l->by_name.entries[i].value;
    if (l->local_lock.count) /* otherwise they are in the order of mapm.lock */
        qsort(list, l->by_name.count, sizeof *list, by_kind_and_name);
    *count = l->by_name.count;
    return list;
}

void layer_index_roots(const struct layer *l, struct root *roots, size_t count,
                       struct arena *a, struct map *out)
{
    map_init(out, a);
    for (size_t i = 0; i < count; i++) {
        struct lock_entry *entry = map_find(&l->by_origin, roots[i].origin.key);

        if (entry && entry->kind == roots[i].kind)
            map_put(out, layer_name_key(entry->kind, entry->name, a),
                    &roots[i]);
    }
}

struct client_choice layer_clients(const struct layer *l, struct arena *a)
{
    const struct project *lists[] = {&l->project, &l->user};
    struct str *names = arena_array(
        a, l->project.client_count + l->user.client_count + 1, sizeof *names);
    size_t count = 0;

    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->client_count; i++)
            names[count++] = lists[k]->clients[i];
    return (struct client_choice){.names = names,
                                  .count = count,
                                  .is_decided = l->project.has_clients ||
                                                l->user.has_clients};
}

/* The entries that one word can mean, sorted by kind and name. */
struct meaning {
    const struct lock_entry *entry;
    struct meaning *next;
};

struct meanings {
    struct meaning *first, *last;
    size_t count;
};

static void add_meaning(struct map *words, struct str word,
                        const struct lock_entry *entry)
{
    struct map_entry *known = map_entry(words, word);
    struct meanings *all = known->value;
    struct meaning *m;

    if (all && all->last->entry == entry)
        return;
    if (!all)
        known->value = all = arena_new(words->arena, struct meanings);
    m = arena_new(words->arena, struct meaning);
    m->entry = entry;
    if (all->last)
        all->last->next = m;
    else
        all->first = m;
    all->last = m;
    all->count++;
}

static void index_words(const struct lock_entry **entries, size_t count,
                        struct arena *a, struct map *out)
{
    map_init(out, a);
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry = entries[i];

        add_meaning(out, entry->name, entry);
        add_meaning(out, path_last(entry->name), entry);
        add_meaning(out, path_last(entry->place), entry);
        add_meaning(out, entry->origin, entry);
        for (size_t k = 0; k < entry->also_count; k++)
            add_meaning(out, entry->also[k], entry);
    }
}

/* Returns for "skill pdf" the skills among the meanings of `pdf`, or NULL. */
static const struct meanings *find_of_kind(const struct map *words,
                                           struct str word, struct arena *a,
                                           struct str *name)
{
    const struct meanings *all;
    struct map chosen;
    enum doc_kind kind;
    struct str head;

    *name = word;
    if (!str_cut(name, ' ', &head) || !doc_kind_find(head, &kind))
        return NULL;
    all = map_find(words, *name);
    map_init(&chosen, a);
    for (const struct meaning *m = all ? all->first : NULL; m; m = m->next)
        if (m->entry->kind == kind)
            add_meaning(&chosen, *name, m->entry);
    return map_find(&chosen, *name);
}

/* "skill x" of the plugin p can be named x, skill x, p/x and skill p/x. */
static bool means_part(struct str name, struct str plugin, struct str part)
{
    struct str kind, own, rest = name, prefix;

    own = part;
    str_cut(&own, ' ', &kind);
    if (str_starts(name, kind) && str_cut(&rest, ' ', &prefix) &&
        str_eq(prefix, kind))
        name = rest;
    rest = name;
    if (str_cut(&rest, '/', &prefix) && rest.n && str_eq(prefix, plugin))
        name = rest;
    return str_eq(name, own);
}

static bool has_part(const struct str_list *parts, struct str plugin,
                     struct str name, struct str *part)
{
    for (size_t i = 0; i < parts->count; i++)
        if (means_part(name, plugin, parts->items[i])) {
            *part = parts->items[i];
            return true;
        }
    return false;
}

/* Reports a part of a plugin that was installed without it. */
static bool explain_left_out(const struct lock_entry **entries, size_t count,
                             struct str name, struct err *e)
{
    struct str part;

    for (size_t i = 0; i < count; i++) {
        struct str plugin = lock_own_name(entries[i]);

        if (has_part(&entries[i]->without, plugin, name, &part)) {
            err_set(e, ERR_NOT_FOUND,
                    "plugin %.*s is installed without %.*s, as mapm.yaml says",
                    STR_ARG(entries[i]->name), STR_ARG(part));
            err_hint(e, "take it out of \"without\" in mapm.yaml, then run "
                        "mapm install");
            return true;
        }
        if (has_part(&entries[i]->skipped, plugin, name, &part)) {
            err_set(e, ERR_NOT_FOUND,
                    "plugin %.*s is installed without %.*s, which is not valid",
                    STR_ARG(entries[i]->name), STR_ARG(part));
            err_hint(e, "mapm install -v says what is wrong with it");
            return true;
        }
    }
    return false;
}

static bool not_found(const struct lock_entry **entries, size_t count,
                      struct str name, struct err *e)
{
    struct text_nearest near = {0};

    if (explain_left_out(entries, count, name, e))
        return false;
    err_set(e, ERR_NOT_FOUND, "nothing named \"%.*s\" is installed here",
            STR_ARG(name));
    for (size_t i = 0; i < count; i++)
        text_nearest_add_path(&near, name, entries[i]->name, 3);
    if (near.count)
        return err_hint(e, "did you mean %.*s?", STR_ARG(near.found[0]));
    return err_hint(e, "mapm list shows what is");
}

static bool is_kind(struct str word)
{
    enum doc_kind ignored;

    return doc_kind_find(word, &ignored);
}

static bool split_name(struct str kind, struct str name, struct err *e)
{
    err_set(e, ERR_NOT_FOUND, "nothing named \"%.*s\" is installed here",
            STR_ARG(kind));
    return err_hint(e, "a type and a name are one argument: \"%.*s %.*s\"",
                    STR_ARG(kind), STR_ARG(name));
}

static bool ambiguous(struct str name, const struct meanings *all,
                      struct err *e)
{
    const struct lock_entry *last = all->last->entry;

    err_set(e, ERR_USAGE, "\"%.*s\" could be several packages", STR_ARG(name));
    for (const struct meaning *m = all->first; m; m = m->next)
        err_also(e, "%s %.*s", doc_kind_name(m->entry->kind),
                 STR_ARG(m->entry->name));
    return err_hint(e, "name one in full, as \"%s %.*s\"",
                    doc_kind_name(last->kind), STR_ARG(last->name));
}

/* Returns the entry by full name, or the only one with this name; NULL if
 * ambiguous. */
static const struct lock_entry *choose(struct str name,
                                       const struct meanings *all)
{
    const struct lock_entry *exact = NULL;

    if (all->count == 1)
        return all->first->entry;
    for (const struct meaning *m = all->first; m; m = m->next) {
        if (!str_eq(m->entry->name, name))
            continue;
        if (exact)
            return NULL;
        exact = m->entry;
    }
    return exact;
}

bool layer_resolve_names(const struct layer *l, const struct str *names,
                         size_t name_count, struct arena *a,
                         const struct lock_entry **out, struct err *e)
{
    const struct lock_entry **entries;
    struct map words;
    size_t count;

    entries = layer_entries(l, a, &count);
    index_words(entries, count, a, &words);
    for (size_t i = 0; i < name_count; i++) {
        const struct meanings *all;
        struct str word = names[i];
        struct err ignored = {0};
        struct origin o;

        if (origin_parse_here(word, &l->rules, a, &o, &ignored) &&
            layer_rebase_own(l, &o, a, &ignored))
            word = o.text;
        all = map_find(&words, word);
        word = names[i];
        if (!all)
            all = find_of_kind(&words, names[i], a, &word);
        if (!all && i + 1 < name_count && is_kind(names[i]))
            return split_name(names[i], names[i + 1], e);
        if (!all)
            return not_found(entries, count, names[i], e);
        out[i] = choose(word, all);
        if (!out[i])
            return ambiguous(names[i], all, e);
    }
    return true;
}

bool layer_resolve_name(const struct layer *l, struct str name,
                        struct context *cx, const struct lock_entry **out,
                        struct err *e)
{
    return layer_resolve_names(l, &name, 1, &cx->arena, out, e);
}
