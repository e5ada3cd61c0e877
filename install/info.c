#include "base/digest.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/fetch.h"
#include "mapm/host_add.h"
#include "mapm/install_info.h"
#include "mapm/mcp_file.h"
#include "mapm/open_store.h"
#include "mapm/package_files.h"
#include "mapm/plugin_paths.h"

#include "license.h"
#include "offers.h"
#include "plugins.h"

#define POINTS_PER_TOKEN  4
#define LIST_LINE_CHARS   5 /* "- name: description" and its LF */
#define LICENSE_MAX_BYTES (256u * 1024)
#define ANY_PACKAGE       (DOC_AGENT | DOC_SKILL | DOC_MCP | DOC_PLUGIN)

struct info {
    struct context *cx;
    struct layer layer;
    struct store *store;
    struct closure closure;
    struct node *node;
    struct package_files files;
    struct install_info *out;
};

/* --- the package ---------------------------------------------------------- */

/* Omits the marketplace entry, which is stored with a plugin but is not one of
 * its files. */
static bool fill_files(struct info *f, struct err *e)
{
    struct arena *a = &f->cx->arena;
    struct package_file *files;
    struct info_file *out;
    size_t count;

    if (!store_read_listing(f->store, &f->node->digest, a, &files, &count, e))
        return false;
    f->files = (struct package_files){f->store, files, count};
    out = arena_array(a, count + 1, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_done) struct arena scratch = {0};
        struct str bytes;

        if (str_is(files[i].path, PLUGIN_ENTRY_FILE))
            continue;
        if (!store_read(f->store, &files[i].hash, FILE_MAX_BYTES, &scratch,
                        &bytes, e))
            return err_wrap(e, "%.*s", STR_ARG(files[i].path));
        out[f->out->file_count++] =
            (struct info_file){files[i].path, bytes.n, files[i].executable};
        f->out->bytes += bytes.n;
    }
    f->out->files = out;
    return true;
}

/* Returns "" if the file is missing or too large. */
static struct str read_text(const struct info *f, struct str path, size_t max)
{
    const struct package_file *file = package_files_find(&f->files, path);
    struct err ignored = {0};
    struct str text;

    return file && store_read(f->store, &file->hash, max, &f->cx->arena, &text,
                              &ignored)
               ? text
               : STR("");
}

static void fill_license(struct info *f)
{
    struct install_info *out = f->out;

    for (size_t i = 0; i < out->file_count && !out->license_file.n; i++)
        if (license_is_file(out->files[i].path))
            out->license_file = out->files[i].path;
    if (out->license_file.n)
        out->license_text =
            license_find(read_text(f, out->license_file, LICENSE_MAX_BYTES));
    out->is_proprietary = license_is_proprietary(out->license) ||
                          str_is(out->license_text, "proprietary");
}

static size_t list_tokens(struct str name, struct str description)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t points = text_count(name) +
                    text_count(text_one_line(description, &a)) +
                    LIST_LINE_CHARS;

    return points / POINTS_PER_TOKEN;
}

static void fill_needs(struct info *f)
{
    const struct package *p = &f->node->package;
    struct install_link *needs =
        arena_array(&f->cx->arena, p->dep_count + 1, sizeof *needs);

    for (size_t i = 0; i < p->dep_count; i++)
        needs[i] =
            (struct install_link){p->deps[i].kind, p->deps[i].origin->text};
    f->out->needs = needs;
    f->out->need_count = p->dep_count;
}

static bool fill_document(struct info *f, struct err *e)
{
    struct install_info *out = f->out;
    struct arena *a = &f->cx->arena;
    struct document d = {0};

    if (!node_read_whole(&f->closure, f->node, a, &d, e))
        return false;
    out->description = d.description;
    out->version = d.version;
    out->license = d.license;
    out->compatibility = d.compatibility;
    out->prereqs = d.prereqs;
    out->tools = d.allowed_tools;
    out->is_hidden = d.hidden;
    out->is_disabled = d.disable_model_invocation;
    if (d.metaskill)
        out->program = d.program;
    if (d.frontmatter && yaml_get(d.frontmatter, "hooks"))
        out->hooks = str_cstr(doc_entry_file(d.kind));
    if (d.kind == DOC_MCP) {
        out->command = mcp_command_line(&d, a);
        return mcp_pretty(read_text(f, f->files.files[0].path, MCP_MAX_BYTES),
                          a, &out->body, e);
    }
    out->tokens = d.load_size_tokens;
    out->list_tokens = list_tokens(d.name, d.description);
    out->body = d.body;
    return true;
}

/* --- a plugin ------------------------------------------------------------- */

static struct str part_text(const struct info *f,
                            const struct plugin_part *part)
{
    struct arena *a = &f->cx->arena;

    if (part->kind != DOC_SKILL)
        return part->document;
    return read_text(f,
                     part->path.n
                         ? arena_printf(a, "%.*s/SKILL.md", STR_ARG(part->path))
                         : STR("SKILL.md"),
                     ANCHOR_MAX_BYTES);
}

static struct str first_error(const struct diagnostics *why, struct arena *a)
{
    for (size_t i = 0; i < why->count; i++)
        if (why->items[i].error)
            return arena_str(a, why->items[i].message);
    return STR("");
}

/* Fills a part; servers and sub-agents were made of the plugin's files and are
 * valid. */
static void fill_part(struct info *f, const struct plugin_part *part,
                      struct install_offer *out)
{
    struct arena *a = &f->cx->arena;
    struct manifest_input in = {
        .kind = part->kind,
        .text = part_text(f, part),
        .folder = part->kind == DOC_SKILL && part->path.n
                      ? path_last(part->path)
                      : STR(""),
        .rules = &f->layer.rules,
        .profile = PROFILE_INSTALL,
        .allow_hidden = true,
    };
    struct document d = {0};
    struct diagnostics why;

    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    *out = (struct install_offer){
        .kind = part->kind,
        .name = part->name,
        .path = part->path,
        .description = text_one_line(d.description, a),
        .problem = part->kind == DOC_SKILL ? first_error(&why, a) : STR(""),
        .tokens = part->kind == DOC_MCP ? 0 : d.load_size_tokens,
    };
    if (part->kind == DOC_MCP && d.mcp)
        out->command = mcp_command_line(&d, a);
    f->out->tokens += out->tokens;
    if (part->kind == DOC_SKILL)
        f->out->list_tokens += list_tokens(part->name, d.description);
}

static void fill_parts(struct info *f, const struct plugin *p)
{
    struct arena *a = &f->cx->arena;
    struct install_offer *parts =
        arena_array(a, p->part_count + p->skipped_count + 1, sizeof *parts);
    size_t count = 0;

    for (size_t i = 0; i < p->part_count; i++)
        fill_part(f, &p->parts[i], &parts[count++]);
    for (size_t i = 0; i < p->skipped_count; i++)
        parts[count++] = (struct install_offer){.kind = p->skipped[i].kind,
                                                .name = p->skipped[i].name,
                                                .problem = p->skipped[i].why};
    for (size_t i = 0; i < p->other_count; i++)
        if (str_is(p->others[i].kind, "hooks"))
            f->out->hooks = p->others[i].where;
    f->out->parts = parts;
    f->out->part_count = count;
    f->out->others = p->others;
    f->out->other_count = p->other_count;
}

/* "name@marketplace ^1.2" */
static struct str entry_words(const struct plugin_entry_need *need,
                              struct arena *a)
{
    return arena_printf(a, "%.*s%s%.*s%s%.*s", STR_ARG(need->name),
                        need->market.n ? "@" : "", STR_ARG(need->market),
                        need->range.n ? " " : "", STR_ARG(need->range));
}

static void fill_plugin_needs(struct info *f, const struct plugin *p)
{
    struct install_link *needs = arena_array(
        &f->cx->arena, p->need_count + p->entry_count + 1, sizeof *needs);
    size_t count = 0;

    for (size_t i = 0; i < p->need_count; i++)
        needs[count++] =
            (struct install_link){p->needs[i].kind, p->needs[i].origin};
    for (size_t i = 0; i < p->entry_count; i++)
        needs[count++] = (struct install_link){
            DOC_PLUGIN, entry_words(&p->entries[i], &f->cx->arena)};
    f->out->needs = needs;
    f->out->need_count = count;
}

static bool fill_plugin(struct info *f, struct err *e)
{
    struct plugin *p = arena_new(&f->cx->arena, struct plugin);

    if (!plugin_read_node(&f->closure, f->node, &f->cx->arena, p, e))
        return false;
    f->out->description = p->description;
    f->out->version = p->version;
    f->out->license = p->license;
    fill_parts(f, p);
    fill_plugin_needs(f, p);
    f->out->body = read_text(f, STR("README.md"), ANCHOR_MAX_BYTES);
    return true;
}

/* --- where it is from ----------------------------------------------------- */

static void fill_time(struct info *f)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct origin *o = node_source(f->node);
    struct str trees;

    if (o->scheme != ORIGIN_GIT || !f->out->commit.n ||
        !store_find_trees(f->store, origin_repository(o, &a), f->out->commit,
                          &a, &trees) ||
        !fetch_commit_time(trees, &f->out->time))
        f->out->time = 0;
}

static void fill_origin(struct info *f)
{
    const struct node *n = f->node;
    const struct lock_entry *entry = n->locked;
    struct install_info *out = f->out;

    if (!entry)
        entry = map_find(&f->layer.by_origin, n->origin->key);
    out->origin = n->origin->text;
    out->from = n->source ? n->source->text : STR("");
    out->ref = n->ref;
    out->commit = n->package.commit.n ? n->package.commit
                  : n->locked         ? n->locked->commit
                                      : STR("");
    out->path = n->path;
    if (!entry)
        return;
    out->is_installed = true;
    out->installed_name = entry->name;
    out->installed_commit = entry->commit;
    out->is_patched = entry->patch.n > 0;
    out->without = entry->without;
}

static bool fill_package(struct info *f, struct err *e)
{
    const struct node *n = f->node;
    struct install_info *out = f->out;

    fill_origin(f);
    out->kind = n->package.kind;
    out->name = n->package.fqn;
    out->digest = digest_format(&n->digest, &f->cx->arena);
    if (!fill_files(f, e))
        return false;
    if (out->kind == DOC_PLUGIN ? !fill_plugin(f, e) : !fill_document(f, e))
        return err_wrap(e, "%.*s", STR_ARG(n->origin->text));
    if (out->kind != DOC_PLUGIN)
        fill_needs(f);
    fill_license(f);
    return true;
}

static bool fill_catalog(struct info *f, struct err *e)
{
    f->out->is_catalog = true;
    if (!offers_read(&f->closure, &f->node, 1, e))
        return false;
    offers_fill(&f->closure, f->node, true, &f->out->catalog);
    fill_origin(f);
    return true;
}

/* --- finding it ----------------------------------------------------------- */

/* Adds an argument: a name of the layer, or else an origin. */
static bool add_word(struct info *f, const struct info_request *r,
                     struct err *e)
{
    struct arena *a = &f->cx->arena;
    const struct lock_entry *entry;
    struct err unknown = {0}, ambiguous;
    struct origin o;

    if (!r->plugin.n &&
        layer_resolve_names(&f->layer, &r->word, 1, a, &entry, &unknown)) {
        f->node = closure_add(&f->closure, layer_origin(&f->layer, entry),
                              (unsigned)entry->kind);
        return true;
    }
    ambiguous = unknown;
    if (!session_parse_origin(f->cx, &f->layer, r->word, &o, e)) {
        if (r->plugin.n || str_has_char(r->word, '/') ||
            str_has_char(r->word, ':'))
            return false;
        *e = ambiguous;
        return e->code != ERR_NOT_FOUND ||
               err_hint(e,
                        "name a package that is not installed by its origin, "
                        "mapm info owner/repo/path, or as a catalog names "
                        "it: mapm search %.*s",
                        STR_ARG(r->word));
    }
    closure_add_checkout(&f->closure, &o);
    if (r->plugin.n)
        o = origin_of_entry(&o, r->plugin, a);
    f->node =
        closure_add(&f->closure, &o, r->plugin.n ? DOC_PLUGIN : ANY_PACKAGE);
    return true;
}

/* Returns why the plugin cannot be installed, or NULL. */
static const char *no_plugin_because(const struct node *n)
{
    if (n->failed)
        return session_is_network(n->failed->code) ? NULL
                                                   : err_prev(n->failed, NULL);
    return n->package.kind == DOC_PLUGIN && n->plugin &&
                   n->plugin->plugin.part_count == 0
               ? "nothing of it can be installed"
               : NULL;
}

/* A folder with a manifest that is no plugin for `mapm install` is a catalog if
 * it contains packages, as for that command. */
static bool take_catalog(struct info *f, struct err *e)
{
    const char *why = no_plugin_because(f->node);
    struct node *catalog;
    struct origin o;

    if (!why || !(f->node->kinds & DOC_PLUGIN) || node_has_entry(f->node))
        return true;
    o = origin_with_part(f->node->origin, STR(""), &f->cx->arena);
    catalog = closure_add_catalog(&f->closure, &o);
    if (!closure_gather(&f->closure, e))
        return false;
    if (!catalog->failed && !offers_only_itself(catalog)) {
        offers_warn_plugin(&f->closure, catalog, why);
        f->node = catalog;
    }
    return true;
}

/* What failed of a plugin of a marketplace may be another repository. */
static bool fail_node(struct info *f, const struct info_request *r,
                      struct err *e)
{
    *e = *f->node->failed;
    return !err_names(e, str_dup0(r->word, &f->cx->arena)) &&
           err_wrap(e, "%s%.*s%s%.*s", r->plugin.n ? "plugin " : "",
                    STR_ARG(r->plugin), r->plugin.n ? " of " : "",
                    STR_ARG(r->word));
}

static bool find(struct info *f, const struct info_request *r, struct err *e)
{
    if (!add_word(f, r, e) || !closure_gather(&f->closure, e) ||
        !take_catalog(f, e) ||
        !offers_find_markets(&f->closure, &f->node, 1, e))
        return false;
    if (f->node->failed)
        return fail_node(f, r, e);
    return f->node->is_ready ? fill_package(f, e) : fill_catalog(f, e);
}

/* Publishes what was fetched to the store, so that a later install fetches
 * less. */
static void publish(struct info *f)
{
    struct err ignored = {0};

    if (!store_publish(f->store, &ignored) ||
        !store_publish_notes(f->store, &ignored))
        err_clear(&ignored);
}

bool install_info(struct context *cx, const struct info_request *r,
                  struct install_info *out, struct err *e)
{
    struct info f = {.cx = cx, .out = out};
    struct closure_options o = {
        .offline = cx->is_offline, .allow_hidden = true, .alone = true};
    bool ok;

    *out = (struct install_info){.is_catalog = false};
    if (!host_admit(cx, r->word, e) || !layer_open(cx, LAYER_READ, &f.layer, e))
        return false;
    ok = open_store(cx, &f.store, e);
    if (ok) {
        store_begin_staging(f.store);
        closure_init(&f.closure, cx, &f.layer, f.store, &o);
        ok = find(&f, r, e);
        closure_done(&f.closure);
    }
    if (ok) {
        publish(&f);
        fill_time(&f);
    }
    close_store(cx, f.store);
    layer_close(&f.layer);
    return ok;
}
