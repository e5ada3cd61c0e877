#include "base/text.h"

#include "project_reader.h"

#define NAME_MAX_BYTES 200 /* of the name of a part */

/* Reads `without:` of a plugin: omitted parts such as "skill x" [X45]. */

bool project_part_is_valid(struct str word)
{
    struct str name = word, kind;
    enum doc_kind found;

    return str_cut(&name, ' ', &kind) && name.n && name.n <= NAME_MAX_BYTES &&
           doc_kind_find(kind, &found) && found != DOC_PLUGIN &&
           text_is_visible(name) && str_eq(str_trim(name), name);
}

struct str_list project_sort_parts(struct str_list words, struct arena *a)
{
    struct str *items = arena_array(a, words.count + 1, sizeof *items);
    size_t n = 0;

    for (size_t i = 0; i < words.count; i++)
        items[i] = words.items[i];
    str_sort(items, words.count);
    for (size_t i = 0; i < words.count; i++)
        if (!n || !str_eq(items[n - 1], items[i]))
            items[n++] = items[i];
    return (struct str_list){items, n};
}

bool project_same_parts(struct str_list x, struct str_list y)
{
    for (size_t i = 0; i < x.count && x.count == y.count; i++)
        if (!str_eq(x.items[i], y.items[i]))
            return false;
    return x.count == y.count;
}

struct str project_parts_text(struct str_list words, struct arena *a)
{
    struct str text = STR("");

    for (size_t i = 0; i < words.count; i++)
        text = arena_join(text, ", ", yaml_quote(words.items[i], a), a);
    return text;
}

bool project_read_without(struct project_reader *r, const struct yaml *y,
                          struct str_list *out)
{
    static const struct project_item_rule rule = {
        "a part of the plugin", project_part_is_valid, "not a part of a plugin",
        "write its kind and its name: [mcp slack, skill review, agent "
        "tester]"};

    if (!project_want_each(r, y, &rule))
        return false;
    out->items = project_texts(r, y, &out->count);
    *out = project_sort_parts(*out, r->a);
    return true;
}
