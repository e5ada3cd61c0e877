#include "mapm/clients.h"

#include "base/env.h"
#include "base/fs.h"

#include <string.h>

#define POINTS_PER_TOKEN 4

static bool is_called(const struct client *c, struct str name)
{
    return str_is(name, c->name) || (c->alias && str_is(name, c->alias));
}

const struct client *clients_find(struct str name)
{
    for (size_t i = 0; i < clients_count; i++)
        if (is_called(&clients_table[i], name))
            return &clients_table[i];
    return NULL;
}

bool clients_mcp_is_at(const struct client_mcp *m, struct str path)
{
    if (m->path && str_is(path, m->path))
        return true;
    for (size_t i = 0; i < CLIENT_MAX_OTHERS && m->others[i]; i++)
        if (str_is(path, m->others[i]))
            return true;
    return false;
}

/* Returns whether the path is `folder`/<name><suffix>. */
static bool is_file_of(const char *folder, const char *suffix, struct str path)
{
    size_t n = folder ? strlen(folder) : 0;

    return folder && path.n > n && path.p[n] == '/' &&
           str_starts(path, str_cstr(folder)) &&
           str_find_last(path, '/') == n && str_ends(path, str_cstr(suffix));
}

bool clients_agent_is_at(const struct client *c, struct str path)
{
    return is_file_of(c->agents, c->suffix, path) ||
           is_file_of(c->prompts, CLIENT_PROMPT_SUFFIX, path);
}

struct str clients_mcp_file(const struct client *c, int root)
{
    const struct client_mcp *m = &c->mcp;

    for (size_t i = 0; i < CLIENT_MAX_OTHERS && m->others[i]; i++)
        if (fs_exists_at(root, m->others[i]))
            return str_cstr(m->others[i]);
    return m->path ? str_cstr(m->path) : (struct str){0};
}

bool clients_is_verified(const struct client *c)
{
    return c->known != KNOWN_LISTED;
}

enum client_selection clients_selection(const struct client_choice *choice,
                                        const struct client *c)
{
    enum client_selection selection = CLIENT_UNSET;

    for (size_t i = 0; i < choice->count; i++) {
        struct str name = choice->names[i];

        if (is_called(c, name))
            return CLIENT_YES;
        if (name.n && name.p[0] == '-' && is_called(c, str_from_index(name, 1)))
            selection = CLIENT_NO;
    }
    return selection;
}

bool clients_is_named(const struct client_choice *choice,
                      const struct client *c)
{
    struct client_choice named = *choice;

    named.count -= named.found;
    return clients_selection(&named, c) == CLIENT_YES;
}

const struct client *clients_backend_at(size_t index)
{
    for (size_t i = 0; i < clients_count; i++)
        if (clients_table[i].backend && index-- == 0)
            return &clients_table[i];
    return NULL;
}

const struct preset *clients_find_backend(struct str name)
{
    const struct client *c = clients_find(name);

    return c ? c->backend : NULL;
}

struct str clients_join_backends(const char *separator, struct arena *a)
{
    const struct client *c;
    struct str names = STR("");

    for (size_t i = 0; (c = clients_backend_at(i)); i++)
        names = arena_join(names, separator, str_cstr(c->name), a);
    return names;
}

struct str clients_join_names(const char *separator, struct arena *a)
{
    struct str names = STR("");

    for (size_t i = 0; i < clients_count; i++)
        names =
            arena_join(names, separator, str_cstr(clients_table[i].name), a);
    return names;
}

size_t clients_list_limit(const struct client_budget *c, size_t window)
{
    uint64_t n;

    if (c->max_variable && str_number(env_get(c->max_variable), SIZE_MAX, &n) &&
        n)
        return (size_t)n;
    return c->window_percent
               ? window * POINTS_PER_TOKEN * c->window_percent / 100
               : c->max_chars;
}
