#include "../../resolver/graph.h"
#include "tap.h"

/* How the resolver reports packages that cannot be read, and their causes. */

static struct arena arena;

/* Returns one line per message, outermost first, with the role of the message:
 * i ERR_ITEM, c ERR_ITEM_CAUSE, p ERR_ITEM_PART, - ERR_CAUSE. */
static const char *lines(const struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    const char *message = NULL;

    buf_init(&b, 64 * 1024);
    while ((message = err_prev(e, message)))
        buf_printf(&b, "%c %s\n", "-icp"[err_role(message)], message);
    return str_dup0(buf_str(&b), &arena);
}

TEST(the_cause_does_not_repeat_the_package) /* [M26] */
{
    static const struct {
        const char *origin, *outer, *want;
    } rows[] = {
        {"https://h/a", NULL, "i skill https://h/a\nc bad\n"},
        {"https://h/a", "https://h/a", "i skill https://h/a\nc bad\n"},
        {"https://h/a", "https://h/a is refused",
         "i skill https://h/a\nc bad\n"},
        {"https://h/a", "https://h/a: line 3",
         "i skill https://h/a\nc line 3\nc bad\n"},
        {"https://h/a", "https://h/ab",
         "i skill https://h/a\nc https://h/ab\nc bad\n"},
        {"https://h/a", "line 3", "i skill https://h/a\nc line 3\nc bad\n"},
        {"file:../a", "../a: line 3", "i skill file:../a\nc line 3\nc bad\n"},
        {"", "line 3", "i skill \nc line 3\nc bad\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = {0}, why = {0};
        struct report r = {.e = &e};
        struct origin o = {.text = str_cstr(rows[i].origin)};

        err_set(&why, ERR_FORMAT, "bad");
        if (rows[i].outer)
            err_wrap(&why, "%s", rows[i].outer);
        report_unread(&r, &o, DOC_SKILL, NULL, &why);
        report_end(&r);
        CHECK_STR(lines(&e), rows[i].want);
        CHECK(e.code == ERR_FORMAT);
    }
    arena_done(&arena);
}

TEST(a_cause_that_is_only_the_name_stays) /* [M26] */
{
    struct err e = {0}, why = {0};
    struct report r = {.e = &e};
    struct origin o = {.text = STR("https://h/a")};

    err_set(&why, ERR_FORMAT, "https://h/a");
    report_unread(&r, &o, DOC_AGENT, NULL, &why);
    report_end(&r);
    CHECK_STR(lines(&e), "i agent https://h/a\nc https://h/a\n");
    arena_done(&arena);
}

/* Several errors of a file are reported as parts, and a cause shared by several
 * packages is reported once. */
TEST(packages_share_a_cause_of_several_parts) /* [M26] */
{
    struct err e = {0}, why = {0};
    struct report r = {.e = &e};
    struct origin a = {.text = STR("https://h/a")};
    struct origin b = {.text = STR("https://h/b")};

    err_also(&why, "first");
    err_also(&why, "second");
    why.code = ERR_FORMAT;
    report_unread(&r, &a, DOC_SKILL, NULL, &why);
    report_unread(&r, &b, DOC_SKILL, NULL, &why);
    report_end(&r);
    CHECK_STR(lines(&e), "i skill https://h/a\ni skill https://h/b\n"
                         "p first\np second\n");
    CHECK(r.problems == 2);
    arena_done(&arena);
}
