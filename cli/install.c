#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_server.h"
#include "sync.h"

#define ANY_KIND (DOC_AGENT | DOC_SKILL | DOC_MCP)

/* CI systems set it; some set it to "false". */
static bool is_ci(void)
{
    struct str ci = str_from(getenv("CI"));

    return ci.n && !str_is(ci, "false") && !str_is(ci, "0");
}

/* M15: a committed file: origin works on this machine alone. */
static bool check_committed_roots(struct sync *s, struct err *e)
{
    const struct project *p = &s->layer.project;

    for (size_t i = 0; i < p->root_count; i++) {
        if (p->roots[i].origin.scheme != ORIGIN_FILE)
            continue;
        if (is_ci()) {
            err_set(e, ERR_ORIGIN,
                    "mapm.yaml:%u: %.*s is a folder of one machine",
                    p->roots[i].line, STR_ARG(p->roots[i].origin.text));
            return err_hint(e, "move it to mapm.local.yaml");
        }
        term_warn(&s->inv->term,
                  "mapm.yaml:%u: a file: origin belongs in mapm.local.yaml, "
                  "which is not committed",
                  p->roots[i].line);
    }
    return true;
}

/* --- what a catalog offers ------------------------------------------------ */

/* The name by which an offer is chosen. */
static struct str offer_name(const struct fetch_offer *o)
{
    struct str name = path_last(o->path);

    if (o->kind == DOC_MCP && str_ends(name, STR(".json")))
        name.n -= 5;
    return name;
}

static void complete_offer(struct invocation *inv, const struct node *n,
                           const struct fetch_offer *offer, struct origin *out)
{
    struct arena *a = &inv->arena;
    struct err e = {0};

    if (n->origin.scheme == ORIGIN_FILE) {
        struct str text = arena_printf(a, "%.*s/%.*s", STR_ARG(n->origin.text),
                                       STR_ARG(offer->path));

        if (!origin_parse(text, NULL, a, out, &e))
            *out = n->origin; /* it was fine without the tail, so it is now */
        return;
    }
    origin_complete(&n->origin, n->ref.n ? n->ref : n->commit, offer->path, a,
                    out);
}

static bool is_chosen(const struct invocation *inv, enum option_id id,
                      const struct fetch_offer *offer, bool *used)
{
    const struct values *v = &inv->given[id];
    struct str name = offer_name(offer);
    bool chosen = false;

    for (size_t i = 0; i < v->count; i++) {
        struct str wanted = v->items[i];
        bool same = str_eq(wanted, name);

        if (offer->kind == DOC_MCP) {
            struct str file =
                mcp_file_name(wanted, (struct arena *)(uintptr_t)&inv->arena);

            same |= str_eq(file, path_last(offer->path)) ||
                    str_eq(wanted, path_last(offer->path));
        }
        used[i] |= same;
        chosen |= same;
    }
    return chosen;
}

static enum option_id option_of(enum doc_kind kind)
{
    if (kind == DOC_AGENT)
        return OPTION_AGENT;
    return kind == DOC_SKILL ? OPTION_SKILL : OPTION_MCP;
}

static bool wants_choice(const struct invocation *inv)
{
    return has_option(inv, OPTION_ALL) || has_option(inv, OPTION_SKILL) ||
           has_option(inv, OPTION_AGENT) || has_option(inv, OPTION_MCP);
}

static const enum doc_kind kinds[] = {DOC_AGENT, DOC_SKILL, DOC_MCP};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static bool not_offered(struct node *const *catalogs, size_t count,
                        enum doc_kind kind, struct str name, struct err *e)
{
    struct str near = {"", 0};
    size_t best = 4;

    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < catalogs[k]->offer_count; i++) {
            const struct fetch_offer *o = &catalogs[k]->offers[i];
            size_t far = text_distance(name, offer_name(o), best);

            if (far < best && o->kind == kind) {
                best = far;
                near = offer_name(o);
            }
        }
    err_set(e, ERR_NOT_FOUND, "%.*s%s no %s named \"%.*s\"",
            STR_ARG(catalogs[0]->origin.text),
            count > 1 ? " and the others offer" : " offers",
            doc_kind_name(kind), STR_ARG(name));
    if (near.n)
        return err_hint(e, "did you mean %.*s?", STR_ARG(near));
    return err_hint(e, "without --%s it lists what it offers",
                    doc_kind_name(kind));
}

/* A name that no catalog has is a mistake. */
static bool check_used(const struct invocation *inv,
                       struct node *const *catalogs, size_t count,
                       bool *const used[KIND_COUNT], struct err *e)
{
    for (size_t k = 0; k < KIND_COUNT; k++) {
        const struct values *v = &inv->given[option_of(kinds[k])];

        for (size_t i = 0; i < v->count; i++)
            if (!used[k][i])
                return not_offered(catalogs, count, kinds[k], v->items[i], e);
    }
    return true;
}

/* Adds what was chosen of the catalog `n` to `wanted`. */
static void choose(struct sync *s, const struct node *n,
                   bool *const used[KIND_COUNT], struct node **wanted,
                   size_t *count)
{
    struct invocation *inv = s->inv;

    for (size_t i = 0; i < n->offer_count; i++) {
        const struct fetch_offer *offer = &n->offers[i];
        size_t k = offer->kind == DOC_AGENT   ? 0
                   : offer->kind == DOC_SKILL ? 1
                                              : 2;
        struct origin o;

        if (!is_chosen(inv, option_of(offer->kind), offer, used[k]) &&
            !has_option(inv, OPTION_ALL))
            continue;
        complete_offer(inv, n, offer, &o);
        wanted[(*count)++] =
            closure_add(&s->closure, &o, (unsigned)offer->kind);
    }
}

static void put_offers(struct invocation *inv, struct json_writer *w,
                       const struct node *n)
{
    for (size_t i = 0; i < n->offer_count; i++) {
        struct origin o;

        complete_offer(inv, n, &n->offers[i], &o);
        json_begin_object(w);
        json_member_string(w, "type",
                           str_from(doc_kind_name(n->offers[i].kind)));
        json_member_string(w, "name", offer_name(&n->offers[i]));
        json_member_string(w, "path", n->offers[i].path);
        json_member_string(w, "origin", o.text);
        json_end_object(w);
    }
}

static void print_offers_json(struct invocation *inv,
                              struct node *const *catalogs, size_t count)
{
    struct json_writer w;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.offers/1"));
    json_member_string(&w, "origin", catalogs[0]->origin.text);
    json_key(&w, "offers");
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++)
        put_offers(inv, &w, catalogs[i]);
    json_end_array(&w);
    json_end_object(&w);
    print_json(inv, &b);
    buf_done(&b);
}

static void print_offers(struct invocation *inv, struct node *const *catalogs,
                         size_t count)
{
    struct term *t = &inv->term;

    if (has_option(inv, OPTION_JSON)) {
        print_offers_json(inv, catalogs, count);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const struct node *n = catalogs[k];

        for (size_t i = 0; i < n->offer_count; i++) {
            struct origin o;

            complete_offer(inv, n, &n->offers[i], &o);
            term_print(t, "%-6s %-32.*s %.*s\n",
                       doc_kind_name(n->offers[i].kind),
                       STR_ARG(offer_name(&n->offers[i])), STR_ARG(o.text));
        }
        term_note(t,
                  "%.*s is a catalog: name one of these, or choose with "
                  "--all, --skill NAME, --agent NAME, --mcp NAME",
                  STR_ARG(n->origin.text));
    }
}

/* --- origins on the command line ------------------------------------------ */

/* A short form that names the repository and path of `root`. */
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

/* With --locked nothing new may come in, so it must be a root already, and
 * `o` becomes that. */
static bool find_locked_argument(const struct sync *s, struct origin *o,
                                 struct err *e)
{
    for (size_t i = 0; i < s->root_count; i++) {
        const struct origin *root = &s->roots[i].origin;

        if (str_eq(root->key, o->key) || is_short_of(o, root, &s->inv->arena)) {
            *o = *root;
            return true;
        }
    }
    err_set(e, ERR_LOCKED, "%.*s is no root of mapm.yaml yet",
            STR_ARG(o->text));
    return err_hint(e, "--locked adds nothing: install it without");
}

/* The URL of what a browser shows, and other spellings that are common. */
static struct str repair_origin(struct str text, struct arena *a)
{
    static const struct {
        const char *before, *after;
    } beginnings[] = {
        {"http://", "https://"},
        {"https://www.", "https://"},
        {"www.github.com/", "https://github.com/"},
        {"github.com/", "https://github.com/"},
        {"git@github.com:", "https://github.com/"},
        {"ssh://git@github.com/", "https://github.com/"},
        {"git+https://", "https://"},
    };
    static const char *const ends[] = {"/SKILL.md", "/AGENTS.md"};
    size_t at;

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (str_starts(text, str_from(beginnings[i].before)))
            text =
                str_join(str_from(beginnings[i].after),
                         str_from_index(text, strlen(beginnings[i].before)), a);
    at = str_find_char(text, '?');
    text = str_slice(text, 0, at < text.n ? at : text.n);
    at = str_find_char(text, '#');
    text = str_slice(text, 0, at < text.n ? at : text.n);
    at = str_find(text, STR("/blob/"));
    if (at != SIZE_MAX)
        text =
            arena_printf(a, "%.*s/tree/%.*s", STR_ARG(str_slice(text, 0, at)),
                         STR_ARG(str_from_index(text, at + 6)));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends(text, str_from(ends[i])))
            text.n -= strlen(ends[i]);
    return text;
}

static bool parse_argument(const struct sync *s, struct str text,
                           struct origin *out, struct err *e)
{
    struct invocation *inv = s->inv;
    struct err problem = {0};
    struct origin other;
    struct str repaired;

    if (origin_parse_argument(text, inv->cwd, inv->home, &s->layer.rules,
                              &inv->arena, out, e))
        return true;
    repaired = repair_origin(text, &inv->arena);
    for (int i = 0; i < 2 && !str_eq(repaired, text); i++) {
        if (origin_parse_argument(repaired, inv->cwd, inv->home,
                                  &s->layer.rules, &inv->arena, &other,
                                  &problem))
            return err_hint(e, "did you mean %.*s?", STR_ARG(repaired));
        if (str_starts(repaired, STR("https://github.com/")))
            repaired = str_from_index(repaired, strlen("https://github.com/"));
    }
    return false;
}

static bool add_arguments(struct sync *s, struct node **wanted, size_t *count,
                          struct err *e)
{
    struct invocation *inv = s->inv;

    for (size_t i = 0; i < inv->arguments.count; i++) {
        struct origin o;

        if (!parse_argument(s, inv->arguments.items[i], &o, e) ||
            (s->locked && !find_locked_argument(s, &o, e)))
            return false;
        wanted[(*count)++] = closure_add(&s->closure, &o, ANY_KIND);
    }
    return true;
}

/* "cannot install ORIGIN", unless the reason begins with that origin. */
static bool names_itself(const struct node *n)
{
    return str_starts(str_from(err_prev(n->failed, NULL)), n->origin.text);
}

/* Every one that failed, not only the first. */
static bool check_wanted(struct sync *s, struct node *const *wanted,
                         size_t count, struct err *e)
{
    size_t failed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct node *n = wanted[i];
        const char *message = NULL;

        if (!n->failed)
            continue;
        if (failed++ == 0) {
            *e = *n->failed;
            if (!names_itself(n))
                err_wrap(e, "cannot install %.*s", STR_ARG(n->origin.text));
            continue;
        }
        if (failed > ERROR_MAX_LINES)
            continue;
        if (!names_itself(n))
            err_also(e, "cannot install %.*s", STR_ARG(n->origin.text));
        while ((message = err_prev(n->failed, message)))
            err_also(e, "%s", message);
    }
    if (failed > ERROR_MAX_LINES)
        err_also(e, "\xe2\x80\xa6 and %zu more", failed - ERROR_MAX_LINES);
    if (failed && has_option(s->inv, OPTION_ALL))
        err_hint(e, "choose what to take of it with --skill, --agent and "
                    "--mcp");
    return failed == 0;
}

/* Of the catalogs what was chosen, of the rest all. */
static bool take_choice(struct sync *s, struct node *const *asked,
                        size_t asked_count, struct node *const *catalogs,
                        size_t catalog_count, struct err *e)
{
    struct invocation *inv = s->inv;
    struct node **wanted;
    bool *used[KIND_COUNT];
    size_t count = 0, room = 0;

    for (size_t i = 0; i < asked_count; i++)
        room += asked[i]->offer_count + 1;
    wanted = arena_array(&inv->arena, room + 1, sizeof *wanted);
    for (size_t k = 0; k < KIND_COUNT; k++)
        used[k] = arena_array(&inv->arena,
                              inv->given[option_of(kinds[k])].count + 1, 1);
    for (size_t i = 0; i < asked_count; i++) {
        if (asked[i]->offer_count && !asked[i]->failed)
            choose(s, asked[i], used, wanted, &count);
        else
            wanted[count++] = asked[i];
    }
    if (catalog_count && !check_used(inv, catalogs, catalog_count, used, e))
        return false;
    return closure_gather(&s->closure, e) &&
           check_wanted(s, wanted, count, e) &&
           sync_take_roots(s, wanted, count, e);
}

/* `*listed`: a catalog was named and nothing of it chosen. */
static bool take_arguments(struct sync *s, bool *listed, struct err *e)
{
    struct invocation *inv = s->inv;
    size_t room = inv->arguments.count + 1;
    struct node **asked = arena_array(&inv->arena, room, sizeof *asked);
    struct node **catalogs = arena_array(&inv->arena, room, sizeof *asked);
    size_t asked_count = 0, count = 0, failed = 0;

    *listed = false;
    if (!add_arguments(s, asked, &asked_count, e) ||
        !closure_gather(&s->closure, e))
        return false;
    for (size_t i = 0; i < asked_count; i++) {
        failed += asked[i]->failed != NULL;
        if (asked[i]->offer_count && !asked[i]->failed)
            catalogs[count++] = asked[i];
    }
    if (wants_choice(inv) && count == 0 && failed == 0) {
        err_set(e, ERR_USAGE,
                "--all, --skill, --agent and --mcp choose from a catalog, and "
                "none is named");
        return err_hint(e, "usage: mapm install owner/repo --skill NAME");
    }
    if (count && !wants_choice(inv) && failed == 0) {
        print_offers(inv, catalogs, count);
        *listed = true;
        return true;
    }
    return take_choice(s, asked, asked_count, catalogs, count, e);
}

static bool install(struct sync *s, struct err *e)
{
    struct invocation *inv = s->inv;
    struct closure_options o = {
        .locked = has_option(inv, OPTION_LOCKED) ||
                  (is_ci() && inv->arguments.count == 0),
        .offline = has_option(inv, OPTION_OFFLINE),
        .allow_hidden = has_option(inv, OPTION_ALLOW_HIDDEN),
        .trust_lock = inv->arguments.count == 0,
    };
    bool listed;

    s->locked = o.locked;
    if (has_option(inv, OPTION_WITH_SERVER) && !own_server_add(s, e))
        return false;
    if ((inv->arguments.count == 0 && !wants_choice(inv) &&
         !has_option(inv, OPTION_WITH_SERVER) &&
         !layer_check_there(&s->layer, inv, e)) ||
        !check_committed_roots(s, e))
        return false;
    closure_init(&s->closure, inv, &s->layer, s->store, &o);
    /* The old roots travel along with the new ones. */
    for (size_t i = 0; i < s->root_count; i++)
        closure_add(&s->closure, &s->roots[i].origin,
                    (unsigned)s->roots[i].kind);
    if (!take_arguments(s, &listed, e))
        return false;
    if (listed)
        return true;
    return sync_resolve(s, e) && sync_finish(s, e);
}

COMMAND(command_install)
{
    *exit_code = EXIT_DONE;
    return sync_run(inv, "install", install, e);
}
