#include "base/env.h"
#include "base/fs.h"
#include "base/text.h"
#include "mapm/clients_scope.h"

#include <sys/stat.h>

/* Determines the user-level paths of each client. */

#define COMMON_SKILLS ".agents/skills"
#define ROOTS_MAX     3

/* Folders that links may lead to, with their own links resolved. */
struct roots {
    struct str items[ROOTS_MAX];
    size_t count;
};

struct builder {
    struct arena *arena;
    struct str home;      /* as configured */
    struct str real_home; /* links resolved */
};

static bool is_within(const struct roots *roots, struct str path)
{
    for (size_t i = 0; i < roots->count; i++)
        if (fs_path_is_within(path, roots->items[i]))
            return true;
    return false;
}

/* Resolves the links of a path, of which the last components need not exist; p
 * is NULL for a dangling link. */
static struct str lead(struct str path, struct arena *a)
{
    struct str real, folder = path, rest = STR("");
    struct err ignored = {0};
    struct stat st;
    size_t slash;

    while (!fs_real_path(str_dup0(folder, a), a, &real, &ignored)) {
        err_clear(&ignored);
        slash = str_find_last(folder, '/');
        if (slash == SIZE_MAX || slash == 0 ||
            lstat(str_dup0(folder, a), &st) == 0)
            return (struct str){0};
        rest = fs_join(str_from_index(folder, slash + 1), rest, a);
        folder = str_slice(folder, 0, slash);
    }
    return fs_join(real, rest, a);
}

/* Adds a folder outside of the home folder that a variable names. */
static void add_root(const struct builder *b, const struct client *c,
                     const char *path, struct roots *roots)
{
    struct err ignored = {0};
    struct str folder, real;

    if (!clients_home_path(c, path, b->home, b->arena, &folder, &ignored) ||
        fs_path_is_within(folder, b->home))
        return;
    real = lead(folder, b->arena);
    if (real.n)
        roots->items[roots->count++] = real;
}

static const char *resolve(const struct builder *b, const struct roots *roots,
                           struct str named)
{
    struct str path = fs_normalize(named, b->arena);
    struct str real = lead(path, b->arena);

    return real.n && is_within(roots, real) ? real.p : path.p;
}

typedef bool (*finder)(const struct client *c, const char *path,
                       struct str home, struct arena *a, struct str *out,
                       struct err *e);

/* Resolves one path of a row; NULL if there is none. */
static bool place(const struct builder *b, const struct client *c,
                  const struct roots *roots, finder find, const char *path,
                  const char **out, struct err *e)
{
    struct str named;

    *out = NULL;
    if (!path)
        return true;
    if (!find(c, path, b->home, b->arena, &named, e))
        return false;
    if (text_has_control(named))
        return err_set(e, ERR_REFUSED,
                       "the folder of %s has a control character in its name",
                       c->name);
    *out = resolve(b, roots, named);
    return true;
}

static bool place_files(const struct builder *b, struct client *c,
                        const struct roots *roots, struct err *e)
{
    struct client_mcp m = c->mcp_user;

    for (size_t i = 0; i < CLIENT_MAX_OTHERS && m.others[i]; i++)
        if (!place(b, c, roots, clients_user_file_at, m.others[i], &m.others[i],
                   e))
            return false;
    if (!place(b, c, roots, clients_user_file_at, m.path, &m.path, e))
        return false;
    c->mcp = m;
    return true;
}

static bool fill_row(const struct builder *b, struct client *c, struct err *e)
{
    struct roots roots = {{b->real_home}, 1};

    add_root(b, c, ".config", &roots);
    if (c->home_env.name)
        add_root(b, c, c->home_env.is, &roots);
    return place(b, c, &roots, clients_home_path, c->skills_home, &c->skills,
                 e) &&
           place(b, c, &roots, clients_home_path, c->agents_home, &c->agents,
                 e) &&
           place(b, c, &roots, clients_home_path, c->prompts_home, &c->prompts,
                 e) &&
           place_files(b, c, &roots, e);
}

static bool check_home(struct str home, struct err *e)
{
    if (!str_starts(home, STR("/")))
        return err_set(e, ERR_REFUSED,
                       "HOME is not set to an absolute path: there is no "
                       "folder of a user");
    if (text_has_control(home))
        return err_set(e, ERR_REFUSED,
                       "HOME has a control character in its name");
    return true;
}

static bool open_home(struct str home, struct arena *a, struct builder *out,
                      struct err *e)
{
    *out = (struct builder){.arena = a};
    if (!check_home(home, e))
        return false;
    out->home = fs_normalize(home, a);
    return fs_real_path(out->home.p, a, &out->real_home, e) ||
           err_wrap(e, "HOME");
}

static const char *state_folder(const struct builder *b)
{
    struct str named = env_folder("XDG_STATE_HOME");

    return named.n && !text_has_control(named)
               ? fs_normalize(named, b->arena).p
               : fs_join(b->real_home, STR(".local/state"), b->arena).p;
}

static const char *common_skills(const struct builder *b)
{
    struct roots roots = {{b->real_home}, 1};

    return resolve(b, &roots, fs_join(b->home, STR(COMMON_SKILLS), b->arena));
}

struct str clients_user_skills(struct str home, struct arena *a)
{
    struct err ignored = {0};
    struct builder b;

    return open_home(home, a, &b, &ignored) ? str_cstr(common_skills(&b))
                                            : STR("");
}

bool clients_user_scope(struct str home, struct arena *a,
                        struct client_scope *out, struct err *e)
{
    struct client *rows = arena_array(a, clients_count, sizeof *rows);
    const char **refused = arena_array(a, clients_count, sizeof *refused);
    struct builder b;

    if (!open_home(home, a, &b, e))
        return false;
    *out = (struct client_scope){
        .rows = rows,
        .skills = common_skills(&b),
        .named_skills = fs_join(b.home, STR(COMMON_SKILLS), a).p,
        .is_user = true,
        .home = b.real_home.p,
        .state = state_folder(&b),
        .refused = refused,
    };
    for (size_t i = 0; i < clients_count; i++) {
        struct err why = {0};

        rows[i] = clients_table[i];
        if (!fill_row(&b, &rows[i], &why)) {
            refused[i] = str_dup0(str_cstr(err_first(&why)), a);
            rows[i].skills = rows[i].agents = rows[i].prompts = NULL;
            rows[i].mcp = (struct client_mcp){0};
        }
        if (rows[i].skills && str_is(str_cstr(rows[i].skills), out->skills))
            rows[i].skills = NULL; /* a link to the shared folder */
    }
    return true;
}
