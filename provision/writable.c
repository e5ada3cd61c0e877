#include "writable.h"

#include "base/fs.h"
#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include <limits.h>
#include <string.h>

/* clang-format off */
static const char *const texts[] = {
    ".gitignore", "mapm.yaml", "mapm.local.yaml", "mapm.local.lock",
    "mapm.lock",
};
/* clang-format on */

/* Returns whether the path is `folder`/<kebab><suffix>. */
static bool is_below(struct str path, struct str folder, const char *suffix)
{
    if (!folder.n || path.n <= folder.n || path.p[folder.n] != '/' ||
        !str_starts(path, folder))
        return false;
    path = str_from_index(path, folder.n + 1);
    if (!str_ends(path, str_cstr(suffix)))
        return false;
    return name_is_kebab(str_slice(path, 0, path.n - strlen(suffix)));
}

/* Likewise, for a folder that may be NULL. */
static bool is_in(struct str path, const char *folder, const char *suffix)
{
    return folder && is_below(path, str_cstr(folder), suffix);
}

/* Returns whether the path is a patch named with the characters of package
 * names. */
static bool is_patch(struct str path)
{
    static const struct str folder = STR_INIT(PROVISION_PATCHES "/");

    if (!str_starts(path, folder) || !str_ends(path, STR(".patch")))
        return false;
    path = str_from_index(path, folder.n);
    if (path.n > NAME_MAX || path.p[0] == '.')
        return false;
    for (size_t i = 0; i < path.n; i++)
        if (!char_is_alpha(path.p[i]) && !char_is_digit(path.p[i]) &&
            path.p[i] != '-' && path.p[i] != '_' && path.p[i] != '.')
            return false;
    return true;
}

bool place_is_text(struct str path)
{
    return STR_IS_ONE_OF(path, texts) || is_patch(path);
}

/* Returns whether `path` is a parent of `place`, or `place` itself with
 * `itself`. */
static bool leads_to(struct str path, const char *place, bool itself)
{
    size_t n = place ? strlen(place) : 0;

    if (!place || !path.n || path.n > n || memcmp(path.p, place, path.n) != 0)
        return false;
    return path.n == n ? itself : place[path.n] == '/';
}

static bool leads_to_file(struct str path, const struct client_mcp *m)
{
    if (leads_to(path, m->path, false))
        return true;
    for (size_t i = 0; i < CLIENT_MAX_OTHERS && m->others[i]; i++)
        if (leads_to(path, m->others[i], false))
            return true;
    return false;
}

/* Returns the part of a user-level path that no variable can change. */
static struct str tail_of(const struct client *c, const char *path)
{
    const char *const tops[] = {c->home_env.is, ".config"};
    struct str rest = str_cstr(path);

    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        size_t n = tops[i] ? strlen(tops[i]) : 0;

        if (n && n < rest.n && leads_to(str_make(tops[i], n), path, false))
            return str_from_index(rest, n + 1);
    }
    return rest;
}

/* Returns whether the path was valid for another value of the variable. */
static bool is_moved(const struct client_scope *s, const struct client *c,
                     struct str path, const char *named)
{
    struct str tail = tail_of(c, named);

    return s->is_user && named && place_is_of_user(path) && path.n > tail.n &&
           str_ends(path, tail) && path.p[path.n - tail.n - 1] == '/';
}

/* Returns whether the path is `folder`/<kebab><suffix> at its current or former
 * place. `named` is the folder in the table. */
static bool is_item(const struct client_scope *s, const struct client *c,
                    struct str path, const char *folder, const char *named,
                    const char *suffix)
{
    size_t slash = str_find_last(path, '/');
    struct str top = str_slice(path, 0, slash == SIZE_MAX ? 0 : slash);

    return is_in(path, folder, suffix) ||
           (slash != SIZE_MAX && is_moved(s, c, top, named) &&
            is_below(path, top, suffix));
}

static bool is_servers(const struct client_scope *s, const struct client *c,
                       struct str path, bool moved)
{
    const struct client_mcp *m = &c->mcp_user;

    if (!moved)
        return clients_mcp_is_at(&c->mcp, path);
    if (is_moved(s, c, path, m->path) || is_moved(s, c, path, m->moved))
        return true;
    for (size_t i = 0; i < CLIENT_MAX_OTHERS && m->others[i]; i++)
        if (is_moved(s, c, path, m->others[i]))
            return true;
    return false;
}

bool place_is_of_user(struct str path)
{
    return str_starts(path, STR("/")) &&
           fs_path_is_relative_clean(str_from_index(path, 1));
}

/* Returns the scope of leftovers of the user's library, which was a workspace
 * of its own. */
static const struct client_scope *scope_of(const struct client_scope *s,
                                           struct str path)
{
    return str_starts(path, STR("/")) ? s : &client_scope_workspace;
}

const struct client *place_find_client(const struct client_scope *s,
                                       struct str path)
{
    s = scope_of(s, path);
    for (int moved = 0; moved < (s->is_user ? 2 : 1); moved++)
        for (size_t i = 0; i < clients_count; i++)
            if (is_servers(s, &s->rows[i], path, moved))
                return &s->rows[i];
    return NULL;
}

bool place_is_known(const struct client_scope *s, struct str path)
{
    s = scope_of(s, path);
    if (is_in(path, SKILLS_FOLDER, "") || is_in(path, SEARCHED_FOLDER, "") ||
        is_in(path, AGENTS_FOLDER, "") || str_is(path, STATE_FILE) ||
        place_is_text(path) || is_in(path, s->skills, ""))
        return true;
    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &s->rows[i];

        if (is_item(s, c, path, c->skills, c->skills_home, "") ||
            is_item(s, c, path, c->agents, c->agents_home, c->suffix) ||
            is_item(s, c, path, c->prompts, c->prompts_home,
                    CLIENT_PROMPT_SUFFIX))
            return true;
    }
    return place_find_client(s, path) != NULL;
}

bool place_is_folder(const struct client_scope *s, struct str path)
{
    s = scope_of(s, path);
    if (leads_to(path, SKILLS_FOLDER, true) ||
        leads_to(path, AGENTS_FOLDER, true) || str_is(path, SEARCHED_FOLDER) ||
        leads_to(path, PROVISION_PATCHES, true) ||
        (s->is_user && place_is_of_user(path)))
        return true;
    for (size_t i = 0; i < clients_count; i++)
        if (leads_to(path, s->rows[i].skills, true) ||
            leads_to(path, s->rows[i].agents, true) ||
            leads_to(path, s->rows[i].prompts, true) ||
            leads_to_file(path, &s->rows[i].mcp))
            return true;
    return false;
}

bool place_is_server_key(struct str key)
{
    if (key.n == 0 || key.n > MCP_KEY_MAX_CHARS)
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (!char_is_alpha(key.p[i]) && !char_is_digit(key.p[i]) &&
            key.p[i] != '-')
            return false;
    return true;
}
