/*
 * runtime/input: any text and any pairs give an object on one line, or an
 * error. [K20, row 5, row 17, row 30].
 *
 * Input: the text, then pairs, each behind a line with "%%" alone.
 */

#include "base/text.h"
#include "mapm/input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAIRS_MAX 16

static void check(struct str out, struct arena *a)
{
    static const struct json_options options = {.max_depth =
                                                    INPUT_MAX_DEPTH + 1};
    const struct json *j;
    struct err e = {0};

    if (out.n > INPUT_MAX_BYTES || str_has_char(out, '\n') ||
        !text_is_utf8(out) || !json_parse(out, &options, a, &j, NULL, &e) ||
        j->kind != JSON_OBJECT)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str rest = str_make((const char *)data, size), text, out;
    struct str pairs[PAIRS_MAX];
    size_t count = 0, cut;
    struct err e = {0};
    bool given;

    cut = str_find(rest, STR("\n%%\n"));
    text = str_slice(rest, 0, cut);
    while (cut != SIZE_MAX && count < PAIRS_MAX) {
        rest = str_from_index(rest, cut + 4);
        cut = str_find(rest, STR("\n%%\n"));
        pairs[count++] = str_slice(rest, 0, cut);
    }
    if (input_read(text, pairs, count, &a, &out, &given, &e))
        check(out, &a);
    return 0;
}
