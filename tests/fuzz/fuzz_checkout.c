/* .git/config and .git/index of a work tree: bounded, and what is read of them
 * are plain repositories. The first byte chooses. [D9, row 15]. */
#include "mapm/checkout.h"
#include "mapm/limits.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_remotes(struct str config, struct arena *a)
{
    size_t count;
    const struct str *urls = checkout_parse_remotes(config, a, &count);

    if (count > CHECKOUT_MAX_REMOTES)
        abort();
    for (size_t i = 0; i < count; i++) {
        struct str rest = urls[i], part;
        size_t parts = 0;

        outcome_str("remote", urls[i]);
        for (; str_cut(&rest, '/', &part); parts++)
            if (!part.n || str_is(part, "..") ||
                (parts && str_has_char(part, ':')) || str_has_char(part, '@'))
                abort();
        if (parts < 2)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text;

    if (size == 0)
        return 0;
    text = str_make((const char *)data + 1, size - 1);
    if (data[0] & 1)
        check_remotes(text, &a);
    else if (checkout_index_has(text, STR("a/mapm.local.yaml")) &&
             !str_starts(text, STR("DIRC")))
        abort();
    return 0;
}
