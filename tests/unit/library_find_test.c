
#include "base/needle.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/state.h"
#include "mapm/state_search.h"

#include <string.h>

#include "shelf_case.h"

/*
 * library: search, match, "/name" and "$name", the discovery block. [T15, T16]
 * [T17, T26, T31, K15, K18, L6, L7, L11, L12, X25, X26, X28, G1, G3].
 */

static void open_tools(struct shelves *s, bool metis)
{
    put("find/pdf-processing/SKILL.md",
        SKILL("pdf-processing",
              "Extracts text and tables from PDF files, fills forms."));
    put("find/code-review/SKILL.md",
        SKILL("code-review", "Reviews the changes of a branch."));
    put("find/test-fix/SKILL.md",
        SKILL("test-fix", "Run tests and ask the agent to fix failures."));
    put("find/test-fix/SKILL.star", "def run(input):\n    return input\n");
    put("find/secret/SKILL.md",
        HEAD("secret", "Deploys the pdf service.") "disable-model-invocation: "
                                                   "true\n---\nx\n");
    put("find/debug-mode/SKILL.md",
        HEAD("debug-mode", "Explains each step.") "mode: true\n---\nx\n");
    put("find/many-lines/SKILL.md", "---\nname: many-lines\ndescription: |\n  "
                                    "One line,\n\n  and  \xc3\x9cnicode.\n"
                                    "---\nx\n");
    open_both(s, metis, "find", NULL);
}

static const char *hit_names(struct shelves *s, const struct library_hit *hits,
                             size_t count)
{
    struct str text = STR("");

    for (size_t i = 0; i < count; i++)
        text =
            arena_printf(&s->a, "%.*s%s%.*s:%.0f", STR_ARG(text), i ? " " : "",
                         STR_ARG(hits[i].skill->name), hits[i].score);
    return str_dup0(text, &s->a);
}

TEST(search_scores_of_metis) /* [T16] */
{
    static const struct {
        const char *query, *hits;
    } rows[] = {
        {"pdf", "pdf-processing:3 secret:1"},
        {" PDF\n", "pdf-processing:3 secret:1"},
        {"-", "code-review:2 debug-mode:2 many-lines:2 pdf-processing:2 "
              "test-fix:2"},
        {"e", "code-review:3 debug-mode:3 many-lines:3 pdf-processing:3 "
              "secret:3 test-fix:3"},
        {"failures.", "test-fix:1"},
        {"failures. ", "test-fix:1"},
        {"text and", "pdf-processing:1"},
        {"line,\n\nand", "many-lines:1"},
        {"\xc3\x9cNICODE", "many-lines:1"},
        {"\xc3\xbcnicode", "many-lines:1"},
        {"extracts text and tables from pdf files, fills forms.",
         "pdf-processing:1"},
        {"extracts text and tables from pdf files, fills forms..", ""},
        {"processingextracts", ""}, /* no text goes on in the next */
        {"\xff", ""},
    };
    struct shelves s;

    open_tools(&s, true);
    for (size_t i = 0; i < ROWS(rows); i++) {
        size_t count;
        struct library_hit *hits = library_search(s.l, str_cstr(rows[i].query),
                                                  50, false, &s.a, &count);

        CHECK_STR(hit_names(&s, hits, count), rows[i].hits);
    }
    shelves_done(&s);
}

static const char *first_hit(struct shelves *s, const char *query,
                             size_t *count)
{
    struct library_hit *hits =
        library_search(s->l, str_cstr(query), 10, false, &s->a, count);

    return *count ? str_dup0(hits[0].skill->name, &s->a) : "";
}

TEST(search_ranks_requests_in_any_words) /* [G1] */
{
    static const struct {
        const char *query, *first;
    } rows[] = {
        {"Extracting a table from some PDFs", "pdf-processing"},
        {"reviewing changed branches", "code-review"},
        {"code review", "code-review"}, /* its name */
        {"CODE-REVIEW", "code-review"},
        {"secret", "secret"},
        {"my test fails", "test-fix"},
        {"cessin", "pdf-processing"}, /* a part of a word */
        {"unicode", "many-lines"},    /* without the dots, too */
        {"bake a cake", ""},
        {"the of and you", ""},
        {"\xff", ""},
        {"\"pdf\" ^ files*: -(tables", "pdf-processing"}, /* no syntax */
    };
    struct shelves s;
    size_t count;

    open_tools(&s, false);
    for (size_t i = 0; i < ROWS(rows); i++)
        CHECK_STR(first_hit(&s, rows[i].query, &count), rows[i].first);
    shelves_done(&s);
}

/* Each text that contains the query literally is found. */
TEST(search_has_all_that_metis_finds) /* [G1, T16] */
{
    static const char *const queries[] = {
        "pdf",       "-",          "e",
        "failures.", "text and",   "line,\n\nand",
        "and",       "changes of", "\xc3\x9cNICODE",
        "ces",       "s",          "fix",
    };
    struct shelves metis, s;

    open_tools(&metis, true);
    open_tools(&s, false);
    for (size_t i = 0; i < ROWS(queries); i++) {
        size_t few, many, n = 0;
        struct library_hit *all =
            library_search(s.l, str_cstr(queries[i]), 50, false, &s.a, &many);
        struct library_hit *some = library_search(metis.l, str_cstr(queries[i]),
                                                  50, false, &s.a, &few);

        CHECK(few > 0 && many >= few);
        for (size_t k = 0; k < few; k++)
            for (size_t m = 0; m < many; m++)
                n += str_eq(some[k].skill->name, all[m].skill->name);
        CHECK(n == few);
    }
    shelves_done(&s);
    shelves_done(&metis);
}

TEST(scores_of_a_search) /* [G1] */
{
    struct library_hit *hits;
    struct shelves s;
    size_t count;

    open_tools(&s, false);
    hits = library_search(s.l, STR("test-fix"), 10, false, &s.a, &count);
    CHECK(count >= 1 && hits[0].score > 0.999);
    for (size_t i = 1; i < count; i++)
        CHECK(hits[i].score <= hits[i - 1].score && hits[i].score > 0);
    hits = library_search(s.l, STR("fill forms of a PDF"), 10, false, &s.a,
                          &count);
    CHECK(count >= 1);
    CHECK_STR(text_of(&s, hits[0].words), "fill, forms, pdf");
    shelves_done(&s);
}

TEST(a_model_does_not_see_what_is_disabled) /* [L6] */
{
    struct shelves s;
    size_t count;

    open_tools(&s, false);
    library_search(s.l, STR("pdf"), 10, true, &s.a, &count);
    CHECK(count == 1);
    library_search(s.l, STR(""), 10, true, &s.a, &count);
    CHECK(count == 5);
    library_search(s.l, STR(""), 10, false, &s.a, &count);
    CHECK(count == 6);
    shelves_done(&s);
    open_tools(&s, true); /* Metis does not know the field [T9] */
    library_search(s.l, STR("pdf"), 10, true, &s.a, &count);
    CHECK(count == 2);
    shelves_done(&s);
}

TEST(limits_of_a_search) /* [T16] */
{
    struct shelves s;
    size_t count;
    struct str big;
    static const size_t limits[] = {0, 1, 2, 50, SIZE_MAX};

    open_tools(&s, false);
    for (size_t i = 0; i < ROWS(limits); i++) {
        library_search(s.l, STR("e"), limits[i], false, &s.a, &count);
        CHECK(count == (limits[i] > 6 ? 6 : limits[i]));
        library_search(s.l, STR(""), limits[i], false, &s.a, &count);
        CHECK(count == (limits[i] > 6 ? 6 : limits[i]));
    }
    big = str_make(arena_alloc(&s.a, QUERY_MAX_BYTES + 1), QUERY_MAX_BYTES + 1);
    library_search(s.l, big, 10, false, &s.a, &count);
    CHECK(count == 0);
    shelves_done(&s);
}

TEST(a_line_of_a_result_is_one_line) /* [X25] */
{
    struct shelves s;
    struct library_hit *hits;
    size_t count;

    open_tools(&s, false);
    hits = library_search(s.l, STR("many"), 10, false, &s.a, &count);
    CHECK_STR(text_of(&s, library_search_text(STR("many"), hits, count, &s.a)),
              "Skills matching 'many' (1):\n- many-lines [global] \xe2\x80\x94 "
              "One line, and \xc3\x9cnicode.");
    shelves_done(&s);
}

/* --- many skills [G1, G3] ---------------------------------------------------------------- */

#define MANY 2000

static bool trusted(struct shelves *s, const char *query, size_t *count)
{
    struct library_hit *hits;

    return library_search_trusted(&s->o, str_cstr(query), 5, false, &s->a,
                                  &hits, count);
}

/* As soon as the folders are old enough for the cache. */
static bool trusted_after_search(struct shelves *s, const char *query)
{
    struct library *l = NULL;
    struct err e = {0};
    size_t count;

    if (!library_open(&s->o, &l, &e))
        return false;
    library_search(l, str_cstr(query), 5, false, &s->a, &count);
    library_close(l);
    return trusted(s, query, &count) && count > 0;
}

TEST(of_many_skills_only_hits_are_read) /* [G1, G3] */
{
    struct shelves s;
    struct err e = {0};
    char path[64], text[200];
    size_t count;

    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "many/skill-%d/SKILL.md", i);
        snprintf(text, sizeof text,
                 SKILL("skill-%d", "Number%d of the skills."), i, i);
        put(path, text);
    }
    put("many/group/inner/SKILL.md", SKILL("inner", "Within a group."));
    shelves_init(&s);
    add_root(&s, LIBRARY_GLOBAL, "many");
    bound_roots(&s, "many");
    s.o.index = state_open_memory(&e);
    CHECK(s.o.index && !trusted(&s, "number77", &count));
    AWAIT(trusted_after_search(&s, "number77"));
    CHECK(trusted(&s, "number1999", &count) && count == 1);
    CHECK(trusted(&s, "group", &count) && count == 1);
    CHECK(trusted(&s, "nothing of it", &count) && count == 0);
    CHECK(!trusted(&s, " ", &count)); /* a list */
    put("many/skill-5/SKILL.md", SKILL("skill-5", "Another one."));
    CHECK(trusted(&s, "number77", &count));
    CHECK(!trusted(&s, "number5", &count)); /* a hit that was edited */
    AWAIT(trusted_after_search(&s, "another"));
    put("many/new/SKILL.md", SKILL("new", "A new one."));
    CHECK(!trusted(&s, "number77", &count));
    AWAIT(trusted_after_search(&s, "number77"));
    put("many/group/other/SKILL.md", SKILL("other", "Within it, too."));
    CHECK(!trusted(&s, "number77", &count));
    state_close(s.o.index);
    shelves_done(&s);
}

/* At each position in a text and for each length, the result equals that of the
 * simple search. */
TEST(search_finds_each_place)
{
    struct shelves s;
    struct str text =
        STR("Abcdefghij klmnopqrst uvwxyz 0123456789 zyxwv ABCDE end.");

    put("each/a/SKILL.md",
        SKILL("a", "Abcdefghij klmnopqrst uvwxyz 0123456789 zyxwv ABCDE end."));
    open_both(&s, false, "each", NULL);
    for (size_t from = 0; from < text.n; from++) {
        for (size_t to = from + 1; to <= text.n; to++) {
            struct str query = str_slice(text, from, to);
            size_t count;

            library_search(s.l, query, 1, false, &s.a, &count);
            if (str_trim(query).n)
                CHECK(count == 1);
        }
    }
    shelves_done(&s);
}

/* --- match [L11] ---------------------------------------------------------------------- */

/* The vectorized search finds what memmem finds, at each position. */
TEST(search_is_that_of_one_byte_after_the_other) /* [T16] */
{
    static const char letters[] = "aaabq z";
    unsigned state = 7, wrong = 0;
    char text[300], what[20];

    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)round % sizeof text,
               m = 1 + (size_t)round % sizeof what;
        struct needle needle;
        const char *at;

        for (size_t i = 0; i < n; i++)
            text[i] = letters[(state = state * 1103515245 + 12345) >> 16 & 7];
        for (size_t i = 0; i < m; i++)
            what[i] = letters[(state = state * 1103515245 + 12345) >> 16 & 7];
        if (n >= m && round % 3)
            memcpy(what, text + state % (n - m + 1), m);
        needle = needle_of(str_make(what, m));
        at = n ? memmem(text, n, what, m) : NULL;
        if (text_search(str_make(text, n), &needle, 0) !=
            (at ? (size_t)(at - text) : SIZE_MAX))
            wrong++;
    }
    CHECK(wrong == 0);
}

TEST(match_ranks_by_the_words_of_a_request) /* [L11] */
{
    static const struct {
        const char *request, *first, *trigger;
        double most, least; /* of its score */
    } rows[] = {
        {"Please extract the tables of these PDF files", "pdf-processing",
         "extract, tables, pdf, files", 1, 0.6},
        {"can you review my code?", "code-review", "review, code", 1, 0.7},
        {"review this", "code-review", "review", 1, 0.7},
        {"fix the failing test", "test-fix", "fix, test", 1, 0.4},
        {"explain it step by step", "debug-mode", "explain, step", 1, 0.4},
        {"\xc3\x9cNICODE lines", "many-lines", "\xc3\xbcnicode, lines", 1, 0.6},
        {"", NULL, NULL, 0, 0},
        {"the of and you", NULL, NULL, 0, 0},
        {"bake a cake", NULL, NULL, 0, 0},
        {"deploys service", NULL, NULL, 0, 0}, /* [L6] */
    };
    struct shelves s;

    open_tools(&s, false);
    for (size_t i = 0; i < ROWS(rows); i++) {
        size_t count;
        struct library_hit *hits =
            library_match(s.l, str_cstr(rows[i].request), 5, 0.1, &s.a, &count);

        CHECK((count > 0) == (rows[i].first != NULL));
        if (!count || !rows[i].first)
            continue;
        CHECK_STR(text_of(&s, hits[0].skill->name), rows[i].first);
        CHECK_STR(text_of(&s, hits[0].words), rows[i].trigger);
        CHECK(hits[0].score <= rows[i].most && hits[0].score >= rows[i].least);
        for (size_t k = 1; k < count; k++)
            CHECK(hits[k].score <= hits[k - 1].score && hits[k].score >= 0.1);
        CHECK(!hits[0].is_explicit);
    }
    shelves_done(&s);
}

TEST(who_is_named_comes_first) /* [L11] */
{
    struct shelves s;
    struct library_hit *hits;
    size_t count;

    open_tools(&s, false);
    hits = library_match(s.l, STR("review the pdf code with $secret"), 5, 0.1,
                         &s.a, &count);
    CHECK(count >= 2);
    CHECK_STR(text_of(&s, hits[0].skill->name), "secret");
    CHECK_STR(text_of(&s, hits[0].words), "$secret");
    CHECK(hits[0].is_explicit && hits[0].score > 0.99);
    CHECK(!hits[1].is_explicit);
    hits = library_match(s.l, STR("/test-fix it"), 1, 0.1, &s.a, &count);
    CHECK(count == 1 && hits[0].is_explicit);
    CHECK_STR(text_of(&s, hits[0].words), "/test-fix");
    hits = library_match(s.l, STR("/test-fix it"), 0, 0.1, &s.a, &count);
    CHECK(count == 0);
    shelves_done(&s);
}

/* --- names in a text ---------------------------------------------------------------------- */

TEST(slash_commands) /* [L12] */
{
    static const struct {
        const char *text, *name, *rest;
    } rows[] = {
        {"/code-review", "code-review", ""},
        {"/code-review  main..HEAD  please \n", "code-review",
         "main..HEAD  please"},
        {"  /code-review x", "code-review", "x"},
        {"/code-review\nx", "code-review", "x"},
        {"/code-review\xc2\xa0x", "code-review", "x"},
        {"/secret now", "secret", "now"}, /* [L6] by the user */
        {"/code-review:x", NULL, NULL},
        {"/code-reviewed", NULL, NULL},
        {"/Code-Review", NULL, NULL},
        {"/ code-review", NULL, NULL},
        {"code-review", NULL, NULL},
        {"x /code-review", NULL, NULL},
        {"//code-review", NULL, NULL},
        {"/", NULL, NULL},
        {"", NULL, NULL},
    };
    struct shelves s;

    open_tools(&s, false);
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct str rest = STR("untouched");
        const struct library_skill *k =
            library_slash(s.l, str_cstr(rows[i].text), &rest);

        CHECK_STR(k ? text_of(&s, k->name) : "none",
                  rows[i].name ? rows[i].name : "none");
        CHECK_STR(text_of(&s, rest), k ? rows[i].rest : "untouched");
    }
    shelves_done(&s);
}

TEST(mentions) /* [K18] */
{
    static const struct {
        const char *text, *names;
    } rows[] = {
        {"use $code-review and $test-fix", "code-review test-fix"},
        {"$test-fix, $code-review, $test-fix", "test-fix code-review"},
        {"($code-review)", "code-review"},
        {"$code-review.", "code-review"},
        {"$code-review's", "code-review"},
        {"$code-review-", "code-review"},
        {"\xe2\x80\x9c$code-review\xe2\x80\x9d", "code-review"},
        {"$$code-review", "code-review"},
        {"a$code-review", ""},
        {"7$code-review", ""},
        {"\xc3\xa9$code-review", ""},
        {"$code-reviewer", ""},
        {"$code-review_x", ""},
        {"$code-review\xc3\xa9", ""},
        {"$Code-Review", ""},
        {"$code", ""},
        {"$code-review-x", ""},
        {"$ code-review", ""},
        {"\\$code-review", "code-review"},
        {"$", ""},
        {"", ""},
    };
    struct shelves s;

    open_tools(&s, false);
    for (size_t i = 0; i < ROWS(rows); i++) {
        size_t count;
        const struct library_skill **found =
            library_mentions(s.l, str_cstr(rows[i].text), &s.a, &count);
        struct str names = STR("");

        for (size_t k = 0; k < count; k++)
            names = arena_printf(&s.a, "%.*s%s%.*s", STR_ARG(names),
                                 k ? " " : "", STR_ARG(found[k]->name));
        CHECK_STR(text_of(&s, names), rows[i].names);
        if (tap_failed)
            printf("# %s\n", rows[i].text);
    }
    shelves_done(&s);
}

/* --- the discovery block ------------------------------------------------------------------- */

#define BLOCK_HEAD                                                             \
    "## Available skills\n"                                                    \
    "Use `skill_search(query)` to filter and `skill_load(name)` to read a "    \
    "body.\n"

static struct library_block block_of(struct shelves *s, size_t max_chars,
                                     bool preload)
{
    struct library_index o = {.preload = preload, .max_chars = max_chars};
    struct library_block block;
    struct err e = {0};

    if (!library_index_text(s->l, &o, &s->a, &block, &e))
        abort();
    return block;
}

TEST(the_block_of_mapm) /* [K15, L6, L7, X25, X28] */
{
    struct shelves s;

    open_tools(&s, false);
    CHECK_STR(text_of(&s, block_of(&s, 0, false).text), BLOCK_HEAD
              "\n- code-review: Reviews the changes of a branch."
              "\n- many-lines: One line, and \xc3\x9cnicode."
              "\n- pdf-processing: Extracts text and tables from PDF files, "
              "fills forms."
              "\n- test-fix: Run tests and ask the agent to fix failures. "
              "(metaskill: starlark)"
              "\n\n## Mode Commands\n"
              "\n- debug-mode: Explains each step.");
    CHECK(block_of(&s, 0, false).marks && block_of(&s, 0, true).marks);
    CHECK(!block_of(&s, strlen(BLOCK_HEAD) + 90, false).marks); /* cut off */
    shelves_done(&s);
}

TEST(the_block_of_Metis) /* [T15, X28] */
{
    struct shelves s;

    open_tools(&s, true);
    CHECK(!block_of(&s, 0, false).marks);
    CHECK_STR(text_of(&s, block_of(&s, 0, false).text), BLOCK_HEAD
              "\n- code-review: Reviews the changes of a branch."
              "\n- debug-mode: Explains each step."
              "\n- many-lines: One line, and \xc3\x9cnicode."
              "\n- pdf-processing: Extracts text and tables from PDF files, "
              "fills forms."
              "\n- secret: Deploys the pdf service."
              "\n- test-fix: Run tests and ask the agent to fix failures.");
    shelves_done(&s);
}

TEST(no_block_when_nothing_may_be_seen) /* [T15] */
{
    struct shelves s;

    put("hidden/a/SKILL.md",
        HEAD("a", "d") "disable-model-invocation: true\n---\nx\n");
    open_both(&s, false, "hidden", NULL);
    CHECK(block_of(&s, 0, true).text.n == 0);
    shelves_done(&s);
}

TEST(bodies_do_not_change_the_block) /* [T15] */
{
    static const char *const bodies[] = {"one", "two"};

    for (size_t i = 0; i < ROWS(bodies); i++) {
        struct shelves s;
        char text[100];

        snprintf(text, sizeof text, "---\nname: a\ndescription: d\n---\n%s\n",
                 bodies[i]);
        put("same/a/SKILL.md", text);
        open_both(&s, false, "same", NULL);
        CHECK_STR(text_of(&s, block_of(&s, 0, false).text),
                  BLOCK_HEAD "\n- a: d");
        shelves_done(&s);
    }
}

TEST(a_long_description_hides_no_other_skill) /* [T31] */
{
    static char text[9000];
    struct library_block b;
    struct shelves s;

    strcpy(text, "---\nname: aa\ndescription: ");
    memset(text + strlen(text), 'x', 8000);
    strcat(text, "\n---\n");
    put("greedy/aa/SKILL.md", text);
    put("greedy/bb/SKILL.md", SKILL("bb", "short"));
    put("greedy/cc/SKILL.md", SKILL("cc", "short"));
    open_both(&s, false, "greedy", NULL);
    b = block_of(&s, 2000, false);
    CHECK(b.left_out == 0);
    CHECK(str_find(b.text, STR("\n- bb: short\n- cc: short")) != SIZE_MAX);
    CHECK(text_count(b.text) < 1400);
    b = block_of(&s, 400, false);
    CHECK(b.left_out == 1);
    CHECK(str_find(b.text, STR("\n- bb: short\n- cc: short")) != SIZE_MAX);
    b = block_of(&s, 0, false); /* [T15] The whole text, without a limit. */
    CHECK(text_count(b.text) > 8000);
    shelves_done(&s);
    drop("greedy");
}

TEST(a_block_with_a_maximum_says_what_is_missing) /* [T31] */
{
    struct shelves s;
    size_t whole;

    open_tools(&s, false);
    whole = text_count(block_of(&s, 0, false).text);
    CHECK(block_of(&s, 0, false).left_out == 0);
    for (size_t max = 200; max < whole + 100; max++) {
        struct library_block b = block_of(&s, max, false);

        CHECK(text_count(b.text) <= max);
        CHECK((b.left_out > 0) ==
              (str_find(b.text, STR(" more: use `skill_search(query)`")) !=
               SIZE_MAX));
    }
    CHECK_STR(text_of(&s, block_of(&s, 200, false).text),
              BLOCK_HEAD "\n- code-review: Reviews the changes of a branch."
                         "\n- 4 more: use `skill_search(query)`");
    shelves_done(&s);
}

/* [T26] Sorted by name, until the maximum is reached; never above it. */
TEST(bodies_before_the_first_turn) /* [T26] */
{
    static const struct {
        const char *name;
        size_t chars;
        bool in;
    } rows[] = {
        {"a", 8000, true}, {"b", 15000, false}, /* would be past 22,000 */
        {"c", 9500, true}, {"d", 3000, true},
        {"e", 100, false}, /* 18,000 are there */
    };
    struct shelves s;
    struct library_block block;
    size_t n = 0;

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(buf_done) struct buf b = {0};
        char path[40];

        buf_init(&b, 1 << 20);
        buf_printf(&b, "---\nname: %s\ndescription: d\n---\n\n", rows[i].name);
        for (size_t k = 0; k < rows[i].chars; k++)
            buf_char(&b, rows[i].name[0]);
        buf_text(&b, "\n\n");
        snprintf(path, sizeof path, "pre/%s/SKILL.md", rows[i].name);
        put_text(path, buf_str(&b));
    }
    open_both(&s, false, "pre", NULL);
    block = block_of(&s, 0, true);
    CHECK(block.preloaded_count == 3);
    for (size_t i = 0; i < ROWS(rows); i++) {
        const char *line =
            text_of(&s, arena_printf(&s.a, "\n- %s%s: d", rows[i].name,
                                     rows[i].in ? " [preloaded]" : ""));
        const char *section =
            text_of(&s, arena_printf(&s.a, "\n\n### Skill: %s\n\n%c",
                                     rows[i].name, rows[i].name[0]));

        CHECK(str_find(block.text, str_cstr(line)) != SIZE_MAX);
        CHECK((str_find(block.text, str_cstr(section)) != SIZE_MAX) ==
              rows[i].in);
        if (rows[i].in && n < block.preloaded_count)
            CHECK(str_is(block.preloaded[n++]->name, rows[i].name));
    }
    CHECK(text_count(block.text) <= PRELOAD_MAX_TOKENS * 4);
    CHECK(str_ends(block.text, STR("ddd")));
    shelves_done(&s);
}
