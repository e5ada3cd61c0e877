#ifndef BASE_CONTEXT_H
#define BASE_CONTEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * context: the environment of one command, and the interface to its host.
 *
 *     cli      a terminal     mapm COMMAND
 *     serve    stderr         mapm mcp
 *     tests    a table        unit tests
 *
 * Below cli nothing prints, prompts, reads argv or catches signals: modules
 * report to the host and ask it. All functions may be NULL: then nothing is
 * shown, nothing can be confirmed and nothing is cancelled.
 */

enum notice_level {
    NOTICE_INFO,     /* progress of the work; dropped when quiet */
    NOTICE_WARNING,  /* shown when quiet, too */
    NOTICE_QUESTION, /* belongs to a question that follows: always shown */
};

/* What a yes means. */
enum question_kind {
    QUESTION_CONSENT, /* to the shown plan: --yes answers it */
    QUESTION_TRUST,   /* in code or rules: only a person answers it */
};

struct progress {
    bool is_waiting;      /* for another process that downloads the same */
    unsigned done, total; /* packages */
    uint64_t bytes;       /* received */
    uint64_t elapsed_ms;
};

/*
 * `text` of a notice holds LF between its lines and none at its end; what came
 * from outside is not escaped yet.
 *
 * confirm and choose: ERR_REFUSED when nobody can be asked, ERR_INTERRUPTED
 * when the answer did not come. choose returns the index of one of `choices`
 * and takes the last one at `deadline_ms` (proc_now_ms; 0 = none).
 */
struct host {
    void (*notice)(void *ctx, enum notice_level level, struct str text);
    void (*progress)(void *ctx, const struct progress *p); /* NULL: ended */
    bool (*confirm)(void *ctx, enum question_kind kind, const char *question,
                    bool *yes, struct err *e);
    bool (*choose)(void *ctx, const char *question, const char *const *choices,
                   size_t count, uint64_t deadline_ms, size_t *chosen,
                   struct err *e);
    bool (*can_ask)(void *ctx);
    /* Whether the user wants the work to end. A host whose signals end the
     * process catches them from the first call on (proc_catch_signals). */
    bool (*cancelled)(void *ctx);
    void *ctx;
};

/* Folders of skills that were named instead of, or before, the usual ones. */
struct skill_roots {
    struct str_list workspace; /* instead of the workspace's */
    struct str_list global;    /* instead of the user's */
    struct str_list extra;     /* before the user's */
};

struct context {
    struct arena arena; /* released when the command ends */
    struct str cwd;     /* absolute */
    struct str home;    /* $HOME when absolute, else "" */
    const struct host *host;
    struct skill_roots skill_roots;
    struct str member; /* of the workspace, by name; "" = where `cwd` is */
    bool all_members;  /* of the workspace, not this one alone */
    bool use_global;   /* the user's library instead of the workspace */
    bool is_offline;   /* no request may be made */
    bool is_verbose;   /* every notice, not a summary */
    bool may_prompt;   /* ssh may have a person type a passphrase */
    bool noted_owner;  /* that a mapm.yaml above belongs to another user */
};

void context_note(struct context *cx, const char *format, ...) PRINTF(2, 3);
void context_warn(struct context *cx, const char *format, ...) PRINTF(2, 3);
void context_notice(struct context *cx, enum notice_level level,
                    struct str text);
/* NULL: the work that was shown has ended. */
void context_progress(struct context *cx, const struct progress *p);

/* Before work that waits, as for the network: ERR_INTERRUPTED once the host has
 * cancelled. What waits polls proc_interrupted() itself. */
MUST_CHECK bool context_check_cancelled(const struct context *cx,
                                        struct err *e);

/* Whether a question would reach a person. */
bool context_can_ask(const struct context *cx);
/* Errors: those of struct host. */
MUST_CHECK bool context_confirm(struct context *cx, enum question_kind kind,
                                const char *question, bool *yes, struct err *e);
MUST_CHECK bool context_choose(struct context *cx, const char *question,
                               const char *const *choices, size_t count,
                               uint64_t deadline_ms, size_t *chosen,
                               struct err *e);
/* Consent to a plan. ERR_REFUSED when it was not given: nothing was changed. */
MUST_CHECK bool context_consent(struct context *cx, const char *question,
                                struct err *e);

#endif
