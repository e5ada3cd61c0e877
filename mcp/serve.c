#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jobs.h"

/*
 * The event loop polls input, output, the processes and watched descriptors;
 * it never blocks on one of them.
 */

#define INFO_MAX_BYTES  (64u * 1024)
#define SLICE_MS        10 /* of processing before signals are checked again */
#define PATIENCE_MAX_MS (60 * 1000)

void server_init(struct server *s, const struct mcp_server *is)
{
    struct buf info;
    struct json_writer w;

    *s = (struct server){.is = is,
                         .in = -1,
                         .out_fd = -1,
                         .revision = REV_2024_11_05,
                         .log_from = 1};
    lines_init(&s->lines, MCP_LINE_MAX_BYTES);
    out_init(s);
    buf_init(&info, INFO_MAX_BYTES);
    buf_text(&info, "\"io.modelcontextprotocol/serverInfo\":");
    json_writer_init(&w, &info, 0);
    json_begin_object(&w);
    json_member_string(&w, "name", is->name);
    if (is->title.n)
        json_member_string(&w, "title", is->title);
    json_member_string(&w, "version", is->version);
    json_end_object(&w);
    s->info = arena_str(&s->a, buf_str(&info));
    buf_done(&info);
}

void server_done(struct server *s)
{
    jobs_end(s);
    if (s->reading)
        batch_leave(s, s->reading);
    while (s->calls)
        call_drop(s->calls);
    lines_done(&s->lines);
    buf_done(&s->out);
    arena_done(&s->hello);
    arena_done(&s->subscribed);
    arena_done(&s->a);
}

/* --- input ------------------------------------------------------------------------ */

/* Returns false if there is no complete line, or it must wait for a batch. */
static bool take_line(struct server *s)
{
    enum lines_state state;
    struct str line;

    if (s->reading && lines_next_is(&s->lines, '['))
        return false;
    state = lines_take(&s->lines, &line);
    if (state == LINES_LONG)
        server_take_long(s, line);
    else if (state == LINES_READY)
        server_take(s, line);
    return state != LINES_MORE;
}

/* Returns false at the end of input. */
static bool read_input(struct server *s)
{
    size_t room;
    char *p = lines_room(&s->lines, &room);
    ssize_t n = read(s->in, p, room);
    struct str line;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (n > 0) {
        lines_add(&s->lines, (size_t)n);
        return true;
    }
    if (lines_rest(&s->lines, &line))
        server_take(s, line);
    return false;
}

static void call_watched(struct server *s)
{
    struct mcp_changes changes = {0};
    unsigned again_ms = 0;

    s->is->watched(s->is->ctx, &changes, &again_ms);
    s->watch_ms = again_ms ? proc_now_ms() + again_ms : 0;
    if (changes.lists)
        send_changes(s, changes.lists, STR(""));
    for (size_t i = 0; i < changes.uri_count; i++)
        send_changes(s, 0, changes.uris[i]);
}

/* --- the loop --------------------------------------------------------------------- */

enum { AT_IN, AT_OUT, AT_WATCH, AT_JOBS };

struct loop {
    struct pollfd fds[AT_JOBS + MCP_MAX_CALLS + 2 * MCP_MAX_SUSPENDED + 2];
    struct job *jobs[MCP_MAX_CALLS + 2 * MCP_MAX_SUSPENDED + 2];
    size_t job_count;
    sigset_t sleeping; /* signals are delivered only while the loop waits */
    bool more;         /* unprocessed lines are buffered */
    bool ended;        /* end of input */
};

/* End of input is detected even while input is not read: a client that hangs up
 * wants no further processing. */
static void fill(struct server *s, struct loop *l)
{
    bool full = output_over_high_water(s);

    l->fds[AT_IN] = (struct pollfd){
        .fd = s->in, .events = full || l->more ? POLLRDHUP : POLLIN};
    l->fds[AT_OUT] = (struct pollfd){.fd = s->out_fd,
                                     .events = out_pending(s) ? POLLOUT : 0};
    l->fds[AT_WATCH] = (struct pollfd){
        .fd = s->is->watched && !full ? s->is->watch_fd : -1, .events = POLLIN};
    l->job_count = 0;
    for (struct job *j = s->jobs; j; j = j->next) {
        if (j->fd < 0 || l->job_count == sizeof l->jobs / sizeof *l->jobs)
            continue;
        l->jobs[l->job_count] = j;
        l->fds[AT_JOBS + l->job_count++] = (struct pollfd){
            .fd = full ? -1 : j->fd,
            .events = (short)(POLLIN | (j->out.n ? POLLOUT : 0))};
    }
}

static int patience(const struct server *s, const struct loop *l)
{
    bool busy = (l->more || s->reading) && !output_over_high_water(s);
    int ms = busy ? 0 : jobs_patience(s);

    if (s->watch_ms && !output_over_high_water(s)) {
        uint64_t now = proc_now_ms();
        uint64_t left = s->watch_ms > now ? s->watch_ms - now : 0;

        if (ms < 0 || (uint64_t)ms > left)
            ms = (int)(left < PATIENCE_MAX_MS ? left : PATIENCE_MAX_MS);
    }
    return ms;
}

/* Returns false after a signal, or if there is nothing to wait for. */
static bool wait_for(struct server *s, struct loop *l)
{
    int ms = patience(s, l);
    struct timespec time = {.tv_sec = ms / 1000,
                            .tv_nsec = (long)(ms % 1000) * 1000000};
    int n = ppoll(l->fds, AT_JOBS + l->job_count, ms < 0 ? NULL : &time,
                  &l->sleeping);

    if (n < 0)
        for (size_t i = 0; i < AT_JOBS + l->job_count; i++)
            l->fds[i].revents = 0;
    return (n >= 0 || errno == EINTR) && !proc_interrupted();
}

static void serve_jobs(struct server *s, struct loop *l)
{
    for (size_t i = 0; i < l->job_count; i++) {
        short seen = l->fds[AT_JOBS + i].revents;

        if (seen & POLLOUT && l->jobs[i]->fd >= 0)
            job_write(l->jobs[i]);
        if (output_over_high_water(s))
            continue;
        if (seen & (POLLIN | POLLHUP | POLLERR) && l->jobs[i]->fd >= 0)
            job_read(l->jobs[i]);
    }
    jobs_tick(s);
    jobs_start(s);
}

/* Processes parts of a batch and lines in turn for one time slice. */
static void take_some(struct server *s, struct loop *l)
{
    uint64_t until = proc_now_ms() + SLICE_MS;

    l->more = true;
    while (!s->failed && !output_over_high_water(s) && proc_now_ms() < until) {
        if (s->reading)
            server_take_part(s);
        l->more = take_line(s) || (s->reading && lines_next_is(&s->lines, '['));
        if (!l->more && !s->reading)
            return;
    }
}

/* Returns false at the end of input. */
static bool serve_input(struct server *s, struct loop *l)
{
    short seen = l->fds[AT_IN].revents;

    if (seen && !(l->fds[AT_IN].events & POLLIN))
        return false;
    if (seen && !read_input(s)) {
        l->ended = true;
        return false;
    }
    take_some(s, l);
    return true;
}

/* Returns true if the loop ended with the input. */
static bool run_loop(struct server *s, struct loop *l)
{
    while (!s->failed && !s->overfull) {
        fill(s, l);
        if (!wait_for(s, l))
            return false;
        if (l->fds[AT_OUT].revents & (POLLERR | POLLNVAL))
            s->failed = true;
        /* Output about a call is written before the call is cancelled. */
        serve_jobs(s, l);
        if (!serve_input(s, l))
            return true;
        if (!output_over_high_water(s) &&
            (l->fds[AT_WATCH].revents ||
             (s->watch_ms && s->watch_ms <= proc_now_ms())))
            call_watched(s);
        jobs_start(s);
        out_flush(s);
    }
    return false;
}

/* Returns whether a blocked signal is pending. */
static bool is_interrupted(const struct loop *l)
{
    static const struct timespec at_once;

    if (ppoll(NULL, 0, &at_once, &l->sleeping) < 0 && errno != EINTR)
        return true;
    return proc_interrupted();
}

/* At the end of input, requests that need no task are still answered while the
 * client reads: false when it does not. */
static bool drain(struct server *s, struct loop *l)
{
    while (!s->failed && !s->overfull && !is_interrupted(l)) {
        take_some(s, l);
        out_flush(s);
        if (output_over_high_water(s) && !out_wait(s, &l->sleeping))
            return false;
        if (l->more || s->reading)
            continue;
        if (l->ended)
            return true;
        l->ended = !read_input(s);
    }
    return true;
}

static void block_signals(sigset_t *before)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t ours;

    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&ours, numbers[i]);
    sigprocmask(SIG_BLOCK, &ours, before);
}

static bool all_read(const struct server *s, struct err *e)
{
    if (s->failed)
        return err_set(e, ERR_IO, "cannot write to the client");
    if (s->overfull)
        return err_set(e, ERR_LIMIT,
                       "the client does not read: more than %zu bytes wait",
                       out_max(s));
    return true;
}

bool mcp_serve(const struct mcp_server *is, int in, int out, struct err *e)
{
    struct server s;
    struct loop l = {0};
    bool reads = true, ok;

    proc_catch_signals();
    proc_adopt();
    server_init(&s, is);
    s.in = in;
    s.out_fd = out;
    block_signals(&l.sleeping);
    if (run_loop(&s, &l)) {
        out_flush(&s);
        jobs_end(&s);
        reads = drain(&s, &l);
    }
    send_end_of_listening(&s);
    out_flush(&s);
    jobs_end(&s);
    if (reads)
        out_flush_last(&s, &l.sleeping);
    ok = all_read(&s, e);
    server_done(&s);
    sigprocmask(SIG_SETMASK, &l.sleeping, NULL);
    return ok;
}
