/*
 * base/json: edits in place of any text keep what is foreign.
 *
 * The input is four lines and the text: "put", "remove", with "c" behind it
 * when comments are allowed; a path, its names parted by "/"; the value.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#include <stdlib.h>

#include "json_check.h"

#define NAMES_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t cut_path(struct str line, struct str names[NAMES_MAX])
{
    size_t n = 0;

    while (n < NAMES_MAX && str_cut(&line, '/', &names[n]))
        n++;
    return n;
}

static void check(const struct json_edit_case *c)
{
    CLEANUP(arena_done) struct arena a = {0};

    if (json_edit_check(c, &a))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct json_options o = {.max_depth = 64};
    struct str text = str_make((const char *)data, size), op, path, value;
    struct str names[NAMES_MAX], out;
    struct json_edit_case c = {.options = &o, .path = names};
    struct err e = {0};

    if (size >= 1 << 20 || !str_cut(&text, '\n', &op) || !text.p ||
        !str_cut(&text, '\n', &path) || !text.p ||
        !str_cut(&text, '\n', &value) || !text.p)
        return 0;
    o.comments = o.trailing_commas = str_ends(op, STR("c"));
    c.before = text;
    c.depth = cut_path(path, names);
    if (str_starts(op, STR("put"))) {
        c.value = value;
        if (!json_edit_put(text, &o, names, c.depth, value, &a, &c.after, &e))
            return 0;
        check(&c);
        /* The same again changes nothing that a reader sees. */
        if (!json_edit_put(c.after, &o, names, c.depth, value, &a, &out, &e))
            abort();
        c.before = c.after;
        c.after = out;
        check(&c);
        c.before = c.after;
    }
    c.value = (struct str){NULL, 0};
    if (!json_edit_remove(c.before, &o, names, c.depth, &a, &c.after, &e))
        return 0;
    check(&c);
    return 0;
}
