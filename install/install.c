#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/name.h"
#include "mapm/origin.h"
#include "mapm/plugin_market.h"
#include "mapm/project.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalogs.h"
#include "choose_clients.h"
#include "ingest.h"
#include "offers.h"
#include "offline.h"
#include "plugins.h"
#include "proof.h"
#include "selection.h"
#include "self_server.h"
#include "versions.h"

#define ANY_KIND    (DOC_AGENT | DOC_SKILL | DOC_MCP)
#define WITH_PLUGIN (ANY_KIND | DOC_PLUGIN)

/* Reports committed file: origins, which work on this machine only (M15). */
static bool check_layer_roots(struct install_session *s, struct err *e)
{
    const struct project *p = &s->layer.project;
    const char *in = s->layer.member.n ? "/" : "";

    for (size_t i = 0; i < p->root_count; i++) {
        if (p->roots[i].origin.scheme != ORIGIN_FILE)
            continue;
        if (context_is_ci()) {
            err_set(e, ERR_ORIGIN,
                    "%.*s%smapm.yaml:%u: %.*s is a folder of one machine",
                    STR_ARG(s->layer.member), in, p->roots[i].line,
                    STR_ARG(p->roots[i].origin.text));
            return err_hint(e, "move it to mapm.local.yaml");
        }
        context_warn(s->cx,
                     "%.*s%smapm.yaml:%u: a file: origin belongs in "
                     "mapm.local.yaml, which is not committed",
                     STR_ARG(s->layer.member), in, p->roots[i].line);
    }
    return true;
}

static bool check_committed_roots(struct install_session *s, struct err *e)
{
    bool ok = true;

    for (size_t i = 0; ok && i < s->part_count; i++) {
        session_go(s, i);
        ok = check_layer_roots(s, e);
    }
    session_go_home(s);
    return ok;
}

/* --- origins on the command line ------------------------------------------ */

/* Returns whether `o` is a short form with the repository and path of
 * `root`. */
static bool is_short_of(const struct origin *o, const struct origin *root,
                        struct arena *a)
{
    if (!o->is_short || root->scheme != ORIGIN_GIT ||
        !str_eq(origin_repository(root, a), origin_repository(o, a)))
        return false;
    if (o->ref.n && o->path.n)
        return str_eq(root->rest, arena_printf(a, "%.*s/%.*s", STR_ARG(o->ref),
                                               STR_ARG(o->path)));
    if (o->ref.n)
        return str_eq(root->rest, o->ref);
    return o->path.n && str_ends(root->rest, str_join(STR("/"), o->path, a));
}

/* With --locked, the argument must be a root already, which `o` is set to. */
static bool find_locked_argument(const struct install_session *s,
                                 struct origin *o, struct err *e)
{
    for (size_t i = 0; i < s->root_count; i++) {
        const struct origin *root = &s->roots[i].origin;

        if (str_eq(root->key, o->key) || is_short_of(o, root, &s->cx->arena)) {
            *o = *root;
            return true;
        }
    }
    err_set(e, ERR_LOCKED, "%.*s is not a root of mapm.yaml yet",
            STR_ARG(o->text));
    return err_hint(e, "--locked adds nothing: install it without");
}

/* Returns whether the argument is a name in the lock and a ref, such as
 * "pdf@^2". */
static bool is_name_at(struct str text)
{
    size_t at = str_find_char(text, '@');
    struct str name = str_slice(text, 0, at);

    return at != SIZE_MAX && at > 0 && !str_has_char(name, '/') &&
           !str_has_char(text, ':');
}

/* Returns the path in the repository; without a proof, the ref is assumed to
 * have one segment. */
static struct str path_of(const struct install_session *s,
                          const struct lock_entry *entry)
{
    const struct origin *o = layer_origin(&s->layer, entry);
    struct str path;

    return proof_find(&s->layer, s->store, entry, o, &path)
               ? path
               : origin_slot_path(o);
}

static bool is_root(const struct install_session *s,
                    const struct lock_entry *entry)
{
    for (size_t i = 0; i < s->root_count; i++)
        if (map_find(&s->layer.by_origin, s->roots[i].origin.key) == entry)
            return true;
    return false;
}

/* Parses NAME@REF and returns the origin of the root at that ref. */
static bool parse_name_at(const struct install_session *s, struct str text,
                          struct origin *out, struct err *e)
{
    struct arena *a = &s->cx->arena;
    size_t at = str_find_char(text, '@');
    struct str name = str_slice(text, 0, at);
    const struct lock_entry *entry;
    const struct origin *o;

    if (!layer_resolve_names(&s->layer, &name, 1, a, &entry, e))
        return err_hint(e, "NAME@REF moves a root to another ref; a new "
                           "package is owner/repo[/path][@ref]");
    o = layer_origin(&s->layer, entry);
    if (!is_root(s, entry)) {
        err_set(e, ERR_USAGE, "%.*s is not a root of mapm.yaml", STR_ARG(name));
        return err_hint(e, "what needs it decides on its ref: mapm why %.*s",
                        STR_ARG(name));
    }
    if (o->scheme != ORIGIN_GIT)
        return err_set(e, ERR_USAGE, "%.*s is %s, without refs", STR_ARG(name),
                       o->scheme == ORIGIN_INDEX ? "a skill of an index"
                                                 : "a folder");
    return origin_at_ref(o, path_of(s, entry), str_from_index(text, at + 1),
                         text, a, out, e);
}

bool session_parse_origin(struct context *cx, const struct layer *l,
                          struct str text, struct origin *out, struct err *e)
{
    if (!origin_parse_argument(text, cx->cwd, cx->home, &l->rules, &cx->arena,
                               out, e))
        return false;
    if (out->has_left_user_out)
        context_note(cx, "the user name is left out of %.*s",
                     STR_ARG(out->text));
    if (cx->is_verbose && out->left_out.n)
        context_note(cx, "\"%.*s\" is left out of %.*s", STR_ARG(out->left_out),
                     STR_ARG(out->text));
    return true;
}

/* Returns whether the argument is a root of the bundle. A plugin of a
 * marketplace has a part there, which users do not type. */
static bool is_of_bundle(const struct install_session *s, struct str text)
{
    const struct lock *lock = &s->layer.lock;

    for (size_t i = 0; s->has_given_lock && i < lock->count; i++)
        if (str_eq(lock->entries[i].origin, text))
            return true;
    return false;
}

static bool parse_argument(const struct install_session *s, struct str text,
                           struct origin *out, struct err *e)
{
    if (is_of_bundle(s, text))
        return origin_parse_part(text, &s->layer.rules, &s->cx->arena, out, e);
    return is_name_at(text)
               ? parse_name_at(s, text, out, e)
               : session_parse_origin(s->cx, &s->layer, text, out, e);
}

static bool is_pattern(struct str word)
{
    return str_has_char(word, '*') || str_has_char(word, '?') ||
           str_has_char(word, '[');
}

/* --as names one package: the only origin, or the only plugin of one. */
static bool names_one(const struct install_request *r)
{
    const struct str_list *plugins = &r->choice.plugins;

    return r->arguments.count == 1 && !offers_are_chosen(&r->choice) &&
           (plugins->count == 0 ||
            (plugins->count == 1 && !is_pattern(plugins->items[0])));
}

static bool check_alias(const struct install_session *s, struct err *e)
{
    const struct install_request *r = s->request;

    if (!r->as.n || (names_one(r) && !r->locked))
        return true;
    err_set(e, ERR_USAGE,
            r->locked ? "--as changes mapm.yaml, which --locked "
                        "does not"
                      : "--as gives one package its name");
    return err_hint(e, "usage: mapm install ORIGIN --as NAME");
}

/* --without changes one plugin. */
static bool check_without(const struct install_session *s, struct err *e)
{
    const struct install_request *r = s->request;
    const struct str_list *plugins = &r->choice.plugins;

    if (r->without.count == 0)
        return true;
    for (size_t i = 0; i < r->without.count; i++)
        if (!project_part_is_valid(r->without.items[i])) {
            err_set(e, ERR_USAGE, "--without: not a part of a plugin: \"%.*s\"",
                    STR_ARG(r->without.items[i]));
            return err_hint(e, "write its kind and its name: --without "
                               "'mcp slack'");
        }
    if (r->arguments.count == 1 && !r->locked &&
        !offers_are_chosen(&r->choice) && plugins->count <= 1 &&
        !(plugins->count && is_pattern(plugins->items[0])))
        return true;
    err_set(e, ERR_USAGE,
            r->locked ? "--without changes mapm.yaml, which --locked does not"
                      : "--without leaves out parts of one plugin");
    return err_hint(e, "usage: mapm install ORIGIN --without 'skill NAME'");
}

static bool check_without_of(const struct install_session *s,
                             const struct node *n, struct err *e)
{
    if (!s->request->without.count || n->failed ||
        n->package.kind == DOC_PLUGIN)
        return true;
    return err_set(e, ERR_USAGE, "--without: %.*s is %s, not a plugin",
                   STR_ARG(n->origin->text),
                   n->offer_count ? "a catalog"
                                  : doc_kind_name(n->package.kind));
}

static void take_without(const struct install_session *s, struct node *n)
{
    const struct lock_entry *entry;

    n->has_without = s->request->without.count > 0;
    if (n->has_without)
        node_make_rare(n, &s->cx->arena)->without =
            project_sort_parts(s->request->without, &s->cx->arena);
    entry = s->has_given_lock ? map_find(&s->layer.by_origin, n->origin->key)
                              : NULL;
    if (entry) /* a bundle contains no mapm.yaml */
        node_make_rare(n, &s->cx->arena)->without = entry->without;
}

/* Checks the name of --as, now that the kind of the package is known. */
static bool check_alias_of(const struct install_session *s,
                           const struct node *n, struct err *e)
{
    if (!s->request->as.n || n->failed)
        return true;
    if (n->offer_count) {
        err_set(e, ERR_USAGE,
                "%.*s is a catalog: --as gives one package its "
                "name",
                STR_ARG(n->origin->text));
        return err_hint(e, "name the folder of a package in it");
    }
    return name_fqn_is_valid(n->package.kind, s->request->as) ||
           err_set(e, ERR_NAME, "not a name of %s %s: %.*s",
                   n->package.kind == DOC_SKILL ? "a" : "an",
                   doc_kind_name(n->package.kind), STR_ARG(s->request->as));
}

/* Converts a folder of the workspace to a relative origin for everyone who has
 * the workspace, unless it is written with "file:". The workspace itself is a
 * catalog, or a package that is copied. */
static bool make_own(const struct install_session *s, struct str text,
                     struct origin *o, struct err *e)
{
    struct str top = s->layer.path;
    struct arena *a = &s->cx->arena;

    if (o->scheme != ORIGIN_FILE || s->layer.is_global ||
        str_starts(text, STR("file:")) || !fs_path_is_within(o->path, top) ||
        (o->path.n == top.n &&
         access(fs_join(top, STR("SKILL.md"), a).p, F_OK) == 0))
        return true;
    top = s->layer.root; /* base of paths in the lock */
    return origin_parse_own(
        arena_printf(a, "./%.*s", STR_ARG(str_from_index(o->path, top.n + 1))),
        a, o, e);
}

static bool check_own_alias(const struct install_session *s,
                            const struct origin *o, struct err *e)
{
    if (!s->request->as.n || o->scheme != ORIGIN_OWN)
        return true;
    err_set(e, ERR_USAGE, "--as: %.*s is of this workspace and linked",
            STR_ARG(o->text));
    return err_hint(e, "change the name in the package itself");
}

static bool matches_any(const struct str_list *words, struct str name,
                        struct arena *a)
{
    for (size_t i = 0; i < words->count; i++)
        if (str_eq(words->items[i], name) ||
            (is_pattern(words->items[i]) &&
             fnmatch(str_dup0(words->items[i], a), str_dup0(name, a), 0) == 0))
            return true;
    return false;
}

/* Marks the last one as named exactly, with the name of --as. */
static void add_exact(struct install_session *s, struct node **wanted,
                      size_t *count)
{
    struct node *n = wanted[(*count)++];

    n->is_exact = true;
    take_without(s, n);
    if (s->request->as.n)
        n->alias = s->request->as;
    closure_take_alias(n);
}

static void add_plugin(struct install_session *s, const struct origin *o,
                       struct str name, struct node **wanted, size_t *count)
{
    struct arena *a = &s->cx->arena;
    struct origin entry = origin_of_entry(o, name, a);

    wanted[*count] = closure_add(&s->closure, &entry, DOC_PLUGIN);
    add_exact(s, wanted, count);
}

/* Adds entries of the marketplace at `o`: names directly, patterns by its
 * list. */
static bool add_plugins(struct install_session *s, const struct origin *o,
                        struct node **wanted, size_t *count, struct err *e)
{
    const struct str_list *words = &s->request->choice.plugins;
    struct arena *a = &s->cx->arena;
    struct origin place = origin_with_part(o, STR("market"), a);
    const struct market *m;
    struct node *market;
    bool any = false;

    for (size_t i = 0; i < words->count; i++)
        any |= is_pattern(words->items[i]);
    if (!any) {
        for (size_t i = 0; i < words->count; i++)
            add_plugin(s, o, words->items[i], wanted, count);
        return true;
    }
    market = closure_add(&s->closure, &place, DOC_MARKET);
    if (!closure_gather(&s->closure, e))
        return false;
    if (market->failed) {
        *e = *market->failed;
        return false;
    }
    m = node_rare(market)->market;
    any = false;
    for (size_t i = 0; i < m->count; i++)
        if (matches_any(words, m->entries[i].name, a)) {
            add_plugin(s, o, m->entries[i].name, wanted, count);
            wanted[*count - 1]->is_exact = false;
            any = true;
        }
    if (any)
        return true;
    err_set(e, ERR_NOT_FOUND, "%.*s offers no plugin that fits \"%.*s\"",
            STR_ARG(o->text), STR_ARG(words->items[0]));
    market_hint_unnamed(m, e);
    return false;
}

/* Adds a folder of unknown kind. A plugin that is a root already, or that a
 * bundle contains, is used as that root. */
static struct node *add_folder(struct install_session *s,
                               const struct origin *o)
{
    struct origin plugin = origin_with_part(o, STR("plugin"), &s->cx->arena);

    if (o->scheme == ORIGIN_INDEX)
        return closure_add(&s->closure, o, DOC_SKILL);
    if (closure_find(&s->closure, plugin.key) ||
        (s->has_given_lock && map_has(&s->layer.by_origin, plugin.key)))
        return closure_add(&s->closure, &plugin, DOC_PLUGIN);
    return closure_add(&s->closure, o, WITH_PLUGIN);
}

static bool is_index(const struct origin *o)
{
    return o->scheme == ORIGIN_INDEX && o->part.n == 0;
}

static bool add_arguments(struct install_session *s, struct node **wanted,
                          size_t *count, struct err *e)
{
    if (!check_alias(s, e) || !check_without(s, e))
        return false;
    for (size_t i = 0; i < s->request->arguments.count; i++) {
        struct origin o;

        struct str text = s->request->arguments.items[i];

        /* its packages are roots already */
        if ((s->locked || s->cx->is_offline) &&
            offers_are_chosen(&s->request->choice) &&
            catalogs_have_choice(s, text)) {
            s->has_locked_choice = true;
            continue;
        }
        if (!parse_argument(s, text, &o, e) || !make_own(s, text, &o, e) ||
            !check_own_alias(s, &o, e) ||
            (s->locked && !find_locked_argument(s, &o, e)))
            return false;
        closure_add_checkout(&s->closure, &o);
        if (s->request->choice.plugins.count && o.scheme == ORIGIN_INDEX)
            return err_set(e, ERR_USAGE,
                           "--plugin: %.*s is an index, which offers skills",
                           STR_ARG(text));
        if (s->request->choice.plugins.count && !s->locked) {
            if (!add_plugins(s, &o, wanted, count, e))
                return false;
            if (!offers_are_chosen(&s->request->choice))
                continue;
        }
        if ((offers_are_chosen(&s->request->choice) && !s->locked) ||
            s->request->lists || is_index(&o)) {
            wanted[(*count)++] = closure_add_catalog(&s->closure, &o);
            continue;
        }
        wanted[*count] = add_folder(s, &o);
        add_exact(s, wanted, count);
    }
    return true;
}

static bool wrap_wanted(const struct install_session *s, const struct node *n,
                        struct err *e)
{
    return err_wrap(e, "cannot %s %.*s",
                    s->request->compares ? "compare with" : "install",
                    STR_ARG(n->origin->text));
}

/* Returns whether the reason names the origin itself, so that "cannot install
 * ORIGIN" would repeat it. */
static bool names_itself(const struct node *n)
{
    size_t scheme = n->origin->scheme == ORIGIN_FILE ? strlen("file:") : 0;

    return str_starts(str_cstr(err_prev(n->failed, NULL)), n->origin->text) ||
           str_starts(str_cstr(err_prev(n->failed, NULL)),
                      str_from_index(n->origin->text, scheme));
}

/* Reports every failed package, not only the first one. */
static bool check_wanted(struct install_session *s, struct node *const *wanted,
                         size_t count, struct err *e)
{
    size_t failed = 0;
    bool is_chosen = false; /* the first package chosen by an option */

    for (size_t i = 0; i < count; i++) {
        const struct node *n = wanted[i];
        struct err why;

        if (!n->failed || failed++ >= ERROR_MAX_LINES)
            continue;
        why = *n->failed;
        if (!names_itself(n))
            wrap_wanted(s, n, &why);
        if (failed == 1) {
            err_clear(e);
            is_chosen =
                !n->is_catalog && !n->is_exact && !session_is_network(why.code);
        }
        err_also_err(e, &why);
        /* a marketplace may have plugins alone */
        if (n->is_exact && n->path.n == 0 && why.code == ERR_PATH &&
            !e->hint[0] && offers_are_chosen(&s->request->choice))
            err_hint(e,
                     "mapm install %.*s lists what it offers; plugins are "
                     "chosen with --plugin",
                     STR_ARG(n->origin->text));
    }
    if (failed > ERROR_MAX_LINES)
        err_also(e, "\xe2\x80\xa6 and %zu more", failed - ERROR_MAX_LINES);
    if (is_chosen && !e->hint[0] && s->request->choice.all)
        err_hint(e, "choose what to take of it with --skill, --agent and "
                    "--mcp");
    return failed == 0;
}

/* --- what is taken -------------------------------------------------------- */

/* Fails the command for packages that were named exactly and are invalid. */
static bool check_exact(struct install_session *s, const struct choice *choices,
                        size_t count, struct err *e)
{
    struct node **failed =
        arena_array(&s->cx->arena, count + 1, sizeof(struct node *));
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct choice *c = &choices[i];

        if (!c->is_exact || !c->is_left_out)
            continue;
        if (!c->node->failed) {
            struct err why = {0};

            err_set(&why, err_code_find(c->code.p, c->code.n), "%.*s",
                    STR_ARG(c->message));
            for (size_t k = c->chain_count; k-- > 1;)
                err_wrap(&why, "%.*s is needed",
                         STR_ARG(c->chain[k]->origin->text));
            node_fail(&s->closure, c->node, &why);
        }
        failed[n++] = c->node;
    }
    return check_wanted(s, failed, n, e);
}

/* Fails the command on network errors, which do not make a package invalid. */
static bool check_network(struct install_session *s, struct err *e)
{
    for (size_t i = 0; i < s->closure.queued; i++) {
        const struct node *n = s->closure.queue[i];

        if (!n->failed || (!session_is_network(n->failed->code) &&
                           n->failed->code != ERR_DAMAGED))
            continue;
        *e = *n->failed;
        return !names_itself(n) && wrap_wanted(s, n, e);
    }
    return true;
}

static bool has_ranges(struct install_session *s)
{
    for (size_t i = 0; i < s->closure.queued; i++)
        if (origin_range(node_source(s->closure.queue[i]), &s->cx->arena).n)
            return true;
    return false;
}

/* Finds the nodes of the choices, which change with the version of a
 * package. */
static void find_choices(struct install_session *s)
{
    for (size_t i = 0; i < s->choice_count; i++) {
        struct node *n =
            closure_find(&s->closure, s->choices[i].node->origin->key);

        if (n)
            s->choices[i].node = n;
    }
}

/* Chooses versions first, because ranges may conflict until then. */
static bool resolve_choices(struct install_session *s, struct err *e)
{
    bool is_resolved = false;

    while (!is_resolved) {
        if (!versions_resolve_choices(s, &is_resolved, e) ||
            (!is_resolved && !closure_gather(&s->closure, e)))
            return false;
        find_choices(s);
    }
    return true;
}

/* Names the packages of a catalog that have equal names. */
static bool find_plugins(struct install_session *s, struct err *e)
{
    struct node **nodes =
        arena_array(&s->cx->arena, s->choice_count + s->root_count + 1,
                    sizeof(struct node *));
    size_t count = 0;

    for (size_t i = 0; i < s->choice_count; i++)
        nodes[count++] = s->choices[i].node;
    for (size_t i = 0; i < s->root_count; i++) {
        nodes[count] = closure_find(&s->closure, s->roots[i].origin.key);
        count += nodes[count] != NULL;
    }
    return selection_find_plugins(s, nodes, count, e);
}

/* Skips invalid packages and fetches the files of the others, which may reveal
 * further invalid ones. */
bool session_take_valid(struct install_session *s, struct err *e)
{
    bool any = true, is_resolved = false;

    while (any) {
        if (!check_network(s, e))
            return false;
        is_resolved |= !has_ranges(s);
        plugins_resolve(s);
        if (!find_plugins(s, e))
            return false;
        selection_evaluate(s, s->choices, s->choice_count, is_resolved);
        s->closure.options.outline = false;
        if (!check_exact(s, s->choices, s->choice_count, e) ||
            !selection_want_files(s, s->choices, s->choice_count, &any, e) ||
            !closure_gather(&s->closure, e) ||
            (!any && !selection_check_places(s, &any, e)))
            return false;
        if (any || is_resolved)
            continue;
        if (!resolve_choices(s, e))
            return false;
        any = is_resolved = true;
    }
    return true;
}

/* Returns whether a pattern chose the plugin, which is then handled like a
 * package of a catalog. */
static bool is_plugin_choice(const struct install_session *s,
                             const struct node *n)
{
    return node_has_entry(n) && !n->is_exact && !s->request->choice.strict;
}

static void choose_plugin(struct install_session *s, struct node *n)
{
    s->choices[s->choice_count++] = (struct choice){
        .node = n,
        .name = origin_entry_name(n->origin),
    };
}

/* Adds the chosen packages of catalogs and patterns, and all other
 * arguments. */
static bool take_choice(struct install_session *s, struct node *const *asked,
                        size_t asked_count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct node **wanted;
    size_t count = 0, room = asked_count + catalogs_offered(s) + 1;
    bool filtered = (offers_are_filtered(&s->request->choice) &&
                     !s->request->choice.strict) ||
                    s->expansion_count;

    for (size_t i = 0; i < asked_count; i++)
        room += asked[i]->offer_count;
    wanted = arena_array(a, room, sizeof *wanted);
    s->choices = arena_array(a, room, sizeof *s->choices);
    for (size_t i = 0; i < asked_count; i++)
        if (!is_plugin_choice(s, asked[i]) &&
            (!asked[i]->offer_count || asked[i]->failed))
            wanted[count++] = asked[i];
    if (!offers_choose(s, s->catalogs, catalogs_of_arguments(s),
                       s->catalog_count, s->choices, &s->choice_count, e))
        return false;
    for (size_t i = 0; i < asked_count; i++)
        if (is_plugin_choice(s, asked[i])) {
            choose_plugin(s, asked[i]);
            filtered = true;
        }
    if (!catalogs_choose(s, false, e))
        return false;
    s->closure.options.outline = filtered;
    if (!closure_gather(&s->closure, e) || !check_wanted(s, wanted, count, e))
        return false;
    catalogs_drop_superseded(s);
    if (filtered && !session_take_valid(s, e))
        return false;
    catalogs_note(s);
    for (size_t i = 0; i < s->choice_count; i++)
        if (!s->choices[i].is_left_out)
            wanted[count++] = s->choices[i].node;
    if (!check_wanted(s, wanted, count, e))
        return false;
    catalogs_drop_replaced(s);
    return roots_take(s, wanted, count, e) && catalogs_write(s, e);
}

/* Resolves arguments that turned out to be packages. */
static bool find_packages(struct install_session *s, struct node **asked,
                          size_t count, struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        if (!asked[i]->is_catalog || asked[i]->failed ||
            !offers_only_itself(asked[i]))
            continue;
        asked[i] = closure_add(&s->closure, asked[i]->origin, ANY_KIND);
        asked[i]->is_exact = true;
    }
    return closure_gather(&s->closure, e);
}

/* Returns whether a folder with a manifest cannot be installed as a plugin; it
 * may contain packages nevertheless. */
static bool is_no_plugin(const struct node *n)
{
    return n->is_exact && (n->kinds & DOC_PLUGIN) && !node_has_entry(n) &&
           !n->has_without && n->failed && !session_is_network(n->failed->code);
}

/* Lists such folders as catalogs if they contain packages. */
static bool find_catalogs(struct install_session *s, struct node **asked,
                          size_t count, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct node **catalogs = arena_array(a, count + 1, sizeof *catalogs);
    bool any = false;

    if (s->locked || s->request->as.n)
        return true;
    plugins_resolve(s);
    for (size_t i = 0; i < count; i++) {
        struct origin o;

        if (!is_no_plugin(asked[i]))
            continue;
        o = origin_with_part(asked[i]->origin, STR(""), a);
        catalogs[i] = closure_add_catalog(&s->closure, &o);
        any = true;
    }
    if (any && !closure_gather(&s->closure, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (catalogs[i] && !catalogs[i]->failed &&
            !offers_only_itself(catalogs[i])) {
            offers_warn_plugin(&s->closure, catalogs[i],
                               err_prev(asked[i]->failed, NULL));
            asked[i] = catalogs[i];
        }
    return true;
}

static bool may_list(const struct install_session *s)
{
    return !offers_are_chosen(&s->request->choice) &&
           s->request->choice.plugins.count == 0 && !s->locked;
}

static bool check_list(const struct install_session *s, struct err *e)
{
    if (!s->request->lists ||
        (s->request->arguments.count && may_list(s) && !s->request->as.n))
        return true;
    err_set(e, ERR_USAGE,
            "--list names what an origin offers, and chooses "
            "nothing");
    return err_hint(e, "usage: mapm install --list owner/repo");
}

/* Returns whether the catalog has a marketplace but no packages. */
static bool is_market(const struct node *n)
{
    return n->has_market && !n->is_ready;
}

static bool take_arguments(struct install_session *s, struct err *e)
{
    struct context *cx = s->cx;
    size_t room =
        s->request->arguments.count * (s->request->choice.plugins.count
                                           ? MARKETPLACE_MAX_ENTRIES + 1u
                                           : 1u) +
        1;
    struct node **asked = arena_array(&cx->arena, room, sizeof *asked);
    size_t asked_count = 0, failed = 0;

    s->catalogs = arena_array(&cx->arena, room, sizeof *s->catalogs);
    if (!add_arguments(s, asked, &asked_count, e) ||
        !closure_gather(&s->closure, e) ||
        (!s->request->lists && !find_packages(s, asked, asked_count, e)) ||
        !find_catalogs(s, asked, asked_count, e) ||
        (may_list(s) &&
         !offers_find_markets(&s->closure, asked, asked_count, e)))
        return false;
    for (size_t i = 0; i < asked_count; i++) {
        if (!check_alias_of(s, asked[i], e) ||
            !check_without_of(s, asked[i], e))
            return false;
        failed += asked[i]->failed && !is_plugin_choice(s, asked[i]);
        if ((asked[i]->offer_count || is_market(asked[i])) && !asked[i]->failed)
            s->catalogs[s->catalog_count++] = asked[i];
    }
    if (offers_are_chosen(&s->request->choice) && s->catalog_count == 0 &&
        failed == 0 && !s->has_locked_choice) {
        err_set(e, ERR_USAGE,
                "--all, --skill, --agent, --mcp and --skip choose from a "
                "catalog, and none is named");
        return err_hint(e, "usage: mapm install owner/repo --skill NAME");
    }
    s->plan.is_offer = s->catalog_count && failed == 0 && may_list(s);
    if (s->plan.is_offer)
        return offers_read(&s->closure, s->catalogs, s->catalog_count, e) &&
               session_publish(s, e);
    return take_choice(s, asked, asked_count, e);
}

/* Adds new catalogs of members that the command does not apply to. */
static bool take_new_catalogs(struct install_session *s, struct err *e)
{
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (i != s->layers.here &&
            (!catalogs_ask_new(s, e) ||
             (s->expansion_count && (!closure_gather(&s->closure, e) ||
                                     !take_choice(s, NULL, 0, e)))))
            return s->layer.member.n &&
                   err_wrap(e, "member %.*s", STR_ARG(s->layer.member));
    }
    session_go_home(s);
    return true;
}

/* Reports a missing lock once, instead of for every root. */
static bool check_lock_there(const struct install_session *s, struct err *e)
{
    size_t count = 0;

    for (size_t i = 0; i < s->layers.count; i++)
        count += s->layers.parts[i].project.root_count +
                 s->layers.parts[i].project.catalog_count;
    if (s->layer.lock_text.n || count == 0)
        return true;
    err_set(e, ERR_LOCKED,
            "%s installs what mapm.lock holds, and there is none",
            s->request->locked ? "--locked" : "CI");
    return err_hint(e, "run mapm install%s and commit mapm.lock",
                    s->request->locked ? " without --locked" : "");
}

/* mapm diff NAME@REF with the ref that is locked compares with what the ref
 * names now, as an update does. */
static bool is_compared(void *ctx, const struct lock_entry *entry)
{
    const struct str_list *given =
        &((const struct install_session *)ctx)->request->arguments;

    return str_in(given->items, given->count, entry->origin);
}

bool install_packages(struct install_session *s, struct err *e)
{
    struct context *cx = s->cx;
    struct closure_options o = {
        .locked = s->request->locked ||
                  (context_is_ci() && s->request->arguments.count == 0),
        .offline = cx->is_offline,
        .no_self = s->request->no_self,
        .allow_hidden = s->request->allow_hidden,
        .describes = offers_take_all(&s->request->choice),
        .forget_files = s->request->dry_run,
        .needs_trees = s->request->with_proofs,
        .assume_present =
            s->request->arguments.count == 0 && !s->layer.has_conflict,
        .ahead = &s->ahead,
        .on_fetched = session_stage_early,
        .on_fetched_ctx = s,
        .on_idle = session_find_on_machine,
        .on_idle_ctx = s,
        .is_moving = s->request->compares ? is_compared : NULL,
        .moving_ctx = s,
    };

    s->locked = o.locked;
    if (!check_list(s, e) || (s->locked && !check_lock_there(s, e)))
        return false;
    if (s->request->with_server && !self_server_add(s, e))
        return false;
    if ((s->request->arguments.count == 0 &&
         !offers_are_chosen(&s->request->choice) && !s->request->with_server &&
         !layer_check_there(&s->layer, cx, e)) ||
        !check_committed_roots(s, e))
        return false;
    if (s->request->vendored &&
        !offline_read_vendor(s, s->request->vendor, &s->bundle, e))
        return false;
    if (s->bundle >= 0) { /* never contacts a host */
        o.offline = false;
        o.bundle = &s->bundle;
        o.bundle_path = s->request->bundle;
    }
    closure_init(&s->closure, cx, &s->layers.whole, s->store, &o);
    /* include the previous roots */
    for (size_t i = 0; i < s->root_count; i++)
        closure_add_root(&s->closure, &s->roots[i], false);
    return take_new_catalogs(s, e) && catalogs_ask_new(s, e) &&
           take_arguments(s, e) && (s->plan.is_offer || session_resolve(s, e));
}
