#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/provision.h"
#include "mapm/serve.h"

#include <string.h>

#define CONFIG_MAX_BYTES (64u * 1024)
#define CALL_SECONDS     (SERVE_MAX_SECONDS + 10)

struct config {
    struct context *cx;
    const struct client *client;
    struct str program;
    struct str_list args;
};

/* Another name than was meant would be started, or given to the server. */
static bool check_word(const struct config *c, struct str word, struct err *e)
{
    if (!text_is_utf8(word)) {
        err_set(e, ERR_USAGE, "--print-config: \"%s\" is not UTF-8",
                str_dup0(word, &c->cx->arena));
        return err_hint(e, "the clients' files are: give the folder another "
                           "name, or a link");
    }
    if (str_find(word, STR("${")) != SIZE_MAX ||
        str_find(word, STR("{env:")) != SIZE_MAX ||
        str_find(word, STR("{file:")) != SIZE_MAX)
        context_warn(c->cx,
                     "%s may put something else in place of what "
                     "is in braces in %s",
                     c->client->name, str_dup0(word, &c->cx->arena));
    return true;
}

static bool check_words(const struct config *c, struct err *e)
{
    if (!check_word(c, c->program, e))
        return false;
    for (size_t i = 0; i < c->args.count; i++)
        if (!check_word(c, c->args.items[i], e))
            return false;
    return true;
}

/* By its name when that finds this very program, else by its path. */
static bool find_program(struct config *c, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct err ignored = {0};
    struct str dir, found;

    if (!proc_self_dir(a, &dir, e))
        return false;
    c->program = fs_join(dir, STR("mapm"), a);
    if (proc_find_program("mapm", NULL, a, &found, &ignored) &&
        str_eq(found, c->program))
        c->program = STR("mapm");
    return true;
}

/* As an MCP file has it; each client's own members come from its row. */
static bool make_entry(const struct config *c, struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, CONFIG_MAX_BYTES, 2);
    json_member_string(&w, "command", c->program);
    json_member_strings(&w, "args", c->args.items, c->args.count);
    if (c->client->timeout.member)
        json_member_number(&w, "timeout", CALL_SECONDS * 1000);
    json_end_object(&w);
    *out = arena_str(&c->cx->arena, buf_str(&b));
    return buf_check(&b, "what to print", e);
}

/* Both files of a client, where they are written in the same way. */
static struct str files_of(const struct client *c, struct arena *a)
{
    const struct client_mcp *here = &c->mcp, *user = &c->mcp_user;

    if (!user->shape)
        return str_cstr(here->path);
    if (!here->shape || !here->path ||
        here->shape->format != user->shape->format ||
        strcmp(here->shape->section, user->shape->section) != 0)
        return arena_printf(a, "~/%s", user->path);
    return arena_printf(a, "%s, or ~/%s for all projects", here->path,
                        user->path);
}

bool serve_format_config(struct context *cx, struct str client,
                         struct str_list arguments, struct str *file,
                         struct str *text, struct err *e)
{
    const struct client *row = clients_find(client);
    struct client of_user = *row;
    struct config c = {.cx = cx, .client = &of_user, .args = arguments};
    struct str entry;

    if (!row->mcp.shape && !row->mcp_user.shape)
        return err_set(e, ERR_USAGE, "%s reads no file with MCP servers",
                       row->name);
    if (row->mcp_user.shape)
        of_user.mcp = row->mcp_user;
    *file = files_of(row, &cx->arena);
    return find_program(&c, e) && check_words(&c, e) &&
           make_entry(&c, &entry, e) &&
           provision_format_server(&of_user, STR("mapm"), entry, &cx->arena,
                                   text, e);
}
