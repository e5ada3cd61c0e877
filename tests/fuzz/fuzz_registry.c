/*
 * What registries, their token servers, credential helpers and the files of
 * docker say: no text of it that is taken may end a line of a header. S3.
 *
 * Input: its first byte says which, the rest is its text.
 */

#include <stdlib.h>

#include "../../fetch/registry_credential.h"
#include "../../fetch/worker/registry_auth.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ')
            abort();
    outcome_str("", s);
}

static void parse_config(struct str text, struct arena *a)
{
    struct registry_query q = {STR("ghcr.io"), STR("acme/mapm"), true};
    struct registry_entry r;

    if (!registry_config_parse(text, &q, a, &r))
        return;
    check(r.user);
    check(r.secret);
    check(r.helper);
}

static void parse_helper(struct str text, struct arena *a)
{
    struct registry_secret s = {0};

    if (!registry_helper_parse(text, a, &s))
        return;
    check(s.user);
    check(s.secret);
}

static void parse_challenge(struct str text, struct arena *a)
{
    struct registry_challenge c;

    registry_challenge_parse(text, a, &c);
    check(c.realm);
    check(c.service);
    check(registry_token_address(c.realm, c.service, c.scope, a));
}

static void parse_token(struct str text, struct arena *a)
{
    struct str token;

    if (registry_token_parse(text, a, &token))
        check(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parsers[])(struct str, struct arena *) = {
        parse_config, parse_helper, parse_challenge, parse_token};
    CLEANUP(arena_done) struct arena a = {0};

    if (size)
        parsers[data[0] & 3](str_make((const char *)data + 1, size - 1), &a);
    return 0;
}
