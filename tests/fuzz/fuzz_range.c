/* Ranges of versions, and the versions that they are compared with: the first
 * line is the range, the others are versions. [D6]. */

#include "mapm/range.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is allowed lies between the bounds, and an exact range has one. */
static void check(const struct range *r, const struct semver *v)
{
    OUTCOME("%d %d\n", range_allows(r, v), range_is_exact(r));
    if (!range_allows(r, v))
        return;
    for (size_t i = 0; i < r->count; i++) {
        int order = semver_cmp(v, &r->items[i].than);

        if ((r->items[i].how == COMPARE_LESS && order >= 0) ||
            (r->items[i].how == COMPARE_AT_LEAST && order < 0))
            abort();
    }
    if (range_is_exact(r) && semver_cmp(v, &r->items[0].than) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_make((const char *)data, size), line;
    struct semver last = {.pre = {"", 0}}, v;
    struct err e = {0};
    struct range r;

    if (!str_line(&rest, &line))
        return 0;
    (void)range_is_meant(line);
    if (!range_parse(line, &r, &e)) {
        outcome_err(&e);
        if (e.code != ERR_ORIGIN || !e.hint[0])
            abort();
        return 0;
    }
    if (r.count > RANGE_MAX_COMPARATORS || !range_is_meant(line))
        abort();
    while (str_line(&rest, &line)) {
        if (!semver_parse(line, &v))
            continue;
        check(&r, &v);
        if (semver_cmp(&v, &last) != -semver_cmp(&last, &v))
            abort();
        OUTCOME("%d\n", semver_cmp(&v, &last));
        last = v;
    }
    return 0;
}
