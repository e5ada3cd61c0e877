#include "mapm/limits.h"
#include "mapm/state.h"
#include "mapm/state_search.h"

#include "../../state/search_texts.h"
#include "../../state/search_words.h"
#include "case_file.h"

/*
 * state: the search and its ranking. [G1, G2]. With REPORT=1 in its environment it
 * prints how many requests it serves, for `make bench`.
 */

#define ROWS(table) (sizeof(table) / sizeof *(table))

struct rig {
    struct arena a;
    struct state *s;
    struct err e;
    uint64_t id;
};

static void rig_init(struct rig *r)
{
    *r = (struct rig){0};
    r->s = state_open_memory(&r->e);
    CHECK(r->s != NULL);
}

static void rig_done(struct rig *r)
{
    state_close(r->s);
    arena_done(&r->a);
}

static void put(struct rig *r, const char *key,
                const struct search_entry *entries, size_t count)
{
    CHECK(state_put_source(r->s, SEARCH_CATALOG, str_cstr(key), STR("stamp"),
                           entries, count, &r->id, &r->e));
}

static struct search_hit *find(struct rig *r, struct str text, size_t limit,
                               size_t *count)
{
    struct search_request request = {
        .sources = &r->id, .source_count = 1, .text = text, .limit = limit};
    struct search_hit *hits = NULL;

    *count = 0;
    CHECK(state_search(r->s, &request, &r->a, &hits, count, &r->e));
    return hits;
}

static const char *first(struct rig *r, const char *text)
{
    size_t count;
    struct search_hit *hits = find(r, str_cstr(text), 5, &count);

    return count ? str_dup0(hits[0].name, &r->a) : "";
}

/* clang-format off */
static const struct search_entry some[] = {
    {STR_INIT("slide-maker"), STR_INIT("Makes decks of slides, as pptx."), STR_INIT(""), STR_INIT("1"), false},
    {STR_INIT("deploy"), STR_INIT("Ship a release to a cluster."), STR_INIT("kubernetes\nhelm"), STR_INIT("2"), false},
    {STR_INIT("deploy-notes"), STR_INIT("Deploy, deploy and deploy: notes about it."), STR_INIT(""), STR_INIT("3"), false},
    {STR_INIT("hidden-one"), STR_INIT("Only a person deploys with it."), STR_INIT(""), STR_INIT("4"), true},
};
/* clang-format on */

TEST(a_request_finds_entries) /* [G1] */
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"deploy", "deploy"}, /* its name, however often others say it */
        {"deploy notes", "deploy-notes"},
        {"a PRESENTATION please", "slide-maker"}, /* a synonym */
        {"k8s", "deploy"},
        {"helm", "deploy"},  /* a tag */
        {"luste", "deploy"}, /* a part of a word */
        {"shipping releases", "deploy"},
        {"", ""},
        {" \n", ""},
        {"walk the dog", ""},
    };
    struct rig r;

    rig_init(&r);
    put(&r, "x", some, ROWS(some));
    for (size_t i = 0; i < ROWS(rows); i++)
        CHECK_STR(first(&r, rows[i].text), rows[i].name);
    rig_done(&r);
}

TEST(each_form_of_a_word_has_its_synonyms) /* [G1] */
{
    static const struct search_entry entries[] = {
        {.name = STR_INIT("mend"),
         .description = STR_INIT("Troubleshoot a server.")},
        {.name = STR_INIT("draw"), .description = STR_INIT("Visualization.")},
        {.name = STR_INIT("study"), .description = STR_INIT("An analysis.")},
    };
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"crash", "mend"},     {"crashes", "mend"},  {"charts", "draw"},
        {"charted", "draw"},   {"charting", "draw"}, {"analyze", "study"},
        {"analyzed", "study"}, {"charter", ""},
    };
    struct rig r;

    rig_init(&r);
    put(&r, "x", entries, ROWS(entries));
    for (size_t i = 0; i < ROWS(rows); i++)
        CHECK_STR(first(&r, rows[i].text), rows[i].name);
    rig_done(&r);
}

/* Long words are found by their beginning. */
TEST(a_long_word_is_found_by_its_beginning) /* [G1] */
{
    static const struct search_entry entries[] = {
        {.name = STR_INIT("beside"),
         .description = STR_INIT("Looks at a release by its own code review.")},
        {.name = STR_INIT("digest"),
         .description = STR_INIT("Gives the summary of a text.")},
    };
    struct rig r;

    rig_init(&r);
    put(&r, "x", entries, ROWS(entries));
    CHECK_STR(first(&r, "summarise"), "digest");
    CHECK_STR(first(&r, "summits"), "");
    rig_done(&r);
}

/* Two words of a request are also one of a text; a word of general English, however
 * rare, weighs less than one that names a subject. */
TEST(words_weigh_by_what_they_tell) /* [G1] */
{
    static const struct search_entry entries[] = {
        {.name = STR_INIT("apart"),
         .description = STR_INIT("Gives a surprise.")},
        {.name = STR_INIT("beside"),
         .description = STR_INIT("Reads a codebase.")},
        {.name = STR_INIT("figures"), .description = STR_INIT("Paints plots.")},
    };
    struct rig r;

    rig_init(&r);
    put(&r, "x", entries, ROWS(entries));
    CHECK_STR(first(&r, "code base"), "beside");
    CHECK_STR(first(&r, "code of the base"), "");
    CHECK_STR(first(&r, "a surprise about plots"), "figures");
    rig_done(&r);
}

/* The most common words of English decide between texts that match alike; they
 * find nothing by themselves. */
TEST(the_most_common_words_decide_last) /* [G1] */
{
    static const struct search_entry entries[] = {
        {.name = STR_INIT("apart"),
         .description = STR_INIT("Paints plots after tables.")},
        {.name = STR_INIT("beside"),
         .description = STR_INIT("Paints plots before tables.")},
    };
    static struct search_words w;
    struct rig r;

    rig_init(&r);
    put(&r, "x", entries, ROWS(entries));
    CHECK_STR(first(&r, "plots"), "apart");
    CHECK_STR(first(&r, "plots and before them"), "beside");
    CHECK_STR(first(&r, "what was before"), "");
    search_words_read(&w, STR("any Plots, BEFORE any other"), &r.a);
    CHECK(w.count == 1 && w.common_count == 3);
    CHECK(search_words_find_common(&w, STR("other than before")) == 6);
    CHECK(search_words_find_common(&w, STR("others")) == 0);
    rig_done(&r);
}

/* Of keywords, one that is in no text does not hide the others; of a sentence it
 * may, and most of the keywords do. */
TEST(an_unknown_keyword_does_not_count) /* [G2] */
{
    static const struct {
        const char *text, *unknown;
        bool is_served;
    } rows[] = {
        {"pdf", "", true},
        {"pdf frobnicator", "frobnicator", true},
        {"zzyzx pdf frobnicator", "zzyzx, frobnicator", false},
        {"zzyzx pdf tools", "zzyzx", true},
        {"pdf of a frobnicator", "frobnicator", false},
        {"pdf zzyzx frobnicator qwertz", "zzyzx, frobnicator, qwertz", false},
        {"family frobnicator", "", false},
    };
    struct search_entry entries[100];
    struct rig r;

    rig_init(&r);
    for (unsigned i = 0; i < ROWS(entries); i++)
        entries[i] = (struct search_entry){
            .name = arena_printf(&r.a, "tool-%u", i),
            .description = STR("Is one of the tools for pdf.")};
    put(&r, "x", entries, ROWS(entries));
    for (size_t i = 0; i < ROWS(rows); i++) {
        size_t count;
        struct search_hit *hits = find(&r, str_cstr(rows[i].text), 5, &count);

        CHECK((count && hits[0].score >= SEARCH_MIN_SCORE) ==
              rows[i].is_served);
        CHECK_STR(count ? str_dup0(hits[0].unknown, &r.a) : "",
                  rows[i].unknown);
    }
    rig_done(&r);
}

TEST(a_long_word_is_a_query) /* [G1, F3] */
{
    char *word = malloc(QUERY_MAX_BYTES);
    struct rig r;
    size_t count;

    rig_init(&r);
    put(&r, "x", some, ROWS(some));
    memset(word, 'x', QUERY_MAX_BYTES);
    find(&r, str_make(word, QUERY_MAX_BYTES), 5, &count);
    CHECK(count == 0);
    rig_done(&r);
    free(word);
}

/* A part of a word is found in the first name of a source, too. */
TEST(a_name_is_found_by_its_beginning) /* [G1] */
{
    static const struct search_entry entry = {
        .name = STR_INIT("kubectl"), .description = STR_INIT("Runs a tool.")};
    struct rig r;

    rig_init(&r);
    put(&r, "x", &entry, 1);
    CHECK_STR(first(&r, "wake kube up"), "kubectl");
    rig_done(&r);
}

/* The words of a request count up to MATCH_MAX_WORDS. */
TEST(words_behind_the_limit_are_not_asked_for) /* [G1, F3] */
{
    CLEANUP(buf_done) struct buf text = {0};
    struct search_entry entry = {.name = STR("other")};
    struct rig r;

    rig_init(&r);
    buf_init(&text, QUERY_MAX_BYTES);
    for (int i = 0; i <= MATCH_MAX_WORDS; i++) {
        entry.description =
            arena_printf(&r.a, "zy%c%c", 'a' + i / 26, 'a' + i % 26);
        buf_append(&text, entry.description);
        buf_text(&text, " ");
        put(&r, "x", &entry, 1);
        CHECK_STR(first(&r, str_dup0(buf_str(&text), &r.a)),
                  i < MATCH_MAX_WORDS ? "other" : "");
    }
    rig_done(&r);
}

TEST(a_request_is_a_query_of_its_words) /* [G1] */
{
    CLEANUP(arena_done) struct arena a = {0};
    static const char *const names[] = {"1vwqwvwqv", "qwvw1wvwq", "qwvwqwvw1"};
    static struct search_words w;

    memset(&w, 'x', sizeof w);
    search_words_read(&w, STR("Zyx zyx the qwvwqwvwq Abc"), &a);
    CHECK_STR(str_dup0(search_words_query(&w, &a), &a),
              "\"zyx\" OR \"qwvwqwvwq\" OR \"abc\" OR \"qwvwqwvwqabc\" OR "
              "\"qwvwqw\" *");
    /* a name with a digit has no ending */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        search_words_read(&w, str_cstr(names[i]), &a);
        CHECK_STR(str_dup0(search_words_query(&w, &a), &a),
                  arena_printf(&a, "\"%s\"", names[i]).p);
    }
}

/* [F3] (k) A damaged database may give any bytes. */
TEST(texts_begin_one_after_the_other)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct search_entry two[] = {{.name = STR_INIT("")},
                                       {.name = STR_INIT("b")}};
    const uint32_t rows[] = {1, 2};
    struct search_texts texts;
    struct str good = search_texts_format(two, rows, 2, &a);
    char *bytes = arena_alloc(&a, good.n);

    CHECK(search_texts_parse(good, &a, &texts));
    for (size_t which = 2; which < 4; which++) {
        memcpy(bytes, good.p, good.n);
        memcpy(bytes + (1 + 4 + which) * 4, bytes + (1 + which) * 4, 4);
        CHECK(!search_texts_parse(str_make(bytes, good.n), &a, &texts));
    }
}

TEST(a_model_does_not_find_what_is_hidden) /* [G1, L6] */
{
    struct search_request request = {
        .source_count = 1, .text = STR("hidden-one"), .limit = 9};
    struct search_hit *hits;
    size_t count;
    struct rig r;

    rig_init(&r);
    put(&r, "x", some, ROWS(some));
    request.sources = &r.id;
    CHECK(state_search(r.s, &request, &r.a, &hits, &count, &r.e));
    CHECK(count == 1 && hits[0].is_exact && hits[0].score > 0.99);
    CHECK(str_is(hits[0].data, "4"));
    request.model = true;
    CHECK(state_search(r.s, &request, &r.a, &hits, &count, &r.e));
    CHECK(count == 0);
    rig_done(&r);
}

/* What changes in a source changes its row alone; other sources stay. */
TEST(a_source_is_put_again) /* [G1] */
{
    struct search_entry other[4];
    struct search_source *list, source;
    struct rig r;
    uint64_t x;
    size_t count;

    rig_init(&r);
    put(&r, "x", some, ROWS(some));
    x = r.id;
    put(&r, "y", some, 1);
    CHECK(r.id != x);
    memcpy(other, some, sizeof other);
    other[0].description = STR("Paints walls.");
    for (int i = 0; i < 300; i++) {
        other[1].description = arena_printf(&r.a, "Number %d of it.", i);
        put(&r, "x", other, i % 2 ? 4 : 3);
    }
    CHECK(r.id == x);
    CHECK_STR(first(&r, "painting"), "slide-maker");
    CHECK_STR(first(&r, "slides"), "slide-maker"); /* of its name */
    CHECK_STR(first(&r, "release"), "");
    CHECK_STR(first(&r, "299"), "deploy");
    CHECK_STR(first(&r, "298"), "");
    CHECK(state_list_sources(r.s, SEARCH_CATALOG, &r.a, &list, &count, &r.e));
    CHECK(count == 2 && list[0].count == 4 && str_is(list[0].stamp, "stamp"));
    CHECK(state_drop_source(r.s, SEARCH_CATALOG, STR("x"), &r.e));
    CHECK(state_drop_source(r.s, SEARCH_CATALOG, STR("x"), &r.e));
    CHECK(!state_find_source(r.s, SEARCH_CATALOG, STR("x"), &r.a, &source,
                             &r.e) &&
          r.e.code == ERR_NONE);
    CHECK(
        state_find_source(r.s, SEARCH_CATALOG, STR("y"), &r.a, &source, &r.e));
    r.id = source.id;
    CHECK_STR(first(&r, "pptx"), "slide-maker");
    rig_done(&r);
}

/* Several sources have one ranking. */
TEST(sources_are_searched_together) /* [G1] */
{
    struct search_request request = {
        .source_count = 2, .text = STR("deploy"), .limit = 9};
    struct search_hit *hits;
    uint64_t ids[2];
    struct rig r;
    size_t count;

    rig_init(&r);
    put(&r, "x", some, 2);
    ids[0] = r.id;
    put(&r, "y", some + 2, 2);
    ids[1] = r.id;
    request.sources = ids;
    CHECK(state_search(r.s, &request, &r.a, &hits, &count, &r.e));
    CHECK(count == 3 && hits[0].source == ids[0] && hits[1].source == ids[1]);
    rig_done(&r);
}

/* Libraries are a cache; catalogs stay. */
TEST(old_libraries_go) /* [G1] */
{
    struct search_source *list;
    size_t count;
    struct rig r;
    char key[16];

    rig_init(&r);
    put(&r, "catalog", some, 1);
    for (int i = 0; i < SEARCH_MAX_LIBRARIES + 3; i++) {
        snprintf(key, sizeof key, "%02d", i);
        CHECK(state_put_source(r.s, SEARCH_LIBRARY, str_cstr(key), STR(""),
                               some, 4, &r.id, &r.e));
    }
    CHECK(state_list_sources(r.s, SEARCH_LIBRARY, &r.a, &list, &count, &r.e));
    CHECK(count == SEARCH_MAX_LIBRARIES && str_is(list[0].key, "03"));
    CHECK(state_list_sources(r.s, SEARCH_CATALOG, &r.a, &list, &count, &r.e));
    CHECK(count == 1);
    rig_done(&r);
}

/* --- real skills [G2] ---------------------------------------------------------- */

#define REAL_MAX 4000

struct tally {
    unsigned all, first, three;
};

static bool is_wanted(struct str names, struct str name)
{
    struct str one;

    while (names.n && str_cut(&names, ',', &one))
        if (str_eq(one, name))
            return true;
    return false;
}

/* As library_search(): what is found by chance does not count. */
static size_t find_served(struct rig *r, struct str text,
                          struct search_hit **hits)
{
    size_t found, n = 0;

    *hits = find(r, text, 10, &found);
    for (size_t i = 0; i < found; i++)
        if ((*hits)[i].score >= SEARCH_MIN_SCORE || (*hits)[i].is_literal)
            (*hits)[n++] = (*hits)[i];
    return n;
}

static void ask(struct rig *r, struct str names, struct str text,
                struct tally *t)
{
    struct search_hit *hits;
    size_t count = find_served(r, text, &hits);
    bool has = false;

    t->all++;
    t->first += count && is_wanted(names, hits[0].name);
    for (size_t i = 0; i < count && i < 3; i++)
        has = has || is_wanted(names, hits[i].name);
    t->three += has;
}

static void check_floor(const char *what, const struct tally *t,
                        unsigned first_floor, unsigned three_floor)
{
    if (getenv("REPORT"))
        printf("# %s: %u, first %.0f %%, in the top three %.0f %%\n", what,
               t->all, 100.0 * t->first / t->all, 100.0 * t->three / t->all);
    CHECK(100 * t->first >= first_floor * t->all);
    CHECK(100 * t->three >= three_floor * t->all);
}

static bool has_name(const struct search_entry *entries, size_t count,
                     struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(entries[i].name, name))
            return true;
    return false;
}

/* Puts the skills of one or, where `other` is not NULL, two files; of equal names
 * the first. */
static void put_real(struct rig *r, const char *file, const char *other,
                     size_t at_least)
{
    const char *const files[] = {file, other};
    struct search_entry *entries =
        arena_array(&r->a, REAL_MAX, sizeof *entries);
    size_t n = 0;

    for (size_t k = 0; k < ROWS(files) && files[k]; k++) {
        size_t count;
        struct case_row *rows =
            case_rows(files[k], '\0', "\t", 3, &r->a, &count);

        for (size_t i = 0; i < count && n < REAL_MAX; i++)
            if (!has_name(entries, k ? n : 0, rows[i].cells[0]))
                entries[n++] =
                    (struct search_entry){.name = rows[i].cells[0],
                                          .tags = rows[i].cells[1],
                                          .description = rows[i].cells[2],
                                          .data = STR("")};
    }
    CHECK(n >= at_least && n < REAL_MAX);
    put(r, "real", entries, n);
}

/* The floors hold for each set; its "unserved" requests are found at most three
 * times in twenty. */
static void check_set(const char *skills, const char *others, size_t at_least,
                      const char *requests)
{
    struct tally full[2] = {0}, keyword[2] = {0};
    unsigned unserved = 0, found = 0;
    struct case_row *rows;
    struct rig r;
    size_t count;

    rig_init(&r);
    put_real(&r, skills, others, at_least);
    rows = case_rows(requests, '\0', "\t", 4, &r.a, &count);
    for (size_t i = 0; i < count; i++) {
        const struct str *c = rows[i].cells;
        size_t half = str_is(c[0], "held-out");
        struct search_hit *hits;

        if (str_is(c[0], "unserved")) {
            unserved++;
            found += find_served(&r, c[3], &hits) > 0;
            continue;
        }
        ask(&r, c[1], c[3], &full[half]);
        ask(&r, c[1], c[2], &keyword[half]);
    }
    if (getenv("REPORT"))
        printf("# %s\n", requests);
    CHECK(full[0].all + full[1].all >= 100 && full[1].all >= 50);
    check_floor("requests, tuning", &full[0], 75, 88);
    check_floor("requests, held out", &full[1], 75, 88);
    check_floor("keywords, tuning", &keyword[0], 50, 73);
    check_floor("keywords, held out", &keyword[1], 50, 73);
    if (getenv("REPORT"))
        printf("# requests that nothing serves: %u, %u with a result\n",
               unserved, found);
    CHECK(unserved >= 20 && 20 * found <= 3 * unserved);
    rig_done(&r);
}

TEST(real_requests_find_real_skills) /* [G2] */
{
    const char *first_file = "tests/cases/search/skills.tsv";
    const char *second_file = "tests/cases/search/skills-2.tsv";

    check_set(first_file, NULL, 1000, "tests/cases/search/requests.tsv");
    check_set(second_file, NULL, 750, "tests/cases/search/requests-2.tsv");
    check_set(first_file, second_file, 1750,
              "tests/cases/search/requests-3.tsv");
}
