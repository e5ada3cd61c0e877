#include "base/proc.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

/*
 * Output that the client has not read yet. Writes do not block, and written
 * bytes are discarded.
 */

#define OUT_KEPT_BYTES (256u * 1024)
#define WRITE_AT_ONCE  4096 /* PIPE_BUF: a pipe with room accepts it at once */
#define FLUSH_STALL_MS 1000 /* wait for a slow reader at the end of input */
#define FLUSH_HASTE_MS 20   /* the same after a signal */

size_t out_max(const struct server *s)
{
    return s->is->out_max_bytes ? s->is->out_max_bytes : MCP_OUT_MAX_BYTES;
}

void out_init(struct server *s)
{
    buf_init(&s->out, out_max(s));
}

size_t out_pending(const struct server *s)
{
    return s->out.n - s->out_at;
}

bool output_over_high_water(const struct server *s)
{
    return out_pending(s) >= MCP_OUT_ENOUGH_BYTES;
}

/* Writes without blocking, whatever the descriptor is. */
static ssize_t write_some(const struct server *s)
{
    const char *p = s->out.p + s->out_at;
    size_t n = out_pending(s);
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

/* On overflow the incomplete last message is removed, and no other follows. A
 * message is one line and contains no line end. */
static void cut_back(struct server *s)
{
    const char *end;

    if (!s->out.overflowed)
        return;
    end = memrchr(s->out.p + s->out_at, '\n', out_pending(s));
    s->out.n = end ? (size_t)(end + 1 - s->out.p) : s->out_at;
    s->out.overflowed = false;
    s->overfull = true;
}

/* Moves at most as many bytes as were written since, or that amount for each
 * MCP_OUT_ENOUGH_BYTES. */
static void compact(struct server *s)
{
    size_t left = out_pending(s);

    if (left && s->out_at < left && s->out_at < MCP_OUT_ENOUGH_BYTES)
        return;
    if (left)
        memmove(s->out.p, s->out.p + s->out_at, left);
    s->out_at = 0;
    s->out.n = left;
    if (!left && s->out.capacity > OUT_KEPT_BYTES)
        buf_done(&s->out);
}

void out_flush(struct server *s)
{
    cut_back(s);
    while (!s->failed && out_pending(s)) {
        ssize_t n = write_some(s);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n < 0)
            s->failed = true;
        else
            s->out_at += (size_t)n;
    }
    compact(s);
}

bool out_wait(struct server *s, const sigset_t *sleeping)
{
    struct pollfd one = {.fd = s->out_fd, .events = POLLOUT};
    long ms = proc_interrupted() ? FLUSH_HASTE_MS : FLUSH_STALL_MS;
    struct timespec time = {.tv_sec = ms / 1000,
                            .tv_nsec = ms % 1000 * 1000000};
    int n = ppoll(&one, 1, &time, sleeping);

    if (n < 0 && errno == EINTR) /* a signal shortens the wait */
        return true;
    return n == 1;
}

void out_flush_last(struct server *s, const sigset_t *sleeping)
{
    out_flush(s);
    while (!s->failed && out_pending(s) && out_wait(s, sleeping))
        out_flush(s);
}
