/* netrc: each call takes something off the text, and ends. FETCH 9. */

#include "../../fetch/worker/secrets.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str rest = str_make((const char *)data, size);
    struct netrc_entry n;
    size_t left = rest.n + 1;

    while (netrc_next(&rest, &a, &n)) {
        if (rest.n >= left)
            __builtin_trap();
        left = rest.n;
        outcome_str("machine", n.machine);
        outcome_str("login", n.login);
        outcome_str("password", n.password);
    }
    arena_done(&a);
    return 0;
}
