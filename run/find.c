#include "find.h"

#include "base/digest.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/clients_scope.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/name.h"
#include "mapm/patched.h"
#include "mapm/provision.h"
#include "mapm/skill_roots.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#define SKILLS_FOLDER PROVISION_SKILLS
/* Folder of a catalog, in which mapm new writes. */
#define AUTHORS_FOLDER "skills"
#define NEAR_MAX_EDITS 3

/* A search for a name, with the places that were searched and similar names. */
struct search {
    struct context *cx;
    struct store *store;
    struct layer *workspace;
    struct str name;
    struct text_nearest near;
};

static bool is_qualified(struct str name)
{
    size_t slash = str_find_char(name, '/');

    return slash != SIZE_MAX &&
           name_scope_is_valid(str_slice(name, 0, slash)) &&
           name_is_kebab(str_from_index(name, slash + 1));
}

static bool is_origin(struct str name)
{
    return str_find(name, STR("://")) != SIZE_MAX ||
           str_starts(name, STR("file:"));
}

static bool is_path(struct str name)
{
    if (str_is(name, ".") || str_is(name, "..") || str_is(name, "~"))
        return true;
    return str_has_char(name, '/') && !is_qualified(name) && !is_origin(name);
}

static void note_near(struct search *s, struct str candidate)
{
    text_nearest_add_path(&s->near, s->name, candidate, NEAR_MAX_EDITS);
}

/* --- installed ------------------------------------------------------------------ */

static bool is_meant(const struct lock_entry *entry, struct str name)
{
    return str_eq(path_last(entry->name), name) ||
           str_eq(path_last(entry->place), name) || str_eq(entry->origin, name);
}

/* Finds lock entries by name. A short name may match several, a qualified one
 * at most one. */
static bool find_entry(struct search *s, const struct layer *l,
                       const struct lock_entry **out, struct err *e)
{
    const struct lock_entry **entries, *found = NULL;
    size_t count, matches = 0;

    *out = layer_find(l, DOC_SKILL, s->name);
    if (*out)
        return true;
    entries = layer_entries(l, &s->cx->arena, &count);
    for (size_t i = 0; i < count; i++) {
        if (entries[i]->kind != DOC_SKILL)
            continue;
        note_near(s, entries[i]->name);
        if (!is_meant(entries[i], s->name))
            continue;
        found = entries[i];
        matches++;
    }
    *out = found;
    if (matches < 2)
        return true;
    err_set(e, ERR_USAGE, "\"%.*s\" could be several skills", STR_ARG(s->name));
    for (size_t i = 0; i < count; i++)
        if (entries[i]->kind == DOC_SKILL && is_meant(entries[i], s->name))
            err_also(e, "%.*s", STR_ARG(entries[i]->name));
    return err_hint(e, "name one in full, as %.*s", STR_ARG(found->name));
}

static bool repair_hint(const struct layer *l, struct err *e)
{
    const char *where = l->is_global ? " --global" : "";

    if (e->code != ERR_EDITED)
        return false;
    return err_hint(e,
                    "mapm install%s puts back what is missing, mapm "
                    "install%s --force also what was changed",
                    where, where);
}

/* Returns whether the code means that the skill is missing, no longer a skill,
 * too large, or unreadable. */
static bool is_about_files(enum err_code code)
{
    return code == ERR_NOT_FOUND || code == ERR_FRONTMATTER ||
           code == ERR_NAME || code == ERR_FORMAT || code == ERR_ORIGIN;
}

/* Reads the digest of an installed package; "" for a folder of this machine. */
static bool find_digest(struct search *s, const struct lock_entry *entry,
                        bool local, struct str *out, struct err *e)
{
    struct hash digest;

    *out = local ? STR("") : entry->digest;
    if (local || !entry->patch.n)
        return true;
    if (!patched_installed(s->store, entry->digest, entry->patch, &digest, e))
        return err_wrap(e, "%.*s", STR_ARG(entry->name));
    *out = digest_format(&digest, &s->cx->arena);
    return true;
}

static bool read_installed(struct search *s, const struct layer *l,
                           const struct lock_entry *entry,
                           struct run_skill *out, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct run_skill r = {
        .fqn = entry->name,
        .digest = STR(""),
        .is_external = !layer_is_local(l, entry),
        .is_global = l->is_global,
        .entry = entry,
    };

    if (metaskill_read(fs_join(l->path, layer_place(l, entry, a), a),
                       &s->workspace->limits, a, &r.skill, e)) {
        if (!run_skill_check(s->store, entry, &r.skill, e))
            return l->is_global ? repair_hint(l, e) : false;
        if (!find_digest(s, entry, layer_is_local(l, entry), &r.digest, e))
            return false;
        *out = r;
        return true;
    }
    if (!is_about_files(e->code))
        return err_wrap(e, "%.*s cannot be read", STR_ARG(entry->name));
    e->code = ERR_EDITED;
    err_wrap(e, "%.*s is not what was installed", STR_ARG(entry->name));
    return repair_hint(l, e);
}

/* --- local ------------------------------------------------------------------------ */

/*
 * "/a/b/.agents/skills/x/y" -> "/a/b" and ".agents/skills/x", from `*at` on;
 * of ".agents/.mapm/skills/x", too. False when the rest is in no such folder.
 * Packages may hold such folders.
 */
static bool next_place(struct str folder, size_t *at, struct str *root,
                       struct str *place)
{
    struct str mark = STR("/.agents/"), rest, kind, name;
    size_t found = str_find(str_from_index(folder, *at), mark);

    if (found == SIZE_MAX)
        return false;
    found += *at;
    *at = found + 1;
    *root = str_slice(folder, 0, found);
    rest = str_from_index(folder, found + mark.n);
    *place = STR("");
    if (str_starts(rest, STR(".mapm/")))
        rest = str_from_index(rest, sizeof ".mapm/" - 1);
    if (str_cut(&rest, '/', &kind) && rest.p && str_cut(&rest, '/', &name))
        *place =
            str_slice(folder, found + 1, (size_t)(name.p + name.n - folder.p));
    return true;
}

/* Looks up the folder in mapm.lock; a symbolic link does not count as the
 * folder. */
static bool find_in_lock(struct search *s, int dirfd, struct str root,
                         const char *name, struct str member, struct str place,
                         struct lock_entry *out, bool *found, struct err *e)
{
    struct arena *a = &s->cx->arena;
    CLEANUP_FD int fd = -1;
    struct str text;
    struct lock lock;

    if (!fs_open_file_at(dirfd, name, &fd, NULL, e)) {
        if (e->code != ERR_NOT_FOUND)
            return false;
        err_clear(e);
        return true;
    }
    if (!authorize_file(s->cx, fd, fs_join(root, str_cstr(name), a), root, e) ||
        !fs_read_fd(fd, LOCK_MAX_BYTES, a, &text, e) ||
        !lock_parse(text, name, a, &lock, e))
        return false;
    place = layer_listed_place(place, a);
    for (size_t i = 0; i < lock.count && !*found; i++) {
        if (!str_eq(lock.entries[i].place, place) ||
            !lock_is_of(&lock.entries[i], member))
            continue;
        *out = lock.entries[i];
        *found = true;
    }
    return true;
}

/* Finds the package that is installed at `place`, if there is one. */
static bool find_package(struct search *s, struct str root, struct str place,
                         struct lock_entry *out, bool *found, bool *local,
                         struct err *e)
{
    CLEANUP_FD int fd = -1, top = -1;
    struct str folder, member;

    *found = *local = false;
    if (root.n == 0)
        root = STR("/");
    if (!layer_find_root(s->cx, root, &folder, &member, e) ||
        !fs_open_dir(folder.p, &top, e) ||
        !find_in_lock(s, top, folder, "mapm.lock", member, place, out, found,
                      e))
        return false;
    if (*found)
        return true;
    if (!fs_open_dir(str_dup0(root, &s->cx->arena), &fd, e) ||
        !find_in_lock(s, fd, root, "mapm.local.lock", str_make("", 0), place,
                      out, found, e))
        return false;
    *local = *found;
    return true;
}

/* Row 21: trust in a package covers the program that its SKILL.md names, and no
 * other one in it. */
static bool refuse_part(const struct lock_entry *entry, struct str folder,
                        struct err *e)
{
    err_set(e, ERR_REFUSED,
            "%.*s is a part of %.*s, which came by install: only the program "
            "of a package itself runs",
            STR_ARG(folder), STR_ARG(entry->name));
    return err_hint(e, "a copy of the folder elsewhere is yours, and runs");
}

/* Finds a package of the user's library, whose skills are in the home and whose
 * lock is not. */
static bool find_library_place(struct search *s, struct str folder,
                               struct str *root, struct str *place,
                               bool *is_part)
{
    struct arena *a = &s->cx->arena;
    struct str skills = clients_user_skills(s->cx->home, a), rest, name;

    if (!skills.n || folder.n <= skills.n || !fs_path_is_within(folder, skills))
        return false;
    *root = fs_join(store_home(s->store), STR("global"), a);
    if (access(root->p, F_OK) < 0)
        return false;
    rest = str_from_index(folder, skills.n + 1);
    str_cut(&rest, '/', &name);
    *place = fs_join(STR(SKILLS_FOLDER), name, a);
    *is_part = rest.n > 0;
    return true;
}

/*
 * X27: an installed package is recognized when it is named by its path, or
 * through a link, in any workspace.
 */
static bool claim_installed(struct search *s, struct run_skill *r,
                            struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct lock_entry *entry = arena_new(a, struct lock_entry);
    struct str folder = r->skill.folder, root, place;
    bool found = false, local = false, is_part = false;
    size_t at = 0;

    if (find_library_place(s, folder, &root, &place, &is_part) &&
        !find_package(s, root, place, entry, &found, &local, e))
        return err_wrap(e, "cannot tell how %.*s came here", STR_ARG(folder));
    while (!found && next_place(folder, &at, &root, &place)) {
        if (!find_package(s, root, place, entry, &found, &local, e))
            return err_wrap(e, "cannot tell how %.*s came here",
                            STR_ARG(folder));
        is_part = folder.n > root.n + 1 + place.n;
    }
    if (!found)
        return true;
    if (is_part || entry->kind != DOC_SKILL)
        return local || refuse_part(entry, folder, e);
    if (!run_skill_check(s->store, entry, &r->skill, e))
        return false;
    r->entry = entry;
    r->fqn = entry->name;
    r->is_external = !local;
    r->is_global =
        str_eq(root, fs_join(store_home(s->store), STR("global"), a));
    return find_digest(s, entry, local, &r->digest, e);
}

/* Reads a skill from its folder `fd`, with the resolved path `real`. An
 * installed package is trusted by content, any other by its owner. */
static bool read_local(struct search *s, int fd, struct str real,
                       struct str name, struct run_skill *out, struct err *e)
{
    struct run_skill r = {.digest = STR("")};

    if (!metaskill_read_open(fd, real, name, &s->workspace->limits,
                             &s->cx->arena, &r.skill, e))
        return false;
    r.fqn = r.skill.document.fqn;
    if (!claim_installed(s, &r, e) ||
        (!r.is_external && !authorize_file(s->cx, fd, real, real, e)))
        return false;
    *out = r;
    return true;
}

/* Reads the folder `name` ("x", "group/x") of `parent`, a folder of skills of
 * the workspace, with the same checks as skill load, list and MCP. */
static bool read_below(struct search *s, struct str parent, struct str name,
                       struct run_skill *out, struct err *e)
{
    struct library_root root = {.source = LIBRARY_WORKSPACE, .path = parent};
    CLEANUP_FD int fd = -1;
    struct str real;

    skill_roots_bind(s->cx, s->workspace->path, &root);
    if (!library_open_in(&root, name, &s->cx->arena, &fd, &real, e))
        return err_wrap(e, "open the folder of skill '%.*s'", STR_ARG(name));
    return read_local(s, fd, real, path_last(name), out, e);
}

/* Reads a lock entry; a package of the workspace itself is read from its
 * folder. */
static bool read_entry(struct search *s, const struct layer *l,
                       const struct lock_entry *entry, struct run_skill *out,
                       struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str place = layer_place(l, entry, a);
    size_t slash = str_find_last(place, '/');

    return layer_is_own(l, entry)
               ? read_below(s, fs_join(l->path, str_slice(place, 0, slash), a),
                            str_from_index(place, slash + 1), out, e)
               : read_installed(s, l, entry, out, e);
}

/* Returns whether skills in the folder `parent` can be run by name. */
static bool is_root(struct search *s, struct str parent)
{
    struct arena *a = &s->cx->arena;
    struct str authors = fs_join(s->workspace->path, STR(AUTHORS_FOLDER), a);
    struct library_root *roots;
    struct err ignored = {0};
    size_t count;

    if (str_eq(parent, authors))
        return true;
    if (!skill_roots_places(s->cx, true, &roots, &count, &ignored))
        return false;
    for (size_t i = 0; i < count; i++)
        if (roots[i].source == LIBRARY_WORKSPACE &&
            str_eq(roots[i].path, parent))
            return true;
    return false;
}

static bool read_named(struct search *s, struct str folder,
                       struct run_skill *out, struct err *e)
{
    struct arena *a = &s->cx->arena;
    size_t slash = str_find_last(folder, '/');
    struct str parent = str_slice(folder, 0, slash);
    struct str name = str_from_index(folder, slash + 1), real;
    CLEANUP_FD int fd = -1;

    if (name.n && is_root(s, parent))
        return read_below(s, arena_str(a, parent), name, out, e);
    /* the name is that of the resolved folder, except for a link in
     * .agents/skills */
    return fs_real_path(str_dup0(folder, a), a, &real, e) &&
           fs_open_dir_at(AT_FDCWD, real.p, &fd, e) &&
           read_local(s, fd, real, path_last(real), out, e);
}

static bool read_path(struct search *s, struct run_skill *out, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str name = s->name, folder;

    if (name.p[0] == '~' && s->cx->home.n && (name.n == 1 || name.p[1] == '/'))
        name = arena_printf(a, "%.*s%.*s", STR_ARG(s->cx->home),
                            STR_ARG(str_from_index(name, 1)));
    folder = fs_normalize(fs_join(s->cx->cwd, name, a), a);
    /* Completion of a path may end at the file in the folder. */
    if (str_is(path_last(folder), "SKILL.md") ||
        str_is(path_last(folder), "SKILL.star"))
        folder = str_slice(folder, 0, str_find_last(folder, '/'));
    if (!read_named(s, folder, out, e)) {
        if (e->code == ERR_NOT_FOUND)
            err_hint(e, "a path names a skill's folder, one with a SKILL.md");
        return false;
    }
    out->is_path = true;
    return true;
}

static const char *const local_folders[] = {SKILLS_FOLDER, AUTHORS_FOLDER};
enum { LOCAL_FOLDERS = sizeof local_folders / sizeof *local_folders };

/* Finds a folder of `parent` that is not in a lock, by its name or the name in
 * its SKILL.md. */
static bool find_below(struct search *s, const char *parent, bool *found,
                       struct run_skill *out, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str leaf = path_last(s->name), top, folder;
    struct run_skill r;

    if (!name_is_kebab(leaf))
        return true;
    top = fs_join(s->workspace->path, str_cstr(parent), a);
    folder = library_find_folder(top, leaf, a);
    if (!folder.n)
        return true;
    if (!read_below(s, top, folder, &r, e))
        return false;
    *found = str_eq(s->name, leaf) || str_eq(s->name, r.fqn);
    if (*found)
        *out = r;
    return true;
}

static void note_names_below(struct search *s, const char *parent)
{
    CLEANUP_FD int fd = -1;
    struct arena *a = &s->cx->arena;
    struct str folder = fs_join(s->workspace->path, str_cstr(parent), a);
    struct fs_entry *entries;
    struct err ignored = {0};
    size_t count;

    if (!fs_open_dir(folder.p, &fd, &ignored) ||
        !fs_list_at(fd, "", PACKAGE_MAX_FILES, a, &entries, &count, &ignored))
        return;
    for (size_t i = 0; i < count; i++)
        if (entries[i].type == DT_DIR || entries[i].type == DT_LNK)
            note_near(s, entries[i].name);
}

/* -g excludes the workspace. */
static void note_local_names(struct search *s)
{
    if (s->cx->use_global)
        return;
    for (size_t i = 0; i < LOCAL_FOLDERS; i++)
        note_names_below(s, local_folders[i]);
}

/* --- all of it -------------------------------------------------------------------- */

static bool find_here(struct search *s, bool *found, struct run_skill *out,
                      struct err *e)
{
    const struct lock_entry *entry;

    if (!find_entry(s, s->workspace, &entry, e))
        return false;
    *found = entry != NULL;
    return entry ? read_entry(s, s->workspace, entry, out, e)
                 : find_below(s, SKILLS_FOLDER, found, out, e);
}

static bool find_global(struct search *s, bool *found, struct run_skill *out,
                        struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str path = fs_join(store_home(s->store), STR("global"), a);
    const struct lock_entry *entry;
    struct layer l;
    bool ok;

    *found = false;
    if (access(path.p, F_OK) < 0)
        return true;
    if (!layer_open_global(s->cx, LAYER_READ, &l, e))
        return false;
    ok = find_entry(s, &l, &entry, e);
    if (ok && entry) {
        ok = read_entry(s, &l, entry, out, e);
        *found = true;
    }
    layer_close(&l);
    return ok;
}

/* Searches the folder of new skills last, since commands may write there:
 * files that a run created cannot replace a skill that is trusted by name
 * (row 21). */
static bool find_authored(struct search *s, bool *found, struct run_skill *out,
                          struct err *e)
{
    return find_below(s, AUTHORS_FOLDER, found, out, e);
}

static void note_other(struct search *s)
{
    struct arena *a = &s->cx->arena;
    struct str name = fs_join(STR(AUTHORS_FOLDER), path_last(s->name), a);

    if (access(fs_join(s->workspace->path, name, a).p, F_OK) == 0)
        context_note(s->cx,
                     "this is the one of your library; ./%.*s is another",
                     STR_ARG(name));
}

static bool not_found(struct search *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str folder = fs_join(s->cx->cwd, s->name, a);

    err_set(e, ERR_NOT_FOUND, "there is no metaskill \"%.*s\"",
            STR_ARG(s->name));
    if (is_origin(s->name))
        return err_hint(e, "mapm install %.*s, then run it by its name",
                        STR_ARG(s->name));
    if (access(fs_join(folder, STR("SKILL.md"), a).p, F_OK) == 0)
        return err_hint(e, "for the folder say ./%.*s", STR_ARG(s->name));
    note_local_names(s);
    if (s->near.count && str_eq(s->near.found[0], s->name))
        return err_hint(e, "the folder of %.*s has no SKILL.md",
                        STR_ARG(s->name));
    if (s->near.count)
        return err_hint(e, "did you mean %.*s?", STR_ARG(s->near.found[0]));
    return err_hint(e, "mapm list shows what is installed");
}

static bool find(struct search *s, struct run_skill *out, struct err *e)
{
    bool is_here = !s->cx->use_global, found = false;

    if (s->name.n == 0)
        return not_found(s, e);
    if (is_path(s->name))
        return read_path(s, out, e);
    if (is_here && !find_here(s, &found, out, e))
        return false;
    if (found)
        return true;
    if (!find_global(s, &found, out, e))
        return false;
    if (found && is_here)
        note_other(s);
    if (!found && is_here && !find_authored(s, &found, out, e))
        return false;
    return found || not_found(s, e);
}

bool run_skill_read(struct context *cx, struct store *store, struct layer *l,
                    const struct library *library,
                    const struct library_skill *known, struct run_skill *out,
                    struct err *e)
{
    struct search s = {.cx = cx, .store = store, .workspace = l};
    CLEANUP_FD int fd = -1;
    struct str real;

    if (!library_open_folder(library, known, &cx->arena, &fd, &real, e) ||
        !read_local(&s, fd, real, path_last(known->folder), out, e))
        return false;
    out->is_path = true;
    out->workspace = l->path;
    return true;
}

bool run_skill_find(struct context *cx, struct store *store, struct layer *l,
                    struct str name, struct run_skill *out, struct err *e)
{
    struct search s = {.cx = cx, .store = store, .workspace = l, .name = name};

    if (!find(&s, out, e))
        return false;
    out->workspace = l->path;
    return true;
}
