#include "client_show.h"

static void put_view(struct json_writer *w,
                     const struct install_client_view *view, bool all)
{
    for (size_t i = 0; i < clients_count; i++) {
        const struct install_client *c = &view->items[i];

        if (!c->is_used && !c->is_here && !c->is_on_machine && !all)
            continue;
        json_begin_object(w);
        if (view->member.n)
            json_member_string(w, "member", view->member);
        json_member_string(w, "name", str_cstr(c->client->name));
        json_member_string(w, "title", str_cstr(c->client->title));
        json_member_bool(w, "verified", clients_is_verified(c->client));
        json_member_bool(w, "in_use", c->is_used);
        json_member_bool(w, "here", c->is_here);
        json_member_bool(w, "on_machine", c->is_on_machine);
        json_member_number(w, "skills", c->skills);
        json_member_number(w, "agents", c->agents);
        json_member_number(w, "servers", c->servers);
        json_member_optional(w, "missing", c->missing);
        json_end_object(w);
    }
}

void client_put_json(struct json_writer *w,
                     const struct install_client_view *views, size_t count,
                     bool all)
{
    json_member_array(w, "clients");
    for (size_t i = 0; i < count; i++)
        put_view(w, &views[i], all);
    json_end_array(w);
}
