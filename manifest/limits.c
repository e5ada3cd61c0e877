#include "mapm/project.h"

#include <stdarg.h>
#include <stdio.h>

/* clang-format off */
const struct limits limits_default = {{{
    .package_max_files = {
        "package_max_files", PACKAGE_MAX_FILES, 1, PACKAGE_FILES_CEILING, {0}},
    .package_max_bytes = {
        "package_max_bytes", PACKAGE_MAX_BYTES, 1, BYTES_CEILING, {0}},
    .file_max_bytes = {
        "file_max_bytes", FILE_MAX_BYTES, 1, BYTES_CEILING, {0}},
    .package_max_depth = {
        "package_max_depth", PACKAGE_MAX_DEPTH, 1, PACKAGE_DEPTH_CEILING, {0}},
    .transfer_max_bytes = {
        "transfer_max_bytes", TRANSFER_MAX_BYTES, 1, BYTES_CEILING, {0}},
    .transfer_max_objects = {
        "transfer_max_objects", TRANSFER_MAX_OBJECTS, 1, 10000000, {0}},
    .transfer_max_seconds = {
        "transfer_max_seconds", TRANSFER_MAX_SECONDS, 1, SECONDS_CEILING, {0}},
    .transfer_stall_seconds = {
        "transfer_stall_seconds", TRANSFER_STALL_SECONDS, 1, SECONDS_CEILING, {0}},
    .graph_max_packages = {
        "graph_max_packages", GRAPH_MAX_PACKAGES, 1, 1000000, {0}},
    .graph_max_depth = {
        "graph_max_depth", GRAPH_MAX_DEPTH, 1, 1000000, {0}},
    .graph_max_edges = {
        "graph_max_edges", GRAPH_MAX_EDGES, 1, 10000000, {0}},
    .run_max_asks = {
        "run_max_asks", RUN_MAX_ASKS, 1, 20, {0}},
    .run_max_commands = {
        "run_max_commands", RUN_MAX_COMMANDS, 0, 100, {0}},
    .run_max_seconds = {
        "run_max_seconds", RUN_MAX_SECONDS, 1, 3600, {0}},
    .run_max_traces = {
        "run_max_traces", RUN_MAX_TRACES, 0, 1000, {0}},
    .run_max_memory_bytes = {
        "run_max_memory_bytes", RUN_MAX_MEMORY_BYTES, 1 << 20, BYTES_CEILING, {0}},
    .run_max_steps = {
        "run_max_steps", RUN_MAX_STEPS, 1, RUN_MAX_STEPS, {0}},
    .trace_max_bytes = {
        "trace_max_bytes", TRACE_MAX_BYTES, 64, 64 * 1024, {0}},
    .answer_max_chars = {
        "answer_max_chars", ANSWER_MAX_CHARS, 1, 1000000, {0}},
    .command_max_chars = {
        "command_max_chars", COMMAND_MAX_CHARS, 1, 1000000, {0}},
    .result_max_chars = {
        "result_max_chars", RESULT_MAX_CHARS, 1000, 1000000, {0}},
    .ask_max_turns = {
        "ask_max_turns", ASK_MAX_TURNS, 1, 200, {0}},
    .command_max_seconds = {
        "command_max_seconds", COMMAND_MAX_SECONDS, 1, 3600, {0}},
    .session_max_activations = {
        "session_max_activations", SESSION_MAX_ACTIVATIONS, 1, 1000, {0}},
    .session_max_tokens = {
        "session_max_tokens", SESSION_MAX_TOKENS, 1, 100000000, {0}},
    .session_warn_tokens = {
        "session_warn_tokens", SESSION_WARN_TOKENS, 1, 100000000, {0}},
}}};
/* clang-format on */

_Static_assert(sizeof(struct limits) == LIMITS_COUNT * sizeof(struct limit),
               "LIMITS_COUNT counts the fields");

struct limit *limits_find(struct limits *l, struct str name)
{
    for (size_t i = 0; i < LIMITS_COUNT; i++)
        if (str_is(name, l->all[i].name))
            return &l->all[i];
    return NULL;
}

const char *limit_words(const struct limit *l, struct limit_words *words)
{
    snprintf(words->text, sizeof words->text, " (%s%s%.*s)", l->name,
             l->from.n ? ", " : "", STR_ARG(l->from));
    return words->text;
}

bool limit_hint(const struct limit *l, struct err *e)
{
    uint64_t more = l->value * 2 < l->ceiling ? l->value * 2 : l->ceiling;

    if (l->from.n)
        return err_hint(e, "%s is %llu in %.*s", l->name,
                        (unsigned long long)l->value, STR_ARG(l->from));
    return err_hint(e,
                    "your own ~/.config/mapm/config.yaml may raise it: "
                    "limits: {%s: %llu}",
                    l->name, (unsigned long long)more);
}

bool limit_fail(const struct limit *l, struct err *e, const char *format, ...)
{
    char message[1024];
    struct limit_words words;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    err_set(e, ERR_LIMIT, "%s%s", message, limit_words(l, &words));
    return limit_hint(l, e);
}

/* --- what a configuration says -------------------------------------------- */

static bool fail_raise(const struct limit *l, const struct setting *s,
                       const char *name, struct err *e)
{
    err_set(e, ERR_FORMAT,
            "%s:%u: %s: a workspace may only lower it (%llu%s%.*s)", name,
            s->line, l->name, (unsigned long long)l->value,
            l->from.n ? ", " : "", STR_ARG(l->from));
    return err_hint(e, "raise it in your own ~/.config/mapm/config.yaml");
}

bool limits_apply(struct limits *l, const struct project *p,
                  enum project_role role, const char *name, struct arena *a,
                  struct err *e)
{
    static const struct str section = STR_INIT("limits.");

    for (size_t i = 0; i < p->setting_count; i++) {
        const struct setting *s = &p->settings[i];
        struct limit *limit;
        uint64_t value;

        if (!str_starts(s->name, section))
            continue;
        limit = limits_find(l, str_from_index(s->name, section.n));
        if (!limit || !str_number(s->value, limit->ceiling, &value))
            return err_set(e, ERR_FORMAT, "%s:%u: not a limit", name, s->line);
        if (role != PROJECT_USER && value > limit->value) {
            /* A later file cannot raise a limit that an earlier one lowered. */
            if (value > limits_default.all[limit - l->all].value)
                return fail_raise(limit, s, name, e);
            continue;
        }
        limit->value = value;
        limit->from = arena_printf(a, "%s:%u", name, s->line);
    }
    return true;
}
