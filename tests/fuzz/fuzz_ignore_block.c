/* install/ignore_block: patterns of any file stay, and without lines the text is
 * as it was. [row 5, H7]. */
#include <stdint.h>
#include <stdlib.h>

#include "../../install/ignore_block.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIRST STR("# mapm: x")
#define LINES STR("/a\n/b\n")

static size_t count_blocks(struct str text)
{
    struct str line;
    size_t n = 0;

    while (str_line(&text, &line))
        n += str_eq(str_trim(line), FIRST);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str text = {(const char *)data, size}, out, again, back;
    struct err e = {0};

    if (size > 1u << 20)
        return 0;
    if (ignore_block_set(text, FIRST, LINES, &a, &out, &e)) {
        if (!ignore_block_set(out, FIRST, LINES, &a, &again, &e) ||
            (count_blocks(text) <= 1 && !str_eq(again, out)) ||
            !ignore_block_set(out, FIRST, STR(""), &a, &back, &e))
            abort();
        outcome_str("", out);
        if (!count_blocks(text) &&
            (!str_starts(back, text) || back.n > text.n + 1))
            abort();
    }
    arena_done(&a);
    return 0;
}
