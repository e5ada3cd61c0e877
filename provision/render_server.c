#include "mapm/limits.h"
#include "mapm/provision.h"

#include "render.h"

/*
 * The entry of a server as the shape of a client's file has it, in JSON: the
 * format of the file is merge's. Texts of plugins may name variables of the
 * environment: these are written as the client knows them, or, in headers, as
 * the names that it looks up. Source: X32, X33; CLIENTS.md 3, 4.
 */

#define ENTRY_MAX_BYTES (4 * (size_t)MCP_MAX_BYTES)

struct rendering {
    const struct client *client;
    const struct mcp_shape *shape;
    struct str key;
    const struct json *entry;
    unsigned kind;     /* kind of server */
    bool is_of_plugin; /* its strings may refer to variables */
    struct json_writer w;
    struct buf scratch;
};

bool render_wants_meta(const struct mcp_shape *shape)
{
    return shape->is_verbatim;
}

static unsigned kind_of(const struct json *entry)
{
    if (json_get(entry, "command"))
        return SERVER_LOCAL;
    return str_is(json_text(json_get(entry, "type")), "sse") ? SERVER_SSE
                                                             : SERVER_HTTP;
}

/* --- variables of the environment ------------------------------------------ */

/* Returns the name in "${NAME}" at the beginning of `text`, or "". */
static struct str variable_name(struct str text)
{
    size_t n = 2;

    if (!str_starts(text, STR("${")))
        return STR("");
    while (n < text.n && (char_is_alpha(text.p[n]) ||
                          char_is_digit(text.p[n]) || text.p[n] == '_'))
        n++;
    return n > 2 && n < text.n && text.p[n] == '}' ? str_slice(text, 2, n)
                                                   : STR("");
}

/* Returns the variable that is all of `text` after `before`, or "". */
static struct str only_variable(struct str text, struct str before)
{
    struct str name;

    if (!str_starts(text, before))
        return STR("");
    text = str_from_index(text, before.n);
    name = variable_name(text);
    return name.n + 3 == text.n ? name : STR("");
}

static bool has_member(const struct mcp_shape *shape, enum shape_value value)
{
    for (const struct shape_member *m = shape->members; m->name; m++)
        if (m->value == value)
            return true;
    return false;
}

static bool is_bearer(const struct rendering *r, const struct json *header)
{
    return r->is_of_plugin && str_is(header->key, "Authorization") &&
           only_variable(json_text(header), STR("Bearer ")).n &&
           has_member(r->shape, VALUE_BEARER);
}

static bool is_header_name(const struct rendering *r, const struct json *header)
{
    return r->is_of_plugin && only_variable(json_text(header), STR("")).n &&
           has_member(r->shape, VALUE_HEADER_NAMES);
}

static void put_text(struct rendering *r, struct str text)
{
    const char *syntax = r->client->mcp.env_ref;
    size_t mark = syntax ? str_find_char(str_cstr(syntax), '%') : 0;

    if (!r->is_of_plugin || !syntax || !str_has_char(text, '$')) {
        json_string(&r->w, text);
        return;
    }
    buf_clear(&r->scratch);
    while (text.n) {
        struct str name = variable_name(text);

        if (name.n)
            buf_printf(&r->scratch, "%.*s%.*s%s", (int)mark, syntax,
                       STR_ARG(name), syntax + mark + 1);
        else
            buf_char(&r->scratch, text.p[0]);
        text = str_from_index(text, name.n ? name.n + 3 : 1);
    }
    json_string(&r->w, buf_str(&r->scratch));
}

/* --- values ---------------------------------------------------------------- */

static bool is_flat(const struct json *j)
{
    for (const struct json *x = j->first; x; x = x->next)
        if (x->kind != JSON_STRING)
            return false;
    return j->kind == JSON_ARRAY || j->kind == JSON_OBJECT;
}

static void put_texts(struct rendering *r, const struct json *j)
{
    if (j->kind == JSON_ARRAY)
        json_begin_array(&r->w);
    else
        json_begin_object(&r->w);
    for (const struct json *x = j->first; x; x = x->next) {
        if (j->kind == JSON_OBJECT && (is_bearer(r, x) || is_header_name(r, x)))
            continue;
        if (j->kind == JSON_OBJECT)
            json_key_str(&r->w, x->key);
        put_text(r, x->text);
    }
    if (j->kind == JSON_ARRAY)
        json_end_array(&r->w);
    else
        json_end_object(&r->w);
}

static void put_value(struct rendering *r, const struct json *j)
{
    if (j->kind == JSON_STRING)
        put_text(r, j->text);
    else if (is_flat(j))
        put_texts(r, j);
    else
        json_value(&r->w, j);
}

static void put_command_line(struct rendering *r)
{
    const struct json *args = json_get(r->entry, "args");

    json_begin_array(&r->w);
    put_value(r, json_get(r->entry, "command"));
    for (const struct json *x = args ? args->first : NULL; x; x = x->next)
        put_value(r, x);
    json_end_array(&r->w);
}

static void put_header_names(struct rendering *r, const char *name,
                             const struct json *headers)
{
    bool any = false;

    for (const struct json *x = headers->first; x; x = x->next) {
        if (!is_header_name(r, x))
            continue;
        if (!any)
            json_member_object(&r->w, name);
        any = true;
        json_key_str(&r->w, x->key);
        json_string(&r->w, only_variable(json_text(x), STR("")));
    }
    if (any)
        json_end_object(&r->w);
}

static void put_bearer(struct rendering *r, const char *name,
                       const struct json *headers)
{
    for (const struct json *x = headers->first; x; x = x->next)
        if (is_bearer(r, x))
            json_member_string(&r->w, name,
                               only_variable(json_text(x), STR("Bearer ")));
}

/* Returns whether the format can represent the value: TOML has no null, and
 * clients accept only integers. */
static bool can_hold(const struct mcp_shape *shape, const struct json *j)
{
    uint64_t number;

    if (shape->format != SHAPE_TOML && shape->format != SHAPE_YAML)
        return true;
    if (j->kind == JSON_ARRAY || j->kind == JSON_OBJECT)
        return is_flat(j);
    return j->kind == JSON_STRING ||
           (j->kind == JSON_NUMBER && str_number(j->text, 86400000, &number));
}

/* Returns whether no member is left, because all headers became names of
 * variables. */
static bool is_left_empty(const struct rendering *r, const struct json *j)
{
    if (j->kind != JSON_OBJECT || !j->first)
        return false;
    for (const struct json *x = j->first; x; x = x->next)
        if (!is_bearer(r, x) && !is_header_name(r, x))
            return false;
    return true;
}

/* Returns whether the member describes a login, which plugins write in the
 * format of Claude Code. */
static bool is_of_shared(const struct rendering *r, const struct json *j)
{
    return r->is_of_plugin && str_is(j->key, "oauth");
}

static void put_member(struct rendering *r, const struct shape_member *m)
{
    const struct json *j = json_get(r->entry, m->from ? m->from : m->name);

    switch (m->value) {
    case VALUE_TEXT:
        json_member_string(&r->w, m->name, str_cstr(m->from));
        break;
    case VALUE_TRUE:
        json_member_bool(&r->w, m->name, true);
        break;
    case VALUE_KEY:
        json_member_string(&r->w, m->name, r->key);
        break;
    case VALUE_COMMAND_LINE:
        json_key(&r->w, m->name);
        put_command_line(r);
        break;
    case VALUE_SAME:
        if (!j || !can_hold(r->shape, j) || is_left_empty(r, j) ||
            is_of_shared(r, j))
            break;
        json_key(&r->w, m->name);
        put_value(r, j);
        break;
    case VALUE_HEADERS:
        if (!j || !can_hold(r->shape, j))
            break;
        json_member_object(&r->w, m->name);
        json_key(&r->w, "headers");
        put_value(r, j);
        json_end_object(&r->w);
        break;
    case VALUE_BEARER:
        if (j)
            put_bearer(r, m->name, j);
        break;
    case VALUE_HEADER_NAMES:
        if (j)
            put_header_names(r, m->name, j);
        break;
    }
}

/* --- the entry ------------------------------------------------------------- */

/* Returns whether the shape has a rule for the member `key` of the MCP file. */
static bool is_of_shape(const struct rendering *r, struct str key)
{
    if (str_is(key, "_meta") ||
        (str_is(key, "timeout") && r->client->timeout.member))
        return true;
    for (const struct shape_member *m = r->shape->members; m->name; m++)
        if (str_is(key, m->name) ||
            ((m->value == VALUE_SAME || m->value == VALUE_HEADERS) && m->from &&
             str_is(key, m->from)))
            return true;
    return false;
}

/* Writes the timeout of a call, which an MCP file has in milliseconds. */
static void put_timeout(struct rendering *r)
{
    const struct client_timeout *t = &r->client->timeout;
    const struct json *ms = json_get(r->entry, "timeout");
    uint64_t n;

    if (!t->member || !ms || ms->kind != JSON_NUMBER ||
        (!str_is(STR("timeout"), t->member) && json_get(r->entry, t->member)))
        return;
    if (!t->in_seconds) {
        json_key(&r->w, t->member);
        json_value(&r->w, ms);
    } else if (str_number(ms->text, 86400000, &n)) {
        n = (n + 999) / 1000;
        json_member_number(&r->w, t->member,
                           t->max_seconds && n > t->max_seconds ? t->max_seconds
                                                                : n);
    }
}

static void put_plainly(struct rendering *r)
{
    json_begin_object(&r->w);
    for (const struct json *j = r->entry->first; j; j = j->next) {
        if (r->is_of_plugin && str_is(j->key, "_meta"))
            continue;
        json_key_str(&r->w, j->key);
        put_value(r, j);
    }
    json_end_object(&r->w);
}

static void put_entry(struct rendering *r)
{
    const struct client_mcp *file = &r->client->mcp;

    json_begin_object(&r->w);
    for (const struct shape_member *m = r->shape->members; m->name; m++)
        if (m->on & r->kind)
            put_member(r, m);
    for (const struct json *j = r->entry->first; j && r->shape->keeps_rest;
         j = j->next)
        if (!is_of_shape(r, j->key) && !is_of_shared(r, j)) {
            json_key_str(&r->w, j->key);
            put_value(r, j);
        }
    put_timeout(r);
    if (file->extra.name)
        json_member_raw(&r->w, file->extra.name, str_cstr(file->extra.value));
    json_end_object(&r->w);
}

/* Refuses strings that the client would expand and that it cannot escape: an
 * argument or a URL could disclose a secret. */
static bool check_expanded(const struct client *c, struct str key,
                           struct str entry, struct err *e)
{
    for (size_t i = 0; i < CLIENT_MAX_EXPANDED && c->expands[i]; i++)
        if (str_find(entry, str_cstr(c->expands[i])) != SIZE_MAX)
            return err_set(e, ERR_MCP, "%.*s: %s would expand \"%s…}\" in it",
                           STR_ARG(key), c->name, c->expands[i]);
    return true;
}

static bool render(struct rendering *r, struct arena *a, struct str *out,
                   struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    r->shape = r->client->mcp.shape;
    r->kind = kind_of(r->entry);
    buf_init(&b, ENTRY_MAX_BYTES);
    buf_init(&r->scratch, ENTRY_MAX_BYTES);
    json_writer_init(&r->w, &b, 2);
    if (r->shape->is_verbatim)
        put_plainly(r);
    else
        put_entry(r);
    b.overflowed |= r->scratch.overflowed;
    buf_done(&r->scratch);
    if (!buf_check(&b, "a server's entry", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}

bool render_server(const struct client *c, struct str key, struct str entry,
                   struct arena *a, struct str *out, struct err *e)
{
    struct json_options options = {.max_depth = MCP_MAX_DEPTH + 1};
    struct rendering r = {.client = c, .key = key};

    if (!check_expanded(c, key, entry, e))
        return false;
    if (c->mcp.shape->is_verbatim) {
        *out = str_trim(entry);
        return true;
    }
    return (json_parse(entry, &options, a, &r.entry, NULL, e) ||
            err_wrap(e, "%.*s", STR_ARG(key))) &&
           render(&r, a, out, e);
}

bool render_plugin_server(const struct client *c, struct str key,
                          const struct json *mcp, struct arena *a,
                          struct str *out, struct err *e)
{
    struct rendering r = {
        .client = c, .key = key, .entry = mcp, .is_of_plugin = true};
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;

    buf_init(&text, ENTRY_MAX_BYTES);
    json_writer_init(&w, &text, 0);
    json_value(&w, mcp);
    return buf_check(&text, "a server's entry", e) &&
           check_expanded(c, key, buf_str(&text), e) && render(&r, a, out, e);
}
