/* The index of .well-known/agent-skills: URLs of artifacts, and what they are.
 * [W3, W4, W6, row 44] */

#include "base/buf.h"
#include "mapm/limits.h"
#include "mapm/well_known.h"

#include "tap.h"

#define BASE "https://h.example/.well-known/agent-skills/index.json"

TEST(urls_are_resolved_and_stay_on_the_network) /* [W4, row 44, row 50] */
{
    static const struct {
        const char *url, *out; /* NULL: refused */
    } rows[] = {
        {"a.zip", "https://h.example/.well-known/agent-skills/a.zip"},
        {"../../x/./y/../z.md", "https://h.example/x/z.md"},
        {"../../../../up", "https://h.example/up"},
        {"/a//b/../c/.", "https://h.example/a//c/"},
        {"..", "https://h.example/.well-known/"},
        {"/a?b=../c", "https://h.example/a?b=../c"},
        {"//cdn.example/a", "https://cdn.example/a"},
        {"https://cdn.example:8443/a", "https://cdn.example:8443/a"},
        {"http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"},
        {"http://[::1]:8080/a", "http://[::1]:8080/a"},
        {"https://cdn.example", "https://cdn.example/"},
        {"https://cdn.example?a/../b", "https://cdn.example/?a/../b"},
        {"https://cdn.example/x/../../a?b", "https://cdn.example/a?b"},
        {"//cdn.example/x/%2e%2E/a", "https://cdn.example/a"},
        {"/x/.%2e/%2e/...", "https://h.example/..."},
        {"http://127.0.0.1.example/a", NULL},
        {"https://[::1/a", NULL},
        {"https://cdn.example;id/a", NULL},
        {"https://$(id).example/a", NULL},
        {"https://%63dn.example/a", NULL},
        {"https://cdn.example./a", NULL},
        {"https://cdn.example:/a", NULL},
        {"https://cdn.example:65536/a", NULL},
        {"https://cdn.example:80:80/a", NULL},
        {"https://2130706433/a", NULL},
        {"http://cdn.example/a", NULL},
        {"data:text/plain,x", NULL},
        {"file:///etc/passwd", NULL},
        {"https://user@h.example/a", NULL},
        {"https:///a", NULL},
        {"/a b", NULL},
        {"/a#b", NULL},
        {"\\\\h\\a", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str out = STR("");
        bool ok =
            well_known_resolve(STR(BASE), str_cstr(rows[i].url), &a, &out);

        CHECK(ok == (rows[i].out != NULL));
        if (ok && rows[i].out)
            CHECK_STR(str_dup0(out, &a), rows[i].out);
    }
}

TEST(an_archive_is_known_by_media_type_then_by_name) /* [W6] */
{
    static const struct {
        const char *type, *url;
        int format; /* -1: none */
    } rows[] = {
        {"application/zip", "https://h/x", ARTIFACT_ZIP},
        {"Application/Zip; a=b", "https://h/x.tar.gz", ARTIFACT_ZIP},
        {"application/gzip", "https://h/x.zip", ARTIFACT_TAR_GZ},
        {"application/octet-stream", "https://h/x.zip", ARTIFACT_ZIP},
        {"text/html", "https://h/X.TAR.GZ", ARTIFACT_TAR_GZ},
        {"", "https://h/x.tgz?v=1.zip", ARTIFACT_TAR_GZ},
        {"", "https://h/x", -1},
        {"text/markdown", "https://h/zip", -1},
        {"", ".zi", -1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum artifact_format format = ARTIFACT_SKILL_MD;
        bool ok = well_known_archive(str_cstr(rows[i].type),
                                     str_cstr(rows[i].url), &format);

        CHECK(ok == (rows[i].format >= 0));
        CHECK(!ok || (int)format == rows[i].format);
    }
    CHECK(well_known_format(STR("PK\3\4")) == ARTIFACT_ZIP);
    CHECK(well_known_format(STR("\x1f\x8b\x08")) == ARTIFACT_TAR_GZ);
    CHECK(well_known_format(STR("---\nname: x")) == ARTIFACT_SKILL_MD);
    CHECK(well_known_format(STR("")) == ARTIFACT_SKILL_MD);
}

TEST(of_one_name_the_first_stays) /* [W2, W3] */
{
#define ENTRY(name, url)                                                       \
    "{\"name\": \"" name "\", \"type\": \"archive\", \"description\": \"d\", " \
    "\"url\": \"" url "\", \"digest\": \"sha256:"                              \
    "0000000000000000000000000000000000000000000000000000000000000000\"}"
    static const struct str text = STR_INIT(
        "{\"$schema\": \"" WELL_KNOWN_SCHEMA
        "\", \"skills\": [" ENTRY("a", "1.zip") ", " ENTRY(
            "a", "2.zip") ", " ENTRY("B", "3.zip") ", " ENTRY("c",
                                                              "4.zip") "]}");
    CLEANUP(arena_done) struct arena a = {0};
    struct well_known_index index;
    struct err e = {0};

    CHECK(well_known_parse(text, STR(BASE), &a, &index, &e));
    CHECK(index.count == 2 && index.left_out == 2);
    CHECK(!well_known_find(&index, STR("B")));
    CHECK_STR(str_dup0(well_known_find(&index, STR("a"))->url, &a),
              "https://h.example/.well-known/agent-skills/1.zip");
}

TEST(an_index_is_bounded) /* [V78, row 43] */
{
    CLEANUP(buf_done) struct buf b = {0};

    for (size_t more = 0; more < 2; more++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct well_known_index index;
        struct err e = {0};

        buf_done(&b);
        buf_init(&b, AGENT_INDEX_MAX_BYTES);
        buf_text(&b, "{\"$schema\": \"" WELL_KNOWN_SCHEMA
                     "\", \"skills\": [" ENTRY("a", "1.zip"));
        for (size_t i = 1; i < AGENT_INDEX_MAX_ENTRIES + more; i++)
            buf_text(&b, ",1");
        buf_text(&b, "]}");
        if (more) {
            CHECK(!well_known_parse(buf_str(&b), STR(BASE), &a, &index, &e));
            CHECK(e.code == ERR_LIMIT);
            continue;
        }
        CHECK(well_known_parse(buf_str(&b), STR(BASE), &a, &index, &e));
        CHECK(index.count == 1 &&
              index.left_out == AGENT_INDEX_MAX_ENTRIES - 1);
    }
}
