#include "base/fs.h"
#include "base/json_record.h"
#include "base/path.h"
#include "mapm/discover.h"
#include "mapm/lint.h"
#include "mapm/plugin_market.h"
#include "mapm/report_catalog.h"

#include "catalog_command.h"

/* --- .well-known -------------------------------------------------------------- */

#define PAGE_FILE      DISCOVER_INDEX_FOLDER "/index.html"
#define PAGE_MODE      0644
#define PAGE_MAX_BYTES (256u * 1024 * 1024)

static bool write_page(int dirfd, struct str title,
                       const struct discover_published *list, size_t count,
                       struct err *e)
{
    CLEANUP(buf_done) struct buf page = {0};

    buf_init(&page, PAGE_MAX_BYTES);
    report_catalog_page(title, list, count, &page);
    return buf_check(&page, "the page", e) &&
           fs_replace_at(dirfd, PAGE_FILE, PAGE_MODE, buf_str(&page), e);
}

static void print_index_json(struct invocation *inv,
                             const struct discover_published *list,
                             size_t count)
{
    struct json_writer *w = print_json_begin(inv, "mapm.catalog/1", "index");

    json_member_string(w, "index", STR(DISCOVER_INDEX_FOLDER "/index.json"));
    json_member_string(w, "page", STR(PAGE_FILE));
    json_member_array(w, "skills");
    for (size_t i = 0; i < count; i++) {
        const struct discover_published *s = &list[i];

        json_begin_object(w);
        json_member_string(w, "path", s->path);
        json_member_optional(w, "name", s->name);
        json_member_optional(w, "url", s->why.n ? STR("") : s->url);
        json_member_optional(w, "digest", s->why.n ? STR("") : s->digest);
        json_member_optional(w, "left_out", s->why);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(inv);
}

static void print_index(struct invocation *inv,
                        const struct discover_published *list, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].why.n)
            term_warn(&inv->term, "%.*s is left out: %.*s",
                      STR_ARG(list[i].path), STR_ARG(list[i].why));
        else
            n++;
    }
    term_print(&inv->term, "%s/index.json  %zu skill%s\n%s\n",
               DISCOVER_INDEX_FOLDER, n, n == 1 ? "" : "s", PAGE_FILE);
}

bool catalog_write_index(struct invocation *inv, struct str folder,
                         struct err *e)
{
    struct arena *a = &inv->cx.arena;
    struct discover_published *list;
    CLEANUP_FD int fd = -1;
    struct check_root root;
    struct str_list paths;

    if (!lint_root_open(folder, &root, a, e) ||
        !fs_open_dir(root.real.p, &fd, e) ||
        !lint_list_skills(&inv->cx, &root, &paths, e) ||
        !discover_index(&inv->cx, fd, paths.items, paths.count, &list, e) ||
        !write_page(fd, path_last(root.real), list, paths.count, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_index_json(inv, list, paths.count);
    else
        print_index(inv, list, paths.count);
    return true;
}

/* --- marketplace.json ------------------------------------------------------- */

static const struct json_member plugin_members[] = {
    JSON_MEMBER(struct market_plugin, "path", folder),
    JSON_MEMBER_OR_NULL(struct market_plugin, "name", name),
    JSON_MEMBER_OR_NULL(struct market_plugin, "left_out", why),
};
JSON_RECORD(plugin, struct market_plugin);

static void print_market_json(struct invocation *inv,
                              const struct market_listing *l)
{
    struct json_writer *w = print_json_begin(inv, "mapm.catalog/1", "index");

    json_member_string(w, "marketplace", STR(MARKET_FILE));
    json_member_records(w, "plugins", &plugin_record, l->plugins, l->count);
    json_member_strings(w, "skills", l->skills.items, l->skills.count);
    print_json_end(inv);
}

static void print_market(struct invocation *inv, const struct market_listing *l)
{
    struct term *t = &inv->term;
    size_t n = 0;

    for (size_t i = 0; i < l->count; i++) {
        if (l->plugins[i].why.n)
            term_warn(t, "%.*s is left out: %.*s",
                      STR_ARG(l->plugins[i].folder),
                      STR_ARG(l->plugins[i].why));
        else
            n++;
    }
    term_print(t, "%s  %zu plugin%s", MARKET_FILE, n, n == 1 ? "" : "s");
    if (l->skills.count)
        term_print(t, ", %zu skill%s in no plugin", l->skills.count,
                   l->skills.count == 1 ? "" : "s");
    term_print(t, "\n");
}

bool catalog_write_marketplace(struct invocation *inv, struct str folder,
                               struct err *e)
{
    struct arena *a = &inv->cx.arena;
    struct market_listing listing;
    CLEANUP_FD int fd = -1;
    struct check_root root;

    if (!lint_root_open(folder, &root, a, e) ||
        !fs_open_dir(root.real.p, &fd, e) ||
        !lint_list_plugins(&inv->cx, &root, &listing, e) ||
        !market_write(&listing, fd, path_last(root.real), a, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_market_json(inv, &listing);
    else
        print_market(inv, &listing);
    return true;
}
