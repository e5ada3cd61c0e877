#include "shape.h"

/* Members by the type that contains them. */
/* clang-format off */
static const struct member {
    const char *of, *name;
    enum json_kind kind;
    bool optional;
} members[] = {
    {"text",        "text",       JSON_STRING, false},
    {"image",       "data",       JSON_STRING, false},
    {"image",       "mimeType",   JSON_STRING, false},
    {"audio",       "data",       JSON_STRING, false},
    {"audio",       "mimeType",   JSON_STRING, false},
    {"tool_use",    "id",         JSON_STRING, false},
    {"tool_use",    "name",       JSON_STRING, false},
    {"tool_use",    "input",      JSON_OBJECT, false},
    {"tool_result", "toolUseId",  JSON_STRING, false},
    {"tool_result", "content",    JSON_ARRAY,  false},
    {"sample",      "model",      JSON_STRING, false},
    {"sample",      "stopReason", JSON_STRING, true},
    {"root",        "uri",        JSON_STRING, false},
    {"root",        "name",       JSON_STRING, true},
};
/* clang-format on */

#define MEMBER_COUNT (sizeof members / sizeof *members)

/* An object with the members of `type`; false for a type that is not known. */
static bool has_members(const struct json *object, struct str type)
{
    bool known = false;

    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const struct member *m = &members[i];
        const struct json *j;

        if (!str_is(type, m->of))
            continue;
        known = true;
        j = json_get(object, m->name);
        if (j ? j->kind != m->kind : !m->optional)
            return false;
    }
    return known;
}

static bool all_are(const struct json *list,
                    bool (*is)(const struct json *item))
{
    for (const struct json *j = list->first; j; j = j->next)
        if (!is(j))
            return false;
    return true;
}

/* --- sampling/createMessage ------------------------------------------------- */

/* Checks types of content only; "sample" and "root" are names of this table. */
static bool is_content(const struct json *j)
{
    struct str type = json_text(json_get(j, "type"));

    return !str_is(type, "sample") && !str_is(type, "root") &&
           has_members(j, type);
}

static bool is_sample(const struct json *j)
{
    struct str role = json_text(json_get(j, "role"));
    const struct json *content = json_get(j, "content");

    if (!content || !has_members(j, STR("sample")) ||
        (!str_is(role, "assistant") && !str_is(role, "user")))
        return false;
    return content->kind == JSON_ARRAY ? all_are(content, is_content)
                                       : is_content(content);
}

/* --- elicitation/create ------------------------------------------------------ */

static bool is_text(const struct json *j)
{
    return j->kind == JSON_STRING;
}

static bool is_field(const struct json *j)
{
    if (j->kind == JSON_ARRAY)
        return all_are(j, is_text);
    return j->kind != JSON_OBJECT && j->kind != JSON_NULL;
}

/* Some clients write null for an absent member. */
static bool is_elicited(const struct json *j)
{
    struct str action = json_text(json_get(j, "action"));
    const struct json *content = json_get(j, "content");

    if (!str_is(action, "accept") && !str_is(action, "decline") &&
        !str_is(action, "cancel"))
        return false;
    return !content || content->kind == JSON_NULL ||
           (content->kind == JSON_OBJECT && all_are(content, is_field));
}

/* --- roots/list ----------------------------------------------------------------- */

static bool is_root(const struct json *j)
{
    return has_members(j, STR("root"));
}

static bool is_roots(const struct json *j)
{
    const struct json *roots = json_get(j, "roots");

    return roots && roots->kind == JSON_ARRAY && all_are(roots, is_root);
}

/* --- all of them ------------------------------------------------------------------ */

bool shape_is_answer(struct str method, const struct json *answer)
{
    if (str_is(method, "sampling/createMessage"))
        return is_sample(answer);
    if (str_is(method, "elicitation/create"))
        return is_elicited(answer);
    return str_is(method, "roots/list") && is_roots(answer);
}
