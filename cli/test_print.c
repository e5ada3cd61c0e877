#include "test_print.h"

#include "base/json.h"

/* Renders results as text and as JSON. */

/* --- words -------------------------------------------------------------------- */

static const struct {
    const char *word, *json;
    enum term_style style;
} ends[] = {
    [SKILL_TEST_OK] = {"ok", "ok", TERM_GREEN},
    [SKILL_TEST_FAILED] = {"FAIL", "failed", TERM_RED},
    [SKILL_TEST_UPDATED] = {"updated", "updated", TERM_YELLOW},
};

static enum term_style style_of(struct str line)
{
    if (str_starts(line, STR("--- ")) || str_starts(line, STR("+++ ")))
        return TERM_BOLD;
    if (str_starts(line, STR("@@ ")))
        return TERM_CYAN;
    if (str_starts(line, STR("-")))
        return TERM_RED;
    return str_starts(line, STR("+")) ? TERM_GREEN : TERM_PLAIN;
}

static void print_lines(struct term *t, struct str lines)
{
    struct str line;

    while (lines.n && str_line(&lines, &line))
        term_style_print(t, style_of(line), "          %.*s\n", STR_ARG(line));
}

static void print_tape(struct invocation *inv,
                       const struct skill_test_tape *tape)
{
    struct term *t = &inv->term;

    if (tape->end == SKILL_TEST_OK && has_option(inv, OPTION_QUIET))
        return;
    term_print(t, "  ");
    term_style_print(t, ends[tape->end].style, "%-7s", ends[tape->end].word);
    term_print(t, " %.*s\n", STR_ARG(tape->file));
    if (tape->note.n)
        print_lines(t, tape->note);
    if (tape->end == SKILL_TEST_OK)
        return;
    print_lines(t, tape->difference);
    print_lines(t, tape->report);
}

static bool has_output(struct invocation *inv, const struct skill_test *s)
{
    if (has_option(inv, OPTION_QUIET))
        return s->problem.n || s->failed || s->updated;
    return s->count || s->problem.n || has_option(inv, OPTION_VERBOSE);
}

void test_print(struct invocation *inv, const struct skill_test *s)
{
    struct term *t = &inv->term;

    if (!has_output(inv, s))
        return;
    term_style_print(t, TERM_BOLD, "%.*s\n", STR_ARG(s->path));
    if (s->problem.n) {
        term_style_print(t, TERM_RED, "  FAIL   ");
        term_print(t, " it cannot run\n");
        print_lines(t, s->problem);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        print_tape(inv, &s->tapes[i]);
    if (s->count == 0)
        term_style_print(t, TERM_DIM, "  no tapes\n");
}

/* --- the sum -------------------------------------------------------------------- */

struct sum {
    size_t skills, tapes, ok, failed, updated;
    size_t differ; /* number of tapes that failed */
};

static struct sum sum_of(const struct skill_tests *skills)
{
    struct sum sum = {0};

    for (size_t i = 0; i < skills->count; i++) {
        const struct skill_test *s = &skills->items[i];

        sum.skills += s->count > 0 || s->problem.n > 0;
        sum.tapes += s->problem.n ? 0 : s->count;
        sum.failed += s->problem.n ? 1 : s->failed;
        sum.differ += s->problem.n ? 0 : s->failed;
        sum.updated += s->updated;
    }
    for (size_t i = 0; i < skills->count; i++)
        for (size_t k = 0; k < skills->items[i].count; k++)
            sum.ok += !skills->items[i].problem.n &&
                      skills->items[i].tapes[k].end == SKILL_TEST_OK;
    return sum;
}

static const char *ending(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_sum(struct invocation *inv, const struct sum *sum)
{
    struct term *t = &inv->term;

    term_print(t, "%zu metaskill%s, %zu tape%s: %zu ok", sum->skills,
               ending(sum->skills), sum->tapes, ending(sum->tapes), sum->ok);
    if (sum->updated)
        term_print(t, ", %zu updated", sum->updated);
    if (sum->failed)
        term_style_print(t, TERM_RED, ", %zu failed", sum->failed);
    term_print(t, "\n");
    if (sum->differ)
        term_note(t, "next: %smapm run SKILL --record TAPE records anew",
                  has_option(inv, OPTION_UPDATE)
                      ? "what asks for something else stays as it is; "
                      : "mend the program; or mapm test --update takes its "
                        "new ends, ");
}

/* --- JSON ------------------------------------------------------------------------ */

static void put_tape(struct json_writer *w, const struct skill_test_tape *tape)
{
    json_begin_object(w);
    json_member_string(w, "file", tape->file);
    json_member_bool(w, "ok", tape->end == SKILL_TEST_OK);
    json_member_string(w, "result", str_cstr(ends[tape->end].json));
    json_member_number(w, "asks", tape->asks);
    json_member_number(w, "commands", tape->commands);
    json_member_optional(w, "difference", tape->difference);
    json_member_optional(w, "report", tape->report);
    json_member_optional(w, "note", tape->note);
    json_end_object(w);
}

static void put_skill(struct json_writer *w, const struct skill_test *s)
{
    json_begin_object(w);
    json_member_string(w, "name", s->name);
    json_member_string(w, "path", s->path);
    json_member_bool(w, "ok", !s->problem.n && !s->failed && !s->updated);
    json_member_optional(w, "problem", s->problem);
    json_member_array(w, "tapes");
    for (size_t i = 0; i < s->count && !s->problem.n; i++)
        put_tape(w, &s->tapes[i]);
    json_end_array(w);
    json_end_object(w);
}

static void print_document(struct invocation *inv,
                           const struct skill_tests *skills,
                           const struct sum *sum)
{
    struct json_writer *w = print_json_begin(inv, "mapm.test/1", NULL);

    json_member_number(w, "ok", sum->ok);
    json_member_number(w, "updated", sum->updated);
    json_member_number(w, "failed", sum->failed);
    json_member_array(w, "metaskills");
    for (size_t i = 0; i < skills->count; i++)
        put_skill(w, &skills->items[i]);
    json_end_array(w);
    print_json_end(inv);
}

void test_print_end(struct invocation *inv, const struct skill_tests *skills)
{
    struct sum sum = sum_of(skills);

    if (has_option(inv, OPTION_JSON))
        print_document(inv, skills, &sum);
    else if (!has_option(inv, OPTION_QUIET))
        print_sum(inv, &sum);
}
