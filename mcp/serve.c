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
 * The loop: it waits for input, for room to write, for the processes and for
 * what is watched; nothing in it waits for one of them alone.
 */

#define OUT_MAX_BYTES    (256u * 1024 * 1024)
#define OUT_ENOUGH_BYTES (1024u * 1024) /* then nothing more is read */
#define OUT_KEPT_BYTES   (256u * 1024)
#define WRITE_AT_ONCE    4096 /* a pipe with room takes that: PIPE_BUF */
#define FLUSH_STALL_MS   1000 /* at the end of input, for who is slow to read, */
#define FLUSH_HASTE_MS   20   /* and after a signal */
#define PATIENCE_MAX_MS  (60 * 1000)

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
    buf_init(&s->out, OUT_MAX_BYTES);
    buf_init(&info, OUT_KEPT_BYTES);
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
    while (s->calls)
        call_drop(s->calls);
    lines_done(&s->lines);
    buf_done(&s->out);
    arena_done(&s->hello);
    arena_done(&s->subscribed);
    arena_done(&s->a);
}

/* --- output ---------------------------------------------------------------------- */

static size_t pending(const struct server *s)
{
    return s->out.n - s->out_at;
}

/* Never waits, whatever the descriptor is. */
static ssize_t write_some(const struct server *s)
{
    const char *p = s->out.p + s->out_at;
    size_t n = pending(s);
    struct pollfd one = {.fd = s->out_fd, .events = POLLOUT};
    ssize_t did = send(s->out_fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (did >= 0 || errno != ENOTSOCK)
        return did;
    if (poll(&one, 1, 0) != 1) {
        errno = EAGAIN;
        return -1;
    }
    return write(s->out_fd, p, n < WRITE_AT_ONCE ? n : WRITE_AT_ONCE);
}

static void flush(struct server *s)
{
    while (!s->failed && pending(s)) {
        ssize_t n = write_some(s);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0)
            s->failed = true;
        else
            s->out_at += (size_t)n;
    }
    s->out_at = 0;
    if (s->out.capacity > OUT_KEPT_BYTES)
        buf_done(&s->out);
    else
        buf_clear(&s->out);
}

/* At the end: as long as the other side takes it. */
static void flush_last(struct server *s, const sigset_t *sleeping)
{
    struct pollfd one = {.fd = s->out_fd, .events = POLLOUT};

    flush(s);
    while (!s->failed && pending(s)) {
        long ms = proc_interrupted() ? FLUSH_HASTE_MS : FLUSH_STALL_MS;
        struct timespec time = {.tv_sec = ms / 1000,
                                .tv_nsec = ms % 1000 * 1000000};

        if (ppoll(&one, 1, &time, sleeping) != 1)
            return;
        flush(s);
    }
}

/* --- input ------------------------------------------------------------------------ */

static void take_lines(struct server *s)
{
    enum lines_state state;
    struct str line;

    while (!s->failed && pending(s) < OUT_ENOUGH_BYTES &&
           (state = lines_take(&s->lines, &line)) != LINES_MORE) {
        if (state == LINES_LONG)
            server_take_long(s, line);
        else
            server_take(s, line);
    }
}

/* False at the end of input. */
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
    sigset_t sleeping; /* signals come while it waits, and only then */
    bool more;         /* lines are there that were not taken yet */
};

static void fill(struct server *s, struct loop *l)
{
    bool full = pending(s) >= OUT_ENOUGH_BYTES;

    l->fds[AT_IN] =
        (struct pollfd){.fd = full || l->more ? -1 : s->in, .events = POLLIN};
    l->fds[AT_OUT] =
        (struct pollfd){.fd = s->out_fd, .events = pending(s) ? POLLOUT : 0};
    l->fds[AT_WATCH] = (struct pollfd){
        .fd = s->is->watched ? s->is->watch_fd : -1, .events = POLLIN};
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
    int ms = l->more && pending(s) < OUT_ENOUGH_BYTES ? 0 : jobs_patience(s);

    if (s->watch_ms) {
        uint64_t now = proc_now_ms();
        uint64_t left = s->watch_ms > now ? s->watch_ms - now : 0;

        if (ms < 0 || (uint64_t)ms > left)
            ms = (int)(left < PATIENCE_MAX_MS ? left : PATIENCE_MAX_MS);
    }
    return ms;
}

/* False when a signal came, or nothing can be waited for. */
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
        if (seen & (POLLIN | POLLHUP | POLLERR) && l->jobs[i]->fd >= 0)
            job_read(l->jobs[i]);
    }
    jobs_tick(s);
    jobs_start(s);
}

static void run_loop(struct server *s, struct loop *l)
{
    bool open = true;

    while (open && !s->failed) {
        fill(s, l);
        if (!wait_for(s, l))
            return;
        if (l->fds[AT_OUT].revents & (POLLERR | POLLNVAL))
            s->failed = true;
        /* What is said of a call goes out before the call is cancelled. */
        serve_jobs(s, l);
        if (l->fds[AT_IN].revents)
            open = read_input(s);
        take_lines(s);
        l->more = pending(s) >= OUT_ENOUGH_BYTES;
        if (l->fds[AT_WATCH].revents ||
            (s->watch_ms && s->watch_ms <= proc_now_ms()))
            call_watched(s);
        jobs_start(s);
        flush(s);
    }
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

bool mcp_serve(const struct mcp_server *is, int in, int out, struct err *e)
{
    struct server s;
    struct loop l = {0};
    bool failed;

    proc_catch_signals();
    proc_adopt();
    server_init(&s, is);
    s.in = in;
    s.out_fd = out;
    block_signals(&l.sleeping);
    run_loop(&s, &l);
    send_end_of_listening(&s);
    flush(&s);
    jobs_end(&s);
    flush_last(&s, &l.sleeping);
    failed = s.failed;
    server_done(&s);
    sigprocmask(SIG_SETMASK, &l.sleeping, NULL);
    return !failed || err_set(e, ERR_IO, "cannot write to the client");
}
