#include <stdio.h>

#include "vm.h"

/* The arguments of built-ins and host functions, by a pattern of names. */

enum { MAY_BE_ABSENT = 1, NONE_IS_ABSENT = 2, BY_PLACE = 4, BY_NAME = 8 };

struct parameter {
    const char *name;
    size_t length;
    unsigned how;
};

/* The next name of a pattern; false at its end. `how` keeps what "/" (told by
 * looking ahead) and "*" say about all that follow. */
static bool next_parameter(const char **pattern, struct parameter *p,
                           unsigned *how)
{
    const char *at = *pattern;

    for (;;) {
        at += strspn(at, ", ");
        if (*at == '*')
            *how |= BY_NAME;
        else if (*at != '/')
            break;
        at++;
    }
    if (!*at)
        return false;
    p->name = at;
    p->length = strcspn(at, "?, ");
    at += p->length;
    p->how = *how | (strchr(at, '/') ? BY_PLACE : 0);
    if (*at == '?') {
        /* As in Go, all that follow may be absent, too. */
        *how |= MAY_BE_ABSENT;
        p->how |= MAY_BE_ABSENT | (at[1] == '?' ? NONE_IS_ABSENT : 0);
        at += at[1] == '?' ? 2 : 1;
    }
    *pattern = at;
    return true;
}

struct pattern {
    uint32_t names, by_place, required, places;
};

static struct pattern measure(const char *pattern)
{
    struct pattern m = {0};
    struct parameter p;
    unsigned how = 0;

    while (next_parameter(&pattern, &p, &how)) {
        m.names++;
        m.places += !(p.how & BY_NAME);
        m.by_place += (p.how & BY_PLACE) != 0;
        m.required += !(p.how & MAY_BE_ABSENT);
    }
    return m;
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

/* The parameter of that name: its number, or -1. */
static int64_t find_name(const char *pattern, const struct sl_string *name)
{
    struct parameter p;
    unsigned how = 0;

    for (int64_t i = 0; next_parameter(&pattern, &p, &how); i++)
        if (!(p.how & BY_PLACE) && p.length == name->length &&
            !memcmp(p.name, name->p, p.length))
            return i;
    return -1;
}

static void unexpected(struct star *s, const char *function,
                       const char *pattern, const struct sl_string *name)
{
    char texts[16][40], wanted[40], hint[70] = "";
    const char *names[16];
    struct parameter p;
    unsigned how = 0;
    size_t count = 0;

    while (count < 16 && next_parameter(&pattern, &p, &how)) {
        if (p.how & BY_PLACE || p.length >= sizeof *texts)
            continue;
        memcpy(texts[count], p.name, p.length);
        texts[count][p.length] = '\0';
        names[count] = texts[count];
        count++;
    }
    if (name->length < sizeof wanted) {
        memcpy(wanted, name->p, name->length);
        wanted[name->length] = '\0';
        const char *near = sl_nearest(wanted, names, count);
        if (near)
            snprintf(hint, sizeof hint, " (did you mean %s?)", near);
    }
    sl_fail(s, "%s: unexpected keyword argument \"%.*s\"%s", function,
            (int)name->length, name->p, hint);
}

static bool take_named(struct star *s, const char *function,
                       const char *pattern, const struct star_args *a,
                       value *out)
{
    for (size_t i = 0; i < a->named_count; i++) {
        const struct sl_string *name = sl_string(a->names[i]);
        int64_t at = find_name(pattern, name);
        if (at < 0) {
            unexpected(s, function, pattern, name);
            return false;
        }
        if (out[at]) {
            sl_fail(s, "%s: got multiple values for keyword argument \"%.*s\"",
                    function, (int)name->length, name->p);
            return false;
        }
        out[at] = a->named[i];
    }
    return true;
}

static bool unpack(struct star *s, const char *function, const char *pattern,
                   const struct star_args *a, value *out)
{
    const struct pattern m = measure(pattern);
    struct parameter p;
    unsigned how = 0;

    if (m.by_place == m.names) {
        if (a->named_count) {
            sl_fail(s, "%s: unexpected keyword arguments", function);
            return false;
        }
        if (!want_count(s, function, (uint32_t)a->count, m.required, m.names))
            return false;
    } else if (a->count > m.places) {
        sl_fail(s, "%s: got %zu arguments, want at most %u", function, a->count,
                m.places);
        return false;
    }
    for (size_t i = 0; i < m.names; i++)
        out[i] = i < a->count ? a->values[i] : 0;
    if (!take_named(s, function, pattern, a, out))
        return false;
    for (size_t i = 0; next_parameter(&pattern, &p, &how); i++) {
        if (!out[i] && !(p.how & MAY_BE_ABSENT)) {
            sl_fail(s, "%s: missing argument for %.*s", function, (int)p.length,
                    p.name);
            return false;
        }
        if (out[i] == V_NONE && p.how & NONE_IS_ABSENT)
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
