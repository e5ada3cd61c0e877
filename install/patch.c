#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/patched.h"
#include "mapm/state_trust.h"

#include <inttypes.h>

#include "ingest.h"
#include "install_session.h"

/* Patches of the workspace: their packages, comparison with the lock, and the
 * patched content. [D7] */

bool session_read_patches(struct install_session *s, struct err *e)
{
    s->patch_file_count = 0;
    return patches_read(s->cx, s->layer.path, &s->patches, e);
}

void session_set_patch(struct install_session *s, struct str file,
                       struct str text)
{
    patches_set(&s->patches, file, text, &s->cx->arena);
    s->patch_files =
        arena_grow(&s->cx->arena, s->patch_files, s->patch_file_count,
                   &s->patch_file_capacity, sizeof *s->patch_files);
    s->patch_files[s->patch_file_count++] = file;
}

static bool has_folder(enum doc_kind kind)
{
    return kind == DOC_SKILL || kind == DOC_AGENT;
}

/* --- which ---------------------------------------------------------------- */

static struct str hash_of_patch(const struct install_package *p)
{
    return p->patch ? p->patch->hash : STR("");
}

/* Returns whether the package is patched; packages from a folder are edited
 * there instead. */
static bool is_patched(struct install_session *s,
                       const struct install_package *p, bool *out,
                       struct err *e)
{
    const struct package *package = p->package;
    const struct origin *source = node_source(package->user);

    *out = origin_is_remote(source);
    if (package->origin->scheme == ORIGIN_OWN) {
        err_set(e, ERR_PATCH, "%.*s: %s %.*s is of this workspace (%.*s)",
                STR_ARG(p->patch->file), doc_kind_name(package->kind),
                STR_ARG(package->fqn), STR_ARG(package->origin->text));
        return err_hint(e, "edit it there, and delete the patch");
    }
    if (!*out)
        context_warn(s->cx, "%.*s is not applied: %s %.*s is from %.*s",
                     STR_ARG(p->patch->file), doc_kind_name(package->kind),
                     STR_ARG(package->fqn), STR_ARG(source->text));
    return true;
}

static bool check_locked(const struct install_package *p, struct str file,
                         struct err *e)
{
    const struct lock_entry *b = p->before;

    if (str_eq(b->patch, hash_of_patch(p)))
        return true;
    if (!p->patch)
        err_set(e, ERR_LOCKED,
                "mapm.lock:%u: %s %.*s: its patch %.*s is not there", b->line,
                doc_kind_name(b->kind), STR_ARG(b->name), STR_ARG(file));
    else if (!b->patch.n)
        err_set(e, ERR_LOCKED, "mapm.lock:%u: %s %.*s: %.*s is not in the lock",
                b->line, doc_kind_name(b->kind), STR_ARG(b->name),
                STR_ARG(file));
    else
        err_set(e, ERR_LOCKED,
                "mapm.lock:%u: %s %.*s: %.*s is not the patch that is locked",
                b->line, doc_kind_name(b->kind), STR_ARG(b->name),
                STR_ARG(file));
    return err_hint(e,
                    "run mapm install and commit mapm.lock, or take it and "
                    "%.*s from version control again",
                    STR_ARG(file));
}

bool session_find_patch(struct install_session *s, struct install_package *p,
                        struct err *e)
{
    const struct package *package = p->package;
    bool is_there = true;
    struct str file;

    if (!has_folder(package->kind) ||
        (s->patches.count == 0 && (!p->before || !p->before->patch.n)))
        return true;
    file = patches_file(package->kind, package->fqn, &s->cx->arena);
    p->patch = patches_find(&s->patches, file);
    if (p->patch && !is_patched(s, p, &is_there, e))
        return false;
    if (!is_there)
        p->patch = NULL;
    if (is_there && s->locked && p->before && !check_locked(p, file, e))
        return false;
    return !p->patch || session_rebase_patch(s, p, e);
}

/* --- those of no package -------------------------------------------------- */

static void note_files(const struct lock *lock, struct arena *a,
                       struct map *out)
{
    for (size_t i = 0; i < lock->count; i++)
        if (has_folder(lock->entries[i].kind))
            map_put(
                out,
                patches_file(lock->entries[i].kind, lock->entries[i].name, a),
                out);
}

bool session_check_patches(struct install_session *s, const struct lock *lock,
                           const struct lock *local, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    size_t count = s->patches.count;
    struct map used, gone;

    if (count == 0)
        return true;
    map_init(&used, &scratch);
    map_init(&gone, &scratch);
    note_files(lock, &scratch, &used);
    note_files(local, &scratch, &used);
    if (s->request->command == INSTALL_REMOVE)
        note_files(&s->layer.lock, &scratch, &gone);
    for (size_t i = 0; i < count; i++) {
        struct str file = s->patches.items[i].file;

        if (!s->patches.items[i].text.p || map_has(&used, file))
            continue;
        if (!map_has(&gone, file)) {
            err_set(e, ERR_NOT_FOUND, "%.*s: no package here has this name",
                    STR_ARG(file));
            return err_hint(e, "mapm patch --remove %.*s deletes it",
                            STR_ARG(file));
        }
        context_note(s->cx, "%.*s goes with its package", STR_ARG(file));
        session_set_patch(s, file, STR(""));
    }
    return true;
}

/* --- applied -------------------------------------------------------------- */

static void set_installed(struct install_session *s, struct install_package *p,
                          struct provision_item *item,
                          const struct patched *result)
{
    struct hash *digest = arena_new(&s->cx->arena, struct hash);

    *digest = item->digest = result->digest;
    p->installed = digest;
}

bool session_find_patched(struct install_session *s, struct install_package *p,
                          struct provision_item *item)
{
    if (!p->patch)
        return true;

    CLEANUP(arena_done) struct arena scratch = {0};
    struct err ignored = {0}; /* the error is large */
    struct patched result;

    if (!patched_apply(s->store, &package_node(p)->digest, p->patch->text,
                       p->patch->file.p, false, &scratch, &result, &ignored))
        return false;
    set_installed(s, p, item, &result);
    return true;
}

/* Checks the limits of a package. */
static bool check_sizes(struct install_session *s, const struct patched *p,
                        struct err *e)
{
    const struct limits *l = &s->layer.limits;
    uint64_t bytes = 0;

    if (p->count > l->package_max_files.value)
        return limit_fail(&l->package_max_files, e,
                          "more than %" PRIu64 " files",
                          l->package_max_files.value);
    for (size_t i = 0; i < p->count; i++) {
        CLEANUP(arena_done) struct arena scratch = {0};
        struct str content;

        if (path_depth(p->files[i].path) - 1 > l->package_max_depth.value)
            return limit_fail(&l->package_max_depth, e,
                              "%.*s: deeper than %" PRIu64 " folders",
                              STR_ARG(p->files[i].path),
                              l->package_max_depth.value);
        if (!store_read(s->store, &p->files[i].hash, l->file_max_bytes.value,
                        &scratch, &content, e))
            return err_wrap(e, "%.*s", STR_ARG(p->files[i].path));
        bytes += content.n;
        if (bytes > l->package_max_bytes.value)
            return limit_fail(&l->package_max_bytes, e,
                              "the package is larger than %" PRIu64 " bytes",
                              l->package_max_bytes.value);
    }
    return true;
}

/* Applies a patch. A parsed patch may take 30 times its size, so it is freed at
 * once and only the list of files is kept. */
static bool apply(struct install_session *s, struct install_package *p,
                  struct patched *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct arena *a = &s->cx->arena;
    struct node *n = package_node(p);
    struct package_file *files;
    struct hash text;

    if (!patched_apply(s->store, &n->digest, p->patch->text, p->patch->file.p,
                       true, &scratch, out, e) ||
        ((!check_sizes(s, out, e) ||
          !ingest_patched(&s->closure, n, out->files, out->count, e)) &&
         !err_wrap(e, "%.*s cannot be used", STR_ARG(p->patch->file))) ||
        !store_put(s->store, p->patch->text, &text, e))
        return false;
    files = arena_array(a, out->count, sizeof *files);
    for (size_t i = 0; i < out->count; i++) {
        files[i] = out->files[i];
        files[i].path = arena_str(a, files[i].path);
    }
    out->files = files;
    return true;
}

/* Hints at conflict markers, which never begin a line of a patch. */
static void hint_conflict(const struct package_patch *p, struct err *e)
{
    struct str marker = STR("<<<<<<< ");

    if (str_starts(p->text, marker) ||
        str_find(p->text, STR("\n<<<<<<< ")) != SIZE_MAX)
        err_hint(e,
                 "git left it in conflict: take one side, as by git checkout "
                 "--theirs %.*s, then mapm install",
                 STR_ARG(p->file));
}

static bool name_package(const struct install_session *s,
                         const struct install_package *p, struct err *e)
{
    return err_wrap(e, "cannot %s %s %.*s", s->plan.command,
                    doc_kind_name(p->package->kind), STR_ARG(p->package->fqn));
}

bool session_mend_patch(struct install_session *s, struct install_package *p,
                        bool *is_changed, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct package_patch *patch = p->patch;
    struct str before = patch->hash;
    struct patched result;

    if (patched_apply(s->store, &package_node(p)->digest, patch->text,
                      patch->file.p, false, &scratch, &result, e))
        return true;
    if (e->code != ERR_PATCH) {
        err_clear(e);
        return true;
    }
    if (!session_fit_patch(s, p, e))
        return name_package(s, p, e);
    *is_changed |= !str_eq(before, hash_of_patch(p));
    if (p->before)
        p->action = INSTALL_CHANGE;
    return true;
}

/* A patch that does not apply is only seen here with --locked. */
static void hint_patch(const struct install_package *p, struct err *e)
{
    hint_conflict(p->patch, e);
    if (e->hint[0])
        return;
    if (e->code == ERR_PATCH)
        err_hint(e, "mapm install rebases it, or keeps both versions");
    else
        err_hint(e, "mapm patch --remove %.*s installs it without the patch",
                 STR_ARG(p->package->fqn));
}

bool session_apply_patch(struct install_session *s, struct install_package *p,
                         struct provision_item *item, struct err *e)
{
    struct patched result;

    if (!apply(s, p, &result, e)) {
        hint_patch(p, e);
        return name_package(s, p, e);
    }
    set_installed(s, p, item, &result);
    item->files = result.files;
    item->file_count = result.count;
    p->patch_added = result.added;
    p->patch_removed = result.removed;
    return true;
}

/* --- shown ---------------------------------------------------------------- */

#define SEEN STR("patch")

static bool is_seen(const struct install_session *s, struct str hash)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct err ignored = {0};
    struct str folder;
    struct hash text;

    return patched_parse_hash(hash, &text) &&
           state_find_trust(store_state(s->store), STATE_SEEN_PATCH, SEEN,
                            &text, &scratch, &folder, &ignored);
}

/* Returns whether this command made the patch, from edits or from a patch that
 * was shown. */
static bool is_made_here(const struct install_session *s,
                         const struct install_package *p)
{
    for (size_t i = 0; i < s->patch_file_count; i++)
        if (str_eq(s->patch_files[i], p->patch->file))
            return s->request->command == INSTALL_PATCH ||
                   (p->before && is_seen(s, p->before->patch));
    return false;
}

bool session_is_patch_unseen(const struct install_session *s,
                             const struct install_package *p)
{
    return p->patch && p->effect != INSTALL_KEPT &&
           !is_seen(s, p->patch->hash) && !is_made_here(s, p);
}

void session_note_patches(struct install_session *s)
{
    struct state *state = store_state(s->store);
    struct err ignored = {0};

    for (size_t i = 0; i < s->plan.package_count; i++) {
        const struct install_package *p = &s->plan.packages[i];
        struct hash text;

        if (p->patch && p->effect != INSTALL_KEPT &&
            !is_seen(s, p->patch->hash) &&
            patched_parse_hash(p->patch->hash, &text) &&
            !state_put_trust(state, STATE_SEEN_PATCH, SEEN, &text, STR(""),
                             &ignored))
            return; /* shown again next time */
    }
}
