#include "mapm/changelog.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/install_diff.h"
#include "mapm/lock.h"
#include "mapm/mcp_file.h"
#include "mapm/package_files.h"
#include "mapm/patched.h"

#include <stdlib.h>
#include <string.h>

#include "install_session.h"
#include "installed.h"

/* The changes of a plan in each package, from the contents of the store. */

/* A package on one side of a comparison; `files.files` is NULL if it is
 * absent. */
struct version {
    struct package_files files;
    struct str place; /* name in the entry file, if it is rewritten */
    struct document document;
};

struct comparing {
    struct install_session *s;
    struct arena *arena;
    enum doc_kind kind;
    struct str path;
    struct version before, after;
    struct patch_file *found;
    size_t count, capacity;
};

/* --- reading ---------------------------------------------------------------- */

static bool read_document(struct comparing *c, struct version *v)
{
    struct manifest_files beside = package_files_reader(&v->files);
    struct manifest_input in = {
        .kind = c->kind,
        .rules = &c->s->layer.rules,
        .profile = PROFILE_INSTALL,
        .files = &beside,
        .allow_file = true,
        .allow_hidden = true,
    };
    const struct package_file *entry =
        c->kind == DOC_MCP
            ? v->files.files
            : package_files_find(&v->files, str_cstr(doc_entry_file(c->kind)));
    struct diagnostics why;
    struct err ignored = {0};

    if (!entry || !store_read(c->s->store, &entry->hash, ANCHOR_MAX_BYTES,
                              c->arena, &in.text, &ignored))
        return false;
    diagnostics_init(&why, c->arena);
    manifest_read(&in, c->arena, &v->document, &why);
    return true;
}

static bool read_version(struct comparing *c, const struct hash *digest,
                         const struct provision_item *item, struct version *out)
{
    struct package_file *files;
    struct err ignored = {0};

    if (!store_read_listing(c->s->store, digest, c->arena, &files,
                            &out->files.count, &ignored))
        return false;
    out->files.store = c->s->store;
    out->files.files = files;
    out->place = item->rename ? item->place : STR("");
    return read_document(c, out);
}

static bool read_before(struct comparing *c, const struct lock_entry *entry,
                        struct str patch)
{
    struct provision_item item;
    struct err ignored = {0};
    struct hash digest;

    if (!entry)
        return true;
    installed_fill(&c->s->layer, entry, &item);
    return patched_installed(c->s->store, entry->digest, patch, &digest,
                             &ignored) &&
           read_version(c, &digest, &item, &c->before);
}

static bool read_after(struct comparing *c, const struct install_package *p)
{
    const struct node *n = package_node(p);
    struct provision_item item = {
        .place = p->place,
        .rename = c->kind != DOC_MCP &&
                  (n->rewritten || !str_eq(p->place, p->package->name)),
    };

    return read_version(c, p->installed ? p->installed : &n->digest, &item,
                        &c->after);
}

/* --- files ------------------------------------------------------------------ */

static struct patch_side side_of(struct comparing *c, const struct version *v,
                                 const struct package_file *file)
{
    struct patch_side side = {.text = STR("")};
    struct err ignored = {0};

    if (!file)
        return side;
    side.mode = file->executable ? PATCH_PROGRAM : PATCH_FILE;
    side.is_opaque = !store_read(c->s->store, &file->hash, PATCH_FILE_MAX_BYTES,
                                 c->arena, &side.text, &ignored);
    if (v->place.n && str_is(file->path, doc_entry_file(c->kind)) &&
        !manifest_rename(side.text, v->place, c->arena, &side.text, &ignored))
        err_clear(&ignored);
    return side;
}

static void add_file(struct comparing *c, const struct package_file *before,
                     const struct package_file *after)
{
    struct str path = c->path;

    if (before && after && hash_eq(&before->hash, &after->hash) &&
        before->executable == after->executable &&
        str_eq(c->before.place, c->after.place))
        return;
    if (c->kind != DOC_MCP)
        path = arena_printf(c->arena, "%.*s/%.*s", STR_ARG(c->path),
                            STR_ARG(before ? before->path : after->path));
    c->found = arena_grow(c->arena, c->found, c->count, &c->capacity,
                          sizeof *c->found);
    c->found[c->count++] = (struct patch_file){
        path, side_of(c, &c->before, before), side_of(c, &c->after, after)};
}

/* Compares paths; the single file of a server may have any name. */
static int order_of(const struct comparing *c, size_t i, size_t k)
{
    const struct package_files *x = &c->before.files, *y = &c->after.files;

    if (i == x->count || k == y->count)
        return i == x->count ? 1 : -1;
    return c->kind == DOC_MCP ? 0 : str_cmp(x->files[i].path, y->files[k].path);
}

static void compare_files(struct comparing *c)
{
    const struct package_files *x = &c->before.files, *y = &c->after.files;
    size_t i = 0, k = 0;

    while (i < x->count || k < y->count) {
        int order = order_of(c, i, k);

        add_file(c, order <= 0 ? &x->files[i] : NULL,
                 order >= 0 ? &y->files[k] : NULL);
        i += order <= 0;
        k += order >= 0;
    }
}

/* --- what matters most ------------------------------------------------------ */

static bool is_program(const struct comparing *c, const struct patch_file *f)
{
    const struct document *x = &c->before.document, *y = &c->after.document;
    struct str path = str_from_index(f->path, c->path.n + 1);

    return c->kind == DOC_SKILL &&
           ((x->metaskill && str_eq(path, x->program)) ||
            (y->metaskill && str_eq(path, y->program)));
}

/* Sorts programs before other files. */
static bool sort_files(struct comparing *c)
{
    struct patch_file *sorted =
        arena_array(c->arena, c->count + 1, sizeof *sorted);
    size_t n = 0, programs;

    for (size_t i = 0; i < c->count; i++)
        if (is_program(c, &c->found[i]))
            sorted[n++] = c->found[i];
    programs = n;
    for (size_t i = 0; i < c->count; i++)
        if (!is_program(c, &c->found[i]))
            sorted[n++] = c->found[i];
    c->found = sorted;
    return programs > 0;
}

static struct str read_changelog(struct comparing *c, const struct version *v)
{
    const struct package_file *f =
        c->kind == DOC_MCP ? NULL
                           : package_files_find(&v->files, STR("CHANGELOG.md"));
    struct err ignored = {0};
    struct str text;

    return f && store_read(c->s->store, &f->hash, CHANGELOG_MAX_BYTES, c->arena,
                           &text, &ignored)
               ? text
               : STR("");
}

static struct str find_changelog(struct comparing *c)
{
    struct str version = changelog_latest(read_changelog(c, &c->before));

    if (version.n == 0)
        version = c->before.document.version;
    return c->before.files.files ? changelog_since(read_changelog(c, &c->after),
                                                   version, c->arena)
                                 : STR("");
}

static const char *command_of(struct comparing *c, const struct version *v)
{
    return v->document.mcp
               ? str_dup0(mcp_command_line(&v->document, c->arena), c->arena)
               : NULL;
}

static void compare_commands(struct comparing *c,
                             struct install_package_diff *out)
{
    if (c->kind != DOC_MCP)
        return;
    out->old_command = command_of(c, &c->before);
    out->command = command_of(c, &c->after);
    if (out->old_command && out->command &&
        strcmp(out->old_command, out->command) == 0)
        out->old_command = out->command = NULL;
}

/* --- packages --------------------------------------------------------------- */

static void compare(struct comparing *c, bool is_whole,
                    struct install_package_diff *out)
{
    if (!is_whole) {
        out->problem =
            "the store lacks what is locked: mapm install fetches it";
        return;
    }
    compare_files(c);
    out->is_program_changed = sort_files(c);
    out->changelog = find_changelog(c);
    compare_commands(c, out);
    out->files = c->found;
    out->count = c->count;
}

static void diff_package(struct install_session *s,
                         const struct install_package *p,
                         struct install_package_diff *out)
{
    struct arena *a = &s->cx->arena;
    const struct lock_entry *b = p->before;
    struct comparing c = {.s = s, .arena = a, .kind = p->package->kind};
    bool ok;

    *out = (struct install_package_diff){
        .kind = c.kind,
        .name = p->package->fqn,
        .path = c.path = install_path(p, a),
        .action = b ? "update" : "add",
        .old_version = b ? b->version : STR(""),
        .old_commit = b ? b->commit : STR(""),
        .version = p->package->version,
        .commit = p->package->commit,
        .changelog = STR(""),
    };
    ok = read_before(&c, b, b && !p->conflict ? b->patch : STR("")) &&
         read_after(&c, p);
    compare(&c, ok, out);
    if (ok)
        out->problem = p->conflict;
}

static void diff_removed(struct install_session *s,
                         const struct lock_entry *entry,
                         struct install_package_diff *out)
{
    struct arena *a = &s->cx->arena;
    struct comparing c = {.s = s, .arena = a, .kind = entry->kind};

    c.path = entry->kind == DOC_MCP
                 ? str_join(STR(".mcp.json#"), entry->place, a)
                 : entry->place;
    *out = (struct install_package_diff){
        .kind = c.kind,
        .name = entry->name,
        .path = c.path,
        .action = "remove",
        .old_version = entry->version,
        .old_commit = entry->commit,
        .version = STR(""),
        .commit = STR(""),
        .changelog = STR(""),
    };
    compare(&c, read_before(&c, entry, entry->patch), out);
}

/* Returns 0 for a changed command line, 1 for a changed program, 2 for other
 * changes. */
static int rank_of(const struct install_package_diff *p)
{
    if (p->command || p->old_command)
        return 0;
    return p->is_program_changed ? 1 : 2;
}

static size_t add_ranked(const struct install_package_diff *all, size_t count,
                         int rank, struct install_package_diff *out)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (rank_of(&all[i]) == rank)
            out[n++] = all[i];
    return n;
}

/* Returns whether the package is unchanged; its commit may differ. */
static bool is_same(const struct install_package *p)
{
    return p->action == INSTALL_KEEP ||
           (p->before && str_eq(p->before->digest, p->digest) &&
            str_eq(p->before->patch, p->patch ? p->patch->hash : STR("")));
}

bool install_diff_plan(struct install_plan *plan, struct install_diff *out,
                       struct err *e)
{
    struct install_session *s = plan->session;
    struct arena *a = &s->cx->arena;
    size_t room = plan->package_count + plan->removed_count + 1, n = 0;
    struct install_package_diff *all = arena_array(a, room, sizeof *all);
    struct install_package_diff *sorted = arena_array(a, room, sizeof *all);

    *out = (struct install_diff){.workspace = plan->workspace};
    for (size_t i = 0; i < plan->package_count; i++) {
        if (!context_check_cancelled(s->cx, e))
            return false;
        if (!is_same(&plan->packages[i]))
            diff_package(s, &plan->packages[i], &all[n++]);
    }
    for (size_t i = 0; i < plan->removed_count; i++)
        diff_removed(s, plan->removed[i], &all[n++]);
    for (int rank = 0; rank <= 2; rank++)
        out->count += add_ranked(all, n, rank, sorted + out->count);
    out->packages = sorted;
    return true;
}
