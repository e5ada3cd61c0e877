
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "mapm/name.h"

#include <time.h>

#include "shelf_case.h"

/* The cache of a root between two commands: used if size, inode and time of a
 * SKILL.md are unchanged, and validated like untrusted input. [L9, row 26]. */

#define WORD_BEFORE "from the disk"
#define WORD_AFTER  "from the memo"

static struct shelves s; /* opened by the first test, used by the others */

/* Writes a description into the cached bytes only, to detect whether they are
 * used. */
static bool forge(struct str bytes)
{
    char *p = memmem(bytes.p, bytes.n, WORD_BEFORE, strlen(WORD_BEFORE));

    if (!p)
        return false;
    memcpy(p, WORD_AFTER, strlen(WORD_AFTER));
    return true;
}

static const char *open_again(void)
{
    struct err e = {0};
    const struct library_skill *k;

    if (!shelves_open(&s, &e))
        return err_first(&e);
    k = library_find(s.l, STR("a"));
    return k ? text_of(&s, k->description) : "none";
}

TEST(what_was_just_changed_is_read_again)
{
    put("root/a/SKILL.md", SKILL("a", WORD_BEFORE));
    put("root/b/SKILL.md", SKILL("b", "d"));
    put("root/bad/SKILL.md", "no skill\n");
    open_both(&s, false, "root", NULL);
    CHECK(s.puts == 1);
    CHECK(forge(s.cache));
    CHECK_STR(open_again(), WORD_BEFORE);
    CHECK(s.puts == 2);
}

TEST(what_is_as_it_was_is_not_read)
{
    struct timespec wait = {2, 200000000}; /* until no file is young */

    nanosleep(&wait, NULL);
    CHECK_STR(open_again(), WORD_BEFORE); /* as written last */
    CHECK(s.puts == 3);
    CHECK(forge(s.cache));
    CHECK_STR(open_again(), WORD_AFTER);
    CHECK(s.puts == 3); /* nothing new to cache */
    CHECK(notes_have(&s,
                     "skipping invalid skill at ")); /* reported again: [T10] */
    CHECK_STR(names_of(&s), "a b");
}

TEST(the_cache_is_of_one_profile)
{
    s.o.metis = true;
    CHECK_STR(open_again(), WORD_BEFORE);
    s.o.metis = false;
    CHECK_STR(open_again(), WORD_BEFORE);
    CHECK(s.puts == 5);
}

/* [T31] A cached result depends on the allowed link roots. */
TEST(the_cache_is_of_one_bound)
{
    CHECK(forge(s.cache));
    CHECK_STR(open_again(), WORD_AFTER);
    bound_roots(&s, "root/b");
    CHECK_STR(open_again(), WORD_BEFORE);
    s.roots[0].allowed_link_root = STR("");
    CHECK_STR(open_again(), WORD_BEFORE);
    CHECK(s.puts == 7);
}

/* [T31] Device numbers may change at a boot; a folder with an unchanged
 * SKILL.md is the same one. */
TEST(a_device_may_get_another_number)
{
    struct library_file *files;
    struct err e = {0};
    struct stat st;
    size_t count;
    char *p;

    CHECK(fstatat(shelf_fd, "root/b", &st, 0) == 0);
    p = memmem(s.cache.p, s.cache.n, &(uint64_t[]){st.st_dev, st.st_ino}, 16);
    if (!p)
        abort();
    memcpy(p, &(uint64_t){st.st_dev + 1}, 8);
    open_again();
    CHECK(s.puts == 7); /* used unchanged */
    CHECK(library_files(s.l, STR("b"), &s.a, &files, &count, &e));
    CHECK(fchmodat(shelf_fd, "root/b/SKILL.md", 0600, 0) == 0);
    CHECK(!library_files(s.l, STR("b"), &s.a, &files, &count, &e));
    CHECK(e.code == ERR_STALE);
    open_again();
    CHECK(library_files(s.l, STR("b"), &s.a, &files, &count, &e));
}

TEST(without_a_look_at_programs_they_are_as_they_were)
{
    CHECK(forge(s.cache));
    s.o.programs = false;
    put("root/a/SKILL.star", "x = 1\n");
    CHECK_STR(open_again(), WORD_AFTER);
    CHECK(!library_find(s.l, STR("a"))->metaskill);
    s.o.programs = true;
    CHECK_STR(open_again(), WORD_BEFORE);
    CHECK(library_find(s.l, STR("a"))->metaskill);
    s.o.programs = false;
    CHECK_STR(open_again(), WORD_BEFORE);
    CHECK(library_find(s.l, STR("a"))->metaskill);
    s.o.programs = true;
    drop("root/a/SKILL.star");
}

TEST(a_change_of_any_kind_is_seen)
{
    CHECK_STR(open_again(), WORD_BEFORE);
    CHECK(forge(s.cache));
    put("root/a/SKILL.md", SKILL("a", "FROM THE DISK")); /* as long */
    CHECK_STR(open_again(), "FROM THE DISK");
    put("root/c/SKILL.md", SKILL("c", "d"));
    open_again();
    CHECK_STR(names_of(&s), "a b c");
    drop("root/b");
    open_again();
    CHECK_STR(names_of(&s), "a c");
    drop("root/c/SKILL.md");
    open_again();
    CHECK_STR(names_of(&s), "a");
}

/* Changes each byte and tries each length: the library is complete, or the
 * bytes were not used. */
TEST(bytes_from_anybody) /* [row 26] */
{
    struct str good;
    struct err e = {0};
    char *copy;

    open_again();
    good = arena_str(&s.a, s.cache);
    copy = arena_text(&s.a, good.p, good.n);
    for (size_t i = 0; i < good.n; i++) {
        for (int way = 0; way < 3; way++) {
            copy[i] = (char)(way == 2 ? 0 : good.p[i] ^ (way ? 0x80 : 1));
            s.cache = str_make(copy, good.n);
            CHECK(shelves_open(&s, &e));
            CHECK(library_count(s.l) <= 2);
            for (size_t k = 0; k < library_count(s.l); k++) {
                CHECK(name_is_kebab(library_at(s.l, k)->name));
                CHECK(library_at(s.l, k)->description.n > 0);
                CHECK(text_is_utf8(library_at(s.l, k)->description));
                CHECK(!str_has_char(library_at(s.l, k)->description, '\0'));
            }
            copy[i] = good.p[i];
        }
    }
    for (size_t n = 0; n < good.n; n++) {
        s.cache = str_make(good.p, n);
        CHECK_STR(open_again(), "FROM THE DISK");
    }
    s.cache = str_join(good, STR("x"), &s.a);
    CHECK_STR(open_again(), "FROM THE DISK");
    shelves_done(&s);
}

/* --- at a glance [G3, T27] --------------------------------------------------- */

#define MANY 256

static void put_one_of(const char *root, int i, const char *description)
{
    char path[64], text[200];

    snprintf(path, sizeof path, "%s/s-%04d/SKILL.md", root, i);
    snprintf(text, sizeof text, SKILL("s-%04d", "%s"), i, description);
    put(path, text);
}

static bool is_old(const char *path)
{
    struct stat st;

    return fstatat(shelf_fd, path, &st, 0) == 0 &&
           st.st_ctim.tv_sec + 2 < time(NULL);
}

static const char *first_at_a_glance(struct shelves *many, struct str cache)
{
    struct err e = {0};

    many->cache = cache;
    many->o.glance = true;
    if (!shelves_open(many, &e))
        return err_first(&e);
    return text_of(many, library_at(many->l, 0)->description);
}

static const char *first_settled(struct shelves *many)
{
    struct err e = {0};
    bool changed;

    if (!library_verify(many->l, &changed, &e))
        return err_first(&e);
    return changed ? text_of(many, library_at(many->l, 0)->description)
                   : "as it was";
}

/* The cache of a root lists its folders, but not those of its groups [K14]. */
TEST(a_root_that_did_not_change_is_not_listed) /* [G3, T27] */
{
    struct shelves many, groups;
    struct str cache;

    for (int i = 0; i < MANY; i++) {
        put_one_of("glance", i, "before");
        put_one_of("groups", i, "before");
    }
    put("groups/group/z/SKILL.md", SKILL("z", "d"));
    open_both(&many, false, "glance", NULL);
    open_both(&groups, false, "groups", NULL);
    put_one_of("glance", 0, "at once");
    CHECK_STR(first_at_a_glance(&many, many.cache), "at once"); /* young */
    CHECK_STR(first_settled(&many), "as it was");
    put_one_of("glance", 0, "before");
    AWAIT(is_old("groups") && is_old("glance/s-0000/SKILL.md"));
    CHECK_STR(first_at_a_glance(&groups, groups.cache), "before");
    CHECK_STR(first_at_a_glance(&many, many.cache), "before");
    cache = arena_str(&many.a, many.cache);
    CHECK_STR(first_at_a_glance(&many, cache), "before");
    CHECK_STR(first_settled(&many), "as it was");

    put_one_of("glance", 0, "after");
    CHECK_STR(first_at_a_glance(&many, cache), "before");
    CHECK_STR(first_settled(&many), "after");
    CHECK_STR(first_settled(&many), "as it was");
    drop("glance/s-0000/SKILL.md");
    CHECK_STR(first_at_a_glance(&many, cache), "before");
    CHECK(library_count(many.l) == MANY);
    CHECK_STR(first_settled(&many), "before");
    CHECK(library_count(many.l) == MANY - 1);
    put_one_of("glance", MANY, "d"); /* seen in the root */
    first_at_a_glance(&many, cache);
    CHECK(library_count(many.l) == MANY);
    put_one_of("groups", 0, "after");
    CHECK_STR(first_at_a_glance(&groups, groups.cache), "after");
    shelves_done(&many);
    shelves_done(&groups);
}

TEST(many_skills_are_read_by_several_threads)
{
    struct shelves many;

    for (int i = 0; i < 1500; i++) {
        char path[64], text[200];

        snprintf(path, sizeof path, "many/s-%04d/SKILL.md", i);
        snprintf(text, sizeof text,
                 "---\nname: s-%04d\ndescription: d%d\n---\n", i, i);
        put(path, i == 700 ? "bad\n" : text);
    }
    open_both(&many, false, "many", NULL);
    for (int again = 0; again < 2; again++) {
        struct err e = {0};

        CHECK(library_count(many.l) == 1499);
        CHECK(!library_find(many.l, STR("s-0700")));
        CHECK_STR(
            text_of(&many, library_find(many.l, STR("s-1499"))->description),
            "d1499");
        CHECK(shelves_open(&many, &e));
    }
    shelves_done(&many);
}
