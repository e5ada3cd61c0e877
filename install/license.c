#include "license.h"

#include "base/text.h"

/* Length of the beginning of a license text, which contains its name. */
#define HEAD_MAX_BYTES 4096

static const char *const names[] = {"license", "licence", "copying",
                                    "unlicense"};

bool license_is_file(struct str path)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str lower = text_lower(path, &a);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str rest = str_from_index(lower, strlen(names[i]));

        if (str_starts(lower, str_cstr(names[i])) && !str_has_char(rest, '/') &&
            (rest.n == 0 || rest.p[0] == '.' || rest.p[0] == '-'))
            return true;
    }
    return false;
}

/* the first match counts, because other licenses quote these texts */
/* clang-format off */
static const struct {
    const char *words, *name;
} known[] = {
    {"apache license version 2.0",                        "Apache-2.0"},
    {"gnu affero general public license",                 "AGPL"},
    {"gnu lesser general public license",                 "LGPL"},
    {"gnu general public license",                        "GPL"},
    {"mozilla public license",                            "MPL"},
    {"mit license",                                       "MIT"},
    {"mit no attribution",                                "MIT-0"},
    {"permission is hereby granted, free of charge",      "MIT"},
    {"isc license",                                       "ISC"},
    {"permission to use, copy, modify, and/or distribute", "ISC"},
    {"redistribution and use in source and binary forms", "BSD"},
    {"this is free and unencumbered software",            "Unlicense"},
    {"cc0 1.0 universal",                                 "CC0-1.0"},
    {"creative commons attribution",                      "CC-BY"},
    {"all rights reserved",                               "proprietary"},
    {"proprietary",                                       "proprietary"},
};
/* clang-format on */

struct str license_find(struct str text)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str head =
        text_lower(text_one_line(text_cut_bytes(text, HEAD_MAX_BYTES), &a), &a);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_find(head, str_cstr(known[i].words)) != SIZE_MAX)
            return str_cstr(known[i].name);
    return STR("");
}

bool license_is_proprietary(struct str field)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str lower = text_lower(field, &a);

    return str_find(lower, STR("proprietary")) != SIZE_MAX ||
           str_find(lower, STR("all rights reserved")) != SIZE_MAX ||
           str_is(lower, "unlicensed");
}
