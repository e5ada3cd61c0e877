#include "mapm/limits.h"
#include "mapm/provision.h"

#include "render.h"

#define ENTRY_MAX_BYTES (4 * (size_t)MCP_MAX_BYTES)

bool render_wants_meta(const struct mcp_shape *shape)
{
    return shape->style == MCP_SHARED;
}

/* The kinds of server that clients tell apart. */
static bool is_local(const struct json *j)
{
    return json_get(j, "command") != NULL;
}

static bool is_sse(const struct json *j)
{
    return str_is(json_text(json_get(j, "type")), "sse");
}

static void put_as(struct json_writer *w, const char *key, const struct json *j)
{
    if (!j)
        return;
    json_key(w, key);
    json_value(w, j);
}

static void put_same(struct json_writer *w, const struct json *j,
                     const char *const *keys)
{
    for (; *keys; keys++)
        put_as(w, *keys, json_get(j, *keys));
}

/* An unknown key makes it refuse its whole settings file. */
static void put_gemini(struct json_writer *w, const struct json *j)
{
    static const char *const keys[] = {
        "command",     "args",         "env",          "cwd",
        "headers",     "timeout",      "trust",        "oauth",
        "description", "includeTools", "excludeTools", NULL,
    };

    put_same(w, j, keys);
    put_as(w, is_sse(j) ? "url" : "httpUrl", json_get(j, "url"));
}

static void put_vscode(struct json_writer *w, const struct json *j)
{
    struct str type = json_text(json_get(j, "type"));

    if (is_local(j))
        type = STR("stdio");
    else if (!is_sse(j))
        type = STR("http");
    json_member_string(w, "type", type);
    for (const struct json *m = j->first; m; m = m->next) {
        if (str_is(m->key, "type"))
            continue;
        json_key_str(w, m->key);
        json_value(w, m);
    }
}

static void put_opencode(struct json_writer *w, const struct json *j)
{
    const struct json *args = json_get(j, "args");

    json_member_string(w, "type", is_local(j) ? STR("local") : STR("remote"));
    if (is_local(j)) {
        json_member_array(w, "command");
        json_value(w, json_get(j, "command"));
        for (const struct json *x = args ? args->first : NULL; x; x = x->next)
            json_value(w, x);
        json_end_array(w);
        put_as(w, "environment", json_get(j, "env"));
    } else {
        put_as(w, "url", json_get(j, "url"));
        put_as(w, "headers", json_get(j, "headers"));
    }
    json_member_bool(w, "enabled", true);
    put_as(w, "timeout", json_get(j, "timeout"));
}

/* It expands "{env:X}" and "{file:path}" anywhere and has no escape: an
 * argument or a URL could disclose a secret. */
static bool check_opencode(struct str key, struct str entry, struct err *e)
{
    static const char *const forms[] = {"{env:", "{file:"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_find(entry, str_cstr(forms[i])) != SIZE_MAX)
            return err_set(e, ERR_MCP,
                           "%.*s: opencode would expand \"%s…}\" in it",
                           STR_ARG(key), forms[i]);
    return true;
}

/* --- TOML ----------------------------------------------------------------- */

static void put_toml_key(struct buf *out, struct str key)
{
    provision_toml_quote(out, key);
    buf_text(out, " = ");
}

static void put_strings(struct buf *out, const struct json *list)
{
    buf_char(out, '[');
    for (const struct json *x = list->first; x; x = x->next) {
        provision_toml_quote(out, json_text(x));
        if (x->next)
            buf_text(out, ", ");
    }
    buf_text(out, "]");
}

static void put_table(struct buf *out, const struct json *object)
{
    buf_text(out, "{ ");
    for (const struct json *x = object->first; x; x = x->next) {
        put_toml_key(out, x->key);
        provision_toml_quote(out, json_text(x));
        if (x->next)
            buf_char(out, ',');
        buf_char(out, ' ');
    }
    buf_char(out, '}');
}

static bool holds_strings(const struct json *j)
{
    for (const struct json *x = j->first; x; x = x->next)
        if (x->kind != JSON_STRING)
            return false;
    return true;
}

/* Its keys, and their names in an MCP file. */
static void put_codex(struct buf *out, const struct json *j)
{
    /* clang-format off */
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"command", "command"}, {"args", "args"}, {"env", "env"},
        {"cwd", "cwd"}, {"url", "url"}, {"headers", "http_headers"},
        {"bearer_token_env_var", "bearer_token_env_var"},
        {"startup_timeout_sec", "startup_timeout_sec"},
        {"tool_timeout_sec", "tool_timeout_sec"},
        {"enabled_tools", "enabled_tools"},
        {"disabled_tools", "disabled_tools"},
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct json *v = json_get(j, rows[i].from);
        uint64_t number;

        if (!v || ((v->kind == JSON_ARRAY || v->kind == JSON_OBJECT) &&
                   !holds_strings(v)))
            continue;
        if (v->kind == JSON_NUMBER && !str_number(v->text, 86400, &number))
            continue;
        if (v->kind == JSON_NULL || v->kind == JSON_TRUE ||
            v->kind == JSON_FALSE)
            continue;
        buf_printf(out, "%s = ", rows[i].to);
        if (v->kind == JSON_STRING)
            provision_toml_quote(out, v->text);
        else if (v->kind == JSON_NUMBER)
            buf_append(out, v->text);
        else if (v->kind == JSON_ARRAY)
            put_strings(out, v);
        else
            put_table(out, v);
        buf_char(out, '\n');
    }
}

/* "timeout" is one call's, in milliseconds, in the files of the others. */
static void put_codex_timeout(struct buf *out, const struct json *j)
{
    const struct json *ms = json_get(j, "timeout");
    uint64_t n;

    if (ms && ms->kind == JSON_NUMBER && !json_get(j, "tool_timeout_sec") &&
        str_number(ms->text, 86400000, &n))
        buf_printf(out, "tool_timeout_sec = %u\n",
                   (unsigned)((n + 999) / 1000));
}

bool render_server(const struct mcp_shape *shape, struct str key,
                   struct str entry, struct arena *a, struct str *out,
                   struct err *e)
{
    struct json_options options = {.max_depth = MCP_MAX_DEPTH + 1};
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;
    const struct json *j;

    if (shape->style == MCP_SHARED || shape->style == MCP_PLAIN) {
        *out = str_trim(entry);
        return true;
    }
    if (!json_parse(entry, &options, a, &j, NULL, e))
        return err_wrap(e, "%.*s", STR_ARG(key));
    if (shape->style == MCP_OPENCODE && !check_opencode(key, entry, e))
        return false;
    buf_init(&text, ENTRY_MAX_BYTES);
    json_writer_init(&w, &text, 2);
    if (shape->style == MCP_CODEX) {
        buf_printf(&text, "[%s.\"%.*s\"]\n", shape->section, STR_ARG(key));
        put_codex(&text, j);
        put_codex_timeout(&text, j);
    } else {
        json_begin_object(&w);
        if (shape->style == MCP_GEMINI)
            put_gemini(&w, j);
        else if (shape->style == MCP_VSCODE)
            put_vscode(&w, j);
        else
            put_opencode(&w, j);
        json_end_object(&w);
    }
    if (!buf_check(&text, "a server's entry", e))
        return false;
    *out = arena_str(a, str_trim(buf_str(&text)));
    return true;
}
