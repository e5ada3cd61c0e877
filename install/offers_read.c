#include "base/path.h"
#include "base/text.h"
#include "mapm/origin.h"
#include "mapm/plugin_market.h"

#include "index.h"
#include "ingest.h"
#include "offers.h"

/* Reads the packages that catalogs offer. */

/* --- reading -------------------------------------------------------------- */

static struct origin market_origin(const struct node *n, struct arena *a)
{
    return origin_with_part(n->origin, STR("market"), a);
}

static void add_market(struct closure *c, const struct node *n)
{
    struct origin o = market_origin(n, &c->cx->arena);
    struct node *market = closure_add(c, &o, DOC_MARKET);

    if (!market->is_resolved)
        node_make_rare(market, &c->cx->arena)->pin = n->package.commit;
}

static void add_offers(struct closure *c, const struct node *n)
{
    for (size_t i = 0; i < n->offer_count; i++) {
        struct node *to;
        struct origin o;

        offers_origin(&c->cx->arena, n, &n->offers[i], &o);
        to = closure_add(c, &o, (unsigned)n->offers[i].kind);
        if (o.scheme != ORIGIN_GIT)
            to->path = n->offers[i].path;
    }
}

static struct node *find_offered(const struct closure *c, const struct node *n,
                                 const struct fetch_offer *offer)
{
    struct origin o;

    offers_origin(&c->cx->arena, n, offer, &o);
    return closure_find(c, o.key);
}

/* Finds the texts of a node; locked and indexed ones are read from the
 * store. */
static bool find_words(struct closure *c, const struct node *n, struct err *e)
{
    for (size_t i = 0; i < n->offer_count; i++) {
        struct node *to = find_offered(c, n, &n->offers[i]);

        if (!to)
            continue;
        if (to->failed && session_is_network(to->failed->code)) {
            *e = *to->failed;
            return false;
        }
        if (!node_find_words(c, to, e))
            return false;
    }
    return true;
}

static bool may_have_market(const struct node *n)
{
    return !n->origin->part.n &&
           (n->failed ? n->failed->code == ERR_PATH
                      : n->is_catalog && n->offer_count == 0);
}

bool offers_find_markets(struct closure *c, struct node *const *asked,
                         size_t count, struct err *e)
{
    for (size_t i = 0; i < count; i++)
        if (may_have_market(asked[i]))
            add_market(c, asked[i]);
    if (!closure_gather(c, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct node *n = asked[i];
        struct origin o = market_origin(n, &c->cx->arena);
        const struct node *market = closure_find(c, o.key);

        if (!may_have_market(n) || !market || market->failed)
            continue;
        n->failed = NULL;
        n->has_market = true;
        n->ref = market->ref;
        n->package.commit = market->package.commit;
    }
    return true;
}

bool offers_read(struct closure *c, struct node *const *catalogs, size_t count,
                 struct err *e)
{
    struct closure_options before = c->options;
    bool ok;

    closure_warn(c);
    c->options.outline = c->options.describes = c->options.alone = true;
    c->options.allow_hidden = true;
    c->options.on_fetched = NULL;
    for (size_t i = 0; i < count; i++) {
        if (catalogs[i]->origin->scheme == ORIGIN_INDEX)
            continue; /* the catalog contains their descriptions */
        if (catalogs[i]->has_market ||
            node_source(catalogs[i])->scheme != ORIGIN_GIT)
            add_market(c, catalogs[i]);
        add_offers(c, catalogs[i]);
    }
    ok = closure_gather(c, e);
    for (size_t i = 0; ok && i < count; i++)
        ok = find_words(c, catalogs[i], e);
    /* warnings are left to the install */
    notice_init(&c->notices, &c->cx->arena);
    c->options = before;
    return ok;
}

/* --- what is installed ---------------------------------------------------- */

static struct str place_key(const struct origin *o, struct str path,
                            struct arena *a)
{
    return o->scheme == ORIGIN_GIT
               ? arena_printf(a, "%.*s %.*s", STR_ARG(origin_repository(o, a)),
                              STR_ARG(path))
               : o->key;
}

/* Adds installed packages by repository and path, at any ref. With a branch of
 * several segments, every possible end of the ref is added. */
static void add_installed(const struct layer *l, struct arena *a,
                          struct map *out)
{
    const struct lock_entry **entries;
    size_t count;

    map_init(out, a);
    entries = layer_entries(l, a, &count);
    for (size_t i = 0; i < count; i++) {
        const struct origin *o = layer_origin(l, entries[i]);
        struct str rest = o->rest, segment;

        map_put(out, o->key, NULL);
        if (o->scheme != ORIGIN_GIT || o->part.n)
            continue;
        while (rest.p && str_cut(&rest, '/', &segment))
            map_put(out, place_key(o, rest.p ? rest : STR(""), a), NULL);
    }
}

/* --- by plugin, or by folder ---------------------------------------------- */

static struct str below(struct str root, struct str path, struct arena *a)
{
    while (str_starts(path, STR("./")))
        path = str_from_index(path, 2);
    while (str_ends(path, STR("/")))
        path.n--;
    if (str_is(path, "."))
        path.n = 0;
    if (!root.n || !path.n)
        return root.n ? root : path;
    return arena_printf(a, "%.*s/%.*s", STR_ARG(root), STR_ARG(path));
}

/* Returns the folder to which the sources of a marketplace are relative. */
static struct str market_root(const struct node *market)
{
    struct str path = market->path,
               file = str_cstr(node_rare(market)->market->file);

    return str_ends(path, file) && path.n > file.n
               ? str_slice(path, 0, path.n - file.n - 1)
               : STR("");
}

static void add_folder(struct map *out, struct str folder,
                       struct market_entry *entry)
{
    struct map_entry *at = folder.n ? map_entry(out, folder) : NULL;

    if (at && !at->value)
        at->value = entry;
}

/* Adds the folders of a plugin's skills, listed in its entry or else its own
 * folder. The first plugin that names a folder owns it. */
static void add_folders(struct market_entry *entry, struct str root,
                        struct arena *a, struct map *out)
{
    const struct json *skills = json_get(entry->json, "skills");
    struct str folder = below(root, entry->path, a);

    if (entry->source != MARKET_HERE)
        return;
    if (!skills || skills->kind != JSON_ARRAY) {
        add_folder(out, folder, entry);
        return;
    }
    for (const struct json *j = skills->first; j; j = j->next)
        if (json_text(j).n)
            add_folder(out, below(folder, json_text(j), a), entry);
}

static void find_group(const struct map *folders, struct install_offer *o)
{
    for (struct str at = o->path; at.n; at = path_folder(at)) {
        const struct market_entry *entry = map_find(folders, at);

        if (!entry)
            continue;
        o->group = entry->name;
        o->is_of_plugin = true;
        return;
    }
    o->group = path_folder(o->path);
}

/* --- as values ------------------------------------------------------------ */

/* Returns the first message of a failed node that contains more than its
 * name. */
static struct str offers_problem(const struct node *n)
{
    const char *message = err_prev(n->failed, NULL);
    const char *inner = message ? err_prev(n->failed, message) : NULL;

    return str_cstr(inner ? inner : message ? message : "it cannot be read");
}

static void fill_words(const struct closure *c, const struct node *n,
                       const struct fetch_offer *offer,
                       struct install_offer *out)
{
    const struct node *to = find_offered(c, n, offer);
    const struct well_known_skill *skill = n->origin->scheme == ORIGIN_INDEX
                                               ? index_offer(c, n, offer->path)
                                               : NULL;

    if (skill) {
        out->description = text_one_line(skill->description, &c->cx->arena);
        out->tokens = skill->tokens;
    }
    if (to && to->words) {
        out->description = to->words->description;
        out->command = to->words->command;
        out->tokens = to->words->tokens;
    }
    if (to && to->failed)
        out->problem = offers_problem(to);
    else if (to && to->hidden && !c->options.allow_hidden)
        out->problem = STR("its text has hidden characters");
}

static void fill_offers(const struct closure *c, const struct node *n,
                        const struct map *installed, const struct map *folders,
                        struct install_catalog *out)
{
    struct arena *a = &c->cx->arena;
    struct install_offer *offers =
        arena_array(a, n->offer_count + 1, sizeof *offers);

    for (size_t i = 0; i < n->offer_count; i++) {
        struct origin o;

        offers_origin(a, n, &n->offers[i], &o);
        offers[i] = (struct install_offer){
            .kind = n->offers[i].kind,
            .name = offers_name(n, &n->offers[i]),
            .path = n->offers[i].path,
            .origin = o.text,
            .is_installed =
                map_has(installed, place_key(&o, n->offers[i].path, a))};
        find_group(folders, &offers[i]);
        fill_words(c, n, &n->offers[i], &offers[i]);
    }
    out->offers = offers;
    out->offer_count = n->offer_count;
}

static struct str plugin_key(const struct node *n,
                             const struct market_entry *entry, struct arena *a)
{
    struct origin o = *n->origin;

    if (o.is_short)
        origin_complete(n->origin, node_slot(n, a), n->origin->path, a, &o);
    return origin_of_entry(&o, entry->name, a).key;
}

static size_t tokens_of_plugin(const struct map *tokens, struct str name)
{
    const size_t *sum = map_find(tokens, name);

    return sum ? *sum : 0;
}

/* Adds the tokens of the packages of each plugin. */
static void sum_tokens(const struct install_catalog *c, struct arena *a,
                       struct map *out)
{
    map_init(out, a);
    for (size_t i = 0; i < c->offer_count; i++) {
        const struct install_offer *o = &c->offers[i];
        struct map_entry *at =
            o->is_of_plugin ? map_entry(out, o->group) : NULL;

        if (!at)
            continue;
        if (!at->value)
            at->value = arena_new(a, size_t);
        *(size_t *)at->value += o->tokens;
    }
}

static void fill_plugins(const struct closure *c, const struct node *n,
                         const struct market *m, const struct map *installed,
                         struct install_catalog *out)
{
    struct arena *a = &c->cx->arena;
    struct install_offer *plugins =
        arena_array(a, m->count + 1, sizeof *plugins);
    struct map tokens;

    sum_tokens(out, a, &tokens);
    for (size_t i = 0; i < m->count; i++) {
        const struct market_entry *entry = &m->entries[i];

        plugins[i] = (struct install_offer){
            .kind = DOC_PLUGIN,
            .name = entry->name,
            .path = STR(""),
            .origin = entry->source == MARKET_GIT ? entry->repository
                                                  : n->origin->text,
            .group = entry->name,
            .is_of_plugin = true,
            .description = text_one_line(entry->description, a),
            .problem = str_cstr(entry->source == MARKET_NONE ? entry->why : ""),
            .tokens = tokens_of_plugin(&tokens, entry->name),
            .is_installed = map_has(installed, plugin_key(n, entry, a))};
    }
    out->plugins = plugins;
    out->plugin_count = m->count;
    out->unnamed_count = m->unnamed;
}

static struct install_offer *list_elsewhere(const struct node *n,
                                            struct arena *a)
{
    struct install_offer *out =
        arena_array(a, n->elsewhere_count + 1, sizeof *out);

    for (size_t i = 0; i < n->elsewhere_count; i++) {
        out[i].kind = n->elsewhere[i].kind;
        out[i].path = n->elsewhere[i].path;
    }
    return out;
}

void offers_fill(const struct closure *c, const struct node *n, bool each,
                 struct install_catalog *out)
{
    struct arena *a = &c->cx->arena;
    struct map installed, folders;
    const struct node *market;
    const struct market *m;
    struct origin o;

    *out = (struct install_catalog){.origin = *n->origin,
                                    .path = n->path,
                                    .elsewhere = list_elsewhere(n, a),
                                    .elsewhere_count = n->elsewhere_count,
                                    .has_market = n->has_market};
    if (!each)
        return;
    add_installed(c->layer, a, &installed);
    map_init(&folders, a);
    o = market_origin(n, a);
    market = closure_find(c, o.key);
    m = market && !market->failed ? node_rare(market)->market : NULL;
    for (size_t i = 0; m && i < m->count; i++)
        add_folders(&m->entries[i], market_root(market), a, &folders);
    fill_offers(c, n, &installed, &folders, out);
    if (m)
        fill_plugins(c, n, m, &installed, out);
}
