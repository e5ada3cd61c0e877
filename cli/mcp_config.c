#include "mcp_config.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/provision.h"
#include "mapm/serve.h"

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

static void put_args(const struct config *c, struct json_writer *w)
{
    for (size_t i = 0; i < c->count; i++)
        json_string(w, c->args[i]);
}

/* How long a call may take, in the unit of the client. */
static unsigned timeout_of(const struct client *client)
{
    return client->config.timeout == TIMEOUT_MILLISECONDS ? CALL_SECONDS * 1000
                                                          : CALL_SECONDS;
}

static void put_entry(const struct config *c, struct json_writer *w)
{
    const struct client *client = c->client;

    json_begin_object(w);
    if (client->mcp_user.shape->style == MCP_OPENCODE) {
        json_member_string(w, "type", STR("local"));
        json_member_array(w, "command");
        json_string(w, c->program);
        put_args(c, w);
        json_end_array(w);
        json_member_bool(w, "enabled", true);
    } else {
        if (client->mcp_user.shape->style == MCP_VSCODE)
            json_member_string(w, "type", STR("stdio"));
        json_member_string(w, "command", c->program);
        json_member_array(w, "args");
        put_args(c, w);
        json_end_array(w);
    }
    if (client->config.timeout)
        json_member_number(w, "timeout", timeout_of(client));
    if (client->config.lists_tools) {
        json_member_array(w, "tools");
        json_string(w, STR("*"));
        json_end_array(w);
    }
    json_end_object(w);
}

static void put_json(const struct config *c, struct buf *b)
{
    struct json_writer w;

    json_writer_init(&w, b, 2);
    json_begin_object(&w);
    json_member_object(&w, c->client->mcp_user.shape->section);
    json_key(&w, "mapm");
    put_entry(c, &w);
    json_end_object(&w);
    json_end_object(&w);
    buf_char(b, '\n');
}

static void put_toml(const struct config *c, struct buf *b)
{
    buf_printf(b, "[%s.mapm]\ncommand = ", c->client->mcp_user.shape->section);
    provision_toml_quote(b, c->program);
    buf_text(b, "\nargs = [");
    for (size_t i = 0; i < c->count; i++) {
        buf_text(b, i ? ", " : "");
        provision_toml_quote(b, c->args[i]);
    }
    buf_printf(b, "]\ntool_timeout_sec = %u\n", timeout_of(c->client));
}

struct str_list mcp_arguments(struct invocation *inv)
{
    struct config c = {.inv = inv};

    add_options(&c);
    return (struct str_list){c.args, c.count};
}

bool mcp_print_config(struct invocation *inv, struct str client, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct config c = {.inv = inv, .client = clients_find(client)};

    if (!find_program(&c, e))
        return false;
    add_options(&c);
    if (!check_words(&c, e))
        return false;
    buf_init(&b, CONFIG_MAX_BYTES);
    if (c.client->mcp_user.shape->style == MCP_CODEX)
        put_toml(&c, &b);
    else
        put_json(&c, &b);
    if (!buf_check(&b, "what to print", e))
        return false;
    term_note(&inv->term, "for %s", c.client->config.files);
    term_write(&inv->term, buf_str(&b));
    return true;
}
