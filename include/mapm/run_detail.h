#ifndef MAPM_RUN_DETAIL_H
#define MAPM_RUN_DETAIL_H

#include "base/json.h"
#include "base/text.h"
#include "mapm/runtime.h"
#include "mapm/store.h"

/*
 * run_detail: parses the records of run_history, and formats a run for every
 * output. The records are written by mapm, but contain text of a program, a
 * model and commands: it is always shown escaped, and whole texts are marked
 * with RUN_UNTRUSTED (K42).
 */

#define RUN_UNTRUSTED "untrusted data"

/* One TEXT of run_history.h. */
struct run_text {
    bool known; /* the size is known */
    bool kept;  /* the text is stored */
    bool cut;
    uint64_t bytes;
    struct str text;
};

/* START and FINISH do not occur. */
struct run_step {
    enum step_kind kind;
    unsigned number; /* ASK, COMMAND */
    uint64_t at_ms, took_ms;
    bool ok, exhausted, truncated, unfinished;
    bool has_exit;
    uint64_t exit_code;
    uint64_t turns, max_turns;
    struct str label; /* ASK: the purpose; TRACE: the kind */
    const struct str *argv;
    size_t argc, words; /* words: original number of words */
    struct str rule;
    struct str data;              /* TRACE: JSON on one line, or "" */
    const struct json *data_tree; /* NULL if none */
    struct run_text in, out;      /* prompt; answer, result, printed line */
};

struct run_detail {
    bool known; /* the run has a detail; otherwise nothing else is set */
    struct str keep;
    bool has_limits;
    uint64_t max_asks, max_commands, max_traces, max_seconds;
    struct run_text input, result, report;
    struct run_step *steps;
    size_t count;
    uint64_t left_out;
    const struct json *tree;
};

/* Parses a detail; "" gives an empty one. Missing members and those of another
 * type are ignored, so the only errors are ERR_FORMAT and ERR_LIMIT of
 * json_parse. Allocated in `a`. */
MUST_CHECK bool run_detail_parse(struct str text, struct arena *a,
                                 struct run_detail *out, struct err *e);

/* Formats a duration: "12 ms", "3.4 s", "2 min 05 s", "1 h 02 min".
 * Returns `out`. */
const char *run_seconds(uint64_t ms, char out[32]);

/* Formats local time as "2026-11-20 17:05:12", with `zone` followed by "
 * +0000". Returns `out`. */
const char *run_when(int64_t ms, bool zone, char out[TEXT_TIME_BYTES]);
/* Formats UTC as "2026-11-20T17:05:12.003Z". Returns `out`. */
const char *run_utc(int64_t ms, char out[TEXT_TIME_BYTES]);

enum run_tone { RUN_NEUTRAL, RUN_GOOD, RUN_DOUBTFUL, RUN_BAD };
enum run_tone run_tone(struct str status);

/* Returns a label: "fix-tests", "git diff --stat ...", "missing-words", or the
 * printed line. Allocated in `a`. */
struct str run_step_label(const struct run_step *s, struct arena *a);

/* Returns the result as text: "3 turns, 1.2 kB", "exit 1, 34 B, truncated".
 * Allocated in `a`. */
struct str run_step_outcome(const struct run_step *s, struct arena *a);

const char *run_step_kind(const struct run_step *s); /* "ask" ... */
bool run_step_failed(const struct run_step *s);

#endif
