#ifndef FETCH_PUSH_FRAME_H
#define FETCH_PUSH_FRAME_H

#include "mapm/team_push.h"

#include "frame.h"
#include "registry_credential.h"

/*
 * push_frame: the frames of a push to a registry.
 *
 *     mapm --> PUSH                 its first frame: the remote and the names
 *         <-- PUSH_WANT             an object that the registry does not have
 *         --> PUSH_OBJECT           the object
 *         <-- PUSH_DONE             one for each name
 *         <-- NEED_STORE_SECRET --> STORE_SECRET, as in a pull
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
/* Allocates in `a`. Returns false if the frame is invalid. */
bool push_read(struct str body, struct arena *a, struct push_order *out);

void push_write_object(struct buf *b, size_t number,
                       const struct team_upload *u);
/* Borrows from `body`. */
bool push_read_object(struct str body, size_t *number, struct team_upload *out);

struct push_done {
    size_t number;
    bool was_there;
    const struct err *why; /* NULL if the registry has the object now */
};

void push_write_done(struct buf *b, const struct push_done *d);
/* Stores the error of the frame, if it has one, in `*room`, and points
 * `out->why` to it. */
bool push_read_done(struct str body, struct push_done *out, struct err *room);

/* Allocates in `a`. Returns false if the frame is invalid. */
bool push_read_secret(struct fields *in, struct arena *a,
                      struct registry_secret *out);

/* Writes the response to NEED_STORE_SECRET for `t`, which is one of `all` or
 * was named on the command line. */
void push_answer_secret(struct buf *b, const struct team_remotes *all,
                        const struct team_remote *t);

#endif
