#include "base/digest.h"
#include "base/hash.h"
#include "mapm/name.h"
#include "mapm/runtime.h"
#include "mapm/tape.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "tape.h"

/*
 * Parses a tape: each line is one JSON object with exactly the members of its
 * kind. The file is untrusted (row 16).
 */

#define EXIT_CODE_MAX 65535

/* clang-format off */
const char *const tape_limits[] = {
    "run_max_asks", "run_max_commands", "run_max_traces", "run_max_steps",
    "trace_max_bytes", "answer_max_chars", "command_max_chars",
    "result_max_chars", "ask_max_turns", "command_max_seconds",
};
/* clang-format on */
const size_t tape_limit_count = sizeof tape_limits / sizeof *tape_limits;

struct reader {
    const char *file;
    struct str line; /* current line */
    unsigned number;
    struct arena *arena, scratch; /* memory for the tape, and for one line */
    struct tape *out;
    size_t capacity;
    struct err *e;
};

static bool PRINTF(2, 3) fail(struct reader *r, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return err_set(r->e, ERR_FORMAT, "%s:%u: %s", r->file, r->number, message);
}

/* --- members ---------------------------------------------------------------- */

/* Members of an object; FALSE stands for both booleans. */
struct member {
    const char *name;
    enum json_kind kind;
    bool required;
    const struct json *value; /* NULL if absent */
};

static const char *kind_name(enum json_kind kind)
{
    return kind == JSON_FALSE ? "true or false" : json_kind_name(kind);
}

static bool take_member(struct reader *r, const char *what,
                        const struct json *j, struct member *rows, size_t count)
{
    enum json_kind kind = j->kind == JSON_TRUE ? JSON_FALSE : j->kind;

    for (size_t i = 0; i < count; i++) {
        if (!str_is(j->key, rows[i].name))
            continue;
        if (kind != rows[i].kind)
            return fail(r, "%s: \"%s\" has to be %s", what, rows[i].name,
                        kind_name(rows[i].kind));
        rows[i].value = j;
        return true;
    }
    return fail(r, "%s: unknown key \"%.*s\"", what,
                (int)(j->key.n < 100 ? j->key.n : 100), j->key.p);
}

static bool take_members(struct reader *r, const char *what,
                         const struct json *object, struct member *rows,
                         size_t count)
{
    for (const struct json *j = object->first; j; j = j->next)
        if (!take_member(r, what, j, rows, count))
            return false;
    for (size_t i = 0; i < count; i++)
        if (rows[i].required && !rows[i].value)
            return fail(r, "%s: \"%s\" is missing", what, rows[i].name);
    return true;
}

#define TAKE(r, what, object, rows)                                            \
    take_members(r, what, object, rows, sizeof(rows) / sizeof *(rows))

static struct str copy_text(struct reader *r, const struct json *j)
{
    return j ? arena_str(r->arena, j->text) : STR("");
}

/* Returns JSON as written in the line. */
static struct str copy_raw(struct reader *r, const struct json *j)
{
    return j ? str_slice(r->line, j->start, j->end) : STR("{}");
}

static bool copy_number(struct reader *r, const char *name,
                        const struct json *j, uint64_t max, uint64_t *out)
{
    if (!j || str_number(j->text, max, out))
        return true;
    return fail(r, "\"%s\" has to be a whole number, at most %llu", name,
                (unsigned long long)max);
}

static bool copy_bool(const struct json *j, bool otherwise)
{
    return j ? j->kind == JSON_TRUE : otherwise;
}

/* --- the first line --------------------------------------------------------- */

static bool read_limit(struct reader *r, const struct json *j)
{
    uint64_t value;

    for (size_t i = 0; i < tape_limit_count; i++) {
        struct limit *l;

        if (!str_is(j->key, tape_limits[i]))
            continue;
        l = limits_find(&r->out->limits, j->key);
        if (j->kind != JSON_NUMBER ||
            !str_number(j->text, l->ceiling, &value) || value < l->least)
            return fail(r, "limits: %s has to be a number from %llu to %llu",
                        tape_limits[i], (unsigned long long)l->least,
                        (unsigned long long)l->ceiling);
        l->value = value;
        l->from = arena_printf(r->arena, "%s:%u", r->file, r->number);
        return true;
    }
    return fail(r, "limits: no limit of a tape: \"%.*s\"",
                (int)(j->key.n < 100 ? j->key.n : 100), j->key.p);
}

static bool read_head(struct reader *r, const struct json *line)
{
    struct member rows[] = {
        {"tape", JSON_NUMBER, true, NULL},
        {"name", JSON_STRING, true, NULL},
        {"digest", JSON_STRING, false, NULL},
        {"input", JSON_OBJECT, true, NULL},
        {"limits", JSON_OBJECT, false, NULL},
    };
    const struct json *version = json_get(line, "tape");
    uint64_t number = 0;

    if (!version)
        return fail(r, "no tape: its first line has no \"tape\"");
    if (version->kind != JSON_NUMBER ||
        !str_number(version->text, UINT32_MAX, &number) ||
        number != TAPE_VERSION) {
        fail(r, "a tape of a version that this program does not know");
        return err_hint(r->e, "it knows version %d", TAPE_VERSION);
    }
    if (!TAKE(r, "the head of the tape", line, rows))
        return false;
    r->out->name = copy_text(r, rows[1].value);
    r->out->digest = copy_text(r, rows[2].value);
    r->out->input = copy_raw(r, rows[3].value);
    if (!name_is_kebab(r->out->name))
        return fail(r, "\"name\" is not the name of a metaskill");
    if (r->out->digest.n && !digest_is_valid(r->out->digest))
        return fail(r, "\"digest\" has to be \"sha256:\" and 64 digits");
    if (r->out->input.n > INPUT_MAX_BYTES)
        return fail(r, "the input has more than %u bytes", INPUT_MAX_BYTES);
    if (!rows[4].value)
        return true;
    for (const struct json *j = rows[4].value->first; j; j = j->next)
        if (!read_limit(r, j))
            return false;
    return true;
}

/* --- requests and results ----------------------------------------------- */

static bool read_answer(struct reader *r, const struct json *result,
                        struct tape_entry *entry)
{
    struct member rows[] = {
        {"answer", JSON_STRING, true, NULL},
        {"exhausted", JSON_FALSE, false, NULL},
        {"turns", JSON_NUMBER, false, NULL},
        {"truncated", JSON_FALSE, false, NULL},
    };
    struct member failed[] = {{"error", JSON_STRING, true, NULL}};
    uint64_t turns = 1;

    if (json_get(result, "error")) {
        if (!TAKE(r, "result", result, failed))
            return false;
        entry->failure = copy_text(r, failed[0].value);
        return entry->failure.n > 0 || fail(r, "\"error\" is empty");
    }
    if (!TAKE(r, "result", result, rows) ||
        !copy_number(r, "turns", rows[2].value, UINT32_MAX, &turns))
        return false;
    entry->answer = (struct answer){
        .text = copy_text(r, rows[0].value),
        .exhausted = copy_bool(rows[1].value, false),
        .turns = (unsigned)turns,
        .truncated = copy_bool(rows[3].value, false),
    };
    return true;
}

static bool read_ask(struct reader *r, const struct json *ask,
                     const struct json *result, struct tape_entry *entry)
{
    struct member rows[] = {
        {"prompt", JSON_STRING, true, NULL},
        {"opts", JSON_OBJECT, false, NULL},
    };

    if (!TAKE(r, "ask", ask, rows))
        return false;
    entry->is_ask = true;
    entry->prompt = copy_text(r, rows[0].value);
    entry->opts = copy_raw(r, rows[1].value);
    return read_answer(r, result, entry);
}

/* -1 means not started, or killed. */
static bool copy_exit_code(struct reader *r, const struct json *j, int *out)
{
    uint64_t code = 0;

    if (j && str_is(j->text, "-1")) {
        *out = -1;
        return true;
    }
    if (!copy_number(r, "exit_code", j, EXIT_CODE_MAX, &code))
        return false;
    *out = (int)code;
    return true;
}

static bool read_outcome(struct reader *r, const struct json *result,
                         struct tape_entry *entry)
{
    struct member rows[] = {
        {"ok", JSON_FALSE, false, NULL},
        {"exit_code", JSON_NUMBER, false, NULL},
        {"result", JSON_STRING, true, NULL},
        {"truncated", JSON_FALSE, false, NULL},
    };
    struct command_result *out = &entry->outcome;

    if (!TAKE(r, "result", result, rows) ||
        !copy_exit_code(r, rows[1].value, &out->exit_code))
        return false;
    if (!rows[1].value && rows[0].value && rows[0].value->kind == JSON_FALSE)
        return fail(r, "result: \"ok\" is false: \"exit_code\" is missing");
    out->ok = copy_bool(rows[0].value, out->exit_code == 0);
    if (out->ok && out->exit_code != 0)
        return fail(r, "result: \"ok\" with an \"exit_code\" other than 0");
    out->result = copy_text(r, rows[2].value);
    out->truncated = copy_bool(rows[3].value, false);
    return true;
}

static bool read_argv(struct reader *r, const struct json *argv,
                      struct tape_entry *entry)
{
    struct str *words;

    if (argv->count == 0 || argv->count > COMMAND_MAX_WORDS)
        return fail(r, "command: \"argv\" has to have 1 to %d words",
                    COMMAND_MAX_WORDS);
    words = arena_array(r->arena, argv->count, sizeof *words);
    entry->argv = words;
    for (const struct json *j = argv->first; j; j = j->next) {
        if (j->kind != JSON_STRING)
            return fail(r, "command: \"argv\" has to be a list of strings");
        words[entry->argc++] = copy_text(r, j);
    }
    return true;
}

static bool read_command(struct reader *r, const struct json *command,
                         const struct json *result, struct tape_entry *entry)
{
    struct member rows[] = {
        {"argv", JSON_ARRAY, true, NULL},
        {"opts", JSON_OBJECT, false, NULL},
    };

    if (!TAKE(r, "command", command, rows) ||
        !read_argv(r, rows[0].value, entry))
        return false;
    entry->opts = copy_raw(r, rows[1].value);
    return read_outcome(r, result, entry);
}

static bool read_entry(struct reader *r, const struct json *line)
{
    struct member rows[] = {
        {"ask", JSON_OBJECT, false, NULL},
        {"command", JSON_OBJECT, false, NULL},
        {"result", JSON_OBJECT, true, NULL},
    };
    struct tape *t = r->out;
    struct tape_entry *entry;

    if (!TAKE(r, "the line", line, rows))
        return false;
    if (!rows[0].value == !rows[1].value)
        return fail(r, "the line has to have either \"ask\" or \"command\"");
    if (t->count == TAPE_MAX_ENTRIES)
        return err_set(r->e, ERR_LIMIT, "%s:%u: more than %d asks and commands",
                       r->file, r->number, TAPE_MAX_ENTRIES);
    t->entries = arena_grow(r->arena, t->entries, t->count, &r->capacity,
                            sizeof *t->entries);
    entry = &t->entries[t->count++];
    *entry = (struct tape_entry){.line = r->number};
    return rows[0].value ? read_ask(r, rows[0].value, rows[2].value, entry)
                         : read_command(r, rows[1].value, rows[2].value, entry);
}

/* --- the last line, and all of them ------------------------------------------ */

static bool read_end(struct reader *r, const struct json *line)
{
    struct member rows[] = {
        {"envelope", JSON_OBJECT, false, NULL},
        {"error", JSON_STRING, false, NULL},
    };
    struct tape *t = r->out;

    if (!TAKE(r, "the end of the tape", line, rows))
        return false;
    if (rows[0].value && rows[1].value)
        return fail(r, "the tape ends with an envelope and an error");
    t->end_line = r->number;
    if (rows[0].value) {
        t->envelope = copy_raw(r, rows[0].value);
        return true;
    }
    t->error = copy_text(r, rows[1].value);
    return str_starts(t->error, STR("error:")) ||
           fail(r, "\"error\" has to begin with \"error:\"");
}

static bool read_line(struct reader *r)
{
    const struct json_options options = {
        .max_depth = TAPE_MAX_DEPTH,
        .max_nodes = TAPE_MAX_NODES,
    };
    const struct json *line;
    struct err why = {0};

    if (r->out->end_line)
        return fail(r, "something stands behind the end of the tape");
    if (!json_parse(r->line, &options, &r->scratch, &line, NULL, &why)) {
        /* Remove "line 1, ", since each line is parsed separately. */
        struct str said = str_cstr(err_first(&why));

        if (str_starts(said, STR("line 1, ")))
            said = str_from_index(said, 8);
        err_set(r->e, why.code, "%s:%u: %.*s", r->file, r->number,
                STR_ARG(said));
        return false;
    }
    if (line->kind != JSON_OBJECT)
        return fail(r, "a line of a tape is a JSON object");
    if (r->number == 1)
        return read_head(r, line);
    if (json_get(line, "envelope") || json_get(line, "error"))
        return read_end(r, line);
    return read_entry(r, line);
}

static bool read_lines(struct reader *r, struct str text, struct tape *t)
{
    size_t at = 0;

    if (text.n > TAPE_MAX_BYTES)
        return err_set(r->e, ERR_LIMIT, "%s: a tape has at most %u bytes",
                       r->file, TAPE_MAX_BYTES);
    while (at < text.n) {
        struct str rest = str_from_index(text, at);
        size_t end = str_find_char(rest, '\n');
        bool ok;

        r->line = str_slice(rest, 0, end);
        r->number++;
        ok = read_line(r);
        arena_done(&r->scratch);
        if (!ok)
            return false;
        t->end_from = at;
        t->end_to = at + r->line.n;
        at += r->line.n + (end != SIZE_MAX);
    }
    return r->number > 0 ||
           err_set(r->e, ERR_FORMAT, "%s: no tape: it is empty", r->file);
}

bool tape_parse_begun(struct str text, const char *name, struct arena *a,
                      struct tape *out, struct err *e)
{
    struct tape t = {.file = name, .limits = limits_default};
    struct reader r = {.file = name, .arena = a, .out = &t, .e = e};

    if (!read_lines(&r, text, &t))
        return false;
    *out = t;
    return true;
}

bool tape_parse(struct str text, const char *name, struct arena *a,
                struct tape *out, struct err *e)
{
    struct tape t = {.file = name, .limits = limits_default};
    struct reader r = {.file = name, .arena = a, .out = &t, .e = e};

    if (!read_lines(&r, text, &t))
        return false;
    if (!t.end_line) {
        fail(&r, "the tape ends here, without an envelope or an error");
        return err_hint(e, "it was cut, or written by hand: {\"envelope\":{}} "
                           "and mapm test --update complete it");
    }
    *out = t;
    return true;
}
