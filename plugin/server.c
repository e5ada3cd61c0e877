#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "plugin_parts.h"
#include "standard.h"

/* Converts the servers of a plugin to MCP files. The members of an entry are
 * kept; placeholders of all formats are translated to those of the standard,
 * and `_meta.plugin` states how to interpret them. Source: P26 to P50, C4, C6,
 * X32, X33, X41; THREATS row 8. */

#define ROOT           "${PLUGIN_ROOT}"
#define DATA           "${PLUGIN_DATA}"
#define DATA_HEX_CHARS 32 /* hash characters in the name of a data folder */

/* The server that is being read. */
struct server {
    struct reading *r;
    struct str key, name, path;
    const struct json *entry;
    bool needs_start;
    bool is_relative; /* an argument is a relative path in the plugin */
    struct buf fault; /* reason for skipping the server; empty if it is valid */
};

static void PRINTF(2, 3) fail(struct server *s, const char *format, ...)
{
    char text[500];
    va_list args;

    if (s->fault.n)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_text(&s->fault, text);
}

/* --- the standard's rules ----------------------------------------------------- */

/* P28: checks the members of the entry's type. */
static void check_variant(struct server *s)
{
    struct str type = json_text(json_get(s->entry, "type"));
    const struct standard_variant *v = standard_find_variant(type);

    if (!v) {
        fail(s,
             type.p ? "its type \"%.*s\" is none of the standard"
                    : "it has no type",
             STR_ARG(text_cut(type, 60)));
        return;
    }
    for (const struct json *j = s->entry->first; j; j = j->next)
        if (!standard_has_member(v, j->key))
            fail(s, "a server of type %s has no \"%.*s\"", v->type,
                 STR_ARG(text_cut(j->key, 60)));
    if (!json_get(s->entry, v->members[1]))
        fail(s, "it has no %s", v->members[1]);
}

static struct str translate(const struct server *s, struct str text);

static void check_cwd(struct server *s)
{
    struct str cwd = translate(s, json_text(json_get(s->entry, "cwd")));
    const char *fault;

    if (!json_get(s->entry, "cwd"))
        return;
    if (!s->r->is_standard &&
        (str_is(cwd, ".") || str_starts(cwd, STR("${workspaceDir}"))))
        return;
    fault = standard_cwd_fault(cwd);
    if (fault)
        fail(s, "%s", fault);
}

static void check_standard_command(struct server *s)
{
    const struct json *command = json_get(s->entry, "command");
    const char *fault =
        command ? standard_command_fault(json_text(command)) : NULL;

    if (fault)
        fail(s, "%s", fault);
}

static void check_env_names(struct server *s)
{
    const struct json *env = json_get(s->entry, "env");

    for (const struct json *j = env ? env->first : NULL; j; j = j->next)
        if (str_is(j->key, "PLUGIN_ROOT") || str_is(j->key, "PLUGIN_DATA"))
            fail(s, "its env names %.*s", STR_ARG(j->key));
}

/* P35: rejects a URL with a fragment. */
static void check_standard_url(struct server *s)
{
    struct str url = json_text(json_get(s->entry, "url"));

    if (str_has_char(url, '#'))
        fail(s, "its url has a fragment");
}

/* P36: checks the names of headers. */
static void check_header_names(struct server *s)
{
    const struct json *headers = json_get(s->entry, "headers");
    struct map seen;

    if (!headers || headers->kind != JSON_OBJECT)
        return;
    map_init(&seen, s->r->a);
    for (const struct json *j = headers->first; j; j = j->next)
        if (!map_put(&seen, str_lower(j->key, s->r->a), s))
            fail(s, "it has the header %.*s twice",
                 STR_ARG(text_cut(j->key, 60)));
}

/* --- headers as Codex names them ----------------------------------------------- */

struct headers {
    struct json *object, *last;
};

static void add_header(struct server *s, struct headers *h, struct str key,
                       struct str text)
{
    struct json *j = arena_new(s->r->a, struct json);

    *j = (struct json){.kind = JSON_STRING, .key = key, .text = text};
    if (h->last)
        h->last->next = j;
    else
        h->object->first = j;
    h->last = j;
    h->object->count++;
}

static struct str variable(struct server *s, const char *before,
                           const struct json *name)
{
    struct str text = json_text(name);

    if (!name_is_variable(text))
        fail(s, "a header names no variable of the environment");
    return arena_printf(s->r->a, "%s${%.*s}", before, STR_ARG(text));
}

static void add_headers(struct server *s, struct headers *h, const char *member)
{
    const struct json *from = json_get(s->entry, member);
    bool is_variable = strcmp(member, "env_http_headers") == 0;

    if (from && !check_is_text_list(from, JSON_OBJECT))
        fail(s, "its %s is not an object of texts", member);
    for (const struct json *j = from ? from->first : NULL; j && !s->fault.n;
         j = j->next)
        add_header(s, h, j->key, is_variable ? variable(s, "", j) : j->text);
}

static bool has_header(const struct server *s, const struct json *headers,
                       const char *name)
{
    for (const struct json *j = headers->first; j; j = j->next)
        if (str_is(str_lower(j->key, s->r->a), name))
            return true;
    return false;
}

/* Converts `bearer_token_env_var` and the like to headers with variables, which
 * are written in the syntax of each client. */
static void gather_headers(struct server *s)
{
    const struct json *bearer = json_get(s->entry, "bearer_token_env_var");
    struct json *entry = arena_new(s->r->a, struct json);
    struct headers h = {.object = arena_new(s->r->a, struct json)};

    if (s->r->is_standard || !json_get(s->entry, "url") ||
        (!bearer && !json_get(s->entry, "http_headers") &&
         !json_get(s->entry, "env_http_headers")))
        return;
    *h.object = (struct json){.kind = JSON_OBJECT, .key = STR("headers")};
    add_headers(s, &h, "headers");
    add_headers(s, &h, "http_headers");
    add_headers(s, &h, "env_http_headers");
    if (bearer && !has_header(s, h.object, "authorization"))
        add_header(s, &h, STR("Authorization"), variable(s, "Bearer ", bearer));
    /* The new member precedes an existing one of the same name, and the first
     * one is used. */
    *entry = *s->entry;
    h.object->next = entry->first;
    entry->first = h.object;
    s->entry = entry;
}

/* --- what all of them keep ------------------------------------------------------ */

static void check_shapes(struct server *s)
{
    static const struct {
        const char *key;
        enum json_kind kind;
    } shapes[] = {
        {"type", JSON_STRING},    {"command", JSON_STRING},
        {"url", JSON_STRING},     {"cwd", JSON_STRING},
        {"args", JSON_ARRAY},     {"env", JSON_OBJECT},
        {"headers", JSON_OBJECT},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct json *j = json_get(s->entry, shapes[i].key);

        if (!j)
            continue;
        if (shapes[i].kind == JSON_STRING
                ? j->kind != JSON_STRING
                : !check_is_text_list(j, shapes[i].kind))
            fail(s, "its %s is %s", shapes[i].key, json_kind_name(j->kind));
    }
    for (const struct json *j = s->entry->first; j; j = j->next)
        if (j->kind == JSON_STRING && str_has_char(j->text, '\0'))
            fail(s, "it holds a NUL");
}

/* Returns true if a value contains "$". A client connects to a remote server
 * itself and may expand more than the standard does, so a literal "$" cannot be
 * expressed. */
static bool has_dollar(const struct json *j)
{
    for (const struct json *x = j ? j->first : NULL; x; x = x->next)
        if (str_has_char(x->text, '$'))
            return true;
    return j && j->kind == JSON_STRING && str_has_char(j->text, '$');
}

/* --- placeholders ----------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *from, *to;
} placeholders[] = {
    {"${PLUGIN_ROOT}", ROOT}, {"${PLUGIN_DATA}", DATA},
    {"${CLAUDE_PLUGIN_ROOT}", ROOT}, {"${CLAUDE_PLUGIN_DATA}", DATA},
    {"${CURSOR_PLUGIN_ROOT}", ROOT}, {"${extensionPath}", ROOT},
    {"${CLAUDE_PROJECT_DIR}", "${workspaceDir}"},
    {"${workspacePath}", "${workspaceDir}"}, {"${/}", "/"},
    {"${pathSeparator}", "/"},
};
/* clang-format on */

static size_t put_placeholder(struct buf *out, struct str rest)
{
    for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++) {
        struct str from = str_cstr(placeholders[i].from);

        if (!str_starts(rest, from))
            continue;
        buf_text(out, placeholders[i].to);
        return from.n;
    }
    return 0;
}

/* Translates placeholders to those of the standard. Text of standard plugins is
 * unchanged: it has only the two placeholders, and the rest is literal. */
static struct str translate(const struct server *s, struct str text)
{
    CLEANUP(buf_done) struct buf out = {0};
    size_t n;

    if (s->r->is_standard || !str_has_char(text, '$'))
        return text;
    buf_init(&out, PLUGIN_MANIFEST_MAX_BYTES * 2);
    for (size_t i = 0; i < text.n; i += n ? n : 1) {
        n = put_placeholder(&out, str_from_index(text, i));
        if (n == 0)
            buf_char(&out, text.p[i]);
    }
    return arena_str(s->r->a, buf_str(&out));
}

/* Returns true if the text is the path of a file of the plugin relative to its
 * root, such as "./bin/x" or "bin/x.js". */
static bool names_file(const struct server *s, struct str text)
{
    struct str path = text;

    if (str_starts(path, STR("./")) || str_starts(path, STR("../")))
        return true;
    return str_has_char(path, '/') && path.p[0] != '/' && path.p[0] != '@' &&
           find_path(s->r, path) != SIZE_MAX;
}

static void check_text(struct server *s, struct str text)
{
    s->needs_start |= str_has_char(text, '$') || names_file(s, text);
}

/* X32: decides whether `mapm start` must start the server, because its entry
 * would differ between machines. */
static void decide_start(struct server *s)
{
    const struct json *args = json_get(s->entry, "args");
    const struct json *env = json_get(s->entry, "env");

    if (!json_get(s->entry, "command"))
        return;
    s->needs_start = s->r->is_standard || json_get(s->entry, "cwd");
    check_text(s, json_text(json_get(s->entry, "command")));
    for (const struct json *j = args ? args->first : NULL; j; j = j->next) {
        check_text(s, j->text);
        s->is_relative |= !s->r->is_standard && names_file(s, j->text);
    }
    for (const struct json *j = env ? env->first : NULL; j; j = j->next)
        check_text(s, j->text);
}

/* --- as a document ------------------------------------------------------------------ */

static void put_value(struct json_writer *w, const struct server *s,
                      const struct json *j)
{
    if (j->kind == JSON_STRING) {
        json_string(w, translate(s, j->text));
    } else if (j->kind == JSON_ARRAY) {
        json_begin_array(w);
        for (const struct json *x = j->first; x; x = x->next)
            json_string(w, translate(s, x->text));
        json_end_array(w);
    } else {
        json_begin_object(w);
        for (const struct json *x = j->first; x; x = x->next) {
            json_key_str(w, x->key);
            json_string(w, translate(s, x->text));
        }
        json_end_object(w);
    }
}

/* Writes only the members that are needed, so that equal servers of two plugins
 * have equal text (X34). */
static void put_meta(struct json_writer *w, const struct server *s)
{
    const struct reading *r = s->r;

    json_member_object(w, "_meta");
    json_member_object(w, "plugin");
    json_member_string(w, "server", s->name);
    if (s->needs_start) {
        json_member_bool(w, "standard", r->is_standard);
        json_member_string(w, "name", r->out->name);
        json_member_string(w, "root", r->in->digest);
        json_member_string(w, "data", r->in->data);
    }
    json_end_object(w);
    json_end_object(w);
}

/* Writes the OAuth client id, for authorization servers that do not support
 * dynamic registration. */
static void put_oauth(struct json_writer *w, const struct server *s)
{
    const struct json *oauth = json_get(s->entry, "oauth");
    const struct json *id = json_get(oauth, "clientId");
    const struct json *port = json_get(oauth, "callbackPort");
    uint64_t number;

    if (s->r->is_standard || !json_get(s->entry, "url") || !id ||
        id->kind != JSON_STRING)
        return;
    json_member_object(w, "oauth");
    json_member_string(w, "clientId", id->text);
    if (port && port->kind == JSON_NUMBER &&
        str_number(port->text, 65535, &number))
        json_member_number(w, "callbackPort", number);
    json_end_object(w);
}

static struct str make_document(const struct server *s)
{
    static const char *const keys[] = {"command", "args", "env",
                                       "cwd",     "url",  "headers"};
    CLEANUP(buf_done) struct buf out = {0};
    struct str type = json_text(json_get(s->entry, "type"));
    struct json_writer w;

    buf_init(&out, 4 * PLUGIN_MANIFEST_MAX_BYTES);
    json_writer_init(&w, &out, 2);
    json_begin_object(&w);
    put_meta(&w, s);
    if (json_get(s->entry, "url"))
        json_member_string(&w, "type",
                           str_is(type, "sse") ? STR("sse") : STR("http"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct json *j = json_get(s->entry, keys[i]);

        if (!j ||
            (!j->count && (j->kind == JSON_ARRAY || j->kind == JSON_OBJECT)))
            continue;
        json_key(&w, keys[i]);
        put_value(&w, s, j);
    }
    put_oauth(&w, s);
    /* The arguments are relative to the root of the plugin, but the default
     * working folder is the workspace. */
    if (s->is_relative && !json_get(s->entry, "cwd"))
        json_member_string(&w, "cwd", STR(ROOT));
    json_end_object(&w);
    buf_char(&out, '\n');
    return arena_str(s->r->a, buf_str(&out));
}

/* Returns true for codes of findings in MCP packages that also apply to servers
 * of plugins (X41). */
static bool counts(const char *code)
{
    static const char *const codes[] = {
        "mcp-shell",   "mcp-env",   "mcp-url",           "mcp-type", "mcp-args",
        "mcp-command", "nul-bytes", "hidden-characters", "mcp-json",
    };

    return STR_IS_ONE_OF(str_cstr(code), codes);
}

/* Validates the generated document as an MCP file, except for findings that do
 * not apply to plugins, such as a blank in the path of the command. */
static void check_document(struct server *s, struct str document)
{
    const struct manifest_input in = {.kind = DOC_MCP, .text = document};
    struct document d;
    struct diagnostics why;

    diagnostics_init(&why, s->r->a);
    manifest_read(&in, s->r->a, &d, &why);
    for (size_t i = 0; i < why.count && !s->fault.n; i++)
        if (why.items[i].error && counts(why.items[i].code))
            fail(s, "%.*s", STR_ARG(text_cut(why.items[i].message, 300)));
}

/* C4, C6: rejects a server that needs values which the client would ask the
 * user for. */
static void check_client_values(struct server *s, struct str document)
{
    if (str_find(document, STR("${user_config.")) != SIZE_MAX)
        fail(s, "it needs values of userConfig, which mapm does not ask for");
}

static void check_program(struct server *s)
{
    struct str command = json_text(json_get(s->entry, "command"));
    struct str path = translate(s, command);
    size_t at;

    if (str_starts(path, STR(ROOT "/")))
        path = str_from_index(path, strlen(ROOT "/"));
    else if (str_starts(path, STR("./")))
        path = str_from_index(path, 2);
    else {
        if (str_has_char(path, '/') && find_path(s->r, path) == SIZE_MAX)
            fail(s,
                 "its command \"%.*s\" is neither a bare name nor a file "
                 "of the plugin",
                 STR_ARG(text_cut(path, 120)));
        return;
    }
    at = find_path(s->r, path);
    if (at == SIZE_MAX)
        fail(s, "there is no %.*s in the plugin", STR_ARG(text_cut(path, 120)));
    else if (is_outside(s->r, at))
        fail(s, "its command leads out of the plugin");
    else if (s->r->files->is_executable &&
             !s->r->files->is_executable(s->r->files->ctx, at))
        fail(s, "%.*s is not a program: it has no executable bit",
             STR_ARG(text_cut(path, 120)));
}

static void check_remote(struct server *s)
{
    if (json_get(s->entry, "command"))
        return;
    if (s->r->is_standard && (has_dollar(json_get(s->entry, "url")) ||
                              has_dollar(json_get(s->entry, "headers"))))
        fail(s, "a \"$\" in its url or headers has to stay as it is, and "
                "clients would expand it");
    else if (str_find(json_text(json_get(s->entry, "url")),
                      STR("${CLAUDE_PLUGIN")) != SIZE_MAX)
        fail(s, "its url holds a folder of the plugin");
}

/* X33: warns about variables, because clients have different syntax for them
 * and some do not support them. */
static void warn_about_variables(const struct server *s)
{
    if (!json_get(s->entry, "command") &&
        (has_dollar(json_get(s->entry, "url")) ||
         has_dollar(json_get(s->entry, "headers"))))
        add_warning(s->r,
                    "mcp %.*s takes variables of the environment of the "
                    "client: not all clients expand them, and defaults only "
                    "Claude Code does",
                    STR_ARG(s->name));
}

static void read_server(struct reading *r, const struct json *entry,
                        struct str path)
{
    struct server s = {.r = r, .key = entry->key, .path = path, .entry = entry};
    struct str document = {"", 0};

    buf_init(&s.fault, 1000);
    s.name = make_name(entry->key, r->a);
    if (!s.name.n)
        fail(&s, "its key has no letter or digit");
    if (entry->kind != JSON_OBJECT)
        fail(&s, "it is %s, not an object", json_kind_name(entry->kind));
    if (!s.fault.n && r->is_standard) {
        check_variant(&s);
        check_standard_command(&s);
        check_env_names(&s);
        check_standard_url(&s);
    }
    if (!s.fault.n)
        gather_headers(&s);
    if (!s.fault.n)
        check_shapes(&s);
    if (!s.fault.n) {
        check_header_names(&s);
        check_cwd(&s);
    }
    if (!s.fault.n)
        check_remote(&s);
    if (!s.fault.n && json_get(entry, "command"))
        check_program(&s);
    if (!s.fault.n) {
        decide_start(&s);
        document = make_document(&s);
        check_client_values(&s, document);
        check_document(&s, document);
    }
    if (s.fault.n)
        skip_part(r, DOC_MCP, entry->key, "%.*s", STR_ARG(buf_str(&s.fault)));
    else if (!map_put(&r->seen, arena_printf(r->a, "mcp %.*s", STR_ARG(s.name)),
                      r))
        skip_part(r, DOC_MCP, entry->key,
                  "another server of the plugin is \"%.*s\", too",
                  STR_ARG(s.name));
    else {
        warn_about_variables(&s);
        add_part(r, &(struct plugin_part){.kind = DOC_MCP,
                                          .name = s.name,
                                          .path = path,
                                          .document = document});
    }
    buf_done(&s.fault);
}

/* --- files of servers ---------------------------------------------------------------- */

/* Servers by name. They are collected before they are read, because the last
 * one of a name is used (C3). */
struct collected {
    struct map entries; /* key -> const struct json * */
    struct map paths;   /* key -> struct str * */
};

static void collect(struct reading *r, struct collected *c,
                    const struct json *servers, struct str path)
{
    struct str *where = arena_new(r->a, struct str);

    *where = path;
    if (!servers || servers->kind != JSON_OBJECT) {
        if (servers)
            skip_part(r, DOC_MCP, path, "its servers are %s, not an object",
                      json_kind_name(servers->kind));
        return;
    }
    for (const struct json *j = servers->first; j; j = j->next) {
        map_put(&c->entries, j->key, (void *)(uintptr_t)j);
        map_put(&c->paths, j->key, where);
    }
}

static void read_standard_servers(struct reading *r, struct collected *c)
{
    size_t at = find_path(r, STR("mcp.json"));
    const struct json *root;
    struct err e = {0};
    const char *fault, *code;

    if (at == SIZE_MAX) {
        if (find_below(r, STR("mcp.json")) != SIZE_MAX)
            skip_part(r, DOC_MCP, STR("mcp.json"), "it is a folder");
        return;
    }
    if (is_outside(r, at)) {
        skip_part(r, DOC_MCP, STR("mcp.json"), "it is outside of the plugin");
        return;
    }
    if (!read_json(r, at, PLUGIN_MANIFEST_MAX_BYTES, &root, &e)) {
        skip_part(r, DOC_MCP, STR("mcp.json"), "%s", err_first(&e));
        return;
    }
    fault = standard_mcp_fault(r->manifest, root, &code);
    if (fault)
        skip_part(r, DOC_MCP, STR("mcp.json"), "%s", fault);
    else
        collect(r, c, json_get(root, "mcpServers"), STR("mcp.json"));
}

static void read_file(struct reading *r, struct collected *c, struct str path,
                      bool is_named)
{
    size_t at = find_path(r, path);
    const struct json *root, *servers;
    struct err e = {0};

    if (at == SIZE_MAX) {
        if (is_named)
            skip_part(r, DOC_MCP, path, "there is no such file");
        return;
    }
    if (!read_json(r, at, PLUGIN_MANIFEST_MAX_BYTES, &root, &e)) {
        skip_part(r, DOC_MCP, path, "%s", err_first(&e));
        return;
    }
    servers = json_get(root, "mcpServers");
    if (!servers)
        servers = json_get(root, "servers");
    collect(r, c, servers ? servers : root, path);
}

static void read_named(struct reading *r, struct collected *c,
                       const struct json *j, struct str where)
{
    struct str path;
    const char *fault;

    if (j->kind == JSON_OBJECT) {
        const struct json *inner = json_get(j, "mcpServers");

        collect(r, c, inner ? inner : j, where);
    } else if (j->kind != JSON_STRING) {
        skip_part(r, DOC_MCP, STR("mcpServers"), "it is %s",
                  json_kind_name(j->kind));
    } else if (str_ends(j->text, STR(".mcpb")) ||
               str_ends(j->text, STR(".dxt")) ||
               str_starts(j->text, STR("https:"))) {
        if (str_starts(j->text, STR("https:")))
            add_other(r, "mcpb", 1, j->text);
    } else if (!clean_path(j->text, r->format != PLUGIN_CLAUDE, r->a, &path,
                           &fault)) {
        skip_part(r, DOC_MCP, j->text, "its path %s", fault);
    } else {
        read_file(r, c, path, true);
    }
}

static void read_key(struct reading *r, struct collected *c,
                     const struct json *j, struct str where)
{
    if (!j)
        return;
    if (j->kind != JSON_ARRAY) {
        read_named(r, c, j, where);
        return;
    }
    for (const struct json *x = j->first; x; x = x->next)
        read_named(r, c, x, where);
}

static void read_client_servers(struct reading *r, struct collected *c)
{
    const struct json *own = json_get(r->manifest, "mcpServers");

    if (r->format == PLUGIN_CURSOR) {
        read_file(r, c, STR("mcp.json"), false);
    } else if (r->format != PLUGIN_GEMINI && !r->is_entry_at_root) {
        read_file(r, c, STR(".mcp.json"), false);
        if (r->format != PLUGIN_CLAUDE && r->format != PLUGIN_CODEX)
            read_file(r, c, STR(".github/mcp.json"), false);
    }
    read_key(r, c, own, r->out->manifest);
    /* C15: the servers of the entry are used only if there is no manifest. */
    if (!r->manifest)
        read_key(r, c, json_get(r->entry, "mcpServers"),
                 STR("the marketplace"));
}

void read_servers(struct reading *r)
{
    struct collected c;

    map_init(&c.entries, r->a);
    map_init(&c.paths, r->a);
    if (r->is_standard)
        read_standard_servers(r, &c);
    else
        read_client_servers(r, &c);
    for (size_t i = 0; i < c.entries.count; i++) {
        if (r->server_count == PLUGIN_MAX_SERVERS) {
            skip_part(r, DOC_MCP, STR("mcpServers"),
                      "a plugin has at most %d servers", PLUGIN_MAX_SERVERS);
            return;
        }
        read_server(
            r, c.entries.entries[i].value,
            *(struct str *)map_find(&c.paths, c.entries.entries[i].key));
    }
}

/* --- and back ---------------------------------------------------------------------------- */

void plugin_server_read(const struct json *mcp, struct plugin_server *out)
{
    const struct json *meta = json_get(json_get(mcp, "_meta"), "plugin");

    *out = (struct plugin_server){0};
    if (!meta || meta->kind != JSON_OBJECT)
        return;
    out->is_plugin = true;
    out->is_standard = json_is_true(json_get(meta, "standard"));
    out->name = json_text(json_get(meta, "server"));
    out->root = json_text(json_get(meta, "root"));
    out->is_started = out->root.n > 0;
    out->data = json_text(json_get(meta, "data"));
    out->data_name = json_text(json_get(meta, "name"));
}

struct str plugin_server_data(const struct plugin_server *p,
                              struct str workspace, struct arena *a)
{
    struct hash key = hash_of(
        arena_printf(a, "%.*s\n%.*s", STR_ARG(workspace), STR_ARG(p->data)));
    struct str hex = str_slice(hash_hex(&key, a), 0, DATA_HEX_CHARS);
    struct str name =
        arena_printf(a, "%.*s-%.*s", STR_ARG(hex), STR_ARG(p->data_name));

    return fs_path_is_relative_clean(name) && !str_has_char(name, '/')
               ? name
               : str_make("", 0);
}
