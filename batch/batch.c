#include "batch.h"

#include "base/digest.h"
#include "base/fs.h"
#include "base/proc.h"
#include "mapm/open_store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The main process of a batch: reads inputs and journal, forks the workers, and
 * writes the results of ended inputs in the order of the journal. It runs no
 * metaskill itself. */

#define POLL_MS 250

/* --- the metaskill ---------------------------------------------------------- */

static bool find_allowed(struct batch *b, struct store *store, struct err *e)
{
    struct batch_request const *q = b->q;
    struct run_skill *found = &b->skill;

    if (!run_skill_find(b->cx, store, &b->layer, q->name, found, e))
        return false;
    if (!found->skill.file.n)
        return err_set(e, ERR_NOT_FOUND, "%.*s has no program",
                       STR_ARG(found->skill.document.name));
    b->limits = b->layer.limits;
    return run_check_allowed(b->cx, store, &b->layer, found, false, e) &&
           (!q->limits || q->limits(q->ctx, &b->limits, e));
}

/* Finds the metaskill. Closes the store before workers are forked, so that no
 * database connection is shared. */
static bool find_skill(struct batch *b, struct err *e)
{
    struct store *store = NULL;
    bool ok = run_check_nesting(e) &&
              layer_open_workspace(b->cx, LAYER_READ, &b->layer, e) &&
              open_store(b->cx, &store, e) && find_allowed(b, store, e);

    close_store(b->cx, store);
    return ok;
}

static struct str package_digest(const struct batch *b)
{
    struct arena *a = &b->cx->arena;
    struct str text;
    struct hash digest = store_listing_format(
        b->skill.skill.files, b->skill.skill.file_count, a, &text);

    return digest_format(&digest, a);
}

/* --- the journal ------------------------------------------------------------ */

static struct str journal_folder(const struct batch *b)
{
    const struct batch_request *q = b->q;
    struct arena *a = &b->cx->arena;
    struct str name =
        q->journal.p ? q->journal : str_join(q->file, STR(".journal"), a);

    return fs_normalize(fs_join(b->cx->cwd, name, a), a);
}

/* Rejects files in the folder of the metaskill, which would change its
 * digest. */
static bool check_place(const struct batch *b, struct str path, struct err *e)
{
    struct str folder = b->skill.skill.folder;

    if (!fs_path_is_within(path, folder))
        return true;
    err_set(e, ERR_REFUSED, "%.*s is in the folder of the metaskill",
            STR_ARG(path));
    return err_hint(e, "what is written there would make it another version: "
                       "choose another folder");
}

static bool open_journal(struct batch *b, struct err *e)
{
    const struct batch_journal_head head = {
        .metaskill = b->skill.fqn,
        .digest = package_digest(b),
        .shard = b->q->shard,
        .shards = b->q->shards,
    };
    struct str dir = journal_folder(b);

    return check_place(b, dir, e) &&
           batch_journal_open(dir.p, &head, &b->cx->arena, &b->journal, e);
}

static bool other_input(const struct batch *b, const struct batch_line *l,
                        struct err *e)
{
    err_set(e, ERR_REFUSED,
            "%s:%u: the journal began with another input for this id",
            b->input.path, l->number);
    return err_hint(e, "give it another id, or start over with another folder "
                       "for --journal");
}

static bool note_record(void *ctx, uint64_t at,
                        const struct batch_journal_record *r, struct err *e)
{
    struct batch *b = ctx;
    struct batch_line *l = batch_input_find(&b->input, &r->key);

    b->shared->asks += r->kind == JOURNAL_BEGIN && r->is_ask;
    if (!l) /* the input was removed from the file */
        return true;
    if (r->kind == JOURNAL_START) {
        if (!hash_eq(&r->input, &l->input))
            return other_input(b, l, e);
        l->start = at;
    } else if (l->state == BATCH_NEW) {
        return err_set(e, ERR_DAMAGED, "%s: a record without a run",
                       b->journal.path);
    }
    l->state = r->kind == JOURNAL_END ? BATCH_ENDED : BATCH_STARTED;
    l->how = r->how;
    l->end = at;
    return true;
}

static bool read_journal(struct batch *b, struct err *e)
{
    const struct batch_journal_each each = {note_record, b};
    uint64_t at = batch_journal_first(&b->journal);

    b->size = batch_journal_size(&b->journal);
    return batch_journal_read(&b->journal, &at, b->size, &each, e);
}

/* --- what is left to do ----------------------------------------------------- */

static bool is_retried(const struct batch *b, const struct batch_line *l)
{
    if (l->state != BATCH_ENDED)
        return true;
    return (l->how == BATCH_FAILED && b->q->retry_failed) ||
           (l->how == BATCH_INTERRUPTED && b->q->retry_interrupted);
}

static void add_todo(struct batch *b, bool started)
{
    for (uint32_t i = 0; i < b->input.count; i++) {
        const struct batch_line *l = &b->input.lines[i];

        if (batch_shard_of(&l->key, b->q->shards) != b->q->shard)
            continue;
        b->counts.total += started;
        if ((l->state == BATCH_STARTED) == started && is_retried(b, l))
            b->todo[b->todo_count++] = i;
    }
}

/* Chooses the inputs to run; those that were begun before come first. */
static void choose_todo(struct batch *b)
{
    b->todo = heap_alloc((b->input.count + 1) * sizeof *b->todo);
    add_todo(b, true);
    add_todo(b, false);
}

/* --- the output ------------------------------------------------------------- */

static bool put_end(struct batch *b, const struct batch_journal_record *r,
                    struct err *e)
{
    b->counts.completed += r->how == BATCH_COMPLETED;
    b->counts.failed += r->how == BATCH_FAILED;
    b->counts.interrupted += r->how == BATCH_INTERRUPTED;
    return batch_output_line(&b->output, r->text, e);
}

/* Prints the recorded result of an input, unless it is run again. */
static bool print_old(void *ctx, uint64_t at,
                      const struct batch_journal_record *r, struct err *e)
{
    struct batch *b = ctx;
    const struct batch_line *l = batch_input_find(&b->input, &r->key);

    if (r->kind != JOURNAL_END || !l || l->state != BATCH_ENDED ||
        l->end != at || is_retried(b, l))
        return true;
    return put_end(b, r, e);
}

static bool print_new(void *ctx, uint64_t at,
                      const struct batch_journal_record *r, struct err *e)
{
    (void)at;
    return r->kind != JOURNAL_END || put_end(ctx, r, e);
}

static bool print_first(struct batch *b, struct err *e)
{
    const struct batch_journal_each each = {print_old, b};
    uint64_t at = batch_journal_first(&b->journal);

    return batch_journal_read(&b->journal, &at, b->size, &each, e) &&
           batch_output_flush(&b->output, e);
}

/* Prints new results of the journal, after syncing it to disk. */
static bool print_more(struct batch *b, uint64_t *at, struct err *e)
{
    const struct batch_journal_each each = {print_new, b};
    uint64_t size = batch_journal_size(&b->journal);

    if (size == *at)
        return true;
    if (!batch_journal_sync(&b->journal, e) ||
        !batch_journal_read(&b->journal, at, size, &each, e) ||
        !batch_output_flush(&b->output, e))
        return false;
    if (b->q->progress)
        b->q->progress(b->q->ctx, &b->counts);
    return true;
}

/* --- workers ---------------------------------------------------------------- */

static NORETURN void live(struct batch *b, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    fs_close(&b->wake[0]);
    batch_work(b);
    _exit(0);
}

static bool start_workers(struct batch *b, pid_t *pids, unsigned *count,
                          struct err *e)
{
    unsigned most = b->q->jobs;
    pid_t parent = getpid();

    if (most > b->todo_count)
        most = (unsigned)b->todo_count;
    for (*count = 0; *count < most; ++*count) {
        pid_t pid = fork();

        if (pid < 0)
            return err_errno(e, "start a worker");
        if (pid == 0)
            live(b, parent);
        pids[*count] = pid;
    }
    return true;
}

static void stop_workers(struct batch *b, const pid_t *pids, unsigned count)
{
    b->shared->stop = true;
    for (unsigned i = 0; i < count; i++)
        kill(pids[i], SIGTERM);
}

static bool reap(const pid_t *pids, unsigned count, struct err *e)
{
    bool ok = true;

    for (unsigned i = 0; i < count; i++) {
        int status = 0;

        while (waitpid(pids[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (!ok || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
            continue;
        ok = err_set(e, ERR_FAILED, "a worker ended unexpectedly (%s)",
                     WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                         : "it exited");
    }
    return ok ||
           err_hint(
               e, "run the same command again: it continues where it stopped");
}

/* Waits for a result or a timeout. Returns false when all workers have
 * ended. */
static bool wait_for_news(struct batch *b)
{
    struct pollfd p = {.fd = b->wake[0], .events = POLLIN};
    char block[512];
    ssize_t n;

    if (poll(&p, 1, POLL_MS) <= 0)
        return true;
    n = read(b->wake[0], block, sizeof block);
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Prints results until the last worker has ended. After a failure to print,
 * inputs that were begun are completed, since their results are in the journal,
 * and no further input is begun. */
static bool follow(struct batch *b, const pid_t *pids, unsigned count,
                   struct err *e)
{
    uint64_t at = b->size;
    bool ok = true, stopped = false;

    fs_close(&b->wake[1]);
    while (wait_for_news(b)) {
        ok = ok && print_more(b, &at, e);
        if (!ok)
            b->shared->stop = true;
        if (proc_interrupted() && !stopped) {
            stop_workers(b, pids, count);
            stopped = true;
        }
    }
    return ok && print_more(b, &at, e);
}

/* Reports the first error, of a worker or of this process. */
static bool check_outcome(const struct batch *b, struct err *e)
{
    const struct batch_shared *s = b->shared;

    if (proc_interrupted()) {
        err_clear(e);
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    }
    if (s->failed == BATCH_FAULT) {
        *e = s->error;
        return false;
    }
    if (!s->out_of_asks)
        return true;
    err_set(e, ERR_LIMIT, "all %llu asks of --max-cost are used",
            (unsigned long long)b->q->max_asks);
    return err_hint(
        e,
        "run it again with a higher --max-cost: it continues where it stopped");
}

static bool work_all(struct batch *b, struct err *e)
{
    pid_t pids[BATCH_MAX_JOBS];
    unsigned count;
    bool started, followed, ended;
    struct err why = {0};

    if (pipe2(b->wake, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_errno(e, "create a pipe");
    started = start_workers(b, pids, &count, e);
    if (!started)
        stop_workers(b, pids, count);
    followed = follow(b, pids, count, started ? e : &why);
    ended = reap(pids, count, started && followed ? e : &why);
    return started && followed && ended;
}

/* --- all of it -------------------------------------------------------------- */

static bool share(struct batch *b, struct err *e)
{
    void *p = mmap(NULL, sizeof *b->shared, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return err_errno(e, "share memory with workers");
    b->shared = p;
    return true;
}

static bool is_same_file(const char *path, int fd)
{
    struct stat x, y;

    return stat(path, &x) == 0 && fstat(fd, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static bool open_output(struct batch *b, struct err *e)
{
    const char *path;

    if (!b->q->out.p)
        return batch_output_open(&b->output, NULL, e);
    path = fs_normalize(fs_join(b->cx->cwd, b->q->out, &b->cx->arena),
                        &b->cx->arena)
               .p;
    if (is_same_file(path, b->input.fd) || is_same_file(path, b->journal.fd))
        return err_set(e, ERR_USAGE, "--out %s: that is read here", path);
    return check_place(b, str_cstr(path), e) &&
           batch_output_open(&b->output, path, e);
}

static bool make_record_folder(struct batch *b, struct err *e)
{
    struct str dir = b->q->record;

    if (!dir.p)
        return true;
    dir = fs_normalize(fs_join(b->cx->cwd, dir, &b->cx->arena), &b->cx->arena);
    return check_place(b, dir, e) && fs_make_dirs(dir.p, 0755, e);
}

static bool prepare(struct batch *b, struct err *e)
{
    const char *file = str_dup0(b->q->file, &b->cx->arena);

    return find_skill(b, e) && batch_input_open(file, &b->input, e) &&
           share(b, e) && open_journal(b, e) && read_journal(b, e) &&
           make_record_folder(b, e) && open_output(b, e);
}

static bool run(struct batch *b, struct err *e)
{
    struct err end = {0};
    bool ok;

    choose_todo(b);
    if (!print_first(b, e))
        return false;
    ok = !b->todo_count || work_all(b, e);
    if (!check_outcome(b, ok ? e : &end)) {
        if (!ok)
            *e = end;
        return false;
    }
    return ok && batch_output_end(&b->output, e);
}

static void close_all(struct batch *b)
{
    batch_output_close(&b->output);
    batch_journal_close(&b->journal);
    batch_input_close(&b->input);
    fs_close(&b->wake[0]);
    fs_close(&b->wake[1]);
    heap_free(b->todo);
    if (b->shared)
        munmap(b->shared, sizeof *b->shared);
    layer_close(&b->layer);
}

bool batch_run(const struct batch_request *q, struct batch_counts *out,
               struct err *e)
{
    struct batch b = {.q = q,
                      .cx = q->cx,
                      .input = {.fd = -1},
                      .journal = {.fd = -1},
                      .output = {.fd = -1},
                      .wake = {-1, -1}};
    bool ok = prepare(&b, e) && run(&b, e);

    *out = b.counts;
    close_all(&b);
    return ok;
}
