/* Which commit a ref or a range names: [D6, X13, M13, M14, row 10, row 12]. */

#include "base/buf.h"
#include "mapm/limits.h"

#include "../../fetch/worker/refs.h"
#include "tap.h"

#define HEX "0123456789abcdef0123456789abcdef01234567"

static const struct {
    const char *name;
    int id, peeled;
    const char *target;
} advertised[] = {
    {"HEAD", 1, 1, "refs/heads/main"},   {"refs/heads/main", 1, 1, ""},
    {"refs/heads/feature/x", 2, 2, ""},  {"refs/heads/release/2.x", 3, 3, ""},
    {"refs/heads/release-3", 4, 4, ""},  {"refs/heads/both", 5, 5, ""},
    {"refs/tags/both", 6, 6, ""},        {"refs/tags/v1.0", 7, 17, ""},
    {"refs/tags/feature/x/y", 8, 8, ""}, {"refs/pull/1/head", 9, 9, ""},
    {"refs/heads/" HEX, 10, 10, ""},     {"refs/heads/deadbeef", 11, 11, ""},
    {"refs/heads/-rf", 12, 12, ""},      {"refs/heads/a..b", 12, 12, ""},
};

static void fill(struct ref_list *l, struct arena *a)
{
    ref_list_init(l, a);
    for (size_t i = 0; i < sizeof advertised / sizeof *advertised; i++) {
        struct ref r = {.name = str_cstr(advertised[i].name),
                        .target = str_cstr(advertised[i].target)};
        struct err e = {0};

        r.id.b[0] = (uint8_t)advertised[i].id;
        r.peeled.b[0] = (uint8_t)advertised[i].peeled;
        CHECK(ref_list_put(l, &r, &e));
    }
}

TEST(only_heads_and_tags_are_kept)
{
    struct arena a = {0};
    struct ref_list l;

    fill(&l, &a);
    CHECK(l.seen == sizeof advertised / sizeof *advertised);
    CHECK(l.count == l.seen - 3);
    CHECK(!ref_list_find(&l, STR("refs/pull/1/head")));
    CHECK(!ref_list_find(&l, STR("refs/heads/-rf")));
    CHECK(!ref_list_find(&l, STR("refs/heads/a..b")));
    CHECK(ref_list_find(&l, STR("refs/tags/v1.0")));
    arena_done(&a);
}

TEST(choices)
{
    /* clang-format off */
    static const struct {
        const char *rest;
        const char *name; /* of the ref; or the diagnostic */
        int id;           /* 0: refused */
        const char *path; /* or the hint */
        bool is_tag_too;
    } rows[] = {
        {"", "refs/heads/main", 1, "", false},
        {"main", "refs/heads/main", 1, "", false},
        {"main/", "refs/heads/main", 1, "", false},
        {"main/skills/pdf", "refs/heads/main", 1, "skills/pdf", false},
        {"main/skills/pdf/", "refs/heads/main", 1, "skills/pdf", false},
        {"feature/x", "refs/heads/feature/x", 2, "", false},
        {"feature/x/skills/y", "refs/heads/feature/x", 2, "skills/y", false},
        {"feature%2Fx/skills/y", "refs/heads/feature/x", 2, "skills/y", false},
        {"feature%2fx", "refs/heads/feature/x", 2, "", false},
        /* longest first, be it a tag */
        {"feature/x/y/z", "refs/tags/feature/x/y", 8, "z", false},
        {"feature%2Fx%2Fy/z", "refs/tags/feature/x/y", 8, "z", false},
        /* the segments say where a ref may end */
        {"feature%2Fx%2Fz/y", "the repository has no branch or tag "
                              "\"feature/x/z\"", 0,
         "did you mean \"feature/x\" or \"feature/x/y\"?", false},
        {"release/2.x/p", "refs/heads/release/2.x", 3, "p", false},
        {"release-3/p", "refs/heads/release-3", 4, "p", false},
        {"both/p", "refs/heads/both", 5, "p", true},
        {"v1.0/p", "refs/tags/v1.0", 17, "p", false},
        /* full names tell a branch from a tag [H1] */
        {"refs/tags/both/p", "refs/tags/both", 6, "p", false},
        {"refs/heads/both", "refs/heads/both", 5, "", false},
        {"refs/heads/feature/x/skills/y", "refs/heads/feature/x", 2,
         "skills/y", false},
        {"deadbeef/p", "refs/heads/deadbeef", 11, "p", false},
        /* [row 12] forty digits are a commit, whatever branches are named */
        {HEX, "", 0x01, "", false},
        {HEX "/skills/a", "", 0x01, "skills/a", false},
        {"0123456789ABCDEF0123456789abcdef01234567/x", "", 0x01, "x", false},
        /* near names */
        {"mian/skills", "the repository has no branch or tag \"mian\"", 0,
         "did you mean \"main\"?", false},
        {"Main", "the repository has no branch or tag \"Main\"", 0,
         "did you mean \"main\"?", false},
        {"feature/y/p", "the repository has no branch or tag \"feature\"", 0,
         "did you mean \"feature/x\" or \"feature/x/y\"?", false},
        {"xyzzy", "the repository has no branch or tag \"xyzzy\"", 0, "",
         false},
        {"0123456", "the repository has no branch or tag \"0123456\"", 0,
         "a commit is named by its whole id: use all 40 digits", false},
        {"pull/1/head", "the repository has no branch or tag \"pull\"", 0, "",
         false},
        {"main/a%2Fb", "\"%2F\" may stand in the ref only, not in the path "
                       "\"a%2Fb\"", 0, "", false},
    };
    /* clang-format on */
    struct arena a = {0};
    struct ref_list l;

    fill(&l, &a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ref_choice c = {.name = STR_INIT("")};
        struct err e = {0};
        bool ok = refs_choose(&l, str_cstr(rows[i].rest), &a, &c, &e);

        CHECK(ok == (rows[i].id != 0));
        CHECK_STR(ok ? str_dup0(c.name, &a) : err_first(&e), rows[i].name);
        CHECK_STR(ok ? str_dup0(c.path, &a) : e.hint, rows[i].path);
        if (!ok)
            continue;
        CHECK(c.commit.b[0] == rows[i].id);
        CHECK(c.is_tag_too == rows[i].is_tag_too);
        CHECK(c.is_spelled_out == (strstr(rows[i].rest, "/both") != NULL));
        CHECK(c.is_default == (rows[i].rest[0] == '\0'));
    }
    arena_done(&a);
}

TEST(a_repository_without_commits)
{
    struct ref head = {.name = STR_INIT("HEAD"),
                       .target = STR_INIT("refs/heads/main")};
    struct arena a = {0};
    struct ref_choice c;
    struct ref_list l;
    struct err e = {0};

    ref_list_init(&l, &a);
    CHECK(!refs_choose(&l, STR(""), &a, &c, &e) && e.code == ERR_REF);
    CHECK(ref_list_put(&l, &head, &e));
    CHECK(!refs_choose(&l, STR(""), &a, &c, &e) && e.code == ERR_REF);
    CHECK_STR(err_first(&e),
              "the repository is empty: it has no default branch");
    head.target = STR("");
    head.peeled.b[0] = 1;
    ref_list_init(&l, &a);
    CHECK(ref_list_put(&l, &head, &e) && refs_choose(&l, STR("/"), &a, &c, &e));
    CHECK(str_is(c.name, "HEAD"));
    arena_done(&a);
}

/* [row 10] */
TEST(ref_names)
{
    static const char *const good[] = {
        "main", "a/b/c",  "v1.0", "release/2.x", "a-b",
        "a@b",  "\u00e9", "a'b",  "a;b",         "$(x)",
    };
    static const char *const bad[] = {
        "",     "-x",     "--upload-pack=x",
        "a..b", "a//b",   "/a",
        "a/",   ".a",     "a/.b",
        "a.",   "a.lock", "a.lock/b",
        "a b",  "a~1",    "a^",
        "a:b",  "a?",     "a*",
        "a[b",  "a\\b",   "a@{1}",
        "@",    "a\x7f",  "a\nb",
        "a\tb",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(ref_name_is_valid(str_cstr(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!ref_name_is_valid(str_cstr(bad[i])));
    CHECK(!ref_name_is_valid(STR("a\0b")));
}

TEST(what_to_ask_for)
{
    struct arena a = {0};
    struct oid id = {{0}};
    struct str prefix;
    struct err e = {0};
    bool is_commit = true;

    CHECK(refs_first(STR("feature/x/y"), &a, &is_commit, &id, &prefix, &e));
    CHECK(!is_commit && str_is(prefix, "feature"));
    CHECK(refs_first(STR("feature%2Fx/y"), &a, &is_commit, &id, &prefix, &e));
    CHECK(!is_commit && str_is(prefix, "feature/x"));
    CHECK(refs_first(STR(""), &a, &is_commit, &id, &prefix, &e));
    CHECK(!is_commit && prefix.n == 0);
    CHECK(refs_first(STR(HEX "/a"), &a, &is_commit, &id, &prefix, &e));
    CHECK(is_commit && id.b[0] == 1 && id.b[19] == 0x67);
    CHECK(
        !refs_first(STR("--upload-pack/x"), &a, &is_commit, &id, &prefix, &e));
    CHECK(e.code == ERR_ORIGIN);
    CHECK(!refs_first(STR("a..b"), &a, &is_commit, &id, &prefix, &e));
    CHECK(!refs_first(STR("HEAD~1"), &a, &is_commit, &id, &prefix, &e));
    arena_done(&a);
}

/* [row 14] */
TEST(refs_without_end)
{
    struct ref r = {.name = STR_INIT("refs/pull/1/head")};
    struct arena a = {0};
    struct ref_list l;
    struct err e = {0};
    int n = 0;

    ref_list_init(&l, &a);
    while (ref_list_put(&l, &r, &e))
        n++;
    CHECK(n == TRANSFER_MAX_REFS && e.code == ERR_LIMIT && l.count == 0);
    arena_done(&a);
}

TEST(too_many_versions_of_a_package) /* [H3, row 51] */
{
    struct arena a = {0};
    struct range_set ranges;
    struct ref_choice c;
    struct ref_list l;
    struct str newest;
    struct err e = {0};

    ref_list_init(&l, &a);
    CHECK(range_set_parse(STR("*"), &a, &ranges, &e));
    for (int i = 0; i <= PACKAGE_MAX_TAGS; i++) {
        struct ref r = {.name = arena_printf(&a, "refs/tags/v1.0.%d", i),
                        .target = STR_INIT("")};
        struct ref other = {.name = arena_printf(&a, "refs/tags/y-v1.0.%d", i),
                            .target = STR_INIT("")};

        r.peeled.b[0] = other.peeled.b[0] = 1;
        if (i == PACKAGE_MAX_TAGS) {
            CHECK(refs_choose_version(&l, STR("x"), &ranges, &c, &newest, &e));
            CHECK_STR(str_dup0(newest, &a), "v1.0.19999");
        }
        CHECK(ref_list_put(&l, &other, &e) && ref_list_put(&l, &r, &e));
    }
    CHECK(!refs_choose_version(&l, STR("x"), &ranges, &c, &newest, &e));
    CHECK(e.code == ERR_LIMIT);
    arena_done(&a);
}

/* "a/a/…" of this many segments. */
static struct str segments(size_t count, struct arena *a)
{
    struct str out = STR("a");

    for (size_t i = 1; i < count; i++)
        out = arena_printf(a, "%.*s/a", STR_ARG(out));
    return out;
}

TEST(long_names_of_refs) /* [F1] */
{
    static const char *const kinds[] = {"refs/heads/", "refs/tags/"};
    struct arena a = {0};
    char *text = arena_alloc(&a, ORIGIN_MAX_BYTES + 1);
    struct err e = {0};

    memset(text, 'a', ORIGIN_MAX_BYTES + 1);
    CHECK(ref_name_is_valid(str_make(text, ORIGIN_MAX_BYTES)));
    CHECK(!ref_name_is_valid(str_make(text, ORIGIN_MAX_BYTES + 1)));
    CHECK(ref_check_length(str_make(text, REF_MAX_BYTES), &e));
    CHECK(!ref_check_length(str_make(text, REF_MAX_BYTES + 1), &e));
    CHECK(e.code == ERR_REF);
    for (size_t i = 0; i < 4; i++) {
        bool fits = i % 2 == 0;
        struct str name = segments(REF_MAX_SEGMENTS + !fits, &a);
        struct ref r = {.name = str_join(str_cstr(kinds[i / 2]), name, &a),
                        .target = STR_INIT("")};
        struct ref_choice c;
        struct ref_list l;

        e = (struct err){0};
        r.peeled.b[0] = 1;
        ref_list_init(&l, &a);
        CHECK(ref_list_put(&l, &r, &e));
        CHECK(refs_choose(&l, name, &a, &c, &e) == fits);
        CHECK(e.code == (fits ? ERR_NONE : ERR_LIMIT));
    }
    arena_done(&a);
}

/* What a list of names gives for one that is not among them. */
static void check_hint(const char *const names[], const char *asked,
                       const char *hint)
{
    struct arena a = {0};
    struct ref_choice c;
    struct ref_list l;
    struct err e = {0};

    ref_list_init(&l, &a);
    for (size_t i = 0; names[i]; i++) {
        struct ref r = {.name = str_cstr(names[i]), .target = STR_INIT("")};

        r.peeled.b[0] = 1;
        CHECK(ref_list_put(&l, &r, &e));
    }
    CHECK(!refs_choose(&l, str_cstr(asked), &a, &c, &e) && e.code == ERR_REF);
    CHECK_STR(e.hint, hint);
    arena_done(&a);
}

TEST(near_names)
{
    static const char *const names[] = {
        "refs/heads/version-12",   "refs/heads/version-123",
        "refs/tags/version-1",     "refs/tags/version-12",
        "refs/heads/version-9999", "refs/heads/ab",
        "refs/heads/wxyz",         NULL};
    static const char *const versions[] = {
        "refs/tags/v1.0.0", "refs/tags/v1.3.0", "refs/tags/pdf-v1.0.0", NULL};
    static const char *const none[] = {"refs/heads/main", NULL};

    /* the nearest first, a branch and a tag once, three at most */
    check_hint(
        names, "version-1234",
        "did you mean \"version-123\", \"version-12\" or \"version-1\"?");
    check_hint(names, "version-99",
               "did you mean \"version-12\", \"version-1\" or "
               "\"version-9999\"?");
    check_hint(names, "version-999x", "did you mean \"version-9999\"?");
    /* of a short name one letter, of a longer one a third, never four */
    check_hint(names, "ax", "did you mean \"ab\"?");
    check_hint(names, "cd", "");
    check_hint(names, "wxyy", "did you mean \"wxyz\"?");
    check_hint(names, "wxaa", "");
    check_hint(names, "version-99990000", "");
    /* the tag of the package precedes a similar one of the repository */
    check_hint(versions, "1.0.0/skills/pdf", "did you mean \"pdf-v1.0.0\"?");
    check_hint(versions, "1.0.0/skills/x", "did you mean \"v1.0.0\"?");
    check_hint(versions, "1.2.0/skills/pdf",
               "did you mean \"v1.0.0\" or \"v1.3.0\"?");
    /* ids that are cut off */
    check_hint(none, "abc", "");
    check_hint(none, "abcd",
               "a commit is named by its whole id: use all 40 digits");
    check_hint(none, "ABCDEF0",
               "a commit is named by its whole id: use all 40 digits");
    check_hint(none, "abcdefg", "");
    check_hint(none, "0123456789abcdef0123456789abcdef0123456",
               "a commit is named by its whole id: use all 40 digits");
    check_hint(none, "0123456789abcdef0123456789abcdef012345678", "");
}

TEST(a_ref_without_an_object_is_none)
{
    struct ref r = {.name = STR_INIT("refs/heads/a"), .target = STR_INIT("")};
    struct arena a = {0};
    struct ref_choice c;
    struct ref_list l;
    struct err e = {0};

    ref_list_init(&l, &a);
    CHECK(ref_list_put(&l, &r, &e));
    CHECK(!refs_choose(&l, STR("a"), &a, &c, &e) && e.code == ERR_REF);
    r.name = STR("refs/heads/a/b");
    r.peeled.b[0] = 2;
    CHECK(ref_list_put(&l, &r, &e));
    CHECK(!refs_choose(&l, STR("a"), &a, &c, &e));
    CHECK(refs_choose(&l, STR("//a/b/c//"), &a, &c, &e));
    CHECK(c.commit.b[0] == 2 && str_is(c.path, "c"));
    arena_done(&a);
}

/* The tags, the path, the ranges, and what they choose: "!" and the fault. */
static const struct {
    const char *tags, *path, *ranges, *choice, *newest;
} versions[] = {
    {"v1.0.0 v1.2.0 v1.10.0 v2.0.0-rc.1", "skills/x", "^1", "v1.10.0",
     "v1.10.0"},
    {"v1.0.0 v1.2.0 v1.10.0 v2.0.0-rc.1", "skills/x", "^2",
     "!^2.0.0-0 allows it", ""},
    {"v1.10.0 v2.0.0-rc.1", "skills/x", "^2.0.0-0", "v2.0.0-rc.1", "v1.10.0"},
    {"x-v1.0.0 x-v1.1.0 v9.0.0", "skills/x", "^1", "x-v1.1.0", "x-v1.1.0"},
    {"x-v1.0.0 x-v1.1.0 v9.0.0", "skills/y", "*", "v9.0.0", "v9.0.0"},
    {"v1.2.0 v1.3.0 v2.0.0", "skills/x", "^1.2", "v1.3.0", "v2.0.0"},
    {"v1.2.0 v1.10.0 v1.9.0", "", "^1", "v1.10.0", "v1.10.0"},
    {"v1.2.0 v1.3.0", "skills/x", "^1.2 <1.3", "v1.2.0", "v1.3.0"},
    {"v1.2.0 v1.3.0-rc.1", "skills/x", "*", "v1.2.0", "v1.2.0"},
    {"v1.2.0-a v1.3.0-a", "skills/x", "^1.2.0-a", "v1.2.0-a", "v1.3.0-a"},
    {"v1 v1.2 main 2026-01-01", "skills/x", "*", "!no tag", ""},
    {"", "skills/x", "*", "!no tag", ""},
    {"v1.0.0", "skills/x", "^2", "!newest is v1.0.0", ""},
    {"v9.0.0 x-v1.0.0 y-v2.0.0", "skills/x", "*", "x-v1.0.0", "x-v1.0.0"},
    {"v9.0.0 x-v1.0.0", "skills/x", "^9", "!newest is x-v1.0.0", ""},
    {"x-v2.0.0 x@1.0.0 skills/x@0.1.0", "skills/x", "*", "skills/x@0.1.0",
     "skills/x@0.1.0"},
    {"v1.2.3 1.2.3", "skills/x", "*", "!v1.2.3 and 1.2.3 are one version", ""},
    {"v1.2.3=1 1.2.3=1", "skills/x", "*", "v1.2.3", "v1.2.3"},
    {"v1.2.3+a v1.2.3+b", "x", "*", "!are one version on two commits", ""},
    {"v1.2.3+b=1 v1.2.3+a=1", "x", "*", "v1.2.3+a", "v1.2.3+b"},
    {"x@v1.0.0 x@1.0.0", "x", "*", "x@1.0.0", "x@1.0.0"},
    {"1.2.3 v1.0.0", "skills/x", "*", "v1.0.0", "v1.0.0"},
};

/* "name", or "name=COMMIT" where it is that of another. */
static void put_tags(struct ref_list *l, struct str tags, struct arena *a)
{
    struct str one;

    ref_list_init(l, a);
    while (str_cut(&tags, ' ', &one)) {
        struct ref r = {.target = STR_INIT("")};
        struct err e = {0};
        struct str name = one;

        if (one.n == 0)
            continue;
        str_cut(&one, '=', &name);
        r.name = str_join(STR("refs/tags/"), name, a);
        r.id.b[0] = 0xff;
        r.peeled.b[0] =
            one.p ? (uint8_t)(one.p[0] - '0') : (uint8_t)(100 + l->count);
        CHECK(ref_list_put(l, &r, &e));
    }
}

TEST(ranges_choose_the_highest_version) /* [D6] */
{
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct arena a = {0};
        struct ref_list l;
        struct range_set ranges;
        struct ref_choice c = {.name = STR_INIT("")};
        struct str newest = {"", 0};
        struct err e = {0};
        const char *choice = versions[i].choice;
        bool ok;

        put_tags(&l, str_cstr(versions[i].tags), &a);
        CHECK(range_set_parse(str_cstr(versions[i].ranges), &a, &ranges, &e));
        ok = refs_choose_version(&l, str_cstr(versions[i].path), &ranges, &c,
                                 &newest, &e);
        CHECK(ok == (choice[0] != '!'));
        if (!ok) {
            CHECK(e.code == ERR_REF && (strstr(err_first(&e), choice + 1) ||
                                        strstr(e.hint, choice + 1)));
        } else {
            CHECK_STR(str_dup0(str_from_index(c.name, 10), &a), choice);
            CHECK_STR(str_dup0(newest, &a), versions[i].newest);
            CHECK(c.commit.b[0] == refs_tag_commit(&l, str_cstr(choice)).b[0]);
        }
        arena_done(&a);
    }
}

TEST(ranges_ask_for_tags_alone) /* [D6] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str out[REFS_MAX_PREFIXES];

    CHECK(refs_version_prefixes(STR("skills/x"), &a, out) == REFS_MAX_PREFIXES);
    CHECK(str_is(out[0], "refs/tags/v") && str_is(out[1], "refs/tags/0"));
    CHECK(str_is(out[11], "refs/tags/skills/x"));
    CHECK(str_is(out[12], "refs/tags/x"));
    CHECK(refs_version_prefixes(STR("x"), &a, out) == 12);
    CHECK(refs_version_prefixes(STR(""), &a, out) == 11);
}
