#include "git_exclude.h"

#include "base/fs.h"
#include "mapm/checkout.h"
#include "mapm/install_clients.h"

#include <unistd.h>

#include "choose_clients.h"
#include "ignore_block.h"

#define FILE_NAME         "info/exclude"
#define EXCLUDE_MAX_BYTES (1024u * 1024)
#define FIRST_LINE        "# mapm: clients of config.yaml"

static bool is_below(struct str path, const char *folder)
{
    return folder &&
           (str_is(path, folder) || fs_path_is_within(path, str_cstr(folder)));
}

static bool has_path(const struct client *c, struct str path)
{
    return is_below(path, c->skills) || clients_agent_is_at(c, path) ||
           clients_mcp_is_at(&c->mcp, path);
}

static enum client_selection selection_of(const struct str *names, size_t count,
                                          const struct client *c)
{
    const struct client_choice choice = {.names = names, .count = count};

    return clients_selection(&choice, c);
}

/* Returns whether the client was added by the answer, which config.yaml
 * contains from now on. */
static bool is_answer(const struct install_session *s, size_t client)
{
    const struct install_client c =
        s ? install_plan_client(&s->plan, client) : (struct install_client){0};

    return c.is_used && !c.is_here && s->is_answered;
}

static bool is_mine(const struct install_session *s, const struct layer *l,
                    struct str path)
{
    bool mine = false;

    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &clients_table[i];

        if (!has_path(c, path))
            continue;
        if (c->always || selection_of(l->project.clients,
                                      l->project.client_count, c) == CLIENT_YES)
            return false;
        mine |= selection_of(l->user.clients, l->user.client_count, c) ==
                    CLIENT_YES ||
                is_answer(s, i);
    }
    return mine;
}

bool git_exclude_is_mine(const struct layer *l, struct str path)
{
    return is_mine(NULL, l, path);
}

/* Escapes "*", "?", "[" and backslashes for a pattern. */
static struct str escape(struct str path, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < path.n; i++) {
        if (str_has_char(STR("*?[\\"), path.p[i]))
            buf_char(&b, '\\');
        buf_char(&b, path.p[i]);
    }
    return arena_str(a, buf_str(&b));
}

/* Finds the lines of a layer; paths of a subfolder of the work tree begin with
 * `prefix`. */
static bool find_lines(const struct install_session *s, const struct layer *l,
                       struct str prefix, struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct arena *a = &s->cx->arena;
    struct str *paths;
    size_t count;

    if (!provision_list_generated(l->provision, PROVISION_LIST_MADE, a, &paths,
                                  &count, e))
        return false;
    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++)
        if (is_mine(s, l, paths[i]))
            buf_printf(&b, "/%.*s%.*s\n", STR_ARG(prefix), STR_ARG(paths[i]));
    *out = arena_str(a, buf_str(&b));
    return true;
}

static bool write_file(int dir, struct str text, struct err *e)
{
    if (!text.n)
        return unlinkat(dir, FILE_NAME, 0) == 0 ||
               err_errno(e, "remove " FILE_NAME);
    return fs_make_dirs_at(dir, "info", 0755, e) &&
           fs_replace_at(dir, FILE_NAME, 0644, text, e);
}

static bool update(const struct install_session *s, const struct layer *l,
                   struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str folder, prefix, first, lines, before, after;
    CLEANUP_FD int dir = -1;

    if (!checkout_find_common(s->cx, l->path, &folder, &prefix) ||
        str_has_char(prefix, '\n'))
        return true;
    prefix = escape(prefix, a);
    first = arena_printf(a, FIRST_LINE "%s%.*s", prefix.n ? " in " : "",
                         STR_ARG(prefix));
    if (!find_lines(s, l, prefix, &lines, e) ||
        !fs_open_dir(str_dup0(folder, a), &dir, e) ||
        !fs_read_optional_at(dir, FILE_NAME, EXCLUDE_MAX_BYTES, a, &before,
                             e) ||
        !ignore_block_set(before, first, lines, a, &after, e))
        return false;
    return str_eq(before, after) || write_file(dir, after, e);
}

void git_exclude_update(struct install_session *s)
{
    for (size_t i = 0; i < s->layers.count; i++) {
        const struct layer *l = &s->layers.parts[i];
        struct err problem = {0};

        if (!l->provision || l->is_global ||
            (s->plan.change_count + l->user.client_count == 0 &&
             !s->is_answered) ||
            update(s, l, &problem))
            continue;
        err_wrap(&problem, "cannot keep files of your clients from git");
        context_warn(s->cx, "%s", err_first(&problem));
    }
}
