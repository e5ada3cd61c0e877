#include "list.h"

#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/install_query.h"
#include "mapm/lock.h"
#include "mapm/package_text.h"
#include "mapm/project.h"

#include "command.h"

const struct root *list_root(const struct map *roots,
                             const struct lock_entry *entry, struct arena *a)
{
    return map_find(roots, layer_name_key(entry->kind, entry->name, a));
}

/* Returns the origin of a root in the current mapm.yaml. The lock entry of an
 * unchanged package keeps its earlier origin [D2]. */
static struct str origin_of(const struct lock_entry *entry,
                            const struct root *root)
{
    return root && lock_catalog_entry(entry).n == 0
               ? origin_base(root->origin.text)
               : lock_origin_text(entry);
}

/* Writes the marketplace of a plugin and its parts that are not installed. */
static void put_plugin(struct json_writer *w, const struct lock_entry *entry)
{
    if (entry->plugin.n)
        json_member_string(w, "plugin", entry->plugin);
    if (entry->server.n)
        json_member_string(w, "server", entry->server);
    if (entry->kind != DOC_PLUGIN)
        return;
    json_member_optional(w, "manifest", entry->manifest);
    json_member_optional(w, "catalog", lock_catalog(entry));
    json_member_optional(w, "entry", lock_catalog_entry(entry));
    json_member_strings(w, "without", entry->without.items,
                        entry->without.count);
    json_member_strings(w, "skipped", entry->skipped.items,
                        entry->skipped.count);
    json_member_strings(w, "not_installed", entry->not_installed.items,
                        entry->not_installed.count);
}

void list_put_package(struct json_writer *w, const struct layer *l,
                      const struct lock_entry *entry, const struct root *root,
                      bool is_many, struct arena *a)
{
    struct str prereqs = install_prereqs(l, entry, a);

    json_begin_object(w);
    json_member_string(w, "type", str_cstr(doc_kind_name(entry->kind)));
    json_member_string(w, "name", entry->name);
    if (is_many)
        json_member_string(w, "member", package_member(l));
    json_member_optional(w, "version", entry->version);
    json_member_string(w, "origin", origin_of(entry, root));
    json_member_optional(w, "from", entry->from);
    json_member_optional(w, "tag", entry->tag);
    json_member_optional(w, "commit", entry->commit);
    if (entry->artifact.n) {
        json_member_string(w, "url", entry->url);
        json_member_string(w, "artifact", entry->artifact);
    }
    json_member_optional(w, "digest", entry->digest);
    json_member_optional(w, "patch", entry->patch);
    if (entry->kind != DOC_PLUGIN)
        json_member_string(w, entry->kind == DOC_MCP ? "key" : "path",
                           layer_place(l, entry, a));
    if (layer_is_searched(l, entry->kind, entry->name))
        json_member_string(w, "listing", STR("search"));
    put_plugin(w, entry);
    json_member_bool(w, "root", root != NULL);
    if (entry->catalog_count)
        json_member_string(w, "catalog", entry->catalogs[0]);
    json_member_bool(w, "local", layer_is_local(l, entry));
    json_member_bool(w, "own", layer_is_own(l, entry));
    json_member_optional(w, "prereqs", prereqs);
    json_member_array(w, "needs");
    for (size_t i = 0; i < entry->need_count; i++) {
        json_begin_object(w);
        json_member_string(w, "type",
                           str_cstr(doc_kind_name(entry->needs[i].kind)));
        json_member_string(w, "name", entry->needs[i].name);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void print_words(struct term *t, const char *what,
                        const struct str_list *words)
{
    if (words->count == 0)
        return;
    term_print(t, "        %s: ", what);
    for (size_t i = 0; i < words->count; i++)
        term_print(t, "%s%.*s", i ? ", " : "", STR_ARG(words->items[i]));
    term_print(t, "\n");
}

static void print_list(struct invocation *inv, const struct layer *l,
                       const struct lock_entry **entries, size_t count,
                       const struct map *roots, bool is_many)
{
    struct term *t = &inv->term;
    size_t wide = 8;

    if (is_many && count)
        term_style_print(t, TERM_BOLD, "%.*s:\n", STR_ARG(package_member(l)));
    for (size_t i = 0; i < count; i++)
        if (entries[i]->name.n > wide && entries[i]->name.n < 48)
            wide = entries[i]->name.n;
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry = entries[i];
        struct str prereqs = install_prereqs(l, entry, &inv->cx.arena);
        struct str rest = prereqs, line;
        const struct root *root = list_root(roots, entry, &inv->cx.arena);

        term_print(t, "%-5s %-*.*s %-10.*s %-10.*s%s%s%.*s\n",
                   doc_kind_name(entry->kind), (int)wide, STR_ARG(entry->name),
                   STR_ARG(entry->version.n ? entry->version : STR("-")),
                   STR_ARG(entry->commit.n ? str_slice(entry->commit, 0, 10)
                           : layer_is_own(l, entry) ? STR("own")
                           : entry->artifact.n      ? STR("index")
                                                    : STR("file")),
                   root ? " " : "",
                   root ? str_dup0(origin_of(entry, root), &inv->cx.arena) : "",
                   STR_ARG(layer_is_own(l, entry)
                               ? package_listing(l, entry)
                               : package_notes(l, entry, &inv->cx.arena)));
        if (entry->kind == DOC_PLUGIN &&
            (has_option(inv, OPTION_VERBOSE) || count == 1)) {
            print_words(t, "left out", &entry->skipped);
            print_words(t, "not installed", &entry->not_installed);
        }
        while (str_line(&rest, &line))
            if (line.n)
                term_print(t, "        %.*s\n", STR_ARG(line));
    }
}

/* Writes the packages of one layer. Returns their number. */
static size_t put_layer(struct invocation *inv, const struct layers_named *all,
                        size_t at, struct json_writer *w)
{
    const struct layer *l = all->items[at];
    const struct lock_entry **entries;
    struct arena *a = &inv->cx.arena;
    struct map roots;
    size_t count, root_count;
    struct root *list;

    entries = layer_entries(l, a, &count);
    if (all->named[at]) {
        entries = &all->named[at];
        count = 1;
    }
    list = layer_roots(l, a, &root_count);
    layer_index_roots(l, list, root_count, a, &roots);
    for (size_t i = 0; w && i < count; i++)
        list_put_package(w, l, entries[i], list_root(&roots, entries[i], a),
                         all->is_many, a);
    if (!w)
        print_list(inv, l, entries, count, &roots, all->is_many);
    return count;
}

COMMAND(command_list)
{
    struct layers_named all;
    struct json_writer *w = NULL;
    struct str name = {"", 0};
    size_t count = 0;

    if ((inv->arguments.count && !list_named_package(inv, &name, e)) ||
        !layers_open_named(&inv->cx, name, &all, e))
        return false;
    if (has_option(inv, OPTION_JSON)) {
        w = print_json_begin(inv, "mapm.list/1", NULL);
        json_member_string(w, "workspace",
                           all.is_many ? all.all.whole.path
                                       : all.items[0]->path);
        json_member_array(w, "packages");
    }
    for (size_t i = 0; i < all.count; i++)
        count += put_layer(inv, &all, i, w);
    if (w) {
        json_end_array(w);
        print_json_end(inv);
    } else if (count == 0) {
        term_note(&inv->term, "nothing is installed in %.*s",
                  STR_ARG(all.items[0]->path));
    }
    layer_close_all(&all.all);
    return true;
}
