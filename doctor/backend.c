
#include "mapm/backend.h"

#include "base/env.h"

#include "checks.h"

static const char ask_group[] = "ask";

/* Reports which backend would be used, and why. */
static void check_choice(struct doctor *d, const struct backend_selection *w)
{
    struct err e = {0};

    if (backend_select(w, &d->cx->arena, &d->report->backend, &e)) {
        doctor_add(d, ask_group, STR("used"), DOCTOR_OK, "%.*s (%.*s): %.*s",
                   STR_ARG(backend_name(d->report->backend)),
                   STR_ARG(backend_why(d->report->backend)),
                   STR_ARG(backend_program(d->report->backend)));
        return;
    }
    d->report->backend = NULL;
    doctor_add_err(d, ask_group, STR("used"),
                   w->environment.n || w->user->ask.line ||
                           w->workspace->ask.line
                       ? DOCTOR_BROKEN
                       : DOCTOR_MISSING,
                   &e);
}

void doctor_check_ask(struct doctor *d)
{
    static const struct project none;
    struct backend_selection w = {
        .environment = env_get("MAPM_ASK"),
        .user = &d->user,
        .workspace = d->has_layer ? &d->layer.project : &none,
        .user_name = "config.yaml",
        .workspace_name = "mapm.yaml",
        .dir = d->has_layer ? d->layer.path : d->cx->cwd,
    };
    struct backend_found *found;
    size_t count = 0;

    check_choice(d, &w);
    found = backend_list(&w, &d->cx->arena, &count);
    for (size_t i = 0; i < count; i++) {
        const struct backend_found *f = &found[i];
        const char *between = f->place.n && f->note.n ? ", " : "";

        doctor_add(d, ask_group, str_cstr(f->name),
                   f->place.n ? DOCTOR_OK : DOCTOR_MISSING, "%.*s%s%.*s",
                   STR_ARG(f->place), between, STR_ARG(f->note));
    }
}
