#ifndef PLUGIN_TEXT_H
#define PLUGIN_TEXT_H

#include "mapm/plugin.h"

#include <stdlib.h>

/* The files of a plugin as one text: "=== path" and its lines. */

struct plugin_text {
    struct str *paths, *texts;
    size_t count;
};

static inline int plugin_text_order(const void *x, const void *y)
{
    const struct str *one = x, *two = y;

    return str_cmp(one[0], two[0]);
}

static inline void plugin_text_read(struct str text, struct arena *a,
                                    struct plugin_text *out)
{
    struct str(*pairs)[2] = NULL, line;
    size_t capacity = 0, n = 0, end;

    while (text.n && str_line(&text, &line)) {
        if (!str_starts(line, STR("=== ")))
            continue;
        pairs = arena_grow(a, pairs, n, &capacity, sizeof *pairs);
        pairs[n][0] = str_from_index(line, 4);
        end = str_find(text, STR("\n=== "));
        if (str_starts(text, STR("=== ")))
            end = 0;
        else
            end = end == SIZE_MAX ? text.n : end + 1;
        pairs[n++][1] = str_slice(text, 0, end);
        text = str_from_index(text, end);
    }
    if (n)
        qsort(pairs, n, sizeof *pairs, plugin_text_order);
    out->count = n;
    out->paths = arena_array(a, n + 1, sizeof *out->paths);
    out->texts = arena_array(a, n + 1, sizeof *out->texts);
    for (size_t i = 0; i < n; i++) {
        out->paths[i] = pairs[i][0];
        out->texts[i] = pairs[i][1];
    }
}

static inline bool plugin_text_get(void *ctx, size_t index, size_t max_bytes,
                                   struct arena *a, struct str *out,
                                   struct err *e)
{
    const struct plugin_text *t = ctx;

    (void)a;
    *out = t->texts[index];
    return out->n <= max_bytes || err_set(e, ERR_LIMIT, "too large");
}

/* "x.sh" and what lies in bin/ are programs. */
static inline bool plugin_text_is_program(void *ctx, size_t index)
{
    const struct plugin_text *t = ctx;

    return str_starts(t->paths[index], STR("bin/"));
}

static inline struct plugin_files plugin_text_files(struct plugin_text *t)
{
    return (struct plugin_files){.paths = t->paths,
                                 .count = t->count,
                                 .read = plugin_text_get,
                                 .is_executable = plugin_text_is_program,
                                 .ctx = t};
}

#endif
