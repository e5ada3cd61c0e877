#ifndef MAPM_RUNTIME_H
#define MAPM_RUNTIME_H

#include "mapm/manifest.h"
#include "mapm/package_file.h"

/*
 * runtime: one run of a metaskill, a small program that may ask a model, run
 * commands and leave a trace, and nothing else.
 *
 *     folder --skill_read()--> struct skill --runtime_run()--> one string
 *                                  |
 *        the program, in a process of its own: no files, no network, no clock
 *                                  |  ask, command, trace
 *                           struct runtime_host
 *              tape_record / tape_replay | backend, command runner
 *
 * The core (runtime_run) handles budgets, values and the result; ask and command
 * are functions of the host. A *backend*
 * answers ask by a model; the *command runner* is policy and sandbox. A tape
 * wraps both, or replaces them.
 *
 * Source: metaSKILL specification; docs/requirements.md K, X14, X15, X27;
 * DESIGN.md 8; THREATS.md 1.6, 1.8, 2, rows 17 to 22.
 */

/* --- the metaskill on disk --------------------------------------------------- */

/* A skill's folder as it was hashed; the program that runs is the hashed
 * one. */
struct skill {
    struct str folder; /* absolute */
    struct str text;   /* of SKILL.md */
    struct document document;
    struct diagnostics why;     /* of SKILL.md: warnings, and errors */
    struct str file;            /* "SKILL.star", in the folder; "" = static */
    struct str program;         /* its text; "" = static */
    struct package_file *files; /* all regular files, sorted by path bytes */
    size_t file_count;
};

/*
 * Reads a skill's folder (K1 to K11). Every file of it is hashed (links are not
 * followed, limits are those of a package), the program once. A skill without a
 * program, or with one that cannot run (X15: its path escapes; other language;
 * too large; no UTF-8; a frontmatter), is static: `file` is "" and `why` has
 * the reason.
 * Ownership: in `a`. Errors: ERR_NOT_FOUND for no SKILL.md; ERR_FRONTMATTER …
 * as for diagnostics_fail; ERR_LIMIT; ERR_REFUSED.
 */
MUST_CHECK bool skill_read(struct str folder, const struct limits *limits,
                           struct arena *a, struct skill *out, struct err *e);

/* The same for an open folder, `path` without links: the caller has checked
 * that it is the right one. `name` is its name. */
MUST_CHECK bool skill_read_open(int fd, struct str path, struct str name,
                                const struct limits *limits, struct arena *a,
                                struct skill *out, struct err *e);

/* Activation text (K41, K7): "[Skill: x activated]" … with the body, comments
 * removed, at most BODY_WARN_CHARS, and up to 50 names of files. In `a`. */
struct str skill_activation(const struct skill *s, struct arena *a);

/* Checks a program for `mapm check`: it compiles, has a `run` with one
 * argument, and does not use `load`. Errors of Starlark become diagnostics
 * (program-syntax, program-name, program-run, program-load) with file, line and
 * column. */
void skill_check_program(struct str file, struct str program,
                         struct diagnostics *why);

/* --- input (K20, X14) --------------------------------------------------------- */

/*
 * The argument of run(): one JSON object, compact, in `a`. From `text`
 * ("" = none), then `pairs` "key=value" on top of it: a value that is JSON is
 * taken as that, else as a string. `*given` false: both are empty. Errors:
 * ERR_USAGE for a text that is not an object, a pair without "=", a duplicate
 * key.
 */
MUST_CHECK bool input_read(struct str text, const struct str *pairs,
                           size_t pair_count, struct arena *a, struct str *out,
                           bool *given, struct err *e);

/* K9: "error: input is required. … Retry run_metaskill with …" with the
 * activation text. In `a`. */
struct str input_missing(const struct skill *s, struct arena *a);

/* --- ask and command, as the program sees them --------------------------------- */

struct ask {
    unsigned number; /* from 1 */
    struct str prompt, purpose;
    struct str opts;      /* JSON object as given: for tapes */
    unsigned max_turns;   /* clamped (K23) */
    uint64_t deadline_ms; /* of the whole run, as proc_now_ms counts */
    size_t max_chars;     /* of the answer, which is cut there (K24) */
};

struct answer {
    struct str text; /* UTF-8, whole characters */
    bool exhausted, truncated;
    unsigned turns;
};

struct command {
    unsigned number; /* from 1 */
    const struct str *argv;
    size_t argc;
    struct str opts;      /* JSON object as given */
    unsigned timeout_s;   /* clamped (K26) */
    uint64_t deadline_ms; /* of the whole run */
    size_t max_chars;     /* of the result (K29) */
};

struct command_result {
    bool ok;
    int exit_code;     /* -1: not started, or killed */
    struct str result; /* stdout and stderr combined; "error: …" */
    bool truncated;
    struct str rule; /* that refused it; "" = none did */
};

enum step_kind {
    STEP_START,
    STEP_ASK,
    STEP_COMMAND,
    STEP_TRACE,
    STEP_PRINT,
    STEP_FINISH
};

/* An event of the run (K40): for the terminal and the history. */
struct step {
    enum step_kind kind;
    bool done;        /* ASK, COMMAND: first without, then with */
    uint64_t at_ms;   /* since the start of the run */
    uint64_t took_ms; /* when done */
    const struct ask *ask;
    const struct answer *answer; /* ASK, done */
    const struct command *command;
    const struct command_result *outcome; /* COMMAND, done */
    struct str text; /* TRACE: the kind; PRINT: the line; FINISH: the status */
    struct str data; /* TRACE: JSON object, or "" */
    bool failed;     /* ASK: it ended the run; FINISH: error */
};

/*
 * Functions behind ask and command. `ask` returning false ends the run with
 * that error; `command` fails only when the run must end (ERR_INTERRUPTED),
 * any other failure is a result. Both return by `deadline_ms`; results live in
 * `a`.
 */
struct runtime_host {
    bool (*ask)(void *ctx, const struct ask *in, struct arena *a,
                struct answer *out, struct err *e);
    bool (*command)(void *ctx, const struct command *in, struct arena *a,
                    struct command_result *out, struct err *e);
    void (*step)(void *ctx, const struct step *s); /* may be NULL */
    void *ctx;
};

/* --- a run ---------------------------------------------------------------------- */

struct runtime_job {
    struct str name;    /* of the metaskill, in texts */
    struct str file;    /* of the program, in reports */
    struct str program; /* its text */
    struct str input;   /* JSON object */
    const struct limits *limits;
    struct runtime_host host;
};

enum runtime_end {
    RUNTIME_COMPLETED,   /* run() returned something */
    RUNTIME_FAILED,      /* "error: …" */
    RUNTIME_INTERRUPTED, /* likewise, by a signal */
};

struct runtime_result {
    enum runtime_end end;
    struct str text;     /* K31, or "error: …" (K33, K34) */
    struct str envelope; /* JSON, one line; "" unless COMPLETED */
    struct str status;   /* the envelope's; "error" unless COMPLETED */
    struct str report;   /* of an error in the program: traceback; "" = none */
    unsigned asks, commands, traces; /* used; traces: kept */
    uint64_t took_ms;
};

/*
 * Runs the program once, in a child process without rights, at most
 * run_max_seconds; calls the host in this process. Always gives a result; a
 * failure of the machine (no process, no memory) is RUNTIME_FAILED, too.
 * Ownership: in `a`.
 */
void runtime_run(const struct runtime_job *job, struct arena *a,
                 struct runtime_result *out);

/* The literal errors of K34, K33. In `a`. */
struct str runtime_unknown(struct str name, struct arena *a);
struct str runtime_static(struct str name, struct arena *a);
struct str runtime_not_allowed(struct str name, const char *policy,
                               struct arena *a);
struct str runtime_error(struct str name, const char *why, struct arena *a);

/* Levels of runs in runs: MAPM_DEPTH; 1 or more inside of an ask. */
unsigned runtime_depth(void);

/* --- model backends ----------------------------------------------------------------------- */

/* Where the choice comes from, in this order (DESIGN.md 8). */
struct backend_selection {
    struct str option;      /* --ask */
    struct str environment; /* MAPM_ASK */
    const struct project *user, *workspace;
    const char *user_name, *workspace_name; /* of these files, for messages */
    struct str dir; /* the workspace: programs inside of it are not found */
    bool offline;   /* no API but one of this machine */
};

struct backend;

/*
 * Selects and prepares a backend; starts nothing. `why` names the source of
 * the selection ("--ask", "config.yaml:3", "the first on PATH"). Errors:
 * ERR_NOT_FOUND with the ways to select one, to be reported at the first ask
 * (DESIGN.md 8), so call it then; ERR_USAGE for an invalid selection.
 */
MUST_CHECK bool backend_select(const struct backend_selection *w,
                               struct arena *a, struct backend **out,
                               struct err *e);
struct str backend_name(const struct backend *k); /* "claude", "exec:./x" … */
struct str backend_why(const struct backend *k);
struct str backend_program(const struct backend *k); /* absolute path, or URL */

/* Progress of an ask under way: turns so far, a line of the answer. */
struct backend_progress {
    void (*tell)(void *ctx, unsigned turns, struct str line);
    void *ctx;
};

/* Sends the prompt and returns the answer, as runtime_host.ask. `dir` absolute:
 * the workspace. */
MUST_CHECK bool backend_ask(struct backend *k, struct str dir,
                            const struct ask *in,
                            const struct backend_progress *news,
                            struct arena *a, struct answer *out, struct err *e);

/* Every backend, for `mapm doctor`: its path or URL, or what is missing. */
struct backend_found {
    const char *name;
    struct str place; /* "" = not there */
    struct str note;
};
struct backend_found *backend_list(const struct backend_selection *w,
                                   struct arena *a, size_t *count);

/* --- policy of commands (DESIGN.md 3.1) --------------------------------------------- */

enum verdict { VERDICT_UNRULED, VERDICT_ALLOW, VERDICT_DENY };

/*
 * One list of rules. A rule fits a command word by word (see struct
 * project_rule): never a word more, unless its last is "*", and in that order.
 * The first word names the program in full; of a path, "./" and "//" do not
 * matter, and a denied name is denied by any path, too.
 *
 * Of the rules that fit, the one with the most words without a star decides,
 * then the one with the most words that are not just a star, then deny. Rules
 * are about words: what a program makes of them (git diff --output=F, find
 * -exec, env, sh -c) is for the sandbox.
 */
struct policy {
    struct policy_rule *rules;
    size_t count, capacity;
    struct arena *arena;
};

struct policy_rule {
    bool allow;
    const struct str *words; /* as struct project_rule has them */
    size_t count;
    struct str from; /* "config.yaml:12", "--allow" */
};

void policy_init(struct policy *p, struct arena *a);
/* Rules of a file that count: for a workspace `allow` only when accepted. */
void policy_add_project(struct policy *p, const struct project *from,
                        const char *name, bool with_allow);
/*
 * "git diff *", as typed behind --allow: words as in a shell, with its quotes,
 * a star in which is just a star. "*" allows everything that is not denied.
 * Errors: ERR_USAGE.
 */
MUST_CHECK bool policy_add_option(struct policy *p, struct str words,
                                  struct err *e);
/* Just this command, allowed by `from`. It is copied. */
void policy_add_command(struct policy *p, const struct str *argv, size_t argc,
                        const char *from);
/* The rule that decides, NULL for none. */
enum verdict policy_evaluate(const struct policy *p, const struct str *argv,
                             size_t argc, const struct policy_rule **rule);

/* The words of the rule that is for just this command. In `a`. */
const struct str *policy_exact(const struct str *argv, size_t argc,
                               struct arena *a);
/* Words of a command line as a person types them into a shell, on one line,
 * with nothing hidden in it; as --allow takes them. In `a`. */
struct str policy_line(const struct str *argv, size_t argc, struct arena *a);
/* --allow and the rule that lets just this through, for a shell:
 * "--allow 'git diff'". In `a`. */
struct str policy_suggest(const struct str *argv, size_t argc, struct arena *a);

/* --- command runner: one command in the sandbox (THREATS.md 1.6, 2) ----------------------- */

enum sandbox { SANDBOX_ON, SANDBOX_HOME, SANDBOX_OFF };

/* The isolation that this machine supports, for doctor and for messages. */
struct sandbox_support {
    struct str bubblewrap; /* its path; "" = not there */
    bool namespaces;       /* it can be used */
    struct str why_not;    /* when not */
    int landlock_abi;      /* 0 = none */
    bool seccomp;
    bool enough;     /* commands may run */
    struct str hint; /* how to get more isolation */
};
void sandbox_probe(struct str workspace, struct arena *a,
                   struct sandbox_support *out);

struct command_runner_options {
    struct str workspace; /* absolute */
    enum sandbox sandbox;
    bool network;
    /* `rule` names the program by a path: it may lie in the workspace. */
    bool by_path;
    const struct str *skills; /* absolute: folders of skills, which a command
                               * may not change where they are inside of it */
    size_t skill_count;
    void (*waiting)(void *ctx); /* another command runs in this workspace */
    void (*notice)(void *ctx, const char *text); /* a warning for the user */
    void (*tick)(void *ctx); /* four times a second or more, while it runs */
    void *ctx;
};

/* Runs one allowed command, as runtime_host.command: a failure is a result
 * "error: …". */
MUST_CHECK bool command_runner_run(const struct command_runner_options *o,
                                   const struct command *in, struct arena *a,
                                   struct command_result *out, struct err *e);

/* --- tapes --------------------------------------------------------------------------- */

/*
 * The requests and results of a run, as JSON lines (mapm-tape(5)):
 *
 *     {"tape":1,"name":…,"digest":…,"input":{…},"limits":{…}}
 *     {"ask":{"prompt":…,"opts":{…}},"result":{"answer":…,"exhausted":…,
 *         "turns":…,"truncated":…}}                       or {"error":…}
 *     {"command":{"argv":[…],"opts":{…}},"result":{"ok":…,"exit_code":…,
 *         "result":…,"truncated":…}}
 *     {"envelope":{…}}                     or {"error":"error: …"}, the last one
 *
 * `digest` is tape_digest() of the program, not of its package, which the tape
 * may be part of. `limits` has those of the run that were not the default.
 * Omitted members have defaults: `opts` {}, `exhausted` and `truncated`
 * false, `turns` 1, `exit_code` 0, `ok` whether that is 0, `digest` and
 * `limits` none.
 */
struct tape_entry {
    bool is_ask;
    unsigned line;
    struct str prompt;
    const struct str *argv;
    size_t argc;
    struct str opts; /* JSON object */
    struct answer answer;
    struct command_result outcome;
    struct str failure; /* of an ask that failed; "" = none */
};

struct tape {
    const char *file;               /* for messages: as given to tape_parse */
    struct str name, digest, input; /* input: JSON object */
    struct limits limits;           /* defaults, overridden by the tape */
    struct tape_entry *entries;
    size_t count;
    struct str envelope; /* JSON; "" when it ended in `error` */
    struct str error;
    unsigned end_line;       /* of the envelope or error */
    size_t end_from, end_to; /* bytes of that line, without its LF */
};

/*
 * Strict. Ownership: in `a`, borrowing from `text` and `name`. Errors:
 * ERR_FORMAT "x.jsonl:3: …", ERR_LIMIT.
 */
MUST_CHECK bool tape_parse(struct str text, const char *name, struct arena *a,
                           struct tape *out, struct err *e);

/* "sha256:" and 64 hex of the program's text. In `a`. */
struct str tape_digest(struct str program, struct arena *a);

/* The host that plays `tape` to one run. It fails (ERR_FAILED, and
 * `difference` is set) when the program asks for something else. */
struct tape_player {
    const struct tape *tape;
    void (*step)(void *ctx, const struct step *s); /* may be NULL */
    void *ctx;                                     /* of `step` */
    struct arena *arena;
    size_t at;
    struct str difference; /* for a person, lines; "" = none so far */
};
struct runtime_host tape_replay(struct tape_player *p);

/* Compares a result with the end of a tape: "" when it is the same, else a
 * difference for a person, lines as diff_format writes them below a headline.
 * By value: order of keys and spelling of numbers do not count, nor do the
 * durations that the host reports in the trace, nor the trace at all where the
 * tape's envelope has none. In `a`. */
struct str tape_compare(const struct tape *t, const struct runtime_result *r,
                        struct arena *a);

/* Compares the whole replay, as tape_compare, including requests of the program
 * that differ from the tape or are missing. In `a`. */
struct str tape_verify(const struct tape_player *p,
                       const struct runtime_result *r, struct arena *a);

/* The text of a tape with another end. `text` is the source of `t`. In `a`. */
struct str tape_update(struct str text, const struct tape *t,
                       const struct runtime_result *r, struct arena *a);

/* Adds what passes through `inner` to `lines`, from tape_begin to tape_end;
 * the caller calls buf_done(&lines). */
struct tape_recorder {
    struct runtime_host inner;
    struct buf lines;
};
void tape_begin(struct tape_recorder *r, struct str name, struct str digest,
                struct str input, const struct limits *limits);
struct runtime_host tape_record(struct tape_recorder *r);

/* False when the tape cannot be replayed: ERR_INTERRUPTED for an interrupted
 * run; ERR_LIMIT past TAPE_MAX_BYTES. */
MUST_CHECK bool tape_end(struct tape_recorder *r,
                         const struct runtime_result *result, struct err *e);

#endif
