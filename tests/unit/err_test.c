#include "base/err.h"

#include <errno.h>

#include "tap.h"

TEST(failing_is_one_line)
{
    struct err e = {0};

    CHECK_STR(err_first(&e), "");
    CHECK(err_next(&e, NULL) == NULL && err_prev(&e, NULL) == NULL);
    CHECK(!err_set(&e, ERR_FETCH, "HTTP %d", 404));
    CHECK(e.code == ERR_FETCH);
    CHECK_STR(err_first(&e), "HTTP 404");
    CHECK(!err_hint(&e, "try %s", "again"));
    CHECK_STR(e.hint, "try again");
    CHECK(!err_set(&e, ERR_REF, "no ref"));
    CHECK_STR(e.hint, "");
    CHECK_STR(err_first(&e), "no ref");
    CHECK(err_next(&e, err_first(&e)) == NULL);
}

TEST(messages_go_from_the_innermost_outwards_and_back)
{
    struct err e = {0};
    const char *m;

    err_set(&e, ERR_REF, "HTTP 404");
    CHECK(!err_wrap(&e, "skills/%s", "outline"));
    CHECK(!err_wrap(&e, "cannot install"));
    CHECK(e.code == ERR_REF);
    CHECK_STR(m = err_next(&e, NULL), "HTTP 404");
    CHECK_STR(m = err_next(&e, m), "skills/outline");
    CHECK_STR(m = err_next(&e, m), "cannot install");
    CHECK(err_next(&e, m) == NULL);
    CHECK_STR(m = err_prev(&e, NULL), "cannot install");
    CHECK_STR(m = err_prev(&e, m), "skills/outline");
    CHECK_STR(m = err_prev(&e, m), "HTTP 404");
    CHECK(err_prev(&e, m) == NULL);

    CHECK(!err_also(&e, "inside"));
    CHECK_STR(err_first(&e), "inside");
    err_clear(&e);
    CHECK(e.code == ERR_NONE && err_prev(&e, NULL) == NULL);
    err_wrap(&e, "from nothing");
    CHECK(e.code == ERR_FAILED);
    err_clear(&e);
    err_also(&e, "from nothing");
    CHECK(e.code == ERR_FAILED);
}

/* [D18] a list says of each message what it is. */
TEST(members_of_a_list_are_no_causes)
{
    struct err e = {0}, other = {0};
    const char *m;

    e.code = ERR_CYCLE;
    err_also(&e, "first");
    err_because(&e, "its reason");
    err_also(&e, "second");
    err_part(&e, "a part");
    err_wrap(&e, "head");
    CHECK(e.code == ERR_CYCLE);
    CHECK_STR(m = err_prev(&e, NULL), "head");
    CHECK(err_role(m) == ERR_CAUSE);
    CHECK_STR(m = err_prev(&e, m), "first");
    CHECK(err_role(m) == ERR_ITEM);
    CHECK_STR(m = err_prev(&e, m), "its reason");
    CHECK(err_role(m) == ERR_ITEM_CAUSE);
    CHECK_STR(m = err_prev(&e, m), "second");
    CHECK(err_role(m) == ERR_ITEM);
    CHECK_STR(m = err_prev(&e, m), "a part");
    CHECK(err_role(m) == ERR_ITEM_PART);
    CHECK(err_prev(&e, m) == NULL);

    err_clear(&e);
    err_set(&other, ERR_REF, "inner");
    err_wrap(&other, "outer");
    err_hint(&other, "a hint");
    err_also_err(&e, &other);
    err_set(&other, ERR_PATH, "alone");
    err_also_err(&e, &other);
    CHECK(e.code == ERR_REF);
    CHECK_STR(e.hint, "a hint");
    CHECK_STR(m = err_prev(&e, NULL), "outer");
    CHECK(err_role(m) == ERR_ITEM);
    CHECK_STR(m = err_prev(&e, m), "inner");
    CHECK(err_role(m) == ERR_ITEM_CAUSE);
    CHECK_STR(m = err_prev(&e, m), "alone");
    CHECK(err_role(m) == ERR_ITEM);
}

TEST(an_empty_message_is_a_message)
{
    struct err e = {0};
    const char *m;

    err_set(&e, ERR_FAILED, "%s", "");
    err_wrap(&e, "outer");
    CHECK_STR(m = err_next(&e, NULL), "");
    CHECK_STR(m = err_next(&e, m), "outer");
    CHECK_STR(m = err_prev(&e, m), "");
    CHECK(err_prev(&e, m) == NULL);
}

TEST(errno_is_told_and_an_interruption_is_one)
{
    struct err e = {0};

    errno = ENOSPC;
    CHECK(!err_errno(&e, "write %s", "f"));
    CHECK(e.code == ERR_IO);
    CHECK_STR(err_first(&e), "write f: No space left on device");
    errno = EINTR;
    err_errno(&e, "read");
    CHECK(e.code == ERR_INTERRUPTED);
}

/* What does not fit is cut, visibly, at a whole character. */
TEST(long_messages_are_cut_with_an_ellipsis)
{
    static char big[ERR_TEXT_MAX_BYTES * 2];
    struct err e = {0};
    const char *first;
    size_t n, messages = 0;

    for (size_t i = 0; i + 2 < sizeof big; i += 2)
        memcpy(big + i, "\xc3\xa4", 2);
    err_set(&e, ERR_FORMAT, "%s", big);
    first = err_first(&e);
    n = strlen(first);
    CHECK(n < ERR_TEXT_MAX_BYTES && n > ERR_TEXT_MAX_BYTES - 8);
    CHECK_STR(first + n - 3, "\xe2\x80\xa6");
    CHECK(memcmp(first + n - 5, "\xc3\xa4", 2) == 0);
    err_wrap(&e, "outer"); /* no room left: the text stays sound */
    CHECK(e.used <= sizeof e.text && e.text[e.used - 1] == '\0');

    err_set(&e, ERR_FORMAT, "x");
    for (int i = 0; i < 1000; i++)
        (i & 1 ? err_wrap : err_also)(&e, "message %d of many", i);
    CHECK(e.used <= sizeof e.text && e.text[e.used - 1] == '\0');
    for (const char *m = NULL; (m = err_next(&e, m));)
        messages++;
    CHECK(messages > 200);
    for (const char *m = NULL; (m = err_prev(&e, m));)
        messages--;
    CHECK(messages == 0);

    err_hint(&e, "%s", big);
    CHECK(strlen(e.hint) == ERR_HINT_MAX_BYTES - 1);
}

/* [M34] programs rely on the names. */
TEST(codes_have_names)
{
    for (int i = ERR_NONE; i <= ERR_INTERRUPTED; i++) {
        const char *name = err_code_name((enum err_code)i);

        CHECK(name && name[0]);
        CHECK((int)err_code_find(name, strlen(name)) == i);
    }
    CHECK_STR(err_code_name(ERR_FRONTMATTER), "frontmatter-invalid");
    CHECK_STR(err_code_name(ERR_NAME), "name-invalid");
    CHECK_STR(err_code_name(ERR_ORIGIN), "origin-invalid");
    CHECK_STR(err_code_name(ERR_MCP), "mcp-invalid");
    CHECK_STR(err_code_name(ERR_CONFLICT), "origin-conflict");
    CHECK_STR(err_code_name((enum err_code)999), "failed");
    CHECK(err_code_find("tlsx", 3) == ERR_TLS);
    CHECK(err_code_find("tlsx", 4) == ERR_FAILED);
    CHECK(err_code_find("", 0) == ERR_FAILED);
}
