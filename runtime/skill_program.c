#include "mapm/metaskill.h"
#include "mapm/starlark.h"

#include "interpreter.h"

/* Compiles a program without running it; each static error becomes a diagnostic. */

#define FIELD "metaskill"

/* Codes by the first words of an error. */
/* clang-format off */
static const struct {
    const char *start, *code;
} kinds[] = {
    {"undefined: ", "program-name"},
    {"load",        "program-load"}, /* also for a malformed load */
    {"",            "program-syntax"},
};
/* clang-format on */

static const char *code_of(struct str message)
{
    size_t i = 0;

    while (!str_starts(message, str_cstr(kinds[i].start)))
        i++;
    return kinds[i].code;
}

static void report(struct diagnostics *why, const char *code, struct str file,
                   uint32_t line, uint32_t column, const char *message,
                   const char *hint)
{
    struct diagnostic *c;

    diagnostics_add(why, true, code, FIELD, line, "%s", message);
    c = &why->items[why->count - 1];
    c->file = arena_str(why->arena, file);
    c->column = column;
    c->hint = arena_str(why->arena, str_cstr(hint));
}

/* A limit, or an error of the whole source, has no position and is shown at the
 * start. */
static void add_errors(struct star *s, struct diagnostics *why, struct str file)
{
    struct star_error_info error;

    for (size_t i = 0; star_error_at(s, i, &error); i++) {
        bool has_place = error.place.line > 0;
        const char *code = star_error(s) == STAR_ERROR_STATIC && has_place
                               ? code_of(str_cstr(error.message))
                               : "program-syntax";

        report(why, code, file, has_place ? error.place.line : 1,
               has_place ? error.place.column : 1, error.message, error.hint);
    }
}

static void check_run(const struct star_program *p, struct str file,
                      struct diagnostics *why)
{
    struct star_signature run = {.line = 1, .column = 1};
    const char *fault = NULL;

    switch (star_program_global(p, "run", &run)) {
    case STAR_GLOBAL_NONE:
        fault = "no function run: a metaskill begins with def run(input):";
        break;
    case STAR_GLOBAL_VALUE:
        return; /* known only at run time */
    case STAR_GLOBAL_FUNCTION:
        if (run.positional == 0)
            fault = "run takes no argument: it is called with one, the input";
        else if (run.required > 1 || run.named > 0)
            fault = "run needs more than one argument: it is called with one, "
                    "the input";
    }
    if (fault)
        report(why, "program-run", file, run.line, run.column, fault, NULL);
}

void metaskill_check_program(struct str file, struct str program,
                             struct diagnostics *why)
{
    struct star *s = interpreter_open(NULL, NULL);
    struct star_program *p;

    if (!s) {
        diagnostics_add(why, true, "program-syntax", FIELD, 0,
                        "no memory to compile it");
        return;
    }
    p = star_compile(s, str_dup0(file, why->arena), program.p, program.n);
    if (p)
        check_run(p, file, why);
    else
        add_errors(s, why, file);
    star_close(s);
}
