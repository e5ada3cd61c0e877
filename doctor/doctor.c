#include <stdarg.h>
#include <stdio.h>

#include "checks.h"

#define TEXT_MAX_BYTES 8192

static struct str format_text(struct doctor *d, const char *format,
                              va_list args)
{
    char text[TEXT_MAX_BYTES];

    vsnprintf(text, sizeof text, format, args);
    return arena_str(&d->cx->arena, str_cstr(text));
}

void doctor_add(struct doctor *d, const char *group, struct str name,
                enum doctor_state state, const char *format, ...)
{
    struct doctor_report *r = d->report;
    struct doctor_check *c;
    va_list args;

    r->checks = arena_grow(&d->cx->arena, r->checks, r->count, &r->capacity,
                           sizeof *r->checks);
    c = &r->checks[r->count++];
    r->counts[state]++;
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
    d->report->checks[d->report->count - 1].hint = format_text(d, format, args);
    va_end(args);
}

void doctor_add_err(struct doctor *d, const char *group, struct str name,
                    enum doctor_state state, const struct err *e)
{
    struct str text = {"", 0};

    for (const char *m = NULL; (m = err_prev(e, m)) != NULL;)
        text = arena_printf(&d->cx->arena, "%.*s%s%s", STR_ARG(text),
                            text.n ? ": " : "", m);
    doctor_add(d, group, name, state, "%.*s", STR_ARG(text));
    if (e->hint[0])
        doctor_hint(d, "%s", e->hint);
}

void doctor_examine(struct context *cx, bool runs, struct doctor_report *out)
{
    struct doctor d = {.cx = cx, .report = out};

    *out = (struct doctor_report){0};
    doctor_check_files(&d);
    doctor_check_programs(&d);
    doctor_check_sandbox(&d);
    doctor_check_policy(&d);
    doctor_check_clients(&d, runs);
    doctor_check_ask(&d);
    if (d.has_layer)
        layer_close(&d.layer);
}
