/* What an address and a list of refs make of each other. [X13, row 10]. The
 * first line is the address, the others are names of refs. */

#include <stdlib.h>

#include "../../fetch/worker/refs.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(struct ref_list *l, struct str rest)
{
    static struct err e;
    struct str line;
    uint8_t n = 0;

    while (str_line(&rest, &line)) {
        struct ref r = {.name = line, .target = line};

        r.id.b[0] = r.peeled.b[0] = n++;
        if (!ref_list_put(l, &r, &e))
            abort();
    }
}

static void check(struct str rest, const struct ref_list *l, struct arena *a)
{
    static struct err e;
    struct ref_choice choice;
    struct str prefix;
    struct oid id;
    bool is_commit;

    e = (struct err){0};
    if (refs_first(rest, a, &is_commit, &id, &prefix, &e) && prefix.n &&
        !ref_name_is_valid(prefix))
        abort();
    outcome_err(&e);
    e = (struct err){0};
    if (!refs_choose(l, rest, a, &choice, &e)) {
        outcome_err(&e);
        if (e.code != ERR_REF && e.code != ERR_ORIGIN)
            abort();
        return;
    }
    outcome_str("name", choice.name);
    outcome_str("path", choice.path);
    OUTCOME("%d %02x\n", choice.is_default, choice.commit.b[0]);
    if (choice.path.n > rest.n || str_find(choice.path, STR("%2F")) != SIZE_MAX)
        abort();
    if (choice.name.n && !choice.is_default && !ref_list_find(l, choice.name))
        abort();
}

/* The same address as a range and a path. [D6] */
static void check_version(struct str rest, const struct ref_list *l,
                          struct arena *a)
{
    static struct err e;
    struct range_set ranges;
    struct ref_choice choice;
    struct str range, newest, path = rest;

    e = (struct err){0};
    if (!str_cut(&path, '/', &range) || !range_set_parse(range, a, &ranges, &e))
        return;
    path = path.p ? path : str_make("", 0);
    if (!refs_choose_version(l, path, &ranges, &choice, &newest, &e)) {
        outcome_err(&e);
        if (e.code != ERR_REF || !e.hint[0])
            abort();
        return;
    }
    outcome_str("version", choice.name);
    outcome_str("newest", newest);
    if (!ref_list_find(l, choice.name) ||
        !ref_list_find(l, str_join(STR("refs/tags/"), newest, a)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str rest = str_make((const char *)data, size), first;
    struct ref_list l;

    ref_list_init(&l, &a);
    if (!str_line(&rest, &first))
        return 0;
    if (rest.p)
        fill(&l, rest);
    check(first, &l, &a);
    check_version(first, &l, &a);
    return 0;
}
