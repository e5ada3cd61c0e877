#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include "shelf_case.h"

/*
 * library: loading within a session, and the files of a skill. [T18, T19, T20]
 * [T21, T22, K7, K41, L6, L13, L14, L15].
 */

static bool load(struct shelves *s, const char *name, enum library_as as,
                 bool model, struct library_session *session,
                 struct library_loaded *out, struct err *e)
{
    *out = (struct library_loaded){0};
    *e = (struct err){0};
    return library_load(s->l, str_cstr(name), as, model, session, &s->a, out,
                        e);
}

/* Skills s00 … with bodies of `tokens` each. */
static void make_skills(const char *root, size_t count, size_t tokens)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(buf_done) struct buf b = {0};
        char path[60];

        buf_init(&b, 1 << 20);
        buf_printf(&b, "---\nname: s%02zu\ndescription: d\n---\n", i);
        for (size_t k = 0; k < 4 * tokens; k++)
            buf_char(&b, 'x');
        snprintf(path, sizeof path, "%s/s%02zu/SKILL.md", root, i);
        put_text(path, buf_str(&b));
    }
}

static const char *numbered(struct shelves *s, size_t i)
{
    return text_of(s, arena_printf(&s->a, "s%02zu", i));
}

/* --- budgets [T21, T22] ------------------------------------------------------------------ */

TEST(so_many_skills_a_session) /* [T21, T22] */
{
    for (int metis = 0; metis < 2; metis++) {
        size_t most = metis ? 3 : 20;
        struct shelves s;
        struct library_session session;
        struct library_loaded loaded;
        struct err e;

        make_skills("count", 21, 1);
        open_both(&s, metis, "count", NULL);
        library_session_init(&session, metis, &s.a);
        for (size_t i = 0; i < most; i++)
            CHECK(load(&s, numbered(&s, i), LIBRARY_AS_TOOL, true, &session,
                       &loaded, &e));
        CHECK(!load(&s, numbered(&s, most), LIBRARY_AS_TOOL, true, &session,
                    &loaded, &e));
        CHECK(e.code == ERR_LIMIT);
        CHECK(!loaded.skill);
        if (metis)
            CHECK_STR(err_first(&e),
                      "activation budget exhausted: 3 skills already activated "
                      "this session (limit 3). Already loaded: ['s00', 's01', "
                      "'s02']. To free budget, start a fresh session or "
                      "summarize and discard previously loaded skill bodies.");
        /* an existing one costs nothing */
        CHECK(load(&s, "s00", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
        CHECK(session.loaded == most && session.count == most);
        shelves_done(&s);
    }
}

TEST(so_many_tokens_a_session) /* [T21, T22] */
{
    struct shelves s;
    struct library_session session;
    struct library_loaded loaded;
    struct err e;

    make_skills("tokens", 2, 15000);
    put("tokens/x/SKILL.md", HEAD("x", "d") "---\ny\n");
    open_both(&s, true, "tokens", NULL);
    library_session_init(&session, true, &s.a);
    CHECK(load(&s, "s00", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(loaded.warn); /* 10,000, once */
    CHECK(load(&s, "s01", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(!loaded.warn && session.tokens == 30000); /* as many as it may */
    CHECK(!load(&s, "x", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(e.code == ERR_LIMIT);
    CHECK_STR(err_first(&e),
              "activation token cap exhausted: loading 'x' would bring "
              "cumulative activation tokens to 30001 (cap 30000). Already "
              "loaded: ['s00', 's01'].");
    CHECK(session.loaded == 2 && session.tokens == 30000);
    session.max_tokens = 30001; /* it may be set */
    CHECK(load(&s, "x", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    session.max_tokens = 10; /* lower than the number of files */
    CHECK(!load(&s, "nope", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    shelves_done(&s);
}

TEST(the_number_is_checked_before_the_tokens) /* [T21] */
{
    struct shelves s;
    struct library_session session;
    struct library_loaded loaded;
    struct err e;

    make_skills("before", 2, 100);
    open_both(&s, true, "before", NULL);
    library_session_init(&session, true, &s.a);
    session.max_activations = 1;
    session.max_tokens = 150;
    CHECK(load(&s, "s00", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(!load(&s, "s01", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(str_starts(str_cstr(err_first(&e)), STR("activation budget")));
    shelves_done(&s);
}

TEST(the_limits_of_mapm) /* [T21] */
{
    struct library_session session;
    struct arena a = {0};

    library_session_init(&session, false, &a);
    CHECK(session.max_activations == 20 && session.max_tokens == 100000 &&
          session.warn_tokens == 30000);
    library_session_init(&session, true, &a);
    CHECK(session.max_activations == 3 && session.max_tokens == 30000 &&
          session.warn_tokens == 10000);
    arena_done(&a);
}

/* [T21] At 10,000, not above it, and once. */
TEST(a_warning_once) /* [T21] */
{
    static const size_t edges[] = {9999, 10000};

    for (size_t i = 0; i < ROWS(edges); i++) {
        struct shelves s;
        struct library_session session;
        struct library_loaded loaded;
        struct err e;

        make_skills("warn", 2, edges[i]);
        open_both(&s, true, "warn", NULL);
        library_session_init(&session, true, &s.a);
        CHECK(load(&s, "s00", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
        CHECK(loaded.warn == (i == 1));
        CHECK(load(&s, "s01", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
        CHECK(loaded.warn == (i == 0));
        shelves_done(&s);
    }
}

/* --- pointers [T19, T20] --------------------------------------------------------------------- */

TEST(a_second_load_is_a_pointer) /* [T20] */
{
    struct shelves s;
    struct library_session session;
    struct library_loaded loaded;
    struct err e;

    put("again/a/SKILL.md", HEAD("a", "d") "---\nDo it.\n");
    open_both(&s, false, NULL, "again");
    library_session_init(&session, false, &s.a);
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(!loaded.already_loaded && !loaded.already_preloaded);
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK_STR(
        text_of(&s, loaded.text),
        "# Skill: a (source: workspace)\n\nThis skill is already loaded in the "
        "conversation history (activated earlier this session). Re-read the "
        "earlier `tool_result` for `skill_load(\"a\")` for its operating "
        "instructions.");
    CHECK_STR(loaded.skill_version, "d4cfd6ddae967cf4");
    CHECK(loaded.load_size_tokens == 1);
    CHECK(loaded.already_loaded && !loaded.already_preloaded);
    shelves_done(&s);
}

/* A pointer refers to the text that the model has, and to no other text. */
TEST(another_body_of_the_same_name_is_no_second_load) /* [T11, T20] */
{
    struct shelves s, other;
    struct library_session session;
    struct library_loaded loaded;
    struct err e;

    put("day/a/SKILL.md", HEAD("a", "d") "---\nOne.\n");
    put("night/a/SKILL.md", HEAD("a", "d") "---\nTwo.\n");
    open_both(&s, false, NULL, "day");
    open_both(&other, false, NULL, "night");
    library_session_init(&session, false, &s.a);
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(load(&other, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(!loaded.already_loaded && session.loaded == 1 && session.count == 2);
    CHECK(str_ends(loaded.text, STR("Two.\n")));
    put("day/a/SKILL.md", HEAD("a", "d") "---\nOne, edited.\n");
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(str_ends(loaded.text, STR("One, edited.\n")) && session.count == 3);
    put("day/a/SKILL.md", HEAD("a", "another word") "---\nOne.\n");
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(loaded.already_loaded && session.count == 3 && session.loaded == 1);
    session.max_activations = 1; /* [T21] counts skills */
    put("day/a/SKILL.md", HEAD("a", "d") "---\nThree.\n");
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(!loaded.already_loaded && session.loaded == 1);
    drop("day/a");
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(loaded.already_loaded); /* the model has the text, even if the file
                                   * has changed */
    shelves_done(&s);
    shelves_done(&other);
}

TEST(what_is_preloaded_is_a_pointer_and_costs_nothing) /* [T20, T21] */
{
    struct shelves s;
    struct library_session session;
    struct library_activation pre = {.name = STR("a"),
                                     .tokens = 5,
                                     .skill_version = "d4cfd6ddae967cf4",
                                     .preloaded = true};
    struct library_loaded loaded;
    struct err e;

    put("again/a/SKILL.md", HEAD("a", "d") "---\nDo it.\n");
    open_both(&s, false, "again", NULL);
    library_session_init(&session, false, &s.a);
    CHECK(!library_session_put(&session, &pre));
    CHECK(!library_session_put(&session, &pre)); /* twice is once */
    CHECK(session.count == 1 && session.loaded == 0 && session.tokens == 0);
    session.max_activations = 0;
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK_STR(text_of(&s, loaded.text),
              "# Skill: a (source: global)\n\nThis skill's body is already "
              "loaded in the system prompt (pre-activated at session start). "
              "Re-read the system prompt section `### Skill: a` for its "
              "operating instructions.");
    CHECK_STR(loaded.skill_version, "d4cfd6ddae967cf4");
    CHECK(loaded.load_size_tokens == 5);
    CHECK(loaded.already_preloaded && !loaded.already_loaded);
    shelves_done(&s);
}

TEST(a_session_can_be_kept_and_taken_up_again) /* [T21] */
{
    struct shelves s;
    struct library_session session, later;
    struct library_loaded loaded;
    struct err e;

    make_skills("kept", 4, 4000);
    open_both(&s, true, "kept", NULL);
    library_session_init(&session, true, &s.a);
    for (size_t i = 0; i < 3; i++)
        CHECK(load(&s, numbered(&s, i), LIBRARY_AS_TOOL, true, &session,
                   &loaded, &e));
    library_session_init(&later, true, &s.a);
    for (size_t i = 0; i < session.count; i++)
        library_session_put(&later, &session.activations[i]);
    CHECK(later.tokens == 12000 && later.loaded == 3 && later.warned);
    CHECK(!load(&s, "s03", LIBRARY_AS_TOOL, true, &later, &loaded, &e));
    CHECK(load(&s, "s01", LIBRARY_AS_TOOL, true, &later, &loaded, &e));
    CHECK(loaded.already_loaded);
    shelves_done(&s);
}

TEST(nothing_is_counted_when_a_load_fails)
{
    struct shelves s;
    struct library_session session;
    struct library_loaded loaded;
    struct err e;

    put("fails/a/SKILL.md", SKILL("a", "d"));
    open_both(&s, false, "fails", NULL);
    library_session_init(&session, false, &s.a);
    put("fails/a/SKILL.md", "broken\n");
    CHECK(!load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(e.code == ERR_FRONTMATTER);
    put("fails/a/SKILL.md", SKILL("b", "d"));
    CHECK(!load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(e.code == ERR_STALE);
    drop("fails/a");
    CHECK(!load(&s, "a", LIBRARY_AS_TOOL, true, &session, &loaded, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    CHECK(session.count == 0);
    shelves_done(&s);
}

/* --- who loads, and how [L6, L13] --------------------------------------------------------------- */

TEST(a_person_alone_starts_what_is_disabled) /* [L6] */
{
    struct shelves s;
    struct library_loaded loaded;
    struct err e;

    put("dis/a/SKILL.md",
        HEAD("a", "d") "disable-model-invocation: true\n---\nx\n");
    open_both(&s, false, "dis", NULL);
    CHECK(!load(&s, "a", LIBRARY_AS_TOOL, true, NULL, &loaded, &e));
    CHECK(e.code == ERR_REFUSED);
    CHECK_STR(err_first(&e), "skill 'a' can be started by the user only");
    CHECK(load(&s, "a", LIBRARY_AS_USER, false, NULL, &loaded, &e));
    shelves_done(&s);
    open_both(&s, true, "dis", NULL); /* [T9] */
    CHECK(!library_at(s.l, 0)->disabled);
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, NULL, &loaded, &e));
    shelves_done(&s);
}

TEST(three_ways_to_say_it) /* [L13, K41, T26] */
{
    struct shelves s;
    struct library_loaded loaded;
    struct err e;
    const char *want;

    put("as/a/SKILL.md", HEAD("a", "d") "---\n\n  Do it.<!-- not this -->\n\n");
    put("as/a/scripts/x.sh", "true\n");
    put("as/a/ref.md", "x\n");
    open_both(&s, false, "as", NULL);
    CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, NULL, &loaded, &e));
    CHECK_STR(text_of(&s, loaded.text),
              "# Skill: a (source: global)\n\n  Do it.<!-- not this -->\n\n");
    CHECK(load(&s, "a", LIBRARY_AS_SYSTEM, true, NULL, &loaded, &e));
    CHECK_STR(text_of(&s, loaded.text),
              "### Skill: a\n\nDo it.<!-- not this -->\n");
    CHECK(load(&s, "a", LIBRARY_AS_USER, true, NULL, &loaded, &e));
    want = text_of(
        &s, arena_printf(&s.a,
                         "[Skill: a activated]\n\n<skill-instructions>\nDo it."
                         "\n</skill-instructions>\n\nSkill directory: %s/as/a"
                         "\nSupporting files:\n- ref.md\n- scripts/x.sh",
                         shelf_top));
    CHECK_STR(text_of(&s, loaded.text), want);
    shelves_done(&s);
}

TEST(names_of_the_ways) /* [L13] */
{
    enum library_as as = LIBRARY_AS_TOOL;

    CHECK(library_as_find(STR("system"), &as) && as == LIBRARY_AS_SYSTEM);
    CHECK(library_as_find(STR("user"), &as) && as == LIBRARY_AS_USER);
    CHECK(library_as_find(STR("tool"), &as) && as == LIBRARY_AS_TOOL);
    CHECK(!library_as_find(STR("Tool"), &as));
}

/* [K7] 20,000 characters and not one more, where a host may cut; [T18] is whole. */
TEST(long_bodies) /* [K7] */
{
    for (size_t over = 0; over < 2; over++) {
        struct shelves s;
        struct library_loaded loaded;
        struct err e;
        CLEANUP(buf_done) struct buf b = {0};

        buf_init(&b, 1 << 20);
        buf_text(&b, HEAD("a", "d") "---\n");
        for (size_t i = 0; i < 20000 + over; i++)
            buf_char(&b, 'x');
        put_text("long/a/SKILL.md", buf_str(&b));
        open_both(&s, false, "long", NULL);
        CHECK(load(&s, "a", LIBRARY_AS_USER, true, NULL, &loaded, &e));
        CHECK(
            (str_find(loaded.text, STR("\n[truncated at 20000 characters]")) !=
             SIZE_MAX) == (over == 1));
        CHECK(load(&s, "a", LIBRARY_AS_TOOL, true, NULL, &loaded, &e));
        CHECK(loaded.text.n ==
              strlen("# Skill: a (source: global)\n\n") + 20000 + over);
        shelves_done(&s);
    }
}

/* --- files [L14, L15] ------------------------------------------------------------------------------ */

static void make_files(void)
{
    drop("files");
    put("outside.txt", "secret\n");
    put("files/a/SKILL.md", SKILL("a", "d"));
    put("files/a/references/deep/er.md", "text\n");
    put("files/a/scripts/run.py", "print()\n");
    put("files/a/assets/logo.md", "text\n");
    put("files/a/examples/one.py", "x\n");
    put("files/a/notes.TXT", "x\n");
    put("files/a/tool.sh", "x\n");
    put("files/a/LICENSE", "x\n");
    put_text("files/a/logo.png", str_make("\x89PNG\0", 5));
    put("files/a/latin.txt", "\xe4\n");
    put("files/a/.git/config", "x\n");
    put("files/a/references/SKILL.md", "nested\n");
    link_to("../../outside.txt", "files/a/link.txt");
    link_to("../..", "files/a/up");
    link_to("notes.TXT", "files/a/inside.txt");
    if (fchmodat(shelf_fd, "files/a/tool.sh", 0755, 0) < 0)
        abort();
}

TEST(files_by_kind) /* [L15] */
{
    static const struct {
        const char *path, *kind;
        bool is_text, executable;
        size_t size;
    } rows[] = {
        {"LICENSE", "other", true, false, 2},
        {"assets/logo.md", "asset", true, false, 5},
        {"examples/one.py", "example", true, false, 2},
        {"latin.txt", "reference", false, false, 2},
        {"logo.png", "asset", false, false, 5},
        {"notes.TXT", "reference", true, false, 2},
        {"references/SKILL.md", "reference", true, false, 7},
        {"references/deep/er.md", "reference", true, false, 5},
        {"scripts/run.py", "script", true, false, 8},
        {"tool.sh", "script", true, true, 2},
    };
    struct shelves s;
    struct library_file *files;
    struct err e = {0};
    size_t count = 0;

    make_files();
    open_both(&s, false, "files", NULL);
    CHECK(library_files(s.l, STR("a"), &s.a, &files, &count, &e));
    CHECK(count == ROWS(rows));
    for (size_t i = 0; i < count && i < ROWS(rows); i++) {
        CHECK_STR(text_of(&s, files[i].path), rows[i].path);
        CHECK_STR(library_kind_name(files[i].kind), rows[i].kind);
        CHECK(files[i].is_text == rows[i].is_text);
        CHECK(files[i].executable == rows[i].executable);
        CHECK(files[i].size == rows[i].size);
    }
    CHECK(!library_files(s.l, STR("x"), &s.a, &files, &count, &e));
    CHECK_STR(err_first(&e), "no skill registered with name 'x'");
    shelves_done(&s);
}

/* Names that no installed file may have can occur in a root. */
static const char *const odd_names[] = {
    "a\x07"
    "b",
    "a\nb",
    "a\"b",
    "a*b",
    "a.",
    "a:b",
    "a<b",
    "a?b",
    "a|b",
    "back\\slash",
    "con.txt",
    "odd ",
    "q?/#%",
};

TEST(a_file_is_served_whatever_its_name) /* [L14] */
{
    struct shelves s;
    struct library_file *files;
    struct str *paths;
    struct err e = {0};
    size_t count = 0;

    drop("odd");
    put("odd/a/SKILL.md", SKILL("a", "d"));
    for (size_t i = 0; i < ROWS(odd_names); i++) {
        char path[60];

        snprintf(path, sizeof path, "odd/a/%s", odd_names[i]);
        put(path, "x\n");
    }
    open_both(&s, false, "odd", NULL);
    CHECK(library_files(s.l, STR("a"), &s.a, &files, &count, &e));
    CHECK(count == ROWS(odd_names));
    for (size_t i = 0; i < count && i < ROWS(odd_names); i++) {
        struct str text;
        bool cut;

        CHECK_STR(text_of(&s, files[i].path), odd_names[i]);
        CHECK(library_read_file(s.l, STR("a"), files[i].path, 9, &s.a, &text,
                                &cut, &e));
    }
    CHECK(library_paths(s.l, STR("a"), ROWS(odd_names) + 1, &s.a, &paths,
                        &count, &e));
    CHECK(count == ROWS(odd_names) + 1);
    CHECK_STR(text_of(&s, paths[0]), "SKILL.md");
    CHECK(!library_paths(s.l, STR("a"), ROWS(odd_names), &s.a, &paths, &count,
                         &e));
    CHECK(e.code == ERR_LIMIT);
    shelves_done(&s);
}

TEST(what_has_no_name_for_an_answer_is_passed_over) /* [L14] */
{
    struct shelves s;
    struct library_file *files;
    struct str *paths;
    struct err e = {0};
    size_t count = 0;

    drop("bytes");
    put("bytes/a/SKILL.md", SKILL("a", "d"));
    put("bytes/a/good", "x\n");
    put("bytes/a/b\xe4"
        "d/x",
        "x\n");
    put("bytes/a/.Git/config", "x\n");
    open_both(&s, false, "bytes", NULL);
    CHECK(library_files(s.l, STR("a"), &s.a, &files, &count, &e));
    CHECK(count == 1);
    CHECK(library_folder(s.l, STR("a"), STR(""), &s.a, &files, &count, &e));
    CHECK(count == 2);
    CHECK(!library_paths(s.l, STR("a"), 9, &s.a, &paths, &count, &e));
    CHECK(e.code == ERR_REFUSED);
    CHECK_STR(err_first(&e), "the name of b\\xe4d is not UTF-8");
    shelves_done(&s);
}

TEST(a_folder_as_it_is) /* [L14] */
{
    static const struct {
        const char *path;
        bool is_folder;
    } rows[] = {
        {"LICENSE", false},  {"SKILL.md", false},  {"assets", true},
        {"empty", true},     {"examples", true},   {"latin.txt", false},
        {"logo.png", false}, {"notes.TXT", false}, {"references", true},
        {"scripts", true},   {"tool.sh", false},
    };
    static const char *const none[] = {"up",   "nothing", "LICENSE", ".git",
                                       "../a", "/",       "assets/", "\xe4"};
    struct shelves s;
    struct library_file *files;
    struct err e = {0};
    size_t count = 0;

    make_files();
    if (mkdirat(shelf_fd, "files/a/empty", 0755) < 0)
        abort();
    open_both(&s, false, "files", NULL);
    CHECK(library_folder(s.l, STR("a"), STR(""), &s.a, &files, &count, &e));
    CHECK(count == ROWS(rows));
    for (size_t i = 0; i < count && i < ROWS(rows); i++) {
        CHECK_STR(text_of(&s, files[i].path), rows[i].path);
        CHECK(files[i].is_folder == rows[i].is_folder);
    }
    CHECK(library_folder(s.l, STR("a"), STR("references"), &s.a, &files, &count,
                         &e));
    CHECK(count == 2);
    CHECK_STR(text_of(&s, files[0].path), "references/SKILL.md");
    CHECK_STR(text_of(&s, files[1].path), "references/deep");
    CHECK(
        library_folder(s.l, STR("a"), STR("empty"), &s.a, &files, &count, &e));
    CHECK(count == 0);
    for (size_t i = 0; i < ROWS(none); i++) {
        e = (struct err){0};
        CHECK(!library_folder(s.l, STR("a"), str_cstr(none[i]), &s.a, &files,
                              &count, &e));
        CHECK(e.code == ERR_REFUSED || e.code == ERR_NOT_FOUND);
        if (tap_failed)
            printf("# %s: %s\n", none[i], err_first(&e));
    }
    shelves_done(&s);
}

TEST(a_file_is_read_inside_the_skill_alone) /* [L14] */
{
    static const struct {
        const char *path;
        enum err_code code;
    } rows[] = {
        {"notes.TXT", ERR_NONE},
        {"SKILL.md", ERR_NONE},
        {"references/deep/er.md", ERR_NONE},
        {"link.txt", ERR_REFUSED},
        {"inside.txt", ERR_REFUSED},
        {"up/a/notes.TXT", ERR_REFUSED},
        {"../a/notes.TXT", ERR_REFUSED},
        {"references/../notes.TXT", ERR_REFUSED},
        {"./notes.TXT", ERR_NONE},
        {"./../notes.TXT", ERR_REFUSED},
        {"./.git/config", ERR_REFUSED},
        {"/etc/passwd", ERR_REFUSED},
        {"", ERR_REFUSED},
        {"references//x", ERR_REFUSED},
        {"references", ERR_REFUSED},
        {".git/config", ERR_REFUSED},
        {".GIT/config", ERR_REFUSED},
        {"git~1/config", ERR_REFUSED},
        {"references/.git", ERR_REFUSED},
        {"\xe4", ERR_REFUSED},
        {"nothing", ERR_NOT_FOUND},
        {"notes.TXT/x", ERR_NOT_FOUND},
    };
    struct shelves s;

    make_files();
    open_both(&s, false, "files", NULL);
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct str text = STR("untouched");
        struct err e = {0};
        bool cut = true;

        CHECK(library_read_file(s.l, STR("a"), str_cstr(rows[i].path), 65536,
                                &s.a, &text, &cut,
                                &e) == (rows[i].code == ERR_NONE));
        CHECK(e.code == rows[i].code);
        CHECK(!cut || rows[i].code != ERR_NONE);
        if (tap_failed)
            printf("# %s: %s\n", rows[i].path, err_first(&e));
    }
    shelves_done(&s);
}

TEST(sixty_four_KiB_of_a_file) /* [L14] */
{
    static const struct {
        size_t size, max, read;
        bool cut;
    } rows[] = {
        {65536, 65536, 65536, false},
        {65537, 65536, 65536, true},
        {65537, SIZE_MAX, 65536, true},
        {10, 0, 0, true},
        {0, 0, 0, false},
        {10, 9, 9, true},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct shelves s;
        struct str text = {0};
        struct err e = {0};
        bool cut = false;

        put("sized/a/SKILL.md", SKILL("a", "d"));
        open_both(&s, false, "sized", NULL);
        text = str_make(arena_alloc(&s.a, rows[i].size + 1), rows[i].size);
        put_text("sized/a/x.bin", text);
        CHECK(library_read_file(s.l, STR("a"), STR("x.bin"), rows[i].max, &s.a,
                                &text, &cut, &e));
        CHECK(text.n == rows[i].read && cut == rows[i].cut);
        shelves_done(&s);
    }
}

TEST(a_cut_text_ends_with_a_whole_character) /* [L14] */
{
    struct shelves s;
    struct err e = {0};

    put("chars/a/SKILL.md", SKILL("a", "d"));
    put("chars/a/x.txt", "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");
    open_both(&s, false, "chars", NULL);
    for (size_t max = 0; max < 10; max++) {
        struct str text;
        bool cut;

        CHECK(library_read_file(s.l, STR("a"), STR("x.txt"), max, &s.a, &text,
                                &cut, &e));
        CHECK(text.n == max / 3 * 3 && cut == (max < 9));
    }
    shelves_done(&s);
}
