#include "base/fs.h"

#include "work.h"

/* Adds a record entry for a changed target; stage.c completes it. */
static void add_entry(struct plan *plan, struct change *c,
                      enum record_kind kind)
{
    const struct record_entry *known = provision_recorded(plan->p, c->path);
    struct record_entry entry = {
        .kind = kind,
        .path = c->path,
        .source = c->target->source,
        .link = c->target->link,
        .taken = kind == RECORD_TREE && known && known->taken,
    };

    c->entry = plan->next.count;
    record_add(&plan->next, plan->arena, &entry);
}

/* --- packages' folders ---------------------------------------------------- */

struct comparison {
    bool differs;   /* differs from the desired content */
    size_t missing; /* number of desired files that are absent */
};

/* Examines one node; an edit is recorded only if it would be lost. */
static void decide_node(struct plan *plan, const struct target *t,
                        struct str path, const struct disk_node *node,
                        const struct desired_file *f,
                        const struct record_file *r, struct comparison *out,
                        bool note)
{
    bool regular = S_ISREG(node->st.st_mode);

    if (regular && f && hash_eq(&node->hash, &f->hash)) {
        out->differs |= !disk_has_mode(node, f, r);
        return;
    }
    if (f || r || plan->restoring)
        out->differs = true;
    if (regular && r && hash_eq(&node->hash, &r->hash))
        return;
    if (note)
        plan_add_edit(plan, path, node->path,
                      !regular ? "was not written by mapm"
                      : r      ? "was changed"
                      : t && f ? "is there already, and differs"
                               : "was added");
}

static void compare_tree(struct plan *plan, const struct target *t,
                         struct str path, const struct disk_node *nodes,
                         size_t count, const struct record_entry *known,
                         struct comparison *out, bool note)
{
    struct disk_walk walk = {
        t ? t->files : NULL, t ? t->file_count : 0, nodes, count, 0, 0};
    const struct desired_file *file;
    const struct disk_node *node;

    *out = (struct comparison){.differs = t == NULL};
    while (disk_next_pair(&walk, &file, &node)) {
        if (node)
            decide_node(plan, t, path, node, file,
                        record_find(known, node->path), out, note);
        else
            out->missing++;
    }
    out->differs |= out->missing != 0;
}

/* Records a folder whose content is as desired. */
static void adopt_tree(struct plan *plan, const struct target *t,
                       const struct disk_node *nodes, size_t count)
{
    struct record_entry entry = {
        .kind = RECORD_TREE, .path = t->path, .source = t->source};
    const struct record_entry *known = provision_recorded(plan->p, t->path);
    size_t at = 0;

    entry.taken = known ? known->taken : plan->desired.options->takes_over;
    entry.files = arena_array(plan->arena, t->file_count, sizeof *entry.files);
    for (size_t i = 0; i < count && at < t->file_count; i++) {
        if (!str_eq(nodes[i].path, t->files[at].path))
            continue; /* a file of the user is not touched */
        entry.files[entry.file_count++] = (struct record_file){
            .path = nodes[i].path,
            .executable = t->files[at].executable,
            .mode = nodes[i].st.st_mode & 07777,
            .hash = nodes[i].hash,
            .stat = file_stat_seen(&nodes[i].st, nodes[i].seen, true),
        };
        at++;
    }
    record_add(&plan->next, plan->arena, &entry);
    plan->stale = true;
}

/* Handles a node that mapm did not create: with `force` it is moved to the
 * backup, otherwise it counts as an edit of the user. */
static bool displace(struct plan *plan, struct change *c, const char *what)
{
    c->keep = plan_forces(plan);
    if (!c->keep)
        plan_add_edit(plan, c->path, STR(""), what);
    return true;
}

/* Returns whether the folder has what the lock says, although the record does
 * not: it came with a checkout. */
static bool is_as_locked(const struct plan *plan, struct str path,
                         const struct disk_node *nodes, size_t count)
{
    const struct provision_options *o = plan->desired.options;
    struct package_file *files =
        arena_array(plan->arena, count + 1, sizeof *files);

    if (!o->is_locked || count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!S_ISREG(nodes[i].st.st_mode))
            return false;
        files[i] = (struct package_file){
            .executable = (nodes[i].st.st_mode & S_IXUSR) != 0,
            .hash = nodes[i].hash,
            .path = nodes[i].path,
        };
    }
    return o->is_locked(o->locked_ctx, path, files, count);
}

/* Compares the folder `path` with `t`; NULL to remove it. Sets *same. */
static bool decide_tree(struct plan *plan, struct target *t, struct change *c,
                        const struct record_entry *known, bool *same,
                        struct err *e)
{
    struct comparison found;
    struct disk_node *nodes;
    size_t count, before = plan->edits.count;
    bool force = plan_forces(plan);

    *same = false;
    if (t && !desired_state_make_files(&plan->desired, t, e))
        return false;
    if (!plan_remember(plan, c, e) ||
        !disk_read_tree(plan->p, c->path.p, known, false, plan->arena, &nodes,
                        &count, e))
        return false;
    compare_tree(plan, t, c->path, nodes, count, known, &found, false);
    if (t && !found.differs && !known && place_is_of_user(c->path) && !force &&
        !plan->desired.options->takes_over)
        return displace(plan, c, "is there already, and is not of mapm");
    if (t && !found.differs) {
        adopt_tree(plan, t, nodes, count);
        *same = true;
        return true;
    }
    if ((known || !place_is_of_user(c->path)) &&
        is_as_locked(plan, c->path, nodes, count))
        return true;
    compare_tree(plan, t, c->path, nodes, count, known, &found, true);
    if (force && plan->edits.count > before) {
        plan->edits.count = before;
        c->keep = true;
    }
    return true;
}

/* Replaces a link of mapm by a copy; the link is not an edit of the user. */
static bool displace_link(struct plan *plan, struct change *c,
                          const struct record_entry *known,
                          const struct stat *st)
{
    struct str text;

    if (known && known->kind == RECORD_LINK && S_ISLNK(st->st_mode) &&
        disk_read_link(plan->p->root, c->path.p, plan->arena, &text) &&
        str_eq(text, known->link))
        return true;
    return displace(plan, c, plan_kind_of(st));
}

bool plan_tree(struct plan *plan, struct target *t, struct err *e)
{
    const struct record_entry *known = provision_recorded(plan->p, t->path);
    struct change *c;
    struct stat st;
    bool same = false;

    if (!plan->restoring && disk_is_recorded(plan->p, t, known)) {
        struct record_entry entry = *known;

        plan->stale |= !hash_eq(&entry.source, &t->source);
        entry.source = t->source;
        record_add(&plan->next, plan->arena, &entry);
        return true;
    }
    c = plan_add_change(plan, NODE_TREE, t, t->path);
    if (!plan_stat(plan, t->path, &st)) {
        if (!desired_state_make_files(&plan->desired, t, e))
            return false;
        plan_show(plan, PROVISION_ADD, t->path, t->client);
    } else {
        if (S_ISDIR(st.st_mode)
                ? !decide_tree(plan, t, c, known, &same, e)
                : !desired_state_make_files(&plan->desired, t, e) ||
                      !plan_remember(plan, c, e) ||
                      !displace_link(plan, c, known, &st))
            return false;
        if (same) {
            plan->count--;
            return true;
        }
        plan_show(plan, PROVISION_UPDATE, t->path, t->client);
    }
    plan_mark_repair(plan, known ? &known->source : NULL, &t->source);
    add_entry(plan, c, RECORD_TREE);
    return true;
}

/* --- links to them -------------------------------------------------------- */

/* Caches the answer for all links of a client. */
static bool is_linked(struct plan *plan, const struct client *c)
{
    char *known = &plan->linked[c - plan->p->scope->rows];

    if (!*known)
        *known = disk_is_linked(plan->p, c) ? 'y' : 'n';
    return *known == 'y';
}

/* Plans a link where a folder exists. A folder of the user is kept and
 * reported. */
static bool plan_link_over(struct plan *plan, struct target *t, struct err *e)
{
    const struct record_entry *known = provision_recorded(plan->p, t->path);
    struct change *c;
    bool same;

    if (!known || known->kind != RECORD_TREE) {
        plan->taken = arena_grow(plan->arena, plan->taken, plan->taken_count,
                                 &plan->taken_capacity, sizeof *plan->taken);
        plan->taken[plan->taken_count++] = t->path;
        plan->stale |= known != NULL;
        return true;
    }
    c = plan_add_change(plan, NODE_LINK, t, t->path);
    if (!decide_tree(plan, NULL, c, known, &same, e))
        return false;
    plan_show(plan, PROVISION_UPDATE, t->path, t->client);
    add_entry(plan, c, RECORD_LINK);
    return true;
}

bool plan_link(struct plan *plan, struct target *t, struct err *e)
{
    const struct record_entry *known = provision_recorded(plan->p, t->path);
    struct record_entry entry = {
        .kind = RECORD_LINK, .path = t->path, .link = t->link};
    struct change *c;
    struct stat st;
    struct str text = {0};

    if (t->client && is_linked(plan, t->client))
        return true;
    if (t->is_copied)
        return plan_tree(plan, t, e);
    if (!plan_stat(plan, t->path, &st)) {
        c = plan_add_change(plan, NODE_LINK, t, t->path);
        plan_show(plan, PROVISION_ADD, t->path, t->client);
        plan->shown[plan->shown_count - 1].is_repair =
            known && known->kind == RECORD_LINK && str_eq(known->link, t->link);
        add_entry(plan, c, RECORD_LINK);
        return true;
    }
    if (S_ISDIR(st.st_mode) && t->gives_way)
        return plan_link_over(plan, t, e);
    if (S_ISDIR(st.st_mode))
        return plan_tree(plan, t, e); /* a copy, if links are not supported */
    if (S_ISLNK(st.st_mode) &&
        disk_read_link(plan->p->root, t->path.p, plan->arena, &text) &&
        str_eq(text, t->link)) {
        plan->stale |= !known || known->kind != RECORD_LINK;
        record_add(&plan->next, plan->arena, &entry);
        return true;
    }
    c = plan_add_change(plan, NODE_LINK, t, t->path);
    if (!plan_remember(plan, c, e))
        return false;
    if (!(known && known->kind == RECORD_LINK && str_eq(known->link, text)) &&
        !displace(plan, c, plan_kind_of(&st)))
        return false;
    plan_show(plan, PROVISION_UPDATE, t->path, t->client);
    add_entry(plan, c, RECORD_LINK);
    return true;
}

/* --- rendered agents ------------------------------------------------------ */

static bool decide_file(struct plan *plan, struct target *t, struct change *c,
                        const struct record_entry *known, bool *same,
                        struct err *e)
{
    struct desired_file *f = &t->files[0];
    struct disk_node node;
    struct record_entry entry = {
        .kind = RECORD_FILE, .path = t->path, .source = t->source};

    if (!plan_remember(plan, c, e) ||
        !disk_read_file(plan->p, t->path.p, known, false, &node, e))
        return false;
    *same = hash_eq(&node.hash, &f->hash);
    if (*same) {
        entry.files = arena_new(plan->arena, struct record_file);
        entry.files[0] = (struct record_file){
            .path = STR("."),
            .mode = node.st.st_mode & 07777,
            .hash = node.hash,
            .stat = file_stat_seen(&node.st, node.seen, false),
        };
        entry.file_count = 1;
        record_add(&plan->next, plan->arena, &entry);
        plan->stale = true;
        return true;
    }
    if (known && known->kind == RECORD_FILE && known->file_count &&
        hash_eq(&node.hash, &known->files[0].hash))
        return true;
    return displace(plan, c,
                    known ? "was changed" : "is there already, and differs");
}

bool plan_file(struct plan *plan, struct target *t, struct err *e)
{
    const struct record_entry *known = provision_recorded(plan->p, t->path);
    struct change *c;
    struct stat st;
    bool there, same = false;

    if (disk_is_recorded(plan->p, t, known)) {
        record_add(&plan->next, plan->arena, known);
        return true;
    }
    if (!desired_state_make_files(&plan->desired, t, e))
        return false;
    c = plan_add_change(plan, NODE_FILE, t, t->path);
    c->content = t->files[0].content;
    there = plan_stat(plan, t->path, &st);
    if (there &&
        (S_ISREG(st.st_mode) ? !decide_file(plan, t, c, known, &same, e)
                             : !plan_remember(plan, c, e) ||
                                   !displace(plan, c, plan_kind_of(&st))))
        return false;
    if (same) {
        plan->count--;
        return true;
    }
    plan_show(plan, there ? PROVISION_UPDATE : PROVISION_ADD, t->path,
              t->client);
    add_entry(plan, c, RECORD_FILE);
    return true;
}

/* --- removal
 * ---------------------------------------------------------------- */

static const struct client *client_of(const struct client_scope *s,
                                      struct str path)
{
    for (size_t i = 0; i < clients_count; i++)
        if ((s->rows[i].skills &&
             str_starts(path, str_cstr(s->rows[i].skills))) ||
            clients_agent_is_at(&s->rows[i], path))
            return &s->rows[i];
    return NULL;
}

static bool decide_leaving(struct plan *plan, struct change *c,
                           const struct record_entry *known,
                           const struct stat *st, struct err *e)
{
    struct disk_node node;
    struct str text;
    bool same;

    if (known->kind == RECORD_TREE && S_ISDIR(st->st_mode))
        return decide_tree(plan, NULL, c, known, &same, e);
    if (!plan_remember(plan, c, e))
        return false;
    if (known->kind == RECORD_LINK && S_ISLNK(st->st_mode) &&
        disk_read_link(plan->p->root, c->path.p, plan->arena, &text) &&
        str_eq(text, known->link))
        return true;
    if (known->kind == RECORD_FILE && S_ISREG(st->st_mode) &&
        known->file_count) {
        if (!disk_read_file(plan->p, c->path.p, known, false, &node, e))
            return false;
        if (hash_eq(&node.hash, &known->files[0].hash))
            return true;
        return displace(plan, c, "was changed");
    }
    return displace(plan, c, plan_kind_of(st));
}

bool plan_leaving(struct plan *plan, const struct record_entry *known,
                  struct err *e)
{
    struct change *c;
    struct str path = arena_str(plan->arena, known->path);
    struct stat st;

    if (!fs_stat_at(plan->p->root, path.p, &st)) {
        plan->stale = true; /* already removed: drop it from the record */
        return true;
    }
    c = plan_add_change(plan, NODE_NONE, NULL, path);
    plan_show(plan, PROVISION_REMOVE, path, client_of(plan->p->scope, path));
    return decide_leaving(plan, c, known, &st, e);
}

/* --- before there is a plan ----------------------------------------------- */

static bool has_file(const struct package_file *files, size_t count,
                     const struct disk_node *node)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(files[i].path, node->path))
            return S_ISREG(node->st.st_mode) &&
                   hash_eq(&files[i].hash, &node->hash);
    return false;
}

static bool is_folder_taken(struct provision *p, const struct target *t,
                            struct arena *a, bool *taken, struct err *e)
{
    const struct provision_item *item = t->item;
    struct disk_node *nodes;
    size_t count, same = 0;

    if (!disk_read_tree(p, t->path.p, NULL, true, a, &nodes, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        same += has_file(item->files, item->file_count, &nodes[i]);
    *taken = same < item->file_count && same < count;
    return true;
}

static bool is_file_taken(struct provision *p, struct desired_state *w,
                          struct target *t, bool *taken, struct err *e)
{
    struct disk_node node;

    if (!desired_state_make_files(w, t, e) ||
        !disk_read_file(p, t->path.p, NULL, true, &node, e))
        return false;
    *taken = !hash_eq(&node.hash, &t->files[0].hash);
    return true;
}

static bool is_taken(struct provision *p, struct desired_state *w,
                     struct target *t, bool *taken, struct err *e)
{
    struct stat st;
    struct str text;

    *taken = false;
    if (!fs_stat_at(p->root, t->path.p, &st))
        return true;
    if (!provision_load(p, e))
        return false;
    if (provision_recorded(p, t->path) ||
        (t->client && !desired_state_is_in_use(w, t->client, &p->record)) ||
        (t->kind == TARGET_LINK && disk_is_linked(p, t->client)))
        return true;
    *taken = true;
    if (t->kind == TARGET_FILE)
        return !S_ISREG(st.st_mode) || is_file_taken(p, w, t, taken, e);
    if (S_ISDIR(st.st_mode))
        return is_folder_taken(p, t, w->arena, taken, e);
    *taken = t->kind != TARGET_LINK || !S_ISLNK(st.st_mode) ||
             !disk_read_link(p->root, t->path.p, w->arena, &text) ||
             !str_eq(text, t->link);
    return true;
}

static bool find_taken(struct provision *p, const struct provision_options *o,
                       const struct provision_item *item, struct arena *a,
                       struct str *path, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct desired_state w;
    bool taken = false;

    provision_desired_state(p, o, &scratch, &w);
    if (!desired_state_add_package(&w, item, e))
        return false;
    for (size_t i = 0; i < w.count && !taken; i++) {
        if (!is_taken(p, &w, &w.targets[i], &taken, e))
            return false;
        if (taken)
            *path = arena_str(a, w.targets[i].path);
    }
    return true;
}

/* Reads each client's file once for all keys. */
static bool find_taken_keys(struct provision *p,
                            const struct provision_options *o,
                            const struct provision_item *items, size_t count,
                            struct arena *a, struct str *paths, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct desired_state w;

    provision_desired_state(p, o, &scratch, &w);
    desired_state_add_servers(&w, items, count, &p->record);
    for (size_t i = 0; i < w.count; i++) {
        struct target *t = &w.targets[i];
        bool *foreign = arena_array(&scratch, t->server_count, sizeof *foreign);

        if (!plan_find_foreign(p, &w, t, foreign, e))
            return false;
        for (size_t k = 0; k < t->server_count; k++) {
            const struct provision_item *item = t->servers[k].item;

            if (foreign[k] && paths[item - items].n == 0)
                paths[item - items] =
                    arena_printf(a, "%s#%.*s", t->path.p, STR_ARG(item->place));
        }
    }
    return true;
}

bool provision_find_taken(struct provision *p,
                          const struct provision_options *o,
                          const struct provision_item *items, size_t count,
                          struct arena *a, struct str *paths, struct err *e)
{
    bool has_server = false;

    for (size_t i = 0; i < count; i++) {
        paths[i] = STR("");
        has_server |= items[i].kind == DOC_MCP;
        if (items[i].kind != DOC_MCP &&
            !find_taken(p, o, &items[i], a, &paths[i], e))
            return false;
    }
    return !has_server || (provision_load(p, e) &&
                           find_taken_keys(p, o, items, count, a, paths, e));
}
