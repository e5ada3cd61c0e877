/* The end of a pack of the store: what is read leads nowhere outside of the
 * file, is found again, and is written again byte for byte. DESIGN 4. */
#include <stdlib.h>

#include "../../store/object_pack.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct pack_index *p, uint64_t bytes)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf again = {0};
    struct pack_row *rows = arena_array(&a, p->count, sizeof *rows);

    for (size_t i = 0; i < p->count; i++) {
        /* Any order will do: it is sorted. */
        struct pack_row row = rows[p->count - 1 - i] = pack_row(p, i);

        if (row.size >= PACK_OBJECT_MAX_BYTES || row.offset > bytes ||
            row.size > bytes - row.offset || pack_find(p, &row.hash) != i)
            abort();
        OUTCOME("%llu %llu\n", (unsigned long long)row.offset,
                (unsigned long long)row.size);
    }
    buf_init(&again, SIZE_MAX / 2);
    pack_format(rows, p->count, &again);
    if (!str_eq(str_slice(buf_str(&again), 0, again.n - PACK_END_BYTES),
                p->rows))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str file = str_make((const char *)data, size);
    struct pack_index p;
    size_t n;

    if (size < PACK_END_BYTES ||
        pack_parse_end(str_from_index(file, size - PACK_END_BYTES), size, &n) !=
            PACK_GOOD)
        return 0;
    if (n > size - PACK_END_BYTES)
        abort();
    size -= PACK_END_BYTES + n;
    if (pack_parse_rows(str_slice(file, size, size + n), size, &p))
        check_rows(&p, size);
    return 0;
}
