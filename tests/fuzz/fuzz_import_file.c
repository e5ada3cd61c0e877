/* The files of other package managers, by the first byte which one: what is read
 * can be shown and asked for, what is refused says where. [row 5, row 12, D14]. */
#include "base/text.h"
#include "mapm/import_file.h"
#include "mapm/limits.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct import_entry *x)
{
    const struct str all[] = {x->name, x->repository, x->path, x->ref};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        outcome_str("", all[i]);
    OUTCOME("%s\n", x->problem ? x->problem : "");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].n > ORIGIN_MAX_BYTES + 16 || text_has_control(all[i]) ||
            !text_is_utf8(all[i]))
            abort();
    if ((x->commit.n && x->commit.n != 40) || (x->tree.n && x->tree.n != 40) ||
        (x->hash.n && x->hash.n != 64) ||
        (!x->problem && !str_has_char(x->repository, '/')))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct import_list list = {0};
    struct err e = {0};

    if (!size)
        return 0;
    if (!import_file_read((enum import_format)(data[0] % IMPORT_FORMATS),
                          str_make((const char *)data + 1, size - 1), "f", &a,
                          &list, &e)) {
        outcome_err(&e);
        if (e.code != ERR_FORMAT && e.code != ERR_LIMIT)
            abort();
        return 0;
    }
    for (size_t i = 0; i < list.count; i++)
        check(&list.entries[i]);
    return 0;
}
