#include "base/text.h"
#include "mapm/clients.h"

#include "ingest.h"
#include "install_session.h"

/* The tokens that each client in use would load for all packages of a
 * catalog. */

#define POINTS_PER_TOKEN 4

static bool is_new(const struct install_package *p)
{
    return p->effect == INSTALL_ADDED && p->package->kind == DOC_SKILL;
}

/* Returns the size of ": description", truncated as by the client. */
static size_t description_chars(const struct client_budget *c,
                                const struct node_words *w)
{
    size_t n = text_count(w->description);

    return 2 + (c->description_max && n > c->description_max
                    ? c->description_max
                    : n);
}

static size_t name_chars(const struct node_words *w)
{
    return w->list_chars - text_count(w->description) - 2;
}

/* Returns the text of a package that the client lists, or NULL. */
static const struct node_words *listed(const struct install_session *s,
                                       const struct client_budget *c, size_t i)
{
    const struct install_package *p = &s->plan.packages[i];
    const struct node_words *w = is_new(p) ? package_node(p)->words : NULL;

    return w && !(c->hides && w->is_disabled) ? w : NULL;
}

/* Adds up the lines of the skills, as mapm budget counts them. */
static void add_up(const struct install_session *s, const struct client *client,
                   struct install_load *out)
{
    const struct client_budget *c = &client->budget;
    size_t limit = clients_list_limit(c, CLIENT_WINDOW_TOKENS), chars = 0;

    out->client = client->name;
    for (size_t i = 0; i < s->plan.package_count && c->names_stay; i++)
        if (listed(s, c, i))
            chars += name_chars(listed(s, c, i));
    for (size_t i = 0; i < s->plan.package_count; i++) {
        const struct node_words *w = listed(s, c, i);
        size_t more;

        if (!w)
            continue;
        out->skills++;
        more = description_chars(c, w) + (c->names_stay ? 0 : name_chars(w));
        if (limit && chars + more > limit)
            out->is_cut = true;
        else
            chars += more;
    }
    out->tokens = chars / POINTS_PER_TOKEN;
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
