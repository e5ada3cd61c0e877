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

/* `folder`/<kebab><suffix>. A NULL folder holds nothing. */
static bool is_in(struct str path, const char *folder, const char *suffix)
{
    size_t n = folder ? strlen(folder) : 0;

    if (!folder || path.n <= n || path.p[n] != '/' ||
        memcmp(path.p, folder, n) != 0)
        return false;
    path = str_from_index(path, n + 1);
    if (!str_ends(path, str_cstr(suffix)))
        return false;
    return name_is_kebab(str_slice(path, 0, path.n - strlen(suffix)));
}

/* One name of the characters that names of packages have. */
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
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_is(path, texts[i]))
            return true;
    return is_patch(path);
}

/* At user level a variable of the environment may have moved the folder of a
 * client since: then the last names still are those of the row. */
static bool is_moved(const struct client_scope *s, struct str path,
                     const char *place, const char *suffix)
{
    struct str folder, last = path_last(str_cstr(place));
    size_t slash = str_find_last(path, '/');

    if (!s->is_user || !place_is_of_user(path))
        return false;
    if (!suffix)
        return str_eq(path_last(path), last);
    folder = str_slice(path, 0, slash);
    path = str_from_index(path, slash + 1);
    return str_eq(path_last(folder), last) &&
           str_ends(path, str_cstr(suffix)) &&
           name_is_kebab(str_slice(path, 0, path.n - strlen(suffix)));
}

/* `folder`/<kebab><suffix>; without a suffix the file itself. */
static bool is_at(const struct client_scope *s, struct str path,
                  const char *place, const char *suffix)
{
    return place &&
           ((suffix ? is_in(path, place, suffix) : str_is(path, place)) ||
            is_moved(s, path, place, suffix));
}

static bool is_servers(const struct client_scope *s, struct str path,
                       const struct client_mcp *m)
{
    if (is_at(s, path, m->path, NULL))
        return true;
    for (size_t i = 0; i < CLIENT_MAX_OTHERS && m->others[i]; i++)
        if (is_at(s, path, m->others[i], NULL))
            return true;
    return false;
}

bool place_is_of_user(struct str path)
{
    return str_starts(path, STR("/")) &&
           fs_path_is_relative_clean(str_from_index(path, 1));
}

/* The library of a user was a workspace of its own: what is left of that. */
static const struct client_scope *scope_of(const struct client_scope *s,
                                           struct str path)
{
    return str_starts(path, STR("/")) ? s : &client_scope_workspace;
}

const struct client *place_find_client(const struct client_scope *s,
                                       struct str path)
{
    s = scope_of(s, path);
    for (size_t i = 0; i < clients_count; i++)
        if (is_servers(s, path, &s->rows[i].mcp))
            return &s->rows[i];
    return NULL;
}

bool place_is_known(const struct client_scope *s, struct str path)
{
    s = scope_of(s, path);
    if (is_in(path, SKILLS_FOLDER, "") || is_in(path, SEARCHED_FOLDER, "") ||
        is_in(path, AGENTS_FOLDER, "") || str_is(path, STATE_FILE) ||
        place_is_text(path) || is_at(s, path, s->skills, ""))
        return true;
    for (size_t i = 0; i < clients_count; i++)
        if (is_at(s, path, s->rows[i].skills, "") ||
            is_at(s, path, s->rows[i].agents, s->rows[i].suffix))
            return true;
    return place_find_client(s, path) != NULL;
}

/* Whether `path` is `place` without its last names: a proper parent of it,
 * or the folder itself when `place` is one. */
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
