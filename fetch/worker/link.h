#ifndef FETCH_WORKER_LINK_H
#define FETCH_WORKER_LINK_H

#include "mapm/fetch.h"

#include "../registry_credential.h"
#include "../remote_address.h"
#include "../ssh_failure.h"
#include "objects.h"

/*
 * link: the connection to mapm, over descriptor 3.
 *
 *     mapm --> OPTIONS, ASK …, SEEN        link_next() returns each ASK
 *         <-- EVENT, PROGRESS              link_event()
 *         <-- FIND_BLOBS, FIND_TREES …     link_find_*() wait for the response
 *         <-- OPEN_SSH, END_SSH            link_open_ssh() … wait, too
 *
 * Asks that arrive while a function waits for a response are queued in order.
 */

struct link {
    struct channel channel;
    struct arena arena;
    struct link_kept *first, *last; /* frames received while waiting for
                                     * another */
    size_t event_count, seen_count;
    bool is_drained; /* mapm has seen all events and sent all asks that
                      * follow */
    bool is_closed;
};

struct link_ask {
    uint32_t seq;
    enum fetch_what what;
    unsigned kinds;
    bool assume_reachable, stored, proved, at_once, is_short;
    const struct git_host *kind;
    struct str repository, name, url, rest, ref, path, commit, object, base,
        ranges, tag, digest;
};

struct link_options {
    bool has_bundle; /* comes with a descriptor: channel_take_fd */
    struct str incoming;
    bool verbose;
    const struct host_config *hosts;
    size_t host_count;
    struct limits limits;
    struct team_remotes stores;
};

void link_init(struct link *l, int fd);
void link_done(struct link *l);

/* Waits for the first frame: OPTIONS, POST, PUSH, BUNDLE or UNPACK. It is
 * borrowed until the next call. */
MUST_CHECK bool link_first(struct link *l, struct frame *out, struct err *e);

/* Parses OPTIONS, allocated in `a`. */
MUST_CHECK bool link_read_options(struct str body, struct arena *a,
                                  struct link_options *out, struct err *e);

/* Reads the next ask, without waiting, allocated in `a`. `*got` is false if
 * there is none. */
MUST_CHECK bool link_next(struct link *l, struct arena *a, struct link_ask *out,
                          bool *got, struct err *e);

/* Reads the next frame, without waiting; type 0 if there is none. It is
 * borrowed until the next call. */
MUST_CHECK bool link_take(struct link *l, struct frame *out, struct err *e);

/* Writes as much as possible without waiting. */
MUST_CHECK bool link_flush(struct link *l, struct err *e);

/* Writes everything, waiting if necessary. */
MUST_CHECK bool link_finish(struct link *l, struct err *e);

/* Values of the user's git configuration for mapm. */
struct link_hello {
    const struct str *hosts; /* hosts for which a credential may be requested */
    size_t host_count;
    struct rewrites rewrites;
    struct str ssh_command, ssh_variant;
};

void link_hello(struct link *l, const struct link_hello *hello);
void link_event(struct link *l, uint32_t seq, const struct fetch_event *ev);
void link_progress(struct link *l, const struct fetch_progress *p);
void link_warn(struct link *l, struct str line);
/* Write the frame and wait until it is sent. */
void link_fatal(struct link *l, const struct err *why);
void link_reply(struct link *l, const struct fetch_reply *in);
/* Reports an invalid frame; returns false. */
bool link_nonsense(struct err *e);

struct link_blob {
    struct oid id;
    bool with_text; /* request its content, too */
    bool found;
    struct hash hash;
    uint64_t size;
    struct str text; /* in the caller's arena */
};

/* Sets the last four members of each item. */
MUST_CHECK bool link_find_blobs(struct link *l, struct link_blob *blobs,
                                size_t count, struct arena *a, struct err *e);

/* `*bytes` is allocated in `a`; empty if the store has no trees. */
MUST_CHECK bool link_find_trees(struct link *l, struct str repository,
                                const struct oid *commit, struct arena *a,
                                struct str *bytes, struct err *e);
void link_put_trees(struct link *l, struct str repository,
                    const struct oid *commit, struct str bytes);
MUST_CHECK bool link_is_reachable(struct link *l, struct str repository,
                                  const struct oid *commit, bool *reachable,
                                  struct err *e);
void link_put_reachable(struct link *l, struct str repository,
                        const struct oid *commit);

/* Reads what the store has about a server (place.c), allocated in `a`; "" if
 * nothing. */
MUST_CHECK bool link_find_caps(struct link *l, struct str place,
                               struct arena *a, struct str *text,
                               struct err *e);
void link_put_caps(struct link *l, struct str place, struct str text);

/*
 * Requests a connection to git-upload-pack for this repository; mapm starts the
 * user's ssh. The caller closes `fd`, which is -1 with `why` set on failure.
 * `seconds` is the time limit for the first byte. `may_prompt` if the user may
 * be typing meanwhile.
 */
struct link_ssh {
    int fd;
    unsigned seconds;
    bool may_prompt;
};
MUST_CHECK bool link_open_ssh(struct link *l, struct str repository, size_t id,
                              struct link_ssh *out, struct err *why,
                              struct err *e);
/* Ends the ssh connection. Sets `why` unless `end` is SSH_DONE. */
MUST_CHECK bool link_end_ssh(struct link *l, size_t id, enum ssh_end end,
                             unsigned seconds, bool *may_retry, struct err *why,
                             struct err *e);

struct link_credential {
    bool found;
    bool of_path; /* valid for this path alone */
    struct str user, password;
};
MUST_CHECK bool link_find_credential(struct link *l, enum credential_from from,
                                     struct str protocol, struct str host,
                                     struct str path, struct arena *a,
                                     struct link_credential *out,
                                     struct err *e);

/* Requests mapm's credential for a registry, one of the remotes that mapm sent.
 * Allocated in `a`. */
MUST_CHECK bool link_find_registry_secret(struct link *l, struct str url,
                                          struct arena *a,
                                          struct registry_secret *out,
                                          struct err *e);

#endif
