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

enum revision { /* in the order they came; index of revision_names */
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
    size_t counted;          /* of them in server.batched */
    unsigned waiting;        /* for this many more, the reader among them */
    struct arena a;          /* input that is not parsed yet: */
    struct str line;         /* all of it */
    const struct json *next; /* and its next part */
};

struct mcp_call {
    struct server *s;
    struct arena a;
    struct str id, method; /* the id as spelled */
    struct str id_text;    /* and decoded, to compare */
    bool id_is_text;
    const struct json *params, *meta, *caps;
    const struct method *how;
    enum revision revision;
    unsigned log_from; /* a level; LOG_NONE */
    struct str token;  /* of progress, as spelled; "" */
    double progress, total;
    bool has_progress;
    uint64_t beat_ms; /* when to repeat it */
    /* when to send delayed progress; 0: none is delayed */
    uint64_t progress_at_ms;
    double latest_done, latest_total;
    bool answered, resumed;
    bool held; /* its handler runs: the caller of the handler frees the call */
    struct batch *batch;
    struct job *job;
    struct mcp_call *next_of_job;
    struct mcp_call *next; /* of all that wait */
    /* The function of the task; NULL: another call of the job has it. */
    void (*run)(void *ctx, struct mcp_task *w);
    void *run_ctx;
    /* Of subscriptions/listen. */
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
    size_t out_at;   /* written of it */
    struct str info; /* "io.modelcontextprotocol/serverInfo":{…} */
    struct arena a;  /* as long as the connection */
    struct mcp_call *calls;
    unsigned call_count;
    struct batch *reading; /* its parts are taken one by one; NULL: none */
    size_t batched;        /* bytes of answers that batches hold */
    struct job *jobs;
    uint64_t asked; /* number of our own requests, so far */
    unsigned char key[32];
    bool has_key;
    /* The sessioned protocol. */
    bool initialized, modern_seen;
    bool ready; /* and notifications/initialized came, or as good as that */
    enum revision revision;
    struct arena hello; /* owns the members below */
    const struct json *caps;
    unsigned log_from;
    struct arena subscribed;
    struct str *uris;
    size_t uri_count, uri_capacity;
    uint64_t watch_ms; /* when `watched` is to be called again; 0 */
    bool forked;       /* there were processes */
    bool failed;       /* output is gone */
    bool overfull;     /* has input, and nothing reads it */
};

void server_init(struct server *s, const struct mcp_server *is);
void server_done(struct server *s);

/* --- out.c: unread output ----------------------------------------------- */

void out_init(struct server *s);
size_t out_pending(const struct server *s);
size_t out_max(const struct server *s);
/* So much unread output that no further request is processed. */
bool output_over_high_water(const struct server *s);
/* Writes as much as possible without blocking. */
void out_flush(struct server *s);
/* The end: as long as the other side takes it. */
void out_flush_last(struct server *s, const sigset_t *sleeping);
/* False: nothing was taken for too long. */
bool out_wait(struct server *s, const sigset_t *sleeping);

/* --- take.c: from a line to a call ---------------------------------------- */

/* No part of a batch is parsed yet, except the rest of an earlier one. */
void server_take(struct server *s, struct str line);
/* The next part of the batch that is being read. */
void server_take_part(struct server *s);
void server_take_long(struct server *s, struct str start);

/* --- call.c ----------------------------------------------------------------- */

extern const struct str revision_names[];
extern const char *const log_levels[LOG_LEVELS];
unsigned log_level_find(struct str name); /* LOG_NONE: no such */

/* From the list of those that wait, and freed. */
void call_drop(struct mcp_call *c);
/* The error of one that the client lacks: its code and its data, in `a`. */
int missing_capability_code(const struct mcp_call *c);
struct str missing_capability_data(const char *capability, struct arena *a);
/* Of a listener only its subscription is kept; the rest is freed. */
void call_trim(struct mcp_call *c);
/* NULL: none under way has this id. */
struct mcp_call *call_find(struct server *s, bool is_text, struct str id);

/* --- reply.c: lines out -------------------------------------------------------- */

/* Sends the answer. The holder of the call frees it then. */
void reply_result(struct mcp_call *c, struct str members);
void reply_input_required(struct mcp_call *c, struct str requests,
                          struct str state);
void reply_error(struct mcp_call *c, int code, struct str data,
                 struct str message);
/* No call came of it; id "" when it is not known. */
void reply_bad(struct server *s, struct batch *b, struct str id, int code,
               struct str message);
void batch_leave(struct server *s, struct batch *b);

/* A message of the server: the text between "{"jsonrpc":"2.0"," and "}". */
void send_line(struct server *s, struct str members);
/* JSON from elsewhere, on one line. */
void put_json(struct buf *out, struct str json);
void put_string(struct buf *out, struct str s); /* as JSON */
/* Lists that changed, and a resource that did ("" = none). */
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
    bool (*served)(const struct mcp_server *is); /* NULL: always */
    void (*run)(struct mcp_call *c);
};

/* NULL: no such method in that protocol, or not served. */
const struct method *method_find(const struct server *s, struct str name,
                                 bool modern);
void method_run(struct mcp_call *c);
/* "capabilities":{…} */
void put_capabilities(struct buf *out, const struct mcp_call *c);

/* --- lists.c ------------------------------------------------------------------------ */

void list_tools(struct mcp_call *c);
void list_resources(struct mcp_call *c);
void list_templates(struct mcp_call *c);
void list_prompts(struct mcp_call *c);
void complete(struct mcp_call *c);

#endif
