/* provision/yaml_edit: any text; what is put is found, what is removed is gone,
 * and what stood around it has its value. What was put where nothing was, and
 * removed again, leaves each byte. [H6, row 5, row 16]. */
#include "base/err.h"

#include <stdlib.h>

#include "../../provision/yaml_edit.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VALUE                                                                  \
    STR("{\"name\": \"k\", \"args\": [\"-y\", \"a: b\"], \"envs\": {\"A\": "   \
        "\"1\"}, \"enabled\": true, \"none\": [], \"timeout\": 5}")

static const struct yaml_place places[] = {
    {STR_INIT("extensions"), STR_INIT("k"), NULL},
    {STR_INIT("extensions"), STR_INIT("k"), "name"}};

static void check_others(const struct yaml_place *place, struct str before,
                         struct str after, struct arena *a)
{
    struct hash x, y;
    struct err e = {0};
    struct map ours;

    map_init(&ours, a);
    map_put(&ours, place->key, a);
    if (!yaml_edit_hash_others(before, place, &ours, &x, &e) ||
        !yaml_edit_hash_others(after, place, &ours, &y, &e))
        abort();
    if (!hash_eq(&x, &y))
        abort();
}

static void check_put(const struct yaml_place *place, struct str text,
                      bool was_there, struct arena *a)
{
    struct hash want, got;
    struct err e = {0};
    struct str out, back;
    bool found, has;

    if (!yaml_edit_has_section(text, place, &has, &e))
        abort();
    if (!yaml_edit_put(text, place, VALUE, a, &out, &e)) {
        outcome_err(&e);
        return;
    }
    outcome_str("put", out);
    if (!yaml_edit_hash(VALUE, &want, &e) ||
        !yaml_edit_find(out, place, &found, &got, &e) || !found ||
        !hash_eq(&want, &got))
        abort();
    check_others(place, text, out, a);
    if (!yaml_edit_remove(out, place, a, &back, &e) ||
        (!has && !yaml_edit_drop_section(back, place, a, &back, &e)))
        abort();
    if (!was_there && !str_eq(back, text))
        abort();
}

static void check(const struct yaml_place *place, struct str text,
                  struct arena *a)
{
    struct err e = {0};
    struct str out;
    struct hash h;
    bool found;

    if (!yaml_edit_find(text, place, &found, &h, &e)) {
        outcome_err(&e);
        return;
    }
    check_put(place, text, found, a);
    if (!found || !yaml_edit_remove(text, place, a, &out, &e))
        return;
    if (!yaml_edit_find(out, place, &found, &h, &e) || found)
        abort();
    check_others(place, text, out, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};

    if (size > 1u << 16)
        return 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        check(&places[i], str_make((const char *)data, size), &a);
    arena_done(&a);
    return 0;
}
