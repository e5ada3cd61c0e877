#include "server.h"

const struct str revision_names[] = {
    STR_INIT("2024-11-05"), STR_INIT("2025-03-26"), STR_INIT("2025-06-18"),
    STR_INIT("2025-11-25"), STR_INIT("2026-07-28"),
};

const char *const log_levels[LOG_LEVELS] = {
    "debug", "info",     "notice", "warning",
    "error", "critical", "alert",  "emergency",
};

unsigned log_level_find(struct str name)
{
    unsigned i = 0;

    while (i < LOG_LEVELS && !str_is(name, log_levels[i]))
        i++;
    return i;
}

/* --- looking ---------------------------------------------------------------- */

enum mcp_era mcp_call_era(const struct mcp_call *c)
{
    return c->revision == REV_2026_07_28 ? MCP_STATELESS : MCP_SESSIONED;
}

struct str mcp_call_version(const struct mcp_call *c)
{
    return revision_names[c->revision];
}

struct arena *mcp_call_arena(struct mcp_call *c)
{
    return &c->a;
}

const struct json *mcp_call_params(const struct mcp_call *c)
{
    return c->params;
}

const struct json *mcp_call_meta(const struct mcp_call *c)
{
    return c->meta;
}

static bool is_object(const struct json *j)
{
    return j && j->kind == JSON_OBJECT;
}

/* Before 2025-11-25 elicitation had forms only; since then a client that names
 * no mode supports forms. */
static bool can_elicit(const struct mcp_call *c, const struct json *elicitation,
                       struct str mode)
{
    bool is_form = str_is(mode, "form");

    if (c->revision < REV_2025_11_25)
        return is_form;
    if (is_object(json_get_str(elicitation, mode)))
        return true;
    return is_form && !json_get(elicitation, "form") &&
           !json_get(elicitation, "url");
}

/* "a/b": a member of a member; the text behind "extensions/" is one name. */
bool mcp_call_client_can(const struct mcp_call *c, const char *capability)
{
    struct str rest = str_cstr(capability), head;
    const struct json *one;

    str_cut(&rest, '/', &head);
    one = json_get_str(c->caps, head);
    if (!is_object(one))
        return false;
    if (!rest.p)
        return true;
    if (str_is(head, "elicitation"))
        return can_elicit(c, one, rest);
    return is_object(json_get_str(one, rest));
}

int missing_capability_code(const struct mcp_call *c)
{
    return mcp_call_era(c) == MCP_STATELESS ? MCP_MISSING_CAPABILITY
                                            : MCP_INVALID;
}

struct str missing_capability_data(const char *capability, struct arena *a)
{
    struct str rest = str_cstr(capability), head;

    str_cut(&rest, '/', &head);
    if (!rest.p)
        return arena_printf(a, "{\"requiredCapabilities\":{\"%.*s\":{}}}",
                            STR_ARG(head));
    return arena_printf(a,
                        "{\"requiredCapabilities\":{\"%.*s\":{\"%.*s\":{}}}}",
                        STR_ARG(head), STR_ARG(rest));
}
