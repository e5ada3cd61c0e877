#include "base/fs.h"
#include "base/invariant.h"
#include "base/path.h"
#include "base/text.h"

#include <unistd.h>

#include "work.h"

bool plan_forces(const struct plan *plan)
{
    return plan->desired.options->force || plan->restoring;
}

bool plan_stat(struct plan *plan, struct str path, struct stat *st)
{
    struct str folder = path_folder(path);
    struct stat above;

    if (map_find(&plan->absent, folder))
        return false;
    if (fs_stat_at(plan->p->root, path.p, st))
        return true;
    if (folder.n == 0 || map_has(&plan->absent, folder))
        return false;
    folder = arena_str(plan->arena, folder);
    map_put(&plan->absent, folder,
            fs_stat_at(plan->p->root, folder.p, &above) ? NULL : plan);
    return false;
}

void plan_add_edit(struct plan *plan, struct str path, struct str name,
                   const char *how)
{
    struct edits *edits = &plan->edits;
    const char *slash = name.n ? "/" : "";

    if (edits->keeping) {
        edits->preserved =
            arena_grow(plan->arena, edits->preserved, edits->preserved_count,
                       &edits->preserved_capacity, sizeof *edits->preserved);
        edits->preserved[edits->preserved_count++] =
            arena_printf(plan->arena, "%.*s%s%.*s %s", STR_ARG(path), slash,
                         STR_ARG(name), how);
        return;
    }
    edits->why.code = ERR_EDITED;
    if (edits->count++ < EDITS_NAMED_MAX)
        err_also(&edits->why, "%.*s%s%.*s %s", STR_ARG(path), slash,
                 STR_ARG(name), how);
}

void plan_add_skipped(struct plan *plan, const struct provision_item *item,
                      struct str what)
{
    struct edits *edits = &plan->edits;

    edits->skipped =
        arena_grow(plan->arena, edits->skipped, edits->skipped_count,
                   &edits->skipped_capacity, sizeof *edits->skipped);
    edits->skipped[edits->skipped_count++] =
        (struct provision_skipped){item, what};
}

struct change *plan_add_change(struct plan *plan, enum node node,
                               struct target *t, struct str path)
{
    struct change *c;

    INVARIANT(path.n && path.p[path.n] == '\0');
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
    /* several clients read .mcp.json */
    if (c && c->mcp.shape == &shape_shared &&
        str_starts(path, str_cstr(c->mcp.path)))
        c = NULL;
    plan->shown = arena_grow(plan->arena, plan->shown, plan->shown_count,
                             &plan->shown_capacity, sizeof *plan->shown);
    plan->shown[plan->shown_count++] = (struct provision_change){
        .kind = kind, .path = path, .client = str_cstr(c ? c->name : "")};
}

/* Marks the last change as a repair. */
void plan_mark_repair(struct plan *plan, const struct hash *recorded,
                      const struct hash *wanted)
{
    INVARIANT(plan->shown_count);
    plan->shown[plan->shown_count - 1].is_repair =
        recorded && hash_eq(recorded, wanted);
}

/* Records the node before the change. Its print is computed before its content
 * is read, so that later writes are detected. */
bool plan_remember(struct plan *plan, struct change *c, struct err *e)
{
    struct node_print *old = arena_new(plan->arena, struct node_print);

    c->old = old;
    return swap_print(plan->p->root, c->path.p, &old->ino, &old->print, e);
}

const char *plan_kind_of(const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return "is a symbolic link that mapm did not make";
    if (S_ISDIR(st->st_mode))
        return "is a folder that mapm did not make";
    if (S_ISREG(st->st_mode))
        return "is a file that mapm did not write";
    return "is neither a file nor a folder";
}

/* Compares piece by piece, since a lock is large and in memory already. */
static bool holds_text(struct plan *plan, const struct target *t, bool *same,
                       struct err *e)
{
    CLEANUP_FD int fd = -1;
    char piece[16 * 1024];
    struct str rest = t->content;
    ssize_t n;

    *same = false;
    if (!fs_open_file_at(plan->p->root, t->path.p, &fd, NULL, e))
        return false;
    while ((n = read(fd, piece, sizeof piece)) > 0) {
        if (!str_starts(rest, str_make(piece, (size_t)n)))
            return true;
        rest = str_from_index(rest, (size_t)n);
    }
    if (n < 0)
        return err_errno(e, "read %s", t->path.p);
    *same = rest.n == 0;
    return true;
}

static bool plan_text(struct plan *plan, struct target *t, struct err *e)
{
    bool same = false, wanted = t->content.p != NULL;
    struct change *c;
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
        return err_set(e, ERR_REFUSED, "%s %s", t->path.p, plan_kind_of(&st));
    c = plan_add_change(plan, wanted ? NODE_FILE : NODE_NONE, t, t->path);
    c->content = t->content;
    c->mode = st.st_mode & 0777;
    if (!plan_remember(plan, c, e) ||
        (wanted && !holds_text(plan, t, &same, e)))
        return false;
    if (same)
        plan->count--;
    else
        plan_show(plan, wanted ? PROVISION_UPDATE : PROVISION_REMOVE, t->path,
                  NULL);
    return true;
}

static bool wants_to_keep(const struct plan *plan)
{
    return plan->desired.options->keep_edited && !plan->desired.options->force;
}

/* With `keep_edited`, content that the user changed is not removed. */
static bool plan_going(struct plan *plan, const struct record_entry *known,
                       struct err *e)
{
    size_t first = plan->edits.preserved_count, count = plan->count;
    bool ok;

    plan->edits.keeping = wants_to_keep(plan);
    ok = plan_leaving(plan, known, e);
    plan->edits.keeping = false;
    if (ok && plan->edits.preserved_count > first) {
        plan->count = count;
        plan->shown_count--;
        plan->stale = true;
    }
    return ok;
}

static bool plan_by_kind(struct plan *plan, struct target *t, struct err *e)
{
    static planner *const planners[] = {
        [TARGET_TREE] = plan_tree, [TARGET_LINK] = plan_link,
        [TARGET_FILE] = plan_file, [TARGET_SHARED] = plan_shared,
        [TARGET_TEXT] = plan_text,
    };

    return t->client && place_is_of_user(t->path)
               ? plan_or_leave(plan, t, provision_recorded(plan->p, t->path),
                               planners[t->kind], e)
               : planners[t->kind](plan, t, e);
}

static bool plan_removals(struct plan *plan, struct err *e)
{
    const struct record *r = &plan->p->record;

    for (size_t i = 0; plan->p->has_record && i < r->count; i++) {
        const struct record_entry *known = &r->entries[i];

        if (map_has(&plan->desired.by_path, known->path))
            continue;
        if (plan->desired.options->only_restore) {
            record_add(&plan->next, plan->arena, known);
            continue;
        }
        if (known->kind == RECORD_SHARED) {
            struct target *t = desired_state_add_shared(
                &plan->desired, place_find_client(plan->p->scope, known->path),
                known->path);

            if (!plan_by_kind(plan, t, e))
                return false;
        } else if (!plan_going(plan, known, e)) {
            return false;
        }
    }
    return true;
}

/* Makes the record entry that mapm would have for an existing target. Returns
 * false if there is nothing of this kind, or its content is not known. */
static bool make_known(struct plan *plan, struct desired_state *gone,
                       struct target *t, struct record_entry *out)
{
    struct err ignored = {0};
    struct stat st;
    struct str text;

    *out = (struct record_entry){.path = t->path, .link = t->link};
    if (!fs_stat_at(plan->p->root, t->path.p, &st))
        return false;
    out->kind = t->kind == TARGET_TREE   ? RECORD_TREE
                : t->kind == TARGET_FILE ? RECORD_FILE
                                         : RECORD_LINK;
    if (out->kind == RECORD_LINK)
        return S_ISLNK(st.st_mode) &&
               disk_read_link(plan->p->root, t->path.p, plan->arena, &text) &&
               str_eq(text, t->link);
    if (t->item->file_count == 0 ||
        !desired_state_make_files(gone, t, &ignored))
        return out->kind == RECORD_TREE && S_ISDIR(st.st_mode);
    out->files =
        arena_array(plan->arena, t->file_count + 1, sizeof *out->files);
    for (size_t i = 0; i < t->file_count; i++)
        out->files[out->file_count++] = (struct record_file){
            .path = t->files[i].path, .hash = t->files[i].hash};
    return out->kind == RECORD_TREE ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode);
}

/* Plans the removal of a package that a checkout brought: the record on this
 * machine has nothing of it. What differs from the package stays. */
static bool plan_gone(struct plan *plan, const struct provision_item *item,
                      struct err *e)
{
    struct desired_state gone;
    struct err ignored = {0};

    provision_desired_state(plan->p, plan->desired.options, plan->arena, &gone);
    if (!desired_state_add_package(&gone, item, &ignored))
        return true;
    for (size_t i = 0; i < gone.count; i++) {
        struct target *t = &gone.targets[i];
        struct edits edits = plan->edits;
        size_t count = plan->count, shown = plan->shown_count;
        struct record_entry known;

        if (map_has(&plan->desired.by_path, t->path) ||
            provision_recorded(plan->p, t->path) || place_is_of_user(t->path) ||
            !make_known(plan, &gone, t, &known))
            continue;
        if (!plan_going(plan, &known, e))
            return false;
        if (plan->edits.count == edits.count)
            continue;
        plan->edits = edits;
        plan->count = count;
        plan->shown_count = shown;
    }
    return true;
}

/* Returns whether the record contains exactly this content. */
static bool is_as_put(const struct target *t, const struct record_entry *known)
{
    if (known->kind == RECORD_LINK)
        return t->kind == TARGET_LINK && str_eq(known->link, t->link);
    if ((known->kind == RECORD_FILE) != (t->kind == TARGET_FILE) ||
        known->file_count != t->file_count)
        return false;
    for (size_t i = 0; i < t->file_count; i++) {
        const struct desired_file *f = &t->files[i];
        const struct record_file *r = &known->files[i];

        if (!str_eq(f->path, r->path) || f->executable != r->executable ||
            !hash_eq(&f->hash, &r->hash))
            return false;
    }
    return true;
}

/* Returns whether a file of the package is missing, so that its folder is
 * written again. */
static bool lacks_file(struct plan *plan, const struct target *t,
                       const struct record_entry *known)
{
    struct stat st;

    for (size_t i = 0; known->kind == RECORD_TREE && i < t->file_count; i++) {
        struct str path = fs_join(t->path, t->files[i].path, plan->arena);

        if (!fs_stat_at(plan->p->root, path.p, &st))
            return true;
    }
    return false;
}

/* Returns whether an edited target may keep its edits. */
static bool may_stay_edited(struct plan *plan, const struct target *t,
                            const struct record_entry *known)
{
    return plan->desired.options->keep_edited ||
           (is_as_put(t, known) && !lacks_file(plan, t, known) &&
            provision_record_is_from_here(plan->p));
}

/* Keeps the edited content and its entry in the record. */
static void leave_edited(struct plan *plan, const struct target *t,
                         const struct record_entry *known, size_t first)
{
    struct edits *edits = &plan->edits;
    struct record_entry entry = *known;

    if (entry.kind != RECORD_LINK && is_as_put(t, known)) {
        plan->stale |= !hash_eq(&entry.source, &t->source);
        entry.source = t->source;
    }
    record_add(&plan->next, plan->arena, &entry);
    for (size_t i = first; t->item && i < edits->preserved_count; i++)
        plan_add_skipped(plan, t->item, edits->preserved[i]);
}

static bool is_restored(const struct target *t)
{
    for (size_t i = 0; i < t->server_count; i++)
        if (t->servers[i].item->restore)
            return true;
    return t->item && t->item->restore;
}

static bool plan_target(struct plan *plan, struct target *t, struct err *e)
{
    struct edits *edits = &plan->edits;
    size_t first = edits->preserved_count, count = plan->count;
    size_t shown = plan->shown_count, next = plan->next.count;
    const struct record_entry *known = provision_recorded(plan->p, t->path);
    bool ok, stays;

    plan->restoring = plan->desired.options->only_restore && is_restored(t);
    if (plan->desired.options->only_restore && !plan->restoring) {
        if (known)
            record_add(&plan->next, plan->arena, known);
        return true;
    }
    edits->keeping = known && known->kind != RECORD_SHARED &&
                     t->kind != TARGET_SHARED && !plan_forces(plan);
    ok = plan_by_kind(plan, t, e);
    edits->keeping = false;
    /* of a client's file, each entry is decided alone: remove_server() */
    if (!ok || edits->preserved_count == first || t->kind == TARGET_SHARED)
        return ok;
    plan->count = count;
    plan->shown_count = shown;
    plan->next.count = next;
    stays = may_stay_edited(plan, t, known);
    if (stays)
        leave_edited(plan, t, known, first);
    edits->preserved_count = first;
    return stays || plan_by_kind(plan, t, e); /* plan_by_kind() refuses it */
}

static bool refuse_edits(struct plan *plan, struct err *e)
{
    *e = plan->edits.why;
    if (plan->edits.count > EDITS_NAMED_MAX)
        err_also(e, "and %zu more", plan->edits.count - EDITS_NAMED_MAX);
    err_wrap(e, "this would destroy changes that mapm did not make");
    if (plan->p->has_record && !provision_record_is_from_here(plan->p))
        return err_hint(e,
                        "this is a copy, or its files came from elsewhere: "
                        "mapm diff shows what differs; mapm patch NAME keeps "
                        "it, mapm restore NAME or --force undoes it, with a "
                        "copy below " STATE_FOLDER "/backup");
    return err_hint(e, "keep what you need elsewhere, or use --force: it "
                       "keeps a copy below " STATE_FOLDER "/backup");
}

/* Allocates nearly all changes at once; an array that doubles would be held
 * twice. */
static void reserve(struct plan *plan, size_t texts)
{
    const struct record *r = &plan->p->record;
    size_t count = plan->desired.count + texts, servers = 0;

    for (size_t i = 0; i < plan->desired.count; i++)
        servers += plan->desired.targets[i].server_count;
    plan->next.capacity = count;
    plan->next.entries =
        arena_array(plan->arena, count, sizeof *plan->next.entries);
    if (plan->p->has_record)
        count += r->count;
    plan->capacity = count + 1; /* the record */
    plan->shown_capacity = count + servers;
    plan->changes =
        arena_array(plan->arena, plan->capacity, sizeof *plan->changes);
    plan->shown =
        arena_array(plan->arena, plan->shown_capacity, sizeof *plan->shown);
}

static bool plan_all(struct plan *plan, const struct provision_text *texts,
                     size_t text_count, struct err *e)
{
    struct desired_state *w = &plan->desired;
    size_t common = w->count;

    reserve(plan, text_count);
    for (size_t i = 0;
         (plan->p->has_record || w->options->gone_count) && i < common; i++)
        map_put(&w->by_path, w->targets[i].path, &w->targets[i]);
    for (size_t i = 0; i < common; i++)
        if (!plan_target(plan, &w->targets[i], e))
            return false;
    if (!plan_removals(plan, e))
        return false;
    for (size_t i = 0; i < w->options->gone_count; i++)
        if (!plan_gone(plan, &w->options->gone[i], e))
            return false;
    common = w->count;
    if (!desired_state_add_texts(w, texts, text_count, e))
        return false;
    for (size_t i = common; i < w->count; i++)
        if (!plan_text(plan, &w->targets[i], e))
            return false;
    if (plan->edits.count)
        return refuse_edits(plan, e);
    return plan_folders(plan, e);
}

bool provision_uses(struct provision *p, const struct provision_options *o,
                    const struct client *c)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct desired_state w;
    struct err ignored = {0};

    provision_desired_state(p, o, &a, &w);
    return provision_load(p, &ignored) &&
           desired_state_is_in_use(&w, &p->scope->rows[c - clients_table],
                                   &p->record);
}

struct str provision_mcp_file(struct provision *p,
                              const struct provision_options *o,
                              const struct client *c)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct desired_state w;
    struct err ignored = {0};

    provision_desired_state(p, o, &a, &w);
    return provision_load(p, &ignored)
               ? desired_state_mcp_file(&w, &p->scope->rows[c - clients_table],
                                        &p->record)
               : (struct str){0};
}

bool provision_is_marked(struct provision *p, const struct client *c)
{
    const struct provision_options o = {0};
    CLEANUP(arena_done) struct arena a = {0};
    struct desired_state w;
    struct err ignored = {0};

    provision_desired_state(p, &o, &a, &w);
    return provision_load(p, &ignored) &&
           desired_state_is_marked(&w, c, &p->record);
}

static bool is_of(const struct provision *p, const struct client *c,
                  struct str path)
{
    return (c->skills && !(c->always && p->scope->is_user) &&
            fs_path_is_within(path, str_cstr(c->skills))) ||
           clients_agent_is_at(c, path) || clients_mcp_is_at(&c->mcp, path);
}

bool provision_made_folder(struct provision *p, struct str path)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct str real;

    return provision_load(p, &ignored) && p->has_record &&
           fs_real_path(str_dup0(path, &a), &a, &real, &ignored) &&
           record_has_folder(&p->record, real);
}

/* Returns the number of clients that a file or folder may have been written
 * for, and the first of them; clients in `served` explain it. */
static size_t find_owners(const struct provision *p, struct str path,
                          const enum client_selection *selections,
                          const bool *served, size_t *first, bool *explained)
{
    size_t n = 0;

    *first = clients_count;
    *explained = false;
    for (size_t i = 0; i < clients_count; i++) {
        if (selections[i] == CLIENT_NO || !is_of(p, &p->scope->rows[i], path))
            continue;
        if (n++ == 0 ||
            (selections[i] == CLIENT_YES && selections[*first] != CLIENT_YES))
            *first = i;
        *explained |= served[i];
    }
    return n;
}

/* Adds the clients whose markers are in the workspace, as if named. */
static void add_in_use(struct provision *p, const struct provision_options *o,
                       enum client_selection *selections)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct desired_state w;

    provision_desired_state(p, o, &a, &w);
    for (size_t i = 0; i < clients_count; i++)
        if (selections[i] == CLIENT_UNSET &&
            desired_state_is_in_use(&w, &p->scope->rows[i], &p->record))
            selections[i] = CLIENT_YES;
}

/* Returns whether two links are in the same folder, and so belong to the same
 * client. */
static bool is_beside(const struct record_entry *x,
                      const struct record_entry *y)
{
    size_t slash = str_find_last(x->path, '/');

    return x->kind == RECORD_LINK && y->kind == RECORD_LINK &&
           slash != SIZE_MAX && slash == str_find_last(y->path, '/') &&
           str_starts(y->path, str_slice(x->path, 0, slash));
}

void provision_find_served(struct provision *p,
                           const struct provision_options *o, bool *served)
{
    CLEANUP(arena_done) struct arena a = {0};
    enum client_selection *selections =
        arena_array(&a, clients_count, sizeof *selections);
    const struct record_entry *last = NULL; /* an entry that decided nothing */
    bool has_looked = false, explained;
    struct err ignored = {0};
    size_t first, n;

    for (size_t i = 0; i < clients_count; i++) {
        served[i] = false;
        selections[i] = clients_selection(&o->clients, &clients_table[i]);
    }
    if (!provision_load(p, &ignored) || !p->has_record)
        return;
    /* entries that only one client can have identify the client of the
     * others */
    for (size_t i = 0; i < 2 * p->record.count; i++) {
        bool is_alone = i < p->record.count;
        const struct record_entry *r = &p->record.entries[i % p->record.count];

        if (i == p->record.count)
            last = NULL;
        if (r->kind == RECORD_TREE || (last && is_beside(last, r)))
            continue;
        n = find_owners(p, r->path, selections, served, &first, &explained);
        if (n == 0 || (n == 1) != is_alone || explained) {
            last = r;
            continue;
        }
        if (!fs_exists_at(p->root, str_dup0(r->path, &a)))
            continue;
        if (!is_alone && !has_looked) {
            has_looked = true;
            add_in_use(p, o, selections);
            find_owners(p, r->path, selections, served, &first, &explained);
        }
        served[first] = true;
        last = r;
    }
}

bool provision_has_given(struct provision *p, const struct client *c)
{
    const struct client *row = &p->scope->rows[c - clients_table];
    struct err ignored = {0};

    if (!provision_load(p, &ignored) || !p->has_record)
        return true;
    for (size_t i = 0; i < p->record.count; i++)
        if (p->record.entries[i].kind != RECORD_TREE &&
            is_of(p, row, p->record.entries[i].path))
            return true;
    return false;
}

bool provision_has_no_skills(struct provision *p)
{
    struct err ignored = {0};
    struct stat st;

    if (!provision_load(p, &ignored) || p->has_record ||
        fs_stat_at(p->root, p->scope->skills, &st))
        return false;
    for (size_t i = 0; i < clients_count; i++)
        if (p->scope->rows[i].skills &&
            fs_stat_at(p->root, p->scope->rows[i].skills, &st))
            return false;
    return true;
}

static struct plan *make_plan(struct provision *p,
                              const struct provision_options *o,
                              struct arena *a)
{
    struct plan *plan = arena_new(a, struct plan);

    p->plan = NULL;
    plan->p = p;
    plan->next.is_user = p->scope->is_user;
    plan->arena = a;
    provision_desired_state(p, o, a, &plan->desired);
    map_init(&plan->parents, a);
    map_init(&plan->absent, a);
    return plan;
}

bool provision_plan_texts(struct provision *p,
                          const struct provision_options *o,
                          const struct provision_text *texts, size_t text_count,
                          struct arena *a, struct provision_change **changes,
                          size_t *count, struct err *e)
{
    struct plan *plan;

    if (!provision_load(p, e))
        return false;
    plan = make_plan(p, o, a);
    plan->texts_only = true;
    if (!desired_state_add_texts(&plan->desired, texts, text_count, e))
        return false;
    for (size_t i = 0; i < plan->desired.count; i++)
        if (!plan_text(plan, &plan->desired.targets[i], e))
            return false;
    if (!plan_folders(plan, e))
        return false;
    *changes = plan->shown;
    *count = plan->shown_count;
    p->plan = plan;
    return true;
}

bool provision_plan(struct provision *p, const struct provision_options *o,
                    const struct provision_item *items, size_t item_count,
                    const struct provision_text *texts, size_t text_count,
                    struct arena *a, struct provision_change **changes,
                    size_t *count, struct err *e)
{
    struct plan *plan;

    if (!provision_load(p, e))
        return false;
    plan = make_plan(p, o, a);
    plan->stale = p->is_copy; /* it becomes the record of this folder */
    plan->linked = arena_array(a, clients_count, 1);
    for (size_t i = 0; i < item_count; i++)
        if (!desired_state_check_server(&plan->desired, &items[i], e))
            return false;
    if (!desired_state_build(&plan->desired, items, item_count, &p->record,
                             e) ||
        !plan_all(plan, texts, text_count, e))
        return false;
    *changes = plan->shown;
    *count = plan->shown_count;
    p->preserved = plan->edits.preserved;
    p->preserved_count = plan->edits.preserved_count;
    p->skipped = plan->edits.skipped;
    p->skipped_count = plan->edits.skipped_count;
    p->untouched = plan->untouched;
    p->untouched_count = plan->untouched_count;
    p->taken = plan->taken;
    p->taken_count = plan->taken_count;
    p->plan = plan;
    return true;
}
