#include "base/hash.h"
#include "mapm/mcp_file.h"

#include <string.h>

#include "mcp.h"

/* Formats MCP servers: their keys, file names and descriptions, and the body
 * for the configuration of a client. Source: M17, M18, M20 to M23, X21; THREATS
 * rows 8 and 9. */

#define HASH_CHARS    8
#define OUT_MAX_BYTES (64u * MCP_MAX_BYTES)

/* --- names ---------------------------------------------------------------- */

static bool is_key_char(char c)
{
    return char_is_alpha(c) || char_is_digit(c);
}

/* Replaces each run of other characters with one "-". */
static struct str dashed(struct str fqn, struct arena *a)
{
    char *out = arena_text(a, fqn.p, fqn.n);
    size_t n = 0;

    for (size_t i = 0; i < fqn.n; i++) {
        if (is_key_char(fqn.p[i]))
            out[n++] = fqn.p[i];
        else if (n == 0 || out[n - 1] != '-')
            out[n++] = '-';
    }
    out[n] = '\0';
    return str_make(out, n);
}

struct str mcp_key_hashed(struct str fqn, struct arena *a)
{
    struct hash h = hash_of(fqn);
    struct str key = dashed(fqn, a);
    struct str hex = str_slice(hash_hex(&h, a), 0, HASH_CHARS);

    key = str_slice(key, 0, MCP_KEY_MAX_CHARS - HASH_CHARS - 1);
    while (key.n && key.p[key.n - 1] == '-')
        key.n--;
    return arena_printf(a, "%.*s-%.*s", STR_ARG(key), STR_ARG(hex));
}

struct str mcp_key(struct str fqn, struct arena *a)
{
    struct str key = dashed(fqn, a);

    return key.n <= MCP_KEY_MAX_CHARS ? key : mcp_key_hashed(fqn, a);
}

struct str mcp_file_name(struct str fqn, struct arena *a)
{
    char *name = arena_text(a, fqn.p, fqn.n);

    for (size_t i = 0; i < fqn.n; i++)
        if (name[i] == '/')
            name[i] = '_';
    return str_join(str_make(name, fqn.n), STR(".json"), a);
}

/* --- the body for a client ------------------------------------------------ */

struct body {
    struct json_writer w;
    struct buf scratch;
    struct str workspace_dir, shared_dir;
    const struct document *d;
    struct err *e;
};

/* M21: rejects a folder whose name contains a placeholder, because the next
 * reader would expand it (row 9). */
static bool prepare_dir(struct str dir, struct arena *a, struct str *out,
                        struct err *e)
{
    char *copy = arena_text(a, dir.p, dir.n);

    if (str_find(dir, STR("${")) != SIZE_MAX || text_has_control(dir) ||
        !text_is_utf8(dir))
        return err_set(e, ERR_MCP,
                       "the folder \"%.*s\" cannot stand in a client's "
                       "configuration",
                       STR_ARG(text_cut(dir, 200)));
    for (size_t i = 0; i < dir.n; i++)
        if (copy[i] == '\\')
            copy[i] = '/';
    *out = str_make(copy, dir.n);
    while (out->n > 1 && out->p[out->n - 1] == '/')
        out->n--;
    return true;
}

static bool refuse_part(struct body *b, struct str part, const char *fault)
{
    return err_set(b->e, ERR_MCP, "MCP %.*s: \"%.*s\" %s", STR_ARG(b->d->fqn),
                   STR_ARG(text_cut(part, 80)), fault);
}

static bool put_string(struct body *b, struct str text)
{
    struct str part;
    const char *fault = placeholder_fault(text, &part);

    if (fault)
        return refuse_part(b, part, fault);
    buf_clear(&b->scratch);
    placeholder_put(&b->scratch, text, b->workspace_dir, b->shared_dir);
    json_string(&b->w, buf_str(&b->scratch));
    return true;
}

static bool put_value(struct body *b, const struct json *j)
{
    switch (j->kind) {
    case JSON_STRING:
        return put_string(b, j->text);
    case JSON_OBJECT:
        json_begin_object(&b->w);
        return true;
    case JSON_ARRAY:
        json_begin_array(&b->w);
        return true;
    default:
        json_value(&b->w, j);
        return true;
    }
}

static void close_value(struct body *b, const struct json *j)
{
    if (j->kind == JSON_OBJECT)
        json_end_object(&b->w);
    else
        json_end_array(&b->w);
}

static bool put_member(struct body *b, const struct json *j, bool in_object)
{
    if (!in_object)
        return put_value(b, j);
    if (str_find(j->key, STR("${")) != SIZE_MAX)
        return refuse_part(b, j->key, "is a key with a placeholder");
    json_key_str(&b->w, j->key);
    return put_value(b, j);
}

static bool put_tree(struct body *b, const struct json *root, bool with_meta)
{
    const struct json *stack[WALK_MAX_DEPTH];
    const struct json *j = root->first;
    size_t depth = 0;

    stack[depth++] = root;
    json_begin_object(&b->w);
    while (depth > 0) {
        if (!j) {
            const struct json *parent = stack[--depth];

            close_value(b, parent);
            j = parent->next;
            if (depth == 0)
                return true;
            continue;
        }
        if (depth == 1 && !with_meta && str_is(j->key, "_meta")) {
            j = j->next;
            continue;
        }
        if (!put_member(b, j, stack[depth - 1]->kind == JSON_OBJECT))
            return false;
        if (j->kind != JSON_OBJECT && j->kind != JSON_ARRAY) {
            j = j->next;
            continue;
        }
        if (depth == WALK_MAX_DEPTH)
            return err_set(b->e, ERR_LIMIT, "nested too deep");
        stack[depth++] = j;
        j = j->first;
    }
    return true;
}

bool mcp_format(const struct document *d, struct str workspace_dir,
                struct str shared_dir, bool with_meta, struct arena *a,
                struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct body b = {.d = d, .e = e};
    bool ok;

    if (!d->mcp || d->mcp->kind != JSON_OBJECT)
        return err_set(e, ERR_MCP, "there is no MCP to write");
    if (!prepare_dir(workspace_dir, a, &b.workspace_dir, e) ||
        !prepare_dir(shared_dir, a, &b.shared_dir, e))
        return err_wrap(e, "MCP %.*s", STR_ARG(d->fqn));
    buf_init(&text, OUT_MAX_BYTES);
    buf_init(&b.scratch, OUT_MAX_BYTES);
    json_writer_init(&b.w, &text, 2);
    ok = put_tree(&b, d->mcp, with_meta);
    text.overflowed = text.overflowed || b.scratch.overflowed;
    buf_done(&b.scratch);
    if (!ok || !buf_check(&text, "the MCP's configuration", e))
        return false;
    *out = arena_str(a, buf_str(&text));
    return true;
}

bool mcp_pretty(struct str text, struct arena *a, struct str *out,
                struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct json *root;
    struct json_writer w;

    if (!mcp_parse(text, a, &root, NULL, e))
        return false;
    buf_init(&b, OUT_MAX_BYTES);
    json_writer_init(&w, &b, 2);
    json_value(&w, root);
    buf_char(&b, '\n');
    if (!buf_check(&b, "the MCP file", e))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}

/* --- consent -------------------------------------------------------------- */

static bool is_simple(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (!is_key_char(word.p[i]) && !strchr("._+-/=:@,%", word.p[i]))
            return false;
    return word.n > 0 && !str_has_char(word, '\0');
}

static void put_quoted(struct buf *b, struct str word)
{
    buf_char(b, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            buf_text(b, "'\\'");
        buf_char(b, word.p[i]);
    }
    buf_char(b, '\'');
}

/* Appends a word, quoted as for a shell, so that the end of each word is
 * unambiguous, and none of it looks like another line of a plan. */
static void put_word(struct buf *b, struct str word)
{
    if (is_simple(word))
        buf_append(b, word);
    else if (text_is_visible(word))
        put_quoted(b, word);
    else
        text_put_escaped(b, word, true);
}

bool mcp_line_is_remote(struct str line)
{
    return str_starts(line, STR("https://")) ||
           str_starts(line, STR("http://"));
}

/* Appends the command. A program with a name like a URL must not look like a
 * remote server. */
static void put_command(struct buf *b, struct str command)
{
    if (mcp_line_is_remote(command))
        put_quoted(b, command);
    else
        put_word(b, command);
}

/* Appends names without values, which may be secrets. With `is_sent`, values
 * with variables are shown too: the client expands them from its environment
 * and sends them to the server. */
static void put_names(struct buf *b, const char *label,
                      const struct json *object, bool is_sent)
{
    const char *before = label;

    if (!object || object->kind != JSON_OBJECT)
        return;
    for (const struct json *v = object->first; v; v = v->next) {
        buf_printf(b, "%s", before);
        buf_append(b, v->key);
        before = ", ";
        if (!is_sent || !str_has_char(json_text(v), '$'))
            continue;
        buf_text(b, ": ");
        put_word(b, json_text(v));
    }
    if (object->first)
        buf_char(b, ')');
}

struct str mcp_command_line(const struct document *d, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct json *args = json_get(d->mcp, "args");
    const struct json *cwd = json_get(d->mcp, "cwd");
    const struct json *command = json_get(d->mcp, "command");

    buf_init(&b, OUT_MAX_BYTES);
    if (command)
        put_command(&b, json_text(command));
    else
        buf_append(&b, json_text(json_get(d->mcp, "url")));
    for (const struct json *arg = args ? args->first : NULL; arg;
         arg = arg->next) {
        buf_char(&b, ' ');
        put_word(&b, json_text(arg));
    }
    if (cwd && cwd->kind == JSON_STRING) {
        buf_text(&b, " (in ");
        put_word(&b, cwd->text);
        buf_char(&b, ')');
    }
    put_names(&b, " (env: ", json_get(d->mcp, "env"), false);
    put_names(&b, " (headers: ", json_get(d->mcp, "headers"), true);
    for (const struct json *v = d->mcp->first; v; v = v->next)
        if (mcp_key_skips_consent(v->key))
            buf_printf(&b, " (asks clients not to ask: %.*s)", STR_ARG(v->key));
    return arena_str(a, buf_str(&b));
}
