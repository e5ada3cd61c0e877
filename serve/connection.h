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

#define SERVE_TEXT_MAX_BYTES (16u * 1024 * 1024) /* of one result */

struct serve_watch;
struct serve_journal;

struct serve {
    struct context *cx;
    const struct serve_options *options;
    struct store *store; /* NULL: there is no folder for it */
    struct layer layer;  /* the workspace */
    struct layer global; /* the user's library; only if `has_global` */
    bool has_global;
    bool workspace_trusted;
    bool sampling; /* --ask sampling */
    bool nested;   /* started inside of an ask: runs nothing */

    struct library *library;
    struct library_session session;
    struct arena session_arena;
    struct str session_id;
    struct map started; /* disabled ones that a person has asked for */
    uint64_t call_ms;   /* when the call of a tool began */
    unsigned failures;  /* that are events */
    uint64_t busy_ms;   /* no write to mapm.db is retried before this time */

    struct map unserved; /* not in skills/list, which was reported */

    /* Derived from the library on demand, dropped when it changes. Each has its
     * own arena, as they are dropped separately. */
    struct arena tool_snap;
    const struct library_skill **runnable; /* those that may be offered */
    size_t runnable_count;
    struct str *names; /* enum of run_metaskill, sorted */
    size_t name_count;
    bool has_skills;        /* visible to models */
    struct mcp_tool *tools; /* NULL: not made yet */
    size_t tool_count;
    unsigned tools_made, prompts_made; /* so many times; when prompts were */
    struct arena verdict_snap;
    uint8_t *verdicts; /* by index; NULL: none yet */
    struct arena resource_snap;
    struct mcp_resource *resources;
    size_t resource_count;
    struct arena snap; /* of the prompts */
    struct mcp_prompt *prompts;
    size_t prompt_count;

    int hold_fd;                   /* without --watch: see mcp.c */
    struct serve_watch *watch;     /* NULL: without --watch */
    struct serve_journal *journal; /* NULL: nothing is ever suspended */
    struct mcp_server server;
};

/* Drops everything that is derived from the library. */
void serve_forget(struct serve *s);
/* Reads the workspace, the user's library and trust again if they changed. */
MUST_CHECK bool serve_open_layers(struct serve *s, struct err *e);

/* --- mcp_offer.c ------------------------------------------------------------- */

/* Whether a model may start it, according to the locks, and whether it would
 * start: its program compiles, its files are those that were installed. The
 * second is found out once, until the library changes. */
bool serve_offers(struct serve *s, const struct library_skill *skill);
/* How it is listed in the instructions (A4, K15). `ctx` is the struct serve,
 * after serve_tools. */
enum library_entry serve_entry(void *ctx, const struct library_skill *skill);
/* Whether that is other than `names`, since trust was given or taken back. */
bool serve_offers_others(struct serve *s);
/* L6: whether a model may see it: a disabled skill only after a person
 * requested its prompt in this session. */
bool serve_shows(const struct serve *s, const struct library_skill *skill);
/* Likewise, with the reason: ERR_REFUSED as for library_load(). */
MUST_CHECK bool serve_check_shown(const struct serve *s,
                                  const struct library_skill *skill,
                                  struct err *e);
/* Answers with that error, where the call is not one of a tool. */
void serve_refuse(struct mcp_call *c, const struct err *e);

/* --- mcp_tools.c -------------------------------------------------------------- */

bool serve_tools(void *ctx, struct arena *a, const struct mcp_tool **out,
                 size_t *count);
void serve_call(void *ctx, struct str tool, const struct json *arguments,
                struct mcp_call *c);
void serve_forget_tools(struct serve *s);

/* --- mcp_answer.c ------------------------------------------------------------ */

/* The result of a tool: text for models, JSON for programs. */
struct serve_result {
    struct str text, more; /* more: a second text; "" = none */
    struct str structured; /* JSON object; "" = none */
    bool is_error;
    bool is_cut; /* more than a message holds: an error takes its place */
};
/* Members for mcp_call_result. `with_structured`: the client's revision has
 * structured content. In `a`. */
struct str serve_members(const struct serve_result *r, bool with_structured,
                         struct arena *a);
bool serve_knows_structured(const struct mcp_call *c);
void serve_answer(struct mcp_call *c, const struct serve_result *r);
/* An error's message as a text for a model, its hint behind it. */
void serve_answer_error(struct serve *s, struct mcp_call *c,
                        const struct err *e);
/* The member "messages": one text of the role user. */
void serve_put_messages(struct json_writer *w, struct str text);
/* "what: because of what". In `a`. */
struct str serve_error_text(const struct err *e, struct arena *a);
/* A JSON object without its braces. */
struct str serve_inside(const struct buf *object);

#define SERVE_PATIENCE_MS                                                      \
    1000 /* limits the wait for other writers of mapm.db */

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

/* One run, in its process. */
struct serve_job {
    struct serve *s;
    struct mcp_task *task;
    struct arena *a;
    struct str name; /* as visible to the model */
    const struct json *arguments;
    struct store *store;
    struct layer layer; /* state when the process began */
    struct run_result *result;

    bool has_waited; /* for the client: permissions may have changed since */
    const struct err *refusal; /* NULL: it still is; the run ends with it */
    struct str lacks;          /* why the client had to answer and cannot; "" */
    uint64_t since_ms;
    struct str doing; /* for progress */
    char doing_text[256];
};
/* Hooks of the run; `ctx` is the struct serve_job. */
bool serve_ask(void *ctx, struct run_execution *x, const struct ask *in,
               struct arena *a, struct answer *out, struct err *e);
bool serve_command(void *ctx, struct run_execution *x, const struct command *in,
                   struct arena *a, struct command_result *out, struct err *e);
void serve_step(void *ctx, const struct step *s);

/* --- mcp_uri.c ------------------------------------------------------------------------ */

/* "skill://scope/name", and with `path` "/path". In `a`. */
struct str serve_uri(const struct library_skill *skill, struct str path,
                     struct arena *a);
/* The skill that contains `uri`, and the path in it: "" = its folder. False:
 * none, or not a served path (library_path_is_served). */
bool serve_uri_find(const struct library *l, struct str uri, struct arena *a,
                    const struct library_skill **skill, struct str *path);
/* By the end of its name. */
struct str serve_mime(struct str path, bool is_text);

/* --- mcp_resources.c ------------------------------------------------------------------- */

bool serve_resources(void *ctx, struct arena *a,
                     const struct mcp_resource **out, size_t *count);
void serve_forget_resources(struct serve *s);
bool serve_templates(void *ctx, struct arena *a,
                     const struct mcp_template **out, size_t *count);
void serve_read(void *ctx, struct str uri, struct mcp_call *c);
void serve_directory(void *ctx, struct str uri, struct mcp_call *c);

/* A page of a list of this module: "cursor" of the call. False: the call was
 * answered, as the cursor is invalid. */
bool serve_page(struct mcp_call *c, size_t count, size_t *from);

/* --- mcp_skills.c ---------------------------------------------------------------------- */

/* SKILL.md as it is served: with the name that the skill goes by. In `a`. */
MUST_CHECK bool serve_skill_text(const struct library *l,
                                 const struct library_skill *as,
                                 struct arena *a, struct str *out,
                                 struct err *e);

/* A tree of YAML as JSON: plain scalars by the core schema of YAML 1.2. */
void serve_put_yaml(struct json_writer *w, const struct yaml *root);
void serve_skills_list(void *ctx, struct mcp_call *c);
void serve_skills_get(void *ctx, struct str uri, struct mcp_call *c);

/* --- mcp_prompts.c --------------------------------------------------------------------- */

/* The text below "Input keys:" (K8). In `a`. */
struct mcp_argument *serve_read_keys(struct str body, struct arena *a,
                                     size_t *count);
/* Metaskills that may run (X27), and skills that only persons start (L6). */
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
/* The client now has the arguments; a no-op without --watch. */
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
