#include "stage.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "stages.h"

/* One place; with others it shares the stages and the swap. */
struct staging {
    struct provision *p;
    struct plan *plan;      /* NULL if it only contains the stage */
    struct str path;        /* path below the place with the stage */
    struct stage_folder at; /* folder of this place; the stage is in the last
                             * place */
    struct swap *swap;
    struct stages *stages;
    size_t first;    /* number of its first change in the swap */
    uint64_t newest; /* time of the last change of a staged file, in ns */
};

static int stage_of(const struct staging *s, const struct change *c)
{
    return s->swap->stages[c->stage].fd;
}

static const char *node_name(const struct staging *s, size_t index)
{
    return arena_printf(s->plan->arena, "n%zu", s->first + index).p;
}

/* Returns the path relative to the place with the stage. */
static struct str full_path(const struct staging *s, struct str path)
{
    return s->path.n ? fs_join(s->path, path, s->plan->arena) : path;
}

static bool choose_stage(const struct staging *s, struct change *c,
                         struct err *e)
{
    struct swap_stage *stage;

    if (!stages_find(s->stages, full_path(s, c->path), &stage, e))
        return false;
    c->stage = (size_t)(stage - s->swap->stages);
    return true;
}

/* --- folders -------------------------------------------------------------- */

static void note_newest(struct staging *s, const struct record_entry *entry)
{
    for (size_t i = 0; i < entry->file_count; i++)
        if (entry->files[i].stat.ctime > s->newest)
            s->newest = entry->files[i].stat.ctime;
}

static void copy_fingerprint(const struct staging *s, struct change *c,
                             const struct stage_tree *t)
{
    struct node_print *new = arena_new(s->plan->arena, struct node_print);

    *new = (struct node_print){t->ino, t->print};
    c->new = new;
}

/* Moves a folder that was staged early to its name. */
static bool take_early(struct staging *s, struct change *c, size_t index,
                       struct record_entry *entry)
{
    struct stage_tree *t = stage_early_find(s->plan->p, c->target);

    if (!t ||
        renameat(t->stage, t->name, stage_of(s, c), node_name(s, index)) < 0)
        return false; /* on another mount as well */
    t->name[0] = '\0';
    entry->files = t->records;
    entry->file_count = t->count;
    copy_fingerprint(s, c, t);
    note_newest(s, entry);
    return true;
}

static void add_tree(struct staging *s, struct stage_work *w, size_t index)
{
    struct arena *a = s->plan->arena;
    struct change *c = &s->plan->changes[index];
    struct record_entry *entry = &s->plan->next.entries[c->entry];
    struct stage_job *job;

    if (take_early(s, c, index, entry))
        return;
    job = &w->jobs[w->count++];
    entry->file_count = c->target->file_count;
    entry->files = arena_array(a, entry->file_count, sizeof *entry->files);
    job->change = c;
    job->tree = (struct stage_tree){
        .stage = stage_of(s, c),
        .exact_modes = s->swap->stages[c->stage].exact_modes,
        .shown = c->path,
        .files = c->target->files,
        .records = entry->files,
        .count = entry->file_count,
    };
    snprintf(job->tree.name, sizeof job->tree.name, "%s", node_name(s, index));
}

static bool stage_trees(struct staging *s, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct plan *plan = s->plan;
    struct stage_work w = {
        .objects = &plan->desired.options->objects,
        .jobs = arena_array(&scratch, plan->count, sizeof *w.jobs),
    };

    for (size_t i = 0; i < plan->count; i++)
        if (plan->changes[i].node == NODE_TREE)
            add_tree(s, &w, i);
    if (!stage_place(&w, e))
        return false;
    for (size_t i = 0; i < w.count; i++) {
        struct change *c = w.jobs[i].change;

        copy_fingerprint(s, c, &w.jobs[i].tree);
        note_newest(s, &plan->next.entries[c->entry]);
    }
    return true;
}

/* --- links and files ------------------------------------------------------ */

static bool has_no_links(void)
{
    return errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP;
}

static bool stage_link(struct staging *s, size_t index, struct err *e)
{
    struct change *c = &s->plan->changes[index];
    struct record_entry *entry = &s->plan->next.entries[c->entry];

    if (symlinkat(str_dup0(c->target->link, s->plan->arena), stage_of(s, c),
                  node_name(s, index)) == 0)
        return true;
    if (!has_no_links() || c->target->gives_way)
        return err_errno(e, "link %s", c->path.p);
    /* links are not supported: write a copy */
    c->node = NODE_TREE;
    entry->kind = RECORD_TREE;
    return desired_state_make_files(&s->plan->desired, c->target, e);
}

static bool stage_file(struct staging *s, size_t index, struct err *e)
{
    struct change *c = &s->plan->changes[index];
    const char *name = node_name(s, index);
    int stage = stage_of(s, c);
    struct record_entry *entry;
    struct file_stat now;
    struct stat st;

    if (!fs_create_at(stage, name, c->mode, c->content, e))
        return err_wrap(e, "write %s", c->path.p);
    if (c->entry == SIZE_MAX)
        return true;
    if (fstatat(stage, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_errno(e, "look at %s", c->path.p);
    /* the later rename changes its ctime */
    now = file_stat_of(&st, false);
    if (now.mtime > s->newest)
        s->newest = now.mtime;
    entry = &s->plan->next.entries[c->entry];
    entry->stat = now;
    if (c->is_edited) /* read it again next time */
        entry->stat = (struct file_stat){0};
    if (entry->kind != RECORD_FILE)
        return true;
    entry->files = arena_new(s->plan->arena, struct record_file);
    entry->file_count = 1;
    entry->files[0] = (struct record_file){
        .path = STR("."),
        .mode = st.st_mode & 07777,
        .hash = c->target->files[0].hash,
        .stat = now,
    };
    return true;
}

static bool stage_nodes(struct staging *s, struct err *e)
{
    struct plan *plan = s->plan;

    for (size_t i = 0; i < plan->count; i++)
        if (plan->changes[i].node == NODE_LINK && !stage_link(s, i, e))
            return false;
    if (!stage_trees(s, e))
        return false;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->changes[i].node == NODE_FILE && !stage_file(s, i, e))
            return false;
    return true;
}

/* --- the record ----------------------------------------------------------- */

static void note_here(const struct staging *s)
{
    struct stat st;

    if (fs_stat_at(s->at.mapm, ".gitignore", &st) && S_ISREG(st.st_mode))
        s->plan->next.here = file_stat_of(&st, true);
}

static bool format_record(const struct staging *s, struct buf *out,
                          struct err *e)
{
    size_t at = 0;

    note_here(s);
    buf_init(out, STATE_MAX_BYTES);
    while (record_format(&s->plan->next, &at, out)) {
    }
    return buf_check(out, STATE_FILE, e);
}

struct record_blocks {
    const struct record *record;
    size_t at;
};

static bool next_block(void *ctx, struct buf *block)
{
    struct record_blocks *b = ctx;

    return record_format(b->record, &b->at, block);
}

/* In blocks, because it takes megabytes with many packages. */
static bool create_record(const struct staging *s, int stage, const char *name,
                          struct err *e)
{
    struct record_blocks blocks = {&s->plan->next, 0};

    note_here(s);
    return fs_create_blocks_at(stage, name, 0644, STATE_MAX_BYTES, next_block,
                               &blocks, e) ||
           err_wrap(e, "create " STATE_FILE);
}

/* The record is the last change of the swap. */
static bool stage_record(struct staging *s, struct err *e)
{
    struct plan *plan = s->plan;
    bool wanted = plan->next.count != 0;
    struct change *c;

    if (plan->texts_only)
        return true;
    if (!wanted && !fs_exists_at(s->at.mapm, "state"))
        return true;
    c = plan_add_change(plan, wanted ? NODE_FILE : NODE_NONE, NULL,
                        STR(STATE_FILE));
    if (!plan_remember(plan, c, e) || !choose_stage(s, c, e))
        return false;
    return !wanted ||
           create_record(s, stage_of(s, c), node_name(s, plan->count - 1), e);
}

/* --- all of it ------------------------------------------------------------ */

static void set_old(struct swap_op *op, const struct change *c)
{
    const struct node_print none = {0}, *old = c->old ? c->old : &none;

    op->old_ino = old->ino;
    op->old_print = old->print;
}

static bool add_op(struct staging *s, size_t index, struct err *e)
{
    const struct change *c = &s->plan->changes[index];
    struct swap *swap = s->swap;
    struct swap_op *op;

    swap->ops = arena_grow(s->plan->arena, swap->ops, swap->count,
                           &swap->capacity, sizeof *swap->ops);
    op = &swap->ops[swap->count++];
    if (c->node == NODE_FILE)
        swap->files++;
    else if (c->node == NODE_TREE)
        swap->files += c->target->file_count;

    *op = (struct swap_op){
        .path = full_path(s, c->path), .keep = c->keep, .stage = c->stage};
    set_old(op, c);
    if (c->node == NODE_TREE) {
        op->new_ino = c->new->ino;
        op->new_print = c->new->print;
        return true;
    }
    return c->node == NODE_NONE ||
           swap_print(stage_of(s, c), node_name(s, index), &op->new_ino,
                      &op->new_print, e);
}

static void add_folders(const struct staging *s, const struct str *paths,
                        size_t count, struct str **list, size_t *n,
                        size_t *capacity)
{
    for (size_t i = 0; i < count; i++) {
        *list = arena_grow(s->plan->arena, *list, *n, capacity, sizeof **list);
        (*list)[(*n)++] = full_path(s, paths[i]);
    }
}

static bool prepare(struct staging *s, struct err *e)
{
    struct plan *plan = s->plan;
    struct swap *swap = s->swap;

    s->first = swap->count;
    for (size_t i = 0; i < plan->count; i++)
        if (!choose_stage(s, &plan->changes[i], e))
            return false;
    if (!stage_nodes(s, e) || !stage_record(s, e))
        return false;
    for (size_t i = 0; i < plan->count; i++)
        if (!add_op(s, i, e))
            return false;
    add_folders(s, plan->make, plan->make_count, &swap->make, &swap->make_count,
                &swap->make_capacity);
    add_folders(s, plan->drop, plan->drop_count, &swap->drop, &swap->drop_count,
                &swap->drop_capacity);
    return true;
}

/* Reports the backup, which is in the place with the stage. */
static void note_backup(const struct staging *s, const struct provision *holder)
{
    struct arena *a = &s->p->arena;
    struct str folder = {"", 0};

    if (s->p != holder || holder->scope->is_user)
        folder = str_join(holder->path, STR("/"), a);
    for (size_t i = 0; s->plan && i < s->plan->count; i++)
        if (s->plan->changes[i].keep)
            s->p->backup = arena_printf(a, "%.*s" STATE_FOLDER "/backup/%u",
                                        STR_ARG(folder), s->swap->backup);
}

/* --- several places --------------------------------------------------------- */

static bool is_busy(const struct staging *s)
{
    return s->plan && (s->plan->count || s->plan->stale);
}

/* Returns whether only the record changes. */
static bool is_record_only(const struct staging *s)
{
    const struct plan *plan = s->plan;

    return is_busy(s) && !plan->count && !plan->drop_count && plan->next.count;
}

static bool is_swapped(const struct staging *s)
{
    return is_busy(s) && !is_record_only(s);
}

/* Opens the place again; with many places, not all stay open. */
static bool reopen(struct staging *s)
{
    struct err ignored = {0};

    return s->at.mapm >= 0 ||
           fs_open_dir_at(s->p->root, STATE_FOLDER, &s->at.mapm, &ignored);
}

/* Removes the folder of the record if nothing of mapm is left, unless it
 * contains backups or the id (id.c). */
static void leave(struct staging *s)
{
    int root = s->p->root;

    if (!reopen(s) || fs_exists_at(s->at.mapm, "state") ||
        fs_exists_at(s->at.mapm, "backup") || fs_exists_at(s->at.mapm, "id"))
        return;
    unlinkat(s->at.mapm, ".gitignore", 0);
    if (unlinkat(root, STATE_FOLDER, AT_REMOVEDIR) < 0)
        return;
    if (s->at.made_agents || record_has_folder(&s->p->record, STR(".agents")))
        unlinkat(root, ".agents", AT_REMOVEDIR);
}

/* Writes the record alone, which need not be atomic with other changes. */
static bool write_record_alone(struct staging *s, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    bool ok = (stage_early_take(s->p, &s->at) ||
               stage_folder_open(s->p->root, &s->at, e)) &&
              format_record(s, &text, e) &&
              fs_replace_at(s->at.mapm, "state", 0644, buf_str(&text), e);

    stage_folder_remove_stage(&s->at);
    if (!ok)
        stage_folder_undo(s->p->root, &s->at);
    stage_folder_close(&s->at);
    stage_folder_init(&s->at);
    return ok;
}

/* Opens the stage that was created while packages were fetched, or a new
 * one. */
static bool open_stage(struct staging *s, struct err *e)
{
    return (stage_early_take(s->p, &s->at) ||
            stage_folder_open(s->p->root, &s->at, e)) &&
           (s->at.stage >= 0 ||
            stage_folder_open_stage(&s->at, &s->p->arena, e));
}

/* Allocates the operations of all places, with one for each record; an array
 * that doubles would be held twice. */
static void reserve_ops(const struct staging *all, size_t count)
{
    struct swap *swap = all[0].swap;
    struct arena *a = NULL;

    for (size_t i = 0; i < count; i++)
        if (is_swapped(&all[i])) {
            swap->capacity += all[i].plan->count + 1;
            a = all[i].plan->arena;
        }
    swap->ops = arena_array(a, swap->capacity, sizeof *swap->ops);
}

static bool prepare_all(struct staging *all, size_t count, struct err *e)
{
    struct staging *holder = &all[count - 1];

    reserve_ops(all, count);
    for (size_t i = 0; i < count; i++) {
        struct staging *s = &all[i];

        if (!is_swapped(s))
            continue;
        if ((s != holder && !stage_folder_open(s->p->root, &s->at, e)) ||
            !prepare(s, e))
            return false;
        if (s != holder)
            fs_close(&s->at.mapm);
    }
    return true;
}

/* Inserts the servers into the current content of the client's file. The record
 * does not match that file, so the next command reads it again. */
static bool rebase(void *ctx, size_t index, struct err *e)
{
    struct staging *s = ctx;
    struct swap_op *op = &s->swap->ops[index];
    struct change *c = &s->plan->changes[index - s->first];
    struct plan again = *s->plan;
    const struct change *now;
    CLEANUP_FD int fd = -1;
    const char *name = node_name(s, index - s->first);
    int stage = stage_of(s, c);

    if (c->node != NODE_FILE || !c->target || c->target->kind != TARGET_SHARED)
        return err_set(e, ERR_EDITED, "%s was changed in the meantime",
                       c->path.p);
    if (!plan_shared(&again, c->target, e))
        return false;
    now = &again.changes[again.count - 1];
    if (again.count == s->plan->count || now->node != NODE_FILE ||
        again.edits.count)
        return err_set(e, ERR_EDITED, "%s was changed in the meantime",
                       c->path.p);
    c->content = now->content;
    c->mode = now->mode;
    set_old(op, now);
    if (unlinkat(stage, name, 0) < 0)
        return err_errno(e, "write %s", c->path.p);
    return fs_create_at(stage, name, c->mode, c->content, e) &&
           fs_open_file_at(stage, name, &fd, NULL, e) &&
           fs_sync(fd, c->path.p, e) &&
           swap_print(stage, name, &op->new_ino, &op->new_print, e) &&
           journal_replace(s->swap, e);
}

/* The last place contains the stage and is changed last, with its mapm.lock. */
static bool swap_all(struct staging *all, size_t count, struct err *e)
{
    struct staging *holder = &all[count - 1];
    struct swap *swap = holder->swap;

    if (!open_stage(holder, e)) {
        stage_folder_remove_stage(&holder->at);
        return false;
    }
    swap->root = holder->p->root;
    swap->mapm = holder->at.mapm;
    swap->stage_name = holder->at.name;
    swap->stages[swap->stage_count++] =
        (struct swap_stage){STR(""), holder->at.stage, holder->at.exact_modes};
    if (!prepare_all(all, count, e)) {
        stage_folder_release(&holder->at);
        swap_give_up(swap);
        return false;
    }
    stage_folder_release(&holder->at);
    if (holder->p->scope->is_user) {
        swap->rebase = rebase;
        swap->rebase_ctx = holder;
    }
    if (!swap_run(swap, e))
        return false;
    for (size_t i = 0; i < count; i++)
        note_backup(&all[i], holder->p);
    return true;
}

static void end(struct staging *s, bool ok)
{
    file_stat_wait(s->newest);
    if (ok)
        leave(s);
    else if (reopen(s) || !s->at.made_ignore)
        stage_folder_undo(s->p->root, &s->at);
    stage_folder_close(&s->at);
}

bool stage_run(const struct stage_site *sites, size_t count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct staging *all = arena_array(&scratch, count, sizeof *all);
    struct swap swap = {.scope = sites[count - 1].p->scope};
    struct stages stages;
    bool ok = true, any = false;

    stages_init(&stages, &swap, &scratch);
    for (size_t i = 0; i < count; i++) {
        all[i] = (struct staging){.p = sites[i].p,
                                  .plan = sites[i].plan,
                                  .path = sites[i].path,
                                  .swap = &swap,
                                  .stages = &stages};
        stage_folder_init(&all[i].at);
        any |= is_swapped(&all[i]);
    }
    for (size_t i = 0; ok && i < count; i++)
        ok = !is_record_only(&all[i]) || write_record_alone(&all[i], e);
    if (!ok || !any)
        return ok;
    ok = swap_all(all, count, e);
    stages_close(&swap);
    for (size_t i = count; i-- > 0;)
        if (i + 1 == count || is_swapped(&all[i]))
            end(&all[i], ok);
    return ok;
}
