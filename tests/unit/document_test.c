#include "base/hash.h"
#include "base/text.h"
#include "base/yaml.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"

#include <stdlib.h>

#include "../../manifest/document.h"
#include "document_case.h"

/* The fields of a document after reading, and the order of its diagnostics. */

static void read_skill(struct reading *r, const char *text)
{
    reading_of(r, (struct manifest_input){.kind = DOC_SKILL,
                                          .text = str_cstr(text),
                                          .folder = STR("foo")});
}

/* Order and lines: REQUIREMENTS 5, [L9]. */
static const struct {
    const char *text, *diagnostics;
} orders[] = {
    {DOC("name: foo\nversion: 1.0\nscope: A\ndescription: \"\"\n"),
     "version-format:3! scope-grammar:4! description-empty:5!"},
    {DOC("metadata:\n  a:\n    - b\ncontext: x\n"),
     "name-from-folder:1 description-missing:1! version-missing:1 "
     "metadata-value:3 context-value:5"},
    {"---\nname: foo\ndescription: a\nversion: "
     "1.0.0\n---\n\n\nA\nb\xe2\x80\xae",
     "hidden-characters:9!"},
    /* [F3] a CR that no line end is part of; text with CRLF has none */
    {DOC("name: foo\nversion: 1.0.0\ndescription: \"a\\rb\"\n"),
     "hidden-characters:4!"},
    {DOC("name: foo\nversion: 1.0.0\ndescription: \"a\\r\"\n"),
     "hidden-characters:4!"},
    {DOC("name: foo\nversion: 1.0.0\ndescription: \"a\\r\\nb\"\n"), ""},
    {DOC("name: foo\nversion: 1.0.0\ndescription: a\nx: [\"a\\rb\"]\n"),
     "hidden-characters:5!"},
    {DOC("name: foo\nversion: 1.0.0\ndescription: a\n"
         "x: [a\xe2\x80\x8b, b\xe2\x80\x8b]\n"),
     "zero-width:5"},
    {DOC("name: foo\nversion: 1.0.0\ndescription: a\xe2\x80\x8b"
         "b\n"),
     "zero-width:4"},
    {"---\r\nname: Foo\r\ndescription: a\r\nversion: 1\r\n---\r\nA\r\n",
     "name-from-folder:2 version-format:4"}, /* [F5] */
    {"---\rname: foo\rdescription: a\rversion: 1\r---\rA\r",
     "version-format:4"},
    {"---\nname: foo\ndescription: a: b\nversion: 1.0.0\nhomepage: c: d\n---\n",
     "yaml-repaired:3 yaml-repaired:5"},
    {"---  \nname: foo\ndescription: a\nversion: 1.0.0\n---\t\nA\n", ""},
    {"---\nname: foo\nversion: 1.0.0\ndescription: |\n  a\n  ---\n  b\n---\n",
     ""},
    {"---\nname: foo\nversion: 1.0.0\ndescription: a\nx: \"\n  b\n---\n",
     "yaml:7!"},
    {"---\nname: foo\nversion: 1.0.0\ndescription: a\n\tb: c\n---\n",
     "yaml:5!"},
};

TEST(diagnostics_come_by_line) /* [L9] */
{
    for (size_t i = 0; i < ROWS(orders); i++) {
        CLEANUP(reading_done) struct reading r;

        read_skill(&r, orders[i].text);
        CHECK_STR(diagnostics_text(&r), orders[i].diagnostics);
        /* The body is rejected if a model would read it. */
        CHECK(r.doc.hidden || !strstr(orders[i].diagnostics, "characters:9"));
        CHECK(!r.doc.hidden || strstr(orders[i].diagnostics, "characters:"));
    }
}

/* [A5] References of one.md, to which SKILL.md refers. */
TEST(references_are_one_level_deep)
{
    static const struct {
        const char *text;
        bool is_deep;
    } rows[] = {
        {"See [two](two.md).\n", true},
        {"See [two](two.md#part) and [x](x.md).\n", true},
        {"See [x](x.md) and [two](./a/../two.md).\n", true},
        {"See [no](none.md) and [two](two.md).\n", true},
        {"See [two](/two.md).\n", false},
        {"See [two](two\n.md).\n", false},
        {"See [two](x:two.md).\n", false},
        {"See [two](../foo/two.md).\n", false},
        {"See [two](two.txt).\n", false},
        {"See [two](two.md\n", false},
        {"See [named](named.md) and [it](SKILL.md).\n", false},
        {"two.md](two.md\n", false},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r;
        struct case_file all[] = {
            {"one.md", MANIFEST_FILE_OK, str_cstr(rows[i].text)},
            {"two.md", MANIFEST_FILE_OK, STR("Two.\n")},
            {"two\n.md", MANIFEST_FILE_OK, STR("Two.\n")},
            {"x:two.md", MANIFEST_FILE_OK, STR("Two.\n")},
            {"two.txt", MANIFEST_FILE_OK, STR("Two.\n")},
            {"named.md", MANIFEST_FILE_OK, STR("Named.\n")},
            {"SKILL.md", MANIFEST_FILE_OK, STR("\n")},
        };
        struct case_files beside = {all, ROWS(all)};
        struct manifest_files files = {case_read, &beside};

        reading_of(&r,
                   (struct manifest_input){
                       .kind = DOC_SKILL,
                       .text = STR("---\nname: foo\ndescription: Use it when.\n"
                                   "version: 1.0.0\n---\n"
                                   "[1](one.md) [n](named.md)\n"),
                       .profile = PROFILE_AGENTSKILLS,
                       .folder = STR("foo"),
                       .files = &files});
        CHECK_STR(diagnostics_text(&r),
                  rows[i].is_deep ? "reference-depth:6" : "");
    }
}

/* [T3, X10, T11, T12] The beginning of the body. */
static const struct {
    const char *text, *body;
    unsigned line;
} bodies[] = {
    {"---\nname: a\n---\nB\n", "B\n", 4},
    {"---\nname: a\n---\n\n\nB\n\n", "B\n\n", 6},
    {"---\r\nname: a\r\n---\r\n\r\nB\r\n", "B\r\n", 5},
    {"---\nname: a\n---", "", 4},
    {"---\nname: a\n---\n", "", 4},
    {"---\nname: a\n---\nB\n---\nC\n", "B\n---\nC\n", 4},
    {"---\nname: a\n---\n  B", "  B", 4},
};

TEST(each_of_the_bodies) /* [X10] */
{
    for (size_t i = 0; i < ROWS(bodies); i++) {
        CLEANUP(reading_done) struct reading r;

        read_skill(&r, bodies[i].text);
        CHECK_STR(str_dup0(r.doc.body, &r.a), bodies[i].body);
        CHECK(r.doc.body_line == bodies[i].line);
    }
}

static const char *hash_text(struct reading *r, const char *body)
{
    struct hash h = hash_of(str_cstr(body));

    return str_dup0(str_slice(hash_hex(&h, &r->a), 0, 16), &r->a);
}

TEST(skill_version_is_the_hash_of_the_body_with_lf) /* [T11] */
{
    CLEANUP(reading_done) struct reading lf;
    CLEANUP(reading_done) struct reading crlf;
    CLEANUP(reading_done) struct reading other;

    read_skill(&lf, "---\nname: a\n---\n\nB\nC\n");
    read_skill(&crlf, "---\r\nname: b\r\ndescription: x\r\n---\r\nB\r\nC\r\n");
    read_skill(&other, "---\nname: a\n---\nB\n");
    CHECK_STR(lf.doc.skill_version, hash_text(&lf, "B\nC\n"));
    CHECK_STR(crlf.doc.skill_version, lf.doc.skill_version);
    CHECK(strcmp(other.doc.skill_version, lf.doc.skill_version) != 0);
}

/* Reads a document with a body of `points` two-byte characters. */
static void read_long(struct reading *r, size_t points)
{
    struct str head = STR("---\nname: foo\ndescription: d\n---\n");
    char *text = heap_alloc(head.n + 2 * points + 1);

    memcpy(text, head.p, head.n);
    for (size_t i = 0; i < points; i++)
        memcpy(text + head.n + 2 * i, "\xc3\xa9", 2);
    *r = (struct reading){0};
    diagnostics_init(&r->why, &r->a);
    manifest_read(
        &(struct manifest_input){.kind = DOC_SKILL,
                                 .folder = STR("foo"),
                                 .text = arena_str(&r->a, str_cstr(text))},
        &r->a, &r->doc, &r->why);
    heap_free(text);
}

TEST(tokens_are_code_points_by_four) /* [T12] */
{
    static const struct {
        size_t points, tokens;
        bool warned;
    } sizes[] = {{0, 1, false},        {3, 1, false},
                 {8, 2, false},        {20000, 5000, false},
                 {20003, 5000, false}, {20004, 5001, true}};

    for (size_t i = 0; i < ROWS(sizes); i++) {
        CLEANUP(reading_done) struct reading r;

        read_long(&r, sizes[i].points);
        CHECK(r.doc.load_size_tokens == sizes[i].tokens);
        CHECK((level_said(&r, "body-tokens") == 'W') == sizes[i].warned);
    }
}

TEST(metadata_alone) /* [L9] */
{
    CLEANUP(reading_done) struct reading r;

    reading_of(&r, (struct manifest_input){.kind = DOC_SKILL,
                                           .text = STR(FULL("") "\xe2\x80\xae"),
                                           .folder = STR("foo"),
                                           .skip_body = true});
    CHECK_STR(diagnostics_text(&r), "");
    CHECK_STR(r.doc.skill_version, "");
    CHECK(r.doc.load_size_tokens == 0);
}

TEST(names_and_folders) /* [X2] */
{
    CLEANUP(reading_done) struct reading same;
    CLEANUP(reading_done) struct reading differs;
    CLEANUP(reading_done) struct reading replaced;
    struct manifest_input in = {.kind = DOC_SKILL, .text = STR(NAMED(""))};

    in.folder = STR("foo");
    reading_of(&same, in);
    CHECK(!same.doc.name_differs && !same.doc.name_replaced);
    in.folder = STR("bar");
    reading_of(&differs, in);
    CHECK(differs.doc.name_differs && str_is(differs.doc.name, "foo"));
    in.text = STR(DOC("name: Foo Bar\ndescription: d\n"));
    reading_of(&replaced, in);
    CHECK(replaced.doc.name_replaced && str_is(replaced.doc.name, "bar"));
    CHECK(replaced.why.errors == 0);
}

/* The reference validator looks for "---" anywhere. */
TEST(frontmatter_may_begin_behind_the_dashes) /* [A1] */
{
    CLEANUP(reading_done) struct reading r;
    CLEANUP(reading_done) struct reading twice;

    reading_of(&r, (struct manifest_input){
                       .kind = DOC_SKILL,
                       .text = STR("---name: foo\ndescription: d\n---\nB\n"),
                       .folder = STR("foo"),
                       .profile = PROFILE_SKILLS_REF});
    CHECK_STR(diagnostics_text(&r), "");
    CHECK(str_is(r.doc.name, "foo") && str_is(r.doc.body, "B\n"));
    reading_of(&twice, (struct manifest_input){
                           .kind = DOC_SKILL,
                           .text = STR("---\nname: foo\nname: bar\n---\nB\n"),
                           .folder = STR("foo"),
                           .profile = PROFILE_SKILLS_REF});
    CHECK_STR(diagnostics_text(&twice), "duplicate-key:3!");
}

/* CR LF is one line end, also at the end of the text. */
TEST(lines_end_by_lf_cr_or_both)
{
    static const struct {
        const char *text, *lines;
    } rows[] = {
        {"", ""},         {"a", "a|"},          {"a\n", "a|"},
        {"a\r\n", "a|"},  {"a\r\nb\r", "a|b|"}, {"a\n\rb", "a||b|"},
        {"\r\n\n", "||"},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct str rest = str_cstr(rows[i].text), line;
        char found[32] = "";

        while (text_take_line(&rest, &line)) {
            strncat(found, line.p, line.n);
            strcat(found, "|");
        }
        CHECK_STR(found, rows[i].lines);
    }
}

/* A rejected name comes with a valid suggestion. */
TEST(names_come_with_a_suggestion) /* [M34] */
{
    static const struct {
        const char *name, *write_as;
    } rows[] = {
        {"My Skill!", "my-skill"},
        {"--A_ _b9--", "a-b9"},
        {"!!!", "my-skill"},
        {"\xc3\xa9t\xc3\xa9", "t"},
        /* 64 characters of it */
        {X10("Abcdef") "Abcdefg", X10("abcdef") "abcd"},
        {X10("Abcde ") "Abc!efg", X10("abcde-") "abc"},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r;
        char text[300], want[200];

        snprintf(text, sizeof text,
                 "---\nname: \"%s\"\ndescription: d\nversion: 1.0.0\n---\n",
                 rows[i].name);
        snprintf(want, sizeof want, "write it as \"%s\", for example",
                 rows[i].write_as);
        reading_of(&r, (struct manifest_input){.kind = DOC_SKILL,
                                               .text = str_cstr(text),
                                               .profile = PROFILE_METAAGENTS});
        CHECK(r.why.errors >= 1);
        if (!strstr(str_dup0(r.why.items[0].message, &r.a), want))
            CHECK_STR(str_dup0(r.why.items[0].message, &r.a), want);
    }
}

/* An invalid version is shown and recorded if it is short and printable. */
TEST(odd_versions_are_kept_when_short_and_visible) /* [row 5] */
{
    static const struct {
        const char *version;
        bool kept;
    } rows[] = {
        {"1.2", true},
        {X10("123456") "1234", true},
        {X10("123456") "12345", false},
        {"1\\n2", false},
        {"1\xe2\x80\x8b", false}, /* of no width */
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r;
        char text[200];

        snprintf(text, sizeof text,
                 "---\nname: foo\ndescription: d\nversion: \"%s\"\n---\n",
                 rows[i].version);
        read_skill(&r, text);
        CHECK(str_is(r.doc.version, rows[i].kept ? rows[i].version : ""));
    }
}

TEST(qualified_names) /* [M5] */
{
    CLEANUP(reading_done) struct reading plain;
    CLEANUP(reading_done) struct reading scoped;
    CLEANUP(reading_done) struct reading number;

    read_skill(&plain, NAMED(""));
    read_skill(&scoped, FULL("scope: io.example\n"));
    CHECK(str_is(plain.doc.fqn, "foo") && plain.doc.scope.n == 0);
    CHECK(str_is(scoped.doc.fqn, "io.example/foo"));
    CHECK(str_is(scoped.doc.version, "1.0.0"));
    read_skill(&number, FULL("scope: 7\n"));
    CHECK(number.doc.scope.n == 0 && number.why.errors == 1);
}

/* [M10, M24] mcps first; both forms. */
TEST(dependencies_in_their_order) /* [M24] */
{
    CLEANUP(reading_done) struct reading r;

    read_skill(&r, FULL("scope: a\ndependencies:\n  skills:\n"
                        "    - \"" GH "o/r/tree/m/skills/a\"\n"
                        "    - origin: " GH "o/r/tree/m/skills/b\n"
                        "  mcps: [" GH "o/r/tree/m/mcps/c.json]\n"));
    CHECK_STR(diagnostics_text(&r), "dep-object-form:9");
    CHECK(r.doc.dep_count == 3);
    if (r.doc.dep_count != 3)
        return;
    CHECK(r.doc.deps[0].kind == DOC_MCP && r.doc.deps[0].line == 10);
    CHECK(str_is(r.doc.deps[0].origin->rest, "m/mcps/c.json"));
    CHECK(r.doc.deps[1].kind == DOC_SKILL && r.doc.deps[1].line == 8);
    CHECK(str_is(r.doc.deps[2].origin->rest, "m/skills/b"));
}

/* [X17] */
static const struct {
    const char *value, *raw, *tools;
} tools[] = {
    {"Read Write", "Read Write", "Read|Write|"},
    {"Read, Write", "Read, Write", "Read|Write|"},
    {"Bash(git add *) Read", "Bash(git add *) Read", "Bash(git add *)|Read|"},
    {"Bash(a, b),Bash(c (d) e)", "Bash(a, b),Bash(c (d) e)",
     "Bash(a, b)|Bash(c (d) e)|"},
    {"Bash(open", "Bash(open", "Bash(open|"},
    {"a) b", "a) b", "a)|b|"},
    {"\" \"", " ", ""},
    {"[Read, \"Bash(git add *)\"]", "Read, Bash(git add *)",
     "Read|Bash(git add *)|"},
    {"[]", "", ""},
};

TEST(allowed_tools) /* [X17] */
{
    for (size_t i = 0; i < ROWS(tools); i++) {
        CLEANUP(reading_done) struct reading r = {0};
        struct arena *a = &r.a;
        struct str text, list = STR("");

        text = arena_printf(a,
                            "---\nname: foo\ndescription: d\nallowed-tools: "
                            "%s\n---\n",
                            tools[i].value);
        diagnostics_init(&r.why, a);
        manifest_read(&(struct manifest_input){.kind = DOC_SKILL,
                                               .text = text,
                                               .folder = STR("foo")},
                      a, &r.doc, &r.why);
        for (size_t t = 0; t < r.doc.tool_count; t++)
            list = arena_printf(a, "%.*s%.*s|", STR_ARG(list),
                                STR_ARG(r.doc.tools[t]));
        CHECK_STR(str_dup0(r.doc.allowed_tools, a), tools[i].raw);
        CHECK_STR(str_dup0(list, a), tools[i].tools);
    }
}

TEST(fields) /* [L3, L5, L6, L7, M8] */
{
    CLEANUP(reading_done) struct reading r;

    read_skill(&r, FULL("description2: x\nlicense: MIT\nmodel: inherit\n"
                        "agent: Explore\ncontext: fork\nmode: true\n"
                        "disable-model-invocation: \"true\"\n"
                        "prereqs: |\n  Needs git.\ncompatibility: linux\n"
                        "metadata:\n  version: 1.10\n"));
    CHECK(str_is(r.doc.license, "MIT") && str_is(r.doc.model, "inherit"));
    CHECK(str_is(r.doc.agent, "Explore") && str_is(r.doc.context, "fork"));
    CHECK(r.doc.is_mode && r.doc.disable_model_invocation);
    CHECK(str_is(r.doc.prereqs, "Needs git."));
    CHECK(str_is(r.doc.compatibility, "linux"));
    CHECK(
        str_is(yaml_get(r.doc.metadata, "version")->text, "1.10")); /* [X12] */
    reading_done(&r);
    read_skill(&r, FULL("metadata:\n  tags: \" one , two,,  \"\n"));
    CHECK(r.doc.tag_count == 2 && str_is(r.doc.tags[0], "one") &&
          str_is(r.doc.tags[1], "two"));
    reading_done(&r);
    read_skill(&r, FULL("metadata:\n  tags: [\" one\", {a: b}, \"\", two]\n"));
    CHECK(r.doc.tag_count == 2 && str_is(r.doc.tags[0], "one") &&
          str_is(r.doc.tags[1], "two"));
    reading_done(&r);
    read_skill(&r, FULL("context: elsewhere\n"));
    CHECK(r.doc.context.n == 0); /* it is ignored */
}

TEST(descriptions_are_trimmed_after_counting) /* [X5] */
{
    CLEANUP(reading_done) struct reading r;

    read_skill(&r, DOC("name: foo\ndescription: |\n\n  a\n\n  b\n\n"));
    CHECK_STR(str_dup0(r.doc.description, &r.a), "a\n\nb");
}

/* [A4] Values that need quotes, and values that do not. */
static const struct {
    const char *line;
    bool mended;
} repairs[] = {
    {"x: a: b", true},
    {"x: it's: b", true},
    {"x: @a", true},
    {"x: `a`", true},
    {"x: [file] [options]", true},
    {"x: {a} b", true},
    {"x: a: b # c", true},
    {"x-y_z.1: a: b", true},
    {"x: %a", true},
    {"x: [a", false},
    {"x: {a: b", false},
    {"x: \"a", false},
    {"x: 'a' b", true},
    {"x: a: b\n  c", false},
    {"  x: a: b", false},
    {"x\n", false},
    {"x: *bold* helper", true},
    {"x: \"a\" b", true},
    {"x: * a", true},
    {"x: & a", true},
    {"x: > 5 a", true},
    {"x: 'a", false},
    {"x: *a", false},
    {"x: &a b", false},
    {"x: !a b", false},
    {"x: \"a\" b\n  c", false},
};

TEST(each_of_the_repairs) /* [A4] */
{
    for (size_t i = 0; i < ROWS(repairs); i++) {
        CLEANUP(reading_done) struct reading r = {0};
        struct str text;

        text = arena_printf(&r.a,
                            "---\nname: foo\ndescription: d\n"
                            "version: 1.0.0\n%s\n---\n",
                            repairs[i].line);
        diagnostics_init(&r.why, &r.a);
        manifest_read(&(struct manifest_input){.kind = DOC_SKILL,
                                               .text = text,
                                               .folder = STR("foo")},
                      &r.a, &r.doc, &r.why);
        if (repairs[i].mended ? strcmp(diagnostics_text(&r), "yaml-repaired:5")
                              : r.why.errors == 0)
            printf("# %s: %s\n", repairs[i].line, diagnostics_text(&r));
        CHECK(repairs[i].mended
                  ? strcmp(diagnostics_text(&r), "yaml-repaired:5") == 0
                  : r.why.errors > 0);
    }
}

TEST(repair_keeps_the_value_and_the_types_of_others) /* [A4] */
{
    CLEANUP(reading_done) struct reading r;

    read_skill(&r, DOC("name: foo\ndescription:  Use when: it's \"x\"  \n"
                       "disable-model-invocation: true\n"));
    CHECK_STR(str_dup0(r.doc.description, &r.a), "Use when: it's \"x\"");
    CHECK(r.doc.disable_model_invocation);
    CHECK(level_said(&r, "bool-type") == '-');
}

static void fill(char *text, size_t n, const char *head, const char *tail)
{
    memset(text, 'a', n);
    memcpy(text, head, strlen(head));
    memcpy(text + n - strlen(tail), tail, strlen(tail));
}

/* [row 5] Sizes at the limit and above it. */
TEST(limits) /* [row 5] */
{
    static const struct {
        size_t bytes;
        const char *head, *tail, *code;
        char level;
    } sizes[] = {
        {ANCHOR_MAX_BYTES, "---\nname: foo\n---\n", "\n", "too-large", '-'},
        {ANCHOR_MAX_BYTES + 1, "---\nname: foo\n---\n", "\n", "too-large", 'E'},
        {FRONTMATTER_MAX_BYTES + 8, "---\nx: ", "\n---\n", "yaml", '-'},
        {FRONTMATTER_MAX_BYTES + 9, "---\nx: ", "\n---\n", "yaml", 'E'},
    };

    for (size_t i = 0; i < ROWS(sizes); i++) {
        CLEANUP(reading_done) struct reading r;
        char *text = heap_alloc(sizes[i].bytes);

        fill(text, sizes[i].bytes, sizes[i].head, sizes[i].tail);
        reading_of(
            &r, (struct manifest_input){
                    .kind = DOC_SKILL, .text = str_make(text, sizes[i].bytes)});
        CHECK(level_said(&r, sizes[i].code) == sizes[i].level);
        heap_free(text);
    }
}

TEST(a_nul_anywhere) /* [row 5] */
{
    static const char text[] = NAMED("") "a\0b";
    CLEANUP(reading_done) struct reading r;

    reading_of(&r, (struct manifest_input){.kind = DOC_SKILL,
                                           .text = {text, sizeof text - 1}});
    CHECK_STR(diagnostics_text(&r), "nul-bytes:7!");
}

TEST(deep_and_many) /* [row 5] */
{
    CLEANUP(reading_done) struct reading deep;
    CLEANUP(reading_done) struct reading many;

    read_skill(&deep, NAMED("x: " X100("[") X100("]") "\n"));
    CHECK(level_said(&deep, "yaml") == 'E');
    read_skill(&many, NAMED("x: [" X10(X1000("1,")) "1]\n"));
    CHECK(level_said(&many, "yaml") == 'E');
}

TEST(diagnostics_are_bounded)
{
    CLEANUP(reading_done) struct reading r;

    read_skill(&r, FULL("dependencies:\n  skills: [" X1000("1,") "1,1]\n"));
    CHECK(r.why.errors == 1000);
}

TEST(errors_have_stable_codes) /* [M34] */
{
    static const struct {
        enum doc_kind kind;
        const char *text;
        enum err_code code;
    } rows[] = {
        {DOC_SKILL, "x", ERR_FRONTMATTER},
        {DOC_AGENT, DOC("name: Foo\ndescription: d\nversion: 1.0.0\n"),
         ERR_NAME},
        {DOC_SKILL, FULL("dependencies:\n  mcps:\n    - x\n"), ERR_ORIGIN},
        {DOC_SKILL, DOC("name: foo\ndescription: \"\\u202e\"\n"), ERR_REFUSED},
        {DOC_MCP, "x", ERR_MCP},
        {DOC_MCP, "\xff", ERR_MCP},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r;
        struct err e = {0};

        reading_of(&r, (struct manifest_input){.kind = rows[i].kind,
                                               .text = str_cstr(rows[i].text),
                                               .folder = STR("foo")});
        CHECK(!diagnostics_fail(&r.why, rows[i].kind, "skills/x", &e));
        CHECK(e.code == rows[i].code);
        CHECK_STR(err_prev(&e, NULL), "skills/x is refused");
    }
}

TEST(diagnostics_fail_tells_them_in_order)
{
    CLEANUP(reading_done) struct reading r;
    struct err e = {0};
    const char *m;

    read_skill(&r, DOC("name: foo\nscope: A\ndependencies:\n  skills: x\n"
                       "version: 1.0.0\ndescription: d\n"));
    CHECK(!diagnostics_fail(&r.why, DOC_SKILL, "skills/foo", &e));
    m = err_prev(&e, err_prev(&e, NULL));
    CHECK(strstr(m, "line 3: ") == m && strstr(m, "(scope-grammar)"));
    m = err_prev(&e, m);
    CHECK(strstr(m, "line 5: ") == m && strstr(m, "(deps-not-list)"));
    CHECK(err_prev(&e, m) == NULL);
}

TEST(diagnostics_fail_names_files_and_counts_the_rest)
{
    CLEANUP(reading_done) struct reading r = {0};
    struct err e = {0};
    const char *m = NULL, *last = NULL;
    size_t lines = 0;

    diagnostics_init(&r.why, &r.a);
    for (unsigned i = 0; i < ERROR_MAX_LINES + 2; i++) {
        diagnostics_add(&r.why, false, "yaml", "", 1, "a warning");
        diagnostics_add(&r.why, true, "program-syntax", "", i, "number %u", i);
    }
    r.why.items[1].file = STR("run.star");
    r.why.items[1].line = 3;
    r.why.items[1].column = 7;
    CHECK(!diagnostics_fail(&r.why, DOC_SKILL, "skills/foo", &e));
    CHECK(e.code == ERR_FRONTMATTER);
    while ((m = err_prev(&e, m)) != NULL) {
        if (lines == 1)
            CHECK_STR(m, "run.star:3:7: number 0 (program-syntax)");
        if (lines == 2)
            CHECK_STR(m, "line 1: number 1 (program-syntax)");
        lines++;
        last = m;
    }
    CHECK(lines == 1 + ERROR_MAX_LINES + 1);
    CHECK_STR(last ? last : "", "2 more errors");
}

/* [K3] Diagnostics of the runtime have the severity of the profile. */
TEST(diagnostics_of_others_are_graded)
{
    static const struct {
        enum profile profile;
        size_t count, errors;
    } rows[] = {
        {PROFILE_INSTALL, 1, 1},
        {PROFILE_METAAGENTS, 0, 0},
        {PROFILE_METASKILL, 2, 1},
        {PROFILE_PUBLISH, 2, 1},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r = {0};
        struct manifest_input in = {.kind = DOC_SKILL,
                                    .profile = rows[i].profile};
        struct diagnostics found;

        diagnostics_init(&found, &r.a);
        diagnostics_init(&r.why, &r.a);
        diagnostics_add(&found, false, "metaskill-input-keys", "x", 2, "keys");
        diagnostics_add(&found, true, "program-name", "run", 5, "no such name");
        found.items[1].file = STR("run.star");
        found.items[1].column = 9;
        diagnostics_grade(&in, &found, &r.why);
        CHECK(r.why.count == rows[i].count && r.why.errors == rows[i].errors);
        if (r.why.count) {
            const struct diagnostic *c = &r.why.items[r.why.count - 1];

            CHECK(c->error && c->line == 5 && c->column == 9);
            CHECK(str_is(c->file, "run.star") && str_is(c->field, "run"));
            CHECK(str_is(c->message, "no such name"));
            CHECK_STR(c->code, "program-name");
        }
    }
}

TEST(diagnostic_messages_are_cut_between_characters)
{
    struct arena a = {0};
    struct diagnostics c;
    char *text = arena_alloc(&a, 6001);

    diagnostics_init(&c, &a);
    for (size_t i = 0; i < 6000; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    diagnostics_add(&c, true, "yaml", "x", 1, "%s", text);
    CHECK(text_is_utf8(c.items[0].message));
    CHECK(c.items[0].message.n > 1000 && c.items[0].message.n <= 2048);
    arena_done(&a);
}

/* REQUIREMENTS 5: invalid text. [row 1, row 16]. */
static const struct {
    enum manifest_file state;
    enum doc_kind kind;
    const char *diagnostics;
    enum err_code code;
} absent[] = {
    {MANIFEST_FILE_OK, DOC_SKILL, "", ERR_FAILED},
    {MANIFEST_FILE_MISSING, DOC_SKILL, "no-anchor:0!", ERR_NOT_FOUND},
    {MANIFEST_FILE_UNREADABLE, DOC_AGENT, "unreadable:0!", ERR_IO},
    {MANIFEST_FILE_ESCAPES, DOC_SKILL, "unreadable:0!", ERR_IO},
    {MANIFEST_FILE_TOO_LARGE, DOC_MCP, "too-large:0!", ERR_LIMIT},
};

TEST(files_that_give_no_text) /* [M34] */
{
    for (size_t i = 0; i < ROWS(absent); i++) {
        CLEANUP(reading_done) struct reading r = {0};
        struct err e = {0};

        diagnostics_init(&r.why, &r.a);
        manifest_check_file(absent[i].state, absent[i].kind, &r.why);
        CHECK_STR(diagnostics_text(&r), absent[i].diagnostics);
        CHECK(!diagnostics_fail(&r.why, absent[i].kind, "x", &e));
        CHECK(e.code == absent[i].code);
    }
}

/* [K3, K4] Skills with a program, and skills without one. */
static const struct {
    const char *text;
    struct case_file file;
    const char *program; /* NULL: no program that can run */
} programs[] = {
    {NAMED(""), {"SKILL.star", MANIFEST_FILE_OK, STR_INIT("x")}, "SKILL.star"},
    {NAMED(""), {"flow.star", MANIFEST_FILE_OK, STR_INIT("x")}, NULL},
    {NAMED("metaskill: ./a/../flow.star\n"),
     {"flow.star", MANIFEST_FILE_OK, STR_INIT("x")},
     "flow.star"},
    {NAMED("metaskill: null\n"),
     {"SKILL.star", MANIFEST_FILE_OK, STR_INIT("x")},
     "SKILL.star"},
    {NAMED("metaskill_language: starlark\n"),
     {"SKILL.star", MANIFEST_FILE_OK, STR_INIT("x")},
     "SKILL.star"},
    {NAMED("metaskill_language: lua\n"),
     {"SKILL.star", MANIFEST_FILE_OK, STR_INIT("x")},
     NULL},
    {NAMED(""), {"SKILL.star", MANIFEST_FILE_TOO_LARGE, STR_INIT("")}, NULL},
    {NAMED(""),
     {"SKILL.star", MANIFEST_FILE_OK, STR_INIT("---x\n")},
     "SKILL.star"},
    {NAMED(""), {"SKILL.star", MANIFEST_FILE_OK, STR_INIT("")}, "SKILL.star"},
};

TEST(each_of_the_programs) /* [K3, K4] */
{
    for (size_t i = 0; i < ROWS(programs); i++) {
        CLEANUP(reading_done) struct reading r;
        struct case_files beside = {&programs[i].file, 1};
        struct manifest_files files = {case_read, &beside};

        reading_of(&r,
                   (struct manifest_input){.kind = DOC_SKILL,
                                           .text = str_cstr(programs[i].text),
                                           .folder = STR("foo"),
                                           .files = &files});
        CHECK(r.why.errors == 0);
        CHECK(r.doc.metaskill == (programs[i].program != NULL));
        CHECK_STR(str_dup0(r.doc.program, &r.a),
                  programs[i].program ? programs[i].program : "");
    }
}

/* [K11] 65,536 and one more. */
TEST(size_of_a_program) /* [K11] */
{
    for (size_t more = 0; more < 2; more++) {
        CLEANUP(reading_done) struct reading r;
        size_t n = PROGRAM_MAX_BYTES + more;
        char *text = heap_alloc(n);
        struct case_file file = {"SKILL.star", MANIFEST_FILE_OK, {text, n}};
        struct case_files beside = {&file, 1};
        struct manifest_files files = {case_read, &beside};

        memset(text, '#', n);
        reading_of(&r, (struct manifest_input){.kind = DOC_SKILL,
                                               .text = STR(NAMED("")),
                                               .folder = STR("foo"),
                                               .files = &files});
        CHECK(r.doc.metaskill == (more == 0));
        CHECK(level_said(&r, "metaskill-size") == (more ? 'W' : '-'));
        heap_free(text);
    }
}

/* [X4] Most agents have no frontmatter; the message names the required
 * fields. */
TEST(agents_are_told_what_they_need) /* [X4] */
{
    CLEANUP(reading_done) struct reading r;
    const char *message;

    reading_of(&r, (struct manifest_input){.kind = DOC_AGENT,
                                           .text = STR("# Rules\n"),
                                           .folder = STR("foo")});
    CHECK_STR(diagnostics_text(&r), "no-frontmatter:1!");
    message = str_dup0(r.why.items[0].message, &r.a);
    CHECK(strstr(message, "name: ") && strstr(message, "description: ") &&
          strstr(message, "version: "));
}

/* [L8, T10] All errors are reported at once; an invalid document does not
 * affect others. */
TEST(all_errors_of_one_document) /* [L8, T10] */
{
    CLEANUP(reading_done) struct reading r = {0};
    struct manifest_input in = {
        .kind = DOC_SKILL,
        .text = STR(DOC("name: A_b\ndescription: \"\"\nlicense: 1\n"
                        "metadata: x\ncompatibility: 2\n")),
        .folder = STR("foo"),
        .profile = PROFILE_METIS,
    };
    size_t first;

    diagnostics_init(&r.why, &r.a);
    manifest_read(&in, &r.a, &r.doc, &r.why);
    CHECK_STR(diagnostics_text(&r),
              "name-grammar:2! name-folder:2! description-empty:3! "
              "license-type:4! metadata-type:5! compatibility-type:6!");
    first = r.why.count;
    in.text = STR(NAMED(""));
    manifest_read(&in, &r.a, &r.doc, &r.why);
    CHECK(r.why.count == first && str_is(r.doc.name, "foo"));
}

/* [T2] exact case. */
TEST(the_anchor_is_called_so) /* [T2] */
{
    CHECK_STR(doc_entry_file(DOC_SKILL), "SKILL.md");
    CHECK_STR(doc_entry_file(DOC_AGENT), "AGENTS.md");
}

/* REQUIREMENTS 4.3 */
TEST(a_pointer_of_git_lfs_is_named_so)
{
    CLEANUP(reading_done) struct reading r;

    read_skill(&r, "version https://git-lfs.github.com/spec/v1\n"
                   "oid sha256:00\nsize 12\n");
    CHECK_STR(diagnostics_text(&r), "no-frontmatter:1!");
    CHECK(strstr(str_dup0(r.why.items[0].message, &r.a), "LFS") != NULL);
}
