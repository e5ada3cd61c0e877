#ifndef TESTS_JSON_CHECK_H
#define TESTS_JSON_CHECK_H

/*
 * What every edit in place must keep, for the unit test and the fuzzer: all
 * members but those on the path byte for byte and in order, all comments
 * outside of what was replaced, and the value that was put.
 */

#include "base/json.h"

#include <string.h>

struct json_edit_case {
    struct str before, after;
    const struct json_options *options;
    const struct str *path;
    size_t depth;
    struct str value; /* p NULL: the edit was a removal */
};

static struct str check_compact(struct str text, const struct json *j,
                                struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    (void)text;
    buf_init(&b, SIZE_MAX / 2);
    json_writer_init(&w, &b, 0);
    json_value(&w, j);
    return arena_str(a, buf_str(&b));
}

/* The next comment at or behind `*at`; strings are passed over. */
static bool check_next_comment(struct str s, size_t *at, struct str *comment,
                               size_t *start)
{
    bool string = false;

    for (size_t i = *at; i < s.n; i++) {
        size_t end = i + 2;

        if (string && s.p[i] == '\\') {
            i++;
        } else if (s.p[i] == '"') {
            string = !string;
        } else if (!string && s.p[i] == '/' && i + 1 < s.n) {
            bool line = s.p[i + 1] == '/';

            if (line)
                while (end < s.n && s.p[end] != '\n' && s.p[end] != '\r')
                    end++;
            else
                end += str_find(str_from_index(s, end), STR("*/")) + 2;
            *comment = str_slice(s, i, end);
            *start = i;
            *at = end;
            return true;
        }
    }
    return false;
}

static const char *check_comments(const struct json_edit_case *c, size_t from,
                                  size_t to)
{
    size_t at = 0, at_after = 0, start, start_after;
    struct str comment, other;

    while (check_next_comment(c->before, &at, &comment, &start)) {
        if (start >= from && start < to)
            continue;
        do {
            if (!check_next_comment(c->after, &at_after, &other, &start_after))
                return "a comment is gone";
        } while (!str_eq(comment, other));
    }
    return NULL;
}

/* The members of `x` and `y`, but `name`, are the same bytes in order. */
static const char *check_siblings(const struct json_edit_case *c,
                                  const struct json *x, const struct json *y,
                                  struct str name)
{
    const struct json *m = x->first, *n = y->first;

    for (;;) {
        while (m && str_eq(m->key, name))
            m = m->next;
        while (n && str_eq(n->key, name))
            n = n->next;
        if (!m || !n)
            return m || n ? "a member came or went" : NULL;
        if (!str_eq(str_slice(c->before, m->key_start, m->end),
                    str_slice(c->after, n->key_start, n->end)))
            return "a member was changed";
        m = m->next;
        n = n->next;
    }
}

static const char *check_put(const struct json_edit_case *c,
                             const struct json *y, struct arena *a)
{
    const struct json *value;
    struct err e = {0};

    if (!y)
        return "the value is not there";
    if (!json_parse(c->value, c->options, a, &value, NULL, &e))
        return "the value does not parse";
    return str_eq(check_compact(c->value, value, a),
                  check_compact(c->after, y, a))
               ? NULL
               : "the value is another";
}

/* NULL when all is well; else what is wrong. */
static const char *json_edit_check(const struct json_edit_case *c,
                                   struct arena *a)
{
    static const struct json nothing = {.kind = JSON_OBJECT};
    const struct json *x = &nothing, *y = &nothing, *old = NULL;
    const char *wrong = NULL;
    struct err e = {0};

    if (str_trim(c->before).n &&
        !json_parse(c->before, c->options, a, &x, NULL, &e))
        return "edited what does not parse";
    if (str_trim(c->after).n &&
        !json_parse(c->after, c->options, a, &y, NULL, &e))
        return "the result does not parse";
    for (size_t i = 0; i < c->depth && y; i++) {
        if (!x || x->kind != JSON_OBJECT)
            x = &nothing;
        if (y->kind != JSON_OBJECT)
            break;
        wrong = check_siblings(c, x, y, c->path[i]);
        if (wrong)
            return wrong;
        x = old = json_get_str(x, c->path[i]);
        y = json_get_str(y, c->path[i]);
    }
    if (c->value.p)
        wrong = check_put(c, y, a);
    else if (!old || x != old)
        wrong = str_eq(c->before, c->after) ? NULL : "changed for nothing";
    else if (y)
        wrong = "the member is still there";
    if (wrong)
        return wrong;
    if (!c->value.p)
        return old ? check_comments(c, old->key_start, old->end)
                   : check_comments(c, 0, 0);
    return old ? check_comments(c, old->start, old->end)
               : check_comments(c, 0, 0);
}

#endif
