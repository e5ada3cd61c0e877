#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/str.h"

#include "shelf_case.h"

/*
 * library: which folders are read at all, and that each is still the one that
 * was found. [T31, A4, L14, row 19, row 23].
 */

static void make_outside(void)
{
    put("away/secret/SKILL.md", SKILL("a", "secret"));
    put("away/secret/id_rsa", "PRIVATE\n");
    put("ws/else/a/SKILL.md", SKILL("a", "of the sources"));
    put("ws/else/a/id_rsa", "of the sources\n");
}

static void open_bound(struct shelves *s, const char *root, bool confined)
{
    struct err e = {0};

    shelves_init(s);
    add_root(s, LIBRARY_WORKSPACE, root);
    bound_roots(s, "ws");
    s->roots[0].confined = confined;
    CHECK(shelves_open(s, &e));
}

static size_t count_of(const struct shelves *s, const char *text)
{
    struct str rest = buf_str(&s->notes);
    size_t n = 0, at;

    while ((at = str_find(rest, str_cstr(text))) != SIZE_MAX) {
        rest = str_from_index(rest, at + 1);
        n++;
    }
    return n;
}

/* --- where a link may lead ----------------------------------------------------------- */

TEST(a_link_stays_where_those_of_its_root_may_lead) /* [T31, A4] */
{
    static const struct {
        const char *target;
        bool found;
    } rows[] = {
        {"../real", true},
        {"../../else/a", true},
        {"../step", true},
        {"../../../away/secret", false},
        {"../step-out", false},
        {"../../../ws-2/a", false}, /* begins as the workspace does */
        {"../../../ws/else/../../away/secret", false},
    };

    make_outside();
    put("ws-2/a/SKILL.md", SKILL("a", "d"));
    put("ws/links/real/SKILL.md", SKILL("a", "d"));
    link_to("../else/a", "ws/links/step");
    link_to("../../away/secret", "ws/links/step-out");
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct shelves s;

        for (int absolute = 0; absolute < 2; absolute++) {
            char path[4096];

            snprintf(path, sizeof path, "%s%s%s", absolute ? shelf_top : "",
                     absolute ? "/ws/links/root/" : "", rows[i].target);
            link_to(path, "ws/links/root/a");
            open_bound(&s, "ws/links/root", true);
            CHECK_STR(names_of(&s), rows[i].found ? "a" : "");
            CHECK(count_of(&s, "WARNING") == !rows[i].found);
            CHECK(count_of(&s, "out of ") == !rows[i].found);
            shelves_done(&s);
            drop("ws/links/root");
        }
    }
}

/* What lies outside is read in no other way: no bound, so inside the root. */
TEST(without_a_bound_a_link_stays_in_its_root) /* [T31] */
{
    struct shelves s;

    make_outside();
    put("narrow/deep/a/SKILL.md", SKILL("a", "d"));
    link_to("deep/a", "narrow/a");
    link_to("../away/secret", "narrow/b");
    open_both(&s, false, "narrow", NULL);
    CHECK_STR(names_of(&s), "a");
    CHECK(notes_have(&s, "/narrow/b/SKILL.md: its folder is a link that leads "
                         "out of "));
    shelves_done(&s);
}

TEST(a_root_of_the_workspace_is_not_elsewhere) /* [T31] */
{
    static const struct {
        const char *target;
        bool confined, found;
    } rows[] = {
        {"else", true, true},
        {"../away", true, false},
        {"../away", false, true}, /* the user's own home has it so */
    };

    make_outside();
    put("away/b/SKILL.md", SKILL("b", "d"));
    put("ws/else/b/SKILL.md", SKILL("b", "d"));
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct shelves s;
        struct err e = {0};

        link_to(rows[i].target, "ws/moved");
        open_bound(&s, "ws/moved", rows[i].confined);
        CHECK((library_find(s.l, STR("b")) != NULL) == rows[i].found);
        CHECK(count_of(&s, "skipping the skills in ") == !rows[i].found);
        CHECK(library_covers(s.l, s.roots[0].path) == rows[i].found);
        s.roots[0].named = true;
        CHECK(shelves_open(&s, &e) == rows[i].found);
        if (!rows[i].found)
            CHECK(e.code == ERR_REFUSED && e.hint[0]);
        shelves_done(&s);
        drop("ws/moved");
    }
}

/* --- another folder than the one that was found ----------------------------------------- */

static bool opens(struct shelves *s, struct err *e)
{
    struct str real;
    int fd = -1;
    bool ok = library_open_folder(s->l, library_find(s->l, STR("a")), &s->a,
                                  &fd, &real, e);

    fs_close(&fd);
    return ok;
}

static bool lists(struct shelves *s, struct err *e)
{
    struct library_file *files;
    size_t count;

    return library_files(s->l, STR("a"), &s->a, &files, &count, e);
}

static bool reads(struct shelves *s, struct err *e)
{
    struct str text;
    bool cut;

    return library_read_file(s->l, STR("a"), STR("id_rsa"), 100, &s->a, &text,
                             &cut, e);
}

static bool loads(struct shelves *s, struct err *e)
{
    struct library_loaded loaded;

    return library_load(s->l, STR("a"), LIBRARY_AS_TOOL, true, NULL, &s->a,
                        &loaded, e);
}

static void make_skill(void)
{
    drop("ws/skills");
    drop("ws/aside");
    put("ws/skills/a/SKILL.md", SKILL("a", "d"));
    put("ws/skills/a/id_rsa", "its own\n");
}

static void rename_to(const char *from, const char *to)
{
    if (renameat(shelf_fd, from, shelf_fd, to) < 0)
        abort();
}

/* By a command of a metaskill, by `git pull`, by anybody who may write there. */
static void swap(const char *how)
{
    if (strcmp(how, "the folder for a link out") == 0) {
        drop("ws/skills/a");
        link_to("../../away/secret", "ws/skills/a");
    } else if (strcmp(how, "the folder for a link inside") == 0) {
        drop("ws/skills/a");
        link_to("../else/a", "ws/skills/a");
    } else if (strcmp(how, "the folder for another") == 0) {
        rename_to("ws/skills/a", "ws/aside");
        put("ws/skills/a/SKILL.md", SKILL("a", "another"));
        put("ws/skills/a/id_rsa", "another\n");
    } else if (strcmp(how, "the folder for a link to itself outside") == 0) {
        drop("away/moved");
        rename_to("ws/skills/a", "away/moved");
        link_to("../../away/moved", "ws/skills/a");
    } else if (strcmp(how, "the root for a link out") == 0) {
        rename_to("ws/skills", "ws/aside");
        put("away/a/SKILL.md", SKILL("a", "secret"));
        put("away/a/id_rsa", "PRIVATE\n");
        link_to("../away", "ws/skills");
    } else if (strcmp(how, "the text of a file") == 0) {
        put("ws/skills/a/SKILL.md", SKILL("a", "now"));
        put("ws/skills/a/id_rsa", "now\n");
    } else if (strcmp(how, "the folder for a link to it") == 0) {
        rename_to("ws/skills/a", "ws/aside");
        link_to("../aside", "ws/skills/a");
    } else {
        abort();
    }
}

TEST(each_door_opens_the_folder_that_was_found) /* [T31, L14, row 23] */
{
    static const struct {
        const char *how;
        enum err_code code; /* ERR_NONE: it is still the same */
    } rows[] = {
        {"the folder for a link out", ERR_REFUSED},
        {"the folder for a link inside", ERR_STALE},
        {"the folder for another", ERR_STALE},
        {"the folder for a link to itself outside", ERR_REFUSED},
        {"the root for a link out", ERR_REFUSED},
        {"the text of a file", ERR_NONE},
        {"the folder for a link to it", ERR_NONE},
    };
    static bool (*const doors[])(struct shelves *,
                                 struct err *) = {opens, lists, reads, loads};

    make_outside();
    for (size_t i = 0; i < ROWS(rows); i++) {
        for (size_t d = 0; d < ROWS(doors); d++) {
            struct shelves s;
            struct err e = {0};

            make_skill();
            open_bound(&s, "ws/skills", true);
            CHECK(doors[d](&s, &e));
            swap(rows[i].how);
            if (doors[d](&s, &e) != (rows[i].code == ERR_NONE) ||
                e.code != rows[i].code) {
                printf("# %s, door %zu: %s\n", rows[i].how, d, err_first(&e));
                CHECK(false);
            }
            CHECK(e.code == ERR_NONE || e.hint[0]);
            shelves_done(&s);
        }
    }
}

/* [T27] what a session holds is of that folder, too. */
TEST(what_is_held_is_not_of_another_folder) /* [T27] */
{
    struct shelves s;
    struct library_loaded loaded;
    struct err e = {0};

    make_outside();
    make_skill();
    open_bound(&s, "ws/skills", true);
    swap("the folder for a link out");
    CHECK(library_hold(s.l, &e));
    CHECK(!library_load(s.l, STR("a"), LIBRARY_AS_TOOL, true, NULL, &s.a,
                        &loaded, &e));
    CHECK(e.code == ERR_REFUSED);
    shelves_done(&s);
}

/* A link is followed once more each time, and judged each time. */
TEST(a_link_that_is_turned_around) /* [T31] */
{
    struct shelves s;
    struct err e = {0};

    make_outside();
    make_skill();
    link_to("../skills/a", "ws/linked/a");
    open_bound(&s, "ws/linked", true);
    CHECK(reads(&s, &e));
    drop("ws/linked/a");
    link_to("../../away/secret", "ws/linked/a");
    CHECK(!reads(&s, &e) && e.code == ERR_REFUSED);
    err_clear(&e);
    drop("ws/linked/a");
    link_to("../else/a", "ws/linked/a");
    CHECK(!reads(&s, &e) && e.code == ERR_STALE);
    err_clear(&e);
    drop("ws/linked/a");
    link_to("../skills/a", "ws/linked/a");
    CHECK(reads(&s, &e));
    drop("ws/skills/a"); /* what it leads to, for a link */
    link_to("../../away/secret", "ws/skills/a");
    CHECK(!reads(&s, &e) && e.code == ERR_REFUSED);
    shelves_done(&s);
}

/* --- where a watcher may look ---------------------------------------------------------- */

TEST(a_watcher_looks_where_the_library_does) /* [L17] */
{
    struct shelves s;
    char path[4096];
    static const struct {
        const char *path;
        bool looks;
    } rows[] = {
        {"", true},      {"/a", true},        {"/in", true},
        {"/top", false}, {"/out", false},     {"/nowhere", false},
        {"/a/b", false}, {"/../else", false},
    };

    make_outside();
    make_skill();
    link_to("../else/a", "ws/skills/in");
    link_to("/", "ws/skills/top");
    link_to("../../away", "ws/skills/out");
    open_bound(&s, "ws/skills", true);
    for (size_t i = 0; i < ROWS(rows); i++) {
        snprintf(path, sizeof path, "%s/ws/skills%s", shelf_top, rows[i].path);
        if (library_covers(s.l, str_cstr(path)) != rows[i].looks) {
            printf("# %s\n", path);
            CHECK(false);
        }
    }
    shelves_done(&s);
}
