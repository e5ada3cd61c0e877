/* marketplace.json: what is offered lies in a repository, by a path that stays
 * there and a commit that is one. [G11, row 5, row 31, row 33, row 43] */
#include "base/fs.h"
#include "base/text.h"
#include "mapm/plugin_market.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct market *m, const struct market_entry *x,
                  struct arena *a)
{
    bool renamed;

    if (!x->name.n || text_has_control(x->name) ||
        text_has_control(x->description))
        abort();
    if (x->source == MARKET_NONE ? !x->why : x->why != NULL)
        abort();
    if (x->source != MARKET_NONE && x->path.n &&
        !fs_path_is_relative_clean(x->path))
        abort();
    if (x->source == MARKET_GIT &&
        ((!str_starts(x->repository, STR("https://")) &&
          !str_starts(x->repository, STR("git+https://")) &&
          !str_starts(x->repository, STR("ssh://git@")) &&
          !str_starts(x->repository, STR("git@"))) ||
         (x->sha.n && x->sha.n != 40)))
        abort();
    if (market_find(m, x->name, &renamed) != x || renamed)
        abort();
    if (!market_entry_text(m, x, a).n)
        abort();
    outcome_str("entry", market_entry_text(m, x, a));
    OUTCOME("%s\n", x->why ? x->why : "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct market m;
    struct err e = {0};

    if (!market_read(str_make((const char *)data, size),
                     STR(".claude-plugin/marketplace.json"), &a, &m, &e)) {
        outcome_err(&e);
        if (e.code != ERR_FORMAT && e.code != ERR_LIMIT)
            abort();
        return 0;
    }
    for (size_t i = 0; i < m.count; i++)
        check(&m, &m.entries[i], &a);
    return 0;
}
