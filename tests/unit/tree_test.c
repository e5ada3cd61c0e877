/* Trees of git: [row 1, row 2, row 3, row 4, row 30]; FETCH.md 7; [M13]. */

#include "base/buf.h"
#include "base/path.h"
#include "mapm/limits.h"

#include <git2.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../fetch/worker/tree.h"
#include "tap.h"

/* --- repositories made by hand ---------------------------------------- */

struct repo {
    struct arena a;
    struct objects objects;
    struct oid_set wants;
};

static void repo_init(struct repo *r)
{
    git_libgit2_init();
    *r = (struct repo){0};
    objects_init(&r->objects, &r->a);
    oid_set_init(&r->wants, &r->a);
}

static void repo_done(struct repo *r)
{
    arena_done(&r->a);
}

static struct oid put(struct repo *r, enum object_type type, struct str bytes)
{
    struct err e = {0};
    struct oid id = {{0}};

    CHECK(oid_of(type, bytes, &id, &e));
    objects_put(&r->objects, type, &id, bytes);
    return id;
}

static void add(struct buf *tree, const char *mode, struct str name,
                const struct oid *id)
{
    buf_printf(tree, "%s ", mode);
    buf_append(tree, name);
    buf_char(tree, '\0');
    buf_append(tree, str_make((const char *)id->b, OID_BYTES));
}

/* A tree of one entry after the other: "mode name", NULL at the end. */
struct row {
    const char *mode, *path;
    const char *content; /* NULL: a missing blob */
};

/* Rows are in git's order; folders come from the "/" in their paths. */
static struct oid build(struct repo *r, const struct row *rows, size_t count,
                        size_t skip)
{
    struct buf b;
    struct oid id;

    buf_init(&b, 1 << 24);
    for (size_t i = 0; i < count;) {
        const char *name = rows[i].path + skip;
        const char *slash = strchr(name, '/');
        size_t n = slash ? (size_t)(slash - name) : strlen(name);
        size_t next = i + 1;

        if (slash) {
            while (next < count &&
                   strncmp(rows[next].path, rows[i].path, skip + n + 1) == 0)
                next++;
            id = build(r, rows + i, next - i, skip + n + 1);
            add(&b, "40000", str_make(name, n), &id);
        } else if (rows[i].content) {
            id = put(r, OBJECT_BLOB, str_cstr(rows[i].content));
            add(&b, rows[i].mode, str_make(name, n), &id);
        } else {
            struct err e = {0};

            CHECK(oid_of(OBJECT_BLOB, str_cstr(rows[i].path), &id, &e));
            add(&b, rows[i].mode, str_make(name, n), &id);
        }
        i = next;
    }
    id = put(r, OBJECT_TREE, buf_str(&b));
    buf_done(&b);
    return id;
}

/* "path mode, …" of a listing, or the first message. */
static const char *listing(struct repo *r, const struct oid *top,
                           const char *path, struct err *e)
{
    static char text[16384];
    struct tree_source s = {
        .objects = &r->objects, .root = *top, .limits = &limits_default};
    struct tree_listing l;
    size_t n = 0;

    *e = (struct err){0};
    if (!tree_list(&s, str_cstr(path), &r->wants, &r->a, &l, e)) {
        CHECK(e->code != ERR_NONE);
        return err_first(e);
    }
    text[0] = '\0';
    if (l.kind == TREE_UNKNOWN)
        return "wants";
    for (size_t i = 0; i < l.count && n < sizeof text - 600; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s%s",
                              i ? " " : "", STR_ARG(l.files[i].path),
                              l.files[i].is_program ? "*" : "");
    return text;
}

static const char *list_rows(const struct row *rows, const char *path,
                             struct err *e)
{
    static char kept[16384];
    struct repo r;
    struct oid top;
    size_t n = 0;

    repo_init(&r);
    while (rows[n].path)
        n++;
    top = build(&r, rows, n, 0);
    snprintf(kept, sizeof kept, "%s", listing(&r, &top, path, e));
    repo_done(&r);
    return kept;
}

/* --- names ------------------------------------------------------------ */

/* [row 1] */
TEST(names)
{
    /* clang-format off */
    static const struct {
        struct str name;
        const char *fault; /* NULL: a good name */
    } rows[] = {
        {STR_INIT("SKILL.md"), NULL},
        {STR_INIT("a"), NULL},
        {STR_INIT(".gitignore"), NULL},
        {STR_INIT(".gitmodules"), NULL},
        {STR_INIT("..."  "x"), NULL},
        {STR_INIT("-rf"), NULL},
        {STR_INIT("caf\u00e9 \u6587\u4ef6 \U0001f600\ufe0f"), NULL},
        {STR_INIT("console"), NULL},
        {STR_INIT("com"), NULL},
        {STR_INIT("com10"), NULL},
        {STR_INIT("git~"), NULL},
        {STR_INIT("git~x"), NULL},
        {STR_INIT("git~10"), NULL},
        {STR_INIT(""), "is empty"},
        {STR_INIT("."), "names no file"},
        {STR_INIT(".."), "names no file"},
        {STR_INIT("..."), "ends in a dot or a blank"},
        {STR_INIT("a."), "ends in a dot or a blank"},
        {STR_INIT("a "), "ends in a dot or a blank"},
        {STR_INIT(".git."), "ends in a dot or a blank"},
        {STR_INIT(".git "), "ends in a dot or a blank"},
        {STR_INIT("a/b"), "has one of"},
        {STR_INIT("../x"), "has one of"},
        {STR_INIT("/etc"), "has one of"},
        {STR_INIT("a\\b"), "has one of"},
        {STR_INIT("C:"), "has one of"},
        {STR_INIT("a*"), "has one of"},
        {STR_INIT("a?"), "has one of"},
        {STR_INIT("a\"b"), "has one of"},
        {STR_INIT("a<b"), "has one of"},
        {STR_INIT("a>b"), "has one of"},
        {STR_INIT("a|b"), "has one of"},
        {STR_INIT(".git::$INDEX_ALLOCATION"), "has one of"},
        {STR_INIT("a\0b"), "has a control"},
        {STR_INIT("a\nb"), "has a control"},
        {STR_INIT("a\tb"), "has a control"},
        {STR_INIT("\033[31m"), "has a control"},
        {STR_INIT("a\x7f"), "has a control"},
        {STR_INIT("a\xc2\x85"), "has a control"},
        {STR_INIT("\xff"), "is not UTF-8"},
        {STR_INIT("a\xc0\xaf"), "is not UTF-8"},
        {STR_INIT("\xed\xa0\x80"), "is not UTF-8"},
        {STR_INIT(".git"), "stands for"},
        {STR_INIT(".GIT"), "stands for"},
        {STR_INIT(".gIt"), "stands for"},
        {STR_INIT(".g\u200cit"), "stands for"},
        {STR_INIT("\ufeff.git"), "stands for"},
        {STR_INIT(".git\u206f"), "stands for"},
        {STR_INIT("git~1"), "stands for"},
        {STR_INIT("GIT~1"), "stands for"},
        {STR_INIT("git~2"), "stands for"},
        {STR_INIT("con"), "is a device"},
        {STR_INIT("Aux.md"), "is a device"},
        {STR_INIT("NUL.tar.gz"), "is a device"},
        {STR_INIT("prn .txt"), "is a device"},
        {STR_INIT("com1"), "is a device"},
        {STR_INIT("LPT9.x"), "is a device"},
        {STR_INIT("COM\u00b2"), "is a device"},
        {STR_INIT("CONOUT$"), "is a device"},
        {STR_INIT("a\u202eb"), "has a hidden character: bidirectional control"},
        {STR_INIT("a\u2066b"), "has a hidden character: bidirectional control"},
        {STR_INIT("a\U000e0041"), "has a hidden character: invisible tag character"},
        {STR_INIT("a\ufe01"), "has a hidden character: variation selector"},
        {STR_INIT("a\u200bb"), "has a hidden character: zero-width character"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        bool ok = path_check_name(rows[i].name, &e);

        CHECK(ok == !rows[i].fault);
        if (ok == !rows[i].fault &&
            (ok ||
             (e.code == ERR_REFUSED && strstr(err_first(&e), rows[i].fault))))
            continue;
        tap_failed = true;
        printf("# name %zu: %s\n", i, err_first(&e));
    }
}

TEST(name_length)
{
    char text[PATH_NAME_MAX_BYTES + 1];
    struct err e = {0};

    memset(text, 'x', sizeof text);
    CHECK(path_check_name(str_make(text, PATH_NAME_MAX_BYTES), &e));
    CHECK(!path_check_name(str_make(text, PATH_NAME_MAX_BYTES + 1), &e));
}

/* --- one folder ------------------------------------------------------- */

static const char *check_two(const char *mode, const char *one,
                             const char *other_mode, const char *other)
{
    static struct err e;
    struct oid id = {{1}};
    struct buf b;
    bool ok;

    e = (struct err){0};
    buf_init(&b, 4096);
    add(&b, mode, str_cstr(one), &id);
    if (other)
        add(&b, other_mode, str_cstr(other), &id);
    ok = tree_check(buf_str(&b), &e);
    CHECK(ok == (e.code == ERR_NONE));
    buf_done(&b);
    return err_first(&e);
}

/* [row 3] */
TEST(order_and_twins)
{
    CHECK_STR(check_two("100644", "a", "100644", "b"), "");
    CHECK_STR(check_two("100644", "a", "100644", "a.b"), "");
    CHECK_STR(check_two("100644", "a.b", "40000", "a"), "");
    CHECK_STR(check_two("40000", "a", "100644", "a0"), "");
    CHECK_STR(check_two("100644", "b", "100644", "a"),
              "the folder is not in git's order at \"a\"");
    CHECK_STR(check_two("40000", "a", "100644", "a.b"),
              "the folder is not in git's order at \"a.b\"");
    CHECK_STR(check_two("100644", "a", "100644", "a"), "\"a\" is there twice");
    CHECK_STR(check_two("100644", "a", "40000", "a"), "\"a\" is there twice");
    CHECK_STR(
        check_two("100644", "README.md", "100644", "readme.md"),
        "\"README.md\" and \"readme.md\" are the same name on some systems");
    CHECK_STR(
        check_two("100644", "cafe\u0301", "100644", "caf\u00e9"),
        "\"cafe\u0301\" and \"caf\u00e9\" are the same name on some systems");
    CHECK_STR(
        check_two("100644", "strasse", "100644", "stra\u00dfe"),
        "\"strasse\" and \"stra\u00dfe\" are the same name on some systems");
}

/* [row 2] */
TEST(modes)
{
    static const char *const good[] = {"40000",  "040000", "100644",
                                       "100664", "100755", "120000"};
    static const char *const bad[] = {"104755", "101777", "60644",  "10644",
                                      "140644", "0",      "100600", "100777",
                                      "120777", "40755",  "7777777"};
    static const char *const damaged[] = {"", "8", "100644x", "10000000", "-1"};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK_STR(check_two(good[i], "x", NULL, NULL), "");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(strstr(check_two(bad[i], "x", NULL, NULL),
                     "\"x\" has the unknown mode"));
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        CHECK_STR(check_two(damaged[i], "x", NULL, NULL),
                  "a tree with an entry without a mode");
    CHECK_STR(check_two("160000", "x", NULL, NULL),
              "\"x\" is a submodule, and its files are in another repository");
}

TEST(cut_trees_are_no_trees)
{
    struct oid id = {{1}};
    struct buf b;

    buf_init(&b, 4096);
    add(&b, "100644", STR("name"), &id);
    for (size_t n = 1; n < b.n; n++) {
        struct err e = {0};

        CHECK(!tree_check(str_slice(buf_str(&b), 0, n), &e));
        CHECK(e.code == ERR_DAMAGED);
    }
    buf_done(&b);
}

/* --- packages --------------------------------------------------------- */

static const struct row catalog[] = {
    {"100644", "README.md", "x"},
    {"100644", "mcps/search.json", "{}"},
    {"100644", "skills/ev:il/x", "x"},
    {"100644", "skills/pdf/SKILL.md", "x"},
    {"100755", "skills/pdf/scripts/run.sh", "x"},
    {"100664", "skills/pdf/scripts/z/deep.txt", "x"},
    {"120000", "skills/pdf2", "pdf"},
    {"160000", "vendor", NULL},
    {0},
};

TEST(packages_in_a_catalog)
{
    struct err e;

    CHECK_STR(list_rows(catalog, "skills/pdf", &e),
              "SKILL.md scripts/run.sh* scripts/z/deep.txt");
    CHECK_STR(list_rows(catalog, "skills/pdf/", &e),
              "SKILL.md scripts/run.sh* scripts/z/deep.txt");
    CHECK_STR(list_rows(catalog, "mcps/search.json", &e), "search.json");
    CHECK_STR(list_rows(catalog, "skills/pdf/scripts/run.sh", &e), "run.sh*");
    /* through a link, at the end and on the way */
    CHECK_STR(list_rows(catalog, "skills/pdf2", &e),
              "SKILL.md scripts/run.sh* scripts/z/deep.txt");
    CHECK_STR(list_rows(catalog, "skills/pdf2/scripts", &e),
              "run.sh* z/deep.txt");
}

TEST(what_is_not_there)
{
    struct err e;

    CHECK_STR(list_rows(catalog, "skills/pfd", &e),
              "there is no \"pfd\" in \"skills\"");
    CHECK(e.code == ERR_PATH);
    CHECK_STR(e.hint, "did you mean \"skills/pdf\"?");
    CHECK_STR(list_rows(catalog, "Skills/pdf", &e),
              "there is no \"Skills\" in the repository");
    CHECK_STR(e.hint, "did you mean \"skills\"?");
    CHECK_STR(list_rows(catalog, "pdf", &e),
              "there is no \"pdf\" in the repository");
    CHECK_STR(e.hint, "did you mean \"skills/pdf\"?");
    CHECK_STR(list_rows(catalog, "another/folder/pdf", &e),
              "there is no \"another\" in the repository");
    CHECK_STR(e.hint, "did you mean \"skills/pdf\"?");
    CHECK_STR(list_rows(catalog, "README.md/x", &e),
              "\"README.md\" is a file, not a folder");
    CHECK(e.code == ERR_PATH);
    CHECK_STR(list_rows(catalog, "vendor/x", &e),
              "\"vendor\" is a submodule, and its files are in another "
              "repository");
    CHECK(e.code == ERR_REFUSED);
    CHECK_STR(list_rows(catalog, "skills/../skills/pdf", &e),
              "the file name \"..\" names no file");
    CHECK_STR(list_rows(catalog, "skills//pdf", &e),
              "the file name \"\" is empty");
    CHECK_STR(list_rows(catalog, "skills/ev:il", &e),
              "the file name \"ev:il\" has one of / \\ : * ? \" < > |");
    /* an odd name matters only in the package itself */
    CHECK(strstr(list_rows(catalog, "skills", &e), "ev:il"));
    CHECK(strstr(list_rows(catalog, "", &e), "submodule"));
}

/* [row 2], THREATS 1.3 */
TEST(links)
{
    static const struct {
        const char *target;
        const char *result;
    } rows[] = {
        {"SKILL.md", "SKILL.md link sub/x*"},
        {"./SKILL.md", "SKILL.md link sub/x*"},
        {"sub/x", "SKILL.md link* sub/x*"},
        {"../other/y", "SKILL.md link sub/x*"},
        {"../../README.md", "SKILL.md link sub/x*"},
        {"..//other/../p/sub//x", "SKILL.md link* sub/x*"},
        {"../other", "SKILL.md link/deep/z link/y sub/x*"},
        {"../other/", "SKILL.md link/deep/z link/y sub/x*"},
        {"../alias/y", "SKILL.md link sub/x*"},
        {"../chain", "SKILL.md link sub/x*"},
        {"/etc/passwd", "the link \"a/p/link\" to \"/etc/passwd\" is "
                        "absolute"},
        {"../../../x", "the link \"a/p/link\" to \"../../../x\" leaves the "
                       "repository"},
        {"../../..", "the link \"a/p/link\" to \"../../..\" leaves the "
                     "repository"},
        {"nothing", "the link \"a/p/link\" to \"nothing\" names nothing in "
                    "the repository"},
        {"", "the link \"a/p/link\" to \"\" names nothing that could be a "
             "path"},
        {"link", "the link \"a/p/link\" to \"link\" leads to no end: it goes "
                 "in a circle"},
        {"../ping", "the link \"a/pong\" to \"ping\" leads to no end: it goes "
                    "in a circle"},
        {".", "\"link\" leads back into a folder that it is in"},
        {"../back", "\"link/up\" leads back into a folder that it is in"},
        {"SKILL.md/x", "the link \"a/p/link\" to \"SKILL.md/x\" takes a file "
                       "for a folder"},
        {"../vendor", "the link \"a/p/link\" to \"../vendor\" leads into a "
                      "submodule, whose files are in another repository"},
        {"../vendor/x", "the link \"a/p/link\" to \"../vendor/x\" leads into "
                        "a submodule, whose files are in another repository"},
        {"../odd", "the link \"a/p/link\" to \"../odd\" leads to something "
                   "of an unknown kind"},
        {"..\\other", "the link \"a/p/link\" to \"..\\other\" names nothing "
                      "in the repository"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e;
        const struct row repo[] = {
            {"100644", "README.md", "x"},
            {"120000", "a/alias", "other"},
            {"120000", "a/back/up", "../p"},
            {"120000", "a/chain", "alias/deep/z"},
            {"104755", "a/odd", "x"},
            {"100644", "a/other/deep/z", "x"},
            {"100644", "a/other/y", "x"},
            {"100644", "a/p/SKILL.md", "x"},
            {"120000", "a/p/link", rows[i].target},
            {"100755", "a/p/sub/x", "x"},
            {"120000", "a/ping", "pong"},
            {"120000", "a/pong", "ping"},
            {"160000", "a/vendor", NULL},
            {0},
        };
        const char *got = list_rows(repo, "a/p", &e);

        /* The message may name either link of a cycle. */
        if (strcmp(rows[i].target, "../ping") == 0 && strstr(got, "\"a/ping\""))
            got = rows[i].result;
        CHECK_STR(got, rows[i].result);
        CHECK(e.code == ERR_NONE || e.code == ERR_REFUSED);
    }
}

/* A missing text of a link is requested, and the walk starts again. */
TEST(walks_start_again)
{
    const struct row rows[] = {
        {"120000", "p/SKILL.md", NULL},
        {"120000", "p/b", NULL},
        {"100644", "real", "x"},
        {0},
    };
    struct repo r;
    struct oid top, missing = {{0}};
    struct tree_source s = {0};
    struct tree_found found;
    struct err e = {0};

    repo_init(&r);
    top = build(&r, rows, 3, 0);
    CHECK_STR(listing(&r, &top, "p", &e), "wants");
    CHECK(oid_set_count(&r.wants) == 2);
    CHECK_STR(listing(&r, &top, "p", &e), "wants");
    CHECK(oid_set_count(&r.wants) == 2);
    objects_put(&r.objects, OBJECT_BLOB, oid_set_get(&r.wants, 0),
                STR("../real"));
    CHECK_STR(listing(&r, &top, "p", &e), "wants");
    objects_put(&r.objects, OBJECT_BLOB, oid_set_get(&r.wants, 1),
                STR("SKILL.md"));
    CHECK_STR(listing(&r, &top, "p", &e), "SKILL.md b");

    /* trees, too */
    s = (struct tree_source){.objects = &r.objects, .root = missing};
    CHECK(tree_find(&s, STR("a/b"), &r.wants, &found, &e));
    CHECK(found.kind == TREE_UNKNOWN && oid_set_has(&r.wants, &missing));
    repo_done(&r);
}

TEST(missing_trees_are_asked_for_together)
{
    struct oid one = {{1}}, two = {{2}}, top;
    struct err e = {0};
    struct buf b;
    struct repo r;

    repo_init(&r);
    buf_init(&b, 4096);
    add(&b, "40000", STR("a"), &one);
    add(&b, "40000", STR("b"), &two);
    top = put(&r, OBJECT_TREE, buf_str(&b));
    CHECK_STR(listing(&r, &top, "", &e), "wants");
    CHECK(oid_set_has(&r.wants, &one) && oid_set_has(&r.wants, &two));
    buf_done(&b);
    repo_done(&r);
}

TEST(an_object_of_the_wrong_kind)
{
    struct err e = {0};
    struct buf b;
    struct repo r;
    struct oid blob, top;

    repo_init(&r);
    buf_init(&b, 4096);
    blob = put(&r, OBJECT_BLOB, STR("no tree"));
    add(&b, "40000", STR("a"), &blob);
    top = put(&r, OBJECT_TREE, buf_str(&b));
    CHECK(strstr(listing(&r, &top, "a", &e), "is a blob, not a tree"));
    CHECK(e.code == ERR_DAMAGED);
    buf_done(&b);
    repo_done(&r);
}

/* --- limits, [row 4] ----------------------------------------------------- */

/* A folder of `n` names that all are `id`. */
static struct oid wide(struct repo *r, const char *mode, size_t n,
                       const struct oid *id)
{
    struct buf b;
    struct oid tree;

    buf_init(&b, 1 << 24);
    for (size_t i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%06zu", i);
        add(&b, mode, str_cstr(name), id);
    }
    tree = put(r, OBJECT_TREE, buf_str(&b));
    buf_done(&b);
    return tree;
}

TEST(number_of_files)
{
    struct repo r;
    struct err e;
    struct oid blob, top;

    repo_init(&r);
    blob = put(&r, OBJECT_BLOB, STR("x"));
    top = wide(&r, "100644", PACKAGE_MAX_FILES, &blob);
    CHECK(strncmp(listing(&r, &top, "", &e), "n000000 n000001", 15) == 0);
    top = wide(&r, "100644", PACKAGE_MAX_FILES + 1, &blob);
    CHECK_STR(listing(&r, &top, "", &e),
              "the package has more than 5000 files (package_max_files)");
    CHECK(e.code == ERR_LIMIT);
    repo_done(&r);
}

/* A configuration may set other limits. */
TEST(limits_may_be_others)
{
    struct limits limits = limits_default;
    struct tree_source s = {.limits = &limits};
    struct tree_listing l;
    struct repo r;
    struct err e = {0};
    struct oid blob;

    repo_init(&r);
    s.objects = &r.objects;
    blob = put(&r, OBJECT_BLOB, STR("x"));
    s.root = wide(&r, "100644", PACKAGE_MAX_FILES + 1, &blob);
    limits.package_max_files.value = PACKAGE_MAX_FILES + 1;
    CHECK(tree_list(&s, STR(""), &r.wants, &r.a, &l, &e));
    CHECK(l.count == PACKAGE_MAX_FILES + 1);

    s.root = wide(&r, "100644", 3, &blob);
    limits.package_max_files.value = 3;
    CHECK(tree_list(&s, STR(""), &r.wants, &r.a, &l, &e));
    limits.package_max_files.value = 2;
    CHECK(!tree_list(&s, STR(""), &r.wants, &r.a, &l, &e));
    CHECK_STR(err_first(&e),
              "the package has more than 2 files (package_max_files)");

    limits = limits_default;
    for (int i = 1; i < PACKAGE_MAX_DEPTH + 1; i++)
        s.root = wide(&r, "40000", 1, &s.root);
    CHECK(!tree_list(&s, STR(""), &r.wants, &r.a, &l, &e));
    limits.package_max_depth.value = PACKAGE_MAX_DEPTH + 1;
    CHECK(tree_list(&s, STR(""), &r.wants, &r.a, &l, &e));
    repo_done(&r);
}

/* A tree of ten equal folders, twenty levels deep: paths are counted. */
TEST(git_bombs)
{
    struct repo r;
    struct err e;
    struct oid id;

    repo_init(&r);
    id = put(&r, OBJECT_BLOB, STR("x"));
    id = wide(&r, "100644", 10, &id);
    for (int i = 0; i < 20; i++)
        id = wide(&r, "40000", 10, &id);
    listing(&r, &id, "", &e);
    CHECK(e.code == ERR_LIMIT);

    /* without any file */
    id = put(&r, OBJECT_TREE, STR(""));
    for (int i = 0; i < 20; i++)
        id = wide(&r, "40000", 10, &id);
    listing(&r, &id, "", &e);
    CHECK(e.code == ERR_LIMIT);
    repo_done(&r);
}

TEST(depth_and_path)
{
    struct repo r;
    struct err e;
    struct oid id, blob;
    struct buf b;

    repo_init(&r);
    blob = id = put(&r, OBJECT_BLOB, STR("x"));
    id = wide(&r, "100644", 1, &id);
    for (int i = 1; i < PACKAGE_MAX_DEPTH; i++)
        id = wide(&r, "40000", 1, &id);
    listing(&r, &id, "", &e);
    CHECK(e.code == ERR_NONE);
    id = wide(&r, "40000", 1, &id);
    CHECK_STR(listing(&r, &id, "", &e),
              "the package has folders more than 32 deep (package_max_depth)");
    CHECK(e.code == ERR_LIMIT);

    /* [row 30] 100,000 nested trees use no C stack. */
    for (int i = 0; i < 100000; i++)
        id = wide(&r, "40000", 1, &id);
    listing(&r, &id, "", &e);
    CHECK(e.code == ERR_LIMIT);
    listing(&r, &id, "n000000/missing", &e);
    CHECK(e.code == ERR_PATH);

    /* 255 + 1 + 255 + 1 = 512, one too many; 256 + 255 = 511 */
    buf_init(&b, 4096);
    for (int i = 0; i < 255; i++)
        buf_char(&b, 'x');
    for (int extra = 0; extra < 2; extra++) {
        struct buf tree;
        struct str name = buf_str(&b);

        buf_init(&tree, 4096);
        add(&tree, "100644", extra ? name : str_slice(name, 0, 1), &blob);
        id = put(&r, OBJECT_TREE, buf_str(&tree));
        for (int i = 0; i < 2; i++) {
            buf_clear(&tree);
            add(&tree, "40000", str_slice(name, 0, 255 - (size_t)i), &id);
            id = put(&r, OBJECT_TREE, buf_str(&tree));
        }
        buf_done(&tree);
        listing(&r, &id, "", &e);
        CHECK(e.code == (extra ? ERR_LIMIT : ERR_NONE));
    }
    buf_done(&b);
    repo_done(&r);
}

/* A chain of 41 links is one too long. */
TEST(links_upon_links)
{
    for (int links = TREE_LINKS_MAX; links <= TREE_LINKS_MAX + 1; links++) {
        struct row rows[TREE_LINKS_MAX + 3] = {0};
        char names[TREE_LINKS_MAX + 2][8];
        struct err e;

        for (int i = 0; i <= links; i++)
            snprintf(names[i], sizeof names[i], "l%02d", i);
        for (int i = 0; i < links; i++)
            rows[i] = (struct row){"120000", names[i], names[i + 1]};
        rows[links] = (struct row){"100644", names[links], "x"};
        list_rows(rows, "l00", &e);
        CHECK(e.code == (links == TREE_LINKS_MAX ? ERR_NONE : ERR_REFUSED));
    }
}

/* The size of long link texts that repeat is bounded. */
TEST(links_that_grow)
{
    struct row rows[3] = {0};
    char target[TREE_LINK_MAX_BYTES + 2];
    struct err e;

    for (size_t i = 0; i < sizeof target; i += 2)
        memcpy(target + i, i + 3 < sizeof target ? "./" : "a", 2);
    target[TREE_LINK_MAX_BYTES] = '\0';
    target[TREE_LINK_MAX_BYTES - 1] = 'a';
    rows[0] = (struct row){"120000", "a", target};
    list_rows(rows, "a", &e);
    CHECK(e.code == ERR_REFUSED);
    memset(target, 'a', sizeof target);
    target[TREE_LINK_MAX_BYTES + 1] = '\0';
    CHECK(strstr(list_rows(rows, "a", &e), "could be a path"));
}

/* --- with an index, and as git lists them ------------------------------ */

TEST(large_folders_by_index)
{
    struct tree_index index;
    struct tree_source s;
    struct tree_found found;
    struct err e = {0};
    struct repo r;
    struct oid blob, two;
    struct buf b;

    repo_init(&r);
    tree_index_init(&index, &r.a);
    blob = put(&r, OBJECT_BLOB, STR("x"));
    s = (struct tree_source){.objects = &r.objects,
                             .root = wide(&r, "100644", 3000, &blob),
                             .index = &index};
    for (int i = 0; i < 2; i++) {
        CHECK(tree_find(&s, STR("n002999"), &r.wants, &found, &e));
        CHECK(found.kind == TREE_FILE && oid_eq(&found.id, &blob));
        CHECK(!tree_find(&s, STR("n003000"), &r.wants, &found, &e));
        CHECK(e.code == ERR_PATH);
    }
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 200; i++)
        add(&b, "100644", STR("twice"), &blob);
    two = put(&r, OBJECT_TREE, buf_str(&b));
    for (int i = 0; i < 2; i++) {
        s.root = two;
        s.index = i ? &index : NULL;
        CHECK(!tree_find(&s, STR("twice"), &r.wants, &found, &e));
        CHECK(e.code == ERR_DAMAGED);
    }
    buf_done(&b);
    repo_done(&r);
}

static char dir[64];

static bool shell(const char *command)
{
    char line[4096];

    snprintf(line, sizeof line, "cd %s && { %s\n} >/dev/null 2>&1", dir,
             command);
    return system(line) == 0;
}

static struct str slurp(struct arena *a, const char *name)
{
    char path[128];
    size_t n;
    char *text = arena_alloc(a, 1 << 20);
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "rb");
    CHECK(f != NULL);
    n = f ? fread(text, 1, 1 << 20, f) : 0;
    if (f)
        fclose(f);
    return str_make(text, n);
}

static void read_git_tree(struct repo *r, struct str id)
{
    char command[256], hex[OID_HEX_CHARS + 1];
    struct oid made;

    snprintf(command, sizeof command, "git cat-file tree %.*s >object",
             STR_ARG(id));
    CHECK(shell(command));
    made = put(r, OBJECT_TREE, slurp(&r->a, "object"));
    oid_format(&made, hex);
    CHECK(str_is(id, hex));
}

TEST(trees_that_git_made)
{
    struct tree_source s = {0};
    struct tree_listing l = {0};
    struct str rest, line;
    struct err e = {0};
    struct repo r;
    size_t i = 0;

    repo_init(&r);
    snprintf(dir, sizeof dir, "%s/mapm-tree-XXXXXX",
             getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 40
                 ? getenv("TMPDIR")
                 : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    CHECK(shell("export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1\n"
                "git init -q . && mkdir -p a/b/c a.d a-b 'sp ace'\n"
                "for f in a/x a/b/y a/b/c/z a.d/k a-b/m 'sp ace/n' a0 A1 "
                "a/b.c a/b-c; do echo $f >\"$f\"; done\n"
                "chmod +x a/b/y; git add -A; git write-tree >root\n"
                "git ls-files >files\n"
                "git ls-tree -rt $(cat root) | sed -n "
                "'s/.* tree \\([0-9a-f]*\\).*/\\1/p' >trees"));
    CHECK(oid_parse(str_trim(slurp(&r.a, "root")), &s.root));
    read_git_tree(&r, str_trim(slurp(&r.a, "root")));
    rest = slurp(&r.a, "trees");
    while (str_line(&rest, &line))
        read_git_tree(&r, line);
    s.objects = &r.objects;
    s.limits = &limits_default;
    CHECK(tree_list(&s, STR(""), &r.wants, &r.a, &l, &e));
    CHECK_STR(err_first(&e), "");
    rest = slurp(&r.a, "files");
    while (str_line(&rest, &line)) {
        CHECK(i < l.count && str_eq(l.files[i].path, line));
        CHECK(i >= l.count || l.files[i].is_program == str_is(line, "a/b/y"));
        i++;
    }
    CHECK(i == 10 && l.count == 10);
    CHECK(shell("rm -rf .git ./*"));
    CHECK(rmdir(dir) == 0);
    repo_done(&r);
}
