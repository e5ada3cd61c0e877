#include "catalogs.h"

#include "base/glob.h"
#include "mapm/doc_kind.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include "exclude.h"
#include "ingest.h"
#include "names.h"
#include "offers.h"
#include "plugin_scope.h"

static const enum doc_kind kinds[] = {DOC_AGENT, DOC_SKILL, DOC_MCP};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

/* --- what is locked ------------------------------------------------------- */

static void put_chosen(struct install_session *s, const struct catalog *catalog,
                       struct str key, struct str text)
{
    struct arena *a = &s->cx->arena;
    struct map_entry *entry = map_entry(&s->chosen, key);
    struct chosen *c;

    for (c = entry->value; c; c = c->next)
        if (c->catalog == catalog)
            return;
    c = arena_new(a, struct chosen);
    *c = (struct chosen){catalog, text, entry->value};
    entry->value = c;
}

void catalogs_open(struct install_session *s)
{
    struct arena *a = &s->cx->arena;
    size_t count;
    const struct layer_choice *choices = layer_choices(&s->layer, a, &count);

    s->roots = layer_roots(&s->layer, a, &s->root_count);
    map_init(&s->chosen, a);
    for (size_t i = 0; i < count; i++)
        put_chosen(s, choices[i].catalog, choices[i].origin.key,
                   choices[i].text);
}

const struct catalog **catalogs_list(const struct install_session *s,
                                     size_t *count)
{
    const struct project *files[] = {&s->layer.project, &s->layer.local};
    const struct catalog **list = arena_array(
        &s->cx->arena, files[0]->catalog_count + files[1]->catalog_count + 1,
        sizeof(struct catalog *));
    struct map seen;

    *count = 0;
    map_init(&seen, &s->cx->arena);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        for (size_t i = 0; i < files[k]->catalog_count; i++)
            if (map_put(&seen, files[k]->catalogs[i].origin.key, NULL))
                list[(*count)++] = &files[k]->catalogs[i];
    return list;
}

/* Returns whether `o` is the short form "owner/repo[/path][@ref]" of a catalog
 * whose ref has one segment. */
static bool is_short_of(const struct origin *o, const struct origin *catalog,
                        struct arena *a)
{
    struct str rest = catalog->rest, ref;

    if (!o->is_short || catalog->scheme != ORIGIN_GIT ||
        !str_eq(origin_repository(catalog, a), origin_repository(o, a)) ||
        !rest.p || !str_cut(&rest, '/', &ref))
        return false;
    return str_eq(rest.p ? rest : STR(""), o->path) &&
           (o->ref.n == 0 || str_eq(o->ref, ref));
}

const struct lock_entry **catalogs_entries(const struct install_session *s,
                                           const struct catalog *c,
                                           size_t *count)
{
    const struct lock_entry **entries =
        arena_array(&s->cx->arena, s->chosen.count + 1, sizeof *entries);

    *count = 0;
    for (size_t i = 0; i < s->chosen.count; i++) {
        const struct lock_entry *entry =
            map_find(&s->layer.by_origin, s->chosen.entries[i].key);
        const struct chosen *by = s->chosen.entries[i].value;

        while (by && by->catalog != c)
            by = by->next;
        if (by && entry)
            entries[(*count)++] = entry;
    }
    return entries;
}

const struct catalog *catalogs_find(const struct install_session *s,
                                    struct str word)
{
    struct context *cx = s->cx;
    const struct catalog *found = NULL;
    struct err ignored = {0};
    struct origin o;
    size_t count;
    const struct catalog **all = catalogs_list(s, &count);

    for (size_t i = 0; i < count; i++)
        if (str_eq(all[i]->origin.text, word))
            return all[i];
    if (count == 0 ||
        !origin_parse_argument(word, cx->cwd, cx->home, &s->layer.rules,
                               &cx->arena, &o, &ignored))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (str_eq(all[i]->origin.key, o.key))
            return all[i];
    for (size_t i = 0; i < count; i++)
        if (is_short_of(&o, &all[i]->origin, &cx->arena)) {
            if (found)
                return NULL; /* the catalog exists at two refs */
            found = all[i];
        }
    return found;
}

/* --- what is offered ------------------------------------------------------ */

void catalogs_ask(struct install_session *s, const struct catalog *c)
{
    struct arena *a = &s->cx->arena;
    size_t count;

    if (!s->expansions) {
        catalogs_list(s, &count);
        s->expansions = arena_array(a, count + 1, sizeof *s->expansions);
    }
    closure_add_checkout(&s->closure, &c->origin);
    s->expansions[s->expansion_count++] =
        (struct expansion){c, closure_add_catalog(&s->closure, &c->origin)};
}

static void find_used(const struct install_session *s, struct map *used)
{
    map_init(used, &s->cx->arena);
    for (size_t i = 0; i < s->chosen.count; i++)
        for (const struct chosen *c = s->chosen.entries[i].value; c;
             c = c->next)
            map_put(used, c->catalog->origin.key, NULL);
}

bool catalogs_ask_new(struct install_session *s, struct err *e)
{
    size_t count;
    const struct catalog **all = catalogs_list(s, &count);
    struct map used;

    find_used(s, &used);
    for (size_t i = 0; i < count; i++) {
        if (map_has(&used, all[i]->origin.key))
            continue;
        if (!s->locked) {
            catalogs_ask(s, all[i]);
            continue;
        }
        err_set(e, ERR_LOCKED, "mapm.lock holds nothing of the catalog %.*s",
                STR_ARG(all[i]->origin.text));
        return err_hint(e, "run mapm install without --locked and commit "
                           "mapm.lock");
    }
    return true;
}

size_t catalogs_offered(const struct install_session *s)
{
    size_t count = 0;

    for (size_t i = 0; i < s->expansion_count; i++)
        count += s->expansions[i].node->offer_count;
    return count;
}

static bool is_chosen_by(const struct install_session *s, struct str key,
                         const struct catalog *catalog)
{
    for (const struct chosen *c = map_find(&s->chosen, key); c; c = c->next)
        if (c->catalog == catalog)
            return true;
    return false;
}

/* Requests the manifests of the plugin that the offered package lies in, which
 * may have to name it (selection_find_plugins), together with its document: of
 * what an update adds there are few, and one more round trip is spared. */
static void request_scope(struct install_session *s, const struct node *catalog,
                          const struct fetch_offer *offer)
{
    struct str folder = name_folder(offer->path);
    bool any;

    if (catalog->origin->scheme == ORIGIN_GIT && folder.n)
        plugin_scope_request(&s->closure, catalog, folder, &any);
}

/* Adds the packages that an expansion chooses; `known` contains the origins
 * chosen so far. */
static size_t choose(struct install_session *s, const struct expansion *x,
                     bool is_update, struct map *known)
{
    size_t found = 0;

    for (size_t i = 0; i < x->node->offer_count; i++) {
        const struct fetch_offer *offer = &x->node->offers[i];
        struct choice *choice = &s->choices[s->choice_count];
        struct str path, name;
        struct origin o;

        offers_origin(&s->cx->arena, x->node, offer, &o);
        if (!catalog_holds(x->catalog, offer->kind, &o, &path, &name) ||
            !catalog_chooses(x->catalog, offer->kind, path, name))
            continue;
        found++;
        if (is_chosen_by(s, o.key, x->catalog) || !map_put(known, o.key, s))
            continue;
        *choice = (struct choice){.name = offers_name(x->node, offer),
                                  .path = offer->path,
                                  .catalog = x->catalog};
        choice->node = closure_add(&s->closure, &o, (unsigned)offer->kind);
        choice->node->catalog = x->catalog;
        if (o.scheme != ORIGIN_GIT)
            choice->node->path = offer->path;
        if (is_update)
            request_scope(s, x->node, offer);
        s->choice_count++;
    }
    return found;
}

bool catalogs_choose(struct install_session *s, bool is_update, struct err *e)
{
    struct map known;

    map_init(&known, &s->cx->arena);
    for (size_t i = 0; i < s->choice_count; i++)
        map_put(&known, s->choices[i].node->origin->key, s);
    for (size_t i = 0; i < s->expansion_count; i++) {
        const struct expansion *x = &s->expansions[i];

        if (x->node->failed && !is_update) {
            *e = *x->node->failed;
            return err_wrap(e, "%s:%u: catalog %.*s", catalogs_file(x->catalog),
                            x->catalog->line, STR_ARG(x->catalog->origin.text));
        }
        if (choose(s, x, is_update, &known) == 0 && !is_update) {
            err_set(e, ERR_NOT_FOUND,
                    "%s:%u: the catalog %.*s offers nothing that fits",
                    catalogs_file(x->catalog), x->catalog->line,
                    STR_ARG(x->catalog->origin.text));
            return err_hint(e, "mapm install %.*s lists what it offers",
                            STR_ARG(x->catalog->origin.text));
        }
    }
    return true;
}

void catalogs_drop_superseded(struct install_session *s)
{
    struct arena *a = &s->cx->arena;
    struct node **nodes =
        arena_array(a, s->choice_count + 1, sizeof(struct node *));
    struct node **successors;
    struct map dropped;
    size_t n = 0;

    for (size_t i = 0; i < s->choice_count; i++)
        if (s->choices[i].catalog && s->choices[i].catalog->line &&
            !s->choices[i].node->failed)
            nodes[n++] = s->choices[i].node;
    if (n == 0)
        return;
    successors = roots_successors(s, nodes, n);
    map_init(&dropped, a);
    for (size_t i = 0; i < s->root_count; i++)
        if (successors[i])
            map_put(&dropped, successors[i]->origin->key, s);
    n = 0;
    for (size_t i = 0; i < s->choice_count; i++)
        if (!map_has(&dropped, s->choices[i].node->origin->key))
            s->choices[n++] = s->choices[i];
    s->choice_count = n;
}

void catalogs_note(struct install_session *s)
{
    for (size_t i = 0; i < s->choice_count; i++) {
        const struct choice *c = &s->choices[i];

        if (!c->is_left_out && c->catalog)
            put_chosen(s, c->catalog, c->node->origin->key,
                       c->catalog->origin.text);
    }
}

/* --- what arguments choose ------------------------------------------------ */

/* Converts a path in the repository, as in arguments, to one below the catalog,
 * as in mapm.yaml. Returns false if it matches nothing there. */
static bool make_relative(struct str folder, struct str *word)
{
    struct str part, glob;

    while (folder.n) {
        str_cut(&folder, '/', &part);
        if (!str_cut(word, '/', &glob) || !glob_matches(glob, part))
            return false;
        if (!word->p) {
            *word = STR("*"); /* the folder contains the whole catalog */
            return true;
        }
    }
    return true;
}

static void add_pattern(struct patterns *w, const char *kind, struct str folder,
                        struct str word)
{
    bool is_path = str_has_char(word, '/');

    while (is_path && str_ends(word, STR("/")))
        word.n--;
    if (is_path && !make_relative(folder, &word))
        return;
    if (is_path && !str_has_char(word, '/') && !str_is(word, "*"))
        word = str_join(word, STR("/"), w->a);
    patterns_add(w, kind ? arena_printf(w->a, "%s %.*s", kind, STR_ARG(word))
                         : word);
}

static struct str folder_of(const struct node *n)
{
    return n->origin->scheme == ORIGIN_GIT ? n->path : STR("");
}

static void complete(const struct node *n, struct arena *a, struct origin *out)
{
    if (n->origin->scheme == ORIGIN_GIT)
        origin_complete(n->origin, node_slot(n, a), n->path, a, out);
    else
        *out = *n->origin;
}

/* Returns whether `o` is the same folder at another ref, which is assumed to
 * have one segment. */
static bool is_same_place(const struct origin *o, struct str path,
                          const struct catalog *c, struct arena *a)
{
    struct str rest = c->origin.rest, ref;

    if (o->scheme != ORIGIN_GIT || c->origin.scheme != ORIGIN_GIT ||
        !str_eq(origin_repository(o, a), origin_repository(&c->origin, a)) ||
        !str_cut(&rest, '/', &ref))
        return false;
    return str_eq(rest.p ? rest : STR(""), path);
}

static const struct catalog *find_before(const struct install_session *s,
                                         const struct node *n,
                                         const struct origin *o)
{
    const struct catalog *found = NULL;
    size_t count;
    const struct catalog **all = catalogs_list(s, &count);

    for (size_t i = 0; i < count; i++) {
        if (str_eq(all[i]->origin.key, o->key))
            return all[i];
        if (is_same_place(o, folder_of(n), all[i], &s->cx->arena))
            found = all[i];
    }
    return found;
}

/* Sets `include` to everything, or to the previous and new patterns. */
static void fill_include(const struct install_choice *choice,
                         const struct catalog *before, struct str folder,
                         struct patterns *w, bool *has_include)
{
    *has_include = !offers_take_all(choice) && (!before || before->has_include);
    for (size_t i = 0; *has_include && before && i < before->include.count; i++)
        patterns_add(w, before->include.words[i]);
    for (size_t k = 0; *has_include && k < KIND_COUNT; k++) {
        const struct str_list *v = offers_words(choice, kinds[k]);

        for (size_t i = 0; i < v->count; i++)
            if (glob_is_pattern(v->items[i]))
                add_pattern(w, doc_kind_name(kinds[k]), folder, v->items[i]);
    }
}

/* Sets `exclude`; --all clears previous exclusions. */
static void fill_exclude(const struct install_choice *choice,
                         const struct catalog *before, struct str folder,
                         struct patterns *w)
{
    for (size_t i = 0;
         !offers_take_all(choice) && before && i < before->exclude.count; i++)
        patterns_add(w, before->exclude.words[i]);
    for (size_t i = 0; i < choice->skip.count; i++)
        add_pattern(w, NULL, folder, choice->skip.items[i]);
}

/* Reads patterns that the user wrote; an invalid one matches nothing. */
static void read_filter(struct patterns *w, struct catalog_filter *out)
{
    struct err ignored = {0};

    if (!catalog_filter_read(w->items, w->count, w->a, out, &ignored))
        *out = (struct catalog_filter){0};
}

static void fill_asked(struct install_session *s, const struct node *n,
                       struct asked_catalog *x)
{
    const struct install_choice *choice = &s->request->choice;
    struct arena *a = &s->cx->arena;
    struct patterns include, exclude;

    complete(n, a, &x->catalog.origin);
    x->before = find_before(s, n, &x->catalog.origin);
    patterns_init(&include, a);
    patterns_init(&exclude, a);
    fill_include(choice, x->before, folder_of(n), &include,
                 &x->catalog.has_include);
    fill_exclude(choice, x->before, folder_of(n), &exclude);
    x->catalog.is_local = x->before ? x->before->is_local
                                    : x->catalog.origin.scheme == ORIGIN_FILE;
    read_filter(&include, &x->catalog.include);
    read_filter(&exclude, &x->catalog.exclude);
}

const struct catalog **catalogs_of_arguments(struct install_session *s)
{
    struct arena *a = &s->cx->arena;
    const struct catalog **list =
        arena_array(a, s->catalog_count + 1, sizeof(struct catalog *));

    if (!offers_are_filtered(&s->request->choice))
        return list;
    s->asked = arena_array(a, s->catalog_count + 1, sizeof *s->asked);
    for (size_t i = 0; i < s->catalog_count; i++) {
        fill_asked(s, s->catalogs[i], &s->asked[s->asked_count]);
        list[i] = &s->asked[s->asked_count++].catalog;
    }
    return list;
}

static bool has_word(const struct catalog_filter *f, const char *kind,
                     struct str word, struct arena *a)
{
    if (kind)
        word = arena_printf(a, "%s %.*s", kind, STR_ARG(word));
    return str_in(f->words, f->count, word);
}

bool catalogs_have_choice(const struct install_session *s, struct str word)
{
    const struct install_choice *choice = &s->request->choice;
    struct arena *a = &s->cx->arena;
    const struct catalog *c = catalogs_find(s, word);
    struct map used;

    find_used(s, &used);
    if (!c || !map_has(&used, c->origin.key) ||
        (offers_take_all(choice) && (c->has_include || c->exclude.count)))
        return false;
    for (size_t i = 0; i < choice->skip.count; i++)
        if (!has_word(&c->exclude, NULL, choice->skip.items[i], a))
            return false;
    for (size_t k = 0; c->has_include && k < KIND_COUNT; k++) {
        const struct str_list *v = offers_words(choice, kinds[k]);

        for (size_t i = 0; i < v->count; i++)
            if (!has_word(&c->include, doc_kind_name(kinds[k]), v->items[i], a))
                return false;
    }
    return true;
}

/* --- what the manifests say ----------------------------------------------- */

/* Returns the exclusions without those that hide packages chosen now. */
static struct str_list current_excludes(const struct install_session *s,
                                        const struct catalog *c)
{
    struct arena *a = &s->cx->arena;
    struct str *list = arena_array(a, c->exclude.count + 1, sizeof *list);
    size_t n = 0;

    for (size_t i = 0; i < c->exclude.count; i++) {
        struct catalog_filter one;
        struct err ignored = {0};
        bool hides = false;

        if (!catalog_filter_read(&c->exclude.words[i], 1, a, &one, &ignored))
            continue;
        for (size_t k = 0; k < s->choice_count && !hides; k++) {
            const struct choice *choice = &s->choices[k];
            struct str path, name;

            hides = choice->catalog == c && !choice->is_left_out &&
                    catalog_holds(c, choice->node->package.kind,
                                  choice->node->origin, &path, &name) &&
                    catalog_filter_matches(&one, choice->node->package.kind,
                                           path, name);
        }
        if (!hides)
            list[n++] = c->exclude.words[i];
    }
    return (struct str_list){list, n};
}

static bool is_taken(const struct install_session *s, const struct catalog *c)
{
    for (size_t i = 0; i < s->choice_count; i++)
        if (s->choices[i].catalog == c && !s->choices[i].is_left_out)
            return true;
    return false;
}

bool catalogs_write(struct install_session *s, struct err *e)
{
    for (size_t i = 0; i < s->asked_count; i++) {
        const struct asked_catalog *x = &s->asked[i];
        const struct catalog *c = &x->catalog;
        struct project_catalog want = {
            .origin = c->origin.text,
            .include = {c->include.words, c->include.count},
        };

        if (!is_taken(s, c))
            continue;
        want.exclude = current_excludes(s, c);
        if (!catalogs_set(s, c,
                          x->before ? x->before->origin.key : c->origin.key,
                          &want, e))
            return false;
    }
    return true;
}

/* Returns whether an argument changes the catalog of a root so that it selects
 * the package no longer: by --skip, or at another ref. */
static bool is_dropped(const struct install_session *s, const struct root *root)
{
    for (size_t i = 0; root->catalog && i < s->asked_count; i++) {
        const struct asked_catalog *x = &s->asked[i];
        struct str path, name;

        if (x->before == root->catalog && is_taken(s, &x->catalog))
            return !catalog_holds(&x->catalog, root->kind, &root->origin, &path,
                                  &name) ||
                   !catalog_chooses(&x->catalog, root->kind, path, name);
    }
    return false;
}

static void forget_chosen(struct install_session *s, const struct root *root)
{
    struct map_entry *entry = map_entry(&s->chosen, root->origin.key);
    struct chosen *left = NULL, *next;

    for (struct chosen *c = entry->value; c; c = next) {
        next = c->next;
        if (c->catalog != root->catalog) {
            c->next = left;
            left = c;
        }
    }
    entry->value = left;
}

/* Drops replaced roots without an exclusion for each, because the whole catalog
 * is written anew. */
void catalogs_drop_replaced(struct install_session *s)
{
    size_t n = 0;

    for (size_t i = 0; s->asked_count && i < s->root_count; i++)
        if (is_dropped(s, &s->roots[i]))
            forget_chosen(s, &s->roots[i]);
        else
            s->roots[n++] = s->roots[i];
    if (s->asked_count)
        s->root_count = n;
}
