#include "mapm/clients.h"

#include "ingest.h"
#include "install_session.h"

/* What all of a catalog costs each client in use, before it is installed. */

#define POINTS_PER_TOKEN 4

static bool is_new(const struct install_package *p)
{
    return p->effect == INSTALL_ADDED && p->package->kind == DOC_SKILL;
}

/* What the model gets at its start: a line a skill, as budget counts them. */
static void add_up(const struct install_session *s, const struct client *c,
                   struct install_load *out)
{
    size_t chars = 0, limit = c->budget.max_chars;

    out->client = c->name;
    for (size_t i = 0; i < s->plan.package_count; i++) {
        const struct install_package *p = &s->plan.packages[i];
        const struct node_words *w = is_new(p) ? package_node(p)->words : NULL;

        if (!w || (c->budget.hides && w->is_disabled))
            continue;
        out->skills++;
        chars += w->list_chars;
    }
    out->is_cut = limit && chars > limit;
    out->tokens = (out->is_cut ? limit : chars) / POINTS_PER_TOKEN;
}

bool session_find_load(struct install_session *s, struct err *e)
{
    struct install_load *loads =
        arena_array(&s->cx->arena, clients_count, sizeof *loads);
    struct provision_options o;

    if (!session_provision_options(s, &o, e))
        return false;
    for (size_t i = 0; i < s->plan.package_count; i++)
        if (is_new(&s->plan.packages[i])) {
            if (!node_find_words(&s->closure,
                                 package_node(&s->plan.packages[i]), e))
                return false;
            s->plan.new_skills++;
        }
    for (size_t i = 0; s->plan.new_skills && i < clients_count; i++)
        if (provision_uses(s->layer.provision, &o, &clients_table[i]))
            add_up(s, &clients_table[i], &loads[s->plan.load_count++]);
    s->plan.loads = loads;
    return true;
}
