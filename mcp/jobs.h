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

#define JOB_READ_BYTES     (64u * 1024)
#define JOB_SAID_MAX_CHARS 256 /* of it, when it waits or is repeated */

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_WAITING, JOB_LEAVING };

struct question {
    struct str key, method, params;
    const char *capability; /* that the client needs; NULL: no such question */
    struct str answer;      /* JSON; "" = not yet */
    uint64_t id; /* of our request in the sessioned protocol; 0: none */
};

struct job {
    struct server *s;
    struct job *next;
    enum job_state state;
    pid_t pid;
    int fd;
    struct buf in, out; /* from and to the process */
    size_t out_at;
    struct mcp_call *calls; /* calls that wait for the result */
    struct buf said;        /* with its last progress */
    bool records;           /* may be run again: the stateless protocol */
    struct hash digest;
    uint64_t began_s;
    struct entries entries;
    unsigned round, onces; /* so far, in this process */
    struct arena asked;    /* the current questions */
    struct question *questions;
    size_t question_count;
    uint64_t ask_ms;    /* until when, in the sessioned protocol */
    bool unsent;        /* and its questions wait for the client to be ready */
    uint64_t expires_s; /* of the suspension, in the new one */
    uint64_t kill_ms;   /* LEAVING: when patience ends */
};

/* --- jobs.c ------------------------------------------------------------------ */

/* Forks what there is room for. */
void jobs_start(struct server *s);
/* Runs timers that are due; returns the milliseconds until the next, -1 for
 * none. */
void jobs_tick(struct server *s);
int jobs_patience(const struct server *s);
/* All of them, with all that they started. */
void jobs_end(struct server *s);
void job_forget_call(struct mcp_call *c);
void job_attach(struct job *j, struct mcp_call *c);
struct job *job_new(struct mcp_call *c);
/* The answer that an end is: ENTRY_RESULT, ENTRY_ERROR. */
void call_end(struct mcp_call *c, const struct entry *end);
/* The task has ended: its result is sent to all waiting calls. */
void job_finish(struct job *j, const struct entry *end);
/* Ends the process; all waiting calls get this error. The task itself has not
 * ended, and can be resumed. */
void job_abort(struct job *j, const char *why);
/* The process ended, maybe without a word. */
void job_on_end(struct job *j);
/* The process is to go. */
void job_stop(struct job *j);

/* --- talk.c ------------------------------------------------------------------ */

/* Something can be read from it, or written to it. */
void job_read(struct job *j);
void job_write(struct job *j);
void job_tell(struct job *j, int kind, struct str body);
void job_tell_failed(struct job *j, enum err_code code, const char *message);
/* Repeats progress for waiting calls where it is due. */
void call_send_progress(struct mcp_call *c, uint64_t now);
/* When that is: UINT64_MAX for never. */
uint64_t call_progress_due_ms(const struct mcp_call *c);

/* --- ask.c --------------------------------------------------------------------- */

void job_on_ask(struct job *j, struct str body);
void job_on_once(struct job *j, struct str body);
void job_on_noted(struct job *j, struct str body);
/* Its patience ended. */
void job_ask_late(struct job *j);
/* The client of a session is ready: delayed questions are sent. */
void jobs_ask(struct server *s);
/* The client sent another request, which counts as readiness, too. */
void jobs_on_client_ready(struct server *s);
/* All answers have arrived and are passed to the task. False: some are
 * missing. */
bool job_go_on(struct job *j);
/* The client cancelled its call. */
void job_withdraw(struct job *j);
void job_take_answer(struct server *s, const struct json *message);

/* --- resume.c -------------------------------------------------------------------- */

/* False: it was a retry, and has its answer or its job. True: it is to be
 * done, for the first time or again. */
bool job_resume(struct mcp_call *c);
/* Answers to round `round` among these are such; those that are there already
 * count, whatever comes later. Errors: ERR_USAGE. */
bool answers_check(const struct entries *x, unsigned round,
                   const struct json *responses, struct err *e);
/* Stores answers that answers_check has accepted. */
bool job_keep_answers(struct job *j, unsigned round,
                      const struct json *responses, struct err *e);
/* All waiting calls are answered with a request to retry. */
void job_suspend(struct job *j);

#endif
