#include "frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES (64u * 1024)

void frame_raw(struct buf *b, const void *p, size_t n)
{
    buf_append(b, str_make(p, n));
}

static void put_number(struct buf *b, uint64_t v, size_t bytes)
{
    char out[8];

    for (size_t i = 0; i < bytes; i++)
        out[i] = (char)(v >> (8 * i) & 0xff);
    frame_raw(b, out, bytes);
}

size_t frame_begin(struct buf *b, enum frame_type type)
{
    size_t begun = b->n;

    put_number(b, 0, FRAME_HEAD);
    put_number(b, type, 1);
    return begun;
}

void frame_end(struct buf *b, size_t begun)
{
    size_t length;

    if (b->overflowed)
        return;
    length = b->n - begun - FRAME_HEAD;
    for (size_t i = 0; i < FRAME_HEAD; i++)
        b->p[begun + i] = (char)(length >> (8 * i) & 0xff);
}

void frame_u8(struct buf *b, unsigned v)
{
    put_number(b, v, 1);
}

void frame_u32(struct buf *b, size_t v)
{
    put_number(b, v, 4);
}

void frame_u64(struct buf *b, uint64_t v)
{
    put_number(b, v, 8);
}

void frame_str(struct buf *b, struct str s)
{
    frame_u32(b, s.n);
    buf_append(b, s);
}

void frame_err(struct buf *b, const struct err *e)
{
    size_t count = 0;

    for (const char *m = NULL; (m = err_next(e, m)) != NULL;)
        count++;
    frame_str(b, str_cstr(err_code_name(e->code)));
    frame_u32(b, count);
    for (const char *m = NULL; (m = err_next(e, m)) != NULL;)
        frame_str(b, str_cstr(m));
    frame_str(b, str_cstr(e->hint));
}

struct fields fields_of(struct str body)
{
    return (struct fields){.rest = body};
}

struct str field_raw(struct fields *f, size_t n)
{
    struct str s = f->rest;

    if (f->bad || n > f->rest.n) {
        f->bad = true;
        return str_make("", 0);
    }
    f->rest = str_from_index(f->rest, n);
    return str_make(s.p, n);
}

/* Returns 0 and marks the fields as bad if the number is larger than `max`. */
static uint64_t get_number(struct fields *f, size_t bytes, uint64_t max)
{
    struct str s = field_raw(f, bytes);
    uint64_t v = 0;

    for (size_t i = 0; i < s.n; i++)
        v |= (uint64_t)(unsigned char)s.p[i] << (8 * i);
    f->bad |= v > max;
    return f->bad ? 0 : v;
}

unsigned field_u8(struct fields *f, unsigned max)
{
    return (unsigned)get_number(f, 1, max);
}

bool field_bool(struct fields *f)
{
    return field_u8(f, 1) == 1;
}

size_t field_u32(struct fields *f, size_t max)
{
    return (size_t)get_number(f, 4, max);
}

uint64_t field_u64(struct fields *f)
{
    return get_number(f, 8, UINT64_MAX);
}

struct str field_str(struct fields *f, size_t max_bytes)
{
    size_t n = field_u32(f, max_bytes);

    return field_raw(f, n);
}

struct hash field_hash(struct fields *f)
{
    struct str s = field_raw(f, sizeof(struct hash));
    struct hash h = {0};

    if (s.n == sizeof h.b)
        memcpy(h.b, s.p, sizeof h.b);
    return h;
}

void field_err(struct fields *f, struct err *out)
{
    struct str code = field_str(f, 64), hint;
    size_t count = field_u32(f, ERR_TEXT_MAX_BYTES);

    err_clear(out);
    for (size_t i = 0; i < count && !f->bad; i++) {
        struct str m = field_str(f, ERR_TEXT_MAX_BYTES);

        if (i == 0)
            err_set(out, err_code_find(code.p, code.n), "%.*s", STR_ARG(m));
        else
            err_wrap(out, "%.*s", STR_ARG(m));
    }
    hint = field_str(f, ERR_HINT_MAX_BYTES);
    if (hint.n)
        err_hint(out, "%.*s", STR_ARG(hint));
    if (out->code == ERR_NONE)
        f->bad = true;
}

bool fields_end(const struct fields *f)
{
    return !f->bad && f->rest.n == 0;
}

void channel_init(struct channel *c, int fd, size_t max_out_bytes)
{
    *c = (struct channel){.fd = fd};
    buf_init(&c->in, FRAME_MAX_BYTES + FRAME_HEAD + READ_BYTES);
    buf_init(&c->out, max_out_bytes);
}

void channel_done(struct channel *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    for (size_t i = 0; i < c->give_count; i++)
        close(c->give[i]);
    for (size_t i = 0; i < c->got_count; i++)
        close(c->got[i]);
    c->give_count = c->got_count = 0;
    buf_done(&c->in);
    buf_done(&c->out);
}

bool channel_has_output(const struct channel *c)
{
    return c->sent < c->out.n;
}

/* --- descriptors ---------------------------------------------------------- */

bool channel_give_fd(struct channel *c, int fd)
{
    if (c->give_count == CHANNEL_MAX_FDS)
        return false;
    c->give[c->give_count] = fd;
    c->give_at[c->give_count++] = c->out.n;
    return true;
}

int channel_take_fd(struct channel *c)
{
    int fd = c->got_count ? c->got[0] : -1;

    if (fd >= 0)
        memmove(c->got, c->got + 1, --c->got_count * sizeof *c->got);
    return fd;
}

union fd_message {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

/* Sends the bytes up to the next queued descriptor, or that descriptor and the
 * bytes after it. */
static ssize_t send_some(struct channel *c)
{
    struct iovec bytes = {c->out.p + c->sent, c->out.n - c->sent};
    union fd_message control = {0};
    struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
    bool with_fd = c->give_count && c->give_at[0] == c->sent;
    size_t next = with_fd ? 1 : 0;
    ssize_t n;

    if (with_fd) {
        m.msg_control = control.room;
        m.msg_controllen = sizeof control.room;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &c->give[0], sizeof(int));
    }
    if (next < c->give_count)
        bytes.iov_len = c->give_at[next] - c->sent;
    n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0 && with_fd) {
        close(c->give[0]);
        c->give_count--;
        memmove(c->give, c->give + 1, c->give_count * sizeof *c->give);
        memmove(c->give_at, c->give_at + 1, c->give_count * sizeof *c->give_at);
    }
    return n;
}

static void take_fd(struct channel *c, struct msghdr *m)
{
    struct cmsghdr *head = CMSG_FIRSTHDR(m);
    int fd;

    if (head == NULL || head->cmsg_level != SOL_SOCKET ||
        head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len != CMSG_LEN(sizeof(int)))
        return;
    memcpy(&fd, CMSG_DATA(head), sizeof fd);
    if (c->got_count < CHANNEL_MAX_FDS)
        c->got[c->got_count++] = fd;
    else
        close(fd);
}

/* Without a control buffer the kernel closes received descriptors. */
static ssize_t receive_some(struct channel *c, void *room, size_t n)
{
    struct iovec bytes = {room, n};
    union fd_message control = {0};
    struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
    ssize_t got;

    if (c->takes_fds) {
        m.msg_control = control.room;
        m.msg_controllen = sizeof control.room;
    }
    got = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got > 0 && c->takes_fds)
        take_fd(c, &m);
    return got;
}

/* --- bytes ---------------------------------------------------------------- */

bool channel_flush(struct channel *c, struct err *e)
{
    if (!buf_check(&c->out, "what waits to be said", e))
        return false;
    while (c->sent < c->out.n && !c->closed) {
        ssize_t n = send_some(c);

        if (n > 0)
            c->sent += (size_t)n;
        else if (errno == EAGAIN)
            return true;
        else if (errno == EPIPE || errno == ECONNRESET)
            c->closed = true;
        else if (errno != EINTR)
            return err_errno(e, "send a message");
    }
    buf_clear(&c->out);
    c->sent = 0;
    return true;
}

/* Removes consumed frames and moves the rest to the front. */
static void drop_taken(struct channel *c)
{
    if (c->taken == 0)
        return;
    memmove(c->in.p, c->in.p + c->taken, c->in.n - c->taken);
    c->in.n -= c->taken;
    c->taken = 0;
}

bool channel_fill(struct channel *c, struct err *e)
{
    drop_taken(c);
    for (;;) {
        char *room = buf_reserve(&c->in, READ_BYTES);
        ssize_t n;

        if (room == NULL)
            return buf_check(&c->in, "a frame", e);
        n = receive_some(c, room, READ_BYTES);
        if (n > 0)
            c->in.n += (size_t)n;
        else if (n == 0 || errno == ECONNRESET)
            c->closed = true;
        else if (errno == EINTR)
            continue;
        else if (errno != EAGAIN)
            return err_errno(e, "receive a message");
        if (n < (ssize_t)READ_BYTES)
            return true;
        if (c->in.n >= FRAME_MAX_BYTES)
            return true; /* leave the rest for the next call */
    }
}

bool channel_next(struct channel *c, struct frame *out, struct err *e)
{
    struct fields head = fields_of(str_make(c->in.p, c->in.n));
    size_t length;

    *out = (struct frame){0};
    field_raw(&head, c->taken);
    if (head.rest.n < FRAME_HEAD)
        return true;
    length = field_u32(&head, FRAME_MAX_BYTES);
    if (head.bad || length == 0)
        return err_set(e, ERR_FAILED, "a frame with an invalid length");
    if (head.rest.n < length)
        return true;
    out->type = (enum frame_type)(unsigned char)head.rest.p[0];
    out->body = str_make(head.rest.p + 1, length - 1);
    c->taken += FRAME_HEAD + length;
    return true;
}
