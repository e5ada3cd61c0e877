#include "walk.h"

#include "base/fs.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/plugin_check.h"

#include <dirent.h>
#include <fcntl.h>

/* --- one folder ----------------------------------------------------------- */

/* Returns the path of `name` in the folder for messages. */
static struct str shown(const struct check_root *root, struct str folder,
                        struct str name, struct arena *a)
{
    struct str path = root->shown;

    if (folder.n)
        path = path.n ? fs_join(path, folder, a) : folder;
    if (name.n)
        path = path.n ? fs_join(path, name, a) : name;
    return path.n ? arena_str(a, path) : STR(".");
}

static void add_result(struct worker *w, struct check_result *r)
{
    w->results = arena_grow(w->arena, w->results, w->count, &w->capacity,
                            sizeof(void *));
    w->results[w->count++] = r;
}

static struct check_result *new_result(struct worker *w,
                                       const struct check_root *root,
                                       struct str folder, struct str file)
{
    struct check_result *r = arena_new(w->arena, struct check_result);

    *r = (struct check_result){
        .path = shown(root, folder, file, w->arena),
        .root = root,
        .folder = folder,
        .file = arena_str(w->arena, file),
    };
    diagnostics_init(&r->why, w->arena);
    return r;
}

static bool check_one(struct worker *w, const struct check_root *root,
                      struct str folder, int dirfd, struct str file,
                      enum doc_kind kind, bool optional)
{
    struct check_result *r = new_result(w, root, folder, file);

    r->has_kind = true;
    r->kind = kind;
    if (!lint_document(w->rules, dirfd, r, optional, w->arena))
        return false;
    add_result(w, r);
    return true;
}

static void cannot_open(struct worker *w, const struct job *job, bool error,
                        const char *why)
{
    struct check_result *r =
        new_result(w, job->root, job->folder, str_make("", 0));

    lint_report(w->rules, r, error, "unreadable-folder", "%s", why);
    add_result(w, r);
}

static void add_below(struct worker *w, const struct job *job, struct str name)
{
    struct job *next;

    /* Skips .git, mapm's state in a workspace, and the output of mapm
     * vendor. */
    if (str_is(name, ".git") || str_is(name, ".mapm") ||
        (str_is(name, "mapm") && str_is(job->name, "vendor")))
        return;
    w->below = arena_grow(w->arena, w->below, w->below_count,
                          &w->below_capacity, sizeof *w->below);
    next = &w->below[w->below_count++];
    *next = (struct job){
        .root = job->root,
        .folder = job->folder.n ? fs_join(job->folder, name, w->arena)
                                : arena_str(w->arena, name),
        .parent = job->name,
        .depth = job->depth + 1,
        .plugin = job->plugin,
        .in_plugin = job->in_plugin,
    };
    next->name = str_from_index(next->folder, next->folder.n - name.n);
}

/* Opens the real path, so that a link that appeared meanwhile is not
 * followed. */
static bool open_folder(const struct check_root *root, struct str folder,
                        int *fd, struct arena *a, struct err *e)
{
    return fs_open_dir_at(AT_FDCWD, fs_join(root->real, folder, a).p, fd, e);
}

static bool may_be_file(const struct fs_entry *entry)
{
    return entry->type != DT_DIR;
}

/* --- plugins --------------------------------------------------------------- */

/* Each manifest in the folder is a document. */
static bool check_plugins(struct worker *w, struct job *job, int dirfd)
{
    struct str files[LINT_PLUGIN_FILES];
    size_t count = lint_plugin_files(w->rules, dirfd, job->depth == 0, files);

    for (size_t i = 0; i < count; i++) {
        struct check_result *r =
            new_result(w, job->root, job->folder, files[i]);

        r->has_kind = true;
        r->kind = str_ends(files[i], STR("marketplace.json")) ? DOC_MARKET
                                                              : DOC_PLUGIN;
        lint_plugin(w->rules, r, w->arena);
        add_result(w, r);
        if (r->kind == DOC_PLUGIN) {
            job->in_plugin = true;
            job->plugin = job->folder;
        }
    }
    return count > 0;
}

/* Returns true for skills/NAME of the plugin, or its root. */
static bool is_plugin_skill(const struct job *job)
{
    struct str rest = job->folder;

    if (!job->in_plugin)
        return false;
    if (str_eq(rest, job->plugin))
        return true;
    if (job->plugin.n)
        rest = str_from_index(rest, job->plugin.n + 1);
    return str_starts(rest, STR("skills/")) &&
           !str_has_char(str_from_index(rest, 7), '/');
}

static bool is_bucket(struct str name)
{
    return str_is(name, "agents") || str_is(name, "skills") ||
           str_is(name, "mcps");
}

/* skills-ref also accepts this spelling (A3). */
static bool is_skill_entry(const struct check_rules *rules, struct str name)
{
    return str_is(name, "SKILL.md") ||
           (rules->profile == PROFILE_SKILLS_REF && str_is(name, "skill.md"));
}

/* Returns true in folders that M1 defines as holding one package each: skills/
 * and the like. */
static bool in_bucket(const struct job *job)
{
    bool first = job->depth == 1 && (str_is(job->parent, "skills") ||
                                     str_is(job->parent, "agents"));
    bool second = job->depth == 2 && (str_starts(job->folder, STR("skills/")) ||
                                      str_starts(job->folder, STR("agents/")));

    return (first || second) && job->name.n && job->name.p[0] != '.';
}

static void add_empty_dir(struct worker *w, const struct job *job,
                          struct empty_dir h)
{
    h.root = job->root;
    h.folder = job->folder;
    h.in_bucket = in_bucket(job) && !lint_profile_is_plugin(w->rules->profile);
    if (job->depth > 0 && !h.in_bucket && !h.misspelt.n)
        return;
    h.misspelt = arena_str(w->arena, h.misspelt);
    w->empty_dirs = arena_grow(w->arena, w->empty_dirs, w->empty_dir_count,
                               &w->empty_dir_capacity, sizeof *w->empty_dirs);
    w->empty_dirs[w->empty_dir_count++] = h;
}

static void scan_entry(struct worker *w, const struct job *job, int dirfd,
                       const struct fs_entry *entry, struct empty_dir *h,
                       bool *found)
{
    struct str name = entry->name;
    bool is_agent = str_is(job->parent, "agents");

    if (lint_profile_is_plugin(w->rules->profile) && entry->type != DT_DIR) {
        if (str_is(name, "SKILL.md") && is_plugin_skill(job))
            check_one(w, job->root, job->folder, dirfd, name, DOC_SKILL, false);
    } else if (is_skill_entry(w->rules, name)) {
        *found |=
            check_one(w, job->root, job->folder, dirfd, name, DOC_SKILL, false);
    } else if (str_is(name, "AGENTS.md") && (may_be_file(entry) || is_agent)) {
        h->has_agents = true;
        *found |= check_one(w, job->root, job->folder, dirfd, name, DOC_AGENT,
                            !is_agent);
    } else if (str_is(job->name, "mcps") && may_be_file(entry) &&
               name.p[0] != '.' && str_ends(name, STR(".json"))) {
        *found |=
            check_one(w, job->root, job->folder, dirfd, name, DOC_MCP, false);
    } else if (may_be_file(entry) &&
               (str_eq_nocase(name, STR("SKILL.md")) ||
                (is_agent && str_eq_nocase(name, STR("AGENTS.md"))))) {
        h->misspelt = name;
    } else if (entry->type == DT_DIR) {
        h->is_catalog |= is_bucket(name);
        add_below(w, job, name);
    }
}

static bool count_entries(const struct worker *w, size_t count, struct err *e)
{
    if (__atomic_add_fetch(w->entries, count, __ATOMIC_RELAXED) <=
        CHECK_MAX_FILES)
        return true;
    err_set(e, ERR_LIMIT, "more than %d files and folders", CHECK_MAX_FILES);
    return err_hint(e, "check a part of the tree at a time");
}

static bool scan_folder(struct worker *w, struct job *job, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    struct empty_dir h = {0};
    struct fs_entry *entries;
    size_t count;
    bool found = is_bucket(job->name);

    if (job->depth > CHECK_MAX_DEPTH) {
        cannot_open(w, job, false, "nested too deep: not looked into");
        return true;
    }
    if (!open_folder(job->root, job->folder, &fd, &scratch, e) ||
        !fs_list_open(fd, CHECK_MAX_FILES, &scratch, &entries, &count, e)) {
        if (e->code == ERR_LIMIT)
            return false;
        cannot_open(w, job, job->depth == 0, err_first(e));
        err_clear(e);
        return true;
    }
    if (!count_entries(w, count, e))
        return false;
    found |= check_plugins(w, job, fd);
    for (size_t i = 0; i < count; i++)
        scan_entry(w, job, fd, &entries[i], &h, &found);
    if (!found)
        add_empty_dir(w, job, h);
    return true;
}

/* --- one file that was named ---------------------------------------------- */

static void scan_file(struct worker *w, const struct job *job)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    const struct check_root *root = job->root;
    struct str none = str_make("", 0);
    struct check_result *r;
    struct err e = {0};

    if (plugin_manifest_of(root->only).n) {
        r = new_result(w, root, none, root->only);
        r->has_kind = true;
        r->kind = str_ends(root->only, STR("marketplace.json")) ? DOC_MARKET
                                                                : DOC_PLUGIN;
        lint_plugin(w->rules, r, w->arena);
        add_result(w, r);
        return;
    }
    if (!open_folder(root, none, &fd, &scratch, &e)) {
        cannot_open(w, job, true, err_first(&e));
    } else if (is_skill_entry(w->rules, root->only)) {
        check_one(w, root, none, fd, root->only, DOC_SKILL, false);
    } else if (str_is(root->only, "AGENTS.md")) {
        check_one(w, root, none, fd, root->only, DOC_AGENT, false);
    } else if (str_ends(root->only, STR(".json"))) {
        check_one(w, root, none, fd, root->only, DOC_MCP, false);
    } else {
        r = new_result(w, root, none, root->only);
        lint_report(w->rules, r, true, "no-anchor",
                    "none of SKILL.md, AGENTS.md or the .json file of an MCP");
        add_result(w, r);
    }
}

bool walk_job(struct worker *w, struct job *job, struct err *e)
{
    w->below_count = 0;
    if (job->root->real.n == 0)
        cannot_open(w, job, true, "it cannot be reached");
    else if (job->root->only.n)
        scan_file(w, job);
    else
        return scan_folder(w, job, e);
    return true;
}

/* --- folders without a document --------------------------------------------- */

struct str walk_path(const struct worker *w, const struct empty_dir *h)
{
    return shown(h->root, h->folder, str_make("", 0), w->arena);
}

bool walk_is_within(const struct check_result *r, const struct empty_dir *h)
{
    return r->root == h->root &&
           (h->folder.n == 0 ||
            (str_starts(r->folder, h->folder) &&
             (r->folder.n == h->folder.n || r->folder.p[h->folder.n] == '/')));
}

/* Checks for a project's AGENTS.md, in a folder without another document. */
static bool check_agents(struct worker *w, const struct empty_dir *h)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};

    return open_folder(h->root, h->folder, &fd, &scratch, &ignored) &&
           check_one(w, h->root, h->folder, fd, STR("AGENTS.md"), DOC_AGENT,
                     false);
}

void walk_report(struct worker *w, const struct empty_dir *h, bool has_some)
{
    bool named = h->folder.n == 0;
    struct check_result *r;

    if (named && !has_some && h->has_agents && !h->is_catalog &&
        check_agents(w, h))
        return;
    if (lint_profile_is_plugin(w->rules->profile)
            ? has_some
            : !h->misspelt.n && (has_some || (named && h->is_catalog)))
        return;
    r = new_result(w, h->root, h->folder, str_make("", 0));
    if (lint_profile_is_plugin(w->rules->profile))
        lint_report(w->rules, r, true, "plugin-missing",
                    w->rules->profile == PROFILE_MARKETPLACE
                        ? "there is no marketplace.json here or below"
                        : "there is no plugin here or below (P1)");
    else if (h->misspelt.n)
        lint_report(w->rules, r, (named && !has_some) || h->in_bucket,
                    "no-anchor",
                    "%.*s has to be spelled in the case of SKILL.md and "
                    "AGENTS.md",
                    STR_ARG(h->misspelt));
    else
        lint_report(w->rules, r, named, "no-anchor",
                    "there is no SKILL.md, AGENTS.md or MCP file %s",
                    named ? "here or below" : "in this folder");
    add_result(w, r);
}
