#ifndef FETCH_WORKER_LINK_H
#define FETCH_WORKER_LINK_H

#include "mapm/fetch.h"

#include "../registry_credential.h"
#include "../remote_address.h"
#include "../ssh_failure.h"
#include "objects.h"

/*
 * link: the way to mapm, over descriptor 3.
 *
 *     mapm --> OPTIONS, ASK …, SEEN        link_next() hands out ASK
 *         <-- EVENT, PROGRESS              link_event()
 *         <-- FIND_BLOBS, FIND_TREES …     link_find_*(): wait for the answer
 *         <-- OPEN_SSH, END_SSH            link_open_ssh() …: likewise
 *
 * Asks that arrive while an answer is waited for are kept in order.
 */

struct link {
    struct channel channel;
    struct arena arena;
    struct link_kept *first, *last; /* frames that came too early */
    size_t event_count, seen_count;
    bool is_settled; /* mapm has seen all and asked all it wants for now */
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
    bool has_bundle; /* with a descriptor: channel_take_fd */
    struct str incoming;
    bool verbose;
    const struct host_config *hosts;
    size_t host_count;
    struct limits limits;
    struct team_remotes stores;
};

void link_init(struct link *l, int fd);
void link_done(struct link *l);

/* Waits for the first frame, OPTIONS, POST or PUSH. It is borrowed until the next
 * call. */
MUST_CHECK bool link_first(struct link *l, struct frame *out, struct err *e);

/* Results in `a`. */
MUST_CHECK bool link_read_options(struct str body, struct arena *a,
                                  struct link_options *out, struct err *e);

/* The next frame, without waiting; `*got` false: none for the caller. The ask
 * lives in `a`. */
MUST_CHECK bool link_next(struct link *l, struct arena *a, struct link_ask *out,
                          bool *got, struct err *e);

/* The next frame, without waiting; type 0: none. Borrowed until the next call. */
MUST_CHECK bool link_take(struct link *l, struct frame *out, struct err *e);

/* Writes as much as goes; waits for nothing. */
MUST_CHECK bool link_flush(struct link *l, struct err *e);

/* Writes all, and waits for it. */
MUST_CHECK bool link_finish(struct link *l, struct err *e);

/* What the user's git configuration says. */
struct link_hello {
    const struct str *hosts; /* that a credential may be asked for */
    size_t host_count;
    struct rewrites rewrites;
    struct str ssh_command, ssh_variant;
};

void link_hello(struct link *l, const struct link_hello *hello);
void link_event(struct link *l, uint32_t seq, const struct fetch_event *ev);
void link_progress(struct link *l, const struct fetch_progress *p);
void link_warn(struct link *l, struct str line);
void link_fatal(struct link *l, const struct err *why);        /* and flushes */
void link_reply(struct link *l, const struct fetch_reply *in); /* likewise */
bool link_nonsense(struct err *e);                             /* false */

struct link_blob {
    struct oid id;
    bool with_text; /* its content is wanted, too */
    bool found;
    struct hash hash;
    uint64_t size;
    struct str text; /* in the caller's arena */
};

/* Fills in the last four of each. */
MUST_CHECK bool link_find_blobs(struct link *l, struct link_blob *blobs,
                                size_t count, struct arena *a, struct err *e);

/* `*bytes` is empty when absent; in `a`. */
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

/* What the store keeps of a server (place.c); "" is nothing. In `a`. */
MUST_CHECK bool link_find_caps(struct link *l, struct str place,
                               struct arena *a, struct str *text,
                               struct err *e);
void link_put_caps(struct link *l, struct str place, struct str text);

/* `*found` false: mapm has none. In `a`. */
/*
 * A line to git-upload-pack for this repository: mapm starts the user's ssh.
 * `*fd`: the caller closes it; -1 with `why` when there is none. `*seconds`: that
 * a first byte may take. `*may_prompt`: a person may be typing meanwhile.
 */
struct link_ssh {
    int fd;
    unsigned seconds;
    bool may_prompt;
};
MUST_CHECK bool link_open_ssh(struct link *l, struct str repository, size_t id,
                              struct link_ssh *out, struct err *why,
                              struct err *e);
/* It is over: ends ssh. `why` is set unless `end` is SSH_DONE. */
MUST_CHECK bool link_end_ssh(struct link *l, size_t id, enum ssh_end end,
                             unsigned seconds, bool *may_retry, struct err *why,
                             struct err *e);

struct link_credential {
    bool found;
    bool of_path; /* of this path alone */
    struct str user, password;
};
MUST_CHECK bool link_find_credential(struct link *l, enum credential_from from,
                                     struct str protocol, struct str host,
                                     struct str path, struct arena *a,
                                     struct link_credential *out,
                                     struct err *e);

/* What mapm knows of the user of this registry, a remote that it named. In
 * `a`. */
MUST_CHECK bool link_find_registry_secret(struct link *l, struct str url,
                                          struct arena *a,
                                          struct registry_secret *out,
                                          struct err *e);

#endif
