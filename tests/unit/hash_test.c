#include "base/hash.h"

#include "tap.h"

/* FIPS 180-2, appendix B; [T11] rests on it. */
static const struct {
    const char *text, *hex;
} rows[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

TEST(known_answers)
{
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hash h = hash_of(str_cstr(rows[i].text)), parsed = {{0}};
        struct hash_state s;

        CHECK_STR(hash_hex(&h, &a).p, rows[i].hex);
        CHECK(hash_parse(str_cstr(rows[i].hex), &parsed));
        CHECK(hash_eq(&h, &parsed) && !hash_is_zero(&h));
        hash_init(&s);
        for (size_t k = 0; rows[i].text[k]; k++)
            hash_add(&s, str_make(rows[i].text + k, 1));
        hash_add(&s, (struct str){0});
        parsed = hash_end(&s);
        CHECK(hash_eq(&h, &parsed));
    }
    arena_done(&a);
}

TEST(only_64_lower_case_digits_are_a_hash)
{
    char hex[66];
    struct hash h = {{1}}, zero = {{0}};

    memset(hex, 'a', sizeof hex);
    CHECK(hash_parse(str_make(hex, 64), &h) && h.b[31] == 0xaa);
    CHECK(!hash_parse(str_make(hex, 63), &h));
    CHECK(!hash_parse(str_make(hex, 65), &h));
    hex[10] = 'A';
    CHECK(!hash_parse(str_make(hex, 64), &h));
    hex[10] = 'g';
    CHECK(!hash_parse(str_make(hex, 64), &h));
    hex[10] = '\0';
    CHECK(!hash_parse(str_make(hex, 64), &h));
    CHECK(h.b[0] == 0xaa && !hash_is_zero(&h) && hash_is_zero(&zero));
}
