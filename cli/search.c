#include "base/text.h"
#include "mapm/discover.h"
#include "mapm/limits.h"
#include "mapm/open_store.h"

#include "command.h"

#define DEFAULT_HITS        10
#define DESCRIPTION_COLUMNS 100
#define NAME_COLUMNS        32

static const struct json_member hit_members[] = {
    JSON_MEMBER(struct discover_hit, "type", kind),
    JSON_MEMBER(struct discover_hit, "name", name),
    JSON_MEMBER_OR_NULL(struct discover_hit, "version", version),
    JSON_MEMBER(struct discover_hit, "description", description),
    JSON_MEMBER_OR_NULL(struct discover_hit, "catalog", catalog),
    JSON_MEMBER_OR_NULL(struct discover_hit, "origin", origin),
    JSON_MEMBER_OR_NULL(struct discover_hit, "plugin", entry),
    JSON_MEMBER_OR_NULL(struct discover_hit, "tokens", tokens),
    JSON_MEMBER(struct discover_hit, "installed", is_installed),
    JSON_MEMBER_OR_NULL(struct discover_hit, "not_installable", why),
    JSON_MEMBER(struct discover_hit, "score", score),
};
JSON_RECORD(hit, struct discover_hit);

static void print_json(struct invocation *inv, struct str text,
                       const struct discover_hit *hits, size_t count,
                       size_t catalogs)
{
    struct json_writer *w = print_json_begin(inv, "mapm.search/1", NULL);

    json_member_string(w, "query", text);
    json_member_number(w, "catalogs", catalogs);
    json_member_records(w, "packages", &hit_record, hits, count);
    print_json_end(inv);
}

/* Returns "anthropics/skills" for GitHub, otherwise the origin without its
 * scheme. */
static struct str short_catalog(struct str origin)
{
    static const struct str heads[] = {STR_INIT("https://github.com/"),
                                       STR_INIT("https://")};

    for (size_t i = 0; i < 2; i++)
        if (str_starts(origin, heads[i]))
            return str_from_index(origin, heads[i].n);
    return origin;
}

static void print_hit(struct invocation *inv, const struct discover_hit *h,
                      size_t wide)
{
    struct term *t = &inv->term;
    struct str text = text_one_line(h->description, &inv->cx.arena), cut = text;
    size_t columns = text_width(h->name);

    if (!has_option(inv, OPTION_VERBOSE))
        cut = text_cut(text, DESCRIPTION_COLUMNS);
    term_style_print(t, TERM_BOLD, "%.*s",
                     STR_ARG(text_shown(h->name, &inv->cx.arena)));
    term_print(t, "%*s  %-6.*s  %-8.*s",
               (int)(columns < wide ? wide - columns : 0), "", STR_ARG(h->kind),
               STR_ARG(h->version.n ? h->version : STR("-")));
    if (h->tokens)
        term_print(t, "  %6zu tokens", h->tokens);
    else
        term_print(t, "  %13s", "");
    if (h->catalog.n)
        term_print(t, "  %.*s", STR_ARG(short_catalog(h->catalog)));
    if (h->is_installed)
        term_print(t, "  installed");
    term_print(t, "\n");
    if (cut.n)
        term_print(t, "    %.*s%s\n", STR_ARG(cut),
                   cut.n < text.n ? "..." : "");
    if (has_option(inv, OPTION_VERBOSE) && h->origin.n)
        term_print(t, "    %.*s\n", STR_ARG(h->origin));
    if (has_option(inv, OPTION_VERBOSE) && h->why.n)
        term_print(t, "    not installable: %.*s\n", STR_ARG(h->why));
}

static void print_hits(struct invocation *inv, const struct discover_hit *hits,
                       size_t count, size_t catalogs)
{
    struct str unknown = STR("");
    size_t wide = 8;

    for (size_t i = 0; i < count; i++)
        if (text_width(hits[i].name) > wide &&
            text_width(hits[i].name) <= NAME_COLUMNS)
            wide = text_width(hits[i].name);
    for (size_t i = 0; i < count; i++)
        print_hit(inv, &hits[i], wide);
    if (count == 0)
        term_note(&inv->term, "no match");
    else
        unknown = discover_unknown_words(hits, count, &inv->cx.arena);
    if (unknown.n)
        term_note(&inv->term, "no match for: %.*s", STR_ARG(unknown));
    if (catalogs == 0)
        term_note(&inv->term, "there is no catalog: mapm catalog add ORIGIN");
}

COMMAND(command_search)
{
    struct discover_hit *hits;
    struct str text = str_list_join(argument_list(inv, 0), " ", &inv->cx.arena);
    struct store *store = NULL;
    size_t count, catalogs;
    uint64_t limit = DEFAULT_HITS;
    bool ok;

    if (!option_number(inv, OPTION_FOUND, SEARCH_MAX_HITS, &limit, e))
        return false;
    if (text_strip(text).n == 0)
        return err_set(e, ERR_USAGE, "there is no word to search for");
    if (!open_store(&inv->cx, &store, e))
        return false;
    ok = discover_search(&inv->cx, store, text, (size_t)limit, &hits, &count,
                         &catalogs, e);
    if (ok && has_option(inv, OPTION_JSON))
        print_json(inv, text, hits, count, catalogs);
    else if (ok)
        print_hits(inv, hits, count, catalogs);
    close_store(&inv->cx, store);
    return ok;
}
