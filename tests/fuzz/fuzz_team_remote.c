/* URLs of stores: what is accepted is canonical, and has no character that a
 * request line or a header could take for more. [S1] */

#include "mapm/team_remote.h"

#include <string.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || strchr("\"\\<>`{}|^", s.p[i]))
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str text = str_make((const char *)data, size);

    for (int i = TEAM_FROM_CONFIG; i <= TEAM_FROM_WORKSPACE; i++) {
        enum team_remote_source from = (enum team_remote_source)i;
        struct team_remote t = {0}, again;
        struct err e = {0};

        if (!team_remote_parse(text, from, &a, &t, &e)) {
            outcome_err(&e);
            continue;
        }
        outcome_str("url", t.url);
        outcome_str("base", t.base);
        check(t.url);
        if (t.host.n == 0 || t.url.n > size + 1 ||
            !team_remote_parse(t.url, from, &a, &again, &e) ||
            !str_eq(t.url, again.url) || !str_eq(t.base, again.base) ||
            t.is_plain != again.is_plain)
            __builtin_trap();
    }
    arena_done(&a);
    return 0;
}
