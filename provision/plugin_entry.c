#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/plugin.h"

#include "render.h"

#define ENTRY_MAX_BYTES (4 * (size_t)MCP_MAX_BYTES)

/*
 * The entry of a plugin's server that a client starts or connects to itself:
 * nothing of it is mapm's but the syntax in which a client names variables of
 * its environment. Source: X32, X33; CLIENTS.md 4.
 */

/* "${NAME" up to "}", as these formats have it; 0: it is none. */
static size_t variable_length(struct str text)
{
    size_t n = 2;

    if (!str_starts(text, STR("${")))
        return 0;
    while (n < text.n && (char_is_alpha(text.p[n]) ||
                          char_is_digit(text.p[n]) || text.p[n] == '_'))
        n++;
    return n > 2 && n < text.n && text.p[n] == '}' ? n + 1 : 0;
}

/* VS Code and Cursor write ${env:NAME}; the others what the plugin has. */
static struct str translate(const struct mcp_shape *shape, struct str text,
                            struct arena *a)
{
    CLEANUP(buf_done) struct buf out = {0};

    if ((shape->style != MCP_VSCODE && shape->style != MCP_PLAIN) ||
        !str_has_char(text, '$'))
        return text;
    buf_init(&out, ENTRY_MAX_BYTES);
    for (size_t i = 0; i < text.n;) {
        struct str rest = str_from_index(text, i);
        size_t n = variable_length(rest);

        if (n)
            buf_printf(&out, "${env:%.*s", STR_ARG(str_slice(rest, 2, n)));
        else
            buf_char(&out, text.p[i]);
        i += n ? n : 1;
    }
    return arena_str(a, buf_str(&out));
}

static void put_value(struct json_writer *w, const struct mcp_shape *shape,
                      const struct json *j, struct arena *a)
{
    if (j->kind == JSON_STRING) {
        json_string(w, translate(shape, j->text, a));
        return;
    }
    if (j->kind == JSON_ARRAY)
        json_begin_array(w);
    else
        json_begin_object(w);
    for (const struct json *x = j->first; x; x = x->next) {
        if (j->kind == JSON_OBJECT)
            json_key_str(w, x->key);
        json_string(w, translate(shape, json_text(x), a));
    }
    if (j->kind == JSON_ARRAY)
        json_end_array(w);
    else
        json_end_object(w);
}

bool render_plugin_entry(const struct mcp_shape *shape, const struct json *mcp,
                         struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;

    buf_init(&text, ENTRY_MAX_BYTES);
    json_writer_init(&w, &text, 2);
    json_begin_object(&w);
    for (const struct json *j = mcp->first; j; j = j->next) {
        if (str_is(j->key, "_meta"))
            continue;
        json_key_str(&w, j->key);
        put_value(&w, shape, j, a);
    }
    json_end_object(&w);
    if (!buf_check(&text, "a server's entry", e))
        return false;
    *out = arena_str(a, buf_str(&text));
    return true;
}
