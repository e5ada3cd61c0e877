#include "base/fs.h"
#include "base/path.h"
#include "mapm/authorize.h"
#include "mapm/discover.h"
#include "mapm/lint.h"
#include "mapm/report_catalog.h"

#include "catalog_command.h"

#define PAGE_FILE      DISCOVER_INDEX_FOLDER "/index.html"
#define PAGE_MODE      0644
#define PAGE_MAX_BYTES (256u * 1024 * 1024)

bool catalog_is_copy(struct str folder)
{
    static const char *const heads[] = {".agents/", ".claude/", ".well-known/"};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (str_starts(folder, str_cstr(heads[i])))
            return true;
    return false;
}

/* The folders of its skills, as `mapm check` finds them. */
static bool find_skills(struct invocation *inv, struct check_root *root,
                        struct str **out, size_t *count, struct err *e)
{
    CLEANUP(lint_results_done) struct check_results results = {0};
    struct check_rules rules = {.profile = PROFILE_INSTALL};
    struct arena *a = &inv->cx.arena;
    struct project user;
    struct limits limits;

    if (!authorize_config_read(&inv->cx, &user, &limits, &rules.origins, e) ||
        !lint_find(root, 1, &rules, a, &results, e))
        return false;
    *out = arena_array(a, results.count + 1, sizeof **out);
    *count = 0;
    for (size_t i = 0; i < results.count; i++) {
        const struct check_result *r = results.items[i];

        if (r->has_kind && r->kind == DOC_SKILL && !catalog_is_copy(r->folder))
            (*out)[(*count)++] = arena_str(a, r->folder);
    }
    return true;
}

static bool write_page(struct invocation *inv, int dirfd, struct str title,
                       const struct discover_published *list, size_t count,
                       struct err *e)
{
    CLEANUP(buf_done) struct buf page = {0};
    struct report_skill *skills =
        arena_array(&inv->cx.arena, count + 1, sizeof *skills);
    struct report_catalog c = {.title = title, .skills = skills};

    for (size_t i = 0; i < count; i++) {
        const struct discover_published *s = &list[i];

        if (s->why.n)
            continue;
        skills[c.count++] = (struct report_skill){.name = s->name,
                                                  .version = s->version,
                                                  .description = s->description,
                                                  .license = s->license,
                                                  .url = s->url,
                                                  .tokens = s->tokens,
                                                  .files = s->files};
    }
    buf_init(&page, PAGE_MAX_BYTES);
    report_catalog_page(&c, &page);
    return buf_check(&page, "the page", e) &&
           fs_replace_at(dirfd, PAGE_FILE, PAGE_MODE, buf_str(&page), e);
}

static void print_json(struct invocation *inv,
                       const struct discover_published *list, size_t count)
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

static void print_words(struct invocation *inv,
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
    struct str *paths;
    size_t count;

    if (!lint_root_open(folder, &root, a, e) ||
        !fs_open_dir(root.real.p, &fd, e) ||
        !find_skills(inv, &root, &paths, &count, e) ||
        !discover_index(&inv->cx, fd, paths, count, &list, e) ||
        !write_page(inv, fd, path_last(root.real), list, count, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_json(inv, list, count);
    else
        print_words(inv, list, count);
    return true;
}
