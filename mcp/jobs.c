#include "jobs.h"

#include "base/fs.h"
#include "base/invariant.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

#define LEAVE_MS      1000 /* from SIGTERM to SIGKILL, for one */
#define LEAVE_ALL_MS  40   /* the same when all end */
#define LEAVE_LOOK_MS 2
#define LEAVING_MAX   16 /* before another one starts */
#define KILL_MAX_MS   30
/* Maximum size of all suspended jobs in memory. */
#define SUSPENDED_MAX_BYTES (64u * 1024 * 1024)
#define KEEP_MAX            1000 /* more processes than can exist */

/* --- calls of a job ----------------------------------------------------- */

void job_attach(struct job *j, struct mcp_call *c)
{
    INVARIANT(!c->job && !c->answered);
    c->job = j;
    c->beat_ms = proc_now_ms() + j->s->is->heartbeat_ms;
    c->next_of_job = j->calls;
    j->calls = c;
}

static void detach(struct mcp_call *c)
{
    struct mcp_call **at = &c->job->calls;

    while (*at != c) {
        INVARIANT(*at);
        at = &(*at)->next_of_job;
    }
    *at = c->next_of_job;
    c->job = NULL;
}

static void job_free(struct job *j)
{
    struct job **at = &j->s->jobs;

    INVARIANT(!j->calls);
    while (*at != j) {
        INVARIANT(*at);
        at = &(*at)->next;
    }
    *at = j->next;
    fs_close(&j->fd);
    buf_done(&j->in);
    buf_done(&j->out);
    buf_done(&j->said);
    if (j->records)
        entries_done(&j->entries);
    arena_done(&j->asked);
    heap_free(j);
}

static bool is_suspended(const struct job *j)
{
    return j->state == JOB_WAITING && j->records;
}

static void signal_job(const struct job *j, int number)
{
    if (j->pid <= 0)
        return;
    if (kill(-j->pid, number) < 0) /* the process may not lead its group yet */
        kill(j->pid, number);
}

/* Asks the process to end. */
static void job_stop(struct job *j)
{
    j->state = JOB_LEAVING;
    j->kill_ms = proc_now_ms() + LEAVE_MS;
    signal_job(j, SIGTERM);
    fs_close(&j->fd);
}

/* Without a waiting call the job ends, unless a retry may come. */
void job_forget_call(struct mcp_call *c)
{
    struct job *j = c->job;

    if (!j)
        return;
    detach(c);
    if (j->calls || j->state == JOB_LEAVING || is_suspended(j))
        return;
    if (j->state == JOB_QUEUED) {
        if (j->records)
            entries_leave(&j->entries);
        job_free(j);
        return;
    }
    if (j->records)
        entries_forget(&j->entries);
    job_withdraw(j);
    job_stop(j);
}

/* A client without capabilities for questions cannot suspend a call. */
static bool can_be_asked(const struct mcp_call *c)
{
    return mcp_call_era(c) == MCP_STATELESS && (c->how->flags & METHOD_ASKS) &&
           (mcp_call_client_can(c, "sampling") ||
            mcp_call_client_can(c, "elicitation") ||
            mcp_call_client_can(c, "roots"));
}

struct job *job_new(struct mcp_call *c)
{
    struct server *s = c->s;
    struct job *j = heap_alloc(sizeof *j), **at = &s->jobs;

    *j = (struct job){.s = s, .fd = -1, .began_s = (uint64_t)time(NULL)};
    buf_init(&j->in, MCP_TASK_MAX_BYTES + JOB_READ_BYTES + 64);
    buf_init(&j->out, 4 * (size_t)MCP_TASK_MAX_BYTES);
    buf_init(&j->said, 4 * JOB_SAID_MAX_CHARS);
    while (*at) /* in order of arrival */
        at = &(*at)->next;
    *at = j;
    job_attach(j, c);
    return j;
}

void mcp_call_run_task(struct mcp_call *c,
                       void (*run)(void *ctx, struct mcp_task *w), void *ctx)
{
    if (c->answered || c->run)
        return;
    INVARIANT(run);
    c->run = run;
    c->run_ctx = ctx;
    if (c->job) /* resumed */
        return;
    job_new(c);
    if (!can_be_asked(c))
        return;
    c->job->records = true;
    c->job->digest = ticket_digest(c);
    entries_init(&c->job->entries, c->s->is->journal, &c->job->digest,
                 c->job->began_s);
}

/* --- ends ------------------------------------------------------------------------ */

void call_end(struct mcp_call *c, const struct entry *end)
{
    if (end->kind == ENTRY_RESULT)
        reply_result(c, end->text);
    else
        reply_error(c, -(int)end->number, end->key, end->text);
}

static void answer_all(struct job *j, const struct entry *end)
{
    while (j->calls) {
        struct mcp_call *c = j->calls;

        call_end(c, end);
        call_drop(c);
    }
}

void job_finish(struct job *j, const struct entry *end)
{
    struct err e;

    /* A later retry with an old requestState gets the same result. If it cannot
     * be stored, a retry is refused: nothing runs twice. */
    if (j->records && !entries_add(&j->entries, *end, &e))
        entries_forget(&j->entries);
    if (j->records)
        entries_end(&j->entries);
    j->state = JOB_LEAVING;
    j->kill_ms = proc_now_ms() + LEAVE_MS;
    answer_all(j, end);
}

/* The task itself has not ended: with its last requestState it can be resumed,
 * and operations that were started are not started again. */
void job_abort(struct job *j, const char *why)
{
    struct entry end = {.kind = ENTRY_ERROR,
                        .number = (unsigned)-MCP_INTERNAL,
                        .key = STR(""),
                        .text = str_cstr(why)};

    if (j->records)
        entries_leave(&j->entries);
    j->state = JOB_LEAVING;
    answer_all(j, &end);
    job_stop(j);
}

/* The process ended without a result. */
void job_on_end(struct job *j)
{
    char why[128] = "The work ended without a result";
    int status = 0;

    fs_close(&j->fd);
    if (j->state == JOB_LEAVING)
        return;
    signal_job(j, SIGTERM);
    for (int i = 0; i < 20; i++) {
        const struct timespec breath = {.tv_nsec = 1000 * 1000};

        if (waitpid(j->pid, &status, WNOHANG) == j->pid) {
            if (WIFSIGNALED(status))
                snprintf(why, sizeof why, "The work crashed (signal %d)",
                         WTERMSIG(status));
            j->pid = 0;
            break;
        }
        nanosleep(&breath, NULL);
    }
    job_abort(j, why);
}

/* --- starting ------------------------------------------------------------------- */

static bool job_fork(struct job *j, struct mcp_call *c)
{
    CLEANUP_FD int ours = -1, theirs = -1;
    pid_t parent = getpid(), pid;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    ours = ends[0];
    theirs = ends[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return false;
    pid = fork();
    if (pid < 0)
        return false;
    if (pid == 0) {
        close(ours);
        worker_live(j, c, theirs, parent);
    }
    j->s->forked = true;
    j->pid = pid;
    j->fd = ours;
    ours = -1;
    return true;
}

void jobs_start(struct server *s)
{
    unsigned busy = 0, leaving = 0;
    struct job *next;

    for (struct job *j = s->jobs; j; j = j->next) {
        busy +=
            j->state == JOB_RUNNING || (j->state == JOB_WAITING && !j->records);
        leaving += j->state == JOB_LEAVING;
    }
    if (leaving >= LEAVING_MAX)
        return;
    for (struct job *j = s->jobs; j && busy < MCP_MAX_TASKS; j = next) {
        struct mcp_call *c = j->calls;

        next = j->next;
        if (j->state != JOB_QUEUED)
            continue;
        /* Only one of the waiting calls carries the function to run. */
        while (c && !c->run)
            c = c->next_of_job;
        j->state = JOB_RUNNING;
        busy++;
        if (!c || !job_fork(j, c))
            job_abort(j, "A process cannot be started");
    }
}

/* --- time --------------------------------------------------------------------------------- */

/* Including its orphans, which became children of this process. */
static void kill_job(struct job *j)
{
    pid_t keep[KEEP_MAX];
    size_t count = 0;

    for (const struct job *k = j->s->jobs; k && count < KEEP_MAX; k = k->next)
        if (k != j && k->pid > 0)
            keep[count++] = k->pid;
    signal_job(j, SIGKILL);
    if (count < KEEP_MAX) /* otherwise a later call does it */
        proc_end_others(keep, count, KILL_MAX_MS);
    if (waitpid(j->pid, NULL, WNOHANG) < 0 && errno == ECHILD)
        j->pid = 0;
}

static void reap(struct job *j, uint64_t now)
{
    if (j->pid > 0 && waitpid(j->pid, NULL, WNOHANG) == j->pid)
        j->pid = 0;
    if (j->pid > 0 && now >= j->kill_ms)
        kill_job(j);
    if (j->pid <= 0)
        job_free(j);
}

struct suspended { /* jobs present, except those already seen */
    unsigned count;
    size_t bytes;
};

static size_t bytes_of(const struct job *j)
{
    return j->entries.bytes + j->asked.bytes;
}

/* Evicts a suspended job from memory, because its entries in the journal
 * suffice to resume it. */
static void tick_suspended(struct job *j, struct suspended *all)
{
    bool too_many =
        all->count > MCP_MAX_SUSPENDED || all->bytes > SUSPENDED_MAX_BYTES;

    INVARIANT(all->count && all->bytes >= bytes_of(j));
    all->count--;
    all->bytes -= bytes_of(j);
    if ((uint64_t)time(NULL) > j->expires_s)
        entries_forget(&j->entries);
    else if (too_many)
        entries_leave(&j->entries);
    else
        return;
    job_stop(j);
}

void jobs_tick(struct server *s)
{
    uint64_t now = s->jobs ? proc_now_ms() : 0;
    struct suspended all = {0};
    struct job *next;

    for (struct job *j = s->jobs; j; j = j->next)
        if (is_suspended(j)) {
            all.count++;
            all.bytes += bytes_of(j);
        }
    /* The list is in order of arrival: the oldest are evicted first. */
    for (struct job *j = s->jobs; j; j = next) {
        next = j->next;
        if (j->state == JOB_LEAVING)
            reap(j, now);
        else if (is_suspended(j))
            tick_suspended(j, &all);
        else if (j->state == JOB_WAITING && now >= j->ask_ms)
            job_ask_late(j);
    }
    for (struct mcp_call *c = s->calls; c; c = c->next)
        call_send_progress(c, now);
}

int jobs_patience(const struct server *s)
{
    uint64_t now = s->jobs ? proc_now_ms() : 0, least = UINT64_MAX;

    for (const struct job *j = s->jobs; j; j = j->next) {
        uint64_t at = UINT64_MAX;

        if (j->state == JOB_LEAVING)
            at = now + LEAVE_LOOK_MS;
        else if (is_suspended(j))
            at = now + 30 * 1000;
        else if (j->state == JOB_WAITING)
            at = j->ask_ms;
        if (at < least)
            least = at;
    }
    for (const struct mcp_call *c = s->calls; c; c = c->next)
        if (call_progress_due_ms(c) < least)
            least = call_progress_due_ms(c);
    if (least == UINT64_MAX)
        return -1;
    return least <= now ? 0 : (int)(least - now);
}

void jobs_end(struct server *s)
{
    const struct timespec breath = {.tv_nsec = 2 * 1000 * 1000};
    uint64_t until = proc_now_ms() + LEAVE_ALL_MS;

    for (struct job *j = s->jobs; j; j = j->next) {
        while (j->calls)
            detach(j->calls);
        if (j->records)
            entries_leave(&j->entries);
        signal_job(j, SIGTERM);
        fs_close(&j->fd);
    }
    while (s->jobs && proc_now_ms() < until) {
        for (struct job *j = s->jobs, *next; j; j = next) {
            next = j->next;
            if (j->pid <= 0 || waitpid(j->pid, NULL, WNOHANG) == j->pid)
                job_free(j);
        }
        if (s->jobs)
            nanosleep(&breath, NULL);
    }
    while (s->jobs)
        job_free(s->jobs);
    if (s->forked)
        proc_end_others(NULL, 0, KILL_MAX_MS);
}
