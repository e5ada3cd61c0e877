/* provision/toml: any text; what is put is found, what is removed is gone,
 * and what stood around it is still there. [row 5, row 16]. */
#include "base/text.h"
#include "base/toml_lex.h"

#include <stdlib.h>
#include <string.h>

#include "../../provision/toml.h"
#include "outcome.h"

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
        OUTCOME("%zu-%zu ", s.start, s.end);
        n++;
    }
    return n;
}

static const char *const kept[] = {"prompt"};
static const struct toml_place element = {STR_INIT("mcp_servers"),
                                          STR_INIT("k"), "name", kept, 1};

#define ELEMENT "[[mcp_servers]]\nname = \"k\"\ncommand = \"x\""

/* [H6] The same in a list of tables; what is not ours has the same hash. */
static void check_list(struct str text, struct arena *a)
{
    struct str out, table, back;
    struct hash before, after;
    struct err e = {0};
    struct map ours;

    map_init(&ours, a);
    map_put(&ours, element.key, a);
    if (!toml_find(text, &element, a, &table, &e)) {
        outcome_err(&e);
        return;
    }
    if (!toml_put(text, &element, STR(ELEMENT), a, &out, &e) ||
        !toml_hash_others(text, &element, &ours, &before, &e) ||
        !toml_hash_others(out, &element, &ours, &after, &e) ||
        !hash_eq(&before, &after) ||
        !toml_remove(out, &element, a, &back, &e) ||
        !toml_hash_others(back, &element, &ours, &after, &e) ||
        !hash_eq(&before, &after))
        abort();
    outcome_str("list", out);
    if (!table.p && !str_eq(back, text))
        abort();
    if (!toml_find(out, &element, a, &table, &e) ||
        !str_eq(str_trim(text_unix_lines(table, a)), STR(ELEMENT)))
        abort();
}

/* [H6] What a client can read it can read with our entry, and without. */
static void check_valid(struct str text, struct arena *a)
{
    struct str out, back;
    struct err e = {0};

    if (!toml_check(text, &e) ||
        !toml_put(text, &place, STR(TABLE), a, &out, &e)) {
        outcome_err(&e);
        return;
    }
    if (!toml_check(out, &e) || !toml_remove(out, &place, a, &back, &e) ||
        !toml_check(back, &e))
        abort();
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
        outcome_str("put", out);
    } else {
        outcome_err(&e);
    }
    check_list(text, &a);
    check_valid(text, &a);
    arena_done(&a);
    return 0;
}
