#include "base/json.h"
#include "mapm/clients.h"
#include "mapm/git_host.h"
#include "mapm/host_config.h"
#include "mapm/limits.h"

#include <stdio.h>

/* What the schemas of mapm.yaml and config.yaml have from tables of the code, as
 * JSON: for tests/lib/schemas.py. */

static void put_limits(struct json_writer *w)
{
    json_member_object(w, "limits");
    for (size_t i = 0; i < LIMITS_COUNT; i++) {
        const struct limit *l = &limits_default.all[i];

        json_member_object(w, l->name);
        json_member_string(w, "type", STR("integer"));
        json_member_number(w, "minimum", l->least);
        json_member_number(w, "maximum", l->ceiling);
        json_member_number(w, "default", l->value);
        json_end_object(w);
    }
    json_end_object(w);
}

static void put_names(struct json_writer *w, struct arena *a)
{
    struct str kinds = git_host_kinds(" ", a), kind;
    const struct client *c;

    json_member_array(w, "presets");
    for (size_t i = 0; (c = clients_backend_at(i)); i++)
        json_string(w, str_cstr(c->name));
    json_end_array(w);
    json_member_array(w, "kinds");
    while (str_cut(&kinds, ' ', &kind))
        json_string(w, kind);
    json_end_array(w);
}

int main(void)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, 1 << 20, 2);
    put_limits(&w);
    put_names(&w, &a);
    json_end_object(&w);
    printf("%.*s\n", STR_ARG(buf_str(&b)));
    return 0;
}
