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
/* The same of one that is not ended yet: `envelope` and `error` are empty. */
MUST_CHECK bool tape_parse_begun(struct str text, const char *name,
                                 struct arena *a, struct tape *out,
                                 struct err *e);

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

/* The line of one request and its result, without its LF. `out` NULL: the ask
 * failed, with `e`. */
void tape_put_ask(struct buf *lines, const struct ask *in,
                  const struct answer *out, const struct err *e);
void tape_put_command(struct buf *lines, const struct command *in,
                      const struct command_result *out);

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
