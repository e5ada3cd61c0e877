#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include "base/hash.h"
#include "mapm/mcp.h"

#include <signal.h>

#include "lines.h"

/*
 * server: declarations shared in this module. One connection is one
 * `struct server`; a request is a `struct mcp_call` while it is not answered;
 * a `struct job` (jobs.h) is a process that works for one.
 *
 *     lines.c --> take.c --> methods.c, lists.c --> reply.c
 *                                 `--> jobs.c, talk.c <== worker.c
 *                                        |  `--> ask.c (questions)
 *                                        `--> resume.c --> ticket.c, entries.c
 *
 * serve.c is the loop around all of it, out.c what waits to be read; worker.c
 * runs in the processes.
 */

enum revision { /* in chronological order; index of revision_names */
                REV_2024_11_05,
                REV_2025_03_26,
                REV_2025_06_18,
                REV_2025_11_25,
                REV_2026_07_28,
};

enum { LOG_LEVELS = 8, LOG_NONE = LOG_LEVELS };

struct job;
struct method;

struct batch {
    struct buf out;          /* answers so far */
    size_t counted;          /* bytes counted in server.batched */
    unsigned waiting;        /* number of answers to wait for, plus one while
                              * the batch is read */
    struct arena a;          /* input that is not parsed yet: */
    struct str line;         /* text of the batch */
    const struct json *next; /* next part of the batch */
};

struct mcp_call {
    struct server *s;
    struct arena a;
    struct str id, method; /* the id as spelled */
    struct str id_text;    /* decoded id, for comparison */
    bool id_is_text;
    const struct json *params, *meta, *caps;
    const struct method *how;
    enum revision revision;
    unsigned log_from; /* a level; LOG_NONE */
    struct str token;  /* progress token as spelled, or "" */
    double progress, total;
    bool has_progress;
    uint64_t beat_ms; /* when to repeat progress */
    /* when to send delayed progress; 0 if none is delayed */
    uint64_t progress_at_ms;
    double latest_done, latest_total;
    bool answered, resumed;
    bool held; /* its handler runs: the caller of the handler frees the call */
    struct batch *batch;
    struct job *job;
    struct mcp_call *next_of_job;
    struct mcp_call *next; /* list of the calls in progress */
    /* Function of the task; NULL if another call of the job carries it. */
    void (*run)(void *ctx, struct mcp_task *w);
    void *run_ctx;
    /* Members of subscriptions/listen. */
    bool listens;
    unsigned lists;
    struct str *uris;
    size_t uri_count;
};

struct server {
    const struct mcp_server *is;
    int in, out_fd;
    struct lines lines;
    struct buf out;
    size_t out_at;   /* bytes of it that were written */
    struct str info; /* "io.modelcontextprotocol/serverInfo":{…} */
    struct arena a;  /* lives as long as the connection */
    struct mcp_call *calls;
    unsigned call_count;
    struct batch *reading; /* batch whose parts are processed one by one;
                            * NULL if none */
    size_t batched;        /* bytes of answers that batches hold */
    struct job *jobs;
    uint64_t asked; /* number of requests sent by the server */
    unsigned char key[32];
    bool has_key;
    /* The sessioned protocol. */
    bool initialized, modern_seen;
    bool ready; /* notifications/initialized or a further request arrived */
    enum revision revision;
    struct arena hello; /* owns the members below */
    const struct json *caps;
    unsigned log_from;
    struct arena subscribed;
    struct str *uris;
    size_t uri_count, uri_capacity;
    uint64_t watch_ms; /* when to call `watched` again; 0 for never */
    bool forked;       /* at least one process was started */
    bool failed;       /* output is gone */
    bool overfull;     /* the client does not read its output */
};

void server_init(struct server *s, const struct mcp_server *is);
void server_done(struct server *s);

/* --- out.c: unread output ----------------------------------------------- */

void out_init(struct server *s);
size_t out_pending(const struct server *s);
size_t out_max(const struct server *s);
/* Returns whether so much output is unread that no further request is
 * processed. */
bool output_over_high_water(const struct server *s);
/* Writes as much as possible without blocking. */
void out_flush(struct server *s);
/* Writes the rest at the end of the session, as long as the client reads it. */
void out_flush_last(struct server *s, const sigset_t *sleeping);
/* Waits until the client reads. Returns false if it did not for too long. */
bool out_wait(struct server *s, const sigset_t *sleeping);

/* --- take.c: from a line to a call ---------------------------------------- */

/* Processes a line. Parts of a batch are not parsed yet. */
void server_take(struct server *s, struct str line);
/* Processes the next part of the current batch. */
void server_take_part(struct server *s);
void server_take_long(struct server *s, struct str start);

/* --- call.c ----------------------------------------------------------------- */

extern const struct str revision_names[];
extern const char *const log_levels[LOG_LEVELS];
unsigned log_level_find(struct str name); /* Returns LOG_NONE for an unknown
                                           * name. */

/* Removes the call from the list and frees it. */
void call_drop(struct mcp_call *c);
/* Returns the error code for a missing capability of the client, with its data
 * allocated in `a`. */
int missing_capability_code(const struct mcp_call *c);
struct str missing_capability_data(const char *capability, struct arena *a);
/* Frees everything of a listener but its subscription. */
void call_trim(struct mcp_call *c);
/* Returns NULL if no call in progress has this id. */
struct mcp_call *call_find(struct server *s, bool is_text, struct str id);

/* --- reply.c: lines out -------------------------------------------------------- */

/* Sends the answer. The caller frees the call. */
void reply_result(struct mcp_call *c, struct str members);
void reply_input_required(struct mcp_call *c, struct str requests,
                          struct str state);
void reply_error(struct mcp_call *c, int code, struct str data,
                 struct str message);
/* Answers a message that is not a valid call; `id` is "" if unknown. */
void reply_bad(struct server *s, struct batch *b, struct str id, int code,
               struct str message);
void batch_leave(struct server *s, struct batch *b);

/* Sends a message of the server; `members` is the text between
 * "{"jsonrpc":"2.0"," and "}". */
void send_line(struct server *s, struct str members);
/* Appends JSON from another source on one line. */
void put_json(struct buf *out, struct str json);
void put_string(struct buf *out, struct str s); /* as a JSON string */
/* Notifies the client of changed lists and of a changed resource ("" if
 * none). */
void send_changes(struct server *s, unsigned lists, struct str uri);
void send_end_of_listening(struct server *s);

/* --- methods.c ------------------------------------------------------------------- */

#define METHOD_OLD   1u
#define METHOD_NEW   2u
#define METHOD_KEEPS 4u  /* ttlMs and cacheScope belong to its result */
#define METHOD_READS 8u  /* those of a resource */
#define METHOD_ASKS  16u /* may answer with input_required */

struct method {
    struct str name;
    unsigned flags;
    bool (*served)(const struct mcp_server *is); /* NULL if always served */
    void (*run)(struct mcp_call *c);
};

/* Returns NULL if the protocol has no such method, or it is not served. */
const struct method *method_find(const struct server *s, struct str name,
                                 bool modern);
void method_run(struct mcp_call *c);

/* --- lists.c ------------------------------------------------------------------------ */

void list_tools(struct mcp_call *c);
void list_resources(struct mcp_call *c);
void list_templates(struct mcp_call *c);
void list_prompts(struct mcp_call *c);
void complete(struct mcp_call *c);

#endif
