#ifndef MAPM_H
#define MAPM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * mapm: packages for AI agents, skills and MCP servers, inside any program.
 *
 *     host process                           engine process
 *     mapm_plan() ──── request ────────────▶ mapm-engine
 *       callbacks ◀─── notice, progress, ──    modules of mapm
 *                      confirm, ask, event
 *     result      ◀─── records ────────────    ends
 *
 * A `struct mapm` is one workspace. Each operation starts mapm-engine, which is
 * installed with the library, and waits for it: the host process belongs to the
 * host. The library installs no signal handler, changes no umask, limit or
 * environment, creates no thread, and waits for no process but its own. The
 * engine reads the environment and the files of the user, parses what comes
 * from outside, and takes all locks. It ends with the operation, with
 * mapm_close(), and when the host process ends.
 *
 * A first program:
 *
 *     struct mapm *m = mapm_open(&(struct mapm_options){.workspace = "."});
 *     const struct mapm_skill *skills;
 *     size_t count;
 *
 *     if (mapm_search(m, "pdf", 10, &skills, &count))
 *         for (size_t i = 0; i < count; i++)
 *             puts(skills[i].name);
 *     else
 *         fputs(mapm_last_error(m)->messages[0], stderr);
 *     mapm_close(m);
 *
 * examples/host/ has complete programs in C and Python.
 *
 * ## Ownership
 *
 * Results, and the error, are owned by the handle and valid until the next
 * operation on it, or mapm_close(); mapm_apply() leaves those of its
 * mapm_plan() in place. What a callback is given is valid until it returns.
 * Texts are UTF-8 and end with NUL; an absent one is "". Arguments are copied.
 *
 * ## Threads
 *
 * A process may have any number of handles, each used by one thread at a time.
 * Only mapm_cancel() may be called from other threads. Callbacks are called in
 * the thread of the operation; of the same handle they may call mapm_cancel()
 * alone. The thread that called mapm_plan() need not be the one that calls
 * mapm_apply().
 *
 * ## Failing
 *
 * A function that can fail returns false, and mapm_last_error() says why. When
 * the heap of the host process is exhausted, the callback of
 * mapm_on_out_of_memory() is called, then abort(). An exhausted engine is an
 * ordinary error.
 */

#define MAPM_VERSION       "0.1.0"
#define MAPM_VERSION_MAJOR 0
#define MAPM_VERSION_MINOR 1
#define MAPM_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#    pragma GCC visibility push(default)
#endif

/* Of the library that runs, where MAPM_VERSION is that of the header. */
const char *mapm_version(void);

/* `callback` may end the process or write a message, and must not use mapm.
 * NULL: none. Set it before other threads use the library. */
void mapm_on_out_of_memory(void (*callback)(void));

/* --- a workspace ---------------------------------------------------------------- */

struct mapm;

enum mapm_notice {
    MAPM_INFO,
    MAPM_WARNING,
    MAPM_QUESTION, /* belongs to a question that follows */
};

enum mapm_question {
    MAPM_CONSENT, /* to a plan: not asked in mapm_apply(), which is the consent */
    MAPM_TRUST,   /* in a program, in rules: only a person should answer it */
};

struct mapm_progress {
    unsigned done, total; /* packages */
    bool is_waiting;      /* for another process that downloads the same */
    uint64_t bytes;       /* received */
    uint64_t elapsed_ms;
};

/* Zeroed: defaults. */
struct mapm_options {
    const char *workspace; /* a folder; NULL: the current one. The workspace is
                              the nearest folder upwards with a mapm.yaml, else
                              this one */
    const char *libexec;   /* folder of mapm-engine; NULL: $MAPM_LIBEXEC, else
                              where it was installed with the library */
    const char *const *environment; /* of the engine: "NAME=value", NULL at the
                                       end; NULL: that of the process */
    bool use_global; /* the user's library instead of the workspace */
    bool is_offline; /* no request may be made */

    /* All may be NULL: then nothing is shown, and what needs a yes fails with
     * MAPM_REFUSED. `text` has several lines; hidden characters in it are not
     * escaped. */
    void (*notice)(void *ctx, enum mapm_notice level, const char *text);
    void (*progress)(void *ctx,
                     const struct mapm_progress *p); /* NULL: ended */
    bool (*confirm)(void *ctx, enum mapm_question kind, const char *question);
    /* Returns an index of `choices`, of which the last one refuses; that is
     * taken without a callback. Asked before a command of a metaskill that no
     * rule decides: "once", "this run", "always", "no". */
    size_t (*choose)(void *ctx, const char *question,
                     const char *const *choices, size_t count);
    void *ctx;
};

/* Never fails: what is wrong with the options is the error of the first
 * operation. `options` NULL: defaults. */
struct mapm *mapm_open(const struct mapm_options *options);
void mapm_close(struct mapm *m); /* NULL is fine */

/* From any thread: the operation that runs ends with MAPM_INTERRUPTED as soon as
 * it can do so safely, or completes; when none runs, the next one fails. */
void mapm_cancel(struct mapm *m);

/* --- errors ---------------------------------------------------------------------- */

enum mapm_code {
    MAPM_OK,
    MAPM_FAILED, /* none of the others */
    MAPM_USAGE,  /* an argument is wrong */
    MAPM_IO,
    MAPM_NOT_FOUND,
    MAPM_FORMAT, /* a document breaks its grammar */
    MAPM_FRONTMATTER,
    MAPM_NAME,
    MAPM_ORIGIN,
    MAPM_MCP,
    MAPM_LIMIT, /* larger than allowed */
    MAPM_CYCLE,
    MAPM_CONFLICT,
    MAPM_DEPENDENTS,
    MAPM_IMMUTABLE,
    MAPM_STALE,
    MAPM_LOCKED,
    MAPM_EDITED, /* would destroy the user's own changes */
    MAPM_BUSY,
    MAPM_FETCH,
    MAPM_HOST,
    MAPM_TLS,
    MAPM_AUTH,
    MAPM_REF,
    MAPM_PATH,
    MAPM_OFFLINE,
    MAPM_DAMAGED,
    MAPM_REFUSED, /* by policy, trust or safety, or nobody said yes */
    MAPM_INTERRUPTED,
    MAPM_PATCH, /* a patch does not fit what it changes */
};

struct mapm_error {
    enum mapm_code code;
    const char *name;            /* of the code: "not-found" */
    const char *const *messages; /* outermost first; at least one */
    size_t message_count;
    const char *hint; /* what to do; "" = none */
};

/* Of the last operation that failed. */
const struct mapm_error *mapm_last_error(const struct mapm *m);

/* --- packages ---------------------------------------------------------------------- */

struct mapm_package {
    const char *type; /* "agent", "skill", "mcp" */
    const char *name; /* qualified: "acme/pdf" */
    const char *version, *origin, *commit;
    const char *digest; /* "sha256:…" */
    const char *place;  /* folder in the workspace; of an MCP its key */
    const char *prereqs;
    const char *
        action; /* in a plan: "add", "update", "repair", "keep", "remove"; "offer"
                           for what a catalog holds: nothing of it was chosen */
    const char *old_version, *old_commit; /* in a plan */
    const char *command; /* in a plan: of a new MCP, the command line it runs */
    const char *patch;   /* in a plan: of the workspace, for this package, where
                            this machine has not shown it: to be shown */
    bool is_root;        /* asked for by itself, not by another package */
    bool is_local;       /* from a file: origin */
};

/* What is installed, sorted by type and name. */
bool mapm_list(struct mapm *m, const struct mapm_package **out, size_t *count);

struct mapm_finding {
    const char *side; /* which is at fault: "workspace", "manifest", "lock",
                         "proof", "store", "remote" */
    const char *path;
    const char *how; /* "changed", "missing", "not in the lock" … */
};

/* Compares the workspace with the lock and the store; with `remote` also the
 * lock with the git hosts. Changes nothing. No finding: all is as locked. */
bool mapm_verify(struct mapm *m, bool remote, const struct mapm_finding **out,
                 size_t *count);

enum mapm_change_command { MAPM_INSTALL, MAPM_REMOVE, MAPM_UPDATE };

/* Zeroed: install what mapm.yaml asks for. */
struct mapm_change_request {
    enum mapm_change_command command;
    const char *const *arguments; /* origins to install; names to remove, or to
                                     update (none: all) */
    size_t argument_count;
    bool is_locked;   /* nothing but what the lock holds */
    bool is_forced;   /* restores what was edited */
    bool all;         /* that a catalog offers */
    bool with_server; /* adds `mapm mcp` as an MCP server */
    bool is_dry_run;  /* locks nothing, and cannot be applied */
    bool is_strict;   /* one invalid package of a choice is an error */
    /* Of the catalogs in `arguments`, by name, path or pattern ("nuxt-*"): what
     * to take, and what of this or of `all` not. */
    const char *const *skills, *const *agents, *const *mcps, *const *plugins;
    const char *const *skip;
    size_t skill_count, agent_count, mcp_count, plugin_count, skip_count;
    /* For which clients: "claude", "codex" …, "all" or "none"; no one: those in
     * use here. */
    const char *const *clients;
    size_t client_count;
};

/* What was asked for, and is not done. */
struct mapm_omission {
    const char *kind; /* "left-out": a catalog's, cannot be installed; "held",
                         "gone": stays as it is locked; "unsupported": a part, or
                         parts, of the plugin `name` */
    const char *type, *name, *origin;
    const char *code;    /* why, stable; "" of "unsupported" */
    const char *message; /* why, one line */
};

struct mapm_plan {
    const char *workspace;
    const struct mapm_package *packages; /* dependencies first; those that are
                                            removed last */
    size_t package_count;
    const char *const *edits; /* of the user, which stay: one line each */
    size_t edit_count;
    bool is_empty; /* nothing to do: mapm_apply() changes nothing */
    const struct mapm_omission *omissions;
    size_t omission_count;
};

/*
 * Finds what has to change, fetches it into the store, and changes nothing in
 * the workspace, which stays locked for others until mapm_apply(),
 * mapm_discard() or the next operation on `m`.
 */
bool mapm_plan(struct mapm *m, const struct mapm_change_request *request,
               const struct mapm_plan **out);

struct mapm_change {
    const char *action; /* "add", "update", "remove" */
    const char *path;   /* folder, file, or file#key */
};

/* Does what the last mapm_plan() of `m` returned, including the commands of its
 * MCP packages: calling it is the consent. All or nothing; `*out` is what was
 * changed. */
bool mapm_apply(struct mapm *m, const struct mapm_change **out, size_t *count);
void mapm_discard(struct mapm *m); /* without a plan: nothing */

/* --- validation -------------------------------------------------------------------- */

struct mapm_diagnostic {
    const char *path; /* of the document, as reached from the argument */
    const char *code; /* stable: "name-grammar" */
    const char *field, *file;
    const char *message, *hint;
    unsigned line, column; /* from 1; 0: none */
    bool is_error;         /* else a warning */
};

/* Validates every document below `paths` (none: the workspace), as `mapm check`
 * does. `profile`: "install" …, NULL for that. */
bool mapm_lint(struct mapm *m, const char *const *paths, size_t path_count,
               const char *profile, bool is_strict,
               const struct mapm_diagnostic **out, size_t *count);

/* --- skills ------------------------------------------------------------------------- */

struct mapm_skill {
    const char *name, *description, *version;
    const char *source; /* "workspace", "global" */
    const char *root, *folder;
    const char *license, *compatibility, *allowed_tools;
    bool is_metaskill; /* has a program: mapm_run() */
    bool is_mode;
    bool is_disabled;    /* for models: only a person starts it */
    bool is_explicit;    /* mapm_match: named by "/name" or "$name" */
    double score;        /* 0 to 1 */
    const char *trigger; /* the words that counted */
};

/* All that can be seen from the workspace, sorted by name. */
bool mapm_skills(struct mapm *m, const struct mapm_skill **out, size_t *count);

/* The best `limit` that serve `query`, in any words, or contain it. */
bool mapm_search(struct mapm *m, const char *query, size_t limit,
                 const struct mapm_skill **out, size_t *count);

/* The best `limit` for a request in plain words, of at least `score`. */
bool mapm_match(struct mapm *m, const char *request, size_t limit, double score,
                const struct mapm_skill **out, size_t *count);

struct mapm_metadata {
    const char *key, *value;
};

struct mapm_resource {
    const char *path; /* in the skill's folder */
    const char *kind; /* "reference", "script", "asset", "example", "other" */
    uint64_t size;
    bool is_executable, is_text;
};

struct mapm_loaded {
    struct mapm_skill skill;
    const char *text;        /* for a model: header and body */
    const char *version;     /* digest of its SKILL.md */
    uint64_t tokens;         /* estimated, of the body */
    const char *const *tags; /* metadata.tags */
    size_t tag_count;
    const struct mapm_metadata *metadata; /* scalars below metadata: */
    size_t metadata_count;
    const struct mapm_resource *resources; /* all files but SKILL.md */
    size_t resource_count;
};

bool mapm_load(struct mapm *m, const char *name,
               const struct mapm_loaded **out);

/* A file of a skill, of at most 64 KiB; `*text` has a NUL behind its `*length`
 * bytes. */
bool mapm_read_resource(struct mapm *m, const char *name, const char *path,
                        const char **text, size_t *length);

/* --- trust --------------------------------------------------------------------------- */

struct mapm_trusted {
    const char *kind;    /* "metaskill", "policy", "workspace" */
    const char *subject; /* a name, or a folder */
    const char *digest;  /* "sha256:…"; "" of a workspace */
    int64_t since_s;     /* seconds since 1970 */
};

/* What the user accepted on this machine. */
bool mapm_list_trust(struct mapm *m, const struct mapm_trusted **out,
                     size_t *count);

/* Trusts the installed metaskill `name` as it is locked. Its origin, size and
 * differences are shown by the notice callback, then confirm is called with
 * MAPM_TRUST. Nothing is asked when it is trusted already. */
bool mapm_trust(struct mapm *m, const char *name);

/* Forgets every trusted version of the metaskill `name`; MAPM_NOT_FOUND when
 * there is none. */
bool mapm_revoke_trust(struct mapm *m, const char *name);

/* --- metaskills ------------------------------------------------------------------------ */

struct mapm_ask {
    unsigned number; /* from 1 */
    const char *prompt, *purpose;
    unsigned max_turns;
    size_t max_chars; /* a longer answer is cut */
};

struct mapm_answer {
    const char *text; /* NULL fails the run; valid until the callback is called
                         again or mapm_run() returns */
    unsigned turns;
    bool is_exhausted; /* max_turns were not enough */
};

struct mapm_event {
    const char
        *kind;       /* "start", "ask", "command", "trace", "print", "finish" */
    unsigned number; /* ask, command: from 1 */
    bool is_done;    /* ask, command: first without, then with */
    bool is_failed;
    uint64_t at_ms, took_ms;
    const char *text; /* prompt or answer; command line or result; kind of a
                         trace; line; status */
    const char *data; /* trace: a JSON object */
};

struct mapm_run_request {
    const char *name;         /* of a metaskill, or the path of its folder */
    const char *input;        /* a JSON object; NULL: {} */
    const char *const *allow; /* rules for commands: "git diff *" */
    size_t allow_count;
    /* Answers ask() of the program. NULL: the back end that the user
     * configured, or `backend`. */
    bool (*ask)(void *ctx, const struct mapm_ask *ask, struct mapm_answer *out);
    const char *backend; /* as `mapm run --ask`; NULL: configured */
    void (*event)(void *ctx, const struct mapm_event *event); /* may be NULL */
    void *ctx;
};

struct mapm_run_result {
    bool is_completed;
    const char *text;     /* what run() returned; "error: …" */
    const char *envelope; /* a JSON object; "" unless completed */
    const char *status;
    const char *report; /* traceback of an error in the program */
    unsigned asks, commands, traces;
    uint64_t took_ms;
};

/* Runs a metaskill. False when it could not be started: not found, not trusted
 * (confirm is called with MAPM_TRUST), bad input, or canceled; true with
 * is_completed false when the program failed. */
bool mapm_run(struct mapm *m, const struct mapm_run_request *request,
              const struct mapm_run_result **out);

#if defined __GNUC__
#    pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
