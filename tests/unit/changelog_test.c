#include "base/arena.h"
#include "base/str.h"
#include "mapm/changelog.h"
#include "mapm/diagnostics.h"

#include "document_case.h"

/* M29: "## X.Y.Z (YYYY-MM-DD)", newest first. */
static const struct {
    const char *text, *latest, *versions;
    size_t diagnostics;
} rows[] = {
    {"", "", "", 0},
    {"# Changelog\n\n## 1.1.0 (2026-04-17)\n- a\n\n## 1.0.0 (2026-01-02)\n",
     "1.1.0", "1.1.0:3 1.0.0:6 ", 0},
    {"## 1.0.0 (2024-02-29)\n", "1.0.0", "1.0.0:1 ", 0},
    {"## 1.0.0 (2026-02-29)\n", "", "", 1},
    {"## 1.0.0 (2000-02-29)\n", "1.0.0", "1.0.0:1 ", 0},
    {"## 1.0.0 (1900-02-29)\n", "", "", 1},
    {"## 1.0.0 (2026-13-01)\n", "", "", 1},
    {"## 1.0.0 (2026-00-01)\n", "", "", 1},
    {"## 1.0.0 (2026-04-31)\n", "", "", 1},
    {"## 1.0.0 (2026-05-32)\n", "", "", 1},
    {"## 1.0.0 (2026-4-1)\n", "", "", 1},
    {"## 1.0.0\n", "", "", 1},
    {"## [1.0.0] - 2026-01-02\n", "", "", 1},
    {"## v1.0.0 (2026-01-02)\n", "", "", 1},
    {"## 1.0 (2026-01-02)\n", "", "", 1},
    {"## 1.0.0  (2026-01-02)\n", "", "", 1},
    {"## Unreleased\n## 1.0.0 (2026-01-02)\n", "1.0.0", "1.0.0:2 ", 1},
    {"## 1.0.0 (2026-01-02) \r\n\r\n### x\r\n", "1.0.0", "1.0.0:1 ", 0},
    {"\xef\xbb\xbf## 1.0.0 (2026-01-02)\n", "1.0.0", "1.0.0:1 ", 0},
    {"## 1.0.0 (2026-01-02)\n## 1.1.0 (2026-01-03)\n", "1.0.0",
     "1.0.0:1 1.1.0:2 ", 1},
    {"## 1.0.0 (2026-01-02)\n## 1.0.0 (2026-01-02)\n", "1.0.0",
     "1.0.0:1 1.0.0:2 ", 1},
    {"```\n## 9.0.0 (2026-01-02)\n~~~\n```\n## 1.0.0 (2026-01-02)\n", "1.0.0",
     "1.0.0:5 ", 0},
    {"  ~~~ x\n## 9.0.0 (2026-01-02)\n", "", "", 0},
    {" ## 1.0.0 (2026-01-02)\n#### x\n##\n", "", "", 0},
    {"## \n", "", "", 1},
    {"##  (\n", "", "", 1},
};

/* What a newer text says above the section of an older version [D3]. */
TEST(sections_since_a_version)
{
    static const struct {
        const char *text, *version, *want;
    } since[] = {
        {"# C\n\n## 1.2.0 (2026-03-01)\n- c\n## 1.1.0 (2026-02-01)\n- b\n"
         "## 1.0.0 (2026-01-01)\n- a\n",
         "1.0.0", "## 1.2.0 (2026-03-01)\n- c\n## 1.1.0 (2026-02-01)\n- b\n"},
        {"\xef\xbb\xbf## 1.1.0 (2026-02-01)\n- b\n## 1.0.0 (2026-01-01)\n",
         "1.0.0", "## 1.1.0 (2026-02-01)\n- b\n"},
        {"## 1.1.0 (2026-02-01)\n- b\n", "1.0.0",
         "## 1.1.0 (2026-02-01)\n- b\n"}, /* it has no section any more */
        {"## 1.0.0 (2026-01-01)\n- a\n", "1.0.0", ""},
        {"nothing\n", "1.0.0", ""},
    };

    for (size_t i = 0; i < ROWS(since); i++) {
        struct arena a = {0};

        CHECK_STR(str_dup0(changelog_since(str_cstr(since[i].text),
                                           str_cstr(since[i].version), &a),
                           &a),
                  since[i].want);
        arena_done(&a);
    }
}

TEST(changelogs) /* [M29] */
{
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct arena a = {0};
        struct diagnostics why;
        struct changelog_entry *entries = NULL;
        struct str found = STR("");
        size_t count = 0;

        diagnostics_init(&why, &a);
        changelog_read(str_cstr(rows[i].text), &a, &entries, &count, &why);
        for (size_t n = 0; n < count; n++)
            found = arena_printf(&a, "%.*s%.*s:%u ", STR_ARG(found),
                                 STR_ARG(entries[n].version), entries[n].line);
        CHECK_STR(str_dup0(found, &a), rows[i].versions);
        CHECK_STR(str_dup0(changelog_latest(str_cstr(rows[i].text)), &a),
                  rows[i].latest);
        if (why.count != rows[i].diagnostics)
            printf("# %s\n", rows[i].text);
        CHECK(why.count == rows[i].diagnostics);
        CHECK(why.count == 0 ||
              strcmp(why.items[0].code, "changelog-version") == 0);
        arena_done(&a);
    }
}
