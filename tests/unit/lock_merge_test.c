/* mapm.lock in conflict: what each side changed, by the markers alone. [D13]. */
#include "mapm/lock_merge.h"

#include "tap.h"

static struct arena arena;

#define C1 "1111111111111111111111111111111111111111"
#define C2 "2222222222222222222222222222222222222222"
#define C3 "3333333333333333333333333333333333333333"
#define D                                                                      \
    "sha256:0000000000000000000000000000000000000000000000000000000000000000"
#define HEAD "version: 1\npackages:\n"
#define SKILL_AT(name, origin, commit, place)                                  \
    "  - type: skill\n    name: " name "\n"                                    \
    "    origin: https://github.com/acme/x/tree/main/" origin "\n"             \
    "    commit: " commit "\n    tree: " commit "\n    digest: " D "\n"        \
    "    path: .agents/skills/" place "\n"
#define SKILL(name, commit) SKILL_AT(name, name, commit, name)
#define OURS                "<<<<<<< HEAD\n"
#define BASE                "||||||| 1234567\n"
#define MID                 "=======\n"
#define END                 ">>>>>>> theirs\n"

/* clang-format off */
static const struct {
    const char *text, *pairs; /* "a=ours b=theirs c=both"; or the message */
} rows[] = {
    {HEAD OURS SKILL("a", C1) MID SKILL("b", C1) END, "a=ours b=theirs"},
    {HEAD SKILL("a", C1) OURS MID SKILL("b", C1) END SKILL("c", C1), "a=ours c=ours b=theirs"},
    {HEAD OURS SKILL("a", C1) MID SKILL("a", C2) END, "a=both"},
    {HEAD OURS SKILL("a", C1) BASE SKILL("a", C1) MID SKILL("a", C2) END, "a=theirs"},
    {HEAD OURS SKILL("a", C2) BASE SKILL("a", C1) MID SKILL("a", C1) END, "a=ours"},
    {HEAD OURS SKILL("a", C2) BASE SKILL("a", C1) MID SKILL("a", C3) END, "a=both"},
    {HEAD OURS SKILL("a", C2) BASE MID SKILL("a", C3) END, "a=both"},
    {HEAD OURS SKILL("a", C1) BASE SKILL("a", C1) MID SKILL("a", C2) END
     OURS SKILL("b", C1) MID SKILL("b", C2) END, "a=both b=both"}, /* one has no base */
    {HEAD OURS SKILL("a", C1) BASE "<<<<<<<<< x\n" SKILL("a", C3) "=========\n" SKILL("a", C1) ">>>>>>>>> y\n"
     MID SKILL("a", C2) END, "a=both"}, /* a base that was merged itself */
    {HEAD OURS SKILL("a", C1) BASE "    digest: cut\n" MID SKILL("a", C2) END, "a=both"},
    {HEAD OURS SKILL_AT("a", "x", C1, "a") MID SKILL_AT("b", "x", C1, "b") END, "a=both"}, /* renamed */
    {HEAD OURS SKILL("a", C1) "    needs: [skill b]\n" MID SKILL("a", C1) END, "a=ours"},
    {OURS "version: 1\n" MID "version: 2\n" END "packages:\n" SKILL("a", C1), "a=ours"},
    {OURS "version: 1\npackages: []\n" MID HEAD SKILL("a", C1) END, "a=theirs"},
    {HEAD SKILL("a", C1), "a=ours"},
    {HEAD OURS SKILL("a", C1), "l:3: a merge conflict with markers out of place"},
    {HEAD OURS OURS SKILL("a", C1) MID END, "l:4: a merge conflict with markers out of place"},
    {HEAD SKILL("a", C1) END, "l:10: a merge conflict with markers out of place"},
    {HEAD MID SKILL("a", C1) END, "l:3: a merge conflict with markers out of place"},
    {HEAD OURS SKILL("a", C1) MID MID END, "l:12: a merge conflict with markers out of place"},
    /* what git joined without a conflict: any order, and equal blocks are one */
    {HEAD OURS SKILL("b", C1) SKILL("a", C1) MID SKILL("a", C1) END, "b=ours a=ours"},
    {HEAD SKILL("a", C1) SKILL("a", C1), "a=ours"},
    {HEAD SKILL("a", C1) SKILL("b", C1) SKILL("a", C2), "a=both b=ours"},
    {HEAD SKILL("a", C1) SKILL("a", C1) SKILL("a", C2) SKILL("a", C1), "a=both"},
    {HEAD SKILL("a", C1) SKILL("a", C2) SKILL("a", C3), "l: skill a is given with three contents"},
    {HEAD OURS SKILL("a", C1) SKILL("a", C2) SKILL("a", C3) MID SKILL("b", C1) END, "l: skill a is given with three contents"},
    {HEAD OURS SKILL("a", C1) SKILL("a", C2) MID SKILL("a", C2) END, "a=both"},
    {HEAD OURS SKILL("a", C1) SKILL("a", C2) BASE SKILL("a", C1) MID SKILL("a", C2) END, "a=theirs"},
    {HEAD OURS SKILL("a", C1) SKILL("a", C2) MID SKILL("a", C3) END, "l: skill a is given with three contents"},
    {HEAD SKILL("a", C1) SKILL("a", C2) OURS SKILL("b", C1) BASE MID SKILL("c", C1) END, "a=both b=ours c=theirs"},
    {HEAD OURS SKILL("b", C1) MID SKILL("a", C1) SKILL("a", C1) END, "b=ours a=theirs"},
    {HEAD OURS SKILL("b", C1) MID SKILL("a", C1) SKILL("a", C2) END, "b=ours a=both"},
    {HEAD OURS SKILL_AT("a", "x", C1, "a") MID SKILL_AT("b", "x", C1, "b") SKILL_AT("a", "y", C1, "a") END,
     "a=both b=theirs"}, /* not renamed: the name is there */
    {HEAD OURS SKILL_AT("a", "x", C1, "a") MID SKILL_AT("b", "x", C1, "b") SKILL_AT("b", "x", C2, "b") END,
     "l: skill b is given with three contents"},
    {HEAD OURS SKILL("a", C1) MID "x\n" END, "l (theirs):3: expected \"  - type: agent, mcp, plugin or skill\", not \"x\""},
};
/* clang-format on */

static const char *shown(const struct lock_merge *m)
{
    static const char *const sides[] = {"ours", "theirs", "both"};
    struct str out = STR("");

    for (size_t i = 0; i < m->count; i++) {
        const struct lock_pair *p = &m->pairs[i];

        out = arena_printf(&arena, "%.*s%s%.*s=%s", STR_ARG(out), i ? " " : "",
                           STR_ARG((p->ours ? p->ours : p->theirs)->name),
                           sides[p->side]);
    }
    return str_dup0(out, &arena);
}

TEST(sides_are_read_from_markers)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lock_merge m = {0};
        struct err e = {0};
        bool ok = lock_merge_read(str_cstr(rows[i].text), "l", &arena, &m, &e);

        CHECK_STR(ok ? shown(&m) : err_first(&e), rows[i].pairs);
        CHECK(ok || e.hint[0]);
        CHECK(!ok || lock_has_conflict(str_cstr(rows[i].text)) ||
              lock_is_joined(str_cstr(rows[i].text)));
    }
    arena_done(&arena);
}

TEST(a_marker_is_a_whole_line)
{
    CHECK(lock_has_conflict(STR("a\n<<<<<<< HEAD\nb\n")));
    CHECK(lock_has_conflict(STR("<<<<<<<\r\n")));
    CHECK(!lock_has_conflict(STR("a\n <<<<<<< HEAD\n")));
    CHECK(!lock_has_conflict(STR("<<<<<<<< HEAD\n")));
    CHECK(!lock_has_conflict(STR("")));
}

TEST(the_result_is_sorted_and_has_one_package_a_place)
{
    struct lock_merge m = {0};
    struct lock lock;
    struct err e = {0};

    CHECK(lock_merge_read(
        STR(HEAD OURS SKILL_AT("b", "b", C1, "same") MID SKILL_AT(
            "a", "a", C1, "same") "    needs: [skill b]\n" END),
        "l", &arena, &m, &e));
    lock_merge_take(&m, &arena, &lock);
    CHECK(lock.count == 2);
    CHECK(str_is(lock.entries[0].name, "a") && !lock.entries[0].place.n);
    CHECK(lock.entries[0].need_count == 0);
    CHECK(str_is(lock.entries[1].place, ".agents/skills/same"));
    arena_done(&arena);
}
