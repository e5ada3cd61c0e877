#ifndef FETCH_CLIENT_H
#define FETCH_CLIENT_H

#include "base/map.h"
#include "mapm/fetch.h"

#include <sys/types.h>

#include "remote_address.h"
#include "ssh.h"

/*
 * client: the state of this side, shared by client.c (the conversation),
 * client_event.c (events of mapm-fetch), client_answer.c (its queries) and
 * client_ssh.c (ssh that it asks for).
 * post.c and bundle.c start a mapm-fetch of their own, by functions of client.c.
 */

#define FETCH_ASKS_MAX 20000000u /* above each limit of the graph */

struct client_ask {
    unsigned id; /* the caller's */
    enum fetch_what what;
    bool is_open, has_manifest;
    /* That was typed as one of ssh: its host, and what is asked. */
    struct str ssh_host;
    const struct str *address;
};

struct fetch {
    struct arena arena;
    struct fetch_options options; /* copied into the arena */
    struct limits limits;
    struct channel channel;
    pid_t pid;          /* 0: not started yet */
    bool is_greeted;    /* HELLO has come: `hosts` is complete */
    bool has_news;      /* something to say before waiting: FRAME_SEEN */
    size_t event_count; /* seen so far */
    struct client_ask *asks;
    size_t ask_count, ask_capacity, open_count;
    struct map hosts; /* that a credential may be asked for */
    /* What ssh may be asked for: repositories, with their addresses, and what
     * the user's configuration makes of these. */
    struct map repositories; /* struct str * */
    struct rewrites rewrites;
    struct ssh ssh;
    struct fetch_progress progress;
    struct err *dead; /* nothing works any more, and why */
};

/* Reads an event's body; false when it makes no sense. All in `a`. */
bool client_read_event(struct fetch *f, struct str body, struct arena *a,
                       struct fetch_event *out);

/* FIND_*, IS_*, PUT_*, NEED_CREDENTIAL: false when it makes no sense. */
bool client_answer(struct fetch *f, const struct frame *frame);

/* OPEN_SSH, END_SSH: likewise. */
bool client_open_ssh(struct fetch *f, struct fields *in);
bool client_end_ssh(struct fetch *f, struct fields *in);

/* Starts mapm-fetch, with the other end of `c`. Errors: ERR_NOT_FOUND when it
 * is not installed. */
MUST_CHECK bool client_start(struct arena *a, struct channel *c, pid_t *pid,
                             struct err *e);
/* Sends pending frames and reads available ones; blocks at most `wait_ms`, and
 * not when ssh has written to stderr, which is read (`ssh` may be NULL).
 * Errors: ERR_INTERRUPTED. */
MUST_CHECK bool client_wait(struct channel *c, struct ssh *ssh,
                            unsigned wait_ms, struct err *e);
/* What the end of mapm-fetch, which has hung up, means. False. */
bool client_report_end(pid_t *pid, struct err *e);
/* The error in a FATAL. False. */
bool client_read_fatal(struct str body, struct err *e);
bool client_nonsense(struct err *e); /* false */
/* Kills it, when it still runs. */
void client_stop(pid_t pid);

/* A mapm-fetch for one answer. */
struct client_call {
    struct channel channel;
    pid_t pid;
};
/* Stops it: an answer that no caller reads should not cost money. */
void client_call_done(struct client_call *c);
/* The answer, a frame of type `want`, when it is here; `*got` false: not yet, and
 * client_wait is next. False: it failed, or ended without one. */
MUST_CHECK bool client_call_next(struct client_call *c, enum frame_type want,
                                 struct frame *frame, bool *got, struct err *e);

/* What is asked for: from a program of the kind, from the repository around the
 * working directory, or from git's helpers. */
struct credential_query {
    enum credential_from from;
    const struct git_host *kind; /* NULL: not known */
    struct str protocol;         /* "https" or "http" */
    struct str host;             /* with its port, where one is written */
    struct str name;             /* without */
    struct str path;
};

struct credential {
    struct str user, password;
    bool of_path; /* of this repository alone: credential.useHttpPath, or the
                   * extraHeader of a checkout */
};

/* Run by mapm, since mapm-fetch may not start programs. False: no credential,
 * but of_path is set. In `a`. */
bool credential_find(const struct credential_query *q, struct arena *a,
                     struct credential *out);

#endif
