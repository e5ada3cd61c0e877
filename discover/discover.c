#include "mapm/discover.h"

#include "base/text.h"
#include "mapm/host_add.h"
#include "mapm/limits.h"
#include "mapm/state_search.h"
#include "mapm/well_known.h"

#include "catalog_record.h"

/* The catalogs of a user as sources of the search in mapm.db. */

#define STAMP_FORMAT "1"

/* --- records ------------------------------------------------------------------------ */

const char *discover_kind(const struct discover_catalog *c)
{
    return c->is_index ? "index" : c->is_folder ? "folder" : "git";
}

struct str catalog_stamp(const struct discover_catalog *c, struct arena *a)
{
    return arena_printf(a, STAMP_FORMAT "\n%s\n%.*s\n%.*s\n%.*s\n%llu\n%zu\n",
                        discover_kind(c), STR_ARG(c->ref), STR_ARG(c->commit),
                        STR_ARG(c->condition),
                        (unsigned long long)c->refreshed_s, c->left_out);
}

static uint64_t read_number(struct str *rest)
{
    struct str line;
    uint64_t n = 0;

    return str_line(rest, &line) && str_number(line, UINT64_MAX, &n) ? n : 0;
}

/* A stamp of another format is ignored, so the catalog is read again at the
 * next refresh. */
static void read_source(const struct search_source *s,
                        struct discover_catalog *out)
{
    struct str rest = s->stamp, line;

    *out = (struct discover_catalog){.origin = s->key, .count = s->count};
    out->is_index = well_known_is_index(s->key);
    out->is_folder = str_starts(s->key, STR("file:"));
    if (!str_line(&rest, &line) || !str_is(line, STAMP_FORMAT) ||
        !str_line(&rest, &line) || !str_line(&rest, &out->ref) ||
        !str_line(&rest, &out->commit) || !str_line(&rest, &out->condition))
        return;
    out->refreshed_s = read_number(&rest);
    out->left_out = (size_t)read_number(&rest);
}

bool discover_list(struct context *cx, struct store *store,
                   struct discover_catalog **out, size_t *count, struct err *e)
{
    struct arena *a = &cx->arena;
    struct search_source *sources;
    size_t n;

    if (!state_list_sources(store_state(store), SEARCH_CATALOG, a, &sources, &n,
                            e))
        return false;
    *out = arena_array(a, n + 1, sizeof **out);
    for (size_t i = 0; i < n; i++)
        read_source(&sources[i], &(*out)[i]);
    *count = n;
    return true;
}

/* --- what a person names ------------------------------------------------------------ */

bool discover_admit(struct context *cx, struct str text, struct err *e)
{
    return well_known_is_index(text) || host_admit(cx, text, e);
}

static bool parse_catalog(struct context *cx, const struct origin_rules *rules,
                          struct str text, struct discover_catalog *out,
                          struct err *e)
{
    struct origin o;

    *out = (struct discover_catalog){0};
    if (well_known_is_index(text)) {
        out->is_index = true;
        return well_known_url(text, &cx->arena, &out->origin, e);
    }
    if (!origin_parse_argument(text, cx->cwd, cx->home, rules, &cx->arena, &o,
                               e))
        return false;
    out->is_folder = o.scheme == ORIGIN_FILE;
    if (origin_range(&o, &cx->arena).n) {
        err_set(e, ERR_ORIGIN, "\"%.*s\": a catalog has no range of versions",
                STR_ARG(text));
        return err_hint(e, "name a branch, a tag or a commit, or nothing");
    }
    out->origin = origin_base(o.text);
    return true;
}

static bool has_catalog(const struct discover_catalog *all, size_t count,
                        struct str origin)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(all[i].origin, origin))
            return true;
    return false;
}

bool discover_new(struct context *cx, const struct origin_rules *rules,
                  struct store *store, struct str_list words,
                  struct discover_catalog **out, size_t *count, struct err *e)
{
    struct discover_catalog *new =
        arena_array(&cx->arena, words.count + 1, sizeof *new);
    struct discover_catalog *all;
    size_t known, n = 0;

    if (!discover_list(cx, store, &all, &known, e))
        return false;
    for (size_t i = 0; i < words.count; i++) {
        if (!parse_catalog(cx, rules, words.items[i], &new[n], e))
            return false;
        if (has_catalog(all, known, new[n].origin))
            context_note(cx, "%.*s is already one of your catalogs",
                         STR_ARG(new[n].origin));
        else if (!has_catalog(new, n, new[n].origin))
            n++;
    }
    if (known + n > CATALOGS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d catalogs", CATALOGS_MAX);
    *out = new;
    *count = n;
    return true;
}

bool discover_find(struct context *cx, const struct origin_rules *rules,
                   struct store *store, struct str text,
                   struct discover_catalog *out, struct err *e)
{
    struct text_nearest near = {0};
    struct discover_catalog wanted, *all;
    size_t count;

    if (!parse_catalog(cx, rules, text, &wanted, e) ||
        !discover_list(cx, store, &all, &count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (str_eq(all[i].origin, wanted.origin)) {
            *out = all[i];
            return true;
        }
        text_nearest_add(&near, wanted.origin, all[i].origin, 5);
    }
    err_set(e, ERR_NOT_FOUND, "%.*s is not one of your catalogs",
            STR_ARG(wanted.origin));
    return near.count
               ? err_hint(e, "did you mean %.*s?", STR_ARG(near.found[0]))
               : err_hint(e, "mapm catalog list shows them");
}

bool discover_remove(struct store *store, struct str origin, struct err *e)
{
    return state_drop_source(store_state(store), SEARCH_CATALOG, origin, e);
}
