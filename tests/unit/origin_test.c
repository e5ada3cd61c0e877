#include "base/text.h"
#include "mapm/catalog.h"
#include "mapm/limits.h"
#include "mapm/origin.h"

#include "../../manifest/origin.h"
#include "case_file.h"

#define GH          "https://github.com/"
#define SHA         "0123456789abcdef0123456789abcdef01234567"
#define ROWS(table) (sizeof(table) / sizeof *(table))

static const struct host_config hosts[] = {
    {.host = STR_INIT("git.example.com"), .kind = &git_hosts[0]}};
static const struct origin_rules rules = {.hosts = hosts, .host_count = 1};

TEST(origins_of_documents_that_are_accepted) /* [M13, M14, X13] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    const struct case_row *rows = case_rows("tests/cases/origin/accepted.txt",
                                            '\\', " | ", 2, &a, &count);

    CHECK(count > 10);
    for (size_t i = 0; i < count; i++) {
        struct err e = {0};
        struct origin o = {0}, again = {0};
        bool ok = origin_parse(rows[i].cells[0], &rules, &a, &o, &e);

        if (!ok)
            printf("# accepted.txt:%u: %s\n", rows[i].line, err_first(&e));
        CHECK(ok);
        CHECK_STR(str_dup0(o.text, &a), rows[i].cells[1].p);
        CHECK(origin_parse(o.text, &rules, &a, &again, &e));
        CHECK(str_eq(o.key, again.key) && str_eq(o.text, again.text));
    }
}

TEST(origins_of_the_workspace) /* [D8, row 10] */
{
    CLEANUP(arena_done) struct arena a = {0};
    static const struct {
        const char *input, *text; /* NULL: refused */
    } rows[] = {
        {"./skills/x", "./skills/x"},
        {"./skills/x/", "./skills/x"},
        {"./x.json", "./x.json"},
        {"./.claude/skills/x", "./.claude/skills/x"},
        {"./agents/x", "./agents/x"},
        {"./", "./"}, /* a catalog that is the whole repository */
        {"././x", NULL},
        {"./../x", NULL},
        {"./a/../b", NULL},
        {"./a//b", NULL},
        {".//a", NULL},
        {"./.git/x", NULL},
        {"./a/.GIT", NULL},
        {"./git~1/x", NULL},
        {"./.agents/skills/x", NULL},
        {"./.Agents/.mapm/x", NULL},
        {"./.agents", NULL},
        {"./a b", NULL},
        {"./a\nb", NULL},
        {"./a\\b", NULL},
        {"./a\xe2\x80\x8b", NULL},
        {"./a\xff", NULL},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct err e = {0};
        struct origin o = {0}, again;
        bool ok = origin_parse_own(str_cstr(rows[i].input), &a, &o, &e);

        if (ok != (rows[i].text != NULL))
            printf("# %s: %s\n", rows[i].input, err_first(&e));
        CHECK(ok == (rows[i].text != NULL));
        if (!ok) {
            CHECK(e.code == ERR_ORIGIN && e.hint[0]);
            continue;
        }
        CHECK(o.scheme == ORIGIN_OWN);
        CHECK_STR(str_dup0(o.text, &a), rows[i].text);
        CHECK(!origin_parse(o.text, &rules, &a, &again, &e));
    }
}

TEST(origins_of_documents_that_are_refused_with_a_reason) /* [M13, row 10] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    struct case_row *rows =
        case_rows("tests/cases/origin/refused.txt", '\\', " | ", 2, &a, &count);

    CHECK(count > 60);
    for (size_t i = 0; i <= count; i++) {
        struct err e = {0};
        struct origin o = {0};
        bool last = i == count;
        struct str input = last ? STR("") : rows[i].cells[1];
        const char *fault = last ? "is empty" : rows[i].cells[0].p;
        bool ok = origin_parse(input, &rules, &a, &o, &e);

        if (ok || !strstr(err_first(&e), fault))
            printf("# refused.txt:%u: %s\n", last ? 0 : rows[i].line,
                   err_first(&e));
        CHECK(!ok && strstr(err_first(&e), fault) != NULL);
        CHECK(e.code == ERR_ORIGIN && e.hint[0]);
    }
}

/* [M14] owner and repository fold, ref and path do not. */
static const struct {
    const char *x, *y;
    bool equal;
} keys[] = {
    {GH "MyOrg/Repo/tree/m/x", GH "myorg/repo.git/tree/m/x/", true},
    {GH "o/r/tree/M/x", GH "o/r/tree/m/x", false},
    {GH "o/r/tree/m/X", GH "o/r/tree/m/x", false},
    {GH "o/r/tree/a%2fb/x", GH "o/r/tree/a%2Fb/x", true},
    {"file:///x/y", "file:/x/y/", true},
    {"file:/X", "file:/x", false},
};

TEST(keys_decide_equality) /* [M14] */
{
    for (size_t i = 0; i < ROWS(keys); i++) {
        struct arena a = {0};
        struct err e;
        struct origin x, y;

        CHECK(origin_parse(str_cstr(keys[i].x), NULL, &a, &x, &e));
        CHECK(origin_parse(str_cstr(keys[i].y), NULL, &a, &y, &e));
        CHECK(str_eq(x.key, y.key) == keys[i].equal);
        arena_done(&a);
    }
}

TEST(parts_of_an_origin) /* [M13] */
{
    struct arena a = {0};
    struct err e;
    struct origin o;

    CHECK(origin_parse(STR(GH "Acme/Tools.git/tree/v1/skills/x"), NULL, &a, &o,
                       &e));
    CHECK(o.scheme == ORIGIN_GIT && !o.is_short);
    CHECK(str_is(o.host, "github.com") && o.port == 0);
    CHECK(str_is(o.repository, "Acme/Tools") && str_is(o.rest, "v1/skills/x"));
    CHECK(str_is(origin_name(&o), "Tools") && origin_folds(&o));
    CHECK(str_is(origin_clone_url(&o, &a), GH "Acme/Tools.git"));
    CHECK(str_is(origin_repository(&o, &a), "github.com/acme/tools"));
    CHECK(!origin_parse(STR("https://git.example.com/o/r/tree/m"), NULL, &a, &o,
                        &e));
    arena_done(&a);
}

/* A URL of `git remote -v` is parsed as the repository that it names. */
TEST(remotes_name_repositories)
{
    static const struct {
        const char *url, *repository;
    } remotes[] = {
        {GH "Acme/Tools.git", "github.com/acme/tools"},
        {"https://x:secret@github.com/acme/tools", "github.com/acme/tools"},
        {"git@github.com:acme/tools.git", "github.com/acme/tools"},
        {"ssh://git@git.example.org/acme/tools", "git.example.org/acme/tools"},
        {GH "acme/tools/tree/main/x", ""},
        {"acme/tools", ""}, /* a folder beside it */
        {"github.com/acme/tools", ""},
        {"/srv/git/tools.git", ""},
        {"", ""},
    };
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(remotes); i++) {
        struct str found = origin_of_remote(str_cstr(remotes[i].url), &a);

        CHECK(found.n == strlen(remotes[i].repository));
        CHECK_STR(str_dup0(found, &a), remotes[i].repository);
    }
    arena_done(&a);
}

/* A skill of an index, or the index: one form for each [X42]. */
TEST(origins_of_an_index)
{
#define INDEX "https://h.example/.well-known/agent-skills/index.json"
    static const struct {
        const char *text, *key; /* NULL: refused with `path` */
        const char *path;
    } rows[] = {
        {INDEX, INDEX, ""},
        {INDEX "?skill=pdf", INDEX "?skill=pdf", "pdf"},
        {"https://h.example:443/.well-known/agent-skills/index.json?skill=pdf",
         INDEX "?skill=pdf", "pdf"},
        {"https://h.example:8443/a/index.json",
         "https://h.example:8443/a/index.json", ""},
        {"http://127.0.0.1:8080/index.json?skill=x",
         "http://127.0.0.1:8080/index.json?skill=x", "x"},
        {INDEX "?skill=", NULL, "names no skill of an index"},
        {INDEX "?skill=Pdf", NULL, "names no skill of an index"},
        {INDEX "?x=1?skill=pdf", NULL,
         "its address does not end in /index.json"},
        {"https://h.example/index.jso", NULL,
         "its address does not end in /index.json"},
        {INDEX "#x", NULL, "has a fragment (\"#\")"},
        {"https://me@h.example/index.json", NULL,
         "has a user name or password: an index is public"},
        {"https://h.example/%61/index.json", NULL,
         "its address has characters that are not allowed"},
        {"https://h.example/a\"b/index.json", NULL,
         "its address has characters that are not allowed"},
        {"https://h.example/a'b/index.json", NULL,
         "its address has characters that are not allowed"},
        {"http://127.0.0.1:443/index.json", "http://127.0.0.1:443/index.json",
         ""},
        {"https://h.example:0/index.json", NULL, "is not an index URL"},
        {"https://H.example/index.json", NULL, "is not an index URL"},
        {"http://h.example/index.json", NULL, "is not an index URL"},
        {"https://h.example/a\\b/index.json", NULL, "is not an index URL"},
        {"https://h.example/a/../index.json", NULL,
         "its path has a \".\" or \"..\" in it"},
        {"https://h.example/a//index.json", NULL, "its path has an empty part"},
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct origin o = {0};
        struct err e = {0};
        bool ok = origin_parse_index(str_cstr(rows[i].text), &a, &o, &e);

        if (!ok && str_find(str_cstr(err_first(&e)), str_cstr(rows[i].path)) ==
                       SIZE_MAX)
            CHECK_STR(err_first(&e), rows[i].path);
        CHECK(ok == (rows[i].key != NULL));
        if (!ok || !rows[i].key)
            continue;
        CHECK_STR(str_dup0(o.key, &a), rows[i].key);
        CHECK_STR(str_dup0(o.text, &a), rows[i].key);
        CHECK_STR(str_dup0(o.path, &a), rows[i].path);
        CHECK(str_is(origin_index_url(&o), rows[i].key) == !rows[i].path[0]);
        CHECK(origin_is_of_index(o.text) == !!rows[i].path[0]);
        CHECK(o.scheme == ORIGIN_INDEX);
    }
}

/* As typed by the user, and as read from the stored form. */
static const struct host_config corp[] = {
    {.host = STR_INIT("acme.ghe.com"), .kind = &git_hosts[0]},
    {.host = STR_INIT("gitlab.corp.example"), .kind = &git_hosts[1]},
    {.host = STR_INIT("bb.corp.example"), .kind = &git_hosts[3]},
    {.host = STR_INIT("git.gitea.example"), .kind = &git_hosts[4]},
    {.host = STR_INIT("tfs.corp.example"),
     .kind = &git_hosts[5],
     .ports = {8080},
     .port_count = 1},
    {.host = STR_INIT("go.googlesource.com"), .kind = &git_hosts[9]},
    {.host = STR_INIT("git.example.org"), .kind = &git_hosts[10]},
    {.host = STR_INIT("git.corp.example"),
     .kind = &git_hosts[10],
     .ports = {7999},
     .port_count = 1},
};
static const struct origin_rules corp_rules = {.hosts = corp,
                                               .host_count = ROWS(corp)};

static struct str with_commit(struct str text, struct arena *a)
{
    size_t at = 0;

    for (; at < text.n; at++)
        if (text.p[at] == 'S' && (at + 1 == text.n || text.p[at + 1] == '/'))
            return arena_printf(a, "%.*s" SHA "%.*s", (int)at, text.p,
                                STR_ARG(str_from_index(text, at + 1)));
    return text;
}

static struct str place_of(const struct origin *o, struct arena *a)
{
    return o->rest.n ? o->rest
                     : arena_printf(a, "%.*s//%.*s",
                                    STR_ARG(o->ref.n ? o->ref : STR("D")),
                                    STR_ARG(o->path));
}

static void check_stored(const struct origin *o, struct arena *a)
{
    struct origin full = *o, again = {0};
    struct err e = {0};
    bool ok;

    if (o->is_short)
        origin_complete(o, o->ref.n ? o->ref : STR("main"), o->path, a, &full);
    ok = origin_parse(full.text, &corp_rules, a, &again, &e);
    if (!ok)
        printf("# %s: %s\n", str_dup0(full.text, a), err_first(&e));
    CHECK(ok && str_eq(again.text, full.text) && str_eq(again.key, full.key));
    CHECK(str_eq(origin_clone_url(&again, a), origin_clone_url(o, a)));
    ok = origin_parse_argument(o->text, STR("/"), STR(""), &corp_rules, a,
                               &again, &e);
    if (!ok)
        printf("# %s: %s\n", str_dup0(o->text, a), err_first(&e));
    CHECK(ok && str_eq(again.key, o->key));
}

TEST(what_people_paste) /* [H1] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    struct case_row *rows =
        case_rows("tests/cases/origin/pasted.txt", '\\', " | ", 3, &a, &count);

    CHECK(count > 60);
    for (size_t i = 0; i < count; i++) {
        struct str input = with_commit(rows[i].cells[0], &a);
        struct err e = {0};
        struct origin o = {0};
        bool ok = origin_parse_argument(input, STR("/"), STR(""), &corp_rules,
                                        &a, &o, &e);

        if (!ok)
            printf("# pasted.txt:%u: %s\n", rows[i].line, err_first(&e));
        CHECK(ok);
        if (!ok)
            continue;
        CHECK_STR(origin_clone_url(&o, &a).p, rows[i].cells[1].p);
        CHECK_STR(str_dup0(place_of(&o, &a), &a),
                  str_dup0(with_commit(rows[i].cells[2], &a), &a));
        check_stored(&o, &a);
    }
}

TEST(what_cannot_be_pasted) /* [H1, row 49, row 50] */
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count;
    struct case_row *rows = case_rows("tests/cases/origin/pasted_refused.txt",
                                      '\\', " | ", 2, &a, &count);

    CHECK(count > 40);
    for (size_t i = 0; i < count; i++) {
        struct str input = with_commit(rows[i].cells[1], &a);
        struct err e = {0};
        struct origin o = {0};
        bool ok = origin_parse_argument(input, STR("/"), STR(""), &corp_rules,
                                        &a, &o, &e);

        if (ok || !strstr(err_first(&e), rows[i].cells[0].p))
            printf("# pasted_refused.txt:%u: %s\n", rows[i].line,
                   ok ? str_dup0(o.text, &a) : err_first(&e));
        CHECK(!ok && strstr(err_first(&e), rows[i].cells[0].p) != NULL);
        CHECK(e.code == ERR_ORIGIN && e.hint[0]);
        if (str_starts(input, STR("codecommit::")))
            CHECK(strstr(e.hint, "write https://git-codecommit.eu-west-1."
                                 "amazonaws.com/v1/repos/n"));
    }
}

/* Section 6 of the commands: origins that a user may type. */
static const struct {
    const char *input, *text, *ref, *path;
} arguments[] = {
    {"o/r", "o/r", "", ""},
    {"o/r/", "o/r", "", ""},
    {"o/r.git", "o/r", "", ""},
    {"o/r/skills/x", "o/r/skills/x", "", "skills/x"},
    {"o/r/skills/x@v1", "o/r/skills/x@v1", "v1", "skills/x"},
    {"o/r@feature/x", "o/r@feature/x", "feature/x", ""},
    {"o/r/packages/@acme/x@acme@1.0.0", "o/r/packages/@acme/x@acme@1.0.0",
     "acme@1.0.0", "packages/@acme/x"},
    {GH "o/r", "o/r", "", ""},
    {GH "o/r.git/", "o/r", "", ""},
    {"https://git.example.com/O/r", "https://git.example.com/O/r", "", ""},
    {GH "o/r/tree/m/x", GH "o/r/tree/m/x", NULL, NULL},
    {"/srv/x/../y", "file:/srv/y", NULL, NULL},
    {"./a", "file:/home/u/w/a", NULL, NULL},
    {".", "file:/home/u/w", NULL, NULL},
    {"../a/./b//", "file:/home/u/a/b", NULL, NULL},
    {"../../../../a", "file:/a", NULL, NULL},
    {"~/a", "file:/home/u/a", NULL, NULL},
    {"file:/x", "file:/x", NULL, NULL},
    {"o", NULL, NULL, NULL},
    {"o/", NULL, NULL, NULL},
    {"o/r@", NULL, NULL, NULL},
    {"o/r@-x", NULL, NULL, NULL},
    {"o/r@a..b", NULL, NULL, NULL},
    {"o/r@a#b", NULL, NULL, NULL},
    {"o/r/x/", "o/r/x", "", "x"},
    {"o/r/x@^1.2", "o/r/x@^1.2", "^1.2", "x"},
    {"o/r@~0.3", "o/r@~0.3", "~0.3", ""},
    {"o/r/x@>=1.2,<2", "o/r/x@>=1.2,<2", ">=1.2,<2", "x"},
    {"o/r/x@*", "o/r/x@*", "*", "x"},
    {"o/r/x@=1.2.3", "o/r/x@=1.2.3", "=1.2.3", "x"},
    {"o/r/x@1.x", "o/r/x@1.x", "1.x", "x"},
    {"o/r#main", "o/r@main", "main", ""},
    {"o/r/x#semver:^1.2", "o/r/x@^1.2", "^1.2", "x"},
    {"o/r#", NULL, NULL, NULL},
    {"o/r#a#b", NULL, NULL, NULL},
    {"o/r/x@^1.x", NULL, NULL, NULL},
    {"o/r/x@==1.2.3", NULL, NULL, NULL},
    {"o/r/x@=1.2", NULL, NULL, NULL},
    {"o/r/x@>=1,=1.2.3", NULL, NULL, NULL},
    {"o/r/x@1.2 - 2", NULL, NULL, NULL},
    {"o/r/x//@v1", NULL, NULL, NULL},
    {"o/r@a%b", NULL, NULL, NULL},
    {"o/r/../x", NULL, NULL, NULL},
    {"o/r//x", NULL, NULL, NULL},
    {"-o/r", NULL, NULL, NULL},
    {"git@github.com:o/r", "o/r", "", ""},
    {"ssh://github.com/o/r", "o/r", "", ""},
    {"http://github.com/o/r", NULL, NULL, NULL},
    {"https://gitlab.com/o/r", "https://gitlab.com/o/r", "", ""},
    {GH "-o/r", NULL, NULL, NULL},
    {GH "o", NULL, NULL, NULL},
    {"../../..", NULL, NULL, NULL},
    {"", NULL, NULL, NULL},
};

TEST(what_a_person_may_type) /* [row 10] */
{
    for (size_t i = 0; i < ROWS(arguments); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct origin o = {0}, again = {0};
        bool ok = origin_parse_argument(str_cstr(arguments[i].input),
                                        STR("/home/u/w"), STR("/home/u"),
                                        &rules, &a, &o, &e);

        if (ok != (arguments[i].text != NULL))
            printf("# %s: %s\n", arguments[i].input, err_first(&e));
        CHECK(ok == (arguments[i].text != NULL));
        if (ok) {
            CHECK_STR(str_dup0(o.text, &a), arguments[i].text);
            CHECK(o.is_short == (arguments[i].ref != NULL));
            CHECK(origin_parse_argument(o.text, STR("/"), STR(""), &rules, &a,
                                        &again, &e) &&
                  str_eq(o.key, again.key));
        }
        if (ok && o.is_short) {
            CHECK_STR(str_dup0(o.ref, &a), arguments[i].ref);
            CHECK_STR(str_dup0(o.path, &a), arguments[i].path);
        }
        arena_done(&a);
    }
}

/* [row 10] Characters that are invalid in a URL are invalid in a path from
 * another source. */
TEST(paths_have_characters_that_are_not_allowed)
{
    static const char *const bad[] = {"a\x01", "a\x7f/b", "a\xff", "a/\xc3",
                                      "a:",    "a%",      "a//b",  "a/../b"};

    CHECK(!origin_path_fault(STR("skills/\xc3\xa9 b")));
    for (size_t i = 0; i < ROWS(bad); i++)
        CHECK(origin_path_fault(str_cstr(bad[i])) != NULL);
}

TEST(home_may_be_unknown)
{
    struct arena a = {0};
    struct err e = {0};
    struct origin o;

    CHECK(!origin_parse_argument(STR("~/x"), STR("/w"), STR(""), NULL, &a, &o,
                                 &e));
    CHECK(strstr(err_first(&e), "home") != NULL);
    CHECK(!origin_parse_argument(STR("~/x"), STR("/w"), STR("h"), NULL, &a, &o,
                                 &e));
    err_clear(&e);
    CHECK(!origin_parse_argument(STR("../.."), STR("/a"), STR(""), NULL, &a, &o,
                                 &e));
    CHECK(strstr(err_first(&e), "root folder") != NULL);
    arena_done(&a);
}

/* Where the ref may hold a "/", the path is what follows its first part. */
TEST(the_path_behind_a_ref)
{
    static const struct {
        const char *url, *path;
    } rows[] = {
        {GH "o/r/tree/m/skills/x", "skills/x"},
        {GH "o/r/tree/refs/heads/m/skills/x", "skills/x"},
        {GH "o/r/tree/refs/tags/v1/x", "x"},
        {GH "o/r/tree/refs/tags/v1", ""},
        {GH "o/r/tree/refs/x/y", "x/y"},
        {GH "o/r/tree/m", ""},
        {"o/r/x@m", "x"},
    };
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct err e = {0};
        struct origin o = {0};

        CHECK(origin_parse_argument(str_cstr(rows[i].url), STR("/"), STR(""),
                                    &rules, &a, &o, &e));
        CHECK_STR(str_dup0(origin_slot_path(&o), &a), rows[i].path);
    }
    arena_done(&a);
}

/* [D11] Whether a package is in a catalog, and its path there. */
TEST(what_lies_in_a_catalog)
{
    static const struct {
        const char *catalog, *package;
        enum doc_kind kind;
        const char *path, *name; /* NULL: not in it */
    } rows[] = {
        {GH "o/r/tree/m", GH "o/r/tree/m/skills/x", DOC_SKILL, "skills/x", "x"},
        {GH "o/r/tree/m", GH "o/r/tree/m", DOC_SKILL, "", "r"},
        {GH "o/r/tree/m/s", GH "o/r/tree/m/s", DOC_SKILL, "", "s"},
        {GH "o/r/tree/m/s", GH "o/r/tree/m/sx", DOC_SKILL, NULL, NULL},
        {GH "o/r/tree/m/s", GH "o/r/tree/m", DOC_SKILL, NULL, NULL},
        {GH "o/r/tree/m", GH "o/q/tree/m/x", DOC_SKILL, NULL, NULL},
        {GH "o/r/tree/m", "o/r/x@m", DOC_SKILL, NULL, NULL},
        {GH "o/r/tree/m", "file:/o/r", DOC_SKILL, NULL, NULL},
        {"file:/c", "file:/c/x/y.json", DOC_MCP, "x/y.json", "y"},
        {"file:/c", "file:/c/x/y.json", DOC_SKILL, "x/y.json", "y.json"},
        {"file:/c", "file:/c", DOC_SKILL, "", "c"},
        {"file:/c", "file:/cd", DOC_SKILL, NULL, NULL},
    };
    struct arena a = {0};

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct catalog c = {0};
        struct str path, name;
        struct err e = {0};
        struct origin o;
        bool holds;

        CHECK(origin_parse_argument(str_cstr(rows[i].catalog), STR("/"),
                                    STR(""), &rules, &a, &c.origin, &e) &&
              origin_parse_argument(str_cstr(rows[i].package), STR("/"),
                                    STR(""), &rules, &a, &o, &e));
        holds = catalog_holds(&c, rows[i].kind, &o, &path, &name);
        CHECK(holds == (rows[i].path != NULL));
        if (!holds || !rows[i].path)
            continue;
        CHECK_STR(str_dup0(path, &a), rows[i].path);
        CHECK_STR(str_dup0(name, &a), rows[i].name);
    }
    arena_done(&a);
}

/* [row 10] Each part is accepted up to its maximum length, and rejected above
 * it. "@": of "a"s; "#": of "/a"s. */
TEST(each_part_has_a_length)
{
    static const struct {
        const char *form;
        size_t most;
    } rows[] = {
        {GH "@/r/tree/m/x", 100},
        {GH "o/@/tree/m/x", 100},
        {GH "o/r/tree/@/x", 1024},
        {GH "o/r/tree/m/@", 255},
        {GH "o/r/tree/m/x#", 251},
        {"https://gitlab.com/o/r#/-/tree/m/x", 18},
        {"ssh://@@git.example.com/o/r//x@v1", 64},
        {"o/@", 100},
        {"@/r", 100},
        {"o/r@@", 255},
        {"o/r/@", 255},
        {"o/r/xx#", 255},
    };
    struct arena a = {0};
    struct buf text;

    buf_init(&text, 10000);
    for (size_t i = 0; i < ROWS(rows); i++) {
        size_t most = 0;

        for (size_t n = 0; n < 1100; n++) {
            const char *at = strpbrk(rows[i].form, "@#");
            bool is_short = rows[i].form[1] == '/' || *rows[i].form == '@';
            struct err e = {0};
            struct origin o;

            if (strstr(at, "@@") && is_short)
                at++;
            buf_clear(&text);
            buf_append(&text,
                       str_make(rows[i].form, (size_t)(at - rows[i].form)));
            for (size_t k = 0; k < n; k++)
                buf_text(&text, *at == '@' ? "a" : "/a");
            buf_text(&text, at + 1);
            if (!origin_parse_argument(buf_str(&text), STR("/"), STR(""),
                                       &rules, &a, &o, &e))
                continue;
            CHECK(n < 2 || most == n - 1); /* all shorter ones, too */
            most = n;
        }
        if (most != rows[i].most)
            printf("# %s: %zu\n", rows[i].form, most);
        CHECK(most == rows[i].most);
    }
    buf_done(&text);
    arena_done(&a);
}

TEST(completed_origins_are_full_urls) /* [X13] */
{
    struct arena a = {0};
    struct err e = {0};
    struct origin o, full, again;

    CHECK(origin_parse_argument(STR("Acme/tools/skills/x"), STR("/"), STR(""),
                                NULL, &a, &o, &e));
    origin_complete(&o, STR("feature/x"), STR("skills/x"), &a, &full);
    CHECK_STR(str_dup0(full.text, &a), GH "Acme/tools/tree/feature/x/skills/x");
    CHECK(!full.is_short);
    CHECK(origin_parse(full.text, NULL, &a, &again, &e));
    CHECK(str_eq(full.key, again.key));
    origin_complete(&o, STR("main"), STR(""), &a, &full);
    CHECK_STR(str_dup0(full.text, &a), GH "Acme/tools/tree/main");
    arena_done(&a);
}

TEST(a_completed_folder_stays_as_it_is) /* [X13] */
{
    struct arena a = {0};
    struct err e = {0};
    struct origin o, full = {0};

    CHECK(origin_parse(STR("file:/srv/x"), NULL, &a, &o, &e));
    origin_complete(&o, STR("main"), STR("y"), &a, &full);
    CHECK(full.scheme == ORIGIN_FILE && str_is(full.text, "file:/srv/x"));
    CHECK(str_eq(full.key, o.key));
    arena_done(&a);
}

TEST(a_commit_is_named_by_forty_digits) /* [F1] */
{
    static const struct {
        const char *origin;
        bool names;
    } named[] = {
        {GH "o/r/tree/" SHA, true},      {GH "o/r/tree/" SHA "/skills/x", true},
        {"o/r/skills/x@" SHA, true},     {GH "o/r/tree/main", false},
        {GH "o/r/tree/" SHA "0", false}, {GH "o/r/tree/" SHA "x/y", false},
        {GH "o/r/tree/a/" SHA, false},   {"o/r", false},
        {"file:/" SHA, false},
    };

    for (size_t i = 0; i < ROWS(named); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct origin o = {0};

        CHECK(origin_parse_argument(str_cstr(named[i].origin), STR("/"),
                                    STR(""), NULL, &a, &o, &e));
        if (origin_names_commit(&o) != named[i].names)
            printf("# %s\n", named[i].origin);
        CHECK(origin_names_commit(&o) == named[i].names);
        arena_done(&a);
    }
}

/* git check-ref-format; [row 10] */
static const struct {
    const char *ref;
    bool valid;
} refs[] = {
    {"main", true},     {"a/b", true},     {"v1.0.0", true},
    {SHA, true},        {"x@1", true},     {"@/x", true},
    {"", false},        {"@", false},      {"-x", false},
    {"a..b", false},    {"a//b", false},   {"/a", false},
    {"a/", false},      {".a", false},     {"a/.b", false},
    {"a.", false},      {"a.lock", false}, {"a.lock/b", false},
    {"a b", false},     {"a~b", false},    {"a^b", false},
    {"a:b", false},     {"a?b", false},    {"a*b", false},
    {"a[b", false},     {"a\\b", false},   {"a\x7f", false},
    {"a\x01", false},   {"a@{b", false},   {"a\xff", false},
    {"\xc3\xa9", true}, {"~a", false},     {":a", false},
};

TEST(each_of_the_refs) /* [row 10] */
{
    char longest[REF_MAX_BYTES + 1];

    for (size_t i = 0; i < ROWS(refs); i++) {
        if (origin_ref_is_valid(str_cstr(refs[i].ref)) != refs[i].valid)
            printf("# refs[%zu]\n", i);
        CHECK(origin_ref_is_valid(str_cstr(refs[i].ref)) == refs[i].valid);
    }
    CHECK(!origin_ref_is_valid(STR("a\0b")));
    memset(longest, 'a', sizeof longest);
    CHECK(origin_ref_is_valid(str_make(longest, REF_MAX_BYTES)));
    CHECK(!origin_ref_is_valid(str_make(longest, REF_MAX_BYTES + 1)));
}

/* [row 13] Plain http is accepted for this machine only. */
TEST(this_machine) /* [row 13] */
{
    static const char *const ours[] = {"localhost", "LOCALHOST", "127.0.0.1",
                                       "127.255.0.9", "[::1]"};
    static const char *const others[] = {
        "",          "128.0.0.1",   "127.0.0",     "127.0.0.256", "127.0.0.1.",
        "127.0.0.x", "127.0.0.1.2", "localhost.x", "[::2]",       "::1",
    };

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        CHECK(origin_host_is_loopback(str_cstr(ours[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!origin_host_is_loopback(str_cstr(others[i])));
}

TEST(a_nul_or_2049_bytes) /* [row 10] */
{
    struct arena a = {0};
    struct err e;
    struct origin o;
    struct str head = STR(GH "o/r/tree/");
    char *text = arena_alloc(&a, ORIGIN_MAX_BYTES + 1);

    CHECK(!origin_parse(STR(GH "o/r/tree/m\0x"), NULL, &a, &o, &e));
    CHECK(!origin_parse(STR("file:/a\0b"), NULL, &a, &o, &e));
    memset(text, 'a', ORIGIN_MAX_BYTES + 1);
    memcpy(text, head.p, head.n);
    CHECK(
        !origin_parse(str_make(text, ORIGIN_MAX_BYTES + 1), NULL, &a, &o, &e));
    CHECK(strstr(err_first(&e), "2,048") != NULL);
    CHECK(origin_parse(str_make(text, 600), NULL, &a, &o, &e));
    arena_done(&a);
}

TEST(a_package_belongs_to_a_range_of_its_repository) /* [D6] */
{
    static const struct {
        const char *package, *range;
        bool is_of;
    } rows[] = {
        {GH "o/r/tree/v1.2.0/skills/x", GH "o/r/tree/^1.2/skills/x", true},
        {GH "o/r/tree/^1.2/skills/x", GH "o/r/tree/^1.2/skills/x", true},
        {GH "o/r/tree/v1.2.0/skills/y", GH "o/r/tree/^1.2/skills/x", false},
        {GH "o/q/tree/v1.2.0/skills/x", GH "o/r/tree/^1.2/skills/x", false},
        {"file:/o/r/tree/v1.2.0/skills/x", GH "o/r/tree/^1.2/skills/x", false},
    };
    struct arena a = {0};
    struct origin o, range;
    struct err e = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(origin_parse(str_cstr(rows[i].package), NULL, &a, &o, &e));
        CHECK(origin_parse(str_cstr(rows[i].range), NULL, &a, &range, &e));
        CHECK(origin_is_package_of(&o, &range, &a) == rows[i].is_of);
    }
    arena_done(&a);
}
