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
 * Modules below cli do not print, prompt, read argv or catch signals; they use
 * these callbacks of the host. Each callback may be NULL: then notices are
 * dropped, questions fail and nothing is cancelled.
 */

enum notice_level {
    NOTICE_INFO,     /* progress; not shown when quiet */
    NOTICE_WARNING,  /* also shown when quiet */
    NOTICE_QUESTION, /* context of the question that follows; always shown */
};

/* What the user consents to. */
enum question_kind {
    QUESTION_CONSENT, /* the plan that was shown; --yes consents */
    QUESTION_TRUST,   /* trust in code or rules; only the user can consent */
};

struct progress {
    bool is_waiting;      /* another process is downloading the same package */
    unsigned done, total; /* packages */
    uint64_t bytes;       /* bytes received */
    uint64_t elapsed_ms;
};

/*
 * The `text` of a notice separates its lines by LF and has none at the end;
 * text from untrusted sources in it is not escaped.
 *
 * confirm and choose fail with ERR_REFUSED if the user cannot be asked, and
 * with ERR_INTERRUPTED if there is no answer. choose returns the index of an
 * item of `choices`, the last one at `deadline_ms` (as proc_now_ms; 0 for no
 * deadline).
 */
struct host {
    void (*notice)(void *ctx, enum notice_level level, struct str text);
    void (*progress)(void *ctx, const struct progress *p); /* NULL: finished */
    bool (*confirm)(void *ctx, enum question_kind kind, const char *question,
                    bool *yes, struct err *e);
    bool (*choose)(void *ctx, const char *question, const char *const *choices,
                   size_t count, uint64_t deadline_ms, size_t *chosen,
                   struct err *e);
    bool (*can_ask)(void *ctx);
    /* Returns whether the user cancelled the work. A host that would be killed
     * by signals starts to catch them at the first call
     * (proc_catch_signals). */
    bool (*cancelled)(void *ctx);
    void *ctx;
};

/* Folders of skills that replace or precede the default ones. */
struct skill_roots {
    struct str_list workspace; /* replace those of the workspace */
    struct str_list global;    /* replace those of the user */
    struct str_list extra;     /* precede those of the user */
};

struct context {
    struct arena arena; /* released when the command ends */
    struct str cwd;     /* current folder, absolute */
    struct str home;    /* $HOME if it is absolute, otherwise "" */
    const struct host *host;
    struct skill_roots skill_roots;
    /* Name of the selected workspace member; "" for the member that contains
     * `cwd`. */
    struct str member;
    bool all_members; /* all workspace members are selected */
    bool use_global;  /* use the user's library, not the workspace */
    bool is_offline;  /* make no network request */
    bool is_verbose;  /* show every notice, not a summary */
    bool may_prompt;  /* ssh may prompt for a passphrase */
    /* The notice about a mapm.yaml of another user in a parent folder was
     * given. */
    bool noted_owner;
};

void context_note(struct context *cx, const char *format, ...) PRINTF(2, 3);
void context_warn(struct context *cx, const char *format, ...) PRINTF(2, 3);
void context_notice(struct context *cx, enum notice_level level,
                    struct str text);
/* `p` is NULL when the work is finished. */
void context_progress(struct context *cx, const struct progress *p);

/* Fails with ERR_INTERRUPTED if the host has cancelled the work. Call it before
 * blocking work such as network requests; loops that wait poll
 * proc_interrupted(). */
MUST_CHECK bool context_check_cancelled(const struct context *cx,
                                        struct err *e);

/* Returns whether the environment variable CI is set to anything but "",
 * "false" and "0". */
bool context_is_ci(void);

/* Returns whether a question can be shown to the user. */
bool context_can_ask(const struct context *cx);
/* Errors: as in struct host. */
MUST_CHECK bool context_confirm(struct context *cx, enum question_kind kind,
                                const char *question, bool *yes, struct err *e);
MUST_CHECK bool context_choose(struct context *cx, const char *question,
                               const char *const *choices, size_t count,
                               uint64_t deadline_ms, size_t *chosen,
                               struct err *e);
/* Asks for consent to a plan. Fails with ERR_REFUSED, saying that nothing was
 * changed, if it is not given. */
MUST_CHECK bool context_consent(struct context *cx, const char *question,
                                struct err *e);

#endif
