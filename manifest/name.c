#include "mapm/name.h"

#include "mapm/limits.h"

#include <string.h>

#include "document.h"

/* Validates names, scopes, MCP names and versions. The grammars are checked
 * byte by byte instead of with <regex.h>: each is two lines, and hostile
 * text must not reach code that depends on the locale. Source: M3, M4, M7,
 * M16, X1. */

#define MCP_NAME_MIN_CHARS 3
#define VARIABLE_MAX_CHARS 128

static bool is_word_char(char c)
{
    return char_is_lower(c) || char_is_digit(c);
}

/* [a-z0-9]+(-[a-z0-9]+)* */
static bool is_kebab(struct str s)
{
    char before = '-';

    for (size_t i = 0; i < s.n; i++) {
        if (!is_word_char(s.p[i]) && (s.p[i] != '-' || before == '-'))
            return false;
        before = s.p[i];
    }
    return before != '-';
}

bool name_is_kebab(struct str name)
{
    return name.n <= NAME_MAX_CHARS && is_kebab(name);
}

bool name_scope_is_valid(struct str scope)
{
    struct str rest = scope, part;

    if (scope.n == 0 || scope.n > SCOPE_MAX_CHARS)
        return false;
    while (str_cut(&rest, '.', &part))
        if (!is_kebab(part))
            return false;
    return true;
}

bool name_is_variable(struct str name)
{
    if (name.n == 0 || name.n > VARIABLE_MAX_CHARS || char_is_digit(name.p[0]))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!char_is_alpha(name.p[i]) && !char_is_digit(name.p[i]) &&
            name.p[i] != '_')
            return false;
    return true;
}

static bool is_mcp_char(char c, bool is_short)
{
    return char_is_alpha(c) || char_is_digit(c) || c == '.' || c == '-' ||
           (is_short && c == '_');
}

static bool is_mcp_part(struct str part, bool is_short)
{
    if (part.n == 0 || str_is(part, ".") || str_is(part, ".."))
        return false;
    for (size_t i = 0; i < part.n; i++)
        if (!is_mcp_char(part.p[i], is_short))
            return false;
    return true;
}

bool name_mcp_is_valid(struct str name)
{
    size_t slash = str_find_char(name, '/');

    return name.n >= MCP_NAME_MIN_CHARS && name.n <= MCP_NAME_MAX_CHARS &&
           slash != SIZE_MAX && is_mcp_part(str_slice(name, 0, slash), false) &&
           is_mcp_part(str_from_index(name, slash + 1), true);
}

bool name_fqn_is_valid(enum doc_kind kind, struct str fqn)
{
    size_t slash = str_find_char(fqn, '/');

    if (kind == DOC_PLUGIN) /* the name is the scope of the plugin's parts */
        return name_scope_is_valid(fqn);
    if (kind != DOC_MCP)
        return slash == SIZE_MAX
                   ? name_is_kebab(fqn)
                   : name_scope_is_valid(str_slice(fqn, 0, slash)) &&
                         name_is_kebab(str_from_index(fqn, slash + 1));
    for (size_t i = 0; i < fqn.n; i++)
        if (!char_is_alpha(fqn.p[i]) && !char_is_digit(fqn.p[i]) &&
            !strchr("/._-", fqn.p[i]))
            return false; /* no "," or " ", because the name occurs in lists
                           * of needs */
    return name_mcp_is_valid(fqn);
}

static bool has_upper(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (char_is_alpha(s.p[i]) && !char_is_lower(s.p[i]))
            return true;
    return false;
}

static bool has_other(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_word_char(s.p[i]) && s.p[i] != '-')
            return true;
    return false;
}

const char *name_grammar_fault(struct str name)
{
    if (is_kebab(name))
        return NULL;
    if (name.n == 0)
        return "is empty";
    if (str_has_char(name, '/'))
        return "contains \"/\": scope and name are two fields";
    if (!str_is_ascii(name))
        return "has letters other than a-z";
    if (has_upper(name))
        return "has upper-case letters";
    if (str_has_char(name, ' '))
        return "contains a blank";
    if (str_has_char(name, '_'))
        return "contains \"_\": words are joined by \"-\"";
    if (has_other(name))
        return "has characters other than a-z, 0-9 and \"-\"";
    if (name.p[0] == '-')
        return "starts with \"-\"";
    if (name.p[name.n - 1] == '-')
        return "ends with \"-\"";
    return "contains \"--\"";
}

const char *name_fault(struct str name)
{
    const char *fault = name_grammar_fault(name);

    if (!fault && name.n > NAME_MAX_CHARS)
        fault = "is longer than 64 characters";
    return fault;
}

/* Parses a number of a semantic version: no sign, no leading zero. */
static bool parse_part(struct str text, uint64_t *out)
{
    if (text.n > 1 && text.p[0] == '0')
        return false;
    return str_number(text, UINT64_MAX, out);
}

bool version_parse(struct str text, struct version *out)
{
    struct version v;
    struct str rest = text, part;

    for (size_t i = 0; i < 3; i++)
        if (!str_cut(&rest, '.', &part) || !parse_part(part, &v.part[i]))
            return false;
    if (rest.p)
        return false;
    *out = v;
    return true;
}

int version_cmp(const struct version *x, const struct version *y)
{
    for (size_t i = 0; i < 3; i++)
        if (x->part[i] != y->part[i])
            return x->part[i] < y->part[i] ? -1 : 1;
    return 0;
}
