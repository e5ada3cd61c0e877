#include "base/path.h"
#include "mapm/plugin_paths.h"

#include "session.h"

/* Returns the name of the package for messages. */
static struct str shown(const struct ask *a)
{
    struct str path = a->is_alone ? a->rest : a->path;

    return path.n ? path : a->repo->name;
}

static enum found not_accepted(const struct ask *a, enum doc_kind kind,
                               struct err *e)
{
    unsigned k = a->in.kinds;
    const char *want = k == DOC_AGENT   ? "an agent"
                       : k == DOC_SKILL ? "a skill"
                       : k == DOC_MCP   ? "an MCP server"
                                        : "what is asked for";
    const char *is = kind == DOC_AGENT    ? "an agent (AGENTS.md)"
                     : kind == DOC_PLUGIN ? "a plugin"
                     : kind == DOC_SKILL  ? "a skill (SKILL.md)"
                                          : "a file (an MCP server)";

    err_set(e, ERR_PATH, "%.*s is %s, not %s", STR_ARG(shown(a)), is, want);
    return FOUND_ERROR;
}

static bool accepts(const struct ask *a, enum doc_kind kind)
{
    return a->in.kinds == 0 || (a->in.kinds & kind);
}

/* If a folder has both manifests, the requested kind decides, else the name of
 * the parent folder. */
static enum doc_kind choose_kind(const struct ask *a, bool skill, bool agent)
{
    if (skill && agent) {
        struct str path = a->is_alone && !a->in.is_short ? a->rest : a->path;

        if (!accepts(a, DOC_SKILL))
            return DOC_AGENT;
        if (accepts(a, DOC_AGENT) &&
            str_is(path_last(path_folder(path)), "agents"))
            return DOC_AGENT;
        return DOC_SKILL;
    }
    return skill ? DOC_SKILL : DOC_AGENT;
}

/* Lists the files of a package of known kind. */
static enum found list(struct ask *a, struct document_wants *wants,
                       struct err *e)
{
    struct tree_source src = {&a->repo->objects, a->root, &a->repo->index,
                              &a->repo->session->limits, &wants->folders};
    struct str path = a->is_alone ? str_make("", 0) : a->path;

    if (!tree_list(&src, path, &wants->loose_objects, &a->repo->arena,
                   &a->listing, e))
        return FOUND_ERROR;
    if (a->listing.kind == TREE_UNKNOWN)
        return FOUND_WAIT;
    return FOUND_PACKAGE;
}

static bool has_file(const struct ask *a, struct str name)
{
    for (size_t i = 0; i < a->listing.count; i++)
        if (str_eq(a->listing.files[i].path, name))
            return true;
    return false;
}

/* --- plugins and marketplaces --------------------------------------------- */

static struct tree_source source_of(const struct ask *a)
{
    return (struct tree_source){&a->repo->objects, a->root, &a->repo->index,
                                &a->repo->session->limits, NULL};
}

/* Returns FOUND_ERROR if there is no such file. */
static enum found find_below(struct ask *a, const char *name,
                             struct document_wants *wants)
{
    struct tree_source src = source_of(a);
    struct str base = a->is_alone ? str_make("", 0) : a->path;
    struct str path =
        base.n ? arena_printf(&a->repo->arena, "%.*s/%s", STR_ARG(base), name)
               : str_cstr(name);
    struct tree_found at = {.kind = TREE_UNKNOWN};
    struct err ignored = {0};

    if (!tree_find(&src, path, &wants->loose_objects, &at, &ignored))
        return FOUND_ERROR;
    return at.kind == TREE_UNKNOWN  ? FOUND_WAIT
           : at.kind == TREE_FOLDER ? FOUND_ERROR
                                    : FOUND_PACKAGE;
}

static bool tree_has(struct str tree, struct str name)
{
    struct err ignored = {0};
    struct tree_entry entry;

    while (tree.n && tree_next(&tree, &entry, &ignored))
        if (str_eq(entry.name, name))
            return true;
    return false;
}

/* Looks for a manifest only if the folder has the first component of its path,
 * so that no tree is fetched without need. In a folder with SKILL.md, a
 * plugin.json without a folder of its own is ignored. */
static enum found find_manifest(struct ask *a, struct str tree,
                                struct document_wants *wants)
{
    bool skill = tree_has_file(tree, "SKILL.md");

    for (int i = 0; i < PLUGIN_FORMATS; i++) {
        struct str rest = str_cstr(plugin_formats[i].manifest), top;
        enum found found;

        if (!str_cut(&rest, '/', &top) || (skill && !rest.p) ||
            !tree_has(tree, top))
            continue;
        found = find_below(a, plugin_formats[i].manifest, wants);
        if (found != FOUND_ERROR)
            return found;
    }
    return FOUND_ERROR;
}

/* A plugin that is requested as such needs no manifest: a marketplace may
 * define it. */
static enum found find_plugin(struct ask *a, struct str tree,
                              struct document_wants *wants)
{
    if (a->in.kinds == DOC_PLUGIN)
        return FOUND_PACKAGE;
    return a->in.kinds & DOC_PLUGIN ? find_manifest(a, tree, wants)
                                    : FOUND_ERROR;
}

static enum found find_market(struct ask *a, struct document_wants *wants,
                              struct str *entry_file, struct err *e)
{
    struct str base;

    for (const char *const *file = plugin_marketplaces; *file; file++) {
        enum found found = find_below(a, *file, wants);

        if (found == FOUND_WAIT)
            return found;
        if (found == FOUND_ERROR)
            continue;
        base = a->path;
        a->path = base.n ? arena_printf(&a->repo->arena, "%.*s/%s",
                                        STR_ARG(base), *file)
                         : str_cstr(*file);
        a->doc = DOC_MARKET;
        *entry_file = path_last(a->path);
        found = list(a, wants, e);
        if (found == FOUND_WAIT)
            a->path = base;
        return found;
    }
    err_set(e, ERR_PATH, "there is no marketplace.json in %.*s",
            STR_ARG(shown(a)));
    return FOUND_ERROR;
}

static enum found find_file(struct ask *a, struct document_wants *wants,
                            struct str *entry_file, struct arena *arena,
                            struct fetch_event *offers, struct err *e)
{
    if (!str_ends(a->path, STR(".json"))) {
        err_set(e, ERR_PATH, "%.*s is a file", STR_ARG(a->path));
        if (str_is(path_last(a->path), "SKILL.md") ||
            str_is(path_last(a->path), "AGENTS.md"))
            err_hint(e, "name the folder that it is in");
        return FOUND_ERROR;
    }
    if (a->in.kinds == DOC_MARKET) {
        a->doc = DOC_MARKET;
        *entry_file = path_last(a->path);
        return list(a, wants, e);
    }
    if (!accepts(a, DOC_MCP))
        return not_accepted(a, DOC_MCP, e);
    if (a->in.what == FETCH_CATALOG) { /* a catalog of one package */
        offers->offers = arena_new(arena, struct fetch_offer);
        *offers->offers = (struct fetch_offer){DOC_MCP, a->path, false};
        offers->offer_count = 1;
        return FOUND_OFFERS;
    }
    a->doc = DOC_MCP;
    *entry_file = path_last(a->path);
    return list(a, wants, e);
}

/* Adds the marketplace to the offers if its file is known; fetches nothing. */
static void offer_market(struct ask *a, struct document_wants *wants,
                         struct arena *arena, struct fetch_event *offers)
{
    struct fetch_offer *all;

    for (const char *const *file = plugin_marketplaces; *file; file++) {
        if (find_below(a, *file, wants) != FOUND_PACKAGE)
            continue;
        all = arena_array(arena, offers->offer_count + 1, sizeof *all);
        for (size_t i = 0; i < offers->offer_count; i++)
            all[i] = offers->offers[i];
        all[offers->offer_count++] =
            (struct fetch_offer){DOC_MARKET, str_cstr(*file), true};
        offers->offers = all;
        return;
    }
}

static enum found find_offers(struct ask *a, const struct oid *folder,
                              struct document_wants *wants, struct arena *arena,
                              struct fetch_event *offers, struct err *e)
{
    struct str beyond;

    if (!offers_find(a, folder, a->path, &wants->folders, arena, offers,
                     &beyond))
        return FOUND_WAIT;
    a->listing.id = *folder;
    offers_note_cut(a, beyond);
    if (offers->offer_count)
        offer_market(a, wants, arena, offers);
    if (offers->offer_count || a->in.what == FETCH_CATALOG)
        return FOUND_OFFERS;
    err_set(e, ERR_PATH, "there is no SKILL.md or AGENTS.md in %.*s",
            STR_ARG(shown(a)));
    return FOUND_ERROR;
}

/* The AGENTS.md at the root of a repository is meant for its developers: if
 * there are other packages, it is a catalog. */
static bool is_catalog(struct ask *a, const struct oid *folder,
                       struct document_wants *wants, struct arena *arena,
                       struct fetch_event *offers)
{
    struct str beyond;

    return a->path.n == 0 && !a->is_alone &&
           offers_find(a, folder, a->path, &wants->folders, arena, offers,
                       &beyond) &&
           offers->offer_count;
}

/* A repository that is a skill may contain others: reports them if their trees
 * are in memory. */
static void note_offers(struct ask *a, const struct oid *folder,
                        struct arena *arena)
{
    struct fetch_event below = {0};
    struct oid_set ignored;
    struct str beyond;

    oid_set_init(&ignored, arena);
    if (a->path.n || a->is_alone || a->is_pinned || a->doc != DOC_SKILL ||
        !offers_find(a, folder, a->path, &ignored, arena, &below, &beyond) ||
        below.offer_count == 0)
        return;
    ask_note(a, arena_printf(&a->repo->arena,
                             "%.*s offers %zu package%s below its SKILL.md: "
                             "--all and --skill choose among them",
                             STR_ARG(shown(a)), below.offer_count,
                             below.offer_count == 1 ? "" : "s"));
}

static enum found find_folder(struct ask *a, const struct oid *folder,
                              struct document_wants *wants,
                              struct str *entry_file, struct arena *arena,
                              struct fetch_event *offers, struct err *e)
{
    const struct object *tree;
    bool skill, agent;
    enum found found;

    if (!objects_find_type(&a->repo->objects, folder, OBJECT_TREE, &tree, e))
        return FOUND_ERROR;
    if (tree == NULL) {
        oid_set_put(&wants->folders, folder);
        return FOUND_WAIT;
    }
    if (a->in.kinds == DOC_MARKET)
        return find_market(a, wants, entry_file, e);
    if (a->in.what != FETCH_CATALOG) {
        found = find_plugin(a, tree->bytes, wants);
        if (found == FOUND_WAIT)
            return found;
        if (found == FOUND_PACKAGE) {
            a->doc = DOC_PLUGIN;
            return list(a, wants, e);
        }
    }
    skill = tree_has_file(tree->bytes, "SKILL.md");
    agent = tree_has_file(tree->bytes, "AGENTS.md");
    if (a->in.what == FETCH_CATALOG || (!skill && !agent) ||
        (!skill && is_catalog(a, folder, wants, arena, offers)))
        return find_offers(a, folder, wants, arena, offers, e);
    a->doc = choose_kind(a, skill, agent);
    if (!accepts(a, a->doc))
        return not_accepted(a, a->doc, e);
    *entry_file = str_cstr(doc_entry_file(a->doc));
    found = list(a, wants, e);
    if (found == FOUND_PACKAGE && !has_file(a, *entry_file)) {
        err_set(e, ERR_PATH, "%.*s in %.*s is no file", STR_ARG(*entry_file),
                STR_ARG(shown(a)));
        return FOUND_ERROR;
    }
    if (found == FOUND_PACKAGE && a->in.what == FETCH_PACKAGE)
        note_offers(a, folder, arena);
    return found;
}

enum found document_find(struct ask *a, struct document_wants *wants,
                         struct str *entry_file, struct arena *arena,
                         struct fetch_event *offers, struct err *e)
{
    struct tree_source src = {&a->repo->objects, a->root, &a->repo->index,
                              &a->repo->session->limits, NULL};
    struct tree_found at = {.kind = TREE_FOLDER, .id = a->root};

    if (!a->is_alone &&
        !tree_find(&src, a->path, &wants->loose_objects, &at, e))
        return FOUND_ERROR;
    switch (at.kind) {
    case TREE_UNKNOWN:
        return FOUND_WAIT;
    case TREE_FOLDER:
        return find_folder(a, &at.id, wants, entry_file, arena, offers, e);
    default:
        return find_file(a, wants, entry_file, arena, offers, e);
    }
}
