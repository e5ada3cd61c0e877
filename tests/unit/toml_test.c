#include "base/fs.h"

#include "../../provision/toml.h"
#include "tap.h"

/* .codex/config.toml, edited in place: [X21, row 16] */

static const struct toml_place place = {STR_INIT("mcp_servers"), STR_INIT("k"),
                                        NULL, NULL, 0};
#define TABLE "[mcp_servers.\"k\"]\ncommand = \"x\""
#define OLD   "[mcp_servers.\"k\"]\ncommand = \"old\"\n"

static const struct {
    const char *before, *put, *removed; /* NULL: as before */
} rows[] = {
    {"", TABLE "\n", NULL},
    {"a = 1", "a = 1\n\n" TABLE, NULL},
    {"a = 1\n", "a = 1\n\n" TABLE "\n", NULL},
    {"a = 1\n\n", "a = 1\n\n\n" TABLE "\n", NULL},
    {"# only a comment", "# only a comment\n\n" TABLE, NULL},
    {"a = 1\r\n", "a = 1\r\n\r\n[mcp_servers.\"k\"]\r\ncommand = \"x\"\r\n",
     NULL},
    {OLD, TABLE "\n", ""},
    {"a = 1\n\n" OLD, "a = 1\n\n" TABLE "\n", "a = 1\n"},
    {"a = 1\n\n" OLD "\n# next\n[b]\n", "a = 1\n\n" TABLE "\n\n# next\n[b]\n",
     "a = 1\n\n# next\n[b]\n"},
    /* the name in any spelling, with blanks, comments and sub-tables */
    {"[ mcp_servers . 'k' ] # c\nx = 1\n[mcp_servers.k.env]\nA = \"b\"\n"
     "[other]\ny = 2\n",
     TABLE "\n[other]\ny = 2\n", "[other]\ny = 2\n"},
    {"[\"mcp_\\u0073ervers\".\"\\x6b\"]\nx = 1\n", TABLE "\n", ""},
    {"[mcp_servers.k]\nx = 1\n[z]\n[mcp_servers.k.env]\nA = 1\n",
     TABLE "\n[z]\n", "[z]\n"},
    /* neighbours */
    {"[mcp_servers.kk]\nx = 1\n", "[mcp_servers.kk]\nx = 1\n\n" TABLE "\n",
     NULL},
    {"[mcp_servers]\nj = {a = 1}\n",
     "[mcp_servers]\nj = {a = 1}\n\n" TABLE "\n", NULL},
    {"[servers.k]\n", "[servers.k]\n\n" TABLE "\n", NULL},
    /* what looks like a header and is none */
    {"a = \"\"\"\n[mcp_servers.k]\n\"\"\"\n",
     "a = \"\"\"\n[mcp_servers.k]\n\"\"\"\n\n" TABLE "\n", NULL},
    {"a = '''\n[mcp_servers.k]\n'''\n",
     "a = '''\n[mcp_servers.k]\n'''\n\n" TABLE "\n", NULL},
    {"a = [\n[1], # [mcp_servers.k]\n[\"]\"],\n]\n",
     "a = [\n[1], # [mcp_servers.k]\n[\"]\"],\n]\n\n" TABLE "\n", NULL},
    {"a = \"\"\"x\\\"\"\"\"\n", "a = \"\"\"x\\\"\"\"\"\n\n" TABLE "\n", NULL},
    {"a = \"\"\"\"x\"\"\"\"\"\n", "a = \"\"\"\"x\"\"\"\"\"\n\n" TABLE "\n",
     NULL},
    {"a = {b = {c = '}'}}\n", "a = {b = {c = '}'}}\n\n" TABLE "\n", NULL},
    {"d = 2000-02-29\nt = 23:59:60.5\ns = \"\\u00e9\\t\\\\\"\nm = \"\"\"a \\ "
     "\n b\\n\"\"\"\n",
     "d = 2000-02-29\nt = 23:59:60.5\ns = \"\\u00e9\\t\\\\\"\nm = \"\"\"a \\ "
     "\n b\\n\"\"\"\n\n" TABLE "\n",
     NULL},
    {"d = 1979-05-27 07:32:00Z\nf = -1e+5\n[[x.y]]\n",
     "d = 1979-05-27 07:32:00Z\nf = -1e+5\n[[x.y]]\n\n" TABLE "\n", NULL},
};

TEST(tables_are_put_and_removed_in_place)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str before = str_cstr(rows[i].before), out = {0}, again = {0};
        struct arena a = {0};
        struct err e = {0};

        CHECK(toml_put(before, &place, STR(TABLE), &a, &out, &e));
        CHECK_STR(str_dup0(out, &a), rows[i].put);
        CHECK(toml_find(out, &place, &a, &again, &e) && again.n);
        CHECK(toml_put(out, &place, STR(TABLE), &a, &again, &e));
        CHECK_STR(str_dup0(again, &a), rows[i].put);
        CHECK(toml_remove(before, &place, &a, &out, &e));
        CHECK_STR(str_dup0(out, &a),
                  rows[i].removed ? rows[i].removed : rows[i].before);
        arena_done(&a);
    }
}

/* What was put and is taken out again leaves the file as it was. */
TEST(put_and_removed_is_as_before)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str before = str_cstr(rows[i].before), out = {0};
        struct arena a = {0};
        struct err e = {0};

        if (rows[i].removed)
            continue;
        CHECK(toml_put(before, &place, STR(TABLE), &a, &out, &e));
        CHECK(toml_remove(out, &place, &a, &out, &e));
        CHECK_STR(str_dup0(out, &a), rows[i].before);
        arena_done(&a);
    }
}

TEST(what_cannot_be_read_or_edited_is_refused)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"a = \"x\n", "line 1: a string is not closed"},
        {"\na = '''x\n\n", "line 4: a string is not closed"},
        {"a = [1, 2\n", "line 2: a bracket is not closed"},
        {"a = [1}\n", "line 1: \",\" is expected"},
        {"a = ]\n", "line 1: a value is expected"},
        {"a\n", "line 1: \"=\" is expected"},
        {"a =\n", "line 1: a value is expected"},
        {"= 1\n", "line 1: a key is expected"},
        {"[a\n", "line 1: \"]\" is expected"},
        {"[[a]\n", "line 1: \"]\" is expected"},
        {"[]\n", "line 1: a key is expected"},
        {"[a] b = 1\n", "line 1: the end of the line is expected"},
        {"a = 1 = 2\n", "line 1: the end of the line is expected"},
        {"a = \x01\n", "line 1: a value is expected"},
        {"# \x01\n", "line 1: a control character in a comment"},
        {"a = \"\x01\"\n", "line 1: a control character in a string"},
        {"a = 1\rb = 2\n", "line 1: the end of the line is expected"},
        {"\"\\q\" = 1\n", "line 1: an unknown escape in a string"},
        {"\"\\ud800\" = 1\n",
         "line 1: an escape in a string is not a character"},
        {"a = 'x'\nb = \"\\q\"\n", "line 2: an unknown escape in a string"},
        {"a = \"\\\n\"\n", "line 1: an unknown escape in a string"},
        {"a = \"\"\"\\ x\"\"\"\n", "line 1: an unknown escape in a string"},
        {"a = [\"\\u00g0\"]\n",
         "line 1: an escape in a string is not a character"},
        {"a = 1979-13-01\n", "line 1: not a value"},
        {"a = 1900-02-29\n", "line 1: not a value"},
        {"a = 1979-04-31T00:00:00Z\n", "line 1: not a value"},
        {"a = 24:00:00\n", "line 1: not a value"},
        {"a = 07:60\n", "line 1: not a value"},
        {"a = 07:32:00.\n", "line 1: not a value"},
        {"a = 1979-05-27T07:32:00+24:00\n", "line 1: not a value"},
        {"a = \xff\n", "is not UTF-8"},
        {"a = {x = 1, y = {x = 2}, 'x' = 3}\n", "line 1: duplicate key \"x\""},
        {"a = [{b = 1}, {b.c = 1, b.d = 2,\nb = 3}]\n",
         "line 2: duplicate key \"b\""},
        {"a = {b = 1, b.c = 2}\n", "line 1: duplicate key \"c\""},
        {"mcp_servers = {}\n",
         "line 1: \"mcp_servers\" is written as a key, not as a table"},
        {"mcp_servers.k.x = 1\n",
         "line 1: \"k\" is written as a key, not as a table"},
        {"[mcp_servers]\nk = {}\n",
         "line 2: \"k\" is written as a key, not as a table"},
        {"[[mcp_servers]]\n",
         "line 1: \"mcp_servers\" is written as a list of tables"},
        {"[[mcp_servers.k]]\n", "line 1: \"k\" is written as a list of tables"},
        {"[mcp_servers.k]\n[mcp_servers.k]\n", "line 2: duplicate key \"k\""},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct str out = {0};
        struct arena a = {0};
        struct err e = {0};

        CHECK(
            !toml_put(str_cstr(bad[i].text), &place, STR(TABLE), &a, &out, &e));
        CHECK(e.code == ERR_FORMAT && !out.p);
        CHECK_STR(err_first(&e), bad[i].why);
        arena_done(&a);
    }
}

/* [row 5] depth is counted, 64 and 65 */
TEST(nesting_is_bounded)
{
    char text[200] = "a = ";
    struct arena a = {0};
    struct err e = {0};
    struct str out;

    memset(text + 4, '[', 64);
    memset(text + 68, ']', 64);
    CHECK(toml_find(str_cstr(text), &place, &a, &out, &e));
    memset(text + 4, '[', 65);
    memset(text + 69, ']', 65);
    CHECK(!toml_find(str_cstr(text), &place, &a, &out, &e));
    CHECK_STR(err_first(&e), "line 1: nested too deep");
    arena_done(&a);
}

/* A table that a header or a dotted key implied is one, too. */
TEST(implied_tables_are_tables)
{
    static const struct {
        const char *text, *problem; /* NULL: accepted */
    } cases[] = {
        {"[y.z]\n[y]\n[x]\n", NULL},
        {"[y.z]\n[[y]]\n", "line 2: duplicate key \"y\""},
        {"[y.z]\n[y]\n[y]\n", "line 3: duplicate key \"y\""},
        {"[y.z]\n[y]\nz = 1\n", "line 3: duplicate key \"z\""},
        {"[x.y.z]\n[[x.y]]\n", "line 2: duplicate key \"y\""},
        {"[[y]]\n[y.z]\n[[y]]\n[y.z]\n", NULL},
        {"[[y]]\n[y.z.a]\n[[y.z]]\n", "line 3: duplicate key \"z\""},
        {"y.z = 1\ny.x = 2\n[y.a]\n", NULL},
        {"y.z = 1\n[y]\n", "line 2: duplicate key \"y\""},
        {"y.z = 1\n[[y]]\n", "line 2: duplicate key \"y\""},
        {"[y.z]\n[y]\nz.a = 1\n", "line 3: duplicate key \"a\""},
        {"[y]\nz.a = 1\n[y.z]\n", "line 3: duplicate key \"z\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};

        CHECK(toml_check(str_cstr(cases[i].text), &e) == !cases[i].problem);
        CHECK_STR(err_first(&e), cases[i].problem ? cases[i].problem : "");
    }
}

/* [row 5] a key, too, whose parts are not copied once for each of them */
TEST(parts_of_keys_are_bounded)
{
    char text[200];
    struct arena a = {0};
    struct err e = {0};
    struct str out;

    for (size_t i = 0; i < 65; i++)
        memcpy(text + 2 * i, "a.", 2);
    memcpy(text + 127, "=1\n", 4);
    CHECK(toml_check(str_cstr(text), &e));
    memcpy(text + 127, ".a=1\n", 6);
    CHECK(!toml_check(str_cstr(text), &e));
    CHECK_STR(err_first(&e), "line 1: nested too deep");
    err_clear(&e);
    memcpy(text, "[", 1);
    CHECK(!toml_find(str_cstr(text), &place, &a, &out, &e));
    arena_done(&a);
}
