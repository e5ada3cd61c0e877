#include "base/env.h"
#include "base/text.h"
#include "mapm/runtime.h"

/* Errors with literal texts of the specification (K33, K34), and the nesting of
 * runs. */

struct str runtime_unknown(struct str name, struct arena *a)
{
    return arena_printf(a, "error: unknown metaskill: '%.*s'", STR_ARG(name));
}

struct str runtime_static(struct str name, struct arena *a)
{
    return arena_printf(a, "error: skill '%.*s' is not a metaskill",
                        STR_ARG(name));
}

struct str runtime_not_allowed(struct str name, const char *policy,
                               struct arena *a)
{
    return arena_printf(
        a, "error: external metaskill '%.*s' is not allowed (policy: %s)",
        STR_ARG(name), policy);
}

/* On one line: otherwise an error could imitate a header of mapm. */
struct str runtime_error(struct str name, const char *why, struct arena *a)
{
    struct str line =
        text_cut(text_one_line(str_cstr(why), a), RESULT_MAX_CHARS - 200);

    return arena_printf(a, "error: metaskill '%.*s': %.*s", STR_ARG(name),
                        STR_ARG(line));
}

unsigned runtime_depth(void)
{
    uint64_t depth;

    if (!env_is_set("MAPM_DEPTH"))
        return 0;
    return str_number(env_get("MAPM_DEPTH"), 1000000, &depth) ? (unsigned)depth
                                                              : 1;
}
