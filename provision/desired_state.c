#include "desired_state.h"

#include "base/fs.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include <dirent.h>

#include "render.h"

#define SKILLS_LOOKED_AT_MAX 200000 /* entries of .agents/skills */
#define TEXTS_EXPECTED       8 /* mapm.yaml, its lock, the local pair, .gitignore */

static struct target *add_target(struct desired_state *w, enum target_kind kind,
                                 struct str path, const struct client *c,
                                 const struct provision_item *item)
{
    struct target *t;

    w->targets = arena_grow(w->arena, w->targets, w->count, &w->capacity,
                            sizeof *w->targets);
    t = &w->targets[w->count++];
    *t = (struct target){.kind = kind, .path = path, .client = c, .item = item};
    return t;
}

/* Hashes the sources and rules of generated content. The parts are framed, so
 * that different lists have different hashes. */
static struct hash source_of(const struct desired_state *w, const char *role,
                             const struct client *c,
                             const struct provision_item *item, bool with_paths)
{
    struct hash_state s;
    struct str parts[] = {
        str_cstr(role),
        str_cstr(c ? c->name : ""),
        str_make((const char *)item->digest.b, sizeof item->digest.b),
        item->fqn,
        item->place,
        !with_paths         ? STR("")
        : w->scope->is_user ? w->options->program
                            : w->workspace,
        with_paths ? w->options->shared_dir : STR(""),
    };
    uint64_t version = RENDER_VERSION;

    hash_init(&s);
    hash_add(&s, str_make((const char *)&version, sizeof version));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t n = parts[i].n;

        hash_add(&s, str_make((const char *)&n, sizeof n));
        hash_add(&s, parts[i]);
    }
    return hash_end(&s);
}

/* --- packages ------------------------------------------------------------- */

static bool path_is_plain(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] < 0x20 || path.p[i] == 0x7f)
            return false;
    return fs_path_is_relative_clean(path);
}

static bool add_files(struct desired_state *w, struct target *t, struct err *e)
{
    const struct provision_item *item = t->item;
    const char *anchor = doc_entry_file(item->kind);

    t->files = arena_array(w->arena, item->file_count, sizeof *t->files);
    t->file_count = item->file_count;
    for (size_t i = 0; i < item->file_count; i++) {
        const struct package_file *f = &item->files[i];
        bool made = item->rename && str_is(f->path, anchor);

        if (!path_is_plain(f->path))
            return err_set(e, ERR_REFUSED, "%.*s: a file's path cannot be used",
                           STR_ARG(item->fqn));
        t->files[i].path = f->path;
        t->files[i].executable = f->executable;
        if (!made)
            t->files[i].hash = f->hash;
    }
    STR_SORT_BY(t->files, t->file_count, path);
    for (size_t i = 1; i < t->file_count; i++)
        if (str_eq(t->files[i - 1].path, t->files[i].path))
            return err_set(e, ERR_REFUSED, "%.*s: two files %.*s",
                           STR_ARG(item->fqn), STR_ARG(t->files[i].path));
    return true;
}

/* Adds a package of the workspace itself: a link in `folder` that leads out of
 * it. */
static void add_own(struct desired_state *w, const char *folder,
                    struct str path, const struct provision_item *item)
{
    struct target *t = add_target(w, TARGET_LINK, path, NULL, item);

    t->gives_way = true;
    t->link = item->own;
    if (place_is_of_user(path)) {
        t->link = fs_join(w->workspace, item->own, w->arena);
        return;
    }
    for (struct str rest = str_cstr(folder), name; str_cut(&rest, '/', &name);)
        t->link = fs_join(STR(".."), t->link, w->arena);
}

static bool add_tree(struct desired_state *w, const char *folder,
                     const struct provision_item *item, struct err *e)
{
    struct str path = fs_join(str_cstr(folder), item->place, w->arena);
    struct target *t;

    if (item->own.n) {
        add_own(w, folder, path, item);
        return true;
    }
    t = add_target(w, TARGET_TREE, path, NULL, item);
    t->source =
        source_of(w, item->rename ? "renamed" : "tree", NULL, item, false);
    return !item->files || add_files(w, t, e);
}

/* Returns the target of a link in the folder `from` to `to`: a relative path by
 * way of their common parent, or `to` if there is none. */
static struct str path_between(struct str from, struct str to, struct arena *a)
{
    size_t common = 0;
    struct str up = STR(""), name;
    bool is_absolute = str_starts(from, STR("/"));

    for (size_t i = 0; i <= from.n && i <= to.n; i++) {
        bool ends = i == from.n || from.p[i] == '/';

        if (ends && i < to.n && to.p[i] == '/')
            common = i + 1;
        if (i == from.n || i == to.n || from.p[i] != to.p[i])
            break;
    }
    if (is_absolute && common <= 1)
        return to;
    from = common < from.n ? str_from_index(from, common) : STR("");
    while (from.n && str_cut(&from, '/', &name))
        up = fs_join(up, STR(".."), a);
    return fs_join(up, str_from_index(to, common), a);
}

/* Adds the link to `name` in .agents/skills for a client with a folder of its
 * own. */
static struct target *add_link(struct desired_state *w, const struct client *c,
                               struct str name,
                               const struct provision_item *item)
{
    struct target *t = add_target(
        w, TARGET_LINK, fs_join(str_cstr(c->skills), name, w->arena), c, item);

    t->link = fs_join(
        path_between(str_cstr(c->skills), str_cstr(w->scope->skills), w->arena),
        name, w->arena);
    return t;
}

static bool has_skills_before(const struct client *rows, const bool *in_use,
                              size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (in_use[k] && rows[k].skills &&
            str_is(str_cstr(rows[i].skills), rows[k].skills))
            return true;
    return false;
}

/* Returns whether the package itself is installed where the client reads it. */
static bool is_source(const struct client *c, const struct provision_item *item,
                      struct arena *a)
{
    return str_eq(item->own, fs_join(str_cstr(c->skills), item->place, a));
}

/* Returns whether the i-th client also reads the folder, with its links, of
 * another client in use. */
static bool reads_of_another(const struct desired_state *w, const bool *in_use,
                             size_t i)
{
    const struct client *rows = w->scope->rows;
    const char *const *reads = rows[i].budget.workspace;

    if (w->scope->is_user || rows[i].copies_skills)
        return false;
    for (size_t k = 0; k < clients_count; k++)
        for (size_t n = 0; n < CLIENT_MAX_FOLDERS && reads[n]; n++)
            if (k != i && in_use[k] && rows[k].skills &&
                str_is(str_cstr(reads[n]), rows[k].skills))
                return true;
    return false;
}

static bool add_skill(struct desired_state *w,
                      const struct provision_item *item, const bool *in_use,
                      struct err *e)
{
    size_t own = w->count;

    if (!add_tree(w, item->is_searched ? SEARCHED_FOLDER : w->scope->skills,
                  item, e))
        return false;
    for (size_t i = 0; i < clients_count && !item->is_searched; i++) {
        struct target *t;

        if (!in_use[i] || !w->scope->rows[i].skills ||
            has_skills_before(w->scope->rows, in_use, i) ||
            reads_of_another(w, in_use, i))
            continue;
        if (item->own.n && is_source(&w->scope->rows[i], item, w->arena))
            continue;
        t = add_link(w, &w->scope->rows[i], item->place, item);
        t->gives_way = item->own.n > 0;
        t->is_copied = w->scope->rows[i].copies_skills && item->own.n == 0;
        /* A copy consists of the same files at another path; see
         * plan_link(). */
        t->source = w->targets[own].source;
        t->files = w->targets[own].files;
        t->file_count = item->files && !item->own.n ? item->file_count : 0;
    }
    return true;
}

/* At user level, a client that was not chosen gets only links to skills. */
static bool may_have_files(const struct desired_state *w,
                           const struct client *c)
{
    return !w->scope->is_user ||
           clients_selection(&w->options->clients, c) == CLIENT_YES;
}

/* Returns whether an earlier client in use reads the same sub-agents. */
static bool has_agents_before(const struct client *rows, const bool *in_use,
                              size_t i)
{
    const struct client *c = &rows[i];

    for (size_t k = 0; k < i; k++)
        if (in_use[k] && rows[k].agents &&
            str_is(str_cstr(c->agents), rows[k].agents) &&
            str_is(str_cstr(c->suffix), rows[k].suffix))
            return true;
    return false;
}

static void add_agent_file(struct desired_state *w, const struct client *c,
                           const struct provision_item *item, bool is_prompt)
{
    struct str path = is_prompt ? arena_printf(w->arena,
                                               "%s/" CLIENT_PROMPT_PREFIX
                                               "%.*s" CLIENT_PROMPT_SUFFIX,
                                               c->prompts, STR_ARG(item->place))
                                : arena_printf(w->arena, "%s/%.*s%s", c->agents,
                                               STR_ARG(item->place), c->suffix);
    struct target *t = add_target(w, TARGET_FILE, path, c, item);

    t->is_prompt = is_prompt;
    t->source = source_of(w, is_prompt ? "prompt" : "agent", c, item, false);
    t->files = arena_new(w->arena, struct desired_file);
    t->files->path = STR(".");
    t->file_count = 1;
}

static bool add_agent(struct desired_state *w,
                      const struct provision_item *item, const bool *in_use,
                      struct err *e)
{
    if (!add_tree(w, AGENTS_FOLDER, item, e))
        return false;
    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &w->scope->rows[i];

        if (!in_use[i] || !c->agents || !may_have_files(w, c) ||
            has_agents_before(w->scope->rows, in_use, i))
            continue;
        add_agent_file(w, c, item, false);
        if (c->prompts)
            add_agent_file(w, c, item, true);
    }
    return true;
}

/* --- servers -------------------------------------------------------------- */

struct target *desired_state_add_shared(struct desired_state *w,
                                        const struct client *c, struct str path)
{
    struct target *t =
        add_target(w, TARGET_SHARED, arena_str(w->arena, path), c, NULL);

    t->shape = c->mcp.shape;
    return t;
}

bool desired_state_open_shared(const struct target *t, struct str text,
                               struct arena *a, struct merge *out,
                               struct err *e)
{
    struct merge_file file = {t->shape, t->client->name, t->path};

    return merge_open(&file, text, a, out, e);
}

/* Several clients read .mcp.json. */
static bool has_shared(const struct desired_state *w, struct str path)
{
    for (size_t i = w->count; i-- > 0 && w->targets[i].kind == TARGET_SHARED;)
        if (str_eq(w->targets[i].path, path))
            return true;
    return false;
}

static bool is_remote(struct desired_state *w,
                      const struct provision_item *item)
{
    const struct document *d;
    struct err ignored = {0};
    struct str text;

    return desired_state_read_document(w, item, &d, &text, &ignored) &&
           d->mcp && !json_get(d->mcp, "command");
}

static bool has_servers(const struct record *known, const struct client_mcp *m)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->entries[i].kind == RECORD_SHARED &&
            clients_mcp_is_at(m, known->entries[i].path))
            return true;
    return false;
}

struct str desired_state_mcp_file(const struct desired_state *w,
                                  const struct client *c,
                                  const struct record *known)
{
    if (c->mcp.unverified && !clients_is_named(&w->options->clients, c) &&
        !has_servers(known, &c->mcp))
        return (struct str){0};
    return clients_mcp_file(c, w->root);
}

static void add_servers(struct desired_state *w, const struct client *c,
                        const struct provision_item *items, size_t count,
                        size_t server_count, const struct record *known)
{
    bool start = w->options->start_servers;
    struct str path = desired_state_mcp_file(w, c, known);
    struct target *t;
    struct stat st;

    if (!path.p || !may_have_files(w, c) || has_shared(w, path) ||
        (!server_count && !fs_stat_at(w->root, str_dup0(path, w->arena), &st)))
        return;
    t = desired_state_add_shared(w, c, path);

    t->servers = arena_array(w->arena, server_count, sizeof *t->servers);
    for (size_t i = 0; i < count; i++) {
        if (items[i].kind != DOC_MCP ||
            (c->mcp.shape->is_local && is_remote(w, &items[i])))
            continue;
        t->servers[t->server_count++] = (struct desired_server){
            .item = &items[i],
            .source =
                source_of(w, start ? "start" : "server", c, &items[i], !start),
        };
    }
}

/* --- clients in use -------------------------------------------------------- */

/* Returns whether mapm created the marker. */
static bool is_made(const struct record *known, struct str marker)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->entries[i].kind == RECORD_SHARED &&
            known->entries[i].created && str_eq(known->entries[i].path, marker))
            return true;
    return record_has_folder(known, marker);
}

static bool is_marked(const struct desired_state *w, const char *marker,
                      const struct record *known)
{
    struct stat st;

    return marker && fs_stat_at(w->root, marker, &st) &&
           (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) &&
           !is_made(known, str_cstr(marker));
}

static bool has_marker(const struct desired_state *w, const struct client *c,
                       const struct record *known)
{
    for (size_t i = 0; i < CLIENT_MAX_MARKERS; i++)
        if (is_marked(w, c->markers[i], known))
            return true;
    return false;
}

bool desired_state_is_marked(const struct desired_state *w,
                             const struct client *c, const struct record *known)
{
    size_t row = 0;

    while (w->marked && row < clients_count && c != &w->scope->rows[row])
        row++;
    if (!w->marked || row == clients_count)
        return has_marker(w, c, known);
    if (!w->marked[row])
        w->marked[row] = has_marker(w, c, known) ? 'y' : 'n';
    return w->marked[row] == 'y';
}

bool desired_state_is_in_use(const struct desired_state *w,
                             const struct client *c, const struct record *known)
{
    enum client_selection selection =
        clients_selection(&w->options->clients, c);

    if (selection != CLIENT_UNSET || w->options->clients.is_for_run)
        return selection == CLIENT_YES;
    if (w->scope->is_user || c->always)
        return c->always;
    return clients_is_verified(c) && desired_state_is_marked(w, c, known);
}

static bool check_item(const struct provision_item *item, struct err *e)
{
    if (item->kind != DOC_MCP && !name_is_kebab(item->place))
        return err_set(e, ERR_NAME, "%.*s: \"%.*s\" cannot name a folder",
                       STR_ARG(item->fqn), STR_ARG(item->place));
    if (item->kind != DOC_MCP)
        return true;
    if (!place_is_server_key(item->place) ||
        (item->files && item->file_count != 1))
        return err_set(e, ERR_MCP, "%.*s: \"%.*s\" cannot be its key",
                       STR_ARG(item->fqn), STR_ARG(item->place));
    return true;
}

/* Checks that no two items have the same path on any file system. */
static bool check_places(const struct provision_item *items, size_t count,
                         struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct map seen;

    map_init(&seen, &scratch);
    for (size_t i = 0; i < count; i++) {
        const struct str key[] = {str_cstr(doc_kind_name(items[i].kind)),
                                  STR("/"), items[i].place};
        struct map_entry *entry;

        if (!check_item(&items[i], e))
            return false;
        entry =
            map_entry(&seen, str_lower(str_concat(key, 3, &scratch), &scratch));
        if (entry->value) {
            const struct provision_item *other = entry->value;

            return err_set(e, ERR_CONFLICT, "%.*s and %.*s both want \"%.*s\"",
                           STR_ARG(other->fqn), STR_ARG(items[i].fqn),
                           STR_ARG(items[i].place));
        }
        entry->value = (void *)(uintptr_t)&items[i];
    }
    return true;
}

/* --- skills of the user ---------------------------------------------------- */

static bool is_skill_of_user(const struct desired_state *w,
                             const struct fs_entry *entry,
                             const struct map *places,
                             const struct record *known)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str folder = fs_join(STR(SKILLS_FOLDER), entry->name, &a);
    struct stat st;

    return entry->type == DT_DIR && name_is_kebab(entry->name) &&
           !map_has(places, entry->name) && !map_has(&known->by_path, folder) &&
           fs_stat_at(w->root, fs_join(folder, STR("SKILL.md"), &a).p, &st) &&
           S_ISREG(st.st_mode);
}

/* Adds links for skills in .agents/skills that mapm did not install. */
static void add_skills_of_user(struct desired_state *w,
                               const struct provision_item *items,
                               size_t item_count, const bool *in_use,
                               const struct record *known)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fs_entry *entries;
    struct err ignored = {0};
    struct map places;
    size_t count;

    if (w->scope->is_user ||
        !fs_list_at(w->root, SKILLS_FOLDER, SKILLS_LOOKED_AT_MAX, &a, &entries,
                    &count, &ignored))
        return;
    map_init(&places, &a);
    for (size_t i = 0; i < w->options->gone_count; i++)
        if (w->options->gone[i].kind == DOC_SKILL)
            map_put(&places, w->options->gone[i].place, w);
    for (size_t i = 0; i < item_count; i++)
        if (items[i].kind == DOC_SKILL)
            map_put(&places, items[i].place, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!is_skill_of_user(w, &entries[i], &places, known))
            continue;
        for (size_t k = 0; k < clients_count; k++)
            if (in_use[k] && w->scope->rows[k].skills &&
                !reads_of_another(w, in_use, k))
                add_link(w, &w->scope->rows[k],
                         arena_str(w->arena, entries[i].name), NULL)
                    ->gives_way = true;
    }
}

/* Allocates all targets at once; an array that doubles would be held twice. */
static void reserve_targets(struct desired_state *w, size_t items,
                            const bool *in_use)
{
    size_t folders = 1;

    for (size_t i = 0; i < clients_count; i++)
        folders +=
            in_use[i] && (w->scope->rows[i].skills || w->scope->rows[i].agents);
    w->capacity = items * folders + clients_count + TEXTS_EXPECTED;
    w->targets = arena_array(w->arena, w->capacity, sizeof *w->targets);
}

static const bool *find_in_use(const struct desired_state *w,
                               const struct record *known)
{
    bool *in_use = arena_array(w->arena, clients_count, sizeof *in_use);

    for (size_t i = 0; i < clients_count; i++)
        in_use[i] = desired_state_is_in_use(w, &w->scope->rows[i], known);
    return in_use;
}

static void add_all_servers(struct desired_state *w,
                            const struct provision_item *items, size_t count,
                            const bool *in_use, const struct record *known)
{
    const struct provision_options *o = w->options;
    size_t servers = 0, gone = 0;

    for (size_t i = 0; i < count; i++)
        servers += items[i].kind == DOC_MCP;
    for (size_t i = 0; i < o->gone_count; i++)
        gone += o->gone[i].kind == DOC_MCP;
    for (size_t i = 0; servers + gone && i < clients_count; i++)
        if (in_use[i])
            add_servers(w, &w->scope->rows[i], items, count, servers, known);
}

bool desired_state_build(struct desired_state *w,
                         const struct provision_item *items, size_t item_count,
                         const struct record *known, struct err *e)
{
    const bool *in_use;

    if (!check_places(items, item_count, e))
        return false;
    in_use = find_in_use(w, known);
    reserve_targets(w, item_count, in_use);
    for (size_t i = 0; i < item_count; i++) {
        if (items[i].kind == DOC_SKILL && !add_skill(w, &items[i], in_use, e))
            return false;
        if (items[i].kind == DOC_AGENT && !add_agent(w, &items[i], in_use, e))
            return false;
    }
    add_skills_of_user(w, items, item_count, in_use, known);
    add_all_servers(w, items, item_count, in_use, known);
    return true;
}

bool desired_state_add_package(struct desired_state *w,
                               const struct provision_item *item, struct err *e)
{
    bool *all = arena_array(w->arena, clients_count, sizeof *all);

    for (size_t i = 0; i < clients_count; i++)
        all[i] = true;
    return item->kind == DOC_SKILL ? add_skill(w, item, all, e)
                                   : add_agent(w, item, all, e);
}

void desired_state_add_servers(struct desired_state *w,
                               const struct provision_item *items, size_t count,
                               const struct record *known)
{
    add_all_servers(w, items, count, find_in_use(w, known), known);
}

bool desired_state_add_texts(struct desired_state *w,
                             const struct provision_text *texts, size_t count,
                             struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        struct target *t;

        if (!place_is_text(texts[i].path))
            return err_set(e, ERR_REFUSED, "%.*s was not written by mapm",
                           STR_ARG(texts[i].path));
        t = add_target(w, TARGET_TEXT, arena_str(w->arena, texts[i].path), NULL,
                       NULL);
        t->content = texts[i].content;
    }
    return true;
}

/* --- generated content ----------------------------------------------------- */

static bool read_object(struct desired_state *w,
                        const struct provision_item *item, const struct hash *h,
                        size_t max, struct str *out, struct err *e)
{
    const struct provision_objects *o = &w->options->objects;

    return o->read(o->ctx, h, max, w->arena, out, e) ||
           err_wrap(e, "read %.*s", STR_ARG(item->fqn));
}

static bool read_anchor(struct desired_state *w,
                        const struct provision_item *item, struct str *out,
                        struct err *e)
{
    const char *anchor = doc_entry_file(item->kind);

    for (size_t i = 0; i < item->file_count; i++)
        if (item->kind == DOC_MCP || str_is(item->files[i].path, anchor))
            return read_object(w, item, &item->files[i].hash,
                               item->kind == DOC_MCP ? MCP_MAX_BYTES
                                                     : ANCHOR_MAX_BYTES,
                               out, e);
    return err_set(e, ERR_FORMAT, "%.*s has no %s", STR_ARG(item->fqn), anchor);
}

bool desired_state_read_document(struct desired_state *w,
                                 const struct provision_item *item,
                                 const struct document **out, struct str *text,
                                 struct err *e)
{
    struct str key = str_make((const char *)&item, sizeof item);
    struct map_entry *entry;
    struct manifest_input in = {
        .kind = item->kind,
        .allow_own = true,
        .allow_file = true,
        .allow_hidden = true,
        .skip_body = true,
    };
    struct diagnostics why;
    struct document *d;

    if (!read_anchor(w, item, text, e))
        return false;
    entry = map_entry(&w->documents, arena_str(w->arena, key));
    if (!entry->value) {
        /* diagnostics were reported when the package was resolved */
        diagnostics_init(&why, w->arena);
        d = arena_new(w->arena, struct document);
        in.text = *text;
        manifest_read(&in, w->arena, d, &why);
        entry->value = d;
    }
    *out = entry->value;
    return true;
}

/* Returns whether the agent has files besides those that are rendered or
 * mentioned. */
static bool has_siblings(const struct provision_item *item)
{
    for (size_t i = 0; i < item->file_count; i++)
        if (!str_is(item->files[i].path, doc_entry_file(item->kind)) &&
            !str_is(item->files[i].path, "CHANGELOG.md"))
            return true;
    return false;
}

static bool make_file(struct desired_state *w, const struct target *t,
                      struct desired_file *f, struct err *e)
{
    const struct document *d;
    struct str text;

    if (!hash_is_zero(&f->hash))
        return true;
    if (t->kind == TARGET_FILE) {
        if (!desired_state_read_document(w, t->item, &d, &text, e))
            return false;
        f->content = t->is_prompt
                         ? render_agent_prompt(d, t->item->place,
                                               has_siblings(t->item), w->arena)
                         : render_agent(t->client, d, t->item->place,
                                        has_siblings(t->item), w->arena);
    } else if (!read_anchor(w, t->item, &text, e) ||
               !manifest_rename(text, t->item->place, w->arena, &f->content,
                                e)) {
        return false;
    }
    f->hash = hash_of(f->content);
    return true;
}

bool desired_state_make_files(struct desired_state *w, struct target *t,
                              struct err *e)
{
    for (size_t i = 0; i < t->file_count; i++)
        if (!make_file(w, t, &t->files[i], e))
            return false;
    return true;
}
