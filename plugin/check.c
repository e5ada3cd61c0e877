#include "check.h"

#include "base/fs.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/plugin_paths.h"

#include <stdarg.h>
#include <stdio.h>

#include "plugin_parts.h"

void check_report(struct checking *c, const char *code, const struct json *at,
                  const char *format, ...)
{
    struct diagnostic *last;
    char text[1000];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diagnostics_add(c->why, true, code, "", at ? at->line : 0, "%s", text);
    last = &c->why->items[c->why->count - 1];
    last->file = c->file;
    last->field = at ? at->key : STR("");
}

struct str check_shown(struct str text)
{
    return text_cut(text, 80);
}

static const char *file_fault(enum manifest_file state)
{
    switch (state) {
    case MANIFEST_FILE_MISSING:
        return "is missing";
    case MANIFEST_FILE_TOO_LARGE:
        return "is larger than is read";
    case MANIFEST_FILE_ESCAPES:
        return "is a link that leads out";
    default:
        return "is not a regular file that can be read";
    }
}

const struct json *check_json(struct checking *c, struct str path,
                              size_t max_bytes, const char *code)
{
    enum manifest_file state;
    const struct json *root;
    struct err e = {0};
    struct str text;

    state = c->disk->read(c->disk->ctx, path, max_bytes, c->a, &text);
    c->file = path;
    if (state != MANIFEST_FILE_OK)
        check_report(c, code, NULL, "%.*s %s", STR_ARG(path),
                     file_fault(state));
    else if (!parse_json(text, c->a, &root, &e))
        check_report(c, code, NULL, "%s", err_first(&e));
    else if (root->kind != JSON_OBJECT)
        check_report(c, code, root, "it is %s, not an object",
                     json_kind_name(root->kind));
    else
        return root;
    return NULL;
}

bool check_is_kind(const struct json *j, enum json_kind kind)
{
    if (kind == JSON_TRUE || kind == JSON_FALSE)
        return j->kind == JSON_TRUE || j->kind == JSON_FALSE;
    return j->kind == kind;
}

bool check_is_text_list(const struct json *j, enum json_kind kind)
{
    if (j->kind != kind)
        return false;
    for (const struct json *x = j->first; x; x = x->next)
        if (x->kind != JSON_STRING)
            return false;
    return true;
}

enum plugin_node check_find(const struct checking *c, struct str path)
{
    return c->disk->look(c->disk->ctx, path);
}

struct str check_join(const struct checking *c, struct str folder,
                      struct str name)
{
    return folder.n ? fs_join(folder, name, c->a) : name;
}

/* --- secrets ------------------------------------------------------------- */

/* clang-format off */
/* Prefixes of tokens of known services and the minimum number of characters
 * after them, as of November 2026. */
static const struct {
    const char *head;
    size_t min;
} tokens[] = {
    {"ghp_", 36}, {"gho_", 36}, {"ghs_", 36}, {"github_pat_", 40},
    {"glpat-", 20}, {"sk-ant-", 30}, {"sk-proj-", 30}, {"xoxb-", 20},
    {"xoxp-", 20}, {"AKIA", 16}, {"sk_live_", 20}, {"npm_", 36}, {"AIza", 35},
    {"lin_api_", 30}, {"hf_", 30},
};
/* clang-format on */

/* Returns true if a word of the text is a token. Tokens are random, so they
 * contain digits. */
static bool is_secret(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        for (size_t k = 0; k < sizeof tokens / sizeof *tokens; k++) {
            struct str rest = str_from_index(text, i);
            struct str head = str_cstr(tokens[k].head);
            size_t n = head.n, digits = 0;

            if (!str_starts(rest, head) ||
                (i && (char_is_alpha(text.p[i - 1]) ||
                       char_is_digit(text.p[i - 1]))))
                continue;
            for (; n < rest.n &&
                   (char_is_alpha(rest.p[n]) || char_is_digit(rest.p[n]) ||
                    rest.p[n] == '-' || rest.p[n] == '_');
                 n++)
                digits += char_is_digit(rest.p[n]);
            if (n - head.n >= tokens[k].min && digits >= 3)
                return true;
        }
    return false;
}

void check_secrets(struct checking *c, const struct json *values,
                   const char *what)
{
    for (const struct json *j = values ? values->first : NULL; j; j = j->next)
        if (j->kind == JSON_STRING && is_secret(j->text))
            check_report(c, "plugin-secret", j,
                         "%s %.*s holds a token: all users of the plugin can "
                         "read it (P50)",
                         what, STR_ARG(check_shown(j->key)));
}

/* --- which manifest -------------------------------------------------------- */

bool plugin_is_standard(struct str manifest)
{
    return str_find(manifest, STR("agent-plugins.org/schemas/")) != SIZE_MAX;
}

static bool is_end(struct str path, const char *end)
{
    struct str tail = str_cstr(end);

    return str_ends(path, tail) &&
           (path.n == tail.n || path.p[path.n - tail.n - 1] == '/');
}

struct str plugin_manifest_of(struct str path)
{
    for (const char *const *file = plugin_marketplaces; *file; file++)
        if (is_end(path, *file))
            return str_cstr(*file);
    if (is_end(path, plugin_formats[PLUGIN_CLAUDE].manifest))
        return str_cstr(plugin_formats[PLUGIN_CLAUDE].manifest);
    return is_end(path, "plugin.json") ? STR("plugin.json") : STR("");
}
