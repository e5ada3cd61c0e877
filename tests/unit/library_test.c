#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "mapm/limits.h"

#include "shelf_case.h"

/* library: merging roots, first scan and refresh. [K14, T1, T2, T10, T13] [T27,
 * T31, L5, L6, L7, L9, L17, A4, X2, X7, X23]. */

static const char *description_of(struct shelves *s, const char *name)
{
    const struct library_skill *k = library_find(s->l, str_cstr(name));

    return k ? text_of(s, k->description) : "none";
}

static const char *body_of(struct shelves *s, const char *name)
{
    struct library_loaded loaded;
    struct err e = {0};

    if (!library_load(s->l, str_cstr(name), LIBRARY_AS_TOOL, true, NULL, &s->a,
                      &loaded, &e))
        return err_code_name(e.code);
    return text_of(s, str_trim(loaded.document.body));
}

/* --- which roots, which skill ------------------------------------------------------ */

/* [K14, X23] Order of roots: the workspace, further roots as given, the global
 * root. */
TEST(a_name_found_twice_has_one_winner) /* [K14, X23] */
{
    static const char *const all[] = {"k1", "k2", "k3"};
    static const struct {
        enum library_source source[3];
        const char *wins;
    } rows[] = {
        {{LIBRARY_GLOBAL, LIBRARY_GLOBAL, LIBRARY_GLOBAL}, "k1"},
        {{LIBRARY_GLOBAL, LIBRARY_GLOBAL, LIBRARY_WORKSPACE}, "k3"},
        {{LIBRARY_GLOBAL, LIBRARY_WORKSPACE, LIBRARY_WORKSPACE}, "k2"},
        {{LIBRARY_WORKSPACE, LIBRARY_GLOBAL, LIBRARY_GLOBAL}, "k1"},
    };

    put("k1/a/SKILL.md", SKILL("a", "k1"));
    put("k2/a/SKILL.md", SKILL("a", "k2"));
    put("k3/a/SKILL.md", SKILL("a", "k3"));
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct shelves s;
        struct err e = {0};

        shelves_init(&s);
        for (size_t k = 0; k < 3; k++)
            add_root(&s, rows[i].source[k], all[k]);
        CHECK(shelves_open(&s, &e));
        CHECK(library_count(s.l) == 1);
        CHECK_STR(description_of(&s, "a"), rows[i].wins);
        shelves_done(&s);
    }
}

/* [K14] A folder without a SKILL.md is a group, up to LIBRARY_MAX_DEPTH
 * levels. */
TEST(groups_are_looked_into)
{
    struct shelves s;

    put("deep/one/SKILL.md", SKILL("one", "d"));
    put("deep/one/inner/SKILL.md", SKILL("inner", "part of one"));
    put("deep/g/two/SKILL.md", SKILL("two", "d"));
    put("deep/g/h/three/SKILL.md", SKILL("three", "d"));
    put("deep/g/h/i/four/SKILL.md", SKILL("four", "d"));
    put("deep/.hidden/x/SKILL.md", SKILL("x", "d"));
    put("deep/g/.hidden/SKILL.md", SKILL("y", "d"));
    put("deep/g/empty/", "");
    put("deep/g/file", "no folder\n");
    put("deep/g-2/bad/SKILL.md", "no skill\n");
    link_to("g", "deep/again");
    link_to("..", "deep/g/up");
    link_to("../../one", "deep/g/linked");
    open_both(&s, false, "deep", NULL);
    CHECK_STR(names_of(&s), "one three two");
    CHECK(notes_have(&s, "skipping invalid skill at "));
    CHECK(notes_have(&s, "/deep/g-2/bad/SKILL.md: "));
    CHECK(str_ends(library_find(s.l, STR("three"))->folder,
                   STR("/deep/g/h/three")));
    CHECK_STR(body_of(&s, "three"), "# Body");
    shelves_done(&s);
    open_both(&s, true, "deep", NULL); /* Metis has one level */
    CHECK_STR(names_of(&s), "one");
    shelves_done(&s);
}

/* [K14] Order in one root: the skill whose folder has its name, the nearest,
 * the first by path. */
TEST(of_one_name_in_groups_one_wins)
{
    static const char *const folders[] = {"g/x",   "a/b/x", "b/x",
                                          "a-b/x", "a/x",   "x"};
    struct shelves s;
    char path[64];

    put("of-one/a/other/SKILL.md", SKILL("x", "other"));
    put("of-one/a/b/", "");
    for (size_t i = 0; i < ROWS(folders); i++) {
        char text[128];

        /* each one precedes those before it */
        if (i == 1)
            drop("of-one/g");
        snprintf(path, sizeof path, "of-one/%s/SKILL.md", folders[i]);
        snprintf(text, sizeof text, SKILL("x", "%s"), folders[i]);
        put(path, text);
        open_both(&s, false, "of-one", NULL);
        CHECK_STR(description_of(&s, "x"), folders[i]);
        shelves_done(&s);
    }
}

TEST(what_changes_in_a_group_is_noticed) /* [K14, L17] */
{
    struct shelves s;
    struct err e = {0};
    bool changed;

    put("moving/g/x/SKILL.md", SKILL("x", "d"));
    open_both(&s, false, "moving", NULL);
    CHECK_STR(names_of(&s), "x");
    CHECK(library_refresh(s.l, &changed, &e) && !changed);
    put("moving/g/h/y/SKILL.md", SKILL("y", "d"));
    CHECK(library_refresh(s.l, &changed, &e) && changed);
    CHECK_STR(names_of(&s), "x y");
    put("moving/g/SKILL.md", SKILL("g", "d")); /* no longer a group */
    CHECK(library_refresh(s.l, &changed, &e) && changed);
    CHECK_STR(names_of(&s), "g");
    shelves_done(&s);
}

TEST(a_flat_root_has_no_groups) /* as clients see them: budget */
{
    struct shelves s;
    struct err e = {0};

    put("flat/g/x/SKILL.md", SKILL("x", "d"));
    put("flat/y/SKILL.md", SKILL("y", "d"));
    shelves_init(&s);
    add_root(&s, LIBRARY_WORKSPACE, "flat");
    s.roots[0].flat = true;
    CHECK(shelves_open(&s, &e));
    CHECK_STR(names_of(&s), "y");
    shelves_done(&s);
}

TEST(a_folder_is_found_by_its_name) /* [K14] for mapm run */
{
    static const struct {
        const char *name, *found;
    } rows[] = {{"one", "one"}, {"two", "g/two"}, {"three", "g/h/three"},
                {"four", ""},   {"inner", ""},    {"x", ""},
                {"nothing", ""}};
    struct arena a = {0};
    struct str root = arena_printf(&a, "%s/deep", shelf_top);

    for (size_t i = 0; i < ROWS(rows); i++)
        CHECK_STR(library_find_folder(root, str_cstr(rows[i].name), &a).p,
                  rows[i].found);
    CHECK(library_find_folder(STR("/nowhere"), STR("one"), &a).n == 0);
    arena_done(&a);
}

TEST(who_loses_is_told) /* [T13] */
{
    struct shelves s;
    struct err e = {0};

    put("t1/a/SKILL.md", SKILL("a", "d"));
    put("t2/a/SKILL.md", SKILL("a", "d"));
    shelves_init(&s);
    add_root(&s, LIBRARY_GLOBAL, "t1");
    add_root(&s, LIBRARY_GLOBAL, "t2");
    CHECK(shelves_open(&s, &e));
    CHECK(notes_have(&s, "INFO skill 'a' in /"));
    CHECK(notes_have(&s, "/t1 overrides the one in /"));
    shelves_done(&s);
}

/* .claude/skills contains links to .agents/skills: one skill without a
 * conflict. */
TEST(a_folder_may_be_a_link) /* [T31] */
{
    struct shelves s;
    struct err e = {0};

    put("ws/.agents/skills/a/SKILL.md", SKILL("a", "d"));
    put("ws/.agents/skills/a/ref.md", "text\n");
    link_to("../../.agents/skills/a", "ws/.claude/skills/a");
    link_to("../../.agents/skills/gone", "ws/.claude/skills/gone");
    link_to("loop", "ws/.claude/skills/loop");
    shelves_init(&s);
    add_root(&s, LIBRARY_GLOBAL, "ws/.claude/skills");
    bound_roots(&s, "ws");
    CHECK(shelves_open(&s, &e));
    CHECK_STR(names_of(&s), "a");
    CHECK_STR(s.notes.p, "");
    CHECK(str_ends(library_at(s.l, 0)->folder, STR("/ws/.claude/skills/a")));

    add_root(&s, LIBRARY_WORKSPACE, "ws/.agents/skills");
    bound_roots(&s, "ws");
    CHECK(shelves_open(&s, &e));
    CHECK_STR(names_of(&s), "a");
    CHECK(library_at(s.l, 0)->source == LIBRARY_WORKSPACE);
    CHECK_STR(s.notes.p, "");
    shelves_done(&s);
}

TEST(SKILL_md_is_a_file_of_its_own) /* [T31] */
{
    struct shelves s;
    char path[200];

    put("odd/good/SKILL.md", SKILL("good", "d"));
    link_to("../good/SKILL.md", "odd/linked/SKILL.md");
    put("odd/folder/SKILL.md/", "");
    put("odd/pipe/", "");
    snprintf(path, sizeof path, "%s/odd/pipe/SKILL.md", shelf_top);
    CHECK(mkfifo(path, 0644) == 0);
    open_both(&s, false, "odd", NULL);
    CHECK_STR(names_of(&s), "good");
    CHECK(notes_have(&s, "skipping invalid skill at "));
    CHECK(notes_have(&s, "/odd/linked/SKILL.md: "));
    CHECK(!notes_have(&s, "/odd/folder/SKILL.md: ")); /* [T2] no such file */
    CHECK(notes_have(&s, "/odd/pipe/SKILL.md: "));
    shelves_done(&s);
}

/* Names cannot begin with a dot, so no skill is lost. Metis lists such folders
 * (T31), which are invalid, since a name must be that of its folder. */
TEST(hidden_folders_are_passed_over) /* [T31] */
{
    struct shelves s;

    put("dots/.history/SKILL.md", SKILL("history", "d"));
    put("dots/.git/SKILL.md", SKILL("git", "d"));
    put("dots/.empty/", "");
    open_both(&s, false, "dots", NULL);
    CHECK(library_count(s.l) == 0);
    CHECK_STR(s.notes.p, "");
    shelves_done(&s);
    open_both(&s, true, "dots", NULL);
    CHECK(library_count(s.l) == 0);
    CHECK(notes_have(&s, "/dots/.history/SKILL.md: "));
    CHECK(notes_have(&s, "/dots/.git/SKILL.md: "));
    CHECK(!notes_have(&s, ".empty"));
    shelves_done(&s);
}

TEST(a_named_root_has_to_be_there) /* [X7] */
{
    static const char *const paths[] = {"x7/missing", "x7/file"};

    put("x7/file", "no folder");
    for (int named = 0; named < 2; named++) {
        for (size_t i = 0; i < ROWS(paths); i++) {
            struct shelves s;
            struct err e = {0};

            shelves_init(&s);
            add_root(&s, LIBRARY_GLOBAL, paths[i]);
            s.roots[0].named = named;
            CHECK(shelves_open(&s, &e) == !named);
            CHECK(!named || e.code == ERR_NOT_FOUND);
            CHECK(named || library_count(s.l) == 0);
            CHECK_STR(s.notes.p, "");
            shelves_done(&s);
        }
    }
}

/* --- leniency [A4] ------------------------------------------------------------------- */

TEST(warn_and_load) /* [A4] */
{
    static const struct {
        const char *folder, *text, *name, *note;
    } rows[] = {
        {"b", SKILL("a", "d"), "a", "not that of its folder"},
        {"c", SKILL("Not OK", "d"), "c", "the folder's, \"c\", is used"},
        {"d", "---\nname: d\ndescription: Use when: x\n---\n", "d",
         ""}, /* [D15] */
        {"e", HEAD("e", "d") "metaskill: ../x\n---\n", "e",
         "no file in the skill's folder"},
        {"f", HEAD("f", "d") "allowed-tools: [a, b]\nunknown: 1\n---\n", "f",
         ""},
        {"g", "---\nname: g\n---\n", NULL, "description is missing"},
        {"h", "---\nname: h\ndescription: \"\n---\n", NULL, "not YAML"},
        {"i", "---\nname: i\ndescription: d\n", NULL, "not closed"},
        {"j", "text\n", NULL, "does not start with"},
        {"k", "\xff\xfe\n", NULL, "not UTF-8"},
        /* [row 7] */
        {"l", SKILL("l", "d\xe2\x80\xae"), NULL, "U+202E"},
        /* only the installation enforces the rules of MetaAgents */
        {"n", HEAD("m", "d") "scope: acme\n---\n", "m", "folder"},
        {"o", HEAD("o", "d") "scope: Acme\nversion: 1\n---\n", "o", ""},
        {"p", HEAD("p", "d") "dependencies:\n  skills: x\n---\n", "p", ""},
        {"q", HEAD("Q", "d") "version: 1.0.0\n---\n", "q", "is used"},
        /* [L18] as in the documentation of LM-Kit */
        {"code-review-assistant",
         HEAD("Code Review Assistant", "d") "tags: [code, review]\ntools:\n  - "
                                            "Read\ncontext:\n  - repository\n"
                                            "---\n",
         "code-review-assistant",
         "line 2: the name \"Code Review Assistant\" "},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct shelves s;
        char path[100];

        drop("a4");
        snprintf(path, sizeof path, "a4/%s/SKILL.md", rows[i].folder);
        put(path, rows[i].text);
        open_both(&s, false, "a4", NULL);
        CHECK_STR(names_of(&s), rows[i].name ? rows[i].name : "");
        CHECK(notes_have(&s, rows[i].note));
        CHECK(*rows[i].note || s.notes.n == 0);
        CHECK(notes_have(&s, "skipping invalid skill at ") == !rows[i].name);
        if (tap_failed)
            printf("# %s: %s\n", rows[i].folder, s.notes.p);
        shelves_done(&s);
    }
}

/* [L18] LM-Kit's class rejects what its documentation shows, and so does Metis,
 * with a message that names the field and a valid value. */
TEST(a_file_as_in_the_glossary_is_met_with_a_clear_error) /* [L18] */
{
    struct shelves s;

    put("l18/Code Review/SKILL.md",
        HEAD("Code Review", "d") "tags: [code]\ncontext: [x]\n---\n");
    open_both(&s, false, "l18", NULL);
    CHECK_STR(names_of(&s), "");
    CHECK(notes_have(&s, "/l18/Code Review/SKILL.md: line 2: the name \"Code "
                         "Review\""));
    CHECK(notes_have(&s, "write it as \"code-review\", for example"));
    shelves_done(&s);
    drop("l18");
}

/* [L10] Invalid skills are skipped and reported; of equal names the first
 * folder stays; a root given as an option must exist [X7]. */
TEST(a_folder_of_skills_loads_what_is_valid_and_tells_the_rest) /* [L10, X7] */
{
    struct shelves s;
    struct err e = {0};

    put("l10/a/SKILL.md", SKILL("a", "of a"));
    put("l10/b/SKILL.md", SKILL("a", "of b"));
    put("l10/c/SKILL.md", "no frontmatter\n");
    put("l10/d/in/to/inner/SKILL.md", SKILL("inner", "too deep"));
    put("l10/SKILL.md", SKILL("l10", "not in a folder"));
    put("l10/e/SKILL.md", SKILL("e", "of e"));
    open_both(&s, false, "l10", NULL);
    CHECK(library_count(s.l) == 2);
    CHECK_STR(names_of(&s), "a e");
    CHECK_STR(description_of(&s, "a"), "of a");
    CHECK(notes_have(&s, "skipping skill 'a' in the folder b of "));
    CHECK(notes_have(&s, "skipping invalid skill at "));
    CHECK(notes_have(&s, "/l10/c/SKILL.md: "));
    shelves_done(&s);
    drop("l10");

    shelves_init(&s);
    add_root(&s, LIBRARY_GLOBAL, "l10");
    CHECK(shelves_open(&s, &e) && library_count(s.l) == 0);
    shelves_done(&s);
    shelves_init(&s);
    add_root(&s, LIBRARY_GLOBAL, "l10");
    s.roots[0].named = true;
    CHECK(!shelves_open(&s, &e) && e.code == ERR_NOT_FOUND);
    shelves_done(&s);
}

TEST(two_folders_of_one_name) /* [A4] */
{
    struct shelves s;

    put("twice/a/SKILL.md", SKILL("x", "first"));
    put("twice/b/SKILL.md", SKILL("x", "second"));
    open_both(&s, false, "twice", NULL);
    CHECK_STR(description_of(&s, "x"), "first");
    CHECK(notes_have(&s, "skipping skill 'x' in the folder b of "));
    shelves_done(&s);
    put("twice/x/SKILL.md", SKILL("x", "its own"));
    open_both(&s, false, "twice", NULL);
    CHECK_STR(description_of(&s, "x"), "its own");
    CHECK(library_count(s.l) == 1);
    shelves_done(&s);
}

TEST(a_line_of_a_note_is_one_line)
{
    struct shelves s;

    put("line/a\nb\x1b[31m/SKILL.md", "no\n");
    put("line/bad\xff/SKILL.md", SKILL("a", "d"));
    open_both(&s, false, "line", NULL);
    CHECK(notes_have(&s, "/a\\x0ab\\x1b[31m/SKILL.md: "));
    CHECK(notes_have(&s, "its name is not UTF-8"));
    shelves_done(&s);
}

/* --- what is known of a skill --------------------------------------------------------- */

#define ALL_FIELDS                                                             \
    HEAD("all", "'  What it\n\n  does. '")                                     \
    "version: 1.2.0\nscope: acme.tools\nlicense: MIT\ncompatibility: Linux\n"  \
    "allowed-tools: Read, Bash(git *)\nmodel: inherit\nagent: Plan\n"          \
    "context: fork\nmode: true\ndisable-model-invocation: true\n---\nx\n"

TEST(metadata) /* [L3, L4, L5, L6, L7] */
{
    struct shelves s;
    const struct library_skill *k;

    put("meta/all/SKILL.md", ALL_FIELDS);
    put("meta/all/SKILL.star", "def run(input):\n    pass\n");
    open_both(&s, false, "meta", NULL);
    k = library_find(s.l, STR("all"));
    CHECK(k != NULL);
    if (k) {
        CHECK_STR(text_of(&s, k->description), "What it\ndoes.");
        CHECK_STR(text_of(&s, k->version), "1.2.0");
        CHECK_STR(text_of(&s, k->scope), "acme.tools");
        CHECK_STR(text_of(&s, k->license), "MIT");
        CHECK_STR(text_of(&s, k->compatibility), "Linux");
        CHECK_STR(text_of(&s, k->allowed_tools), "Read, Bash(git *)");
        CHECK_STR(text_of(&s, k->model), "inherit");
        CHECK_STR(text_of(&s, k->agent), "Plan");
        CHECK_STR(text_of(&s, k->context), "fork");
        CHECK(k->is_mode && k->disabled && k->metaskill);
        CHECK_STR(text_of(&s, k->program), "SKILL.star");
        CHECK(k->warnings == 1); /* commas */
    }
    shelves_done(&s);
}

/* [L9] Text after the frontmatter is not read. */
TEST(no_body_is_read) /* [L9] */
{
    CLEANUP(buf_done) struct buf b = {0};
    struct shelves s;

    buf_init(&b, 1 << 20);
    buf_text(&b, HEAD("a", "d"));
    for (int i = 0; i < 3000; i++)
        buf_text(&b, "x: and so on\n# long\n" + (i ? 13 : 0));
    buf_text(&b, "---\n\xff\xff\n");
    put_text("l9/a/SKILL.md", buf_str(&b));
    open_both(&s, false, "l9", NULL);
    CHECK_STR(names_of(&s), "a");
    shelves_done(&s);
    open_both(&s, true, "l9", NULL); /* Metis reads all of it */
    CHECK_STR(names_of(&s), "");
    shelves_done(&s);
}

/* [K3, K4, K10, K11, X15] Whether a skill has a program that can run. */
TEST(programs) /* [K3, K4, K10, K11, X15] */
{
    static const struct {
        const char *more, *file, *link, *text, *program;
    } rows[] = {
        {"", NULL, NULL, NULL, ""},
        {"", "SKILL.star", NULL, "x = 1\n", "SKILL.star"},
        {"metaskill: lib/./x.star\n", "lib/x.star", NULL, "", "lib/x.star"},
        {"metaskill: gone.star\n", "SKILL.star", NULL, "", ""},
        {"metaskill_language: lua\n", "SKILL.star", NULL, "", ""},
        {"metaskill: /etc/passwd\n", NULL, NULL, NULL, ""},
        {"", "SKILL.star", "real.star", NULL, ""},
        {"", "SKILL.star", "/etc/passwd", NULL, ""},
        {"", "SKILL.star", "SKILL.md", NULL, ""}, /* [K11] frontmatter */
        {"", "SKILL.star", "../../inside.star", NULL, ""},
        {"", "SKILL.star", NULL, "\xff", ""},
    };

    put("inside.star", "x = 1\n");
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct shelves s;
        char path[100], text[300];

        drop("prog");
        snprintf(text, sizeof text, HEAD("a", "d") "%s---\n", rows[i].more);
        put("prog/a/SKILL.md", text);
        if (rows[i].file) {
            snprintf(path, sizeof path, "prog/a/%s", rows[i].file);
            if (rows[i].link)
                link_to(rows[i].link, path);
            else
                put(path, rows[i].text);
        }
        open_both(&s, false, "prog", NULL);
        CHECK_STR(text_of(&s, library_at(s.l, 0)->program), rows[i].program);
        CHECK(library_at(s.l, 0)->metaskill == (*rows[i].program != '\0'));
        if (tap_failed)
            printf("# row %zu: %s\n", i, s.notes.p);
        shelves_done(&s);
    }
    drop("inside.star");
}

TEST(a_linked_program_inside_the_skill_runs) /* [K10] */
{
    struct shelves s;

    put("inner/a/SKILL.md", SKILL("a", "d"));
    put("inner/a/real.star", "x = 1\n");
    link_to("real.star", "inner/a/SKILL.star");
    open_both(&s, false, "inner", NULL);
    CHECK(library_at(s.l, 0)->metaskill);
    shelves_done(&s);
}

/* --- again ------------------------------------------------------------------------------- */

static bool refresh(struct shelves *s)
{
    struct err e = {0};
    bool changed = false;

    buf_clear(&s->notes);
    if (!library_refresh(s->l, &changed, &e))
        abort();
    return changed;
}

TEST(a_snapshot_until_it_looks_again) /* [T27, L17] */
{
    struct shelves s;

    put("live/a/SKILL.md", SKILL("a", "before"));
    put("live/bad/SKILL.md", "no\n");
    open_both(&s, false, "live", NULL);
    CHECK(!refresh(&s));
    CHECK_STR(s.notes.p, ""); /* reported before */
    put("live/b/SKILL.md", SKILL("b", "d"));
    put("live/a/SKILL.md", SKILL("a", "after"));
    CHECK_STR(names_of(&s), "a");
    CHECK_STR(description_of(&s, "a"), "before");
    CHECK(refresh(&s));
    CHECK_STR(names_of(&s), "a b");
    CHECK_STR(description_of(&s, "a"), "after");
    CHECK_STR(s.notes.p, "");
    drop("live/a");
    CHECK(refresh(&s));
    CHECK_STR(names_of(&s), "b");
    put("live/b/SKILL.star", "x = 1\n");
    CHECK(refresh(&s));
    CHECK(library_at(s.l, 0)->metaskill);
    drop("live/b/SKILL.star");
    CHECK(refresh(&s));
    CHECK(!library_at(s.l, 0)->metaskill);
    put("live/b/other.md", "a resource");
    CHECK(!refresh(&s));
    put("live/b/SKILL.md", "broken\n");
    CHECK(refresh(&s));
    CHECK(library_count(s.l) == 0);
    CHECK(notes_have(&s, "/live/b/SKILL.md: "));
    drop("live");
    CHECK(refresh(&s));
    CHECK(!refresh(&s));
    shelves_done(&s);
}

TEST(bodies_can_be_held_for_a_session) /* [T27] */
{
    struct shelves s;
    struct err e = {0};

    put("hold/a/SKILL.md", HEAD("a", "d") "---\nbefore\n");
    open_both(&s, false, "hold", NULL);
    CHECK(library_hold(s.l, &e));
    put("hold/a/SKILL.md", HEAD("a", "d") "---\nafter\n");
    CHECK_STR(body_of(&s, "a"), "before");
    drop("hold/a");
    CHECK_STR(body_of(&s, "a"), "before");
    put("hold/a/SKILL.md", HEAD("a", "d") "---\nafter\n");
    refresh(&s);
    CHECK_STR(body_of(&s, "a"), "after");
    put("hold/a/SKILL.md", HEAD("a", "d") "---\nlater\n");
    CHECK_STR(body_of(&s, "a"), "after");
    shelves_done(&s);
}

/* No edit after the scan is visible. */
TEST(what_changes_before_it_is_held_is_refused) /* [T27] */
{
    struct shelves s;
    struct err e = {0};

    put("soon/a/SKILL.md", HEAD("a", "d") "---\nbefore\n");
    put("soon/b/SKILL.md", HEAD("b", "d") "---\nbefore\n");
    open_both(&s, false, "soon", NULL);
    library_keep(s.l);
    CHECK_STR(body_of(&s, "a"), "before");
    put("soon/a/SKILL.md", HEAD("a", "d") "---\nbetween\n");
    CHECK_STR(body_of(&s, "a"), "plan-stale");
    CHECK(library_hold(s.l, &e));
    CHECK_STR(body_of(&s, "a"), "plan-stale");
    CHECK_STR(body_of(&s, "b"), "before");
    refresh(&s);
    CHECK_STR(body_of(&s, "a"), "between");
    shelves_done(&s);
    drop("soon");
}

TEST(what_is_too_much_to_hold_is_refused_when_it_changed) /* [T27] */
{
    CLEANUP(buf_done) struct buf b = {0};
    struct shelves s;
    struct err e = {0};

    buf_init(&b, 1 << 20);
    for (int i = 0; i < 18; i++) {
        char path[40];

        buf_clear(&b);
        buf_printf(&b, "---\nname: s%c\ndescription: d\n---\n", 'a' + i);
        while (b.n < (1 << 20))
            buf_char(&b, 'x');
        snprintf(path, sizeof path, "heavy/s%c/SKILL.md", 'a' + i);
        put_text(path, buf_str(&b));
    }
    open_both(&s, false, "heavy", NULL);
    CHECK(library_hold(s.l, &e));
    CHECK(strlen(body_of(&s, "sr")) > 1000); /* unchanged, and read now */
    put("heavy/sa/SKILL.md", SKILL("sa", "d"));
    put("heavy/sr/SKILL.md", SKILL("sr", "d"));
    CHECK(strlen(body_of(&s, "sa")) > 1000);
    CHECK_STR(body_of(&s, "sr"), "plan-stale");
    shelves_done(&s);
    drop("heavy");
}

TEST(too_many_roots_are_refused)
{
    struct library_root roots[LIBRARY_MAX_ROOTS + 1] = {0};
    struct library_options o = {.roots = roots};
    struct library *l = NULL;
    struct err e = {0};

    o.root_count = ROWS(roots);
    CHECK(!library_open(&o, &l, &e) && e.code == ERR_LIMIT);
    o.root_count--;
    CHECK(library_open(&o, &l, &e) && library_count(l) == 0);
    library_close(l);
    library_close(NULL);
}
