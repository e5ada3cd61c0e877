#include <stdlib.h>

#include "doctor.h"

static const char ask_group[] = "ask";

/* Which of them would be asked, and why. */
static void look_choice(struct doctor *d, const struct asker_wishes *w)
{
    struct err e = {0};

    if (asker_choose(w, &d->inv->cx.arena, &d->asker, &e)) {
        doctor_add(d, ask_group, STR("used"), DOCTOR_OK, "%.*s (%.*s): %.*s",
                   STR_ARG(asker_name(d->asker)), STR_ARG(asker_why(d->asker)),
                   STR_ARG(asker_program(d->asker)));
        return;
    }
    d->asker = NULL;
    doctor_add_err(d, ask_group, STR("used"),
                   w->environment.n || w->user->ask.line ||
                           w->workspace->ask.line
                       ? DOCTOR_BROKEN
                       : DOCTOR_MISSING,
                   &e);
}

void doctor_look_ask(struct doctor *d)
{
    static const struct project none;
    struct asker_wishes w = {
        .environment = str_from(getenv("MAPM_ASK")),
        .user = &d->user,
        .workspace = d->has_layer ? &d->layer.project : &none,
        .user_name = "config.yaml",
        .workspace_name = "mapm.yaml",
        .dir = d->has_layer ? d->layer.path : d->inv->cx.cwd,
    };
    struct asker_found *found;
    size_t count = 0;

    look_choice(d, &w);
    found = asker_list(&w, &d->inv->cx.arena, &count);
    for (size_t i = 0; i < count; i++) {
        const struct asker_found *f = &found[i];
        const char *between = f->place.n && f->note.n ? ", " : "";

        doctor_add(d, ask_group, str_from(f->name),
                   f->place.n ? DOCTOR_OK : DOCTOR_MISSING, "%.*s%s%.*s",
                   STR_ARG(f->place), between, STR_ARG(f->note));
    }
}
