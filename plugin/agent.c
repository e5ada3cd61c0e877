#include "base/path.h"
#include "base/text.h"
#include "base/yaml.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include "plugin_parts.h"

/* Converts the sub-agents of plugins, one Markdown file each, to documents of
 * agents. Only frontmatter keys that cannot widen rights are kept. Source: C2,
 * C3, C7, X36. */

/* clang-format off */
static const char *const kept_keys[] = {
    "description", "model", "effort", "maxTurns", "tools", "disallowedTools",
    "skills", "memory", "background", "isolation",
};
/* clang-format on */

static bool is_kept(struct str key)
{
    return STR_IS_ONE_OF(key, kept_keys);
}

/* Splits `text` into the lines between the two "---" lines and the body. */
static bool split(struct str text, struct str *head, struct str *body)
{
    struct str rest = text, line;
    size_t start;

    if (str_starts(rest, STR("\xef\xbb\xbf")))
        rest = str_from_index(rest, 3);
    if (!str_line(&rest, &line) || !str_is(str_trim(line), "---"))
        return false;
    start = (size_t)(rest.p - text.p);
    for (;;) {
        size_t end = rest.p ? (size_t)(rest.p - text.p) : text.n;

        if (!rest.n || !str_line(&rest, &line))
            return false;
        if (!str_is(str_trim(line), "---"))
            continue;
        *head = str_slice(text, start, end);
        *body = rest.n ? rest : str_make("", 0);
        return true;
    }
}

/* Quotes values of one line such as "description: a: b", which is not valid
 * YAML but is accepted by the clients. */
static struct str quote_values(struct str head, struct arena *a)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct str line;

    buf_init(&out, 2 * ANCHOR_MAX_BYTES);
    while (head.n && str_line(&head, &line)) {
        size_t colon = str_find(line, STR(": "));
        struct str value = colon == SIZE_MAX
                               ? str_make("", 0)
                               : str_trim(str_from_index(line, colon + 2));
        bool is_plain = value.n && value.p[0] != '"' && value.p[0] != '\'' &&
                        value.p[0] != '[' && value.p[0] != '{' &&
                        value.p[0] != '|' && value.p[0] != '>';

        if (is_plain && line.p[0] != ' ' && line.p[0] != '#') {
            buf_append(&out, str_slice(line, 0, colon + 2));
            buf_append(&out, yaml_quote(value, a));
        } else {
            buf_append(&out, line);
        }
        buf_char(&out, '\n');
    }
    return arena_str(a, buf_str(&out));
}

static bool parse_head(struct str *head, struct arena *a,
                       const struct yaml **out, struct err *e)
{
    const struct yaml_options options = {.max_bytes = FRONTMATTER_MAX_BYTES,
                                         .max_depth = FRONTMATTER_MAX_DEPTH,
                                         .max_nodes = FRONTMATTER_MAX_NODES};
    struct err ignored = {0};

    if (!yaml_parse(*head, &options, a, out, NULL, &ignored)) {
        *head = quote_values(*head, a);
        if (!yaml_parse(*head, &options, a, out, NULL, e))
            return false;
    }
    if (!*out || (*out)->kind != YAML_MAPPING)
        return err_set(e, ERR_FORMAT, "its frontmatter is not a mapping");
    return true;
}

/* Returns the lines of one key, up to the next key. */
static struct str lines_of(struct str head, const struct yaml *y)
{
    size_t start = y->key_start, end = y->next ? y->next->key_start : head.n;

    return str_slice(head, start, end);
}

static struct str make_document(struct str head, const struct yaml *root,
                                struct str name, struct str version,
                                struct str body, struct arena *a)
{
    CLEANUP(buf_done) struct buf out = {0};

    buf_init(&out, 4 * ANCHOR_MAX_BYTES);
    buf_printf(&out, "---\nname: %.*s\n", STR_ARG(name));
    if (version.n)
        buf_printf(&out, "version: %.*s\n", STR_ARG(version));
    for (const struct yaml *y = root->first; y; y = y->next) {
        struct str lines = lines_of(head, y);

        if (!is_kept(y->key))
            continue;
        buf_append(&out, lines);
        if (!str_ends(lines, STR("\n")))
            buf_char(&out, '\n');
    }
    buf_text(&out, "---\n");
    buf_append(&out, body);
    return arena_str(a, buf_str(&out));
}

static struct str stem(struct str path)
{
    struct str name = path_last(path);

    if (str_ends(name, STR(".agent.md")))
        return str_slice(name, 0, name.n - 9);
    return str_slice(name, 0, name.n - 3);
}

static bool text_is_fine(struct str text)
{
    size_t at;
    int32_t point;

    return text_is_utf8(text) && !str_has_char(text, '\0') &&
           text_find_hidden(text, &at, &point) == TEXT_HIDDEN_NONE;
}

/* Parses the generated document like that of any other agent and returns its
 * fault, or NULL. */
static const char *find_fault(struct reading *r, struct str document)
{
    const struct manifest_input in = {.kind = DOC_AGENT, .text = document};
    struct document d;
    struct diagnostics why;

    diagnostics_init(&why, r->a);
    manifest_read(&in, r->a, &d, &why);
    return d.frontmatter && d.description.n ? NULL : "it has no description";
}

/* Reads an agent once: a manifest and a marketplace entry can name the same
 * file, or one in a folder that is read as well. */
static void read_agent(struct reading *r, struct str path, size_t at)
{
    struct str text, head, body, name = stem(path), version = {"", 0};
    const struct yaml *root;
    const char *fault = NULL;
    struct str document;
    struct version v;
    struct err e = {0};

    if (!map_put(&r->seen, arena_printf(r->a, "file %.*s", STR_ARG(path)), r))
        return;
    if (!r->files->read(r->files->ctx, at, ANCHOR_MAX_BYTES, r->a, &text, &e)) {
        skip_part(r, DOC_AGENT, name, "%s", err_first(&e));
        return;
    }
    if (!text_is_fine(text))
        fault = "it has hidden characters, or is not UTF-8";
    else if (!split(text, &head, &body))
        fault = "it has no frontmatter, so no description";
    else if (!parse_head(&head, r->a, &root, &e))
        fault = err_first(&e);
    else if (!yaml_get(root, "description"))
        fault = "it has no description";
    if (fault) {
        skip_part(r, DOC_AGENT, name, "%s", fault);
        return;
    }
    if (yaml_get(root, "name") && yaml_get(root, "name")->kind == YAML_SCALAR)
        name = yaml_get(root, "name")->text;
    name = make_name(name, r->a);
    if (!name.n)
        name = make_name(stem(path), r->a);
    if (version_parse(r->out->version, &v))
        version = r->out->version;
    document = make_document(head, root, name, version, body, r->a);
    fault = name.n ? find_fault(r, document) : "its name has no letter";
    if (fault)
        skip_part(r, DOC_AGENT, stem(path), "%s", fault);
    else if (!map_put(&r->seen, arena_printf(r->a, "agent %.*s", STR_ARG(name)),
                      r))
        skip_part(r, DOC_AGENT, stem(path),
                  "another agent of the plugin is \"%.*s\", too",
                  STR_ARG(name));
    else
        add_part(r, &(struct plugin_part){.kind = DOC_AGENT,
                                          .name = name,
                                          .path = path,
                                          .document = document});
}

static bool is_agent(struct str path)
{
    struct str name = path_last(path);

    return str_ends(name, STR(".md")) && name.n > 3 &&
           !str_eq_nocase(name, STR("README.md"));
}

static void read_folder(struct reading *r, struct str folder)
{
    struct str rest;

    for (size_t i = 0; i < r->files->count; i++)
        if (is_below(r->files->paths[i], folder, &rest) &&
            is_agent(r->files->paths[i]))
            read_agent(r, r->files->paths[i], i);
}

static void read_listed(struct reading *r, const struct json *j)
{
    struct str path;
    const char *fault;
    size_t at;

    if (j->kind != JSON_STRING) {
        skip_part(r, DOC_AGENT, STR("agents"), "a path is not text");
        return;
    }
    if (!clean_path(j->text, r->format != PLUGIN_CLAUDE, r->a, &path, &fault)) {
        skip_part(r, DOC_AGENT, j->text, "its path %s", fault);
        return;
    }
    at = find_path(r, path);
    if (at != SIZE_MAX && is_agent(path))
        read_agent(r, path, at);
    else if (at == SIZE_MAX && find_below(r, path) != SIZE_MAX)
        read_folder(r, path);
    else
        skip_part(r, DOC_AGENT, path,
                  at == SIZE_MAX ? "there is no such file"
                                 : "it is no Markdown file");
}

static void read_key(struct reading *r, const struct json *list)
{
    if (list && list->kind != JSON_ARRAY) {
        read_listed(r, list);
        return;
    }
    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        if (r->agent_count >= PLUGIN_MAX_AGENTS) {
            skip_part(r, DOC_AGENT, STR("agents"), "a plugin has at most %d",
                      PLUGIN_MAX_AGENTS);
            return;
        }
        read_listed(r, j);
    }
}

/* C3: reads sub-agents from the `agents` key, which replaces the default
 * folder. The standard has no sub-agents, so those files are reported as not
 * installed. */
void read_agents(struct reading *r)
{
    const struct json *own = json_get(r->manifest, "agents");
    struct str rest;

    if (r->is_standard) {
        for (size_t i = 0; i < r->files->count; i++)
            if (is_below(r->files->paths[i], STR("agents"), &rest) &&
                is_agent(r->files->paths[i]))
                add_other(r, "agents", 1, STR("agents"));
        return;
    }
    if (own)
        read_key(r, own);
    else if (!(r->is_entry_at_root && json_get(r->entry, "skills")))
        read_folder(r, STR("agents"));
    read_key(r, json_get(r->entry, "agents"));
}
