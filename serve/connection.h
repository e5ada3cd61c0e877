#ifndef SERVE_CONNECTION_H
#define SERVE_CONNECTION_H

#include "base/json.h"
#include "base/map.h"
#include "base/yaml.h"
#include "mapm/layer.h"
#include "mapm/library.h"
#include "mapm/mcp.h"
#include "mapm/run.h"
#include "mapm/serve.h"
#include "mapm/store.h"

/*
 * serve: the state of `mapm mcp`. One connection is one session: a snapshot of
 * the library, its budgets, its events.
 *
 *     serve.c       opens everything, then calls mcp_serve()
 *     exposure.c    the metaskills a model may start, the skills it may see
 *     tools.c       descriptors of tools, and those that answer at once
 *     answer.c      results of tools
 *     event.c       events of tools
 *     run.c         run_metaskill, as a task
 *     ask.c         its asks and commands: each once, however often it is run
 *     uri.c         skill://scope/name/file, and back
 *     resources.c   skills as resources and folders
 *     skills.c      skills with their digests (the Skills extension)
 *     yaml.c        their frontmatter as JSON
 *     prompts.c     metaskills as prompts; completion
 *     input_keys.c  their arguments
 *     journal.c     calls that outlast the process
 *     retention.c   limits of the journal
 *     watch.c       --watch
 *
 * Source: REQUIREMENTS K17, K36, K42, K43, T15 to T29, L6, L14, X11, X27;
 * THREATS row 23; docs/clients.md.
 */

#define SERVE_TEXT_MAX_BYTES (16u * 1024 * 1024) /* maximum size of a result */

struct serve_watch;
struct serve_journal;

struct serve {
    struct context *cx;
    const struct serve_options *options;
    struct store *store; /* NULL if there is no folder for it */
    struct layer layer;  /* the workspace */
    struct layer global; /* the user's library; only if `has_global` */
    bool has_global;
    bool workspace_trusted;
    bool sampling; /* --ask sampling */
    bool nested;   /* started within a model call: runs nothing */

    struct library *library;
    struct library_session session;
    struct arena session_arena;
    struct str session_id;
    struct map started; /* disabled skills whose prompt was requested */
    uint64_t call_ms;   /* start of the current tool call */
    unsigned failures;  /* number of failures written as events */
    uint64_t busy_ms;   /* no write to mapm.db is retried before this time */

    struct map unserved; /* skills missing from skills/list that were
                          * reported */

    /* Derived from the library on demand, dropped when it changes. Each has its
     * own arena, as they are dropped separately. */
    struct arena tool_snap;
    const struct library_skill **runnable; /* metaskills that may be offered */
    size_t runnable_count;
    struct str *names; /* enum of run_metaskill, sorted */
    size_t name_count;
    bool has_skills;        /* visible to models */
    struct mcp_tool *tools; /* NULL before the first use */
    size_t tool_count;
    unsigned tools_made, prompts_made; /* number of rebuilds, and its value
                                        * when prompts were built */
    struct arena verdict_snap;
    uint8_t *verdicts; /* per skill; NULL before the first use */
    struct arena resource_snap;
    struct mcp_resource *resources;
    size_t resource_count;
    struct arena snap; /* of the prompts */
    struct mcp_prompt *prompts;
    size_t prompt_count;

    bool is_verified;              /* the library was checked, and is kept */
    int hold_fd;                   /* without --watch: see mcp.c */
    struct serve_watch *watch;     /* NULL without --watch */
    struct serve_journal *journal; /* NULL if calls are never suspended */
    struct mcp_server server;
};

/* Drops everything that is derived from the library. */
void serve_forget(struct serve *s);
/* Reads the workspace, the user's library and trust again if they changed. */
MUST_CHECK bool serve_open_layers(struct serve *s, struct err *e);

/* --- exposure.c -------------------------------------------------------------- */

/* Returns whether a model may start the skill according to the locks, and
 * whether it would start: its program compiles and its files are those that
 * were installed. The latter is cached until the library changes. */
bool serve_offers(struct serve *s, const struct library_skill *skill);
/* Returns how the skill is listed in the instructions (A4, K15). `ctx` is the
 * struct serve, after serve_tools(). */
enum library_entry serve_entry(void *ctx, const struct library_skill *skill);
/* Returns whether the offered metaskills differ from `names` because trust
 * changed. */
bool serve_offers_others(struct serve *s);
/* Returns whether a model may see the skill (L6): a disabled one only after the
 * user requested its prompt in this session. */
bool serve_shows(const struct serve *s, const struct library_skill *skill);
/* Likewise, with ERR_REFUSED as reason, as in library_load(). */
MUST_CHECK bool serve_check_shown(const struct serve *s,
                                  const struct library_skill *skill,
                                  struct err *e);
/* Answers a call that is not of a tool with this error. */
void serve_refuse(struct mcp_call *c, const struct err *e);

/* --- mcp_tools.c -------------------------------------------------------------- */

bool serve_tools(void *ctx, struct arena *a, const struct mcp_tool **out,
                 size_t *count);
void serve_call(void *ctx, struct str tool, const struct json *arguments,
                struct mcp_call *c);
void serve_forget_tools(struct serve *s);

/* --- mcp_answer.c ------------------------------------------------------------ */

/* The result of a tool, as text for models and JSON for programs. */
struct serve_result {
    struct str text, more; /* text, and a second text or "" */
    struct str structured; /* JSON object, or "" */
    bool is_error;
    bool is_cut; /* too large for a message: replaced by an error */
};
/* Returns the members for mcp_call_result(), allocated in `a`.
 * `with_structured`: the client's revision supports structured content. */
struct str serve_members(const struct serve_result *r, bool with_structured,
                         struct arena *a);
bool serve_knows_structured(const struct mcp_call *c);
void serve_answer(struct mcp_call *c, const struct serve_result *r);
/* Answers with the message and hint of an error as text for a model. */
void serve_answer_error(struct serve *s, struct mcp_call *c,
                        const struct err *e);
/* Writes the member "messages" with one text of the role user. */
void serve_put_messages(struct json_writer *w, struct str text);
/* Formats "what: cause", allocated in `a`. */
struct str serve_error_text(const struct err *e, struct arena *a);
/* Returns the members of a JSON object without its braces. */
struct str serve_inside(const struct buf *object);

/* Maximum wait for other writers of mapm.db. */
#define SERVE_PATIENCE_MS 1000

/* --- mcp_event.c ---------------------------------------------------------------- */

/* skill.loaded (T23): a failed write is reported on stderr only. */
void serve_event_loaded(struct serve *s, const struct library_loaded *l,
                        const struct mcp_call *c);
/* tool.failed and tool.input_invalid (T29), the first ones of a session. Not
 * for run_metaskill: the history of runs has its failures. */
void serve_event_failed(struct serve *s, enum err_code code, struct str why,
                        const struct mcp_call *c);
void serve_event_invalid(struct serve *s, struct str why,
                         const struct mcp_call *c);

/* --- mcp_run.c ------------------------------------------------------------------ */

void serve_run(struct serve *s, const struct json *arguments,
               struct mcp_call *c);

/* --- mcp_ask.c --------------------------------------------------------------------- */

/* A run of a metaskill in its process. */
struct serve_job {
    struct serve *s;
    struct mcp_task *task;
    struct arena *a;
    struct str name; /* as visible to the model */
    const struct json *arguments;
    struct store *store;
    struct layer layer; /* layer when the process started */
    struct run_result *result;

    bool has_waited;           /* waited for the client, so permissions may have
                      * changed */
    const struct err *refusal; /* reason why the run is no longer allowed, or
                                * NULL */
    struct str lacks;          /* capability that the client lacks, or "" */
    uint64_t since_ms;
    struct str doing; /* current step, for progress */
    char doing_text[256];
};
/* Hooks of the run; `ctx` is the struct serve_job. */
bool serve_ask(void *ctx, struct run_execution *x, const struct ask *in,
               struct arena *a, struct answer *out, struct err *e);
bool serve_command(void *ctx, struct run_execution *x, const struct command *in,
                   struct arena *a, struct command_result *out, struct err *e);
void serve_step(void *ctx, const struct step *s);

/* --- mcp_uri.c ------------------------------------------------------------------------ */

/* Formats "skill://scope/name" and, with `path`, "/path", allocated in `a`. */
struct str serve_uri(const struct library_skill *skill, struct str path,
                     struct arena *a);
/* Finds the skill of `uri` and the path in it, "" for its folder. Returns false
 * if there is none, or the path is not served (library_path_is_served). */
bool serve_uri_find(const struct library *l, struct str uri, struct arena *a,
                    const struct library_skill **skill, struct str *path);
/* Returns the media type for the suffix of a path. */
struct str serve_mime(struct str path, bool is_text);

/* --- mcp_resources.c ------------------------------------------------------------------- */

bool serve_resources(void *ctx, struct arena *a,
                     const struct mcp_resource **out, size_t *count);
void serve_forget_resources(struct serve *s);
bool serve_templates(void *ctx, struct arena *a,
                     const struct mcp_template **out, size_t *count);
void serve_read(void *ctx, struct str uri, struct mcp_call *c);
void serve_directory(void *ctx, struct str uri, struct mcp_call *c);

/* Finds the page of "cursor" in a list of this module. Returns false after
 * answering a call with an invalid cursor. */
bool serve_page(struct mcp_call *c, size_t count, size_t *from);

/* --- mcp_skills.c ---------------------------------------------------------------------- */

/* Reads SKILL.md as it is served, with the name by which the skill is known,
 * allocated in `a`. */
MUST_CHECK bool serve_skill_text(const struct library *l,
                                 const struct library_skill *as,
                                 struct arena *a, struct str *out,
                                 struct err *e);

/* Writes a YAML tree as JSON; plain scalars follow the core schema of YAML
 * 1.2. */
void serve_put_yaml(struct json_writer *w, const struct yaml *root);
void serve_skills_list(void *ctx, struct mcp_call *c);
void serve_skills_get(void *ctx, struct str uri, struct mcp_call *c);

/* --- mcp_prompts.c --------------------------------------------------------------------- */

/* Parses the text below "Input keys:" (K8), allocated in `a`. */
struct mcp_argument *serve_read_keys(struct str body, struct arena *a,
                                     size_t *count);
/* Returns whether the skill is a prompt: a metaskill that may run (X27), or a
 * skill that only the user may start (L6). */
bool serve_is_prompt(struct serve *s, const struct library_skill *skill);
void serve_forget_prompts(struct serve *s);
bool serve_prompts(void *ctx, struct arena *a, const struct mcp_prompt **out,
                   size_t *count);
void serve_prompt(void *ctx, struct str name, const struct json *arguments,
                  struct mcp_call *c);
void serve_prompt_arguments(void *ctx, struct arena *a, struct mcp_prompt *p);
bool serve_complete(void *ctx, const struct json *ref, struct str argument,
                    struct str typed, const struct json *context,
                    struct arena *a, struct str **out, size_t *count);

/* --- mcp_watch.c ------------------------------------------------------------------------- */

/* Watches the folders of the roots. Errors: ERR_IO, ERR_LIMIT. */
MUST_CHECK bool serve_watch_open(struct serve *s,
                                 const struct library_root *roots, size_t count,
                                 struct err *e);
/* Records the arguments that were sent to the client. Does nothing without
 * --watch. */
void serve_watch_given(struct serve *s, const struct mcp_prompt *p);
void serve_watch_close(struct serve *s);

/* --- mcp_journal.c --------------------------------------------------------------------- */

/*
 * Calls that wait for the client's model, so that another process can take them
 * up (--ask sampling): a file for each, in suspended/ of the data folder, and
 * the key that their tickets are sealed with. Nothing is written before one
 * waits, but the key.
 */
MUST_CHECK bool serve_journal_open(struct serve *s, struct err *e);
void serve_journal_close(struct serve *s);

#endif
