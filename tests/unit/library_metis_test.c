#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include "shelf_case.h"

/*
 * [T30] the tests that the Metis skill format lists, by name, under its profile;
 * those of "Frontmatter validation" to "Tools", and its two properties. [T1]
 * [T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18]
 * [T19, T20, T21, T22, T23].
 */

#define X10(x)   x x x x x x x x x x
#define X100(x)  X10(X10(x))
#define X1000(x) X10(X100(x))

/* --- Frontmatter validation ------------------------------------------------------ */

struct verdict {
    const char *folder, *text;
    const char *why; /* a part of the warning; NULL: accepted */
};

static void check_verdicts(const struct verdict *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct shelves s;
        char path[300];

        drop("one");
        snprintf(path, sizeof path, "one/%s/SKILL.md", rows[i].folder);
        put(path, rows[i].text);
        open_both(&s, true, "one", NULL);
        CHECK(library_count(s.l) == (rows[i].why == NULL));
        if (rows[i].why) {
            CHECK(notes_have(&s, "WARNING skipping invalid skill at /"));
            CHECK(notes_have(&s, rows[i].why));
        } else {
            CHECK(s.notes.n == 0);
        }
        if (tap_failed)
            printf("# %s: %s\n", rows[i].text, s.notes.p);
        shelves_done(&s);
    }
}

#define VERDICTS(...)                                                          \
    static const struct verdict rows[] = {__VA_ARGS__};                        \
    check_verdicts(rows, ROWS(rows))

TEST(minimal_frontmatter_is_accepted) /* [T4] */
{
    VERDICTS(
        {"a", SKILL("a", "d"), NULL},
        {"pdf-2-text", SKILL("pdf-2-text", "d"), NULL},
        {"a", "---\r\nname: a\r\ndescription: d\r\n---\r\nx\r\n", NULL},
        {"a", HEAD("a", "d") "author: me\nx: [1]\n---\n", NULL} /* [T9] */);
}

TEST(missing_opening_or_closing_delimiter_is_rejected) /* [T3] */
{
    VERDICTS({"a", "name: a\ndescription: d\n---\n", "---"},
             {"a", "\n" SKILL("a", "d"), "---"},
             {"a", "---\nname: a\ndescription: d\n", "not closed"},
             {"a", "", "---"});
}

TEST(frontmatter_that_is_no_mapping_is_rejected) /* [T4] */
{
    VERDICTS({"a", "---\n- a\n- b\n---\nx\n", "key: value"},
             {"a", "---\njust text\n---\nx\n", "key: value"},
             {"a", "---\nname: [a\n---\nx\n", "not YAML"});
}

TEST(name_mismatched_with_parent_dir_is_rejected) /* [T5] */
{
    VERDICTS({"b", SKILL("a", "d"), "folder"}, {"b", SKILL("b", "d"), NULL});
}

TEST(name_violating_the_regex_is_rejected) /* [T5] */
{
    VERDICTS({"Pdf", SKILL("Pdf", "d"), "upper-case"},
             {"-pdf", SKILL("\"-pdf\"", "d"), "starts with"},
             {"pdf-", SKILL("pdf-", "d"), "ends with"},
             {"a_b", SKILL("a_b", "d"), "_"},
             {"365", SKILL("365", "d"), "not text"});
}

TEST(name_with_consecutive_hyphens_is_rejected) /* [T5] */
{
    VERDICTS({"a--b", SKILL("a--b", "d"), "--"});
}

TEST(name_longer_than_64_chars_is_rejected) /* [T5] */
{
    VERDICTS({X10("abcdef") "abcd", SKILL(X10("abcdef") "abcd", "d"), NULL},
             {X10("abcdef") "abcde", SKILL(X10("abcdef") "abcde", "d"), "64"});
}

TEST(missing_name_is_rejected) /* [T5] */
{
    VERDICTS({"a", "---\ndescription: d\n---\n", "missing"},
             {"a", "---\nname:\ndescription: d\n---\n", "empty"});
}

/* What str.strip() takes away: more than the blanks of ASCII. */
TEST(a_description_is_stored_stripped_as_python_does) /* [T6] */
{
    struct shelves s;

    put("strip/a/SKILL.md", SKILL("a", "\"\\u2028\\u00a0 x\\u3000\""));
    put("strip/b/SKILL.md", SKILL("b", "\"\\u00a0\\u3000\""));
    open_both(&s, true, "strip", NULL);
    CHECK_STR(names_of(&s), "a");
    CHECK_STR(text_of(&s, library_at(s.l, 0)->description), "x");
    shelves_done(&s);
    drop("strip");
}

TEST(description_missing_empty_or_over_1024_chars_is_rejected) /* [T6] */
{
    VERDICTS({"a", "---\nname: a\n---\n", "missing"},
             {"a", SKILL("a", "\"\""), "empty"},
             {"a", SKILL("a", "\"  \""), "empty"},
             {"a", SKILL("a", X1000("x") X10("ab") "abcd"), NULL},
             {"a", SKILL("a", X1000("x") X10("ab") "abcde"), "1024"},
             /* characters, not bytes; and what is trimmed counts */
             {"a", SKILL("a", X1000("\xc3\xa4") X10("ab") "abcd"), NULL},
             {"a", SKILL("a", "\"" X1000("x") X10("ab") "abcd \""), "1024"});
}

TEST(license_that_is_no_string_is_rejected) /* [T7] */
{
    VERDICTS({"a", HEAD("a", "d") "license: MIT\n---\n", NULL},
             {"a", HEAD("a", "d") "license: [MIT]\n---\n", "license"});
}

TEST(compatibility_over_500_chars_is_rejected) /* [T7] */
{
    VERDICTS(
        {"a", HEAD("a", "d") "compatibility: " X100("abcde") "\n---\n", NULL},
        {"a", HEAD("a", "d") "compatibility: " X100("abcde") "x\n---\n",
         "500"});
}

TEST(metadata_non_mapping_or_non_string_values_is_rejected) /* [T7] */
{
    VERDICTS(
        {"a", HEAD("a", "d") "metadata: text\n---\n", "metadata"},
        {"a", HEAD("a", "d") "metadata:\n  k: [1]\n---\n", "metadata.k"},
        {"a", HEAD("a", "d") "metadata:\n  k: {a: b}\n---\n", "metadata.k"},
        {"a", HEAD("a", "d") "metadata:\n  k: null\n---\n", "metadata.k"});
}

/* What Python says of each. */
TEST(metadata_scalars_are_coerced) /* [T7, X12] */
{
    static const struct {
        const char *written, *shown;
    } rows[] = {
        {"text", "text"},
        {"\"1.0\"", "1.0"},
        {"true", "True"},
        {"off", "False"},
        {"Yes", "True"},
        {"1", "1"},
        {"-5", "-5"},
        {"+5", "5"},
        {"0", "0"},
        {"-0", "0"},
        {"1_000", "1000"},
        {"0777", "511"},
        {"0x1F", "31"},
        {"0b101", "5"},
        {"1:30", "90"},
        {"1.10", "1.1"},
        {"1.0", "1.0"},
        {"0.1", "0.1"},
        {"-2.50", "-2.5"},
        {"100.0", "100.0"},
        {"1.0e+16", "1e+16"},
        {"1.0e+15", "1000000000000000.0"},
        {"0.0001", "0.0001"},
        {"0.00001", "1e-05"},
        {"1.5e-7", "1.5e-07"},
        {".5", "0.5"},
        {"-0.0", "-0.0"},
        {".inf", "inf"},
        {"-.INF", "-inf"},
        {".nan", "nan"},
        {"1:30.5", "90.5"},
        {"1.0e+999", "inf"},
        {"123456789.125", "123456789.125"},
        {"1e3", "1e3"},
        {"18446744073709551615", "18446744073709551615"},
        {"18446744073709551616", "18446744073709551616"},
    };

    for (int metis = 0; metis < 2; metis++) {
        for (size_t i = 0; i < ROWS(rows); i++) {
            struct shelves s;
            struct library_loaded loaded;
            struct err e = {0};
            char text[200], bare[100];

            snprintf(text, sizeof text,
                     HEAD("a", "d") "metadata:\n  k: %s\n---\n",
                     rows[i].written);
            snprintf(bare, sizeof bare, "%s", rows[i].written);
            if (bare[0] == '"')
                snprintf(bare, sizeof bare, "1.0");
            put("coerced/a/SKILL.md", text);
            open_both(&s, metis, "coerced", NULL);
            CHECK_STR(names_of(&s), "a");
            CHECK(library_load(s.l, STR("a"), LIBRARY_AS_TOOL, true, NULL, &s.a,
                               &loaded, &e));
            if (loaded.document.metadata)
                CHECK_STR(text_of(&s, library_metadata_text(
                                          s.l, loaded.document.metadata->first,
                                          &s.a)),
                          metis ? rows[i].shown : bare);
            shelves_done(&s);
        }
    }
}

TEST(allowed_tools_is_parsed_into_names) /* [T8] */
{
    struct shelves s;
    struct library_loaded loaded;
    struct err e = {0};

    put("tools/a/SKILL.md",
        HEAD("a", "d") "allowed-tools: Read  Bash(git add:*) A,B\n---\nx\n");
    put("tools/b/SKILL.md", HEAD("b", "d") "allowed-tools: [Read]\n---\nx\n");
    open_both(&s, true, "tools", NULL);
    CHECK_STR(names_of(&s), "a");
    CHECK(library_load(s.l, STR("a"), LIBRARY_AS_TOOL, true, NULL, &s.a,
                       &loaded, &e));
    CHECK(loaded.document.tool_count == 4);
    CHECK(str_is(loaded.document.tools[1], "Bash(git"));
    CHECK(str_is(loaded.document.tools[2], "add:*)"));
    CHECK(str_is(loaded.document.tools[3], "A,B"));
    shelves_done(&s);
}

/* --- Loader behavior ----------------------------------------------------------------- */

TEST(missing_root_is_an_empty_set) /* [T1] */
{
    struct shelves s;

    open_both(&s, true, "no-such-root", "nor-this");
    CHECK(library_count(s.l) == 0);
    CHECK(s.notes.n == 0);
    shelves_done(&s);
    open_both(&s, true, NULL, NULL);
    CHECK(library_count(s.l) == 0);
    shelves_done(&s);
}

TEST(files_and_directories_without_SKILL_md_are_skipped_silently) /* [T2] */
{
    struct shelves s;

    put("loader/README.md", "not a folder\n");
    put("loader/empty/", "");
    put("loader/notes/notes.md", "no skill\n");
    put("loader/good/SKILL.md", SKILL("good", "d"));
    open_both(&s, true, "loader", NULL);
    CHECK_STR(names_of(&s), "good");
    CHECK_STR(s.notes.p, "");
    shelves_done(&s);
}

TEST(skill_md_in_lower_case_is_not_accepted) /* [T2] */
{
    struct shelves s;

    put("lower/a/skill.md", SKILL("a", "d"));
    open_both(&s, true, "lower", NULL);
    CHECK(library_count(s.l) == 0);
    CHECK(s.notes.n == 0);
    shelves_done(&s);
}

TEST(an_invalid_skill_is_logged_and_the_rest_loads) /* [T10] */
{
    struct shelves s;

    put("mixed/bad/SKILL.md",
        "---\nname: Bad\nmetadata: x\n---\nno description\n");
    put("mixed/good/SKILL.md", SKILL("good", "d"));
    open_both(&s, true, "mixed", NULL);
    CHECK_STR(names_of(&s), "good");
    CHECK(notes_have(&s, "/mixed/bad/SKILL.md: "));
    /* all that is wrong with it, at once */
    CHECK(notes_have(&s, "upper-case"));
    CHECK(notes_have(&s, "; "));
    CHECK(notes_have(&s, "description is missing"));
    CHECK(notes_have(&s, "metadata"));
    shelves_done(&s);
}

TEST(skills_are_listed_sorted_by_name) /* [T14] */
{
    struct shelves s;

    put("order/b/SKILL.md", SKILL("b", "d"));
    put("order/a-b/SKILL.md", SKILL("a-b", "d"));
    put("order/a/SKILL.md", SKILL("a", "d"));
    put("order/a0/SKILL.md", SKILL("a0", "d"));
    open_both(&s, true, "order", NULL);
    CHECK_STR(names_of(&s), "a a-b a0 b");
    shelves_done(&s);
}

TEST(leading_newlines_of_the_body_are_stripped) /* [T3] */
{
    struct shelves s;
    struct library_loaded loaded;
    struct err e = {0};

    put("body/a/SKILL.md",
        HEAD("a", "d") "---\r\n\r\n\n  Indented.\r\nx\r\n\n");
    open_both(&s, true, "body", NULL);
    CHECK(library_load(s.l, STR("a"), LIBRARY_AS_TOOL, true, NULL, &s.a,
                       &loaded, &e));
    CHECK_STR(text_of(&s, loaded.text),
              "# Skill: a (source: global)\n\n  Indented.\nx\n\n");
    shelves_done(&s);
}

/* --- Merge ----------------------------------------------------------------------------- */

static void make_both(void)
{
    put("g/shared/SKILL.md", SKILL("shared", "from the global root"));
    put("g/only-g/SKILL.md", SKILL("only-g", "d"));
    put("w/shared/SKILL.md", SKILL("shared", "from the workspace"));
    put("w/only-w/SKILL.md", SKILL("only-w", "d"));
}

TEST(workspace_overrides_global_on_collision) /* [T13] */
{
    struct shelves s;
    const struct library_skill *k;

    make_both();
    open_both(&s, true, "g", "w");
    CHECK_STR(names_of(&s), "only-g only-w shared");
    k = library_find(s.l, STR("shared"));
    CHECK(k && k->source == LIBRARY_WORKSPACE);
    CHECK_STR(text_of(&s, k->description), "from the workspace");
    shelves_done(&s);
}

TEST(an_override_is_logged_at_INFO) /* [T13] */
{
    struct shelves s;

    make_both();
    open_both(&s, true, "g", "w");
    CHECK_STR(s.notes.p, "INFO skill 'shared' in workspace overrides global "
                         "definition\n");
    shelves_done(&s);
}

TEST(source_is_set_when_unopposed) /* [T13] */
{
    struct shelves s;

    make_both();
    open_both(&s, true, "g", "w");
    CHECK(library_find(s.l, STR("only-g"))->source == LIBRARY_GLOBAL);
    CHECK(library_find(s.l, STR("only-w"))->source == LIBRARY_WORKSPACE);
    shelves_done(&s);
}

TEST(either_root_alone) /* [T13] */
{
    struct shelves s;

    make_both();
    open_both(&s, true, "g", NULL);
    CHECK_STR(names_of(&s), "only-g shared");
    shelves_done(&s);
    open_both(&s, true, NULL, "w");
    CHECK_STR(names_of(&s), "only-w shared");
    shelves_done(&s);
}

/* --- Discovery & search ------------------------------------------------------------------ */

static void open_pdfs(struct shelves *s)
{
    put("pdfs/pdf-processing/SKILL.md",
        SKILL("pdf-processing", "Extract PDF text."));
    put("pdfs/forms/SKILL.md", SKILL("forms", "Fills a PDF form."));
    put("pdfs/a-pdf/SKILL.md", SKILL("a-pdf", "Something else."));
    put("pdfs/review/SKILL.md", SKILL("review", "Reviews code."));
    open_both(s, true, "pdfs", NULL);
}

static const char *found(struct shelves *s, const char *query, size_t limit)
{
    struct library_hit *hits;
    struct str text = STR("");
    size_t count;

    hits = library_search(s->l, str_cstr(query), limit, true, &s->a, &count);
    for (size_t i = 0; i < count; i++)
        text = arena_printf(&s->a, "%.*s%s%.*s", STR_ARG(text), i ? " " : "",
                            STR_ARG(hits[i].skill->name));
    return str_dup0(text, &s->a);
}

TEST(search_returns_substring_matches) /* [T16] */
{
    struct shelves s;

    open_pdfs(&s);
    CHECK_STR(found(&s, "view", 10), "review");
    CHECK_STR(found(&s, "ODE", 10), "review");
    CHECK_STR(found(&s, "  Pdf ", 10), "pdf-processing a-pdf forms");
    CHECK_STR(found(&s, "xyz", 10), "");
    shelves_done(&s);
}

TEST(search_ranks_name_match_above_description_match) /* [T16] */
{
    struct shelves s;

    open_pdfs(&s);
    CHECK_STR(found(&s, "pdf", 10), "pdf-processing a-pdf forms");
    shelves_done(&s);
}

TEST(search_with_empty_query_returns_the_full_sorted_list) /* [T16] */
{
    struct shelves s;

    open_pdfs(&s);
    CHECK_STR(found(&s, "", 10), "a-pdf forms pdf-processing review");
    CHECK_STR(found(&s, " \t", 2), "a-pdf forms");
    shelves_done(&s);
}

TEST(search_limit_is_respected) /* [T16] */
{
    struct shelves s;

    open_pdfs(&s);
    CHECK_STR(found(&s, "pdf", 2), "pdf-processing a-pdf");
    CHECK_STR(found(&s, "pdf", 1), "pdf-processing");
    shelves_done(&s);
}

TEST(discovery_index_returns_name_description_pairs) /* [T15] */
{
    struct shelves s;
    struct library_index o = {0};
    struct library_block block;
    struct err e = {0};

    open_pdfs(&s);
    CHECK(library_index_text(s.l, &o, &s.a, &block, &e));
    CHECK_STR(
        text_of(&s, block.text),
        "## Available skills\n"
        "Use `skill_search(query)` to filter and `skill_load(name)` to read a "
        "body.\n\n"
        "- a-pdf: Something else.\n"
        "- forms: Fills a PDF form.\n"
        "- pdf-processing: Extract PDF text.\n"
        "- review: Reviews code.");
    shelves_done(&s);
    open_both(&s, true, "no-such-root", NULL);
    CHECK(library_index_text(s.l, &o, &s.a, &block, &e));
    CHECK(block.text.n == 0); /* omitted entirely */
    shelves_done(&s);
}

/* --- Skill properties --------------------------------------------------------------------- */

static struct library_loaded load(struct shelves *s, const char *name)
{
    struct library_loaded loaded = {0};
    struct err e = {0};

    if (!library_load(s->l, str_cstr(name), LIBRARY_AS_TOOL, true, NULL, &s->a,
                      &loaded, &e))
        abort();
    return loaded;
}

TEST(version_is_stable_across_runs_for_unchanged_body) /* [T11] */
{
    struct shelves s;

    put("version/a/SKILL.md", HEAD("a", "d") "---\n\nDo it.\n");
    for (int i = 0; i < 2; i++) {
        open_both(&s, true, "version", NULL);
        /* printf 'Do it.\n' | sha256sum */
        CHECK_STR(load(&s, "a").skill_version, "d4cfd6ddae967cf4");
        shelves_done(&s);
    }
}

TEST(over_body_token_warn_triggers_a_WARNING_on_load) /* [T12] */
{
    static const struct {
        size_t chars, tokens;
        bool warns;
    } rows[] = {
        {0, 1, false},        {3, 1, false},       {8, 2, false},
        {20003, 5000, false}, {20004, 5001, true},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(buf_done) struct buf b = {0};
        struct shelves s;

        buf_init(&b, 1 << 20);
        buf_text(&b, HEAD("a", "d") "---\n");
        for (size_t n = 0; n < rows[i].chars; n++)
            buf_text(&b, "\xc3\xa4");
        put_text("big/a/SKILL.md", buf_str(&b));
        open_both(&s, true, "big", NULL);
        CHECK(load(&s, "a").load_size_tokens == rows[i].tokens);
        CHECK(notes_have(&s, "WARNING skill 'a' at ") == rows[i].warns);
        CHECK(notes_have(&s, "5001 tokens, more than 5000") == rows[i].warns);
        shelves_done(&s);
    }
}

/* --- Tools ------------------------------------------------------------------------------------ */

TEST(skill_search_returns_matches_and_metadata) /* [T17] */
{
    struct shelves s;
    struct library_hit *hits;
    size_t count;

    put("search-g/pdf-processing/SKILL.md",
        SKILL("pdf-processing", "Extract PDF text, fill forms, merge files."));
    put("search-w/pdf-redact/SKILL.md",
        SKILL("pdf-redact", "Redact regions of PDFs by bbox."));
    open_both(&s, true, "search-g", "search-w");
    hits = library_search(s.l, STR("pdf"), 10, true, &s.a, &count);
    CHECK_STR(text_of(&s, library_search_text(STR("pdf"), hits, count, &s.a)),
              "Skills matching 'pdf' (2):\n"
              "- pdf-processing [global] \xe2\x80\x94 Extract PDF text, fill "
              "forms, merge files.\n"
              "- pdf-redact [workspace] \xe2\x80\x94 Redact regions of PDFs by "
              "bbox.");
    CHECK(count == 2);
    CHECK_STR(text_of(&s, hits[0].skill->name), "pdf-processing");
    CHECK_STR(text_of(&s, hits[1].skill->name), "pdf-redact");
    shelves_done(&s);
}

TEST(skill_search_with_no_matches_returns_the_no_match_text) /* [T17] */
{
    static const struct {
        const char *query, *text;
    } rows[] = {
        {"x", "No skills matched 'x'."},
        {"it's", "No skills matched \"it's\"."},
        {"it's \"x\"", "No skills matched 'it\\'s \"x\"'."},
        {"a\\\n", "No skills matched 'a\\\\\\n'."},
        {"gr\xc3\xbc\xc3\x9f\xe2\x80\x8b",
         "No skills matched 'gr\xc3\xbc\xc3\x9f\\u200b'."},
    };
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(rows); i++)
        CHECK_STR(
            str_dup0(library_search_text(str_cstr(rows[i].query), NULL, 0, &a),
                     &a),
            rows[i].text);
    arena_done(&a);
}

TEST(skill_search_raises_when_skills_are_not_configured) /* [T17] */
{
    struct err e = {0};

    CHECK(!library_check(NULL, &e));
    CHECK_STR(err_first(&e), "skills are not configured for this session");
}

TEST(skill_load_returns_the_body_wrapped_in_the_header) /* [T18] */
{
    struct shelves s;
    struct library_loaded loaded;

    open_pdfs(&s);
    loaded = load(&s, "forms");
    CHECK_STR(text_of(&s, loaded.text),
              "# Skill: forms (source: global)\n\n# Body\n");
    CHECK_STR(text_of(&s, loaded.skill->name), "forms");
    CHECK_STR(loaded.skill_version, "4b36ff871e096e2f");
    CHECK_STR(library_source_name(loaded.skill->source), "global");
    CHECK(loaded.load_size_tokens == 1);
    CHECK(!loaded.already_loaded && !loaded.already_preloaded);
    shelves_done(&s);
}

TEST(skill_load_raises_for_unknown_names) /* [T18] */
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"nope", "no skill registered with name 'nope'"},
        {"Forms", "no skill registered with name 'Forms'"},
        {" forms", "no skill registered with name ' forms'"},
        {"it's", "no skill registered with name \"it's\""},
        {"", "no skill registered with name ''"},
    };
    struct shelves s;

    open_pdfs(&s);
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct library_loaded loaded;
        struct err e = {0};

        CHECK(!library_load(s.l, str_cstr(rows[i].name), LIBRARY_AS_TOOL, true,
                            NULL, &s.a, &loaded, &e));
        CHECK(e.code == ERR_NOT_FOUND);
        CHECK_STR(err_first(&e), rows[i].text);
    }
    shelves_done(&s);
}

TEST(skill_load_gives_the_body_once_in_a_session) /* [T20, T23] */
{
    struct shelves s;
    struct library_session session;
    struct library_loaded loaded;
    struct err e = {0};

    open_pdfs(&s);
    library_session_init(&session, true, &s.a);
    CHECK(library_load(s.l, STR("forms"), LIBRARY_AS_TOOL, true, &session, &s.a,
                       &loaded, &e));
    CHECK(!loaded.already_loaded && !loaded.already_preloaded);
    CHECK(library_load(s.l, STR("forms"), LIBRARY_AS_TOOL, true, &session, &s.a,
                       &loaded, &e));
    CHECK(loaded.already_loaded);
    shelves_done(&s);
}

TEST(skill_load_records_the_source) /* [T23] */
{
    static const struct {
        const char *name, *source;
    } rows[] = {
        {"only-w", "workspace"},
        {"only-g", "global"},
        {"shared", "workspace"},
    };
    struct shelves s;

    make_both();
    open_both(&s, true, "g", "w");
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct library_loaded loaded = load(&s, rows[i].name);

        CHECK_STR(library_source_name(loaded.skill->source), rows[i].source);
    }
    shelves_done(&s);
}

TEST(skill_load_raises_when_skills_are_not_configured) /* [T18] */
{
    struct library_loaded loaded;
    struct arena a = {0};
    struct err e = {0};

    CHECK(!library_load(NULL, STR("a"), LIBRARY_AS_TOOL, true, NULL, &a,
                        &loaded, &e));
    CHECK_STR(err_first(&e), "skills are not configured for this session");
    arena_done(&a);
}

/* --- the two properties ------------------------------------------------------------------------ */

TEST(property_loading_twice_gives_equal_stores)
{
    struct shelves x, y;

    make_both();
    open_both(&x, true, "g", "w");
    open_both(&y, true, "g", "w");
    CHECK_STR(names_of(&x), names_of(&y));
    for (size_t i = 0; i < library_count(x.l); i++) {
        const struct library_skill *p = library_at(x.l, i);
        const struct library_skill *q = library_at(y.l, i);

        CHECK(str_eq(p->description, q->description));
        CHECK(p->source == q->source && str_eq(p->folder, q->folder));
        CHECK_STR(load(&x, str_dup0(p->name, &x.a)).skill_version,
                  load(&y, str_dup0(q->name, &y.a)).skill_version);
    }
    shelves_done(&x);
    shelves_done(&y);
}

TEST(property_the_body_changes_the_version_and_the_description_does_not)
{
    static const char *const descriptions[] = {"d", "other", "d, longer"};
    static const char *const bodies[] = {"x\n", "x\ny\n", "x", "\xc3\xa4\n"};
    char versions[ROWS(bodies)][17];

    for (size_t b = 0; b < ROWS(bodies); b++) {
        for (size_t d = 0; d < ROWS(descriptions); d++) {
            struct shelves s;
            char text[200];

            snprintf(text, sizeof text,
                     "---\nname: a\ndescription: %s\n---\n%s", descriptions[d],
                     bodies[b]);
            put("prop/a/SKILL.md", text);
            open_both(&s, true, "prop", NULL);
            if (d == 0)
                memcpy(versions[b], load(&s, "a").skill_version, 17);
            CHECK_STR(load(&s, "a").skill_version, versions[b]);
            shelves_done(&s);
        }
        for (size_t before = 0; before < b; before++)
            CHECK(strcmp(versions[before], versions[b]) != 0);
    }
}
