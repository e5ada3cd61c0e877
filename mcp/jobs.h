#ifndef MCP_JOBS_H
#define MCP_JOBS_H

#include <sys/types.h>

#include "entries.h"

/*
 * jobs: the processes that work for calls, as the server sees them.
 *
 *     QUEUED --fork--> RUNNING --question--> WAITING --answer--> RUNNING
 *                         `---result, or no call waits---> LEAVING
 *
 * With a stateless client a job outlives its call: the process waits for the
 * retry, which is another call; once it is gone, the job is run again from its
 * entries.
 */

#define JOB_READ_BYTES (64u * 1024)
/* Maximum length of progress text that is delayed or repeated. */
#define JOB_SAID_MAX_CHARS 256

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_WAITING, JOB_LEAVING };

struct question {
    struct str key, method, params;
    const char *capability; /* required of the client; NULL for an unknown
                             * question */
    struct str answer;      /* JSON; "" before it arrives */
    uint64_t id; /* id of the server's request in the sessioned protocol; 0
                  * if none */
};

struct job {
    struct server *s;
    struct job *next;
    enum job_state state;
    pid_t pid;
    int fd;
    struct buf in, out; /* from and to the process */
    size_t out_at;
    struct mcp_call *calls; /* calls that are waiting for the result */
    struct buf said;        /* last progress message */
    bool records;           /* may be run again: the stateless protocol */
    struct hash digest;
    uint64_t began_s;
    struct entries entries;
    unsigned round, onces; /* so far, in this process */
    struct arena asked;    /* the current questions */
    struct question *questions;
    size_t question_count;
    uint64_t ask_ms;    /* deadline of the questions in the sessioned
                         * protocol */
    bool unsent;        /* the questions are delayed until the client is
                         * ready */
    uint64_t expires_s; /* expiry of the suspension in the stateless protocol */
    uint64_t kill_ms;   /* LEAVING: when the process is killed */
};

/* --- jobs.c ------------------------------------------------------------------ */

/* Starts queued jobs while there is room. */
void jobs_start(struct server *s);
/* Runs due timers. Returns the milliseconds until the next one, or -1 if there
 * is none. */
void jobs_tick(struct server *s);
int jobs_patience(const struct server *s);
/* Ends all jobs and the processes that they started. */
void jobs_end(struct server *s);
void job_forget_call(struct mcp_call *c);
void job_attach(struct job *j, struct mcp_call *c);
struct job *job_new(struct mcp_call *c);
/* Answers the call with ENTRY_RESULT or ENTRY_ERROR. */
void call_end(struct mcp_call *c, const struct entry *end);
/* Sends the result of an ended task to all waiting calls. */
void job_finish(struct job *j, const struct entry *end);
/* Ends the process and answers all waiting calls with this error. The task
 * itself has not ended and can be resumed. */
void job_abort(struct job *j, const char *why);
/* Handles the end of the process, with or without a result. */
void job_on_end(struct job *j);

/* --- talk.c ------------------------------------------------------------------ */

/* Reads from and writes to the process. */
void job_read(struct job *j);
void job_write(struct job *j);
void job_send(struct job *j, int kind, struct str body);
void job_send_failed(struct job *j, enum err_code code, const char *message);
/* Repeats the progress of a call if it is due. */
void call_send_progress(struct mcp_call *c, uint64_t now);
/* Returns when progress is due; UINT64_MAX for never. */
uint64_t call_progress_due_ms(const struct mcp_call *c);

/* --- ask.c --------------------------------------------------------------------- */

void job_on_ask(struct job *j, struct str body);
void job_on_once(struct job *j, struct str body);
void job_on_noted(struct job *j, struct str body);
/* Handles the deadline of a question. */
void job_ask_late(struct job *j);
/* Sends delayed questions once the client of a session is ready. */
void jobs_ask(struct server *s);
/* Treats a further request of the client as readiness. */
void jobs_on_client_ready(struct server *s);
/* Passes the answers to the task once all have arrived. Returns false if some
 * are missing. */
bool job_go_on(struct job *j);
/* Handles the cancellation of the client's call. */
void job_withdraw(struct job *j);
void job_take_answer(struct server *s, const struct json *message);

/* --- resume.c -------------------------------------------------------------------- */

/* Returns false if the call was a retry that was answered or joined a job, true
 * if the task must be run, for the first time or again. */
bool job_resume(struct mcp_call *c);
/* Checks that the answers to round `round` are valid. Answers that exist
 * already precede later ones. Errors: ERR_USAGE. */
bool answers_check(const struct entries *x, unsigned round,
                   const struct json *responses, struct err *e);
/* Stores answers that answers_check has accepted. */
bool job_keep_answers(struct job *j, unsigned round,
                      const struct json *responses, struct err *e);
/* Answers all waiting calls with a request to retry. */
void job_suspend(struct job *j);

#endif
