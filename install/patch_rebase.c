#include "base/diff.h"
#include "base/fs.h"
#include "base/patch.h"
#include "base/path.h"
#include "base/place.h"
#include "mapm/doc_kind.h"
#include "mapm/package_files.h"
#include "mapm/patched.h"

#include <stdlib.h>
#include <string.h>

#include "install_session.h"

/* Rebases a patch from the locked package to the new one, three-way per file.
 * If both sides changed the same lines, nothing is changed and both versions
 * are kept. A patch that does not apply to its package, as after a merge of a
 * branch with the patch and one with an update, was made for a version that is
 * not known: the lines of its hunks are the base then. [D7] */

#define KEPT_FOLDER ".agents/.mapm/rebase"

/* Versions of a file: locked, patched, new, and number of versions. */
enum { BASE, OURS, THEIRS, SIDES };

struct rebased {
    struct str path;
    struct patch_side sides[SIDES];
    struct patch_side merged;
    const char *conflict; /* NULL: none */
};

struct rebase {
    struct install_session *s;
    struct install_package *p;
    struct arena *arena;
    struct package_files versions[SIDES];
    bool is_fitted; /* to the new package, without the others */
    struct rebased *files;
    size_t count, conflicts;
};

/* --- the versions --------------------------------------------------------- */

static bool read_side(struct rebase *r, int which, struct str path,
                      struct patch_side *out, struct err *e)
{
    const struct package_files *v = &r->versions[which];
    const struct package_file *f = package_files_find(v, path);

    *out = (struct patch_side){.text = STR("")};
    if (!f)
        return true;
    out->mode = f->executable ? PATCH_PROGRAM : PATCH_FILE;
    return store_read(v->store, &f->hash, PATCH_FILE_MAX_BYTES, r->arena,
                      &out->text, e);
}

static bool read_version(struct rebase *r, int which, const struct hash *digest,
                         struct err *e)
{
    struct package_files *v = &r->versions[which];
    struct package_file *files;

    v->store = r->s->store;
    if (!store_read_listing(v->store, digest, r->arena, &files, &v->count, e))
        return false;
    v->files = files;
    return true;
}

/* Reads the versions; `*found` is false if the patch was not made for the
 * locked package and must apply unchanged. */
static bool read_versions(struct rebase *r, bool *found, struct err *e)
{
    const struct lock_entry *b = r->p->before;
    struct patched ours;
    struct err ignored = {0};
    struct hash digest;

    *found = false;
    if (!patched_parse_hash(b->digest, &digest))
        return true;
    if (!read_version(r, BASE, &digest, e)) {
        err_wrap(e,
                 "%.*s was made for a version of %.*s that is not in the "
                 "store",
                 STR_ARG(r->p->patch->file), STR_ARG(b->name));
        return err_hint(e, "mapm install fetches it: run it first");
    }
    if (!patched_apply(r->s->store, &digest, r->p->patch->text,
                       r->p->patch->file.p, true, r->arena, &ours, &ignored))
        return true;
    *found = true;
    r->versions[OURS] =
        (struct package_files){r->s->store, ours.files, ours.count};
    return read_version(r, THEIRS, &package_node(r->p)->digest, e);
}

/* --- three-way ------------------------------------------------------------ */

static bool is_same(const struct patch_side *x, const struct patch_side *y)
{
    return !x->mode == !y->mode && str_eq(x->text, y->text);
}

static void merge_texts(struct rebase *r, struct rebased *f)
{
    CLEANUP(buf_done) struct buf b = {0};
    size_t places;

    buf_init(&b, 2 * PATCH_FILE_MAX_BYTES + 4096);
    places = diff_merge(f->sides[BASE].text, f->sides[OURS].text,
                        f->sides[THEIRS].text, "patch", "upstream", &b);
    f->merged = f->sides[THEIRS];
    f->merged.text = arena_str(r->arena, buf_str(&b));
    if (places)
        f->conflict = "both changed the same lines";
}

static void merge_file(struct rebase *r, struct rebased *f)
{
    const struct patch_side *base = &f->sides[BASE], *ours = &f->sides[OURS],
                            *theirs = &f->sides[THEIRS];
    struct patch_file text = {f->path, *base, *theirs};

    if (is_same(ours, theirs) || is_same(base, ours)) {
        f->merged = *theirs;
    } else if (is_same(base, theirs)) {
        f->merged = *ours;
        if (ours->mode && theirs->mode)
            f->merged.mode = theirs->mode;
    } else if (!ours->mode) {
        f->conflict = "the patch deletes it, upstream changed it";
        f->merged = *theirs;
    } else if (!theirs->mode) {
        f->conflict = "the patch changes it, upstream deleted it";
        f->merged = *ours;
    } else if (patch_is_binary(&text)) {
        f->conflict = "the patch changes it, upstream made it binary";
        f->merged = *ours;
    } else {
        merge_texts(r, f);
    }
    r->conflicts += f->conflict != NULL;
}

static bool read_sides(struct rebase *r, struct rebased *f, struct err *e)
{
    for (int k = 0; k < SIDES; k++)
        if (!read_side(r, k, f->path, &f->sides[k], e))
            return false;
    merge_file(r, f);
    return true;
}

/* Makes a base and our side of the new file and the lines of the patch. */
static bool fit_sides(struct rebase *r, struct rebased *f,
                      const struct patch_change *c, struct err *e)
{
    struct patch_side *theirs = &f->sides[THEIRS];
    unsigned mode;
    bool is_whole = c->is_new || c->is_gone, fits;

    if (!read_side(r, THEIRS, f->path, theirs, e))
        return false;
    mode = theirs->mode ? theirs->mode : PATCH_FILE;
    fits = patch_fit(c, is_whole ? STR("") : theirs->text, r->arena,
                     &f->sides[BASE].text, &f->sides[OURS].text);
    f->sides[BASE].mode = c->is_new ? 0 : mode;
    f->sides[OURS].mode = c->is_gone ? 0 : mode;
    merge_file(r, f);
    if (!fits && !is_whole && !f->conflict) {
        f->conflict = "the lines of the patch are others there";
        r->conflicts++;
    }
    return true;
}

static bool merge(struct rebase *r, struct err *e)
{
    struct patch patch;

    if (!patch_parse(r->p->patch->text, r->p->patch->file.p, r->arena, &patch,
                     e))
        return false;
    r->files = arena_array(r->arena, patch.count + 1, sizeof *r->files);
    for (size_t i = 0; i < patch.count; i++) {
        struct rebased *f = &r->files[r->count++];

        f->path = patch.changes[i].path;
        if (!(r->is_fitted ? fit_sides(r, f, &patch.changes[i], e)
                           : read_sides(r, f, e)))
            return err_wrap(e, "%.*s", STR_ARG(f->path));
    }
    return true;
}

static bool format(const struct rebase *r, struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, PATCH_MAX_BYTES);
    for (size_t i = 0; i < r->count; i++) {
        const struct rebased *f = &r->files[i];
        const struct patch_file file = {f->path, f->sides[THEIRS], f->merged};

        patch_format(&file, &b);
    }
    *out = arena_str(&r->s->cx->arena, buf_str(&b));
    return buf_check(&b, r->p->patch->file.p, e);
}

/* --- a conflict ----------------------------------------------------------- */

static void add_kept(struct rebase *r, struct place_file *out, size_t *count,
                     const char *folder, const struct rebased *f,
                     const struct patch_side *side)
{
    if (!side->mode)
        return;
    out[(*count)++] = (struct place_file){
        arena_printf(r->arena, "%s/%.*s", folder, STR_ARG(f->path)).p,
        side->text};
}

/* Reads a kept file; returns false if it cannot be read. */
static bool read_kept(struct rebase *r, int folder, const char *name,
                      const char *which, struct str path,
                      struct patch_side *out, struct err *e)
{
    const char *at =
        arena_printf(r->arena, "%s/%s/%.*s", name, which, STR_ARG(path)).p;

    *out = (struct patch_side){.text = STR("")};
    if (fs_read_file_at(folder, at, PATCH_FILE_MAX_BYTES, r->arena, &out->text,
                        e)) {
        out->mode = PATCH_FILE;
        return true;
    }
    if (e->code != ERR_NOT_FOUND)
        return false;
    err_clear(e);
    return true;
}

/* Returns whether the folder belongs to this conflict and may contain its
 * resolution. */
static bool is_kept(struct rebase *r, int folder, const char *name)
{
    struct patch_side ours, theirs;
    struct err ignored = {0};

    for (size_t i = 0; i < r->count; i++) {
        const struct rebased *f = &r->files[i];

        if (!read_kept(r, folder, name, "ours", f->path, &ours, &ignored) ||
            !read_kept(r, folder, name, "theirs", f->path, &theirs, &ignored) ||
            !is_same(&ours, &f->sides[OURS]) ||
            !is_same(&theirs, &f->sides[THEIRS]))
            return false;
    }
    return fs_exists_at(folder, name);
}

/* Returns the line of a conflict marker, or 0 if there is none. */
static unsigned find_marker(struct str text)
{
    struct str line;

    for (unsigned n = 1; str_line(&text, &line); n++)
        if (str_is(line, "<<<<<<< patch") || str_is(line, ">>>>>>> upstream"))
            return n;
    return 0;
}

static bool take_file(struct rebase *r, int folder, const char *name,
                      struct rebased *f, struct err *e)
{
    unsigned mode =
        f->sides[THEIRS].mode ? f->sides[THEIRS].mode : f->sides[OURS].mode;
    unsigned line;

    if (!read_kept(r, folder, name, "merged", f->path, &f->merged, e))
        return err_wrap(e, "%s/merged/%.*s", name, STR_ARG(f->path));
    line = find_marker(f->merged.text);
    if (line) {
        err_set(e, ERR_PATCH, "%.*s:%u still has both versions",
                STR_ARG(f->path), line);
        return err_hint(e, "edit " KEPT_FOLDER "/%s/merged/%.*s", name,
                        STR_ARG(f->path));
    }
    if (f->merged.mode)
        f->merged.mode = mode;
    return true;
}

/* --continue: what a person made of merged/. */
static bool take_resolution(struct rebase *r, const char *name, struct err *e)
{
    CLEANUP_FD int root = -1;
    CLEANUP_FD int folder = -1;
    struct err none = {0};

    if (!fs_open_dir(str_dup0(r->s->layer.path, r->arena), &root, e))
        return false;
    if (!fs_open_dir_at(root, KEPT_FOLDER, &folder, &none) ||
        !is_kept(r, folder, name)) {
        err_set(e, ERR_PATCH,
                KEPT_FOLDER "/%s is not of this version of both sides", name);
        return err_hint(e, "the same command without --continue keeps them");
    }
    for (size_t i = 0; i < r->count; i++)
        if (!take_file(r, folder, name, &r->files[i], e))
            return false;
    r->s->resolved_patches = arena_grow(
        &r->s->cx->arena, r->s->resolved_patches, r->s->resolved_patch_count,
        &r->s->resolved_patch_capacity, sizeof *r->s->resolved_patches);
    r->s->resolved_patches[r->s->resolved_patch_count++] =
        arena_str(&r->s->cx->arena, str_cstr(name)).p;
    return true;
}

void session_forget_conflicts(struct install_session *s)
{
    CLEANUP_FD int root = -1;
    struct err ignored = {0};

    if (s->resolved_patch_count == 0 ||
        !fs_open_dir(str_dup0(s->layer.path, &s->cx->arena), &root, &ignored))
        return;
    for (size_t i = 0; i < s->resolved_patch_count; i++) {
        const char *path = arena_printf(&s->cx->arena, KEPT_FOLDER "/%s",
                                        s->resolved_patches[i])
                               .p;

        if (!fs_remove_tree_at(root, path, &ignored))
            err_clear(&ignored);
    }
}

static bool keep_anew(int folder, const char *name,
                      const struct place_file *files, size_t count,
                      struct err *e)
{
    return (!fs_exists_at(folder, name) ||
            fs_remove_tree_at(folder, name, e)) &&
           place_folder(folder, name, files, count, e);
}

/* Writes the versions of files that the patch changes; existing edits in the
 * folder are kept. */
static bool keep_versions(struct rebase *r, const char *name, struct err *e)
{
    CLEANUP_FD int root = -1;
    CLEANUP_FD int folder = -1;
    struct place_file *files =
        arena_array(r->arena, 3 * r->count + 1, sizeof *files);
    size_t count = 0;

    for (size_t i = 0; i < r->count; i++) {
        const struct rebased *f = &r->files[i];

        add_kept(r, files, &count, "ours", f, &f->sides[OURS]);
        add_kept(r, files, &count, "theirs", f, &f->sides[THEIRS]);
        add_kept(r, files, &count, "merged", f, &f->merged);
    }
    return fs_open_dir(str_dup0(r->s->layer.path, r->arena), &root, e) &&
           fs_make_dirs_at(root, KEPT_FOLDER, 0755, e) &&
           fs_open_dir_at(root, KEPT_FOLDER, &folder, e) &&
           (is_kept(r, folder, name) ||
            keep_anew(folder, name, files, count, e));
}

/* Returns the name of the folder, such as "skill-acme__x". */
static const char *kept_name(const struct rebase *r)
{
    struct str name = path_last(r->p->patch->file);

    return str_dup0(str_slice(name, 0, name.n - strlen(".patch")), r->arena);
}

/* Continues a comparison without the patch. */
static bool leave_out(struct rebase *r)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct install_package *p = r->p;

    buf_init(&b, PATCH_MAX_BYTES);
    buf_printf(&b, "%.*s conflicts with what upstream changed and is left out",
               STR_ARG(p->patch->file));
    for (size_t i = 0; i < r->count; i++)
        if (r->files[i].conflict)
            buf_printf(&b, "; %.*s: %s", STR_ARG(r->files[i].path),
                       r->files[i].conflict);
    p->conflict = str_dup0(buf_str(&b), &r->s->cx->arena);
    context_warn(r->s->cx, "%s %.*s: %s", doc_kind_name(p->package->kind),
                 STR_ARG(p->package->fqn), p->conflict);
    p->patch = NULL;
    return true;
}

static bool refuse(struct rebase *r, struct err *e)
{
    const struct package *p = r->p->package;
    const char *kind = doc_kind_name(p->kind), *name = kept_name(r);
    struct str file = r->p->patch->file;

    if (!r->s->request->dry_run && !keep_versions(r, name, e))
        return false;
    err_clear(e);
    e->code = ERR_PATCH;
    for (size_t i = 0; i < r->count; i++)
        if (r->files[i].conflict)
            err_also(e, "%.*s: %s", STR_ARG(r->files[i].path),
                     r->files[i].conflict);
    err_wrap(e, "%.*s conflicts with what upstream changed in %s %.*s",
             STR_ARG(file), kind, STR_ARG(p->fqn));
    r->s->unmergeable = r->p->before;
    if (r->s->request->dry_run)
        return err_hint(
            e, "without --dry-run both versions are kept in " KEPT_FOLDER);
    return err_hint(e,
                    KEPT_FOLDER "/%s has ours/, theirs/ and merged/: edit "
                                "merged/, then the same command with "
                                "--continue",
                    name);
}

static bool set_patch(struct rebase *r, struct err *e)
{
    struct install_package *p = r->p;
    struct str text;

    if (!format(r, &text, e))
        return false;
    if (str_eq(text, p->patch->text))
        return true;
    session_set_patch(r->s, p->patch->file, text);
    p->patch = patches_find(&r->s->patches, p->patch->file);
    return true;
}

bool session_rebase_patch(struct install_session *s, struct install_package *p,
                          struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct rebase r = {.s = s, .p = p, .arena = &scratch};
    const struct lock_entry *b = p->before;
    bool found;

    if (!b || !b->patch.n || str_eq(b->digest, p->digest) ||
        !str_eq(b->patch, p->patch->hash))
        return true;
    if (!read_versions(&r, &found, e))
        return false;
    if (!found)
        return true;
    if (!merge(&r, e))
        return false;
    if (r.conflicts && s->request->compares)
        return leave_out(&r);
    if (r.conflicts && s->request->continues) {
        if (!take_resolution(&r, kept_name(&r), e)) {
            s->unmergeable = b;
            return false;
        }
    } else if (r.conflicts) {
        return refuse(&r, e);
    }
    return set_patch(&r, e);
}

/* Adds the way out to the failure `e`. */
static bool keep_unfitted(struct rebase *r, struct err *e)
{
    const char *name = kept_name(r);
    struct err problem = {0};

    if (r->s->request->dry_run)
        return err_hint(
            e, "without --dry-run both versions are kept in " KEPT_FOLDER);
    if (!keep_versions(r, name, &problem)) {
        *e = problem;
        return false;
    }
    return err_hint(
        e,
        KEPT_FOLDER "/%s has ours/, theirs/ and merged/: edit "
                    "merged/, then mapm %s --continue",
        name, r->s->request->command == INSTALL_UPDATE ? "update" : "install");
}

/* Returns whether the patch was made by mapm, so that it applied once; one that
 * was written by hand must be exact. */
static bool is_recorded(const struct install_session *s,
                        const struct install_package *p)
{
    return s->layers.whole.has_conflict ||
           (p->before && str_eq(p->before->patch, p->patch->hash));
}

bool session_fit_patch(struct install_session *s, struct install_package *p,
                       struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct rebase r = {.s = s, .p = p, .arena = &scratch, .is_fitted = true};
    struct err why = *e;

    err_clear(e);
    if (!read_version(&r, THEIRS, &package_node(p)->digest, e) || !merge(&r, e))
        return false;
    r.conflicts += !is_recorded(s, p);
    if (r.conflicts && s->request->compares)
        return leave_out(&r);
    if (r.conflicts && s->request->continues) {
        if (!take_resolution(&r, kept_name(&r), e))
            return false;
    } else if (r.conflicts) {
        *e = why;
        return keep_unfitted(&r, e);
    } else {
        context_note(s->cx,
                     "%.*s was made for another version of %.*s: its lines "
                     "have moved",
                     STR_ARG(p->patch->file), STR_ARG(p->package->fqn));
    }
    return set_patch(&r, e);
}
