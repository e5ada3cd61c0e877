#ifndef MAPM_MCP_H
#define MAPM_MCP_H

#include "base/buf.h"
#include "base/json.h"

/*
 * mcp: a server of the Model Context Protocol over two descriptors, all
 * revisions from 2024-11-05 to 2026-07-28. Implements the protocol only; the
 * content comes from struct mcp_server.
 *
 *     lines in --> mcp_serve() --> struct mcp_server's functions
 *     lines out <--   |  `- a call that takes long: mcp_call_run_task(), in a
 *                     |     process of its own: progress, questions, result
 *                     `- ping, cancel and other requests meanwhile
 *
 * One message a line, at most MCP_LINE_MAX_BYTES, read as it comes; a bad line
 * is answered and the next one read. Nothing but messages is written. It ends
 * at the end of input and at SIGINT or SIGTERM, with all it has started.
 *
 * Two protocols at once (docs/clients.md 6): `initialize` starts a session for
 * the process (revisions up to 2025-11-25); a request whose _meta names a
 * revision is answered without a session (2026-07-28).
 *
 * JSON that is handed in here is correct JSON; line ends in it become blanks.
 *
 * Source: the specification of the protocol by its revisions; THREATS row 23.
 */

/* clang-format off */
#define MCP_LINE_MAX_BYTES   (4u * 1024 * 1024)
#define MCP_LINE_MAX_DEPTH   64
#define MCP_LINE_MAX_NODES   100000 /* values in a line */
#define MCP_MAX_CALLS        64     /* under way: tasks, questions, listeners */
#define MCP_MAX_TASKS        8      /* running at once; the others are queued */
#define MCP_MAX_SUSPENDED    16     /* processes that wait for a retry */
#define MCP_MAX_URIS         1000   /* subscribed to, in each list */
#define MCP_PAGE_MAX_ITEMS   500    /* of a list, in one answer */
#define MCP_VALUES_MAX       100    /* of a completion: the specification */
#define MCP_TASK_MAX_BYTES   (16u * 1024 * 1024) /* of one message of a task */
#define MCP_MAX_RECORDS      10000  /* of a task in the journal */
#define MCP_RECORDS_MAX_BYTES (64u * 1024 * 1024)
#define MCP_STATE_MAX_SECONDS 3600  /* to come back with a requestState */
#define MCP_ASK_MAX_MS       60000  /* for an answer in the sessioned protocol */
#define MCP_READY_MAX_MS     2000   /* until a client with a session is ready */
#define MCP_OUT_ENOUGH_BYTES (1024u * 1024) /* unread: then nothing more is done */
#define MCP_OUT_MAX_BYTES    (64u * 1024 * 1024) /* unread: then it ends */
#define MCP_ANSWER_MAX_BYTES (32u * 1024 * 1024) /* one, and all of batches */
#define MCP_BATCH_MAX_PARTS  1000
#define MCP_HELD_MAX_BYTES   (64u * 1024 * 1024) /* of calls under way, as read, */
#define MCP_HELD_ANY_BYTES   (64u * 1024) /* not counting small ones */
/* clang-format on */

enum mcp_code {
    MCP_PARSE = -32700,
    MCP_INVALID = -32600,
    MCP_NO_METHOD = -32601,
    MCP_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_RESOURCE = -32002, /* sessioned; mcp_call_no_resource chooses */
    MCP_MISSING_CAPABILITY = -32021, /* stateless */
    MCP_VERSION = -32022,            /* stateless */
};

enum mcp_era { MCP_SESSIONED, MCP_STATELESS };
enum mcp_list { MCP_TOOLS = 1, MCP_RESOURCES = 2, MCP_PROMPTS = 4 };

/* Of a result: how long it may be kept (stateless). */
struct mcp_keep {
    uint64_t ttl_ms;
    bool is_public; /* cacheScope "public", else "private" */
};

/* --- a call ---------------------------------------------------------------- */

/* A request that is not yet answered. Borrowed until the answer, or after
 * mcp_call_run_task until the end of the task. */
struct mcp_call;

enum mcp_era mcp_call_era(const struct mcp_call *c);
struct str mcp_call_version(const struct mcp_call *c); /* "2025-11-25" … */
struct arena *mcp_call_arena(struct mcp_call *c);
/* `params` as sent, _meta included; NULL for none. */
const struct json *mcp_call_params(const struct mcp_call *c);
const struct json *mcp_call_meta(const struct mcp_call *c);
/* Whether the client declared it: "sampling", "sampling/tools", "elicitation",
 * "elicitation/form", "elicitation/url", "roots",
 * "extensions/io.modelcontextprotocol/ui" (the rest after "extensions/" is one
 * name). */
bool mcp_call_client_can(const struct mcp_call *c, const char *capability);

/*
 * Exactly one of these for each call, before the handler returns, or
 * mcp_call_run_task. `members` is the inside of a JSON object, without braces,
 * and without _meta. Members that the protocol requires besides are added.
 */
void mcp_call_result(struct mcp_call *c, struct str members);
void mcp_call_error(struct mcp_call *c, int code,
                    struct str data /* JSON or "" */, const char *format, ...)
    PRINTF(4, 5);
/* There is no such resource: with the error code of its protocol. */
void mcp_call_no_resource(struct mcp_call *c, struct str uri);
/* It cannot be done without this capability ("sampling", "elicitation/url") of
 * the client: an error with the code of its protocol. */
void mcp_call_missing_capability(struct mcp_call *c, const char *capability);

/* Lists that the call has changed: listeners are notified. */
void mcp_call_changed(struct mcp_call *c, unsigned lists);
void mcp_call_updated(struct mcp_call *c, struct str uri);

/* --- content ------------------------------------------------------------ */

struct mcp_tool {
    struct str name, title, description;
    struct str input_schema, output_schema; /* JSON; output "" = none */
    struct str annotations;                 /* JSON object; "" = none */
    struct str meta;                        /* JSON object; "" = none */
    bool is_unlisted; /* answered, and on no list: all of these come last */
};
struct mcp_resource {
    struct str uri, name, title, description, mime;
    uint64_t size; /* UINT64_MAX: not known */
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

/* Changes that `watched` found. Texts are borrowed until its next call. */
struct mcp_changes {
    unsigned lists;         /* MCP_TOOLS | … */
    const struct str *uris; /* resources with new content */
    size_t uri_count;
};

struct mcp_journal;

/*
 * A feature whose function is NULL is not offered. Functions that return a
 * list return false on failure; the list is complete and in a fixed order,
 * paging is done by this module. Results live in `a`, or longer.
 */
struct mcp_server {
    struct str name, title, version;
    struct str instructions; /* "" = none */
    bool (*tools)(void *ctx, struct arena *a, const struct mcp_tool **out,
                  size_t *count);
    /* `tool` is one of them; `arguments` is an object. Wrong arguments are a
     * result with isError, so that the model can do better. */
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
    /* The arguments of one of them: set when they cost more than the list, and
     * then asked for those of a page. */
    void (*prompt_arguments)(void *ctx, struct arena *a, struct mcp_prompt *p);
    /* An unknown prompt is reported by this function: MCP_PARAMS. */
    void (*prompt)(void *ctx, struct str name, const struct json *arguments,
                   struct mcp_call *c);
    /* All values that match the typed text, best first; `ref` as sent,
     * `context` the other arguments, or NULL. False: no such ref. */
    bool (*complete)(void *ctx, const struct json *ref, struct str argument,
                     struct str typed, const struct json *context,
                     struct arena *a, struct str **out, size_t *count);
    /* The Skills extension: members of the result. */
    void (*skills_list)(void *ctx, struct mcp_call *c);
    void (*skills_get)(void *ctx, struct str uri, struct mcp_call *c);
    bool logs;             /* tasks write logs: a capability */
    unsigned changes;      /* lists that may change: MCP_TOOLS | … */
    bool updates;          /* resources may be subscribed to */
    struct mcp_keep lists; /* how long they may be kept, */
    struct mcp_keep reads; /* and contents */
    /* A further descriptor to poll (inotify) and its handler, which may set
     * `*again_ms` to be called again after that time (debouncing); 0: not
     * again. */
    int watch_fd; /* -1: none */
    void (*watched)(void *ctx, struct mcp_changes *out, unsigned *again_ms);
    unsigned ask_max_ms; /* 0: MCP_ASK_MAX_MS */
    /* Unread: at least four times MCP_OUT_ENOUGH_BYTES. 0: MCP_OUT_MAX_BYTES */
    size_t out_max_bytes;
    /* Interval after which progress is repeated for a client that sent a
     * progressToken; 0: never. */
    unsigned heartbeat_ms;
    /* Progress is delayed by this time, and replaced by newer progress or by
     * the answer: many clients have forgotten the token when progress arrives
     * just before the answer. 0: sent at once. */
    unsigned progress_delay_ms;
    /* Key for requestState (stateless): 32 bytes that outlive the process.
     * NULL: a random one, so that a restart invalidates suspended calls. */
    const unsigned char *state_key;
    const struct mcp_journal *journal; /* NULL: the same */
    /* Binds requestState to this server (its folder, its options), as another
     * server may have the same key. "" = not bound */
    struct str state_of;
    void *ctx;
};

/*
 * The journal of calls that were suspended (stateless), from which another
 * process resumes them. A run has a name of 32 lower-case digits
 * and a list of records, each one line of text without line end. Only calls
 * with questions are recorded, from the first question on. Tasks are forked and
 * inherit descriptors: a flock(2) is shared with them until it is unlocked
 * explicitly, or each of them has closed it.
 */
struct mcp_journal {
    /* Starts a run, owned by this process. Expired runs may be deleted.
     * ERR_LIMIT: too many runs. */
    bool (*begin)(void *ctx, struct str run, uint64_t expires_s, struct err *e);
    /* It is on the disk when this returns. */
    bool (*append)(void *ctx, struct str run, struct str record, struct err *e);
    /* Reads all records in order, in `a`; this process owns the run from now
     * on. ERR_NOT_FOUND: no such run; ERR_BUSY: another living process owns
     * it. */
    bool (*read)(void *ctx, struct str run, struct arena *a,
                 const struct str **records, size_t *count, struct err *e);
    /* Its last record is its end: it is there for late retries alone, and may
     * be forgotten for one that waits. NULL: nothing. */
    void (*ended)(void *ctx, struct str run);
    /* Another process may take it up: this one has ended its part. */
    void (*leave)(void *ctx, struct str run);
    void (*forget)(void *ctx, struct str run);
    /* In the process of a task: whatever is open is closed. NULL: nothing. */
    void (*forked)(void *ctx);
    void *ctx;
};

/* --- a call that takes long --------------------------------------------------- */

struct mcp_task;

/*
 * Calls `run` in a process that is forked after the handler has returned: it
 * has a copy of the server's memory, its changes are lost; a database it opens
 * itself. It ends with the call: by its result, by notifications/cancelled, by
 * the end of the server; first with SIGTERM (proc_interrupted), a second later
 * (at the end of the server after some milliseconds) with SIGKILL, and its own
 * processes with it. Its stdin and stdout are /dev/null.
 */
void mcp_call_run_task(struct mcp_call *c,
                       void (*run)(void *ctx, struct mcp_task *w), void *ctx);

/* Within it. The call is a copy: only to look at. */
const struct mcp_call *mcp_task_call(const struct mcp_task *w);

/* Sent if the client requested progress; values that do not increase are
 * dropped. */
void mcp_task_progress(struct mcp_task *w, double done, double total,
                       struct str message); /* total < 0: not known */
/* `level` is one of syslog's names ("info"); `data` is JSON. */
void mcp_task_log(struct mcp_task *w, const char *level, struct str data);

struct mcp_question {
    struct str key;    /* of this call alone: "ask3" */
    struct str method; /* "sampling/createMessage", "elicitation/create" or
                        * "roots/list" */
    /* A JSON object; "mode" of an elicitation and "tools" of a sampling decide
     * which capability the client needs. */
    struct str params;
    const struct json *answer; /* the result that the client gave */
};

/*
 * Asks the client all of them at once. With a session by requests, else by a
 * result that demands a retry (MRTR); the task waits in both cases. After a
 * restart of the server it is run again from the journal: recorded questions
 * are answered from there, and must be the same. Errors: ERR_REFUSED (the
 * client cannot, or will not), ERR_FAILED (no answer in time, or an error),
 * ERR_INTERRUPTED (the call is over), ERR_DAMAGED (the task is not
 * deterministic).
 */
MUST_CHECK bool mcp_task_ask(struct mcp_task *w, struct mcp_question *q,
                             size_t count, struct arena *a, struct err *e);

/*
 * An operation that is executed once, however often the task is run:
 *
 *     mcp_task_once() --> MCP_FIRST: do it, then mcp_task_noted(result)
 *                     --> MCP_DONE:  `*text` is the result that was noted
 *                     --> MCP_CUT:   it was begun, and the process ended: its
 *                                    outcome is unknown; it is not repeated.
 *
 * `what` describes it; a different text than in the last run is ERR_DAMAGED.
 */
enum mcp_once { MCP_FIRST, MCP_DONE, MCP_CUT };
MUST_CHECK bool mcp_task_once(struct mcp_task *w, struct str what,
                              struct arena *a, enum mcp_once *state,
                              struct str *text, struct err *e);
MUST_CHECK bool mcp_task_noted(struct mcp_task *w, struct str text,
                               struct err *e);

/* Milliseconds of work, in former processes, too; waits for the client are not
 * counted. */
uint64_t mcp_task_used_ms(const struct mcp_task *w);
/* When the whole call began, as time(2) counts: the same in each process. */
uint64_t mcp_task_began_s(const struct mcp_task *w);

/* Exactly one of these is the last call of a task. */
void mcp_task_result(struct mcp_task *w, struct str members);
void mcp_task_error(struct mcp_task *w, int code, struct str data,
                    const char *format, ...) PRINTF(4, 5);
/* As mcp_call_missing_capability, and why nothing else will do. */
void mcp_task_missing_capability(struct mcp_task *w, const char *capability,
                                 const char *why);

/* --- serving -------------------------------------------------------------------- */

/* Runs until the end of input or a signal; catches signals
 * (proc_catch_signals). Errors: ERR_IO when output is closed; ERR_LIMIT when
 * too much output is unread; the last message is complete then. */
MUST_CHECK bool mcp_serve(const struct mcp_server *s, int in, int out,
                          struct err *e);

#endif
