#include "project_reader.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GUESS_MAX_EDITS 2 /* for suggestions ("did you mean") */

bool project_fail(struct project_reader *r, unsigned line, const char *format,
                  ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return err_set(r->e, ERR_FORMAT, "%s:%u: %s", r->name, line, message);
}

struct str project_excerpt(struct str s)
{
    return text_cut(s, 80);
}

/* --- shapes --------------------------------------------------------------- */

bool project_is_null(const struct yaml *y)
{
    return y->kind == YAML_SCALAR && yaml_type_of(y) == YAML_TYPE_NULL;
}

/* A key without a value counts as empty. */
bool project_want(struct project_reader *r, const struct yaml *y,
                  enum yaml_kind kind)
{
    if (y->kind == kind || project_is_null(y))
        return true;
    return project_fail(r, y->key.p ? y->key_line : y->line, "%.*s must be %s",
                        STR_ARG(project_excerpt(y->key)),
                        kind == YAML_MAPPING ? "a mapping" : "a list");
}

bool project_want_text(struct project_reader *r, const struct yaml *y,
                       const char *what)
{
    if (yaml_is_string(y) && y->text.n && !text_has_control(y->text))
        return true;
    return project_fail(r, y->line, "%s must be text%s", what,
                        y->kind == YAML_SCALAR && y->style == YAML_PLAIN &&
                                y->text.n
                            ? ": put it in quotes"
                            : "");
}

bool project_want_texts(struct project_reader *r, const struct yaml *list,
                        const char *what)
{
    if (!project_want(r, list, YAML_SEQUENCE))
        return false;
    for (const struct yaml *y = list->first; y; y = y->next)
        if (!project_want_text(r, y, what))
            return false;
    return true;
}

bool project_want_each(struct project_reader *r, const struct yaml *list,
                       const struct project_item_rule *rule)
{
    if (!project_want_texts(r, list, rule->what))
        return false;
    for (const struct yaml *y = list->first; y; y = y->next) {
        if (rule->is_valid(y->text))
            continue;
        project_fail(r, y->line, "%s: \"%.*s\"", rule->wrong,
                     STR_ARG(project_excerpt(y->text)));
        return rule->hint && err_hint(r->e, "%s", rule->hint);
    }
    return true;
}

bool project_want_bool(struct project_reader *r, const struct yaml *y,
                       bool *out)
{
    if (y->kind != YAML_SCALAR || yaml_type_of(y) != YAML_TYPE_BOOL)
        return project_fail(r, y->line, "%.*s must be true or false",
                            STR_ARG(y->key));
    *out = strchr("tTyY", y->text.p[0]) || str_eq_nocase(y->text, STR("on"));
    return true;
}

static const struct project_key *find_key(const struct project_key *keys,
                                          struct str name)
{
    for (; keys->name.n; keys++)
        if (str_eq(keys->name, name))
            return keys;
    return NULL;
}

static bool fail_unknown(struct project_reader *r,
                         const struct project_key *keys, const struct yaml *y)
{
    struct text_nearest suggestion = {0};

    project_fail(r, y->key_line, "unknown key \"%.*s\"",
                 STR_ARG(project_excerpt(y->key)));
    for (; keys->name.n; keys++)
        if (keys->roles & (1u << r->role))
            text_nearest_add(&suggestion, y->key, keys->name, GUESS_MAX_EDITS);
    if (suggestion.count)
        err_hint(r->e, "did you mean \"%.*s\"?", STR_ARG(suggestion.found[0]));
    return false;
}

static bool fail_role(struct project_reader *r, const struct project_key *key,
                      const struct yaml *y)
{
    project_fail(r, y->key_line, "\"%.*s\" may not stand here",
                 STR_ARG(key->name));
    if (key->roles & IN_USER)
        return err_hint(r->e, "it belongs in your own ~/.config/mapm/"
                              "config.yaml");
    return err_hint(r->e, "it belongs in mapm.yaml");
}

bool project_read_keys(struct project_reader *r, const struct project_key *keys,
                       const struct yaml *mapping)
{
    if (!project_want(r, mapping, YAML_MAPPING))
        return false;
    for (const struct yaml *y = mapping->first; y; y = y->next) {
        const struct project_key *key = find_key(keys, y->key);

        if (!key)
            return fail_unknown(r, keys, y);
        if (!(key->roles & (1u << r->role)))
            return fail_role(r, key, y);
        if (!key->read(r, y))
            return false;
    }
    return true;
}

const struct str *project_texts(struct project_reader *r,
                                const struct yaml *list, size_t *count)
{
    struct str *texts = arena_array(r->a, list->count + 1, sizeof *texts);

    *count = 0;
    for (const struct yaml *y = list->first; y; y = y->next)
        texts[(*count)++] = y->text;
    return texts;
}
