#include "listing.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/text.h"
#include "base/threads.h"
#include "mapm/limits.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_A_THREAD 256 /* fewer files do not justify a thread */
#define BATCH_FOLDERS  128
#define PATH_BYTES     4096

struct batch {
    struct batch *next; /* in order of the listing */
    size_t count;
    struct scan_entry folders[BATCH_FOLDERS];
};

/* One thread lists and adds batches; all threads process them. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch *first, *last,
        *open; /* `open`: the first batch that no thread has taken */
    bool ended, interrupted;
    int fd;
    bool programs;
};

struct listing {
    const struct library_options *options;
    const struct library_root *root;
    struct arena *a;
    struct queue queue;
    struct scan_entry **sorted;
    struct threads threads;
    size_t count;
    const struct str *groups; /* at the end */
    size_t group_count;
    bool is_tried;
};

/* --- fingerprints -------------------------------------------------------------------------- */

bool fingerprint_file(int fd, struct str name, struct str file, bool follow,
                      struct fingerprint *out)
{
    char path[PATH_BYTES];
    struct stat st;

    *out = (struct fingerprint){0};
    if (name.n + file.n + 2 > sizeof path)
        return false;
    memcpy(path, name.p, name.n);
    path[name.n] = '/';
    memcpy(path + name.n + 1, file.p, file.n);
    path[name.n + 1 + file.n] = '\0';
    if (fstatat(fd, path, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
        return errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
    if (S_ISDIR(st.st_mode)) /* T2: a folder of this name is not a SKILL.md */
        return false;
    *out = fingerprint_of(&st);
    return true;
}

static void fingerprint_batch(const struct queue *q, struct batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct scan_entry *s = &b->folders[i];

        s->is_skill =
            fingerprint_file(q->fd, s->name, STR("SKILL.md"), false, &s->skill);
        if (s->is_skill && q->programs)
            fingerprint_file(q->fd, s->name, record_program(NULL), true,
                             &s->program);
    }
}

/* --- the queue ------------------------------------------------------------------------- */

static void queue_add(struct queue *q, struct batch *b)
{
    pthread_mutex_lock(&q->lock);
    if (q->last)
        q->last->next = b;
    else
        q->first = b;
    q->last = b;
    if (!q->open)
        q->open = b;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void queue_end(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->ended = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static struct batch *queue_take(struct queue *q)
{
    struct batch *b;

    pthread_mutex_lock(&q->lock);
    while (!q->open && !q->ended)
        pthread_cond_wait(&q->changed, &q->lock);
    if (q->open && proc_is_asked_to_end()) {
        q->interrupted = true;
        q->open = NULL;
        q->ended = true;
    }
    b = q->open;
    if (b)
        q->open = b->next;
    pthread_mutex_unlock(&q->lock);
    return b;
}

static void work(void *ctx, size_t thread)
{
    struct queue *q = ctx;
    struct batch *b;

    (void)thread;
    while ((b = queue_take(q)) != NULL)
        fingerprint_batch(q, b);
}

size_t threads_for(size_t files)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t max = processors > 0 ? (size_t)processors : 1;

    if (max > LIBRARY_THREADS_MAX)
        max = LIBRARY_THREADS_MAX;
    return files / FILES_A_THREAD + 1 < max ? files / FILES_A_THREAD + 1 : max;
}

/* The other threads, and this one, do the work of threads that did not start. */
static void start_threads(struct listing *l)
{
    if (l->is_tried || l->count < 2 * FILES_A_THREAD)
        return;
    l->is_tried = true;
    threads_start(&l->threads, threads_for(LIBRARY_MAX_SKILLS) - 1, work,
                  &l->queue);
}

/* --- names ------------------------------------------------------------------------------ */

/* Skips hidden folders (T31): the name of a skill is that of its folder and
 * cannot begin with a dot. Metis scans them and reports the skills as
 * invalid. */
static bool is_hidden(const struct listing *l, struct str name)
{
    return l->options->metis ? str_is(name, ".") || str_is(name, "..")
                             : name.p[0] == '.';
}

static bool may_be_skill(const struct listing *l, struct str name,
                         unsigned char type)
{
    if (is_hidden(l, name) ||
        (type != DT_DIR && type != DT_LNK && type != DT_UNKNOWN))
        return false;
    if (text_is_utf8(name))
        return true;
    report_note(l->options, LIBRARY_WARNING,
                "skipping a folder in %.*s: its name is not UTF-8",
                STR_ARG(l->root->path));
    return false;
}

static void add_name(struct listing *l, struct batch **b, const char *name)
{
    if (!*b)
        *b = arena_new(l->a, struct batch);
    (*b)->folders[(*b)->count++].name = arena_str(l->a, str_cstr(name));
    l->count++;
    if ((*b)->count < BATCH_FOLDERS)
        return;
    queue_add(&l->queue, *b);
    *b = NULL;
    start_threads(l);
}

static bool add_names(struct listing *l, DIR *d, struct err *e)
{
    struct batch *b = NULL;
    struct dirent *entry;

    while (errno = 0, (entry = readdir(d)) != NULL) {
        if (!may_be_skill(l, str_cstr(entry->d_name), entry->d_type))
            continue;
        if (l->count == LIBRARY_MAX_SKILLS)
            return err_set(e, ERR_LIMIT, "more than %d folders",
                           LIBRARY_MAX_SKILLS);
        add_name(l, &b, entry->d_name);
    }
    if (errno)
        return err_errno(e, "list it");
    if (b)
        queue_add(&l->queue, b);
    return true;
}

/* --- in order ----------------------------------------------------------------------------- */

/* Sort key: eight bytes of a name after the prefix common to all names, which
 * decide most comparisons. */
struct key {
    uint64_t bytes; /* big-endian, so that numbers compare like bytes */
    struct scan_entry *entry;
};

static int by_name(const void *x, const void *y)
{
    const struct key *a = x, *b = y;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return str_cmp(a->entry->name, b->entry->name);
}

static uint64_t bytes_at(struct str name, size_t from)
{
    struct str part = str_slice(name, from, from + sizeof(uint64_t));
    uint64_t bytes = 0;

    if (part.n)
        memcpy(&bytes, part.p, part.n);
    return be64toh(bytes);
}

static size_t common_bytes(struct str x, struct str y, size_t max)
{
    size_t n = 0;

    while (n < max && n < y.n && x.p[n] == y.p[n])
        n++;
    return n;
}

static struct scan_entry **sort(const struct listing *l)
{
    struct scan_entry **all = arena_array(l->a, l->count + 1, sizeof *all);
    struct key *keys = arena_array(l->a, l->count + 1, sizeof *keys);
    size_t n = 0, common = 0;

    for (struct batch *b = l->queue.first; b; b = b->next)
        for (size_t i = 0; i < b->count; i++)
            keys[n++].entry = &b->folders[i];
    if (n)
        common = keys[0].entry->name.n;
    for (size_t i = 0; i < n; i++)
        common = common_bytes(keys[0].entry->name, keys[i].entry->name, common);
    for (size_t i = 0; i < n; i++)
        keys[i].bytes = bytes_at(keys[i].entry->name, common);
    if (n)
        qsort(keys, n, sizeof *keys, by_name);
    for (size_t i = 0; i < n; i++)
        all[i] = keys[i].entry;
    return all;
}

static void dir_close(DIR **d)
{
    if (*d)
        closedir(*d);
}

bool listing_begin(const struct library_options *o,
                   const struct library_root *root, int fd, struct arena *a,
                   struct listing **out, struct err *e)
{
    CLEANUP(dir_close) DIR *d = NULL;
    CLEANUP_FD int own = -1;
    struct listing *l = arena_new(a, struct listing);
    bool ok;

    if (!fs_open_dir_at(fd, ".", &own, e))
        return false;
    d = fdopendir(own);
    if (!d)
        return err_errno(e, "list it");
    own = -1; /* owned by the directory stream now */
    *l = (struct listing){.options = o, .root = root, .a = a};
    l->queue.fd = fd;
    l->queue.programs = o->programs;
    pthread_mutex_init(&l->queue.lock, NULL);
    pthread_cond_init(&l->queue.changed, NULL);
    *out = l;
    ok = add_names(l, d, e);
    queue_end(&l->queue);
    if (ok)
        l->sorted = sort(l);
    return ok;
}

/* --- groups (K14) --------------------------------------------------------------- */

/* Folders without a SKILL.md in the root, and those within them; usually
 * few. */
struct groups {
    struct listing *l;
    struct str *names; /* also serves as the queue */
    size_t count, capacity;
    struct scan_entry **skills;
    size_t skill_count, skill_capacity;
};

static void add_group(struct groups *g, struct str name)
{
    struct listing *l = g->l;

    if (path_depth(name) == LIBRARY_MAX_DEPTH || g->count > LIBRARY_MAX_GROUPS)
        return;
    if (g->count == LIBRARY_MAX_GROUPS)
        report_note(l->options, LIBRARY_WARNING,
                    "skills in more than %d folders of folders in %.*s are "
                    "left out",
                    LIBRARY_MAX_GROUPS, STR_ARG(l->root->path));
    g->names =
        arena_grow(l->a, g->names, g->count, &g->capacity, sizeof *g->names);
    g->names[g->count++] = name;
}

static void add_nested(struct groups *g, struct str name)
{
    struct listing *l = g->l;
    struct batch one = {.count = 1, .folders = {{.name = name}}};
    struct scan_entry *s;

    fingerprint_batch(&l->queue, &one);
    if (!one.folders[0].is_skill) {
        add_group(g, name);
        return;
    }
    g->skills = arena_grow(l->a, g->skills, g->skill_count, &g->skill_capacity,
                           sizeof(struct scan_entry *));
    s = g->skills[g->skill_count++] = arena_new(l->a, struct scan_entry);
    *s = one.folders[0];
}

/* Lists a group. Links to groups are not followed, since they may form cycles;
 * a skill's folder may be a link. A group that cannot be listed counts as
 * empty. */
static bool list_group(struct groups *g, struct str group, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct listing *l = g->l;
    struct fs_entry *entries;
    struct err ignored = {0};
    size_t count;

    if (!fs_list_at(l->queue.fd, str_dup0(group, &scratch), LIBRARY_MAX_SKILLS,
                    &scratch, &entries, &count, &ignored))
        return true;
    for (size_t i = 0; i < count; i++) {
        if (!may_be_skill(l, entries[i].name, entries[i].type))
            continue;
        if (l->count++ == LIBRARY_MAX_SKILLS)
            return err_set(e, ERR_LIMIT, "more than %d folders",
                           LIBRARY_MAX_SKILLS);
        add_nested(g, fs_join(group, entries[i].name, l->a));
    }
    return true;
}

static int by_path(const void *x, const void *y)
{
    struct scan_entry *const *a = x, *const *b = y;

    return str_cmp((*a)->name, (*b)->name);
}

/* Adds the skills of groups to the `*count` of the root. */
static bool add_groups(struct groups *g, struct scan_entry ***all,
                       size_t *count, struct err *e)
{
    struct scan_entry **both;

    for (size_t i = 0; i < g->count && i < LIBRARY_MAX_GROUPS; i++) {
        if (proc_is_asked_to_end())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (!list_group(g, g->names[i], e))
            return false;
    }
    if (!g->skill_count)
        return true;
    both = arena_array(g->l->a, *count + g->skill_count, sizeof *both);
    if (*count)
        memcpy(both, *all, *count * sizeof *both);
    memcpy(both + *count, g->skills, g->skill_count * sizeof *both);
    *count += g->skill_count;
    qsort(both, *count, sizeof *both, by_path);
    *all = both;
    return true;
}

bool listing_end(struct listing *l, struct scan_entry ***out, size_t *count,
                 struct err *e)
{
    struct groups groups = {.l = l};
    size_t n = 0;

    work(&l->queue, 0);
    threads_join(&l->threads);
    if (l->queue.interrupted)
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    for (size_t i = 0, all = l->count; i < all; i++) {
        if (l->sorted[i]->is_skill)
            l->sorted[n++] = l->sorted[i];
        else if (!l->options->metis)
            add_group(&groups, l->sorted[i]->name);
    }
    *out = l->sorted;
    *count = n;
    if (!add_groups(&groups, out, count, e))
        return false;
    l->groups = groups.names;
    l->group_count = groups.count;
    return true;
}

bool listing_groups(const struct listing *l, struct arena *a,
                    const struct str **out, size_t *count)
{
    struct str *names = arena_array(a, l->group_count + 1, sizeof *names);

    for (size_t i = 0; i < l->group_count; i++)
        names[i] = arena_str(a, l->groups[i]);
    *out = names;
    *count = l->group_count;
    return *count <= LIBRARY_MAX_GROUPS;
}

void listing_done(struct listing *l)
{
    if (!l || !l->options)
        return;
    pthread_mutex_lock(&l->queue.lock);
    l->queue.open = NULL; /* further threads would have no work */
    pthread_mutex_unlock(&l->queue.lock);
    threads_join(&l->threads);
    pthread_cond_destroy(&l->queue.changed);
    pthread_mutex_destroy(&l->queue.lock);
    l->options = NULL;
}

/* --- one by its name -------------------------------------------------------------- */

static bool has_skill(int fd, struct str folder)
{
    struct fingerprint ignored;

    return fingerprint_file(fd, folder, STR("SKILL.md"), false, &ignored);
}

struct str library_find_folder(struct str root, struct str name,
                               struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    struct str groups[LIBRARY_MAX_GROUPS], found;
    size_t count = 1;
    struct err ignored = {0};

    groups[0] = STR("");
    if (!fs_open_dir(str_dup0(root, &scratch), &fd, &ignored))
        return STR("");
    for (size_t i = 0; i < count; i++) {
        struct fs_entry *entries;
        size_t n;

        found = groups[i].n ? fs_join(groups[i], name, &scratch) : name;
        if (has_skill(fd, found))
            return arena_str(a, found);
        if (path_depth(found) == LIBRARY_MAX_DEPTH ||
            !fs_list_at(fd, str_dup0(groups[i], &scratch), LIBRARY_MAX_SKILLS,
                        &scratch, &entries, &n, &ignored))
            continue;
        for (size_t k = 0; k < n && count < LIBRARY_MAX_GROUPS; k++) {
            struct str group =
                groups[i].n ? fs_join(groups[i], entries[k].name, &scratch)
                            : entries[k].name;

            if (entries[k].type == DT_DIR && entries[k].name.p[0] != '.' &&
                !has_skill(fd, group))
                groups[count++] = group;
        }
    }
    return STR("");
}
