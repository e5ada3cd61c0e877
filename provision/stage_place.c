#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "stage.h"

/* A thread costs about as much as a few files. */
#define FILES_PER_THREAD 8
#define NAME_MAX_BYTES   255

struct crew {
    const struct stage_work *work;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t mutex; /* for `why` */
    struct err why;
};

/* The folder that a file goes to: mostly that of the file before it. */
struct place {
    int tree, fd;      /* fd -1: the tree itself */
    struct str folder; /* of the file's path, that `fd` is */
};

static void place_done(struct place *p)
{
    fs_close(&p->fd);
    fs_close(&p->tree);
}

/* Nobody else knows the stage: what is there was made a moment ago. */
static bool enter(int dirfd, const char *name, int *fd, struct err *e)
{
    bool made = mkdirat(dirfd, name, 0755) == 0;
    struct stat st;

    if (!made && errno != EEXIST)
        return err_errno(e, "create the folder %s", name);
    *fd = fs_openat(dirfd, name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (*fd < 0)
        return err_errno(e, "open the folder %s", name);
    /* The umask leaves 0755 alone, mostly: looking is cheaper than setting. */
    if (made && (fstat(*fd, &st) < 0 || (st.st_mode & 07777) != 0755) &&
        fchmod(*fd, 0755) < 0)
        return err_errno(e, "set the mode of the folder %s", name);
    return true;
}

/* `folder` ends in "/", or is empty. */
static bool go_to(struct place *p, struct str folder, struct err *e)
{
    char name[NAME_MAX_BYTES + 1];
    struct str rest = folder, part;

    if (str_eq(p->folder, folder))
        return true;
    fs_close(&p->fd);
    while (rest.n && str_cut(&rest, '/', &part)) {
        CLEANUP_FD int above = p->fd;

        snprintf(name, sizeof name, "%.*s", STR_ARG(part));
        p->fd = -1;
        if (!enter(above >= 0 ? above : p->tree, name, &p->fd, e))
            return false;
    }
    p->folder = folder;
    return true;
}

static bool place_file(const struct crew *crew, int dirfd, const char *name,
                       const struct wish_file *f, struct err *e)
{
    const struct provision_objects *o = crew->work->objects;

    if (f->content.p)
        return fs_create_at(dirfd, name, f->executable ? 0755 : 0644,
                            f->content, e);
    return o->place(o->ctx, &f->hash, dirfd, name, f->executable, e);
}

static bool record_file(int dirfd, const char *name, const struct wish_file *f,
                        struct record_file *r, struct err *e)
{
    struct stat st;

    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_errno(e, "look at %s", name);
    *r = (struct record_file){
        .path = f->path,
        .executable = f->executable,
        .mode = st.st_mode & 07777,
        .hash = f->hash,
        .stat = file_stat_of(&st, true),
    };
    return true;
}

static bool do_file(struct crew *crew, struct place *at,
                    const struct wish_file *f, struct record_file *r,
                    struct err *e)
{
    char name[NAME_MAX_BYTES + 1];
    size_t slash = str_find_last(f->path, '/');
    size_t prefix = slash == SIZE_MAX ? 0 : slash + 1;
    int fd;

    snprintf(name, sizeof name, "%.*s",
             STR_ARG(str_from_index(f->path, prefix)));
    if (!go_to(at, str_slice(f->path, 0, prefix), e))
        return false;
    fd = at->fd >= 0 ? at->fd : at->tree;
    return place_file(crew, fd, name, f, e) && record_file(fd, name, f, r, e);
}

static bool do_job(struct crew *crew, const struct stage_job *job,
                   struct err *e)
{
    CLEANUP(place_done) struct place at = {.tree = -1, .fd = -1};
    const struct target *t = job->change->target;

    if (!enter(crew->work->stage, job->name, &at.tree, e))
        return false;
    for (size_t i = 0; i < t->file_count; i++)
        if (!do_file(crew, &at, &t->files[i], &job->records[i], e))
            return err_wrap(e, "write %.*s/%.*s", STR_ARG(job->change->path),
                            STR_ARG(t->files[i].path));
    return swap_print(crew->work->stage, job->name, &job->change->new_ino,
                      &job->change->new_print, e);
}

static void *work(void *p)
{
    struct crew *crew = p;
    struct err e = {0};

    while (!atomic_load(&crew->failed)) {
        size_t i = atomic_fetch_add(&crew->next, 1);

        if (i >= crew->work->count)
            break;
        if (do_job(crew, &crew->work->jobs[i], &e))
            continue;
        pthread_mutex_lock(&crew->mutex);
        if (!atomic_exchange(&crew->failed, true))
            crew->why = e;
        pthread_mutex_unlock(&crew->mutex);
    }
    return NULL;
}

static size_t choose_threads(const struct stage_work *w)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t files = 0, n;

    for (size_t i = 0; i < w->count; i++)
        files += w->jobs[i].change->target->file_count;
    n = files / FILES_PER_THREAD;
    if (n > w->count)
        n = w->count;
    if (cpus > 0 && n > (size_t)cpus * 2)
        n = (size_t)cpus * 2;
    if (n > STAGE_MAX_THREADS)
        n = STAGE_MAX_THREADS;
    return n;
}

bool stage_place(struct stage_work *w, struct err *e)
{
    struct crew crew = {.work = w, .mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[STAGE_MAX_THREADS];
    size_t wanted = choose_threads(w), started = 0;

    /* This thread works, too, and all alone where no other can be had. */
    while (started + 1 < wanted &&
           pthread_create(&threads[started], NULL, work, &crew) == 0)
        started++;
    work(&crew);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (!atomic_load(&crew.failed))
        return true;
    *e = crew.why;
    return false;
}
