/* Addresses of ssh: what is accepted has no character that ssh, or the shell of a
 * ProxyCommand, could take for more, and is accepted again. [H2, row 49] */

#include "../../fetch/ssh_address.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str s, bool may_be_empty)
{
    static const char bad[] = "'\"\\!`$&;|<>(){}*?%#\n\r\t";

    if ((s.n == 0 && !may_be_empty) || (s.n && s.p[0] == '-'))
        __builtin_trap();
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < ' ' || s.p[i] > '~' || strchr(bad, s.p[i]))
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct ssh_address s = {0}, again;
    struct err e = {0};

    if (ssh_address_parse(text, &a, &s, &e)) {
        struct str url = arena_printf(
            &a, "ssh://%.*s/%.*s", STR_ARG(ssh_address_place(&s, &a)),
            STR_ARG(s.path.p[0] == '/' ? str_from_index(s.path, 1) : s.path));

        outcome_str("url", url);
        check(s.user, true);
        check(s.host, false);
        check(s.path, false);
        if (!ssh_address_is_meant(text) || str_has_char(s.host, ' ') ||
            !ssh_address_parse(url, &a, &again, &e) ||
            !str_eq(s.host, again.host) || s.port != again.port)
            __builtin_trap();
    } else {
        outcome_err(&e);
    }
    arena_done(&a);
    return 0;
}
