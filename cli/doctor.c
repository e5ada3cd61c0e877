#include "mapm/doctor.h"

#include "base/json_record.h"
#include "base/text.h"

#include "command.h"
#include "doctor_restore.h"

/* mapm doctor: the report of mapm/doctor.h, as text or as JSON. */

#define STATE_WIDTH    7  /* "missing" */
#define LINE_MIN_WIDTH 20 /* narrower terminals get unwrapped lines */

static const struct {
    const char *word;
    enum term_style style;
} states[] = {
    [DOCTOR_OK] = {"ok", TERM_GREEN},
    [DOCTOR_WARN] = {"warn", TERM_YELLOW},
    [DOCTOR_MISSING] = {"missing", TERM_DIM},
    [DOCTOR_BROKEN] = {"broken", TERM_RED},
};

static size_t name_width(const struct doctor_report *d)
{
    size_t width = 0;

    for (size_t i = 0; i < d->count; i++)
        if (d->checks[i].name.n > width)
            width = d->checks[i].name.n;
    return width;
}

/* Prints text from column `indent` on; on a terminal, wraps lines at blanks. */
static void print_wrapped(struct term *t, struct str text, size_t indent)
{
    size_t width = t->is_out && t->width > indent + LINE_MIN_WIDTH
                       ? t->width - indent
                       : SIZE_MAX;

    while (text_width(text) > width) {
        struct str line = text_cut(text, width);
        size_t blank = str_find_last(line, ' ');

        if (blank == SIZE_MAX || blank == 0)
            break;
        term_print(t, "%.*s\n%*s", (int)blank, text.p, (int)indent, "");
        text = str_from_index(text, blank + 1);
    }
    term_print(t, "%.*s\n", STR_ARG(text));
}

static void print_check(struct term *t, const struct doctor_check *c,
                        size_t width)
{
    size_t indent = 2 + STATE_WIDTH + 2 + width + 2;

    term_print(t, "  ");
    term_style_print(t, states[c->state].style, "%-*s", STATE_WIDTH,
                     states[c->state].word);
    term_print(t, "  %-*.*s  ", (int)width, STR_ARG(c->name));
    print_wrapped(t, c->text, indent);
    if (c->hint.n) {
        term_print(t, "%*s-> ", (int)indent, "");
        print_wrapped(t, c->hint, indent + 3);
    }
}

static void print_sum(struct term *t, const struct doctor_report *d)
{
    unsigned broken = d->counts[DOCTOR_BROKEN], warn = d->counts[DOCTOR_WARN];

    if (broken)
        term_print(t, "\n%u thing%s broken.\n", broken,
                   broken == 1 ? " is" : "s are");
    else
        term_print(t, "\nNothing is broken.\n");
    if (warn)
        term_print(t, "%u warning%s.\n", warn, warn == 1 ? "" : "s");
}

static void print_text(struct term *t, const struct doctor_report *d)
{
    size_t width = name_width(d);
    const char *group = "";

    for (size_t i = 0; i < d->count; i++) {
        const struct doctor_check *c = &d->checks[i];

        if (c->group != group) {
            term_print(t, "%s", i ? "\n" : "");
            term_style_print(t, TERM_BOLD, "%s", c->group);
            term_print(t, "\n");
            group = c->group;
        }
        print_check(t, c, width);
    }
    print_sum(t, d);
}

static void write_backend(struct json_writer *w, const struct backend *k)
{
    json_key(w, "ask");
    if (k == NULL) {
        json_null(w);
        return;
    }
    json_begin_object(w);
    json_member_string(w, "name", backend_name(k));
    json_member_string(w, "program", backend_program(k));
    json_member_string(w, "why", backend_why(k));
    json_end_object(w);
}

static const char *state_word(unsigned state)
{
    return states[state].word;
}

static const struct json_member check_members[] = {
    JSON_MEMBER(struct doctor_check, "group", group),
    JSON_MEMBER(struct doctor_check, "name", name),
    JSON_MEMBER_NAMED(struct doctor_check, "state", state, state_word),
    JSON_MEMBER(struct doctor_check, "text", text),
    JSON_MEMBER_OR_NULL(struct doctor_check, "hint", hint),
};
JSON_RECORD(check, struct doctor_check);

static void print_document(struct invocation *inv,
                           const struct doctor_report *d)
{
    struct json_writer *w = print_json_begin(inv, "mapm.doctor/1", NULL);

    json_member_string(w, "version", STR(MAPM_VERSION));
    json_member_bool(w, "ok", d->counts[DOCTOR_BROKEN] == 0);
    write_backend(w, d->backend);
    json_member_records(w, "checks", &check_record, d->checks, d->count);
    print_json_end(inv);
}

COMMAND(command_doctor)
{
    struct doctor_report report;

    if (has_option(inv, OPTION_RESTORE_USER))
        return doctor_restore(inv, exit_code, e);
    if (inv->arguments.count)
        return err_set(e, ERR_USAGE,
                       "mapm doctor takes a client with --restore-user alone");
    doctor_examine(&inv->cx, has_option(inv, OPTION_RUN), &report);
    if (has_option(inv, OPTION_JSON))
        print_document(inv, &report);
    else
        print_text(&inv->term, &report);
    *exit_code = report.counts[DOCTOR_BROKEN] ? EXIT_FAILED : EXIT_DONE;
    return true;
}
