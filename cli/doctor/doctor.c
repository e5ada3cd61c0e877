#include "doctor.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/backend.h"

#include <stdarg.h>
#include <stdio.h>

#include "../command.h"

#define TEXT_MAX_BYTES 8192
#define STATE_WIDTH    7  /* "missing" */
#define LINE_MIN_WIDTH 20 /* narrower than that is not wrapped */

static const struct {
    const char *word;
    enum term_style style;
} states[] = {
    [DOCTOR_OK] = {"ok", TERM_GREEN},
    [DOCTOR_WARN] = {"warn", TERM_YELLOW},
    [DOCTOR_MISSING] = {"missing", TERM_DIM},
    [DOCTOR_BROKEN] = {"broken", TERM_RED},
};

/* --- the list ------------------------------------------------------------- */

static struct str format_text(struct doctor *d, const char *format,
                              va_list args)
{
    char text[TEXT_MAX_BYTES];

    vsnprintf(text, sizeof text, format, args);
    return arena_str(&d->inv->cx.arena, str_cstr(text));
}

void doctor_add(struct doctor *d, const char *group, struct str name,
                enum doctor_state state, const char *format, ...)
{
    struct doctor_check *c;
    va_list args;

    d->checks = arena_grow(&d->inv->cx.arena, d->checks, d->count, &d->capacity,
                           sizeof *d->checks);
    c = &d->checks[d->count++];
    d->counts[state]++;
    va_start(args, format);
    *c = (struct doctor_check){.group = group,
                               .name = name,
                               .state = state,
                               .text = format_text(d, format, args)};
    va_end(args);
}

void doctor_hint(struct doctor *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    d->checks[d->count - 1].hint = format_text(d, format, args);
    va_end(args);
}

void doctor_add_err(struct doctor *d, const char *group, struct str name,
                    enum doctor_state state, const struct err *e)
{
    struct str text = {"", 0};

    for (const char *m = NULL; (m = err_prev(e, m)) != NULL;)
        text = arena_printf(&d->inv->cx.arena, "%.*s%s%s", STR_ARG(text),
                            text.n ? ": " : "", m);
    doctor_add(d, group, name, state, "%.*s", STR_ARG(text));
    if (e->hint[0])
        doctor_hint(d, "%s", e->hint);
}

/* --- shown ---------------------------------------------------------------- */

static size_t name_width(const struct doctor *d)
{
    size_t width = 0;

    for (size_t i = 0; i < d->count; i++)
        if (d->checks[i].name.n > width)
            width = d->checks[i].name.n;
    return width;
}

/* From column `indent` on; on a terminal lines end at a blank. */
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

static void print_check(struct doctor *d, const struct doctor_check *c,
                        size_t width)
{
    struct term *t = &d->inv->term;
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

static void print_sum(struct doctor *d)
{
    struct term *t = &d->inv->term;
    unsigned broken = d->counts[DOCTOR_BROKEN], warn = d->counts[DOCTOR_WARN];

    if (broken)
        term_print(t, "\n%u thing%s broken.\n", broken,
                   broken == 1 ? " is" : "s are");
    else
        term_print(t, "\nNothing is broken.\n");
    if (warn)
        term_print(t, "%u warning%s.\n", warn, warn == 1 ? "" : "s");
}

static void print_text(struct doctor *d)
{
    struct term *t = &d->inv->term;
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
        print_check(d, c, width);
    }
    print_sum(d);
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

static void print_document(struct doctor *d)
{
    struct json_writer *w = print_json_begin(d->inv, "mapm.doctor/1", NULL);

    json_member_string(w, "version", STR(MAPM_VERSION));
    json_member_bool(w, "ok", d->counts[DOCTOR_BROKEN] == 0);
    write_backend(w, d->backend);
    json_member_array(w, "checks");
    for (size_t i = 0; i < d->count; i++) {
        const struct doctor_check *c = &d->checks[i];

        json_begin_object(w);
        json_member_string(w, "group", str_cstr(c->group));
        json_member_string(w, "name", c->name);
        json_member_string(w, "state", str_cstr(states[c->state].word));
        json_member_string(w, "text", c->text);
        json_member_optional(w, "hint", c->hint);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(d->inv);
}

COMMAND(command_doctor)
{
    struct doctor d = {.inv = inv};

    if (has_option(inv, OPTION_RESTORE_USER))
        return doctor_restore(inv, exit_code, e);
    if (inv->arguments.count)
        return err_set(e, ERR_USAGE,
                       "mapm doctor takes a client with --restore-user alone");
    doctor_look_files(&d);
    doctor_look_programs(&d);
    doctor_look_sandbox(&d);
    doctor_look_policy(&d);
    doctor_look_clients(&d, has_option(inv, OPTION_RUN));
    doctor_look_ask(&d);
    if (has_option(inv, OPTION_JSON))
        print_document(&d);
    else
        print_text(&d);
    if (d.has_layer)
        layer_close(&d.layer);
    *exit_code = d.counts[DOCTOR_BROKEN] ? EXIT_FAILED : EXIT_DONE;
    return true;
}
