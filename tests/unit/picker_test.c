#include "mapm/doc_kind.h"
#include "mapm/install_picker.h"

#include "tap.h"

/* A plugin with two skills, a folder with a server and a skill that cannot be
 * installed, and a plugin without packages here. [G8] */
static const struct install_offer offers[] = {
    {.kind = DOC_SKILL,
     .name = STR_INIT("pdf"),
     .path = STR_INIT("skills/pdf"),
     .group = STR_INIT("docs"),
     .is_of_plugin = true,
     .description = STR_INIT("Reads PDF"),
     .tokens = 100},
    {.kind = DOC_SKILL,
     .name = STR_INIT("docx"),
     .path = STR_INIT("skills/docx"),
     .group = STR_INIT("docs"),
     .is_of_plugin = true,
     .tokens = 20},
    {.kind = DOC_MCP,
     .name = STR_INIT("io.acme/tool"),
     .path = STR_INIT("mcps/io.acme_tool.json"),
     .group = STR_INIT("mcps"),
     .command = STR_INIT("npx \xc3\x89"),
     .tokens = 3},
    {.kind = DOC_SKILL,
     .name = STR_INIT("broken"),
     .path = STR_INIT("mcps/broken"),
     .group = STR_INIT("mcps"),
     .problem = STR_INIT("no name")},
    {.kind = DOC_SKILL,
     .name = STR_INIT("old"),
     .path = STR_INIT("mcps/old"),
     .group = STR_INIT("mcps"),
     .is_installed = true},
};
static const struct install_offer plugins[] = {
    {.kind = DOC_PLUGIN,
     .name = STR_INIT("docs"),
     .group = STR_INIT("docs"),
     .is_of_plugin = true,
     .tokens = 120},
    {.kind = DOC_PLUGIN,
     .name = STR_INIT("npm"),
     .group = STR_INIT("npm"),
     .is_of_plugin = true},
};
static const struct install_catalog catalog = {
    .offers = offers, .offer_count = 5, .plugins = plugins, .plugin_count = 2};

/* Returns the names that are seen, "[n]" for a heading of n packages. */
static const char *seen(const struct install_picker *p, struct arena *a)
{
    struct str text = STR("");

    for (size_t i = 0; i < p->seen_count; i++) {
        const struct picker_row *row = install_picker_row(p, i);

        text = row->count
                   ? arena_printf(a, "%.*s [%zu]", STR_ARG(text), row->count)
                   : arena_printf(a, "%.*s %.*s%s", STR_ARG(text),
                                  STR_ARG(row->offer->name),
                                  row->is_picked ? "*" : "");
    }
    return str_dup0(text, a);
}

TEST(rows_are_grouped_with_plugins_first)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_picker p;

    install_picker_init(&p, &catalog, &a);
    CHECK_STR(seen(&p, &a),
              " npm [3] docs pdf docx [3] io.acme/tool broken old");
}

TEST(the_filter_searches_names_groups_kinds_and_texts)
{
    static const struct {
        const char *word, *seen;
    } rows[] = {
        {"DOCX", " [3] docx"},
        {"docs", " [3] docs pdf docx"},
        {"mcps", " [3] io.acme/tool broken old"},
        {"\xc3\xa9", " [3] io.acme/tool"},
        {"no name", " [3] broken"},
        {"plugin", " npm [3] docs"},
        {"nosuch", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct install_picker p;

        install_picker_init(&p, &catalog, &a);
        install_picker_type(&p, str_cstr(rows[i].word));
        CHECK_STR(seen(&p, &a), rows[i].seen);
        install_picker_clear(&p);
        CHECK(p.seen_count == 9 && p.filter_bytes == 0);
    }
}

TEST(the_filter_has_whole_characters_and_a_limit)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_picker p;

    install_picker_init(&p, &catalog, &a);
    install_picker_type(&p, STR("\xc3"));
    install_picker_type(&p, STR("\x1b"));
    CHECK(p.filter_bytes == 0);
    install_picker_type(&p, STR("d\xc3\xa9"));
    install_picker_erase(&p);
    CHECK(p.filter_bytes == 1 && p.filter[0] == 'd');
    install_picker_erase(&p);
    install_picker_erase(&p);
    CHECK(p.filter_bytes == 0 && p.seen_count == 9);
    for (size_t i = 0; i < PICKER_FILTER_MAX_BYTES + 1; i++)
        install_picker_type(&p, STR("x"));
    CHECK(p.filter_bytes == PICKER_FILTER_MAX_BYTES);
}

TEST(a_package_toggles_and_a_heading_toggles_its_group)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_picker p;

    install_picker_init(&p, &catalog, &a);
    install_picker_toggle(&p, 1);
    CHECK_STR(seen(&p, &a),
              " npm [3] docs pdf* docx* [3] io.acme/tool broken old");
    CHECK(p.picked == 2 && install_picker_tokens(&p) == 120);
    install_picker_toggle(&p, 3);
    CHECK(p.picked == 1 && install_picker_tokens(&p) == 20);
    install_picker_toggle(&p, 1); /* one is missing: all again */
    CHECK(p.picked == 2);
    install_picker_toggle(&p, 1);
    CHECK(p.picked == 0 && install_picker_tokens(&p) == 0);
    install_picker_toggle(&p, 7); /* cannot be installed */
    install_picker_toggle(&p, 99);
    CHECK(p.picked == 0);
    install_picker_toggle(&p, 2); /* the plugin, which has both */
    install_picker_toggle(&p, 3);
    install_picker_toggle(&p, 6);
    CHECK(p.picked == 3 && install_picker_tokens(&p) == 123);
}

TEST(toggle_all_leaves_plugins_and_installed_packages_out)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_picker p;

    install_picker_init(&p, &catalog, &a);
    install_picker_toggle_all(&p);
    CHECK_STR(seen(&p, &a),
              " npm [3] docs pdf* docx* [3] io.acme/tool* broken old");
    install_picker_type(&p, STR("docx"));
    install_picker_toggle_all(&p); /* those seen alone */
    install_picker_clear(&p);
    CHECK_STR(seen(&p, &a),
              " npm [3] docs pdf* docx [3] io.acme/tool* broken old");
}

TEST(the_choice_has_paths_and_names_of_plugins)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_picker p;
    struct install_choice c;

    install_picker_init(&p, &catalog, &a);
    install_picker_toggle(&p, 0);
    install_picker_toggle(&p, 3);
    install_picker_toggle(&p, 6);
    c = install_picker_choice(&p, &a);
    CHECK(c.skills.count == 1 && c.plugins.count == 1 && c.mcps.count == 1);
    CHECK(c.agents.count == 0);
    CHECK_STR(str_dup0(c.skills.items[0], &a), "skills/pdf/");
    CHECK_STR(str_dup0(c.plugins.items[0], &a), "npm");
    CHECK_STR(str_dup0(c.mcps.items[0], &a), "mcps/io.acme_tool.json/");
}
