#ifndef FETCH_PUSH_FRAME_H
#define FETCH_PUSH_FRAME_H

#include "mapm/team_push.h"

#include "frame.h"
#include "registry_credential.h"

/*
 * push_frame: the frames of a push to a registry.
 *
 *     mapm --> PUSH                 its first frame: where to, and the names
 *         <-- PUSH_WANT             an object that the registry does not have
 *         --> PUSH_OBJECT           the object
 *         <-- PUSH_DONE             of each name one
 *         <-- NEED_STORE_SECRET --> STORE_SECRET, as when mapm-fetch pulls
 *
 * Source: S2; TEAM.md 1.3.
 */

#define PUSH_NAMES_MAX      100000u
#define PUSH_NAME_MAX_BYTES 80u

struct push_order {
    struct team_remote remote;
    struct limits limits;
    bool again;
    const struct str *names;
    size_t count;
};

void push_write(struct buf *b, const struct push_order *o);
/* In `a`. False: it makes no sense. */
bool push_read(struct str body, struct arena *a, struct push_order *out);

void push_write_object(struct buf *b, size_t number,
                       const struct team_upload *u);
/* Borrows from `body`. */
bool push_read_object(struct str body, size_t *number, struct team_upload *out);

struct push_done {
    size_t number;
    bool was_there;
    const struct err *why; /* NULL: it is there now */
};

void push_write_done(struct buf *b, const struct push_done *d);
/* `why`, where it says one, is set in `*room`. */
bool push_read_done(struct str body, struct push_done *out, struct err *room);

void push_write_secret(struct buf *b, const struct registry_secret *s);
/* In `a`. */
bool push_read_secret(struct fields *in, struct arena *a,
                      struct registry_secret *out);

/* The answer to NEED_STORE_SECRET for `t`, one of `all` or one that was named on
 * the command line. */
void push_answer_secret(struct buf *b, const struct team_remotes *all,
                        const struct team_remote *t);

#endif
