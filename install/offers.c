#include "offers.h"

#include "base/fs.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/mcp_file.h"
#include "mapm/origin.h"

#include "ingest.h"
#include "selection.h"

static const enum doc_kind kinds[] = {DOC_AGENT, DOC_SKILL, DOC_MCP};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

/* --- one offer ------------------------------------------------------------ */

/* Returns the name by which a package of a catalog is chosen; for the root
 * folder, that of the repository. */
struct str offers_name(const struct node *n, const struct fetch_offer *o)
{
    struct str name = path_last(o->path);

    if (o->path.n == 0)
        return n->origin->scheme == ORIGIN_GIT ? origin_name(n->origin)
                                               : path_last(n->origin->path);
    if (o->kind == DOC_MCP && str_ends(name, STR(".json")))
        name.n -= 5;
    return name;
}

bool offers_only_itself(const struct node *n)
{
    return n->offer_count == 0 ||
           (n->offer_count == 1 && str_eq(n->offers[0].path, n->path));
}

void offers_warn_plugin(const struct closure *c, const struct node *n,
                        const char *why)
{
    context_warn(c->cx, "%.*s is not installed as one plugin: %s",
                 STR_ARG(n->origin->text), why);
}

void offers_origin(struct arena *a, const struct node *n,
                   const struct fetch_offer *offer, struct origin *out)
{
    struct err e = {0};

    if (n->origin->scheme == ORIGIN_FILE) {
        struct str text = arena_printf(a, "%.*s/%.*s", STR_ARG(n->origin->text),
                                       STR_ARG(offer->path));

        if (offer->path.n == 0 || !origin_parse(text, NULL, a, out, &e))
            *out = *n->origin; /* valid without the tail, and so valid with
                                * it */
        return;
    }
    if (n->origin->scheme == ORIGIN_OWN) {
        struct str path = fs_join(n->origin->path, offer->path, a);

        if (offer->path.n == 0 ||
            !origin_parse_own(str_join(STR("./"), path, a), a, out, &e))
            *out = *n->origin;
        return;
    }
    if (n->origin->scheme == ORIGIN_INDEX) {
        *out = origin_with_part(n->origin,
                                str_join(STR("skill="), offer->path, a), a);
        out->path = offer->path;
        return;
    }
    origin_complete(n->origin, node_slot(n, a), offer->path, a, out);
}

/* --- what is meant by a word ---------------------------------------------- */

const struct str_list *offers_words(const struct install_choice *c,
                                    enum doc_kind kind)
{
    if (kind == DOC_AGENT)
        return &c->agents;
    return kind == DOC_SKILL ? &c->skills : &c->mcps;
}

/* Returns whether the glob matches the path or one of its parent folders. */
static bool matches_path(struct str glob, struct str path)
{
    for (; path.n; path = path_folder(path))
        if (glob_matches_path(glob, path))
            return true;
    return false;
}

static bool matches(struct str word, const struct node *n,
                    const struct fetch_offer *offer)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str name = offers_name(n, offer);
    bool is_path = str_has_char(word, '/');

    while (str_ends(word, STR("/"))) /* trailing slashes come from shell
                                      * completion */
        word.n--;
    if (is_path && matches_path(word, offer->path))
        return true;
    if (glob_is_pattern(word))
        return glob_matches(word, name);
    if (offer->kind == DOC_MCP &&
        (str_eq(mcp_file_name(word, &a), path_last(offer->path)) ||
         str_eq(word, path_last(offer->path))))
        return true;
    return str_eq(word, name);
}

/* --- what is chosen ------------------------------------------------------- */

/* --skip alone takes all the rest. */
bool offers_take_all(const struct install_choice *c)
{
    return c->all || (c->skip.count &&
                      c->skills.count + c->agents.count + c->mcps.count == 0);
}

bool offers_are_chosen(const struct install_choice *c)
{
    return offers_take_all(c) || c->skills.count || c->agents.count ||
           c->mcps.count;
}

bool offers_are_filtered(const struct install_choice *c)
{
    for (size_t k = 0; k < KIND_COUNT; k++) {
        const struct str_list *v = offers_words(c, kinds[k]);

        for (size_t i = 0; i < v->count; i++)
            if (glob_is_pattern(v->items[i]))
                return true;
    }
    return offers_take_all(c);
}

struct chooser {
    struct install_session *s;
    bool *used[KIND_COUNT], *skipped; /* words that matched something */
    struct map seen;                  /* origin keys of chosen packages */
    struct choice *out;
    size_t count;
};

static bool is_skipped(struct chooser *c, const struct node *n,
                       const struct fetch_offer *offer)
{
    const struct str_list *v = &c->s->request->choice.skip;
    bool skipped = false;

    for (size_t i = 0; i < v->count; i++)
        if (matches(v->items[i], n, offer))
            skipped = c->skipped[i] = true;
    return skipped;
}

/* Returns whether a package is chosen; a word without glob characters names it
 * exactly. */
static bool is_chosen(struct chooser *c, size_t kind, const struct node *n,
                      const struct fetch_offer *offer, bool *exact,
                      bool *matched)
{
    const struct str_list *v =
        offers_words(&c->s->request->choice, kinds[kind]);
    bool chosen = offers_take_all(&c->s->request->choice);

    *exact = false;
    *matched = chosen;
    for (size_t i = 0; i < v->count; i++) {
        if (!matches(v->items[i], n, offer))
            continue;
        c->used[kind][i] = chosen = true;
        *exact |= !glob_is_pattern(v->items[i]);
        *matched |= glob_is_pattern(v->items[i]);
    }
    return chosen;
}

static size_t index_of(enum doc_kind kind)
{
    return kind == DOC_AGENT ? 0 : kind == DOC_SKILL ? 1 : 2;
}

static void choose(struct chooser *c, const struct node *n,
                   const struct catalog *catalog)
{
    struct install_session *s = c->s;

    for (size_t i = 0; i < n->offer_count; i++) {
        const struct fetch_offer *offer = &n->offers[i];
        struct choice *choice = &c->out[c->count];
        struct origin o;
        bool exact, matched;

        if (!is_chosen(c, index_of(offer->kind), n, offer, &exact, &matched) ||
            is_skipped(c, n, offer))
            continue;
        offers_origin(&s->cx->arena, n, offer, &o);
        if (!map_put(&c->seen, o.key, s))
            continue;
        *choice = (struct choice){.name = offers_name(n, offer),
                                  .path = offer->path,
                                  .is_exact = exact,
                                  .catalog = matched ? catalog : NULL};
        choice->node = closure_add(&s->closure, &o, (unsigned)offer->kind);
        choice->node->catalog = choice->catalog;
        if (o.scheme != ORIGIN_GIT)
            choice->node->path = offer->path;
        c->count++;
    }
}

static bool not_offered(struct node *const *catalogs, size_t count,
                        enum doc_kind kind, struct str name, struct err *e)
{
    struct text_nearest near = {0};

    for (size_t k = 0; k < count && !glob_is_pattern(name); k++)
        for (size_t i = 0; i < catalogs[k]->offer_count; i++) {
            const struct fetch_offer *o = &catalogs[k]->offers[i];

            if (o->kind == kind)
                text_nearest_add(&near, name, offers_name(catalogs[k], o), 3);
        }
    err_set(e, ERR_NOT_FOUND, "%.*s%s no %s %s \"%.*s\"",
            STR_ARG(catalogs[0]->origin->text),
            count > 1 ? " and the others offer" : " offers",
            doc_kind_name(kind), glob_is_pattern(name) ? "that fits" : "named",
            STR_ARG(name));
    if (near.count)
        return err_hint(e, "did you mean %.*s?", STR_ARG(near.found[0]));
    return err_hint(e, "without --%s it lists what it offers",
                    doc_kind_name(kind));
}

static bool is_folder(struct node *const *catalogs, size_t count,
                      struct str word)
{
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < catalogs[k]->offer_count; i++)
            if (matches_path(word, catalogs[k]->offers[i].path))
                return true;
    return false;
}

static void warn_unused(const struct chooser *c, struct node *const *catalogs,
                        size_t count, struct str word)
{
    if (is_folder(catalogs, count, word))
        context_warn(c->s->cx,
                     "--skip %.*s: nothing that is chosen has this name; the "
                     "folder is --skip %.*s/",
                     STR_ARG(word), STR_ARG(word));
    else
        context_warn(c->s->cx, "--skip %.*s: nothing that is chosen fits",
                     STR_ARG(word));
}

/* Fails for names that no catalog contains. */
static bool check_used(const struct chooser *c, struct node *const *catalogs,
                       size_t count, struct err *e)
{
    const struct install_choice *choice = &c->s->request->choice;
    const struct str_list *skip = &choice->skip;

    for (size_t k = 0; k < KIND_COUNT; k++) {
        const struct str_list *v = offers_words(choice, kinds[k]);

        for (size_t i = 0; i < v->count; i++)
            if (!c->used[k][i])
                return not_offered(catalogs, count, kinds[k], v->items[i], e);
    }
    for (size_t i = 0; i < skip->count; i++)
        if (!c->skipped[i])
            warn_unused(c, catalogs, count, skip->items[i]);
    return true;
}

bool offers_choose(struct install_session *s, struct node *const *catalogs,
                   const struct catalog *const *roots, size_t count,
                   struct choice *out, size_t *chosen, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct chooser c = {.s = s, .out = out};

    map_init(&c.seen, a);
    c.skipped = arena_array(a, s->request->choice.skip.count + 1, 1);
    for (size_t k = 0; k < KIND_COUNT; k++)
        c.used[k] = arena_array(
            a, offers_words(&s->request->choice, kinds[k])->count + 1, 1);
    for (size_t i = 0; i < count; i++)
        choose(&c, catalogs[i], roots[i]);
    *chosen = c.count;
    return count == 0 || check_used(&c, catalogs, count, e);
}

/* --- as values ------------------------------------------------------------ */

struct install_catalog *offers_list(struct install_session *s, size_t *count)
{
    struct arena *a = &s->cx->arena;
    struct install_catalog *out =
        arena_array(a, s->catalog_count + 1, sizeof *out);

    for (size_t i = 0; i < s->catalog_count; i++)
        offers_fill(&s->closure, s->catalogs[i], s->plan.is_offer, &out[i]);
    *count = s->catalog_count;
    return out;
}
