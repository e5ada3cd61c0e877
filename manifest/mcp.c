#include "mcp.h"

#include "mapm/mcp_file.h"
#include "mapm/name.h"

/* Reads an MCP file: one server, with its name in `_meta`. Other keys belong to
 * the clients and are copied unchanged. Source: M11, M16 to M22, X19, X20, X22,
 * REQUIREMENTS 4.4. */

bool mcp_parse(struct str text, struct arena *a, const struct json **out,
               unsigned *line, struct err *e)
{
    const struct json_options options = {
        .max_bytes = MCP_MAX_BYTES,
        .max_depth = MCP_MAX_DEPTH,
        .max_nodes = MCP_MAX_NODES,
    };

    return json_parse(text, &options, a, out, line, e);
}

const struct json *walk_next(struct walk *w, const struct json *root)
{
    const struct json *j = w->now;

    if (!w->started) {
        w->started = true;
        w->now = root->first;
    } else if (j->first && w->depth < WALK_MAX_DEPTH) {
        w->stack[w->depth++] = j;
        w->now = j->first;
    } else {
        while (!j->next && w->depth > 0)
            j = w->stack[--w->depth];
        w->now = j->next;
    }
    if (w->depth == 0)
        w->top = w->now;
    return w->now;
}

/* --- name ----------------------------------------------------------------- */

static void compare_file(struct reader *r, const struct json *name)
{
    struct str want = mcp_file_name(name->text, r->a);

    if (r->in->folder.n && !str_eq(r->in->folder, want))
        report(r, "mcp-filename", "_meta.name", name->line,
               "the file of \"%s\" is called \"%s\", not \"%s\"",
               quoted(r, name->text), quoted(r, want),
               quoted(r, r->in->folder));
}

static void read_mcp_name(struct reader *r, const struct json *root)
{
    const struct json *meta = json_get(root, "_meta");
    const struct json *name = json_get(meta, "name"), *plugin;
    size_t slash;

    if (!meta || meta->kind != JSON_OBJECT) {
        report(r, "mcp-meta", "_meta", meta ? meta->line : 1,
               json_get(root, "mcpServers")
                   ? "it is a client's configuration: write one file a "
                     "server, with \"_meta\": {\"name\": \"namespace/short\"}"
                   : "it has no \"_meta\": {\"name\": \"namespace/short\"}");
        return;
    }
    plugin = json_get(meta, "plugin");
    if (plugin && plugin->kind == JSON_OBJECT)
        report(r, "mcp-meta", "_meta.plugin", plugin->line,
               "_meta.plugin is what mapm notes of the servers of plugins, "
               "which start in another folder and environment: take it out");
    if (!name || name->kind != JSON_STRING || name->text.n == 0) {
        report(r, "mcp-name-missing", "_meta.name",
               name ? name->line : meta->line,
               "_meta has no name: write \"name\": \"namespace/short\"");
        return;
    }
    if (!name_mcp_is_valid(name->text)) {
        report(r, "mcp-name", "_meta.name", name->line,
               "the name \"%s\" is not <namespace>/<short>: letters, digits, "
               "\".\" and \"-\", one \"/\", behind it also \"_\", 3 to %d "
               "characters",
               quoted(r, name->text), MCP_NAME_MAX_CHARS);
        return;
    }
    slash = str_find_char(name->text, '/');
    r->doc->fqn = name->text;
    r->doc->scope = str_slice(name->text, 0, slash);
    r->doc->name = str_from_index(name->text, slash + 1);
    compare_file(r, name);
}

/* --- kind of server ------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *name;
    bool has_url;
} types[] = {
    {"stdio", false}, {"local", false}, {"http", true}, {"sse", true},
    {"streamable-http", true},
};
/* clang-format on */

static void check_type(struct reader *r, const struct json *root)
{
    const struct json *type = json_get(root, "type");
    bool command = json_get(root, "command"), url = json_get(root, "url");
    struct str text = json_text(type);

    if (command == url)
        report(r, "mcp-type", "type", 1,
               command ? "it has a command and a url: a server is one of "
                         "them"
                       : "it has neither a command nor a url");
    if (!type)
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!str_is(text, types[i].name))
            continue;
        if (command != url && types[i].has_url != url)
            report(r, "mcp-type", "type", type->line, "type \"%s\" needs a %s",
                   types[i].name, types[i].has_url ? "url" : "command");
        return;
    }
    report(r, "mcp-type", "type", type->line,
           "the type \"%s\" is none of stdio, http, sse, streamable-http, "
           "local",
           quoted(r, text));
}

/* --- every string --------------------------------------------------------- */

static void check_string(struct reader *r, const char *field, unsigned line,
                         struct str text)
{
    if (str_has_char(text, '\0'))
        report(r, "nul-bytes", field, line, "%s contains a NUL", field);
    else
        check_hidden(r, LEVEL_ERROR, field, line, text);
}

static void check_key(struct reader *r, const char *field, const struct json *j)
{
    check_string(r, field, j->key_line, j->key);
    if (str_find(j->key, STR("${")) != SIZE_MAX)
        report(r, "mcp-placeholder", field, j->key_line,
               "the key \"%s\" holds a placeholder: only values are "
               "substituted",
               quoted(r, j->key));
}

static void check_strings(struct reader *r, const struct json *root)
{
    struct walk w = {0};
    const struct json *j, *top = NULL;
    const char *field = "", *fault;
    struct str part;

    while ((j = walk_next(&w, root))) {
        if (w.top != top)
            field = quoted(r, w.top->key);
        top = w.top;
        if (j->key.n)
            check_key(r, field, j);
        if (j->kind != JSON_STRING)
            continue;
        check_string(r, field, j->line, j->text);
        fault = placeholder_fault(j->text, &part);
        if (fault)
            report(r, "mcp-placeholder", field, j->line, "\"%s\" %s",
                   quoted(r, part), fault);
    }
}

/* --- layout --------------------------------------------------------------- */

struct layout {
    struct str text;
    size_t at;
    size_t depth;
    bool in_string;
};

static void skip_line(struct layout *l)
{
    while (l->at < l->text.n && l->text.p[l->at] != '\n') {
        char c = l->text.p[l->at++];

        if (l->in_string && c == '\\')
            l->at++;
        else if (c == '"')
            l->in_string = !l->in_string;
        else if (!l->in_string && (c == '{' || c == '['))
            l->depth++;
        else if (!l->in_string && (c == '}' || c == ']') && l->depth > 0)
            l->depth--;
    }
    l->at++;
}

/* M18: checks the layout: two blanks per level, nothing before the first brace,
 * one newline at the end. Line breaks in lists are not checked. */
static const char *layout_fault(struct str text, const struct json *root,
                                unsigned *line)
{
    struct layout l = {.text = text};

    *line = 1;
    if (root->first && root->first->key_line == root->line)
        return "it is not broken into lines";
    for (; l.at < text.n; ++*line) {
        size_t start = l.at, indent;
        char c;

        while (l.at < text.n && text.p[l.at] == ' ')
            l.at++;
        indent = l.at - start;
        c = l.at < text.n ? text.p[l.at] : '\n';
        if (indent != 2 * (l.depth - (l.depth > 0 && (c == '}' || c == ']'))))
            return "it is not indented by 2 blanks a level";
        if (c == '\n' || c == '\r')
            return "it has an empty line";
        skip_line(&l);
    }
    --*line;
    return str_ends(text, STR("\n")) ? NULL : "it does not end with a line end";
}

static void check_layout(struct reader *r, const struct json *root)
{
    unsigned line;
    const char *fault = layout_fault(r->in->text, root, &line);

    if (fault)
        report(r, "mcp-format", "", line, "%s: \"mapm check --fix\" mends it",
               fault);
}

/* --- all of it ------------------------------------------------------------ */

static void check_server(struct reader *r, const struct json *root)
{
    const struct json *command = json_get(root, "command");
    const struct json *args = json_get(root, "args");
    const struct json *env = json_get(root, "env");
    const struct json *environment = json_get(root, "environment");
    const struct json *url = json_get(root, "url");
    const struct json *headers = json_get(root, "headers");
    const struct json *leaf = json_get(root, "dependencies");

    check_type(r, root);
    if (command)
        check_command(r, command);
    if (args)
        check_args(r, args, json_text(command));
    if (env)
        check_env(r, env);
    if (environment)
        check_env(r, environment);
    if (url)
        check_url(r, url);
    if (headers)
        check_headers(r, headers);
    for (const struct json *v = root->first; v; v = v->next)
        if (mcp_key_skips_consent(v->key))
            report(r, "mcp-consent", str_dup0(v->key, r->a), v->key_line,
                   "\"%s\" lets a client run tools without asking: that "
                   "is for each user to say",
                   str_dup0(v->key, r->a));
    if (leaf)
        report(r, "mcp-leaf", "dependencies", leaf->key_line,
               "an MCP depends on nothing: what needs it and others names "
               "them all");
}

void read_mcp(struct reader *r)
{
    const struct json *root;
    unsigned line = 0;
    struct err e = {0};

    if (!mcp_parse(r->in->text, r->a, &root, &line, &e)) {
        report(r, "mcp-json", "", line, "it is not JSON: %s", err_first(&e));
        return;
    }
    if (root->kind != JSON_OBJECT) {
        report(r, "mcp-json", "", root->line, "it is %s, not an object",
               json_kind_name(root->kind));
        return;
    }
    r->doc->mcp = root;
    r->doc->description = str_trim(json_text(json_get(root, "description")));
    read_mcp_name(r, root);
    check_server(r, root);
    check_strings(r, root);
    check_layout(r, root);
}

struct str mcp_mention(const struct json *j, const char *text)
{
    const struct json *after[MCP_MAX_DEPTH + 2];
    size_t depth = 0;

    while (j) {
        if (j->kind == JSON_STRING &&
            str_find(j->text, str_cstr(text)) != SIZE_MAX)
            return j->text;
        if (j->first && depth < sizeof after / sizeof *after) {
            after[depth++] = j->next;
            j = j->first;
            continue;
        }
        j = j->next;
        while (!j && depth)
            j = after[--depth];
    }
    return STR("");
}
