#include "swap.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define JOURNAL         "journal"
#define PARENTS_MAX     32
#define NODE_NAME_BYTES 24

/* The folders that changes happen in: few, and each synced at the end. */
struct parent {
    struct str path;
    int fd; /* -1: not there */
};

struct mover {
    struct swap *s;
    struct parent parents[PARENTS_MAX];
    size_t parent_count;
};

static void mover_done(struct mover *m)
{
    for (size_t i = 0; i < m->parent_count; i++)
        fs_close(&m->parents[i].fd);
    m->parent_count = 0;
}

static struct str folder_of(struct str path)
{
    size_t at = str_find_last(path, '/');

    return at == SIZE_MAX ? STR("") : str_slice(path, 0, at);
}

static const char *leaf_of(struct str path)
{
    size_t at = str_find_last(path, '/');

    return at == SIZE_MAX ? path.p : path.p + at + 1;
}

/* The folder that holds `path`, or -1 when it is not there. */
static bool find_parent(struct mover *m, struct str path, int *fd,
                        struct err *e)
{
    struct str folder = folder_of(path);
    struct parent *p = NULL;
    char name[4096];

    for (size_t i = 0; i < m->parent_count && !p; i++)
        if (str_eq(m->parents[i].path, folder))
            p = &m->parents[i];
    if (!p && m->parent_count == PARENTS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d folders", PARENTS_MAX);
    if (!p) {
        p = &m->parents[m->parent_count++];
        *p = (struct parent){folder, -1};
    }
    if (p->fd < 0) {
        snprintf(name, sizeof name, "%.*s", STR_ARG(folder));
        if (!fs_open_dir_at(m->s->root, name, &p->fd, e)) {
            /* A link in the way is not our folder either. */
            if (e->code != ERR_NOT_FOUND && e->code != ERR_REFUSED)
                return false;
            err_clear(e);
            p->fd = -1;
        }
    }
    *fd = p->fd;
    return true;
}

static uint64_t inode_at(int dirfd, const char *name)
{
    struct stat st;

    if (dirfd < 0 || fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return st.st_ino;
}

/* --- where one change stands ---------------------------------------------- */

enum progress {
    PENDING,
    BETWEEN, /* the old node is away, the new one not yet there */
    DONE,
    UNKNOWN, /* somebody else was here */
};

struct site {
    const struct swap_op *op;
    int parent;
    const char *leaf;
    char new_name[NODE_NAME_BYTES], old_name[NODE_NAME_BYTES];
    uint64_t here, new_at, old_at; /* inodes found */
};

static bool look_at(struct mover *m, size_t index, struct site *site,
                    struct err *e)
{
    const struct swap_op *op = &m->s->ops[index];

    site->op = op;
    site->leaf = leaf_of(op->path);
    snprintf(site->new_name, sizeof site->new_name, "n%zu", index);
    snprintf(site->old_name, sizeof site->old_name, "o%zu", index);
    if (!find_parent(m, op->path, &site->parent, e))
        return false;
    site->here = inode_at(site->parent, site->leaf);
    site->new_at = inode_at(m->s->stage, site->new_name);
    site->old_at = inode_at(m->s->stage, site->old_name);
    return true;
}

static enum progress progress_of(const struct site *site)
{
    const struct swap_op *op = site->op;

    if (!op->new_ino) {
        if (site->here == 0)
            return DONE;
        return site->here == op->old_ino ? PENDING : UNKNOWN;
    }
    if (site->here == op->new_ino)
        return DONE;
    if (site->new_at != op->new_ino)
        return UNKNOWN;
    if (site->here == op->old_ino)
        return PENDING;
    return site->here == 0 && site->old_at == op->old_ino ? BETWEEN : UNKNOWN;
}

/* Whether what stands there is still what was planned for. */
static bool check_untouched(struct mover *m, const struct site *site,
                            struct err *e)
{
    struct hash print;
    uint64_t ino;

    if (!site->op->old_ino)
        return true;
    if (!swap_print(m->s->root, site->op->path.p, &ino, &print, e))
        return false;
    if (ino != site->op->old_ino || !hash_eq(&print, &site->op->old_print))
        return err_set(e, ERR_EDITED, "%.*s was changed in the meantime",
                       STR_ARG(site->op->path));
    return true;
}

/* --- moving --------------------------------------------------------------- */

static bool lacks_flags(void)
{
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

static bool cannot(struct err *e, const char *verb, struct str what)
{
    bool layered = errno == EXDEV;

    err_errno(e, "%s %.*s", verb, STR_ARG(what));
    /* A folder of a lower layer cannot be renamed on an overlay. */
    return layered &&
           err_hint(e, "it lies on another file system or image layer than "
                       ".agents: move it out of the way, then try again");
}

static bool move(int from_fd, const char *from, int to_fd, const char *to,
                 struct str what, struct err *e)
{
    if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return true;
    if (lacks_flags()) {
        if (inode_at(to_fd, to) != 0)
            errno = EEXIST;
        else if (renameat(from_fd, from, to_fd, to) == 0)
            return true;
    }
    return cannot(e, "move", what);
}

/* One file system cannot exchange: then the old one steps aside first. */
static bool replace(struct mover *m, struct site *site, struct err *e)
{
    struct str path = site->op->path;
    int stage = m->s->stage;

    if (renameat2(stage, site->new_name, site->parent, site->leaf,
                  RENAME_EXCHANGE) == 0)
        return true;
    if (!lacks_flags())
        return cannot(e, "replace", path);
    return move(site->parent, site->leaf, stage, site->old_name, path, e) &&
           move(stage, site->new_name, site->parent, site->leaf, path, e);
}

static bool step_forward(struct mover *m, size_t index, struct err *e)
{
    struct site site;
    int stage = m->s->stage;

    if (!look_at(m, index, &site, e))
        return false;
    switch (progress_of(&site)) {
    case DONE:
        return true;
    case UNKNOWN:
        return err_set(e, ERR_EDITED, "%.*s was changed in the meantime",
                       STR_ARG(site.op->path));
    case BETWEEN:
        return move(stage, site.new_name, site.parent, site.leaf, site.op->path,
                    e);
    case PENDING:
        break;
    }
    if (!check_untouched(m, &site, e))
        return false;
    if (!site.op->new_ino)
        return move(site.parent, site.leaf, stage, site.old_name, site.op->path,
                    e);
    if (site.op->old_ino)
        return replace(m, &site, e);
    if (site.parent < 0)
        return err_set(e, ERR_EDITED, "the folder of %.*s is gone",
                       STR_ARG(site.op->path));
    return move(stage, site.new_name, site.parent, site.leaf, site.op->path, e);
}

static bool make_folders(struct mover *m, struct err *e)
{
    struct swap *s = m->s;
    int fd;

    for (size_t i = 0; i < s->make_count; i++)
        if (!find_parent(m, s->make[i], &fd, e) ||
            !fs_make_dirs_at(s->root, s->make[i].p, 0755, e))
            return false;
    return true;
}

/* --- the backup ----------------------------------------------------------- */

static bool choose_backup(struct swap *s, struct err *e)
{
    char path[64];

    for (unsigned n = 1; !s->backup && n <= BACKUP_MAX_COUNT; n++) {
        snprintf(path, sizeof path, "backup/%u", n);
        if (!fs_exists_at(s->mapm, path))
            s->backup = n;
    }
    return s->backup || err_set(e, ERR_LIMIT,
                                "more than %d backups below "
                                "%s",
                                BACKUP_MAX_COUNT, ".agents/.mapm/backup");
}

/* The folder in the backup that `path` goes to. */
static bool open_backup(struct swap *s, struct str path, int *fd, struct err *e)
{
    char folder[4096];

    snprintf(folder, sizeof folder, "backup/%u/%.*s", s->backup,
             STR_ARG(folder_of(path)));
    return (fs_make_dirs_at(s->mapm, folder, 0755, e) &&
            fs_open_dir_at(s->mapm, folder, fd, e)) ||
           err_wrap(e, "keep a backup of %.*s", STR_ARG(path));
}

/* Takes the node `name` of the stage to the backup of `path`. */
static bool keep_node(struct swap *s, const char *name, struct str path,
                      struct err *e)
{
    CLEANUP_FD int fd = -1;

    if (!choose_backup(s, e) || !open_backup(s, path, &fd, e))
        return false;
    if (!move(s->stage, name, fd, leaf_of(path), path, e))
        return err_wrap(e, "keep a backup of %.*s", STR_ARG(path));
    return fs_sync(fd, "the backup", e);
}

/* The folders are made beforehand, while it costs nothing to give up. */
static bool prepare_backup(struct swap *s, struct err *e)
{
    for (size_t i = 0; i < s->count; i++) {
        CLEANUP_FD int fd = -1;

        if (s->ops[i].keep &&
            (!choose_backup(s, e) || !open_backup(s, s->ops[i].path, &fd, e)))
            return false;
    }
    return true;
}

/* Removes what is empty of the folders for `path`. */
static void drop_backup(struct swap *s, struct str path)
{
    char folder[4096];
    int n = snprintf(folder, sizeof folder, "backup/%u/%.*s", s->backup,
                     STR_ARG(folder_of(path)));

    while (n > 0) {
        if (folder[n] == '\0' && unlinkat(s->mapm, folder, AT_REMOVEDIR) < 0 &&
            errno != ENOENT)
            return;
        while (n > 0 && folder[n] != '/')
            n--;
        folder[n] = '\0';
    }
}

static void drop_backups(struct swap *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->ops[i].keep)
            drop_backup(s, s->ops[i].path);
}

/* An undo after the backup was filled: the old node comes out again. */
static void take_back(struct swap *s, struct site *site)
{
    struct err ignored = {0};
    CLEANUP_FD int fd = -1;
    struct str path = site->op->path;

    if (!site->op->keep || !open_backup(s, path, &fd, &ignored) ||
        inode_at(fd, leaf_of(path)) != site->op->old_ino ||
        !move(fd, leaf_of(path), s->stage, site->old_name, path, &ignored))
        return;
    site->old_at = site->op->old_ino;
}

static bool keep_displaced(struct mover *m, struct err *e)
{
    for (size_t i = 0; i < m->s->count; i++) {
        struct site site;

        if (!m->s->ops[i].keep)
            continue;
        if (!look_at(m, i, &site, e))
            return false;
        if (site.new_at == site.op->old_ino &&
            !keep_node(m->s, site.new_name, site.op->path, e))
            return false;
        if (site.old_at == site.op->old_ino &&
            !keep_node(m->s, site.old_name, site.op->path, e))
            return false;
    }
    return true;
}

/* --- ending --------------------------------------------------------------- */

static bool sync_folders(struct mover *m, struct err *e)
{
    for (size_t i = 0; i < m->parent_count; i++)
        if (m->parents[i].fd >= 0 &&
            !fs_sync(m->parents[i].fd, "the folders", e))
            return false;
    return true;
}

/* Removes the folders that are empty, and syncs what held them. */
static bool drop_folders(struct mover *m, const struct str *paths, size_t count,
                         bool backwards, struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        struct str path = paths[backwards ? count - 1 - i : i];
        int fd;

        if (!find_parent(m, path, &fd, e))
            return false;
        if (fd >= 0 && unlinkat(fd, leaf_of(path), AT_REMOVEDIR) < 0 &&
            errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT &&
            errno != ENOTDIR)
            return err_errno(e, "remove the folder %.*s", STR_ARG(path));
    }
    return true;
}

static bool drop_journal(struct swap *s, struct err *e)
{
    if (unlinkat(s->mapm, JOURNAL, 0) < 0 && errno != ENOENT)
        return err_errno(e, "remove .agents/.mapm/" JOURNAL);
    return fs_sync(s->mapm, ".agents/.mapm", e);
}

static void remove_stage(struct swap *s)
{
    struct err ignored = {0};

    /* What stays is removed by the next command: nothing refers to it. */
    if (!fs_remove_tree_at(s->mapm, s->stage_name.p, &ignored))
        return;
}

static bool go_forward(struct mover *m, struct err *e)
{
    if (!make_folders(m, e))
        return false;
    for (size_t i = 0; i < m->s->count; i++)
        if (!step_forward(m, i, e))
            return false;
    return true;
}

static bool finish(struct mover *m, struct err *e)
{
    struct swap *s = m->s;

    if (s->backup &&
        (!fs_sync(s->stage, s->stage_name.p, e) || !keep_displaced(m, e)))
        return false;
    return drop_folders(m, s->drop, s->drop_count, false, e) &&
           sync_folders(m, e);
}

/* --- and back ------------------------------------------------------------- */

/* What comes back into the stage is ours, unless it was edited since. */
static bool keep_if_edited(struct mover *m, const struct site *site,
                           struct err *e)
{
    struct hash print;
    uint64_t ino;

    if (!swap_print(m->s->stage, site->new_name, &ino, &print, e))
        return false;
    if (hash_eq(&print, &site->op->new_print))
        return true;
    return keep_node(m->s, site->new_name, site->op->path, e);
}

static bool undo_done(struct mover *m, struct site *site, struct err *e)
{
    const struct swap_op *op = site->op;
    struct str path = op->path;
    int stage = m->s->stage;

    if (op->old_ino && site->new_at != op->old_ino &&
        site->old_at != op->old_ino)
        take_back(m->s, site);
    if (!op->new_ino)
        return site->old_at != op->old_ino || site->parent < 0 ||
               move(stage, site->old_name, site->parent, site->leaf, path, e);
    if (op->old_ino && site->new_at == op->old_ino) {
        if (renameat2(stage, site->new_name, site->parent, site->leaf,
                      RENAME_EXCHANGE) < 0)
            return err_errno(e, "restore %.*s", STR_ARG(path));
        return keep_if_edited(m, site, e);
    }
    if (op->old_ino && site->old_at != op->old_ino)
        return true; /* the old one is gone: the new one is all there is */
    if (!move(site->parent, site->leaf, stage, site->new_name, path, e))
        return false;
    if (op->old_ino &&
        !move(stage, site->old_name, site->parent, site->leaf, path, e))
        return false;
    return keep_if_edited(m, site, e);
}

static bool go_back(struct mover *m, struct err *e)
{
    struct swap *s = m->s;

    for (size_t i = s->count; i-- > 0;) {
        struct site site;
        enum progress at;

        if (!look_at(m, i, &site, e))
            return false;
        at = progress_of(&site);
        if (at == DONE && !undo_done(m, &site, e))
            return false;
        if (at == BETWEEN && !move(s->stage, site.old_name, site.parent,
                                   site.leaf, site.op->path, e))
            return false;
    }
    drop_backups(s);
    return drop_folders(m, s->make, s->make_count, true, e) &&
           sync_folders(m, e);
}

static void undo(struct mover *m, struct err *e)
{
    struct err again = {0};

    if (!go_back(m, &again) || !drop_journal(m->s, &again)) {
        err_also(e, "undoing it: %s", err_first(&again));
        err_hint(e, "the next mapm command here finishes the work");
        return; /* for which it needs the stage */
    }
    remove_stage(m->s);
}

static bool write_journal(struct swap *s, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};

    buf_init(&text, JOURNAL_MAX_BYTES);
    journal_format(s, &text);
    return buf_check(&text, "the journal", e) &&
           fs_replace_at(s->mapm, JOURNAL, 0644, buf_str(&text), e);
}

static bool give_up(struct swap *s)
{
    drop_backups(s);
    remove_stage(s);
    return false;
}

bool swap_run(struct swap *s, struct err *e)
{
    CLEANUP(mover_done) struct mover m = {.s = s};

    if (!prepare_backup(s, e))
        return give_up(s);
    if (!write_journal(s, e)) {
        /* It may be there all the same, when only the last sync failed. */
        if (unlinkat(s->mapm, JOURNAL, 0) == 0 || errno == ENOENT)
            give_up(s);
        return false;
    }
    if (!go_forward(&m, e) || !finish(&m, e)) {
        undo(&m, e);
        return false;
    }
    if (unlinkat(s->mapm, JOURNAL, 0) < 0) {
        err_errno(e, "remove .agents/.mapm/" JOURNAL);
        undo(&m, e);
        return false;
    }
    remove_stage(s);
    if (!fs_sync(s->mapm, ".agents/.mapm", e))
        return err_wrap(e, "all is in place, but may not survive a power cut");
    return true;
}

/* --- the next start ------------------------------------------------------- */

/* Whether the places are as the one who was interrupted left them. */
static bool can_go_forward(struct mover *m)
{
    struct err ignored = {0};

    for (size_t i = 0; i < m->s->count; i++) {
        struct site site;

        if (!look_at(m, i, &site, &ignored))
            return false;
        switch (progress_of(&site)) {
        case UNKNOWN:
            return false;
        case PENDING:
            if (!check_untouched(m, &site, &ignored))
                return false;
            break;
        case BETWEEN:
        case DONE:
            break;
        }
    }
    return true;
}

static bool recover_swap(struct swap *s, bool *recovered, struct err *e)
{
    CLEANUP(mover_done) struct mover m = {.s = s};
    CLEANUP_FD int stage = -1;
    bool done;

    if (!fs_open_dir_at(s->mapm, s->stage_name.p, &stage, e)) {
        /* Without its stage nothing can be moved either way. */
        err_clear(e);
        return drop_journal(s, e);
    }
    s->stage = stage;
    if (can_go_forward(&m))
        done = go_forward(&m, e) && finish(&m, e);
    else
        done = go_back(&m, e);
    if (!done || !drop_journal(s, e))
        return err_wrap(e, "finish an interrupted installation");
    *recovered = true;
    return true;
}

static bool sweep_stages(int mapm, struct err *e)
{
    struct arena a = {0};
    struct fs_entry *entries;
    size_t count;
    bool ok;

    ok = fs_list_at(mapm, ".", 100000, &a, &entries, &count, e);
    for (size_t i = 0; ok && i < count; i++)
        if (swap_is_stage_name(entries[i].name) ||
            str_starts(entries[i].name, STR(".mapm-tmp-")))
            ok = fs_remove_tree_at(mapm, entries[i].name.p, e);
    arena_done(&a);
    return ok;
}

bool swap_recover(int root, int mapm, bool *recovered, struct err *e)
{
    struct arena a = {0};
    struct swap s;
    struct str text;
    bool ok = true;

    *recovered = false;
    if (fs_read_file_at(mapm, JOURNAL, JOURNAL_MAX_BYTES, &a, &text, e)) {
        bool ours = journal_parse(text, &a, &s);

        s.root = root;
        s.mapm = mapm;
        ok = ours ? recover_swap(&s, recovered, e) : drop_journal(&s, e);
    } else if (e->code != ERR_NOT_FOUND) {
        /* A folder or a link of that name: nothing of ours. */
        ok = e->code == ERR_REFUSED || e->code == ERR_LIMIT;
    }
    if (ok) {
        err_clear(e);
        ok = sweep_stages(mapm, e);
    }
    arena_done(&a);
    return ok;
}
