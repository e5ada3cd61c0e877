#include "base/fs.h"
#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/origin.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer_read.h"
#include "workspace_folder.h"

/*
 * The layers of a workspace with members [D10]: one mapm.lock at the root, and
 * for each member the entries that name it.
 */

/* --- whose member ----------------------------------------------------------- */

/* Reads `members:` of the mapm.yaml in `folder`, if that may be used. */
static bool read_patterns(struct context *cx, struct str folder,
                          struct project *out, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct folder f = {.cx = cx, .path = folder};
    struct err ignored = {0};
    struct str text;

    *out = (struct project){0};
    if (!layer_holds_project(cx, folder, &ignored) ||
        !fs_open_dir(str_dup0(folder, &cx->arena), &fd, &ignored))
        return true;
    f.fd = fd;
    return folder_read_text(&f, "mapm.yaml", PROJECT_MAX_BYTES, &text, e) &&
           project_parse_members(
               text, fs_join(folder, STR("mapm.yaml"), &cx->arena).p,
               &cx->arena, out, e);
}

static bool names_member(const struct project *p, struct str path)
{
    for (size_t i = 0; i < p->member_count; i++)
        if (member_matches(p->members[i], path))
            return true;
    return false;
}

bool layer_find_root(struct context *cx, struct str folder, struct str *root,
                     struct str *member, struct err *e)
{
    struct arena *a = &cx->arena;
    struct str above = folder;
    struct project p;

    *root = arena_str(a, folder);
    *member = str_make("", 0);
    if (access(fs_join(folder, STR("mapm.yaml"), a).p, F_OK) < 0)
        return true;
    while (above.n > 1) {
        struct str path;

        above = path_folder(above);
        path = str_from_index(folder, above.n + (above.n > 1));
        if (!member_path_is_valid(path))
            return true; /* it cannot be a member of a folder further up
                          * either */
        if (!read_patterns(cx, above, &p, e))
            return false;
        if (!names_member(&p, path))
            continue;
        *root = arena_str(a, above);
        *member = arena_str(a, path);
        return true;
    }
    return true;
}

/* --- one member --------------------------------------------------------------- */

static bool rebase(struct str member, struct origin *o, struct arena *a,
                   struct err *e)
{
    return o->scheme != ORIGIN_OWN || member.n == 0 ||
           origin_parse_own(arena_printf(a, "./%.*s%s%.*s", STR_ARG(member),
                                         o->path.n ? "/" : "",
                                         STR_ARG(o->path)),
                            a, o, e);
}

bool layer_rebase_own(const struct layer *l, struct origin *o, struct arena *a,
                      struct err *e)
{
    return rebase(l->member, o, a, e);
}

bool layer_rebase_need(const struct layer *l, struct str path, struct origin *o,
                       struct arena *a, struct err *e)
{
    for (size_t i = 0; i < l->member_count; i++)
        if (path.n > l->members[i].n && path.p[l->members[i].n] == '/' &&
            str_starts(path, l->members[i]))
            return rebase(l->members[i], o, a, e);
    return true;
}

static bool refuse_lock(const struct layer *l, struct err *e)
{
    err_set(e, ERR_CONFLICT, "%.*s has a mapm.lock of its own",
            STR_ARG(l->member));
    return err_hint(e,
                    "a member is locked in %.*s/mapm.lock: remove "
                    "%.*s/mapm.lock and run mapm install, or take the folder "
                    "out of members",
                    STR_ARG(l->root), STR_ARG(l->member));
}

/* The root decides for all members where packages come from. */
static bool check_keys(const struct layer *l, const struct project *p,
                       const char *name, struct err *e)
{
    if (p->members_line) {
        err_set(e, ERR_REFUSED, "%s:%u: a member has no members", name,
                p->members_line);
        return err_hint(e, "name them all in %.*s/mapm.yaml", STR_ARG(l->root));
    }
    if (p->replace_count) {
        err_set(e, ERR_REFUSED, "%s:%u: \"replace\" is not for members", name,
                p->replaces[0].line);
        return err_hint(e,
                        "one origin has one version in all of the "
                        "workspace: write it into %.*s/mapm.yaml",
                        STR_ARG(l->root));
    }
    return true;
}

static bool parse_file(struct layer *l, struct context *cx, struct str text,
                       enum project_role role, const char *file,
                       struct project *out, struct err *e)
{
    struct arena *a = &cx->arena;
    const char *name = arena_printf(a, "%.*s/%s", STR_ARG(l->member), file).p;

    if (!project_parse(text, role, name, &l->rules, a, out, e) ||
        !check_keys(l, out, name, e))
        return false;
    for (size_t i = 0; i < out->root_count; i++)
        if (!layer_rebase_own(l, &out->roots[i].origin, a, e))
            return err_wrap(e, "%s:%u", name, out->roots[i].line);
    return role != PROJECT_WORKSPACE ||
           limits_apply(&l->limits, out, role, name, a, e);
}

/* The local lock belongs to this member only. */
static bool parse_local_lock(struct layer *l, struct context *cx, struct err *e)
{
    struct arena *a = &cx->arena;
    struct str *self = arena_new(a, struct str);
    struct lock *lock = &l->local_lock;

    *self = l->member;
    if (!lock_parse(
            l->local_lock_text,
            arena_printf(a, "%.*s/mapm.local.lock", STR_ARG(l->member)).p, a,
            lock, e))
        return false;
    for (size_t i = 0; i < lock->count; i++) {
        lock->entries[i].members = self;
        lock->entries[i].member_count = 1;
    }
    return true;
}

static bool read_member(struct layer *l, struct context *cx,
                        enum layer_mode mode, int root,
                        const struct project *of_root, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct folder f = {.cx = cx, .path = l->path};
    struct project *outer = arena_new(&cx->arena, struct project);

    *outer = *of_root;
    if (!fs_open_dir_at(root, str_dup0(l->member, &cx->arena), &fd, e))
        return err_wrap(e, "member %.*s", STR_ARG(l->member));
    f.fd = fd;
    if (!layer_check_files(cx, mode, l->path, e) ||
        !folder_read_text(&f, "mapm.yaml", PROJECT_MAX_BYTES, &l->yaml, e) ||
        !folder_read_text(&f, "mapm.local.yaml", PROJECT_MAX_BYTES,
                          &l->local_yaml, e) ||
        !folder_read_lock(&f, "mapm.local.lock", &l->local_lock_text, e))
        return false;
    if (fs_exists_at(fd, "mapm.lock"))
        return refuse_lock(l, e);
    layer_drop_tracked(l, cx, "mapm.local.yaml", &l->local_yaml);
    layer_drop_tracked(l, cx, "mapm.local.lock", &l->local_lock_text);
    if (!parse_file(l, cx, l->yaml, PROJECT_WORKSPACE, "mapm.yaml", &l->project,
                    e) ||
        !parse_file(l, cx, l->local_yaml, PROJECT_LOCAL, "mapm.local.yaml",
                    &l->local, e) ||
        !parse_local_lock(l, cx, e))
        return false;
    project_join_member(outer, &l->project, &cx->arena);
    return true;
}

/* Opens a part of `whole` with the files of `member`, or with the root's own if
 * "". */
static bool open_part(const struct layer *whole, struct context *cx,
                      enum layer_mode mode, int root, struct str member,
                      struct layer *out, struct err *e)
{
    *out = *whole;
    out->is_part = true;
    if (member.n == 0)
        return true;
    out->member = member;
    out->path = fs_join(whole->path, member, &cx->arena);
    out->provision = NULL;
    return read_member(out, cx, mode, root, &whole->project, e);
}

/* --- all of them -------------------------------------------------------------- */

static bool find_here(struct context *cx, struct str *root, struct str *member,
                      struct err *e)
{
    struct str folder = layer_workspace(cx);

    return layer_find_root(cx, folder, root, member, e);
}

/* Finds "apps/web", or "web" if it is the last name of one member only. */
static bool find_named(const struct layer *whole, struct str name,
                       struct str *out, struct err *e)
{
    size_t matches = 0;

    if (str_is(name, MEMBER_ROOT)) {
        *out = str_make("", 0);
        return true;
    }
    if (str_starts(name, STR("./")))
        name = str_from_index(name, 2);
    for (size_t i = 0; i < whole->member_count; i++) {
        if (str_eq(whole->members[i], name)) {
            *out = name;
            return true;
        }
        if (!str_eq(path_last(whole->members[i]), name))
            continue;
        matches++;
        *out = whole->members[i];
    }
    if (matches == 1)
        return true;
    err_set(e, matches ? ERR_USAGE : ERR_NOT_FOUND,
            matches ? "\"%.*s\" could be several members"
                    : "\"%.*s\" is not a member of the workspace",
            STR_ARG(name));
    for (size_t i = 0; i < whole->member_count; i++)
        if (!matches || str_eq(path_last(whole->members[i]), name))
            err_also(e, "%.*s", STR_ARG(whole->members[i]));
    return err_hint(e, whole->member_count
                           ? "name it by its path; . is the root"
                           : "\"members: [apps/*]\" in mapm.yaml of the root "
                             "makes folders members");
}

static bool open_whole(struct context *cx, enum layer_mode mode,
                       struct layer *out, struct str *member, struct err *e)
{
    struct str root;

    *out = (struct layer){0};
    if (!find_here(cx, &root, member, e))
        return false;
    *out = (struct layer){.path = root};
    if (!layer_open_path(cx, mode, out, e))
        return false;
    if (cx->member.n == 0 || find_named(out, cx->member, member, e))
        return true;
    layer_close(out);
    return false;
}

static bool index_part(struct layer *l, const size_t *numbers, size_t count,
                       const size_t *local, size_t local_count, struct arena *a,
                       struct err *e)
{
    layer_init_maps(l, a);
    return layer_collect_overrides(l, a, e) &&
           layer_index_entries(l, false, numbers, count, a, e) &&
           layer_index_entries(l, true, local, local_count, a, e);
}

static size_t *numbers_of(const struct lock *lock, struct str member,
                          struct arena *a, size_t *count)
{
    size_t *numbers = arena_array(a, lock->count + 1, sizeof *numbers);

    *count = 0;
    for (size_t i = 0; i < lock->count; i++)
        if (lock_is_of(&lock->entries[i], member))
            numbers[(*count)++] = i;
    return numbers;
}

/* Makes the layer of one member from the whole workspace. */
static bool take_part(struct context *cx, enum layer_mode mode,
                      struct layer *whole, struct str member, struct layer *out,
                      struct err *e)
{
    CLEANUP_FD int root = -1;
    struct arena *a = &cx->arena;
    size_t *numbers, *local, count, local_count;

    if (!fs_open_dir(whole->path.p, &root, e) ||
        !open_part(whole, cx, mode, root, member, out, e) ||
        (member.n && !layer_open_provision(out, cx, mode, e)))
        return false;
    numbers = numbers_of(&out->lock, member, a, &count);
    local = numbers_of(&out->local_lock, member, a, &local_count);
    return layer_read_origins(out, a, e) &&
           index_part(out, numbers, count, local, local_count, a, e);
}

bool layer_open_workspace(struct context *cx, enum layer_mode mode,
                          struct layer *out, struct err *e)
{
    struct layer whole;
    struct str member;
    bool ok;

    if (!open_whole(cx, mode, &whole, &member, e))
        return false;
    if (!layer_has_parts(&whole)) {
        *out = whole;
        return true;
    }
    ok = take_part(cx, mode, &whole, member, out, e);
    if (member.n) {
        if (!ok)
            layer_close(out);
        layer_close(&whole);
    } else if (!ok) {
        layer_close(&whole);
    }
    return ok;
}

/* A subfolder without mapm.yaml is not a workspace of its own. */
static void note_place(struct context *cx, const struct layers *all)
{
    const struct layer *here = &all->parts[all->here];

    if (cx->member.n == 0 && !here->is_global && !str_eq(cx->cwd, here->path) &&
        fs_path_is_within(cx->cwd, here->path))
        context_note(cx,
                     "%.*s is the workspace: there is no mapm.yaml here (mapm "
                     "init makes one)",
                     STR_ARG(here->path));
}

static bool open_parts(struct context *cx, enum layer_mode mode,
                       struct str here, struct layers *out, struct err *e)
{
    CLEANUP_FD int root = -1;
    const struct layer *whole = &out->whole;

    out->count = whole->member_count + 1;
    out->parts = arena_array(&cx->arena, out->count, sizeof *out->parts);
    if (!fs_open_dir(whole->path.p, &root, e))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        struct str member = i ? whole->members[i - 1] : str_make("", 0);

        if (!open_part(whole, cx, mode, root, member, &out->parts[i], e))
            return false;
        if (str_eq(member, here))
            out->here = i;
    }
    return true;
}

bool layer_open_all(struct context *cx, enum layer_mode mode,
                    struct layers *out, struct err *e)
{
    struct str here = str_make("", 0);

    *out = (struct layers){.count = 1};
    if (cx->use_global ? !layer_open_global(cx, mode, &out->whole, e)
                       : !open_whole(cx, mode, &out->whole, &here, e))
        return false;
    out->parts = &out->whole;
    if (layer_has_parts(&out->whole) && !open_parts(cx, mode, here, out, e)) {
        layer_close_all(out);
        return false;
    }
    note_place(cx, out);
    return true;
}

/* --- their maps ---------------------------------------------------------------- */

/* For one lock, the indices of the entries of each part, in order. */
struct shares {
    size_t **numbers, *counts;
};

static struct shares share_out(const struct layers *all,
                               const struct lock *lock, struct arena *a)
{
    size_t *capacities = arena_array(a, all->count, sizeof *capacities);
    struct shares s = {
        .numbers = arena_array(a, all->count, sizeof *s.numbers),
        .counts = arena_array(a, all->count, sizeof *s.counts),
    };
    struct map parts;

    map_init(&parts, a);
    for (size_t i = 0; i < all->count; i++)
        map_put(&parts,
                all->parts[i].member.n ? all->parts[i].member
                                       : STR(MEMBER_ROOT),
                &all->parts[i]);
    for (size_t i = 0; i < lock->count; i++) {
        const struct lock_entry *entry = &lock->entries[i];
        struct str root = STR(MEMBER_ROOT);
        const struct str *members =
            entry->member_count ? entry->members : &root;
        size_t count = entry->member_count ? entry->member_count : 1;

        for (size_t k = 0; k < count; k++) {
            const struct layer *part = map_find(&parts, members[k]);
            size_t n = part ? (size_t)(part - all->parts) : 0;

            if (!part) /* it was a member before */
                continue;
            s.numbers[n] = arena_grow(a, s.numbers[n], s.counts[n],
                                      &capacities[n], sizeof **s.numbers);
            s.numbers[n][s.counts[n]++] = i;
        }
    }
    return s;
}

/* Joins the locks in one array, so that an entry is identified by its
 * address. */
static void join_local_locks(struct layers *all, struct arena *a)
{
    struct lock_entry *entries;
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        count += all->parts[i].local_lock.count;
    if (count == all->parts[0].local_lock.count)
        entries = all->parts[0].local_lock.entries;
    else
        entries = arena_array(a, count + 1, sizeof *entries);
    for (size_t i = 0, n = 0;
         entries != all->parts[0].local_lock.entries && i < all->count; i++) {
        const struct lock *own = &all->parts[i].local_lock;

        for (size_t k = 0; k < own->count; k++) {
            struct lock_entry *entry = &entries[n + k];

            *entry = own->entries[k];
            for (size_t m = 0; m < entry->need_count; m++)
                entry->needs[m].entry =
                    entries + n + (entry->needs[m].entry - own->entries);
        }
        n += own->count;
    }
    all->whole.local_lock = (struct lock){entries, count};
}

bool layer_index_all(struct layers *all, struct context *cx, struct err *e)
{
    struct arena *a = &cx->arena;
    struct layer *whole = &all->whole;
    struct shares shares, local;

    if (all->parts == whole)
        return true;
    join_local_locks(all, a);
    if (!layer_read_origins(whole, a, e) ||
        !index_part(whole, NULL, whole->lock.count, NULL,
                    whole->local_lock.count, a, e))
        return false;
    shares = share_out(all, &whole->lock, a);
    local = share_out(all, &whole->local_lock, a);
    for (size_t i = 0; i < all->count; i++) {
        struct layer *l = &all->parts[i];

        l->lock = whole->lock;
        l->local_lock = whole->local_lock;
        l->origins = whole->origins;
        l->local_origins = whole->local_origins;
        l->sources = whole->sources;
        l->local_sources = whole->local_sources;
        if (!index_part(l, shares.numbers[i], shares.counts[i],
                        local.numbers[i], local.counts[i], a, e))
            return false;
    }
    return true;
}

void layer_close_all(struct layers *all)
{
    for (size_t i = 1; i < all->count; i++)
        layer_close(&all->parts[i]);
    layer_close(&all->whole);
    if (all->parts)
        all->parts[0].provision = NULL;
}

struct layer *layer_chosen(const struct layers *all, const struct context *cx,
                           size_t *count)
{
    bool is_whole = cx->all_members || (all->here == 0 && cx->member.n == 0);

    *count = is_whole ? all->count : 1;
    return &all->parts[is_whole ? 0 : all->here];
}

static bool open_chosen(struct context *cx, struct layers *all,
                        enum layer_mode mode, struct layer **list,
                        size_t *count, struct err *e)
{
    if (!layer_index_all(all, cx, e))
        return false;
    *list = layer_chosen(all, cx, count);
    for (size_t i = 0; i < *count; i++)
        if (!(*list)[i].provision &&
            !layer_open_provision(&(*list)[i], cx, mode, e))
            return false;
    return true;
}

bool layer_open_chosen(struct context *cx, enum layer_mode mode,
                       struct layers *all, struct layer **list, size_t *count,
                       struct err *e)
{
    if (!layer_open_all(cx, mode, all, e))
        return false;
    if (open_chosen(cx, all, mode, list, count, e))
        return true;
    layer_close_all(all);
    return false;
}
