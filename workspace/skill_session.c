#include "mapm/skill_session.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/layer.h"
#include "mapm/limits.h"
#include "mapm/skill_event.h"
#include "mapm/state.h"
#include "mapm/state_events.h"

#include <string.h>

/* --- as text --------------------------------------------------------------------------- */

static bool restore(struct library_session *s, const struct json *one)
{
    const struct json *tokens = json_get(one, "tokens");
    struct str version = json_text(json_get(one, "skill_version"));
    struct library_activation back = {
        .name = json_text(json_get(one, "name")),
        .preloaded = json_is_true(json_get(one, "preloaded")),
    };
    uint64_t n = 0;

    if (!back.name.p || !version.p || version.n >= sizeof back.skill_version ||
        !tokens || tokens->kind != JSON_NUMBER ||
        !str_number(tokens->text, SIZE_MAX, &n))
        return false;
    back.tokens = (size_t)n;
    memcpy(back.skill_version, version.p, version.n);
    library_session_put(s, &back);
    return true;
}

static bool parse(struct skill_session *s, struct str text)
{
    const struct json_options o = {.max_bytes = SESSION_MAX_BYTES};
    const struct json *tree = NULL, *list;
    struct err ignored = {0};

    if (!json_parse(text, &o, &s->cx->arena, &tree, NULL, &ignored))
        return false;
    list = json_get(tree, "activations");
    for (const struct json *one = list ? list->first : NULL; one;
         one = one->next)
        if (!restore(&s->state, one))
            return false;
    return list && list->kind == JSON_ARRAY;
}

/* T21: Metis has separate budgets, which cannot be configured. */
static bool set_limits(struct skill_session *s, struct err *e)
{
    struct layer l;

    library_session_init(&s->state, s->metis, &s->cx->arena);
    if (s->metis)
        return true;
    if (!layer_open_workspace(s->cx, LAYER_READ, &l, e))
        return false;
    s->state.max_activations = (size_t)l.limits.session_max_activations.value;
    s->state.max_tokens = (size_t)l.limits.session_max_tokens.value;
    s->state.warn_tokens = (size_t)l.limits.session_warn_tokens.value;
    layer_close(&l);
    return true;
}

/* A damaged session starts anew; otherwise its name could never be used
 * again. */
static bool resume(struct skill_session *s, struct str text, struct err *e)
{
    if (parse(s, text))
        return true;
    context_warn(s->cx, "the session \"%.*s\" was damaged: it begins again",
                 STR_ARG(s->id));
    return set_limits(s, e);
}

static void format(const struct library_session *s, struct buf *b)
{
    struct json_writer w;

    json_writer_init(&w, b, 0);
    json_begin_object(&w);
    json_member_array(&w, "activations");
    for (size_t i = 0; i < s->count; i++) {
        const struct library_activation *one = &s->activations[i];

        json_begin_object(&w);
        json_member_string(&w, "name", one->name);
        json_member_string(&w, "skill_version", str_cstr(one->skill_version));
        json_member_number(&w, "tokens", one->tokens);
        json_member_bool(&w, "preloaded", one->preloaded);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
}

/* --- in mapm.db ------------------------------------------------------------------------- */

static bool check_id(struct str id, struct err *e)
{
    if (id.n && text_is_utf8(id) && !text_has_control(id) &&
        text_count(id) <= SESSION_ID_MAX_CHARS)
        return true;
    return err_set(e, ERR_USAGE,
                   "--session: a name of 1 to %d printable characters is "
                   "needed",
                   SESSION_ID_MAX_CHARS);
}

static struct str fresh_id(struct skill_session *s)
{
    char id[STATE_ID_CHARS + 1] = "";

    if (s->store)
        state_make_id(store_state(s->store), id);
    return arena_str(&s->cx->arena, str_cstr(id));
}

bool skill_session_open(struct skill_session *s, struct err *e)
{
    struct str state;

    s->is_named = s->id.p != NULL;
    if (!s->is_named) {
        library_session_init(&s->state, s->metis, &s->cx->arena);
        s->id = fresh_id(s);
        return true;
    }
    if (!check_id(s->id, e) || !set_limits(s, e))
        return false;
    if (!s->store) {
        *e = *s->store_problem;
        return err_wrap(e, "the session cannot be kept");
    }
    if (!store_begin(s->store, e))
        return err_wrap(e, "the session cannot be kept");
    if (state_find_session(store_state(s->store), s->id, &s->cx->arena, &state,
                           e))
        return resume(s, state, e);
    return e->code == ERR_NONE;
}

static bool keep(struct skill_session *s, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    if (!s->is_named)
        return true;
    buf_init(&b, SESSION_MAX_BYTES);
    format(&s->state, &b);
    return (buf_check(&b, "the state of the session", e) &&
            state_put_session(store_state(s->store), s->id, buf_str(&b), e) &&
            store_commit(s->store, e)) ||
           err_wrap(e, "the session cannot be kept");
}

/* --- bodies of an index ----------------------------------------------------------------- */

static bool has(const struct library_session *s, struct str name)
{
    for (size_t i = 0; i < s->count; i++)
        if (str_eq(s->activations[i].name, name))
            return true;
    return false;
}

bool skill_session_preload(struct skill_session *s, struct library *library,
                           const struct library_block *block, struct err *e)
{
    for (size_t i = 0; i < block->preloaded_count; i++) {
        struct str name = block->preloaded[i]->name;
        struct library_activation one = {.name = name, .preloaded = true};
        struct library_loaded loaded;

        if (has(&s->state, name))
            continue;
        if (!library_load(library, name, LIBRARY_AS_SYSTEM, false, NULL,
                          &s->cx->arena, &loaded, e) ||
            !skill_event_put(s->store, s->id, &loaded, SKILL_LOADED_ALWAYS,
                             STR(""), e))
            return false;
        one.tokens = loaded.load_size_tokens;
        memcpy(one.skill_version, loaded.skill_version,
               sizeof one.skill_version);
        library_session_put(&s->state, &one);
    }
    return keep(s, e);
}

/* --- loads -------------------------------------------------------------------------------- */

struct load {
    struct skill_session *session;
    struct library *library;
    struct str_list words;
    struct skill_loads *out;
};

static void add_name(struct load *l, struct str name)
{
    for (size_t i = 0; i < l->out->count; i++)
        if (str_eq(l->out->names[i], name))
            return;
    l->out->names =
        arena_grow(&l->session->cx->arena, l->out->names, l->out->count,
                   &l->out->capacity, sizeof *l->out->names);
    l->out->names[l->out->count++] = name;
}

static bool add_mentions(struct load *l, struct str text, struct err *e)
{
    const struct library_skill **list;
    size_t count;

    list = library_mentions(l->library, text, &l->session->cx->arena, &count);
    for (size_t i = 0; i < count; i++)
        add_name(l, list[i]->name);
    if (count)
        return true;
    err_set(e, ERR_NOT_FOUND, "no skill is mentioned in \"%.*s\"",
            STR_ARG(text_cut(text, 2 * NAME_MAX_CHARS)));
    return err_hint(e, "mapm skill list shows what is there");
}

/* "/name" takes the rest of the command line as its arguments. */
static void add_slash(struct load *l)
{
    struct str text = str_list_join(l->words, " ", &l->session->cx->arena);
    struct str name, rest = STR("");
    const struct library_skill *s;

    s = library_slash(l->library, text, &rest);
    if (!s) {
        rest = str_from_index(text, 1);
        str_cut(&rest, ' ', &name);
        add_name(l, name); /* treated like any unknown name */
        return;
    }
    l->out->has_arguments = true;
    l->out->arguments = rest;
    add_name(l, s->name);
}

static bool find_names(struct load *l, struct err *e)
{
    bool metis = l->session->metis;
    bool slash = !metis && str_starts(l->words.items[0], STR("/"));

    if (slash)
        add_slash(l);
    for (size_t i = 0; i < l->words.count && !slash; i++) {
        struct str word = l->words.items[i];

        if (metis || library_find(l->library, word) || !str_has_char(word, '$'))
            add_name(l, word);
        else if (!add_mentions(l, word, e))
            return false;
    }
    return true;
}

/* All or nothing: on failure the session keeps its former state. */
static bool fail(struct load *l, size_t at, struct err *e)
{
    bool of_budget = e->code == ERR_LIMIT;

    library_suggest(l->library, l->out->names[at], e);
    if (of_budget && at > 0)
        err_hint(e, "the %zu before it were not loaded either: ask for fewer",
                 at);
    return false;
}

static bool load_all(struct load *l, enum library_as as, struct err *e)
{
    struct skill_session *s = l->session;
    struct arena *a = &s->cx->arena;

    l->out->items = arena_array(a, l->out->count, sizeof *l->out->items);
    for (size_t i = 0; i < l->out->count; i++)
        if (!library_load(l->library, l->out->names[i], as, false,
                          s->is_named ? &s->state : NULL, a, &l->out->items[i],
                          e))
            return fail(l, i, e);
    return true;
}

static bool put_events(struct load *l, struct err *e)
{
    for (size_t i = 0; i < l->out->count; i++) {
        const struct library_loaded *one = &l->out->items[i];

        if (!one->already_loaded && !one->already_preloaded &&
            !skill_event_put(l->session->store, l->session->id, one,
                             SKILL_LOADED_ON_DEMAND, STR(""), e))
            return false;
    }
    return true;
}

static bool record(struct load *l, struct err *e)
{
    struct skill_session *s = l->session;
    struct err why = *s->store_problem;

    if (s->is_named)
        return put_events(l, e) && keep(s, e);
    if (!s->store || !put_events(l, &why))
        context_warn(s->cx, "this is not among the events: %s",
                     err_first(&why));
    return true;
}

bool skill_session_load(struct skill_session *s, struct library *library,
                        struct str_list words, enum library_as as,
                        struct skill_loads *out, struct err *e)
{
    struct load l = {s, library, words, out};

    *out = (struct skill_loads){.arguments = STR("")};
    return find_names(&l, e) && load_all(&l, as, e) && record(&l, e);
}
