#include "stage.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/* Descriptors kept from the staging, for what must work when it fails for
 * want of them: removing the stage, or putting the swap back, takes three. */
enum { SPARE_COUNT = 3 };

struct staging {
    struct plan *plan;
    struct swap swap;
    int mapm, stage;
    bool exact_modes; /* neither a umask nor an ACL in the way of 0755 */
    int spare[SPARE_COUNT];
    bool made_agents, made_mapm, made_ignore;
    uint64_t newest; /* ns: the last change of a staged file */
};

static void release_spare(struct staging *s)
{
    for (size_t i = 0; i < SPARE_COUNT; i++)
        fs_close(&s->spare[i]);
}

static void staging_done(struct staging *s)
{
    release_spare(s);
    fs_close(&s->stage);
    fs_close(&s->mapm);
}

static const char *node_name(const struct staging *s, size_t index)
{
    return arena_printf(s->plan->arena, "n%zu", index).p;
}

/* --- our own folder ------------------------------------------------------- */

static bool open_own_folder(struct staging *s, struct err *e)
{
    int root = s->plan->p->root;

    s->made_agents = !fs_exists_at(root, ".agents");
    s->made_mapm = !fs_exists_at(root, STATE_FOLDER);
    if (!fs_make_dirs_at(root, STATE_FOLDER, 0755, e) ||
        !fs_open_dir_at(root, STATE_FOLDER, &s->mapm, e))
        return false;
    fs_repair_at(s->mapm, "state", S_IFREG, 0644);
    fs_repair_at(s->mapm, "backup", S_IFDIR, 0700);
    s->made_ignore = !fs_exists_at(s->mapm, ".gitignore");
    return !s->made_ignore ||
           fs_create_at(s->mapm, ".gitignore", 0644, STR("*\n"), e);
}

/* As it was before: what we made is empty, or stays. */
static void close_own_folder(struct staging *s)
{
    int root = s->plan->p->root;
    struct stat st;

    if (s->mapm >= 0 && fs_stat_at(s->mapm, "journal", &st) &&
        S_ISREG(st.st_mode))
        return; /* the next command goes on there */
    if (s->mapm >= 0 && s->made_ignore)
        unlinkat(s->mapm, ".gitignore", 0);
    if (s->made_mapm)
        unlinkat(root, STATE_FOLDER, AT_REMOVEDIR);
    if (s->made_agents)
        unlinkat(root, ".agents", AT_REMOVEDIR);
}

static bool open_stage(struct staging *s, struct err *e)
{
    uint64_t random;
    struct stat st;

    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_errno(e, "draw a random number");
    s->swap.stage_name = arena_printf(s->plan->arena, "stage-%016llx",
                                      (unsigned long long)random);
    if (mkdirat(s->mapm, s->swap.stage_name.p, 0755) < 0)
        return err_errno(e, "create " STATE_FOLDER "/%s", s->swap.stage_name.p);
    if (!fs_open_dir_at(s->mapm, s->swap.stage_name.p, &s->stage, e))
        return false;
    s->exact_modes = fstat(s->stage, &st) == 0 && (st.st_mode & 07777) == 0755;
    for (size_t i = 0; i < SPARE_COUNT; i++)
        if ((s->spare[i] = fcntl(s->stage, F_DUPFD_CLOEXEC, 0)) < 0)
            return err_errno(e, "keep a descriptor in reserve");
    return true;
}

/* --- folders -------------------------------------------------------------- */

static void add_tree(struct staging *s, struct stage_work *w, size_t index)
{
    struct arena *a = s->plan->arena;
    struct change *c = &s->plan->changes[index];
    struct record_entry *entry = &s->plan->next.entries[c->entry];
    struct stage_job *job = &w->jobs[w->count++];

    entry->file_count = c->target->file_count;
    entry->files = arena_array(a, entry->file_count, sizeof *entry->files);
    job->change = c;
    job->records = entry->files;
    snprintf(job->name, sizeof job->name, "%s", node_name(s, index));
}

static bool stage_trees(struct staging *s, struct err *e)
{
    struct plan *plan = s->plan;
    struct stage_work w = {
        .objects = &plan->wish.options->objects,
        .stage = s->stage,
        .exact_modes = s->exact_modes,
        .jobs = arena_array(plan->arena, plan->count, sizeof *w.jobs),
    };

    for (size_t i = 0; i < plan->count; i++)
        if (plan->changes[i].node == NODE_TREE)
            add_tree(s, &w, i);
    if (!stage_place(&w, e))
        return false;
    for (size_t i = 0; i < w.count; i++)
        for (size_t k = 0; k < w.jobs[i].change->target->file_count; k++)
            if (w.jobs[i].records[k].stat.ctime > s->newest)
                s->newest = w.jobs[i].records[k].stat.ctime;
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

    if (symlinkat(str_c(c->target->link, s->plan->arena), s->stage,
                  node_name(s, index)) == 0)
        return true;
    if (!has_no_links())
        return err_errno(e, "link %s", c->path.p);
    /* A copy, then: wherever there are no links. */
    c->node = NODE_TREE;
    entry->kind = RECORD_TREE;
    return wish_make_files(&s->plan->wish, c->target, e);
}

static bool stage_file(struct staging *s, size_t index, struct err *e)
{
    struct change *c = &s->plan->changes[index];
    const char *name = node_name(s, index);
    struct record_entry *entry;
    struct file_stat now;
    struct stat st;

    if (!fs_create_at(s->stage, name, c->mode, c->content, e))
        return err_wrap(e, "write %s", c->path.p);
    if (c->entry == SIZE_MAX)
        return true;
    if (fstatat(s->stage, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_errno(e, "look at %s", c->path.p);
    /* The rename to come changes its ctime. */
    now = file_stat_of(&st, false);
    if (now.mtime > s->newest)
        s->newest = now.mtime;
    entry = &s->plan->next.entries[c->entry];
    entry->stat = now;
    if (c->is_edited) /* to be looked into next time, too */
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

static bool format_record(const struct staging *s, struct buf *out,
                          struct err *e)
{
    struct stat st;

    if (fs_stat_at(s->mapm, ".gitignore", &st) && S_ISREG(st.st_mode))
        s->plan->next.here = file_stat_of(&st, true);
    buf_init(out, STATE_MAX_BYTES);
    record_format(&s->plan->next, out);
    return buf_check(out, STATE_FILE, e);
}

/* The record is the last change of the swap. */
static bool stage_record(struct staging *s, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct plan *plan = s->plan;
    bool wanted = plan->next.count != 0;
    struct change *c;

    if (!wanted && !fs_exists_at(s->mapm, "state"))
        return true;
    c = plan_add_change(plan, wanted ? NODE_FILE : NODE_NONE, NULL,
                        STR(STATE_FILE));
    if (!plan_remember(plan, c, e))
        return false;
    if (!wanted)
        return true;
    return format_record(s, &text, e) &&
           fs_create_at(s->stage, node_name(s, plan->count - 1), 0644,
                        buf_str(&text), e);
}

/* --- all of it ------------------------------------------------------------ */

static bool add_op(struct staging *s, size_t index, struct err *e)
{
    const struct change *c = &s->plan->changes[index];
    struct swap_op *op = &s->swap.ops[s->swap.count++];

    if (c->node == NODE_FILE)
        s->swap.files++;
    else if (c->node == NODE_TREE)
        s->swap.files += c->target->file_count;

    *op = (struct swap_op){
        .path = c->path,
        .old_ino = c->old_ino,
        .old_print = c->old_print,
        .keep = c->keep,
    };
    if (c->node == NODE_TREE) {
        op->new_ino = c->new_ino;
        op->new_print = c->new_print;
        return true;
    }
    return c->node == NODE_NONE || swap_print(s->stage, node_name(s, index),
                                              &op->new_ino, &op->new_print, e);
}

static bool prepare(struct staging *s, struct err *e)
{
    struct plan *plan = s->plan;

    if (!stage_nodes(s, e) || !stage_record(s, e))
        return false;
    s->swap.ops = arena_array(plan->arena, plan->count, sizeof *s->swap.ops);
    for (size_t i = 0; i < plan->count; i++)
        if (!add_op(s, i, e))
            return false;
    return true;
}

static void remove_stage(struct staging *s)
{
    struct err ignored = {0};

    fs_close(&s->stage);
    /* An empty one goes without a descriptor. What cannot be removed now is
     * left to the next command. */
    if (s->swap.stage_name.p &&
        unlinkat(s->mapm, s->swap.stage_name.p, AT_REMOVEDIR) < 0 &&
        !fs_remove_tree_at(s->mapm, s->swap.stage_name.p, &ignored))
        return;
}

static bool swap_staged(struct staging *s, struct err *e)
{
    struct plan *plan = s->plan;

    s->swap.root = plan->p->root;
    s->swap.mapm = s->mapm;
    s->swap.stage = s->stage;
    s->swap.make = plan->make;
    s->swap.make_count = plan->make_count;
    s->swap.drop = plan->drop;
    s->swap.drop_count = plan->drop_count;
    if (!swap_run(&s->swap, e))
        return false;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->changes[i].keep)
            plan->p->backup = arena_printf(
                &plan->p->arena, STATE_FOLDER "/backup/%u", s->swap.backup);
    return true;
}

/* Nothing of ours is left: then neither is our own folder, unless it holds
 * backups or the id (id.c). */
static void leave(struct staging *s)
{
    int root = s->plan->p->root;

    if (s->plan->next.count || fs_exists_at(s->mapm, "backup") ||
        fs_exists_at(s->mapm, "id"))
        return;
    unlinkat(s->mapm, ".gitignore", 0);
    if (unlinkat(root, STATE_FOLDER, AT_REMOVEDIR) < 0)
        return;
    if (s->made_agents ||
        record_has_folder(&s->plan->p->record, STR(".agents")))
        unlinkat(root, ".agents", AT_REMOVEDIR);
}

bool stage_run(struct plan *plan, struct err *e)
{
    CLEANUP(staging_done)
    struct staging s = {
        .plan = plan, .mapm = -1, .stage = -1, .spare = {-1, -1, -1}};
    CLEANUP(buf_done) struct buf text = {0};
    bool ok;

    if (!plan->count && !plan->stale)
        return true;
    ok = open_own_folder(&s, e);
    if (ok && !plan->count && !plan->drop_count && plan->next.count) {
        ok = format_record(&s, &text, e) &&
             fs_replace_at(s.mapm, "state", 0644, buf_str(&text), e);
    } else if (ok) {
        ok = open_stage(&s, e) && prepare(&s, e);
        release_spare(&s);
        if (ok)
            ok = swap_staged(&s, e);
        else
            remove_stage(&s);
    }
    file_stat_settle(s.newest);
    if (ok)
        leave(&s);
    else
        close_own_folder(&s);
    return ok;
}
