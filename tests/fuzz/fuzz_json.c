/* base/json: what parses is written, compact and indented, and reads back the
 * same; a strict text is also good with comments allowed. [row 5]. */
#include "base/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str write_tree(const struct json *j, unsigned indent,
                             struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    buf_init(&b, SIZE_MAX / 2);
    json_writer_init(&w, &b, indent);
    json_value(&w, j);
    return arena_str(a, buf_str(&b));
}

static void check(struct str text, bool comments)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct json_options o = {
        .max_depth = 64, .comments = comments, .trailing_commas = comments};
    const struct json *j, *again;
    struct str compact, indented;
    struct err e = {0};

    if (!json_parse(text, &o, &a, &j, NULL, &e)) {
        if (e.code != ERR_FORMAT && e.code != ERR_LIMIT)
            abort();
        return;
    }
    if (j->start > j->end || j->end > text.n)
        abort();
    compact = write_tree(j, 0, &a);
    indented = write_tree(j, 2, &a);
    o.comments = o.trailing_commas = false;
    if (!json_parse(indented, &o, &a, &again, NULL, &e) ||
        !str_eq(write_tree(again, 0, &a), compact))
        abort();
    if (!json_parse(compact, &o, &a, &again, NULL, &e) ||
        !str_eq(write_tree(again, 2, &a), indented))
        abort();
    o.comments = o.trailing_commas = true;
    if (!comments && !json_parse(text, &o, &a, &again, NULL, &e))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make((const char *)data, size);

    if (size >= 1 << 20)
        return 0;
    check(text, false);
    check(text, true);
    return 0;
}
