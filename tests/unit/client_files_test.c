#include "base/fs.h"
#include "mapm/clients.h"
#include "mapm/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../provision/merge.h"
#include "../../provision/render.h"
#include "tap.h"

/* [H6] our servers in the file of each client, whatever else is in it */

#define KEY   STR("io-e-m")
#define OTHER STR("a-b")

static const char *const entries[] = {
    "{\"command\": \"npx\", \"args\": [\"-y\", \"x\"], \"env\": {\"A\": "
    "\"1\"}}",
    "{\"command\": \"uvx\", \"timeout\": 5000}",
    "{\"type\": \"http\", \"url\": \"https://h/\", \"headers\": {\"X\": "
    "\"y\"}}",
};

/*
 * What people have in such files. "%s" is the section; a letter says what the
 * format has to accept: c comments, t trailing commas, b anything.
 */
/* clang-format off */
static const struct {
    enum shape_format format; /* JSON for all three */
    char needs;
    const char *text;
} texts[] = {
    {SHAPE_JSON, 'b', ""},
    {SHAPE_JSON, 'b', "{}"},
    {SHAPE_JSON, 'b', "{}\n"},
    {SHAPE_JSON, 'b', "{\n}\n"},
    {SHAPE_JSON, 'b', "{\"z\": [1.50, \"\\u0041\"]}"},
    {SHAPE_JSON, 'b', "{\"%s\": {}}"},
    {SHAPE_JSON, 'b', "{\n  \"%s\": {\n  }\n}\n"},
    {SHAPE_JSON, 'b', "{\"%s\":{\"mine\":{\"x\":[ ]}},\"z\":[]}"},
    {SHAPE_JSON, 'b', "{\n\t\"%s\": {\n\t\t\"mine\": {\n\t\t\t\"x\": 1\n\t\t}\n\t},\n\t\"z\": null\n}"},
    {SHAPE_JSON, 'b', "{\r\n    \"a\" : 1,\r\n    \"%s\" : { \"mine\" : {} }\r\n}\r\n"},
    {SHAPE_JSON, 'b', "\xef\xbb\xbf{\n  \"z\": {}\n}\n"},
    {SHAPE_JSON, 'c', "// top\n{\n  /* a */ \"%s\": { // b\n    \"mine\": {} /* c */\n  } // d\n}\n// end"},
    {SHAPE_JSON, 'c', "{ /* none */ }"},
    {SHAPE_JSON, 'c', "{\n  \"%s\": { /* none */ }, \"z\": 1\n}\n"},
    {SHAPE_JSON, 'c', "{\"%s\": {/* none */\n}}"},
    {SHAPE_JSON, 'c', "{ // nothing\n}\n"},
    {SHAPE_JSON, 't', "{\n  \"%s\": {\n    \"mine\": {\"x\": [1,],},\n  },\n}\n"},
    {SHAPE_JSON, 't', "{\"%s\": {\"mine\": {},}, // c\n\"z\": 1,}"},

    {SHAPE_TOML, 'b', ""},
    {SHAPE_TOML, 'b', "\n"},
    {SHAPE_TOML, 'b', "# c"},
    {SHAPE_TOML, 'b', "a = 1"},
    {SHAPE_TOML, 'b', "a = 1\n\n\n"},
    {SHAPE_TOML, 'b', "a = 1 # c\r\n[b.c]\r\nd = \"\"\"\r\nx\"\"\"\r\n"},
    {SHAPE_TOML, 'b', "\xef\xbb\xbf" "a = [\n\t1, # c\n]\n"},
    {SHAPE_TOML, 'b', "[x]\ny = {z = 1}\n\n[[w]]\nv = 1\n[[w]]   \n# end"},

    {SHAPE_TOML, 'b', "a = -0.5e+1_0\nb = [0xf_f, 2026-11-23 10:00:00.5Z,\n]\n"},
    {SHAPE_TOML, 'b', "[a]\nb.c = inf\n[a.d]\n[[w]]\n[w.x]\n[[w]]\n[w.x]\nt = 07:32:00\nn = {}\n"},

    {SHAPE_YAML, 'b', ""},
    {SHAPE_YAML, 'b', "# c\n"},
    {SHAPE_YAML, 'b', "# c"},
    {SHAPE_YAML, 'b', "---\na: 1\n"},
    {SHAPE_YAML, 'b', "a: 1"},
    {SHAPE_YAML, 'b', "%s:"},
    {SHAPE_YAML, 'b', "%s:  # none\nb: {x: [1, 2]}\n"},
    {SHAPE_YAML, 'b', "{}"},
    {SHAPE_YAML, 'b', "\n { \n}\n\n"},
    {SHAPE_YAML, 'm', "%s: {}"},
    {SHAPE_YAML, 'm', "a: 1\n\"%s\":  { } # c\n# of b\nb: 2\n"},
    {SHAPE_YAML, 'm', "%s:\r\n    {\r\n    }\r\nb: {}\r\n"},
    {SHAPE_YAML, 'l', "%s: []"},
    {SHAPE_YAML, 'l', "a: []\n%s: [ ] # c\n\nb: 2"},
    {SHAPE_YAML, 'l', "%s:\n  [\n  ]\n# end\n"},
    {SHAPE_YAML, 'm', "a: 1\n%s:\n  mine:\n    x: |\n      1\n      2\n# end\n"},
    {SHAPE_YAML, 'm', "a: 'x'\r\n%s:\r\n    mine: {x: 1}   # c\r\n\r\n    more:\r\n      - 1\r\nb: 2\r\n"},
    {SHAPE_YAML, 'b', "\xef\xbb\xbf" "a: 1\n\n\n"},
    {SHAPE_YAML, 'm', "%s:\n  mine:\n    x: 1\n    # of mine\n\nz:\n- 1\n- b: 2\n"},
    {SHAPE_YAML, 'm', "z: 1\n%s:\n  mine:\n    x: \"a\\\n      b\""},
    {SHAPE_YAML, 'l', "a: 1\n%s:\n- name: mine # c\n  x: |\n    1\n# end\n"},
    {SHAPE_YAML, 'l', "a: 1\r\n%s:\r\n    -   x: 1\r\n        name: mine\r\n\r\n    - {name: more}\r\nb: 2\r\n"},
    {SHAPE_YAML, 'l', "%s:\n  - mine\n  - name: [x]\n  # of mine\n\nz:\n- 1"},
};

/* What is not edited, and stays. */
static const struct {
    enum shape_format format;
    const char *text;
} broken[] = {
    {SHAPE_JSON, "{"}, {SHAPE_JSON, "[]"}, {SHAPE_JSON, "{\"%s\": []}"},
    {SHAPE_JSON, "{\"a\": 1, \"a\": 2}"}, {SHAPE_JSON, "\xff"},
    {SHAPE_TOML, "a = "}, {SHAPE_TOML, "%s = 1\n"}, {SHAPE_TOML, "\xff"}, {SHAPE_TOML, "a = 1 2\n"},
    {SHAPE_TOML, "a = yes\n"}, {SHAPE_TOML, "a = [1 2]\n"}, {SHAPE_TOML, "a = {b}\n"},
    {SHAPE_TOML, "a = 1\na = 2\n"}, {SHAPE_TOML, "[a]\nb = 1\n[c]\n[a]\n"},
    {SHAPE_TOML, "a = 1\n[a.b]\n"}, {SHAPE_TOML, "[[a]]\nx = 1\n[[a]]\n[a.b]\n[a.b]\n"},
    {SHAPE_TOML, "a = 2026-1-01\n"}, {SHAPE_TOML, "a = 1__0\n"},
    {SHAPE_YAML, "a: [1"}, {SHAPE_YAML, "- 1\n"}, {SHAPE_YAML, "%s: 1\n"},
    {SHAPE_YAML, "%s: {mine: {}}\n"}, {SHAPE_YAML, "{\"%s\": {}}\n"}, {SHAPE_YAML, "# c\n{}\n"},
    {SHAPE_YAML, "%s: { # c\n}\n"}, {SHAPE_YAML, "%s: # c\n  {}\n"}, {SHAPE_YAML, "{a: 1}\n"},
    {SHAPE_YAML, "%s: &x\n  a: 1\n"}, {SHAPE_YAML, "a: !t 1\n"}, {SHAPE_YAML, "a: 1\n---\nb: 1\n"},
    {SHAPE_YAML, "%s: [1]\n"}, {SHAPE_YAML, "%s: [{name: x}]\n"}, {SHAPE_YAML, "? %s\n: mine: 1\n"}, {SHAPE_YAML, "a: 1\n..."},
    {SHAPE_YAML, "a: |\n  x"}, /* what follows would give it a line end */
};
/* clang-format on */

static bool is_format(const struct mcp_shape *s, enum shape_format f)
{
    return f == SHAPE_JSON ? s->format <= SHAPE_JSON_RELAXED : s->format == f;
}

static bool accepts(const struct mcp_shape *s, size_t i)
{
    return is_format(s, texts[i].format) &&
           (texts[i].needs == 'b' ||
            (s->format == SHAPE_YAML &&
             texts[i].needs == (s->is_list ? 'l' : 'm')) ||
            s->format == SHAPE_JSON_RELAXED ||
            (texts[i].needs == 'c' && s->format == SHAPE_JSON_COMMENTED));
}

static struct str fill(const char *text, const struct mcp_shape *s,
                       struct arena *a)
{
    const char *at = strstr(text, "%s");

    return at ? arena_printf(a, "%.*s%s%s", (int)(at - text), text, s->section,
                             at + 2)
              : str_cstr(text);
}

static bool put(struct merge *m, const struct client *c, struct str key,
                const char *entry, struct arena *a, struct err *e)
{
    struct hash want, got;
    struct str made;
    bool found;

    return render_server(c, key, str_cstr(entry), a, &made, e) &&
           merge_put(m, key, made, e) &&
           merge_hash(c->mcp.shape, key, made, a, &want, e) &&
           merge_check(m, e) &&
           (is_format(c->mcp.shape, SHAPE_JSON) ||
            (merge_find(m, key, &found, &got, e) && found &&
             hash_eq(&want, &got)));
}

/* Opens what `text` has become, where it says the same of the entry. */
static bool is_found_again(const struct client *c, struct str text,
                           const char *entry, struct arena *a, struct err *e)
{
    struct merge_file f = {c->mcp.shape, c->name, STR("file")};
    struct hash want, got;
    struct str made;
    struct merge m;
    bool found;

    return merge_open(&f, text, a, &m, e) &&
           render_server(c, KEY, str_cstr(entry), a, &made, e) &&
           merge_hash(c->mcp.shape, KEY, made, a, &want, e) &&
           merge_find(&m, KEY, &found, &got, e) && found &&
           hash_eq(&want, &got);
}

/* In three runs of the program: put, replaced beside another, removed. */
static bool puts_and_removes(const struct client *c, struct str before,
                             struct arena *a, struct str *after, struct err *e)
{
    struct merge_file f = {c->mcp.shape, c->name, STR("file")};
    const char *last = entries[c->mcp.shape->is_local ? 0 : 2];
    struct str text = before, gap;
    struct merge m;
    bool ok, section, is_all;

    if (!merge_open(&f, text, a, &m, e))
        return false;
    section = merge_has_section(&m);
    gap = merge_gap(&m, &is_all);
    /* what is not there leaves every byte */
    ok = merge_remove(&m, KEY, e) && str_eq(merge_text(&m, a), before) &&
         put(&m, c, KEY, entries[0], a, e);
    text = merge_text(&m, a);
    merge_done(&m);
    if (!ok || !is_found_again(c, text, entries[0], a, e) ||
        !merge_open(&f, text, a, &m, e))
        return false;
    ok = put(&m, c, OTHER, last, a, e) && put(&m, c, KEY, entries[1], a, e);
    text = merge_text(&m, a);
    merge_done(&m);
    if (!ok || !is_found_again(c, text, entries[1], a, e) ||
        !merge_open(&f, text, a, &m, e))
        return false;
    ok = merge_remove(&m, KEY, e) && merge_remove(&m, OTHER, e) &&
         (section || merge_drop_section(&m, e)) && merge_put_gap(&m, gap, e) &&
         merge_check(&m, e);
    *after = merge_text(&m, a);
    if ((is_all || !before.n) && merge_is_empty(&m))
        *after = gap;
    merge_done(&m);
    return ok;
}

/* Each shape once, by the first file of the table that has it. */
static bool take_shape(size_t i, const struct mcp_shape *seen[], size_t *count,
                       struct client *out)
{
    *out = clients_table[i / 2];
    if (i % 2)
        out->mcp = out->mcp_user;
    if (!out->mcp.shape)
        return false;
    for (size_t k = 0; k < *count; k++)
        if (seen[k] == out->mcp.shape)
            return false;
    seen[(*count)++] = out->mcp.shape;
    return true;
}

TEST(put_and_removed_leaves_every_byte)
{
    const struct mcp_shape *seen[40];
    size_t count = 0;
    struct client c;

    for (size_t i = 0; i < 2 * clients_count; i++) {
        if (!take_shape(i, seen, &count, &c))
            continue;
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            struct arena a = {0};
            struct err e = {0};
            struct str before, after = STR("");

            if (!accepts(c.mcp.shape, k))
                continue;
            before = fill(texts[k].text, c.mcp.shape, &a);
            if (!puts_and_removes(&c, before, &a, &after, &e)) {
                printf("# %s, text %zu: %s\n", c.name, k, err_first(&e));
                CHECK(!"it can be edited");
            } else {
                CHECK_STR(str_dup0(after, &a), str_dup0(before, &a));
            }
            arena_done(&a);
        }
    }
    CHECK(count == 18);
}

TEST(what_cannot_be_edited_stays)
{
    const struct mcp_shape *seen[40];
    size_t count = 0;
    struct client c;

    for (size_t i = 0; i < 2 * clients_count; i++) {
        if (!take_shape(i, seen, &count, &c))
            continue;
        for (size_t k = 0; k < sizeof broken / sizeof *broken; k++) {
            struct merge_file f = {c.mcp.shape, c.name, STR("file")};
            struct arena a = {0};
            struct err e = {0};
            struct merge m = {0};
            struct str text;

            if (!is_format(c.mcp.shape, broken[k].format))
                continue;
            text = fill(broken[k].text, c.mcp.shape, &a);
            if (merge_open(&f, text, &a, &m, &e) &&
                put(&m, &c, KEY, entries[0], &a, &e)) {
                printf("# %s, text %zu\n", c.name, k);
                CHECK(!"it is refused");
            }
            CHECK(e.code == ERR_FORMAT);
            merge_done(&m);
            arena_done(&a);
        }
    }
}

/* The last look before a file is written: [row 15] what is not ours is as it was,
 * whatever an editor of ours would have done to it. */
TEST(a_text_that_changes_others_is_refused)
{
    const struct mcp_shape *seen[40];
    size_t count = 0;
    struct client c;

    for (size_t i = 0; i < 2 * clients_count; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct merge m = {0};
        struct merge_file f;

        if (!take_shape(i, seen, &count, &c))
            continue;
        f = (struct merge_file){c.mcp.shape, c.name, STR("file")};
        CHECK(merge_open(&f, STR(""), &a, &m, &e) &&
              put(&m, &c, KEY, entries[0], &a, &e) && merge_check(&m, &e));
        m.before = c.mcp.shape->format == SHAPE_TOML   ? STR("z = 1\n")
                   : c.mcp.shape->format == SHAPE_YAML ? STR("z: 1\n")
                                                       : STR("{\"z\": 1}");
        CHECK(!merge_check(&m, &e));
        CHECK_STR(err_prev(&e, NULL), "cannot edit file: what is not mapm's "
                                      "would change with it");
        merge_done(&m);
        arena_done(&a);
    }
}

/* Members of the person's own in an element of a list survive a new version,
 * and are no edit; sub-tables belong to the element. */
TEST(elements_of_a_list_keep_what_a_person_added)
{
    static const char text[] =
        "[[mcp_servers]]\nname = 'first'\n[mcp_servers.env]\nA = '1'\n\n"
        "[[mcp_servers]]\n  name = \"io-e-m\" # ours\nprompt = \"p\"\n"
        "transport = \"stdio\"\ncommand = \"old\"\n[mcp_servers.env]\nB = '2'\n"
        "\n[z]\n";
    const struct client *c = clients_find(STR("vibe"));
    struct merge_file f = {c->mcp.shape, c->name, STR("config.toml")};
    struct arena a = {0};
    struct err e = {0};
    struct merge m;

    CHECK(merge_open(&f, str_cstr(text), &a, &m, &e));
    CHECK(put(&m, c, KEY, entries[0], &a, &e));
    CHECK_STR(
        str_dup0(m.text, &a),
        "[[mcp_servers]]\nname = 'first'\n[mcp_servers.env]\nA = '1'\n\n"
        "[[mcp_servers]]\nname = \"io-e-m\"\ntransport = \"stdio\"\n"
        "command = \"npx\"\nargs = [\"-y\", \"x\"]\nenv = { \"A\" = \"1\" "
        "}\nprompt = \"p\"\n\n[z]\n");
    CHECK(merge_remove(&m, KEY, &e) && merge_check(&m, &e));
    CHECK_STR(str_dup0(m.text, &a),
              "[[mcp_servers]]\nname = 'first'\n[mcp_servers.env]\nA = '1'\n\n"
              "[z]\n");
    merge_done(&m);
    arena_done(&a);
}

/* [H6] So do those of an object in JSON, as Kiro writes them at a click. */
TEST(an_entry_keeps_what_a_person_allowed)
{
    static const char text[] =
        "{\"mcpServers\": {\n  \"io-e-m\": {\"command\": \"npx\", \"args\": "
        "[\"-y\", \"x\"],\n    \"env\": {\"A\": \"1\"}, \"autoApprove\": "
        "[\"a\",\n \"b\"], \"disabledTools\": []}\n}}\n";
    const struct client *c = clients_find(STR("kiro"));
    struct merge_file f = {c->mcp.shape, c->name, STR("mcp.json")};
    struct arena a = {0};
    struct err e = {0};
    const struct json *root, *entry;
    struct json_options o = {
        .max_bytes = 4096, .max_depth = 9, .max_nodes = 99};
    struct merge m;

    CHECK(is_found_again(c, str_cstr(text), entries[0], &a, &e));
    CHECK(merge_open(&f, str_cstr(text), &a, &m, &e));
    CHECK(put(&m, c, KEY, entries[1], &a, &e) && merge_check(&m, &e));
    CHECK(is_found_again(c, m.text, entries[1], &a, &e));
    CHECK(json_parse(m.text, &o, &a, &root, NULL, &e));
    entry = json_get(json_get(root, "mcpServers"), "io-e-m");
    CHECK(str_is(json_text(json_get(entry, "command")), "uvx"));
    CHECK(json_get(entry, "autoApprove")->count == 2);
    CHECK(json_get(entry, "disabledTools")->count == 0);
    CHECK(!json_get(entry, "env"));
    CHECK(merge_remove(&m, KEY, &e) && merge_check(&m, &e));
    CHECK_STR(str_dup0(m.text, &a), "{\"mcpServers\": {}}\n");
    merge_done(&m);

    /* Of a text or list in its place nothing stays. */
    CHECK(
        merge_open(&f, STR("{\"mcpServers\": {\"io-e-m\": [1]}}"), &a, &m, &e));
    CHECK(put(&m, c, KEY, entries[1], &a, &e));
    CHECK(is_found_again(c, m.text, entries[1], &a, &e));
    merge_done(&m);
    arena_done(&a);
}

/* opencode 2 has its servers one object deeper, without `enabled`. */
TEST(an_inner_object_holds_the_servers)
{
    static const char text[] = "{\"mcp\": {\"servers\": {\"x\": {}}}}";
    static const struct {
        const char *text, *left;
    } emptied[] = {
        {"{\"mcp\": {\"servers\": {\"io-e-m\": {}}}}", "{}"},
        {"{\"mcp\": {\"servers\": {\"io-e-m\": {}}, \"timeout\": 5}}",
         "{\"mcp\": {\"timeout\": 5}}"},
        {"{\"mcp\": {/* mine */ \"servers\": {\"io-e-m\": {}}}}",
         "{\"mcp\": {/* mine */}}"},
    };
    const struct client *c = clients_find(STR("opencode"));
    struct merge_file f = {c->mcp.shape, c->name, STR("opencode.json")};
    struct arena a = {0};
    struct err e = {0};
    struct merge m;

    CHECK(merge_open(&f, str_cstr(text), &a, &m, &e) && m.is_inner);
    CHECK(put(&m, c, KEY, entries[1], &a, &e));
    CHECK_STR(str_dup0(m.text, &a),
              "{\"mcp\": {\"servers\": {\"x\": {}, \"io-e-m\": {\"type\": "
              "\"local\", \"command\": [\"uvx\"], \"timeout\": 5000}}}}");
    CHECK(is_found_again(c, m.text, entries[1], &a, &e));
    CHECK(merge_remove(&m, KEY, &e) && merge_drop_section(&m, &e));
    CHECK_STR(str_dup0(m.text, &a), text);
    merge_done(&m);
    /* Emptied, it goes with the object around it, unless that has more. */
    for (size_t i = 0; i < sizeof emptied / sizeof *emptied; i++) {
        CHECK(merge_open(&f, str_cstr(emptied[i].text), &a, &m, &e) &&
              m.is_inner);
        CHECK(merge_remove(&m, KEY, &e) && merge_drop_section(&m, &e) &&
              merge_check(&m, &e));
        CHECK_STR(str_dup0(m.text, &a), emptied[i].left);
        CHECK(merge_is_empty(&m) == (i == 0));
        merge_done(&m);
    }
    /* A server may have that name. */
    CHECK(merge_open(&f, STR("{\"mcp\": {\"servers\": {\"type\": \"local\"}}}"),
                     &a, &m, &e) &&
          !m.is_inner);
    merge_done(&m);
    arena_done(&a);
}

/* [H6] Seconds are rounded up and limited to the maximum of the client. */
TEST(a_time_limit_is_in_whole_seconds)
{
    static const struct {
        const char *ms, *seconds;
    } rows[] = {{"1", "1"},        {"1000", "1"},     {"1001", "2"},
                {"299001", "300"}, {"300000", "300"}, {"300001", "300"}};
    const struct client *c = clients_find(STR("codex"));
    struct arena a = {0};
    struct err e = {0};
    struct str made;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str entry = arena_printf(
            &a, "{\"command\": \"x\", \"timeout\": %s}", rows[i].ms);

        CHECK(render_server(c, KEY, entry, &a, &made, &e));
        CHECK(str_ends(made, arena_printf(&a, "\"tool_timeout_sec\": %s\n}",
                                          rows[i].seconds)));
    }
    arena_done(&a);
}
