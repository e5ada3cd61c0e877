#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

void plan_add_edit(struct plan *plan, struct str path, struct str name,
                   const char *how)
{
    struct edits *edits = &plan->edits;
    const char *slash = name.n ? "/" : "";

    edits->count++;
    if (edits->count == 1)
        err_set(&edits->why, ERR_EDITED, "%.*s%s%.*s %s", STR_ARG(path), slash,
                STR_ARG(name), how);
    else if (edits->count <= EDITS_NAMED_MAX)
        err_also(&edits->why, "%.*s%s%.*s %s", STR_ARG(path), slash,
                 STR_ARG(name), how);
}

struct change *plan_add_change(struct plan *plan, enum node node,
                               struct target *t, struct str path)
{
    struct change *c;

    plan->changes = arena_grow(plan->arena, plan->changes, plan->count,
                               &plan->capacity, sizeof *plan->changes);
    c = &plan->changes[plan->count++];
    *c = (struct change){.node = node,
                         .target = t,
                         .path = path,
                         .mode = 0644,
                         .entry = SIZE_MAX};
    return c;
}

void plan_show(struct plan *plan, enum provision_change_kind kind,
               struct str path, const struct client *c)
{
    plan->shown = arena_grow(plan->arena, plan->shown, plan->shown_count,
                             &plan->shown_capacity, sizeof *plan->shown);
    plan->shown[plan->shown_count++] = (struct provision_change){
        kind, path, str_from(c && !str_is(path, c->mcp) ? c->name : "")};
}

/* What stands there before the change: taken before it is looked into, so
 * that whatever is written there later is noticed. */
bool plan_remember(struct plan *plan, struct change *c, struct err *e)
{
    return swap_print(plan->p->root, c->path.p, &c->old_ino, &c->old_print, e);
}

static const struct record_entry *find_known(const struct plan *plan,
                                             struct str path)
{
    return provision_recorded(plan->p, path);
}

/* A record entry for a target that is changed: stage.c completes it. */
static void add_entry(struct plan *plan, struct change *c,
                      enum record_kind kind)
{
    struct record_entry entry = {
        .kind = kind,
        .path = c->path,
        .source = c->target->source,
        .link = c->target->link,
    };

    c->entry = plan->next.count;
    record_add(&plan->next, plan->arena, &entry);
}

/* --- packages' folders ---------------------------------------------------- */

struct comparison {
    bool differs;   /* from what is wished */
    size_t missing; /* wished, not there */
};

/* Judges one node; an edit is only noted when it would be lost. */
static void judge_node(struct plan *plan, const struct target *t,
                       struct str path, const struct disk_node *node,
                       const struct wish_file *f, const struct record_file *r,
                       struct comparison *out, bool note)
{
    bool regular = S_ISREG(node->st.st_mode);

    if (regular && f && hash_eq(&node->hash, &f->hash)) {
        out->differs |= !disk_has_mode(node, f, r);
        return;
    }
    if (f || r)
        out->differs = true;
    if (regular && r && hash_eq(&node->hash, &r->hash))
        return;
    if (note)
        plan_add_edit(plan, path, node->path,
                      !regular ? "is no file of mapm's"
                      : r      ? "was changed"
                      : t && f ? "is there already, and differs"
                               : "was added");
}

static void compare_tree(struct plan *plan, const struct target *t,
                         struct str path, const struct disk_node *nodes,
                         size_t count, const struct record_entry *known,
                         struct comparison *out, bool note)
{
    size_t at = 0, wished = t ? t->file_count : 0;

    *out = (struct comparison){.differs = t == NULL};
    for (size_t i = 0; i < count; i++) {
        const struct wish_file *f = NULL;

        while (at < wished && str_cmp(t->files[at].path, nodes[i].path) < 0) {
            out->missing++;
            at++;
        }
        if (at < wished && str_eq(t->files[at].path, nodes[i].path))
            f = &t->files[at++];
        judge_node(plan, t, path, &nodes[i], f,
                   record_find(known, nodes[i].path), out, note);
    }
    out->missing += wished - at;
    out->differs |= out->missing != 0;
}

static bool make_files(struct plan *plan, struct target *t, struct err *e)
{
    for (size_t i = 0; i < t->file_count; i++)
        if (!wish_make_file(&plan->wish, t, &t->files[i], e))
            return false;
    return true;
}

/* The folder is as it should be: record it as it is. */
static void adopt_tree(struct plan *plan, const struct target *t,
                       const struct disk_node *nodes, size_t count)
{
    struct record_entry entry = {
        .kind = RECORD_TREE, .path = t->path, .source = t->source};
    size_t at = 0;

    entry.files = arena_array(plan->arena, t->file_count, sizeof *entry.files);
    for (size_t i = 0; i < count && at < t->file_count; i++) {
        if (!str_eq(nodes[i].path, t->files[at].path))
            continue; /* the user's own file: left alone */
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

/* Something that is no folder of ours stands in the place: with `force` it
 * is kept, else it is the user's. */
static bool displace(struct plan *plan, struct change *c, const char *what)
{
    c->keep = plan->wish.options->force;
    if (!c->keep)
        plan_add_edit(plan, c->path, STR(""), what);
    return true;
}

static const char *kind_of(const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return "is a symbolic link that mapm did not make";
    if (S_ISDIR(st->st_mode))
        return "is a folder that mapm did not make";
    if (S_ISREG(st->st_mode))
        return "is a file that mapm did not write";
    return "is neither a file nor a folder";
}

/* The folder `path` is to become `t` (NULL: to go). Sets *same. */
static bool judge_tree(struct plan *plan, struct target *t, struct change *c,
                       const struct record_entry *known, bool *same,
                       struct err *e)
{
    struct comparison found;
    struct disk_node *nodes;
    size_t count, before = plan->edits.count;
    bool force = plan->wish.options->force;

    *same = false;
    if (t && !make_files(plan, t, e))
        return false;
    if (!plan_remember(plan, c, e) ||
        !disk_read_tree(plan->p, c->path.p, known, false, plan->arena, &nodes,
                        &count, e))
        return false;
    compare_tree(plan, t, c->path, nodes, count, known, &found, false);
    if (!found.differs) {
        adopt_tree(plan, t, nodes, count);
        *same = true;
        return true;
    }
    compare_tree(plan, t, c->path, nodes, count, known, &found, true);
    if (force && plan->edits.count > before) {
        plan->edits.count = before;
        c->keep = true;
    }
    return true;
}

static bool plan_tree(struct plan *plan, struct target *t, struct err *e)
{
    const struct record_entry *known = find_known(plan, t->path);
    struct change *c;
    struct stat st;
    bool same = false;

    if (disk_is_recorded(plan->p, t, known)) {
        struct record_entry entry = *known;

        plan->stale |= !hash_eq(&entry.source, &t->source);
        entry.source = t->source;
        record_add(&plan->next, plan->arena, &entry);
        return true;
    }
    c = plan_add_change(plan, NODE_TREE, t, t->path);
    if (!fs_stat_at(plan->p->root, t->path.p, &st)) {
        if (!make_files(plan, t, e))
            return false;
        plan_show(plan, PROVISION_ADD, t->path, t->client);
    } else {
        if (S_ISDIR(st.st_mode)
                ? !judge_tree(plan, t, c, known, &same, e)
                : !make_files(plan, t, e) || !plan_remember(plan, c, e) ||
                      !displace(plan, c, kind_of(&st)))
            return false;
        if (same) {
            plan->count--;
            return true;
        }
        plan_show(plan, PROVISION_UPDATE, t->path, t->client);
    }
    add_entry(plan, c, RECORD_TREE);
    return true;
}

/* --- links to them -------------------------------------------------------- */

static bool plan_link(struct plan *plan, struct target *t, struct err *e)
{
    const struct record_entry *known = find_known(plan, t->path);
    struct record_entry entry = {
        .kind = RECORD_LINK, .path = t->path, .link = t->link};
    struct change *c;
    struct stat st;
    struct str text = {0};

    if (disk_is_linked(plan->p, t->client))
        return true;
    if (!fs_stat_at(plan->p->root, t->path.p, &st)) {
        c = plan_add_change(plan, NODE_LINK, t, t->path);
        plan_show(plan, PROVISION_ADD, t->path, t->client);
        add_entry(plan, c, RECORD_LINK);
        return true;
    }
    if (S_ISDIR(st.st_mode))
        return plan_tree(plan, t, e); /* a copy, where links cannot be made */
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
        !displace(plan, c, kind_of(&st)))
        return false;
    plan_show(plan, PROVISION_UPDATE, t->path, t->client);
    add_entry(plan, c, RECORD_LINK);
    return true;
}

/* --- rendered agents ------------------------------------------------------ */

static bool judge_file(struct plan *plan, struct target *t, struct change *c,
                       const struct record_entry *known, bool *same,
                       struct err *e)
{
    struct wish_file *f = &t->files[0];
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

static bool plan_file(struct plan *plan, struct target *t, struct err *e)
{
    const struct record_entry *known = find_known(plan, t->path);
    struct change *c;
    struct stat st;
    bool there, same = false;

    if (disk_is_recorded(plan->p, t, known)) {
        record_add(&plan->next, plan->arena, known);
        return true;
    }
    if (!make_files(plan, t, e))
        return false;
    c = plan_add_change(plan, NODE_FILE, t, t->path);
    c->content = t->files[0].content;
    there = fs_stat_at(plan->p->root, t->path.p, &st);
    if (there && (S_ISREG(st.st_mode) ? !judge_file(plan, t, c, known, &same, e)
                                      : !plan_remember(plan, c, e) ||
                                            !displace(plan, c, kind_of(&st))))
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

/* --- texts ---------------------------------------------------------------- */

static bool plan_text(struct plan *plan, struct target *t, struct err *e)
{
    bool wanted = t->content.p != NULL;
    struct change *c;
    struct str found;
    struct stat st;

    if (!fs_stat_at(plan->p->root, t->path.p, &st)) {
        if (!wanted)
            return true;
        c = plan_add_change(plan, NODE_FILE, t, t->path);
        c->content = t->content;
        plan_show(plan, PROVISION_ADD, t->path, NULL);
        return true;
    }
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_REFUSED, "%s %s", t->path.p, kind_of(&st));
    c = plan_add_change(plan, wanted ? NODE_FILE : NODE_NONE, t, t->path);
    c->content = t->content;
    c->mode = st.st_mode & 0777;
    if (!plan_remember(plan, c, e) ||
        !fs_read_file_at(plan->p->root, t->path.p, LOCK_MAX_BYTES, plan->arena,
                         &found, e))
        return false;
    if (wanted && str_eq(found, t->content))
        plan->count--;
    else
        plan_show(plan, wanted ? PROVISION_UPDATE : PROVISION_REMOVE, t->path,
                  NULL);
    return true;
}

/* --- what goes ------------------------------------------------------------ */

static const struct client *client_of(struct str path)
{
    for (size_t i = 0; i < client_count; i++)
        if ((clients[i].skills &&
             str_starts(path, str_from(clients[i].skills))) ||
            (clients[i].agents &&
             str_starts(path, str_from(clients[i].agents))))
            return &clients[i];
    return NULL;
}

static bool judge_leaving(struct plan *plan, struct change *c,
                          const struct record_entry *known,
                          const struct stat *st, struct err *e)
{
    struct disk_node node;
    struct str text;
    bool same;

    if (known->kind == RECORD_TREE && S_ISDIR(st->st_mode))
        return judge_tree(plan, NULL, c, known, &same, e);
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
    return displace(plan, c, kind_of(st));
}

static bool plan_leaving(struct plan *plan, const struct record_entry *known,
                         struct err *e)
{
    struct change *c;
    struct str path = arena_str(plan->arena, known->path);
    struct stat st;

    if (!fs_stat_at(plan->p->root, path.p, &st)) {
        plan->stale = true; /* gone already: no longer recorded */
        return true;
    }
    c = plan_add_change(plan, NODE_NONE, NULL, path);
    plan_show(plan, PROVISION_REMOVE, path, client_of(path));
    return judge_leaving(plan, c, known, &st, e);
}

static bool plan_removals(struct plan *plan, struct err *e)
{
    const struct record *r = &plan->p->record;

    for (size_t i = 0; plan->p->has_record && i < r->count; i++) {
        const struct record_entry *known = &r->entries[i];

        if (map_has(&plan->wish.by_path, known->path))
            continue;
        if (known->kind == RECORD_SHARED) {
            struct target *t =
                wish_add_shared(&plan->wish, client_of_mcp_file(known->path));

            if (!plan_shared(plan, t, e))
                return false;
        } else if (!plan_leaving(plan, known, e)) {
            return false;
        }
    }
    return true;
}

/* --- folders -------------------------------------------------------------- */

/* Each folder above a place must be a real one, or not be there yet. */
static bool check_parents(struct plan *plan, struct str path, struct err *e)
{
    for (size_t i = 1; i < path.n; i++) {
        struct str folder = str_slice(path, 0, i);
        struct stat st;

        if (path.p[i] != '/' || map_has(&plan->parents, folder))
            continue;
        folder = arena_str(plan->arena, folder);
        map_put(&plan->parents, folder, plan);
        if (!fs_stat_at(plan->p->root, folder.p, &st)) {
            plan->make = arena_grow(plan->arena, plan->make, plan->make_count,
                                    &plan->make_capacity, sizeof *plan->make);
            plan->make[plan->make_count++] = folder;
            record_add_folder(&plan->next, plan->arena, folder);
        } else if (!S_ISDIR(st.st_mode)) {
            err_set(e, ERR_REFUSED, "%s %s", folder.p, kind_of(&st));
            return err_hint(e, "mapm writes through real folders only: what "
                               "is behind it may lie outside the workspace");
        }
    }
    return true;
}

static bool is_needed(const struct plan *plan, struct str folder)
{
    for (size_t i = 0; i < plan->next.count; i++) {
        struct str path = plan->next.entries[i].path;

        if (path.n > folder.n && path.p[folder.n] == '/' &&
            str_starts(path, folder))
            return true;
    }
    return false;
}

static int longest_first(const void *x, const void *y)
{
    const struct str *a = x, *b = y;

    return a->n < b->n ? 1 : a->n > b->n ? -1 : str_cmp(*a, *b);
}

/* The record's own folder is made before the swap, and is not in it. */
static bool check_own_folder(struct plan *plan, struct err *e)
{
    struct stat st;

    if (!plan->count && !plan->stale)
        return true;
    if (plan->next.count && !check_parents(plan, STR(STATE_FOLDER), e))
        return false;
    if (fs_stat_at(plan->p->root, STATE_FOLDER, &st) && !S_ISDIR(st.st_mode))
        return err_set(e, ERR_REFUSED, "%s %s", STATE_FOLDER, kind_of(&st));
    return true;
}

static bool plan_folders(struct plan *plan, struct err *e)
{
    const struct record *r = &plan->p->record;

    for (size_t i = 0; i < plan->count; i++)
        if (plan->changes[i].node != NODE_NONE &&
            !check_parents(plan, plan->changes[i].path, e))
            return false;
    if (!check_own_folder(plan, e))
        return false;
    for (size_t i = 0; plan->p->has_record && i < r->folder_count; i++) {
        struct str folder = arena_str(plan->arena, r->folders[i]);

        if (is_needed(plan, folder)) {
            record_add_folder(&plan->next, plan->arena, folder);
            continue;
        }
        plan->stale = true;
        plan->drop = arena_grow(plan->arena, plan->drop, plan->drop_count,
                                &plan->drop_capacity, sizeof *plan->drop);
        plan->drop[plan->drop_count++] = folder;
    }
    if (plan->drop_count)
        qsort(plan->drop, plan->drop_count, sizeof *plan->drop, longest_first);
    return true;
}

static bool plan_target(struct plan *plan, struct target *t, struct err *e)
{
    switch (t->kind) {
    case TARGET_TREE:
        return plan_tree(plan, t, e);
    case TARGET_LINK:
        return plan_link(plan, t, e);
    case TARGET_FILE:
        return plan_file(plan, t, e);
    case TARGET_SHARED:
        return plan_shared(plan, t, e);
    case TARGET_TEXT:
        return plan_text(plan, t, e);
    }
    return false;
}

static bool refuse_edits(struct plan *plan, struct err *e)
{
    *e = plan->edits.why;
    if (plan->edits.count > EDITS_NAMED_MAX)
        err_also(e, "and %zu more", plan->edits.count - EDITS_NAMED_MAX);
    err_wrap(e, "this would destroy changes that mapm did not make");
    return err_hint(e, "keep what you need elsewhere, or use --force: it "
                       "keeps a copy below " STATE_FOLDER "/backup");
}

static bool plan_all(struct plan *plan, const struct provision_text *texts,
                     size_t text_count, struct err *e)
{
    struct wish *w = &plan->wish;
    size_t common = w->count;

    for (size_t i = 0; i < common; i++)
        map_put(&w->by_path, w->targets[i].path, &w->targets[i]);
    for (size_t i = 0; i < common; i++)
        if (!plan_target(plan, &w->targets[i], e))
            return false;
    if (!plan_removals(plan, e))
        return false;
    common = w->count;
    if (!wish_add_texts(w, texts, text_count, e))
        return false;
    for (size_t i = common; i < w->count; i++)
        if (!plan_text(plan, &w->targets[i], e))
            return false;
    if (plan->edits.count)
        return refuse_edits(plan, e);
    return plan_folders(plan, e);
}

bool provision_plan(struct provision *p, const struct provision_options *o,
                    const struct provision_item *items, size_t item_count,
                    const struct provision_text *texts, size_t text_count,
                    struct arena *a, struct provision_change **changes,
                    size_t *count, struct err *e)
{
    struct plan *plan = arena_new(a, struct plan);

    provision_load(p);
    p->plan = NULL;
    plan->p = p;
    plan->arena = a;
    provision_wish(p, o, a, &plan->wish);
    map_init(&plan->parents, a);
    if (!wish_build(&plan->wish, items, item_count, &p->record, e) ||
        !plan_all(plan, texts, text_count, e))
        return false;
    *changes = plan->shown;
    *count = plan->shown_count;
    p->plan = plan;
    return true;
}
