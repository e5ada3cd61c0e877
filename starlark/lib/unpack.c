#include <stdio.h>

#include "../core/error.h"
#include "lib.h"

/* Reads the arguments of built-ins and host functions by a pattern of names. */

enum { MAY_BE_ABSENT = 1, NONE_IS_ABSENT = 2, BY_PLACE = 4, BY_NAME = 8 };

#define NAMES_MAX 32u /* maximum number of names in a pattern */

struct parameter {
    const char *name;
    uint32_t length;
    uint32_t how;
};

struct pattern {
    uint32_t names, by_place, required, places;
    struct parameter p[NAMES_MAX];
};

static inline bool ends_name(char c)
{
    return c == '\0' || c == '?' || c == ',' || c == ' ';
}

/* Reads one name and its question marks. As in Go, everything after an optional
 * parameter may be absent as well. */
static const char *read_name(const char *at, struct pattern *m, uint32_t *how)
{
    struct parameter *p = &m->p[m->names++];

    p->name = at;
    while (!ends_name(*at))
        at++;
    p->length = (uint32_t)(at - p->name);
    if (*at == '?')
        *how |= MAY_BE_ABSENT;
    p->how = *how;
    if (*at == '?' && *++at == '?') {
        p->how |= NONE_IS_ABSENT;
        at++;
    }
    m->places += !(*how & BY_NAME);
    m->required += !(*how & MAY_BE_ABSENT);
    return at;
}

static void read_pattern(const char *at, struct pattern *m)
{
    uint32_t how = 0;

    m->names = m->by_place = m->required = m->places = 0;
    while (*at && m->names < NAMES_MAX) {
        if (*at == '/') {
            m->by_place = m->names;
            at++;
        } else if (*at == '*') {
            how |= BY_NAME;
            at++;
        } else if (*at == ',' || *at == ' ') {
            at++;
        } else {
            at = read_name(at, m, &how);
        }
    }
    for (uint32_t i = 0; i < m->by_place; i++)
        m->p[i].how |= BY_PLACE;
}

static bool want_count(struct star *s, const char *function, uint32_t count,
                       uint32_t min, uint32_t max)
{
    if (count < min)
        sl_fail(s, "%s: got %u arguments, want %s%u", function, count,
                min < max ? "at least " : "", min);
    else if (count > max)
        sl_fail(s, "%s: got %u arguments, want %s%u", function, count,
                min < max ? "at most " : "", max);
    return count >= min && count <= max;
}

/* Returns the index of the parameter of that name, or -1. */
static int find_name(const struct pattern *m, const struct sl_string *name)
{
    for (uint32_t i = m->by_place; i < m->names; i++)
        if (m->p[i].length == name->length &&
            !memcmp(m->p[i].name, name->p, name->length))
            return (int)i;
    return -1;
}

static void unexpected(struct star *s, const char *function,
                       const struct pattern *m, const struct sl_string *name)
{
    struct sl_spelling sp;
    char hint[100] = "";

    sl_spell_begin(&sp, name->p, name->length);
    for (uint32_t i = m->by_place; i < m->names; i++)
        sl_spell_try(&sp, m->p[i].name, m->p[i].length);
    if (sp.best)
        snprintf(hint, sizeof hint, " (did you mean %.*s?)",
                 (int)sp.best_length, sp.best);
    sl_fail(s, "%s: unexpected keyword argument \"%.*s\"%s", function,
            SL_SHOWN(sl_value(name)), hint);
}

static bool take_named(struct star *s, const char *function,
                       const struct pattern *m, const struct star_args *a,
                       value *out)
{
    for (size_t i = 0; i < a->named_count; i++) {
        const struct sl_string *name = sl_string(a->names[i]);
        int at = find_name(m, name);
        if (at < 0) {
            unexpected(s, function, m, name);
            return false;
        }
        if (out[at]) {
            sl_fail(s, "%s: got multiple values for keyword argument \"%.*s\"",
                    function, SL_SHOWN(sl_value(name)));
            return false;
        }
        out[at] = a->named[i];
    }
    return true;
}

static bool fits(struct star *s, const char *function, const struct pattern *m,
                 const struct star_args *a)
{
    if (m->by_place == m->names) {
        if (!a->named_count)
            return want_count(s, function, (uint32_t)a->count, m->required,
                              m->names);
        sl_fail(s, "%s: unexpected keyword arguments", function);
        return false;
    }
    if (a->count <= m->places)
        return true;
    sl_fail(s, "%s: got %zu arguments, want at most %u", function, a->count,
            m->places);
    return false;
}

static bool unpack(struct star *s, const char *function, const char *pattern,
                   const struct star_args *a, value *out)
{
    struct pattern m;

    read_pattern(pattern, &m);
    if (!fits(s, function, &m, a))
        return false;
    for (size_t i = 0; i < m.names; i++)
        out[i] = i < a->count ? a->values[i] : 0;
    if (!take_named(s, function, &m, a, out))
        return false;
    for (size_t i = 0; i < m.names; i++) {
        const struct parameter *p = &m.p[i];
        if (!out[i] && !(p->how & MAY_BE_ABSENT)) {
            sl_fail(s, "%s: missing argument for %.*s", function,
                    (int)p->length, p->name);
            return false;
        }
        if (out[i] == V_NONE && p->how & NONE_IS_ABSENT)
            out[i] = 0;
    }
    return true;
}

bool sl_unpack(struct star *s, const struct sl_call *c, const char *pattern,
               value *out)
{
    const struct star_args a = {.values = c->args,
                                .count = c->count,
                                .names = c->names,
                                .named = c->args + c->count,
                                .named_count = c->named};

    return unpack(s, c->name, pattern, &a, out);
}

bool star_unpack(struct star *s, const struct star_args *args,
                 const char *function, const char *pattern, star_value *out)
{
    return unpack(s, function, pattern, args, out);
}

bool sl_want_other_args(struct star *s, const struct sl_call *c, uint32_t min,
                        uint32_t max)
{
    if (c->named) {
        sl_fail(s, "%s: unexpected keyword arguments", c->name);
        return false;
    }
    return want_count(s, c->name, c->count, min, max);
}
