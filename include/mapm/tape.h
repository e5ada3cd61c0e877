#ifndef MAPM_TAPE_H
#define MAPM_TAPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "mapm/limits.h"
#include "mapm/runtime.h"

/* tape: requests and results of a run, recorded and replayed. */

/*
 * The requests and results of a run, as JSON lines (mapm-tape(5)):
 *
 *     {"tape":1,"name":…,"digest":…,"input":{…},"limits":{…}}
 *     {"ask":{"prompt":…,"opts":{…}},"result":{"answer":…,"exhausted":…,
 *         "turns":…,"truncated":…}}                       or {"error":…}
 *     {"command":{"argv":[…],"opts":{…}},"result":{"ok":…,"exit_code":…,
 *         "result":…,"truncated":…}}
 *     {"envelope":{…}}                     or {"error":"error: …"}, at the end
 *
 * `digest` is tape_digest() of the program, not of its package, which may
 * contain the tape. `limits` has the limits of the run that differ from the
 * defaults. Omitted members have defaults: `opts` {}, `exhausted` and
 * `truncated` false, `turns` 1, `exit_code` 0, `ok` whether `exit_code` is 0;
 * no `digest` and `limits`.
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
    struct str failure; /* error of a failed ask, or "" */
};

struct tape {
    const char *file;               /* `name` of tape_parse, for messages */
    struct str name, digest, input; /* input: JSON object */
    struct limits limits;           /* defaults, overridden by the tape */
    struct tape_entry *entries;
    size_t count;
    struct str envelope; /* JSON; "" if it ended in `error` */
    struct str error;
    unsigned end_line;       /* line of the envelope or error */
    size_t end_from, end_to; /* byte offsets of that line, without its LF */
};

/* Parses a tape strictly.
 * Ownership: allocated in `a`, borrowing from `text` and `name`.
 * Errors: ERR_FORMAT "x.jsonl:3: …", ERR_LIMIT. */
MUST_CHECK bool tape_parse(struct str text, const char *name, struct arena *a,
                           struct tape *out, struct err *e);
/* The same for a tape without an end: `envelope` and `error` are empty. */
MUST_CHECK bool tape_parse_begun(struct str text, const char *name,
                                 struct arena *a, struct tape *out,
                                 struct err *e);

/* Returns "sha256:" and 64 hex digits of the program's text. Allocated in
 * `a`. */
struct str tape_digest(struct str program, struct arena *a);

/* A host that replays `tape` to one run. It fails with ERR_FAILED, and sets
 * `difference`, if a request of the program differs. */
struct tape_player {
    const struct tape *tape;
    void (*step)(void *ctx, const struct step *s); /* may be NULL */
    void *ctx;                                     /* passed to `step` */
    struct arena *arena;
    size_t at;
    struct str difference; /* lines for the user, or "" */
};
struct runtime_host tape_replay(struct tape_player *p);

/* Compares a result with the end of a tape. Returns "" if they are equal,
 * otherwise a headline and lines in the format of diff_format for the user.
 * Values are compared: order of keys and notation of numbers are ignored, as
 * are durations that the host reports in the trace, and the whole trace if the
 * envelope of the tape has none. Allocated in `a`. */
struct str tape_compare(const struct tape *t, const struct runtime_result *r,
                        struct arena *a);

/* Compares the whole replay like tape_compare, including requests that differ
 * from the tape or are missing. Allocated in `a`. */
struct str tape_verify(const struct tape_player *p,
                       const struct runtime_result *r, struct arena *a);

/* Returns the text of a tape with its end replaced. `text` is the source of
 * `t`. Allocated in `a`. */
struct str tape_update(struct str text, const struct tape *t,
                       const struct runtime_result *r, struct arena *a);

/* Append the line of one request and its result, without LF. If `out` is NULL,
 * the ask failed with `e`. */
void tape_put_ask(struct buf *lines, const struct ask *in,
                  const struct answer *out, const struct err *e);
void tape_put_command(struct buf *lines, const struct command *in,
                      const struct command_result *out);

/* Records requests to `inner` in `lines`, from tape_begin to tape_end; the
 * caller calls buf_done(&lines). */
struct tape_recorder {
    struct runtime_host inner;
    struct buf lines;
};
void tape_begin(struct tape_recorder *r, struct str name, struct str digest,
                struct str input, const struct limits *limits);
struct runtime_host tape_record(struct tape_recorder *r);

/* Ends the tape. Fails if it could not be replayed: ERR_INTERRUPTED for an
 * interrupted run; ERR_LIMIT for TAPE_MAX_BYTES. */
MUST_CHECK bool tape_end(struct tape_recorder *r,
                         const struct runtime_result *result, struct err *e);

#endif
