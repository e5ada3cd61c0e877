#include "library_session.h"

#include "base/text.h"
#include "mapm/limits.h"

#include <string.h>

/* The activations of one conversation and its remaining budget. Preloaded
 * bodies are free; each skill counts once and each body once. A changed body of
 * the same name is returned and counted. Source: T20 to T22. */

void library_session_init(struct library_session *s, bool metis,
                          struct arena *a)
{
    *s = (struct library_session){
        .max_activations =
            metis ? METIS_MAX_ACTIVATIONS : SESSION_MAX_ACTIVATIONS,
        .max_tokens = metis ? METIS_MAX_TOKENS : SESSION_MAX_TOKENS,
        .warn_tokens = metis ? METIS_WARN_TOKENS : SESSION_WARN_TOKENS,
        .arena = a,
    };
}

const struct library_activation *session_find(const struct library_session *s,
                                              struct str name,
                                              const char *skill_version)
{
    for (size_t i = s->count; i-- > 0;)
        if (str_eq(s->activations[i].name, name) &&
            (!skill_version ||
             strcmp(s->activations[i].skill_version, skill_version) == 0))
            return &s->activations[i];
    return NULL;
}

/* Returns whether one of the first `count` activations has the name: T21 counts
 * skills, not bodies. */
static bool has_loaded(const struct library_session *s, struct str name,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!s->activations[i].preloaded &&
            str_eq(s->activations[i].name, name))
            return true;
    return false;
}

bool library_session_put(struct library_session *s,
                         const struct library_activation *activation)
{
    bool warned = s->warned, is_new;
    struct library_activation *put;

    if (session_find(s, activation->name, activation->skill_version))
        return false;
    is_new = !has_loaded(s, activation->name, s->count);
    s->activations = arena_grow(s->arena, s->activations, s->count,
                                &s->capacity, sizeof *s->activations);
    put = &s->activations[s->count++];
    *put = *activation;
    put->name = arena_str(s->arena, activation->name);
    if (!put->preloaded) {
        s->tokens += put->tokens;
        s->loaded += is_new;
        s->warned = s->warned || s->tokens >= s->warn_tokens;
    }
    return s->warned && !warned;
}

/* Formats a list like Python: "['a', 'b']". */
static struct str loaded_names(const struct library_session *s, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_char(&b, '[');
    for (size_t i = 0; i < s->count; i++) {
        if (s->activations[i].preloaded ||
            has_loaded(s, s->activations[i].name, i))
            continue;
        buf_text(&b, b.n > 1 ? ", " : "");
        buf_append(&b, text_repr(s->activations[i].name, a));
    }
    buf_char(&b, ']');
    return arena_str(a, buf_str(&b));
}

bool session_check(const struct library_session *s, struct str name,
                   size_t tokens, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str names, quoted;

    bool has_room =
        s->loaded < s->max_activations || has_loaded(s, name, s->count);

    if (has_room && tokens <= s->max_tokens &&
        s->tokens <= s->max_tokens - tokens)
        return true;
    names = loaded_names(s, &a);
    quoted = text_repr(name, &a);
    if (!has_room)
        return err_set(e, ERR_LIMIT,
                       "activation budget exhausted: %zu skills already "
                       "activated this session (limit %zu). Already loaded: "
                       "%.*s. To free budget, start a fresh session or "
                       "summarize and discard previously loaded skill bodies.",
                       s->loaded, s->max_activations, STR_ARG(names));
    return err_set(e, ERR_LIMIT,
                   "activation token cap exhausted: loading %.*s would bring "
                   "cumulative activation tokens to %zu (cap %zu). Already "
                   "loaded: %.*s.",
                   STR_ARG(quoted), s->tokens + tokens, s->max_tokens,
                   STR_ARG(names));
}
