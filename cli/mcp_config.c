#include "mcp_config.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/provision.h"
#include "mapm/serve.h"

#include <string.h>

#include "command.h"

/*
 * Prints the configuration with which a client starts this server: the whole
 * file with this one server on standard output, its path on standard error.
 * Other options become those of the server. Source: docs/clients.md 2, 4; seen
 * in 2026-11.
 */

#define CONFIG_MAX_BYTES (64u * 1024)
#define CALL_SECONDS     (SERVE_MAX_SECONDS + 10)

struct config {
    struct invocation *inv;
    const struct client *client;
    struct str program;
    struct str *args;
    size_t count, capacity;
};

static void add(struct config *c, struct str word)
{
    c->args = arena_grow(&c->inv->cx.arena, c->args, c->count, &c->capacity,
                         sizeof *c->args);
    c->args[c->count++] = word;
}

/* The options of the server, as given. */
static void add_options(struct config *c)
{
    const struct subcommand *mcp = c->inv->command;

    add(c, STR("mcp"));
    for (size_t i = 0; i < mcp->option_count; i++) {
        enum option_id id = mcp->options[i];
        const struct values *given = &c->inv->given[id];

        for (size_t k = 0; id != OPTION_PRINT_CONFIG && k < given->count; k++) {
            add(c, arena_printf(&c->inv->cx.arena, "--%s", options[id].name));
            if (options[id].kind == ARGUMENT_FOLDER)
                add(c, fs_normalize(fs_join(c->inv->cx.cwd, given->items[k],
                                            &c->inv->cx.arena),
                                    &c->inv->cx.arena));
            else if (options[id].argument)
                add(c, given->items[k]);
        }
    }
}

/* Another name than was meant would be started, or given to the server. */
static bool check_word(const struct config *c, struct str word, struct err *e)
{
    if (!text_is_utf8(word)) {
        err_set(e, ERR_USAGE, "--print-config: \"%s\" is not UTF-8",
                str_dup0(word, &c->inv->cx.arena));
        return err_hint(e, "the clients' files are: give the folder another "
                           "name, or a link");
    }
    if (str_find(word, STR("${")) != SIZE_MAX ||
        str_find(word, STR("{env:")) != SIZE_MAX ||
        str_find(word, STR("{file:")) != SIZE_MAX)
        context_warn(&c->inv->cx,
                     "%s may put something else in place of what "
                     "is in braces in %s",
                     c->client->name, str_dup0(word, &c->inv->cx.arena));
    return true;
}

static bool check_words(const struct config *c, struct err *e)
{
    if (!check_word(c, c->program, e))
        return false;
    for (size_t i = 0; i < c->count; i++)
        if (!check_word(c, c->args[i], e))
            return false;
    return true;
}

/* By its name when that finds this very program, else by its path. */
static bool find_program(struct config *c, struct err *e)
{
    struct arena *a = &c->inv->cx.arena;
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
    json_member_strings(&w, "args", c->args, c->count);
    if (c->client->timeout.member)
        json_member_number(&w, "timeout", CALL_SECONDS * 1000);
    json_end_object(&w);
    *out = arena_str(&c->inv->cx.arena, buf_str(&b));
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

struct str_list mcp_arguments(struct invocation *inv)
{
    struct config c = {.inv = inv};

    add_options(&c);
    return (struct str_list){c.args, c.count};
}

bool mcp_print_config(struct invocation *inv, struct str client, struct err *e)
{
    struct config c = {.inv = inv};
    const struct client *row = clients_find(client);
    struct client of_user = *row;
    struct str entry, text;

    if (!row->mcp.shape && !row->mcp_user.shape)
        return err_set(e, ERR_USAGE, "%s reads no file with MCP servers",
                       row->name);
    if (row->mcp_user.shape)
        of_user.mcp = row->mcp_user;
    c.client = &of_user;
    if (!find_program(&c, e))
        return false;
    add_options(&c);
    if (!check_words(&c, e) || !make_entry(&c, &entry, e) ||
        !provision_format_server(&of_user, STR("mapm"), entry, &inv->cx.arena,
                                 &text, e))
        return false;
    term_note(&inv->term, "for %s", files_of(row, &inv->cx.arena).p);
    term_write(&inv->term, text);
    return true;
}
