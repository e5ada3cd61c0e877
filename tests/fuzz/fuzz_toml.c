/* provision/toml: any text; what is put is found, what is removed is gone,
 * and what stood around it is still there. [row 5, row 16]. */
#include "base/text.h"
#include "base/toml_lex.h"

#include <stdlib.h>
#include <string.h>

#include "../../provision/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct toml_place place = {STR_INIT("mcp_servers"), STR_INIT("k"),
                                        NULL, NULL, 0};
#define TABLE "[mcp_servers.\"k\"]\ncommand = \"x\""

static size_t count_statements(struct str text, struct arena *a)
{
    struct toml_lexer l;
    struct toml_statement s;
    struct err e = {0};
    size_t n = 0, end = 0;
    bool more;

    toml_lex_init(&l, text, a);
    while (toml_lex_next(&l, &s, &more, &e) && more) {
        if (s.start < end || s.end <= s.start || s.end > text.n || !s.depth)
            abort();
        end = s.end;
        n++;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str text = {(const char *)data, size}, out, table;
    struct err e = {0};

    if (size > 1u << 20)
        return 0;
    count_statements(text, &a);
    if (toml_remove(text, &place, &a, &out, &e)) {
        size_t left = count_statements(out, &a);

        if (!toml_find(out, &place, &a, &table, &e) || table.n)
            abort();
        if (!toml_put(text, &place, STR(TABLE), &a, &out, &e) ||
            !toml_find(out, &place, &a, &table, &e) ||
            !str_eq(str_trim(text_unix_lines(table, &a)), STR(TABLE)))
            abort();
        if (count_statements(out, &a) != left + 2)
            abort();
    }
    arena_done(&a);
    return 0;
}
