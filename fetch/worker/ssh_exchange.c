#include "base/proc.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session.h"

/*
 * ssh_exchange: the transport over ssh, as in git: one process per repository,
 * which handles one request after the other.
 *
 *     CLOSED --> GREETING --> READY <--> BUSY --> DRAINING --> READY
 *
 * In version 0 each process handles one request, and begins with the refs.
 */

#define HOST_MAX_PIPES         4  /* MaxStartups of sshd starts to drop at 10 */
#define MAX_PIPES              32 /* over all hosts; below SSH_MAX_LINES */
#define BLOCK_BYTES            (64u * 1024)
#define BLOCKS_PER_STEP        16
#define STALL_BYTES_PER_SECOND 1000
/* Beyond this a new connection is cheaper. */
#define DRAIN_MAX_BYTES (4u << 20)

enum pipe_state {
    PIPE_CLOSED,
    PIPE_GREETING, /* the advertisement is arriving */
    PIPE_READY,
    PIPE_BUSY,     /* `first` is in progress */
    PIPE_DRAINING, /* discarding the rest of a response */
};

struct ssh_pipe {
    struct repo *repo;
    size_t id;
    enum pipe_state state;
    struct link_ssh line;
    struct exchange *first, *last; /* queued exchanges, in order */
    size_t sent;                   /* bytes sent of first->body */
    bool has_answered;             /* a byte has arrived */
    /* An advertisement that no exchange requested. */
    struct arena arena;
    struct advert advert;
    struct ref_list refs;
    struct pkt_reader pkt; /* finds the end of a response to discard */
    uint64_t asked_ms;     /* start of the greeting or of `first` */
    uint64_t since_ms;
    uint64_t bytes; /* since `since_ms`, or discarded */
};

/* --- ssh process ---------------------------------------------------------- */

static void forget_greeting(struct ssh_pipe *p)
{
    advert_done(&p->advert);
    arena_done(&p->arena);
}

/* Sets `why` and `*may_retry` unless `end` is SSH_DONE. */
static bool pipe_end(struct ssh_pipe *p, enum ssh_end end, bool *may_retry,
                     struct err *why, struct err *e)
{
    struct session *s = p->repo->session;
    bool is_greeting = p->state == PIPE_GREETING && !p->has_answered;

    if (p->state == PIPE_CLOSED)
        return true;
    close(p->line.fd);
    forget_greeting(p);
    pkt_reader_done(&p->pkt);
    p->state = PIPE_CLOSED;
    return link_end_ssh(&s->link, p->id, end,
                        is_greeting
                            ? p->line.seconds
                            : (unsigned)s->limits.transfer_stall_seconds.value,
                        may_retry, why, e);
}

static bool pipe_drop(struct ssh_pipe *p, struct err *e)
{
    struct err none = {0};
    bool may_retry;

    return pipe_end(p, SSH_DONE, &may_retry, &none, e);
}

static bool is_idle(const struct ssh_pipe *p)
{
    return p->state == PIPE_READY && p->first == NULL;
}

/* Makes room for another process by ending an idle one whose repository has no
 * open asks. */
static bool make_room(struct ssh_pipe *p, bool *has_room, struct err *e)
{
    struct session *s = p->repo->session;
    struct ssh_pipe *idle = NULL;
    size_t all = 0, here = 0;

    *has_room = true;
    for (size_t i = 0; i < s->repos.count; i++) {
        struct repo *r = s->repos.entries[i].value;
        struct ssh_pipe *q = r->pipe;
        bool is_here = q && url_same_place(&r->url, &p->repo->url);

        if (q == NULL || q->state == PIPE_CLOSED)
            continue;
        all++;
        here += is_here;
        /* Only one prompt at a time for the user. */
        if (q->line.may_prompt && q->state == PIPE_GREETING)
            *has_room = false;
        /* A repository with open asks will need its process soon. */
        if (is_idle(q) && r->open_count == 0 && (is_here || !idle))
            idle = q;
    }
    if (here < HOST_MAX_PIPES && all < MAX_PIPES)
        return true;
    *has_room &= idle && (here < HOST_MAX_PIPES ||
                          url_same_place(&idle->repo->url, &p->repo->url));
    return !*has_room || pipe_drop(idle, e);
}

static void set_since(struct ssh_pipe *p)
{
    p->since_ms = proc_now_ms();
    p->bytes = 0;
}

static void fail_all(struct ssh_pipe *p, enum outcome outcome,
                     const struct err *why);

static bool pipe_open(struct ssh_pipe *p, struct err *e)
{
    struct session *s = p->repo->session;
    struct err why = {0};
    bool has_room;

    if (!make_room(p, &has_room, e))
        return false;
    if (!has_room)
        return true;
    p->id = ++s->pipe_count;
    if (!link_open_ssh(&s->link, p->repo->key, p->id, &p->line, &why, e))
        return false;
    if (p->line.fd < 0) {
        fail_all(p, OUTCOME_DEAD, &why);
        return true;
    }
    http_count_connection(s->http);
    ref_list_init(&p->refs, &p->arena);
    advert_init(&p->advert, &p->refs, false);
    pkt_reader_init(&p->pkt);
    p->state = PIPE_GREETING;
    p->has_answered = false;
    p->asked_ms = proc_now_ms();
    set_since(p);
    return true;
}

/* --- exchanges ------------------------------------------------------------ */

static void take_out(struct ssh_pipe *p, const struct exchange *x)
{
    struct exchange **at = &p->first;

    while (*at && *at != x)
        at = &(*at)->next;
    if (*at)
        *at = x->next;
    p->last = p->first;
    while (p->last && p->last->next)
        p->last = p->last->next;
}

/* Finishes the first exchange. `why` is an error of ssh; NULL if the response
 * decides. */
static void finish(struct ssh_pipe *p, enum outcome outcome,
                   const struct err *why)
{
    struct session *s = p->repo->session;
    struct exchange *x = p->first;

    x->line_outcome = outcome;
    x->line_why = why;
    x->took_ms = proc_now_ms() - p->asked_ms;
    take_out(p, x);
    x->next = NULL;
    if (s->last_over)
        s->last_over->next = x;
    else
        s->over = x;
    s->last_over = x;
}

struct exchange *pipes_next(struct session *s)
{
    struct exchange *x = s->over;

    if (x == NULL)
        return NULL;
    s->over = x->next;
    if (s->over == NULL)
        s->last_over = NULL;
    return x;
}

/* No connection could be opened: fails all queued exchanges. */
static void fail_all(struct ssh_pipe *p, enum outcome outcome,
                     const struct err *why)
{
    const struct err *kept = repo_keep_err(p->repo, why);

    while (p->first)
        finish(p, outcome, kept);
}

static bool fail(struct ssh_pipe *p, enum ssh_end end, struct err *e)
{
    bool had_greeting = p->state != PIPE_GREETING, may_retry = false;
    struct err why = {0};
    enum outcome outcome;

    if (p->first == NULL || p->state == PIPE_DRAINING)
        return pipe_drop(p, e); /* the next request opens a new connection */
    if (!pipe_end(p, end, &may_retry, &why, e))
        return false;
    p->first->was_slow = end != SSH_HUNG_UP;
    outcome = may_retry || p->first->received ? OUTCOME_LATER : OUTCOME_DEAD;
    if (had_greeting)
        finish(p, outcome, repo_keep_err(p->repo, &why));
    else
        fail_all(p, outcome, &why);
    return true;
}

/* A limit of the whole run was exceeded. */
static bool fail_limit(struct ssh_pipe *p, const struct err *why, struct err *e)
{
    fail_all(p, OUTCOME_DEAD, why);
    return pipe_drop(p, e);
}

/* The response of the first exchange is complete, or the rest is not needed. */
static bool end_answer(struct ssh_pipe *p, bool is_whole, struct err *e)
{
    bool is_last = p->repo->caps.version == 0 && p->state == PIPE_BUSY;

    if (is_whole && !is_last) {
        p->state = PIPE_READY;
    } else if (p->first->is_cut && !is_last) {
        p->state = PIPE_DRAINING;
        p->bytes = 0;
    } else if (!pipe_drop(p, e)) {
        return false;
    }
    finish(p, OUTCOME_OK, NULL);
    return true;
}

/* Ends a greeting that no exchange requested, before the request is sent. */
static bool end_greeting(struct ssh_pipe *p, struct err *e)
{
    struct repo *r = p->repo;

    p->state = PIPE_READY;
    if (p->advert.caps.version == r->caps.version)
        return true;
    /* The assumed version, learnt from another repository, is wrong here. */
    r->has_caps = false;
    r->needs_caps = true;
    fail_all(p, OUTCOME_AGAIN, &(struct err){0});
    return pipe_drop(p, e);
}

/* --- input and output ----------------------------------------------------- */

static bool greet(struct ssh_pipe *p, struct str bytes, struct err *e)
{
    struct exchange *x = p->first;
    bool ok;

    if (x && x->kind == REQUEST_CAPS) {
        ok = exchange_feed(x, bytes);
        return ok && !exchange_is_whole(x) ? true : end_answer(p, ok, e);
    }
    if (x == NULL)
        return pipe_drop(p, e);
    if (!advert_feed(&p->advert, bytes, &x->why))
        return end_answer(p, false, e);
    return !advert_is_whole(&p->advert) || end_greeting(p, e);
}

/* Looks for the flush at the end of a response. */
static bool has_end(struct ssh_pipe *p, struct str bytes)
{
    struct err ignored = {0};
    struct pkt pkt = {PKT_DATA, {NULL, 0}};
    bool found = false;

    while (pkt.kind != PKT_NONE) {
        if (!pkt_read(&p->pkt, &bytes, &pkt, &ignored))
            return false;
        found |= pkt.kind == PKT_FLUSH;
    }
    return found;
}

static bool drain(struct ssh_pipe *p, bool is_end, struct err *e)
{
    if (is_end)
        p->state = PIPE_READY;
    else if (p->bytes > DRAIN_MAX_BYTES)
        return pipe_drop(p, e);
    return true;
}

static bool take_bytes(struct ssh_pipe *p, struct str bytes, struct err *e)
{
    struct http *http = p->repo->session->http;
    struct exchange *x = p->first;
    struct err why = {0};
    bool is_end, ok;

    p->bytes += bytes.n;
    p->has_answered = true;
    if (!http_count_received(http, bytes.n) && !http_check_limits(http, &why))
        return fail_limit(p, &why, e);
    switch (p->state) {
    case PIPE_GREETING:
        return greet(p, bytes, e);
    case PIPE_BUSY:
        is_end = p->repo->caps.version != 0 && has_end(p, bytes);
        ok = exchange_feed(x, bytes);
        if (ok && !exchange_is_whole(x))
            return true;
        return end_answer(p, ok || (x->is_cut && is_end), e);
    case PIPE_DRAINING:
        return drain(p, has_end(p, bytes), e);
    default:
        return pipe_drop(p, e); /* unexpected bytes */
    }
}

static bool receive(struct ssh_pipe *p, struct err *e)
{
    char block[BLOCK_BYTES];

    for (int i = 0; i < BLOCKS_PER_STEP && p->state != PIPE_CLOSED; i++) {
        ssize_t n = recv(p->line.fd, block, sizeof block, MSG_DONTWAIT);

        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return fail(p, SSH_HUNG_UP, e);
        if (!take_bytes(p, str_make(block, (size_t)n), e))
            return false;
    }
    return true;
}

/* Ignores errors: the next read detects a closed connection. */
static void send_question(struct ssh_pipe *p)
{
    struct str body = buf_str(&p->first->body);

    while (p->sent < body.n) {
        ssize_t n = send(p->line.fd, body.p + p->sent, body.n - p->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n <= 0)
            return;
        p->sent += (size_t)n;
    }
}

/* --- timeouts ------------------------------------------------------------- */

static uint64_t stall_ms(const struct ssh_pipe *p)
{
    return p->repo->session->limits.transfer_stall_seconds.value * 1000;
}

/* Returns the time of the next timeout, or 0 if nothing is pending. */
static uint64_t deadline(const struct ssh_pipe *p)
{
    if (p->state == PIPE_CLOSED || p->state == PIPE_READY)
        return 0;
    if (p->state == PIPE_GREETING && !p->has_answered)
        return p->asked_ms + (uint64_t)p->line.seconds * 1000;
    return p->since_ms + stall_ms(p);
}

/* Returns whether a response without a pack takes too long as a whole. */
static bool is_late(const struct ssh_pipe *p)
{
    const struct exchange *x = p->first;

    return x && (x->kind == REQUEST_CAPS || x->kind == REQUEST_REFS) &&
           proc_now_ms() - p->asked_ms >
               ANSWER_MAX_STALLS * stall_ms(p) + p->line.seconds * 1000;
}

static bool check_time(struct ssh_pipe *p, struct err *e)
{
    struct http *http = p->repo->session->http;
    uint64_t until = deadline(p);
    struct err why = {0};

    if (until == 0)
        return true;
    if (!http_check_limits(http, &why))
        return fail_limit(p, &why, e);
    if (proc_now_ms() < until)
        return !is_late(p) || fail(p, SSH_SILENT, e);
    if (!p->has_answered)
        return fail(p, SSH_NO_ANSWER, e);
    if (p->bytes < STALL_BYTES_PER_SECOND * stall_ms(p) / 1000)
        return fail(p, SSH_SILENT, e);
    set_since(p);
    return true;
}

/* --- one step ------------------------------------------------------------- */

/* Starts the next request if the connection is open and free. */
static bool next_question(struct ssh_pipe *p, struct err *e)
{
    struct exchange *x = p->first;

    if (x == NULL)
        return true;
    /* This connection has sent its advertisement; only a new one sends it
     * again. */
    if (p->state == PIPE_READY && x->kind == REQUEST_CAPS && !pipe_drop(p, e))
        return false;
    if (p->state == PIPE_CLOSED && !pipe_open(p, e))
        return false;
    if (p->state == PIPE_READY) {
        p->state = PIPE_BUSY;
        p->sent = 0;
        pkt_reader_done(&p->pkt);
        pkt_reader_init(&p->pkt);
        http_count_request(p->repo->session->http);
        p->asked_ms = proc_now_ms();
        set_since(p);
    }
    return true;
}

static bool step(struct ssh_pipe *p, struct err *e)
{
    if (!next_question(p, e))
        return false;
    if (p->state == PIPE_BUSY)
        send_question(p);
    if (p->state != PIPE_CLOSED && !receive(p, e))
        return false;
    return check_time(p, e) && next_question(p, e);
}

bool pipes_step(struct session *s, uint64_t *wait_ms, struct err *e)
{
    uint64_t now, until;

    for (size_t i = 0; i < s->repos.count; i++) {
        struct repo *r = s->repos.entries[i].value;

        if (r->pipe == NULL)
            continue;
        if (!step(r->pipe, e))
            return false;
        now = proc_now_ms();
        until = deadline(r->pipe);
        if (until && (until < now || until - now < *wait_ms))
            *wait_ms = until < now ? 0 : until - now;
    }
    return true;
}

size_t pipes_poll(const struct session *s, struct pollfd *out, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < s->repos.count && count < max; i++) {
        const struct repo *r = s->repos.entries[i].value;
        const struct ssh_pipe *p = r->pipe;

        if (p == NULL || p->state == PIPE_CLOSED)
            continue;
        out[count] = (struct pollfd){.fd = p->line.fd, .events = POLLIN};
        if (p->state == PIPE_BUSY && p->sent < p->first->body.n)
            out[count].events |= POLLOUT;
        count++;
    }
    return count;
}

/* --- transport functions -------------------------------------------------- */

static bool start(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;

    (void)e;
    if (r->pipe == NULL) {
        r->pipe = arena_new(&r->arena, struct ssh_pipe);
        r->pipe->repo = r;
    }
    if (r->pipe->last)
        r->pipe->last->next = x;
    else
        r->pipe->first = x;
    r->pipe->last = x;
    return true;
}

static enum outcome evaluate(struct exchange *x, struct err *e)
{
    if (x->line_why == NULL)
        return OUTCOME_OK;
    *e = *x->line_why;
    if (x->line_outcome != OUTCOME_AGAIN)
        err_wrap(e, "cannot reach %s", repo_shown(x->repo));
    return x->line_outcome;
}

static enum outcome evaluate_busy(struct exchange *x, struct err *e)
{
    (void)x;
    (void)e;
    return OUTCOME_LATER;
}

static void describe(const struct exchange *x, struct buf *out)
{
    buf_printf(out, "ssh, version %d", x->repo->caps.version);
}

static void close_exchange(struct exchange *x)
{
    if (x->repo->pipe)
        take_out(x->repo->pipe, x);
}

const struct transport transport_ssh = {
    .start = start,
    .evaluate = evaluate,
    .evaluate_busy = evaluate_busy,
    .describe = describe,
    .close = close_exchange,
};
