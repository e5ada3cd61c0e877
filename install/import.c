#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "mapm/authorize.h"
#include "mapm/doc_kind.h"
#include "mapm/import_file.h"
#include "mapm/mcp_file.h"
#include "mapm/origin.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "folder_hash.h"
#include "install_session.h"
#include "offers.h"
#include "remote.h"
#include "selection.h"

/*
 * import: what other package managers have installed becomes roots, at the
 * commits that their lock files name.
 *
 *     files, folders --> items --> refs and histories, one round of questions
 *         --> choices, as of a catalog: what is invalid, or differs from what
 *             is in its place, is left out with the reason
 */

#define SKILLS_FOLDER ".claude/skills"
#define FOLDERS_MAX   10000

struct item {
    struct import_entry entry;
    struct install_import *shown;
    struct origin origin;
    struct node *node;
    struct node *catalog; /* of an entry by name: its repository */
    bool has_origin;
    bool is_server; /* a server in .mcp.json of the workspace */
};

struct import {
    struct install_session *s;
    struct item *items;
    size_t count, capacity;
    struct map names;   /* names of the entries to import */
    struct map servers; /* keys of servers that mapm wrote */
    struct map folders; /* name -> struct item *, for folders that no file
                         * names */
    struct node **mcps; /* MCP servers of the catalogs of --from */
    size_t mcp_count, mcp_capacity;
    size_t files;
    bool has_lock[IMPORT_FORMATS];
    struct err failure; /* error of the first failed request */
    size_t failed;
};

/* --- what there is -------------------------------------------------------- */

static void set_problem(const struct import *m, struct item *item,
                        const char *text)
{
    item->shown->problem = arena_str(&m->s->cx->arena, str_cstr(text));
}

static struct item *add_item(struct import *m, const struct import_entry *entry,
                             struct str file)
{
    struct arena *a = &m->s->cx->arena;
    struct install_import *shown = arena_new(a, struct install_import);
    struct item *item;

    m->items =
        arena_grow(a, m->items, m->count, &m->capacity, sizeof *m->items);
    item = &m->items[m->count++];
    *shown = (struct install_import){
        .file = file,
        .line = entry->line,
        .kind = entry->kind,
        .name = entry->name,
        .origin = entry->path.n
                      ? arena_printf(a, "%.*s/%.*s", STR_ARG(entry->repository),
                                     STR_ARG(entry->path))
                      : entry->repository,
        .commit = entry->commit,
        .problem = str_cstr(entry->problem ? entry->problem : ""),
    };
    *item = (struct item){.entry = *entry, .shown = shown};
    return item;
}

/* Indexes the servers that mapm wrote. */
static void index_servers(struct import *m)
{
    const struct lock *lock = &m->s->layer.lock;

    map_init(&m->servers, &m->s->cx->arena);
    if (m->s->with_server)
        map_put(&m->servers, STR("mapm"), NULL);
    for (size_t i = 0; i < lock->count; i++)
        if (lock->entries[i].kind == DOC_MCP)
            map_put(&m->servers, lock->entries[i].place, NULL);
}

/* Returns whether the package is known from another file of the same tool. */
static bool is_known(struct import *m, enum import_format format,
                     const struct import_entry *entry)
{
    if (format == IMPORT_APM_YML && m->has_lock[IMPORT_APM_LOCK] &&
        entry->kind != DOC_MCP)
        return true;
    if (format == IMPORT_MCP && map_has(&m->servers, entry->name))
        return true;
    if (format == IMPORT_AGENTS_TOML && m->has_lock[IMPORT_AGENTS_LOCK] &&
        str_is(entry->name, "*"))
        return true;
    return !entry->problem && !map_put(&m->names, entry->name, NULL);
}

/* Returns the problem of a server that is in no catalog, with the hint to make
 * it a package of the workspace. */
static const char *server_problem(const struct import *m)
{
    return m->s->request->from.count
               ? "no catalog of --from has a server of this key, so it stays "
                 "yours; to have it in mapm.yaml: mapm new mcp NAMESPACE/NAME, "
                 "its command in that file, mapm install ./mcps/FILE"
               : "a server by hand stays yours: compare it with catalogs by "
                 "--from OWNER/REPO, or write an MCP file of it with mapm new "
                 "mcp NAMESPACE/NAME, and mapm install ./mcps/FILE";
}

static void add_server(struct import *m, const struct import_entry *entry,
                       struct str file)
{
    struct import_entry server = *entry;
    struct context *cx = m->s->cx;
    struct str own = fs_join(m->s->layer.path, STR(".mcp.json"), &cx->arena);
    struct str path =
        str_starts(file, STR("/"))
            ? file
            : fs_join(m->s->request->arguments.count ? cx->cwd
                                                     : m->s->layer.path,
                      file, &cx->arena);

    server.problem = server_problem(m);
    add_item(m, &server, file)->is_server =
        str_eq(fs_normalize(path, &cx->arena), own);
}

static bool take_text(struct import *m, enum import_format format,
                      struct str text, struct str file, struct err *e)
{
    struct arena *a = &m->s->cx->arena;
    struct import_list list = {0};

    if (!import_file_read(format, text, str_dup0(file, a), a, &list, e))
        return false;
    m->files++;
    m->has_lock[format] = true;
    for (size_t i = 0; i < list.count; i++) {
        if (is_known(m, format, &list.entries[i]))
            continue;
        if (format == IMPORT_MCP)
            add_server(m, &list.entries[i], file);
        else
            add_item(m, &list.entries[i], file);
    }
    return true;
}

/* Reads one file; `*found` is false if it does not exist. */
static bool read_one(struct import *m, int dirfd, struct str folder,
                     const char *path, enum import_format format, bool *found,
                     struct err *e)
{
    struct context *cx = m->s->cx;
    CLEANUP_FD int fd = -1;
    struct str text, full = fs_join(folder, str_cstr(path), &cx->arena);

    *found = fs_open_file_at(dirfd, path, &fd, NULL, e);
    if (!*found && e->code == ERR_NOT_FOUND) {
        err_clear(e);
        return true;
    }
    return *found && authorize_file(cx, fd, full, folder, e) &&
           fs_read_fd(fd, PROJECT_MAX_BYTES, &cx->arena, &text, e) &&
           take_text(m, format, text, str_cstr(path), e);
}

static bool read_folder(struct import *m, struct str folder,
                        const char *const *names, size_t count, struct err *e)
{
    CLEANUP_FD int fd = -1;
    enum import_format format;
    struct err ignored = {0};
    bool found;

    if (!fs_open_dir(str_dup0(folder, &m->s->cx->arena), &fd, &ignored))
        return true;
    for (size_t i = 0; i < count; i++)
        if (import_format_find(str_cstr(names[i]), &format) &&
            !read_one(m, fd, folder, names[i], format, &found, e))
            return err_names(e, names[i])
                       ? false
                       : err_wrap(e, "cannot import %s", names[i]);
    return true;
}

/* Reads the file in $XDG_STATE_HOME/skills or ~/.agents. */
static bool read_user(struct import *m, struct err *e)
{
    static const char *const names[] = {".skill-lock.json"};
    struct context *cx = m->s->cx;
    struct str state = env_folder("XDG_STATE_HOME");

    if (state.n &&
        !read_folder(m, fs_join(state, STR("skills"), &cx->arena), names, 1, e))
        return false;
    return m->files || !cx->home.n ||
           read_folder(m, fs_join(cx->home, STR(".agents"), &cx->arena), names,
                       1, e);
}

static bool read_named(struct import *m, struct str file, struct err *e)
{
    struct context *cx = m->s->cx;
    struct str path = fs_join(cx->cwd, file, &cx->arena), text;
    enum import_format format;
    CLEANUP_FD int fd = -1;

    if (str_starts(file, STR("/")))
        path = file;
    if (!import_format_find(file, &format)) {
        err_set(e, ERR_USAGE, "%.*s: not the name of a file to import",
                STR_ARG(file));
        return err_hint(e, "known: skills-lock.json, .skill-lock.json, "
                           "agents.lock, agents.toml, apm.lock.yaml, apm.yml, "
                           ".mcp.json, " SKILLS_FOLDER);
    }
    return (fs_open_file_at(AT_FDCWD, str_dup0(path, &cx->arena), &fd, NULL,
                            e) &&
            fs_read_fd(fd, PROJECT_MAX_BYTES, &cx->arena, &text, e) &&
            take_text(m, format, text, file, e)) ||
           (!err_names(e, str_dup0(file, &cx->arena)) &&
            err_wrap(e, "cannot import %.*s", STR_ARG(file)));
}

/* Reads folders of skills that are known neither to mapm nor to a file. */
static bool read_skills(struct import *m, struct err *e)
{
    struct install_session *s = m->s;
    struct arena *a = &s->cx->arena;
    CLEANUP_FD int fd = -1;
    struct fs_entry *entries = NULL;
    struct err ignored = {0};
    size_t count = 0;

    (void)e;
    if (!fs_open_dir(s->layer.path.p, &fd, &ignored) ||
        !fs_list_at(fd, SKILLS_FOLDER, FOLDERS_MAX, a, &entries, &count,
                    &ignored))
        return true;
    for (size_t i = 0; i < count; i++) {
        struct import_entry entry = {.kind = DOC_SKILL,
                                     .name = entries[i].name};
        struct str folder = fs_join(STR(SKILLS_FOLDER), entries[i].name, a);
        struct stat st;

        if (!fs_stat_at(fd, str_dup0(folder, a), &st) || !S_ISDIR(st.st_mode) ||
            map_has(&m->names, entries[i].name) ||
            layer_find_folder(
                &s->layer,
                fs_join(fs_join(s->layer.path, STR(".agents/skills"), a),
                        entries[i].name, a)))
            continue;
        entry.problem = s->request->from.count
                            ? "no catalog of --from has a skill of this name"
                            : "nothing says where it is from: compare it with "
                              "catalogs by --from OWNER/REPO";
        add_item(m, &entry, folder);
    }
    m->files += count > 0;
    return true;
}

static bool is_skills_folder(struct str path)
{
    if (str_starts(path, STR("./")))
        path = str_from_index(path, 2);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    return str_is(path, SKILLS_FOLDER);
}

static bool read_argument(struct import *m, struct str path, struct err *e)
{
    size_t before = m->files;

    if (m->s->layer.is_global || !is_skills_folder(path))
        return read_named(m, path, e);
    return read_skills(m, e) &&
           (m->files > before ||
            err_set(e, ERR_NOT_FOUND, "there is no skill in " SKILLS_FOLDER));
}

static bool read_all(struct import *m, struct err *e)
{
    /* files with commits come first */
    static const char *const names[] = {"agents.lock",      "apm.lock.yaml",
                                        "skills-lock.json", "agents.toml",
                                        "apm.yml",          ".mcp.json"};
    const struct install_session *s = m->s;
    const struct str_list *given = &s->request->arguments;

    for (size_t i = 0; i < given->count; i++)
        if (!read_argument(m, given->items[i], e))
            return false;
    if (given->count)
        return true;
    if (s->layer.is_global ? !read_user(m, e)
                           : !read_folder(m, s->layer.path, names,
                                          sizeof names / sizeof *names, e) ||
                                 !read_skills(m, e))
        return false;
    if (m->files)
        return true;
    err_set(e, ERR_NOT_FOUND, "nothing to import in %.*s",
            STR_ARG(s->layer.path));
    return err_hint(e, "mapm import FILE names a file elsewhere, -g takes that "
                       "of the user");
}

/* --- where it is from ----------------------------------------------------- */

static void parse_origin(struct import *m, struct item *item)
{
    struct install_session *s = m->s;
    struct context *cx = s->cx;
    const struct import_entry *x = &item->entry;
    struct err why = {0};

    if (x->problem)
        return;
    if (!origin_parse_argument(x->repository, cx->cwd, cx->home,
                               &s->layer.rules, &cx->arena, &item->origin,
                               &why) ||
        item->origin.scheme != ORIGIN_GIT || !item->origin.is_short ||
        item->origin.path.n || item->origin.ref.n ||
        (x->ref.n && !origin_ref_is_valid(x->ref)) ||
        (x->path.n && !fs_path_is_relative_clean(x->path))) {
        set_problem(m, item,
                    why.code ? err_first(&why)
                             : "its repository, path or ref is malformed");
        return;
    }
    item->origin.path = x->path;
    item->origin.ref = x->ref;
    item->has_origin = !x->is_by_name;
}

static void pin_to_commit(const struct import *m, struct item *item)
{
    struct origin o = item->origin;

    origin_complete(&o, item->entry.commit, item->entry.path, &m->s->cx->arena,
                    &item->origin);
}

/* Uses the ref as origin, locked at the commit, if it contains the commit;
 * otherwise the commit itself, if it is reachable from a branch or tag. */
static void take_answer(void *ctx, const struct fetch_event *event,
                        struct arena *scratch)
{
    struct import *m = ctx;
    struct arena *a = &m->s->cx->arena;
    struct item *item;
    struct origin o;

    (void)scratch;
    if (event->id >= m->count)
        return;
    item = &m->items[event->id];
    o = item->origin;
    if (event->kind == FETCH_REF_FOUND) {
        origin_complete(&o, arena_str(a, event->ref), item->entry.path, a,
                        &item->origin);
        if (!item->entry.commit.n)
            item->entry.commit = arena_str(a, event->commit);
        return;
    }
    if (event->kind != FETCH_FAILED)
        return;
    if (remote_is_answer(event->err->code) && item->entry.commit.n) {
        pin_to_commit(m, item);
        return;
    }
    item->has_origin = false;
    set_problem(m, item, err_first(event->err));
    if (session_is_network(event->err->code) && m->failed++ == 0)
        m->failure = *event->err;
}

static bool find_refs(struct import *m, struct err *e)
{
    struct install_session *s = m->s;
    struct fetch_want *wants =
        arena_array(&s->cx->arena, m->count + 1, sizeof *wants);
    size_t count = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct item *item = &m->items[i];

        if (item->has_origin)
            wants[count++] = (struct fetch_want){
                .id = (unsigned)i,
                .what = item->entry.commit.n ? FETCH_REACH : FETCH_REF,
                .kinds = DOC_AGENT | DOC_SKILL | DOC_MCP,
                .origin = item->origin,
                .commit = item->entry.commit};
    }
    if (count == 0)
        return true;
    if (s->cx->is_offline)
        return err_set(e, ERR_OFFLINE, "mapm import needs the network");
    if (!remote_ask(s->cx, &s->layer, s->store, wants, count, take_answer, m,
                    e))
        return false;
    if (m->failed)
        *e = m->failure;
    return m->failed == 0;
}

/* --- skills, by name ------------------------------------------------------ */

/* Requests the repositories of entries without a path, each ref once. */
static size_t want_named(struct import *m)
{
    struct arena *a = &m->s->cx->arena;
    struct map catalogs;

    map_init(&catalogs, a);
    for (size_t i = 0; i < m->count; i++) {
        struct item *item = &m->items[i];
        struct map_entry *known;

        if (!item->entry.is_by_name || item->shown->problem.n)
            continue;
        known =
            map_entry(&catalogs,
                      arena_printf(a, "%.*s@%.*s",
                                   STR_ARG(origin_repository(&item->origin, a)),
                                   STR_ARG(item->origin.ref)));
        if (!known->value)
            known->value = closure_add_catalog(&m->s->closure, &item->origin);
        item->catalog = known->value;
    }
    return catalogs.count;
}

/* Finds the skill of a name, of those that the catalog offers before those in
 * other folders; `*other` is a second one of the name, or else NULL. */
static const struct fetch_offer *find_named(const struct node *catalog,
                                            struct str name,
                                            const struct fetch_offer **other)
{
    const struct fetch_offer *found = NULL;

    *other = NULL;
    for (size_t i = 0; i < catalog->offer_count; i++) {
        const struct fetch_offer *o = &catalog->offers[i];

        if (o->kind != DOC_SKILL || !str_eq(offers_name(catalog, o), name))
            continue;
        if (!found || (found->is_elsewhere && !o->is_elsewhere)) {
            found = o;
            *other = NULL;
        } else if (found->is_elsewhere == o->is_elsewhere) {
            *other = o;
        }
    }
    return found;
}

static void resolve_named(struct import *m, struct item *item)
{
    struct arena *a = &m->s->cx->arena;
    const struct node *n = item->catalog;
    const struct fetch_offer *found, *other;

    if (n->failed) {
        set_problem(m, item, err_first(n->failed));
        if ((session_is_network(n->failed->code) ||
             n->failed->code == ERR_OFFLINE) &&
            m->failed++ == 0)
            m->failure = *n->failed;
        return;
    }
    found = find_named(n, item->entry.name, &other);
    if (!found || other) {
        item->shown->problem =
            found ? arena_printf(a,
                                 "several skills have this name: install one "
                                 "by its path, %.*s or %.*s",
                                 STR_ARG(found->path), STR_ARG(other->path))
                  : STR("its repository has no skill of this name");
        return;
    }
    item->entry.path = found->path;
    item->entry.commit = n->package.commit;
    origin_complete(n->origin, n->ref, found->path, a, &item->origin);
    item->has_origin = true;
}

static bool resolve_all_named(struct import *m, struct err *e)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].catalog)
            resolve_named(m, &m->items[i]);
    if (m->failed)
        *e = m->failure;
    return m->failed == 0;
}

/* --- folders, by content -------------------------------------------------- */

static void add_candidate(struct import *m, const struct item *folder,
                          const struct node *catalog,
                          const struct fetch_offer *offer)
{
    struct import_entry entry = folder->entry;
    struct item *item;

    entry.problem = NULL;
    entry.path = offer->path;
    entry.commit = catalog->package.commit;
    entry.repository = catalog->origin->repository;
    item = add_item(m, &entry, folder->shown->file);
    origin_complete(catalog->origin, catalog->ref, offer->path,
                    &m->s->cx->arena, &item->origin);
    item->has_origin = true;
}

/* Adds a server by the key in its document, whose file may have any name. */
static void add_mcp(struct import *m, const struct node *catalog,
                    const struct fetch_offer *offer)
{
    struct arena *a = &m->s->cx->arena;
    struct origin o;

    origin_complete(catalog->origin, catalog->ref, offer->path, a, &o);
    m->mcps = arena_grow(a, m->mcps, m->mcp_count, &m->mcp_capacity,
                         sizeof(struct node *));
    m->mcps[m->mcp_count] = closure_add(&m->s->closure, &o, DOC_MCP);
    node_make_rare(m->mcps[m->mcp_count++], &m->s->cx->arena)->pin =
        catalog->package.commit;
}

/* Matches servers by key; selection_check_places() compares them. */
static void match_servers(struct import *m)
{
    struct arena *a = &m->s->cx->arena;
    struct map by_key;

    map_init(&by_key, a);
    for (size_t i = 0; i < m->mcp_count; i++)
        if (!m->mcps[i]->failed && m->mcps[i]->package.kind == DOC_MCP)
            map_put(&by_key, mcp_key(m->mcps[i]->package.fqn, a), m->mcps[i]);
    for (size_t i = 0; i < m->count; i++) {
        struct item *item = &m->items[i];
        struct node *n =
            item->is_server ? map_find(&by_key, item->entry.name) : NULL;

        if (!n)
            continue;
        item->node = n;
        item->shown->problem = STR("");
        item->shown->commit = n->package.commit;
    }
}

static bool has_server(const struct import *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].is_server)
            return true;
    return false;
}

static void match_folders(struct import *m, const struct node *catalog)
{
    bool wants_mcps = has_server(m);

    for (size_t i = 0; i < catalog->offer_count; i++) {
        const struct fetch_offer *offer = &catalog->offers[i];
        const struct item *known =
            map_find(&m->folders, path_last(offer->path));

        if (known && offer->kind == DOC_SKILL)
            add_candidate(m, known, catalog, offer);
        if (wants_mcps && offer->kind == DOC_MCP)
            add_mcp(m, catalog, offer);
    }
}

/* Indexes copies of the folders by name, because items move while candidates
 * are added. */
static void index_folders(struct import *m)
{
    struct arena *a = &m->s->cx->arena;

    map_init(&m->folders, a);
    for (size_t i = 0; i < m->count; i++) {
        struct item *copy;

        if (m->items[i].entry.line)
            continue;
        copy = arena_new(a, struct item);
        *copy = m->items[i];
        map_put(&m->folders, copy->entry.name, copy);
    }
}

/* Finds the skills that are known by their names alone, and the first catalog
 * that contains each folder's content. */
static bool request_catalogs(struct import *m, struct err *e)
{
    struct install_session *s = m->s;
    const struct str_list *from = &s->request->from;
    struct context *cx = s->cx;
    struct node **nodes =
        arena_array(&cx->arena, from->count + 1, sizeof(struct node *));
    size_t named = want_named(m);

    for (size_t i = 0; i < from->count; i++) {
        struct origin o;

        if (!origin_parse_argument(from->items[i], cx->cwd, cx->home,
                                   &s->layer.rules, &cx->arena, &o, e))
            return false;
        nodes[i] = closure_add_catalog(&s->closure, &o);
    }
    if (from->count + named && !closure_gather(&s->closure, e))
        return false;
    if (!resolve_all_named(m, e))
        return false;
    index_folders(m);
    for (size_t i = 0; i < from->count; i++) {
        if (nodes[i]->failed) {
            *e = *nodes[i]->failed;
            return err_wrap(e, "cannot look at %.*s", STR_ARG(from->items[i]));
        }
        match_folders(m, nodes[i]);
    }
    return true;
}

/* --- taking --------------------------------------------------------------- */

static bool gather(struct import *m, struct err *e)
{
    struct install_session *s = m->s;

    for (size_t i = 0; i < m->count; i++) {
        struct item *item = &m->items[i];
        unsigned kinds = item->entry.kind == DOC_SKILL
                             ? DOC_SKILL
                             : DOC_AGENT | DOC_SKILL | DOC_MCP;

        if (!item->has_origin)
            continue;
        item->node = closure_add(&s->closure, &item->origin, kinds);
        if (!origin_names_commit(&item->origin))
            node_make_rare(item->node, &s->cx->arena)->pin = item->entry.commit;
    }
    if (!closure_gather(&s->closure, e))
        return false;
    match_servers(m);
    return true;
}

static bool take(struct import *m, struct err *e)
{
    struct install_session *s = m->s;
    struct arena *a = &s->cx->arena;
    struct node **wanted = arena_array(a, m->count + 1, sizeof(struct node *));
    size_t count = 0;

    s->choices = arena_array(a, m->count + 1, sizeof *s->choices);
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].node)
            s->choices[s->choice_count++] =
                (struct choice){.node = m->items[i].node,
                                .name = m->items[i].entry.name,
                                .path = m->items[i].entry.path};
    if (!session_take_valid(s, e))
        return false;
    for (size_t i = 0; i < s->choice_count; i++)
        if (!s->choices[i].is_left_out)
            wanted[count++] = s->choices[i].node;
    return roots_take(s, wanted, count, e);
}

/* --- what is said of it --------------------------------------------------- */

static enum install_content compare(struct import *m, const struct item *item)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct install_session *s = m->s;
    const struct import_entry *x = &item->entry;
    struct package_file *files;
    struct err ignored = {0};
    struct hash hash;
    size_t count;
    bool is_same;

    if (x->tree.n)
        return str_eq(x->tree, item->node->object) ? CONTENT_SAME
                                                   : CONTENT_CHANGED;
    if (!x->hash.n) /* the file names the commit, or the folder matches */
        return item->shown->commit.n ? CONTENT_SAME : CONTENT_UNKNOWN;
    if (!store_read_listing(s->store, &item->node->digest, &scratch, &files,
                            &count, &ignored) ||
        !folder_hash(s->store, files, count, &scratch, &hash))
        return CONTENT_UNKNOWN;
    is_same = str_eq(hash_hex(&hash, &scratch), x->hash);
    return is_same ? CONTENT_SAME : CONTENT_CHANGED;
}

static bool is_there(int root, const struct item *item)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct node *n = item->node;
    struct str path;
    struct stat st;

    if (n->locked || n->package.kind == DOC_MCP)
        return item->is_server && !n->locked;
    path = fs_join(
        fs_join(STR(".agents"), str_cstr(doc_kind_plural(n->package.kind)), &a),
        path_last(n->package.fqn), &a);
    if (fs_stat_at(root, str_dup0(path, &a), &st) && S_ISDIR(st.st_mode))
        return true;
    path = fs_join(STR(SKILLS_FOLDER), path_last(n->package.fqn), &a);
    return fs_stat_at(root, str_dup0(path, &a), &st) && S_ISDIR(st.st_mode);
}

/* Indexes, for each folder, the candidate that was chosen, or else the last
 * one. */
static void index_best(const struct import *m, struct map *best)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct item *item = &m->items[i];
        struct map_entry *known;

        if (item->entry.line)
            continue;
        known = map_entry(best, item->shown->file);
        if (!known->value ||
            ((const struct install_import *)known->value)->problem.n)
            known->value = item->shown;
    }
}

static void show(struct import *m)
{
    struct install_session *s = m->s;
    CLEANUP_FD int root = -1;
    struct err ignored = {0};
    struct install_import *out =
        arena_array(&s->cx->arena, m->count + 1, sizeof *out);
    struct map best;
    size_t choice = 0, n = 0;

    if (!fs_open_dir(str_dup0(s->cx->use_global ? s->cx->home : s->layer.path,
                              &s->cx->arena),
                     &root, &ignored))
        root = -1;
    for (size_t i = 0; i < m->count; i++) {
        struct item *item = &m->items[i];
        const struct choice *c = item->node ? &s->choices[choice++] : NULL;

        if (!c)
            continue;
        item->shown->origin = item->node->origin->text;
        if (c->is_left_out) {
            item->shown->problem = c->message;
            continue;
        }
        item->shown->kind = item->node->package.kind;
        item->shown->name = item->node->package.fqn;
        item->shown->content = compare(m, item);
        item->shown->commit = item->node->package.commit;
        item->shown->is_taken_over = root >= 0 && is_there(root, item);
    }
    map_init(&best, &s->cx->arena);
    index_best(m, &best);
    for (size_t i = 0; i < m->count; i++) {
        if (!m->items[i].entry.line &&
            map_find(&best, m->items[i].shown->file) != m->items[i].shown)
            continue;
        s->plan.problem_count += m->items[i].shown->problem.n > 0;
        out[n++] = *m->items[i].shown;
    }
    s->plan.imports = out;
    s->plan.import_count = n;
}

bool import_packages(struct install_session *s, struct err *e)
{
    struct import m = {.s = s};
    struct closure_options o = {
        .offline = s->cx->is_offline,
        .allow_hidden = s->request->allow_hidden,
        .forget_files = s->request->dry_run,
        .on_fetched = NULL,
    };

    map_init(&m.names, &s->cx->arena);
    index_servers(&m);
    if (!read_all(&m, e))
        return false;
    for (size_t i = 0; i < m.count; i++)
        parse_origin(&m, &m.items[i]);
    if (!find_refs(&m, e))
        return false;
    closure_init(&s->closure, s->cx, &s->layers.whole, s->store, &o);
    for (size_t i = 0; i < s->root_count; i++)
        closure_add_root(&s->closure, &s->roots[i], false);
    if (!request_catalogs(&m, e) || !gather(&m, e) || !take(&m, e))
        return false;
    show(&m);
    return session_resolve(s, e);
}
