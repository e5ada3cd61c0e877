#include "base/invariant.h"
#include "base/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "run.h"

/* Waits for messages, for space to reply, and for the end. */

/* Waits until the socket is ready, the time is over, or a signal arrives.
 * Signals are unblocked only while it sleeps, so that none is missed just
 * before. */
static bool wait_for(struct run *r, short events)
{
    struct pollfd fd = {.fd = r->worker.fd, .events = events};
    uint64_t now = proc_now_ms(), end = r->deadline_ms + RUN_GRACE_MS;
    struct timespec left = {0};
    sigset_t block, before;
    bool interrupted;
    int ready = 0;

    if (now < end) {
        left.tv_sec = (time_t)((end - now) / 1000);
        left.tv_nsec = (long)((end - now) % 1000) * 1000000;
    }
    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigaddset(&block, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    interrupted = proc_interrupted();
    if (!interrupted && now < end)
        ready = ppoll(&fd, 1, &left, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (interrupted || proc_interrupted())
        run_end_interrupted(r);
    else if (ready == 0)
        run_end_late(r);
    else if (ready < 0 && errno != EINTR)
        run_fail(r, "wait for the interpreter: %s", strerror(errno));
    return !r->ended;
}

/* Ends the run because the process has exited, with its exit status as the
 * reason. */
static void end_lost(struct run *r)
{
    int status = 0;

    worker_end(&r->worker, &status);
    if (run_is_in_time(r))
        run_end_as(r, RUNTIME_FAILED,
                   str_dup0(worker_fate(status, r->a), r->a));
}

static bool receive(struct run *r)
{
    char *room;
    size_t size;
    ssize_t n;

    message_input_room(&r->in, &room, &size);
    INVARIANT(size > 0);
    n = recv(r->worker.fd, room, size, MSG_DONTWAIT);
    if (n > 0)
        message_input_add(&r->in, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        end_lost(r);
    else
        return wait_for(r, POLLIN);
    return !r->ended;
}

bool run_receive(struct run *r, struct message *m)
{
    enum message_state state;

    while ((state = message_take(&r->in, m)) == MESSAGES_MORE)
        if (!receive(r))
            return false;
    if (state == MESSAGES_BAD)
        run_end_broken(r);
    return state == MESSAGES_READY;
}

static bool send_all(struct run *r, const void *p, size_t n)
{
    const char *at = p;

    while (n) {
        ssize_t done = send(r->worker.fd, at, n, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (done >= 0) {
            at += done;
            n -= (size_t)done;
        } else if (errno != EAGAIN && errno != EINTR) {
            end_lost(r);
            return false;
        } else if (!wait_for(r, POLLOUT)) {
            return false;
        }
    }
    return true;
}

void run_reply(struct run *r, const struct buf *json)
{
    unsigned char header[MESSAGE_HEADER_BYTES];

    if (json->overflowed || json->n > RUN_MESSAGE_MAX_BYTES) {
        run_fail(r, "a result of more than %u bytes", RUN_MESSAGE_MAX_BYTES);
        return;
    }
    INVARIANT(!r->ended);
    message_header(MESSAGE_REPLY, json->n, header);
    if (send_all(r, header, sizeof header))
        send_all(r, json->p, json->n);
}
