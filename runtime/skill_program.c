#include "mapm/runtime.h"
#include "mapm/starlark.h"

#include "guest.h"

/*
 * A program judged without being run. Starlark reports all static errors of a
 * source as "file:line:column: text", each followed by its source line and
 * hints; here they become complaints again.
 */

#define FIELD "metaskill"

/* Names up to here appear in reports as they are. */
#define SHOWN_MAX_BYTES 100

/* What an error begins with tells what kind it is. */
/* clang-format off */
static const struct {
    const char *start, *code;
} kinds[] = {
    {"undefined: ", "program-name"},
    {"load",        "program-load"}, /* a load that is malformed, too */
    {"",            "program-syntax"},
};
/* clang-format on */

static const char *code_of(struct str message)
{
    size_t i = 0;

    while (!str_starts(message, str_from(kinds[i].start)))
        i++;
    return kinds[i].code;
}

static void complain(struct complaints *why, const char *code, struct str file,
                     struct star_place at, struct str message)
{
    struct complaint *c;

    complaints_add(why, true, code, FIELD, at.line, "%.*s", STR_ARG(message));
    c = &why->items[why->count - 1];
    c->file = arena_str(why->arena, file);
    c->column = at.column;
}

/* "12:" off `*line`. */
static bool take_number(struct str *line, uint32_t *out)
{
    struct str head;
    uint64_t n;

    if (!line->p || !str_cut(line, ':', &head) ||
        !str_number(head, UINT32_MAX, &n))
        return false;
    *out = (uint32_t)n;
    return line->p != NULL;
}

/* False for what is no first line of an error. */
static bool add_error(struct complaints *why, struct str file, struct str shown,
                      struct str line)
{
    struct star_place at = {0};

    if (!str_starts(line, shown) || line.n == shown.n || line.p[shown.n] != ':')
        return false;
    line = str_from_index(line, shown.n + 1);
    if (!take_number(&line, &at.line) || !take_number(&line, &at.column))
        return false;
    line = str_trim(line);
    complain(why, code_of(line), file, at, line);
    return true;
}

static void add_errors(struct star *s, struct complaints *why, struct str file,
                       struct str shown)
{
    struct str rest = str_from(star_error_report(s)), line;
    struct star_place at = {.line = 1, .column = 1};
    bool any = false;

    while (star_error(s) == STAR_ERROR_STATIC && str_line(&rest, &line))
        any |= add_error(why, file, shown, line);
    if (any)
        return;
    /* A limit, or an error without a place. */
    (void)star_error_place(s, &at);
    complain(why, "program-syntax", file, at, str_from(star_error_message(s)));
}

static void check_run(const struct star_program *p, struct str file,
                      struct complaints *why)
{
    struct star_signature run = {.line = 1, .column = 1};
    struct star_place at = {.line = 1, .column = 1};
    const char *fault = NULL;

    switch (star_program_global(p, "run", &run)) {
    case STAR_GLOBAL_NONE:
        fault = "no function run: a metaskill begins with def run(input):";
        break;
    case STAR_GLOBAL_VALUE:
        return; /* only running it tells */
    case STAR_GLOBAL_FUNCTION:
        at.line = run.line;
        at.column = run.column;
        if (run.positional == 0)
            fault = "run takes no argument: it is called with one, the input";
        else if (run.required > 1 || run.named > 0)
            fault = "run needs more than one argument: it is called with one, "
                    "the input";
    }
    if (fault)
        complain(why, "program-run", file, at, str_from(fault));
}

static bool is_plain(struct str file)
{
    for (size_t i = 0; i < file.n; i++)
        if (file.p[i] <= ' ' || file.p[i] > '~')
            return false;
    return file.n > 0 && file.n <= SHOWN_MAX_BYTES;
}

void skill_check_program(struct str file, struct str program,
                         struct complaints *why)
{
    struct star *s = guest_open(NULL, NULL);
    struct str shown = is_plain(file) ? file : STR("SKILL.star");
    struct star_program *p;

    if (!s) {
        complaints_add(why, true, "program-syntax", FIELD, 0,
                       "no memory to compile it");
        return;
    }
    p = star_compile(s, str_c(shown, why->arena), program.p, program.n);
    if (p)
        check_run(p, file, why);
    else
        add_errors(s, why, file, shown);
    star_close(s);
}
