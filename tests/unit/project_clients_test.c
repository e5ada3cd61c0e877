#include "base/err.h"
#include "mapm/project.h"

#include "tap.h"

/* The list of clients: what stays keeps its place, and no other byte changes [H7]. */

static struct arena arena;

/* clang-format off */
static const struct {
    const char *before, *names, *after; /* NULL: refused */
} rows[] = {
    {"", "claude codex", "clients: [claude, codex]\n"},
    {"# mine\nserver: true\n", "codex", "# mine\nserver: true\nclients: [codex]\n"},
    {"# mine\nserver: true", "codex", "# mine\nserver: true\nclients: [codex]\n"},
    {"server: true\r\n", "codex", "server: true\r\nclients: [codex]\r\n"},
    {"clients: [claude] # why\nserver: true\n", "claude codex", "clients: [claude, codex] # why\nserver: true\n"},
    {"clients: [codex, claude, gemini]\n", "claude", "clients: [claude]\n"},
    {"clients: [codex]\n", "-codex", "clients: [-codex]\n"},
    {"clients:\n  - codex # c\n  # g\n  - gemini\n", "gemini cursor", "clients:\n  # g\n  - gemini\n  - cursor\n"},
    {"clients:\n- codex\n", "codex cursor", "clients:\n- codex\n- cursor\n"},
    {"clients: [codex]\nserver: true\n", "codex", "clients: [codex]\nserver: true\n"},
    {"clients: [codex]\n", "", "clients: []\n"},
    {"clients:\nserver: true\n", "codex", "clients:\n  - codex\nserver: true\n"},
    {"clients: []\n", "codex", "clients:\n  - codex\n"},
    {"{server: true}\n", "codex", "{server: true, clients: [codex]}\n"},
    {"{clients: [cursor]}\n", "cursor codex", "{clients: [cursor, codex]}\n"},
    {"clients: text\n", "codex", NULL},
    {"- a\n", "codex", NULL},
    {"clients: [a\n", "codex", NULL},
};
/* clang-format on */

static struct str_list words_of(const char *text)
{
    struct str rest = str_cstr(text);
    struct str *items = arena_array(&arena, 8, sizeof *items);
    struct str_list out = {items, 0};

    while (rest.n) {
        size_t end = str_find_char(rest, ' ');

        items[out.count++] = str_slice(rest, 0, end == SIZE_MAX ? rest.n : end);
        rest = end == SIZE_MAX ? STR("") : str_from_index(rest, end + 1);
    }
    return out;
}

static void check_row(const char *before, const char *names, const char *after)
{
    struct str got = STR(""), again = STR("");
    struct err e = {0};
    bool good = project_set_clients(str_cstr(before), words_of(names), &arena,
                                    &got, &e);

    CHECK(good == (after != NULL));
    if (!good || !after)
        return;
    CHECK_STR(str_dup0(got, &arena), after);
    CHECK(project_set_clients(got, words_of(names), &arena, &again, &e));
    CHECK(str_eq(got, again));
}

/* [H7] */
TEST(the_list_of_clients_changes_in_place)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !tap_failed; i++) {
        check_row(rows[i].before, rows[i].names, rows[i].after);
        if (tap_failed)
            printf("# row %zu\n", i);
    }
    arena_done(&arena);
}
