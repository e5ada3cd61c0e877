/* base/yaml: any text, within limits; positions lie in the text, scalars of
 * the tree are typed, and what is quoted reads back. [row 5]. */
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct yaml_options options = {.max_depth = 16,
                                            .max_nodes = 10000};

static void check_quote(struct str s, struct arena *a)
{
    struct str quoted = yaml_quote(s, a);
    const struct yaml *y;
    struct err e = {0};

    if (str_has_char(quoted, '\n') ||
        !yaml_parse(quoted, &options, a, &y, NULL, &e) || !y ||
        !yaml_is_string(y) || !str_eq(y->text, s))
        abort();
}

/* One node; the walk is the caller's. */
static void check_node(struct str text, const struct yaml *y, struct arena *a)
{
    if (y->start > y->end || y->end > text.n || y->line == 0 || y->column == 0)
        abort();
    if (y->kind != YAML_SCALAR)
        return;
    if (y->text.p[y->text.n] || memchr(y->text.p, 0, y->text.n))
        abort();
    (void)yaml_type_name(yaml_type_of(y));
    if (y->text.n < 1000)
        check_quote(y->text, a);
}

static void check_tree(struct str text, const struct yaml *root,
                       struct arena *a)
{
    const struct yaml *open[64], *y = root;
    size_t depth = 0;

    while (y || depth) {
        if (!y) {
            y = open[--depth]->next;
            continue;
        }
        check_node(text, y, a);
        if (y->first) {
            open[depth++] = y;
            y = y->first;
        } else {
            y = y->next;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct yaml_problem problem;
    const struct yaml *root = NULL;
    struct err e = {0};

    if (size >= 1 << 20)
        return 0;
    if (!yaml_parse(text, &options, &a, &root, &problem, &e)) {
        if (problem.line == 0 || (e.code != ERR_FORMAT && e.code != ERR_LIMIT))
            abort();
        return 0;
    }
    check_tree(text, root, &a);
    return 0;
}
