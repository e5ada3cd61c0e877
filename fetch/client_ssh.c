#include <unistd.h>

#include "client.h"

/*
 * Opens ssh connections for mapm-fetch. mapm-fetch names one of the requested
 * repositories, never an address: a compromised mapm-fetch must not be able to
 * log in elsewhere, nor to choose a word of a command line.
 */

#define REPOSITORY_BYTES 1024

static bool find_address(struct fetch *f, struct str repository,
                         struct arena *a, struct ssh_address *out,
                         struct err *e)
{
    const struct str *url = map_find(&f->repositories, repository);

    if (url == NULL)
        return err_set(e, ERR_FAILED,
                       "ssh for a repository that was not requested");
    return ssh_address_parse(rewrite_url(&f->rewrites, *url, a), a, out, e);
}

/* Starts ssh and queues the peer's end of the connection for FRAME_SSH. */
static bool open_line(struct fetch *f, size_t id, struct str repository,
                      bool *may_prompt, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct ssh_address to;
    int fd;

    if (!find_address(f, repository, &a, &to, e) ||
        !ssh_start(&f->ssh, id, &to, &fd, may_prompt, e))
        return false;
    if (channel_give_fd(&f->channel, fd))
        return true;
    close(fd);
    return err_set(e, ERR_FAILED, "too many descriptors wait to be sent");
}

bool client_open_ssh(struct fetch *f, struct fields *in)
{
    struct buf *b = &f->channel.out;
    size_t id = field_u32(in, UINT32_MAX), begun;
    struct str repository = field_str(in, REPOSITORY_BYTES);
    bool may_prompt = false, ok;
    struct err why = {0};

    if (!fields_end(in))
        return false;
    ok = open_line(f, id, repository, &may_prompt, &why);
    begun = frame_begin(b, FRAME_SSH);
    frame_u8(b, ok);
    if (ok) {
        frame_u32(b, may_prompt ? SSH_TYPE_MAX_SECONDS : CONNECT_MAX_SECONDS);
        frame_u8(b, may_prompt);
    } else {
        frame_err(b, &why);
    }
    frame_end(b, begun);
    return true;
}

bool client_end_ssh(struct fetch *f, struct fields *in)
{
    struct buf *b = &f->channel.out;
    size_t id = field_u32(in, UINT32_MAX), begun;
    enum ssh_end end = (enum ssh_end)field_u8(in, SSH_SILENT);
    unsigned seconds = (unsigned)field_u32(in, UINT32_MAX);
    bool may_retry = false;
    struct err why = {0};

    if (!fields_end(in) ||
        !ssh_end(&f->ssh, id, end, seconds, &may_retry, &why))
        return false;
    begun = frame_begin(b, FRAME_SSH_ENDED);
    frame_u8(b, may_retry);
    if (end != SSH_DONE)
        frame_err(b, &why);
    frame_end(b, begun);
    return true;
}
