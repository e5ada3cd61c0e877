#ifndef MAPM_MCP_H
#define MAPM_MCP_H

#include "base/buf.h"
#include "base/json.h"

/*
 * mcp: a server of the Model Context Protocol over two descriptors, for all
 * revisions from 2024-11-05 to 2026-07-28. It implements only the protocol;
 * struct mcp_server provides the content.
 *
 *     lines in --> mcp_serve() --> struct mcp_server's functions
 *     lines out <--   |  `- a long call: mcp_call_run_task(), in a process of
 *                     |     its own: progress, questions, result
 *                     `- ping, cancel and other requests meanwhile
 *
 * A message is one line of at most MCP_LINE_MAX_BYTES. An invalid line is
 * answered with an error, and the next one is read. Only messages are written.
 * The server ends at the end of input and on SIGINT or SIGTERM, together with
 * all processes it has started.
 *
 * It supports two protocols at once (docs/clients.md 6): `initialize` starts a
 * session for the process (revisions up to 2025-11-25); a request with a
 * revision in _meta is answered without a session (2026-07-28).
 *
 * JSON that callers pass in must be valid; line ends in it are
 * replaced by blanks.
 *
 * Source: the specification of the protocol by its revisions; THREATS row 23.
 */

/* clang-format off */
#define MCP_LINE_MAX_BYTES   (4u * 1024 * 1024)
#define MCP_LINE_MAX_DEPTH   64
#define MCP_LINE_MAX_NODES   100000 /* values in a line */
#define MCP_MAX_CALLS        64     /* open: tasks, questions, listeners */
#define MCP_MAX_TASKS        8      /* running at once; others are queued */
#define MCP_MAX_SUSPENDED    16     /* processes waiting for a retry */
#define MCP_MAX_URIS         1000   /* subscriptions, per list */
#define MCP_PAGE_MAX_ITEMS   500    /* items of a list per answer */
#define MCP_VALUES_MAX       100    /* values of a completion, by the specification */
#define MCP_TASK_MAX_BYTES   (16u * 1024 * 1024) /* one message of a task */
#define MCP_MAX_RECORDS      10000  /* records of a task in the journal */
#define MCP_RECORDS_MAX_BYTES (64u * 1024 * 1024)
#define MCP_STATE_MAX_SECONDS 3600  /* validity of a requestState */
#define MCP_ASK_MAX_MS       60000  /* wait for an answer in a session */
#define MCP_READY_MAX_MS     2000   /* wait until a client with a session is ready */
#define MCP_OUT_ENOUGH_BYTES (1024u * 1024) /* unread output: then stop reading input */
#define MCP_OUT_MAX_BYTES    (64u * 1024 * 1024) /* unread output: then end */
#define MCP_ANSWER_MAX_BYTES (32u * 1024 * 1024) /* one answer; all answers of a batch */
#define MCP_BATCH_MAX_PARTS  1000
#define MCP_HELD_MAX_BYTES   (64u * 1024 * 1024) /* input of open calls … */
#define MCP_HELD_ANY_BYTES   (64u * 1024) /* … except small ones */
/* clang-format on */

enum mcp_code {
    MCP_PARSE = -32700,
    MCP_INVALID = -32600,
    MCP_NO_METHOD = -32601,
    MCP_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_RESOURCE = -32002, /* sessioned protocol; see mcp_call_no_resource */
    MCP_MISSING_CAPABILITY = -32021, /* stateless protocol */
    MCP_VERSION = -32022,            /* stateless protocol */
};

enum mcp_era { MCP_SESSIONED, MCP_STATELESS };
enum mcp_list { MCP_TOOLS = 1, MCP_RESOURCES = 2, MCP_PROMPTS = 4 };

/* How long a result may be cached (stateless protocol). */
struct mcp_keep {
    uint64_t ttl_ms;
    bool is_public; /* cacheScope "public", otherwise "private" */
};

/* --- a call ---------------------------------------------------------------- */

/* A request without an answer so far. Borrowed until the answer, or, after
 * mcp_call_run_task, until the end of the task. */
struct mcp_call;

enum mcp_era mcp_call_era(const struct mcp_call *c);
struct str mcp_call_version(const struct mcp_call *c); /* "2025-11-25", … */
struct arena *mcp_call_arena(struct mcp_call *c);
/* Returns `params` as sent, including _meta; NULL if absent. */
const struct json *mcp_call_params(const struct mcp_call *c);
const struct json *mcp_call_meta(const struct mcp_call *c);
/* Returns whether the client declared a capability: "sampling",
 * "sampling/tools", "elicitation", "elicitation/form", "elicitation/url",
 * "roots", "extensions/io.modelcontextprotocol/ui" (the part after
 * "extensions/" is one name). */
bool mcp_call_client_can(const struct mcp_call *c, const char *capability);

/*
 * Each call must be answered by exactly one of these functions before the
 * handler returns, or by mcp_call_run_task. `members` are the members of a
 * JSON object, without braces and without _meta; members that the protocol
 * requires are added.
 */
void mcp_call_result(struct mcp_call *c, struct str members);
void mcp_call_error(struct mcp_call *c, int code,
                    struct str data /* JSON or "" */, const char *format, ...)
    PRINTF(4, 5);
/* Answers that the resource does not exist, with the error code of the
 * protocol in use. */
void mcp_call_no_resource(struct mcp_call *c, struct str uri);
/* Answers that the client lacks a required capability ("sampling",
 * "elicitation/url"), with the error code of the protocol in use. */
void mcp_call_missing_capability(struct mcp_call *c, const char *capability);

/* Notify listeners of lists or of a resource that the call changed. */
void mcp_call_changed(struct mcp_call *c, unsigned lists);
void mcp_call_updated(struct mcp_call *c, struct str uri);

/* --- content ------------------------------------------------------------ */

struct mcp_tool {
    struct str name, title, description;
    struct str input_schema, output_schema; /* JSON; output: "" if none */
    struct str annotations;                 /* JSON object; "" if none */
    struct str meta;                        /* JSON object; "" if none */
    /* Can be called but is not listed; all of these come last. */
    bool is_unlisted;
};
struct mcp_resource {
    struct str uri, name, title, description, mime;
    uint64_t size; /* UINT64_MAX if unknown */
    struct str meta;
};
struct mcp_template {
    struct str uri, name, title, description, mime;
};
struct mcp_prompt {
    struct str name, title, description;
    const struct mcp_argument {
        struct str name, description;
        bool required;
    } * arguments;
    size_t argument_count;
};

/* Changes found by `watched`. Strings are borrowed until its next call. */
struct mcp_changes {
    unsigned lists;         /* MCP_TOOLS | … */
    const struct str *uris; /* resources with new content */
    size_t uri_count;
};

struct mcp_journal;

/*
 * The content of a server. A feature whose function is NULL is not offered.
 * Functions that return a list return false on failure; lists are complete and
 * in a fixed order, and this module splits them into pages. Results are
 * allocated in `a`, or live longer.
 */
struct mcp_server {
    struct str name, title, version;
    struct str instructions; /* "" if none */
    /* Called before the functions below; on failure they are not called. NULL
     * if they need nothing that `instructions` did not. */
    bool (*ready)(void *ctx, struct err *e);
    bool (*tools)(void *ctx, struct arena *a, const struct mcp_tool **out,
                  size_t *count);
    /* Calls `tool`, one of the list, with `arguments`, a JSON object. Invalid
     * arguments give a result with isError, so that the model can correct
     * them. */
    void (*call)(void *ctx, struct str tool, const struct json *arguments,
                 struct mcp_call *c);
    bool (*resources)(void *ctx, struct arena *a,
                      const struct mcp_resource **out, size_t *count);
    bool (*templates)(void *ctx, struct arena *a,
                      const struct mcp_template **out, size_t *count);
    void (*read)(void *ctx, struct str uri, struct mcp_call *c);
    void (*directory)(void *ctx, struct str uri, struct mcp_call *c);
    bool (*prompts)(void *ctx, struct arena *a, const struct mcp_prompt **out,
                    size_t *count);
    /* Gets the arguments of one prompt: set if they are more expensive than the
     * list; called for the prompts of a page. */
    void (*prompt_arguments)(void *ctx, struct arena *a, struct mcp_prompt *p);
    /* Gets a prompt; answers MCP_PARAMS if it is unknown. */
    void (*prompt)(void *ctx, struct str name, const struct json *arguments,
                   struct mcp_call *c);
    /* Returns all values that match the typed text, best match first. `ref` is
     * as sent; `context` has the other arguments, or is NULL. Returns false if
     * `ref` does not exist. */
    bool (*complete)(void *ctx, const struct json *ref, struct str argument,
                     struct str typed, const struct json *context,
                     struct arena *a, struct str **out, size_t *count);
    /* Skills extension: answer with the members of the result. */
    void (*skills_list)(void *ctx, struct mcp_call *c);
    void (*skills_get)(void *ctx, struct str uri, struct mcp_call *c);
    bool logs;             /* tasks write logs: declares the capability */
    unsigned changes;      /* lists that can change: MCP_TOOLS | … */
    bool updates;          /* resources can be subscribed to */
    struct mcp_keep lists; /* cache times of lists … */
    struct mcp_keep reads; /* … and of contents */
    /* An additional descriptor to poll (inotify), and its handler. The handler
     * may set `*again_ms` to be called again after that time, for debouncing; 0
     * means not again. */
    int watch_fd; /* -1 if none */
    void (*watched)(void *ctx, struct mcp_changes *out, unsigned *again_ms);
    unsigned ask_max_ms; /* 0 for MCP_ASK_MAX_MS */
    /* Maximum of unread output: at least four times MCP_OUT_ENOUGH_BYTES; 0 for
     * MCP_OUT_MAX_BYTES. */
    size_t out_max_bytes;
    /* Interval after which progress is repeated for a client that sent a
     * progressToken; 0 for never. */
    unsigned heartbeat_ms;
    /* Delay of progress, which newer progress or the answer replaces: many
     * clients have discarded the token if progress arrives just before the
     * answer. 0 for no delay. */
    unsigned progress_delay_ms;
    /* Key for requestState (stateless protocol): 32 bytes that outlive the
     * process. NULL for a random key, so that a restart invalidates
     * suspended calls. */
    const unsigned char *state_key;
    const struct mcp_journal *journal; /* NULL: calls cannot be resumed after a
                                          restart */
    /* Binds requestState to this server (its folder and options), because
     * another server may have the same key. "" for no binding. */
    struct str state_of;
    void *ctx;
};

/*
 * The journal of suspended calls (stateless protocol), from which another
 * process can resume them. A run has a name of 32 lower-case digits and a list
 * of records, each one line of text without line end. Calls are recorded from
 * their first question on. Tasks are forked and inherit descriptors: a flock(2)
 * is shared with them until it is unlocked explicitly, or all of them have
 * closed the descriptor.
 */
struct mcp_journal {
    /* Starts a run, owned by this process. May delete expired runs. Fails with
     * ERR_LIMIT if there are too many runs. */
    bool (*begin)(void *ctx, struct str run, uint64_t expires_s, struct err *e);
    /* Appends a record, which is on disk on return. */
    bool (*append)(void *ctx, struct str run, struct str record, struct err *e);
    /* Reads all records in order, allocated in `a`, and makes this process the
     * owner of the run. Errors: ERR_NOT_FOUND; ERR_BUSY if another living
     * process owns it. */
    bool (*read)(void *ctx, struct str run, struct arena *a,
                 const struct str **records, size_t *count, struct err *e);
    /* Called when the run has ended: it is kept only for late retries, and may
     * be deleted to make room. May be NULL. */
    void (*ended)(void *ctx, struct str run);
    /* Releases the run, so that another process may resume it. */
    void (*leave)(void *ctx, struct str run);
    void (*forget)(void *ctx, struct str run);
    /* Called in the process of a task: closes all descriptors. May be NULL. */
    void (*forked)(void *ctx);
    void *ctx;
};

/* --- a call that takes long --------------------------------------------------- */

struct mcp_task;

/*
 * Runs `run` in a process that is forked after the handler has returned. It has
 * a copy of the server's memory, so its changes to memory are lost, and it must
 * open a database itself. It is ended with the call: by its result, by
 * notifications/cancelled, or at the end of the server; first by SIGTERM
 * (proc_interrupted), then, a second later (at the end of the server after some
 * milliseconds), by SIGKILL, together with its child processes. Its stdin and
 * stdout are /dev/null.
 */
void mcp_call_run_task(struct mcp_call *c,
                       void (*run)(void *ctx, struct mcp_task *w), void *ctx);

/* The call, for use within the task: a read-only copy. */
const struct mcp_call *mcp_task_call(const struct mcp_task *w);

/* Reports progress if the client requested it; values that do not
 * increase are dropped. */
void mcp_task_progress(struct mcp_task *w, double done, double total,
                       struct str message); /* total < 0 if unknown */
/* Writes a log message. `level` is a name of syslog ("info"); `data` is
 * JSON. */
void mcp_task_log(struct mcp_task *w, const char *level, struct str data);

struct mcp_question {
    struct str key;    /* unique in this call: "ask3" */
    struct str method; /* "sampling/createMessage", "elicitation/create" or
                        * "roots/list" */
    /* A JSON object. "mode" of an elicitation and "tools" of a sampling request
     * determine the required capability of the client. */
    struct str params;
    const struct json *answer; /* result that the client returned */
};

/*
 * Sends questions to the client, all at once: in a session as requests,
 * otherwise as a result that demands a retry (MRTR). The task waits for the
 * answers in both cases. After a restart of the server the task is run
 * again from the journal: recorded questions are answered from there and
 * must be identical.
 * Errors: ERR_REFUSED if the client cannot or will not answer; ERR_FAILED for a
 * timeout or an error; ERR_INTERRUPTED if the call has ended; ERR_DAMAGED if
 * the task is not deterministic.
 */
MUST_CHECK bool mcp_task_ask(struct mcp_task *w, struct mcp_question *q,
                             size_t count, struct arena *a, struct err *e);

/*
 * An operation that is executed only once, even if the task is run
 * several times:
 *
 *     mcp_task_once() --> MCP_FIRST: execute it, then mcp_task_noted(result)
 *                     --> MCP_DONE:  `*text` is the recorded result
 *                     --> MCP_CUT:   the process ended during the operation: its
 *                                    outcome is unknown; do not repeat it
 *
 * `what` describes the operation; a different text than in the last run fails
 * with ERR_DAMAGED.
 */
enum mcp_once { MCP_FIRST, MCP_DONE, MCP_CUT };
MUST_CHECK bool mcp_task_once(struct mcp_task *w, struct str what,
                              struct arena *a, enum mcp_once *state,
                              struct str *text, struct err *e);
MUST_CHECK bool mcp_task_noted(struct mcp_task *w, struct str text,
                               struct err *e);

/* Returns the milliseconds of work, including former processes and excluding
 * waits for the client. */
uint64_t mcp_task_used_ms(const struct mcp_task *w);
/* Returns the start of the whole call (time(2)), the same in each process. */
uint64_t mcp_task_began_s(const struct mcp_task *w);

/* A task must end by calling exactly one of these functions. */
void mcp_task_result(struct mcp_task *w, struct str members);
void mcp_task_error(struct mcp_task *w, int code, struct str data,
                    const char *format, ...) PRINTF(4, 5);
/* As mcp_call_missing_capability; `why` tells why there is no alternative. */
void mcp_task_missing_capability(struct mcp_task *w, const char *capability,
                                 const char *why);

/* --- serving -------------------------------------------------------------------- */

/* Serves until the end of input or a signal; catches signals
 * (proc_catch_signals). Errors: ERR_IO if the output is closed; ERR_LIMIT if
 * too much output is unread. The last message is complete in that case. */
MUST_CHECK bool mcp_serve(const struct mcp_server *s, int in, int out,
                          struct err *e);

#endif
