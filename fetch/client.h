#ifndef FETCH_CLIENT_H
#define FETCH_CLIENT_H

#include "base/map.h"
#include "mapm/fetch.h"

#include <sys/types.h>

#include "remote_address.h"
#include "ssh.h"

/*
 * client: the state of mapm's side, shared by client.c (the connection),
 * client_event.c (events from mapm-fetch), client_answer.c (queries from
 * mapm-fetch) and client_ssh.c (requests for ssh). post.c and bundle.c start a
 * mapm-fetch of their own with the functions of client.c.
 */

/* Above every limit on the size of the graph. */
#define FETCH_ASKS_MAX 20000000u

struct client_ask {
    unsigned id; /* chosen by the caller */
    enum fetch_what what;
    bool is_open, has_manifest;
    /* Set if the user wrote an ssh URL: its host, and the address of the
     * repository to fetch. */
    struct str ssh_host;
    const struct str *address;
};

struct fetch {
    struct arena arena;
    struct fetch_options options; /* copied into the arena */
    struct limits limits;
    struct channel channel;
    pid_t pid;          /* 0 before mapm-fetch is started */
    bool is_greeted;    /* HELLO has been read, so `hosts` is complete */
    bool has_news;      /* FRAME_SEEN must be sent before waiting */
    size_t event_count; /* events read so far */
    struct client_ask *asks;
    size_t ask_count, ask_capacity, open_count;
    struct map hosts; /* hosts for which a credential may be requested */
    /* Repositories that ssh may be opened for, each with its address, and the
     * rewrites that the user's git configuration applies to addresses. */
    struct map repositories; /* repository -> struct str * */
    struct rewrites rewrites;
    struct ssh ssh;
    struct fetch_progress progress;
    struct err *dead; /* the error that ended the connection; NULL before */
};

/* Parses the body of an event, allocated in `a`. Returns false if it is
 * invalid. */
bool client_read_event(struct fetch *f, struct str body, struct arena *a,
                       struct fetch_event *out);

/* Handles FIND_*, IS_*, PUT_*, NEED_CREDENTIAL and the ssh frames. Returns
 * false if the frame is invalid. */
bool client_answer(struct fetch *f, const struct frame *frame);

/* Handle OPEN_SSH and END_SSH. Return false if the frame is invalid. */
bool client_open_ssh(struct fetch *f, struct fields *in);
bool client_end_ssh(struct fetch *f, struct fields *in);

/* Starts mapm-fetch, connected to `c`. Errors: ERR_NOT_FOUND if mapm-fetch is
 * not installed. */
MUST_CHECK bool client_start(struct arena *a, struct channel *c, pid_t *pid,
                             struct err *e);
/* Sends pending frames and reads available ones. Blocks for at most `wait_ms`;
 * returns early if ssh has written to stderr, which is read (`ssh` may be
 * NULL). Errors: ERR_INTERRUPTED. */
MUST_CHECK bool client_wait(struct channel *c, struct ssh *ssh,
                            unsigned wait_ms, struct err *e);
/* Reports why mapm-fetch, which has hung up, ended. Returns false. */
bool client_report_end(pid_t *pid, struct err *e);
/* Reads the error of a FATAL frame. Returns false. */
bool client_read_fatal(struct str body, struct err *e);
/* Reports an invalid frame; returns false. */
bool client_nonsense(struct err *e);
/* Kills mapm-fetch if it is still running, and reaps it. */
void client_stop(pid_t pid);

/* A mapm-fetch process that gives one response. */
struct client_call {
    struct channel channel;
    pid_t pid;
};
/* Stops the process, so that an API response that is no longer needed causes no
 * more cost. */
void client_call_done(struct client_call *c);
/* Reads the response, a frame of type `want`. If `*got` is false, it has not
 * arrived yet and the caller calls client_wait next. Returns false if
 * mapm-fetch failed or ended without a response. */
MUST_CHECK bool client_call_next(struct client_call *c, enum frame_type want,
                                 struct frame *frame, bool *got, struct err *e);

/* A request for a credential from the program of the host's kind, from the
 * repository around the working directory, or from git's credential helpers. */
struct credential_query {
    enum credential_from from;
    const struct git_host *kind; /* NULL if unknown */
    struct str protocol;         /* "https" or "http" */
    struct str host;             /* with the port, if one is given */
    struct str name;             /* without the port */
    struct str path;
};

struct credential {
    struct str user, password;
    bool of_path; /* valid for this repository alone: credential.useHttpPath,
                   * or the extraHeader of a checkout */
};

/* Runs in mapm, since mapm-fetch may not start programs. The credential is
 * allocated in `a`. Returns false if there is none; of_path is set even
 * then. */
bool credential_find(const struct credential_query *q, struct arena *a,
                     struct credential *out);

#endif
