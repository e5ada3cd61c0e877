#include "listing.h"

#include "base/fs.h"
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

#define FILES_A_THREAD 256 /* fewer are not worth one */
#define BATCH_FOLDERS  128
#define PATH_BYTES     4096

struct batch {
    struct batch *next; /* in order of the listing */
    size_t count;
    struct scan_entry folders[BATCH_FOLDERS];
};

/* One thread lists and adds batches, all take them. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch *first, *last,
        *open; /* `open`: the first batch that no thread took */
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
    if (S_ISDIR(st.st_mode)) /* T2: that is no file of that name */
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

/* T31: hidden folders are passed over. Nothing is lost: no name begins with a
 * dot, and a skill has the name of its folder. */
static bool may_be_skill(const struct listing *l, const struct dirent *entry)
{
    if (entry->d_name[0] == '.' ||
        (entry->d_type != DT_DIR && entry->d_type != DT_LNK &&
         entry->d_type != DT_UNKNOWN))
        return false;
    if (text_is_utf8(str_cstr(entry->d_name)))
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
        if (!may_be_skill(l, entry))
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

/* Eight bytes of a name behind what all names begin with: mostly they decide. */
struct key {
    uint64_t bytes; /* as a number: in the order of the bytes */
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
    own = -1; /* the stream's now */
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

bool listing_end(struct listing *l, struct scan_entry ***out, size_t *count,
                 struct err *e)
{
    size_t n = 0;

    work(&l->queue, 0);
    threads_join(&l->threads);
    if (l->queue.interrupted)
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    for (size_t i = 0; i < l->count; i++)
        if (l->sorted[i]->is_skill)
            l->sorted[n++] = l->sorted[i];
    *out = l->sorted;
    *count = n;
    return true;
}

void listing_done(struct listing *l)
{
    if (!l || !l->options)
        return;
    pthread_mutex_lock(&l->queue.lock);
    l->queue.open = NULL; /* more threads would have no work */
    pthread_mutex_unlock(&l->queue.lock);
    threads_join(&l->threads);
    pthread_cond_destroy(&l->queue.changed);
    pthread_mutex_destroy(&l->queue.lock);
    l->options = NULL;
}
