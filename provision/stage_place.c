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
    struct stage_files *work;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t mutex; /* for `why` */
    struct err why;
};

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

static bool do_job(struct crew *crew, const struct stage_job *job,
                   struct err *e)
{
    CLEANUP_FD int fd = -1;
    char name[NAME_MAX_BYTES + 1];

    if (!fs_open_dir_at(crew->work->stage, job->folder.p, &fd, e))
        return false;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct wish_file *f = crew->work->files[i];
        struct str leaf = str_from_index(f->path, job->prefix);

        snprintf(name, sizeof name, "%.*s", STR_ARG(leaf));
        if (!place_file(crew, fd, name, f, e) ||
            !record_file(fd, name, f, crew->work->records[i], e))
            return err_wrap(e, "write %.*s/%.*s", STR_ARG(job->change->path),
                            STR_ARG(f->path));
    }
    return true;
}

static void *work(void *p)
{
    struct crew *crew = p;
    struct err e = {0};

    while (!atomic_load(&crew->failed)) {
        size_t i = atomic_fetch_add(&crew->next, 1);

        if (i >= crew->work->job_count)
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

static size_t choose_threads(const struct stage_files *f)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t files = 0, n;

    for (size_t i = 0; i < f->job_count; i++)
        files += f->jobs[i].count;
    n = files / FILES_PER_THREAD;
    if (n > f->job_count)
        n = f->job_count;
    if (cpus > 0 && n > (size_t)cpus * 2)
        n = (size_t)cpus * 2;
    if (n > STAGE_MAX_THREADS)
        n = STAGE_MAX_THREADS;
    return n;
}

bool stage_place(struct stage_files *f, struct err *e)
{
    struct crew crew = {.work = f, .mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[STAGE_MAX_THREADS];
    size_t wanted = choose_threads(f), started = 0;

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
