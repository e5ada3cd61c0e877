#ifndef MAPM_H
#define MAPM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * libmapm: manage and use packages of AI agents, skills and MCP servers from
 * any C program.
 *
 *     host process                           engine process
 *     mapm_plan() ──── request ────────────▶ mapm-engine
 *       callbacks ◀─── notice, progress, ──    modules of mapm
 *                      confirm, ask, event
 *     result      ◀─── records ────────────    exits
 *
 * A `struct mapm` is a handle for one workspace. Each operation on it starts
 * the program mapm-engine, which is installed with the library, and waits for
 * its result. The engine reads the environment and the user's files, parses
 * untrusted input and takes the locks, so the host process is left unchanged:
 * the library installs no signal handler, creates no thread, does not change
 * the umask, resource limits or environment, and waits for no child process
 * except its own. The engine exits when the operation is complete, on
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
 * The handle owns all results and the error. They are valid until the next
 * operation on the handle, or until mapm_close(); mapm_apply() is the exception
 * and keeps the results of its mapm_plan(). The arguments of a callback are
 * valid until it returns. Strings are UTF-8 and end with NUL; a string without
 * a value is "", not NULL. The library copies the arguments that it keeps.
 *
 * ## Threads
 *
 * A process may have any number of handles, each used by one thread at a time.
 * Only mapm_cancel() may be called from another thread. Callbacks run in the
 * thread that called the operation; the only function that they may call on the
 * same handle is mapm_cancel(). mapm_plan() and mapm_apply() may be called from
 * different threads.
 *
 * ## Errors
 *
 * A function that can fail returns false; mapm_last_error() then describes the
 * error. If the heap of the host process is exhausted, the library calls the
 * callback of mapm_on_out_of_memory(), then abort(). If the engine runs out of
 * memory, the operation fails with an ordinary error.
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

/* Returns the version of the library at run time; MAPM_VERSION is the version
 * of the header at compile time. */
const char *mapm_version(void);

/* Sets the function to call before abort() when the heap is exhausted; NULL
 * removes it. `callback` may end the process or write a message, but must not
 * call the library. Call this before other threads use the library. */
void mapm_on_out_of_memory(void (*callback)(void));

/* --- a workspace ---------------------------------------------------------------- */

struct mapm;

enum mapm_notice {
    MAPM_INFO,
    MAPM_WARNING,
    MAPM_QUESTION, /* context of the question that follows */
};

enum mapm_question {
    MAPM_CONSENT, /* to a plan; not asked by mapm_apply(), which is the consent
                     itself */
    MAPM_TRUST,   /* in a program or rules; only the user should answer it */
};

struct mapm_progress {
    unsigned done, total; /* packages */
    bool is_waiting;      /* another process is downloading the same package */
    uint64_t bytes;       /* bytes received */
    uint64_t elapsed_ms;
};

/* A zeroed struct selects the defaults. */
struct mapm_options {
    /* Folder to start in; NULL for the current folder. The workspace is the
     * nearest folder upwards that has a mapm.yaml, or this folder if there is
     * none. */
    const char *workspace;
    /* Folder of mapm-engine; NULL for $MAPM_LIBEXEC, or else the folder that it
     * was installed into with the library. */
    const char *libexec;
    /* Environment of the engine: "NAME=value" strings, ended by NULL; NULL for
     * the environment of the process. */
    const char *const *environment;
    bool use_global; /* use the user's library, not the workspace */
    bool is_offline; /* make no network request */

    /* Each callback may be NULL. Without them nothing is shown, and an
     * operation that needs consent fails with MAPM_REFUSED. `text` may have
     * several lines; hidden characters in it are not escaped. */
    void (*notice)(void *ctx, enum mapm_notice level, const char *text);
    void (*progress)(void *ctx,
                     const struct mapm_progress *p); /* NULL: finished */
    bool (*confirm)(void *ctx, enum mapm_question kind, const char *question);
    /* Returns the index of an item of `choices`; the last one means refusal,
     * and is the default if this callback or `confirm` is NULL. Called before a
     * metaskill runs a command that no rule allows or denies, with the choices
     * "once", "this run", "always" and "no". */
    size_t (*choose)(void *ctx, const char *question,
                     const char *const *choices, size_t count);
    void *ctx;
};

/* Returns a new handle, never NULL: invalid options are reported as the error
 * of the first operation. `options` may be NULL for the defaults. */
struct mapm *mapm_open(const struct mapm_options *options);
void mapm_close(struct mapm *m); /* `m` may be NULL */

/* Cancels the running operation; may be called from any thread. The operation
 * fails with MAPM_INTERRUPTED as soon as it can stop safely, or completes. If
 * no operation is running, the next one fails. */
void mapm_cancel(struct mapm *m);

/* --- errors ---------------------------------------------------------------------- */

enum mapm_code {
    MAPM_OK,
    MAPM_FAILED, /* any other error */
    MAPM_USAGE,  /* invalid argument */
    MAPM_IO,
    MAPM_NOT_FOUND,
    MAPM_FORMAT, /* a document does not match its grammar */
    MAPM_FRONTMATTER,
    MAPM_NAME,
    MAPM_ORIGIN,
    MAPM_MCP,
    MAPM_LIMIT, /* a limit is exceeded */
    MAPM_CYCLE,
    MAPM_CONFLICT,
    MAPM_DEPENDENTS,
    MAPM_IMMUTABLE,
    MAPM_STALE,
    MAPM_LOCKED,
    MAPM_EDITED, /* would overwrite local edits of the user */
    MAPM_BUSY,
    MAPM_FETCH,
    MAPM_HOST,
    MAPM_TLS,
    MAPM_AUTH,
    MAPM_REF,
    MAPM_PATH,
    MAPM_OFFLINE,
    MAPM_DAMAGED,
    /* Refused by policy, trust or a safety rule, or consent was not given. */
    MAPM_REFUSED,
    MAPM_INTERRUPTED,
    MAPM_PATCH, /* a patch does not apply */
};

struct mapm_error {
    enum mapm_code code;
    const char *name;            /* name of the code: "not-found" */
    const char *const *messages; /* outermost first; at least one */
    size_t message_count;
    const char *hint; /* what the user can do; "" if unknown */
};

/* Returns the error of the last failed operation; never NULL. */
const struct mapm_error *mapm_last_error(const struct mapm *m);

/* --- packages ---------------------------------------------------------------------- */

/* An installed package, or one of a plan. */
struct mapm_package {
    const char *type; /* "agent", "skill", "mcp" */
    const char *name; /* qualified name: "acme/pdf" */
    const char *version, *origin, *commit;
    const char *digest; /* "sha256:…" */
    const char *place;  /* folder in the workspace; key of an MCP server */
    const char *prereqs;
    /* In a plan: "add", "update", "repair", "keep" or "remove"; "offer" for a
     * package of a catalog from which nothing was selected. */
    const char *action;
    const char *old_version, *old_commit; /* in a plan: the versions before the
                                             change */
    const char *command; /* in a plan: command line that a new MCP server
                            runs */
    /* In a plan: the workspace's patch for this package, if the user of this
     * machine has not seen it yet; the host should show it. */
    const char *patch;
    bool is_root;  /* requested directly, not as a dependency */
    bool is_local; /* installed from a file: origin */
};

/* Lists the installed packages, sorted by type and name. */
bool mapm_list(struct mapm *m, const struct mapm_package **out, size_t *count);

struct mapm_finding {
    /* What differs: "workspace", "manifest", "lock", "proof", "store" or
     * "remote". */
    const char *side;
    const char *path;
    const char *how; /* "changed", "missing", "not in the lock" … */
};

/* Compares the workspace with the lock and the store and, with `remote`, the
 * lock with the git hosts. Changes nothing. No findings means that everything
 * is as locked. */
bool mapm_verify(struct mapm *m, bool remote, const struct mapm_finding **out,
                 size_t *count);

enum mapm_change_command { MAPM_INSTALL, MAPM_REMOVE, MAPM_UPDATE };

/* A zeroed struct installs the packages that mapm.yaml requires. */
struct mapm_change_request {
    enum mapm_change_command command;
    /* Origins to install, or names to remove or update; no names to update
     * means all packages. */
    const char *const *arguments;
    size_t argument_count;
    bool is_locked;   /* install exactly the contents of the lock */
    bool is_forced;   /* overwrite local edits */
    bool all;         /* install every package that a catalog offers */
    bool with_server; /* add `mapm mcp` as an MCP server */
    bool is_dry_run;  /* do not lock the workspace; the plan cannot be
                         applied */
    bool is_strict;   /* fail if any selected package is invalid */
    /* Packages to install from the catalogs in `arguments`, by name, path or
     * pattern ("nuxt-*"). `skip` excludes packages from these lists and from
     * `all`. */
    const char *const *skills, *const *agents, *const *mcps, *const *plugins;
    const char *const *skip;
    size_t skill_count, agent_count, mcp_count, plugin_count, skip_count;
    /* Clients to install for: "claude", "codex" …, "all" or "none". An empty
     * list selects the clients in use here. */
    const char *const *clients;
    size_t client_count;
};

/* A requested change that the plan does not include. */
struct mapm_omission {
    /* "left-out": a package of a catalog that cannot be installed; "held",
     * "gone": a package that stays as it is locked; "unsupported": a part, or
     * several parts, of the plugin `name`. */
    const char *kind;
    const char *type, *name, *origin;
    const char *code;    /* stable code of the reason; "" for "unsupported" */
    const char *message; /* the reason, in one line */
};

struct mapm_plan {
    const char *workspace;
    /* Dependencies come before their dependents, removed packages last. */
    const struct mapm_package *packages;
    size_t package_count;
    const char *const *edits; /* preserved local edits, one line each */
    size_t edit_count;
    bool is_empty; /* nothing to do; mapm_apply() will change nothing */
    const struct mapm_omission *omissions;
    size_t omission_count;
};

/* Computes the changes and fetches the packages into the store, without
 * changing the workspace. The workspace stays locked against other processes
 * until mapm_apply(), mapm_discard() or the next operation on `m`. */
bool mapm_plan(struct mapm *m, const struct mapm_change_request *request,
               const struct mapm_plan **out);

struct mapm_change {
    const char *action; /* "add", "update", "remove" */
    const char *path;   /* folder, file, or file#key */
};

/* Applies the last plan of `m`, either completely or not at all. Calling it is
 * the consent to the plan, including the commands of its MCP packages. Sets
 * `*out` to the changes made. */
bool mapm_apply(struct mapm *m, const struct mapm_change **out, size_t *count);
void mapm_discard(struct mapm *m); /* without a plan: does nothing */

/* --- validation -------------------------------------------------------------------- */

struct mapm_diagnostic {
    const char *path; /* path of the document, as seen from the current
                         folder */
    const char *code; /* stable code: "name-grammar" */
    const char *field, *file;
    const char *message, *hint;
    unsigned line, column; /* count from 1; 0 if unknown */
    bool is_error;         /* otherwise a warning */
};

/* Validates every document below `paths` (if there are none, the workspace) as
 * `mapm check` does. `profile` is the name of a check profile; NULL for
 * "install". */
bool mapm_lint(struct mapm *m, const char *const *paths, size_t path_count,
               const char *profile, bool is_strict,
               const struct mapm_diagnostic **out, size_t *count);

/* --- skills ------------------------------------------------------------------------- */

struct mapm_skill {
    const char *name, *description, *version;
    const char *source; /* "workspace", "global" */
    const char *root, *folder;
    const char *license, *compatibility, *allowed_tools;
    bool is_metaskill; /* has a program, which mapm_run() runs */
    bool is_mode;
    bool is_disabled;    /* hidden from models; only the user can start it */
    bool is_explicit;    /* mapm_match(): named in the request, as "/name" or
                            "$name" */
    double score;        /* relevance, 0 to 1 */
    const char *trigger; /* words of the request that matched */
};

/* Lists all skills that are visible from the workspace, sorted by name. */
bool mapm_skills(struct mapm *m, const struct mapm_skill **out, size_t *count);

/* Returns at most `limit` skills (1 to 50) that fit `query`, a request in any
 * words or a part of a name or description; the best match first. */
bool mapm_search(struct mapm *m, const char *query, size_t limit,
                 const struct mapm_skill **out, size_t *count);

/* Returns at most `limit` skills (1 to 50) with at least `score` for a natural
 * language request, which may name skills; the best match first. */
bool mapm_match(struct mapm *m, const char *request, size_t limit, double score,
                const struct mapm_skill **out, size_t *count);

struct mapm_metadata {
    const char *key, *value;
};

struct mapm_resource {
    const char *path; /* path in the skill's folder */
    const char *kind; /* "reference", "script", "asset", "example", "other" */
    uint64_t size;
    bool is_executable, is_text;
};

struct mapm_loaded {
    struct mapm_skill skill;
    const char *text;        /* text for a model: header and body */
    const char *version;     /* digest of SKILL.md */
    uint64_t tokens;         /* estimated tokens of the body */
    const char *const *tags; /* metadata.tags */
    size_t tag_count;
    const struct mapm_metadata *metadata; /* scalar values of metadata */
    size_t metadata_count;
    const struct mapm_resource *resources; /* all files except SKILL.md */
    size_t resource_count;
};

bool mapm_load(struct mapm *m, const char *name,
               const struct mapm_loaded **out);

/* Reads a file of a skill, of at most 64 KiB. `*text` holds `*length` bytes,
 * followed by a NUL. */
bool mapm_read_resource(struct mapm *m, const char *name, const char *path,
                        const char **text, size_t *length);

/* --- trust --------------------------------------------------------------------------- */

struct mapm_trusted {
    const char *kind;    /* "metaskill", "policy", "workspace" */
    const char *subject; /* name or folder */
    const char *digest;  /* "sha256:…"; "" for a workspace */
    int64_t since_s;     /* seconds since 1970 */
};

/* Lists the trust decisions of the user on this machine. */
bool mapm_list_trust(struct mapm *m, const struct mapm_trusted **out,
                     size_t *count);

/* Trusts the installed metaskill `name` in its locked version. Shows its
 * origin, size and differences by the notice callback, then calls confirm with
 * MAPM_TRUST; calls neither if it is already trusted. */
bool mapm_trust(struct mapm *m, const char *name);

/* Revokes trust in every version of the metaskill `name`. Fails with
 * MAPM_NOT_FOUND if none is trusted. */
bool mapm_revoke_trust(struct mapm *m, const char *name);

/* --- metaskills ------------------------------------------------------------------------ */

struct mapm_ask {
    unsigned number; /* counts from 1 */
    const char *prompt, *purpose;
    unsigned max_turns;
    size_t max_chars; /* longer answers are truncated */
};

struct mapm_answer {
    /* Must be valid until the next call of the callback, or until mapm_run()
     * returns; NULL fails the run. */
    const char *text;
    unsigned turns;
    bool is_exhausted; /* the model reached max_turns before it finished */
};

struct mapm_event {
    /* "start", "ask", "command", "trace", "print" or "finish". */
    const char *kind;
    unsigned number; /* ask, command: number of the call, from 1 */
    /* ask, command: sent twice, first with false, then with true on
     * completion. */
    bool is_done;
    bool is_failed;
    uint64_t at_ms, took_ms;
    /* ask: prompt, then answer; command: command line, then result; trace: its
     * kind; print: the line; finish: the status. */
    const char *text;
    const char *data; /* trace: its data, a JSON object */
};

struct mapm_run_request {
    const char *name;         /* name of a metaskill, or path of its folder */
    const char *input;        /* JSON object; NULL for {} */
    const char *const *allow; /* rules that allow commands: "git diff *" */
    size_t allow_count;
    /* Answers the ask() calls of the program. NULL to use `backend`, or the
     * model backend that the user configured. */
    bool (*ask)(void *ctx, const struct mapm_ask *ask, struct mapm_answer *out);
    const char *backend; /* as for `mapm run --ask`; NULL: the configured one */
    void (*event)(void *ctx, const struct mapm_event *event); /* may be NULL */
    void *ctx;
};

struct mapm_run_result {
    bool is_completed;
    const char *text;     /* return value of run(), or "error: …" */
    const char *envelope; /* JSON object; "" if the run failed */
    const char *status;
    const char *report; /* traceback of a program error */
    unsigned asks, commands, traces;
    uint64_t took_ms;
};

/* Runs a metaskill. Returns false if it cannot be started: it does not exist,
 * the input is invalid, the user does not trust it (confirm is called with
 * MAPM_TRUST), or the operation was canceled. If the program starts and then
 * fails, returns true with is_completed false. */
bool mapm_run(struct mapm *m, const struct mapm_run_request *request,
              const struct mapm_run_result **out);

#if defined __GNUC__
#    pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
