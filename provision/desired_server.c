#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/mcp_file.h"
#include "mapm/plugin.h"

#include <string.h>

#include "desired_state.h"
#include "merge.h"
#include "render.h"

/* The entry of a server in a client's file: with paths of this machine, or
 * started by `mapm start` without any. */

#define ELSEWHERE_MAX 4 /* folders tried for each placeholder */

/* A path is written to JSON and expanded by each client in its own way. */
static bool check_path(struct str path, const char *placeholder, struct str fqn,
                       struct err *e)
{
    if (!text_is_utf8(path) || text_has_control(path))
        return err_set(e, ERR_MCP,
                       "%.*s: %s cannot be written into a client's file: the "
                       "path is not printable UTF-8",
                       STR_ARG(fqn), placeholder);
    /* with forward slashes it would name another folder */
    if (str_has_char(path, '\\'))
        return err_set(e, ERR_MCP,
                       "%.*s: %s cannot be written into a client's file: the "
                       "path has a backslash",
                       STR_ARG(fqn), placeholder);
    for (size_t i = 0; i + 1 < path.n; i++) {
        char after = path.p[i + 1];

        if (path.p[i] == '$' &&
            (after == '{' || after == '_' || char_is_alpha(after)))
            return err_set(e, ERR_MCP,
                           "%.*s: a client would expand the \"$\" in %s",
                           STR_ARG(fqn), placeholder);
    }
    return true;
}

static bool is_mapm(const struct document *d)
{
    return str_is(json_text(json_get(d->mcp, "command")), "mapm");
}

/* A client that was started from the desktop lacks the PATH of a shell, so
 * user-level files, which are valid on this machine only, contain the path of
 * mapm. */
static bool put_program(struct desired_state *w, const struct document *d,
                        struct str *entry, struct err *e)
{
    const struct json_options o = {.max_depth = MCP_MAX_DEPTH + 1};
    const struct str path[] = {STR("command")};
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer out;

    if (!w->options->program.n || !is_mapm(d))
        return true;
    buf_init(&b, MCP_MAX_BYTES);
    json_writer_init(&out, &b, 0);
    json_string(&out, w->options->program);
    return buf_check(&b, "the path of mapm", e) &&
           json_edit_put(*entry, &o, path, 1, buf_str(&b), w->arena, entry, e);
}

/* Checks the name of a folder only if a document refers to it. */
static bool render_for(struct desired_state *w, const struct target *t,
                       const struct provision_item *item,
                       const struct document *d, struct str workspace,
                       struct str shared, struct str *entry, struct hash *hash,
                       struct err *e)
{
    return mcp_format(d, workspace.n ? workspace : STR("/"),
                      shared.n ? shared : STR("/"), render_wants_meta(t->shape),
                      w->arena, entry, e) &&
           put_program(w, d, entry, e) &&
           render_server(t->client, item->place, *entry, w->arena, entry, e) &&
           merge_hash(t->shape, item->place, *entry, w->arena, hash, e);
}

/* Renders the entry without paths. Placeholders are validated nevertheless. */
static bool render_start(struct desired_state *w, const struct target *t,
                         const struct provision_item *item,
                         const struct document *d, struct str *entry,
                         struct hash *hash, struct err *e)
{
    struct plugin_server plugin;

    plugin_server_read(d->mcp, &plugin);
    return (plugin.is_plugin ||
            mcp_format(d, STR("/"), STR("/"), false, w->arena, entry, e)) &&
           mcp_format_start(d, item->place, w->options->program, w->arena,
                            entry, e) &&
           render_server(t->client, item->place, *entry, w->arena, entry, e) &&
           merge_hash(t->shape, item->place, *entry, w->arena, hash, e);
}

static bool make_started(struct desired_state *w, const struct target *t,
                         struct desired_server *s, const struct document *d,
                         struct err *e)
{
    struct str entry;

    if (!render_start(w, t, s->item, d, &entry, &s->hash, e))
        return err_wrap(e, "%.*s for %s", STR_ARG(s->item->fqn), t->path.p);
    s->is_started = true;
    s->names_mapm = !w->scope->is_user;
    s->entry = entry;
    return true;
}

/* Applies to servers of plugins, whatever `servers:` says [G12]. */
static bool make_of_plugin(struct desired_state *w, const struct target *t,
                           struct desired_server *s, const struct document *d,
                           const struct plugin_server *plugin, struct err *e)
{
    struct str entry;

    if (plugin->is_started)
        return make_started(w, t, s, d, e);
    if (!render_plugin_server(t->client, s->item->place, d->mcp, w->arena,
                              &entry, e) ||
        !merge_hash(t->shape, s->item->place, entry, w->arena, &s->hash, e))
        return err_wrap(e, "%.*s for %s", STR_ARG(s->item->fqn), t->path.p);
    s->entry = entry;
    return true;
}

bool desired_state_make_server(struct desired_state *w, const struct target *t,
                               struct desired_server *s, struct err *e)
{
    const struct provision_item *item = s->item;
    const struct document *d;
    struct plugin_server plugin;
    struct str text, entry;
    bool workspace, shared;

    if (s->entry.p)
        return true;
    if (!desired_state_read_document(w, item, &d, &text, e))
        return false;
    if (!d->mcp)
        return err_set(e, ERR_MCP, "%.*s is not an MCP file",
                       STR_ARG(item->fqn));
    plugin_server_read(d->mcp, &plugin);
    if (plugin.is_plugin)
        return make_of_plugin(w, t, s, d, &plugin, e);
    workspace = mcp_mention(d->mcp, "${workspaceDir}").n > 0;
    shared = mcp_mention(d->mcp, "${sharedDir}").n > 0;
    if (w->options->start_servers && (workspace || shared))
        return make_started(w, t, s, d, e);
    if ((workspace &&
         !check_path(w->workspace, "${workspaceDir}", item->fqn, e)) ||
        (shared &&
         !check_path(w->options->shared_dir, "${sharedDir}", item->fqn, e)))
        return false;
    if (!render_for(w, t, item, d, workspace ? w->workspace : STR(""),
                    shared ? w->options->shared_dir : STR(""), &entry, &s->hash,
                    e))
        return err_wrap(e, "%.*s for %s", STR_ARG(item->fqn), t->path.p);
    s->absolute = workspace || shared;
    s->names_mapm = !w->scope->is_user && is_mapm(d);
    s->entry = entry;
    return true;
}

bool desired_state_check_server(struct desired_state *w,
                                const struct provision_item *item,
                                struct err *e)
{
    const struct document *d;
    struct plugin_server plugin;
    struct str text;

    if (!w->scope->is_user || item->kind != DOC_MCP || !item->files)
        return true;
    if (!desired_state_read_document(w, item, &d, &text, e))
        return false;
    plugin_server_read(d->mcp, &plugin);
    if (plugin.is_plugin || !d->mcp ||
        !mcp_mention(d->mcp, "${workspaceDir}").n)
        return true;
    err_set(e, ERR_MCP, "%.*s: ${workspaceDir} is no folder at user level",
            STR_ARG(item->fqn));
    return err_hint(e, "install it in each workspace that needs it, without "
                       "-g");
}

/* --- the same entry, of another machine ----------------------------------- */

struct folders {
    struct str items[ELSEWHERE_MAX];
    size_t count;
};

static void add_folder(struct folders *f, struct str path)
{
    if (path.n < 2 || path.p[0] != '/' || f->count == ELSEWHERE_MAX ||
        str_has_char(path, '\\'))
        return;
    for (size_t i = 0; i < f->count; i++)
        if (str_eq(f->items[i], path))
            return;
    f->items[f->count++] = path;
}

/* Guesses the folders that replaced `placeholder` in a string of the client's
 * file that begins and ends like `pattern`. */
static void guess_folders(struct str text, struct str pattern,
                          const char *placeholder, struct folders *out)
{
    size_t at = str_find(pattern, str_cstr(placeholder));
    struct str head = str_slice(pattern, 0, at);
    struct str tail = str_from_index(pattern, at + strlen(placeholder));
    size_t quote;

    while ((quote = str_find_char(text, '"')) != SIZE_MAX) {
        struct str value;

        text = str_from_index(text, quote + 1);
        quote = str_find_char(text, '"');
        value = str_slice(text, 0, quote == SIZE_MAX ? text.n : quote);
        if (value.n > head.n + tail.n && str_starts(value, head) &&
            str_ends(value, tail))
            add_folder(out, str_slice(value, head.n, value.n - tail.n));
    }
}

/* --- the same entry, written by hand ---------------------------------------- */

static bool hash_without(const struct target *t, const struct json *entry,
                         bool without_type, struct arena *a, struct hash *out)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;
    struct err ignored = {0};

    json_open(&w, &text, 4 * (size_t)MCP_MAX_BYTES, 2);
    for (const struct json *m = entry->first; m; m = m->next) {
        if (str_is(m->key, "_meta") || (without_type && str_is(m->key, "type")))
            continue;
        json_key_str(&w, m->key);
        json_value(&w, m);
    }
    json_end_object(&w);
    /* A text that is cut off is not JSON. */
    return merge_hash(t->shape, STR(""), str_trim(buf_str(&text)), a, out,
                      &ignored);
}

/* Entries written by hand omit the name of the package and "stdio", which a
 * command implies. */
static bool is_by_hand(struct desired_state *w, const struct target *t,
                       const struct desired_server *s, const struct hash *found)
{
    struct json_options options = {.max_depth = MCP_MAX_DEPTH + 1};
    struct err ignored = {0};
    const struct json *entry;
    struct hash hash;

    if (!w->options->takes_over || !t->shape->is_verbatim ||
        !json_parse(s->entry, &options, w->arena, &entry, NULL, &ignored))
        return false;
    if (hash_without(t, entry, false, w->arena, &hash) && hash_eq(&hash, found))
        return true;
    return str_is(json_text(json_get(entry, "type")), "stdio") &&
           hash_without(t, entry, true, w->arena, &hash) &&
           hash_eq(&hash, found);
}

bool desired_state_is_from_elsewhere(struct desired_state *w,
                                     const struct target *t,
                                     const struct desired_server *s,
                                     struct str text, const struct hash *found)
{
    struct folders workspaces = {0}, shared = {0};
    const struct document *d;
    struct str ignored, pattern;
    struct err e = {0};
    struct hash started;

    if (is_by_hand(w, t, s, found))
        return true;
    if (w->scope->is_user)
        return false;
    if (!(s->absolute || s->is_started) ||
        !desired_state_read_document(w, s->item, &d, &ignored, &e) || !d->mcp)
        return false;
    if (render_start(w, t, s->item, d, &ignored, &started, &e) &&
        hash_eq(&started, found))
        return true;
    err_clear(&e);
    pattern = mcp_mention(d->mcp, "${workspaceDir}");
    if (pattern.n)
        guess_folders(text, pattern, "${workspaceDir}", &workspaces);
    else
        workspaces.count = 1;
    pattern = mcp_mention(d->mcp, "${sharedDir}");
    if (pattern.n)
        guess_folders(text, pattern, "${sharedDir}", &shared);
    else
        shared.count = 1;
    for (size_t i = 0; i < workspaces.count; i++)
        for (size_t k = 0; k < shared.count; k++) {
            struct hash hash;
            struct str entry;

            if (render_for(w, t, s->item, d, workspaces.items[i],
                           shared.items[k], &entry, &hash, &e) &&
                hash_eq(&hash, found))
                return true;
            err_clear(&e);
        }
    return false;
}

/* Renders the entry of an unknown server, which only its key distinguishes. */
static bool is_start(struct desired_state *w, const struct target *t,
                     const struct provision_item *item,
                     const struct hash *found)
{
    static const char *const servers[] = {
        "{\"command\":\"\"}",
        "{\"type\":\"stdio\",\"command\":\"\"}",
    };
    struct json_options options = {.max_depth = MCP_MAX_DEPTH};

    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        struct document d = {.fqn = item->fqn};
        struct err ignored = {0};
        struct str entry;
        struct hash hash;

        if (json_parse(str_cstr(servers[i]), &options, w->arena, &d.mcp, NULL,
                       &ignored) &&
            render_start(w, t, item, &d, &entry, &hash, &ignored) &&
            hash_eq(&hash, found))
            return true;
    }
    return false;
}

bool desired_state_may_have_put(struct desired_state *w, const struct target *t,
                                const struct provision_item *item,
                                struct str text, const struct hash *found)
{
    struct desired_server s = {.item = item};
    struct err ignored = {0};

    if (item->file_count == 0)
        return is_start(w, t, item, found);
    return desired_state_make_server(w, t, &s, &ignored) &&
           (hash_eq(&s.hash, found) ||
            desired_state_is_from_elsewhere(w, t, &s, text, found));
}
