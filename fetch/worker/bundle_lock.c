#include "bundle_lock.h"

#include "base/fs.h"
#include "mapm/limits.h"
#include "mapm/team_bundle.h"

#include "rights.h"

/* Uses no network, so it needs no settings. */
bool bundle_lock_serve(struct link *l, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = channel_take_fd(&l->channel);
    static const struct settings none;
    struct team_bundle b;
    struct str text;
    size_t begun;

    if (fd < 0)
        return link_nonsense(e);
    if (!rights_give_up(&none, NULL, 0, e) ||
        !team_bundle_open(fd, &a, &b, e) || !team_bundle_lock(&b, &a, &text, e))
        return false;
    begun = frame_begin(&l->channel.out, FRAME_BUNDLE_LOCK);
    frame_str(&l->channel.out, text);
    frame_end(&l->channel.out, begun);
    while (channel_has_output(&l->channel) && !l->channel.closed)
        if (!link_flush(l, e))
            return false;
    return true;
}
