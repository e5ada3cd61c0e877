#include <stdio.h>

#include "vm.h"

/*
 * How arguments become the parameters of a def, and how C calls a value.
 */

/* --- arguments of a def ----------------------------------------------------------- */

static int length_of(value string)
{
    return (int)sl_string(string)->length;
}

static const char *text_of(value string)
{
    return sl_string(string)->p;
}

static void too_many(struct star *s, const struct sl_code *code,
                     uint32_t positional, uint32_t count, uint32_t named)
{
    if (!code->param_count && !code->has_star && !code->has_starstar)
        sl_fail(s, "function %.*s accepts no arguments (%u given)",
                length_of(code->name), text_of(code->name), count + named);
    else
        sl_fail(
            s, "function %.*s accepts %s%u positional argument%s (%u given)",
            length_of(code->name), text_of(code->name),
            code->default_count > code->param_count - positional ? "at most "
                                                                 : "",
            positional, positional == 1 ? "" : "s", count);
}

static void bad_name(struct star *s, const struct sl_code *code,
                     const char *what, value name)
{
    char quoted[200];
    struct sl_text t = {.s = s};

    sl_quote(&t, text_of(name), sl_string(name)->length, false);
    size_t length = t.length < sizeof quoted ? t.length : sizeof quoted - 1;
    if (length)
        memcpy(quoted, t.p, length);
    quoted[length] = '\0';
    bool failed = t.failed;
    sl_text_free(&t);
    if (!failed)
        sl_fail(s, "function %.*s got %s %s", length_of(code->name),
                text_of(code->name), what, quoted);
}

#define NO_PARAMETER UINT16_MAX

static uint32_t find_parameter(const struct sl_code *code, value name)
{
    for (uint32_t i = 0; i < code->param_count; i++)
        if (code->local_names[i] == name)
            return i;
    /* Names from ** may not be interned. */
    for (uint32_t i = 0; i < code->param_count; i++)
        if (sl_text_equal(code->local_names[i], name))
            return i;
    return NO_PARAMETER;
}

/* Resolves the argument names of a call site to parameters of the called def
 * and caches the result. Sets *known to NULL if the names must be looked up one
 * by one. */
static bool site_parameters(struct star *s, struct sl_site *site,
                            struct sl_code *code, const value *names,
                            const uint16_t **known)
{
    *known = NULL;
    if (!site || code->param_count >= NO_PARAMETER)
        return true;
    if (site->cache != code) {
        if (!site->cached)
            site->cached = sl_storage(s, site->named * sizeof *site->cached);
        if (!site->cached)
            return false;
        site->cache = NULL;
        for (uint32_t i = 0; i < site->named; i++) {
            if (!sl_charge(s, code->param_count / 64))
                return false;
            site->cached[i] = (uint16_t)find_parameter(code, names[i]);
        }
        site->cache = code;
    }
    *known = site->cached;
    return true;
}

/* `kwargs` is the dict for surplus names, or NULL. */
static bool bind_named(struct star *s, struct sl_code *code, value *base,
                       const value *values, const value *names, uint32_t named,
                       struct sl_site *site)
{
    const uint16_t *known = NULL;
    value kwargs =
        code->has_starstar ? base[code->param_count + code->has_star] : 0;

    if (named && !site_parameters(s, site, code, names, &known))
        return false;
    for (uint32_t i = 0; i < named; i++) {
        if (!known && !sl_charge(s, code->param_count / 8))
            return false;
        uint32_t at = known ? known[i] : find_parameter(code, names[i]);
        bool twice = false;
        if (at != NO_PARAMETER) {
            twice = base[at] != 0;
            base[at] = values[i];
        } else if (kwargs) {
            uint32_t before = sl_table(kwargs)->count;
            if (!sl_table_set(s, kwargs, names[i], values[i]))
                return false;
            twice = sl_table(kwargs)->count == before;
        } else {
            bad_name(s, code, "an unexpected keyword argument", names[i]);
            return false;
        }
        if (twice) {
            bad_name(s, code, "multiple values for parameter", names[i]);
            return false;
        }
    }
    return true;
}

static bool missing(struct star *s, const struct sl_code *code,
                    const value *base)
{
    char names[400];
    size_t at = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < code->param_count; i++) {
        if (base[i])
            continue;
        value name = code->local_names[i];
        size_t room = sizeof names - at;
        int n = snprintf(names + at, room, "%s%.*s", count ? ", " : "",
                         length_of(name), text_of(name));
        at += n > 0 && (size_t)n < room ? (size_t)n : 0;
        count++;
    }
    sl_fail(s, "function %.*s missing %u argument%s (%.*s)",
            length_of(code->name), text_of(code->name), count,
            count == 1 ? "" : "s", (int)at, names);
    return false;
}

static bool bind_defaults(struct star *s, const struct sl_function *f,
                          value *base, uint32_t from)
{
    const struct sl_code *code = f->code;
    uint32_t first = code->param_count - code->default_count;
    bool complete = true;

    for (uint32_t i = from; i < code->param_count; i++) {
        if (!base[i] && i >= first)
            base[i] = f->slots[i - first];
        complete &= base[i] != 0;
    }
    return complete || missing(s, code, base);
}

static bool bind_rest(struct star *s, struct sl_frame *frame,
                      const value *values, const value *names, uint32_t named,
                      struct sl_site *site, uint32_t positional)
{
    return bind_named(s, frame->code, frame->base, values, names, named,
                      site) &&
           bind_defaults(s, frame->function, frame->base, positional);
}

struct sl_frame *sl_bind(struct star *s, struct sl_function *f, value *window,
                         const value *args, uint32_t count, const value *names,
                         uint32_t named, struct sl_site *site)
{
    struct sl_code *code = f->code;
    uint32_t positional = code->param_count - code->keyword_only_count;
    uint32_t taken = count < positional ? count : positional;
    value star = 0, starstar = 0;

    if (code->active) {
        sl_fail(s, "function %.*s called recursively", length_of(code->name),
                text_of(code->name));
        sl_hint(s, "functions do not call themselves here: write a for loop, "
                   "with a list as stack");
        sl_report_frame(s, code, 0, &code->entry);
        return NULL;
    }
    bool surplus = count > positional && !code->has_star;
    if (!sl_charge(s, code->steps + ((uint64_t)code->param_count + count) / 64))
        return NULL;

    /* Until the frame exists, the arguments are in windows that the collector
     * marks; from then on they are in the new window, which may be the only
     * root. */
    if (code->has_star && !(star = sl_tuple_new(s, count - taken)))
        return NULL;
    if (count > taken && star)
        memcpy(sl_tuple(star)->items, args + taken,
               (count - taken) * sizeof *args);
    if (code->has_starstar && !(starstar = sl_dict_new(s, named)))
        return NULL;
    struct sl_frame *frame = sl_push(s, f, window, args, taken);
    if (!frame)
        return NULL;
    for (uint32_t i = taken; i < code->param_count; i++)
        frame->base[i] = 0;
    if (star)
        frame->base[code->param_count] = star;
    if (starstar)
        frame->base[code->param_count + (star != 0)] = starstar;

    if (surplus || (named && !code->param_count && !starstar && !star))
        too_many(s, code, positional, count, named);
    else if (bind_rest(s, frame, named ? args + count : NULL, names, named,
                       site, taken))
        return frame;
    sl_leave_failed(s, 0, &s->frame->code->entry);
    return NULL;
}

/* --- * and ** ------------------------------------------------------------------------ */

/* Stores a tuple or list of the values that * adds in *items and returns their
 * number, or -1 on failure. */
static int64_t spread_star(struct star *s, value v, value *items)
{
    *items = v;
    if (sl_is(v, T_TUPLE))
        return sl_tuple(v)->count;
    if (sl_is(v, T_LIST))
        return sl_list(v)->count;
    if (!sl_is_iterable(v)) {
        sl_fail(s, "argument after * must be iterable, not %s",
                sl_type_name(v));
        return -1;
    }
    value list = sl_list_new(s, 0);
    if (!list || !sl_list_extend(s, list, v))
        return -1;
    *items = list;
    return sl_list(list)->count;
}

static const value *items_of(value v)
{
    return sl_is(v, T_TUPLE) ? sl_tuple(v)->items : sl_list(v)->items;
}

static bool check_starstar(struct star *s, value v)
{
    if (!sl_is(v, T_DICT)) {
        sl_fail(s, "argument after ** must be a mapping, not %s",
                sl_type_name(v));
        return false;
    }
    uint32_t i = 0;
    for (struct sl_entry *e; (e = sl_table_next(v, &i)); i++) {
        if (!sl_is(e->key, T_STRING)) {
            sl_fail(s, "keywords must be strings, not %s",
                    sl_type_name(e->key));
            return false;
        }
    }
    return true;
}

#define ARGUMENTS_MAX 0x1000000u

value sl_spread(struct star *s, const value *at, const struct sl_site *site,
                const value *names, uint32_t *count, uint32_t *named)
{
    uint32_t fixed = site->positional + site->named;
    value star = site->star ? at[fixed] : 0;
    value starstar = site->starstar ? at[fixed + site->star] : 0;
    value star_items = 0;
    int64_t more = 0;
    uint32_t more_named = 0;

    /* As in Go, ** is checked first. */
    if (starstar && !check_starstar(s, starstar))
        return 0;
    if (star && (more = spread_star(s, star, &star_items)) < 0)
        return 0;
    if (starstar)
        more_named = sl_table(starstar)->count;
    if (more > ARGUMENTS_MAX || more_named > ARGUMENTS_MAX)
        return sl_fail(s, "too many arguments");
    if (!sl_charge(s, (uint64_t)more + more_named))
        return 0;

    *count = site->positional + (uint32_t)more;
    *named = site->named + more_named;
    value all = sl_tuple_new(s, (size_t)*count + 2 * (size_t)*named);
    if (!all)
        return 0;
    value *to = sl_tuple(all)->items;
    value *to_names = to + *count + *named;
    for (uint32_t i = 0; i < site->positional; i++)
        *to++ = at[i];
    for (uint32_t i = 0; i < more; i++)
        *to++ = items_of(star_items)[i];
    for (uint32_t i = 0; i < site->named; i++) {
        *to++ = at[site->positional + i];
        *to_names++ = names[i];
    }
    uint32_t i = 0;
    for (struct sl_entry *e; starstar && (e = sl_table_next(starstar, &i));
         i++) {
        *to++ = e->value;
        *to_names++ = e->key;
    }
    return all;
}

/* --- from C ---------------------------------------------------------------------------- */

static value call_function(struct star *s, struct sl_function *f,
                           const value *args, uint32_t count,
                           const value *names, uint32_t named)
{
    value *window = s->frame ? s->frame->top : NULL;
    struct sl_frame *frame =
        sl_bind(s, f, window, args, count, names, named, NULL);
    if (!frame)
        return 0;
    frame->entry = true;
    return sl_run_frame(s);
}

/* A host function may call its own argument, and so recurse. */
static value call_builtin(struct star *s, const struct sl_builtin *b,
                          const value *args, uint32_t count, const value *names,
                          uint32_t named)
{
    struct sl_call c = {.name = b->name,
                        .self = b->self,
                        .args = args,
                        .count = count,
                        .named = named,
                        .names = names,
                        .builtin = b};

    s->entries++;
    value v = b->function(s, &c);
    s->entries--;
    if (!v)
        sl_error_builtin(s, b->name);
    return v;
}

value sl_call_named(struct star *s, value function, const value *args,
                    uint32_t count, const value *names, uint32_t named)
{
    value v;

    if (s->entries >= SL_ENTRIES_MAX)
        return sl_fail_as(s, STAR_ERROR_DEPTH,
                          "built-in functions call functions more than %u deep",
                          SL_ENTRIES_MAX);
    struct sl_scope scope = sl_native_enter(s);
    if (sl_is(function, T_FUNCTION))
        v = call_function(s, sl_function(function), args, count, names, named);
    else if (!sl_charge(s, 1))
        v = 0;
    else if (sl_is(function, T_BUILTIN))
        v = call_builtin(s, sl_builtin(function), args, count, names, named);
    else {
        v = sl_fail(s, "invalid call of non-function (%s)",
                    sl_type_name(function));
        sl_hint_none(s, function);
    }
    sl_native_leave(s, scope);
    return v && (!sl_is_object(v) || sl_hold(s, v)) ? v : 0;
}

value sl_call(struct star *s, value function, const value *args, uint32_t count)
{
    return sl_call_named(s, function, args, count, NULL, 0);
}

value sl_run_toplevel(struct star *s, struct sl_code *code,
                      struct sl_globals *globals)
{
    struct sl_function *f = sl_alloc(s, T_FUNCTION, sizeof *f);

    if (!f)
        return 0;
    f->code = code;
    f->globals = globals;
    f->number = s->next_number++;
    return sl_call(s, sl_value(f), NULL, 0);
}
