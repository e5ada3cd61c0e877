/* The index of a host: what it offers has a kebab name, once, and an address
 * that mapm may be asked to show. [G6, row 43, row 44] */
#include "base/text.h"
#include "mapm/name.h"

#include <stdlib.h>

#include "../../discover/entry.h"
#include "outcome.h"

#define INDEX_URL "https://example.com/.well-known/agent-skills/index.json"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct search_entry *n)
{
    struct entry_data d;

    entry_data_read(n->data, &d);
    outcome_str("name", n->name);
    outcome_str("origin", d.origin);
    if (!name_is_kebab(n->name) || !n->description.n ||
        text_count(n->description) > 1024 || !str_is(d.kind, "skill"))
        abort();
    if (!str_starts(d.origin, STR("https://")) &&
        !str_starts(d.origin, STR("http://")))
        abort();
    if (text_has_control(d.origin) || str_has_char(d.origin, ' '))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct offered list = {.a = &a};
    struct err e = {0};

    if (!offered_add_index(&list, str_make((const char *)data, size),
                           STR(INDEX_URL), STR(INDEX_URL), &e)) {
        outcome_err(&e);
        if (e.code != ERR_FORMAT && e.code != ERR_LIMIT)
            abort();
        return 0;
    }
    offered_deduplicate(&list);
    for (size_t i = 0; i < list.count; i++) {
        check(&list.items[i]);
        if (i && str_cmp(list.items[i - 1].name, list.items[i].name) >= 0)
            abort();
    }
    return 0;
}
